"""A sheet in its study's language: answers, flags, sides, hints and reasons for none say it in that language."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import pytest

from annotators.protocols import protocol
from annotators.units import units_for
from lab.core.study.protocol import Field, Option, Protocol
from lab.core.study.rating_sheet import MISSING
from lab.core.study.sheet_words import ENGLISH, WORDS_BY_LOCALE
from lab.core.study.study import Unit, UnitText
from screens.annotate.guide import guide_of
from store.store import Store
from tests.screens.annotate.sample_studies import nodes, ready, studied
from tests.screens.resting import press
from tests.screens.runs import WHOLE, painted, whole_run
from tests.screens.shared_apps import SharedApps

Until = Callable[..., Awaitable[None]]
SETS = (UnitText("", "", ("One",), "A"), UnitText("", "", ("Two",), "B"))


@pytest.fixture
def run(store: Store) -> Store:
    store.runs.add(whole_run())
    return store


def test_what_every_sheet_says_is_there_in_every_language() -> None:
    for locale, words in WORDS_BY_LOCALE.items():
        assert list(words) == list(ENGLISH), locale
        assert all(words[key].count("{}") == ENGLISH[key].count("{}") for key in ENGLISH), locale
    assert all(ENGLISH[f"_{reason}"] == words for reason, words in MISSING.items())


def test_a_protocols_own_words_go_before_those_that_every_sheet_says() -> None:
    field = Field("which", "Which?", "nominal", (Option("A"), Option("B")), sided=True)
    one = Protocol("p", "P", "pair of texts", (field,), words={"fr": {"_left": "gauche"}, "zh": {"_left": "左边"}})
    said = [one.sheet_word(locale, "_left") for locale in ("fr", "fr-CA", "zh-Hans", "de", "en")]
    assert said == ["gauche", "gauche", "左边", "left", "left"]
    assert one.sheet_word("zh", "_right") == "右"
    assert one.sheet_word("en", "_step", 7) == "step 7"


def test_a_flag_is_called_by_its_short_words() -> None:
    flags = {flag.id: flag for flag in protocol("tdg").fields if flag.kind == "flag"}
    assert {flag.id: flag.display_name for flag in flags.values()} == {"partial": "partial", "unlisted": "unlisted way"}
    assert Field("a_flag", "Is it?", "flag").display_name == "a flag"
    assert Field("a_flag", "Is it?", "flag", says="so it is").display_name == "so it is"


async def test_nodes_in_chinese(run: Store, shared_apps: SharedApps, until: Until) -> None:
    study = studied(run, protocol("tdg"), [Unit("u1", (WHOLE,), targets=nodes(2))], locale="zh")
    app = shared_apps.rating(run, study)
    async with shared_apps.at(size=(120, 40)) as pilot:
        await until(pilot, lambda: ready(app) and "未列出的路径" in painted(app))
        assert "这一项完成了吗" in painted(app)
        assert "还有 2 项未答" in painted(app)
        await press(pilot, "4", "0")
        await until(pilot, lambda: "无法判断" in painted(app))
        assert "+未列出的路径" in painted(app)
        assert "标记：部分" in painted(app)
        for english in ("unlisted", "cannot judge", "completed", "not reached"):
            assert english not in painted(app)
        await press(pilot, "4")
        await until(pilot, lambda: "– 1" in painted(app))
        await press(pilot, "1")
        await until(pilot, lambda: "已全部作答" in painted(app))


async def test_nodes_in_english_name_flags_in_words(run: Store, shared_apps: SharedApps, until: Until) -> None:
    study = studied(run, protocol("tdg"), [Unit("u1", (WHOLE,), targets=nodes(2))])
    app = shared_apps.rating(run, study)
    async with shared_apps.at(size=(120, 40)) as pilot:
        await until(pilot, lambda: ready(app) and "4 unlisted way" in painted(app))
        await press(pilot, "4")
        await until(pilot, lambda: "+unlisted way" in painted(app))


async def test_the_hint_and_what_is_asked_second_of_an_item_are_translated(
    run: Store, shared_apps: SharedApps, until: Until
) -> None:
    study = studied(run, protocol("demonstration"), [Unit("u1", (WHOLE,), targets=nodes(1))], locale="zh")
    app = shared_apps.rating(run, study)
    async with shared_apps.at(size=(120, 40)) as pilot:
        await until(pilot, lambda: ready(app) and "修改" in painted(app))
        await press(pilot, "2")
        await until(pilot, lambda: "正确的说明或动作" in painted(app))
        assert "应该怎样写" in painted(app)
        assert "How should it read" not in painted(app)


@pytest.mark.parametrize("swap", [False, True])
async def test_sides_in_chinese(run: Store, shared_apps: SharedApps, until: Until, swap: bool) -> None:
    units = [Unit("u1", given=SETS)]
    study = studied(run, protocol("pairwise-sets"), units, locale="zh", swap=("u1",) if swap else ())
    app = shared_apps.rating(run, study)
    async with shared_apps.at(size=(120, 40)) as pilot:
        await until(pilot, lambda: ready(app) and "平局" in painted(app))
        seen = painted(app)
        assert seen.index("1 左") < seen.index("2 右")
        assert not any(word in seen.casefold() for word in ("left", "right"))
        await press(pilot, "1")
        await until(pilot, lambda: list(run.labels.read(study)) != [])
        assert next(iter(run.labels.read(study))).value == ("B" if swap else "A")


@pytest.mark.parametrize(("locale", "left", "right"), [("en", "left", "right"), ("zh", "左", "右")])
def test_the_guide_calls_the_sides_as_the_sheet_does(locale: str, left: str, right: str) -> None:
    told = guide_of(protocol("pairwise-sets"), locale).plain
    assert f"• {left}" in told
    assert f"• {right}" in told
    assert "• A" not in told


@pytest.mark.parametrize(("locale", "names"), [("en", ("What was wanted", "The guess")), ("zh", ("真实意图", "猜测"))])
async def test_an_intent_and_its_guess_are_told_apart(
    run: Store, shared_apps: SharedApps, until: Until, locale: str, names: tuple[str, str]
) -> None:
    lines = [("line 1", {"A": "Order tea", "B": "Order a drink", "source": "model-x"})]
    study = studied(run, protocol("same-intent"), units_for(protocol("same-intent"), lines=lines), locale=locale)
    app = shared_apps.rating(run, study)
    async with shared_apps.at(size=(120, 40)) as pilot:
        await until(pilot, lambda: ready(app) and all(name in painted(app) for name in names))
        seen = painted(app)
        assert seen.index(names[0]) < seen.index(names[1])
        assert "model-x" not in seen
