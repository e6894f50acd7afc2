"""What the screens of a run under way say: the phone's own words, or those read from the picture where it told none."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING

from lab.core.errors import LabError
from lab.core.read_text import ReadText, says_nothing
from lab.core.seams import Screen
from lab.core.settings import load
from lab.core.step import Observation
from lab.core.ui_tree import UiTree
from lab.ocr.engine import check_engine, engine_name

if TYPE_CHECKING:
    from lab.ocr.reader import TextReader

PATIENCE = 20.0
"""Seconds for which a run waits for the words of one picture at most, the loading of the models included."""


def engine_here() -> str:
    """The engine (name and version) that reads words for runs; empty where none is installed, or `ocr` is off."""
    return engine_name() if load().ocr else ""


class ScreenWords:
    """Reads the words of one run's screens; safe on any thread. `picture` gives a picture's bytes by its sha256.

    Nothing of it is in the run: its events keep what the phone told. The process that reads begins with the first
    screen without words and ends with `close`.
    """

    def __init__(self, picture: Callable[[str], bytes | None]) -> None:
        self.lack: LabError | None = None
        """What is to be installed so that words are read; None where it is there, and until a picture asked for it."""
        self._picture = picture
        self._lock = threading.Lock()
        self._reader: TextReader | None = None
        self._closed = False

    @property
    def reader(self) -> TextReader | None:
        """What reads; None where words are not to be read, where no engine is installed (`lack`), and once closed."""
        with self._lock:
            if self._reader is None and not self._closed and load().ocr:
                from lab.ocr.reader import TextReader

                try:
                    check_engine()
                except LabError as error:
                    self.lack = error
                else:
                    self._reader = TextReader()
            return None if self._closed else self._reader

    def of(self, screen: Screen) -> ReadText | None:
        """What is read in a screen's picture; None where the phone told words, and where nothing reads.

        Waits for `PATIENCE` seconds at most; raises `LabError` where the picture cannot be read by then.
        """
        if not says_nothing(screen.tree):
            return None
        return self._read(hashlib.sha256(screen.png).hexdigest(), lambda: screen.png)

    def tree(self, screen: Screen | Observation) -> UiTree | None:
        """A screen's words as a tree: the phone's own, else what is read, else (it cannot be read) the phone's own."""
        if not says_nothing(screen.tree):
            return screen.tree
        try:
            text = self.of(screen) if isinstance(screen, Screen) else self._observed(screen)
        except LabError:
            return screen.tree
        return screen.tree if text is None else text.tree

    def _observed(self, screen: Observation) -> ReadText | None:
        sha256 = screen.image
        return None if sha256 is None else self._read(sha256, lambda: self._picture(sha256))

    def _read(self, sha256: str, picture: Callable[[], bytes | None]) -> ReadText | None:
        reader = self.reader
        if reader is None:
            return None
        text = reader.stored_text(sha256)
        data = picture() if text is None else None
        return text if data is None else reader.read(sha256, data, patience=PATIENCE)

    def close(self) -> None:
        """Ends what reads; a picture that is being read is given up."""
        with self._lock:
            self._closed = True
            reader = self._reader
        if reader is not None:
            reader.close()
