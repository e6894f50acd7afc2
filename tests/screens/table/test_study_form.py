"""A study made in Runs: of what is selected, or of what the filter finds."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from lab.core.settings import Settings
from screens.app import LabApp
from screens.navigation import Opening
from screens.runs.runs import RunsScreen
from screens.runs.study_form import StudyForm
from store.store import Store
from tests.screens.resting import burst
from tests.screens.runs import WHOLE, painted

Until = Callable[..., Awaitable[None]]


async def test_a_selection_becomes_a_study_that_home_shows_and_deals(full: Store, until: Until) -> None:
    app = LabApp(full, Settings(person="D1", bell=False), Opening("runs"))
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: "Runs  3" in painted(app))
        screen = app.screen
        assert isinstance(screen, RunsScreen)
        run = screen.table.arranged
        screen.table.go(next(at for at, line in enumerate(run.lines) if line.entry and line.entry.run.id == WHOLE))
        await pilot.press("space")
        await until(pilot, lambda: "1 run selected" in painted(app))
        await pilot.press("n")
        await until(pilot, lambda: "A study of 1 run selected" in painted(app))
        form = app.screen
        assert isinstance(form, StudyForm)
        while form.fields.values["plan"] != "success":
            await pilot.press("left")
        await pilot.press("enter")
        await until(pilot, lambda: "field raters: there is none" in painted(app))
        assert "type study codes" in painted(app)
        assert "--raters" not in painted(app)
        await burst(pilot, "down", *"my pilot", "down", *"R1,", "space", *"R2")
        await pilot.press("enter")
        await until(pilot, lambda: "field name" in painted(app) and "my pilot" in painted(app))
        assert not full.studies.lines()
        await pilot.press("up")
        await burst(pilot, *["backspace"] * 6, *"-pilot")
        await pilot.press("enter")
        await until(pilot, lambda: [line.id for line in full.studies.lines()] == ["my-pilot"])
        study = full.studies.study("my-pilot")
        assert study.raters == ("R1", "R2")
        assert [unit.runs for unit in full.studies.units(study) if not unit.practice] == [(WHOLE,)]
        await until(pilot, lambda: app.current_mode == "home" and "Enter: deal it" in painted(app))
        await pilot.press("enter", "enter")
        await until(pilot, lambda: full.studies.progress(study, "R2").dealt == 1)


async def test_what_the_filter_finds_becomes_a_study_and_esc_makes_none(full: Store, until: Until) -> None:
    app = LabApp(full, Settings(person="D1", bell=False), Opening("runs"))
    async with app.run_test(size=(120, 40)) as pilot:
        await until(pilot, lambda: "Runs  3" in painted(app))
        await burst(pilot, "slash", *"lunch", "enter")
        await until(pilot, lambda: "Runs  1 of 3" in painted(app))
        await pilot.press("n")
        await until(pilot, lambda: "A study of 1 run that this filter finds" in painted(app))
        await pilot.press("escape")
        await until(pilot, lambda: "A study of" not in painted(app))
        assert not full.studies.lines()
        await burst(pilot, "slash", *"nosuch", "enter")
        await until(pilot, lambda: "Nothing fits" in painted(app))
        await pilot.press("n")
        await until(pilot, lambda: [note.message for note in app._notifications] == ["no run is listed."])
