"""Progress of a study and each of its people: done, pace, expected end, stragglers.

Counts and times, never an answer. The terminal, the screen Progress, the browser page and `study status` all read it
from here. A reader continues from its last row, so that polling every few seconds is cheap.
"""

from __future__ import annotations

import time
from collections.abc import Collection, Mapping, Sequence
from copy import copy
from datetime import UTC, datetime
from statistics import median
from typing import NamedTuple

from msgspec import convert
from msgspec.structs import replace

from annotators.calibration import pilot_line
from annotators.disagreement import disagreement_by_field, disagreement_with_majority, flags_raised
from annotators.study_data import StudyData
from annotators.validation.anchoring import drop_sheets, shown_sheets
from lab.core.codec import storable
from lab.core.errors import LabError
from lab.core.study.label import ActKind
from lab.core.study.rating_sheet import Sheet, clashes_of
from lab.core.study.study import Progress, Study
from lab.core.study.study_progress import (
    NOTHING,
    FieldDisagreement,
    IntervalProgress,
    JudgeProgress,
    ProgressTotal,
    RaterProgress,
    RaterStatus,
    Share,
    Straggle,
    StudyProgress,
    StudyState,
    StudyStatus,
)
from lab.studies.planning.active_dealing import QUEUED
from lab.studies.planning.study_people import REPLACED, people_of
from lab.studies.rating.work_times import Answers, Records, WorkTimes, work_times
from store.store import Store
from store.studies.agreement_labels import FilePosition

QUIET_GAPS, QUIET_HOURS = 3, 24
"""A rater is quiet after this many times their usual gap and at least this many hours."""
OPENED: tuple[ActKind, ...] = ("opened",)
BEHIND, BEHIND_FROM = 0.5, 0.2
"""A rater is behind with less than this share of the others' median, once that median reaches the second number."""


def running_studies(store: Store) -> list[Study]:
    """Return every study that is neither locked nor archived, in its newest version, the newest first."""
    lines = store.studies.lines(archived=False)
    return [store.studies.study(line.id, line.version) for line in lines if not line.locked]


def check_whole(store: Store, what: str) -> None:
    """Raise `LabError` in a kit: its rater must not learn how others do, and it holds a part of the study only."""
    kit = store.kit()
    if kit is not None:
        raise LabError(what, f"this file is a kit of {kit.rater}; a study is watched where all of it is.")


def pilot_sheets(store: Store, study: Study, rater: str = "") -> dict[str, list[Sheet]]:
    """Return each person's sheets of pilot units in their order, with `rater` that person's alone."""
    units = {unit.id: unit for unit in store.studies.units(study) if unit.pilot or unit.gold}
    sheets: dict[str, list[Sheet]] = {}
    for assignment in store.studies.assignments(study, rater or None, stage="pilot"):
        unit = units.get(assignment.unit) or store.studies.unit(study, assignment.unit)
        sheets.setdefault(assignment.rater, []).append(
            store.labels.sheet(study, unit, assignment.rater, assignment.run)
        )
    return sheets


def status_of(store: Store, study: Study) -> StudyStatus:
    """Return a study's status, people in the order of its plan, then replacements."""
    kit, progress = store.kit(), ProgressReader(store).read(study)
    return StudyStatus(
        study.id, study.version, study.title, study.protocol.id, study.protocol.unit, study.units,
        store.studies.locked(study), convert(progress.raters, tuple[RaterStatus, ...], from_attributes=True),
        kit.rater if kit is not None else None, progress.intervals,
    )  # fmt: skip


class _Answered(NamedTuple):
    """Statistics of the answers, by code for a person's."""

    answers: Answers
    apart: dict[str, Share]
    flags: dict[str, int]
    clashes: dict[str, int]
    pilot: dict[str, Share]
    judges: tuple[JudgeProgress, ...]
    fields: tuple[FieldDisagreement, ...]
    intervals: tuple[IntervalProgress, ...]


class _Reading(NamedTuple):
    """State read of a study when its file was at `newest`."""

    newest: FilePosition
    records: Records
    times: dict[str, WorkTimes]
    consents: dict[str, str]
    answered: _Answered


class ProgressReader:
    """Reads the progress of studies repeatedly. Not thread-safe."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._readings: dict[str, _Reading] = {}
        """Readings by the study's hash."""

    def read(self, study: Study, now: float | None = None) -> StudyProgress:
        """Return a study's progress at `now` (seconds since 1970, None for this moment)."""
        now = time.time() if now is None else now
        people = people_of(self._store, study)
        reading = self._read(study, people)
        tallies, departures = self._store.progress.tallies(study), self._store.progress.departures(study)
        raters = [_rater(code, tallies.get(storable(code)), departures, reading, now) for code in people]
        raters = _with_stragglers(raters, reading.times, now)
        findings = reading.answered
        return StudyProgress(
            study.id,
            study.version,
            study.title,
            study.protocol.id,
            study.protocol.unit,
            study.units,
            self._state(study, raters),
            study.bar,
            iso_time(now),
            tuple(raters),
            findings.judges,
            findings.fields,
            _total(raters, reading.times, findings),
            findings.intervals,
        )

    # -- reading ---------------------------------------------------------------------------------------------

    def _read(self, study: Study, people: Sequence[str]) -> _Reading:
        before = self._readings.get(study.sha)
        if before is not None and not self._store.agreement.continues(before.newest):
            # Rows were erased, or another file took this one's place: nothing read before counts.
            before = None
        # Events of played runs are not rows of the study, so `same_since` does not see them.
        plays = study.protocol.unit == "task to play"
        if before is not None and not plays and self._store.progress.same_since(study, before.newest):
            return before
        newest = self._store.agreement.position()
        records = (before.records if before is not None else Records()).read_on(self._store, study)
        same = before is not None and self._store.agreement.same_since(study, before.newest)
        findings = before.answered if before is not None and same else self._answered(study, people)
        times = work_times(people, records, findings.answers)
        reading = _Reading(newest, records, times, _consents(records), findings)
        self._readings[study.sha] = reading
        return reading

    def _answered(self, study: Study, people: Sequence[str]) -> _Answered:
        store = self._store
        columns, times = store.agreement.columns_and_times(study)
        study_data = StudyData(
            study,
            list(store.studies.units(study)),
            columns,
            store.labels.acts_of(study, REPLACED),
            case=lambda run: None,
            other=lambda name: study_data,
        )
        unaided = self._unaided(study_data)
        flags = flags_raised(study_data)
        them = {at: columns.raters[at].id for at in study_data.people}
        return _Answered(
            Answers.from_columns(columns, times),
            {code: disagreement_with_majority(unaided, at) for at, code in them.items()},
            {code: flags[at] for at, code in them.items() if at in flags},
            {code: self._clashes(study_data, code) for code in people} if columns.clashes else {},
            self._pilots(study, study_data),
            self._judges(unaided),
            disagreement_by_field(study_data),
            self._intervals(unaided),
        )

    def _unaided(self, study_data: StudyData) -> StudyData:
        """Return the study without answers given with a judge's in view, for the agreement with the majority."""
        if not study_data.study.prelabel:
            return study_data
        studied_copy = copy(study_data)
        # The copy must not share computed results with the original.
        studied_copy._kept = {}
        prelabel_sheets = shown_sheets(self._store.labels.acts_of(study_data.study, OPENED))
        studied_copy.columns = drop_sheets(study_data.columns, prelabel_sheets)
        return studied_copy

    def _intervals(self, study_data: StudyData) -> tuple[IntervalProgress, ...]:
        """Return the width of judges' corrected intervals against the plan's, if the plan names one."""
        study = study_data.study
        if study.width is None or not study_data.judges:
            return ()
        from annotators.validation.planned_width import interval_progress

        studied_copy = copy(study_data)
        studied_copy.acts = self._store.labels.acts_of(study, (*REPLACED, "adjudicated", *QUEUED))
        return tuple(interval_progress(studied_copy, study.width))

    def _clashes(self, study_data: StudyData, code: str) -> int:
        """Count this person's clashing places that they can settle: not on sheets whose gold they have seen."""
        study, units = study_data.study, {unit.id: unit for unit in study_data.units}
        answers = (label for label in self._store.labels.read(study, rater=code) if label.rater.kind == "human")
        sheets = [(units[heads[0].unit], heads[0].run) for heads in clashes_of(answers).values()]
        return sum(not self._store.labels.sheet(study, unit, code, run).is_final for unit, run in sheets)

    def _pilots(self, study: Study, study_data: StudyData) -> dict[str, Share]:
        if not any(unit.gold for unit in study_data.units):
            return {}
        lines = (pilot_line(code, sheets) for code, sheets in pilot_sheets(self._store, study).items())
        return {line.rater: Share(line.right, line.places) for line in lines}

    def _judges(self, study_data: StudyData) -> tuple[JudgeProgress, ...]:
        if not study_data.judges:
            return ()
        columns = study_data.columns
        costs: dict[tuple[str, str], float] = {}
        for (_, kind, id, _), cost in self._store.agreement.costs(study_data.study).items():
            costs[kind, id] = costs.get((kind, id), 0.0) + cost
        return tuple(
            JudgeProgress(
                one.id,
                one.kind,
                len(set(columns.unit[columns.rater == at].tolist())),
                len(columns.units),
                costs.get((one.kind, one.id)),
                disagreement_with_majority(study_data, at),
            )
            for at in study_data.judges
            for one in (columns.raters[at],)
        )

    def _state(self, study: Study, raters: Sequence[RaterProgress]) -> StudyState:
        if self._store.studies.archived(study):
            return "archived"
        if self._store.studies.locked(study):
            return "locked"
        if not any(one.dealt for one in raters):
            return "not dealt"
        return "running" if any(one.left for one in raters) else "done"


def _consents(records: Records) -> dict[str, str]:
    """Return each person's latest consent, by their code as stored."""
    times, kinds = records.acts
    rows = [at for at, kind in enumerate(kinds) if kind == "consent"]
    return {times.rater[row]: times.at[row] for row in sorted(rows, key=lambda row: times.at[row])}


def _rater(
    code: str, tally: Progress | None, departures: Collection[tuple[str, str]], reading: _Reading, now: float
) -> RaterProgress:
    """Return one person's progress, but for straggling, which depends on the others."""
    name = storable(code)
    tally = tally or Progress(code, 0, 0, 0)
    times, findings = reading.times[code], reading.answered
    replaced, withdrawn = (name, "replaced") in departures, (name, "withdrawn") in departures
    remaining = 0 if replaced or withdrawn else tally.dealt - tally.done
    return RaterProgress(
        code,
        tally.dealt,
        tally.done,
        remaining,
        tally.begun,
        times.pace,
        times.worked,
        remaining * times.pace if times.pace is not None and remaining else None,
        None if tally.held else _iso(times.finish(remaining, now)),
        _iso(times.seen),
        reading.consents.get(name),
        findings.pilot.get(code, NOTHING),
        tally.held,
        replaced,
        withdrawn,
        (),
        findings.flags.get(code, 0),
        times.returned,
        findings.clashes.get(code, 0),
        findings.apart.get(code, NOTHING),
    )


# -- who straggles -----------------------------------------------------------------------------------------------


def _with_stragglers(
    raters: Sequence[RaterProgress], times: Mapping[str, WorkTimes], now: float
) -> list[RaterProgress]:
    """Return the people with "quiet" and "behind" marked, except those who are held or have nothing left."""
    gaps = {progress.rater: gap for progress in raters if (gap := times[progress.rater].usual_gap) is not None}
    marked_raters = []
    for progress in raters:
        straggler: list[Straggle] = []
        if progress.left and not progress.held:
            last_seen = times[progress.rater].seen
            if last_seen is not None and _quiet(now - last_seen, gaps.get(progress.rater), gaps):
                straggler.append("quiet")
            if _behind(progress, raters):
                straggler.append("behind")
        marked_raters.append(replace(progress, straggler=tuple(straggler)))
    return marked_raters


def _quiet(away: float, usual: float | None, gaps: Mapping[str, float]) -> bool:
    """Return True if a person is away longer than usual for them, or for the others after too few sittings."""
    if usual is None and gaps:
        usual = median(gaps.values())
    return usual is not None and away > max(QUIET_GAPS * usual, QUIET_HOURS * 3600)


def _behind(one: RaterProgress, raters: Sequence[RaterProgress]) -> bool:
    others = [
        other.done / other.dealt
        for other in raters
        if other.rater != one.rater and other.dealt and not other.replaced and not other.withdrawn
    ]
    if len(others) < 2:
        return False
    usual = median(others)
    return usual >= BEHIND_FROM and one.done / one.dealt < BEHIND * usual


# -- all together ------------------------------------------------------------------------------------------------


def _total(raters: Sequence[RaterProgress], times: Mapping[str, WorkTimes], findings: _Answered) -> ProgressTotal:
    items = [seconds for one in times.values() for seconds in one.items]
    pace = median(items) if items else None
    busy = [one for one in raters if one.left]
    ends = [one.until for one in busy]
    costs = [one.cost for one in findings.judges if one.cost is not None]
    return ProgressTotal(
        sum(not one.replaced and not one.withdrawn for one in raters),
        # A leaver's open units are dealt to their replacement and count there.
        sum(one.done + one.left for one in raters),
        sum(one.done for one in raters),
        sum(one.left for one in raters),
        pace,
        None if pace is None or not busy else sum(one.left * (one.pace or pace) for one in busy),
        None if None in ends else max((end for end in ends if end), default=None),
        max((one.seen for one in raters if one.seen), default=None),
        sum((one.pilot for one in raters), NOTHING),
        sum(one.held for one in raters),
        sum(bool(one.straggler) for one in raters),
        sum(one.flags for one in raters),
        sum(one.returned for one in raters),
        sum(one.clashes for one in raters),
        sum((one.answered for one in findings.fields), NOTHING),
        sum(costs) if costs else None,
    )


def iso_time(at: float) -> str:
    """Format seconds since 1970 as stored times are (UTC)."""
    return datetime.fromtimestamp(at, UTC).isoformat(timespec="microseconds")


def _iso(at: float | None) -> str | None:
    return None if at is None else iso_time(at)
