"""A rater's answers beside gold: what a pilot teaches, and whether a rater meets the study's bar."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations
from typing import Any, NamedTuple

from lab.core.option_sets import set_words
from lab.core.protocol import Field
from lab.core.rating_sheet import MISSING, FieldReference, Sheet
from lab.core.study import Gold

NEAR = 0.05
"""How far from gold a number may be and still be right, as a share of its field's range: 5 of 100."""


class CalibrationAnswer(NamedTuple):
    """One place of a calibration unit: what the rater said (in words where it is a reason), and what is right.

    `near` is how far a number may be from gold and still be right.
    """

    spot: FieldReference
    said: Any
    gold: Gold
    near: float = 0.0

    @property
    def right(self) -> bool:
        return same(self.said, self.gold.value, self.near)


class PilotLine(NamedTuple):
    """How one rater's pilot stands: units handed in of those dealt, places with gold, those of them that are right."""

    rater: str
    done: int
    dealt: int
    places: int
    right: int

    @property
    def share(self) -> float | None:
        """The share that is right; None where nothing with gold is handed in."""
        return self.right / self.places if self.places else None


class Pairwise(NamedTuple):
    """Two raters beside each other: of the places of one field that both rated, those at which they said the same."""

    field: str
    one: str
    other: str
    places: int
    same: int

    @property
    def percent(self) -> float | None:
        """The percent of places with the same answer; None where they have none in common."""
        return 100 * self.same / self.places if self.places else None


def same(answer: Any, right: Any, near: float = 0.0) -> bool:
    """Whether two answers are the same: numbers within `near`, texts but for case and spaces, a flag not raised as one
    that was lowered."""
    if isinstance(answer, bool) or isinstance(right, bool):
        return bool(answer) is bool(right) if answer in (None, True, False) and right in (None, True, False) else False
    if isinstance(answer, int | float) and isinstance(right, int | float):
        return abs(answer - right) <= near + 1e-9
    if isinstance(answer, str) and isinstance(right, str):
        return " ".join(answer.casefold().split()) == " ".join(right.casefold().split())
    if isinstance(answer, list | tuple) and isinstance(right, list | tuple):
        return list(answer) == list(right)
    return answer is not None and answer == right


def nearness(field: Field | None) -> float:
    """How far from gold an answer to a field may be; 0 where its values are no numbers, or have no range."""
    if field is None or field.kind != "interval" or field.least is None or field.most is None:
        return 0.0
    return NEAR * (field.most - field.least)


def answer_at(sheet: Sheet, spot: FieldReference) -> Any:
    """What stands at a place, a reason for having no answer in words; None where nothing does."""
    head = sheet.head(spot)
    return None if head is None else MISSING[head.reason_missing] if head.reason_missing else head.value


def compared(sheet: Sheet) -> list[CalibrationAnswer]:
    """Each place of a calibration unit that has gold, in the order in which gold is declared."""
    answers = []
    for gold in sheet.unit.gold:
        spot = FieldReference(gold.target, gold.field)
        answers.append(
            CalibrationAnswer(spot, answer_at(sheet, spot), gold, nearness(sheet.protocol.field(gold.field)))
        )
    return answers


def share_right(sheets: Iterable[Sheet]) -> float | None:
    """The share of gold places at which a rater said what is right, over all units; None where there is no gold."""
    all_of = [one.right for sheet in sheets for one in compared(sheet)]
    return sum(all_of) / len(all_of) if all_of else None


def pilot_line(rater: str, sheets: Sequence[Sheet]) -> PilotLine:
    """How a rater's pilot stands by their sheets of all pilot units; only what is handed in counts."""
    committed_sheets = [sheet for sheet in sheets if sheet.committed]
    rights = [one.right for sheet in committed_sheets for one in compared(sheet)]
    return PilotLine(rater, len(committed_sheets), len(sheets), len(rights), sum(rights))


def confusion(sheets: Iterable[Sheet]) -> dict[str, Counter[tuple[str, str]]]:
    """For each field how often (gold, said) came together, over the sheets that are handed in.

    Numbers that are right count as gold itself, so that what is off the diagonal is wrong.
    """
    counts: dict[str, Counter[tuple[str, str]]] = {}
    for sheet in sheets:
        for one in compared(sheet) if sheet.committed else ():
            answer = one.gold.value if one.right else one.said
            pair = (answer_word(one.gold.value), answer_word(answer))
            counts.setdefault(one.spot.field, Counter())[pair] += 1
    return counts


def pairwise(sheets: Mapping[str, Sequence[Sheet]]) -> list[Pairwise]:
    """Percent agreement of each two raters by field, over pilot units that both handed in; reasons count as answers.

    A place that neither was asked is none, one that a single one answered counts as different; a flag that nobody
    raised is one that was lowered.
    """
    pairs = []
    for one, other in combinations(sorted(sheets), 2):
        theirs = {sheet.unit.id: sheet for sheet in sheets[other] if sheet.committed}
        both = [(sheet, theirs[sheet.unit.id]) for sheet in sheets[one] if sheet.committed and sheet.unit.id in theirs]
        places: Counter[str] = Counter()
        agreements: Counter[str] = Counter()
        for mine, other_sheet in both:
            for spot in dict.fromkeys((*mine.spots, *other_sheet.spots)):
                field = mine.protocol.field(spot.field)
                values = [answer_at(sheet, spot) for sheet in (mine, other_sheet)]
                if field is not None and field.kind == "flag":
                    values = [False if value is None else value for value in values]
                if field is None or values == [None, None]:
                    continue
                places[spot.field] += 1
                agreements[spot.field] += same(values[0], values[1], nearness(field))
        pairs += [Pairwise(field, one, other, count, agreements[field]) for field, count in places.items()]
    return pairs


def answer_word(value: Any) -> str:
    """An answer in a word, as tables name it."""
    if value is None:
        return "(no answer)"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list | tuple):
        return set_words(value)
    return f"{value:g}" if isinstance(value, float) else str(value)
