"""How one item is settled: a digit or the majority chooses, a discussion is told, and a reason is typed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from msgspec.structs import replace
from textual import events, on
from textual.binding import BindingType
from textual.content import Content
from textual.message import Message

from lab.core.adjudication import Means, Move, PlaceAnswer
from lab.core.errors import LabError
from lab.core.label import Missing
from lab.core.screen_clock import Clock
from lab.core.task import Actor
from lab.studies.sheet_items import way_of
from lab.studies.typed_answers import hint_of, typed_value, words_of
from screens.adjudicate.item_pane import ItemPane, Typing
from screens.adjudicate.keys import SETTLE_KEYS
from screens.annotate.answer_field import AnswerLine
from screens.annotate.answer_keys import ascii_digit
from screens.annotate.menu import Menu, MenuEntry
from screens.annotate.rows import AnswerOptions
from screens.theme import ERROR

_REASONS: tuple[Missing, ...] = ("cannot_judge", "not_reached", "not_applicable", "skipped")
_STAYED = "stayed"


class SettlePane(ItemPane):
    """An item with all that settles it; tells what was settled."""

    BINDING_GROUP_TITLE = "Settle"
    BINDINGS: ClassVar[list[BindingType]] = SETTLE_KEYS

    @dataclass
    class Settled(Message):
        """The item that is open was settled, or left unsettled again."""

        withdrawn: bool

    def __init__(self, clock: Clock) -> None:
        super().__init__(clock)
        self._moving: tuple[str, Any] = ("", None)
        """Whose change of mind is told, and to what."""
        self._last_reason = ""
        """By which the item before was settled: the next may have the same."""

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Only what can be done with this item; nothing while something is typed."""
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
        """A digit is a digit in whatever width an input method writes it."""
        digit = ascii_digit(event.character)
        if digit is not None and self.check_action("digit", ()) and self.voices.has_focus:
            event.stop()
            self.action_digit(digit)

    def action_digit(self, digit: int) -> None:
        """An option; a first digit of what is typed; 0 asks why there is no right answer."""
        if digit == 0:
            reasons = [MenuEntry(f"missing {reason}", self.way.reason(reason)) for reason in _REASONS]
            self.menu.open("No right answer: why", reasons)
            self.post_message(self.Turned())
            return
        choices = self.way.choices(self.item) if way_of(self.item) == "choice" else []
        if not choices:
            self.type("value", self.item.field.id, str(digit), hint_of(self.item.field))
            return
        choice = next((one for one in choices if one.key.lstrip("0") == str(digit)), None)
        if choice is None:
            self.renew(f"There is no answer {digit}.")
        else:
            self.choose(choice.value)

    @on(AnswerOptions.Picked)
    def _picked(self, message: AnswerOptions.Picked) -> None:
        message.stop()
        choice = next((one for one in self.options.choices if one.key == message.key), None)
        if choice is not None:
            self.choose(choice.value)

    def choose(self, value: Any, missing: Missing | None = None, means: Means | None = None) -> None:
        """This is right; it is settled once a reason is given."""
        draft, most = self.draft, self.case.majority if self.case is not None else None
        draft.value, draft.missing = value, missing
        if means is not None:
            draft.means = means
        elif draft.means == "majority" and (most is None or _said(value, missing).word != most.word):
            draft.means = "adjudicator"
        self.renew()

    def action_majority(self) -> None:
        """What most say is right."""
        most = self.case.majority if self.case is not None else None
        if most is not None:
            discussed = self.draft.means == "discussion"
            self.choose(most.value, most.reason_missing, None if discussed else "majority")

    def action_type(self) -> None:
        """Opens the line for an answer that has no digit."""
        if way_of(self.item) == "choice":
            self.renew("A digit chooses here.")
        else:
            self.type("value", self.item.field.id, words_of(self.draft.value), hint_of(self.item.field))

    def action_discussed(self) -> None:
        """Opens the line for the minutes of a discussion."""
        minutes = self.draft.minutes
        self.type("minutes", "Discussed: minutes", "" if minutes is None else f"{minutes:g}", "empty: it was not")

    def action_moved(self) -> None:
        """Asks to what the rater under the cursor changed their mind."""
        voice = self.voices.current
        if voice is None or not voice.said.person:
            self.renew("A judge does not discuss.")
            return
        self._moving = (voice.mask, None)
        choices = self.way.choices(self.item) if way_of(self.item) == "choice" else []
        if not choices:
            self.type("now", f"{voice.called} changed to", "", hint_of(self.item.field))
            return
        stayed = [MenuEntry(_STAYED, "did not change their mind")] if voice.mask in self.draft.moves else []
        entries = [MenuEntry(f"now {at}", one.says) for at, one in enumerate(choices)]
        self.menu.open(f"{voice.called} changed to", [*entries, *stayed])
        self.post_message(self.Turned())

    @on(Menu.Picked)
    def _chosen(self, message: Menu.Picked) -> None:
        message.stop()
        self.menu.close()
        self.voices.focus()
        what, _, which = message.id.partition(" ")
        if what == "missing":
            self.choose(None, next(reason for reason in _REASONS if reason == which))
        elif what == "now":
            self._asks_why(self.way.choices(self.item)[int(which)].value)
        elif what == _STAYED:
            self.draft.moves.pop(self._moving[0], None)
            self.renew()
        else:
            self.renew()

    def _asks_why(self, now: Any) -> None:
        self._moving = (self._moving[0], now)
        self.type("why", f"Why did {self._moving[0]} change?", "", "a word, or a word: and more")

    def action_judges(self) -> None:
        """Judges' answers beside people's, or not."""
        self.judges = not self.judges
        self.renew()

    # -- what was typed ----------------------------------------------------------------------------------------

    @on(AnswerLine.Left)
    def _left(self, message: AnswerLine.Left) -> None:
        message.stop()
        self.leave_line()
        self.renew()

    @on(AnswerLine.Ended)
    def _ended(self, message: AnswerLine.Ended) -> None:
        message.stop()
        what, words = self.typing, self.line.text.strip()
        try:
            self._typed(what, words)
        except LabError as error:
            self.wrong.say(Content.styled(error.said, ERROR))

    def _typed(self, what: Typing, words: str) -> None:
        """What was typed is taken; a `LabError` leaves the line open."""
        match what:
            case "value":
                value = self._fitting(words)
                self.leave_line()
                self.choose(value)
            case "minutes":
                self._discussed(words)
            case "now":
                now = self._fitting(words)
                self.leave_line()
                self._asks_why(now)
            case "why":
                self._changed(words)
            case "reason" | "withdraw":
                self._settle(words, withdrawn=what == "withdraw")

    def _fitting(self, words: str) -> Any:
        """The value that was typed; a `LabError` where it is none of the question's."""
        assert self.session is not None
        assert self.case is not None
        value = typed_value(self.item.field, words)
        self.session.check_fits(self.case, value)
        return value

    def _discussed(self, words: str) -> None:
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

    def _changed(self, words: str) -> None:
        """Keeps a change of mind: a word is its code, what follows a colon is more."""
        code, colon, why = words.partition(":")
        if not colon and " " in words:
            code, why = "", words
        mask, now = self._moving
        voice = next(one for one in self.voices.rows if one.mask == mask)
        was = voice.said.reason_missing or voice.said.value
        self.draft.moves[mask] = replace(Move(mask, was, now), code=code.strip(), why=why.strip())
        self.draft.means = "discussion"
        self.leave_line()
        self.renew()

    # -- settling --------------------------------------------------------------------------------------------

    def action_settle(self) -> None:
        """Asks why, where something was chosen."""
        if not self.draft.chosen:
            most = " or m, what most say" if self.case is not None and self.case.majority is not None else ""
            self.renew(f"Choose what is right first: a digit{most}.")
            return
        words = self.draft.reason or self._last_reason
        self.type("reason", "Why is it so?", words, "a reason, in a sentence", selected=not self.draft.reason)

    def action_withdraw(self) -> None:
        """Asks why it is left unsettled again."""
        self.type("withdraw", "Why is it unsettled again?", "", "a reason, in a sentence")

    def _settle(self, reason: str, *, withdrawn: bool) -> None:
        assert self.session is not None
        assert self.case is not None
        if not reason:
            raise LabError("reason", "A reason must be said; it stands beside the answer from now on.")
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
        self._drafts.pop((self.case.unit.id, *self.case.spot), None)
        self.post_message(self.Settled(withdrawn))


def _said(value: Any, missing: Missing | None) -> PlaceAnswer:
    return PlaceAnswer(Actor("human", ""), value, missing)
