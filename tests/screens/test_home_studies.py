"""Studies at Home: which are listed for whom, how far they are, and what Enter does."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import pytest
from textual.widgets import Input, Markdown

from lab.core.run.run_records import Imported, number_events
from lab.core.run.trace import Ended, Started
from lab.core.settings import Settings
from lab.core.study.label import Act
from lab.core.task.task import Actor, Task
from lab.core.values.ids_and_clock import now, uuid7
from screens.app import LabApp
from screens.home.lists import RunList
from screens.home.studies import OwnStudies, StudyTable
from screens.widgets.lines import LineList
from store.store import Store
from tests.screens.runs import painted
from tests.studies import R1, frozen, study, unit

Until = Callable[..., Awaitable[None]]


async def test_a_study_stands_above_the_runs_with_what_is_done_and_left(full: Store, until: Until) -> None:
    plan = frozen(full, [unit("u1"), unit("u2"), unit("u3")], title="Failures")
    full.labels.record_act(Act(uuid7(), plan.id, 1, R1, "commit", now(), "u1"))
    app = LabApp(full, Settings(person="R1"))
    async with app.run_test(size=(120, 40)) as pilot:
        studies = app.screen.query_one(StudyTable)
        await until(pilot, lambda: studies.count == 1)
        row = studies.rows[0]
        assert (
            row.own_progress and row.own_progress.done,
            row.own_progress and row.own_progress.dealt,
            row.line.done,
            row.line.dealt,
        ) == (1, 3, 1, 6)
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


@pytest.mark.parametrize("size", [(64, 18), (80, 24), (120, 40), (200, 60)])
async def test_what_there_is_most_of_has_most_rows_and_an_empty_pane_a_line(
    store: Store, until: Until, size: tuple[int, int]
) -> None:
    app = LabApp(store, Settings(bell=False))
    async with app.run_test(size=size) as pilot:
        await until(pilot, lambda: "No studies yet: n in Runs (F11)" in painted(app) and "No runs yet" in painted(app))
        await until(pilot, lambda: "Tasks  " in painted(app) and "Devices: embedded phone" in painted(app))
        lines = painted(app).splitlines()
        assert sum("╭" in line for line in lines) == 1  # the tasks alone have a border
        assert next(at for at, line in enumerate(lines) if "╭─ Tasks" in line) <= 4
        for number in range(60):
            task = Task(f"task{number:05d}", "general", "", "Do it.")
            began = Started(trace=f"run{number:05d}", task=task, agent=Actor("script", "rule"))
            store.runs.add(Imported(number_events([began, Ended(status="failed")]), {}, []))
        for id in ("first", "second"):
            frozen(store, [unit("u1"), unit("u2")], id=id)
        await pilot.press("f11", "f2")
        await until(pilot, lambda: "first" in painted(app) and "second" in painted(app) and "task00059" in painted(app))
        panes = {id: app.screen.query_one(f"#{id}", LineList) for id in ("studies", "runs", "tasks", "devices")}
        panes["runs"].focus()
        await until(pilot, lambda: panes["runs"].size.height == max(pane.size.height for pane in panes.values()))
        assert panes["runs"].size.height > panes["studies"].size.height
        assert panes["devices"].outer_size.height == 1
        assert all(pane.region.bottom <= size[1] - 2 and pane.size.height > 0 for pane in panes.values())
        few = panes["tasks"].size.height
        panes["tasks"].focus()  # who chooses among thirty tasks sees more than one of them
        await until(pilot, lambda: panes["tasks"].size.height > few or size in ((64, 18), (200, 60)))
        assert all(pane.region.bottom <= size[1] - 2 and pane.size.height > 0 for pane in panes.values())


async def test_each_study_says_what_comes_next_in_it(full: Store, until: Until) -> None:
    plan = frozen(full, [unit("u1"), unit("u2")], id="mine")
    frozen(full, [unit("u1")], id="theirs", raters=("R2",))
    frozen(full, [unit("u1")], id="rated", raters=("R2",))
    full.studies.freeze(study([unit("u1")], id="undealt"), [unit("u1")])
    full.labels.record_act(Act(uuid7(), plan.id, 1, R1, "commit", now(), "u1"))
    full.labels.record_act(Act(uuid7(), "rated", 1, Actor("human", "R2"), "commit", now(), "u1"))
    app = LabApp(full, Settings(person="R1", bell=False))
    async with app.run_test(size=(80, 24)) as pilot:
        for name, words in (
            ("undealt", "deal it"),
            ("theirs", "others rate"),
            ("rated", "all done"),
            ("mine", "rate 1 more"),
        ):
            await until(
                pilot,
                lambda name=name, words=words: any(
                    name in line and words in line for line in painted(app).splitlines()
                ),
            )
        app.screen.query_one(StudyTable).focus()
        await until(pilot, lambda: "Enter: deal it" in painted(app))
        await pilot.press("enter")
        await until(pilot, lambda: "for good" in painted(app))
        await pilot.press("escape")
        assert full.studies.progress(full.studies.study("undealt"), "R1").dealt == 0
        await pilot.press("enter", "enter")
        await until(pilot, lambda: full.studies.progress(full.studies.study("undealt"), "R1").dealt == 1)
        await until(pilot, lambda: "dealt: R1 1, R2 1" in notes(app) and "deal it" not in painted(app))


@pytest.mark.parametrize(
    ("key", "room"), [("f5", "annotate"), ("f6", "agreement"), ("f7", "adjudicate"), ("f8", "raters")]
)
async def test_a_room_s_key_opens_it_on_the_study_under_the_cursor(
    full: Store, until: Until, key: str, room: str
) -> None:
    for id in ("first", "second"):
        frozen(full, [unit("u1")], id=id, title=f"The {id} study")
    app = LabApp(full, Settings(person="R1", bell=False))
    async with app.run_test(size=(120, 40)) as pilot:
        studies = app.screen.query_one(StudyTable)
        await until(pilot, lambda: studies.count == 2)
        studies.focus()
        for name, move in (("second", "home"), ("first", "end")):
            await pilot.press(move, key)
            await until(pilot, lambda name=name: app.current_mode == room and f"The {name} study" in painted(app))
            await pilot.press("f2")
            await until(pilot, lambda: app.current_mode == "home")
        assert not app._notifications


async def test_keys_of_rooms_about_runs_and_designs_act_on_what_the_cursor_is_on(full: Store, until: Until) -> None:
    frozen(full, [unit("u1")], id="first")
    app = LabApp(full, Settings(person="R1", bell=False))
    async with app.run_test(size=(120, 40)) as pilot:
        await until(pilot, lambda: app.screen.query_one(RunList).count == 3)
        await pilot.press("f4")
        await until(pilot, lambda: app.current_mode == "replay")
        await pilot.press("f2")
        await until(pilot, lambda: app.current_mode == "home")
        app.screen.query_one(StudyTable).focus()
        await pilot.press("f9")
        await until(pilot, lambda: "study first has no design of its own" in notes(app))
        app.screen.query_one(RunList).focus()
        await pilot.press("f9")
        await until(pilot, lambda: app.current_mode == "author")


async def test_a_rater_s_key_opens_the_study_under_the_cursor(full: Store, until: Until) -> None:
    frozen(full, [unit("u1")], id="first", title="The first study")
    app = LabApp(full, Settings(person="R1", seat="rater", bell=False))
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: "The first" in painted(app))
        await pilot.press("f5")
        await until(pilot, lambda: app.current_mode == "annotate" and not app._notifications)


def notes(app: LabApp) -> str:
    return "\n".join(f"{note.title} {note.message}" for note in app._notifications)


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
        assert app.results_study == second
        for key, room in (("f7", "adjudicate"), ("f8", "raters"), ("f6", "agreement")):
            await pilot.press(key)
            await until(pilot, lambda room=room: app.current_mode == room)
            assert app.shown_studies[room] == second.name


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
