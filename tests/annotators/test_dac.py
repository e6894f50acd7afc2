"""DAC-Bench's numbers, each worked out by hand from the paper's definition (2.6, Appendix D)."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotators.metrics import Number, context_of
from annotators.metrics.dac import measure
from annotators.metrics.dac_acts import Act, act, done, matches, same, shown
from annotators.metrics.dac_sequences import longest_stretch, prefix, subsequence, w_lcs
from lab.case import Case, CaseStep
from lab.design.revision import Design
from lab.design.soundness import problems
from lab.errors import LabError
from lab.task import Actor, Branch, Task, Tdg, TdgNode, check_task
from lab.turn import Action, Point

SIZE = (1000, 2000)


def same_actions(gold: Action, other: Action, size: Point | None = SIZE) -> bool:
    return same(act(gold, size), act(other, size))


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
    gold = act(Action("long_press", boxes=((499, 999, 501, 1001),)), SIZE)
    assert same(gold, act(Action("long_press", at=(540, 1200)), (1080, 2400)))
    assert not same(gold, act(Action("long_press", at=(540, 1200)), SIZE))


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


def test_a_finger_that_goes_left_shows_what_is_right() -> None:
    assert act(Action("swipe", vector=(-500, 20)), SIZE).value == "right"
    assert act(Action("swipe", direction="left"), SIZE).value == "right"
    assert act(Action("swipe", vector=(0, 0)), SIZE).value is None


ACTS = st.builds(
    Act,
    st.sampled_from(["click", "type", "drag", "scroll", "wait"]),
    st.none() | st.sampled_from("ab"),
    st.none() | st.tuples(st.sampled_from([0.0, 0.1, 0.2, 0.9]), st.sampled_from([0.0, 0.1, 0.5])),
    st.none() | st.tuples(st.just(0.5), st.sampled_from([0.0, 0.1, 0.5])),
    st.just(()) | st.just(((0.0, 0.0, 0.15, 0.15),)),
)


def plausible(one: Act) -> Act:
    """As `act` makes it: places only where there is a target, values only where there is none."""
    match one.type:
        case "click":
            return one._replace(value=None, to=None)
        case "drag":
            return one._replace(value=None, boxes=())
        case "wait":
            return Act("wait")
    return Act(one.type, one.value)


@given(
    st.lists(st.lists(ACTS.map(plausible), min_size=1, max_size=2), max_size=6),
    st.lists(ACTS.map(plausible), max_size=6),
)
def test_the_sorted_search_finds_what_comparing_each_finds(gold: list[list[Act]], run: list[Act]) -> None:
    assert matches(gold, run) == [
        [i for i, other in enumerate(run) if any(same(one, other) for one in step)] for step in gold
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


# Numbers

A, B, C, D, E = (Action("input_text", text=letter) for letter in "abcde")
SPELL = {"a": A, "b": B, "c": C, "d": D, "e": E, "w": Action("wait"), "z": Action("input_text", text="z")}


def task(id: str = "t", **traits: str) -> Task:
    return Task(id, "general", instruction="Do it", traits=traits)


def case(id: str, letters: str, of: Task | None = None, who: str = "model", **told: Any) -> Case:
    acts = [CaseStep(SPELL[letter], SPELL[letter]) for letter in letters]
    agent = Actor(who, who)  # type: ignore[arg-type]
    return Case(id, of or task(), agent, told.pop("acts", acts), "completed", **told)


def numbers(*cases: Case) -> dict[tuple[str, str], Number]:
    return {(one.metric, one.part): one for one in measure(cases, context_of(cases))}


def values(found: dict[tuple[str, str], Number], *metrics: str, part: str = "") -> list[float | None]:
    return [found[metric, part].value for metric in metrics]


def test_worked_example() -> None:
    """abcde was shown. abzwe: exact 3 of 5, alike 4 of 5, prefix 2 of 5, subsequence 1 + 2 + 5 of 15."""
    found = numbers(case("g", "abcde", who="human"), case("r", "abzwe"))
    assert values(found, "EM", "TM", "SR", "GP", "W-LCS") == [3 / 5, 4 / 5, 0, 2 / 5, 8 / 15]
    assert (found["EM", ""].n, found["EM", ""].of, found["SR", ""].n, found["SR", ""].of) == (5, "steps", 1, "runs")
    assert found["EM", ""].left_out == (("demonstrations themselves", 1),)


def test_a_perfect_run_and_an_empty_one() -> None:
    gold = case("g", "abcde", who="human")
    assert values(numbers(gold, case("r", "abcde")), "EM", "TM", "SR", "GP", "W-LCS") == [1, 1, 1, 1, 1]
    assert values(numbers(gold, case("r", "")), "EM", "TM", "SR", "GP", "W-LCS") == [0, 0, 0, 0, 0]


def test_steps_are_summed_and_runs_are_averaged() -> None:
    """ab: 2 of 2; abcd by zbcd: 3 of 4. EM (2 + 3) / 6, SR 1 / 2, GP (1 + 0) / 2, W-LCS (1 + 9 / 10) / 2."""
    one, two = task("one"), task("two")
    found = numbers(
        case("g1", "ab", one, "human"), case("g2", "abcd", two, "human"), case("r1", "ab", one), case("r2", "zbcd", two)
    )
    assert values(found, "EM", "SR", "GP") == [5 / 6, 1 / 2, 1 / 2]
    assert found["W-LCS", ""].value == pytest.approx((1 + 9 / 10) / 2)


def test_what_comes_after_the_last_demonstrated_step_has_no_pair() -> None:
    assert values(numbers(case("g", "ab", who="human"), case("r", "abcd")), "EM", "SR", "W-LCS") == [1, 1, 1]


def test_appendix_d() -> None:
    """ab (2 steps) is abz at once: prefix 2, longest 2. abcdea (6) by zbcdwa: prefix 0, longest 3 (b, c, d).

    2a (2/2 + 0/6) / 2, 2b (2 + 0) / 8; 3a (2 + 0) / 2, 3b (2 * 2 + 6 * 0) / 8; 4a (2 + 3) / 2, 4b (2 * 2 + 6 * 3) / 8;
    6a (2/2 + 3/6) / 2, 6b (2 + 3) / 8.
    """
    one, two = task("one"), task("two")
    found = numbers(
        case("g1", "ab", one, "human"),
        case("g2", "abcdea", two, "human"),
        case("r1", "abz", one),
        case("r2", "zbcdwa", two),
    )
    assert values(found, "GP", "GP 2b", "GP 3a", "GP 3b") == [1 / 2, 2 / 8, 1, 4 / 8]
    assert values(found, "GP 4a", "GP 4b", "GP 6a", "GP 6b") == [5 / 2, 22 / 8, 3 / 4, 5 / 8]
    assert found["GP 4a", ""].unit == "count"
    for name in ("1a", "1b", "5a", "5b"):
        assert found[f"GP {name}", ""].value is None
        assert "Appendix D" in found[f"GP {name}", ""].undefined
    assert values(found, "GP", "GP 6a", part="length 2-5") == [1, 1]
    assert values(found, "GP", "GP 6a", "SR", part="length 6-8") == [0, 1 / 2, 0]


def test_of_several_demonstrations_the_best_counts_for_each_number() -> None:
    """cde: against cab exact 1 of 3, prefix 1; against wde exact 2 of 3, prefix 0."""
    found = numbers(case("g1", "cab", who="human"), case("g2", "wde", who="human"), case("r", "cde"))
    assert values(found, "EM", "GP", "W-LCS") == [2 / 3, 1 / 3, (2 + 3) / 6]


def test_a_run_that_takes_path_b_is_not_punished_for_path_a() -> None:
    found = numbers(case("a", "abc", who="human"), case("b", "adc", who="human"), case("r", "adc"))
    assert values(found, "EM", "SR", "GP", "W-LCS") == [1, 1, 1, 1]


def test_any_accepted_action_is_right() -> None:
    gold = case("g", "", who="human", acts=[CaseStep(A, A), CaseStep(B, B, accepted=(C, Action("wait")))])
    found = numbers(gold, case("r1", "ac"), case("r2", "aw"), case("r3", "ad"))
    assert values(found, "EM", "TM", "SR") == [5 / 6, 1, 2 / 3]
    assert values(found, "EM", "TM", part="action type") == [5 / 6, 1]


def test_a_demonstrations_slips_are_not_what_was_shown() -> None:
    acts = [CaseStep(A, A), CaseStep(D, D, slip=True), CaseStep(B, B)]
    found = numbers(case("g", "", who="human", acts=acts), case("r", "ab"))
    assert values(found, "EM", "SR") == [1, 1]
    assert found["EM", ""].n == 2


def test_an_agent_is_measured_by_what_it_wanted_and_not_by_what_a_person_made_of_it() -> None:
    acts = [CaseStep(D, A), CaseStep(B, None), CaseStep(C, C, by=Actor("human", "p"))]
    assert values(numbers(case("g", "abc", who="human"), case("r", "", acts=acts)), "EM", "TM") == [1 / 3, 2 / 3]


def test_runs_without_a_demonstration_are_left_out_and_counted() -> None:
    empty = case("g3", "", task("empty"), "human")
    found = numbers(
        case("g", "ab", who="human"),
        case("r", "ab"),
        case("x", "ab", task("else")),
        empty,
        case("y", "a", task("empty")),
    )
    assert dict(found["SR", ""].left_out) == {"demonstrations themselves": 2, "runs of tasks that nobody has shown": 2}
    nothing = numbers(case("r", "ab"))
    assert all(one.value is None and one.undefined for one in nothing.values())
    assert nothing["EM", ""].undefined == "no run here is of a task that a person has shown"


def test_parts_by_trait_and_by_action() -> None:
    """High level: z of ab is wrong, 1 of 2. Low level: both. A trait that only the demonstration tells counts too."""
    gold = case("g", "aw", task(platform="iOS"), "human")
    found = numbers(gold, case("r1", "zw", task(level="HL")), case("r2", "aw", task(level="LL")))
    assert values(found, "EM", part="level HL") == [1 / 2]
    assert values(found, "EM", "SR", part="level LL") == [1, 1]
    assert found["EM", "platform iOS"].n == 4
    assert values(found, "EM", "TM", part="action type") == [1 / 2, 1]
    assert values(found, "EM", "TM", part="action wait") == [1, 1]
    assert found["EM", "action wait"].n == 2
    assert ("EM", "language CN") not in found


def test_screens_that_only_one_side_tells_are_taken_for_both() -> None:
    tap = Action("click", at=(500, 1000))
    near = Action("click", at=(560, 1100))
    gold = case("g", "", who="human", acts=[CaseStep(tap, tap)])
    run = case("r", "", acts=[CaseStep(near, near, size=SIZE)])
    assert values(numbers(gold, run), "EM") == [1]
    gold = case("g", "", who="human", acts=[CaseStep(tap, tap, size=SIZE)])
    assert values(numbers(gold, case("r", "", acts=[CaseStep(near, near)])), "EM") == [1]
    assert len(shown(gold)) == len(done(run)) == 1


# Decisions

FORKS = (
    Branch("wet", "Wet?", ("yes", "no")),
    Branch("open", "Open?", ("yes", "no"), 2),
    Branch("free", "Free?", (), 3),
)


def forked(**right: str) -> Task:
    branches = tuple(Branch(one.id, one.ask, one.options, one.depth, right.get(one.id, "")) for one in FORKS)
    return Task("t", "general", instruction="Do it", branches=branches, tdg=Tdg((TdgNode("wet", "It rains"),)))


def test_decision_accuracy_by_depth() -> None:
    """Shown: wet yes, open no. First: 2 of 3 right. Deeper: 1 of 2; one run never came there."""
    of = forked()
    gold = case("g", "ab", of, "human", branches={"wet": "yes", "open": "no"})
    found = numbers(
        gold, case("1", "ab", of, branches={"wet": "Yes ", "open": "no"}), case("2", "ab", of, branches={"wet": "no"}),
        case("3", "ab", of, branches={"wet": "yes", "open": "yes"}), case("4", "ab", of),
    )  # fmt: skip
    name = "Decision Accuracy"
    assert (found[name, ""].value, found[name, ""].n) == (3 / 5, 5)
    assert dict(found[name, ""].left_out) == {
        "decisions that were not reached": 1,
        "decisions of runs whose branches nobody has rated": 2,
        "decisions whose right option nobody tells": 4,
    }
    assert (found[name, "depth 1"].value, found[name, "depth 1"].n) == (2 / 3, 3)
    assert (found[name, "depth 2"].value, found[name, "depth 2"].n) == (1 / 2, 2)
    assert (found[name, "deeper"].value, found[name, "deeper"].n) == (1 / 2, 2)


def test_a_task_may_tell_its_right_option_itself() -> None:
    found = numbers(case("1", "ab", forked(wet="no"), branches={"wet": "no", "open": "no"}))
    assert (found["Decision Accuracy", ""].value, found["Decision Accuracy", ""].n) == (1, 1)


def test_what_is_right_is_one_of_the_options() -> None:
    check_task(forked(wet="no"), "task")
    with pytest.raises(LabError, match="field branches: 'wet' has no option 'maybe', which it says is right"):
        check_task(forked(wet="maybe"), "task")
    said = [problem.words for problem in problems(Design(branches=(Branch("a", "A?", ("x", "y"), right="z"),)))]
    assert said == ["Branch 'a' has no option 'z', which it says is right."]


def test_exact_match_at_the_step_where_a_demonstration_decides() -> None:
    """The person decides at the third step, of which one is a slip: there c was shown; c is right, z is not."""
    of = forked()
    acts = [CaseStep(A, A), CaseStep(D, D, slip=True), CaseStep(C, C)]
    gold = case("g", "", of, "human", acts=acts, nodes={"wet": 2})
    found = numbers(gold, case("1", "ac", of), case("2", "az", of))
    assert (found["Decision EM", "depth 1"].value, found["Decision EM", "depth 1"].n) == (1 / 2, 2)
    assert found["Decision EM", ""].left_out == (("decisions that no demonstration places at a step", 4),)


def test_decisions_without_any_say_why() -> None:
    found = numbers(case("g", "ab", who="human"), case("r", "ab"))
    assert found["Decision Accuracy", ""].undefined == "no branch here is rated"
    assert found["Decision EM", ""].undefined == "no demonstration here says at which step it decides"
