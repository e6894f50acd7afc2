"""The keys along the bottom of a screen."""

from __future__ import annotations

from textual.app import ComposeResult
from textual.widgets import Footer as TextualFooter
from textual.widgets._footer import FooterKey


class Footer(TextualFooter):
    """Textual's footer without its word for the palette, whose keys are styled once.

    Textual's keys are born compact and learn from their footer that they are not, each time it is laid out anew: two
    styles for every key, a fifth of what it takes to open a room.
    """

    def __init__(self) -> None:
        super().__init__(show_command_palette=False)

    def compose(self) -> ComposeResult:
        for child in super().compose():
            if isinstance(child, FooterKey):
                child.set_reactive(FooterKey.compact, self.compact)
            yield child
