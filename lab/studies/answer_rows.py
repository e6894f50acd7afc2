"""In which row of the file the answer to a question is: 16 bytes for each, where its words would be a thousand."""

from __future__ import annotations

import numpy as np

_RECENT = 16_384
"""Answers after which those that came last are sorted in."""


class AnswerRows:
    """Row numbers by the questions' hashes (hexadecimal), of which the first 64 bits are held.

    Whoever reads the row sees whether it answers the very question: two may begin alike, and the later one is found.
    """

    def __init__(self) -> None:
        self._hashes = np.empty(0, np.uint64)
        self._rows = np.empty(0, np.int64)
        self._recent: dict[int, int] = {}

    def __len__(self) -> int:
        return len(self._hashes) + len(self._recent)

    def add(self, sha: str, row: int) -> None:
        """Keeps in which row a question's answer is."""
        self._recent[_first(sha)] = row
        if len(self._recent) >= _RECENT:
            self._sort_in()

    def find(self, sha: str) -> int | None:
        """The row that holds the answer, None where there is none."""
        first = _first(sha)
        if first in self._recent:
            return self._recent[first]
        at = int(np.searchsorted(self._hashes, np.uint64(first), side="right")) - 1
        return int(self._rows[at]) if at >= 0 and int(self._hashes[at]) == first else None

    def _sort_in(self) -> None:
        hashes = np.concatenate([self._hashes, np.fromiter(self._recent, np.uint64, len(self._recent))])
        rows = np.concatenate([self._rows, np.fromiter(self._recent.values(), np.int64, len(self._recent))])
        order = np.argsort(hashes, kind="stable")
        self._hashes, self._rows = hashes[order], rows[order]
        self._recent = {}


def _first(sha: str) -> int:
    return int(sha[:16], 16)
