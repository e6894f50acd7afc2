"""Protocol of the app as its screens see it, so that no screen imports the app that makes it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, Protocol, cast

from textual import events
from textual.message import Message
from textual.message_pump import MessagePump

from lab.core.errors import LabError
from screens.crash import Crash

if TYPE_CHECKING:
    from collections.abc import Callable

    from textual.screen import Screen

    from lab.core.last_choices import RunChoices
    from lab.core.settings import Settings
    from lab.core.study.study import Study
    from lab.core.task.task import Task
    from lab.ocr.reader import TextReader
    from lab.runs.fork.fork import ForkChange
    from lab.runs.session import Session
    from screens.mirror.terminal_graphics import TerminalGraphics
    from screens.picture_window import PictureWindow
    from screens.record.intent import DemonstrationRequest
    from simulators.users.endpoint.place import EndpointPlace
    from store.store import Store


class ReportsErrors(MessagePump):
    """A node that reports a `LabError` of a message handler as a toast and handles further messages.

    Textual ends a node's message loop at the first error of a handler and has no public hook for this. A `LabError` in
    `on_mount` still ends the app, because the node would lack its contents.
    """

    async def _on_message(self, message: Message) -> None:
        try:
            await super()._on_message(message)
        except LabError as error:
            if isinstance(message, events.Mount):
                raise Crash(error) from error
            lab_of(self).report(error)


class Lab(Protocol):
    """The app as its screens know it: one file, one seat, at most one run under way, and the other rooms."""

    store: Store
    settings: Settings
    session: Session | None
    """The run under way, or the last one. None before the first."""
    only_study: Study | None
    """The only study of this app, or None if the app has more."""
    back_targets: dict[str, str]
    """The room to which Back leads, by room. A missing room means Home."""
    leave_question: tuple[str, str]
    """Question before a live run is left, and the line about its keys."""
    graphics: TerminalGraphics
    """The terminal's way to draw pictures, or characters if it has no other."""
    run_locale: str
    """Language of the live run for the person who answers in it."""
    reads_words: bool
    """True if words are read from pictures of phones that give no UI tree."""
    endpoint: EndpointPlace | None
    """Endpoint that this program serves, or None if it serves none."""
    serve_endpoint: Callable[[str], EndpointPlace] | None
    """Start an endpoint whose questions this person (a code) answers, or None if none can be started here."""
    on_recording: Callable[[str], None] | None
    """Callback: called with the run id of each demonstration recorded in this app."""
    after_run: str
    """Sentence about what follows the live run, empty if nothing does."""

    @property
    def run_is_live(self) -> bool: ...
    @property
    def run_waits(self) -> Literal["", "answer", "decision"]: ...
    @property
    def text_reader(self) -> TextReader | None: ...
    def send(self, codes: str) -> None: ...
    def report_missing_ocr(self) -> None: ...
    def check_terminal_size(self) -> None: ...
    def report(self, error: LabError) -> None: ...
    def has_room(self, name: str) -> bool: ...
    def entered_screen(self, name: str) -> Screen[None] | None: ...
    def check_no_run(self) -> None: ...
    def choose_phone(self, serial: str) -> None: ...
    def action_show(self, name: str) -> None: ...
    def open_home(self) -> None: ...
    def open_task(self, name: str, choices: RunChoices | None = None) -> None: ...
    def open_record(self, asking: DemonstrationRequest) -> None: ...
    def open_session(self, make: Callable[[], Session]) -> None: ...
    def open_resume(self, trace_id: str) -> None: ...
    def open_replay(self, trace_id: str, step: int = 1, back: str = "home") -> None: ...
    def open_compare(self, left: str, right: str) -> None: ...
    def open_author(self, task: Task, trace_id: str | None) -> None: ...
    def show_study(self, study: str) -> None:
        """Show Home with the cursor on a study of that name."""
        ...

    def open_study(self, study: Study) -> None: ...
    def open_numbers(self, study: Study, room: str = "agreement") -> None: ...
    def open_rater(self, study: Study, code: str) -> None: ...
    def fork_session(self, trace_id: str, index: int, change: ForkChange) -> Session: ...
    def enter_live(self, session: Session) -> None: ...


def lab_of(node: MessagePump) -> Lab:
    """Return the app around a screen or widget."""
    return cast("Lab", node.app)


def windows_of(node: MessagePump) -> Callable[[], PictureWindow | None]:
    """Return a function that finds the page of pictures from any thread, because it may open at any time."""
    app = node.app
    return lambda: getattr(app, "window", None)


def try_report(node: MessagePump, work: Callable[[], None]) -> bool:
    """Do the work of a message handler. Report a `LabError` as a toast and return False."""
    try:
        work()
    except LabError as error:
        lab_of(node).report(error)
        return False
    return True


def window_of(node: MessagePump) -> PictureWindow | None:
    """Return the page of pictures beside the terminal, or None if it is not open."""
    window: PictureWindow | None = getattr(node.app, "window", None)
    return window
