"""What a developer's keys do to a live run: its breakpoints, and going back in it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, ClassVar, cast

from textual import on
from textual.binding import Binding, BindingType
from textual.message import Message

from lab.session import Session
from lab.trace import Step
from screens.describe import action_words
from screens.live.debug import RewindPanel
from screens.live.room import Room
from screens.live.watch import Watch
from screens.seats import may_debug

if TYPE_CHECKING:
    from screens.app import LabApp

DEBUG = Binding.Group("Debug", compact=True)


class DebugRoom(Room):
    """A room in which a developer sets breakpoints and rewinds."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("b", "breaks", "Breakpoints", show=False, group=DEBUG, id="run.breaks",
                tooltip="Where the run is to stand still"),
        Binding("r", "rewind", "Rewind", show=False, group=DEBUG, id="run.rewind",
                tooltip="Go back to before a step, as a new run"),
    ]  # fmt: skip

    @dataclass
    class Rewound(Message):
        """The run was ended, and this one goes on from before one of its steps."""

        session: Session

    _watch: Watch
    _done: list[str]
    """The steps so far, in words."""

    def _did(self, step: Step) -> None:
        self._done.append(action_words(step.action or step.proposed.action, step.before.tree))

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action in ("breaks", "rewind"):
            mine = may_debug(self.session.spec.seat) and not self.session.over
            return mine and (action == "breaks" or bool(self._done))
        return True

    def action_breaks(self) -> None:
        if self._bench is not None:
            self._bench.open_breaks()

    def action_rewind(self) -> None:
        if self._bench is not None:
            self._bench.open_rewind(self._done)

    @on(RewindPanel.Wanted)
    def _wanted(self, message: RewindPanel.Wanted) -> None:
        message.stop()
        self._watch.do(partial(self._rewind, message.index))

    def _rewind(self, index: int) -> None:
        """Off the UI thread; where it cannot be done, the run goes on."""
        from lab.fork import rewound

        self.post_message(self.Rewound(rewound(self.session, index)))

    @on(Rewound)
    def _rewound(self, message: Rewound) -> None:
        message.stop()
        cast("LabApp", self.app).enter_live(message.session)
