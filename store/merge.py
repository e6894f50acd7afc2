"""Copies of a hitlab file brought together into one: all of it or nothing, in whatever order they come.

Rows are immutable and their ids unique, so that what is new comes in and what is here is passed over; the same id with
other content is refused. Who withdrew from one of the files, and what was erased in one, is gone from all. A kit among
them is taken by the rules for kits.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from lab.core.codec import encode
from lab.core.errors import LabError
from lab.core.label import Withdrawal
from lab.core.quotations import OwnText
from store.connection import named
from store.erasure import NotWiped
from store.foreign_file import Source, opened, without
from store.kit_import import kit_in
from store.leftovers import held
from store.merge_runs import designs_in, runs_in
from store.merge_studies import clashes_in, studies_in
from store.merge_transaction import Merging
from store.own_texts import Read, own_texts
from store.pack import kept_on_disk, removed
from store.study_extension import carry_on, reached
from store.tombstones import withdrawal_of

if TYPE_CHECKING:
    from store.store import Store

_MOST_CLASHES = 10_000
"""Places with two last words that are told one by one."""

Clash = tuple[str, int, str, str, int, str, str, bool]
"""A place with two last words of one rater: study, version, rater, unit, run, target, field; and if it is handed in."""


class Merged(NamedTuple):
    """What came in, was there already and went; `clashes` are the places at which two last words of a rater now stand.

    `came` and `gone` count rows by what they are. `withdrew` are the codes of people who are taken out here because
    another file says so; `outside` are files with linked pictures of runs that went.
    """

    came: dict[str, int]
    there: int
    gone: dict[str, int]
    withdrew: tuple[str, ...]
    kits: tuple[str, ...]
    clashes: tuple[Clash, ...]
    outside: tuple[str, ...]


def merge_into(path: Path, files: Sequence[Path]) -> Merged:
    """Brings files together into a database, which is made where it is not there; either whole or not at all."""
    from store.store import Store

    if path.exists() or path.is_symlink():
        with Store.open(path) as store:
            return merge(store, files)
    if not path.parent.is_dir():
        raise LabError(named(path), f"cannot be made: the folder {path.parent} is not there.")
    part = path.with_name(f".{path.name}.part-{os.getpid()}")
    try:
        removed(part)
        with held(part):
            with Store.open(part) as store:
                merge_report = merge(store, files, path)
            kept_on_disk(part)
            part.rename(path)
    except OSError as error:
        raise LabError(named(path), f"cannot be written ({error.strerror}).") from error
    except NotWiped as error:
        raise LabError(
            named(path), "cannot be made: the disk is full. Nothing was.", "Make room and try again."
        ) from error
    finally:
        removed(part)
    return merge_report


def merge(store: Store, files: Sequence[Path], name: Path | None = None) -> Merged:
    """Takes everything of these files in that is not here, all or none; durable on return. They stay as they are.

    `name` is what this file is called in sentences, its path where it is None. Raises `LabError` where one of them is
    damaged, no hitlab file or of a newer schema, two differ in what never changes, or this is a kit.
    """
    if store.kit() is not None:
        raise LabError(named(store.path), "is a kit.", "A kit is taken back where its study came from: --db.")
    with ExitStack() as stack:
        sources = [stack.enter_context(opened(path)) for path in _distinct(store.path, files)]
        copies = [source for source in sources if source.kit is None]
        withdrawals = _all_gone(store, copies)
        own = _texts_of(store, sources, withdrawals)
        copies = [stack.enter_context(without(source, withdrawals)) for source in copies]
        with store.database.writing() as db:
            before = reached(db)
            into = Merging(store, db, name or store.path, copies, withdrawals)
            into.obey()
            for source in copies:
                with source.blamed():
                    _take(into, source)
            kits = [source.path for source in sources if source.kit is not None]
            for path in kits:
                _take_kit(into, path)
            into.cover()
            into.cover_quoted(own)
            carried = carry_on(db, before)
            into.came.update(dealt=carried.assignments, labels=carried.labels, acts=carried.acts)
            clashes = tuple(clash for clash, _ in zip(clashes_in(into), range(_MOST_CLASHES), strict=False))
    merge_report = Merged(
        {what: count for what, count in into.came.items() if count}, into.there, dict(into.gone), tuple(into.withdrew),
        tuple(map(str, kits)), clashes, tuple(dict.fromkeys(into.outside)),
    )  # fmt: skip
    if into.gone or into.covered:
        store.erasure.wipe(merge_report)
    return merge_report


def _distinct(here: Path, files: Sequence[Path]) -> Iterator[Path]:
    """Each file once, but not the one that all comes into."""
    seen = [here]
    for path in files:
        if not any(os.path.exists(path) and os.path.exists(other) and path.samefile(other) for other in seen):
            seen.append(path)
            yield path


def _all_gone(store: Store, copies: Sequence[Source]) -> dict[str, Withdrawal]:
    """Who withdrew from any of the files, each by their earliest word."""
    withdrawals = [withdrawal_of(body) for (body,) in store.database.read("SELECT body FROM withdrawal")]
    withdrawals += [row for source in copies for row in source.said.withdrawals.values()]
    return {row.code: row for row in sorted(withdrawals, key=lambda row: (row.at, encode(row)), reverse=True)}


def _texts_of(store: Store, sources: Sequence[Source], codes: Collection[str]) -> list[OwnText]:
    """What those who withdrew said, as far as any of the files still holds it."""
    reads: list[Read] = [
        store.database.read,
        *(lambda sql, *values, of=one: list(of.rows(sql, *values)) for one in sources),
    ]
    return [text for read in reads for code in codes for text in own_texts(read, code)]


def _take(into: Merging, source: Source) -> None:
    """All of a file."""
    runs_in(into, source)
    designs_in(into, source)
    studies_in(into, source)
    into.redacted |= {trace for trace, stone in source.said.stones.items() if stone.why == "redacted"}
    into.earlier.append(source)


def _take_kit(into: Merging, path: Path) -> None:
    """A kit's work, by the rules for kits."""
    content = kit_in(into.store, into.db, path)
    into.came.update(labels=content.labels, acts=content.acts, dealt=content.dealt, runs=content.runs)
    into.there += content.there
