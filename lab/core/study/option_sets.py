"""Sets of options, the answers to a field of many choices: parse, order, check and format them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import msgspec

from lab.core.errors import LabError
from lab.core.study.protocol import NO_OPTION, Field


def in_order(field: Field, ids: Iterable[Any]) -> list[Any]:
    """Return the ids in the order of the field's options, without duplicates. Unknown ids come last, unchanged."""
    order = {option.id: at for at, option in enumerate(field.options)}
    option_ids = [one for one in ids if isinstance(one, str) and one in order]
    others = [one for one in ids if not (isinstance(one, str) and one in order)]
    return [*sorted(set(option_ids), key=order.__getitem__), *others]


def parse_set(field: Field, value: Any) -> Any:
    """Parse a set in any form that a file may have: a list, one id, ids between commas, `none`, or a JSON list as text.

    Return a value that is not a set unchanged, so that `check_set` refuses it.
    """
    if isinstance(value, str):
        value = _parse_set(value)
    return in_order(field, value) if isinstance(value, list | tuple) else value


def _parse_set(text: str) -> list[Any] | str:
    words = text.strip()
    if words.startswith("["):
        try:
            ids = msgspec.json.decode(words)
        except msgspec.DecodeError:
            return text
        return ids if isinstance(ids, list) else text
    if words == NO_OPTION:
        return []
    return [part.strip() for part in words.split(",")] if words else text


def check_set(what: str, place: str, field: Field, value: Any, *, by_rule: bool = False) -> None:
    """Raise `LabError` if a value is not a set of the field's options in their order.

    `by_rule` is true for a rule's answer.
    """
    if not isinstance(value, list | tuple):
        raise LabError(what, f"{place}: {value!r} is no list of options")
    option_ids = [option.id for option in field.options]
    for one in value:
        option = field.option(one) if isinstance(one, str) else None
        if option is None:
            raise LabError(what, f"{place}: {one!r} is none of {', '.join(option_ids)}")
        if option.by_rule and not by_rule:
            raise LabError(what, f"{place}: {one!r} is set by a rule, and asked of nobody")
    if list(value) != in_order(field, value):
        raise LabError(what, f"{place}: {set_words(value)} is not in the order of the protocol, each option once")
    if why := count_problem(field, len(value)):
        raise LabError(what, f"{place}: {why}")


def count_problem(field: Field, count: int) -> str:
    """Return a sentence if the number of options is too small or too large, else an empty text."""
    options = "option" if count == 1 else "options"
    if field.least is not None and count < field.least:
        return f"{count} {options} chosen; at least {field.least:g} must be."
    if field.most is not None and count > field.most:
        return f"{count} {options} chosen; at most {field.most:g} may be."
    return ""


def count_words(field: Field) -> str:
    """Return how many options a person may choose, in words."""
    least = f"at least {field.least:g}" if field.least else "none too"
    return least if field.most is None else f"{least}, at most {field.most:g}"


def may_be_empty(field: Field) -> bool:
    """Return True if the empty set is a valid answer."""
    return not field.least


def parse_typed_set(field: Field, words: str) -> list[str]:
    """Parse a typed set: option ids or their words between commas, or `none`. Raise `LabError` if it is invalid."""
    by_words = {option.display_name.casefold(): option.id for option in field.options}
    value = parse_set(field, words)
    if not isinstance(value, list):
        raise LabError(field.id, "nothing was typed.")
    option_ids = in_order(field, [by_words.get(one.casefold(), one) if isinstance(one, str) else one for one in value])
    check_set(field.id, "the answer", field, option_ids)
    return option_ids


def set_words(value: Sequence[Any]) -> str:
    """Format a set as words between commas, and an empty set as `none`."""
    return ", ".join(map(str, value)) or NO_OPTION
