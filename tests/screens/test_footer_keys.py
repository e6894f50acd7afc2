"""What the footer promises, the key does: in each mode of each room every key that is painted there acts at once.

In `make test` a key that stands with the same words in several modes of a room is pressed in the first of them, and
in each mode one is; modes that begin alike are entered in one app. In a soak each key is pressed in each mode.
"""

from __future__ import annotations

import asyncio
import re
import unicodedata
from collections import Counter
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

import msgspec
import pytest
from textual import events
from textual.app import App
from textual.geometry import Size
from textual.widgets import Input

from lab.core.last_choices import choices_file
from lab.core.run.screen_clock import Clock
from screens.app import LabApp
from screens.key_names import typed_character
from screens.keymap import named_bindings
from screens.live.choices import Choices
from screens.mirror.mirror import Mirror
from screens.play.play import PageChoices
from screens.widgets.footer import Footer
from store.store import Store
from tests.crossed import IN_SOAK, crossed, spread
from tests.screens.footer_modes import MODES, Mode, room, template
from tests.screens.resting import app_at_rest
from tests.screens.runs import painted

__all__ = ["template"]
SIZE = (120, 40)
SMALL = (64, 18)
PATIENCE = 2000
MOST = 4
"""Sittings in which every key of a mode is met."""
LEAST = 1
"""Keys that are pressed in each mode that has any but help, whatever was pressed in the modes before."""
HELP = "question_mark"
EARLY = ("z", "m")
"""Keys that are offered no more once others were pressed."""
LAST = ("right", "g", "ctrl+x", "slash", "escape", "q")
"""Keys that go on, let a run go on or hold it, or lead out, in the order in which they are pressed."""
CLOCKS = re.compile(r"\d+:\d\d(:\d\d)?|\d+(\.\d+)? m?s\b")
"""What counts on by itself in a painted screen."""


class LookedClock(Clock):
    """Each look at it is a second later: nobody's key is too early."""

    def __init__(self) -> None:
        self._ahead = 0

    def seconds(self) -> float:
        self._ahead += 1
        return super().seconds() + self._ahead


LOOKED = LookedClock()


class Seen(NamedTuple):
    """What a person has before them: where they are, and what is painted there; to read that costs the most."""

    about: tuple[object, ...]
    notes: frozenset[str]
    words: str


PAINTED: WeakKeyDictionary[App[Any], int] = WeakKeyDictionary()
"""How often each app painted something."""


@pytest.fixture(autouse=True)
def _painting_is_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    display = App._display

    def counted(app: App[Any], screen: Any, renderable: Any) -> None:
        PAINTED[app] = PAINTED.get(app, 0) + 1
        display(app, screen, renderable)

    monkeypatch.setattr(App, "_display", counted)


def seen(app: LabApp) -> Seen:
    return Seen(about(app), _toasts(app), words(app))


def about(app: LabApp) -> tuple[object, ...]:
    """The room, what has the focus, whether the app is left, and what was copied."""
    focused = app.focused
    room = f"{app.current_mode} {type(app.screen).__name__}"
    focus = f"{type(focused).__name__} {focused.id if focused else ''}"
    return (room, focus, app._exit, app.clipboard)


def words(app: LabApp) -> str:
    return CLOCKS.sub("", painted(app))


def promised(app: LabApp) -> dict[str, str]:
    """The keys that the footer paints now, each with what stands there."""
    verbs = [verb for footer in app.screen.query(Footer) for verb in footer.verbs if verb.enabled]
    return {verb.binding.key: f"{verb.key} {verb.binding.description}" for verb in verbs}


async def rested(app: LabApp) -> None:
    """Until nothing is read any more and for four looks nothing new is painted; to read what is painted costs more."""
    before, same = None, 0
    for _ in range(PATIENCE):
        await app_at_rest(app)
        if not app.is_running or app._exception is not None:
            return
        now = stands(app)
        same = same + 1 if now == before and not busy(app) else 0
        before = now
        if same == 3:
            return
        await asyncio.sleep(0.015)
    raise AssertionError(f"never at rest: {painted(app)}")


def busy(app: LabApp) -> bool:
    """Whether anything is still read, pressed or drawn; who is to choose has looked at the choices for long enough."""
    if any(not worker.is_finished for worker in app.workers) or not app.idle or not app.screen.is_mounted:
        return True
    unready = False
    for widget in app.screen.walk_children():  # once: to ask for each class takes as long as to paint
        if isinstance(widget, PageChoices | Choices):
            widget._clock = LOOKED
            unready |= _unread(widget)
        elif isinstance(widget, Mirror):
            unready |= not _painted(widget)
    return unready


def stands(app: LabApp) -> tuple[object, ...]:
    """Another one whenever the app painted anything, the keys went elsewhere, or something was said or copied."""
    return (PAINTED.get(app, 0), app.screen, app.focused, _toasts(app), app._exit, app.clipboard)


def _toasts(app: LabApp) -> frozenset[str]:
    """Which notes stand there: one may go just when the next comes."""
    return frozenset(note.identity for note in app._notifications)


def _unread(lines: PageChoices | Choices) -> bool:
    """Whether lines to choose from stand there so shortly that no key counts yet."""
    return bool(lines.region.area) and lines.has_focus and not lines.disabled and not lines.ready


def _painted(mirror: Mirror) -> bool:
    return mirror.empty or not mirror.region.area or mirror.settled


async def send(app: LabApp, key: str) -> None:
    app.post_message(events.Key(key, typed_character(key) or None))
    for _ in range(PATIENCE):
        await app_at_rest(app)
        if app.idle or not app.is_running:
            return
        await asyncio.sleep(0.005)


async def soon(app: LabApp, condition: Callable[[], bool]) -> None:
    for _ in range(PATIENCE):
        await app_at_rest(app)
        if condition():
            return
        await asyncio.sleep(0.01)
    raise AssertionError(painted(app))


@asynccontextmanager
async def sitting(mode: Mode, store: Store, size: tuple[int, int] = SIZE) -> AsyncIterator[LabApp]:
    """The app where this mode begins, at rest."""
    app = mode.begin(store)
    async with app.run_test(size=size):
        await soon(app, lambda: app.is_running and (size == SMALL or mode.says in painted(app)))
        await rested(app)
        yield app
        if app.session is not None:
            app.session.leave()


async def enter(app: LabApp, mode: Mode) -> None:
    """Presses the keys that lead from there into the mode, each once something came of the one before."""
    for key in mode.keys:
        shown = seen(app)
        await send(app, key)
        await acted(app, shown)
        await rested(app)


class Place(NamedTuple):
    """Where keys act: a room, a screen in it, what has the focus there, and whether Esc closes anything."""

    room: str
    screen: Any
    focus: Any
    closes: bool

    @classmethod
    def of(cls, app: LabApp) -> Place:
        return cls(app.current_mode, app.screen, app.focused, "escape" in promised(app))


class Seat:
    """One app after the other over files of their own; where one mode is left well, the next is entered from there."""

    app: LabApp

    def __init__(self, template: Path, folder: Path) -> None:
        self._content, self._folder = template.read_bytes(), folder
        self._stack = AsyncExitStack()
        self._sat = 0
        self._began: tuple[Callable[[Store], LabApp], Place, dict[str, str]] | None = None
        """How what stands there began, where, and what was promised; None where it does not stand well any more."""

    async def sit(self, mode: Mode, size: tuple[int, int] = SIZE) -> None:
        """Begins another app, and enters the mode."""
        await self.rise()
        choices_file().unlink(missing_ok=True)  # what was chosen in the sitting before
        self._sat += 1
        path = self._folder / f"{self._sat}.db"
        path.write_bytes(self._content)
        store = self._stack.enter_context(Store.open(path))
        self.app = await self._stack.enter_async_context(sitting(mode, store, size))
        self._began = mode.begin, Place.of(self.app), promised(self.app)
        await enter(self.app, mode)
        await soon(self.app, lambda: mode.then in painted(self.app))

    async def take(self, mode: Mode) -> None:
        """Enters the mode from what stands there, or in another app."""
        if not await self._go_on(mode):
            await self.sit(mode, SIZE if mode.keys else SMALL)

    async def _go_on(self, mode: Mode) -> bool:
        """Enters a mode that begins as the last one did; False where its words do not come of its keys."""
        if IN_SOAK or self._began is None or self._began[0] is not mode.begin or bool(mode.keys) > bool(mode.then):
            return False
        _, place, stood = self._began
        if not await restored(self.app, place) or mode.says not in painted(self.app):
            return False
        if mode.then in painted(self.app) if mode.keys else promised(self.app) != stood:
            return False
        await enter(self.app, mode)
        return mode.then in painted(self.app)

    def spoil(self) -> None:
        """Nothing is entered from here any more."""
        self._began = None

    async def rise(self) -> None:
        self.spoil()
        await self._stack.aclose()


OF_ROOM = {name: [mode for mode in MODES if room(mode) == name] for name in dict.fromkeys(map(room, MODES))}
HELPED = spread(list(OF_ROOM), 6)
"""The rooms in which the key for help is pressed; the help itself is looked at in all of them where keys are moved."""


@crossed
@pytest.mark.parametrize("modes", OF_ROOM.values(), ids=list(OF_ROOM))
async def test_every_key_that_is_promised_acts(modes: list[Mode], template: Path, tmp_path: Path) -> None:
    met, seat = Counter[str](), Seat(template, tmp_path)
    if room(modes[0]) not in HELPED:
        met["? Help"] = 1
    try:
        for mode in modes:
            met.update(await _met(mode, met, seat))
    finally:
        await seat.rise()


async def _met(mode: Mode, before: Counter[str], seat: Seat) -> set[str]:
    """Presses the keys of a mode; gives what stood at them. The key for help is pressed once in a room."""
    known = {word for word in before if word.startswith("? ") or not IN_SOAK}
    pressed, idle, entered, left = dict[str, str](), list[str](), 0, [""]
    while left and entered < MOST:
        entered += 1
        await seat.take(mode)
        if entered == 1 and not mode.keys:
            await _looks_right(seat.app)
            await soon(seat.app, lambda: mode.says in painted(seat.app))
        left = await _pressed(seat, pressed, idle, known, before, LEAST if entered == 1 else 0)
    assert pressed or promised(seat.app).keys() <= {HELP}
    assert not idle, f"{mode.name}: nothing came of {idle}"
    assert not left, f"{mode.name}: not pressed {left}"
    return set(pressed.values())


async def _pressed(
    seat: Seat, pressed: dict[str, str], idle: list[str], known: set[str], before: Counter[str], least: int
) -> list[str]:
    """Presses what is wanted as long as the app goes back to where it stood; gives what then is still wanted."""
    app, place, stood = seat.app, Place.of(seat.app), promised(seat.app)
    while left := _wanted(promised(app), pressed, known, before, least):
        key = left[0]
        word, shown = promised(app)[key], seen(app)
        pressed[key] = word
        await send(app, key)
        if not await acted(app, shown):
            idle.append(word)
        if app._exit or not app.is_running:
            seat.spoil()
            break
        if not await restored(app, place):
            break
    return _wanted(stood, pressed, known, before, 0)


def _wanted(
    offered: dict[str, str], pressed: dict[str, str], known: set[str], before: Counter[str], least: int
) -> list[str]:
    """The keys that are still to be pressed: those that lead out last, and what was met already up to `least`."""
    keys = offered.keys() - pressed
    new = [key for key in keys if offered[key] not in known]
    if new:
        return sorted(new, key=lambda key: (_turn(key), key))
    again = sorted(keys - {HELP}, key=lambda key: (_turn(key) > 0, before[offered[key]], key))
    return again[: max(0, least - len(pressed))]


def _turn(key: str) -> int:
    """When a key is pressed: after those of a lower number."""
    return -1 if key in EARLY else LAST.index(key) + 1 if key in LAST else 0


async def _looks_right(app: LabApp) -> None:
    """What is promised is painted whole, help last, in a small terminal too."""
    for size in (SMALL, SIZE):
        if app.size != size:
            await _resized(app, size)
        bottom = painted(app).splitlines()[-1]
        assert all(word in bottom for word in promised(app).values()), bottom
        assert re.search(r"(\?|f1) Help$", bottom.rstrip()), bottom


async def _resized(app: LabApp, size: tuple[int, int]) -> None:
    assert app._driver is not None
    app._driver._size = size
    app.post_message(events.Resize(Size(*size), Size(*size)))
    await soon(app, lambda: app.screen.size == Size(*size))
    await rested(app)


async def acted(app: LabApp, before: Seen) -> bool:
    """Whether anything came of the key."""
    stood: object = None
    for _ in range(PATIENCE // 4):
        await app_at_rest(app)
        if app._exit or not app.is_running:
            return True
        now = stands(app)
        if now != stood and (
            about(app) != before.about or _toasts(app) - before.notes or words(app) != before.words
        ):  # a note that goes by itself is nothing that a key did
            return True
        stood = now
        await asyncio.sleep(0.01)
    return False


async def restored(app: LabApp, where: Place) -> bool:
    """Goes back to the room, with the keys where they were; False where that is gone."""
    place, screen, focus, closes = where
    await rested(app)
    if app.screen.query("HelpPanel"):
        app.action_hide_help_panel()
    if screen.query("SearchRow") and isinstance(app.focused, Input) and app.focused is not focus:
        await send(app, "escape")
    if app.screen is screen and not closes and "escape" in promised(app):
        await send(app, "escape")
    if app.current_mode != place:
        await app.switch_mode(place)
    while app.screen is not screen and len(app.screen_stack) > 1 and screen in app.screen_stack:
        app.pop_screen()
        await rested(app)
    if app.screen is not screen or (focus is not None and not (focus.is_attached and focus.display)):
        return False
    screen.set_focus(focus)
    await rested(app)
    return True


def moved_keys() -> dict[str, str]:
    """Each binding on a key of its own that no word is like: ctrl with a letter of another script."""
    letters = (chr(code) for code in range(0x0400, 0x1000) if unicodedata.category(chr(code)) in ("Ll", "Lo"))
    return {id: f"ctrl+{letter}" for id, letter in zip(named_bindings(), letters, strict=False)}


MOVED = moved_keys()
OLD = re.compile(
    r"\b(Esc|Enter|F\d+|PgDn|PgUp|pgdn|pgup|ctrl\+[a-z])\b"
    r"|(?<!\S)([/\[\]?bd-rt-wyzB-HJ-Z])(?= [a-z]+s\b|: [a-z])"
)
"""How a key is named in a sentence, as the program comes; c, s and x are names and signs in what is shown here."""
TYPED = re.compile(
    r"Enter: (keep this filter|next)|Enter adds it|letters, .*Enter.*|Enter goes on from|Enter does it"
    r"|before Enter, except|Enter The keyboard's"
)
"""Where Enter is the field's own, which nobody can move."""


def now(app: LabApp, key: str) -> str:
    """What is pressed for a usual key where each binding has been moved."""
    known = named_bindings()
    for _, binding, enabled, _ in app.screen.active_bindings.values():
        if enabled and binding.id and key in known[binding.id].keys.split(","):
            return MOVED[binding.id]
    return key


def with_moved_keys(mode: Mode, store: Store) -> LabApp:
    app = mode.begin(store)
    return LabApp(app.store, msgspec.structs.replace(app.settings, keymap=MOVED), app.opening)


NAMING = [mode for mode in MODES if mode.name in (
    "home, runs", "home, tasks", "home, studies", "family", "replay", "runs", "compare", "review", "review, form",
    "privacy, sure", "author", "annotate, words", "annotate, menu", "rater's home", "agreement, items",
    "adjudicate, item", "raters, one", "live, developer asked", "live, gate", "record", "author, verification",
    "play, answers", "play, end",
)]  # fmt: skip


async def there(app: LabApp, words: str) -> None:
    """Waits for the words of a mode, unless they name a key that was moved; then for rest."""
    if not OLD.search(words):
        await soon(app, lambda: words in painted(app))
    await rested(app)


BEGINNINGS = [[mode for mode in NAMING if mode.begin is begin] for begin in dict.fromkeys(one.begin for one in NAMING)]
MOVED_IN = spread(BEGINNINGS, 9)


@crossed
@pytest.mark.parametrize("modes", MOVED_IN, ids=[modes[0].name for modes in MOVED_IN])
async def test_where_every_key_is_moved_none_is_named_as_it_was(
    modes: list[Mode], template: Path, tmp_path: Path
) -> None:
    """Modes that begin alike are entered in one app."""
    path = tmp_path / "lab.db"
    path.write_bytes(template.read_bytes())
    with Store.open(path) as store:
        app = with_moved_keys(modes[0], store)
        async with app.run_test(size=(160, 60)):
            await soon(app, lambda: app.is_running and app.current_mode == app.opening.screen)
            await there(app, modes[0].says)
            began = Place.of(app)
            for mode in modes:
                assert await restored(app, began)
                await _names_moved_keys_alone(app, mode)
            if app.session is not None:
                app.session.leave()


async def _names_moved_keys_alone(app: LabApp, mode: Mode) -> None:
    for key in mode.keys:
        await send(app, now(app, key))
        await rested(app)
    await there(app, mode.then)
    shown = painted(app)
    await send(app, MOVED["app.help"])
    await soon(app, lambda: bool(app.screen.query("HelpPanel")))
    await rested(app)
    shown += painted(app)
    for key in promised(app).values():
        assert re.match(r"(ctrl\+|\^)\w ", key), f"{mode.name}: {key}"
    old = [found[0] for line in shown.splitlines() for found in OLD.finditer(TYPED.sub("", line))]
    assert not old, f"{mode.name}: {old} in\n{shown}"
