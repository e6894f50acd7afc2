"""A model behind a real socket on 127.0.0.1: speaks OpenAI's chat completions, and misbehaves on demand."""

from __future__ import annotations

import base64
import json
import socket
import struct
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import repeat
from typing import Any, NamedTuple


class Said(NamedTuple):
    """A whole, right answer; `usage` is tokens in and out, None to leave them out."""

    text: str | None
    usage: tuple[int, int] | None = (1000, 20)
    cached: int = 0


class Refused(NamedTuple):
    """An HTTP status with its headers and a body in OpenAI's shape."""

    status: int
    message: str = "no"
    headers: tuple[tuple[str, str], ...] = ()


class Body(NamedTuple):
    """A status and these bytes, as packed as `encoding` says."""

    data: bytes
    mime: str = "application/json"
    encoding: str = ""
    status: int = 200
    headers: tuple[tuple[str, str], ...] = ()


class Whole(NamedTuple):
    """A message as a server sends it, with all its fields, whole or in pieces as it is asked for."""

    message: dict[str, Any]
    finish: str = "stop"
    usage: tuple[int, int] | None = (1000, 20)

    def body(self) -> dict[str, Any]:
        """The chat completion that holds it."""
        body = json.loads(completion("", self.usage))
        body["choices"] = [{"index": 0, "finish_reason": self.finish, "message": self.message}]
        return dict(body)

    def pieces(self) -> Pieces:
        """The same in pieces: texts in several, other values at once."""
        deltas: list[dict[str, Any]] = [{"role": "assistant"}]
        for name, value in self.message.items():
            texts = [value[at : at + 9] for at in range(0, len(value), 9)] if isinstance(value, str) else [value]
            deltas += [{name: text} for text in texts]
        told: list[dict[str, Any]] = [{"choices": [{"index": 0, "delta": delta}]} for delta in deltas]
        told.append({"choices": [{"index": 0, "delta": {}, "finish_reason": self.finish}]})
        usage = self.body().get("usage")
        told += [{"choices": [], "usage": usage}] if usage else []
        return Pieces([*(b"data: " + json.dumps(one).encode() + b"\n\n" for one in told), b"data: [DONE]\n\n"])


class Cut(NamedTuple):
    """The connection ends: before any answer, or in the middle of one that was announced longer."""

    after: bytes = b""


class Silent(NamedTuple):
    """Nothing comes until the client leaves or the server closes; `drip` sends a blank now and then meanwhile."""

    drip: float | None = None


class Flood(NamedTuple):
    """Status 200, then this piece again and again; the server makes no room for the whole."""

    piece: bytes
    times: int
    before: bytes = b""
    announced: bool = True
    """Whether the length is said before; else it comes in chunks."""


class Pieces(NamedTuple):
    """Status 200 and these events, one after the other; then the connection ends in good order, or is cut."""

    events: Sequence[bytes]
    cut: bool = False


Reply = Said | Refused | Body | Whole | Cut | Silent | Flood | Pieces


class Request(NamedTuple):
    """One POST: the body as sent, its JSON, and its headers by lower-case name."""

    number: int
    path: str
    headers: dict[str, str]
    data: bytes
    json: dict[str, Any]

    @property
    def texts(self) -> list[str]:
        """The text of every part of every message, in order."""
        return [part for kind, part in self._parts() if kind == "text"]

    @property
    def text(self) -> str:
        """All that was written to the model."""
        return "\n".join(self.texts)

    @property
    def pictures(self) -> list[bytes]:
        """The bytes of every picture that came with it."""
        urls = [part for kind, part in self._parts() if kind == "image_url"]
        return [base64.b64decode(url.partition("base64,")[2], validate=True) for url in urls]

    def _parts(self) -> Iterator[tuple[str, str]]:
        for message in self.json.get("messages", ()):
            content = message["content"]
            if isinstance(content, str):
                yield "text", content
                continue
            for part in content:
                yield part["type"], part["text"] if part["type"] == "text" else part["image_url"]["url"]


class ModelServer:
    """Answers each POST with what `brain` says; `requests` keeps all that came."""

    def __init__(self, brain: Callable[[Request], Reply]) -> None:
        self.brain = brain
        self.requests: list[Request] = []
        self.came = threading.Condition()
        self.closing = threading.Event()
        self._http = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self._http.daemon_threads = True
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.05,), daemon=True)
        self._thread.start()

    @property
    def base(self) -> str:
        """What a client is given as its base URL."""
        return f"http://127.0.0.1:{self._http.server_port}/v1"

    def wait(self, requests: int, seconds: float = 180.0) -> None:
        """Until so many requests have come; fails after `seconds`."""
        with self.came:
            assert self.came.wait_for(lambda: len(self.requests) >= requests, seconds)

    def close(self) -> None:
        """Lets everyone who still waits go."""
        self.closing.set()
        self._http.shutdown()
        self._http.server_close()
        self._thread.join(180)

    def took(self, path: str, headers: dict[str, str], data: bytes) -> Reply:
        """Keeps a request and asks the brain."""
        with self.came:
            request = Request(len(self.requests), path, headers, data, json.loads(data))
            self.requests.append(request)
            self.came.notify_all()
        return self.brain(request)


@contextmanager
def serving(brain: Callable[[Request], Reply]) -> Iterator[ModelServer]:
    """A server for the length of a test."""
    server = ModelServer(brain)
    try:
        yield server
    finally:
        server.close()


def in_turn(*replies: Reply) -> Callable[[Request], Reply]:
    """A brain that gives these replies in order, the last again and again."""
    return lambda request: replies[min(request.number, len(replies) - 1)]


def completion(text: str | None, usage: tuple[int, int] | None = (1000, 20), cached: int = 0) -> bytes:
    """The JSON body of a chat completion."""
    message = {"role": "assistant", "content": text}
    body: dict[str, Any] = {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 0,
        "model": "tiny",
        "choices": [{"index": 0, "finish_reason": "stop", "message": message}],
    }
    if usage is not None:
        body["usage"] = {
            "prompt_tokens": usage[0],
            "completion_tokens": usage[1],
            "total_tokens": sum(usage),
            "prompt_tokens_details": {"cached_tokens": cached},
        }
    return json.dumps(body).encode()


def events(text: str, usage: tuple[int, int] | None = (1000, 20), cached: int = 0) -> list[bytes]:
    """The same answer in pieces of seven characters: its words, why it ended, what it took, and the end."""
    deltas: list[dict[str, Any]] = [{"role": "assistant", "content": ""}]
    deltas += [{"content": text[at : at + 7]} for at in range(0, len(text), 7)]
    told: list[dict[str, Any]] = [{"choices": [{"index": 0, "delta": delta}]} for delta in deltas]
    told.append({"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]})
    if usage is not None:
        told.append({"choices": [], "usage": json.loads(completion(text, usage, cached))["usage"]})
    head = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 0, "model": "tiny"}
    return [*(b"data: " + json.dumps({**head, **one}).encode() + b"\n\n" for one in told), b"data: [DONE]\n\n"]


def _handler(server: ModelServer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            data = self.rfile.read(int(self.headers.get("content-length", 0)))
            headers = {name.lower(): value for name, value in self.headers.items()}
            if len(data) < int(headers.get("content-length", 0)):  # whoever asked was killed while asking
                self.close_connection = True
                return
            match reply := server.took(self.path, headers, data):
                case Said(text, usage, cached) if b'"stream":true' in data:
                    self._pieces(Pieces(events(text or "", usage, cached)))
                case Pieces():
                    self._pieces(reply)
                case Said(text, usage, cached):
                    self._send(200, completion(text, usage, cached))
                case Refused(status, message, extra):
                    error = {"error": {"message": message, "type": "refused", "param": None, "code": None}}
                    self._send(status, json.dumps(error).encode(), extra)
                case Body(body, mime, encoding, status, extra):
                    packed = [("content-encoding", encoding)] if encoding else []
                    self._send(status, body, [*packed, *extra], mime)
                case Whole() if b'"stream":true' in data:
                    self._pieces(reply.pieces())
                case Whole():
                    self._send(200, json.dumps(reply.body()).encode())
                case Cut(after):
                    self._cut(after)
                case Silent(drip):
                    self._silent(drip)
                case Flood():
                    self._flood(reply)

        def _send(
            self, status: int, body: bytes, extra: Sequence[tuple[str, str]] = (), mime: str = "application/json"
        ) -> None:
            self.send_response(status)
            self.send_header("content-type", mime)
            self.send_header("content-length", str(len(body)))
            for name, value in extra:
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body)

        def _cut(self, after: bytes) -> None:
            if after:
                self.send_response(200)
                self.send_header("content-type", "application/json")
                self.send_header("content-length", str(len(after) + 100))
                self.end_headers()
                self.wfile.write(after)
                self.wfile.flush()
            else:  # a reset, not an orderly end
                self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            self.close_connection = True
            self.connection.close()

        def _flood(self, flood: Flood) -> None:
            self.send_response(200)
            self.send_header("content-type", "application/json")
            length = len(flood.before) + len(flood.piece) * flood.times
            self.send_header(
                *(("content-length", str(length)) if flood.announced else ("transfer-encoding", "chunked"))
            )
            self.end_headers()
            for piece in (flood.before, *repeat(flood.piece, flood.times)):
                self.wfile.write(piece if flood.announced or not piece else b"%x\r\n%b\r\n" % (len(piece), piece))
            if not flood.announced:
                self.wfile.write(b"0\r\n\r\n")

        def _pieces(self, pieces: Pieces) -> None:
            self.send_response(200)
            self.send_header("content-type", "text/event-stream")
            self.send_header("transfer-encoding", "chunked")
            self.end_headers()
            for piece in pieces.events:
                self.wfile.write(b"%x\r\n%b\r\n" % (len(piece), piece))
                self.wfile.flush()
            if not pieces.cut:
                self.wfile.write(b"0\r\n\r\n")
                return
            self.close_connection = True
            self.connection.close()

        def _silent(self, drip: float | None) -> None:
            if drip is not None:
                self.send_response(200)
                self.send_header("content-type", "application/json")
                self.send_header("transfer-encoding", "chunked")
                self.end_headers()
            while not server.closing.wait(drip if drip is not None else 0.05):
                if drip is not None:
                    try:
                        self.wfile.write(b"1\r\n \r\n")
                        self.wfile.flush()
                    except OSError:
                        break
                elif self._left():
                    break
            self.close_connection = True

        def _left(self) -> bool:
            """Whether the client has gone."""
            self.connection.setblocking(False)
            try:
                return not self.connection.recv(1, socket.MSG_PEEK)
            except BlockingIOError:
                return False
            except OSError:
                return True
            finally:
                self.connection.setblocking(True)

        def handle(self) -> None:
            try:
                super().handle()
            except OSError:
                self.close_connection = True  # the client left in the middle

        def finish(self) -> None:
            try:
                super().finish()
            except (OSError, ValueError):
                self.close_connection = True  # the connection was cut on purpose

        def log_message(self, format: str, *args: Any) -> None:
            """A test's output is its own."""

    return Handler
