"""A stranger's text as plain characters: nothing in it may steer a terminal or a renderer."""

from __future__ import annotations

import unicodedata

_HIDDEN = {"Cc", "Cf", "Cs", "Co", "Zl", "Zp"}
_JOINERS = {"\u200d", "\ufe0e", "\ufe0f"}
"""Format characters that emoji need; they carry no direction and no control."""


def plain(text: str, *, lines: bool = True) -> str:
    """`text` with every control, direction and surrogate character made visible as `\\xNN` or `\\uNNNN`.

    Line feeds stay when `lines` is true, else they show as `⏎`; tabs become one space. Never returns ESC, so
    neither ANSI nor OSC sequences survive. Rich markup needs no treatment here: text is handed on as `Text`.
    """
    if text.isprintable():
        return text
    out: list[str] = []
    for ch in text.replace("\r\n", "\n"):
        if ch == "\n":
            out.append("\n" if lines else "⏎")
        elif ch == "\t":
            out.append(" ")
        elif ch.isprintable() or ch in _JOINERS:
            out.append(ch)
        elif unicodedata.category(ch) in _HIDDEN:
            point = ord(ch)
            out.append(f"\\x{point:02x}" if point < 256 else f"\\u{point:04x}")
        else:
            out.append(" " if unicodedata.category(ch).startswith("Z") else ch)
    return "".join(out)
