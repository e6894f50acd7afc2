"""The app's stylesheet, parsed anew only after a theme change, and the list of the rooms' sheets."""

from __future__ import annotations

from pathlib import Path, PurePath

from textual.cache import LRUCache
from textual.css.stylesheet import Stylesheet

from screens.rooms import ROOMS

ROOM_STYLES: list[str | PurePath] = [
    Path(__file__).parent / folder / f"{folder}.tcss" for room in ROOMS.values() for folder in room.styles
]
"""Each room's sheet in the order of the cascade. The first room that opens loads all, because rooms share widgets.

Home needs none of them, and reading them would take a twentieth of its start.
"""
_KEPT = 1024
"""Size of the cache of parsed rules.

Textual keeps 64 sheets and goes through all whenever it mounts a new class of widget: from the 65th on it would parse
each anew.
"""


class ThemedStylesheet(Stylesheet):
    """A stylesheet that keeps its rules while the theme's variables stay the same.

    Textual parses all CSS again for the first screen of each mode, though the theme is the same: a tenth of a start.
    """

    def __init__(self, *, variables: dict[str, str]) -> None:
        super().__init__(variables=variables)
        # Private in Textual, which offers no setting for the size.
        self._parse_cache = LRUCache(_KEPT)
        self._parsed_with = dict(variables)
        self._other_variables = False

    def set_variables(self, variables: dict[str, str]) -> None:
        if variables != self._parsed_with:
            self._parsed_with, self._other_variables = dict(variables), True
            super().set_variables(variables)

    def reparse(self) -> None:
        if self._other_variables:
            super().reparse()
            self._other_variables = False
