"""How far along a demonstration a run came: prefix, longest stretch, and DAC-Bench's weighted subsequence (2.6)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import takewhile


def prefix(right: Iterable[bool]) -> int:
    """How many steps are right from the first one on."""
    return sum(1 for _ in takewhile(bool, right))


def longest_stretch(right: Iterable[bool]) -> int:
    """The most steps in a row that are right."""
    longest = length = 0
    for one in right:
        length = length + 1 if one else 0
        if length > longest:
            longest = length
    return longest


def subsequence(matches: Sequence[Sequence[int]], length: int) -> tuple[int, int]:
    """The longest common subsequence: how many steps it matches, and the sum of their places (from 1).

    `matches[j]` are the places (from 0, ascending) of the run's `length` actions that match step j of the
    demonstration. Of several longest ones that with the greatest sum is taken: eq. 2 does not say which, and so a run
    is never told less than it reached. Every match weighs more than all places together, so one pass finds both.
    """
    steps = len(matches)
    heavy = steps * (steps + 1) // 2 + 1
    best = [0] * (length + 1)
    for j, places in enumerate(matches, start=1):
        weight = heavy + j
        for i in reversed(places):
            value = best[i] + weight
            at = i + 1
            while at <= length and best[at] < value:
                best[at] = value
                at += 1
    return divmod(best[length], heavy)


def w_lcs(total: int, steps: int) -> float:
    """Eq. 2: the sum of the matched places over the sum of all `steps` places."""
    return total / (steps * (steps + 1) // 2)
