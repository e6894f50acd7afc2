"""Editor of a rater's open sheet: a key becomes a value, and the value an answer in the store. No Textual here."""

from __future__ import annotations

from typing import Any, Literal

from lab.core.errors import LabError
from lab.core.run.screen_clock import Clock, seconds_passed
from lab.core.study.guideline import clause_of, clauses
from lab.core.study.label import NO_DETAILS, AnswerDetails, Label, Missing
from lab.core.study.option_sets import parse_set
from lab.core.study.protocol import NO_OPTION
from lab.core.study.rating_sheet import FieldReference, Sheet
from lab.studies.rating import scale_entry
from lab.studies.rating.drafts import AnswerDraft, Drafts, ItemEntry, Times, TypedLine
from lab.studies.rating.rating_pace import Pace
from lab.studies.rating.rating_session import HandedIn, RatingSession, next_open
from lab.studies.rating.sheet_items import (
    NONE_OF_THESE,
    NOT_SEEN,
    SheetItem,
    by_digits,
    digits_of,
    items_of,
    selection_problem,
    toggle_option,
    way_of,
)
from lab.studies.rating.sheet_wording import Wording, clash_at
from lab.studies.rating.typed_answers import hint_of, typed_value, words_of

Region = tuple[int, int, int, int]
Effect = Label | HandedIn | Literal["", "menu", "open", "undo", "settled"]
"""Effect of a key beyond the editor's own state.

A label: an answer was stored, and is durable. `HandedIn`: the unit is. `menu`: list the other answers. `open`: the item
is open, and the key is no answer to it. `undo`: this sheet has nothing to take back. `settled`: a handed-in unit has
nothing more to do.
"""
_NOTHING = "-"
"""Draft of options if nothing is chosen. This is not yet the answer "none of these"."""


class SheetEditor:
    """A rater's place on the open sheet of a session, with the input that is not an answer yet.

    It opens where the rater left the sheet. Each method that answers returns after the answer is committed, so that its
    caller may paint it as saved. If the store refuses, `problem` says why and nothing has changed.
    """

    def __init__(self, session: RatingSession, clock: Clock, pace: Pace, unseen: frozenset[str] = frozenset()) -> None:
        self.session = session
        self.clock = clock
        self.pace = pace
        self.unseen = unseen
        """Fields about something that this rater was not shown."""
        self.place = ""
        """Place shown beside the sheet, in evidence form (`ID@7`), empty for none."""
        last = session.last_position()
        self.last_place = last.place
        """Place that was beside the sheet when the rater left it."""
        self.drafts: Drafts = dict(last.drafts)
        self.times: dict[FieldReference, Times] = dict(last.times)
        self.seen: set[FieldReference] = set()
        """Places that have been the current one since this sheet was opened."""
        self.line: TypedLine | None = None
        self.problem = ""
        """Sentence about input that was not accepted, empty if there is none."""
        self._spots, self.items = self.sheet.spots, items_of(self.sheet)
        self.index = 0
        """Index of the current item, `len(items)` on the line that hands in."""
        spot = last.spot if last.known and not self.sheet.committed else next_open(self.sheet, None)
        # A clash comes first, wherever the rater left.
        spot = next((item.spot for item in self.items if clash_at(self.sheet, item)), spot)
        self._stored_position = (spot, last.place, dict(self.drafts))
        self.entry = ItemEntry()
        self.go(spot)

    # -- the sheet and the current item ------------------------------------------------------------------------

    @property
    def sheet(self) -> Sheet:
        """This rater's answers to the unit so far."""
        assert self.session.sheet is not None
        return self.session.sheet

    @property
    def item(self) -> SheetItem | None:
        """The current item, or None on the line that hands in."""
        return self.items[self.index] if self.index < len(self.items) else None

    @property
    def wording(self) -> Wording:
        """Wording of this unit's questions."""
        assignment = self.session.assignment
        swap = assignment.swap if assignment is not None else False
        return Wording(self.session.study.protocol, self.session.locale, swap, self.unseen)

    @property
    def guide(self) -> str:
        """The study's guideline in this rater's language."""
        return self.session.study.protocol.guideline(self.session.locale)

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
        return self.session.prelabels.get(item.spot) if self.sheet.head(item.spot) is None else None

    @property
    def draft(self) -> AnswerDraft:
        """Input at the current item that is not an answer yet."""
        return self.drafts.get(self.entry.spot, AnswerDraft()) if self.entry.spot is not None else AnswerDraft()

    @property
    def selection(self) -> list[str] | None:
        """Options chosen at an item of many: those of the draft, else of the answer, or None if nothing is chosen."""
        item = self.item
        if item is None or self.draft.options == _NOTHING:
            return None
        if self.draft.options:
            chosen: list[str] = parse_set(item.field, self.draft.options)
            return chosen
        answer = self.sheet.value(item.spot)
        return list(answer) if isinstance(answer, list | tuple) else None

    @property
    def idle_ms(self) -> float:
        """Milliseconds away since the current item was first shown."""
        return self.entry.idle_ms + max(0.0, self.pace.seconds_away - self.entry.away) * 1000

    # -- where to go -------------------------------------------------------------------------------------------

    def index_of(self, spot: FieldReference | None) -> int:
        """Return the line of a place. A flag's line is that of its item, None is the last line."""
        if spot is None:
            return len(self.items)
        for index, item in enumerate(self.items):
            if item.spot == spot or (item.spot.target == spot.target and spot.field in [f.id for f in item.flags]):
                return index
        return next((index for index, item in enumerate(self.items) if item.spot.target == spot.target), 0)

    def go(self, spot: FieldReference | None) -> None:
        """Make a place the current one. None is the line that hands in."""
        self.go_to_line(self.index_of(spot))

    def go_on(self, spot: FieldReference) -> None:
        """Go to the next item after a place: all required ones, and each optional one once."""
        self.go(next_open(self.sheet, spot, self.seen))

    def go_to_line(self, index: int) -> None:
        """Make a line the current one. Begin its item, unless it is the current one and not answered since."""
        self.index = index
        item = self.item
        spot = item.spot if item is not None else None
        if spot is not None:
            self.seen.add(spot)
        if spot != self.entry.spot:
            self.close_line()
        elif self.entry.shown_at is not None:
            return
        self.drafts = self._drafts_with_digits
        if self.entry.spot in self.drafts:
            self.times |= self._current_times
        self.entry = self._begin_entry(spot)
        # Digits typed before the item was left wait for another one again.
        if item is not None and self.draft.text.isdecimal() and by_digits(item):
            self.entry.digits = self.draft.text
            self._set_draft(item.spot, text="")
        self.problem = ""

    def _begin_entry(self, spot: FieldReference | None) -> ItemEntry:
        """Return the state of a new current item, with the times of an earlier draft there."""
        now = self.clock.now()
        was = self.times.pop(spot, None) if spot is not None else None
        if was is None:
            return ItemEntry(spot, now, self.pace.seconds_away)
        idle = was.idle_ms + 1000 * seconds_passed(was.left_at, now)
        return ItemEntry(spot, was.shown_at, self.pace.seconds_away, idle, was.first_key_at, begun=was.begun)

    @property
    def _current_times(self) -> dict[FieldReference, Times]:
        """Times at which the current item was shown and first typed to."""
        entry, line = self.entry, self.line
        if entry.spot is None or entry.shown_at is None:
            return {}
        first = (entry.first_key_at, entry.begun)
        if line is not None and line.purpose == "answer" and line.begun and not entry.begun:
            first = (line.first_key_at, True)
        return {entry.spot: Times(entry.shown_at, *first, round(self.idle_ms), self.clock.now())}

    # -- drafts ------------------------------------------------------------------------------------------------

    def _set_draft(self, spot: FieldReference, **changes: Any) -> None:
        draft = self.drafts.get(spot, AnswerDraft())._replace(**changes)
        if draft == AnswerDraft():
            self.drafts.pop(spot, None)
        else:
            self.drafts[spot] = draft

    @property
    def _drafts_with_digits(self) -> Drafts:
        """Drafts, with the current item's incomplete number as one."""
        spot, digits = self.entry.spot, self.entry.digits
        return self.drafts | ({spot: self.draft._replace(text=digits)} if spot is not None and digits else {})

    def _hold_line(self) -> None:
        """Take the open line's text as a draft."""
        line, spot = self.line, self.entry.spot
        if line is None or line.purpose == "search" or spot is None or not line.begun:
            return
        text = line.text if line.text.strip() else ""
        if line.purpose == "answer":
            self._set_draft(spot, text=text)
        else:
            change: dict[str, Any] = {line.purpose: text}
            if line.purpose == "cites":
                change["cites"] = self._citation(text) or text
            self._set_draft(spot, details=self.draft.details._replace(**change))

    def store_position(self, *, leaving: bool = False) -> None:
        """Store place and drafts, if they changed. `leaving` stores them anyway, for the time of leaving."""
        if self.sheet.committed:
            return
        self._hold_line()
        position = (self.entry.spot, self.place, self._drafts_with_digits)
        # Nothing changed: another row would only grow the file.
        if position == self._stored_position and not (leaving and self.entry.spot):
            return
        try:
            self.session.record_position(*position, self.times | self._current_times)
        except LabError as error:
            self.problem = error.body
            return
        self._stored_position = position

    # -- keys --------------------------------------------------------------------------------------------------

    def touch(self) -> None:
        """Record a key that begins an answer."""
        self.entry.touch(self.clock.now())

    def press_digit(self, digit: int, *, composed: bool = False) -> Effect:
        """Handle a digit: an option, a flag, a digit of a number, or the start of typed text. Else 0 is the menu."""
        item = self.item
        if item is None:
            return "menu" if digit == 0 else ""
        # An input method delivers a digit later than its key, so the time of the first key is unknown.
        self.entry.touch(None if composed else self.clock.now())
        flag = next((choice.value for choice in self.wording.flags(item) if choice.key == str(digit)), None)
        if flag is not None and not self.entry.digits:
            return self.raise_flag(flag)
        listed = way_of(item) in ("choice", "many")
        if self.clash and not listed:
            return "open"
        if digit == 0 and not by_digits(item):
            return "menu"
        if not listed and not by_digits(item):
            return self.type_answer(str(digit))
        self.entry.digits += str(digit)
        if by_digits(item) and self._may_continue(item):
            return self._say("")
        value = self._take_digits(item)
        return "" if value is None else self._mark_following(self.give(value))

    def _say(self, problem: str) -> Effect:
        """Set the sentence about input that was not accepted."""
        self.problem = problem
        return ""

    def _mark_following(self, effect: Effect) -> Effect:
        """Note on the new current item that a key has just answered the one before."""
        if isinstance(effect, Label):
            self.entry.follows = self.item is not None
        return effect

    def _may_continue(self, item: SheetItem) -> bool:
        """Return True if a further digit may follow those pressed so far."""
        if way_of(item) == "scale":
            return scale_entry.may_continue(item.field, self.entry.digits)
        return len(self.entry.digits) < digits_of(item)

    def _take_digits(self, item: SheetItem) -> Any:
        """Clear the digits and return the value that they select. If there is none, say so and return None."""
        digits, self.entry.digits = self.entry.digits, ""
        if way_of(item) == "scale":
            value: Any = scale_entry.parse_digits(item.field, digits)
            problem = f"{digits} is not on this scale."
        else:
            key = digits.zfill(digits_of(item))
            value = next((choice.value for choice in self.wording.choices(item) if choice.key == key), None)
            problem = f"There is no answer {digits} here."
        self.problem = problem if value is None else self.problem
        return value

    def press_letter(self, letter: str) -> Effect | None:
        """Give the option with this letter. Return None if there is none."""
        item = self.item
        choices = self.wording.choices(item) if item is not None and way_of(item) in ("choice", "many") else []
        choice = next((one for one in choices if one.letter and one.letter == letter), None)
        if choice is None:
            return None
        self.touch()
        return self.give(choice.value)

    def press_option(self, key: str) -> Effect:
        """Give the option, or raise the flag, that is listed with this key."""
        item = self.item
        if item is None:
            return ""
        self.touch()
        for choice in self.wording.choices(item):
            if choice.key == key:
                return self.give(choice.value)
        flag = next((one for one in self.wording.flags(item) if one.key == key), None)
        return self.raise_flag(flag.value) if flag is not None else ""

    def press_enter(self) -> Effect:
        """Handle Enter: give what was begun, else go on, and at the end hand in."""
        item = self.item
        if item is None:
            return self.hand_in()
        if self.entry.digits:
            value = self._take_digits(item)
            return "" if value is None else self.give(value)
        if self.draft.options:
            why = selection_problem(item, self.selection)
            return self._say(why) if why else self.give(self.selection)
        if self.clash:
            return "menu"
        way = way_of(item)
        if self.sheet.head(item.spot) is not None or (way in ("choice", "many", "scale") and not item.field.required):
            self.go_on(item.spot)
            return ""
        match way:
            case "typed":
                return self.type_answer()
            case "step":
                return self.give_shown_step()
        if self.entry.follows:
            self.entry.follows = False
            return self._say("The item before is kept; this one is open.")
        return "menu" if way == "box" else "open"

    def set_digits(self, digits: str) -> None:
        """Replace the digits of an incomplete number."""
        self.entry.digits = digits
        self.problem = ""

    # -- answers -----------------------------------------------------------------------------------------------

    def _toggle(self, item: SheetItem, option: Any) -> Effect:
        """Choose an option of several, or remove it. Enter gives the selection."""
        answer = self.sheet.value(item.spot)
        selection = toggle_option(item, self.selection, option)
        unchanged = selection == (list(answer) if isinstance(answer, list | tuple) else None)
        words = _NOTHING if selection is None else ",".join(selection) or NO_OPTION
        self._set_draft(item.spot, options="" if unchanged else words)
        return self._say("")

    def give(self, value: Any = None, *, missing: Missing | None = None) -> Effect:
        """Answer the current item and go to the next open one. One option of several is toggled instead."""
        item = self.item
        if item is None:
            return ""
        if item.field.kind == "many" and (isinstance(value, str) or value is NONE_OF_THESE):
            return self._toggle(item, value)
        if value is NOT_SEEN:
            value, missing = None, "cannot_judge"
        for clashing in self.sheet.clashes.get(item.spot, ()):
            if (clashing.value, clashing.reason_missing) == (value, missing):
                return self.settle(clashing)
        if self.line is not None and self.line.purpose != "answer":
            self.close_line()
        # In a clash, a third value inherits from neither of the clashing ones.
        head = self.sheet.head(item.spot) if item.spot not in self.sheet.clashes else None
        details = head.details if head is not None else NO_DETAILS
        if item.field.evidence and missing is None and (place := self._evidence_of(item)):
            details = AnswerDetails(evidence=place).fill_from(details)
        label = self._store(item.spot, value, missing, self.draft.details.fill_from(details))
        if label is None:
            return ""
        self.line = None  # before `go_on`, which would hold its text as a draft
        self.drafts.pop(item.spot, None)
        self.go_on(item.spot)
        return label

    def _evidence_of(self, item: SheetItem) -> str:
        """Return the place of an item's evidence: its own step if it is about one, else what is shown."""
        unit = self.session.unit
        if item.target is not None and item.target.step is not None and unit is not None and unit.runs:
            return f"{unit.runs[0]}@{item.target.step + 1}"
        return self.place

    def _store(self, spot: FieldReference, value: Any, missing: Missing | None, details: AnswerDetails) -> Label | None:
        """Store an answer with its times. If the store refuses, say why and return None."""
        times = Times(self.entry.shown_at, self.entry.first_key_at, self.entry.begun, self.idle_ms)
        try:
            label = self.session.answer(spot, value, missing=missing, details=details, times=times)
        except LabError as error:
            self._say_refusal(error)
            return None
        # A later answer to the same item is timed from now on.
        self.entry.shown_at = None
        self._renew_items()
        return label

    def _renew_items(self) -> None:
        """Lay the items out anew if an answer hides or shows others."""
        if self.sheet.spots != self._spots:
            self._spots, self.items = self.sheet.spots, items_of(self.sheet)
        self.index = self.index_of(self.entry.spot)

    def settle(self, label: Label) -> Effect:
        """Resolve a clash with this label and all its details, then go to the next open item."""
        spot = FieldReference(label.target, label.field)
        settled = self._store(spot, label.value, label.reason_missing, label.details)
        if settled is None:
            return ""
        self.go_on(spot)
        return settled

    def give_shown_step(self) -> Effect:
        """Give the step shown as the answer. Without one, open the line."""
        step = self.place.rpartition("@")[2]
        if not step.isdecimal():
            return self.type_answer()
        self.touch()
        return self.give(int(step))

    def give_most(self) -> Effect:
        """Answer with the top of a scale."""
        item = self.item
        if item is None or item.field.kind != "interval" or item.field.most is None:
            return ""
        self.touch()
        # A whole number stays an int, as digits would give it.
        most = item.field.most
        return self.give(int(most) if float(most).is_integer() and (item.field.step or 1) >= 1 else most)

    def give_missing(self, reason: Missing) -> Effect:
        """Give no answer, with a reason."""
        self.touch()
        return self.give(missing=reason)

    def accept_prelabel(self) -> Effect:
        """Accept the judge's answer that is shown."""
        if self.prelabel is None:
            return ""
        self.touch()
        return self._mark_following(self.give(self.prelabel.value))

    def take_region(self, place: str, region: Region, *, answers: bool) -> Effect:
        """Take a region that was drawn at a place, as the answer of a box field or as evidence."""
        self.touch()
        if not answers:
            return self.change_details(evidence=place, region=region)
        if self.entry.spot is not None:
            self._set_draft(self.entry.spot, details=self.draft.details._replace(evidence=place, region=None))
        return self.give(list(region))

    def cite_shown_step(self) -> Effect:
        """Make the step shown the evidence of the answer."""
        if not self.place:
            return self._say("No step is shown here.")
        self.touch()
        return self.change_details(evidence=self.place, region=None)

    def change_details(self, **changes: Any) -> Effect:
        """Change details of the stored answer, or of the one to come."""
        item = self.item
        if item is None or self._has_clash(item.spot):
            return ""
        head = self.sheet.head(item.spot)
        if head is None:
            self._set_draft(item.spot, details=self.draft.details._replace(**changes))
            return self._say("")
        label = self._store(item.spot, head.value, head.reason_missing, head.details._replace(**changes))
        if label is None:
            return ""
        stored = {name: getattr(NO_DETAILS, name) for name in changes}
        self._set_draft(item.spot, details=self.draft.details._replace(**stored))
        self.go_to_line(self.index)
        return label

    def raise_flag(self, id: str) -> Effect:
        """Raise a flag beside the answer, or take it back."""
        item = self.item
        if item is None or self._has_clash(spot := FieldReference(item.spot.target, id)):
            return ""
        label = self._store(spot, not self.sheet.value(spot), None, NO_DETAILS)
        if label is not None:
            self.go_to_line(self.index)
        return label or ""

    def _has_clash(self, spot: FieldReference) -> bool:
        """Return True, and say so, if a place has clashing answers."""
        if clash := self.sheet.clashes.get(spot):
            self.problem = self.wording.sheet("_two_words", len(clash))
        return bool(clash)

    # -- typed lines -------------------------------------------------------------------------------------------

    def type_answer(self, first_character: str = "") -> Effect:
        """Open the line for the answer with `first_character`, or with what was typed or answered before."""
        item = self.item
        if item is None:
            return ""
        text = first_character or self.entry.digits or self.draft.text or words_of(self.sheet.value(item.spot))
        self.entry.digits = ""
        self.line = TypedLine("answer", "Your answer", hint_of(item.field), text)
        if first_character:
            self.line.begun, self.line.first_key_at = True, self.entry.first_key_at
        return ""

    def type_note(self) -> Effect:
        """Open the line for a note."""
        self.line = TypedLine("note", "Note", "a note with this answer", self.details.note)
        return ""

    def type_cite(self) -> Effect:
        """Open the line for a line number of the guide."""
        count = len(clauses(self.guide))
        if not count:
            return self._say("This study has no guideline.")
        hint = f"its number, 1 to {count}, as the guide (t) has it; nothing takes it back"
        self.line = TypedLine("cites", "Line of the guide", hint, self.details.cites.removeprefix("§"))
        return ""

    def type_search(self) -> Effect:
        """Open the line for a search beside the sheet. Its text is not an answer, and is not stored."""
        self.line = TypedLine("search", "Search", "words on a screen, in an action, in the dialogue")
        return ""

    @property
    def details(self) -> AnswerDetails:
        """Details of the current item: those given before the answer, else the answer's."""
        head = self.sheet.head(self.entry.spot) if self.entry.spot is not None else None
        return self.draft.details.fill_from(head.details if head is not None else NO_DETAILS)

    def _citation(self, text: str) -> str:
        """Return the form in which a label cites the guide's line of this number, empty if it has no such line."""
        clause = clause_of(f"§{text.strip().removeprefix('§')}", self.guide)
        return clause.citation if clause is not None else ""

    def end_line(self) -> Effect:
        """Take the line's text for its purpose. If it is not valid, say why and keep the line open."""
        line, item = self.line, self.item
        if line is None or item is None or line.purpose == "search":
            return self.leave_line()
        text = line.text.strip()
        match line.purpose:
            case "note":
                self.close_line()
                return self.change_details(note=text)
            case "cites" if text.removeprefix("§") and not self._citation(text):
                return self._say(f"The guide has lines 1 to {len(clauses(self.guide))}.")
            case "cites":
                self.close_line()
                return self.change_details(cites=self._citation(text))
        if not text and not item.field.required:
            self.line = None
            self._set_draft(item.spot, text="")
            self.go_on(item.spot)
            return ""
        try:
            value = typed_value(item.field, line.text)
        except LabError as error:
            return self._say(error.message)
        if line.begun:
            self.entry.touch(line.first_key_at)
        return self.give(value)

    def close_line(self) -> None:
        """Close the open line. Its text stays a draft."""
        if self.line is None:
            return
        self._hold_line()
        if self.line.purpose == "answer" and self.line.begun:
            self.entry.touch(self.line.first_key_at)
        self.line = None

    def leave_line(self) -> Effect:
        """Leave the open line for later."""
        self.close_line()
        return self._say("")

    # -- back, in, and other windows ---------------------------------------------------------------------------

    def undo(self) -> Effect:
        """Take back the newest answer and go to it."""
        self.close_line()
        try:
            label = self.session.undo()
        except LabError as error:
            return self._say_refusal(error)
        if label is None:
            return "undo"
        self._renew_items()
        self.entry.shown_at = None
        self.go(FieldReference(label.target, label.field))
        return label

    def hand_in(self) -> Effect:
        """Hand the unit in, or go to its first open item."""
        if self.sheet.committed:
            return "settled"
        if open_count := len(self.sheet.unanswered):
            self.go(self.sheet.unanswered[0])
            return self._say(f"{open_count} open: answer or skip {'it' if open_count == 1 else 'them'} first.")
        try:
            return self.session.commit()
        except LabError as error:
            return self._say_refusal(error)

    def _say_refusal(self, error: LabError) -> Effect:
        """Say why nothing was stored, and what another window of this rater stored meanwhile."""
        self.entry.digits = ""
        try:
            taken_up = self.load_other_window()
        except LabError:
            taken_up = False
        if not taken_up:
            self.problem = error.body
        elif not self.sheet.committed:
            self.problem = f"{self.wording.sheet('_taken_up')} {self.wording.sheet('_not_kept')}"
        return ""

    def load_other_window(self) -> bool:
        """Take up what another window of this rater stored for this unit. Return False if it stored nothing."""
        before = self.sheet.committed
        if not self.session.refresh():
            return False
        self._renew_items()
        handed_in = self.sheet.committed and not before
        if handed_in:
            self.close_line()
            self.go(None)
        else:
            spot = self.entry.spot
            self.go(spot if spot in self.sheet.spots else next_open(self.sheet, None))
        self.problem = self.wording.sheet("_is_handed_in_there" if handed_in else "_taken_up")
        return True
