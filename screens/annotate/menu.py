"""The menu of other answers to an item: a numbered list for digits, Enter or the mouse."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

from textual import events
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.message import Message

from screens.theme import MUTED
from screens.widgets.border_words import write_title
from screens.widgets.lines import LineList

OTHER = Binding.Group("Other answers", compact=True)
_MORE = "more"
_PAGE = 9


class MenuEntry(NamedTuple):
    """Line of the menu. `key` is the letter with the same effect outside it."""

    id: str
    text: str
    key: str = ""


class Menu(LineList):
    """Menu below the sheet. It closes after a choice."""

    HELP = """\
# Other answers

Each line has a digit: press it, or go there and press **{other.choose}**. **{other.leave}** or **{other.leave:0}**
leaves without choosing.
"""
    BINDINGS: ClassVar[list[BindingType]] = [
        *(
            Binding(str(digit), f"pick({digit})", f"Line {digit}", show=False, id=f"other.{digit}", group=OTHER,
                    tooltip=f"Choose line {digit}")
            for digit in range(1, 10)
        ),
        Binding("enter", "choose", "Choose", id="other.choose", tooltip="Choose this line"),
        Binding("escape,0", "leave", "Back", id="other.leave", tooltip="Leave without choosing"),
    ]  # fmt: skip

    @dataclass
    class Picked(Message):
        """Message: a line was chosen. `id` is empty if the menu was left."""

        id: str

    def __init__(self) -> None:
        super().__init__(id="other", classes="pane")
        self._all: Sequence[MenuEntry] = ()
        self.entries: Sequence[MenuEntry] = ()
        self.display = False

    def open(self, title: str, entries: Sequence[MenuEntry], *, marked: bool = True) -> None:
        """Show these entries and take the focus. Unless `marked`, Enter chooses nothing."""
        write_title(self, title)
        self._all = entries
        self._show_from(0, marked=marked)
        self.styles.height = len(self.entries) + 2
        self.display = True
        self.focus()

    def close(self) -> None:
        self.display = False

    def _show_from(self, start: int, *, marked: bool = True) -> None:
        """Show nine lines from `start`. If more are left, the ninth leads to them."""
        entries = list(self._all[start:])
        if len(entries) > _PAGE:
            entries = [*entries[: _PAGE - 1], MenuEntry(_MORE, "more ...")]
        elif start:
            entries.append(MenuEntry(_MORE, "from the top ..."))
        self._start = start
        self.entries = entries
        self.cursor = 0 if marked else -1
        self.changed()

    @property
    def count(self) -> int:
        return len(self.entries)

    def paint(self, index: int, width: int) -> Content:
        entry = self.entries[index]
        key = (f"  {entry.key}", MUTED) if entry.key else ("", "")
        return Content.assemble((f"{index + 1} ", "bold"), entry.text, key)

    def on_key(self, event: events.Key) -> None:
        """Accept digits of any width, as input methods write them, and a line's own letter."""
        character = event.character or ""
        chosen_entry = next((entry for entry in self._all if entry.key and entry.key == character), None)
        if chosen_entry is not None:
            event.stop()
            self.post_message(self.Picked(chosen_entry.id))
            return
        if len(character) == 1 and not character.isascii() and (digit := unicodedata.decimal(character, -1)) >= 0:
            event.stop()
            self.action_pick(digit)

    def on_click(self, event: events.Click) -> None:
        index = event.get_content_offset_capture(self).y + self.scroll_offset.y
        if 0 <= index < self.count:
            self.action_pick(index + 1)

    def action_pick(self, digit: int) -> None:
        if digit == 0:
            self.action_leave()
        elif digit <= self.count:
            self._pick(digit - 1)

    def validate_cursor(self, index: int) -> int:
        return max(-1, min(index, self.count - 1))

    def action_choose(self) -> None:
        if 0 <= self.cursor < self.count:
            self._pick(self.cursor)

    def _pick(self, index: int) -> None:
        id = self.entries[index].id
        if id == _MORE:
            has_more = len(self._all) - self._start > _PAGE
            self._show_from(self._start + _PAGE - 1 if has_more else 0)
            self.styles.height = len(self.entries) + 2
        else:
            self.post_message(self.Picked(id))

    def action_leave(self) -> None:
        self.post_message(self.Picked(""))
