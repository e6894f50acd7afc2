"""What is asked before a demonstration, and what the command refuses."""

from __future__ import annotations

from typing import Any

import pytest

from lab.cli.main import main
from lab.core.run.trace import Started
from lab.core.settings import UNNAMED, Settings
from lab.core.task.task import Actor, Task
from lab.runs.spec import PERSON, Spec
from screens.app import LabApp
from screens.navigation import Opening
from screens.record.intent import DemonstrationRequest, IntentScreen
from screens.record.next_act import ActionDesk
from screens.record.record import RecordScreen
from store.store import Store
from tests.screens.resting import burst


def app_for(store: Store, task: Task, **asked: Any) -> LabApp:
    return LabApp(store, Settings(), Opening("live", ask=DemonstrationRequest(Spec(task, agent=PERSON), **asked)))


def shows(app: LabApp, text: str) -> bool:
    return any(text in strip.text for strip in app.screen._compositor.render_strips())


async def recorded(app: LabApp, pilot: Any, until: Any) -> Task:
    """The task that is recorded in the end."""
    await until(
        pilot, lambda: isinstance(app.screen, RecordScreen) and any(desk.ready for desk in app.screen.query(ActionDesk))
    )
    assert app.session is not None
    app.session.leave()
    return app.session.spec.task


async def test_intent_and_place_are_asked_for(store: Store, until: Any) -> None:
    app = app_for(store, Task("demo-1", "general"))
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: isinstance(app.screen, IntentScreen) and shows(app, "residence"))
        await pilot.press("enter")
        await until(pilot, lambda: shows(app, "Say first what you want to do."))
        await burst(pilot, *"Tell Noor", "enter", "4")
        task = await recorded(app, pilot, until)
    assert (task.instruction, task.place) == ("Tell Noor", "dining place")
    started = next(store.runs.events(app.session.trace_id))  # type: ignore[union-attr]
    assert isinstance(started, Started)
    assert started.task == task


async def test_a_place_in_ones_own_words(store: Store, until: Any) -> None:
    app = app_for(store, Task("demo-1", "general"), intent="Tell Noor")
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: isinstance(app.screen, IntentScreen) and shows(app, "Tell Noor"))
        await pilot.press("end", "enter", "enter")
        await until(pilot, lambda: shows(app, "Write the kind of place"))
        await burst(pilot, *"a  ferry", "enter")
        task = await recorded(app, pilot, until)
    assert task.place == "a ferry"


async def test_a_tasks_instruction_stands(store: Store, until: Any) -> None:
    task = Task("t", "general", instruction="Turn the light on.")
    app = app_for(store, task, own=False)
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: isinstance(app.screen, IntentScreen) and shows(app, "Turn the light on."))
        assert not app.screen.query("#intent-text")
        await pilot.press("2")
        got = await recorded(app, pilot, until)
    assert (got.id, got.instruction, got.place, got.budget) == ("t", "Turn the light on.", "office", 500)


async def test_nothing_is_asked_where_all_is_said(store: Store, until: Any) -> None:
    app = app_for(store, Task("t", "general", instruction="x", place="home"), own=False)
    runs: list[str] = []
    app.on_recording = runs.append
    async with app.run_test(size=(80, 24)) as pilot:
        assert (await recorded(app, pilot, until)).place == "home"
        assert app.session is not None
        assert runs == [app.session.trace_id]


async def test_the_form_is_left_by_escape(store: Store, until: Any) -> None:
    app = app_for(store, Task("demo-1", "general"))
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: isinstance(app.screen, IntentScreen))
        await pilot.press("escape")
        await until(pilot, lambda: app.current_mode == "home")
    assert not store.runs.summaries()


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (["--resume", "x", "--intent", "y"], "--resume goes on with a recording as it is"),
        (["--intent", "x" * 501, "--place", "y"], "the intent: has 501 characters"),
        (["no_such_task"], "there is none of that name"),
        (["--intent", "x", "--place", "y"], "there is no terminal here"),
    ],
)
def test_the_command_refuses_with_a_sentence(capsys: Any, tmp_path: Any, args: list[str], said: str) -> None:
    assert main(["record", *args, "--db", str(tmp_path / "x.db")]) in (1, 2)
    assert said in capsys.readouterr().err


def test_a_rater_records_nothing(capsys: Any, tmp_path: Any, monkeypatch: Any) -> None:
    monkeypatch.setenv("HITLAB_SEAT", "rater")
    assert main(["record", "--db", str(tmp_path / "x.db")]) == 1
    assert "not there for the seat rater" in capsys.readouterr().err


def test_no_demonstration_goes_on_without_a_person(capsys: Any, tmp_path: Any) -> None:
    with Store.open(tmp_path / "x.db") as store:
        from lab.runs.session import Session

        session = Session(store, Spec(Task("t", "general", instruction="Do it."), agent=PERSON))
        session.start()
        session.leave()
        run = session.trace_id
        assert store.runs.trace(run).agent == Actor("human", UNNAMED)
    code = main(["live", "--resume", run, "--headless", "--user", "script:usual_lunch", "--db", str(tmp_path / "x.db")])
    assert code == 2
    assert "needs a person at a terminal" in capsys.readouterr().err
    assert main(["show", run, "--db", str(tmp_path / "x.db")]) == 0
    out = capsys.readouterr().out
    assert f"hitlab record --resume {run} goes on" in out
