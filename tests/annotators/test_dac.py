"""DAC-Bench's numbers, each worked out by hand from the paper's definition (2.6, Appendix D)."""

from __future__ import annotations

from typing import Any

import pytest

from annotators.papers.dac.actions import demonstrated_steps, proposed_actions
from annotators.papers.dac.metrics import measure
from annotators.papers.dac.runs import Demonstrations
from annotators.papers.metrics import MetricContext, PaperNumber, context_of
from lab.core.errors import LabError
from lab.core.run.measured_run import MeasuredRun, MeasuredStep
from lab.core.run.step import Action
from lab.core.run.trace import Source
from lab.core.task.design import Design
from lab.core.task.task import Actor, Branch, Task, Tdg, TdgNode, check_task
from lab.studies.designing.design_checks import problems

SIZE = (1000, 2000)

A, B, C, D, E = (Action("input_text", text=letter) for letter in "abcde")
SPELL = {"a": A, "b": B, "c": C, "d": D, "e": E, "w": Action("wait"), "z": Action("input_text", text="z")}


def task(id: str = "t", **traits: str) -> Task:
    return Task(id, "general", instruction="Do it", traits=traits)


def case(id: str, letters: str, of: Task | None = None, who: str = "model", **told: Any) -> MeasuredRun:
    acts = [MeasuredStep(SPELL[letter], SPELL[letter]) for letter in letters]
    agent = Actor(who, who)  # type: ignore[arg-type]
    return MeasuredRun(id, of or task(), agent, told.pop("acts", acts), "completed", **told)


def numbers(*cases: MeasuredRun) -> dict[tuple[str, str], PaperNumber]:
    return {(one.metric, one.part): one for one in measure(cases, context_of(cases))}


def values(found: dict[tuple[str, str], PaperNumber], *metrics: str, part: str = "") -> list[float | None]:
    return [found[metric, part].value for metric in metrics]


def test_worked_example() -> None:
    """abcde was shown. abzwe: exact 3 of 5, alike 4 of 5, prefix 2 of 5, subsequence 1 + 2 + 5 of 15."""
    found = numbers(case("g", "abcde", who="human"), case("r", "abzwe"))
    assert values(found, "EM", "TM", "SR", "GP", "W-LCS") == [3 / 5, 4 / 5, 0, 2 / 5, 8 / 15]
    assert (found["EM", ""].n, found["EM", ""].of, found["SR", ""].n, found["SR", ""].of) == (5, "steps", 1, "runs")
    assert found["EM", ""].left_out == (("demonstrated by a person", 1),)


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


def test_what_matches_exactly_matches_in_type() -> None:
    """One: abc and az were shown, abd comes: EM 2/3 of abc (az: 1/2) and TM 3 of its 3. Two: w of 9 shown.

    With TM from az (2 of 2, the same 100 %) it would be 3 + 0 of 3 + 9 steps by one and 2 + 0 of 2 + 9 by the other.
    """
    one, two = task("one"), task("two")
    found = numbers(
        case("az", "az", one, "human"), case("abc", "abc", one, "human"), case("g", "abcdeabcd", two, "human"),
        case("r1", "abd", one), case("r2", "wwwwwwwww", two),
    )  # fmt: skip
    assert values(found, "EM", "TM") == [2 / 12, 3 / 12]
    assert (found["EM", ""].n, found["TM", ""].n, found["TM", "action type"].n) == (12, 12, 12)


def test_every_number_of_a_run_on_path_b_is_that_of_path_a() -> None:
    """Two ways of other lengths and acts: whoever takes one is worth what who takes the other is, whole and in part."""
    way_a, way_b = case("a", "abcde", who="human"), case("b", "adw", who="human")
    by_a, by_b = numbers(way_a, way_b, case("r", "abcde")), numbers(way_a, way_b, case("r", "adw"))
    shares = ("EM", "TM", "SR", "GP", "GP 2b", "GP 6a", "GP 6b", "W-LCS")
    assert values(by_a, *shares) == values(by_b, *shares) == [1] * len(shares)
    assert values(numbers(way_a, case("r", "adw")), "EM", "W-LCS") == [1 / 5, 4 / 15 + 1 / 15]


def test_tasks_of_two_sources_that_share_a_number_are_two_tasks() -> None:
    """Both call a task 132; a run of ours is laid beside that demonstration whose words are its own."""

    def shown(id: str, source: str, words: str, letters: str) -> MeasuredRun:
        of = Task("132", "general", instruction=words)
        return case(id, letters, of, "human", source=Source(source, id, "0" * 64))

    golds = shown("g1", "dac", "Find a note", "ab"), shown("g2", "androidcontrol", "Set an alarm", "cd")
    asked = Task("132", "general", instruction="find a  note ")
    assert values(numbers(*golds, case("r", "cd", asked)), "EM", "W-LCS") == [0, 0]
    assert values(numbers(*golds, case("r", "ab", asked)), "EM", "W-LCS") == [1, 1]
    theirs = case("r", "cd", asked, source=Source("androidcontrol", "r", "1" * 64))
    assert values(numbers(*golds, theirs), "EM") == [1]
    silent = Task("132", "proactive")
    assert numbers(golds[0], case("r", "ab", silent))["EM", ""].value == 1


def test_a_run_is_laid_beside_a_demonstration_once_and_again_where_it_has_changed() -> None:
    gold, right, wrong = case("g", "ab", who="human"), case("r", "ab"), case("r", "zz")
    context = context_of([gold, right])
    first = Demonstrations.for_context(context).match(right, gold)
    assert Demonstrations.for_context(context).match(right, gold) is first
    assert Demonstrations.for_context(context).match(wrong, gold).em == 0
    assert Demonstrations.for_context(context).match(right, gold).em == 1
    bare = MetricContext({"t": [gold]})
    assert Demonstrations.for_context(bare).match(right, gold) == first
    assert [one.value for one in measure([right], bare)] == [one.value for one in measure([right], context)]


def test_any_accepted_action_is_right() -> None:
    gold = case("g", "", who="human", acts=[MeasuredStep(A, A), MeasuredStep(B, B, accepted=(C, Action("wait")))])
    found = numbers(gold, case("r1", "ac"), case("r2", "aw"), case("r3", "ad"))
    assert values(found, "EM", "TM", "SR") == [5 / 6, 1, 2 / 3]
    assert values(found, "EM", "TM", part="action type") == [5 / 6, 1]


def test_a_demonstrations_slips_are_not_what_was_shown() -> None:
    acts = [MeasuredStep(A, A), MeasuredStep(D, D, slip=True), MeasuredStep(B, B)]
    found = numbers(case("g", "", who="human", acts=acts), case("r", "ab"))
    assert values(found, "EM", "SR") == [1, 1]
    assert found["EM", ""].n == 2


def test_an_agent_is_measured_by_what_it_wanted_and_not_by_what_a_person_made_of_it() -> None:
    acts = [MeasuredStep(D, A), MeasuredStep(B, None), MeasuredStep(C, C, by=Actor("human", "p"))]
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
    assert dict(found["SR", ""].left_out) == {
        "demonstrated by a person": 2,
        "whose task nobody has demonstrated": 2,
    }
    nothing = numbers(case("r", "ab"))
    assert all(one.value is None and one.undefined for one in nothing.values())
    assert nothing["EM", ""].undefined == "no agent's run here is of a task that a person has demonstrated"


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
    gold = case("g", "", who="human", acts=[MeasuredStep(tap, tap)])
    run = case("r", "", acts=[MeasuredStep(near, near, size=SIZE)])
    assert values(numbers(gold, run), "EM") == [1]
    gold = case("g", "", who="human", acts=[MeasuredStep(tap, tap, size=SIZE)])
    assert values(numbers(gold, case("r", "", acts=[MeasuredStep(near, near)])), "EM") == [1]
    assert len(demonstrated_steps(gold)) == len(proposed_actions(run)) == 1


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
        "not reached": 1,
        "not rated": 2,
        "without a right option told": 4,
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
    acts = [MeasuredStep(A, A), MeasuredStep(D, D, slip=True), MeasuredStep(C, C)]
    gold = case("g", "", of, "human", acts=acts, nodes={"wet": 2})
    found = numbers(gold, case("1", "ac", of), case("2", "az", of))
    assert (found["Decision EM", "depth 1"].value, found["Decision EM", "depth 1"].n) == (1 / 2, 2)
    assert found["Decision EM", ""].left_out == (("placed at no step by a demonstration", 4),)


def test_decisions_of_a_task_that_nobody_has_shown_are_counted() -> None:
    found = numbers(
        case("g", "ab", who="human"), case("1", "ab", Task("u", "general", instruction="x", branches=FORKS))
    )
    assert found["Decision EM", ""].left_out == (("whose task nobody has demonstrated", 3),)


def test_decisions_without_any_say_why() -> None:
    found = numbers(case("g", "ab", who="human"), case("r", "ab"))
    assert found["Decision Accuracy", ""].undefined == "no branch here is rated"
    assert found["Decision EM", ""].undefined == "no demonstration here says at which step it decides"
