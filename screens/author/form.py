"""One item's fields, one per line. Enter goes to the next, Esc leaves, and typed text is always stored."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from rich.text import Text
from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, VerticalScroll
from textual.message import Message
from textual.reactive import reactive
from textual.suggester import SuggestFromList
from textual.widget import Widget
from textual.widgets import Input, Static

from lab.core.text.typed_text import clean
from screens.author.fields import FormField
from screens.widgets.border_words import write_title
from screens.widgets.text_fields import TextLine

FORM = Binding.Group("Form", compact=True)


class FormLine(TextLine):
    """A text field. Letters are text here and never commands, with any input method."""

    HELP = """\
# A field

Type; **{form.on}** goes on to the next field and after the last one back to the list, **{form.above}** and
**{form.next}** change fields, **{author.back}** leaves. What you typed is kept each time you leave a field;
**{author.undo}** in the list takes it back. Where words are offered in grey, **→** takes them.
"""
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("down", "app.focus_next", "Next field", show=False, id="form.next", group=FORM, tooltip="Next field"),
        Binding("up", "app.focus_previous", "Field above", show=False, id="form.above", group=FORM,
                tooltip="The field above"),
    ]  # fmt: skip

    def __init__(self, field: FormField) -> None:
        suggester = SuggestFromList(field.suggestions, case_sensitive=False) if field.suggestions else None
        super().__init__(
            field.value, placeholder=field.hint, compact=True, suggester=suggester,
            select_on_focus=field.replaced,
        )  # fmt: skip


class WordSwitch(Widget, can_focus=True):
    """A choice of two words. Space and the arrows toggle it."""

    HELP = """\
Two choices: **{form.turn}**, **{form.turn:left}** and **{form.turn:right}** turn it, **{form.on}** goes on to the next
field.
"""
    DEFAULT_CSS = "WordSwitch { height: 1; width: 1fr; }"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("space,left,right", "turn", "Turn", show=False, id="form.turn", group=FORM, tooltip="The other choice"),
        Binding("enter", "leave", "Next field", show=False, id="form.on", group=FORM, tooltip="The next field"),
        Binding("down", "app.focus_next", "Next field", show=False, id="form.switch_next", group=FORM,
                tooltip="The next field"),
        Binding("up", "app.focus_previous", "Field above", show=False, id="form.switch_above", group=FORM,
                tooltip="The field above"),
    ]  # fmt: skip
    value: reactive[str] = reactive("")

    @dataclass
    class Toggled(Message):
        """Message: the other word is chosen."""

        switch: WordSwitch

    @dataclass
    class Submitted(Message):
        """Message: Enter was pressed."""

        switch: WordSwitch

    def __init__(self, field: FormField) -> None:
        super().__init__()
        self.turns = field.switch
        self.set_reactive(WordSwitch.value, field.value)

    def render(self) -> Text:
        text = Text()
        for word in self.turns:
            stands = word == self.value
            text.append(f"{'●' if stands else '○'} {word}   ", style="bold" if stands else "dim")
        return text

    def action_turn(self) -> None:
        self.value = self.turns[1] if self.value == self.turns[0] else self.turns[0]
        self.post_message(self.Toggled(self))

    def action_leave(self) -> None:
        self.post_message(self.Submitted(self))

    def on_click(self) -> None:
        self.focus()
        self.action_turn()


class FormRow(Horizontal):
    """A label and its field."""

    DEFAULT_CSS = """
    FormRow { height: 1; }
    FormRow > .label { width: 10; }
    FormRow > Input { width: 1fr; }
    """

    def __init__(self, field: FormField) -> None:
        super().__init__()
        self.field = field
        self.kept = clean(field.value, lines=False)
        """The text that was reported last by `Typed`."""
        self.entry: FormLine | WordSwitch = WordSwitch(field) if field.switch else FormLine(field)

    def compose(self) -> ComposeResult:
        yield Static(self.field.label, classes="label", markup=False)
        yield self.entry


class ItemForm(VerticalScroll, can_focus=False):
    """The fields of the item that is being edited. Hidden while there is none."""

    DEFAULT_CSS = """
    ItemForm { height: auto; max-height: 50%; display: none; scrollbar-size-vertical: 1; }
    ItemForm.-open { display: block; }
    """

    @dataclass
    class Typed(Message):
        """Message: a field was left with a new text. `serial` identifies the opening of the form."""

        serial: int
        name: str
        text: str

    @dataclass
    class Closed(Message):
        """Message: the form was left. `entered` is True after Enter in its last field."""

        serial: int
        entered: bool

    def __init__(self, id: str) -> None:
        super().__init__(id=id, classes="pane")
        self.serial = 0
        """Number of openings. Messages of an earlier opening still belong to its item."""
        self.rows: list[FormRow] = []
        self.words = ""
        """The line about its keys, with named bindings."""

    @property
    def is_open(self) -> bool:
        return self.has_class("-open")

    async def open(self, title: str, fields: Sequence[FormField], *, at: str = "", words: str = "") -> int:
        """Show the fields of another item and focus the field `at`, or the first. Return the serial."""
        self.report_changes()
        self.serial += 1
        self.words = words
        write_title(self, title)
        await self.remove_children()
        self.rows = rows = [FormRow(field) for field in fields]
        await self.mount(*rows)
        self.add_class("-open")
        self.display = True
        entry = next((row.entry for row in rows if row.field.name == at), rows[0].entry)
        entry.focus()
        if isinstance(entry, FormLine):
            entry.cursor_position = len(entry.value)
        return self.serial

    def update_values(self, fields: Sequence[FormField]) -> None:
        """Update fields whose values another field's change has changed, but not the focused one."""
        values = {field.name: clean(field.value, lines=False) for field in fields}
        for row in self.rows:
            value = values.get(row.field.name, row.kept)
            if value != row.kept and row.entry.value == row.kept and not row.entry.has_focus:
                row.kept = value
                row.entry.value = value

    def report_changes(self) -> None:
        """Report every changed text that was not reported yet."""
        for row in self.rows:
            self._report_change(row)

    def close(self, *, entered: bool = False) -> None:
        """Report the changed texts and hide the form."""
        self.report_changes()
        if self.is_open:
            self.remove_class("-open")
            self.display = False
            self.post_message(self.Closed(self.serial, entered))

    def restore(self, name: str, text: str) -> None:
        """Restore a field's value, because its text does not fit."""
        for row in self.rows:
            if row.field.name == name:
                row.kept = row.entry.value = text

    @property
    def unreported(self) -> list[tuple[str, str]]:
        """Names and texts of fields with changes that were not reported yet."""
        return [(row.field.name, row.entry.value) for row in self.rows if row.entry.value != row.kept]

    def _report_change(self, row: FormRow) -> None:
        if row.entry.value != row.kept:
            row.kept = row.entry.value
            self.post_message(self.Typed(self.serial, row.field.name, row.kept))

    def _row_of(self, entry: Widget) -> FormRow | None:
        return next((row for row in self.rows if row.entry is entry), None)

    @on(Input.Blurred)
    def _report_left(self, message: Input.Blurred) -> None:
        message.stop()
        row = self._row_of(message.input)
        if row is not None:
            self._report_change(row)

    @on(Input.Changed)
    def _stop_changed(self, message: Input.Changed) -> None:
        message.stop()

    @on(WordSwitch.Toggled)
    def _report_turned(self, message: WordSwitch.Toggled) -> None:
        message.stop()
        row = self._row_of(message.switch)
        if row is not None:
            self._report_change(row)

    @on(Input.Submitted)
    def _submit_line(self, message: Input.Submitted) -> None:
        message.stop()
        self._focus_next(message.input)

    @on(WordSwitch.Submitted)
    def _submit_switch(self, message: WordSwitch.Submitted) -> None:
        message.stop()
        self._focus_next(message.switch)

    def _focus_next(self, entry: Widget) -> None:
        rows = self.rows
        index = next((i for i, row in enumerate(rows) if row.entry is entry), len(rows) - 1)
        self._report_change(rows[index])
        if index + 1 < len(rows):
            rows[index + 1].entry.focus()
        else:
            self.close(entered=True)
