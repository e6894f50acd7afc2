"""Ratings and numbers for tests of agreement: drawn by a seed, or written down."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from annotators.agreement.coefficients.additive import AdditiveStatistic, value_of
from annotators.agreement.ratings.ratings import Floats, NumericRatings, RatedItem, Ratings

CASES = Path(__file__).parents[3].parent / "shared" / "agreement-cases.json"


def ratings(
    rows: Sequence[Sequence[int | None]],
    categories: Sequence[str] = ("no", "yes"),
    trace: Sequence[int] | None = None,
    scores: Sequence[float] | None = None,
) -> Ratings:
    """Codes by place and rater, None where missing; each place its own trace where none are named."""
    codes = np.asarray([[-1 if one is None else one for one in row] for row in rows], np.int16)
    if not rows:
        codes = np.zeros((0, 2), np.int16)
    of, traces = _traces(len(rows), trace)
    who = tuple(f"R{at + 1}" for at in range(codes.shape[1]))
    places = tuple(RatedItem(f"u{at}", "") for at in range(len(rows)))
    declared = None if scores is None else tuple(scores)
    return Ratings("met", tuple(categories), codes, who, of, traces, places, declared)


def numbers(rows: Sequence[Sequence[float | None]], trace: Sequence[int] | None = None) -> NumericRatings:
    """Numbers by place and rater, None where missing."""
    values = np.asarray([[np.nan if one is None else one for one in row] for row in rows], np.float64)
    of, traces = _traces(len(rows), trace)
    who = tuple(f"R{at + 1}" for at in range(values.shape[1]))
    return NumericRatings("score", values, who, of, traces, tuple(RatedItem(f"u{at}", "") for at in range(len(rows))))


def _traces(
    places: int, trace: Sequence[int] | None
) -> tuple[np.ndarray[tuple[int], np.dtype[np.int32]], tuple[str, ...]]:
    of = np.arange(places, dtype=np.int32) if trace is None else np.asarray(trace, np.int32)
    return of, tuple(f"t{at}" for at in range(int(of.max(initial=-1)) + 1))


def drawn(
    seed: int, places: int = 60, raters: int = 3, q: int = 3, traces: int = 12, missing: float = 0.0, agree: float = 0.6
) -> Ratings:
    """Raters who often say the same, nested in traces."""
    dice = np.random.default_rng(seed)
    truth = dice.integers(0, q, places)
    same = dice.random((places, raters)) < agree
    codes = np.where(same, truth[:, None], dice.integers(0, q, (places, raters)))
    codes[dice.random((places, raters)) < missing] = -1
    rows = [[None if one < 0 else int(one) for one in row] for row in codes]
    trace = [
        int(one) for one in np.sort(np.concatenate((np.arange(traces), dice.integers(0, traces, places - traces))))
    ]
    return ratings(rows, [f"c{at}" for at in range(q)], trace, [float(at + 1) for at in range(q)])


def drawn_numbers(
    seed: int, places: int = 60, raters: int = 3, traces: int = 12, missing: float = 0.0
) -> NumericRatings:
    dice = np.random.default_rng(seed)
    values = np.round(dice.normal(5, 2, (places, 1)) + dice.normal(0, 1, (places, raters)), 1)
    values[dice.random((places, raters)) < missing] = np.nan
    trace = np.sort(np.concatenate((np.arange(traces), dice.integers(0, traces, places - traces))))
    rows = [[None if np.isnan(one) else float(one) for one in row] for row in values]
    return numbers(rows, [int(one) for one in trace])


def value(one: AdditiveStatistic) -> float:
    """Its value, which is there."""
    found = value_of(one)
    assert found is not None, one.explain(one.sums.sum(axis=0))
    return found


def why(one: AdditiveStatistic) -> str:
    """Why it has no value."""
    assert value_of(one) is None
    return one.explain(one.sums.sum(axis=0))


def kept(some: Ratings, places: Floats) -> Ratings:
    """Places by their index, again and again where an index comes again; each of the traces stays."""
    at = places.astype(int)
    return some._replace(codes=some.codes[at], trace=some.trace[at], places=tuple(some.places[i] for i in at))
