"""State of a sheet on screen: its lines, the current item, and the drafts that are not answers yet."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.events import Resize
from textual.message import Message
from textual.widget import Widget

from lab.core.errors import LabError
from lab.core.run.screen_clock import Clock, seconds_passed
from lab.core.study.label import Label
from lab.core.study.rating_sheet import FieldReference, Sheet
from lab.studies.rating.rating_pace import Pace
from lab.studies.rating.rating_session import Drafts, HandedIn, RatingSession, Times, may_stay_open, next_open
from lab.studies.rating.sheet_items import NOT_SEEN, SheetItem, by_digits, items_of
from lab.studies.rating.sheet_wording import Wording, clash_at, value_words
from screens.annotate.answer_field import AnswerLine
from screens.annotate.answer_keys import ItemKeying
from screens.annotate.chosen_options import chosen_in, chosen_keys, has_draft, not_enough, waiting_words
from screens.annotate.clashes import clash_words
from screens.annotate.keys import SHEET_KEYS, ActiveKeys
from screens.annotate.menu import Menu
from screens.annotate.phone_pane import Evidence
from screens.annotate.rows import AnswerOptions, SheetItems
from screens.annotate.sheet_text import item_words
from screens.key_names import with_keys
from screens.lab import ReportsErrors
from screens.slip import KeyGuard
from screens.theme import ERROR
from screens.widgets.border_words import write_subtitle
from screens.widgets.lines import LineList
from screens.widgets.status_line import StatusLine

SEARCH = "search"
"""Use of the line for a search beside the sheet. Its text is not an answer, and is not stored."""
_ITEM, _LEAST = 0.6, 3
"""Maximum part of the sheet for the item, and minimum rows for the list and for the question."""
_SETTLES = 1.0
"""Seconds without a change after which the rater's place and drafts are stored."""


class SheetView(ReportsErrors, Vertical):
    """A rater's sheet and their place on it. `SheetPane` adds the keys that answer it."""

    BINDING_GROUP_TITLE = "Sheet"
    BINDINGS: ClassVar[list[BindingType]] = SHEET_KEYS

    @dataclass
    class Answered(Message):
        """Message: a label was stored."""

        label: Label

    @dataclass
    class UnitHandedIn(Message):
        """Message: the unit is handed in."""

        handed: HandedIn

    @dataclass
    class Settled(Message):
        """Message: in a handed-in unit the clashes are settled, or left for later."""

    @dataclass
    class ItemChanged(Message):
        """Message: another line is the current one. `item` is None on the last."""

        item: SheetItem | None

    @dataclass
    class KeysChanged(Message):
        """Message: the effect of keys changed, since a menu or line was opened or left, or input was added."""

    @dataclass
    class Requested(Message):
        """Message: the sheet asks its screen for `guide`, `region`, `search`, `place` or (without answers) `undo`."""

        what: str
        place: str = ""

    def __init__(
        self,
        clock: Clock | None = None,
        pace: Pace | None = None,
        items: SheetItems | None = None,
        title: str = "Sheet",
    ) -> None:
        super().__init__(id="answer-sheet")
        self.session: RatingSession | None = None
        self.title = title
        """Title above the lines."""
        self.unseen: frozenset[str] = frozenset()
        """Fields that are not asked here."""
        self.clock = clock or Clock()
        self.pace = pace or Pace(self.clock)
        self.place = ""
        """Place shown beside the sheet, in evidence form (`ID@7`), empty for none."""
        self.drafts: Drafts = {}
        self.times: dict[FieldReference, Times] = {}
        self.seen: set[FieldReference] = set()
        """Places that have been the current one since this sheet was opened."""
        self.typing = ""
        """Use of the open line: `answer`, `note`, `cites`, `search`, empty while it is closed."""
        self.keying = ItemKeying()
        self.drawing = ""
        """Use of the next region drawn beside the sheet: `answer`, `region`, empty while none is requested."""
        self.items = items or SheetItems()
        self.question_line = StatusLine("ask")
        self.options = AnswerOptions()
        self.problem_line = StatusLine("wrong")
        self.slip = KeyGuard(self.clock)
        """Pause after handing in, in which no key acts on the next sheet."""
        self.line = AnswerLine(self.clock, self.pace)
        self.menu = Menu()
        self._stored_state: tuple[FieldReference | None, str, Drafts] | None = None

    def compose(self) -> ComposeResult:
        yield self.items
        with Vertical(id="item", classes="pane"):
            with VerticalScroll(id="asked", can_focus=False):
                yield self.question_line
            with VerticalScroll(id="choices", can_focus=False):
                yield self.options
            yield self.problem_line
        yield self.line
        yield self.menu

    def on_mount(self) -> None:
        self.asked, self.choices = self.query_one("#asked"), self.query_one("#choices")
        for part in (self.asked, self.choices):
            for attribute in ("virtual_size", "scroll_y", "size"):
                self.watch(part, attribute, self.tell_keys, init=False)
        self._keep_timer = self.set_interval(_SETTLES, self.store_place, pause=True)  # `store_place_soon` resumes it

    # -- which unit ------------------------------------------------------------------------------------------

    @property
    def item(self) -> SheetItem | None:
        """The current item, or None on the line that hands in."""
        return self.items.item

    @property
    def clash(self) -> list[Label]:
        """Clashing answers of the current item."""
        return clash_at(self.sheet, self.item) if self.item is not None else []

    @property
    def prelabel(self) -> Label | None:
        """A judge's answer shown before the rater's own at the current item, or None without one, or once answered."""
        item = self.item
        if item is None or self.sheet.committed or item.spot in self.sheet.clashes:
            return None
        return self.open_session.prelabels.get(item.spot) if self.sheet.head(item.spot) is None else None

    @property
    def wording(self) -> Wording:
        """Wording of this unit's questions."""
        session = self.open_session
        swap = session.assignment.swap if session.assignment is not None else False
        return Wording(session.study.protocol, session.locale, swap, self.unseen)

    @property
    def open_session(self) -> RatingSession:
        """Rating session whose unit is open."""
        assert self.session is not None
        return self.session

    @property
    def sheet(self) -> Sheet:
        """This rater's answers to the unit so far."""
        open_sheet = self.open_session.sheet
        assert open_sheet is not None
        return open_sheet

    def open(self, session: RatingSession) -> str:
        """Show the session's open unit where the rater left it. Return their place in the run."""
        self.session = session
        rest = self.open_session.last_position()
        self.drafts, self.times, self.seen = dict(rest.drafts), dict(rest.times), set()
        self.close_line()
        self.items.show(self.sheet, self.wording)
        self.items.changed()
        spot = rest.spot if rest.known and not self.sheet.committed else next_open(self.sheet, None)
        # A clash comes first, wherever the rater left.
        spot = next((item.spot for item in items_of(self.sheet) if clash_at(self.sheet, item)), spot)
        self._stored_state = (spot, rest.place, dict(self.drafts))
        self.keying = ItemKeying()
        self.go(spot)
        self.items.scroll_to(y=max(0, self.items.cursor - 2), animate=False)
        self.items.focus()
        return rest.place

    def go(self, spot: FieldReference | None) -> None:
        """Make a place the current one. None is the line that hands in."""
        self.items.go(self.items.index_of(spot))
        self.begin_item()

    @on(LineList.Highlighted, "#items")
    def _begin_highlighted(self, message: LineList.Highlighted) -> None:
        message.stop()
        self.begin_item()

    def begin_item(self) -> None:
        """Make the line under the cursor the current item."""
        item = self.item
        spot = item.spot if item is not None else None
        if spot is not None:
            self.seen.add(spot)
        if spot != self.keying.spot:
            self.close_line()
        if spot == self.keying.spot and self.keying.shown_at is not None:
            return
        self.drafts |= self._digit_draft
        self._hold_times()
        self.keying = self._begin_keying(spot)
        # Digits typed before the item was left wait for another one again.
        if item is not None and self.drafts.get((item.spot, "answer"), "").isdecimal() and by_digits(item):
            self.keying.digits = self.drafts.pop((item.spot, "answer"))
        self.drawing = ""
        for part in (self.asked, self.choices):
            part.scroll_home(animate=False)
        self.post_message(self.ItemChanged(item))
        self.say("")
        self.store_place_soon()

    def _begin_keying(self, spot: FieldReference | None) -> ItemKeying:
        """Return the state of a new current item, with the times of an earlier draft there."""
        now = self.clock.now()
        was = self.times.pop(spot, None) if spot is not None else None
        if was is None:
            return ItemKeying(spot, now, self.pace.seconds_away)
        idle = was.idle_ms + 1000 * seconds_passed(was.left_at, now)
        return ItemKeying(spot, was.shown_at, self.pace.seconds_away, idle, was.first_key_at, begun=was.begun)

    def _hold_times(self) -> None:
        """Store the times of the item that is left, if it has a draft."""
        spot = self.keying.spot
        if spot is not None and any(at == spot for at, _ in self.drafts):
            self.times |= self._current_times

    @property
    def _current_times(self) -> dict[FieldReference, Times]:
        """Times at which the current item was shown and first typed to."""
        keying, spot = self.keying, self.keying.spot
        if spot is None or keying.shown_at is None:
            return {}
        at = (keying.first_key_at, keying.begun)
        if self.typing == "answer" and self.line.begun and not keying.begun:
            at = (self.line.first_key_at, True)
        return {spot: Times(keying.shown_at, *at, round(self.idle_ms), self.clock.now())}

    @property
    def idle_ms(self) -> float:
        """Milliseconds away since the current item was first shown."""
        return self.keying.idle_ms + max(0.0, self.pace.seconds_away - self.keying.away) * 1000

    @property
    def _digit_draft(self) -> Drafts:
        """Incomplete number at the current item, as a draft."""
        spot, digits = self.keying.spot, self.keying.digits
        return {(spot, "answer"): digits} if spot is not None and digits else {}

    # -- keeping where one is --------------------------------------------------------------------------------

    def store_place_soon(self) -> None:
        """Store place and drafts after a pause without further changes."""
        self._keep_timer.reset()
        self._keep_timer.resume()

    def set_place(self, place: str) -> None:
        """Record the place shown beside the sheet."""
        if place != self.place:
            turned, self.place = bool(place) is not bool(self.place), place
            self.store_place_soon()
            if turned:
                self.refresh_bindings()

    def store_place(self, *, leaving: bool = False) -> None:
        """Store place and drafts, if they changed. `leaving` stores them anyway, for the time of leaving."""
        self._keep_timer.pause()
        session = self.session
        if session is None or session.sheet is None or session.sheet.committed:
            return
        self._hold_line_draft()
        state = (self.keying.spot, self.place, self.drafts | self._digit_draft)
        # Nothing changed: another row would only grow the file.
        if state == self._stored_state and not (leaving and self.keying.spot):
            return
        try:
            session.record_position(*state, self.times | self._current_times)
        except LabError as error:
            self.say(error.body)
            return
        self._stored_state = state

    def _hold_line_draft(self) -> None:
        """Take the open line's text as a draft."""
        line, spot = self.line, self.keying.spot
        if self.typing in ("", SEARCH) or spot is None or not line.begun:
            return
        self.drafts.pop((spot, self.typing), None)
        if line.text.strip():
            self.drafts[spot, self.typing] = line.text

    def close_line(self) -> None:
        """Close the open line. Its text stays a draft."""
        if self.typing:
            self._hold_line_draft()
            if self.typing == "answer" and self.line.begun:
                self.keying.touch(self.line.first_key_at)
            self.typing = ""
            self.line.close()
            self.refresh_bindings()

    def take_pace(self, pace: Pace) -> None:
        """Begin another sitting."""
        self.pace = pace
        self.line.pace = pace

    # -- painting --------------------------------------------------------------------------------------------

    def renew(self) -> None:
        """Paint the sheet's present state."""
        self.items.show(self.sheet, self.wording)
        self.say("")

    def say(self, wrong: str) -> None:
        """Paint the current item, with a line about what went wrong (empty for nothing)."""
        item = self.item
        answered_count = len([line for line in self.items.items if self.sheet.head(line.spot) is not None])
        self.items.write_titles(self.title, f"{answered_count} of {len(self.items.items)}")
        self.problem_line.say(Content.styled(wrong, ERROR))
        self.problem_line.display = bool(wrong)
        if item is None:
            text = self._open_count()
            self.question_line.say(Content.styled(self.wording.sheet("_hand_in"), "bold"))
            self.options.show((), says=self.wording.sheet("_is_handed_in") if self.sheet.committed else text)
            self.take_room()
            return
        two = clash_words(self.wording, self.sheet, item)
        self.question_line.say(Content.assemble(item_words(self.wording, self.sheet, item, self.drafts), two))
        head = self.sheet.head(item.spot)
        many = self.keying.entry_kind(item) == "many"
        choices = self.wording.choices(item) if many or self.keying.entry_kind(item) == "choice" else []
        stand = [label.value for label in self.sheet.clashes.get(item.spot, [head] if head is not None else [])]
        if head is not None and head.reason_missing == "cannot_judge":
            stand.append(NOT_SEEN)
        marked_keys = {choice.key for choice in choices if choice.value in stand}
        if many:
            marked_keys |= chosen_keys(choices, chosen_in(self.drafts, item, self.sheet.value(item.spot)))
        flags = self.wording.flags(item)
        raised = {flag.key for flag in flags if self.sheet.value(FieldReference(item.spot.target, flag.value))}
        how = with_keys(self, self.keying.how_to_answer(item, head is not None, self.wording.sheet))
        if not self.keying.digits and has_draft(self.drafts, item):
            how = waiting_words(self.wording, chosen_in(self.drafts, item, None))
        if (prelabel := self.prelabel) is not None:
            words = self.wording.sheet("_prelabel", value_words(self.wording, item, prelabel.value))
            keys = with_keys(self, f"{{answer.accept}}: {self.wording.sheet('_accept')}")
            how = "\n".join(filter(None, (words, keys, how)))
        if flags and head is None:
            how = f"{how} {self.wording.sheet('_flag_first')}".strip()
        self.options.show(choices, flags, marked_keys | raised, how, many=many)
        self.take_room()

    def evidence(self) -> list[Evidence]:
        """Return the evidence of the sheet's answers, each with its item's number."""
        heads = [(item, head) for item in self.items.items if (head := self.sheet.head(item.spot)) is not None]
        return [Evidence(head.evidence, head.region, str(item.number or "")) for item, head in heads if head.evidence]

    def pending(self) -> list[Evidence]:
        """Return the evidence of answers that are not given yet."""
        items_left = []
        for item in self.items.items:
            place = self.drafts.get((item.spot, "evidence"))
            region = self.drafts.get((item.spot, "region"))
            if place:
                box = tuple(int(part) for part in region.split(",")) if region else None
                items_left.append(Evidence(place, box, str(item.number or "")))  # type: ignore[arg-type]
        return items_left

    def _open_count(self) -> str:
        """Return a text about what is still open, or that everything is answered."""
        if open_count := len(self.sheet.unanswered):
            return self.wording.sheet("_some_open", open_count)
        unsaid = {*may_stay_open(self.sheet)}
        asks = [self.wording.ask(item) for item in self.items.items if item.spot in unsaid]
        return self.wording.sheet("_may_stay", " · ".join(asks)) if asks else self.wording.sheet("_all_said")

    def go_on(self, spot: FieldReference) -> None:
        """Go to the next item after a place: all required ones, and each optional one once."""
        self.go(next_open(self.sheet, spot, self.seen))

    # -- room ------------------------------------------------------------------------------------------------

    def on_resize(self, event: Resize) -> None:
        self.take_room()

    def take_room(self) -> None:
        """Divide the room: the options stay in view, and the question scrolls in the rest."""
        height, width = self.size.height, self.size.width - 4
        if height <= 0 or width <= 0:
            return
        below = max(_LEAST, height - 2 * _LEAST)
        self.menu.styles.max_height, self.line.styles.max_height = min(11, below), min(9, below)
        entry_rows = min(below, self.menu.count + 2) if self.menu.display else min(below, 3) if self.line.display else 0
        room = max(
            1,
            min(round(height * _ITEM), height - _LEAST - entry_rows) - 2 - (1 if self.problem_line.current_text else 0),
        )
        asks = len(self.question_line.current_text.wrap(width))
        gives = self.options.rows(width) if self.options.display else 0
        option_rows = min(gives, max(2, room - min(asks, max(2, room // 3))))
        self.choices.styles.max_height = max(1, option_rows)
        self.asked.styles.max_height = max(1, room - option_rows)
        self.call_after_refresh(self.tell_keys)

    def reading(self, by: int = 1) -> Widget | None:
        """Return the part of the current item that scrolls next, on (1) or back (-1), or None at its end."""
        for part in (self.asked, self.choices) if by > 0 else (self.choices, self.asked):
            if (part.scroll_offset.y < part.max_scroll_y) if by > 0 else part.scroll_offset.y > 0:
                return part
        return None

    @property
    def reads(self) -> bool:
        """True if the current item is larger than its view."""
        return any(part.max_scroll_y for part in (self.asked, self.choices))

    def read_on(self, by: int) -> bool:
        """Scroll the current item by a page. Return False at its end."""
        part = self.reading(by)
        if part is not None:
            step = max(1, part.scrollable_content_region.height - 1)
            part.scroll_to(y=part.scroll_offset.y + by * step, animate=False)
        return part is not None

    def tell_keys(self) -> None:
        """Write on the item's border which key scrolls it."""
        write_subtitle(self.query_one("#item"), f"{ActiveKeys(self.screen).paging}: read on" if self.reading() else "")

    # -- what the keys do --------------------------------------------------------------------------------------

    @property
    def saved(self) -> str:
        """Text about the last saved answer."""
        sheet = self.session.sheet if self.session is not None else None
        rows = sheet.rows if sheet is not None else []
        return f"✓ saved {self.clock.time_of_day(rows[-1].at)}" if rows else "Every answer is saved as you give it."

    @property
    def next_words(self) -> str:
        """Text about what Enter does now."""
        return with_keys(self, self._next_words())

    def _next_words(self) -> str:
        item = self.item
        if self.menu.display:
            return "A digit or {other.choose} chooses, {other.leave} leaves."
        if self.typing == SEARCH:
            return "{entry.keep} goes to the next step that holds these words, {entry.leave} ends the search."
        if self.typing:
            return "{entry.keep} keeps what you typed, {entry.leave} leaves it for later."
        if self.session is None or self.session.sheet is None:
            return ""
        if item is None and self.sheet.committed:
            return "{answer.next} goes on."
        if item is None:
            if self.sheet.unanswered:
                return "{answer.next} goes to the first that is open."
            return "{answer.next} hands in" + ("; there is no going back." if self.wording.protocol.forward else ".")
        if self.clash and not self.keying.digits:
            return "{answer.next}: settle which answer stands."
        if not self.keying.digits and has_draft(self.drafts, item):
            return not_enough(item, chosen_in(self.drafts, item, None)) or "{answer.next}: this is the answer."
        return self.keying.enter_words(item, self.sheet.head(item.spot) is not None, bool(self.place))

    def update_keys(self) -> None:
        """Update keys and layout, and post `KeysChanged`."""
        self.refresh_bindings()
        self.take_room()
        self.post_message(self.KeysChanged())
