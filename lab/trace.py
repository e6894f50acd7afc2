"""What happened: a run is a stream of frozen events, and a trace is that stream folded."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from functools import reduce
from typing import Any, Literal, NamedTuple

import msgspec

from lab.task import Actor, Persona, Task
from lab.uitree import UiTree

VERSION = 1
"""The newest stored shape this program knows; every event carries the one it was written in."""

Point = tuple[int, int]
Direction = Literal["up", "down", "left", "right"]
ActionKind = Literal[
    "click", "double_tap", "long_press", "drag", "input_text", "scroll", "navigate_home", "navigate_back",
    "keyboard_enter", "wait", "answer", "status", "ask_user", "swipe", "press_recent", "open_app", "other",
]  # fmt: skip
ENDING: frozenset[str] = frozenset({"answer", "status"})
"""The kinds of action after which an agent does nothing more."""


class Action(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """What an agent does. `at` and `to` are pixels of the observed screenshot, and 0 is a coordinate.

    `direction` keeps its source's meaning: the content's for `scroll` (down shows what is below), the finger's
    for `swipe`; `vector` is always the finger's movement in pixels. `raw` and `space` keep the source's own
    words and coordinates (`px`, `0-1`, `0-1000`, `box`, `index`); `boxes` are targets of which any is right.
    """

    kind: ActionKind
    at: Point | None = None
    to: Point | None = None
    text: str | None = None
    direction: Direction | None = None
    vector: Point | None = None
    app: str | None = None
    status: Literal["complete", "infeasible"] | None = None
    ms: int | None = None
    raw: Any = None
    space: str | None = None
    boxes: tuple[tuple[int, int, int, int], ...] = ()


class Observation(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """What was seen: `image` is a sha256 whose bytes the store keeps, `size` its pixels, `at` the phone's clock."""

    image: str | None = None
    size: Point | None = None
    tree: UiTree | None = None
    activity: str = ""
    at: str = ""


class Usage(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """What a model's answer cost: tokens, US dollars where known, seconds, and how many calls it took."""

    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    cached_tokens: int | None = None
    cost: float | None = None
    seconds: float | None = None
    tries: int = 1

    def plus(self, other: Usage) -> Usage:
        """Both together; what is known of one only counts as far as it goes."""
        sums = {name: _sum(getattr(self, name), getattr(other, name)) for name in self.__struct_fields__}
        return Usage(**sums)


class Spent(msgspec.Struct, frozen=True):
    """What asking a model cost in a whole run: in how many turns, with how many calls, `cost` in US dollars.

    `cost` is None where no price is known; `unpriced` counts the turns whose price is not in it.
    """

    turns: int
    calls: int
    prompt_tokens: int
    completion_tokens: int
    cached_tokens: int
    cost: float | None
    unpriced: int
    seconds: float | None


class Question(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """What an agent asks of the person. Every question of a proactive run is shown as a proposal."""

    id: str
    kind: Literal["ask", "propose"]
    text: str
    options: tuple[str, ...] = ()


class Reply(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """What the person said. `decision` is None for an answer to a plain question, or *only a question*.

    Times are UTC; `first_key_at` is None where nothing was typed. `edits` counts deletions while typing,
    `draft` is the longest text that was typed and then taken back.
    """

    question_id: str
    text: str
    by: Actor
    decision: Literal["accept", "reject"] | None = None
    shown_at: str | None = None
    first_key_at: str | None = None
    sent_at: str | None = None
    edits: int | None = None
    draft: str | None = None


class Prompt(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """Exactly what an agent was sent: its text, and the sha256 of each picture in order."""

    text: str
    images: tuple[str, ...] = ()


class Proposed(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """What an agent wants to do and why. `by` is set where another than the run's agent proposed (a take-over)."""

    action: Action
    thought: str = ""
    prompt: Prompt | None = None
    raw: str | None = None
    usage: Usage | None = None
    by: Actor | None = None


def spent(proposals: Iterable[Proposed]) -> Spent | None:
    """What these proposals cost; None where no model was asked for any of them."""
    usages = [proposed.usage for proposed in proposals if proposed.usage is not None]
    if not usages:
        return None
    total = reduce(Usage.plus, usages)
    turns = [usage for usage in usages if usage.prompt_tokens is not None or usage.completion_tokens is not None]
    return Spent(
        turns=len(turns),
        calls=total.tries,
        prompt_tokens=total.prompt_tokens or 0,
        completion_tokens=total.completion_tokens or 0,
        cached_tokens=total.cached_tokens or 0,
        cost=total.cost,
        unpriced=sum(usage.cost is None for usage in turns),
        seconds=None if total.seconds is None else round(total.seconds, 3),
    )


def _sum(a: Any, b: Any) -> Any:
    return b if a is None else a if b is None else a + b


class Decision(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """What the gate let through: `action` is what is done, None where it was rejected. `seconds` it took."""

    verdict: Literal["approve", "amend", "reject"]
    by: Actor
    action: Action | None = None
    note: str = ""
    seconds: float = 0.0


class Source(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """Where an imported run came from: the format's name, its path as given, the sha256 of its bytes."""

    format: str
    path: str = ""
    sha256: str = ""
    model: str = ""


class DeviceInfo(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """The phone a run was made on."""

    kind: Literal["embedded", "adb", "unknown"] = "unknown"
    id: str = ""
    model: str = ""
    size: Point | None = None


class Conditions(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """What the people of a run could see and do; recorded, because it changes what they say."""

    seat: Literal["participant", "rater", "designer", "developer"] = "developer"
    mirror: bool = True
    log: Literal["clean", "noise", "none"] = "none"
    seed: int = 0
    gate: Literal["pass", "ask"] = "pass"
    vary: int = 0
    """The seed by which names and prices were changed; 0 where they are as the task's file has them."""


class Forked(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """Where a run left its parent: up to `seq` its events are the parent's, and step `index` (from 0) is its own.

    `changes` says what was made other (reply, action, agent, persona, log, user) and, in words, to what; empty
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
    own fields verbatim, `state` the sha256 of the embedded phone's state after the act, `error` why an act failed.
    `started` and `ended` are UTC.
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
    state: str | None = None
    started: str = ""
    ended: str = ""

    @property
    def action(self) -> Action | None:
        """What was done: the decision's action where there was a gate, else the proposed one."""
        return self.proposed.action if self.decision is None else self.decision.action


class Paused(Event, frozen=True, tag="paused"):
    """The phone stands still until Resumed."""

    by: Actor
    reason: str = ""


class Resumed(Event, frozen=True, tag="resumed"):
    """The run goes on."""

    by: Actor


class Ended(Event, frozen=True, tag="ended"):
    """The run is over. `score` is 0 to 1, None where nothing could be checked. `final` is the last screen seen."""

    status: Literal["completed", "stopped", "failed", "budget"]
    score: float | None = None
    reason: str = ""
    checks: tuple[tuple[str, bool], ...] = ()
    final: Observation | None = None


AnyEvent = Started | Asked | Answered | Acting | Step | Paused | Resumed | Ended


class Trace(msgspec.Struct, frozen=True, omit_defaults=True):
    """A run as its events leave it. `asked` and `acting` are what was under way when the events stop."""

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
            case Ended():
                ended = event
    return Trace(
        id=first.trace, task=first.task, agent=first.agent, persona=first.persona, user=first.user,
        device=first.device, conditions=first.conditions, attempt=first.attempt, parent=first.parent,
        source=first.source, state=first.state, forked=first.forked, started=first.at, steps=tuple(steps),
        paused=paused, ended=ended, last=last, **under_way,
    )  # fmt: skip


class TraceLine(msgspec.Struct, frozen=True):
    """A run in one line, as `hitlab traces --json` prints it; `questions` and `replies` are counts."""

    id: str
    task: str
    agent: str
    persona: str | None
    steps: int
    questions: int
    replies: int
    status: str
    score: float | None
    source: str | None


class Summary(TraceLine, frozen=True):
    """A run in one line, and when it began (UTC)."""

    started: str = ""


class Kin(Summary, frozen=True):
    """A run in one line, and where it left its parent; `parent` may be a run that is not in this file."""

    parent: str | None = None
    forked: Forked | None = None


class Verdict(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """A judgement that came with an imported run, in its source's own words and fields."""

    name: str
    value: Any = None
    reason: str = ""
    extra: dict[str, Any] = {}


class Blob(NamedTuple):
    """Bytes that an event refers to by their sha256: a screenshot, or the embedded phone's state."""

    data: bytes
    mime: str

    @property
    def sha256(self) -> str:
        return hashlib.sha256(self.data).hexdigest()


class Imported(NamedTuple):
    """What a reader yields for one run: its events, the bytes they refer to, the source's own verdicts."""

    events: list[AnyEvent]
    images: Mapping[str, Blob]
    verdicts: list[Verdict]

    @property
    def id(self) -> str:
        first = self.events[0]
        assert isinstance(first, Started)
        return first.trace


def numbered(events: Iterable[AnyEvent]) -> list[AnyEvent]:
    """Events with `seq` set from 0 in their order; what a reader calls last."""
    return [msgspec.structs.replace(event, seq=i) for i, event in enumerate(events)]


def imported_id(format: str, data: bytes) -> str:
    """The id of an imported trace: the same source bytes make the same run, so importing twice is once."""
    return hashlib.sha256(format.encode() + b"\0" + data).hexdigest()[:32]
