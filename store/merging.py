"""Copies of a hitlab file brought together into one: all of it or nothing, in whatever order they come.

Rows are immutable and their ids unique, so that what is new comes in and what is here is passed over; the same id with
other content is refused. Who withdrew from one of the files, and what was erased in one, is gone from all. A kit among
them is taken by the rules for kits.
"""

from __future__ import annotations

import os
import sqlite3
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from msgspec.structs import replace

from lab.errors import LabError
from lab.label import Withdrawal
from lab.records import Tombstone
from lab.study import Study
from lab.wire import decode, encode, storable
from store.connect import named
from store.erasing import Eraser, lifted
from store.exporting import REVIEWED
from store.merging_runs import designs_in, runs_in
from store.merging_studies import clashes_in, studies_in
from store.pack import kept_on_disk, removed
from store.rows import TOMBSTONE, tombstone_row
from store.source import Source, opened, without
from store.studies import key_of
from store.taking import kit_in
from store.withdrawing import obey
from store.withdrawn import withdrawal_of

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
    part = path.with_name(f".{path.name}.part-{os.getpid()}")
    try:
        removed(part)
        with Store.open(part) as store:
            merged = merge(store, files, path)
        kept_on_disk(part)
        part.rename(path)
    except OSError as error:
        raise LabError(named(path), f"cannot be written ({error.strerror}).") from error
    finally:
        removed(part)
    return merged


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
        gone = _all_gone(store, copies)
        copies = [stack.enter_context(without(source, gone)) for source in copies]
        with store._writing() as db:
            into = Merging(store, db, name or store.path, copies, gone)
            into.obey()
            for source in copies:
                with source.blamed():
                    into.take(source)
            kits = [source.path for source in sources if source.kit is not None]
            for path in kits:
                into.take_kit(path)
            clashes = tuple(clash for clash, _ in zip(clashes_in(into), range(_MOST_CLASHES), strict=False))
    if into.gone:
        store.wipe()
    return Merged(
        {what: count for what, count in into.came.items() if count}, into.there, dict(into.gone), tuple(into.withdrew),
        tuple(map(str, kits)), clashes, tuple(dict.fromkeys(into.outside)),
    )  # fmt: skip


def _distinct(here: Path, files: Sequence[Path]) -> Iterator[Path]:
    """Each file once, but not the one that all comes into."""
    seen = [here]
    for path in files:
        if not any(path.exists() and other.exists() and path.samefile(other) for other in seen):
            seen.append(path)
            yield path


def _all_gone(store: Store, copies: Sequence[Source]) -> dict[str, Withdrawal]:
    """Who withdrew from any of the files, each by their earliest word."""
    found = [withdrawal_of(body) for (body,) in store._read("SELECT body FROM withdrawal")]
    found += [row for source in copies for row in source.said.withdrawals.values()]
    return {row.code: row for row in sorted(found, key=lambda row: (row.at, encode(row)), reverse=True)}


class Merging:
    """One merge, within its transaction: what is here, and what is counted."""

    def __init__(
        self, store: Store, db: sqlite3.Connection, name: Path, copies: Sequence[Source], gone: Mapping[str, Withdrawal]
    ) -> None:
        self.store = store
        self.db = db
        self.name = name
        self.copies = copies
        self.withdrawals = gone
        self.came: Counter[str] = Counter()
        self.gone: Counter[str] = Counter()
        self.there = 0
        self.withdrew: list[str] = []
        self.outside: list[str] = []
        self.known: dict[tuple[str, int], Path] = {}
        """Which file a study came from, of those that were not here."""
        self.earlier: list[Source] = []
        stones: list[Tombstone] = [
            decode(body, Tombstone, "a tombstone in the file") for (body,) in db.execute("SELECT body FROM tombstone")
        ]
        self.redacted = {stone.trace for stone in stones if stone.why == "redacted"}
        """Runs that were redacted here, or in a file that is in already."""
        self.stones: dict[str, Tombstone] = {}
        for source in reversed(copies):
            self.stones |= source.said.stones
        self.stones |= {stone.trace: stone for stone in stones}

    # -- what goes ---------------------------------------------------------------------------------------------

    def obey(self) -> None:
        """Takes out here who withdrew elsewhere, and the runs that were erased there."""
        here = {code for (code,) in self.db.execute("SELECT code FROM withdrawal")}
        if not here <= {storable(code) for code in self.withdrawals}:
            raise LabError(named(self.name), "was changed meanwhile; nothing was done.", "Try again.")
        for code in sorted(self.withdrawals):
            if storable(code) not in here:
                with self.lifted() as eraser:
                    counts = obey(eraser, self.withdrawals[code]).row.counts
                self.gone.update(counts)
                if counts:
                    self.withdrew.append(code)
        runs = self._runs_that_go()
        if runs:
            with self.lifted() as eraser:
                eraser.erase_runs(runs)
            self.gone["runs"] += len(runs)
        known = {trace for (trace,) in self.db.execute("SELECT trace FROM tombstone")}
        for trace in sorted(self.stones.keys() - known):
            self.db.execute(TOMBSTONE, tombstone_row(self._followed(self.stones[trace])))

    def _runs_that_go(self) -> list[str]:
        """The runs here that were erased elsewhere, and what was exported of them as reviewed and brought back."""
        found = []
        copies = "SELECT json_extract(body, '$.source.path') FROM event WHERE trace = ? AND seq = 0"
        for id, parent, format in self.db.execute("SELECT id, parent, source FROM trace").fetchall():
            if self.erased(id) or (format == REVIEWED and self.erased(self.one(copies, id))):
                found.append(id)
            elif parent and self.is_redacted(parent) and self.one("SELECT 1 FROM trace WHERE id = ?", parent):
                raise LabError(
                    named(self.name),
                    f"run {id} begins as run {parent}, which was redacted elsewhere, and was not redacted with it.",
                    "Redact it here, too, then merge.",
                )
        return found

    def _followed(self, stone: Tombstone) -> Tombstone:
        """A tombstone that leads to what stands there now, where that was replaced in turn."""
        seen = {stone.trace}
        while stone.replaced_by and stone.replaced_by in self.stones and stone.replaced_by not in seen:
            seen.add(stone.replaced_by)
            stone = replace(stone, replaced_by=self.stones[stone.replaced_by].replaced_by)
        return stone

    def erased(self, run: str | None) -> bool:
        """Whether a run must not come in."""
        return run in self.stones

    def is_redacted(self, run: str) -> bool:
        """Whether a run was redacted in any of the files."""
        return run in self.stones and self.stones[run].why == "redacted"

    @contextmanager
    def lifted(self) -> Iterator[Eraser]:
        """Rows may go, or be covered, within."""
        with lifted(self.db) as eraser:
            yield eraser
        self.outside += eraser.outside

    # -- what comes --------------------------------------------------------------------------------------------

    def take(self, source: Source) -> None:
        """All of a file."""
        runs_in(self, source)
        designs_in(self, source)
        studies_in(self, source)
        self.redacted |= {trace for trace, stone in source.said.stones.items() if stone.why == "redacted"}
        self.earlier.append(source)

    def take_kit(self, path: Path) -> None:
        """A kit's work, by the rules for kits."""
        taken = kit_in(self.store, self.db, path)
        self.came.update(labels=taken.labels, acts=taken.acts, dealt=taken.dealt, runs=taken.runs)
        self.there += taken.there

    def same(self, source: Source, table: str, id: str, body: str, row: Any) -> bool:
        """Whether a row is here; `LabError` where the same id stands here for something else."""
        here = self.one(f"SELECT body FROM {table} WHERE id = ?", storable(id))
        if here is None:
            return False
        if here != body and decode(here, type(row), f"{table} {id}") != row:
            raise LabError(f"{table} {id}", f"says something else in {self.where(table, 'id', id, source)}.")
        self.there += 1
        return True

    def one(self, sql: str, *values: object) -> Any:
        """The first value that a query finds here; None where it finds none."""
        found = self.db.execute(sql, values).fetchone()
        return found[0] if found else None

    def where(self, table: str, key: str, id: str, source: Source) -> Path:
        """In which file a row stands that is here: one that came before, or this one as it was."""
        for other in self.earlier:
            if other is not source and other.one(f"SELECT 1 FROM {table} WHERE {key} = ?", id) is not None:
                return other.path
        return self.name

    def known_in(self, study: Study) -> Path:
        """The file that a study came from."""
        return self.known.get(key_of(study), self.name)

    def where_locked(self, study: Study, source: Source) -> Path:
        """The file in which a study is locked."""
        sql = "SELECT 1 FROM act WHERE study = ? AND version = ? AND act = 'locked'"
        found = (other.path for other in self.earlier if other.one(sql, *key_of(study)) is not None)
        return next(found, self.name)
