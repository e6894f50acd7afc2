"""The app's stylesheet, parsed anew only where a theme changed what it says, and the rooms' own sheets."""

from __future__ import annotations

from pathlib import Path, PurePath

from textual.cache import LRUCache
from textual.css.stylesheet import Stylesheet

_ROOMS = (
    "replay/replay", "live/live", "record/record", "author/author", "review/review", "runs/runs", "compare/compare",
    "play/play", "annotate/annotate", "agreement/agreement", "raters/raters", "study_progress/study_progress",
    "adjudicate/adjudicate", "answer/answer",
)  # fmt: skip
ROOM_STYLES: list[str | PurePath] = [Path(__file__).parent / f"{room}.tcss" for room in _ROOMS]
"""Each room's sheet, in the order of the cascade. The first room that opens loads all: rooms share widgets.

Home needs none of them, and a twentieth of its start would go into reading them.
"""
_KEPT = 1024
"""Sheets whose rules are kept. Textual keeps 64, and goes through all whenever a widget of a new class is mounted: from
the 65th on it would read each anew."""


class ThemedStylesheet(Stylesheet):
    """A stylesheet that keeps its rules while the theme's variables stay the same.

    Textual refreshes all CSS for the first screen of each mode, though no theme was changed: a tenth of a start.
    """

    def __init__(self, *, variables: dict[str, str]) -> None:
        super().__init__(variables=variables)
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
