"""Repeated ratings: how far a person agrees with themselves, and how far a judge's runs with one another."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from annotators.agreement import coefficients, numbers
from annotators.agreement.additive import Additive
from annotators.agreement.alike import apart
from annotators.agreement.fields import beside, numbers_beside, numbers_of, ratings_of, scores_of
from annotators.agreement.made import AGAIN, RUNS, Counted, Maker, Statistic, counted
from annotators.agreement.parts import Part, derives, parts_of
from annotators.agreement.ratings import Numbers, Ratings
from annotators.studied import Studied
from lab.agreement import Agreement
from lab.protocol import Field

CATEGORICAL = ("nominal", "ordinal", "flag")


def runs_there(studied: Studied, raters: Sequence[int]) -> list[int]:
    """The numbers of the ratings that these raters made, from 1."""
    columns = studied.columns
    return [int(run) for run in np.unique(columns.run[np.isin(columns.rater, list(raters))])]


def agreements_again(studied: Studied, field: Field) -> list[Agreement]:
    """A field's agreement of first and repeated ratings; nothing where nothing was rated twice."""
    found: list[Agreement] = []
    if len(runs_there(studied, studied.people)) > 1:
        found += _of_people(studied, field)
    for judge in studied.judges:
        if len(runs_there(studied, [judge])) > 1:
            found += _of_judge(studied, field, judge)
    return found


def _of_people(studied: Studied, field: Field) -> list[Agreement]:
    found: list[Agreement] = []
    if field.kind in CATEGORICAL:
        two = repeated(studied, field.id)
        if len(two.places):
            maker = Maker(studied, field.id, _n(studied, two), between=AGAIN)
            found += maker.all(_of_two(field, two))
    if field.kind == "interval" or scores_of(field):
        these = numbers_repeated(studied, field.id)
        if len(these.places):
            maker = Maker(studied, field.id, _n(studied, these), between=AGAIN)
            found += maker.all([("icc(A,1)", lambda: numbers.icc(these, "A,1")), ("mae", lambda: apart(these))])
    return found


def _n(studied: Studied, of: Ratings | Numbers) -> Counted:
    """The n of repeated ratings: who made any are the raters."""
    columns = studied.columns
    twice = np.unique(columns.rater[(columns.run == 2) & np.isin(columns.rater, studied.people)])
    return counted(of)._replace(raters=len(twice))


def _of_two(field: Field, two: Ratings) -> list[Statistic]:
    found: list[Statistic] = [
        ("percent", lambda: coefficients.percent(two)),
        ("cohen kappa", lambda: coefficients.cohen_kappa(two)),
        ("ac1", lambda: coefficients.gwet_ac(two)),
    ]
    if field.kind == "ordinal":
        weights = coefficients.quadratic(len(two.categories))
        found.insert(2, ("weighted kappa", lambda: coefficients.cohen_kappa(two, weights)))
    return found


def repeated(studied: Studied, field: str) -> Ratings:
    """Two columns, `first` and `again`: every place that a person rated twice, each person's for themselves.

    A third rating counts no more; a place that several people rated twice stands once for each of them.
    """
    parts: list[Ratings] = []
    for rater in studied.people:
        again = ratings_of(studied, field, [rater], run=2)
        parts.append(beside(again, ratings_of(studied, field, [rater], run=1)))
    clusters = {name: at for at, name in enumerate(dict.fromkeys(name for one in parts for name in one.traces))}
    whole = ratings_of(studied, field)
    codes = np.concatenate([one.codes[:, ::-1] for one in parts]) if parts else np.zeros((0, 2), dtype=np.int16)
    trace = [clusters[one.traces[at]] for one in parts for at in one.trace.tolist()]
    return whole._replace(
        codes=codes, raters=("first", "again"), trace=np.array(trace, dtype=np.int32), traces=tuple(clusters),
        places=tuple(place for one in parts for place in one.places), reasons={},
    )  # fmt: skip


def numbers_repeated(studied: Studied, field: str) -> Numbers:
    """The same of numbers."""
    parts: list[Numbers] = []
    for rater in studied.people:
        again = numbers_of(studied, field, [rater], run=2)
        parts.append(numbers_beside(again, numbers_of(studied, field, [rater], run=1)))
    clusters = {name: at for at, name in enumerate(dict.fromkeys(name for one in parts for name in one.traces))}
    values = np.concatenate([one.values[:, ::-1] for one in parts]) if parts else np.zeros((0, 2))
    trace = [clusters[one.traces[at]] for one in parts for at in one.trace.tolist()]
    places = tuple(place for one in parts for place in one.places)
    return Numbers(field, values, ("first", "again"), np.array(trace, dtype=np.int32), tuple(clusters), places)


def runs_of(studied: Studied, field: str, judge: int, part: Part = Part()) -> Ratings:  # noqa: B008  # frozen
    """A judge's runs as columns, over the places that its first rated: `run 1`, `run 2`, ..."""
    runs = runs_there(studied, [judge])
    whole: Ratings | None = None
    for run in runs:
        one = ratings_of(studied, field, [judge], kind=part.kind, derived=part.derived, run=run)
        one = one._replace(raters=(f"run {run}",), reasons={})
        whole = one if whole is None else beside(whole, one)
    assert whole is not None
    return whole


def _of_judge(studied: Studied, field: Field, judge: int) -> list[Agreement]:
    between = studied.columns.raters[judge].id + RUNS
    if field.kind in CATEGORICAL:
        found: list[Agreement] = []
        for part in parts_of(studied, field) if derives(studied, field) else [Part()]:
            runs = runs_of(studied, field.id, judge, part)
            if runs.codes.any() or len(runs.places):
                maker = Maker(studied, field.id, counted(runs)._replace(raters=1), part.name, between)
                found.append(maker.of("percent", coefficients.percent(runs)))
                found.append(maker.of("percent exact", coefficients.percent_exact(runs)))
        return found
    if field.kind != "interval":
        return []
    these: Numbers | None = None
    for run in runs_there(studied, [judge]):
        one = numbers_of(studied, field.id, [judge], run=run)._replace(raters=(f"run {run}",), reasons={})
        these = one if these is None else numbers_beside(these, one)
    if these is None or not len(these.places):
        return []
    made: Additive = apart(these)
    return [Maker(studied, field.id, counted(these)._replace(raters=1), between=between).of("mae", made)]
