"""Which statistics a study's fields get: people among themselves, with themselves, and each judge against them."""

from __future__ import annotations

import numpy as np

from annotators.agreement.answers import answers_of, sheets_of, units_laid
from annotators.agreement.derivations import NAMES, Name
from annotators.agreement.estimates import EstimateMaker
from annotators.agreement.fields import (
    derived_numbers,
    missing_of,
    numbers_at,
    numbers_of,
    ratings_of,
    scores_of,
)
from annotators.agreement.item_parts import RatingsPart, derives, parts_of
from annotators.agreement.judges import agreements_of_judges
from annotators.agreement.option_sets import agreements_of_sets
from annotators.agreement.pairs import by_pairs, confusion, disagreeing
from annotators.agreement.planning import runs_wanted
from annotators.agreement.ratings import NumericRatings, Ratings
from annotators.agreement.similarity import coded
from annotators.agreement.statistics_by_kind import of_categories, of_numbers, of_others, why_not
from annotators.agreement.test_retest import agreements_again
from annotators.studied import StudyData
from lab.core.agreement import Agreement
from lab.core.protocol import Field

__all__ = ["agreements", "by_pairs", "confusion", "disagreeing", "runs_wanted"]

WHOLE_SHEET = "worked out of each sheet"
"""The part under which a number stands that follows from a sheet, where a question has the same name."""


def agreements(studied: StudyData) -> list[Agreement]:
    """Everything that follows from the fields' kinds: people among themselves, each judge against most people."""
    numbers: list[Agreement] = []
    for field in studied.study.protocol.fields:
        numbers += _of_people(studied, field)
        numbers += agreements_again(studied, field)
        numbers += agreements_of_judges(studied, field)
    for name in _following(studied):
        part = WHOLE_SHEET if studied.study.protocol.field(name) is not None else ""
        numbers += _in_numbers(studied, derived_numbers(studied, name), part)
    return numbers


def _following(studied: StudyData) -> tuple[Name, ...]:
    """What follows from this study's sheets; of nodes nothing where no question asks whether they were completed."""
    protocol = studied.study.protocol
    if protocol.targets == "tdg nodes" and not any(derives(studied, field) for field in protocol.fields):
        return ()
    return NAMES.get(protocol.targets, ())


def _of_people(studied: StudyData, field: Field) -> list[Agreement]:
    if field.kind in ("nominal", "ordinal", "flag"):
        numbers = [one for part in parts_of(studied, field) for one in _in_categories(studied, field, part)]
        return numbers + (_in_numbers(studied, numbers_of(studied, field.id)) if scores_of(field) else [])
    if field.kind == "interval":
        return _in_numbers(studied, numbers_of(studied, field.id))
    if field.kind == "many":
        return agreements_of_sets(studied, field)
    return _otherwise(studied, field)


def _in_categories(studied: StudyData, field: Field, part: RatingsPart) -> list[Agreement]:
    ratings = ratings_of(studied, field.id, kind=part.kind, derived=part.derived)
    maker = EstimateMaker(studied, field.id, ratings, part.name)
    if why := why_not(ratings.codes >= 0, ratings.raters):
        return [maker.undefined(why)]
    return maker.all(of_categories(studied, field, ratings, of_each(studied, ratings)))


def _in_numbers(studied: StudyData, these: NumericRatings, part: str = "") -> list[Agreement]:
    maker = EstimateMaker(studied, these.field, these, part)
    if why := why_not(~np.isnan(these.values), these.raters, these.reasons):
        return [maker.undefined(why)]
    return maker.all(of_numbers(studied, these, of_each(studied, these)))


def _otherwise(studied: StudyData, field: Field) -> list[Agreement]:
    answers = answers_of(studied, field, studied.people, 1)
    if field.kind == "step":
        these = numbers_of(studied, field.id)
    else:
        values = coded(studied, field, answers.value)
        missing = missing_of(studied, answers.laid, studied.people, answers.why, answers.reasons)
        these = numbers_at(studied, field.id, values, answers.laid, studied.people, missing, people=True)
    maker = EstimateMaker(studied, field.id, these)
    if why := why_not(~np.isnan(these.values), these.raters):
        return [maker.undefined(why)]
    return maker.all(of_others(studied, field, these))


def of_each(studied: StudyData, of: Ratings | NumericRatings) -> int | None:
    """How many of these people each unit was dealt to, of those dealt to several; None where that differs.

    Calibration units, which may go to everybody, do not count.
    """
    rater_numbers = {studied.columns.raters[at].id: at for at in studied.people}
    expected, _ = sheets_of(studied, [rater_numbers[name] for name in of.raters], 1)
    counts = set(expected[units_laid(studied).unit].sum(axis=1).tolist()) - {0, 1}
    return counts.pop() if len(counts) == 1 else None
