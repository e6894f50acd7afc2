"""Client of an environment's HTTP server, with limits on time and size and typed answers."""

from __future__ import annotations

import http.client
import socket
import threading
import time
from collections.abc import Mapping
from contextlib import suppress
from typing import Any, TypeVar
from urllib.parse import urlencode, urlsplit

import msgspec

from lab.core.codec import convert, encode, read_json
from lab.core.errors import LabError
from lab.core.redaction.secret_keys import without_keys
from lab.core.run.input_limits import MB
from lab.core.seams import Trouble
from lab.core.text.plain_text import plain

T = TypeVar("T")

ANSWER_BYTES = 4 * MB
"""Default limit on an answer's bytes."""
_CHUNK = 1 << 16
_SHOWN = 300
"""Most characters quoted from a server's error text."""


class ServerRefusal(LabError):
    """Error answer, or an unusable one, from a server that responds."""


class HttpLine:
    """Client of the server at `base`. A missing or late answer raises `Trouble`, a wrong one `ServerRefusal`.

    It follows no redirections and uses no proxy. Each request has its own connection, so several threads may use it.
    """

    def __init__(self, base: str, hint: str = "", away: str = "") -> None:
        """Set the hints: `hint` for what looks like another server, `away` for one that does not answer."""
        self.base, self._hint, self._away = base, hint, away
        self._parts = urlsplit(base)

    def ask(
        self,
        method: str,
        path: str,
        kind: type[T] | Any,
        *,
        query: Mapping[str, str] | None = None,
        body: object = None,
        seconds: float = 60.0,
        most: int = ANSWER_BYTES,
    ) -> T:
        """Return the answer as `kind`.

        `body` is sent as JSON, `seconds` limits the whole exchange, `most` the bytes.
        """
        data = self.fetch(method, path, query=query, body=body, seconds=seconds, most=most)
        what = f"{self.base}{path}"
        try:
            answer: T = convert(read_json(data, what).value, kind, what)
        except LabError as error:
            raise ServerRefusal(what, f"its answer cannot be used: {error.message}.", self._hint) from error
        return answer

    def fetch(
        self,
        method: str,
        path: str,
        *,
        query: Mapping[str, str] | None = None,
        body: object = None,
        seconds: float = 60.0,
        most: int = ANSWER_BYTES,
    ) -> bytes:
        """Return the answer's raw bytes."""
        target = f"{self._parts.path}{path}" + (f"?{urlencode(query)}" if query else "")
        status, data = self._exchange(method, path, target, None if body is None else encode(body), seconds, most)
        if status != http.client.OK:
            hint = self._hint if status == http.client.NOT_FOUND else ""
            raise ServerRefusal(f"{self.base}{path}", f"answers with {status}{_detail(data)}.", hint)
        return data

    def _exchange(
        self, method: str, path: str, target: str, body: bytes | None, seconds: float, most: int
    ) -> tuple[int, bytes]:
        secure = self._parts.scheme == "https"
        connection = http.client.HTTPSConnection if secure else http.client.HTTPConnection
        line = connection(self._parts.hostname or "", self._parts.port, timeout=seconds)
        end, sent = time.monotonic() + seconds, False
        timer: threading.Timer | None = None
        try:
            line.connect()
            # The socket's timeout applies to each read: a server that trickles bytes could stretch it without end.
            timer = threading.Timer(seconds, _cut, (line.sock,))
            timer.daemon = True
            timer.start()
            # Only a POST may have changed anything before it failed.
            sent = method == "POST"
            line.request(method, target, body, {"Content-Type": "application/json", "Connection": "close"})
            answer = line.getresponse()
            data = self._read(answer, path, most)
            if time.monotonic() >= end:
                raise TimeoutError  # `_cut` ended it, and a truncated body may look complete
            return answer.status, data
        except (OSError, http.client.HTTPException) as error:
            late = isinstance(error, TimeoutError) or time.monotonic() >= end
            why = f"within {seconds:g} s" if late else f"({plain(_reason(error), lines=False)})"
            raise Trouble(f"{self.base}{path}", f"does not answer {why}.", self._away, sent=sent) from error
        finally:
            if timer is not None:
                timer.cancel()
            line.close()

    def _read(self, answer: http.client.HTTPResponse, path: str, most: int) -> bytes:
        data = bytearray()
        while chunk := answer.read(min(_CHUNK, most + 1 - len(data))):
            data += chunk
            if len(data) > most:
                raise ServerRefusal(f"{self.base}{path}", f"answers with more than {most:,} bytes.")
        if answer.length:  # bytes missing of the announced length
            raise http.client.IncompleteRead(b"", answer.length)
        return bytes(data)


def _cut(sock: socket.socket) -> None:
    """Shut down an overdue connection from another thread, which makes a blocked read fail."""
    with suppress(OSError):  # already closed
        sock.shutdown(socket.SHUT_RDWR)


def _reason(error: BaseException) -> str:
    return without_keys(getattr(error, "strerror", None) or str(error) or type(error).__name__)[:_SHOWN]


class _Detail(msgspec.Struct):
    """Error body of these servers: `detail` is a text, or a list of fields for an invalid request."""

    detail: Any = ""


def _detail(data: bytes) -> str:
    """Return the server's own reason as the rest of a sentence, or an empty string if unreadable."""
    try:
        detail: Any = convert(read_json(data[:ANSWER_BYTES], "detail").value, _Detail, "detail").detail
    except LabError:
        return ""
    words = detail if isinstance(detail, str) else encode(detail).decode() if detail else ""
    return f": {plain(without_keys(words)[:_SHOWN], lines=False).rstrip('.')}" if words else ""
