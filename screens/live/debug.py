"""What a developer opens beneath a run: its breakpoints, and its steps to go back to."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from rich.text import Text
from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.message import Message
from textual.widgets import Input, Static

from lab.breakpoints import WAYS, Breakpoint, Breakpoints
from lab.errors import LabError
from lab.plain import plain
from screens.lines import Lines

MUTED = "$foreground-muted"
_MOST = 6
"""Lines of a list that stand open at once; the rest scrolls."""


class Points(Lines):
    """Breakpoints, each on or off."""

    HELP = f"""\
# Breakpoints

The run stands still before anything is done that fits one: {WAYS}. An app or words count where they come up.
**a** adds one, **Enter** switches one off or on, **d** takes it away, **Esc** closes the list. Where the run stands,
**s** lets one turn pass, **ctrl+r** goes on; the gate's keys approve, edit or reject what waits.
"""
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("a", "add", "Add", show=False, id="breaks.add", tooltip="Write another breakpoint"),
        Binding("d,delete", "remove", "Remove", show=False, id="breaks.remove", tooltip="Take this one away"),
    ]
    empty = "No breakpoints: a adds one."

    @dataclass
    class Removed(Message):
        """The one under the cursor is to go."""

        spec: str

    @dataclass
    class Adding(Message):
        """Another is to be written."""

    def __init__(self, id: str) -> None:
        super().__init__(id=id)
        self.rows: tuple[Breakpoint, ...] = ()

    @property
    def count(self) -> int:
        return len(self.rows)

    def show(self, rows: tuple[Breakpoint, ...]) -> None:
        self.rows = rows
        self.styles.height = min(_MOST, max(1, len(rows)))
        self.changed()

    def paint(self, index: int, width: int) -> Content:
        point = self.rows[index]
        if point.on:
            return Content.assemble(("● ", "$text-error"), plain(point.spec, lines=False))
        return Content.assemble(("○ ", MUTED), (f"{plain(point.spec, lines=False)}  off", MUTED))

    def action_add(self) -> None:
        self.post_message(self.Adding())

    def action_remove(self) -> None:
        if self.count:
            self.post_message(self.Removed(self.rows[self.cursor].spec))


class BreaksPanel(Vertical):
    """The breakpoints of the run, listed, added, switched and taken away while it goes on."""

    DEFAULT_CSS = """
    BreaksPanel { height: auto; display: none; }
    BreaksPanel > Static { height: auto; width: 1fr; }
    """

    def __init__(self, points: Breakpoints) -> None:
        super().__init__(id="breaks")
        self._points = points
        self.border_title = "Breakpoints"

    def compose(self) -> ComposeResult:
        yield Points(id="points")
        yield Input(id="point", compact=True, select_on_focus=False, placeholder=WAYS)
        yield Static(id="breaks-hint", markup=False)

    def open(self) -> None:
        """Shows the list and takes the keys."""
        self.display = True
        self._list()
        (self.query_one(Points) if self._points.all else self.query_one(Input)).focus()

    def close(self) -> None:
        self.display = False

    def back(self) -> bool:
        """One step back: from the line that is written to the list; False where there is none."""
        if not self.query_one(Input).has_focus or not self._points.all:
            return False
        self.query_one(Points).focus()
        return True

    def _list(self) -> None:
        self.query_one(Points).show(self._points.all)
        self._tell()

    def _tell(self, problem: str = "") -> None:
        writing = self.query_one(Input).has_focus
        line = "Enter adds it; Esc goes back." if writing else "a adds · Enter on or off · d removes · Esc closes"
        self.query_one("#breaks-hint", Static).update(Text(problem or line))

    def on_descendant_focus(self) -> None:
        self._tell()

    @on(Points.Adding)
    def _adding(self, message: Points.Adding) -> None:
        message.stop()
        self.query_one(Input).focus()

    @on(Points.Removed)
    def _removed(self, message: Points.Removed) -> None:
        message.stop()
        self._points.remove(message.spec)
        self._list()

    @on(Lines.Chosen)
    def _chosen(self, message: Lines.Chosen) -> None:
        message.stop()
        self._points.toggle(self._points.all[message.index].spec)
        self._list()

    @on(Input.Submitted)
    def _submitted(self, message: Input.Submitted) -> None:
        message.stop()
        try:
            self._points.add(message.value)
        except LabError as error:
            self._tell(f"! {plain(message.value, lines=False)!r} {plain(error.message, lines=False)}. {error.hint}")
            return
        message.input.clear()
        self._list()
        self.query_one(Points).go(self.query_one(Points).count - 1)
        self.query_one(Points).focus()


class Been(Lines):
    """The steps that were done, to go back to."""

    HELP = """\
# Rewind

**Enter** goes back to before this step: the phone is put back, this run ends as stopped, and a new one, which is the
same up to there, goes on at once. **Esc** closes the list; nothing happens.
"""

    def __init__(self, id: str) -> None:
        super().__init__(id=id)
        self.rows: list[str] = []

    @property
    def count(self) -> int:
        return len(self.rows)

    def paint(self, index: int, width: int) -> Content:
        number = f"{index + 1:>{len(str(self.count))}}  "
        return Content.assemble((number, MUTED), plain(self.rows[index], lines=False))


class RewindPanel(Vertical):
    """Asks before which step the run is to go on."""

    DEFAULT_CSS = """
    RewindPanel { height: auto; display: none; }
    RewindPanel > Static { height: auto; width: 1fr; }
    """

    @dataclass
    class Wanted(Message):
        """The run is to go on from before step `index` (from 0)."""

        index: int

    def __init__(self) -> None:
        super().__init__(id="rewind")
        self.border_title = "Rewind to before ..."

    def compose(self) -> ComposeResult:
        yield Been(id="been")
        yield Static("Enter goes back to before this step, as a new run; Esc closes.", markup=False)

    def open(self, steps: list[str]) -> None:
        """Shows the steps, the last under the cursor."""
        been = self.query_one(Been)
        been.rows = list(steps)
        been.styles.height = min(_MOST, len(steps))
        self.display = True
        been.changed()
        been.go(len(steps) - 1)
        been.focus()

    def close(self) -> None:
        self.display = False

    @on(Lines.Chosen)
    def _chosen(self, message: Lines.Chosen) -> None:
        message.stop()
        self.close()
        self.post_message(self.Wanted(message.index))
