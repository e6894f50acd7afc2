"""The form before a demonstration: the intent in one sentence, and the kind of place the person is in."""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

from textual import events, on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.message import Message
from textual.screen import Screen
from textual.widgets import Input, Static

from lab.core.errors import LabError
from lab.core.run.demonstration import PLACES, check_line, demonstration_task
from lab.core.text.plain_text import plain
from lab.runs.spec import Spec
from screens.stylesheet import ROOM_STYLES
from screens.widgets.card import GivingColumn
from screens.widgets.footer import Footer
from screens.widgets.lines import LineList
from screens.widgets.text_fields import TextLine
from screens.widgets.text_page import ScrollableNotice

OWN = "somewhere else, in your own words"


class DemonstrationRequest(NamedTuple):
    """A recording whose intent and place may still be missing. `own` means that it belongs to no task.

    `intent` and `place` come from the command line. Empty means the task's own, if it has one.
    """

    spec: Spec
    intent: str = ""
    place: str = ""
    own: bool = True

    @property
    def known_intent_and_place(self) -> tuple[str, str]:
        """The intent and the place as far as they are known."""
        task = self.spec.task
        return (self.intent or ("" if self.own else task.instruction)), self.place or task.place

    def to_spec(self, intent: str, place: str) -> Spec:
        """Return the spec of the recording with its intent and place."""
        task = demonstration_task(None if self.own else self.spec.task, intent, place)
        return self.spec._replace(task=task)


class PlaceList(LineList):
    """Categories of places, the first nine with a digit, and a last line for own words."""

    HELP = """\
# Where you are

The kind of place you are in, as FingerTip-20K tells them apart. **Arrows** move, **{list.open}** takes one, a
**digit** one of the first nine; the last line is for your own words.
"""

    @dataclass
    class Digit(Message):
        """Message: one of the first nine was chosen."""

        index: int

    def __init__(self) -> None:
        super().__init__(id="places")

    @property
    def count(self) -> int:
        return len(PLACES) + 1

    def paint(self, index: int, width: int) -> Content:
        digit = f"{index + 1}" if index < 9 else " "
        return Content.assemble((digit, "bold underline"), f"  {PLACES[index] if index < len(PLACES) else OWN}")

    def on_key(self, event: events.Key) -> None:
        """Choose by a digit in any width that an input method writes."""
        character = event.character or ""
        number = unicodedata.decimal(character, 0) if len(character) == 1 else 0
        if 1 <= number <= 9:
            event.stop()
            self.go(number - 1)
            self.post_message(self.Digit(number - 1))


class _Form(GivingColumn):
    """A form whose places scroll in a low terminal, while the widgets above keep their rows."""

    SHRINK_ROUNDS = ((("places", 3), ("intent-fixed", 2)), ())


class IntentScreen(Screen[tuple[str, str] | None]):
    """A small form.

    Returns the intent and the place, or None if the person left it. With `fixed` the intent cannot change.
    """

    CSS_PATH = ROOM_STYLES
    HELP = """
    Say in one sentence what you want to do on your phone, and in what kind of place you are. **Enter** goes on from
    each line; after the last one the recording begins. **{intent.leave}** leaves.
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "leave", "Leave", id="intent.leave", tooltip="No recording"),
    ]

    def __init__(self, intent: str = "", place: str = "", *, fixed: bool = False) -> None:
        super().__init__()
        self._given, self._fixed = intent, fixed
        self._intent = TextLine(
            intent, id="intent-text", placeholder="such as: Tell Noor that I come at ten", compact=True
        )
        self._places = PlaceList()
        self._own = TextLine(place, id="intent-own", placeholder="the kind of place you are in", compact=True)

    def compose(self) -> ComposeResult:
        with _Form(id="intent", classes="pane"):
            yield Static("What do you want to do on the phone? In one sentence:", classes="ask", markup=False)
            if self._fixed:
                yield ScrollableNotice(id="intent-fixed")
            else:
                yield self._intent
            yield Static("In what kind of place are you?", classes="ask", markup=False)
            yield self._places
            yield self._own
            yield Static("", id="intent-wrong", markup=False)
        yield Footer()

    def on_mount(self) -> None:
        self.query_one("#intent").border_title = "A demonstration"
        if self._fixed:
            self.query_one("#intent-fixed", ScrollableNotice).show(Content(plain(self._given)))
        self._own.display = bool(self._own.value)
        self._places.styles.height = self._places.count
        if self._fixed or self._given:
            self._places.focus()
        else:
            self._intent.focus()

    @on(Input.Submitted, "#intent-text")
    def _submit_intent(self) -> None:
        if self._check_intent():
            self._places.focus()

    @on(LineList.Chosen, "#places")
    def _take_place(self, message: LineList.Chosen) -> None:
        if message.index < len(PLACES):
            self._finish(PLACES[message.index])
        else:
            self._own.display = True
            self._own.focus()

    @on(PlaceList.Digit)
    def _take_digit(self, message: PlaceList.Digit) -> None:
        self._finish(PLACES[message.index])

    @on(Input.Submitted, "#intent-own")
    def _submit_own(self, message: Input.Submitted) -> None:
        if message.value.strip():
            self._finish(message.value)
        else:
            self._show_error("Write the kind of place, or take one of the list.")

    def _finish(self, place: str) -> None:
        if not self._check_intent():
            self._intent.focus()
            return
        try:
            self.dismiss((self._checked_intent, check_line(place, "place")))
        except LabError as error:
            self._show_error(error.sentence)

    @property
    def _checked_intent(self) -> str:
        return self._given if self._fixed else check_line(self._intent.value, "intent")

    def _check_intent(self) -> bool:
        """Return True if there is an intent. Else show what is wrong."""
        try:
            wrong = "" if self._checked_intent else "Say first what you want to do."
        except LabError as error:
            wrong = error.sentence
        self._show_error(wrong)
        return not wrong

    def _show_error(self, words: str) -> None:
        self.query_one("#intent-wrong", Static).update(plain(words))

    def action_leave(self) -> None:
        if self.query("HelpPanel"):
            self.app.action_hide_help_panel()
        else:
            self.dismiss(None)
