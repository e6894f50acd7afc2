"""Options chosen of an item with many options, before they are the answer: digits toggle them, Enter gives them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from lab.core.study.option_sets import count_problem, in_order, may_be_empty, parse_set
from lab.core.study.protocol import NO_OPTION
from lab.studies.rating.rating_session import Drafts
from lab.studies.rating.sheet_items import NONE_OF_THESE, AnswerChoice, SheetItem
from lab.studies.rating.sheet_wording import Wording

OPTION_DRAFT = "set"
"""Name of the draft that holds the options chosen so far."""
_NOTHING = "-"
"""Text of that draft if nothing is chosen. This is not yet the answer "none of these"."""


def has_draft(drafts: Drafts, item: SheetItem) -> bool:
    """Return True if the chosen options differ from the answer, as a draft."""
    return (item.spot, OPTION_DRAFT) in drafts


def chosen_in(drafts: Drafts, item: SheetItem, answer: Any) -> list[str] | None:
    """Return the options chosen now: those of the draft, else those of `answer`, or None if nothing is chosen."""
    words = drafts.get((item.spot, OPTION_DRAFT))
    if words is None:
        return list(answer) if isinstance(answer, list | tuple) else None
    return None if words == _NOTHING else parse_set(item.field, words)


def toggle_option(drafts: Drafts, item: SheetItem, answer: Any, option: Any) -> None:
    """Toggle an option in the draft. "None of these" removes all others."""
    selection = toggled(item, chosen_in(drafts, item, answer), option)
    if selection == (list(answer) if isinstance(answer, list | tuple) else None):
        drafts.pop((item.spot, OPTION_DRAFT), None)
    else:
        drafts[item.spot, OPTION_DRAFT] = _NOTHING if selection is None else ",".join(selection) or NO_OPTION


def toggled(item: SheetItem, selection: list[str] | None, option: Any) -> list[str] | None:
    """Return the selection after toggling an option, or None if empty."""
    if option is NONE_OF_THESE:
        return None if selection == [] else []
    before = selection or []
    after = [word for word in before if word != option] if option in before else [*before, option]
    return in_order(item.field, after) or None


def chosen_keys(choices: Iterable[AnswerChoice], selection: Any) -> set[str]:
    """Return the keys of the chosen options."""
    if not isinstance(selection, list | tuple):
        return set()
    return {
        choice.key
        for choice in choices
        if choice.value in selection or (choice.value is NONE_OF_THESE and not selection)
    }


def waiting_words(way: Wording, selection: list[str] | None) -> str:
    """Return how many options are chosen, with the hint that they are not the answer yet."""
    return way.sheet("_chosen", way.sheet("_none") if selection == [] else len(selection or ()))


def not_enough(item: SheetItem, selection: list[str] | None) -> str:
    """Return why the selection is not a valid answer, empty if it is."""
    if selection is None and may_be_empty(item.field):
        return "Choose what holds, or that none does."
    return count_problem(item.field, len(selection or ()))
