"""Words read from a run's pictures, for its search: stored ones, and reading the rest."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from functools import partial
from typing import TYPE_CHECKING

from textual.widget import Widget

from lab.core.values.rounding import count
from lab.runs.replay.picture_text import WordlessPicture, read_pictures
from screens.background import Background
from screens.key_names import with_keys
from screens.lab import lab_of
from screens.replay.timeline import Timeline

if TYPE_CHECKING:
    from lab.ocr.reader import TextReader
    from store.store import Store


class RunWords:
    """Gives a timeline the read words of the open run. Calls `on_change` after each change.

    Stored words are looked up, and the rest is read on request, each on a thread.
    """

    def __init__(self, owner: Widget, timeline: Timeline, store: Store, on_change: Callable[[], None]) -> None:
        self._owner, self._timeline, self._store, self._on_change = owner, timeline, store, on_change
        self._run = ""
        self._failed: set[str] = set()
        self._lookup = Background(owner, self._take_words)
        self._reading = Background(owner, self._take_read)

    def open(self, run: str) -> None:
        """Switch to another run and stop reading the previous one."""
        self.close()
        self._run = run
        self._failed.clear()
        self._timeline.read = {}

    def close(self) -> None:
        """Stop looking words up and reading them, if that is under way."""
        self._lookup.cancel()
        self._reading.cancel()

    @property
    def unread_pictures(self) -> list[str]:
        """Pictures (by sha256) with unknown words that may be read, each once, in the run's order."""
        read_or_failed = self._timeline.read.keys() | self._failed
        return list(
            dict.fromkeys(row.image for row in self._timeline.rows if row.image and row.image not in read_or_failed)
        )

    @property
    def is_reading(self) -> bool:
        return self._reading.busy

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
            stored = reader.stored_text
            self._lookup.start(lambda: {sha: text.searched for sha in pictures if (text := stored(sha)) is not None})

    def read(self) -> bool:
        """Read all unread pictures, or stop. Return False if there are none."""
        if self.is_reading:
            self.close()
            return True
        pictures = self.unread_pictures
        reader = lab_of(self._owner).text_reader if pictures else None
        if reader is None:
            return False
        self._reading.start(partial(self._read_pictures, self._run, pictures, reader))
        return True

    def _take_words(self, texts: dict[str, str]) -> None:
        """Add the words of pictures, as a search text by sha256."""
        self._timeline.read = {**self._timeline.read, **texts}
        self._timeline.refresh()
        self._on_change()

    def _take_read(self, read: tuple[str, str | None] | None) -> None:
        """Take the words of one picture, or of none after the last of them."""
        if read is None:
            self._reading.cancel()
            self._on_change()
            return
        sha256, text = read
        if text is None:
            self._failed.add(sha256)
        self._take_words({} if text is None else {sha256: text})

    def _read_pictures(
        self, run: str, pictures: Sequence[str], reader: TextReader
    ) -> Generator[tuple[str, str | None] | None, None, None]:
        for sha256 in pictures:
            # One at a time, so that each result shows at once and a stop takes effect soon.
            read_pictures(self._store, [WordlessPicture(run, 0, sha256)], reader, lambda: None)
            text = reader.stored_text(sha256)
            yield sha256, text.searched if text is not None else None
        yield None
