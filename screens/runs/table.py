"""The table of runs. It paints only the visible lines and requests costs only for them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import ClassVar

from textual import events
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.message import Message

from lab.core.text.plain_text import plain
from lab.runs.descriptions import mean_words, one_line, score_words, status_words
from lab.runs.listing.run_columns import FILTERED, RUN_COLUMNS, SORTED, UNKNOWN
from lab.runs.listing.run_order import ArrangedRuns, Order, RunGroup, RunTableLine
from lab.runs.listing.run_rows import Cost, RunEntry
from screens.theme import HEADING, LOUD_WARNING, MUTED
from screens.widgets.lines import MOVE, LineList
from screens.widgets.table import TableColumn, cell, fit_name_and_title

UNREAD = "…"
"""Text of a cost that is still being read."""


COLUMNS: dict[str, TableColumn] = {
    column.name: TableColumn(
        column.app_title or column.title, column.width, column.least, right=column.right, share=column.share,
        # A text to the right of a number needs one more blank.
        gap=1 + (left.right and not column.right),
    )
    for left, column in pairwise(SORTED.values())
}  # fmt: skip
"""Columns beside the task, which takes the remaining width."""
_LEAST_TASK = SORTED["task"].width
COSTS = frozenset(column.name for column in RUN_COLUMNS if column.costly)
_GROUP = {
    "runs": TableColumn("runs", 6, 0, right=True, gap=1),
    "mean": TableColumn("mean score", 10, 0, right=True),
    "n": TableColumn("n", 6, 0, right=True, gap=1),
    "missing": TableColumn("no score", 8, 0, right=True),
    "steps": TableColumn("mean steps", 10, 90, right=True),
    "statuses": TableColumn("status", 30, 112, share=4),
}


def visible_columns(width: int, by: str = "") -> dict[str, TableColumn]:
    """Return the columns for a table of that width. The column sorted `by` is also in a narrower one if it fits."""
    columns = {
        name: column.for_width(width)
        for name, column in COLUMNS.items()
        if width >= column.min_table_width or name == by
    }
    used_width = sum(column.width + column.gap for column in columns.values())
    if by in columns and width < COLUMNS[by].min_table_width and width - used_width < _LEAST_TASK:
        del columns[by]
    return columns


def heading(width: int, order: Order) -> list[tuple[str, str]]:
    """Return the titles by name. The column that the table is sorted by has an arrow."""
    if order.group:
        columns = {name: column for name, column in _GROUP.items() if width >= column.min_table_width}
        return _row(width, columns, order.group, {name: column.title for name, column in columns.items()})
    columns = visible_columns(width, order.by)
    arrow = "▼" if order.descending else "▲"
    titles = {name: column.title + (arrow if name == order.by else "") for name, column in columns.items()}
    return _row(width, columns, "task" + (arrow if order.by == "task" else ""), titles)


def run_row(it: RunEntry, cost: Cost | None, width: int, by: str = "") -> list[tuple[str, str]]:
    """Return a run's cells by name, as wide together as the table, which is sorted `by` a column."""
    columns = visible_columns(width, by)
    values = {
        name: UNREAD if cost is None and name in COSTS else one_line(SORTED[name].app_words(it, cost or UNKNOWN))
        for name in columns
    }
    tags = [one_line(tag) for tag in it.run.tags]
    first = fit_name_and_title(one_line(it.name), one_line(it.title), _task_width(width, columns), tags)
    marks = [("tags", first.tags)] if first.tags else []
    return [("task", first.text), *marks, *_format_cells(columns, values)]


def member_row(it: RunEntry, by: str, width: int) -> list[tuple[str, str]]:
    """Return a run's cells in a table grouped `by` a column.

    Its values are under the headings of the groups, its name is indented.
    """
    columns = {name: column for name, column in _GROUP.items() if width >= column.min_table_width}
    status = SORTED["status"].app_words(it, UNKNOWN)
    words = {"agent": one_line(it.agent), "task": one_line(it.words), "status": status}
    if "statuses" in columns:
        del words["status"]
    values = {
        "runs": "",
        "mean": score_words(it.run.score),
        "n": "",
        "missing": "1" if it.run.score is None else "",
        "steps": str(it.run.steps),
        "statuses": status,
    }
    return _row(width, columns, "  " + "   ".join(word for name, word in words.items() if name != by), values)


def group_row(group: RunGroup, width: int) -> list[tuple[str, str]]:
    """Return a group's cells by name."""
    columns = {name: column for name, column in _GROUP.items() if width >= column.min_table_width}
    values = {
        "runs": f"{group.runs:,}",
        "mean": mean_words(group.mean),
        "n": f"{group.n:,}",
        "missing": f"{group.missing:,}" if group.missing else "-",
        "steps": f"{group.steps:.1f}",
        "statuses": ", ".join(f"{count:,} {status_words(status)}" for status, count in group.statuses.items()),
    }
    return _row(width, columns, one_line(group.name) or "(empty)", values)


def _row(width: int, columns: dict[str, TableColumn], first: str, values: dict[str, str]) -> list[tuple[str, str]]:
    return [("task", cell(first, TableColumn("", _task_width(width, columns), 0))), *_format_cells(columns, values)]


def _task_width(width: int, columns: dict[str, TableColumn]) -> int:
    """Return the width that the other columns leave to the first."""
    return max(8, width - sum(column.width + column.gap for column in columns.values()))


def _format_cells(columns: dict[str, TableColumn], values: dict[str, str]) -> list[tuple[str, str]]:
    return [(name, " " * column.gap + cell(values[name], column)) for name, column in columns.items()]


_FIELDS = {column.filters[0]: column for column in FILTERED.values()}
_WORDS = ", ".join(name for name, column in _FIELDS.items() if column.text is not None)
_NUMBERS = ", ".join(name for name, column in _FIELDS.items() if column.text is None and not column.is_time)
_LISTED = 200
"""Maximum characters of a name in a row of the file's list."""
_SIGN = 2
"""Columns before each line for its sign: marked, selected, open."""
_QUIET = frozenset({"statuses", "tags", *(column.name for column in RUN_COLUMNS if column.muted)})


class RunTableView(LineList, inherit_bindings=False):
    """Runs, or groups of them."""

    HELP = """\
# Runs

Every run of the file. **{list.open}** plays the run back, or opens and closes a group.

- **{runs.filter}** filters: words, and fields with a value. `agent:qwen score<1 asks>0 -status:open source:knowu
  task:"two words"`. Words: WORDS. Numbers: NUMBERS. `started>2025-03` (UTC). `score:none` finds what is not known;
  that fits nothing else.
- **{runs.sort}** sorts by the next column, **{runs.sort_back}** by the one before, **{runs.turn}** the other way
  round; a click on a heading does both.
- **{runs.group}** puts runs into groups by task, agent, source, persona or status: how many, their mean score, of how
  many (n) it is, and how many have none. A mean of nothing is *undefined*.
- A name that its row has no room for stands whole below the table; **tab** goes there where it is long.
- **{runs.compare}** marks a run, on a second one it lays both side by side; **{runs.copy}** copies the id.
- **{runs.new_study}** makes a study of the selected runs, else of those that the filter finds.
- **{runs.select}** selects a run, or all runs of a group; it selects no more on a second press. **{runs.tag}** tags the
  selected runs, or the one under the cursor: `+name` puts a tag on, `-name` takes it off. Tags are words that you
  choose; `tag:name` in the filter finds them. **{runs.archive}** archives them: they are in no list any more, and
  nothing is lost. **{runs.archived}** lists what is archived, where the same key brings back. **{runs.undo}** takes
  back what was tagged or archived last.
""".replace("WORDS", _WORDS).replace("NUMBERS", _NUMBERS)
    heading_rows = 1
    empty = "Reading the runs ..."
    BINDINGS: ClassVar[list[BindingType]] = [
        *(b for b in LineList.BINDINGS if not (isinstance(b, Binding) and b.id == "list.first")),
        Binding("home", "edge(0)", "First", show=False, group=MOVE, id="list.first", tooltip="The first line"),
    ]

    @dataclass
    class CostsNeeded(Message):
        """Message: other lines are visible. `runs` are those with a cost column and an unknown cost."""

        runs: list[str]

    @dataclass
    class HeadingClicked(Message):
        """Message: the heading of a column was clicked."""

        column: str

    def __init__(self, id: str, costs: Mapping[str, Cost]) -> None:
        super().__init__(id=id, classes="pane")
        self.arranged = ArrangedRuns([], 0)
        self.order = Order()
        self.costs = costs
        self.marked: str | None = None
        """Id of the run to compare with another, or None if none is marked."""
        self.selection: set[str] = set()
        """Ids of the runs to archive or tag together."""

    @property
    def count(self) -> int:
        return len(self.arranged.lines)

    @property
    def current(self) -> RunTableLine | None:
        """The line under the cursor, or None if the table is empty."""
        return self.arranged.lines[self.cursor] if self.arranged.lines else None

    @property
    def run(self) -> RunEntry | None:
        """The run under the cursor, or None on a group."""
        return self.current.entry if self.current is not None else None

    @property
    def cut_name(self) -> str:
        """Full name of the line under the cursor if its row cuts it, else empty."""
        line, by = self.current, self.order.group
        if line is None or (line.entry is not None and by == "task"):
            return ""
        name = line.entry.words if line.entry is not None else line.group.name if line.group is not None else ""
        whole = plain(name.strip(), lines=False)
        row = self.paint(self.cursor, self.scrollable_content_region.width).plain
        if whole in row:
            return ""
        return whole if len(name) < _LISTED else f"{whole}…"

    # -- painting --------------------------------------------------------------------------------------------

    def heading(self, width: int) -> Content:
        return Content(" " * _SIGN + "".join(text for _, text in heading(width - _SIGN, self.order)))

    def paint(self, index: int, width: int) -> Content:
        line = self.arranged.lines[index]
        if line.entry is None:
            assert line.group is not None
            cells = group_row(line.group, width - _SIGN)
            return Content.assemble(("▾ " if line.open else "▸ ", ""), *_style_cells(cells, "bold"))
        run = line.entry.run
        width -= _SIGN
        by = self.order.group
        cost = self.costs.get(run.id)
        cells = member_row(line.entry, by, width) if by else run_row(line.entry, cost, width, self.order.by)
        sign = ("◆" if run.id == self.marked else " ") + ("✓" if run.id in self.selection else " ")
        return Content.assemble((sign, HEADING), *_style_cells(cells, "", loud=run.status == "open"))

    # -- what is seen ----------------------------------------------------------------------------------------

    def show(self, arranged: ArrangedRuns, order: Order, *, near: bool = False) -> None:
        """Replace the table's lines. The cursor follows its run or group.

        If that is gone, the cursor goes to the first line, or with `near` keeps its index.
        """
        before, gone = _line_key(self.current), self.cursor if near else 0
        self.arranged, self.order = arranged, order
        place = next((i for i, line in enumerate(arranged.lines) if _line_key(line) == before), gone) if before else 0
        self.changed()
        self.go(place)
        self.request_costs()

    def request_costs(self) -> None:
        """Request the costs of the visible runs."""
        width = self.scrollable_content_region.width - _SIGN
        if self.order.group or not any(name in visible_columns(width, self.order.by) for name in COSTS):
            return
        top = round(self.scroll_offset.y)
        lines = self.arranged.lines[top : top + max(1, self.size.height)]
        runs = [line.entry.run.id for line in lines if line.entry is not None and line.entry.run.id not in self.costs]
        if runs:
            self.post_message(self.CostsNeeded(runs))

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        super().watch_scroll_y(old_value, new_value)
        self.request_costs()

    def on_resize(self, event: events.Resize) -> None:
        self.request_costs()  # Textual calls the base's own, too

    def on_click(self, event: events.Click) -> None:
        at = event.get_content_offset_capture(self)
        if at.y:
            return
        # In a scrolled list the base class would take this for a click on a line under the heading.
        event.prevent_default()
        width, offset = self.scrollable_content_region.width - _SIGN, at.x - _SIGN
        for name, text in heading(width, self.order):
            offset -= Content(text).cell_length
            if offset < 0:
                self.post_message(self.HeadingClicked(name))
                return


def _style_cells(cells: list[tuple[str, str]], style: str, *, loud: bool = False) -> list[tuple[str, str]]:
    return [
        (text, LOUD_WARNING if loud and name in ("status", "statuses") else MUTED if name in _QUIET else style)
        for name, text in cells
    ]


def _line_key(line: RunTableLine | None) -> tuple[str, str] | None:
    if line is None:
        return None
    return ("run", line.entry.run.id) if line.entry is not None else ("group", line.group.name if line.group else "")
