"""A participant's empty room: the way on before, between and after runs."""

from __future__ import annotations

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.screen import Screen
from textual.widgets import Static

from screens.key_names import with_keys
from screens.lab import lab_of
from screens.play.play import PlayScreen
from screens.stylesheet import ROOM_STYLES
from screens.widgets.footer import Footer

_NOTHING = "Nothing to do here now. {app.quit} quits."
OPEN_RUN = "Your run is open. {lobby.on:enter} goes back to it; {app.quit} quits."


class LobbyScreen(Screen[None]):
    """The participant's room before and after a run. It shows nothing of other runs."""

    CSS_PATH = ROOM_STYLES
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "on", "Go on", id="lobby.on", tooltip="Back to your run, or to where you are in the study"),
    ]

    def compose(self) -> ComposeResult:
        yield Static(with_keys(self, _NOTHING), id="lobby", markup=False)
        yield Footer()

    def on_screen_resume(self) -> None:
        """Show the person's position in the open study, if any."""
        nothing = with_keys(self, OPEN_RUN if self._run_is_live else _NOTHING)
        self.query_one("#lobby", Static).update(self._study_words() or nothing)
        self.refresh_bindings()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        return (
            bool(self._study_words()) or self._run_is_live
            if action == "on"
            else super().check_action(action, parameters)
        )

    def action_on(self) -> None:
        lab_of(self).action_show("live" if self._run_is_live else "play")

    @property
    def _run_is_live(self) -> bool:
        return lab_of(self).run_is_live

    def _study_words(self) -> str:
        room = lab_of(self).entered_screen("play")
        return with_keys(self, room.lobby_words) if isinstance(room, PlayScreen) else ""
