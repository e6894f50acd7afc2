"""The sheet of one unit on screen: it paints a `SheetEditor`, and passes keys, typed lines and the mouse to it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from msgspec import convert
from textual import events, on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical
from textual.message import Message

from lab.core.run.screen_clock import Clock
from lab.core.study.label import Label, Missing
from lab.core.study.rating_sheet import Sheet
from lab.studies.rating.drafts import ItemEntry, TypedLine
from lab.studies.rating.rating_pace import Pace
from lab.studies.rating.rating_session import HandedIn, RatingSession
from lab.studies.rating.sheet_editor import Effect, Region, SheetEditor
from lab.studies.rating.sheet_items import SheetItem, selection_problem, way_of
from lab.studies.rating.sheet_wording import Wording
from screens.annotate.answer_field import AnswerLine
from screens.annotate.item_pane import AnswerOptions, ItemPane
from screens.annotate.keys import SHEET_KEYS, ascii_digit
from screens.annotate.menu import Menu, MenuEntry
from screens.annotate.other_answers import (
    clash_entries,
    confidence_entries,
    general_entries,
    other_answers,
)
from screens.annotate.phone_pane import Evidence
from screens.annotate.rows import SheetItems
from screens.annotate.sheet_text import enter_words
from screens.key_names import with_keys
from screens.lab import ReportsErrors
from screens.live.choices import TOO_EARLY
from screens.slip import KeyGuard
from screens.widgets.lines import LineList

_ITEM, _LEAST = 0.6, 3
"""Maximum part of the sheet for the item, and minimum rows for the list and for the question."""
_SETTLES = 1.0
"""Seconds without a change after which the rater's place and drafts are stored."""


class SheetPane(ReportsErrors, Vertical):
    """A rater's sheet, used in Annotate and after a played run.

    Its owner calls `open` once a rating session has a unit, and `set_place` when another place is shown beside it.
    Messages report answers, requests and handing in. An answer is painted after the editor has committed it.
    """

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

    def __init__(self, clock: Clock | None = None, pace: Pace | None = None, items: SheetItems | None = None) -> None:
        super().__init__(id="answer-sheet")
        self.title = "Sheet"
        """Title above the lines."""
        self.unseen: frozenset[str] = frozenset()
        """Fields that are not asked here."""
        self.clock = clock or Clock()
        self.pace = pace or Pace(self.clock)
        self.drawing = ""
        """Use of the next region drawn beside the sheet: `answer`, `region`, empty while none is requested."""
        self.items = items or SheetItems()
        self.item_pane = ItemPane()
        self.slip = KeyGuard(self.clock)
        """Pause after handing in, in which no key acts on the next sheet."""
        self.line = AnswerLine(self.clock, self.pace)
        self.menu = Menu()
        self._editor: SheetEditor | None = None
        self._painted_entry: ItemEntry | None = None
        self._opened_line: TypedLine | None = None

    def compose(self) -> ComposeResult:
        yield self.items
        yield self.item_pane
        yield self.line
        yield self.menu

    def on_mount(self) -> None:
        self._keep_timer = self.set_interval(_SETTLES, self.store_place, pause=True)  # `_store_place_soon` resumes it

    # -- the editor ------------------------------------------------------------------------------------------

    @property
    def editor(self) -> SheetEditor:
        """Editor of the open sheet."""
        assert self._editor is not None
        return self._editor

    @property
    def session(self) -> RatingSession:
        return self.editor.session

    @property
    def sheet(self) -> Sheet:
        return self.editor.sheet

    @property
    def wording(self) -> Wording:
        return self.editor.wording

    @property
    def place(self) -> str:
        """Place shown beside the sheet."""
        return self.editor.place

    @property
    def item(self) -> SheetItem | None:
        """The item under the cursor, or None on the line that hands in."""
        return self.items.items[self.items.cursor] if self.items.cursor < len(self.items.items) else None

    @property
    def typing(self) -> str:
        """Use of the open line: `answer`, `note`, `cites`, `search`, empty while it is closed."""
        return self.editor.line.purpose if self._editor is not None and self.editor.line is not None else ""

    def open(self, session: RatingSession) -> str:
        """Show the session's open unit where the rater left it. Return their place in the run."""
        self._editor = SheetEditor(session, self.clock, self.pace, self.unseen)
        self._update()
        self.items.changed()
        self.items.go(self.editor.index)
        self.items.scroll_to(y=max(0, self.items.cursor - 2), animate=False)
        self.items.focus()
        return self.editor.last_place

    def _current_editor(self) -> SheetEditor:
        """Return the editor at the line under the cursor, with the text typed so far."""
        # A key may come before the messages about the cursor and the text.
        editor = self.editor
        if editor.line is not None:
            line = editor.line
            line.text, line.begun, line.first_key_at = self.line.text, self.line.begun, self.line.first_key_at
        editor.go_to_line(self.items.cursor)
        return editor

    def _update(self, effect: Effect = "", *, marked: bool = True) -> None:
        """Paint the editor's state, then act on what a key did. Unless `marked`, Enter chooses nothing in a menu."""
        editor = self.editor
        if self.items.sheet is not editor.sheet:
            self.items.show(editor.sheet, editor.wording, editor.items)
        self.items.go(editor.index)
        if effect == "open":
            editor.problem = self.next_words
        if isinstance(effect, Label):
            self.post_message(self.Answered(effect))
        if editor.entry is not self._painted_entry:
            self._painted_entry = editor.entry
            self.drawing = ""
            self.item_pane.scroll_to_top()
            self.post_message(self.ItemChanged(self.item))
        elif effect in ("", "open"):
            self.post_message(self.KeysChanged())
        self._show_line()
        self._paint()
        self._store_place_soon()
        if effect == "menu":
            self._list_others(marked=marked)
        elif effect == "undo":
            self.post_message(self.Requested("undo"))
        elif isinstance(effect, HandedIn):
            self.slip.begin()
            self.post_message(self.UnitHandedIn(effect))
        elif effect == "settled" or (isinstance(effect, Label) and self.sheet.committed and not self.sheet.clashes):
            self.post_message(self.Settled())

    @on(LineList.Highlighted, "#items")
    def _begin_highlighted(self, message: LineList.Highlighted) -> None:
        message.stop()
        if self._current_editor().entry is not self._painted_entry:
            self._update()

    def set_place(self, place: str) -> None:
        """Record the place shown beside the sheet."""
        if self._editor is not None and place != self.place:
            turned, self.editor.place = bool(place) is not bool(self.place), place
            self._store_place_soon()
            if turned:
                self.refresh_bindings()

    def _store_place_soon(self) -> None:
        """Store place and drafts after a pause without further changes."""
        self._keep_timer.reset()
        self._keep_timer.resume()

    def store_place(self, *, leaving: bool = False) -> None:
        """Store place and drafts, if they changed. `leaving` stores them anyway, for the time of leaving."""
        self._keep_timer.pause()
        if self._editor is not None:
            before = self.editor.problem
            self._current_editor().store_position(leaving=leaving)
            if self.editor.problem != before:
                self._paint()

    def take_pace(self, pace: Pace) -> None:
        """Begin another sitting."""
        self.pace = self.line.pace = pace
        if self._editor is not None:
            self.editor.pace = pace

    def take_up_other_window(self) -> bool:
        """Show what another window of this rater stored for this unit. Return False if it stored nothing."""
        if not self._current_editor().load_other_window():
            return False
        self._update()
        self.update_keys()
        return True

    # -- keys ------------------------------------------------------------------------------------------------

    def on_key(self, event: events.Key) -> None:
        """Accept digits of any width, as input methods write them, and the letters of options."""
        self.pace.touch()
        if self.slip.active:
            event.stop()
            self.say(TOO_EARLY)
            return
        if self._editor is None or self.typing or not self.items.has_focus:
            return
        digit = ascii_digit(event.character)
        if digit is not None:
            event.stop()
            self._update(self._current_editor().press_digit(digit, composed=True))
        elif event.character and (effect := self._current_editor().press_letter(event.character)) is not None:
            event.stop()
            self._update(effect)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Offer only what the current line allows, nothing while a line or the menu is open."""
        if self._editor is None or self.typing or self.menu.display:
            return False
        item = self.item
        match action:
            case "missing" | "note" | "confidence":
                return item is not None
            case "cite":
                return item is not None and bool(self.editor.guide.strip())
            case "accept":
                return self.editor.prelabel is not None
            case "evidence" | "region" | "to_evidence":
                return item is not None and bool(self.place)
            case "type":
                return item is not None and way_of(item) not in ("choice", "many")
            case "full":
                return item is not None and item.field.kind == "interval" and item.field.most is not None
            case "drop":
                return bool(self.editor.entry.digits)
        return True

    def action_digit(self, digit: int) -> None:
        """Answer with a digit, or begin to."""
        self._update(self._current_editor().press_digit(digit))

    def action_on(self) -> None:
        """Give what was begun, else go on, and at the end hand in."""
        self._update(self._current_editor().press_enter(), marked=False)

    def action_drop(self) -> None:
        """Delete the last digit of an incomplete number."""
        self.editor.set_digits(self.editor.entry.digits[:-1])
        self._update()

    def drop_digits(self) -> None:
        """Delete an incomplete number."""
        self.editor.set_digits("")
        self._update()

    def action_missing(self, reason: Missing) -> None:
        """Give no answer, with a reason."""
        self._update(self._current_editor().give_missing(reason))

    def action_accept(self) -> None:
        """Accept the judge's answer that is shown."""
        self._update(self._current_editor().accept_prelabel())

    def action_full(self) -> None:
        """Answer with the top of the scale."""
        self._update(self._current_editor().give_most())

    def action_undo(self) -> None:
        """Take back the newest answer and go to it. If there is none, ask the screen."""
        self._update(self._current_editor().undo())

    # -- what an answer rests on -----------------------------------------------------------------------------

    def action_evidence(self) -> None:
        """Make the step shown the evidence of the answer."""
        self._update(self._current_editor().cite_shown_step())

    def action_to_evidence(self) -> None:
        """Go to the step that is the answer's evidence."""
        if place := self._current_editor().details.evidence:
            self.post_message(self.Requested("place", place))
        else:
            self.say("This answer rests on no step.")

    def action_region(self) -> None:
        """Select a region of the phone as the evidence, or as the answer of a box field."""
        self.request_region("answer" if self.item is not None and self.item.field.kind == "box" else "region")

    def request_region(self, what: str) -> None:
        """Ask the screen for a region, as `answer` or as evidence (`region`)."""
        if not self.place:
            self.say("No step is shown here.")
            return
        self.drawing = what
        self.post_message(self.Requested("region"))

    def take_region(self, place: str, region: Region) -> None:
        """Take a region that was drawn at a place."""
        what, self.drawing = self.drawing, ""
        if what:
            self._update(self._current_editor().take_region(place, region, answers=what == "answer"))

    def evidence(self) -> list[Evidence]:
        """Return the evidence of the sheet's answers, and of answers not given yet, each with its item's number."""
        items, drafts = self.editor.items, self.editor.drafts
        given = [(item, head.details) for item in items if (head := self.sheet.head(item.spot)) is not None]
        given += [(item, drafts[item.spot].details) for item in items if item.spot in drafts]
        return [
            Evidence(details.evidence, details.region, str(item.number or ""))
            for item, details in given
            if details.evidence
        ]

    # -- the line ----------------------------------------------------------------------------------------------

    def action_type(self) -> None:
        """Open the line for the answer."""
        self._update(self._current_editor().type_answer())

    def action_note(self) -> None:
        """Open the line for a note."""
        self._update(self._current_editor().type_note())

    def action_cite(self) -> None:
        """Open the line for a line number of the guide."""
        self._update(self._current_editor().type_cite())

    def search(self) -> None:
        """Open the line for a search beside the sheet. Enter goes to the next match."""
        self._update(self._current_editor().type_search())

    def _show_line(self) -> None:
        """Open or close the line as the editor has it."""
        line = self.editor.line
        if line is self._opened_line:
            return
        self._opened_line = line
        if line is not None:
            self.line.open(line.title, line.text, line.hint)
            if line.begun:
                self.line.begin(line.first_key_at)
        else:
            if self.line.has_focus:
                self.items.focus()
            self.line.close()
        self.update_keys()

    @on(AnswerLine.Ended)
    def _end_line(self, message: AnswerLine.Ended) -> None:
        message.stop()
        editor = self._current_editor()
        if editor.line is not None and editor.line.purpose == "search" and editor.line.text.strip():
            self.post_message(self.Requested("search", editor.line.text.strip()))
        else:
            self._update(editor.end_line())

    @on(AnswerLine.Exited)
    def _leave_line(self, message: AnswerLine.Exited) -> None:
        message.stop()
        self._update(self._current_editor().leave_line())
        if message.by:
            self.items.action_move(message.by)

    @on(AnswerLine.Changed)
    def _keep_line(self, message: AnswerLine.Changed) -> None:
        message.stop()
        if self.typing:
            self._store_place_soon()

    # -- the menus ---------------------------------------------------------------------------------------------

    def action_other(self) -> None:
        """Open the menu of other answers."""
        self._list_others()

    def _list_others(self, *, marked: bool = True) -> None:
        editor = self._current_editor()
        item, editor.entry.digits = editor.item, ""
        entries = general_entries() if item is None else other_answers(self.wording, self.sheet, item, self.place)
        if item is not None and editor.clash:
            words = clash_entries(self.wording, self.sheet, item)
            entries = words if self.sheet.committed else [*words, *entries]
            self._open_menu("Which of your answers stands?", entries, marked=marked)
            return
        self._open_menu("Other answers", entries, marked=marked)

    def action_confidence(self) -> None:
        """Ask how sure the rater is."""
        self._open_menu("How sure", confidence_entries(self.wording))

    def _open_menu(self, title: str, entries: list[MenuEntry], *, marked: bool = True) -> None:
        self.item_pane.options.display = False  # the menu takes their place
        self.menu.open(title, entries, marked=marked)
        self.update_keys()

    @on(Menu.Picked)
    async def _run_menu_entry(self, message: Menu.Picked) -> None:
        message.stop()
        self.menu.close()
        self.item_pane.options.display = True
        self.items.focus()
        self.update_keys()
        editor = self._current_editor()
        kind, _, which = message.id.partition(" ")
        if which:
            editor.touch()
        match kind:
            case "settle":
                for label in editor.clash:
                    if label.id == which:
                        self._update(editor.settle(label))
            case "missing":
                self._update(editor.give_missing(convert(which, Missing)))
            case "flag":
                self._update(editor.raise_flag(which))
            case "sure":
                self._update(editor.change_details(confidence=float(which)))
            case "shown":
                self._update(editor.give_shown_step())
            case "draw":
                self.request_region("answer")
            case "guide":
                self.post_message(self.Requested("guide"))
            case "full" | "type" | "note" | "cite" | "confidence" | "evidence" | "region" | "to_evidence" | "undo":
                await self.run_action(kind)

    # -- the mouse ---------------------------------------------------------------------------------------------

    @on(AnswerOptions.Picked)
    def _give_clicked(self, message: AnswerOptions.Picked) -> None:
        message.stop()
        if self.item is not None:
            self.items.focus()
            self._update(self._current_editor().press_option(message.key))

    @on(LineList.Chosen, "#items")
    def _enter_item(self, message: LineList.Chosen) -> None:
        message.stop()
        self.action_on()

    # -- painting ----------------------------------------------------------------------------------------------

    def say(self, problem: str) -> None:
        """Paint the current item, with a line about what went wrong (empty for nothing)."""
        self.editor.problem = problem
        self._paint()

    def _paint(self) -> None:
        """Paint the current item, and how many are answered."""
        items = self.editor.items
        answered_count = len([line for line in items if self.sheet.head(line.spot) is not None])
        self.items.write_titles(self.title, f"{answered_count} of {len(items)}")
        self.item_pane.paint(self.editor)
        self.take_room()

    @property
    def saved(self) -> str:
        """Text about the last saved answer."""
        rows = self.sheet.rows if self._editor is not None else []
        return f"✓ saved {self.clock.time_of_day(rows[-1].at)}" if rows else "Every answer is saved as you give it."

    @property
    def next_words(self) -> str:
        """Text about what Enter does now."""
        return with_keys(self, self._next_words())

    def _next_words(self) -> str:
        item = self.item
        if self.menu.display:
            return "A digit or {other.choose} chooses, {other.leave} leaves."
        if self.typing == "search":
            return "{entry.keep} goes to the next step that holds these words, {entry.leave} ends the search."
        if self.typing:
            return "{entry.keep} keeps what you typed, {entry.leave} leaves it for later."
        if self._editor is None:
            return ""
        if item is None and self.sheet.committed:
            return "{answer.next} goes on."
        if item is None:
            if self.sheet.unanswered:
                return "{answer.next} goes to the first that is open."
            return "{answer.next} hands in" + ("; there is no going back." if self.wording.protocol.forward else ".")
        digits = self.editor.entry.digits
        if self.editor.clash and not digits:
            return "{answer.next}: settle which answer stands."
        if not digits and self.editor.draft.options:
            return selection_problem(item, self.editor.selection) or "{answer.next}: this is the answer."
        return enter_words(item, digits, self.sheet.head(item.spot) is not None, bool(self.place))

    def update_keys(self) -> None:
        """Update keys and layout, and post `KeysChanged`."""
        self.refresh_bindings()
        self.take_room()
        self.post_message(self.KeysChanged())

    # -- room ------------------------------------------------------------------------------------------------

    def on_resize(self, event: events.Resize) -> None:
        self.take_room()

    def take_room(self) -> None:
        """Divide the room between the list and the current item, less an open line or menu."""
        height, width = self.size.height, self.size.width - 4
        if height <= 0 or width <= 0:
            return
        below = max(_LEAST, height - 2 * _LEAST)
        self.menu.styles.max_height, self.line.styles.max_height = min(11, below), min(9, below)
        entry_rows = min(below, self.menu.count + 2) if self.menu.display else min(below, 3) if self.line.display else 0
        self.item_pane.take_room(min(round(height * _ITEM), height - _LEAST - entry_rows), width)
