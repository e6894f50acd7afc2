"""Words that no phone said are read from its picture, marked as read, and only where somebody looks."""

from __future__ import annotations

import asyncio
import io
import threading
from collections.abc import Iterator
from typing import Any

import msgspec
import pytest
from PIL import Image
from textual.pilot import Pilot

from lab.core.settings import Settings
from lab.core.study.protocol import Protocol, Show
from lab.core.study.study import Unit
from lab.ocr import engine
from lab.ocr.reader import TextReader, forget
from screens.annotate.phone_pane import PhonePane
from screens.app import LabApp
from screens.mirror.mirror import Mirror
from screens.mirror.painter import Painter
from screens.mirror.shot import MirrorShot, MirrorView
from screens.navigation import Opening
from screens.replay.phone_pane import StillPhone
from screens.replay.timeline import Timeline
from screens.review.privacy import PrivacyScreen
from store.store import Store
from tests.crossed import crossed
from tests.pictured_runs import RUN, pictured_run, screen, two_pictures
from tests.read_once import by_the_engine, read_before, read_once
from tests.screens.annotate.sample_studies import STARS, rating, ready, studied
from tests.screens.resting import burst
from tests.screens.runs import painted

__all__ = ["read_once"]
pytestmark = crossed
READ, UNREAD = "words read from the picture", "its words could not be read"


@pytest.fixture(scope="module", autouse=True)
def _cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
        patch.setattr("lab.ocr.reader._PATIENCE", 900.0)  # on a busy machine reading takes its time
        read_before(*(screen(name)[0].data for name in ("settings", "clock")))
        yield


@pytest.fixture
def app(store: Store) -> LabApp:
    store.runs.add(pictured_run())
    return LabApp(store, Settings(), Opening("replay", trace_id=RUN, step=1), reads_words=True)


def phone(app: LabApp) -> StillPhone:
    return app.screen.query_one(StillPhone)


async def stands(pilot: Pilot[None], until: Any, words: str, step: int) -> str:
    """What is painted once these words are, at this step."""
    await until(pilot, lambda: f"Steps  {step}/" in painted(pilot.app) and words in painted(pilot.app))
    return painted(pilot.app)


def a_row_of_settings() -> bytes:
    """Of a square of this side the engine reads a row in the least time."""
    out = io.BytesIO()
    with Image.open(io.BytesIO(screen("settings")[0].data)) as whole:
        square = Image.new("RGB", (736, 736), "white")
        square.paste(whole.crop((150, 440, 886, 650)), (0, 263))
    square.save(out, "PNG")
    return out.getvalue()


async def test_a_picture_without_a_tree_gets_its_words_and_the_step_says_which(
    app: LabApp, until: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What the engine's own process reads for an app at last is small, and read there and then."""
    forget()
    async with app.run_test(size=(120, 40)) as pilot:
        shown = await stands(pilot, until, READ, 1)
        await until(pilot, lambda: "Display" in painted(app) and "Battery" in painted(app))
        await pilot.press("u")
        shown = await stands(pilot, until, "Read from the picture by rapidocr", 1)
        assert "This step has no UI tree." in shown
        await pilot.press("u", "down", "down")
        await stands(pilot, until, "Alarm", 3)
        await until(
            pilot,
            lambda: READ not in painted(app),
        )
        assert phone(app).words is None, "this phone said itself what is on its screen"
        await pilot.press("down")
        await stands(pilot, until, READ, 4)
        reader = app.text_reader
        assert reader is not None
        monkeypatch.setattr(TextReader, "_ask_worker", by_the_engine)
        text = await asyncio.to_thread(reader.read, "1" * 64, a_row_of_settings())
        assert "Wi-Fi" in [line.text for line in text.lines]
        assert reader.pid is not None
    assert reader.pid is None, "the process ends with the app"


def test_what_was_read_is_in_an_ink_of_its_own() -> None:
    blob, tree = screen("settings")
    reader = TextReader()
    try:
        read = reader.read(blob.sha256, blob.data).tree
    finally:
        reader.close()
    inks = []
    for one in (tree, read):
        painter = Painter()
        painter.paint(MirrorShot(None, (1080, 2400), one, stored=blob.data), MirrorView((45, 50)))
        inks.append({text.said.text: text.words.colour for text in painter.reading.shown})
    both = inks[0].keys() & inks[1].keys()
    assert len(both) >= 6
    assert all(inks[0][words] != inks[1][words] for words in both)


async def test_where_it_is_not_wanted_nothing_is_read(store: Store, until: Any) -> None:
    store.runs.add(pictured_run())
    app = LabApp(store, Settings(), Opening("replay", trace_id=RUN, step=1))
    async with app.run_test(size=(120, 40)) as pilot:
        await stands(pilot, until, "Before", 1)
        assert app.text_reader is None
        assert READ not in painted(app)


async def test_without_the_extra_its_name_is_said_once(
    app: LabApp, until: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engine, "find_spec", lambda name: None)
    engine.engine_name.cache_clear()
    try:
        async with app.run_test(size=(120, 40)) as pilot:
            await until(pilot, lambda: bool(app._notifications))
            await pilot.press("down")
            await stands(pilot, until, "Before", 2)
            (said,) = app._notifications
            assert said.message == "are read by the extra hitlab[ocr]. pip install 'hitlab[ocr]' installs it."
            assert READ not in painted(app)
    finally:
        engine.engine_name.cache_clear()


async def test_a_picture_that_cannot_be_read_says_so_and_the_next_is_read(store: Store, until: Any) -> None:
    store.runs.add(two_pictures())
    forget()
    app = LabApp(store, Settings(), Opening("replay", trace_id="pictured-2", step=1), reads_words=True)
    async with app.run_test(size=(120, 40)) as pilot:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("lab.ocr.reader._PATIENCE", 0.0)
            await stands(pilot, until, UNREAD, 1)
        await pilot.press("down")
        await stands(pilot, until, READ, 2)


async def test_the_next_picture_is_read_ahead(store: Store, until: Any) -> None:
    store.runs.add(two_pictures())
    forget()
    app = LabApp(store, Settings(), Opening("replay", trace_id="pictured-2", step=1), reads_words=True)
    async with app.run_test(size=(120, 40)) as pilot:
        await stands(pilot, until, READ, 1)
        reader = app.text_reader
        assert reader is not None
        await until(pilot, lambda: reader.stored_text(screen("clock")[0].sha256) is not None)
        assert "Steps  1/" in painted(app)


@pytest.mark.parametrize(("shows", "read"), [(("screens", "actions"), True), (("actions",), False)])
async def test_a_rater_reads_a_picture_only_where_screens_are_shown(
    store: Store, until: Any, shows: tuple[Show, ...], read: bool
) -> None:
    store.runs.add(pictured_run())
    study = studied(store, Protocol("p", "P", "run", (STARS,), shows=shows), [Unit("u1", (RUN,))])
    app = rating(store, study)
    app.reads_words = True
    async with app.run_test(size=(120, 40)) as pilot:
        if read:
            await until(pilot, lambda: READ in painted(app) and "Battery" in painted(app))
            await pilot.press("r")
            still = app.screen.query_one(StillPhone)
            assert still.words is not None
            assert isinstance(still, PhonePane)
            await until(pilot, lambda: still.frame is not None)
            assert still.frame is not None
            assert still.frame.box in {line.box for line in still.words.lines}, "a line that was read can be framed"
        else:
            await until(pilot, lambda: "How personal?" in painted(app))
            await pilot.press("right")
            await until(pilot, lambda: ready(app))
            assert "Battery" not in painted(app)
            assert app._text_reader is None


async def test_two_runs_beside_each_other_are_both_read(store: Store, until: Any) -> None:
    store.runs.add_all([two_pictures(), two_pictures("pictured-3")])
    app = LabApp(store, Settings(), Opening("compare"), reads_words=True)
    async with app.run_test(size=(200, 60)) as pilot:
        await until(pilot, lambda: app.is_running and app.current_mode == "compare")
        app.open_compare("pictured-2", "pictured-3")
        await until(pilot, lambda: painted(app).count(READ) == 2)
        await until(pilot, lambda: painted(app).count("Battery") == 2)


async def test_what_was_read_can_be_covered_in_privacy(store: Store, until: Any) -> None:
    store.runs.add(two_pictures())
    app = LabApp(store, Settings(person="D1"), Opening("privacy", "pictured-2"), reads_words=True)
    async with app.run_test(size=(120, 40)) as pilot:
        await until(pilot, lambda: isinstance(app.screen, PrivacyScreen) and app.screen.footage.stage.words is not None)
        assert isinstance(app.screen, PrivacyScreen)
        finds = app.screen.finds
        await until(pilot, lambda: any(row.text == "Heron Walk 5G" for row in finds.rows))
        box = next(row.box for row in finds.rows if row.text == "Heron Walk 5G")
        assert box is not None
        app.screen._cover_tapped(Mirror.Tapped(app.screen.footage.stage.mirror, box.center, long=False))
        assert app.screen.plan is not None
        assert app.screen.plan.boxes == {0: [box]}


# -- search ------------------------------------------------------------------------------------------------------


def row(app: LabApp, step: int) -> str:
    """A step's line in the list."""
    steps = app.screen.query_one(Timeline)
    return steps.paint(step - 1, 30).plain


async def test_search_finds_what_was_read_and_says_so_and_how_much_is_not_read(store: Store, until: Any) -> None:
    store.runs.add(two_pictures())
    forget()
    reader = TextReader()
    settings = screen("settings")[0]
    reader.read(settings.sha256, settings.data)
    reader.close()
    app = LabApp(store, Settings(), Opening("replay", trace_id="pictured-2", step=2), reads_words=True)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("lab.ocr.reader._PATIENCE", 0.0)  # nothing more is read than what is known
        async with app.run_test(size=(120, 40)) as pilot:
            await stands(pilot, until, UNREAD, 2)
            await pilot.press("slash")
            await burst(pilot, *"battery")
            await until(pilot, lambda: "1 step, 1 as read; Enter: next" in painted(app))
            await stands(pilot, until, "1 screen is not read: alt+r", 1)
            assert "`hitlab runs ocr` reads it" in painted(app)
            assert "▹" in row(app, 1)
            assert "▸" not in painted(app)
            await until(pilot, lambda: "read" in [mark.label for mark in phone(app).mirror._marks])
            marks = [mark for mark in phone(app).mirror._marks if mark.label == "read"]
            (battery,) = screen("settings")[1].find(text="Battery")
            assert marks[0].at is not None
            assert marks[0].to is not None
            (left, top), (right, bottom) = marks[0].at, marks[0].to
            assert battery.bounds.contains((left + right) // 2, (top + bottom) // 2)
            await pilot.press("escape")
            await until(pilot, lambda: "not read" not in painted(app) and "▹" not in painted(app))
            mirror = phone(app).mirror
            await pilot.press("equals_sign", "equals_sign", "equals_sign", "shift+up", "shift+up", "shift+up")
            await until(pilot, lambda: mirror.settled and mirror.fit is not None and mirror.fit.y1 < top)
            await pilot.press("slash", "enter")
            await until(pilot, lambda: mirror.settled and mirror.fit is not None and mirror.fit.y1 > bottom)


async def test_a_key_reads_the_whole_run_and_the_search_finds_more(
    store: Store, until: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    store.runs.add(two_pictures())
    forget()
    asked, free = TextReader._ask_worker, threading.Event()

    def gated(reader: TextReader, data: bytes, *more: Any) -> Any:
        """The next step's picture, which is read beforehand, is read once it may."""
        if data == screen("clock")[0].data:
            free.wait()
        return asked(reader, data, *more)

    monkeypatch.setattr(TextReader, "_ask_worker", gated)
    app = LabApp(store, Settings(), Opening("replay", trace_id="pictured-2", step=1), reads_words=True)
    async with app.run_test(size=(120, 40)) as pilot:
        await until(pilot, lambda: "Steps  1/" in painted(app))
        await pilot.press("slash")
        await burst(pilot, *"alarm")
        await until(pilot, lambda: "not read" in painted(app))
        await pilot.press("alt+r")
        await until(pilot, lambda: "reading words: 1 screen to go" in painted(app))
        free.set()
        await until(pilot, lambda: "1 step, 1 as read" in painted(app) and "not read" not in painted(app))
        assert "▹" in row(app, 2)
        await pilot.press("enter")
        await stands(pilot, until, READ, 2)
        await pilot.press("escape")
        await until(pilot, lambda: "▹" not in painted(app))
        await pilot.press("R")
        await until(pilot, lambda: any("still to be read" in note.message for note in app._notifications))
    assert not [event for event in store.runs.events("pictured-2") if b"Alarm" in msgspec.json.encode(event)]


async def test_what_a_phone_told_is_found_as_told(app: LabApp, until: Any) -> None:
    forget()
    async with app.run_test(size=(120, 40)) as pilot:
        await until(pilot, lambda: "Steps  1/" in painted(app))
        await pilot.press("slash")
        await burst(pilot, *"alarm")
        await until(pilot, lambda: "1 step; Enter" in painted(app))
        assert "▸" in row(app, 3)
        await stands(pilot, until, "Alarm", 3)
        assert "read" not in [mark.label for mark in phone(app).mirror._marks]


async def test_where_nothing_reads_the_search_says_nothing_of_reading(store: Store, until: Any) -> None:
    store.runs.add(two_pictures())
    app = LabApp(store, Settings(), Opening("replay", trace_id="pictured-2", step=1))
    async with app.run_test(size=(120, 40)) as pilot:
        await until(pilot, lambda: "Steps  1/" in painted(app))
        await pilot.press("slash")
        await burst(pilot, *"battery")
        await until(pilot, lambda: "no step holds it" in painted(app))
        assert "not read" not in painted(app)
        await pilot.press("alt+r")
        assert app.text_reader is None
