"""A rater at a study: the session that is open, how far they are in it, and the times at it and away."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

from textual.message_pump import MessagePump

from lab.core.label import ActKind
from lab.core.screen_clock import Clock
from lab.core.study import Assignment
from lab.studies.rating_pace import REST, Pace
from lab.studies.rating_session import RatingSession
from screens.annotate.sheet_text import RaterProgress
from screens.lab import tried

if TYPE_CHECKING:
    from store.store import Store


class Attendance:
    """From when a study is opened until it is left. What cannot be kept is a sentence at `owner`, and work goes on."""

    def __init__(self, owner: MessagePump, store: Store, clock: Clock) -> None:
        self._owner = owner
        self._store = store
        self._clock = clock
        self.session: RatingSession | None = None
        self.pace = Pace(clock)
        self.progress = RaterProgress(0, 0, 0, 0)
        self.unsettled: list[Assignment] = []
        """Units that are handed in and hold two answers at one place; they come first."""

    def begin(self, session: RatingSession) -> None:
        """The rater begins at a study."""
        self.session, self.pace = session, Pace(self._clock)
        study, person = session.study, session.person.id
        clashing = self._store.labels.to_settle(study, person)
        held = self._store.studies.is_held(study, person)
        self.unsettled = [assignment for assignment in clashing if not held or assignment.stage == "pilot"]
        self._read_progress(session)
        self.act("sat")

    def end(self) -> None:
        """The rater leaves it."""
        self.act("rose", {"seconds": round(self.pace.worked, 1), "away": round(self.pace.away, 1)})
        self.session = None

    def act(self, kind: ActKind, detail: dict[str, object] | None = None) -> None:
        """Keeps something that was done at the study."""
        if self.session is not None:
            session = self.session
            tried(self._owner, lambda: session.act(kind, detail=detail))

    def count(self) -> None:
        """Counts anew what is handed in: another window of this rater hands in, too."""
        if self.session is not None:
            session = self.session
            tried(self._owner, lambda: self._read_progress(session))

    def _read_progress(self, session: RatingSession) -> None:
        study, person = session.study, session.person.id
        progress = self._store.studies.progress(study, person)
        today = self._store.studies.handed_in_since(study, person, _midnight())
        self.progress = RaterProgress(progress.done + 1, progress.dealt, progress.done, today)

    def keep_absences(self) -> None:
        """Keeps the times away that ended."""
        for seconds in self.pace.ended():
            self.act("break" if seconds >= REST else "idle", {"seconds": round(seconds, 1)})

    @property
    def break_due(self) -> int:
        """After how many minutes of work this study asks for a break, where that is due; else 0."""
        minutes = self.session.study.rest_minutes if self.session is not None else 0
        return minutes if minutes and self.pace.since_rest >= minutes * 60 else 0


def _midnight() -> str:
    """When today began where the rater is, in UTC."""
    midnight = datetime.now().astimezone().replace(hour=0, minute=0, second=0, microsecond=0)
    return midnight.astimezone(UTC).isoformat()
