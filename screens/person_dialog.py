"""The dialog that asks an unnamed person for a study code before a room whose work is signed."""

from __future__ import annotations

from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import Screen
from textual.widgets import Input, Static

from lab.core.errors import LabError
from lab.core.settings import UNNAMED, check_code, check_distinct
from lab.core.text.plain_text import plain
from screens.lab import lab_of
from screens.widgets.footer import Footer
from screens.widgets.text_fields import TextLine

_WHY = (
    "What is drafted, proofread or settled is signed with a study code: a pseudonym, never a name. "
    "`--person CODE` or `person` in the settings spares the question."
)


class PersonScreen(Screen[str | None]):
    """A form of one line. Returns a study code, or None if the person left it."""

    HELP = """
    Type the study code by which your work is signed: letters, digits, - and _. **Enter** goes on, **{person.leave}**
    leaves.
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "leave", "Leave", id="person.leave", tooltip="Go back, and sign nothing"),
    ]

    def compose(self) -> ComposeResult:
        with Vertical(id="person", classes="pane"):
            yield Static(_WHY, markup=False)
            yield TextLine(id="person-code", placeholder="your study code, such as D1", max_length=32, compact=True)
            yield Static("", id="person-wrong", markup=False)
        yield Footer()

    def on_mount(self) -> None:
        self.query_one("#person").border_title = "Who are you?"
        self.query_one(Input).focus()

    @on(Input.Submitted)
    def _submit_code(self, message: Input.Submitted) -> None:
        code = message.value.strip()
        try:
            if code == UNNAMED:
                raise LabError("person", f"{UNNAMED!r} names nobody.")
            check_code(code, "person", "code")
            # A known code in other capitals would count as another person.
            check_distinct(code, lab_of(self).store.studies.people(), "person", "code")
        except LabError as error:
            self.query_one("#person-wrong", Static).update(plain(error.sentence))
        else:
            self.dismiss(code)

    def action_leave(self) -> None:
        if self.query("HelpPanel"):
            self.app.action_hide_help_panel()
        else:
            self.dismiss(None)
