"""Attendance of a rater: the open session, progress, and times of work and absence."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

from textual.message_pump import MessagePump

from lab.core.run.screen_clock import Clock
from lab.core.study.label import ActKind
from lab.core.study.study import Assignment
from lab.studies.rating.rating_pace import REST, Pace
from lab.studies.rating.rating_session import RatingSession
from screens.annotate.sheet_text import TitleCounts
from screens.lab import try_report

if TYPE_CHECKING:
    from store.store import Store


class StudyAttendance:
    """Attendance from opening a study to leaving it.

    A failed write becomes a notification of `owner`, and work continues.
    """

    def __init__(self, owner: MessagePump, store: Store, clock: Clock) -> None:
        self._owner = owner
        self._store = store
        self._clock = clock
        self.session: RatingSession | None = None
        self.pace = Pace(clock)
        self.progress = TitleCounts(0, 0, 0, 0)
        self.unsettled: list[Assignment] = []
        """Units that were handed in with two answers at one place. They come first."""

    def begin(self, session: RatingSession) -> None:
        """Begin attendance at a study."""
        self.session, self.pace = session, Pace(self._clock)
        study, person = session.study, session.person.id
        clashing = self._store.labels.clashing_assignments(study, person)
        # A rater held after the pilot may settle only pilot units.
        held = self._store.studies.is_held(study, person)
        self.unsettled = [assignment for assignment in clashing if not held or assignment.stage == "pilot"]
        self._read_progress(session)
        self.record_act("sat")

    def end(self) -> None:
        """End attendance."""
        self.record_act("rose", {"seconds": round(self.pace.worked, 1), "away": round(self.pace.seconds_away, 1)})
        self.session = None

    def record_act(self, kind: ActKind, detail: dict[str, object] | None = None) -> None:
        """Store an act at the study."""
        if self.session is not None:
            session = self.session
            try_report(self._owner, lambda: session.act(kind, detail=detail))

    def refresh_progress(self) -> None:
        """Count the handed-in units again, since another window of this rater may hand in, too."""
        if self.session is not None:
            session = self.session
            try_report(self._owner, lambda: self._read_progress(session))

    def _read_progress(self, session: RatingSession) -> None:
        study, person = session.study, session.person.id
        progress = self._store.studies.progress(study, person)
        today = self._store.studies.handed_in_since(study, person, _midnight())
        self.progress = TitleCounts(progress.done + 1, progress.dealt, progress.done, today)

    def record_absences(self) -> None:
        """Store the absences that ended."""
        for seconds in self.pace.take_absences():
            self.record_act("break" if seconds >= REST else "idle", {"seconds": round(seconds, 1)})

    @property
    def break_due(self) -> int:
        """Minutes of work after which this study asks for a break, if one is due, else 0."""
        minutes = self.session.study.rest_minutes if self.session is not None else 0
        return minutes if minutes and self.pace.since_rest >= minutes * 60 else 0


def _midnight() -> str:
    """Return the start of today in the rater's time zone, as UTC."""
    midnight = datetime.now().astimezone().replace(hour=0, minute=0, second=0, microsecond=0)
    return midnight.astimezone(UTC).isoformat()
