"""The studies in which something is dealt to this person: what is left of each, and Enter to go on."""

from __future__ import annotations

from collections.abc import Sequence

from screens.home.studies import StudyRow, StudyTable


class DealtStudies(StudyTable):
    """Stands where no study is open."""

    empty = "Reading ..."

    def __init__(self) -> None:
        super().__init__("study-shelf")

    def stand_on(self, study: str) -> None:
        """Puts the cursor on a study (its id and version) at once: Enter may come before the list is read again."""
        self.go(self._places().get(study, self.cursor))

    def show(self, rows: Sequence[StudyRow], person: str, left: str = "") -> None:
        """Lists others; the cursor stays on its study, but goes from the one that was `left`, where that is done,
        to one that is not."""
        self.empty = f"Nothing is dealt to {person} in this file. `hitlab study status` says who has what."
        before = next((study for study, at in self._places().items() if at == self.cursor), left)
        self.set_rows(rows)
        at = self._places().get(before, 0)
        todo = [at for at, row in enumerate(self.rows) if row.state.endswith(" left")]
        self.go(at if at in todo or not todo or before != left else todo[0])

    def _places(self) -> dict[str, int]:
        return {f"{row.line.id} v{row.line.version}": at for at, row in enumerate(self.rows)}
