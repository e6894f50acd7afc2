"""The list of what is, or may be, covered."""

from __future__ import annotations

from collections.abc import Sequence

from textual.content import Content

from screens.describe import one_line
from screens.lines import Lines
from screens.review.covering import Find

_WHAT = {"words": "everywhere", "box": "box", "typed": "typed", "text": ""}


class Finds(Lines):
    """What is covered (■) and what may be (□): what looks private, what was typed here, and the screen's texts."""

    HELP = """\
# What is private

**■** is to be covered (dim: because of its words), **□** not yet. First come the words to be covered all over the run
and the boxes of this step, then what looks private anywhere in the run, then what was typed in this step and every text
on its screen. **Space** turns a line; of a text on the screen it covers the box, with what the tree holds under it.
Drag on the phone to draw a box, click to cover what is under the pointer, **w** to type words. Nothing is done before
**R** is pressed twice; then the original is destroyed. **C** says that nothing private is left.
"""
    empty = "Nothing was recorded here that could be read. Drag a box on the phone, or w types words."

    def __init__(self) -> None:
        super().__init__(id="items", classes="pane")
        self.rows: Sequence[Find] = ()

    def show(self, rows: Sequence[Find]) -> None:
        """Lists others."""
        self.rows = rows
        self.changed()

    @property
    def find(self) -> Find | None:
        """The line under the cursor."""
        return self.rows[self.cursor] if self.rows else None

    @property
    def count(self) -> int:
        return len(self.rows)

    def paint(self, index: int, width: int) -> Content:
        row = self.rows[index]
        sign, style = ("■", "$text-error") if row.on else ("■" if row.goes else "□", "$foreground-muted")
        what = row.looks or _WHAT[row.kind]
        words = one_line(row.text, 300) if row.text else _box_words(row)
        steps = ""
        if row.looks and row.text:
            some = ", ".join(str(step + 1) for step in row.steps[:4]) + (" ..." if len(row.steps) > 4 else "")
            steps = f"   step {some}"
        return Content.assemble(
            (f"{sign} ", style),
            (f"{what:<10} " if what else " " * 11, "$text-warning"),
            words,
            (steps, "$foreground-muted"),
        )


def _box_words(row: Find) -> str:
    return f"{row.box.left},{row.box.top} to {row.box.right},{row.box.bottom}" if row.box is not None else ""
