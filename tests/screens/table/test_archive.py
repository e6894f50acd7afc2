"""Archiving and tagging runs in their lists: what is selected, what is seen then, and how it is undone."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from threading import Event
from typing import Any

import pytest

from lab.core.run.run_records import Summary
from lab.core.settings import Settings
from lab.runs.listing.run_acts import TagChange, archive_runs, tag_runs
from screens.app import LabApp
from screens.background import Background
from screens.home import home
from screens.home.home import HomeScreen, RunPage
from screens.home.lists import RunList
from screens.home.studies import StudyTable
from screens.navigation import Opening
from screens.runs.runs import RunsScreen
from screens.runs.table import RunTableView
from store.store import Store
from tests.screens.resting import burst
from tests.screens.runs import painted
from tests.screens.table.sample_runs import RUNS, made
from tests.screens.table.test_order import named
from tests.studies import frozen, unit

Until = Callable[..., Awaitable[None]]


@pytest.fixture
def filled(store: Store) -> Store:
    store.runs.add_all([made(run) for run in RUNS])
    return store


def ids(app: LabApp) -> str:
    return " ".join(map(named, app.screen.query_one(RunTableView).arranged.lines))


def room(app: LabApp) -> RunsScreen:
    assert isinstance(app.screen, RunsScreen)
    return app.screen


def listed(store: Store) -> str:
    return " ".join(line.id for line in store.runs.summaries())


async def test_runs_are_selected_tagged_found_by_their_tag_and_untagged(filled: Store, until: Until) -> None:
    app = LabApp(filled, Settings(person="D1"), Opening("runs"))
    async with app.run_test(size=(120, 40), notifications=True) as pilot:
        await until(pilot, lambda: ids(app) == "a6 a5 a4 a3 a2 a1")
        await pilot.press("j", "space", "space", "t")
        await until(pilot, lambda: "Enter: tag 2 runs selected" in painted(app))
        await burst(pilot, *"+pilot +no#tag", "enter")
        await until(pilot, lambda: "is no tag" in painted(app))
        app.screen.query_one("#tag").value = "+Pilot new"  # type: ignore[attr-defined]
        await pilot.press("enter")
        await until(pilot, lambda: painted(app).count("#new #pilot") == 2)
        assert filled.runs.acts.tags() == {"new": 2, "pilot": 2}
        assert [act.by.id for act in filled.runs.acts.of_run("a5")] == ["D1", "D1"]
        assert "no tag" not in painted(app)
        await burst(pilot, "slash", *"tag:pilot", "enter")
        await until(pilot, lambda: ids(app) == "a5 a4")
        await burst(pilot, "g", "space", "space", "t", *"-new", "enter")
        await until(pilot, lambda: filled.runs.acts.tags() == {"pilot": 2})
        await pilot.press("z")
        await until(pilot, lambda: filled.runs.acts.tags() == {"new": 2, "pilot": 2})
        await pilot.press("z", "z")
        await until(pilot, lambda: "nothing is left here to undo" in painted(app))
        assert filled.runs.acts.tags() == {}


async def test_runs_are_archived_listed_alone_and_brought_back(filled: Store, until: Until) -> None:
    app = LabApp(filled, Settings(person="D1"), Opening("runs"))
    async with app.run_test(size=(120, 40), notifications=True) as pilot:
        await until(pilot, lambda: ids(app) == "a6 a5 a4 a3 a2 a1")
        await pilot.press("x")
        await until(pilot, lambda: ids(app) == "a5 a4 a3 a2 a1")
        assert listed(filled) == "a5 a4 a3 a2 a1"
        await pilot.press("space", "j", "space", "x")
        await until(pilot, lambda: ids(app) == "a4 a2 a1")
        await pilot.press("X")
        await until(pilot, lambda: ids(app) == "a6 a5 a3" and "Archived runs  3" in painted(app))
        await pilot.press("x")
        await until(pilot, lambda: ids(app) == "a5 a3")
        await pilot.press("escape")
        await until(pilot, lambda: ids(app) == "a6 a4 a2 a1" and isinstance(app.screen, RunsScreen))
        await pilot.press("z")
        await until(pilot, lambda: ids(app) == "a4 a2 a1")
        assert listed(filled) == "a4 a2 a1"
        await pilot.press("f2")
        await until(pilot, lambda: isinstance(app.screen, HomeScreen) and "Runs  3" in painted(app))


async def test_what_the_filter_hides_is_not_tagged_with_the_rest(filled: Store, until: Until) -> None:
    app = LabApp(filled, Settings(person="D1"), Opening("runs"))
    async with app.run_test(size=(120, 40), notifications=True) as pilot:
        await until(pilot, lambda: ids(app) == "a6 a5 a4 a3 a2 a1")
        await burst(pilot, "space", "space", "slash", *"agent:kimi", "enter", "x")
        await until(pilot, lambda: listed(filled) == "a6 a4 a3 a2 a1")


async def test_one_group_is_told_as_one(filled: Store, until: Until) -> None:
    app = LabApp(filled, Settings(person="D1"), Opening("runs"))
    async with app.run_test(size=(120, 40)) as pilot:
        await until(pilot, lambda: ids(app) == "a6 a5 a4 a3 a2 a1")
        await burst(pilot, "g", "slash", *"task:mail", "enter")
        await until(pilot, lambda: "Runs  2 of 6   in 1 group by task" in painted(app))


async def test_a_groups_runs_are_selected_together(filled: Store, until: Until) -> None:
    app = LabApp(filled, Settings(person="D1"), Opening("runs"))
    async with app.run_test(size=(120, 40), notifications=True) as pilot:
        await until(pilot, lambda: ids(app) == "a6 a5 a4 a3 a2 a1")
        await pilot.press("g")
        await until(pilot, lambda: "[mail]" in ids(app))
        await pilot.press("x")
        await until(pilot, lambda: "no run is here" in painted(app))
        room(app).table.go([named(line) for line in room(app).table.arranged.lines].index("[mail]"))
        await pilot.press("space")
        await until(pilot, lambda: "2 runs selected" in painted(app))
        await pilot.press("x")
        await until(pilot, lambda: listed(filled) == "a6 a5 a2 a1")


async def test_home_archives_the_run_or_the_study_under_the_cursor(filled: Store, until: Until) -> None:
    frozen(filled, [unit("u1")], id="trial")
    frozen(filled, [unit("u1")], id="other")
    app = LabApp(filled, Settings(person="D1"))
    async with app.run_test(size=(120, 40), notifications=True) as pilot:

        def runs() -> str:
            return " ".join(run.id for run in app.screen.query_one(RunList).rows)

        def studies() -> str:
            return " ".join(row.line.id for row in app.screen.query_one(StudyTable).rows)

        await until(pilot, lambda: runs() == "a6 a5 a4 a3 a2 a1" and studies() == "other trial")
        await pilot.press("x")
        await until(pilot, lambda: runs() == "a5 a4 a3 a2 a1" and "run archived; z undoes it" in painted(app))
        app.screen.query_one(StudyTable).focus()
        await pilot.press("x")
        await until(pilot, lambda: studies() == "trial")
        assert [line.id for line in filled.studies.lines(archived=False)] == ["trial"]
        await pilot.press("X")
        await until(pilot, lambda: (runs(), studies()) == ("a6", "other") and "Archived studies  1" in painted(app))
        app.screen.query_one(RunList).focus()
        await pilot.press("x")
        await until(pilot, lambda: runs() == "" and "No run is archived. Esc shows the others." in painted(app))
        await pilot.press("z", "escape")
        await until(pilot, lambda: runs() == "a5 a4 a3 a2 a1" and studies() == "trial")
        await pilot.press("z", "z")
        await until(pilot, lambda: runs() == "a6 a5 a4 a3 a2 a1" and studies() == "other trial")


@pytest.mark.parametrize("screen", ["home", "runs"])
async def test_the_next_run_takes_the_place_of_one_that_was_archived_under_the_cursor(
    filled: Store, until: Until, screen: Any
) -> None:
    app = LabApp(filled, Settings(person="D1"), Opening(screen))
    async with app.run_test(size=(120, 40)) as pilot:
        await until(pilot, lambda: "Runs  6" in painted(app))
        await pilot.press("j", "j", "x")
        await until(pilot, lambda: listed(filled) == "a6 a5 a3 a2 a1" and "Runs  5" in painted(app))
        await pilot.press("x")
        await until(pilot, lambda: listed(filled) == "a6 a5 a2 a1" and "Runs  4" in painted(app))
        await pilot.press("j", "x")
        await until(pilot, lambda: listed(filled) == "a6 a5 a2" and "Runs  3" in painted(app))
        await pilot.press("x")
        await until(pilot, lambda: listed(filled) == "a6 a5" and "Runs  2" in painted(app))


async def test_what_was_read_before_the_last_undo_is_not_shown_after_it(
    filled: Store, until: Until, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Runs are read in threads, and these end in any order."""
    summaries, read = type(filled.runs).summaries, HomeScreen._read_page
    held, free, posted, ended = Event(), Event(), list[str](), list[Any]()

    def hold_the_archived(*args: Any, **more: Any) -> list[Summary]:
        page = summaries(*args, **more)
        if len(page) == 5 and not held.is_set():
            held.set()
            assert free.wait(180)
        return page

    class Noted(Background[Any]):
        def _run(self, work: Any) -> None:
            super()._run(work)
            ended.append(self)

    def noted(*args: Any, **more: Any) -> RunPage:
        page = read(*args, **more)
        posted.append(" ".join(run.id for run in page.runs))
        return page

    monkeypatch.setattr(type(filled.runs), "summaries", hold_the_archived)
    monkeypatch.setattr(HomeScreen, "_read_page", noted)
    monkeypatch.setattr(home, "Background", Noted)
    app = LabApp(filled, Settings(person="D1"))
    async with app.run_test(size=(120, 40)) as pilot:
        await until(pilot, lambda: len(posted) == 1)
        await pilot.press("x")
        await until(pilot, held.is_set)
        await pilot.press("z")
        await until(pilot, lambda: len(posted) == 2)
        free.set()
        await until(pilot, lambda: posted == ["a6 a5 a4 a3 a2 a1", "a6 a5 a4 a3 a2 a1", "a5 a4 a3 a2 a1"])
        assert isinstance(app.screen, HomeScreen)
        reading = app.screen._runs
        await until(pilot, lambda: ended.count(reading) == 3)
        await until(pilot, lambda: app.screen.query_one(RunList).rows[0].id == "a6")
        assert "Runs  6" in painted(app)


async def test_a_rater_sees_no_tags_finds_nothing_by_them_and_archives_nothing(filled: Store, until: Until) -> None:
    tag_runs(filled, ["a6"], TagChange(("badmodel",)), "D1")
    archive_runs(filled, ["a5"], "D1")
    app = LabApp(filled, Settings(person="R1", seat="rater"))
    async with app.run_test(size=(200, 40)) as pilot:
        await until(pilot, lambda: "Runs  5" in painted(app))
        await pilot.press("x", "X", "z")
        assert "badmodel" not in painted(app)
        for word in ("badmodel", "qwen"):
            await pilot.press("slash", *word)
            await until(pilot, lambda word=word: f"Nothing fits '{word}'" in painted(app))
            await pilot.press("escape")
            await until(pilot, lambda: "Runs  5" in painted(app))
        assert listed(filled) == "a6 a4 a3 a2 a1"


@pytest.mark.parametrize("screen", ["runs", "home"])
async def test_name_title_and_tags_stand_beside_each_other(filled: Store, until: Until, screen: Any) -> None:
    tag_runs(filled, ["a5"], TagChange(("pilot",)), "D1")
    app = LabApp(filled, Settings(person="D1"), Opening(screen))
    async with app.run_test(size=(64, 18)) as pilot:
        for size in ((64, 18), (80, 24), (120, 40), (200, 60)):
            if app.size != size:
                await pilot.resize_terminal(*size)
            await until(pilot, lambda: "alarm" in painted(app))
            row = next(line for line in painted(app).splitlines() if "alarm" in line)
            assert size[0] < 120 or "#pilot" in row, size
            assert screen == "home" or size[0] < 120 or "alarm  Two" in row, size
