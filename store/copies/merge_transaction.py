"""State of one merge of hitlab files within its transaction: erasures, redactions, counts."""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec.structs import replace

from lab.core.codec import decode, storable
from lab.core.errors import LabError
from lab.core.redaction.quotations import OwnText
from lab.core.redaction.text_redaction import ValuesDiffer, merge_covered
from lab.core.run.run_records import Tombstone
from lab.core.study.label import Withdrawal
from lab.core.study.study import Study
from store.erasing.erasure import Eraser, triggers_lifted
from store.erasing.quoted_texts import redact_quotations
from store.erasing.study_redaction import RedactedContent
from store.erasing.withdrawal import apply_withdrawal
from store.file.connection import database_title
from store.file.foreign_file import MergedFile
from store.runs.lineage import repetitions_of
from store.runs.run_export import REVIEWED
from store.runs.run_rows import TOMBSTONE, tombstone_row
from store.studies.studies import key_of

if TYPE_CHECKING:
    from store.store import Store


class Merge:
    """One merge within its transaction, with its counts and the erasures recorded in any of the files."""

    def __init__(
        self,
        store: Store,
        db: sqlite3.Connection,
        name: Path,
        copies: Sequence[MergedFile],
        withdrawals: Mapping[str, Withdrawal],
    ) -> None:
        self.store = store
        self.db = db
        self.name = name
        self.copies = copies
        self.withdrawals = withdrawals
        self.added: Counter[str] = Counter()
        self.removed: Counter[str] = Counter()
        self.already_present = 0
        self.withdrew: list[str] = []
        self.outside: list[str] = []
        self.known: dict[tuple[str, int], Path] = {}
        """Path of the file that each newly merged study came from."""
        self.earlier: list[MergedFile] = []
        stones: list[Tombstone] = [
            decode(body, Tombstone, "a tombstone in the file") for (body,) in db.execute("SELECT body FROM tombstone")
        ]
        self.redacted = {stone.trace for stone in stones if stone.why == "redacted"}
        """Runs redacted in this file or in one merged before."""
        self.stones: dict[str, Tombstone] = {}
        # Of several tombstones for one run this file's applies, else the first file's.
        for source in reversed(copies):
            self.stones |= source.erasures.stones
        self.stones |= {stone.trace: stone for stone in stones}
        followed = map(self._resolve, self.stones.values())
        self.replaced = {stone.trace: stone.replaced_by for stone in followed if stone.replaced_by}
        """Maps redacted runs to the runs that replaced them."""
        self.covered = False
        """True if stored content was redacted, so that the file must be wiped."""
        self.uncovered = self._collect_uncovered()

    # -- erasing and redacting ---------------------------------------------------------------------------------

    def apply_erasures(self) -> None:
        """Erase people who withdrew elsewhere, and runs that were erased there."""
        here = {code for (code,) in self.db.execute("SELECT code FROM withdrawal")}
        if not here <= {storable(code) for code in self.withdrawals}:
            raise LabError(database_title(self.name), "was changed meanwhile; nothing was done.", "Try again.")
        for code in sorted(self.withdrawals):
            if storable(code) not in here:
                with self.lifted() as eraser:
                    counts = apply_withdrawal(eraser, self.withdrawals[code]).row.counts
                self.removed.update(counts)
                if counts:
                    self.withdrew.append(code)
        runs = self._runs_to_erase()
        if runs:
            with self.lifted() as eraser:
                eraser.erase_runs(runs)
            self.removed["runs"] += len(runs)
        tombstone_runs = {trace for (trace,) in self.db.execute("SELECT trace FROM tombstone")}
        for trace in sorted(self.stones.keys() - tombstone_runs):
            self.db.execute(TOMBSTONE, tombstone_row(self._resolve(self.stones[trace])))

    def _runs_to_erase(self) -> list[str]:
        """Return runs in this file that were erased elsewhere, and runs that repeat them."""
        erased_runs = []
        repeating = self.repeating(lambda sql, *values: self.db.execute(sql, values).fetchall(), self.name)
        for id, parent in self.db.execute("SELECT id, parent FROM trace").fetchall():
            if self.is_erased(id) or id in repeating:
                erased_runs.append(id)
            elif parent and self.is_redacted(parent) and self.value("SELECT 1 FROM trace WHERE id = ?", parent):
                raise LabError(
                    database_title(self.name),
                    f"run {id} begins as run {parent}, which was redacted elsewhere, and was not redacted with it.",
                    "Redact it here, too, then merge.",
                )
        return erased_runs

    def repeating(self, read: Callable[..., list[Any]], name: Path) -> set[str]:
        """Return the runs of a file that repeat an erased run. Raise `LabError` if they repeat a redacted one.

        The reviewed text of a redacted run is dropped without an error, because the new run can produce it again.
        """
        repeating_runs = set(repetitions_of(read, list(self.stones)))
        reviewed_runs = {id for (id,) in read("SELECT id FROM trace WHERE source = ?", REVIEWED)}
        withdrawn_runs = set(
            repetitions_of(read, [id for id, stone in self.stones.items() if stone.why == "withdrawn"])
        )
        for id in sorted(repeating_runs - withdrawn_runs - reviewed_runs):
            raise LabError(
                database_title(name),
                f"run {id} repeats a run that was redacted elsewhere, and was not redacted with it.",
                "Redact it there, too, then merge.",
            )
        return repeating_runs

    def _collect_uncovered(self) -> RedactedContent:
        """Collect what redactions covered in runs that one of the files still has uncovered."""
        uncovered = RedactedContent()
        for old, new in self.replaced.items():
            events_before, events_after = self._run_events(old), self._run_events(new)
            if events_before and events_after:
                uncovered.add_differences((old, new), events_before, events_after)
        return uncovered

    def _run_events(self, run: str) -> list[str]:
        """Return a run's events from the first file that has it."""
        sql = "SELECT body FROM event WHERE trace = ? ORDER BY seq"
        here = [str(body) for (body,) in self.db.execute(sql, (run,))]
        source_events = ([str(body) for (body,) in source.rows(sql, run)] for source in self.copies)
        return here or next(filter(None, source_events), [])

    def redact_studies(self) -> None:
        """Redact in studies what was redacted in their runs, regardless of the file an answer came from."""
        if not self.replaced or not (self.uncovered.local or self.added):
            return
        with self.lifted() as eraser:
            self.covered = any(self.uncovered.redact(eraser, self.replaced)) or self.covered

    def redact_quotations(self, own: Sequence[OwnText]) -> None:
        """Redact quotations of withdrawn people's texts, regardless of the file they came from."""
        if own:
            with self.lifted():
                rows = redact_quotations(self.db, own).rows
            self.removed.update({"quotations": rows} if rows else {})
            self.covered = self.covered or bool(rows)

    def _resolve(self, stone: Tombstone) -> Tombstone:
        """Resolve a tombstone's `replaced_by` through later replacements."""
        seen = {stone.trace}
        # `seen` guards against a cycle in a damaged file.
        while stone.replaced_by and stone.replaced_by in self.stones and stone.replaced_by not in seen:
            seen.add(stone.replaced_by)
            stone = replace(stone, replaced_by=self.stones[stone.replaced_by].replaced_by)
        return stone

    def is_erased(self, run: str | None) -> bool:
        """Return True if a run was erased in any of the files and must not be merged."""
        return run in self.stones

    def is_redacted(self, run: str) -> bool:
        """Return True if a run was redacted in any of the files."""
        return run in self.stones and self.stones[run].why == "redacted"

    @contextmanager
    def lifted(self) -> Iterator[Eraser]:
        """Allow deletes and updates within the block."""
        with triggers_lifted(self.db) as eraser:
            yield eraser
        self.outside += eraser.linked_files

    # -- adding rows -----------------------------------------------------------------------------------------

    def is_present(self, source: MergedFile, table: str, id: str, body: str, row: Any) -> bool:
        """Return True if a row is already in this file. Raise `LabError` if its id has other content here."""
        here = self.value(f"SELECT body FROM {table} WHERE id = ?", storable(id))
        if here is None:
            return False
        if here != body and decode(here, type(row), f"{table} {id}") != row:
            covered_body = self.combined_redactions(here, body)
            if covered_body is None:
                raise LabError(
                    f"{table} {id}", f"says something else in {self.origin_of_row(table, 'id', id, source)}."
                )
            self.rewrite(table, "id = ?", covered_body, here, storable(id))
        self.already_present += 1
        return True

    def combined_redactions(self, here: str, there: str) -> str | None:
        """Return the row with the redactions of both copies, or None if they differ by more than redactions."""
        if not (self.replaced or self.withdrawals):
            return None
        try:
            one, other = msgspec.json.decode(here), msgspec.json.decode(there)
            if self.withdrawals and one.get("state") and other.get("state"):
                # Only the hash differs.
                other["state"] = one["state"]  # hashes of a redacted state differ
            covered_row = merge_covered(one, other, self.replaced)
        except ValuesDiffer:
            return None
        return msgspec.json.encode(covered_row).decode()

    def rewrite(self, table: str, where: str, body: str, old: str, *values: object) -> None:
        """Replace a stored body by its redacted version, if they differ."""
        if body != old:
            with self.lifted():
                self.db.execute(f"UPDATE {table} SET body = ? WHERE {where}", (body, *values))
            self.covered = True

    def value(self, sql: str, *values: object) -> Any:
        """Return the first value of a query on this file, or None if it has no rows."""
        row = self.db.execute(sql, values).fetchone()
        return row[0] if row else None

    def origin_of_row(self, table: str, key: str, id: str, source: MergedFile) -> Path:
        """Return the path of the file that a row of this file came from: one merged before, or this one."""
        for other in self.earlier:
            if other is not source and other.value(f"SELECT 1 FROM {table} WHERE {key} = ?", id) is not None:
                return other.path
        return self.name

    def origin_of_study(self, study: Study) -> Path:
        """Return the path of the file that a study came from."""
        return self.known.get(key_of(study), self.name)

    def lock_origin(self, study: Study, source: MergedFile) -> Path:
        """Return the path of the file in which a study is locked."""
        sql = "SELECT 1 FROM act WHERE study = ? AND version = ? AND act = 'locked'"
        paths = (other.path for other in self.earlier if other.value(sql, *key_of(study)) is not None)
        return next(paths, self.name)
