"""A model's server with OpenAI's files and batches beside its chat completions, behind a real socket on 127.0.0.1."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from email.parser import BytesParser
from email.policy import HTTP
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from tests.endpoint import Refused, Reply, Request, Said, Whole, completion

Brain = Callable[[Request], Reply]


class BatchServer:
    """Answers each line of a batch by `brain`, as a question alone; a line for which it says `Cut` has no result.

    A batch is under way until `go` is set. `asked` are the questions of all batches, `alone` those that came alone.
    """

    def __init__(self, brain: Brain) -> None:
        self.brain = brain
        self.files: dict[str, bytes] = {}
        self.batches: dict[str, dict[str, Any]] = {}
        self.asked: list[Request] = []
        self.alone: list[Request] = []
        self.calls: list[str] = []
        self.go = threading.Event()
        self.go.set()
        self.begins_unheard = False
        """Whether a batch is begun and whoever began it hears of an error."""
        self.ends: str = "completed"
        self._http = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self._http.daemon_threads = True
        threading.Thread(target=self._http.serve_forever, args=(0.05,), daemon=True).start()

    @property
    def base(self) -> str:
        """What a client is given as its base URL."""
        return f"http://127.0.0.1:{self._http.server_port}/v1"

    def close(self) -> None:
        self._http.shutdown()
        self._http.server_close()

    def upload(self, data: bytes) -> dict[str, Any]:
        """Keeps a file."""
        id = f"file-{len(self.files)}"
        self.files[id] = data
        return {"id": id, "object": "file", "bytes": len(data), "created_at": 0, "filename": "questions.jsonl",
                "purpose": "batch", "status": "processed"}  # fmt: skip

    def begin(self, body: dict[str, Any]) -> dict[str, Any]:
        """Begins a batch: its questions are asked now, and its results shown once it has ended."""
        id = f"batch_{len(self.batches)}"
        lines = [json.loads(line) for line in self.files[body["input_file_id"]].splitlines()]
        results, errors = [], []
        for line in lines if self.ends == "completed" else []:
            data = json.dumps(line["body"]).encode()
            request = Request(len(self.asked), line["url"], {}, data, line["body"])
            self.asked.append(request)
            match self.brain(request):
                case Said(text, usage, cached):
                    reply = {"status_code": 200, "body": json.loads(completion(text, usage, cached))}
                    results.append({"custom_id": line["custom_id"], "response": reply, "error": None})
                case Whole() as whole:
                    reply = {"status_code": 200, "body": whole.body()}
                    results.append({"custom_id": line["custom_id"], "response": reply, "error": None})
                case Refused(status, message, _):
                    reply = {"status_code": status, "body": {"error": {"message": message}}}
                    errors.append({"custom_id": line["custom_id"], "response": reply, "error": None})
        results.reverse()  # results come in any order
        self.batches[id] = {
            "id": id, "object": "batch", "endpoint": body["endpoint"], "input_file_id": body["input_file_id"],
            "completion_window": "24h", "created_at": 0, "metadata": body.get("metadata"), "lines": len(lines),
            "output_file_id": self._kept(results), "error_file_id": self._kept(errors),
            "errors": None if self.ends == "completed" else {"data": [{"message": "the file is no good"}]},
        }  # fmt: skip
        return self.state(id)

    def _kept(self, rows: list[dict[str, Any]]) -> str | None:
        data = b"".join(json.dumps(row).encode() + b"\n" for row in rows)
        return str(self.upload(data)["id"]) if rows else None

    def state(self, id: str) -> dict[str, Any]:
        """A batch as it is told."""
        batch = dict(self.batches[id])
        lines = batch.pop("lines")
        if not self.go.is_set():
            return {**batch, "status": "in_progress", "output_file_id": None, "error_file_id": None, "errors": None,
                    "request_counts": {"total": lines, "completed": 0, "failed": 0}}  # fmt: skip
        return {**batch, "status": self.ends, "request_counts": {"total": lines, "completed": lines, "failed": 0}}


@contextmanager
def batching(brain: Brain) -> Iterator[BatchServer]:
    """A server for the length of a test."""
    server = BatchServer(brain)
    try:
        yield server
    finally:
        server.close()


def _handler(server: BatchServer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            data = self.rfile.read(int(self.headers.get("content-length", 0)))
            server.calls.append(f"POST {self.path}")
            match self.path.removeprefix("/v1"):
                case "/files":
                    self._send(200, server.upload(_uploaded(self.headers["content-type"], data)))
                case "/batches":
                    begun = server.begin(json.loads(data))
                    if server.begins_unheard:
                        self._send(500, {"error": {"message": "it took too long"}})
                    else:
                        self._send(200, begun)
                case _:
                    request = Request(len(server.alone), self.path, {}, data, json.loads(data))
                    server.alone.append(request)
                    match server.brain(request):
                        case Said(text, usage, cached):
                            self._send(200, json.loads(completion(text, usage, cached)))
                        case _:
                            self._send(400, {"error": {"message": "no"}})

        def do_GET(self) -> None:
            path = self.path.partition("?")[0].removeprefix("/v1")
            server.calls.append(f"GET {path}")
            match path.strip("/").split("/"):
                case ["batches"]:
                    data = [server.state(id) for id in reversed(server.batches)]
                    self._send(200, {"object": "list", "data": data, "has_more": False})
                case ["batches", id]:
                    self._send(200, server.state(id))
                case ["files", id, "content"]:
                    self._send(200, server.files[id])
                case _:
                    self._send(404, {"error": {"message": "nothing there"}})

        def _send(self, status: int, body: dict[str, Any] | bytes) -> None:
            data = body if isinstance(body, bytes) else json.dumps(body).encode()
            self.send_response(status)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, format: str, *args: Any) -> None:
            """A test's output is its own."""

    return Handler


def _uploaded(mime: str, data: bytes) -> bytes:
    """The file of a form."""
    form = BytesParser(policy=HTTP).parsebytes(b"content-type: " + mime.encode() + b"\r\n\r\n" + data)
    for part in form.iter_parts():
        if part.get_filename():
            return bytes(part.get_payload(decode=True))
    raise AssertionError("no file came")
