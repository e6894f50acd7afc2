"""A study's current labels as columns: a million in seconds, without an object for each."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from operator import attrgetter
from typing import Any, NamedTuple

import msgspec
import numpy as np
import numpy.typing as npt

from lab.core.codec import decode, storable
from lab.core.study.label_columns import AnswerTimes, Columns, Ints
from lab.core.study.study import VERSION, Study
from lab.core.task.task import Actor
from lab.core.values.whole_number import whole_number
from store.file.times import milliseconds
from store.studies.studies import key_of

_BATCH = 5_000
"""Labels decoded at a time: few enough for the processor's cache and for a short wait."""
_BY_INDEX = "SELECT n, body FROM label WHERE study = ? AND version = ?"
_BY_SCAN = "SELECT n, body FROM label WHERE +study = ? AND +version = ?"
"""The same without an index: faster if most labels of the file belong to the study."""
_SIZE = "SELECT (SELECT count(*) FROM label WHERE study = ? AND version = ?), (SELECT ifnull(max(n), 0) FROM label)"
_UNITS = "SELECT body FROM unit WHERE study = ? AND version = ? ORDER BY position"
_DEALT = "SELECT unit, rater, run FROM assignment WHERE study = ? AND version = ? ORDER BY n"
_ACTS = (
    "SELECT rater, unit, run, act FROM act WHERE study = ? AND version = ? AND act IN ('commit', 'reopen') "
    "ORDER BY at, id"
)
_LEFT = "SELECT rater, body FROM act WHERE study = ? AND version = ? AND act = 'left'"

Longs = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]
Sheet = tuple[str, str, int]
"""Key of a sheet in its rows: unit, rater, run."""


class _Target(msgspec.Struct, frozen=True, gc=False):
    id: str


class _Unit(msgspec.Struct, frozen=True, gc=False):
    id: str
    targets: tuple[_Target, ...] = ()


class _LabelFields(msgspec.Struct, frozen=True, gc=False):
    """Fields of a label that statistics need. The rest of its row stays undecoded."""

    unit: str
    target: str
    field: str
    rater: msgspec.Raw
    run: int = 1
    value: msgspec.Raw = msgspec.Raw(b"null")
    reason_missing: str | None = None
    confidence: float | None = None
    evidence: str | None = None
    cites: str = ""
    shown_at: str | None = None
    at: str = ""
    idle_ms: float = 0.0
    supersedes: str | None = None
    also: tuple[str, ...] = ()
    v: int = VERSION


_UNIT, _TARGET, _FIELD, _RATER, _RUN, _VALUE, _REASON, _EVIDENCE, _CITES, _LABEL_VERSION = map(
    attrgetter, ("unit", "target", "field", "rater", "run", "value", "reason_missing", "evidence", "cites", "v")
)


class _LeftRow(msgspec.Struct, frozen=True):
    detail: dict[str, Any] = {}


class LabelRows(NamedTuple):
    """Labels as columns, in order of insertion.

    Names are indices as in `Columns`, raters indices of the reader's own.
    """

    n: Longs
    unit: Ints
    target: Ints
    field: Ints
    rater: Ints
    run: Ints
    value: Ints
    reason: Ints
    step: Ints
    cites: Ints
    at: Longs
    seconds: Floats
    confidence: Floats

    def select(self, selection: Any) -> LabelRows:
        """Return the rows of a mask, or rows in the order of indices."""
        return LabelRows(*(column[selection] for column in self))


def columns_of(db: sqlite3.Connection, study: Study) -> Columns:
    """Return the current labels of a study within the caller's transaction, of people only if handed in."""
    return _columns_of(db, study, _read_columns(db, study))


def columns_and_times(db: sqlite3.Connection, study: Study) -> tuple[Columns, AnswerTimes]:
    """Return the same columns, and the time of every answer."""
    times: list[AnswerTimes] = []
    reading = _read_columns(db, study, times)
    columns = _columns_of(db, study, reading)
    if not times:
        return columns, AnswerTimes(*(np.zeros(0, kind) for kind in (*[np.int32] * 3, *[np.float64] * 3)))
    answer_times = AnswerTimes(*(np.concatenate(column) for column in zip(*times, strict=True)))
    # Times are numbered by raters as they were read. `columns` sorts them, so renumber.
    places = {(actor.kind, actor.id): at for at, actor in enumerate(columns.raters)}
    actors: list[Actor] = [decode(body, Actor, "a label's rater in the file") for body in reading.raters]
    return columns, answer_times._replace(
        rater=_int_array(places[actor.kind, actor.id] for actor in actors)[answer_times.rater]
    )


def _read_columns(db: sqlite3.Connection, study: Study, times: list[AnswerTimes] | None = None) -> _ColumnReader:
    key = key_of(study)
    units: list[_Unit] = [decode(body, _Unit, "a unit in the file") for (body,) in db.execute(_UNITS, key)]
    reading = _ColumnReader(study, units, times)
    own_count, total_count = db.execute(_SIZE, key).fetchone()
    # From a quarter of the file's labels on, a full scan is faster than the index.
    cursor = db.execute(_BY_SCAN if 4 * own_count > total_count else _BY_INDEX, key)
    while batch := cursor.fetchmany(_BATCH):
        reading.take(batch)
    return reading


def _columns_of(db: sqlite3.Connection, study: Study, reading: _ColumnReader) -> Columns:
    key = key_of(study)
    superseded_rows = _row_numbers(db, reading.superseded)
    dealt_sheets = db.execute(_DEALT, key).fetchall()
    last: dict[Sheet, str] = {(unit, rater, run): act for rater, unit, run, act in db.execute(_ACTS, key)}
    leavers = {rater for rater, body in db.execute(_LEFT, key) if "for" in decode(body, _LeftRow, "an act").detail}
    handed_sheets = {sheet for sheet, act in last.items() if act == "commit"}
    return _columns(reading, superseded_rows, dealt_sheets, handed_sheets, leavers)


def _row_numbers(db: sqlite3.Connection, ids: Iterable[str]) -> Longs:
    """Return the row numbers of these labels."""
    numbers: list[int] = []
    label_ids = [storable(id) for id in ids]
    # SQLite limits the number of parameters in a statement.
    for at in range(0, len(label_ids), 500):
        some = label_ids[at : at + 500]
        numbers += (n for (n,) in db.execute(f"SELECT n FROM label WHERE id IN ({','.join('?' * len(some))})", some))
    return np.array(numbers, dtype=np.int64)


class _NameNumbers(dict[Any, int]):
    """Numbers names in order of first use. An empty name is -1 and not stored."""

    def __missing__(self, name: Any) -> int:
        if not name:
            return -1
        self[name] = number = len(self)
        return number


class _Steps(dict[str | None, int]):
    """Step (from 0) of each evidence text, cached because many answers share it, or -1 if it names none."""

    def __missing__(self, evidence: str | None) -> int:
        self[evidence] = step = -1 if evidence is None else _step(evidence)
        return step


class _KnownNumbers(dict[str, int]):
    """Numbers of known names, -1 for any other."""

    def __missing__(self, name: str) -> int:
        return -1


class _ColumnReader:
    """Converts batches of rows into columns."""

    def __init__(self, study: Study, units: Sequence[_Unit], times: list[AnswerTimes] | None = None) -> None:
        self.units = _KnownNumbers({storable(unit.id): i for i, unit in enumerate(units)})
        self.unit_ids = tuple(unit.id for unit in units)
        self.target_ids = tuple(dict.fromkeys(("", *(one.id for unit in units for one in unit.targets))))
        self.targets = _KnownNumbers({storable(id): i for i, id in enumerate(self.target_ids)})
        self.fields = _KnownNumbers({storable(field.id): i for i, field in enumerate(study.protocol.fields)})
        self.field_ids = tuple(field.id for field in study.protocol.fields)
        self.raters, self.values, self.reasons, self.cites = (
            _NameNumbers(),
            _NameNumbers(),
            _NameNumbers(),
            _NameNumbers(),
        )
        self._steps = _Steps()
        self.superseded: set[str] = set()
        self._parts: list[LabelRows] = []
        self._times = times
        """Receives each batch's answer times, if given."""
        self._decode = msgspec.json.Decoder(_LabelFields).decode
        self._newest = VERSION

    def take(self, batch: list[tuple[int, str]]) -> None:
        """Add a batch of rows (n, body)."""
        labels = self._decode_batch([body for _, body in batch])
        self.superseded.update([label.supersedes for label in labels if label.supersedes])
        self.superseded.update([id for label in labels if label.also for id in label.also])
        at = milliseconds([label.at for label in labels])
        shown_at = milliseconds([label.shown_at or "" for label in labels])
        idle = np.array([label.idle_ms for label in labels], dtype=np.float64)
        nan = float("nan")

        def ints(numbers: Iterable[int]) -> Ints:
            return np.fromiter(numbers, dtype=np.int32, count=len(labels))

        rows = LabelRows(
            np.array([n for n, _ in batch], dtype=np.int64),
            ints(map(self.units.__getitem__, map(_UNIT, labels))),
            ints(map(self.targets.__getitem__, map(_TARGET, labels))),
            ints(map(self.fields.__getitem__, map(_FIELD, labels))),
            ints(map(self.raters.__getitem__, map(bytes, map(_RATER, labels)))),
            ints(map(_RUN, labels)),
            ints(map(self.values.__getitem__, map(bytes, map(_VALUE, labels)))),
            ints(map(self.reasons.__getitem__, map(_REASON, labels))),
            ints(map(self._steps.__getitem__, map(_EVIDENCE, labels))),
            ints(map(self.cites.__getitem__, map(_CITES, labels))),
            # int64 has no NaN.
            np.nan_to_num(at, nan=0.0).astype(np.int64),
            # NaN (no time) remains NaN. A clock that was set back gives 0.
            np.maximum((at - shown_at - idle) / 1000, 0.0),
            np.array([nan if label.confidence is None else label.confidence for label in labels], dtype=np.float64),
        )
        # Drop rows about units, targets or fields that the study's version does not have.
        mask = (rows.unit >= 0) & (rows.target >= 0) & (rows.field >= 0)
        self._parts.append(rows.select(mask))
        if self._times is not None:
            places = rows.rater[mask], rows.unit[mask], rows.run[mask]
            self._times.append(AnswerTimes(*places, at[mask] / 1000, shown_at[mask] / 1000, idle[mask] / 1000))

    def rows(self) -> LabelRows:
        """Return all rows added so far."""
        if not self._parts:
            self._parts.append(LabelRows(*(np.zeros(0, kind) for kind in _DTYPES)))
        return LabelRows(*(np.concatenate(column) for column in zip(*self._parts, strict=True)))

    def _decode_batch(self, bodies: list[str]) -> list[_LabelFields]:
        try:
            labels = list(map(self._decode, bodies))
        # Decode one by one: `decode` raises an error that names the label and its version.
        except msgspec.DecodeError:
            return [decode(body, _LabelFields, "a label in the file", newest=VERSION) for body in bodies]
        if max(map(_LABEL_VERSION, labels), default=VERSION) > VERSION:
            return [decode(body, _LabelFields, "a label in the file", newest=VERSION) for body in bodies]
        return labels


_DTYPES = (np.int64, *[np.int32] * 9, np.int64, np.float64, np.float64)


def _int_array(numbers: Iterable[int]) -> Ints:
    return np.array(list(numbers), dtype=np.int32)


def _step(evidence: str) -> int:
    """Return the step (from 0) that a label's evidence names, -1 if none."""
    number = whole_number(evidence.rpartition("@")[2]) or 0
    return number - 1 if number < 2**31 else -1


# -- current labels --------------------------------------------------------------------------------------------


def _columns(
    reading: _ColumnReader,
    superseded_rows: Longs,
    dealt_sheets: Sequence[Sheet],
    handed_sheets: set[Sheet],
    leavers: set[str],
) -> Columns:
    """Return the current labels as columns, sorted by unit, target and field.

    Names are sorted too, so that the result does not depend on the order of insertion.
    """
    rows = reading.rows()
    raters, rater = _sort_raters(reading.raters, (who for _, who, _ in dealt_sheets))
    # `null` as a value means that the answer was skipped or withdrawn.
    null = reading.values.pop(b"null", -1)
    values = _renumber(reading.values, np.where(rows.value == null, -1, rows.value) if null >= 0 else rows.value)
    reasons = _renumber(reading.reasons, rows.reason)
    cites = _renumber(reading.cites, rows.cites)
    rows = rows._replace(rater=rater[rows.rater], value=values[1], reason=reasons[1], cites=cites[1])
    rows = rows.select(~np.isin(rows.n, superseded_rows))
    # The last key of lexsort is the primary one.
    rows = rows.select(np.lexsort((rows.n, rows.run, rows.rater, rows.field, rows.target, rows.unit)))
    alone, clashes = _only_answers(rows)
    rows = rows.select(alone & ((rows.value >= 0) | (rows.reason >= 0)))
    sheets = _SheetNumbers(reading, raters, rows)
    counts = sheets.not_human[rows.rater] | np.isin(
        sheets.row_sheets(rows.unit, rows.rater, rows.run), sheets.known_sheets(handed_sheets)
    )
    counted_rows = rows.select(counts)
    sheet, done_mask = sheets.count_dealt(dealt_sheets, handed_sheets, leavers)
    return Columns(
        reading.unit_ids, reading.target_ids, reading.field_ids, raters,
        tuple(msgspec.json.decode(value) for value in values[0]), reasons[0], cites[0],
        *counted_rows[1:], sheet, done_mask, int((~counts).sum()), clashes,
    )  # fmt: skip


def _sort_raters(bodies: Mapping[bytes, int], dealt_codes: Iterable[str]) -> tuple[tuple[Actor, ...], Ints]:
    """Return everyone who rated or was dealt units, sorted by kind and id, and for each of `bodies` its index."""
    actors: list[Actor] = [decode(body, Actor, "a label's rater in the file") for body in bodies]
    first: dict[tuple[str, str], Actor] = {}
    for actor in sorted(actors, key=lambda actor: (actor.kind, actor.id, actor.name)):
        first.setdefault((actor.kind, actor.id), actor)
    rater_ids = {id for _, id in first}
    for id in dealt_codes:
        if id not in rater_ids:
            first.setdefault(("human", id), Actor("human", id))
    order = {key: i for i, key in enumerate(sorted(first))}
    return tuple(first[key] for key in order), _int_array(order[actor.kind, actor.id] for actor in actors)


def _renumber(index: Mapping[Any, int], column: Ints) -> tuple[tuple[Any, ...], Ints]:
    """Return sorted names, and the column renumbered to match."""
    names = sorted(index)
    new = np.full(max(index.values(), default=-1) + 2, -1, dtype=np.int32)  # the last is for -1
    new[[index[name] for name in names]] = np.arange(len(names), dtype=np.int32)
    return tuple(names), new[column]


def _only_answers(rows: LabelRows) -> tuple[Mask, int]:
    """Return a mask of rows that are the only last answer at their place, and the number of places with several.

    `rows` must be sorted by place.
    """
    if not len(rows.n):
        return np.zeros(0, dtype=np.bool_), 0
    key = np.stack((rows.unit, rows.target, rows.field, rows.rater, rows.run))
    same = np.concatenate(([False], (key[:, 1:] == key[:, :-1]).all(axis=0), [False]))
    is_repeat, has_repeat = same[:-1], same[1:]
    return ~(is_repeat | has_repeat), int((has_repeat & ~is_repeat).sum())


class _SheetNumbers:
    """Encodes sheets as single integers made of unit, rater code and run."""

    def __init__(self, reading: _ColumnReader, raters: Sequence[Actor], rows: LabelRows) -> None:
        self._units = reading.units
        self._sort_raters = raters
        self._codes = {storable(id): i for i, id in enumerate(sorted({actor.id for actor in raters}))}
        self._code = _int_array(self._codes[storable(actor.id)] for actor in raters)
        self._rows = rows
        self.not_human = np.array([actor.kind != "human" for actor in raters], dtype=np.bool_)
        self._by_code = dict[str, int]()
        # A person takes precedence over a model with the same code.
        for i, actor in sorted(enumerate(raters), key=lambda pair: pair[1].kind != "human"):
            self._by_code.setdefault(storable(actor.id), i)

    def row_sheets(self, unit: Ints, rater: Ints, run: Ints) -> Longs:
        """Return each row's sheet number."""
        unit_and_code = unit.astype(np.int64) * max(1, len(self._codes)) + self._code[rater]
        # `run` is below 2**31, so both parts fit into 64 bits.
        return unit_and_code << 32 | run.astype(np.int64)

    def known_sheets(self, sheets: Iterable[Sheet]) -> Longs:
        """Return the numbers of named sheets, without those of unknown units or raters."""
        there = ((self._units.get(unit, -1), self._codes.get(rater, -1), run) for unit, rater, run in sheets)
        whole = max(1, len(self._codes))
        keys = [(unit * whole + code) << 32 | run for unit, code, run in there if unit >= 0 and code >= 0]
        return np.array(keys, dtype=np.int64)

    def count_dealt(
        self, dealt_sheets: Sequence[Sheet], handed_sheets: set[Sheet], leavers: set[str]
    ) -> tuple[Ints, Mask]:
        """Return the sheets that count as dealt, by unit, and a mask of those handed in.

        Open sheets of a rater who left belong to a successor and are dropped. A model or script hands in by answering.
        """
        rows = self._rows
        answered_sheets = set(
            np.unique(self.row_sheets(rows.unit, rows.rater, rows.run)[self.not_human[rows.rater]]).tolist()
        )
        dealt_rows: list[tuple[int, int, int, bool]] = []
        for sheet in dealt_sheets:
            unit, code, run = sheet
            if unit not in self._units:
                continue
            rater = self._by_code[code]
            is_done = sheet in handed_sheets
            if not is_done and self.not_human[rater]:
                is_done = bool(answered_sheets.intersection(self.known_sheets([sheet]).tolist()))
            if is_done or code not in leavers:
                dealt_rows.append((self._units[unit], rater, run, is_done))
        dealt_rows.sort()
        sheets = np.array([row[:3] for row in dealt_rows], dtype=np.int32).reshape(-1, 3)
        return sheets, np.array([row[3] for row in dealt_rows], dtype=np.bool_)
