"""The field for typed answers: text, number, box or note. Enter ends it, and letters are not keys here."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from textual import events
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.message import Message

from lab.core.run.screen_clock import Clock
from lab.studies.rating.rating_pace import Pace
from screens.widgets.border_words import write_title
from screens.widgets.text_fields import TextBox

TYPE = Binding.Group("Typing", compact=True)


def is_composed(character: str | None) -> bool:
    """Return True for a wide character, which comes from an input method and not from a key."""
    return bool(character) and any(unicodedata.east_asian_width(part) in "WF" for part in character or "")


class AnswerLine(TextBox):
    """Field of a typed answer. It grows by a few lines, and keeps its text when left."""

    HELP = """\
# Typing

**{entry.keep}** keeps what you typed and goes on, **{entry.newline}** begins a new line, **{entry.leave}** leaves:
what you typed stays there and is not yet an answer. **↑** on the first line and **↓** on the last lead back to the
items.
"""
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "end", "Keep", id="entry.keep", tooltip="Keep what was typed and go on"),
        Binding("ctrl+j,alt+enter,shift+enter", "new_line", "New line", show=False, id="entry.newline", group=TYPE,
                tooltip="Begin a new line"),
        Binding("pagedown", "read(1)", "Read on", show=False, id="entry.read_on", group=TYPE,
                tooltip="What is read beside it, a page on"),
        Binding("pageup", "read(-1)", "Read back", show=False, id="entry.read_back", group=TYPE,
                tooltip="What is read beside it, a page back"),
        Binding("escape", "leave", "Leave", id="entry.leave", tooltip="Back to the items; it stays typed"),
    ]  # fmt: skip
    DEFAULT_CSS = """
    AnswerLine { height: auto; max-height: 9; padding: 0 1; }
    """

    @dataclass
    class Ended(Message):
        """Message: Enter was pressed."""

    @dataclass
    class Exited(Message):
        """Message: Esc was pressed, or an arrow left the field by `by` items."""

        by: int = 0

    @dataclass
    class PageRequested(Message):
        """Message: scroll the text beside the field by so many pages."""

        by: int

    def __init__(self, clock: Clock, pace: Pace) -> None:
        super().__init__(id="entry", classes="pane", compact=True, show_line_numbers=False, soft_wrap=True)
        self._clock = clock
        self.pace = pace
        self.first_key_at: str | None = None
        self.begun = False
        """True if anything was typed since the field opened."""
        self.presets: Sequence[str] = ()
        """Texts that the digits from 1 write while the field holds nothing else."""
        self.display = False

    def open(
        self, title: str, words: str = "", hint: str = "", *, selected: bool = False, presets: Sequence[str] = ()
    ) -> None:
        """Open the field after its last text, and focus it.

        With `selected`, typing replaces that text, and a digit writes one of the `presets`.
        """
        self.presets = presets
        write_title(self, title)
        self.placeholder = Content(hint)
        self.text = words
        self.move_cursor(self.document.end)
        if selected:
            self.select_all()
        self.first_key_at, self.begun = None, False
        self.display = True
        self.focus()

    def close(self) -> None:
        self.display = False

    async def _on_key(self, event: events.Key) -> None:
        self.pace.touch()
        if event.key == "enter":
            event.prevent_default()  # a TextArea would insert a line break: the binding posts `Ended`
            return
        row, last = self.cursor_location[0], self.document.line_count - 1
        out = {"up": -1 if row == 0 else 0, "down": 1 if row == last else 0}.get(event.key, 0)
        if out:
            event.stop()
            event.prevent_default()
            self.post_message(self.Exited(out))
            return
        if (preset := self._preset(event)) is not None:
            event.stop()
            event.prevent_default()
            self.write(preset)
            return
        if event.is_printable and not self.begun:
            self.begin(None if is_composed(event.character) else self._clock.now())
        await super()._on_key(event)

    def _preset(self, event: events.Key) -> str | None:
        """Return the text that a digit writes, or None if the digit is an ordinary character."""
        character = event.character or ""
        number = unicodedata.decimal(character, -1) if len(character) == 1 else -1
        untouched = not self.text.strip() or self.text in self.presets or self.selected_text == self.text
        return self.presets[number - 1] if untouched and 1 <= number <= len(self.presets) else None

    def write(self, words: str) -> None:
        """Replace the text with these words."""
        if not self.begun:
            self.begin(self._clock.now())
        self.text = words
        self.move_cursor(self.document.end)

    async def _on_paste(self, event: events.Paste) -> None:
        event.prevent_default()
        if not self.begun:
            self.begin(None)
        await super()._on_paste(event)

    def begin(self, at: str | None) -> None:
        """Record that typing began at that time, or None if no key shows the time."""
        self.begun, self.first_key_at = True, at

    def action_end(self) -> None:
        self.post_message(self.Ended())

    def action_leave(self) -> None:
        self.post_message(self.Exited())

    def action_read(self, by: int) -> None:
        self.post_message(self.PageRequested(by))

    def action_new_line(self) -> None:
        self.insert("\n")
