"""The phone of one run beside the sheet, in the room that its words leave; regions that answers rest on."""

from __future__ import annotations

from typing import Literal, NamedTuple

from screens.phone.fit import room
from screens.replay.still import Still

Region = tuple[int, int, int, int]

_WORDS = 36
"""Columns that words get before the phone may be wider than its shape asks."""


class Evidence(NamedTuple):
    """A place that an answer rests on (`ID@7`), with a region of its screen where one was drawn."""

    place: str
    region: Region | None = None
    label: str = ""


class Phone(Still):
    """The phone of one side, as wide as the words beside it allow; with all the room where it stands alone."""

    alone = False
    area = (80, 24)
    """Columns and rows of the whole side."""

    def draw_region(self, on: bool) -> None:
        """Says that the next drag is a region, or no longer."""
        if on is not self.has_class("-drawing"):
            self.set_class(on, "-drawing")
            self.entitle()

    def entitle(self) -> None:
        drawing = self.has_class("-drawing")
        self.mirror.border_title = "Drag a region, or click a thing" if drawing else self.moment

    def take_room(self) -> None:
        width, height = self.area
        if self.alone:
            self._fit("wide" if self._shape[1] > self._shape[0] and height < 40 else "fit", "1fr")
            return
        columns, zoom = room(self._shape, max(1, height - 2), round(width * 0.5), width - _WORDS)
        self._fit(zoom, columns + 2)

    def _fit(self, zoom: Literal["fit", "wide", "2x"], width: int | str) -> None:
        if self.mirror.zoom != "2x":
            self.mirror.zoom = zoom
        wanted = str(width)
        if self.styles.width is None or str(self.styles.width) != wanted:
            self.styles.width = width
