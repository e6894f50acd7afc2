"""How alike two texts, or two vectors, are: Levenshtein similarity and cosine, both from 0 to 1."""

from __future__ import annotations

import math
from collections.abc import Sequence

LONGEST = 20_000
"""Characters of the longest text that is compared; its square is what a comparison may cost."""


def similarity(one: str, other: str) -> float:
    """1 - Levenshtein's distance in characters / the longer length; two empty texts are the same."""
    from rapidfuzz.distance import Levenshtein

    return Levenshtein.normalized_similarity(one, other)


def mean_similarity(text: str, others: Sequence[str]) -> float:
    """The mean similarity of one text to each of others; there is at least one."""
    return math.fsum(similarity(text, other) for other in others) / len(others)


def most_similar(text: str, texts: Sequence[str]) -> list[int]:
    """The places of the texts that are most similar to another one: all that are equally so; none of no texts."""
    if not texts:
        return []
    import numpy as np
    from rapidfuzz.distance import Levenshtein
    from rapidfuzz.process import cdist

    similarities = cdist([text], texts, scorer=Levenshtein.normalized_similarity, dtype=np.float64)[0]
    return [int(place) for place in np.flatnonzero(similarities == similarities.max())]


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
