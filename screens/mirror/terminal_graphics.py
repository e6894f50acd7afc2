"""Still pictures by a terminal's own graphics, Kitty's or sixel, for looking closely; textual-image draws them."""

from __future__ import annotations

import os
import re
import select
import sys
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from lab.core.errors import LabError
from lab.core.safe_images import open_picture
from lab.core.step import Point
from screens.mirror.marks import PhoneMark

if TYPE_CHECKING:
    from PIL.Image import Image
    from textual.widget import Widget

Graphics = Literal["cells", "kitty", "sixel"]

_INK = (255, 59, 107)
_ANSWER = 0.4
"""Seconds that a terminal has to say what it can do; one over a slow line needs most of it."""


def prepare(kind: Graphics) -> None:
    """Loads what draws, which must be before an app runs, for it asks the terminal; `LabError` where it is absent."""
    if kind != "cells":
        _widgets(kind)


def _widgets(kind: Graphics) -> Any:
    try:
        import textual_image.widget as widgets
    except ImportError as error:
        problem = f"field graphics is {kind}, which needs textual-image, and that is not installed"
        raise LabError("settings", problem, "pip install 'hitlab[graphics]'") from error
    except (ArithmeticError, OSError, ValueError) as error:  # it asks the terminal, which may know nothing of itself
        problem = f"field graphics is {kind}, but this terminal does not tell its size in pixels"
        raise LabError("settings", problem, "Set graphics to cells, or use another terminal.") from error
    return widgets


def canvas(kind: Graphics) -> Widget:
    """An empty widget that shows the PIL image put into its `image`."""
    widgets = _widgets(kind)
    made: Widget = widgets.TGPImage() if kind == "kitty" else widgets.SixelImage()
    return made


def drawn(data: bytes | None, size: Point, marks: Sequence[PhoneMark]) -> Image | None:
    """A stored picture with marks (in pixels of a phone of `size`) on it; None where it cannot be read."""
    from PIL import ImageDraw

    if data is None:
        return None
    try:
        with open_picture(data) as stored:
            image = stored.convert("RGB")
    except (OSError, ValueError, SyntaxError):
        return None
    pen, scale = ImageDraw.Draw(image), image.width / size[0]
    unit = max(image.size) / 100
    for mark in marks:
        if mark.at is None:
            continue
        x, y = mark.at[0] * scale, mark.at[1] * scale
        end = None if mark.to is None else (mark.to[0] * scale, mark.to[1] * scale)
        if mark.kind in ("box", "evidence") and end is not None:
            pen.rectangle((x, y, *end), outline=_INK, width=round(unit / 2))
            continue
        ring = 2.2 * unit
        pen.ellipse((x - ring, y - ring, x + ring, y + ring), outline=_INK, width=round(unit / 2))
        if end is not None:
            pen.line((x, y, *end), fill=_INK, width=round(unit / 2))
            pen.ellipse((end[0] - unit, end[1] - unit, end[0] + unit, end[1] + unit), fill=_INK)
    return image


class GraphicsSupport(NamedTuple):
    """What a terminal says that it can draw; `answered` is False where it said nothing at all."""

    kitty: bool
    sixel: bool
    answered: bool


def ask(seconds: float = _ANSWER) -> GraphicsSupport:
    """Asks the terminal, outside any app, what it can draw: Kitty's graphics query, then its device attributes."""
    if not (sys.stdin.isatty() and sys.stdout.isatty()) or os.environ.get("TERM", "dumb") == "dumb":
        return GraphicsSupport(False, False, False)
    import termios
    import tty

    stdin = sys.stdin.fileno()
    if os.tcgetpgrp(stdin) != os.getpgrp():  # in the background a terminal stops whoever changes it
        return GraphicsSupport(False, False, False)
    before = termios.tcgetattr(stdin)
    try:
        tty.setcbreak(stdin)
        os.write(sys.stdout.fileno(), b"\x1b_Gi=31,s=1,v=1,a=q,t=d,f=24;AAAA\x1b\\\x1b[c")
        return read_answer(_until_attributes(stdin, seconds))
    finally:
        termios.tcsetattr(stdin, termios.TCSANOW, before)


def _until_attributes(stdin: int, seconds: float) -> bytes:
    """What a terminal answers, up to its device attributes, which every terminal that answers sends last."""
    received, end = b"", time.monotonic() + seconds
    while not _ATTRIBUTES.search(received) and (left := end - time.monotonic()) > 0:
        if select.select([stdin], [], [], left)[0]:
            received += os.read(stdin, 1024)
    return received


_ATTRIBUTES = re.compile(rb"\x1b\[\?([\d;]*)c")


def read_answer(answer: bytes) -> GraphicsSupport:
    """What those bytes say: `OK` to Kitty's query, attribute 4 for sixel."""
    match = _ATTRIBUTES.search(answer)
    sixel = match is not None and b"4" in match[1].split(b";")
    return GraphicsSupport(b"\x1b_Gi=31;OK" in answer, sixel, match is not None)
