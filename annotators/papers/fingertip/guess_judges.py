"""Verdicts on guesses by their texts: people's majority, and each judge."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from annotators.papers.field_answers import answers_in, asked_units, studies_beside, truths
from annotators.study_data import StudyData
from lab.core.study import Unit

SAME = "same"
Texts = tuple[str, str]


class Verdicts(NamedTuple):
    """Verdicts of `name` on pairs of intent and guess: same, not_same, cannot_tell."""

    name: str
    of: Mapping[Texts, str]

    def right(self, intent: str, guess: str) -> bool | None:
        """Return True if a guess is right; None if it was not judged or cannot be judged."""
        verdict = self.of.get((_normalise(intent), _normalise(guess)))
        return {"same": True, "not_same": False}.get(verdict or "")


def verdicts(study_data: StudyData) -> list[Verdicts]:
    """Return the verdicts of studies of same intents beside this one: the majority first, then each judge."""
    rows: list[Verdicts] = []
    for other in studies_beside(study_data, "same-intent"):
        texts = {unit.id: texts_of(unit) for unit in asked_units(other)}
        most = {texts[unit]: one.value for (unit, _), one in truths(other, SAME).items()}
        if most:
            rows.append(Verdicts("most people", most))
        for judge in other.judges:
            verdict_texts = {
                texts[one.unit]: str(one.value) for one in answers_in(other, SAME, (judge,)) if one.value is not None
            }
            if verdict_texts:
                rows.append(Verdicts(other.columns.raters[judge].id, verdict_texts))
    return rows


def texts_of(unit: Unit) -> Texts:
    """Return intent and guess of a unit, normalised for comparison."""
    sides = {material.side: material.text for material in unit.given}
    return _normalise(sides.get("A", "")), _normalise(sides.get("B", ""))


def _normalise(text: str) -> str:
    return " ".join(text.split())
