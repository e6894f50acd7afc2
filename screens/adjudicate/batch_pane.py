"""Settle many open items in one act: their selection, the deciding answers, the reason, and a confirmation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, ClassVar, Literal

from textual import on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.message import Message

from lab.core.errors import LabError
from lab.core.run.screen_clock import Clock
from lab.core.text.plain_text import plain
from lab.studies.rating.rating_pace import Pace
from lab.studies.settling.adjudication import AdjudicationSession
from lab.studies.settling.batch_settlement import BatchScope, BatchSettlement, batch_of, raters_of, settle_batch
from screens.adjudicate.words import question_words, reason_choices
from screens.annotate.answer_field import AnswerLine
from screens.annotate.item_pane import AnswerOptions
from screens.annotate.menu import Menu, MenuEntry
from screens.background import Background
from screens.dialogs import AskScreen
from screens.key_names import with_keys
from screens.lab import ReportsErrors
from screens.theme import ERROR
from screens.widgets.status_line import StatusLine

if TYPE_CHECKING:
    from annotators.adjudication import DisputedPlace

Stage = Literal["", "scope", "rater", "counting", "reason"]


class BatchPane(ReportsErrors, Vertical):
    """A pane below the queue. The room calls `open` and receives `Settled` or `Left`."""

    BINDINGS: ClassVar[list[BindingType]] = []

    @dataclass
    class Settled(Message):
        """Message: items were settled. `left` counts those that stay open, by reason."""

        count: int
        left: str

    class Left(Message):
        """Message: the pane was closed and nothing was settled."""

    class KeysChanged(Message):
        """Message: the keys of the pane changed."""

    def __init__(self, clock: Clock) -> None:
        super().__init__(id="adjudicate-batch")
        self.session: AdjudicationSession | None = None
        self.stage: Stage = ""
        self.says = StatusLine("batch-says")
        self.options = AnswerOptions()
        self.wrong = StatusLine("batch-wrong")
        self.line = AnswerLine(clock, Pace(clock))
        self.menu = Menu()
        self._disputes: Sequence[DisputedPlace] = ()
        self._scope = BatchScope()
        self._batch: BatchSettlement | None = None
        self._counting = Background(self, self._ask_reason, self._report_failure)
        self._settling = Background(self, self.post_message, self._report_failure)

    def compose(self) -> ComposeResult:
        yield self.says
        yield self.options
        yield self.wrong
        yield self.line
        yield self.menu

    def on_mount(self) -> None:
        self.display = False

    @property
    def next_words(self) -> str:
        """The line about the keys."""
        match self.stage:
            case "counting":
                return "Counting ..."
            case "reason":
                digits = "A digit writes a reason. " if self.line.presets else ""
                words = f"{digits}{{entry.keep}} asks once more, then settles them; {{entry.leave}} leaves them open."
                return with_keys(self, words)
        return with_keys(self, "A digit or {other.choose} chooses, {other.leave} leaves.")

    def open(self, session: AdjudicationSession, disputes: Sequence[DisputedPlace], field: str) -> None:
        """Ask which of the open items to settle. `disputes` are all of them, `field` is the question listed alone."""
        self.session, self._disputes, self._scope = session, disputes, BatchScope(field)
        in_scope = [dispute for dispute in disputes if field in ("", dispute.spot.field)]
        most = sum(dispute.majority is not None for dispute in in_scope)
        nearly = sum(dispute.all_but_one for dispute in in_scope)
        entries = [
            MenuEntry("majority", f"by what most say: {most:,} of {len(in_scope):,}"),
            MenuEntry("nearly", f"only where all but one agree: {nearly:,} of {len(in_scope):,}"),
        ]
        if raters_of(session):
            entries.append(MenuEntry("rater", "by one rater's answers ..."))
        question = question_words(session.way, field)
        self._open_menu("scope", f"Settle at once{f': {question}' if question else ''}", entries)

    def close(self) -> None:
        """Close the pane and discard its state."""
        self._enter_stage("")
        self.display = False

    def _enter_stage(self, stage: Stage) -> None:
        self.stage = stage
        self.line.close()
        self.menu.close()
        self.options.show(())
        for part in (self.says, self.wrong):
            part.say(Content(""))
        self.post_message(self.KeysChanged())

    def _open_menu(self, stage: Stage, title: str, entries: Sequence[MenuEntry]) -> None:
        self._enter_stage(stage)
        self.display = True
        self.menu.open(title, entries)

    # -- which of them ---------------------------------------------------------------------------------------

    @on(Menu.Picked)
    def _apply_choice(self, message: Menu.Picked) -> None:
        message.stop()
        what, _, code = message.id.partition(" ")
        match what:
            case "majority":
                self._start_count(self._scope)
            case "nearly":
                self._start_count(self._scope._replace(all_but_one=True))
            case "rater":
                assert self.session is not None
                raters = [MenuEntry(f"by {name}", plain(name, lines=False)) for name in raters_of(self.session)]
                self._open_menu("rater", "By whose answers", raters)
            case "by":
                self._start_count(self._scope._replace(rater=code))
            case _:
                self._leave()

    def _leave(self) -> None:
        self.close()
        self.post_message(self.Left())

    def _start_count(self, scope: BatchScope) -> None:
        assert self.session is not None
        self._enter_stage("counting")
        self._counting.start(partial(batch_of, self.session, self._disputes, scope))

    def _report_failure(self, error: LabError) -> None:
        self.notify(plain(error.sentence), severity="error", markup=False)
        self._leave()

    # -- why -------------------------------------------------------------------------------------------------

    def _ask_reason(self, batch: BatchSettlement) -> None:
        if self.stage != "counting":
            return  # it was left meanwhile, or another study was opened
        assert self.session is not None
        self._batch = batch
        if not batch.rulings:
            self.notify(f"Nothing of that can be settled: {batch.left_words}.", markup=False)
            self._leave()
            return
        self._enter_stage("reason")
        self.says.say(Content(self._summary))
        choices = reason_choices(self.session.way)
        self.options.show(choices)
        presets = [choice.value for choice in choices]
        self.line.open("Why are they so?", "", "one reason for all of them, in a sentence", presets=presets)

    @property
    def _summary(self) -> str:
        """The items that would be settled, and those that stay open, in words."""
        assert self._batch is not None
        count = len(self._batch.rulings)
        by = f"as {self._batch.scope.rater} says" if self._batch.scope.rater else "as most say"
        open_words = f"; left open: {self._batch.left_words}" if self._batch.left else ""
        return f"{count:,} {'item is' if count == 1 else 'items are'} settled {by}{open_words}."

    @on(AnswerOptions.Picked)
    def _write_reason(self, message: AnswerOptions.Picked) -> None:
        message.stop()
        for choice in self.options.choices:
            if choice.key == message.key:
                self.line.write(choice.value)
                self.line.focus()

    @on(AnswerLine.Exited)
    def _cancel_reason(self, message: AnswerLine.Exited) -> None:
        message.stop()
        self._leave()

    @on(AnswerLine.Ended)
    def _confirm(self, message: AnswerLine.Ended) -> None:
        message.stop()
        reason = self.line.text.strip()
        if not reason:
            self.wrong.say(Content.styled("A reason must be said; it stands beside each of them from now on.", ERROR))
            return
        says = f"{self._summary}\n\n“{plain(reason)}”\n\nWhat raters said stays as it is."
        self.app.push_screen(AskScreen("Settle at once", says, "Settle them"), self._settle_if_sure)

    def _settle_if_sure(self, sure: bool | None) -> None:
        if not sure:
            self.line.focus()
            return
        assert self.session is not None
        assert self._batch is not None
        batch, reason = self._batch, self.line.text.strip()
        self._enter_stage("counting")
        session = self.session
        self._settling.start(lambda: self.Settled(len(settle_batch(session, batch, reason)), batch.left_words))
