"""What a unit lays before the rater, beside the sheet: a run or two, step by step, or texts; blinded throughout."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from textual.containers import Vertical
from textual.message import Message

from lab.settings import Settings
from lab.study import Study, Unit

if TYPE_CHECKING:
    from store.store import Store


class Evidence(NamedTuple):
    """A place that an answer rests on (`ID@7`), with a region of its screen where one was drawn."""

    place: str
    region: tuple[int, int, int, int] | None = None
    label: str = ""


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

    def scroll(self, pages: int) -> None:
        """What is read (the words of a step, or what is unfolded above them) goes down so many pages, or up."""

    def turn_header(self) -> None:
        """Unfolds what is pinned above: instruction, context, persona, policy, rubric; or folds it to a line."""

    def edge(self, which: int) -> None:
        """The first step (0) or the end (-1)."""

    def question(self, by: int) -> bool:
        """The next or the previous step with a question; False where there is none."""
        return False

    def search(self, words: str, by: int = 1) -> int:
        """Goes to the next step that holds these words; how many do."""
        return 0

    def turn_overlay(self) -> None:
        """The screen's words as characters over the phone, or its pixels alone."""

    def cover(self, evidence: Sequence[Evidence]) -> None:
        """Marks what answers rest on: these steps in the list, their regions on the phone."""
