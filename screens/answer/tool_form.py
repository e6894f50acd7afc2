"""The functions that a client offers, and a form for the arguments of the one that is called."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.message import Message
from textual.widget import Widget
from textual.widgets import Input, Select, Static

from lab.core.errors import LabError
from lab.core.plain_text import plain
from lab.core.step import Question, ToolCall
from lab.runs.descriptions import one_line
from screens.key_names import with_keys
from screens.theme import MUTED
from screens.widgets.lines import LineList
from simulators.users.endpoint.chat_request import Tool
from simulators.users.endpoint.tool_arguments import ToolField, arguments_of, fields_of

_LISTED = 6
"""Functions that are listed at once."""


class ToolList(LineList):
    """The functions by name, with what they are for."""

    HELP = """\
# Functions

What the client can do for you, such as looking at your phone's settings. **{list.open}** opens the form of one;
**{answer.tool}** goes back to your words.
"""
    empty = "The client offers no function."

    def __init__(self) -> None:
        super().__init__(id="tool-list")
        self.tools: tuple[Tool, ...] = ()

    @property
    def count(self) -> int:
        return len(self.tools)

    def paint(self, index: int, width: int) -> Content:
        tool = self.tools[index]
        return Content.assemble((one_line(tool.name, 60), "bold"), (f"  {one_line(tool.description)}", MUTED))

    def put(self, tools: tuple[Tool, ...]) -> None:
        self.tools = tools
        self.styles.height = max(1, min(_LISTED, len(tools)))
        self.changed()


class ToolForm(Vertical):
    """The list of functions, then the form of one; `Sent` brings the call."""

    HELP = """
    The arguments of the function; those with a star are required. **{tool.send}** has the client call it, and what it
    gives back comes as the next question.
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+s", "send", "Call it", id="tool.send", tooltip="Have the client call this function"),
    ]
    DEFAULT_CSS = """
    ToolForm { height: auto; max-height: 70%; display: none; }
    ToolForm > #tool-fields { height: auto; max-height: 14; }
    ToolForm Static { height: auto; width: 1fr; }
    """

    @dataclass
    class Sent(Message):
        """A function is to be called in answer to a question."""

        question: Question
        call: ToolCall

    def __init__(self) -> None:
        super().__init__(id="tools", classes="pane")
        self.question: Question | None = None
        self.tool: Tool | None = None
        """The function whose form is open; None while they are listed."""
        self._list = ToolList()
        self._fields = VerticalScroll(id="tool-fields")
        self._says = Static("", id="tool-says", markup=False)
        self._entries: list[tuple[ToolField, Input | Select[str]]] = []

    def compose(self) -> ComposeResult:
        yield self._list
        yield self._fields
        yield self._says

    def open(self, question: Question, tools: tuple[Tool, ...]) -> None:
        """Lists the functions; a single one opens its form at once."""
        self.question, self.tool, self.display = question, None, True
        self.border_title = "Functions"
        self._list.put(tools)
        self._fields.display, self._list.display = False, True
        self._tell()
        if len(tools) == 1:
            self.run_worker(self._open_form(tools[0]), exclusive=True, group="form")
        else:
            self._list.focus()

    def close(self) -> None:
        """Takes it away."""
        self.question, self.tool, self.display = None, None, False

    def back(self) -> bool:
        """From a form to the list; False where that is shown."""
        if self.tool is None or self._list.count < 2:
            return False
        self.tool = None
        self._fields.display, self._list.display = False, True
        self._list.focus()
        self._tell()
        return True

    @on(LineList.Chosen, "#tool-list")
    def _chosen(self, message: LineList.Chosen) -> None:
        message.stop()
        self.run_worker(self._open_form(self._list.tools[message.index]), exclusive=True, group="form")

    async def _open_form(self, tool: Tool) -> None:
        self.tool = tool
        self._entries = [(field, _entry(field)) for field in fields_of(tool)]
        await self._fields.remove_children()
        await self._fields.mount_all(self._rows(tool))
        self._fields.display, self._list.display = True, False
        self.border_title = plain(tool.name, lines=False)[:60]
        self._tell()
        first: Widget = self._entries[0][1] if self._entries else self._fields
        first.focus()

    def _rows(self, tool: Tool) -> Sequence[Widget]:
        about = Static(plain(tool.description or "It takes no arguments."), markup=False)
        rows: list[Widget] = [about]
        for field, entry in self._entries:
            star = " *" if field.required else ""
            words = f"{plain(field.name, lines=False)}{star}  {one_line(field.description)}"
            rows += [Static(words, classes="ask", markup=False), entry]
        return rows

    def action_send(self) -> None:
        if self.tool is None or self.question is None:
            return
        typed = {field.name: _typed(entry) for field, entry in self._entries}
        try:
            arguments = arguments_of(self.tool, typed)
        except LabError as error:
            self._tell(f"! {plain(error.message)}")
            return
        self._tell("sending ...")
        call = ToolCall(self.tool.name, arguments, f"call_{self.question.id.replace('-', '')[-24:]}")
        self.post_message(self.Sent(self.question, call))

    @on(Input.Submitted)
    def _entered(self) -> None:
        self.screen.focus_next()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        return self.tool is not None if action == "send" else super().check_action(action, parameters)

    def _tell(self, words: str = "") -> None:
        hint = "{tool.send} has it called" if self.tool is not None else "{list.open} opens a function's form"
        self._says.update(words or with_keys(self, hint))
        self.refresh_bindings()


def _entry(field: ToolField) -> Input | Select[str]:
    options = ("true", "false") if field.kind == "boolean" else field.options
    if options:
        shown = [(plain(option, lines=False)[:100], option) for option in options]
        return Select(shown, prompt="choose", compact=True)
    return Input(placeholder=field.words, compact=True)


def _typed(entry: Input | Select[str]) -> str:
    if isinstance(entry, Input):
        return entry.value
    return entry.value if isinstance(entry.value, str) else ""
