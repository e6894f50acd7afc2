"""The rooms over a file of version 0.1.0: what it holds is painted, and work that was left there goes on by keys."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from lab.core.settings import Settings
from screens.app import LabApp
from screens.navigation import Opening
from screens.replay.replay import ReplayScreen
from store.store import Store
from tests.screens.resting import burst
from tests.screens.runs import painted
from tests.store.first_version import BIKE, DEMONSTRATION, GATED, OPEN, PLAYED, UNFINISHED, unpacked

Until = Callable[..., Awaitable[None]]
SIZE = (120, 40)


@pytest.fixture
def first(tmp_path: Path) -> Iterator[Store]:
    """A copy of the file."""
    with Store.open(unpacked(tmp_path / "first.db")) as opened:
        yield opened


def app_of(store: Store, opening: Opening, person: str = "D9", seat: Any = "developer") -> LabApp:
    return LabApp(store, Settings(person=person, seat=seat, pace=0.0, bell=False, overlay=False), opening)


ROOMS: list[tuple[Opening, tuple[str, ...]]] = [
    (
        Opening("home"),
        ("Runs  36", "Studies  7", "guess         这个人接下来要做什么", "resume ?", "Home the usual way"),
    ),
    (Opening("replay", GATED, 2), ("Not yet: look first.",)),
    (Opening("agreement"), ("Which items were reached", "70.8–91.9", "Cohen's kappa", "0.42–0.84")),
    (Opening("raters"), ("R1", "R2", "judge-1")),
    (Opening("progress"), ("R1", "R2", "judge-1")),
    (Opening("review", DEMONSTRATION), ("See what the phone can be set to", "Open Settings")),
    (Opening("privacy", DEMONSTRATION), ("recorded by A1", "See what the phone can be set to", "Tuesday, 10 March")),
    (
        Opening("runs"),
        ("Runs  36", "Home the usual way", "Friday, a little after ten", "Look at my mails from Mara █████"),
    ),
]
"""The rooms that a developer goes through one after the other, and what stands there."""
DESIGNERS: list[tuple[Opening, tuple[str, ...]]] = [
    (Opening("adjudicate"), ("Put it into the cart", "completed")),
    (Opening("author", BIKE), ("Learn how she goes today",)),
]


@pytest.mark.parametrize(
    ("rooms", "person", "seat"), [(ROOMS, "D9", "developer"), (DESIGNERS, "E2", "designer")], ids=["all", "designers"]
)
async def test_what_it_holds_stands_in_its_rooms(
    first: Store, until: Until, rooms: list[tuple[Opening, tuple[str, ...]]], person: str, seat: str
) -> None:
    study, task = first.studies.study("e3"), first.runs.task(BIKE)
    app = app_of(first, rooms[0][0]._replace(study=study), person, seat)
    async with app.run_test(size=SIZE) as pilot:
        for opening, words in rooms:
            if opening is not rooms[0][0]:
                await app.enter(opening._replace(study=study, task=task if opening.screen == "author" else None))
            await until(
                pilot,
                lambda room=opening.screen, words=words: (
                    app.current_mode == room and all(word in painted(app) for word in words)
                ),
            )
            if opening.screen == "replay":
                await _it_replays_with_what_the_gate_decided(pilot, until)


async def _it_replays_with_what_the_gate_decided(pilot: Any, until: Until) -> None:
    assert isinstance(pilot.app.screen, ReplayScreen)
    await pilot.press("right")
    await until(pilot, lambda: "Straight there." in painted(pilot.app))
    await pilot.press("N")
    await until(pilot, lambda: "How do you want to go to home" in painted(pilot.app))
    assert "By bike today" in painted(pilot.app)


async def test_an_answer_left_half_written_is_sent_and_the_run_goes_on(first: Store, until: Until) -> None:
    app = app_of(first, Opening("home"), "P07")
    async with app.run_test(size=SIZE) as pilot:
        await until(pilot, lambda: "way_home" in painted(app))
        app.open_resume(OPEN)
        await until(pilot, lambda: "Mild, because of my thr" in painted(app))
        await burst(pilot, "end", *"oat", "enter")
        await until(pilot, lambda: first.runs.trace(OPEN).ended is not None)
    trace = first.runs.trace(OPEN)
    reply = next(step.reply for step in trace.steps if step.reply)
    assert (reply.text, reply.by.id) == ("Mild, because of my throat", "P07")
    assert trace.ended is not None
    assert (trace.ended.status, trace.ended.score) == ("completed", 1.0)


async def test_a_demonstration_goes_on(first: Store, until: Until) -> None:
    app = app_of(first, Opening("home"), "A1")
    async with app.run_test(size=SIZE) as pilot:
        await until(pilot, lambda: "way_home" in painted(app))
        app.open_resume(UNFINISHED)
        await until(pilot, lambda: "Open Clock" in painted(app) and "Set an alarm for six" in painted(app))


async def test_a_rater_answers_what_is_left(first: Store, until: Until) -> None:
    study = first.studies.study("far")
    app = app_of(first, Opening("annotate", study=study), "R2", "rater")
    async with app.run_test(size=SIZE) as pilot:
        await until(pilot, lambda: "How much of the task" in painted(app))
        await pilot.press("4", "0", "enter")
        await until(pilot, lambda: any(label.value == 40 for label in first.labels.read(study, rater="R2")))


async def test_a_participant_goes_on_at_the_question(first: Store, until: Until) -> None:
    study = first.studies.study("played")
    app = app_of(first, Opening("play", study=study), "P1", "participant")
    async with app.run_test(size=SIZE) as pilot:
        await until(pilot, lambda: "You go home by bus or by bike" in painted(app) and "Wait, I" in painted(app))
        await burst(pilot, "end", *" take the bike", "enter")
        await until(pilot, lambda: first.runs.trace(PLAYED).ended is not None)
    (step,) = (step for step in first.runs.trace(PLAYED).steps if step.reply)
    assert step.reply is not None
    assert (step.reply.text, step.reply.by.id) == ("Wait, I take the bike", "P1")
