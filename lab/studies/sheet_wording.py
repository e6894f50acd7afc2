"""The words of a sheet in its language: questions, items, choices, reasons that are missing."""

from __future__ import annotations

from typing import NamedTuple

from lab.core.label import Missing
from lab.core.plain_text import plain
from lab.core.protocol import Field, Protocol
from lab.runs.descriptions import one_line
from lab.studies.sheet_items import NOT_SEEN, AnswerChoice, SheetItem, choices_of, flag_name, flags_of, title_of

SURES = 5
"""How many degrees of being sure there are, from 0 to 1 in equal steps."""


class Wording(NamedTuple):
    """How a sheet is read: its protocol, in which language, and whether its sides stand the other way round."""

    protocol: Protocol
    locale: str = "en"
    swap: bool = False
    unseen: frozenset[str] = frozenset()
    """Fields about what this rater was not shown: that they could not see it is offered as an answer."""

    def ask(self, item: SheetItem) -> str:
        return plain(self.protocol.said(self.locale, item.field.id, item.field.ask))

    def title(self, item: SheetItem) -> str:
        return title_of(item, self.protocol, self.locale)

    def choices(self, item: SheetItem) -> list[AnswerChoice]:
        choices = choices_of(item, self.protocol, self.locale, swap=self.swap)
        if item.field.id in self.unseen:
            choices.append(AnswerChoice(f"{len(choices) + 1}", NOT_SEEN, self.sheet("_not_seen")))
        return choices

    def flags(self, item: SheetItem) -> list[AnswerChoice]:
        """The flags that have a digit of their own."""
        return flags_of(item, self.protocol, self.locale)

    def flag(self, flag: Field) -> str:
        return one_line(flag_name(flag, self.protocol, self.locale), 24)

    def sheet(self, key: str, *of: object) -> str:
        """What every sheet says."""
        return plain(self.protocol.sheet_said(self.locale, key, *of), lines=False)

    def reason(self, reason: Missing) -> str:
        """Why there is no answer."""
        return self.sheet(f"_{reason}")

    def sures(self) -> list[str]:
        """What a rater may say of how sure they are, from 0 to 1 in equal steps."""
        return [self.sheet(f"_sure_{number}") for number in range(SURES)]
