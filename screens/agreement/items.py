"""The items on which not all said the same: what each rater said, and at which step."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import TYPE_CHECKING

from textual.content import Content

from screens.describe import one_line, short_id
from screens.lines import Lines
from screens.shelves import MUTED, Column, cell

if TYPE_CHECKING:
    from annotators.agreement.disputes import Dispute, Said

_COLUMNS: dict[str, Column] = {
    "item": Column("item", 8, 0, share=5),
    "about": Column("about", 16, 66, share=4),
    "said": Column("what was said, by whom, at which step", 0, 0),
}


class Items(Lines):
    """Items, those that split most evenly first."""

    HELP = """\
# Items

Items on which not all said the same, those that split most evenly first: what most said, then the others, each with
who said it and at which step of the run (`R1@7`). **Enter** replays the run at the step of one who stood against most;
**Esc** comes back here, and once more leads to the numbers.
"""
    heading_rows = 1

    def __init__(self, id: str) -> None:
        super().__init__(id=id, classes="pane")
        self.rows: list[Dispute] = []

    @property
    def count(self) -> int:
        return len(self.rows)

    @property
    def current(self) -> Dispute | None:
        """The item under the cursor."""
        return self.rows[self.cursor] if self.rows else None

    def show(self, rows: Sequence[Dispute], empty: str) -> None:
        """Lists others, from the first on."""
        self.rows, self.empty = list(rows), empty
        self.changed()
        self.go(0)

    def says(self) -> str:
        """The item under the cursor in full."""
        one = self.current
        return f"{one_line(one.unit)}  {one_line(one.about)}\n{said_words(one.said)}" if one is not None else ""

    def _widths(self, width: int) -> dict[str, Column]:
        found = {name: column.at(width) for name, column in _COLUMNS.items() if width >= column.least}
        for name, words in (
            ("item", [short_id(one.unit) for one in self.rows]),
            ("about", [one.about for one in self.rows]),
        ):
            longest = max((Content(one_line(word)).cell_length for word in words), default=0)
            if name in found:
                found[name] = found[name]._replace(
                    width=min(found[name].width, max(longest, len(name) if longest else 0))
                )
        if "about" in found and not found["about"].width:
            del found["about"]
        taken = sum(column.width + 2 for column in found.values()) - 2
        found["said"] = found["said"]._replace(width=max(0, width - taken))
        return found

    def heading(self, width: int) -> Content:
        return Content("  ".join(cell(column.title, column) for column in self._widths(width).values()))

    def paint(self, index: int, width: int) -> Content:
        one = self.rows[index]
        said = {"item": one_line(short_id(one.unit)), "about": one_line(one.about), "said": said_words(one.said)}
        parts = [(cell(said[name], column), MUTED if name == "about" else "")
                 for name, column in self._widths(width).items()]  # fmt: skip
        return Content("  ").join(Content.styled(text, style) for text, style in parts)


def said_words(said: Sequence[Said]) -> str:
    """What was said of an item, what most said first: `completed: R1@7 R2@7 | not completed: R3@9`."""
    groups = [(says, list(them)) for says, them in groupby(said, key=lambda one: one.says)]
    return " | ".join(f"{one_line(says, 60)}: {' '.join(map(_rater, them))}" for says, them in groups)


def _rater(said: Said) -> str:
    return one_line(said.rater, 30) + (f"@{said.step + 1}" if said.step is not None else "")
