"""The room Raters: all below one another, one opened with its numbers, plots and grid, and what it says when empty."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from lab.core.errors import LabError
from lab.core.settings import Settings
from lab.core.study.study import Study, Unit
from screens.app import LabApp
from screens.home.home import HomeScreen
from screens.navigation import Opening
from screens.raters.raters import RatersScreen
from store.store import Store
from tests.annotators.test_raters import ASKED, SAID, UNITS, sheets
from tests.rated import rated
from tests.screens.agreement.sample_study import made
from tests.screens.runs import painted
from tests.screens.shared_apps import SharedApps
from tests.studies import R1, frozen, label

Until = Callable[..., Awaitable[None]]


@pytest.fixture
def study(store: Store) -> Study:
    said: dict[str, Any] = {who: sheets(one) for who, one in SAID.items()}
    return rated(store, UNITS, ASKED, {**said, "model:glass": sheets("yyyyyy")}, title="What [bold]is[/bold] right")


def opened(
    store: Store, study: Study | None, settings: Settings | None = None, *, shared_apps: SharedApps | None = None
) -> LabApp:
    """The app in that room: the one that tests share, or one of its own."""
    opening, seat = Opening("raters", study=study) if study else Opening("home"), settings or Settings()
    return LabApp(store, seat, opening) if shared_apps is None else shared_apps.open(store, seat, opening)


def room(app: LabApp) -> RatersScreen:
    found = app.screen
    assert isinstance(found, RatersScreen)
    return found


def ready(app: LabApp) -> bool:
    return isinstance(app.screen, RatersScreen) and not app.screen.counting


@pytest.mark.parametrize("size", [(80, 24), (120, 40), (200, 60)])
async def test_all_are_below_one_another_with_what_sets_them_apart(
    store: Store, study: Study, shared_apps: SharedApps, until: Until, size: tuple[int, int]
) -> None:
    app = opened(store, study, shared_apps=shared_apps)
    async with shared_apps.at(size) as pilot:
        await until(pilot, lambda: ready(app) and "75.0 %" in painted(app))
        said = painted(app)
        assert "What [bold]is[/bold] right" in said
        assert "3 raters, 1 judge" in said
        assert "glass (judge)" in said
        assert "-50.0" in said
        why = "no interval: it is the largest it can be (n 3 in 3 runs)"
        await until(pilot, lambda: why in " ".join(painted(app).split()))
        await pilot.press("down")
        await until(pilot, lambda: "R2 person 6 of 6 items handed in, 6 answers" in " ".join(painted(app).split()))


async def test_enter_opens_one_and_brackets_go_from_one_to_the_next(
    store: Store, study: Study, shared_apps: SharedApps, until: Until
) -> None:
    app = opened(store, study, shared_apps=shared_apps)
    async with shared_apps.at((120, 40)) as pilot:
        await until(pilot, lambda: ready(app) and room(app).raters.count == 4)
        await pilot.press("down", "enter")
        await until(pilot, lambda: "halves: 100.0 %, 50.0 %" in painted(app))
        said = painted(app)
        assert "undefined: nothing" in said
        assert "longest row of the same answer: 2 of 6 (y to ok)" in said
        assert "R2 beside the rest" in said
        grid = room(app).grid.grid
        assert grid is not None
        assert grid.counts == ((2.0, 1.0), (0.0, 1.0))
        await pilot.press("right_square_bracket")
        await until(pilot, lambda: "R3 beside the rest" in painted(app))
        await pilot.press("left_square_bracket", "left_square_bracket")
        await until(pilot, lambda: "R1 beside the rest" in painted(app))
        await pilot.press("escape")
        await until(pilot, lambda: not room(app).has_class("-one") and room(app).raters.has_focus)
        assert room(app).raters.cursor == 0
        await pilot.press("escape")
        await until(pilot, lambda: isinstance(app.screen, HomeScreen))


async def test_the_line_below_says_why_there_is_no_number(
    store: Store, study: Study, shared_apps: SharedApps, until: Until
) -> None:
    app = opened(store, study, shared_apps=shared_apps)
    async with shared_apps.at((80, 24)) as pilot:
        await until(pilot, lambda: ready(app) and room(app).raters.count == 4)
        await pilot.press("enter", "down", "down")
        await until(pilot, lambda: "as gold: undefined: no gold" in painted(app))


async def test_the_grid_is_of_the_question_under_the_cursor(
    store: Store, shared_apps: SharedApps, until: Until
) -> None:
    app = opened(store, made(store), shared_apps=shared_apps)
    async with shared_apps.at((120, 40)) as pilot:
        await until(pilot, lambda: ready(app) and room(app).raters.count == 4)
        await pilot.press("enter")
        await until(pilot, lambda: room(app).one.count > 0 and room(app).grid.grid is not None)
        assert "rating" in [line.number.field for line in room(app).one.rows]
        grid = room(app).grid.grid
        assert grid is not None
        assert grid.title == "state"


async def test_a_rater_who_is_left_while_the_terminal_is_resized_is_not_drawn(
    store: Store, shared_apps: SharedApps, until: Until
) -> None:
    """What a new size has drawn comes after the key, and there may be no study any more."""
    app = opened(store, made(store), shared_apps=shared_apps)
    async with shared_apps.at((120, 40)) as pilot:
        await until(pilot, lambda: ready(app) and room(app).raters.count == 4)
        await pilot.press("enter")
        await until(pilot, lambda: room(app).has_class("-one"))
        study = room(app).study
        room(app).on_resize()
        room(app).action_back()
        room(app).study = None
        await until(pilot, lambda: not room(app)._callbacks and not room(app)._next_callbacks)
        assert app.is_running
        assert not room(app).has_class("-one")
        room(app).study = study


async def test_what_comes_in_is_told_and_r_recounts_it(
    store: Store, study: Study, shared_apps: SharedApps, until: Until
) -> None:
    app = opened(store, study, shared_apps=shared_apps)
    async with shared_apps.at((120, 40)) as pilot:
        await until(pilot, lambda: ready(app) and room(app).raters.count == 4)
        again = rated_more(store, study)
        room(app)._poll()
        await until(pilot, lambda: "r recounts" in painted(app))
        await pilot.press("r")
        await until(pilot, lambda: room(app).raters.rows[0].answers == again)
        assert "r recounts" not in painted(app)


def rated_more(store: Store, study: Study) -> int:
    """R1 answers one more item, which is dealt to them now; gives how many answers they then have."""
    from lab.core.study.study import Assignment

    store.studies.deal(study, [Assignment(study.id, 1, "R1", 6, "u1", "repeat", run=2)])
    store.labels.record(study, UNITS[0], label(study, UNITS[0], "", "ok", "y", run=2, rater=R1))
    from lab.core.study.label import Act

    store.labels.record_act(Act("in-again", study.id, 1, R1, "commit", "2026-05-01", "u1", 2))
    return 7


async def test_an_empty_study_names_what_to_do(store: Store, shared_apps: SharedApps, until: Until) -> None:
    app = opened(store, frozen(store, UNITS, ASKED, id="nobody", raters=()), shared_apps=shared_apps)
    async with shared_apps.at((200, 24)) as pilot:
        await until(pilot, lambda: "Nobody was dealt anything yet" in painted(app))
        await pilot.press("enter", "y", "right_square_bracket", "r")
        await until(pilot, lambda: ready(app) and "hitlab study deal nobody" in painted(app))


async def test_a_strangers_words_are_plain(store: Store, shared_apps: SharedApps, until: Until) -> None:
    units = [Unit(f"u{at}", runs=(f"r{at}",)) for at in range(4)]
    said: dict[str, Any] = {
        "R1": sheets("yyyy", units),
        "R2": sheets("yyyn", units),
        "model:[red]x[/]\x1b[31m": sheets("yyyy", units),
    }
    app = opened(store, rated(store, units, ASKED, said), shared_apps=shared_apps)
    async with shared_apps.at((120, 40)) as pilot:
        await until(pilot, lambda: ready(app) and "[red]x[/]" in painted(app))
        await pilot.press("end", "enter")
        await until(pilot, lambda: room(app).has_class("-one") and "[red]x[/]" in painted(app))
        assert "\x1b" not in painted(app)


@pytest.mark.parametrize("seat", ["rater", "participant"])
async def test_a_blind_seat_has_no_such_room(store: Store, study: Study, seat: Any) -> None:
    with pytest.raises(LabError, match=f"is not there for the seat {seat}"):
        LabApp(store, Settings(seat=seat, person="R9"), Opening("raters", study=study))
    app = LabApp(store, Settings(seat=seat, person="R9"), Opening("home"))
    async with app.run_test() as pilot:
        await pilot.press("f8")
        assert not isinstance(app.screen, RatersScreen)


async def test_help_is_there_and_every_key_has_an_id(
    store: Store, study: Study, shared_apps: SharedApps, until: Until
) -> None:
    app = opened(store, study, shared_apps=shared_apps)
    async with shared_apps.at((120, 40)) as pilot:
        await until(pilot, lambda: ready(app) and room(app).raters.count == 4)
        assert all(getattr(key, "id", None) and getattr(key, "tooltip", None) for key in RatersScreen.BINDINGS)
        await pilot.press("question_mark")
        await until(pilot, lambda: bool(app.screen.query("HelpPanel")) and "handed in" in painted(app))
        await pilot.press("escape")
        await until(pilot, lambda: not app.screen.query("HelpPanel"))
        assert isinstance(app.screen, RatersScreen)
