"""Labels of a study for agreement statistics. Heavy imports are loaded on first use."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from lab.core.codec import unescape_surrogates
from lab.core.run.judge_call import JudgeCall, stage_name
from lab.core.study.study import Study
from store.file.database import Database
from store.studies.studies import key_of

if TYPE_CHECKING:
    from lab.core.study.label_columns import AnswerTimes, Columns


_COUNTED = "act IN ('commit', 'reopen', 'adjudicated', 'replaced', 'left')"
"""SQL condition for acts that change which labels count."""


class FilePosition(msgspec.Struct, frozen=True):
    """Position up to which a file was read: last row (number, id) of each table, and erasure counts.

    Rows are only added or erased, never changed. An assignment's id is its rater and position.
    """

    label: tuple[int, str] = (0, "")
    act: tuple[int, str] = (0, "")
    assignment: tuple[int, str] = (0, "")
    withdrawals: int = 0
    tombstones: int = 0


class AgreementLabels:
    """Reads a study's labels as columns, and detects if they changed since an earlier read."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def columns(self, study: Study) -> Columns:
        """Return the current labels of a study from one snapshot, of people only if handed in.

        Raise `LabError` if a newer hitlab wrote a label.
        """
        from store.studies.label_columns import columns_of

        with self._database.snapshot() as db:
            return columns_of(db, study)

    def columns_and_times(self, study: Study) -> tuple[Columns, AnswerTimes]:
        """Return the same columns, and the time of every answer."""
        from store.studies.label_columns import columns_and_times

        with self._database.snapshot() as db:
            return columns_and_times(db, study)

    def costs(self, study: Study) -> dict[tuple[str, str, str, int], float]:
        """Return the cost in US dollars of current model and script answers by unit, rater kind, rater id and run."""
        # MATERIALIZED and CROSS JOIN make SQLite look up each judge's labels by index, not scan the whole study.
        sql = """WITH judge AS MATERIALIZED (SELECT DISTINCT rater, kind FROM label
                WHERE study = ?1 AND version = ?2 AND kind != 'human'),
            theirs AS MATERIALIZED (SELECT l.n, l.id, l.supersedes, l.unit, l.kind, l.rater, l.run, l.body
                FROM judge j CROSS JOIN label l
                ON l.study = ?1 AND l.version = ?2 AND l.rater = j.rater AND l.kind = j.kind)
            SELECT unit, kind, rater, run, json_extract(body, '$.cost') AS cost FROM theirs WHERE cost IS NOT NULL
            AND id NOT IN (SELECT supersedes FROM theirs WHERE supersedes IS NOT NULL) ORDER BY n"""
        cost_by_configuration: dict[tuple[str, str, str, int], float] = {}
        for unit, kind, rater, run, cost in self._database.rows_in("label", sql, *key_of(study)):
            key = (unescape_surrogates(unit), kind, unescape_surrogates(rater), run)
            cost_by_configuration[key] = cost_by_configuration.get(key, 0.0) + cost
        return cost_by_configuration

    def calls(self, study: Study) -> list[JudgeCall]:
        """Return all paid judge calls of the study in order of insertion, without prompts and replies."""
        names = ("stage", "model", "once", "usage.prompt_tokens", "usage.completion_tokens", "usage.cost")
        columns = ", ".join(f"json_extract(body, '$.detail.{name}')" for name in names)
        sql = (
            f"SELECT rater, unit, run, {columns} FROM act WHERE study = ? AND version = ? AND act = 'judged' ORDER BY n"
        )
        return [
            JudgeCall(
                unescape_surrogates(rater), unescape_surrogates(unit), run,
                stage_name(unescape_surrogates(stage or "")), unescape_surrogates(model or ""), bool(once), *usage,
            )
            for rater, unit, run, stage, model, once, *usage in self._database.rows_in("act", sql, *key_of(study))
        ]  # fmt: skip

    def position(self) -> FilePosition:
        """Return the file's current position. This is cheap, because only erasures are counted."""
        last = {
            table: self._database.rows_in(table, f"SELECT n, {name} FROM {table} ORDER BY n DESC LIMIT 1")
            for table, name in _ROW_IDS.items()
        }
        label, act, assignment = (tuple(newest_row[0]) if newest_row else (0, "") for newest_row in last.values())
        rows_in = self._database.rows_in
        erasure_counts = [rows_in(table, f"SELECT count(*) FROM {table}") for table in ("withdrawal", "tombstone")]
        return FilePosition(
            label, act, assignment, *(int(newest_row[0][0]) if newest_row else 0 for newest_row in erasure_counts)
        )

    def same_since(self, study: Study, then: FilePosition) -> bool:
        """Return True if the same labels count in a study now as at position `then`."""
        if not self.continues(then):
            return False
        for table, (n, _) in _table_positions(then):
            counts = f" AND {_COUNTED}" if table == "act" else ""
            # The unary `+` keeps SQLite from using the study index: a scan of the few rows after `n` is faster.
            sql = f"SELECT 1 FROM {table} WHERE n > ? AND +study = ? AND +version = ?{counts} LIMIT 1"
            if self._database.rows_in(table, sql, n, *key_of(study)):
                return False
        return True

    def continues(self, then: FilePosition) -> bool:
        """Return True if this file still holds the rows at `then` and nothing was erased since."""
        position = self.position()
        if (position.withdrawals, position.tombstones) != (then.withdrawals, then.tombstones):
            return False
        return all(
            # A row number alone could exist in another file, too. The id shows that it is the same row.
            not n or self._database.rows_in(table, f"SELECT {_ROW_IDS[table]} FROM {table} WHERE n = ?", n) == [(id,)]
            for table, (n, id) in _table_positions(then)
        )


_ROW_IDS = {"label": "id", "act": "id", "assignment": "rater || ' ' || position"}
"""SQL expression that identifies a row of each table, besides its number."""


def _table_positions(newest: FilePosition) -> tuple[tuple[str, tuple[int, str]], ...]:
    return ("label", newest.label), ("act", newest.act), ("assignment", newest.assignment)
