"""The steps of the run beside a design: which of them evidence names, and the app of each."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

from textual.message import Message
from textual.widget import Widget

from lab.core.errors import LabError
from lab.core.trace import Ended, Step
from lab.runs.descriptions import one_line
from lab.runs.recorded_run import RecordedRun
from lab.studies.design_drafts import apps
from screens.replay.run_player import RunPlayer
from screens.replay.timeline import Timeline


class Steps(Timeline):
    """The run's steps. Those in the evidence of the item under the cursor are marked."""

    HELP = f"""{Timeline.HELP.replace("{replay.", "{author.")}
**◆** the item under the cursor was seen in this step: **{{author.evidence}}** keeps the step shown, or no longer,
**{{author.to_evidence}}** goes to the next.
"""


class StepApps:
    """Knows the app of each step of the run. `owner` provides the workers and receives `AppsRead`."""

    @dataclass
    class AppsRead(Message):
        """Message: the app of each step was read."""

        reel: RecordedRun
        apps: list[str]

    def __init__(self, owner: Widget, footage: RunPlayer) -> None:
        self._owner = owner
        self._footage = footage
        self._reel: RecordedRun | None = None
        self._apps: list[str] = []

    def read(self, reel: RecordedRun | None) -> None:
        """Read the apps of another run off the UI thread."""
        self._reel, self._apps = reel, []
        if reel is not None:
            self._owner.run_worker(partial(self._read_apps, reel), thread=True)

    def _read_apps(self, reel: RecordedRun) -> None:
        try:
            app_names = apps(event for event in reel.runs.events(reel.id) if isinstance(event, Step))
        except LabError:
            return  # the player, which reads the same run, says what is wrong with it
        self._owner.post_message(self.AppsRead(reel, app_names))

    def accept(self, message: AppsRead) -> None:
        """Accept the apps unless they belong to an earlier run."""
        if message.reel is self._reel:
            self._apps = message.apps

    @property
    def all_apps(self) -> list[str]:
        """Every app of the run, in order."""
        return list(dict.fromkeys(app for app in self._apps if app))

    @property
    def current_app(self) -> str:
        """App of the current step, or of the screen after it; empty if unknown."""
        view = self._footage.view
        if view is None or not self._apps:
            return ""
        index = view.number + (self._footage.after and view.after is not None)
        return self._apps[min(index, len(self._apps) - 1)]

    @property
    def place_words(self) -> str:
        """The current place of the run, in a line."""
        footage, view = self._footage, self._footage.view
        if footage.run is None:
            return "no run"
        if view is None:
            return "reading ..."
        place = "The end" if isinstance(view.event, Ended) else f"Step {view.number + 1}/{footage.steps}"
        line = footage.timeline.rows[view.number] if view.number < footage.timeline.count else None
        return one_line("   ".join(filter(None, (place, self.current_app, line.words if line else ""))), 300)
