"""Starts an endpoint for the open app, and describes an endpoint's address for the screen."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import ExitStack
from typing import TYPE_CHECKING

from lab.core.run.screen_clock import duration_words
from lab.core.task.task import Actor

if TYPE_CHECKING:
    from lab.serve.answer_service import AnswerPlan
    from lab.serve.endpoint import EndpointServer
    from simulators.users.endpoint.place import EndpointPlace
    from store.store import Store

HOST, PORT = "127.0.0.1", 8790


def place_of(server: EndpointServer, plan: AnswerPlan) -> EndpointPlace:
    """Return an endpoint's address with its notes, for the screen."""
    from lab.serve.endpoint import reached_words
    from simulators.users.endpoint.place import EndpointPlace

    notes = tuple(reached_words(server.access, server.host))
    return EndpointPlace(server.base, notes, duration_words(plan.close_after) if plan.close_after else "")


def starter(store: Store, endpoints: ExitStack) -> Callable[[str], EndpointPlace]:
    """Return a function that starts an endpoint on this machine's usual port. Leaving `endpoints` ends it."""

    def start(person: str) -> EndpointPlace:
        from lab.serve.answer_service import AnswerPlan, serving
        from simulators.users.endpoint.access import TOKEN, access_for
        from simulators.users.endpoint.request_kinds import judge_rules

        access = access_for(HOST, os.environ.get(TOKEN, ""))
        plan = AnswerPlan(HOST, PORT, access, judge_rules(), [Actor("human", person)])
        return place_of(endpoints.enter_context(serving(store, plan, lambda error: None)), plan)

    return start
