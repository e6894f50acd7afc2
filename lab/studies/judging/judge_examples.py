"""Few-shot examples for a judge: units of dev with their settled answers, never a unit that is judged."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from annotators.agreement.ratings.fields import CATEGORICAL, FLAG, ratings_of, truth_of
from annotators.assignment import draw_number
from annotators.judging.question import JudgeExample, JudgeView
from annotators.judging.sheet_answer import asked_places
from annotators.judging.sheet_prompt import example_text
from annotators.study_data import StudyData
from annotators.validation.judge_config import examples_in
from annotators.validation.study_split import StudySplit
from lab.core.errors import LabError
from lab.core.study.rating_sheet import FieldReference
from lab.core.study.study import Study
from lab.core.values.rounding import count as counted
from lab.studies.judging.judge_view import JudgeViews
from lab.studies.progress.study_data import load_study_data
from store.store import Store

Answers = tuple[tuple[str, str, Any], ...]
"""(target, field, value) at each settled place of a unit, in reading order."""


def examples_of(
    store: Store, study: Study, views: JudgeViews, split: StudySplit, count: int, judge: str
) -> tuple[JudgeExample, ...]:
    """Return `count` settled units of dev, drawn by the study's seed and balanced over their answers.

    A judge that has examples already gets the same ones. Raise `LabError` if fewer units are settled.
    """
    study_data = load_study_data(store, study)
    right = _right_values(study_data)
    candidates: dict[str, JudgeExample] = {}
    for unit in study_data.with_units(split.dev).units:
        # People learn by pilot and gold units, so their answers are no independent truth.
        if unit.pilot or unit.gold:
            continue
        view = views.view(unit)
        answers = _settled_answers(view, right)
        if answers:
            candidates[unit.id] = JudgeExample(view, answers)
    if len(candidates) < count:
        raise LabError(
            "judge",
            f"--examples {count}: people have settled only {counted(len(candidates), 'unit')} of dev in {study.name}.",
            f"Name fewer than that, have people rate more of the {counted(len(split.dev), 'unit')} of dev, or settle "
            f"where they differ (`hitlab labels adjudicate {study.id}`): a unit counts once all of it is settled.",
        )
    before = [id for id in examples_in(study_data.acts, judge) if id in candidates]
    order = before if len(before) == count else _draw_order(study, candidates)[:count]
    return tuple(candidates[id] for id in order)


def examples_config(examples: Sequence[JudgeExample]) -> list[list[str]]:
    """Return the examples' part of a judge's configuration: each unit and a hash of its text in the prompt."""
    return [
        [one.view.unit.id, hashlib.sha256(example_text(one, 0).encode()).hexdigest()[:16]] for one in examples
    ]  # fmt: skip


def _right_values(study_data: StudyData) -> Mapping[tuple[str, str, str], Any]:
    """Return the adjudicated value, or the majority's, by unit, target and field."""
    right: dict[tuple[str, str, str], Any] = {}
    for field in study_data.study.protocol.fields:
        if field.kind not in CATEGORICAL:
            continue
        truth = truth_of(study_data, ratings_of(study_data, field.id))
        for row in np.flatnonzero(truth.codes[:, 0] >= 0).tolist():
            place, word = truth.places[row], truth.categories[truth.codes[row, 0]]
            right[place.unit, place.target, field.id] = word == FLAG[1] if field.kind == "flag" else word
    for (unit, spot), settlement in study_data.settled.items():
        if settlement.what.value is not None:
            right[unit, spot.target, spot.field] = settlement.what.value
    return right


def _settled_answers(view: JudgeView, right: Mapping[tuple[str, str, str], Any]) -> Answers:
    """Return the settled answers of a unit, empty if a required place without a condition is not settled."""
    answers: list[tuple[str, str, Any]] = []
    for place in asked_places(view):
        spot = FieldReference(place.item, place.field.id)
        value = right.get((view.unit.id, *spot))
        if value is not None:
            answers.append((*spot, value))
        elif place.field.kind in CATEGORICAL and place.field.required and not place.field.show_if:
            return ()
    return tuple(answers)


def _draw_order(study: Study, candidates: Mapping[str, JudgeExample]) -> list[str]:
    """Return units in an order drawn by the seed, taking turns between the first answers."""
    by_answer: dict[str, list[str]] = {}
    for id in sorted(candidates, key=lambda id: draw_number(study, "example", id)):
        by_answer.setdefault(str(candidates[id].answers[0][2]), []).append(id)
    rounds = max(map(len, by_answer.values()), default=0)
    return [ids[at] for at in range(rounds) for ids in by_answer.values() if at < len(ids)]
