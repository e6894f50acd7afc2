"""The room Agreement with a study whose raters differ at known items: numbers, pairs, grid, items, replay and back."""

from __future__ import annotations

import threading
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from textual.binding import Binding
from textual.widgets import Input

import lab.studies.progress.study_data
from lab.core.settings import Settings
from lab.core.task.task import Actor
from screens.agreement.agreement import AgreementScreen
from screens.app import LabApp
from screens.home.home import HomeScreen
from screens.navigation import Opening
from screens.replay.replay import ReplayScreen
from screens.replay.timeline import Timeline
from store.store import Store
from tests.rated import hand_in
from tests.screens.agreement.sample_study import NOT, RUNS, made, units
from tests.screens.runs import painted
from tests.screens.shared_apps import SharedApps
from tests.studies import frozen, label

Until = Callable[..., Awaitable[None]]


def opened(
    store: Store, study: Any, settings: Settings | None = None, *, shared_apps: SharedApps | None = None
) -> LabApp:
    """The app in the room of that study's numbers: the one that tests share, or one of its own."""
    opening = Opening("agreement", study=study)
    return (
        LabApp(store, settings or Settings(), opening)
        if shared_apps is None
        else shared_apps.open(store, Settings(), opening)
    )


def room(app: LabApp) -> AgreementScreen:
    found = app.screen
    assert isinstance(found, AgreementScreen)
    return found


def ready(app: LabApp) -> bool:
    """Whether numbers, pairs and grid are there."""
    it = app.screen
    return isinstance(it, AgreementScreen) and not it.counting and bool(it.fields.count) and it.beneath.grid.has_cells


def replayed(app: LabApp) -> str:
    """The run that is replayed."""
    assert isinstance(app.screen, ReplayScreen)
    assert app.screen.footage.run is not None
    return app.screen.footage.run


def at(app: LabApp, statistic: str, part: str = "before") -> int:
    """The line of a statistic of `state`."""
    rows = room(app).fields.rows
    return next(i for i, one in enumerate(rows) if (one.field, one.statistic, one.part) == ("state", statistic, part))


@pytest.mark.parametrize("size", [(80, 24), (120, 40), (200, 60)])
async def test_fields_by_statistics_with_value_interval_words_and_n(
    store: Store, shared_apps: SharedApps, until: Until, size: tuple[int, int]
) -> None:
    app = opened(store, made(store), shared_apps=shared_apps)
    async with shared_apps.at(size) as pilot:
        await until(pilot, lambda: ready(app))
        room(app).fields.go(at(app, "fleiss kappa"))
        await until(pilot, lambda: "0.663 [0.0" in painted(app) and "12 items, 6 runs" in painted(app))
        whole = painted(app)
        line = next(row for row in whole.splitlines() if "Fleiss' kappa" in row)
        for word in ("state (before)", "0.66", "├", "●", "┤", "0.04–0.88"):
            assert word in line
        assert (" 12 " in line) is (size[0] > 80)
        assert "jackknife over 6 runs" in whole
        assert "12 items, 6 runs, 3 raters, none missing" in whole
        assert "slight to almost" in whole
        assert "3 raters, 1 judge" in whole
        assert "nan" not in whole


async def test_undefined_is_said_in_words(store: Store, shared_apps: SharedApps, until: Until) -> None:
    app = opened(store, made(store), shared_apps=shared_apps)
    async with shared_apps.at((120, 40)) as pilot:
        await until(pilot, lambda: ready(app))
        rows = room(app).fields.rows
        place = next(i for i, one in enumerate(rows) if (one.field, one.statistic) == ("seen", "fleiss kappa"))
        room(app).fields.go(place)
        await until(pilot, lambda: "undefined: one category" in painted(app))
        assert room(app).fields.paint(place, 110).plain.split()[-2:] == ["one", "category"]


async def test_pairs_and_grid_are_of_the_line_above_and_the_grid_of_the_pair(
    store: Store, shared_apps: SharedApps, until: Until
) -> None:
    app = opened(store, made(store), shared_apps=shared_apps)
    async with shared_apps.at((120, 40)) as pilot:
        await until(pilot, lambda: ready(app))
        it = room(app)
        assert [one.between for one in it.beneath.pairs.rows] == ["people", "R1 and R2", "R1 and R3", "R2 and R3"]
        assert [round(one.value or 0, 2) for one in it.beneath.pairs.rows[1:]] == [0.83, 0.66, 0.50]
        assert it.beneath.grid.grid is not None
        assert it.beneath.grid.grid.counts == ((17.0, 3.0), (3.0, 13.0))
        await pilot.press("tab", "down")
        await until(pilot, lambda: "R1 × R2" in painted(app))
        assert sum(map(sum, it.beneath.grid.grid.counts)) == 12
        assert (it.beneath.grid.grid.down_is, it.beneath.grid.grid.across_is) == ("R1", "R2")
        await pilot.press("enter")
        await until(pilot, lambda: it.items.count == 1)
        assert it.items.rows[0].unit == "u4"


async def test_a_question_without_categories_says_so_in_place_of_its_grid(
    store: Store, shared_apps: SharedApps, until: Until
) -> None:
    app = opened(store, made(store), shared_apps=shared_apps)
    async with shared_apps.at((120, 40)) as pilot:
        await until(pilot, lambda: ready(app))
        it = room(app)
        it.fields.go(next(i for i, one in enumerate(it.fields.rows) if one.field == "rating"))
        await until(pilot, lambda: "answered by no categories" in painted(app))
        assert not it.beneath.grid.has_cells
        assert it.beneath.pairs.count == 4


async def test_enter_lists_the_items_and_replays_one_at_its_evidence_and_back_to_the_exact_place(
    store: Store, shared_apps: SharedApps, until: Until
) -> None:
    app = opened(store, made(store), shared_apps=shared_apps)
    async with shared_apps.at((120, 40)) as pilot:
        await until(pilot, lambda: ready(app))
        await pilot.press("down", "down", "enter")
        it = room(app)
        await until(pilot, lambda: it.items.count == 3)
        assert [(one.unit, one.target) for one in it.items.rows] == [("u2", "pay"), ("u4", "open"), ("u5", "pay")]
        assert "completed: R1@2 R3@5 glass@1 | not_completed: R2@3" in painted(app)
        await pilot.press("down", "enter")
        await until(pilot, lambda: isinstance(app.screen, ReplayScreen))
        await until(pilot, lambda: app.screen.query_one(Timeline).cursor == 2)  # R2's, who stood against most
        assert replayed(app) == RUNS[4]
        await pilot.press("escape")
        await until(pilot, lambda: app.screen is it)
        assert (it.items.cursor, it.fields.cursor, app.focused) == (1, 2, it.items)
        await pilot.press("escape")
        assert (app.focused, it.fields.cursor) == (it.fields, 2)
        assert not it.items.display
        await pilot.press("escape")
        await until(pilot, lambda: isinstance(app.screen, HomeScreen))


async def test_a_cell_of_the_grid_lists_its_items_by_key_and_by_mouse(
    store: Store, shared_apps: SharedApps, until: Until
) -> None:
    app = opened(store, made(store), shared_apps=shared_apps)
    async with shared_apps.at((120, 40)) as pilot:
        await until(pilot, lambda: ready(app))
        it = room(app)
        await pilot.press("tab", "tab", "right", "enter")
        await until(pilot, lambda: it.items.count == 3)
        assert "completed × not_completed" in painted(app)
        await pilot.press("escape")
        assert app.focused is it.beneath.grid
        await pilot.press("left")
        lines = painted(app).splitlines()
        y = next(i for i, row in enumerate(lines) if "[13]" in row)
        await pilot.click(offset=(lines[y].index("[13]"), y))
        await until(pilot, lambda: it.beneath.grid.at == (1, 1))
        await pilot.click(offset=(lines[y].index("[13]"), y), times=2)
        await until(pilot, lambda: it.items.count >= 5 and it.items.display)


async def test_judges_stand_against_most_people_with_their_grid_and_items(
    store: Store, shared_apps: SharedApps, until: Until
) -> None:
    app = opened(store, made(store), shared_apps=shared_apps)
    async with shared_apps.at((120, 40)) as pilot:
        await until(pilot, lambda: ready(app))
        it = room(app)
        await pilot.press("p")
        await until(pilot, lambda: it.beneath.grid.grid is not None and it.beneath.grid.grid.down_is == "truth")
        assert {one.between for one in it.fields.rows if one.field == "state"} == {"glass against most people"}
        assert [one.between for one in it.beneath.pairs.rows] == ["glass against most people"]
        lines = painted(app).splitlines()
        named = next(at for at, line in enumerate(lines) if "state (before)" in line)
        assert "glass" in lines[named] + lines[named + 1]
        await pilot.press("enter")
        await until(pilot, lambda: [(one.unit, one.target) for one in it.items.rows] == [("u1", "pay")])
        await pilot.press("escape", "p")
        await until(pilot, lambda: it.beneath.pairs.count == 4)


async def test_parts_and_statistics_are_chosen_one_by_one_and_all_come_back(
    store: Store, shared_apps: SharedApps, until: Until
) -> None:
    app = opened(store, made(store), shared_apps=shared_apps)
    async with shared_apps.at((120, 40)) as pilot:
        await until(pilot, lambda: ready(app))
        it = room(app)
        everything = it.fields.count
        await pilot.press("d")
        assert {one.part for one in it.fields.rows if one.field == "state"} == {
            "before", "fixed, before", "flexible, before",
        }  # fmt: skip
        await pilot.press("d")
        assert it.view.part == "after"
        for _ in range(3):
            await pilot.press("d")
        assert (it.view.part, it.fields.count) == ("", everything)
        await pilot.press("s")
        assert {one.statistic for one in it.fields.rows} == {"percent"}
        await pilot.press("S")
        assert it.fields.count == everything


async def test_b_resamples_runs_and_goes_back(store: Store, shared_apps: SharedApps, until: Until) -> None:
    app = opened(store, made(store), shared_apps=shared_apps)
    async with shared_apps.at((120, 40)) as pilot:
        await until(pilot, lambda: ready(app))
        await pilot.press("b")
        await until(pilot, lambda: ready(app) and "2,000 resamples of 6 runs, seed 0" in painted(app))
        await pilot.press("b")
        await until(pilot, lambda: ready(app) and "jackknife over 6 runs" in painted(app))


async def test_the_planner_says_how_many_runs_and_what_is_no_width(
    store: Store, shared_apps: SharedApps, until: Until
) -> None:
    app = opened(store, made(store), shared_apps=shared_apps)
    async with shared_apps.at((80, 24)) as pilot:
        await until(pilot, lambda: ready(app))
        await pilot.press("down", "down", "w")
        await until(pilot, lambda: "runs in all" in painted(app) and "An estimate" in painted(app))
        assert isinstance(app.focused, Input)
        await pilot.press(*"2")
        await until(pilot, lambda: "2.00 is reached already" in painted(app))
        await pilot.press("backspace", *"wide")
        await until(pilot, lambda: "! a width is a number from 0.001 to 2" in painted(app))
        await pilot.press("escape")
        assert room(app).fields.has_focus
        assert "Interval no wider" not in painted(app)


async def test_answers_that_came_in_meanwhile_are_said_and_r_recounts(
    store: Store, shared_apps: SharedApps, until: Until
) -> None:
    study = made(store, open=[("R3", "u5")])
    app = opened(store, study, shared_apps=shared_apps)
    async with shared_apps.at((120, 40)) as pilot:
        await until(pilot, lambda: ready(app))
        it = room(app)
        before = it.fields.rows[at(app, "percent exact")].places
        unit = units()[5]
        store.labels.record(study, unit, label(study, unit, "pay", "seen", True, rater=Actor("human", "R3")))
        hand_in(store, study, "R3", "u5")
        it._poll()
        await until(pilot, lambda: "1 newer answer: r recounts" in painted(app))
        assert it.fields.rows[at(app, "percent exact")].places == before
        await pilot.press("r")
        await until(pilot, lambda: ready(app) and "newer" not in painted(app))
        assert it.fields.rows[at(app, "percent exact")].raters == 3


async def test_what_was_computed_last_stands_at_once_while_newer_answers_are_counted(
    store: Store, until: Until, monkeypatch: pytest.MonkeyPatch
) -> None:
    study = made(store, open=[("R3", "u5")])
    first = opened(store, study)
    async with first.run_test(size=(120, 40)) as pilot:
        await until(pilot, lambda: ready(first))
    hand_in(store, study, "R3", "u5")
    let, agreed = threading.Event(), lab.studies.progress.study_data.study_agreements

    def held(*of: Any) -> Any:
        let.wait(180)
        return agreed(*of)

    monkeypatch.setattr(lab.studies.progress.study_data, "study_agreements", held)
    app = opened(store, study)
    async with app.run_test(size=(120, 40)) as pilot:
        try:
            await until(pilot, lambda: room(app).fields.count > 0)
            assert room(app).counting
            await until(pilot, lambda: "counting more was said or handed in" in painted(app))
            await pilot.press("down", "down")  # the keys work meanwhile
            assert room(app).fields.cursor == 2
        finally:
            let.set()
        await until(pilot, lambda: ready(app))
        assert room(app).fields.cursor == 2


async def test_while_nothing_is_computed_yet_it_says_what_is_read(
    store: Store, until: Until, monkeypatch: pytest.MonkeyPatch
) -> None:
    study = made(store)
    let, gathered = threading.Event(), lab.studies.progress.study_data.load_study_data
    monkeypatch.setattr(
        lab.studies.progress.study_data, "load_study_data", lambda *of: (let.wait(180), gathered(*of))[1]
    )
    app = opened(store, study)
    async with app.run_test(size=(120, 40)) as pilot:
        try:
            await until(pilot, lambda: "Reading the answers of trial v1" in painted(app))
            assert "counting the answers" in painted(app)
        finally:
            let.set()
        await until(pilot, lambda: ready(app))


@pytest.mark.parametrize(
    ("raters", "said", "following"),
    [
        ((), "Nobody's answers are handed in yet", "hitlab study rate trial --person CODE"),
        (("R1",), "Only R1 has answered", "hitlab study deal"),
    ],
)
async def test_where_nothing_can_be_said_a_sentence_names_the_next_step(
    store: Store, shared_apps: SharedApps, until: Until, raters: tuple[str, ...], said: str, following: str
) -> None:
    study = made(store, raters=raters) if raters else frozen(store, units(), made_protocol())
    app = opened(store, study, shared_apps=shared_apps)
    async with shared_apps.at((80, 24)) as pilot:
        await until(pilot, lambda: said in painted(app) and following in painted(app))
        assert not app.screen.query_one("#agreement-beneath").display
        assert "0.00" not in painted(app)
        await pilot.press("enter", "escape", "w", "escape", "b", "s", "d", "p")
        await until(pilot, lambda: not room(app).counting)


def made_protocol() -> Any:
    from tests.screens.agreement.sample_study import STEPS

    return STEPS


async def test_no_overlap_is_a_sentence(store: Store, shared_apps: SharedApps, until: Until) -> None:
    from tests.rated import rated
    from tests.screens.agreement.sample_study import STEPS, sheet

    said = {"R1": {"u0": sheet("R1", 0)}, "R2": {"u1": sheet("R2", 1)}}
    app = opened(store, rated(store, units()[:2], STEPS, said), shared_apps=shared_apps)
    async with shared_apps.at((80, 24)) as pilot:
        await until(pilot, lambda: "No item was answered by two people" in painted(app))


async def test_an_item_without_a_run_says_where_it_is_settled(store: Store, until: Until) -> None:
    import msgspec

    from tests.rated import rated
    from tests.screens.agreement.sample_study import STEPS

    bare = [msgspec.structs.replace(one, runs=(), cluster=one.id) for one in units()[:3]]
    said = {
        rater: {one.id: {("open", "state"): value, ("pay", "state"): NOT, ("", "rating"): 5} for one in bare}
        for rater, value in (("R1", "completed"), ("R2", NOT))
    }
    app = opened(store, rated(store, bare, STEPS, said))
    async with app.run_test(size=(120, 40), notifications=True) as pilot:
        await until(pilot, lambda: ready(app))
        await pilot.press("enter")
        await until(pilot, lambda: room(app).items.count == 3)
        await pilot.press("enter")
        await until(pilot, lambda: "has no run to be replayed" in painted(app))
        assert isinstance(app.screen, AgreementScreen)


@pytest.mark.parametrize("seat", ["rater", "participant"])
async def test_the_room_is_not_there_for_who_rates_or_takes_part(store: Store, until: Until, seat: str) -> None:
    study = made(store)
    app = LabApp(store, Settings(person="R1", seat=seat))  # type: ignore[arg-type]
    async with app.run_test(size=(120, 40)) as pilot:
        assert not app.has_room("agreement")
        await pilot.press("f6")
        await pilot.pause()
        assert not isinstance(app.screen, AgreementScreen)
        assert not any("greement" in one.title for one in app.get_system_commands(app.screen))
    from lab.core.errors import LabError

    with pytest.raises(LabError, match="is not there for the seat"):
        opened(store, study, Settings(person="R1", seat=seat))  # type: ignore[arg-type]


async def test_every_key_has_an_id_the_footer_seven_verbs_and_each_pane_its_help(
    store: Store, shared_apps: SharedApps, until: Until
) -> None:
    app = opened(store, made(store), shared_apps=shared_apps)
    async with shared_apps.at((120, 40)) as pilot:
        await until(pilot, lambda: ready(app))
        it = room(app)
        for widget in (it.fields, it.beneath.pairs, it.beneath.grid):
            widget.focus()
            await pilot.pause()
            active = [one for one in it.active_bindings.values() if one.enabled and not one.binding.system]
            assert all(isinstance(one, Binding) and one.id for one in (*it.BINDINGS, *widget.BINDINGS))
            assert len({one.binding.action for one in active if one.binding.show}) <= 7
            assert widget.HELP.strip().startswith("#")
        await pilot.press("enter")
        await until(pilot, lambda: it.items.count > 0)
        assert it.items.HELP.strip().startswith("#")
        titles = {one.title for one in app.get_system_commands(app.screen)}
        assert {"Part", "People/judges", "Statistic", "Intervals", "Plan", "Recount", "Copy number"} <= titles


async def test_another_study_takes_the_place_of_the_one_before(
    store: Store, shared_apps: SharedApps, until: Until
) -> None:
    first = made(store)
    second = frozen(store, units(), made_protocol(), id="second")
    app = opened(store, first, shared_apps=shared_apps)
    async with shared_apps.at((120, 40)) as pilot:
        await until(pilot, lambda: ready(app))
        await pilot.press("enter")
        await until(pilot, lambda: room(app).items.count == 3)
        app.open_numbers(second)
        await until(pilot, lambda: "Nobody's answers are handed in yet" in painted(app))
        await until(pilot, lambda: "No two answers came together" in room(app).beneath.grid.empty)
        assert not room(app).beneath.grid.has_cells
        app.open_numbers(first)
        await until(pilot, lambda: ready(app))
        assert room(app).beneath.pairs.count == 4
        await pilot.press("w")
        await until(pilot, lambda: "Interval no wider" in painted(app))
        app.open_numbers(second)
        await until(pilot, lambda: "Nobody's answers are handed in yet" in painted(app))
        assert "Interval no wider" not in painted(app)


async def test_answers_are_read_once_for_all_that_is_made_of_them(
    store: Store, until: Until, monkeypatch: pytest.MonkeyPatch
) -> None:
    study, gathered = made(store), lab.studies.progress.study_data.load_study_data
    reads: list[str] = []

    def read(*of: Any) -> Any:
        reads.append(of[1].id)
        return gathered(*of)

    monkeypatch.setattr(lab.studies.progress.study_data, "load_study_data", read)
    app = opened(store, study)
    async with app.run_test(size=(120, 40)) as pilot:
        await until(pilot, lambda: ready(app))
        await pilot.press("b")
        await until(pilot, lambda: ready(app) and "resamples of 6 runs" in painted(app))
        assert room(app).how.interval == "bootstrap"
        await pilot.press("enter")
        await until(pilot, lambda: room(app).items.count == 3)
        assert reads == [study.id]
        store.labels.record(
            study, units()[0], label(study, units()[0], "pay", "state", NOT, rater=Actor("model", "new"))
        )
        await pilot.press("escape", "r")
        await until(pilot, lambda: ready(app) and "2 judges" in painted(app))
        assert reads == [study.id] * 2


async def test_what_follows_from_answers_has_no_pairs_no_grid_and_no_items(
    store: Store, shared_apps: SharedApps, until: Until
) -> None:
    app = opened(store, made(store), shared_apps=shared_apps)
    async with shared_apps.at((120, 40)) as pilot:
        await until(pilot, lambda: ready(app))
        it = room(app)
        it.fields.go(next(i for i, one in enumerate(it.fields.rows) if one.field == "apr"))
        await until(pilot, lambda: "apr follows from other answers" in painted(app))
        assert it.beneath.pairs.count == 0
        await pilot.press("enter")
        await until(pilot, lambda: "nobody is asked for it" in painted(app) and it.items.display)
