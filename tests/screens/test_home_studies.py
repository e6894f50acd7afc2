"""Studies at Home: which are listed for whom, how far they are, and what Enter does."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from textual.widgets import Input, Markdown

from lab.core.ids_and_clock import now, uuid7
from lab.core.label import Act
from lab.core.settings import Settings
from screens.app import LabApp
from screens.home.lists import RunList
from screens.home.studies import OwnStudies, StudyTable
from screens.widgets.lines import LineList
from store.store import Store
from tests.screens.runs import painted
from tests.studies import R1, frozen, unit

Until = Callable[..., Awaitable[None]]


async def test_a_study_stands_above_the_runs_with_what_is_done_and_left(full: Store, until: Until) -> None:
    plan = frozen(full, [unit("u1"), unit("u2"), unit("u3")], title="Failures")
    full.labels.record_act(Act(uuid7(), plan.id, 1, R1, "commit", now(), "u1"))
    app = LabApp(full, Settings(person="R1"))
    async with app.run_test(size=(120, 40)) as pilot:
        studies = app.screen.query_one(StudyTable)
        await until(pilot, lambda: studies.count == 1)
        row = studies.rows[0]
        assert (row.mine and row.mine.done, row.mine and row.mine.dealt, row.line.done, row.line.dealt) == (1, 3, 1, 6)
        assert row.state == "2 left"
        studies.focus()
        await until(pilot, lambda: "1 of 3 done" in studies.next_words())
        await pilot.press("enter")
        await until(pilot, lambda: app.current_mode == "annotate")


async def test_a_rater_sees_only_studies_that_are_theirs(full: Store, until: Until) -> None:
    frozen(full, [unit("u1")], id="mine")
    frozen(full, [unit("u1")], id="others", raters=("R2",))
    for seat, listed in (("rater", ["mine"]), ("developer", ["others", "mine"])):
        app = LabApp(full, Settings(person="R1", seat=seat))  # type: ignore[arg-type]
        async with app.run_test(size=(120, 40)) as pilot:
            studies = app.screen.query_one(StudyTable)
            await until(pilot, lambda studies=studies: studies.count > 0)
            assert [row.line.id for row in studies.rows] == listed


async def test_who_was_replaced_is_told_so_and_the_app_goes_on(full: Store, until: Until) -> None:
    plan = frozen(full, [unit("u1"), unit("u2")])
    full.labels.record_act(Act(uuid7(), plan.id, 1, R1, "left", now(), detail={"for": "R2"}))
    app = LabApp(full, Settings(person="R1", seat="rater"))
    async with app.run_test(size=(120, 40)) as pilot:
        studies = app.screen.query_one(StudyTable)
        await until(pilot, lambda: studies.count == 1 and studies.rows[0].state == "left")
        studies.focus()
        await until(pilot, lambda: f"{plan.id}: left" in painted(app))
        await pilot.press("enter")
        await until(pilot, lambda: "R1 has left this study; another goes on in their place." in painted(app))


async def test_without_studies_home_has_no_such_pane(full: Store, until: Until) -> None:
    app = LabApp(full, Settings())
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: "Runs  3" in str(app.screen.query_one("#runs").border_title))
        assert not app.screen.query_one(StudyTable).display


async def test_a_shows_a_studys_agreement_and_its_sister_rooms_show_the_same_study(full: Store, until: Until) -> None:
    frozen(full, [unit("u1")], id="first")
    second = frozen(full, [unit("u1")], id="second")
    app = LabApp(full, Settings(person="R1"))
    async with app.run_test(size=(120, 40)) as pilot:
        studies = app.screen.query_one(StudyTable)
        await until(pilot, lambda: studies.count == 2)
        studies.focus()
        await until(pilot, lambda: "a: its agreement" in studies.next_words())
        await pilot.press("a")
        await until(pilot, lambda: app.current_mode == "agreement")
        assert app.read == second
        for key, room in (("f7", "adjudicate"), ("f8", "raters"), ("f6", "agreement")):
            await pilot.press(key)
            await until(pilot, lambda room=room: app.current_mode == room)
            assert app.reads[room] == second.name  # type: ignore[index]


async def test_enter_on_a_study_with_nothing_to_answer_shows_its_agreement(full: Store, until: Until) -> None:
    frozen(full, [unit("u1")], raters=("R2",))
    app = LabApp(full, Settings(person="D1"))
    async with app.run_test(size=(120, 40)) as pilot:
        studies = app.screen.query_one(StudyTable)
        await until(pilot, lambda: studies.count == 1)
        studies.focus()
        await until(pilot, lambda: studies.next_words().startswith("Enter: its agreement"))
        await pilot.press("enter")
        await until(pilot, lambda: app.current_mode == "agreement")


async def test_a_rater_has_no_key_for_agreement(full: Store, until: Until) -> None:
    frozen(full, [unit("u1")])
    app = LabApp(full, Settings(person="R1", seat="rater"))
    async with app.run_test(size=(120, 40)) as pilot:
        studies = app.screen.query_one(StudyTable)
        await until(pilot, lambda: studies.count == 1)
        assert "agreement" not in studies.next_words().lower()
        await pilot.press("a", "f6")
        await pilot.pause()
        assert app.current_mode == "home"
        assert not any("agreement" in one.binding.action for one in app.screen.active_bindings.values() if one.enabled)


async def test_a_rater_is_told_of_no_key_that_this_seat_lacks(full: Store, until: Until) -> None:
    app = LabApp(full, Settings(person="R1", seat="rater"))
    async with app.run_test(size=(120, 40)) as pilot:
        await until(pilot, lambda: app.screen.query_one(RunList).count > 0)
        await pilot.press("question_mark")
        await until(pilot, lambda: any("# Runs" in one.source for one in app.screen.query(Markdown).results()))
        (words,) = [one.source for one in app.screen.query(Markdown).results()]
        assert "finds runs by" in words
        assert not any(word in words for word in ("agent", "design", "table", "rchive", "undo", "resume"))
        assert "agent" not in app.screen.query_one("#filter", Input).placeholder
        await pilot.press("f3")
        await until(pilot, lambda: [one.message for one in app._notifications] == ["no run is live."])
        assert not any(word in OwnStudies.HELP for word in ("agree", "rchive", "fast"))


async def test_the_cursor_stays_on_its_study_while_others_come_and_go(full: Store, until: Until) -> None:
    for id in ("a", "b"):
        frozen(full, [unit("u1")], id=id)
    app = LabApp(full, Settings(person="D1"))
    async with app.run_test(size=(120, 40)) as pilot:
        studies = app.screen.query_one(StudyTable)
        await until(pilot, lambda: [row.line.id for row in studies.rows] == ["b", "a"])
        studies.focus()
        frozen(full, [unit("u1")], id="c")  # in another window
        await pilot.press("f11", "f2")
        await until(pilot, lambda: studies.count == 3)
        assert studies.current is not None
        assert studies.current.line.id == "b"


async def test_plus_gives_each_pane_the_whole_height(full: Store, until: Until) -> None:
    frozen(full, [unit("u1")], id="first")
    app = LabApp(full, Settings(person="R1"))
    async with app.run_test(size=(170, 40)) as pilot:
        studies = app.screen.query_one(StudyTable)
        await until(pilot, lambda: studies.count == 1 and "first" in painted(app))
        before = studies.size.height
        for id in ("studies", "runs", "tasks", "devices"):
            pane = app.screen.query_one(f"#{id}", LineList)
            pane.focus()
            await pilot.press("plus")
            await until(pilot, lambda pane=pane: app.screen.maximized is pane)
            await until(pilot, lambda pane=pane: pane.outer_size.height >= 38)
            await pilot.press("plus")
            await until(pilot, lambda: app.screen.maximized is None)
        await until(pilot, lambda: studies.size.height == before)


async def test_studies_of_one_title_are_told_apart_by_the_names_that_commands_take(full: Store, until: Until) -> None:
    for id in ("failures-pilot", "failures-main"):
        frozen(full, [unit("u1")], id=id, title="Why the run failed (memory)")
    gone = frozen(full, [unit("u1")], id="mistake", title="Why the run failed (memory)")
    full.labels.record_act(Act(uuid7(), gone.id, 1, R1, "archived", now()))
    app = LabApp(full, Settings(person="R1"))
    async with app.run_test(size=(64, 18)) as pilot:
        for size in ((64, 18), (80, 24), (120, 40), (200, 60)):
            if app.size != size:
                await pilot.resize_terminal(*size)
            await until(pilot, lambda: "failures-main" in painted(app))
            app.screen.query_one(StudyTable).focus()
            await pilot.press("down")
            await until(pilot, lambda: "failures-pilot" in painted(app))
            assert "mistake" not in painted(app)
            assert ("Why the run failed" in painted(app)) is (size[0] >= 80), size
            await pilot.press("up")
