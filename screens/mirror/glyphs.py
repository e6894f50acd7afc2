"""Text as terminal cells: grapheme clusters of one or two cells, wrapped and cut without splitting one."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

from rich.cells import cell_len, get_character_cell_size

from lab.core.text.plain_text import plain

ELLIPSIS = "…"
_JOINER = "\u200d"

TAIL = 0x10FFFD
"""Code point for the second cell of a wide glyph in a row. It is written as an empty string."""
FIRST = 0x100000
"""First of our own code points for clusters of several characters. `plain` never passes a stranger's through."""


class Glyph(NamedTuple):
    """A character with all that combines with it, and the one or two cells that it takes."""

    text: str
    width: int


NEWLINE = Glyph("\n", 0)
"""Line break inside one text. It takes no cell."""


@lru_cache(maxsize=2048)
def glyphs(text: str) -> tuple[Glyph, ...]:
    """Split a stranger's text into glyphs: control characters made visible, blanks collapsed, NEWLINE between lines.

    Every glyph but NEWLINE has a width.
    """
    lines = [row_glyphs for line in plain(text).split("\n") if (row_glyphs := _glyphs(" ".join(line.split())))]
    return tuple(glyph for index, line in enumerate(lines) for glyph in ((NEWLINE, *line) if index else line))


def on_one_line(line: tuple[Glyph, ...]) -> tuple[Glyph, ...]:
    """Return a text on one line."""
    return tuple(Glyph(" ", 1) if glyph is NEWLINE else glyph for glyph in line) if NEWLINE in line else line


def _glyphs(line: str) -> tuple[Glyph, ...]:
    if line.isascii():
        return tuple(Glyph(ch, 1) for ch in line)
    clusters: list[str] = []
    for ch in line:
        if clusters and _joins(clusters[-1], ch):
            clusters[-1] += ch
        else:
            clusters.append(ch)
    row_glyphs = tuple(_measure(cluster.rstrip(_JOINER)) for cluster in clusters)
    row_glyphs = tuple(glyph for glyph in row_glyphs if glyph.width)
    # Rich may measure the whole line differently from its clusters. Then fall back to single characters.
    if cell_len("".join(glyph.text for glyph in row_glyphs)) == sum(glyph.width for glyph in row_glyphs):
        return row_glyphs
    return tuple(Glyph(ch, width) for ch in line if (width := get_character_cell_size(ch)) and not _is_skin_tone(ch))


def _joins(cluster: str, ch: str) -> bool:
    """Return True if a terminal draws a character into the cluster before it."""
    if cluster[-1] == _JOINER or get_character_cell_size(ch) == 0:
        return True
    return (_is_skin_tone(ch) and cell_len(cluster) == 2) or (_is_half_flag(ch) and _is_half_flag(cluster))


def _is_skin_tone(ch: str) -> bool:
    """Return True for a skin tone."""
    return "\U0001f3fb" <= ch <= "\U0001f3ff"


def _is_half_flag(text: str) -> bool:
    """Return True for a regional indicator (half a flag)."""
    return len(text) == 1 and "\U0001f1e6" <= text <= "\U0001f1ff"


def _measure(cluster: str) -> Glyph:
    """Return a cluster with its width. Cut one that a terminal may draw wider than two cells to its first character."""
    width = cell_len(cluster)
    return Glyph(cluster, width) if width <= 2 else Glyph(cluster[0], cell_len(cluster[0]))


def width_of(line: tuple[Glyph, ...]) -> int:
    """Return the cells that a line takes."""
    return sum([glyph[1] for glyph in line])


def cut(line: tuple[Glyph, ...], width: int) -> tuple[Glyph, ...]:
    """Cut a line to `width` cells with an ellipsis. Return an empty line if not even the ellipsis fits."""
    if width_of(line) <= width:
        return line
    if width < 1:
        return ()
    prefix: list[Glyph] = []
    room = width - 1
    for glyph in line:
        if glyph.width > room:
            break
        prefix.append(glyph)
        room -= glyph.width
    while prefix and prefix[-1].text == " ":
        prefix.pop()
    return (*prefix, Glyph(ELLIPSIS, 1))


def wrap(line: tuple[Glyph, ...], width: int) -> list[tuple[Glyph, ...]]:
    """Wrap a text into lines of at most `width` cells.

    It breaks at line ends, at blanks, after hyphens, beside wide glyphs, or inside a word that is too long.
    """
    if NEWLINE in line:
        end = line.index(NEWLINE)
        return wrap(line[:end], width) + wrap(line[end + 1 :], width)
    lines: list[tuple[Glyph, ...]] = []
    start = 0
    while start < len(line):
        end, room = start, width
        while end < len(line) and line[end].width <= room:
            room -= line[end].width
            end += 1
        if end == start:
            return lines
        stop = _break_position(line, start, end)
        lines.append(_strip_end(line[start:stop]))
        start = stop
        while start < len(line) and line[start].text == " ":
            start += 1
    return lines


def longest_word(line: tuple[Glyph, ...]) -> int:
    """Return the cells of the longest part of a text that `wrap` does not break unless it must."""
    longest = cells = 0
    for place, glyph in enumerate(line):
        if glyph.text in (" ", "\n") or (place and _may_break(line, place)):
            cells = 0
        cells += glyph.width if glyph.text != " " else 0
        longest = max(longest, cells)
    return longest


def _break_position(line: tuple[Glyph, ...], start: int, end: int) -> int:
    """Return the last position up to `end` where a line from `start` on may break, or `end` if there is none."""
    if end == len(line):
        return end
    return next((place for place in range(end, start, -1) if _may_break(line, place)), end)


def _may_break(line: tuple[Glyph, ...], place: int) -> bool:
    """Return True if a line may break before `place`: at a blank, after a hyphen, beside a wide glyph."""
    before, after = line[place - 1], line[place]
    return after.text == " " or before.text in (" ", "-") or 2 in (after.width, before.width)


def _strip_end(line: tuple[Glyph, ...]) -> tuple[Glyph, ...]:
    end = len(line)
    while end and line[end - 1].text == " ":
        end -= 1
    return line[:end]


class Codes:
    """Map each glyph to one number, so that a row of cells is an array: its code point, or one of our own for a
    cluster.
    """

    def __init__(self) -> None:
        self._codes: dict[str, int] = {}
        self.table: dict[int, str] = {TAIL: ""}
        """Table for `str.translate` that maps our own code points back to their text."""

    def code(self, text: str) -> int:
        """Return the number of a glyph's text."""
        if len(text) == 1 and ord(text) < FIRST:
            return ord(text)
        code = self._codes.get(text)
        if code is None:
            code = FIRST + len(self._codes)
            # Plane 16, from which our code points are, holds 65,533 of them.
            if code >= TAIL:
                return ord("?")
            self._codes[text] = code
            self.table[code] = text
        return code

    def text(self, row: str) -> str:
        """Return a row of code points as the text to write."""
        return row.translate(self.table) if max(row, default="") >= "\U00100000" else row
