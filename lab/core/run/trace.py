"""Events of a run, and the trace that they fold into."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Literal

import msgspec

from lab.core.run.step import Action, Decision, Observation, Point, Proposed, Question, Reply, Spent, Usage, spent_by
from lab.core.task.task import Actor, Persona, Task

VERSION = 1
"""Newest stored version that this program knows. Every event has the version in which it was written."""


class Source(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """Origin of an imported run: the format's name, the path as given, and the sha256 of its bytes."""

    format: str
    path: str = ""
    sha256: str = ""
    model: str = ""


class DeviceInfo(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """The phone of a run. `product`, `release` (of Android) and `sdk` are the phone's own names.

    For an environment's phone, `id` is the environment's address and `product` its name for that phone.
    """

    kind: Literal["embedded", "adb", "environment", "unknown"] = "unknown"
    id: str = ""
    model: str = ""
    size: Point | None = None
    product: str = ""
    release: str = ""
    sdk: str = ""


class Conditions(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """Conditions of a run: what its people could see and do. Recorded, because they influence what people say."""

    seat: Literal["participant", "rater", "designer", "developer"] = "developer"
    mirror: bool = True
    log: Literal["clean", "noise", "none"] = "none"
    seed: int = 0
    gate: Literal["pass", "ask"] = "pass"
    vary: int = 0
    """Seed by which names and prices were changed. 0 leaves those of the task's file."""
    quick: bool = False
    """True if a demonstration's actions were performed at once, so that nobody read the suggested instructions."""
    user_sha: str = ""
    """Hash of the prompt and parameters of a model as the user. Empty for other users."""
    reads: str = ""
    """Engine (name and version) that reads words for the agent from pictures without a tree, empty if none.

    The prompts contain what it read.
    """
    user_screens: bool = False
    """True if a model as the user received the words on the screen with each question."""
    shadows: tuple[str, ...] = ()
    """Models (`model:NAME`) that were silently asked the same as the person. Their answers are stored separately."""
    read_ms: int | None = None
    """Milliseconds for which a participant read their part before the start. None if the run began by itself."""
    step_limit: int = 0
    """Steps after which the run ends although its task's budget is not used up. 0 without a limit."""


class Forked(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """The point at which a run left its parent: events up to `seq` are the parent's, step `index` (from 0) is its own.

    `changes` are pairs of what was changed (reply, action, agent, persona, log, user, reads) and, in words, to what. It
    is empty for a mere retry. `at` is UTC.
    """

    index: int
    seq: int
    changes: tuple[tuple[str, str], ...] = ()
    by: Actor | None = None
    at: str = ""


class Event(
    msgspec.Struct,
    frozen=True,
    kw_only=True,
    forbid_unknown_fields=True,
    omit_defaults=True,
    tag_field="event",
):
    """One event of a run. `seq` counts from 0, `at` is UTC, `ms` is monotonic since the run's start.

    The loop makes events without these three. Whoever appends them (a session, a reader) sets them.
    """

    seq: int = -1
    at: str = ""
    ms: float | None = None
    v: int = VERSION


class Started(Event, frozen=True, tag="started"):
    """A run began. It has the whole task and persona, so that a file of runs needs no other file."""

    trace: str
    task: Task
    agent: Actor
    persona: Persona | None = None
    user: Actor | None = None
    device: DeviceInfo = DeviceInfo()
    conditions: Conditions = Conditions()
    attempt: int = 1
    parent: str | None = None
    source: Source | None = None
    state: str | None = None
    """The sha256 of the embedded phone's first state. None for other phones."""
    forked: Forked | None = None
    """The point at which the fork left `parent`. Events up to there, and their `at`, are the parent's."""


class Asked(Event, frozen=True, tag="asked"):
    """A question was put to the person, and the run waits."""

    index: int
    question: Question
    proposed: Proposed
    before: Observation = Observation()
    decision: Decision | None = None


class Answered(Event, frozen=True, tag="answered"):
    """The person's reply is committed."""

    index: int
    reply: Reply


class Acting(Event, frozen=True, tag="acting"):
    """An action is about to reach the phone. The event is durable before that."""

    index: int
    action: Action


class Step(Event, frozen=True, tag="step"):
    """One complete turn. `before` is the screen that the agent saw. A rejected proposal is a step without an action.

    `accepted` are other right actions (if a source gives them), `extra` the source's own fields verbatim. `typed_by` is
    the way in which a text was typed, on a phone with several. `state` is the sha256 of the embedded phone's state
    after the action. `error` is why an action failed. `started` and `ended` are UTC.
    """

    index: int
    proposed: Proposed
    before: Observation = Observation()
    decision: Decision | None = None
    question: Question | None = None
    reply: Reply | None = None
    error: str | None = None
    accepted: tuple[Action, ...] = ()
    extra: dict[str, Any] = {}
    typed_by: str = ""
    state: str | None = None
    started: str = ""
    ended: str = ""

    @property
    def action(self) -> Action | None:
        """The action that was performed: the decision's if there was a gate, else the proposed one."""
        return self.proposed.action if self.decision is None else self.decision.action


PHONE = Actor("script", "phone")
"""Actor of events that the phone itself caused."""
POSTURES = ("turned", "upright", "two displays", "one display")
"""States of a phone's screen that are reported without pausing the run."""


class Paused(Event, frozen=True, tag="paused"):
    """The run pauses until Resumed. `state` is set if the screen is the cause: asleep, locked, folded, secured.

    A `state` of `POSTURES` is reported during a pause that had already begun.
    """

    by: Actor
    reason: str = ""
    state: str = ""


class Resumed(Event, frozen=True, tag="resumed"):
    """The run continues. With a `state` of `POSTURES` it was not paused, and `reason` describes the phone's posture."""

    by: Actor
    reason: str = ""
    state: str = ""


class Flagged(Event, frozen=True, tag="flagged"):
    """A person flagged step `index` (from 0) as a slip of the hand, or removed the flag (`on` false)."""

    index: int
    by: Actor
    flag: Literal["slip"] = "slip"
    on: bool = True


class Ended(Event, frozen=True, tag="ended"):
    """The run is over. `score` is 0 to 1, None if nothing could be checked. `final` is the last screen.

    `usage` is the whole run's, if its source gives only that and not each step's. `scored_by` is the environment that
    gave score and reason, empty if the task's own rules did. `stderr` is the standard error of the agent's program
    after its last step.
    """

    status: Literal["completed", "stopped", "failed", "budget"]
    score: float | None = None
    reason: str = ""
    checks: tuple[tuple[str, bool], ...] = ()
    final: Observation | None = None
    usage: Usage | None = None
    scored_by: str = ""
    stderr: str = ""


AnyEvent = Started | Asked | Answered | Acting | Step | Paused | Resumed | Flagged | Ended


class Trace(msgspec.Struct, frozen=True, omit_defaults=True):
    """A run folded from its events. `asked` and `acting` are under way at the end of an unfinished one.

    `slips` are the indices (from 0) of the steps that a person flagged as slips.
    """

    id: str
    task: Task
    agent: Actor
    persona: Persona | None = None
    user: Actor | None = None
    device: DeviceInfo = DeviceInfo()
    conditions: Conditions = Conditions()
    attempt: int = 1
    parent: str | None = None
    source: Source | None = None
    state: str | None = None
    forked: Forked | None = None
    started: str = ""
    steps: tuple[Step, ...] = ()
    asked: Asked | None = None
    answered: Answered | None = None
    acting: Acting | None = None
    paused: bool = False
    ended: Ended | None = None
    slips: tuple[int, ...] = ()
    last: int = -1

    @property
    def status(self) -> str:
        """completed, stopped, failed or budget, or `open` if the run has not ended or was interrupted."""
        return self.ended.status if self.ended else "open"

    @property
    def questions(self) -> int:
        return sum(step.question is not None for step in self.steps) + (self.asked is not None)

    @property
    def replies(self) -> int:
        return sum(step.reply is not None for step in self.steps) + (self.answered is not None)

    @property
    def spent(self) -> Spent | None:
        """Usage of its model's answers, without the steps that a fork shares with its parent."""
        own = self.steps[self.forked.index if self.forked else 0 :]
        return spent_by([*(step.proposed for step in own), *([self.asked.proposed] if self.asked else [])])


def fold(events: Iterable[AnyEvent]) -> Trace:
    """Fold a stream of events into a trace. Raise `ValueError` if it lacks its beginning or has a gap."""
    stream = iter(events)
    first = next(stream, None)
    if not isinstance(first, Started):
        raise ValueError("a run's events begin with Started")
    steps: list[Step] = []
    under_way: dict[str, Any] = {"asked": None, "answered": None, "acting": None}
    paused, ended, last = False, None, first.seq
    slips: dict[int, bool] = {}
    for event in stream:
        if event.seq != last + 1:
            raise ValueError(f"event {event.seq} follows event {last}")
        last = event.seq
        match event:
            case Started():
                raise ValueError("a run begins once")
            case Asked():
                under_way["asked"] = event
            case Answered():
                under_way["answered"] = event
            case Acting():
                under_way["acting"] = event
            case Step():
                steps.append(event)
                # A step completes its question and its action.
                under_way = dict.fromkeys(under_way)
            case Paused() | Resumed():
                paused = isinstance(event, Paused)
            case Flagged():
                slips[event.index] = event.on
            case Ended():
                ended = event
    return Trace(
        id=first.trace, task=first.task, agent=first.agent, persona=first.persona, user=first.user,
        device=first.device, conditions=first.conditions, attempt=first.attempt, parent=first.parent,
        source=first.source, state=first.state, forked=first.forked, started=first.at, steps=tuple(steps),
        paused=paused, ended=ended, slips=tuple(sorted(index for index, on in slips.items() if on)), last=last,
        **under_way,
    )  # fmt: skip
