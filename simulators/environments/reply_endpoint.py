"""OpenAI-compatible server that gives an environment the replies of the run's own user.

MobileWorld's server simulates its user with a model at `USER_AGENT_BASE_URL`, and KnowU-Bench's scorers read that
model's replies. With this address there, they read the replies of the run's person, script or model instead.
KnowU-Bench's judge sends its requests to the same address. A model answers them, if one is configured.
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

from lab.core.codec import encode
from lab.core.errors import LabError
from lab.core.run import input_limits
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
    """Reply available to an environment's request. `asked` is True once it was requested."""

    def __init__(self, question: str, answer: Answer) -> None:
        self.question, self.answer = question, answer
        self.asked = False


class ReplyEndpoint:
    """Server that starts on construction and runs on threads of its own until the program ends.

    It offers one reply at a time: if several environments ask the same words, each gets its own run's reply.
    """

    def __init__(self, host: str, port: int, judge: Llm | None) -> None:
        """Start the server.

        Raise `LabError` if the port is taken, or other machines can reach it and no token is set.
        """
        token = os.environ.get(TOKEN, "")
        if not token and not is_loopback(host):
            hint = f"Set {TOKEN} here, and USER_AGENT_API_KEY to the same in the environment."
            raise LabError(SETTING, f"{host} is reached by other machines, and no token is set.", hint)
        self.access: Access = access_for(host, token)
        self.judge = judge
        self.unjudged = 0
        """Number of a judge's requests that got no answer."""
        self._rules = judge_rules()
        self._offered: OfferedReply | None = None
        self._offer_lock = threading.Lock()
        try:
            self._server = _ReplyServer((host, port), _handler(self))
        except OSError as error:
            raise LabError(SETTING, f"{host}:{port} cannot be had ({error.strerror}).") from error
        threading.Thread(target=self._server.serve_forever, name="replies", daemon=True).start()

    @property
    def base(self) -> str:
        """Value for `USER_AGENT_BASE_URL` on this machine."""
        host, port = self._server.server_address[:2]
        return f"http://{host if isinstance(host, str) else host.decode()}:{port}/v1"

    @contextlib.contextmanager
    def offering(self, question: str, answer: Answer) -> Iterator[OfferedReply]:
        """Offer this answer to whoever asks this question, for the duration of the context."""
        with self._offer_lock:
            self._offered = offer = OfferedReply(question, answer)
            try:
                yield offer
            finally:
                self._offered = None

    def answer(self, request: ChatRequest) -> Answer | None:
        """Return the answer to a request, or None."""
        if self._rules.match(request.system):
            return self._ask_judge(request)
        offer = self._offered
        if offer is None or not request.messages or request.messages[-1].text.strip() != offer.question.strip():
            return None
        offer.asked = True
        return offer.answer

    def _ask_judge(self, request: ChatRequest) -> Answer | None:
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
# Runs on several threads must not open the same port twice.
_open_lock = threading.Lock()


def reply_endpoint() -> ReplyEndpoint | None:
    """Return the program's one endpoint at the configured address, or None if none is configured."""
    settings = load()
    place = settings.environment_replies
    if not place:
        return None
    match = _PLACE.fullmatch(place)
    if match is None or int(match[2]) >= 1 << 16:
        raise LabError(SETTING, f"{place[:80]!r} is no HOST:PORT of this machine.", "It is as 127.0.0.1:6900.", code=2)
    with _open_lock:
        if place not in _endpoints:
            name = settings.environment_judge
            judge = Llm(name, terms(settings)) if name else None
            if judge is not None:
                judge.check()
            _endpoints[place] = ReplyEndpoint(match[1], int(match[2]), judge)
        return _endpoints[place]


class _ReplyServer(ThreadingHTTPServer):
    daemon_threads = True
    allow_reuse_address = True

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Print nothing if a client breaks off: a traceback would end up in the terminal."""


def _handler(endpoint: ReplyEndpoint) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        """Handler of one request: `POST .../chat/completions`."""

        timeout = _SILENT

        def do_POST(self) -> None:
            headers = {name.lower(): value for name, value in self.headers.items()}
            refusal = endpoint.access.refusal(headers)
            if refusal is not None:
                return self._send(refusal.status, encode(error_value(refusal.message, refusal.kind)))
            length = headers.get("content-length", "")
            if not self.path.endswith("/chat/completions") or not length.isdigit():
                return self._send(404, encode(error_value("There is no such path here.", "invalid_request_error")))
            if int(length) > input_limits.ENDPOINT_BYTES:
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
            """Log nothing: requests and answers are private."""

    return Handler
