"""Two answers of one rater at one place, after a merge: the room leads there, says both, and a key settles it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from lab.core.settings import Settings
from lab.core.study.label import Act, Label
from lab.core.study.protocol import Field, Protocol
from lab.core.study.rating_sheet import FieldReference
from lab.core.study.study import Study, Unit
from lab.core.values.ids_and_clock import now, uuid7
from lab.studies.rating.rating_session import RatingSession
from screens.annotate.menu import Menu
from screens.app import LabApp
from screens.home.studies import StudyTable
from store.store import Store
from store.studies.labels import insert_label
from tests.screens.annotate.sample_studies import (
    NODES,
    STARS,
    nodes,
    one_field,
    rating,
    ready,
    session,
    sheet,
    studied,
)
from tests.screens.resting import press
from tests.screens.runs import WHOLE, painted, whole_run
from tests.screens.shared_apps import SharedApps
from tests.studies import NODES as TWO_FIELDS
from tests.studies import R1, TWO, label

Until = Callable[..., Awaitable[None]]
HOSTILE = "\x1b[31m[red]late[/red]‮"


@pytest.fixture
def run(store: Store) -> Store:
    store.runs.add(whole_run())
    return store


def two_words(
    store: Store, study: Study, unit: Unit, spot: FieldReference, *values: Any, hand_in: bool = True
) -> list[Label]:
    """Both words as a merge leaves them, and the unit handed in."""
    words = [label(study, unit, *spot, value, note=f"note {n} {HOSTILE}") for n, value in enumerate(values)]
    with store.database.writing() as db:
        for one in words:
            insert_label(db, one)
    if hand_in:
        store.labels.record_act(Act(uuid7(), study.id, study.version, R1, "commit", now(), unit.id))
    return words


def stands(store: Store, study: Study, unit: str, spot: FieldReference) -> Any:
    return store.labels.sheet(study, store.studies.unit(study, unit), "R1").value(spot)


@pytest.mark.parametrize("forward", [False, True])
async def test_what_is_handed_in_comes_first_says_both_and_a_digit_settles_it(
    run: Store, shared_apps: SharedApps, until: Until, forward: bool
) -> None:
    units = [Unit("u1", (WHOLE,)), Unit("u2", (WHOLE,))]
    study = studied(run, one_field(STARS, forward=forward), units)
    spot = FieldReference("", "personal")
    two_words(run, study, units[0], spot, "4", "2")
    app = shared_apps.rating(run, study)
    async with shared_apps.at(size=(120, 40)) as pilot:
        await until(pilot, lambda: ready(app) and "2 answers of yours stand here" in painted(app))
        assert "1 of 2   to settle" in painted(app)
        assert "note 0" in painted(app)
        assert "note 1" in painted(app)
        assert "\x1b" not in painted(app)
        assert "Enter: settle which answer stands." in painted(app)
        await press(pilot, "5")  # neither of the two
        await until(pilot, lambda: "one is settled on" in " ".join(painted(app).split()))
        await press(pilot, "2")
        await until(pilot, lambda: "2 of 2" in painted(app) and ready(app))
        head = run.labels.sheet(study, units[0], "R1").heads[spot]
        assert (head.value, head.source, head.shown_at is not None) == ("2", "keys", True)
        assert head.note.startswith("note 1")
        await press(pilot, "3", "enter")
        await until(pilot, lambda: "All 2 are handed in" in painted(app))


async def test_a_sheet_under_way_opens_at_the_item_to_settle_and_not_where_it_was_left(
    run: Store, shared_apps: SharedApps, until: Until
) -> None:
    item = Unit("u1", (WHOLE,), targets=TWO)
    study = studied(run, TWO_FIELDS, [item])
    app = shared_apps.rating(run, study)
    async with shared_apps.at(size=(120, 40)) as pilot:
        await until(pilot, lambda: ready(app))
        await press(pilot, "1", "up", "escape")  # left at the first item
        await until(pilot, lambda: "Studies" in painted(app) and not ready(app))
        two_words(run, study, item, FieldReference("pay", "state"), "completed", "not_completed", hand_in=False)
        await press(pilot, "enter")
        await until(pilot, lambda: ready(app) and "2 answers of yours stand here" in painted(app))


async def test_enter_lists_the_words_of_what_is_typed_and_a_line_settles_it(
    run: Store, shared_apps: SharedApps, until: Until
) -> None:
    words = Field("why", "Why?", "text")
    units = [Unit("u1", (WHOLE,))]
    study = studied(run, Protocol("p", "P", "run", (words,)), units)
    two_words(run, study, units[0], FieldReference("", "why"), f"slow {HOSTILE}", "unclear")
    app = shared_apps.rating(run, study)
    async with shared_apps.at(size=(80, 24)) as pilot:
        await until(pilot, lambda: ready(app) and "to settle" in painted(app))
        await press(pilot, "n")  # a note is no settling
        app.screen.query_one(Menu)
        await press(pilot, "x", "enter")
        await until(pilot, lambda: "2 answers of yours" in painted(app) and sheet(app).items.has_focus)
        assert run.labels.sheet(study, units[0], "R1").clashes
        await press(pilot, "enter")
        await until(pilot, lambda: app.screen.query_one(Menu).display)
        assert "unclear" in painted(app)
        await press(pilot, "2")
        await until(pilot, lambda: "All 1 are handed in" in painted(app))
    assert stands(run, study, "u1", FieldReference("", "why")) == "unclear"


async def test_a_flag_that_clashes_is_settled_at_its_item(run: Store, shared_apps: SharedApps, until: Until) -> None:
    unit = Unit("u1", (WHOLE,), targets=nodes(2))
    study = studied(run, NODES, [unit])
    for target in ("n1", "n2"):
        run.labels.record(study, unit, label(study, unit, target, "completed", "completed"))
    spot = FieldReference("n2", "partial")
    two_words(run, study, unit, spot, True, False)
    app = shared_apps.rating(run, study)
    async with shared_apps.at(size=(120, 40)) as pilot:
        await until(pilot, lambda: ready(app) and "2 answers of yours stand here" in painted(app))
        assert sheet(app).item is not None and sheet(app).item.spot.target == "n2"  # type: ignore[union-attr] # noqa: PT018
        await press(pilot, "enter", "1")
        await until(pilot, lambda: "All 1 are handed in" in painted(app))
    assert stands(run, study, "u1", spot) is True


async def test_it_may_be_left_for_later_and_the_rest_goes_on(run: Store, shared_apps: SharedApps, until: Until) -> None:
    units = [Unit("u1", (WHOLE,)), Unit("u2", (WHOLE,))]
    study = studied(run, one_field(STARS), units)
    two_words(run, study, units[0], FieldReference("", "personal"), "4", "2")
    app = shared_apps.rating(run, study)
    async with shared_apps.at(size=(120, 40)) as pilot:
        await until(pilot, lambda: ready(app) and "to settle" in painted(app))
        await press(pilot, "end")
        await until(pilot, lambda: "Enter goes on." in painted(app))
        await press(pilot, "enter")
        await until(pilot, lambda: "2 of 2" in painted(app) and ready(app))
        at = session(app).assignment
        assert at is not None
        assert at.unit == "u2"
    assert run.labels.clashing_assignments(study, "R1")


async def test_on_an_open_sheet_any_answer_settles_it_and_takes_no_note_of_either(
    run: Store, shared_apps: SharedApps, until: Until
) -> None:
    unit = Unit("u1", (WHOLE,))
    study = studied(run, one_field(STARS), [unit])
    two_words(run, study, unit, FieldReference("", "personal"), "4", "2", hand_in=False)
    app = shared_apps.rating(run, study)
    async with shared_apps.at(size=(120, 40)) as pilot:
        await until(pilot, lambda: ready(app) and "2 answers of yours stand here" in painted(app))
        await press(pilot, "5")
        await until(pilot, lambda: stands(run, study, "u1", FieldReference("", "personal")) == "5")
    head = run.labels.sheet(study, unit, "R1").heads[FieldReference("", "personal")]
    assert (head.note, len(head.replaces)) == ("", 2)


async def test_home_leads_there_and_a_locked_study_does_not(run: Store, until: Until) -> None:
    unit = Unit("u1", (WHOLE,))
    study = studied(run, one_field(STARS), [unit])
    two_words(run, study, unit, FieldReference("", "personal"), "4", "2")
    for seat in ("rater", "developer"):
        app = LabApp(run, Settings(person="R1", seat=seat))
        async with app.run_test(size=(120, 40)) as pilot:
            studies = app.screen.query_one(StudyTable)
            await until(pilot, lambda studies=studies: studies.count == 1 and studies.rows[0].state == "settle 1")
            studies.focus()
            await until(pilot, lambda app=app: "settle which of your two answers stands in an item" in painted(app))
            await pilot.press("enter")
            await until(pilot, lambda app=app: ready(app) and "to settle" in painted(app))
    run.labels.record_act(Act(uuid7(), study.id, 1, R1, "locked", now()))
    app = rating(run, study)
    async with app.run_test(size=(120, 40)) as pilot:
        await until(pilot, lambda: "This study is locked" in painted(app))


async def test_what_another_window_kept_is_shown_and_said_and_then_it_works(
    run: Store, shared_apps: SharedApps, until: Until
) -> None:
    """The same person in two terminals: the one that is behind takes up what the other kept, at the first key."""
    units = [Unit("u1", (WHOLE,), targets=nodes(3)), Unit("u2", (WHOLE,), targets=nodes(1))]
    study = studied(run, NODES, units)
    app = shared_apps.rating(run, study)
    with Store.open(run.path) as beside:
        other = RatingSession(beside, study, R1)
        async with shared_apps.at(size=(120, 40)) as pilot:
            await until(pilot, lambda: ready(app))
            at = other.next_assignment()
            assert at is not None
            other.open(at)
            other.answer(FieldReference("n1", "completed"), "completed")
            other.answer(FieldReference("n2", "completed"), "completed")
            await press(pilot, "2")
            await until(pilot, lambda: "Another window answered here" in painted(app) and "2 of 3" in painted(app))
            assert stands(run, study, "u1", FieldReference("n1", "completed")) == "completed"
            await press(pilot, "2")  # said again it is this window's answer
            await until(pilot, lambda: stands(run, study, "u1", FieldReference("n1", "completed")) == "not_completed")
            assert "Another window" not in painted(app)
            await press(pilot, "1")  # the next that is open: the third
            await until(pilot, lambda: sheet(app).item is None)
            assert run.labels.sheet(study, units[0], "R1").clashes == {}
            other.refresh()
            other.commit()
            await press(pilot, "enter")
            await until(pilot, lambda: "Another window handed it in" in painted(app))
            assert "to settle" not in painted(app)  # it holds one answer at each place
            await press(pilot, "enter")
            await until(pilot, lambda: "2 of 2   1 done today" in painted(app) and ready(app))
            at = other.next_assignment()
            assert at is not None
            other.open(at)
            other.answer(FieldReference("n1", "completed"), "completed")
            other.commit()
            await press(pilot, "2")
            await until(pilot, lambda: "Another window handed it in" in painted(app))
            await press(pilot, "enter")
            await until(pilot, lambda: "All 2 are handed in" in painted(app))


async def test_coming_back_to_a_window_shows_what_the_other_kept(
    run: Store, shared_apps: SharedApps, until: Until
) -> None:
    study = studied(run, NODES, [Unit("u1", (WHOLE,), targets=nodes(3))])
    app = shared_apps.rating(run, study)
    with Store.open(run.path) as beside:
        other = RatingSession(beside, study, R1)
        async with shared_apps.at(size=(120, 40)) as pilot:
            await until(pilot, lambda: ready(app))
            app.app_focus = False
            at = other.next_assignment()
            assert at is not None
            other.open(at)
            other.answer(FieldReference("n2", "completed"), "not_completed")
            await pilot.pause()
            app.app_focus = True
            await until(pilot, lambda: "1 of 3" in painted(app) and "Another window" in painted(app))
            await until(pilot, lambda: sheet(app).items.has_focus)
            await press(pilot, "1")
            await until(pilot, lambda: sheet(app).items.cursor == 2)
