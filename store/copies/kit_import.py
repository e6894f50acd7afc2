"""Importing a kit's answers into the file of its study: all or nothing, under the rules for labels.

The rules are checked against the kit's own rows in their original order, and against this file's study and units. If
the rater also worked in this file, both last answers remain and form a clash.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from lab.core.codec import decode, encode, storable
from lab.core.errors import LabError
from lab.core.redaction.quotations import OwnText
from lab.core.redaction.text_redaction import ValuesDiffer, merge_covered
from lab.core.run.run_records import Imported, Kit
from lab.core.run.trace import Ended, Started
from lab.core.study.blinding import blind_play
from lab.core.study.label import Act, Label
from lab.core.study.label_rules import SheetState, check_next
from lab.core.study.rating_sheet import Sheet
from lab.core.study.study import Assignment, Play, Study
from store.copies.kit_export import digest, is_own_act
from store.erasing.erasure import triggers_lifted
from store.erasing.own_texts import texts_in_runs
from store.erasing.quoted_texts import redact_quotations
from store.erasing.study_redaction import RedactedContent
from store.file.connection import sqlite_errors
from store.runs import run_rows
from store.studies.labels import insert_act, insert_label
from store.studies.studies import insert_assignments, new_assignments
from store.studies.study_extension import copy_new_rows, last_rows

if TYPE_CHECKING:
    from store.store import Store


class KitImportResult(NamedTuple):
    """Result of importing a kit: numbers of new labels, acts, repeated plays and runs, and of rows already present.

    `clashes` are the places (unit, target, field) of its sheets that now have two last answers.
    """

    kit: Kit
    labels: int
    acts: int
    repeated_plays: int
    runs: int
    already_present: int
    clashes: tuple[tuple[str, str, str], ...] = ()
    unsettled_clashes: frozenset[tuple[str, str, str]] = frozenset()
    """Clashes that stay unsettled, because the gold answer was shown there."""
    covered: bool = False
    """True if the import covered something that had been redacted in this file."""
    carried: int = 0
    """Number of answers carried over into the study's extended version."""


class _KitRows(NamedTuple):
    """Everything in a kit that may be imported."""

    dealt: list[Assignment]
    labels: list[Label]
    acts: list[Act]
    runs: list[Imported]
    uncovered: RedactedContent
    """Content redacted in this file after the kit was made, which the kit still has uncovered."""
    erased: list[OwnText]
    """Texts from the kit's runs that were erased in this file with people who withdrew."""


def import_kit(store: Store, path: Path) -> KitImportResult:
    """Import a kit's labels, acts and new runs, all or none, and skip those already present.

    Raise `LabError` if it is not a kit, was changed, belongs to another version of the study, its rater has withdrawn,
    or any row is not its rater's or breaks the rules.
    """
    kit_work = _read_kit(store, path)
    with store.database.writing() as db:
        content = _import_kit(store, db, kit_work, f"kit {path}")
    if content.covered:
        store.erasure.wipe(content)
    return content


def import_kit_within(store: Store, db: sqlite3.Connection, path: Path) -> KitImportResult:
    """Import a kit within the caller's transaction, which a `LabError` ends."""
    return _import_kit(store, db, _read_kit(store, path), f"kit {path}")


def _read_kit(store: Store, path: Path) -> tuple[Kit, Study, _KitRows]:
    from store.store import Store

    what = f"kit {path}"
    try:
        with Store.open(path, readonly=True) as other:
            kit = _check_kit(store, other, what)
            study = _check_study(store, kit, what)
            return kit, study, _read_kit_rows(store, other, kit, study, what)
    except LabError as error:
        # Only for a damaged file: its hint names a pack, which a rater does not have.
        if "hitlab file pack" not in error.hint:
            raise
        raise LabError(
            what, error.message, "Ask whoever rated in it to close hitlab and send the file again."
        ) from error


def _import_kit(
    store: Store, db: sqlite3.Connection, kit_work: tuple[Kit, Study, _KitRows], what: str
) -> KitImportResult:
    kit, study, answer = kit_work
    if store.labels.has_withdrawn(kit.rater):
        raise LabError(what, f"{kit.rater} has withdrawn; nothing of theirs is taken in.")
    answer = _without_erased_units(store, study, answer)
    replaced_runs = _replaced_runs(store)
    known_ids = _known_ids(db, answer, replaced_runs, what)
    before = last_rows(db)
    _check_not_after_leaving(store, study, kit, answer, known_ids, what)
    _check_sheets(store, study, kit, answer, known_ids, what)
    content = _insert_rows(db, study, kit, answer, known_ids, what)
    if replaced_runs and content.labels + content.acts:
        with triggers_lifted(db) as eraser:
            content = content._replace(covered=any(answer.uncovered.redact(eraser, replaced_runs)))
    if answer.erased and content.labels + content.acts + content.runs:
        with triggers_lifted(db):
            content = content._replace(covered=bool(redact_quotations(db, answer.erased).rows) or content.covered)
    # Checked last: a kit that adds nothing is accepted even if the study is locked.
    if store.studies.locked(study) and content.labels + content.acts + content.repeated_plays + content.runs:
        raise LabError(what, f"study {study.name} is locked here; nothing in it changes any more.")
    carried = copy_new_rows(db, before, study.id).labels
    sheets = _current_sheets(store, store.studies.newest_of(study), kit, answer)
    return content._replace(
        clashes=tuple(place for sheet in sheets for place in _clash_places(sheet)),
        unsettled_clashes=frozenset(place for sheet in sheets if sheet.is_final for place in _clash_places(sheet)),
        carried=carried,
    )


# -- checking the file -----------------------------------------------------------------------------------------


def _check_kit(store: Store, other: Store, what: str) -> Kit:
    kit = other.kit()
    if kit is None:
        raise LabError(what, "is no kit.", "`hitlab study kit export STUDY --rater R1 --output R1.db` makes one.")
    if store.kit() is not None:
        raise LabError(what, f"{store.path} is a kit itself.", "A kit is taken back where its study came from: --db.")
    wrong = other.check(links=False)
    if wrong:
        raise LabError(what, f"is damaged or was tampered with: {wrong[0]}.")
    with sqlite_errors(other.path):
        sent = digest(other.database.connection().execute, kit)
    if sent != kit.digest:
        # The rater may have added rows, but must not change those that were sent.
        raise LabError(what, "was tampered with: what went out in it is not what stands in it now.")
    return kit


def _check_study(store: Store, kit: Kit, what: str) -> Study:
    """Return this file's study and raise `LabError` unless the kit was made from exactly it."""
    here = store.studies.versions(kit.study)
    if kit.version not in here:
        version_names = ", ".join(f"v{version}" for version in here) or "no version"
        raise LabError(what, f"is of study {kit.study} v{kit.version}, and here is {version_names} of it.")
    study = store.studies.study(kit.study, kit.version)
    if study.sha != kit.sha:
        raise LabError(what, f"is of another study {study.name}: its plan or its sample differs from the one here.")
    return study


# -- reading its rows ------------------------------------------------------------------------------------------


def _read_kit_rows(store: Store, other: Store, kit: Kit, study: Study, what: str) -> _KitRows:
    def bodies(table: str) -> Iterator[str]:
        return (body for (body,) in other.database.read(f"SELECT body FROM {table} ORDER BY n"))

    assignments: list[Assignment] = [decode(body, Assignment, what, newest=1) for body in bodies("assignment")]
    labels: list[Label] = [decode(body, Label, what, newest=1) for body in bodies("label")]
    acts: list[Act] = [decode(body, Act, what, newest=1) for body in bodies("act")]
    signers = {(assignment.study, assignment.version, "human", assignment.rater) for assignment in assignments}
    signers |= {(label.study, label.version, label.rater.kind, label.rater.id) for label in labels}
    signers |= {(act.study, act.version, act.rater.kind, act.rater.id) for act in acts}
    for id, version, kind, rater in sorted(signers):
        if (id, version) != (study.id, study.version):
            raise LabError(what, f"holds rows of study {id} v{version}, and is a kit of {study.name}.")
        if (kind, rater) != ("human", kit.rater):
            raise LabError(what, f"holds rows by {rater} ({kind}), and is a kit of {kit.rater}.")
    for act in acts:
        if not is_own_act(act):
            raise LabError(what, f"holds an act that is no rater's: {act.act}.")
    plays = {unit.id: unit.play for unit in store.studies.units(study) if unit.play is not None}
    runs = list(_finished_plays(other, kit, acts, plays, what))
    run_ids = {run.id for run in runs}
    acts = [act for act in acts if act.act != "played" or not _is_unfinished(other, act, run_ids)]
    withdrawn = "SELECT trace FROM tombstone WHERE why = 'withdrawn'"
    erased_runs = {run for (run,) in store.database.rows_in("tombstone", withdrawn)} & set(kit.runs)
    erased = texts_in_runs(other.database.read, erased_runs)
    return _KitRows(assignments, labels, acts, runs, _collect_uncovered(store, other, kit, study), erased)


def _collect_uncovered(store: Store, other: Store, kit: Kit, study: Study) -> RedactedContent:
    """Collect what redactions in this file covered and the kit still shows, in units and runs."""
    uncovered, replaced_runs = RedactedContent(), _replaced_runs(store)
    sql = "SELECT body FROM unit WHERE study = ? AND version = ? AND id = ?"
    for unit in other.studies.units(study):
        key = (study.id, study.version, storable(unit.id))
        whole, here = (file_store.database.read(sql, *key) for file_store in (other, store))
        uncovered.add_differences(
            [replaced_runs.get(run, run) for run in unit.runs], (body for (body,) in whole), (body for (body,) in here)
        )
    events = "SELECT body FROM event WHERE trace = ? ORDER BY seq"
    for run, new in replaced_runs.items():
        if run in kit.runs:
            whole, here = other.database.read(events, run), store.database.read(events, new)
            uncovered.add_differences((run, new), (body for (body,) in whole), (body for (body,) in here))
    return uncovered


def _replaced_runs(store: Store) -> dict[str, str]:
    """Map runs that were redacted in this file to the runs that replaced them."""
    sql = "SELECT trace, replaced_by FROM tombstone WHERE replaced_by IS NOT NULL"
    return dict(store.database.rows_in("tombstone", sql))


def _finished_plays(
    other: Store, kit: Kit, acts: Iterable[Act], plays: Mapping[str, Play], what: str
) -> Iterator[Imported]:
    """Yield the finished runs that the rater made in the kit, each with its unblinded task from `plays` (by unit)."""
    played = {str(act.detail.get("run", "")): act.unit for act in acts if act.act == "played"}
    for run, unit in played.items():
        if run in kit.runs or not other.runs.has_run(run):
            continue
        events = list(other.runs.events(run))
        first = events[0]
        if not isinstance(first, Started) or first.user is None or first.user.id != kit.rater:
            raise LabError(what, f"run {run} in it was not made with {kit.rater}.")
        if isinstance(events[-1], Ended):
            blobs = {
                sha256: blob for sha256 in other.runs.blob_ids(run) if (blob := other.runs.blob(sha256)) is not None
            }
            play = plays.get(unit)
            if play is not None and first.task == blind_play(play).task:
                events[0] = msgspec.structs.replace(first, task=play.task)
            yield Imported(events, blobs, [])


def _is_unfinished(other: Store, act: Act, run_ids: set[str]) -> bool:
    """Return True if an act's run is unfinished in the kit. It is imported later, once it is over."""
    run = str(act.detail.get("run", ""))
    return run not in run_ids and other.runs.has_run(run)


def _without_erased_units(store: Store, study: Study, answer: _KitRows) -> _KitRows:
    """Drop rows about units that were erased here with a person who withdrew."""
    if not store.database.read("SELECT 1 FROM withdrawal LIMIT 1"):
        return answer
    here = {
        id
        for (id,) in store.database.read("SELECT id FROM unit WHERE study = ? AND version = ?", study.id, study.version)
    }
    return answer._replace(
        dealt=[assignment for assignment in answer.dealt if assignment.unit in here],
        labels=[label for label in answer.labels if label.unit in here],
        acts=[act for act in answer.acts if not act.unit or act.unit in here],
    )


# -- checking the rules ----------------------------------------------------------------------------------------


def _check_sheets(store: Store, study: Study, kit: Kit, answer: _KitRows, known_ids: set[str], what: str) -> None:
    """Raise `LabError` if a sheet of the kit breaks the rules for labels or was not dealt to its rater."""
    assignment_by_sheet = {(assignment.unit, assignment.run): assignment for assignment in answer.dealt}
    sheets: dict[tuple[str, int], tuple[list[Label], list[Act]]] = {}
    for label in answer.labels:
        sheets.setdefault((label.unit, label.run), ([], []))[0].append(label)
    for act in answer.acts:
        if act.unit:
            sheets.setdefault((act.unit, act.run), ([], []))[1].append(act)
    for key, (labels, acts) in sheets.items():
        if key not in assignment_by_sheet or not store.studies.assignments(study, kit.rater, key[0]):
            raise LabError(what, f"unit {key[0]}, rating {key[1]}, is not dealt to {kit.rater}.")
        unit = store.studies.unit(study, key[0])
        sheet_state = SheetState(study, unit, assignment_by_sheet[key], Sheet(study.protocol, unit))
        try:
            _check_sheet(sheet_state, labels, acts, answer.acts, known_ids)
        except LabError as error:
            raise LabError(what, f"{error.title}: {error.message}", error.hint) from error


def _check_not_after_leaving(
    store: Store, study: Study, kit: Kit, answer: _KitRows, known_ids: set[str], what: str
) -> None:
    """Raise `LabError` if new rows are later than the moment when another rater took over."""
    leave_times = [act.at for act in store.labels.acts(study, kit.rater) if act.act == "left" and not is_own_act(act)]
    if not leave_times:
        return
    late = sum(label.id not in known_ids and label.at > min(leave_times) for label in answer.labels)
    late += sum(act.id not in known_ids and act.at > min(leave_times) for act in answer.acts)
    if late:
        raise LabError(
            what, f"{kit.rater} left on {min(leave_times)[:10]}, and {late} answers or acts in it are later."
        )


def _check_sheet(
    at_first: SheetState, labels: list[Label], acts: list[Act], of_rater: list[Act], known_ids: set[str]
) -> None:
    """Replay a sheet in its original order and check each new row. Rows already in this file were checked before."""
    study, unit = at_first.study, at_first.unit
    hand_ins = [act for act in acts if act.act in ("commit", "reopen")]
    acts_so_far: list[Act] = []
    for i, label in enumerate(labels):
        # Replay hand-ins between the labels, in their order of time.
        while hand_ins and (hand_ins[0].at, hand_ins[0].id) < (label.at, label.id):
            acts_so_far.append(hand_ins.pop(0))
            _check_hand_in(Sheet(study.protocol, unit, labels[:i], acts_so_far[:-1]), study, acts_so_far[-1], known_ids)
        if label.id in known_ids:
            continue
        if label.protocol_sha not in ("", study.protocol.sha):
            raise LabError(f"label {label.id}", "was given under another version of the protocol.")
        sheet = Sheet(study.protocol, unit, labels[:i], acts_so_far)
        check_next(at_first._replace(sheet=sheet, is_held=_was_held(of_rater, label.at)), label)
    for act in hand_ins:
        _check_hand_in(Sheet(study.protocol, unit, labels, acts_so_far), study, act, known_ids)
        acts_so_far.append(act)


def _check_hand_in(sheet: Sheet, study: Study, act: Act, known_ids: set[str]) -> None:
    """Raise `LabError` if the sheet's state did not allow this hand-in or its withdrawal."""
    what = f"unit {sheet.unit.id}"
    if act.id in known_ids:
        return
    if act.act == "reopen" and (study.protocol.forward or sheet.unit.gold):
        raise LabError(what, "was taken back, and this study has no going back.")
    # An interrupted play is handed in unanswered, and then dealt again.
    if act.act == "commit" and sheet.unanswered and sheet.unit.play is None:
        raise LabError(what, f"was handed in with {len(sheet.unanswered)} unanswered.")


def _was_held(acts: Iterable[Act], at: str) -> bool:
    holds = [act for act in acts if act.act in ("held", "released") and act.at <= at]
    return bool(holds) and max(holds, key=lambda act: (act.at, act.id)).act == "held"


# -- inserting rows --------------------------------------------------------------------------------------------


def _known_ids(db: sqlite3.Connection, answer: _KitRows, replaced_runs: Mapping[str, str], what: str) -> set[str]:
    """Return the ids already in this file. Raise `LabError` if a row differs by more than a redaction."""
    known_ids = set()
    for table, kind, kit_rows in (("label", Label, answer.labels), ("act", Act, answer.acts)):
        for kit_row in kit_rows:
            row = db.execute(f"SELECT body FROM {table} WHERE id = ?", (storable(kit_row.id),)).fetchone()
            if row is None:
                continue
            if decode(row[0], kind, what) != kit_row and not _is_covered(row[0], encode(kit_row), replaced_runs):
                raise LabError(what, f"{table} {kit_row.id} stands here, and says something else.")
            known_ids.add(kit_row.id)
    return known_ids


def _is_covered(here: str, kit_row: bytes, replaced_runs: Mapping[str, str]) -> bool:
    """Return True if a row here equals the kit's except for redacted or erased content."""
    try:
        return bool(merge_covered(msgspec.json.decode(here), msgspec.json.decode(kit_row), replaced_runs))
    except ValuesDiffer:
        return False


def _insert_rows(
    db: sqlite3.Connection, study: Study, kit: Kit, answer: _KitRows, known_ids: set[str], what: str
) -> KitImportResult:
    assignment_count = insert_assignments(db, study, list(_repeated_plays(db, study, kit, answer)))
    runs = sum(_insert_run(db, run, what) for run in answer.runs)
    labels = [label for label in answer.labels if label.id not in known_ids]
    for label in labels:
        insert_label(db, label)
    acts = [act for act in answer.acts if act.id not in known_ids]
    for act in acts:
        insert_act(db, act)
    return KitImportResult(kit, len(labels), len(acts), assignment_count, runs, len(known_ids))


def _repeated_plays(db: sqlite3.Connection, study: Study, kit: Kit, answer: _KitRows) -> Iterator[Assignment]:
    """Return plays that were dealt again in the kit, moved behind all others if their positions are taken here."""
    sql = "SELECT DISTINCT unit FROM assignment WHERE study = ? AND version = ? AND rater = ?"
    units = {unit for (unit,) in db.execute(sql, (storable(study.id), study.version, storable(kit.rater)))}
    return new_assignments(db, study, kit.rater, (one for one in answer.dealt if one.unit in units))


def _insert_run(db: sqlite3.Connection, run: Imported, what: str) -> bool:
    if run_rows.insert_run(db, run):
        return True
    here = [body for (body,) in db.execute("SELECT body FROM event WHERE trace = ? ORDER BY seq", (run.id,))]
    bodies = [encode(event) for event in run.events]
    # The lengths are compared below.
    same = (one == other.decode() or _is_covered(one, other, {}) for one, other in zip(here, bodies, strict=False))
    if len(here) != len(bodies) or not all(same):
        raise LabError(what, f"run {run.id} stands here, and went otherwise.")
    return False


def _current_sheets(store: Store, study: Study, kit: Kit, answer: _KitRows) -> list[Sheet]:
    """Return the kit's sheets in their current state in this file."""
    sheets = dict.fromkeys((label.unit, label.run) for label in answer.labels)
    return [store.labels.sheet(study, store.studies.unit(study, id), kit.rater, run) for id, run in sheets]


def _clash_places(sheet: Sheet) -> list[tuple[str, str, str]]:
    return [(sheet.unit.id, spot.target, spot.field) for spot in sheet.clashes]
