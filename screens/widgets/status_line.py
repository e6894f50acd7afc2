"""A line or two that say how things stand; the screen is laid out anew only where they need more or fewer lines."""

from __future__ import annotations

from textual.content import Content
from textual.widgets import Static


class StatusLine(Static):
    """What is said is plain characters already, or spans of our own."""

    def __init__(self, id: str) -> None:
        super().__init__("", id=id, markup=False)
        self._said = Content("")
        self._rows = 0

    @property
    def said(self) -> Content:
        """What is said now."""
        return self._said

    def say(self, content: Content) -> None:
        """Says something else; saying the same again costs nothing."""
        if content == self._said and content.spans == self._said.spans:
            return
        width = self.scrollable_content_region.width or self.size.width
        rows = len(content.wrap(width)) if width else -1
        self.update(content, layout=rows != self._rows or not width)
        self._said, self._rows = content, rows
