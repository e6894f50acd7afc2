"""A row that searches while it is typed into; what it found, or that it found nothing, is said beside it."""

from __future__ import annotations

from dataclasses import dataclass

from textual import on
from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.message import Message
from textual.widgets import Input, Static


class SearchRow(Horizontal):
    """Hidden until it is opened; Enter goes on to the next place."""

    DEFAULT_CSS = """
    SearchRow { height: 1; padding: 0 1; display: none; }
    SearchRow.-open { display: block; }
    SearchRow Static { width: auto; }
    SearchRow Input { width: 1fr; }
    """

    @dataclass
    class Sought(Message):
        """`needle` is looked for; `on` where the place found before does not count again."""

        needle: str
        on: bool

    def __init__(self, hint: str, id: str) -> None:
        super().__init__(id=id)
        self._hint = hint

    def compose(self) -> ComposeResult:
        yield Static("Search: ", classes="word")
        yield Input(placeholder=self._hint, compact=True)
        yield Static("", classes="found", markup=False)

    @property
    def is_open(self) -> bool:
        return self.has_class("-open")

    def open(self) -> None:
        """Shows the row and takes the keys."""
        self.add_class("-open")
        self.query_one(Input).focus()

    def close(self) -> None:
        """Hides the row; what was typed stays for the next time."""
        self.remove_class("-open")

    def say(self, found: str) -> None:
        """What the search came to."""
        self.query_one(".found", Static).update(found)

    @on(Input.Changed)
    def _typed(self, message: Input.Changed) -> None:
        message.stop()
        self._seek(message.value, on=False)

    @on(Input.Submitted)
    def _entered(self, message: Input.Submitted) -> None:
        message.stop()
        self._seek(message.value, on=True)

    def _seek(self, typed: str, *, on: bool) -> None:
        needle = typed.strip().casefold()
        if needle:
            self.post_message(self.Sought(needle, on))
        else:
            self.say("")
