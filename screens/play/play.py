"""Play: a participant's part in a study: consent, quiz, task after task, a short questionnaire."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.app import ComposeResult
from textual.screen import Screen
from textual.widgets import Footer

from lab.settings import Settings
from lab.study import Study

if TYPE_CHECKING:
    from store.store import Store


class PlayScreen(Screen[None]):
    """The room of a participant."""

    def __init__(self, store: Store, settings: Settings) -> None:
        super().__init__()
        self.store = store
        self.settings = settings
        self.study: Study | None = None

    def compose(self) -> ComposeResult:
        yield Footer(show_command_palette=False)

    def open(self, study: Study) -> None:
        """Shows a study where this person left it."""
        self.study = study
