"""The list of studies dealt to this person, with what is left of each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from textual import on, work
from textual.message import Message

from lab.core.errors import LabError
from screens.home.studies import OwnStudies, StudyRow, study_rows
from screens.lab import WorkFailed, lab_of, post_if_newest

if TYPE_CHECKING:
    from store.store import Store


class DealtStudies(OwnStudies):
    """List of studies, shown while no study is open."""

    empty = "Reading ..."

    @dataclass
    class Read(Message):
        """Message: the studies were read. `left` is the one that the rater left last."""

        rows: list[StudyRow]
        left: str

    def __init__(self, store: Store, person: str) -> None:
        super().__init__("study-shelf")
        self._store = store
        self._person = person

    def read(self, last_study: str) -> None:
        """Read and show the studies. Move the cursor to `last_study` (id and version) at once, since Enter may come
        first.

        If that study turns out to be done, the cursor then moves to one that is not.
        """
        self.go(self._places().get(last_study, self.cursor))
        self._read(last_study)

    @work(thread=True, exclusive=True)
    def _read(self, last_study: str) -> None:
        try:
            rows = study_rows(self._store, self._person, others=False)
            only = lab_of(self).only_study
            if only is not None:
                rows = [row for row in rows if (row.line.id, row.line.version) == (only.id, only.version)]
            post_if_newest(self, self.Read(rows, last_study))
        except LabError as error:
            self.post_message(WorkFailed(error))

    @on(Read)
    def _show(self, message: Read) -> None:
        last_study = message.left
        self.empty = f"Nothing is dealt to {self._person} in this file. `hitlab study status` says who has what."
        # The person may have moved the cursor since `read`.
        before = next((study for study, at in self._places().items() if at == self.cursor), last_study)
        self.set_rows(message.rows)
        at = self._places().get(before, 0)
        todo = [at for at, row in enumerate(self.rows) if row.state.endswith(" left")]
        self.go(at if at in todo or not todo or before != last_study else todo[0])

    def _places(self) -> dict[str, int]:
        return {f"{row.line.id} v{row.line.version}": at for at, row in enumerate(self.rows)}
