"""The table of runs. It paints only the visible lines and requests costs only for them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from textual import events
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.message import Message

from lab.core.plain_text import plain
from lab.runs.run_order import ArrangedRuns, Order, RunTableLine
from lab.runs.run_rows import Cost, RunEntry
from screens.runs.columns import COSTS, group_row, heading, member_row, run_row, visible_columns
from screens.theme import HEADING, LOUD_WARNING, MUTED
from screens.widgets.lines import MOVE, LineList

_LISTED = 200
"""Maximum characters of a name in a row of the file's list."""
_SIGN = 2
"""Columns before each line for its sign: marked, selected, open."""
_QUIET = frozenset({"persona", "source", "started", "statuses", "tags", *COSTS})


class RunTableView(LineList, inherit_bindings=False):
    """Runs, or groups of them."""

    HELP = """\
# Runs

Every run of the file. **{list.open}** plays the run back, or opens and closes a group.

- **{runs.filter}** filters: words, and fields with a value. `agent:qwen score<1 asks>0 -status:open source:knowu
  task:"two words"`. Words: id, task, agent, persona, source, status, kind, user, tag. Numbers: steps, asks, replies,
  score, attempt, tokens, cost, seconds. `started>2025-03` (UTC). `score:none` finds what is not known; that fits
  nothing else.
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
"""
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
        """Id of the run to compare with another; None if none is marked."""
        self.selection: set[str] = set()
        """Ids of the runs to archive or tag together."""

    @property
    def count(self) -> int:
        return len(self.arranged.lines)

    @property
    def current(self) -> RunTableLine | None:
        """The line under the cursor; None if the table is empty."""
        return self.arranged.lines[self.cursor] if self.arranged.lines else None

    @property
    def run(self) -> RunEntry | None:
        """The run under the cursor; None on a group."""
        return self.current.entry if self.current is not None else None

    @property
    def cut_name(self) -> str:
        """Full name of the line under the cursor if its row cuts it; else empty."""
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
        """Show other lines. The cursor stays on its run or group if that is still listed.

        Else it goes to the first line or, with `near`, stays at its index.
        """
        before, gone = _line_key(self.current), self.cursor if near else 0
        self.arranged, self.order = arranged, order
        place = next((i for i, line in enumerate(arranged.lines) if _line_key(line) == before), gone) if before else 0
        self.changed()
        self.go(place)
        self.look()

    def look(self) -> None:
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
        self.look()

    def on_resize(self, event: events.Resize) -> None:
        self.look()  # Textual calls the base's own, too

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
