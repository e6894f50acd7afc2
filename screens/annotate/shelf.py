"""The studies in which something is dealt to this person: what is left of each, and Enter to go on."""

from __future__ import annotations

from collections.abc import Sequence

from screens.studies import Studies, StudyRow


class Shelf(Studies):
    """Stands where no study is open."""

    empty = "Reading ..."

    def __init__(self) -> None:
        super().__init__("study-shelf")

    def show(self, rows: Sequence[StudyRow], person: str) -> None:
        """Lists others."""
        self.rows = list(rows)
        self.empty = f"Nothing is dealt to {person} in this file. `hitlab study status` says who has what."
        self.changed()
