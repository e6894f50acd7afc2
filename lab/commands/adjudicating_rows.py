"""Settlements as JSON lines, and what is typed for one, read into what is meant at which place."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import msgspec

from annotators.gold import field_at
from lab.adjudication import Means, Move
from lab.errors import LabError
from lab.label import Missing
from lab.labels import Spot
from lab.study import Study, Unit
from lab.wire import convert, read_file, read_json
from screens.adjudicate.chair import Case, Chair
from screens.annotate.typed import typed_value


class Row(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """One line that `hitlab adjudicate --from` reads: what is right at a place, by which means, and why.

    `unit` is a unit's id or its beginning, or a run's; `target` and `field` are left out where there is one alone.
    One of `value`, `missing` and `withdrawn` is told. Moves name a rater by letter or code; `was` may be left out.
    """

    unit: str
    reason: str
    target: str = ""
    field: str = ""
    value: Any = None
    missing: Missing | None = None
    means: Means | None = None
    minutes: float | None = None
    moves: tuple[Move, ...] = ()
    judges_seen: bool = False
    withdrawn: bool = False


def rows_of(name: str) -> list[tuple[str, Row]]:
    """Each line of a file (or of standard input: `-`) and where it stands; `LabError` names line and field."""
    data = sys.stdin.buffer.read() if name == "-" else read_file(Path(name), f"file {name}")
    what = "standard input" if name == "-" else f"file {name}"
    found = []
    for number, line in enumerate(data.splitlines(), 1):
        if not line.strip():
            continue
        where = f"{what}, line {number}"
        value, notes = read_json(line, where)
        for place, stood in notes:
            raise LabError(where, f"field {place}: holds a {stood}")
        row: Row = convert(value, Row, where)
        told = (row.value is not None) + (row.missing is not None) + row.withdrawn
        if told != 1:
            raise LabError(where, f"field value: {told or 'none'} of value, missing and withdrawn is told")
        found.append((where, row))
    if not found:
        raise LabError(what, "holds no line")
    return found


def places_of(study: Study, unit: Unit, target: str, field: str, where: str) -> Spot:
    """The place that is meant; a target is left out where the unit has one alone."""
    if not target and len(unit.targets) == 1 and study.protocol.targets != "unit":
        whole = study.protocol.field(field)
        if whole is None or whole.per == "target":
            target = unit.targets[0].id
    return Spot(target, field_at(study.protocol, unit, target, field, where).id)


def value_at(study: Study, case: Case, words: str) -> Any:
    """What was typed as a value of its field; `LabError` says what does not fit."""
    field = study.protocol.field(case.spot.field)
    assert field is not None
    if field.kind in ("nominal", "ordinal"):
        return words
    if field.kind == "flag":
        known = {"yes": True, "true": True, "no": False, "false": False}
        if words.casefold() not in known:
            raise LabError(field.id, f"{words!r} is neither yes nor no.")
        return known[words.casefold()]
    return typed_value(field, words)


def check_seen(chair: Chair, case: Case, what: str) -> None:
    """Raises `LabError` where this person still has to rate the unit, or others have: nobody is told before then."""
    if case.closed and not chair.store.locked(chair.study):
        raise LabError(what, f"unit {case.unit.id}: {case.closed}")
