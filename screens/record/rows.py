"""Choices of a person who demonstrates: the phone's keys, how it ends, why it is impossible."""

from __future__ import annotations

from typing import ClassVar

from rich.text import Text
from textual.binding import BindingType

from screens.live.choices import Choice, Choices, choice_bindings

COMPLETE, ANSWER, IMPOSSIBLE = "complete", "answer", "impossible"


class ChoiceGrid(Choices):
    """Choices in as few rows as possible, in columns of equal width."""

    def _places(self, width: int) -> list[tuple[int, int, int]]:
        sizes = [cell.cell_len for cell in self._cells()]
        column = max(sizes) + 2
        across = self._column_count(width)
        return [(n % across * column, n // across, size) for n, size in enumerate(sizes)]

    def _column_count(self, width: int) -> int:
        """Return the number of columns, with the choices spread evenly over the rows."""
        count = len(self.CHOICES)
        most = max(1, (width + 2) // (max(cell.cell_len for cell in self._cells()) + 2))
        return -(-count // -(-count // most))

    def action_line(self, by: int) -> None:
        across = self._column_count(self.size.width)
        if self.cursor >= 0 and 0 <= self.cursor + by * across < len(self.CHOICES):
            self.cursor += by * across
        else:
            super().action_line(by * len(self.CHOICES))

    def render(self) -> Text:
        text, cells = Text(), self._cells()
        for cell, (left, row, _) in zip(cells, self._places(self.size.width), strict=True):
            if left == 0 and row:
                text.append("\n")
            text.append(" " * (left - len(text.plain.rpartition("\n")[2]))).append_text(cell)
        return text


class PhoneKeys(ChoiceGrid):
    """Actions other than touching the phone."""

    HELP = """
    Your turn: tap, hold, drag and scroll on the phone with the mouse, or take one of these by its digit or its
    underlined letter. **{record.nodes}** lists what can be tapped, for those who have no mouse. Nothing is done before
    **Enter**, except in a quick recording.
    """
    GROUP = "record"
    CHOICES = (
        Choice("navigate_back", "b", "back", "The phone's back key"),
        Choice("navigate_home", "h", "home", "The phone's home key"),
        Choice("press_recent", "r", "recent", "The apps opened lately"),
        Choice("keyboard_enter", "e", "enter", "The keyboard's enter key"),
        Choice("input_text", "t", "type", "Text for the field that has the cursor"),
        Choice("open_app", "o", "open app", "An app by its name"),
        Choice("scroll", "s", "scroll", "Further down, or another way"),
        Choice("wait", "w", "wait", "For the phone"),
        Choice("finish", "f", "finish", "It is done, answered, or impossible"),
    )
    BINDINGS: ClassVar[list[BindingType]] = [*choice_bindings(GROUP, CHOICES)]


class FinishRow(Choices):
    """Ways in which a demonstration ends."""

    HELP = """
    How it ends: the intent is fulfilled, or its question answered, or it cannot be done as asked. **{run.back}** goes
    back.
    """
    GROUP = "finish"
    CHOICES = (
        Choice(COMPLETE, "c", "complete", "What was intended is done"),
        Choice(ANSWER, "a", "answer", "What was asked is found; say it"),
        Choice(IMPOSSIBLE, "i", "impossible", "It cannot be done as asked"),
    )
    BINDINGS: ClassVar[list[BindingType]] = [*choice_bindings(GROUP, CHOICES)]


class ReasonRow(Choices):
    """Reasons why it is impossible. The choices' names are the stored codes."""

    HELP = """
    Why it is impossible. It violates a convention: no app is used that way. It cannot be completed: something that it
    needs is not there. It is ambiguous: it can be understood in several ways. **{run.back}** goes back.
    """
    GROUP = "reason"
    CHOICES = (
        Choice("violates-convention", "v", "violates a convention", "No app is used that way"),
        Choice("cannot-complete", "c", "cannot be completed", "Something that it needs is not there"),
        Choice("ambiguous", "a", "ambiguous", "It can be understood in several ways"),
    )
    BINDINGS: ClassVar[list[BindingType]] = [*choice_bindings(GROUP, CHOICES)]
