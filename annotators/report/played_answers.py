"""Participants' answers after their plays: by condition, differences within each person, and who played what.

A played study varies the condition, and measures by the questions after a play. A difference is between a person's
means under two conditions, over the people who answered under both. Its interval is over persons.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from math import sqrt
from typing import Any

import numpy as np
from msgspec.structs import replace

from annotators.agreement.coefficients.additive import Estimate
from annotators.agreement.coefficients.numbers import mean
from annotators.agreement.intervals.estimates import as_agreement
from annotators.agreement.intervals.intervals import FEW_TRACES, LEAST_TRACES, SAME_IN_ALL, estimate, t_quantile
from annotators.papers.cells import clip_difference
from annotators.report.field_values import TOO_FEW, AnswerMeasure, FieldValues, answer_number, field_values, number_of
from annotators.report.sample_section import reason_words
from annotators.study_data import StudyData
from lab.core.study.agreement import Agreement, IntervalTerms
from lab.core.study.report import Cell, Number, Table
from lab.core.study.study import Assignment, Play

ALONE = "answered_under_one_alone"
"""Reason for a person without answers under one of two conditions."""
_WHY = {FEW_TRACES: TOO_FEW, SAME_IN_ALL: "no person differs from the rest"}
_PAIRED = (
    "Each person's mean under one condition minus their mean under the other, over those who answered under both; "
    "intervals are Student's, over persons."
)


def played_tables(study_data: StudyData) -> list[Table]:
    """Return answers by condition, paired differences, and persons by position, empty if nobody plays."""
    plays = {unit.id: unit.play for unit in study_data.units if unit.play is not None and not unit.pilot}
    conditions = list(dict.fromkeys(play.condition for play in plays.values() if play.user == "person"))
    if not conditions:
        return []
    fields = [field_values(study_data, field) for field in study_data.study.protocol.fields]
    told = [of for of in fields if of is not None and of.is_given.any()]
    tables = []
    if told:
        tables.append(_by_condition(study_data, told, plays, conditions))
        tables += [_paired_table(study_data, told, plays, *pair) for pair in combinations(conditions, 2)]
    return [*tables, *_places(study_data, plays, conditions)]


def _measures(told: Sequence[FieldValues]) -> Iterator[tuple[str, FieldValues, AnswerMeasure]]:
    """Yield each number of each question with its name: a scale's mean, else the share of every option."""
    for of in told:
        for one in of.reported_measures:
            yield f"{of.field.id}, {'mean' if one.statistic == 'mean' else one.name}", of, one


def _condition_of(plays: Mapping[str, Play], unit: str) -> str:
    return plays[unit].condition if unit in plays else ""


def _by_condition(
    study_data: StudyData, told: Sequence[FieldValues], plays: Mapping[str, Play], conditions: Sequence[str]
) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for name, of, one in _measures(told):
        row: list[Cell] = [name]
        for condition in conditions:
            mask = np.array([_condition_of(plays, place.unit) == condition for place in of.places], dtype=np.bool_)
            number = answer_number(study_data, of, one, rows=mask, part=condition)
            lacking = sum(number.agreement.reasons.values())
            row += [number, f"{number.agreement.places:,}" + (f" ({lacking:,} missing)" if lacking else "")]
        rows.append(tuple(row))
    columns = ("", *(head for condition in conditions for head in (condition, f"n ({condition})")))
    return Table("answers-by-condition", "Answers after the play, by condition", columns, tuple(rows),
                 notes=tuple(_why_none(rows)))  # fmt: skip


def _why_none(rows: Sequence[Sequence[Cell]]) -> list[str]:
    """Return the reasons for missing intervals in a table."""
    why = dict.fromkeys(
        cell.agreement.no_interval
        for row in rows
        for cell in row
        if isinstance(cell, Number) and cell.agreement.value is not None and cell.agreement.no_interval
    )
    return [f"No interval: {'; '.join(why)}."] if why else []


# -- within a person -------------------------------------------------------------------------------------------


def _paired_table(
    study_data: StudyData, told: Sequence[FieldValues], plays: Mapping[str, Play], one: str, other: str
) -> Table:
    rows = [_paired_row(study_data, name, of, measure, plays, (one, other)) for name, of, measure in _measures(told)]
    id = f"answers-paired-{one}-{other}".replace(" ", "-").replace(",", "")
    columns = ("", one, other, "Difference", "Persons", "Left out")
    return Table(id, f"{one} against {other}, within each person", columns, tuple(rows),
                 notes=(_PAIRED, *_why_none(rows)))  # fmt: skip


def _paired_row(
    study_data: StudyData, name: str, of: FieldValues, measure: AnswerMeasure, plays: Mapping[str, Play],
    pair: tuple[str, str],
) -> tuple[Cell, ...]:  # fmt: skip
    means = [_person_means(of, measure, plays, condition) for condition in pair]
    persons = sorted(means[0].keys() & means[1].keys())
    alone = len(means[0].keys() ^ means[1].keys())
    cells = [
        _over_persons(study_data, of, measure, {who: own[who] for who in persons}, condition, alone)
        for own, condition in zip(means, pair, strict=True)
    ]
    gaps = {who: means[0][who] - means[1][who] for who in persons}
    difference = _over_persons(study_data, of, measure, gaps, f"{pair[0]} minus {pair[1]}", alone, gap=True)
    return name, *cells, difference, f"{len(persons):,}", f"{alone:,} {reason_words(ALONE)}" if alone else "—"


def _person_means(
    of: FieldValues, measure: AnswerMeasure, plays: Mapping[str, Play], condition: str
) -> dict[str, float]:
    """Return each person's mean over their plays under a condition."""
    rows = np.array([_condition_of(plays, place.unit) == condition for place in of.places], dtype=np.bool_)
    means = {}
    for at, rater in enumerate(of.raters):
        own = measure.values[rows, at]
        own = own[np.isfinite(own)]
        if len(own):
            means[rater] = float(own.mean())
    return means


def _over_persons(
    study_data: StudyData, of: FieldValues, measure: AnswerMeasure, values: Mapping[str, float], part: str, alone: int,
    *, gap: bool = False,
) -> Number:  # fmt: skip
    """Return the mean over persons of their means, or of their differences."""
    part = ", ".join(filter(None, (measure.name if measure.statistic == "share" else "", part)))
    statistic = f"{measure.statistic} over persons{', difference' if gap else ''}"
    lacking: dict[str, Any] = {"missing": alone / (alone + len(values)), "reasons": {ALONE: alone}} if alone else {}
    number = as_agreement(
        _t_estimate(list(values.values()), study_data.how), study_data.how, of.field.id, statistic, part=part,
        clusters="person", places=len(values), units=len(values), traces=len(values), raters=len(values), **lacking,
    )  # fmt: skip
    return number_of(_clip_to_scale(number, measure, gap=gap))


def _t_estimate(values: Sequence[float], how: IntervalTerms) -> Estimate:
    """Return the mean over persons with Student's interval, or a bootstrap over persons if the report uses it."""
    if not values:
        return Estimate(None, "nobody answered under both")
    column = np.array(values)
    if how.interval == "bootstrap":
        found = estimate(mean(column, np.arange(len(column), dtype=np.int32), len(column)), how)
        return found._replace(no_interval=_WHY.get(found.no_interval, found.no_interval))
    value = float(column.mean())
    if len(column) < LEAST_TRACES:
        return Estimate(value, no_interval=TOO_FEW)
    error = float(column.std(ddof=1)) / sqrt(len(column))
    if error <= 1e-12:
        return Estimate(value, no_interval=_WHY[SAME_IN_ALL], standard_error=error)
    reach = t_quantile((1 + how.level) / 2, len(column) - 1) * error
    return Estimate(value, "", value - reach, value + reach, "", error, "t")


def _clip_to_scale(found: Agreement, measure: AnswerMeasure, *, gap: bool) -> Agreement:
    """Return a number with its interval clipped to its scale, or to the largest possible difference."""
    if measure.least is None or measure.most is None:
        return found
    if gap:
        return clip_difference(found, measure.most - measure.least)
    if found.low is None or found.high is None:
        return found
    return replace(found, low=max(measure.least, found.low), high=min(measure.most, found.high))


# -- who played what -------------------------------------------------------------------------------------------


def _places(study_data: StudyData, plays: Mapping[str, Play], conditions: Sequence[str]) -> list[Table]:
    """Return what each person plays in order, with conditions, and the count of each condition by position."""
    dealt = [one for one in study_data.further.assignments() if one.unit in plays]
    if not dealt:
        return []
    by_person: dict[str, list[Assignment]] = {}
    for one in dealt:
        by_person.setdefault(one.rater, []).append(one)
    handed = _handed_in(study_data)
    most = max(map(len, by_person.values()))
    several_tasks = len({play.task.id for play in plays.values()}) > 1

    def cell(one: Assignment) -> str:
        play = plays[one.unit]
        words = f"{play.condition}: {play.task.id}" if several_tasks else play.condition
        return words if (one.unit, one.rater, one.run) in handed else f"{words} (not handed in)"

    rows = tuple(
        (who, *(cell(one) for one in own), *([""] * (most - len(own)))) for who, own in sorted(by_person.items())
    )
    columns = ("Person", *(f"Place {at}" for at in range(1, most + 1)))
    persons = Table("answers-persons", "Who played what, in which place and under which condition", columns, rows)
    counts = tuple(
        (
            condition,
            *(
                f"{sum(len(own) > at and plays[own[at].unit].condition == condition for own in by_person.values()):,}"
                for at in range(most)
            ),
            f"{sum(plays[one.unit].condition == condition for one in dealt):,}",
        )
        for condition in conditions
    )
    places = Table(
        "answers-places", "How often each condition stands in each place", ("Condition", *columns[1:], "All"), counts
    )
    return [persons, places]


def _handed_in(study_data: StudyData) -> set[tuple[str, str, int]]:
    columns = study_data.columns
    return {
        (columns.units[unit], columns.raters[rater].id, int(run))
        for (unit, rater, run), handed in zip(columns.dealt.tolist(), columns.handed.tolist(), strict=True)
        if handed
    }
