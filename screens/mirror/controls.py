"""Switches, radio buttons, check boxes and icons: found in the picture, what they say drawn as characters there."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np

from lab.core.ui_tree import Bounds, UiTree
from screens.mirror.fit import Fit
from screens.mirror.glyphs import glyphs, width_of
from screens.mirror.icons import icons
from screens.mirror.ink import inked, paper_of
from screens.mirror.items import TextBlock, rounded
from screens.mirror.motion import overpainted
from screens.mirror.outlines import any_along, from_edges, spans_of
from screens.mirror.paint import BLANK, UPPER, Cells, between
from screens.mirror.paint import rounded as rounded_colour
from screens.mirror.typeset import PlacedLine

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Grid = NDArray[np.uint32]
    Mask = NDArray[np.bool_]

Kind = Literal["radio", "check", "switch", "icon"]

_KINDS: dict[str, Kind] = {"RadioButton": "radio", "CheckBox": "check", "Switch": "switch", "SwitchCompat": "switch",
                           "SwitchMaterial": "switch", "MaterialSwitch": "switch"}  # fmt: skip
_SIGNS = {("radio", True): "◉", ("radio", False): "○", ("check", True): "☑", ("check", False): "☐"}
_GAPS = ((1, 0), (1,))
"""Free cells on both sides of a state, which may touch its label, and of an icon."""
_LONGEST = 4
"""Cells of a switch at most."""
_MOST = 60
_STILL = 24
"""Of 255: by how much a part of a control may differ that is as it was."""
_SPARE = 16
"""Pixels beside a box that is as large as its control, to see what that stands on."""


class ScreenControl(NamedTuple):
    """A node that is on or off, as its tree states it, or a button with a `sign`: its box in pixels of the screen."""

    box: Bounds
    kind: Kind
    on: bool
    sign: str = ""


class DrawnControl(NamedTuple):
    """A control in a picture: `ink` in the screen's pixels, `place` its rows and columns there, holding `pixels`."""

    control: ScreenControl
    ink: Bounds
    place: tuple[slice, slice]
    pixels: Grid
    colour: int
    paper: int


def controls(tree: UiTree, size: tuple[int, int]) -> list[ScreenControl]:
    """The controls of a tree on a screen of `size` pixels."""
    screen = Bounds(0, 0, *size)
    checked = [
        ScreenControl(box, kind, node.checked)
        for node in tree.nodes()
        if node.checkable and (kind := _KINDS.get(node.cls.rpartition(".")[2])) is not None
        if (box := node.bounds.cut(screen)).area and box.height < 0.15 * size[1]
    ]
    icon_controls = [
        ScreenControl(box, "icon", False, sign) for root in tree.roots for box, sign in icons(root, screen) if sign
    ]
    return [*checked, *icon_controls][:_MOST]


def look(control: ScreenControl, raw: Grid, scale: tuple[float, float], texts: Sequence[Bounds]) -> DrawnControl | None:
    """Where a control is drawn in a picture reduced by `scale`; None where nothing there is surely one.

    It is looked for before the first of the `texts` (their ink) that stand in its box, then after the last; a switch
    only there.
    """
    marks = (_look(control, room, raw, scale) for room in _rooms(control, texts))
    return next((mark for mark in marks if mark is not None), None)


def _look(control: ScreenControl, box: Bounds, raw: Grid, scale: tuple[float, float]) -> DrawnControl | None:
    across, down = scale
    rows = slice(int(box.top / down), min(math.ceil(box.bottom / down), raw.shape[0]))
    columns = slice(int(box.left / across), min(math.ceil(box.right / across), raw.shape[1]))
    pixels = raw[rows, columns]
    if min(pixels.shape) < 4:
        return None
    paper, flat = paper_of(pixels)
    if not flat:
        return None
    mask = inked(pixels, paper, True)
    if mask[0, 0] or mask[0, -1] or mask[-1, 0] or mask[-1, -1]:
        mask &= ~from_edges(mask)
    mark = _whole(mask, scale) if control.kind == "icon" else _blob(mask, control.kind, scale)
    if mark is None:
        return None
    left, top, right, bottom = mark
    place = (
        slice(rows.start + max(0, top - 1), rows.start + min(mask.shape[0], bottom + 1)),
        slice(columns.start + max(0, left - 1), columns.start + min(mask.shape[1], right + 1)),
    )
    ink = Bounds(
        round((columns.start + left) * across), round((rows.start + top) * down),
        round((columns.start + right) * across), round((rows.start + bottom) * down),
    )  # fmt: skip
    colour = _strongest(pixels[top:bottom, left:right], paper)
    return DrawnControl(control, ink, place, raw[place].copy(), colour, paper)


def _rooms(control: ScreenControl, texts: Sequence[Bounds]) -> list[Bounds]:
    """The parts of a control's box that its words leave to it; a little more where it has none and may fill its box."""
    box = control.box
    inside = [text for text in texts if box.holds(*text.center)]
    if not inside:
        return [Bounds(max(0, box.left - _SPARE), max(0, box.top - _SPARE), box.right + _SPARE, box.bottom + _SPARE)]
    after = box._replace(left=min(max(text.right for text in inside), box.right))
    if control.kind == "switch":
        return [after]
    return [box._replace(right=max(min(text.left for text in inside), box.left)), after]


def _blob(mask: Mask, kind: Kind, scale: tuple[float, float]) -> tuple[int, int, int, int] | None:
    """The outermost blob of a mask if it is shaped as such a control is: left, top, right, bottom."""
    for top, bottom in spans_of(any_along(mask, 1), 0):
        if not 26 <= (bottom - top) * scale[1] <= 140:
            continue
        spans = [span for span in spans_of(any_along(mask[top:bottom], 0), 0) if (span[1] - span[0]) * scale[0] >= 12]
        if not spans:
            continue
        left, right = spans[-1 if kind == "switch" else 0]
        lines = np.flatnonzero(any_along(mask[top:bottom, left:right], 1))
        first, last = top + int(lines[0]), top + int(lines[-1]) + 1
        shape = (right - left) * scale[0] / ((last - first) * scale[1])
        least, most = (1.3, 2.7) if kind == "switch" else (0.7, 1.45)
        whole = left > 0 and right < mask.shape[1] and first > 0 and last < mask.shape[0]
        if whole and least <= shape <= most:
            return left, first, right, last
    return None


def _whole(mask: Mask, scale: tuple[float, float]) -> tuple[int, int, int, int] | None:
    """All of a mask's ink if an icon may be drawn so: left, top, right, bottom."""
    rows, columns = np.flatnonzero(any_along(mask, 1)), np.flatnonzero(any_along(mask, 0))
    if not len(rows) or not len(columns):
        return None
    left, top, right, bottom = int(columns[0]), int(rows[0]), int(columns[-1]) + 1, int(rows[-1]) + 1
    sides = (right - left) * scale[0], (bottom - top) * scale[1]
    return (left, top, right, bottom) if min(sides) >= 8 and max(sides) <= 130 else None


def _strongest(pixels: Grid, paper: int) -> int:
    """The colour that is furthest from the paper."""
    values = np.ascontiguousarray(pixels).view(np.uint8).reshape(-1, 4)[:, :3].astype(np.int32)
    apart = np.abs(values - np.array([paper & 255, paper >> 8 & 255, paper >> 16 & 255])).sum(axis=1)
    red, green, blue = values[int(apart.argmax())].tolist()
    return int(red | green << 8 | blue << 16)


def same(control: DrawnControl, raw: Grid, scale: tuple[float, float]) -> bool:
    """Whether a picture still holds a control as it was found."""
    return not overpainted(control.pixels, raw[control.place], scale, _STILL)


def states(
    drawn_controls: Sequence[DrawnControl], words: Sequence[TextBlock], texts: Sequence[PlacedLine], fit: Fit
) -> tuple[list[PlacedLine], list[DrawnControl]]:
    """Return the state of each control as characters where no text is, and the controls whose picture goes.

    What is on or off stands on the row of its own label, one of `words`, or nowhere: beside another one it would be
    taken for that one's state. Its picture goes, too, unless it lies on that row.
    """
    used_cells = {(text.row, text.column + offset) for text in texts for offset in range(width_of(text.line))}
    rows_by_words = {text.words: text.row for text in reversed(texts)}
    lines: list[PlacedLine] = []
    removed: list[DrawnControl] = []
    for control in drawn_controls:
        ink, line = (
            control.ink,
            glyphs(_sign(control.control, fit.column(control.ink.right) - fit.column(control.ink.left))),
        )
        column = rounded(fit.column((ink.left + ink.right) / 2) - width_of(line) / 2)
        own, rows = int(fit.row((ink.top + ink.bottom) / 2)), _rows(control, words, rows_by_words, fit)
        for row, gap in [(row, gap) for gap in _GAPS[control.control.kind == "icon"] for row in rows]:
            cells = {(row, column + offset) for offset in range(-gap, width_of(line) + gap)}
            if not cells & used_cells and 0 <= row < fit.rows and column >= 0 and column + width_of(line) <= fit.cols:
                used_cells |= cells
                middle = (ink.top + ink.bottom) / 2
                block = TextBlock(
                    line, ink, ink, control.control.box, middle, 1, 1, control.colour, control.paper, True
                )
                lines.append(PlacedLine(row, column, line, block, True))
                removed.append(control)
                break
        else:
            if control.control.kind != "icon" and own not in rows:
                removed.append(control)
    return lines, removed


def clear(phone: Cells, mean: Grid, removed: Sequence[DrawnControl], fit: Fit) -> None:
    """Take the pictures of these controls out of the cells and their means."""
    for control in removed:
        ink, ground = control.ink, rounded_colour(np.array(control.paper, np.uint32))
        first, last = int(2 * fit.row(ink.top)), math.ceil(2 * fit.row(ink.bottom))
        columns = slice(int(fit.column(ink.left)), math.ceil(fit.column(ink.right)))
        # Half a cell at a time: what lies above or below in the other half may stand on another ground.
        upper, lower = slice((first + 1) // 2, (last + 1) // 2), slice(first // 2, last // 2)
        phone.fg[upper, columns] = phone.bg[lower, columns] = ground
        part = slice(first // 2, (last + 1) // 2), columns
        phone.codes[part] = np.where(phone.fg[part] == phone.bg[part], np.uint32(BLANK), np.uint32(UPPER))
        mean[part] = between(phone.fg[part], phone.bg[part])


def _rows(
    control: DrawnControl, words: Sequence[TextBlock], rows_by_words: Mapping[TextBlock, int], fit: Fit
) -> list[int]:
    """Return the rows on which a control may stand, the best first: its label's; its own if it has no label."""
    ink, box = control.ink, control.control.box
    middle, height = (ink.top + ink.bottom) / 2, ink.bottom - ink.top
    own = int(fit.row(middle))
    beside = [block for block in words if abs(block.middle - middle) < 0.5 * height]
    if not beside:
        return [own]
    label = min(
        beside,
        key=lambda block: (
            not box.holds(*block.ink.center),
            abs(block.middle - middle),
            max(block.ink.left - ink.right, ink.left - block.ink.right),
        ),
    )
    row = rows_by_words.get(label)
    if control.control.kind != "icon":
        return [] if row is None else [row]
    return [row, own] if row is not None and abs(row - own) <= 1 else [own]


def _sign(control: ScreenControl, columns: float) -> str:
    if control.kind == "icon":
        return control.sign
    if control.kind != "switch":
        return _SIGNS[control.kind, control.on]
    rail = "━" * (min(max(2, rounded(columns)), _LONGEST) - 1)
    return rail + "●" if control.on else "●" + rail
