"""Arrays from labels: the ratings of a field, before and after derivation, and the majority's answers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from annotators.agreement.ratings.answers import (
    NOT_HANDED_IN,
    NOT_RATED,
    FieldAnswers,
    FieldPlaces,
    Ints,
    Mask,
    answers_of,
    field_named,
    places_of,
    places_of_units,
    sheets_of,
)
from annotators.agreement.ratings.derivations import NOTHING_FOLLOWS, Name, derived_codes, values_of
from annotators.agreement.ratings.ratings import (
    NO_MAJORITY,
    Floats,
    MissingAnswers,
    NumericRatings,
    RatedItem,
    Ratings,
    missing_of_all,
)
from annotators.study_data import StudyData
from lab.core.codec import encode
from lab.core.study.adjudication import SignedSettlement
from lab.core.study.protocol import Field
from lab.core.study.rating_sheet import FieldReference

Derived = Literal["", "before", "after"]
Codes = npt.NDArray[np.int16]

CATEGORICAL = ("nominal", "ordinal", "flag")
"""Kinds of fields whose answers are categories."""
FLAG = ("no", "yes")
"""Categories of a flag: not raised and raised."""
TRUTH = "truth"
"""Name of the rater that represents the majority, or the person who settled an item."""


def ratings_of(
    study_data: StudyData, field: str, raters: Sequence[int] | None = None, *, kind: str = "", derived: Derived = "",
    run: int = 1,
) -> Ratings:  # fmt: skip
    """Return the answers of raters (indices into the columns, default: the people) to a nominal, ordinal or flag field.

    The answers are those of each rater's `run`-th rating. A flag that was not raised on a sheet that is handed in is
    `no`. `kind` selects targets of one kind (fixed, flexible). `derived="after"` first applies paths and the dependency
    rule (tdg only). Pilot units and a rule's answers never count. A person without answers gets no column; the answers
    that they owe are counted in `missing`. The rows are the items that at least one rater answered.
    """
    who = tuple(study_data.people if raters is None else raters)
    key = ("ratings", field, who, raters is None, kind, derived == "after", run)
    ratings: Ratings = study_data.cached(
        key, lambda: _ratings(study_data, field_named(study_data, field), who, kind, derived, run, raters is None)
    )
    return ratings._replace(derived=derived)


def _ratings(
    study_data: StudyData, field: Field, raters: tuple[int, ...], kind: str, derived: Derived, run: int, people: bool
) -> Ratings:
    answers = answers_of(study_data, field, raters, run)
    codes, why = codes_of(study_data, field, answers), answers.why
    names = answers.reasons
    if derived == "after":
        codes, why, names = derived_codes(study_data, field, raters, run, codes, answers)
    of_kind = _of_kind(answers.places, kind)
    has_answer = (codes >= 0).any(axis=1) & of_kind
    missing = missing_of(
        study_data, answers.places, raters, np.where(of_kind[:, None], why, -1).astype(np.int32), names
    )
    # People who answered nothing would make every coefficient one of more raters.
    column: Mask = np.asarray((codes >= 0).any(axis=0)) if people else np.ones(len(raters), dtype=np.bool_)
    trace, traces = _clusters(answers.places, has_answer)
    return Ratings(
        field.id, categories_of(study_data, field), codes[has_answer][:, column],
        tuple(study_data.columns.raters[one].id for one, here in zip(raters, column, strict=True) if here),
        trace, traces, _select_places(answers.places.places, has_answer), scores_of(field), missing,
    )  # fmt: skip


def numbers_of(
    study_data: StudyData, field: str, raters: Sequence[int] | None = None, *, run: int = 1
) -> NumericRatings:
    """Return raters' numbers in an interval or step field, or in an ordinal one whose options are numbers."""
    who = tuple(study_data.people if raters is None else raters)
    key = ("numbers", field, who, raters is None, run)
    numbers: NumericRatings = study_data.cached(
        key, lambda: _numbers(study_data, field_named(study_data, field), who, run, raters is None)
    )
    return numbers


def _numbers(study_data: StudyData, field: Field, raters: tuple[int, ...], run: int, people: bool) -> NumericRatings:
    answers = answers_of(study_data, field, raters, run)
    # An ordinal scale such as "1" to "5" is numeric as well.
    scores = scores_of(field)
    if scores is not None:
        score_by_code = np.array([*scores, np.nan])
        values = score_by_code[codes_of(study_data, field, answers)]
    else:
        # The two appended values belong to a flag that was not raised and to index -1, no answer.
        values = np.array([*map(_as_float, study_data.columns.values), np.nan, np.nan])[answers.value]
    missing = missing_of(study_data, answers.places, raters, answers.why, answers.reasons)
    return numbers_at(study_data, field.id, values, answers.places, raters, missing, people=people)


def numbers_at(
    study_data: StudyData,
    name: str,
    values: Floats,
    field_places: FieldPlaces,
    raters: Sequence[int],
    missing: MissingAnswers,
    *,
    people: bool,
) -> NumericRatings:
    """Return the numbers at a field's places, without places that have none.

    If `people`, raters without any number are left out too.
    """
    has_number: Mask = np.asarray(~np.isnan(values).all(axis=1))
    column: Mask = np.asarray(~np.isnan(values).all(axis=0)) if people else np.ones(len(raters), dtype=np.bool_)
    trace, traces = _clusters(field_places, has_number)
    names = tuple(study_data.columns.raters[one].id for one, here in zip(raters, column, strict=True) if here)
    return NumericRatings(
        name,
        values[has_number][:, column],
        names,
        trace,
        traces,
        _select_places(field_places.places, has_number),
        missing,
    )


def derived_numbers(
    study_data: StudyData, name: Name, raters: Sequence[int] | None = None, *, run: int = 1
) -> NumericRatings:
    """Return the value derived from each rater's sheet: `apr`, `ppr`, `irr`, a score, or right `decisions`."""
    who = tuple(study_data.people if raters is None else raters)
    key = ("derived", name, who, raters is None, run)
    ratings: NumericRatings = study_data.cached(
        key, lambda: _derived_ratings(study_data, name, who, run, raters is None)
    )
    return ratings


def _derived_ratings(
    study_data: StudyData, name: Name, raters: tuple[int, ...], run: int, people: bool
) -> NumericRatings:
    unit_places = places_of_units(study_data)
    at = {unit: i for i, unit in enumerate(unit_places.unit.tolist())}
    column = {rater: i for i, rater in enumerate(raters)}
    values = np.full((len(unit_places.places), len(raters)), np.nan)
    reasons = (NOT_HANDED_IN, NOT_RATED, NOTHING_FOLLOWS)
    expected, handed = sheets_of(study_data, raters, run)
    judge = np.array([one in study_data.judges for one in raters], dtype=np.bool_)
    why = np.where((expected & ~handed)[unit_places.unit], np.where(judge, 1, 0), -1).astype(np.int32)
    for (unit, rater), value in values_of(study_data, name, raters, run).items():
        if value is None:
            why[at[unit], column[rater]] = reasons.index(NOTHING_FOLLOWS)
        else:
            values[at[unit], column[rater]] = value
    missing = missing_of(study_data, unit_places, raters, why, reasons)
    return numbers_at(study_data, name, values, unit_places, raters, missing, people=people)


def _as_float(value: Any) -> float:
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else float("nan")


def categories_of(study_data: StudyData, field: Field) -> tuple[str, ...]:
    """Return a field's answers in declared order.

    A branch has those of all its targets, in their order. Options that only a rule sets are left out, because nobody
    can choose them.
    """
    if field.kind == "flag":
        return FLAG
    if field.options:
        return tuple(option.id for option in field.options if not option.by_rule)
    categories: tuple[str, ...] = study_data.cached(
        ("categories", field.id),
        lambda: tuple(dict.fromkeys(way for unit in study_data.units for one in unit.targets for way in one.options)),
    )
    return categories


def scores_of(field: Field) -> tuple[float, ...] | None:
    """Return the numbers that an ordinal field's options stand for, or None if they are not numbers."""
    if field.kind != "ordinal":
        return None
    try:
        return tuple(float(option.id) for option in field.options if not option.by_rule)
    except ValueError:
        return None


def codes_of(study_data: StudyData, field: Field, answers: FieldAnswers) -> Codes:
    """Return answers as category codes (places x raters), -1 for none."""
    category_codes = {name: i for i, name in enumerate(categories_of(study_data, field))}
    if field.kind == "flag":
        code_by_value = [int(value) if isinstance(value, bool) else -1 for value in study_data.columns.values]
    else:
        code_by_value = [
            category_codes.get(value, -1) if isinstance(value, str) else -1 for value in study_data.columns.values
        ]
    # Index len(values) is a flag that was not raised (`no`), index -1 is no answer.
    return np.array([*code_by_value, 0, -1], dtype=np.int16)[answers.value]


def _of_kind(field_places: FieldPlaces, kind: str) -> Mask:
    if not kind:
        return np.ones(len(field_places.places), dtype=np.bool_)
    return np.fromiter((one == kind for one in field_places.kinds), dtype=np.bool_, count=len(field_places.kinds))


def missing_of(
    study_data: StudyData, field_places: FieldPlaces, raters: Sequence[int], why: Ints, reasons: Sequence[str]
) -> MissingAnswers:
    """Return the due answers that are missing, from `why` (places x raters)."""
    return MissingAnswers.from_reasons(
        field_places.places, [study_data.columns.raters[one].id for one in raters], why, reasons
    )


def _clusters(field_places: FieldPlaces, mask: Mask) -> tuple[Ints, tuple[str, ...]]:
    """Return the clusters of the masked places, renumbered without clusters that are empty."""
    used_traces = np.unique(field_places.trace[mask])
    new = np.zeros(len(field_places.traces), dtype=np.int32)
    new[used_traces] = np.arange(len(used_traces), dtype=np.int32)
    return new[field_places.trace[mask]], tuple(field_places.traces[at] for at in used_traces)


def _select_places(places: tuple[RatedItem, ...], mask: Mask) -> tuple[RatedItem, ...]:
    return places if mask.all() else tuple(places[at] for at in np.flatnonzero(mask))


# -- the truth -------------------------------------------------------------------------------------------------


def truth_of(study_data: StudyData, ratings: Ratings) -> Ratings:
    """Return one column, `truth`, over the same places: the adjudicated answer, else that of more than half the people.

    The people are those in `ratings`, or all people if `ratings` are a judge's. It is -1 if neither exists, and if
    reasons for having no answer have the majority. After derivation, a node that most people's paths pass by stays -1,
    even if it was adjudicated.
    """
    people = {study_data.columns.raters[one].id: one for one in study_data.people}
    rater_names = ratings.missing.raters or ratings.raters
    whose = [people[name] for name in rater_names if name in people]
    # A judge's ratings hold no people, so the truth is that of all of them.
    if len(whose) != len(rater_names) or not whose:
        whose = list(study_data.people)
    field = field_named(study_data, ratings.field)
    answers = answers_of(study_data, field, tuple(whose), 1)
    codes, gave = codes_of(study_data, field, answers), answers.has_reason
    is_passed = np.zeros(len(codes), dtype=np.bool_)
    if ratings.derived == "after":
        codes, why, names = derived_codes(study_data, field, tuple(whose), 1, codes, answers)
        # What derivation removed counts as a reason: it is one of the voices that an answer must outweigh.
        gave = gave | ((why >= 0) & (answers.value >= 0))
        if "not_applicable" in names:
            beside_path = (why == names.index("not_applicable")).sum(axis=1)
            is_passed = np.asarray(2 * beside_path > (codes >= 0).sum(axis=1) + gave.sum(axis=1))
    at = _places_in(study_data, field, answers.places, ratings.places)
    most = _majority(codes[at], gave[at].sum(axis=1), len(ratings.categories))
    _apply_settlements(study_data, field, ratings, most, is_passed[at])
    lacking = MissingAnswers.one_each(
        ((ratings.places[row], NO_MAJORITY) for row in np.flatnonzero(most < 0).tolist()), TRUTH
    )
    return ratings._replace(codes=most[:, None], raters=(TRUTH,), missing=lacking)


def _majority(codes: Codes, others: npt.NDArray[Any], q: int) -> Codes:
    """Return the answer of more than half of those who answered or gave a reason (`others` counts reasons), else -1."""
    out = np.full(len(codes), -1, dtype=np.int16)
    voices = (codes >= 0).sum(axis=1) + others
    for code in range(q):
        out[2 * (codes == code).sum(axis=1) > voices] = code
    return out


def _apply_settlements(study_data: StudyData, field: Field, ratings: Ratings, most: Codes, is_passed: Mask) -> None:
    """Overwrite the majority's answers with adjudicated ones, except at nodes that most people's paths pass by."""
    if not study_data.settled:
        return
    category_codes = {name: i for i, name in enumerate(ratings.categories)}
    for at, place in enumerate(ratings.places):
        settlement = study_data.settled.get((place.unit, FieldReference(place.target, field.id)))
        if settlement is not None and not is_passed[at]:
            most[at] = category_codes.get(_settled_words(field, settlement), -1)


def _settled_words(field: Field, settlement: SignedSettlement) -> str:
    value = settlement.what.value
    if field.kind == "flag" and isinstance(value, bool):
        return FLAG[value]
    return value if isinstance(value, str) else ""


def _places_in(study_data: StudyData, field: Field, field_places: FieldPlaces, places: tuple[RatedItem, ...]) -> Ints:
    """Return the index of each place among a field's places."""
    if places is field_places.places:
        return np.arange(len(places), dtype=np.int32)
    place_numbers: dict[RatedItem, int] = study_data.cached(
        ("at", field.id), lambda: {place: i for i, place in enumerate(field_places.places)}
    )
    return np.fromiter((place_numbers[place] for place in places), dtype=np.int32, count=len(places))


# -- beside one another ----------------------------------------------------------------------------------------


def join_columns(one: Ratings, other: Ratings) -> Ratings:
    """Return the columns of both over the places of the first, with the missing answers of both."""
    if one.categories != other.categories:
        raise ValueError(f"{one.field} and {other.field} have different answers")
    codes = np.full((len(one.places), other.codes.shape[1]), -1, dtype=np.int16)
    if one.places is other.places or one.places == other.places:
        codes[:] = other.codes
    else:
        rows, other_rows = _common_rows(one, other)
        codes[rows] = other.codes[other_rows]
    return one._replace(
        codes=np.hstack([one.codes, codes]), raters=(*one.raters, *other.raters),
        missing=missing_of_all((one.missing, other.missing)),
    )  # fmt: skip


def join_numeric_columns(one: NumericRatings, other: NumericRatings) -> NumericRatings:
    """Return the columns of both over the places of the first, with the missing answers of both."""
    rows, other_rows = _common_rows(one, other)
    values = np.full((len(one.places), other.values.shape[1]), np.nan)
    values[rows] = other.values[other_rows]
    return one._replace(
        values=np.hstack([one.values, values]), raters=(*one.raters, *other.raters),
        missing=missing_of_all((one.missing, other.missing)),
    )  # fmt: skip


def _common_rows(one: Ratings | NumericRatings, other: Ratings | NumericRatings) -> tuple[Ints, Ints]:
    """Return the rows of both at the places that they share."""
    row_of_place = {place: i for i, place in enumerate(other.places)}
    at = np.fromiter((row_of_place.get(place, -1) for place in one.places), dtype=np.int32, count=len(one.places))
    rows = np.flatnonzero(at >= 0).astype(np.int32)
    return rows, at[rows]


def truth_and_rater(truth: Ratings, answers: Ratings) -> Ratings:
    """Return truth and one rater's answers as two columns over the truth's places, both only if both exist.

    Missing answers are counted by item, also for items without a truth: the reason is the truth's, else the answer's.
    """
    two = join_columns(truth, answers)
    both: Mask = np.asarray(two.is_given.all(axis=1))
    return two._replace(codes=mask_rows(two.codes, both), missing=_why_not_both(truth, answers, both))


def numeric_truth_and_rater(truth: NumericRatings, answers: NumericRatings) -> NumericRatings:
    """Return a true number and one rater's as two columns over the truth's places, both only if both exist."""
    two = join_numeric_columns(truth, answers)
    both: Mask = np.asarray(two.is_given.all(axis=1))
    values = np.where(both[:, None], two.values, np.nan)
    return two._replace(values=values, missing=_why_not_both(truth, answers, both))


def _why_not_both(truth: Ratings | NumericRatings, answers: Ratings | NumericRatings, both: Mask) -> MissingAnswers:
    """Map each item to the reason why truth or answer is missing ("not rated" if none is stored)."""
    truth_reasons, answer_reasons = truth.missing.by_place(), answers.missing.by_place()
    places = dict.fromkeys((*_select_places(truth.places, ~both), *truth_reasons))
    rows = [(place, truth_reasons.get(place) or answer_reasons.get(place, NOT_RATED)) for place in places]
    return MissingAnswers.one_each(rows, by_item=True)


def mask_rows(codes: Codes, rows: Mask) -> Codes:
    """Return codes with all other rows set to missing."""
    return np.where(rows[:, None], codes, np.int16(-1))


def stack_columns(study_data: StudyData, parts: Sequence[tuple[str, Ratings]]) -> Ratings:
    """Return the first column of each part, under these names, over the union of their places in the study's order."""
    order = {
        place: at for at, place in enumerate(places_of(study_data, field_named(study_data, parts[0][1].field)).places)
    }
    place_set = {place for _, part in parts for place in part.places}
    places = tuple(sorted(place_set, key=lambda place: order[place]))
    row = {place: at for at, place in enumerate(places)}
    codes = np.full((len(places), len(parts)), -1, dtype=np.int16)
    for at, (_, part) in enumerate(parts):
        if part.places:
            codes[[row[place] for place in part.places], at] = part.codes[:, 0]
    trace, traces = clusters_at(study_data, places)
    missing = missing_of_all([part.missing._replace(raters=(name,) * len(part.missing.raters)) for name, part in parts])
    return parts[0][1]._replace(
        codes=codes, raters=tuple(name for name, _ in parts), trace=trace, traces=traces, places=places, missing=missing
    )


def clusters_at(study_data: StudyData, places: Sequence[RatedItem]) -> tuple[Ints, tuple[str, ...]]:
    """Return the clusters of places, numbered in order of appearance."""
    cluster = {unit.id: unit.clustered for unit in study_data.units}
    names = [cluster.get(place.unit, place.unit) for place in places]
    traces = tuple(dict.fromkeys(names))
    at = {name: i for i, name in enumerate(traces)}
    return np.array([at[name] for name in names], dtype=np.int32), traces


def text_key(value: Any) -> bytes:
    """Return an answer's key for comparison: texts ignore case and white space."""
    return encode(" ".join(value.casefold().split()) if isinstance(value, str) else value)
