"""What was computed before of a study's answers, in the cache folder: aggregates alone, never a text.

It counts as long as nothing that it was made of came in since: labels, handing in, adjudication, dealing; and only for
the program that made it. Whoever withdraws takes all of it away.
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

from lab.core.agreement import Agreement, How
from lab.core.codec import encode, sha_of
from lab.core.made_files import make_folder
from lab.core.report import Grid
from lab.core.settings import folder
from lab.core.study import Study
from store.agreement_labels import Newest
from store.store import Store

_HOME = Path(__file__).resolve().parents[2]
_MADE_BY = ("annotators", "lab/core", "store")
"""The packages that a number depends on."""


T = TypeVar("T")


class AnswerGrid(msgspec.Struct, frozen=True):
    """Which answers to a question came together, of two raters or (no names) of all pairs; without a grid says why."""

    field: str
    one: str = ""
    other: str = ""
    grid: Grid | None = None
    why: str = ""


class StudyOverview(msgspec.Struct, frozen=True):
    """What stands beside a study's numbers: each two raters by question, grids; how many answers there are, and whose.

    `open` are people's answers that are not handed in.
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
    how: How
    newest: Newest
    found: T


_NUMBERS: type[_CachedNumbers[list[Agreement]]] = _CachedNumbers[list[Agreement]]
_BESIDE: type[_CachedNumbers[StudyOverview]] = _CachedNumbers[StudyOverview]
_NAMED: dict[Any, str] = {_NUMBERS: "", _BESIDE: "beside"}
"""What is kept, each in a file of its own."""


def kept_or(store: Store, study: Study, how: How, compute: Callable[[], list[Agreement]]) -> list[Agreement]:
    """What was kept of a study, where it still holds; else what `compute` gives, which is kept from now on.

    A cache that cannot be read or written is none.
    """
    return _or(store, study, how, _NUMBERS, compute)


def beside_or(store: Store, study: Study, how: How, compute: Callable[[], StudyOverview]) -> StudyOverview:
    """The same of what stands beside the numbers."""
    return _or(store, study, how, _BESIDE, compute)


def beside_kept(store: Store, study: Study, how: How) -> StudyOverview | None:
    """What was kept of what stands beside the numbers; None where nothing was, or more came in since."""
    entry = _kept(store, study, how, _BESIDE)
    return entry.found if entry is not None and store.agreement.same_since(study, entry.newest) else None


def beside_before(store: Store, study: Study, how: How, then: Newest) -> StudyOverview | None:
    """What stood beside the numbers that `kept_before` gives with `then`; None where it was not kept of that moment."""
    entry = _kept(store, study, how, _BESIDE)
    return entry.found if entry is not None and entry.newest == then else None


def kept_before(store: Store, study: Study, how: How) -> tuple[list[Agreement], Newest] | None:
    """What was computed last by this program, though more came in since, and how far the file went then.

    None where nothing was, where somebody withdrew since or runs were erased (what is gone is not shown again), and
    where another file stands in the place of the one it was computed from.
    """
    entry = _kept(store, study, how, _NUMBERS)
    return (entry.found, entry.newest) if entry is not None and store.agreement.goes_on_from(entry.newest) else None


def _or(store: Store, study: Study, how: How, kind: type[_CachedNumbers[T]], compute: Callable[[], T]) -> T:
    newest = store.agreement.newest()
    entry = _kept(store, study, how, kind)
    if entry is not None and store.agreement.same_since(study, entry.newest):
        if entry.newest != newest:
            _write(_path(store, study, how, kind), msgspec.structs.replace(entry, newest=newest))
        return entry.found
    result = compute()
    _write(_path(store, study, how, kind), _CachedNumbers(study.sha, code_sha(), how, newest, result))
    return result


def _kept(store: Store, study: Study, how: How, kind: type[_CachedNumbers[T]]) -> _CachedNumbers[T] | None:
    """What this program kept of this plan, whatever came in since."""
    entry = _read(_path(store, study, how, kind), kind)
    return entry if entry is not None and (entry.study, entry.code, entry.how) == (study.sha, code_sha(), how) else None


def forget(path: Path) -> None:
    """Takes away all that is kept of a hitlab file."""
    shutil.rmtree(_folder(path), ignore_errors=True)


@cache
def code_sha() -> str:
    """The version of the arithmetic: a hash of the sources that it is made of, with numpy's version."""
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


def _path(store: Store, study: Study, how: How, kind: type[_CachedNumbers[Any]]) -> Path:
    return _folder(store.path) / f"{sha_of([study.id, study.version, how, _NAMED[kind]])[:32]}.json"


def _folder(path: Path) -> Path:
    return folder("cache") / "agreement" / hashlib.sha256(os.fsencode(path.resolve())).hexdigest()[:32]


def _read(path: Path, kind: type[_CachedNumbers[T]]) -> _CachedNumbers[T] | None:
    try:
        return msgspec.json.decode(path.read_bytes(), type=kind)
    except (OSError, msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None


def _write(path: Path, entry: _CachedNumbers[Any]) -> None:
    """Whole or not at all, for this user alone."""
    try:
        make_folder(path.parent)
        handle, part = tempfile.mkstemp(dir=path.parent, prefix=".part-")
        try:
            with os.fdopen(handle, "wb") as out:
                out.write(encode(entry))
            os.replace(part, path)
        except BaseException:
            Path(part).unlink(missing_ok=True)
            raise
    except OSError:
        return
