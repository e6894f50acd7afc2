"""What is seen of one item that is settled: it in full, the answers side by side, what is chosen, a line to type in."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from textual import on
from textual.app import ComposeResult
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.message import Message

from lab.core.screen_clock import Clock
from lab.studies.adjudication import AdjudicationSession, ItemAnswers, MaskedAnswer
from lab.studies.rating_pace import Pace
from lab.studies.sheet_items import SheetItem, way_of
from lab.studies.sheet_wording import Wording
from lab.studies.typed_answers import hint_of
from screens.adjudicate.rows import AnswerList
from screens.adjudicate.words import SettlementDraft, beside_words, case_words, item_at
from screens.annotate.answer_field import AnswerLine
from screens.annotate.menu import Menu
from screens.annotate.rows import AnswerOptions
from screens.key_names import with_keys
from screens.theme import ERROR
from screens.widgets.lines import LineList
from screens.widgets.status_line import StatusLine
from screens.widgets.text_page import TextPage

Typing = Literal["", "value", "reason", "minutes", "now", "why", "withdraw"]


class RightAnswers(VerticalScroll):
    """The answers that may be right; tab leads there where not all of them are seen."""

    HELP = "The answers that may be right. **PgDn** and the arrows read on; a digit chooses, **tab** leads on."

    def allow_focus(self) -> bool:
        return super().allow_focus() and bool(self.max_scroll_y)


class ItemPane(Vertical):
    """Whoever holds it calls `open` with a case, and hears what is looked at."""

    @dataclass
    class LookedAt(Message):
        """The answer under the cursor is another one."""

        voice: MaskedAnswer | None

    class Turned(Message):
        """The keys lead elsewhere now."""

    def __init__(self, clock: Clock) -> None:
        super().__init__(id="adjudicate-pane")
        self.session: AdjudicationSession | None = None
        self.case: ItemAnswers | None = None
        self.judges = False
        self.typing: Typing = ""
        self._drafts: dict[tuple[str, str, str], SettlementDraft] = {}
        self.ask = TextPage(id="adjudicate-ask")
        self.voices = AnswerList()
        self.words = TextPage(id="adjudicate-words")
        self.options = AnswerOptions()
        self.choices = RightAnswers(id="adjudicate-choices")
        self.wrong = StatusLine("adjudicate-wrong")
        self.line = AnswerLine(clock, Pace(clock))
        self.menu = Menu()

    def compose(self) -> ComposeResult:
        yield self.ask
        yield self.voices
        with self.choices:
            yield self.options
        yield self.wrong
        yield self.line
        yield self.menu
        yield self.words

    def on_mount(self) -> None:
        self.watch(self.choices, "show_vertical_scrollbar", self._room_turned, init=False)

    def _room_turned(self) -> None:
        """Answers came or went out of sight."""
        self.post_message(self.Turned())

    # -- which item ------------------------------------------------------------------------------------------

    @property
    def item(self) -> SheetItem:
        assert self.case is not None
        assert self.session is not None
        return item_at(self.session.study.protocol, self.case.unit, self.case.spot)

    @property
    def way(self) -> Wording:
        assert self.session is not None
        return self.session.way

    @property
    def draft(self) -> SettlementDraft:
        """What was chosen here so far."""
        assert self.case is not None
        return self._drafts.setdefault((self.case.unit.id, *self.case.spot), SettlementDraft())

    def open(self, session: AdjudicationSession, case: ItemAnswers) -> None:
        """Shows an item."""
        self.leave_line()
        self.session, self.case = session, case
        self.voices.border_title = "Answers"
        self.renew()
        self.voices.focus()
        self.post_message(self.LookedAt(self.voices.current))

    def renew(self, wrong: str = "") -> None:
        """Paints the item as it stands."""
        assert self.case is not None
        self.draft.judges_seen |= self.judges and bool(self.case.judges)
        self._show(self.ask, case_words(self.way, self.case))
        self.voices.show(self.case, self.way, self.draft, judges=self.judges)
        self.voices.styles.height = max(3, min(8, self.voices.count + 2))
        self._show(self.words, beside_words(self.way, self.case, self.voices.current, self.draft))
        choices = self.way.choices(self.item) if way_of(self.item) == "choice" and not self.case.closed else []
        standing = {one.key for one in choices if self.draft.value is not None and one.value == self.draft.value}
        says = (
            ""
            if choices or self.case.closed
            else with_keys(self, f"{{adjudicate.type}}: type {hint_of(self.item.field)}")
        )
        self.options.show(choices, (), standing, says)
        self.wrong.say(Content.styled(wrong, ERROR))
        self.post_message(self.Turned())

    def _show(self, page: TextPage, words: Content) -> None:
        """Other words begin at their top; the same stay where they were read."""
        if words != page.content:
            page.show(words)

    @property
    def next_words(self) -> str:
        """What the keys do now, and where answers are out of sight, how they are read."""
        more = "   tab, then PgDn: the answers read on" if self.choices.show_vertical_scrollbar else ""
        return with_keys(self, self._next_words()) + more

    def _next_words(self) -> str:
        if self.menu.display:
            return "A digit or {other.choose} chooses, {other.leave} leaves."
        if self.typing == "reason":
            same = " as the last one; typing writes another" if self.line.selected_text else ""
            return f"{{entry.keep}} settles it by this reason{same}, {{entry.leave}} leaves; the reason stays."
        if self.typing:
            return "{entry.keep} keeps what you typed, {entry.leave} leaves."
        if self.case is None or self.case.closed:
            return "{adjudicate.next}: the next item. {adjudicate.back}: back to the queue."
        if self.draft.chosen:
            return "{adjudicate.settle}: say why and settle it."
        if self.case.settled is not None:
            acts = "{adjudicate.withdraw} leaves it unsettled, {adjudicate.next} goes on."
            return "Settled. A digit settles it anew, " + acts
        most = ", {adjudicate.majority} what most say" if self.case.majority is not None else ""
        if not self.options.choices:
            return f"{{adjudicate.type}} types it{most}."
        return f"A digit chooses{most}; {{adjudicate.settle}} then asks why."

    @on(LineList.Highlighted, "#adjudicate-said")
    def _moved_to(self, message: LineList.Highlighted) -> None:
        message.stop()
        if self.case is not None:
            self._show(self.words, beside_words(self.way, self.case, self.voices.current, self.draft))
            self.post_message(self.LookedAt(self.voices.current))

    # -- typing ----------------------------------------------------------------------------------------------

    def type(self, what: Typing, title: str, words: str = "", hint: str = "", *, selected: bool = False) -> None:
        """Opens the line; words that are `selected` are replaced by what is typed."""
        self.typing = what
        self.line.open(title, words, hint, selected=selected)
        self.refresh_bindings()
        self.post_message(self.Turned())

    def leave_line(self) -> None:
        """Closes the line and what else is open over the item; a reason that was begun stays."""
        if self.typing == "reason" and self.case is not None:
            self.draft.reason = self.line.text.strip()
        if self.typing or self.menu.display:
            self.typing = ""
            self.line.close()
            self.menu.close()
            self.voices.focus()
            self.refresh_bindings()
