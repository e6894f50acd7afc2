"""What a terminal sends between the two marks of a paste is text, whatever it holds."""

from __future__ import annotations

import sys
from collections.abc import Iterable

from textual._xterm_parser import XTermParser
from textual.driver import Driver
from textual.message import Message

_BEGIN, _END = "\x1b[200~", "\x1b[201~"
_AS_ONE = {"[": "\x9b", "]": "\x9d", "P": "\x90", "X": "\x98", "^": "\x9e", "_": "\x9f", "\\": "\x9c"}
"""What begins or ends a sequence after ESC, as the one character that means the same."""


class PasteParser(XTermParser):
    """Textual's parser without escapes in a paste, which it takes as keys: a line end behind one would press Enter.

    xterm leaves them out itself, and tmux does not. Sequences stay whole for whoever cleans the text.
    """

    def __init__(self, debug: bool = False) -> None:
        super().__init__(debug)
        self._pasting = False
        self._before = ""
        """The last characters that were handed on, in which the mark of a paste may begin."""
        self._held = ""
        """The beginning of what may be the mark of its end."""

    def feed(self, data: str) -> Iterable[Message]:
        handed = self._text_of(data)
        return super().feed(handed) if handed or not data else ()

    def _text_of(self, data: str) -> str:
        data, self._held = self._held + data, ""
        parts = list[str]()
        while data:
            mark, known = (_END, "") if self._pasting else (_BEGIN, self._before)
            at = (known + data).find(mark)
            cut = len(data) if at < 0 else at + len(mark) - len(known)
            piece, data = data[:cut], data[cut:]
            if self._pasting:
                end = mark if at >= 0 else ""
                text = piece.removesuffix(end)
                if not end and (begun := next((n for n in range(5, 0, -1) if text.endswith(_END[:n])), 0)):
                    text, self._held = text[:-begun], text[-begun:]
                head, *tails = text.split("\x1b")
                piece = head + "".join(_AS_ONE.get(tail[:1], tail[:1]) + tail[1:] for tail in tails) + end
            self._before = (self._before + piece)[1 - len(_BEGIN) :]
            parts.append(piece)
            if at >= 0:
                self._pasting, self._before = not self._pasting, ""
        return "".join(parts)


def take_pastes_whole(driver: type[Driver]) -> type[Driver]:
    """The driver, which makes its parser by the name that its module knows."""
    for kind in driver.__mro__:
        if hasattr(module := sys.modules[kind.__module__], XTermParser.__name__):
            setattr(module, XTermParser.__name__, PasteParser)
    return driver
