"""What happened: a run is a stream of frozen events, and a trace is that stream folded."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Literal

import msgspec

from lab.core.step import Action, Decision, Observation, Point, Proposed, Question, Reply, Spent, Usage, spent
from lab.core.task import Actor, Persona, Task

VERSION = 1
"""The newest stored shape this program knows; every event carries the one it was written in."""


class Source(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """Where an imported run came from: the format's name, its path as given, the sha256 of its bytes."""

    format: str
    path: str = ""
    sha256: str = ""
    model: str = ""


class DeviceInfo(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """The phone a run was made on: `product`, `release` (of Android) and `sdk` as the phone itself names them.

    Of an environment's phone `id` is the environment's address, and `product` what it calls that phone.
    """

    kind: Literal["embedded", "adb", "environment", "unknown"] = "unknown"
    id: str = ""
    model: str = ""
    size: Point | None = None
    product: str = ""
    release: str = ""
    sdk: str = ""


class Conditions(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """What the people of a run could see and do; recorded, because it changes what they say."""

    seat: Literal["participant", "rater", "designer", "developer"] = "developer"
    mirror: bool = True
    log: Literal["clean", "noise", "none"] = "none"
    seed: int = 0
    gate: Literal["pass", "ask"] = "pass"
    vary: int = 0
    """The seed by which names and prices were changed; 0 where they are as the task's file has them."""
    quick: bool = False
    """In a demonstration: acts were done at once, so that nobody read the instructions that were suggested for them."""
    user_sha: str = ""
    """Where a model answers: the hash of its prompt and of how it is asked."""
    reads: str = ""
    """The engine (name and version) that reads words from pictures for the agent where the phone tells none; empty
    where none does. What was read stands in the prompts."""
    user_screens: bool = False
    """Whether a model as the user was told the words on the screen at each question."""
    shadows: tuple[str, ...] = ()
    """Models (`model:NAME`) that were asked the same beside the person, silently; what they answered is kept apart."""
    read_ms: int | None = None
    """Milliseconds for which a participant read their part before they began the run; None where it began by itself."""
    step_limit: int = 0
    """Steps after which the run ends though its task's budget is not used up; 0 where there is no such limit."""


class Forked(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """Where a run left its parent: up to `seq` its events are the parent's, and step `index` (from 0) is its own.

    `changes` says what was made other (reply, action, agent, persona, log, user, reads) and, in words, to what; empty
    where the same was only tried again. `at` is UTC.
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
    """One thing that happened. `seq` counts from 0 in a run; `at` is UTC; `ms` is monotonic since the run began.

    The loop makes events without these three; the one who appends them (a session, a reader) sets them.
    """

    seq: int = -1
    at: str = ""
    ms: float | None = None
    v: int = VERSION


class Started(Event, frozen=True, tag="started"):
    """A run began: the whole task and persona stand here, so that a file of runs needs no other file."""

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
    """The sha256 of the embedded phone's first state; None on other phones."""
    forked: Forked | None = None
    """Where it left `parent`; its own `at` and the events up to there are the parent's."""


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
    """An action is about to reach the phone; durable before it does."""

    index: int
    action: Action


class Step(Event, frozen=True, tag="step"):
    """One turn of the loop, whole. `before` is what the agent saw; a rejected proposal is a step without an act.

    `accepted` are further actions that would have been right (where a source gives them), `extra` the source's
    own fields verbatim, `typed_by` how a text was typed where a phone has several ways, `state` the sha256 of the
    embedded phone's state after the act, `error` why an act failed. `started` and `ended` are UTC.
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
        """What was done: the decision's action where there was a gate, else the proposed one."""
        return self.proposed.action if self.decision is None else self.decision.action


PHONE = Actor("script", "phone")
"""Who tells of the phone itself."""
POSTURES = ("turned", "upright", "two displays", "one display")
"""What is told of a phone's screen without the run standing still."""


class Paused(Event, frozen=True, tag="paused"):
    """The phone stands still until Resumed; `state` is why, where it is its screen: asleep, locked, folded, secured.

    A `state` of `POSTURES` is told while the run stands still already.
    """

    by: Actor
    reason: str = ""
    state: str = ""


class Resumed(Event, frozen=True, tag="resumed"):
    """The run goes on; with a `state` of `POSTURES` it did not stand still, and `reason` says how the phone is now."""

    by: Actor
    reason: str = ""
    state: str = ""


class Flagged(Event, frozen=True, tag="flagged"):
    """A person said of step `index` (from 0) that it was a slip of the hand, or (`on` false) that it was none."""

    index: int
    by: Actor
    flag: Literal["slip"] = "slip"
    on: bool = True


class Ended(Event, frozen=True, tag="ended"):
    """The run is over. `score` is 0 to 1, None where nothing could be checked. `final` is the last screen seen.

    `usage` is what the whole run cost, where its source tells that and not what each step did. `scored_by` is the
    environment that gave score and reason; empty where the task's own rules did. `stderr` is what the agent's program
    wrote on its standard error after its last step.
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
    """A run as its events leave it. `asked` and `acting` are what was under way when the events stop.

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
        """completed | stopped | failed | budget, or `open` where the run has not ended (or was cut off)."""
        return self.ended.status if self.ended else "open"

    @property
    def questions(self) -> int:
        return sum(step.question is not None for step in self.steps) + (self.asked is not None)

    @property
    def replies(self) -> int:
        return sum(step.reply is not None for step in self.steps) + (self.answered is not None)

    @property
    def spent(self) -> Spent | None:
        """What its model's answers cost, without those of the beginning that a fork shares with its parent."""
        own = self.steps[self.forked.index if self.forked else 0 :]
        return spent([*(step.proposed for step in own), *([self.asked.proposed] if self.asked else [])])


def fold(events: Iterable[AnyEvent]) -> Trace:
    """The trace that a stream of events makes; raises ValueError where the stream has no beginning or a gap."""
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
