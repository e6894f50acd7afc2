"""Store of a study: one SQLite file, with a group of methods for each kind of data.

A write is on the disk when its method returns. Every method is thread-safe.
"""

from __future__ import annotations

from contextlib import suppress
from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Self

from lab.core.codec import decode
from lab.core.errors import LabError
from store.file.connection import database_title, has_wal, remove_empty_wal
from store.file.database import Database
from store.file.image_links import Links
from store.file.schema import APPEND_ONLY, triggers
from store.runs.runs import Runs
from store.studies import progress_tables
from store.studies.labels import Labels
from store.studies.studies import Studies

if TYPE_CHECKING:
    from lab.core.run.run_records import Kit
    from store.erasing.erasure import Erasure
    from store.runs.answer_links import AnswerLinks
    from store.runs.conversations import Conversations
    from store.runs.shadows import Shadows
    from store.studies.adjudication import Adjudications
    from store.studies.agreement_labels import AgreementLabels
    from store.studies.designs import Designs
    from store.studies.progress_rows import ProgressRows
    from store.studies.proofreading import Reviews
    from store.studies.study_extension import Extensions


class Store:
    """A hitlab file, with its data in groups.

    - `runs`: traces and their acts
    - `links`: pictures outside the file
    - `designs`: designs of tasks
    - `reviews`: proofreading of demonstrations
    - `studies`: plans, units and assignments
    - `extensions`: new versions of studies that carry answers over
    - `labels`: answers and acts of raters
    - `adjudications`: settled disagreements
    - `agreement`: labels as columns, for coefficients
    - `progress`: counts and times of a study's people
    - `conversations`: conversations of the endpoint
    - `answer_links`: links to the endpoint's answer screen
    - `shadows`: answers of shadow simulators
    - `erasure`: permanent erasure of runs
    """

    def __init__(self, path: Path, *, readonly: bool = False) -> None:
        self.path, self.readonly = path, readonly
        self._is_new = False
        """True if `open` created the file."""
        self._leaves_tidy = False
        """True if `close` should remove the `-wal` and `-shm` that reading created."""
        self.database = Database(path, readonly=readonly)
        self.links = Links(self.database)
        self.runs = Runs(self.database, self.links)
        self.studies = Studies(self.database)
        self.labels = Labels(self.database, self.studies)

    # Groups that most commands and the first screen do not need are imported on first use, to keep the start fast.

    @cached_property
    def designs(self) -> Designs:
        from store.studies.designs import Designs

        return Designs(self.database)

    @cached_property
    def reviews(self) -> Reviews:
        from store.studies.proofreading import Reviews

        return Reviews(self.database)

    @cached_property
    def adjudications(self) -> Adjudications:
        from store.studies.adjudication import Adjudications

        return Adjudications(self.database, self.studies, self.labels)

    @cached_property
    def agreement(self) -> AgreementLabels:
        from store.studies.agreement_labels import AgreementLabels

        return AgreementLabels(self.database)

    @cached_property
    def extensions(self) -> Extensions:
        from store.studies.study_extension import Extensions

        return Extensions(self.database)

    @cached_property
    def progress(self) -> ProgressRows:
        from store.studies.progress_rows import ProgressRows

        return ProgressRows(self.database)

    @cached_property
    def conversations(self) -> Conversations:
        from store.runs.conversations import Conversations

        return Conversations(self.database)

    @cached_property
    def shadows(self) -> Shadows:
        from store.runs.shadows import Shadows

        return Shadows(self.database)

    @cached_property
    def answer_links(self) -> AnswerLinks:
        from store.runs.answer_links import AnswerLinks

        return AnswerLinks(self.database)

    @cached_property
    def erasure(self) -> Erasure:
        from store.erasing.erasure import Erasure

        return Erasure(self.database)

    @classmethod
    def open(cls, path: Path, *, create: bool = True, readonly: bool = False) -> Self:
        """Open a file. Create its tables if it is new and `create` is True.

        Raise `LabError` naming the file if it is missing, not SQLite, another program's, of a newer schema or
        read-only, or if the disk is full.
        """
        is_there = _exists(path)
        if not is_there and (readonly or not create):
            raise LabError(database_title(path), "is not there.")
        if is_there and not (path.is_file() or path.is_dir()):  # SQLite would block forever on a pipe
            raise LabError(database_title(path), "is a device or a pipe, not a file.")
        store = cls(path, readonly=readonly)
        store._is_new, store._leaves_tidy = not is_there, readonly and not has_wal(path)
        try:
            store.database.prepare()
        except BaseException:
            store.close()
            raise
        return store

    def close(self) -> None:
        """Close every thread's connection. It is safe to call it twice."""
        self.database.close()
        tidy, self._leaves_tidy = self._leaves_tidy, False
        if tidy and has_wal(self.path):
            remove_empty_wal(self.path)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trail: TracebackType | None
    ) -> None:
        """Close the file. Delete it if it is new and the work in the block ended with a `LabError`."""
        if self._is_new and isinstance(error, LabError):
            self._remove_if_empty()
        self.close()

    def _remove_if_empty(self) -> None:
        """Delete a new file if it is still empty and no other process has it open."""
        with suppress(LabError):
            if any(self.database.read(f"SELECT 1 FROM {table} LIMIT 1") for table in APPEND_ONLY):
                return
            self.database.remove_new()

    # The file

    def kit(self) -> Kit | None:
        """Return the kit that this file is, or None if it is not a kit."""
        from lab.core.run.run_records import Kit

        rows = self.database.rows_in("kit", "SELECT body FROM kit")
        return decode(rows[0][0], Kit, "the kit's mark in the file", newest=1) if rows else None

    def pack(self, out: Path, *, images: bool = True, embed: bool = False) -> None:
        """Copy everything, including the `-wal`, to the new file `out`. `images=False` leaves pictures out.

        Linked pictures stay linked. `embed` stores those that can be read in the copy.
        """
        from store.copies.pack import pack

        pack(self.path, out, images=images, embed=embed)

    def check(self, *, links: bool = True) -> list[str]:
        """Return a sentence for each error in the file and in its `links`, empty if there is none."""
        read = self.database.read
        lines = [line for (row,) in read("PRAGMA integrity_check") for line in row.splitlines()]
        wrong = [f"integrity: {line}" for line in lines if line != "ok" and not line.startswith("***")]
        wrong += [f"a row of {table} refers to no row of {to}" for table, _, to, _ in read(_FOREIGN_KEY_CHECK)]
        there = {name for (name,) in read("SELECT name FROM sqlite_master WHERE type = 'trigger'")}
        tables = {name for (name,) in read("SELECT name FROM sqlite_master WHERE type = 'table'")}
        trigger_names = [
            *triggers(tables),
            *(progress_tables.TRIGGERS if tables >= progress_tables.TABLES.keys() else ()),
        ]
        wrong += [f"the trigger {name} is missing" for name in trigger_names if name not in there]
        wrong += [
            f"the table {name} is not what its rows say"
            for (name,) in self.database.rows_in("todo", progress_tables.INCONSISTENT_TABLES)
        ]
        # 2 is FULL.
        if read("PRAGMA synchronous")[0][0] != 2:
            wrong.append("synchronous is not FULL")
        if not self.readonly and read("PRAGMA journal_mode")[0][0] != "wal":
            wrong.append("the journal mode is not WAL")
        for (sha256,) in read("SELECT sha256 FROM blob"):
            blob = self.runs.blob(sha256)
            if blob is not None and blob.sha256 != sha256:
                wrong.append(f"the bytes of blob {sha256} are not its own")
        return wrong + (self.links.problems() if links else [])

    def size(self) -> int:
        """Return the size of the file in bytes, including the content of its `-wal`."""
        read = self.database.read
        return int(read("PRAGMA page_count")[0][0]) * int(read("PRAGMA page_size")[0][0])


_FOREIGN_KEY_CHECK = "SELECT * FROM pragma_foreign_key_check"


def _exists(path: Path) -> bool:
    """Return True if a path exists. Raise `LabError` if that cannot be determined."""
    try:
        return path.exists()
    except OSError as error:
        raise LabError(database_title(path), f"cannot be read ({error.strerror}).") from error
