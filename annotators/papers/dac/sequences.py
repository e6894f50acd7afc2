"""Progress of a run along a demonstration: prefix, longest stretch, and DAC-Bench's weighted subsequence (2.6)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import takewhile


def prefix(right: Iterable[bool]) -> int:
    """Return the number of right steps before the first wrong one."""
    return sum(1 for _ in takewhile(bool, right))


def longest_stretch(right: Iterable[bool]) -> int:
    """Return the largest number of consecutive right steps."""
    longest = length = 0
    for one in right:
        length = length + 1 if one else 0
        if length > longest:
            longest = length
    return longest


def subsequence(matches: Sequence[Sequence[int]], length: int) -> tuple[int, int]:
    """Return the length of the longest common subsequence, and the sum of its positions (from 1).

    `matches[j]` are the sorted indices of the run's `length` actions that match step j of the demonstration. Of several
    longest subsequences the one with the greatest sum counts: eq. 2 leaves it open, and so a run never gets less than
    it reached. Every match weighs more than all positions together, so one pass finds both.
    """
    steps = len(matches)
    heavy = steps * (steps + 1) // 2 + 1
    best = [0] * (length + 1)
    for j, places in enumerate(matches, start=1):
        weight = heavy + j
        # Backwards, so that one step of the demonstration is matched at most once.
        for i in reversed(places):
            value = best[i] + weight
            at = i + 1
            # `best` stays ascending, so the update can end at the first value that is no smaller.
            while at <= length and best[at] < value:
                best[at] = value
                at += 1
    return divmod(best[length], heavy)


def w_lcs(total: int, steps: int) -> float:
    """Return eq. 2: the sum of the matched positions over the sum of all `steps` positions."""
    return total / (steps * (steps + 1) // 2)
