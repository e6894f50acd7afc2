"""Review: two proofread by keys and mouse, apart from one another; a third settles; nothing is lost."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from lab.core.run.step import Action
from lab.core.settings import Settings
from lab.core.study.proofreading import ProofreadPlace
from lab.studies.proofreading.proofreading import ProofreadingSession
from screens.app import LabApp
from screens.author.form import FormLine
from screens.dialogs import AskScreen
from screens.navigation import Opening
from screens.review.review import ReviewScreen, with_place
from store.store import Store
from tests.demonstrations import ANNOTATOR, DEMO, demonstration
from tests.screens.resting import press, rests
from tests.screens.runs import painted

Until = Callable[..., Awaitable[None]]


@pytest.fixture
def filled(store: Store) -> Store:
    store.runs.add(demonstration())
    return store


def review(store: Store, person: str, run: str | None = DEMO) -> LabApp:
    return LabApp(store, Settings(person=person, bell=False), Opening("review", run))


def room(app: LabApp) -> ReviewScreen:
    assert isinstance(app.screen, ReviewScreen)
    return app.screen


def session(app: LabApp) -> ProofreadingSession:
    found = room(app).session
    assert found is not None
    return found


def ready(app: LabApp) -> bool:
    return isinstance(app.screen, ReviewScreen) and app.screen.footage.view is not None


async def typed(pilot: Any, text: str) -> None:
    field = pilot.app.focused
    assert isinstance(field, FormLine)
    field.value = text


async def test_a_demonstration_is_opened_from_the_shelf_proofread_and_handed_in(filled: Store, until: Until) -> None:
    app = review(filled, "P1", None)
    async with app.run_test(size=(120, 40)) as pilot:
        await until(pilot, lambda: "Write to Mara" in painted(app) and "unreviewed" in painted(app))
        await press(pilot, "enter")
        await until(pilot, lambda: ready(app))
        await until(pilot, lambda: "5 not looked at" in painted(app))
        await press(pilot, "a")
        await until(pilot, lambda: room(app).items.step == 1)
        await press(pilot, "e")
        await until(pilot, lambda: isinstance(app.focused, FormLine))
        await typed(pilot, "Type the address")
        await press(pilot, "ctrl+s")
        await until(pilot, lambda: session(app).value(ProofreadPlace(1, "instruction")) == "Type the address")
        assert session(app).sheet.verdict(1) == "edit"
        await until(pilot, lambda: room(app).items.step == 2)
        await press(pilot, "x")
        await until(pilot, lambda: isinstance(app.focused, FormLine))
        await typed(pilot, "a slip of the finger")
        await press(pilot, "enter")
        await until(pilot, lambda: session(app).sheet.verdict(2) == "reject")
        assert "C" not in [key for key, found in app.screen.active_bindings.items() if found.enabled]
        await press(pilot, "A")
        await until(pilot, lambda: "All looked at: C hands it in" in painted(app))
        before = filled.reviews.of_run(DEMO)
        await press(pilot, "C")
        await until(pilot, lambda: "Hand it in?" in painted(app))
        await press(pilot, "escape")
        assert filled.reviews.of_run(DEMO) == before
        await press(pilot, "C", "enter")
        await until(pilot, lambda: "You have handed it in: waits for another proofreader" in painted(app))
        before = filled.reviews.of_run(DEMO)
        await press(pilot, "a", "x", "e", "p")
        assert filled.reviews.of_run(DEMO) == before
        await press(pilot, "escape")
        await until(pilot, lambda: "one of two, yours in" in painted(app))


async def test_esc_drops_what_was_typed_and_z_takes_back_what_was_said(filled: Store, until: Until) -> None:
    app = review(filled, "P1")
    async with app.run_test(size=(120, 40), notifications=True) as pilot:
        await until(pilot, lambda: ready(app))
        assert "z" not in [key for key, found in app.screen.active_bindings.items() if found.enabled]
        await press(pilot, "home", "down", "e")
        await until(pilot, lambda: isinstance(app.focused, FormLine))
        await typed(pilot, "Open nothing")
        await press(pilot, "escape")
        await until(pilot, lambda: "What you typed was dropped." in painted(app))
        assert filled.reviews.of_run(DEMO) == []
        await press(pilot, "e")
        await until(pilot, lambda: isinstance(app.focused, FormLine))
        await typed(pilot, "Open the mail")
        await press(pilot, "ctrl+s")
        await until(pilot, lambda: session(app).value(ProofreadPlace(0, "instruction")) == "Open the mail")
        await press(pilot, "A")
        await until(pilot, lambda: "All looked at" in painted(app))
        await press(pilot, "z")  # everything that A accepted
        await until(pilot, lambda: "4 not looked at" in painted(app) and "Taken back: 4 words." in painted(app))
        await press(pilot, "z")  # the edit
        await until(pilot, lambda: "5 not looked at" in painted(app))
        assert room(app).items.step == 0
        assert session(app).value(ProofreadPlace(0, "instruction")) != "Open the mail"
        assert "z" not in [key for key, found in app.screen.active_bindings.items() if found.enabled]


async def test_what_another_window_handed_in_is_shown_once_a_word_is_refused(filled: Store, until: Until) -> None:
    app = review(filled, "P1")
    async with app.run_test(size=(120, 40)) as pilot:
        await until(pilot, lambda: ready(app))
        await press(pilot, "A")
        await until(pilot, lambda: "All looked at" in painted(app))
        await press(pilot, "C")
        await until(pilot, lambda: isinstance(app.screen, AskScreen))
        with Store.open(filled.path) as beside:
            ProofreadingSession(beside, DEMO, _person("P1")).commit()
        await press(pilot, "enter")
        await until(pilot, lambda: bool(app._notifications))
        told = [note.message for note in app._notifications]
        assert (len(told), "Handed in." in told) == (1, False), told
        await until(pilot, lambda: ready(app) and "You have handed it in" in painted(app))
        assert "a" not in [key for key, found in app.screen.active_bindings.items() if found.enabled]


def test_a_word_that_was_taken_back_gives_way_to_the_one_before_it_by_a_command_too(
    filled: Store, capfd: pytest.CaptureFixture[str]
) -> None:
    from lab.cli.main import main

    filled.close()
    line = ["review", DEMO, "--as", "P1", "--db", "lab.db"]
    for words in ("first", "second"):
        assert main([*line, "--edit", "1", "instruction", words]) == 0
    assert main([*line, "--undo", "--json"]) == 0
    shown = json.loads(capfd.readouterr().out.splitlines()[-1])
    assert [word["act"] for word in shown["rows"]] == ["edit", "edit", "undo"]
    with Store.open(Path("lab.db")) as store:
        left = ProofreadingSession(store, DEMO, _person("P1"))
        assert left.value(ProofreadPlace(0, "instruction")) == "first"
        assert [row.act for row in left.rows] == ["edit", "edit", "undo"]
    assert main([*line, "--undo"]) == 0
    assert main([*line, "--undo"]) == 1
    assert "nothing of yours to take back" in capfd.readouterr().err


async def test_neither_sees_what_the_other_said_until_both_have_handed_it_in(filled: Store, until: Until) -> None:
    first = ProofreadingSession(filled, DEMO, _person("P1"))
    first.edit(ProofreadPlace(2, "instruction"), "Press the paper plane")
    first.edit(ProofreadPlace(None, "place"), "cultural venue")
    first.reject(3, "sheer nonsense")
    first.accept(first.sheet.unseen)
    first.commit()
    hidden = ("paper plane", "cultural", "nonsense", "P1", "≠", "✗")
    app = review(filled, "P2")
    async with app.run_test(size=(120, 40)) as pilot:
        await until(pilot, lambda: ready(app))
        seen = ""
        for key in ("home", *["down"] * 5, "n", "e", "escape", "b", "A", "y"):
            await press(pilot, key)
            seen += painted(app)
        await until(pilot, lambda: "one of two" in painted(app))
        assert not [word for word in hidden if word in seen]
        await press(pilot, "C", "enter")
        await until(pilot, lambda: "Two have" in painted(app) or "third person settles" in painted(app))
        await press(pilot, "home", "down", "down", "down")
        await until(pilot, lambda: "Press the paper plane" in painted(app))


def _person(code: str) -> Any:
    from lab.core.task.task import Actor

    return Actor("human", code)


async def test_a_third_settles_line_by_line(filled: Store, until: Until) -> None:
    for code, words in (("P1", "Tap the plane"), ("P2", "Press Send")):
        one = ProofreadingSession(filled, DEMO, _person(code))
        one.edit(ProofreadPlace(2, "instruction"), words)
        one.accept(one.sheet.unseen)
        one.commit()
    app = review(filled, "P3")
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: ready(app))
        await until(pilot, lambda: "Two differ in 1 place" in painted(app))
        await press(pilot, "n")
        await until(pilot, lambda: "Press Send" in painted(app))
        await press(pilot, "2")
        await until(pilot, lambda: session(app).standing.state == "settled")
        assert session(app).standing.values[ProofreadPlace(2, "instruction")] == "Press Send"
        await press(pilot, "e")
        await until(pilot, lambda: isinstance(app.focused, FormLine))
        await typed(pilot, "Send it")
        await press(pilot, "ctrl+s")
        await until(pilot, lambda: session(app).standing.values[ProofreadPlace(2, "instruction")] == "Send it")


async def test_a_place_is_chosen_anew_on_the_phone_and_what_does_not_fit_is_said_and_not_kept(
    filled: Store, until: Until
) -> None:
    app = review(filled, "P1")
    async with app.run_test(size=(120, 40), notifications=True) as pilot:
        await until(pilot, lambda: ready(app))
        await press(pilot, "e")
        await until(pilot, lambda: isinstance(app.focused, FormLine))
        for _ in range(2):
            left = app.focused
            await press(pilot, "down")
            await until(pilot, lambda left=left: isinstance(app.focused, FormLine) and app.focused is not left)
        await typed(pilot, "over there")
        await press(pilot, "ctrl+s")
        await until(pilot, lambda: any("is not pixels" in note.message for note in app._notifications))
        assert filled.reviews.of_run(DEMO) == []
        await until(pilot, lambda: app.focused is room(app).items)
        await press(pilot, "home", "down")
        await until(pilot, lambda: room(app).items.step == 0 and room(app).footage.link == f"{DEMO}@1")
        await rests(pilot, lambda: room(app).footage.stage.mirror.fit is not None)
        mirror = room(app).footage.stage.mirror
        await pilot.click(mirror, offset=(10, 10))
        assert filled.reviews.of_run(DEMO) == []
        await press(pilot, "p")
        await until(pilot, lambda: "Click the place on the phone" in painted(app))
        await pilot.click(mirror, offset=(10, 10))
        await until(pilot, lambda: len(filled.reviews.of_run(DEMO)) == 1)
        (row,) = filled.reviews.of_run(DEMO)
        assert (row.step, row.field, row.old["at"]) == (0, "action", [180, 150])
        assert row.new["at"] != [180, 150]


async def test_a_line_whose_words_are_refused_stays_under_the_cursor(filled: Store, until: Until) -> None:
    app = review(filled, "P1")
    async with app.run_test(size=(120, 40), notifications=True) as pilot:
        await until(pilot, lambda: ready(app))
        await press(pilot, "home", "down")
        await until(pilot, lambda: room(app).items.step == 0)
        long = f"{'9' * 5000}, 5"
        for key, downs, words, wrong in (
            ("x", 0, " ", "needs a reason"), ("e", 2, "over there", "is not pixels"), ("e", 2, long, "'999"),
        ):  # fmt: skip
            await press(pilot, key)
            await until(pilot, lambda: isinstance(app.focused, FormLine))
            for _ in range(downs):
                left = app.focused
                await press(pilot, "down")
                await until(pilot, lambda left=left: isinstance(app.focused, FormLine) and app.focused is not left)
            await typed(pilot, words)
            await press(pilot, "ctrl+s")
            await until(pilot, lambda wrong=wrong: any(wrong in note.message for note in app._notifications))
            await until(pilot, lambda: app.focused is room(app).items)
            assert room(app).items.step == 0
        assert filled.reviews.of_run(DEMO) == []


async def test_a_digit_settles_only_where_two_differ(filled: Store, until: Until) -> None:
    for code in ("P1", "P2"):
        one = ProofreadingSession(filled, DEMO, _person(code))
        one.edit(ProofreadPlace(2, "instruction"), f"Press Send, {code}")
        one.accept(one.sheet.unseen)
        one.commit()
    app = review(filled, "P3")
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: ready(app))
        assert room(app).items.step != 2
        assert not room(app).check_action("settle", (1,))
        await press(pilot, "2")
        assert session(app).standing.state == "differs"
        await press(pilot, "n")
        assert room(app).check_action("settle", (1,))


async def test_the_annotator_only_looks(filled: Store, until: Until) -> None:
    app = review(filled, ANNOTATOR.id)
    async with app.run_test(size=(120, 40)) as pilot:
        await until(pilot, lambda: ready(app))
        assert "recorded this; others proofread it" in painted(app)
        await press(pilot, "a", "e", "x", "C")
        assert filled.reviews.of_run(DEMO) == []


def test_a_box_or_a_point_takes_the_place_of_the_old_one() -> None:
    tap = Action("click", (1, 2))
    assert with_place(tap, (5, 6), None).at == (5, 6)
    box = with_place(tap, (30, 40), (10, 20))
    assert (box.at, box.boxes) == ((20, 30), ((10, 20, 30, 40),))
    drag = with_place(Action("drag", (1, 2), (3, 4), vector=(2, 2)), (5, 5), (9, 1))
    assert (drag.at, drag.to, drag.vector) == ((5, 5), (9, 1), (4, -4))


@pytest.mark.parametrize("size", [(80, 24), (120, 40)])
def test_review_looks_as_it_did(filled: Store, snap_compare: Any, until: Until, size: tuple[int, int]) -> None:
    one = ProofreadingSession(filled, DEMO, _person("P1"))
    one.edit(ProofreadPlace(0, "instruction"), "Open the newest mail")
    one.reject(1, "typed twice")
    one.accept([2])
    app = review(filled, "P1")

    async def rest(pilot: Any) -> None:
        await until(pilot, lambda: ready(app) and room(app).footage.stage.mirror.settled)
        await press(pilot, "home", "down")
        app.screen.set_focus(room(app).items)
        await rests(pilot, lambda: "Open the newest mail" in painted(app))

    assert snap_compare(app, terminal_size=size, run_before=rest)
