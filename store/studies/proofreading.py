"""Reviews and clearances of demonstrations: proofreaders' rows, and statements that a run holds nothing private."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from lab.core.codec import decode, encode, escape_surrogates
from lab.core.errors import LabError
from lab.core.run.run_records import Clearance
from lab.core.run.step import Action
from lab.core.run.trace import VERSION as EVENT_VERSION
from lab.core.study.proofreading import VERSION, Proof, ProofreadStep, Review, build_proof, check_next
from lab.core.task.task import Actor
from lab.core.values.ids_and_clock import not_before, now, uuid7
from store.erasing.tombstones import check_not_withdrawn
from store.file.database import Database

INSERT_REVIEW = "INSERT INTO review VALUES (NULL, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
INSERT_CLEARANCE = "INSERT INTO clearance VALUES (NULL, ?, ?, ?, ?, ?)"

_DEMONSTRATIONS = """
SELECT t.id FROM trace t JOIN event e ON e.trace = t.id AND e.seq = 0
WHERE json_extract(e.body, '$.agent.kind') = 'human'
    AND EXISTS (SELECT 1 FROM event o WHERE o.trace = t.id AND o.kind = 'ended')
ORDER BY t.n DESC
"""


class Reviews:
    """Reviews of demonstrations by proofreaders."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def append(self, demo: Proof, rows: Sequence[Review]) -> list[Review]:
        """Append review rows on a demonstration, all or none, durable on return. Return all its rows.

        Raise `LabError` if the rules refuse one: one's own recording, a review already handed in, a third reviewer.
        """
        with self._database.writing() as db:
            if not db.execute("SELECT 1 FROM trace WHERE id = ?", (demo.trace,)).fetchone():
                raise LabError(f"run {demo.trace}", f"is not in {self._database.path} any more.")
            stands = _decode_reviews(db.execute(_OF_RUN, (demo.trace,)).fetchall())
            times: dict[str, str] = {}
            for row in rows:
                check_not_withdrawn(db, row.by.id, f"review of run {demo.trace}")
                at = times.setdefault(
                    row.at, not_before(row.at, *(review.at for review in stands))
                )  # rows with one time keep one time
                row = msgspec.structs.replace(row, at=at)
                check_next(demo, stands, row)
                db.execute(INSERT_REVIEW, review_row(row))
                stands.append(row)
        return stands

    def of_run(self, trace_id: str) -> list[Review]:
        """Return every review row of a demonstration in order of insertion.

        The caller decides who may see them: see `lab.core.study.proofreading.visible_rows`.
        """
        return _decode_reviews(self._database.rows_in("review", _OF_RUN, trace_id))

    def demonstrations(self) -> list[str]:
        """Return finished runs in which a person was the agent, newest in this file first."""
        return [id for (id,) in self._database.read(_DEMONSTRATIONS)]

    def proof_of(self, trace_id: str) -> Proof:
        """Return a run's text to proofread, without its screens. Raise `LabError` if it is not a demonstration."""
        sql = "SELECT kind, body FROM event WHERE trace = ? AND kind IN ('started', 'step', 'ended') ORDER BY seq"
        rows = self._database.read(sql, trace_id)
        if not rows or rows[0][0] != "started":
            raise LabError(f"run {trace_id}", f"is not in {self._database.path}.")
        what = f"run {trace_id}"
        first: _StartFields = decode(rows[0][1], _StartFields, what, newest=EVENT_VERSION)
        steps: list[ProofreadStep] = [
            decode(body, _StepFields, what, newest=EVENT_VERSION).proofread_step
            for kind, body in rows
            if kind == "step"
        ]
        ended = rows[-1][0] == "ended"
        return build_proof(trace_id, first.agent, first.task.instruction, first.task.place, steps, ended=ended)

    def record_clearance(self, trace_id: str, by: Actor) -> Clearance:
        """Store a person's statement that a run holds nothing private."""
        row = Clearance(uuid7(), trace_id, by, now())
        with self._database.writing() as db:
            if not db.execute("SELECT 1 FROM trace WHERE id = ?", (trace_id,)).fetchone():
                raise LabError(f"run {trace_id}", f"is not in {self._database.path}.")
            check_not_withdrawn(db, by.id, f"run {trace_id}")
            db.execute(INSERT_CLEARANCE, clearance_row(row))
        return row

    def clearances(self, trace_id: str) -> list[Clearance]:
        """Return the statements that a run holds nothing private, oldest first."""
        rows = self._database.rows_in("clearance", "SELECT body FROM clearance WHERE trace = ? ORDER BY n", trace_id)
        return [decode(body, Clearance, "a clearance in the file", newest=1) for (body,) in rows]

    def uncleared(self) -> list[str]:
        """Return demonstrations without a clearance, newest in this file first."""
        cleared_runs = {id for (id,) in self._database.rows_in("clearance", "SELECT DISTINCT trace FROM clearance")}
        return [id for id in self.demonstrations() if id not in cleared_runs]


class _Task(msgspec.Struct, frozen=True):
    instruction: str = ""
    place: str = ""


class _StartFields(msgspec.Struct, frozen=True):
    """Fields of the first event that proofreading needs."""

    agent: Actor
    task: _Task


class _Proposed(msgspec.Struct, frozen=True):
    action: Action
    instruction: str = ""


class _DecisionFields(msgspec.Struct, frozen=True):
    action: Action | None = None


class _StepFields(msgspec.Struct, frozen=True):
    """Fields of a step that proofreading needs. The UI tree, by far the largest part, is not decoded."""

    proposed: _Proposed
    decision: _DecisionFields | None = None

    @property
    def proofread_step(self) -> ProofreadStep:
        action = self.decision.action if self.decision is not None else None
        return ProofreadStep(self.proposed.instruction, action or self.proposed.action)


_OF_RUN = "SELECT body FROM review WHERE trace = ? ORDER BY n"


def review_row(row: Review) -> tuple[Any, ...]:
    """Return the values for `INSERT_REVIEW`. The body is text so that any SQLite browser shows it."""
    return (
        row.id,
        row.trace,
        row.step,
        row.field,
        row.act,
        row.by.id,
        row.at,
        row.supersedes,
        encode(row).decode(),
    )


def clearance_row(row: Clearance) -> tuple[Any, ...]:
    """Return the values for `INSERT_CLEARANCE`."""
    return (row.id, row.trace, escape_surrogates(row.by.id), row.at, encode(row).decode())


def _decode_reviews(rows: Sequence[tuple[str]]) -> list[Review]:
    return [decode(body, Review, "a review in the file", newest=VERSION) for (body,) in rows]
