"""Make a stranger's text safe for display, so that it cannot steer a terminal or a renderer.

`lab.core.text.typed_text.clean` cleans text for storage. What `plain` returns is never stored.
"""

from __future__ import annotations

import re
import unicodedata
from html import escape

_HIDDEN = {"Cc", "Cf", "Cs", "Co", "Zl", "Zp"}
_SHAPING = frozenset("\u200c\u200d\u200e\u200f\u061c\u180e\u0600\u0601\u0602\u0603\u0604\u0605\u06dd\u070f\u08e2")
"""Format characters that shape letters, and Arabic signs. None changes the direction of the text around it."""
_UNPAINTED = frozenset("\u00ad\u200b\u2060\u2061\u2062\u2063\u2064")
"""Invisible break opportunities. A terminal paints nothing there, or a hyphen that is not part of the text."""
_FLAG = re.compile("\U0001f3f4[\U000e0020-\U000e007e]{1,8}\U000e007f")
"""A region's flag: an emoji followed by its name in tag characters, which are hidden text anywhere else."""
_BLOCK_START = re.compile(r"^(\s*)(#|[-=+]+(?=\s|$)|\d+[.)](?=\s|$))")
"""Beginnings of a line that Markdown takes for a heading, a rule or a list."""
_LINE_END = re.compile(r"\r\n|[\r\u2028\u2029]")


def plain(text: str, *, lines: bool = True) -> str:
    """Return `text` with control, direction and surrogate characters visible as `\\xNN` or `\\uNNNN`.

    Line ends become line feeds if `lines` is true, else `⏎`. Tabs become one space. Characters that shape letters and
    emoji stay. Soft hyphens and other break opportunities are removed. The result never has ESC, so neither ANSI nor
    OSC sequences survive. Rich markup needs no treatment, because callers pass the result on as `Text`.
    """
    # The usual case needs no walk over the characters.
    if text.isprintable():
        return text
    text = _LINE_END.sub("\n", text)
    parts, end = list[str](), 0
    for flag in _FLAG.finditer(text):
        parts += [_visible_form(ch, lines) for ch in text[end : flag.start()]]
        parts.append(flag[0])
        end = flag.end()
    parts += [_visible_form(ch, lines) for ch in text[end:]]
    return "".join(parts)


def fold_text(text: str) -> str:
    """Return a text without differences of case and white space, to compare it."""
    return " ".join(text.casefold().split())


def html_text(text: str) -> str:
    """Return `text` in one line for HTML or SVG: every character visible, none of them markup."""
    return escape(plain(text, lines=False))


def markdown_text(text: str, *, begins_line: bool = True) -> str:
    """Return `text` in one line that Markdown leaves unchanged: without markup, HTML, links or columns."""
    out = plain(text, lines=False).strip().replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    out = re.sub(r"([\\`*_\[\]|~$^])", r"\\\1", out)
    # Some renderers turn bare addresses into links, so these are broken up by character references.
    out = out.replace("://", "&#58;//").replace("www.", "www&#46;").replace("@", "&#64;")
    if not begins_line:
        return out
    return _BLOCK_START.sub(lambda match: f"{match[1]}{match[2][:-1]}&#{ord(match[2][-1])};", out)


def _visible_form(ch: str, lines: bool) -> str:
    if ch.isprintable() or ch in _SHAPING:
        return ch
    if ch == "\n":
        return "\n" if lines else "⏎"
    if ch == "\t":
        return " "
    if ch in _UNPAINTED:
        return ""
    category = unicodedata.category(ch)
    if category in _HIDDEN:
        point = ord(ch)
        return f"\\x{point:02x}" if point < 256 else f"\\u{point:04x}"
    return " " if category.startswith("Z") else ch
