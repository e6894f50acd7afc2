"""Which units people should label next: how likely each is to be drawn, a seeded order, and how many labels are wanted.

Source: Zrnic & Candes, Active Statistical Inference (2024): the corrected estimate's variance is least where a unit's
probability is in proportion to the standard deviation of what people would correct there.
"""

from __future__ import annotations

from math import ceil
from statistics import NormalDist
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from annotators.agreement.ratings import Floats
from annotators.validation.prediction_powered import CorrectedEstimate

UNIFORM = 0.3
"""The share of the budget that is dealt to all units alike: a judge that is sure and wrong is still met."""


def doubt_of_confidence(confidence: npt.ArrayLike) -> Floats:
    """(units): the predicted standard deviation of people's correction where the judge is right with that probability.

    `confidence` (units) is from 0 to 1; nan (the judge says none) counts as the most doubtful, 1/2. Raises `ValueError`
    beyond 0 and 1.
    """
    sure = np.asarray(confidence, np.float64)
    if ((sure < 0) | (sure > 1)).any():
        raise ValueError("a confidence is not between 0 and 1")
    sure = np.asarray(np.where(np.isnan(sure), 0.5, sure))
    return np.asarray(np.sqrt(sure * (1 - sure)))


def doubt_of_runs(codes: npt.ArrayLike) -> Floats:
    """(units): the same from a judge's runs (units x runs, -1 where a run says nothing), by how they split.

    The share of runs that say the most frequent answer stands for the confidence; one run that says so and one that
    does not are added to it, so that few runs that agree are not taken for certain.
    """
    run_codes = np.asarray(codes)
    answers = np.unique(run_codes[run_codes >= 0])
    most = np.zeros(len(run_codes))
    for answer in answers:
        most = np.maximum(most, (run_codes == answer).sum(axis=1))
    return doubt_of_confidence((most + 1) / ((run_codes >= 0).sum(axis=1) + 2))


def inclusion(doubt: npt.ArrayLike, budget: int, uniform: float = UNIFORM) -> Floats:
    """(units): how likely each is to be drawn when `budget` are; they add up to it, and none is 0.

    A share `uniform` of the budget is dealt to all alike, the rest in proportion to `doubt` (units, not negative). What
    would be more than certain is certain, and the rest shared again. Raises `ValueError` where a doubt is none, or the
    budget is not between 1 and the number of units.
    """
    spread = np.asarray(doubt, np.float64)
    if spread.ndim != 1 or not np.isfinite(spread).all() or (spread < 0).any():
        raise ValueError("doubt is one number for each unit, 0 or more")
    if not 1 <= budget <= len(spread):
        raise ValueError(f"{budget} of {len(spread)} units cannot be drawn")
    if not 0 < uniform <= 1:
        raise ValueError(f"a share of {uniform} dealt to all alike is not in (0, 1]")
    all = float(spread.sum())
    alike = np.full(len(spread), 1 / len(spread))
    mixture = uniform * alike + (1 - uniform) * (spread / all if all else alike)
    sure = np.zeros(len(spread), np.bool_)
    while True:
        rest = budget - int(sure.sum())
        likely: Floats = np.where(sure, 1.0, rest * mixture / max(float(mixture[~sure].sum()), 1e-300))
        more = ~sure & (likely >= 1)
        if not more.any():
            return likely
        sure |= more


class LabelQueue(NamedTuple):
    """Units in the order in which people should label them, each with how likely it was to be drawn at all.

    `order` (budget) and `probability` (units). After the first k of the order, a unit's probability of being among
    them is `probability * k / budget`: of `of(k)`.
    """

    order: npt.NDArray[np.int64]
    probability: Floats
    seed: int

    def of(self, labels: int) -> Floats:
        """(units): how likely each was to be among the first `labels` of the order."""
        if not 0 < labels <= len(self.order):
            raise ValueError(f"{labels} of {len(self.order)} that were drawn cannot be labelled")
        return self.probability * labels / len(self.order)


def label_queue(probability: Floats, seed: int) -> LabelQueue:
    """As many units as the probabilities add up to, drawn with exactly these, in an order that tells nothing.

    Systematic sampling of units in a random order (Goodman & Kish, Controlled selection, 1950): one uniform number
    draws all, so that their number is fixed. The order among the drawn is shuffled anew; so labelling may stop
    anywhere and `LabelQueue.of` is exact. The same seed draws the same, in every version of numpy. Raises `ValueError`
    where the probabilities do not add up to a whole number.
    """
    likely = np.asarray(probability, np.float64)
    budget = round(float(likely.sum()))
    if abs(float(likely.sum()) - budget) > 1e-6 or budget < 1 or (likely > 1 + 1e-12).any():
        raise ValueError(f"probabilities add up to {float(likely.sum()):g}, which is no number of units")
    dice = _uniform(np.random.PCG64(seed), 2 * len(likely) + 1)
    unit_order = np.argsort(dice[: len(likely)], kind="stable")
    ends = np.cumsum(likely[unit_order])
    ends[-1] = budget
    at = np.searchsorted(ends, np.arange(budget) + dice[-1], side="right")
    sample = unit_order[np.minimum(at, len(likely) - 1)]
    order = sample[np.argsort(dice[len(likely) + sample], kind="stable")]
    return LabelQueue(order.astype(np.int64), likely, seed)


def _uniform(bits: np.random.PCG64, count: int) -> Floats:
    """Numbers in [0, 1) from the raw stream, which no version of numpy changes."""
    return np.asarray((bits.random_raw(count) >> np.uint64(11)).astype(np.float64) * 2.0**-53)


def labels_wanted(estimate: CorrectedEstimate, width: float, level: float = 0.95) -> int | None:
    """How many labels more would bring the corrected interval to that width, errors being as frequent as so far.

    None where no number of labels does, since so few units are never so narrow, or nothing is known yet. An estimate:
    what labels add to the variance is taken to shrink as one over their number. Where the interval is wider than the
    variance says (a share at 0 or 1, few clusters), its width is taken to shrink so.
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
