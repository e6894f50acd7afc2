"""Subsets of a study's answers for papers: targets of one kind, some units, a judge's runs and their mode."""

from __future__ import annotations

from collections.abc import Callable, Collection

import numpy as np

from annotators.agreement.ratings.fields import Derived, clusters_at
from annotators.agreement.ratings.item_parts import RatingsPart
from annotators.agreement.ratings.ratings import NO_MAJORITY, MissingAnswers, RatedItem, Ratings, missing_of_all
from annotators.agreement.test_retest import runs_of
from annotators.papers.field_answers import asked_units
from annotators.study_data import StudyData


def column(ratings: Ratings, at: int) -> Ratings:
    """Return one rater's column with their missing answers."""
    return ratings.by_raters((at,))


def select_places(study_data: StudyData, ratings: Ratings, keeps: Callable[[RatedItem], bool]) -> Ratings:
    """Return only some items with their missing answers, and only the traces of these items."""
    rows = np.array([keeps(place) for place in ratings.places], dtype=np.bool_)
    places = tuple(place for place, keep in zip(ratings.places, rows.tolist(), strict=True) if keep)
    trace, traces = clusters_at(study_data, places)
    return ratings._replace(
        codes=ratings.codes[rows], trace=trace, traces=traces, places=places, missing=ratings.missing.at_places(keeps)
    )


def of_places(study_data: StudyData, ratings: Ratings, places: Collection[RatedItem]) -> Ratings:
    """Return only the given places."""
    return select_places(study_data, ratings, lambda place: place in places)


def of_units(study_data: StudyData, ratings: Ratings, units: Collection[str]) -> Ratings:
    """Return only the items of these units."""
    return select_places(study_data, ratings, lambda place: place.unit in units)


def kinds(study_data: StudyData) -> dict[RatedItem, str]:
    """Return the kind of each target (fixed or flexible, explicit or implicit)."""
    return {RatedItem(unit.id, one.id): one.kind for unit in asked_units(study_data) for one in unit.targets}


def judge_runs(study_data: StudyData, field: str, rater: int, derived: Derived = "") -> Ratings:
    """Return a judge's answers with one column per run."""
    return runs_of(study_data, field, rater, RatingsPart(derived=derived))


def modal_answers(ratings: Ratings, name: str = "modal") -> Ratings:
    """Return the most frequent answer at each place, missing if two answers tie.

    Missing places without any answer have the first column's reasons. Ties have the reason that there is no majority.
    """
    tally = np.stack([(ratings.codes == code).sum(axis=1) for code in range(len(ratings.categories))], axis=1)
    most = tally.max(axis=1, initial=0)
    # A tie of two answers has no most frequent one.
    has_mode = (most > 0) & ((tally == most[:, None]).sum(axis=1) == 1)
    codes = np.where(has_mode, tally.argmax(axis=1), -1).astype(np.int16)[:, None]
    places = set(ratings.places)
    ties = MissingAnswers.one_each((ratings.places[row], NO_MAJORITY) for row in np.flatnonzero(~has_mode).tolist())
    without_answer = ratings.missing.by_raters(ratings.raters[:1]).at_places(lambda place: place not in places)
    return ratings._replace(codes=codes, raters=(name,), missing=missing_of_all((ties, without_answer)))
