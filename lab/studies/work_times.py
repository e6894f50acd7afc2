"""How long people were at work on a study and on each item of theirs, by what they did and when.

The rows tell it as `lab.studies.rating_pace` told it on the screen: a long silence is no work. Where the screen
measured a time away, it is left out exactly; where it did not, what lies `PAUSE` or more apart is.
"""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from lab.core.codec import storable
from lab.core.label_columns import AnswerTimes, Columns
from lab.core.study import Study
from store.progress_rows import Absences, RaterActs, TimeColumns
from store.store import Store
from store.times import milliseconds

PAUSE = 300.0
"""Seconds without any act or answer from which on somebody is taken to have been away."""
SITTING = 3600.0
"""Seconds without any from which on what comes next is another sitting."""
RHYTHM = 7 * 86_400.0
"""Seconds back from now that say how somebody works these days."""
LEAST_APART = 20 * 3600.0
"""Seconds between the first and the last item handed in within these: with less there was one sitting, no rhythm."""

Floats = npt.NDArray[np.float64]
Longs = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]


class WorkTimes(NamedTuple):
    """When one person was at work. Times are seconds since 1970.

    `worked` are the seconds of work in all, `items` those on each item that is handed in and was on a screen, in no
    order; `handed` is when each that is handed in was. `seen` is when they did anything last, None where they never
    did; `gaps` are the seconds between two of their sittings. `returned` items were handed in, taken back, and not
    handed in again.
    """

    worked: float = 0.0
    items: tuple[float, ...] = ()
    handed: tuple[float, ...] = ()
    seen: float | None = None
    gaps: tuple[float, ...] = ()
    returned: int = 0

    @property
    def pace(self) -> float | None:
        """The median seconds of work that an item takes; None before the first."""
        return median(self.items) if self.items else None

    @property
    def usual_gap(self) -> float | None:
        """The median seconds between two sittings; None where there were fewer than three sittings."""
        return median(self.gaps) if len(self.gaps) > 1 else None

    def finish(self, item_count: int, now: float) -> float | None:
        """When `item_count` items will be handed in, if it goes on as in the last seven days; None where nothing tells.

        Nights and days off count, for they come again; so does the time since the last item.
        """
        recent = [at for at in self.handed if now - RHYTHM < at <= now]
        if not item_count or not recent or max(recent) - min(recent) < LEAST_APART:
            return None
        whole = now - min(self.handed) >= RHYTHM
        return now + item_count * (RHYTHM if whole else now - min(recent)) / len(recent)


class Records(NamedTuple):
    """What came into the file of what people did at a study so far; `steps` are those of the runs that they played."""

    acts: RaterActs = RaterActs()
    absences: Absences = Absences()
    steps: TimeColumns = TimeColumns()

    def read_on(self, store: Store, study: Study) -> Records:
        """These, and what came in since."""
        rows = store.progress
        acts = rows.acts(study, self.acts.times.last)
        absences = rows.absences(study, self.absences.times.last)
        plays = study.protocol.unit == "task to play"
        return Records(
            RaterActs(self.acts.times.and_then(acts.times), [*self.acts.act, *acts.act]),
            Absences(self.absences.times.and_then(absences.times), [*self.absences.seconds, *absences.seconds]),
            rows.steps(study) if plays else TimeColumns(),
        )


class Answers(NamedTuple):
    """When people answered, with the names that the numbers stand for: of raters (of a model or script none), units."""

    times: AnswerTimes
    people: Sequence[str]
    units: Sequence[str]

    @classmethod
    def of(cls, columns: Columns, times: AnswerTimes) -> Answers:
        return cls(times, [one.id if one.kind == "human" else "" for one in columns.raters], columns.units)


def work_times(people: Sequence[str], records: Records, answers: Answers) -> dict[str, WorkTimes]:
    """The times of each of these people, by code; what others did is passed over."""
    return _WorkTimes(people, records, answers).all()


class _Events(NamedTuple):
    """Things that happened, a row of each array each: whose, on which sheet, when, and the seconds away before it.

    Whose is an index of the people, -1 of anybody else; the sheet is -1 where it is none.
    """

    rater: Longs
    sheet: Longs
    at: Floats
    away: Floats

    def where(self, selection: Any) -> _Events:
        """Those of a mask, or in the order of indices."""
        return _Events(*(column[selection] for column in self))


class _WorkTimes:
    """Everybody's times, computed at once in arrays: fifty people hand in ten thousand items."""

    def __init__(self, people: Sequence[str], records: Records, answers: Answers) -> None:
        self._people = tuple(people)
        self._raters = _Numbers({storable(code): at for at, code in enumerate(people)})
        self._units = _Numbers({storable(unit): at for at, unit in enumerate(answers.units)})
        self._records = records
        self._answers = answers

    def all(self) -> dict[str, WorkTimes]:
        acts = self._records.acts
        kind = np.array([_KINDS.get(act, 0) for act in acts.act], dtype=np.int64)
        act_events, answers, step_events = self._of(acts.times), self._given(), self._of(self._records.steps)
        showings = answers._replace(at=self._answers.times.shown)
        away = answers._replace(away=self._answers.times.away)
        items = _items(_joined(act_events.where(kind > 0), showings, away, step_events))
        shown = np.isin(items[0], _joined(act_events.where(kind == _AT_IT), showings, step_events).sheet)
        hand_ins = _handed_in(act_events, kind, np.array(acts.times.n, dtype=np.int64))
        whole = _joined(act_events, answers, step_events)
        whole = whole.where(np.lexsort((whole.at, whole.rater)))
        seconds = _work(whole.rater, whole.at, self._away(whole))
        return {
            code: self._one(
                whole.where(whole.rater == at),
                float(seconds[whole.rater == at].sum()),
                at,
                hand_ins,
                (items[0][shown], items[1][shown]),
            )
            for at, code in enumerate(self._people)
        }

    def _one(
        self, mine: _Events, worked: float, at: int, hand_ins: tuple[_Events, Mask], items: tuple[Longs, Floats]
    ) -> WorkTimes:
        """One person's times, of what they did in order; `items` are sheets that were shown and the seconds on each.

        Answers that came by a file were on no screen: how long they took nobody knows.
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

    def _of(self, times: TimeColumns) -> _Events:
        rater = np.array([*map(self._raters.__getitem__, times.rater)], dtype=np.int64)
        unit = np.array([*map(self._units.__getitem__, times.unit)], dtype=np.int64)
        return self._events(rater, unit, np.array(times.run, dtype=np.int64), _seconds(times.at))

    def _given(self) -> _Events:
        times, codes, _ = self._answers
        raters = np.array([self._raters[storable(code)] for code in codes], dtype=np.int64)
        rater = raters[times.rater] if len(raters) else times.rater.astype(np.int64)
        return self._events(rater, times.unit.astype(np.int64), times.run.astype(np.int64), times.at)

    def _events(self, rater: Longs, unit: Longs, run: Longs, at: Floats) -> _Events:
        sheet = (rater * len(self._units) + unit) << 32 | run
        return _Events(rater, np.where((rater >= 0) & (unit >= 0), sheet, -1), at, np.zeros(len(at)))

    def _away(self, events: _Events) -> Floats:
        """The seconds away before each of these events, which are in order: between those around its middle."""
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
"""Acts that say that somebody was at an item."""


class _Numbers(dict[str, int]):
    """Names as numbers; any other is -1."""

    def __missing__(self, name: str) -> int:
        return -1


def _items(events: _Events) -> tuple[Longs, Floats]:
    """The sheets that anything happened on, in their order, and the seconds of work on each."""
    sheet_events = events.where(events.sheet >= 0)
    sheet_events = sheet_events.where(np.lexsort((sheet_events.at, sheet_events.sheet)))
    sheets, which = np.unique(sheet_events.sheet, return_inverse=True)
    seconds = np.bincount(which, _work(sheet_events.sheet, sheet_events.at, sheet_events.away), minlength=len(sheets))
    return sheets, seconds.astype(np.float64)


def _handed_in(act_events: _Events, kind: Longs, n: Longs) -> tuple[_Events, Mask]:
    """The last act by which each sheet was handed in or taken back, and which it was: by its time, for a kit's come
    into the file late."""
    rows = np.flatnonzero(
        np.isin(kind, (_HANDED_IN, _TAKEN_BACK)) & (act_events.sheet >= 0) & np.isfinite(act_events.at)
    )
    rows = rows[np.lexsort((n[rows], act_events.at[rows], act_events.sheet[rows]))]
    sheet = act_events.sheet[rows]
    rows = rows[np.r_[sheet[1:] != sheet[:-1], True]] if len(rows) else rows
    return act_events.where(rows), kind[rows] == _HANDED_IN


def _seconds(times: Sequence[str]) -> Floats:
    """Times as seconds since 1970, nan where there is none."""
    return milliseconds([*times]) / 1000


def _in_a_row(rater: Longs, at: Floats) -> Floats:
    """People's times as numbers that order people first."""
    return rater * 1e11 + at


def _joined(*parts: _Events) -> _Events:
    """Those whose person and time are known."""
    events = _Events(*(np.concatenate(column) for column in zip(*parts, strict=True)))
    return events.where((events.rater >= 0) & np.isfinite(events.at))


def _work(whose: Longs, at: Floats, away: Floats) -> Floats:
    """The seconds of work that each event ends, of events in order; the first of each has none."""
    if not len(at):
        return at
    gap = np.r_[0.0, np.diff(at)]
    same = np.r_[False, whose[1:] == whose[:-1]]
    return np.where(same & (gap < PAUSE), np.maximum(gap - away, 0.0), 0.0)
