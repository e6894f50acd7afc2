"""Time that people worked on a study and on each item, from the times of their acts and answers.

The rules are those of `lab.studies.rating.rating_pace` on the screen: a long silence is not work. Absences that the
screen measured are subtracted exactly. Elsewhere a gap of `PAUSE` or more counts as away.
"""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from lab.core.codec import storable
from lab.core.study.label_columns import AnswerTimes, Columns
from lab.core.study.study import Study
from store.file.times import milliseconds
from store.store import Store
from store.studies.progress_rows import Absences, RaterActs, TimeColumns

PAUSE = 300.0
"""Seconds without an act or answer that count as an absence."""
SITTING = 3600.0
"""Seconds without an act or answer that separate two sittings."""
RHYTHM = 7 * 86_400.0
"""Seconds before now that count as a person's current rhythm."""
LEAST_APART = 20 * 3600.0
"""Minimum seconds between the first and last hand-in of the rhythm: less is one sitting, not a rhythm."""

Floats = npt.NDArray[np.float64]
Longs = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]


class WorkTimes(NamedTuple):
    """One person's work times. Points in time are seconds since 1970.

    `worked` is the total seconds of work, `items` the seconds on each item handed in that was on a screen, in no order.
    `handed` holds the time of each hand-in. `seen` is the last act, None if there is none. `gaps` are the seconds
    between two sittings. `returned` counts items reopened and not handed in again.
    """

    worked: float = 0.0
    items: tuple[float, ...] = ()
    handed: tuple[float, ...] = ()
    seen: float | None = None
    gaps: tuple[float, ...] = ()
    returned: int = 0

    @property
    def pace(self) -> float | None:
        """Median seconds of work on an item, None before the first."""
        return median(self.items) if self.items else None

    @property
    def usual_gap(self) -> float | None:
        """Median seconds between two sittings, None with fewer than three sittings."""
        return median(self.gaps) if len(self.gaps) > 1 else None

    def finish(self, item_count: int, now: float) -> float | None:
        """Estimate when `item_count` items are handed in at the rhythm of the last seven days, None if unknown.

        Nights and days off count, since they recur. So does the time since the last item.
        """
        recent = [at for at in self.handed if now - RHYTHM < at <= now]
        if not item_count or not recent or max(recent) - min(recent) < LEAST_APART:
            return None
        whole = now - min(self.handed) >= RHYTHM
        return now + item_count * (RHYTHM if whole else now - min(recent)) / len(recent)


class Records(NamedTuple):
    """Rows of a study read so far. `steps` are those of the runs that people played."""

    acts: RaterActs = RaterActs()
    absences: Absences = Absences()
    steps: TimeColumns = TimeColumns()

    def read_on(self, store: Store, study: Study) -> Records:
        """Return these records extended by the rows that arrived since."""
        rows = store.progress
        acts = rows.acts(study, self.acts.times.last_row)
        absences = rows.absences(study, self.absences.times.last_row)
        plays = study.protocol.unit == "task to play"
        return Records(
            RaterActs(self.acts.times.followed_by(acts.times), [*self.acts.act, *acts.act]),
            Absences(self.absences.times.followed_by(absences.times), [*self.absences.seconds, *absences.seconds]),
            rows.steps(study) if plays else TimeColumns(),
        )


class Answers(NamedTuple):
    """Times of answers, with the rater (empty for a model or script) and unit of each index."""

    times: AnswerTimes
    people: Sequence[str]
    units: Sequence[str]

    @classmethod
    def from_columns(cls, columns: Columns, times: AnswerTimes) -> Answers:
        return cls(times, [one.id if one.kind == "human" else "" for one in columns.raters], columns.units)


def work_times(people: Sequence[str], records: Records, answers: Answers) -> dict[str, WorkTimes]:
    """Return the times of each of these people by code. Others' rows are ignored."""
    return _WorkTimes(people, records, answers).all()


class _Events(NamedTuple):
    """Events as columns: person, sheet, time, and the seconds away before each.

    The person is an index, -1 for anybody else. The sheet is -1 if there is none.
    """

    rater: Longs
    sheet: Longs
    at: Floats
    away: Floats

    def where(self, selection: Any) -> _Events:
        """Return the events of a mask or in the order of indices."""
        return _Events(*(column[selection] for column in self))


class _WorkTimes:
    """Computes all people's times at once in arrays: fifty people hand in ten thousand items."""

    def __init__(self, people: Sequence[str], records: Records, answers: Answers) -> None:
        self._people = tuple(people)
        self._raters = _Numbers({storable(code): at for at, code in enumerate(people)})
        self._units = _Numbers({storable(unit): at for at, unit in enumerate(answers.units)})
        self._records = records
        self._answers = answers

    def all(self) -> dict[str, WorkTimes]:
        acts = self._records.acts
        kind = np.array([_KINDS.get(act, 0) for act in acts.act], dtype=np.int64)
        act_events, answers, step_events = (
            self._events_of(acts.times),
            self._answer_events(),
            self._events_of(self._records.steps),
        )
        showings = answers._replace(at=self._answers.times.shown)
        away = answers._replace(away=self._answers.times.away)
        items = _items(_join_events(act_events.where(kind > 0), showings, away, step_events))
        shown = np.isin(items[0], _join_events(act_events.where(kind == _AT_IT), showings, step_events).sheet)
        hand_ins = _handed_in(act_events, kind, np.array(acts.times.n, dtype=np.int64))
        whole = _join_events(act_events, answers, step_events)
        whole = whole.where(np.lexsort((whole.at, whole.rater)))
        seconds = _work(whole.rater, whole.at, self._seconds_away(whole))
        return {
            code: self._person_times(
                whole.where(whole.rater == at),
                float(seconds[whole.rater == at].sum()),
                at,
                hand_ins,
                (items[0][shown], items[1][shown]),
            )
            for at, code in enumerate(self._people)
        }

    def _person_times(
        self, mine: _Events, worked: float, at: int, hand_ins: tuple[_Events, Mask], items: tuple[Longs, Floats]
    ) -> WorkTimes:
        """Return one person's times from their events in order. `items` are the shown sheets and the seconds on each.

        Imported answers were on no screen: the time they took is unknown.
        """
        last, stands = hand_ins
        theirs = last.rater == at
        sheets = last.sheet[theirs & stands]
        between = np.diff(mine.at)
        return WorkTimes(
            worked,
            tuple(items[1][np.isin(items[0], sheets)].tolist()),
            tuple(last.at[theirs & stands].tolist()),
            float(mine.at[-1]) if len(mine.at) else None,
            tuple(between[between >= SITTING].tolist()),
            int((theirs & ~stands).sum()),
        )

    def _events_of(self, times: TimeColumns) -> _Events:
        rater = np.array([*map(self._raters.__getitem__, times.rater)], dtype=np.int64)
        unit = np.array([*map(self._units.__getitem__, times.unit)], dtype=np.int64)
        return self._events(rater, unit, np.array(times.run, dtype=np.int64), _seconds(times.at))

    def _answer_events(self) -> _Events:
        times, codes, _ = self._answers
        raters = np.array([self._raters[storable(code)] for code in codes], dtype=np.int64)
        rater = raters[times.rater] if len(raters) else times.rater.astype(np.int64)
        return self._events(rater, times.unit.astype(np.int64), times.run.astype(np.int64), times.at)

    def _events(self, rater: Longs, unit: Longs, run: Longs, at: Floats) -> _Events:
        # One integer for each sheet (rater, unit, run), so that numpy can sort and group by it.
        sheet = (rater * len(self._units) + unit) << 32 | run
        return _Events(rater, np.where((rater >= 0) & (unit >= 0), sheet, -1), at, np.zeros(len(at)))

    def _seconds_away(self, events: _Events) -> Floats:
        """Return the seconds away before each event. An absence belongs to the gap that holds its middle."""
        times, lengths = self._records.absences
        whose = np.array([self._raters[rater] for rater in times.rater], dtype=np.int64)
        seconds = np.array(lengths, dtype=np.float64)
        middle = _seconds(times.at) - seconds / 2
        usable = (whose >= 0) & np.isfinite(middle)
        after = np.searchsorted(_in_a_row(events.rater, events.at), _in_a_row(whose[usable], middle[usable]))
        there = after < len(events.at)
        return np.bincount(after[there], seconds[usable][there], minlength=len(events.at)).astype(np.float64)


_HANDED_IN, _TAKEN_BACK, _AT_IT = 1, 2, 3
_KINDS = {
    "commit": _HANDED_IN, "reopen": _TAKEN_BACK,
    **dict.fromkeys(("opened", "looked", "picture", "guide"), _AT_IT),
}  # fmt: skip
"""Acts that prove that somebody worked on an item."""


class _Numbers(dict[str, int]):
    """Index of each name, -1 for an unknown one."""

    def __missing__(self, name: str) -> int:
        return -1


def _items(events: _Events) -> tuple[Longs, Floats]:
    """Return the sheets with events in order, and the seconds of work on each."""
    sheet_events = events.where(events.sheet >= 0)
    sheet_events = sheet_events.where(np.lexsort((sheet_events.at, sheet_events.sheet)))
    sheets, which = np.unique(sheet_events.sheet, return_inverse=True)
    seconds = np.bincount(which, _work(sheet_events.sheet, sheet_events.at, sheet_events.away), minlength=len(sheets))
    return sheets, seconds.astype(np.float64)


def _handed_in(act_events: _Events, kind: Longs, n: Longs) -> tuple[_Events, Mask]:
    """Return each sheet's last hand-in or reopening, and True for a hand-in.

    Acts are ordered by time, not by row, since a kit's acts enter the file late.
    """
    rows = np.flatnonzero(
        np.isin(kind, (_HANDED_IN, _TAKEN_BACK)) & (act_events.sheet >= 0) & np.isfinite(act_events.at)
    )
    rows = rows[np.lexsort((n[rows], act_events.at[rows], act_events.sheet[rows]))]
    sheet = act_events.sheet[rows]
    rows = rows[np.r_[sheet[1:] != sheet[:-1], True]] if len(rows) else rows
    return act_events.where(rows), kind[rows] == _HANDED_IN


def _seconds(times: Sequence[str]) -> Floats:
    """Return times as seconds since 1970, nan for a missing one."""
    return milliseconds([*times]) / 1000


def _in_a_row(rater: Longs, at: Floats) -> Floats:
    """Return sort keys that order by person, then by time."""
    # 1e11 seconds are about 3,000 years, more than any time since 1970.
    return rater * 1e11 + at


def _join_events(*parts: _Events) -> _Events:
    """Return the events whose person and time are known."""
    events = _Events(*(np.concatenate(column) for column in zip(*parts, strict=True)))
    return events.where((events.rater >= 0) & np.isfinite(events.at))


def _work(whose: Longs, at: Floats, away: Floats) -> Floats:
    """Return the seconds of work that each event ends, of events in order. A person's first has 0."""
    if not len(at):
        return at
    gap = np.r_[0.0, np.diff(at)]
    same = np.r_[False, whose[1:] == whose[:-1]]
    return np.where(same & (gap < PAUSE), np.maximum(gap - away, 0.0), 0.0)
