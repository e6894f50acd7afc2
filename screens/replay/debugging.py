"""A developer's actions in a replay: fork the run at the current step, and show its family."""

from __future__ import annotations

from functools import partial

from textual.screen import Screen

from lab.core.errors import LabError
from lab.core.run.step import Action, Point
from lab.core.run.trace import Ended
from lab.runs.fork.fork import ForkChange
from lab.runs.session import Session
from screens.lab import lab_of
from screens.mirror.touch import marks_of
from screens.replay.family import FamilyScreen
from screens.replay.forking import ForkPanel
from screens.replay.run_player import RunPlayer


class Forking:
    """Forks a replayed run at a step. `panel` is where a person writes the change."""

    def __init__(self, room: Screen[None], footage: RunPlayer, panel: ForkPanel) -> None:
        self._room = room
        self._footage = footage
        self._panel = panel
        self._place = 0
        """The place, from 0, that the panel is about."""

    @property
    def is_open(self) -> bool:
        return self._panel.is_open

    async def open(self) -> None:
        """Open the panel for the current step, with the screen on which it was done."""
        footage = self._footage
        await footage.wait_shown()
        if footage.head is None or footage.view is None:
            return
        started, event = footage.head.started, footage.view.event
        if started.source is not None or started.state is None:
            raise LabError("Fork", "this run was not made on the embedded phone.", "Runs made here can be forked.")
        if isinstance(event, Ended):
            raise LabError("Fork", "the run was over here.", "Go to one of its steps first.")
        if footage.after:
            footage.toggle_after()  # what is tapped in a fork is tapped on the screen before the step
        self._place = footage.view.number
        self._room.add_class("-forking")
        footage.stage.mirror.interactive = True
        self._panel.open(event, started)

    def close(self) -> None:
        """Close the panel if it is open."""
        if self.is_open:
            self._room.remove_class("-forking")
            self._footage.stage.mirror.interactive = False
            self._panel.close()
            self._footage.timeline.focus()

    def go_back(self) -> bool:
        """Go one step back in the panel, or close it. Return False if it is not open."""
        if not self.is_open:
            return False
        if not self._panel.go_back():
            self.close()
            self._footage.request_place()
        return True

    def leave_step(self) -> None:
        """Close the panel if another step is current, because its text was not meant for that."""
        if self.is_open and self._footage.number != self._place:
            self.close()

    def aim(self, at: Point) -> None:
        """Pass a tap on the phone to the open panel."""
        if self.is_open:
            self._panel.aim_at(at)

    def mark(self, action: Action) -> None:
        """Mark the new target of the action."""
        self._footage.stage.mirror.mark(marks_of(action))

    def go_on(self, index: int, change: ForkChange) -> None:
        """Build the new run and show it in Live. If that fails, the panel shows the error and keeps its text."""
        run = self._footage.run
        if run is not None:
            lab_of(self._room).check_no_run()
            self._panel.show_building()
            make = partial(self._build_run, run, index, change)
            self._room.run_worker(make, thread=True, exclusive=True, group="fork")

    def _build_run(self, run: str, index: int, change: ForkChange) -> None:
        app = self._room.app
        try:
            session = lab_of(self._room).fork_session(run, index, change)
        except LabError as error:
            app.call_from_thread(self._panel.show_error, error)
        else:
            app.call_from_thread(self._enter_run, session)

    def _enter_run(self, session: Session) -> None:
        app = lab_of(self._room)
        app.check_no_run()
        self.close()
        app.enter_live(session)


def show_family(screen: Screen[None], trace_id: str) -> None:
    """Show a run's family. Open the chosen run at the step where it left its parent."""

    def chosen(place: tuple[str, int] | None) -> None:
        if place is not None:
            lab_of(screen).open_replay(*place)

    screen.app.push_screen(FamilyScreen(lab_of(screen).store, trace_id), chosen)
