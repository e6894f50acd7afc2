"""Hidden stays hidden: whatever a sheet paints, serves, copies or toasts, in every protocol, holds no hidden word."""

from __future__ import annotations

import http.client
from collections.abc import Awaitable, Callable, Iterator
from typing import Any

import pytest
from msgspec.structs import replace

from annotators.protocols import protocols
from lab.label import Label
from lab.protocol import Protocol, Show
from lab.study import Given, Study, Target, Unit
from lab.task import Actor
from screens.app import LabApp
from store.store import Store
from tests.blind import SHOWS, Planted, found, planted
from tests.screens.annotate.made import press, rating, ready, studied
from tests.screens.runs import painted

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
TOUR = [
    *LOOK, "v", "b", "left", "left", "left", "left", "left", "x", *LOOK, "v", "x", "o", "escape", "t", "full_stop", "t",
    "question_mark", "question_mark", "ctrl+p", "escape", "m", "escape", "f4", "f9", "f10", "f11", "f12", "f2", "f5",
]  # fmt: skip

NAMES = sorted(name for name, one in protocols().items() if one.unit != "task to play")


def unit_of(protocol: Protocol) -> Unit:
    """One unit with everything in it that may tell too much."""
    runs = protocol.unit in ("run", "pair of runs", "step", "question")
    two = protocol.unit == "pair of runs" or protocol.id == "personal-rating"
    targets = tuple(
        Target(f"t{i}", f"Target {i}", step=i if protocol.targets == "steps" else None, options=("one", "other"))
        for i in range(2)
    )
    task = next(event.task for event in planted().run.events if hasattr(event, "task"))
    return Unit(
        "u1",
        runs=(planted().run.id, OTHER)[: 1 + two] if runs else (),
        step=1 if protocol.unit == "step" else None,
        question="q0" if protocol.unit == "question" else "",
        targets=targets if protocol.targets != "unit" else (),
        given=(Given("One", "First text", side="A"), Given("Two", "Second text", side="B"))
        if protocol.unit.startswith("pair of") and not runs
        else (),
        task=task if protocol.unit == "task" or not runs else None,
        hidden=DESIGNERS,
    )


def prepared(
    store: Store, protocol: Protocol, laid: tuple[Given, ...] = (), **more: Any
) -> tuple[Study, list[Planted]]:
    """A study of that unit, of which another person and a model have said something."""
    plants = [planted(), planted(OTHER, "W")]
    for one in plants:
        store.import_run(one.run)
    unit, r2 = unit_of(protocol), Actor("human", "ZR2code")
    unit = replace(unit, given=(*unit.given, *laid))
    plan = studied(store, protocol, [unit], ("R1", r2.id), by=Actor("human", "Zplanner"), note="Zplannote", **more)
    field = protocol.fields[0]
    for by, note in ((r2, "Znoteofother"), (Actor("model", "Zmodelname"), "Znoteofmodel")):
        target = unit.targets[0].id if unit.targets and field.per == "target" else ""
        said = Label(f"l-{by.id}", plan.id, 1, "u1", target, field.id, by, reason_missing="skipped", note=note, at="1")
        store.record_label(plan, unit, said)
    return plan, plants


def served(app: LabApp) -> str:
    """What the page of pictures answers now, its pictures as they are."""
    window = app.window
    if window is None:
        return ""
    said = ""
    for rest in ("", "picture"):
        line = http.client.HTTPConnection("127.0.0.1", window.port, timeout=10)
        path = "/" + window.address.split("/", 3)[3] + rest
        line.request("GET", path, headers={"Host": f"127.0.0.1:{window.port}"})
        answer = line.getresponse()
        said += answer.read().decode("latin-1") + str(answer.headers)
        line.close()
    return said


def all_of(app: LabApp, key: str = "") -> Iterator[str]:
    """Everything that leaves the app at this moment; the page of pictures changes only by some keys."""
    yield painted(app)
    yield app.title + app.sub_title + app.clipboard
    yield from (f"{toast.title} {toast.message}" for toast in app._notifications)
    if key in ("", "right", "b", "o", "x"):
        yield served(app)


async def toured(app: LabApp, until: Until, size: tuple[int, int]) -> str:
    """All that was seen by going through a unit by every key, answering, and handing in."""
    seen: list[str] = []
    async with app.run_test(size=size, notifications=True) as pilot:
        await until(pilot, lambda: ready(app))
        seen += all_of(app)
        for key in TOUR:
            await press(pilot, key)
            seen += all_of(app, key)
        await until(pilot, lambda: app.current_mode == "annotate")
        for _ in range(5):
            for key in ("1", "enter"):
                await press(pilot, key)
                seen += all_of(app, key)
    return "\n".join(seen)


def hidden_of(plan: Study, plants: list[Planted]) -> dict[str, str]:
    words = dict.fromkeys((*DESIGNERS.values(), *SAID), "study")
    for plant in plants:
        words |= plant.hidden(plan.shown)
    return words | ({} if "outcome" in plan.shown else {ROUNDED: "ended.score"})


@pytest.mark.parametrize("name", NAMES)
async def test_no_hidden_word_is_seen_in_any_protocol(store: Store, until: Until, name: str) -> None:
    plan, plants = prepared(store, protocols()[name])
    seen = await toured(rating(store, plan, window=True), until, (120, 40))
    words = hidden_of(plan, plants)
    assert {word: words[word] for word in found(words, seen)} == {}


async def test_the_same_search_finds_what_is_shown(store: Store, until: Until) -> None:
    """With every switch off, words of each part are found; and what others said, where it is laid out."""
    protocol = replace(protocols()["tdg"], shows=SHOWS)
    others = [*DESIGNERS.values(), *SAID]
    plan, plants = prepared(store, protocol, blind=(), laid=(Given("Words", " ".join(others)),))
    seen = await toured(rating(store, plan), until, (120, 40))
    places: dict[Show, set[str]] = {show: set() for show in SHOWS}
    for word, one in plants[0].words.items():
        if one.needs is not None and len(one.needs) == 1:
            places[next(iter(one.needs))].add(word)
    places["outcome"].add(ROUNDED)
    assert {show for show, words in places.items() if not found(words, seen)} == set()
    assert found(others, seen) == set(others)


def test_a_word_is_found_wherever_a_line_or_a_style_breaks_it() -> None:
    for word in planted().words:
        half = len(word) // 2
        for painted_so in (word, f"{word[:half]}\n  {word[half:]}", f"<b>{word[:half]}</b><i>{word[half:]}</i>"):
            assert found([word], f"before {painted_so} after") == {word}
    assert found(["Qbaba"], "Qbab a word") == {"Qbaba"}
    assert found(["Qbaba"], "Qba bi") == set()
