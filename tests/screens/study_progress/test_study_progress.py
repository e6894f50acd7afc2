"""The room Progress: everybody's line, what comes in, the way to one rater's numbers, and who has no such room."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from lab.core.errors import LabError
from lab.core.settings import Settings
from lab.core.study.study import Study, Unit
from screens.app import LabApp
from screens.home.studies import StudyTable
from screens.navigation import Opening
from screens.raters.raters import RatersScreen
from screens.study_progress.study_progress import ProgressScreen
from store.copies.kit_export import make_kit
from store.store import Store
from tests.screens.runs import painted
from tests.screens.shared_apps import SharedApps
from tests.watched import answered, begun, did, handed_in

Until = Callable[..., Awaitable[None]]


@pytest.fixture
def study(store: Store) -> Study:
    """R1 has done most, R2 is held, R3 has not begun; R1 and R2 differ; a judge answered once."""
    plan = begun(store, 5, title="What [bold]is[/bold] right")
    for at in range(4):
        handed_in(store, plan, "R1", f"u{at}", 20 * at + 10)
    handed_in(store, plan, "R2", "u0", 10, "n")
    did(store, plan, "R2", "held", 20)
    answered(store, plan, "judge-1", "u0", 10, "y", kind="model", cost=0.02)
    return plan


def opened(
    store: Store, study: Study, settings: Settings | None = None, *, shared_apps: SharedApps | None = None
) -> LabApp:
    """The app in that room: the one that tests share, or one of its own."""
    opening, seat = Opening("progress", study=study), settings or Settings(person="D1")
    return LabApp(store, seat, opening) if shared_apps is None else shared_apps.open(store, seat, opening)


def room(app: LabApp) -> ProgressScreen:
    found = app.screen
    assert isinstance(found, ProgressScreen)
    return found


def read(app: LabApp) -> bool:
    return isinstance(app.screen, ProgressScreen) and app.screen.progress is not None


@pytest.mark.parametrize("size", [(64, 18), (80, 24), (120, 40), (200, 60)])
async def test_everybody_has_a_line_at_every_size(
    store: Store, study: Study, shared_apps: SharedApps, until: Until, size: tuple[int, int]
) -> None:
    app = opened(store, study, shared_apps=shared_apps)
    async with shared_apps.at(size) as pilot:
        await until(pilot, lambda: read(app) and "held" in painted(app))
        said = painted(app)
        assert "4/5" in said
        assert "What [bold]is[/bold] right" in said
        assert "10.0 s each" in said, "the line below says what a narrow table has no column for"
        assert room(app).people.count == 5
        await pilot.press("end")
        await until(pilot, lambda: "3 people   5/15 done" in painted(app))
        await until(pilot, lambda: "1 held 1 straggler" in " ".join(painted(app).split()))
        if size[0] >= 120:
            assert "$0.02" in said or "done by" in said
        if size[0] == 200:
            for title in ("work left", "pilot", "seen", "differs", "cost"):
                assert title in said


async def test_what_comes_in_is_shown_and_the_cursor_stays(
    store: Store, study: Study, shared_apps: SharedApps, until: Until
) -> None:
    app = opened(store, study, shared_apps=shared_apps)
    async with shared_apps.at((120, 40)) as pilot:
        await until(pilot, lambda: read(app))
        await pilot.press("down", "down")
        await until(pilot, lambda: "R3   0/5 done" in painted(app))
        handed_in(store, study, "R3", "u0", 500)
        room(app)._poll()
        await until(pilot, lambda: "R3   1/5 done" in painted(app))
        handed_in(store, study, "R3", "u1", 600)
        await pilot.press("r")
        await until(pilot, lambda: "R3   2/5 done" in painted(app))
        assert room(app).people.cursor == 2


async def test_enter_shows_that_raters_numbers_and_esc_leads_back(
    store: Store, study: Study, shared_apps: SharedApps, until: Until
) -> None:
    app = opened(store, study, shared_apps=shared_apps)
    async with shared_apps.at((120, 40)) as pilot:
        await until(pilot, lambda: read(app))
        await pilot.press("down", "enter")
        await until(pilot, lambda: isinstance(app.screen, RatersScreen) and app.screen.has_class("-one"))
        assert isinstance(app.screen, RatersScreen)
        assert app.screen.raters.current is not None
        assert app.screen.raters.current.rater == "R2"
        await pilot.press("escape")
        await until(pilot, lambda: not app.screen.has_class("-one"))
        await pilot.press("escape")
        await until(pilot, lambda: app.current_mode == "progress")
        assert room(app).people.cursor == 1
        await pilot.press("home", "enter")  # the room Raters is there already
        await until(pilot, lambda: app.current_mode == "raters" and "R1   person" in painted(app))
        await pilot.press("escape", "escape")
        await until(pilot, lambda: app.current_mode == "progress")
        await pilot.press("end", "enter")
        await until(pilot, lambda: app.current_mode == "raters" and not app.screen.has_class("-one"))


async def test_raters_that_were_opened_from_elsewhere_lead_home(
    store: Store, study: Study, shared_apps: SharedApps, until: Until
) -> None:
    app = opened(store, study, shared_apps=shared_apps)
    async with shared_apps.at((120, 40)) as pilot:
        await until(pilot, lambda: read(app))
        await pilot.press("end", "enter")
        await until(pilot, lambda: app.current_mode == "raters")
        app.open_numbers(study, "raters")
        await pilot.press("escape")
        await until(pilot, lambda: app.current_mode == "home")


async def test_w_on_a_study_in_home_shows_it(store: Store, study: Study, until: Until) -> None:
    app = LabApp(store, Settings(person="D1"), Opening("home"))
    async with app.run_test(size=(120, 40)) as pilot:
        await until(pilot, lambda: app.screen.query_one(StudyTable).count == 1)
        app.screen.query_one(StudyTable).focus()
        await until(pilot, lambda: "w: how far it is" in painted(app))
        await pilot.press("w")
        await until(pilot, lambda: read(app) and "R1   4/5 done" in painted(app))
        await pilot.press("a")
        await until(pilot, lambda: app.current_mode == "agreement")
        assert app.shown_studies["agreement"] == study.name


async def test_another_study_takes_the_place_of_the_first(
    store: Store, study: Study, shared_apps: SharedApps, until: Until
) -> None:
    other = begun(store, 2, ("P1",), id="other")
    app = opened(store, study, shared_apps=shared_apps)
    async with shared_apps.at((120, 40)) as pilot:
        await until(pilot, lambda: read(app))
        app.open_numbers(other, "progress")
        await until(pilot, lambda: "P1   0/2 done" in painted(app))
        assert "R1" not in painted(app)


async def test_questions_have_a_pane_of_their_own(
    store: Store, study: Study, shared_apps: SharedApps, until: Until
) -> None:
    app = opened(store, study, shared_apps=shared_apps)
    async with shared_apps.at((120, 40)) as pilot:
        await until(pilot, lambda: read(app))
        await pilot.press("tab")
        await until(pilot, lambda: "ok: people differ in 100 % of 1 items" in painted(app))


async def test_a_kit_says_why_nothing_is_shown(store: Store, until: Until, tmp_path: Path) -> None:
    plan = begun(store, 1, of=[Unit("u0")])
    make_kit(store, plan, "R1", tmp_path / "R1.db")
    with Store.open(tmp_path / "R1.db") as kit:
        app = LabApp(kit, Settings(person="D1"), Opening("progress", study=kit.studies.study("trial")))
        async with app.run_test(size=(120, 40)) as pilot:
            await until(pilot, lambda: "this file is a kit of R1" in painted(app))
            await pilot.press("enter", "y", "r")
            assert room(app).people.count == 0


@pytest.mark.parametrize("seat", ["rater", "participant"])
async def test_a_blind_seat_has_no_such_room(store: Store, study: Study, until: Until, seat: Any) -> None:
    settings = Settings(seat=seat, person="R1")
    with pytest.raises(LabError, match=f"is not there for the seat {seat}"):
        LabApp(store, settings, Opening("progress", study=study))
    app = LabApp(store, settings, Opening("home"))
    async with app.run_test(size=(120, 40)) as pilot:
        if seat == "rater":
            await until(pilot, lambda: app.screen.query_one(StudyTable).count == 1)
            app.screen.query_one(StudyTable).focus()
            assert "how far it is" not in painted(app)
        await pilot.press("w")
        await pilot.pause()
        assert app.current_mode == "home"
        assert not any("progress" in one.binding.action for one in app.screen.active_bindings.values() if one.enabled)
        with pytest.raises(LabError, match=f"is not there for the seat {seat}"):
            app.open_numbers(study, "progress")
        with pytest.raises(LabError, match=f"is not there for the seat {seat}"):
            app.open_rater(study, "R2")


async def test_a_strangers_words_are_plain(store: Store, shared_apps: SharedApps, until: Until) -> None:
    plan = begun(store, 2, title="[red]x[/]\x1b[31m")
    answered(store, plan, "[b]me[/b]\x1b[2J", "u0", 5, kind="model")
    app = opened(store, plan, shared_apps=shared_apps)
    async with shared_apps.at((120, 40)) as pilot:
        await until(pilot, lambda: read(app) and "[b]me[/b]" in painted(app))
        assert "[red]x[/]" in painted(app)
        assert "\x1b" not in painted(app)


async def test_help_is_there_and_every_key_has_an_id(
    store: Store, study: Study, shared_apps: SharedApps, until: Until
) -> None:
    app = opened(store, study, shared_apps=shared_apps)
    async with shared_apps.at((120, 60)) as pilot:
        await until(pilot, lambda: read(app))
        assert all(getattr(key, "id", None) and getattr(key, "tooltip", None) for key in ProgressScreen.BINDINGS)
        await pilot.press("question_mark")
        await until(pilot, lambda: bool(app.screen.query("HelpPanel")) and "items handed in" in painted(app))
        await pilot.press("escape")
        await until(pilot, lambda: not app.screen.query("HelpPanel"))
        assert isinstance(app.screen, ProgressScreen)
