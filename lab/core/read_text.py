"""Text that was read from a picture by OCR: lines with their boxes, and the tree of nodes that they make."""

from __future__ import annotations

import msgspec

from lab.core.ui_tree import Bounds, Node, UiTree

READ = "hitlab.ReadText"
"""The class of a node that was read from a picture; no phone has said it."""


class ReadLine(msgspec.Struct, frozen=True):
    """One line of text: its box in pixels of the picture, and from 0 to 1 how sure the engine is of it."""

    text: str
    box: Bounds
    sure: float


class ReadText(msgspec.Struct, frozen=True):
    """All lines of one picture, and the engine that read them (name, version, models)."""

    engine: str
    lines: tuple[ReadLine, ...]

    def scaled(self, across: float, down: float) -> ReadText:
        """The same lines in a picture that is so many times as wide and as high."""
        lines = (
            msgspec.structs.replace(
                line,
                box=Bounds(
                    round(line.box.left * across), round(line.box.top * down),
                    round(line.box.right * across), round(line.box.bottom * down),
                ),
            )
            for line in self.lines
        )  # fmt: skip
        return ReadText(self.engine, tuple(lines))

    @property
    def searched(self) -> str:
        """What a search looks in: each line without blanks, its case folded."""
        return "\n".join(without_blanks(line.text) for line in self.lines)

    @property
    def tree(self) -> UiTree:
        """The lines as nodes of a screen, from the top to the bottom; they are of the class `READ`."""
        return UiTree(tuple(Node(line.box, line.text, cls=READ) for line in self.lines))


def was_read(tree: UiTree | None) -> bool:
    """Whether a tree was read from a picture."""
    return tree is not None and bool(tree.roots) and tree.roots[0].cls == READ


def line_holds(text: str, words: str) -> bool:
    """Whether a line that was read holds words, whatever their case; blanks do not count, for engines lose some."""
    return without_blanks(words) in without_blanks(text)


def without_blanks(text: str) -> str:
    """A text with its case folded and no blank in it."""
    return "".join(text.split()).casefold()


def says_nothing(tree: UiTree | None) -> bool:
    """Whether a screen's tree is not there, or holds no word."""
    return tree is None or not any(node.text.strip() or node.desc.strip() for node in tree.nodes())
