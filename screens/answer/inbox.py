"""The conversations of one person as a list: the longest wait first, what nobody looked at yet marked."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from rich.cells import cell_len
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.message import Message

from lab.core.screen_clock import Clock, seconds_between, span
from lab.runs.conversation_list import ConversationLine
from lab.runs.descriptions import one_line
from screens.theme import ACCENT, LOUD_WARNING, MUTED
from screens.widgets.lines import LineList

_KINDS = {"consent": "proposal", "judge": "judge", "tool": "result"}


class Inbox(LineList):
    """One line for each conversation: its mark, its wait, its client, what it asks."""

    HELP = """\
# Conversations

What clients ask, the longest wait first. `●` nobody looked at yet, `○` waits for your answer, `·` is answered.
**{list.open}** opens a conversation, **{answer.next}** the one that waits longest; **{answer.close}** ends one of which
nothing more is expected.
"""
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("x", "close", "End it", id="answer.close", tooltip="End this conversation: nothing more is expected"),
    ]

    @dataclass
    class Closing(Message):
        """The conversation under the cursor is to end."""

        line: ConversationLine

    def __init__(self, clock: Clock) -> None:
        super().__init__(id="inbox", classes="pane")
        self._clock = clock
        self.lines: list[ConversationLine] = []
        self.shown = ""
        """The run of the conversation that is open beside."""

    @property
    def count(self) -> int:
        return len(self.lines)

    @property
    def current(self) -> ConversationLine | None:
        """The conversation under the cursor."""
        return self.lines[self.cursor] if self.lines else None

    def put(self, lines: list[ConversationLine]) -> None:
        """Shows these; the cursor stays on the conversation it was on."""
        at, before = (self.current.run if self.current else ""), self.lines
        self.lines = lines
        places = {line.run: place for place, line in enumerate(lines)}
        if lines != before:
            self.set_reactive(LineList.cursor, places.get(at, min(self.cursor, max(0, len(lines) - 1))))
        self.changed()
        waits = sum(line.waits for line in lines)
        self.entitle("Conversations", f"{waits} wait" if waits != 1 else "1 waits")

    def longest(self, but: str = "") -> ConversationLine | None:
        """The conversation that waits longest, other than one."""
        return next((line for line in self.lines if line.waits and line.run != but), None)

    def paint(self, index: int, width: int) -> Content:
        line = self.lines[index]
        mark, look = ("●", LOUD_WARNING) if line.unread else ("○", ACCENT) if line.waits else ("·", MUTED)
        wait = span(seconds_between(line.asked_at, self._clock.now())) if line.waits else ""
        kind = _KINDS.get(line.kind, "")
        words = one_line(line.question or line.task)
        head = [(f"{mark} ", look), (f"{wait:>5}  ", MUTED), *([(f"{kind}: ", MUTED)] if kind else [])]
        if line.run == self.shown:
            head[0] = (f"{mark}▸", look)
        tail = f"  {one_line(line.client, 20)}"
        room = width - sum(cell_len(text) for text, _ in head) - cell_len(tail)
        return Content.assemble(*head, words if room < 12 else Content(words).truncate(room, ellipsis=True, pad=True),
                                ("" if room < 12 else tail, MUTED))  # fmt: skip

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        return bool(self.lines) if action == "close" else super().check_action(action, parameters)

    def action_close(self) -> None:
        if self.current is not None:
            self.post_message(self.Closing(self.current))
