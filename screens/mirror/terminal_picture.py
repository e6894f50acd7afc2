"""Widget that shows a picture by the terminal's own graphics. Nothing can be drawn over it.

textual-image lacks what this needs: iTerm2's protocol (also the best of WezTerm), pictures that give way to a dialog or
a notice over them, and encoding off the UI thread.
"""

from __future__ import annotations

import asyncio
import base64
import io
import re
from collections.abc import Sequence
from itertools import count
from typing import TYPE_CHECKING, NamedTuple

from rich.control import Control
from rich.segment import ControlType, Segment
from rich.style import Style
from textual import events, work
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.geometry import Region
from textual.strip import Strip
from textual.widget import Widget

from lab.core.run.step import Point
from lab.core.values.safe_images import open_picture
from screens.lab import lab_of
from screens.mirror.marks import PhoneMark
from screens.mirror.terminal_graphics import TerminalGraphics

if TYPE_CHECKING:
    from PIL.Image import Image

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
    def is_drawn(self) -> bool:
        """True if the codes of the last picture asked for are made."""
        return self._area.is_drawn

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
    def is_drawn(self) -> bool:
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
        picture = draw_marks(image, size, marks)
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


_INK = (255, 59, 107)
_CHUNK = 4096
"""Maximum bytes of base64 in one message of Kitty's protocol."""


class PictureCells(NamedTuple):
    """Position of a picture in its widget, in cells, and the codes that draw it at the cursor."""

    left: int
    top: int
    columns: int
    rows: int
    codes: str


def fit_cells(picture: Point, room: Point, cell: Point) -> tuple[int, int, int, int]:
    """Return left, top, columns and rows of a picture (pixels) centred in `room` (cells), in its aspect ratio."""
    scale = min(room[0] * cell[0] / picture[0], room[1] * cell[1] / picture[1])
    columns = max(1, min(room[0], round(picture[0] * scale / cell[0])))
    rows = max(1, min(room[1], round(picture[1] * scale / cell[1])))
    return (room[0] - columns) // 2, (room[1] - rows) // 2, columns, rows


def picture_cells(image: Image, room: Point, graphics: TerminalGraphics, number: int) -> PictureCells:
    """Return a picture as the codes of `graphics`, as large as `room` (columns, rows) allows.

    `number` identifies it in Kitty's protocol. A later picture of the same number replaces it.
    """
    cell = graphics.cell_size
    left, top, columns, rows = fit_cells(image.size, room, cell)
    pixel_size = columns * cell[0], rows * cell[1]
    # Kitty and iTerm2 scale pictures themselves: to reduce a larger one only saves bytes.
    if graphics.kind == "sixel" or pixel_size[0] < image.width:
        image = image.resize(pixel_size, reducing_gap=2.0)
    match graphics.kind:
        case "kitty":
            codes = kitty_codes(image, columns, rows, number)
        case "iterm2":
            codes = iterm2_codes(image, columns, rows)
        case _:
            codes = sixel_codes(image, graphics.registers)
    return PictureCells(left, top, columns, rows, codes)


def kitty_codes(image: Image, columns: int, rows: int, number: int) -> str:
    """Return the codes of Kitty's graphics protocol: the PNG in chunks, shown at the cursor. The terminal sends no
    reply.

    Source: sw.kovidgoyal.net/kitty/graphics-protocol, "Transmission" and "Display".
    """
    data = _png(image)
    chunks = [data[at : at + _CHUNK] for at in range(0, len(data), _CHUNK)]
    # q=2 suppresses replies, which would arrive as keys. C=1 leaves the cursor in place.
    first = f"a=T,f=100,t=d,i={number},p=1,q=2,C=1,c={columns},r={rows}"
    heads = [first, *("q=2" for _ in chunks[1:])]
    more = [1] * (len(chunks) - 1) + [0]
    return "".join(
        f"\x1b_G{head},m={flag};{chunk}\x1b\\" for head, flag, chunk in zip(heads, more, chunks, strict=True)
    )


def kitty_end(number: int) -> str:
    """Return the codes that delete the picture of that number from Kitty."""
    return f"\x1b_Ga=d,d=I,i={number},q=2\x1b\\"


def iterm2_codes(image: Image, columns: int, rows: int) -> str:
    """Return the codes of iTerm2's inline image, shown at the cursor. Source: iterm2.com/documentation-images.html."""
    data = _png(image)
    size = len(base64.b64decode(data))
    return (
        f"\x1b]1337;File=inline=1;size={size};width={columns};height={rows};preserveAspectRatio=0;"
        f"doNotMoveCursor=1:{data}\x07"
    )


def sixel_codes(image: Image, registers: int) -> str:
    """Return sixel codes, one sixel pixel for each pixel, in at most `registers` colours (256 at most).

    For each band of six rows and each colour in it, a byte for each column holds a bit for each row with that colour.
    Source: DEC EK-VT38T-UG, "Sixel graphics".
    """
    import numpy as np
    from PIL.Image import Dither

    paletted = image.convert("RGB").quantize(max(2, min(registers, 256)), dither=Dither.NONE)
    width, height = paletted.size
    colours = np.asarray(paletted.getpalette(), dtype=np.uint16).reshape(-1, 3) * 100 // 255
    pixels = np.asarray(paletted)
    parts = [b'\x1bP0;1;0q"1;1;%d;%d' % (width, height)]
    parts += [b"#%d;2;%d;%d;%d" % (n, *colours[n]) for n in np.unique(pixels)]
    weights = np.array([1, 2, 4, 8, 16, 32], dtype=np.uint8)
    for top in range(0, height, 6):
        band = pixels[top : top + 6]
        rows = []
        for colour in np.unique(band):
            bits = weights[: len(band)] @ (band == colour) + 63
            rows.append(b"#%d" % colour + _REPEATED.sub(_repeat, bits.astype(np.uint8).tobytes().rstrip(b"?")))
        parts.append(b"$".join(rows) + b"-")
    return b"".join(parts).decode("ascii") + "\x1b\\"


_REPEATED = re.compile(rb"([?-~])\1{3,}")


def _repeat(match: re.Match[bytes]) -> bytes:
    return b"!%d%s" % (len(match[0]), match[1])


def _png(image: Image) -> str:
    out = io.BytesIO()
    image.save(out, "PNG", compress_level=1)
    return base64.b64encode(out.getvalue()).decode("ascii")


def draw_marks(data: bytes | None, size: Point, marks: Sequence[PhoneMark]) -> Image | None:
    """Draw marks (in pixels of a phone of `size`) on a stored picture. Return None if the picture is unreadable."""
    from PIL import ImageDraw

    if data is None:
        return None
    try:
        with open_picture(data) as stored:
            image = stored.convert("RGB")
    except (OSError, ValueError, SyntaxError):
        return None
    pen, scale = ImageDraw.Draw(image), image.width / size[0]
    unit = max(image.size) / 100
    for mark in marks:
        if mark.at is None:
            continue
        x, y = mark.at[0] * scale, mark.at[1] * scale
        end = None if mark.to is None else (mark.to[0] * scale, mark.to[1] * scale)
        if mark.kind in ("box", "evidence") and end is not None:
            pen.rectangle((x, y, *end), outline=_INK, width=round(unit / 2))
            continue
        ring = 2.2 * unit
        pen.ellipse((x - ring, y - ring, x + ring, y + ring), outline=_INK, width=round(unit / 2))
        if end is not None:
            pen.line((x, y, *end), fill=_INK, width=round(unit / 2))
            pen.ellipse((end[0] - unit, end[1] - unit, end[0] + unit, end[1] + unit), fill=_INK)
    return image
