"""The endpoint as an ASGI application: OpenAI's paths over a seam, with time for people to answer.

Once a question is committed, the client gets its 200 at once, then a blank (or a comment, in a stream) every few
seconds, so that no read timeout of a client or proxy ends the wait. JSON may begin with blanks. Refusals come before
that, in OpenAI's shape and with `x-should-retry: false`.
"""

from __future__ import annotations

import asyncio
import re
import uuid
from collections.abc import Awaitable, Callable
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from typing import Any, NamedTuple, Protocol

from lab.core.codec import encode
from lab.core.errors import LabError
from lab.core.run import limits
from lab.core.text.plain_text import plain
from lab.core.values.whole_number import whole_number
from simulators.users.endpoint import chat_reply
from simulators.users.endpoint.access import Access, RequestRefusal, RequestRefused, TooManyWait
from simulators.users.endpoint.chat_reply import Answer
from simulators.users.endpoint.chat_request import ChatRequest, read_chat, read_responses
from simulators.users.endpoint.request_fields import Api

Scope = dict[str, Any]
Receive = Callable[[], Awaitable[dict[str, Any]]]
Send = Callable[[dict[str, Any]], Awaitable[None]]
Application = Callable[[Scope, Receive, Send], Awaitable[None]]

KEEP_ALIVE_SECONDS = 15.0
"""Seconds between two keep-alive bytes. Some proxies end a silent connection after 60 or 120."""
_TURNS = 16
"""Event loop turns before a question is accepted, so that the disconnect of a client that retries arrives first."""
_PATH = re.compile(r"(?:/s/(?P<session>[A-Za-z0-9][A-Za-z0-9._-]{0,63}))?(?:/v1)?(?P<rest>/[a-z/]*)")
_MODEL = re.compile(r"(?:/s/[A-Za-z0-9][A-Za-z0-9._-]{0,63})?(?:/v1)?/models/(?P<name>[^\x00-\x1f\x7f]{1,200})")
_READS: dict[str, tuple[Api, Callable[[bytes, str, int], ChatRequest]]] = {
    "/chat/completions": ("chat", read_chat),
    "/responses": ("responses", read_responses),
}
_JSON, _STREAM = "application/json", "text/event-stream"
_CLOSES = RequestRefusal(503, "The endpoint closes.", "server_error")
_FIELD = re.compile(r"\bfield ([\w.\[\]]+):")
_CHARSET = re.compile(r"charset\s*=\s*\"?([^\s;\"]*)", re.I)
_METHODS = {"/models": b"GET, HEAD", **dict.fromkeys(_READS, b"POST")}


class Waiting(Protocol):
    """Question that waits for its one answer, shared by all clients that ask it. `deliver` confirms the delivery.

    `join` and `leave` count a client's connection in and out, on any thread.
    """

    @property
    def answer(self) -> Future[Answer]: ...
    def deliver(self) -> None: ...
    def join(self) -> None: ...
    def leave(self) -> None: ...


class Question(NamedTuple):
    """Parsed request and its API."""

    api: Api
    request: ChatRequest


class ClientGone(Exception):
    """The client closed its connection."""


class Endpoint:
    """ASGI application. `receive` commits a question and returns its `Waiting`. It may block.

    It runs on a thread of its own, one request after another. `keep_alive` is in seconds.
    """

    def __init__(
        self,
        receive: Callable[[ChatRequest], Waiting],
        access: Access,
        *,
        keep_alive: float = KEEP_ALIVE_SECONDS,
    ) -> None:
        self._receive, self._access, self._keep_alive = receive, access, keep_alive
        self._thread = ThreadPoolExecutor(1, "requests")
        self._reading = ThreadPoolExecutor(1, "reads")
        """Thread that parses bodies: a long one delays other bodies, but no keep-alive."""
        self.connected = 0
        """Number of clients that wait for an answer now."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return
        try:
            await self._serve(scope, receive, send)
        except ClientGone:
            return
        except TooManyWait as error:
            await _refuse(send, RequestRefusal(429, plain(error.sentence, lines=False), "rate_limit_error"), retry=True)
        except LabError:
            refusal = RequestRefusal(500, "The question could not be kept, and was not asked.", "server_error")
            await _refuse(send, refusal, retry=True)

    def close(self) -> None:
        """Accept no further requests."""
        for thread in (self._reading, self._thread):
            thread.shutdown(wait=False, cancel_futures=True)

    async def _serve(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in scope["headers"]}
        refusal = self._access.refusal(headers)
        match = _PATH.fullmatch(scope["path"])
        rest = match["rest"].rstrip("/") if match else ""
        model = _MODEL.fullmatch(scope["path"])
        if refusal is None and (rest == "/models" or model) and scope["method"] in ("GET", "HEAD"):
            await _send_whole(send, 200, chat_reply.model_body(model["name"]) if model else chat_reply.models_body())
            return
        refusal = refusal or _path_refusal("/models" if model else rest, scope["method"]) or _body_refusal(headers)
        if refusal is not None or match is None:
            await _refuse(send, refusal or RequestRefusal(404, "There is no such path here."))
            return
        api, reader = _READS[rest]
        try:
            body = await _read_body(receive, headers)
            read = partial(reader, body, match["session"] or "", _retries(headers))
            request = await asyncio.get_running_loop().run_in_executor(self._reading, read)
        except _Refused as refused:
            await _refuse(send, refused.refusal)
            return
        except RuntimeError:  # the executor is shut down: the server closes
            await _refuse(send, _CLOSES, retry=True)
            return
        except LabError as error:
            await _refuse(send, _refusal_of(error))
            return
        try:
            await self._answer(Question(api, request), receive, send)
        except RequestRefused as error:
            await _refuse(send, _refusal_of(error))

    def _commit(self, request: ChatRequest) -> Waiting:
        """Commit a question and join its client, before the next request is processed."""
        waiting = self._receive(request)
        waiting.join()
        return waiting

    async def _answer(self, question: Question, receive: Receive, send: Send) -> None:
        loop = asyncio.get_running_loop()
        for _ in range(_TURNS):
            await asyncio.sleep(0)
        try:
            waiting = await loop.run_in_executor(self._thread, self._commit, question.request)
        except RuntimeError:  # the executor is shut down, as above
            await _refuse(send, _CLOSES, retry=True)
            return
        disconnect = asyncio.create_task(_until_gone(receive))
        self.connected += 1
        try:
            await _send_when_answered(question, _on_loop(waiting.answer), disconnect, send, self._keep_alive)
            if not disconnect.done():
                waiting.deliver()
        finally:
            self.connected -= 1
            waiting.leave()
            disconnect.cancel()


# -- waiting -----------------------------------------------------------------------------------------------------


async def _send_when_answered(
    question: Question, answer: asyncio.Future[Answer | None], disconnect: asyncio.Task[None], send: Send, pause: float
) -> None:
    """Start a reply, keep the connection alive, and finish with the answer. Raise `ClientGone` on a disconnect."""
    id, model, stream = uuid.uuid4().hex, question.request.model or "human", question.request.stream
    await send(_start(200, _STREAM if stream else _JSON))
    await send(_piece(chat_reply.stream_head(question.api, id, model) if stream else chat_reply.KEEP_ALIVE))
    either: list[asyncio.Future[Any]] = [answer, disconnect]
    while True:
        await asyncio.wait(either, timeout=pause, return_when=asyncio.FIRST_COMPLETED)
        if answer.done():
            break
        if disconnect.done():
            raise ClientGone
        await send(_piece(chat_reply.KEEP_STREAM if stream else chat_reply.KEEP_ALIVE))
    final_answer = answer.result()
    if final_answer is None:
        reason = "The question was closed, and nobody answers it."
        error = encode(chat_reply.error_value(reason, "server_error", code="not_answered"))
        await send(_piece(chat_reply.stream_error(reason) if stream else error, more=False))
        return
    final_answer = final_answer._replace(legacy=question.request.legacy)
    if stream:
        body = chat_reply.stream_body(question.api, id, model, final_answer, usage=question.request.usage)
    else:
        body = chat_reply.reply_body(question.api, id, model, final_answer)
    await send(_piece(body, more=False))


def _on_loop(answer: Future[Answer]) -> asyncio.Future[Answer | None]:
    """Return a future of this loop for an answer, None if there is none. Cancelling it leaves other clients' intact."""
    loop = asyncio.get_running_loop()
    here: asyncio.Future[Answer | None] = loop.create_future()

    def set_answer(value: Answer | None) -> None:
        if not here.done():
            here.set_result(value)

    def on_done(future: Future[Answer]) -> None:
        value = None if future.cancelled() or future.exception() is not None else future.result()
        try:
            loop.call_soon_threadsafe(set_answer, value)
        except RuntimeError:
            return  # the loop is closed, and with it all clients

    answer.add_done_callback(on_done)
    return here


async def _until_gone(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


# -- requests ----------------------------------------------------------------------------------------------------


class _Refused(Exception):
    def __init__(self, refusal: RequestRefusal) -> None:
        self.refusal = refusal


def _path_refusal(rest: str, method: str) -> RequestRefusal | None:
    """Return the refusal of an unknown path or method, or None."""
    if rest not in (*_READS, "/models"):
        return RequestRefusal(
            404, "There is no such path here: /v1/chat/completions, /v1/responses and /v1/models are."
        )
    if method != "POST" or rest == "/models":
        return RequestRefusal(405, f"{method} is no method of this path.", allow=_METHODS[rest])
    return None


def _body_refusal(headers: dict[str, str]) -> RequestRefusal | None:
    """Return the refusal of a body that is not JSON in UTF-8 by its headers, or None."""
    coding = headers.get("content-encoding", "").strip().lower()
    if coding not in ("", "identity"):
        return RequestRefusal(415, f"Content-Encoding {plain(coding, lines=False)[:40]}: nothing is unpacked here.")
    kind = headers.get("content-type", "")
    if kind.strip().lower().startswith("multipart/"):
        return RequestRefusal(415, "Content-Type multipart: a request is one JSON document, application/json.")
    charset = _CHARSET.search(kind)
    if charset is not None and charset[1].lower() not in ("utf-8", "utf8", "us-ascii"):
        return RequestRefusal(
            415, f"Content-Type with charset {plain(charset[1], lines=False)[:40]}: JSON is in UTF-8."
        )
    return None


def _refusal_of(error: LabError) -> RequestRefusal:
    """Convert an error of a request, with the field that it names."""
    named = _FIELD.search(error.message)
    field = error.field if isinstance(error, RequestRefused) else named[1] if named is not None else None
    status = error.status if isinstance(error, RequestRefused) else 400
    return RequestRefusal(status, plain(error.sentence, lines=False)[:2000], field=field[:200] if field else None)


async def _read_body(receive: Receive, headers: dict[str, str]) -> bytes:
    """Read a request's whole body. Raise `_Refused` if it is too long or slow, `ClientGone` if it breaks off."""
    if (whole_number(headers.get("content-length", "")) or 0) > limits.ENDPOINT_BYTES:
        raise _too_long()
    data = bytearray()
    try:
        async with asyncio.timeout(limits.ENDPOINT_SECONDS):
            more = True
            while more:
                message = await receive()
                if message["type"] == "http.disconnect":
                    raise ClientGone
                data += message.get("body", b"")
                if len(data) > limits.ENDPOINT_BYTES:
                    raise _too_long()
                more = message.get("more_body", False)
    except TimeoutError:
        raise _Refused(RequestRefusal(408, "The request came too slowly.")) from None
    return bytes(data)


def _too_long() -> _Refused:
    return _Refused(
        RequestRefusal(413, f"The request has more than the {limits.ENDPOINT_BYTES:,} bytes that are read.")
    )


def _retries(headers: dict[str, str]) -> int:
    """Return the client's count of earlier tries."""
    retry_count = headers.get("x-stainless-retry-count", "0")
    return int(retry_count) if retry_count.isascii() and retry_count.isdigit() and len(retry_count) < 4 else 0


# -- replies -----------------------------------------------------------------------------------------------------


async def _refuse(send: Send, refusal: RequestRefusal, *, retry: bool = False) -> None:
    # openai's client obeys this header.
    headers = [] if retry else [(b"x-should-retry", b"false")]
    if refusal.allow:
        headers.append((b"allow", refusal.allow))
    if refusal.status == 401:
        headers.append((b"www-authenticate", b"Bearer"))
    # The rest of the body is unread, so the connection cannot be reused.
    if refusal.status in (408, 413):
        headers.append((b"connection", b"close"))
    body = encode(chat_reply.error_value(refusal.message, refusal.kind, refusal.field))
    await _send_whole(send, refusal.status, body, headers)


async def _send_whole(send: Send, status: int, body: bytes, headers: list[tuple[bytes, bytes]] | None = None) -> None:
    start = _start(status, _JSON)
    start["headers"] += [(b"content-length", str(len(body)).encode()), *(headers or [])]
    await send(start)
    await send(_piece(body, more=False))


def _start(status: int, mime: str) -> dict[str, Any]:
    headers = [
        (b"content-type", mime.encode()),
        (b"cache-control", b"no-store"),
        (b"x-accel-buffering", b"no"),
        (b"x-content-type-options", b"nosniff"),
    ]
    return {"type": "http.response.start", "status": status, "headers": headers}


def _piece(body: bytes, *, more: bool = True) -> dict[str, Any]:
    return {"type": "http.response.body", "body": body, "more_body": more}
