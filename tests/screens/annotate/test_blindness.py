"""Hidden stays hidden: whatever a sheet paints, serves, copies or toasts, in every protocol, holds no hidden word."""

from __future__ import annotations

import io
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from string import ascii_uppercase
from typing import Any

import pytest
from msgspec.structs import replace
from rich.console import Console
from textual.pilot import Pilot

from annotators.protocols import protocols
from lab.core.settings import Settings
from lab.core.study.label import Act, Label
from lab.core.study.protocol import Protocol, Show
from lab.core.study.study import Gold, Study, Target, Unit, UnitText
from lab.core.task.task import Actor
from lab.core.values.ids_and_clock import now, uuid7
from screens.annotate.unit_pane import UnitPane
from screens.app import LabApp
from screens.crash import Crash
from screens.navigation import Opening
from store.copies.kit_export import make_kit
from store.store import Store
from tests.blind import SHOWS, Planted, found, planted
from tests.crossed import IN_SOAK, crossed
from tests.screens.annotate.sample_studies import NODES, nodes, rating, ready, room, studied
from tests.screens.annotate.watched import Watched
from tests.screens.resting import press
from tests.screens.shared_apps import SharedApps

pytestmark = crossed
Until = Callable[..., Awaitable[None]]

OTHER = "0197cccc-0000-7000-8000-0000000000b2"
DESIGNERS = {"A": "Zoursword", "B": "Ztheirsword"}
"""Which method a side is, in the designers' words."""
ROUNDED = "0.74"
"""The planted score, as screens tell it."""
SAID = ("Znoteofother", "Znoteofmodel", "ZR2code", "Zmodelname", "Zplanner", "Zplannote")
"""What other people and models said, and who they and the planner are."""
LOOK = ["w", "right", "right", "right", "right", "right", "u", "b", "full_stop"]
"""The keys by which a rater looks at everything, once with the phone and once in words."""
STEPS = [*LOOK, "v", "b", "left", "left", "left", "left", "left"]
OTHER_SIDE = ["x", *LOOK, "v", "x"]
SHELL = ["question_mark", "question_mark", "ctrl+p", "escape", "f4", "f9", "f10", "f11", "f12"]
"""What the app shows around any unit, whatever protocol it is rated by."""
BESIDE = ["t", "full_stop", "t", "m", "escape"]
AROUND = ["o", "escape", *BESIDE]
"""What a rater opens beside a unit; one without a run has no pictures to be opened, and Esc would leave it."""
AWAY = ["f2", "f5"]
TOUR = [*STEPS, "w", *AROUND, *SHELL, *AWAY]

SERVED = {0, 4, 7, 17, 25}
"""After which keys of the tour a browser asks for the page of pictures."""
SHORTEST = ["w", "right", "right", "v", "full_stop", "o", "escape"]
SHORT = [*SHORTEST, "t", "t", "question_mark", "question_mark", "f2", "f5"]
"""A shorter way round, for what does not differ by protocol."""
OTHER_SHORT = ["x", *SHORTEST]

_ALL = protocols()
NAMES = sorted(name for name, one in _ALL.items() if one.unit != "task to play")
FIRST = list({_ALL[name].unit: name for name in reversed(NAMES)}.values())
"""Of each kind of unit one protocol."""
SHOWN = list({(_ALL[name].unit, frozenset(_ALL[name].shows)): name for name in reversed(NAMES)}.values())
"""Of those that show the same of the same kind of unit one: what is beside their sheets is the same."""
MET = NAMES if IN_SOAK else [name for name in SHOWN if name not in ("demonstration", "success")]
"""Those met in `make test`: what is shown in one is hidden in another, and those two show what others do."""


def tour_of(name: str) -> list[str]:
    """The keys by which a protocol's unit is looked at; in a soak each is looked at by all of them.

    What is beside the sheet is looked at to and fro in a run and in two, and once, first with the phone and then in
    words, in each other kind of unit; the others of a kind take turns at the one and the other. What is around any
    unit is opened for one with a run.
    """
    runs = unit_of(protocols()[name]).runs
    other = OTHER_SIDE if len(runs) > 1 else []
    around = AROUND if runs else BESIDE
    if IN_SOAK:
        return [*STEPS, *other, "w", *around, *SHELL, *AWAY]
    if name in FIRST and protocols()[name].unit not in ("run", "pair of runs"):
        return [*LOOK, "v", "left", "left", "w", *around]
    if name in FIRST:
        return [*STEPS, *other, "w", *around, *([*SHELL, *AWAY] if protocols()[name].unit == "run" else [])]
    return [*(["v"] if MET.index(name) % 2 else []), *LOOK, *other]


def unit_of(protocol: Protocol, of: Planted | None = None) -> Unit:
    """One unit with everything in it that may tell too much."""
    plant = of or planted()
    runs = protocol.unit in ("run", "pair of runs", "step", "question")
    two = protocol.unit == "pair of runs" or protocol.id == "personal-rating"
    targets = tuple(
        Target(f"t{i}", f"Target {i}", step=i if protocol.targets == "steps" else None, options=("one", "other"))
        for i in range(2)
    )
    task = next(event.task for event in plant.run.events if hasattr(event, "task"))
    return Unit(
        "u1",
        runs=(plant.run.id, OTHER)[: 1 + two] if runs else (),
        step=1 if protocol.unit == "step" else None,
        question="q0" if protocol.unit == "question" else "",
        targets=targets if protocol.targets != "unit" else (),
        given=(UnitText("One", "First text", side="A"), UnitText("Two", "Second text", side="B"))
        if protocol.unit.startswith("pair of") and not runs
        else (),
        task=task if protocol.unit == "task" or not runs else None,
        hidden=DESIGNERS,
    )


def prepared(
    store: Store, protocol: Protocol, laid: tuple[UnitText, ...] = (), mark: str = "", **more: Any
) -> tuple[Study, list[Planted]]:
    """A study of that unit, of which another person and a model have said something; its words have a `mark`."""
    plants = [planted(mark=f"Q{mark}"), planted(OTHER, f"W{mark}")]
    for one in plants:
        store.runs.add(one.run)
    unit, r2 = unit_of(protocol, plants[0]), Actor("human", "ZR2code")
    unit = replace(unit, given=(*unit.given, *laid))
    plan = studied(store, protocol, [unit], ("R1", r2.id), by=Actor("human", "Zplanner"), note="Zplannote", **more)
    field = protocol.fields[0]
    for by, note in ((r2, "Znoteofother"), (Actor("model", "Zmodelname"), "Znoteofmodel")):
        target = unit.targets[0].id if unit.targets and field.per == "target" else ""
        said = Label(f"l-{by.id}", plan.id, 1, "u1", target, field.id, by, reason_missing="skipped", note=note, at="1")
        store.labels.record(plan, unit, said)
    return plan, plants


async def toured(
    app: LabApp, pilot: Pilot[Any], watched: Watched, until: Until, tour: Sequence[str] = TOUR, hand_in: int = 5
) -> str:
    """All that was seen by going through a unit by these keys, answering, and handing in."""
    await until(pilot, lambda: ready(app))
    watched.look(app)
    for number, key in enumerate(tour):
        await press(pilot, key)
        watched.look(app)
        if app.window is not None and number in SERVED:
            watched.serve(app)
    await until(pilot, lambda: app.current_mode == "annotate")
    for _ in range(hand_in):
        for key in ("1", "enter"):
            if room(app).view == "over":
                break
            await press(pilot, key)
            watched.look(app)
    return watched.text


def hidden_of(plan: Study, plants: list[Planted]) -> dict[str, str]:
    words = dict.fromkeys((*DESIGNERS.values(), *SAID), "study")
    for plant in plants:
        words |= plant.hidden(plan.visible_parts)
    return words | ({} if "outcome" in plan.visible_parts else {ROUNDED: "ended.score"})


@pytest.fixture
def watched(monkeypatch: pytest.MonkeyPatch) -> Watched:
    return Watched(monkeypatch)


@pytest.mark.parametrize("name", MET)
async def test_no_hidden_word_is_seen_in_any_protocol(
    store: Store, shared_apps: SharedApps, until: Until, watched: Watched, name: str
) -> None:
    """They are rated at one app: each unit has words of its own, so that none is taken for one of the unit before."""
    plan, plants = prepared(store, protocols()[name], mark=ascii_uppercase[NAMES.index(name)])
    apart = "with the score" if "outcome" in plan.visible_parts else ""
    app = shared_apps.rating(store, plan, notifications=True, apart=apart, window=True)
    async with shared_apps.at((120, 40)) as pilot:
        seen = await toured(app, pilot, watched, until, tour_of(name))
    words = hidden_of(plan, plants)
    assert {word: words[word] for word in found(words, seen)} == {}


@pytest.mark.parametrize(
    ("name", "size", "locale", "tour"),
    [
        ("tdg", (80, 24), "zh", SHORT),
        ("pairwise-runs", (200, 60), "zh", SHORTEST),
        *([
            ("tdg", (80, 24), "en", SHORT),
            ("failure-mode-knowu-proactive", (80, 24), "zh", SHORTEST),
            ("tdg", (200, 60), "en", SHORTEST),
            ("pairwise-runs", (200, 60), "en", SHORT),
            ("pairwise-runs", (80, 24), "zh", SHORT),
        ] if IN_SOAK else []),
    ],
)  # fmt: skip
async def test_nor_in_another_size_or_language(
    store: Store,
    shared_apps: SharedApps,
    until: Until,
    watched: Watched,
    name: str,
    size: tuple[int, int],
    locale: str,
    tour: list[str],
) -> None:
    """Each size is met in `make test`, in the other language; in a soak each protocol in more than one."""
    mark = f"{locale[0].upper()}{ascii_uppercase[NAMES.index(name)]}{ascii_uppercase[size[0] // 10]}"
    plan, plants = prepared(store, protocols()[name], locale=locale, mark=mark)
    apart = "with the score" if "outcome" in plan.visible_parts else ""
    app = shared_apps.rating(store, plan, notifications=True, apart=apart, locale=locale)
    two = len(unit_of(protocols()[name]).runs) > 1
    async with shared_apps.at(size) as pilot:
        seen = await toured(app, pilot, watched, until, [*tour, *(OTHER_SHORT if two else ["v", "right"])], 2)
    words = hidden_of(plan, plants)
    assert {word: words[word] for word in found(words, seen)} == {}


@pytest.mark.parametrize("seat", ["rater", "developer"])
async def test_nor_in_a_kit_whatever_seat_opens_it(store: Store, until: Until, watched: Watched, seat: str) -> None:
    """Who has only the kit may sit where they like: Home, Replay and the table of runs hold no more."""
    plan, plants = prepared(store, protocols()["tdg"], blind=("people", "models", "method", "outcome", "raters"))
    make_kit(store, plan, "R1", Path("kit.db"))
    with Store.open(Path("kit.db"), create=False) as kit:
        given = Settings(person="R1", seat=seat, bell=False)  # type: ignore[arg-type]
        app = LabApp(kit, given, Opening("annotate", study=kit.studies.study(plan.id)))
        more = ["f2", "down", "enter", "right", "f11", "f2", "f5"] if seat == "developer" else ["f2", "f5"]
        async with app.run_test(size=(120, 40), notifications=True) as pilot:
            seen = await toured(app, pilot, watched, until, ["w", "right", "v", "right", "o", "escape", *more], 2)
    words = hidden_of(plan, plants)
    assert {word: words[word] for word in found(words, seen)} == {}


async def test_the_last_panel_tells_nothing_of_what_was_open(store: Store, until: Until, watched: Watched) -> None:
    """Not even where the error itself quotes it."""
    plan, plants = prepared(store, protocols()["tdg"])
    words = hidden_of(plan, plants)
    app = rating(store, plan)
    panel = io.StringIO()
    app.error_console = Console(file=panel, width=100)

    def fails(hidden: str) -> None:
        raise KeyError(hidden)

    async def failing() -> None:
        async with app.run_test(size=(120, 40)) as pilot:
            await until(pilot, lambda: ready(app))
            app.call_later(fails, " ".join(words))
            await until(pilot, lambda: app._exception is not None)

    with pytest.raises(Crash):
        await failing()
    app._print_error_renderables()
    assert "hitlab failed (KeyError)" in panel.getvalue()
    assert found(words, panel.getvalue() + watched.text) == set()


async def test_no_hidden_word_is_found_by_looking_for_it(store: Store, shared_apps: SharedApps, until: Until) -> None:
    """A search that counted what it does not show would tell it."""
    plan, plants = prepared(store, protocols()["tdg"])
    app = shared_apps.rating(store, plan)
    async with shared_apps.at((120, 40)) as pilot:
        await until(pilot, lambda: ready(app))
        beside = app.screen.query_one(UnitPane)
        shown = plants[0].shown(plan.visible_parts)
        assert any(beside.search(word) for word in shown)
        assert [word for word in hidden_of(plan, plants) if beside.search(word)] == []


async def test_gold_is_seen_only_after_handing_in(
    store: Store, shared_apps: SharedApps, until: Until, watched: Watched
) -> None:
    gold = (Gold("n1", "completed", "not_completed", "Zgoldreason"), Gold("n2", "completed", "completed", "Zsecond"))
    units = [
        Unit(f"u{i}", runs=(planted().run.id,), targets=nodes(2), pilot=True, gold=gold if i == 1 else (
            Gold("n1", "completed", "completed", "Zlatergold"),)) for i in (1, 2)
    ]  # fmt: skip
    store.runs.add(planted().run)
    plan = studied(store, NODES, units)
    app = shared_apps.rating(store, plan, notifications=True)
    async with shared_apps.at((120, 40)) as pilot:
        await until(pilot, lambda: ready(app))
        for key in [*(STEPS if IN_SOAK else ["w", "right", "v"]), "w", *AROUND, *AWAY, "1", "1"]:
            await press(pilot, key)
            watched.look(app)
        assert found(["Zgoldreason", "Zsecond", "Zlatergold"], watched.text) == set()
        for _ in range(6):
            if room(app).view != "told":
                await press(pilot, "enter")
        assert room(app).view == "told"

        def is_seen() -> bool:
            watched.look(app)
            return found(["Zgoldreason", "Zsecond"], watched.text) == {"Zgoldreason", "Zsecond"}

        await until(pilot, is_seen)
        assert "Zlatergold" not in watched.text


async def test_how_far_others_are_is_on_no_shelf(
    store: Store, shared_apps: SharedApps, until: Until, watched: Watched
) -> None:
    """Of four that are dealt, R2 has handed in one: R1 reads 0/2, and never 1/4."""
    store.runs.add(planted().run)
    plan = studied(store, NODES, [Unit(f"u{i}", runs=(planted().run.id,)) for i in (1, 2)], ("R1", "R2"))
    store.labels.record_act(Act(uuid7(), plan.id, 1, Actor("human", "R2"), "commit", now(), "u1"))
    app = shared_apps.rating(store, plan)
    async with shared_apps.at((120, 40)) as pilot:
        await until(pilot, lambda: ready(app))
        for key in ("escape", "f2", "enter", "f2"):
            await press(pilot, key)
            watched.look(app)
        await until(pilot, lambda: "0/2" in watched.text)
    assert found(["1/4", "0/4"], watched.text) == set()


async def test_the_same_search_finds_what_is_shown(
    store: Store, shared_apps: SharedApps, until: Until, watched: Watched
) -> None:
    """With every switch off, words of each part are found; and what others said, where it is laid out."""
    protocol = replace(protocols()["tdg"], shows=SHOWS)
    _, plants = prepared(store, protocol, blind=())
    never = {word for plant in plants for word, one in plant.words.items() if one.needs is None}
    others = [*DESIGNERS.values(), *SAID]
    with Store.open(Path("laid.db")) as other:
        laid, _ = prepared(other, protocol, blind=(), laid=(UnitText("Words", " ".join([*others, *sorted(never)])),))
        to_the_end = ("v", *("right", "full_stop", "full_stop", "full_stop") * 3)  # what stands below is read, too
        app = shared_apps.rating(other, laid, notifications=True)
        async with shared_apps.at((200, 60)) as pilot:
            seen = await toured(app, pilot, watched, until, [*STEPS, "w", *AROUND, *to_the_end])
    places: dict[Show, set[str]] = {show: set() for show in SHOWS}
    for word, one in plants[0].words.items():
        if one.needs is not None and len(one.needs) == 1:
            places[next(iter(one.needs))].add(word)
    places["outcome"].add(ROUNDED)
    assert {show for show, words in places.items() if not found(words, seen)} == set()
    assert found(others, seen) == set(others)
    assert never - found(never, seen) == set()


async def test_whatever_leaves_the_app_is_searched(store: Store, until: Until, watched: Watched) -> None:
    """A word in a toast, a title, the clipboard, a picture's caption, or a single frame is found."""
    plan, _ = prepared(store, protocols()["tdg"])
    app = rating(store, plan, window=True)
    async with app.run_test(size=(80, 24), notifications=True) as pilot:
        await until(pilot, lambda: ready(app))
        app.notify("Ztoasted", title="Ztoasttitle")
        app.title, app.sub_title = "Ztitle", "Zsubtitle"
        app.copy_to_clipboard("Zcopied")
        assert app.window is not None
        app.window.show(b"\x89PNG Zpixels", (9, 9), "Zcaption")
        await until(pilot, lambda: any(toast.title == "Ztoasttitle" for toast in app._notifications))
        watched.look(app)
        watched.serve(app)
        title = app.screen.query_one("#annotate-title")
        title.update("Zflash")  # type: ignore[attr-defined]
        await until(pilot, lambda: "Zflash" in watched.text)
    words = ["Ztoasted", "Ztoasttitle", "Ztitle", "Zsubtitle", "Zcopied", "Zcaption", "Zpixels", "Zflash"]
    assert found(words, watched.text) == set(words)


def test_a_word_is_found_wherever_a_line_or_a_style_breaks_it() -> None:
    for word in planted().words:
        half = len(word) // 2
        for painted_so in (word, f"{word[:half]}\n  {word[half:]}", f"<b>{word[:half]}</b><i>{word[half:]}</i>"):
            assert found([word], f"before {painted_so} after") == {word}
    assert found(["Qbaba"], "Qbab a word") == {"Qbaba"}
    assert found(["Qbaba"], "Qba bi") == set()
