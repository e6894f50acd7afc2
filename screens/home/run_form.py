"""A small form before a task is started: who acts, who is its user, and how; Enter starts as it was chosen last."""

from __future__ import annotations

from typing import ClassVar

from textual import events, on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Static

from lab.core.errors import LabError
from lab.core.last_choices import RunChoices
from lab.core.plain_text import plain
from lab.core.settings import Settings
from lab.core.task import Task
from lab.core.typed_text import clean
from lab.runs.descriptions import one_line
from lab.runs.run_choices import Choice, ChoiceField, Name, choices_of, chosen_in, fields_of, needs_of, value_of
from screens.key_names import with_keys
from screens.theme import ACCENT, MUTED, WARNING
from screens.widgets.border_words import write_title
from screens.widgets.footer import Footer
from screens.widgets.lines import LineList

_LABEL = 9
"""Columns of a field's label."""
_KEYS = "{list.up} {list.down}: field   {start.before} {start.next}: choice   {list.open}: start"


class ChoiceList(LineList):
    """The fields, a line each, with what is chosen in it; a name is typed where the choice asks for one."""

    HELP = """\
# Starting a task

**Arrows** up and down move from field to field; **{start.next}** and **{start.before}** choose in it. Where a
choice ends with a name, type it. **{list.open}** starts the run; the next task begins with the same choices.
"""

    def __init__(self, fields: list[ChoiceField], values: dict[Name, str], settings: Settings) -> None:
        super().__init__(id="run-fields")
        self.fields = fields
        self._settings = settings
        self._at: dict[Name, int] = {}
        self._typed: dict[tuple[Name, int], str] = {}
        for field in fields:
            at, text = chosen_in(field, values[field.name])
            self._at[field.name] = at
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
        """What is chosen in a field."""
        return field.choices[self._at[field.name]]

    def typed(self, field: ChoiceField) -> str:
        """What was typed behind the choice of a field."""
        return self._typed.get((field.name, self._at[field.name]), "")

    @property
    def values(self) -> dict[Name, str]:
        """What is chosen in each field, with what was typed."""
        return {field.name: self.choice(field).value + self.typed(field).strip() for field in self.fields}

    def needs(self, field: ChoiceField) -> str:
        """What the choice of a field needs and is not there, as a sentence goes on: `needs a playbook ...`."""
        needs = self.choice(field).needs
        return f"needs {needs}" if needs else needs_of(self.values[field.name], self._settings)

    def paint(self, index: int, width: int) -> Content:
        field = self.fields[index]
        choice, text = self.choice(field), plain(self.typed(field), lines=False)
        places = f"{self._at[field.name] + 1}/{len(field.choices)}"
        words = [(f"{field.label:<{_LABEL}}", MUTED), (f"‹ {one_line(choice.says, 200)}", "")]
        if choice.typed:
            words.append((f": {text}▏" if text or index == self.cursor else f": {choice.typed}", ACCENT))
        words.append((" ›", MUTED))
        if needs := self.needs(field):
            words.append((f"  {needs}", WARNING))
        left = Content.assemble(*words).truncate(max(1, width - len(places) - 1), ellipsis=True, pad=True)
        return Content.assemble(left, " ", (places, MUTED))

    def turn(self, by: int) -> None:
        """Another choice in the field under the cursor."""
        field = self.field
        self._at[field.name] = (self._at[field.name] + by) % len(field.choices)
        self.changed()

    def _type(self, text: str) -> None:
        key = (self.field.name, self._at[self.field.name])
        self._typed[key] = (self._typed.get(key, "") + clean(text, lines=False))[:200]
        self.changed()

    def on_key(self, event: events.Key) -> None:
        """What is typed belongs to the choice that asks for a name; elsewhere letters are commands."""
        if not self.choice(self.field).typed:
            return
        if event.key == "backspace":
            key = (self.field.name, self._at[self.field.name])
            self._typed[key] = self._typed.get(key, "")[:-1]
            self.changed()
        elif event.is_printable and event.character:
            self._type(event.character)
        else:
            return
        event.stop()
        event.prevent_default()

    def on_paste(self, event: events.Paste) -> None:
        """A name that is pasted."""
        if self.choice(self.field).typed:
            event.stop()
            self._type(" ".join(event.text.split()))


class RunForm(ModalScreen[RunChoices | None]):
    """Gives how a task is to be started, or None where the form was left. `last` is what was chosen last."""

    BINDING_GROUP_TITLE = "Start"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("right,space", "turn(1)", "Other choice", id="start.next", tooltip="The next choice in this field"),
        Binding("left", "turn(-1)", "Choice before", show=False, id="start.before", tooltip="The choice before"),
        Binding("escape", "leave", "Leave", id="start.leave", tooltip="Start nothing"),
    ]

    def __init__(self, task: Task, last: RunChoices, settings: Settings) -> None:
        super().__init__()
        self._to_run = task
        fields = fields_of(task, settings)
        self.fields = ChoiceList(
            fields, {field.name: value_of(last, field.name, settings) for field in fields}, settings
        )

    def compose(self) -> ComposeResult:
        with Vertical(id="run-form", classes="pane"):
            yield Static(
                one_line(plain(self._to_run.instruction or self._to_run.shown), 300), id="run-asked", markup=False
            )
            yield self.fields
            yield Static("", id="run-says", markup=False)
        yield Footer()

    def on_mount(self) -> None:
        write_title(self.query_one("#run-form"), f"Start {self._to_run.id}")
        self.fields.styles.height = self.fields.count
        self.fields.focus()
        self._say()

    def _say(self, wrong: str = "") -> None:
        says = self.query_one("#run-says", Static)
        says.set_class(bool(wrong), "-wrong")
        needs = self.fields.needs(self.fields.field)
        says.update(plain(wrong) or plain(f"This {needs}.\n" * bool(needs)) + with_keys(self, _KEYS))

    def action_turn(self, by: int) -> None:
        """Another choice in the field under the cursor."""
        self.fields.turn(by)
        self._say()

    @on(LineList.Highlighted, "#run-fields")
    def _moved(self, message: LineList.Highlighted) -> None:
        message.stop()
        self._say()

    @on(LineList.Chosen, "#run-fields")
    def _begin(self, message: LineList.Chosen) -> None:
        """Starts with what is chosen; what cannot be is said, and nothing is started."""
        from lab.runs.run_choices import chosen_spec
        from lab.runs.session import check_spec
        from screens.lab import lab_of

        message.stop()
        app = lab_of(self)
        try:
            choices = choices_of(self.fields.values)
            check_spec(app.store, chosen_spec(self._to_run, choices, app.settings))
        except LabError as error:
            self._say(error.sentence)
        else:
            self.dismiss(choices)

    def action_leave(self) -> None:
        """Back to the list."""
        if self.query("HelpPanel"):
            self.app.action_hide_help_panel()
        else:
            self.dismiss(None)
