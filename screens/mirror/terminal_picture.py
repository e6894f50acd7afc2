"""The widget that shows a picture by the terminal's own graphics; characters cannot be drawn over it."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from itertools import count

from rich.control import Control
from rich.segment import ControlType, Segment
from rich.style import Style
from textual import events, work
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.geometry import Region
from textual.strip import Strip
from textual.widget import Widget

from lab.core.step import Point
from screens.lab import lab_of
from screens.mirror.marks import PhoneMark
from screens.mirror.picture_codes import PictureCells, kitty_end, marked, picture_cells
from screens.mirror.terminal_graphics import TerminalGraphics

_PLAIN = Style()
_NUMBERS = count(0x6869)
"""What pictures are called in Kitty's protocol: a number each, far from those that others begin with."""


class TerminalPicture(Vertical):
    """A stored picture with marks on it, in a frame; `show` may be called as often as one likes, the last counts."""

    DEFAULT_CSS = """
    TerminalPicture {
        width: 1fr; height: 1fr; border: round $border-blurred; border-subtitle-align: right;
        & > PictureArea { width: 1fr; height: 1fr; }
    }
    """

    def __init__(self, graphics: TerminalGraphics, *, classes: str | None = None) -> None:
        super().__init__(classes=classes)
        self._area = PictureArea(graphics)

    def compose(self) -> ComposeResult:
        yield self._area

    @property
    def drawn(self) -> bool:
        """Whether what was asked for last is what the terminal was sent."""
        return self._area.drawn

    def show(self, image: bytes | None, size: Point, marks: Sequence[PhoneMark]) -> None:
        """Shows a stored picture (PNG or JPEG bytes) of a phone of `size` pixels, with marks in those pixels."""
        self._area.show(image, size, tuple(marks))


class PictureArea(Widget, can_focus=False):
    """The cells that the terminal paints over: it is sent empty ones, and then the picture."""

    def __init__(self, graphics: TerminalGraphics) -> None:
        super().__init__()
        self._graphics = graphics
        self._number = next(_NUMBERS)
        self._wanted: tuple[bytes | None, Point, tuple[PhoneMark, ...]] | None = None
        self._cells: PictureCells | None = None
        self._asked = 0
        self._made = 0
        self.sent = False
        """Whether the terminal has the picture."""

    @property
    def drawn(self) -> bool:
        """Whether what was asked for last is what the terminal was sent."""
        return self._made == self._asked

    def show(self, image: bytes | None, size: Point, marks: tuple[PhoneMark, ...]) -> None:
        """Shows this picture as soon as its codes are made."""
        if (image, size, marks) != self._wanted:
            self._wanted = image, size, marks
            self._make()

    def on_resize(self, event: events.Resize) -> None:
        """Another room asks for another size."""
        self._make()

    def on_mount(self) -> None:
        """Other rooms and dialogs come before this one without its being hidden."""
        self.app.screen_change_signal.subscribe(self, self._screen_changed)
        self.screen.screen_layout_refresh_signal.subscribe(self, self._laid_out)

    def on_hide(self, event: events.Hide) -> None:
        """Characters have taken its place, or nothing."""
        self._forget()

    def on_unmount(self) -> None:
        """The screen it is on is gone."""
        self._forget()

    def _screen_changed(self, change: object) -> None:
        """Under another screen no picture is drawn, not even what a dialog leaves in sight."""
        if not self.screen.is_active:
            self._forget()

    def _laid_out(self, screen: object) -> None:
        """Something may have come before the picture, a notice say, or gone from there."""
        if self._cells is not None and self.sent is not self._in_sight:
            self.refresh()

    def _forget(self) -> None:
        """Kitty keeps a picture, over whatever is written there next, until it is told otherwise."""
        if self.sent and self._graphics.kind == "kitty":
            lab_of(self).send(kitty_end(self._number))
        self.sent = False

    def _make(self) -> None:
        if self._wanted is not None and self.size.area:
            self._asked += 1
            self._encode(self._asked, *self._wanted, (self.size.width, self.size.height))

    @work(exclusive=True, group="codes")
    async def _encode(
        self, number: int, image: bytes | None, size: Point, marks: tuple[PhoneMark, ...], room: Point
    ) -> None:
        """Makes the picture's codes on a thread; until then the one before stands."""
        self._cells = await asyncio.to_thread(self._codes, image, size, marks, room)
        self._made = number
        self.refresh()

    def _codes(
        self, image: bytes | None, size: Point, marks: tuple[PhoneMark, ...], room: Point
    ) -> PictureCells | None:
        picture = marked(image, size, marks)
        return None if picture is None else picture_cells(picture, room, self._graphics, self._number)

    def render_lines(self, crop: Region) -> list[Strip]:
        """Empty cells; after the last of them the picture, wherever the crop begins.

        Sixel and iTerm2 pictures are lost where cells are written, so all of it is sent each time. Where anything
        stands before it nothing is sent: it would be drawn over that.
        """
        blank = Strip([Segment(" " * crop.width, Style(bgcolor=self.background_colors[1].rich_color))], crop.width)
        lines = [blank] * crop.height
        cells = self._cells
        if cells is None or not lines or not self._in_sight:
            self._forget()
            return lines
        self.sent = True
        last = [*blank, *_at(self.region.x + cells.left, self.region.y + cells.top, cells.codes)]
        return [*lines[:-1], Strip(last, crop.width)]

    @property
    def _in_sight(self) -> bool:
        """Whether all of it is: a picture cannot be cut, nor anything be drawn over it."""
        region, screen = self.region, self.screen
        if not screen.is_active or not region or not screen.region.contains_region(region):
            return False
        columns = (region.x, (region.x + region.right) // 2, region.right - 1)
        return all(screen.get_widget_at(x, y)[0] is self for y in range(region.y, region.bottom) for x in columns)


def _at(x: int, y: int, codes: str) -> list[Segment]:
    """Codes that are written at a cell, the cursor being left where it was."""
    control = ((ControlType.CURSOR_FORWARD, 0),)
    text = f"\x1b7{Control.move_to(x, y).segment.text}{codes}\x1b8"
    return [Segment(text, _PLAIN, control)]
