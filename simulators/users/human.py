"""A person as the user of a run and as its gate, both over a mailbox."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext

from lab.core.mailbox import Mailbox
from lab.core.seams import Screen, WaitCancelled
from lab.core.step import Action, Decision, Proposed, Question, Reply
from lab.core.task import Actor
from lab.core.trace import Step


class HumanUser:
    """The person who answers: each question waits in the mailbox until they do."""

    def __init__(self, actor: Actor, mailbox: Mailbox[Question, Reply]) -> None:
        self.actor = actor
        self.mailbox = mailbox

    def reply(self, question: Question, history: Sequence[Step], stop: threading.Event) -> Reply:
        return self.mailbox.put_and_wait(question, stop)


class PassGate:
    """The default gate: everything passes, at once."""

    actor = Actor("script", "pass")

    def decide(self, proposed: Proposed, screen: Screen, history: Sequence[Step], stop: threading.Event) -> Decision:
        return Decision("approve", proposed.by or self.actor, proposed.action)


Stops = Callable[[Proposed, Screen, Sequence[Step]], AbstractContextManager[bool]]
"""Whether this action must wait for the person though all others pass; entered until they have decided."""


class HumanGate:
    """The person who lets actions through. While `asking` is false all pass but those that `stops` names; `taken_over`
    says that they act themselves.

    What a person does in the agent's place passes without a second question, in their name. What the agent
    proposed while they took over is rejected in their name, with a note.
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
        """What the phone showed when the newest action was proposed; None before the first."""
        self._taken = taken_over
        self._stops = stops

    def decide(self, proposed: Proposed, screen: Screen, history: Sequence[Step], stop: threading.Event) -> Decision:
        self.screen = screen
        if proposed.by is not None:
            return Decision("approve", proposed.by, proposed.action)
        if self._taken():
            return Decision("reject", self.actor, None, "took over")
        with self._stops(proposed, screen, history) as stopped:
            if not (self.asking or stopped):
                return Decision("approve", PassGate.actor, proposed.action)
            return self._asked(proposed, stop)

    def _asked(self, proposed: Proposed, stop: threading.Event) -> Decision:
        began = time.monotonic()
        try:
            decision = self.mailbox.put_and_wait(proposed, stop)
        except WaitCancelled:
            if stop.is_set():
                raise
            return self._unasked(proposed, began)
        return self._timed(decision, began)

    def approve(self, proposed: Proposed, note: str = "") -> bool:
        """Lets the waiting action through as it is; False where it no longer waits."""
        return self.mailbox.answer(proposed, Decision("approve", self.actor, proposed.action, note))

    def amend(self, proposed: Proposed, action: Action, note: str = "") -> bool:
        """Lets another action through in its place."""
        return self.mailbox.answer(proposed, Decision("amend", self.actor, action, note))

    def reject(self, proposed: Proposed, note: str = "") -> bool:
        """Lets nothing through; the agent sees that its proposal was rejected and proposes again."""
        return self.mailbox.answer(proposed, Decision("reject", self.actor, None, note))

    def _unasked(self, proposed: Proposed, began: float) -> Decision:
        """The person stopped gating, or took over, while an action waited."""
        if self._taken():
            return self._timed(Decision("reject", self.actor, None, "took over"), began)
        return self._timed(Decision("approve", self.actor, proposed.action, "no longer gated"), began)

    def _timed(self, decision: Decision, began: float) -> Decision:
        return Decision(decision.verdict, decision.by, decision.action, decision.note, time.monotonic() - began)
