"""An endpoint on a free port, and the requests that benchmarks' clients send to it."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from ssl import SSLContext
from typing import Any

from lab.core.run.step import Reply, ToolCall
from lab.core.task.task import Actor
from lab.core.values.ids_and_clock import now
from lab.runs.endpoint.conversation_intake import Intake, LastTurn
from lab.runs.endpoint.conversation_run import Turn, give_reply
from lab.runs.endpoint.running_servers import RunningServer
from lab.serve.endpoint import Endpoint, EndpointServer
from simulators.users.endpoint.access import Access
from simulators.users.endpoint.chat_request import ChatMessage, ChatRequest
from simulators.users.endpoint.known_tasks import KnownTask
from simulators.users.endpoint.request_kinds import judge_rules
from store.store import Store

P1 = Actor("human", "P01")
CONSENT = "You are Ann. Answer with <think>why</think> and <decision>accept/reject</decision>, nothing else."
JUDGE = "You are a strict judge of preferences."


def until(condition: Callable[[], Any], seconds: float = 180.0) -> None:
    """Waits for what is committed or sent."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end
        threading.Event().wait(0.01)


def client(base: str, **more: Any) -> Any:
    """openai's own client; the certificates, which 127.0.0.1 needs none of, are read once for all."""
    import openai

    shared = openai.DefaultHttpxClient(verify=_certificates())
    return openai.OpenAI(**{"base_url": base, "api_key": "none", "http_client": shared, **more})


@cache
def _certificates() -> SSLContext:
    import httpx

    return httpx.create_ssl_context()


def messages(*texts: str, system: str = "You are Ann. The task goal is: order lunch.") -> list[dict[str, Any]]:
    """A system prompt, then what agent and user said in turn, the agent first."""
    roles = ("user", "assistant")
    said = [{"role": roles[at % 2], "content": text} for at, text in enumerate(texts)]
    return [{"role": "system", "content": system}, *said]


def request(*texts: str, system: str = "You are Ann.", session: str = "", retry: int = 0, **more: Any) -> ChatRequest:
    """The same as a request that is understood."""
    told = [ChatMessage(one["role"], one["content"]) for one in messages(*texts, system=system)]
    return ChatRequest(tuple(told), session=session, retry=retry, **more)


class Served:
    """An endpoint that is served; `taken` are the requests that came."""

    def __init__(
        self, store: Store, people: Sequence[Actor], known: Sequence[KnownTask], keep_alive: float, token: str
    ) -> None:
        self.store, self.turns = store, list[Turn]()
        self.taken: list[ChatRequest] = []
        self.intake = Intake(store, people, judge_rules(), known)
        self.intake.on_asked = lambda turn, about: self.turns.append(turn)
        access = Access(token)
        self.app = Endpoint(self._receive, access, keep_alive=keep_alive)
        self.server = EndpointServer(self.app, access, "127.0.0.1", 0)

    def _receive(self, asked: ChatRequest) -> LastTurn:
        self.taken.append(asked)
        return self.intake.receive(asked)

    @property
    def base(self) -> str:
        return self.server.base

    def session(self, name: str) -> str:
        """The base URL of a session."""
        return self.base.replace("/v1", f"/s/{name}/v1")

    def question(self, number: int = 0) -> Turn:
        """The question that came as this one, once it is committed."""
        until(lambda: len(self.turns) > number)
        return self.turns[number]

    def answer(self, text: str = "Noodles.", number: int = 0, **more: Any) -> None:
        """Answers the question that came as this one, as a person in another process would."""
        give_reply(self.store, turn := self.question(number), reply_to(turn, text, **more))


def reply_to(turn: Turn, text: str = "", **more: Any) -> Reply:
    return Reply(turn.question.id, text, P1, sent_at=now(), **more)


def call(name: str, arguments: str = "{}") -> ToolCall:
    return ToolCall(name, arguments, "call_1")


@contextmanager
def serving(
    store: Store,
    *,
    people: Sequence[Actor] = (P1,),
    known: Sequence[KnownTask] = (),
    keep_alive: float = 15.0,
    token: str = "",
) -> Iterator[Served]:
    """An endpoint for the length of a test."""
    served = Served(store, people, known, keep_alive, token)
    served.server.start()
    served.intake.note = RunningServer(store.path, "endpoint", served.base)
    served.intake.watch()
    try:
        yield served
    finally:
        served.app.close()
        served.server.stop()
        served.intake.close()


class Call:
    """A client's call on a thread of its own: `result` waits for what came of it, and raises what it raised."""

    def __init__(self, work: Callable[[], Any]) -> None:
        self._work, self._value, self._error = work, None, None
        self.thread = threading.Thread(target=self._run, daemon=True)
        self.thread.start()

    def _run(self) -> None:
        try:
            self._value = self._work()
        except BaseException as error:  # noqa: BLE001 - raised where it is waited for
            self._error = error  # type: ignore[assignment]

    @property
    def result(self) -> Any:
        self.thread.join(180)
        assert not self.thread.is_alive()
        if self._error is not None:
            raise self._error
        return self._value
