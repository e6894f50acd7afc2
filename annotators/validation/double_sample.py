"""The rate of yes in a double sample, with its interval: a judge answers every unit, people answer some.

The model is Tenenbein's (A double sampling scheme for estimating from binomial data with misclassifications, 1970). Its
maximum likelihood estimate equals the prediction-powered one (PPI++) with the power given by least squares. The
interval is that of the profile likelihood.
"""

from __future__ import annotations

from math import sqrt
from statistics import NormalDist
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from annotators.agreement.intervals.distributions import t_quantile
from annotators.agreement.ratings.ratings import Floats

LEAST_LABELS = 3
"""Minimum number of people's labels for an interval: Student's t needs one degree of freedom."""

_GRID = 64
_ZOOMS = 4
_MOST_STEPS = 100
_NEAR = 1e-15
_BELOW_ONE = 1 - 2.0**-53
_TINY = 1e-12


class DoubleSample(NamedTuple):
    """Counts of units.

    Four counts are of units that people labelled, by judge and people (`no_yes`: the judge answers no, people yes).
    `yes` and `no` count the other units by the judge alone.
    """

    yes_yes: int
    yes_no: int
    no_yes: int
    no_no: int
    yes: int
    no: int

    @property
    def labels(self) -> int:
        """Number of units that people labelled."""
        return self.yes_yes + self.yes_no + self.no_yes + self.no_no

    @property
    def units(self) -> int:
        """Number of all units."""
        return self.labels + self.yes + self.no


def double_sample(judge: npt.ArrayLike, people: npt.ArrayLike) -> DoubleSample:
    """Count the combinations of two arrays with one 0 or 1 per unit. `people` is nan where nobody labelled."""
    judge_yes, truth = np.asarray(judge, np.float64) == 1, np.asarray(people, np.float64)
    yes, no = truth == 1, truth == 0
    is_unlabelled = ~(yes | no)
    return DoubleSample(
        *(
            int(rows.sum())
            for rows in (
                judge_yes & yes,
                judge_yes & no,
                ~judge_yes & yes,
                ~judge_yes & no,
                judge_yes & is_unlabelled,
                ~judge_yes & is_unlabelled,
            )
        )
    )


def rate(sample: DoubleSample) -> float | None:
    """Return the maximum likelihood estimate of the rate, or None without labels.

    It is people's share of yes among the judge's yes and among its no, each weighted by how often the judge answers so.
    If people labelled none of the judge's yes (or no), their share over all labelled units replaces it, because nothing
    is known of the judge there.
    """
    if not sample.labels:
        return None
    share, right, wrong = _shares(sample)
    return share * right + (1 - share) * wrong


def _shares(sample: DoubleSample) -> tuple[float, float, float]:
    """Return the judge's share of yes, and people's share of yes among its yes and among its no."""
    yes, no = sample.yes_yes + sample.yes_no, sample.no_yes + sample.no_no
    all = (sample.yes_yes + sample.no_yes) / sample.labels
    share = (yes + sample.yes) / sample.units
    return share, sample.yes_yes / yes if yes else all, sample.no_yes / no if no else all


def correlation(sample: DoubleSample) -> float:
    """Return phi of judge and people over the labelled units, 0 if one of them always gives the same answer."""
    a, b, c, d = (float(count) for count in sample[:4])
    below = (a + b) * (c + d) * (a + c) * (b + d)
    return (a * d - b * c) / sqrt(below) if below else 0.0


def interval(
    sample: DoubleSample, level: float = 0.95, design: float = 1.0, freedom: float | None = None
) -> tuple[float, float]:
    """Return the rates at which the profile likelihood is within `threshold` of its maximum.

    Coverage was measured by tests/bench/bench_corrected.py at 25, 50 and 100 labels of 500 units, judges that are right
    in 60, 80 and 95 %, and rates of .3, .5 and .7: 95 % intervals cover 93.4 to 96.8 % in all 27 cells (20,000 studies
    each). With judges that err to one side (true positive and negative rates of .8 to .99) and rates of .1 to .9 they
    cover 92.6 to 98.1 %. That is too much if 25 labels hold about one error of the judge, since counts of 0 or 1 leave
    no finer choice.

    Alternatives in the same worlds, the 27 cells first. PPI++ with normal quantiles: 91.2 to 95.1 %, and 72 % if errors
    are rare, since 25 labels without one make an interval of hardly any width. With Student's t and labels - 2 in the
    variance: 93.4 to 96.9 %, and 74 %. The same in Wilson's form: 93.6 to 97.4 %, and 78 %. Half an answer added to
    each cell: 93.7 to 98.6 %. Jeffreys' posterior: 93.8 to 98.2 %, up to 99.5. The profile likelihood with z^2: 92.6 to
    96.5 %, with t^2: 94.0 to 97.7 %. The score interval: 92.4 to 98.5 %.

    Raise `ValueError` with fewer labels than LEAST_LABELS.
    """
    best = rate(sample)
    if sample.labels < LEAST_LABELS or best is None:
        raise ValueError(f"{sample.labels} labels are too few for an interval")
    return _interval_ends(sample, best, threshold(sample, level, design, freedom))


def threshold(sample: DoubleSample, level: float = 0.95, design: float = 1.0, freedom: float | None = None) -> float:
    """Return the maximum of `likelihood_drop` within the interval: z^2 + (t^2 - z^2)(1 - phi^2).

    z and t are quantiles of the normal and of Student's t with labels - 2 degrees of freedom. Only the few labels
    estimate the part of the variance that the judge does not explain. So the threshold is Student's if the judge
    explains nothing, and the normal one if it is always right. For units in clusters it is `design` times as large (Rao
    & Scott, 1984), where `design` is the factor by which clusters increase the variance. `freedom` is then the number
    of clusters - 2.
    """
    free = sample.labels - 2 if freedom is None else freedom
    z, t = NormalDist().inv_cdf((1 + level) / 2), t_quantile((1 + level) / 2, free)
    return design * (z * z + (t * t - z * z) * (1 - correlation(sample) ** 2))


def _interval_ends(sample: DoubleSample, best: float, most: float) -> tuple[float, float]:
    """Return the ends at which twice the drop of the log likelihood, from `best` to 0 and to 1, first exceeds `most`.

    Each grid subdivides one interval of the grid before.
    """
    edges = np.array([0.0, 1.0])
    inside, outside = np.full(2, best), edges.copy()
    open = np.zeros(2, np.bool_)
    for zoom in range(_ZOOMS):
        grid = inside[:, None] + (outside - inside)[:, None] * np.linspace(0, 1, _GRID)
        beyond = likelihood_drop(sample, grid.ravel()).reshape(grid.shape) > most
        if not zoom:  # the first grid goes to 0 and 1 themselves
            # Not even 0 or 1 is beyond the threshold: the interval ends there.
            open = ~beyond[:, -1]
        beyond[:, 0], beyond[:, -1] = False, True
        first = beyond.argmax(axis=1)
        inside, outside = grid[(0, 1), first - 1], grid[(0, 1), first]
    low, high = np.where(open, edges, (inside + outside) / 2).tolist()
    return low, high


def likelihood_drop(sample: DoubleSample, rates: Floats) -> Floats:
    """Return twice the drop of the profile log likelihood from its maximum at each rate (rates)."""
    share, right, wrong = _shares(sample)
    cells = np.array([share * right, share * (1 - right), (1 - share) * wrong, (1 - share) * (1 - wrong)])
    # At 0 and 1 the likelihood of counted cells is zero, whose log is not a number.
    inside = np.clip(rates, _TINY, 1 - _TINY)
    true, false = _best_judge(sample, inside)
    at = np.stack((inside * true, (1 - inside) * false, inside * (1 - true), (1 - inside) * (1 - false)))
    return np.maximum(0.0, 2 * (_log_likelihood(sample, cells[:, None]) - _log_likelihood(sample, at)))


def _log_likelihood(sample: DoubleSample, cells: Floats) -> Floats:
    """Return the log likelihood of cell probabilities (4 x rates), judge first: yes yes, yes no, no yes, no no."""
    yes = cells[0] + cells[1]
    shares = np.stack((*cells, yes, 1 - yes))
    counts = np.asarray(sample, np.float64)[:, None]
    return np.asarray(np.where(counts > 0, counts * np.log(np.maximum(shares, 1e-300)), 0.0).sum(axis=0))


def _best_judge(sample: DoubleSample, rates: Floats) -> tuple[Floats, Floats]:
    """Return the judge's true and false positive rates that maximise the likelihood at each rate (each rates).

    At the maximum both follow from the likelihood's slope in p, the judge's share of yes, and the slope falls with p.
    So one search for p finds both. It takes Newton's steps, and bisects if a step leaves the bracket of p or is not
    half as long as the one before.
    """
    low, high = np.zeros(len(rates)), np.ones(len(rates))
    of = np.stack((rates, 1 - rates))
    yes, no = (np.array(each, np.float64)[:, None] for each in (sample[:2], sample[2:4]))
    shares = np.zeros_like(of)
    # The search starts at the judge's observed share.
    share, last = np.full(len(rates), np.clip(_shares(sample)[0], 0.001, 0.999)), np.full(len(rates), 2.0)
    for _ in range(_MOST_STEPS):
        shares, steepness = _best_share(of * (sample.yes / share - sample.no / (1 - share)), yes, no)
        falls = 1 + (of**2 * steepness).sum(axis=0) * (sample.yes / share**2 + sample.no / (1 - share) ** 2)
        short = (of * shares).sum(axis=0) - share
        low, high = np.where(short > 0, share, low), np.where(short > 0, high, share)
        newton = share + short / falls
        by_newton = (newton > low - _NEAR) & (newton < high + _NEAR) & (newton > 0) & (newton < 1)
        by_newton &= (np.abs(newton - share) < last / 2) | (np.abs(newton - share) <= _NEAR)
        following = np.minimum(np.where(by_newton, newton, (low + high) / 2), _BELOW_ONE)
        last = np.abs(following - share)
        if (last <= _NEAR).all():
            break
        share = following
    true, false = shares
    if not sample.yes_yes + sample.no_yes:  # people never said yes: only the share binds it
        true = np.clip((share - (1 - rates) * false) / rates, 0, 1)
    if not sample.yes_no + sample.no_no:
        false = np.clip((share - rates * true) / (1 - rates), 0, 1)
    return true, false


def _best_share(slope: Floats, yes: Floats, no: Floats) -> tuple[Floats, Floats]:
    """Return the s at which yes / s - no / (1 - s) + slope is 0, or the end closest to it, and ds / dslope.

    The formulas avoid cancellation. `slope` is (2 x rates), `yes` and `no` are (2 x 1): both rates of the judge at
    once.
    """
    below = yes + no - slope
    root = np.sqrt((slope + (yes - no)) ** 2 + 4.0 * yes * no)
    positive = below >= 0
    denominator = below + root
    above = np.where(positive, 2 * yes, root - below)
    under = np.where(positive, np.where(denominator > 0, denominator, 1.0), 2 * slope)
    share = np.minimum(np.maximum(above / under, 0.0), 1.0)
    bent = yes * (1 - share) ** 2 + no * share**2
    return share, np.where(bent > 0, (share * (1 - share)) ** 2 / np.where(bent > 0, bent, 1.0), 0.0)
