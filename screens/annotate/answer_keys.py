"""Keys of one item: how digits, Enter or a typed line make an answer."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from lab.core.study.protocol import Field
from lab.core.study.rating_sheet import FieldReference
from lab.studies.rating import scale_entry
from lab.studies.rating.sheet_items import NOT_SEEN, AnswerChoice, SheetItem, Way, by_digits, digits_of, way_of

SheetText = Callable[..., str]
"""Function that returns a text of every sheet in its language, from a key and arguments."""
_ONE_DIGIT = 9

KeyEffect = Literal["menu", "open", "type", "wait", "shown", "on"] | tuple[Literal["give", "turn", "wrong"], Any]
"""Effect of a key.

`menu`: the other answers. `open`: the item is open. `type`: a line to type in. `wait`: more digits. `shown`: the step
shown. `on`: the next item. `give`: an answer. `turn`: an option chosen or removed. `wrong`: a text to show.
"""


def ascii_digit(character: str | None) -> int | None:
    """Return the digit that an input method wrote wide, or None for anything else. Plain digits are bindings."""
    if character is None or len(character) != 1 or character.isascii():
        return None
    digit = unicodedata.decimal(character, -1)
    return int(digit) if digit >= 0 else None


@dataclass
class ItemKeying:
    """State of the current item: since when it is shown, time away until then, and the digits pressed so far."""

    spot: FieldReference | None = None
    shown_at: str | None = None
    away: float = 0.0
    idle_ms: float = 0.0
    """Milliseconds away during earlier times as the current item."""
    first_key_at: str | None = None
    digits: str = ""
    begun: bool = False
    follows: bool = False
    """True if the key before answered the item before. Enter then confirms that answer, and does nothing else."""

    def touch(self, at: str | None) -> None:
        """Record the first key of an answer at that time, or None if no key shows the time (paste, composition)."""
        if not self.begun:
            self.begun, self.first_key_at = True, at

    def entry_kind(self, item: SheetItem) -> Way:
        return way_of(item)

    # -- digits ----------------------------------------------------------------------------------------------

    def add_digit(self, item: SheetItem, choices: Sequence[AnswerChoice], digit: str) -> KeyEffect:
        """Add a digit and return the effect."""
        way = way_of(item)
        if by_digits(item):
            self.digits += digit
            return "wait" if self._may_continue(item) else self._effect_of_digits(item, choices)
        if digit == "0":
            return "menu"
        if way in ("choice", "many"):
            self.digits = digit
            return self._effect_of_digits(item, choices)
        return "type"

    def _may_continue(self, item: SheetItem) -> bool:
        """Return True if a further digit may follow those pressed so far."""
        if way_of(item) == "scale":
            return scale_entry.may_continue(item.field, self.digits)
        return len(self.digits) < digits_of(item)

    def _effect_of_digits(self, item: SheetItem, choices: Sequence[AnswerChoice]) -> KeyEffect:
        """Return the effect of the digits so far, and clear them."""
        digits, self.digits = self.digits, ""
        if way_of(item) == "scale":
            value = scale_entry.parse_digits(item.field, digits)
            if value is None:
                return "wrong", f"{digits} is not on this scale."
            return "give", value
        choice = next((option for option in choices if option.key == digits.zfill(digits_of(item))), None)
        if choice is None:
            return "wrong", f"There is no answer {digits} here."
        return ("turn" if way_of(item) == "many" and choice.value is not NOT_SEEN else "give"), choice.value

    def effect_of_enter(self, item: SheetItem, choices: Sequence[AnswerChoice], answered: bool) -> KeyEffect:
        """Return the effect of Enter on this item."""
        if self.digits:
            return self._effect_of_digits(item, choices)
        if answered:
            return "on"
        match way_of(item):
            case "typed":
                return "type"
            case "step":
                return "shown"
            case "choice" | "many" | "scale" if not item.field.required:
                return "on"
            case "box":
                return "menu"
        return "open"

    # -- words -----------------------------------------------------------------------------------------------

    def how_to_answer(self, item: SheetItem, answered: bool, says: SheetText) -> str:
        """Return how to answer an item without listed options. `says` returns the texts of every sheet."""
        match way_of(item):
            case "scale":
                return f"{self.digits}_\n{scale_words(item, says)}"
            case "many":
                return (
                    f"{self.digits}_\n{many_words(item.field, says)}" if self.digits else many_words(item.field, says)
                )
            case "choice" if self.digits:
                return f"{self.digits}_"
            case "step":
                return "{answer.next}: the step shown. A digit: type its number."
            case "box":
                return "{answer.next}, then {other.1}: frame a box on the phone; {other.2}: type it."
            case "typed":
                return (
                    "{answer.next}: type it."
                    if not answered
                    else "{answer.type}, or {answer.0} and {other.1}: type it anew."
                )
        return ""

    def enter_words(self, item: SheetItem, answered: bool, stepped: bool) -> str:
        """Return the effect of Enter on this item, in words."""
        if self.digits:
            value = scale_entry.parse_digits(item.field, self.digits) if way_of(item) == "scale" else int(self.digits)
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
