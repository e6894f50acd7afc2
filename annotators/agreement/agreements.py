"""Statistics of each field of a study: people among themselves, test-retest, and each judge against people."""

from __future__ import annotations

from math import asinh, ceil, exp, log

import numpy as np

from annotators.agreement.coefficients.similarity import answer_codes
from annotators.agreement.intervals.estimates import MINUS, EstimateMaker
from annotators.agreement.judges import agreements_of_judges
from annotators.agreement.option_sets import agreements_of_sets
from annotators.agreement.pairs import agreements_by_pair, confusion, disputed_places
from annotators.agreement.ratings.answers import answers_of, places_of_units, sheets_of
from annotators.agreement.ratings.derivations import NAMES, Name
from annotators.agreement.ratings.fields import (
    derived_numbers,
    missing_of,
    numbers_at,
    numbers_of,
    ratings_of,
    scores_of,
)
from annotators.agreement.ratings.item_parts import RatingsPart, has_derivation, parts_of
from annotators.agreement.ratings.ratings import NumericRatings, Ratings
from annotators.agreement.statistics_by_kind import (
    category_statistics,
    number_statistics,
    other_statistics,
    why_not_comparable,
)
from annotators.agreement.test_retest import agreements_again
from annotators.study_data import StudyData
from lab.core.study.agreement import Agreement
from lab.core.study.protocol import Field

__all__ = ["agreements", "agreements_by_pair", "confusion", "disputed_places", "runs_wanted"]

WHOLE_SHEET = "worked out of each sheet"
"""Part name of a number derived from a whole sheet, if a field has the same name."""


def agreements(study_data: StudyData) -> list[Agreement]:
    """Return all statistics that the fields' kinds imply: people among themselves, judges against the majority."""
    numbers: list[Agreement] = []
    for field in study_data.study.protocol.fields:
        numbers += _agreements_of_people(study_data, field)
        numbers += agreements_again(study_data, field)
        numbers += agreements_of_judges(study_data, field)
    for name in _derived_names(study_data):
        # A field may have the same id as a derived number. The part then tells them apart.
        part = WHOLE_SHEET if study_data.study.protocol.field(name) is not None else ""
        numbers += _agreements_of_numbers(study_data, derived_numbers(study_data, name), part)
    return numbers


def _derived_names(study_data: StudyData) -> tuple[Name, ...]:
    """Return the names derived from this study's sheets.

    For tdg nodes there are none unless a field asks whether nodes were completed.
    """
    protocol = study_data.study.protocol
    if protocol.targets == "tdg nodes" and not any(has_derivation(study_data, field) for field in protocol.fields):
        return ()
    return NAMES.get(protocol.targets, ())


def _agreements_of_people(study_data: StudyData, field: Field) -> list[Agreement]:
    if field.kind in ("nominal", "ordinal", "flag"):
        numbers = [
            one for part in parts_of(study_data, field) for one in _agreements_of_categories(study_data, field, part)
        ]
        return numbers + (
            _agreements_of_numbers(study_data, numbers_of(study_data, field.id)) if scores_of(field) else []
        )
    if field.kind == "interval":
        return _agreements_of_numbers(study_data, numbers_of(study_data, field.id))
    if field.kind == "many":
        return agreements_of_sets(study_data, field)
    return _agreements_of_others(study_data, field)


def _agreements_of_categories(study_data: StudyData, field: Field, part: RatingsPart) -> list[Agreement]:
    ratings = ratings_of(study_data, field.id, kind=part.kind, derived=part.derived)
    maker = EstimateMaker(study_data, field.id, ratings, part.name)
    if why := why_not_comparable(study_data, ratings.codes >= 0, ratings.raters):
        return [maker.undefined(why)]
    return maker.numbers(category_statistics(study_data, field, ratings, raters_per_unit(study_data, ratings)))


def _agreements_of_numbers(study_data: StudyData, these: NumericRatings, part: str = "") -> list[Agreement]:
    maker = EstimateMaker(study_data, these.field, these, part)
    if why := why_not_comparable(study_data, ~np.isnan(these.values), these.raters, these.reasons):
        return [maker.undefined(why)]
    return maker.numbers(number_statistics(study_data, these, raters_per_unit(study_data, these)))


def _agreements_of_others(study_data: StudyData, field: Field) -> list[Agreement]:
    answers = answers_of(study_data, field, study_data.people, 1)
    if field.kind == "step":
        these = numbers_of(study_data, field.id)
    else:
        values = answer_codes(study_data, field, answers.value)
        missing = missing_of(study_data, answers.places, study_data.people, answers.why, answers.reasons)
        these = numbers_at(study_data, field.id, values, answers.places, study_data.people, missing, people=True)
    maker = EstimateMaker(study_data, field.id, these)
    if why := why_not_comparable(study_data, ~np.isnan(these.values), these.raters):
        return [maker.undefined(why)]
    return maker.numbers(other_statistics(study_data, field, these))


def raters_per_unit(study_data: StudyData, of: Ratings | NumericRatings) -> int | None:
    """Return the number of these raters that each shared unit was dealt to, or None if it differs between units.

    Calibration units do not count because they may go to everyone. Units of one rater do not count either.
    """
    rater_numbers = {study_data.columns.raters[at].id: at for at in study_data.people}
    expected, _ = sheets_of(study_data, [rater_numbers[name] for name in of.raters], 1)
    counts = set(expected[places_of_units(study_data).unit].sum(axis=1).tolist()) - {0, 1}
    return counts.pop() if len(counts) == 1 else None


_UNBOUNDED = ("mae", "mse")


def runs_wanted(one: Agreement, width: float) -> int | None:
    """Return the total number of traces that would narrow an interval to `width`, or None if unknown.

    It is an estimate for an unchanged spread. The half-width shrinks as one over the root of the number of traces, on
    the scale of the interval: log of the distance from 1, or the statistic's own if it has no such bound.
    """
    if one.value is None or one.low is None or one.high is None or one.traces < 1 or width <= 0:
        return None
    if one.high <= one.low:
        return None
    # These have no maximum of 1, so their interval was not made on the log scale.
    own = one.statistic in _UNBOUNDED or MINUS in one.between
    if own or one.high >= 1 or one.value >= 1:
        width_ratio = (one.high - one.low) / width
    else:
        half = (log(1 - one.low) - log(1 - one.high)) / 2
        middle = exp((log(1 - one.low) + log(1 - one.high)) / 2)
        # On the log scale the width is 2 * middle * sinh(half), so this half-width gives `width`.
        width_ratio = half / asinh(width / (2 * middle))
    # Without the tolerance, rounding could ask for one run too many.
    return max(2, ceil(one.traces * width_ratio * width_ratio - 1e-9))
