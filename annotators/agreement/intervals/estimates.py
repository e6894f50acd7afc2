"""Turns a statistic into a printable number: with its interval, its n, and its missing answers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

import numpy as np

from annotators.agreement.coefficients.additive import AdditiveStatistic, Estimate
from annotators.agreement.intervals.intervals import difference, estimate
from annotators.agreement.ratings.ratings import NumericRatings, Ratings
from annotators.study_data import StudyData
from lab.core.study.agreement import Agreement, IntervalTerms

Statistic = tuple[str, Callable[[], AdditiveStatistic]]
"""A statistic's name and its constructor."""

AGAIN = "the same person again"
"""`between` of a comparison of each rater's repeated ratings with their first."""
RUNS = "'s runs"
"""Suffix of a judge's name if its runs are compared with one another."""
MINUS = " minus "
AGAINST = " against "
MOST = "most people"
MEAN = "the mean of people"


class SampleCounts(NamedTuple):
    """Sample size of a statistic, and the answers missing from it."""

    places: int
    units: int
    traces: int
    raters: int
    missing: float
    reasons: Mapping[str, int]


def needs_all(statistic: str) -> bool:
    """Return True if a statistic counts only items that all raters answered: a two-way ICC, which separates raters."""
    return statistic.startswith(("icc(A", "icc(C"))


def sample_counts(of: Ratings | NumericRatings, statistic: str = "") -> SampleCounts:
    """Return the sample size of a statistic over items that two of these raters answered (a two-way ICC: all of them).

    The missing share is of all due answers, or of all items if two columns are compared.
    """
    is_given = of.is_given
    rows = np.flatnonzero(is_given.sum(axis=1) >= (len(of.raters) if needs_all(statistic) else 2))
    reasons = of.reasons
    answer_count, lacking = len(rows) if of.missing.by_item else int(is_given.sum()), sum(reasons.values())
    return SampleCounts(
        len(rows),
        len({of.places[row].unit for row in rows.tolist()}),
        len(np.unique(of.trace[rows])),
        int(is_given[rows].any(axis=0).sum()) if len(rows) else 0,
        lacking / (answer_count + lacking) if answer_count + lacking else 0.0,
        reasons,
    )


class EstimateMaker:
    """Makes numbers about one part of a field, between the same raters.

    `of` are the answers from which each statistic gets its n, or that n itself. `raters` is the number of raters if the
    columns do not show it.
    """

    def __init__(
        self, study_data: StudyData, field: str, of: Ratings | NumericRatings | SampleCounts, part: str = "",
        between: str = "people", raters: int | None = None,
    ) -> None:  # fmt: skip
        self.study_data = study_data
        self.field = field
        self.part = part
        self.between = between
        self._answers = of
        self._raters = raters
        self._counts_by_kind: dict[bool, SampleCounts] = {}

    def numbers(self, statistics: Iterable[Statistic]) -> list[Agreement]:
        """Return one number for each statistic."""
        return [self.number(name, make()) for name, make in statistics]

    def number(self, name: str, one: AdditiveStatistic) -> Agreement:
        """Return a statistic with its interval."""
        return self._agreement(name, estimate(one, self.study_data.how))

    def difference(self, name: str, one: AdditiveStatistic, other: AdditiveStatistic) -> Agreement:
        """Return one statistic minus another over the same traces, with its interval."""
        return self._agreement(name, difference(one, other, self.study_data.how))

    def without_interval(self, name: str, value: float | None, why: str) -> Agreement:
        """Return a value that has no interval, with the reason."""
        return self._agreement(name, Estimate(value, no_interval=why))

    def undefined(self, why: str, name: str = "agreement") -> Agreement:
        """Return the reason why there are no numbers, as the only number."""
        return self._agreement(name, Estimate(None, why))

    @property
    def places(self) -> int:
        """Number of items that two of these raters answered."""
        return self._sample_counts("").places

    def _sample_counts(self, statistic: str) -> SampleCounts:
        if isinstance(self._answers, SampleCounts):
            return self._answers
        kind = needs_all(statistic)
        if kind not in self._counts_by_kind:
            n = sample_counts(self._answers, statistic)
            self._counts_by_kind[kind] = n if self._raters is None else n._replace(raters=self._raters)
        return self._counts_by_kind[kind]

    def _agreement(self, name: str, estimate: Estimate) -> Agreement:
        n = self._sample_counts(name)
        # A copy for each number, because `reasons` is mutable and shared.
        n = n._replace(reasons=dict(n.reasons))
        return as_agreement(
            estimate, self.study_data.how, self.field, name, part=self.part, between=self.between,
            planned=is_registered(self.study_data, name, self.between), clusters=clusters_of(self.study_data),
            **n._asdict(),
        )  # fmt: skip


def as_agreement(result: Estimate, how: IntervalTerms, field: str, statistic: str, **of: Any) -> Agreement:
    """Return an estimate as a number. `of` holds its n and its raters."""
    has_interval, method = result.low is not None, result.interval or how.interval
    is_bootstrap = has_interval and method == "bootstrap"
    return Agreement(
        field, statistic, result.value, result.undefined,
        low=result.low, high=result.high, no_interval=result.no_interval,
        interval=method if has_interval else "", level=how.level, resamples=how.resamples if is_bootstrap else None,
        seed=how.seed if is_bootstrap else None, standard_error=result.standard_error, **of,
    )  # fmt: skip


_OF_TASKS = ("task", "task to play", "pair of runs")
_OF_TEXTS = ("pair of instruction sets", "pair of texts")


def clusters_of(study_data: StudyData) -> str:
    """Return the kind of this study's clusters for intervals: run, task, user or item."""
    clusters: str = study_data.cached("clusters", lambda: _clusters_of(study_data))
    return clusters


def _clusters_of(study_data: StudyData) -> str:
    protocol = study_data.study.protocol
    if protocol.unit in _OF_TASKS:
        return "task"
    owned = protocol.reference or protocol.unit in _OF_TEXTS or not {"screens", "actions"} & set(protocol.shows)
    if owned and any(unit.cluster for unit in study_data.units):
        return "user"
    return "run" if not study_data.units or any(unit.runs for unit in study_data.units) else "item"


def is_registered(study_data: StudyData, name: str, between: str) -> bool:
    """Return True if a statistic is among those registered when the study was frozen."""
    plan_statistics = study_data.study.statistics
    if between == AGAIN and "intra-rater" in plan_statistics:
        return True
    if between.endswith(RUNS):
        return "consistency" in plan_statistics
    if MINUS in between and "paired bootstrap" in plan_statistics:
        return True
    # A statistic of one category is registered by its plain name.
    return name.partition(" of ")[0] in plan_statistics
