"""Redaction of runs: redacted copies replace the originals, which are erased in the same transaction.

All repetitions of a run are redacted with it (see `store.runs.lineage`), and so are quotations in designs and studies.
"""

from __future__ import annotations

import io
from collections import OrderedDict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from lab.core.codec import decode, encode, escape_surrogates
from lab.core.errors import LabError
from lab.core.redaction.run_redaction import (
    ReadTree,
    Redactor,
    RunRedactions,
    boxes_of,
    extend_to_adjacent,
    nodes_with_words,
    plan_redactions,
)
from lab.core.redaction.text_redaction import TextRedaction
from lab.core.run.run_records import Blob, Imported, RunAct, Tombstone, Verdict
from lab.core.run.shadow_answer import ShadowAnswer
from lab.core.run.trace import AnyEvent, Ended, Started
from lab.core.run.ui_tree import Bounds
from lab.core.study.proofreading import Review
from lab.core.task.design import VERSION as DESIGN_VERSION
from lab.core.task.design import Revision, Subject, subject_of
from lab.core.task.task import Actor
from lab.core.values.ids_and_clock import now, uuid7
from lab.core.values.rounding import count
from lab.core.values.safe_images import open_picture
from store.copies.pack import scratch_copy
from store.erasing.erasure import Eraser, ErasureCounts, triggers_lifted
from store.erasing.study_redaction import StudiesCovered, local_words, redact_studies
from store.erasing.tombstones import check_not_withdrawn
from store.file.connection import sqlite_errors
from store.runs import run_rows
from store.runs.lineage import related
from store.runs.run_acts import INSERT_RUN_ACT, run_act_row
from store.runs.shadows import INSERT_SHADOW, shadow_row
from store.store import Store

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from PIL.Image import Image

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
    Words that occur nowhere in the run, and boxes outside their picture, raise a `LabError`, too.
    """
    redaction = _Redaction(store, trace_id, by, boxes, words, read, everywhere=everywhere)
    with store.erasure.erasing() as eraser:
        report = redaction.carry_out(eraser)
    report = report._replace(remaining=_remaining_places(store, redaction.cloak, report.replaced.values()))
    store.erasure.wipe(report)
    return report


def preview_redaction(
    store: Store,
    trace_id: str,
    by: Actor,
    *,
    boxes: Mapping[int, Sequence[Bounds]],
    words: Sequence[str],
    everywhere: bool = False,
    read: ReadTree | None = None,
) -> Redacted:
    """Return what `redact` would do: do it in a copy without the pictures, which is then dropped."""
    redaction = _Redaction(store, trace_id, by, boxes, words, read, everywhere=everywhere)
    with sqlite_errors(store.path), scratch_copy(store.database) as copy, triggers_lifted(copy) as eraser:
        report = redaction.carry_out(eraser)
    return report._replace(remaining=_remaining_places(store, redaction.cloak, report.replaced))


class _Redaction:
    """One redaction, checked and planned. It changes nothing before it is carried out."""

    def __init__(
        self,
        store: Store,
        trace_id: str,
        by: Actor,
        boxes: Mapping[int, Sequence[Bounds]],
        words: Sequence[str],
        read: ReadTree | None,
        *,
        everywhere: bool,
    ) -> None:
        if not boxes and not words:
            raise LabError("redact", "nothing was named to be covered.", "--box or --text says what.", code=2)
        self.by = by
        self.box_count = sum(map(len, boxes.values()))
        by_picture = boxes_of(list(store.runs.events(trace_id)), boxes)
        _check_boxes(store, by_picture)
        family = related(store.database.read, trace_id)
        self.runs, self.redactions = _runs_to_redact(store, family, by_picture, words, read, everywhere=everywhere)
        _check_words(store, trace_id, self.runs, self.redactions)
        self.new_pictures = _redact_pictures(store, self.runs, self.redactions)
        # Events never change under an id, and the tombstones keep the old ids out.
        self.ids = {id: uuid7() for id in self.runs}
        pictures = {sha256: blob.sha256 for sha256, blob in self.new_pictures.items()}
        self.redactor = Redactor(self.redactions, pictures, self.ids)
        self.cloak = self.redactor.cloak

    def carry_out(self, eraser: Eraser) -> Redacted:
        """Replace the runs within the caller's transaction. Return what was redacted."""
        # Inside the transaction: the runs were read before, and may have changed since.
        check_not_withdrawn(eraser.db, self.by.id, "redact")
        _check_unchanged(eraser, self.runs)
        runs, ids, redactor = self.runs, self.ids, self.redactor
        covered_runs = {id: _redact_run(redactor, run) for id, run in runs.items()}
        events = (event for run in covered_runs.values() for event in run.events)
        used_blobs = {sha for event in events for sha in run_rows.referenced_blobs(event)}
        destroyed = eraser.erase_runs(runs, keep=used_blobs)
        for id, run in covered_runs.items():
            _insert_run(eraser, runs[id].n, run, {blob.sha256: blob for blob in self.new_pictures.values()})
        designs = _rewrite_designs(eraser, self.cloak, _subject_changes(runs, covered_runs))
        local = {id: local_words(redactor.local_words(run.events)) for id, run in runs.items()}
        studies = redact_studies(eraser, self.cloak, ids, local)
        report = Redacted(
            replaced=ids,
            boxes=self.box_count,
            nodes=redactor.nodes,
            texts=redactor.texts,
            pictures=len(self.new_pictures.keys() & self.redactions.paints.keys()),
            states=redactor.states,
            designs=designs,
            reviews=sum(len(run.reviews) for run in runs.values()),
            destroyed=destroyed,
            pictures_without_tree=self.redactions.unseen,
            pictures_by_ocr=len(self.redactions.lines),
            linked_files=tuple(eraser.linked_files),
            studies=studies,
        )
        for id, replaced_by in ids.items():
            eraser.insert_tombstone(Tombstone(id, "redacted", self.by, now(), replaced_by, _report_counts(report)))
        return report


# -- what is refused -------------------------------------------------------------------------------------------


def _check_boxes(store: Store, boxes: Mapping[str, tuple[Bounds, ...]]) -> None:
    """Raise `LabError` if a box lies wholly outside its picture: it would cover nothing."""
    for sha256, parts in boxes.items():
        blob = store.runs.blob(sha256)
        try:
            if blob is None:
                continue
            with open_picture(blob.data) as picture:
                width, height = picture.size
        except (OSError, ValueError, SyntaxError):
            continue  # a picture that cannot be decoded is replaced whole
        for part in parts:
            if not part.intersection(Bounds(0, 0, width, height)).area:
                problem = f"the box {','.join(map(str, part))} lies outside its picture of {width}x{height} pixels; "
                raise LabError("redact", f"{problem}nothing was done.", "Write left,top,right,bottom.", code=2)


_TEXTS_BESIDE = """
SELECT text FROM draft WHERE trace = :run
UNION ALL SELECT CAST(bytes AS TEXT) FROM use JOIN blob USING (sha256) WHERE trace = :run AND mime = 'application/json'
UNION ALL SELECT body FROM design WHERE instr(body, :run)
UNION ALL SELECT body FROM unit WHERE (study, version, id) IN (SELECT * FROM about)
UNION ALL SELECT body FROM label WHERE (study, version, unit) IN (SELECT * FROM about)
UNION ALL SELECT body FROM act WHERE (study, version, unit) IN (SELECT * FROM about)
"""
"""Query for texts of a run that are not in its own rows: drafts, phone states, and rows of designs and studies."""
_ABOUT = """
WITH about AS (
    SELECT study, version, id FROM unit WHERE instr(body, :run)
    UNION SELECT study, version, unit FROM act WHERE instr(body, :run)
)
"""
"""Units of studies that show or play a run."""


def _check_words(store: Store, trace_id: str, runs: Mapping[str, _RedactableRun], redactions: RunRedactions) -> None:
    """Raise `LabError` if words occur nowhere in the runs: a mistyped word must not destroy them."""
    missing = [word for word in redactions.words if not _occur(store, TextRedaction([word]), runs, redactions)]
    if not missing:
        return
    unread = f"Words in {count(redactions.unseen, 'picture')} without a tree could not be read: draw boxes there."
    words = ", ".join(f'"{word}"' for word in missing)
    hint = unread if redactions.unseen else "Write them as they stand in the run."
    problem = f"the words {words} occur nowhere in run {trace_id}; nothing was done."
    raise LabError("redact", problem, hint)


def _occur(store: Store, cloak: TextRedaction, runs: Mapping[str, _RedactableRun], redactions: RunRedactions) -> bool:
    if any(nodes_with_words(tree, cloak) for tree in redactions.lines):
        return True
    for id, run in runs.items():
        for row in (*run.events, *run.verdicts, *run.reviews, *run.acts, *run.shadows):
            cloak.cover(row)
            if cloak.count:
                return True
        with sqlite_errors(store.path):
            rows = store.database.connection().execute(_ABOUT + _TEXTS_BESIDE, {"run": id})
            if any(cloak.matches(body) for (body,) in rows):
                return True
    return False


# -- where the words remain ------------------------------------------------------------------------------------


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
                "--everywhere covers it there, too (`E` in the app).",
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
            (escape_surrogates(new.asked), escape_surrogates(new.note), encode(new).decode(), n),
        )
        count += 1
    return count


_PNG = b"\x89PNG\r\n\x1a\n"
_PIXELS = frozenset({b"IHDR", b"PLTE", b"IDAT", b"IEND", b"tRNS", b"gAMA", b"cHRM", b"sRGB", b"sBIT", b"pHYs", b"bKGD"})
"""PNG chunks that only describe pixels (PNG, third edition, section 11)."""
_JFIF = frozenset({"jfif", "jfif_version", "jfif_unit", "jfif_density", "dpi", "progressive", "progression"})


def redact_picture(data: bytes, parts: Iterable[Bounds]) -> Blob:
    """Return a picture as PNG with these parts black and no metadata, or a 1x1 black pixel if it cannot be decoded."""
    from PIL import Image, ImageDraw

    try:
        with open_picture(data) as picture:
            # Pasting copies pixels only. A converted picture would keep its metadata, which save() writes.
            image = Image.new("RGB", picture.size)
            image.paste(picture.convert("RGB"))
    except (OSError, ValueError, SyntaxError):
        image = Image.new("RGB", (1, 1))
    draw = ImageDraw.Draw(image)
    for part in parts:
        box = part.intersection(Bounds(0, 0, *image.size))
        if box.area:
            # Pillow includes the last pixel, `Bounds` does not.
            draw.rectangle((box.left, box.top, box.right - 1, box.bottom - 1), fill=(0, 0, 0))
    out = io.BytesIO()
    image.save(out, "PNG")
    return Blob(out.getvalue(), "image/png")


def has_metadata(data: bytes) -> bool:
    """Return True if a picture holds more than pixels (texts, places, times, trailing bytes) or cannot be decoded."""
    if data.startswith(_PNG):
        return _png_has_metadata(data)
    try:
        with open_picture(data) as picture:
            # A truncated picture raises only when it is decoded.
            picture.load()
            return not set(picture.info) <= _JFIF or len(picture.getexif()) > 0
    except (OSError, ValueError, SyntaxError):
        return True


def _png_has_metadata(data: bytes) -> bool:
    at = len(_PNG)
    while at + 8 <= len(data):
        kind = data[at + 4 : at + 8]
        at += int.from_bytes(data[at : at + 4], "big") + 12
        if kind not in _PIXELS:
            return True
        if kind == b"IEND":
            return at != len(data)
    return True


_MIN_CORRELATION = 0.85
"""Minimum correlation of brightness of similar pieces. Different text on the same background stays well below."""
_MIN_DEVIATION = 2.0
"""Standard deviation of brightness (0 to 255) below which a piece counts as empty."""
_MARGIN_SHARE = 0.2
"""Share of an area's height cut off above and below: its frame, or an overlay's edge."""
_CACHE_SIZE = 4


class AreaComparison:
    """Compares areas of pictures by sha256. Caches the last few decoded pictures."""

    def __init__(self, blob: Callable[[str], Blob | None]) -> None:
        self._blob = blob
        self._grey: OrderedDict[str, Image | None] = OrderedDict()

    def __call__(self, first: str, second: str, part: Bounds) -> bool:
        """Return True if both pictures have one size and any non-empty piece of the area is similar in both."""
        import numpy as np

        image_a, image_b = self._grey_image(first), self._grey_image(second)
        if image_a is None or image_b is None or image_a.size != image_b.size:
            return False
        box = part.intersection(Bounds(0, 0, *image_a.size))
        a, b = (
            np.asarray(image.crop((box.left, box.top, box.right, box.bottom)), np.float64)
            for image in (image_a, image_b)
        )
        edge = int(box.height * _MARGIN_SHARE)
        a, b = a[edge : box.height - edge], b[edge : box.height - edge]
        wide = max(8, box.height)
        return any(_correlates(a[:, at : at + wide], b[:, at : at + wide]) for at in range(0, box.width, wide))

    def _grey_image(self, sha256: str) -> Image | None:
        if sha256 not in self._grey:
            self._grey[sha256] = self._decode(sha256)
            if len(self._grey) > _CACHE_SIZE:
                self._grey.popitem(last=False)
        self._grey.move_to_end(sha256)
        return self._grey[sha256]

    def _decode(self, sha256: str) -> Image | None:
        blob = self._blob(sha256)
        if blob is None:
            return None
        try:
            with open_picture(blob.data) as picture:
                return picture.convert("L")
        except (OSError, ValueError, SyntaxError):
            return None


def _correlates(a: NDArray[np.float64], b: NDArray[np.float64]) -> bool:
    """Return True if the brightness of two pieces correlates and neither is flat."""
    if not a.size:
        return False
    deviation_a, deviation_b = float(a.std()), float(b.std())
    if min(deviation_a, deviation_b) < _MIN_DEVIATION:
        return False
    return float(((a - a.mean()) * (b - b.mean())).mean()) / (deviation_a * deviation_b) >= _MIN_CORRELATION
