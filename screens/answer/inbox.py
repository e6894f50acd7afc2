"""The inbox: one person's conversations in the order of their wait."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from rich.cells import cell_len
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.message import Message

from lab.core.run.screen_clock import Clock, format_duration, seconds_passed
from lab.runs.descriptions import one_line
from lab.runs.endpoint.conversation_list import ConversationLine
from screens.answer.words import counted, translated
from screens.theme import ACCENT, LOUD_WARNING, MUTED
from screens.widgets.lines import LineList

_KINDS = {"consent": "proposal", "judge": "judge", "tool": "result"}
"""Map kinds of questions that the list names to keys of `words`."""


class Inbox(LineList):
    """List of conversations: mark, wait, kind, text and client of each."""

    HELP = """\
# Conversations

What clients ask, the longest wait first. `●` nobody looked at yet, `○` waits for your answer, `·` is answered. `×` is a
question whose client left; it may come back for your answer. **{list.open}** opens a conversation, **{inbox.next}** the
one that waits longest; **{inbox.close}** ends one of which nothing more is expected. Where nothing is served from here,
**{inbox.serve}** starts an endpoint.
"""
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("x", "close", "End it", id="inbox.close", tooltip="End this conversation: nothing more is expected"),
        Binding("s", "serve", "Start", id="inbox.serve", tooltip="Start an endpoint here, at which clients ask you"),
    ]

    @dataclass
    class CloseRequested(Message):
        """Message: the person asks to end the conversation under the cursor."""

        line: ConversationLine

    @dataclass
    class StartRequested(Message):
        """Message: the person asks to start an endpoint."""

    def __init__(self, clock: Clock, locale: str) -> None:
        super().__init__(id="inbox", classes="pane")
        self._clock, self._locale = clock, locale
        self.may_start = False
        """True if this app can start an endpoint."""
        self.close_after = ""
        """Silence after which the endpoint ends a conversation, in words."""
        self.lines: list[ConversationLine] = []
        self.open_run = ""
        """Id of the run that is open beside the list."""

    @property
    def count(self) -> int:
        return len(self.lines)

    @property
    def current(self) -> ConversationLine | None:
        """Conversation under the cursor."""
        return self.lines[self.cursor] if self.lines else None

    def set_lines(self, lines: list[ConversationLine]) -> None:
        """Show these conversations. The cursor follows the conversation it was on."""
        at, before = (self.current.run if self.current else ""), self.lines
        self.lines = lines
        places = {line.run: place for place, line in enumerate(lines)}
        # Set without the watcher: `changed` below paints the list once.
        if lines != before:
            self.set_reactive(LineList.cursor, places.get(at, min(self.cursor, max(0, len(lines) - 1))))
        self.changed()
        waits = counted(self._locale, "waits", "wait", sum(line.is_waiting for line in lines))
        closing = translated(self._locale, "closed after", time=self.close_after) if self.close_after else ""
        self.write_titles(translated(self._locale, "conversations"), f"{waits} · {closing}" if closing else waits)

    def longest_waiting(self, but: str = "") -> ConversationLine | None:
        """Return the conversation that waits longest, except `but`.

        If none waits, return one whose client left its question.
        """
        forsaken = (line for line in self.lines if line.left_at and line.run != but)
        return next(iter([*self.waiting(but), *forsaken]), None)

    def left_ago(self, run: str) -> str:
        """Return how long ago the client of a question left, in words, empty if it did not leave."""
        line = next((line for line in self.lines if line.run == run), None)
        return (
            format_duration(seconds_passed(line.left_at, self._clock.now()))
            if line is not None and line.left_at
            else ""
        )

    def waiting(self, but: str = "") -> list[ConversationLine]:
        """Return the waiting conversations except `but`, in the list's order."""
        return [line for line in self.lines if line.is_waiting and line.run != but]

    def paint(self, index: int, width: int) -> Content:
        line = self.lines[index]
        mark, look = ("●", LOUD_WARNING) if line.unread else ("○", ACCENT) if line.is_waiting else ("·", MUTED)
        if line.left_at:
            mark, look = "×", MUTED
        wait = format_duration(seconds_passed(line.asked_at, self._clock.now())) if line.is_waiting else ""
        kind = translated(self._locale, _KINDS[line.kind]) if line.kind in _KINDS else ""
        words = one_line(line.question or line.title or line.task)
        left = translated(self._locale, "client left", ago=self.left_ago(line.run)) if line.left_at else f"{wait:>5}"
        head = [(f"{mark} ", look), (f"{left}  ", MUTED), *([(f"{kind}: ", MUTED)] if kind else [])]
        if line.run == self.open_run:
            head[0] = (f"{mark}▸", look)
        tail = f"  {one_line(line.client, 20)}"
        room = width - sum(cell_len(text) for text, _ in head) - cell_len(tail)
        return Content.assemble(*head, words if room < 12 else Content(words).truncate(room, ellipsis=True, pad=True),
                                ("" if room < 12 else tail, MUTED))  # fmt: skip

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action == "serve":
            return self.may_start
        return bool(self.lines) if action == "close" else super().check_action(action, parameters)

    def action_close(self) -> None:
        if self.current is not None:
            self.post_message(self.CloseRequested(self.current))

    def action_serve(self) -> None:
        self.post_message(self.StartRequested())
