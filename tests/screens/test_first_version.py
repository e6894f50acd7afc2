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


async def test_home_lists_its_runs_and_studies(first: Store, until: Until) -> None:
    app = app_of(first, Opening("home"))
    async with app.run_test(size=SIZE) as pilot:
        await until(
            pilot,
            lambda: all(
                words in painted(app)
                for words in (
                    "Runs  36",
                    "Studies  7",
                    "guess         这个人接下来要做什么",
                    "resume ?",
                    "Home the usual way",
                )
            ),
        )


async def test_a_run_replays_with_what_the_gate_decided(first: Store, until: Until) -> None:
    app = app_of(first, Opening("replay", GATED, 2))
    async with app.run_test(size=SIZE) as pilot:
        await until(pilot, lambda: isinstance(app.screen, ReplayScreen) and "Not yet: look first." in painted(app))
        await pilot.press("right")
        await until(pilot, lambda: "Straight there." in painted(app))
        await pilot.press("N")
        await until(pilot, lambda: "How do you want to go to home" in painted(app))
        assert "By bike today" in painted(app)


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


ROOMS: list[tuple[Any, str, Any, tuple[str, ...]]] = [
    ("agreement", "D9", "developer", ("Which items were reached", "70.8–91.9", "Cohen's kappa", "0.42–0.84")),
    ("raters", "D9", "developer", ("R1", "R2", "judge-1")),
    ("progress", "D9", "developer", ("R1", "R2", "judge-1")),
    ("adjudicate", "E2", "designer", ("Put it into the cart", "completed")),
]
"""A room, who enters it, and what stands there."""


@pytest.mark.parametrize("rooms", [ROOMS[:3], ROOMS[3:]], ids=["developer", "designer"])
async def test_a_study_stands_in_its_rooms(first: Store, until: Until, rooms: list[Any]) -> None:
    study = first.studies.study("e3")
    (room, person, seat, words), *others = rooms
    app = app_of(first, Opening(room, study=study), person, seat)
    async with app.run_test(size=SIZE) as pilot:
        await until(pilot, lambda: all(word in painted(app) for word in words))
        for room, _, _, words in others:
            await app.enter(Opening(room, study=study))
            await until(pilot, lambda: app.current_mode == room and all(word in painted(app) for word in words))  # noqa: B023


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


async def test_other_rooms_show_what_is_there(first: Store, until: Until) -> None:
    rooms = [
        (Opening("review", DEMONSTRATION), ("See what the phone can be set to", "Open Settings")),
        (
            Opening("privacy", DEMONSTRATION),
            ("recorded by A1", "See what the phone can be set to", "Tuesday, 10 March"),
        ),
        (
            Opening("runs"),
            ("Runs  36", "Home the usual way", "Friday, a little after ten", "Look at my mails from Mara █████"),
        ),
    ]
    app = app_of(first, rooms[0][0], "B3")
    async with app.run_test(size=SIZE) as pilot:
        for opening, words in rooms:
            if opening.screen != app.current_mode:
                await app.enter(opening)
            await until(pilot, lambda: all(word in painted(app) for word in words))  # noqa: B023


async def test_a_design_stands_beside_its_run(first: Store, until: Until) -> None:
    app = app_of(first, Opening("author", BIKE, task=first.runs.task(BIKE)), "D1", "designer")
    async with app.run_test(size=SIZE) as pilot:
        await until(pilot, lambda: "Learn how she goes today" in painted(app))
