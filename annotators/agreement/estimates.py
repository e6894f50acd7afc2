"""A statistic made into a number to print: with its interval, its n, and what was missing."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

import numpy as np

from annotators.agreement.additive import AdditiveStatistic, Estimate
from annotators.agreement.intervals import difference, estimate
from annotators.agreement.ratings import NumericRatings, Ratings
from annotators.study_data import StudyData
from lab.core.agreement import Agreement, How

Statistic = tuple[str, Callable[[], AdditiveStatistic]]
"""A statistic's name, and what makes it."""

AGAIN = "the same person again"
"""Between whom, where each rater's repeated ratings are compared with the first."""
RUNS = "'s runs"
"""Behind a judge's name, where its runs are compared with one another."""
MINUS = " minus "
AGAINST = " against "
MOST = "most people"
MEAN = "the mean of people"


class SampleCounts(NamedTuple):
    """The n of a statistic, and what was missing where it counts."""

    places: int
    units: int
    traces: int
    raters: int
    missing: float
    reasons: Mapping[str, int]


def needs_all(statistic: str) -> bool:
    """Whether a statistic is over places that all raters answered: ICC of two ways, which tells raters apart."""
    return statistic.startswith(("icc(A", "icc(C"))


def counted(of: Ratings | NumericRatings, statistic: str = "") -> SampleCounts:
    """The places that count in a statistic: those that two of these answered; all of them, of a two-way ICC.

    What is missing is a share of all answers that were to be given; of two columns that are compared, of all items.
    """
    there = of.there
    rows = np.flatnonzero(there.sum(axis=1) >= (len(of.raters) if needs_all(statistic) else 2))
    reasons = of.reasons
    answer_count, lacking = len(rows) if of.missing.by_item else int(there.sum()), sum(reasons.values())
    return SampleCounts(
        len(rows),
        len({of.places[row].unit for row in rows.tolist()}),
        len(np.unique(of.trace[rows])),
        int(there[rows].any(axis=0).sum()) if len(rows) else 0,
        lacking / (answer_count + lacking) if answer_count + lacking else 0.0,
        reasons,
    )


class EstimateMaker:
    """Makes numbers about one field of a study, between the same people, on the same part of it.

    `of` are the answers that its statistics are made of, from which each has its n; or that n itself. `raters`: how
    many gave them, where their columns do not say.
    """

    def __init__(
        self, study_data: StudyData, field: str, of: Ratings | NumericRatings | SampleCounts, part: str = "",
        between: str = "people", raters: int | None = None,
    ) -> None:  # fmt: skip
        self.study_data = study_data
        self.field = field
        self.part = part
        self.between = between
        self._of = of
        self._raters = raters
        self._known: dict[bool, SampleCounts] = {}

    def all(self, statistics: Iterable[Statistic]) -> list[Agreement]:
        """One number for each statistic."""
        return [self.of(name, make()) for name, make in statistics]

    def of(self, name: str, one: AdditiveStatistic) -> Agreement:
        """A statistic with its interval."""
        return self._agreement(name, estimate(one, self.study_data.how))

    def apart(self, name: str, one: AdditiveStatistic, other: AdditiveStatistic) -> Agreement:
        """One statistic minus another over the same traces."""
        return self._agreement(name, difference(one, other, self.study_data.how))

    def without_interval(self, name: str, value: float | None, why: str) -> Agreement:
        """A value that has no interval for a reason of its own."""
        return self._agreement(name, Estimate(value, no_interval=why))

    def undefined(self, why: str, name: str = "agreement") -> Agreement:
        """In place of all numbers, why there is none."""
        return self._agreement(name, Estimate(None, why))

    @property
    def places(self) -> int:
        """How many places two of these answered."""
        return self._n("").places

    def _n(self, statistic: str) -> SampleCounts:
        if isinstance(self._of, SampleCounts):
            return self._of
        kind = needs_all(statistic)
        if kind not in self._known:
            n = counted(self._of, statistic)
            self._known[kind] = n if self._raters is None else n._replace(raters=self._raters)
        return self._known[kind]

    def _agreement(self, name: str, estimate: Estimate) -> Agreement:
        n = self._n(name)
        n = n._replace(reasons=dict(n.reasons))
        return with_interval(
            estimate, self.study_data.how, self.field, name, part=self.part, between=self.between,
            planned=planned(self.study_data, name, self.between), clusters=clusters_of(self.study_data), **n._asdict(),
        )  # fmt: skip


def with_interval(result: Estimate, how: How, field: str, statistic: str, **of: Any) -> Agreement:
    """An estimate that was made in this way, as a number; `of` are its n and whose it is."""
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
    """What one of the clusters over which this study's intervals are made is: a run, a task, a user, or an item."""
    clusters: str = study_data.once("clusters", lambda: _clusters_of(study_data))
    return clusters


def _clusters_of(study_data: StudyData) -> str:
    protocol = study_data.study.protocol
    if protocol.unit in _OF_TASKS:
        return "task"
    owned = protocol.reference or protocol.unit in _OF_TEXTS or not {"screens", "actions"} & set(protocol.shows)
    if owned and any(unit.cluster for unit in study_data.units):
        return "user"
    return "run" if not study_data.units or any(unit.runs for unit in study_data.units) else "item"


def planned(study_data: StudyData, name: str, between: str) -> bool:
    """Whether a statistic is among those that were settled when the study was frozen."""
    plan_statistics = study_data.study.statistics
    if between == AGAIN and "intra-rater" in plan_statistics:
        return True
    if between.endswith(RUNS):
        return "consistency" in plan_statistics
    if MINUS in between and "paired bootstrap" in plan_statistics:
        return True
    return name.partition(" of ")[0] in plan_statistics
