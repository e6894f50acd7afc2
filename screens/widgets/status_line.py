"""A status of a line or two. A new text causes a layout only if it needs another number of lines."""

from __future__ import annotations

from textual.content import Content
from textual.widgets import Static


class StatusLine(Static):
    """A status line. Its content is plain characters or our own spans."""

    def __init__(self, id: str) -> None:
        super().__init__("", id=id, markup=False)
        self._current = Content("")
        self._rows = 0

    @property
    def current_text(self) -> Content:
        """The current text."""
        return self._current

    def say(self, content: Content) -> None:
        """Show another text. The same text again costs nothing."""
        if content == self._current and content.spans == self._current.spans:
            return
        width = self.scrollable_content_region.width or self.size.width
        rows = len(content.wrap(width)) if width else -1
        self.update(content, layout=rows != self._rows or not width)
        self._current, self._rows = content, rows
