"""Cache of a study's agreement numbers: aggregates alone, never a text.

An entry is valid until new labels, hand-ins, adjudications or assignments arrive, and only for the program version that
wrote it. A withdrawal deletes all entries of the file.
"""

from __future__ import annotations

import hashlib
import os
import platform
import shutil
import tempfile
from collections.abc import Callable
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, Generic, TypeVar

import msgspec

from lab.core.codec import encode, sha_of
from lab.core.settings import folder
from lab.core.study.agreement import Agreement, IntervalTerms
from lab.core.study.report import Grid
from lab.core.study.study import Study
from lab.core.values.made_files import make_folder
from store.store import Store
from store.studies.agreement_labels import FilePosition

_HOME = Path(__file__).resolve().parents[3]
_MADE_BY = ("annotators", "lab/core", "store")
"""Packages whose sources the numbers depend on."""


T = TypeVar("T")


class AnswerGrid(msgspec.Struct, frozen=True):
    """Cross-table of answers to a question by two raters, or by all pairs if no names are given.

    `why` is the reason if there is no grid.
    """

    field: str
    one: str = ""
    other: str = ""
    grid: Grid | None = None
    why: str = ""


class StudyOverview(msgspec.Struct, frozen=True):
    """Overview beside a study's numbers: agreement of each two raters by question, cross-tables, counts.

    `open` counts people's answers on sheets that they have not handed in.
    """

    answers: int
    people: int
    judges: int
    open: int
    pairs: dict[str, list[Agreement]]
    grids: list[AnswerGrid]


class _CachedNumbers(msgspec.Struct, Generic[T], frozen=True):
    study: str
    code: str
    how: IntervalTerms
    newest: FilePosition
    found: T


_NUMBERS: type[_CachedNumbers[list[Agreement]]] = _CachedNumbers[list[Agreement]]
_BESIDE: type[_CachedNumbers[StudyOverview]] = _CachedNumbers[StudyOverview]
_NAMED: dict[Any, str] = {_NUMBERS: "", _BESIDE: "beside"}
"""Suffix of the cache key by kind of entry, so that each kind has a file of its own."""


def cached_agreements(
    store: Store, study: Study, how: IntervalTerms, compute: Callable[[], list[Agreement]]
) -> list[Agreement]:
    """Return the cached agreement numbers if valid, else compute and cache them.

    A cache that cannot be read or written is ignored.
    """
    return _cached_or_computed(store, study, how, _NUMBERS, compute)


def cached_overview(
    store: Store, study: Study, how: IntervalTerms, compute: Callable[[], StudyOverview]
) -> StudyOverview:
    """Return the cached overview if valid, else compute and cache it."""
    return _cached_or_computed(store, study, how, _BESIDE, compute)


def stored_overview(store: Store, study: Study, how: IntervalTerms) -> StudyOverview | None:
    """Return the cached overview, None if there is none or newer rows arrived."""
    entry = _cached_entry(store, study, how, _BESIDE)
    return entry.found if entry is not None and store.agreement.same_since(study, entry.newest) else None


def last_overview(store: Store, study: Study, how: IntervalTerms, then: FilePosition) -> StudyOverview | None:
    """Return the cached overview that belongs to `last_agreements` of `then`, None if not cached."""
    entry = _cached_entry(store, study, how, _BESIDE)
    return entry.found if entry is not None and entry.newest == then else None


def last_agreements(store: Store, study: Study, how: IntervalTerms) -> tuple[list[Agreement], FilePosition] | None:
    """Return the numbers last computed by this program and the file's position then, though newer rows may exist.

    None if nothing is cached, if somebody withdrew or runs were erased since (erased data must not reappear), or if
    another file replaced the one they were computed from.
    """
    entry = _cached_entry(store, study, how, _NUMBERS)
    return (entry.found, entry.newest) if entry is not None and store.agreement.continues(entry.newest) else None


def _cached_or_computed(
    store: Store, study: Study, how: IntervalTerms, kind: type[_CachedNumbers[T]], compute: Callable[[], T]
) -> T:
    newest = store.agreement.position()
    entry = _cached_entry(store, study, how, kind)
    if entry is not None and store.agreement.same_since(study, entry.newest):
        if entry.newest != newest:
            # Only rows of other studies arrived: move the entry's position forward, so that the next check is quick.
            _write(_path(store, study, how, kind), msgspec.structs.replace(entry, newest=newest))
        return entry.found
    result = compute()
    _write(_path(store, study, how, kind), _CachedNumbers(study.sha, code_sha(), how, newest, result))
    return result


def _cached_entry(
    store: Store, study: Study, how: IntervalTerms, kind: type[_CachedNumbers[T]]
) -> _CachedNumbers[T] | None:
    """Return the entry that this program cached of this study's plan, whatever arrived since."""
    entry = _read(_path(store, study, how, kind), kind)
    return entry if entry is not None and (entry.study, entry.code, entry.how) == (study.sha, code_sha(), how) else None


def delete_cache(path: Path) -> None:
    """Delete all entries of a hitlab file."""
    shutil.rmtree(_folder(path), ignore_errors=True)


@cache
def code_sha() -> str:
    """Return the version of the arithmetic: a hash of its sources, the Python implementation and numpy's version."""
    whole = hashlib.sha256(f"{platform.python_implementation()} {_numpy()}".encode())
    for package in _MADE_BY:
        for path in sorted((_HOME / package).rglob("*.py")):
            whole.update(path.relative_to(_HOME).as_posix().encode() + b"\0" + path.read_bytes() + b"\0")
    return whole.hexdigest()


def _numpy() -> str:
    try:
        return version("numpy")
    except PackageNotFoundError:
        return ""


def _path(store: Store, study: Study, how: IntervalTerms, kind: type[_CachedNumbers[Any]]) -> Path:
    return _folder(store.path) / f"{sha_of([study.id, study.version, how, _NAMED[kind]])[:32]}.json"


def _folder(path: Path) -> Path:
    return folder("cache") / "agreement" / hashlib.sha256(os.fsencode(path.resolve())).hexdigest()[:32]


def _read(path: Path, kind: type[_CachedNumbers[T]]) -> _CachedNumbers[T] | None:
    try:
        digest, _, body = path.read_bytes().partition(b"\n")
        # A damaged entry, or one of another version, counts as missing and is computed again. Without the digest a
        # flipped bit could change a number.
        return msgspec.json.decode(body, type=kind) if digest == _digest(body) else None
    except (OSError, msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None


def _digest(body: bytes) -> bytes:
    return hashlib.sha256(body).hexdigest().encode()


def _write(path: Path, entry: _CachedNumbers[Any]) -> None:
    """Write an entry atomically and for this user alone. A failure is ignored."""
    try:
        make_folder(path.parent)
        # mkstemp makes the file for its owner alone, and the renaming shows readers the old entry or the whole new one.
        handle, part = tempfile.mkstemp(dir=path.parent, prefix=".part-")
        try:
            with os.fdopen(handle, "wb") as out:
                body = encode(entry)
                out.write(_digest(body) + b"\n" + body)
            os.replace(part, path)
        except BaseException:
            Path(part).unlink(missing_ok=True)
            raise
    except OSError:
        # A full or read-only disk costs the cache, not the numbers.
        return
