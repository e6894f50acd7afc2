"""Compute each rater's numbers off the UI thread, and poll for newer answers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from textual.message import Message
from textual.widget import Widget

from annotators.rater_numbers import RaterNumbers
from lab.core.errors import LabError
from lab.core.study import Study

if TYPE_CHECKING:
    from store.agreement_labels import FilePosition
    from store.store import Store


class RatersComputation:
    """Posts to `owner` the numbers of the open study. The serial identifies results of a study opened earlier."""

    @dataclass
    class Counted(Message):
        """Message: each rater's numbers, and the newest rows of the file when they were read."""

        serial: int
        raters: list[RaterNumbers]
        newest: FilePosition

    @dataclass
    class Grown(Message):
        """Message: new rows since then, with the number of new labels of this study (0 if only acts)."""

        serial: int
        labels: int

    @dataclass
    class Refused(Message):
        """Message: something cannot be read or computed."""

        serial: int
        error: LabError

    def __init__(self, owner: Widget, store: Store) -> None:
        self._owner = owner
        self._store = store
        self._polling = False
        self.serial = 0
        self.study: Study | None = None
        self.newest: FilePosition | None = None

    def open(self, study: Study) -> None:
        """Compute a study's numbers, or compute them again."""
        self.serial += 1
        self.study, self.newest = study, None
        self._run_in_thread(partial(self._compute_numbers, self.serial, study))

    def look(self) -> None:
        """Poll for newer rows."""
        if self.study is not None and self.newest is not None and not self._polling:
            self._polling = True
            self._run_in_thread(partial(self._check_newer, self.serial, self.study, self.newest))

    # -- off the UI thread -----------------------------------------------------------------------------------

    def _run_in_thread(self, work: Callable[[], None]) -> None:
        self._owner.run_worker(work, thread=True)

    def _compute_numbers(self, serial: int, study: Study) -> None:
        from annotators.raters import raters_of
        from lab.studies.study_data import load_study_data

        try:
            # Read before the answers, so that one that arrives in between counts as newer.
            newest = self._store.agreement.position()
            rater_list = raters_of(load_study_data(self._store, study))
        except LabError as error:
            self._owner.post_message(self.Refused(serial, error))
        else:
            self._owner.post_message(self.Counted(serial, rater_list, newest))

    def _check_newer(self, serial: int, study: Study, before: FilePosition) -> None:
        try:
            if not self._store.agreement.same_since(study, before):
                self._owner.post_message(self.Grown(serial, self._store.labels.count_newer(study, before.label[0])))
        except LabError as error:
            self._owner.post_message(self.Refused(serial, error))
        finally:
            self._polling = False
