"""Read a study's progress off the UI thread, repeatedly."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from textual.message import Message
from textual.widget import Widget

from lab.core.errors import LabError
from lab.core.study import Study
from lab.core.study_progress import StudyProgress

if TYPE_CHECKING:
    from lab.studies.study_progress import ProgressReader
    from store.store import Store


class ProgressComputation:
    """Posts to `owner` the progress of the open study. The serial identifies results of a study opened earlier."""

    @dataclass
    class Read(Message):
        """Message: the study's progress."""

        serial: int
        progress: StudyProgress

    @dataclass
    class Refused(Message):
        """Message: the study cannot be read, or its file is only a kit."""

        serial: int
        error: LabError

    def __init__(self, owner: Widget, store: Store) -> None:
        self._owner = owner
        self._store = store
        self._reader: ProgressReader | None = None
        self.busy = False
        """True while the file is being read."""
        self.serial = 0
        self.study: Study | None = None

    def open(self, study: Study) -> None:
        """Switch to another study."""
        self.serial += 1
        self.study, self.busy = study, False
        self.read()

    def read(self) -> None:
        """Read the progress now, unless a reading is under way."""
        if self.study is not None and not self.busy:
            self.busy = True
            serial, study = self.serial, self.study
            self._owner.run_worker(
                lambda: self._read_progress(serial, study), thread=True, group="progress", exclusive=True
            )

    def _read_progress(self, serial: int, study: Study) -> None:
        from lab.studies.study_progress import ProgressReader, check_whole

        try:
            check_whole(self._store, f"study {study.name}")
            reader = self._reader or ProgressReader(self._store)
            progress = reader.read(study)
        except LabError as error:
            self._owner.post_message(self.Refused(serial, error))
        else:
            self._reader = reader
            self._owner.post_message(self.Read(serial, progress))
