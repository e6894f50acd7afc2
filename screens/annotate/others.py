"""The other answers of an item, in the order in which they are offered."""

from __future__ import annotations

from lab.digits import factor, width
from lab.labels import MISSING, Sheet, Spot
from screens.annotate.items import Item, way_of
from screens.annotate.menu import Entry
from screens.annotate.words import SURES, Way, place_words

_KEYS = {"skipped": "s", "cannot_judge": "c", "not_reached": "", "not_applicable": ""}


def others_of(way: Way, sheet: Sheet, item: Item, place: str) -> list[Entry]:
    """What may be said of an item beside its own answers; `place` is what is shown beside the sheet."""
    target = item.spot.target
    flags = []
    for flag in item.flags:
        raised = bool(sheet.value(Spot(target, flag.id)))
        flags.append(Entry(f"flag {flag.id}", way.sheet("_take_back" if raised else "_also", way.flag(flag))))
    missing = [Entry(f"missing {reason}", way.reason(reason), _KEYS[reason]) for reason in MISSING]
    missing.sort(key=lambda entry: entry.id != "missing skipped")
    head = sheet.head(item.spot)
    seen = [Entry("evidence", f"rests on the step shown, {place_words(way, sheet.unit, place)}", "e")] if place else []
    region = [Entry("region", "rests on a region of the phone", "r")] if place else []
    go = (
        [Entry("to_evidence", "go to the step it rests on", "g")]
        if head is not None and head.evidence and sheet.unit.runs
        else []
    )
    cite = [Entry("cite", "goes by a line of the guide", "T")] if way.protocol.guided(way.locale).strip() else []
    more = [Entry("note", "a note", "n"), *cite, Entry("confidence", "how sure", "C"), *go, *region]
    return [*_typed(way, sheet, item, place), *missing, *flags, *seen, *more, *always()]


def always() -> list[Entry]:
    """What is offered on every line."""
    return [Entry("undo", "take the last answer back", "z"), Entry("guide", "the guideline", "t")]


def _typed(way: Way, sheet: Sheet, item: Item, place: str) -> list[Entry]:
    match way_of(item):
        case "scale" if width(item.field) == 2 and round((item.field.most or 0) * factor(item.field)) == 100:
            return [Entry("full", f"{item.field.most:g}", "f")]
        case "typed":
            return [Entry("type", "type it", "i")]
        case "step":
            shown = [Entry("shown", f"the step shown, {place_words(way, sheet.unit, place)}")] if place else []
            return [*shown, Entry("type", "type its number", "i")]
        case "box":
            return [*([Entry("draw", "frame it on the phone")] if place else []), Entry("type", "type it", "i")]
    return []


def sures(way: Way) -> list[Entry]:
    """How sure a rater may be."""
    return [Entry(f"sure {number / (SURES - 1)}", words) for number, words in enumerate(way.sures())]
