"""The page of what a model was sent: words, pictures, answer and cost, from a stored run and from a live one."""

from __future__ import annotations

import threading
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from lab.core.run.run_records import Imported
from lab.core.run.step import Action, Prompt, Proposed, Spent, Usage, spent_by
from lab.core.run.trace import Step
from lab.core.settings import Settings
from lab.runs.descriptions import spent_words, usage_words
from lab.runs.replay.recorded_run import RecordedRun
from screens.app import LabApp
from screens.crash import Crash
from screens.navigation import Opening
from screens.replay.replay import ReplayScreen
from screens.sent.sent import SentScreen
from screens.sent.source import StoredAlbum
from screens.sent.words import NOTHING, sent_words
from store.store import Store
from tests.screens.resting import rests
from tests.screens.runs import HOSTILE, WHOLE, painted, whole_run

TAP = Action("click", (270, 220))
Until = Callable[..., Awaitable[None]]
USAGE = Usage(14_310, 402, 12_000, 0.0123, 3.25, 2)


def model_run(*, hostile: bool = False) -> Imported:
    """The whole run with a model in it: two pictures and a price at step 1, an answer without an action at step 2."""
    run = whole_run(hostile=hostile)
    shas = tuple(run.images)[:2]
    words = HOSTILE if hostile else "You work a phone.\n\n[user]\nThe screen now"
    for index, proposed in (
        (1, Proposed(Action("click", (270, 220)), "I open it.", Prompt(words, shas), words, USAGE)),
        (2, Proposed(Action("other", text="the model's answer cannot be used"), "", Prompt("Again."), "Hm.", USAGE)),
    ):
        step = run.events[index]
        assert isinstance(step, Step)
        run.events[index] = msgspec.structs.replace(step, proposed=proposed)
    return run


def replaying(store: Store, step: int = 1, *, seat: Any = "developer") -> LabApp:
    return LabApp(store, Settings(overlay=False, seat=seat), Opening("replay", WHOLE, step))


async def page(app: LabApp, pilot: Any, until: Until, step: int = 1) -> None:
    """Opens the page once the replay shows that step."""
    await until(pilot, lambda: isinstance(app.screen, ReplayScreen) and f"Step {step}" in painted(app))
    await pilot.press("p")
    await until(pilot, lambda: shown(app))


def shown(app: LabApp) -> bool:
    return (
        isinstance(app.screen, SentScreen) and "What the model was sent" in painted(app) and app.screen._mirror.settled
    )


async def test_all_of_it_is_one_key_away_and_esc_closes_it(store: Store, until: Until) -> None:
    store.runs.add(model_run())
    app = replaying(store)
    async with app.run_test(size=(120, 40)) as pilot:
        await page(app, pilot, until)
        for words in (
            "Sent at step 1   rule", "14,310 (12,000 cached) + 402 tokens, $0.0123, 3.2 s, 2 tries", "It answered",
            "You work a phone.", "The screen now", "Picture 1 of 2", "540x1200",
        ):  # fmt: skip
            assert words in painted(app)
        await pilot.press("i")
        await until(pilot, lambda: "Picture 2 of 2" in painted(app))
        await pilot.press("y")
        assert app.clipboard == "You work a phone.\n\n[user]\nThe screen now"
        await pilot.press("right_square_bracket")
        await until(pilot, lambda: "Sent at step 2" in painted(app) and "What came of it" in painted(app))
        assert "the model's answer cannot be used" in painted(app)
        await until(pilot, lambda: "Picture" not in painted(app))
        await pilot.press("escape")
        await until(pilot, lambda: isinstance(app.screen, ReplayScreen) and "Steps  2/6" in painted(app))


async def test_the_picture_that_was_wished_for_last_is_shown_however_late_another_is_read(
    store: Store, until: Until, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = model_run()
    store.runs.add(run)
    first, second = (run.images[sha].data for sha in tuple(run.images)[:2])
    read, begun, late, came = StoredAlbum.picture, list[bool](), threading.Event(), list[bool]()

    def picture(album: StoredAlbum, sha256: str) -> bytes | None:
        data = read(album, sha256)
        if data == second:
            begun.append(True)
            assert late.wait(180)
            came.append(True)
        return data

    monkeypatch.setattr(StoredAlbum, "picture", picture)
    app = replaying(store)
    async with app.run_test(size=(120, 40)) as pilot:
        await page(app, pilot, until)
        page_of_sent = app.screen
        assert isinstance(page_of_sent, SentScreen)
        await pilot.press("i")
        await until(pilot, lambda: bool(begun))  # one that is not begun is never read
        await pilot.press("i")
        await until(pilot, lambda: page_of_sent._picture_index == 0 and shown(app))
        late.set()
        await until(pilot, lambda: bool(came) and not app.workers._workers and shown(app))
        shot = page_of_sent._mirror._newest._shot
        assert shot is not None
        assert shot.stored == first
        assert "Picture 1 of 2" in painted(app)


async def test_a_fault_of_the_painter_is_raised_and_no_picture_that_never_comes(
    store: Store, until: Until, monkeypatch: pytest.MonkeyPatch
) -> None:
    def paint(*_: object) -> None:
        raise ArithmeticError("a fault of the painter")

    store.runs.add(model_run())
    monkeypatch.setattr("screens.mirror.painter.Painter.paint", paint)
    app = replaying(store)
    with pytest.raises(Crash, match="a fault of the painter"):
        async with app.run_test(size=(120, 40)) as pilot:
            await until(pilot, lambda: not app.is_running)


def test_an_answer_without_what_was_sent_does_not_say_that_no_model_was_asked() -> None:
    for proposed in (Proposed(TAP, raw="tap"), Proposed(TAP, usage=USAGE)):
        words = sent_words(proposed).plain
        assert "Its source did not keep what it was sent." in words
        assert "No model was asked" not in words
    assert sent_words(Proposed(TAP)).plain == NOTHING


async def test_a_run_ends_and_begins_with_nothing_beyond(store: Store, until: Until) -> None:
    store.runs.add(model_run())
    app = replaying(store)
    async with app.run_test(size=(80, 24)) as pilot:
        await page(app, pilot, until)
        await pilot.press("left")
        assert "Sent at step 1" in painted(app)
        await pilot.press(*["right"] * 9)
        await until(pilot, lambda: "The run ends here." in painted(app))
        await pilot.press("h")
        await until(pilot, lambda: "No model was asked in this step" in painted(app))


async def test_a_models_words_are_painted_as_characters(store: Store, until: Until) -> None:
    store.runs.add(model_run(hostile=True))
    app = replaying(store)
    async with app.run_test(size=(180, 40)) as pilot:
        await page(app, pilot, until)
        seen = painted(app)
        await pilot.press("y")
        assert "\x1b" not in app.clipboard
    assert seen.count(HOSTILE.replace("\x1b", "\\x1b").replace("\x07", "\\x07")) == 2
    assert "\x1b" not in seen


async def test_pictures_that_a_copy_left_out_are_said_to_be_missing(store: Store, until: Until, tmp_path: Path) -> None:
    store.runs.add(model_run())
    store.pack(tmp_path / "packed.db", images=False)
    with Store.open(tmp_path / "packed.db") as packed:
        app = replaying(packed)
        async with app.run_test(size=(120, 40)) as pilot:
            await page(app, pilot, until)
            assert "not in this file" in painted(app)
            assert "You work a phone." in painted(app)


async def test_a_rater_has_no_such_page(store: Store, until: Until) -> None:
    store.runs.add(model_run())
    app = replaying(store, seat="rater")
    async with app.run_test(size=(120, 40)) as pilot:
        await until(pilot, lambda: isinstance(app.screen, ReplayScreen) and "Steps  1/6" in painted(app))
        await pilot.press("p")
        await pilot.pause()
        assert isinstance(app.screen, ReplayScreen)


async def test_a_models_thinking_is_shown_with_where_it_stood(store: Store, until: Until) -> None:
    run = model_run()
    step = run.events[1]
    assert isinstance(step, Step)
    usage = msgspec.structs.replace(USAGE, without=("images", "temperature"))
    proposed = msgspec.structs.replace(
        step.proposed, thinking="Zthinking [/] aloud", thinking_source="reasoning_content", usage=usage
    )
    run.events[1] = msgspec.structs.replace(step, proposed=proposed)
    store.runs.add(run)
    app = replaying(store)
    async with app.run_test(size=(120, 40)) as pilot:
        await page(app, pilot, until)
        await until(pilot, lambda: "Zthinking [/] aloud" in painted(app))
        assert "It thought (reasoning_content)" in painted(app)
        assert "without images (model_picture) and temperature" in painted(app)


def test_what_is_not_known_is_not_made_up() -> None:
    assert usage_words(Usage()) == "price unknown"
    assert spent_by([]) is None
    assert spent_by([Proposed(TAP), Proposed(TAP)]) is None
    mixed = spent_by(
        [Proposed(TAP, usage=USAGE), Proposed(TAP, usage=Usage(100, 10)), Proposed(TAP, usage=Usage(tries=3))]
    )
    assert spent_words(Spent(3, 4, 0, 0, 0, None, 3, 1.0, 3)) == "3 turns in 4 calls, usage unknown, 1.0 s"
    assert mixed == Spent(2, 6, 14_410, 412, 12_000, 0.0123, 1, 3.25)
    assert spent_words(Spent(0, 5, 0, 0, 0, None, 0, 14.0)) == "no answer in 5 calls, 14.0 s"
    assert spent_words(mixed) == (
        "2 turns in 6 calls, 14,410 (12,000 cached) + 412 tokens, $0.0123 and 1 turn of unknown price, 3.2 s"
    )


@pytest.mark.parametrize("size", [(80, 24), (120, 40)])
def test_the_page_looks_as_it_did(store: Store, snap_compare: Any, until: Until, size: tuple[int, int]) -> None:
    store.runs.add(model_run())
    app = replaying(store)

    async def rest(pilot: Any) -> None:
        await page(app, pilot, until)
        await rests(pilot, lambda: shown(app))

    assert snap_compare(app, terminal_size=size, run_before=rest)


def test_of_a_run_that_is_not_read_yet_nothing_was_sent(store: Store) -> None:
    store.runs.add(whole_run())
    assert StoredAlbum(RecordedRun(store.runs, WHOLE)).read(0) is None
    assert StoredAlbum(RecordedRun(store.runs, WHOLE)).read(-1) is None
