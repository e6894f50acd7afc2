"""Live frames from a phone that must be polled: decoded, numbered, with the tree known for them."""

from __future__ import annotations

import struct
import threading
import time
from collections.abc import Callable, Iterator
from typing import NamedTuple

from lab.core.run.step import Point
from lab.core.run.ui_tree import UiTree
from lab.core.seams import Frame, Trouble
from lab.core.values.safe_images import open_picture

_SIGNATURE = b"\x89PNG\r\n\x1a\n"
_LARGEST = 16384


def picture_size(png: bytes, what: str) -> Point:
    """Return width and height from a PNG's first chunk. Raise `Trouble` naming `what` if it is not a PNG."""
    if png[:8] == _SIGNATURE and png[12:16] == b"IHDR" and len(png) >= 33:
        width, height = struct.unpack(">II", png[16:24])
        if 0 < width <= _LARGEST and 0 < height <= _LARGEST:
            return width, height
    raise Trouble(what, "its screenshot is no PNG.")


class PolledPicture(NamedTuple):
    """One polled picture: a PNG, and its tree if known for exactly this picture."""

    png: bytes
    tree: UiTree | None = None


def polled_frames(
    look: Callable[[], PolledPicture], stop: threading.Event, closed: threading.Event, seconds: float, what: str
) -> Iterator[Frame]:
    """Poll `look` every `seconds` and yield a frame each time, until `stop` or `closed` is set.

    An unchanged picture repeats its number. A `Trouble` ends the stream.
    """
    before, frame, number = b"", None, 0
    while not stop.is_set() and not closed.is_set():
        try:
            snapshot = look()
        except Trouble:
            # A closed phone answers nothing: the end of the stream, not an error.
            if closed.is_set():
                return
            raise
        if frame is None or snapshot.png != before:
            before, number = snapshot.png, number + 1
            frame = _frame(snapshot.png, number, what)
        yield frame._replace(tree=snapshot.tree, at=time.monotonic())
        if stop.wait(seconds):
            return


def _frame(png: bytes, number: int, what: str) -> Frame:
    try:
        with open_picture(png) as picture:
            rgb = picture.convert("RGB")
            return Frame(rgb.tobytes(), rgb.size, None, time.monotonic(), number)
    except (ValueError, OSError) as error:
        raise Trouble(what, "its screenshot is no picture.") from error
