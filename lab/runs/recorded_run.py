"""A stored run to be scrubbed: its steps as short lines, each read whole only when it is looked at."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterator, Sequence
from itertools import islice
from typing import Literal, NamedTuple, Protocol, TypeVar

from lab.core.demonstration import Demonstration, demonstration
from lab.core.plain_text import plain
from lab.core.read_text import says_nothing
from lab.core.run_records import Blob, Verdict
from lab.core.safe_images import too_large
from lab.core.step import Observation
from lab.core.trace import PHONE, POSTURES, AnyEvent, Asked, Ended, Paused, Resumed, Started, Step, Trace
from lab.core.ui_tree import UiTree
from lab.runs.descriptions import action_words, marks, raw_words
from store.images import picture_size

T = TypeVar("T")

_STEPS_KEPT = 64
_PICTURES_KEPT = 12
_BATCH = 100
"""Lines handed on at once while a long run is read."""


class RunProvider(Protocol):
    """Where runs are read: a file, or what stands before it and hides something."""

    def events(self, trace_id: str, after: int = -1) -> Iterator[AnyEvent]: ...

    def trace(self, trace_id: str) -> Trace: ...

    def verdicts(self, trace_id: str) -> list[Verdict]: ...

    def blob(self, sha256: str) -> Blob | None: ...

    def links(self, sha256: str) -> Sequence[object]: ...


class RunPlace(NamedTuple):
    """A place in a run: a step, the question it stands at, or its end. `text` is what a search looks in.

    `phone` is what the phone told of itself since the place before: that it was asleep, was turned, was well again.
    `image` is the picture (sha256) of a step's screen of which the phone told no word; empty where it told some.
    """

    kind: Literal["step", "asked", "end"]
    seq: int
    words: str
    marks: str = ""
    text: str = ""
    started: str = ""
    ended: str = ""
    phone: tuple[str, ...] = ()
    image: str = ""


class Head(NamedTuple):
    """What is known of a run before its steps; `made` is what it was as a demonstration, where it is one."""

    started: Started
    verdicts: list[Verdict]
    made: Demonstration | None = None


class PlaceView(NamedTuple):
    """One place, read whole: what was seen `before` it and `after` it (None where nothing was), `image` of one."""

    number: int
    event: Step | Asked | Ended
    before: Observation
    after: Observation | None
    image: bytes | None
    lost: str
    """Why a picture that is named is not to be had, in words: a copy packed without, a linked file that is gone."""


class RecordedRun:
    """Reads one run. Safe on any one thread at a time; a lock keeps two readers apart."""

    def __init__(self, runs: RunProvider, trace_id: str) -> None:
        self.runs = runs
        self.id = trace_id
        self.lines: list[RunPlace] = []
        """Grows while `read` goes on; a line never changes."""
        self._steps: OrderedDict[Hashable, Step | Asked | Ended] = OrderedDict()
        self._pictures: OrderedDict[Hashable, bytes | None] = OrderedDict()
        self._slips: frozenset[int] = frozenset()
        self._lock = threading.Lock()

    def head(self) -> Head:
        """The run's beginning and its source's verdicts; `LabError` where there is no such run."""
        first = next(self.runs.events(self.id))
        assert isinstance(first, Started)
        demo = demonstration(self.runs.trace(self.id)) if first.agent.kind == "human" else None
        self._slips = frozenset(demo.slips if demo is not None else ())
        return Head(first, self.runs.verdicts(self.id), demo)

    def read(self) -> Iterator[list[RunPlace]]:
        """Every line in batches, each event read once and let go."""
        batch: list[RunPlace] = []
        asked_event: Asked | None = None
        phone, waits = list[str](), False
        for event in self.runs.events(self.id):
            match event:
                case Paused() | Resumed() if event.by == PHONE and event.reason:
                    phone.append(event.reason)
                    waits = waits or event.state not in POSTURES
                case Resumed() if waits:
                    phone.append("It is well again, and the run goes on." if event.by == PHONE else "The run goes on.")
                    waits = False
                case Asked():
                    asked_event = event
                case Step():
                    asked_event = None
                    line = _step_line(event, slip=event.index in self._slips)
                    batch.append(line._replace(phone=tuple(phone)))
                    phone = []
                case Ended():
                    asked_event = None
                    text = plain(event.reason).casefold()
                    batch.append(RunPlace("end", event.seq, event.status, text=text, phone=tuple(phone)))
            if len(batch) >= _BATCH:
                yield batch
                batch = []
        if asked_event is not None:
            words = action_words(asked_event.proposed.action)
            text = plain(asked_event.question.text).casefold()
            image = _wordless(asked_event.before)
            batch.append(RunPlace("asked", asked_event.seq, words, "?", text, phone=tuple(phone), image=image))
        yield batch

    def view(self, number: int, *, after: bool = False) -> PlaceView:
        """The place `number` (from 0) of `lines`, with the picture before it, or the one `after`."""
        with self._lock:
            event = self._event(number)
            before = (event.final or Observation()) if isinstance(event, Ended) else event.before
            following = self._following(number)
            screen = following if after and following is not None else before
            image = self._kept(self._pictures, _PICTURES_KEPT, screen.image, lambda: self._picture(screen.image))
            return PlaceView(number, event, before, following, image, self._lost(screen.image) if image is None else "")

    def _following(self, number: int) -> Observation | None:
        if number + 1 >= len(self.lines):
            return None
        event = self._event(number + 1)
        return event.final if isinstance(event, Ended) else event.before

    def _event(self, number: int) -> Step | Asked | Ended:
        seq = self.lines[number].seq
        return self._kept(self._steps, _STEPS_KEPT, seq, lambda: self._fetched(seq))

    def _fetched(self, seq: int) -> Step | Asked | Ended:
        event = next(islice(self.runs.events(self.id, after=seq - 1), 1))
        assert isinstance(event, Step | Asked | Ended)
        return event

    def _picture(self, sha256: str | None) -> bytes | None:
        blob = self.runs.blob(sha256) if sha256 else None
        return None if blob is None or too_large(picture_size(blob.data)) else blob.data

    def _lost(self, sha256: str | None) -> str:
        if sha256 is None:
            return ""
        if (blob := self.runs.blob(sha256)) is not None:
            return f"its picture {too_large(picture_size(blob.data))}"
        links = self.runs.links(sha256)
        return "its linked picture is gone or has changed" if links else "its picture is not in this file"

    def _kept(self, cache: OrderedDict[Hashable, T], most: int, key: Hashable, make: Callable[[], T]) -> T:
        """What was read lately is read once."""
        if key in cache:
            cache.move_to_end(key)
        else:
            cache[key] = make()
            if len(cache) > most:
                cache.popitem(last=False)
        return cache[key]


def _step_line(step: Step, *, slip: bool) -> RunPlace:
    words = action_words(step.proposed.action, step.before.tree)
    step_marks = ("s" if slip else "") + marks(step)
    image = _wordless(step.before)
    return RunPlace("step", step.seq, words, step_marks, _searched(step), step.started, step.ended, image=image)


def _wordless(screen: Observation) -> str:
    """The picture of a screen of which the phone told no word; empty where it told some, or there is none."""
    return screen.image or "" if says_nothing(screen.tree) else ""


def _searched(step: Step) -> str:
    """All that a search finds in a step: thought, action, dialogue, error, and the words on the screen."""
    action = step.proposed.action
    parts = [
        step.proposed.thought,
        step.proposed.instruction,
        action.kind,
        action.text or "",
        action.app or "",
        raw_words(action),
    ]
    if step.question is not None:
        parts.append(step.question.text)
    if step.reply is not None:
        parts.append(step.reply.text)
    if step.decision is not None:
        parts.append(step.decision.note)
    parts.append(step.error or "")
    return "\n".join([*parts, *_tree_text(step.before.tree)]).casefold()


def _tree_text(tree: UiTree | None) -> Iterator[str]:
    if tree is not None:
        for node in tree.nodes():
            if node.label:
                yield node.label
