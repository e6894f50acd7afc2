"""Run OCR on the pictures of whole runs in advance, for screens without text in their tree."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from lab.core.errors import LabError
from lab.core.run.trace import Asked, Ended, Step
from lab.core.text.read_text import has_no_text

if TYPE_CHECKING:
    from lab.core.redaction.run_redaction import ReadTree
    from lab.core.run.step import Observation
    from lab.core.run.trace import AnyEvent
    from lab.core.run.ui_tree import UiTree
    from lab.ocr.reader import TextReader
    from store.store import Store


class WordlessPicture(NamedTuple):
    """A picture (by sha256) of a screen without text: the run, and the first step (from 1) that shows it."""

    run: str
    step: int
    sha256: str


class UnreadPicture(msgspec.Struct, frozen=True):
    """A picture that OCR could not read, and the reason."""

    run: str
    step: int
    why: str


def wordless_pictures(store: Store, runs: Sequence[str]) -> list[WordlessPicture]:
    """Return the pictures of these runs whose tree has no text, each once, in the runs' order."""
    pictures: dict[str, WordlessPicture] = {}
    for run in runs:
        for step, screen in _screens(store.runs.events(run)):
            if screen.image is not None and has_no_text(screen.tree):
                pictures.setdefault(screen.image, WordlessPicture(run, step, screen.image))
    return list(pictures.values())


def read_pictures(
    store: Store, pictures: Sequence[WordlessPicture], reader: TextReader, done: Callable[[], None]
) -> list[UnreadPicture]:
    """Read these pictures, call `done` after each, and return those that could not be read."""
    unread: list[UnreadPicture] = []
    for picture in pictures:
        if reader.stored_text(picture.sha256) is None:
            blob = store.runs.blob(picture.sha256)
            try:
                if blob is None:
                    raise LabError("picture", "is not in this file.")
                reader.read(picture.sha256, blob.data)
            except LabError as error:
                unread.append(UnreadPicture(picture.run, picture.step, error.message))
        done()
    return unread


def tree_reader(store: Store, reader: TextReader) -> ReadTree:
    """Return a function that reads a picture's lines as a tree, by its sha256, or None if it cannot be read."""

    def read_tree(sha256: str) -> UiTree | None:
        blob = store.runs.blob(sha256)
        try:
            return reader.read(sha256, blob.data).tree if blob is not None else None
        except LabError:
            return None

    return read_tree


def _screens(events: Iterator[AnyEvent]) -> Iterator[tuple[int, Observation]]:
    """Yield each screen of a run with its step, counted from 1. The last is the final screen."""
    steps = 0
    for event in events:
        match event:
            case Step() | Asked():
                steps = event.index + 1
                yield steps, event.before
            case Ended() if event.final is not None:
                yield steps, event.final
