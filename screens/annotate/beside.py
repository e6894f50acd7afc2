"""What a unit lays before the rater, beside the sheet: a run or two, step by step, or texts; blinded throughout."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from textual.containers import Vertical
from textual.message import Message

from lab.settings import Settings
from lab.study import Study, Unit

if TYPE_CHECKING:
    from store.store import Store


class Beside(Vertical):
    """The evidence pane. It never takes focus from the sheet: its verbs are called by the sheet's keys."""

    @dataclass
    class Looked(Message):
        """Another step is shown; `place` is it as evidence names it (`ID@7`), empty where there is none."""

        place: str

    @dataclass
    class Closely(Message):
        """A picture was opened in full at a place."""

        place: str

    @dataclass
    class Boxed(Message):
        """The rater drew a region (left, top, right, bottom in pixels) at a place."""

        place: str
        region: tuple[int, int, int, int]

    def __init__(self, store: Store, settings: Settings) -> None:
        super().__init__(id="beside")
        self.store = store
        self.settings = settings

    def open(self, study: Study, unit: Unit, *, swap: bool = False) -> None:
        """Lays a unit out from its beginning; with `swap` side B stands where A does."""

    @property
    def place(self) -> str:
        """What is shown, as evidence names it."""
        return ""

    @property
    def step(self) -> int | None:
        """The step that is shown, from 0."""
        return None

    def move(self, by: int) -> None:
        """Steps on or back."""

    def go_to(self, place: str) -> bool:
        """Goes to a place named as evidence names it; False where it is not in this unit."""
        return False

    def turn_side(self) -> None:
        """Of two runs the other one takes the steps' keys."""

    def turn_view(self) -> None:
        """Words instead of the phone, or back."""

    def turn_after(self) -> None:
        """The screen after the step, or before it."""

    def look_closely(self) -> None:
        """Opens the picture in full, or closes it."""

    def draw_region(self) -> None:
        """The next drag on the phone is a region."""
