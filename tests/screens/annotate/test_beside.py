"""The evidence pane: read without pictures, moved without focus, drawn on, and blind."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from lab.core.codec import encode
from lab.core.run.trace import AnyEvent
from lab.core.study.study import Unit, UnitText
from lab.core.task.task import Criterion, GoldenStep, Rubric, Task
from lab.studies.rating.blinded_runs import Blinded
from screens.annotate.unit_pane import Evidence, UnitPane
from screens.mirror.mirror import Mirror
from screens.mirror.terminal_graphics import TerminalGraphics
from screens.picture_window import PictureWindow
from store.runs.run_import import import_paths
from store.store import Store
from tests.screens.annotate.host import AGENT, ALL, FACT, MINIMAL, OTHER, Host, laid, lunch, study
from tests.screens.resting import rests
from tests.screens.runs import BARE, LONG, WAITING, WHOLE, bare_run, long_run, painted, waiting_run

Until = Callable[..., Awaitable[None]]
RUNS = Path(__file__).parents[4] / "shared" / "traces" / "mobileworld" / "runs"
TALL, LOW = (120, 40), (80, 18)


@pytest.fixture
def filled(store: Store) -> Store:
    store.runs.add(lunch(WHOLE))
    store.runs.add(lunch(OTHER, "other-method-9"))
    store.runs.add(bare_run())
    return store


def unit(*runs: str, **more: Any) -> Unit:
    return Unit("u", runs=runs, **more)


# -- what is read --------------------------------------------------------------------------------------------


async def test_a_step_is_read_without_its_picture_and_its_place_told_at_once_and_counted_from_nought(
    filled: Store, until: Until
) -> None:
    app = Host(filled, study(), unit(WHOLE))
    async with app.run_test(size=TALL) as pilot:
        await until(pilot, laid(app))
        side, page = app.beside.sides[0], app.beside.sides[0].page
        assert (app.beside.place, app.beside.step, app.beside.words) == (f"{WHOLE}@1", 0, "step 1 of 6")
        assert "Green tea" in page.content.plain
        app.beside.turn_after()
        await until(pilot, lambda: "On the screen after it" in page.content.plain)
        assert "Green tea" not in page.content.plain
        app.beside.turn_after()
        await until(pilot, lambda: "Green tea" in page.content.plain)
        app.beside.move(1)
        await until(pilot, lambda: laid(app)() and side.number == 1)
        for part in ("Small or large?", "Large, and no coriander please.", "Wonton noodles", "Dumplings"):
            assert part in page.content.plain
        app.beside.move(1)
        assert (app.beside.place, app.beside.step) == (f"{WHOLE}@3", 2)
        await until(pilot, lambda: app.of(UnitPane.PlaceChanged)[-1].place == f"{WHOLE}@3")
        app.beside.move(2)
        await until(pilot, laid(app))
        assert "✗ rejected" in page.content.plain
        assert "Order my usual lunch" in painted(app)
        app.beside.go_to_edge(-1)
        assert (app.beside.place, app.beside.step, app.beside.words) == (f"{WHOLE}@7", None, "the end")
        assert app.beside.question(-1)
        assert app.beside.step == 4
        assert not app.beside.question(1)
        assert app.beside.search("coriander, thank you") == "1 step"
        assert app.beside.step == 3
        assert app.beside.search("no such words") == ""


async def test_a_run_without_screens_is_all_words(filled: Store, until: Until) -> None:
    app = Host(filled, study(), unit(BARE))
    async with app.run_test(size=TALL) as pilot:
        await until(pilot, laid(app))
        app.beside.go_to_edge(-1)
        await until(pilot, laid(app))
        side = app.beside.sides[0]
        assert "drag (200, 400) to (900, 1800)" in side.page.content.plain
        assert not side.shows_phone
        app.beside.turn_view()
        app.beside.toggle_close_up()
        assert not side.shows_phone
        assert app.of(UnitPane.CloseUpShown) == []
        assert app.beside.step == 4


async def test_hidden_words_are_not_painted_and_shown_ones_are(filled: Store, until: Until) -> None:
    """Nor does a search come upon what is hidden."""
    everything = (
        AGENT,
        FACT,
        "ordered noodles",
        "The usual lunch is on top",
        "one check failed",
        "Refuse what is dear",
    )
    app = Host(filled, study(), unit(WHOLE))
    async with app.run_test(size=(160, 60)) as pilot:
        for shows, hidden in ((MINIMAL, True), (ALL, False)):
            app.lay(study(shows=shows), unit(WHOLE))
            seen = ""
            await until(pilot, laid(app))
            app.beside.turn_header()
            for _ in range(8):
                await rests(pilot, laid(app))
                seen += painted(app)
                app.beside.move(1)
            assert "the end" in seen or "end: completed" in seen
            assert ("end: completed" not in seen) is hidden
            for words in everything[1:]:
                assert (words not in seen) is hidden, words
            assert AGENT not in seen
            for words in ("usual lunch is on top", "one check failed"):
                assert bool(app.beside.search(words)) == (not hidden), words


async def test_a_proactive_run_says_that_nothing_was_asked_for(store: Store, until: Until) -> None:
    for event in waiting_run():
        store.runs.append_event(WAITING, event)
    app = Host(store, study(), unit(WAITING))
    async with app.run_test(size=TALL) as pilot:
        await until(pilot, lambda: "nothing was asked for" in painted(app))
        assert "Turn the alarm off" not in app.beside.header.line.visual.__str__()
        app.beside.go_to_edge(-1)
        await until(pilot, laid(app))
        assert "the run stands here" in app.beside.sides[0].page.content.plain
        assert app.beside.step == 1


async def test_long_texts_scroll_and_the_sheet_keeps_the_focus(filled: Store, until: Until) -> None:
    app = Host(filled, study(shows=ALL), unit(WHOLE))
    async with app.run_test(size=LOW) as pilot:
        await until(pilot, laid(app))
        line = app.focused
        page = app.beside.sides[0].page
        await rests(pilot, lambda: page.max_scroll_y > 0)
        app.beside.scroll(1)
        await until(pilot, lambda: page.scroll_offset.y > 0)
        app.beside.scroll(-1)
        await until(pilot, lambda: page.scroll_offset.y == 0)
        app.beside.turn_header()
        header = app.beside.header.page
        await rests(pilot, lambda: header.size.height > 0 and header.max_scroll_y > 0)
        app.beside.scroll(1)
        await until(pilot, lambda: header.scroll_offset.y > 0)
        assert page.scroll_offset.y == 0
        for widget in (page, header, app.beside.sides[0].timeline, app.beside.sides[0].phone.mirror):
            await pilot.click(widget)
        await pilot.press("tab")
        assert app.focused is line


# -- moving --------------------------------------------------------------------------------------------------


async def test_it_goes_to_a_place_also_before_the_run_is_read(store: Store, until: Until) -> None:
    store.runs.add(long_run(300))
    app = Host(store, study(), unit(LONG))
    async with app.run_test(size=TALL) as pilot:
        await until(pilot, laid(app))
        app.beside.open(study(), unit(LONG))
        app.beside.move(3)
        assert app.beside.place == f"{LONG}@4"
        assert app.beside.go_to(f"{LONG}@251")
        assert app.beside.place == f"{LONG}@251"
        await until(pilot, lambda: app.beside.sides[0].timeline.count == 301 and laid(app)())
        assert app.beside.sides[0].view is not None
        assert app.beside.sides[0].view.number == 250
        assert app.beside.step == 250
        for elsewhere in (f"{WHOLE}@1", f"{LONG}@0", f"{LONG}@9999", "", "nonsense", f"{LONG}@²"):
            assert not app.beside.go_to(elsewhere)
        assert app.beside.step == 250


async def test_nothing_is_read_where_keys_are_heard(
    store: Store, until: Until, monkeypatch: pytest.MonkeyPatch
) -> None:
    store.runs.add(long_run(60))
    threads: set[threading.Thread] = set()
    events = Blinded.events

    def told(self: Blinded, trace_id: str, after: int = -1) -> Iterator[AnyEvent]:
        threads.add(threading.current_thread())
        return events(self, trace_id, after)

    monkeypatch.setattr(Blinded, "events", told)
    app = Host(store, study(), unit(LONG))
    async with app.run_test(size=TALL) as pilot:
        await until(pilot, laid(app))
        for by in (1, 30, -7):
            app.beside.move(by)
            await until(pilot, laid(app))
    assert threads
    assert threading.main_thread() not in threads


async def test_a_question_s_unit_opens_at_its_question_a_step_s_at_its_step_and_a_lost_run_says_so(
    filled: Store, until: Until
) -> None:
    app = Host(filled, study("question", (*MINIMAL, "persona")), unit(WHOLE, question="q2"))
    async with app.run_test(size=TALL) as pilot:
        await until(pilot, lambda: laid(app)() and app.beside.step == 4)
        await until(pilot, lambda: FACT in painted(app) and "Not yet." in painted(app))
        app.lay(study("step"), unit(WHOLE, step=3))
        await until(pilot, lambda: laid(app)() and bool(app.of(UnitPane.PlaceChanged)))
        assert app.beside.step == 3
        app.lay(study(), unit("99999999-0000-7000-8000-000000000009"))
        await until(pilot, lambda: "is not in" in painted(app))
        app.beside.move(1)
        assert app.beside.step is None


# -- two runs, and texts -------------------------------------------------------------------------------------


async def test_two_runs_stand_left_and_right_and_one_takes_the_keys(filled: Store, until: Until) -> None:
    pair = study("pair of runs", ALL[:-1], sided=True)
    app = Host(filled, pair, unit(WHOLE, OTHER))
    async with app.run_test(size=TALL) as pilot:
        await _left_and_right(app, pilot, until, WHOLE, OTHER)
        app.lay(pair, unit(WHOLE, OTHER), swap=True)
        await _left_and_right(app, pilot, until, OTHER, WHOLE)


async def _left_and_right(app: Host, pilot: Any, until: Until, first: str, second: str) -> None:
    await until(pilot, laid(app))
    assert app.beside.place == f"{first}@1"
    app.beside.turn_side()
    assert app.beside.place == f"{second}@1"
    app.beside.move(1)
    assert [side.number for side in app.beside.sides] == [0, 1]
    await rests(pilot, laid(app))
    shown = painted(app)
    assert "▸ Right  2/6" in shown
    assert "─ Left  1/6" in shown
    assert "other-method-9" not in shown
    assert AGENT not in shown
    assert app.beside.go_to(f"{first}@5")
    assert app.beside.words == "Left, step 5 of 6"


async def test_where_there_is_room_for_one_of_two_a_key_turns_to_the_other(filled: Store, until: Until) -> None:
    app = Host(filled, study("pair of runs", sided=True), unit(WHOLE, BARE))
    async with app.run_test(size=LOW) as pilot:
        await rests(pilot, laid(app))
        assert ('tap "Wonton noodles"' in painted(app), "open Mail" in painted(app)) == (True, False)
        app.beside.turn_side()
        await until(pilot, lambda: "open Mail" in painted(app) and "Wonton noodles" not in painted(app))


async def test_a_run_and_its_reference_are_called_so_and_never_change_places(filled: Store, until: Until) -> None:
    app = Host(filled, study("run"), unit(WHOLE, BARE), swap=True)
    async with app.run_test(size=TALL) as pilot:
        await until(pilot, lambda: laid(app)() and "The run  1/6" in painted(app) and "Reference  1/5" in painted(app))
        assert app.beside.place == f"{WHOLE}@1"


async def test_instruction_sets_stand_in_columns_without_their_makers_names(filled: Store, until: Until) -> None:
    given = (
        UnitText("User", "A nurse in Lisbon."),
        UnitText("our method", items=("Order noodles", "Call Mara"), side="A"),
        UnitText("their method", items=("Buy socks", "Book a flight"), side="B"),
    )
    app = Host(filled, study("pair of instruction sets", sided=True), unit(given=given))
    async with app.run_test(size=TALL) as pilot:
        for swap in (False, True):
            app.lay(study("pair of instruction sets", sided=True), unit(given=given), swap=swap)
            await rests(pilot, lambda: "Order noodles" in painted(app) and "nurse" in painted(app))
            row = next(line for line in painted(app).splitlines() if "Order noodles" in line)
            assert (row.index("Order noodles") > row.index("Buy socks")) is swap
            assert "method" not in painted(app)
            assert (app.beside.place, app.beside.step) == ("", None)


async def test_texts_that_are_not_compared_keep_their_titles(filled: Store, until: Until) -> None:
    given = (UnitText("What the agent guessed", "noodles", side="A"), UnitText("What was meant", "lunch", side="B"))
    app = Host(filled, study("pair of texts"), unit(given=given))
    async with app.run_test(size=LOW) as pilot:
        await until(pilot, lambda: "What the agent guessed" in painted(app) and "What was meant" in painted(app))


async def test_a_task_is_laid_out_as_far_as_it_is_shown(filled: Store, until: Until) -> None:
    task = Task("t", "general", "secret title", "Order lunch.", golden=(GoldenStep("open Food"),),
                rubric=Rubric((Criterion("c", "The right dish"),)), policy="secret policy")  # fmt: skip
    app = Host(filled, study("task", ("instruction",)), unit(task=task))
    async with app.run_test(size=LOW) as pilot:
        for shows, golden in ((("instruction",), False), (("instruction", "golden", "rubric"), True)):
            app.lay(study("task", shows), unit(task=task))  # type: ignore[arg-type]
            await rests(pilot, lambda: "Order lunch." in painted(app))
            assert ("open Food" in painted(app), "The right dish" in painted(app)) == (golden, golden)
            assert "secret" not in painted(app)


# -- the phone -----------------------------------------------------------------------------------------------


def cell(app: Host, at: tuple[int, int]) -> tuple[int, int]:
    """Where a pixel of the phone stands on the terminal."""
    mirror = app.beside.sides[0].phone.mirror
    fit = mirror.fit
    assert fit is not None
    return mirror.corner.x + fit.left + int(fit.column(at[0])), mirror.corner.y + fit.top + int(fit.row(at[1]))


async def test_a_region_is_drawn_by_a_click_or_a_drag_and_shown_again(filled: Store, until: Until) -> None:
    app = Host(filled, study(), unit(WHOLE))
    async with app.run_test(size=TALL) as pilot:
        await rests(pilot, laid(app))
        await _a_click_while_drawing_takes_the_thing_under_it_and_else_nothing(app, pilot, until)
        app.said.clear()
        start, end = cell(app, (100, 200)), cell(app, (400, 700))
        app.beside.draw_region()
        await until(pilot, lambda: "Which part?" in painted(app))
        await pilot.mouse_down(offset=end)
        await pilot.hover(offset=start)
        await pilot.mouse_up(offset=start)
        await until(pilot, lambda: len(app.of(UnitPane.RegionDrawn)) == 1)
        box = app.of(UnitPane.RegionDrawn)[0]
        assert box.place == f"{WHOLE}@1"
        assert all(abs(a - b) < 60 for a, b in zip(box.region, (100, 200, 400, 700), strict=True))
        assert box.region[0] < box.region[2]
        assert box.region[1] < box.region[3]
        assert not app.beside.drawing
        app.beside.mark_evidence([Evidence(box.place, box.region, "node 1"), Evidence(f"{WHOLE}@4")])
        await until(pilot, lambda: "node 1" in painted(app) and painted(app).count("◆") == 2)
        app.beside.move(1)
        await until(pilot, lambda: laid(app)() and "node 1" not in painted(app))


async def _a_click_while_drawing_takes_the_thing_under_it_and_else_nothing(app: Host, pilot: Any, until: Until) -> None:
    spot = cell(app, (270, 220))
    await pilot.click(offset=spot)
    app.beside.draw_region()
    await pilot.click(offset=spot)
    await until(pilot, lambda: bool(app.of(UnitPane.RegionDrawn)))
    assert len(app.of(UnitPane.RegionDrawn)) == 1
    left, top, right, bottom = app.of(UnitPane.RegionDrawn)[0].region
    assert left < 270 < right
    assert top < 220 < bottom
    assert (right - left) * (bottom - top) < 540 * 300


async def test_a_region_is_framed_by_keys_thing_after_thing(filled: Store, until: Until) -> None:
    app = Host(filled, study(), unit(WHOLE))
    async with app.run_test(size=TALL) as pilot:
        await rests(pilot, laid(app))
        phone = app.beside.sides[0].phone
        plain = painted(app)
        assert app.beside.draw_region()
        await until(pilot, lambda: app.focused is phone and "Which part?" in painted(app))
        assert phone.frame is not None
        assert phone.frame.box == phone.frame.things[0]
        await until(pilot, lambda: painted(app).count("┄") > plain.count("┄"))
        await pilot.press("tab", "down")
        thing = phone.frame.box
        assert thing != phone.frame.things[0]
        await pilot.press("shift+right", "J", "ctrl+left")
        box = phone.frame.box
        assert box not in phone.frame.things
        assert (box.width - thing.width, box.height - thing.height) != (0, 0)
        await pilot.press("enter")
        await until(pilot, lambda: bool(app.of(UnitPane.RegionDrawn)))
        assert app.of(UnitPane.RegionDrawn)[0].region == box
        assert app.of(UnitPane.RegionDrawn)[0].place == f"{WHOLE}@1"
        assert not app.beside.drawing
        assert not phone.can_focus
        await until(pilot, lambda: painted(app).count("┄") == plain.count("┄"))


async def test_of_an_enlarged_phone_the_part_is_seen_that_is_framed(filled: Store, until: Until) -> None:
    app = Host(filled, study(), unit(WHOLE))
    async with app.run_test(size=(80, 24)) as pilot:
        await rests(pilot, laid(app))
        app.beside.draw_region()
        phone = app.beside.sides[0].phone
        await until(pilot, lambda: phone.mirror.fit is not None)
        phone.mirror.closer((0, 0))

        def seen() -> bool:
            fit = phone.mirror.fit
            assert fit is not None
            assert phone.frame is not None
            x, y = phone.frame.box.center
            return phone.mirror.enlarged and fit.x0 <= x < fit.x1 and fit.y0 <= y < fit.y1

        await until(pilot, lambda: phone.mirror.settled and phone.mirror.enlarged)
        await pilot.press(*["ctrl+down"] * 40)
        await until(pilot, seen)
        await pilot.press("tab")
        await until(pilot, seen)


async def test_another_screen_is_framed_anew_while_a_region_is_drawn(filled: Store, until: Until) -> None:
    app = Host(filled, study(), unit(WHOLE))
    async with app.run_test(size=TALL) as pilot:
        await rests(pilot, laid(app))
        phone = app.beside.sides[0].phone
        app.beside.draw_region()
        assert phone.frame is not None
        await pilot.press("shift+right", "shift+right", "shift+down")
        first, sized = phone.frame.things, phone.frame.box
        app.beside.move(1)

        def anew() -> bool:
            return phone.frame is not None and phone.frame.things != first

        await until(pilot, anew)
        assert phone.frame.box == phone.frame.things[0] != sized


async def test_without_a_picture_no_region_is_drawn(filled: Store, until: Until) -> None:
    app = Host(filled, study(shows=("instruction", "actions")), unit(WHOLE))
    async with app.run_test(size=TALL) as pilot:
        await rests(pilot, laid(app))
        assert not app.beside.draw_region()
        assert not app.beside.drawing


async def test_of_two_phones_the_one_that_is_dragged_on_is_meant(filled: Store, until: Until) -> None:
    app = Host(filled, study("pair of runs"), unit(WHOLE, OTHER))
    async with app.run_test(size=(200, 60)) as pilot:
        await rests(pilot, laid(app))
        app.beside.draw_region()
        other = app.beside.sides[1].phone.mirror
        app.beside.post_message(Mirror.Dragged(other, (10, 20), (300, 400), 5))
        await until(pilot, lambda: bool(app.of(UnitPane.RegionDrawn)))
        assert app.of(UnitPane.RegionDrawn)[0].place == f"{OTHER}@1"


async def test_a_picture_in_full_is_told_of_and_so_is_every_further_one(filled: Store, until: Until) -> None:
    app = Host(filled, study(), unit(WHOLE))
    async with app.run_test(size=TALL) as pilot:
        await rests(pilot, laid(app))
        app.beside.toggle_close_up()
        await until(pilot, lambda: [one.place for one in app.of(UnitPane.CloseUpShown)] == [f"{WHOLE}@1"])
        side = app.beside.sides[0]
        await until(pilot, lambda: side.phone.region.width > 100 and not side.timeline.display)
        app.beside.move(1)
        await until(pilot, lambda: [one.place for one in app.of(UnitPane.CloseUpShown)] == [f"{WHOLE}@1", f"{WHOLE}@2"])
        app.beside.toggle_close_up()
        await until(pilot, lambda: bool(side.timeline.display))
        app.beside.move(1)
        await until(pilot, laid(app))
        assert len(app.of(UnitPane.CloseUpShown)) == 2


async def test_the_page_of_pictures_follows_the_side_that_keys_move(filled: Store, until: Until) -> None:
    window = PictureWindow()
    try:
        app = Host(filled, study("pair of runs", sided=True), unit(WHOLE, OTHER), window=window)
        async with app.run_test(size=TALL) as pilot:
            await until(pilot, lambda: laid(app)() and "step 1" in window._shown.caption)
            app.beside.move(1)
            await until(pilot, lambda: "step 2, before: ask" in window._shown.caption)
            app.beside.turn_side()
            app.beside.move(3)
            await until(pilot, lambda: "step 4, before: type" in window._shown.caption)
    finally:
        window.close()


async def test_a_region_may_be_dragged_on_the_page_of_pictures(filled: Store, until: Until) -> None:
    window = PictureWindow()
    try:
        app = Host(filled, study(), unit(WHOLE), window=window)
        async with app.run_test(size=TALL) as pilot:
            await until(pilot, lambda: laid(app)() and "step 1" in window._shown.caption)
            body = encode({"number": window._shown.number, "box": [10, 20, 300, 400]})
            assert not window.accept_region(body)
            assert app.beside.draw_region()
            body = encode({"number": window._shown.number, "box": [10, 20, 300, 400]})
            assert await asyncio.to_thread(window.accept_region, body)
            await until(pilot, lambda: bool(app.of(UnitPane.RegionDrawn)))
            (boxed,) = app.of(UnitPane.RegionDrawn)
            assert (boxed.place, boxed.region) == (f"{WHOLE}@1", (10, 20, 300, 400))
            assert not window.wait_newer(-1)["asks"]
    finally:
        window.close()


async def test_over_the_terminals_own_picture_a_region_is_drawn_in_characters(filled: Store, until: Until) -> None:
    app = Host(filled, study(), unit(WHOLE))
    app.graphics = TerminalGraphics("kitty")
    async with app.run_test(size=TALL) as pilot:
        await until(pilot, lambda: laid(app)() and app.beside.sides[0].phone.shows_picture)
        phone = app.beside.sides[0].phone
        assert app.beside.draw_region()
        await until(pilot, lambda: phone.mirror.display and not phone.shows_picture)
        app.beside.draw_region(on=False)
        await until(pilot, lambda: phone.shows_picture and not phone.mirror.display)
        app.beside.turn_overlay()
        await until(pilot, lambda: not phone.shows_picture)
        assert app.beside.draw_region()
        app.beside.draw_region(on=False)
        await until(pilot, lambda: phone.mirror.display and not phone.shows_picture)


# -- real runs -----------------------------------------------------------------------------------------------


@pytest.mark.skipif(not RUNS.is_dir(), reason="MobileWorld's runs in ../shared/traces are not here")
async def test_published_runs_are_read_by_words_alone(store: Store, until: Until) -> None:
    import_paths(store, [RUNS])
    runs = sorted(store.runs.summaries(), key=lambda run: -run.questions)[:4]
    assert runs
    app = Host(store, study(), unit(runs[0].id))
    async with app.run_test(size=TALL) as pilot:
        for run in runs:
            app.lay(study(), unit(run.id))
            await rests(pilot, laid(app))
            assert app.beside.question(1) or "?" in app.beside.sides[0].timeline.rows[0].marks
            await until(pilot, laid(app))
            words = app.beside.sides[0].page.content.plain
            assert "Question" in words
            assert "Reply" in words
            assert "Thought" not in words
            app.beside.go_to_edge(-1)
            await until(pilot, laid(app))
            assert run.agent not in painted(app)
