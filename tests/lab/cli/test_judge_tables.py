"""The papers' tables of judges, each out of a study with people and models by one command: `hitlab report STUDY`."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec
import pytest
from msgspec.structs import replace

from lab.cli.main import main
from lab.core.study.label import Act
from lab.core.study.report import Number, Report, Section
from lab.core.study.study import Target, Unit, UnitText
from lab.core.task.task import Actor, Task
from lab.core.values.ids_and_clock import now, uuid7
from simulators import library
from store.store import Store
from tests.crossed import soak
from tests.endpoint import ModelServer, Reply, Request, Said, serving
from tests.judges import sheet_brain
from tests.papers import Rated, run, sound, table
from tests.screens.annotate.host import lunch
from tests.screens.runs import WHOLE
from tests.studied_runs import SECRET
from tests.studied_runs import run as built_in

FLASH, PRO = "openai/flash", "openai/pro"
ONE = Task("one", "general", instruction="Mute.", apps=("a",))
TWO = Task("two", "general", instruction="Copy.", apps=("a", "b"))

Hitlab = Callable[..., Any]


@pytest.fixture
def hitlab(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Hitlab:
    """A command's JSON (or its text, without `--json`) at the file of this test; it must succeed."""
    monkeypatch.setenv("OPENAI_API_KEY", "sk-canary-0123456789abcdef")
    monkeypatch.setenv("HITLAB_MODEL_PRICE_IN", "1")
    monkeypatch.setenv("HITLAB_MODEL_PRICE_OUT", "4")
    monkeypatch.setenv("HITLAB_DB", str(tmp_path / "lab.db"))
    monkeypatch.setenv("COLUMNS", "160")

    def run(*args: str, code: int = 0) -> Any:
        capsys.readouterr()
        assert main([*args]) == code, capsys.readouterr()
        out = capsys.readouterr().out
        return json.loads(out) if "--json" in args else out

    return run


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store.open(tmp_path / "lab.db") as opened:
        yield opened


@contextmanager
def models(monkeypatch: pytest.MonkeyPatch, brain: Callable[[Request], Reply]) -> Iterator[ModelServer]:
    """Models behind the address that the settings name."""
    with serving(brain) as server:
        monkeypatch.setenv("HITLAB_MODEL_BASE", server.base)
        yield server


def reported(hitlab: Hitlab, study: str) -> list[Section]:
    """A study's report, as its JSON has it."""
    report = msgspec.json.decode(json.dumps(hitlab("report", study, "--json")), type=Report)
    return list(report.sections)


def rows(sections: Sequence[Section], id: str) -> list[dict[str, Any]]:
    """A table's rows by column: of a number its value, text as it is."""
    found = table(sections, id)
    sound(sections)
    return [
        {
            name: cell.agreement.value if isinstance(cell, Number) else cell
            for name, cell in zip(found.columns, cells, strict=True)
        }
        for cells in found.rows
    ]


def of(found: Sequence[Mapping[str, Any]], first: str) -> Mapping[str, Any]:
    """The row that begins with these words."""
    (row,) = [one for one in found if next(iter(one.values())) == first]
    return row


# -- PSPA-Bench Table 7 --------------------------------------------------------------------------------------------


NODES = (
    Target("open", "Open", kind="fixed"), Target("pay", "Pay", kind="fixed"),
    Target("size", "The size", kind="flexible"), Target("spice", "How hot", kind="flexible"),
)  # fmt: skip
STATES = ("completed", "not_completed")


@soak
def test_pspa_table_7_and_five_runs(store: Store, hitlab: Hitlab, monkeypatch: pytest.MonkeyPatch) -> None:
    units = [Unit(f"u{at}", runs=(f"r{at}",), targets=NODES) for at in range(4)]
    rated = Rated(store, "tdg", units, [run(f"r{at}", ONE) for at in range(4)], id="graphs")
    for unit in units:
        for code in ("R1", "R2", "R3"):
            rated.say(
                unit.id, code, {(one.id, "state"): "completed" if one.id != "pay" else "not_completed" for one in NODES}
            )
    checklists: list[Request] = []

    def says(item: str, field: str) -> dict[str, Any] | None:
        if field != "state":
            return None
        wrong = item == "spice" and len(checklists) % 5 == 0
        return {"value": "not_completed" if wrong or item == "pay" else "completed", "step": 1}

    sheet = sheet_brain(says)

    def brain(request: Request) -> Said:
        if "You line up the steps" in request.text:
            return Said('{"steps": [{"step": 1, "item": "open"}]}')
        checklists.append(request)
        return sheet(request)

    with models(monkeypatch, brain) as server:
        told = hitlab("judge", "graphs", "--model", PRO, "--as", "pro", "--runs", "5", "--concurrency", "1", "--json")
        assert (told["method"], told["done"], told["asked"], len(server.requests)) == ("pspa", 20, 40, 40)
    report = reported(hitlab, "graphs")
    seven = rows(report, "pspa-e3-table-7-1-before")
    fixed, flexible, overall = (of(seven, f"{name}, run 1") for name in ("Fixed", "Flexible", "Overall"))
    assert [fixed[name] for name in ("Acc.", "Prec.", "Rec.", "F1")] == [1, 1, 1, 1]
    assert fixed["κ"] == 1
    assert flexible["Acc."] == overall["Rec."] == 1
    most = of(seven, "Overall, most of 5 runs")
    assert most["Acc."] == 1
    (steady,) = next(one for one in report if one.title == "How steady the judge is").tables
    assert steady.rows
    text = hitlab("report", "graphs")
    assert "PSPA-Bench Table 7" in text


# -- MemGUI-Bench Tables 9 and 10 ----------------------------------------------------------------------------------


RUNS = [run("r1", ONE, "m3a"), run("r2", ONE, "t3a"), run("r3", TWO, "m3a"), run("r4", TWO, "t3a"), lunch(WHOLE)]
OUTCOMES = {"u1": "success", "u2": "failure", "u3": "success", "u4": "failure", "u5": "failure"}


def staged(request: Request) -> Said:
    """The expensive model is certain of single apps at once, and of the others later; the cheap one says success."""
    end = request.texts[-1]
    if "action_description" in end:
        return Said('{"action_description": "It taps.", "ui_description": "A list."}', usage=(500, 10))
    if "What is asked\n" in end:
        return sheet_brain(lambda item, field: {"value": "success"} if field == "outcome" else None)(request)
    if '"required_steps"' in end:
        return Said('{"reason": "r", "decision": "failure"}')
    return Said(json.dumps({"reason": "r", "decision": "success" if "Mute." in request.text else "uncertain"}))


def test_memgui_tables_9_and_10_by_the_models_at_each_stage(
    store: Store, hitlab: Hitlab, monkeypatch: pytest.MonkeyPatch
) -> None:
    units = [Unit(f"u{at}", runs=(id,)) for at, id in enumerate(("r1", "r2", "r3", "r4", WHOLE), 1)]
    rated = Rated(store, "success", units, RUNS, id="done")
    rated.all_say("outcome", {unit: " ".join([word] * 3) for unit, word in OUTCOMES.items()})
    with models(monkeypatch, staged) as server:
        m1 = hitlab("judge", "done", "--model", PRO, "--as", "M1", "--json")
        m2 = hitlab("judge", "done", "--model", PRO, "--stage-model", f"description={FLASH}", "--as", "M2", "--json")
        g1 = hitlab("judge", "done", "--model", PRO, "--method", "sheet", "--as", "G1", "--json")
        assert (m1["done"], m2["done"], g1["done"]) == (5, 5, 5)
        asked = {(one.json["model"], "action_description" in one.text) for one in server.requests}
    assert asked == {("pro", False), ("pro", True), ("flash", True)}
    assert m1["config_sha"] != m2["config_sha"]
    report = reported(hitlab, "done")
    nine = rows(report, "memgui-table-9")
    single = [one for one in nine if one["Task subset"] == "Single-App (N=2)"]
    assert [one["Evaluator"] for one in single] == ["G1", "M1", "M2"]
    assert [re.sub(r" \(\w{8}\)$", "", one["Model Config."]) for one in single] == [
        f"sheet: {PRO}", f"memgui: {PRO}", f"memgui: {PRO}; description: {FLASH}"
    ]  # fmt: skip
    everything = {one["Evaluator"]: one for one in nine if one["Task subset"] == "All (N=5)"}
    assert everything["M1"]["Prec. (%)"] == pytest.approx(1 / 2), "r1 and r2 are called success, r1 is one"
    assert everything["M1"]["Recall (%)"] == pytest.approx(1 / 2)
    assert everything["G1"]["Recall (%)"] == 1
    price = (1000 + 4 * 20) / 1e6
    described = 6 * (500 + 4 * 10) / 1e6
    assert everything["M1"]["Cost ($)"] == pytest.approx((2 * price + 3 * 2 * price + described) / 5)
    ten = rows(report, "memgui-table-10")
    assert {one["Trajectory source"] for one in ten} == {"m3a (N=2)", "t3a (N=2)", "secret-agent-7b (N=1)"}
    stages = {(one["Evaluator"], one["Stage"]): one for one in rows(report, "memgui-stages")}
    assert [stages["M2", stage]["Model"] for stage in ("triage", "description", "semantic")] == [PRO, FLASH, PRO]
    assert [stages["M2", stage]["Decided"] for stage in ("triage", "description", "semantic")] == [2 / 5, "-", 3 / 5]
    assert [stages["M2", stage]["Questions"] for stage in ("triage", "description", "semantic")] == [5, 6, 3]
    assert stages["M2", "description"]["Tokens sent"] == 6 * 500
    assert stages["M2", "triage"]["Cost ($)"] == pytest.approx(price)
    assert stages["G1", "sheet"]["Decided"] == 1
    acts = hitlab("labels", "done", "--history", "--acts", "--json", "--rater", "M2")
    assert FLASH in json.dumps(acts)


@pytest.mark.parametrize(
    ("typed", "says"),
    [
        (["--stage-model", "triage"], "is not of the form STAGE=NAME"),
        (["--stage-model", "=x"], "is not of the form STAGE=NAME"),
        (["--stage-model", "triage=a", "--stage-model", "triage=b"], "names stage triage twice"),
        (["--stage-model", "descriptor=a"], "'descriptor' is none of"),
        (["--stage-model", "triage=a", "--method", "sheet"], "'triage' is none of"),
    ],
)
def test_a_stage_that_there_is_not_is_refused_and_nothing_is_asked(
    store: Store, hitlab: Hitlab, capsys: pytest.CaptureFixture[str], typed: list[str], says: str
) -> None:
    Rated(store, "success", [Unit("u1", runs=("r1",))], RUNS[:1], id="done")
    assert main(["judge", "done", "--model", PRO, *typed]) == 2
    told = capsys.readouterr().err
    assert says in told
    assert not [act for act in store.labels.acts(store.studies.study("done"), judged=True) if act.act == "judged"]


# -- KnowU-Bench 5a ------------------------------------------------------------------------------------------------


def test_knowu_5a_has_a_hybrid_of_rules_and_judge_and_metrics_take_it(
    store: Store, hitlab: Hitlab, monkeypatch: pytest.MonkeyPatch
) -> None:
    task = library.task("usual_lunch")
    assert task.rule_weight == 0.5
    runs = [checked(built_in(f"k{at}", "usual_lunch", score=score), score) for at, score in enumerate((1.0, 0.4, 0.0))]
    targets = tuple(Target(one.id, one.ask, weight=one.weight) for one in task.rubric.criteria)
    units = [Unit(f"u{at}", runs=(f"k{at}",), targets=targets) for at in range(3)]
    rated = Rated(store, "rubric", units, runs, id="fivea", raters=("R1", "R2", "R3", "R4"))
    for unit, score in zip(units, (0.9, 0.5, 0.1), strict=True):
        for code in rated.study.raters:
            answers: dict[Any, float] = {**{(one.id, "score"): score for one in targets}, "task_score": score}
            rated.say(unit.id, code, answers, note="Zother expert's words")
    scores = {"same": 0.5, "asked": 1.0, "told": 0.25}

    def says(item: str, field: str) -> dict[str, Any]:
        return {"value": scores.get(item, 0.6), "step": 2}

    with models(monkeypatch, sheet_brain(says)) as server:
        told = hitlab("judge", "fivea", "--model", PRO, "--as", "judge", "--json")
    assert (told["method"], told["done"]) == ("sheet", 3)
    assert '- "same": Is it what she always has?' in server.requests[0].text
    assert "The person\n" in server.requests[0].text
    for hidden in (SECRET, "Zother", "R1", "one order", "How it ended", "0.4"):
        assert not any(hidden in one.text for one in server.requests), hidden
    judge = (0.5 * 2 + 1.0 + 0.25 * 2) / 5
    hybrid = [0.5 * rule + 0.5 * judge for rule in (1.0, 0.4, 0.0)]
    errors = [abs(one - expert) for one, expert in zip(hybrid, (0.9, 0.5, 0.1), strict=True)]
    found = rows(reported(hitlab, "fivea"), "evaluators")
    assert [one["Evaluator"] for one in found] == ["rules alone", "judge", "hybrid, judged by judge"]
    assert of(found, "hybrid, judged by judge")["MAE"] == pytest.approx(sum(errors) / 3)
    assert of(found, "rules alone")["MAE"] == pytest.approx((0.1 + 0.1 + 0.1) / 3)
    by_judge = measured(hitlab("metrics", "--study", "fivea", "--rater", "judge", "--paper", "knowu", "--json"))
    assert by_judge == [pytest.approx(sum(hybrid) / 3), 3]
    by_person = measured(hitlab("metrics", "--study", "fivea", "--rater", "R1", "--paper", "knowu", "--json"))
    people = [0.5 * rule + 0.5 * one for rule, one in zip((1.0, 0.4, 0.0), (0.9, 0.5, 0.1), strict=True)]
    assert by_person == [pytest.approx(sum(people) / 3), 3]
    assert measured(hitlab("metrics", "--paper", "knowu", "--json")) == [None, 0]
    store.labels.record_act(Act(uuid7(), "fivea", 1, Actor("human", "A1"), "locked", now()))
    assert measured(hitlab("metrics", "--study", "fivea", "--paper", "knowu", "--json")) == by_person


def checked(imported: Any, score: float) -> Any:
    """A run that rules were checked of."""
    *events, ended = imported.events
    return imported._replace(events=[*events, replace(ended, checks=(("one order", score == 1.0),))])


def measured(told: Mapping[str, Any]) -> list[Any]:
    """The hybrid score and its n."""
    (number,) = [one for group in told["groups"] for one in group["numbers"] if one["metric"] == "Hybrid score"]
    return [number.get("value"), number["n"]]


# -- FingerTip, reply support, completion, pairs -------------------------------------------------------------------


def test_fingertip_table_13_has_a_judges_ratings_beside_the_owners(
    store: Store, hitlab: Hitlab, monkeypatch: pytest.MonkeyPatch
) -> None:
    runs = [run("m1", ONE, "alpha"), run("m2", ONE, "beta"), run("own", ONE, "@R1")]
    units = [Unit(f"u{at}", runs=(id, "own"), owner="R1") for at, id in enumerate(("m1", "m2"), 1)]
    rated = Rated(store, "personal-rating", units, runs, id="ratings", raters=("R1",))
    rated.say("u1", "R1", {"personal": "4"})
    rated.say("u2", "R1", {"personal": "2"})
    with models(monkeypatch, sheet_brain(lambda item, field: {"value": 3, "reason": "r"})) as server:
        hitlab("judge", "ratings", "--model", PRO, "--as", "judge", "--json")
    assert "Run to be judged" in server.requests[0].text
    assert "Run for reference" in server.requests[0].text
    assert not any(name in one.text for one in server.requests for name in ("alpha", "beta", "R1"))
    found = rows(reported(hitlab, "ratings"), "fingertip-table-13")
    assert [(one["Model"], one["User Rating"], one["judge"]) for one in found] == [("alpha", 4, 3), ("beta", 2, 3)]


def test_a_same_intent_judge_stands_against_most_people_as_the_paper_does_not_have_it(
    store: Store, hitlab: Hitlab, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts = {
        "u1": ("Check the weather", "See the weather"),
        "u2": ("Order tea", "Find a tea shop"),
        "u3": ("Mute", "Mute"),
    }
    units = [
        Unit(id, given=(UnitText("What was wanted", one, side="A"), UnitText("The guess", other, side="B")),
             hidden={"source": "secret-guesser"})
        for id, (one, other) in texts.items()
    ]  # fmt: skip
    rated = Rated(store, "same-intent", units, id="same")
    rated.all_say("same", {"u1": "same same not_same", "u2": "not_same not_same same", "u3": "same same same"})

    def brain(request: Request) -> Said:
        same = "Find a tea shop" not in request.text
        return sheet_brain(lambda item, field: {"value": "Same" if same else "not the same"})(request)

    with models(monkeypatch, brain) as server:
        hitlab("judge", "same", "--model", PRO, "--as", "judge", "--json")
    assert any("What was wanted\nOrder tea" in one.text for one in server.requests)
    assert not any(word in one.text for one in server.requests for word in ("secret-guesser", "R1"))
    (judge,) = rows(reported(hitlab, "same"), "fingertip-judges")
    assert [judge[name] for name in ("Acc", "Prec", "Rec", "F1", "Cohen kappa")] == [1, 1, 1, 1, 1]


def test_position_bias_of_a_pairwise_judge_is_in_the_report(
    store: Store, hitlab: Hitlab, monkeypatch: pytest.MonkeyPatch
) -> None:
    def side(name: str, which: Any) -> UnitText:
        return UnitText("Set", items=(f"{name} one", f"{name} two"), side=which)

    units = [Unit(f"p{at}", given=(side("first", "A"), side("second", "B"))) for at in range(4)]
    rated = Rated(store, "pairwise-sets", units, id="pairs")
    for unit in units:
        for code, word in (("R1", "A"), ("R2", "A"), ("R3", "B")):
            rated.say(unit.id, code, {"plausibility": "A", "relevance": "tie", "overall": word})

    def says(item: str, field: str) -> dict[str, Any]:
        return {"value": "A" if field == "overall" else "tie"}

    with models(monkeypatch, sheet_brain(says)):
        hitlab("judge", "pairs", "--model", PRO, "--as", "judge", "--runs", "2", "--json")
    text = hitlab("report", "pairs")
    assert "changes its mind with the sides" in text
    assert re.search(r"prefers the first side +100\.0 %", text)
    validated = msgspec.convert(hitlab("judge", "pairs", "--validate", "--json")["judges"], list[Section])
    (id,) = [one.id for one in validated[0].tables if one.title == "overall: against itself"]
    sides = of(rows(validated, id), "prefers the first side")
    assert (sides["Value"], sides["Items"]) == (1, "4")


def test_completion_is_rated_from_0_to_100_beside_the_rates(
    store: Store, hitlab: Hitlab, monkeypatch: pytest.MonkeyPatch
) -> None:
    units = [Unit(f"u{at}", runs=(f"r{at}",)) for at in range(1, 5)]
    rated = Rated(store, "completion-rating", units, RUNS[:4], id="how-much")
    for unit, value in zip(units, (100, 60, 30, 0), strict=True):
        for code in ("R1", "R2", "R3"):
            rated.say(unit.id, code, {"completion": value})
    replies = iter((90, 50, "40", 130, 10.0))
    with models(monkeypatch, sheet_brain(lambda item, field: {"value": next(replies)})) as server:
        told = hitlab("judge", "how-much", "--model", PRO, "--as", "judge", "--concurrency", "1", "--json")
        assert (told["done"], told["unusable"], len(server.requests)) == (4, 0, 5), "130 is asked for once more"
    judge = of(rows(reported(hitlab, "how-much"), "pspa-e1-metrics"), "judge")
    assert judge["MAE"] == pytest.approx(0.1)
    assert judge["Spearman"] == pytest.approx(1)


def test_replies_are_held_against_the_profile(store: Store, hitlab: Hitlab, monkeypatch: pytest.MonkeyPatch) -> None:
    store.runs.add(lunch(WHOLE))
    unit = Unit(
        "u1", runs=(WHOLE,), question="q1", given=(UnitText("Small or large?", "Large, and no coriander please."),)
    )
    rated = Rated(store, "reply-support", [unit], id="replies")
    rated.all_say("support", {"u1": "supported supported not_in_profile"})
    with models(monkeypatch, sheet_brain(lambda item, field: {"value": "not in it"})) as server:
        hitlab("judge", "replies", "--model", PRO, "--as", "judge", "--json")
    (request,) = server.requests
    assert "Large, and no coriander please." in request.text
    assert request.text.count("sings in the shower") <= 1
    labels = hitlab("labels", "replies", "--rater", "judge", "--json")
    assert "not_in_profile" in json.dumps(labels)
    assert rows(reported(hitlab, "replies"), "support")
