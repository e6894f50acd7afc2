"""The list of studies dealt to this person, with what is left of each."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.message import Message

from screens.background import Background
from screens.home.studies import OwnStudies, StudyRow, study_rows
from screens.lab import lab_of

if TYPE_CHECKING:
    from store.store import Store


class DealtStudies(OwnStudies):
    """List of studies, shown while no study is open."""

    empty = "Reading ..."

    class Listed(Message):
        """Message: the studies were read and are listed."""

    def __init__(self, store: Store, person: str) -> None:
        super().__init__("study-shelf")
        self._store = store
        self._person = person
        self._last_study = ""
        """Study that the rater left last (id and version), empty for none."""
        self._reading = Background(self, self._show)

    def read(self, last_study: str) -> None:
        """Read and show the studies. Move the cursor to `last_study` (id and version) at once, since Enter may come
        first.

        If that study turns out to be done, the cursor then moves to one that is not.
        """
        self.go(self._places().get(last_study, self.cursor))
        self._last_study = last_study
        self._reading.start(self._read_rows)

    def _read_rows(self) -> list[StudyRow]:
        rows = study_rows(self._store, self._person, others=False)
        only = lab_of(self).only_study
        return [row for row in rows if only is None or (row.line.id, row.line.version) == (only.id, only.version)]

    def _show(self, rows: list[StudyRow]) -> None:
        last_study = self._last_study
        self.empty = f"Nothing is dealt to {self._person} in this file. `hitlab study status` says who has what."
        # The person may have moved the cursor since `read`.
        before = next((study for study, at in self._places().items() if at == self.cursor), last_study)
        self.set_rows(rows)
        at = self._places().get(before, 0)
        todo = [at for at, row in enumerate(self.rows) if row.state.endswith(" left")]
        self.go(at if at in todo or not todo or before != last_study else todo[0])
        self.post_message(self.Listed())

    def _places(self) -> dict[str, int]:
        return {f"{row.line.id} v{row.line.version}": at for at, row in enumerate(self.rows)}
