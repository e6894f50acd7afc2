"""The form for function calls: a list of the client's functions, and fields for the arguments of one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

from rich.text import Text
from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.message import Message
from textual.widget import Widget
from textual.widgets import Input, Select, Static

from lab.core.errors import LabError
from lab.core.run.step import Question
from lab.core.text.plain_text import plain
from lab.runs.descriptions import one_line
from screens.answer.words import counted, translated
from screens.key_names import focus_now, with_keys
from screens.theme import MUTED
from screens.widgets.border_words import write_title
from screens.widgets.lines import LineList
from screens.widgets.text_fields import TextLine
from simulators.users.endpoint.chat_request import Tool
from simulators.users.endpoint.tool_arguments import ToolField, arguments_of, fields_of

_CALLS_LISTED = 3
"""Maximum number of calls in view."""


class CallDraft(NamedTuple):
    """A call that is not sent yet: the text of its form, and the resulting JSON arguments."""

    tool: Tool
    typed: Mapping[str, str]
    arguments: str


class CallList(LineList):
    """List of calls in the order in which they are sent."""

    HELP = """\
# Calls of this answer

They are sent together, in this order. **{list.open}** opens a call's form again, **{call.remove}** takes a call out,
**{tool.send}** sends all of them.
"""
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("x", "remove", "Take out", id="call.remove", tooltip="Take this call out of the answer"),
    ]

    @dataclass
    class Removed(Message):
        """Message: the person removed a call. `count` calls remain."""

        count: int

    def __init__(self) -> None:
        super().__init__(id="call-list")
        self.calls: list[CallDraft] = []
        self.display = False

    @property
    def count(self) -> int:
        return len(self.calls)

    def paint(self, index: int, width: int) -> Content:
        call = self.calls[index]
        arguments = one_line(call.arguments)
        return Content.assemble((f"{index + 1:>2}  ", MUTED), (one_line(call.tool.name, 60), "bold"), f"  {arguments}")

    def set_calls(self, calls: list[CallDraft]) -> None:
        """Show these calls. Hide the list if there are none."""
        self.calls = calls
        self.display = bool(calls)
        self.styles.height = max(1, min(_CALLS_LISTED, len(calls)))
        self.changed()

    def action_remove(self) -> None:
        if self.calls:
            del self.calls[self.cursor]
            self.set_calls(self.calls)
            self.post_message(self.Removed(len(self.calls)))


_LISTED = 6
"""Maximum number of functions in view."""


class ToolList(LineList):
    """List of functions: name and description of each."""

    HELP = """\
# Functions

What the client can do for you, such as looking at your phone's settings. **{list.open}** opens the form of one;
**{inbox.tool}** goes back to your words.
"""

    def __init__(self, locale: str) -> None:
        super().__init__(id="tool-list")
        self.empty = translated(locale, "tools.none")
        self.tools: tuple[Tool, ...] = ()

    @property
    def count(self) -> int:
        return len(self.tools)

    def paint(self, index: int, width: int) -> Content:
        tool = self.tools[index]
        return Content.assemble((one_line(tool.name, 60), "bold"), (f"  {one_line(tool.description)}", MUTED))

    def set_tools(self, tools: tuple[Tool, ...]) -> None:
        self.tools = tools
        self.styles.height = max(1, min(_LISTED, len(tools)))
        self.changed()


class ToolForm(Vertical):
    """Pane with the list of functions, or the form of one. `Sent` carries all calls of the answer."""

    HELP = """
    The arguments of the function; those with a star are required. **{tool.send}** has the client call it, and what it
    gives back comes as the next question. **{tool.another}** keeps the call and goes back to the list: the calls of an
    answer are sent together.
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+s", "send", "Call", id="tool.send", tooltip="Have the client call this and what was kept"),
        Binding("ctrl+l", "another", "And another", id="tool.another",
                tooltip="Keep this call, and choose another function to call with it"),
    ]  # fmt: skip
    DEFAULT_CSS = """
    ToolForm { height: auto; max-height: 70%; display: none; }
    ToolForm > #tool-fields { height: auto; max-height: 14; }
    ToolForm Static { height: auto; width: 1fr; }
    """

    @dataclass
    class Sent(Message):
        """Message: names and JSON arguments of the functions to call in reply to a question."""

        question: Question
        functions: tuple[tuple[str, str], ...]

    def __init__(self, locale: str) -> None:
        super().__init__(id="tools", classes="pane")
        self._locale = locale
        self.question: Question | None = None
        self.tool: Tool | None = None
        """Function of the open form, or None while the list is shown."""
        self._one_call = False
        self._place: int | None = None
        """Index of the call that the form changes, or None for a new one."""
        self._calls = CallList()
        self._drafts: dict[str, list[CallDraft]] = {}
        """Unsent calls by question, for questions that the person left."""
        self._list = ToolList(locale)
        self._fields = VerticalScroll(id="tool-fields")
        self._hint = Static("", id="tool-says", markup=False)
        self._entries: list[tuple[ToolField, Input | Select[str]]] = []

    def compose(self) -> ComposeResult:
        yield self._calls
        yield self._list
        yield self._fields
        yield self._hint

    @property
    def calls(self) -> int:
        """Number of calls that are filled in but not sent."""
        return self._calls.count

    def open(self, question: Question, tools: tuple[Tool, ...], *, one_call: bool = False) -> None:
        """Show the list of functions with the unsent calls. Open the form at once if there is only one function.

        `one_call`: the client takes one call at most.
        """
        if self.question is None or self.question.id != question.id:
            self.load_calls(question)
        self.question, self.tool, self.display, self._one_call = question, None, True, one_call
        self._list.set_tools(tools)
        if len(tools) == 1 and not self._calls.count:
            self._open_in_worker(tools[0])
        else:
            self._show_list()

    def load_calls(self, question: Question) -> None:
        """Load the unsent calls of a question without showing the form."""
        self.question = question
        self._calls.set_calls(self._drafts.pop(question.id, []))

    def hide(self) -> None:
        """Hide the form to make room for the text field. The calls remain until the question ends."""
        self.tool, self.display = None, False

    def close(self) -> None:
        """Close the form. Store the unsent calls for when their question is opened again."""
        self.hide()
        if self.question is not None:
            self._drafts[self.question.id] = self._calls.calls
        self.question = None
        self._calls.set_calls([])

    def go_back(self) -> bool:
        """Return from a form to the list. Return False if the list is open or has nothing to choose from."""
        if self.tool is None or (self._list.count < 2 and not self._calls.count):
            return False
        self._show_list()
        return True

    def _show_list(self) -> None:
        self.tool, self._place = None, None
        self._fields.display, self._list.display = False, True
        self._calls.set_calls(self._calls.calls)
        write_title(self, translated(self._locale, "tools"))
        focus_now(self._calls if self._calls.count and self._list.count == 1 else self._list)
        self._update_hint()

    @on(LineList.Chosen, "#tool-list")
    def _open_chosen(self, message: LineList.Chosen) -> None:
        message.stop()
        self._open_in_worker(self._list.tools[message.index])

    @on(LineList.Chosen, "#call-list")
    def _open_call(self, message: LineList.Chosen) -> None:
        message.stop()
        self._open_in_worker(self._calls.calls[message.index].tool, message.index)

    @on(CallList.Removed)
    def _update_after_removal(self, message: CallList.Removed) -> None:
        if not message.count:
            focus_now(self._list)
        self._update_hint()

    def _open_in_worker(self, tool: Tool, place: int | None = None) -> None:
        self.run_worker(self._open_form(tool, place), exclusive=True, group="form")

    async def _open_form(self, tool: Tool, place: int | None) -> None:
        """Open the form of a function: empty, or filled in with the call at that index."""
        values = {} if place is None else self._calls.calls[place].typed
        self.tool, self._place = tool, place
        self._entries = [(field, self._make_entry(field, values.get(field.name, ""))) for field in fields_of(tool)]
        await self._fields.remove_children()
        await self._fields.mount_all(self._form_rows(tool))
        self._fields.display, self._list.display, self._calls.display = True, False, False
        write_title(self, one_line(tool.name, 60))
        self._update_hint()
        first: Widget = self._entries[0][1] if self._entries else self._fields
        focus_now(first)

    def _form_rows(self, tool: Tool) -> Sequence[Widget]:
        about = Static(plain(tool.description or translated(self._locale, "tools.no arguments")), markup=False)
        rows: list[Widget] = [about]
        for field, entry in self._entries:
            star = " *" if field.required else ""
            words = f"{plain(field.name, lines=False)}{star}  {one_line(field.description)}"
            rows += [Static(words, classes="ask", markup=False), entry]
        return rows

    def _make_entry(self, field: ToolField, value: str) -> Input | Select[str]:
        options = ("true", "false") if field.kind == "boolean" else field.options
        if not options:
            return TextLine(value, placeholder=field.words, compact=True)
        # Text, not Content: Textual's type-to-search in an open Select accepts only `str` and `Text`.
        rows: list[tuple[Any, str]] = [(Text(plain(option, lines=False)[:100]), option) for option in options]
        entry = Select(rows, prompt=translated(self._locale, "tools.choose"), compact=True)
        if value in options:
            entry.value = value
        return entry

    def action_send(self) -> None:
        calls = self._calls_with_form()
        if not calls or self.question is None:
            return
        self._update_hint(translated(self._locale, "sending"))
        self.post_message(self.Sent(self.question, tuple((call.tool.name, call.arguments) for call in calls)))

    def action_another(self) -> None:
        """Add the open form's call to the list and choose another function."""
        calls = self._calls_with_form()
        if calls:
            self._calls.set_calls(calls)
            self._show_list()
            focus_now(self._list)

    def _calls_with_form(self) -> list[CallDraft]:
        """Return the calls with that of the open form, empty if the form has an error, which is shown."""
        calls = [*self._calls.calls]
        if self.tool is None:
            return calls
        values = {field.name: _entry_text(entry) for field, entry in self._entries}
        try:
            draft = CallDraft(self.tool, values, arguments_of(self.tool, values))
        except LabError as error:
            self._update_hint(f"! {plain(error.message)}")
            return []
        place = len(calls) if self._place is None else self._place
        calls[place : place + 1] = [draft]
        return calls

    @on(Input.Submitted)
    def _focus_next(self) -> None:
        self.screen.focus_next()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action == "send":
            return self.tool is not None or self._calls.count > 0
        if action == "another":
            return self.tool is not None and not self._one_call
        return super().check_action(action, parameters)

    def _update_hint(self, words: str = "") -> None:
        self._hint.update(words or with_keys(self, self._hint_words()))
        self.refresh_bindings()

    def _hint_words(self) -> str:
        count = self._calls.count
        if self.tool is not None:
            hint = translated(self._locale, "tools.send all" if count else "tools.send")
            return hint if self._one_call else f"{hint} · {translated(self._locale, 'tools.another')}"
        return (
            counted(self._locale, "tools.call", "tools.calls", count)
            if count
            else translated(self._locale, "tools.list")
        )


def _entry_text(entry: Input | Select[str]) -> str:
    if isinstance(entry, Input):
        return entry.value
    return entry.value if isinstance(entry.value, str) else ""
