"""Values derived from each rater's sheets: node answers after paths and dependencies, rates and scores."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Literal

import numpy as np
import numpy.typing as npt

from annotators.agreement.ratings.answers import FieldAnswers, Ints, rule_answers
from annotators.derived import (
    COMPLETED,
    NOT_COMPLETED,
    TdgDerived,
    decisions_derived,
    graph_of,
    irr_derived,
    is_success,
    path_of,
    rubric_score,
)
from annotators.study_data import StudyData
from lab.core.codec import encode
from lab.core.study.label import Label
from lab.core.study.protocol import Field
from lab.core.study.rating_sheet import Sheet
from lab.core.study.study import Unit
from lab.core.task.task import Tdg
from lab.core.values.whole_number import whole_number

Codes = npt.NDArray[np.int16]
Name = Literal["apr", "ppr", "irr", "score", "decisions"]
NAMES: Mapping[str, tuple[Name, ...]] = {
    "tdg nodes": ("apr", "ppr"), "information units": ("irr",), "criteria": ("score",), "branches": ("decisions",),
}  # fmt: skip
"""Names of the values derived from a sheet, by the protocol's targets."""
NOTHING_FOLLOWS = "nothing_follows"
"""Reason why a sheet that is handed in has no derived value: an open item could change it, or it has no targets."""


def derived_codes(
    study_data: StudyData, field: Field, raters: tuple[int, ...], run: int, codes: Codes, answers: FieldAnswers
) -> tuple[Codes, Ints, tuple[str, ...]]:
    """Return node answers after derivation, with reasons: `not_applicable` on paths that were not taken."""
    derivation: tuple[Codes, Ints, tuple[str, ...]] = study_data.cached(
        ("after", field.id, raters, run), lambda: _derive_codes(study_data, field, codes, answers)
    )
    return derivation


def _derive_codes(
    study_data: StudyData, field: Field, codes: Codes, answers: FieldAnswers
) -> tuple[Codes, Ints, tuple[str, ...]]:
    names = answers.reasons if "not_applicable" in answers.reasons else (*answers.reasons, "not_applicable")
    category_codes = {option.id: i for i, option in enumerate(one for one in field.options if not one.by_rule)}
    # Without both options there is no path to derive.
    if not {COMPLETED, NOT_COMPLETED} <= category_codes.keys():
        return codes, answers.why, answers.reasons
    codes, why = codes.copy(), answers.why.copy()
    derive = _Deriving(study_data, field)
    rows = _rows_of_units(answers)
    for unit, (first, last) in rows.items():
        # Targets that are not nodes of the graph keep their answers.
        node_ids = {node.id for node in derive.graph(unit)[1].walk()}
        for column in range(codes.shape[1]):
            if not ((codes[first:last, column] >= 0) | (why[first:last, column] >= 0)).any():
                continue
            derivation = derive.sheet(unit, answers, codes, first, last, column)
            for at in range(first, last):
                if codes[at, column] < 0 or answers.places.places[at].target not in node_ids:
                    continue
                # A derived word that is not a category is a reason for having no answer, such as `not_applicable`.
                word = derivation.after[answers.places.places[at].target]
                codes[at, column] = category_codes.get(word, -1)
                if codes[at, column] < 0:
                    why[at, column] = names.index(word)
    return codes, why, names


def _rows_of_units(answers: FieldAnswers) -> dict[int, tuple[int, int]]:
    """Return the range of rows (first, end) of each unit among a field's places."""
    rows: dict[int, tuple[int, int]] = {}
    for at, unit in enumerate(answers.places.unit.tolist()):
        rows[unit] = (rows.get(unit, (at, at))[0], at + 1)
    return rows


class _Deriving:
    """Derives paths of sheets and computes each pattern of answers on a graph once."""

    def __init__(self, study_data: StudyData, field: Field) -> None:
        self.units = {one.id: one for one in study_data.units}
        self.columns = study_data.columns
        self.field = field
        self.names = tuple(option.id for option in field.options if not option.by_rule)
        self._graphs: dict[int, tuple[bytes, Tdg]] = {}
        self._paths: dict[object, TdgDerived] = {}

    def graph(self, unit: int) -> tuple[bytes, Tdg]:
        if unit not in self._graphs:
            tdg = graph_of(self.units[self.columns.units[unit]])
            # Equal graphs of different units share their results through the encoded bytes.
            self._graphs[unit] = (encode(tdg), tdg)
        return self._graphs[unit]

    def sheet(self, unit: int, answers: FieldAnswers, codes: Codes, first: int, last: int, column: int) -> TdgDerived:
        """Return the derivation of one rater's answers on one unit."""
        before: dict[str, str] = {}
        steps: dict[str, int] = {}
        gave = answers.has_reason[first:last, column]
        for at in range(first, last):
            target = answers.places.places[at].target
            if codes[at, column] >= 0:
                before[target] = self.names[codes[at, column]]
                steps[target] = int(answers.step[at, column])
            elif gave[at - first]:
                before[target] = answers.reasons[answers.why[at, column]]
        # A rule's answers come last, because they apply whatever the rater said.
        for target, value in rule_answers(self.units[self.columns.units[unit]], self.field.id).items():
            before[target] = str(value)
        return self.path(unit, before, steps)

    def path(self, unit: int, before: Mapping[str, str], steps: Mapping[str, int]) -> TdgDerived:
        """Return the path that such answers take, cached."""
        sha, tdg = self.graph(unit)
        key = (sha, tuple(before.items()), tuple(steps.items()))
        if key not in self._paths:
            self._paths[key] = path_of(tdg, before, _known_steps(before, steps))
        return self._paths[key]


def _known_steps(before: Mapping[str, str], steps: Mapping[str, int]) -> dict[str, int | None]:
    """Return steps as `path_of` expects them: a completion without a step counts as late as the latest known one."""
    steps_done = [step for id, step in steps.items() if before[id] == COMPLETED and step >= 0]
    latest = max(steps_done, default=0)
    steps_by_id: dict[str, int | None] = {}
    for id, state in before.items():
        if state == COMPLETED:
            step = steps.get(id, -1)
            steps_by_id[id] = step if step >= 0 else latest
        elif state == NOT_COMPLETED:
            steps_by_id[id] = None
    return steps_by_id


# -- sheets anew -----------------------------------------------------------------------------------------------


def sheets_from_labels(study_data: StudyData, raters: Sequence[int], run: int = 1) -> Iterator[tuple[int, int, Sheet]]:
    """Yield (unit, rater, sheet) for these raters from their current labels, without pilots.

    Unit and rater are indices.
    """
    columns = study_data.columns
    units = {one.id: one for one in study_data.units if not one.pilot}
    of_raters = np.isin(columns.rater, list(raters)) & (columns.run == run)
    rows = np.flatnonzero(of_raters)
    # Sorted by unit and rater, each sheet's labels are one stretch of rows.
    rows = rows[np.lexsort((columns.rater[rows], columns.unit[rows]))]
    edges = np.flatnonzero(np.diff(columns.unit[rows]) | np.diff(columns.rater[rows])) + 1
    for some in np.split(rows, edges) if len(rows) else []:
        at, rater = int(columns.unit[some[0]]), int(columns.rater[some[0]])
        unit = units.get(columns.units[at])
        if unit is not None:
            labels = [_label(study_data, unit, row) for row in some.tolist()]
            yield at, rater, Sheet(study_data.study.protocol, unit, labels)


def _label(study_data: StudyData, unit: Unit, row: int) -> Label:
    columns = study_data.columns
    value, reason, step = int(columns.value[row]), int(columns.reason[row]), int(columns.step[row])
    return Label(
        "", study_data.study.id, study_data.study.version, unit.id, columns.targets[columns.target[row]],
        columns.fields[columns.field[row]], columns.raters[columns.rater[row]],
        columns.values[value] if value >= 0 else None, int(columns.run[row]),
        reason_missing=columns.reasons[reason] if value < 0 <= reason else None,  # type: ignore[arg-type]
        evidence=f"{unit.runs[0]}@{step + 1}" if step >= 0 and unit.runs else None,
    )  # fmt: skip


def values_of(
    study_data: StudyData, name: Name, raters: Sequence[int], run: int = 1
) -> dict[tuple[int, int], float | None]:
    """Return the value derived from each sheet, by unit and rater (indices), or None if a sheet gives none."""
    find = _VALUE_FUNCTIONS[name]
    return {(at, rater): find(study_data, sheet) for at, rater, sheet in sheets_from_labels(study_data, raters, run)}


def _path(study_data: StudyData, sheet: Sheet) -> TdgDerived:
    field = next(one.id for one in sheet.protocol.fields if one.option(COMPLETED))
    before: dict[str, str] = {}
    steps: dict[str, int] = {}
    for spot, label in sheet.heads.items():
        if spot.field == field:
            before[spot.target] = label.reason_missing or str(label.value)
            steps[spot.target] = (whole_number((label.evidence or "").rpartition("@")[2]) or 0) - 1
    before |= {target: str(value) for target, value in rule_answers(sheet.unit, field).items()}
    derive: _Deriving = study_data.cached(
        ("deriving", field), lambda: _Deriving(study_data, sheet.protocol.field(field) or sheet.protocol.fields[0])
    )
    at: dict[str, int] = study_data.cached(
        "unit numbers", lambda: {id: i for i, id in enumerate(study_data.columns.units)}
    )
    return derive.path(at[sheet.unit.id], before, {id: step for id, step in steps.items() if id in before})


def _apr(study_data: StudyData, sheet: Sheet) -> float | None:
    alignment = _path(study_data, sheet).aligned
    return None if alignment is None else alignment.apr


def _ppr(study_data: StudyData, sheet: Sheet) -> float | None:
    alignment = _path(study_data, sheet).aligned
    return None if alignment is None else alignment.ppr


def _irr(study_data: StudyData, sheet: Sheet) -> float | None:
    case = study_data.case(sheet.unit.runs[0]) if sheet.unit.runs else None
    return irr_derived(sheet.unit, sheet, is_success(case.score) if case is not None else None).value


def _score(study_data: StudyData, sheet: Sheet) -> float | None:
    return rubric_score(sheet.unit, sheet)


def _decisions(study_data: StudyData, sheet: Sheet) -> float | None:
    return decisions_derived(sheet.unit, sheet).accuracy


_VALUE_FUNCTIONS: Mapping[Name, Callable[[StudyData, Sheet], float | None]] = {
    "apr": _apr, "ppr": _ppr, "irr": _irr, "score": _score, "decisions": _decisions,
}  # fmt: skip
