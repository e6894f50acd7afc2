"""The studies in which something is dealt to this person: what is left of each, and Enter to go on."""

from __future__ import annotations

from collections.abc import Sequence

from screens.studies import Studies, StudyRow


class Shelf(Studies):
    """Stands where no study is open."""

    empty = "Reading ..."

    def __init__(self) -> None:
        super().__init__("study-shelf")

    def show(self, rows: Sequence[StudyRow], person: str, left: str = "") -> None:
        """Lists others; the cursor stands on the study that was `left`, or where that is done on one that is not."""
        self.rows = list(rows)
        self.empty = f"Nothing is dealt to {person} in this file. `hitlab study status` says who has what."
        self.changed()
        was = next((at for at, row in enumerate(self.rows) if f"{row.line.id} v{row.line.version}" == left), 0)
        todo = [at for at, row in enumerate(self.rows) if row.state.endswith(" left")]
        self.go(was if was in todo or not todo else todo[0])
