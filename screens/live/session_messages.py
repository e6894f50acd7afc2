"""What a session says on its own threads, brought to a screen as messages; what a screen asks, off its thread."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass

from textual.message import Message
from textual.message_pump import MessagePump

from lab.core.errors import LabError
from lab.core.seams import Frame
from lab.core.seams import Screen as PhoneScreen
from lab.core.step import Proposed, Question
from lab.core.trace import AnyEvent
from lab.core.ui_tree import UiTree
from lab.runs.session import Session
from screens.live.background_writes import Errand, Errands


@dataclass
class Happened(Message):
    """One event is durable; `stored` where it was in the file before this sitting."""

    event: AnyEvent
    stored: bool = False


@dataclass
class Waits(Message):
    """This question waits for the person; None: none does."""

    question: Question | None


@dataclass
class Gated(Message):
    """This action waits to be let through; None: none does."""

    proposed: Proposed | None


@dataclass
class Turn(Message):
    """The phone waits for the person's hands, or no longer."""

    screen: PhoneScreen | None


@dataclass
class Kept(Message):
    """What was typed to a question in an earlier sitting."""

    question: Question
    draft: str
    begun: tuple[str, str] | None = None
    """When it was shown then, and when typing began (empty: it did not)."""


@dataclass
class Refused(Message):
    """Something could not be done; `last` where the run cannot go on."""

    error: LabError
    last: bool


class Watch:
    """Listens to one session for one screen. After `close` nothing is said any more, and nobody is waited for."""

    def __init__(self, session: Session, to: MessagePump) -> None:
        self.session = session
        self.tree: UiTree | None = None
        """The newest tree: it came with a picture, or a waiting action or a turn of the person began with it."""
        self._tree_since = 0.0
        """From when that is (monotonic seconds): pictures taken before, which may come after, say nothing newer."""
        self._to = to
        self._closed = threading.Event()
        self._began = False
        self._errands = Errands("screen errands", self._refused)

    @property
    def proposed_on(self) -> UiTree | None:
        """What the newest action was proposed on: the tree of its screen, or the newest where that has none."""
        screen = self.session.gate.screen
        return screen.tree if screen is not None and screen.tree.roots else self.tree

    def begin(self, picture: Callable[[Frame], None] | None) -> None:
        """Tells all that the file knows of this run, then starts it; pictures go to `picture`, on their own thread."""
        session = self.session
        session.on_event = self._happened
        session.questions.on_change = self._asks
        session.decisions.on_change = self._gated
        session.turns.on_change = self._turned
        self.do(self._start)
        if picture is not None:
            threading.Thread(target=self._feed, args=(picture,), name="frames", daemon=True).start()

    def do(self, errand: Errand) -> None:
        """Does something that may block, in its turn, on a thread of its own."""
        self._errands.do(errand)

    def close(self, seconds: float) -> None:
        """Leaves the run, open if it is not over, and waits at most so long for what is still to be written."""
        self._closed.set()
        self._errands.do(self._leave)
        self._errands.finish(seconds)

    def _start(self) -> None:
        store, run = self.session.store, self.session.trace_id
        if store.runs.holds(run):
            for event in store.runs.events(run):
                self._say(Happened(event, stored=True))
        self.session.start()
        self._began = True

    def _leave(self) -> None:
        if self._began:
            self.session.leave()

    def _feed(self, picture: Callable[[Frame], None]) -> None:
        try:
            for frame in self.session.device.frames(self._closed):
                if frame.tree is not None and frame.at >= self._tree_since:
                    self.tree = frame.tree
                picture(frame)
        except LabError as error:
            self._refused(error)

    def _gated(self, proposed: Proposed | None) -> None:
        if proposed is not None:
            self._begin_with(self.session.gate.screen)
        self._say(Gated(proposed))

    def _turned(self, screen: PhoneScreen | None) -> None:
        self._begin_with(screen)
        self._say(Turn(screen))

    def _begin_with(self, screen: PhoneScreen | None) -> None:
        """Takes the tree of this screen, if it has one, for the newest."""
        if screen is not None and screen.tree.roots:
            self.tree, self._tree_since = screen.tree, time.monotonic()

    def _happened(self, event: AnyEvent | None) -> None:
        if event is not None:
            self._say(Happened(event))
        elif self.session.failure is not None:
            self._say(Refused(self.session.failure, last=True))

    def _asks(self, question: Question | None) -> None:
        self._say(Waits(question))
        if question is not None:
            self.do(lambda: self._say(self._kept(question)))

    def _kept(self, question: Question) -> Kept:
        draft = self.session.draft(question)
        return Kept(question, draft, self.session.begun(question))

    def _refused(self, error: LabError) -> None:
        if error is not self.session.failure:
            self._say(Refused(error, last=False))

    def _say(self, message: Message) -> None:
        if self._closed.is_set():
            return
        try:
            self._to.post_message(message)
        except RuntimeError:  # the app's loop closed between the look and the word: nobody is there to hear
            self._closed.set()
