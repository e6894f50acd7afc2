"""The rows that tell how far a study is and how fast: counts, and when each person did what.

Rows are only ever added, so that whoever reads them again and again reads those after the last row that they have.
People and units are named as rows name them (`lab.core.codec.storable`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from lab.core.label import RATER_ACTS, ActKind
from lab.core.study import Progress, Study
from store.agreement_labels import Newest
from store.database import Database
from store.studies import key_of

_TALLIES = "SELECT rater, dealt, left, begun FROM tally WHERE study = ? AND version = ?"
_HELD = "SELECT rater, act FROM act WHERE study = ? AND version = ? AND act IN ('held', 'released') ORDER BY at, id"
_LEFT = (
    "SELECT rater, 'replaced' FROM act WHERE study = ? AND version = ? AND act = 'left' "
    "AND json_extract(body, '$.detail.for') IS NOT NULL UNION ALL SELECT code, 'withdrawn' FROM withdrawal"
)
_ALL = "study = ?2 AND version = ?3"
_NEWER = "n > ?1 AND +study = ?2 AND +version = ?3"
"""The rows after one, by rows and not by the study's index: few are newer."""
_ACTS = f"SELECT n, rater, unit, run, at, act FROM act WHERE {{}} AND +act IN ({', '.join(map(repr, RATER_ACTS))})"
_AWAY = (
    "SELECT n, rater, '', 1, at, json_extract(body, '$.detail.seconds') FROM act WHERE {} AND act IN ('idle', 'break')"
)
_STEPS = (
    "SELECT a.n, a.rater, a.unit, a.run, e.at, '' FROM act a "
    "JOIN event e ON e.trace = json_extract(a.body, '$.detail.run') "
    "WHERE a.study = ?2 AND a.version = ?3 AND a.act = 'played'"
)


class TimeColumns(NamedTuple):
    """Things that people did, a column each, in no order: whose, on which sheet (unit and run), and when.

    `unit` is empty where it is about the study as a whole. `n` are the numbers of rows.
    """

    n: Sequence[int] = ()
    rater: Sequence[str] = ()
    unit: Sequence[str] = ()
    run: Sequence[int] = ()
    at: Sequence[str] = ()

    @property
    def last(self) -> int:
        """The number of the last row."""
        return max(self.n, default=0)

    def and_then(self, later: TimeColumns) -> TimeColumns:
        """These and later ones."""
        return TimeColumns(
            [*self.n, *later.n],
            [*self.rater, *later.rater],
            [*self.unit, *later.unit],
            [*self.run, *later.run],
            [*self.at, *later.at],
        )


class RaterActs(NamedTuple):
    """What raters did beside answering, and which act it was."""

    times: TimeColumns = TimeColumns()
    act: Sequence[ActKind] = ()


class Absences(NamedTuple):
    """Times away that the screen measured: when each ended, and its seconds."""

    times: TimeColumns = TimeColumns()
    seconds: Sequence[float] = ()


class ProgressRows:
    """Counts and times of a study's people. `after` is the number of the last row that the caller has."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def tallies(self, study: Study) -> dict[str, Progress]:
        """How far each person is, by code; of those to whom anything was dealt, or who answered."""
        key = key_of(study)
        last = dict(self._database.rows_in("act", _HELD, *key))
        return {
            rater: Progress(rater, dealt_count, dealt_count - left_count, begun_count, last.get(rater) == "held")
            for rater, dealt_count, left_count, begun_count in self._database.rows_in("tally", _TALLIES, *key)
        }

    def gone(self, study: Study) -> set[tuple[str, str]]:
        """Who has no part in a study any more, by code, and why: replaced, withdrawn."""
        return set(self._database.rows_in("act", _LEFT, *key_of(study)))

    def acts(self, study: Study, after: int = 0) -> RaterActs:
        """What raters did."""
        times, act = self._columns(_ACTS, study, after)
        return RaterActs(times, act)

    def absences(self, study: Study, after: int = 0) -> Absences:
        """The times away that were measured."""
        times, seconds = self._columns(_AWAY, study, after)
        return Absences(times, [float(away or 0.0) for away in seconds])

    def steps(self, study: Study) -> TimeColumns:
        """When anything happened in the runs that people played."""
        return self._columns(_STEPS, study, 0)[0]

    def same_since(self, study: Study, then: Newest) -> bool:
        """Whether nothing came into a study since the file went as far as `then`; what was erased is not looked for."""
        rows = (("label", then.label), ("act", then.act), ("assignment", then.assignment))
        sql = f"SELECT 1 FROM {{}} WHERE {_NEWER} LIMIT 1"
        return not any(self._database.rows_in(table, sql.format(table), n, *key_of(study)) for table, (n, _) in rows)

    def _columns(self, sql: str, study: Study, after: int) -> tuple[TimeColumns, Sequence[Any]]:
        """Rows as columns; the last one stands apart."""
        rows = self._database.rows_in("act", sql.format(_NEWER if after else _ALL), after, *key_of(study))
        *times, last = list(zip(*rows, strict=True)) if rows else [()] * 6
        return TimeColumns(*times), last
