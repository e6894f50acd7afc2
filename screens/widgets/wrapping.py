"""Wrap content to a width, also in languages without blanks between words."""

from __future__ import annotations

from rich.cells import cell_len, get_character_cell_size
from textual.content import Content

_CLOSES = frozenset("、。，．；：！？）》」』】〕”’…—％,.;:!?)]}%")
_OPENS = frozenset("（《「『【〔“‘([{")


def wrap_content(content: Content, width: int) -> list[Content]:
    """Return lines of at most `width` cells, broken at blanks and beside wide characters.

    Textual treats a text without blanks as one long word, and leaves a list's mark before it alone on its line.
    """
    lines: list[Content] = []
    for line in content.split(allow_blank=True):
        if line.plain.isascii() or cell_len(line.plain) == len(line.plain):
            lines += line.wrap(width)
        else:
            lines += [part.rstrip() for part in line.divide(_line_starts(line.plain, width))]
    return lines


def _line_starts(text: str, width: int) -> list[int]:
    """Return the offsets at which the lines of a text begin, except the first."""
    offsets: list[int] = []
    start, last, cells = 0, 0, 0
    at = 0
    while at < len(text):
        if at > start and _may_break(text, at):
            last = at
        cells += get_character_cell_size(text[at])
        if cells > width and text[at] != " " and at > start:
            start = at = last if last > start else at
            offsets.append(start)
            cells = 0
            continue
        at += 1
    return offsets


def _may_break(text: str, at: int) -> bool:
    before, after = text[at - 1], text[at]
    if after == " " or after in _CLOSES or before in _OPENS:
        return False
    sizes = get_character_cell_size(before), get_character_cell_size(after)
    return before in " -" or (2 in sizes and 0 not in sizes)  # what has no width belongs to a cluster
