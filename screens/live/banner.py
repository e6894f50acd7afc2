"""The line above a live run: how it stands, what ends it, and for how long it has been going."""

from __future__ import annotations

from rich.text import Text
from textual.reactive import reactive
from textual.widget import Widget


class Banner(Widget):
    """`left` is what matters now and is never cut before `right`."""

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
