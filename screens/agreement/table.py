"""Tables of coefficients, each with its interval on one common scale: by field and statistic, or by rater pair."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from textual.content import Content

from lab.core.study.agreement import Agreement
from lab.core.text.text_charts import DASH, FIRST, LAST, OFF_LEFT, OFF_RIGHT, POINT, interval_bar, scale
from lab.runs.descriptions import one_line
from screens.agreement.rows import PEOPLE, ends_of, judge_name, on_scale
from screens.agreement.words import (
    interval_words,
    landis_words,
    missing_words,
    name_of,
    statistic_words,
    undefined_words,
    value_words,
)
from screens.theme import ACCENT, MUTED
from screens.widgets.table import RowTable, TableColumn, cell

_BAR = 10
"""Minimum columns of a bar. In less space there is none."""
_DRAWN = (DASH, FIRST, LAST, POINT, OFF_LEFT, OFF_RIGHT)
_FIELDS: dict[str, TableColumn] = {
    "name": TableColumn("asked", 14, share=4, shrinks=True),
    "statistic": TableColumn("statistic", 16, share=5, shrinks=True),
    "value": TableColumn("value", 7, right=True, shrinks=True),
    "bar": TableColumn("", 0),
    "interval": TableColumn("interval", 14, 66, shrinks=True, style=MUTED),
    "words": TableColumn("Landis and Koch", 29, 126, shrinks=True, style=MUTED),
    "n": TableColumn("n", 7, 90, right=True, shrinks=True),
    "traces": TableColumn("runs", 6, 140, right=True, shrinks=True),
    "raters": TableColumn("raters", 6, 140, right=True, style=MUTED),
    "missing": TableColumn("missing", 8, 140, right=True, shrinks=True, style=MUTED),
}
_PAIRS: dict[str, TableColumn] = {
    "name": TableColumn("raters", 12, share=3, shrinks=True),
    "value": TableColumn("value", 6, right=True, shrinks=True),
    "bar": TableColumn("", 0),
    "interval": TableColumn("interval", 14, 44, shrinks=True, style=MUTED),
    "percent": TableColumn("same", 7, 60, right=True),
    "n": TableColumn("n", 7, 60, right=True, shrinks=True),
}


class NumberTable(RowTable[Agreement]):
    """One number per line, with its interval on a common scale."""

    def __init__(self, id: str, columns: Mapping[str, TableColumn]) -> None:
        super().__init__(id, columns)
        self.ends = (0.0, 1.0)

    def show(self, rows: Sequence[Agreement]) -> None:
        """Show other numbers. The cursor stays on its number if that is still listed."""
        self.ends = ends_of(list(rows))
        self.set_rows(rows, _number_key)

    def columns(self, width: int) -> dict[str, TableColumn]:
        """Return the columns of a table of that width. The bar gets the rest if that is enough for one."""
        column_list = super().columns(width)
        if "words" in column_list and not column_list["words"].width:
            del column_list["words"]
        spare = width - sum(column.width for column in column_list.values()) - 2 * (len(column_list) - 1)
        if spare < _BAR:
            del column_list["bar"]
        else:
            column_list["bar"] = TableColumn(scale(spare, *self.ends), spare)
        return column_list

    def title_of(self, name: str, column: TableColumn) -> str:
        """Return a column's title. The unit of resampling has the name of what it is here: runs, tasks, users."""
        return f"{self.rows[0].clusters}s" if name == "traces" and self.rows else column.title

    def paint(self, index: int, width: int) -> Content:
        agreement = self.rows[index]
        columns = self.columns(width)
        if agreement.value is None:
            return self._undefined_row(agreement, index, columns, width)
        parts = []
        for name, column in columns.items():
            text = cell(self.words_at(index, name, column.width), column)
            parts.append(_bar_content(text) if name == "bar" else Content.styled(text, column.style))
        return Content("  ").join(parts)

    def _undefined_row(self, one: Agreement, index: int, columns: dict[str, TableColumn], width: int) -> Content:
        """Return a line whose reason replaces the bar and the interval, because there is no value."""
        before = [cell(self.words_at(index, name, column.width), column)
                  for name, column in columns.items() if name in ("name", "statistic")]  # fmt: skip
        spare = width - sum(map(len, before)) - 2 * len(before)
        why = cell(undefined_words(one), TableColumn("", max(0, spare), 0))
        return Content.assemble(("  ".join([*before, ""]), ""), (why, MUTED))

    def words_at(self, index: int, name: str, width: int) -> str:
        """Return the text of a cell, which may depend on the lines around it."""
        agreement = self.rows[index]
        return (
            self._field_label(agreement, index, width)
            if name == "name" and width
            else self.words(name, agreement, width)
        )

    def words(self, name: str, row: Agreement, width: int) -> str:
        match name:
            case "name":
                return self._row_label(row)
            case "statistic":
                return statistic_words(row)
            case "value":
                return value_words(row)
            case "bar":
                return interval_bar(row.value, row.low, row.high, width, *self.ends) if on_scale(row) else ""
            case "interval":
                return interval_words(row)
            case "words":
                return landis_words(row)
            case "n":
                return f"{row.places:,}"
            case "traces":
                return f"{row.traces:,}"
            case "raters":
                return str(row.raters)
            case "missing":
                return missing_words(row)
        return ""

    def _field_label(self, agreement: Agreement, index: int, width: int) -> str:
        """Return the field's name in its first line and in the first visible line, else empty.

        If there is no room for the raters after the field, they are in its second line.
        """
        label = self._row_label(agreement)
        begins, goes_on = not self._same_question(index, index - 1), self._same_question(index, index + 1)
        split = agreement.between != PEOPLE and self.longest("name") > width and (goes_on or not begins)
        if split and not begins and not self._same_question(index, index - 2):
            return f"  {one_line(judge_name(agreement.between))}"
        if not begins and index not in (round(self.scroll_offset.y), self.cursor):
            return ""
        return name_of(agreement) if split else label

    def _same_question(self, one: int, other: int) -> bool:
        """Return True if two lines are about the same answers to the same question."""
        exists = 0 <= other < len(self.rows)
        return exists and self._row_label(self.rows[one]) == self._row_label(self.rows[other])

    def _row_label(self, one: Agreement) -> str:
        return name_of(one) if one.between == PEOPLE else f"{name_of(one)} · {one_line(judge_name(one.between))}"


class FieldNumbers(NumberTable):
    """Coefficients by field and statistic."""

    HELP = """\
# Agreement

How far those who answered agree, one line for each thing that was asked and each statistic. The point is the value,
the bar around it the interval, all on the scale above; the interval is made over runs, never over single items, which
would make it too narrow. What is undefined says why. Beside an interval stand the words of Landis and Koch for both its
ends. The line below says all of the number under the cursor: its n, runs, raters, and what is missing.

**{list.open}** lists the items on which not all said the same; **{list.open}** on one of them replays the run where it
was judged.

- **{agreement.part}** shows one part alone: before or after what follows from the answers, or one kind of item.
- **{agreement.whose}** turns from the people among themselves to models and scripts against what most people say.
- **{agreement.statistic}** shows one statistic for everything that was asked, **{agreement.statistic_before}** goes
  back.
- **{agreement.intervals}** makes the intervals by resampling runs in place of leaving one out, and back.
- **{agreement.plan}** says how many runs a narrower interval would take. **{agreement.recount}** recounts what came in
  since. **{agreement.copy}** copies the number.
"""
    empty = "Reading ..."

    def __init__(self, id: str) -> None:
        super().__init__(id, _FIELDS)


class RaterPairs(NumberTable):
    """The same statistic for each rater pair, or for each judge against most people."""

    HELP = """\
# Rater pairs

Kappa (or what stands for it) for each two raters, or for each model or script against what most people say. The grid
beside it is of the pair under the cursor, of all pairs on the first line. **{list.open}** lists the items on which
these two differ.
"""
    empty = ""

    def __init__(self, id: str) -> None:
        super().__init__(id, _PAIRS)
        self.percent: dict[str, Agreement] = {}

    def _field_label(self, one: Agreement, index: int, width: int) -> str:
        return self._row_label(one)

    def _row_label(self, one: Agreement) -> str:
        return "all" if one.between == PEOPLE else one_line(judge_name(one.between))

    def words(self, name: str, row: Agreement, width: int) -> str:
        if name == "percent":
            same = self.percent.get(row.between)
            return value_words(same) if same is not None else "-"
        return super().words(name, row, width)


def _bar_content(text: str) -> Content:
    """Return a bar whose scale is dim behind its interval."""
    return Content.assemble(*((mark, ACCENT if mark in _DRAWN else MUTED) for mark in text))


def _number_key(one: Agreement | None) -> tuple[str, str, str, str] | None:
    return (one.field, one.part, one.between, one.statistic) if one is not None else None
