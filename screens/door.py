"""The room of live runs: a phone is started here, and what failed in starting it is said here."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, cast

from textual import work
from textual.app import ComposeResult
from textual.screen import Screen
from textual.widgets import Static

from lab.errors import LabError
from lab.plain import plain
from screens.footer import Footer

if TYPE_CHECKING:
    from lab.session import Session
    from lab.settings import Settings
    from lab.spec import Spec
    from screens.app import LabApp
    from screens.record.intent import Asking


def task_spec(name: str, settings: Settings) -> Spec:
    """A built-in task with its persona, worked by the rule agent while the person of this seat answers."""
    from lab.spec import Spec
    from simulators import library

    task = library.task(name)
    persona = library.persona(task.persona, task.log) if task.persona else None
    return Spec(task, persona, person=settings.person, seat=settings.seat, pace=settings.pace, device=settings.device)


def demonstration(name: str | None, settings: Settings) -> Asking:
    """A recording by the person of this seat: of a task (a name or a file), or of what they then say they intend."""
    from lab.recording import to_demonstrate
    from lab.spec import PERSON, Spec
    from screens.record.intent import Asking
    from simulators import library

    task = library.task(name) if name is not None else None
    persona = library.persona(task.persona, task.log) if task is not None and task.persona else None
    spec = Spec(
        task or to_demonstrate(None, "", ""),
        persona,
        agent=PERSON,
        person=settings.person,
        seat=settings.seat,
        device=settings.device,
    )
    return Asking(spec, own=task is None)


class LiveDoor(Screen[None]):
    """Stands beneath the Live screen: seen while a session is built, and where it could not be."""

    def __init__(self) -> None:
        super().__init__()
        self._said = "No run is live. Enter on a task in Home (F2) starts one."

    def compose(self) -> ComposeResult:
        yield Static(self._said, id="door", markup=False)
        yield Footer()

    def build(self, make: Callable[[], Session]) -> None:
        """Makes a session off the UI thread and shows it."""
        self._say("Starting the phone ...")
        self._build(make)

    @work(thread=True, exclusive=True, group="build")
    def _build(self, make: Callable[[], Session]) -> None:
        try:
            session = make()
        except LabError as error:
            self.app.call_from_thread(self._say, f"{error.sentence}\n\nEsc goes back to Home.")
        else:
            self.app.call_from_thread(self.enter, session)

    def enter(self, session: Session) -> None:
        """Shows a session that is built."""
        from lab.spec import PERSON
        from screens.live.live import LiveScreen
        from screens.record.record import RecordScreen

        try:
            screen = RecordScreen(session) if session.spec.agent == PERSON else LiveScreen(session)
        except LabError as error:
            self._say(f"{error.sentence}\n\nEsc goes back to Home.")
            return
        self._say("This run is over or was left. Home (F2) lists it.")
        app = cast("LabApp", self.app)
        app.session = session
        app.push_screen(screen)
        app.call_after_refresh(app.fit)

    def _say(self, text: str) -> None:
        self._said = plain(text)
        for shown in self.query("#door").results(Static):
            shown.update(self._said)
