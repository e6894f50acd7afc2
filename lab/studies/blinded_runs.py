"""A unit's runs as a rater may see them: what a study hides is not there, and nothing else of the file is either."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import TYPE_CHECKING

from lab.core.blinding import blinded
from lab.core.errors import LabError
from lab.core.protocol import Show
from lab.core.run_records import Blob, Verdict
from lab.core.step import Observation
from lab.core.study import Study, Unit
from lab.core.trace import AnyEvent, Asked, Ended, Step, Trace, fold
from lab.runs.recorded_run import RecordedRun, RunPlace

if TYPE_CHECKING:
    from store.store import Store


_OF_STEPS: frozenset[Show] = frozenset({"screens", "actions", "thoughts", "dialogue"})
"""What is shown of a run's single steps."""


def shows_runs(study: Study, unit: Unit) -> bool:
    """Whether anything of a unit's runs is shown; not where the unit says all: how many steps there were tells more."""
    return bool(unit.runs) and not (unit.given and not _OF_STEPS & set(study.shown))


class Blinded:
    """Stands before the store. Only the unit's runs are read, each event through the blind door.

    A picture is given out only once an event was read in which it is still named. Safe from any thread. `hides` is
    what is taken out besides, though the study shows it.
    """

    def __init__(self, store: Store, study: Study, unit: Unit, hides: Collection[Show] = ()) -> None:
        self._store = store
        self._runs = frozenset(unit.runs)
        self._named: set[str] = set()
        self.shows = tuple(part for part in study.shown if part not in hides)
        self.ends: dict[str, Ended] = {}
        """How each run ended, as far as that is shown; there once its events were read to their end."""
        self.asked: dict[str, int] = {}
        """The step (from 0) at which each question was asked, as far as it was read."""

    def events(self, trace_id: str, after: int = -1) -> Iterator[AnyEvent]:
        """A run's events in order, blinded; `LabError` where the unit has no such run."""
        if trace_id not in self._runs:
            raise LabError(f"run {trace_id}", "is not in this unit.")
        for event in self._store.runs.events(trace_id, after):
            shown_event = blinded(event, self.shows)
            self._named.update(
                observation.image for observation in _looks(shown_event) if observation.image is not None
            )
            if isinstance(shown_event, Ended):
                self.ends[trace_id] = shown_event
            elif isinstance(shown_event, Step | Asked) and shown_event.question is not None:
                self.asked[shown_event.question.id] = shown_event.index
            yield shown_event

    def trace(self, trace_id: str) -> Trace:
        """A run as its blinded events leave it."""
        return fold(self.events(trace_id))

    def verdicts(self, trace_id: str) -> list[Verdict]:
        """None: what a source judged is an outcome, and often a model's label."""
        return []

    def blob(self, sha256: str) -> Blob | None:
        """A picture that a shown event names; None for any other."""
        return self._store.runs.blob(sha256) if sha256 in self._named else None

    def links(self, sha256: str) -> Sequence[object]:
        """Where a picture that a shown event names stands outside."""
        return self._store.runs.links(sha256) if sha256 in self._named else ()


def _looks(event: AnyEvent) -> Iterator[Observation]:
    """What an event says was seen."""
    if isinstance(event, Step | Asked):
        yield event.before
    elif isinstance(event, Ended) and event.final is not None:
        yield event.final


class RaterReel(RecordedRun):
    """A reel whose lines say no more than the study shows: not how a run ended, nor what was done."""

    def __init__(self, runs: Blinded, trace_id: str) -> None:
        super().__init__(runs, trace_id)
        self._shows = runs.shows

    def read(self) -> Iterator[list[RunPlace]]:
        """As a reel's, with words only for what is shown."""
        for lines in super().read():
            yield [self._hushed(line) for line in lines]

    def _hushed(self, line: RunPlace) -> RunPlace:
        if line.kind == "end":
            return line if "outcome" in self._shows else line._replace(words="")
        return line if "actions" in self._shows else line._replace(words="")
