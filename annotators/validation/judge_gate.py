"""The gate for judges: a file with a judge's answers at settled places, compared with those of a later judge."""

from __future__ import annotations

from collections import Counter
from typing import NamedTuple

import msgspec
import numpy as np

from annotators.agreement.ratings.fields import join_columns
from annotators.agreement.ratings.ratings import RatedItem, Ratings
from annotators.study_data import StudyData
from annotators.validation.drift import Drift, drift
from annotators.validation.judged_ratings import judged_ratings
from annotators.validation.study_split import Split, parts_of
from lab.core.errors import LabError
from lab.core.study.agreement import IntervalTerms


class GateAnswer(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A judge's answer at a place, and the settled one. `cluster` is the cluster for intervals."""

    unit: str
    target: str
    field: str
    settled: str
    said: str
    cluster: str


class JudgeGate(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A judge's answers at all settled places of a study: the file of `hitlab judge --gate FILE`."""

    study: str
    study_sha: str
    protocol_sha: str
    judge: str
    answers: tuple[GateAnswer, ...]
    v: int = 1


class GatedField(NamedTuple):
    """A judge's change at one field.

    `changed` counts places that were settled differently since, which are left out.
    """

    field: str
    drift: Drift
    changed: int


def gate_of(study_data: StudyData, judge: str, part: Split | None = None) -> JudgeGate:
    """Return a judge's current answers, over a `part` of a split study or all of it.

    Raise `LabError` if the study has no such judge, or if none of its answers is settled.
    """
    study = study_data.study
    split = parts_of(study_data) if part is not None else None
    if part is not None and split is not None:
        study_data = study_data.with_units(split.units(part))
    at = next((at for at in study_data.judges if study_data.columns.raters[at].id == judge), None)
    if at is None:
        raise LabError("judge", f"{judge} has judged nothing in {study.name}.")
    answers: list[GateAnswer] = []
    for one in judged_ratings(study_data, at):
        both = join_columns(one.said, one.truth)
        for row in np.flatnonzero((both.codes >= 0).all(axis=1)).tolist():
            place, (now, settled) = both.places[row], both.codes[row]
            answers.append(
                GateAnswer(
                    place.unit, place.target, one.field.id, both.categories[settled], both.categories[now],
                    both.traces[both.trace[row]],
                )
            )  # fmt: skip
    if not answers:
        what = study.name if part is None else f"{study.name}, units of {part},"
        raise LabError("judge", f"nothing that {judge} answered in {what} is settled by people.")
    return JudgeGate(study.name, study.sha, study.protocol.sha, judge, tuple(answers))


def compare_gates(before: JudgeGate, after: JudgeGate, how: IntervalTerms) -> list[GatedField]:
    """Return the change of each field over the places that both have with the same settled answer.

    Raise `LabError` if there are none.
    """
    # Answers to other questions cannot be compared.
    if before.protocol_sha != after.protocol_sha:
        raise LabError("--gate", f"was written of another protocol than that of {after.study}.")
    fields: list[GatedField] = []
    for field in dict.fromkeys(one.field for one in before.answers):
        old, new = _by_place(before, field), _by_place(after, field)
        common = sorted(old.keys() & new.keys())
        # A changed truth would look like a change of the judge.
        same = [place for place in common if old[place].settled == new[place].settled]
        if same:
            pair = [_ratings(field, [rows[place] for place in same], old, new) for rows in (old, new)]
            fields.append(GatedField(field, drift(pair[0], pair[1], how), len(common) - len(same)))
    if not fields:
        raise LabError("--gate", f"holds no place that {after.judge} answered, too.")
    return fields


def missing_places(
    before: JudgeGate, after: JudgeGate, study_data: StudyData, part: Split | None = None
) -> dict[str, int]:
    """Return by field how many places of `before`, in a `part` of the study, lack an answer in `after`, if any."""
    split = parts_of(study_data) if part is not None else None
    units = {*split.units(part)} if part is not None and split is not None else None
    there = {(one.unit, one.target, one.field) for one in after.answers}
    return Counter(
        one.field for one in before.answers
        if (units is None or one.unit in units) and (one.unit, one.target, one.field) not in there
    )  # fmt: skip


def _by_place(gate: JudgeGate, field: str) -> dict[tuple[str, str], GateAnswer]:
    return {(one.unit, one.target): one for one in gate.answers if one.field == field}


def _ratings(field: str, rows: list[GateAnswer], *both: dict[tuple[str, str], GateAnswer]) -> Ratings:
    """Return truth and judge as two columns. Categories are those of both versions."""
    every = [one for answers in both for one in answers.values()]
    categories = tuple(sorted({word for one in every for word in (one.settled, one.said)}))
    clusters = tuple(sorted({one.cluster for one in rows}))
    code, cluster = {name: at for at, name in enumerate(categories)}, {name: at for at, name in enumerate(clusters)}
    return Ratings(
        field, categories, np.array([[code[one.settled], code[one.said]] for one in rows], dtype=np.int16),
        ("truth", "judge"), np.array([cluster[one.cluster] for one in rows], dtype=np.int32), clusters,
        tuple(RatedItem(one.unit, one.target) for one in rows),
    )  # fmt: skip
