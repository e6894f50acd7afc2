"""Small screens around the others: a terminal too small, leaving a live run, a question first."""

from __future__ import annotations

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen, Screen
from textual.widgets import Static

from lab.core.screen_clock import Clock
from screens.key_names import keys_of, with_keys
from screens.lab import lab_of
from screens.slip import Slip
from screens.widgets.border_words import write_title

LEAVING = (
    "A run is live. Quitting leaves it open: Home can resume it later where it stands.",
    "{quit.yes:enter}  leave it open and quit\n{quit.no:escape}    stay",
)
"""What is said where a live run is left, and what the keys do."""
LEAVING_HOMELESS = (
    "A run is live. Quitting leaves it open: it waits as it stands, and whoever runs the study can go on with it.",
    LEAVING[1],
)
"""The same, for a seat that has no Home."""
LEAST = (64, 18)
"""The least columns and rows in which the screens are laid out; less shows one sentence."""


class TooSmallScreen(Screen[None]):
    """Stands before the others while the terminal is too small, and goes when it grows."""

    def compose(self) -> ComposeResult:
        yield Static(id="too-small", markup=False)

    def on_screen_resume(self) -> None:
        """Whatever stood over it is gone: meanwhile the terminal may have grown."""
        self.call_later(lab_of(self).fit)

    def on_resize(self) -> None:
        width, height = self.app.size
        self.query_one("#too-small", Static).update(
            f"This terminal is {width}x{height}; hitlab needs {LEAST[0]}x{LEAST[1]} or more. "
            + with_keys(self, "Enlarge it, or {app.quit} quits.")
        )


class QuitScreen(ModalScreen[bool]):
    """Asks before a live run is left; `says` what becomes of it, and what the keys do."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter,y", "answer(True)", "Leave it open and quit", id="quit.yes", tooltip="The run can be resumed"),
        Binding("escape,n", "answer(False)", "Stay", id="quit.no", tooltip="Go back to the run"),
    ]

    def __init__(self, says: tuple[str, str] = LEAVING) -> None:
        super().__init__()
        self._says = says

    def compose(self) -> ComposeResult:
        with Vertical(id="quit"):
            yield Static(self._says[0], markup=False)
            yield Static(with_keys(self, self._says[1]), id="quit-keys", markup=False)

    def on_mount(self) -> None:
        self.query_one("#quit").border_title = "Quit?"

    def action_answer(self, sure: bool) -> None:
        self.dismiss(sure)


class AskScreen(ModalScreen[bool]):
    """Asks before something that cannot be undone: what will be, and what the two keys do."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter,y", "answer(True)", "Yes", id="ask.yes", tooltip="Do it, for good"),
        Binding("escape,n", "answer(False)", "No", id="ask.no", tooltip="Leave it as it is"),
    ]

    def __init__(self, title: str, says: str, verb: str) -> None:
        super().__init__()
        self._title, self._says, self._verb = title, says, verb
        self._slip = Slip(Clock())

    def compose(self) -> ComposeResult:
        yes, no = (keys_of(self, f"ask.{answer}")[0] for answer in ("yes", "no"))
        with Vertical(id="ask-first"):
            yield Static(self._says, markup=False)
            yield Static(f"{yes}  {self._verb.lower()}\n{no}  not yet", classes="keys", markup=False)

    def on_mount(self) -> None:
        write_title(self.query_one("#ask-first"), self._title)
        self._slip.begin()

    def action_answer(self, sure: bool) -> None:
        """The key that opened it, held or pressed twice, is no answer."""
        if not (sure and self._slip.lasts):
            self.dismiss(sure)
