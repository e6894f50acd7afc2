"""The alternative annotator test: may a judge replace people, given how it aligns with the other people?

Source: Calderon, Reichart & Dror, The Alternative Annotator Test for LLM-as-a-Judge (2025). Each person in turn is left
out. For each item, judge and person are compared by how well each aligns with the remaining people. The judge wins
against a person if its share of items with at least equal alignment is less than `epsilon` below the person's share.
Epsilon stands for the higher cost of people.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt
from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from annotators.agreement.intervals.distributions import t_share
from annotators.agreement.ratings.ratings import Floats, Ratings

Alignment = Literal["accuracy", "rmse"]
"""Alignment of a value with others' at an item: the share of equal values, or minus the root mean squared
difference."""

Epsilon = Literal["expert", "skilled", "crowd"]
EPSILON: dict[Epsilon, float] = {"expert": 0.2, "skilled": 0.15, "crowd": 0.1}
"""The paper's epsilon by the kind of people."""

LEAST_ITEMS = 30
LEAST_PEOPLE = 3
FALSE_DISCOVERIES = 0.05
PASSES = 0.5
_CLOSE = 1e-9


class AnnotatorComparison(NamedTuple):
    """The judge against one person, over the items with answers of both and of another person.

    `judge_share` and `person_share` (rho) are the shares of items at which each aligns at least as well as the other.
    `p` is that of the hypothesis that the judge is worse by epsilon or more, None without items. `won` is True if it is
    rejected, corrected over all people. `test` is the source of p: Student's t, or Wilcoxon's signed ranks for fewer
    than LEAST_ITEMS items.
    """

    person: str
    items: int
    judge_share: float | None
    person_share: float | None
    p: float | None
    won: bool
    test: Literal["t", "signed ranks", ""]


class AlternativeAnnotatorTest(NamedTuple):
    """Result of the test.

    The judge passes if `winning_rate` (omega) is at least PASSES. It is None if nobody could be compared. `advantage`
    (rho) is the mean share of items at which the judge aligns at least as well as a person. `cautions` are sentences.
    """

    winning_rate: float | None
    advantage: float | None
    passes: bool
    people: tuple[AnnotatorComparison, ...]
    epsilon: float
    alignment: Alignment
    cautions: tuple[str, ...]


def numbers_of_codes(ratings: Ratings) -> Floats:
    """Return codes as numbers (places x raters), nan if missing. Ordered categories have their declared scores."""
    scores = np.asarray(ratings.scores if ratings.scores is not None else range(len(ratings.categories)), np.float64)
    return np.where(ratings.codes >= 0, np.append(scores, np.nan)[ratings.codes], np.nan)


def alternative_annotator_test(
    judge: npt.ArrayLike,
    people: npt.ArrayLike,
    names: Sequence[str],
    alignment: Alignment = "accuracy",
    epsilon: float = EPSILON["expert"],
    false_discoveries: float = FALSE_DISCOVERIES,
) -> AlternativeAnnotatorTest:
    """Return the test of `judge` (items) against `people` (items x people), nan if missing.

    Items are treated as independent, as in the paper: of several items in a cluster, pass only one. Raise `ValueError`
    if shapes or names do not match or epsilon is not in [0, 1).
    """
    judge_values, theirs = np.asarray(judge, np.float64), np.asarray(people, np.float64)
    if theirs.ndim != 2 or judge_values.shape != theirs.shape[:1] or len(names) != theirs.shape[1]:
        raise ValueError(f"judge {judge_values.shape}, people {theirs.shape} and {len(names)} names do not go together")
    if not 0 <= epsilon < 1:
        raise ValueError(f"epsilon {epsilon} is not in [0, 1)")
    own, own_share = _alignments(judge_values, theirs, alignment)
    comparisons = [
        _compare_person(name, own[:, at], own_share[:, at], epsilon) for at, name in enumerate(names)
    ]  # fmt: skip
    with_p = [one for one in comparisons if one.p is not None]
    # Corrected over all people, because each of them is a test of its own.
    wins = iter(benjamini_yekutieli([one.p for one in with_p if one.p is not None], false_discoveries))
    comparisons = [one._replace(won=next(wins)) if one.p is not None else one for one in comparisons]
    shares = [one.judge_share for one in with_p if one.judge_share is not None]
    rate = sum(one.won for one in comparisons) / len(with_p) if with_p else None
    return AlternativeAnnotatorTest(
        rate, sum(shares) / len(shares) if shares else None, rate is not None and rate >= PASSES, tuple(comparisons),
        epsilon, alignment, _cautions(comparisons),
    )  # fmt: skip


def _alignments(judge: Floats, people: Floats, alignment: Alignment) -> tuple[Floats, Floats]:
    """Return the alignment of the judge and of each person with the remaining people (each items x people).

    It is nan if the judge, the person or all remaining people have no answer.
    """
    is_given = np.isfinite(people)
    # Sums over pairs, so that each "all others" score is a total minus one term.
    others = (is_given.sum(axis=1, keepdims=True) - is_given).astype(np.float64)
    has_others = is_given & (others > 0) & np.isfinite(judge)[:, None]
    of_judge, of_person = np.zeros(people.shape), np.zeros(people.shape)
    each = [_alignment_terms(judge, other, alignment) for other in people.T]
    all = np.sum(each, axis=0) if each else np.zeros(len(judge))
    for at in range(people.shape[1]):
        of_judge[:, at] = all - each[at]
        for other in range(people.shape[1]):
            if other != at:
                of_person[:, at] += _alignment_terms(people[:, at], people[:, other], alignment)
    below = np.where(has_others, others, 1.0)
    scores = [np.where(has_others, one / below, np.nan) for one in (of_judge, of_person)]
    if alignment == "rmse":
        scores = [-np.sqrt(np.maximum(-one, 0)) for one in scores]
    return scores[0], scores[1]


def _alignment_terms(one: Floats, other: Floats, alignment: Alignment) -> Floats:
    """Return the contribution of one other person's answer to a score (items), 0 if either is missing."""
    has_both = np.isfinite(one) & np.isfinite(other)
    differences = np.where(has_both, one, 0.0) - np.where(has_both, other, 0.0)
    return np.where(
        has_both, np.abs(differences) < _CLOSE if alignment == "accuracy" else -differences * differences, 0.0
    )


def _compare_person(person: str, judge: Floats, own: Floats, epsilon: float) -> AnnotatorComparison:
    has_both = np.isfinite(judge) & np.isfinite(own)
    n = int(has_both.sum())
    if not n:
        return AnnotatorComparison(person, 0, None, None, None, False, "")
    as_good = judge[has_both] >= own[has_both] - _CLOSE
    as_good_person = own[has_both] >= judge[has_both] - _CLOSE
    differences = as_good_person.astype(np.float64) - as_good
    few = n < LEAST_ITEMS
    p = signed_ranks(differences - epsilon) if few else paired_t(differences - epsilon)
    return AnnotatorComparison(
        person, n, float(as_good.mean()), float(as_good_person.mean()), p, False, "signed ranks" if few else "t"
    )  # fmt: skip


def _cautions(comparisons: Sequence[AnnotatorComparison]) -> tuple[str, ...]:
    cautions = []
    if len(comparisons) < LEAST_PEOPLE:
        cautions.append(f"The test is meant for {LEAST_PEOPLE} people or more; there are {len(comparisons)}.")
    few = [f"{one.person} ({one.items})" for one in comparisons if one.items < LEAST_ITEMS]
    if few:
        cautions.append(
            f"Fewer than {LEAST_ITEMS} items with {', '.join(few)}: Wilcoxon's signed ranks, and little power."
        )
    return tuple(cautions)


# -- tests ----------------------------------------------------------------------------------------------------


def paired_t(values: Floats) -> float:
    """Return the one-sided p of a mean below 0 by Student's t, 0 or 1 if all values are equal."""
    n, mean = len(values), float(values.mean())
    if n < 2:
        return 1.0
    error = sqrt(float(((values - mean) ** 2).sum()) / (n * (n - 1)))
    # Without spread there is no t: the sign of the mean decides.
    return t_share(mean / error, n - 1) if error > 1e-15 else float(mean >= 0)


def signed_ranks(values: Floats) -> float:
    """Return the exact one-sided p of Wilcoxon's signed ranks for values below 0.

    It is the share of all sign patterns in which the sum of positive ranks is not larger. Ties share their mean rank.
    Zeros are left out.
    """
    nonzero = values[np.abs(values) > _CLOSE]
    if not len(nonzero):
        return 1.0
    # Rounded, so that ties do not depend on the last bits.
    sizes, at = np.unique(np.round(np.abs(nonzero), 9), return_inverse=True)
    ends = np.cumsum(np.bincount(at, minlength=len(sizes)))
    begins = np.concatenate(([0], ends[:-1]))
    doubled_ranks = (begins + ends + 1)[at]  # twice the mean rank, a whole number
    # The distribution of the sum of positive ranks, rank by rank: each is added with probability 1/2.
    ways = np.zeros(int(doubled_ranks.sum()) + 1)
    ways[0] = 1.0
    for rank in doubled_ranks.tolist():
        ways[rank:] = (ways[rank:] + ways[: len(ways) - rank]) / 2
        ways[:rank] /= 2
    return float(min(1.0, ways[: int(doubled_ranks[nonzero > 0].sum()) + 1].sum()))


def benjamini_yekutieli(ps: Sequence[float], rate: float = FALSE_DISCOVERIES) -> list[bool]:
    """Return True for each hypothesis to reject, with the false discovery rate below `rate` under any dependency.

    Source: Benjamini & Yekutieli, The control of the false discovery rate in multiple testing under dependency (2001).
    """
    m = len(ps)
    if not m:
        return []
    order = np.argsort(ps, kind="stable")
    below = (
        np.asarray(ps, np.float64)[order] <= np.arange(1, m + 1) / m * rate / (1 / np.arange(1, m + 1)).sum() + 1e-15
    )
    last = int(np.flatnonzero(below).max()) if below.any() else -1
    is_rejected = np.zeros(m, np.bool_)
    is_rejected[order[: last + 1]] = True
    return [bool(one) for one in is_rejected]
