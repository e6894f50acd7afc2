"""The pane that settles one item: choose an answer, note a discussion, and type a reason."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from msgspec.structs import replace
from textual import events, on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.message import Message

from lab.core.errors import LabError
from lab.core.run.screen_clock import Clock
from lab.core.study.adjudication import Means, Move, PlaceAnswer
from lab.core.study.label import Missing
from lab.core.task.task import Actor
from lab.studies.rating.rating_pace import Pace
from lab.studies.rating.sheet_items import SheetItem, chosen_keys, selection_problem, toggle_option, way_of
from lab.studies.rating.sheet_wording import Wording
from lab.studies.rating.typed_answers import hint_of, typed_value, words_of
from lab.studies.settling.adjudication import AdjudicationSession, ItemAnswers, MaskedAnswer
from screens.adjudicate.keys import SETTLE_KEYS
from screens.adjudicate.rows import AnswerList
from screens.adjudicate.words import SettlementDraft, beside_words, case_words, item_at, reason_choices
from screens.annotate.answer_field import AnswerLine
from screens.annotate.item_pane import AnswerOptions
from screens.annotate.keys import ascii_digit
from screens.annotate.menu import Menu, MenuEntry
from screens.key_names import with_keys
from screens.lab import ReportsErrors
from screens.theme import ERROR
from screens.widgets.lines import LineList
from screens.widgets.status_line import StatusLine
from screens.widgets.text_page import TextPage

Typing = Literal["", "value", "reason", "minutes", "now", "why", "withdraw"]
_REASONS: tuple[Missing, ...] = ("cannot_judge", "not_reached", "not_applicable", "skipped")
_STAYED = "stayed"


class RightAnswers(VerticalScroll):
    """The possible answers. Tab focuses them only if some are out of sight."""

    HELP = "The answers that may be right. **PgDn** and the arrows read on; a digit chooses, **tab** leads on."

    def allow_focus(self) -> bool:
        return super().allow_focus() and bool(self.max_scroll_y)


class SettlementPane(ReportsErrors, Vertical):
    """An item in full, the answers side by side, the draft, and a text field. Posts what was settled.

    The room calls `open` with a case and receives `AnswerHighlighted`.
    """

    BINDING_GROUP_TITLE = "Settle"
    BINDINGS: ClassVar[list[BindingType]] = SETTLE_KEYS

    @dataclass
    class AnswerHighlighted(Message):
        """Message: the cursor is on another answer."""

        voice: MaskedAnswer | None

    class KeysChanged(Message):
        """Message: the keys of the pane changed."""

    @dataclass
    class Settled(Message):
        """Message: the open item was settled, or unsettled again."""

        withdrawn: bool

    def __init__(self, clock: Clock) -> None:
        super().__init__(id="adjudicate-pane")
        self.session: AdjudicationSession | None = None
        self.case: ItemAnswers | None = None
        self.judges = False
        self.typing: Typing = ""
        self._drafts: dict[tuple[str, str, str, str], SettlementDraft] = {}
        """By study, unit, target and field, because studies of the same runs have the same units."""
        self.ask = TextPage(id="adjudicate-ask")
        self.answers = AnswerList()
        self.words = TextPage(id="adjudicate-words")
        self.options = AnswerOptions()
        self.choices = RightAnswers(id="adjudicate-choices")
        self.wrong = StatusLine("adjudicate-wrong")
        self.line = AnswerLine(clock, Pace(clock))
        self.menu = Menu()
        self._pending_move: tuple[str, Any] = ("", None)
        """The rater whose change of mind is being recorded, and the new answer."""
        self._last_reason = ""
        """Reason of the last settlement, offered for the next item."""

    def compose(self) -> ComposeResult:
        yield self.ask
        yield self.answers
        with self.choices:
            yield self.options
        yield self.wrong
        yield self.line
        yield self.menu
        yield self.words

    def on_mount(self) -> None:
        self.watch(self.choices, "show_vertical_scrollbar", self._announce_scrollbar, init=False)

    def _announce_scrollbar(self) -> None:
        """Update the keys after answers went out of sight or came into it."""
        self.post_message(self.KeysChanged())

    # -- which item ------------------------------------------------------------------------------------------

    @property
    def item(self) -> SheetItem:
        assert self.case is not None
        assert self.session is not None
        return item_at(self.session.study.protocol, self.case.unit, self.case.spot)

    @property
    def wording(self) -> Wording:
        assert self.session is not None
        return self.session.way

    @property
    def draft(self) -> SettlementDraft:
        """Draft of the open item."""
        return self._drafts.setdefault(self._draft_key, SettlementDraft())

    @property
    def _draft_key(self) -> tuple[str, str, str, str]:
        assert self.case is not None
        assert self.session is not None
        return (self.session.study.name, self.case.unit.id, *self.case.spot)

    @property
    def by_digits(self) -> bool:
        """True if digits choose the answer."""
        return way_of(self.item) in ("choice", "many")

    def open(self, session: AdjudicationSession, case: ItemAnswers) -> None:
        """Show an item."""
        if self.session is not None and self.session.study.name != session.study.name:
            self._last_reason = ""
        self.leave_line()
        self.session, self.case = session, case
        self.answers.border_title = "Answers"
        self.renew()
        self.answers.focus()
        self.post_message(self.AnswerHighlighted(self.answers.current))

    def renew(self, wrong: str = "") -> None:
        """Repaint the item in its current state."""
        assert self.case is not None
        # Once shown, judges' answers may have influenced the adjudicator. The settlement records that.
        self.draft.judges_seen |= self.judges and bool(self.case.judges)
        self._show_if_new(self.ask, case_words(self.wording, self.case))
        self.answers.show(self.case, self.wording, self.draft, judges=self.judges)
        self.answers.styles.height = max(3, min(8, self.answers.count + 2))
        self._show_if_new(self.words, beside_words(self.wording, self.case, self.answers.current, self.draft))
        many = way_of(self.item) == "many"
        choices = self.wording.choices(self.item) if self.by_digits and not self.case.closed else []
        marked_keys = {
            choice.key for choice in choices if self.draft.value is not None and choice.value == self.draft.value
        }
        marked_keys |= chosen_keys(choices, self.draft.value) if many else set()
        says = (
            ""
            if choices or self.case.closed
            else with_keys(self, f"{{adjudicate.type}}: type {hint_of(self.item.field)}")
        )
        self.options.show(choices, (), marked_keys, says, many=many)
        self.wrong.say(Content.styled(wrong, ERROR))
        self.post_message(self.KeysChanged())

    def _show_if_new(self, page: TextPage, words: Content) -> None:
        """Show new text from its top. The same text keeps its scroll offset."""
        if words != page.content:
            page.show(words)

    @property
    def next_words(self) -> str:
        """The line about the keys, with how to read answers that are out of sight."""
        out_of_sight = self.choices.show_vertical_scrollbar and not (self.menu.display or self.typing)
        more = "   tab, then PgDn: the answers read on" if out_of_sight else ""
        return with_keys(self, self._next_words()) + more

    def _next_words(self) -> str:
        if self.menu.display:
            return "A digit or {other.choose} chooses, {other.leave} leaves."
        if self.typing == "reason":
            same = " as the last one; typing writes another" if self.line.selected_text else ""
            digits = "A digit writes a reason. " if self.line.presets else ""
            return f"{digits}{{entry.keep}} settles it by this reason{same}, {{entry.leave}} leaves; the reason stays."
        if self.typing:
            return "{entry.keep} keeps what you typed, {entry.leave} leaves."
        if self.case is None or self.case.closed:
            return "{adjudicate.next}: the next item. {adjudicate.back}: back to the queue."
        if self.draft.has_choice:
            return "{adjudicate.settle}: say why and settle it."
        if self.case.settled is not None:
            acts = "{adjudicate.withdraw} leaves it unsettled, {adjudicate.next} goes on."
            return "Settled. A digit settles it anew, " + acts
        most = ", {adjudicate.majority} what most say" if self.case.majority is not None else ""
        if not self.options.choices:
            return f"{{adjudicate.type}} types it{most}."
        if way_of(self.item) == "many":
            return f"Digits choose{most}; {{adjudicate.settle}} then asks why."
        return f"A digit chooses{most}; {{adjudicate.settle}} then asks why."

    @on(LineList.Highlighted, "#adjudicate-said")
    def _follow_cursor(self, message: LineList.Highlighted) -> None:
        message.stop()
        if self.case is not None:
            self._show_if_new(self.words, beside_words(self.wording, self.case, self.answers.current, self.draft))
            self.post_message(self.AnswerHighlighted(self.answers.current))

    # -- typing ----------------------------------------------------------------------------------------------

    def type(self, what: Typing, title: str, words: str = "", hint: str = "", *, selected: bool = False) -> None:
        """Open the text field. Typing replaces `selected` words."""
        self.typing = what
        presets = [choice.value for choice in reason_choices(self.wording)] if what == "reason" else []
        self.set_class(bool(presets), "-reason")
        self.add_class("-typing")
        self.line.open(title, words, hint, selected=selected, presets=presets)
        self.refresh_bindings()
        self.post_message(self.KeysChanged())

    def leave_line(self) -> None:
        """Close the text field and the menu. A reason that was begun stays in the draft."""
        if self.typing == "reason" and self.case is not None:
            self.draft.reason = self.line.text.strip()
        self.remove_class("-reason", "-typing", "-menu")
        if self.typing or self.menu.display:
            reasoned, self.typing = self.typing == "reason", ""
            self.line.close()
            self.menu.close()
            self.answers.focus()
            self.refresh_bindings()
            if reasoned:
                self.renew()

    # -- what can be done -----------------------------------------------------------------------------------

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Enable only what can be done with this item, and nothing while a person types."""
        if self.case is None or self.typing or self.menu.display:
            return False
        if action == "withdraw":
            return self.case.settled is not None and not self.case.closed
        if action == "judges":
            return bool(self.case.judges)
        if action == "majority":
            return self.case.majority is not None and not self.case.closed
        if action in ("digit", "settle", "discussed", "moved", "type"):
            return not self.case.closed
        return True

    # -- choosing --------------------------------------------------------------------------------------------

    def on_key(self, event: events.Key) -> None:
        """Accept a digit in any width that an input method writes."""
        digit = ascii_digit(event.character)
        if digit is not None and self.check_action("digit", ()) and self.answers.has_focus:
            event.stop()
            self.action_digit(digit)

    def action_digit(self, digit: int) -> None:
        """Choose an option, begin a typed value with the digit, or (0) ask why there is no right answer."""
        if digit == 0:
            reasons = [MenuEntry(f"missing {reason}", self.wording.reason(reason)) for reason in _REASONS]
            self._open_menu("No right answer: why", reasons)
            return
        choices = self.wording.choices(self.item) if self.by_digits else []
        if not choices:
            self.type("value", self.item.field.id, str(digit), hint_of(self.item.field))
            return
        choice = next((option for option in choices if option.key.lstrip("0") == str(digit)), None)
        if choice is None:
            self.renew(f"There is no answer {digit}.")
        else:
            self._choose_option(choice.value)

    @on(AnswerOptions.Picked)
    def _take_option(self, message: AnswerOptions.Picked) -> None:
        message.stop()
        choice = next((option for option in self.options.choices if option.key == message.key), None)
        if choice is not None and self.typing == "reason":
            self.line.write(choice.value)
            self.line.focus()
        elif choice is not None:
            self._choose_option(choice.value)

    def _choose_option(self, value: Any) -> None:
        """Choose an option, or toggle it in a field of many options."""
        if way_of(self.item) == "many":
            selection = self.draft.value if isinstance(self.draft.value, list) else None
            value = toggle_option(self.item, selection, value)
        self.choose(value)

    def choose(self, value: Any, missing: Missing | None = None, means: Means | None = None) -> None:
        """Set the draft's answer. It is settled once a reason is given."""
        draft, most = self.draft, self.case.majority if self.case is not None else None
        draft.value, draft.missing = value, missing
        if means is not None:
            draft.means = means
        elif draft.means == "majority" and (most is None or _anonymous_answer(value, missing).word != most.word):
            draft.means = "adjudicator"
        self.renew()

    def action_majority(self) -> None:
        """Choose the majority's answer."""
        most = self.case.majority if self.case is not None else None
        if most is not None:
            discussed = self.draft.means == "discussion"
            self.choose(most.value, most.reason_missing, None if discussed else "majority")

    def action_type(self) -> None:
        """Open the text field for an answer that has no digit."""
        if self.by_digits:
            self.renew("A digit chooses here.")
        else:
            self.type("value", self.item.field.id, words_of(self.draft.value), hint_of(self.item.field))

    def action_discussed(self) -> None:
        """Open the text field for the minutes of a discussion."""
        minutes = self.draft.minutes
        self.type("minutes", "Discussed: minutes", "" if minutes is None else f"{minutes:g}", "empty: it was not")

    def action_moved(self) -> None:
        """Ask for the new answer of the rater under the cursor."""
        voice = self.answers.current
        if voice is None or not voice.said.person:
            self.renew("A judge does not discuss.")
            return
        self._pending_move = (voice.mask, None)
        choices = self.wording.choices(self.item) if way_of(self.item) == "choice" else []
        if not choices:
            self.type("now", f"{voice.display_name} changed to", "", hint_of(self.item.field))
            return
        stayed = [MenuEntry(_STAYED, "did not change their mind")] if voice.mask in self.draft.moves else []
        entries = [MenuEntry(f"now {at}", move.says) for at, move in enumerate(choices)]
        self._open_menu(f"{voice.display_name} changed to", [*entries, *stayed])

    def _open_menu(self, title: str, entries: Sequence[MenuEntry]) -> None:
        """Open the menu. In a low terminal it takes the rows of the answers."""
        self.add_class("-menu")
        self.menu.open(title, entries)
        self.post_message(self.KeysChanged())

    @on(Menu.Picked)
    def _apply_menu(self, message: Menu.Picked) -> None:
        message.stop()
        self.menu.close()
        self.remove_class("-menu")
        self.answers.focus()
        what, _, which = message.id.partition(" ")
        if what == "missing":
            self.choose(None, next(reason for reason in _REASONS if reason == which))
        elif what == "now":
            new_value = self.wording.choices(self.item)[int(which)].value
            if why := self._why_unmoved(new_value):
                self.renew(why)
            else:
                self._ask_why_moved(new_value)
        elif what == _STAYED:
            self.draft.moves.pop(self._pending_move[0], None)
            self.renew()
        else:
            self.renew()

    def _why_unmoved(self, now: Any) -> str:
        """Return why this is not a change of mind, empty if it is one."""
        voice = next(row for row in self.answers.rows if row.mask == self._pending_move[0])
        return (
            f"{voice.display_name} said that already." if _anonymous_answer(now, None).word == voice.said.word else ""
        )

    def _ask_why_moved(self, now: Any) -> None:
        self._pending_move = (self._pending_move[0], now)
        self.type("why", f"Why did {self._pending_move[0]} change?", "", "a word, or a word: and more")

    def action_judges(self) -> None:
        """Toggle judges' answers beside people's."""
        self.judges = not self.judges
        self.renew()

    # -- what was typed ----------------------------------------------------------------------------------------

    @on(AnswerLine.Exited)
    def _cancel_line(self, message: AnswerLine.Exited) -> None:
        message.stop()
        self.leave_line()
        self.renew()

    @on(AnswerLine.Ended)
    def _submit_line(self, message: AnswerLine.Ended) -> None:
        message.stop()
        what, words = self.typing, self.line.text.strip()
        try:
            self._apply_typed(what, words)
        except LabError as error:
            self.wrong.say(Content.styled(error.body, ERROR))

    def _apply_typed(self, what: Typing, words: str) -> None:
        """Apply the typed text. A `LabError` leaves the field open."""
        match what:
            case "value":
                value = self._parse_typed(words)
                self.leave_line()
                self.choose(value)
            case "minutes":
                self._note_discussion(words)
            case "now":
                new_value = self._parse_typed(words)
                if why := self._why_unmoved(new_value):
                    raise LabError("answer", why)
                self.leave_line()
                self._ask_why_moved(new_value)
            case "why":
                self._note_change(words)
            case "reason" | "withdraw":
                self._settle(words, withdrawn=what == "withdraw")

    def _parse_typed(self, words: str) -> Any:
        """Parse a typed value. Raise `LabError` if it does not fit the question."""
        assert self.session is not None
        assert self.case is not None
        value = typed_value(self.item.field, words)
        self.session.check_fits(self.case, value)
        return value

    def _note_discussion(self, words: str) -> None:
        draft = self.draft
        if not words:
            draft.means, draft.minutes, draft.moves = "adjudicator", None, {}
        else:
            try:
                minutes = float(words.replace(",", "."))
            except ValueError:
                raise LabError("minutes", f"{words!r} is no number of minutes.") from None
            if not 0 <= minutes < float("inf"):
                raise LabError("minutes", f"{words!r} is no length of time.")
            draft.means, draft.minutes = "discussion", minutes
        self.leave_line()
        self.renew()

    def _note_change(self, words: str) -> None:
        """Record a change of mind. One word is its code, and the words after a colon explain it."""
        code, colon, why = words.partition(":")
        if not colon and " " in words:
            code, why = "", words
        mask, now = self._pending_move
        voice = next(row for row in self.answers.rows if row.mask == mask)
        old_value = voice.said.reason_missing or voice.said.value
        self.draft.moves[mask] = replace(Move(mask, old_value, now), code=code.strip(), why=why.strip())
        self.draft.means = "discussion"
        self.leave_line()
        self.renew()

    # -- settling --------------------------------------------------------------------------------------------

    def action_settle(self) -> None:
        """Ask for the reason if an answer was chosen."""
        if not self.draft.has_choice:
            most = " or m, what most say" if self.case is not None and self.case.majority is not None else ""
            self.renew(f"Choose what is right first: a digit{most}.")
            return
        if (
            way_of(self.item) == "many"
            and self.draft.missing is None
            and (why := selection_problem(self.item, self.draft.value))
        ):
            self.renew(why)
            return
        words = self.draft.reason or self._last_reason
        self.type("reason", "Why is it so?", words, "a reason, in a sentence", selected=not self.draft.reason)
        if reasons := reason_choices(self.wording):
            self.options.show(reasons)

    def action_withdraw(self) -> None:
        """Ask why the item becomes unsettled again."""
        self.type("withdraw", "Why is it unsettled again?", "", "a reason, in a sentence")

    def _settle(self, reason: str, *, withdrawn: bool) -> None:
        assert self.session is not None
        assert self.case is not None
        if not reason:
            raise LabError("reason", "A reason must be said; it stands beside the answer from now on.")
        # Another adjudicator may have settled it while the reason was typed.
        current = self.session.case(self.case.unit, self.case.spot)
        if current.settled != self.case.settled:
            self.case = current
            self.leave_line()
            self.renew(_meanwhile_words(self, current))
            return
        draft = self.draft
        if withdrawn:
            self.session.withdraw(self.case, reason)
        else:
            self.session.settle(
                self.case, draft.value, missing=draft.missing, reason=reason, means=draft.means,
                minutes=draft.minutes, moves=tuple(draft.moves.values()), judges_seen=draft.judges_seen,
            )  # fmt: skip
            self._last_reason = reason
        self.leave_line()
        self._drafts.pop(self._draft_key, None)
        self.post_message(self.Settled(withdrawn))


def _meanwhile_words(pane: SettlementPane, now: ItemAnswers) -> str:
    """Return the notice that another person settled or unsettled the item while a reason was typed."""
    if now.settled is None:
        return "Meanwhile it was left unsettled again."
    return with_keys(pane, "Meanwhile another one settled it, as told here; {adjudicate.settle} settles it anew.")


def _anonymous_answer(value: Any, missing: Missing | None) -> PlaceAnswer:
    return PlaceAnswer(Actor("human", ""), value, missing)
