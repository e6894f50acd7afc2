"""A developer's tools in a live run: breakpoints and rewinding."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

from textual.message import Message
from textual.screen import Screen

from lab.core.run.trace import Step
from lab.runs.descriptions import action_words
from lab.runs.session import Session
from lab.studies.seats import may_debug
from screens.live.developer import DeveloperPane
from screens.live.session_messages import SessionListener


class Debugging:
    """Breakpoints and rewinding of a live run. `room` receives `Rewound`."""

    @dataclass
    class Rewound(Message):
        """Message: the run ended, and this session continues from before one of its steps."""

        session: Session

    def __init__(
        self, room: Screen[None], session: Session, bench: DeveloperPane | None, watch: SessionListener
    ) -> None:
        self._room = room
        self._session = session
        self._bench = bench
        self._watch = watch
        self.steps: list[str] = []
        """Descriptions of the steps so far."""

    def add(self, step: Step) -> None:
        """Record a step."""
        self.steps.append(action_words(step.action or step.proposed.action, step.before.tree))

    @property
    def breaks(self) -> bool:
        """True if breakpoints can be set: the seat may debug, and the run is not over."""
        return may_debug(self._session.spec.seat) and not self._session.over

    @property
    def rewinds(self) -> bool:
        """True if the run can be rewound, that is, has a step."""
        return self.breaks and bool(self.steps)

    def open_breaks(self) -> None:
        """Show the list of breakpoints."""
        if self._bench is not None:
            self._bench.open_breaks()

    def open_rewind(self) -> None:
        """Show the list of steps to rewind to."""
        if self._bench is not None:
            self._bench.open_rewind(self.steps)

    def rewind(self, index: int) -> None:
        """Rewind to before a step (from 0), as a new run. If that fails, this run continues."""
        self._watch.do(partial(self._rewind, index))

    def _rewind(self, index: int) -> None:
        from lab.runs.fork.fork import rewind_run

        session = rewind_run(self._session, index)
        session.begins_paused = "rewound"
        self._room.post_message(self.Rewound(session))
