"""The other answers to an item, in their order in the menu."""

from __future__ import annotations

from lab.core.rating_sheet import MISSING, FieldReference, Sheet
from lab.studies.scale_entry import largest_number
from lab.studies.sheet_items import SheetItem, way_of
from lab.studies.sheet_wording import SURES, Wording, place_words
from screens.annotate.menu import MenuEntry

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
