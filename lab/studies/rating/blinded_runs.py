"""A unit's runs as its rater may see them: without what the study hides, and nothing else of the file."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import TYPE_CHECKING

from lab.core.errors import LabError
from lab.core.run.run_records import Blob, Verdict
from lab.core.run.step import Observation
from lab.core.run.trace import AnyEvent, Asked, Ended, Step, Trace, fold
from lab.core.study.blinding import blind_event
from lab.core.study.protocol import Show
from lab.core.study.study import Study, Unit
from lab.runs.replay.recorded_run import RecordedPlace, RecordedRun

if TYPE_CHECKING:
    from store.store import Store


_OF_STEPS: frozenset[Show] = frozenset({"screens", "actions", "thoughts", "dialogue"})
"""The parts that show single steps."""


def shows_runs(study: Study, unit: Unit) -> bool:
    """Return True if the rater may see anything of the unit's runs."""
    # A unit with texts of its own (`given`) and no steps shown stays without runs: the number of steps would reveal
    # more.
    return bool(unit.runs) and not (unit.given and not _OF_STEPS & set(study.visible_parts))


class Blinded:
    """Read-only view of the store: only the unit's runs, each event blinded.

    It serves a screenshot only after reading an event that names it in its blinded form. Thread-safe. `hides` removes
    parts that the study shows.
    """

    def __init__(self, store: Store, study: Study, unit: Unit, hides: Collection[Show] = ()) -> None:
        self._store = store
        self._runs = frozenset(unit.runs)
        self._named: set[str] = set()
        self.shows = tuple(part for part in study.visible_parts if part not in hides)
        self.ends: dict[str, Ended] = {}
        """How each run ended, as far as shown, set once its events were read to the end."""
        self.asked: dict[str, int] = {}
        """Step (from 0) at which each question was asked, of the events read so far."""

    def events(self, trace_id: str, after: int = -1) -> Iterator[AnyEvent]:
        """Yield a run's events in order, blinded. Raise `LabError` if the run is not of this unit."""
        if trace_id not in self._runs:
            raise LabError(f"run {trace_id}", "is not in this unit.")
        for event in self._store.runs.events(trace_id, after):
            shown_event = blind_event(event, self.shows)
            # A picture's hash alone opens nothing: an event in its blinded form must name it.
            self._named.update(
                observation.image for observation in _observations(shown_event) if observation.image is not None
            )
            if isinstance(shown_event, Ended):
                self.ends[trace_id] = shown_event
            elif isinstance(shown_event, Step | Asked) and shown_event.question is not None:
                self.asked[shown_event.question.id] = shown_event.index
            yield shown_event

    def trace(self, trace_id: str) -> Trace:
        """Return the run folded from its blinded events."""
        return fold(self.events(trace_id))

    def verdicts(self, trace_id: str) -> list[Verdict]:
        """Return no verdicts: a source's judgement is an outcome, and often a model's label."""
        return []

    def blob(self, sha256: str) -> Blob | None:
        """Return a screenshot that a blinded event names, None for any other."""
        return self._store.runs.blob(sha256) if sha256 in self._named else None

    def links(self, sha256: str) -> Sequence[object]:
        """Return the outside locations of a screenshot that a blinded event names."""
        return self._store.runs.links(sha256) if sha256 in self._named else ()


def _observations(event: AnyEvent) -> Iterator[Observation]:
    """Yield the observations in an event."""
    if isinstance(event, Step | Asked):
        yield event.before
    elif isinstance(event, Ended) and event.final is not None:
        yield event.final


class RaterReel(RecordedRun):
    """A recorded run whose lines omit what the study hides: the outcome, the actions."""

    def __init__(self, runs: Blinded, trace_id: str) -> None:
        super().__init__(runs, trace_id)
        self._shows = runs.shows

    def read(self) -> Iterator[list[RecordedPlace]]:
        """Yield the run's lines, with words only for what is shown."""
        for lines in super().read():
            yield [self._hide_words(line) for line in lines]

    def _hide_words(self, line: RecordedPlace) -> RecordedPlace:
        if line.kind == "end":
            return line if "outcome" in self._shows else line._replace(words="")
        return line if "actions" in self._shows else line._replace(words="")
