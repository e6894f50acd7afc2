"""Labels as JSON lines, written by other tools, models and scripts.

One line is about one unit: `{"unit": "019a", "target": "open", "field": "state", "value": "completed", "step": 4}`. A
line may hold several answers (`values`), and may be output of `hitlab labels list --json`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import msgspec

from annotators.gold import field_at
from lab.core.codec import convert, read_json
from lab.core.errors import LabError
from lab.core.study.label import ActKind, Missing
from lab.core.study.protocol import Protocol
from lab.core.study.study import Unit

MOST = 16 * 1024 * 1024
"""Maximum bytes of one line."""


class RowAnswer(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """An answer at one place: a `value`, or the reason why it is `missing`.

    `step` (from 1) is the evidence in the unit's own run, `evidence` a place as RUN@STEP, `region` pixels there. `cost`
    is the answer's cost in US dollars.
    """

    value: Any = None
    missing: Missing | None = None
    step: int | None = None
    evidence: str = ""
    region: tuple[int, int, int, int] | None = None
    confidence: float | None = None
    note: str = ""
    cites: str = ""
    cost: float | None = None
    field: str = ""


class LabelRow(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """One line of input of `hitlab labels add`. It needs `unit` and something to do.

    `unit` is a unit's id or its beginning, or a run's. `target` and `field` may be omitted if there is only one.
    `values` holds several answers, by target, or by field if there are no targets. `commit` hands the unit in after the
    row's answers, `reopen` reopens it before them, `undo` undoes the newest answer. `run` distinguishes repeated
    ratings. `id` is the row's own, any word: a second row with it is skipped, whatever was answered since. `cost` is
    the cost in US dollars of all of a row's answers together.

    A row may hold everything else that `hitlab labels list` prints of a label. Of that, `rater`, `kind`, `study`,
    `version`, `protocol_sha` and `config_sha` must match, and rows of a `clash` are refused, since only its rater can
    settle it.
    """

    unit: str
    target: str = ""
    field: str = ""
    value: Any = None
    values: dict[str, Any] | None = None
    missing: Missing | None = None
    step: int | None = None
    evidence: str | None = None
    region: tuple[int, int, int, int] | None = None
    confidence: float | None = None
    note: str = ""
    cites: str = ""
    cost: float | None = None
    run: int | None = None
    commit: bool = False
    undo: bool = False
    reopen: bool = False
    id: str = ""
    rater: str = ""
    kind: str = ""
    study: str = ""
    version: int | None = None
    protocol_sha: str = ""
    config_sha: str = ""
    clash: bool = False
    act: ActKind | str = "answer"
    at: str = ""
    current: bool = True
    handed_in: bool = False
    undoes: str | None = None
    supersedes: str | None = None
    also: tuple[str, ...] = ()
    shown_at: str | None = None
    first_key_at: str | None = None
    idle_ms: float = 0.0
    guide_sha: str = ""
    source: str = ""
    detail: dict[str, Any] = {}


class NumberedRow(NamedTuple):
    """A row with its line number and its place in the source, for errors."""

    where: str
    line: int
    row: LabelRow


class PlacedAnswer(NamedTuple):
    """An answer with its target and field."""

    target: str
    field: str
    answer: RowAnswer


def rows_of(data: bytes, where: str, line: int) -> Iterator[NumberedRow | LabError]:
    """Yield the rows of one line: one, or several from a document of `hitlab labels list`. An error replaces a bad row.

    A document's acts appear between its labels in order of time.
    """
    try:
        if len(data) > MOST:
            raise LabError(where, f"is longer than {MOST:,} bytes")
        value, notes = read_json(data, where, by_hand=True)
        if not isinstance(value, dict):
            raise LabError(where, "is no object with names and values")
    except LabError as error:
        yield error
        return
    if "labels" not in value:
        yield _parse_row(value, notes, where, line)
        return
    rows = [*_numbered_entries(value, "labels"), *_numbered_entries(value, "acts")]
    for place, one in sorted(rows, key=lambda row: str(row[1].get("at") or "") if isinstance(row[1], dict) else ""):
        if isinstance(one, dict) and one.get("act") not in (None, "answer", "undo", "commit", "reopen"):
            continue
        yield _parse_row(one, [], f"{where}, {place}", line)


def _numbered_entries(document: dict[str, Any], name: str) -> list[tuple[str, Any]]:
    there = document.get(name)
    return [(f"{name}[{i}]", one) for i, one in enumerate(there)] if isinstance(there, list) else []


def _parse_row(value: Any, notes: list[tuple[str, str]], where: str, line: int) -> NumberedRow | LabError:
    try:
        row: LabelRow = convert(value, LabelRow, where)
        _check_row(row, notes, where)
    except LabError as error:
        return error
    act = {"undo": row.act == "undo", "commit": row.act == "commit", "reopen": row.act == "reopen"}
    changes = {name: True for name, applies in act.items() if applies}
    return NumberedRow(where, line, msgspec.structs.replace(row, **changes) if changes else row)


def _check_row(row: LabelRow, notes: list[tuple[str, str]], where: str) -> None:
    for place, fault in notes:
        raise LabError(where, f"field {place}: holds a {fault}")
    if row.clash:
        raise LabError(where, "field clash: there are two last words at this place; its rater settles which it is")
    if row.act not in ("answer", "undo", "commit", "reopen"):
        raise LabError(where, f"field act: {row.act!r} is none of answer, undo, commit, reopen")
    if row.run is not None and row.run < 1:
        raise LabError(where, f"field run: {row.run} is less than 1")
    if "#" in row.id or len(row.id) > 200:
        raise LabError(where, "field id: is longer than 200 characters, or holds a #")
    undo = row.undo or row.act == "undo"
    if undo and row.values is not None:
        raise LabError(where, "field undo: takes the newest answer back, and says nothing else")
    if not (undo or row.commit or row.reopen or row.act in ("commit", "reopen") or _has_answer(row)):
        raise LabError(where, "field value: is not there, nor values, missing, undo or commit")
    if row.values is not None and (row.value is not None or row.missing is not None):
        raise LabError(where, "field values: stands beside value or missing; one of them says it")


def _has_answer(row: LabelRow) -> bool:
    """Return True if the row answers anything. An answer undone to nothing has no value."""
    return row.value is not None or row.missing is not None or bool(row.values)


def answers(row: LabelRow, protocol: Protocol, unit: Unit, where: str) -> list[PlacedAnswer]:
    """Return every answer of a row with its place. Raise `LabError` if a place is unknown or ambiguous."""
    if row.undo or not _has_answer(row):
        return []
    shared = RowAnswer(
        row.value,
        row.missing,
        row.step,
        row.evidence or "",
        row.region,
        row.confidence,
        row.note,
        row.cites,
        row.cost,
    )
    if row.values is None:
        return [PlacedAnswer(row.target, field_at(protocol, unit, row.target, row.field, where).id, shared)]
    target_ids = {target.id for target in unit.targets} if protocol.targets != "unit" else set()
    placed_answers = []
    for key, value in row.values.items():
        at = f"{where}, values.{key}"
        answer = _parse_answer(value, shared, at)
        # The first answer bears the cost of the whole row.
        shared = msgspec.structs.replace(shared, cost=None)
        if key in target_ids:
            target, field = key, answer.field or row.field
        else:
            target, field = row.target, key
            if answer.field:
                raise LabError(at, f"field field: {key!r} is no target, and so the field itself")
        placed_answers.append(PlacedAnswer(target, field_at(protocol, unit, target, field, at).id, answer))
    return placed_answers


def _parse_answer(value: Any, shared: RowAnswer, where: str) -> RowAnswer:
    """Return one of several answers, plain or as an object. The row supplies the fields that it lacks."""
    if not isinstance(value, dict):
        return msgspec.structs.replace(shared, value=value, missing=None)
    own: RowAnswer = convert(value, RowAnswer, where)
    fields = {name: getattr(own, name) for name in RowAnswer.__struct_fields__ if name in value}
    return msgspec.structs.replace(shared, **{**fields, "value": own.value, "missing": own.missing})
