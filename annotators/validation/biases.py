"""Biases of a judge: by the side of an answer, by its length, and by the model that gave it."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from annotators.agreement.coefficients.additive import AdditiveStatistic, Estimate, ratio, totals_by_trace
from annotators.agreement.intervals.distributions import binomial_two_sided, wilson
from annotators.agreement.intervals.intervals import estimate
from annotators.agreement.ratings.ratings import Floats, Ints
from annotators.validation.prediction_powered import difference_of_estimates
from lab.core.study.agreement import IntervalTerms

FIRST, SECOND, TIE, NONE = 0, 1, 2, -1
"""A judge's preference in a pair, by the side of the answer."""

NO_PAIRS = "no pair was judged by both"
NO_SWAPPED = "no pair was judged with its sides swapped"
NO_FLIPS = "no pair at which the same side was preferred both times"
_PLAIN = IntervalTerms()


class PositionBias(NamedTuple):
    """Position bias of a judge of pairs, each judged in its original order and with its sides swapped.

    `flips` is the share of pairs for which it then prefers another answer (a tie that becomes a preference is a flip
    too). `first` is the share of all preferences for the first side. `first_of_flips` is the share of the first side
    among pairs in which it prefers the same side both times. `p` is the exact binomial one of that being half.
    """

    flips: Estimate
    first: Estimate
    first_of_flips: Estimate
    pairs: int
    p: float | None


def position_bias(
    sides: npt.ArrayLike,
    swapped: npt.ArrayLike,
    trace: npt.ArrayLike | None = None,
    how: IntervalTerms = _PLAIN,
) -> PositionBias:
    """Return position bias from `sides` and `swapped` (pairs): FIRST, SECOND, TIE or NONE, before and after the swap.

    Pairs judged in one order only are left out. `trace` (pairs) are clusters, by default each pair its own. Source:
    Wang et al., Large Language Models are not Fair Evaluators (2023); Zheng et al. (2023).
    """
    one, other = _sides(sides), _sides(swapped)
    if one.shape != other.shape:
        raise ValueError(f"{one.shape} and {other.shape} are not the same pairs")
    has_both = (one != NONE) & (other != NONE)
    one, other, at = one[has_both], other[has_both], _clusters(trace, len(has_both))[has_both]
    if not len(one):
        none = Estimate(None, NO_SWAPPED)
        return PositionBias(none, none, none, 0, None)
    # A judge without bias names the other side after the swap, or a tie both times.
    steady = np.where(one == TIE, other == TIE, (other != TIE) & (one != other))
    flips = _share("flips", ~steady, np.ones(len(one)), at)
    to_first = (one == FIRST).astype(np.float64) + (other == FIRST)
    choices = (one != TIE).astype(np.float64) + (other != TIE)
    same = (one == other) & (one != TIE)
    count, of = int((one[same] == FIRST).sum()), int(same.sum())
    return PositionBias(
        estimate(flips, how), estimate(_share("first", to_first, choices, at), how), _count_share(count, of, how.level),
        len(one), binomial_two_sided(count, of) if of else None,
    )  # fmt: skip


def _sides(values: npt.ArrayLike) -> Ints:
    sides = np.asarray(values, np.int32)
    if not np.isin(sides, (FIRST, SECOND, TIE, NONE)).all():
        raise ValueError("a side is none of first (0), second (1), tie (2) or nothing (-1)")
    return sides


def _clusters(trace: npt.ArrayLike | None, count: int) -> Ints:
    at = np.arange(count, dtype=np.int32) if trace is None else np.asarray(trace, np.int32)
    if at.shape != (count,) or (at < 0).any():
        raise ValueError(f"clusters {at.shape} are not of {count} items")
    return at


def _share(name: str, above: npt.ArrayLike, below: Floats, at: Ints, why: str = "no answers") -> AdditiveStatistic:
    """Return a ratio of counts over clusters."""
    columns = np.column_stack((np.asarray(above, np.float64), below))
    sums = totals_by_trace(columns, at, int(at.max(initial=-1)) + 1)
    weights = np.array([1.0, 0.0]), np.array([0.0, 1.0])
    return AdditiveStatistic(
        name, sums, lambda sums: ratio(sums[..., 0], sums[..., 1]), lambda sums: why, least=0.0,
        places=int((below > 0).sum()), share=weights,
    )  # fmt: skip


def _count_share(count: int, of: int, level: float, why: str = NO_FLIPS) -> Estimate:
    if not of:
        return Estimate(None, why)
    low, high = wilson(count, of, level)
    return Estimate(count / of, "", low, high, interval="wilson")


class VerbosityBias(NamedTuple):
    """Verbosity bias of a judge of pairs, given people's preferences.

    `wrong_where_short` and `wrong_where_long` are its error rates if people prefer the shorter and the longer answer.
    `parity` is their difference: above 0 the judge favours length (Saito et al., Verbosity Bias in Preference Labeling
    by Large Language Models, 2023). `longer` is its share of preferences for the longer answer minus people's.
    `partial` is the correlation of its preference with the log of the ratio of lengths, controlled for people's
    preference.
    """

    wrong_where_short: Estimate
    wrong_where_long: Estimate
    parity: Estimate
    longer: Estimate
    partial: Estimate
    pairs: int


def verbosity_bias(
    judge: npt.ArrayLike,
    people: npt.ArrayLike,
    lengths: npt.ArrayLike,
    trace: npt.ArrayLike | None = None,
    how: IntervalTerms = _PLAIN,
) -> VerbosityBias:
    """Return verbosity bias from `judge` and `people` (pairs: FIRST, SECOND, TIE or NONE) and `lengths` (pairs x 2).

    Lengths are above 0 and in one unit. Pairs without an answer of either are left out. Pairs of equal length and ties
    count in `partial` alone. Raise `ValueError` if shapes differ or a length is not above 0.
    """
    judge_sides, right, length_pairs = _sides(judge), _sides(people), np.asarray(lengths, np.float64)
    if judge_sides.shape != right.shape or length_pairs.shape != (*judge_sides.shape, 2):
        raise ValueError(
            f"judge {judge_sides.shape}, people {right.shape} and lengths {length_pairs.shape} are not the same pairs"
        )
    if not (length_pairs > 0).all():
        raise ValueError(f"pair {int((~(length_pairs > 0).all(axis=1)).argmax())} has a length that is not above 0")
    has_both = (judge_sides != NONE) & (right != NONE)
    judge_sides, right, at = judge_sides[has_both], right[has_both], _clusters(trace, len(has_both))[has_both]
    log_ratio = np.log(length_pairs[has_both, 0] / length_pairs[has_both, 1])
    if not len(judge_sides):
        none = Estimate(None, NO_PAIRS)
        return VerbosityBias(none, none, none, none, none, 0)
    longer = np.where(log_ratio > 0, FIRST, SECOND)
    # Without a longer side, or without a preference, there is no error in favour of length.
    is_decided = (log_ratio != 0) & (judge_sides != TIE) & (right != TIE)
    wrong = judge_sides != right
    errors = []
    for rows in (is_decided & (right != longer), is_decided & (right == longer)):
        errors.append(estimate(_share("wrong", wrong & rows, rows.astype(np.float64), at, "no such pair"), how))
    apart_by = (judge_sides == longer).astype(np.float64) - (right == longer)
    excess = _mean("longer", np.where(is_decided, apart_by, 0.0), is_decided, at)
    return VerbosityBias(
        errors[0], errors[1], difference_of_estimates(errors[0], errors[1]), estimate(excess, how),
        estimate(partial_correlation(_preference(judge_sides), log_ratio, _preference(right), at), how),
        len(judge_sides),
    )  # fmt: skip


def _preference(sides: Ints) -> Floats:
    """Return 1 for the first side, -1 for the second, 0 for a tie (pairs)."""
    return np.asarray((sides == FIRST).astype(np.float64) - (sides == SECOND))


def _mean(name: str, values: Floats, rows: npt.NDArray[np.bool_], at: Ints) -> AdditiveStatistic:
    return _share(name, values, rows.astype(np.float64), at)._replace(most=None, least=-1.0, share=None)


def partial_correlation(one: Floats, other: Floats, control: Floats, at: Ints) -> AdditiveStatistic:
    """Return the correlation of two columns, controlled for a third, over clusters `at`.

    Sums: the count, each column, and the products of each two.
    """
    columns = np.stack((one, other, control), axis=1)
    # Centred first, so that the products lose no digits.
    columns = columns - columns.mean(axis=0)
    products = [columns[:, i] * columns[:, j] for i, j in ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))]
    sums = totals_by_trace(np.column_stack((np.ones(len(one)), columns, *products)), at, int(at.max(initial=-1)) + 1)

    def evaluate(sums: Floats) -> Floats:
        n, x, y, z, xx, yy, zz, xy, xz, yz = np.moveaxis(sums, -1, 0)
        vx, vy, vz = (square - ratio(mean * mean, n) for square, mean in ((xx, x), (yy, y), (zz, z)))
        cxy, cxz, cyz = (xy - ratio(x * y, n), xz - ratio(x * z, n), yz - ratio(y * z, n))
        is_constant = vz <= 1e-12 * np.maximum(zz, 1e-300)  # people never vary: nothing to control for
        out = [np.where(is_constant, 0.0, ratio(top, vz)) for top in (cxz * cyz, cxz * cxz, cyz * cyz)]
        left, right = vx - out[1], vy - out[2]
        there = (left > 1e-9 * np.maximum(vx, 1e-300)) & (right > 1e-9 * np.maximum(vy, 1e-300))
        return np.clip(ratio(cxy - out[0], np.sqrt(np.where(there, left * right, 0.0))), -1.0, 1.0)

    return AdditiveStatistic(
        "partial", sums, evaluate, lambda sums: "preference or length is the same everywhere, or follows from people's",
        least=-1.0, places=len(one),
    )  # fmt: skip


class SelfPreference(NamedTuple):
    """Self-preference of a judge among agents, some of them of its own model family.

    `own` and `others` are its rate of yes minus the true rate (-1 to 1), for agents of its family and for others.
    `apart` is their difference: above 0 the judge favours its own family.
    """

    own: Estimate
    others: Estimate
    apart: Estimate
    own_units: int
    other_units: int


def self_preference(
    judge: npt.ArrayLike,
    truth: npt.ArrayLike,
    own: npt.ArrayLike,
    trace: npt.ArrayLike | None = None,
    how: IntervalTerms = _PLAIN,
) -> SelfPreference:
    """Return self-preference from `judge` and `truth` (units: 0, 1, nan if missing).

    `own` (units) is True if the agent is of the judge's family. Source: Panickssery, Bowman & Feng, LLM Evaluators
    Recognize and Favor Their Own Generations (2024).
    """
    judge_answers, right, is_own = (
        np.asarray(judge, np.float64),
        np.asarray(truth, np.float64),
        np.asarray(own, np.bool_),
    )
    if not judge_answers.shape == right.shape == is_own.shape:
        raise ValueError(
            f"judge {judge_answers.shape}, truth {right.shape} and own {is_own.shape} are not the same units"
        )
    has_both = np.isfinite(judge_answers) & np.isfinite(right)
    if not (np.isin(judge_answers[has_both], (0, 1)).all() and np.isin(right[has_both], (0, 1)).all()):
        raise ValueError("judge and truth are 0 or 1")
    at, is_own, excess = _clusters(trace, len(has_both))[has_both], is_own[has_both], (judge_answers - right)[has_both]
    columns = np.column_stack((np.where(is_own, excess, 0.0), is_own, np.where(is_own, 0.0, excess), ~is_own))
    sums = totals_by_trace(columns.astype(np.float64), at, int(at.max(initial=-1)) + 1)

    def statistic(name: str, weights: tuple[int, int], why: str) -> AdditiveStatistic:
        def evaluate(sums: Floats) -> Any:
            each = ratio(sums[..., 0], sums[..., 1]), ratio(sums[..., 2], sums[..., 3])
            return sum(weight * one for weight, one in zip(weights, each, strict=True) if weight)

        return AdditiveStatistic(
            name, sums, evaluate, lambda sums: why, None, -float(sum(map(abs, weights))), len(is_own)
        )

    missing = "no agent of its own family" if not is_own.any() else "no agent of another family"
    return SelfPreference(
        estimate(statistic("own", (1, 0), missing), how), estimate(statistic("others", (0, 1), missing), how),
        estimate(statistic("apart", (1, -1), missing), how), int(is_own.sum()), int((~is_own).sum()),
    )  # fmt: skip
