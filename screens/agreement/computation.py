"""Compute a study's agreement off the UI thread: all numbers, then pairs, grids and items on request."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import CancelledError
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from textual.message import Message
from textual.widget import Widget

from lab.core.errors import LabError
from lab.core.study.agreement import Agreement, IntervalTerms
from lab.core.study.rating_sheet import current_labels
from lab.core.study.report import Grid
from lab.core.study.study import Study

if TYPE_CHECKING:
    from annotators.agreement.ratings.disputes import Dispute
    from annotators.study_data import StudyData
    from lab.studies.progress.agreement_cache import StudyOverview
    from store.store import Store
    from store.studies.agreement_labels import FilePosition

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


class AgreementComputation:
    """Posts to `owner` the results of the open study. The serial identifies results of a study opened earlier.

    Only one request is computed at a time. Meanwhile only the newest other request waits.
    """

    @dataclass
    class NumbersComputed(Message):
        """Message: all numbers, and the newest rows of the file when they were computed.

        `last` marks the cached numbers of the last time, which are being computed again.
        """

        serial: int
        agreements: list[Agreement]
        newest: FilePosition
        last: bool = False

    @dataclass
    class CountsRead(Message):
        """Message: number of answers, people and judges. `open` answers are not submitted."""

        serial: int
        answers: int
        people: int
        judges: int
        open: int

    @dataclass
    class ChartsComputed(Message):
        """Message: pairs and grid of a request."""

        serial: int
        ask: ChartRequest
        pairs: list[Agreement]
        grid: Grid | None
        why: str

    @dataclass
    class Listed(Message):
        """Message: items of a request, out of `all`."""

        serial: int
        ask: ChartRequest
        disputes: list[Dispute]
        all: int

    @dataclass
    class NewRows(Message):
        """Message: new rows since then, with the number of new labels of this study (0 if only acts)."""

        serial: int
        labels: int

    @dataclass
    class Found(Message):
        """Message: run and step (from 1) at which an item was judged."""

        run: str
        step: int

    @dataclass
    class Refused(Message):
        """Message: something cannot be read or computed."""

        serial: int
        error: LabError
        ask: ChartRequest | None = None

    def __init__(self, owner: Widget, store: Store) -> None:
        self._owner = owner
        self._store = store
        self._busy = False
        self._waiting: ChartRequest | None = None
        self._cached_study: tuple[FilePosition, StudyData] | None = None
        self._lock = threading.Lock()
        self._overview: tuple[int, StudyOverview] | None = None
        self._drawing = threading.Lock()
        self.serial = 0
        self.study: Study | None = None
        self.how = IntervalTerms()
        self.newest: FilePosition | None = None
        """Newest rows of the file when the numbers shown were computed, or None before."""

    def open(self, study: Study, how: IntervalTerms) -> None:
        """Compute another study, or the same again."""
        self.serial += 1
        self.study, self.how, self.newest = study, how, None
        self._busy, self._waiting = False, None
        self._run_in_thread(partial(self._compute_numbers, self.serial, study, how))

    def ask(self, ask: ChartRequest) -> None:
        """Compute pairs and grid, or list items."""
        if self.study is None:
            return
        if self._busy:
            self._waiting = ask
        else:
            self._busy = True
            self._run_in_thread(partial(self._compute_request, self.serial, self.study, self.how, ask))

    def finish(self) -> None:
        """Finish a request after its result arrived, and start the one that waits."""
        self._busy = False
        wish, self._waiting = self._waiting, None
        if wish is not None:
            self.ask(wish)

    def poll(self) -> None:
        """Poll for rows newer than the numbers."""
        if self.study is not None and self.newest is not None:
            self._run_in_thread(partial(self._check_newer, self.serial, self.study, self.newest))

    def find(self, dispute: Dispute, field: str) -> None:
        """Find where an item was judged."""
        if self.study is not None:
            self._run_in_thread(partial(self._find_place, self.serial, self.study, dispute, field))

    # -- off the UI thread -----------------------------------------------------------------------------------

    def _run_in_thread(self, work: Callable[[], None]) -> None:
        self._owner.run_worker(work, thread=True)

    def _post(self, message: Message) -> None:
        self._owner.post_message(message)

    def _compute_numbers(self, serial: int, study: Study, how: IntervalTerms) -> None:
        from lab.studies.progress.agreement_cache import last_agreements, last_overview, stored_overview
        from lab.studies.progress.study_data import study_agreements

        try:
            newest = self._store.agreement.position()
            # The numbers of the last time are shown at once, while the new ones are computed.
            before = last_agreements(self._store, study, how)
            if before is not None and not self._store.agreement.same_since(study, before[1]):
                self._set_overview(serial, last_overview(self._store, study, how, before[1]))
                self._post(self.NumbersComputed(serial, *before, last=True))
                self._post(self.NewRows(serial, self._store.labels.count_newer(study, before[1].label[0])))
            agreements = study_agreements(self._store, study, how, lambda: self._study_data(serial, study, how))
            overview = stored_overview(self._store, study, how)
            self._set_overview(serial, overview)
        except LabError as error:
            self._post(self.Refused(serial, error))
            return
        self._post(self.NumbersComputed(serial, agreements, newest))
        if overview is None:
            self._compute_overview(serial, study, how, agreements)

    def _compute_overview(self, serial: int, study: Study, how: IntervalTerms, agreements: Sequence[Agreement]) -> None:
        """Compute pairs and grids of all requests for the cache. A person's request may go between any two of them."""
        from lab.studies.progress.agreement_cache import cached_overview
        from screens.agreement.charts import build_overview

        try:
            study_data = self._study_data(serial, study, how)
            compute_overview = partial(
                build_overview, study_data, agreements, self._drawing, lambda: serial == self.serial
            )
            self._set_overview(serial, cached_overview(self._store, study, how, compute_overview))
        # The overview is only a cache. A request computes what is missing.
        except (LabError, CancelledError):
            return

    def _set_overview(self, serial: int, beside: StudyOverview | None) -> None:
        """Set the cached overview for drawing pairs and grids without reading answers, or None if there is none."""
        if serial != self.serial:
            return
        self._overview = None if beside is None else (serial, beside)
        if beside is not None:
            self._post(self.CountsRead(serial, beside.answers, beside.people, beside.judges, beside.open))

    def _compute_request(self, serial: int, study: Study, how: IntervalTerms, ask: ChartRequest) -> None:
        if study.protocol.field(ask.field) is None:
            why = f"{ask.field} follows from other answers; nobody is asked for it."
            self._post(
                self.Listed(serial, ask, [], 0) if ask.listed else self.ChartsComputed(serial, ask, [], None, why)
            )
            return
        try:
            message = None if ask.listed else self._cached_drawing(serial, ask)
            if message is None:
                study_data = self._study_data(serial, study, how)
                message = (
                    self._compute_list(serial, study_data, ask)
                    if ask.listed
                    else self._compute_drawing(serial, study_data, ask)
                )
            self._post(message)
        except LabError as error:
            self._post(self.Refused(serial, error, ask))

    def _cached_drawing(self, serial: int, ask: ChartRequest) -> Message | None:
        """Return pairs and grid from the cache, or None if they are not cached."""
        last = self._overview
        if last is None or last[0] != serial:
            return None
        grids = (
            overview_grid
            for overview_grid in last[1].grids
            if (overview_grid.field, overview_grid.one, overview_grid.other) == (ask.field, ask.one, ask.other)
        )
        grid = next(grids, None)
        pairs = last[1].pairs.get(ask.field)
        if grid is None or pairs is None:
            return None
        return self.ChartsComputed(serial, ask, pairs, grid.grid, grid.why)

    def _study_data(self, serial: int, study: Study, how: IntervalTerms) -> StudyData:
        """Return the study with its labels. They are read once, and again after new rows."""
        from lab.studies.progress.study_data import load_study_data

        # Two workers must not read the same study at once.
        with self._lock:
            last = self._cached_study
            if last is None or last[1].study.sha != study.sha or not self._store.agreement.same_since(study, last[0]):
                newest = self._store.agreement.position()
                last = self._cached_study = (newest, load_study_data(self._store, study, how))
            study_data = last[1].with_interval_method(how)
        answers, people, judges = study_data.columns.size, len(study_data.people), len(study_data.judges)
        self._post(self.CountsRead(serial, answers, people, judges, study_data.columns.open))
        return study_data

    def _compute_drawing(self, serial: int, study_data: StudyData, ask: ChartRequest) -> ChartsComputed:
        from screens.agreement.charts import confusion_of, pairs_of

        # `_compute_overview` holds this lock for one piece at a time, so a request waits for one piece at most.
        with self._drawing:
            grid = confusion_of(study_data, ask.field, ask.one, ask.other)
            return self.ChartsComputed(serial, ask, pairs_of(study_data, ask.field), grid.grid, grid.why)

    def _compute_list(self, serial: int, study_data: StudyData, ask: ChartRequest) -> Listed:
        from annotators.agreement.agreements import disputed_places
        from annotators.agreement.ratings.disputes import disputes, disputes_between
        from annotators.agreement.ratings.fields import CATEGORICAL

        places: Sequence[tuple[str, str]] = disputed_places(study_data, ask.field, ask.cell, ask.one, ask.other)
        field = study_data.study.protocol.field(ask.field)
        if ask.one and ask.one != "truth" and field is not None and field.kind not in CATEGORICAL:
            places_between = disputes_between(disputes(study_data, ask.field, places), ask.one, ask.other)
            return self.Listed(serial, ask, places_between[:MOST], len(places_between))
        return self.Listed(serial, ask, list(disputes(study_data, ask.field, places[:MOST])), len(places))

    def _check_newer(self, serial: int, study: Study, before: FilePosition) -> None:
        try:
            if not self._store.agreement.same_since(study, before):
                self._post(self.NewRows(serial, self._store.labels.count_newer(study, before.label[0])))
        except LabError as error:
            self._post(self.Refused(serial, error))

    def _find_place(self, serial: int, study: Study, dispute: Dispute, field: str) -> None:
        try:
            run, step = evidence_place(self._store, study, dispute, field)
        except LabError as error:
            self._post(self.Refused(serial, error, ChartRequest(field, listed=True)))
        else:
            self._post(self.Found(run, step))


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
