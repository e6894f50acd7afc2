"""Merging of runs: a longer copy of a run extends a shorter one, and nothing else may differ."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from lab.core.codec import decode, encode, escape_surrogates
from lab.core.errors import LabError
from lab.core.redaction.text_redaction import WITHDRAWN
from lab.core.run.run_records import Blob, Clearance, RunAct, Verdict
from lab.core.run.shadow_answer import VERSION as SHADOW_VERSION
from lab.core.run.shadow_answer import ShadowAnswer
from lab.core.run.trace import VERSION, AnyEvent, Ended, Started
from lab.core.study.proofreading import VERSION as REVIEW_VERSION
from lab.core.study.proofreading import Review
from lab.core.task.design import VERSION as DESIGN_VERSION
from lab.core.task.design import Revision
from store.erasing.tombstones import check_no_withdrawn_signers, check_not_withdrawn
from store.file.foreign_file import MergedFile, text_of
from store.runs import run_rows
from store.runs.run_acts import INSERT_RUN_ACT, run_act_row
from store.runs.run_acts import VERSION as RUN_ACT_VERSION
from store.runs.shadows import INSERT_SHADOW, shadow_row
from store.studies.designs import INSERT_DESIGN, design_row
from store.studies.proofreading import INSERT_CLEARANCE, INSERT_REVIEW, clearance_row, review_row

if TYPE_CHECKING:
    from store.copies.merge_transaction import Merge


_RUN_TABLES: tuple[tuple[str, type[Any], int], ...] = (
    ("review", Review, REVIEW_VERSION),
    ("clearance", Clearance, 1),
    ("run_act", RunAct, RUN_ACT_VERSION),
    ("shadow", ShadowAnswer, SHADOW_VERSION),
)
"""Tables of rows about runs: table name, type of a row, and its newest stored version."""


def merge_runs(into: Merge, source: MergedFile) -> None:
    """Merge every run with its pictures, verdicts and drafts, and rows about runs, except runs erased in any file."""
    repeating = into.repeating(lambda sql, *values: list(source.rows(sql, *values)), source.path)
    for (id,) in source.rows("SELECT id FROM trace ORDER BY n"):
        if not into.is_erased(id) and id not in repeating:
            _merge_run(into, source, text_of(id, "trace"))
    for table, kind, newest in _RUN_TABLES:
        for body, row in source.bodies(table, kind, newest):
            if into.is_erased(row.trace) or row.trace in repeating or into.is_present(source, table, row.id, body, row):
                continue
            check_not_withdrawn(into.db, row.by.id, f"{table} {row.id}")
            if table == "review":
                into.db.execute(INSERT_REVIEW, review_row(row))
            elif table == "clearance":
                into.db.execute(INSERT_CLEARANCE, clearance_row(row))
            elif table == "shadow":
                into.db.execute(INSERT_SHADOW, shadow_row(row))
            else:
                into.db.execute(INSERT_RUN_ACT, run_act_row(row))
            into.added[f"{table}s"] += 1


def _merge_run(into: Merge, source: MergedFile, id: str) -> None:
    here = into.db.execute("SELECT max(seq), max(kind = 'ended') FROM event WHERE trace = ?", (id,)).fetchone()
    last_seq = -1 if here[0] is None else int(here[0])
    last: AnyEvent | None = None
    more = 0
    for seq, event, body in _checked_events(source, id):
        if seq <= last_seq:
            _check_same_event(into, source, id, seq, body)
            continue
        if here[1]:
            raise LabError(
                f"run {id}", f"goes on after it ended in {into.origin_of_row('event', 'trace', id, source)}."
            )
        if isinstance(last, Ended):
            raise LabError(f"run {id}", "has ended; nothing follows.")
        _insert_event(into, id, seq, event)
        last, more = event, more + 1
    into.added["runs"] += last_seq < 0
    into.already_present += last_seq >= 0
    into.added["events"] += more
    _merge_pictures(into, source, id)
    _merge_verdicts(into, source, id)
    # Drafts have no id. One that was redacted here differs only in its text.
    drafts = "SELECT 1 FROM draft WHERE trace = ? AND question = ? AND at = ? AND (text = ? OR instr(text, ?))"
    for row in source.rows("SELECT trace, question, at, text FROM draft WHERE trace = ? ORDER BY n", id):
        if not into.db.execute(drafts, (*row, WITHDRAWN)).fetchone():
            into.db.execute("INSERT INTO draft (trace, question, at, text) VALUES (?, ?, ?, ?)", row)


def _checked_events(source: MergedFile, id: str) -> Iterator[tuple[int, AnyEvent, str]]:
    """Yield a run's events with their numbers. Raise `LabError` unless they form a complete sequence."""
    expected = 0
    for seq, body in source.rows("SELECT seq, body FROM event WHERE trace = ? ORDER BY seq", id):
        event: AnyEvent = decode(text_of(body, "event"), AnyEvent, f"run {id}, event {seq}", newest=VERSION)
        if (seq, event.seq) != (expected, expected):
            raise LabError(f"run {id}", f"expects event {expected}, not {event.seq}.")
        if isinstance(event, Started) != (seq == 0) or (isinstance(event, Started) and event.trace != id):
            raise LabError(f"run {id}", "does not begin with its own beginning.")
        yield seq, event, body
        expected += 1
    if not expected:
        raise LabError(f"run {id}", "holds nothing.")


def _check_same_event(into: Merge, source: MergedFile, id: str, seq: int, body: str) -> None:
    row = into.db.execute("SELECT body FROM event WHERE trace = ? AND seq = ?", (id, seq)).fetchone()
    what = f"run {id}, event {seq}"
    if row[0] != body and decode(row[0], AnyEvent, what) != decode(body, AnyEvent, what):
        covered = into.combined_redactions(row[0], body)
        if covered is not None:
            into.rewrite("event", "trace = ? AND seq = ?", covered, row[0], id, seq)
            return
        other = into.origin_of_row("event", "trace", id, source)
        raise LabError(f"run {id}", f"went otherwise than in {other} from event {seq} on.")


def _insert_event(into: Merge, id: str, seq: int, event: AnyEvent) -> None:
    if isinstance(event, Started):
        # The fork repeats the beginning that was redacted.
        if event.parent and into.is_redacted(event.parent):
            raise LabError(
                f"run {id}", f"begins as run {event.parent}, which was redacted, and was not redacted with it."
            )
        into.db.execute(run_rows.TRACE, run_rows.trace_row(event))
    row = run_rows.event_row(id, event)
    check_no_withdrawn_signers(into.db, [row[-1]], f"run {id}")
    into.db.execute(run_rows.EVENT, row)
    uses = [(id, sha256) for sha256 in sorted(run_rows.referenced_blobs(event))]
    into.db.executemany("INSERT OR IGNORE INTO use VALUES (?, ?)", uses)


def _merge_pictures(into: Merge, source: MergedFile, id: str) -> None:
    """Merge a run's pictures and links. Bytes already in this file are not read."""
    bodies = into.db.execute("SELECT body FROM event WHERE trace = ?", (id,)) if into.withdrawals else ()
    here = "".join(body for (body,) in bodies)  # a redacted state has another hash here
    for (sha256,) in source.rows("SELECT sha256 FROM use WHERE trace = ? ORDER BY sha256", id):
        if into.withdrawals and f'"{sha256}"' not in here:
            continue
        into.db.execute("INSERT OR IGNORE INTO use VALUES (?, ?)", (id, text_of(sha256, "use")))
        if into.db.execute("SELECT 1 FROM blob WHERE sha256 = ?", (sha256,)).fetchone():
            continue
        for data, mime in source.rows("SELECT bytes, mime FROM blob WHERE sha256 = ?", sha256):
            # A stranger's file may state any hash.
            if not isinstance(data, bytes) or Blob(data, mime).sha256 != sha256:
                raise LabError(f"run {id}", f"the bytes of picture {sha256} are not its own.")
            into.db.execute(run_rows.BLOB, (sha256, str(mime), len(data), data))
            into.added["pictures"] += 1
        for mime, size, path in source.rows("SELECT mime, size, path FROM link WHERE sha256 = ? ORDER BY path", sha256):
            if not isinstance(size, int):
                raise LabError(f"run {id}", f"the size of picture {sha256} is no number.")
            into.db.execute(run_rows.LINK, (sha256, str(mime), size, str(path)))


def _merge_verdicts(into: Merge, source: MergedFile, id: str) -> None:
    for position, body in source.rows("SELECT position, body FROM verdict WHERE trace = ? ORDER BY position", id):
        verdict: Verdict = decode(text_of(body, "verdict"), Verdict, f"run {id}, verdict")
        values = (id, int(position), verdict.name, encode(verdict).decode())
        at = "SELECT body FROM verdict WHERE trace = ? AND position = ?"
        row = into.db.execute(at, values[:2]).fetchone()
        if row is None:
            into.db.execute("INSERT INTO verdict VALUES (?, ?, ?, ?)", values)
        elif decode(row[0], Verdict, f"run {id}, verdict") != verdict:
            covered = into.combined_redactions(row[0], encode(verdict).decode())
            if covered is not None:
                into.rewrite("verdict", "trace = ? AND position = ?", covered, row[0], id, int(position))
                continue
            raise LabError(
                f"run {id}", f"was judged otherwise in {into.origin_of_row('verdict', 'trace', id, source)}."
            )


# -- designs ---------------------------------------------------------------------------------------------------


def merge_designs(into: Merge, source: MergedFile) -> None:
    """Merge every act on a design.

    If only one of the two files has redacted runs, its wording of an act replaces the other's.
    """
    ours, theirs = into.redacted, {id for id, stone in source.erasures.stones.items() if stone.why == "redacted"}
    for body, row in source.bodies("design", Revision, DESIGN_VERSION):
        if theirs - ours and not ours - theirs and _redact_design_act(into, row):
            continue
        if ours - theirs and not theirs - ours and _has_design_act(into, row.id):
            into.already_present += 1
            continue
        if not into.is_present(source, "design", row.id, body, row):
            check_not_withdrawn(into.db, row.by.id, f"design of {row.task}")
            into.db.execute(INSERT_DESIGN, design_row(row))
            into.added["designs"] += 1


def _has_design_act(into: Merge, id: str) -> bool:
    return bool(into.db.execute("SELECT 1 FROM design WHERE id = ?", (id,)).fetchone())


def _redact_design_act(into: Merge, row: Revision) -> bool:
    """Replace the stored act's texts by the redacted ones. Return False if the act is not in this file."""
    covering_row: Any = into.db.execute("SELECT n, body FROM design WHERE id = ?", (row.id,)).fetchone()
    if covering_row is None:
        return False
    old: Revision = decode(covering_row[1], Revision, "a design in the file", newest=DESIGN_VERSION)
    if old != row:
        if replace(old, design=row.design, asked=row.asked, note=row.note, marks=row.marks) != row:
            raise LabError(f"design of {row.task}", f"act {row.id} stands in another file, and is another there.")
        with into.lifted():
            values = (escape_surrogates(row.asked), escape_surrogates(row.note), encode(row).decode(), covering_row[0])
            into.db.execute("UPDATE design SET asked = ?, note = ?, body = ? WHERE n = ?", values)
    into.already_present += 1
    return True
