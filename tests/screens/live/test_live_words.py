"""A live phone whose uiautomator says nothing: its words are read from its pictures, marked so, and kept nowhere."""

from __future__ import annotations

import threading
import time
from collections.abc import Awaitable, Callable, Iterator
from io import BytesIO
from typing import Any

import msgspec
import pytest
from PIL import Image
from textual.app import App, ComposeResult

from lab.core.run.step import Action
from lab.core.run.ui_tree import Bounds, UiTree
from lab.core.seams import Frame
from lab.core.settings import Settings
from lab.core.text.read_text import ReadText, is_from_ocr
from lab.devices.adb.adb import AdbPhone
from lab.ocr import engine
from lab.ocr.reader import TextReader, cache_folder
from lab.runs.breakpoints import OCR_NOTE
from lab.runs.session import Session
from lab.runs.spec import Spec
from screens.app import LabApp
from screens.live.live import LiveScreen
from screens.mirror.live_words import LiveWords
from screens.mirror.mirror import READ_WORDS, Mirror
from screens.navigation import Opening
from store.store import Store
from tests.crossed import crossed
from tests.pictured_runs import screen
from tests.read_once import read_before, read_once
from tests.screens.live.conftest import Cast, task
from tests.screens.runs import painted
from tests.simulators.phone.served.rig import AdbServer, Rig, adb_environment, adb_server, rig
from tests.simulators.phone.served.rig import until as eventually

__all__ = ["adb_environment", "adb_server", "read_once", "rig"]
pytestmark = crossed
Until = Callable[..., Awaitable[None]]
SETTINGS = Action("open_app", app="com.hitlab.settings")
SIZE = (1080, 2400)


@pytest.fixture(autouse=True)
def _cache(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr("lab.ocr.reader._PATIENCE", 900.0)  # on a busy machine reading takes its time


class LiveApp(LabApp):
    """The app with one live run on a served phone, seen by screencap."""

    def __init__(self, store: Store, rig: Rig, *, reads_words: bool = True, **spec: Any) -> None:
        super().__init__(store, Settings(seat="developer"), Opening("live"), reads_words=reads_words)
        self.agent = Cast((SETTINGS, "There is something to see."), held=True)
        phone = AdbPhone(rig.serial, via="screencap", fps=2)
        self.session = self.run_under_test = Session(store, Spec(task(), **spec), agent=self.agent, device=phone)
        self.notes: list[str] = []

    async def on_mount(self) -> None:
        await self.switch_mode("live")
        self.push_screen(LiveScreen(self.run_under_test))

    def on_unmount(self) -> None:
        self.agent.go.set()  # held, it would keep its phone, which starts an adb server anew when the tests' own ends

    def notify(self, message: str, **how: Any) -> None:
        self.notes.append(f"{how.get('title', '')}: {message}")
        super().notify(message, **how)

    @property
    def mirror(self) -> Mirror:
        return self.screen.query_one(Mirror)


@pytest.fixture
def silent(rig: Rig, adb_environment: AdbServer, monkeypatch: pytest.MonkeyPatch) -> Iterator[Rig]:
    """A served phone that uiautomator says nothing of."""
    monkeypatch.setenv("SCRCPY_SERVER_PATH", str(adb_environment.home / "none"))
    rig.faults.turn("restless", True)
    rig.phone.perform(SETTINGS)
    read_before(rig.phone.current_screen().png)
    yield rig
    rig.faults.clear()
    assert eventually(lambda: not [one for one in threading.enumerate() if one.name.startswith("adb ")])


@pytest.fixture
def absent(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """No engine is installed."""
    monkeypatch.setattr(engine, "find_spec", lambda name: None)
    engine.engine_name.cache_clear()
    yield
    monkeypatch.undo()
    engine.engine_name.cache_clear()


async def test_its_words_are_read_and_said_to_be_and_kept_nowhere(silent: Rig, store: Store, until: Until) -> None:
    app = LiveApp(store, silent)
    async with app.run_test(size=(120, 40)) as pilot:
        await until(pilot, lambda: READ_WORDS in painted(app) and "Battery" in painted(app))
        inks = {text.words.colour for text in app.mirror._shown.texts} if app.mirror._shown else set()
        assert inks
        await _where_the_border_is_narrow_it_says_so_in_few_words(app, pilot, until)
        app.agent.go.set()
        await until(pilot, lambda: app.run_under_test.over)
        await until(pilot, lambda: app.run_under_test.words.reader is None)  # what read ends with the run
    events = list(store.runs.events(app.run_under_test.trace_id))
    assert store.runs.trace(app.run_under_test.trace_id).status == "completed"
    assert all(b"Battery" not in msgspec.json.encode(event) for event in events)
    assert {event.before.tree for event in events if hasattr(event, "before")} <= {None, UiTree()}
    assert not list(cache_folder().rglob("*.json")), "a live picture is nobody's to keep"


async def _where_the_border_is_narrow_it_says_so_in_few_words(app: LiveApp, pilot: Any, until: Until) -> None:
    await pilot.resize_terminal(80, 24)
    await until(pilot, lambda: app.screen.size == app.size and app.mirror.settled)
    words = ("live", "words read", "Battery")  # a busy machine calls the picture stale now and then
    await until(pilot, lambda: all(word in painted(app) for word in words))


async def test_what_the_phone_tells_takes_the_place_of_what_was_read(silent: Rig, store: Store, until: Until) -> None:
    app = LiveApp(store, silent)
    async with app.run_test(size=(120, 40)) as pilot:
        await until(pilot, lambda: READ_WORDS in painted(app))
        silent.faults.turn("restless", False)
        silent.phone.perform(Action("open_app", app="com.hitlab.maps"))  # few words: they may be read meanwhile
        await until(pilot, lambda: "Museum" in painted(app) and "words read" not in painted(app))


async def test_a_breakpoint_at_read_words_says_so_on_the_screen(silent: Rig, store: Store, until: Until) -> None:
    app = LiveApp(store, silent, breaks=("text:battery",))
    async with app.run_test(size=(120, 40)) as pilot:
        app.agent.go.set()
        await until(pilot, lambda: f"text:battery ({OCR_NOTE})" in painted(app))


async def test_without_the_extra_one_sentence_names_it_once(
    silent: Rig, store: Store, until: Until, absent: None
) -> None:
    app = LiveApp(store, silent)
    async with app.run_test(size=(120, 40)) as pilot:
        await until(pilot, lambda: bool(app.notes))
        first = app.mirror._posted
        assert first is not None
        silent.phone.perform(Action("open_app", app="com.hitlab.clock"))
        await until(pilot, lambda: app.mirror._posted not in (None, first) and app.mirror._posted.tree == UiTree())
        assert len(app.notes) == 1
        assert "hitlab[ocr]" in app.notes[0]
        assert "words read" not in painted(app)


async def test_where_it_is_not_wanted_nothing_is_read(silent: Rig, store: Store, until: Until) -> None:
    others = set(threading.enumerate())  # of a test before, which may still be ending
    app = LiveApp(store, silent, reads_words=False)
    async with app.run_test(size=(120, 40)) as pilot:
        await until(pilot, lambda: app.mirror._posted is not None and app.mirror._posted.tree == UiTree())
        assert not [thread for thread in set(threading.enumerate()) - others if thread.name == "live words"]


# -- frames that follow one another ------------------------------------------------------------------------------


class Bench(App[None]):
    """A mirror alone."""

    def compose(self) -> ComposeResult:
        yield Mirror()

    @property
    def mirror(self) -> Mirror:
        return self.query_one(Mirror)


class GatedReader(TextReader):
    """Reads each picture once it may."""

    def __init__(self) -> None:
        super().__init__()
        self.begun, self.go = threading.Event(), threading.Event()
        self.count = 0

    def read(self, sha256: str, data: bytes, *, patience: float | None = None, keep: bool = True) -> ReadText:
        self.count += 1
        self.begun.set()
        assert self.go.wait(600)
        return super().read(sha256, data, patience=patience, keep=keep)


@pytest.fixture
def reader() -> Iterator[GatedReader]:
    reader = GatedReader()
    yield reader
    reader.go.set()
    reader.close()


def pixels(size: tuple[int, int] = SIZE, *, bare_from: int | None = None, alone: Bounds | None = None) -> bytes:
    """The screen of Settings, without what is below a row of it; or with one text `alone`: few lines are soon read."""
    with Image.open(BytesIO(screen("settings")[0].data)) as image:
        picture = image.convert("RGB")
    if alone is not None:
        band = (0, alone.top - 150, SIZE[0], alone.bottom + 150)
        words = picture.crop(band)
        picture.paste((250, 250, 250), (0, 0, *SIZE))
        picture.paste(words, band[:2])
    picture = picture.resize(size)
    if bare_from is not None:
        picture.paste((250, 250, 250), (0, bare_from, *size))
    return picture.tobytes()


def frame(number: int, data: bytes, tree: UiTree | None = None, size: tuple[int, int] = SIZE) -> Frame:
    return Frame(data, size, tree, time.monotonic(), number, SIZE)


def words_of(mirror: Mirror) -> set[str]:
    """What the mirror was given to write."""
    posted = mirror._posted
    return {node.text for node in posted.tree.nodes()} if posted is not None and posted.tree is not None else set()


async def test_a_picture_is_never_held_back_and_its_words_follow(reader: GatedReader, until: Until) -> None:
    app = Bench()
    async with app.run_test(size=(60, 50)) as pilot:
        words = LiveWords(app.mirror, lambda: reader)
        words.show(frame(0, pixels(), UiTree()))
        await until(pilot, reader.begun.is_set)
        await until(pilot, lambda: app.mirror.settled and app.mirror.fit is not None)
        assert not words_of(app.mirror)
        reader.go.set()
        await until(pilot, lambda: "Battery" in words_of(app.mirror))
        again = frame(0, pixels(), UiTree())
        words.show(again)
        assert "Battery" in words_of(app.mirror), "the same picture, given again, keeps its words"
        await until(pilot, lambda: READ_WORDS in str(app.mirror.border_subtitle))
        assert reader.count == 1
        words.close()


async def test_of_a_picture_that_changed_meanwhile_those_words_are_shown_that_still_stand(
    reader: GatedReader, until: Until
) -> None:
    app = Bench()
    async with app.run_test(size=(60, 50)) as pilot:
        words = LiveWords(app.mirror, lambda: reader)
        words.show(frame(0, pixels(), UiTree()))
        await until(pilot, reader.begun.is_set)
        words.show(frame(1, pixels(bare_from=1200)))
        reader.go.set()
        await until(pilot, lambda: bool(words_of(app.mirror)))
        (battery,) = screen("settings")[1].find(text="Battery")
        assert battery.bounds.top > 1200
        assert "Battery" not in words_of(app.mirror)
        assert "Bluetooth" in words_of(app.mirror)
        assert app.mirror._posted is not None
        assert app.mirror._posted.pixels == pixels(bare_from=1200), "the newest picture stands"
        words.close()


async def test_in_a_smaller_video_the_words_are_where_the_phone_has_them(reader: GatedReader, until: Until) -> None:
    reader.go.set()
    app = Bench()
    async with app.run_test(size=(60, 50)) as pilot:
        words = LiveWords(app.mirror, lambda: reader)
        (told,) = screen("settings")[1].find(text="Battery")
        words.show(frame(0, pixels((540, 1200), alone=told.bounds), UiTree(), (540, 1200)))
        await until(pilot, lambda: "Battery" in words_of(app.mirror))
        assert app.mirror._posted is not None
        tree = app.mirror._posted.tree
        assert tree is not None
        assert is_from_ocr(tree)
        (read,) = tree.find(text="Battery")
        assert told.bounds.contains(*read.bounds.center)
        words.close()


async def test_bare_pixels_have_nothing_read_in_them(reader: GatedReader, until: Until) -> None:
    app = Bench()
    async with app.run_test(size=(60, 50)) as pilot:
        app.mirror.overlay = False
        words = LiveWords(app.mirror, lambda: reader)
        words.show(frame(0, pixels(), UiTree()))
        await until(pilot, lambda: app.mirror.settled and app.mirror.fit is not None)
        assert not reader.begun.is_set()
        app.mirror.overlay = True
        await until(pilot, reader.begun.is_set)
        words.close()
