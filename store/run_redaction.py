"""Redaction of runs: redacted copies replace the originals, which are erased in the same transaction.

All repetitions of a run are redacted with it (see `store.lineage`), and so are quotations in designs and studies.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any, NamedTuple

import msgspec

from lab.core.codec import decode, encode, escape_surrogates
from lab.core.design import VERSION as DESIGN_VERSION
from lab.core.design import Revision, Subject, subject_of
from lab.core.errors import LabError
from lab.core.ids_and_clock import now, uuid7
from lab.core.proofreading import Review
from lab.core.rounding import count
from lab.core.run_records import Blob, Imported, RunAct, Tombstone, Verdict
from lab.core.run_redaction import ReadTree, Redactor, RunRedactions, boxes_of, extend_to_adjacent, plan_redactions
from lab.core.shadow_answer import ShadowAnswer
from lab.core.task import Actor
from lab.core.text_redaction import TextRedaction
from lab.core.trace import AnyEvent, Ended, Started
from lab.core.ui_tree import Bounds
from store import run_rows
from store.connection import sqlite_errors
from store.erasure import Eraser, ErasureCounts
from store.image_redaction import has_metadata, redact_picture
from store.image_similarity import AreaComparison
from store.lineage import related
from store.run_acts import INSERT_RUN_ACT, run_act_row
from store.shadows import INSERT_SHADOW, shadow_row
from store.store import Store
from store.study_redaction import StudiesCovered, local_words, redact_studies
from store.tombstones import check_not_withdrawn

_NAMED = 5
"""Maximum number of runs named as still holding the words. The others are counted."""


class RemainingPlaces(NamedTuple):
    """Places that still hold the words: other runs, and frozen plans of studies (with tasks to play)."""

    runs: tuple[str, ...] = ()
    plans: tuple[str, ...] = ()

    @property
    def sentences(self) -> list[str]:
        """The places as sentences without a full stop."""
        places = []
        if self.runs:
            some = ", ".join(self.runs[:_NAMED]) + (", ..." if len(self.runs) > _NAMED else "")
            what = "these" if len(self.runs) > 1 else "it"
            places.append(f"{count(len(self.runs), 'other run')} ({some}): redact {what}, too")
        if self.plans:
            places.append(f"the frozen plan of {', '.join(self.plans)}, which never changes")
        return [f"the words still stand in {place}" for place in places]


class Redacted(NamedTuple):
    """Result of a redaction: maps each redacted run to its new run, and counts what was redacted."""

    replaced: dict[str, str]
    boxes: int
    nodes: int
    texts: int
    pictures: int
    states: int
    designs: int
    reviews: int
    destroyed: ErasureCounts
    pictures_without_tree: int
    """Number of pictures without a UI tree: words in them were redacted only inside drawn boxes."""
    linked_files: tuple[str, ...] = ()
    """Files of linked pictures in their original form, which still exist."""
    studies: StudiesCovered = StudiesCovered()
    remaining: RemainingPlaces = RemainingPlaces()
    pictures_by_ocr: int = 0
    """Number of pictures whose words were found by OCR: a misread word is not redacted."""


class _RedactableRun(NamedTuple):
    """A stored run with its rows, and its position `n` in the file."""

    n: int
    events: list[AnyEvent]
    verdicts: list[Verdict]
    reviews: list[Review]
    acts: list[RunAct]
    shadows: list[ShadowAnswer]


def redact(
    store: Store,
    trace_id: str,
    by: Actor,
    *,
    boxes: Mapping[int, Sequence[Bounds]],
    words: Sequence[str],
    everywhere: bool = False,
    read: ReadTree | None = None,
) -> Redacted:
    """Redact boxes (by step from 0) and words permanently.

    This covers the run, all runs that share its beginning or repeat it, and quotations in designs and studies. `read`
    returns the lines of a picture (by sha256) without a UI tree, if they can be recognized. `everywhere` also redacts
    other runs with the same pictures. Without it, such runs raise a `LabError` that names them, and nothing is done.
    """
    if not boxes and not words:
        raise LabError("redact", "nothing was named to be covered.", "--box or --text says what.", code=2)
    family = related(store.database.read, trace_id)
    by_picture = boxes_of(list(store.runs.events(trace_id)), boxes)
    runs, redactions = _runs_to_redact(store, family, by_picture, words, read, everywhere=everywhere)
    new = _redact_pictures(store, runs, redactions)
    # Events never change under an id, and the tombstones keep the old ids out.
    ids = {id: uuid7() for id in runs}
    redactor = Redactor(redactions, {sha256: blob.sha256 for sha256, blob in new.items()}, ids)
    covered_runs = {id: _redact_run(redactor, run) for id, run in runs.items()}
    used_blobs = {
        sha for run in covered_runs.values() for event in run.events for sha in run_rows.referenced_blobs(event)
    }
    with store.erasure.erasing() as eraser:
        # Inside the transaction: the runs were read before, and may have changed since.
        check_not_withdrawn(eraser.db, by.id, "redact")
        _check_unchanged(eraser, runs)
        destroyed = eraser.erase_runs(runs, keep=used_blobs)
        for id, run in covered_runs.items():
            _insert_run(eraser, runs[id].n, run, {blob.sha256: blob for blob in new.values()})
        designs = _rewrite_designs(eraser, redactor.cloak, _subject_changes(runs, covered_runs))
        local = {id: local_words(redactor.local_words(run.events)) for id, run in runs.items()}
        studies = redact_studies(eraser, redactor.cloak, ids, local)
        report = Redacted(
            replaced=ids,
            boxes=sum(len(step_boxes) for step_boxes in boxes.values()),
            nodes=redactor.nodes,
            texts=redactor.texts,
            pictures=len(new.keys() & redactions.paints.keys()),
            states=redactor.states,
            designs=designs,
            reviews=sum(len(run.reviews) for run in runs.values()),
            destroyed=destroyed,
            pictures_without_tree=redactions.unseen,
            pictures_by_ocr=redactions.read,
            linked_files=tuple(eraser.linked_files),
            studies=studies,
        )
        for id, replaced_by in ids.items():
            eraser.insert_tombstone(Tombstone(id, "redacted", by, now(), replaced_by, _report_counts(report)))
    report = report._replace(remaining=_remaining_places(store, redactor.cloak, ids.values()))
    store.erasure.wipe(report)
    return report


_RUN_TEXTS = """
SELECT trace, body FROM event UNION ALL SELECT trace, body FROM verdict UNION ALL SELECT trace, body FROM review
UNION ALL SELECT trace, text FROM draft UNION ALL SELECT trace, tag FROM run_act
UNION ALL SELECT trace, body FROM shadow
UNION ALL SELECT trace, CAST(bytes AS TEXT) FROM use JOIN blob USING (sha256) WHERE mime = 'application/json'
"""
"""Query for all texts of runs. The last part reads phone states, which hold data that no screen showed."""
_PLAN_TEXTS = """
SELECT id, body FROM study UNION ALL
SELECT study, json_extract(body, '$.play') FROM unit WHERE json_extract(body, '$.play') IS NOT NULL
"""


def _remaining_places(store: Store, cloak: TextRedaction, covered: Collection[str]) -> RemainingPlaces:
    """Return the places where the words remain.

    Redacted runs are left out, because one of hitlab's own terms in them may equal a redacted word.
    """

    def holding(sql: str) -> tuple[str, ...]:
        names: dict[str, None] = {}
        for name, body in store.database.connection().execute(sql):
            if name not in names and name not in covered and cloak.matches(body):
                names[name] = None
        return tuple(names)

    if not cloak.words:
        return RemainingPlaces()
    with sqlite_errors(store.path):
        return RemainingPlaces(holding(_RUN_TEXTS), holding(_PLAN_TEXTS))


def _report_counts(report: Redacted) -> dict[str, int]:
    names = ("boxes", "nodes", "texts", "pictures", "states", "designs", "reviews")
    return {**{name: getattr(report, name) for name in names}, **report.studies._asdict(), **report.destroyed._asdict()}


# -- selecting runs --------------------------------------------------------------------------------------------


def _runs_to_redact(
    store: Store,
    family: list[str],
    boxes: Mapping[str, tuple[Bounds, ...]],
    words: Sequence[str],
    read: ReadTree | None,
    *,
    everywhere: bool,
) -> tuple[dict[str, _RedactableRun], RunRedactions]:
    """Return the runs to redact and the redactions: a family, and with `everywhere` all runs with the same pictures."""
    runs: dict[str, _RedactableRun] = {}
    todo = list(family)
    while True:
        runs |= {id: _read_run(store, id) for id in todo}
        redactions = plan_redactions((run.events for run in runs.values()), boxes, words, read)
        for run in runs.values():
            redactions = extend_to_adjacent(run.events, redactions, AreaComparison(store.runs.blob))
        others = {id for sha256 in redactions.paints for id in store.runs.runs_with_blob(sha256)} - set(runs)
        if not others:
            return runs, redactions
        if not everywhere:
            names = ", ".join(sorted(others)[:5]) + (", ..." if len(others) > 5 else "")
            raise LabError(
                f"run {family[0]}",
                f"shares a picture to be covered with {len(others)} other run{'s' * (len(others) > 1)} ({names}); "
                "nothing was done.",
                "`--everywhere`, in the room Everywhere, covers it there too.",
            )
        # Their families may share further pictures, so repeat until there is nothing new.
        todo = sorted({run for other in others for run in related(store.database.read, other)} - set(runs))


def _read_run(store: Store, id: str) -> _RedactableRun:
    # The stored name of the agent: a rename is a run act, which is copied as such.
    events = list(store.runs.events(id, renamed=False))
    if not isinstance(events[-1], Ended):
        raise LabError(f"run {id}", "is still open; what is redacted has ended.", "End it, then redact it.")
    n = int(store.database.read("SELECT n FROM trace WHERE id = ?", id)[0][0])
    acts, shadows = store.runs.acts.of_run(id), store.shadows.of_run(id)
    return _RedactableRun(n, events, store.runs.verdicts(id), store.reviews.of_run(id), acts, shadows)


def _check_unchanged(eraser: Eraser, runs: Mapping[str, _RedactableRun]) -> None:
    """Raise `LabError` if rows about a run were added since it was read: erasing it would lose them."""
    for id, run in runs.items():
        for table, rows, change in (
            ("review", run.reviews, "reviewed"),
            ("run_act", run.acts, "archived or tagged"),
            ("shadow", run.shadows, "answered by a shadow"),
        ):
            if eraser.db.execute(f"SELECT count(*) FROM {table} WHERE trace = ?", (id,)).fetchone()[0] != len(rows):
                raise LabError(f"run {id}", f"was {change} meanwhile; nothing was done.", "Try again.")


# -- redacting them --------------------------------------------------------------------------------------------


def _redact_run(redactor: Redactor, run: _RedactableRun) -> _RedactableRun:
    new_ids: dict[str, str] = {}

    def id_of(old: str) -> str:
        # Rows refer to each other by id, so each old id maps to one new id.
        return new_ids.setdefault(old, uuid7())

    reviews = [redactor.review(row, run.events, id_of) for row in run.reviews]
    mask = redactor.cloak.mask
    acts = [msgspec.structs.replace(act, tag=mask(act.tag), agent=redactor.cloak.cover(act.agent)) for act in run.acts]
    shadows = [redactor.shadow(row, run.events, id_of) for row in run.shadows]
    return _RedactableRun(
        run.n, redactor.events(run.events), redactor.cloak.cover(run.verdicts), reviews, acts, shadows
    )


def _redact_pictures(store: Store, runs: Mapping[str, _RedactableRun], redactions: RunRedactions) -> dict[str, Blob]:
    """Return the new version of each picture to redact or strip of metadata, by the original's sha256."""
    pictures = {}
    for sha256 in sorted({sha for id in runs for sha in store.runs.blob_ids(id)}):
        blob = store.runs.blob(sha256)
        if blob is None and (links := store.runs.links(sha256)):
            raise LabError(
                links[0].path,
                "is a linked picture that is gone or has changed, so that nobody can see what is to be covered in it; "
                "nothing was done.",
                "Bring the run in again without --link, then redact it.",
            )
        if blob is not None and blob.mime.startswith("image/"):
            parts = redactions.paints.get(sha256)
            if parts is not None or has_metadata(blob.data):
                pictures[sha256] = redact_picture(blob.data, parts or ())
    return pictures


def _insert_run(eraser: Eraser, n: int, run: _RedactableRun, blobs: Mapping[str, Blob]) -> None:
    """Insert a redacted run at the original's position in the file."""
    used_blobs = {sha for event in run.events for sha in run_rows.referenced_blobs(event)}
    own = {sha: blob for sha, blob in blobs.items() if sha in used_blobs}
    imported = Imported(run.events, own, run.verdicts, run.reviews)
    run_rows.insert_run(eraser.db, imported, n)
    acts = [msgspec.structs.replace(act, id=uuid7(), trace=imported.id) for act in run.acts]
    eraser.db.executemany(INSERT_RUN_ACT, map(run_act_row, acts))
    eraser.db.executemany(INSERT_SHADOW, map(shadow_row, run.shadows))


def _subject_changes(
    runs: Mapping[str, _RedactableRun], covered_runs: Mapping[str, _RedactableRun]
) -> dict[Subject, Subject]:
    """Map design subjects whose instruction was redacted to their new subjects."""
    subjects = {}
    for id, run in runs.items():
        first, redacted_first = run.events[0], covered_runs[id].events[0]
        assert isinstance(first, Started)
        assert isinstance(redacted_first, Started)
        if subject_of(first.task) != subject_of(redacted_first.task):
            subjects[subject_of(first.task)] = subject_of(redacted_first.task)
    return subjects


def _rewrite_designs(eraser: Eraser, cloak: TextRedaction, subjects: Mapping[Subject, Subject]) -> int:
    """Redact words and replace run ids in every act on a design. Return the number of acts changed."""
    count = 0
    for n, body in eraser.db.execute("SELECT n, body FROM design ORDER BY n").fetchall():
        old: Revision = decode(body, Revision, "a design in the file", newest=DESIGN_VERSION)
        new: Revision = cloak.cover(old)
        subject = subjects.get(old.subject, old.subject)
        if new == old and subject == old.subject:
            continue
        new = msgspec.structs.replace(new, asked=subject.asked)
        eraser.db.execute(
            "UPDATE design SET asked = ?, note = ?, body = ? WHERE n = ?",
            (*_design_columns(new), encode(new).decode(), n),
        )
        count += 1
    return count


def _design_columns(revision: Revision) -> tuple[Any, Any]:
    return escape_surrogates(revision.asked), escape_surrogates(revision.note)
