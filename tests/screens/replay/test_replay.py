"""Replay: scrubbing, before and after, search, play, hostile text, runs without pictures, runs that are not there."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from lab.core.run.trace import AnyEvent, Started
from lab.core.settings import Settings
from lab.runs.replay.recorded_run import RecordedPlace, RecordedRun
from screens.app import LabApp
from screens.mirror.mirror import Mirror
from screens.navigation import Opening
from screens.replay.phone_pane import StillPhone
from screens.replay.replay import ReplayScreen
from screens.replay.run_player import LONGEST, Player
from screens.replay.timeline import Timeline
from screens.theme import FOUND
from screens.widgets.text_page import TextPage
from store.runs.runs import Runs
from store.store import Store
from tests.screens.resting import burst, rests
from tests.screens.runs import BARE, HOSTILE, LONG, WAITING, WHOLE, long_run, painted, whole_run

Until = Callable[..., Awaitable[None]]
RUNS = Path(__file__).parents[3].parent / "shared" / "traces" / "mobileworld" / "runs"


def replay(store: Store, trace: str, step: int | None = None, *, overlay: bool = True) -> LabApp:
    return LabApp(store, Settings(overlay=overlay), Opening("replay", trace, step))


def at(app: LabApp, title: str) -> bool:
    """Whether the sheet shows this place and the phone has drawn it."""
    if not isinstance(app.screen, ReplayScreen):
        return False
    still = app.screen.query(StillPhone)
    return app.screen.query_one("#sheet").border_title == title and still.first().mirror.settled


async def test_it_opens_at_the_step_people_count(full: Store, until: Until) -> None:
    app = replay(full, WHOLE, 2)
    async with app.run_test(size=(120, 40)) as pilot:
        await until(pilot, lambda: at(app, "Step 2"))
        seen = painted(app)
        for words in (
            "Order my usual lunch, and ask me",
            "Two sizes, and no order tells which.",
            "Small or large?",
            "1  small",
            "Reply of P01",
            "Large, and no coriander please.",
            "first key after 2.5 s, sent after 8.0",
            "Steps  2/6",
        ):
            assert words in seen
        await pilot.press("y")
        assert app.clipboard == f"{WHOLE}@2"


async def test_every_way_to_scrub(full: Store, until: Until) -> None:
    app = replay(full, WHOLE)
    async with app.run_test(size=(120, 40)) as pilot:
        await until(pilot, lambda: at(app, "Step 1"))
        for key, place in (
            ("right", "Step 2"), ("l", "Step 3"), ("j", "Step 4"), ("h", "Step 3"), ("k", "Step 2"), ("n", "Step 5"),
            ("N", "Step 2"), ("end", "The end"), ("left", "Step 6"), ("home", "Step 1"),
            ("right_square_bracket", "Step 2"),
        ):  # fmt: skip
            await pilot.press(key)
            await until(pilot, lambda place=place: at(app, place))
        await pilot.press("tab", "right")  # the phone has the focus, and lies in it whole
        await until(pilot, lambda: at(app, "Step 3"))


async def test_a_step_shows_its_action_gate_error_and_refusal(full: Store, until: Until) -> None:
    app = replay(full, WHOLE)
    async with app.run_test(size=(120, 40)) as pilot:
        await until(pilot, lambda: at(app, "Step 1"))
        assert 'tap "Wonton noodles"' in painted(app)
        assert "at (270, 220)" in painted(app)
        for step, words in (
            (3, ["swipe up", "to (270, 300)", "the phone did not answer within 5 s"]),
            (4, ["amended by P01 after 2.5 s", 'done instead: type "no coriander"', "shorter"]),
            (5, ["✗ rejected", "Not yet.", "of its own accord: accept, reject,"]),
            (7, ["Score", "0.75", "✓ large chosen", "✗ basket shown", "success: true", "The basket holds the right"]),
        ):
            app.open_replay(WHOLE, step)
            await until(pilot, lambda step=step: at(app, f"Step {step}" if step < 7 else "The end"))
            assert not [word for word in words if word not in painted(app)]


async def test_before_and_after_and_the_mark_of_the_action(full: Store, until: Until) -> None:
    app = replay(full, WHOLE)
    async with app.run_test(size=(120, 40)) as pilot:
        await until(pilot, lambda: at(app, "Step 1"))
        mirror = app.screen.query_one(Mirror)
        assert "Green tea" in painted(app)
        assert mirror.border_title == "Before"
        await pilot.press("b")
        await until(pilot, lambda: mirror.border_title == "After" and at(app, "Step 1"))
        assert "Green tea" not in painted(app)
        await pilot.press("b", "end")
        await until(pilot, lambda: mirror.border_title == "Last screen" and at(app, "The end"))
        assert "Pay" in painted(app)


async def test_tree_and_what_was_sent_are_one_key_away_and_esc_leaves_them(full: Store, until: Until) -> None:
    app = replay(full, WHOLE)
    async with app.run_test(size=(120, 40)) as pilot:
        await until(pilot, lambda: at(app, "Step 1"))
        await pilot.press("u")
        await until(pilot, lambda: at(app, "UI tree at step 1"))
        assert 'TextView "Wonton noodles"' in painted(app)
        assert "#card0 clickable" in painted(app)
        await pilot.press("p")
        await until(pilot, lambda: "You work a phone." in painted(app))
        assert "Sent at step 1" in painted(app)
        await pilot.press("right")
        await until(pilot, lambda: "No model was asked in this step" in painted(app))
        await pilot.press("escape")
        await until(pilot, lambda: at(app, "UI tree at step 2"))
        await pilot.press("escape")
        await until(pilot, lambda: at(app, "Step 2"))
        await pilot.press("escape")
        await until(pilot, lambda: app.current_mode == "home")


async def test_search_looks_in_thoughts_actions_dialogue_and_screens(full: Store, until: Until) -> None:
    app = replay(full, WHOLE)
    async with app.run_test(size=(120, 40)) as pilot:
        await until(pilot, lambda: at(app, "Step 1"))
        for needle, place in (
            ("further", "Step 3"),
            ("thank", "Step 4"),
            ("not yet", "Step 5"),
            ("green", "Step 1"),
        ):
            await pilot.press("slash", "ctrl+u", *needle)
            await until(pilot, lambda place=place: at(app, place))
        await pilot.press("ctrl+u")
        await burst(pilot, *"remark")
        await until(pilot, lambda: at(app, "Step 3") and "2 steps; Enter: next" in painted(app))
        await pilot.press("enter")
        await until(pilot, lambda: at(app, "Step 4"))
        still = app.screen.query_one(StillPhone)
        steps, words = app.screen.query_one(Timeline), app.screen.query_one("#sheet", TextPage)
        await until(pilot, lambda: "4▸" in painted(app) and "3▸" in painted(app) and "2▸" not in painted(app))
        hits = [words.content.plain[span.start : span.end] for span in words.content.spans if span.style == FOUND]
        assert {hit.casefold() for hit in hits} == {"remark"}
        await burst(pilot, *"zzz")
        await until(pilot, lambda: "no step holds it" in painted(app) and "▸" not in painted(app))
        await pilot.press("ctrl+u")
        await burst(pilot, *"completed")
        await until(pilot, lambda: at(app, "The end") and " the end; Enter: next" in painted(app))
        await pilot.press("ctrl+u")
        await burst(pilot, *"green")
        await until(pilot, lambda: at(app, "Step 1") and "box" in [mark.kind for mark in still.mirror._marks])
        await pilot.press("escape")
        await until(pilot, lambda: not steps.needle and "▸" not in painted(app))
        assert "box" not in [mark.kind for mark in still.mirror._marks]
        steps.go(3)
        await until(pilot, lambda: at(app, "Step 4"))
        await pilot.press("k")
        await until(pilot, lambda: at(app, "Step 3"))


async def test_what_was_looked_for_in_one_run_is_not_told_of_another(full: Store, until: Until) -> None:
    app = replay(full, WHOLE)
    async with app.run_test(size=(120, 40)) as pilot:
        await until(pilot, lambda: at(app, "Step 1"))
        await pilot.press("slash")
        await burst(pilot, *"remark")
        await until(pilot, lambda: "2 steps; Enter: next" in painted(app))
        app.open_replay(BARE)
        await until(pilot, lambda: "no screenshot here" in painted(app))
        assert "2 steps" not in painted(app)
        await pilot.press("slash")
        await until(pilot, lambda: "Search: remark" in painted(app))
        assert "2 steps" not in painted(app)


async def test_play_goes_on_to_the_end_and_stops(full: Store, until: Until) -> None:
    app = replay(full, BARE, 3)
    async with app.run_test() as pilot:
        await until(pilot, lambda: at(app, "Step 3"))
        screen = app.screen
        assert isinstance(screen, ReplayScreen)
        screen.footage.playback.seconds = lambda here, following: 0.01  # type: ignore[method-assign]
        await pilot.press("space")
        await until(pilot, lambda: at(app, "Step 5") and "standing still" in painted(app))


def test_the_recorded_pace_is_capped_and_without_times_it_is_even() -> None:
    player = Player(None, lambda: None)  # type: ignore[arg-type]
    first = RecordedPlace("step", 1, "tap", started="2025-01-01T00:00:00+00:00", ended="2025-01-01T00:00:01+00:00")
    soon = first._replace(started="2025-01-01T00:00:02+00:00")
    late = first._replace(started="2025-01-01T00:05:00+00:00")
    assert player.seconds(first, soon) == 2
    assert player.seconds(first, late) == LONGEST
    assert player.seconds(first, RecordedPlace("end", 2, "completed")) == 1
    assert player.seconds(RecordedPlace("step", 1, "tap"), RecordedPlace("step", 2, "tap")) == 1
    player.recorded = False
    assert player.seconds(first, soon) == 1


async def test_a_run_without_pictures_gives_the_words_the_room(full: Store, until: Until) -> None:
    app = replay(full, BARE, 2)
    async with app.run_test(size=(120, 40)) as pilot:
        await until(pilot, lambda: at(app, "Step 2"))
        await until(pilot, lambda: "no screenshot here" in painted(app))
        assert "tap (0, 1130)" in painted(app)
        await pilot.pause()
        bare = app.screen.query_one(StillPhone).size.width
        app.open_replay(WHOLE)
        await until(pilot, lambda: at(app, "Step 1") and app.screen.query_one(StillPhone).size.width > bare)


async def test_an_open_run_stands_at_its_question(full: Store, until: Until) -> None:
    app = replay(full, WAITING, 2)
    async with app.run_test(size=(120, 40)) as pilot:
        await until(pilot, lambda: at(app, "Step 2"))
        assert "none yet: the run stands here" in painted(app)


async def test_a_step_past_the_end_shows_the_end_and_says_so(full: Store, until: Until) -> None:
    app = replay(full, WHOLE, 40)
    async with app.run_test(size=(120, 40), notifications=True) as pilot:
        await until(pilot, lambda: at(app, "The end") and "There is no step 40" in painted(app))


async def test_strangers_words_are_painted_as_characters(store: Store, until: Until) -> None:
    store.runs.add(whole_run(hostile=True))
    app = replay(store, WHOLE)
    shown = HOSTILE.replace("\x1b", "\\x1b").replace("\x07", "\\x07")
    async with app.run_test(size=(180, 40)) as pilot:
        await until(pilot, lambda: at(app, "Step 1"))
        await until(pilot, lambda: painted(app).count(shown) >= 3)  # goal, thought, the name of what was tapped
        await pilot.press("p")
        await until(pilot, lambda: painted(app).count(shown) >= 2 and "Sent at step 1" in painted(app))
        assert "\x1b" not in painted(app)
        await pilot.press("escape")
        for key, place in (("u", "UI tree at step 1"), ("u", "Step 1"), ("j", "Step 2"), ("end", "The end")):
            await pilot.press(key)
            await until(pilot, lambda place=place: at(app, place))
            assert shown in painted(app)
            assert "\x1b" not in painted(app)
            assert "\x07" not in painted(app)
        await pilot.press("k", "k", "k", "k", "k")
        await until(pilot, lambda: at(app, "Step 2"))
        assert painted(app).count(shown) >= 3  # goal, question, reply


async def test_a_picture_that_was_left_out_is_said_to_be_missing(store: Store, until: Until, tmp_path: Path) -> None:
    store.runs.add(whole_run())
    store.pack(tmp_path / "packed.db", images=False)
    with Store.open(tmp_path / "packed.db") as packed:
        app = replay(packed, WHOLE)
        async with app.run_test(size=(120, 40)) as pilot:
            await until(pilot, lambda: at(app, "Step 1") and "its picture is not in this file" in painted(app))
            assert "Wonton noodles" in painted(app)  # the tree is still there


async def test_a_linked_picture_that_is_gone_is_said_to_be(store: Store, until: Until, tmp_path: Path) -> None:
    whole = whole_run()
    shots = {sha: tmp_path / f"{sha}.png" for sha in whole.images}
    for sha, path in shots.items():
        path.write_bytes(whole.images[sha].data)
    images = {sha: blob._replace(path=str(shots[sha])) for sha, blob in whole.images.items()}
    store.runs.add_independently([whole._replace(images=images)], link=True)
    for path in shots.values():
        path.unlink()
    app = replay(store, WHOLE)
    async with app.run_test(size=(120, 40)) as pilot:
        await until(pilot, lambda: at(app, "Step 1") and "its linked picture is gone" in painted(app))
        assert "Wonton noodles" in painted(app)  # the tree is still there


def test_a_place_is_read_by_itself_however_long_the_run(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    store.runs.add(long_run(300))
    reel = RecordedRun(store.runs, LONG)
    for lines in reel.read():
        reel.lines.extend(lines)
    assert len(reel.lines) == 301
    read: list[AnyEvent] = []

    def events(trace_id: str, after: int = -1) -> Iterator[AnyEvent]:
        for event in Runs.events(store.runs, trace_id, after):
            read.append(event)
            yield event

    monkeypatch.setattr(store.runs, "events", events)
    assert reel.view(250).event.proposed.thought == "Tap number 251."  # type: ignore[union-attr]
    assert len(read) == 2  # itself, and the one whose screen comes after
    reel.view(251)
    assert len(read) == 3


@pytest.mark.skipif(not RUNS.is_dir(), reason="the shared traces are not here")
async def test_published_runs_are_replayed(store: Store, until: Until) -> None:
    from store.runs.run_import import import_paths

    import_paths(store, [sorted(RUNS.iterdir())[0]])
    run = store.runs.summaries(1)[0]
    app = replay(store, run.id)
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: at(app, "Step 1"))
        for place in range(run.steps):
            app.screen.query_one(Timeline).go(place)
            await until(pilot, lambda place=place: at(app, f"Step {place + 1}"))
        await pilot.press("end")
        await until(pilot, lambda: at(app, "The end") and "Score" in painted(app))


async def test_a_title_that_has_no_blanks_is_cut_at_the_edge(store: Store, until: Until) -> None:
    run = whole_run()
    started = run.events[0]
    assert isinstance(started, Started)
    run.events[0] = replace(started, task=replace(started.task, title="照平时的习惯点一份午餐" * 20))
    store.runs.add(run)
    app = replay(store, WHOLE)
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: at(app, "Step 1"))
        assert "Replay   照平时的习惯点一份午餐" in painted(app)


async def settle(pilot: Any, title: str) -> None:
    await rests(pilot, lambda: at(pilot.app, title))


@pytest.mark.parametrize(("size", "step"), [((80, 24), 2), ((120, 40), 1)])
def test_replay_looks_as_it_did(full: Store, snap_compare: Any, size: tuple[int, int], step: int) -> None:
    app = replay(full, WHOLE, step, overlay=False)  # how words are set over pixels is the mirror's own test
    assert snap_compare(app, terminal_size=size, run_before=lambda pilot: settle(pilot, f"Step {step}"))


def test_replay_without_pictures_looks_as_it_did(full: Store, snap_compare: Any) -> None:
    app = replay(full, BARE, 5)
    assert snap_compare(app, terminal_size=(120, 40), run_before=lambda pilot: settle(pilot, "Step 5"))


def test_a_run_that_is_not_there_looks_as_it_did(full: Store, snap_compare: Any) -> None:
    app = replay(full, "nowhere")

    async def refused(pilot: Any) -> None:
        await rests(pilot, lambda: "F2 goes to Home" in painted(app))

    assert snap_compare(app, terminal_size=(80, 24), run_before=refused)
