"""Tables of raters and of one rater's numbers, each with its interval and n."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from annotators.rater_numbers import RaterNumbers
from lab.core.text.text_charts import interval_bar, scale
from lab.core.values.rounding import format_number
from lab.runs.descriptions import one_line
from lab.studies.rating.rater_words import NumberLine, interval_words, lines_of, n_words, value_words
from screens.theme import ACCENT, MUTED
from screens.widgets.table import RowTable, TableColumn

_COLUMNS: dict[str, TableColumn] = {
    "rater": TableColumn("rater", 24, shrinks=True),
    "done": TableColumn("handed in", 9, right=True),
    "pace": TableColumn("s each", 6, right=True),
    "rest": TableColumn("as the rest", 11, right=True),
    "bar": TableColumn("", 20, 164, style=ACCENT),
    "interval": TableColumn("interval", 13, 92, style=MUTED),
    "n": TableColumn("n", 6, 64, right=True, style=MUTED),
    "drift": TableColumn("drift", 6, right=True),
    "gold": TableColumn("as gold", 7, right=True),
    "before": TableColumn("as before", 9, 106, right=True),
    "again": TableColumn("again", 7, 142, right=True),
    "missing": TableColumn("missing", 7, 84, right=True, style=MUTED),
    "longest": TableColumn("same in a row", 13, 130, right=True),
}
_ONE: dict[str, TableColumn] = {
    "name": TableColumn("number", 24, share=4),
    "value": TableColumn("value", 12, right=True),
    "bar": TableColumn("", 16, 120, style=ACCENT),
    "interval": TableColumn("interval", 16, share=3, fill=8, style=MUTED),
    "n": TableColumn("n", 99, 74, right=True, shrinks=True, style=MUTED),
    "beside": TableColumn("beside", 20, 110, share=4, style=MUTED),
}
_ROOMY = 96
"""Columns from which the n of a number includes its runs."""


class RaterTable(RowTable[RaterNumbers]):
    """A row per rater: people by code, then judges."""

    HELP = """\
# Raters

Each rater by themselves, people first, then models and scripts. **{list.open}** opens one: every number with its
interval and n, pace and drift over their answers, and which of their answers come with which of the rest.

- *handed in*: items, of those dealt. *s each*: the median of the seconds that an answer took.
- *as the rest*: the share of answers that are what more than half of the other people say. The bar and the interval
  are over runs. *drift* is that share in the second half of their answers minus that in the first, in points.
- *as gold*: the share of calibration answers that are right.
- *as before*: how much more often an answer is the same as the one to the item before than their own habits make it, in
  points. Items come in an order of their own to each rater, so that it should be about 0.
- *again*: the share of answers that are the same when an item came twice. *missing*: answers that were left out.
- *same in a row*: the longest row of one and the same answer.

A dash: there is no such number; the line below says why. **{raters.recount}** recounts what came in since,
**{raters.copy}** copies the line below.
"""
    empty = "Reading ..."

    def __init__(self, id: str) -> None:
        super().__init__(id, _COLUMNS)

    def show(self, rows: Sequence[RaterNumbers]) -> None:
        """Show other raters. The cursor stays on its rater."""
        self.set_rows(rows, key=lambda one: (one.kind, one.rater))

    def columns(self, width: int) -> dict[str, TableColumn]:
        """Return the columns of a table of that width. The rater's code shrinks before the numbers do."""
        column_list = super().columns(width)
        others = sum(column.width + 2 for name, column in column_list.items() if name != "rater")
        column_list["rater"] = column_list["rater"]._replace(
            width=max(5, min(column_list["rater"].width, width - others))
        )
        return column_list

    def title_of(self, name: str, column: TableColumn) -> str:
        return scale(column.width) if name == "bar" else column.title

    def words(self, name: str, one: RaterNumbers, width: int) -> str:
        match name:
            case "bar":
                return interval_bar(one.rest.value, one.rest.low, one.rest.high, width)
            case "rater":
                return one_line(one.rater, 40) + (" (judge)" if one.kind == "judge" else "")
            case "done":
                return f"{one.done:,}/{one.dealt:,}" if one.dealt else "-"
            case "pace":
                return format_number(one.seconds, 1) if one.seconds is not None else "-"
            case "rest":
                return value_words(NumberLine("", one.rest))
            case "interval":
                return interval_words(NumberLine("", one.rest)) if one.rest.low is not None else "-"
            case "n":
                return f"{one.rest.places:,}"
            case "drift":
                return _point_words(NumberLine("", one.drift, True))
            case "gold":
                return value_words(NumberLine("", one.gold))
            case "before":
                return _point_words(NumberLine("", one.before, True))
            case "again":
                return value_words(NumberLine("", one.again))
            case "missing":
                return value_words(NumberLine("", one.missing))
            case "longest":
                return f"{one.longest.length:,} of {one.longest.of:,}" if one.longest is not None else "-"
        return ""


class RaterNumbersTable(RowTable[NumberLine]):
    """One rater's numbers."""

    HELP = """\
# One rater

Every number of this rater with its interval over runs and its n; where there is no interval, or no number at all, the
line says why. Beneath stand their pace and how far they agree with the rest, over their answers in the order in which
they gave them, and how often which of their answers came with which of the rest. **{raters.previous}** and
**{raters.next}** go to the rater before and after, **{raters.back}** back to all.
"""

    def __init__(self, id: str) -> None:
        super().__init__(id, _ONE)
        self._roomy = True

    def show(self, numbers: RaterNumbers, names: Mapping[str, str]) -> None:
        """Show a rater. The cursor stays in its row."""
        self.set_rows(lines_of(numbers, names))

    def columns(self, width: int) -> dict[str, TableColumn]:
        """Return the columns of a table of that width. In a narrow one the n omits the runs."""
        roomy = width >= _ROOMY
        if roomy != self._roomy:
            self._roomy = roomy
            self._longest.clear()
        return super().columns(width)

    def title_of(self, name: str, column: TableColumn) -> str:
        return scale(column.width) if name == "bar" else column.title

    def words(self, name: str, line: NumberLine, width: int) -> str:
        number = line.number
        match name:
            case "name":
                return one_line(line.name, 80)
            case "value":
                return value_words(line)
            case "bar" if line.share and not line.points:
                return interval_bar(number.value, number.low, number.high, width)
            case "interval":
                return interval_words(line)
            case "n":
                return n_words(number) if self._roomy else f"{number.places:,}"
            case "beside":
                return one_line(line.beside)
        return ""


def _point_words(line: NumberLine) -> str:
    return value_words(line).removesuffix(" points")
