"""The table of runs in the app: filter, sort, group, replay and back, marking two, costs as they are seen."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from threading import Event
from typing import Any

import pytest
from textual.widgets import Input

from lab.core.run.run_records import Imported, number_events
from lab.core.run.trace import AnyEvent, Ended, Started
from lab.core.settings import Settings
from lab.core.task.task import Actor, Task
from screens.app import LabApp
from screens.compare.compare import CompareScreen
from screens.home.home import HomeScreen
from screens.navigation import Opening
from screens.replay.replay import ReplayScreen
from screens.runs import runs as reading
from screens.runs.runs import RunsScreen
from screens.runs.table import RunTableView
from store.store import Store
from tests.screens.resting import burst, rests
from tests.screens.runs import HOSTILE, painted
from tests.screens.table.sample_runs import RUNS, WIDE, Made, made
from tests.screens.table.test_order import named

Until = Callable[..., Awaitable[None]]


@pytest.fixture
def filled(store: Store) -> Store:
    store.runs.add_all([made(run) for run in RUNS])
    return store


def runs(store: Store, settings: Settings | None = None) -> LabApp:
    return LabApp(store, settings or Settings(), Opening("runs"))


def room(app: LabApp) -> RunsScreen:
    assert isinstance(app.screen, RunsScreen)
    return app.screen


def ids(app: LabApp) -> str:
    """What is listed: runs by id, groups by name."""
    return " ".join(map(named, app.screen.query_one(RunTableView).arranged.lines))


def there(app: LabApp, count: int = 6) -> bool:
    return isinstance(app.screen, RunsScreen) and app.screen._whole and app.screen.table.arranged.runs == count


async def test_what_was_read_twice_before_a_page_was_taken_is_taken_once(
    filled: Store, until: Until, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = runs(filled)
    async with app.run_test(size=(120, 40)) as pilot:
        await until(pilot, lambda: there(app))
        rows, reads, held, free = type(filled.runs).rows, list[int](), Event(), Event()

        def hold_the_first(*args: Any, **more: Any) -> Any:
            page = rows(*args, **more)
            reads.append(len(page))
            if len(reads) == 1:
                held.set()
                assert free.wait(180)
            return page

        monkeypatch.setattr(type(filled.runs), "rows", hold_the_first)
        taken: list[int] = []
        monkeypatch.setattr(room(app), "lay_out", lambda **_: taken.append(len(room(app).entries)))
        filled.runs.add(made(Made("a7")))
        room(app).reload()
        await until(pilot, held.is_set)
        filled.runs.add(made(Made("a8")))
        room(app).reload()
        await until(pilot, lambda: taken == [8])
        free.set()
        room(app).reload()
        await until(pilot, lambda: not room(app).reading.busy)
        assert taken == [8]
        assert reads == [7, 8], "the same rows are not read again"


async def test_runs_are_listed_newest_first_with_what_they_cost_and_filtered_and_sorted(
    filled: Store, until: Until
) -> None:
    app = runs(filled)
    async with app.run_test(size=(200, 40)) as pilot:
        await until(pilot, lambda: there(app) and "16,040" in painted(app))
        assert ids(app) == "a6 a5 a4 a3 a2 a1"
        row = next(line for line in painted(app).splitlines() if "16,040" in line)
        for word in ("lunch", "qwen-72b", "ines", "knowu", " 4 ", " 1 ", "completed", "0.50", "$0.0160", "2025-03-04"):
            assert word in row
        assert "Runs  6" in painted(app)
        assert "the newest in this file first" in painted(app)
        assert set(room(app).costs) == {run.id for run in RUNS}
        await pilot.resize_terminal(120, 40)
        await until(pilot, lambda: app.size.width == 120 and there(app))
        await _a_wrong_field_is_said_in_its_place_and_what_stood_there_stands(app, pilot, until)
        await _sorting_and_back_by_keys_and_by_the_heading(app, pilot, until)


async def _a_wrong_field_is_said_in_its_place_and_what_stood_there_stands(
    app: LabApp, pilot: Any, until: Until
) -> None:
    await burst(pilot, "slash", *"score>=0 ")
    await until(pilot, lambda: there(app, 4))
    app.screen.query_one("#filter", Input).value = "agnt:qwen"
    await until(pilot, lambda: "there is no field 'agnt'; there are id, task, agent" in painted(app))
    assert there(app, 4)
    app.screen.query_one("#filter", Input).value = "zebra"
    await until(pilot, lambda: "Nothing fits this filter. Esc shows all runs." in painted(app))
    await until(pilot, lambda: "no field" not in painted(app))
    await pilot.press("escape")
    await until(pilot, lambda: there(app) and app.focused is room(app).table)


async def _sorting_and_back_by_keys_and_by_the_heading(app: LabApp, pilot: Any, until: Until) -> None:
    await pilot.press("s", "s")
    await until(pilot, lambda: "agent▲" in painted(app))
    assert ids(app) == "a4 a2 a5 a3 a1 a6"
    await pilot.press("S")
    await until(pilot, lambda: "task▲" in painted(app))
    lines = painted(app).splitlines()
    heading = next(i for i, line in enumerate(lines) if "task▲" in line)
    await pilot.click(offset=(lines[heading].index("score") + 2, heading))
    await until(pilot, lambda: "score▼" in painted(app))
    assert ids(app) == "a2 a1 a6 a3 a5 a4"
    await pilot.click(offset=(lines[heading].index("score") + 2, heading))
    await until(pilot, lambda: "score▲" in painted(app))
    assert ids(app) == "a3 a6 a1 a2 a5 a4"
    assert "sorted by score, the other way round" in painted(app)
    await pilot.press("R")
    await until(pilot, lambda: "score▼" in painted(app))


async def test_runs_are_grouped_and_two_are_marked_and_compared(filled: Store, until: Until) -> None:
    app = runs(filled)
    async with app.run_test(size=(120, 40), notifications=True) as pilot:
        await until(pilot, lambda: there(app))
        await _a_second_mark_opens_compare_and_escape_comes_back(app, pilot, until)
        await pilot.press("escape")
        await until(pilot, lambda: isinstance(app.screen, RunsScreen) and room(app).marked is None)
        await pilot.press("home")
        await _groups_are_opened_closed_and_counted(app, pilot, until)


async def _groups_are_opened_closed_and_counted(app: LabApp, pilot: Any, until: Until) -> None:
    await pilot.press("g")
    await until(pilot, lambda: "Runs  6   in 4 groups by task" in painted(app))
    lines = {line.split("│")[1].split()[1]: line for line in painted(app).splitlines() if "▸" in line}
    assert lines["lunch"].split()[3:7] == ["2", "0.75", "2", "-"]
    assert lines["mail"].split()[3:7] == ["2", "0.00", "1", "1"]
    assert "undefined" in lines["alarm"]
    assert "1 failed, 1 out of steps" in lines["mail"] or "1 out of steps, 1 failed" in lines["mail"]
    assert "Enter: open this group" in painted(app)
    room(app).table.go([named(line) for line in room(app).table.arranged.lines].index("[mail]"))
    await pilot.press("enter")
    await until(pilot, lambda: "[mail] a4 a3" in ids(app) and "Enter: close this group" in painted(app))
    await pilot.press("j", "c")
    await until(pilot, lambda: "◆ gpt-5 on mail" in painted(app))
    await pilot.press("k", "c")
    await until(pilot, lambda: "this line is a group" in painted(app))
    await pilot.press("enter", "O")
    await until(pilot, lambda: len(ids(app).split()) > 9)
    await pilot.press("g", "g", "g", "g", "g")
    await until(pilot, lambda: room(app).order.group == "" and ids(app) == "a6 a5 a4 a3 a2 a1")


async def _a_second_mark_opens_compare_and_escape_comes_back(app: LabApp, pilot: Any, until: Until) -> None:
    await pilot.press("C")
    await until(pilot, lambda: "no two runs are open" in painted(app))
    await pilot.press("j", "c")
    await until(pilot, lambda: "◆" in painted(app) and "c: unmark" in painted(app))
    await pilot.press("c")
    await until(pilot, lambda: room(app).marked is None)
    await pilot.press("c", "escape")
    await until(pilot, lambda: room(app).marked is None)
    await pilot.press("c", "j", "c")
    await until(pilot, lambda: isinstance(app.screen, CompareScreen) and app.screen.compared is not None)
    await pilot.press("escape")
    await until(pilot, lambda: isinstance(app.screen, RunsScreen) and room(app).marked is None)
    await pilot.press("C")
    await until(pilot, lambda: isinstance(app.screen, CompareScreen))


async def test_the_filter_is_kept_while_a_run_is_replayed_and_what_came_meanwhile_is_there_when_one_comes_back(
    filled: Store, until: Until
) -> None:
    app = runs(filled)
    async with app.run_test(size=(120, 40)) as pilot:
        await until(pilot, lambda: there(app))
        await burst(pilot, "slash", *"agent:qwen score<1", "enter")
        await until(pilot, lambda: ids(app) == "a3 a1")
        assert "Runs  2 of 6" in painted(app)
        await pilot.press("j", "enter")
        await until(pilot, lambda: isinstance(app.screen, ReplayScreen) and "Buy milk" in painted(app))
        await pilot.press("escape")
        await until(pilot, lambda: isinstance(app.screen, RunsScreen))
        assert ids(app) == "a3 a1"
        assert room(app).table.run is not None
        assert room(app).table.run.run.id == "a1"  # type: ignore[union-attr]
        await pilot.press("escape")
        await until(pilot, lambda: there(app))
        await pilot.press("escape")
        await until(pilot, lambda: isinstance(app.screen, HomeScreen))
        await pilot.press("T")
        await until(pilot, lambda: isinstance(app.screen, RunsScreen) and there(app))
        await pilot.press("home")
        await pilot.press("j", "y")
        assert app.clipboard == "a5"
        await pilot.press("f2")
        await until(pilot, lambda: isinstance(app.screen, HomeScreen))
        filled.runs.add(made(Made("b1")))
        filled.runs.append_event("a5", Ended(seq=2, status="completed", score=1.0))
        await pilot.press("T")
        await until(pilot, lambda: there(app, 7))
        assert room(app).table.run is not None
        assert room(app).table.run.run[:2] == (5, "a5")  # type: ignore[union-attr]
        assert room(app).table.run.run.status == "completed"  # type: ignore[union-attr]


async def test_costs_are_read_only_of_what_is_seen_until_they_are_sorted_by(store: Store, until: Until) -> None:
    store.runs.add_all([made(Made(f"r{i:03d}", tokens=i * 7 % 101 + 1)) for i in range(120)])
    app = runs(store)
    async with app.run_test(size=(120, 24)) as pilot:
        await until(pilot, lambda: there(app, 120) and len(room(app).costs) >= 15)
        await rests(pilot, lambda: "…" not in painted(app))
        assert len(room(app).costs) <= 80
        await pilot.press("end")
        await until(pilot, lambda: "r000" in room(app).costs)
        for _ in range(9):
            await pilot.press("s")
        await until(pilot, lambda: room(app).order.by == "tokens" and not room(app).unread_costs)
        first = room(app).table.arranged.lines[0].entry
        assert first is not None
        assert room(app).costs[first.run.id].tokens == max(cost.tokens or 0 for cost in room(app).costs.values())


async def test_pages_leave_out_none_and_what_stands_there_stays_until_all_is_read_anew(
    store: Store, until: Until, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reading, "FIRST", 3)
    monkeypatch.setattr(reading, "PAGE", 5)
    store.runs.add_all([made(Made(f"r{i:02d}")) for i in range(23)])
    app = runs(store)
    async with app.run_test(size=(120, 40)) as pilot:
        await until(pilot, lambda: there(app, 23))
        assert ids(app).split() == [f"r{i:02d}" for i in reversed(range(23))]
        store.runs.add(made(Made("r23")))
        laid: list[int] = []
        monkeypatch.setattr(room(app), "lay_out", lambda **_: laid.append(len(room(app).entries)))
        room(app).reload()
        await until(pilot, lambda: len(room(app).entries) == 24)
        assert laid == [24]


async def test_an_empty_file_names_the_next_key(store: Store, until: Until) -> None:
    app = runs(store)
    async with app.run_test(notifications=True) as pilot:
        await until(pilot, lambda: "No runs yet" in painted(app))
        assert "hitlab import PATH" in painted(app)
        for key in ("enter", "v", "c", "y", "g", "s", "c", "O", "slash", "enter"):
            await pilot.press(key)
        await until(pilot, lambda: "groups by name, their runs by task" in painted(app))
        assert "this line is a group" not in painted(app)
        await until(pilot, lambda: isinstance(app.screen, RunsScreen))


@pytest.mark.parametrize("seat", ["participant", "rater"])
async def test_who_may_not_see_outcomes_has_no_such_rooms(filled: Store, until: Until, seat: Any) -> None:
    app = LabApp(filled, Settings(seat=seat))
    async with app.run_test(size=(120, 40)) as pilot:
        await pilot.press("f11", "T")
        await until(pilot, lambda: app.current_mode == "home")
        commands = {command.title for command in app.get_system_commands(app.screen)}
        assert not commands & {"Runs", "Compared runs", "Table of runs"}
    with pytest.raises(Exception, match="is not there for the seat"):
        LabApp(filled, Settings(seat=seat), Opening("runs"))


async def test_hostile_and_wide_names_are_characters(filled: Store, until: Until) -> None:
    app = runs(filled)
    async with app.run_test(size=(160, 30)) as pilot:
        await until(pilot, lambda: there(app))
        seen = painted(app)
        assert "[bold red]not bold[/] \\x1b[31mred\\x1b]0;title\\x07" in seen
        assert "\x1b" not in seen
        assert WIDE[:4] in seen
        await pilot.press("g", "g", "c", "g", "g", "g", "g", "home", "c")
        await until(pilot, lambda: "◆ 界面模型" in painted(app) and "[bold red]" in painted(app))
        await pilot.press("slash", *HOSTILE[:10])
        await until(pilot, lambda: there(app, 1))


async def test_the_footer_has_seven_verbs_and_the_palette_all(filled: Store, until: Until) -> None:
    app = runs(filled)
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: there(app))
        verbs = ("Replay", "Filter", "Sort", "Group", "Compare", "Copy id", "Help")
        await until(pilot, lambda: all(word in painted(app).splitlines()[-1] for word in verbs))
        titles = {command.title for command in app.get_system_commands(app.screen)}
        assert {"Sort back", "Other way", "Open groups", "Compare again", "Compared runs", "Go to Runs"} <= titles
        await pilot.press("question_mark")
        await until(pilot, lambda: bool(app.screen.query("HelpPanel")))


@pytest.mark.parametrize(("size", "keys"), [((80, 24), ""), ((120, 40), "gk"), ((200, 60), "jc")])
def test_runs_looks_as_it_did(filled: Store, snap_compare: Any, size: tuple[int, int], keys: str) -> None:
    app = runs(filled)

    async def ready(pilot: Any) -> None:
        await rests(pilot, lambda: there(app))
        for key in keys:
            await pilot.press(key)
        await rests(pilot, lambda: not room(app).costing.busy)

    assert snap_compare(app, terminal_size=size, run_before=ready)


async def test_in_a_small_terminal_tasks_can_be_told_apart(store: Store, until: Until) -> None:
    for name in ("SharePhotoToMara", "SharePhotoToNoor"):
        events: list[AnyEvent] = [
            Started(trace=f"run-{name}", task=Task(name, "general"), agent=Actor("script", "rule")),
            Ended(status="completed", score=1.0),
        ]
        store.runs.add(Imported(number_events(events), {}, []))
    app = LabApp(store, Settings(), Opening("runs"))
    async with app.run_test(size=(64, 18)) as pilot:
        await until(pilot, lambda: "SharePhotoToMara" in painted(app) and "SharePhotoToNoor" in painted(app))
        assert "completed" in painted(app)


@pytest.mark.parametrize("language", ["en", "zh"])
async def test_a_name_longer_than_its_row_is_read_whole_by_keys(filled: Store, until: Until, language: str) -> None:
    title = {"en": "Order " + "a very long lunch " * 10, "zh": "订一份" + "很长的午餐" * 38}[language]
    events: list[AnyEvent] = [
        Started(trace="long", task=Task("t", "general", title=title + "!END"), agent=Actor("script", "rule")),
        Ended(status="completed", score=1.0),
    ]
    filled.runs.add(Imported(number_events(events), {}, []))
    app = runs(filled)
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: there(app, 7))
        for _ in range(7):
            if (entry := room(app).table.run) is not None and entry.run.id == "long":
                break
            await pilot.press("down")
        await until(pilot, lambda: title[40:60] in painted(app))
        if "!END" not in painted(app):
            await pilot.press("tab")
            await until(pilot, lambda: app.focused is not None and app.focused.id == "run-name")
            await until(pilot, lambda: "!END" in painted(app))
            await pilot.press("shift+tab")
            await until(pilot, lambda: app.focused is room(app).table)
        await pilot.press("end")
        await until(pilot, lambda: title[40:60] not in painted(app))
