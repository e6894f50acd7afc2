"""Words of a live phone without UI text, read from its pictures by OCR on a thread of their own."""

from __future__ import annotations

import hashlib
import io
import threading
import time
from typing import TYPE_CHECKING

from textual.message import Message

from lab.core.errors import LabError
from lab.core.run.ui_tree import UiTree
from lab.core.seams import Frame, rgb_of
from lab.core.text.read_text import ReadText, has_no_text, is_from_ocr
from screens.mirror.mirror import Mirror

if TYPE_CHECKING:
    from collections.abc import Callable

    from lab.ocr.reader import TextReader

_PATIENCE = 20.0
"""Maximum seconds to read one picture."""
_REST, _SELDOM = 0.4, 2.0
"""Seconds a picture must be still before a reading, and seconds between readings of a screen that keeps moving."""
_LOOK = 0.25
"""Seconds between two checks of whether a reading is due."""
_NOISE = 10
"""Mean difference (of 255) of the pixels under a line, from video coding, up to which the line counts as unchanged."""


class LiveWords:
    """Live frames for a mirror, with words read by OCR if the phone's UI tree has none.

    A frame is never delayed. Its words follow once they are read, if the picture still shows them. `reader` returns the
    OCR engine or None. It is called on the reading thread, and only if a phone has no words. `close` ends the thread.
    """

    class EngineMissing(Message):
        """Message: a phone has no words, and no OCR engine is installed."""

    def __init__(self, mirror: Mirror, reader: Callable[[], TextReader | None]) -> None:
        self._mirror, self._reader = mirror, reader
        self._change = threading.Condition()
        self._thread: threading.Thread | None = None
        self._closed = self._silent = False
        self._newest: Frame | None = None
        self._changed_at, self._reading_began = 0.0, 0.0
        """Monotonic seconds of the newest picture's arrival, and of the last reading's start."""
        self._last_reading: tuple[int, UiTree] | None = None
        """Number of the picture that was read, and the tree made of its text."""
        self._words_shown = False

    def show(self, frame: Frame) -> None:
        """Show a frame at once. Call it from the thread that receives frames."""
        with self._change:
            if self._newest is None or frame.number != self._newest.number:
                self._changed_at = time.monotonic()
            self._newest = frame
            if frame.tree is not None:
                self._silent = has_no_text(frame.tree)
            if self._silent and not self._closed and self._thread is None:
                self._thread = threading.Thread(target=self._run, name="live words", daemon=True)
                self._thread.start()
            self._post(self._with_words(frame) if self._silent else frame)
            self._change.notify_all()

    def close(self) -> None:
        """Stop reading. A reading under way is discarded."""
        with self._change:
            self._closed = True
            self._change.notify_all()

    def _with_words(self, frame: Frame) -> Frame:
        """Return a frame of a phone without words as it is shown: with the tree that was read of it, if any.

        Otherwise, if read words are on the screen, drop the tree. The mirror then keeps those of unchanged pixels.
        """
        if self._last_reading is not None and self._last_reading[0] == frame.number:
            return frame._replace(tree=self._last_reading[1])
        return frame._replace(tree=None) if self._words_shown else frame

    def _post(self, frame: Frame) -> None:
        if frame.tree is not None:
            self._words_shown = is_from_ocr(frame.tree)
        self._mirror.post_frame(frame)

    # -- reading ---------------------------------------------------------------------------------------------

    def _run(self) -> None:
        while (frame := self._next_due()) is not None:
            reader = self._reader()
            if reader is None:
                if not self._closed:
                    self._mirror.post_message(self.EngineMissing())
                return
            self._reading_began = time.monotonic()
            try:
                text = _text_of(frame, reader)
            except LabError:
                text = None
            self._show_text(frame, text)

    def _next_due(self) -> Frame | None:
        """Wait until a reading is due and return the newest picture, or None when closed."""
        with self._change:
            while not self._closed:
                if self._newest is not None and self._is_due(self._newest):
                    return self._newest
                # Nothing notifies of time that passes, so a silent phone is polled.
                self._change.wait(_LOOK if self._silent else None)
            return None

    def _is_due(self, frame: Frame) -> bool:
        """Return True if a reading of this picture is due: once it is still, or at intervals if it keeps moving."""
        if (
            not self._silent
            or not self._mirror.overlay
            or (self._last_reading is not None and self._last_reading[0] == frame.number)
        ):
            return False
        now = time.monotonic()
        return frame.tree is not None or now - self._changed_at > _REST or now - self._reading_began > _SELDOM

    def _show_text(self, frame: Frame, text: ReadText | None) -> None:
        """Show recognized text: all of it if its picture is the newest, else the lines that are unchanged there."""
        with self._change:
            newest = self._newest
            if newest is None or not self._shows_words:
                return
            if newest.number == frame.number:
                self._last_reading = frame.number, text.tree if text is not None else UiTree()
                self._post(newest._replace(tree=self._last_reading[1]))
                return
        # Outside the lock: the comparison takes milliseconds, and `show` must not wait for it.
        valid_text = _still_valid(frame, newest, text) if text is not None else None
        with self._change:
            if valid_text is not None and valid_text.lines and self._newest is newest and self._shows_words:
                self._post(newest._replace(tree=valid_text.tree))

    @property
    def _shows_words(self) -> bool:
        """True while recognized text may be shown."""
        return self._silent and not self._closed


def _text_of(frame: Frame, reader: TextReader) -> ReadText:
    """Return the text in a frame's picture, with boxes in the phone's pixels. None of it is written to the disk."""
    from PIL import Image

    out = io.BytesIO()
    Image.frombuffer("RGB", frame.size, rgb_of(frame.pixels), "raw", "RGB", 0, 1).save(out, "PNG", compress_level=1)
    png = out.getvalue()
    text = reader.read(hashlib.sha256(png).hexdigest(), png, patience=_PATIENCE, keep=False)
    return text.scaled(*_scale(frame))


def _scale(frame: Frame) -> tuple[float, float]:
    """Return the phone's pixels in one pixel of the picture, across and down."""
    space = frame.space or frame.size
    return space[0] / frame.size[0], space[1] / frame.size[1]


def _still_valid(frame: Frame, newest: Frame, text: ReadText) -> ReadText | None:
    """Return the lines whose pixels in the newest frame are as they were when read, or None if the size changed."""
    import numpy as np

    if (frame.size, frame.space) != (newest.size, newest.space):
        return None
    width, height = frame.size
    was, now = (
        np.frombuffer(rgb_of(picture.pixels), np.uint8).reshape(height, width, 3) for picture in (frame, newest)
    )
    across, down = _scale(frame)
    lines = []
    for line in text.lines:
        left, top, right, bottom = line.box
        part = slice(int(top / down), int(bottom / down) + 1), slice(int(left / across), int(right / across) + 1)
        if np.abs(was[part].astype(np.int16) - now[part]).mean() <= _NOISE:
            lines.append(line)
    return ReadText(text.engine, tuple(lines))
