"""The guide: what is asked now on top, in the study's language, every word as it stands, by one key and back."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from msgspec.structs import replace
from textual.app import App

from lab.core.study.guideline import clause_of, clauses
from lab.core.study.protocol import Field, Option, Protocol
from screens.annotate.guide import GuideScreen, guide_of
from tests.screens.runs import HOSTILE, painted

Until = Callable[..., Awaitable[None]]

DONE = Field(
    "state", "Was it done?", "nominal",
    (Option("yes", means="A screen shows it.", cases=("The list is sorted: yes.",)), Option("not_done", means="None.")),
)  # fmt: skip
HOW = Field("how", "How much of it?", "interval", least=0, most=100, step=5, hint="in percent")
ASKS = Protocol(
    "p", "Items done", "run", (DONE, HOW), guide={"en": "Look at every screen.", "zh": "请看每个屏幕。"},
    words={"zh": {"state": "完成了吗？", "state.yes": "是", "state.yes.means": "有屏幕表明。",
                  "state.yes.cases": "列表已排序：是。"}},
    source="A Paper 2.1",
)  # fmt: skip


def test_what_is_asked_stands_before_the_guideline_and_all_else_after_it() -> None:
    text = guide_of(ASKS, "en", "how").plain
    order = ["How much of it?", "in percent", "from 0 to 100 in steps of 5", "Look at every screen.", "Was it done?",
             "yes", "A screen shows it.", "The list is sorted: yes.", "not done", "A Paper 2.1"]  # fmt: skip
    places = [text.index(words) for words in order]
    assert places == sorted(places)
    other = guide_of(ASKS, "en", "state").plain
    assert other.index("Was it done?") < other.index("Look at every screen.") < other.index("How much of it?")


def test_each_line_of_the_guideline_has_the_number_by_which_an_answer_cites_it() -> None:
    guide = "Look.\n\nHow to decide\n- What is seen is done.\n2. All else is not."
    text = guide_of(replace(ASKS, guide={"en": guide}), "en", "state").plain
    told = ["  1  Look.", "", "  2  How to decide", "  3  - What is seen is done.", "  4  2. All else is not."]
    assert "\n".join(told) in text
    assert [(one.citation, one.text) for one in clauses(guide)] == [
        ("§1", "Look."), ("§2", "How to decide"), ("§3", "What is seen is done."), ("§4", "All else is not."),
    ]  # fmt: skip
    assert clause_of("§3", guide) == clauses(guide)[2]
    assert [clause_of(said, guide) for said in ("§5", "§0", "3", "§x", "", "§ 99999999")] == [None] * 6


def test_it_is_in_the_study_s_language_and_in_english_where_that_says_nothing() -> None:
    text = guide_of(ASKS, "zh", "state").plain
    assert [
        word
        for word in (
            "完成了吗？",
            "是",
            "有屏幕表明。",
            "列表已排序：是。",
            "请看每个屏幕。",
            "in percent",
            "从 0 到 100，每 5 一档",
        )
        if word not in text
    ] == []
    assert "The list is sorted" not in text


def test_of_a_set_of_options_it_says_how_many_are_chosen() -> None:
    many = replace(DONE, kind="many", least=1, most=2)
    asks = Protocol("p", "P", "run", (many, replace(many, id="any", least=None, most=None)))
    text = guide_of(asks, "en").plain
    assert "Digits choose as many as hold, at least 1, at most 2\n" in text
    assert "Digits choose as many as hold\n" in text
    assert "按数字键选择，可选多项，至少 1 项，至多 2 项\n" in guide_of(asks, "zh").plain


def test_a_stranger_s_words_are_shown_as_they_stand() -> None:
    option = Option("a", HOSTILE, means=HOSTILE, cases=(HOSTILE,))
    asks = Protocol("p", HOSTILE, "run", (Field("f", HOSTILE, "nominal", (option,)),), guide={"en": HOSTILE})
    text = guide_of(asks, "en", "f").plain
    assert "\x1b" not in text
    assert text.count("[bold red]not bold[/]") == 6


def test_a_protocol_without_a_guideline_says_so() -> None:
    assert "no guideline" in guide_of(Protocol("p", "P", "run", ()), "en").plain


async def test_in_chinese_no_mark_and_no_number_stands_alone_on_its_line(until: Until) -> None:
    clause = (
        "有多条路径（A、B……）的项会逐条列出。没有走的那条路径也要作答：它们是“未完成”，最终采用哪条路径由之后计算。"
    )
    asks = Protocol("p", "P", "run", (DONE,), guide={"zh": f"判断方法\n- {clause}\n- {clause}"})
    app: App[None] = App()
    async with app.run_test(size=(64, 18)) as pilot:
        await app.push_screen(GuideScreen(asks, "zh"))
        await until(pilot, lambda: "判断方法" in painted(app))
        words = [line.strip(" │") for line in painted(app).splitlines()]
        assert sum("- 有多条路径" in line for line in words) == 2
        assert [line for line in words if line in ("1", "2", "3", "-", "2  -", "3  -")] == []
        assert [line for line in words if line[:1] in "。，：”）"] == [line for line in words if not line]


async def test_one_key_closes_it_and_a_long_one_scrolls(until: Until) -> None:
    long = Protocol("p", "P", "run", (DONE,), guide={"en": "\n".join(f"Rule {n} of many." for n in range(200))})
    app: App[None] = App()
    async with app.run_test(size=(80, 24)) as pilot:
        for key in ("t", "escape", "enter"):
            guide = GuideScreen(long, "en", "state")
            await app.push_screen(guide)
            await until(pilot, lambda: "Was it done?" in painted(app))
            assert "Rule 199" not in painted(app)
            await pilot.press("full_stop")
            await until(pilot, lambda: "Was it done?" not in painted(app))
            await pilot.press("comma")
            await until(pilot, lambda: "Was it done?" in painted(app))
            await pilot.press(key)
            await until(pilot, lambda shown=guide: app.screen is not shown)
