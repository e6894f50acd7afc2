"""A rater's sitting: who is here at which study, for how long, how far; and what is seen of the room around it."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from typing import TYPE_CHECKING, ClassVar, Literal, cast

from textual import events, on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Container
from textual.content import Content
from textual.message import Message
from textual.screen import Screen

from lab.errors import LabError
from lab.label import ActKind
from lab.settings import Settings
from lab.study import Assignment, Study
from lab.task import Actor
from screens.annotate.beside import Beside, Evidence
from screens.annotate.desk import Desk, HandedIn
from screens.annotate.keys import ROOM_KEYS
from screens.annotate.pace import REST, Pace
from screens.annotate.pane import OpenSheet
from screens.annotate.sheet import SheetPane
from screens.annotate.shelf import Shelf
from screens.annotate.words import Count, title_words
from screens.author.told import Told
from screens.clock import Clock
from screens.footer import Footer
from screens.page import Page
from screens.studies import StudyRow

if TYPE_CHECKING:
    from screens.app import LabApp
    from store.store import Store

Shown = Literal["shelf", "open", "told", "over"]


class Sitting(Screen[None]):
    """What is seen: the shelf, a unit beside its sheet, what was learned of it, or a sentence."""

    BINDING_GROUP_TITLE = "Annotate"
    BINDINGS: ClassVar[list[BindingType]] = ROOM_KEYS

    class Shelved(Message):
        """The shelf was read."""

        def __init__(self, rows: list[StudyRow]) -> None:
            super().__init__()
            self.rows = rows

    class Failed(Message):
        """What was read off the UI thread was refused."""

        def __init__(self, error: LabError) -> None:
            super().__init__()
            self.error = error

    def __init__(self, store: Store, settings: Settings, clock: Clock | None = None) -> None:
        super().__init__()
        self.store = store
        self.settings = settings
        self.person = Actor("human", settings.person)
        self.clock = clock or Clock()
        self.desk: Desk | None = None
        self.shown: Shown = "shelf"
        self.pace = Pace(self.clock)
        self.count = Count(0, 0, 0, 0)
        self.handed: HandedIn | None = None
        self.last: Assignment | None = None
        """The unit handed in last, which may still be taken back."""
        self.unsettled: list[Assignment] = []
        """Units that are handed in and hold two answers at one place; they come first."""
        self._wanted: Study | None = None
        self._left: Study | None = None
        """The study that was open before the shelf."""
        self._reminded = False
        self.shelf = Shelf()
        self.pane = SheetPane(clock=self.clock, pace=self.pace)
        self.told = Page(id="sheet-told", classes="pane")

    def compose(self) -> ComposeResult:
        yield Told("annotate-title")
        yield self.shelf
        with Container(id="annotate-bench"):
            yield Beside(self.store, self.settings)
            yield self.pane
            yield self.told
        yield Told("annotate-state")
        yield Footer()

    @property
    def lab(self) -> LabApp:
        return cast("LabApp", self.app)

    def mode(self, shown: Shown) -> None:
        """Another of the four is seen."""
        self.shown = shown
        self.update_classes({f"-{name}": name == shown for name in ("shelf", "open", "told", "over")})
        self.refresh_bindings()

    # -- sitting ---------------------------------------------------------------------------------------------

    def sit(self, desk: Desk) -> None:
        """A person sits down to a study."""
        self.desk, self.last, self._reminded = desk, None, False
        self.pace = Pace(self.clock)
        self.pane.take_pace(self.pace)
        held = self.store.held(desk.study, desk.person.id)
        clashing = self.store.to_settle(desk.study, desk.person.id)
        self.unsettled = [one for one in clashing if not held or one.stage == "pilot"]
        progress = self.store.progress(desk.study, desk.person.id)
        midnight = datetime.now().astimezone().replace(hour=0, minute=0, second=0, microsecond=0)
        handed = self.store.handed_in_since(desk.study, desk.person.id, midnight.astimezone(UTC).isoformat())
        self.count = Count(progress.done + 1, progress.dealt, progress.done, handed)
        self.act("sat")

    def rise(self) -> None:
        """They leave it."""
        if self.desk is None:
            return
        self.pane.keep()
        self.act("rose", {"seconds": round(self.pace.worked, 1), "away": round(self.pace.away, 1)})
        self.desk = None

    def act(self, kind: ActKind, detail: dict[str, object] | None = None) -> None:
        """Keeps something that was done at the study; what is refused is a sentence, and the room goes on."""
        if self.desk is not None:
            desk = self.desk
            self.tried(lambda: desk.act(kind, detail=detail))

    def on_unmount(self) -> None:
        self.rise()

    def counted(self, by: int) -> None:
        """So many more are handed in."""
        at, dealt, done, today = self.count
        self.count = Count(at, dealt, done + by, today + by)

    # -- time ------------------------------------------------------------------------------------------------

    def tick(self) -> None:
        """Time has gone on."""
        if self.desk is not None:
            self.renew()

    def turned_away(self, here: bool) -> None:
        """The terminal lost the keyboard, or has it again."""
        if here:
            self.pace.touch()
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

    def renew(self) -> None:
        """Paints the lines above and below."""
        self._absences()
        title, state = self.query_one("#annotate-title", Told), self.query_one("#annotate-state", Told)
        seat = self.settings.seat
        if self.desk is None or self.desk.assignment is None:
            title.say(Content(f"Annotate   {self.person.id}, {seat}"))
            state.say(Content(self.shelf.next_words() if self.shown == "shelf" else "Esc: back to the studies."))
            return
        place = self.desk.assignment
        count = self.count._replace(at=place.position + 1)
        settling = self.desk.sheet is not None and self.desk.sheet.committed and self.shown == "open"
        stage = "settle" if settling else place.stage
        title.say(Content(title_words(self.desk.study, stage, count, self.person.id, seat, self.pace)))
        state.say(Content(self._state()))

    def _state(self) -> str:
        rest = self.desk.study.rest_minutes if self.desk is not None else 0
        late = f"{rest} minutes without a break: a good moment for one.   " if self._late(rest) else ""
        if self.shown == "told":
            back = "   z: take it back." if self.takes_back else ""
            return f"{late}Enter: on to the next.{back}"
        if self.shown == "over":
            return "Esc: back to the studies."
        if self.pane.drawing:
            return "Arrows: thing by thing   Shift+arrows: size   Enter: take it   Esc: leave it"
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

    def tried(self, work: Callable[[], None]) -> None:
        """Does what a message asks for; what is refused is a sentence, as it is where a key asks."""
        try:
            work()
        except LabError as error:
            self.lab.report(error)

    @on(Failed)
    def _failed(self, message: Failed) -> None:
        self.lab.report(message.error)

    # -- beside the sheet ------------------------------------------------------------------------------------

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Only what can be done with what is seen."""
        if action == "back":
            return True
        if action == "onward":
            return self.shown == "told"
        if action == "reopen":
            return self.shown in ("told", "over") and self.takes_back
        return self.shown in ("open", "told")

    @on(OpenSheet.At)
    def _at(self, message: OpenSheet.At) -> None:
        """Items that are steps bring their step along."""
        message.stop()
        desk, item = self.desk, message.item
        if desk is None or desk.unit is None:
            return
        if item is not None and item.target is not None and item.target.step is not None and desk.unit.runs:
            self.query_one(Beside).go_to(f"{desk.unit.runs[0]}@{item.target.step + 1}")
        self.renew()

    @on(OpenSheet.Answered)
    def _answered(self, message: OpenSheet.Answered) -> None:
        message.stop()
        self.cover()
        self.renew()

    @on(OpenSheet.Turned)
    def _turned(self, message: OpenSheet.Turned) -> None:
        message.stop()
        self.renew()

    def cover(self) -> None:
        """Marks beside the sheet what its answers rest on."""
        sheet = self.pane.sheet
        heads = [(item, head) for item in self.pane.items.items if (head := sheet.head(item.spot)) is not None]
        rests = [Evidence(head.evidence, head.region, str(item.number or "")) for item, head in heads if head.evidence]
        self.query_one(Beside).cover(rests)

    @on(Beside.Looked)
    def _looked(self, message: Beside.Looked) -> None:
        message.stop()
        self.pane.looked(message.place)

    @on(Beside.Closely)
    def _closely(self, message: Beside.Closely) -> None:
        message.stop()
        if self.desk is not None and self.desk.unit is not None:
            desk, unit = self.desk, self.desk.unit
            self.tried(lambda: desk.act("picture", unit.id, {"place": message.place}))

    @on(Beside.Boxed)
    def _boxed(self, message: Beside.Boxed) -> None:
        message.stop()
        self.pane.items.focus()
        self.pane.take_region(message.place, message.region)
        self.renew()

    def action_step(self, by: int) -> None:
        """The next step of the run, or the one before."""
        beside = self.query_one(Beside)
        beside.move(by)
        self.pane.looked(beside.place)  # at once: an answer may be the very next key

    def action_guide(self) -> None:
        """The guideline, and what each answer of the current item means; that it was read is kept."""
        desk, item = self.desk, self.pane.item
        if desk is None or desk.unit is None:
            return
        from screens.annotate.guide import GuideScreen

        desk.act("guide", desk.unit.id)
        asked = item.field.id if item is not None else ""
        self.app.push_screen(GuideScreen(desk.study.protocol, desk.locale, asked))

    def action_search(self) -> None:
        """Opens the line for words that are looked for in the run."""
        self.pane.search()

    def action_side(self) -> None:
        """Of two runs the other one takes the steps' keys."""
        beside = self.query_one(Beside)
        beside.turn_side()
        self.pane.looked(beside.place)

    def action_question(self, by: int) -> None:
        """The next step with a question."""
        beside = self.query_one(Beside)
        found = beside.question(by)
        self.pane.looked(beside.place)
        if not found:
            self.pane.say("No question from here on.")

    def action_view(self) -> None:
        """Words, or the phone."""
        self.query_one(Beside).turn_view()

    def action_after(self) -> None:
        """The screen after the step, or before it."""
        self.query_one(Beside).turn_after()

    def action_closely(self) -> None:
        """The picture in full, or closed again."""
        if not self.query_one(Beside).look_closely():
            self.pane.say("There is no picture here.")

    def action_overlay(self) -> None:
        """The screen's words over the phone, or its pixels alone."""
        self.query_one(Beside).turn_overlay()

    def action_header(self) -> None:
        """The instruction and what belongs to it, unfolded or in a line."""
        self.query_one(Beside).turn_header()

    def action_scroll(self, pages: int) -> None:
        """What is read beside the sheet, a page on or back."""
        self.query_one(Beside).scroll(pages)
