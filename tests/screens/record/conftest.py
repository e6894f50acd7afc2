"""A phone with a few things to touch, and the real app with one recording in it."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import msgspec
import pytest

from lab.core.errors import LabError
from lab.core.run.demonstration import demonstration_task
from lab.core.run.screen_clock import Clock
from lab.core.run.step import Action
from lab.core.run.trace import DeviceInfo, Step, Trace
from lab.core.run.ui_tree import Bounds, Node, UiTree
from lab.core.seams import Frame, Screen
from lab.core.settings import Settings
from lab.runs.session import Session
from lab.runs.spec import PERSON, Spec, resume_spec
from screens.app import LabApp
from screens.navigation import Opening
from screens.record.next_act import ActionDesk, InstructionLine
from screens.record.record import RecordedStepList, RecordScreen
from store.store import Store
from tests.screens.live.conftest import LeapingClock, StillClock

SIZE = 540, 1200
CHAT = Node(Bounds(0, 300, 540, 420), "Noor Haddad", cls="android.widget.TextView", clickable=True)
CHATS = Node(
    Bounds(0, 200, 540, 900), id="a:id/chats", cls="a.RecyclerView", scrollable=True, children=(CHAT,)
)  # fmt: skip
AMOUNT = Node(Bounds(0, 920, 400, 1000), desc="Amount", cls="android.widget.EditText", focused=True)
SEND = Node(Bounds(400, 920, 540, 1000), desc="Send", cls="android.widget.ImageButton", clickable=True)


class Board:
    """A phone of one grey screen with a list, a field and a button; `secret` makes the field a password's."""

    def __init__(self, *, secret: bool = False) -> None:
        self.info = DeviceInfo("embedded", "board", "Board", SIZE)
        self.did: list[Action] = []
        self.fails = ""
        field = msgspec.structs.replace(AMOUNT, password=secret, desc="PIN" if secret else AMOUNT.desc)
        self._tree = UiTree((Node(Bounds(0, 0, *SIZE), children=(CHATS, field, SEND)),))

    def observe(self) -> Screen:
        return Screen(b"", SIZE, self._tree, "com.lab.chat/.List")

    def perform(self, action: Action) -> None:
        if self.fails:
            raise LabError("open app", self.fails)
        self.did.append(action)

    def frames(self, stop: threading.Event) -> Iterator[Frame]:
        yield Frame(bytes([225]) * (SIZE[0] * SIZE[1] * 3), SIZE, self._tree, time.monotonic(), 0)
        stop.wait()

    def snapshot(self) -> None:
        return None

    def restore(self, state: dict[str, Any]) -> None:
        raise AssertionError

    def close(self) -> None:
        return None


class Stage(LabApp):
    """The real app, with one recording in it."""

    def __init__(self, session: Session, clock: Clock, *, window: bool = False) -> None:
        super().__init__(session.store, Settings(seat=session.spec.seat, window=window), Opening("live"))
        self.session = self.run_under_test = session
        self.record = RecordScreen(session, clock=clock)

    async def on_mount(self) -> None:
        if self.settings.window:
            self._open_window()
        await self.switch_mode("live")
        self.push_screen(self.record)

    @property
    def desk(self) -> ActionDesk:
        return self.record.query_one(ActionDesk)

    @property
    def line(self) -> str:
        """The instruction as it is written now."""
        return self.record.query_one(InstructionLine).value

    @property
    def listed(self) -> RecordedStepList:
        return self.record.query_one(RecordedStepList)

    def shows(self, text: str) -> bool:
        """Whether this stands on the screen now, in one line."""
        return any(text in strip.text for strip in self.screen._compositor.render_strips())

    @property
    def steps(self) -> tuple[Step, ...]:
        """The steps that the file holds; none before the recording has begun."""
        run = self.run_under_test.trace_id
        return self.store.runs.trace(run).steps if self.store.runs.has_run(run) else ()

    @property
    def instructions(self) -> list[str]:
        return [step.proposed.instruction for step in self.steps]


Recording = Callable[..., Stage]


@pytest.fixture
def board() -> Board:
    return Board()


@pytest.fixture
def recording(store: Store, board: Board) -> Recording:
    """An app with a recording: `recording(quick=..., seat=..., device=..., still=..., resume=...)`."""

    def made(
        *,
        device: Any = board,
        still: bool = False,
        window: bool = False,
        resume: Trace | None = None,
        intent: str = "Tell Noor",
        **spec: Any,
    ) -> Stage:
        made = resume_spec(resume) if resume else Spec(demonstration_task(None, intent, "residence"), agent=PERSON)
        session = Session(store, made._replace(**spec), resume, device=device)
        return Stage(session, StillClock() if still else LeapingClock(), window=window)

    return made
