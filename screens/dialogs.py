"""Small dialogs: the terminal is too small, a live run is left, an action needs a confirmation."""

from __future__ import annotations

from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen, Screen
from textual.widgets import Input, Static

from lab.core.errors import LabError
from lab.core.run.screen_clock import Clock
from lab.core.settings import UNNAMED, check_code, check_distinct
from lab.core.text.plain_text import plain
from screens.key_names import keys_of, with_keys
from screens.lab import lab_of
from screens.slip import KeyGuard
from screens.widgets.border_words import write_title
from screens.widgets.footer import Footer
from screens.widgets.text_fields import TextLine

LEAVING = (
    "A run is live. Quitting leaves it open: Home can resume it later where it stands.",
    "{quit.yes:enter}  leave it open and quit\n{quit.no:escape}    stay",
)
"""Question before a live run is left, and the line about its keys."""
LEAVING_HOMELESS = (
    "A run is live. Quitting leaves it open: it waits as it stands, and whoever runs the study can go on with it.",
    LEAVING[1],
)
"""The same for a seat without Home."""
LEAVING_CLIENTS = "{quit.yes:enter}  quit\n{quit.no:escape}    stay"
"""Keys of the question before an endpoint is left at which clients wait."""
LEAST = (64, 18)
"""Minimum columns and rows of the layout. A smaller terminal shows one sentence."""


class TooSmallScreen(Screen[None]):
    """Covers the other screens while the terminal is too small."""

    def compose(self) -> ComposeResult:
        yield Static(id="too-small", markup=False)

    def on_screen_resume(self) -> None:
        """Check the size again after a screen above closed, because the terminal may have grown meanwhile."""
        self.call_later(lab_of(self).check_terminal_size)

    def on_resize(self) -> None:
        width, height = self.app.size
        self.query_one("#too-small", Static).update(
            f"This terminal is {width}x{height}; hitlab needs {LEAST[0]}x{LEAST[1]} or more. "
            + with_keys(self, "Enlarge it, or {app.quit} quits.")
        )


class QuitScreen(ModalScreen[bool]):
    """Asks before a live run is left. `says` is the question and the line about its keys."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding(
            "enter,y", "answer(True)", "Leave it open and quit", id="quit.yes", tooltip="What is open can be resumed"
        ),
        Binding("escape,n", "answer(False)", "Stay", id="quit.no", tooltip="Go back"),
    ]

    def __init__(self, says: tuple[str, str] = LEAVING) -> None:
        super().__init__()
        self._question = says

    def compose(self) -> ComposeResult:
        with Vertical(id="quit"):
            yield Static(self._question[0], markup=False)
            yield Static(with_keys(self, self._question[1]), id="quit-keys", markup=False)

    def on_mount(self) -> None:
        self.query_one("#quit").border_title = "Quit?"

    def action_answer(self, sure: bool) -> None:
        self.dismiss(sure)


class AskScreen(ModalScreen[bool]):
    """Asks before an action that cannot be undone. Shows its effect and the two keys."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter,y", "answer(True)", "Yes", id="ask.yes", tooltip="Do it, for good"),
        Binding("escape,n", "answer(False)", "No", id="ask.no", tooltip="Leave it as it is"),
    ]

    def __init__(self, title: str, says: str, verb: str) -> None:
        super().__init__()
        self._title, self._question, self._verb = title, says, verb
        self._slip = KeyGuard(Clock())

    def compose(self) -> ComposeResult:
        yes, no = (keys_of(self, f"ask.{answer}")[0] for answer in ("yes", "no"))
        with Vertical(id="ask-first"):
            yield Static(self._question, markup=False)
            yield Static(f"{yes}  {self._verb.lower()}\n{no}  not yet", classes="keys", markup=False)

    def on_mount(self) -> None:
        write_title(self.query_one("#ask-first"), self._title)
        self._slip.begin()

    def action_answer(self, sure: bool) -> None:
        """Answer. Ignore a Yes from the key that opened the dialog, held or pressed twice."""
        if not (sure and self._slip.active):
            self.dismiss(sure)


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
