"""The room of live runs: builds a session and shows why one could not be built."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from textual.app import ComposeResult
from textual.screen import Screen
from textual.widgets import Static

from lab.core.errors import LabError
from lab.core.text.plain_text import plain
from lab.studies.seats import may_replay, may_run
from screens.background import Background
from screens.key_names import with_keys
from screens.lab import ReportsErrors, lab_of
from screens.widgets.footer import Footer

if TYPE_CHECKING:
    from lab.core.last_choices import RunChoices
    from lab.core.settings import Settings
    from lab.runs.session import Session
    from lab.runs.spec import Spec
    from screens.record.intent import DemonstrationRequest
    from store.store import Store


def task_spec(name: str, settings: Settings, choices: RunChoices | None = None) -> Spec:
    """Return the spec of a built-in task with these choices. The default is its playbook with this person as user."""
    from lab.core.last_choices import RunChoices
    from lab.runs.run_choices import spec_of
    from simulators import library

    return spec_of(library.task(name), choices or RunChoices(), settings)


def new_recording(name: str | None, settings: Settings) -> DemonstrationRequest:
    """Return a recording by this person: of a task (a name or a file), or of an intent that they state later."""
    from lab.core.run.demonstration import demonstration_task
    from lab.runs.spec import PERSON, Spec
    from screens.record.intent import DemonstrationRequest
    from simulators import library

    task = library.task(name) if name is not None else None
    persona = library.persona(task.persona, task.log) if task is not None and task.persona else None
    spec = Spec(
        task or demonstration_task(None, "", ""),
        persona,
        agent=PERSON,
        person=settings.person,
        seat=settings.seat,
        device=settings.device,
    )
    return DemonstrationRequest(spec, own=task is None)


class LiveLauncher(ReportsErrors, Screen[None]):
    """The screen beneath Live: shows that a session is being built, or the error if it failed."""

    def __init__(self, store: Store, settings: Settings) -> None:
        super().__init__()
        self.settings = settings
        self._message_text = ""
        self._building = Background(self, self.enter, self._show_error)

    def compose(self) -> ComposeResult:
        nothing = "No run is live."
        if may_run(self.settings.seat):
            nothing += with_keys(self, " {list.open} on a task in Home ({app.home}) starts one.")
        yield Static(self._message_text or nothing, id="door", markup=False)
        yield Footer()

    def build(self, make: Callable[[], Session]) -> None:
        """Build a session off the UI thread and show it."""
        self._show_text("Starting the phone ...")
        self._building.start(make)

    def enter(self, session: Session) -> None:
        """Show a session."""
        from lab.runs.spec import PERSON
        from screens.live.live import LiveScreen
        from screens.record.record import RecordScreen

        try:
            if session.spec.agent == PERSON:
                screen: Screen[None] = RecordScreen(session)
            else:
                screen = LiveScreen(session, reads=self._must_read_first(session))
        except LabError as error:
            self._show_error(error)
            return
        self._show_text(with_keys(self, "This run is over or was left. Home ({app.home}) lists it."))
        app = lab_of(self)
        app.session = session
        if session.spec.agent == PERSON and app.on_recording is not None:
            app.on_recording(session.trace_id)
        self.app.push_screen(screen)
        self.app.call_after_refresh(app.check_terminal_size)

    def _show_error(self, error: LabError) -> None:
        """Show why no session was built, and the key that goes back."""
        target = " to Home" if may_replay(self.settings.seat) else ""
        self._show_text(f"{error.sentence}\n\n" + with_keys(self, f"{{app.back}} goes back{target}."))

    def _must_read_first(self, session: Session) -> bool:
        """Return True if a participant must still read their persona. In a played study they did so before."""
        played = lab_of(self).back_targets.get("live") == "play"
        human = session.spec.user == "human"
        return (
            session.spec.seat == "participant"
            and human
            and not played
            and not session.store.runs.has_run(session.trace_id)
        )

    def _show_text(self, text: str) -> None:
        self._message_text = plain(text)
        for label in self.query("#door").results(Static):
            label.update(self._message_text)
