"""Similarity of texts and vectors: Levenshtein similarity and cosine, both from 0 to 1."""

from __future__ import annotations

import math
from collections.abc import Sequence

LONGEST = 20_000
"""Maximum characters of a compared text. The cost of a comparison grows with its square."""


def similarity(one: str, other: str) -> float:
    """Return 1 - Levenshtein distance in characters / the longer length. Two empty texts are equal."""
    from rapidfuzz.distance import Levenshtein

    return Levenshtein.normalized_similarity(one, other)


def mean_similarity(text: str, others: Sequence[str]) -> float:
    """Return the mean similarity of a text to at least one other text."""
    return math.fsum(similarity(text, other) for other in others) / len(others)


def most_similar(text: str, texts: Sequence[str]) -> list[int]:
    """Return the indices of the texts that are most similar to `text`, several if they are equally so."""
    if not texts:
        return []
    import numpy as np
    from rapidfuzz.distance import Levenshtein
    from rapidfuzz.process import cdist

    similarities = cdist([text], texts, scorer=Levenshtein.normalized_similarity, dtype=np.float64)[0]
    return [int(place) for place in np.flatnonzero(similarities == similarities.max())]


def cosine(one: Sequence[float], other: Sequence[float]) -> float:
    """Return the cosine of two vectors with negative values set to 0, and 0 for a zero vector.

    The paper wants 0 to 1 and does not say how. With (1 + cosine) / 2 its reported means would be impossible: Sim1 is
    0.25 with hardly a right guess.
    """
    one, other = _scale_vector(one), _scale_vector(other)
    lengths = math.hypot(*one) * math.hypot(*other)
    product = math.fsum(a * b for a, b in zip(one, other, strict=True))
    return min(1.0, max(0.0, product / lengths)) if lengths else 0.0


def _scale_vector(vector: Sequence[float]) -> list[float]:
    """Return the vector scaled to a largest component of 1, because products of huge ones overflow."""
    largest = max(map(abs, vector), default=0.0)
    return [value / largest for value in vector] if largest else list(vector)
