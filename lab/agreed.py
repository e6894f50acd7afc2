"""Agreements that were computed before, in the cache folder: aggregates alone, never a text, and gone with its file's.

They count as long as nothing that they were made of came in since: labels, handing in, adjudication, dealing; and only
for the program that made them.
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

import msgspec

from lab.agreement import Agreement, How
from lab.settings import folder
from lab.study import Study
from lab.wire import encode, sha_of
from store.columns import Newest
from store.store import Store

_HOME = Path(__file__).resolve().parent.parent
_MADE_BY = (
    "annotators/*.py", "annotators/agreement/*.py", "annotators/metrics/*.py", "lab/adjudication.py", "lab/agreed.py",
    "lab/agreement.py", "lab/columns.py", "lab/labels.py", "store/standing.py", "store/times.py",
)  # fmt: skip
"""The sources that a number depends on."""


class _Kept(msgspec.Struct, frozen=True):
    study: str
    code: str
    how: How
    newest: Newest
    agreements: list[Agreement]


def kept_or(store: Store, study: Study, how: How, compute: Callable[[], list[Agreement]]) -> list[Agreement]:
    """What was kept of a study, where it still holds; else what `compute` gives, which is kept from now on.

    A cache that cannot be read or written is none.
    """
    path = _path(store, study, how)
    newest = store.newest()
    kept = _read(path)
    holds = kept is not None and (kept.study, kept.code, kept.how) == (study.sha, code_sha(), how)
    if kept is not None and holds and store.same_since(study, kept.newest):
        if kept.newest != newest:
            _write(path, msgspec.structs.replace(kept, newest=newest))
        return kept.agreements
    found = compute()
    _write(path, _Kept(study.sha, code_sha(), how, newest, found))
    return found


def kept_before(store: Store, study: Study, how: How) -> tuple[list[Agreement], Newest] | None:
    """What was computed last by this program, though more came in since, and how far the file went then.

    None where nothing was, where somebody withdrew since or runs were erased (what is gone is not shown again), and
    where another file stands in the place of the one it was computed from.
    """
    kept = _read(_path(store, study, how))
    if kept is None or (kept.study, kept.code, kept.how) != (study.sha, code_sha(), how):
        return None
    return (kept.agreements, kept.newest) if store.goes_on_from(kept.newest) else None


def forget(path: Path) -> None:
    """Takes away all that is kept of a hitlab file."""
    shutil.rmtree(_folder(path), ignore_errors=True)


@cache
def code_sha() -> str:
    """The version of the arithmetic: a hash of the sources that it is made of, with numpy's version."""
    whole = hashlib.sha256(f"{platform.python_implementation()} {_numpy()}".encode())
    for pattern in _MADE_BY:
        for path in sorted(_HOME.glob(pattern)):
            whole.update(path.name.encode() + b"\0" + path.read_bytes() + b"\0")
    return whole.hexdigest()


def _numpy() -> str:
    try:
        return version("numpy")
    except PackageNotFoundError:
        return ""


def _path(store: Store, study: Study, how: How) -> Path:
    return _folder(store.path) / f"{sha_of([study.id, study.version, how])[:32]}.json"


def _folder(path: Path) -> Path:
    return folder("cache") / "agreement" / hashlib.sha256(os.fsencode(path.resolve())).hexdigest()[:32]


def _read(path: Path) -> _Kept | None:
    try:
        return msgspec.json.decode(path.read_bytes(), type=_Kept)
    except (OSError, msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None


def _write(path: Path, kept: _Kept) -> None:
    """Whole or not at all, for this user alone."""
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        handle, part = tempfile.mkstemp(dir=path.parent, prefix=".part-")
        try:
            with os.fdopen(handle, "wb") as out:
                out.write(encode(kept))
            os.replace(part, path)
        except BaseException:
            Path(part).unlink(missing_ok=True)
            raise
    except OSError:
        return
