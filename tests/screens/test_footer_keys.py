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
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

import msgspec
import pytest
from textual import events
from textual.app import App
from textual.geometry import Size
from textual.widgets import Input

from lab.core.design import Design, first_draft, following, subject_of
from lab.core.last_choices import choices_file
from lab.core.protocol import Field
from lab.core.screen_clock import Clock
from lab.core.settings import Settings
from lab.core.study import Unit
from lab.core.task import Actor, TdgNode
from lab.runs.session import Session
from lab.runs.spec import Spec
from lab.studies.design_drafts import chained
from lab.studies.play_session import Participation
from screens.app import LabApp
from screens.key_names import character
from screens.keymap import named_bindings
from screens.launcher import demonstration as recorded
from screens.launcher import task_spec
from screens.live.choices import Choices
from screens.mirror.mirror import Mirror
from screens.navigation import Opening
from screens.play.answers import Answers
from screens.widgets.footer import Footer
from simulators import library
from store.store import Store
from tests import plays
from tests.crossed import IN_SOAK
from tests.demonstrations import DEMO
from tests.screens.adjudicate.test_adjudicate import studied as disputed
from tests.screens.annotate.sample_studies import one_field, studied
from tests.screens.resting import app_at_rest
from tests.screens.runs import WHOLE, painted
from tests.screens.walk import filled
from tests.studies import STATE

ASKING = "way_home"
"""A task in which the agent asks before it does anything: another one's steps would be taken in each sitting."""
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
NUMBER = Field("number", "How much was done?", "interval", least=0, most=100, step=1)
WORDS = Field("words", "What went wrong?", "text")
FLAG = Field("flag", "Was anything odd?", "flag", required=False)
ASKED = {field.id: field for field in (STATE, NUMBER, WORDS, FLAG)}


class Mode(NamedTuple):
    """A mode of a room: who sits in it, what it opens with, the keys that lead there, and what then stands there."""

    name: str
    begin: Callable[[Store], LabApp]
    says: str
    keys: tuple[str, ...] = ()
    then: str = ""


def room(mode: Mode) -> str:
    return mode.name.split(",")[0]


@cache
def at(screen: Any, *, person: str = "D1", seat: Any = "developer", **of: Any) -> Callable[[Store], LabApp]:
    """An app of this person that opens so, the same for the same; a study is given by its id."""

    def begin(store: Store) -> LabApp:
        opening = dict(of)
        if "study" in of:
            opening["study"] = store.studies.study(of["study"], 1)
        if screen == "author":
            opening["task"] = store.runs.task(of["trace_id"])
        return LabApp(store, Settings(person=person, seat=seat, pace=0.0, bell=False), Opening(screen, **opening))

    return begin


@cache
def live(seat: Any, task: str = ASKING, **spec: Any) -> Callable[[Store], LabApp]:
    def begin(store: Store) -> LabApp:
        settings = Settings(person="P7", seat=seat, pace=0.0, bell=False)
        return LabApp(store, settings, Opening("live", spec=task_spec(task, settings)._replace(**spec)))

    return begin


def recording(store: Store) -> LabApp:
    settings = Settings(person="D1", pace=0.0, bell=False)
    return LabApp(store, settings, Opening("live", ask=recorded(ASKING, settings)))


def own_run(store: Store) -> LabApp:
    """The replay of a run that was made here, which can be forked."""
    settings = Settings(person="D1", bell=False)
    return LabApp(store, settings, Opening("replay", store.runs.of_task(plays.COFFEE)[0], 1))


def verifying(store: Store) -> LabApp:
    """A design that its author handed over, before another person."""
    task = store.runs.task(WHOLE)
    design = Design(chained([TdgNode("menu", "Look at the menu"), TdgNode("order", "Order tea")]))
    draft = first_draft(subject_of(task), Actor("human", "D1"), design)
    store.designs.append(draft)
    store.designs.append(following(draft, "submit", Actor("human", "D1")))
    return at("author", trace_id=WHOLE, person="D2")(store)


def nothing_yet(store: Store) -> LabApp:
    """Home on a file in which nothing is."""
    path = store.path.with_suffix(".empty")
    return LabApp(Store.open(path), Settings(bell=False), Opening("home"))


gated = live("developer", plays.LUNCH, gate="ask")
HOME, REPLAY = at("home"), at("replay", trace_id=WHOLE, step=2)
PLAY = at("play", person="P1", seat="participant", study="teas")
R1: dict[str, Any] = {"person": "R1", "seat": "rater"}
MODES = [
    Mode("home, runs", HOME, "Enter: resume"),
    Mode("home, tasks", HOME, "Enter: resume", ("tab",), "Enter: run this task"),
    Mode("home, devices", HOME, "Enter: resume", ("tab", "tab"), "on this phone"),
    Mode("home, studies", HOME, "Enter: resume", ("shift+tab",), "agreement"),
    Mode("home, filter", HOME, "Enter: resume", ("slash",), "Enter: keep this filter"),
    Mode("family", HOME, "Enter: resume", ("t",), "Enter: open this run where"),
    Mode("replay", REPLAY, "Step "),
    Mode("replay, search", REPLAY, "Step ", ("slash",), "Search:"),
    Mode("replay, after", REPLAY, "Step ", ("b",), "─ After"),
    Mode("replay, sent", REPLAY, "Step ", ("p",), "Back"),
    Mode("replay, fork", own_run, "Step 1", ("f",), "Esc closes"),
    Mode("runs, filter", at("runs"), "Enter: replay", ("slash",), "Enter: keep this filter"),
    Mode("runs", at("runs"), "Enter: replay"),
    Mode("compare", at("runs"), "Enter: replay", ("c", "down", "c"), "Enter: replay left"),
    Mode("review, shelf", at("review", person="R9"), "Enter opens a demonstration"),
    Mode("review", at("review", person="R9", trace_id=DEMO), "not looked at"),
    Mode("review, form", at("review", person="R9", trace_id=DEMO), "not looked at", ("e",), "Enter goes on"),
    Mode("privacy, shelf", at("privacy", person="R9"), "Enter opens a demonstration"),
    Mode("privacy", at("privacy", person="R9", trace_id=DEMO), "To be covered"),
    Mode("privacy, words", at("privacy", person="R9", trace_id=DEMO), "To be covered", ("w",), "covers them all over"),
    Mode("privacy, sure", at("privacy", person="R9", trace_id=DEMO), "To be covered", ("space", "R"), "not yet."),
    Mode("author, form", at("author", trace_id=WHOLE), "Enter: begin", ("4", "A"), "Esc: done"),
    Mode("author", at("author", trace_id=WHOLE), "Enter: begin"),
    Mode("author, submitted", at("author", trace_id=WHOLE, person="D2"), "Enter: begin", ("enter", "S"), ""),
    Mode("author, verification", verifying, "waits for you"),
    Mode("author, objection", verifying, "waits for you", ("x",), "what is wrong with it"),
    Mode("author, sent back", verifying, "waits for you", ("B",), "a word about the whole"),
    Mode("annotate, menu", at("annotate", study="state", **R1), STATE.ask, ("m",), "Back"),
    *[Mode(f"annotate, {name}", at("annotate", study=name, **R1), ASKED[name].ask) for name in ASKED],
    Mode("annotate, handed in", at("annotate", study="state", **R1), STATE.ask, ("1", "enter", "enter"), ""),
    Mode("rater's home", at("home", **R1), "Studies"),
    Mode("agreement", at("agreement", study="s"), "Enter"),
    Mode("agreement, items", at("agreement", study="s"), "Enter", ("enter",), "Esc: back to the numbers"),
    Mode("adjudicate, queue", at("adjudicate", study="s"), "Enter: look at it"),
    Mode("adjudicate, item", at("adjudicate", study="s"), "Enter: look at it", ("enter",), "A digit chooses"),
    Mode("raters", at("raters", study="s"), "Enter: this rater"),
    Mode("raters, one", at("raters", study="s"), "Enter: this rater", ("enter",), "Esc: all raters"),
    Mode("progress", at("progress", study="s"), "Enter: this rater"),
    Mode("progress, questions", at("progress", study="s"), "Enter: this rater", ("tab",), "people differ in"),
    Mode("home, nothing yet", nothing_yet, "No runs yet"),
    Mode("play, first page", PLAY, ""),
    Mode("play, who one is", PLAY, "", ("1",), "Who you are"),
    Mode("play, what one remembers", PLAY, "", ("1", "1"), "What do you remember?"),
    Mode("play, not quite", PLAY, "", ("1", "1", "2"), "Not quite"),
    Mode("play, task", at("play", person="P5", seat="participant", study="played"), "Begin"),
    Mode("play, answers", at("play", person="P4", seat="participant", study="played"), ""),
    Mode("play, end", at("play", person="P3", seat="participant", study="played"), "Thank you"),
    Mode("live, proposal", live("developer", task="friday_reorder"), "accept it"),
    Mode("live, participant reads", live("participant"), "Enter begins"),
    Mode("live, participant asked", live("participant"), "Enter begins", ("enter",), "waits for your answer"),
    Mode("live, developer asked", live("developer"), "waits for your answer"),
    Mode("live, beside the question", live("developer"), "waits for your answer", ("tab",), "v View"),
    Mode("live, gate's note", gated, "waits for your decision", ("tab",), "goes back to the"),
    Mode("live, breakpoints", gated, "waits for your decision", ("b",), "Enter adds it"),
    Mode("live, gate", gated, "waits for your decision"),
    Mode(
        "live, take-over",
        gated,
        "waits for your decision",
        ("t", "x"),
        "waiting for your hands",
    ),
    Mode("live, at a breakpoint", live("developer", plays.LUNCH, breaks=("step:2",)), "Breakpoint step:2"),
    Mode("live, paused", gated, "waits for your decision", ("ctrl+x",), "paused:"),
    Mode("live, ended", gated, "for your decision", ("ctrl+x", "ctrl+x"), "run is over"),
    Mode("record", recording, "Touch the phone, or:"),
    Mode("record, finish", recording, "Touch the phone, or:", ("f",), "impossible"),
]


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file with runs, demonstrations and studies of every kind, made once."""
    path = tmp_path_factory.mktemp("footers") / "lab.db"
    with Store.open(path) as store:
        spec = Spec(library.task(plays.COFFEE), library.persona("ines", "noise"), user="script")
        session = Session(store, spec)
        session.start()
        assert session.join(180)
        _played(store)
        filled(store)
        for name, field in ASKED.items():
            studied(store, one_field(field), [Unit("u1", (WHOLE,))], id=name)
        disputed(store, id="s")
    return path


def _played(store: Store) -> None:
    """A study in which P3 is at the end, P4 at the questions after a run, and P5 before a task."""
    study = plays.frozen(store, [plays.unit(ASKING)], ("P3", "P4", "P5"), id="played", quiz=0)
    for person in study.raters:
        part = Participation(store, study, Actor("human", person))
        part.agree()
        if person != "P5":
            plays.play_to_end(part)
        if person == "P3":
            plays.hand_in(part)


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
    return Seen(about(app), words(app))


def about(app: LabApp) -> tuple[object, ...]:
    """The room, what has the focus, what is said for a moment, whether the app is left, and what was copied."""
    focused = app.focused
    room = f"{app.current_mode} {type(app.screen).__name__}"
    focus = f"{type(focused).__name__} {focused.id if focused else ''}"
    return (room, focus, _toasts(app), app._exit, app.clipboard)


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
    if any(not worker.is_finished for worker in app.workers) or not app.typed_out or not app.screen.is_mounted:
        return True
    unready = False
    for widget in app.screen.walk_children():  # once: to ask for each class takes as long as to paint
        if isinstance(widget, Answers | Choices):
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


def _unread(lines: Answers | Choices) -> bool:
    """Whether lines to choose from stand there so shortly that no key counts yet."""
    return bool(lines.region.area) and lines.has_focus and not lines.disabled and not lines.ready


def _painted(mirror: Mirror) -> bool:
    return mirror.empty or not mirror.region.area or mirror.settled


async def send(app: LabApp, key: str) -> None:
    app.post_message(events.Key(key, character(key) or None))
    for _ in range(PATIENCE):
        await app_at_rest(app)
        if app.typed_out or not app.is_running:
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
    """Presses the keys that lead from there into the mode."""
    for key in mode.keys:
        await send(app, key)
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


@pytest.mark.crossed
@pytest.mark.parametrize("modes", OF_ROOM.values(), ids=list(OF_ROOM))
async def test_every_key_that_is_promised_acts(modes: list[Mode], template: Path, tmp_path: Path) -> None:
    met, seat = Counter[str](), Seat(template, tmp_path)
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
        if now != stood and (about(app) != before.about or words(app) != before.words):
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


@pytest.mark.parametrize("modes", BEGINNINGS, ids=[modes[0].name for modes in BEGINNINGS])
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
