"""Where an environment asks for its user's reply: an OpenAI-compatible server that says what the run's user said.

MobileWorld's server has its user simulated by a model at `USER_AGENT_BASE_URL`, and KnowU-Bench's scorers read what
that said. With this address there, they read what the run's own person, script or model replied. KnowU-Bench's judge
asks at the same address; a model answers it, where one is named.
"""

from __future__ import annotations

import contextlib
import os
import re
import threading
import uuid
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from lab.core import limits
from lab.core.codec import encode
from lab.core.errors import LabError
from lab.core.seams import WaitCancelled
from lab.core.settings import load
from lab.llm.client import Llm, Message, terms
from simulators.users.endpoint.access import TOKEN, Access, access_for, is_loopback
from simulators.users.endpoint.chat_reply import Answer, error_value, reply_body
from simulators.users.endpoint.chat_request import ChatRequest, read_chat
from simulators.users.endpoint.request_kinds import judge_rules

SETTING = "HITLAB_ENVIRONMENT_REPLIES"
JUDGE = "HITLAB_ENVIRONMENT_JUDGE"
_PLACE = re.compile(r"([A-Za-z0-9.-]{1,253}):(\d{1,5})")
_SILENT = 30.0
"""Seconds that a client may take for a part of its request."""
_NOBODY = "No question of a run's waits for this reply."


class OfferedReply:
    """One reply that an environment may ask for, and whether it did."""

    def __init__(self, question: str, answer: Answer) -> None:
        self.question, self.answer = question, answer
        self.asked = False


class ReplyEndpoint:
    """Serves from when it is made, on threads of its own, as long as the program runs.

    One reply at a time is to be had: with several environments asking the same words, each gets its own run's.
    """

    def __init__(self, host: str, port: int, judge: Llm | None) -> None:
        """`LabError` where the port is taken, or others than this machine reach it and no token is set."""
        token = os.environ.get(TOKEN, "")
        if not token and not is_loopback(host):
            hint = f"Set {TOKEN} here, and USER_AGENT_API_KEY to the same in the environment."
            raise LabError(SETTING, f"{host} is reached by other machines, and no token is set.", hint)
        self.access: Access = access_for(host, token)
        self.judge = judge
        self.unjudged = 0
        """How many requests of a judge had no answer."""
        self._rules = judge_rules()
        self._offered: OfferedReply | None = None
        self._one = threading.Lock()
        try:
            self._server = _Server((host, port), _handler(self))
        except OSError as error:
            raise LabError(SETTING, f"{host}:{port} cannot be had ({error.strerror}).") from error
        threading.Thread(target=self._server.serve_forever, name="replies", daemon=True).start()

    @property
    def base(self) -> str:
        """What `USER_AGENT_BASE_URL` is set to, where this machine's own name for itself reaches it."""
        host, port = self._server.server_address[:2]
        return f"http://{host if isinstance(host, str) else host.decode()}:{port}/v1"

    @contextlib.contextmanager
    def offering(self, question: str, answer: Answer) -> Iterator[OfferedReply]:
        """Within it, whoever asks this question gets this answer."""
        with self._one:
            self._offered = offer = OfferedReply(question, answer)
            try:
                yield offer
            finally:
                self._offered = None

    def answer(self, request: ChatRequest) -> Answer | None:
        """What is answered; None where nothing is."""
        if self._rules.holds(request.system):
            return self._judged(request)
        offer = self._offered
        if offer is None or not request.messages or request.messages[-1].text.strip() != offer.question.strip():
            return None
        offer.asked = True
        return offer.answer

    def _judged(self, request: ChatRequest) -> Answer | None:
        if self.judge is None:
            self.unjudged += 1
            return None
        messages = [Message(message.role, (message.text, *message.pictures)) for message in request.messages]  # type: ignore[arg-type]
        try:
            return Answer(self.judge.ask(messages, threading.Event(), words=True).text)
        except (LabError, WaitCancelled):
            self.unjudged += 1
            return None


_endpoints: dict[str, ReplyEndpoint] = {}
_opening = threading.Lock()


def reply_endpoint() -> ReplyEndpoint | None:
    """The endpoint that the settings ask for, one for the whole program; None where they ask for none."""
    settings = load()
    place = settings.environment_replies
    if not place:
        return None
    match = _PLACE.fullmatch(place)
    if match is None or int(match[2]) >= 1 << 16:
        raise LabError(SETTING, f"{place[:80]!r} is no HOST:PORT of this machine.", "It is as 127.0.0.1:6900.", code=2)
    with _opening:
        if place not in _endpoints:
            name = settings.environment_judge
            judge = Llm(name, terms(settings)) if name else None
            if judge is not None:
                judge.check()
            _endpoints[place] = ReplyEndpoint(match[1], int(match[2]), judge)
        return _endpoints[place]


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    allow_reuse_address = True

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that breaks off prints nothing into the terminal."""


def _handler(endpoint: ReplyEndpoint) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        """One request: `POST .../chat/completions`."""

        timeout = _SILENT

        def do_POST(self) -> None:
            headers = {name.lower(): value for name, value in self.headers.items()}
            refusal = endpoint.access.refusal(headers)
            if refusal is not None:
                return self._send(refusal.status, encode(error_value(refusal.message, refusal.kind)))
            length = headers.get("content-length", "")
            if not self.path.endswith("/chat/completions") or not length.isdigit():
                return self._send(404, encode(error_value("There is no such path here.", "invalid_request_error")))
            if int(length) > limits.ENDPOINT_BYTES:
                return self._send(413, encode(error_value("The request is too long.", "invalid_request_error")))
            try:
                request = read_chat(self.rfile.read(int(length)))
            except LabError as error:
                return self._send(400, encode(error_value(error.sentence[:2000], "invalid_request_error")))
            answer = endpoint.answer(request)
            if answer is None:
                return self._send(503, encode(error_value(_NOBODY, "server_error")))
            self._send(200, reply_body("chat", uuid.uuid4().hex, request.model or "human", answer))

        def _send(self, status: int, body: bytes) -> None:
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            if status != 200:
                self.send_header("x-should-retry", "false")
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: Any) -> None:
            """What is asked and answered stands in no log."""

    return Handler
