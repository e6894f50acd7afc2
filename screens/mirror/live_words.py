"""Words of a live phone that tells none, read from its pictures on a thread of their own, as time allows."""

from __future__ import annotations

import hashlib
import io
import threading
import time
from typing import TYPE_CHECKING

from textual.message import Message

from lab.core.errors import LabError
from lab.core.read_text import ReadText, says_nothing, was_read
from lab.core.seams import Frame, rgb_of
from lab.core.ui_tree import UiTree
from screens.mirror.mirror import Mirror

if TYPE_CHECKING:
    from collections.abc import Callable

    from lab.ocr.reader import TextReader

_PATIENCE = 20.0
"""Seconds that one picture may take."""
_REST, _SELDOM = 0.4, 2.0
"""Seconds without a change after which a picture is read; and between two readings of a screen that keeps moving."""
_LOOK = 0.25
"""Seconds between two looks at whether it is time to read."""
_NOISE = 10
"""By how much (of 255, in the mean) the pixels under a line may differ, as a video's coding has them, and it stands."""


class LiveWords:
    """Gives a mirror the live frames, with the words that were read where the phone tells none.

    A frame is never held back: its words follow, once they are read, if the picture still holds them. `reader` gives
    what reads, or None; it is asked on the thread that reads, and only where a phone tells no words. `close` ends it.
    """

    class Lacking(Message):
        """Words are to be read, and no engine is installed."""

    def __init__(self, mirror: Mirror, reader: Callable[[], TextReader | None]) -> None:
        self._mirror, self._reader = mirror, reader
        self._change = threading.Condition()
        self._thread: threading.Thread | None = None
        self._closed = self._silent = False
        self._newest: Frame | None = None
        self._since, self._began = 0.0, 0.0
        """When the newest picture came (monotonic seconds), and when one was read last."""
        self._read: tuple[int, UiTree] | None = None
        """A picture's number, and what is read there."""
        self._words_shown = False

    def show(self, frame: Frame) -> None:
        """Shows a frame at once; from the thread that takes them."""
        with self._change:
            if self._newest is None or frame.number != self._newest.number:
                self._since = time.monotonic()
            self._newest = frame
            if frame.tree is not None:
                self._silent = says_nothing(frame.tree)
            if self._silent and not self._closed and self._thread is None:
                self._thread = threading.Thread(target=self._run, name="live words", daemon=True)
                self._thread.start()
            self._put(self._with_words(frame) if self._silent else frame)
            self._change.notify_all()

    def close(self) -> None:
        """Nothing is read any more; what is under way is given up."""
        with self._change:
            self._closed = True
            self._change.notify_all()

    def _with_words(self, frame: Frame) -> Frame:
        """A frame of a phone that tells no words, as it is shown: with what is read of it, or was, where it stands."""
        if self._read is not None and self._read[0] == frame.number:
            return frame._replace(tree=self._read[1])
        return frame._replace(tree=None) if self._words_shown else frame

    def _put(self, frame: Frame) -> None:
        if frame.tree is not None:
            self._words_shown = was_read(frame.tree)
        self._mirror.post_frame(frame)

    # -- reading ---------------------------------------------------------------------------------------------

    def _run(self) -> None:
        while (frame := self._next()) is not None:
            reader = self._reader()
            if reader is None:
                if not self._closed:
                    self._mirror.post_message(self.Lacking())
                return
            self._began = time.monotonic()
            try:
                text = _text_of(frame, reader)
            except LabError:
                text = None
            self._take(frame, text)

    def _next(self) -> Frame | None:
        """The newest picture once it is time to read it; None when closed."""
        with self._change:
            while not self._closed:
                if self._newest is not None and self._due(self._newest):
                    return self._newest
                self._change.wait(_LOOK if self._silent else None)
            return None

    def _due(self, frame: Frame) -> bool:
        """Whether a picture is to be read now: at rest, or, where none ever rests, now and then."""
        if not self._silent or not self._mirror.overlay or (self._read is not None and self._read[0] == frame.number):
            return False
        now = time.monotonic()
        return frame.tree is not None or now - self._since > _REST or now - self._began > _SELDOM

    def _take(self, frame: Frame, text: ReadText | None) -> None:
        """Shows what was read on the newest frame: all of it on the same picture, else what still stands there."""
        with self._change:
            newest = self._newest
            if newest is None or not self._reads:
                return
            if newest.number == frame.number:
                self._read = frame.number, text.tree if text is not None else UiTree()
                self._put(newest._replace(tree=self._read[1]))
                return
        valid_text = _still_valid(frame, newest, text) if text is not None else None
        with self._change:
            if valid_text is not None and valid_text.lines and self._newest is newest and self._reads:
                self._put(newest._replace(tree=valid_text.tree))

    @property
    def _reads(self) -> bool:
        """Whether what is read is still to be shown."""
        return self._silent and not self._closed


def _text_of(frame: Frame, reader: TextReader) -> ReadText:
    """What is read in a frame's picture, its boxes in the phone's own pixels; nothing of it is kept on the disk."""
    from PIL import Image

    out = io.BytesIO()
    Image.frombuffer("RGB", frame.size, rgb_of(frame.pixels), "raw", "RGB", 0, 1).save(out, "PNG", compress_level=1)
    png = out.getvalue()
    text = reader.read(hashlib.sha256(png).hexdigest(), png, patience=_PATIENCE, keep=False)
    return text.scaled(*_scale(frame))


def _scale(frame: Frame) -> tuple[float, float]:
    """The phone's own pixels in one of the picture's, across and down."""
    space = frame.space or frame.size
    return space[0] / frame.size[0], space[1] / frame.size[1]


def _still_valid(frame: Frame, newest: Frame, text: ReadText) -> ReadText | None:
    """Those lines whose pixels in the newest frame are what they were in the one that was read."""
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
