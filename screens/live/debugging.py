"""What a developer does to a live run: sets its breakpoints, and goes back in it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

from textual.message import Message
from textual.screen import Screen

from lab.core.trace import Step
from lab.runs.descriptions import action_words
from lab.runs.session import Session
from lab.studies.seats import may_debug
from screens.live.developer import DeveloperPane
from screens.live.session_messages import Watch


class Debugging:
    """Opens the lists of a developer's bench in a live run, and rewinds the run; `room` hears what became of it."""

    @dataclass
    class Rewound(Message):
        """The run was ended, and this one goes on from before one of its steps."""

        session: Session

    def __init__(self, room: Screen[None], session: Session, bench: DeveloperPane | None, watch: Watch) -> None:
        self._room = room
        self._session = session
        self._bench = bench
        self._watch = watch
        self.steps: list[str] = []
        """The steps so far, in words."""

    def add(self, step: Step) -> None:
        """Takes in a step that was done."""
        self.steps.append(action_words(step.action or step.proposed.action, step.before.tree))

    @property
    def breaks(self) -> bool:
        """Whether breakpoints can be set here."""
        return may_debug(self._session.spec.seat) and not self._session.over

    @property
    def rewinds(self) -> bool:
        """Whether there is a step to go back to."""
        return self.breaks and bool(self.steps)

    def open_breaks(self) -> None:
        """Lists where the run is to stand still."""
        if self._bench is not None:
            self._bench.open_breaks()

    def open_rewind(self) -> None:
        """Lists the steps before which the run can go back."""
        if self._bench is not None:
            self._bench.open_rewind(self.steps)

    def rewind(self, index: int) -> None:
        """Goes back to before a step (from 0), as a new run; where it cannot be done, the run goes on."""
        self._watch.do(partial(self._rewind, index))

    def _rewind(self, index: int) -> None:
        from lab.runs.fork import rewound

        session = rewound(self._session, index)
        session.begins_paused = "rewound"
        self._room.post_message(self.Rewound(session))
