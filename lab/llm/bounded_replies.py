"""How much of a model server's reply is read: one that is too large ends its question, before it fills the memory.

The providers' clients read a reply whole and make values of it at once. They are given a transport of ours, which
stops reading at the bound, unpacks within it, and counts the values of JSON before any is made. A reply in pieces is
bounded in the same way (`lab/llm/event_stream.py`).
"""

from __future__ import annotations

import json
import zlib
from typing import Any

import httpx

from lab.core import limits
from lab.core.errors import LabError
from lab.core.json_size import check_values
from lab.llm.attempt import TooLarge
from lab.llm.event_stream import KIND, EventStream, json_value, one_event
from lab.llm.exchange import Exchange, current_exchange

_PACKED = ("content-encoding", "content-length", "transfer-encoding")
"""Headers that say how a reply came; they are not true of one that was read and unpacked."""
_MOVED = (301, 302, 303)
"""After these a client would ask again without what it sent; the server's own answer says more."""
_ASKED_AGAIN = httpx.codes.UNPROCESSABLE_ENTITY
"""The status after which litellm asks again by itself, uncounted; it is handed another."""
_ASKED_IN_PIECES, _TAIL = b'"stream":true', 400
"""What a question says whose answer is to come in pieces, and in how many of its last bytes."""


def bound_replies(litellm: Any) -> None:
    """Makes every client that litellm builds from now on read replies through `BoundedTransport`."""
    if isinstance(getattr(litellm, "sync_transport", None), BoundedTransport):
        return
    from litellm.llms.custom_httpx.http_handler import get_ssl_configuration

    transport = BoundedTransport(httpx.Client(verify=get_ssl_configuration()))
    litellm.sync_transport = transport
    litellm.client_session = httpx.Client(transport=transport, follow_redirects=True)
    cache = getattr(litellm, "in_memory_llm_clients_cache", None)
    if cache is not None:
        cache.flush_cache()


class BoundedTransport(httpx.BaseTransport):
    """Sends requests by a client (with the environment's proxies) and reads each reply within the bounds."""

    def __init__(self, client: httpx.Client) -> None:
        self._client = client

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """The reply as it came, unpacked; raises `TooLarge`, or what the connection raises."""
        if (exchange := current_exchange()) is None:  # a plug-in's own call: it gets the reply as it came
            return self._client.send(request, stream=True, auth=None, follow_redirects=False)
        request = exchange.send(request)
        request.headers["accept-encoding"] = "identity"
        reply = self._client.send(request, stream=True, auth=None, follow_redirects=False)
        headers = [(name, value) for name, value in reply.headers.raw if name.lower().decode("latin-1") not in _PACKED]
        encoding = reply.headers.get("content-encoding", "identity").strip().lower()
        is_stream = reply.headers.get("content-type", "").startswith(KIND) and encoding in ("", "identity")
        if is_stream and reply.status_code == httpx.codes.OK:
            exchange.receive(reply.status_code, reply.headers)
            stream = EventStream(reply, (request.extensions.get("timeout") or {}).get("read"), exchange)
            return httpx.Response(reply.status_code, headers=headers, stream=stream, extensions=reply.extensions)
        try:
            body = _unpacked(_read(reply), encoding)
        finally:
            reply.close()
        try:
            check_values(body, "its reply")
        except LabError as error:
            raise TooLarge(f"its reply {error.message}") from error
        exchange.receive(reply.status_code, reply.headers, body)
        if reply.status_code == httpx.codes.OK:
            body = _handed_on(request, body, exchange)
        elif request.method == "POST" and reply.status_code in _MOVED:
            headers = [(name, value) for name, value in headers if name.lower() != b"location"]
        status = httpx.codes.BAD_REQUEST if reply.status_code == _ASKED_AGAIN else reply.status_code
        return httpx.Response(status, headers=headers, content=body, extensions=reply.extensions)

    def close(self) -> None:
        """Nothing: many clients of litellm share one transport, and each closes what it was given."""


def _handed_on(request: httpx.Request, body: bytes, exchange: Exchange) -> bytes:
    """What the client is handed of a whole body: of a chat completion, which is read beside it, only what it took."""
    if not request.url.path.endswith("/chat/completions"):
        return body
    value = json_value(body)
    if not isinstance(value, dict) or "choices" not in value or (value.get("error") and not value["choices"]):
        exchange.fail(value)
        return body
    plain_body = json.dumps(exchange.complete(value)).encode()
    return one_event(plain_body) if _asks_for_pieces(request) else plain_body


def _asks_for_pieces(request: httpx.Request) -> bool:
    try:
        return _ASKED_IN_PIECES in request.content[-_TAIL:]
    except httpx.RequestNotRead:  # a file on its way, which is never held whole
        return False


def _read(reply: httpx.Response) -> bytes:
    """The bytes of a reply as they were sent."""
    body = bytearray()
    for piece in reply.iter_raw():
        body += piece
        if len(body) > limits.MODEL_REPLY_BYTES:
            raise TooLarge(_words())
    return bytes(body)


def _unpacked(body: bytes, encoding: str) -> bytes:
    """A body of a server that packs although it was asked not to."""
    if not body or encoding in ("", "identity"):
        return body
    if encoding not in ("gzip", "deflate"):
        raise TooLarge("its reply is packed in a way that was not asked for")
    unpacker = zlib.decompressobj(zlib.MAX_WBITS | 32)
    try:
        whole = unpacker.decompress(body, limits.MODEL_REPLY_BYTES + 1)
    except zlib.error as error:
        raise httpx.DecodingError(str(error)) from error
    if len(whole) > limits.MODEL_REPLY_BYTES:
        raise TooLarge(_words())
    return whole


def _words() -> str:
    return f"its reply is larger than the {limits.MODEL_REPLY_BYTES // limits.MB} MB that are read"
