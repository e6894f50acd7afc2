"""Text that OCR read from a picture: lines with their boxes, and the tree of nodes that they make."""

from __future__ import annotations

import msgspec

from lab.core.run.ui_tree import Bounds, Node, UiTree

READ = "hitlab.ReadText"
"""Class of a node that OCR read. It did not come from a phone."""


class ReadLine(msgspec.Struct, frozen=True):
    """One line of text, its box in pixels of the picture, and the engine's confidence from 0 to 1."""

    text: str
    box: Bounds
    sure: float


class ReadText(msgspec.Struct, frozen=True):
    """All lines of one picture, and the engine that read them (name, version, models)."""

    engine: str
    lines: tuple[ReadLine, ...]

    def scaled(self, across: float, down: float) -> ReadText:
        """Return the lines for a picture `across` times as wide and `down` times as high."""
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
        """Text for searches: each line without blanks, its case folded."""
        return "\n".join(without_blanks(line.text) for line in self.lines)

    @property
    def tree(self) -> UiTree:
        """The lines as nodes of the class `READ`, from top to bottom."""
        return UiTree(tuple(Node(line.box, line.text, cls=READ) for line in self.lines))


def is_from_ocr(tree: UiTree | None) -> bool:
    """Return True if OCR made this tree."""
    return tree is not None and bool(tree.roots) and tree.roots[0].cls == READ


def line_contains(text: str, words: str) -> bool:
    """Return True if an OCR line contains words. Case and blanks do not count, because engines lose some blanks."""
    return without_blanks(words) in without_blanks(text)


def without_blanks(text: str) -> str:
    """Return a text case-folded and without blanks."""
    return "".join(text.split()).casefold()


def has_no_text(tree: UiTree | None) -> bool:
    """Return True if a screen's tree is missing or has no words."""
    return tree is None or not any(node.text.strip() or node.desc.strip() for node in tree.nodes())
