"""Labels in a hitlab file, and what people did beside answering: each a row, none ever changed."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

from lab.errors import LabError
from lab.labels import Sheet, Standing, check_next, check_open
from lab.study import VERSION, Act, Assignment, Label, Study, Unit
from lab.task import Actor
from lab.wire import decode, encode

_LABEL = "INSERT INTO label VALUES (NULL, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
_ACT = "INSERT INTO act VALUES (NULL, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
_BATCH = 500


class Labels:
    """The verbs of `Store` that are about labels; what is beneath them is the store's own."""

    path: Path

    def _read(self, sql: str, *values: Any) -> list[Any]:
        raise NotImplementedError

    def _rows_in(self, table: str, sql: str, *values: Any) -> list[Any]:
        raise NotImplementedError

    def _writing(self) -> AbstractContextManager[sqlite3.Connection]:
        raise NotImplementedError

    def locked(self, study: Study) -> bool:
        raise NotImplementedError

    def held(self, study: Study, rater: str) -> bool:
        raise NotImplementedError

    # Writing

    def record_label(self, study: Study, unit: Unit, label: Label) -> Sheet:
        """Keeps one label, durable on return; gives the rater's sheet of that unit as it then stands.

        `study` and `unit` are as they were read from this file: they are frozen. Raises `LabError` where the rules of
        `lab.labels` refuse it.
        """
        with self._writing() as db:
            now = self.standing(study, unit, label.rater, label.run)
            check_next(now, label)
            insert_label(db, label)
        return Sheet(study.protocol, unit, [*now.sheet.rows, label])

    def record_labels(
        self, study: Study, unit: Unit, rater: Actor, run: int, says: Sequence[Callable[[Sheet], Label | None]]
    ) -> Sheet:
        """Keeps several labels of one sheet, all or none, durable on return.

        Each of `says` makes its label of the sheet as it then stands, or None where there is nothing to say, so that
        what another process wrote meanwhile is superseded and never lost.
        """
        with self._writing() as db:
            now = self.standing(study, unit, rater, run)
            for say in says:
                label = say(now.sheet)
                if label is not None:
                    check_next(now, label)
                    insert_label(db, label)
                    now = now._replace(sheet=Sheet(study.protocol, unit, [*now.sheet.rows, label]))
        return now.sheet

    def hand_in(self, study: Study, unit: Unit, act: Act) -> None:
        """Keeps that a rater handed a unit in, durable on return.

        Raises `LabError` where something is unanswered, it is handed in already, or nothing may be said of it.
        """
        with self._writing() as db:
            now = self.standing(study, unit, act.rater, act.run)
            check_open(now, act.rater.id, act.rater.kind, f"unit {unit.id}")
            if now.sheet.committed:
                raise LabError(f"unit {unit.id}", "is handed in already.")
            if left := len(now.sheet.unanswered):
                raise LabError(f"unit {unit.id}", f"has {left} unanswered.", "Answer or skip them.")
            insert_act(db, act)

    def record_act(self, act: Act) -> None:
        """Keeps what a person did at a study, durable on return."""
        with self._writing() as db:
            if self.withdrew(act.rater.id):
                raise LabError(f"study {act.study}", f"{act.rater.id} has withdrawn.")
            insert_act(db, act)

    # Reading

    def sheet(self, study: Study, unit: Unit, rater: str, run: int = 1, kind: str = "human") -> Sheet:
        """What one rater has said of one unit so far."""
        sql = (
            "SELECT body FROM label WHERE study = ? AND version = ? AND rater = ? AND unit = ? AND run = ? "
            "AND kind = ? ORDER BY n"
        )
        found = self._rows_in("label", sql, study.id, study.version, rater, unit.id, run, kind)
        acts = self.acts(study, rater, unit.id, run)
        return Sheet(study.protocol, unit, [_label(body) for (body,) in found], acts)

    def labels(self, study: Study, unit: str | None = None, rater: str | None = None) -> Iterator[Label]:
        """Every label of a study with its history, in the order they came into this file."""
        after = 0
        sql = (
            "SELECT n, body FROM label WHERE study = ?1 AND version = ?2 AND n > ?3 AND (?4 IS NULL OR unit = ?4) "
            "AND (?5 IS NULL OR rater = ?5) ORDER BY n LIMIT ?6"
        )
        while True:
            batch = self._rows_in("label", sql, study.id, study.version, after, unit, rater, _BATCH)
            yield from (_label(body) for _, body in batch)
            if len(batch) < _BATCH:
                return
            after = batch[-1][0]

    def acts(
        self, study: Study, rater: str | None = None, unit: str | None = None, run: int | None = None
    ) -> list[Act]:
        """What people did at a study beside answering, in the order it came into this file."""
        sql = (
            "SELECT body FROM act WHERE study = ?1 AND version = ?2 AND (?3 IS NULL OR rater = ?3) "
            "AND (?4 IS NULL OR unit = ?4) AND (?5 IS NULL OR run = ?5) ORDER BY n"
        )
        found = self._rows_in("act", sql, study.id, study.version, rater, unit, run)
        return [decode(body, Act, "an act in the file", newest=VERSION) for (body,) in found]

    def withdrew(self, code: str) -> bool:
        """Whether a person has withdrawn: nothing of theirs is taken in again."""
        return bool(self._rows_in("withdrawal", "SELECT 1 FROM withdrawal WHERE code = ?", code))

    def standing(self, study: Study, unit: Unit, rater: Actor, run: int = 1) -> Standing:
        """What the rules need to know before a rater says more of a unit."""
        dealt = self._read(
            "SELECT body FROM assignment WHERE study = ? AND version = ? AND rater = ? AND unit = ? AND run = ?",
            study.id, study.version, rater.id, unit.id, run,
        )  # fmt: skip
        return Standing(
            study,
            unit,
            decode(dealt[0][0], Assignment, "an assignment in the file", newest=VERSION) if dealt else None,
            self.sheet(study, unit, rater.id, run, rater.kind),
            locked=self.locked(study),
            held=self.held(study, rater.id),
            withdrawn=self.withdrew(rater.id),
        )


def insert_label(db: sqlite3.Connection, label: Label) -> None:
    """A label's row, within the caller's transaction."""
    db.execute(
        _LABEL,
        (
            label.id, label.study, label.version, label.unit, label.target, label.field, label.rater.kind,
            label.rater.id, label.run, label.at, label.supersedes, encode(label).decode(),
        ),
    )  # fmt: skip


def insert_act(db: sqlite3.Connection, act: Act) -> None:
    """An act's row, within the caller's transaction."""
    db.execute(
        _ACT,
        (act.id, act.study, act.version, act.rater.id, act.unit, act.run, act.act, act.at, encode(act).decode()),
    )


def _label(body: str) -> Label:
    return decode(body, Label, "a label in the file", newest=VERSION)
