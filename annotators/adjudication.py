"""The queue of an adjudication: places on which people differ, those with the most effect on agreement first."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

from annotators.agreement.coefficients.additive import AdditiveStatistic
from annotators.agreement.coefficients.categorical import krippendorff_alpha
from annotators.agreement.coefficients.numbers import alpha_numbers
from annotators.agreement.option_sets import alpha_of_sets, sets_of
from annotators.agreement.ratings.fields import numbers_of, ratings_of
from annotators.agreement.ratings.ratings import NumericRatings, Ratings
from annotators.study_data import StudyData
from lab.core.study.adjudication import AnswerCount, SignedSettlement, comparable, set_of_most
from lab.core.study.protocol import Field
from lab.core.study.rating_sheet import FieldReference, fields_by_target

Ints = npt.NDArray[np.int64]
AnyRatings = TypeVar("AnyRatings", Ratings, NumericRatings)


class DisputedPlace(NamedTuple):
    """A place on which people differ, or that is settled.

    `counts` are the answers, the most frequent first. `moves` is the change of the field's agreement (Krippendorff's
    alpha) without its unit, None if undefined.
    """

    unit: str
    spot: FieldReference
    counts: tuple[AnswerCount, ...] = ()
    moves: float | None = None
    settled: SignedSettlement | None = None
    field: Field | None = None

    @property
    def people(self) -> int:
        """Number of people with an answer or a reason."""
        return sum(one.people for one in self.counts)

    @property
    def majority(self) -> AnswerCount | None:
        """The answer of more than half of the people.

        For many options it is the set of options that each have a majority.
        """
        if self.counts and 2 * self.counts[0].people > self.people:
            return self.counts[0]
        if self.field is None or self.field.kind != "many":
            return None
        sets = [(one.value, one.people) for one in self.counts if not one.missing]
        majority_set = set_of_most(self.field, sets, self.people)
        # The set of options that each have a majority may be one that nobody gave: then no person counts for it.
        same = (count for value, count in sets if value == majority_set)
        return AnswerCount(majority_set, None, next(same, 0)) if majority_set is not None else None

    @property
    def all_but_one(self) -> bool:
        """True if all people but one agree. Of two people neither is the exception."""
        return bool(self.counts) and self.people > 2 and self.counts[0].people == self.people - 1


class Queue(NamedTuple):
    """The open places, those with the most effect first, and the settled ones.

    `waiting` counts units that some of their raters have not handed in yet. They cannot be settled.
    """

    open: list[DisputedPlace]
    settled: list[DisputedPlace]
    waiting: int = 0


def adjudication_queue(study_data: StudyData, *, locked: bool, gone: Collection[str] = ()) -> Queue:
    """Return every place on which people's answers differ, except free text.

    Pilot units, repeated ratings and a rule's answers never count. `gone` are people who left or withdrew: units do not
    wait for them. Within a unit places are in reading order, with optional flags after the required answers.
    """
    order = {unit.id: at for at, unit in enumerate(study_data.units)}
    # A locked study takes no more answers, so nothing is worth waiting for.
    waiting = set() if locked else _units_not_handed_in(study_data, gone)
    disputes = [one for one in _disputed_places(study_data) if one.unit in order]
    moves = _alpha_moves(study_data, {one.spot.field for one in disputes})
    settlements = study_data.settled
    dispute_by_place = {(one.unit, one.spot): one for one in disputes}
    places = _reading_order(study_data, {one.unit for one in disputes} | {unit for unit, _ in settlements})
    rank: dict[str, tuple[int, float]] = {}
    open_places: list[DisputedPlace] = []
    for one in disputes:
        if one.unit in waiting or (one.unit, one.spot) in settlements:
            continue
        alpha_move = moves.get(one.spot.field, {}).get(one.unit)
        open_places.append(one._replace(moves=alpha_move))
        # A unit ranks by its best place, so that its places stay together.
        unit_rank = (int(_is_optional(study_data, one.spot)), -(alpha_move or 0.0))
        rank[one.unit] = min(rank.get(one.unit, unit_rank), unit_rank)
    open_places.sort(key=lambda one: (rank[one.unit], order[one.unit], places[one.unit].get(one.spot, (True, 0))))
    settled_places = [
        dispute_by_place.get(place, DisputedPlace(*place))._replace(
            settled=settlement, moves=moves.get(place[1].field, {}).get(place[0])
        )
        for place, settlement in settlements.items()
        if place[0] in order
    ]
    settled_places.sort(key=lambda one: (order[one.unit], places[one.unit].get(one.spot, (True, 0))))
    return Queue(open_places, settled_places, len({one.unit for one in disputes if one.unit in waiting}))


def _units_not_handed_in(study_data: StudyData, leavers: Collection[str]) -> set[str]:
    """Return the units that someone has still to hand in."""
    columns = study_data.columns
    open_sheets = columns.dealt[~columns.handed]
    codes = np.array([rater.id in leavers for rater in columns.raters], dtype=bool)
    if not len(open_sheets):
        return set()
    open_sheets = open_sheets[~codes[open_sheets[:, 1]]]
    return {columns.units[at] for at in np.unique(open_sheets[:, 0])}


def _is_optional(study_data: StudyData, spot: FieldReference) -> bool:
    field = study_data.study.protocol.field(spot.field)
    return field is None or not field.required


def _reading_order(study_data: StudyData, units: Collection[str]) -> dict[str, dict[FieldReference, tuple[bool, int]]]:
    """Return each unit's places with their sort key: required ones first, then by reading order."""
    order: dict[str, dict[FieldReference, tuple[bool, int]]] = {}
    for unit in study_data.units:
        if unit.id in units:
            spots = [
                (FieldReference(target, one.id), one)
                for target, fields in fields_by_target(study_data.study.protocol, unit)
                for one in fields
            ]
            order[unit.id] = {spot: (not field.required, at) for at, (spot, field) in enumerate(spots)}
    return order


# -- where they differ -------------------------------------------------------------------------------------------


class AnsweredPlaces(NamedTuple):
    """Places that people answered, one row per place in each array: to settle those that differ, and to count.

    `rows` are rows of the columns, grouped by place: `size` many from `starts` on. `down` counts people who did not
    raise a flag that another raised. `voices` counts all answers, those included. `differ` marks places with different
    answers. `words` holds the values' numbers (see `_value_numbers`), `people` the number of raters of each unit of the
    columns.
    """

    rows: Ints
    starts: Ints
    size: Ints
    down: Ints
    differ: npt.NDArray[np.bool_]
    words: Ints
    people: Ints

    @property
    def voices(self) -> Ints:
        return self.size + self.down

    @property
    def first_rows(self) -> Ints:
        """One row of each place."""
        return self.rows[self.starts]


def answered_places(study_data: StudyData) -> AnsweredPlaces:
    """Return the places that any of the study's people answered. A reason for no answer is an answer here.

    Pilot units, repeated ratings, free text and a rule's answers are left out. A flag that someone raised counts as not
    raised by everyone else who rated the unit.
    """
    columns = study_data.columns
    words = _value_numbers(columns.values)
    lowered_word = words[-1]
    countable = (
        np.isin(columns.rater, study_data.people) & (columns.run == 1) & _countable_units(study_data)[columns.unit]
    )
    countable &= ~np.isin(columns.field, _of_kind(study_data, "text"))
    # One number for unit, target and field together: sorting by it groups the rows of a place.
    key = columns.unit.astype(np.int64) * len(columns.targets) + columns.target
    # Continued from the line above: the field is the last digit of the number.
    key = key * len(columns.fields) + columns.field
    countable &= ~np.isin(key, _ruled_keys(study_data))
    rows = np.flatnonzero(countable)
    none = np.zeros(0, dtype=np.int64)
    if not len(rows):
        people = np.zeros(len(columns.units), dtype=np.int64)
        return AnsweredPlaces(none, none, none, none, none.astype(bool), words, people)
    has_value = columns.value[rows] >= 0
    # Reasons become codes from -2 down, so that they never equal a value's number.
    code = np.where(has_value, words[np.where(has_value, columns.value[rows], 0)], -2 - columns.reason[rows])
    order = np.argsort(key[rows], kind="stable")
    rows, code = rows[order], code[order]
    starts = np.flatnonzero(np.r_[True, key[rows][1:] != key[rows][:-1]])
    # A place has one answer if the least and the greatest code are equal.
    least, most = np.minimum.reduceat(code, starts), np.maximum.reduceat(code, starts)
    size = np.diff(np.r_[starts, len(rows)])
    sheets = _sheets(columns.unit[rows], columns.rater[rows], len(columns.units))
    flagged = np.isin(columns.field[rows[starts]], _optional_flags(study_data))
    # Raters of the unit without a label for the flag did not raise it.
    lacking = np.where(flagged, sheets[columns.unit[rows[starts]]] - size, 0)
    least, most = (
        np.where(lacking > 0, by(one, lowered_word), one) for by, one in ((np.minimum, least), (np.maximum, most))
    )
    return AnsweredPlaces(rows, starts, size, lacking, least != most, words, sheets)


def _ruled_keys(study_data: StudyData) -> list[int]:
    """Return the places that a rule answered, each as one number of unit, target and field."""
    columns = study_data.columns
    units, targets, fields = (
        {name: at for at, name in enumerate(names)} for names in (columns.units, columns.targets, columns.fields)
    )
    return [
        (units[unit.id] * len(targets) + targets[one.target]) * len(fields) + fields[one.field]
        for unit in study_data.units
        for one in unit.mechanical
        if unit.id in units and one.target in targets and one.field in fields
    ]


def _disputed_places(study_data: StudyData) -> list[DisputedPlace]:
    """Return the places that at least two people answered differently."""
    columns, places = study_data.columns, answered_places(study_data)
    # Reversed, so that the first of several equal values wins. The number for a lowered flag has no value and is cut
    # off.
    values = zip(places.words[::-1][1:], columns.values[::-1], strict=True)
    firsts = {int(word): value for word, value in values}
    differing = []
    for at in np.flatnonzero(places.differ):
        place_rows = places.rows[places.starts[at] : places.starts[at] + places.size[at]]
        spot = FieldReference(
            columns.targets[columns.target[place_rows[0]]], columns.fields[columns.field[place_rows[0]]]
        )
        counts = _answer_counts(study_data, place_rows, places.words, firsts, int(places.down[at]))
        unit, field = columns.units[columns.unit[place_rows[0]]], _field(study_data, spot.field)
        differing.append(DisputedPlace(unit, spot, counts, field=field))
    return differing


def _answer_counts(
    study_data: StudyData, rows: Ints, words: Ints, firsts: dict[int, Any], down: int
) -> tuple[AnswerCount, ...]:
    """Return the answers to one place by frequency.

    `down` people did not raise the flag. `firsts` maps a word to its value.
    """
    columns = study_data.columns
    counts: dict[tuple[int, int], int] = {}
    for row in rows:
        value = int(columns.value[row])
        word = (int(words[value]), -1) if value >= 0 else (-1, int(columns.reason[row]))
        counts[word] = counts.get(word, 0) + 1
    if down:
        word = next((word for word in counts if word[0] >= 0 and firsts[word[0]] is False), (-2, -1))
        counts[word] = counts.get(word, 0) + down
    counts_of = [
        AnswerCount(
            False if value == -2 else firsts[value] if value >= 0 else None,
            columns.reasons[reason] if reason >= 0 else None,
            people,
        )
        for (value, reason), people in counts.items()
    ]
    # Ties are broken by reason and text, so that the order does not depend on the order of labels.
    return tuple(sorted(counts_of, key=lambda one: (-one.people, one.missing or "", str(one.value))))


def _value_numbers(values: Sequence[Any]) -> Ints:
    """Return a number for each value, the same for equal answers (1 and 1.0), and one more for a flag not raised.

    The last number equals that of False if any label has that value.
    """
    numbers: dict[Any, int] = {}
    codes = [numbers.setdefault(comparable(value), len(numbers)) for value in values]
    return np.array([*codes, numbers.get(comparable(False), len(numbers))], dtype=np.int64)


def _countable_units(study_data: StudyData) -> npt.NDArray[np.bool_]:
    """Return a mask of the columns' units that count: all but pilot units."""
    pilots = {unit.id for unit in study_data.units if unit.pilot}
    return np.array([unit not in pilots for unit in study_data.columns.units], dtype=bool)


def _of_kind(study_data: StudyData, kind: str) -> list[int]:
    return [
        at for at, id in enumerate(study_data.columns.fields) if (one := _field(study_data, id)) and one.kind == kind
    ]


def _optional_flags(study_data: StudyData) -> list[int]:
    """Return the optional flags: fields for which no answer means no."""
    fields = study_data.columns.fields
    return [at for at in _of_kind(study_data, "flag") if (one := _field(study_data, fields[at])) and not one.required]


def _field(study_data: StudyData, id: str) -> Field | None:
    return study_data.study.protocol.field(id)


def _sheets(unit: npt.NDArray[np.int32], rater: npt.NDArray[np.int32], units: int) -> Ints:
    """Return the number of raters of each unit."""
    pairs = np.unique(unit.astype(np.int64) * (int(rater.max()) + 1) + rater)
    return np.bincount(pairs // (int(rater.max()) + 1), minlength=units)


# -- what moves the result ---------------------------------------------------------------------------------------


def _alpha_moves(study_data: StudyData, fields: Collection[str]) -> Mapping[str, Mapping[str, float]]:
    """Return by field how far its alpha moves without each unit, for units with a defined change."""
    moves = {}
    for id in sorted(fields):
        field = _field(study_data, id)
        if field is None:
            continue
        if field.kind in ("nominal", "ordinal", "flag"):
            ratings, units = _by_unit(ratings_of(study_data, id))
            level = "ordinal" if field.kind == "ordinal" else "nominal"
            moves[id] = _without_each(krippendorff_alpha(ratings, level), units)
        elif field.kind == "many":
            numbers, units = _by_unit(sets_of(study_data, id).numbers)
            moves[id] = _without_each(alpha_of_sets(sets_of(study_data, id)._replace(numbers=numbers), "masi"), units)
        elif field.kind in ("interval", "step"):
            numbers, units = _by_unit(numbers_of(study_data, id))
            moves[id] = _without_each(alpha_numbers(numbers), units)
    return moves


def _by_unit(answers: AnyRatings) -> tuple[AnyRatings, tuple[str, ...]]:
    """Return the answers with units in place of traces as clusters, and the units."""
    unit_numbers: dict[str, int] = {}
    at = np.array([unit_numbers.setdefault(place.unit, len(unit_numbers)) for place in answers.places], dtype=np.int32)
    return answers._replace(trace=at, traces=tuple(unit_numbers)), tuple(unit_numbers)


def _without_each(alpha: AdditiveStatistic, units: Sequence[str]) -> dict[str, float]:
    """Return how far a coefficient over units moves without each of them, if that is defined."""
    total_sums = alpha.sums.sum(axis=0)
    alpha_moves = np.abs(alpha.evaluate(total_sums - alpha.sums) - alpha.evaluate(total_sums))
    return {unit: float(by) for unit, by in zip(units, alpha_moves, strict=True) if np.isfinite(by)}
