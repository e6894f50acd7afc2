"""What a developer's keys do in a replay: fork the run at the step shown, and see the family it belongs to."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, cast

from textual import on, work
from textual.binding import Binding, BindingType
from textual.screen import Screen

from lab.errors import LabError
from lab.session import Session
from lab.settings import Settings
from lab.trace import Ended
from screens.family import FamilyScreen
from screens.lines import Lines
from screens.phone.mirror import Mirror
from screens.phone.touch import marks_of
from screens.replay.forking import ForkPanel
from screens.replay.projector import Projector
from screens.replay.reel import Head, View
from screens.replay.still import Still
from screens.seats import may_debug

if TYPE_CHECKING:
    from screens.app import LabApp

DEBUG = Binding.Group("Debug", compact=True)


class DebugReplay(Screen[None]):
    """A replay that can be gone on from."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("f", "fork", "Fork", show=False, group=DEBUG, id="replay.fork",
                tooltip="Go on from this step in another way, as a new run"),
        Binding("t", "family", "Family", show=False, group=DEBUG, id="replay.family",
                tooltip="The runs that were forked from one another"),
    ]  # fmt: skip

    _head: Head | None
    _view: View | None
    _projector: Projector

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action in ("fork", "family"):
            return may_debug(_settings(self).seat)
        return True

    @property
    def _fork(self) -> ForkPanel:
        return self.query_one(ForkPanel)

    def action_fork(self) -> None:
        """Asks what is to be other at the step shown."""
        if self._head is None or self._view is None or self._projector.reel is None:
            return
        started, event = self._head.started, self._view.event
        if started.source is not None or started.state is None:
            raise LabError("Fork", "this run was not made on the embedded phone.", "Runs made here can be forked.")
        if isinstance(event, Ended):
            raise LabError("Fork", "the run was over here.", "Go to one of its steps first.")
        self.add_class("-forking")
        self.query_one(Still).mirror.interactive = True
        self._fork.open(event, started)

    def _close_fork(self) -> bool:
        """Takes the panel away; whether it was there."""
        if not self._fork.is_open:
            return False
        self.remove_class("-forking")
        self.query_one(Still).mirror.interactive = False
        self._fork.close()
        self.query_one("#steps").focus()
        return True

    @on(Lines.Highlighted, "#steps")
    def _elsewhere(self) -> None:
        """Another step is looked at: what was written was not for it."""
        if self._fork.is_open:
            self._close_fork()

    @on(Mirror.Tapped)
    def _tapped(self, message: Mirror.Tapped) -> None:
        if self._fork.is_open:
            self._fork.aim(message.at)

    @on(ForkPanel.Aimed)
    def _aimed(self, message: ForkPanel.Aimed) -> None:
        message.stop()
        self.query_one(Still).mirror.mark(marks_of(message.action))

    @on(ForkPanel.Wanted)
    def _go_on(self, message: ForkPanel.Wanted) -> None:
        """Goes to Live on the new run; where it cannot be made, the panel says why and keeps what was written."""
        message.stop()
        reel = self._projector.reel
        if reel is not None:
            cast("LabApp", self.app).check_no_run()
            self._fork.begin()
            self._make_fork(reel.id, message)

    @work(thread=True, exclusive=True, group="fork")
    def _make_fork(self, trace_id: str, wanted: ForkPanel.Wanted) -> None:
        app = cast("LabApp", self.app)
        try:
            session = app.forked(trace_id, wanted.index, wanted.change)
        except LabError as error:
            app.call_from_thread(self._fork.refuse, error)
        else:
            app.call_from_thread(self._enter_fork, session)

    def _enter_fork(self, session: Session) -> None:
        app = cast("LabApp", self.app)
        app.check_no_run()
        self._close_fork()
        app.enter_live(session)

    def action_family(self) -> None:
        """The tree of the runs that belong together."""
        if self._projector.reel is not None:
            show_family(cast("LabApp", self.app), self._projector.reel.id)


def show_family(app: LabApp, trace_id: str) -> None:
    """Lists a run's family; the run chosen there is opened where it left its parent."""

    def chosen(place: tuple[str, int] | None) -> None:
        if place is not None:
            app.open_replay(*place)

    app.push_screen(FamilyScreen(app.store, trace_id), chosen)


def _settings(screen: Screen[None]) -> Settings:
    found: Settings = getattr(screen.app, "settings", Settings())
    return found
