"""Marks of actions, drawn over a phone in characters. They are readable without colour."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal, NamedTuple

from screens.mirror.fit import Fit
from screens.mirror.glyphs import TAIL, Codes, Glyph, cut, glyphs, width_of

if TYPE_CHECKING:
    from screens.mirror.paint import Cells

MarkKind = Literal["tap", "double", "long", "drag", "scroll", "type", "box", "evidence", "touch"]
Point = tuple[int, int]

PLATE, INK = 0x00D7FF, 0x000000
"""Colours of plates with numbers and words (packed): a strong yellow, and black on it."""
LIGHT, DARK = 0x00D7FF, 0x6000C8
"""Colours of lines on a dark and on a light ground (packed): yellow, and a red that apps do not use."""

_RINGS: dict[str, str] = {"tap": "╭─╮││╰─╯", "double": "╔═╗║║╚═╝", "long": "┏━┓┃┃┗━┛"}
_BOXES: dict[str, str] = {"box": "┌┄┐┆┆└┄┘", "evidence": "╔═╗║║╚═╝"}


class PhoneMark(NamedTuple):
    """One thing to draw at pixels of the phone.

    A ring (tap, double, long), an arrow from `at` to `to` (drag, scroll), typed text (type, at the bottom if `at` is
    None), a frame with corners `at` and `to` (box, evidence), or a finger that touches now or did a moment ago (touch).
    `label` is a stranger's text: a step's number, the typed text, the evidence's title.
    """

    kind: MarkKind
    at: Point | None = None
    to: Point | None = None
    label: str = ""


def draw_marks(cells: Cells, fit: Fit, marks: Sequence[PhoneMark], codes: Codes) -> None:
    """Draw marks over cells in place, the last on top. Everything outside the phone is clipped."""
    pen = _Pen(cells, fit, codes)
    for mark in marks:
        if mark.kind == "type":
            _draw_typed(pen, mark)
        elif mark.at is None:
            continue
        elif mark.kind == "touch":
            if pen.sees(mark.at):
                pen.write_line(*pen.cell(mark.at), (Glyph("●", 1),), filled=True)
        elif mark.kind in _BOXES:
            _draw_box(pen, mark.kind, mark.at, mark.to or mark.at, mark.label)
        elif mark.to is not None and mark.kind in ("drag", "scroll"):
            _draw_arrow(pen, mark.at, mark.to, mark.label)
        elif pen.sees(mark.at):
            _draw_ring(pen, mark.kind if mark.kind in _RINGS else "tap", mark.at, mark.label)


class _Pen:
    """Pen for glyphs on the phone's cells. It repairs wide glyphs that it breaks."""

    def __init__(self, cells: Cells, fit: Fit, codes: Codes) -> None:
        self.cells, self.fit, self.codes = cells, fit, codes

    def cell(self, at: Point) -> Point:
        """Return the column and row of a pixel from the phone's corner, outside the grid if the pixel is."""
        return int(self.fit.column(at[0]) // 1), int(self.fit.row(at[1]) // 1)

    def sees(self, at: Point) -> bool:
        """Return True if a pixel is in the visible part. One outside the phone counts as the nearest one inside."""
        x, y = min(max(at[0], 0), self.fit.size[0] - 1), min(max(at[1], 0), self.fit.size[1] - 1)
        return self.fit.x0 <= x < self.fit.x1 and self.fit.y0 <= y < self.fit.y1

    def write_line(
        self, column: int, row: int, line: Sequence[Glyph], *, filled: bool = False, behind: bool = False
    ) -> None:
        """Write a line from a cell on.

        Leave out what is outside the phone, and, with `behind`, what would cover words.
        """
        from screens.mirror.paint import BOLD, legible, luminance

        row += self.fit.top
        if not self.fit.top <= row < self.fit.top + self.fit.rows:
            return
        left, right = self.fit.left, self.fit.left + self.fit.cols
        column += left
        codes, fg, bg = self.cells.codes[row], self.cells.fg[row], self.cells.bg[row]
        for glyph in line:
            inside = left <= column and column + glyph.width <= right
            if inside and not (behind and _is_word(codes[left:right].tolist(), column - left)):
                for part in range(column, column + glyph.width):
                    self._clear(row, part)
                    codes[part] = self.codes.code(glyph.text) if part == column else TAIL
                    bg[part] = PLATE if filled else bg[column]
                    line_colour = DARK if luminance(int(bg[column])) > 0.2 else LIGHT
                    fg[part] = (INK if filled else legible(line_colour, int(bg[column]), 4.0)) | BOLD
            column += glyph.width

    def _clear(self, row: int, column: int) -> None:
        """Blank the other half of a wide glyph before one half is overwritten, and give the cell one background."""
        from screens.mirror.paint import UPPER, mean_colour

        codes, fg, bg = self.cells.codes[row], self.cells.fg[row], self.cells.bg[row]
        if int(codes[column]) == TAIL and column:
            codes[column - 1] = 0x20
        if column + 1 < len(codes) and int(codes[column + 1]) == TAIL:
            codes[column + 1] = 0x20
        if int(codes[column]) == UPPER:
            bg[column : column + 1] = mean_colour(fg[column : column + 1], bg[column : column + 1])


def _is_word(row: list[int], column: int) -> bool:
    """Return True if a cell belongs to words: one of their characters, or a blank between two."""
    blank_codes = (0x20, 0x2580)
    if row[column] not in blank_codes:
        return True
    return 0 < column < len(row) - 1 and row[column - 1] not in blank_codes and row[column + 1] not in blank_codes


def _chars(text: str) -> list[Glyph]:
    return [Glyph(ch, 1) for ch in text]


def _draw_ring(pen: _Pen, kind: str, at: Point, label: str) -> None:
    """Draw a ring around a cell with its number inside. Shift it so that all of it is on the phone.

    A ring without a number leaves the words under it readable.
    """
    inside = cut(glyphs(label), max(1, pen.fit.cols - 2)) or (Glyph("•", 1),)
    width = width_of(inside)
    column, row = pen.cell(at)
    column = min(max(column - width // 2, 1), max(1, pen.fit.cols - width - 1))
    row = min(max(row, 1), max(1, pen.fit.rows - 2))
    ring = _RINGS[kind]
    pen.write_line(column - 1, row - 1, _chars(ring[0] + ring[1] * width + ring[2]), behind=True)
    pen.write_line(column - 1, row, _chars(ring[3]), behind=not label)
    pen.write_line(column, row, inside, filled=True, behind=not label)
    pen.write_line(column + width, row, _chars(ring[4]), behind=not label)
    pen.write_line(column - 1, row + 1, _chars(ring[5] + ring[6] * width + ring[7]), behind=True)


def _draw_arrow(pen: _Pen, at: Point, to: Point, label: str) -> None:
    """Draw a line of characters, with its number at the start and a head at the end."""
    (x0, y0), (x1, y1) = pen.cell(at), pen.cell(to)
    across, down = x1 - x0, y1 - y0
    # Coordinates come from a stranger's trace: without a bound the loop could run for minutes.
    steps = min(max(abs(across), abs(down)), 2000)
    flat, steep = abs(down) * 2 < abs(across), abs(across) < abs(down)
    line = "━" if flat else "┃" if steep and abs(across) * 2 < abs(down) else "╲" if (across > 0) == (down > 0) else "╱"
    for step in range(1, steps):
        pen.write_line(x0 + round(across * step / steps), y0 + round(down * step / steps), _chars(line), behind=True)
    head = ("▶" if across > 0 else "◀") if flat or abs(across) > abs(down) * 2 else ("▼" if down > 0 else "▲")
    if steps:
        pen.write_line(x1, y1, _chars(head))
    start = cut(glyphs(label), max(1, pen.fit.cols)) or (Glyph("●", 1),)
    if pen.sees(at):
        pen.write_line(min(x0, pen.fit.cols - width_of(start)), y0, start, filled=True)


def _draw_typed(pen: _Pen, mark: PhoneMark) -> None:
    """Draw typed text on a plate, where it was typed or along the bottom."""
    line = cut((Glyph("⌨", 1), Glyph(" ", 1), *glyphs(mark.label)), max(1, pen.fit.cols - 2))
    plate = (Glyph(" ", 1), *line, Glyph(" ", 1))
    column, row = pen.cell(mark.at) if mark.at is not None else (0, pen.fit.rows - 1)
    column = min(max(column, 0), max(0, pen.fit.cols - width_of(plate)))
    pen.write_line(column, min(max(row, 0), pen.fit.rows - 1), plate, filled=True)


def _draw_box(pen: _Pen, kind: str, at: Point, to: Point, label: str) -> None:
    """Draw a frame around a part of the phone, its label on the upper edge.

    Of an enlarged phone only the visible part.
    """
    (left, top), (right, bottom) = pen.cell(at), pen.cell((max(to[0] - 1, at[0]), max(to[1] - 1, at[1])))
    first, last = pen.cell((0, 0)), pen.cell((pen.fit.size[0] - 1, pen.fit.size[1] - 1))
    left, top = min(max(left, first[0]), last[0] - 1), min(max(top, first[1]), last[1] - 1)
    right, bottom = min(max(right, left + 1), last[0]), min(max(bottom, top + 1), last[1])
    if right < 0 or bottom < 0 or left >= pen.fit.cols or top >= pen.fit.rows:
        return
    box = _BOXES[kind]
    for row, edge in ((top, box[:3]), (bottom, box[5:])):
        pen.write_line(left + 1, row, _chars(edge[1] * (right - left - 1)), behind=True)
        pen.write_line(left, row, _chars(edge[0]))
        pen.write_line(right, row, _chars(edge[2]))
    for row in range(top + 1, bottom):
        pen.write_line(left, row, _chars(box[3]))
        pen.write_line(right, row, _chars(box[4]))
    begin = max(left, -1) + 1
    name = cut(glyphs(label), max(0, min(right, pen.fit.cols) - begin))
    if name:
        pen.write_line(begin, max(top, 0), name, filled=True)
