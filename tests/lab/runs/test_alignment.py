"""Two runs side by side: the cheapest alignment, the same from either side, and what counts as the same act."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lab.core.run.step import Action, Point
from lab.runs.replay import comparison as aligning
from lab.runs.replay.comparison import (
    GAP,
    WHOLE,
    ComparableStep,
    Pair,
    align,
    comparable_step,
    differences,
    dissimilarity,
)

PHONE = (1080, 2400)
SMALL = (540, 1200)


def acts(words: str) -> list[ComparableStep]:
    """One act for each word: `tap:Milk`, `type:milk`, `home`."""
    out = []
    for word in words.split():
        kind, _, what = word.partition(":")
        out.append(
            ComparableStep("click", target=what.casefold())
            if kind == "tap"
            else ComparableStep(kind, text=what.casefold())
        )
    return out


def told(pairs: Sequence[Pair]) -> str:
    return " ".join(
        f"{'-' if p.left is None else p.left}{'=' if p.same else '/'}{'-' if p.right is None else p.right}"
        for p in pairs
    )


@pytest.mark.parametrize(
    ("left", "right", "expected"),
    [
        ("", "", ""),
        ("home", "", "0/-"),
        ("tap:a type:milk home", "tap:a type:milk home", "0=0 1=1 2=2"),
        ("tap:Search home", "type:milk home", "0/0 1=1"),  # what stands in the same place is paired, however unlike
        ("tap:a tap:d", "tap:a tap:b tap:c tap:d", "0=0 -/1 -/2 1=3"),  # a detour stays alone
        ("tap:a tap:b tap:c tap:d", "tap:a tap:d", "0=0 1/- 2/- 3=1"),
        ("tap:a tap:x tap:d", "tap:a tap:b tap:c tap:d", "0=0 1/1 -/2 2=3"),  # paired as early as can be
        ("tap:a", "tap:a tap:a", "0=0 -/1"),
    ],
)
def test_steps_that_answer_one_another_are_paired(left: str, right: str, expected: str) -> None:
    assert told(align(acts(left), acts(right))) == expected


def test_each_stretch_of_difference_has_one_beginning() -> None:
    pairs = align(acts("tap:a tap:b tap:c tap:d tap:e"), acts("tap:a tap:x tap:y tap:d tap:z"))
    assert told(pairs) == "0=0 1/1 2/2 3=3 4/4"
    assert differences(pairs) == [1, 4]
    assert differences(align(acts("home"), acts("home"))) == []


def same(one: Action, other: Action, *, sizes: tuple[Point | None, Point | None] = (PHONE, PHONE)) -> bool:
    return not dissimilarity(comparable_step(one, sizes[0]), comparable_step(other, sizes[1]))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (Action("click", (540, 1200)), Action("click", (560, 1230))),
        (Action("click", (0, 0)), Action("click", boxes=((0, 0, 20, 20),))),
        (Action("input_text", text="Two  MILK"), Action("input_text", text="two milk")),
        (Action("scroll", direction="down"), Action("swipe", direction="up")),
        (Action("scroll", direction="down"), Action("swipe", (500, 1800), (500, 600), vector=(0, -1200))),
        (Action("swipe", (500, 1800), (500, 600)), Action("swipe", direction="up")),
        (Action("drag", (5, 5), (90, 90)), Action("drag", (6, 6), (91, 91))),
        (Action("drag", (5, 5), (5, 5)), Action("long_press", (5, 5))),
        (Action("wait", ms=100), Action("wait", ms=2000)),
        (Action("open_app", app="Mail"), Action("open_app", text="mail")),
        (Action("click", raw={"index": 3}), Action("click", raw={"index": 3})),
        (Action("status", status="complete"), Action("status", status="complete", text="done")),
    ],
)
def test_the_same_act_is_the_same_however_its_source_writes_it(one: Action, other: Action) -> None:
    assert same(one, other)
    assert same(other, one)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (Action("click", (540, 1200)), Action("click", (540, 1400))),
        (Action("click", (540, 1200)), Action("long_press", (540, 1200))),
        (Action("input_text", text="milk"), Action("input_text", text="bread")),
        (Action("input_text", text=""), Action("input_text", text="bread")),
        (Action("scroll", direction="down"), Action("scroll", direction="up")),
        (Action("scroll", direction="down"), Action("drag", (5, 900), (5, 5))),
        (Action("navigate_home"), Action("navigate_back")),
        (Action("click", raw={"index": 3}), Action("click", raw={"index": 4})),
        (Action("status", status="complete"), Action("status", status="infeasible")),
        (Action("other", raw="zoom"), Action("other", raw="shake")),
    ],
)
def test_another_act_is_another(one: Action, other: Action) -> None:
    assert not same(one, other)


def test_a_place_is_a_part_of_its_own_screen() -> None:
    assert same(Action("click", (270, 600)), Action("click", (540, 1200)), sizes=(SMALL, PHONE))
    assert not same(Action("click", (270, 600)), Action("click", (540, 1200)))
    assert same(Action("click", (540, 1200)), Action("click", (540, 1200)), sizes=(None, PHONE))
    assert same(Action("click", (540, 1200)), Action("click", (540, 1200)), sizes=((0, 0), PHONE))


def test_a_name_counts_more_than_a_place() -> None:
    one = comparable_step(Action("click", (540, 300)), PHONE, "Milk ")
    assert not dissimilarity(one, comparable_step(Action("click", (540, 2000)), PHONE, "milk"))
    elsewhere, beside = (
        comparable_step(Action("click", (540, 2000)), PHONE, "bread"),
        comparable_step(Action("click", (540, 300)), PHONE),
    )
    assert (
        dissimilarity(one, elsewhere)
        > dissimilarity(one, comparable_step(Action("click", (540, 300)), PHONE, "bread"))
        > 0
    )
    assert not dissimilarity(one, beside)  # without a name on one side, the place tells


def test_the_same_question_with_another_reply_is_a_difference() -> None:
    ask = Action("ask_user", text="Small or large?")
    small, large = comparable_step(ask, None, reply="small"), comparable_step(ask, None, reply="large")
    assert (
        0
        < dissimilarity(small, large)
        < dissimilarity(small, comparable_step(Action("ask_user", text="Hot?"), None, reply="small"))
    )
    assert dissimilarity(comparable_step(ask, None), comparable_step(ask, None, held=True))


SOME = st.builds(
    ComparableStep,
    kind=st.sampled_from(["click", "long_press", "input_text", "scroll", "drag", "answer", "status", "navigate_home"]),
    target=st.sampled_from(["", "milk", "bread"]),
    place=st.none() | st.tuples(st.floats(0, 1), st.floats(0, 1)),
    to=st.none() | st.tuples(st.floats(0, 1), st.floats(0, 1)),
    direction=st.sampled_from(["", "up", "down"]),
    text=st.sampled_from(["", "a", "milk", "milk and bread"]),
    reply=st.sampled_from(["", "yes"]),
    blocked=st.booleans(),
)
RUNS = st.lists(SOME, max_size=7)


@given(SOME, SOME)
def test_unlikeness_is_a_share_and_does_not_ask_who_comes_first(one: ComparableStep, other: ComparableStep) -> None:
    assert 0 <= dissimilarity(one, other) <= WHOLE
    assert dissimilarity(one, other) == dissimilarity(other, one)
    assert not dissimilarity(one, one)


@given(RUNS, RUNS)
def test_it_is_the_cheapest_alignment_and_the_mirror_of_the_other_way_round(
    left: list[ComparableStep], right: list[ComparableStep]
) -> None:
    pairs = align(left, right)
    assert [p.left for p in pairs if p.left is not None] == list(range(len(left)))
    assert [p.right for p in pairs if p.right is not None] == list(range(len(right)))
    assert all((p.left, p.right) != (None, None) for p in pairs)
    assert align(right, left) == [Pair(p.right, p.left, p.same) for p in pairs]

    @cache
    def least(i: int, j: int) -> int:
        if i == len(left) or j == len(right):
            return GAP * (len(left) - i + len(right) - j)
        return min(least(i + 1, j + 1) + dissimilarity(left[i], right[j]), least(i + 1, j) + GAP, least(i, j + 1) + GAP)

    costs = [
        GAP if p.left is None or p.right is None else dissimilarity(left[p.left], right[p.right]) for p in pairs
    ]  # fmt: skip
    assert sum(costs) == least(0, 0)
    assert [p.same for p in pairs] == [cost == 0 for cost in costs]


def test_runs_too_long_to_look_at_every_pair_are_aligned_all_the_same(monkeypatch: Any) -> None:
    monkeypatch.setattr(aligning, "_CELLS", 2_000)
    left = acts(" ".join(f"tap:{i}" for i in range(120)))
    right = [*left[:40], *acts("home type:x"), *left[40:90], *left[95:]]
    pairs = align(left, right)
    assert sum(p.same for p in pairs) == 115
    assert len(differences(pairs)) == 2
    assert align(right, left) == [Pair(p.right, p.left, p.same) for p in pairs]
    assert len(align(left, acts("home"))) == 120
