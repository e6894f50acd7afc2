"""A rater's sitting: who is here at which study, for how long, how far; and what is seen of the room around it."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, ClassVar, Literal

from textual import events, on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Container
from textual.content import Content
from textual.message import Message
from textual.screen import Screen

from lab.core.label import ActKind
from lab.core.screen_clock import Clock
from lab.core.settings import Settings
from lab.core.study import Assignment, Study
from lab.core.task import Actor
from lab.studies.rating_pace import REST, Pace
from lab.studies.rating_session import HandedIn, RatingSession
from screens.annotate.answer_field import AnswerLine
from screens.annotate.keys import ROOM_KEYS
from screens.annotate.sheet import SheetPane
from screens.annotate.sheet_text import RaterProgress, title_words
from screens.annotate.study_list import DealtStudies
from screens.annotate.unit_pane import Evidence, UnitPane
from screens.home.studies import StudyRow
from screens.key_names import with_keys
from screens.lab import tried
from screens.widgets.footer import Footer
from screens.widgets.status_line import StatusLine
from screens.widgets.text_page import TextPage

if TYPE_CHECKING:
    from store.store import Store

Shown = Literal["shelf", "open", "told", "over"]


_TO_STUDIES = "{annotate.back}: back to the studies."
_DRAWING = "Arrows: thing by thing   Shift+arrows: size   {region.take}: take it   {annotate.back}: leave it"


class RatingScreen(Screen[None]):
    """What is seen: the shelf, a unit beside its sheet, what was learned of it, or a sentence."""

    BINDING_GROUP_TITLE = "Annotate"
    BINDINGS: ClassVar[list[BindingType]] = ROOM_KEYS

    class Shelved(Message):
        """The shelf was read."""

        def __init__(self, rows: list[StudyRow]) -> None:
            super().__init__()
            self.rows = rows

    def __init__(self, store: Store, settings: Settings, clock: Clock | None = None) -> None:
        super().__init__()
        self.store = store
        self.settings = settings
        self.person = Actor("human", settings.person)
        self.clock = clock or Clock()
        self.session: RatingSession | None = None
        self.shown: Shown = "shelf"
        self.pace = Pace(self.clock)
        self.count = RaterProgress(0, 0, 0, 0)
        self.handed: HandedIn | None = None
        self.last: Assignment | None = None
        """The unit handed in last, which may still be taken back."""
        self.unsettled: list[Assignment] = []
        """Units that are handed in and hold two answers at one place; they come first."""
        self._wanted: Study | None = None
        self._left: Study | None = None
        self.add_class(f"-{self.shown}", update=False)
        """The study that was open before the shelf."""
        self._reminded = False
        self.shelf = DealtStudies()
        self.pane = SheetPane(clock=self.clock, pace=self.pace)
        self.told = TextPage(id="sheet-told", classes="pane")

    def compose(self) -> ComposeResult:
        yield StatusLine("annotate-title")
        yield self.shelf
        with Container(id="annotate-bench"):
            yield UnitPane(self.store, self.settings)
            yield self.pane
            yield self.told
        yield StatusLine("annotate-state")
        yield Footer()

    def mode(self, shown: Shown) -> None:
        """Another of the four is seen."""
        self.shown = shown
        self.update_classes({f"-{name}": name == shown for name in ("shelf", "open", "told", "over")})
        self.refresh_bindings()

    # -- sitting ---------------------------------------------------------------------------------------------

    def sit(self, session: RatingSession) -> None:
        """A person sits down to a study."""
        self.session, self.last, self._reminded = session, None, False
        self.pace = Pace(self.clock)
        self.pane.take_pace(self.pace)
        held = self.store.studies.held(session.study, session.person.id)
        clashing = self.store.labels.to_settle(session.study, session.person.id)
        self.unsettled = [one for one in clashing if not held or one.stage == "pilot"]
        progress = self.store.studies.progress(session.study, session.person.id)
        midnight = datetime.now().astimezone().replace(hour=0, minute=0, second=0, microsecond=0)
        handed = self.store.studies.handed_in_since(
            session.study, session.person.id, midnight.astimezone(UTC).isoformat()
        )
        self.count = RaterProgress(progress.done + 1, progress.dealt, progress.done, handed)
        self.act("sat")

    def rise(self) -> None:
        """They leave it."""
        if self.session is None:
            return
        self.pane.keep(leaving=True)
        self.act("rose", {"seconds": round(self.pace.worked, 1), "away": round(self.pace.away, 1)})
        self.session = None

    def act(self, kind: ActKind, detail: dict[str, object] | None = None) -> None:
        """Keeps something that was done at the study; what is refused is a sentence, and the room goes on."""
        if self.session is not None:
            session = self.session
            tried(self, lambda: session.act(kind, detail=detail))

    def on_unmount(self) -> None:
        self.rise()

    def counted(self, by: int) -> None:
        """So many more are handed in."""
        at, dealt, done, today = self.count
        self.count = RaterProgress(at, dealt, done + by, today + by)

    # -- time ------------------------------------------------------------------------------------------------

    def tick(self) -> None:
        """Time has gone on."""
        if self.session is not None:
            self._take_up()
            self.renew()

    def _take_up(self) -> None:
        """Shows what another window of this person kept of the unit that is open."""
        if self.shown == "open" and self.session is not None and self.session.sheet is not None:
            tried(self, self._taken_up)

    def _taken_up(self) -> None:
        if self.pane.answering.take_up():
            self.cover()

    def turned_away(self, here: bool) -> None:
        """The terminal lost the keyboard, or has it again."""
        if here:
            self.pace.touch()
            self._take_up()
        else:
            self.pace.blur()

    def on_key(self, event: events.Key) -> None:
        self.pace.touch()

    def on_mouse_move(self, event: events.MouseMove) -> None:
        self.pace.touch()

    def _absences(self) -> None:
        """Keeps the times away that ended."""
        for seconds in self.pace.ended():
            kind: ActKind = "break" if seconds >= REST else "idle"
            self._reminded = self._reminded and kind != "break"
            self.act(kind, {"seconds": round(seconds, 1)})

    # -- painting --------------------------------------------------------------------------------------------

    def on_resize(self) -> None:
        self.call_after_refresh(self.renew)

    def renew(self) -> None:
        """Paints the lines above and below."""
        self._absences()
        title, state = self.query_one("#annotate-title", StatusLine), self.query_one("#annotate-state", StatusLine)
        seat = self.settings.seat
        if self.session is None or self.session.assignment is None:
            title.say(Content(f"Annotate   {self.person.id}, {seat}"))
            state.say(Content(self.shelf.next_words() if self.shown == "shelf" else with_keys(self, _TO_STUDIES)))
            return
        place = self.session.assignment
        count = self.count._replace(at=place.position + 1)
        settling = self.session.sheet is not None and self.session.sheet.committed and self.shown == "open"
        stage = "settle" if settling else place.stage
        width = self.size.width - 2
        title.say(Content(title_words(self.session.study, stage, count, self.person.id, seat, self.pace, width)))
        state.say(Content(self._state()))

    def _state(self) -> str:
        rest = self.session.study.rest_minutes if self.session is not None else 0
        late = f"{rest} minutes without a break: a good moment for one.   " if self._late(rest) else ""
        if self.shown == "told":
            back = "   {annotate.reopen}: take it back." if self.takes_back else ""
            return with_keys(self, f"{late}{{annotate.onward}}: on to the next.{back}")
        if self.shown == "over":
            return with_keys(self, _TO_STUDIES)
        if self.pane.drawing:
            return with_keys(self, _DRAWING)
        busy = self.pane.typing or self.pane.menu.display
        return f"{late}{self.pane.next_words}" + ("" if busy else f"   {self.pane.saved}")

    def _late(self, minutes: int) -> bool:
        """Whether a break is due."""
        return bool(minutes) and self.pace.since_rest >= minutes * 60

    @property
    def takes_back(self) -> bool:
        """Whether the unit that was handed in last may be taken back."""
        last, study = self.last, self._wanted  # where all are handed in, nobody sits, and the study is still wanted
        return last is not None and study is not None and (last.study, last.version) == (study.id, study.version)

    # -- beside the sheet ------------------------------------------------------------------------------------

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Only what can be done with what is seen."""
        if action == "back":
            return True
        if action == "onward":
            return self.shown == "told"
        if action == "reopen":
            return self.shown in ("told", "over") and self.takes_back
        return self.shown in ("open", "told") and self._has_use(action)

    def _has_use(self, action: str) -> bool:
        """Whether a key that belongs to what is laid beside the sheet does anything for this unit."""
        beside = self.query_one(UnitPane)
        match action:
            case "step" | "question" | "search":
                return beside.has_steps
            case "view" | "after" | "closely" | "overlay":
                return beside.has_phone
            case "side":
                return beside.has_two
            case "header":
                return beside.header.turns
        return True

    @on(SheetPane.At)
    def _at(self, message: SheetPane.At) -> None:
        """Items that are steps bring their step along."""
        message.stop()
        session, item = self.session, message.item
        if session is None or session.unit is None:
            return
        if item is not None and item.target is not None and item.target.step is not None and session.unit.runs:
            self.query_one(UnitPane).go_to(f"{session.unit.runs[0]}@{item.target.step + 1}")
        self.renew()

    @on(SheetPane.Answered)
    def _answered(self, message: SheetPane.Answered) -> None:
        message.stop()
        self.cover()
        self.renew()

    @on(SheetPane.Turned)
    def _turned(self, message: SheetPane.Turned) -> None:
        message.stop()
        self.query_one(UnitPane).tell_keys()
        if self.session is not None and self.session.sheet is not None:
            self.cover()
        self.renew()

    def cover(self) -> None:
        """Marks beside the sheet what its answers rest on."""
        sheet = self.pane.sheet
        heads = [(item, head) for item in self.pane.items.items if (head := sheet.head(item.spot)) is not None]
        rests = [Evidence(head.evidence, head.region, str(item.number or "")) for item, head in heads if head.evidence]
        self.query_one(UnitPane).cover([*rests, *self.pane.pending()])

    @on(UnitPane.Looked)
    def _looked(self, message: UnitPane.Looked) -> None:
        message.stop()
        self.pane.looked(message.place)

    @on(UnitPane.Closely)
    def _closely(self, message: UnitPane.Closely) -> None:
        message.stop()
        if self.session is not None and self.session.unit is not None:
            session, unit = self.session, self.session.unit
            tried(self, lambda: session.act("picture", unit.id, {"place": message.place}))

    @on(UnitPane.Boxed)
    def _boxed(self, message: UnitPane.Boxed) -> None:
        message.stop()
        self.pane.items.focus()
        self.pane.take_region(message.place, message.region)
        self.renew()

    @on(AnswerLine.Read)
    def _read_on(self, message: AnswerLine.Read) -> None:
        message.stop()
        self.action_scroll(message.by)

    def action_step(self, by: int) -> None:
        """The next step of the run, or the one before."""
        beside = self.query_one(UnitPane)
        beside.move(by)
        self.pane.looked(beside.place)  # at once: an answer may be the very next key

    def action_guide(self) -> None:
        """The guideline, and what each answer of the current item means; that it was read is kept."""
        session, item = self.session, self.pane.item
        if session is None or session.unit is None:
            return
        from screens.annotate.guide import GuideScreen

        session.act("guide", session.unit.id)
        asked = item.field.id if item is not None else ""
        self.app.push_screen(GuideScreen(session.study.protocol, session.locale, asked))

    def action_search(self) -> None:
        """Opens the line for words that are looked for in the run."""
        self.pane.entry.search()

    def action_side(self) -> None:
        """Of two runs the other one takes the steps' keys."""
        beside = self.query_one(UnitPane)
        beside.turn_side()
        self.pane.looked(beside.place)

    def action_question(self, by: int) -> None:
        """The next step with a question."""
        beside = self.query_one(UnitPane)
        question = beside.question(by)
        self.pane.looked(beside.place)
        if not question:
            self.pane.say("No question from here on.")

    def action_view(self) -> None:
        """Words, or the phone."""
        self.query_one(UnitPane).turn_view()

    def action_after(self) -> None:
        """The screen after the step, or before it."""
        self.query_one(UnitPane).turn_after()

    def action_closely(self) -> None:
        """The picture in full, or closed again."""
        if not self.query_one(UnitPane).look_closely():
            self.pane.say("There is no picture here.")

    def action_overlay(self) -> None:
        """The screen's words over the phone, or its pixels alone."""
        self.query_one(UnitPane).turn_overlay()

    def action_header(self) -> None:
        """The instruction and what belongs to it, unfolded or in a line."""
        self.query_one(UnitPane).turn_header()

    def has_more(self, by: int) -> bool:
        """Whether a page on (1) or back (-1) shows more of what is asked or of what is read beside the sheet."""
        if self.shown == "open" and self.pane.reading(by) is not None:
            return True
        beside = self.query_one(UnitPane)
        return any(
            page.scroll_offset.y < page.max_scroll_y if by > 0 else page.scroll_offset.y > 0
            for page in beside.reading(by)
        )

    def action_scroll(self, pages: int) -> None:
        """What is asked, and then what is read beside the sheet, a page on or back."""
        beside = self.query_one(UnitPane)
        if self.shown != "open" or (pages < 0 and beside.read_on) or not self.pane.read_on(pages):
            beside.scroll(pages)
