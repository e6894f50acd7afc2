"""Words on the screens of a live run: from the phone's tree, or by OCR if it has none."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING

from lab.core.errors import LabError
from lab.core.run.step import Observation
from lab.core.run.ui_tree import UiTree
from lab.core.seams import Screen
from lab.core.settings import load
from lab.core.text.read_text import ReadText, has_no_text
from lab.ocr.engine import check_engine, engine_name

if TYPE_CHECKING:
    from lab.ocr.reader import TextReader

PATIENCE = 20.0
"""Maximum seconds that a run waits for the words of one picture, with the loading of the models."""


def engine_here() -> str:
    """Return the OCR engine (name and version) for runs, empty if none is installed, or if `ocr` is off."""
    return engine_name() if load().ocr else ""


class ScreenWords:
    """Read the words of one run's screens. Thread-safe. `picture` returns a picture's bytes by its sha256.

    The run's events store only what the phone reported. The OCR process starts with the first screen without text and
    ends with `close`.
    """

    def __init__(self, picture: Callable[[str], bytes | None]) -> None:
        self.missing_engine: LabError | None = None
        """Name of what to install for OCR. None if it is installed, and until a picture needs it."""
        self._picture = picture
        self._lock = threading.Lock()
        self._reader: TextReader | None = None
        self._closed = False

    @property
    def reader(self) -> TextReader | None:
        """The OCR reader. None if `ocr` is off, if no engine is installed (see `missing_engine`), and once closed."""
        with self._lock:
            if self._reader is None and not self._closed and load().ocr:
                from lab.ocr.reader import TextReader

                try:
                    check_engine()
                except LabError as error:
                    self.missing_engine = error
                else:
                    self._reader = TextReader()
            return None if self._closed else self._reader

    def read(self, screen: Screen) -> ReadText | None:
        """Return the OCR text of a screen, or None if its tree has text or OCR is unavailable.

        Wait at most `PATIENCE` seconds. Raise `LabError` if the picture is not read by then.
        """
        if not has_no_text(screen.tree):
            return None
        return self._read_picture(hashlib.sha256(screen.png).hexdigest(), lambda: screen.png)

    def tree(self, screen: Screen | Observation) -> UiTree | None:
        """Return a screen's words as a tree: the phone's own if it has text or OCR fails, else OCR's."""
        if not has_no_text(screen.tree):
            return screen.tree
        try:
            text = self.read(screen) if isinstance(screen, Screen) else self._read_observation(screen)
        except LabError:
            return screen.tree
        return screen.tree if text is None else text.tree

    def _read_observation(self, screen: Observation) -> ReadText | None:
        sha256 = screen.image
        return None if sha256 is None else self._read_picture(sha256, lambda: self._picture(sha256))

    def _read_picture(self, sha256: str, picture: Callable[[], bytes | None]) -> ReadText | None:
        reader = self.reader
        if reader is None:
            return None
        text = reader.stored_text(sha256)
        # The picture's bytes are only loaded if its text is not cached.
        data = picture() if text is None else None
        return text if data is None else reader.read(sha256, data, patience=PATIENCE)

    def close(self) -> None:
        """Stop the OCR process and abandon a picture under way."""
        with self._lock:
            self._closed = True
            reader = self._reader
        if reader is not None:
            reader.close()
