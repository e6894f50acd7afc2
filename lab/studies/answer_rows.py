"""Index from a question's hash to the file's row with its answer: 16 bytes an entry, the texts stay on the disk."""

from __future__ import annotations

import numpy as np

_RECENT = 16_384
"""Recent entries after which the index sorts them into its arrays."""


class AnswerRows:
    """Row numbers by the first 64 bits of the questions' hashes (hexadecimal).

    Two hashes may share these bits: the caller compares the row with the question. The later row wins.
    """

    def __init__(self) -> None:
        self._hashes = np.empty(0, np.uint64)
        self._rows = np.empty(0, np.int64)
        self._recent: dict[int, int] = {}

    def __len__(self) -> int:
        return len(self._hashes) + len(self._recent)

    def add(self, sha: str, row: int) -> None:
        """Store the row of a question's answer."""
        self._recent[_first(sha)] = row
        if len(self._recent) >= _RECENT:
            self._sort_in()

    def find(self, sha: str) -> int | None:
        """Return the row of a question's answer, None if unknown."""
        first = _first(sha)
        if first in self._recent:
            return self._recent[first]
        # The sort is stable, so the right end of equal hashes is the row that was added last.
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
