"""Prediction-powered inference: a rate or mean from few labels of people and a judge's answers about all units.

Sources: Angelopoulos, Duchi & Zrnic, PPI++: Efficient Prediction-Powered Inference (2023); Zrnic & Candes, Active
Statistical Inference (2024); Zou & Donner, Construction of confidence limits about effect measures (2008). The target
is the rate of the population from which the units were drawn, not of these units alone.
"""

from __future__ import annotations

from math import sqrt
from statistics import NormalDist
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from annotators.agreement.coefficients.additive import Estimate, totals_by_trace
from annotators.agreement.intervals.distributions import t_quantile, wilson
from annotators.agreement.ratings.ratings import Floats, Ints
from annotators.validation.double_sample import LEAST_LABELS, double_sample, interval, rate

TOO_FEW = f"fewer than {LEAST_LABELS} labels of people, or labels of fewer clusters"
SAME_IN_ALL = "no unit differs from the rest"
FEW = 3
"""Minimum number of judge's errors among the labels. Fewer cause a caution."""
FEW_ERRORS = "people corrected the judge hardly ever; the interval rests on what that many labels can rule out"
_EDGE = 1e-3
"""Distance from 0 and 1 within which a share counts as 0 or 1 (or the one further error of `_regressed`), because
Wilson's form needs neither."""


class LabelledUnits(NamedTuple):
    """A judge's answers about all units, and people's labels of some.

    `judge` (units) has no nan. `people` (units) is nan for units without a label. `probability` (units) is each unit's
    probability of being labelled (`label_queue.inclusion`), None if all are equal. Values are 0 and 1 for a rate, any
    number for a mean. A judge's may be its confidence in 1. `trace` (units) are the clusters of units (a task's runs, a
    run's steps) as numbers from 0, None if each unit is independent.
    """

    judge: Floats
    people: Floats
    probability: Floats | None = None
    trace: Ints | None = None

    @property
    def labelled(self) -> npt.NDArray[np.bool_]:
        """Mask of the units with a label of people (units)."""
        return np.isfinite(self.people)


class CorrectedEstimate(NamedTuple):
    """A judge's rate or mean, corrected by people's labels, and the estimates from either alone.

    `power` is the weight of the judge's answers: 0 ignores them, 1 is plain prediction-powered inference. `labelled` of
    `units` have labels. `worth` is the number of people's labels that would alone give the same variance, None if
    unknown. `variance` is the estimate's. `unit_variance` is the part of it that only further units reduce, not labels.
    `influence` (units) is each unit's contribution to the estimate. `caution` is a sentence for the reader.
    """

    corrected: Estimate
    judge: Estimate
    people: Estimate
    power: float
    labelled: int
    units: int
    worth: float | None
    variance: float | None
    unit_variance: float
    influence: Floats
    caution: str = ""


def labelled_units(
    judge: npt.ArrayLike,
    people: npt.ArrayLike,
    probability: npt.ArrayLike | None = None,
    trace: npt.ArrayLike | None = None,
) -> LabelledUnits:
    """Return checked arrays. Raise `ValueError` with the invalid one and its fault."""
    judge_values, truth = np.asarray(judge, np.float64), np.asarray(people, np.float64)
    if judge_values.ndim != 1 or judge_values.shape != truth.shape:
        raise ValueError(f"judge {judge_values.shape} and people {truth.shape} are no two columns of the same units")
    if not np.isfinite(judge_values).all():
        raise ValueError(f"unit {int((~np.isfinite(judge_values)).argmax())}: the judge says nothing")
    clusters = None if trace is None else np.asarray(trace, np.int32)
    if clusters is not None and (clusters.shape != judge_values.shape or (clusters < 0).any()):
        raise ValueError(
            f"clusters {clusters.shape} are not numbers from 0 of the same units as judge {judge_values.shape}"
        )
    if probability is None:
        return LabelledUnits(judge_values, truth, None, clusters)
    likely, there = np.asarray(probability, np.float64), np.isfinite(truth)
    if likely.shape != judge_values.shape:
        raise ValueError(f"probability {likely.shape} is not of the same units as judge {judge_values.shape}")
    wrong = there & ~((likely > 0) & (likely <= 1))
    if wrong.any():
        raise ValueError(f"unit {int(wrong.argmax())} is labelled with a probability that is not in (0, 1]")
    return LabelledUnits(judge_values, truth, likely, clusters)


# -- as the paper has it --------------------------------------------------------------------------------------


class PoweredMean(NamedTuple):
    """PPI++'s mean with its normal interval."""

    value: float
    low: float
    high: float
    power: float


def powered_mean(units: LabelledUnits, power: float | None = None, level: float = 0.95) -> PoweredMean:
    """Return PPI++ exactly as published: the asymptotically best power, clipped to 0 and 1, and normal quantiles.

    It is for comparison with other programs, and for hundreds of labels. With 25 labels of 500 its 95 % interval covers
    91 to 95 % if a judge's errors are frequent, and down to 72 % if they are rare. `corrected_estimate` holds its
    level. Raise `ValueError` for labels with unequal probabilities, for clusters, and without labels or unlabelled
    units.
    """
    there = units.labelled
    n, rest = int(there.sum()), int((~there).sum())
    if units.probability is not None or units.trace is not None or not n or not rest:
        raise ValueError(
            "needs units with labels of people and units without, labelled with equal probabilities, each alone"
        )
    truth, judge_there, other = units.people[there], units.judge[there], units.judge[~there]
    if power is None:
        both = float(np.mean((truth - truth.mean()) * (judge_there - judge_there.mean())))
        spread = float(units.judge.var(ddof=1))
        power = min(1.0, max(0.0, both / ((1 + n / rest) * spread))) if spread else 0.0
    value = power * float(other.mean()) + float((truth - power * judge_there).mean())
    error = sqrt(power**2 * float(other.var()) / rest + float((truth - power * judge_there).var()) / n)
    half = NormalDist().inv_cdf((1 + level) / 2) * error
    return PoweredMean(value, value - half, value + half, power)


# -- with intervals that hold ---------------------------------------------------------------------------------


def corrected_estimate(units: LabelledUnits, level: float = 0.95, power: float | None = None) -> CorrectedEstimate:
    """Return the rate (if people's labels are 0 and 1) or mean, with an interval that holds for few labels.

    For 0 and 1 from judge and people and equal probabilities, it is the estimate and interval of `double_sample`.
    Otherwise it is regression on the judge, weighted by inverse probabilities (Hajek's form of Horvitz and Thompson),
    with Student's t, for a rate in Wilson's form (see `_regressed`). `power` fixes the judge's weight in advance, in
    place of the one with the least variance.

    The best weight is itself estimated. If labels are few, drawn with unequal probabilities, and the judge errs to one
    side, this biases a rate (true positive rate .99, true negative rate .9, rate .1: -.03 with 25 labels, -.015 with
    50; below .01 in worlds with errors to both sides). A power of 1 does not (.005 at most), and there its error is
    smaller too. With a judge hardly better than chance its error is larger by a quarter.

    Clusters widen all intervals by their part of the variance, and never narrow them.
    """
    influence, weight, value, spread = _influence(units, power)
    judge, people = _judge_alone(units, level), _people_alone(units, level)
    if value is None:
        estimate = Estimate(None, TOO_FEW)
        return CorrectedEstimate(
            estimate, judge, people, 0.0, spread.labels, len(units.judge), None, None, 0.0, influence
        )  # fmt: skip
    variance = spread.variance
    if power is None and _binary(units) and units.probability is None:
        sample = double_sample(units.judge, units.people)
        value = rate(sample)
        low, high = interval(sample, level, *((spread.design, spread.freedom) if units.trace is not None else ()))
        estimate = Estimate(value, "", low, high, "", sqrt(variance), "profile")
        few = min(sample.yes_no + sample.no_yes, sample.yes_yes + sample.no_no) < FEW
    else:
        estimate = _regression_interval(value, spread, level, _shares(units.people))
        few = _shares(units.people) and spread.errors < FEW
    # The variance of people's labels without the judge, for the comparison in `worth`.
    alone = _influence(units, 0.0)[3].variance
    return CorrectedEstimate(
        estimate, judge, people, weight, spread.labels, len(units.judge),
        spread.labels * alone / variance if variance > 0 else None, variance,
        weight**2 * _unit_variance(units), influence, FEW_ERRORS if few else "",
    )  # fmt: skip


class _Spread(NamedTuple):
    """The ingredients of an interval.

    They are the variance, the factor by which clusters increase it, the labels, the effective number of weighted labels
    (Kish), Student's degrees of freedom, and the number of judge's errors among the labels.
    """

    variance: float
    design: float
    labels: int
    effective: float
    freedom: float
    errors: float


def _influence(units: LabelledUnits, power: float | None) -> tuple[Floats, float, float | None, _Spread]:
    """Return each unit's contribution to the estimate (units), the judge's weight, the value, and its spread.

    The variance is that of the sum of independent contributions, corrected for the two numbers (mean and weight)
    estimated from the labels.
    """
    there = units.labelled
    n, judge = int(there.sum()), units.judge
    groups = n if units.trace is None else len(np.unique(units.trace[there]))
    if groups < LEAST_LABELS:
        return np.zeros(len(judge)), 0.0, None, _Spread(0.0, 1.0, n, float(n), 1.0, 0.0)
    weights = np.zeros(len(judge))
    weights[there] = 1.0 if units.probability is None else 1 / units.probability[there]
    weights /= weights.sum()
    people = np.where(there, units.people, 0.0)
    truth, judge_mean = float(weights @ people), float(weights @ judge)
    own = weights * (people - truth)
    beyond = weights * (judge - judge_mean) - (judge - judge.mean()) / len(judge)
    square = float(beyond @ beyond)
    weight = power if power is not None else float(own @ beyond) / square if square > 1e-15 else 0.0
    influence = own - weight * beyond
    error = (people - truth) - weight * (judge - judge_mean)
    effective = 1 / float(weights @ weights)
    # Two numbers were estimated from the labels: the mean and the weight.
    alone = float(influence @ influence) * n / (n - 2)
    design = _design(influence, units.trace, groups) if alone > 0 else 1.0
    spread = _Spread(
        alone * design, design, n, effective, max(1.0, min(effective, groups) - 2),
        n * float(weights @ (error * error)),
    )  # fmt: skip
    return influence, weight, truth + weight * (float(judge.mean()) - judge_mean), spread


def _unit_variance(units: LabelledUnits) -> float:
    """Return the variance of the judge's mean over all units."""
    adds = (units.judge - units.judge.mean()) / len(units.judge)
    groups = 2 if units.trace is None else max(2, len(np.unique(units.trace)))
    alone = float(adds @ adds)
    return alone * _design(adds, units.trace, groups) if alone > 0 else 0.0


def _design(adds: Floats, trace: Ints | None, groups: int) -> float:
    """Return the factor by which clusters increase the variance of a sum, 1 if they do not."""
    if trace is None:
        return 1.0
    together = totals_by_trace(adds[:, None], trace, int(trace.max()) + 1)[:, 0]
    # Never below 1: few clusters can look more even than independence by chance.
    return max(1.0, float(together @ together) / float(adds @ adds) * groups / (groups - 1))


def _regression_interval(value: float, spread: _Spread, level: float, share: bool) -> Estimate:
    """Return an interval by Student's t, for a share in Wilson's form with the effective number of labels.

    If labels hold hardly any error of the judge, their variance does not reflect the errors that they missed. For a
    share, one further error is counted, with the weight exp(-errors), in the share and in its variance. If labels were
    drawn with unequal probabilities it counts in the variance alone: in the share too, it would lower three cells of
    105 from 91 to 93 % to 89.5 to 90.5 %.

    Coverage was measured by tests/bench/bench_corrected.py at the cells of `double_sample.interval`, with labels drawn
    where the judge is unsure. Without that error it is 58 % at the least, if a judge errs to one side and rates are .1.
    With it, it is 91 to 99 % with 25 labels, 93.9 to 98 % with 50 or more.

    It exceeds 95 % if a judge is right in 95 % and labels are few: they are drawn where it errs, and hold more errors
    than their weighted number, which sets the weight of the further one. Their effective number (Kish 1965, squared sum
    of weights over the sum of squares) would make these intervals narrower by a seventh at 97 to 98.5 %. But at rates
    of .1 or .9 it would lower 50 labels from 99.5 to 90 %, so the weighted number is used.
    """
    t = t_quantile((1 + level) / 2, spread.freedom)
    variance = spread.variance
    if share:
        variance += spread.design * float(np.exp(-spread.errors)) / (spread.labels * spread.effective)
    if variance <= 0:
        return Estimate(value, no_interval=SAME_IN_ALL)
    error = sqrt(spread.variance)
    if not share:
        return Estimate(value, "", value - t * sqrt(variance), value + t * sqrt(variance), "", error, "t")
    alike = spread.labels - spread.effective < 1e-6
    edge = max(_EDGE, float(np.exp(-spread.errors)) / spread.labels) if alike else _EDGE
    inside = min(1 - edge, max(edge, value))
    low, high = _wilson(inside, inside * (1 - inside) / variance, t)
    bounded = min(1.0, max(0.0, value))
    return Estimate(bounded, "", min(low, bounded), max(high, bounded), "", error, "t")


def _wilson(share: float, of: float, quantile: float) -> tuple[float, float]:
    """Return Wilson's interval of a share of an effective number, which need not be whole."""
    square = quantile * quantile
    middle = (share + square / (2 * of)) / (1 + square / of)
    half = quantile * sqrt(share * (1 - share) / of + square / (4 * of * of)) / (1 + square / of)
    return max(0.0, middle - half), min(1.0, middle + half)


def _shares(values: Floats) -> bool:
    return bool(np.isin(values[np.isfinite(values)], (0.0, 1.0)).all())


def _binary(units: LabelledUnits) -> bool:
    return _shares(units.people) and _shares(units.judge)


def _judge_alone(units: LabelledUnits, level: float) -> Estimate:
    """Return the judge's rate or mean over all units, as if it were always right."""
    if units.trace is None:
        return _mean_of(units.judge, level)
    return _people_alone(LabelledUnits(units.judge, units.judge, None, units.trace), level)


def _people_alone(units: LabelledUnits, level: float) -> Estimate:
    """Return the rate or mean from people's labels without the judge."""
    if units.probability is None and units.trace is None:
        return _mean_of(units.people[units.labelled], level)
    _, _, value, spread = _influence(units, 0.0)
    return (
        Estimate(None, TOO_FEW) if value is None else _regression_interval(value, spread, level, _shares(units.people))
    )


def _mean_of(values: Floats, level: float) -> Estimate:
    n = len(values)
    if not n:
        return Estimate(None, "no answers")
    value = float(values.mean())
    if _shares(values):
        low, high = wilson(int(values.sum()), n, level)
        return Estimate(value, "", low, high, interval="wilson")
    if n < LEAST_LABELS or not np.ptp(values):
        return Estimate(value, no_interval=TOO_FEW if n < LEAST_LABELS else SAME_IN_ALL)
    error = sqrt(float(values.var(ddof=1)) / n)
    half = t_quantile((1 + level) / 2, n - 1) * error
    return Estimate(value, "", value - half, value + half, "", error, "t")


# -- two agents -----------------------------------------------------------------------------------------------


class CorrectedDifference(NamedTuple):
    """One agent's rate minus another's: corrected, by the judge alone, and by people alone."""

    corrected: Estimate
    judge: Estimate
    people: Estimate


def corrected_difference(
    one: LabelledUnits, other: LabelledUnits, level: float = 0.95, *, paired: bool = False
) -> CorrectedDifference:
    """Return `one` minus `other`, with an interval from both intervals (Newcombe 1998, Zou & Donner 2008).

    With `paired`, row i of both is the same task, and the correlation of the estimates comes from each task's
    contributions to both. Raise `ValueError` if paired samples differ in length.
    """
    if paired and len(one.judge) != len(other.judge):
        raise ValueError(f"{len(one.judge)} and {len(other.judge)} units are no pairs")
    first, second = corrected_estimate(one, level), corrected_estimate(other, level)
    adds = [
        (first.influence, second.influence),
        (one.judge - one.judge.mean(), other.judge - other.judge.mean()),
        (_influence(one, 0.0)[0], _influence(other, 0.0)[0]),
    ]
    pairs = (first.corrected, second.corrected), (first.judge, second.judge), (first.people, second.people)
    together = [_correlation(*each, one.trace) if paired else 0.0 for each in adds]
    return CorrectedDifference(
        *(difference_of_estimates(*pair, rho) for pair, rho in zip(pairs, together, strict=True))
    )


def _correlation(one: Floats, other: Floats, trace: Ints | None) -> float:
    """Return the correlation of two sums over the same tasks, over clusters if there are any."""
    if trace is not None:
        one, other = totals_by_trace(np.column_stack((one, other)), trace, int(trace.max()) + 1).T
    below = float(one @ one) * float(other @ other)
    return float(one @ other) / sqrt(below) if below > 0 else 0.0


def difference_of_estimates(one: Estimate, other: Estimate, together: float = 0.0) -> Estimate:
    """Return the difference of two estimates from their intervals, given their correlation `together`."""
    if one.value is None or other.value is None:
        return Estimate(None, one.undefined or other.undefined)
    value = one.value - other.value
    if one.low is None or one.high is None or other.low is None or other.high is None:
        return Estimate(value, no_interval=one.no_interval or other.no_interval)
    # The lower end of a difference is far if `one` is low and `other` is high.
    down = _combined_distance(one.value - one.low, other.high - other.value, together)
    up = _combined_distance(one.high - one.value, other.value - other.low, together)
    return Estimate(value, "", value - down, value + up, interval="newcombe")


def _combined_distance(one: float, other: float, together: float) -> float:
    return sqrt(max(0.0, one * one + other * other - 2 * together * one * other))
