"""The items with disagreement: each rater's answer, and at which step."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import TYPE_CHECKING

from lab.runs.descriptions import one_line, short_id
from screens.theme import MUTED
from screens.widgets.table import Table, TableColumn

if TYPE_CHECKING:
    from annotators.agreement.disputes import Dispute, DisputedAnswer

_COLUMNS: dict[str, TableColumn] = {
    "item": TableColumn("item", 8, share=5, shrinks=True),
    "about": TableColumn("about", 16, 66, share=4, shrinks=True, style=MUTED),
    "said": TableColumn("what was said, by whom, at which step", 0, fill=1),
}


class DisputedItems(Table["Dispute"]):
    """Items, those that split most evenly first."""

    HELP = """\
# Items

Items on which not all said the same, those that split most evenly first: what most said, then the others, each with
who said it and at which step of the run (`R1@7`). **{list.open}** replays the run at the step of one who stood against
most; **{agreement.back}** comes back here, and once more leads to the numbers.
"""

    def __init__(self, id: str) -> None:
        super().__init__(id, _COLUMNS)

    def show(self, rows: Sequence[Dispute], empty: str) -> None:
        """Show other items from the first on."""
        self.empty = empty
        self.set_rows(rows)
        self.go(0)

    def says(self) -> str:
        """Return the item under the cursor in full."""
        item = self.current
        return (
            f"{one_line(item.unit)}  {one_line(item.about)}\n{answers_words(item.answers)}" if item is not None else ""
        )

    def columns(self, width: int) -> dict[str, TableColumn]:
        """Return the columns of a table of that width. The column `about` is left out if it is empty."""
        return {name: column for name, column in super().columns(width).items() if name != "about" or column.width}

    def words(self, name: str, one: Dispute, width: int) -> str:
        match name:
            case "item":
                return one_line(short_id(one.unit))
            case "about":
                return one_line(one.about)
        return answers_words(one.answers)


def answers_words(answers: Sequence[DisputedAnswer]) -> str:
    """Format the answers to an item, the most frequent first: `completed: R1@7 R2@7 | not completed: R3@9`."""
    groups = [(says, list(them)) for says, them in groupby(answers, key=lambda one: one.text)]
    return " | ".join(f"{one_line(says, 60)}: {' '.join(map(_rater_words, them))}" for says, them in groups)


def _rater_words(answer: DisputedAnswer) -> str:
    return one_line(answer.rater, 30) + (f"@{answer.step + 1}" if answer.step is not None else "")
