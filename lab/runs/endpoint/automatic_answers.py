"""Automatic answers at the endpoint: a script or a model as the user, a model as the judge."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

from lab.core.errors import LabError
from lab.core.run.step import Reply
from lab.core.seams import User, WaitCancelled
from lab.core.task.task import Actor
from lab.core.text.typed_text import clean
from lab.core.values.ids_and_clock import now
from lab.llm.client import Llm, Message
from lab.runs.endpoint.conversation_run import SERVER, Turn, close_conversation, give_reply, system_of
from simulators.users.endpoint.known_tasks import KnownTask
from store.store import Store

_MOST_AT_ONCE = 20
"""Maximum number of questions to answer at the same time."""

UserOf = Callable[[KnownTask], User]
"""Callback that returns the user for conversations about a task."""


class AutomaticAnswers:
    """Answer questions on background threads. If a question cannot be answered, its conversation ends.

    `users` answers questions to users, `judge` those to judges. What is None here is left to people. `failed` is called
    on any thread with the reason of a failure.
    """

    def __init__(
        self,
        store: Store,
        users: UserOf | None,
        judge: Llm | None,
        failed: Callable[[LabError], None] = lambda error: None,
    ) -> None:
        self._store, self._users, self._judge, self._failed = store, users, judge, failed
        self._stop = threading.Event()
        self._threads = ThreadPoolExecutor(_MOST_AT_ONCE, "answers")

    def submit(self, turn: Turn, about: KnownTask) -> None:
        """Answer a question in the background."""
        if (self._judge if turn.facts.kind == "judge" else self._users) is not None:
            with suppress(RuntimeError):  # it is closed
                self._threads.submit(self._answer_turn, turn, about)

    def close(self) -> None:
        """Stop answering. A question under way stays in the file."""
        self._stop.set()
        self._threads.shutdown(wait=False, cancel_futures=True)

    def _answer_turn(self, turn: Turn, about: KnownTask) -> None:
        try:
            give_reply(self._store, turn, self._make_reply(turn, about))
        except WaitCancelled:
            return
        except LabError as error:
            # The failure is the stop's doing.
            if self._stop.is_set():
                return
            self._failed(error)
            with suppress(LabError):  # it may have ended meanwhile
                close_conversation(self._store, turn.run, SERVER, failed=clean(error.sentence, lines=False))

    def _make_reply(self, turn: Turn, about: KnownTask) -> Reply:
        if turn.facts.kind == "judge":
            assert self._judge is not None
            return judge_reply(self._store, turn, self._judge, self._stop)
        assert self._users is not None
        history = self._store.runs.trace(turn.run).steps
        reply = self._users(about).reply(turn.question, history, self._stop)
        return _adapt_decision(turn, reply)


def _adapt_decision(turn: Turn, reply: Reply) -> Reply:
    """Return a script's or model's reply in sendable form: without a decision unless the question asks for consent."""
    from msgspec.structs import replace

    if turn.facts.kind != "consent" and reply.decision is not None:
        return replace(reply, decision=None, text=reply.text or reply.decision)
    return reply


def judge_reply(store: Store, turn: Turn, llm: Llm, stop: threading.Event) -> Reply:
    """Ask a model a judge's request, with the same system prompt, words and pictures, and return its reply."""
    shown_at = now()
    trace = store.runs.trace(turn.run)
    prompt = turn.asked.proposed.prompt
    blobs = [store.runs.blob(sha) for sha in prompt.images] if prompt is not None else []
    pictures = [blob for blob in blobs if blob is not None]
    messages = [Message("system", (system,))] if (system := system_of(trace)) else []
    answer = llm.ask([*messages, Message("user", (turn.question.text, *pictures))], stop, words=True)
    actor = Actor("model", f"model:{llm.model}", llm.model)
    return Reply(turn.question.id, answer.text, actor, shown_at=shown_at, sent_at=now(), edits=0, usage=answer.usage)
