"""Answers to a page of the participant's room: a digit per line, and Enter for the marked one."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from math import inf
from typing import ClassVar

from rich.table import Column, Table
from rich.text import Text
from textual import events
from textual.binding import Binding, BindingType
from textual.message import Message
from textual.widgets import OptionList

from lab.core.plain_text import plain
from lab.core.screen_clock import Clock
from screens.slip import GUARD_SECONDS


class Answers(OptionList, inherit_bindings=False):
    """Choices below a page. A key within the first moment after the page is painted picks nothing."""

    HELP = """
    Each line has a digit: press it, or go there with **{play.above} {play.below}** and press **{play.take}**.
    **{play.down}** reads the page on.
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        *(
            Binding(str(digit), f"pick({digit})", f"Line {digit}", show=False, id=f"play.{digit}", tooltip="Choose it")
            for digit in range(1, 10)
        ),
        Binding("enter", "take", "Choose", id="play.take", tooltip="Choose the marked line"),
        Binding("down,j", "cursor_down", "Below", show=False, id="play.below", tooltip="The line below"),
        Binding("up,k", "cursor_up", "Above", show=False, id="play.above", tooltip="The line above"),
    ]
    DEFAULT_CSS = """
    Answers { height: auto; max-height: 60%; border: none; padding: 0; background: transparent; }
    Answers:focus { border: none; background-tint: transparent; }
    Answers > .option-list--option { padding: 0 1; }
    """

    @dataclass
    class Picked(Message):
        """Message: a line was chosen, counted from 0."""

        number: int

    @dataclass
    class Early(Message):
        """Message: a key came too soon to be meant for this page."""

    @dataclass
    class NothingMarked(Message):
        """Message: Enter was pressed while no line is marked."""

    def __init__(self, clock: Clock) -> None:
        super().__init__(id="answers", markup=False)
        self._clock = clock
        self._seen_at = inf

    def show_lines(self, lines: Sequence[str], *, marked: bool) -> None:
        """Show other lines. With `marked`, Enter may choose the first at once."""
        self.clear_options()
        self.add_options([self._option_row(number, line) for number, line in enumerate(lines, 1)])
        self.display = bool(lines)
        self.highlighted = 0 if marked and lines else None
        self._seen_at = inf
        self.call_after_refresh(self.note_painted)

    def _option_row(self, number: int, words: str) -> Table:
        """Return a row of the digit and its text, which may wrap."""
        line = Table.grid("", Column(overflow="fold"), padding=(0, 2, 0, 0))
        line.add_row(Text(str(number), style="bold underline"), Text(plain(words, lines=False)))
        return line

    def note_painted(self) -> None:
        """Note the time when these lines are painted, if their screen is the current one."""
        if self._seen_at == inf and self.screen.is_current:
            self._seen_at = self._clock.seconds()

    @property
    def ready(self) -> bool:
        """True if a key can be meant for these lines."""
        return self._clock.seconds() - self._seen_at >= GUARD_SECONDS

    def on_focus(self) -> None:
        """Mark nothing on focus, so that an Enter meant for the previous page does not agree to anything."""

    def action_pick(self, digit: int) -> None:
        if digit <= self.option_count:
            self._pick(digit - 1)

    def action_take(self) -> None:
        if self.highlighted is None:
            self.post_message(self.NothingMarked())
        else:
            self._pick(self.highlighted)

    def _pick(self, number: int) -> None:
        if not self.ready:
            self.post_message(self.Early())
            return
        self.highlighted = number
        self.post_message(self.Picked(number))

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """Choose a line by a click."""
        event.stop()
        self._pick(event.option_index)

    def on_key(self, event: events.Key) -> None:
        """Accept a digit in any width that an input method writes."""
        character = event.character or ""
        if len(character) == 1 and not character.isascii() and (digit := unicodedata.decimal(character, 0)):
            event.stop()
            self.action_pick(digit)
