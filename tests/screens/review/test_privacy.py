"""Privacy: boxes by mouse, lines by keys, words typed; R twice covers them for good; C clears."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from lab.core.redaction.text_redaction import MASK
from lab.core.run.ui_tree import Bounds
from lab.core.settings import Settings
from lab.core.task.task import Actor
from lab.studies.proofreading.redaction_plan import RedactionPlan
from screens.app import LabApp
from screens.author.form import FormLine
from screens.navigation import Opening
from screens.review.privacy import PrivacyScreen
from store.erasing.run_redaction import redact
from store.store import Store
from tests.demonstrations import DEMO, MAIL, NAME, PHONE, demonstration
from tests.screens.resting import press, rests
from tests.screens.runs import painted

Until = Callable[..., Awaitable[None]]


@pytest.fixture
def filled(store: Store) -> Store:
    store.runs.add(demonstration())
    return store


def privacy(store: Store, run: str | None = DEMO) -> LabApp:
    return LabApp(store, Settings(person="D01", bell=False), Opening("privacy", run))


def room(app: LabApp) -> PrivacyScreen:
    assert isinstance(app.screen, PrivacyScreen)
    return app.screen


def covering(app: LabApp) -> RedactionPlan:
    found = room(app).plan
    assert found is not None
    return found


def ready(app: LabApp) -> bool:
    screen = app.screen
    return isinstance(screen, PrivacyScreen) and screen.footage.view is not None and bool(screen.finds.rows)


async def test_words_and_boxes_are_covered_for_good_and_the_run_is_cleared(filled: Store, until: Until) -> None:
    app = privacy(filled, None)
    async with app.run_test(size=(120, 40)) as pilot:
        await until(pilot, lambda: "3 look private" in painted(app) or "4 look private" in painted(app))
        await press(pilot, "enter")
        await until(pilot, lambda: ready(app))
        assert MAIL in painted(app)
        await press(pilot, "space", "w")
        await until(pilot, lambda: isinstance(app.focused, FormLine) and "Enter covers these words" in painted(app))
        assert "to be covered: R" not in painted(app)  # R is a letter now
        field = app.focused
        assert isinstance(field, FormLine)
        field.value = NAME
        await press(pilot, "enter")
        await until(pilot, lambda: covering(app).words == [MAIL, NAME])
        await press(pilot, "right")
        await until(pilot, lambda: "password" in [find.looks for find in room(app).finds.rows])
        row = next(i for i, find in enumerate(room(app).finds.rows) if find.looks == "password")
        room(app).finds.go(row)
        await press(pilot, "space")
        assert covering(app).boxes == {1: [Bounds(10, 600, 351, 660)]}
        await press(pilot, "R")
        await until(pilot, lambda: "R again covers 3 in this run" in painted(app))
        await press(pilot, "escape")
        assert filled.runs.has_run(DEMO)
        await press(pilot, "R", "w")
        await until(pilot, lambda: isinstance(app.focused, FormLine))
        await press(pilot, "escape")
        await until(pilot, lambda: not room(app).form.is_open and "R covers them" in painted(app))
        await press(pilot, "R", "R")
        await until(pilot, lambda: "cannot be reached" in painted(app) and ready(app))
        assert not filled.runs.has_run(DEMO)
        (new,) = filled.reviews.demonstrations()
        assert room(app).run_id == new
        assert NAME not in painted(app)
        assert MASK in painted(app)
        await press(pilot, "C", "enter")
        await until(pilot, lambda: "No demonstration waits here" in painted(app))
        assert filled.reviews.uncleared() == []


async def test_words_that_occur_nowhere_destroy_nothing(filled: Store, until: Until) -> None:
    app = privacy(filled)
    async with app.run_test(size=(120, 40), notifications=True) as pilot:
        await until(pilot, lambda: ready(app))
        await press(pilot, "w")
        await until(pilot, lambda: isinstance(app.focused, FormLine))
        field = app.focused
        assert isinstance(field, FormLine)
        field.value = "Zyzzyva"
        await press(pilot, "enter")
        await until(pilot, lambda: covering(app).words == ["Zyzzyva"])
        await press(pilot, "R", "R")
        await until(pilot, lambda: "occur nowhere in run" in painted(app) and not room(app).busy)
        assert covering(app).words == ["Zyzzyva"]
        assert filled.runs.has_run(DEMO)


async def test_what_was_chosen_stays_where_a_demonstration_is_left_before_it_is_covered(
    filled: Store, until: Until
) -> None:
    app = privacy(filled)
    async with app.run_test(size=(80, 24), notifications=True) as pilot:
        await until(pilot, lambda: ready(app))
        await press(pilot, "space", "escape")
        await until(pilot, lambda: "Nothing of it is covered yet" in painted(app) and bool(room(app).list.rows))
        await press(pilot, "enter")
        await until(pilot, lambda: ready(app) and "1 to be covered" in painted(app))
        await until(
            pilot, lambda: f"■ whole run  {MAIL}" in painted(app)
        )  # other runs are E's, which says "everywhere"
        assert covering(app).words == [MAIL]


async def test_other_runs_in_which_the_words_still_stand_are_named(filled: Store, until: Until) -> None:
    other = "0197aaaa-0000-7000-8000-0000000000d2"
    filled.runs.add(demonstration(other))
    app = privacy(filled)
    async with app.run_test(size=(120, 40)) as pilot:
        await until(pilot, lambda: ready(app))
        await press(pilot, "w")
        await until(pilot, lambda: isinstance(app.focused, FormLine))
        field = app.focused
        assert isinstance(field, FormLine)
        field.value = "I am late"  # in both intents, and in no picture that they share
        await press(pilot, "enter")
        await until(pilot, lambda: covering(app).words == ["I am late"])
        await press(pilot, "R", "R")
        await until(pilot, lambda: "The words still stand in 1 other run" in painted(app))
        assert other in painted(app)


async def test_a_box_is_drawn_with_the_mouse_and_a_text_clicked(filled: Store, until: Until) -> None:
    app = privacy(filled)
    async with app.run_test(size=(120, 40)) as pilot:
        await rests(pilot, lambda: ready(app) and room(app).footage.stage.mirror.fit is not None)
        mirror = room(app).footage.stage.mirror
        await pilot.mouse_down(mirror, offset=(5, 20))
        await pilot.hover(mirror, offset=(20, 26))
        await pilot.mouse_up(mirror, offset=(20, 26))
        await until(pilot, lambda: 0 in covering(app).boxes)
        (box,) = covering(app).boxes[0]
        assert box.width > 50
        assert box.height > 50
        await press(pilot, "d")
        assert covering(app).boxes == {}
        await rests(pilot, lambda: ready(app))
        spot = next(node for node in _tree(app).nodes() if PHONE in node.text).bounds
        fit = mirror.fit
        assert fit is not None
        corner = mirror.corner - mirror.region.offset
        cell = (fit.left + int(fit.column(spot.center[0])), fit.top + int(fit.row(spot.center[1])))
        await pilot.click(mirror, offset=(corner.x + cell[0], corner.y + cell[1]))
        await until(pilot, lambda: covering(app).boxes == {0: [spot]})


def _tree(app: LabApp) -> Any:
    seen = room(app).footage.screen_shown
    assert seen is not None
    return seen.tree


async def test_a_shared_picture_is_a_sentence_and_everywhere_covers_it(filled: Store, until: Until) -> None:
    filled.runs.add(demonstration("other-1"))
    app = privacy(filled)
    async with app.run_test(size=(120, 40), notifications=True) as pilot:
        await until(pilot, lambda: ready(app))
        await press(pilot, "space", "R", "R")
        await until(pilot, lambda: any("--everywhere" in note.message for note in app._notifications))
        assert filled.runs.has_run(DEMO)
        await press(pilot, "E", "R", "R")
        await until(pilot, lambda: "originals destroyed: 2 runs" in painted(app))


@pytest.mark.parametrize("size", [(80, 24), (120, 40)])
def test_privacy_looks_as_it_did(filled: Store, snap_compare: Any, until: Until, size: tuple[int, int]) -> None:
    app = privacy(filled)

    async def rest(pilot: Any) -> None:
        await until(pilot, lambda: ready(app))
        covering(app).toggle_words(NAME)
        covering(app).toggle_box(0, Bounds(10, 200, 351, 261))
        room(app).repaint()
        await rests(pilot, lambda: "■ box" in painted(app))

    assert snap_compare(app, terminal_size=size, run_before=rest)


async def test_a_run_that_was_redacted_meanwhile_is_left(filled: Store, until: Until) -> None:
    app = LabApp(filled, Settings(person="P1", bell=False), Opening("review", DEMO))
    async with app.run_test(size=(120, 40)) as pilot:
        await until(pilot, lambda: app.screen.query("#items") and MAIL in painted(app))
        await press(pilot, "f12")
        await until(pilot, lambda: isinstance(app.screen, PrivacyScreen))
        redact(filled, DEMO, Actor("human", "D01"), boxes={}, words=[MAIL])
        await press(pilot, "f10")
        await until(pilot, lambda: "Enter opens a demonstration" in painted(app) and "unreviewed" in painted(app))
        assert MAIL not in painted(app)
