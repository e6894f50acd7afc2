"""Texts located in a phone's picture by its tree, searched again only where either changed."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from functools import lru_cache
from operator import itemgetter
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from lab.core.run.ui_tree import Bounds, Node, UiTree
from lab.core.text.read_text import is_from_ocr
from screens.mirror.controls import DrawnControl, ScreenControl, controls, find_control, is_unchanged
from screens.mirror.glyphs import glyphs, width_of
from screens.mirror.ink import TextInk, erase, find_ink, inked, shape
from screens.mirror.items import TextBlock
from screens.mirror.motion import overpainted, slack_of
from screens.mirror.picture import BLANK_INK, BLANK_PHONE, PackedPicture, Rows

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Grid = NDArray[np.uint32]
    Mask = NDArray[np.bool_]

_READ_INK = 0xFF5C9A
"""Violet (packed), mixed into the ink of texts read by OCR to distinguish them from texts of the UI tree."""
_MISSES = 6
"""Number of pictures after which to search again for a text that was not in its box."""


class LocatedText(NamedTuple):
    """A text in a picture: its box's rows and columns there (`place`), and their `pixels` when it was found."""

    said: TreeText
    words: TextBlock
    ink: TextInk
    place: tuple[slice, slice]
    pixels: Grid
    marks: int
    """Number of these pixels that are ink."""
    bare: tuple[slice, slice, Grid]
    """Part of the picture with the ink, and its pixels without the ink."""


class TextFinder:
    """Texts of a tree located in its picture, searched again only where either changed."""

    def __init__(self) -> None:
        self.found: list[LocatedText] = []
        """Texts found in the picture of the last tree."""
        self.shown: list[LocatedText] = []
        """Those of them that are in the present picture."""
        self.things: tuple[Bounds, ...] = ()
        self.controls: list[DrawnControl] = []
        """Switches and other controls in the present picture."""
        self._stated: list[ScreenControl] = []
        self._tree: UiTree | None = None
        self._was_read = False
        self._saying: TreeTexts = TreeTexts((), ())
        self._missed: dict[tuple[object, ...], int] = {}
        self._known: dict[tuple[object, ...], LocatedText] = {}
        self._scale = (0.0, 0.0)
        self._space = (0, 0)

    def read(self, picture: PackedPicture, tree: UiTree | None, changed_rows: Rows | None) -> list[LocatedText]:
        """Return the texts to draw now. Without a tree return the last one's, minus those whose pixels changed."""
        if picture.space != self._space:  # the phone was turned: what was read is of another picture
            self._forget(picture.space)
        # Another scale moves all ink, so every text is searched for again.
        if picture.scale != self._scale:
            self._missed.clear()
            self._known, self._scale, changed_rows = {}, picture.scale, (0, picture.raw.shape[0])
            tree = tree or self._tree
        if tree is None or (tree == self._tree and changed_rows is None):
            if changed_rows is not None:
                self.shown = [located for located in self.found if not _is_gone(located, picture)]
                self.controls = [
                    control for control in self.controls if is_unchanged(control, picture.raw, picture.scale)
                ]
            return self.shown
        if tree != self._tree:
            if len(self._missed) > 2000:
                self._missed.clear()
            self._tree, self._saying, self._was_read = tree, tree_texts(tree, picture.space), is_from_ocr(tree)
            self._stated = controls(tree, picture.space)
            self.things = self._saying.things
        located = [f for text in self._saying.texts if (f := self._locate(text, picture, changed_rows)) is not None]
        self.found = _align_similar(_drop_covered(located))
        self._known = {_key(one.said): one for one in located}
        self.shown = self.found
        self.controls = self._find_controls(picture, changed_rows)
        return self.shown

    def _forget(self, space: tuple[int, int]) -> None:
        self.found, self.shown, self.things, self.controls, self._stated = [], [], (), [], []
        self._tree, self._saying, self._scale, self._space = None, TreeTexts((), ()), (0.0, 0.0), space

    def _find_controls(self, picture: PackedPicture, changed_rows: Rows | None) -> list[DrawnControl]:
        """Return the controls that are surely in the picture, searched again only where it changed."""
        if not self._stated:
            return []
        drawn_controls = {
            control.control: control for control in self.controls if not _is_touched(control.place[0], changed_rows)
        }
        inks = [text.words.ink for text in self.found]
        finds = [
            drawn_controls.get(screen_control) or find_control(screen_control, picture.raw, picture.scale, inks)
            for screen_control in self._stated
        ]
        return [control for control in finds if control is not None]

    def _locate(self, text: TreeText, picture: PackedPicture, changed_rows: Rows | None) -> LocatedText | None:
        across, down = picture.scale
        left, top, right, bottom = text.box
        place = (
            slice(int(top / down), max(int(bottom / down), int(top / down) + 1)),
            slice(int(left / across), max(int(right / across), int(left / across) + 1)),
        )
        key = _key(text)
        located = self._known.get(key)
        if located is not None and located.said == text and not _is_touched(place[0], changed_rows):
            return located
        pixels = picture.raw[place]
        if not pixels.size:
            return None
        part = _same_ink(pixels, located) if located is not None else None
        ink = located.ink if located is not None and part is not None else None
        line = glyphs(text.text)
        if ink is None and line and self._missed.get(key, 0) == 0:
            ink = find_ink(pixels, shape(text.text, width_of(line)), (across, down), text.sure)
        if ink is None:
            # A box of one colour holds no text yet, or no longer: a dark screen, an app that loads. Try each time.
            is_bare = pixels.min() == pixels.max()
            self._missed[key] = 0 if is_bare else (self._missed.get(key, 0) + 1) % _MISSES
            return None
        pixels = pixels.copy()
        words = _text_block(text, ink, place, picture.scale)
        if self._was_read:
            words = words._replace(colour=_mix(words.colour, _READ_INK))
        part = part or _inked_part(pixels, ink)
        return LocatedText(text, words, ink, place, pixels, part.marks, _without_ink(pixels, ink, place, part))


def _mix(colour: int, other: int) -> int:
    """Return the mean of two packed colours."""
    return ((colour & 0xFEFEFE) + (other & 0xFEFEFE)) >> 1


def _key(text: TreeText) -> tuple[object, ...]:
    """Return the key that identifies a text while the screen scrolls."""
    return text.text, text.box.width, text.box.height, text.box.left, text.state


def _is_touched(rows: slice, changed_rows: Rows | None) -> bool:
    return changed_rows is not None and rows.start < changed_rows[1] and changed_rows[0] < rows.stop


class _InkedPart(NamedTuple):
    """Rows and columns of a box around a text's ink, a mask of the ink there, and its number of pixels."""

    rows: slice
    columns: slice
    mask: Mask
    marks: int


def _inked_part(pixels: Grid, ink: TextInk) -> _InkedPart:
    top, left = max(0, ink.top - 1), max(0, ink.left - 1)
    part = slice(top, min(pixels.shape[0], ink.bottom + 1)), slice(left, min(pixels.shape[1], ink.right + 1))
    mask = inked(pixels[part], ink.paper, True) if ink.flat else inked(pixels, ink.paper, False)[part]
    inner = mask[ink.top - top : ink.bottom - top, ink.left - left : ink.right - left]
    return _InkedPart(*part, mask, int(np.count_nonzero(inner)))


def _same_ink(pixels: Grid, located: LocatedText) -> _InkedPart | None:
    """Return the ink if a moved box holds the same as before: about as many pixels in the same part of it."""
    if not located.ink.flat or pixels.shape[0] < located.ink.bottom or pixels.shape[1] < located.ink.right:
        return None
    part = _inked_part(pixels, located.ink)
    return part if abs(part.marks - located.marks) <= 0.25 * located.marks else None


def _is_gone(text: LocatedText, picture: PackedPicture) -> bool:
    """Return True if the pixels under a text changed."""
    return overpainted(text.pixels, picture.raw[text.place], picture.scale, slack_of(text.words))


def _drop_covered(texts: list[LocatedText]) -> list[LocatedText]:
    """Remove texts that a later one covers. Two texts cannot be in the same pixels."""
    separate: list[LocatedText] = []
    for text in reversed(texts):
        ink = text.words.ink
        for other in separate:
            box = other.words.ink
            if box.top < ink.bottom and ink.top < box.bottom and box.left < ink.right and ink.left < box.right:
                both = ink.intersection(box).area
                if both * 2 > min(ink.area, box.area):
                    break
        else:
            separate.append(text)
    return separate[::-1]


def _align_similar(texts: list[LocatedText]) -> list[LocatedText]:
    """Align the lines of a list (one left edge and height) and of a grid (one width and height): same size and height.

    Measured by ink alone, labels with and without descenders would differ in size, and some would look like titles.
    """
    kinds: dict[tuple[str, int, int], list[TextBlock]] = {}
    for text in texts:
        if text.words.lines == 1:
            for kind in _kinds(text.said.box):
                kinds.setdefault(kind, []).append(text.words)
    sizes = {kind: (len(alike), *_median_size(alike)) for kind, alike in kinds.items() if len(alike) > 1}
    out: list[LocatedText] = []
    for text in texts:
        words = text.words
        known = [sizes[kind] for kind in _kinds(text.said.box) if kind in sizes] if words.lines == 1 else []
        if known:
            _, em, middle = max(known, key=itemgetter(0))
            if abs(words.middle - words.box.top - middle) < 0.35 * em:
                text = text._replace(words=words._replace(em=em, middle=words.box.top + middle))
        out.append(text)
    return out


def _kinds(box: Bounds) -> tuple[tuple[str, int, int], tuple[str, int, int]]:
    return ("list", box.left, box.height), ("grid", box.width, box.height)


def _median_size(alike: list[TextBlock]) -> tuple[float, float]:
    """Return the median font size, and the median distance from a box's top to its line's middle."""
    half = len(alike) // 2
    return sorted(w.em for w in alike)[half], sorted(w.middle - w.box.top for w in alike)[half]


def _text_block(text: TreeText, ink: TextInk, place: tuple[slice, slice], scale: tuple[float, float]) -> TextBlock:
    """Return a text with its ink in the phone's pixels."""
    line = glyphs(text.text)
    left, top = place[1].start, place[0].start
    box = Bounds(
        round((left + ink.left) * scale[0]), round((top + ink.top) * scale[1]),
        round((left + ink.right) * scale[0]), round((top + ink.bottom) * scale[1]),
    )  # fmt: skip
    kind = shape(text.text, width_of(line))
    em = box.height / ink.lines / (kind.height if ink.lines == 1 else 1.2)
    middle = box.bottom - (kind.below + 0.36) * em
    if ink.lines > 1:
        middle = (box.top + box.bottom) / 2
    elif 1.0 < text.box.height / em < 1.8:
        em = text.box.height / 1.33
    return TextBlock(line, text.box, box, text.holder, middle, em, ink.lines, ink.colour, ink.paper, ink.flat)


def without_texts(raw: Grid, texts: Iterable[LocatedText]) -> Grid:
    """Return a picture without the ink of some texts. What surrounds them (bubble, button, field) is unchanged."""
    image = raw.copy()
    for text in texts:
        rows, columns, pixels = text.bare
        image[rows, columns] = pixels
    return image


def _without_ink(pixels: Grid, ink: TextInk, place: tuple[slice, slice], part: _InkedPart) -> tuple[slice, slice, Grid]:
    """Return the rows and columns around a text's ink, and their pixels without it."""
    bare = pixels[part.rows, part.columns].copy()
    erase(bare, part.mask, ink.paper, ink.flat)
    y, x = place[0].start, place[1].start
    rows = slice(y + part.rows.start, y + part.rows.stop)
    return rows, slice(x + part.columns.start, x + part.columns.stop), bare


def boxed_texts(tree: UiTree, size: tuple[int, int]) -> list[TextBlock]:
    """Return a tree's texts set in their own boxes, for a phone without a picture."""
    return [_boxed_text(text) for text in tree_texts(tree, size, drawn=False).texts]


def _boxed_text(text: TreeText) -> TextBlock:
    line = glyphs(text.text)
    box = text.box
    lines = max(1, round(box.height / 64)) if width_of(line) * 22 > box.width else 1
    middle = (box.top + box.bottom) / 2
    return TextBlock(
        line, box, box, text.holder, middle, min(box.height, 48) * 0.8, lines, BLANK_INK, BLANK_PHONE, True
    )


_LARGEST = 0.35
"""Share of the screen above which a description is about a page, not something written on it."""
_MOST = 600
"""Maximum number of texts of one screen. A stranger's tree may hold any number."""


class TreeText(NamedTuple):
    """One text of a tree. A description is `sure`: it counts only if the picture shows its words.

    `holder` is the smallest larger box around it. `state` distinguishes nodes that are drawn differently.
    """

    text: str
    box: Bounds
    sure: bool
    holder: Bounds
    state: tuple[bool, ...]


class TreeTexts(NamedTuple):
    """All texts of a tree in drawing order, and the boxes of things without text (icons, switches)."""

    texts: tuple[TreeText, ...]
    things: tuple[Bounds, ...]


def tree_texts(tree: UiTree, size: tuple[int, int], *, drawn: bool = True) -> TreeTexts:
    """Return the texts of a tree on a screen of `size` pixels. `drawn` is False if there is no picture.

    Only leaf-most ones: a text or description that a descendant repeats is left to that one. Without a picture, every
    description of a leaf without text counts.
    """
    screen = Bounds(0, 0, *size)
    nodes, parents = _flatten(tree)
    below = _texts_inside(nodes, parents)
    texts: list[TreeText] = []
    things: list[Bounds] = []
    for index, node in enumerate(nodes):
        own = node.text.strip()
        text = own or node.desc.strip()
        if not text and node.children:
            continue
        box = node.bounds.intersection(screen)
        if not box.area:
            continue
        if (
            text
            and len(texts) < _MOST
            and _shows_itself(node, _normalize(text), below.get(index, _NONE), box, screen, drawn)
        ):
            texts.append(TreeText(text, box, drawn and not own, _holder(index, nodes, parents), _state(node)))
        if not node.children and not own and box.area < 0.06 * screen.area and _is_thing(node):
            things.append(box)
    return TreeTexts(tuple(texts), tuple(things[:_MOST]))


def _flatten(tree: UiTree) -> tuple[list[Node], list[int]]:
    """Return every node in drawing order, and the index of each one's parent (-1 for none)."""
    nodes: list[Node] = []
    parents: list[int] = []
    # A stack, not recursion: a stranger's tree may be deeper than Python's limit.
    stack = [(root, -1) for root in reversed(tree.roots)]
    while stack:
        node, parent = stack.pop()
        nodes.append(node)
        parents.append(parent)
        here = len(nodes) - 1
        stack.extend((child, here) for child in reversed(node.children))
    return nodes, parents


_NONE: frozenset[str] = frozenset()


def _texts_inside(nodes: list[Node], parents: list[int]) -> dict[int, set[str]]:
    """Return the texts and descriptions inside each node that has any."""
    below: dict[int, set[str]] = {}
    for index in range(len(nodes) - 1, 0, -1):
        node, parent = nodes[index], parents[index]
        inside = below.get(index)
        if parent < 0 or not (inside or node.text or node.desc):
            continue
        above = below.setdefault(parent, set())
        if inside:
            above |= inside
        above.update(name for name in (_normalize(node.text), _normalize(node.desc)) if name)
    return below


@lru_cache(maxsize=2048)
def _normalize(text: str) -> str:
    return " ".join(text.split()).casefold()


def _shows_itself(node: Node, name: str, below: Collection[str], box: Bounds, screen: Bounds, drawn: bool) -> bool:
    """Return True if a node shows its text itself, instead of a descendant with the same text."""
    if name in below:
        return False
    if node.text.strip():
        return True
    if box.area > _LARGEST * screen.area or any(inner in name for inner in below):
        return False
    return drawn or not node.children


def _holder(index: int, nodes: list[Node], parents: list[int]) -> Bounds:
    """Return the smallest ancestor's box that is wider than the node's by more than a few pixels."""
    box = nodes[index].bounds
    above = parents[index]
    while above >= 0:
        if nodes[above].bounds.width > box.width + 4:
            return nodes[above].bounds
        above = parents[above]
    return box


def _state(node: Node) -> tuple[bool, ...]:
    return node.enabled, node.selected, node.checked, node.focused


def _is_thing(node: Node) -> bool:
    """Return True if the node is likely drawn without words: a picture, a switch, a button."""
    kind = node.cls.rpartition(".")[2]
    return node.checkable or node.clickable or "Image" in kind or "Switch" in kind or bool(node.desc)
