"""What is judged, what is asked and what it is judged by: whole where it fits, else read on by a key that is said."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from itertools import product
from typing import Any

import pytest
from msgspec.structs import replace

from annotators.protocols import protocol as built_in
from lab.core.run.run_records import Imported
from lab.core.run.trace import Started
from lab.core.study.label import AnswerDetails
from lab.core.study.protocol import Field, Protocol
from lab.core.study.rating_sheet import FieldReference
from lab.core.study.study import Study, Target, Unit, UnitText
from lab.core.task.task import Actor
from lab.studies.rating.rating_session import RatingSession
from screens.app import LabApp
from store.store import Store
from tests.crossed import IN_SOAK, crossed, soak
from tests.screens.annotate.sample_studies import STARS, nodes, one_field, ready, studied
from tests.screens.long_texts import at_sizes
from tests.screens.resting import press
from tests.screens.runs import WHOLE, painted, whole_run
from tests.screens.shared_apps import SharedApps

Until = Callable[..., Awaitable[None]]
EN = "Order the usual lunch for Friday and keep the reminder going. "
ZH = "请为星期五订平常的午餐，并把提醒一直保留下去。"
LAST = {"en": "for one week", "zh": "一个星期"}
SIZES = [(64, 18), (80, 24), (120, 40)]
OF_LOCALE = {"en": SIZES, "zh": SIZES if IN_SOAK else SIZES[:1]}
"""Chinese lines are broken by the same code: they are read in the narrowest room, and in a soak in all."""


def text_of(length: int, locale: str) -> str:
    """A text of about so many characters; what it ends with stands in it once."""
    start = EN if locale == "en" else ZH
    end = LAST[locale]
    return (start * (length // len(start) + 1))[: max(0, length - len(end))] + end


def asked_for(instruction: str) -> Imported:
    """A run that was asked for this."""
    made = whole_run()
    begun = made.events[0]
    assert isinstance(begun, Started)
    task = replace(begun.task, instruction=instruction)
    return Imported([replace(begun, task=task), *made.events[1:]], made.images, made.verdicts)


def pane(app: LabApp, selector: str) -> str:
    """What is painted in one pane, without its borders, line ends and blanks: words run on over lines."""
    x, y, width, height = app.screen.query_one(selector).region
    lines = [strip.crop(x, x + width).text for strip in app.screen._compositor.render_strips()[y : y + height]]
    return "".join(char for char in "".join(lines) if char not in "│▁▂▃▄▅▆▇█╭╮╰╯─ ")


async def read_to(
    until: Until, pilot: Any, app: LabApp, words: str, key: str = "pagedown", selector: str = "#beside"
) -> None:
    """Presses a key, as long as the screen says that there is more, until these words are painted in a pane."""
    while words.replace(" ", "") not in pane(app, selector):
        await until(pilot, lambda: "read on" in painted(app))
        await press(pilot, key)


@crossed
@pytest.mark.parametrize("locale", ["en", "zh"])
async def test_an_instruction_is_whole_where_it_fits(
    store: Store, shared_apps: SharedApps, until: Until, locale: str
) -> None:
    """As long as that of a usual task: what it ends with is judged like the rest."""
    store.runs.add(asked_for(text_of(64 if locale == "en" else 40, locale)))
    study = studied(store, built_in("success"), [Unit("u1", (WHOLE,))], locale=locale)
    app = shared_apps.rating(store, study)
    async with shared_apps.at(size=SIZES[0]) as pilot:
        await until(pilot, lambda: ready(app))
        async for _ in at_sizes(pilot, OF_LOCALE[locale]):
            await until(pilot, lambda: LAST[locale].replace(" ", "") in pane(app, "#beside"))
            assert "more line" not in painted(app)


@crossed
@pytest.mark.parametrize("locale", ["en", "zh"])
async def test_a_long_instruction_says_there_how_it_is_read_and_is_read_whole(
    store: Store, shared_apps: SharedApps, until: Until, locale: str
) -> None:
    text = text_of(1500, locale)
    store.runs.add(asked_for(text))
    app = shared_apps.rating(store, studied(store, built_in("success"), [Unit("u1", (WHOLE,))], locale=locale))
    async with shared_apps.at(size=SIZES[0]) as pilot:
        await until(pilot, lambda: ready(app))
        async for _ in at_sizes(pilot, OF_LOCALE[locale]):
            await until(pilot, lambda: "▸ w" in painted(app))
            assert "more lines" in painted(app)
            await press(pilot, "w")
            await until(pilot, lambda: "▸ w" not in painted(app))
            await read_to(until, pilot, app, LAST[locale])
            assert "1 " in painted(app)  # the answers stand all the while
            assert "failure" in painted(app) or "失败" in painted(app)
            await press(pilot, "escape")  # one step back: what was unfolded
            await until(pilot, lambda: ready(app) and "▸ w" in painted(app))


def guessed(store: Store, lines: int = 40) -> Study:
    profile = "\n".join(f"likes dish number {n} of the menu" for n in range(15))
    before = tuple(f"[2025-03-01 12:{n % 60:02d}] (office) did thing {n}." for n in range(lines))
    given = (
        UnitText("Profile", profile),
        UnitText("Time and place", "2025-03-04 12:10 · office"),
        UnitText("Before", items=before),
    )
    return studied(store, built_in("intent-guess"), [Unit("u1", (WHOLE,), given=given)])


WAYS_ON = [((64, 18), "pagedown"), ((120, 40), "full_stop"), ((80, 24), "right"), ((80, 24), "full_stop"),
           ((120, 40), "pagedown")]  # fmt: skip


@crossed
@pytest.mark.parametrize(("size", "key"), WAYS_ON if IN_SOAK else WAYS_ON[:3])
async def test_time_and_place_stay_in_sight_while_the_rest_is_read(
    store: Store, shared_apps: SharedApps, until: Until, size: tuple[int, int], key: str
) -> None:
    store.runs.add(whole_run())
    app = shared_apps.rating(store, guessed(store))
    async with shared_apps.at(size=size) as pilot:
        await until(pilot, lambda: ready(app) and "2025-03-0412:10·office" in pane(app, "#beside"))
        assert "PgDn: read on" in painted(app)
        await read_to(until, pilot, app, "did thing 39.", key)
        assert "2025-03-0412:10·office" in pane(app, "#beside")
        back = {"pagedown": "pageup", "full_stop": "comma", "right": "left"}[key]
        while "number 0 " not in painted(app):
            await press(pilot, back)


async def test_what_stands_beside_is_read_on_while_a_guess_is_typed(
    store: Store, shared_apps: SharedApps, until: Until
) -> None:
    store.runs.add(whole_run())
    study = guessed(store)
    app = shared_apps.rating(store, study)
    async with shared_apps.at(size=(80, 24)) as pilot:
        await until(pilot, lambda: ready(app) and "PgDn: read on" in painted(app))
        await press(pilot, "enter", *"tea", ".", "pagedown", "pagedown")
        await until(pilot, lambda: "number 0 " not in painted(app))
        await press(pilot, "enter")
        await until(pilot, lambda: [label.value for label in store.labels.read(study)] == ["tea."])


async def test_no_key_is_offered_that_does_nothing_here(store: Store, shared_apps: SharedApps, until: Until) -> None:
    given = (UnitText("One", items=("a",), side="A"), UnitText("Two", items=("b",), side="B"))
    app = shared_apps.rating(store, studied(store, built_in("pairwise-sets"), [Unit("u1", given=given)]))
    async with shared_apps.at(size=(80, 24)) as pilot:
        await until(pilot, lambda: ready(app) and "1 left" in painted(app) and "Guide" in footer(app))
        assert "Step" not in footer(app)
        assert "Seen here" not in footer(app)
        await press(pilot, "m")
        await until(pilot, lambda: "Other answers" in painted(app) and "Choose" in footer(app))
        assert "Undo" not in footer(app)
        await press(pilot, "s")  # the letter that stands beside a line chooses it
        await until(pilot, lambda: "skipped" in painted(app) and "Step" not in footer(app))


def footer(app: LabApp) -> str:
    return painted(app).splitlines()[-1]


WAYS = Protocol("b", "B", "run", (Field("taken", "Which way?", "nominal"),), "branches")


KINDS = ("asked", "detail", "options")
SOME = [("asked", SIZES[0]), ("detail", SIZES[1]), ("options", SIZES[2])]


@soak
@crossed
@pytest.mark.parametrize(("kind", "size"), list(product(KINDS, SIZES)) if IN_SOAK else SOME)
async def test_long_questions_and_answers_are_read_on_and_the_answers_stay(
    store: Store, shared_apps: SharedApps, until: Until, size: tuple[int, int], kind: str
) -> None:
    store.runs.add(whole_run())
    text = text_of(700, "en")
    if kind == "asked":
        study = studied(store, one_field(replace(STARS, ask=text)), [Unit("u1", (WHOLE,))])
    elif kind == "detail":
        targets = (replace(nodes(1)[0], detail=text),)
        study = studied(
            store, Protocol("n", "N", "run", (STARS,), "tdg nodes"), [Unit("u1", (WHOLE,), targets=targets)]
        )
    else:
        ways = (Target("b1", "Size", options=("small", text)),)
        study = studied(store, WAYS, [Unit("u1", (WHOLE,), targets=ways)])
    app = shared_apps.rating(store, study)
    async with shared_apps.at(size=size) as pilot:
        await until(pilot, lambda: ready(app) and "○ 1" in painted(app))
        await read_to(until, pilot, app, LAST["en"], selector="#item")
        if kind != "options":
            assert "○ 1" in painted(app)
        while "○ 1" not in painted(app):
            await press(pilot, "pageup")
        await press(pilot, "2")
        await until(pilot, lambda: len(list(store.labels.read(study))) == 1)


async def test_a_long_note_is_read_whole_below_what_is_asked(
    store: Store, shared_apps: SharedApps, until: Until
) -> None:
    store.runs.add(whole_run())
    study = studied(store, one_field(STARS), [Unit("u1", (WHOLE,))])
    session = RatingSession(store, study, Actor("human", "R1"))
    at = session.next_assignment()
    assert at is not None
    session.open(at)
    session.answer(FieldReference("", "personal"), "4", details=AnswerDetails(note=text_of(900, "en")))
    app = shared_apps.rating(store, study)
    async with shared_apps.at(size=(80, 24)) as pilot:
        await until(pilot, lambda: ready(app))
        await press(pilot, "home")
        await until(pilot, lambda: "✎" in painted(app) and "○ 1" in painted(app))
        await read_to(until, pilot, app, LAST["en"], selector="#item")
        assert "● 4" in painted(app)


async def test_where_the_list_of_items_scrolls_too_one_key_is_named_and_both_read_on(
    store: Store, shared_apps: SharedApps, until: Until
) -> None:
    store.runs.add(whole_run())
    targets = tuple(Target(f"t{n}", f"The node number {n}") for n in range(30))
    given = (
        UnitText("Before", items=tuple(f"[2025-03-01 12:{n % 60:02d}] (office) did thing {n}." for n in range(60))),
    )
    nodes_of = replace(built_in("intent-guess"), targets="tdg nodes", fields=(STARS,))
    app = shared_apps.rating(store, studied(store, nodes_of, [Unit("u1", (WHOLE,), targets=targets, given=given)]))
    async with shared_apps.at(size=(80, 24)) as pilot:
        await until(pilot, lambda: ready(app) and "read on" in painted(app))
        items = app.screen.query_one("#items")
        assert app.focused is items
        assert items.max_scroll_y > 0
        for _ in range(40):
            if "didthing59." in pane(app, "#beside"):
                break
            assert "PgDn: read on" in painted(app)
            assert ".: read on" not in painted(app)
            await press(pilot, "pagedown")
        assert "didthing59." in pane(app, "#beside")
        top = items.scroll_offset.y
        await press(pilot, "pagedown")
        await until(pilot, lambda: items.scroll_offset.y > top)
