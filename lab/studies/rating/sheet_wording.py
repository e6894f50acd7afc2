"""Words of a sheet in its language: questions, items, choices, reasons for missing answers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from lab.core.study.label import Label, Missing
from lab.core.study.protocol import Field, Protocol
from lab.core.study.rating_sheet import FieldReference, Sheet
from lab.core.study.study import Unit
from lab.core.text.plain_text import plain
from lab.runs.descriptions import one_line
from lab.studies.rating.sheet_items import NOT_SEEN, AnswerChoice, SheetItem, choices_of, flag_name, flags_of, title_of

SURES = 5
"""Degrees of confidence, from 0 to 1 in equal steps."""


class Wording(NamedTuple):
    """Wording of a sheet: its protocol, its language, and whether its sides are swapped."""

    protocol: Protocol
    locale: str = "en"
    swap: bool = False
    unseen: frozenset[str] = frozenset()
    """Fields about something that this rater was not shown. They offer "not shown to me" as an answer."""

    def ask(self, item: SheetItem) -> str:
        return plain(self.protocol.word(self.locale, item.field.id, item.field.ask))

    def title(self, item: SheetItem) -> str:
        return title_of(item, self.protocol, self.locale)

    def choices(self, item: SheetItem) -> list[AnswerChoice]:
        choices = choices_of(item, self.protocol, self.locale, swap=self.swap)
        if item.field.id in self.unseen:
            choices.append(AnswerChoice(f"{len(choices) + 1}", NOT_SEEN, self.sheet("_not_seen")))
        return choices

    def flags(self, item: SheetItem) -> list[AnswerChoice]:
        """Return the flags that have a digit of their own."""
        return flags_of(item, self.protocol, self.locale)

    def flag(self, flag: Field) -> str:
        return one_line(flag_name(flag, self.protocol, self.locale), 24)

    def sheet(self, key: str, *of: object) -> str:
        """Return a phrase that all sheets share."""
        return plain(self.protocol.sheet_word(self.locale, key, *of), lines=False)

    def reason(self, reason: Missing) -> str:
        """Return the words for a missing answer."""
        return self.sheet(f"_{reason}")

    def sures(self) -> list[str]:
        """Return the words for the degrees of confidence, from 0 to 1."""
        return [self.sheet(f"_sure_{number}") for number in range(SURES)]


def value_words(way: Wording, item: SheetItem, value: Any) -> str:
    """Return a value as a rater reads it."""
    match item.field.kind:
        case "nominal" | "ordinal" | "flag":
            words = [choice.says for choice in way.choices(item) if choice.value == value]
            return words[0] if words else one_line(str(value), 40)
        case "many" if isinstance(value, list | tuple):
            return set_words_of(way, item, value)
        case "step":
            return way.sheet("_step", value)
        case "interval":
            return f"{value:g}"
        case "box":
            return ", ".join(map(str, value)) if isinstance(value, list | tuple) else str(value)
    return one_line(str(value), 60)


def set_words_of(way: Wording, item: SheetItem, value: Sequence[Any]) -> str:
    """Return the words of a set of options in its order, those for "none" if it is empty."""
    words = {choice.value: choice.says for choice in way.choices(item)}
    return "; ".join(words.get(one, one_line(str(one), 40)) for one in value) or way.sheet("_none")


def clash_at(sheet: Sheet, item: SheetItem) -> list[Label]:
    """Return the clashing answers at a line, at its own place or at one of its flags, empty if there are none."""
    spots = [item.spot, *(FieldReference(item.spot.target, flag.id) for flag in item.flags)]
    return next((sheet.clashes[spot] for spot in spots if spot in sheet.clashes), [])


def place_words(way: Wording, unit: Unit, place: str) -> str:
    """Return a place in a run as raters see it: `@7`, with its side if there are two."""
    run, _, step = place.rpartition("@")
    if not step.isdecimal():
        return "@"
    if len(unit.runs) < 2 or run not in unit.runs:
        return f"@{step}"
    return f"{way.sheet('_left' if (unit.runs.index(run) == 1) == way.swap else '_right')} @{step}"
