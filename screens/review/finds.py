"""The list of what is or may be covered."""

from __future__ import annotations

from textual.content import Content

from lab.runs.descriptions import one_line
from lab.studies.redaction_plan import RedactionLine
from screens.theme import ERROR, MUTED, WARNING
from screens.widgets.table import RowList

_WHAT = {"words": "whole run", "box": "box", "typed": "typed", "text": ""}


class FindList(RowList[RedactionLine]):
    """Texts that are covered (■) or may be (□): what looks private, what was typed here, and the screen's texts."""

    HELP = """\
# What is private

**■** is to be covered (dim: because of its words), **□** not yet. First come the words to be covered all over the run
and the boxes of this step, then what looks private anywhere in the run, then what was typed in this step and every
text on its screen. **{privacy.cover}** turns a line; of a text on the screen it covers the box, with what the tree
holds under it. Drag on the phone to draw a box, click to cover what is under the pointer, **{privacy.words}** to type
words. Nothing is done before **{privacy.redact}** is pressed twice; then the original is destroyed.
**{privacy.clear}** says that nothing private is left.
"""
    empty = "Nothing was recorded here that could be read. Drag a box on the phone, or {privacy.words} types words."

    def __init__(self) -> None:
        super().__init__("items")

    def paint(self, index: int, width: int) -> Content:
        row = self.rows[index]
        sign, style = ("■", ERROR) if row.on else ("■" if row.goes else "□", MUTED)
        what = row.looks or _WHAT[row.kind]
        words = one_line(row.text, 300) if row.text else _box_words(row)
        where = f"   {row.where}" if row.where and row.text else ""
        return Content.assemble(
            (f"{sign} ", style),
            (f"{what:<10} " if what else " " * 11, WARNING),
            words,
            (where, MUTED),
        )


def _box_words(row: RedactionLine) -> str:
    return f"{row.box.left},{row.box.top} to {row.box.right},{row.box.bottom}" if row.box is not None else ""
