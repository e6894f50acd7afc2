"""The line above a live run: its state, the keys that end it, and its duration."""

from __future__ import annotations

from rich.text import Text
from textual.reactive import reactive
from textual.widget import Widget


class Banner(Widget):
    """One line of two texts. `right` disappears before `left` is cut."""

    DEFAULT_CSS = """
    Banner { height: 1; width: 1fr; padding: 0 1; }
    """

    left: reactive[str] = reactive("")
    right: reactive[str] = reactive("")

    def render(self) -> Text:
        width = self.size.width
        left, right = Text(self.left, style="bold"), Text(self.right)
        if left.cell_len + right.cell_len + 2 > width:
            left.truncate(width, overflow="ellipsis")
            return left
        return Text.assemble(left, " " * (width - left.cell_len - right.cell_len), right)
