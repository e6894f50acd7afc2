"""Fallbacks: parts of a source that a reader could not use, counted by kind with the first place of each."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Literal

import msgspec

from lab.core.codec import escape_surrogates

FallbackKind = Literal[
    "picture", "tree", "action", "place", "goal", "thought", "time", "value", "encoding", "damaged text", "side file",
    "line", "mended picture", "mended tree", "table", "folder", "packed", "file",
]  # fmt: skip

_SENTENCES: dict[str, tuple[str, str]] = {
    "picture": ("picture is missing or cut short", "pictures are missing or cut short"),
    "tree": ("UI tree could not be read", "UI trees could not be read"),
    "action": ("action is of no known kind and stands as `other`", "actions are of no known kind and stand as `other`"),
    "place": ("touch has no place on its screen", "touches have no place on their screens"),
    "goal": ("run tells no goal", "runs tell no goal"),
    "thought": ("run tells no thought, as its format could", "runs tell no thought, as their format could"),
    "time": ("time could not be read", "times could not be read"),
    "value": ("value could not be kept as it stood", "values could not be kept as they stood"),
    "encoding": ("file is not UTF-8 and was read otherwise", "files are not UTF-8 and were read otherwise"),
    "damaged text": ("damaged character stands as \ufffd", "damaged characters stand as \ufffd"),
    "side file": ("file beside a run could not be read", "files beside runs could not be read"),
    "line": ("line could not be read", "lines could not be read"),
    "mended picture": ("picture was mended or turned into PNG", "pictures were mended or turned into PNG"),
    "mended tree": ("UI tree was mended", "UI trees were mended"),
    "table": ("table was read as a spreadsheet saved it", "tables were read as a spreadsheet saved them"),
    "folder": ("folder holds no run", "folders hold no run"),
    "packed": ("packed file was left closed", "packed files were left closed"),
    "file": ("file looks like a run of no known format", "files look like runs of no known format"),
}
"""Singular and plural words for each kind, in the order of printing."""

_LONGEST = 200
"""Maximum length of a printed reason."""


class Fallback(msgspec.Struct, frozen=True):
    """One kind of fallback: how often, and the first place with its reason, if known."""

    kind: str
    count: int
    first: str

    @property
    def sentence(self) -> str:
        """Count, kind and first place as a sentence."""
        one, several = _SENTENCES[self.kind]
        return f"{self.count:,} {one if self.count == 1 else several}, the first: {self.first}."


class Fallbacks:
    """Counts fallbacks by kind. Readers must count here whenever they use a default."""

    def __init__(self) -> None:
        self._counts: dict[str, int] = {}
        self._firsts: dict[str, str] = {}

    def add(self, kind: FallbackKind, place: object, why: str = "", count: int = 1) -> None:
        """Count a fallback at a place (a file with a line or field), with a short reason."""
        words = " ".join(why.split())[:_LONGEST].rstrip(". ")
        first = f"{place} ({words})" if words else str(place)
        self.extend([Fallback(kind, count, escape_surrogates(first))])

    def extend(self, others: Iterable[Fallback]) -> None:
        for other in others:
            self._counts[other.kind] = self._counts.get(other.kind, 0) + other.count
            self._firsts.setdefault(other.kind, other.first)

    def drain(self) -> list[Fallback]:
        """Return all fallbacks counted so far and reset the counts."""
        counted = list(self)
        self._counts.clear()
        self._firsts.clear()
        return counted

    def __iter__(self) -> Iterator[Fallback]:
        """Yield one fallback for each kind, in the order of printing."""
        return (Fallback(kind, self._counts[kind], self._firsts[kind]) for kind in _SENTENCES if kind in self._counts)
