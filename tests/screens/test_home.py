"""Home: what is listed, what Enter does next, the filter, and ten thousand runs."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from msgspec.structs import replace

from lab.cli.tasks.design import find_task
from lab.core.run.run_records import Imported, number_events
from lab.core.run.trace import AnyEvent, Ended, Started
from lab.core.settings import Settings
from lab.core.task.task import Actor, Task
from screens.app import LabApp
from screens.author.author import AuthorScreen
from screens.home.home import PAGE, HomeScreen
from screens.home.lists import RunList, TaskRow, Tasks
from screens.home.run_form import RunForm
from screens.navigation import Opening
from screens.record.record import RecordScreen
from screens.replay.replay import ReplayScreen
from simulators import library
from store.store import Store
from tests.demonstrations import demonstration
from tests.screens.resting import burst, rests
from tests.screens.runs import BARE, HOSTILE, WAITING, WHOLE, bare_run, painted, whole_run

Until = Callable[..., Awaitable[None]]
LATER = "99999999-0000-7000-8000-000000000009"
"""A run that began after all others."""

TASKS = [
    TaskRow("usual_lunch", "personalized", "Order the usual lunch"),
    TaskRow("holiday_alarm", "proactive", "A holiday tomorrow"),
    TaskRow("spoilt", "", "", "task file spoilt.yaml: field knid: unknown"),
]


def runs(app: LabApp) -> RunList:
    return app.screen.query_one(RunList)


@pytest.fixture
def home(full: Store, settings: Settings, monkeypatch: pytest.MonkeyPatch) -> LabApp:
    """Home over three runs, with three fixed tasks."""
    monkeypatch.setattr("screens.home.home._read_library", lambda: TASKS)
    return LabApp(full, settings)


@pytest.mark.parametrize("room", ["home", "runs"])
async def test_a_demonstration_is_listed_by_its_intent(store: Store, until: Until, room: Any) -> None:
    store.runs.add(demonstration(intent="Mute the phone"))
    app = LabApp(store, Settings(bell=False), Opening(room))
    async with app.run_test(size=(120, 40)) as pilot:
        await until(pilot, lambda: "Mute the phone" in painted(app))
        assert "demo-1" not in painted(app)


@pytest.mark.parametrize("key", ["v", "t"])
async def test_where_no_run_is_a_key_about_one_says_so(store: Store, until: Until, key: str) -> None:
    app = LabApp(store, Settings(bell=False))
    async with app.run_test(size=(120, 40)) as pilot:
        await until(pilot, lambda: "No runs yet" in painted(app) and "Enter: run this task" in painted(app))
        await pilot.press(key)
        await until(pilot, lambda: any("no run is here" in note.message for note in app._notifications))


async def test_runs_are_listed_newest_first_with_what_enter_does(home: LabApp, until: Until) -> None:
    async with home.run_test(size=(120, 40)) as pilot:
        await until(pilot, lambda: runs(home).count == 3 and "Enter: resume this run at its question" in painted(home))
        rows = [line for line in painted(home).splitlines() if "2025-03-04" in line]
        assert [row.split()[1] for row in rows] == ["sleep", "mail", "lunch"]
        assert "resume ?" in rows[0]
        assert all(word in rows[2] for word in ("2025-03-04 10:00", "rule", "ines", " 6 ", " 2 ", "completed", "0.75"))
        await pilot.press("j")
        await until(pilot, lambda: "Enter: replay this run" in painted(home))
        await pilot.press("tab")
        await until(pilot, lambda: "Enter: run this task" in painted(home))
        await pilot.press("end")
        await until(pilot, lambda: "field knid: unknown" in painted(home))
        await pilot.press("tab")
        await until(pilot, lambda: "Enter on a task starts a run on this phone" in painted(home))


async def test_enter_replays_a_run_and_f2_comes_back_to_it(home: LabApp, until: Until) -> None:
    async with home.run_test() as pilot:
        await until(pilot, lambda: runs(home).count == 3)
        await pilot.press("j", "enter")
        await until(pilot, lambda: isinstance(home.screen, ReplayScreen) and "Kevin" in painted(home))
        await pilot.press("f2")
        await until(pilot, lambda: isinstance(home.screen, HomeScreen))
        assert runs(home).current is not None
        assert runs(home).current.id == BARE  # type: ignore[union-attr]
        await pilot.press("f4")
        await until(pilot, lambda: isinstance(home.screen, ReplayScreen))


async def test_an_open_run_can_be_replayed_too(home: LabApp, until: Until) -> None:
    async with home.run_test() as pilot:
        await until(pilot, lambda: runs(home).count == 3)
        await pilot.press("v")
        await until(pilot, lambda: "waits: ask" in painted(home))


async def test_enter_on_an_open_run_resumes_it(home: LabApp, until: Until, monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[str] = []
    monkeypatch.setattr(home, "open_resume", opened.append)
    monkeypatch.setattr(home, "open_task", lambda name, choices: opened.append(name))
    async with home.run_test() as pilot:
        await until(pilot, lambda: runs(home).count == 3 and home.screen.query_one(Tasks).count == 3)
        await pilot.press("enter", "tab", "enter")
        await until(pilot, lambda: isinstance(home.screen, RunForm))
        await pilot.press("enter")
        await until(pilot, lambda: opened == [WAITING, "usual_lunch"])


async def test_the_filter_finds_runs_and_tasks_and_esc_shows_all(home: LabApp, until: Until) -> None:
    async with home.run_test() as pilot:
        await until(pilot, lambda: runs(home).count == 3)
        await burst(pilot, "slash", *"some-mod")
        await until(pilot, lambda: [run.task for run in runs(home).rows] == ["mail"])
        assert home.screen.query_one(Tasks).count == 0
        await pilot.press("x")
        await until(pilot, lambda: "Nothing fits 'some-modx'. Esc shows all runs." in painted(home))
        await pilot.press("escape")
        await until(pilot, lambda: runs(home).count == 3 and home.focused is runs(home))


async def test_an_empty_file_begins_at_the_tasks_and_names_the_next_key(
    store: Store, settings: Settings, until: Until
) -> None:
    app, seen = LabApp(store, settings), set[str]()
    async with app.run_test() as pilot:

        def begun() -> bool:
            seen.add(painted(app))
            return "Enter: run this task" in painted(app)

        await until(pilot, lambda: begun() and "No runs yet" in painted(app))
        assert all(word in painted(app) for word in ("Enter on a task", "hitlab demo", "hitlab import PATH"))
        assert not any("No tasks found" in frame for frame in seen)
        assert isinstance(app.focused, Tasks)


async def test_a_click_chooses_a_line_and_two_open_it(home: LabApp, until: Until) -> None:
    async with home.run_test() as pilot:
        await until(pilot, lambda: runs(home).count == 3)
        await pilot.click(RunList, offset=(10, 4))
        await until(pilot, lambda: runs(home).cursor == 2)
        await pilot.click(RunList, offset=(10, 4), times=2)
        await until(pilot, lambda: isinstance(home.screen, ReplayScreen))


async def test_ten_thousand_runs_are_read_a_page_at_a_time(store: Store, settings: Settings, until: Until) -> None:
    for i in range(3 * PAGE):
        task = Task(f"task{i:05d}", "general", "", "Do it.")
        events: list[AnyEvent] = [
            Started(trace=f"run{i:05d}", task=task, agent=Actor("script", "rule")),
            Ended(status="failed"),
        ]
        store.runs.add(Imported(number_events(events), {}, []))
    app = LabApp(store, settings)
    async with app.run_test() as pilot:
        await until(pilot, lambda: runs(app).count == PAGE)
        await pilot.press("end")
        await until(pilot, lambda: runs(app).count == 2 * PAGE)
        await pilot.press("end")
        await until(pilot, lambda: runs(app).count == 3 * PAGE)
        assert [run.id for run in runs(app).rows] == [f"run{i:05d}" for i in reversed(range(3 * PAGE))]
        await burst(pilot, "slash", *"task00007")
        await until(pilot, lambda: [run.id for run in runs(app).rows] == ["run00007"])


async def test_a_strangers_words_are_painted_as_characters(store: Store, settings: Settings, until: Until) -> None:
    hostile = whole_run(hostile=True)
    first: Any = hostile.events[0]
    store.runs.add(hostile)
    assert first.task.instruction == HOSTILE
    events = bare_run("bad").events
    spoilt: Any = events[0]
    import msgspec

    task = msgspec.structs.replace(spoilt.task, id=HOSTILE)
    store.runs.add(Imported([msgspec.structs.replace(spoilt, task=task), *events[1:]], {}, []))
    app = LabApp(store, settings)
    async with app.run_test(size=(200, 60)) as pilot:
        await until(pilot, lambda: runs(app).count == 2)
        assert "[bold red]not bold[/] \\x1b[31mred" in painted(app)
        assert "\x1b" not in painted(app)


@pytest.mark.parametrize("size", [(80, 24), (120, 40)])
def test_home_looks_as_it_did(home: LabApp, snap_compare: Any, size: tuple[int, int]) -> None:
    async def settle(pilot: Any) -> None:
        await rests(
            pilot,
            lambda: runs(home).count == 3 and home.screen.query_one(Tasks).count == 3 and "Enter:" in painted(home),
        )

    assert snap_compare(home, terminal_size=size, run_before=settle)


async def test_a_key_records_the_task_under_the_cursor_and_another_ones_own_intent(home: LabApp, until: Until) -> None:
    async with home.run_test(size=(120, 40), notifications=True) as pilot:
        await until(pilot, lambda: runs(home).count == 3)
        await pilot.press("r")
        await until(pilot, lambda: "What do you want to do on the phone?" in painted(home))
        await pilot.press("escape")
        await until(pilot, lambda: isinstance(home.screen, HomeScreen))
        await pilot.press("tab")
        await until(pilot, lambda: "r: record yourself" in painted(home))
        await pilot.press("end", "r")  # a task that cannot be read
        await until(pilot, lambda: isinstance(home.screen, HomeScreen) and "task spoilt" in painted(home))
        await burst(pilot, "R", *"Mute the phone", "enter", "2")
        await until(pilot, lambda: isinstance(home.screen, RecordScreen) and "Mute the phone" in painted(home))
        await pilot.press("f2")
        await until(pilot, lambda: isinstance(home.screen, HomeScreen))
        await pilot.press("R")
        await until(pilot, lambda: "already" in painted(home))


async def test_home_says_how_to_leave_and_q_leaves(home: LabApp, until: Until) -> None:
    async with home.run_test(size=(120, 40)) as pilot:
        await until(pilot, lambda: runs(home).count == 3 and "q Quit" in painted(home).splitlines()[-1])
        await pilot.press("q")
        assert home._exit


async def test_beside_the_help_each_key_below_is_whole_and_help_is_the_last(home: LabApp, until: Until) -> None:
    async with home.run_test(size=(64, 18)) as pilot:
        await until(pilot, lambda: runs(home).count == 3)
        wide = painted(home).splitlines()[-1]
        await pilot.press("question_mark")
        await until(pilot, lambda: painted(home).splitlines()[-1].partition("▏")[0].rstrip().endswith("? Help"))
        await pilot.press("question_mark")
        await until(pilot, lambda: painted(home).splitlines()[-1] == wide)


async def test_author_opens_beside_a_finished_run_before_a_newer_open_one(
    store: Store, settings: Settings, until: Until
) -> None:
    """From Home by the task's line; the same is said on the command line."""
    task = library.task("usual_lunch")
    for run, ended in ((WHOLE, True), (LATER, False)):
        made = whole_run(run)
        first = made.events[0]
        assert isinstance(first, Started)
        events = [
            replace(first, task=task),
            *(event for event in made.events[1:] if ended or not isinstance(event, Ended)),
        ]
        store.runs.add(made._replace(events=number_events(events)))
    assert store.runs.of_task(task.id)[0] == LATER
    app = LabApp(store, replace(settings, person="D1"))
    async with app.run_test(size=(120, 40)) as pilot:
        await until(pilot, lambda: app.screen.query_one(Tasks).count > 1)
        tasks = app.screen.query_one(Tasks)
        app.screen.set_focus(tasks)
        tasks.go(next(at for at, line in enumerate(tasks.rows) if line.name == "usual_lunch"))
        await pilot.press("a")
        await until(pilot, lambda: isinstance(app.screen, AuthorScreen) and "completed" in painted(app))
        assert app.screen.footage.run == WHOLE  # type: ignore[attr-defined]
    assert find_task(store, "usual_lunch", None)[1] == WHOLE
    assert find_task(store, task.id, None)[1] == WHOLE
    assert find_task(store, LATER, None)[1] == LATER
