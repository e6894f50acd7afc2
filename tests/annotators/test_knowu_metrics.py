"""KnowU-Bench's numbers, worked out by hand, and what its scripts were measured to do."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from statistics import fmean
from typing import Any

import pytest

from annotators.papers.knowu.metrics import measure
from annotators.papers.knowu.policy import paper_policy, script_policy, warrants_intervention
from annotators.papers.knowu.runs import runs_of
from annotators.papers.knowu.tasks import HABITS, difficulty_of, split_of
from annotators.papers.metrics import LeftOutTally, MetricContext, MetricTerms, PaperNumber, context_of
from lab.core.run.measured_run import MeasuredRun, MeasuredStep
from lab.core.run.run_records import Verdict
from lab.core.run.step import Action, ActionKind, Question, Reply
from lab.core.run.trace import Ended, Source, Started, Step
from lab.core.task.task import Actor, Check, Persona, Task
from store.formats import FailedRun, KnownRun, RunSource
from store.formats.knowu.reader import KNOWU
from tests.crossed import soak

MODEL = Actor("model", "m")
USER = Actor("model", "user-simulator")
HABITED: dict[str, dict[str, object]] = {
    "developer": {"habits": {"contact_saver": {"trigger": "a text"}, "clock_out_routine": {}}},
    "grandma": {"habits": {}},
}
SHARED = Path(__file__).parents[2].parent / "shared" / "traces" / "mobileworld"


def step(kind: ActionKind, text: str | None = None, reply: str | None = None, **more: Any) -> MeasuredStep:
    """A step of an imported run: `raw` is named as the source names it, and a reply's tag is its decision."""
    raw = {"action_type": more.pop("raw", kind), "text": text}
    action = Action(kind, text=text, raw=raw, space="px")
    if kind != "ask_user":
        return MeasuredStep(action, action, **more)
    said = None
    if reply is not None:
        tag = "reject" if "<decision>reject" in reply else "accept" if "<decision>accept" in reply else None
        said = Reply("q", reply, USER, decision=tag)  # type: ignore[arg-type]
    return MeasuredStep(action, action, question=Question("q", "ask", text or ""), reply=said, **more)


ACT = step("click")
WAIT = step("wait")
ASK = step("ask_user", "Shall I?")
REFUSED = step("ask_user", "Shall I?", "<decision>reject</decision>")
ALLOWED = step("ask_user", "Shall I?", "<decision>accept</decision>")
FINISHED = step("status", raw="finished")


def case(name: str, *steps: MeasuredStep, score: float | None = 1.0, **more: Any) -> MeasuredRun:
    """A run of KnowU-Bench or MobileWorld as its reader leaves it: `Task@role`."""
    task, _, role = name.partition("@")
    held = MeasuredRun(
        id=name,
        task=Task(task, "general", instruction="Do it", persona=role),
        agent=MODEL,
        steps=steps,
        status="completed",
        score=score,
        source=Source("knowu"),
    )
    return held._replace(**more)


def numbers(*cases: MeasuredRun, terms: MetricTerms | None = None) -> dict[tuple[str, str, str], PaperNumber]:
    told = measure(cases, context_of(cases, terms or MetricTerms(profiles=HABITED)))
    keyed: dict[tuple[str, str, str], PaperNumber] = {
        (number.metric, number.part, number.version): number for number in told
    }
    assert len(keyed) == len(told)
    for number in told:
        assert number.paper == "knowu"
        assert (number.value is None) == bool(number.undefined), number
    return keyed


def test_the_split_and_the_difficulty_follow_from_a_tasks_class() -> None:
    assert split_of("ClockOutGeneralTask") == "general"
    assert split_of("CartManagementPreferenceAskUserTask") == "personalized"
    assert split_of("LateNightCommuteTask") == "personalized"
    assert split_of("ContactSaverTask") == "proactive"
    assert (split_of("SomeNewPreferenceTask"), split_of("NewRoutineTask")) == ("personalized", "proactive")
    assert split_of("CheckInvoiceTask1") == ""
    assert difficulty_of("ClockOutGeneralTask") == "easy"
    assert difficulty_of("BuyColaGeneralTask") == difficulty_of("ContactSaverTask") == "hard"
    assert difficulty_of("SomeNewPreferenceTask") == ""
    assert (len(HABITS), sum(difficulty_of(name) == "easy" for name in HABITS)) == (16, 8)


def test_success_is_a_score_above_099_and_a_missing_result_is_failed_in_the_paper_and_left_out_by_the_script() -> None:
    told = numbers(
        case("A", score=1.0), case("B", score=0.99), case("C", score=0.995), case("D", score=None), case("E", score=0.0)
    )
    paper, script = told["SR", "", "paper"], told["SR", "", "script"]
    assert (paper.value, paper.n, paper.note) == (2 / 5, 5, "1 without a result count 0")
    assert (script.value, script.n, script.left_out) == (2 / 4, 4, (("no result", 1),))


def test_where_nothing_has_a_result_there_is_no_success_rate_at_all() -> None:
    told = numbers(case("A", score=None))
    assert told["SR", "", "paper"].undefined == told["SR", "", "script"].undefined == "no result"


def test_a_run_of_another_source_that_nobody_scored_is_undecided_in_both() -> None:
    told = numbers(case("A", source=Source("appagent"), score=None), case("B", source=Source("androidworld")))
    for version in ("paper", "script"):
        assert (told["SR", "", version].value, told["SR", "", version].left_out) == (1.0, (("no result", 1),))


def test_demonstrations_and_open_runs_are_left_out_with_their_number() -> None:
    told = numbers(case("A"), case("B", agent=Actor("human", "P01")), case("C", status="open"))
    number = told["SR", "", "script"]
    assert (number.n, number.left_out) == (1, (("demonstrated by a person", 1), ("not ended", 1)))
    alone = numbers(case("B", agent=Actor("human", "P01")))
    assert alone["SR", "", ""].undefined == "no run of an agent that has ended"


def test_steps_queries_and_efficiency() -> None:
    told = numbers(case("A", ACT, ASK, ACT, FINISHED), case("B", ACT, ACT), case("C", ACT, score=None))
    # paper: 4 + 2 + 1 acts (the closing `finished` is one) over 3 runs; script: 4 + 2 entries over 2 with a result
    assert told["AveSteps", "", "paper"].value == pytest.approx(7 / 3)
    assert told["AveSteps", "", "script"].value == 3.0
    assert told["Efficiency", "", "paper"].value == pytest.approx(50 / (7 / 3))
    assert told["AveQueries", "", "paper"].value == pytest.approx(1 / 3)
    assert told["AveQueries", "", "script"].value == 1 / 2
    assert numbers(case("A"))["Efficiency", "", "paper"].undefined == "its runs did nothing"


def test_score_and_interaction_efficiency_of_personalized_and_proactive_tasks() -> None:
    told = numbers(
        case("BuyColaPreferenceTask@user", ASK, ASK, ACT, score=0.8),
        case("OrderLunchPreferenceTask@user", ACT, score=0.5),
        case("OrderLunchTradeoffTask@user", ACT, score=None),
        case("ContactSaverTask@developer", ASK, ASK, ASK, ASK, score=1.0),
    )
    # IE: 0.8 / 2 = 0.4 and 0.5 / max(0, 1) = 0.5, the missing one 0 in the paper
    assert told["IE", "personalized", "paper"].value == pytest.approx((0.4 + 0.5 + 0) / 3)
    assert told["IE", "personalized", "script"].value == pytest.approx((0.4 + 0.5) / 2)
    assert told["IE", "proactive", "script"].value == 1.0 / 4
    assert ("IE", "proactive", "paper") not in told
    assert told["Score", "personalized", "paper"].value == pytest.approx((0.8 + 0.5 + 0) / 3)
    assert told["Score", "personalized", "script"].value == pytest.approx((0.8 + 0.5) / 2)
    assert told["Score", "personalized, easy", "script"].value == pytest.approx(0.8)
    assert told["Score", "personalized, hard", "script"].value == pytest.approx(0.5)
    assert told["SR", "general", ""].undefined == "no run of general tasks"


def test_a_roles_average_is_over_personalized_and_proactive_tasks_with_missing_results_as_0() -> None:
    told = numbers(
        case("BuyColaPreferenceTask@user", score=0.8),
        case("ContactSaverTask@user", score=None),
        case("ContactSaverTask@grandma", score=1.0),
        case("ClockOutGeneralTask", score=1.0),
    )
    assert told["Score", "role user", ""].value == pytest.approx((0.8 + 0) / 2)
    assert told["Score", "role grandma", ""].value == 1.0
    assert told["Score", "role user", ""].left_out == (("of a general task", 1),)


def test_a_task_whose_split_cannot_be_told_is_in_the_whole_only() -> None:
    told = numbers(case("CheckInvoiceTask1"), case("ClockOutGeneralTask", score=0.0))
    assert told["SR", "", "script"].value == 1 / 2
    general = told["SR", "general", "script"]
    assert (general.value, general.left_out) == (0.0, (("of a task without a split", 1),))
    assert told["SR", "general, easy", "script"].n == 1


def test_the_hybrid_score_weighs_rules_and_judge() -> None:
    def judged(name: str, weight: str, **more: Any) -> MeasuredRun:
        task = Task(name, "personalized", instruction="Do it", traits={"lambda": weight} if weight else {})
        return case(name, task=task, source=None, **more)

    rule, llm = Verdict("rule", 1.0), Verdict("llm", 0.5)
    checks = (("it is there", True),)
    told = numbers(
        judged("A", "0.4", verdicts=(rule, llm), score=1.0),  # 0.4 * 1 + 0.6 * 0.5 = 0.7
        judged("B", "1", score=0.25, checks=checks),  # fully programmatic, so binary: not all rules hold, 0
        judged("C", "0", verdicts=(rule, Verdict("llm", 0.9)), marks={"llm": 0.1}),  # 1 * 0.1: the settled mark
        judged("D", "0.4", verdicts=(llm,)),
        judged("E", "0.4", checks=checks),
        judged("F", "", checks=checks, marks={"llm": 1.0}),
        judged("G", "7", checks=checks, marks={"llm": 1.0}),
    )
    number = told["Hybrid score", "", "paper"]
    assert number.value == pytest.approx((0.7 + 0 + 0.1) / 3)
    assert dict(number.left_out) == {
        "no rule score": 1,
        "no judge's score": 1,
        "of a task without lambda": 1,
        "with a lambda not from 0 to 1": 1,
    }
    # S_i of the average score is the hybrid one where there is one: (0.7 + 0 + 0.1 + 4 * 1) / 7
    assert told["Score", "personalized", "paper"].value == pytest.approx((0.7 + 0 + 0.1 + 4) / 7)


def test_rules_are_binary_where_they_alone_decide_and_a_share_where_a_judge_is_waited_for() -> None:
    checks = (("it is there", True), ("it is in time", False))

    def role_score(kind: Any, score: float, traits: dict[str, str] | None = None, **more: Any) -> float | None:
        task = Task("A", kind, instruction="Do it", persona="dev", traits=traits or {})
        run = case("A", task=task, source=None, score=score, checks=checks, **more)
        return numbers(run)["Score", "role dev", ""].value

    assert role_score("proactive", 0.5) == 0.0
    assert role_score("proactive", 1.0) == 1.0
    assert role_score("personalized", 0.5) == 0.5
    assert role_score("personalized", 0.5, {"lambda": "1"}) == 0.0
    assert role_score("personalized", 1.0, {"lambda": "1"}) == 1.0
    # 0.5 * 0.5 + 0.5 * 0.8
    assert role_score("personalized", 0.5, {"lambda": "0.5"}, marks={"llm": 0.8}) == pytest.approx(0.65)
    assert role_score("proactive", 0.5, marks={"llm": 0.8}) == 0.5


def test_a_tasks_own_lambda_goes_before_the_common_one() -> None:
    plain = Task("A", "general", instruction="Do it")
    run = case("A", task=plain, source=None, score=1.0, checks=(("x", True),), marks={"llm": 0.0})
    assert numbers(run, terms=MetricTerms(rule_weight=0.3))["Hybrid score", "", "paper"].value == pytest.approx(0.3)
    own = run._replace(task=Task("A", "general", instruction="Do it", traits={"lambda": "0.9"}))
    assert numbers(own, terms=MetricTerms(rule_weight=0.3))["Hybrid score", "", "paper"].value == pytest.approx(0.9)


def scripted(name: str, *steps: MeasuredStep, score: float = 0.0) -> tuple[str | None, bool]:
    [run] = runs_of([case(name, *steps, score=score)], MetricTerms(profiles=HABITED), LeftOutTally())
    return script_policy(run, MetricTerms(profiles=HABITED))[:2]


def papered(name: str, *steps: MeasuredStep) -> tuple[str | None, bool]:
    [run] = runs_of([case(name, *steps)], MetricTerms(profiles=HABITED), LeftOutTally())
    return paper_policy(run, MetricTerms(profiles=HABITED))[:2]


NEED, NONEED = "ContactSaverTask@developer", "ContactSaverTask@grandma"


@pytest.mark.parametrize(
    ("steps", "kept"),
    [
        ((step("answer", "Task finished."),), False),  # the full stop is not in the script's list
        ((step("answer", "  TASK\n finished "),), True),
        ((step("answer", "failed"),), True),
        ((step("answer", None),), True),
        ((step("answer", "It is nine."),), False),
        ((step("navigate_home"),), False),
        ((step("status"),), False),
        ((step("other", raw="unknown"),), False),
        ((step("other", raw=None),), True),
        ((FINISHED,), True),
        ((WAIT, WAIT, FINISHED), True),
        ((ASK, WAIT, FINISHED), True),  # the script lets it ask
        ((ACT,), False),
        ((), True),
    ],
)
def test_silent_as_the_script_has_it(steps: tuple[MeasuredStep, ...], kept: bool) -> None:
    assert scripted(NONEED, *steps) == ("noneed", kept)


@pytest.mark.parametrize(
    ("steps", "kept"),
    [
        ((REFUSED, ASK, ASK, FINISHED), True),  # endless asking passes
        ((REFUSED, step("answer", "It is nine."), WAIT), True),
        ((REFUSED, step("status")), False),
        ((REFUSED, step("navigate_home"), FINISHED), False),
        ((ACT, ACT, REFUSED, FINISHED), True),  # what was done before does not count
        ((REFUSED, ACT, ALLOWED, REFUSED, FINISHED), False),  # from the FIRST rejection on
    ],
)
def test_stop_as_the_script_has_it(steps: tuple[MeasuredStep, ...], kept: bool) -> None:
    assert scripted(NEED, *steps) == scripted(NONEED, *steps) == ("reject", kept)


def test_the_scripts_group_goes_by_the_last_decision_that_it_can_see() -> None:
    assert scripted(NEED, REFUSED, ALLOWED, ACT, score=1.0) == ("need", True)
    assert scripted(NEED, ACT, REFUSED) == ("need", False)  # a reply after the last step is not in traj.json
    assert scripted(NEED, step("ask_user", "?", "No thanks"), FINISHED) == ("need", False)
    assert scripted(NEED, step("ask_user", "?", "I cannot accept, reject"), FINISHED) == ("reject", True)
    assert scripted(NEED, step("ask_user", "?", "I do not accept this"), FINISHED) == ("need", False)
    odd = step("ask_user", "?", "reject? <decision> ACCEPT </decision>")
    assert scripted(NEED, odd, FINISHED) == ("need", False)


def test_act_of_the_script_is_the_tasks_success_and_of_the_paper_that_it_intervened() -> None:
    assert scripted(NEED, ACT, score=1.0) == ("need", True)
    assert scripted(NEED, ACT, score=0.99) == ("need", False)
    assert papered(NEED, ACT) == papered(NEED, ASK, FINISHED) == ("need", True)
    assert papered(NEED, WAIT, step("scroll"), FINISHED) == ("need", False)


def test_the_paper_wants_real_silence_and_a_real_stop() -> None:
    assert papered(NONEED, ASK, WAIT) == papered(NONEED, ACT) == ("noneed", False)
    assert papered(NONEED, step("navigate_home"), step("status")) == ("noneed", True)
    assert papered(NEED, REFUSED, ASK, FINISHED) == papered(NEED, REFUSED, ACT) == ("reject", False)
    assert papered(NEED, REFUSED, step("navigate_home"), step("answer", "Fine.")) == ("reject", True)
    assert papered(NEED, ACT, REFUSED) == ("reject", True)
    assert papered(NEED, step("ask_user", "?", "No thanks"), FINISHED) == ("need", True)  # not explicit
    assert papered(NEED, step("click", error="no such place")) == ("need", False)


def test_act_silent_and_stop_as_numbers() -> None:
    told = numbers(
        case(NEED, ACT, FINISHED, score=1.0),
        case(NEED, ACT, FINISHED, score=0.0),
        case(NEED, ACT, FINISHED, score=None),
        case(NONEED, WAIT, step("answer", "Task finished."), score=1.0),
        case(NONEED, REFUSED, ASK, FINISHED, score=1.0),
        case("ContactSaverTask@student", ACT),
        case("NewRoutineTask@developer", ACT),
    )
    assert (told["Act", "proactive", "paper"].value, told["Act", "proactive", "paper"].n) == (1.0, 3)
    assert (told["Act", "proactive", "script"].value, told["Act", "proactive", "script"].n) == (1 / 2, 2)
    assert told["Silent", "proactive", "paper"].value == 1.0
    assert told["Silent", "proactive", "script"].value == 0.0
    assert told["Stop", "proactive", "paper"].value == 0.0
    assert told["Stop", "proactive", "script"].value == 1.0
    out = dict(told["Act", "proactive", "script"].left_out)
    assert out == {"whose profile is not given": 1, "of an unknown routine": 1, "no result": 1}
    assert numbers(case(NEED, ACT))["Stop", "proactive", "paper"].undefined == "no run in which the person rejected"


def test_an_empty_habit_is_none_and_a_run_that_names_no_role_is_of_the_user() -> None:
    clock = case("ClockOutRoutineTask@developer", ACT)
    assert warrants_intervention(clock, MetricTerms(profiles=HABITED)) == (False, "")
    nobody = case("ContactSaverTask", ACT)
    assert warrants_intervention(nobody, MetricTerms(profiles=HABITED)) == (None, "whose profile is not given")
    profiles: dict[str, dict[str, object]] = {"user": {"habits": {"contact_saver": {"x": 1}}}}
    assert warrants_intervention(nobody, MetricTerms(profiles=profiles)) == (True, "")
    held = case(NONEED, ACT, persona=Persona("grandma", "G", {"habits": {"contact_saver": {"x": 1}}}))
    assert warrants_intervention(held, MetricTerms()) == (True, "")


def test_what_warrants_an_intervention_in_tasks_of_ones_own() -> None:
    def own(*checks: Check, **traits: str) -> MeasuredRun:
        return case("own", task=Task("own", "proactive", checks=checks, traits=traits), source=None)

    assert warrants_intervention(own(Check("quiet", run="silent")), MetricTerms()) == (False, "")
    assert warrants_intervention(own(Check("offered", run="asked")), MetricTerms()) == (True, "")
    assert warrants_intervention(own(Check("done", path="a", equals=1, when="accept")), MetricTerms()) == (True, "")
    assert warrants_intervention(own(Check("same", path="a", same=True)), MetricTerms())[0] is None
    assert warrants_intervention(own(Check("quiet", run="silent"), warranted="yes"), MetricTerms()) == (True, "")


def test_a_run_of_ones_own_that_says_it_is_done_has_finished() -> None:
    def ended(status: Any) -> MeasuredStep:
        action = Action("status", status=status)
        return MeasuredStep(action, action)

    assert scripted(NONEED, ended("complete")) == ("noneed", True)
    assert scripted(NONEED, ended("infeasible")) == ("noneed", False)


def test_a_gate_that_let_nothing_through_did_nothing() -> None:
    blocked = MeasuredStep(Action("click"), None)
    assert papered(NONEED, blocked) == ("noneed", True)
    assert scripted(NONEED, blocked) == ("noneed", True)


def test_mobileworlds_own_numbers() -> None:
    told = numbers(
        case("AAskUserTask", ASK, ASK, ACT),  # 1 / 2
        case("BAskUserTask", ASK, ACT, score=0.0),  # 0 / 1
        case("CAskUserTask", ACT),  # done, but never asked: 0
        case("DTask", ASK, ACT),  # asked without need: in the denominator
        case("ETask", ACT, score=0.0),
        case("FAskUserTask", ASK, score=None),
        case("GAskUserTask", score=0.0),
        case("BuyColaPreferenceTask@user", ASK),  # KnowU-Bench's: no part of it
    )
    uiq = told["UIQ", "MobileWorld", "script"]
    assert (uiq.value, uiq.n) == ((1 / 2 + 0 + 0) / (3 + 1), 4)
    assert uiq.left_out == (("no result", 1), ("no steps", 1))
    assert told["SR", "MobileWorld, user interaction", "script"].left_out == (("no result", 1), ("no steps", 1))
    assert told["SR", "MobileWorld, GUI only", "script"].left_out == ()
    assert told["SR", "MobileWorld, user interaction", "script"].value == pytest.approx(2 / 3)
    assert told["SR", "MobileWorld, GUI only", "script"].value == 1 / 2
    silent = numbers(case("ETask", ACT))
    assert silent["UIQ", "MobileWorld", "script"].undefined.startswith("no run of a task that needs interaction")


@soak
@pytest.mark.parametrize(
    ("model", "results", "missing", "done", "interaction", "gui"),
    [
        ("claude-opus-4.6", 157, 4, 67, 34.1, None),
        ("gemini-3.1-pro-preview", 161, 0, 78, 22.7, 58.1),
        ("kimi-k2.5", 161, 0, 75, None, None),
        ("seed-2.0-pro", 161, 0, 101, 61.4, 63.2),
    ],
)
def test_the_published_bundles_give_their_counted_results(
    model: str, results: int, missing: int, done: int, interaction: float | None, gui: float | None
) -> None:
    """`done` and `results` are counted from the bundle's `result` texts; the last two stand on its leaderboard."""
    bundle = SHARED / f"{model}.json.gz"
    if not bundle.is_file():
        pytest.skip("no shared/traces here")
    found = RunSource(KNOWU.name, bundle, bundle.parent)
    cases = []
    for imported in KNOWU.read(found, lambda id: False):
        assert not isinstance(imported, FailedRun | KnownRun)
        start, end = imported.events[0], imported.events[-1]
        assert isinstance(start, Started)
        assert isinstance(end, Ended)
        steps = [
            MeasuredStep(e.proposed.action, e.action, question=e.question, reply=e.reply)
            for e in imported.events
            if isinstance(e, Step)
        ]
        cases.append(
            MeasuredRun(imported.id, start.task, start.agent, steps, end.status, score=end.score, source=start.source)
        )
    told: dict[tuple[str, str, str], PaperNumber] = {
        (n.metric, n.part, n.version): n for n in measure(cases, MetricContext({}))
    }
    assert told["Hybrid score", "", "paper"].undefined == "no run has a lambda and the scores that it weighs"
    assert (told["SR", "", "script"].value, told["SR", "", "script"].n) == (done / results, results)
    assert told["SR", "", "paper"].value == done / (results + missing)
    for part, published in (("user interaction", interaction), ("GUI only", gui)):
        value = told["SR", f"MobileWorld, {part}", "script"].value
        assert value is not None
        if published is not None:
            assert round(100 * value, 1) == published
    for key, value in counted(bundle).items():
        assert told[key].value == pytest.approx(value), key


def counted(bundle: Path) -> dict[tuple[str, str, str], float]:
    """What the bundle's own JSON says, counted without a reader."""
    whole = json.loads(gzip.decompress(bundle.read_bytes()))
    runs: list[tuple[str, float | None, list[str]]] = []
    for name, run in whole.items():
        if not name.startswith("_"):
            kinds = [str(step["action"]["action_type"]) for step in run["traj"] or []]
            runs.append((name, float(run["result"].split()[1]) if run["result"] else None, kinds))
    held = [(name, score > 0.99, kinds) for name, score, kinds in runs if score is not None]
    acts = [len(kinds) for _, _, kinds in runs]
    asked = [(done, kinds.count("ask_user")) for name, done, kinds in held if "AskUser" in name]
    needless = sum("ask_user" in kinds for name, _, kinds in held if "AskUser" not in name)
    return {
        ("AveSteps", "", "paper"): fmean(acts),
        ("AveSteps", "", "script"): fmean(len(kinds) for _, _, kinds in held),
        ("AveQueries", "", "paper"): fmean(kinds.count("ask_user") for _, _, kinds in runs),
        ("AveQueries", "", "script"): fmean(kinds.count("ask_user") for _, _, kinds in held),
        ("Efficiency", "", "paper"): 50 / fmean(acts),
        ("UIQ", "MobileWorld", "script"): sum(done / c for done, c in asked if c) / (len(asked) + needless),
    }


@pytest.mark.parametrize("absurd", [10**400, float("nan"), "nan", [], {}, None, True, -1])
def test_an_absurd_judgement_is_none(absurd: Any) -> None:
    task = Task("A", "personalized", instruction="Do it", traits={"lambda": "0.5"})
    run = case("A", task=task, source=None, verdicts=(Verdict("rule", 1.0), Verdict("llm", absurd)))
    number = numbers(run)["Hybrid score", "", "paper"]
    assert number.value == (1.0 if absurd is True else None)
