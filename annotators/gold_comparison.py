"""Comparison of one rater's answers with right ones: the plan's calibration gold, and settled answers."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from annotators.agreement.intervals.estimates import EstimateMaker, SampleCounts
from annotators.agreement.ratings.rater_sequence import share
from annotators.calibration import same_answer, tolerance_of
from annotators.study_data import StudyData
from lab.core.study.agreement import Agreement
from lab.core.study.rating_sheet import MISSING, FieldReference

ALL = "all answers"
"""Name in place of a field for numbers over several fields."""

RightValues = dict[tuple[str, FieldReference], tuple[Any, float]]
"""The right value of each place, and the largest distance from it at which a number is right."""
_MISSING: dict[str, str] = {str(reason): words for reason, words in MISSING.items()}


def share_as_gold(study_data: StudyData, rater: int) -> Agreement:
    """Return a rater's share of right answers at calibration places. `rater` is an index into the columns."""
    right_values: RightValues = {}
    for unit in study_data.units:
        for gold in unit.gold:
            near = tolerance_of(study_data.study.protocol.field(gold.field))
            right_values[unit.id, FieldReference(gold.target, gold.field)] = (gold.value, near)
    return _share_right(study_data, rater, "as gold", right_values, "no gold")


def share_as_settled(study_data: StudyData, rater: int) -> Agreement:
    """Return a rater's share of answers that equal the settled ones. They may have taken part in settling."""
    right_values: RightValues = {}
    for place, settlement in study_data.settled.items():
        reason = settlement.what.reason_missing
        # Settled answers are exact: the tolerance is for gold alone.
        right_values[place] = (_MISSING[reason] if reason else settlement.what.value, 0.0)
    return _share_right(study_data, rater, "as settled", right_values, "nothing settled")


def _share_right(study_data: StudyData, rater: int, name: str, right_values: RightValues, none: str) -> Agreement:
    columns = study_data.columns
    unit_ids = {unit for unit, _ in right_values}
    units = [i for i, id in enumerate(columns.units) if id in unit_ids]
    mine = (columns.rater == rater) & (columns.run == 1) & np.isin(columns.unit, units)
    clusters = {unit.id: unit.clustered for unit in study_data.units if unit.id in unit_ids}
    cluster_numbers: dict[str, int] = {}
    right: list[bool] = []
    trace: list[int] = []
    unit_of: list[int] = []
    for row in np.flatnonzero(mine).tolist():
        unit = columns.units[columns.unit[row]]
        place = (unit, FieldReference(columns.targets[columns.target[row]], columns.fields[columns.field[row]]))
        if place in right_values:
            right.append(same_answer(_label_value(study_data, row), *right_values[place]))
            trace.append(cluster_numbers.setdefault(clusters[unit], len(cluster_numbers)))
            unit_of.append(int(columns.unit[row]))
    why = f"{none} among what is handed in" if right_values else none
    at = np.array(trace, dtype=np.int32)
    one = share(name, np.array(right, dtype=np.bool_), at, len(cluster_numbers), why)
    n = rater_sample_counts(np.array(unit_of, dtype=np.int32), at, len(right))
    return EstimateMaker(study_data, ALL, n, between=f"{columns.raters[rater].id} and what is right").number(name, one)


def _label_value(study_data: StudyData, row: int) -> Any:
    """Return a label's value, or its reason in words."""
    columns = study_data.columns
    if columns.value[row] >= 0:
        return columns.values[columns.value[row]]
    return _MISSING.get(columns.reasons[columns.reason[row]]) if columns.reason[row] >= 0 else None


def rater_sample_counts(unit: npt.NDArray[np.int32], trace: npt.NDArray[np.int32], places: int) -> SampleCounts:
    """Return the sample size of a number about one rater."""
    return SampleCounts(places, len(np.unique(unit)), len(np.unique(trace)), 1, 0.0, {})
