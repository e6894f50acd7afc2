"""Small screens around the others: a terminal too small, leaving a live run, a participant's empty room."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, cast

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen, Screen
from textual.widgets import Static

from screens.footer import Footer

if TYPE_CHECKING:
    from screens.app import LabApp

_NOTHING = "Nothing to do here now. F3 goes back to your run, if one is under way; q quits."
LEAVING = (
    "A run is live. Quitting leaves it open: Home can resume it later where it stands.",
    "Enter  leave it open and quit\nEsc    stay",
)
"""What is said where a live run is left, and what the keys do."""
LEAST = (64, 18)
"""The least columns and rows in which the screens are laid out; less shows one sentence."""


class TooSmallScreen(Screen[None]):
    """Stands before the others while the terminal is too small, and goes when it grows."""

    def compose(self) -> ComposeResult:
        yield Static(id="too-small", markup=False)

    def on_resize(self) -> None:
        width, height = self.app.size
        self.query_one("#too-small", Static).update(
            f"This terminal is {width}x{height}; hitlab needs {LEAST[0]}x{LEAST[1]} or more. Enlarge it, or q quits."
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
            yield Static(self._says[1], id="quit-keys", markup=False)

    def on_mount(self) -> None:
        self.query_one("#quit").border_title = "Quit?"

    def action_answer(self, sure: bool) -> None:
        self.dismiss(sure)


class LobbyScreen(Screen[None]):
    """Where a participant waits before and after a run; nothing of other runs is here."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "on", "Go on", id="lobby.on", tooltip="Back to where you are in the study"),
    ]

    def compose(self) -> ComposeResult:
        yield Static(_NOTHING, id="lobby", markup=False)
        yield Footer()

    def on_screen_resume(self) -> None:
        """Says where this person is in the study that is open, if one is."""
        self.query_one("#lobby", Static).update(self._where() or _NOTHING)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        return bool(self._where()) if action == "on" else super().check_action(action, parameters)

    def action_on(self) -> None:
        cast("LabApp", self.app).action_show("play")

    def _where(self) -> str:
        from screens.play.play import PlayScreen

        rooms = cast("LabApp", self.app)
        room = rooms.get_screen_stack("play")[0] if rooms.has_entered("play") else None
        return room.lobby_words if isinstance(room, PlayScreen) else ""
