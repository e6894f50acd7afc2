"""How the keys of one item add up to an answer: an option's digit, a scale's two, a step, or a line that is typed."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from lab import digits as scale
from lab.labels import Spot
from screens.annotate.items import Choice, Item, Way, digits_of, way_of

Does = Literal["menu", "type", "wait", "shown", "on"] | tuple[Literal["give", "wrong"], Any]
"""What a key comes to: the other answers, a line to type in, more keys, the step shown, going on, an answer, a word."""


def ascii_digit(character: str | None) -> int | None:
    """The digit that an input method wrote wide; None for anything else, and for plain digits, which are keys."""
    if character is None or len(character) != 1 or character.isascii():
        return None
    digit = unicodedata.decimal(character, -1)
    return int(digit) if digit >= 0 else None


@dataclass
class Keying:
    """One item while it is the current one: since when, how far away before, and the digits pressed so far."""

    spot: Spot | None = None
    shown_at: str | None = None
    away: float = 0.0
    first_key_at: str | None = None
    digits: str = ""
    begun: bool = False
    follows: bool = False
    """Whether the item before it was answered by the key before: Enter then confirms that one, and does no more."""

    def touch(self, at: str | None) -> None:
        """The first key of an answer, at that time; None where no key tells (paste, composition)."""
        if not self.begun:
            self.begun, self.first_key_at = True, at

    def way(self, item: Item) -> Way:
        return way_of(item)

    # -- digits ----------------------------------------------------------------------------------------------

    def take(self, item: Item, choices: Sequence[Choice], digit: str) -> Does:
        """One digit more."""
        way = way_of(item)
        if way == "scale" or (way == "choice" and digits_of(item) > 1):
            self.digits += digit
            if len(self.digits) < digits_of(item):
                return "wait"
            return self._given(item, choices)
        if digit == "0":
            return "menu"
        if way == "choice":
            self.digits = digit
            return self._given(item, choices)
        return "type"

    def _given(self, item: Item, choices: Sequence[Choice]) -> Does:
        """What the digits so far mean."""
        typed, self.digits = self.digits, ""
        if way_of(item) == "scale":
            value = scale.typed(item.field, typed)
            if value is None:
                return "wrong", f"{typed} is not on this scale: {scale_words(item)}."
            return "give", value
        found = next((one for one in choices if one.key == typed.zfill(digits_of(item))), None)
        return ("give", found.value) if found is not None else ("wrong", f"There is no answer {typed} here.")

    def enter(self, item: Item, choices: Sequence[Choice], answered: bool) -> Does:
        """Enter on this item."""
        if self.digits:
            return self._given(item, choices)
        if answered:
            return "on"
        match way_of(item):
            case "typed":
                return "type"
            case "step":
                return "shown"
            case "choice" | "scale" if not item.field.required:
                return "on"
        return "menu"

    # -- words -----------------------------------------------------------------------------------------------

    def how(self, item: Item, answered: bool) -> str:
        """How an item without options is answered."""
        match way_of(item):
            case "scale":
                typed = f"{self.digits}_" if self.digits else ""
                return f"{typed or '_'}   {'' if item.field.hint else scale_words(item)}".rstrip()
            case "choice" if self.digits:
                return f"{self.digits}_"
            case "step":
                return "Enter: the step shown. A digit: type its number."
            case "box":
                return "Enter, then 1: frame a box on the phone; 2: type it."
            case "typed":
                return "Enter: type it." if not answered else "i, or 0 and 1: type it anew."
        return ""

    def enter_words(self, item: Item, answered: bool, stepped: bool) -> str:
        """What Enter does on this item."""
        if self.digits:
            return f"Enter: {int(self.digits)} it is; or one more digit."
        if answered:
            return "Enter: the next open item."
        match way_of(item):
            case "typed":
                return "Enter: type it. 0: other answers."
            case "step" if stepped:
                return "Enter: the step shown. 0: other answers."
            case "step":
                return "Enter: type the step. 0: other answers."
            case "choice" | "scale" if not item.field.required:
                return "Enter: leave it open. m: other answers."
        if self.follows:
            return f"A digit answers. {'Enter twice' if way_of(item) == 'scale' else '0'}: other answers."
        return "A digit answers. Enter: other answers."


def scale_words(item: Item) -> str:
    """A scale as a person types it."""
    field = item.field
    by = scale.factor(field)
    least, most = round((field.least or 0) * by), round((field.most or 0) * by)
    if scale.width(field) == 1:
        return f"one digit, {least} to {most}"
    every = f" in steps of {round((field.step or 1) * by)}" if (field.step or 1) * by > 1 else ""
    top = ", 00 for 100" if most == 100 else ""
    hundredths = " (hundredths)" if by > 1 else ""
    return f"two digits{hundredths}, {least:02d} to {min(most, 99)}{every}{top}"
