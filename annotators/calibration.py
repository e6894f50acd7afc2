"""Comparison of a rater's answers with gold: the lessons of a pilot, and the bar of a study."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations
from typing import Any

import msgspec

from lab.core.study.option_sets import set_words
from lab.core.study.protocol import Field
from lab.core.study.rating_sheet import MISSING, FieldReference, Sheet

NEAR = 0.05
"""Largest distance of a right number from gold, as a share of its field's range: 5 of 100."""


class CalibrationAnswer(msgspec.Struct, frozen=True):
    """One place of a calibration unit after hand-in: answer (a reason in words), gold, and the gold's reason."""

    target: str
    field: str
    said: Any
    gold: Any
    right: bool
    reason: str


class PilotLine(msgspec.Struct, frozen=True):
    """One rater's pilot: `right` of `places` with gold, as `share`. Null if nothing is handed in."""

    rater: str
    handed_in: int
    dealt: int
    places: int
    right: int
    share: float | None
    held: bool


class ConfusionCell(msgspec.Struct, frozen=True):
    """Number of times that raters answered `said` while `gold` is right, over all handed-in sheets."""

    field: str
    gold: str
    said: str
    n: int


class Pairwise(msgspec.Struct, frozen=True):
    """Percent of equal answers of two raters over pilot units that both handed in, null if there are none."""

    field: str
    one: str
    other: str
    places: int
    same: int
    percent: float | None


def same_answer(answer: Any, right: Any, near: float = 0.0) -> bool:
    """Return True if two answers are equal.

    Numbers may differ by `near`, texts in case and white space. A flag not raised equals a lowered one.
    """
    if isinstance(answer, bool) or isinstance(right, bool):
        return bool(answer) is bool(right) if answer in (None, True, False) and right in (None, True, False) else False
    if isinstance(answer, int | float) and isinstance(right, int | float):
        # The tolerance absorbs rounding of decimals at the edge of `near`.
        return abs(answer - right) <= near + 1e-9
    if isinstance(answer, str) and isinstance(right, str):
        return " ".join(answer.casefold().split()) == " ".join(right.casefold().split())
    if isinstance(answer, list | tuple) and isinstance(right, list | tuple):
        return list(answer) == list(right)
    return answer is not None and answer == right


def tolerance_of(field: Field | None) -> float:
    """Return how far a right answer to a field may be from gold, 0 if its values are not numbers or have no range."""
    if field is None or field.kind != "interval" or field.least is None or field.most is None:
        return 0.0
    return NEAR * (field.most - field.least)


def answer_at(sheet: Sheet, spot: FieldReference) -> Any:
    """Return the answer at a place, a reason in words, or None if there is none."""
    head = sheet.head(spot)
    return None if head is None else MISSING[head.reason_missing] if head.reason_missing else head.value


def calibration_answers(sheet: Sheet) -> list[CalibrationAnswer]:
    """Return each place of a calibration unit that has gold, in the order of the gold."""
    answers = []
    for gold in sheet.unit.gold:
        answer = answer_at(sheet, FieldReference(gold.target, gold.field))
        right = same_answer(answer, gold.value, tolerance_of(sheet.protocol.field(gold.field)))
        answers.append(CalibrationAnswer(gold.target, gold.field, answer, gold.value, right, gold.reason))
    return answers


def share_right(sheets: Iterable[Sheet]) -> float | None:
    """Return the share of gold places with the right answer over all units, or None if there is no gold."""
    all_of = [one.right for sheet in sheets for one in calibration_answers(sheet)]
    return sum(all_of) / len(all_of) if all_of else None


def pilot_line(rater: str, sheets: Sequence[Sheet], *, held: bool = False) -> PilotLine:
    """Return a rater's pilot from their sheets of all pilot units. Only sheets that are handed in count."""
    committed_sheets = [sheet for sheet in sheets if sheet.committed]
    rights = [one.right for sheet in committed_sheets for one in calibration_answers(sheet)]
    share = sum(rights) / len(rights) if rights else None
    return PilotLine(rater, len(committed_sheets), len(sheets), len(rights), sum(rights), share, held)


def confusion(sheets: Iterable[Sheet]) -> list[ConfusionCell]:
    """Return how often each answer was given where each gold is right, over the sheets that are handed in.

    Numbers near gold count as gold itself, so that everything off the diagonal is wrong.
    """
    counts: dict[str, Counter[tuple[str, str]]] = {}
    for sheet in sheets:
        for one in calibration_answers(sheet) if sheet.committed else ():
            pair = (answer_word(one.gold), answer_word(one.gold if one.right else one.said))
            counts.setdefault(one.field, Counter())[pair] += 1
    return [
        ConfusionCell(field, gold, said, n)
        for field, pairs in counts.items()
        for (gold, said), n in sorted(pairs.items())
    ]


def pairwise(sheets: Mapping[str, Sequence[Sheet]]) -> list[Pairwise]:
    """Return the percent agreement of each pair of raters by field, over pilot units that both handed in.

    Reasons count as answers. A place that neither rater was asked does not count. A place that only one answered counts
    as different. A flag not raised equals a lowered one.
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
                    # Not raising a flag is an answer.
                    values = [False if value is None else value for value in values]
                if field is None or values == [None, None]:
                    continue
                places[spot.field] += 1
                agreements[spot.field] += same_answer(values[0], values[1], tolerance_of(field))
        pairs += [
            Pairwise(field, one, other, count, agreements[field], 100 * agreements[field] / count)
            for field, count in places.items()
        ]
    return pairs


def answer_word(value: Any) -> str:
    """Return an answer as a word for tables."""
    if value is None:
        return "(no answer)"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list | tuple):
        return set_words(value)
    return f"{value:g}" if isinstance(value, float) else str(value)
