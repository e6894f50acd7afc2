"""A statistic made into a number to print: with its interval, its n, and what was missing."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from annotators.agreement.additive import Additive, Estimate
from annotators.agreement.intervals import difference, estimate
from annotators.agreement.ratings import Numbers, Ratings
from annotators.studied import Studied
from lab.agreement import Agreement

Statistic = tuple[str, Callable[[], Additive]]
"""A statistic's name, and what makes it."""

AGAIN = "the same person again"
"""Between whom, where each rater's repeated ratings are compared with the first."""
RUNS = "'s runs"
"""Behind a judge's name, where its runs are compared with one another."""
MINUS = " minus "
AGAINST = " against "
MOST = "most people"
MEAN = "the mean of people"


class Counted(NamedTuple):
    """The n of a statistic, and what was missing where it counts."""

    places: int
    units: int
    traces: int
    raters: int
    missing: float
    reasons: Mapping[str, int]


def counted(of: Ratings | Numbers, least: int = 2) -> Counted:
    """The places at which at least `least` of these answered."""
    there = of.codes >= 0 if isinstance(of, Ratings) else ~np.isnan(of.values)
    rows = np.flatnonzero(there.sum(axis=1) >= least)
    given, lacking = int(there.sum()), sum(of.reasons.values())
    return Counted(
        len(rows),
        len({of.places[row].unit for row in rows.tolist()}),
        len(np.unique(of.trace[rows])),
        int(there[rows].any(axis=0).sum()) if len(rows) else 0,
        lacking / (given + lacking) if given + lacking else 0.0,
        of.reasons,
    )


class Maker:
    """Makes numbers about one field of a study, between the same people, on the same part of it."""

    def __init__(self, studied: Studied, field: str, n: Counted, part: str = "", between: str = "people") -> None:
        self.studied = studied
        self.field = field
        self.n = n
        self.part = part
        self.between = between

    def all(self, statistics: Iterable[Statistic]) -> list[Agreement]:
        """One number for each statistic."""
        return [self.of(name, make()) for name, make in statistics]

    def of(self, name: str, one: Additive) -> Agreement:
        """A statistic with its interval."""
        return self._told(name, estimate(one, self.studied.how))

    def apart(self, name: str, one: Additive, other: Additive) -> Agreement:
        """One statistic minus another over the same traces."""
        return self._told(name, difference(one, other, self.studied.how))

    def undefined(self, why: str, name: str = "agreement") -> Agreement:
        """In place of all numbers, why there is none."""
        return self._told(name, Estimate(None, why))

    def _told(self, name: str, found: Estimate) -> Agreement:
        how, n = self.studied.how, self.n
        interval = found.low is not None
        made = found.interval or how.interval
        drawn = interval and made == "bootstrap"
        return Agreement(
            self.field, name, found.value, found.undefined, self.part, self.between, found.low, found.high,
            found.no_interval, made if interval else "", how.level, how.resamples if drawn else None,
            how.seed if drawn else None, n.places, n.units, n.traces, n.raters, n.missing, dict(n.reasons),
            found.standard_error, planned=planned(self.studied, name, self.between),
            clusters=clusters_of(self.studied),
        )  # fmt: skip


_OF_TASKS = ("task", "task to play", "pair of runs")
_OF_TEXTS = ("pair of instruction sets", "pair of texts")


def clusters_of(studied: Studied) -> str:
    """What one of the clusters over which this study's intervals are made is: a run, a task, or a user."""
    found: str = studied.once("clusters", lambda: _clusters_of(studied))
    return found


def _clusters_of(studied: Studied) -> str:
    protocol = studied.study.protocol
    if protocol.unit in _OF_TASKS:
        return "task"
    owned = protocol.reference or protocol.unit in _OF_TEXTS or not {"screens", "actions"} & set(protocol.shows)
    return "user" if owned and any(unit.cluster for unit in studied.units) else "run"


def planned(studied: Studied, name: str, between: str) -> bool:
    """Whether a statistic is among those that were settled when the study was frozen."""
    wanted = studied.study.statistics
    if between == AGAIN and "intra-rater" in wanted:
        return True
    if between.endswith(RUNS):
        return "consistency" in wanted
    if MINUS in between and "paired bootstrap" in wanted:
        return True
    return name.partition(" of ")[0] in wanted


def masked(codes: npt.NDArray[np.int16], rows: npt.NDArray[np.bool_]) -> npt.NDArray[np.int16]:
    """Codes with the other rows missing."""
    return np.where(rows[:, None], codes, np.int16(-1))
