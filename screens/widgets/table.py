"""Lists of rows and tables of columns. A subclass defines the row and the columns."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Generic, NamedTuple, TypeVar

from textual.content import Content

from screens.widgets.lines import LineList

Row = TypeVar("Row")


class TableColumn(NamedTuple):
    """A column of a table. Widths are in cells."""

    title: str
    width: int
    min_table_width: int = 0
    """Minimum width of the table from which the column is shown."""
    right: bool = False
    share: int = 0
    """Divisor of the table's width, which gives a minimum width of the column. 0 for none."""
    shrinks: bool = False
    """Shrink to the longest content or the title."""
    fill: int = 0
    """Minimum width of the column that takes the remaining width. 0 for other columns."""
    gap: int = 2
    """Blanks before the column, unless it is the first."""
    style: str = ""

    def for_width(self, width: int) -> TableColumn:
        """Return the column in a table of that width."""
        return self._replace(width=max(self.width, width // self.share)) if self.share else self


def cell(text: str, column: TableColumn) -> str:
    """Cut or pad a text to a column, counting wide characters as two."""
    content = Content(text).truncate(column.width, ellipsis=True)
    pad = " " * max(0, column.width - content.cell_length)
    return pad + content.plain if column.right else content.plain + pad


class RowList(LineList, Generic[Row]):
    """A list in which each line shows one row. A subclass paints it."""

    def __init__(self, id: str, classes: str = "pane") -> None:
        super().__init__(id=id, classes=classes)
        self.rows: list[Row] = []

    @property
    def count(self) -> int:
        return len(self.rows)

    @property
    def current(self) -> Row | None:
        """The row under the cursor, or None if the list is empty."""
        return self.rows[min(self.cursor, self.count - 1)] if self.rows else None

    def set_rows(self, rows: Iterable[Row], key: Callable[[Row], object] | None = None) -> None:
        """Show other rows. With a `key` the cursor stays on the row of the same key, or goes to the first."""
        before = self.current
        self.rows = list(rows)
        self.changed()
        if key is not None:
            current_key = key(before) if before is not None else None
            self.go(next((at for at, row in enumerate(self.rows) if key(row) == current_key), 0))


class RowTable(RowList[Row]):
    """Rows in columns under a fixed heading. `words` returns the content of a cell."""

    heading_rows = 1

    def __init__(self, id: str, columns: Mapping[str, TableColumn]) -> None:
        super().__init__(id)
        self._columns = columns
        self._longest: dict[str, int] = {}

    # -- for a subclass --------------------------------------------------------------------------------------

    def words(self, name: str, row: Row, width: int) -> str:
        """Return the text of a column that is `width` cells wide."""
        raise NotImplementedError

    def style_of(self, name: str, row: Row) -> str:
        """Return the style of a cell."""
        return self._columns[name].style

    def title_of(self, name: str, column: TableColumn) -> str:
        """Return the title of a column."""
        return column.title

    def columns(self, width: int) -> dict[str, TableColumn]:
        """Return the columns of a table of that width."""
        columns = {
            name: column.for_width(width) for name, column in self._columns.items() if width >= column.min_table_width
        }
        for name, column in columns.items():
            if column.shrinks:
                columns[name] = column._replace(width=min(column.width, self.longest(name)))
        spare = width - sum(column.width for column in columns.values()) - sum(c.gap for c in [*columns.values()][1:])
        for name, column in columns.items():
            if column.fill:
                columns[name] = column._replace(width=max(column.fill, column.width + spare))
        return columns

    # -- beneath ---------------------------------------------------------------------------------------------

    def longest(self, name: str) -> int:
        """Return the width of a column's longest content or its title in cells, or 0 if all its cells are empty."""
        if name not in self._longest:
            width = self._columns[name].width
            words = {self.words(name, row, width) for row in self.rows} - {""}
            all_words = (*words, self.title_of(name, self._columns[name])) if words else ()
            self._longest[name] = max((Content(text).cell_length for text in all_words), default=0)
        return self._longest[name]

    def changed(self) -> None:
        self._longest.clear()
        super().changed()

    def heading(self, width: int) -> Content:
        return Content("".join(_join_cells(self.columns(width), self.title_of)))

    def paint(self, index: int, width: int) -> Content:
        row, columns = self.rows[index], self.columns(width)
        cells = _join_cells(columns, lambda name, column: self.words(name, row, column.width))
        styles = (self.style_of(name, row) for name in columns)
        return Content.assemble(*zip(cells, styles, strict=True))


def _join_cells(columns: Mapping[str, TableColumn], words: Callable[[str, TableColumn], str]) -> list[str]:
    """Return each column's cell with the blanks before it."""
    return [
        " " * (column.gap if at else 0) + cell(words(name, column), column)
        for at, (name, column) in enumerate(columns.items())
    ]


_LEAST_TITLE, _LEAST_TAGS = 8, 3
"""Minimum cells of a title and of tags. Fewer would be unreadable."""


class TitledCell(NamedTuple):
    """Name and title of a row, padded, and its tags."""

    text: str
    tags: str = ""


def fit_name_and_title(name: str, title: str, width: int, tags: Sequence[str] = ()) -> TitledCell:
    """Format the name, title and tags of a row in `width` cells.

    People type the name. It stays whole before there is a title or a tag, and is cut to half beside a title only if it
    is longer than usual names. A title that repeats the name is left out. Tags are at the right, in no more than a
    third.
    """
    whole = Content(name).cell_length
    marks = " ".join(f"#{tag}" for tag in tags)
    room = min(Content(marks).cell_length, width // 3, width - 1 - min(whole, _LONG_NAME))
    marks = " " + cell(marks, TableColumn("", room, 0)) if room >= _LEAST_TAGS else ""
    text_width = width - (room + 1 if marks else 0)
    name_width = min(whole, max(text_width // 2, min(_LONG_NAME, text_width)))
    if title in ("", name) or text_width - name_width - 2 < _LEAST_TITLE:
        return TitledCell(cell(name, TableColumn("", text_width, 0)), marks)
    first = cell(name, TableColumn("", name_width, 0))
    return TitledCell(f"{first}  {cell(title, TableColumn('', text_width - name_width - 2, 0))}", marks)


_LONG_NAME = 24
"""Cells of a name that is never cut to make room for its title."""
