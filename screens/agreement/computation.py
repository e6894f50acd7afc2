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

from lab.core.agreement import Agreement, How
from lab.core.errors import LabError
from lab.core.rating_sheet import current
from lab.core.report import Grid
from lab.core.study import Study

if TYPE_CHECKING:
    from annotators.agreement.disputes import Dispute
    from annotators.study_data import StudyData
    from lab.studies.agreement_cache import StudyOverview
    from store.agreement_labels import Newest
    from store.store import Store

MOST = 2_000
"""Maximum items in a list. Those that split most evenly come first."""


class Ask(NamedTuple):
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
    class Counted(Message):
        """Message: all numbers, and the newest rows of the file when they were computed.

        `last` marks the cached numbers of the last time, which are being computed again.
        """

        serial: int
        agreements: list[Agreement]
        newest: Newest
        last: bool = False

    @dataclass
    class Gathered(Message):
        """Message: number of answers, people and judges. `open` answers are not submitted."""

        serial: int
        answers: int
        people: int
        judges: int
        open: int

    @dataclass
    class Drawn(Message):
        """Message: pairs and grid of a request."""

        serial: int
        ask: Ask
        pairs: list[Agreement]
        grid: Grid | None
        why: str

    @dataclass
    class Listed(Message):
        """Message: items of a request, out of `all`."""

        serial: int
        ask: Ask
        disputes: list[Dispute]
        all: int

    @dataclass
    class Grown(Message):
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
        ask: Ask | None = None

    def __init__(self, owner: Widget, store: Store) -> None:
        self._owner = owner
        self._store = store
        self._busy = False
        self._waiting: Ask | None = None
        self._cached_study: tuple[Newest, StudyData] | None = None
        self._lock = threading.Lock()
        self._overview: tuple[int, StudyOverview] | None = None
        self._drawing = threading.Lock()
        self.serial = 0
        self.study: Study | None = None
        self.how = How()
        self.newest: Newest | None = None
        """Newest rows of the file when the numbers shown were computed; None before."""

    def open(self, study: Study, how: How) -> None:
        """Compute another study, or the same again."""
        self.serial += 1
        self.study, self.how, self.newest = study, how, None
        self._busy, self._waiting = False, None
        self._run_in_thread(partial(self._compute_numbers, self.serial, study, how))

    def ask(self, ask: Ask) -> None:
        """Compute pairs and grid, or list items."""
        if self.study is None:
            return
        if self._busy:
            self._waiting = ask
        else:
            self._busy = True
            self._run_in_thread(partial(self._compute_request, self.serial, self.study, self.how, ask))

    def done(self) -> None:
        """Finish a request after its result arrived, and start the one that waits."""
        self._busy = False
        wish, self._waiting = self._waiting, None
        if wish is not None:
            self.ask(wish)

    def look(self) -> None:
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

    def _compute_numbers(self, serial: int, study: Study, how: How) -> None:
        from lab.studies.agreement_cache import beside_before, beside_kept, kept_before
        from lab.studies.study_data import agreed

        try:
            newest = self._store.agreement.newest()
            # The numbers of the last time are shown at once, while the new ones are computed.
            before = kept_before(self._store, study, how)
            if before is not None and not self._store.agreement.same_since(study, before[1]):
                self._set_overview(serial, beside_before(self._store, study, how, before[1]))
                self._post(self.Counted(serial, *before, last=True))
                self._post(self.Grown(serial, self._store.labels.newer(study, before[1].label[0])))
            agreements = agreed(self._store, study, how, lambda: self._study_data(serial, study, how))
            overview = beside_kept(self._store, study, how)
            self._set_overview(serial, overview)
        except LabError as error:
            self._post(self.Refused(serial, error))
            return
        self._post(self.Counted(serial, agreements, newest))
        if overview is None:
            self._compute_overview(serial, study, how, agreements)

    def _compute_overview(self, serial: int, study: Study, how: How, agreements: Sequence[Agreement]) -> None:
        """Compute pairs and grids of all requests for the cache. A person's request may go between any two of them."""
        from lab.studies.agreement_cache import beside_or
        from screens.agreement.charts import beside

        try:
            study_data = self._study_data(serial, study, how)
            compute_overview = partial(beside, study_data, agreements, self._drawing, lambda: serial == self.serial)
            self._set_overview(serial, beside_or(self._store, study, how, compute_overview))
        # The overview is only a cache. A request computes what is missing.
        except (LabError, CancelledError):
            return

    def _set_overview(self, serial: int, beside: StudyOverview | None) -> None:
        """Set the cached overview for drawing pairs and grids without reading answers; None if there is none."""
        if serial != self.serial:
            return
        self._overview = None if beside is None else (serial, beside)
        if beside is not None:
            self._post(self.Gathered(serial, beside.answers, beside.people, beside.judges, beside.open))

    def _compute_request(self, serial: int, study: Study, how: How, ask: Ask) -> None:
        if study.protocol.field(ask.field) is None:
            why = f"{ask.field} follows from other answers; nobody is asked for it."
            self._post(self.Listed(serial, ask, [], 0) if ask.listed else self.Drawn(serial, ask, [], None, why))
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

    def _cached_drawing(self, serial: int, ask: Ask) -> Message | None:
        """Return pairs and grid from the cache; None if they are not cached."""
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
        return self.Drawn(serial, ask, pairs, grid.grid, grid.why)

    def _study_data(self, serial: int, study: Study, how: How) -> StudyData:
        """Return the study with its labels. They are read once, and again after new rows."""
        from lab.studies.study_data import gathered

        # Two workers must not read the same study at once.
        with self._lock:
            last = self._cached_study
            if last is None or last[1].study.sha != study.sha or not self._store.agreement.same_since(study, last[0]):
                newest = self._store.agreement.newest()
                last = self._cached_study = (newest, gathered(self._store, study, how))
            study_data = last[1].under(how)
        answers, people, judges = study_data.columns.size, len(study_data.people), len(study_data.judges)
        self._post(self.Gathered(serial, answers, people, judges, study_data.columns.open))
        return study_data

    def _compute_drawing(self, serial: int, study_data: StudyData, ask: Ask) -> Drawn:
        from screens.agreement.charts import drawn, pairs_of

        # `_compute_overview` holds this lock for one piece at a time, so a request waits for one piece at most.
        with self._drawing:
            grid = drawn(study_data, ask.field, ask.one, ask.other)
            return self.Drawn(serial, ask, pairs_of(study_data, ask.field), grid.grid, grid.why)

    def _compute_list(self, serial: int, study_data: StudyData, ask: Ask) -> Listed:
        from annotators.agreement.agreements import disagreeing
        from annotators.agreement.disputes import between, disputes
        from annotators.agreement.pairs import CATEGORICAL

        places: Sequence[tuple[str, str]] = disagreeing(study_data, ask.field, ask.cell, ask.one, ask.other)
        field = study_data.study.protocol.field(ask.field)
        if ask.one and ask.one != "truth" and field is not None and field.kind not in CATEGORICAL:
            places_between = between(disputes(study_data, ask.field, places), ask.one, ask.other)
            return self.Listed(serial, ask, places_between[:MOST], len(places_between))
        return self.Listed(serial, ask, list(disputes(study_data, ask.field, places[:MOST])), len(places))

    def _check_newer(self, serial: int, study: Study, before: Newest) -> None:
        try:
            if not self._store.agreement.same_since(study, before):
                self._post(self.Grown(serial, self._store.labels.newer(study, before.label[0])))
        except LabError as error:
            self._post(self.Refused(serial, error))

    def _find_place(self, serial: int, study: Study, dispute: Dispute, field: str) -> None:
        try:
            run, step = place_in(self._store, study, dispute, field)
        except LabError as error:
            self._post(self.Refused(serial, error, Ask(field, listed=True)))
        else:
            self._post(self.Found(run, step))


def place_in(store: Store, study: Study, dispute: Dispute, field: str) -> tuple[str, int]:
    """Return the run and step (from 1) of an item.

    It is the evidence of a rater in the minority, else of any rater, else the item's own step.
    """
    unit = store.studies.unit(study, dispute.unit)
    if not unit.runs:
        raise LabError(f"item {dispute.unit}", "has no run to be replayed.", "Adjudicate shows it where it is settled.")
    least_first = [answer.rater for answer in reversed(dispute.said)]
    texts = {
        label.rater.id: label.evidence
        for label in current(store.labels.read(study, unit=unit.id))
        if (label.target, label.field, label.run) == (dispute.target, field, 1) and label.evidence
    }
    for rater in least_first:
        if rater in texts:
            run, _, step = texts[rater].rpartition("@")
            return store.runs.find(run), int(step)
    target = next((target for target in unit.targets if target.id == dispute.target), None)
    step_in = target.step if target is not None and target.step is not None else unit.step
    return store.runs.find(unit.runs[0]), 1 if step_in is None else step_in + 1
