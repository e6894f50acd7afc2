"""Units from a file of JSON lines: two instruction sets, or two texts, with a card about the person.

A line of instruction sets: `{"id": "u7-1", "user": "u7", "context": "...", "A": {"method": "ours", "instructions":
["...", ...]}, "B": {...}}`. A line of texts: `{"A": "...", "B": "...", "source": "model-x"}`, for `same-intent` the
intent and the guess. `id`, `user`, `context`, `method`, `source` may be left out. The default id is the line's number.
Raters never see `method` and `source`. With `gold`, answers by field (and `reason`), a line is a calibration unit.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec

from annotators.units.cards import facts_of
from lab.core.codec import convert, read_file
from lab.core.errors import LabError
from lab.core.study.label_rules import as_option, check_value
from lab.core.study.protocol import Protocol
from lab.core.study.study import Gold, Unit, UnitText
from lab.core.text.json_lines import json_lines


class InstructionSet(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The instructions that one method wrote for a person."""

    instructions: tuple[str, ...]
    method: str = ""


class _UnitLine(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    id: str = ""
    user: str = ""
    context: str | dict[str, Any] = ""
    gold: dict[str, Any] = {}
    reason: str = ""


class SetLine(_UnitLine, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Two instruction sets for one person."""

    A: InstructionSet
    B: InstructionSet


class TextLine(_UnitLine, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Two texts to compare."""

    A: str
    B: str
    source: str = ""


def read_lines(path: Path) -> list[tuple[str, Any]]:
    """Return a JSON-lines file's values with their locations. Raise `LabError`, with the line, if one is invalid."""
    what = f"file {path}"
    return [(where, value.value) for where, value in json_lines(read_file(path, what), what)]


_SETS = '{"user": "u1", "A": {"method": "ours", "instructions": ["..."]}, "B": {"method": "other", "instructions": []}}'


def _read_line(value: Any, kind: Any, where: str, like: str) -> Any:
    """Return a line as `kind`. Raise `LabError` with a valid line as an example if it does not fit."""
    try:
        return convert(value, kind, where)
    except LabError as error:
        raise LabError(error.title, error.message, f"A line is like {like}.") from error


def set_units(protocol: Protocol, lines: Sequence[tuple[str, Any]]) -> list[Unit]:
    """Return a unit per line of two instruction sets. Intervals are clustered by the person they were written for."""
    units = []
    for place, (where, value) in enumerate(lines, 1):
        line: SetLine = _read_line(value, SetLine, where, _SETS)
        for side, one in (("A", line.A), ("B", line.B)):
            if not one.instructions:
                raise LabError(where, f"field {side}.instructions: is empty")
            _check_filled(where, f"{side}.instructions", one.instructions)
        instruction_sets = (
            UnitText("Instructions", items=line.A.instructions, side="A"),
            UnitText("Instructions", items=line.B.instructions, side="B"),
        )
        units.append(_unit(protocol, where, line, place, instruction_sets, {"A": line.A.method, "B": line.B.method}))
    return _check_distinct(lines, units)


def text_units(protocol: Protocol, lines: Sequence[tuple[str, Any]]) -> list[Unit]:
    """Return a unit per line of two texts, titled as the protocol's sides."""
    units = []
    for place, (where, value) in enumerate(lines, 1):
        line: TextLine = _read_line(value, TextLine, where, '{"A": "...", "B": "..."}')
        _check_filled(where, "A", (line.A,))
        _check_filled(where, "B", (line.B,))
        a, b = protocol.sides or ("Text", "Text")  # two, as protocols are checked
        texts = (UnitText(a, line.A, side="A"), UnitText(b, line.B, side="B"))
        units.append(_unit(protocol, where, line, place, texts, {"source": line.source}))
    return _check_distinct(lines, units)


def _check_filled(where: str, field: str, texts: Sequence[str]) -> None:
    if not all(text.strip() for text in texts):
        raise LabError(where, f"field {field}: holds an empty text")


def _unit(
    protocol: Protocol,
    where: str,
    line: _UnitLine,
    place: int,
    materials: tuple[UnitText, ...],
    hidden_texts: dict[str, str],
) -> Unit:
    fields = {field.id: field for field in protocol.fields}
    gold = tuple(
        Gold("", id, as_option(fields[id], None, value) if id in fields else value, line.reason)
        for id, value in line.gold.items()
    )
    _check_gold(protocol, where, gold)
    return Unit(
        line.id or f"line-{place}",
        given=(*_context(line.context), *materials),
        cluster=line.user,
        hidden={name: text for name, text in hidden_texts.items() if text},
        gold=gold,
        pilot=bool(gold),
    )


def _context(context: str | dict[str, Any]) -> tuple[UnitText, ...]:
    if isinstance(context, dict):
        return tuple(UnitText(title, _card_text(content)) for title, content in context.items())
    return (UnitText("The person", context),) if context else ()


def _card_text(content: Any) -> str:
    """Return the text under a heading of the card: a text unchanged, anything else in words."""
    if isinstance(content, str):
        return content
    if isinstance(content, dict):
        return "\n".join(facts_of(content))
    # `facts_of` wants a mapping, so the content gets an empty name, which is cut off again.
    head, *rest = facts_of({"": content})
    head = head.removeprefix(":").strip()
    return "\n".join([*([head] if head else []), *rest])


def _check_gold(protocol: Protocol, where: str, gold: Sequence[Gold]) -> None:
    for one in gold:
        field = protocol.field(one.field)
        if field is None:
            field_ids = ", ".join(field.id for field in protocol.fields)
            raise LabError(where, f"field gold: {one.field!r} is none of {field_ids}")
        check_value(where, field, None, one.value, by="script")


def _check_distinct(lines: Sequence[tuple[str, Any]], units: list[Unit]) -> list[Unit]:
    first: dict[str, str] = {}
    for (where, _), unit in zip(lines, units, strict=True):
        if unit.id in first:
            raise LabError(where, f"field id: {unit.id!r} stands in {first[unit.id].rpartition(', ')[2]} already")
        first[unit.id] = where
    return units
