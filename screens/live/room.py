"""The room of a live run: its parts, and where they stand in a low, a high and a wide terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual import events, on
from textual.app import ComposeResult
from textual.containers import Container, Horizontal
from textual.content import Content
from textual.markup import escape
from textual.screen import Screen

from lab.core.plain_text import plain
from lab.core.screen_clock import Clock
from lab.core.step import Action
from lab.runs.session import Session
from lab.studies.seats import sees_outcomes
from screens.lab import window_of
from screens.live.banner import Banner
from screens.live.developer import DeveloperPane
from screens.live.dialogue import Dialogue
from screens.live.reply import OpenQuestion
from screens.live.result import ReadFirstCard, Result
from screens.live.seat_pane import Seat
from screens.mirror.fit import room
from screens.mirror.mirror import Mirror
from screens.mirror.touch import Touch, marks_of, touched
from screens.widgets.card import GivingColumn
from screens.widgets.footer import Footer

if TYPE_CHECKING:
    pass

_PHONE = 1080, 2400
"""The shape that the phone's pane is made for."""


class DialogueColumn(GivingColumn):
    """The dialogue with whatever waits for the person beneath it."""

    ALLOW_MAXIMIZE = True
    GIVES = (
        (("question", 0), ("bench", 0), ("before", 0), ("result", 0)),
        (("dialogue", 0), ("question", 0), ("bench", 0), ("before", 0), ("result", 0)),
    )


class LiveRoom(Screen[None]):
    """The phone, the seat, the dialogue and what waits beneath it; `knows` is whether this seat may see outcomes."""

    AUTO_FOCUS = "#transcript"
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (100, "-normal"), (160, "-wide")]
    VERTICAL_BREAKPOINTS = [(0, "-short"), (32, "-tall")]

    def __init__(self, session: Session, clock: Clock) -> None:
        super().__init__()
        self.session = session
        self.knows = sees_outcomes(session.spec.seat)
        self._clock = clock
        self._via: str | None = None
        self._banner = Banner()
        self._mirror = Mirror(id="phone") if session.spec.mirror else None
        self._seat = Seat(session.spec, session.agent.actor, knows=self.knows)
        self._dialogue = Dialogue(clock, knows=self.knows)
        self._question = OpenQuestion(session.person, clock)
        self._bench = DeveloperPane(session, clock) if self.knows else None
        self._before, self._result = ReadFirstCard(), Result()
        bench = () if self._bench is None else (self._bench,)
        parts = self._dialogue, self._question, *bench, self._before, self._result
        self._talk = DialogueColumn(*parts, id="talk", classes="pane")

    def compose(self) -> ComposeResult:
        yield self._banner
        with Horizontal(id="panes"):
            if self._mirror is not None:
                yield self._mirror
            with Container(id="beside"):
                yield self._seat
                yield self._talk
        yield Footer()

    def on_mount(self) -> None:
        self.set_class(not self.session.spec.mirror, "-blind")
        self._talk.border_title = "Dialogue"
        if self._mirror is not None:
            self._mirror.interactive = False
        self._unfold()

    def on_resize(self, event: events.Resize) -> None:
        """Gives the phone the width that its shape asks for; in a low terminal more, so that its words fit."""
        if self._mirror is not None:
            width, height = event.size
            border = 0 if height < 32 else 2
            columns, self._mirror.zoom = room(_PHONE, height - 3 - border // 2, width // 2, width // 2 + 2 - border)
            self._mirror.styles.width = columns + border

    def _unfold(self) -> None:
        """Opens as much of the seat as this terminal has room for; from here on the person folds."""
        width, height = self.app.size
        seat = self._seat
        if width >= 160:
            seat.unfold("task", "policy", "persona", "facts")
        elif height >= 32:
            seat.unfold("task", "policy", *(() if self.knows else ("persona",)))

    def on_screen_resume(self) -> None:
        """What came up while another room was looked at is seen only now."""
        self.call_after_refresh(self._question.seen)
        if self._bench is not None:
            self.call_after_refresh(self._bench.seen)

    def _close(self, *panels: OpenQuestion | DeveloperPane | None) -> None:
        """Takes panels away, and the keys from what is no longer there."""
        for panel in panels:
            if panel is None:
                continue
            if panel.has_focus_within:
                self._dialogue.focus_transcript()
            panel.close()

    def _tell_via(self, via: str) -> None:
        """Says on the phone's border how its pictures come, where there are several ways."""
        if self._mirror is not None and via != self._via:
            self._via = via
            short = plain(via.partition(" (")[0], lines=False)
            self._mirror.border_title = escape(f"Phone · {short}" if short else "Phone")
            self._mirror.tooltip = Content(plain(via, lines=False)) if via else None

    def _mark(self, action: Action | None) -> None:
        if self._mirror is not None:
            marks = marks_of(action)
            self._mirror.mark(marks)
            window = window_of(self)
            if window is not None:
                window.mark(marks)

    # -- touching the phone -------------------------------------------------------------------------------------

    @on(DeveloperPane.Touchable)
    def _touchable(self, message: DeveloperPane.Touchable) -> None:
        if self._mirror is not None:
            self._mirror.interactive, self._mirror.typing = message.on, message.typing

    @on(DeveloperPane.Left)
    def _bench_left(self) -> None:
        self._dialogue.focus_transcript()

    @on(DeveloperPane.Aimed)
    def _aimed(self, message: DeveloperPane.Aimed) -> None:
        self._mark(message.action)

    @on(Mirror.Tapped)
    @on(Mirror.Dragged)
    @on(Mirror.Wheeled)
    def _touched(self, message: Touch) -> None:
        if self._bench is not None:
            self._bench.touched(touched(message))

    @on(Mirror.Typed)
    def _typed(self, message: Mirror.Typed) -> None:
        """Letters typed over the mirror begin the line that is typed into the phone."""
        if self._bench is not None:
            self._bench.type(message.text)

    @on(Mirror.Key)
    def _key(self, message: Mirror.Key) -> None:
        if self._bench is not None:
            self._bench.key(message.name)
