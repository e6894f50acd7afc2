"""Bounds on a model server's reply: a reply that is too large ends its question before it fills the memory.

The providers' clients read a whole reply and parse it at once. They get our transport, which stops reading at the
bound, decompresses within it, and counts JSON values before any is created. A streamed reply (server-sent events) has
the same bounds, and is passed on as one event.

A model sends a piece per token, and a client creates some thousand values for each. No caller reads a partial answer,
so `JoinedPieces` joins the pieces of a chat completion first. Other events pass unchanged. Without it, litellm and its
`stream_chunk_builder` take 0.6 ms of CPU a token, 50 times as much: 16 answers of 100 tokens a second fill one core.
"""

from __future__ import annotations

import json
import re
import time
import zlib
from collections.abc import Iterator
from typing import Any

import httpx

from lab.core.errors import LabError
from lab.core.run import input_limits
from lab.core.values.json_size import check_values
from lab.llm.attempt import TooLarge
from lab.llm.exchange import Exchange, current_exchange, error_in, is_completion
from lab.llm.model_reply import content_parts

KIND = "text/event-stream"
"""Content type of a streamed reply."""
_DATA, _COMMENT = b"data:", b":"
"""Beginning of a line with data, and of a comment that only keeps the connection alive."""
_ERROR_EVENT = re.compile(rb"event:\s*error\s*$")
_DONE = b"data: [DONE]\n\n"
_UNKNOWN_BYTES = 16 * 1024
"""Bytes of a reply without a completion that are searched for the server's words."""
_THINKING = "thinking"
"""Key for thinking that arrives as parts of the content."""


class JoinedPieces:
    """Chat completion joined from its pieces."""

    def __init__(self) -> None:
        self.is_whole = False
        """True once the model gave a finish reason or the server sent its end mark."""
        self._fields: dict[str, Any] = {}
        self._words: dict[str, list[str]] = {}
        self._calls: dict[Any, str] = {}
        self._finish_reason: Any = None

    def add(self, event: dict[str, Any]) -> bool:
        """Add a piece. Return True if it added words."""
        self._fields |= {name: event[name] for name in ("model", "usage") if event.get(name)}
        choices = event["choices"]
        choice = choices[0] if isinstance(choices, list) and choices else None
        if not isinstance(choice, dict) or choice.get("index"):
            return False  # what a server says besides, or another answer than the first
        if reason := choice.get("finish_reason"):
            self._finish_reason, self.is_whole = reason, True
        delta = choice.get("delta") or choice.get("message") or {"content": choice.get("text")}
        return self._add_delta(delta) if isinstance(delta, dict) else False

    def _add_delta(self, delta: dict[str, Any]) -> bool:
        added = False
        for name, value in delta.items():
            if name in ("tool_calls", "function_call"):
                self._add_calls(value if isinstance(value, list) else [{"function": value}])
            elif name != "role" and value:
                text, thinking, refusal = content_parts(value)
                for key, words in ((name, text), (_THINKING, thinking), ("refusal", refusal)):
                    if words:
                        self._words.setdefault(key, []).append(words)
                        added = True
        return added

    def _add_calls(self, calls: list[Any]) -> None:
        for call in calls:
            function = call.get("function") if isinstance(call, dict) else None
            if isinstance(function, dict):
                place = str(call.get("index"))
                self._calls[place] = self._calls.get(place, "") + str(function.get("name") or "")

    def completion(self) -> dict[str, Any]:
        """Return the joined pieces as one unstreamed completion."""
        message: dict[str, Any] = {name: "".join(words) for name, words in self._words.items()}
        if self._calls:
            message["tool_calls"] = [{"function": {"name": name}} for name in self._calls.values()]
        return {**self._fields, "choices": [{"message": message, "finish_reason": self._finish_reason}]}


class EventStream(httpx.SyncByteStream):
    """Events of a reply, with those of a chat completion joined into one.

    Raise `TooLarge`, or `ReadTimeout` after `seconds`. If the connection breaks, yield what arrived before raising.
    A reply to `is_chat` without any piece of a completion is an error in the server's words, never an empty answer.
    """

    def __init__(self, reply: httpx.Response, seconds: float | None, exchange: Exchange, *, is_chat: bool) -> None:
        self._reply, self._exchange, self._is_chat = reply, exchange, is_chat
        self._until = time.monotonic() + seconds if seconds is not None else None
        self._pieces: JoinedPieces | None = None
        self._lines_seen = 0
        self._unknown = bytearray()
        """First bytes of a chat's reply that are no piece of a completion."""

    def __iter__(self) -> Iterator[bytes]:
        is_error_event = False
        try:
            for line in self._lines():
                if line.startswith(_COMMENT):
                    continue
                value = json_value(line[len(_DATA) :]) if line.startswith(_DATA) else None
                is_error_event = _ERROR_EVENT.match(line) is not None or (is_error_event and bool(line.strip()))
                if is_completion(value):
                    self._pieces = self._pieces or JoinedPieces()
                    if not self._pieces.add(value):
                        self._count_line()
                elif _is_error(value) or (is_error_event and isinstance(value, dict)):
                    self._exchange.fail(value)
                    yield from self._joined_event()
                    yield b"data: " + json.dumps({"error": {"message": self._exchange.words}}).encode() + b"\n\n"
                    return
                elif self._pieces is None:
                    self._count_line()
                    if self._is_chat:
                        self._keep_unknown(line)
                    else:
                        yield line
                elif line.strip() == _DONE.strip():
                    self._pieces.is_whole = True
                elif line.strip():
                    self._count_line()
            self._check_whole()
        except httpx.HTTPError:
            yield from self._joined_event()
            raise
        yield from self._joined_event()

    def _keep_unknown(self, line: bytes) -> None:
        if len(self._unknown) < _UNKNOWN_BYTES and line.strip() != _DONE.strip():
            self._unknown += line

    def _check_whole(self) -> None:
        if self._pieces is None and self._is_chat:
            self._exchange.receive(self._reply.status_code, self._reply.headers, bytes(self._unknown).strip())
            self._exchange.fail(None)
        if self._pieces is not None and not self._pieces.is_whole:
            raise httpx.RemoteProtocolError("the stream was cut", request=self._reply.request)

    def _joined_event(self) -> Iterator[bytes]:
        """Yield the joined chat completion, and the end of the stream if it is whole."""
        if self._pieces is None:
            return
        error = self._exchange.has_error
        body = json.dumps(self._exchange.complete(self._pieces.completion())).encode()
        event = one_event(body) if self._pieces.is_whole and not error else one_event(body, cut=True)
        self._pieces = None
        yield event

    def _lines(self) -> Iterator[bytes]:
        size, rest = 0, bytearray()
        for piece in self._reply.iter_raw():
            size += len(piece)
            if size > input_limits.MODEL_REPLY_BYTES:
                raise TooLarge(
                    f"its reply is larger than the {input_limits.MODEL_REPLY_BYTES // input_limits.MB} MB that are read"
                )
            # httpx's timeout counts from the last byte. A server that sends one byte at a time needs this one.
            if self._until is not None and time.monotonic() > self._until:
                raise httpx.ReadTimeout("the reply did not end in time", request=self._reply.request)
            rest += piece
            if b"\n" in piece:
                *lines, rest = rest.split(b"\n")
                yield from (bytes(line) + b"\n" for line in lines)
        if rest:
            yield bytes(rest)

    def _count_line(self) -> None:
        self._lines_seen += 1
        if self._lines_seen > input_limits.MODEL_EVENTS:
            raise TooLarge(f"its reply comes in more than the {input_limits.MODEL_EVENTS:,} lines that are read")

    def close(self) -> None:
        self._reply.close()


def _is_error(value: Any) -> bool:
    """Return True if an event says that no answer will follow. Other protocols have other kinds of events."""
    return isinstance(value, dict) and bool(
        error_in(value) or value.get("errors") or value.get("detail") or value.get("object") == "error"
    )


def one_event(body: bytes, *, cut: bool = False) -> bytes:
    """Return a chat completion as the only piece of a stream. A `cut` one has no finish reason."""
    answer = json.loads(body)
    choices = [
        {"index": 0, "delta": choice["message"], "finish_reason": None if cut else choice["finish_reason"]}
        for choice in answer["choices"]
    ]
    event = {**answer, "object": "chat.completion.chunk", "choices": choices}
    return b"data: " + json.dumps(event).encode() + b"\n\n" + (b"" if cut else _DONE)


def json_value(data: bytes) -> Any:
    """Return the value of JSON, or None if it is invalid. Raise `TooLarge` before creating too many values."""
    try:
        check_values(data, "its reply")
        return json.loads(data)
    except LabError as error:
        raise TooLarge(f"its reply {error.message}") from error
    except (ValueError, RecursionError):
        return None


_PACKED = ("content-encoding", "content-length", "transfer-encoding")
"""Headers about the encoding of a reply. They are false for a decompressed one."""
_MOVED = (301, 302, 303)
"""Redirects after which a client would repeat the request without its body. The server's own reply says more."""
_REPEATED_STATUS = httpx.codes.UNPROCESSABLE_ENTITY
"""Status after which litellm repeats a request by itself, uncounted. It gets another status."""
_ERROR_BYTES = 16 * 1024
"""Bytes of an error that a client gets, because it searches all of them for seconds. The exchange has all words."""
_STREAM_REQUEST, _TAIL = b'"stream":true', 400
"""Mark of a request for a streamed answer, and in how many of its last bytes it is found."""


def bound_replies(litellm: Any) -> None:
    """Make every client that litellm builds from now on read replies through `BoundedTransport`."""
    if isinstance(getattr(litellm, "sync_transport", None), BoundedTransport):
        return
    from litellm.llms.custom_httpx.http_handler import get_ssl_configuration

    transport = BoundedTransport(httpx.Client(verify=get_ssl_configuration()))
    litellm.sync_transport = transport
    # This outer client follows redirects, so the transport does not.
    litellm.client_session = httpx.Client(transport=transport, follow_redirects=True)
    # Cached clients still have the old transport.
    cache = getattr(litellm, "in_memory_llm_clients_cache", None)
    if cache is not None:
        cache.flush_cache()


class BoundedTransport(httpx.BaseTransport):
    """Send requests by a client (with the environment's proxies) and read each reply within the bounds."""

    def __init__(self, client: httpx.Client) -> None:
        self._client = client

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """Return the reply, decompressed. Raise `TooLarge`, or the connection's error."""
        if (exchange := current_exchange()) is None:  # a plug-in's own call: it gets the reply as it came
            return self._client.send(request, stream=True, auth=None, follow_redirects=False)
        request = exchange.send(request)
        # A compressed reply could grow beyond the bound.
        request.headers["accept-encoding"] = "identity"
        reply = self._client.send(request, stream=True, auth=None, follow_redirects=False)
        headers = [(name, value) for name, value in reply.headers.raw if name.lower().decode("latin-1") not in _PACKED]
        encoding = reply.headers.get("content-encoding", "identity").strip().lower()
        is_stream = reply.headers.get("content-type", "").startswith(KIND) and encoding in ("", "identity")
        if is_stream and reply.is_success:
            exchange.receive(reply.status_code, reply.headers)
            seconds = (request.extensions.get("timeout") or {}).get("read")
            stream = EventStream(reply, seconds, exchange, is_chat=_is_chat(request))
            return httpx.Response(reply.status_code, headers=headers, stream=stream, extensions=reply.extensions)
        try:
            body = _decompress(_read_body(reply), encoding)
        finally:
            reply.close()
        try:
            check_values(body, "its reply")
        except LabError as error:
            raise TooLarge(f"its reply {error.message}") from error
        exchange.receive(reply.status_code, reply.headers, body)
        body = _body_for_client(request, body, exchange) if reply.is_success else body[:_ERROR_BYTES]
        if request.method == "POST" and reply.status_code in _MOVED:
            headers = [(name, value) for name, value in headers if name.lower() != b"location"]
        status = httpx.codes.BAD_REQUEST if reply.status_code == _REPEATED_STATUS else reply.status_code
        return httpx.Response(status, headers=headers, content=body, extensions=reply.extensions)

    def close(self) -> None:
        """Do nothing: many clients of litellm share one transport, and each closes the one it got."""


def _body_for_client(request: httpx.Request, body: bytes, exchange: Exchange) -> bytes:
    """Return the body for the client. Of a chat completion, which is parsed beside it, that is only the token count."""
    if not _is_chat(request):
        return body
    value = json_value(body)
    if not is_completion(value):
        exchange.fail(value)
        return body
    plain_body = json.dumps(exchange.complete(value)).encode()
    return one_event(plain_body) if _asks_for_stream(request) else plain_body


def _is_chat(request: httpx.Request) -> bool:
    return request.url.path.endswith("/chat/completions")


def _asks_for_stream(request: httpx.Request) -> bool:
    try:
        return _STREAM_REQUEST in request.content[-_TAIL:]
    except httpx.RequestNotRead:  # a file on its way, which is never held whole
        return False


def _read_body(reply: httpx.Response) -> bytes:
    """Return the raw bytes of a reply."""
    body = bytearray()
    for piece in reply.iter_raw():
        body += piece
        if len(body) > input_limits.MODEL_REPLY_BYTES:
            raise TooLarge(_too_large_message())
    return bytes(body)


def _decompress(body: bytes, encoding: str) -> bytes:
    """Decompress a body from a server that ignores `accept-encoding`."""
    if not body or encoding in ("", "identity"):
        return body
    if encoding not in ("gzip", "deflate"):
        raise TooLarge("its reply is packed in a way that was not asked for")
    # 32 detects gzip and zlib headers.
    unpacker = zlib.decompressobj(zlib.MAX_WBITS | 32)
    try:
        whole = unpacker.decompress(body, input_limits.MODEL_REPLY_BYTES + 1)
    except zlib.error as error:
        raise httpx.DecodingError(str(error)) from error
    if len(whole) > input_limits.MODEL_REPLY_BYTES:
        raise TooLarge(_too_large_message())
    return whole


def _too_large_message() -> str:
    return f"its reply is larger than the {input_limits.MODEL_REPLY_BYTES // input_limits.MB} MB that are read"
