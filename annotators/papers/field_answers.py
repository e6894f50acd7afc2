"""Raters' answers one at a time, for tables of counts that need no coefficient."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from annotators.agreement.ratings.fields import ratings_of, truth_of
from annotators.agreement.ratings.ratings import NO_MAJORITY
from annotators.study_data import StudyData
from lab.core.run.measured_run import MeasuredRun
from lab.core.study.rating_sheet import FieldReference
from lab.core.study.study import Unit

DONE = 0.99
"""A score above it is a success."""


class FieldAnswer(NamedTuple):
    """One current answer. `value` is None if `reason` is given. `seconds` is nan if unknown."""

    unit: str
    target: str
    rater: int
    run: int
    value: Any
    reason: str
    step: int
    seconds: float


def asked_units(study_data: StudyData) -> list[Unit]:
    """Return the units that count, in the study's order: all but those for calibration."""
    return [unit for unit in study_data.units if not unit.pilot]


def answers_in(
    study_data: StudyData, field: str, raters: Sequence[int] | None = None, run: int | None = 1
) -> list[FieldAnswer]:
    """Return the answers of these raters (default: the people) to a field.

    Only ratings of number `run` count, all if it is None. Calibration never counts.
    """
    columns = study_data.columns
    if field not in columns.fields:
        return []
    unit_ids = {unit.id for unit in asked_units(study_data)}
    among = study_data.people if raters is None else raters
    mask = (columns.field == columns.fields.index(field)) & np.isin(columns.rater, np.array(among, dtype=np.int32))
    if run is not None:
        mask &= columns.run == run
    return [one for row in np.flatnonzero(mask) if (one := _field_answer(study_data, int(row))).unit in unit_ids]


def how_many_answered(study_data: StudyData, field: str, among: Collection[str] | None = None) -> int:
    """Return the number of people who answered a field, in some units or all, without calibration."""
    columns = study_data.columns
    if field not in columns.fields:
        return 0
    pilot = {unit.id for unit in study_data.units if unit.pilot}
    counts = np.array(
        [unit not in pilot and (among is None or unit in among) for unit in columns.units], dtype=np.bool_
    )
    people = np.isin(columns.rater, np.array(study_data.people, dtype=np.int32))
    mask = (columns.field == columns.fields.index(field)) & people & (columns.value >= 0) & counts[columns.unit]
    return len(np.unique(columns.rater[mask]))


def _field_answer(study_data: StudyData, row: int) -> FieldAnswer:
    columns = study_data.columns
    value, reason = int(columns.value[row]), int(columns.reason[row])
    return FieldAnswer(
        columns.units[columns.unit[row]],
        columns.targets[columns.target[row]],
        int(columns.rater[row]),
        int(columns.run[row]),
        columns.values[value] if value >= 0 else None,
        columns.reasons[reason] if reason >= 0 else "",
        int(columns.step[row]),
        float(columns.seconds[row]),
    )


class Truth(NamedTuple):
    """The right value at a place, and its source: `rule`, `settled` (adjudicated), or `most` (majority)."""

    value: str
    by: str


def truths(study_data: StudyData, field: str) -> dict[tuple[str, str], Truth]:
    """Return the right value by unit and target, from a rule, an adjudication or a majority, if there is any."""
    ratings = ratings_of(study_data, field)
    most = truth_of(study_data, ratings)
    by_place: dict[tuple[str, str], Truth] = {}
    for place, code in zip(most.places, most.codes[:, 0], strict=True):
        if code >= 0:
            settled = (place.unit, FieldReference(place.target, field)) in study_data.settled
            by_place[place.unit, place.target] = Truth(most.categories[code], "settled" if settled else "most")
    # Rules come last, because they apply whatever people said.
    for unit in asked_units(study_data):
        for one in unit.mechanical:
            if one.field == field:
                by_place[unit.id, one.target] = Truth(str(one.value), "rule")
    return by_place


def unsettled_counts(
    study_data: StudyData,
    field: str,
    among: Collection[str] | None = None,
    places: Collection[tuple[str, str]] | None = None,
) -> dict[str, int]:
    """Return by reason how many answered places have no truth, among some units, some places, or all."""
    truth_by_place = truths(study_data, field)
    answer_places = {
        (one.unit, one.target) for one in answers_in(study_data, field) if among is None or one.unit in among
    }
    many = len((answer_places if places is None else answer_places.intersection(places)) - truth_by_place.keys())
    return {NO_MAJORITY: many} if many else {}


def configurations(study_data: StudyData, rater: int) -> dict[str, str]:
    """Return a model's configurations (prompt and parameters) by their hash, in the order of its acts."""
    actor = study_data.columns.raters[rater]
    return {
        str(act.detail["config_sha"]): str(act.detail.get("config", ""))
        for act in study_data.acts
        if (act.rater.kind, act.rater.id) == (actor.kind, actor.id) and "config_sha" in act.detail
    }


def run_of(unit: Unit) -> str:
    """Return the run of a unit, empty if it has none."""
    return unit.runs[0] if unit.runs else ""


def studies_beside(study_data: StudyData, protocol: str) -> list[StudyData]:
    """Return the further studies by that protocol that the report reads."""
    return [one for one in study_data.further.other_studies if one.study.protocol.id == protocol]


def cases_of(study_data: StudyData) -> dict[str, MeasuredRun]:
    """Return the run of each unit, for runs that are in the file."""

    def read() -> dict[str, MeasuredRun]:
        runs = [(unit.id, study_data.case(run_of(unit))) for unit in asked_units(study_data) if unit.runs]
        return {unit: case for unit, case in runs if case is not None}

    cases: dict[str, MeasuredRun] = study_data.cached(("cases", "by unit"), read)
    return cases


def success_by_run(study_data: StudyData, cases: Iterable[MeasuredRun]) -> dict[str, bool | None]:
    """Map each run to True if it succeeded, None if unknown.

    A study of success beside this one decides, else the run's settled answer, else its score.
    """
    by_unit: dict[str, bool | None] = {}
    for case in cases:
        score = case.success_score
        by_unit[case.id] = None if score is None else score > DONE
    # Raters' outcomes overwrite those from scores.
    for other in studies_beside(study_data, "success"):
        truth_by_place = truths(other, "outcome")
        for unit in asked_units(other):
            if run_of(unit) in by_unit and (unit.id, "") in truth_by_place:
                by_unit[run_of(unit)] = truth_by_place[unit.id, ""].value == "success"
    return by_unit
