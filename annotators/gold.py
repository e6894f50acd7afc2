"""Gold: right answers and their reasons, read from a calibration file of JSON lines and added to the units.

One line is about one place: `{"unit": ID, "target": "open", "field": "state", "value": "completed", "reason": "..."}`.
`unit` is a unit's id or its beginning. `run` may name one of its runs instead. A line without `target` is about the
unit as a whole. `field` may be left out if only one field is asked there, or only one of them is required.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec
from msgspec.structs import replace

from lab.core.codec import convert, read_file
from lab.core.errors import LabError
from lab.core.study.label_rules import as_option, check_value
from lab.core.study.protocol import Field, Protocol
from lab.core.study.rating_sheet import target_of
from lab.core.study.study import Gold, Unit
from lab.core.text.json_lines import json_lines


class GoldLine(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """One line of a calibration file. It names either a `unit` or a `run`."""

    value: Any
    unit: str = ""
    run: str = ""
    target: str = ""
    field: str = ""
    reason: str = ""


def read_gold(path: Path) -> list[tuple[str, GoldLine]]:
    """Return each line with its location. Raise `LabError`, with the line and the field, if one is invalid."""
    what = f"gold file {path}"
    golds = []
    for where, value in json_lines(read_file(path, what), what):
        one: GoldLine = convert(value.value, GoldLine, where)
        if bool(one.unit) == bool(one.run):
            raise LabError(where, "field unit: names no unit and no run" if not one.unit else "names a unit and a run")
        golds.append((where, one))
    return golds


def with_gold(protocol: Protocol, units: Sequence[Unit], lines: Sequence[tuple[str, GoldLine]]) -> list[Unit]:
    """Return the units in order, those with gold as pilot units.

    Raise `LabError` if a line matches no unit or several, a place is not asked, a value does not fit its field, or two
    lines are about one place.
    """
    golds: dict[str, dict[tuple[str, str], Gold]] = {}
    for where, line in lines:
        unit = _unit(units, line, where)
        field = field_at(protocol, unit, line.target, line.field, where)
        value = as_option(field, target_of(unit, line.target), line.value)
        gold = Gold(line.target, field.id, value, line.reason)
        _check(field, unit, gold, where)
        places = golds.setdefault(unit.id, {})
        if (gold.target, gold.field) in places:
            raise LabError(where, f"field target: unit {unit.id} has gold for {field.id} there already")
        places[gold.target, gold.field] = gold
    return [
        replace(unit, gold=(*unit.gold, *golds[unit.id].values()), pilot=True) if unit.id in golds else unit
        for unit in units
    ]


def field_at(protocol: Protocol, unit: Unit, target: str, id: str, where: str) -> Field:
    """Return the field of a place. Without an `id` it is the only one there, or the only required one.

    Raise `LabError` if there is no such field, or more than one.
    """
    is_whole_unit = protocol.targets == "unit"
    if target and is_whole_unit:
        raise LabError(where, f"field target: {target!r} is told, and the unit as a whole is asked; leave it out")
    if target and target_of(unit, target) is None:
        names = ", ".join(one.id for one in unit.targets) or "none"
        raise LabError(where, f"field target: {target!r} is none of {names}")
    asked_fields = [field for field in protocol.fields if is_whole_unit or (field.per == "target") == bool(target)]
    if id:
        field_there = next((field for field in asked_fields if field.id == id), None)
        if field_there is None:
            names = ", ".join(field.id for field in asked_fields) or (
                "none without a target" if not target else "none there"
            )
            raise LabError(where, f"field field: {id!r} is none of {names}")
        return field_there
    required_fields = [field for field in asked_fields if field.required]
    if len(asked_fields) == 1 or len(required_fields) == 1:
        return asked_fields[0] if len(asked_fields) == 1 else required_fields[0]
    if not asked_fields:
        raise LabError(where, "field target: is not told, and nothing is asked of the unit as a whole")
    raise LabError(
        where, f"field field: is not told, and {', '.join(field.id for field in asked_fields)} are asked there"
    )


def _unit(units: Sequence[Unit], line: GoldLine, where: str) -> Unit:
    # A full id wins over ids that begin with it.
    if line.run:
        matches = [unit for unit in units if line.run in unit.runs]
        matches = matches or [unit for unit in units if any(run.startswith(line.run) for run in unit.runs)]
    else:
        matches = [unit for unit in units if unit.id == line.unit]
        matches = matches or [unit for unit in units if unit.id.startswith(line.unit)]
    if len(matches) == 1:
        return matches[0]
    name = "run" if line.run else "unit"
    problem = "is no unit's" if line.run else "is no unit of the study"
    if matches:
        some = ", ".join(unit.id for unit in matches[:3])
        problem = f"fits {len(matches)} units ({some}{', ...' if len(matches) > 3 else ''})"
    raise LabError(where, f"field {name}: {line.run or line.unit} {problem}")


def _check(field: Field, unit: Unit, gold: Gold, where: str) -> None:
    check_value(where, field, target_of(unit, gold.target), gold.value, by="script")
