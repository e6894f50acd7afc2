"""Letters: the font of a character, the width of a text, where it wraps, and its mask for painting.

Latin letters come from Pillow's own font (Aileron), so they look the same on every machine. Other characters come from
the first system font that has them, or appear as a box if none has.
"""

from __future__ import annotations

import os
import sys
import unicodedata
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from simulators.phone.kit.picture_cache import keep_pictures

if TYPE_CHECKING:
    from PIL.Image import Image
    from PIL.ImageFont import FreeTypeFont

CELL = 24
"""Pixels that one Latin character takes in a text mirror. A text is laid out at least this wide."""

_WANTED = (
    "NotoSansCJK-Regular.ttc", "NotoSansCJKsc-Regular.otf", "NotoSansSC-Regular.otf", "NotoSansSC-Regular.ttf",
    "SourceHanSansSC-Regular.otf", "wqy-microhei.ttc", "wqy-zenhei.ttc", "PingFang.ttc", "Hiragino Sans GB.ttc",
    "STHeiti Light.ttc", "DroidSansFallbackFull.ttf", "DejaVuSans.ttf", "Arial Unicode.ttf",
    "NotoSansSymbols2-Regular.ttf", "NotoSansSymbols-Regular.ttf", "NotoEmoji-Regular.ttf",
)  # fmt: skip
_DEJAVU_FIRST = 0x2E80
"""Code points below this come from DejaVu first: its accented letters fit beside Aileron better than a CJK font's."""
_NOTHING = "\U0010fff0"


def _folders() -> list[Path]:
    home = Path.home()
    if sys.platform == "darwin":
        return [Path("/System/Library/Fonts"), Path("/Library/Fonts"), home / "Library/Fonts"]
    return [Path("/usr/share/fonts"), Path("/usr/local/share/fonts"), home / ".local/share/fonts", home / ".fonts"]


@lru_cache(maxsize=1)
def found_fonts() -> tuple[str, ...]:
    """Return the paths of the wanted system fonts that exist, in order of preference."""
    there: dict[str, str] = {}
    for folder in _folders():
        for root, _, names in os.walk(folder):
            for name in names:
                if name in _WANTED:
                    there.setdefault(name, os.path.join(root, name))
    return tuple(there[name] for name in _WANTED if name in there)


@lru_cache(maxsize=128)
def _face(path: str, size: int) -> FreeTypeFont:
    from PIL import ImageFont

    if not path:
        font = ImageFont.load_default(size)
        assert isinstance(font, ImageFont.FreeTypeFont)
        return font
    # The collection's third face is Simplified Chinese.
    index = 2 if path.endswith("NotoSansCJK-Regular.ttc") else 0
    # The basic layout is the same on every machine. Raqm is not always installed.
    return ImageFont.truetype(path, size, index=index, layout_engine=ImageFont.Layout.BASIC)


@lru_cache(maxsize=8192)
def font_of(ch: str) -> str | None:
    """Return the font that has `ch`: "" for Pillow's own, else a path, or None if no font has it."""
    if " " <= ch <= "~":
        return ""
    if unicodedata.category(ch) in ("Cc", "Cs"):
        return None
    paths = list(found_fonts())
    if ord(ch) < _DEJAVU_FIRST:
        paths.sort(key=lambda p: not p.endswith("DejaVuSans.ttf"))
    for path in ("", *paths):
        # A font draws its "missing" box for an unassigned code point, so an equal mask means that it lacks `ch`.
        face = _face(path, 32)
        if bytes(face.getmask(ch)) != bytes(face.getmask(_NOTHING)):
            return path
    return None


def _runs(text: str) -> Iterator[tuple[str | None, str]]:
    """Yield the parts of `text` that share a font, with that font."""
    start, source = 0, font_of(text[0]) if text else None
    for i, ch in enumerate(text):
        other = font_of(ch)
        if other != source:
            yield source, text[start:i]
            start, source = i, other
    if text:
        yield source, text[start:]


def _wide(ch: str) -> bool:
    return unicodedata.east_asian_width(ch) in "WF"


def cells(text: str) -> int:
    """Return the number of terminal columns of `text`: two for each wide (CJK) character."""
    return len(text) if text.isascii() else sum(2 if _wide(ch) else 1 for ch in text)


@lru_cache(maxsize=16384)
def width(text: str, size: int, bold: bool = False) -> int:
    """Return the drawn width of `text` in pixels."""
    total = 0.0
    for source, run in _runs(text):
        total += size * 0.9 * len(run) if source is None else _face(source, size).getlength(run)
    return round(total) + (_boldness(size) if bold and text else 0)


def room(text: str, size: int, bold: bool = False) -> int:
    """Return the width to reserve for `text`: the larger of its letters' and its terminal cells'."""
    return max(width(text, size, bold), cells(text) * CELL)


def _boldness(size: int) -> int:
    return max(1, round(size / 26))


@lru_cache(maxsize=4096)
def wrap(text: str, size: int, bold: bool, limit: int, lines: int) -> tuple[str, ...]:
    """Return `text` in lines no wider than `limit`, at most `lines` (0: no limit), with `…` where text is cut."""
    if lines == 1:
        return (ellipsis(" ".join(text.split("\n")), size, bold, limit),)
    out: list[str] = []
    for paragraph in text.split("\n"):
        out.extend(_wrap_paragraph(paragraph, size, bold, limit))
    if lines and len(out) > lines:
        out = [*out[: lines - 1], out[lines - 1] + "…"]
    last = len(out) - 1
    for i, line in enumerate(out):
        if width(line, size, bold) > limit or (i == last and line.endswith("…")):
            out[i] = ellipsis(line, size, bold, limit)
    return tuple(out)


def ellipsis(line: str, size: int, bold: bool, limit: int) -> str:
    """Return one line shortened to `limit`, ending in `…` if it was cut."""
    if width(line, size, bold) <= limit:
        return line
    prefix = line.rstrip("…")
    while prefix and width(prefix.rstrip() + "…", size, bold) > limit:
        prefix = prefix[:-1]
    return prefix.rstrip() + "…"


def _wrap_paragraph(text: str, size: int, bold: bool, limit: int) -> list[str]:
    out: list[str] = []
    line = ""
    for piece in _pieces(text):
        if not line or room((line + piece).rstrip(), size, bold) <= limit:
            line += piece
        else:
            out.append(line.rstrip())
            line = piece.lstrip()
        while room(line.rstrip(), size, bold) > limit and len(line) > 1:
            fit = len(line)
            while fit > 1 and room(line[:fit], size, bold) > limit:
                fit -= 1
            out.append(line[:fit])
            line = line[fit:]
    return [*out, line.rstrip()]


def _pieces(text: str) -> Iterator[str]:
    """Yield the parts between which a line may break: after spaces, and around each wide character."""
    piece = ""
    for ch in text:
        # CJK punctuation stays with the character before it.
        if _wide(ch) and ch not in "，。！？、；：）":
            if piece:
                yield piece
            piece = ch
        else:
            piece += ch
            if ch == " ":
                yield piece
                piece = ""
    if piece:
        yield piece


@keep_pictures(megabytes=6)
def mask(text: str, size: int, bold: bool) -> Image:
    """Return the ink of one line as a grey picture, `width` wide and 1.5 times `size` high, with the baseline at 1.1
    `size`.
    """
    from PIL import Image, ImageChops, ImageDraw

    picture = Image.new("L", (width(text, size, bold) + 4, round(size * 1.5)))
    draw = ImageDraw.Draw(picture)
    x, base = 0.0, round(size * 1.1)
    for source, run in _runs(text):
        if source is None:
            for _ in run:
                box = (x + size * 0.12, base - size * 0.74, x + size * 0.78, base + size * 0.04)
                draw.rounded_rectangle(box, size * 0.1, outline=255, width=max(2, size // 18))
                x += size * 0.9
        else:
            face = _face(source, size)
            draw.text((round(x), base), run, fill=255, font=face, anchor="ls")
            x += face.getlength(run)
    if bold:
        # The fonts come in one weight: shifted copies thicken the letters.
        thin = picture
        for step in range(1, _boldness(size) + 1):
            copy = Image.new("L", picture.size)
            copy.paste(thin, (step, 0))
            picture = ImageChops.lighter(picture, copy)
    return picture
