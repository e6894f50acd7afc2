"""Rows from which a study's progress and pace are computed: counts, and times of each person's actions.

Rows are only added, so a caller that polls reads only rows after its last one. Raters and units are named as in rows
(`lab.core.codec.storable`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from lab.core.study.label import RATER_ACTS, ActKind
from lab.core.study.study import Progress, Study
from store.file.database import Database
from store.studies.agreement_labels import FilePosition
from store.studies.studies import key_of

_TALLIES = "SELECT rater, dealt, left, begun FROM tally WHERE study = ? AND version = ?"
_HELD = "SELECT rater, act FROM act WHERE study = ? AND version = ? AND act IN ('held', 'released') ORDER BY at, id"
_LEFT = (
    "SELECT rater, 'replaced' FROM act WHERE study = ? AND version = ? AND act = 'left' "
    "AND json_extract(body, '$.detail.for') IS NOT NULL UNION ALL SELECT code, 'withdrawn' FROM withdrawal"
)
_ALL = "study = ?2 AND version = ?3"
_NEWER = "n > ?1 AND +study = ?2 AND +version = ?3"
"""Rows after a given one, found by row number instead of the study's index, because few are newer."""
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
    """Times of people's actions as columns, unordered: row number, rater, sheet (unit and run), time.

    `unit` is empty for actions at the study as a whole.
    """

    n: Sequence[int] = ()
    rater: Sequence[str] = ()
    unit: Sequence[str] = ()
    run: Sequence[int] = ()
    at: Sequence[str] = ()

    @property
    def last_row(self) -> int:
        """Number of the last row, 0 if empty."""
        return max(self.n, default=0)

    def followed_by(self, later: TimeColumns) -> TimeColumns:
        """Return these rows followed by later ones."""
        return TimeColumns(
            [*self.n, *later.n],
            [*self.rater, *later.rater],
            [*self.unit, *later.unit],
            [*self.run, *later.run],
            [*self.at, *later.at],
        )


class RaterActs(NamedTuple):
    """Acts of raters, and the kind of each."""

    times: TimeColumns = TimeColumns()
    act: Sequence[ActKind] = ()


class Absences(NamedTuple):
    """Measured absences: the end of each, and its length in seconds."""

    times: TimeColumns = TimeColumns()
    seconds: Sequence[float] = ()


class ProgressRows:
    """Reads counts and times of a study's people. `after` is the number of the last row that the caller has."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def tallies(self, study: Study) -> dict[str, Progress]:
        """Return the progress by code of everyone who was dealt units or answered."""
        key = key_of(study)
        last = dict(self._database.rows_in("act", _HELD, *key))
        return {
            rater: Progress(rater, dealt_count, dealt_count - left_count, begun_count, last.get(rater) == "held")
            for rater, dealt_count, left_count, begun_count in self._database.rows_in("tally", _TALLIES, *key)
        }

    def departures(self, study: Study) -> set[tuple[str, str]]:
        """Return the codes of people who no longer take part, with the reason: `replaced` or `withdrawn`."""
        return set(self._database.rows_in("act", _LEFT, *key_of(study)))

    def acts(self, study: Study, after: int = 0) -> RaterActs:
        """Return the raters' acts after a row."""
        times, act = self._read_columns(_ACTS, study, after)
        return RaterActs(times, act)

    def absences(self, study: Study, after: int = 0) -> Absences:
        """Return the measured absences after a row."""
        times, seconds = self._read_columns(_AWAY, study, after)
        return Absences(times, [float(away or 0.0) for away in seconds])

    def steps(self, study: Study) -> TimeColumns:
        """Return the times of all events in the runs that people played."""
        return self._read_columns(_STEPS, study, 0)[0]

    def same_since(self, study: Study, then: FilePosition) -> bool:
        """Return True if nothing was added to a study since position `then`. Erasures are not detected."""
        rows = (("label", then.label), ("act", then.act), ("assignment", then.assignment))
        sql = f"SELECT 1 FROM {{}} WHERE {_NEWER} LIMIT 1"
        return not any(self._database.rows_in(table, sql.format(table), n, *key_of(study)) for table, (n, _) in rows)

    def _read_columns(self, sql: str, study: Study, after: int) -> tuple[TimeColumns, Sequence[Any]]:
        """Return the first five columns of the rows, and the last column separately."""
        rows = self._database.rows_in("act", sql.format(_NEWER if after else _ALL), after, *key_of(study))
        *times, last = list(zip(*rows, strict=True)) if rows else [()] * 6
        return TimeColumns(*times), last
