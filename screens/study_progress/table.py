"""People, judges and all together below one another; and a study's questions, with how often people differ."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple

from lab.core.study_progress import StudyProgress
from lab.studies import progress_words
from lab.studies.progress_words import FIELDS, RATERS, Cells, ProgressColumn
from screens.theme import MUTED
from screens.widgets.table import Table, TableColumn

_GAP = 2
"""Blanks between two columns."""
_NARROWEST = 12
_WIDEST = 40
"""Cells of a column at most, and of a code or a note in a narrow terminal: the line below says all of them."""


class ProgressRow(NamedTuple):
    """A line: what stands in it, whose it is, and what is told of it below the table."""

    cells: Cells
    kind: Literal["rater", "judge", "all", "question"]
    id: str
    words: str
    urgent: bool = False
    """Whether a manager would do something about it."""


def rows_of(progress: StudyProgress) -> list[ProgressRow]:
    """A study's people, then judges, then all together."""
    at = progress.at
    rows = [
        ProgressRow(
            progress_words.rater_cells(one, at), "rater", one.rater, progress_words.rater_words(one, at),
            one.held or bool(one.straggler) or one.clashes > 0,
        )
        for one in progress.raters
    ]  # fmt: skip
    for one in progress.judges:
        cells = progress_words.judge_cells(one)
        intervals = [progress_words.interval_words(its) for its in progress.intervals if its.judge == one.judge]
        words = "   ".join([progress_words.judge_words(one), *intervals])
        rows.append(ProgressRow(cells, "judge", one.judge, words))
    cells = progress_words.total_cells(progress)
    return [*rows, ProgressRow(cells, "all", "", progress_words.total_words(progress))]


def questions_of(progress: StudyProgress) -> list[ProgressRow]:
    """The questions that two or more people answered of any item."""
    fields = [one for one in progress.fields if one.differ.n]
    return [
        ProgressRow(cells, "question", one.field, f"{cells['question']}: people differ in {cells['differs']} items")
        for one in fields
        for cells in (progress_words.field_cells(one),)
    ]


class _ProgressTable(Table[ProgressRow]):
    """Rows in those columns that there is room for, what is known of most use last to give way."""

    def __init__(self, id: str, table: Mapping[str, ProgressColumn]) -> None:
        self._table = table
        columns = {name: TableColumn(one.title, _WIDEST, right=one.right, fits=True) for name, one in table.items()}
        super().__init__(id, columns)

    def columns(self, width: int) -> dict[str, TableColumn]:
        cells = [row.cells for row in self.rows]
        most = {"name": max(_NARROWEST, width // 5), "note": max(_NARROWEST, width // 4)}
        needs = {name: min(self.longest(name), most.get(name, _WIDEST)) for name in self._table}
        names = progress_words.columns_for(self._table, cells, needs, width, _GAP)
        columns = {name: self._columns[name]._replace(width=needs[name]) for name in names}
        over = sum(column.width + _GAP for column in columns.values()) - _GAP - width
        for name in ("name", "question", "note"):
            if over > 0 and name in columns:
                least = max(4, columns[name].width - over)
                over -= columns[name].width - least
                columns[name] = columns[name]._replace(width=least)
        return columns

    def words(self, name: str, row: ProgressRow, width: int) -> str:
        return row.cells.get(name, "")

    def style_of(self, name: str, row: ProgressRow) -> str:
        if name == "note" and row.urgent:
            return "$text-warning"
        return MUTED if row.kind == "all" and name == "name" else ""


def _listed(lines: Sequence[str]) -> str:
    """Words and what they mean, as a list in help."""
    pairs = (line.partition(": ") for line in lines)
    return "\n".join(f"- *{word}*: {means}" for word, _, means in pairs)


class RaterProgressTable(_ProgressTable):
    """Everybody's line."""

    HELP = f"""\
# Progress

How far each person is, how fast, and until when; judges (models, scripts) below them, all together at the end. It is
read anew every few seconds. **{{list.open}}** shows this rater's numbers in Raters, **{{progress.agreement}}** how far
all agree, **{{progress.recount}}** reads it at once, **{{progress.copy}}** copies the line below.

{_listed(progress_words.legend([*RATERS], RATERS))}

Who straggles, by what they did:

{_listed(progress_words.STRAGGLERS)}

A dash: nothing is known yet. What a narrow terminal has no column for, the line below says.
"""
    empty = "Reading ..."

    def __init__(self, id: str) -> None:
        super().__init__(id, RATERS)


class QuestionTable(_ProgressTable):
    """How often people differ so far, question by question."""

    HELP = """\
# Questions

Of the items that two or more people answered, those at which they do not all say the same. A reason for no answer is an
answer here, texts are left out. **{progress.agreement}** computes how far they agree, with intervals.
"""

    def __init__(self, id: str) -> None:
        super().__init__(id, FIELDS)
