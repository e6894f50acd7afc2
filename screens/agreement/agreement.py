"""The room Agreement."""

from __future__ import annotations

from lab.settings import Settings
from lab.study import Study
from screens.frame import LobbyScreen
from store.store import Store


class AgreementScreen(LobbyScreen):
    """Stands here until it is built."""

    def __init__(self, store: Store, settings: Settings) -> None:
        super().__init__()
        self.store = store
        self.settings = settings

    def open(self, study: Study) -> None:
        """Shows a study."""
        self.study = study
