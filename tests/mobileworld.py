"""A stand-in for MobileWorld's environment server: its HTTP API, over a real socket, with the embedded phone behind.

It answers as `core/server.py` of MobileWorld and KnowU-Bench does: the same paths, fields and errors. Its user is asked
at an OpenAI-compatible endpoint, as theirs is, and its routine task is scored by what that said.
"""

from __future__ import annotations

import base64
import contextlib
import json
import re
import threading
import urllib.request
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

import msgspec

from lab.core.run.step import Action
from lab.core.task import task_checks
from lab.core.task.task import Task
from simulators import library
from simulators.phone.installed import APPS
from simulators.phone.phone import Phone
from simulators.phone.stage import activity

TASKS = {
    "FlightAlarm": ("flight_alarm", ["general", "easy"], ["Messages", "Clock"]),
    "LowBattery@tobin": ("low_battery", ["routine", "system-settings", "hard"], ["Settings"]),
    "UsualLunch@ines": ("usual_lunch", ["agent-user-interaction", "preference", "easy"], ["Chilemei"]),
}
GOAL = "What usually happens:\n[08:50] (home) looked at the weather\n\nDecide whether something is to be done."
JUDGE = "You are a strict user-preference judge. Evaluate only based on persona, logs, and rubric."
PNG_SIZE = 1080, 2400


class MobileWorldServer:
    """One server; `requests` are what it was asked, as (method, path, what was sent).

    `faults` stand in for an answer: by path, a function that is given the handler and does what it likes.
    """

    def __init__(self) -> None:
        self.tasks: dict[str, tuple[str, list[str], list[str]]] = dict(TASKS)
        self.requests: list[tuple[str, str, dict[str, Any]]] = []
        self.faults: dict[str, Callable[[BaseHTTPRequestHandler], None]] = {}
        self.user_base = ""
        self.judged: list[str] = []
        self.chat: list[dict[str, str]] = []
        self.answered = ""
        self.score: dict[str, Any] | None = None
        self.judges = False
        self.phone = Phone()
        self.task: Task | None = None
        self.first: dict[str, Any] = {}
        self._server: ThreadingHTTPServer | None = None
        self.port = 0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def env(self) -> str:
        """Its address, for a phone that stands still at once."""
        return f"{self.url}?settle=0"

    def start(self) -> None:
        """Listens, at the same port as before where there was one."""
        self._server = _Server(("127.0.0.1", self.port), _handler(self))
        self.port = self._server.server_address[1]
        threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()

    def kill(self) -> None:
        """Listens no more."""
        if self._server is not None:
            self._server.shutdown()
            self._server.server_close()
            self._server = None

    def asked(self, path: str) -> list[dict[str, Any]]:
        """What was sent to a path."""
        return [sent for _, at, sent in self.requests if at == path]

    def paths(self) -> list[str]:
        """What was asked of tasks and actions, in order; looks are left out."""
        return [path for _, path, _ in self.requests if path.startswith(("/task", "/step"))]

    # -- what the paths do -----------------------------------------------------------------------------------

    def begin(self, name: str) -> None:
        self.task = library.task(self.tasks[name][0])
        self.phone = Phone(clock=self.task.time)
        self.phone.lay(self.task.phone)
        self.first = self.phone.snapshot()
        self.chat, self.answered = [], ""

    def step(self, action: dict[str, Any]) -> Any:
        kind = action["action_type"]
        if kind == "answer":
            self.answered = action["text"]
            return "OK"
        if kind == "ask_user":
            return self.ask_user(action["text"])
        if kind not in ("status", "unknown", "wait"):
            self.phone.perform(_ours(action))
        return "OK"

    def ask_user(self, question: str) -> str:
        """Asks the user's endpoint as the server does: a system prompt, the dialogue so far, the question."""
        system = {"role": "system", "content": "Context: you are Tobin. Only answer based on this info."}
        said = self.complete([system, *self.chat, {"role": "user", "content": question}])
        self.chat += [{"role": "user", "content": question}, {"role": "assistant", "content": said}]
        return said

    def complete(self, messages: list[dict[str, str]]) -> str:
        body = {"model": "gpt-4o-mini", "messages": messages, "temperature": 0.0, "seed": 42}
        request = urllib.request.Request(
            f"{self.user_base}/chat/completions", json.dumps(body).encode(), {"Content-Type": "application/json"}
        )
        with urllib.request.urlopen(request, timeout=300) as answer:
            content: str = json.load(answer)["choices"][0]["message"]["content"]
            return content

    def evaluate(self, name: str, actions: list[dict[str, Any]]) -> dict[str, Any]:
        if self.score is not None:
            return self.score
        assert self.task is not None
        if self.judges:
            try:
                self.judged.append(
                    self.complete([{"role": "system", "content": JUDGE}, {"role": "user", "content": "?"}])
                )
            except OSError:
                return {"score": 0.5, "reason": "judge failed"}
        decision = self._decision(actions) if "routine" in self.tasks[name][1] else ""
        rules = [
            msgspec.structs.replace(check, when="")
            for check in self.task.checks
            if not check.run and check.when in ("", "unrefused", decision)
        ]
        found = task_checks.score(
            msgspec.structs.replace(self.task, checks=tuple(rules)), self.first, self.phone.snapshot(), ()
        )
        return {"score": found.score, "reason": f"decision {decision or 'none'}, answered {self.answered!r}"}

    def _decision(self, actions: list[dict[str, Any]]) -> str:
        """The decision on the first of the actions' questions, out of the dialogue."""
        asked = {action.get("text") for action in actions if action.get("action_type") == "ask_user"}
        for place, message in enumerate(self.chat[:-1]):
            if message["content"] in asked:
                found = re.search(r"<decision>\s*(accept|reject)", self.chat[place + 1]["content"])
                return found[1] if found else "reject"
        return ""


def _ours(action: dict[str, Any]) -> Action:
    kind = action["action_type"]
    at = (action["x"], action["y"]) if action.get("x") is not None else None
    if kind == "drag":
        return Action("drag", (action["start_x"], action["start_y"]), (action["end_x"], action["end_y"]))
    return Action(kind, at, text=action.get("text"), direction=action.get("direction"), app=action.get("app_name"))


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    allow_reuse_address = True

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that went away is no news."""


def _handler(server: MobileWorldServer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self._serve("GET")

        def do_POST(self) -> None:
            self._serve("POST")

        def _serve(self, method: str) -> None:
            parts = urlsplit(self.path)
            query = {name: values[0] for name, values in parse_qs(parts.query).items()}
            length = int(self.headers.get("Content-Length") or 0)
            sent = json.loads(self.rfile.read(length)) if length else query
            server.requests.append((method, parts.path, sent))
            if parts.path in server.faults:
                return server.faults[parts.path](self)
            try:
                self.answer(200, self._answered(method, parts.path, sent))
            except KeyError as error:
                self.answer(500, {"detail": f"{error}"})
            except Exception as error:  # noqa: BLE001 - as the server does
                self.answer(500, {"detail": str(error)})

        def _answered(self, method: str, path: str, sent: dict[str, Any]) -> Any:
            match method, path:
                case "GET", "/health":
                    return {"ok": True, "devices": [], "device_status": {}}
                case "POST", "/init":
                    return {"device": sent["device"], "viewport_size": list(PNG_SIZE)}
                case "GET", "/task/list":
                    return [
                        {"name": name, "tags": tags, "apps": apps} for name, (_, tags, apps) in server.tasks.items()
                    ]
                case "GET", "/task/goal":
                    task = library.task(server.tasks[sent["task_name"]][0])
                    return task.instruction or GOAL
                case "POST", "/task/init":
                    server.begin(sent["task_name"])
                    return "OK"
                case "POST", "/task/tear_down":
                    return "OK"
                case "GET", "/task/eval":
                    return server.evaluate(sent["task_name"], sent.get("actions") or [])
                case "POST", "/step":
                    return {"device": sent["device"], "action": sent["action"], "result": server.step(sent["action"])}
                case "GET", "/screenshot":
                    png = server.phone.observe().png
                    return {"device": sent["device"], "path": "x.png", "b64_png": base64.b64encode(png).decode()}
                case "GET", "/xml":
                    return {
                        "device": sent["device"],
                        "mode": sent["mode"],
                        "content": server.phone.current_screen().tree.to_xml(),
                    }
                case "GET", "/download":
                    found = re.fullmatch(r"src/knowu_bench/user_profile/(\w+)\.yaml", sent["path"])
                    if found and found[1] in library.personas():
                        self.raw(200, library.personas()[found[1]].read_bytes())
                        return None
                    raise KeyError("file not found")
                case "GET", "/state":
                    return {"current_activity": activity(server.phone.current_screen().state, APPS), "current_app": ""}
            self.answer(404, {"detail": "Not Found"})
            return None

        def answer(self, status: int, value: Any) -> None:
            if status == 200 and value is None:
                return  # it was answered already
            self.raw(status, json.dumps(value).encode())

        def raw(self, status: int, data: bytes) -> None:
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, format: str, *args: Any) -> None:
            """Tests print nothing."""

    return Handler


def answers(status: int, data: bytes) -> Callable[[BaseHTTPRequestHandler], None]:
    """A fault: this in place of an answer."""

    def fault(handler: BaseHTTPRequestHandler) -> None:
        handler.raw(status, data)  # type: ignore[attr-defined]

    return fault


@contextlib.contextmanager
def mobileworld() -> Iterator[MobileWorldServer]:
    """A server for as long as it is used."""
    server = MobileWorldServer()
    server.start()
    try:
        yield server
    finally:
        server.kill()
