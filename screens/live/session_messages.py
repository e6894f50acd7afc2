"""Messages from a session's threads to a screen, and the screen's requests to the session."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass

from textual.message import Message
from textual.message_pump import MessagePump

from lab.core.errors import LabError
from lab.core.run.step import Proposed, Question
from lab.core.run.trace import AnyEvent
from lab.core.run.ui_tree import UiTree
from lab.core.seams import Frame
from lab.core.seams import Screen as PhoneScreen
from lab.runs.session import Session
from screens.live.background_writes import BackgroundWrites, Errand


@dataclass
class EventCommitted(Message):
    """Message: an event is committed. `stored` if it was in the file before this sitting."""

    event: AnyEvent
    stored: bool = False


@dataclass
class QuestionChanged(Message):
    """Message: this question waits for the person, or None if none does."""

    question: Question | None


@dataclass
class GatedActionChanged(Message):
    """Message: this action waits at the gate, or None if none does."""

    proposed: Proposed | None


@dataclass
class TurnChanged(Message):
    """Message: the phone waits for the person to act, or (None) no longer."""

    screen: PhoneScreen | None


@dataclass
class DraftLoaded(Message):
    """Message: the draft of a question from an earlier sitting."""

    question: Question
    draft: str
    begun: tuple[str, str] | None = None
    """Times at which it was shown and first typed to (empty if it was not)."""


@dataclass
class OperationFailed(Message):
    """Message: an operation failed. `last` if the run cannot continue."""

    error: LabError
    last: bool


class SessionListener:
    """Listener to one session for one screen. After `close` it posts nothing and waits for nobody."""

    def __init__(self, session: Session, to: MessagePump) -> None:
        self.session = session
        self.tree: UiTree | None = None
        """Newest tree: from a picture, or from the screen of a waiting action or a turn of the person."""
        self._tree_since = 0.0
        """Monotonic seconds at which that screen's tree was taken.

        Pictures taken earlier may arrive later, and are older.
        """
        self._target = to
        self._closed = threading.Event()
        self._has_begun = False
        self._errands = BackgroundWrites("screen errands", self._post_refusal)

    @property
    def proposed_on(self) -> UiTree | None:
        """Tree on which the newest action was proposed, or the newest tree if its screen has none."""
        screen = self.session.gate.screen
        return screen.tree if screen is not None and screen.tree.roots else self.tree

    def begin(self, picture: Callable[[Frame], None] | None) -> None:
        """Post all stored events of this run, then start it. Pictures go to `picture`, on a thread of their own."""
        session = self.session
        session.on_event = self._post_event
        session.questions.on_change = self._post_question
        session.decisions.on_change = self._post_gated
        session.turns.on_change = self._post_screen
        # Stored events are posted before the run starts: the screen must see them in order.
        self.do(self._start)
        if picture is not None:
            threading.Thread(target=self._feed, args=(picture,), name="frames", daemon=True).start()

    def do(self, errand: Errand) -> None:
        """Do something that may block, after earlier errands, on a thread of its own."""
        self._errands.do(errand)

    def close(self, seconds: float) -> None:
        """Leave the run (open if it is not over), and wait at most `seconds` for the last writes."""
        # In the queue, so that drafts queued before are written first.
        self._closed.set()
        self._errands.do(self._leave)
        self._errands.finish(seconds)

    def _start(self) -> None:
        store, run = self.session.store, self.session.trace_id
        if store.runs.has_run(run):
            for event in store.runs.events(run):
                self._post(EventCommitted(event, stored=True))
        self.session.start()
        self._has_begun = True

    def _leave(self) -> None:
        if self._has_begun:
            self.session.leave()

    def _feed(self, picture: Callable[[Frame], None]) -> None:
        try:
            for frame in self.session.device.frames(self._closed):
                # A picture may arrive late: it must not replace the newer tree of a waiting action.
                if frame.tree is not None and frame.at >= self._tree_since:
                    self.tree = frame.tree
                picture(frame)
        except LabError as error:
            self._post_refusal(error)

    def _post_gated(self, proposed: Proposed | None) -> None:
        if proposed is not None:
            self._begin_with(self.session.gate.screen)
        self._post(GatedActionChanged(proposed))

    def _post_screen(self, screen: PhoneScreen | None) -> None:
        self._begin_with(screen)
        self._post(TurnChanged(screen))

    def _begin_with(self, screen: PhoneScreen | None) -> None:
        """Use this screen's tree as the newest, if it has one."""
        if screen is not None and screen.tree.roots:
            self.tree, self._tree_since = screen.tree, time.monotonic()

    def _post_event(self, event: AnyEvent | None) -> None:
        if event is not None:
            self._post(EventCommitted(event))
        elif self.session.failure is not None:
            self._post(OperationFailed(self.session.failure, last=True))

    def _post_question(self, question: Question | None) -> None:
        self._post(QuestionChanged(question))
        if question is not None:
            self.do(lambda: self._post(self._kept_draft(question)))

    def _kept_draft(self, question: Question) -> DraftLoaded:
        draft = self.session.draft(question)
        return DraftLoaded(question, draft, self.session.question_times(question))

    def _post_refusal(self, error: LabError) -> None:
        # The session reports its own failure once, as `OperationFailed(last=True)`.
        if error is not self.session.failure:
            self._post(OperationFailed(error, last=False))

    def _post(self, message: Message) -> None:
        if self._closed.is_set():
            return
        try:
            self._target.post_message(message)
        except RuntimeError:  # the app's loop closed after the check above
            self._closed.set()
