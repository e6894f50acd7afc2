"""A judge against itself: how often all its runs say the same, Fleiss' kappa over runs, and how undecided it is."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from annotators.agreement.additive import AdditiveStatistic, Estimate, over_traces, ratio
from annotators.agreement.coefficients import fleiss_kappa, percent_exact
from annotators.agreement.counts import answers, counts, rated_twice, too_few
from annotators.agreement.intervals import estimate
from annotators.agreement.ratings import Floats, Ratings
from lab.core.agreement import How


class SelfConsistency(NamedTuple):
    """`identical` is the share of items that all runs answered alike, `kappa` Fleiss' over runs, `entropy` the mean
    over items of what the runs' answers leave open, in bits; `items` were answered by two runs or more."""

    identical: Estimate
    kappa: Estimate
    entropy: Estimate
    items: int


def self_consistency(
    runs: Ratings,
    how: How = How("bootstrap"),  # noqa: B008  # frozen
) -> SelfConsistency:
    """Of a judge's runs (`codes`: places x runs); kappa's interval is what `how` says, the others' Wilson's (where each
    cluster has one item) and the jackknife-t."""
    plain = How(level=how.level)
    return SelfConsistency(
        estimate(percent_exact(runs), plain), estimate(fleiss_kappa(runs), how), estimate(mean_entropy(runs), plain),
        int(rated_twice(runs).sum()),
    )  # fmt: skip


def entropy(runs: Ratings) -> Floats:
    """(places): the entropy of the runs' answers in bits; nan where fewer than two runs answered."""
    tally = counts(runs)
    shares = tally / np.maximum(answers(tally), 1)[:, None]
    bits = -(shares * np.log2(np.where(shares > 0, shares, 1.0))).sum(axis=1)
    return np.where(rated_twice(runs), bits + 0.0, np.nan)


def mean_entropy(runs: Ratings) -> AdditiveStatistic:
    """The mean of `entropy` over places that two runs answered."""
    each = entropy(runs)
    there = np.isfinite(each)
    columns = np.column_stack((np.where(there, each, 0.0), there)).astype(np.float64)
    why = too_few(runs)
    return AdditiveStatistic(
        "entropy", over_traces(columns, runs.trace, len(runs.traces)),
        lambda sums: ratio(sums[..., 0], sums[..., 1]), lambda sums: why, None, 0.0, int(there.sum()),
    )  # fmt: skip
