"""Files with fixed runs in them, a developer's seat, and waiting on conditions."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterator
from functools import cache, wraps
from itertools import count
from pathlib import Path
from typing import Any
from weakref import WeakKeyDictionary

import pytest
from rich import cells
from textual._compositor import Compositor
from textual._context import active_app, visible_screen_stack
from textual._styles_cache import StylesCache
from textual.app import App
from textual.css.model import RuleSet
from textual.css.stylesheet import Stylesheet
from textual.geometry import Region, Size
from textual.message_pump import MessagePump
from textual.pilot import Pilot
from textual.strip import Strip

from lab.core.settings import Settings
from store.store import Store
from tests.drawn_once import drawn_once
from tests.screens.quicker import forget_handlers, quicken
from tests.screens.resting import TURNS, app_at_rest, idle
from tests.screens.runs import WAITING, bare_run, painted, waiting_run, whole_run

__all__ = ["drawn_once"]


@pytest.fixture(autouse=True)
def _utc(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    """Times are painted in UTC, and nothing is read from or written to another test's folders."""
    monkeypatch.setenv("TZ", "UTC")
    for kind in ("DATA", "CONFIG", "CACHE"):
        monkeypatch.setenv(f"XDG_{kind}_HOME", str(tmp_path / kind.lower()))
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


@pytest.fixture(scope="session", autouse=True)
def _textual_takes_fewer_calls() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        quicken(patch)
        yield


@pytest.fixture(autouse=True)
def _no_key_is_a_slip(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests press the next key at once; those of the moment after another thing came up set its length, and a clock."""
    monkeypatch.setattr("screens.slip.GUARD_SECONDS", 0.0)


@pytest.fixture(autouse=True)
def _handlers_are_looked_up_anew() -> None:
    forget_handlers()


@pytest.fixture(scope="session", autouse=True)
def _a_stylesheet_is_parsed_once() -> Iterator[None]:
    """What a test's app parsed of the same text with the same colours, the next need not: a quarter of its start."""
    parse, parsed = Stylesheet._parse_rules, dict[Any, list[RuleSet]]()

    def known(sheet: Stylesheet, css: str, *args: Any, **more: Any) -> list[RuleSet]:
        key = (css, args, tuple(more.items()), tuple(sheet._variables.items()))
        if key not in parsed:
            parsed[key] = parse(sheet, css, *args, **more)
        return parsed[key]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Stylesheet, "_parse_rules", known)
        patch.setattr(RuleSet, "__hash__", object.__hash__)  # the same, without a call: 300 of them for each widget
        yield


@pytest.fixture(scope="session", autouse=True)
def _each_character_is_measured_once() -> Iterator[None]:
    """Rich knows the widths of 4,096 characters at a time, and texts that are to be told apart have 20,000."""
    with pytest.MonkeyPatch.context() as patch:
        measure = cells.get_character_cell_size.__wrapped__
        patch.setattr(cells, "get_character_cell_size", cache(measure))
        yield


@pytest.fixture(scope="session", autouse=True)
def _what_no_terminal_shows_is_not_cut() -> Iterator[None]:
    """Every widget renders what it would paint; it is joined to lines and escapes only where somebody looks.

    Without a terminal Textual cuts all strips at each other's edges, a tenth of a test, and throws them away.
    """
    update, due = Compositor.render_update, WeakKeyDictionary[Compositor, set[Region]]()

    def rendered(compositor: Compositor, full: bool = False, *args: Any, **more: Any) -> Any:
        app = active_app.get()
        looked_at = type(app)._display is not App._display and getattr(app, "records", True)
        if full or looked_at or not app.is_headless:
            return update(compositor, full, *args, **more)
        visible_screen_stack.set(app._background_screens)
        if compositor not in due:
            due[compositor] = set()
            asyncio.get_running_loop().call_soon(paint, app, compositor, 0)
        due[compositor] |= compositor._dirty_regions
        compositor._dirty_regions.clear()
        return None

    def paint(app: App[Any], compositor: Compositor, turns: int) -> None:
        loop: Any = asyncio.get_running_loop()
        if len(loop._ready) > 1 and turns < 50:
            loop.call_soon(paint, app, compositor, turns + 1)
            return
        regions = due.pop(compositor)
        if not regions or not app._running:
            return
        visible_screen_stack.set(app._background_screens)
        try:
            _render(compositor, Region.from_union(regions))
        except Exception as error:  # noqa: BLE001
            app._handle_exception(error)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Compositor, "render_update", rendered)
        yield


def _render(compositor: Compositor, within: Region) -> None:
    """Has each widget there render its lines, but where it has all of them and none is to be painted anew."""
    for widget, (region, clip) in compositor.visible_widgets.items():
        lines = widget._styles_cache
        is_known = not lines._dirty_lines and lines._width == region.width and len(lines._cache) >= region.height
        if not is_known and within.overlaps(clip):
            widget.render_lines(region.intersection(clip).translate(-region.offset))


@pytest.fixture(scope="session", autouse=True)
def _a_screen_that_stands_is_read_once() -> Iterator[None]:
    """Whoever waits for a word reads the screen every 10 ms; it is put together anew once any widget is to be painted.

    That is what a terminal goes by, too: what changes and asks for no paint is seen by nobody.
    """
    changes = count()
    last = next(changes)
    known: WeakKeyDictionary[Compositor, tuple[int, Size | None, list[Strip]]] = WeakKeyDictionary()
    strips = Compositor.render_strips

    def changing(act: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(act)
        def changed(*args: Any, **more: Any) -> Any:
            nonlocal last
            last = next(changes)
            return act(*args, **more)

        return changed

    def read(compositor: Compositor, size: Size | None = None) -> list[Strip]:
        at, of, lines = known.get(compositor, (-1, None, []))
        size = compositor.size if size is None else size
        if at != last or of != size:
            lines = strips(compositor, size)
            known[compositor] = (last, size, lines)
        return list(lines)

    with pytest.MonkeyPatch.context() as patch:
        for kind, name in ((StylesCache, "clear"), (StylesCache, "set_dirty"), (Compositor, "reflow"),
                           (Compositor, "reflow_visible"), (Compositor, "render_update")):  # fmt: skip
            patch.setattr(kind, name, changing(getattr(kind, name)))
        patch.setattr(Compositor, "render_strips", read)
        yield


async def _settled(*seconds: float) -> None:
    """Waits until no widget has anything left to do or to paint; `until` awaits what threads and timers bring."""
    await app_at_rest(active_app.get(), TURNS)


def _waits(pump: MessagePump) -> bool:
    """Whether a widget has done all it was given, and waits for more."""
    queue: Any = pump._message_queue
    return not queue.values and bool(queue.ready_event._waiters)


@pytest.fixture(scope="session", autouse=True)
def _keys_are_followed_not_timed() -> Iterator[None]:
    """Textual's pilot looks twice for each key whether the processor is idle: never under 40 ms, on a busy one 2 s.

    Then it asks every widget to say when it has done all it was given; most have when the loop comes to rest.
    """
    asks = Pilot._wait_for_screen

    async def waited(pilot: Pilot[Any], timeout: float = 30.0) -> bool:
        app = pilot.app
        await idle()
        if app.screen_stack and app._exception is None:
            nodes = [app, *app.screen.walk_children(with_self=True)]
            if all(_waits(node) for node in nodes if node._running):
                return True
        return await asks(pilot, timeout)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Pilot, "_wait_for_screen", waited)
        patch.setattr("textual.app.wait_for_idle", _settled)
        patch.setattr("textual.pilot.wait_for_idle", _settled)
        yield


@pytest.fixture(scope="session")
def empty_file(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """A file in which nothing is, as bytes: to lay its tables takes longer than to copy them."""
    path = tmp_path_factory.mktemp("empty") / "lab.db"
    with Store.open(path):
        pass
    return path.read_bytes()


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, empty_file: bytes) -> Iterator[Store]:
    """An empty file, by a name that is the same everywhere."""
    monkeypatch.chdir(tmp_path)
    Path("lab.db").write_bytes(empty_file)
    with Store.open(Path("lab.db")) as opened:
        yield opened


@pytest.fixture
def full(store: Store) -> Store:
    """A file with a whole run, a bare one, and one that waits at a question."""
    store.runs.add(whole_run())
    store.runs.add(bare_run())
    for event in waiting_run():
        store.runs.append_event(WAITING, event)
    return store


@pytest.fixture
def settings() -> Settings:
    """A developer's seat."""
    return Settings()


@pytest.fixture
def until() -> Callable[..., Awaitable[None]]:
    """Wait for a condition while the app works; fail after two minutes, and on a machine that stood still 100 turns."""

    async def wait(pilot: Any, condition: Callable[[], bool]) -> None:
        # Not pilot.pause: it waits for an idle processor, which a live run or a busy machine never has.
        turns, end = 0, time.monotonic() + 120
        while (turns := turns + 1) <= 100 or time.monotonic() < end:
            await asyncio.sleep(min(0.01 * 1.1**turns, 0.05) if turns < 100 else 0.05)  # long waits cost few looks
            await (idle() if pilot is None else app_at_rest(pilot.app))
            if condition():
                return
        raise AssertionError(f"the condition never came true; what stands there:\n{painted(pilot.app)}")

    return wait
