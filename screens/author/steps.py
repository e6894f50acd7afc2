"""A run's steps beside a design: the replay's list, with a mark where the item under the cursor was seen."""

from __future__ import annotations

from textual.content import Content

from screens.replay.timeline import Timeline


class Steps(Timeline):
    """The run's steps; those that the item under the cursor was seen in are marked."""

    HELP = f"""{Timeline.HELP}
**◆** the item under the cursor was seen in this step: `e` keeps the step shown, or no longer, `E` goes to the next.
"""

    def __init__(self, id: str) -> None:
        super().__init__(id=id)
        self.covered: frozenset[int] = frozenset()

    def cover(self, steps: frozenset[int]) -> None:
        """Marks other steps, counted from 0."""
        others, self.covered = steps ^ self.covered, steps
        self.changed_at(*others)

    def paint(self, index: int, width: int) -> Content:
        line = super().paint(index, width)
        if index not in self.covered:
            return line
        digits = len(str(len(self.rows)))
        return Content.assemble(line[:digits], ("◆", "bold $text-success"), line[digits + 1 :])
