"""Adjudicate: settle raters' disagreements with a reason, those that change the result most first."""

from __future__ import annotations

from collections.abc import Mapping, Sized
from functools import partial
from typing import TYPE_CHECKING, ClassVar, Literal

from textual import on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Container
from textual.content import Content
from textual.message import Message

from lab.core.errors import LabError
from lab.core.run.screen_clock import Clock
from lab.core.settings import Settings
from lab.core.study.study import Study, Unit
from lab.core.task.task import Actor
from lab.core.text.plain_text import plain
from lab.studies.settling.adjudication import AdjudicationSession
from lab.studies.settling.batch_settlement import undo_batch
from screens.adjudicate.batch_pane import BatchPane
from screens.adjudicate.keys import ADJUDICATE_KEYS
from screens.adjudicate.rows import DisputeList
from screens.adjudicate.settlement_pane import SettlementPane
from screens.adjudicate.words import question_words, title_words
from screens.annotate.phone_pane import Evidence
from screens.annotate.unit_pane import UnitPane
from screens.background import Background
from screens.key_names import with_keys
from screens.lab import lab_of, try_report
from screens.stylesheet import ROOM_STYLES
from screens.widgets.footer import Footer
from screens.widgets.lines import LineList
from screens.widgets.room_screen import RoomScreen
from screens.widgets.status_line import StatusLine

if TYPE_CHECKING:
    from annotators.adjudication import DisputedPlace, Queue
    from store.store import Store


class AdjudicateScreen(RoomScreen[None]):
    """The adjudicator's room: the queue, or one item of it beside its run."""

    CSS_PATH = ROOM_STYLES
    BINDING_GROUP_TITLE = "Adjudicate"
    BINDINGS: ClassVar[list[BindingType]] = ADJUDICATE_KEYS

    def __init__(self, store: Store, settings: Settings, clock: Clock | None = None) -> None:
        super().__init__()
        self.store = store
        self.settings = settings
        self.shown: Literal["queue", "case"] = "queue"
        self.session: AdjudicationSession | None = None
        self.disputes = DisputeList()
        self.pane = SettlementPane(clock or Clock())
        self.batch_pane = BatchPane(clock or Clock())
        self.field = ""
        """Id of the question that is listed alone, empty for all."""
        self._queue: Queue | None = None
        self._units: Mapping[str, Unit] = {}
        self._waiting = 0
        self._reading = Background(self, self._show_queue, self._show_error)
        self._undoing = Background(self, self._report_undo, self._report_refusal)

    def compose(self) -> ComposeResult:
        yield StatusLine("adjudicate-title")
        yield self.disputes
        yield self.batch_pane
        with Container(id="adjudicate-bench"):
            yield UnitPane(self.store, self.settings)
            yield self.pane
        yield StatusLine("adjudicate-state")
        yield Footer()

    def on_mount(self) -> None:
        self.disputes.border_title = "To be settled"
        self.set_mode("queue")
        if self.session is not None:
            self._begin()

    def on_screen_resume(self) -> None:
        """Read again, because others may have settled items meanwhile."""
        if self.session is not None and self.shown == "queue":
            self.read(self.session)

    # -- the queue -------------------------------------------------------------------------------------------

    def open(self, study: Study) -> None:
        """Show a study's queue. If it is open already, keep its state."""
        same = self.session is not None and self.session.study.name == study.name
        self.session = (
            self.session if same else AdjudicationSession(self.store, study, Actor("human", self.settings.person))
        )
        if self.is_mounted and not same:
            self.field, self._queue = "", None
            self._begin()

    def _begin(self) -> None:
        assert self.session is not None
        self.disputes.empty = "Reading what people said ..."
        self.disputes.set_rows([])
        self.batch_pane.close()
        self.to_queue()
        self.read(self.session)

    def read(self, session: AdjudicationSession) -> None:
        """Read the queue."""
        self._reading.start(partial(self._read_queue, session))

    def _read_queue(self, session: AdjudicationSession) -> tuple[Queue, Mapping[str, Unit]]:
        from lab.studies.progress.study_data import load_study_data

        session.check()
        study_data = load_study_data(self.store, session.study)
        return session.queue(study_data), {unit.id: unit for unit in study_data.units}

    def _show_queue(self, read: tuple[Queue, Mapping[str, Unit]]) -> None:
        if self.session is None or self.shown == "case":
            return  # beside an item that is open the list stays; it is read again when the item is left
        before = self._current
        self._queue, self._units = queue, _ = read
        self._waiting = queue.waiting
        self.disputes.empty = self._empty_words(queue.waiting)
        self._list_disputes()
        if before is not None:
            self.disputes.go(self._index(before.unit, before.spot))
        self.renew()

    def _list_disputes(self) -> None:
        """List the open and the settled items, of one question if it is listed alone."""
        if self.session is None or self._queue is None:
            return
        rows = [*self._queue.open, *self._queue.settled]
        rows = [row for row in rows if self.field in ("", row.spot.field)]
        self.disputes.show(rows, self._units, self.session.way)
        # Which verbs the footer has depends on the rows.
        self.refresh_bindings()

    def _empty_words(self, waiting: int) -> str:
        """Return the text of an empty queue."""
        if waiting:
            waits = "1 run waits" if waiting == 1 else f"{waiting:,} runs wait"
            sentence = f"Nothing is to be settled yet: {waits} until all raters have handed it in."
            return sentence + with_keys(self, " {app.agreement} shows the agreement.")
        nothing = "People differ on nothing that is handed in. {app.agreement} shows how far they agree; "
        return with_keys(self, nothing + "{app.back} leads to Home.")

    def _show_error(self, error: LabError) -> None:
        self.disputes.rows = []
        self.disputes.empty = plain(error.sentence) + with_keys(self, " {app.back} leads to Home.")
        self.disputes.changed()
        self.renew()

    @property
    def _current(self) -> DisputedPlace | None:
        return self.disputes.current

    def _index(self, unit: str, spot: object) -> int:
        return next((at for at, row in enumerate(self.disputes.rows) if (row.unit, row.spot) == (unit, spot)), 0)

    @on(LineList.Highlighted, "#adjudicate-queue")
    def _follow_cursor(self, message: LineList.Highlighted) -> None:
        message.stop()
        self.renew()

    @on(LineList.Chosen, "#adjudicate-queue")
    def _open_chosen(self, message: LineList.Chosen) -> None:
        message.stop()
        try_report(self, self.show_case)

    # -- many at once ----------------------------------------------------------------------------------------

    def action_filter(self) -> None:
        """List the next question with disagreement alone, and after the last all questions."""
        if self._queue is None or self.session is None:
            return
        disputed_fields = {one.spot.field for one in (*self._queue.open, *self._queue.settled)}
        fields = ["", *(one.id for one in self.session.study.protocol.fields if one.id in disputed_fields)]
        index = fields.index(self.field) if self.field in fields else 0
        self.field = fields[(index + 1) % len(fields)]
        self._list_disputes()
        self.disputes.go(0)
        self.renew()

    def action_at_once(self) -> None:
        """Ask which of the listed items to settle at once."""
        if self.session is not None:
            still = [dispute for dispute in self.disputes.rows if dispute.settled is None]
            others = (
                []
                if self._queue is None
                else [dispute for dispute in self._queue.open if dispute.spot.field != self.field]
            )
            self.batch_pane.open(self.session, [*still, *(others if self.field else ())], self.field)
            self.refresh_bindings()

    @on(BatchPane.KeysChanged)
    def _update_batch_keys(self, message: BatchPane.KeysChanged) -> None:
        message.stop()
        self.refresh_bindings()
        self.renew()

    @on(BatchPane.Left)
    def _close_batch(self, message: BatchPane.Left) -> None:
        message.stop()
        self.to_queue()

    @on(BatchPane.Settled)
    def _report_batch(self, message: BatchPane.Settled) -> None:
        message.stop()
        self.batch_pane.close()
        open_words = f" Left open: {message.left}." if message.left else ""
        words = f"{message.count:,} settled.{open_words} {{adjudicate.undo_batch}} takes them back."
        if not message.count:
            words = f"Nothing was settled: others have settled them meanwhile.{open_words}"
        self.notify(with_keys(self, words), timeout=6, markup=False)
        self.to_queue()
        if self.session is not None:
            self.read(self.session)

    def action_undo_batch(self) -> None:
        """Undo this person's last batch settlement."""
        if self.session is not None:
            self._undoing.start(partial(undo_batch, self.session))

    def _report_refusal(self, error: LabError) -> None:
        self.notify(plain(error.body), severity="warning", markup=False)

    def _report_undo(self, rows: Sized) -> None:
        count = len(rows)
        self.notify(f"{count:,} {'is' if count == 1 else 'are'} open again.", markup=False)
        if self.session is not None:
            self.read(self.session)

    def to_queue(self) -> None:
        """Close the open item."""
        self.set_mode("queue")
        self.disputes.focus()
        self.renew()

    # -- one item --------------------------------------------------------------------------------------------

    def show_case(self) -> None:
        """Show the item under the queue's cursor beside its run."""
        dispute = self._current
        if dispute is None or self.session is None:
            return
        case = self.session.case(self._units[dispute.unit], dispute.spot)
        if case.settled != dispute.settled:  # another adjudicator settled it meanwhile, or left it unsettled
            self.disputes.rows[self.disputes.cursor] = dispute._replace(settled=case.settled)
            self.disputes.changed()
        if case.closed and not self.store.studies.locked(self.session.study):
            raise LabError(f"item of {dispute.unit}", case.closed, "n goes on to the next.")
        unit_pane = self.query_one(UnitPane)
        if unit_pane.unit is None or unit_pane.unit.id != case.unit.id or self.shown == "queue":
            unit_pane.open(self.session.study, case.unit)
        self.set_mode("case")
        self.pane.open(self.session, case)
        self.mark_evidence()
        self.renew()

    def mark_evidence(self) -> None:
        """Mark the evidence of the answers in the run."""
        rests = [
            Evidence(label.evidence, label.region, voice.display_name)
            for voice in self.pane.answers.rows
            if (label := voice.said.label) is not None and label.evidence
        ]
        self.query_one(UnitPane).mark_evidence(rests)

    @on(SettlementPane.AnswerHighlighted)
    def _show_evidence(self, message: SettlementPane.AnswerHighlighted) -> None:
        """Show the step that this answer rests on."""
        message.stop()
        label = message.voice.said.label if message.voice is not None else None
        if label is not None and label.evidence:
            self.query_one(UnitPane).go_to(label.evidence)

    @on(SettlementPane.Settled)
    def _finish_item(self, message: SettlementPane.Settled) -> None:
        """Update the queue at once and go to the next open item."""
        message.stop()
        dispute, session = self._current, self.session
        assert dispute is not None
        assert session is not None
        settlement = session.store.adjudications.settlements(session.study, dispute.unit).get(
            (dispute.unit, dispute.spot)
        )
        position = self.disputes.cursor
        self.disputes.rows[position] = dispute._replace(settled=settlement)
        self.disputes.changed()
        self.notify("It is open again." if message.withdrawn else "Settled.", timeout=3, markup=False)
        after = [*range(position + 1, self.disputes.count), *range(position)]
        following = next((index for index in after if self.disputes.rows[index].settled is None), None)
        if message.withdrawn or following is None:
            try_report(self, self.show_case)
        else:
            self.disputes.go(following)
            try_report(self, self.show_case)

    @on(SettlementPane.KeysChanged)
    def _update_keys(self, message: SettlementPane.KeysChanged) -> None:
        message.stop()
        self.mark_evidence()
        self.renew()

    # -- painting --------------------------------------------------------------------------------------------

    def set_mode(self, view: Literal["queue", "case"]) -> None:
        """Switch to the queue or to an item."""
        self.shown = view
        self.update_classes({"-queue": view == "queue", "-case": view == "case"})
        self.refresh_bindings()

    def renew(self) -> None:
        """Update the lines above and below."""
        if self.session is None:
            return
        still = sum(row.settled is None for row in self.disputes.rows)
        only = question_words(self.session.way, self.field)
        title = title_words(self.session.study, still, self.disputes.count - still, self.settings.person, only)
        self.query_one("#adjudicate-title", StatusLine).say(Content(title))
        if self.shown == "case":
            state = self.pane.next_words
        elif self.batch_pane.display:
            state = self.batch_pane.next_words
        else:
            waits = f"   {self._waiting:,} more wait until all have handed in." if self._waiting else ""
            plain_ones = sum(row.settled is None and row.majority is not None for row in self.disputes.rows)
            once = with_keys(self, f"   {{adjudicate.at_once}}: settle {plain_ones:,} of them at once.")
            state = with_keys(self, "{list.open}: look at it and settle it.") + once * (plain_ones > 1) + waits
            state = state if self.disputes.rows else with_keys(self, "{adjudicate.back}: back to Home.")
        self.query_one("#adjudicate-state", StatusLine).say(Content(state))

    # -- keys ------------------------------------------------------------------------------------------------

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Enable the keys of the run only if there is one."""
        if action in ("back", "copy"):
            return True
        if action in ("at_once", "filter", "undo_batch"):
            at_queue = self.shown == "queue" and not self.batch_pane.display and self.session is not None
            settled = {row.settled is not None for row in self.disputes.rows}
            needed = {"at_once": {False}, "undo_batch": {True}}.get(action, settled)
            return at_queue and bool(settled & needed)
        return self.shown == "case" and not self.pane.menu.display and self.query_one(UnitPane).has_use(action)

    def action_turn(self, by: int) -> None:
        """Go to the next or the previous item of the queue."""
        self.disputes.go(self.disputes.cursor + by)
        self.show_case()

    def action_back(self) -> None:
        """Close what was opened last. From an item go to the queue, and from there Home."""
        if self.query("HelpPanel"):
            self.app.action_hide_help_panel()
        elif self.batch_pane.display:
            self.batch_pane.close()
            self.to_queue()
        elif self.shown == "case":
            self.pane.leave_line()
            self.to_queue()
            if self.session is not None:
                self.read(self.session)
        else:
            lab_of(self).open_home()

    def action_copy(self) -> None:
        """Copy the item as options of `hitlab labels adjudicate`."""
        dispute = self._current
        if dispute is not None:
            target = f" --target {dispute.spot.target}" if dispute.spot.target else ""
            self.app.copy_to_clipboard(f"--unit {dispute.unit}{target} --field {dispute.spot.field}")
            self.notify("The item is copied.", markup=False)

    def action_guide(self) -> None:
        """Show the guideline, and what each answer of the item means."""
        if self.session is None or self.pane.case is None:
            return
        from screens.annotate.guide import GuideScreen

        study = self.session.study
        self.app.push_screen(GuideScreen(study.protocol, study.locale, self.pane.case.spot.field))

    # -- the run beside an item: its keys are those of Annotate, and change nothing ---------------------------

    @on(UnitPane.PlaceChanged)
    @on(UnitPane.CloseUpShown)
    @on(UnitPane.RegionDrawn)
    def _refresh_keys(self, message: Message) -> None:
        message.stop()
        self.refresh_bindings()

    def action_step(self, by: int) -> None:
        """Go to the next or the previous step of the run."""
        self.query_one(UnitPane).move(by)

    def action_side(self) -> None:
        """Give the keys for steps to the other of two runs."""
        self.query_one(UnitPane).turn_side()

    def action_question(self, by: int) -> None:
        """Go to the next step with a question."""
        if not self.query_one(UnitPane).question(by):
            self.notify("No question from here on.", markup=False)

    def action_view(self) -> None:
        """Toggle the words and the phone."""
        self.query_one(UnitPane).turn_view()

    def action_after(self) -> None:
        """Toggle the screens after and before the step."""
        self.query_one(UnitPane).turn_after()

    def action_closely(self) -> None:
        """Open the picture in full, or close it."""
        if not self.query_one(UnitPane).toggle_close_up():
            self.notify("There is no picture here.", markup=False)

    def action_overlay(self) -> None:
        """Toggle the screen's words as characters over the phone."""
        self.query_one(UnitPane).turn_overlay()

    def action_header(self) -> None:
        """Unfold or fold the header with the instruction."""
        self.query_one(UnitPane).turn_header()

    def action_scroll(self, pages: int) -> None:
        """Scroll the text beside the answers by pages."""
        self.query_one(UnitPane).scroll(pages)
