"""Widget that shows a picture by the terminal's own graphics. Nothing can be drawn over it."""

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
"""Picture numbers in Kitty's protocol, far from those with which other programs begin."""


class TerminalPicture(Vertical):
    """Framed widget of a stored picture with marks. `show` may be called at any rate, and the last call counts."""

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
        """True if the codes of the last picture asked for are made."""
        return self._area.drawn

    def show(self, image: bytes | None, size: Point, marks: Sequence[PhoneMark]) -> None:
        """Show a stored picture (PNG or JPEG bytes) of a phone of `size` pixels, with marks in those pixels."""
        self._area.show(image, size, tuple(marks))


class PictureArea(Widget, can_focus=False):
    """Cells over which the terminal paints. Textual writes blanks, and the picture's codes follow them."""

    def __init__(self, graphics: TerminalGraphics) -> None:
        super().__init__()
        self._graphics = graphics
        self._number = next(_NUMBERS)
        self._wanted: tuple[bytes | None, Point, tuple[PhoneMark, ...]] | None = None
        self._cells: PictureCells | None = None
        self._asked = 0
        self._made = 0
        self.sent = False
        """True if the terminal holds the picture."""

    @property
    def drawn(self) -> bool:
        """True if the codes of the last picture asked for are made."""
        return self._made == self._asked

    def show(self, image: bytes | None, size: Point, marks: tuple[PhoneMark, ...]) -> None:
        """Make the codes of this picture, then show it."""
        if (image, size, marks) != self._wanted:
            self._wanted = image, size, marks
            self._remake()

    def on_resize(self, event: events.Resize) -> None:
        """Make the codes again for the new size."""
        self._remake()

    def on_mount(self) -> None:
        """Subscribe to screen changes. Other screens and dialogs cover this widget without a `Hide` event."""
        self.app.screen_change_signal.subscribe(self, self._follow_screen)
        self.screen.screen_layout_refresh_signal.subscribe(self, self._follow_layout)

    def on_hide(self, event: events.Hide) -> None:
        """Delete the picture. Characters take its place, or nothing."""
        self._forget()

    def on_unmount(self) -> None:
        """Delete the picture, since its screen is gone."""
        self._forget()

    def _follow_screen(self, change: object) -> None:
        """Delete the picture under another screen, even if a dialog leaves part of it visible."""
        if not self.screen.is_active:
            self._forget()

    def _follow_layout(self, screen: object) -> None:
        """Refresh if something, such as a notice, has come over the picture or left it."""
        if self._cells is not None and self.sent is not self._in_sight:
            self.refresh()

    def _forget(self) -> None:
        """Delete the picture from Kitty, which otherwise keeps it over whatever is written there."""
        if self.sent and self._graphics.kind == "kitty":
            lab_of(self).send(kitty_end(self._number))
        self.sent = False

    def _remake(self) -> None:
        if self._wanted is not None and self.size.area:
            self._asked += 1
            self._encode(self._asked, *self._wanted, (self.size.width, self.size.height))

    @work(exclusive=True, group="codes")
    async def _encode(
        self, number: int, image: bytes | None, size: Point, marks: tuple[PhoneMark, ...], room: Point
    ) -> None:
        """Make the picture's codes on a thread. The one before remains until then."""
        # An exclusive worker is cancelled here when another picture is asked for.
        self._cells = await asyncio.to_thread(self._picture_codes, image, size, marks, room)
        self._made = number
        self.refresh()

    def _picture_codes(
        self, image: bytes | None, size: Point, marks: tuple[PhoneMark, ...], room: Point
    ) -> PictureCells | None:
        picture = marked(image, size, marks)
        return None if picture is None else picture_cells(picture, room, self._graphics, self._number)

    def render_lines(self, crop: Region) -> list[Strip]:
        """Return blank cells, and after the last of them the picture, whatever the crop.

        Writing cells destroys sixel and iTerm2 pictures, so all of it is sent each time. Nothing is sent while
        something covers it, since the picture would be drawn over that.
        """
        blank = Strip([Segment(" " * crop.width, Style(bgcolor=self.background_colors[1].rich_color))], crop.width)
        lines = [blank] * crop.height
        cells = self._cells
        if cells is None or not lines or not self._in_sight:
            self._forget()
            return lines
        self.sent = True
        last = [*blank, *_codes_at(self.region.x + cells.left, self.region.y + cells.top, cells.codes)]
        return [*lines[:-1], Strip(last, crop.width)]

    @property
    def _in_sight(self) -> bool:
        """True if all of it is visible: a picture can neither be clipped nor drawn over."""
        region, screen = self.region, self.screen
        if not screen.is_active or not region or not screen.region.contains_region(region):
            return False
        # Three columns of each row are enough to find what covers it, and cheaper than all.
        columns = (region.x, (region.x + region.right) // 2, region.right - 1)
        return all(screen.get_widget_at(x, y)[0] is self for y in range(region.y, region.bottom) for x in columns)


def _codes_at(x: int, y: int, codes: str) -> list[Segment]:
    """Return codes to write at a cell. The cursor returns to where it was."""
    control = ((ControlType.CURSOR_FORWARD, 0),)
    text = f"\x1b7{Control.move_to(x, y).segment.text}{codes}\x1b8"
    return [Segment(text, _PLAIN, control)]
