"""The label queue: which units people should label next, each unit's probability, and how many labels are needed.

Source: Zrnic & Candes, Active Statistical Inference (2024): the corrected estimate's variance is least if a unit's
probability is in proportion to the standard deviation of people's correction.
"""

from __future__ import annotations

from math import ceil
from statistics import NormalDist
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from annotators.agreement.ratings.ratings import Floats
from annotators.validation.prediction_powered import CorrectedEstimate

UNIFORM = 0.3
"""Share of the budget spread evenly over all units, so that a confident judge that is wrong is still found."""


def doubt_of_confidence(confidence: npt.ArrayLike) -> Floats:
    """Return doubt from confidence (units).

    Doubt is the standard deviation of people's correction if the judge is right with this probability. `confidence`
    (units) is from 0 to 1. A missing one (nan) counts as the most doubtful, 1/2. Raise `ValueError` for values beyond 0
    and 1.
    """
    sure = np.asarray(confidence, np.float64)
    if ((sure < 0) | (sure > 1)).any():
        raise ValueError("a confidence is not between 0 and 1")
    sure = np.asarray(np.where(np.isnan(sure), 0.5, sure))
    return np.asarray(np.sqrt(sure * (1 - sure)))


def doubt_of_runs(codes: npt.ArrayLike) -> Floats:
    """Return doubt from the split of a judge's runs (units x runs, -1 if a run has no answer).

    The share of runs with the most frequent answer replaces confidence. One run with and one without that answer are
    added, so that a few unanimous runs do not count as certain.
    """
    run_codes = np.asarray(codes)
    answers = np.unique(run_codes[run_codes >= 0])
    most = np.zeros(len(run_codes))
    for answer in answers:
        most = np.maximum(most, (run_codes == answer).sum(axis=1))
    return doubt_of_confidence((most + 1) / ((run_codes >= 0).sum(axis=1) + 2))


def inclusion(doubt: npt.ArrayLike, budget: int, uniform: float = UNIFORM) -> Floats:
    """Return each unit's probability of being drawn if `budget` units are (units). The sum is `budget`, and none is 0.

    A share `uniform` of the budget is spread evenly, the rest in proportion to `doubt` (units, not negative).
    Probabilities above 1 are set to 1 and the rest is distributed again. Raise `ValueError` if a doubt is invalid, or
    the budget is not between 1 and the number of units.
    """
    spread = np.asarray(doubt, np.float64)
    if spread.ndim != 1 or not np.isfinite(spread).all() or (spread < 0).any():
        raise ValueError("doubt is one number for each unit, 0 or more")
    if not 1 <= budget <= len(spread):
        raise ValueError(f"{budget} of {len(spread)} units cannot be drawn")
    if not 0 < uniform <= 1:
        raise ValueError(f"a share of {uniform} dealt to all alike is not in (0, 1]")
    total_doubt = float(spread.sum())
    even = np.full(len(spread), 1 / len(spread))
    mixture = uniform * even + (1 - uniform) * (spread / total_doubt if total_doubt else even)
    sure = np.zeros(len(spread), np.bool_)
    while True:
        remaining = budget - int(sure.sum())
        likely: Floats = np.where(sure, 1.0, remaining * mixture / max(float(mixture[~sure].sum()), 1e-300))
        newly_sure = ~sure & (likely >= 1)
        if not newly_sure.any():
            return likely
        # Each round may push others above 1, so the loop ends when none is.
        sure |= newly_sure


class LabelQueue(NamedTuple):
    """Units in the order for labelling, with their probabilities of being drawn at all.

    `order` is (budget), `probability` is (units). After the first k of the order, a unit's probability of being among
    them is `probability * k / budget`: see `of(k)`.
    """

    order: npt.NDArray[np.int64]
    probability: Floats
    seed: int

    def probabilities(self, labels: int) -> Floats:
        """Return each unit's probability of being among the first `labels` of the order (units)."""
        if not 0 < labels <= len(self.order):
            raise ValueError(f"{labels} of {len(self.order)} that were drawn cannot be labelled")
        return self.probability * labels / len(self.order)


def label_queue(probability: Floats, seed: int) -> LabelQueue:
    """Draw a queue of units with exactly these probabilities, in an order that carries no information.

    It has as many units as the probabilities add up to. It is systematic sampling of units in a random order (Goodman &
    Kish, Controlled selection, 1950): one uniform number draws all units, so that their number is fixed. The drawn
    units are shuffled again, so that labelling may stop anywhere and `LabelQueue.of` is exact. Equal seeds draw the
    same in every version of numpy. Raise `ValueError` if the probabilities do not add up to a whole number.
    """
    likely = np.asarray(probability, np.float64)
    budget = round(float(likely.sum()))
    if abs(float(likely.sum()) - budget) > 1e-6 or budget < 1 or (likely > 1 + 1e-12).any():
        raise ValueError(f"probabilities add up to {float(likely.sum()):g}, which is no number of units")
    # One number per unit for each of the two shuffles, and one for the draw itself.
    dice = _uniform(np.random.PCG64(seed), 2 * len(likely) + 1)
    unit_order = np.argsort(dice[: len(likely)], kind="stable")
    ends = np.cumsum(likely[unit_order])
    # Rounding must not leave the last unit out of reach.
    ends[-1] = budget
    at = np.searchsorted(ends, np.arange(budget) + dice[-1], side="right")
    sample = unit_order[np.minimum(at, len(likely) - 1)]
    order = sample[np.argsort(dice[len(likely) + sample], kind="stable")]
    return LabelQueue(order.astype(np.int64), likely, seed)


def _uniform(bits: np.random.PCG64, count: int) -> Floats:
    """Return numbers in [0, 1) from the raw stream, which is stable across numpy versions."""
    return np.asarray((bits.random_raw(count) >> np.uint64(11)).astype(np.float64) * 2.0**-53)


def labels_wanted(estimate: CorrectedEstimate, width: float, level: float = 0.95) -> int | None:
    """Return how many more labels would narrow the corrected interval to `width`, with unchanged error rates.

    None if no number of labels suffices for so few units, or if nothing is known yet. It is an estimate: the labels'
    part of the variance shrinks as one over their number. If the interval is wider than its variance suggests (a share
    at 0 or 1, few clusters), its width is assumed to shrink in the same way.
    """
    if estimate.variance is None or width <= 0:
        return None
    variance_budget = (width / (2 * NormalDist().inv_cdf((1 + level) / 2))) ** 2 - estimate.unit_variance
    shrinks = max(0.0, estimate.variance - estimate.unit_variance)
    if variance_budget <= 0:
        return None
    labels = ceil(estimate.labelled * shrinks / variance_budget - 1e-9)
    low, high = estimate.corrected.low, estimate.corrected.high
    if labels <= estimate.labelled and low is not None and high is not None and high - low > width:
        labels = ceil(estimate.labelled * (high - low) / width)
    return max(0, labels - estimate.labelled) if labels <= estimate.units else None
