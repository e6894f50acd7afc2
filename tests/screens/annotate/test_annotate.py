"""The room of a rater: which unit comes, what is learned after it, what is said where none comes, the time it takes."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from msgspec.structs import replace
from textual.binding import Binding
from textual.widgets import Markdown

from annotators.protocols import protocol
from lab.core.errors import LabError
from lab.core.run.screen_clock import Clock
from lab.core.settings import Settings
from lab.core.study.label import Act, ActKind
from lab.core.study.protocol import Protocol
from lab.core.study.rating_sheet import FieldReference
from lab.core.study.study import Gold, Study, Unit
from lab.core.task.task import Actor
from lab.core.values.ids_and_clock import now, uuid7
from lab.studies.rating.rating_pace import Pace
from lab.studies.rating.rating_session import RatingSession
from screens.annotate.annotate import AnnotateScreen
from screens.annotate.answer_field import AnswerLine
from screens.annotate.keys import ROOM_KEYS, SHEET_KEYS
from screens.annotate.menu import Menu
from screens.app import LabApp
from screens.home.studies import StudyTable
from screens.navigation import Opening
from store.store import Store
from store.studies.labels import Labels
from tests import studied_runs
from tests.screens.annotate.sample_studies import (
    NODES,
    STARS,
    nodes,
    one_field,
    ready,
    room,
    session,
    sheet,
    studied,
)
from tests.screens.resting import burst, press
from tests.screens.runs import WHOLE, painted, whole_run
from tests.screens.shared_apps import SharedApps

Until = Callable[..., Awaitable[None]]


@pytest.fixture
def run(store: Store) -> Store:
    store.runs.add(whole_run())
    return store


def units(*ids: str, **more: Any) -> list[Unit]:
    return [Unit(id, (WHOLE,), **more) for id in ids]


def acts(store: Store, study: Study, rater: str = "R1") -> list[str]:
    return [act.act for act in store.labels.acts(study, rater)]


def did(store: Store, study: Study, person: str, act: ActKind) -> None:
    store.labels.record_act(Act(uuid7(), study.id, study.version, Actor("human", person), act, now()))


async def test_unit_after_unit_and_then_thanks_and_each_is_taken_back_right_after_it(
    run: Store, shared_apps: SharedApps, until: Until
) -> None:
    study = studied(run, one_field(STARS), units("u1", "u2"))
    app = shared_apps.rating(run, study)

    def said(unit: str) -> list[Any]:
        return [label.value for label in run.labels.read(study, unit)]

    async with shared_apps.at(size=(120, 40)) as pilot:
        await until(pilot, lambda: ready(app) and "1 of 2" in painted(app))
        await press(pilot, "4", "enter")
        await until(pilot, lambda: "2 of 2" in painted(app) and "1 done today" in painted(app))
        await press(pilot, "z")
        await until(pilot, lambda: "1 of 2" in painted(app) and ready(app))
        await press(pilot, "home", "2", "enter")
        await until(pilot, lambda: "2 of 2" in painted(app) and ready(app))
        assert said("u1") == ["4", "2"]
        assert run.studies.progress(study, "R1").done == 1
        await press(pilot, "5", "enter")
        await until(
            pilot, lambda: "All 2 are handed in" in painted(app) and "z takes the last one back" in painted(app)
        )
        await press(pilot, "z")
        await until(pilot, lambda: ready(app))
        await press(pilot, "home", "3", "enter")
        await until(pilot, lambda: "All 2 are handed in" in painted(app))
        assert said("u2") == ["5", "3"]
        assert run.studies.progress(study, "R1").done == 2
        await press(pilot, "escape")
        await until(pilot, lambda: "2/2" in painted(app) and "done" in painted(app))
        assert acts(run, study)[-1] == "rose"
    opened = [act for act in run.labels.acts(study, "R1") if act.act == "opened"]
    assert opened[0].detail["shows"] == list(study.visible_parts)
    assert (opened[0].detail["position"], opened[0].detail["swap"]) == (0, False)


async def test_from_the_thanks_nothing_is_taken_back_once_the_study_is_locked(
    run: Store, shared_apps: SharedApps, until: Until
) -> None:
    study = studied(run, one_field(STARS), units("u1"))
    app = shared_apps.rating(run, study)
    async with shared_apps.at(size=(120, 40)) as pilot:
        await until(pilot, lambda: ready(app))
        await press(pilot, "4", "enter")
        await until(pilot, lambda: "All 1 are handed in" in painted(app))
        did(run, study, "D1", "locked")
        await press(pilot, "z")
        await until(pilot, lambda: "locked" in painted(app))


async def test_in_a_run_of_no_steps_nothing_is_completed_and_a_sentence_says_so(
    run: Store, shared_apps: SharedApps, until: Until
) -> None:
    run.runs.add(studied_runs.run("run-of-none", steps=0))
    study = studied(run, protocol("tdg"), [Unit("u1", ("run-of-none",), targets=nodes(1))])
    app = shared_apps.rating(run, study)
    async with shared_apps.at(size=(120, 40)) as pilot:
        await until(pilot, lambda: ready(app) and "1 of 1" in painted(app))
        await press(pilot, "1")
        await until(pilot, lambda: "the run has no steps" in painted(app))
        await press(pilot, "2")
        await until(pilot, lambda: len(list(run.labels.read(study))) == 1)
    assert [label.value for label in run.labels.read(study)] == ["not_completed"]


async def test_where_there_is_no_going_back_there_is_none(run: Store, shared_apps: SharedApps, until: Until) -> None:
    study = studied(run, one_field(STARS, forward=True), units("u1", "u2"))
    app = shared_apps.rating(run, study)
    async with shared_apps.at(size=(120, 40)) as pilot:
        await until(pilot, lambda: ready(app))
        await press(pilot, "4")
        await until(pilot, lambda: "Enter hands in; there is no going back." in painted(app))
        await press(pilot, "enter")
        await until(pilot, lambda: "2 of 2" in painted(app))
        await press(pilot, "z")
        await until(pilot, lambda: "This study has no going back" in painted(app))
        assert "2 of 2" in painted(app)


async def test_the_guide_is_one_key_away_words_are_searched_and_handing_in_waits_for_what_is_open(
    run: Store, shared_apps: SharedApps, until: Until
) -> None:
    """The person is shown by code and seat, and at most six verbs and help are in the footer."""
    study = studied(run, NODES, units("u1", targets=nodes(3)))
    app = shared_apps.rating(run, study)
    async with shared_apps.at(size=(80, 24)) as pilot:
        await until(pilot, lambda: ready(app) and "R1, rater" in painted(app))
        assert session(app).person == Actor("human", "R1")
        shown = {binding.action for _, binding, on, _ in app.screen.active_bindings.values() if binding.show and on}
        assert len(shown) <= 8  # the palette's own is not painted
        await pilot.resize_terminal(120, 40)
        await press(pilot, "t")
        await until(pilot, lambda: "Look at every node." in painted(app))
        await press(pilot, "t")
        await until(pilot, lambda: ready(app))
        assert "guide" in acts(run, study)
        await press(pilot, "slash")
        await burst(pilot, *"pay")
        await until(pilot, lambda: "Enter goes to the next step that holds these words" in painted(app))
        await press(pilot, "enter")
        await until(pilot, lambda: sheet(app).place.endswith("@5"))
        await press(pilot, "escape", "1")
        await until(pilot, lambda: bool(list(run.labels.read(study))))
        (label,) = run.labels.read(study)
        assert label.evidence is not None
        assert label.evidence.endswith("@5")
        await press(pilot, "end", "enter")
        await until(pilot, lambda: "2 open: answer or skip them first" in painted(app))
        assert sheet(app).items.cursor == 1
        assert run.studies.progress(study, "R1").done == 0


def test_every_key_has_an_id_a_tooltip_and_a_place() -> None:
    for key in [*SHEET_KEYS, *ROOM_KEYS, *Menu.BINDINGS, *AnswerLine.BINDINGS]:
        assert isinstance(key, Binding)
        assert key.id
        assert key.tooltip
        assert key.show or key.group


GOLD = (Gold("n1", "completed", "completed", "Step 1 shows it."), Gold("n2", "completed", "completed", "See step 2."))


def calibrated(store: Store, bar: float) -> Study:
    return studied(
        store, NODES,
        [Unit("p1", (WHOLE,), targets=nodes(2), gold=GOLD, pilot=True), Unit("m1", (WHOLE,), targets=nodes(2))],
        bar=bar,
    )  # fmt: skip


async def test_a_pilot_unit_shows_what_is_right_and_why(run: Store, shared_apps: SharedApps, until: Until) -> None:
    study = calibrated(run, 0.5)
    app = shared_apps.rating(run, study)
    async with shared_apps.at(size=(120, 40)) as pilot:
        await until(pilot, lambda: ready(app) and "pilot" in painted(app))
        assert "Step 1 shows it" not in painted(app)
        await press(pilot, "1", "2", "enter")
        await until(pilot, lambda: "See step 2." in painted(app))
        told = painted(app)
        assert "you: not completed" in told
        assert "right: completed" in told
        assert "50% right in the pilot" in told
        await press(pilot, "z", "1")
        assert run.studies.progress(study, "R1").done == 1
        await press(pilot, "enter")
        await until(pilot, lambda: ready(app) and "2 of 2" in painted(app) and "pilot" not in painted(app))


async def test_a_rater_below_the_bar_is_told_and_held_until_released(
    run: Store, shared_apps: SharedApps, until: Until
) -> None:
    study = calibrated(run, 0.9)
    app = shared_apps.rating(run, study)
    async with shared_apps.at(size=(120, 40)) as pilot:
        await until(pilot, lambda: ready(app))
        await press(pilot, "1", "2", "enter")
        await until(pilot, lambda: "See step 2." in painted(app))
        await press(pilot, "enter")
        await until(pilot, lambda: "released" in painted(app) or "releases you" in painted(app))
        assert room(app).view == "over"
        did(run, study, "R1", "released")
        await press(pilot, "escape")
        await until(pilot, lambda: room(app).view == "shelf" and bool(room(app).shelf.rows))
        await press(pilot, "question_mark")
        await until(pilot, lambda: any("# Studies" in one.source for one in app.screen.query(Markdown).results()))
        (words,) = [one.source for one in app.screen.query(Markdown).results()]
        assert "**Enter** opens one" in words
        assert "****" not in words
        await press(pilot, "escape", "enter")
        await until(pilot, lambda: ready(app))


async def test_a_released_rater_goes_on_without_a_key(run: Store, shared_apps: SharedApps, until: Until) -> None:
    study = calibrated(run, 0.9)
    app = shared_apps.rating(run, study)
    async with shared_apps.at(size=(80, 24)) as pilot:
        await until(pilot, lambda: ready(app))
        await press(pilot, "1", "2", "enter")
        await until(pilot, lambda: "See step 2." in painted(app))
        await press(pilot, "enter")
        await until(pilot, lambda: room(app).view == "over" and "releases" in painted(app))
        did(run, study, "R1", "released")
        await until(pilot, lambda: ready(app) and room(app).view == "open")


class CutOff(Labels):
    """Labels of a file whose program ends as soon as a unit is handed in."""

    def record_act(self, act: Act, check: Callable[[], None] = lambda: None) -> None:
        if any(one.act == "commit" for one in self.acts(self._studies.study(act.study), act.rater.id)):
            raise SystemExit
        super().record_act(act, check)


def test_whoever_is_cut_off_on_handing_in_is_held_all_the_same(run: Store) -> None:
    study = calibrated(run, 0.9)
    with Store(run.path) as cut_off:
        cut_off.labels = CutOff(cut_off.database, cut_off.studies)
        here = RatingSession(cut_off, study, Actor("human", "R1"))
        at = here.next_assignment()
        assert at is not None
        here.open(at)
        for target in ("n1", "n2"):
            here.answer(FieldReference(target, "completed"), "not_completed")
        assert here.commit().held
    assert run.studies.is_held(study, "R1")
    assert [act.act for act in run.labels.acts(study, "R1")][-3:] == ["commit", "gold", "held"]


async def test_in_a_small_terminal_only_the_studys_title_is_cut(
    store: Store, shared_apps: SharedApps, until: Until
) -> None:
    study = studied(store, one_field(STARS), [Unit(f"u{at}", targets=nodes(1)) for at in range(12)])
    app = shared_apps.rating(store, replace(study, title="Who does what in which room " * 3))
    async with shared_apps.at(size=(64, 18)) as pilot:
        for size in ((64, 18), (80, 24)):
            await pilot.resize_terminal(*size)
            await until(pilot, lambda size=size: ready(app) and app.size == size and "R1, rater" in painted(app))
            assert "1 of 12" in painted(app).split("\n")[0]


@pytest.mark.parametrize(("act", "words"), [("locked", "is locked"), (None, "Nothing in this study is dealt to R9")])
async def test_where_nothing_is_asked_a_sentence_says_why(
    run: Store, shared_apps: SharedApps, until: Until, act: ActKind | None, words: str
) -> None:
    study = studied(run, one_field(STARS), units("u1"))
    if act:
        did(run, study, "D1", act)
    app = shared_apps.rating(run, study, "R1" if act else "R9")
    async with shared_apps.at(size=(80, 24)) as pilot:
        await until(pilot, lambda: words in painted(app))
        assert list(run.labels.read(study)) == []


async def test_where_a_unit_cannot_be_read_a_sentence_says_why_and_esc_goes_back(
    run: Store, until: Until, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(session: RatingSession, part: object) -> None:
        raise LabError("run 1", "is damaged.")

    studied(run, one_field(STARS), units("u1"))
    app = LabApp(run, Settings(person="R1", bell=False))
    async with app.run_test(size=(80, 24)) as pilot:
        studies = app.screen.query_one(StudyTable)
        await until(pilot, lambda: bool(studies.rows))
        studies.focus()
        with monkeypatch.context() as refusing:
            refusing.setattr(RatingSession, "open", refuse)
            await press(pilot, "enter")
            await until(pilot, lambda: "run 1: is damaged. Esc leads back" in painted(app))
        await press(pilot, "escape")
        await until(pilot, lambda: bool(room(app).shelf.rows))
        await press(pilot, "enter")
        await until(pilot, lambda: ready(app))


async def test_the_shelf_lists_this_person_s_studies(run: Store, until: Until) -> None:
    studied(run, one_field(STARS), units("u1", "u2"))
    studied(run, one_field(STARS), units("u1"), raters=("R2",), id="other")
    app = LabApp(run, Settings(person="R1", seat="rater", bell=False), Opening("annotate"))
    async with app.run_test(size=(120, 40)) as pilot:
        await until(pilot, lambda: "A study" in painted(app) and "rate 2 more" in painted(app))
        assert isinstance(app.screen, AnnotateScreen)
        assert len(room(app).shelf.rows) == 1
        await press(pilot, "enter")
        await until(pilot, lambda: ready(app))


async def test_enter_goes_on_with_the_study_that_was_left_before_the_shelf_is_read_again(
    run: Store, until: Until, monkeypatch: pytest.MonkeyPatch
) -> None:
    for id in ("one", "other"):
        studied(run, one_field(STARS), units("u1", "u2"), id=id)
    app = LabApp(run, Settings(person="R1", seat="rater", bell=False), Opening("annotate"))
    async with app.run_test(size=(120, 40)) as pilot:
        await until(pilot, lambda: isinstance(app.screen, AnnotateScreen) and len(room(app).shelf.rows) == 2)
        assert room(app).shelf.cursor == 0
        second = room(app).shelf.rows[1].line.id
        await press(pilot, "down", "enter")
        await until(pilot, lambda: ready(app))
        room(app).shelf.go(0)  # where it stands is not what tells which study was left
        monkeypatch.setattr(room(app).shelf._reading, "start", lambda work: None)
        await press(pilot, "escape", "enter")
        await until(pilot, lambda: ready(app))
        wanted = room(app).course.study
        assert wanted is not None
        assert wanted.id == second


async def test_an_empty_shelf_says_what_to_do(store: Store, until: Until) -> None:
    app = LabApp(store, Settings(person="R1", seat="rater", bell=False), Opening("annotate"))
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: "Nothing is dealt to R1" in painted(app))


class Still(Clock):
    """A clock that is turned by hand."""

    at = 0.0

    def seconds(self) -> float:
        return self.at


def test_time_away_is_not_work() -> None:
    clock = Still()
    pace = Pace(clock)
    clock.at = 50.0
    pace.touch()
    clock.at = 200.0  # a silence of 150 s: 90 of them away
    pace.touch()
    assert (pace.seconds_away, pace.worked) == (90.0, 110.0)
    pace.blur()
    clock.at = 230.0
    assert (pace.seconds_away, pace.worked) == (120.0, 110.0)
    pace.touch()
    clock.at = 240.0
    assert (pace.seconds_away, pace.worked) == (120.0, 120.0)
    assert pace.take_absences() == [90.0, 30.0]
    assert pace.take_absences() == []
    pace.blur()
    clock.at = 600.0
    pace.touch()
    assert pace.since_rest == 0.0


def test_the_pace_is_the_median_of_the_units_of_this_sitting() -> None:
    clock = Still()
    pace = Pace(clock)
    for seconds in (10, 30, 20):
        pace.begin_unit()
        clock.at += seconds
        pace.end_unit()
    assert pace.median == 20


async def test_idle_time_breaks_and_the_reminder(run: Store, shared_apps: SharedApps, until: Until) -> None:
    study = studied(run, NODES, units("u1", targets=nodes(3)), rest_minutes=2)
    app = shared_apps.rating(run, study)
    clock = Still()
    async with shared_apps.at(size=(120, 40)) as pilot:
        await until(pilot, lambda: ready(app))
        here = room(app)
        sheet(app).clock = clock
        here.attendance.pace = Pace(clock)
        sheet(app).take_pace(here.attendance.pace)
        await press(pilot, "down", "up")
        clock.at = 30.0
        app.app_focus = False
        await pilot.pause()
        clock.at = 90.0
        app.app_focus = True
        await pilot.pause()
        await until(pilot, lambda: sheet(app).items.has_focus)
        await press(pilot, "1")
        (label,) = run.labels.read(study)
        assert label.idle_ms == pytest.approx(60_000)
        await until(pilot, lambda: "idle" in acts(run, study))
        for clock.at in (140.0, 190.0, 215.0):
            await press(pilot, "down")
        await until(pilot, lambda: "without a break" in painted(app))
        clock.at = 900.0
        await press(pilot, "up")
        await until(pilot, lambda: "break" in acts(run, study))
        await until(pilot, lambda: "without a break" not in painted(app))


async def test_the_current_item_is_in_sight_whatever_the_size(
    run: Store, shared_apps: SharedApps, until: Until
) -> None:
    """A part of the way in each size, and its end in all of them."""
    sizes = [(80, 24), (64, 18), (70, 50), (200, 60)]
    protocol = Protocol("nodes", "Nodes", "run", NODES.fields[:1], "tdg nodes")
    study = studied(run, protocol, units("u1", targets=nodes(31)))
    app = shared_apps.rating(run, study)
    async with shared_apps.at(size=sizes[0]) as pilot:
        await until(pilot, lambda: ready(app))
        for turn, size in enumerate([*sizes, *sizes[:-1]]):
            await pilot.resize_terminal(*size)
            number = min(28, 1 + 7 * (turn + 1))
            while sheet(app).items.cursor < number:
                await press(pilot, "1")
            await until(pilot, lambda at=number, size=size: app.size == size and f" {at + 1} Node" in painted(app))
            assert sheet(app).items.size.height >= 3
