"""What a screen may ask of the app around it: a Protocol, so that no screen imports the app that makes it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, Protocol, cast

from textual import events
from textual.message import Message
from textual.message_pump import MessagePump
from textual.worker import get_current_worker

from lab.core.errors import LabError
from screens.crash import Crash

if TYPE_CHECKING:
    from collections.abc import Callable

    from textual.screen import Screen

    from lab.core.last_choices import RunChoices
    from lab.core.settings import Settings
    from lab.core.study import Study
    from lab.core.task import Task
    from lab.ocr.reader import TextReader
    from lab.runs.fork import ForkChange
    from lab.runs.session import Session
    from screens.mirror.terminal_graphics import TerminalGraphics
    from screens.picture_window import PictureWindow
    from screens.record.intent import Asking
    from simulators.users.endpoint.place import EndpointPlace
    from store.store import Store

ScreenName = Literal[
    "home", "live", "replay", "author", "review", "privacy", "runs", "compare", "annotate", "play",
    "agreement", "adjudicate", "raters", "progress", "answer",
]  # fmt: skip
"""The rooms of the app."""


@dataclass
class Failed(Message):
    """What was read or done off the UI thread was refused; the app says so in a sentence."""

    error: LabError


class TellsRefusals(MessagePump):
    """What is refused where a message is handled is a sentence, as it is where a key asks, and messages go on.

    Textual ends a node's messages with the first error of a handler, and has no public hook here. Without what
    `on_mount` lays nobody could go on: what is refused there ends the app, unless it is told on the way.
    """

    async def _on_message(self, message: Message) -> None:
        try:
            await super()._on_message(message)
        except LabError as error:
            if isinstance(message, events.Mount):
                raise Crash(error) from error
            lab_of(self).report(error)


class Lab(Protocol):
    """The app as its screens know it: one file, one seat, at most one run under way, and the way to other rooms."""

    store: Store
    settings: Settings
    session: Session | None
    """The run under way, or the last one; None before the first."""
    only: Study | None
    """The study that is all there is in this app; None where there is more."""
    came_from: dict[str, ScreenName]
    """Where one step back leads from a room, where that is not Home."""
    leaving: tuple[str, str]
    """What is said before a run that is live is left, and what the keys do."""
    graphics: TerminalGraphics
    """What the terminal draws pictures with; characters where it has nothing else."""
    run_locale: str
    """The language in which the run that is live speaks to whoever answers in it."""
    reads_words: bool
    """Whether words are read from pictures whose phone said none."""
    endpoint: EndpointPlace | None
    """Where this program is asked at an endpoint; None where it is not."""
    serve_endpoint: Callable[[str], EndpointPlace] | None
    """Starts an endpoint at which the person of this code is asked; None where none can be started from here."""
    on_recording: Callable[[str], None] | None
    """Hears the run of each demonstration that is recorded in this app."""
    after_run: str
    """What comes after the run that is live, in a sentence; empty where nothing of its own does."""

    @property
    def run_is_live(self) -> bool: ...
    @property
    def run_waits(self) -> Literal["", "answer", "decision"]: ...
    @property
    def text_reader(self) -> TextReader | None: ...
    def send(self, codes: str) -> None: ...
    def tell_lack(self) -> None: ...
    def fit(self) -> None: ...
    def report(self, error: LabError) -> None: ...
    def has_room(self, name: str) -> bool: ...
    def entered(self, name: ScreenName) -> Screen[None] | None: ...
    def check_no_run(self) -> None: ...
    def choose_phone(self, serial: str) -> None: ...
    def action_show(self, name: ScreenName) -> None: ...
    def open_home(self) -> None: ...
    def open_task(self, name: str, choices: RunChoices | None = None) -> None: ...
    def open_record(self, asking: Asking) -> None: ...
    def open_session(self, make: Callable[[], Session]) -> None: ...
    def open_resume(self, trace_id: str) -> None: ...
    def open_replay(self, trace_id: str, step: int = 1, back: ScreenName = "home") -> None: ...
    def open_compare(self, left: str, right: str) -> None: ...
    def open_author(self, task: Task, trace_id: str | None) -> None: ...
    def show_study(self, study: str) -> None:
        """Shows Home with the cursor on a study of that name."""
        ...

    def open_study(self, study: Study) -> None: ...
    def open_numbers(self, study: Study, room: ScreenName = "agreement") -> None: ...
    def open_rater(self, study: Study, code: str) -> None: ...
    def forked(self, trace_id: str, index: int, change: ForkChange) -> Session: ...
    def enter_live(self, session: Session) -> None: ...


def lab_of(node: MessagePump) -> Lab:
    """The app that a screen or widget is shown in."""
    return cast("Lab", node.app)


def windows_of(node: MessagePump) -> Callable[[], PictureWindow | None]:
    """Finds the page of pictures, from any thread: it may be opened at any time."""
    app = node.app
    return lambda: getattr(app, "window", None)


def tried(node: MessagePump, work: Callable[[], None]) -> bool:
    """Does what a message asks for; what is refused (False) is a sentence, as it is where a key asks."""
    try:
        work()
    except LabError as error:
        lab_of(node).report(error)
        return False
    return True


def post_if_newest(node: MessagePump, message: Message) -> None:
    """Posts what an exclusive thread worker read, unless a newer worker has begun: threads end in any order.

    Called in the worker's thread. Workers begin in the UI's, and there it is decided: what is older never comes after.
    """
    worker = get_current_worker()

    def post() -> None:
        if not worker.is_cancelled:
            node.post_message(message)

    node.call_later(post)


def window_of(node: MessagePump) -> PictureWindow | None:
    """The page of pictures beside the terminal, where one is wanted."""
    window: PictureWindow | None = getattr(node.app, "window", None)
    return window
