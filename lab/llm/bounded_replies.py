"""Bounds on a model server's reply: a reply that is too large ends its question before it fills the memory.

The providers' clients read a whole reply and parse it at once. They get our transport, which stops reading at the
bound, decompresses within it, and counts JSON values before any is created. Streamed replies have the same bounds
(`lab/llm/event_stream.py`).
"""

from __future__ import annotations

import json
import zlib
from typing import Any

import httpx

from lab.core.errors import LabError
from lab.core.run import limits
from lab.core.values.json_size import check_values
from lab.llm.attempt import TooLarge
from lab.llm.event_stream import KIND, EventStream, json_value, one_event
from lab.llm.exchange import Exchange, current_exchange, is_completion

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
        if len(body) > limits.MODEL_REPLY_BYTES:
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
        whole = unpacker.decompress(body, limits.MODEL_REPLY_BYTES + 1)
    except zlib.error as error:
        raise httpx.DecodingError(str(error)) from error
    if len(whole) > limits.MODEL_REPLY_BYTES:
        raise TooLarge(_too_large_message())
    return whole


def _too_large_message() -> str:
    return f"its reply is larger than the {limits.MODEL_REPLY_BYTES // limits.MB} MB that are read"
