"""Adjudicate: what raters differ on, what moves the result most first; one item beside its run, settled by a reason."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, ClassVar, Literal, cast

from textual import on, work
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Container
from textual.content import Content
from textual.message import Message

from lab.errors import LabError
from lab.plain import plain
from lab.settings import Settings
from lab.study import Study, Unit
from lab.task import Actor
from screens.adjudicate.chair import Chair
from screens.adjudicate.keys import ADJUDICATE_KEYS
from screens.adjudicate.pane import SettlePane
from screens.adjudicate.rows import Disputes
from screens.adjudicate.watching import Watching
from screens.adjudicate.words import title_words
from screens.annotate.beside import Beside
from screens.annotate.phone import Evidence
from screens.author.told import Told
from screens.clock import Clock
from screens.footer import Footer
from screens.lines import Lines

if TYPE_CHECKING:
    from annotators.adjudication import Dispute, Queue
    from screens.app import LabApp
    from store.store import Store


class AdjudicateScreen(Watching):
    """The room of who settles: the queue, or one item of it."""

    BINDING_GROUP_TITLE = "Adjudicate"
    BINDINGS: ClassVar[list[BindingType]] = ADJUDICATE_KEYS

    class Read(Message):
        """The queue was read."""

        def __init__(self, study: Study, queue: Queue, units: Mapping[str, Unit]) -> None:
            super().__init__()
            self.study = study
            self.queue = queue
            self.units = units

    class Failed(Message):
        """What was read off the UI thread was refused."""

        def __init__(self, error: LabError) -> None:
            super().__init__()
            self.error = error

    def __init__(self, store: Store, settings: Settings, clock: Clock | None = None) -> None:
        super().__init__()
        self.store = store
        self.settings = settings
        self.shown: Literal["queue", "case"] = "queue"
        self.chair: Chair | None = None
        self.disputes = Disputes()
        self.pane = SettlePane(clock or Clock())
        self._units: Mapping[str, Unit] = {}
        self._waiting = 0

    def compose(self) -> ComposeResult:
        yield Told("adjudicate-title")
        yield self.disputes
        with Container(id="adjudicate-bench"):
            yield Beside(self.store, self.settings)
            yield self.pane
        yield Told("adjudicate-state")
        yield Footer()

    def on_mount(self) -> None:
        self.disputes.border_title = "To be settled"
        self.mode("queue")
        if self.chair is not None:
            self._begin()

    def on_screen_resume(self) -> None:
        """Others may have settled something while another room was looked at."""
        if self.chair is not None and self.shown == "queue":
            self.read(self.chair)

    @property
    def lab(self) -> LabApp:
        return cast("LabApp", self.app)

    # -- the queue -------------------------------------------------------------------------------------------

    def open(self, study: Study) -> None:
        """Shows a study's queue; the one that is open stays as it is."""
        same = self.chair is not None and self.chair.study.name == study.name
        self.chair = self.chair if same else Chair(self.store, study, Actor("human", self.settings.person))
        if self.is_mounted and not same:
            self._begin()

    def _begin(self) -> None:
        assert self.chair is not None
        self.disputes.rows, self.disputes.empty = [], "Reading what people said ..."
        self.disputes.changed()
        self.to_queue()
        self.read(self.chair)

    @work(thread=True, exclusive=True, group="queue")
    def read(self, chair: Chair) -> None:
        """Reads what is to be settled."""
        from lab.gathering import gathered

        try:
            chair.check()
            studied = gathered(self.store, chair.study)
            found = chair.queue(studied)
            self.post_message(self.Read(chair.study, found, {unit.id: unit for unit in studied.units}))
        except LabError as error:
            self.post_message(self.Failed(error))

    @on(Read)
    def _read(self, message: Read) -> None:
        if self.chair is None or self.chair.study.name != message.study.name:
            return
        before = self._current
        found = message.queue
        self._units, self._waiting = message.units, found.waiting
        self.disputes.empty = self._empty(found.waiting)
        self.disputes.show([*found.open, *found.settled], self._units, self.chair.way)
        if before is not None:
            self.disputes.go(self._index(before.unit, before.spot))
        self.renew()

    def _empty(self, waiting: int) -> str:
        """What is said where there is nothing."""
        if waiting:
            waits = "1 run waits" if waiting == 1 else f"{waiting:,} runs wait"
            return f"Nothing is to be settled yet: {waits} until all raters have handed it in. F6 shows the agreement."
        return "People differ on nothing that is handed in. F6 shows how far they agree; Esc leads to Home."

    @on(Failed)
    def _failed(self, message: Failed) -> None:
        self.disputes.rows, self.disputes.empty = [], plain(f"{message.error.sentence} Esc leads to Home.")
        self.disputes.changed()
        self.renew()

    @property
    def _current(self) -> Dispute | None:
        rows = self.disputes.rows
        return rows[self.disputes.cursor] if rows else None

    def _index(self, unit: str, spot: object) -> int:
        return next((at for at, row in enumerate(self.disputes.rows) if (row.unit, row.spot) == (unit, spot)), 0)

    @on(Lines.Highlighted, "#adjudicate-queue")
    def _highlighted(self, message: Lines.Highlighted) -> None:
        message.stop()
        self.renew()

    @on(Lines.Chosen, "#adjudicate-queue")
    def _chosen(self, message: Lines.Chosen) -> None:
        message.stop()
        self.tried(self.show_case)

    def to_queue(self) -> None:
        """Leaves the item that is open."""
        self.mode("queue")
        self.disputes.focus()
        self.renew()

    # -- one item --------------------------------------------------------------------------------------------

    def show_case(self) -> None:
        """Shows the item under the queue's cursor beside its run."""
        dispute = self._current
        if dispute is None or self.chair is None:
            return
        case = self.chair.case(self._units[dispute.unit], dispute.spot)
        if case.closed and not self.store.locked(self.chair.study):
            raise LabError(f"item of {dispute.unit}", case.closed, "n goes on to the next.")
        beside = self.query_one(Beside)
        if beside.unit is None or beside.unit.id != case.unit.id or self.shown == "queue":
            beside.open(self.chair.study, case.unit)
        self.mode("case")
        self.pane.open(self.chair, case)
        self.cover()
        self.renew()

    def cover(self) -> None:
        """Marks in the run what the answers rest on."""
        rests = [
            Evidence(label.evidence, label.region, voice.called)
            for voice in self.pane.voices.voices
            if (label := voice.said.label) is not None and label.evidence
        ]
        self.query_one(Beside).cover(rests)

    @on(SettlePane.LookedAt)
    def _looked_at(self, message: SettlePane.LookedAt) -> None:
        """The run goes to the step that this answer rests on."""
        message.stop()
        label = message.voice.said.label if message.voice is not None else None
        if label is not None and label.evidence:
            self.query_one(Beside).go_to(label.evidence)

    @on(SettlePane.Settled)
    def _settled(self, message: SettlePane.Settled) -> None:
        """The queue tells it at once; on goes the next item that is open."""
        message.stop()
        dispute, chair = self._current, self.chair
        assert dispute is not None
        assert chair is not None
        settled = chair.store.settled(chair.study, dispute.unit).get((dispute.unit, dispute.spot))
        at = self.disputes.cursor
        self.disputes.rows[at] = dispute._replace(settled=settled)
        self.disputes.changed()
        self.notify("It is open again." if message.withdrawn else "Settled.", timeout=3, markup=False)
        after = [*range(at + 1, self.disputes.count), *range(at)]
        following = next((index for index in after if self.disputes.rows[index].settled is None), None)
        if message.withdrawn or following is None:
            self.tried(self.show_case)
        else:
            self.disputes.go(following)
            self.tried(self.show_case)

    @on(SettlePane.Turned)
    def _turned(self, message: SettlePane.Turned) -> None:
        message.stop()
        self.cover()
        self.renew()

    # -- painting --------------------------------------------------------------------------------------------

    def mode(self, shown: Literal["queue", "case"]) -> None:
        """The queue, or an item, is seen."""
        self.shown = shown
        self.set_class(shown == "queue", "-queue")
        self.set_class(shown == "case", "-case")
        self.refresh_bindings()

    def renew(self) -> None:
        """Paints the lines above and below."""
        if self.chair is None:
            return
        still = sum(row.settled is None for row in self.disputes.rows)
        title = title_words(self.chair.study, still, self.disputes.count - still, self.settings.person)
        self.query_one("#adjudicate-title", Told).say(Content(title))
        if self.shown == "case":
            state = self.pane.next_words
        else:
            waits = f"   {self._waiting:,} more wait until all have handed in." if self._waiting else ""
            state = f"Enter: look at it and settle it.{waits}" if self.disputes.rows else "Esc: back to Home."
        self.query_one("#adjudicate-state", Told).say(Content(state))

    def tried(self, does: Callable[[], None]) -> None:
        """Does what a message asks for; what is refused is a sentence, as it is where a key asks."""
        try:
            does()
        except LabError as error:
            self.lab.report(error)

    # -- keys ------------------------------------------------------------------------------------------------

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """The run's keys are there where a run is."""
        if action in ("back", "copy"):
            return True
        return self.shown == "case" and not self.pane.menu.display

    def action_turn(self, by: int) -> None:
        """The next item of the queue, or the one before."""
        self.disputes.go(self.disputes.cursor + by)
        self.show_case()

    def action_back(self) -> None:
        """Out of what was opened last; from an item to the queue, from there to Home."""
        if self.query("HelpPanel"):
            self.app.action_hide_help_panel()
        elif self.shown == "case":
            self.pane.leave_line()
            self.to_queue()
        else:
            self.lab.open_home()

    def action_copy(self) -> None:
        """Copies the item as `hitlab adjudicate` takes it."""
        dispute = self._current
        if dispute is not None:
            target = f" --target {dispute.spot.target}" if dispute.spot.target else ""
            self.app.copy_to_clipboard(f"--unit {dispute.unit}{target} --field {dispute.spot.field}")
            self.notify("The item is copied.", markup=False)

    def action_guide(self) -> None:
        """The guideline, and what each answer of the item means."""
        if self.chair is None or self.pane.case is None:
            return
        from screens.annotate.guide import GuideScreen

        study = self.chair.study
        self.app.push_screen(GuideScreen(study.protocol, study.locale, self.pane.case.spot.field))
