"""A stored run is gone on from in another way, and the runs that came of it are found again as a tree."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from textual.widgets import Input

from lab.core.run.step import Action
from lab.core.settings import Settings
from lab.runs.fork.fork import ForkChange, fork_run
from lab.runs.session import Session
from lab.runs.spec import Spec
from screens.app import LabApp
from screens.home.home import HomeScreen
from screens.home.lists import RunList
from screens.live.live import LiveScreen
from screens.mirror.canvas import Canvas
from screens.navigation import Opening
from screens.replay.family import FamilyScreen, FamilyTree
from screens.replay.forking import ForkPanel, ForkRow
from screens.replay.phone_pane import StillPhone
from screens.replay.replay import ReplayScreen
from screens.replay.timeline import Timeline
from screens.widgets.tap_choices import NearList
from simulators import library
from store.store import Store
from tests.crossed import IN_SOAK, crossed, soak
from tests.screens.resting import burst
from tests.screens.runs import painted

SIZES = [(80, 24), (120, 40)] if IN_SOAK else [(80, 24)]
"""The other tests go through the same at 120x40."""


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """A file with one run that asks at its first step, made once."""
    path = tmp_path_factory.mktemp("runs") / "lab.db"
    with Store.open(path) as store:
        spec = Spec(library.task("morning_coffee"), library.persona("ines", "noise"), user="script")
        session = Session(store, spec)
        session.start()
        assert session.join(180)
        return path, session.trace_id


@pytest.fixture
def coffee(kept: tuple[Path, str], tmp_path: Path) -> Any:
    """A copy of that file of this test's own, and the run in it."""
    path, run = kept
    with Store.open(path) as store:
        store.pack(tmp_path / "copy.db")
    with Store.open(tmp_path / "copy.db") as store:
        yield store, run


def replaying(store: Store, run: str, step: int, seat: Any = "developer") -> Any:
    return LabApp(store, Settings(seat=seat, bell=False), Opening("replay", run, step))


async def looked_at(app: Any, pilot: Any, until: Any, step: int) -> None:
    await until(pilot, lambda: isinstance(app.screen, ReplayScreen))
    await until(pilot, lambda: app.screen.footage.view is not None and app.screen.footage.view.number == step - 1)


@crossed
@pytest.mark.parametrize("size", SIZES)
async def test_a_proposal_is_refused_in_the_fork_and_live_goes_on_with_it(coffee: Any, until: Any, size: Any) -> None:
    store, run = coffee
    app = replaying(store, run, 1)
    async with app.run_test(size=size) as pilot:
        await looked_at(app, pilot, until, 1)
        await pilot.press("f")
        row = app.screen.query_one(ForkRow)
        await until(pilot, lambda: row.has_focus and row.ready)
        await pilot.press("r")
        await until(pilot, lambda: "answers: morning_coffee as before" in painted(app))
        await burst(pilot, *"Not now")
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(app.screen, LiveScreen) and app.session.over)
        child = store.runs.trace(app.session.trace_id)
        assert (child.parent, child.forked.index, child.forked.changes) == (run, 0, (("reply", "reject: Not now"),))
        assert child.ended.score == 1.0
        assert child.steps[0].reply.decision == "reject"


async def test_a_question_that_a_script_answered_is_put_to_the_person(coffee: Any, until: Any) -> None:
    store, run = coffee
    app = replaying(store, run, 1)
    async with app.run_test(size=(120, 40)) as pilot:
        await looked_at(app, pilot, until, 1)
        await pilot.press("f")
        await until(pilot, lambda: app.screen.query_one(ForkRow).ready and "answers: you" in painted(app))
        await pilot.press("q", "enter")
        await until(pilot, lambda: app.session is not None and app.session.questions.waiting is not None)
        child = store.runs.trace(app.session.trace_id)
        assert (child.user.kind, child.asked is not None, child.answered) == ("human", True, None)
        app.session.stop()


async def live_until_over(app: Any, pilot: Any, until: Any, session: Session) -> None:
    """Shows a run that asks nobody, and waits until it is told that it is over."""
    app.enter_live(session)
    await until(pilot, lambda: isinstance(app.screen, LiveScreen) and painted(app).count("The run is over") == 1)


@soak
async def test_a_run_that_was_seen_live_is_forked_from_its_replay(coffee: Any, until: Any) -> None:
    """The room of the first run is taken down while the fork's is shown."""
    store, _ = coffee
    app: Any = LabApp(store, Settings(bell=False, pace=0.0))
    async with app.run_test(size=(120, 40)) as pilot:
        first = Session(store, Spec(library.task("low_battery"), library.persona("ines", "noise"), user="script"))
        await live_until_over(app, pilot, until, first)
        await pilot.press("enter")
        await looked_at(app, pilot, until, 1)
        await pilot.press("f")
        await until(pilot, lambda: app.screen.query_one(ForkRow).ready)
        await pilot.press("a", "enter")
        await until(pilot, lambda: isinstance(app.screen, LiveScreen) and app.session is not first)
        fork = app.session
        await until(pilot, lambda: fork.over and "The run is over" in painted(app))
        assert store.runs.trace(fork.trace_id).parent == first.trace_id
        app.open_session(lambda: Session(store, first.spec))  # and once more, as Home begins one
        await until(pilot, lambda: app.session is not fork and app.session.over and "The run is over" in painted(app))
    assert {summary.status for summary in store.runs.summaries()} == {"completed"}


async def test_an_action_is_tapped_on_the_stored_phone(coffee: Any, until: Any) -> None:
    store, run = coffee
    app = replaying(store, run, 3)
    async with app.run_test(size=(120, 40)) as pilot:
        await looked_at(app, pilot, until, 3)
        mirror = app.screen.query_one(StillPhone).mirror
        await until(pilot, lambda: mirror.fit is not None and mirror.settled)
        canvas = mirror.query_one(Canvas)
        spot = (mirror.fit.left + 5, mirror.fit.top + 12)
        await pilot.click(canvas, offset=spot)
        assert not app.screen.query_one(ForkPanel).is_open
        await pilot.press("f")
        await until(pilot, lambda: mirror.interactive and mirror.settled)
        near, written = app.screen.query_one(NearList), app.screen.query_one("#fork-action", Input)
        await pilot.click(canvas, offset=spot)
        await until(pilot, lambda: near.has_focus and written.value != "")
        await pilot.press("2")
        at = near.rows[1].node.bounds.center
        await until(pilot, lambda: written.value == f'{{"kind":"click","at":[{at[0]},{at[1]}]}}')
        await pilot.press("enter")
        await until(pilot, lambda: app.session is not None)
        child = app.session.trace_id
        await until(pilot, lambda: len(store.runs.trace(child).steps) >= 3)
        step = store.runs.trace(child).steps[2]
        assert (step.decision.verdict, step.action) == ("amend", Action("click", at=at))
        app.session.stop()


async def test_a_fork_shows_the_screen_of_its_step_finds_places_on_it_and_loses_nothing_of_what_cannot_be_made(
    coffee: Any, until: Any
) -> None:
    store, run = coffee
    app = replaying(store, run, 3)
    async with app.run_test(size=(120, 40)) as pilot:
        await looked_at(app, pilot, until, 3)
        still = app.screen.query_one(StillPhone)
        await pilot.press("b")
        await until(pilot, lambda: still.moment == "After")
        await pilot.press("f")
        await until(pilot, lambda: still.moment == "Before" and "(screen before it)" in painted(app))
        written = app.screen.query_one("#fork-action", Input)
        await until(pilot, lambda: written.has_focus)
        await pilot.press("slash")
        await until(pilot, lambda: app.screen.query_one("#node-filter").has_focus and "1› " in painted(app))
        await pilot.press("escape")
        await until(pilot, lambda: written.has_focus and written.value == "")
        await pilot.press("slash", "1")
        near = app.screen.query_one(NearList)
        await until(pilot, lambda: near.has_focus and written.value != "")
        assert f'"at":[{near.chosen_point[0]},{near.chosen_point[1]}]' in written.value
        await _what_cannot_be_read_or_made_is_said(app, pilot, until)
    assert len(store.runs.summaries()) == 1


async def _what_cannot_be_read_or_made_is_said(app: Any, pilot: Any, until: Any) -> None:
    panel, written = app.screen.query_one(ForkPanel), app.screen.query_one("#fork-action", Input)
    written.focus()
    written.value = ""
    await until(pilot, lambda: written.has_focus)
    await burst(pilot, *'{"kind":"tap"}', "enter")
    await until(pilot, lambda: "field kind" in str(app.screen.query_one("#fork-hint").render()))
    assert panel.is_open
    await pilot.press("escape")
    await until(pilot, lambda: not panel.is_open and app.screen.query_one(Timeline).has_focus)
    await pilot.press("f")
    await until(pilot, lambda: written.has_focus and written.value == "")
    app.screen.query_one("#fork-agent", Input).value = "magic"
    await pilot.press("enter")
    await until(pilot, lambda: "'magic' is none of" in str(app.screen.query_one("#fork-hint").render()))
    assert panel.is_open
    assert app.screen.query_one("#fork-agent", Input).value == "magic"


async def test_the_end_and_an_imported_run_are_not_forked(coffee: Any, full: Any, until: Any) -> None:
    store, run = coffee
    app = replaying(store, run, 99)
    async with app.run_test(size=(120, 40)) as pilot:
        await until(pilot, lambda: isinstance(app.screen, ReplayScreen) and app.screen.footage.view is not None)
        await pilot.press("f")
        await until(pilot, lambda: any("the run was over here" in n.message for n in app._notifications))
    app = replaying(full, full.runs.summaries()[-1].id, 1)
    async with app.run_test(size=(120, 40)) as pilot:
        await looked_at(app, pilot, until, 1)
        await pilot.press("f")
        await until(pilot, lambda: any("not made on the embedded phone" in n.message for n in app._notifications))


@crossed
@pytest.mark.parametrize("size", SIZES)
async def test_the_family_is_a_tree_and_enter_opens_a_run_at_its_fork(coffee: Any, until: Any, size: Any) -> None:
    store, run = coffee
    session = fork_run(store, run, 16, ForkChange(action=Action("status", status="complete")), person="P01")
    session.start()
    assert session.join(180)
    app = replaying(store, run, 1)
    async with app.run_test(size=size) as pilot:
        await looked_at(app, pilot, until, 1)
        await pilot.press("t")
        await until(pilot, lambda: isinstance(app.screen, FamilyScreen) and app.screen.query_one(FamilyTree).count == 2)
        lines = [strip.text for strip in app.screen._compositor.render_strips()]
        assert any(f"└─ {session.trace_id[:13]}" in line and "@17" in line for line in lines)
        await pilot.press("down", "enter")
        await looked_at(app, pilot, until, 17)
        assert app.screen.footage.run == session.trace_id
        await pilot.press("t")
        await until(
            pilot, lambda: isinstance(app.screen, FamilyScreen) and app.screen.query_one(FamilyTree).cursor == 1
        )
        await pilot.press("escape", "f2")
        await until(pilot, lambda: isinstance(app.screen, HomeScreen) and app.screen.query_one(RunList).count == 2)
        await pilot.press("t")
        await until(pilot, lambda: isinstance(app.screen, FamilyScreen))


@pytest.mark.parametrize("seat", ["rater", "designer"])
async def test_other_seats_fork_nothing_and_see_no_family(coffee: Any, until: Any, seat: str) -> None:
    store, run = coffee
    app = replaying(store, run, 1, seat)
    async with app.run_test(size=(120, 40)) as pilot:
        await looked_at(app, pilot, until, 1)
        await pilot.press("f", "t")
        assert isinstance(app.screen, ReplayScreen)
        assert not app.screen.query_one(ForkPanel).is_open
        commands = {command.title for command in app.get_system_commands(app.screen)}
        assert not commands & {"Fork", "Family"}
