"""Clashing answers of one rater at one place, from merged copies: the text of each, and a menu to choose one."""

from __future__ import annotations

from datetime import datetime

from textual.content import Content

from lab.core.study.label import Label
from lab.core.study.rating_sheet import Sheet
from lab.core.text.plain_text import plain
from lab.runs.descriptions import one_line
from lab.studies.rating.sheet_items import SheetItem
from lab.studies.rating.sheet_wording import SURES, Wording, clash_at, place_words, value_words
from screens.annotate.menu import MenuEntry
from screens.theme import WARNING


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
