"""Bracketed paste: everything between a terminal's two marks is text, whatever it contains."""

from __future__ import annotations

import sys
from collections.abc import Iterable

from textual._xterm_parser import XTermParser
from textual.driver import Driver
from textual.message import Message

_BEGIN, _END = "\x1b[200~", "\x1b[201~"
_AS_ONE = {"[": "\x9b", "]": "\x9d", "P": "\x90", "X": "\x98", "^": "\x9e", "_": "\x9f", "\\": "\x9c"}
"""Second characters of escape sequences, each with the one-character (C1) form of the same sequence."""


class PasteParser(XTermParser):
    """Textual's parser, with escape characters removed from pastes.

    Textual would read them as keys, and a line end behind one would press Enter. xterm removes them itself, tmux does
    not. Sequences stay whole as C1 characters for whoever cleans the text.
    """

    def __init__(self, debug: bool = False) -> None:
        super().__init__(debug)
        self._pasting = False
        self._before = ""
        """Last characters passed on, in which the begin mark of a paste may have started."""
        self._partial_end = ""
        """Beginning of what may be the end mark of a paste."""

    def feed(self, data: str) -> Iterable[Message]:
        handed = self._strip_escapes(data)
        return super().feed(handed) if handed or not data else ()

    def _strip_escapes(self, data: str) -> str:
        data, self._partial_end = self._partial_end + data, ""
        parts = list[str]()
        while data:
            # A mark may be split between two reads: `_before` and `_partial_end` bridge them.
            mark, known = (_END, "") if self._pasting else (_BEGIN, self._before)
            mark_at = (known + data).find(mark)
            cut = len(data) if mark_at < 0 else mark_at + len(mark) - len(known)
            piece, data = data[:cut], data[cut:]
            if self._pasting:
                end = mark if mark_at >= 0 else ""
                text = piece.removesuffix(end)
                if not end and (begun := next((n for n in range(5, 0, -1) if text.endswith(_END[:n])), 0)):
                    text, self._partial_end = text[:-begun], text[-begun:]
                head, *tails = text.split("\x1b")
                piece = head + "".join(_AS_ONE.get(tail[:1], tail[:1]) + tail[1:] for tail in tails) + end
            self._before = (self._before + piece)[1 - len(_BEGIN) :]
            parts.append(piece)
            if mark_at >= 0:
                self._pasting, self._before = not self._pasting, ""
        return "".join(parts)


def take_pastes_whole(driver: type[Driver]) -> type[Driver]:
    """Patch `PasteParser` into the driver's module, because the driver creates its parser by that global name."""
    for kind in driver.__mro__:
        if hasattr(module := sys.modules[kind.__module__], XTermParser.__name__):
            setattr(module, XTermParser.__name__, PasteParser)
    return driver
