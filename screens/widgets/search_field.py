"""A row that searches while it is typed into; what it found, or that it found nothing, is said beside it."""

from __future__ import annotations

import re
from dataclasses import dataclass

from textual import on
from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.content import Content
from textual.message import Message
from textual.widgets import Input, Static

from lab.core.read_text import line_holds, was_read
from lab.core.ui_tree import UiTree
from screens.mirror.marks import PhoneMark
from screens.theme import FOUND
from screens.widgets.text_fields import TextLine


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
        """`needle` is looked for, its case folded; empty: nothing any more.

        `on` where the place found before does not count again.
        """

        needle: str
        on: bool

    def __init__(self, hint: str, id: str) -> None:
        super().__init__(id=id)
        self._hint = hint

    def compose(self) -> ComposeResult:
        yield Static("Search: ", classes="word", markup=False)
        yield TextLine(placeholder=self._hint, compact=True)
        yield Static("", classes="found", markup=False)

    @property
    def is_open(self) -> bool:
        return self.has_class("-open")

    def open(self) -> None:
        """Shows the row and takes the keys."""
        self.add_class("-open")
        self.query_one(Input).focus()

    def close(self) -> None:
        """Hides the row, and nothing is looked for; what was typed stays for the next time."""
        if not self.is_open:
            return
        self.remove_class("-open")
        self.say("")
        self.post_message(self.Sought("", on=False))

    def say(self, text: str) -> None:
        """What the search came to."""
        self.query_one(".found", Static).update(text)

    @on(Input.Changed)
    def _typed(self, message: Input.Changed) -> None:
        message.stop()
        self._seek(message.value, on=False)

    @on(Input.Submitted)
    def _entered(self, message: Input.Submitted) -> None:
        message.stop()
        self._seek(message.value, on=True)

    def _seek(self, text: str, *, on: bool) -> None:
        needle = text.strip().casefold()
        if not needle:
            self.say("")
        self.post_message(self.Sought(needle, on))


def marked(content: Content, needle: str) -> Content:
    """Text with each place marked that holds `needle`, whatever its case; as it is where that is empty."""
    if needle:
        for matches in re.finditer(re.escape(needle), content.plain, re.IGNORECASE):
            content = content.stylize(FOUND, matches.start(), matches.end())
    return content


def nodes_holding(tree: UiTree | None, needle: str) -> list[PhoneMark]:
    """A frame for each node of a screen whose words hold `needle`; it says so where they were read from the picture."""
    if tree is None or not needle:
        return []
    if was_read(tree):
        lines = (node for node in tree.roots if line_holds(node.text, needle))
        return [PhoneMark("box", node.bounds[:2], node.bounds[2:], "read") for node in lines]
    return [
        PhoneMark("box", node.bounds[:2], node.bounds[2:])
        for root in tree.roots
        for node in root.walk()
        if needle in node.label.casefold()
    ]
