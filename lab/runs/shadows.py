"""Shadow simulators: models that silently answer a run's questions on background threads.

A question is built from the run's committed events as its user saw it, so it can also be asked later. The answers are
rows of their own (`store.runs.shadows`), which nobody at the run, no agent and no rater sees. The run continues with
its user's answer alone and never waits.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from typing import NamedTuple

from msgspec.structs import replace

from lab.core.errors import LabError
from lab.core.redaction.secret_keys import without_keys
from lab.core.run.shadow_answer import MissingShadow, ShadowAnswer, ShadowsPlayed
from lab.core.run.step import Observation, Question
from lab.core.run.trace import Asked, Started, Step
from lab.core.seams import WaitCancelled
from lab.core.settings import Settings, load
from lab.core.study.protocol import Show
from lab.core.task.task import Actor
from lab.core.text.plain_text import plain
from lab.core.text.typed_text import clean
from lab.core.values.ids_and_clock import now, uuid7
from lab.llm.client import NoModelAnswer
from simulators.users.model import SEEING_SHOWS, USER_SHOWS, ModelUser, UnusedReplies, model_user
from store.store import Store

FORM = "model:NAME"
"""The form of a shadow's name."""
_LONGEST_WHY = 400
"""Longest stored reason, in characters."""


class ShadowQuestion(NamedTuple):
    """A question of a run, at `step` (from 0), with all that its user was shown."""

    started: Started
    question: Question
    step: int
    history: tuple[Step, ...]
    screen: Observation

    @property
    def shows(self) -> tuple[Show, ...]:
        """The parts shown to its user: with the words on the screen if a person saw the phone."""
        user = self.started.user
        sees = user is not None and user.kind == "human" and self.started.conditions.mirror
        return SEEING_SHOWS if sees else USER_SHOWS


def check_shadows(names: Sequence[str], settings: Settings | None = None) -> tuple[str, ...]:
    """Return the distinct names of shadows. Raise `LabError` for one that names no model.

    With `settings`, also raise it if a model's key is missing.
    """
    for name in names:
        kind, _, model = name.partition(":")
        if kind != "model" or not model:
            problem = f"{plain(name, lines=False)!r} is not of the form {FORM}."
            raise LabError("--shadow", problem, "As in model:openai/gpt-5.", code=2)
        if settings is not None:
            from lab.llm.client import Llm, terms

            Llm(model, terms(settings)).check()
    return tuple(dict.fromkeys(names))


class Shadows:
    """The shadow models of one live run. Only `wait` blocks, and no error reaches the run."""

    def __init__(self, store: Store, run: str, names: Sequence[str]) -> None:
        self._store, self._run, self._names = store, run, tuple(names)
        self._threads: list[threading.Thread] = []
        self.stop = threading.Event()
        """Set if nobody waits for an answer any more."""

    def ask(self, index: int) -> None:
        """Ask each model the question of step `index` in the background. Its event must be committed."""
        for name in self._names:
            thread = threading.Thread(target=self._ask_one, args=(name, index), name=f"shadow {name}", daemon=True)
            with suppress(RuntimeError):  # no thread to be had: it is missing, and can be asked later
                thread.start()
                self._threads.append(thread)

    def wait(self, seconds: float | None = None) -> bool:
        """Wait until all answers are stored, or for `seconds`. Return True if they are."""
        until = None if seconds is None else time.monotonic() + seconds
        for thread in self._threads:
            thread.join(None if until is None else max(0.0, until - time.monotonic()))
        return not any(thread.is_alive() for thread in self._threads)

    def _ask_one(self, name: str, index: int) -> None:
        with suppress(LabError, WaitCancelled):  # the file was closed, or the run was erased meanwhile
            question = next(iter(shadow_questions(self._store, self._run, index)), None)
            if question is not None:
                answer_shadow(self._store, self._run, name, question, self.stop)


def shadow_questions(store: Store, run: str, index: int | None = None) -> list[ShadowQuestion]:
    """Return the questions of a run (or of one step) as its user saw them, from its committed events."""
    questions: list[ShadowQuestion] = []
    started: Started | None = None
    steps: list[Step] = []
    for event in store.runs.events(run):
        if isinstance(event, Started):
            started = event
        elif isinstance(event, Step):
            steps.append(event)
        elif isinstance(event, Asked) and started is not None and index in (None, event.index):
            questions.append(ShadowQuestion(started, event.question, event.index, tuple(steps), event.before))
            if index is not None:
                break
    return questions


def answer_shadow(store: Store, run: str, name: str, question: ShadowQuestion, stop: threading.Event) -> ShadowAnswer:
    """Ask a model a question of a run, unless it has answered, and store the answer or the reason for none.

    The first row records the request, and the result supersedes it. Raise `WaitCancelled` if `stop` is set, and
    `LabError` if the file refuses a row.
    """
    earlier = [one for one in store.shadows.current(run) if (one.index, one.by.id) == (question.step, name)]
    # Two different answers are not asked a third time: a merge brought them together.
    if earlier and earlier[0].missing in (None, "clash"):
        return earlier[0]
    actor = Actor("model", name, name.partition(":")[2])
    row = ShadowAnswer(
        uuid7(), run, question.question.id, question.step, actor, now(), missing="unfinished", shown_at=now(),
        supersedes=earlier[0].id if earlier else None,
    )  # fmt: skip
    try:
        started = question.started
        user = model_user(actor.name, load(), started.task, started.persona, question.shows)
    except LabError as error:
        return store.shadows.record(_without_answer(row, "no_answer", error))
    row = store.shadows.record(replace(row, config_sha=user.config_sha))
    return store.shadows.record(_ask_model(row, user, question, stop))


def _ask_model(row: ShadowAnswer, user: ModelUser, question: ShadowQuestion, stop: threading.Event) -> ShadowAnswer:
    """Return the result that supersedes the row of a request."""
    row = replace(row, id=uuid7(), supersedes=row.id)
    try:
        user.see_screen(question.screen)
        reply = user.reply(question.question, question.history, stop)
    except UnusedReplies as error:
        return _without_answer(replace(row, usage=error.usage), "unusable", error)
    except NoModelAnswer as error:
        return _without_answer(replace(row, usage=error.usage if error.usage.cost else None), "no_answer", error)
    except LabError as error:
        return _without_answer(row, "no_answer", error)
    return replace(
        row, at=now(), text=reply.text, decision=reply.decision, missing=None,
        shown_at=reply.shown_at, sent_at=reply.sent_at, usage=reply.usage,
    )  # fmt: skip


def _without_answer(row: ShadowAnswer, missing: MissingShadow, error: LabError) -> ShadowAnswer:
    why = clean(without_keys(error.sentence), lines=False)[:_LONGEST_WHY]
    return replace(row, at=now(), missing=missing, why=why)


def ask_missing(
    store: Store,
    runs: Iterable[str],
    names: Sequence[str],
    stop: threading.Event,
    may_ask: Callable[[float | None], bool] = lambda cost: True,
) -> ShadowsPlayed:
    """Ask shadows the unanswered questions of these runs, as long as `may_ask` returns True for the cost so far.

    The cost is None if that of an answer is unknown. Ctrl+C sets `stop`. Then nothing more is asked, and the rest is
    only counted.
    """
    question_count = answer_count = new = 0
    cost, unpriced = 0.0, False
    for run in runs:
        current = {(one.index, one.by.id): one for one in store.shadows.current(run)}
        for question in shadow_questions(store, run):
            for name in names:
                question_count += 1
                answer = current.get((question.step, name))
                if (
                    (answer is None or answer.missing is not None)
                    and not stop.is_set()
                    and may_ask(None if unpriced else cost)
                ):
                    try:
                        answer = answer_shadow(store, run, name, question, stop)
                    except KeyboardInterrupt:
                        stop.set()
                        continue
                    cost += (answer.usage.cost or 0.0) if answer.usage is not None else 0.0
                    unpriced = unpriced or (answer.usage is not None and answer.usage.cost is None)
                    new += answer.missing is None
                answer_count += answer is not None and answer.missing is None
    return ShadowsPlayed(question_count, answer_count, new, cost)
