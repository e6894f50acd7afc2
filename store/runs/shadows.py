"""Answers of shadow simulators: rows separate from a run's events, never part of a kit or an export."""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from lab.core.codec import decode, encode, storable
from lab.core.errors import LabError
from lab.core.run.shadow_answer import VERSION, ShadowAnswer, current_answers
from lab.core.values.ids_and_clock import not_before
from store.file.database import Database

INSERT_SHADOW = "INSERT INTO shadow VALUES (NULL, ?, ?, ?, ?, ?, ?, ?)"
TABLE = "shadow"
_LAST = "SELECT max(at) FROM shadow WHERE trace = ? AND question = ? AND by = ?"


class Shadows:
    """Answers of shadow simulators, by run."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def record(self, answer: ShadowAnswer) -> ShadowAnswer:
        """Store an answer or the reason for a missing one, durable on return. Return it as stored.

        Raise `LabError` if the run is not in the file, or the file is a kit.
        """
        what = f"run {answer.trace}"
        with self._database.writing() as db:
            if db.execute("SELECT 1 FROM kit").fetchone():
                raise LabError(what, "is in a kit; shadow models are asked where it came from.")
            if not db.execute("SELECT 1 FROM trace WHERE id = ?", (answer.trace,)).fetchone():
                raise LabError(what, "is not in this file.", "`hitlab runs list` lists what is.")
            last = db.execute(_LAST, (answer.trace, answer.question, storable(answer.by.id))).fetchone()[0]
            answer = replace(answer, at=not_before(answer.at, last))
            db.execute(INSERT_SHADOW, shadow_row(answer))
        return answer

    def of_run(self, trace_id: str) -> list[ShadowAnswer]:
        """Return all rows of a run in order of insertion."""
        rows = self._database.rows_in(TABLE, "SELECT body FROM shadow WHERE trace = ? ORDER BY n", trace_id)
        return [shadow_of(body) for (body,) in rows]

    def current(self, trace_id: str) -> list[ShadowAnswer]:
        """Return the current answers of a run, by step and model."""
        return current_answers(self.of_run(trace_id))


def shadow_row(answer: ShadowAnswer) -> tuple[Any, ...]:
    """Return the values for `INSERT_SHADOW`."""
    return (
        answer.id, answer.trace, answer.question, storable(answer.by.id), storable(answer.at), answer.supersedes,
        encode(answer).decode(),
    )  # fmt: skip


def shadow_of(body: str) -> ShadowAnswer:
    """Decode a row's body."""
    return decode(body, ShadowAnswer, "a shadow's answer in the file", newest=VERSION)
