"""A pane beside nothing: what a unit lays before a rater, with all that it says of itself."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from msgspec.structs import replace
from textual.app import App, ComposeResult
from textual.message import Message
from textual.widgets import Input

from lab.core.run.run_records import Imported
from lab.core.run.trace import Started
from lab.core.settings import Settings
from lab.core.study.protocol import Field, Option, Protocol, Show, UnitKind
from lab.core.study.study import Study, Unit
from lab.core.task.task import Actor, LogEntry, Persona
from screens.annotate.unit_pane import UnitPane
from screens.app import LabApp
from screens.mirror.terminal_graphics import CHARACTERS
from screens.picture_window import PictureWindow
from screens.stylesheet import ROOM_STYLES
from screens.widgets.room_screen import RoomScreen
from store.store import Store
from tests.screens.runs import whole_run

MINIMAL: tuple[Show, ...] = ("instruction", "screens", "actions", "dialogue")
ALL: tuple[Show, ...] = (
    "instruction", "context", "persona", "log", "policy", "screens", "actions", "thoughts", "dialogue", "outcome",
    "reason", "rubric", "golden", "method",
)  # fmt: skip
AGENT = "secret-agent-7b"
OTHER = "77777777-0000-7000-8000-000000000007"
FACT = "sings in the shower"


def study(unit: UnitKind = "run", shows: tuple[Show, ...] = MINIMAL, *, sided: bool = False) -> Study:
    field = Field("state", "Which?", "nominal", (Option("A"), Option("B")), sided=sided)
    return Study("s", 1, "S", Protocol("p", "P", unit, (field,), shows=shows), ("R1",), 1, "")


def lunch(trace: str, agent: str = AGENT) -> Imported:
    """The whole run, worked by a method that no rater may know, for a person of whom much is known."""
    made = whole_run(trace)
    started = made.events[0]
    assert isinstance(started, Started)
    log = (LogEntry("2025-03-03 12:10", "office", "ordered noodles", "secret-label", "secret-category"),)
    task = replace(started.task, time="2025-03-04T12:10:00+08:00", place="office", policy="Refuse what is dear.")
    persona = Persona("ines", "Ines", {"habits": {"morning": FACT}}, log, "noise")
    begun = replace(started, agent=Actor("model", agent), task=task, persona=persona)
    return Imported([begun, *made.events[1:]], made.images, made.verdicts)


class Host(App[None]):
    """The pane, and a field that has the focus as the sheet would."""

    CSS_PATH = [LabApp.CSS_PATH, *ROOM_STYLES]
    HORIZONTAL_BREAKPOINTS = LabApp.HORIZONTAL_BREAKPOINTS
    VERTICAL_BREAKPOINTS = LabApp.VERTICAL_BREAKPOINTS
    graphics = CHARACTERS

    def __init__(
        self, store: Store, study: Study, unit: Unit, *, swap: bool = False, window: PictureWindow | None = None
    ) -> None:
        super().__init__()
        self.beside = UnitPane(store, Settings())
        self.beside.open(study, unit, swap=swap)
        self.window = window
        self.said: list[Message] = []

    def lay(self, study: Study, unit: Unit, *, swap: bool = False) -> None:
        """Lays another unit out as a pane does in which nothing was opened before."""
        self.beside.study = None
        self.said.clear()
        self.beside.open(study, unit, swap=swap)

    def send(self, codes: str) -> None:
        """No terminal is here."""

    def get_default_screen(self) -> RoomScreen[None]:
        return RoomScreen(id="_default")

    def compose(self) -> ComposeResult:
        yield Input(id="sheet-line", compact=True)
        yield self.beside

    def on_mount(self) -> None:
        self.query_one(Input).focus()

    def on_beside_place_changed(self, message: UnitPane.PlaceChanged) -> None:
        self.said.append(message)

    def on_beside_close_up_shown(self, message: UnitPane.CloseUpShown) -> None:
        self.said.append(message)

    def on_beside_region_drawn(self, message: UnitPane.RegionDrawn) -> None:
        self.said.append(message)

    def of(self, kind: type[Any]) -> list[Any]:
        return [message for message in self.said if isinstance(message, kind)]


def laid(app: Host) -> Callable[[], bool]:
    """Whether every run of the unit is listed and the place shown is read."""

    def ready() -> bool:
        sides = app.beside._laid
        return all(side.view is not None and side.view.number == side.number for side in sides)

    return ready
