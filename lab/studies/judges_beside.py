"""What judges say of a unit, laid beside a rater's own answers once these are handed in, where a study reveals models.

Nobody sees it before they have committed, nor while the same unit is to be rated by them once more. That it was seen is
kept first, and what was seen is not taken back: an answer is never changed to a judge's.
"""

from __future__ import annotations

from typing import NamedTuple

from lab.core.adjudication import PlaceAnswer, masks, place_answers
from lab.core.label import Label
from lab.core.rating_sheet import FieldReference
from lab.core.study import Study
from lab.studies.rating_session import RatingSession


class JudgeAnswer(NamedTuple):
    """What a judge says at a place: `judge` is its name where raters' codes may be told, else J1, J2 ...

    `note` is its reason; `same` is whether the rater says the same, None where they say nothing there.
    """

    spot: FieldReference
    judge: str
    said: PlaceAnswer
    note: str
    same: bool | None


def judges_beside(session: RatingSession) -> list[JudgeAnswer]:
    """Judges' answers at the places of the unit that the rater has just handed in; that they see them is kept first."""
    answers = _found(session)
    if answers and session.unit is not None:
        judges = sorted({answer.said.rater.id for answer in answers})
        session.act("judges", session.unit.id, {"judges": judges})
    return answers


def _found(session: RatingSession) -> list[JudgeAnswer]:
    study, unit, sheet = session.study, session.unit, session.sheet
    if "models" in study.blind or unit is None or sheet is None or not sheet.committed or _to_rate_again(session):
        return []
    labels = [one for one in session.store.labels.read(study, unit.id) if one.rater.kind == "model"]
    names = _names(study, unit.id, labels)
    return [
        JudgeAnswer(spot, names[one.rater.kind, one.rater.id], one, one.label.note if one.label else "",
                    _same(sheet.heads.get(spot), one))
        for spot in sheet.spots
        for one in place_answers(study, spot, labels, ())
        if not one.person
    ]  # fmt: skip


def _to_rate_again(session: RatingSession) -> bool:
    """Whether this rater has the unit before them once more."""
    study, person, unit = session.study, session.person.id, session.unit
    assert unit is not None
    assignments = session.store.studies.assignments(study, person, unit.id)
    committed_runs = {act.run for act in session.store.labels.acts(study, person, unit.id) if act.act == "commit"}
    return any(assignment.run not in committed_runs for assignment in assignments)


def _names(study: Study, unit: str, labels: list[Label]) -> dict[tuple[str, str], str]:
    order = masks(study, unit, [one.rater for one in labels])
    ranked = sorted(order, key=lambda one: order[one])
    unmasked = "raters" not in study.blind
    return {one: one[1] if unmasked else f"J{at}" for at, one in enumerate(ranked, 1)}


def _same(own: Label | None, judge: PlaceAnswer) -> bool | None:
    if own is None or own.cleared:
        return None
    return PlaceAnswer(own.rater, own.value, own.reason_missing).word == judge.word
