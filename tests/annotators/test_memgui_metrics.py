"""MemGUI-Bench's numbers, worked out by hand, beside what its script and its table compute."""

from __future__ import annotations

from typing import Any

import pytest

from annotators.papers.memgui.attempts import chains_of, difficulty_of, memory_of
from annotators.papers.memgui.irr import irr_of, rate
from annotators.papers.memgui.metrics import measure
from annotators.papers.metrics import LeftOutTally, MetricTerms, PaperNumber, context_of
from lab.core.run.measured_run import MeasuredRun, MeasuredStep
from lab.core.run.run_records import Verdict
from lab.core.run.step import Action, Usage
from lab.core.run.trace import Source
from lab.core.task.task import Actor, InformationUnit, Task, step_limit

CLICK = MeasuredStep(Action("click"), Action("click"))


def case(
    task: str = "T",
    steps: int = 4,
    *,
    score: float | None = 1.0,
    memory: str = "yes",
    golden: int | None = 10,
    **more: Any,
) -> MeasuredRun:
    """A run of the benchmark: its task needs memory unless told otherwise."""
    traits = {"memory": memory} if memory else {}
    design = Task(
        task,
        "general",
        instruction="Do it",
        golden_steps=golden,
        traits=more.pop("traits", traits),
        **more.pop("of", {}),
    )
    held = MeasuredRun(
        task, design, Actor("model", "m"), [CLICK] * steps, "completed", score=score, source=Source("memgui")
    )
    return held._replace(**more)


def analysis(method: str | None, **fields: Any) -> Verdict:
    return Verdict("irr", extra={**({"evaluation_method": method} if method else {}), **fields})


def seen(total: int, used: int, percent: float) -> Verdict:
    return analysis("llm_analysis", total_information_units=total, correctly_used_units=used, irr_percentage=percent)


def numbers(*cases: MeasuredRun, **terms: Any) -> dict[tuple[str, str, str], PaperNumber]:
    told = measure(cases, context_of(cases, MetricTerms(**terms)))
    keyed: dict[tuple[str, str, str], PaperNumber] = {(n.metric, n.part, n.version): n for n in told}
    assert len(keyed) == len(told)
    for number in told:
        assert number.paper == "memgui"
        assert (number.value is None) == bool(number.undefined), number
    return keyed


def test_success_leaves_out_what_nobody_judged_and_the_script_counts_it_as_failed() -> None:
    told = numbers(case("A"), case("B", score=0.0), case("C", score=None), case("D", agent=Actor("human", "P1")))
    paper, script = told["SR", "", "paper"], told["SR", "", "script"]
    assert (paper.value, paper.n) == (1 / 2, 2)
    assert paper.left_out == (("demonstrated by a person", 1), ("not judged", 1))
    assert (script.value, script.n, script.left_out) == (1 / 3, 3, (("demonstrated by a person", 1),))
    assert numbers(case(marks={"success": 0.0}))["SR", "", "paper"].value == 0.0


def test_nothing_to_measure_says_so() -> None:
    told = numbers(case(agent=Actor("human", "P1")), case(status="open"))
    assert told["SR", "", ""].undefined == "no run of an agent that can be measured"
    assert told["FRR", "", ""].left_out == (("demonstrated by a person", 1), ("not ended", 1))


UNITS = tuple(InformationUnit(f"u{i}", f"unit {i}") for i in range(9))


def test_the_four_rules_of_retention() -> None:
    seven = {unit.id: "correct" if i < 7 else "wrong" for i, unit in enumerate(UNITS)}
    rated = case(of={"units": UNITS}, units=seven, score=0.0)
    assert irr_of(rated, True).value == 1.0  # success
    assert irr_of(rated, False).value == 7 / 9  # explicit output: 7 of 9
    implicit = tuple(InformationUnit(unit.id, unit.name, explicit=False) for unit in UNITS)
    assert rate(implicit, seven).value == 0.0  # type: ignore[arg-type]  # a decision that came out wrong
    assert rate(UNITS, {unit.id: "missing" for unit in UNITS}).value == 0.0  # failed early
    mixed = (*UNITS[:3], *implicit[3:])
    assert rate(mixed, seven).value == 3 / 9  # type: ignore[arg-type]
    assert rate(UNITS, {"u0": "correct"}).why == "with some information units not rated"
    assert irr_of(rated, None).why == "not judged"


@pytest.mark.parametrize(
    ("verdict", "value", "why"),
    [
        (seen(9, 7, 78), 7 / 9, ""),  # the exact share goes before the whole percentage
        (seen(9, 0, 0), 0.0, ""),
        (analysis(None, irr_percentage=40), 0.4, ""),
        (analysis("llm_analysis", total_information_units=0, correctly_used_units=0, irr_percentage=50), 0.5, ""),
        (
            analysis("llm_analysis", total_information_units="9", irr_percentage="78"),
            None,
            "analysed without a rate",
        ),
        (analysis("analysis_failed", irr_percentage=0), None, "analysed as analysis_failed"),
        (analysis("no_step_descriptions", irr_percentage=0), None, "analysed as no_step_descriptions"),
        (analysis("evaluation_error", irr_percentage=0), None, "analysed as evaluation_error"),
        (analysis("not_evaluated"), None, "analysed as not_evaluated"),
        (analysis("skipped_non_memory_task"), None, "analysed as skipped_non_memory_task"),
        (None, None, "without rated"),
    ],
    ids=str,
)
def test_which_of_the_sources_analyses_count(verdict: Verdict | None, value: float | None, why: str) -> None:
    irr = irr_of(case(score=0.0, verdicts=[verdict] if verdict else []), False)
    assert irr.value == value
    assert irr.why.startswith(why)


def test_retention_is_over_memory_tasks_and_the_scripts_takes_what_is_missing_for_0() -> None:
    told = numbers(
        case("A"),  # 1
        case("B", score=0.0, verdicts=[seen(9, 7, 78)]),  # 7/9
        case("C", score=0.0, verdicts=[seen(4, 0, 0)]),  # 0
        case("D", score=0.0, verdicts=[analysis("analysis_failed", irr_percentage=0)]),
        case("E", memory="no"),
        case("F", memory=""),
    )
    paper, script = told["IRR", "", "paper"], told["IRR", "", "script"]
    # D failed and nobody rated it: it counts like B and C on average, (7/9 + 0) / 2; A counts 1 and is never missing
    assert paper.value == pytest.approx((1 + 7 / 9 + 0 + 7 / 18) / 4)
    assert paper.n == 3
    # (1 + 7/9 + 0 + 0) / 4 and (1 + 7/9 + 0 + 1) / 4
    assert paper.note == "1 failed and not rated count like the 2 rated failures; 44.4% to 69.4% whatever they are"
    assert dict(paper.left_out) == {
        "needing no memory": 1,
        "not known to need memory or not": 1,
        "analysed as analysis_failed": 1,
    }
    assert (script.value, script.n) == (0.78 / 4, 4)  # nothing came with A and 0 with C and D: they are 0
    above = told["IRR above 0", "", "script"]
    assert (above.value, above.n) == (0.78, 1)
    assert dict(above.left_out)["with a rate of 0 or none"] == 3


def test_successes_alone_are_no_retention_rate() -> None:
    told = numbers(case("A"), case("B", score=0.0))
    assert told["IRR", "", "paper"].undefined == "no failed task is rated, and those that succeeded count 1"
    assert numbers(case("A"), case("B"))["IRR", "", "paper"].value == 1.0
    assert numbers(case(memory="no"))["IRR", "", "paper"].undefined == "no task is known to need memory"


def test_the_ratio_of_memory_to_standard_tasks() -> None:
    told = numbers(
        case("A"), case("B", score=0.0), case("C", score=0.0), case("D", score=0.0),  # 1/4
        case("E", memory="no"), case("F", memory="no", score=0.0),  # 1/2
    )  # fmt: skip
    assert told["MTPR", "", "paper"].value == told["MTPR", "", "script"].value == (1 / 4) / (1 / 2)
    hopeless = numbers(case("A"), case("E", memory="no", score=0.0))
    assert hopeless["MTPR", "", "paper"].undefined == "no standard task succeeded"
    assert hopeless["MTPR", "", "script"].value == 0.0
    assert numbers(case("A"))["MTPR", "", "paper"].undefined == "no standard task is judged"
    assert numbers(case("E", memory="no"))["MTPR", "", "paper"].undefined == "no memory task is judged"
    assert numbers(case("A", memory=""))["MTPR", "", "script"].undefined == "no task says whether it needs memory"


def tried(task: str, *scores: float | None) -> list[MeasuredRun]:
    return [case(task, score=score, attempt=i) for i, score in enumerate(scores, 1)]


def test_success_within_k_attempts_and_recovery() -> None:
    told = numbers(
        *tried("A", 1.0),
        *tried("B", 0.0, 1.0),
        *tried("C", 0.0, 0.0, 1.0),
        *tried("D", 0.0, 0.0, 0.0, 1.0),
        *tried("E", 0.0, 0.0, 0.0, 0.0),
        *tried("F", 0.0),
    )
    assert told["SR", "", "paper"].value == 1 / 6
    assert told["pass@2", "", "paper"].value == 2 / 6
    assert told["pass@3", "", "paper"].value == 3 / 6
    assert told["pass@4", "", "paper"].value == told["pass@4", "", "script"].value == 4 / 6
    assert told["pass@4", "", "paper"].note == "1 failed in fewer attempts"
    # R_2 = R_3 = R_4 = 1 of 5 that failed first: (1 + 1/2 + 1/3) / 5; the script's weights are 1, 1/2, 1/4
    assert told["FRR", "", "paper"].value == pytest.approx((1 + 1 / 2 + 1 / 3) / 5)
    assert told["FRR", "", "script"].value == pytest.approx((1 + 1 / 2 + 1 / 4) / 5)
    assert told["FRR", "", "paper"].note == "k = 4; 1 of 5 were not tried again"
    assert ("pass@5", "", "paper") not in told


def test_recovery_is_undefined_without_failures_or_second_attempts() -> None:
    assert numbers(*tried("A", 1.0))["FRR", "", "paper"].undefined == "no task failed on its first attempt"
    assert numbers(*tried("A", 1.0))["FRR", "", "script"].value == 0.0
    assert numbers(*tried("A", 0.0))["FRR", "", "paper"].undefined == "no task was tried again"


def test_an_attempt_that_nobody_judged_leaves_its_task_undecided() -> None:
    told = numbers(*tried("A", 0.0, None), *tried("B", None, 1.0))
    assert (told["pass@2", "", "paper"].value, told["pass@2", "", "paper"].n) == (1.0, 1)
    assert told["pass@2", "", "script"].value == 1 / 2
    # FRR: whether A recovered nobody has said; B's first attempt is not judged (the script: failed, then recovered)
    assert told["FRR", "", "paper"].undefined == "no later attempt is judged"
    assert told["FRR", "", "paper"].left_out == (("not judged", 1), ("with a later attempt not judged", 1))
    assert told["FRR", "", "script"].value == 1 / 2


def test_recovery_is_weighed_only_where_every_attempt_before_it_is_judged_and_here() -> None:
    told = numbers(
        *tried("A", 0.0, None, 1.0),  # on attempt 2 or 3
        *tried("B", 0.0, 1.0, None),  # on attempt 2
        case("C", score=0.0), case("C", attempt=3),  # attempt 2 is not here
        *tried("D", 0.0, 0.0, 0.0),
    )  # fmt: skip
    frr = told["FRR", "", "paper"]
    assert (frr.value, frr.n) == (1 / 2, 2)
    assert frr.left_out == (("with a later attempt not judged", 1), ("without an earlier attempt", 1))
    assert told["FRR", "", "script"].value == (1 / 2 + 1 + 1 / 2 + 0) / 4


def test_a_task_whose_first_attempts_are_not_here_has_not_failed_within_them() -> None:
    told = numbers(*tried("A", 0.0, 0.0), case("B", score=0.0, attempt=2), case("C", score=1.0, attempt=3))
    assert (told["pass@2", "", "paper"].value, told["pass@2", "", "paper"].n) == (0.0, 1)
    assert told["pass@2", "", "paper"].left_out == (("without an earlier attempt", 2),)
    assert (told["pass@3", "", "paper"].value, told["pass@3", "", "paper"].n) == (1 / 2, 2)


PUBLISHED = [
    # agent, tasks of 128 that succeeded first on attempt 1, 2, 3 (Table 12's SR, and Table 3's pass@2), its FRR
    ("M3A", (42, 9, 10), 16.3),
    ("Agent-S2", (35, 12, 16), 21.5),
    ("Mobile-Agent-E", (7, 4, 2), 4.1),
    ("T3A", (29, 16, 9), 20.7),
    ("Mobile-Agent-V2", (4, 1, 0), 0.8),
    ("SeeAct", (3, 2, 2), 2.4),
    ("AppAgent", (4, 3, 5), 4.4),
    ("UI-Venus-7B", (7, 1, 2), 1.7),
    ("UI-TARS-1.5-7B", (4, 2, 2), 2.4),
    ("GUI-Owl-7B", (8, 3, 2), 3.3),
    ("CogAgent", (0, 0, 0), 0.0),
]
PASS_3 = {"M3A": 47.7, "Agent-S2": 49.2, "T3A": 42.2, "SeeAct": 5.5, "UI-Venus-7B": 7.8, "GUI-Owl-7B": 10.2}


@pytest.mark.parametrize(("agent", "first", "frr"), PUBLISHED)
def test_the_papers_recovery_rates_come_out(agent: str, first: tuple[int, int, int], frr: float) -> None:
    """Table 12: each FRR has whole counts R_2 and R_3 that give its SR too, at weights of 1 and a half."""
    runs: list[MeasuredRun] = []
    for on, count in enumerate(first, 1):
        runs += [case for i in range(count) for case in tried(f"{on}.{i}", *[0.0] * (on - 1), 1.0)]
    runs += [case for i in range(128 - sum(first)) for case in tried(f"lost.{i}", 0.0, 0.0, 0.0)]
    told = numbers(*runs)
    value = told["FRR", "", "paper"].value
    assert value is not None
    assert round(100 * value, 1) == frr
    assert told["FRR", "", "script"].value == pytest.approx(value)  # the weights differ from attempt 4 on
    if sum(first[1:]):
        passed = told["pass@3", "", "paper"].value
        assert passed is not None
        assert passed == pytest.approx(sum(first) / 128)
        assert agent not in PASS_3 or round(100 * passed, 1) == PASS_3[agent]


@pytest.mark.parametrize(("memory", "standard", "ratio"), [(33, 9, 0.41), (28, 7, 0.45), (38, 6, 0.72)])
def test_the_papers_ratio_of_memory_to_standard_tasks_comes_out(memory: int, standard: int, ratio: float) -> None:
    """Table 11: M3A's 42 successes and Agent-S2's 35, of 115 memory and 13 standard tasks; and a published session's
    metrics_summary.csv (kimi-k2.5: 38 and 6, 0.7159)."""
    runs = [case(f"m{i}", score=float(i < memory)) for i in range(115)]
    runs += [case(f"s{i}", score=float(i < standard), memory="no") for i in range(13)]
    value = numbers(*runs)["MTPR", "", "paper"].value
    assert value is not None
    assert value == pytest.approx((memory / 115) / (standard / 13))
    assert round(value, 2) == ratio


def test_zeros_of_the_script_that_stand_for_nothing_say_so() -> None:
    told = numbers(case("A", memory="no"))
    assert (told["MTPR", "", "script"].value, told["MTPR", "", "script"].note) == (0.0, "0 stands for undefined")
    assert (told["FRR", "", "script"].n, told["FRR", "", "script"].note) == (0, "k = 1; 0 stands for undefined")


def test_what_the_script_leaves_out_of_a_step_is_counted() -> None:
    told = numbers(case("A", 3, seconds=10.0, usage=Usage(10, 1)), case("B", 1), case("C", 0))
    for metric in ("Time/Step", "Cost/Step"):
        assert told[metric, "", "script"].left_out == (("no steps", 2),)
        assert told[metric, "", "script"].n == 1
    assert told["csv step_ratio", "", "script"].left_out == (("no steps", 1),)
    assert told["csv total_token_cost", "", "script"].left_out == (("no tokens", 2),)


def test_the_same_attempt_made_again_is_another_chain() -> None:
    chains = chains_of([*tried("A", 0.0, 1.0), *tried("A", 0.0, 0.0)], MetricTerms(), LeftOutTally())
    assert [[one.done for one in chain.tries.values()] for chain in chains] == [[False, True], [False, False]]
    other = case("A", score=0.0, attempt=1, agent=Actor("model", "other"))
    assert len(chains_of([*tried("A", 0.0), other], MetricTerms(), LeftOutTally())) == 2


def test_step_ratio_of_the_attempt_that_succeeded() -> None:
    told = numbers(
        case("A", 12, golden=10),
        case("B", 30, score=0.0), case("B", 8, attempt=2, golden=10),
        case("C", 5, golden=None),
    )  # fmt: skip
    assert told["Step Ratio", "", "paper"].value == 12 / 10
    assert told["Step Ratio", "", "paper"].left_out == (("without success", 1), ("no golden steps", 1))
    assert told["Step Ratio", "", "script"].value == 11 / 10  # total_steps is one less
    assert told["Step Ratio", "pass@2", "paper"].value == pytest.approx((12 / 10 + 8 / 10) / 2)
    assert told["Step Ratio", "pass@2", "script"].value == pytest.approx((11 / 10 + 29 / 10) / 2)  # first attempts
    assert numbers(case(score=0.0))["Step Ratio", "", "paper"].undefined == "no task succeeded"
    assert numbers(case(golden=None))["Step Ratio", "", "paper"].undefined == "no golden steps are known"


def test_time_and_cost_of_a_step() -> None:
    told = numbers(
        case("A", 4, seconds=40.0, waited=8.0, usage=Usage(3000, 100, cost=0.4)),
        case("B", 2, seconds=10.0, waited=0.0, usage=Usage(1000, 50, cost=0.1)),
        case("C", 0),
        case("D", 5),
    )
    # paper: the mean of 40 / 4 = 10 and 10 / 2 = 5; the agent's own time: of (40 - 8) / 4 = 8 and 5;
    # script: all seconds over all steps, each run's less one
    assert told["Time/Step", "", "paper"].value == 7.5
    assert told["Time/Step without waiting", "", ""].value == 6.5
    assert told["Time/Step", "", "paper"].left_out == (("no steps", 1), ("no times", 1))
    assert told["Time/Step", "", "script"].value == 50 / (3 + 1 + 4)
    assert told["Cost/Step", "", "paper"].value == pytest.approx((0.4 / 4 + 0.1 / 2) / 2)
    dollars = (4000 * 1.25 + 150 * 10) / 1e6
    assert told["Cost/Step", "", "script"].value == pytest.approx(dollars / (3 + 1 + 4))
    # $0.01 and $0.03 a thousand: 0.03 + 0.003 and 0.01 + 0.0015
    assert told["csv total_token_cost", "", "script"].value == pytest.approx((0.033 + 0.0115) / 2)
    alone = numbers(case("B", 2, seconds=10.0, waited=0.0))
    assert ("Time/Step without waiting", "", "") not in alone, "nobody was waited for"
    unsure = numbers(case("B", 2, seconds=10.0, waited=None))["Time/Step without waiting", "", ""]
    assert unsure.undefined == "no run tells how long people were waited for"
    bare = numbers(case("A", 3))
    assert bare["Time/Step", "", "paper"].undefined == bare["Time/Step", "", "script"].undefined == "no run has times"
    assert bare["Cost/Step", "", "paper"].undefined == "no run's cost is known"


def test_the_tables_own_columns() -> None:
    ended, unended = case("A", 14), case("B", 26, status="budget")
    told = numbers(ended, unended)
    assert told["csv step_ratio", "", "script"].value == pytest.approx((1.0 + 25 / 50) / 2)
    row = {
        "total_steps": "13", "total_time": "266.7", "total_token_cost": "1.65494", "step_ratio": "1.0",
        "avg_prompt_tokens": "12350", "avg_completion_tokens": "126",
    }  # fmt: skip
    told = numbers(case("A", 4, golden=11, verdicts=[Verdict("results.csv", "S", extra=row)]))
    assert told["csv total_token_cost", "", "script"].value == 1.65494
    assert told["Step Ratio", "", "script"].value == 13 / 11
    assert told["Step Ratio", "", "paper"].value == 4 / 11
    assert told["Time/Step", "", "script"].value == pytest.approx(266.7 / 13)
    assert told["Cost/Step", "", "script"].value == pytest.approx((12350 * 1.25 + 126 * 10) / 1e6)
    odd = Verdict("results.csv", extra={"total_steps": "many", "total_time": float("nan"), "step_ratio": []})
    assert numbers(case("A", 3, verdicts=[odd]))["csv step_ratio", "", "script"].value == 1.0


@pytest.mark.parametrize(
    ("golden", "trait", "found"),
    [
        (23, "easy", "easy"),  # task 017 of the benchmark
        (1, "hard", "hard"),
        (20, "", "easy"),
        (20, "normal", "easy"),
        (21, "", "medium"),
        (40, "", "medium"),
        (41, "", "hard"),
        (None, "Hard", "hard"),
    ],
)
def test_difficulty_is_what_the_task_says_else_goes_by_its_golden_steps(
    golden: int | None, trait: str, found: str
) -> None:
    assert difficulty_of(case(golden=golden, traits={"difficulty": trait})) == found


def test_numbers_by_difficulty_and_by_apps() -> None:
    told = numbers(
        case("A", golden=10, of={"apps": ("Amazon",)}),
        case("B", golden=50, score=0.0, of={"apps": ("Amazon", "Notes")}, verdicts=[seen(2, 1, 50)]),
        case("C", golden=50, traits={"num_apps": "2", "memory": "yes"}),
    )
    assert told["SR", "easy", "paper"].value == 1.0
    assert told["SR", "hard", "paper"].value == told["SR", "2 apps", "paper"].value == 1 / 2
    assert told["IRR", "2 apps", "paper"].value == (0.5 + 1) / 2
    assert told["SR", "1 app", "paper"].n == 1
    assert ("SR", "medium", "paper") not in told


def test_whether_a_task_of_ones_own_needs_memory_follows_from_its_units() -> None:
    assert memory_of(case(memory="", source=None, of={"units": UNITS})) == "yes"
    assert memory_of(case(memory="", source=None)) == "no"
    assert memory_of(case(memory="N", source=None, of={"units": UNITS})) == "no"
    assert memory_of(case(memory="")) == ""


def test_an_attempt_beyond_its_steps_has_failed_and_retained_nothing() -> None:
    # floor(1.4 x 10 + 1) = 15, floor(1.4 x 7 + 1) = floor(10.8) = 10, floor(1.4 x 5 + 1) = 8
    assert [step_limit(golden, 1.4) for golden in (10, 7, 5)] == [15, 10, 8]
    told = numbers(case("A", 15), case("B", 16, verdicts=[seen(2, 2, 100)]), case("C", golden=None), step_budget=1.4)
    assert (told["SR", "", "paper"].value, told["SR", "", "paper"].n) == (1 / 2, 2)
    assert told["SR", "", "paper"].left_out == (("without golden steps, so without a budget", 1),)
    assert told["SR", "", "paper"].note == "failed, with IRR 0: more than floor(1.4 x golden + 1) steps"
    assert told["IRR", "", "paper"].value == 1 / 2
    assert told["IRR", "", "script"].value == 0.0
    assert "steps" not in numbers(case("A", 15))["SR", "", "paper"].note


def test_token_budgets_a_run_and_a_golden_step() -> None:
    small, large = case("A", 4, usage=Usage(90, 10)), case("B", 6, usage=Usage(380, 20))
    told = numbers(small, large, case("C"), token_budget=100)
    assert told["SR", "", "paper"].value == 1 / 2
    assert told["SR", "", "paper"].left_out == (("whose tokens are not known", 1),)
    # the agent's rate is (100 + 400) / (4 + 6) = 50 a step: 4 x 50 = 200, 6 x 50 = 300, and C 4 x 50 = 200
    rated = (small, large, case("C"))
    assert numbers(*rated, golden_tokens=25)["SR", "", "paper"].value == 2 / 3  # most: 10 x 25 = 250
    assert numbers(*rated, golden_tokens=19.9)["SR", "", "paper"].value == 0.0
    unknown = numbers(case("C"), golden_tokens=25)
    assert unknown["SR", "", ""].left_out == (("of an agent whose tokens are not known", 1),)


def test_absurd_attempts_and_fields_are_borne() -> None:
    row = Verdict("results.csv", extra={"total_steps": 10**400, "step_ratio": "1e999", "total_time": {}})
    told = numbers(
        case("A", score=0.0, verdicts=[row, seen(10**400, 10**399, 10**400)], traits={"num_apps": "9" * 5000}),
        case("A", attempt=10**9),
        case("B", 0, attempt=-3, score=0.0),
    )
    assert told["FRR", "", "paper"].left_out[-1] == ("without an earlier attempt", 1)
    assert told["pass@1000000000", "", "script"].value == 1.0
    assert told["SR", "", "paper"].left_out == (("with an attempt not numbered from 1", 1),)
