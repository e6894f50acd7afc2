"""Repeated ratings: agreement of a person with themselves, and of a judge's runs with one another."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from annotators.agreement.coefficients import categorical, numbers
from annotators.agreement.coefficients.similarity import pairwise_mae
from annotators.agreement.intervals.estimates import AGAIN, RUNS, EstimateMaker, Statistic
from annotators.agreement.option_sets import sets_again, sets_of_judge_again
from annotators.agreement.ratings.fields import (
    CATEGORICAL,
    clusters_at,
    numbers_of,
    numeric_truth_and_rater,
    ratings_of,
    scores_of,
    stack_columns,
    truth_and_rater,
)
from annotators.agreement.ratings.item_parts import RatingsPart, has_derivation, parts_of
from annotators.agreement.ratings.ratings import Ints, NumericRatings, RatedItem, Ratings, missing_of_all
from annotators.agreement.statistics_by_kind import weighted
from annotators.study_data import StudyData
from lab.core.study.agreement import Agreement
from lab.core.study.protocol import Field


def rating_numbers(study_data: StudyData, raters: Sequence[int]) -> list[int]:
    """Return the numbers of the ratings that these raters made, from 1."""
    columns = study_data.columns
    return [int(run) for run in np.unique(columns.run[np.isin(columns.rater, list(raters))])]


def agreements_again(study_data: StudyData, field: Field) -> list[Agreement]:
    """Return a field's agreement of first and repeated ratings, empty if nothing was rated twice."""
    numeric: list[Agreement] = []
    if len(rating_numbers(study_data, study_data.people)) > 1:
        numeric += _agreements_of_people(study_data, field)
    for judge in study_data.judges:
        if len(rating_numbers(study_data, [judge])) > 1:
            numeric += _agreements_of_judge(study_data, field, judge)
    return numeric


def _agreements_of_people(study_data: StudyData, field: Field) -> list[Agreement]:
    agreements: list[Agreement] = sets_again(study_data, field) if field.kind == "many" else []
    if field.kind in CATEGORICAL:
        two, raters = repeated_ratings(study_data, field.id)
        if len(two.places):
            maker = EstimateMaker(study_data, field.id, two, between=AGAIN, raters=raters)
            agreements += maker.numbers(_pair_statistics(field, two))
    if field.kind == "interval" or scores_of(field):
        these, raters = numbers_repeated(study_data, field.id)
        if len(these.places):
            maker = EstimateMaker(study_data, field.id, these, between=AGAIN, raters=raters)
            agreements += maker.numbers(
                [("icc(A,1)", lambda: numbers.icc(these, "A,1")), ("mae", lambda: pairwise_mae(these))]
            )
    return agreements


def _pair_statistics(field: Field, two: Ratings) -> list[Statistic]:
    statistics: list[Statistic] = [
        ("percent", lambda: categorical.percent(two)),
        ("cohen kappa", lambda: categorical.cohen_kappa(two)),
        ("ac1", lambda: categorical.gwet_ac(two)),
    ]
    return statistics + (weighted(two) if field.kind == "ordinal" else [])


def repeated_ratings(study_data: StudyData, field: str) -> tuple[Ratings, int]:
    """Return two columns, `first` and `again`, and the number of people who rated something twice.

    They cover every place that a person was to rate twice, separately for each person. Third ratings do not count.
    """
    parts = [
        truth_and_rater(ratings_of(study_data, field, [rater], run=2), ratings_of(study_data, field, [rater], run=1))
        for rater in study_data.people
    ]
    # `truth_and_rater` puts the second rating first, because the truth's place is its first column.
    codes = np.concatenate([one.codes[:, ::-1] for one in parts]) if parts else np.zeros((0, 2), dtype=np.int16)
    trace, traces = _clusters(parts)
    return ratings_of(study_data, field)._replace(
        codes=codes, raters=("first", "again"), trace=trace, traces=traces, places=_places(parts),
        missing=missing_of_all([one.missing for one in parts]),
    ), _raters(parts)  # fmt: skip


def numbers_repeated(study_data: StudyData, field: str) -> tuple[NumericRatings, int]:
    """Return the same as `repeated_ratings` for numbers."""
    parts = [
        numeric_truth_and_rater(
            numbers_of(study_data, field, [rater], run=2), numbers_of(study_data, field, [rater], run=1)
        )
        for rater in study_data.people
    ]
    values = np.concatenate([one.values[:, ::-1] for one in parts]) if parts else np.zeros((0, 2))
    missing = missing_of_all([one.missing for one in parts])
    return NumericRatings(field, values, ("first", "again"), *_clusters(parts), _places(parts), missing), _raters(parts)


def _clusters(parts: Sequence[Ratings] | Sequence[NumericRatings]) -> tuple[Ints, tuple[str, ...]]:
    """Return the clusters of all parts' places."""
    at = {name: i for i, name in enumerate(dict.fromkeys(name for one in parts for name in one.traces))}
    return np.array([at[one.traces[i]] for one in parts for i in one.trace.tolist()], dtype=np.int32), tuple(at)


def _places(parts: Sequence[Ratings] | Sequence[NumericRatings]) -> tuple[RatedItem, ...]:
    return tuple(place for one in parts for place in one.places)


def _raters(parts: Sequence[Ratings] | Sequence[NumericRatings]) -> int:
    """Return the number of people with a place that they rated twice."""
    return sum(bool(one.is_given.all(axis=1).any()) for one in parts)


def runs_of(study_data: StudyData, field: str, judge: int, part: RatingsPart = RatingsPart()) -> Ratings:  # noqa: B008  # frozen
    """Return a judge's runs as columns `run 1`, `run 2`, ..., over the places that any of them rated."""
    runs = rating_numbers(study_data, [judge]) or [1]
    return stack_columns(
        study_data,
        [
            (f"run {run}", ratings_of(study_data, field, [judge], kind=part.kind, derived=part.derived, run=run))
            for run in runs
        ],
    )


def _agreements_of_judge(study_data: StudyData, field: Field, judge: int) -> list[Agreement]:
    between = study_data.columns.raters[judge].id + RUNS
    if field.kind in CATEGORICAL:
        numeric: list[Agreement] = []
        for part in parts_of(study_data, field) if has_derivation(study_data, field) else [RatingsPart()]:
            runs = runs_of(study_data, field.id, judge, part)
            if len(runs.places):
                maker = EstimateMaker(study_data, field.id, runs, part.name, between, raters=1)
                numeric.append(maker.number("percent", categorical.percent(runs)))
                numeric.append(maker.number("percent exact", categorical.percent_exact(runs)))
        return numeric
    if field.kind == "many":
        return sets_of_judge_again(study_data, field, judge, rating_numbers(study_data, [judge]))
    if field.kind != "interval":
        return []
    these = numbers_by_run(study_data, field.id, judge)
    if not len(these.places):
        return []
    return [EstimateMaker(study_data, field.id, these, between=between, raters=1).number("mae", pairwise_mae(these))]


def numbers_by_run(study_data: StudyData, field: str, judge: int) -> NumericRatings:
    """Return a judge's numeric runs as columns, over the places that any of them rated."""
    parts = [numbers_of(study_data, field, [judge], run=run) for run in rating_numbers(study_data, [judge])]
    places = tuple(dict.fromkeys(place for one in parts for place in one.places))
    at = {place: row for row, place in enumerate(places)}
    values = np.full((len(places), len(parts)), np.nan)
    for column, one in enumerate(parts):
        values[[at[place] for place in one.places], column] = one.values[:, 0]
    missing = missing_of_all([one.missing for one in parts])
    names = tuple(f"run {run}" for run in rating_numbers(study_data, [judge]))
    return NumericRatings(field, values, names, *clusters_at(study_data, places), places, missing)
