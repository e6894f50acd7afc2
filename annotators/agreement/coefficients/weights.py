"""Weights of agreement between categories in their declared order: 1 is full agreement, 0 none."""

from __future__ import annotations

import numpy as np

from annotators.agreement.ratings.ratings import Floats


def identity(q: int) -> Floats:
    """Return weights by which only the same category agrees."""
    return np.eye(q)


def linear(q: int) -> Floats:
    """Return weights 1 - |i - j| / (q - 1)."""
    return 1 - _distances(q)


def quadratic(q: int) -> Floats:
    """Return weights 1 - ((i - j) / (q - 1))^2."""
    return 1 - _distances(q) ** 2


def _distances(q: int) -> Floats:
    at = np.arange(q, dtype=np.float64)
    # One category has no distance to divide by.
    return np.abs(at[:, None] - at[None, :]) / max(q - 1, 1)


def bilinear_form(one: Floats, weights: Floats, other: Floats) -> Floats:
    """Return the bilinear form of (..., q) with (..., q), over their leading axes."""
    return np.asarray(((one @ weights) * other).sum(axis=-1))
