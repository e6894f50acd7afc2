"""The whole endpoint: intake of requests, automatic answers, and the server."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import NamedTuple

from lab.core.errors import LabError
from lab.core.task.task import Actor
from lab.llm.client import Llm
from lab.runs.endpoint.automatic_answers import AutomaticAnswers, UserOf
from lab.runs.endpoint.conversation_intake import Intake
from lab.runs.endpoint.running_servers import RunningServer
from lab.serve.endpoint import Endpoint, EndpointServer
from simulators.users.endpoint.access import Access
from simulators.users.endpoint.known_tasks import KnownTask
from simulators.users.endpoint.request_kinds import JudgeRules
from store.store import Store


class AnswerPlan(NamedTuple):
    """Configuration of an endpoint. Conversations are dealt to `people`.

    `users` and `judge` answer users' and judges' requests automatically. People do if they are None.
    """

    host: str
    port: int
    access: Access
    rules: JudgeRules
    people: Sequence[Actor]
    known: Sequence[KnownTask] = ()
    users: UserOf | None = None
    judge: Llm | None = None
    keep_alive: float = 15.0
    close_after: float = 0.0
    """Seconds of silence after which a conversation ends. 0 never ends one."""


@contextmanager
def serving(store: Store, plan: AnswerPlan, on_failure: Callable[[LabError], None]) -> Iterator[EndpointServer]:
    """Serve an endpoint within the context. Questions pending in the file are answered, too.

    `on_failure` gets the reason, on any thread, if a script or a model cannot answer.
    """
    intake = Intake(store, plan.people, plan.rules, plan.known, close_after=plan.close_after)
    answers = AutomaticAnswers(store, plan.users, plan.judge, on_failure)
    endpoint = Endpoint(intake.receive, plan.access, keep_alive=plan.keep_alive)
    server = EndpointServer(endpoint, plan.access, plan.host, plan.port)
    server.start()
    try:
        intake.note = RunningServer(store.path, "endpoint", server.base)
        intake.on_asked = answers.submit
        for turn, about in intake.waiting_turns():
            answers.submit(turn, about)
        intake.watch()
        yield server
    finally:
        endpoint.close()
        server.stop()
        answers.close()
        intake.close()
