"""A person as the user of a run and as its gate, both through a mailbox."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext

from lab.core.run.mailbox import Mailbox
from lab.core.run.step import Action, Decision, Proposed, Question, Reply
from lab.core.run.trace import Step
from lab.core.seams import Screen, WaitCancelled
from lab.core.task.task import Actor


class HumanUser:
    """A person who answers: each question waits in the mailbox for their reply."""

    def __init__(self, actor: Actor, mailbox: Mailbox[Question, Reply]) -> None:
        self.actor = actor
        self.mailbox = mailbox

    def reply(self, question: Question, history: Sequence[Step], stop: threading.Event) -> Reply:
        return self.mailbox.put_and_wait(question, stop)


class PassGate:
    """Default gate: approves every action at once."""

    actor = Actor("script", "pass")

    def decide(self, proposed: Proposed, screen: Screen, history: Sequence[Step], stop: threading.Event) -> Decision:
        return Decision("approve", proposed.by or self.actor, proposed.action)


Stops = Callable[[Proposed, Screen, Sequence[Step]], AbstractContextManager[bool]]
"""Callable that decides if an action must wait for the person even though others pass.

Its context manager yields the decision, and stays entered until the person has decided on the action.
"""


class HumanGate:
    """A person who approves actions. If `asking` is False, all pass except those that `stops` selects.

    `taken_over` returns True while the person acts in the agent's place. Their own actions pass without a second
    question, in their name. The agent's proposals meanwhile are rejected in their name, with a note.
    """

    def __init__(
        self,
        actor: Actor,
        mailbox: Mailbox[Proposed, Decision],
        taken_over: Callable[[], bool],
        *,
        asking: bool = False,
        stops: Stops = lambda proposed, screen, history: nullcontext(False),
    ) -> None:
        self.actor = actor
        self.mailbox = mailbox
        self.asking = asking
        self.screen: Screen | None = None
        """Screen at the newest proposed action, or None before the first."""
        self._taken_over = taken_over
        self._stops = stops

    def decide(self, proposed: Proposed, screen: Screen, history: Sequence[Step], stop: threading.Event) -> Decision:
        self.screen = screen
        if proposed.by is not None:
            return Decision("approve", proposed.by, proposed.action)
        if self._taken_over():
            return Decision("reject", self.actor, None, "took over")
        with self._stops(proposed, screen, history) as stopped:
            if not (self.asking or stopped):
                return Decision("approve", PassGate.actor, proposed.action)
            return self._ask(proposed, stop)

    def _ask(self, proposed: Proposed, stop: threading.Event) -> Decision:
        began = time.monotonic()
        try:
            decision = self.mailbox.put_and_wait(proposed, stop)
        except WaitCancelled:
            if stop.is_set():
                raise
            # The person stopped gating, or took over, while the action waited.
            if self._taken_over():
                decision = Decision("reject", self.actor, None, "took over")
            else:
                decision = Decision("approve", self.actor, proposed.action, "no longer gated")
        return self._with_duration(decision, began)

    def approve(self, proposed: Proposed, note: str = "") -> bool:
        """Approve the waiting action as it is. Return False if it no longer waits."""
        return self.mailbox.answer(proposed, Decision("approve", self.actor, proposed.action, note))

    def amend(self, proposed: Proposed, action: Action, note: str = "") -> bool:
        """Approve a different action in its place."""
        return self.mailbox.answer(proposed, Decision("amend", self.actor, action, note))

    def reject(self, proposed: Proposed, note: str = "") -> bool:
        """Reject the action. The agent sees the rejection and proposes again."""
        return self.mailbox.answer(proposed, Decision("reject", self.actor, None, note))

    def _with_duration(self, decision: Decision, began: float) -> Decision:
        return Decision(decision.verdict, decision.by, decision.action, decision.note, time.monotonic() - began)
