"""The endpoint on aiohttp: OpenAI's paths over a seam, with time for people to answer.

Once a question is committed, the client gets its 200 at once, then a blank (or a comment, in a stream) every few
seconds, so that no read timeout of a client or proxy ends the wait. JSON may begin with blanks. Refusals come before
that, in OpenAI's shape and with `x-should-retry: false`. No request is in any log.
"""

from __future__ import annotations

import asyncio
import logging
import os
import re
import socket
import threading
import uuid
from collections.abc import Callable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from typing import NamedTuple, Protocol

from aiohttp import web

from lab.core.codec import encode
from lab.core.errors import LabError
from lab.core.run import input_limits
from lab.core.text.plain_text import plain
from lab.core.values.whole_number import whole_number
from lab.serve.connections import SilentConnections, allow_many_files
from simulators.users.endpoint import chat_reply
from simulators.users.endpoint.access import TOKEN, Access, RequestRefusal, RequestRefused, TooManyWait, is_loopback
from simulators.users.endpoint.chat_reply import Answer
from simulators.users.endpoint.chat_request import ChatRequest, read_chat, read_responses
from simulators.users.endpoint.request_fields import Api

KEEP_ALIVE_SECONDS = 15.0
"""Seconds between two keep-alive bytes. Some proxies end a silent connection after 60 or 120."""
_IDLE_SECONDS = 75.0
"""Seconds that a connection without a request stays open after a reply."""
_EXIT_SECONDS = 10.0
"""Seconds that the server has to stop."""
_HEAD_BYTES = 64 * 1024
"""Maximum bytes of a request line or a header."""
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
_METHODS = {"/models": "GET, HEAD", **dict.fromkeys(_READS, "POST")}


class Waiting(Protocol):
    """Question that waits for its one answer, shared by all clients that ask it. `deliver` confirms the delivery.

    `join` and `leave` count a client's connection in and out, on any thread.
    """

    @property
    def answer(self) -> Future[Answer]: ...
    def deliver(self) -> None: ...
    def join(self) -> None: ...
    def leave(self) -> None: ...


class ParsedRequest(NamedTuple):
    """Parsed request and its API."""

    api: Api
    request: ChatRequest


class Endpoint:
    """Handler of requests. `receive` commits a question and returns its `Waiting`. It may block.

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
        self.pieces = 0
        """Number of pieces of replies that were sent."""

    async def handle(self, request: web.BaseRequest) -> web.StreamResponse:
        """Reply to a request. aiohttp cancels this once the client closes its connection."""
        try:
            return await self._serve(request)
        except _Refused as refused:
            return _refusal_reply(refused.refusal, retry=refused.retry)
        except TooManyWait as error:
            return _refusal_reply(
                RequestRefusal(429, plain(error.sentence, lines=False), "rate_limit_error"), retry=True
            )
        except RequestRefused as error:
            return _refusal_reply(_refusal_of(error))
        except LabError:
            refusal = RequestRefusal(500, "The question could not be kept, and was not asked.", "server_error")
            return _refusal_reply(refusal, retry=True)

    def close(self) -> None:
        """Accept no further requests."""
        for thread in (self._reading, self._thread):
            thread.shutdown(wait=False, cancel_futures=True)

    async def _serve(self, request: web.BaseRequest) -> web.StreamResponse:
        headers = {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in request.raw_headers}
        if refusal := self._access.refusal(headers):
            raise _Refused(refusal)
        # A whole address in the request line is for proxies.
        path = request.path if request.raw_path.startswith("/") else ""
        match = _PATH.fullmatch(path)
        rest = match["rest"].rstrip("/") if match else ""
        model = _MODEL.fullmatch(path)
        if (rest == "/models" or model) and request.method in ("GET", "HEAD"):
            return _whole_reply(200, chat_reply.model_body(model["name"]) if model else chat_reply.models_body())
        if refusal := _path_refusal("/models" if model else rest, request.method) or _body_refusal(headers):
            raise _Refused(refusal)
        assert match is not None
        api, reader = _READS[rest]
        body = await _read_body(request, headers)
        read = partial(reader, body, match["session"] or "", _retries(headers))
        try:
            chat_request = await asyncio.get_running_loop().run_in_executor(self._reading, read)
        except RuntimeError:  # the executor is shut down: the server closes
            raise _Refused(_CLOSES, retry=True) from None
        except LabError as error:
            raise _Refused(_refusal_of(error)) from error
        return await self._answer(request, ParsedRequest(api, chat_request))

    def _commit(self, request: ChatRequest) -> Waiting:
        """Commit a question and join its client, before the next request is processed."""
        waiting = self._receive(request)
        waiting.join()
        return waiting

    async def _answer(self, request: web.BaseRequest, question: ParsedRequest) -> web.StreamResponse:
        for _ in range(_TURNS):
            await asyncio.sleep(0)
        try:
            committed = self._thread.submit(self._commit, question.request)
        except RuntimeError:  # the executor is shut down, as above
            raise _Refused(_CLOSES, retry=True) from None
        try:
            waiting = await asyncio.wrap_future(committed)
        except asyncio.CancelledError:
            # The client left during the commit, which joins it nevertheless.
            committed.add_done_callback(_leave)
            raise
        self.connected += 1
        try:
            reply = await self._send_when_answered(request, question, _on_loop(waiting.answer))
            waiting.deliver()
        finally:
            self.connected -= 1
            waiting.leave()
        return reply

    async def _send_when_answered(
        self, request: web.BaseRequest, question: ParsedRequest, answer: asyncio.Future[Answer | None]
    ) -> web.StreamResponse:
        """Start a reply, keep the connection alive, and finish with the answer."""
        id, model, stream = uuid.uuid4().hex, question.request.model or "human", question.request.stream
        reply = web.StreamResponse(headers=_headers(_STREAM if stream else _JSON))
        await reply.prepare(request)
        await self._send(reply, chat_reply.stream_head(question.api, id, model) if stream else chat_reply.KEEP_ALIVE)
        while not answer.done():
            await asyncio.wait([answer], timeout=self._keep_alive)
            if not answer.done():
                await self._send(reply, chat_reply.KEEP_STREAM if stream else chat_reply.KEEP_ALIVE)
        final_answer = answer.result()
        if final_answer is None:
            reason = "The question was closed, and nobody answers it."
            error = encode(chat_reply.error_value(reason, "server_error", code="not_answered"))
            await self._send(reply, chat_reply.stream_error(reason) if stream else error)
        else:
            final_answer = final_answer._replace(legacy=question.request.legacy)
            if stream:
                body = chat_reply.stream_body(question.api, id, model, final_answer, usage=question.request.usage)
            else:
                body = chat_reply.reply_body(question.api, id, model, final_answer)
            await self._send(reply, body)
        await reply.write_eof()
        return reply

    async def _send(self, reply: web.StreamResponse, piece: bytes) -> None:
        await reply.write(piece)
        self.pieces += 1


def _leave(committed: Future[Waiting]) -> None:
    if not committed.cancelled() and committed.exception() is None:
        committed.result().leave()


def _on_loop(answer: Future[Answer]) -> asyncio.Future[Answer | None]:
    """Return a future of this loop for an answer, None if there is none. Cancelling it leaves other clients' intact."""
    loop = asyncio.get_running_loop()
    here: asyncio.Future[Answer | None] = loop.create_future()

    def set_here(value: Answer | None) -> None:
        if not here.done():
            here.set_result(value)

    def forward(future: Future[Answer]) -> None:
        value = None if future.cancelled() or future.exception() is not None else future.result()
        try:
            loop.call_soon_threadsafe(set_here, value)
        except RuntimeError:
            return  # the loop is closed, and with it all clients

    answer.add_done_callback(forward)
    return here


# -- requests ----------------------------------------------------------------------------------------------------


class _Refused(Exception):
    def __init__(self, refusal: RequestRefusal, *, retry: bool = False) -> None:
        self.refusal, self.retry = refusal, retry


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


async def _read_body(request: web.BaseRequest, headers: Mapping[str, str]) -> bytes:
    """Read a request's whole body. Raise `_Refused` if it is too long or slow, or invalid."""
    if (whole_number(headers.get("content-length", "")) or 0) > input_limits.ENDPOINT_BYTES:
        raise _too_long()
    if headers.get("expect", "").lower() == "100-continue":
        await request.writer.write(b"HTTP/1.1 100 Continue\r\n\r\n")
    data = bytearray()
    try:
        async with asyncio.timeout(input_limits.ENDPOINT_SECONDS):
            async for piece in request.content.iter_any():
                data += piece
                if len(data) > input_limits.ENDPOINT_BYTES:
                    raise _too_long()
    except TimeoutError:
        raise _Refused(RequestRefusal(408, "The request came too slowly.")) from None
    except web.RequestPayloadError:
        raise _Refused(RequestRefusal(400, "The request's chunks are invalid.")) from None
    return bytes(data)


def _too_long() -> _Refused:
    return _Refused(
        RequestRefusal(413, f"The request has more than the {input_limits.ENDPOINT_BYTES:,} bytes that are read.")
    )


def _retries(headers: dict[str, str]) -> int:
    """Return the client's count of earlier tries."""
    retry_count = headers.get("x-stainless-retry-count", "0")
    return int(retry_count) if retry_count.isascii() and retry_count.isdigit() and len(retry_count) < 4 else 0


# -- replies -----------------------------------------------------------------------------------------------------


def _refusal_reply(refusal: RequestRefusal, *, retry: bool = False) -> web.Response:
    reply = _whole_reply(refusal.status, encode(chat_reply.error_value(refusal.message, refusal.kind, refusal.field)))
    if not retry:
        # openai's client obeys this header.
        reply.headers["x-should-retry"] = "false"
    if refusal.allow:
        reply.headers["allow"] = refusal.allow
    if refusal.status == 401:
        reply.headers["www-authenticate"] = "Bearer"
    # The rest of the body is unread, or this connection is one too many.
    if refusal.status in (408, 413, 503):
        reply.force_close()
    return reply


def _whole_reply(status: int, body: bytes) -> web.Response:
    return web.Response(status=status, body=body, headers=_headers(_JSON))


def _headers(mime: str) -> dict[str, str]:
    return {
        "server": "hitlab",
        "content-type": mime,
        "cache-control": "no-store",
        "x-accel-buffering": "no",
        "x-content-type-options": "nosniff",
    }


# -- server ------------------------------------------------------------------------------------------------------


class EndpointServer:
    """Serve an endpoint from `start` to `stop` on a thread of its own. Port 0 selects a free one."""

    def __init__(self, app: Endpoint, access: Access, host: str, port: int) -> None:
        self._app, self.access, self.host, self.port = app, access, host, port
        self._loop: asyncio.AbstractEventLoop | None = None
        self._stopping = asyncio.Event()
        self._thread: threading.Thread | None = None

    @property
    def base(self) -> str:
        """Base URL for clients."""
        # A wildcard address is none for clients.
        name = {"0.0.0.0": "127.0.0.1", "::": "[::1]"}.get(
            self.host, f"[{self.host}]" if ":" in self.host else self.host
        )
        return f"http://{name}:{self.port}/v1"

    def start(self) -> None:
        """Start listening. Raise `LabError` if the port is in use."""
        # Bind here and not on the thread, so that a port in use raises in the caller.
        listening = self._listen()
        self.port = listening.getsockname()[1]
        allow_many_files()
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._run, args=(listening,), name="endpoint server", daemon=True)
        self._thread.start()

    def _listen(self) -> socket.socket:
        family = socket.AF_INET6 if ":" in self.host else socket.AF_INET
        listening = socket.socket(family, socket.SOCK_STREAM)
        try:
            # A restarted server must not wait for old connections in TIME_WAIT.
            listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listening.bind((self.host.strip("[]"), self.port))
            listening.listen(1024)
        except OSError as error:
            listening.close()
            why = os.strerror(error.errno) if error.errno and error.errno > 0 else str(error)
            raise LabError("serve user", f"{self.host}:{self.port} cannot be had ({why}).") from error
        return listening

    def _run(self, listening: socket.socket) -> None:
        loop = self._loop
        assert loop is not None
        with asyncio.Runner(loop_factory=lambda: loop) as runner:
            runner.run(self._serve(listening))

    async def _serve(self, listening: socket.socket) -> None:
        silent = SilentConnections()

        async def handle(request: web.BaseRequest) -> web.StreamResponse:
            silent.discard(request)
            if len(server.connections) > input_limits.ENDPOINT_CONNECTIONS:
                return _refusal_reply(
                    RequestRefusal(503, "Too many clients are connected.", "server_error"), retry=True
                )
            return await self._app.handle(request)

        # aiohttp would log errors of handlers, and their words may hold what was asked.
        logger = logging.getLogger("hitlab.endpoint")
        logger.disabled = True
        server = web.Server(
            handle,
            handler_cancellation=True,
            access_log=None,
            logger=logger,
            keepalive_timeout=_IDLE_SECONDS,
            auto_decompress=False,
            max_line_size=_HEAD_BYTES,
            max_field_size=_HEAD_BYTES,
        )
        listener = await asyncio.get_running_loop().create_server(
            lambda: silent.watch(server(), input_limits.ENDPOINT_SECONDS), sock=listening, backlog=1024
        )
        await self._stopping.wait()
        listener.close()
        # Requests wait for people. Do not wait for those.
        await server.shutdown(1.0)

    def stop(self) -> None:
        """Close all connections. A pending question stays in the file, and its client may ask it again."""
        if self._loop is not None and self._thread is not None:
            with suppress(RuntimeError):  # the loop is closed
                self._loop.call_soon_threadsafe(self._stopping.set)
            self._thread.join(_EXIT_SECONDS)


def reached_words(access: Access, host: str) -> list[str]:
    """Return what people must know about a server that other machines can reach."""
    if not access.token:
        return []
    lines = [f"clients need the API key {access.token}"]
    if not is_loopback(host):
        lines.append("what is asked and answered crosses the network as it is: put a proxy with TLS before it")
    return [*lines, f"{TOKEN} sets another key"]
