"""A cast for live runs: agents that say what a test wants, over a real phone, store, session and app."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from types import SimpleNamespace
from typing import Any

import pytest
from textual._compositor import ChopsUpdate
from textual.screen import Screen as TextualScreen

from lab.core.run.screen_clock import Clock
from lab.core.run.step import Action, Prompt, Proposed, Usage
from lab.core.run.trace import DeviceInfo, Step, Trace
from lab.core.run.ui_tree import Bounds, Node, UiTree
from lab.core.seams import Agent, Device, Frame, Screen, TaskBrief
from lab.core.settings import Settings
from lab.core.task.task import Actor, Check, LogEntry, Persona, Task
from lab.runs.session import Session
from lab.runs.spec import Spec
from screens.app import LabApp
from screens.live.gate import GatePanel, GateRow
from screens.live.live import LiveScreen
from screens.live.reply import DecisionRow, OpenQuestion
from screens.navigation import Opening
from store.store import Store

TAP = Action("click", at=(138, 1900))
DONE = Action("status", status="complete")
CHECKS = (Check("dark theme is on", "settings.dark_theme", equals=True),)


class Cast:
    """An agent that proposes these in turn, each with its thought; then it reports complete. `held` waits for `go`."""

    actor = Actor("script", "agent-under-test")

    def __init__(self, *turns: tuple[Action, str], held: bool = False) -> None:
        self._turns = [*turns, (DONE, "That was all.")]
        self.go = threading.Event()
        if not held:
            self.go.set()

    def propose(self, brief: TaskBrief, screen: Screen, history: Sequence[Step]) -> Proposed:
        assert self.go.wait(600)
        action, thought = self._turns[min(len(history), len(self._turns) - 1)]
        return Proposed(
            action, thought, Prompt(f"PROMPTWORD: you work a phone. {brief.instruction}"), usage=Usage(812, 40)
        )


class Sleeper:
    """An agent that never answers."""

    actor = Actor("script", "sleeper")

    def __init__(self) -> None:
        self.asleep = threading.Event()

    def propose(self, brief: TaskBrief, screen: Screen, history: Sequence[Step]) -> Proposed:
        self.asleep.set()
        threading.Event().wait(3600)
        raise AssertionError("woke up")


class StillClock(Clock):
    """No time passes."""

    def now(self) -> str:
        return "2026-03-10T00:50:00.000000+00:00"

    def seconds(self) -> float:
        return 0.0

    def shown(self, at: str) -> str:
        return "08:50:00"


class HandClock(Clock):
    """Time passes when a test says so."""

    at = 0.0

    def seconds(self) -> float:
        return self.at


class LeapingClock(Clock):
    """Each look at it is a second later: nobody's key is ever too early, and no test waits."""

    def __init__(self) -> None:
        self._at = 0.0

    def seconds(self) -> float:
        self._at += 1
        return self._at


PERSONA = Persona(
    "ines",
    "Ines Varga",
    {
        "identity": {"full_name": "Ines Varga", "age": 36, "occupation": "Materials scientist"},
        "preferences": {"diet": {"diet_type": "Eats everything but coriander; little sugar."}},
    },
    (LogEntry("2026-03-09 12:10", "work", "Ordered beef noodles, mild", "signal", "lunch_category"),),
    "clean",
)


def task(kind: str = "general") -> Task:
    """A task whose title, checks and id say what a participant must not know."""
    return Task(
        id="secret-dark",
        kind=kind,  # type: ignore[arg-type]
        title="TITLEWORD: turn the dark theme on",
        instruction="" if kind == "proactive" else "Get my phone ready for the night.",
        persona="ines",
        time="2026-03-10T22:40:00+08:00",
        place="home",
        policy="Say yes to what saves you effort. Refuse anything that costs money.",
        budget=12,
        checks=CHECKS,
    )


class Slate:
    """A phone of one grey screen with one button, for pictures that no font and no version of Pillow changes."""

    info = DeviceInfo("embedded", "slate", "Slate", (540, 1200))

    def __init__(self) -> None:
        self.did: list[Action] = []
        texts = ("Alarms", "06:30 evaporation", "07:45 usual")
        nodes = tuple(Node(Bounds(40, 60 + i * 200, 500, 120 + i * 200), text) for i, text in enumerate(texts))
        self._tree = UiTree((Node(Bounds(0, 0, 540, 1200), children=nodes),))

    def observe(self) -> Screen:
        return Screen(b"", (540, 1200), self._tree)

    def perform(self, action: Action) -> None:
        self.did.append(action)

    def frames(self, stop: threading.Event) -> Iterator[Frame]:
        yield Frame(bytes([225]) * (540 * 1200 * 3), (540, 1200), self._tree, time.monotonic(), 0)
        stop.wait()

    def snapshot(self) -> None:
        return None

    def restore(self, state: dict[str, Any]) -> None:
        raise AssertionError

    def close(self) -> None:
        return None


class Stage(LabApp):
    """The real app, with one live run in it."""

    def __init__(self, session: Session, clock: Clock, settings: Settings | None = None) -> None:
        super().__init__(session.store, settings or Settings(seat=session.spec.seat), Opening("live"))
        self.session = self.run_under_test = session
        self.live = LiveScreen(session, clock=clock)
        self.bells = 0
        self.painted: set[str] = set()
        """Every line of every frame so far, where `records` is set: it costs as much as the painting."""
        self.records = False

    async def on_mount(self) -> None:
        await self.switch_mode("live")
        self.push_screen(self.live)

    def bell(self) -> None:
        self.bells += 1
        super().bell()

    def _display(self, screen: TextualScreen[Any], renderable: Any) -> None:
        if self.records and renderable is not None and screen.is_attached:
            height = screen._compositor.size.height
            rows = {y for y, _, _ in renderable.spans} if isinstance(renderable, ChopsUpdate) else set(range(height))
            chops = screen._compositor._render_chops(screen._compositor.size.region, rows.__contains__)
            self.painted.update("".join(strip.text for strip in chops[y].values() if strip) for y in rows)
        super()._display(screen, renderable)

    def shows(self, text: str) -> bool:
        """Whether this stands on the screen now, in one line."""
        return any(text in strip.text for strip in self.screen._compositor.render_strips())

    @property
    def asked(self) -> bool:
        """Whether a question stands open and was seen."""
        return self.live.query_one(OpenQuestion).has_class("-open") and self.live.query_one(DecisionRow).ready

    @property
    def gated(self) -> bool:
        """Whether an action waits at the gate and was seen."""
        return self.live.query_one(GatePanel).has_class("-open") and self.live.query_one(GateRow).ready

    def events(self, kind: type[Any]) -> list[Any]:
        """What the file holds of this run, of one kind; nothing before the run has begun."""
        run = self.run_under_test.trace_id
        if not self.store.runs.has_run(run):
            return []
        return [event for event in self.store.runs.events(run) if isinstance(event, kind)]

    @property
    def steps(self) -> tuple[Step, ...]:
        """The steps that the file holds; none before the run has begun."""
        run = self.run_under_test.trace_id
        return self.store.runs.trace(run).steps if self.store.runs.has_run(run) else ()


@pytest.fixture
def cast() -> Any:
    """The agents, the phone and the clock of these tests, by name."""
    return SimpleNamespace(
        Cast=Cast, Sleeper=Sleeper, Slate=Slate, StillClock=StillClock, HandClock=HandClock, TAP=TAP, PERSONA=PERSONA
    )


@pytest.fixture
def live(store: Store) -> Callable[..., Stage]:
    """An app with a live run: `live((action, thought), ..., kind=..., agent=..., resume=..., **spec fields)`.

    The phone is a slate, unless `embedded` asks for the one whose state can be checked.
    """

    def made(
        *turns: tuple[Action, str],
        kind: str = "general",
        agent: Agent | None = None,
        device: Device | None = None,
        embedded: bool = False,
        clock: Clock | None = None,
        resume: Trace | None = None,
        settings: Settings | None = None,
        records: bool = False,
        **changes: Any,
    ) -> Stage:
        spec = Spec(task(kind), PERSONA)._replace(**changes)
        phone = device or (None if embedded else Slate())
        session = Session(store, spec, resume, agent=agent or Cast(*turns), device=phone)
        app = Stage(session, clock or LeapingClock(), settings)
        app.records = records
        return app

    return made
