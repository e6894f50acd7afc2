"""Panes that a developer opens below a run: its breakpoints, and its steps to rewind to."""

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

from lab.core.errors import LabError
from lab.core.text.plain_text import plain
from lab.runs.breakpoints import SPELLINGS, Breakpoint, Breakpoints
from screens.key_names import focus_opened, with_keys
from screens.theme import ERROR, MUTED
from screens.widgets.lines import LineList
from screens.widgets.table import RowList
from screens.widgets.text_fields import TextLine

_MOST = 6
"""Maximum number of rows of a list in view."""


class BreakpointList(RowList[Breakpoint]):
    """List of breakpoints, each on or off."""

    HELP = f"""\
# Breakpoints

The run stands still before anything is done that fits one: {SPELLINGS}. An app or words count where they come up.
**{{breaks.add}}** adds one, **{{list.open}}** switches one off or on, **{{breaks.remove}}** takes it away,
**{{run.back}}** closes the list. Where the run stands, **{{run.step}}** lets one turn pass, **{{run.resume}}** goes
on; the gate's keys approve, edit or reject what waits.
"""
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("a", "add", "Add", show=False, id="breaks.add", tooltip="Write another breakpoint"),
        Binding("d,delete", "remove", "Remove", show=False, id="breaks.remove", tooltip="Take this one away"),
    ]
    empty = "No breakpoints."

    @dataclass
    class Removed(Message):
        """Message: remove the breakpoint under the cursor."""

        spec: str

    @dataclass
    class Adding(Message):
        """Message: write another breakpoint."""

    def __init__(self, id: str) -> None:
        super().__init__(id, classes="")

    def show(self, rows: tuple[Breakpoint, ...]) -> None:
        self.styles.height = min(_MOST, max(1, len(rows)))
        self.set_rows(rows)

    def paint(self, index: int, width: int) -> Content:
        point = self.rows[index]
        if point.on:
            return Content.assemble(("● ", ERROR), plain(point.spec, lines=False))
        return Content.assemble(("○ ", MUTED), (f"{plain(point.spec, lines=False)}  off", MUTED))

    def action_add(self) -> None:
        self.post_message(self.Adding())

    def action_remove(self) -> None:
        if self.count:
            self.post_message(self.Removed(self.rows[self.cursor].spec))


class BreaksPanel(Vertical):
    """Pane to list, add, switch and remove the run's breakpoints while it continues."""

    DEFAULT_CSS = """
    BreaksPanel { height: auto; display: none; }
    BreaksPanel > Static { height: auto; width: 1fr; }
    """

    def __init__(self, points: Breakpoints) -> None:
        super().__init__(id="breaks")
        self._breakpoints = points
        self._points = BreakpointList(id="points")
        self._field = TextLine(id="point", compact=True, select_on_focus=False, placeholder=SPELLINGS)
        self._hint = Static(id="breaks-hint", markup=False)
        self.border_title = "Breakpoints"

    def compose(self) -> ComposeResult:
        yield self._points
        yield self._field
        yield self._hint

    def open(self) -> None:
        """Show the list and focus it, or the field if there are no breakpoints."""
        self.display = True
        self._refresh_list()
        focus_opened(self._points if self._breakpoints.all else self._field)

    def close(self) -> None:
        self.display = False

    def go_back(self) -> bool:
        """Go back from the field to the list. Return False if that is not possible."""
        if not self._field.has_focus or not self._breakpoints.all:
            return False
        focus_opened(self._points)
        return True

    def _refresh_list(self) -> None:
        self._points.show(self._breakpoints.all)
        self._update_hint()

    def _update_hint(self, problem: str = "") -> None:
        writing = self._field.has_focus
        keys = "{breaks.add} adds · {list.open} on or off · {breaks.remove} removes · {run.back} closes"
        line = with_keys(self, "Enter adds it; {run.back} goes back." if writing else keys)
        self._hint.update(Text(problem or line))

    def on_descendant_focus(self) -> None:
        self._update_hint()

    @on(BreakpointList.Adding)
    def _focus_field(self, message: BreakpointList.Adding) -> None:
        message.stop()
        focus_opened(self._field)

    @on(BreakpointList.Removed)
    def _remove_breakpoint(self, message: BreakpointList.Removed) -> None:
        message.stop()
        self._breakpoints.remove(message.spec)
        self._refresh_list()

    @on(LineList.Chosen)
    def _toggle_breakpoint(self, message: LineList.Chosen) -> None:
        message.stop()
        self._breakpoints.toggle(self._breakpoints.all[message.index].spec)
        self._refresh_list()

    @on(Input.Submitted)
    def _add_breakpoint(self, message: Input.Submitted) -> None:
        message.stop()
        try:
            self._breakpoints.add(message.value)
        except LabError as error:
            self._update_hint(
                f"! {plain(message.value, lines=False)!r} {plain(error.message, lines=False)}. {error.hint}"
            )
            return
        message.input.clear()
        self._refresh_list()
        self._points.go(self._points.count - 1)
        focus_opened(self._points)


class DebugStepList(RowList[str]):
    """List of the run's steps."""

    HELP = """\
# Rewind

**{list.open}** goes back to before this step: the phone is put back, this run ends as stopped, and a new one, which is
the same up to there, stands still before it: **{run.take}** takes over, **{run.breaks}** sets breakpoints,
**{run.gate}** asks before each action, **{run.step}** lets one turn pass, **{run.resume}** goes on. **{run.back}**
closes the list; nothing happens.
"""

    def __init__(self, id: str) -> None:
        super().__init__(id, classes="")

    def paint(self, index: int, width: int) -> Content:
        number = f"{index + 1:>{len(str(self.count))}}  "
        return Content.assemble((number, MUTED), plain(self.rows[index], lines=False))


class RewindPanel(Vertical):
    """Pane to choose the step before which the run continues."""

    DEFAULT_CSS = """
    RewindPanel { height: auto; display: none; }
    RewindPanel > Static { height: auto; width: 1fr; }
    """

    @dataclass
    class Requested(Message):
        """Message: rewind the run to before step `index` (from 0)."""

        index: int

    def __init__(self) -> None:
        super().__init__(id="rewind")
        self._step_list = DebugStepList(id="been")
        self.border_title = "Rewind to before ..."

    def compose(self) -> ComposeResult:
        yield self._step_list
        does = "{list.open}: a new run from before this step, which stands still. {run.back} closes."
        yield Static(with_keys(self, does), markup=False)

    def open(self, steps: list[str]) -> None:
        """Show the steps, with the last under the cursor."""
        been = self._step_list
        been.styles.height = min(_MOST, len(steps))
        self.display = True
        been.set_rows(steps)
        been.go(len(steps) - 1)
        focus_opened(been)

    def close(self) -> None:
        self.display = False

    @on(LineList.Chosen)
    def _post_wanted(self, message: LineList.Chosen) -> None:
        message.stop()
        self.close()
        self.post_message(self.Requested(message.index))
