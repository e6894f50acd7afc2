"""How alike two texts, or two vectors, are: Levenshtein similarity and cosine, both from 0 to 1."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence

LONGEST = 20_000
"""Characters of the longest text that is compared; its square is what a comparison may cost."""
_HAIR = 1e-9
"""What a bound may be too low by, since 1 - 1/3 and 2/3 are not quite the same to a machine."""


def trimmed(one: str, other: str) -> tuple[str, str]:
    """The shorter and the longer text without what both begin and end with: their distance is the same."""
    short, long = (one, other) if len(one) <= len(other) else (other, one)
    start, end = 0, 0
    while start < len(short) and short[start] == long[start]:
        start += 1
    while end < len(short) - start and short[-1 - end] == long[-1 - end]:
        end += 1
    return short[start : len(short) - end], long[start : len(long) - end]


def distance(one: str, other: str) -> int:
    """Levenshtein's distance: the fewest insertions, deletions and replacements of characters.

    Hyyrö's form of Myers' algorithm (2003): a column of the matrix is two long integers, so that a character of the
    shorter text costs a dozen operations on as many bits as the longer one has characters.
    """
    short, long = trimmed(one, other)
    if not short:
        return len(long)
    where: dict[str, int] = {}
    for place, sign in enumerate(long):
        where[sign] = where.get(sign, 0) | 1 << place
    full = (1 << len(long)) - 1
    up, down = full, 0
    match = where.get
    for sign in short:
        same = match(sign, 0) | down
        same |= ((same & up) + up) ^ up
        across = (down | ~(up | same)) << 1 | 1
        risen = up & same
        down = across & same
        up = (risen << 1 | ~(across | same)) & full
    return len(short) + up.bit_count() - (down & full).bit_count()


def similarity(one: str, other: str) -> float:
    """1 - distance / the longer length; two empty texts are the same."""
    longest = max(len(one), len(other))
    return 1 - distance(one, other) / longest if longest else 1.0


def cosine(one: Sequence[float], other: Sequence[float]) -> float:
    """The cosine of two vectors, what is below 0 taken for 0: the paper wants 0 to 1 and does not say how.

    With (1 + cosine) / 2 its reported means could not be: Sim1 is 0.25 where hardly a guess is right. 0 where a vector
    has no length.
    """
    one, other = _scaled(one), _scaled(other)
    lengths = math.hypot(*one) * math.hypot(*other)
    product = math.fsum(a * b for a, b in zip(one, other, strict=True))
    return min(1.0, max(0.0, product / lengths)) if lengths else 0.0


def _scaled(vector: Sequence[float]) -> list[float]:
    """Of the same direction, with 1 as its largest number: products of the largest ones are beyond any machine."""
    largest = max(map(abs, vector), default=0.0)
    return [value / largest for value in vector] if largest else list(vector)


class Likest:
    """Finds the text that is likest to another one, without comparing them all.

    A text can be no more alike than the characters that both have in common allow; so the most promising come first,
    and the rest is left when none of it can be better.
    """

    def __init__(self, texts: Sequence[str]) -> None:
        import numpy as np

        self._np = np
        self._texts = texts
        self._lengths = np.array([len(text) for text in texts], dtype=np.int64)
        holders: dict[str, tuple[list[int], list[int]]] = {}
        for place, text in enumerate(texts):
            for sign, count in Counter(text).items():
                places, counts = holders.setdefault(sign, ([], []))
                places.append(place)
                counts.append(count)
        self._holders = {sign: (np.array(places), np.array(counts)) for sign, (places, counts) in holders.items()}

    def find(self, text: str, allowed: Sequence[int]) -> int | None:
        """The place of the likest text of those allowed, the first of several; None where none is allowed."""
        if not allowed:
            return None
        np = self._np
        common = np.zeros(len(self._texts))
        for sign, count in Counter(text).items():
            if sign in self._holders:
                places, counts = self._holders[sign]
                common[places] += np.minimum(counts, count)
        among = np.array(sorted(allowed))
        bounds = common[among] / np.maximum(np.maximum(self._lengths[among], len(text)), 1)
        best, found = -1.0, -1
        for at in np.argsort(-bounds, kind="stable"):
            if bounds[at] + _HAIR < best:
                break
            place = int(among[at])
            value = similarity(text, self._texts[place])
            if value > best or (value == best and place < found):
                best, found = value, place
        return found
