"""Computation of a study's agreement, for a thread: all numbers, then pairs, grids and items on request."""

from __future__ import annotations

import threading
from collections.abc import Callable, Generator, Sequence
from concurrent.futures import CancelledError
from contextlib import AbstractContextManager
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from textual.worker import get_current_worker

from lab.core.errors import LabError
from lab.core.study.agreement import Agreement, IntervalTerms
from lab.core.study.rating_sheet import current_labels
from lab.core.study.report import Grid
from lab.core.study.study import Study
from screens.agreement.rows import raters_of

if TYPE_CHECKING:
    from annotators.agreement.ratings.disputes import Dispute
    from annotators.study_data import StudyData
    from lab.studies.progress.agreement_cache import AnswerGrid, StudyOverview
    from store.store import Store
    from store.studies.agreement_labels import FilePosition

MOST_GRIDS = 1_000
"""Maximum grids computed in advance, because many raters make more pairs than anyone opens."""
MOST = 2_000
"""Maximum items in a list. Those that split most evenly come first."""


class ChartRequest(NamedTuple):
    """A request about one field: pairs and grid, of all raters or of `one` and `other`.

    With `listed` it is for the items, of one `cell` of the grid or of all.
    """

    field: str
    one: str = ""
    other: str = ""
    listed: bool = False
    cell: tuple[str, str] | None = None


class StudyNumbers(NamedTuple):
    """All numbers, and the newest rows of the file when they were computed.

    `last` marks the cached numbers of the last time, which are being computed again.
    """

    agreements: list[Agreement]
    newest: FilePosition
    last: bool = False


class StudyCounts(NamedTuple):
    """Number of answers, people and judges. `open` answers are not submitted."""

    answers: int
    people: int
    judges: int
    open: int


class NewerRows(NamedTuple):
    """Rows newer than the numbers, with the number of new labels of this study (0 if only acts)."""

    labels: int


class Charts(NamedTuple):
    """Pairs and grid of a request, or the reason why there is no grid."""

    ask: ChartRequest
    pairs: list[Agreement]
    grid: Grid | None
    why: str


class DisputedList(NamedTuple):
    """Items of a request, out of `all`."""

    ask: ChartRequest
    disputes: list[Dispute]
    all: int


def cached_charts(overview: StudyOverview | None, ask: ChartRequest) -> Charts | None:
    """Return pairs and grid from the cached overview, or None if they are not in it."""
    pairs = overview.pairs.get(ask.field) if overview is not None else None
    if overview is None or pairs is None:
        return None
    for grid in overview.grids:
        if (grid.field, grid.one, grid.other) == (ask.field, ask.one, ask.other):
            return Charts(ask, pairs, grid.grid, grid.why)
    return None


class AgreementComputation:
    """Reads the labels of one study at a time, once for all that is computed from them. Use it in threads."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._cached_study: tuple[FilePosition, StudyData] | None = None
        self._lock = threading.Lock()
        self._drawing = threading.Lock()

    def compute_numbers(
        self, study: Study, how: IntervalTerms
    ) -> Generator[StudyOverview | StudyNumbers | NewerRows | StudyCounts, None, None]:
        """Yield the numbers of the last time, if newer rows made them outdated, then those of now.

        An overview comes before its numbers if it is cached, and else at the end.
        """
        from lab.studies.progress.agreement_cache import (
            cached_overview,
            last_agreements,
            last_overview,
            stored_overview,
        )
        from lab.studies.progress.study_data import study_agreements

        newest = self._store.agreement.position()
        before = last_agreements(self._store, study, how)
        if before is None or not self._store.agreement.same_since(study, before[1]):
            if before is not None:
                overview = last_overview(self._store, study, how, before[1])
                if overview is not None:
                    yield overview
                yield StudyNumbers(*before, last=True)
                yield NewerRows(self._store.labels.count_newer(study, before[1].label[0]))
            yield _counts(self._study_data(study, how))
        agreements = study_agreements(self._store, study, how, partial(self._study_data, study, how))
        overview = stored_overview(self._store, study, how)
        if overview is not None:
            yield overview
        yield StudyNumbers(agreements, newest)
        if overview is not None:
            return
        # Pairs and grids of all requests, for the cache. A person's request may go between any two of them.
        worker = get_current_worker()
        try:
            study_data = self._study_data(study, how)
            yield _counts(study_data)
            compute = partial(build_overview, study_data, agreements, self._drawing, lambda: not worker.is_cancelled)
            yield cached_overview(self._store, study, how, compute)
        except (LabError, CancelledError):
            return  # A request computes what is missing.

    def compute_charts(self, study: Study, how: IntervalTerms, ask: ChartRequest) -> Charts:
        """Compute pairs and grid of a request."""
        study_data = self._study_data(study, how)
        # The overview is computed with this lock for one piece at a time, so a request waits for one piece at most.
        with self._drawing:
            grid = confusion_of(study_data, ask.field, ask.one, ask.other)
            return Charts(ask, pairs_of(study_data, ask.field), grid.grid, grid.why)

    def list_items(self, study: Study, how: IntervalTerms, ask: ChartRequest) -> DisputedList:
        """List the items of a request."""
        from annotators.agreement.agreements import disputed_places
        from annotators.agreement.ratings.disputes import disputes, disputes_between
        from annotators.agreement.ratings.fields import CATEGORICAL

        study_data = self._study_data(study, how)
        places: Sequence[tuple[str, str]] = disputed_places(study_data, ask.field, ask.cell, ask.one, ask.other)
        field = study_data.study.protocol.field(ask.field)
        if ask.one and ask.one != "truth" and field is not None and field.kind not in CATEGORICAL:
            places_between = disputes_between(disputes(study_data, ask.field, places), ask.one, ask.other)
            return DisputedList(ask, places_between[:MOST], len(places_between))
        return DisputedList(ask, list(disputes(study_data, ask.field, places[:MOST])), len(places))

    def _study_data(self, study: Study, how: IntervalTerms) -> StudyData:
        """Return the study with its labels. They are read once, and again after new rows."""
        from lab.studies.progress.study_data import load_study_data

        # Two workers must not read the same study at once.
        with self._lock:
            last = self._cached_study
            if last is None or last[1].study.sha != study.sha or not self._store.agreement.same_since(study, last[0]):
                newest = self._store.agreement.position()
                last = self._cached_study = (newest, load_study_data(self._store, study, how))
            return last[1].with_interval_method(how)


def _counts(study_data: StudyData) -> StudyCounts:
    columns = study_data.columns
    return StudyCounts(columns.size, len(study_data.people), len(study_data.judges), columns.open)


def pairs_of(study_data: StudyData, field: str) -> list[Agreement]:
    """Return the coefficients of each rater pair in a field, empty if it has none."""
    from annotators.agreement.agreements import agreements_by_pair

    def compute() -> list[Agreement]:
        try:
            return agreements_by_pair(study_data, field)
        except LabError:
            return []

    pairs: list[Agreement] = study_data.cached(("pairs", field, study_data.how), compute)
    return pairs


def confusion_of(study_data: StudyData, field: str, one: str = "", other: str = "") -> AnswerGrid:
    """Return a confusion matrix, or the reason why there is none."""
    from annotators.agreement.agreements import confusion
    from lab.studies.progress.agreement_cache import AnswerGrid

    try:
        grid = confusion(study_data, field, one, other)
    except LabError as error:
        return AnswerGrid(field, one, other, None, error.body)
    if not any(map(any, grid.counts)):
        return AnswerGrid(field, one, other, None, "No two answers came together at an item.")
    return AnswerGrid(field, one, other, grid)


def build_overview(
    study_data: StudyData,
    agreements: Sequence[Agreement],
    turn: AbstractContextManager[object],
    is_wanted: Callable[[], bool],
) -> StudyOverview:
    """Compute all pairs and grids beside these numbers, each piece in a `turn` of its own.

    Raise `CancelledError` once `is_wanted` returns False.
    """
    from lab.studies.progress.agreement_cache import StudyOverview

    fields = [field.id for field in study_data.study.protocol.fields]
    pairs: dict[str, list[Agreement]] = {}
    grids: list[AnswerGrid] = []
    asks = dict.fromkeys(
        (agreement.field, *raters_of(agreement)) for agreement in agreements if agreement.field in fields
    )
    for field in fields:
        _check_wanted(is_wanted)
        with turn:
            pairs[field] = pairs_of(study_data, field)
        asks |= dict.fromkeys((field, *raters_of(agreement)) for agreement in pairs[field])
    for ask in list(asks)[:MOST_GRIDS]:
        _check_wanted(is_wanted)
        with turn:
            grids.append(confusion_of(study_data, *ask))
    columns = study_data.columns
    return StudyOverview(columns.size, len(study_data.people), len(study_data.judges), columns.open, pairs, grids)


def _check_wanted(is_wanted: Callable[[], bool]) -> None:
    if not is_wanted():
        raise CancelledError


def count_newer_rows(store: Store, study: Study, before: FilePosition) -> NewerRows | None:
    """Count the rows newer than a position of the file. Return None if nothing changed."""
    if store.agreement.same_since(study, before):
        return None
    return NewerRows(store.labels.count_newer(study, before.label[0]))


def evidence_place(store: Store, study: Study, dispute: Dispute, field: str) -> tuple[str, int]:
    """Return the run and step (from 1) of an item.

    It is the evidence of a rater in the minority, else of any rater, else the item's own step.
    """
    unit = store.studies.unit(study, dispute.unit)
    if not unit.runs:
        raise LabError(f"item {dispute.unit}", "has no run to be replayed.", "Adjudicate shows it where it is settled.")
    least_first = [answer.rater for answer in reversed(dispute.answers)]
    texts = {
        label.rater.id: label.evidence
        for label in current_labels(store.labels.read(study, unit=unit.id))
        if (label.target, label.field, label.run) == (dispute.target, field, 1) and label.evidence
    }
    for rater in least_first:
        if rater in texts:
            run, _, step = texts[rater].rpartition("@")
            return store.runs.find(run), int(step)
    target = next((target for target in unit.targets if target.id == dispute.target), None)
    step_in = target.step if target is not None and target.step is not None else unit.step
    return store.runs.find(unit.runs[0]), 1 if step_in is None else step_in + 1
