"""Protocols where the outside world plugs in: device, environment, agent, user, gate."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple, Protocol, runtime_checkable

import msgspec

from lab.core.errors import LabError
from lab.core.run.run_records import Blob
from lab.core.run.step import Action, Decision, Observation, Point, Proposed, Question, Reply
from lab.core.run.trace import DeviceInfo, Step
from lab.core.run.ui_tree import UiTree
from lab.core.task.task import Actor, Kind, Persona, Task
from lab.core.text.read_text import ReadText


class WaitCancelled(Exception):
    """Raised by a wait whose result will not come: the run was stopped, or the question withdrawn."""


class Trouble(LabError):
    """A temporary failure of a phone: it is disconnected, or answers garbage. A later call may succeed.

    `sent` is False if the request surely did not reach it. `state` names what its screen shows in an app's place
    (asleep, locked, folded, secured). It is empty if the connection failed.
    """

    def __init__(self, title: str, message: str, hint: str = "", *, sent: bool = False, state: str = "") -> None:
        super().__init__(title, message, hint)
        self.sent = sent
        self.state = state


class Screen(NamedTuple):
    """A phone's screen at one moment: `png` is lossless, `size` in pixels, `at` on the phone's own clock.

    `tree_missing` is uiautomator's reason for a missing tree.
    """

    png: bytes
    size: Point
    tree: UiTree
    activity: str = ""
    at: str = ""
    tree_missing: str = ""


class LazyPixels(Protocol):
    """A picture whose pixels are computed on demand, on any thread."""

    def rgb(self) -> bytes:
        """Return all pixels, height x width x 3 bytes, the same on each call."""

    def means(self, size: Point) -> bytes:
        """Return the mean colours at a smaller size, height x width x 3 bytes."""


def rgb_of(pixels: bytes | LazyPixels) -> bytes:
    """Return a picture's pixels, height x width x 3 bytes, and compute lazy ones."""
    return pixels if isinstance(pixels, bytes) else pixels.rgb()


class Frame(NamedTuple):
    """A picture for display. `pixels` are height x width x 3 bytes, or lazy. `tree` is of this very picture, or None.

    `at` is the `time.monotonic()` of the capture. `number` increases with each different picture. `space` is the
    phone's own size, in which trees and touches are measured, if the picture is smaller.
    """

    pixels: bytes | LazyPixels
    size: Point
    tree: UiTree | None
    at: float
    number: int
    space: Point | None = None

    @property
    def rgb(self) -> bytes:
        """The picture's pixels."""
        return rgb_of(self.pixels)


class Device(Protocol):
    """A phone. Every call may block and may raise `LabError`, so none is made from the UI thread."""

    @property
    def info(self) -> DeviceInfo: ...

    def observe(self) -> Screen:
        """Return the current screen."""

    def perform(self, action: Action) -> None:
        """Perform one action. Actions for the loop alone (ask_user, answer, status) change nothing."""

    def frames(self, stop: threading.Event) -> Iterator[Frame]:
        """Yield pictures as they change, the newest only, until `stop` is set. Each call is a separate stream."""

    def snapshot(self) -> dict[str, Any] | None:
        """Return the whole state as one JSON value, or None for a phone without snapshots (a real one)."""

    def restore(self, state: dict[str, Any]) -> None:
        """Restore a snapshot. Raise `LabError` if that is impossible."""

    def close(self) -> None:
        """Release the phone. A second call does nothing."""


@runtime_checkable
class SupportsConnectionState(Protocol):
    """A phone on a connection that can fail.

    `on_line` is called on a thread of the phone's own: with the reason when it disconnects, with None when it is back.
    `via` describes in a few words how its pictures arrive.
    """

    on_line: Callable[[Trouble | None], None]

    @property
    def via(self) -> str: ...


@runtime_checkable
class SupportsPosture(Protocol):
    """A phone that a hand can rotate, or show on another display.

    `on_posture` is called on any thread with a word of `POSTURES` and a sentence. It is also called for the first
    posture, unless that is upright on a single display.
    """

    on_posture: Callable[[str, str], None]


@runtime_checkable
class ReportsTypingMethod(Protocol):
    """A phone with several ways to type. `typed_by` names the one that typed the newest text."""

    @property
    def typed_by(self) -> str: ...


class EnvironmentScore(NamedTuple):
    """An environment's score of a run, from 0 to 1, and its reason in the environment's words (empty if none)."""

    score: float
    reason: str = ""


@runtime_checkable
class SupportsScoring(Protocol):
    """A phone of an environment that scores its runs itself and receives what the score depends on."""

    @property
    def scorer(self) -> str:
        """Name and address of the environment that scores."""

    def receive_reply(self, question: Question, reply: Reply) -> None:
        """Receive a question and its reply. Raise `LabError` if the score cannot take them into account."""

    def score(self, steps: Sequence[Step]) -> EnvironmentScore:
        """Return the environment's score of the run so far. A second call may return the same."""


class Environment(Protocol):
    """A benchmark's own world: it has tasks, puts its phone at a task's start, and scores the result.

    Every call may block and may raise `LabError`, or `Trouble` if the environment is unreachable.
    """

    def tasks(self) -> Sequence[Task]:
        """Return its tasks with name and kind. The instruction may be missing."""

    def task(self, name: str, seed: int) -> Task:
        """Return one complete task, with parameters drawn by `seed`. Raise `LabError` if the name is unknown."""

    def persona(self, task: Task) -> Persona | None:
        """Return the person the agent works for, for whoever plays that part, or None if the environment has none."""

    def check(self, task: Task) -> None:
        """Raise `LabError` if a run of the task could not be scored, as far as that is known beforehand."""

    def phone(self, task: Task, seed: int) -> Device:
        """Return its phone (`SupportsScoring`) at the task's start, whatever ran before.

        Closing the phone ends the task.
        """

    def close(self) -> None:
        """Release the environment. Its phones stay open. A second call does nothing."""


class TaskBrief(msgspec.Struct, frozen=True, omit_defaults=True):
    """Everything an agent receives: never the persona's facts, a log entry's label or the checks.

    `log` has lines `[time] (location) action`. `instruction` is empty in a proactive run.
    """

    kind: Kind
    instruction: str = ""
    log: tuple[str, ...] = ()
    time: str = ""
    place: str = ""
    budget: int = 30


class Agent(Protocol):
    """Operates the phone. It gets the whole history on each call, so that a run can resume and fork anywhere."""

    @property
    def actor(self) -> Actor: ...

    def propose(self, brief: TaskBrief, screen: Screen, history: Sequence[Step]) -> Proposed:
        """Return its next action. It may block as long as it likes, on a thread of its own."""


@runtime_checkable
class SupportsMemory(Protocol):
    """An agent that learns across runs. It gets each finished run and its status, never its score."""

    def remember(self, brief: TaskBrief, steps: Sequence[Step], status: str) -> None: ...


@runtime_checkable
class SupportsIntroduction(Protocol):
    """An agent that knows its identity only after a request. `introduce` completes its `actor`."""

    def introduce(self) -> None: ...


@runtime_checkable
class SupportsErrorLog(Protocol):
    """An agent with a log of its own. `take_errors` returns each part once: what came since its last action."""

    def take_errors(self) -> str: ...


@runtime_checkable
class ReportsGivingUp(Protocol):
    """An agent that may be unable to continue.

    `gave_up` is the reason why it ended the run, empty if it did its work.
    """

    gave_up: str


@runtime_checkable
class Interruptible(Protocol):
    """An agent that waits for something outside. `propose` raises `WaitCancelled` soon after a run's `stop` is set."""

    stop: threading.Event


@runtime_checkable
class SupportsPictures(Protocol):
    """An agent that sends pictures of its own making. `keep`, set by the run, stores bytes and returns their sha256."""

    keep: Callable[[Blob], str]


@runtime_checkable
class SupportsOcr(Protocol):
    """An agent that needs the words in a picture without a tree. `read`, set by the run, returns them.

    `read` blocks for a bounded time. It returns None if the tree has words or no OCR is available, and raises
    `LabError` if the picture is unreadable.
    """

    read: Callable[[Screen], ReadText | None]


@runtime_checkable
class Closable(Protocol):
    """An agent with resources. `close` releases them. `status` is the status of its run."""

    def close(self, status: str = "") -> None: ...


class User(Protocol):
    """Answers the agent's questions: a person, a model or a script."""

    @property
    def actor(self) -> Actor: ...

    def reply(self, question: Question, history: Sequence[Step], stop: threading.Event) -> Reply:
        """Block until there is an answer and return it. Raise `WaitCancelled` soon after `stop` is set."""


@runtime_checkable
class SeesScreen(Protocol):
    """A user who may see the phone. `see_screen` gets the screen before each question."""

    def see_screen(self, screen: Observation) -> None: ...


@runtime_checkable
class SupportsConfigHash(Protocol):
    """A user whose answers depend on a prompt and parameters. `config_sha` is the hash of them all."""

    @property
    def config_sha(self) -> str: ...


class Gate(Protocol):
    """Decides if an action reaches the phone."""

    def decide(self, proposed: Proposed, screen: Screen, history: Sequence[Step], stop: threading.Event) -> Decision:
        """Approve, amend or reject. Raise `WaitCancelled` soon after `stop` is set."""
