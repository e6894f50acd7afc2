"""What is a room's own screen: when the keys go elsewhere in it, little is styled anew."""

from __future__ import annotations

from textual.dom import DOMNode
from textual.screen import Screen, ScreenResultType
from textual.widget import Widget


class RoomScreen(Screen[ScreenResultType]):
    """A screen whose panes tell by their borders which of them holds the keys (`:focus-within`), and nothing more.

    Textual styles all anew that stands in such a pane, whenever the keys go to it, from it or about in it: 43 widgets
    beside a live phone. Nothing in one looks otherwise for that, so here it is the pane alone.
    """

    def _update_focus_styles(self, focused: Widget | None = None, blurred: Widget | None = None) -> None:
        """Textual has no public hook here."""
        holders: set[DOMNode] = set()
        for widget in (focused, blurred):
            if widget is not None:
                holders.update(node for node in widget.ancestors_with_self if node._has_focus_within)
        if holders:
            self.app.stylesheet.update_nodes(holders, animate=True)
