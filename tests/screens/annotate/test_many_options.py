"""A question of many options on the sheet: digits turn options on and off, Enter gives the set, none is an answer."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from msgspec.structs import replace

from lab.core.study.protocol import Field, Option, Protocol
from lab.core.study.rating_sheet import FieldReference
from lab.core.study.study import Unit
from store.store import Store
from tests.crossed import crossed, spread
from tests.modes import MODES, PROTOCOL
from tests.screens.annotate.sample_studies import one_field, rating, ready, sheet, studied
from tests.screens.resting import press
from tests.screens.runs import WHOLE, painted, whole_run
from tests.screens.shared_apps import SharedApps

Until = Callable[..., Awaitable[None]]
AT = FieldReference("", "modes")
FREE = replace(MODES, show_if="", most=None)
UNIT = Unit("u1", (WHOLE,))


@pytest.fixture
def run(store: Store) -> Store:
    store.runs.add(whole_run())
    return store


def kept(app: Any) -> Any:
    return sheet(app).sheet.value(AT)


def begun(apps: SharedApps, store: Store, protocol: Protocol, **more: Any) -> Any:
    return apps.rating(store, studied(store, protocol, [UNIT], **more))


async def test_digits_choose_and_enter_gives_one_answer(run: Store, shared_apps: SharedApps, until: Until) -> None:
    app = begun(shared_apps, run, PROTOCOL)
    async with shared_apps.at(size=(120, 40)) as pilot:
        await until(pilot, lambda: ready(app))
        await press(pilot, "1")
        await until(pilot, lambda: "Digits choose as many as hold, at most 3" in painted(app))
        assert "☐ 5 none of these" in painted(app)
        await press(pilot, "4", "1", "2", "2")
        await until(pilot, lambda: "☑ 1 did not ask" in painted(app) and "☑ 4 forgot" in painted(app))
        assert "☐ 2 misread" in painted(app)
        assert "2 chosen, not yet given" in painted(app)
        assert kept(app) is None
        await press(pilot, "enter")
        await until(pilot, lambda: kept(app) == ["ask", "memory"])
        await until(pilot, lambda: "did not ask; forgot" in painted(app))
        assert [one.evidence for one in sheet(app).sheet.rows if one.field == "modes"] == [f"{WHOLE}@1"]
        assert "What did it forget?" in painted(app), "asked where memory is among the options"


async def test_none_of_these_is_an_answer_and_differs_from_nothing(
    run: Store, shared_apps: SharedApps, until: Until
) -> None:
    app = begun(shared_apps, run, one_field(FREE))
    async with shared_apps.at(size=(120, 40)) as pilot:
        await until(pilot, lambda: ready(app))
        await press(pilot, "2", "5")
        await until(pilot, lambda: "☑ 5 none of these" in painted(app) and "☐ 2 misread" in painted(app))
        await press(pilot, "5")
        await until(pilot, lambda: "not yet given" not in painted(app))
        await press(pilot, "enter")
        await until(pilot, lambda: "Digits choose. m: other answers." in painted(app))
        assert kept(app) is None, "Enter alone says nothing"
        await press(pilot, "5", "enter")
        await until(pilot, lambda: kept(app) == [])
        await until(pilot, lambda: "none of these" in painted(app))
        assert not sheet(app).sheet.unanswered
        await press(pilot, "up", "1", "3", "enter")
        await until(pilot, lambda: kept(app) == ["ask", "plan"])
        await press(pilot, "z")
        await until(pilot, lambda: kept(app) == [])


async def test_bounds_are_told_and_nothing_is_kept(run: Store, shared_apps: SharedApps, until: Until) -> None:
    app = begun(shared_apps, run, one_field(replace(FREE, least=2, most=3)))
    async with shared_apps.at(size=(120, 40)) as pilot:
        await until(pilot, lambda: ready(app))
        assert "none of these" not in painted(app)
        await press(pilot, "2", "enter")
        await until(pilot, lambda: "1 option chosen; at least 2 must be." in painted(app))
        await press(pilot, "1", "3", "4", "enter")
        await until(pilot, lambda: "4 options chosen; at most 3 may be." in painted(app))
        assert kept(app) is None
        await press(pilot, "4", "enter")
        await until(pilot, lambda: kept(app) == ["ask", "misread", "plan"])


async def test_what_is_chosen_stays_while_one_is_elsewhere(run: Store, shared_apps: SharedApps, until: Until) -> None:
    study = studied(run, one_field(FREE), [UNIT])
    app = shared_apps.rating(run, study)
    async with shared_apps.at(size=(120, 40)) as pilot:
        await until(pilot, lambda: ready(app))
        await press(pilot, "3", "down", "up")
        await until(pilot, lambda: "☑ 3 had a wrong plan" in painted(app))
    app = rating(run, study)
    async with app.run_test(size=(120, 40)) as pilot:
        await until(pilot, lambda: ready(app))
        await until(pilot, lambda: "☑ 3 had a wrong plan" in painted(app) and "1 chosen, not yet given" in painted(app))
        await pilot.click("#options", offset=(6, 1))
        await until(pilot, lambda: "2 chosen, not yet given" in painted(app))
        await press(pilot, "enter")
        await until(pilot, lambda: kept(app) == ["ask", "plan"])


async def test_more_than_nine_take_two_digits_and_a_letter(run: Store, shared_apps: SharedApps, until: Until) -> None:
    keys = "abcdeghklo"
    options = tuple(Option(f"o{number}", f"option number {number}", key) for number, key in enumerate(keys, 1))
    app = begun(shared_apps, run, one_field(Field("modes", "Which?", "many", options)))
    async with shared_apps.at(size=(120, 40)) as pilot:
        await until(pilot, lambda: ready(app))
        assert "☐ 11 none of these" in painted(app)
        await press(pilot, "1", "0", "0", "2")
        await until(pilot, lambda: "☑ 10 option number 10" in painted(app) and "☑ 02 option number 2" in painted(app))
        await press(pilot, "enter")
        await until(pilot, lambda: kept(app) == ["o2", "o10"])


LONG = "The agent misread what was on the screen and tapped an element that only looked like the one it wanted. " * 5
CHINESE = {"zh": {
    "modes": "出了什么问题？",
    "modes.ask": "没有询问用户而直接做出了假设，尽管一个问题就可以弄清楚用户真正想要的是什么" * 5,
    "modes.misread": "误读了屏幕上的内容", "modes.plan": "计划错误", "modes.memory": "忘记了读过的内容",
}}  # fmt: skip


@crossed
@pytest.mark.parametrize("size", spread([(64, 18), (80, 24), (120, 40)], 2))
async def test_long_options_are_read_and_chosen_in_any_language(
    run: Store, shared_apps: SharedApps, until: Until, size: Any
) -> None:
    long = (replace(FREE.options[0], says=LONG), *FREE.options[1:])
    app = begun(
        shared_apps, run, Protocol("one", "One", "run", (replace(FREE, options=long),), words=CHINESE), locale="zh"
    )
    async with shared_apps.at(size=size) as pilot:
        await until(pilot, lambda: ready(app))
        await until(pilot, lambda: "按数字键选择" in painted(app))
        await press(pilot, "1", "4")
        await until(pilot, lambda: "已选：2；尚未作答" in painted(app))
        for _ in range(40):
            if "☑ 4 忘记了读过的内容" in painted(app):
                break
            await press(pilot, "pagedown")
        assert "☑ 4 忘记了读过的内容" in painted(app)
        await press(pilot, "enter")
        await until(pilot, lambda: kept(app) == ["ask", "memory"])
