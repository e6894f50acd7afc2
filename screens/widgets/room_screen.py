"""Base class of the rooms' screens: cheap restyling when the focus moves, and a resize event for every widget."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.dom import DOMNode
from textual.geometry import Size
from textual.screen import Screen, ScreenResultType
from textual.widget import Widget

from screens.lab import ReportsErrors

if TYPE_CHECKING:
    from textual._compositor import CompositorMap


class RoomScreen(ReportsErrors, Screen[ScreenResultType]):
    """A screen whose panes show only by their borders which of them has the focus (`:focus-within`).

    Textual restyles all widgets in such a pane whenever the focus enters it, leaves it or moves within it: 43 widgets
    beside a live phone. None of them looks different then, so this class restyles the pane alone.
    Textual sends a widget its new size if it differs from the map of the layout before. But a request for a region in
    between redraws this map with all pending changes (Textual 8.2), and then no widget is sent its new size. This class
    compares each layout with the map as it was after the previous one.
    """

    _last_layout: CompositorMap | None = None
    """Positions of all widgets after the last layout, or None before the first."""

    def _update_focus_styles(self, focused: Widget | None = None, blurred: Widget | None = None) -> None:
        """Restyle the panes that hold or held the focus. Textual has no public hook here."""
        holders: set[DOMNode] = set()
        for widget in (focused, blurred):
            if widget is not None:
                holders.update(node for node in widget.ancestors_with_self if node._has_focus_within)
        if holders:
            self.app.stylesheet.update_nodes(holders, animate=True)

    def _refresh_layout(self, size: Size | None = None, scroll: bool = False) -> None:
        """Lay out against the map of the previous layout. Textual has no public hook here."""
        if self._last_layout is not None:
            self._compositor._full_map = self._last_layout
        super()._refresh_layout(size, scroll)
        self._last_layout = self._compositor._full_map
