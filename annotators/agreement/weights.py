"""Weights of agreement between categories in their declared order: 1 is all, 0 none."""

from __future__ import annotations

import numpy as np

from annotators.agreement.ratings import Floats


def identity(q: int) -> Floats:
    """Only the same category agrees."""
    return np.eye(q)


def linear(q: int) -> Floats:
    """Weights 1 - |i - j| / (q - 1)."""
    return 1 - _apart(q)


def quadratic(q: int) -> Floats:
    """Weights 1 - ((i - j) / (q - 1))^2."""
    return 1 - _apart(q) ** 2


def _apart(q: int) -> Floats:
    at = np.arange(q, dtype=np.float64)
    return np.abs(at[:, None] - at[None, :]) / max(q - 1, 1)


def form(one: Floats, weights: Floats, other: Floats) -> Floats:
    """The bilinear form of (..., q) with (..., q), over their leading axes."""
    return np.asarray(((one @ weights) * other).sum(axis=-1))
