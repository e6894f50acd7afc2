"""A stored run for replay: its steps as short lines, and each whole step on demand."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterator, Sequence
from itertools import islice
from typing import Literal, NamedTuple, Protocol, TypeVar

from lab.core.run.demonstration import Demonstration, demonstration
from lab.core.run.run_records import Blob, Verdict
from lab.core.run.step import Observation
from lab.core.run.trace import PHONE, POSTURES, AnyEvent, Asked, Ended, Paused, Resumed, Started, Step, Trace
from lab.core.run.ui_tree import UiTree
from lab.core.text.plain_text import plain
from lab.core.text.read_text import has_no_text
from lab.core.values.safe_images import size_problem
from lab.runs.descriptions import action_words, marks_of_step, raw_words
from store.file.images import picture_size

T = TypeVar("T")

_STEPS_KEPT = 64
_PICTURES_KEPT = 12
_LINES_AT_ONCE = 100
"""Number of lines to yield at once while reading a long run."""


class RunProvider(Protocol):
    """Source of runs: a file, or a view of it that hides something."""

    def events(self, trace_id: str, after: int = -1) -> Iterator[AnyEvent]: ...

    def trace(self, trace_id: str) -> Trace: ...

    def verdicts(self, trace_id: str) -> list[Verdict]: ...

    def blob(self, sha256: str) -> Blob | None: ...

    def links(self, sha256: str) -> Sequence[object]: ...


class RecordedPlace(NamedTuple):
    """A place in a run: a step, the question it waits at, or its end. `text` is for searches.

    `phone` are the phone's reports since the place before: asleep, rotated, working again. `image` is the picture
    (sha256) of a step's screen whose tree has no text, else empty.
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


class RunHead(NamedTuple):
    """Facts of a run before its steps. `demonstration` is its summary if it is one."""

    started: Started
    verdicts: list[Verdict]
    demonstration: Demonstration | None = None


class PlaceView(NamedTuple):
    """One place in full: the screens `before` and `after` it (None if there is none), and the `image` of one."""

    number: int
    event: Step | Asked | Ended
    before: Observation
    after: Observation | None
    image: bytes | None
    lost: str
    """Reason why a named picture is unavailable: a copy packed without pictures, or a linked file that is gone."""


class RecordedRun:
    """Reader of one run. Any thread may use it, because a lock serializes views."""

    def __init__(self, runs: RunProvider, trace_id: str) -> None:
        self.runs = runs
        self.id = trace_id
        self.lines: list[RecordedPlace] = []
        """Grows during `read`. A line never changes."""
        self._steps: OrderedDict[Hashable, Step | Asked | Ended] = OrderedDict()
        self._pictures: OrderedDict[Hashable, bytes | None] = OrderedDict()
        self._slips: frozenset[int] = frozenset()
        self._lock = threading.Lock()

    def head(self) -> RunHead:
        """Return the run's beginning and its source's verdicts. Raise `LabError` if there is no such run."""
        first = next(self.runs.events(self.id))
        assert isinstance(first, Started)
        # Only a demonstration needs the whole run read, for its summary and slips.
        demo = demonstration(self.runs.trace(self.id)) if first.agent.kind == "human" else None
        self._slips = frozenset(demo.slips if demo is not None else ())
        return RunHead(first, self.runs.verdicts(self.id), demo)

    def read(self) -> Iterator[list[RecordedPlace]]:
        """Yield every line in batches, reading each event once."""
        batch: list[RecordedPlace] = []
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
                    batch.append(RecordedPlace("end", event.seq, event.status, text=text, phone=tuple(phone)))
            if len(batch) >= _LINES_AT_ONCE:
                yield batch
                batch = []
        if asked_event is not None:
            words = action_words(asked_event.proposed.action)
            text = plain(asked_event.question.text).casefold()
            image = _wordless_image(asked_event.before)
            batch.append(RecordedPlace("asked", asked_event.seq, words, "?", text, phone=tuple(phone), image=image))
        yield batch

    def view(self, number: int, *, after: bool = False) -> PlaceView:
        """Return the place `number` (from 0) of `lines`, with the picture before it, or the one `after`."""
        with self._lock:
            event = self._event_at(number)
            before = (event.final or Observation()) if isinstance(event, Ended) else event.before
            following = self._next_screen(number)
            screen = following if after and following is not None else before
            image = self._from_cache(
                self._pictures, _PICTURES_KEPT, screen.image, lambda: self._read_picture(screen.image)
            )
            return PlaceView(
                number, event, before, following, image, self._lost_reason(screen.image) if image is None else ""
            )

    def _next_screen(self, number: int) -> Observation | None:
        if number + 1 >= len(self.lines):
            return None
        event = self._event_at(number + 1)
        return event.final if isinstance(event, Ended) else event.before

    def _event_at(self, number: int) -> Step | Asked | Ended:
        seq = self.lines[number].seq
        return self._from_cache(self._steps, _STEPS_KEPT, seq, lambda: self._fetch_event(seq))

    def _fetch_event(self, seq: int) -> Step | Asked | Ended:
        event = next(islice(self.runs.events(self.id, after=seq - 1), 1))
        assert isinstance(event, Step | Asked | Ended)
        return event

    def _read_picture(self, sha256: str | None) -> bytes | None:
        blob = self.runs.blob(sha256) if sha256 else None
        return None if blob is None or size_problem(picture_size(blob.data)) else blob.data

    def _lost_reason(self, sha256: str | None) -> str:
        if sha256 is None:
            return ""
        if (blob := self.runs.blob(sha256)) is not None:
            return f"its picture {size_problem(picture_size(blob.data))}"
        links = self.runs.links(sha256)
        return "its linked picture is gone or has changed" if links else "its picture is not in this file"

    def _from_cache(self, cache: OrderedDict[Hashable, T], most: int, key: Hashable, make: Callable[[], T]) -> T:
        """Return a cached value, or make and cache it. The least recently used one is dropped."""
        if key in cache:
            cache.move_to_end(key)
        else:
            cache[key] = make()
            if len(cache) > most:
                cache.popitem(last=False)
        return cache[key]


def _step_line(step: Step, *, slip: bool) -> RecordedPlace:
    words = action_words(step.proposed.action, step.before.tree)
    step_marks = ("s" if slip else "") + marks_of_step(step)
    image = _wordless_image(step.before)
    return RecordedPlace("step", step.seq, words, step_marks, _search_text(step), step.started, step.ended, image=image)


def _wordless_image(screen: Observation) -> str:
    """Return the picture of a screen whose tree has no text, empty if it has some, or there is no picture."""
    return screen.image or "" if has_no_text(screen.tree) else ""


def _search_text(step: Step) -> str:
    """Return the searchable text of a step: thought, action, dialogue, error, and the words on the screen."""
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
