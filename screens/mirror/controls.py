"""Switches, radio buttons, check boxes and icons: find them in the picture and draw their state as characters."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np

from lab.core.run.ui_tree import Bounds, Node, UiTree
from screens.mirror.fit import Fit
from screens.mirror.glyphs import glyphs, width_of
from screens.mirror.ink import inked, paper_of
from screens.mirror.items import TextBlock, rounded
from screens.mirror.motion import overpainted
from screens.mirror.outlines import any_along, from_edges, spans_of
from screens.mirror.paint import BLANK, UPPER, Cells, mean_colour
from screens.mirror.paint import rounded_colours as rounded_colour
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
"""Free cells required on both sides, in the order of trial: of a switch or box (it may touch its label), of an icon."""
_LONGEST = 4
"""Maximum cells of a switch."""
# The nodes of a tree are a stranger's: a bound on the work per picture.
_MOST = 60
_STILL = 24
"""Difference of a channel (of 255) up to which a control counts as unchanged."""
_SPARE = 16
"""Pixels around a box that is as large as its control, to include the ground behind the control."""


class ScreenControl(NamedTuple):
    """A node of the UI tree that is on or off, or a button with a `sign`, with its box in the screen's pixels."""

    box: Bounds
    kind: Kind
    on: bool
    sign: str = ""


class DrawnControl(NamedTuple):
    """A control found in a picture.

    `ink` is its box in the screen's pixels. `place` are its rows and columns in the picture, and `pixels` their
    content.
    """

    control: ScreenControl
    ink: Bounds
    place: tuple[slice, slice]
    pixels: Grid
    colour: int
    paper: int


def controls(tree: UiTree, size: tuple[int, int]) -> list[ScreenControl]:
    """Return the controls of a tree on a screen of `size` pixels."""
    screen = Bounds(0, 0, *size)
    checked = [
        ScreenControl(box, kind, node.checked)
        for node in tree.nodes()
        if node.checkable and (kind := _KINDS.get(node.cls.rpartition(".")[2])) is not None
        if (box := node.bounds.intersection(screen)).area and box.height < 0.15 * size[1]
    ]
    icon_controls = [
        ScreenControl(box, "icon", False, sign) for root in tree.roots for box, sign in icons(root, screen) if sign
    ]
    return [*checked, *icon_controls][:_MOST]


def find_control(
    control: ScreenControl, raw: Grid, scale: tuple[float, float], texts: Sequence[Bounds]
) -> DrawnControl | None:
    """Find a control in a picture reduced by `scale`. Return None if nothing there is surely one.

    Search before the first of the `texts` (boxes of their ink) inside its box, then after the last. Search for a switch
    only after the last.
    """
    marks = (_find_in(control, room, raw, scale) for room in _search_boxes(control, texts))
    return next((mark for mark in marks if mark is not None), None)


def _find_in(control: ScreenControl, box: Bounds, raw: Grid, scale: tuple[float, float]) -> DrawnControl | None:
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
    # Ink in a corner is what lies around a button's round corners, not its content.
    if mask[0, 0] or mask[0, -1] or mask[-1, 0] or mask[-1, -1]:
        mask &= ~from_edges(mask)
    mark = _icon_box(mask, scale) if control.kind == "icon" else _blob(mask, control.kind, scale)
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
    colour = _strongest_colour(pixels[top:bottom, left:right], paper)
    return DrawnControl(control, ink, place, raw[place].copy(), colour, paper)


def _search_boxes(control: ScreenControl, texts: Sequence[Bounds]) -> list[Bounds]:
    """Return the parts of a control's box beside its texts, or the box plus a margin if it has no text and may fill its
    box.
    """
    box = control.box
    inside = [text for text in texts if box.contains(*text.center)]
    if not inside:
        return [Bounds(max(0, box.left - _SPARE), max(0, box.top - _SPARE), box.right + _SPARE, box.bottom + _SPARE)]
    after = box._replace(left=min(max(text.right for text in inside), box.right))
    if control.kind == "switch":
        return [after]
    return [box._replace(right=max(min(text.left for text in inside), box.left)), after]


def _blob(mask: Mask, kind: Kind, scale: tuple[float, float]) -> tuple[int, int, int, int] | None:
    """Return the box (left, top, right, bottom) of the outermost blob of such a control's shape, else None."""
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


def _icon_box(mask: Mask, scale: tuple[float, float]) -> tuple[int, int, int, int] | None:
    """Return the box (left, top, right, bottom) of all ink if it has an icon's size, else None."""
    rows, columns = np.flatnonzero(any_along(mask, 1)), np.flatnonzero(any_along(mask, 0))
    if not len(rows) or not len(columns):
        return None
    left, top, right, bottom = int(columns[0]), int(rows[0]), int(columns[-1]) + 1, int(rows[-1]) + 1
    sides = (right - left) * scale[0], (bottom - top) * scale[1]
    return (left, top, right, bottom) if min(sides) >= 8 and max(sides) <= 130 else None


def _strongest_colour(pixels: Grid, paper: int) -> int:
    """Return the colour that is furthest from the paper."""
    values = np.ascontiguousarray(pixels).view(np.uint8).reshape(-1, 4)[:, :3].astype(np.int32)
    apart = np.abs(values - np.array([paper & 255, paper >> 8 & 255, paper >> 16 & 255])).sum(axis=1)
    red, green, blue = values[int(apart.argmax())].tolist()
    return int(red | green << 8 | blue << 16)


def is_unchanged(control: DrawnControl, raw: Grid, scale: tuple[float, float]) -> bool:
    """Return True if a picture still shows a control as it was found."""
    return not overpainted(control.pixels, raw[control.place], scale, _STILL)


def place_states(
    drawn_controls: Sequence[DrawnControl], words: Sequence[TextBlock], texts: Sequence[PlacedLine], fit: Fit
) -> tuple[list[PlacedLine], list[DrawnControl]]:
    """Return each control's state as characters in free cells, and the controls whose pixels to erase.

    The state is set on the row of the control's own label (one of `words`), or not at all: beside another label a
    reader would take it for that one's state. Its pixels are erased, too, unless they lie on that row.
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
        own, rows = int(fit.row((ink.top + ink.bottom) / 2)), _state_rows(control, words, rows_by_words, fit)
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


def erase_controls(phone: Cells, mean: Grid, removed: Sequence[DrawnControl], fit: Fit) -> None:
    """Erase the pixels of these controls from the cells and their means, in place."""
    for control in removed:
        ink, ground = control.ink, rounded_colour(np.array(control.paper, np.uint32))
        first, last = int(2 * fit.row(ink.top)), math.ceil(2 * fit.row(ink.bottom))
        columns = slice(int(fit.column(ink.left)), math.ceil(fit.column(ink.right)))
        # Half a cell at a time: the neighbour in the other half may have another ground.
        upper, lower = slice((first + 1) // 2, (last + 1) // 2), slice(first // 2, last // 2)
        phone.fg[upper, columns] = phone.bg[lower, columns] = ground
        part = slice(first // 2, (last + 1) // 2), columns
        phone.codes[part] = np.where(phone.fg[part] == phone.bg[part], np.uint32(BLANK), np.uint32(UPPER))
        mean[part] = mean_colour(phone.fg[part], phone.bg[part])


def _state_rows(
    control: DrawnControl, words: Sequence[TextBlock], rows_by_words: Mapping[TextBlock, int], fit: Fit
) -> list[int]:
    """Return the possible rows of a control's state, best first: its label's, or its own if it has no label."""
    ink, box = control.ink, control.control.box
    middle, height = (ink.top + ink.bottom) / 2, ink.bottom - ink.top
    own = int(fit.row(middle))
    beside = [block for block in words if abs(block.middle - middle) < 0.5 * height]
    if not beside:
        return [own]
    label = min(
        beside,
        key=lambda block: (
            not box.contains(*block.ink.center),
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


_ICON_SIGNS = tuple(
    # The order matters: the first match counts, so special cases precede general ones.
    (re.compile(words, re.IGNORECASE), sign)
    for words, sign in (
        (r"^(previous|earlier) (hour|minute|year)\b", "−"),
        (r"^(navigate up|go back|back|previous|prev)\b|^(返回|后退|上一)", "←"),
        (r"^more (?!options|actions|menu)\S", "+"),
        (r"^more$|^(next|later) (hour|minute|year)\b", "+"),
        (r"^newer\b", "←"),
        (r"^(forward|next|older)\b|^(前进|下一)", "→"),
        (r"^(unstar|starred|remove star|unfavou?rite|remove from favou?rites|bookmarked|remove bookmark)\b", "★"),
        (r"\b(star|starred|favou?rites?|bookmark)\b|^(收藏|星标)", "☆"),
        (r"^(unlike|liked|heart)\b", "♥"),
        (r"^(like|love)\b|^赞", "♡"),
        (r"^thumbs? up\b", "+1"),
        (r"^(smile|grin|laugh)\b", ":)"),
        (r"^looking\b", "oo"),
        (r"^(close|dismiss|clear|cancel)\b|^(关闭|清除|取消)", "✕"),
        (r"^(delete|remove|bin|trash|discard)\b|^(删除|移除)", "⌫"),
        (r"^(more|options|overflow)\b|^更多", "⋮"),
        (r"\b(menu|drawer|folders)\b|^菜单", "≡"),
        (r"^(search|find)\b|^(搜索|查找)", "⌕"),
        (r"^(add|new|create|increase|plus|zoom in)\b|^(添加|新建|增加)", "+"),
        (r"^(less|decrease|minus|fewer|zoom out)\b|^减少", "−"),
        (r"^(edit|compose|rename|write)\b|^(编辑|撰写)", "✎"),
        (r"^(done|save|confirm|ok|accept|finish)\b|^(完成|保存|确定)", "✓"),
        (r"^send\b|^发送", "➤"),
        (r"^(call|dial|phone)\b|^(呼叫|拨)", "☎"),
        (r"^(mail|e-?mail|message|mark as (un)?read)\b|^(邮件|短信)", "✉"),
        (r"^comments?\b|^评论", "“”"),
        (r"^archive\b|^归档", "↧"),
        (r"^(select|check ?list)\b|^(选择|清单)", "☑"),
        (r"^plain text\b", "¶"),
        (r"^(backspace|delete key)\b|^退格", "⌫"),
        (r"^shift\b", "⇧"),
        (r"^(enter|return)\b", "⏎"),
        (r"^(settings|preferences)\b|^设置", "⚙"),
        (r"^home\b|^主(页|屏)", "⌂"),
        (r"^(overview|recents?|recent apps)\b|^最近", "□"),
        (r"^(refresh|reload|sync|retry)\b|^刷新", "↻"),
        (r"^(undo|restore)\b|^撤销", "↶"),
        (r"^(share|export)\b|^分享", "↗"),
        (r"^(reply|answer)\b|^回复", "↩"),
        (r"^(play|start|resume)\b|^播放", "▶"),
        (r"^(pause)\b|^暂停", "‖"),
        (r"^(pin|unpin|pinned)\b", "⚑"),
        (r"^(info|details|about)\b|^(信息|详情)", "i"),
        (r"^(sort|filter|swap)\b|^(排序|筛选|交换)", "⇅"),
        (r"^(directions|route)\b|^路线", "↱"),
        (r"^history\b|^历史", "↺"),
        (r"^(expand|show more|down)\b|^展开", "▾"),
        (r"^(collapse|show less|up)\b|^收起", "▴"),
    )
)
_LETTERS = 3


def icons(root: Node, screen: Bounds) -> Iterator[tuple[Bounds, str]]:
    """Yield the boxes and signs of small buttons without text, in drawing order."""
    for node in root.walk():
        box = node.bounds.intersection(screen)
        if not (node.clickable and node.desc) or node.checkable or not box.area:
            continue
        small = box.area < 0.02 * screen.area and 0.4 <= box.width / max(1, box.height) <= 3.2
        if small and not any(inner.text for inner in node.walk()):
            yield box, sign(node.desc)


@lru_cache(maxsize=512)
def sign(desc: str) -> str:
    """Return the sign for a description, or the first letters of its first word if no pattern matches."""
    desc = desc.strip()
    symbol = next((mark for words, mark in _ICON_SIGNS if words.search(desc)), None)
    return symbol or next(iter(re.findall(r"\w+", desc)), "")[:_LETTERS]
