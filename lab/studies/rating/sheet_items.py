"""A sheet as lines: each place, its flags, and the keys that answer it. No Textual here."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import count, groupby
from typing import Any, Literal, NamedTuple

from lab.core.study.option_sets import count_problem, in_order, may_be_empty
from lab.core.study.protocol import Field, Option, Protocol
from lab.core.study.rating_sheet import FieldReference, Sheet, target_of
from lab.core.study.study import Target
from lab.core.text.plain_text import plain
from lab.studies.rating.scale_entry import largest_number

Way = Literal["choice", "many", "scale", "typed", "step", "box"]
"""Input of a place: an option's digit, several options' digits, a scale's digits, typed text, the shown step, a box."""

NOT_SEEN = object()
"""Value of the answer "not shown to me", stored as `cannot_judge`."""
NONE_OF_THESE = object()
"""Choice of none of a field's many options, stored as an empty set."""
_ONE_DIGIT = 9
_LARGEST = 100
"""Largest maximum of a scale that digits answer directly. Larger ones are typed in a line."""


class SheetItem(NamedTuple):
    """A line of the sheet.

    `number` counts its targets from 1 (0: the unit itself). `first` marks a target's first line.
    """

    spot: FieldReference
    field: Field
    target: Target | None
    number: int = 0
    first: bool = True
    flags: tuple[Field, ...] = ()


class AnswerChoice(NamedTuple):
    """An option as shown: `key` is its digits, `letter` an additional key."""

    key: str
    value: Any
    says: str
    means: str = ""
    letter: str = ""


def items_of(sheet: Sheet) -> list[SheetItem]:
    """Return every line in reading order. Optional flags belong to the first line of their target."""
    rows: list[SheetItem] = []
    numbers = {target.id: number for number, target in enumerate(sheet.unit.targets, 1)}
    for id, group in groupby(sheet.spots, key=lambda spot: spot.target):
        fields = [(spot, field) for spot in group if (field := sheet.protocol.field(spot.field)) is not None]
        flags = tuple(field for _, field in fields if field.kind == "flag" and not field.required)
        lines = [(spot, field) for spot, field in fields if field not in flags]
        if not lines:
            lines, flags = fields, ()
        target = target_of(sheet.unit, id)
        for at, (spot, field) in enumerate(lines):
            first = at == 0 or target is None
            rows.append(SheetItem(spot, field, target, numbers.get(id, 0), first, flags if at == 0 else ()))
    return rows


def way_of(item: SheetItem) -> Way:
    """Return the kind of input of a place."""
    match item.field.kind:
        case "nominal" | "ordinal" | "flag":
            return "choice"
        case "many":
            return "many"
        case "step":
            return "step"
        case "box":
            return "box"
        case "interval" if item.field.least is not None and item.field.most is not None and item.field.least >= 0:
            return "scale" if 1 < largest_number(item.field) <= _LARGEST else "typed"
    return "typed"


def by_digits(item: SheetItem) -> bool:
    """Return True if an answer may take several digits."""
    return way_of(item) == "scale" or (way_of(item) in ("choice", "many") and digits_of(item) > 1)


def digits_of(item: SheetItem) -> int:
    """Return the number of digits that select an option."""
    choices = len(_options(item))
    if item.field.kind == "many" and may_be_empty(item.field):
        choices += 1 + len(_flag_keys(item))
    return 1 if choices <= _ONE_DIGIT else 2


def choices_of(item: SheetItem, protocol: Protocol, locale: str = "en", *, swap: bool = False) -> list[AnswerChoice]:
    """Return the options of a place in display order, sides as this rater sees them."""
    if item.field.kind == "flag":
        yes, no = (plain(protocol.sheet_word(locale, key), lines=False) for key in ("_yes", "_no"))
        return [AnswerChoice("1", True, yes), AnswerChoice("2", False, no)]
    options = _options(item)
    digits = digits_of(item)
    choices = []
    own = [option.key for option in options]
    keyed = digits == 1 and len(set(own)) == len(own) and all(len(key) == 1 and key in "123456789" for key in own)
    for number, option in enumerate(options, 1):
        says = protocol.word(locale, f"{item.field.id}.{option.id}", option.display_name)
        if item.field.sided and option.id in ("A", "B"):
            says = protocol.sheet_word(locale, "_left" if (option.id == "B") == swap else "_right")
        means = protocol.word(locale, f"{item.field.id}.{option.id}.means", option.means)
        letter = option.key if option.key.isalpha() and not item.field.sided else ""
        key = option.key if keyed else f"{number:0{digits}d}"
        choices.append(AnswerChoice(key, option.id, plain(says, lines=False), plain(means), letter))
    if item.field.kind == "many" and may_be_empty(item.field):
        used_keys = {*(one.key for one in choices), *_flag_keys(item)}
        keys = (f"{number:0{digits}d}" for number in count(1))
        none = plain(protocol.sheet_word(locale, "_none"), lines=False)
        choices.append(AnswerChoice(next(key for key in keys if key not in used_keys), NONE_OF_THESE, none))
    return _swapped(choices) if item.field.sided and swap else choices


def _flag_keys(item: SheetItem) -> set[str]:
    """Return the digits of an item's flags."""
    return {flag.key for flag in item.flags if flag.key}


def flags_of(item: SheetItem, protocol: Protocol, locale: str = "en") -> list[AnswerChoice]:
    """Return the flags beside an item that have a digit of their own."""
    return [AnswerChoice(flag.key, flag.id, flag_name(flag, protocol, locale)) for flag in item.flags if flag.key]


def flag_name(flag: Field, protocol: Protocol, locale: str = "en") -> str:
    """Return a flag's name in a word or two."""
    return plain(protocol.word(locale, f"{flag.id}.says", flag.display_name), lines=False)


def _options(item: SheetItem) -> list[Option]:
    if item.target is not None and item.target.options and item.field.kind in ("nominal", "ordinal"):
        return [Option(id) for id in item.target.options]
    return [option for option in item.field.options if not option.by_rule]


def _swapped(choices: list[AnswerChoice]) -> list[AnswerChoice]:
    """Return the choices with the keys of A and B exchanged, since their sides are."""
    sides = {choice.value: choice for choice in choices}
    if not {"A", "B"} <= set(sides):
        return choices
    other = {"A": sides["B"].key, "B": sides["A"].key}
    return sorted((one._replace(key=other.get(one.value, one.key)) for one in choices), key=lambda one: one.key)


def title_of(item: SheetItem, protocol: Protocol, locale: str = "en") -> str:
    """Return the subject of a line in plain words."""
    if item.target is None or not item.first:
        return plain(protocol.word(locale, item.field.id, item.field.ask), lines=False)
    return plain(item.target.says or item.target.id, lines=False)


# -- several options of one item -------------------------------------------------------------------------------


def toggle_option(item: SheetItem, selection: list[str] | None, option: Any) -> list[str] | None:
    """Return the selection after toggling an option, or None if empty. "None of these" removes all others."""
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


def selection_problem(item: SheetItem, selection: list[str] | None) -> str:
    """Return why the selection is not a valid answer, empty if it is."""
    if selection is None and may_be_empty(item.field):
        return "Choose what holds, or that none does."
    return count_problem(item.field, len(selection or ()))
