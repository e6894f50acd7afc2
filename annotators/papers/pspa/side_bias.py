"""Side bias of raters of pairs: their choice of a side by its position, and their answers after a swap."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from annotators.agreement.intervals.intervals import binomial_two_sided
from annotators.assignment import is_swapped
from annotators.papers import cells
from annotators.papers.cells import UnitValue, count, number_without_interval, share, undefined_number
from annotators.papers.field_answers import FieldAnswer, answers_in
from annotators.study_data import StudyData
from lab.core.study.agreement import Agreement
from lab.core.study.protocol import Field
from lab.core.study.report import Cell, Number, Section, Table
from lab.core.study.study import Unit

SIDES = ("A", "B")
_P = "a p value has none"
_SIDES = (
    "Which side stood left was drawn for each rater and pair, so a rater who looks at content alone chooses left half "
    "of the time. The p value is the exact binomial's, as if every choice stood for itself; the interval is "
    "clustered as everywhere."
)
_AGAIN = (
    "Some pairs were rated once more with the sides turned. Who says the same again has changed sides; who keeps to a "
    "side says the other thing."
)


def sides(study_data: StudyData, fields: Sequence[Field]) -> Section:
    """Return the share of left choices by question and rater, and repeats with the sides swapped."""
    tables = [_left_table(study_data, fields)]
    says = [_SIDES]
    again = {field.id: _repeated_answers(study_data, field) for field in fields}
    if any(again.values()):
        says.append(_AGAIN)
        tables.append(_repeat_table(study_data, fields, again))
    return Section("Sides", tuple(says), tuple(tables))


def left_side(study_data: StudyData, one: FieldAnswer) -> str:
    """Return the side that was shown on the left for an answer."""
    turned = is_swapped(study_data.study, study_data.columns.raters[one.rater].id, one.unit, one.run)
    return SIDES[turned]


# -- left and right --------------------------------------------------------------------------------------------


def _left_table(study_data: StudyData, fields: Sequence[Field]) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for field in fields:
        side_answers = [one for one in answers_in(study_data, field.id) if one.value in SIDES]
        rows.append(_side_row(study_data, field, field.id, side_answers))
    last = fields[-1]
    for rater in study_data.people:
        side_answers = [one for one in answers_in(study_data, last.id, (rater,)) if one.value in SIDES]
        rows.append(
            _side_row(study_data, last, f"{last.id}, {study_data.columns.raters[rater].display_name}", side_answers)
        )
    head = ("Question", "Chose left", "p", "Choices")
    return Table("pspa-d2-sides", "How often the left was chosen", head, tuple(rows), "", ("Ties are left out.",))


def _side_row(study_data: StudyData, field: Field, name: str, side_answers: Sequence[FieldAnswer]) -> tuple[Cell, ...]:
    units = _units(study_data)
    left_answers = [one for one in side_answers if one.value == left_side(study_data, one)]
    on_left = set(left_answers)
    items = [UnitValue(one.unit, units[one.unit].clustered, float(one in on_left)) for one in side_answers]
    raters = len({one.rater for one in side_answers})
    shared = share(study_data, items, field.id, "share of left", part=name, raters=raters, why="nobody chose a side")
    return (
        name,
        cells.percent(shared),
        Number(_p_value(field, name, len(left_answers), len(side_answers)), 3),
        count(len(side_answers), field.id, part=name),
    )


def _p_value(field: Field, name: str, left_count: int, of: int) -> Agreement:
    if not of:
        return undefined_number(field.id, "exact binomial p", "nobody chose a side", part=name)
    return number_without_interval(
        binomial_two_sided(left_count, of), field.id, "exact binomial p", _P, n=of, part=name
    )


# -- once more -------------------------------------------------------------------------------------------------


def _repeated_answers(study_data: StudyData, field: Field) -> list[tuple[FieldAnswer, FieldAnswer]]:
    """Return each rater's first and second answer to a pair."""
    first = {(one.rater, one.unit): one for one in answers_in(study_data, field.id) if one.value is not None}
    again = answers_in(study_data, field.id, run=2)
    return [(first[key], one) for one in again if one.value is not None and (key := (one.rater, one.unit)) in first]


def _repeat_table(
    study_data: StudyData, fields: Sequence[Field], again: Mapping[str, list[tuple[FieldAnswer, FieldAnswer]]]
) -> Table:
    units = _units(study_data)
    rows: list[tuple[Cell, ...]] = []
    for field in fields:
        pairs = again[field.id]
        same = [UnitValue(a.unit, units[a.unit].clustered, float(a.value == b.value)) for a, b in pairs]
        same_side = [
            UnitValue(a.unit, units[a.unit].clustered, float(_chose_left(study_data, a) == _chose_left(study_data, b)))
            for a, b in pairs
            if a.value in SIDES and b.value in SIDES
        ]
        raters = len({a.rater for a, _ in pairs})
        why = "no pair was rated twice"
        rows.append(
            (
                field.id,
                cells.percent(share(study_data, same, field.id, "same answer again", raters=raters, why=why)),
                cells.percent(share(study_data, same_side, field.id, "same side again", raters=raters, why=why)),
                count(len(pairs), field.id, statistic="pairs rated twice"),
            )
        )
    head = ("Question", "The same answer", "The same side", "Rated twice")
    notes = ("The same side: of those that chose a side both times.",)
    return Table("pspa-d2-repeats", "What the same person says once more", head, tuple(rows), "", notes)


def _chose_left(study_data: StudyData, one: FieldAnswer) -> bool:
    return bool(one.value == left_side(study_data, one))


def _units(study_data: StudyData) -> Mapping[str, Unit]:
    return {unit.id: unit for unit in study_data.units}
