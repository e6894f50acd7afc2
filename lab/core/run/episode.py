"""The run loop: observe, let the agent propose and the gate decide, then ask the user or act on the phone."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple, Protocol

from lab.core.errors import LabError
from lab.core.redaction.password_redaction import without_passwords
from lab.core.redaction.secret_keys import without_keys
from lab.core.run.run_control import RunControl
from lab.core.run.step import ENDING, Action, Decision, Observation, Proposed, Question, Reply
from lab.core.run.trace import Acting, Answered, AnyEvent, Asked, Ended, Step
from lab.core.seams import (
    Agent,
    Device,
    Gate,
    ReportsGivingUp,
    ReportsTypingMethod,
    Screen,
    SeesScreen,
    SupportsScoring,
    TaskBrief,
    User,
    WaitCancelled,
)
from lab.core.text.typed_text import clean
from lab.core.values.ids_and_clock import now


class BlobKeeper(Protocol):
    """Store the bytes that events refer to, and return their sha256. They become durable with the next event."""

    def screen(self, screen: Screen) -> Observation: ...

    def state(self, state: dict[str, Any] | None) -> str | None: ...


class Scorer(Protocol):
    """Score a run's end: compare the phone's state and the steps with what the task asks for."""

    def __call__(self, state: dict[str, Any] | None, steps: Sequence[Step]) -> EpisodeScore: ...


class EpisodeScore(NamedTuple):
    """A score from 0 to 1 (None if nothing can be checked), each rule's outcome by name, and the reason.

    `by` is the environment that gave the score, empty if the task's rules gave it.
    """

    score: float | None = None
    checks: tuple[tuple[str, bool], ...] = ()
    reason: str = ""
    by: str = ""


class Parties(NamedTuple):
    """The parties of a run. `person` acts in the agent's place during a take-over."""

    agent: Agent
    user: User
    gate: Gate
    device: Device
    person: Agent | None = None


class ForkOverrides(NamedTuple):
    """Changes of a fork in its first turn: the proposal with the gate's decision, the reply, or both."""

    proposed: Proposed | None = None
    decision: Decision | None = None
    reply: Reply | None = None


NOTHING = ForkOverrides()


class PendingTurn(NamedTuple):
    """The turn that an interrupted run or a fork had begun. Its question is asked again unless a reply is stored."""

    asked: Asked | None = None
    answered: Answered | None = None
    overrides: ForkOverrides = NOTHING


def run(
    brief: TaskBrief,
    parties: Parties,
    control: RunControl,
    keep: BlobKeeper,
    scorer: Scorer,
    history: Sequence[Step] = (),
    unfinished: PendingTurn | None = None,
    step_limit: int = 0,
    crashed: Callable[[Exception], None] = lambda error: None,
) -> Iterator[AnyEvent]:
    """Yield the events of one run, from its first turn (or from the end of `history`) to Ended.

    The caller must store each event before it asks for the next one, so that Acting is on disk before the phone is
    touched. `step_limit` ends the run before its task's budget (0: no limit). A failure of an agent, a phone or a
    person ends the run with `Ended("failed")` and does not raise. `crashed` receives every exception that is not a
    `LabError`.
    """
    loop = _Loop(brief, parties, control, keep, list(history), step_limit)
    try:
        if unfinished is not None and unfinished.asked is not None:
            yield from loop.finish(unfinished.asked, unfinished)
        elif unfinished is not None and unfinished.overrides.proposed is not None:
            yield from loop.turn(unfinished.overrides)
        while not loop.is_over and len(loop.steps) < loop.most:
            yield from loop.turn()
        yield loop.end("completed" if loop.is_over else "budget", scorer)
    except WaitCancelled:
        yield Ended(status="stopped", reason="ended by a person")
    except LabError as error:
        yield Ended(status="failed", reason=without_keys(error.sentence))
    except Exception as error:  # noqa: BLE001 - an agent is a stranger's code: whatever it raises ends the run
        crashed(error)
        yield Ended(status="failed", reason=f"{type(error).__name__}: {clean(without_keys(str(error)), lines=False)}")


class _Loop:
    def __init__(
        self, brief: TaskBrief, parties: Parties, control: RunControl, keep: BlobKeeper, steps: list[Step], limit: int
    ) -> None:
        self.brief = brief
        self.parties = parties
        self.control = control
        self.keep = keep
        self.steps = steps
        self.most = min(brief.budget, limit) if limit else brief.budget
        """Maximum number of steps. Agents see only the task's budget, not a limit below it."""

    @property
    def is_over(self) -> bool:
        """True after an action that ends a run."""
        last_action = self.steps[-1].action if self.steps else None
        return last_action is not None and last_action.kind in ENDING

    def turn(self, overrides: ForkOverrides = NOTHING) -> Iterator[AnyEvent]:
        """Yield the events of one turn: observe, propose, decide, then ask or act. Overrides replace their part."""
        self.control.begin_turn()
        started = now()
        screen = self.parties.device.observe()
        before = self.keep.screen(screen)
        proposed = overrides.proposed or self._propose(screen)
        looked_at = screen.size
        if proposed.by is not None and self.parties.device.info.kind != "embedded":
            screen = self.parties.device.observe()  # a person took their time, and a phone goes on by itself
            before = self.keep.screen(screen)
        decision = overrides.decision or self.parties.gate.decide(proposed, screen, self.steps, self.control.stop)
        action = decision.action
        # Passwords are removed from what is stored; `action` still has the text that the phone gets.
        proposed, decision = without_passwords(proposed, decision, screen.tree)
        question: Question | None = None
        reply: Reply | None = None
        error: str | None = None
        if action is not None and action.kind == "ask_user":
            asked_event = Asked(
                index=len(self.steps),
                question=self._build_question(action),
                proposed=proposed,
                before=before,
                decision=decision,
            )
            yield asked_event
            question, reply = asked_event.question, overrides.reply or self._ask_user(asked_event)
            yield Answered(index=asked_event.index, reply=reply)
            error = self._report_reply(question, reply)
        elif action is not None and action.kind == "other":
            error = action.text or "this is no action that a phone can do"
        # A proposal aims at the screen that the agent saw; on a rotated one its coordinates are wrong.
        elif action is not None and action.at is not None and screen.size != looked_at:
            error = "the phone was turned meanwhile; nothing was done"
        elif action is not None and action.kind not in ENDING:
            self.control.before_act()
            yield Acting(index=len(self.steps), action=decision.action or action)
            error = self._perform(action)
        yield self._finish_step(before, proposed, decision, question, reply, error, started)

    def finish(self, asked_event: Asked, unfinished: PendingTurn) -> Iterator[AnyEvent]:
        """Yield the rest of a turn that was interrupted at its question."""
        if unfinished.answered is None:
            reply = unfinished.overrides.reply or self._ask_user(asked_event)
            yield Answered(index=asked_event.index, reply=reply)
        else:
            reply = unfinished.answered.reply
        decision = asked_event.decision or Decision(
            verdict="approve", by=self.parties.agent.actor, action=asked_event.proposed.action
        )
        yield self._finish_step(
            asked_event.before, asked_event.proposed, decision, asked_event.question, reply, None, asked_event.at
        )

    def end(self, status: str, scorer: Scorer) -> Ended:
        """Return the last event: the final screen, and the score with its reason."""
        final = self.keep.screen(self.parties.device.observe())
        outcome = scorer(self.parties.device.snapshot(), self.steps)
        reason = outcome.reason
        if status != "completed":
            what = "budget" if self.most == self.brief.budget else "limit"
            reason = f"the {what} of {self.most} steps is used up"
            reason += f"; {outcome.reason}" if outcome.by and outcome.reason else ""
        elif isinstance(self.parties.agent, ReportsGivingUp) and self.parties.agent.gave_up:
            reason = "; ".join(part for part in (self.parties.agent.gave_up.rstrip("."), reason) if part)
        return Ended(
            status="completed" if status == "completed" else "budget",
            score=outcome.score,
            reason=reason,
            checks=outcome.checks,
            final=final,
            scored_by=outcome.by,
        )

    def _propose(self, screen: Screen) -> Proposed:
        person = self.parties.person
        if person is not None and self.control.taken_over:
            try:
                return person.propose(self.brief, screen, self.steps)
            except WaitCancelled:
                if self.control.stop.is_set():
                    raise  # else the person gave the place back: the agent's turn
        return self.parties.agent.propose(self.brief, screen, self.steps)

    def _build_question(self, action: Action) -> Question:
        kind = "propose" if self.brief.kind == "proactive" else "ask"
        return Question(id=f"q{len(self.steps)}", kind=kind, text=action.text or "")  # type: ignore[arg-type]

    def _ask_user(self, asked_event: Asked) -> Reply:
        user = self.parties.user
        if isinstance(user, SeesScreen):
            user.see_screen(asked_event.before)
        return user.reply(asked_event.question, self.steps, self.control.stop)

    def _perform(self, action: Action) -> str | None:
        try:
            self.parties.device.perform(action)
        except LabError as error:
            return error.sentence
        return None

    def _report_reply(self, question: Question, reply: Reply) -> str | None:
        """Report the reply to a phone that scores. Return an error if its score cannot take the reply into account."""
        device = self.parties.device
        if isinstance(device, SupportsScoring):
            try:
                device.receive_reply(question, reply)
            except LabError as error:
                return error.sentence
        return None

    def _typed_by(self, action: Action | None) -> str:
        device = self.parties.device
        if action is None or action.kind != "input_text" or not isinstance(device, ReportsTypingMethod):
            return ""
        return device.typed_by

    def _finish_step(
        self,
        before: Observation,
        proposed: Proposed,
        decision: Decision,
        question: Question | None,
        reply: Reply | None,
        error: str | None,
        started: str,
    ) -> Step:
        step = Step(
            index=len(self.steps),
            proposed=proposed,
            before=before,
            decision=decision,
            question=question,
            reply=reply,
            error=error,
            typed_by=self._typed_by(decision.action) if error is None else "",
            state=self.keep.state(self.parties.device.snapshot()),
            started=started,
            ended=now(),
        )
        self.steps.append(step)
        return step
