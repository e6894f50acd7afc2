"""Columns of answers laid side by side: several raters', or one judge's several runs, over the same places."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence

import numpy as np
import numpy.typing as npt

from annotators.agreement.fields import Derived, ratings_of
from annotators.agreement.ratings import Place, Ratings
from annotators.report.papers.said import asked_units
from annotators.studied import Studied


def stacked(studied: Studied, parts: Sequence[tuple[str, Ratings]]) -> Ratings:
    """The first column of each, under these names, over every place that one of them has; in the study's order."""
    order = {
        Place(unit.id, target): (at, i)
        for at, unit in enumerate(studied.units)
        for i, target in enumerate((*(one.id for one in unit.targets), ""))
    }
    found = {place for _, part in parts for place in part.places}
    places = tuple(sorted(found, key=lambda place: (order.get(place, (len(order), 0)), place)))
    row = {place: at for at, place in enumerate(places)}
    codes = np.full((len(places), len(parts)), -1, dtype=np.int16)
    for at, (_, part) in enumerate(parts):
        if part.places:
            codes[[row[place] for place in part.places], at] = part.codes[:, 0]
    cluster = {unit.id: unit.clustered for unit in studied.units}
    trace, traces = _traces([cluster.get(place.unit, place.unit) for place in places])
    names = tuple(name for name, _ in parts)
    return parts[0][1]._replace(
        codes=codes,
        raters=names,
        trace=trace,
        traces=traces,
        places=places,
        reasons=_lacking([one for _, one in parts]),
    )


def _lacking(parts: Sequence[Ratings]) -> dict[str, int]:
    """Why answers are missing in any of them."""
    reasons: Counter[str] = Counter()
    for part in parts:
        if len(part.raters) == 1:
            reasons.update(part.reasons)
    return dict(sorted(reasons.items()))


def column(ratings: Ratings, at: int) -> Ratings:
    """One rater's column alone."""
    return ratings._replace(codes=ratings.codes[:, at : at + 1], raters=ratings.raters[at : at + 1])


def only(ratings: Ratings, kept: npt.NDArray[np.bool_]) -> Ratings:
    """These places alone; a trace that has none of them is none of its traces."""
    places = tuple(place for place, keep in zip(ratings.places, kept.tolist(), strict=True) if keep)
    trace, traces = _traces([ratings.traces[at] for at in ratings.trace[kept]])
    return ratings._replace(codes=ratings.codes[kept], trace=trace, traces=traces, places=places)


def of_places(ratings: Ratings, places: Collection[Place]) -> Ratings:
    """The places that are among these."""
    return only(ratings, np.array([place in places for place in ratings.places], dtype=np.bool_))


def kinds(studied: Studied) -> dict[Place, str]:
    """What kind each target is of (fixed, flexible; explicit, implicit)."""
    return {Place(unit.id, one.id): one.kind for unit in asked_units(studied) for one in unit.targets}


def runs_of(studied: Studied, rater: int) -> tuple[int, ...]:
    """The numbers of the runs in which a judge rated."""
    columns = studied.columns
    return tuple(int(run) for run in np.unique(columns.run[columns.rater == rater]))


def by_runs(studied: Studied, field: str, rater: int, derived: Derived = "") -> Ratings:
    """What a judge said in each of its runs, a column for each."""
    told = [
        (f"run {run}", ratings_of(studied, field, (rater,), derived=derived, run=run))
        for run in _or_one(studied, rater)
    ]
    return stacked(studied, told)


def _or_one(studied: Studied, rater: int) -> tuple[int, ...]:
    return runs_of(studied, rater) or (1,)


def modal(ratings: Ratings, name: str = "modal") -> Ratings:
    """What was said most often at each place; nothing where two answers tie."""
    counted = np.stack([(ratings.codes == code).sum(axis=1) for code in range(len(ratings.categories))], axis=1)
    most = counted.max(axis=1, initial=0)
    single = (most > 0) & ((counted == most[:, None]).sum(axis=1) == 1)
    codes = np.where(single, counted.argmax(axis=1), -1).astype(np.int16)[:, None]
    return ratings._replace(codes=codes, raters=(name,))


def _traces(clusters: Sequence[str]) -> tuple[npt.NDArray[np.int32], tuple[str, ...]]:
    traces = tuple(dict.fromkeys(clusters))
    at = {name: i for i, name in enumerate(traces)}
    return np.array([at[name] for name in clusters], dtype=np.int32), traces
