"""Self-consistency of a judge: share of identical runs, Fleiss' kappa over runs, and entropy."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from annotators.agreement.additive import AdditiveStatistic, Estimate, ratio, totals_by_trace
from annotators.agreement.coefficients import fleiss_kappa, percent_exact
from annotators.agreement.counts import answer_counts, category_counts, rated_twice, why_not_comparable
from annotators.agreement.intervals import estimate
from annotators.agreement.ratings import Floats, Ratings
from lab.core.agreement import IntervalTerms


class SelfConsistency(NamedTuple):
    """A judge's agreement with itself over its runs.

    `identical` is the share of items that all runs answered alike. `kappa` is Fleiss' over runs. `entropy` is the mean
    entropy of the runs' answers per item, in bits. `items` were answered by at least two runs.
    """

    identical: Estimate
    kappa: Estimate
    entropy: Estimate
    items: int


def self_consistency(
    runs: Ratings,
    how: IntervalTerms = IntervalTerms("bootstrap"),  # noqa: B008  # frozen
) -> SelfConsistency:
    """Return the self-consistency of a judge's runs (`codes`: places x runs).

    The interval of kappa follows `how`. The others have Wilson's if each cluster has one item, else the jackknife-t.
    """
    plain = IntervalTerms(level=how.level)
    return SelfConsistency(
        estimate(percent_exact(runs), plain), estimate(fleiss_kappa(runs), how), estimate(mean_entropy(runs), plain),
        int(rated_twice(runs).sum()),
    )  # fmt: skip


def entropy(runs: Ratings) -> Floats:
    """Return the entropy of the runs' answers in bits (places), nan if fewer than two runs answered."""
    tally = category_counts(runs)
    shares = tally / np.maximum(answer_counts(tally), 1)[:, None]
    bits = -(shares * np.log2(np.where(shares > 0, shares, 1.0))).sum(axis=1)
    # Adding 0.0 turns -0.0 into 0.0.
    return np.where(rated_twice(runs), bits + 0.0, np.nan)


def mean_entropy(runs: Ratings) -> AdditiveStatistic:
    """Return the mean of `entropy` over places that at least two runs answered."""
    each = entropy(runs)
    there = np.isfinite(each)
    columns = np.column_stack((np.where(there, each, 0.0), there)).astype(np.float64)
    why = why_not_comparable(runs)
    return AdditiveStatistic(
        "entropy", totals_by_trace(columns, runs.trace, len(runs.traces)),
        lambda sums: ratio(sums[..., 0], sums[..., 1]), lambda sums: why, None, 0.0, int(there.sum()),
    )  # fmt: skip
