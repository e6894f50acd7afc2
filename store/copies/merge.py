"""Merging of copies of a hitlab file: all or nothing, in any order.

Rows are immutable and their ids unique. New rows are inserted, known rows skipped, and a known id with other content is
an error. People who withdrew from one file, and runs erased in one, disappear from all. Kits among the files follow the
rules for kits.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from lab.core.codec import encode
from lab.core.errors import LabError
from lab.core.redaction.quotations import OwnText
from lab.core.study.label import Withdrawal
from store.copies.kit_import import import_kit_within
from store.copies.merge_runs import merge_designs, merge_runs
from store.copies.merge_studies import MergeClash, find_clashes, merge_studies
from store.copies.merge_transaction import Merge
from store.copies.pack import remove_unfinished, sync_to_disk
from store.erasing.erasure import NotWiped
from store.erasing.own_texts import Read, own_texts
from store.erasing.tombstones import withdrawal_of
from store.file.connection import database_title
from store.file.foreign_file import MergedFile, migrated_without, open_snapshot
from store.file.leftovers import locked_part
from store.studies.study_extension import copy_new_rows, last_rows

if TYPE_CHECKING:
    from store.store import Store

_MOST_CLASHES = 10_000
"""Maximum number of clashes that are listed."""

_PUBLISHED = {"added": "came", "already_present": "there", "removed": "gone", "linked_files": "outside"}


class Merged(msgspec.Struct, frozen=True, rename=_PUBLISHED):
    """Result of `file merge`.

    `came` counts new rows by kind, `there` those that were here before. `gone` counts rows deleted because another file
    records a withdrawal (`withdrew`) or an erased run. `kits` are those of the files that were kits. `clashes` are all
    current ones, for their raters to settle. `outside` are files with linked pictures of deleted runs, which remain on
    the disk.
    """

    db: str
    files: tuple[str, ...]
    added: dict[str, int]
    already_present: int
    removed: dict[str, int]
    withdrew: tuple[str, ...]
    kits: tuple[str, ...]
    clashes: tuple[MergeClash, ...]
    linked_files: tuple[str, ...]


def merge_into(path: Path, files: Sequence[Path]) -> Merged:
    """Merge files into a database, all or nothing. Create it if it does not exist."""
    from store.store import Store

    if path.exists() or path.is_symlink():
        with Store.open(path) as store:
            return merge(store, files)
    if not path.parent.is_dir():
        raise LabError(database_title(path), f"cannot be made: the folder {path.parent} is not there.")
    part = path.with_name(f".{path.name}.part-{os.getpid()}")
    try:
        remove_unfinished(part)
        with locked_part(part):
            with Store.open(part) as store:
                merge_report = merge(store, files, path)
            sync_to_disk(part)
            # Only after the sync: a crash leaves either no file or a whole one.
            part.rename(path)
    except OSError as error:
        raise LabError(database_title(path), f"cannot be written ({error.strerror}).") from error
    # The new file is removed below, so nothing remains of the merge.
    except NotWiped as error:
        raise LabError(
            database_title(path), "cannot be made: the disk is full. Nothing was.", "Make room and try again."
        ) from error
    finally:
        remove_unfinished(part)
    return merge_report


def merge(store: Store, files: Sequence[Path], name: Path | None = None) -> Merged:
    """Merge everything new in these files, all or none, durable on return. The files stay unchanged.

    `name` replaces this file's path in error messages. Raise `LabError` if a file is damaged, not a hitlab file or of a
    newer schema, if two differ in what never changes, or if this is a kit.
    """
    if store.kit() is not None:
        raise LabError(database_title(store.path), "is a kit.", "A kit is taken back where its study came from: --db.")
    with ExitStack() as stack:
        sources = [stack.enter_context(open_snapshot(path)) for path in _distinct_files(store.path, files)]
        copies = [source for source in sources if source.kit is None]
        withdrawals = _all_withdrawals(store, copies)
        # Collect these texts before `migrated_without` erases them from the copies.
        own = _withdrawn_texts(store, sources, withdrawals)
        copies = [stack.enter_context(migrated_without(source, withdrawals)) for source in copies]
        with store.database.writing() as db:
            before = last_rows(db)
            into = Merge(store, db, name or store.path, copies, withdrawals)
            into.apply_erasures()
            for source in copies:
                with source.errors_named():
                    _merge_file(into, source)
            kits = [source.path for source in sources if source.kit is not None]
            # Kits come last: their answers need the study, which may come from one of the copies.
            for path in kits:
                _merge_kit(into, path)
            into.redact_studies()
            into.redact_quotations(own)
            carried = copy_new_rows(db, before)
            into.added.update(dealt=carried.assignments, labels=carried.labels, acts=carried.acts)
            clashes = tuple(clash for clash, _ in zip(find_clashes(into), range(_MOST_CLASHES), strict=False))
    merge_report = Merged(
        str(name or store.path), tuple(map(str, files)),
        {what: count for what, count in into.added.items() if count}, into.already_present, dict(into.removed),
        tuple(into.withdrew), tuple(map(str, kits)), clashes, tuple(dict.fromkeys(into.outside)),
    )  # fmt: skip
    if into.removed or into.covered:
        store.erasure.wipe(merge_report)
    return merge_report


def _distinct_files(here: Path, files: Sequence[Path]) -> Iterator[Path]:
    """Yield each file once, and leave out the one that is merged into."""
    seen = [here]
    for path in files:
        if not any(os.path.exists(path) and os.path.exists(other) and path.samefile(other) for other in seen):
            seen.append(path)
            yield path


def _all_withdrawals(store: Store, copies: Sequence[MergedFile]) -> dict[str, Withdrawal]:
    """Return everyone who withdrew in any of the files, with their earliest withdrawal."""
    withdrawals = [withdrawal_of(body) for (body,) in store.database.read("SELECT body FROM withdrawal")]
    withdrawals += [row for source in copies for row in source.erasures.withdrawals.values()]
    # Later entries replace earlier ones, so the earliest withdrawal remains. The encoded row breaks ties.
    return {row.code: row for row in sorted(withdrawals, key=lambda row: (row.at, encode(row)), reverse=True)}


def _withdrawn_texts(store: Store, sources: Sequence[MergedFile], codes: Collection[str]) -> list[OwnText]:
    """Return the texts of people who withdrew, as far as any of the files still has them."""
    reads: list[Read] = [
        store.database.read,
        *(lambda sql, *values, of=one: list(of.rows(sql, *values)) for one in sources),
    ]
    return [text for read in reads for code in codes for text in own_texts(read, code)]


def _merge_file(into: Merge, source: MergedFile) -> None:
    """Merge everything in one file."""
    merge_runs(into, source)
    merge_designs(into, source)
    merge_studies(into, source)
    into.redacted |= {trace for trace, stone in source.erasures.stones.items() if stone.why == "redacted"}
    into.earlier.append(source)


def _merge_kit(into: Merge, path: Path) -> None:
    """Import a kit's answers, under the rules for kits."""
    content = import_kit_within(into.store, into.db, path)
    into.added.update(labels=content.labels, acts=content.acts, dealt=content.repeated_plays, runs=content.runs)
    into.already_present += content.already_present
