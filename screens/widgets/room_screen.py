"""What is a room's own screen: little is styled anew when the keys move, and every widget hears of its new size."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.dom import DOMNode
from textual.geometry import Size
from textual.screen import Screen, ScreenResultType
from textual.widget import Widget

from screens.lab import TellsRefusals

if TYPE_CHECKING:
    from textual._compositor import CompositorMap


class RoomScreen(TellsRefusals, Screen[ScreenResultType]):
    """A screen whose panes tell by their borders which of them holds the keys (`:focus-within`), and nothing more.

    Textual styles all anew that stands in such a pane, whenever the keys go to it, from it or about in it: 43 widgets
    beside a live phone. Nothing in one looks otherwise for that, so here it is the pane alone.

    Textual tells a widget of its new size where that differs from the map of the layout before. It draws this map anew,
    with all that is still to be laid out, when a region is asked for in between (8.2): then nobody hears of a new size.
    Here a layout is compared with what the one before it really was.
    """

    _last_layout: CompositorMap | None = None
    """Where everything was after the last layout; None before the first."""

    def _update_focus_styles(self, focused: Widget | None = None, blurred: Widget | None = None) -> None:
        """Textual has no public hook here."""
        holders: set[DOMNode] = set()
        for widget in (focused, blurred):
            if widget is not None:
                holders.update(node for node in widget.ancestors_with_self if node._has_focus_within)
        if holders:
            self.app.stylesheet.update_nodes(holders, animate=True)

    def _refresh_layout(self, size: Size | None = None, scroll: bool = False) -> None:
        """Textual has no public hook here."""
        if self._last_layout is not None:
            self._compositor._full_map = self._last_layout
        super()._refresh_layout(size, scroll)
        self._last_layout = self._compositor._full_map
