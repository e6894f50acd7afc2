"""Judges' answers beside a rater's own after hand-in, if the study reveals models.

A rater sees them only after committing, and not while the same unit is dealt to them once more. The session records
this first. A unit whose judges were seen cannot be reopened, so that no answer follows a judge's.
"""

from __future__ import annotations

from typing import NamedTuple

from lab.core.study.adjudication import PlaceAnswer, place_answers, rater_letters
from lab.core.study.label import Label
from lab.core.study.rating_sheet import FieldReference
from lab.core.study.study import Study
from lab.studies.rating.rating_session import RatingSession


class JudgeAnswer(NamedTuple):
    """One judge's answer at a place.

    `judge` is its name, or J1, J2 ... if the study is blind to raters. `note` is its reason. `same` is True if the
    rater agrees, None if they gave no answer.
    """

    spot: FieldReference
    judge: str
    said: PlaceAnswer
    note: str
    same: bool | None


def judges_beside(session: RatingSession) -> list[JudgeAnswer]:
    """Return the judges' answers to the unit just handed in. Record first that the rater sees them."""
    answers = _judge_answers(session)
    if answers and session.unit is not None:
        judges = sorted({answer.said.rater.id for answer in answers})
        session.act("judges", session.unit.id, {"judges": judges})
    return answers


def _judge_answers(session: RatingSession) -> list[JudgeAnswer]:
    study, unit, sheet = session.study, session.unit, session.sheet
    if "models" in study.blind or unit is None or sheet is None or not sheet.committed or _to_rate_again(session):
        return []
    labels = [one for one in session.store.labels.read(study, unit.id) if one.rater.kind == "model"]
    names = _judge_names(study, unit.id, labels)
    return [
        JudgeAnswer(spot, names[one.rater.kind, one.rater.id], one, one.label.note if one.label else "",
                    _is_same_answer(sheet.heads.get(spot), one))
        for spot in sheet.spots
        for one in place_answers(study, spot, labels, ())
        if not one.person
    ]  # fmt: skip


def _to_rate_again(session: RatingSession) -> bool:
    """Return True if the unit is dealt to this rater once more."""
    study, person, unit = session.study, session.person.id, session.unit
    assert unit is not None
    assignments = session.store.studies.assignments(study, person, unit.id)
    committed_runs = {act.run for act in session.store.labels.acts(study, person, unit.id) if act.act == "commit"}
    return any(assignment.run not in committed_runs for assignment in assignments)


def _judge_names(study: Study, unit: str, labels: list[Label]) -> dict[tuple[str, str], str]:
    order = rater_letters(study, unit, [one.rater for one in labels])
    ranked = sorted(order, key=lambda one: order[one])
    unmasked = "raters" not in study.blind
    return {one: one[1] if unmasked else f"J{at}" for at, one in enumerate(ranked, 1)}


def _is_same_answer(own: Label | None, judge: PlaceAnswer) -> bool | None:
    if own is None or own.cleared:
        return None
    return PlaceAnswer(own.rater, own.value, own.reason_missing).word == judge.word
