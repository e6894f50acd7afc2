"""Words read from a run's pictures, for its search: stored ones, and reading the rest."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from textual.message import Message
from textual.widget import Widget

from lab.core.values.rounding import count
from lab.runs.replay.picture_text import WordlessPicture, read_pictures
from screens.key_names import with_keys
from screens.lab import lab_of
from screens.replay.timeline import Timeline

if TYPE_CHECKING:
    from lab.ocr.reader import TextReader
    from store.store import Store


class RunWords:
    """Gives a timeline the read words of the open run. Posts `Changed` to `owner`, which passes it back to `apply`.

    Stored words are looked up, and the rest is read on request, each on a thread.
    """

    @dataclass
    class Changed(Message):
        """Message: more words of a run's pictures, as a search text by sha256. `failed` could not be read."""

        run: str
        texts: dict[str, str]
        failed: frozenset[str] = frozenset()
        over: bool = False
        """True at the end of the reading."""

    def __init__(self, owner: Widget, timeline: Timeline, store: Store) -> None:
        self._owner, self._timeline, self._store = owner, timeline, store
        self._run = ""
        self._failed: set[str] = set()
        self._stop: threading.Event | None = None
        """Event that stops the current reading, or None if none."""

    def open(self, run: str) -> None:
        """Switch to another run and stop reading the previous one."""
        self.close()
        self._run = run
        self._failed.clear()
        self._timeline.read = {}

    def close(self) -> None:
        """Stop the current reading, if any."""
        if self._stop is not None:
            self._stop.set()
            self._stop = None

    @property
    def unread_pictures(self) -> list[str]:
        """Pictures (by sha256) with unknown words that may be read, each once, in the run's order."""
        read_or_failed = self._timeline.read.keys() | self._failed
        return list(
            dict.fromkeys(row.image for row in self._timeline.rows if row.image and row.image not in read_or_failed)
        )

    @property
    def is_reading(self) -> bool:
        return self._stop is not None

    @property
    def state(self) -> str:
        """Number of unread screens and the key that reads them, empty if there are none or reading is off."""
        many = len(self.unread_pictures)
        if not lab_of(self._owner).reads_words:
            return ""
        if self.is_reading:
            return with_keys(self._owner, f"reading words: {count(many, 'screen')} to go, {{replay.read_words}} stops")
        failures = f"{count(len(self._failed), 'screen')} could not be read" if self._failed else ""
        if not many:
            return failures
        is_are, them = ("is", "it") if many == 1 else ("are", "them")
        words = f"{count(many, 'screen')} {is_are} not read: {{replay.read_words}} or `hitlab runs ocr` reads {them}"
        return with_keys(self._owner, "; ".join(part for part in (words, failures) if part))

    def look_up(self) -> None:
        """Look up the stored words of the listed pictures."""
        pictures = self.unread_pictures
        reader = lab_of(self._owner).text_reader if pictures else None
        if reader is not None:
            self._owner.run_worker(partial(self._look_up, self._run, pictures, reader), thread=True, group="run-words")

    def read(self) -> bool:
        """Read all unread pictures, or stop. Return False if there are none."""
        if self.is_reading:
            self.close()
            return True
        pictures = self.unread_pictures
        reader = lab_of(self._owner).text_reader if pictures else None
        if reader is None:
            return False
        self._stop = threading.Event()
        work = partial(self._read_pictures, self._run, pictures, reader, self._stop)
        self._owner.run_worker(work, thread=True, group="run-words")
        return True

    def apply(self, message: Changed) -> None:
        """Add the words of a `Changed` message. Call on the UI thread."""
        if message.run != self._run:
            return
        self._failed |= message.failed
        self._timeline.read = {**self._timeline.read, **message.texts}
        self._timeline.refresh()
        if message.over:
            self._stop = None

    def _look_up(self, run: str, pictures: Sequence[str], reader: TextReader) -> None:
        texts = {sha256: text.searched for sha256 in pictures if (text := reader.stored_text(sha256)) is not None}
        self._owner.post_message(self.Changed(run, texts))

    def _read_pictures(self, run: str, pictures: Sequence[str], reader: TextReader, stop: threading.Event) -> None:
        for sha256 in pictures:
            if stop.is_set():
                break
            # One at a time, so that each result shows at once and a stop takes effect soon.
            read_pictures(self._store, [WordlessPicture(run, 0, sha256)], reader, lambda: None)
            text = reader.stored_text(sha256)
            texts = {sha256: text.searched} if text is not None else {}
            failed = frozenset[str]() if stop.is_set() or texts else frozenset((sha256,))
            self._owner.post_message(self.Changed(run, texts, failed))
        if not stop.is_set():
            self._owner.post_message(self.Changed(run, {}, over=True))
