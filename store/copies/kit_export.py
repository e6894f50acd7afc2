"""Kits: hitlab files with only what one rater of a study may see.

Runs go through `lab.core.study.blinding`. Units lose the designers' texts. Of people's rows only the rater's own are
included. Gold of the rater's calibration and practice units is included, because the program shows it. So is a task to
play, from which the phone is set up and scored, without the questions that rate it afterwards.
"""

from __future__ import annotations

import hashlib
import os
import sqlite3
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from lab.core.codec import encode, storable
from lab.core.errors import LabError
from lab.core.run.run_records import Imported, Kit
from lab.core.run.trace import Ended
from lab.core.study.blinding import blind_event, blind_unit
from lab.core.study.label import RATER_ACTS, Act, ActKind, Label
from lab.core.study.study import Assignment, Study, Unit
from lab.core.text.suggestion import suggestion
from lab.core.values.ids_and_clock import now, uuid7
from store.copies.pack import remove_unfinished, sync_to_disk
from store.file.connection import connect, database_title, sqlite_errors
from store.file.leftovers import locked_part
from store.file.schema import migrate
from store.runs import run_rows
from store.studies.labels import insert_act, insert_label
from store.studies.progress_tables import deferred_counting
from store.studies.studies import insert_assignments, insert_study, insert_units

if TYPE_CHECKING:
    from store.store import Store

RATER_OWN_ACTS: frozenset[ActKind] = frozenset({*RATER_ACTS, "held", "released", "dealt"})
"""Acts by or about a rater alone. Other acts concern the study and may name other people."""


def is_own_act(act: Act) -> bool:
    """Return True if an act is the rater's own.

    Leaving is, if it gives only their reason. It is not if it names a successor.
    """
    return act.act in RATER_OWN_ACTS or (act.act == "left" and set(act.detail) <= {"why", "sha"})


def make_kit(store: Store, study: Study, rater: str, out: Path) -> Kit:
    """Write a rater's kit to the new file `out`, which appears whole or not at all.

    Raise `LabError` if the file exists, nothing is dealt to the rater, they have withdrawn or left, one of their plays
    is unfinished, or the study is locked.
    """
    if out.exists() or out.is_symlink():
        raise LabError(database_title(out), "is there already; no kit was made.", "Name a new file.")
    part = out.with_name(f".{out.name}.part-{os.getpid()}")
    try:
        remove_unfinished(part)
        # The lock keeps a sweep from removing the unfinished file as a leftover.
        with locked_part(part):
            with _snapshot(store), sqlite_errors(out):
                kit = _write_kit(store, store.studies.study(study.id, study.version), rater, part)
            sync_to_disk(part)
            # Only after the sync: a crash leaves either no kit or a whole one.
            part.rename(out)
    except OSError as error:
        raise LabError(database_title(out), f"cannot be written ({error.strerror}).") from error
    finally:
        remove_unfinished(part)
    return kit


@contextmanager
def _snapshot(store: Store) -> Iterator[None]:
    """Read the file from one snapshot within the block, unaffected by concurrent writes."""
    db = store.database.connection()
    db.execute("BEGIN")
    try:
        yield
    finally:
        db.execute("ROLLBACK")


def _write_kit(store: Store, study: Study, rater: str, part: Path) -> Kit:
    assignments = store.studies.assignments(study, rater)
    _check(store, study, rater, assignments)
    labels = [label for label in store.labels.read(study, rater=rater) if label.rater.kind == "human"]
    acts = [act for act in store.labels.acts(study, rater) if act.rater.kind == "human" and is_own_act(act)]
    _check_plays(store, study, rater, acts)
    units = list(_rater_units(store, study, rater, assignments))
    runs = tuple(dict.fromkeys(run for _, unit in units for run in unit.runs if store.runs.has_run(run)))
    kit = Kit(
        uuid7(), study.id, study.version, study.sha, rater, now(), "",
        len(units), len(assignments), len(labels), len(acts), runs,
    )  # fmt: skip
    db = connect(part)
    try:
        migrate(db)
        db.execute("BEGIN")
        insert_study(db, plan_for(study, rater), study.sha)
        insert_units(db, study, units)
        with deferred_counting(db):
            insert_assignments(db, study, assignments)
        _insert_answers(db, labels, acts)
        for run in runs:
            run_rows.insert_run(db, _blinded_run(store, study, run))
        # The digest covers the rows inserted above and the kit's record without a digest.
        kit = replace(kit, digest=digest(db.execute, kit))
        db.execute("INSERT INTO kit VALUES (NULL, ?, ?, ?)", (kit.id, storable(rater), encode(kit).decode()))
        db.execute("COMMIT")
    finally:
        if db.in_transaction:
            db.execute("ROLLBACK")
        db.close()
    return kit


def _check(store: Store, study: Study, rater: str, assignments: list[Assignment]) -> None:
    what = f"study {study.name}"
    if study.prelabel:
        hint = "People rate it in this file, or by a link (`hitlab serve study`)."
        raise LabError(what, "shows a judge's answers first, and a kit holds none.", hint)
    if store.kit() is not None:
        raise LabError(what, "is a kit itself here.", "Kits are made where the study came from.")
    if store.labels.has_withdrawn(rater):
        raise LabError(what, f"{rater} has withdrawn.")
    if not assignments:
        near = "" if rater in study.raters else suggestion(rater, study.raters)
        raise LabError(what, f"nothing is dealt to {rater}{near or '.'}", "`hitlab study status` says who has what.")
    if store.studies.has_left(study, rater):
        raise LabError(what, f"{rater} has left it; another goes on in their place.")
    if (later := store.studies.extended_by(study)) is not None:
        raise LabError(what, f"was extended and goes on as v{later}; kits are made of that.")
    if store.studies.locked(study):
        raise LabError(what, "is locked; nothing in it changes any more.")


def _check_plays(store: Store, study: Study, rater: str, acts: Iterable[Act]) -> None:
    """Raise `LabError` if the rater has an unfinished play in this file.

    A run is made in one file: the same play continued in two would give two runs with one id.
    """
    interrupted_runs = {act.detail.get("run") for act in acts if act.act == "interrupted"}
    for run in {str(act.detail.get("run", "")) for act in acts if act.act == "played"} - interrupted_runs:
        if not _is_ended(store, run):
            raise LabError(
                f"study {study.name}", f"{rater} has run {run} under way here.", "End it, then make the kit."
            )


def _is_ended(store: Store, run: str) -> bool:
    if not store.runs.has_run(run):
        return False
    return isinstance(list(store.runs.events(run, after=store.runs.last_seq(run) - 1))[-1], Ended)


def plan_for(study: Study, rater: str) -> Study:
    """Return the study's plan without what its raters must not read."""
    raters = (rater,) if "raters" in study.blind else study.raters
    return replace(study, raters=raters, note="", seed=0, width=None, shadows=(), by=None)


def _rater_units(
    store: Store, study: Study, rater: str, assignments: Iterable[Assignment]
) -> Iterator[tuple[int, Unit]]:
    """Yield the rater's units, blinded, with their positions in the study."""
    pilot = {assignment.unit for assignment in assignments if assignment.stage == "pilot"}
    unit_ids = {assignment.unit for assignment in assignments}
    for position, unit in enumerate(store.studies.units(study)):
        if unit.id in unit_ids or unit.practice:
            yield position, unit_for(study, unit, rater, gold=unit.practice or unit.id in pilot)


def unit_for(study: Study, unit: Unit, rater: str, *, gold: bool) -> Unit:
    """Return a unit without what its rater must not read, as they can open the kit with any SQLite tool."""
    return replace(
        blind_unit(unit, study.visible_parts),
        gold=unit.gold if gold else (),
        mechanical=(),
        owner=unit.owner if unit.owner == rater else "",
    )


def _insert_answers(db: sqlite3.Connection, labels: Iterable[Label], acts: Iterable[Act]) -> None:
    for label in labels:
        insert_label(db, label)
    for act in acts:
        insert_act(db, act)


def _blinded_run(store: Store, study: Study, run: str) -> Imported:
    """Return a blinded run with the pictures that its events still refer to."""
    events = [blind_event(event, study.visible_parts) for event in store.runs.events(run)]
    blob_ids = sorted({sha256 for event in events for sha256 in run_rows.referenced_blobs(event)})
    blobs = {sha256: blob for sha256 in blob_ids if (blob := store.runs.blob(sha256)) is not None}
    return Imported(events, blobs, [])


# Queries over the rows of a new kit, and the `Kit` field that limits each to the rows sent.
_SENT_ROWS = (
    ("SELECT body FROM study", ""),
    ("SELECT position || ' ' || id || ' ' || body FROM unit ORDER BY position", ""),
    ("SELECT body FROM assignment ORDER BY n LIMIT ?", "assignments"),
    ("SELECT body FROM label ORDER BY n LIMIT ?", "labels"),
    ("SELECT body FROM act ORDER BY n LIMIT ?", "acts"),
)


def digest(execute: Callable[..., Iterable[Any]], kit: Kit) -> str:
    """Return the hash of all rows that a kit was sent with, ignoring rows added since."""
    whole = hashlib.sha256()
    for sql, count in _SENT_ROWS:
        for (body,) in execute(sql, (getattr(kit, count),) if count else ()):
            whole.update(body.encode() + b"\n")
    for run in kit.runs:
        for seq, body in execute("SELECT seq, body FROM event WHERE trace = ? ORDER BY seq", (run,)):
            whole.update(f"{run} {seq} {body}\n".encode())
    whole.update(encode(replace(kit, digest="")))
    return whole.hexdigest()
