"""The phone beside the words: the recorded run, whose steps stand in a list of their own."""

from __future__ import annotations

from typing import TYPE_CHECKING

from screens.author.footage import Footage
from screens.replay.still import Still

if TYPE_CHECKING:
    from store.store import Store

_BESIDE = {"-narrow": 50, "-normal": 64, "-wide": 96}
"""Columns that the words need beside the phone, by the width of the terminal."""


class Stage(Still):
    """The phone, as wide as the words beside it allow."""

    def take_room(self) -> None:
        self.beside = next((least for name, least in _BESIDE.items() if self.screen.has_class(name)), self.beside)
        super().take_room()


class Reels(Footage):
    """One run, looked at step by step as another list says."""

    DEFAULT_CSS = """
    Reels > Steps { display: none; }
    Reels > Stage { height: 1fr; }
    """

    def __init__(self, store: Store, *, overlay: bool) -> None:
        super().__init__(store, overlay=overlay)
        self.stage: Still = Stage(id="phone", overlay=overlay)  # type: ignore[assignment]
        self.stage.mirror.interactive = True

    def show_step(self, step: int) -> None:
        """Shows the screen before a step, counted from 0; one more than the last is where the run ended."""
        if step != self.timeline.cursor:
            self.timeline.go(step)
