"""Agreement of answers that are numbers: ICC, correlation, error; each as sums that add over traces."""

from __future__ import annotations

from typing import Literal

from annotators.agreement.additive import Additive
from annotators.agreement.ratings import Floats, Numbers

Icc = Literal["1", "A,1", "C,1", "1,k", "A,k", "C,k"]


def icc(numbers: Numbers, form: Icc) -> Additive:
    """McGraw and Wong's intraclass correlation over places that all raters rated (form 1: as many as there are)."""
    raise NotImplementedError


def alpha_numbers(numbers: Numbers, level: Literal["interval", "ratio"] = "interval") -> Additive:
    """Krippendorff's alpha of numbers that are no declared categories."""
    raise NotImplementedError


def pearson(numbers: Numbers) -> Additive:
    """Of two columns, over places where both stand; as are all below."""
    raise NotImplementedError


def spearman(numbers: Numbers) -> Additive:
    """By mid-ranks."""
    raise NotImplementedError


def mse(numbers: Numbers) -> Additive:
    raise NotImplementedError


def mae(numbers: Numbers) -> Additive:
    raise NotImplementedError


def within(numbers: Numbers, band: float = 0.05) -> Additive:
    """The share within +- `band` (inclusive, 1e-9 slack)."""
    raise NotImplementedError


def mean(values: Floats, trace: Floats, traces: int, name: str = "mean", most: float | None = None) -> Additive:
    """The mean of one column, nan left out; a share where it holds zeros and ones."""
    raise NotImplementedError
