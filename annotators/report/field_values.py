"""The answers to one question as numbers: 0 or 1 for each option, the values of a scale."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt
from msgspec.structs import replace

from annotators.agreement.coefficients.additive import Estimate
from annotators.agreement.coefficients.numbers import mean
from annotators.agreement.intervals.estimates import SampleCounts, as_agreement, clusters_of
from annotators.agreement.intervals.intervals import FEW_TRACES, SAME_IN_ALL, estimate, estimate_share
from annotators.agreement.judges import mean_of
from annotators.agreement.option_sets import sets_of, truth_of_sets
from annotators.agreement.ratings.fields import numbers_of, ratings_of, truth_of
from annotators.agreement.ratings.ratings import NO_MAJORITY, Floats, Ints, MissingAnswers, RatedItem, Ratings
from annotators.study_data import StudyData
from lab.core.study.agreement import Agreement
from lab.core.study.protocol import Field, Option
from lab.core.study.rating_sheet import FieldReference
from lab.core.study.report import Number

CHOICES = ("nominal", "ordinal", "flag")
"""Kinds of fields with exactly one option as answer."""
NUMERIC = ("interval", "step")

TOO_FEW = "too few to say"
NOT_APART = "no cluster differs from the rest"
_NO_INTERVAL: Mapping[str, str] = {FEW_TRACES: TOO_FEW, SAME_IN_ALL: NOT_APART}
DESCRIBES = "it describes these answers alone"
"""Reason why a median and a standard deviation have no interval."""

Mask = npt.NDArray[np.bool_]


class AnswerMeasure(NamedTuple):
    """One number of a question: the share of an option, or the mean of a scale.

    `values` (places x raters) are 0 and 1, or the scale's numbers. `agreed` (places) is the majority's or the settled
    answer (of an interval the mean of its raters). nan is none. A mean is between `least` and `most`.
    """

    name: str
    statistic: Literal["share", "mean"]
    values: Floats
    agreed: Floats
    least: float | None = 0.0
    most: float | None = 1.0


class FieldValues(NamedTuple):
    """All measures of a question over the places that these raters answered.

    A mean follows all shares. `missing` covers all places of the question, not only the answered ones. `unit` numbers
    the unit of each place, `settled` counts the settled places.
    """

    field: Field
    measures: tuple[AnswerMeasure, ...]
    raters: tuple[str, ...]
    places: tuple[RatedItem, ...]
    unit: npt.NDArray[np.int64]
    trace: Ints
    traces: tuple[str, ...]
    missing: MissingAnswers
    settled: int = 0

    @property
    def shares(self) -> tuple[AnswerMeasure, ...]:
        return tuple(one for one in self.measures if one.statistic == "share")

    @property
    def mean(self) -> AnswerMeasure | None:
        return next((one for one in self.measures if one.statistic == "mean"), None)

    @property
    def is_given(self) -> Mask:
        """Mask of given answers (places x raters)."""
        return np.isfinite(self.measures[0].values) if self.measures else np.zeros((0, 0), dtype=np.bool_)

    @property
    def reported_measures(self) -> tuple[AnswerMeasure, ...]:
        """Measures in a row of a breakdown: the mean if there is one, else the shares."""
        return (self.mean,) if self.mean is not None else self.measures


def field_values(study_data: StudyData, field: Field, raters: Sequence[int] | None = None) -> FieldValues | None:
    """Return the first answers of these raters (default: the people).

    None for kinds with neither options nor a scale.
    """
    key = ("field values", field.id, None if raters is None else tuple(raters))
    values: FieldValues | None = study_data.cached(key, lambda: _field_values(study_data, field, raters))
    return values


def _field_values(study_data: StudyData, field: Field, raters: Sequence[int] | None) -> FieldValues | None:
    if field.kind in CHOICES:
        return _choice_values(study_data, field, raters)
    if field.kind == "many":
        return _set_values(study_data, field, raters)
    return _number_values(study_data, field, raters) if field.kind in NUMERIC else None


def option_name(option: Option) -> str:
    """Return an option's id, with its text if that is a different word."""
    return (
        option.id
        if option.display_name in (option.id, option.id.replace("_", " "))
        else f"{option.id}: {option.display_name}"
    )


def _choice_values(study_data: StudyData, field: Field, raters: Sequence[int] | None) -> FieldValues:
    ratings = ratings_of(study_data, field.id, raters)
    # A single rater has no majority: their own answer replaces it.
    agreed = (truth_of(study_data, ratings) if raters is None else ratings).codes[:, :1]
    codes, scores = ratings.codes, ratings.scores
    if not agreed.shape[1]:
        agreed = np.full((len(codes), 1), -1, dtype=np.int16)
    measures = [
        AnswerMeasure(name, "share", _indicator(codes, at), _indicator(agreed, at)[:, 0])
        for at, name in enumerate(_category_names(field, ratings))
        if field.kind != "flag" or name == "yes"
    ]
    if scores is not None and scores:
        numbers = np.array([*scores, np.nan])
        measures.append(AnswerMeasure("mean", "mean", numbers[codes], numbers[agreed[:, 0]], min(scores), max(scores)))
    return _values(study_data, field, measures, ratings)


def _category_names(field: Field, ratings: Ratings) -> list[str]:
    names = {option.id: option_name(option) for option in field.options}
    return [names.get(category, category) for category in ratings.categories]


def _indicator(codes: npt.NDArray[np.int16], code: int) -> Floats:
    return np.where(codes < 0, np.nan, (codes == code).astype(np.float64))


def _set_values(study_data: StudyData, field: Field, raters: Sequence[int] | None) -> FieldValues:
    sets = sets_of(study_data, field.id, raters)
    agreed = truth_of_sets(study_data, field) if raters is None else sets
    names = {option.id: option_name(option) for option in field.options}
    measures = []
    for option in sets.options:
        codes, most = sets.option(option).codes, agreed.option(option).codes
        column = _indicator(most, 1)[:, 0] if most.shape[1] else np.full(len(codes), np.nan)
        measures.append(AnswerMeasure(names[option], "share", _indicator(codes, 1), column))
    return _values(study_data, field, measures, sets.numbers)


def _number_values(study_data: StudyData, field: Field, raters: Sequence[int] | None) -> FieldValues:
    numbers = numbers_of(study_data, field.id, raters)
    agreed = mean_of(numbers).values[:, 0]
    for at, place in enumerate(numbers.places):
        settlement = study_data.settled.get((place.unit, FieldReference(place.target, field.id)))
        if settlement is not None and raters is None:
            value = settlement.what.value
            is_number = isinstance(value, int | float) and not isinstance(value, bool)
            agreed[at] = float(value) if is_number else np.nan
    measure = AnswerMeasure("mean", "mean", numbers.values, agreed, field.least, field.most)
    return _values(study_data, field, [measure], numbers)


def _values(study_data: StudyData, field: Field, measures: Sequence[AnswerMeasure], of: object) -> FieldValues:
    raters, places, trace, traces, missing = (
        getattr(of, name) for name in ("raters", "places", "trace", "traces", "missing")
    )
    settled = sum((one.unit, FieldReference(one.target, field.id)) in study_data.settled for one in places)
    numbers: dict[str, int] = {}
    unit = np.fromiter((numbers.setdefault(one.unit, len(numbers)) for one in places), np.int64, len(places))
    return FieldValues(field, tuple(measures), raters, places, unit, trace, traces, missing, settled)


# -- numbers ---------------------------------------------------------------------------------------------------


def answer_number(
    study_data: StudyData, of: FieldValues, measure: AnswerMeasure, *, agreed: bool = False, rows: Mask | None = None,
    rater: int | None = None, part: str = "", between: str = "people", reasons: Mapping[str, int] | None = None,
) -> Number:  # fmt: skip
    """Return a share or mean with its interval over clusters, its n and its missing answers.

    With `agreed` it is about the majority of each item, else every answer counts. `rows` selects places, `rater` a
    column. `reasons` are the missing answers there if the caller has counted them.
    """
    values = measure.agreed[:, None] if agreed else measure.values
    values = values if rater is None else values[:, [rater]]
    is_given = np.isfinite(values) if rows is None else np.isfinite(values) & rows[:, None]
    place, column = np.nonzero(is_given)
    if reasons is None:
        reasons = missing_reasons(of, agreed=agreed, rows=rows, rater=rater)
    lacking = sum(reasons.values())
    items = is_given.any(axis=1)
    answered = of.is_given[items].any(axis=0) if agreed else is_given.any(axis=0)
    counts = SampleCounts(
        len(place), _count_distinct(of.unit[items]), _count_distinct(of.trace[items]), int(answered.sum()),
        lacking / (len(place) + lacking) if lacking else 0.0, dict(reasons),
    )  # fmt: skip
    part = ", ".join(filter(None, (measure.name if measure.statistic == "share" else "", part)))
    if not len(place):
        found = Estimate(None, "no answer" if lacking else "nobody has answered it")
    else:
        is_share = measure.statistic == "share"
        one = mean(values[place, column], of.trace[place], len(of.traces), most=1.0 if is_share else None)
        found = (estimate_share if is_share else estimate)(one, study_data.how)
    number = as_agreement(
        found, study_data.how, of.field.id, measure.statistic, part=part, between=between,
        clusters=clusters_of(study_data), **counts._asdict(),
    )  # fmt: skip
    return number_of(_clip_to_scale(number, measure))


def _count_distinct(numbers: npt.NDArray[Any]) -> int:
    """Return how many different numbers there are."""
    return int((np.bincount(numbers) > 0).sum()) if len(numbers) else 0


def _clip_to_scale(one: Agreement, measure: AnswerMeasure) -> Agreement:
    """Return a number with its interval clipped to its scale."""
    if one.low is None or one.high is None:
        return replace(one, no_interval=_NO_INTERVAL.get(one.no_interval, one.no_interval))
    low = one.low if measure.least is None else max(measure.least, one.low)
    return replace(one, low=low, high=one.high if measure.most is None else min(measure.most, one.high))


def number_of(one: Agreement) -> Number:
    """Return a number as tables of answers print it."""
    return Number(one, 1, 100, " %") if one.statistic.startswith("share") else Number(one)


def missing_reasons(
    of: FieldValues, *, agreed: bool = False, rows: Mask | None = None, rater: int | None = None
) -> dict[str, int]:
    """Return the number of missing answers by reason, or of items without a majority."""
    if agreed:
        lacking = ~np.isfinite(of.measures[0].agreed)
        lacking &= of.is_given.any(axis=1) if rows is None else of.is_given.any(axis=1) & rows
        return {NO_MAJORITY: int(lacking.sum())} if lacking.any() else {}
    missing = of.missing if rater is None else of.missing.by_raters([of.raters[rater]])
    if rows is not None:
        # Missing answers are stored by item, because they also concern items that nobody answered.
        selected_places = {of.places[at] for at in np.flatnonzero(rows).tolist()}
        missing = missing.at_places(selected_places.__contains__)
    return missing.counts()


def descriptive_number(
    of: FieldValues, measure: AnswerMeasure, statistic: Literal["median", "sd"], *, agreed: bool = False
) -> Number:
    """Return the median or the standard deviation (n - 1) of a scale's values."""
    values = measure.agreed if agreed else measure.values
    found = values[np.isfinite(values)]
    items = np.isfinite(values.reshape(len(of.places), -1)).any(axis=1)
    n: dict[str, Any] = {
        "places": len(found), "units": _count_distinct(of.unit[items]),
        "traces": _count_distinct(of.trace[items]), "raters": int(of.is_given.any(axis=0).sum()),
    }  # fmt: skip
    if len(found) < (2 if statistic == "sd" else 1):
        return Number(Agreement(of.field.id, statistic, undefined="too few answers", **n))
    value = float(np.median(found) if statistic == "median" else found.std(ddof=1))
    return Number(Agreement(of.field.id, statistic, value, no_interval=DESCRIBES, **n))
