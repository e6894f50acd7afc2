"""What is to be settled in a study: places at which its people do not all say the same, what matters most first."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

from annotators.agreement.additive import AdditiveStatistic
from annotators.agreement.coefficients import krippendorff_alpha
from annotators.agreement.fields import numbers_of, ratings_of
from annotators.agreement.numbers import alpha_numbers
from annotators.agreement.option_sets import alpha_of_sets, sets_of
from annotators.agreement.ratings import NumericRatings, Ratings
from annotators.study_data import StudyData
from lab.core.adjudication import SignedSettlement, comparable, set_of_most
from lab.core.protocol import Field
from lab.core.rating_sheet import FieldReference, fields_by_target

Ints = npt.NDArray[np.int64]
Said = TypeVar("Said", Ratings, NumericRatings)


class AnswerCount(NamedTuple):
    """How many people say one thing at a place: a value, or the reason why they say none."""

    value: Any
    reason: str
    people: int


class DisputedPlace(NamedTuple):
    """A place on which people differ, or that is settled.

    `counts` say what they said, the most frequent first. `moves` is how far the agreement of its field (Krippendorff's
    alpha) would move if its unit were left out, None where that is undefined.
    """

    unit: str
    spot: FieldReference
    counts: tuple[AnswerCount, ...] = ()
    moves: float | None = None
    settled: SignedSettlement | None = None
    field: Field | None = None

    @property
    def people(self) -> int:
        """How many people say anything there."""
        return sum(one.people for one in self.counts)

    @property
    def majority(self) -> AnswerCount | None:
        """What more than half of its people say; of many options those that more than half choose."""
        if self.counts and 2 * self.counts[0].people > self.people:
            return self.counts[0]
        if self.field is None or self.field.kind != "many":
            return None
        sets = [(one.value, one.people) for one in self.counts if not one.reason]
        majority_set = set_of_most(self.field, sets, self.people)
        same = (count for value, count in sets if value == majority_set)
        return AnswerCount(majority_set, "", next(same, 0)) if majority_set is not None else None

    @property
    def all_but_one(self) -> bool:
        """Whether all of its people but one say the same; of two people neither is the one."""
        return bool(self.counts) and self.people > 2 and self.counts[0].people == self.people - 1


class Queue(NamedTuple):
    """What is open, units that move the result most first, and what is settled; `waiting` counts units that are not
    handed in by all of their raters yet, which nobody settles."""

    open: list[DisputedPlace]
    settled: list[DisputedPlace]
    waiting: int = 0


def queue(study_data: StudyData, *, locked: bool, gone: Collection[str] = ()) -> Queue:
    """Every place that people answered otherwise than one another, but for words of their own (texts).

    Pilot units, repeated ratings and what a rule answered never count. `gone` are people who left or withdrew: for them
    nobody waits. Within a unit places come in reading order, optional flags after what every rater answers.
    """
    order = {unit.id: at for at, unit in enumerate(study_data.units)}
    waiting = set() if locked else _waiting(study_data, gone)
    disputes = [one for one in _differing(study_data) if one.unit in order]
    moves = _moves(study_data, {one.spot.field for one in disputes})
    settlements = study_data.settled
    dispute_by_place = {(one.unit, one.spot): one for one in disputes}
    places = _reading_order(study_data, {one.unit for one in disputes} | {unit for unit, _ in settlements})
    rank: dict[str, tuple[int, float]] = {}
    still: list[DisputedPlace] = []
    for one in disputes:
        if one.unit in waiting or (one.unit, one.spot) in settlements:
            continue
        alpha_move = moves.get(one.spot.field, {}).get(one.unit)
        still.append(one._replace(moves=alpha_move))
        mine = (int(_optional(study_data, one.spot)), -(alpha_move or 0.0))
        rank[one.unit] = min(rank.get(one.unit, mine), mine)
    still.sort(key=lambda one: (rank[one.unit], order[one.unit], places[one.unit].get(one.spot, (True, 0))))
    settled_places = [
        dispute_by_place.get(place, DisputedPlace(*place))._replace(
            settled=settlement, moves=moves.get(place[1].field, {}).get(place[0])
        )
        for place, settlement in settlements.items()
        if place[0] in order
    ]
    settled_places.sort(key=lambda one: (order[one.unit], places[one.unit].get(one.spot, (True, 0))))
    return Queue(still, settled_places, len({one.unit for one in disputes if one.unit in waiting}))


def _waiting(study_data: StudyData, leavers: Collection[str]) -> set[str]:
    """Units that somebody has still to hand in."""
    columns = study_data.columns
    open_sheets = columns.dealt[~columns.handed]
    codes = np.array([rater.id in leavers for rater in columns.raters], dtype=bool)
    if not len(open_sheets):
        return set()
    open_sheets = open_sheets[~codes[open_sheets[:, 1]]]
    return {columns.units[at] for at in np.unique(open_sheets[:, 0])}


def _optional(study_data: StudyData, spot: FieldReference) -> bool:
    field = study_data.study.protocol.field(spot.field)
    return field is None or not field.required


def _reading_order(study_data: StudyData, units: Collection[str]) -> dict[str, dict[FieldReference, tuple[bool, int]]]:
    """For these units each place with where it comes; what is optional after what is not."""
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
    """Places that people answered, a row of each array each: what is settled where they differ, and counted.

    `rows` are rows of the columns, those of one place in a row: from `starts` on `size` many. `down` left a flag alone
    that another raised; `voices` say anything, those among them. `differ`: they do not all say the same.
    `words` are the values' numbers, as in `_words`, `people` how many rated each unit of the columns.
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
    def first(self) -> Ints:
        """One row of each place."""
        return self.rows[self.starts]


def answered_places(study_data: StudyData) -> AnsweredPlaces:
    """Places that anybody of the study's people answered; a reason for no answer is an answer here.

    Not those of pilot units, of repeated ratings, of words of their own (texts), nor what a rule answered. A flag that
    somebody raised was left down by everybody else who rated the unit.
    """
    columns = study_data.columns
    words = _words(columns.values)
    down = words[-1]
    countable = np.isin(columns.rater, study_data.people) & (columns.run == 1) & _counting(study_data)[columns.unit]
    countable &= ~np.isin(columns.field, _of_kind(study_data, "text"))
    key = columns.unit.astype(np.int64) * len(columns.targets) + columns.target
    key = key * len(columns.fields) + columns.field
    countable &= ~np.isin(key, _ruled(study_data))
    rows = np.flatnonzero(countable)
    none = np.zeros(0, dtype=np.int64)
    if not len(rows):
        people = np.zeros(len(columns.units), dtype=np.int64)
        return AnsweredPlaces(none, none, none, none, none.astype(bool), words, people)
    has_value = columns.value[rows] >= 0
    code = np.where(has_value, words[np.where(has_value, columns.value[rows], 0)], -2 - columns.reason[rows])
    order = np.argsort(key[rows], kind="stable")
    rows, code = rows[order], code[order]
    starts = np.flatnonzero(np.r_[True, key[rows][1:] != key[rows][:-1]])
    least, most = np.minimum.reduceat(code, starts), np.maximum.reduceat(code, starts)
    size = np.diff(np.r_[starts, len(rows)])
    sheets = _sheets(columns.unit[rows], columns.rater[rows], len(columns.units))
    flagged = np.isin(columns.field[rows[starts]], _flags(study_data))
    lacking = np.where(flagged, sheets[columns.unit[rows[starts]]] - size, 0)
    least, most = (np.where(lacking > 0, by(one, down), one) for by, one in ((np.minimum, least), (np.maximum, most)))
    return AnsweredPlaces(rows, starts, size, lacking, least != most, words, sheets)


def _ruled(study_data: StudyData) -> list[int]:
    """The places that a rule answered, each as a number of unit, target and field."""
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


def _differing(study_data: StudyData) -> list[DisputedPlace]:
    """Places that at least two people answered, and not all the same."""
    columns, places = study_data.columns, answered_places(study_data)
    values = zip(places.words[::-1][1:], columns.values[::-1], strict=True)
    firsts = {int(word): value for word, value in values}
    differing = []
    for at in np.flatnonzero(places.differ):
        mine = places.rows[places.starts[at] : places.starts[at] + places.size[at]]
        spot = FieldReference(columns.targets[columns.target[mine[0]]], columns.fields[columns.field[mine[0]]])
        counts = _counts(study_data, mine, places.words, firsts, int(places.down[at]))
        unit, field = columns.units[columns.unit[mine[0]]], _field(study_data, spot.field)
        differing.append(DisputedPlace(unit, spot, counts, field=field))
    return differing


def _counts(
    study_data: StudyData, rows: Ints, words: Ints, firsts: dict[int, Any], down: int
) -> tuple[AnswerCount, ...]:
    """How many said what at one place, by its rows; `down` left a flag alone, `firsts` are values by their words."""
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
            columns.reasons[reason] if reason >= 0 else "",
            people,
        )
        for (value, reason), people in counts.items()
    ]
    return tuple(sorted(counts_of, key=lambda one: (-one.people, one.reason, str(one.value))))


def _words(values: Sequence[Any]) -> Ints:
    """A number for each value, the same for values that are the same answer (1 and 1.0); one more for a flag that is
    down, where nobody lowered one."""
    numbers: dict[Any, int] = {}
    codes = [numbers.setdefault(comparable(value), len(numbers)) for value in values]
    return np.array([*codes, numbers.get(comparable(False), len(numbers))], dtype=np.int64)


def _counting(study_data: StudyData) -> npt.NDArray[np.bool_]:
    """Which of the columns' units count: no pilot's."""
    pilots = {unit.id for unit in study_data.units if unit.pilot}
    return np.array([unit not in pilots for unit in study_data.columns.units], dtype=bool)


def _of_kind(study_data: StudyData, kind: str) -> list[int]:
    return [
        at for at, id in enumerate(study_data.columns.fields) if (one := _field(study_data, id)) and one.kind == kind
    ]


def _flags(study_data: StudyData) -> list[int]:
    """The fields that say no where nobody touches them."""
    fields = study_data.columns.fields
    return [at for at in _of_kind(study_data, "flag") if (one := _field(study_data, fields[at])) and not one.required]


def _field(study_data: StudyData, id: str) -> Field | None:
    return study_data.study.protocol.field(id)


def _sheets(unit: npt.NDArray[np.int32], rater: npt.NDArray[np.int32], units: int) -> Ints:
    """How many people rated each unit."""
    pairs = np.unique(unit.astype(np.int64) * (int(rater.max()) + 1) + rater)
    return np.bincount(pairs // (int(rater.max()) + 1), minlength=units)


# -- what moves the result ---------------------------------------------------------------------------------------


def _moves(study_data: StudyData, fields: Collection[str]) -> Mapping[str, Mapping[str, float]]:
    """By field how far its alpha would move without each unit; nothing where that is undefined."""
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


def _by_unit(answers: Said) -> tuple[Said, tuple[str, ...]]:
    """The same with units in place of traces as what is left out, and which these are."""
    unit_numbers: dict[str, int] = {}
    at = np.array([unit_numbers.setdefault(place.unit, len(unit_numbers)) for place in answers.places], dtype=np.int32)
    return answers._replace(trace=at, traces=tuple(unit_numbers)), tuple(unit_numbers)


def _without_each(alpha: AdditiveStatistic, units: Sequence[str]) -> dict[str, float]:
    """How far a coefficient over units moves when each is left out."""
    whole = alpha.sums.sum(axis=0)
    alpha_moves = np.abs(alpha.of(whole - alpha.sums) - alpha.of(whole))
    return {unit: float(by) for unit, by in zip(units, alpha_moves, strict=True) if np.isfinite(by)}
