"""Texts of the sheet: its lines, the item under the cursor, the titles. All as plain characters with our own spans."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from rich.cells import cell_len
from textual.content import Content

from lab.core.run.screen_clock import format_duration
from lab.core.study.label import AnswerDetails, Missing
from lab.core.study.protocol import Field
from lab.core.study.rating_sheet import MISSING, FieldReference, Sheet
from lab.core.study.study import Study
from lab.core.text.plain_text import plain
from lab.runs.descriptions import one_line
from lab.studies.judging.judges_beside import JudgeAnswer
from lab.studies.rating import scale_entry
from lab.studies.rating.drafts import AnswerDraft
from lab.studies.rating.rating_pace import Pace
from lab.studies.rating.rating_session import HandedIn, RatingSession
from lab.studies.rating.sheet_items import SheetItem, items_of, way_of
from lab.studies.rating.sheet_wording import SURES, Wording, clash_at, place_words, value_words
from screens.annotate.introduction_words import translated
from screens.theme import ACCENT, ERROR, MUTED, PLAIN, SUCCESS, WARNING

# -- a line ----------------------------------------------------------------------------------------------------


def answer_words(way: Wording, sheet: Sheet, item: SheetItem) -> str:
    """Return an item's line as text: the answer or why there is none, its step, its flags, a sign for a note."""
    head = sheet.head(item.spot)
    if clash_at(sheet, item):
        return way.sheet("_clash")
    words = []
    if head is not None:
        words.append(way.reason(head.reason_missing) if head.reason_missing else value_words(way, item, head.value))
        if head.evidence and sheet.unit.runs:  # no run is beside the sheet of a played one
            words.append(place_words(way, sheet.unit, head.evidence))
    words += [f"+{way.flag(flag)}" for flag in item.flags if sheet.value(FieldReference(item.spot.target, flag.id))]
    if head is not None and head.confidence is not None:
        words.append(f"{round(head.confidence * 4) + 1}/5")
    if head is not None and head.note:
        words.append("✎")
    return " ".join(words)


def line_words(way: Wording, sheet: Sheet, item: SheetItem, width: int, digits: int) -> Content:
    """Return a line: its sign, its number, its title, and on the right its answer."""
    head = sheet.head(item.spot)
    sign, style = ("·", MUTED)
    if clash_at(sheet, item):
        sign, style = ("≠", WARNING)
    elif head is not None:
        sign, style = ("–", WARNING) if head.reason_missing else ("✓", SUCCESS)
    number = f"{item.number if item.first and item.number else '':>{digits}} " if digits else ""
    right = answer_words(way, sheet, item)
    right = one_line(right, max(8, width // 2)) if right else ""
    room = max(1, width - 2 - len(number) - Content(right).cell_length - 2 - (0 if item.first else 2))
    words = one_line(way.title(item), 300)
    left = Content(words).truncate(room, ellipsis=True, pad=True)
    return Content.assemble(
        (f"{sign} ", style), (number, MUTED), "" if item.first else "  ", left, "  ", (right, "bold")
    )


# -- the item under the cursor ---------------------------------------------------------------------------------


def item_words(way: Wording, sheet: Sheet, item: SheetItem, draft: AnswerDraft) -> Content:
    """Return the text of the current item: the item in full, the question, and what was added to the answer."""
    parts: list[Content | tuple[str, str]] = []
    target = item.target
    if target is not None:
        parts.append((plain(target.says or target.id), "bold"))
        if target.detail:
            parts.append((f"\n{plain(target.detail)}", PLAIN))
        parts.append(("\n", ""))
    parts.append((way.ask(item), ACCENT if target is not None else "bold"))
    if hint := plain(way.protocol.hint(way.locale, item.field)):
        parts.append((f"\n{hint}", MUTED))
    head = sheet.head(item.spot) if item.spot not in sheet.clashes else None
    text = head.value if head is not None and isinstance(head.value, str) and item.field.kind == "text" else ""
    if text:
        parts.append((f"\n“{plain(text)}”", ""))
    if draft.text:
        parts.append((f"\nnot yet given: “{plain(draft.text)}”", WARNING))
    details = draft.details.fill_from(head.details if head is not None else AnswerDetails())
    parts.append((_details_line(way, sheet, details), MUTED))
    return Content.assemble(*parts)


def _details_line(way: Wording, sheet: Sheet, details: AnswerDetails) -> str:
    """Return what goes with an answer: note, citation, confidence, place."""
    parts = []
    if details.confidence is not None:
        parts.append(way.sures()[min(SURES - 1, round(details.confidence * (SURES - 1)))])
    if details.evidence and sheet.unit.runs:
        place = place_words(way, sheet.unit, details.evidence)
        parts.append(f"seen {place}{', a region' if details.region else ''}")
    if details.cites:
        parts.append(one_line(details.cites, 40))
    if details.note:
        parts.append(f"✎ {plain(details.note, lines=False)}")
    return "\n" + "   ".join(parts) if parts else ""


# -- keys of the item ------------------------------------------------------------------------------------------

SheetText = Callable[..., str]
"""Function that returns a text of every sheet in its language, from a key and arguments."""
_ONE_DIGIT = 9


def how_to_answer(item: SheetItem, digits: str, answered: bool, says: SheetText) -> str:
    """Return how to answer an item without listed options. `digits` are those pressed so far."""
    match way_of(item):
        case "scale":
            return f"{digits}_\n{scale_words(item, says)}"
        case "many":
            return f"{digits}_\n{many_words(item.field, says)}" if digits else many_words(item.field, says)
        case "choice" if digits:
            return f"{digits}_"
        case "step":
            return "{answer.next}: the step shown. A digit: type its number."
        case "box":
            return "{answer.next}, then {other.1}: frame a box on the phone; {other.2}: type it."
        case "typed" if answered:
            return "{answer.type}, or {answer.0} and {other.1}: type it anew."
        case "typed":
            return "{answer.next}: type it."
    return ""


def enter_words(item: SheetItem, digits: str, answered: bool, stepped: bool) -> str:
    """Return the effect of Enter on an item, in words. `stepped` is true if a step is shown beside the sheet."""
    if digits:
        value = scale_entry.parse_digits(item.field, digits) if way_of(item) == "scale" else int(digits)
        return "One more digit." if value is None else f"{{answer.next}}: {value:g} it is; or one more digit."
    if answered:
        return "{answer.next}: the next open item."
    match way_of(item):
        case "typed" if not item.field.required:
            return "{answer.next}: type it; it may stay open ({list.down}). {answer.other}: other answers."
        case "typed":
            return "{answer.next}: type it. {answer.other}: other answers."
        case "step" if stepped:
            return "{answer.next}: the step shown. {answer.other}: other answers."
        case "step":
            return "{answer.next}: type the step. {answer.other}: other answers."
        case "choice" | "many" | "scale" if not item.field.required:
            return "{answer.next}: leave it open. {answer.other}: other answers."
        case "many":
            return "Digits choose. {answer.other}: other answers."
    return "A digit answers. {answer.other}: other answers."


def many_words(field: Field, says: SheetText) -> str:
    """Return the words for choosing several options, with the bounds of their number."""
    least, most = field.least, field.most
    bounds = (says("_at_least", f"{least:g}") if least else "") + (says("_at_most", f"{most:g}") if most else "")
    return says("_many") + bounds


def scale_words(item: SheetItem, says: SheetText) -> str:
    """Return the words for a scale's range, and for typing a number of it."""
    field = item.field
    by, (least, *_, most) = scale_entry.factor(field), [*scale_entry.numbers(field)]
    step = round((field.step or 1) * by)
    span = f"{least}-{most}{says('_in_steps', step) if step > 1 else ''}"
    if most <= _ONE_DIGIT:
        return says("_digit", span)
    return says("_hundredths" if by > 1 else "_number", span)


# -- around it -------------------------------------------------------------------------------------------------


class TitleCounts(NamedTuple):
    """Progress of a rater: this unit is the `at`-th of `dealt`. `done` are handed in, `today` of them today."""

    at: int
    dealt: int
    done: int
    today: int


def title_words(study: Study, stage: str, count: TitleCounts, person: str, seat: str, pace: Pace, width: int) -> str:
    """Return the line above in so many columns: study, progress, pace, and person.

    If the room is too small only the study's title is cut.
    """
    each, worked = pace.median, pace.worked
    parts = [f"{count.at} of {count.dealt}"]
    if stage == "pilot":
        parts.append("pilot")
    elif stage == "settle":
        parts.append("to settle")
    elif stage == "repeat":
        parts.append("once more")
    parts.append(f"{count.today} done today" if count.today else "")
    parts.append(f"{format_duration(each)} each" if each is not None else "")
    parts.append(f"{int(worked // 60)} min")
    parts.append(f"{person}, {seat}")
    rest = "   ".join(part for part in parts if part)
    room = max(8, min(40, width - cell_len(rest) - 3))
    name = Content(one_line(study.title or study.id, 40)).truncate(room, ellipsis=True).plain
    return f"{name}   {rest}"


def introduction_title(session: RatingSession, seat: str, reads: bool, width: int) -> str:
    """Return the line above during the introduction. The study's title is cut first."""
    where = [] if reads else [translated(session.locale, "practice.title")]
    rest = "   ".join([*where, f"{session.person.id}, {seat}"])
    room = max(8, min(40, width - cell_len(rest) - 3))
    name = Content(one_line(session.study.title or session.study.id, 40)).truncate(room, ellipsis=True).plain
    return f"{name}   {rest}"


def result_content(way: Wording, sheet: Sheet, handed: HandedIn, derived: Sequence[tuple[str, str]]) -> Content:
    """Return what a rater learns after handing in a unit: derived values, and right answers beside their own."""
    parts: list[Content | tuple[str, str] | str] = []
    items = {item.spot: item for item in items_of(sheet)}
    for comparison in handed.compared:
        item = items.get(FieldReference(comparison.target, comparison.field))
        name = way.title(item) if item is not None else comparison.field
        gold = str(comparison.gold) if item is None else value_words(way, item, comparison.gold)
        text = str(comparison.said) if item is None else _value_words(way, item, comparison.said)
        sign = ("✓ ", SUCCESS) if comparison.right else ("✗ ", ERROR)
        both = f"   {way.sheet('_you', text)}\n   {way.sheet('_gold', gold)}\n"
        answers = f"   {text}\n" if comparison.right else both
        parts += [sign, (f"{one_line(name, 120)}\n", "bold"), answers]
        if comparison.reason:
            parts.append((f"   {plain(comparison.reason)}\n", MUTED))
    if handed.share is not None:
        parts.append(f"\n{handed.share:.0%} right in the pilot so far.\n\n")
    for field_name, words in derived:
        parts += [(f"{plain(field_name)}  ", MUTED), f"{plain(words)}\n"]
    return Content.assemble(*parts)


def judges_content(way: Wording, sheet: Sheet, judges: Sequence[JudgeAnswer]) -> Content:
    """Return the judges' answers at each place of a handed-in sheet, below the rater's own."""
    parts: list[Content | tuple[str, str] | str] = []
    items = {item.spot: item for item in items_of(sheet)}
    before: FieldReference | None = None
    for judgement in judges:
        item = items.get(judgement.spot)
        if judgement.spot != before:
            before = judgement.spot
            parts.append((f"{one_line(way.title(item) if item is not None else judgement.spot.field, 120)}\n", "bold"))
            own = sheet.head(judgement.spot)
            if own is not None:
                parts.append(f"     you: {_format_answer(way, item, own.value, own.reason_missing)}\n")
        sign = ("   ", "") if judgement.same is None else ("   = ", SUCCESS) if judgement.same else ("   ≠ ", WARNING)
        answer = _format_answer(way, item, judgement.said.value, judgement.said.reason_missing)
        parts += [sign, f"{one_line(judgement.judge, 40)}: {answer}\n"]
        if judgement.note:
            parts.append((f"     {plain(judgement.note, lines=False)}\n", MUTED))
    return Content.assemble(*parts)


def _format_answer(way: Wording, item: SheetItem | None, value: Any, missing: Missing | None) -> str:
    if missing is not None:
        return way.reason(missing)
    return plain(str(value), lines=False) if item is None else value_words(way, item, value)


def _value_words(way: Wording, item: SheetItem, value: Any) -> str:
    if value is None:
        return way.sheet("_nothing")
    reason = next((reason for reason, words in MISSING.items() if words == value), None)
    return way.reason(reason) if reason is not None else value_words(way, item, value)
