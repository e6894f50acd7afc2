"""Control of a served phone beside adb, for whoever runs the experiment: a loopback HTTP port with a token."""

from __future__ import annotations

import contextlib
import hmac
import io
import socket
import threading
import time
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from socketserver import TCPServer
from typing import Any

from lab.core.codec import decode, encode
from lab.core.errors import LabError
from lab.core.text.suggestion import list_sentence

LOOPBACK = "127.0.0.1"
_MOST_BODY = 32 << 20
_PATIENCE = 10.0
"""Seconds in which a request must be complete, and in which its answer must be read."""
_CLIENTS = 16
"""Concurrent clients. One more evicts the oldest that has not authenticated."""

Answer = Callable[[Any], Any]


class HttpRefusal(Exception):
    """A refused request: the HTTP status and the reason."""

    def __init__(self, status: int, error: LabError) -> None:
        super().__init__(status)
        self.status, self.error = status, error


class HarnessPort:
    """Server of `answers`, by method and path (`POST /restore`), for clients with the token. JSON both ways.

    Each answer is called with the request's JSON value (None for GET), on a thread of its own. A `LabError` becomes
    status 400.
    """

    def __init__(self, token: str, answers: dict[str, Answer], port: int = 0) -> None:
        self._server = _HarnessServer(port, token, answers)
        self._thread = threading.Thread(target=self._serve, name="served phone harness", daemon=True)
        self._closed = False

    @property
    def url(self) -> str:
        """Address of the port."""
        return f"http://{LOOPBACK}:{self._server.server_port}"

    def start(self) -> None:
        """Accept requests, on threads of its own."""
        self._thread.start()

    def _serve(self) -> None:
        self._server.serve_forever(0.1)

    def close(self) -> None:
        """End the server and all its clients. Safe to call twice."""
        if self._closed:
            return
        self._closed = True
        if self._thread.ident is not None:
            self._server.shutdown()
            self._thread.join()
        self._server.hang_up()
        self._server.server_close()


class _HarnessServer(ThreadingHTTPServer):
    request_queue_size = 128
    """Backlog of connections: with the usual five, the next client would wait a second for its retry."""
    # `close` returns only after every client's thread has ended.
    daemon_threads = False
    block_on_close = True

    def __init__(self, port: int, token: str, answers: dict[str, Answer]) -> None:
        self.token, self.answers = token.encode(), answers
        self._clients: set[socket.socket] = set()
        # A dict preserves the order of connecting, so the first stranger is the oldest.
        self._strangers: dict[socket.socket, None] = {}
        self._changing = threading.Lock()
        try:
            super().__init__((LOOPBACK, port), _Request)
        except OSError as error:
            raise LabError(f"port {port}", f"cannot be listened at ({error.strerror})", "Choose another.") from error

    def server_bind(self) -> None:
        """Bind without a name server's lookup of this machine's name."""
        TCPServer.server_bind(self)
        self.server_name, self.server_port = LOOPBACK, self.socket.getsockname()[1]

    def verify_request(self, request: Any, client_address: Any) -> bool:
        with self._changing:
            if len(self._clients) >= _CLIENTS:
                oldest = next(iter(self._strangers), None)
                if oldest is None:
                    return False
                self._forget(oldest)
                with contextlib.suppress(OSError):
                    oldest.shutdown(socket.SHUT_RDWR)
            self._clients.add(request)
            self._strangers[request] = None
        return True

    def meet(self, request: Any) -> None:
        """Mark a client as authenticated: others no longer evict it."""
        with self._changing:
            self._strangers.pop(request, None)

    def _forget(self, request: Any) -> None:
        self._clients.discard(request)
        self._strangers.pop(request, None)

    def shutdown_request(self, request: Any) -> None:
        with self._changing:
            self._forget(request)
        super().shutdown_request(request)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Ignore a client that leaves midway. Report anything else."""
        import sys

        if not isinstance(sys.exception(), OSError):
            super().handle_error(request, client_address)

    def hang_up(self) -> None:
        with self._changing:
            clients = list(self._clients)
        for client in clients:
            with contextlib.suppress(OSError):
                client.shutdown(socket.SHUT_RDWR)


class _InTime(io.RawIOBase):
    """A client's input with a deadline, so that one that sends a byte now and then is not read forever."""

    def __init__(self, client: socket.socket, seconds: float) -> None:
        self._client, self._until = client, time.monotonic() + seconds

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        seconds_left = self._until - time.monotonic()
        if seconds_left <= 0:
            raise TimeoutError
        # The timeout of each read is the rest of the request's time, not a new one.
        self._client.settimeout(seconds_left)
        return self._client.recv_into(buffer)


class _Request(BaseHTTPRequestHandler):
    server: _HarnessServer
    server_version, sys_version = "hitlab", ""

    def setup(self) -> None:
        super().setup()
        self.rfile.close()
        self.rfile = io.BufferedReader(_InTime(self.connection, _PATIENCE))

    def do_GET(self) -> None:
        self._answer()

    def do_POST(self) -> None:
        self._answer()

    def _answer(self) -> None:
        try:
            answer = self._authorized_answer()
            value = self._body() if self.command == "POST" else None
            self._send(200, answer(value))
        except HttpRefusal as refusal:
            self._refuse(refusal.status, refusal.error)
        except LabError as error:
            self._refuse(400, error)
        except (RecursionError, UnicodeError):
            self._refuse(400, LabError("harness", "the request nests too deep, or is no text."))

    def _refuse(self, status: int, why: LabError) -> None:
        self._send(status, {"title": why.title, "message": why.message, "hint": why.hint})

    def _authorized_answer(self) -> Answer:
        """Return the handler of this request. Raise `HttpRefusal` if its client or its path is not allowed."""
        host = self.headers.get("Host", "")
        # A web page could reach the loopback port under a name of its own (DNS rebinding).
        if host not in (f"{LOOPBACK}:{self.server.server_port}", f"localhost:{self.server.server_port}"):
            raise HttpRefusal(403, LabError("harness", "is asked under another name than its own."))
        kind, _, token = self.headers.get("Authorization", "").partition(" ")
        sent_token = token.strip().encode("utf-8", "replace")
        # Constant time: the duration must not reveal the token.
        if not hmac.compare_digest(sent_token, self.server.token) or kind.lower() != "bearer":
            raise HttpRefusal(401, LabError("harness", "the token is not the one it was started with."))
        answer = self.server.answers.get(f"{self.command} {self.path}")
        self.server.meet(self.connection)
        if answer is None:
            there = list_sentence(self.server.answers)
            raise HttpRefusal(404, LabError("harness", "there is nothing of that name.", there))
        return answer

    def _body(self) -> Any:
        length = self.headers.get("Content-Length", "")
        if not length.isascii() or not length.isdigit():
            raise HttpRefusal(411, LabError("harness", "a request says how long it is."))
        if int(length) > _MOST_BODY:
            raise HttpRefusal(413, LabError("harness", f"a request is at most {_MOST_BODY} bytes long."))
        data = self.rfile.read(int(length))
        if len(data) < int(length):
            raise HttpRefusal(400, LabError("harness", "the request was cut short."))
        if not data:
            return None
        return decode(data, Any, "request to the harness")

    def _send(self, status: int, value: Any) -> None:
        data = encode(value)
        self.connection.settimeout(_PATIENCE)
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.send_header("Cache-Control", "no-store")
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, format: str, *args: Any) -> None:
        """Print nothing for a request."""
