"""Keys as they were pressed, in every protocol: how many an answer and a unit take, and what stands in the file."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Hashable
from pathlib import Path
from typing import Any

import pytest
from textual import events

from annotators.protocols import protocol, protocols
from lab.core.study.protocol import Protocol
from lab.core.study.rating_sheet import FieldReference
from lab.core.study.study import Study, Target, Unit, UnitText
from lab.studies.rating.scale_entry import factor, largest_number
from lab.studies.rating.sheet_items import AnswerChoice, SheetItem, way_of
from screens.annotate.menu import Menu
from screens.app import LabApp
from store.store import Store
from tests.crossed import IN_SOAK, crossed
from tests.screens.annotate.sample_studies import NODES, nodes, ready, sheet, studied
from tests.screens.annotate.terminal import ENTER, opened
from tests.screens.resting import press
from tests.screens.runs import BARE, WHOLE, bare_run, whole_run
from tests.screens.shared_apps import SharedApps

Until = Callable[..., Awaitable[None]]
SHEET_KEYS = {*"0123456789", "enter"}
RATED = sorted(id for id, found in protocols().items() if found.unit != "task to play")


def asked(id: str) -> set[Hashable]:
    """What a protocol's sheet is made of: its targets, and each way in which a field asks."""
    asks = protocol(id)
    fields = {(f.kind, f.per, f.required, f.sided, bool(f.show_if), bool(f.after)) for f in asks.fields}
    return {asks.targets, *fields, *kinds(id)}


def kinds(id: str) -> set[Hashable]:
    """The kinds of things that a protocol asks, and of what scale: what keys do hangs on that."""
    return {(f.kind, bool(f.after), f.least, f.most, f.step) for f in protocol(id).fields}


def covering(parts: Callable[[str], set[Hashable]]) -> list[str]:
    """Protocols in which all parts of all of them stand, those with the most first; in a soak all protocols."""
    if IN_SOAK:
        return RATED
    chosen: list[str] = []
    left = set[Hashable]().union(*map(parts, RATED))
    while left:
        chosen.append(max(RATED, key=lambda id: len(parts(id) & left)))
        left -= parts(chosen[-1])
    return chosen


def unit_for(asks: Protocol, count: int = 2) -> Unit:
    """A unit with so many targets where the protocol has any, and a pair where it asks of one."""
    targets = nodes(count) if asks.targets != "unit" else ()
    if asks.targets == "branches":
        targets = tuple(Target(f"b{i}", f"Branch {i}", options=("this way", "that way")) for i in range(count))
    if asks.targets == "steps":
        targets = tuple(Target(f"s{i}", f"Step {i + 1}", step=i) for i in range(count))
    runs = (WHOLE, BARE) if asks.unit == "pair of runs" else () if asks.unit.startswith("pair") else (WHOLE,)
    given = (
        (UnitText("One", "one", side="A"), UnitText("Other", "other", side="B")) if asks.unit.startswith("pair") else ()
    )
    return Unit("u1", runs, step=0 if asks.unit == "step" else None, targets=targets, given=given)


@pytest.fixture
def runs(store: Store) -> Store:
    store.runs.add(whole_run())
    store.runs.add(bare_run())
    return store


class Hands:
    """A rater's hands: each key that they press is recorded with what it was for."""

    def __init__(self, app: LabApp, pilot: Any) -> None:
        self.app = app
        self.pilot = pilot
        self.pressed: list[tuple[FieldReference | None, str]] = []

    async def press(self, *keys: str) -> None:
        for key in keys:
            item = sheet(self.app).item
            self.pressed.append((item.spot if item is not None else None, key))
            await press(self.pilot, key)

    def of(self, spot: FieldReference) -> list[str]:
        """The keys that were pressed on an item."""
        return [key for at, key in self.pressed if at == spot]


def meant(app: LabApp, item: SheetItem, turn: int) -> tuple[list[str], Any]:
    """An answer, another each turn, and the keys that give it."""
    pane = sheet(app)
    match way_of(item):
        case "choice":
            choices: list[AnswerChoice] = pane.wording.choices(item)
            if item.field.after:  # a later reason than the first
                earlier = pane.sheet.value(FieldReference(item.spot.target, item.field.after))
                order = [option.id for option in item.field.options]
                choices = [one for one in choices if earlier not in order[order.index(one.value) :]] or choices
            choice = choices[turn % len(choices)]
            return list(choice.key), choice.value
        case "scale":
            by, large = factor(item.field), largest_number(item.field) > 9
            number = round((item.field.least or 0) * by) + (5 if large else 1)
            return list(f"{number:02d}" if large else str(number)), number / by if by > 1 else number
        case "step":
            return ["enter"], None
    if item.field.kind == "interval":
        return ["7", "enter"], 7
    return ["enter", *"tea", "enter"], "tea"


async def filled(hands: Hands) -> dict[FieldReference, Any]:
    """Answers all that a sheet asks, optional places too, and gives what was meant by each answer."""
    app = hands.app
    said: dict[FieldReference, Any] = {}
    for turn in range(100):
        item = sheet(app).item
        if item is None:
            return said
        keys, value = meant(app, item, turn)
        await hands.press(*keys)
        assert sheet(app).sheet.head(item.spot) is not None, (item.spot, keys)
        said[item.spot] = sheet(app).sheet.value(item.spot) if value is None else value
    raise AssertionError("the sheet never ended")


@crossed
@pytest.mark.parametrize("id", covering(asked))
async def test_keys_are_few_and_say_what_was_meant(
    runs: Store, tmp_path: Path, shared_apps: SharedApps, until: Until, id: str
) -> None:
    asks = protocol(id)
    study = studied(runs, asks, [unit_for(asks)])
    app = shared_apps.rating(runs, study)
    async with shared_apps.at(size=(120, 40)) as pilot:
        await until(pilot, lambda: ready(app))
        hands = Hands(app, pilot)
        said = await filled(hands)
        items = {item.spot: item for item in sheet(app).items.items}
        await hands.press("enter")
        await until(pilot, lambda: runs.studies.progress(study, "R1").done == 1)
    for spot in said:
        keys, way = hands.of(spot), way_of(items[spot])
        most = {"choice": 1, "scale": 2, "step": 1}.get(way, len("tea") + 2)
        assert len(keys) <= most, (spot, keys)
        if items[spot].field.kind != "text":
            assert set(keys) <= SHEET_KEYS
    if all(way_of(items[spot]) == "choice" for spot in said):
        assert len(hands.pressed) <= len(said) + 2
    with Store.open(runs.path) as again:  # as another program finds it on the disk
        kept = again.labels.sheet(study, again.studies.unit(study, "u1"), "R1")
        assert kept.committed
        assert {spot: kept.value(spot) for spot in said} == said
        given = list(again.labels.read(study))
        assert len({(label.target, label.field) for label in given}) == len(given) == len(said)
        assert all(label.shown_at and label.first_key_at for label in given)


@crossed
@pytest.mark.parametrize("id", covering(kinds))
async def test_digits_and_enter_alone_say_that_there_is_no_answer(
    runs: Store, shared_apps: SharedApps, until: Until, id: str
) -> None:
    asks = protocol(id)
    study = studied(runs, asks, [unit_for(asks, 1)])
    app = shared_apps.rating(runs, study)
    async with shared_apps.at(size=(120, 40)) as pilot:
        await until(pilot, lambda: ready(app))
        hands = Hands(app, pilot)
        said: list[str] = []
        while (item := sheet(app).item) is not None:
            said.append(("skipped", "cannot_judge")[(RATED.index(id) + len(said)) % 2])
            await without_answer(hands, item, said[-1])
            assert sheet(app).item != item
        await hands.press("enter")
        await until(pilot, lambda: runs.studies.progress(study, "R1").done == 1)
    assert {key for _, key in hands.pressed} <= {*SHEET_KEYS, "m"}
    kept = runs.labels.sheet(study, runs.studies.unit(study, "u1"), "R1")
    assert [row.reason_missing for row in kept.rows] == said
    assert kept.committed


async def without_answer(hands: Hands, item: SheetItem, reason: str) -> None:
    """Opens the other answers, by a letter where 0 is a number of the scale, and chooses that one by its digit."""
    menu = sheet(hands.app).query_one(Menu)
    await hands.press("0" if way_of(item) != "scale" else "m")
    assert menu.display
    at = [entry.id for entry in menu.entries].index(f"missing {reason}")
    await hands.press(str(at + 1))


async def test_a_habit_of_enter_after_each_digit_answers_nothing_else(
    runs: Store, shared_apps: SharedApps, until: Until
) -> None:
    """Whoever confirms each digit by Enter has said what they meant, and nothing more."""
    study = studied(runs, NODES, [Unit("u1", (WHOLE,), targets=nodes(3)), Unit("u2", (BARE,), targets=nodes(1))])
    app = shared_apps.rating(runs, study)
    async with shared_apps.at(size=(120, 40)) as pilot:
        await until(pilot, lambda: ready(app))
        await press(pilot, "1", "enter", "2", "enter", "1", "enter")
        await until(pilot, lambda: runs.studies.progress(study, "R1").done == 1)
    given = [(label.target, label.value, label.reason_missing) for label in runs.labels.read(study)]
    assert given == [("n1", "completed", None), ("n2", "not_completed", None), ("n3", "completed", None)]


async def test_what_is_pasted_or_composed_fires_no_key(runs: Store, shared_apps: SharedApps, until: Until) -> None:
    study = studied(runs, NODES, [Unit("u1", (WHOLE,), targets=nodes(3))])
    app = shared_apps.rating(runs, study)
    async with shared_apps.at(size=(120, 40)) as pilot:
        await until(pilot, lambda: ready(app))
        before = sheet(app).item
        for text in ("z1s2", "completed", "完成", "1\n2\n"):
            app.post_message(events.Paste(text))
            if not text.isascii():
                await press(pilot, *text)
            await press(pilot, "down", "up")
            assert sheet(app).item == before, text
            assert not sheet(app).menu.display, text
            assert list(runs.labels.read(study)) == [], text


def test_a_paste_in_a_real_terminal_answers_nothing(runs: Store, tmp_path: Path) -> None:
    study = studied(runs, NODES, [Unit("u1", (WHOLE,), targets=nodes(3))])

    def labels(study: Study = study) -> list[Any]:
        return [(label.target, label.value) for label in runs.labels.read(study)]

    with opened(runs.path, tmp_path, study.id, "R1") as terminal:
        terminal.see("Hand in")
        terminal.press(b"\x1b[200~z1s2\r1\x1b[201~", "完成，不".encode(), b"2")
        terminal.until(lambda: len(labels()) > 0, "the key after it")
        assert labels() == [("n1", "not_completed")]
        terminal.press("１".encode(), b"1", ENTER)  # a digit is one in whatever width it is written
        terminal.until(lambda: runs.studies.progress(study, "R1").done == 1, "handed in")
    assert labels() == [("n1", "not_completed"), ("n2", "completed"), ("n3", "completed")]
    first = [label.first_key_at for label in runs.labels.read(study)]
    assert first[0] is not None
    assert first[1] is None  # composed: no key tells when it began
