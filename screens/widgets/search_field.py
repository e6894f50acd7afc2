"""A row that searches while the person types, with the result beside it."""

from __future__ import annotations

import re
from dataclasses import dataclass

from textual import on
from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.content import Content
from textual.message import Message
from textual.widgets import Input, Static

from lab.core.run.ui_tree import UiTree
from lab.core.text.read_text import is_from_ocr, line_contains
from screens.mirror.marks import PhoneMark
from screens.theme import FOUND
from screens.widgets.text_fields import TextLine


class SearchRow(Horizontal):
    """A search row, hidden until opened. Enter goes to the next match."""

    DEFAULT_CSS = """
    SearchRow { height: 1; padding: 0 1; display: none; }
    SearchRow.-open { display: block; }
    SearchRow Static { width: auto; }
    SearchRow Input { width: 1fr; }
    """

    @dataclass
    class SearchRequested(Message):
        """Message: search for `needle`, with its case folded. An empty needle ends the search.

        `on` means the next match: the current one does not count again.
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
        """Show the row and focus its field."""
        self.add_class("-open")
        self.query_one(Input).focus()

    def close(self) -> None:
        """Hide the row and end the search. The text stays in the field for the next time."""
        if not self.is_open:
            return
        self.remove_class("-open")
        self.say("")
        self.post_message(self.SearchRequested("", on=False))

    def say(self, text: str) -> None:
        """Show the result of the search."""
        self.query_one(".found", Static).update(text)

    @on(Input.Changed)
    def _search_typed(self, message: Input.Changed) -> None:
        message.stop()
        self._post_sought(message.value, on=False)

    @on(Input.Submitted)
    def _search_next(self, message: Input.Submitted) -> None:
        message.stop()
        self._post_sought(message.value, on=True)

    def _post_sought(self, text: str, *, on: bool) -> None:
        needle = text.strip().casefold()
        if not needle:
            self.say("")
        self.post_message(self.SearchRequested(needle, on))


def mark_matches(content: Content, needle: str) -> Content:
    """Mark each occurrence of `needle` in a text, ignoring case. An empty needle marks none."""
    if needle:
        for matches in re.finditer(re.escape(needle), content.plain, re.IGNORECASE):
            content = content.stylize(FOUND, matches.start(), matches.end())
    return content


def nodes_holding(tree: UiTree | None, needle: str) -> list[PhoneMark]:
    """Return a frame for each node of a screen whose text holds `needle`, labelled if it was read from the picture."""
    if tree is None or not needle:
        return []
    if is_from_ocr(tree):
        lines = (node for node in tree.roots if line_contains(node.text, needle))
        return [PhoneMark("box", node.bounds[:2], node.bounds[2:], "read") for node in lines]
    return [
        PhoneMark("box", node.bounds[:2], node.bounds[2:])
        for root in tree.roots
        for node in root.walk()
        if needle in node.label.casefold()
    ]
