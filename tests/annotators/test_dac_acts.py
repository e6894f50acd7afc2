"""What DAC-Bench counts as the same action, and how far along a demonstration a run came (2.6)."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotators.papers.dac.actions import ComparableAction, comparable_action, matches, matches_exactly
from annotators.papers.dac.runs import longest_stretch, prefix, subsequence, w_lcs
from lab.core.run.step import Action, Point

SIZE = (1000, 2000)


def same_actions(gold: Action, other: Action, size: Point | None = SIZE) -> bool:
    return matches_exactly(comparable_action(gold, size), comparable_action(other, size))


# What counts as the same action


@pytest.mark.parametrize(
    ("at", "right"),
    [((100, 200), True), ((300, 260), True), ((200, 230), True), ((99, 230), False), ((200, 261), False)],
)
def test_a_tap_is_right_inside_the_box_and_on_its_border(at: Point, right: bool) -> None:
    gold = Action("click", at=(200, 230), boxes=((100, 200, 300, 260),))
    assert same_actions(gold, Action("click", at=at)) is right


def test_any_box_will_do() -> None:
    gold = Action("click", boxes=((0, 0, 10, 10), (500, 500, 600, 600)))
    assert same_actions(gold, Action("click", at=(0, 0)))
    assert same_actions(gold, Action("click", at=(550, 550)))
    assert not same_actions(gold, Action("click", at=(300, 300)))


@pytest.mark.parametrize(
    ("at", "right"),
    [((640, 1000), True), ((641, 1000), False), ((500, 1280), True), ((500, 1281), False), ((600, 1200), False)],
)
def test_where_only_a_point_was_shown_14_percent_of_the_screen_are_near(at: Point, right: bool) -> None:
    """140 of 1000 px aside; 280 of 2000 px down; 100 aside and 200 down are sqrt(0.1 ** 2 + 0.1 ** 2) = 0.1414."""
    assert same_actions(Action("click", at=(500, 1000)), Action("click", at=at)) is right


def test_other_screens_are_scaled() -> None:
    """(540, 1200) of 1080 x 2400 is (500, 1000) of 1000 x 2000."""
    gold = comparable_action(Action("long_press", boxes=((499, 999, 501, 1001),)), SIZE)
    assert matches_exactly(gold, comparable_action(Action("long_press", at=(540, 1200)), (1080, 2400)))
    assert not matches_exactly(gold, comparable_action(Action("long_press", at=(540, 1200)), SIZE))


def test_zero_is_a_coordinate_and_none_is_not() -> None:
    assert same_actions(Action("click", at=(0, 0)), Action("click", at=(0, 0)))
    assert not same_actions(Action("click", at=(0, 0)), Action("click"))
    assert same_actions(Action("click", at=(5, 5)), Action("click", at=(5, 5)), None)
    assert not same_actions(Action("click", at=(5, 5)), Action("click", at=(6, 5)), None)


@pytest.mark.parametrize(
    ("gold", "other", "right"),
    [
        (Action("input_text", text="Sports news"), Action("input_text", text=" sports NEWS\n"), True),
        (Action("input_text", text="Sports news"), Action("input_text", text="Sport news"), False),
        (Action("input_text", text="x"), Action("input_text"), False),
        (Action("open_app", app="Maps"), Action("open_app", text="maps"), True),
        (Action("open_app", app="Maps"), Action("open_app", app="Mail"), False),
        (Action("status", status="complete"), Action("answer", text="Done"), True),
        (Action("status", status="infeasible"), Action("status", status="complete"), False),
        (Action("navigate_back"), Action("navigate_home"), False),
        (Action("navigate_back"), Action("navigate_back"), True),
        (Action("ask_user", text="Which?"), Action("ask_user", text="What?"), True),
        (Action("click", at=(5, 5)), Action("long_press", at=(5, 5)), False),
        (Action("drag", at=(100, 100), to=(100, 900)), Action("drag", at=(110, 100), to=(100, 950)), True),
        (Action("drag", at=(100, 100), to=(100, 900)), Action("drag", at=(100, 900), to=(100, 100)), False),
    ],
)
def test_parameters_by_type(gold: Action, other: Action, right: bool) -> None:
    assert same_actions(gold, other) is right


@pytest.mark.parametrize(
    ("other", "right"),
    [
        (Action("scroll", direction="down"), True),
        (Action("scroll", direction="up"), False),
        (Action("swipe", direction="up"), True),
        (Action("swipe", direction="down"), False),
        (Action("swipe", vector=(3, -800)), True),
        (Action("swipe", at=(500, 1500), to=(500, 300)), True),
        (Action("scroll", vector=(-800, 3)), False),
        (Action("scroll"), False),
    ],
)
def test_a_finger_that_goes_up_scrolls_down(other: Action, right: bool) -> None:
    assert same_actions(Action("scroll", direction="down"), other) is right


def test_what_nobody_could_read_is_the_same_only_word_for_word() -> None:
    pinch = Action("other", raw={"action_type": "pinch", "scale": 2})
    assert same_actions(pinch, Action("other", raw={"action_type": "pinch", "scale": 2}))
    assert not same_actions(pinch, Action("other", raw="I am sorry"))
    assert not same_actions(pinch, Action("other"))
    assert not same_actions(Action("other", text="a"), Action("other", text="b"))


def test_a_finger_that_goes_left_shows_what_is_right() -> None:
    assert comparable_action(Action("swipe", vector=(-500, 20)), SIZE).value == "right"
    assert comparable_action(Action("swipe", direction="left"), SIZE).value == "right"
    assert comparable_action(Action("swipe", vector=(0, 0)), SIZE).value is None


ACTS = st.builds(
    ComparableAction,
    st.sampled_from(["click", "type", "drag", "scroll", "wait"]),
    st.none() | st.sampled_from("ab"),
    st.none() | st.tuples(st.sampled_from([0.0, 0.1, 0.2, 0.9]), st.sampled_from([0.0, 0.1, 0.5])),
    st.none() | st.tuples(st.just(0.5), st.sampled_from([0.0, 0.1, 0.5])),
    st.just(()) | st.just(((0.0, 0.0, 0.15, 0.15),)),
)


def plausible(one: ComparableAction) -> ComparableAction:
    """As `comparable_action` makes it: places only where there is a target, values only where there is none."""
    match one.type:
        case "click":
            return one._replace(value=None, to=None)
        case "drag":
            return one._replace(value=None, boxes=())
        case "wait":
            return ComparableAction("wait")
    return ComparableAction(one.type, one.value)


@given(
    st.lists(st.lists(ACTS.map(plausible), min_size=1, max_size=2), max_size=6),
    st.lists(ACTS.map(plausible), max_size=6),
)
def test_the_sorted_search_finds_what_comparing_each_finds(
    gold: list[list[ComparableAction]], run: list[ComparableAction]
) -> None:
    assert matches(gold, run) == [
        [i for i, other in enumerate(run) if any(matches_exactly(one, other) for one in step)] for step in gold
    ]


# Sequences


def test_prefix_and_longest_stretch() -> None:
    right = [True, True, False, True, True, True, False]
    assert (prefix(right), longest_stretch(right)) == (2, 3)
    assert (prefix([False, True]), longest_stretch([False, True])) == (0, 1)
    assert (prefix([]), longest_stretch([])) == (0, 0)


def of_letters(gold: str, run: str) -> tuple[int, int]:
    return subsequence([[i for i, b in enumerate(run) if a == b] for a in gold], len(run))


def test_w_lcs_by_hand() -> None:
    """abcd against abxd: a, b, d at 1, 2, 4 of 1 + 2 + 3 + 4 = 10."""
    assert of_letters("abcd", "abxd") == (3, 1 + 2 + 4)
    assert w_lcs(7, 4) == 7 / 10
    assert w_lcs(of_letters("abcd", "abcd")[1], 4) == 1
    assert w_lcs(of_letters("abcd", "")[1], 4) == 0
    assert w_lcs(of_letters("abcd", "xaxbxcxd")[1], 4) == 1
    assert w_lcs(of_letters("abcd", "dcba")[1], 4) == 4 / 10


def test_of_several_longest_subsequences_the_one_furthest_on_counts() -> None:
    """aba against a: place 1 or 3. ab and ba are both longest of abxba against ba: places 2, 5 (sum 7) or 4, 5 (9)."""
    assert of_letters("aba", "a") == (1, 3)
    assert of_letters("abxba", "ba") == (2, 4 + 5)


def test_a_longer_subsequence_goes_before_a_greater_sum() -> None:
    """abcz against zabc: abc (3 steps, 1 + 2 + 3) before z (1 step, 4)."""
    assert of_letters("abcz", "zabc") == (3, 6)


@given(st.text("ab", max_size=7), st.text("ab", max_size=7))
def test_the_subsequence_is_the_best_of_all_written_out(gold: str, run: str) -> None:
    def within(part: Sequence[str]) -> bool:
        rest = iter(run)
        return all(one in rest for one in part)

    chosen = [js for size in range(len(gold) + 1) for js in combinations(range(len(gold)), size)]
    common = [js for js in chosen if within([gold[j] for j in js])]
    assert of_letters(gold, run) == max((len(js), sum(j + 1 for j in js)) for js in common)


@given(st.text("abc", min_size=1, max_size=12), st.text("abc", max_size=12))
def test_w_lcs_is_a_share_one_for_the_same_and_never_less_than_the_prefix_is_worth(gold: str, run: str) -> None:
    count, total = of_letters(gold, run)
    value = w_lcs(total, len(gold))
    assert 0 <= value <= 1
    assert w_lcs(of_letters(gold, gold)[1], len(gold)) == 1
    assert count >= sum(a == b for a, b in zip(gold, run, strict=False))
    start = prefix(a == b for a, b in zip(gold, run, strict=False))
    assert total >= start * (start + 1) // 2
    assert (value == 1) == (count == len(gold))


@given(st.text("abc", min_size=1, max_size=9), st.text("abc", max_size=9), st.sampled_from("abc"))
def test_a_further_action_never_shortens_the_subsequence(gold: str, run: str, more: str) -> None:
    assert of_letters(gold, run + more) >= of_letters(gold, run)


def test_long_runs() -> None:
    everywhere = list(range(1_000))
    assert subsequence([everywhere] * 1_000, 1_000) == (1_000, 1_000 * 1_001 // 2)
