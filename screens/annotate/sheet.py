"""The sheet of one unit. Digits, Enter, a menu, the mouse, and places beside it answer its items."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import convert
from textual import events, on

from lab.core.errors import LabError
from lab.core.study.guideline import clause_of, clauses
from lab.core.study.label import Missing
from lab.core.study.rating_sheet import MISSING, FieldReference, Sheet
from lab.studies.rating.scale_entry import largest_number
from lab.studies.rating.sheet_items import NOT_SEEN, AnswerChoice, SheetItem, way_of
from lab.studies.rating.sheet_wording import SURES, Wording, place_words
from lab.studies.rating.typed_answers import hint_of, typed_value, words_of
from screens.annotate.answer_field import AnswerLine
from screens.annotate.answer_keys import ascii_digit
from screens.annotate.answering import AnswerEditor
from screens.annotate.chosen_options import chosen_in, has_draft, not_enough, toggle_option
from screens.annotate.clashes import clash_entries
from screens.annotate.menu import Menu, MenuEntry
from screens.annotate.rows import AnswerOptions, SheetItems
from screens.annotate.sheet_view import SEARCH, SheetView
from screens.live.choices import TOO_EARLY
from screens.widgets.lines import LineList

if TYPE_CHECKING:
    from lab.core.run.screen_clock import Clock
    from lab.studies.rating.rating_pace import Pace

Region = tuple[int, int, int, int]


class SheetPane(SheetView):
    """A rater's sheet with the keys that answer it, used in Annotate and after a played run.

    Its owner calls `open` once a rating session has a unit, and `set_place` when another place is shown beside it.
    Messages report answers, requests and handing in. Without `beside` no run is shown beside it, and answers have no
    evidence.
    """

    def __init__(
        self,
        clock: Clock | None = None,
        pace: Pace | None = None,
        items: SheetItems | None = None,
        *,
        beside: bool = True,
    ) -> None:
        super().__init__(clock, pace, items)
        self.answering = AnswerEditor(self)
        self.entry = TypedEntry(self, self.answering)
        self._beside = beside

    def on_key(self, event: events.Key) -> None:
        """Accept digits of any width, as input methods write them, and the letters of options."""
        self.pace.touch()
        if self.slip.active:
            event.stop()
            self.say(TOO_EARLY)
            return
        if self.typing or not self.items.has_focus:
            return
        digit = ascii_digit(event.character)
        if digit is not None:
            event.stop()
            self.action_digit(digit, composed=True)
        elif event.character and self.item is not None and self.keying.entry_kind(self.item) in ("choice", "many"):
            choices = [
                choice
                for choice in self.wording.choices(self.item)
                if choice.letter and choice.letter == event.character
            ]
            if choices:
                event.stop()
                self.keying.touch(self.clock.now())
                self._give_choice(self.item, choices[0])

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Offer only what the current line allows, nothing while a line or the menu is open."""
        if self.session is None or self.session.sheet is None or self.typing:
            return False
        if self.menu.display:
            return False
        item = self.item
        match action:
            case "missing" | "note" | "confidence":
                return item is not None
            case "cite":
                return item is not None and bool(self.entry.guide.strip())
            case "accept":
                return self.prelabel is not None
            case "evidence" | "region" | "to_evidence":
                return item is not None and bool(self.place) and self._beside
            case "type":
                return item is not None and self.keying.entry_kind(item) not in ("choice", "many")
            case "full":
                return item is not None and item.field.kind == "interval" and item.field.most is not None
            case "drop":
                return bool(self.keying.digits)
        return True

    def action_digit(self, digit: int, *, composed: bool = False) -> None:
        """Handle a digit: an option, a digit of a scale, or the start of typed text.

        For other items 0 opens the menu.
        """
        item = self.item
        if item is None:
            if digit == 0:
                self.action_other()
            return
        # An input method delivers a digit later than its key, so the time of the first key is unknown.
        self.keying.touch(None if composed else self.clock.now())
        flag = next((choice.value for choice in self.wording.flags(item) if choice.key == str(digit)), None)
        if flag is not None and not self.keying.digits:
            self.answering.raise_flag(flag)
            return
        if self.clash and self.keying.entry_kind(item) not in ("choice", "many"):
            self._reject_input(self.next_words)
            return
        match self.keying.add_digit(item, self.wording.choices(item), str(digit)):
            case "menu":
                self.action_other()
            case "type":
                self.entry.type_answer(str(digit))
            case "wait":
                self._set_digits(self.keying.digits)
            case ("give", value):
                self.keying.follows = self.answering.give(value) and self.item is not None
            case ("turn", value):
                self._turn_option(item, value)
            case ("wrong", str(words)):
                self._reject_input(words)

    def action_on(self) -> None:
        """Handle Enter: give what was begun, else go on, and at the end hand in.

        On an open item show how to answer it.
        """
        item = self.item
        if item is None:
            self.answering.hand_in()
            return
        if has_draft(self.drafts, item) and not self.keying.digits:
            self._give_chosen(item)
            return
        if self.clash and not self.keying.digits:
            self._list_others(marked=False)
            return
        answered = self.sheet.head(item.spot) is not None
        match self.keying.effect_of_enter(item, self.wording.choices(item), answered):
            case ("give", value):
                self.answering.give(value)
            case ("turn", value):
                self._turn_option(item, value)
            case ("wrong", str(words)):
                self._reject_input(words)
            case "menu" | "open" if self.keying.follows:
                self.keying.follows = False
                self.say("The item before is kept; this one is open.")
                self.post_message(self.KeysChanged())
            case "open":
                self._reject_input(self.next_words)
            case "menu":
                self._list_others(marked=False)
            case "type":
                self.entry.type_answer()
            case "shown":
                self._give_shown()
            case _:
                self.go_on(item.spot)

    # -- many options ----------------------------------------------------------------------------------------

    def _give_choice(self, item: SheetItem, choice: AnswerChoice) -> None:
        """Give an option as the answer, or toggle it if the answer has several."""
        if self.keying.entry_kind(item) == "many" and choice.value is not NOT_SEEN:
            self._turn_option(item, choice.value)
        else:
            self.answering.give(choice.value)

    def _turn_option(self, item: SheetItem, option: object) -> None:
        """Toggle an option of several. Enter gives the selection."""
        toggle_option(self.drafts, item, self.sheet.value(item.spot), option)
        self.say("")
        self.store_place_soon()
        self.post_message(self.KeysChanged())

    def _give_chosen(self, item: SheetItem) -> None:
        """Give the chosen options as the answer."""
        selection = chosen_in(self.drafts, item, self.sheet.value(item.spot))
        if why := not_enough(item, selection):
            self._reject_input(why)
            return
        self.answering.give(selection)

    def _reject_input(self, words: str) -> None:
        """Show why the input is not an answer. The input is discarded."""
        self.say(words)
        self.post_message(self.KeysChanged())

    def _give_shown(self) -> None:
        """Give the step shown as the answer."""
        step = self.place.rpartition("@")[2]
        if step.isdecimal():
            self.keying.touch(self.clock.now())
            self.answering.give(int(step))
        else:
            self.entry.type_answer()

    def action_drop(self) -> None:
        """Delete the last digit of an incomplete number."""
        self._set_digits(self.keying.digits[:-1])

    def drop_digits(self) -> None:
        """Delete an incomplete number."""
        self._set_digits("")

    def _set_digits(self, digits: str) -> None:
        self.keying.digits = digits
        self.say("")
        self.store_place_soon()
        self.post_message(self.KeysChanged())

    # -- what an answer rests on -----------------------------------------------------------------------------

    def action_evidence(self) -> None:
        """Make the step shown the evidence of the answer."""
        if not self.place:
            self.say("No step is shown here.")
            return
        self.keying.touch(self.clock.now())
        self.answering.change_companions(evidence=self.place, region=None)

    def action_to_evidence(self) -> None:
        """Go to the step that is the answer's evidence."""
        item = self.item
        if item is None:
            return
        head = self.sheet.head(item.spot)
        place = self.drafts.get((item.spot, "evidence")) or (head.evidence if head is not None else None)
        if place:
            self.post_message(self.Requested("place", place))
        else:
            self.say("This answer rests on no step.")

    def action_region(self) -> None:
        """Select a region of the phone as the evidence, or as the answer of a box field."""
        item = self.item
        self.request_region("answer" if item is not None and item.field.kind == "box" else "region")

    def request_region(self, what: str) -> None:
        """Ask the screen for a region, as `answer` or as evidence (`region`)."""
        if not self.place:
            self.say("No step is shown here.")
            return
        self.drawing = what
        self.post_message(self.Requested("region"))

    def take_region(self, place: str, region: Region) -> None:
        """Take a region that was drawn at a place."""
        self.keying.touch(self.clock.now())
        what, self.drawing = self.drawing, ""
        if what == "answer":
            self.drafts[self.keying.spot or FieldReference("", ""), "evidence"] = place
            self.answering.give(list(region))
        elif what == "region":
            self.answering.change_companions(evidence=place, region=region)

    # -- what is added, typed, or taken back ------------------------------------------------------------------

    def action_missing(self, reason: Missing) -> None:
        """Give no answer, with a reason."""
        self.keying.touch(self.clock.now())
        self.answering.give(missing=reason)

    def action_accept(self) -> None:
        """Accept the judge's answer that is shown."""
        if self.prelabel is not None:
            self.keying.touch(self.clock.now())
            self.keying.follows = self.answering.give(self.prelabel.value) and self.item is not None

    def action_full(self) -> None:
        """Answer with the top of the scale."""
        self.answering.give_most()

    def action_undo(self) -> None:
        """Take back the newest answer and go to it. If there is none, ask the screen."""
        self.answering.undo()

    def action_type(self) -> None:
        """Open the line for the answer."""
        self.entry.type_answer()

    def action_note(self) -> None:
        """Open the line for a note."""
        self.entry.type_note()

    def action_cite(self) -> None:
        """Open the line for a line number of the guide."""
        self.entry.type_cite()

    @on(AnswerLine.Ended)
    def _store_line(self, message: AnswerLine.Ended) -> None:
        message.stop()
        self.entry.enter()

    @on(AnswerLine.Exited)
    def _leave_line(self, message: AnswerLine.Exited) -> None:
        message.stop()
        self.entry.leave(message.by)

    @on(AnswerLine.Changed)
    def _keep_line(self, message: AnswerLine.Changed) -> None:
        message.stop()
        if self.typing:
            self.store_place_soon()

    # -- other answers ---------------------------------------------------------------------------------------

    def action_other(self) -> None:
        """Open the menu of other answers."""
        self._list_others()

    def _list_others(self, *, marked: bool = True) -> None:
        item = self.item
        self.keying.digits = ""
        entries = general_entries() if item is None else other_answers(self.wording, self.sheet, item, self.place)
        if item is not None and self.clash:
            words = clash_entries(self.wording, self.sheet, item)
            entries = words if self.sheet.committed else [*words, *entries]
            self._open_menu("Which of your answers stands?", entries, marked=marked)
            return
        self._open_menu("Other answers", entries, marked=marked)

    @on(Menu.Picked)
    async def _run_menu_entry(self, message: Menu.Picked) -> None:
        message.stop()
        self.menu.close()
        self.options.display = True
        self.items.focus()
        self.update_keys()
        kind, _, which = message.id.partition(" ")
        if which:
            self.keying.touch(self.clock.now())
        match kind:
            case "settle":
                for word in self.clash:
                    if word.id == which:
                        self.answering.settle(word)
            case "missing":
                self.action_missing(convert(which, Missing))
            case "flag":
                self.answering.raise_flag(which)
            case "sure":
                self.answering.change_companions(confidence=float(which))
            case "shown":
                self._give_shown()
            case "draw":
                self.request_region("answer")
            case "guide":
                self.post_message(self.Requested("guide"))
            case "full" | "type" | "note" | "cite" | "confidence" | "evidence" | "region" | "to_evidence" | "undo":
                await self.run_action(kind)

    def action_confidence(self) -> None:
        """Ask how sure the rater is."""
        self._open_menu("How sure", confidence_entries(self.wording))

    def _open_menu(self, title: str, entries: list[MenuEntry], *, marked: bool = True) -> None:
        self.options.display = False  # the menu takes their place
        self.menu.open(title, entries, marked=marked)
        self.update_keys()

    # -- by mouse --------------------------------------------------------------------------------------------

    @on(AnswerOptions.Picked)
    def _give_clicked(self, message: AnswerOptions.Picked) -> None:
        message.stop()
        item = self.item
        if item is None:
            return
        self.items.focus()
        self.keying.touch(self.clock.now())
        for choice in self.wording.choices(item):
            if choice.key == message.key:
                self._give_choice(item, choice)
                return
        for flag in self.wording.flags(item):
            if flag.key == message.key:
                self.answering.raise_flag(flag.value)

    @on(LineList.Chosen, "#items")
    def _enter_item(self, message: LineList.Chosen) -> None:
        message.stop()
        self.action_on()


_HUNDRED = 100
_KEYS = {"skipped": "s", "cannot_judge": "c", "not_reached": "", "not_applicable": ""}


def other_answers(way: Wording, sheet: Sheet, item: SheetItem, place: str) -> list[MenuEntry]:
    """Return the menu's entries for an item. `place` is what is shown beside the sheet."""
    target = item.spot.target
    flags = []
    for flag in item.flags:
        raised = bool(sheet.value(FieldReference(target, flag.id)))
        flags.append(MenuEntry(f"flag {flag.id}", way.sheet("_take_back" if raised else "_also", way.flag(flag))))
    missing = [MenuEntry(f"missing {reason}", way.reason(reason), _KEYS[reason]) for reason in MISSING]
    missing.sort(key=lambda entry: entry.id != "missing skipped")
    head = sheet.head(item.spot)
    evidence = (
        [MenuEntry("evidence", f"rests on the step shown, {place_words(way, sheet.unit, place)}", "e")] if place else []
    )
    region = [MenuEntry("region", "rests on a region of the phone", "r")] if place else []
    go = (
        [MenuEntry("to_evidence", "go to the step it rests on", "g")]
        if head is not None and head.evidence and sheet.unit.runs
        else []
    )
    cite = [MenuEntry("cite", "goes by a line of the guide", "T")] if way.protocol.guideline(way.locale).strip() else []
    more = [MenuEntry("note", "a note", "n"), *cite, MenuEntry("confidence", "how sure", "C"), *go, *region]
    return [*_typed_entries(way, sheet, item, place), *missing, *flags, *evidence, *more, *general_entries()]


def general_entries() -> list[MenuEntry]:
    """Return the entries of every item."""
    return [MenuEntry("undo", "take the last answer back", "z"), MenuEntry("guide", "the guideline", "t")]


def _typed_entries(way: Wording, sheet: Sheet, item: SheetItem, place: str) -> list[MenuEntry]:
    match way_of(item):
        case "scale" if largest_number(item.field) == _HUNDRED:
            return [MenuEntry("full", f"{item.field.most:g}", "f"), MenuEntry("type", "type it", "i")]
        case "scale":
            return [MenuEntry("type", "type it", "i")]
        case "typed":
            return [MenuEntry("type", "type it", "i")]
        case "step":
            step_entries = (
                [MenuEntry("shown", f"the step shown, {place_words(way, sheet.unit, place)}")] if place else []
            )
            return [*step_entries, MenuEntry("type", "type its number", "i")]
        case "box":
            return [*([MenuEntry("draw", "frame it on the phone")] if place else []), MenuEntry("type", "type it", "i")]
    return []


def confidence_entries(way: Wording) -> list[MenuEntry]:
    """Return the entries for how sure a rater is."""
    return [MenuEntry(f"sure {number / (SURES - 1)}", words) for number, words in enumerate(way.sures())]


class TypedEntry:
    """Use of a sheet's line for one purpose at a time. Its text becomes the answer or goes with it."""

    def __init__(self, view: SheetView, answering: AnswerEditor) -> None:
        self.view = view
        self.answering = answering

    def type_answer(self, first_character: str = "") -> None:
        """Open the line for the answer with `first_character`, or with what was typed or answered before."""
        item = self.view.item
        if item is None:
            return
        keying, draft = self.view.keying, self.view.drafts.get((item.spot, "answer"))
        words = first_character or keying.digits or draft or words_of(self.view.sheet.value(item.spot))
        keying.digits = ""
        self._open("answer", "Your answer", words, hint_of(item.field), fresh=not first_character)

    def type_note(self) -> None:
        """Open the line for a note."""
        item = self.view.item
        if item is None:
            return
        head = self.view.sheet.head(item.spot)
        words = self.view.drafts.get((item.spot, "note")) or (head.note if head is not None else "")
        self._open("note", "Note", words, "a note with this answer")

    def type_cite(self) -> None:
        """Open the line for a line number of the guide."""
        item = self.view.item
        if item is None:
            return
        clause_count = len(clauses(self.guide))
        if not clause_count:
            self.view.say("This study has no guideline.")
            return
        head = self.view.sheet.head(item.spot)
        words = self.view.drafts.get((item.spot, "cites")) or (head.cites if head is not None else "")
        hint = f"its number, 1 to {clause_count}, as the guide (t) has it; nothing takes it back"
        self._open("cites", "Line of the guide", words.removeprefix("§"), hint)

    @property
    def guide(self) -> str:
        """The study's guideline in this rater's language."""
        return self.view.wording.protocol.guideline(self.view.wording.locale)

    def search(self) -> None:
        """Open the line for a search beside the sheet. Enter goes to the next match."""
        self._open(SEARCH, "Search", "", "words on a screen, in an action, in the dialogue")

    def _open(self, what: str, title: str, words: str, hint: str, *, fresh: bool = True) -> None:
        self.view.typing = what
        line = self.view.line
        line.open(title, words, hint)
        if not fresh:
            line.begin(self.view.keying.first_key_at)
        self.view.update_keys()

    def enter(self) -> None:
        """Store the line's text for its purpose. If it is not valid, show why and keep the line open."""
        line, item = self.view.line, self.view.item
        if self.view.typing == SEARCH and line.text.strip():
            self.view.post_message(self.view.Requested(SEARCH, line.text.strip()))
            return
        if item is None or self.view.typing == SEARCH:
            self.leave()
            return
        if self.view.typing == "note":
            self.view.close_line()
            self.view.drafts.pop((item.spot, "note"), None)
            self.answering.change_companions(note=line.text.strip())
        elif self.view.typing == "cites":
            words = line.text.strip().removeprefix("§")
            if words and clause_of(f"§{words}", self.guide) is None:
                self.view.say(f"The guide has lines 1 to {len(clauses(self.guide))}.")
                return
            self.view.close_line()
            self.view.drafts.pop((item.spot, "cites"), None)
            self.answering.change_companions(cites=f"§{words}" if words else "")
        elif not line.text.strip() and not item.field.required:
            self.view.drafts.pop((item.spot, "answer"), None)
            self.view.close_line()
            self.view.go_on(item.spot)
        elif not self._give(line):
            return
        self.view.items.focus()
        self.view.update_keys()

    def _give(self, line: AnswerLine) -> bool:
        assert self.view.item is not None
        try:
            value = typed_value(self.view.item.field, line.text)
        except LabError as error:
            self.view.say(error.message)
            return False
        if line.begun:
            self.view.keying.touch(line.first_key_at)
        if not self.answering.give(value):
            return False
        self.view.typing = ""
        line.close()
        return True

    def leave(self, by: int = 0) -> None:
        """Close the line. Its text stays a draft, and the cursor moves by `by` items."""
        self.view.close_line()
        self.view.items.focus()
        if by:
            self.view.items.action_move(by)
        self.view.say("")
        self.view.store_place_soon()
        self.view.update_keys()
