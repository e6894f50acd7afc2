"""Tables of a study's people, judges and total, and of its questions with their disagreements."""

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
"""Minimum and maximum cells of a column. The line below the table shows all of its content."""


class ProgressRow(NamedTuple):
    """A row: its cells, its owner, and its words below the table."""

    cells: Cells
    kind: Literal["rater", "judge", "all", "question"]
    id: str
    words: str
    urgent: bool = False
    """True if a manager should act on it."""


def rows_of(progress: StudyProgress) -> list[ProgressRow]:
    """Return the rows of a study's people, then judges, then the total."""
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
    """Return the questions that at least two people answered for the same item."""
    fields = [one for one in progress.fields if one.differ.n]
    return [
        ProgressRow(cells, "question", one.field, f"{cells['question']}: people differ in {cells['differs']} items")
        for one in fields
        for cells in (progress_words.field_cells(one),)
    ]


class _ProgressTable(Table[ProgressRow]):
    """Rows in as many columns as fit. The most useful columns are dropped last."""

    def __init__(self, id: str, table: Mapping[str, ProgressColumn]) -> None:
        self._table = table
        columns = {name: TableColumn(one.title, _WIDEST, right=one.right, shrinks=True) for name, one in table.items()}
        super().__init__(id, columns)

    def columns(self, width: int) -> dict[str, TableColumn]:
        cells = [row.cells for row in self.rows]
        most = {"name": max(_NARROWEST, width // 5), "note": max(_NARROWEST, width // 4)}
        needs = {name: min(self.longest(name), most.get(name, _WIDEST)) for name in self._table}
        names = progress_words.columns_for(self._table, cells, needs, width, _GAP)
        columns = {name: self._columns[name]._replace(width=needs[name]) for name in names}
        over = sum(column.width + _GAP for column in columns.values()) - _GAP - width
        # Still too wide: only these columns can be cut and read.
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


def _markdown_list(lines: Sequence[str]) -> str:
    """Format words and their meanings as a Markdown list for help."""
    pairs = (line.partition(": ") for line in lines)
    return "\n".join(f"- *{word}*: {means}" for word, _, means in pairs)


class RaterProgressTable(_ProgressTable):
    """A row per person and judge, and the total."""

    HELP = f"""\
# Progress

How far each person is, how fast, and until when; judges (models, scripts) below them, all together at the end. It is
read anew every few seconds. **{{list.open}}** shows this rater's numbers in Raters, **{{progress.agreement}}** how far
all agree, **{{progress.recount}}** reads it at once, **{{progress.copy}}** copies the line below.

{_markdown_list(progress_words.legend([*RATERS], RATERS))}

Who straggles, by what they did:

{_markdown_list(progress_words.STRAGGLERS)}

A dash: nothing is known yet. What a narrow terminal has no column for, the line below says.
"""
    empty = "Reading ..."

    def __init__(self, id: str) -> None:
        super().__init__(id, RATERS)


class QuestionTable(_ProgressTable):
    """Share of items at which people differ so far, question by question."""

    HELP = """\
# Questions

Of the items that two or more people answered, those at which they do not all say the same. A reason for no answer is an
answer here, texts are left out. **{progress.agreement}** computes how far they agree, with intervals.
"""

    def __init__(self, id: str) -> None:
        super().__init__(id, FIELDS)
