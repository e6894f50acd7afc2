"""Answers of a judge and people in categorical fields. Each option of a field of many options is a field by itself."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from msgspec.structs import replace

from annotators.agreement.option_sets import sets_of, sets_of_runs, truth_of_sets
from annotators.agreement.ratings.fields import CATEGORICAL, ratings_of, truth_of
from annotators.agreement.ratings.ratings import Ratings
from annotators.agreement.test_retest import rating_numbers, runs_of
from annotators.study_data import StudyData
from lab.core.study.protocol import Field


class JudgedRatings(NamedTuple):
    """A judge's first run, all its runs, the people, and their settled answers, over the same categories.

    `field` is the protocol's, or one option of it as a flag with the id `FIELD: OPTION`.
    """

    field: Field
    said: Ratings
    runs: Ratings
    people: Ratings
    truth: Ratings


def judged_ratings(study_data: StudyData, judge: int) -> Iterator[JudgedRatings]:
    """Yield a judge's ratings at each categorical field that it answered. `judge` is an index into the columns."""
    for field in study_data.study.protocol.fields:
        if field.kind in CATEGORICAL:
            judge_ratings, people = ratings_of(study_data, field.id, [judge]), ratings_of(study_data, field.id)
            if judge_ratings.places:
                yield JudgedRatings(
                    field, judge_ratings, runs_of(study_data, field.id, judge), people, truth_of(study_data, people)
                )
        elif field.kind == "many":
            yield from _options(study_data, field, judge)


def _options(study_data: StudyData, field: Field, judge: int) -> Iterator[JudgedRatings]:
    judge_sets = sets_of(study_data, field.id, [judge])
    runs = sets_of_runs(study_data, field, judge, rating_numbers(study_data, [judge]) or [1])
    if runs is None or not judge_sets.numbers.places:
        return
    people, truth = sets_of(study_data, field.id), truth_of_sets(study_data, field)
    for id in judge_sets.options:
        name, option = f"{field.id}: {id}", field.option(id)
        title = f"{field.display_name}: {option.display_name if option is not None else id}"
        one = replace(field, id=name, says=title, kind="flag", options=())
        every = (these.option(id)._replace(field=name) for these in (judge_sets, runs, people, truth))
        yield JudgedRatings(one, *every)
