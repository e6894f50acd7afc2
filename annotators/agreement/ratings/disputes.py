"""Items on which raters differ, with each rater's answer and evidence step."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from annotators.agreement.ratings.answers import answers_of, field_named
from annotators.agreement.ratings.ratings import RatedItem
from annotators.study_data import StudyData
from lab.core.study.option_sets import set_words
from lab.core.study.rating_sheet import target_of
from lab.core.study.study import Unit


class DisputedAnswer(NamedTuple):
    """One rater's answer: `step` (from 0) is their evidence, `missing` is True for a reason in place of an answer."""

    rater: str
    text: str
    step: int | None = None
    missing: bool = False


class Dispute(NamedTuple):
    """An item and its answers, the most frequent first. `about` is the item's name, `run` its unit's first run."""

    unit: str
    target: str
    about: str
    run: str
    answers: tuple[DisputedAnswer, ...]


def disputes(study_data: StudyData, field: str, places: Iterable[tuple[str, str]]) -> Iterator[Dispute]:
    """Yield a dispute for each place (unit, target) in order, with each rater's first rating, people before judges."""
    units = {unit.id: unit for unit in study_data.units}
    reader = _AnswerReader(study_data, field)
    for unit, target in places:
        one = units[unit]
        answer = reader.answers_at(RatedItem(unit, target))
        yield Dispute(unit, target, _item_name(one, target), one.runs[0] if one.runs else "", answer)


def disputes_between(dispute_list: Iterable[Dispute], one: str, other: str) -> list[Dispute]:
    """Return the disputes in which both of two raters gave an answer and the answers differ."""
    pair_disputes = []
    for dispute in dispute_list:
        words = {texts.rater: texts.text for texts in dispute.answers if not texts.missing}
        if one in words and other in words and words[one] != words[other]:
            pair_disputes.append(dispute)
    return pair_disputes


def _item_name(unit: Unit, target: str) -> str:
    found_target = target_of(unit, target)
    return found_target.says if found_target is not None else target


class _AnswerReader:
    """Reads the answers at a place, from the first rating of each rater, people before judges."""

    def __init__(self, study_data: StudyData, field: str) -> None:
        self.columns = study_data.columns
        self.raters = (*study_data.people, *study_data.judges)
        self.answers = answers_of(study_data, field_named(study_data, field), self.raters, 1)
        self.rows = {place: row for row, place in enumerate(self.answers.places.places)}

    def answers_at(self, place: RatedItem) -> tuple[DisputedAnswer, ...]:
        """Return the answers at a place without those that were not asked or not handed in."""
        row = self.rows.get(place)
        if row is None:
            return ()
        return _most_first(
            [(at, one) for at in range(len(self.raters)) if (one := self._disputed_answer(row, at)) is not None]
        )

    def _disputed_answer(self, row: int, at: int) -> DisputedAnswer | None:
        answers, columns = self.answers, self.columns
        value, why, step = int(answers.value[row, at]), int(answers.why[row, at]), int(answers.step[row, at])
        rater = columns.raters[self.raters[at]].id
        if value < 0:
            return (
                DisputedAnswer(rater, answers.reasons[why].replace("_", " "), None, True)
                if answers.has_reason[row, at]
                else None
            )
        # The number behind the last value is a flag that was not raised.
        says = _value_word(columns.values[value]) if value < len(columns.values) else "no"
        return DisputedAnswer(rater, says, step if step >= 0 else None)


def _most_first(answers: Sequence[tuple[int, DisputedAnswer]]) -> tuple[DisputedAnswer, ...]:
    """Sort answers by frequency, equal answers beside one another."""
    counts: dict[tuple[str, bool], int] = {}
    for _, one in answers:
        counts[one.text, one.missing] = counts.get((one.text, one.missing), 0) + 1
    ordered = sorted(answers, key=lambda it: (-counts[it[1].text, it[1].missing], it[1].text, it[0]))
    return tuple(one for _, one in ordered)


def _value_word(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list):
        return set_words(value)
    return f"{value:g}" if isinstance(value, float) else str(value)
