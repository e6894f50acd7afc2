"""Entries of the sheet's menus: other answers to an item, how sure its rater is, and the answers that clash."""

from __future__ import annotations

from datetime import datetime

from textual.content import Content

from lab.core.study.label import Label
from lab.core.study.rating_sheet import MISSING, FieldReference, Sheet
from lab.core.text.plain_text import plain
from lab.runs.descriptions import one_line
from lab.studies.rating.scale_entry import largest_number
from lab.studies.rating.sheet_items import SheetItem, way_of
from lab.studies.rating.sheet_wording import SURES, Wording, clash_at, place_words, value_words
from screens.annotate.menu import MenuEntry
from screens.theme import WARNING

_HUNDRED = 100
_KEYS = {"skipped": "s", "cannot_judge": "c", "not_reached": "", "not_applicable": ""}


def other_answers(way: Wording, sheet: Sheet, item: SheetItem, place: str) -> list[MenuEntry]:
    """Return the menu's entries for an item. `place` is what is shown beside the sheet."""
    target = item.spot.target
    flags = []
    for flag in item.flags:
        raised = bool(sheet.value(FieldReference(target, flag.id)))
        flags.append(MenuEntry(f"flag {flag.id}", way.sheet("_take_back" if raised else "_also", way.flag(flag))))
    missing = [MenuEntry(f"missing {reason}", way.reason(reason), _KEYS[reason]) for reason in MISSING]
    missing.sort(key=lambda entry: entry.id != "missing skipped")
    head = sheet.head(item.spot)
    evidence = (
        [MenuEntry("evidence", f"rests on the step shown, {place_words(way, sheet.unit, place)}", "e")] if place else []
    )
    region = [MenuEntry("region", "rests on a region of the phone", "r")] if place else []
    go = (
        [MenuEntry("to_evidence", "go to the step it rests on", "g")]
        if head is not None and head.evidence and sheet.unit.runs
        else []
    )
    cite = [MenuEntry("cite", "goes by a line of the guide", "T")] if way.protocol.guideline(way.locale).strip() else []
    more = [MenuEntry("note", "a note", "n"), *cite, MenuEntry("confidence", "how sure", "C"), *go, *region]
    return [*_typed_entries(way, sheet, item, place), *missing, *flags, *evidence, *more, *general_entries()]


def general_entries() -> list[MenuEntry]:
    """Return the entries of every item."""
    return [MenuEntry("undo", "take the last answer back", "z"), MenuEntry("guide", "the guideline", "t")]


def _typed_entries(way: Wording, sheet: Sheet, item: SheetItem, place: str) -> list[MenuEntry]:
    match way_of(item):
        case "scale" if largest_number(item.field) == _HUNDRED:
            return [MenuEntry("full", f"{item.field.most:g}", "f"), MenuEntry("type", "type it", "i")]
        case "scale":
            return [MenuEntry("type", "type it", "i")]
        case "typed":
            return [MenuEntry("type", "type it", "i")]
        case "step":
            step_entries = (
                [MenuEntry("shown", f"the step shown, {place_words(way, sheet.unit, place)}")] if place else []
            )
            return [*step_entries, MenuEntry("type", "type its number", "i")]
        case "box":
            return [*([MenuEntry("draw", "frame it on the phone")] if place else []), MenuEntry("type", "type it", "i")]
    return []


def confidence_entries(way: Wording) -> list[MenuEntry]:
    """Return the entries for how sure a rater is."""
    return [MenuEntry(f"sure {number / (SURES - 1)}", words) for number, words in enumerate(way.sures())]


# -- clashing answers of one rater, from merged copies ---------------------------------------------------------


def clash_line(way: Wording, sheet: Sheet, item: SheetItem, word: Label) -> str:
    """Return a clashing answer as text: its value, evidence, confidence, citation, note and time."""
    flag = next((flag for flag in item.flags if flag.id == word.field), None)
    if word.reason_missing:
        word_text = way.reason(word.reason_missing)
    elif word.cleared:
        word_text = way.sheet("_nothing")
    elif flag is not None:
        word_text = f"{way.flag(flag)}: {way.sheet('_yes' if word.value else '_no')}"
    else:
        text = item.field.kind == "text" and isinstance(word.value, str)
        word_text = plain(word.value, lines=False) if text else value_words(way, item, word.value)
    parts = [word_text]
    if word.evidence and sheet.unit.runs:
        parts.append(f"{place_words(way, sheet.unit, word.evidence)}{', a region' if word.region else ''}")
    if word.confidence is not None:
        parts.append(way.sures()[min(SURES - 1, round(word.confidence * (SURES - 1)))])
    parts += [one_line(word.cites, 40)] if word.cites else []
    parts += [f"✎ {plain(word.note, lines=False)}"] if word.note else []
    return "   ".join([*parts, _format_moment(word.at)])


def clash_entries(way: Wording, sheet: Sheet, item: SheetItem) -> list[MenuEntry]:
    """Return a menu entry for each clashing answer, in the order in which they were given."""
    return [MenuEntry(f"settle {word.id}", clash_line(way, sheet, item, word)) for word in clash_at(sheet, item)]


def clash_words(way: Wording, sheet: Sheet, item: SheetItem) -> Content:
    """Return the clashing answers for display below the question, empty if there are none."""
    words = clash_at(sheet, item)
    if not words:
        return Content("")
    lines = [f"\n≠ {clash_line(way, sheet, item, word)}" for word in words]
    return Content.styled(f"\n{way.sheet('_two_words', len(words))}{''.join(lines)}", WARNING)


def _format_moment(at: str) -> str:
    """Return an answer's time by this person's clock. A text that is not a time is returned as it is."""
    try:
        return f"{datetime.fromisoformat(at).astimezone():%Y-%m-%d %H:%M}"
    except (ValueError, OverflowError, OSError):
        return one_line(at, 20)
