"""The places where the outside world plugs in: a phone, an agent, a user, a gate."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple, Protocol, runtime_checkable

import msgspec

from lab.core.errors import LabError
from lab.core.read_text import ReadText
from lab.core.run_records import Blob
from lab.core.step import Action, Decision, Observation, Point, Proposed, Question, Reply
from lab.core.task import Actor, Kind, Persona, Task
from lab.core.trace import DeviceInfo, Step
from lab.core.ui_tree import UiTree


class WaitCancelled(Exception):
    """What was waited for will not come: the run was stopped, or the question taken back."""


class Trouble(LabError):
    """A phone is away, or answers nonsense, now; asked again later it may be well.

    `sent` is False where what was asked surely never reached it. `state` is a word for what its screen shows in an
    app's place: asleep, locked, folded, secured; empty where it is its line that fails.
    """

    def __init__(self, title: str, message: str, hint: str = "", *, sent: bool = False, state: str = "") -> None:
        super().__init__(title, message, hint)
        self.sent = sent
        self.state = state


class Screen(NamedTuple):
    """What a phone shows at one moment: `png` lossless bytes, `size` in pixels, `at` the phone's own clock.

    `tree_missing` says why its tree could not be had, in uiautomator's words.
    """

    png: bytes
    size: Point
    tree: UiTree
    activity: str = ""
    at: str = ""
    tree_missing: str = ""


class LazyPixels(Protocol):
    """A picture whose pixels are made when they are asked for, on any thread."""

    def rgb(self) -> bytes:
        """All of them, height x width x 3 bytes; the same bytes each time."""

    def means(self, size: Point) -> bytes:
        """Its mean colours at a smaller size: height x width x 3 bytes."""


def rgb_of(pixels: bytes | LazyPixels) -> bytes:
    """A picture's pixels, height x width x 3 bytes, made now where they are not yet."""
    return pixels if isinstance(pixels, bytes) else pixels.rgb()


class Frame(NamedTuple):
    """A picture for the eye: `pixels` are height x width x 3 bytes, or make them. `tree` is of this very one, or None.

    `at` is `time.monotonic()` seconds when it was taken; `number` counts up with each picture that differs.
    `space` is the phone's own pixels, in which trees and touches are counted, where the picture is a smaller one.
    """

    pixels: bytes | LazyPixels
    size: Point
    tree: UiTree | None
    at: float
    number: int
    space: Point | None = None

    @property
    def rgb(self) -> bytes:
        """Its pixels."""
        return rgb_of(self.pixels)


class Device(Protocol):
    """A phone. Every call may block and may raise `LabError`; none is called from the UI thread."""

    @property
    def info(self) -> DeviceInfo: ...

    def observe(self) -> Screen:
        """What it shows now."""

    def perform(self, action: Action) -> None:
        """Does one action; what only concerns the loop (ask_user, answer, status) changes nothing."""

    def frames(self, stop: threading.Event) -> Iterator[Frame]:
        """Pictures as they change, newest only, until `stop` is set; each call is a stream of its own."""

    def snapshot(self) -> dict[str, Any] | None:
        """Its whole state as one JSON value; None where a phone cannot be asked (a real one)."""

    def restore(self, state: dict[str, Any]) -> None:
        """Puts a snapshot back; raises `LabError` where that cannot be done."""

    def close(self) -> None:
        """Lets go of it; safe to call twice."""


@runtime_checkable
class Attached(Protocol):
    """A phone at the end of a line, which can be cut.

    `on_line` is called, on a thread of the phone's own, with why it is away, and with None when it is back. `via` says
    in a few words how its pictures come.
    """

    on_line: Callable[[Trouble | None], None]

    @property
    def via(self) -> str: ...


@runtime_checkable
class Turning(Protocol):
    """A phone that is turned, or shown on another display, by hand.

    `on_posture` is called, on any thread, with a word of `POSTURES` and a sentence, also for how it is at first where
    it is not upright or not alone.
    """

    on_posture: Callable[[str, str], None]


@runtime_checkable
class Typing(Protocol):
    """A phone with several ways to type: `typed_by` names the one that the newest text took."""

    @property
    def typed_by(self) -> str: ...


class EnvironmentScore(NamedTuple):
    """What an environment says of a run: `score` from 0 to 1, and why in its own words, empty where it says nothing."""

    score: float
    reason: str = ""


@runtime_checkable
class Scoring(Protocol):
    """A phone of an environment, which says itself how a run on it ended, and is told what that rests on."""

    @property
    def scorer(self) -> str:
        """Who scores: the environment's name and address."""

    def hear(self, question: Question, reply: Reply) -> None:
        """Is told what the agent asked and what was replied; a `LabError` where its score cannot rest on that."""

    def score(self, steps: Sequence[Step]) -> EnvironmentScore:
        """What the environment says of the run as it is now; asked again, it may say the same."""


class Environment(Protocol):
    """A benchmark's own world: it has tasks, puts its phone where one begins, and scores what was done there.

    Every call may block and may raise `LabError`; a `Trouble` where it is away.
    """

    def tasks(self) -> Sequence[Task]:
        """Its tasks, each with its name and kind; what is asked in one may be left out."""

    def task(self, name: str, seed: int) -> Task:
        """One task whole, its parameters by `seed` where it has any; a `LabError` where there is none of that name."""

    def persona(self, task: Task) -> Persona | None:
        """Whom the agent works for in a task, for who plays that part; None where the environment does not tell."""

    def check(self, task: Task) -> None:
        """A `LabError` where a run of the task could not be scored, as far as that can be told beforehand."""

    def phone(self, task: Task, seed: int) -> Device:
        """Its phone (`Scoring`) where the task begins, whatever was there before; the task ends when that is closed."""

    def close(self) -> None:
        """Lets go of it; phones that it gave stay. Safe to call twice."""


class Brief(msgspec.Struct, frozen=True, omit_defaults=True):
    """All that an agent is told: never the persona's facts, never a log entry's label, never the checks.

    `log` holds lines `[time] (location) action`; `instruction` is empty in a proactive run.
    """

    kind: Kind
    instruction: str = ""
    log: tuple[str, ...] = ()
    time: str = ""
    place: str = ""
    budget: int = 30


class Agent(Protocol):
    """Who works the phone. It is given its whole history each time, so that a run can resume and fork anywhere."""

    @property
    def actor(self) -> Actor: ...

    def propose(self, brief: Brief, screen: Screen, history: Sequence[Step]) -> Proposed:
        """What it wants to do next; may block for as long as it likes, on a thread of its own."""


@runtime_checkable
class Remembering(Protocol):
    """An agent that learns over runs: it is told when one is over and how it ended, never its score."""

    def remember(self, brief: Brief, steps: Sequence[Step], status: str) -> None: ...


@runtime_checkable
class Introducing(Protocol):
    """An agent that tells who it is only once it was asked: after `introduce` its `actor` is whole."""

    def introduce(self) -> None: ...


@runtime_checkable
class Complaining(Protocol):
    """An agent that writes a log of its own: `take_errors` gives what came since its last action, once."""

    def take_errors(self) -> str: ...


@runtime_checkable
class GivingUp(Protocol):
    """An agent that may be unable to go on: `gave_up` says why it ended the run; empty where it did its work."""

    gave_up: str


@runtime_checkable
class Interruptible(Protocol):
    """An agent that waits for something outside: `propose` raises `WaitCancelled` soon after a run's `stop` is set."""

    stop: threading.Event


@runtime_checkable
class Illustrated(Protocol):
    """An agent that is sent pictures of its own making: `keep`, a run's own, takes bytes and gives their sha256."""

    keep: Callable[[Blob], str]


@runtime_checkable
class WordReading(Protocol):
    """An agent that is told the words in a picture whose phone told none: `read`, a run's own, gives them.

    It may block for a bounded time, gives None where the phone told words or nothing reads, and raises `LabError` where
    the picture cannot be read.
    """

    read: Callable[[Screen], ReadText | None]


@runtime_checkable
class Closable(Protocol):
    """An agent that holds something: `close` lets go of it, `status` being how the run it was in ended."""

    def close(self, status: str = "") -> None: ...


class User(Protocol):
    """Who the agent works for: a person, a model, a script."""

    @property
    def actor(self) -> Actor: ...

    def reply(self, question: Question, history: Sequence[Step], stop: threading.Event) -> Reply:
        """The answer; blocks until there is one, raises `WaitCancelled` soon after `stop` is set."""


@runtime_checkable
class Seeing(Protocol):
    """A user who may look at the phone: `look` takes what it shows, before each question."""

    def look(self, screen: Observation) -> None: ...


@runtime_checkable
class Configured(Protocol):
    """A user whose answers hang on a prompt and parameters: `config_sha` is the hash of them all."""

    @property
    def config_sha(self) -> str: ...


class Gate(Protocol):
    """Who lets an action through to the phone."""

    def decide(self, proposed: Proposed, screen: Screen, history: Sequence[Step], stop: threading.Event) -> Decision:
        """Approve, amend or reject; raises `WaitCancelled` soon after `stop` is set."""
