"""A small form over a room: one line per field with its choice or typed text. Enter submits it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, TypeVar

from textual import events, on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Static

from lab.core.settings import Settings
from lab.core.text.plain_text import plain
from lab.core.text.typed_text import clean
from lab.runs.descriptions import one_line
from lab.runs.run_choices import Choice, ChoiceField, find_choice, model_needs
from screens.key_names import with_keys
from screens.theme import ACCENT, MUTED, WARNING
from screens.widgets.border_words import write_title
from screens.widgets.footer import Footer
from screens.widgets.lines import LineList

_LABEL = 9
"""Columns of a field's label."""
Result = TypeVar("Result")


class ChoiceList(LineList):
    """The fields, one line each with its current choice. The person types a name if the choice asks for one."""

    def __init__(self, fields: list[ChoiceField], values: Mapping[str, str], settings: Settings) -> None:
        super().__init__(id="form-fields")
        self.fields = fields
        self._settings = settings
        self._choice_index: dict[str, int] = {}
        self._typed: dict[tuple[str, int], str] = {}
        for field in fields:
            at, text = find_choice(field, values.get(field.name, ""))
            self._choice_index[field.name] = at
            if text:
                self._typed[field.name, at] = text

    @property
    def count(self) -> int:
        return len(self.fields)

    @property
    def field(self) -> ChoiceField:
        """The field under the cursor."""
        return self.fields[self.cursor]

    def choice(self, field: ChoiceField) -> Choice:
        """Return the current choice of a field."""
        return field.choices[self._choice_index[field.name]]

    def typed(self, field: ChoiceField) -> str:
        """Return the text typed for the current choice of a field."""
        return self._typed.get((field.name, self._choice_index[field.name]), "")

    @property
    def values(self) -> dict[str, str]:
        """The value of each field by name, with the typed text appended."""
        return {field.name: self.choice(field).value + self.typed(field).strip() for field in self.fields}

    def missing_need(self, field: ChoiceField) -> str:
        """Return what the choice of a field needs and lacks, as a predicate: `needs a playbook ...`, else empty."""
        choice = self.choice(field)
        if choice.needs:
            return f"needs {choice.needs}"
        return model_needs(self.values[field.name], self._settings) if choice.value else ""

    def paint(self, index: int, width: int) -> Content:
        field = self.fields[index]
        choice, text = self.choice(field), plain(self.typed(field), lines=False)
        places = f"{self._choice_index[field.name] + 1}/{len(field.choices)}"
        words = [(f"{field.label:<{_LABEL}}", MUTED), (f"‹ {one_line(choice.label, 200)}", "")]
        if choice.typed:
            words.append((f": {text}▏" if text or index == self.cursor else f": {choice.typed}", ACCENT))
        words.append((" ›", MUTED))
        if needs := self.missing_need(field):
            words.append((f"  {needs}", WARNING))
        left = Content.assemble(*words).truncate(max(1, width - len(places) - 1), ellipsis=True, pad=True)
        return Content.assemble(left, " ", (places, MUTED))

    def select_next(self, by: int) -> None:
        """Select another choice in the field under the cursor."""
        field = self.field
        self._choice_index[field.name] = (self._choice_index[field.name] + by) % len(field.choices)
        self.changed()

    def _type(self, text: str) -> None:
        key = (self.field.name, self._choice_index[self.field.name])
        self._typed[key] = (self._typed.get(key, "") + clean(text, lines=False))[:200]
        self.changed()

    def on_key(self, event: events.Key) -> None:
        """Add typed characters to a choice that asks for a name. Otherwise letters are commands."""
        if not self.choice(self.field).typed:
            return
        if event.key == "backspace":
            key = (self.field.name, self._choice_index[self.field.name])
            self._typed[key] = self._typed.get(key, "")[:-1]
            self.changed()
        elif event.is_printable and event.character:
            self._type(event.character)
        else:
            return
        event.stop()
        event.prevent_default()

    def on_paste(self, event: events.Paste) -> None:
        """Add a pasted name."""
        if self.choice(self.field).typed:
            event.stop()
            self._type(" ".join(event.text.split()))


class ChoiceForm(ModalScreen[Result | None]):
    """A form that returns a result of its fields, or None if the person left it. A subclass defines what Enter does."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("right,space", "turn(1)", "Other choice", id="start.next", tooltip="The next choice in this field"),
        Binding("left", "turn(-1)", "Choice before", show=False, id="start.before", tooltip="The choice before"),
        Binding("escape", "leave", "Leave", id="start.leave", tooltip="Start nothing"),
    ]
    ENTER = "start"
    """Label of Enter, a word or two."""

    def __init__(self, title: str, about: str, fields: ChoiceList) -> None:
        super().__init__()
        self._title = title
        self._about = about
        self.fields = fields

    def compose(self) -> ComposeResult:
        with Vertical(id="choice-form", classes="pane"):
            yield Static(one_line(plain(self._about), 300), id="form-about", markup=False)
            yield self.fields
            yield Static("", id="form-says", markup=False)
        yield Footer()

    def on_mount(self) -> None:
        write_title(self.query_one("#choice-form"), self._title)
        self.fields.styles.height = self.fields.count
        self.fields.focus()
        self.say()

    def say(self, wrong: str = "") -> None:
        """Write an error below the fields, else what the choice needs, and the keys."""
        line = self.query_one("#form-says", Static)
        line.set_class(bool(wrong), "-wrong")
        needs = self.fields.missing_need(self.fields.field)
        keys = (
            f"{{list.up}} {{list.down}}: field   {{start.before}} {{start.next}}: choice   {{list.open}}: {self.ENTER}"
        )
        line.update(plain(wrong) or plain(f"This {needs}.\n" * bool(needs)) + with_keys(self, keys))

    def submit(self) -> None:
        """Submit the form. Show an error in it if the fields are invalid."""
        raise NotImplementedError

    def action_turn(self, by: int) -> None:
        """Select another choice in the field under the cursor."""
        self.fields.select_next(by)
        self.say()

    @on(LineList.Highlighted, "#form-fields")
    def _follow_cursor(self, message: LineList.Highlighted) -> None:
        message.stop()
        self.say()

    @on(LineList.Chosen, "#form-fields")
    def _submit(self, message: LineList.Chosen) -> None:
        message.stop()
        self.submit()

    def action_leave(self) -> None:
        """Close help, or leave the form without a result."""
        if self.query("HelpPanel"):
            self.app.action_hide_help_panel()
        else:
            self.dismiss(None)
