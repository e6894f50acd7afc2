"""Painter of the mirror's own thread: from a phone's picture and tree to cells."""

from __future__ import annotations

from math import ceil
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from lab.core.run.ui_tree import Bounds, UiTree
from lab.core.seams import rgb_of
from lab.core.values.safe_images import open_picture
from screens.mirror import paint
from screens.mirror.controls import erase_controls, place_states
from screens.mirror.fit import Fit, fit
from screens.mirror.glyphs import TAIL, Codes, glyphs, width_of
from screens.mirror.items import TextBlock
from screens.mirror.motion import Pixels, PreviousPicture
from screens.mirror.paint import Cells
from screens.mirror.picture import BLANK_INK, BLANK_PHONE, PackedPicture
from screens.mirror.reading import LocatedText, TextFinder, boxed_texts, without_texts
from screens.mirror.sampling import half_cells, sampled
from screens.mirror.shot import MirrorShot, MirrorView
from screens.mirror.typeset import PlacedLine, typeset

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Grid = NDArray[np.uint32]

_EDGE = 3
"""Cells of an object that a text must not cover. It may cover fewer: the edge of a bubble, but not an icon."""
MIN_CONTRAST_STEP = 48
"""Distance of two colours, summed over channels, up to which a text's paper needs no patch of its own."""
NO_SCREENSHOT = "no screenshot here"
_PHONE = (1080, 2400)
"""Assumed size of a phone of which nothing is known."""


class PaintedPhone(NamedTuple):
    """Cells of the whole widget, the phone's position in them, and the texts drawn on it."""

    cells: Cells
    fit: Fit | None
    texts: tuple[PlacedLine, ...] = ()


_Seen = tuple["Grid", list[TextBlock], tuple[Bounds, ...]]


class Painter:
    """Painter of shots in sequence, each from what changed since the last. Not thread-safe."""

    def __init__(self, codes: Codes | None = None) -> None:
        self.codes = codes or Codes()
        self._picture = PackedPicture()
        self.reading = TextFinder()
        self._pixels: Grid | None = None
        self._fit: Fit | None = None
        self._stored: tuple[bytes, MirrorShot] | None = None
        self._placed: tuple[list[TextBlock], list[PlacedLine]] = ([], [])
        self._shot: MirrorShot | None = None
        self._large = 0.0
        self._settled: UiTree | None = None
        self._before: PreviousPicture | None = None
        self._seen: _Seen = (np.zeros((0, 0), np.uint32), [], ())
        self._last: tuple[MirrorView, PaintedPhone] | None = None

    def paint(self, shot: MirrorShot, view: MirrorView) -> PaintedPhone:
        """Return the cells of a shot in a view."""
        shot = self._decode(shot)
        where = fit(_phone_size(shot), view.cells, view.zoom, view.pan)
        if where is None:
            return PaintedPhone(paint.empty(view.cells[1], view.cells[0]), None)
        if where != self._fit:
            if self._fit is not None and where.size != self._fit.size:
                self.reading = TextFinder()  # the phone was turned: what was read is of another picture
            self._pixels, self._placed, self._fit, self._before = None, ([], []), where, None
        # A still is unrelated to the shot before it, so nothing found there applies.
        if self._shot is not None and not (shot.live and self._shot.live):
            self.reading, self._before = TextFinder(), None
        self._shot = shot
        if shot.pixels is not None and self._can_move(shot, view):
            phone = self._paint_moving((shot.pixels, shot.size or where.size), view, where)
        else:
            phone = self._paint_read(shot, view, where)
        self._last = view, phone
        return phone

    def _can_move(self, shot: MirrorShot, view: MirrorView) -> bool:
        """Return True if a shot needs no search for texts, only a check of the last ones (`_paint_moving`)."""
        if not shot.live or (shot.tree is not None and view.overlay):
            return False
        if not view.overlay:
            self._before = None
            return True
        if self._before is None:
            return not self.reading.found
        return self._before.size == (shot.size or self._before.size)

    def _paint_moving(self, picture: Pixels, view: MirrorView, where: Fit) -> PaintedPhone:
        """Paint newer pixels around those texts of the picture read last that are still in place."""
        texts: list[PlacedLine] = []
        patches = sampled(*picture, where)
        cells = half_cells(patches, where)
        pixels = cells if isinstance(picture[0], bytes) else paint.steadied(cells, self._pixels)
        colours = paint.to_256(pixels) if view.colours <= 256 else paint.rounded_colours(pixels)
        if self._before is not None:
            bare, again, texts = self._before.compare(picture, patches, cells)
            colours = np.where(again, bare, colours)
            pixels = pixels if self._pixels is None else np.where(again, self._pixels, pixels)
        self._pixels = pixels
        phone = paint.half_blocks(colours)
        return self._finish(phone, paint.mean_colour(phone.fg, phone.bg), texts, view, where)

    def _paint_read(self, shot: MirrorShot, view: MirrorView, where: Fit) -> PaintedPhone:
        """Paint a picture after searching it for texts."""
        content = self._inspect(shot, view, where)
        if content is None and self._last is not None and self._last[0] == view:
            return self._last[1]
        image, words, things = content or self._seen
        self._seen = image, words, things
        exact = self._picture.pixels(image, where)
        # Only video (lazy pixels) flickers. A new tree means a new picture.
        trembles = shot.live and not isinstance(shot.pixels, bytes) and shot.tree in (None, self._settled)
        pixels = self._pixels = paint.steadied(exact, self._pixels) if trembles else exact
        self._settled = shot.tree or self._settled
        phone = paint.half_blocks(paint.to_256(pixels) if view.colours <= 256 else paint.rounded_colours(pixels))
        mean = paint.mean_colour(phone.fg, phone.bg)
        texts = self._typeset(
            words, things, where, Ground(phone, mean, where, self._settled if shot.live else shot.tree)
        )
        if words and shot.pixels is not None:
            control_states, removed = place_states(self.reading.controls, words, texts, where)
            erase_controls(phone, mean, removed, where)
            texts = [*texts, *control_states]
        if shot.live and shot.pixels is not None:
            self._before = PreviousPicture((shot.pixels, shot.size or where.size), where, paint.pixels_of(phone), texts)
        self._large = _title_size([block.em for block in words], where)
        return self._finish(phone, mean, texts, view, where)

    def _finish(self, phone: Cells, mean: Grid, texts: list[PlacedLine], view: MirrorView, where: Fit) -> PaintedPhone:
        """Draw the texts on the phone's cells and place these among the widget's."""
        self._draw(phone, mean, texts)
        if view.colours <= 256:
            phone = Cells(phone.codes, paint.to_256(phone.fg), paint.to_256(phone.bg))
        _join_runs(phone)
        cells = paint.empty(view.cells[1], view.cells[0])
        part = slice(where.top, where.top + where.rows), slice(where.left, where.left + where.cols)
        for whole, piece in zip(cells, phone, strict=True):
            whole[part] = piece
        return PaintedPhone(cells, where, tuple(texts))

    def _decode(self, shot: MirrorShot) -> MirrorShot:
        """Return a shot with decoded pixels. The last decoded file is cached, since views of it change often."""
        if shot.stored is None:
            return shot
        if self._stored is None or self._stored[0] is not shot.stored:
            self._stored = shot.stored, decoded(shot)
        return self._stored[1]._replace(tree=shot.tree)

    def _inspect(self, shot: MirrorShot, view: MirrorView, where: Fit) -> _Seen | None:
        """Return picture without text, texts, and protected areas, or None if unchanged."""
        size = _phone_size(shot)
        if shot.pixels is None:
            words = boxed_texts(shot.tree, size) if shot.tree is not None else [_notice(size, where)]
            self._picture.blank(size, _tappable(shot.tree, size) if shot.tree is not None else [], where)
            return self._picture.raw, words, ()
        changed_rows = self._picture.take(rgb_of(shot.pixels), shot.size or size, where)
        if not view.overlay:
            return self._picture.raw, [], ()
        before = self.reading.shown
        texts: list[LocatedText] = self.reading.read(self._picture, shot.tree, changed_rows)
        if changed_rows is None and texts is before and self._last is not None and self._last[0].overlay:
            return None
        return without_texts(self._picture.raw, texts), [text.words for text in texts], self.reading.things

    def _typeset(
        self, words: list[TextBlock], things: tuple[Bounds, ...], where: Fit, room: Ground
    ) -> list[PlacedLine]:
        if words != self._placed[0]:
            self._placed = words, typeset(words, things, where, room.reach)
        return self._placed[1]

    def _draw(self, phone: Cells, mean: Grid, texts: list[PlacedLine]) -> None:
        """Draw lines of text over the picture: on its own colours, or on the text's paper if it is illegible there."""
        codes: list[int] = []
        counts: list[int] = []
        looks: list[tuple[int, int, int, int, bool]] = []
        for text_line in texts:
            words, before = text_line.words, len(codes)
            for text, width in text_line.line:
                codes.append(self.codes.code(text))
                if width == 2:
                    codes.append(TAIL)
            counts.append(len(codes) - before)
            paper = words.paper if words.flat else int(mean[text_line.row, text_line.column + counts[-1] // 2])
            colour = paint.legible(words.colour, paper) | (paint.BOLD if words.em >= self._large else 0)
            looks.append((text_line.row, text_line.column, colour, paper, words.flat))
        if not texts:
            return
        each = np.repeat(np.array(looks, np.int64), counts, axis=0)
        row, start, colours, papers, flat = each.T
        glyph = np.array(codes, np.uint32)
        column = start + np.arange(len(codes)) - np.repeat(np.cumsum(counts) - counts, counts)
        ground = mean[row, column - (glyph == TAIL)]
        paper = papers.astype(np.uint32)
        ground = np.where(
            (flat != 0) & (colour_difference(ground, paper) > MIN_CONTRAST_STEP), paint.rounded_colours(paper), ground
        )
        phone.codes[row, column] = glyph
        phone.bg[row, column] = ground
        phone.fg[row, column] = colours.astype(np.uint32)


def _phone_size(shot: MirrorShot) -> tuple[int, int]:
    """Return the phone's size in its own pixels: as given, else the picture's, else from the tree's outermost boxes."""
    if shot.space is not None and min(shot.space) > 0:
        return shot.space
    if shot.size is not None and min(shot.size) > 0:
        return shot.size
    if shot.tree is not None:
        right = max((node.bounds.right for node in shot.tree.roots), default=0)
        bottom = max((node.bounds.bottom for node in shot.tree.roots), default=0)
        if 0 < right < 20_000 and 0 < bottom < 20_000:
            return right, bottom
    return _PHONE


def _notice(size: tuple[int, int], where: Fit) -> TextBlock:
    """Return the notice for a phone without a stored picture and tree."""
    line = glyphs(NO_SCREENSHOT)
    half = int(width_of(line) * where.cell_width / 2)
    middle = size[0] // 2, int(size[1] * 0.45)
    box = Bounds(0, middle[1] - 40, size[0], middle[1] + 40)
    narrow = half * 2 > size[0]
    ink = box if narrow else Bounds(middle[0] - half, box.top, middle[0] + half, box.bottom)
    if narrow:
        rows = 3 * where.cell_height
        box = ink = Bounds(0, int(middle[1] - rows / 2), size[0], int(middle[1] + rows / 2))
    return TextBlock(line, box, ink, box, middle[1], 40, 3 if narrow else 1, BLANK_INK, BLANK_PHONE, True)


def _tappable(tree: UiTree, size: tuple[int, int]) -> list[Bounds]:
    """Return the boxes of clickable nodes, except those that fill much of the screen."""
    screen = Bounds(0, 0, *size)
    return [
        box
        for node in tree.nodes()
        if node.clickable and 0 < (box := node.bounds.intersection(screen)).area < 0.3 * screen.area
    ]


def decoded(shot: MirrorShot) -> MirrorShot:
    """Return a shot with its stored picture decoded. A picture that cannot be read counts as none."""
    if shot.stored is None:
        return shot
    try:
        with open_picture(shot.stored) as image:
            return shot._replace(pixels=image.convert("RGB").tobytes(), size=image.size, stored=None)
    except (OSError, ValueError, SyntaxError):
        return shot._replace(stored=None)


def _title_size(ems: list[float], where: Fit) -> float:
    """Return the font size from which a text counts as a title, drawn bold because a terminal has only one size."""
    usual = sorted(ems)[len(ems) // 3] if ems else 0.0
    return max(1.32 * usual, 0.035 * where.size[0])


def _join_runs(phone: Cells) -> None:
    """Give blanks the foreground of the cell before them, which makes longer runs with fewer escape codes."""
    blank = phone.codes == paint.BLANK
    blank[:, 0] = False
    before = np.where(blank, 0, np.arange(phone.codes.shape[1]))
    np.maximum.accumulate(before, axis=1, out=before)
    phone.fg[:] = np.take_along_axis(phone.fg, before, axis=1)


class Ground:
    """Ground over which texts may extend: their own paper, plain ground, and at most an edge of anything else."""

    def __init__(self, phone: Cells, mean: Grid, where: Fit, tree: UiTree | None = None) -> None:
        before = np.concatenate([mean[:, :1], mean[:, :-1]], axis=1)
        self._uneven = (colour_difference(phone.fg, phone.bg) > MIN_CONTRAST_STEP) | (
            colour_difference(mean, before) > MIN_CONTRAST_STEP
        )
        self._mean, self._where = mean, where
        # An upright app on a phone in landscape lies between black bars: its texts would look detached on them.
        turned = tree is not None and tree.rotation % 2 == 1
        roots = [root.bounds for root in tree.roots if root.bounds.area] if tree is not None and turned else []
        self._low = max(0, int(where.column(min((box.left for box in roots), default=0))))
        self._high = min(where.cols, ceil(where.column(max((box.right for box in roots), default=where.size[0]))))
        self._rows: dict[int, list[tuple[int, int]]] = {}

    def reach(self, words: TextBlock) -> tuple[int, int]:
        """Return the columns [low, high) that a text may take: from its ink outwards to the last cell of an edge."""
        where = self._where
        row = min(max(int(where.row(words.middle)), 0), where.rows - 1)
        first = min(max(int(where.column(words.ink.left)), 0), where.cols - 1)
        last = min(max(int(where.column(words.ink.right)) + 1, 1), where.cols)
        if not words.flat:
            return self._low, self._high
        busy = [column for column, colour in self._busy_cells(row) if not _similar(colour, words.paper)]
        left, right = [c for c in busy if c < first], [c for c in busy if c >= last]
        return (
            max(self._low, left[-_EDGE] + 1 if len(left) >= _EDGE else 0),
            min(self._high, right[_EDGE - 1] if len(right) >= _EDGE else where.cols),
        )

    def _busy_cells(self, row: int) -> list[tuple[int, int]]:
        """Return the cells of a row that show more than plain ground, as (column, colour)."""
        if row not in self._rows:
            columns = np.flatnonzero(self._uneven[row])
            self._rows[row] = list(zip(columns.tolist(), self._mean[row, columns].tolist(), strict=True))
        return self._rows[row]


def _similar(one: int, other: int) -> bool:
    """Return True if two packed colours are so close that a text needs no patch."""
    red, green, blue = (
        abs((one & 255) - (other & 255)),
        (one >> 8 & 255) - (other >> 8 & 255),
        (one >> 16) - (other >> 16),
    )
    return red + abs(green) + abs(blue) <= MIN_CONTRAST_STEP


def colour_difference(some: Grid, others: Grid) -> NDArray[np.int32]:
    """Return the summed channel differences of packed colours, element by element."""
    one, other = np.broadcast_arrays(some, others)
    a, b = np.ascontiguousarray(one).view(np.uint8), np.ascontiguousarray(other).view(np.uint8)
    channels = (np.maximum(a, b) - np.minimum(a, b)).reshape(*one.shape, 4)
    total: NDArray[np.int32] = np.add.reduce(channels, axis=-1, dtype=np.int32)
    return total
