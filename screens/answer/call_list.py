"""Function calls of an answer that is not sent yet. A person can change or remove each of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

from textual.binding import Binding, BindingType
from textual.content import Content
from textual.message import Message

from lab.runs.descriptions import one_line
from screens.theme import MUTED
from screens.widgets.lines import LineList
from simulators.users.endpoint.chat_request import Tool

_LISTED = 3
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
        self.styles.height = max(1, min(_LISTED, len(calls)))
        self.changed()

    def action_remove(self) -> None:
        if self.calls:
            del self.calls[self.cursor]
            self.set_calls(self.calls)
            self.post_message(self.Removed(len(self.calls)))
