"""Starting a task from Home: a form with the choices of last time, which Enter takes; and what else is taken up."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot

from lab.core.last_choices import RunChoices, choices_file, last_choices
from lab.core.settings import Settings
from lab.core.study.study import Unit
from screens.app import LabApp
from screens.home.lists import Tasks
from screens.home.run_form import RunForm
from screens.home.studies import StudyTable
from screens.runs.runs import RunsScreen
from store.store import Store
from tests.screens.annotate.sample_studies import STARS, one_field, studied
from tests.screens.resting import burst
from tests.screens.runs import painted, whole_run

Until = Callable[..., Awaitable[None]]


def home(store: Store, monkeypatch: pytest.MonkeyPatch, started: list[Any], **settings: Any) -> LabApp:
    app = LabApp(store, Settings(bell=False, **settings))
    monkeypatch.setattr(app, "open_task", lambda name, choices: started.append((name, choices)))
    return app


async def to_form(pilot: Pilot[None], app: LabApp, until: Until, task: str = "usual_lunch") -> RunForm:
    """The form of a task, opened by Enter on its line."""
    await until(pilot, lambda: bool(app.screen.query(Tasks)) and app.screen.query_one(Tasks).count > 20)
    tasks = app.screen.query_one(Tasks)
    tasks.focus()
    tasks.go(next(at for at, row in enumerate(tasks.rows) if row.name == task))
    await pilot.press("enter")
    await until(pilot, lambda: isinstance(app.screen, RunForm))
    assert isinstance(app.screen, RunForm)
    return app.screen


async def test_enter_starts_at_once_and_each_field_can_be_chosen(
    store: Store, until: Until, monkeypatch: pytest.MonkeyPatch
) -> None:
    started: list[Any] = []
    app = home(store, monkeypatch, started)
    async with app.run_test(size=(120, 40)) as pilot:
        await to_form(pilot, app, until)
        for size in ((120, 40), (80, 24), (64, 18)):
            if app.size != size:
                await pilot.resize_terminal(*size)
            words = ("agent", "world", "Enter: start", "playbook")
            await until(pilot, lambda: app.screen.size == app.size and all(word in painted(app) for word in words))  # noqa: B023
        await pilot.press("enter")
        await until(pilot, lambda: started == [("usual_lunch", RunChoices())])
        await to_form(pilot, app, until)
        await pilot.press("right", "down", "right", "down", "down", "down", "right")  # a playbook, the script, the gate
        await until(pilot, lambda: "ask before each action" in painted(app))
        await pilot.press("enter")
        await until(pilot, lambda: len(started) == 2)
    name = next(iter(task_playbooks()))
    assert started[1][1] == RunChoices(agent=f"playbook:{name}", user="script", gate="ask")


def task_playbooks() -> list[str]:
    from simulators import library

    return [one.name for one in library.task("usual_lunch").playbooks]


async def test_the_next_task_begins_with_the_same_choices_also_after_a_restart(
    store: Store, until: Until, monkeypatch: pytest.MonkeyPatch
) -> None:
    started: list[Any] = []
    app = home(store, monkeypatch, started)
    async with app.run_test(size=(80, 24)) as pilot:
        await to_form(pilot, app, until)
        await pilot.press("right", "down", "right", "enter")
        await until(pilot, lambda: len(started) == 1)
    assert last_choices().run.user == "script"
    again = home(store, monkeypatch, started)
    async with again.run_test(size=(80, 24)) as pilot:
        await to_form(pilot, again, until, "way_home")
        await until(pilot, lambda: "the task's script" in painted(again))
        await pilot.press("enter")
        await until(pilot, lambda: started[1:] == [("way_home", RunChoices(user="script"))])


async def test_a_name_is_typed_and_pasted_and_what_is_missing_is_said(
    store: Store, until: Until, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    started: list[Any] = []
    app = home(store, monkeypatch, started)
    async with app.run_test(size=(100, 24)) as pilot:
        form = await to_form(pilot, app, until)
        while form.fields.choice(form.fields.field).value != "model:":
            await pilot.press("right")
        await pilot.press("enter")
        await until(pilot, lambda: "agent: has no name yet" in painted(app))
        await burst(pilot, *"openai/jk-5", "x", "backspace")
        await until(pilot, lambda: "OPENAI_API_KEY" in painted(app))
        await pilot.press("enter")
        await until(pilot, lambda: "cannot be asked" in painted(app))
        assert isinstance(app.screen, RunForm)
        assert started == []
        monkeypatch.setenv("OPENAI_API_KEY", "k")
        await pilot.press("enter")
        await until(pilot, lambda: started == [("usual_lunch", RunChoices(agent="model:openai/jk-5"))])


async def test_esc_starts_nothing_and_keeps_nothing(
    store: Store, until: Until, monkeypatch: pytest.MonkeyPatch
) -> None:
    started: list[Any] = []
    app = home(store, monkeypatch, started)
    async with app.run_test(size=(80, 24)) as pilot:
        await to_form(pilot, app, until)
        await pilot.press("right", "escape")
        await until(pilot, lambda: not isinstance(app.screen, RunForm))
    assert started == []
    assert not choices_file().exists()


async def test_runs_are_sorted_and_grouped_as_they_were_left(store: Store, until: Until) -> None:
    store.runs.add(whole_run())
    app = LabApp(store, Settings(bell=False))
    async with app.run_test(size=(120, 40)) as pilot:
        await pilot.press("f11")
        await until(pilot, lambda: isinstance(app.screen, RunsScreen) and app.screen.table.count > 0)
        await pilot.press("s", "R", "g")
        order = app.screen.order  # type: ignore[attr-defined]
    assert (order.by, order.reversed, order.group) == ("task", True, "task")
    again = LabApp(store, Settings(bell=False))
    async with again.run_test(size=(120, 40)) as pilot:
        await pilot.press("f11")
        await until(pilot, lambda: isinstance(again.screen, RunsScreen) and again.screen.table.count > 0)
        assert again.screen.order == order  # type: ignore[attr-defined]


async def test_home_begins_on_the_study_that_it_was_left_on_and_keeps_no_name_of_it(store: Store, until: Until) -> None:
    store.runs.add(whole_run())
    for id in ("first-secret", "second-secret", "third-secret"):
        studied(store, one_field(STARS), [Unit("u1", ("x",))], id=id)
    app = LabApp(store, Settings(bell=False))

    def table(app: LabApp) -> StudyTable:
        return app.screen.query_one(StudyTable)

    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: bool(app.screen.query(StudyTable)) and table(app).count == 3)
        table(app).focus()
        await pilot.press("down", "down")
        left = table(app).current
        assert left is not None
    again = LabApp(store, Settings(bell=False))
    async with again.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: bool(again.screen.query(StudyTable)) and table(again).count == 3)
        await until(pilot, lambda: table(again).current.line.id == left.line.id)  # type: ignore[union-attr]
    assert "secret" not in choices_file().read_text()


@pytest.mark.parametrize("seat", ["rater", "participant"])
async def test_a_rater_s_and_a_participant_s_app_keep_and_take_up_nothing(
    store: Store, until: Until, seat: str, tmp_path: Path
) -> None:
    store.runs.add(whole_run())
    choices_file().parent.mkdir(parents=True, exist_ok=True)
    choices_file().write_text('{"after": true, "sort": "steps", "study": "x"}')
    before = choices_file().read_bytes()
    app = LabApp(store, Settings(bell=False, seat=seat))  # type: ignore[arg-type]
    async with app.run_test(size=(80, 24)) as pilot:
        from screens.choice_memory import recall, remember

        await pilot.pause()
        assert recall(app.screen).sort == ""
        remember(app.screen, sort="score")
    assert choices_file().read_bytes() == before
