"""MemGUI-Bench A.7: experts before discussion, consensus, evaluators against it; numbers worked out by hand."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from annotators.papers.memgui.evaluator_table import sections
from annotators.report import sample_section
from annotators.report.provenance import labels_sha
from lab.core.run.judge_call import JudgeCall
from lab.core.study.adjudication import Move, Settlement
from lab.core.study.study import Unit
from lab.core.task.task import Task
from store.store import Store
from tests.papers import Rated, number, row, run, sound, table, value

ONE = Task("one", "general", instruction="Mute.", apps=("a",))
TWO = Task("two", "general", instruction="Copy.", apps=("a", "b"))
RUNS = [
    run("r1", ONE, "m3a"), run("r2", ONE, "m3a"), run("r3", ONE, "t3a"), run("r4", TWO, "t3a"), run("r5", TWO, "t3a"),
]  # fmt: skip
UNITS = [Unit(f"u{i}", runs=(f"r{i}",)) for i in range(1, 6)]
SAID = {
    "u1": "success success success",
    "u2": "success success failure",
    "u3": "failure failure failure",
    "u4": "failure success failure",
    "u5": "success success success",
}
JUDGE = {"u1": "success", "u2": "success", "u3": "failure", "u4": "failure", "u5": "failure"}


@pytest.fixture
def rated(tmp_path: Path) -> Iterator[Rated]:
    with Store.open(tmp_path / "lab.db") as store:
        made = Rated(store, "success", UNITS, RUNS)
        made.all_say("outcome", SAID)
        for unit, word in JUDGE.items():
            made.say(unit, "model:g", {"outcome": word})
        moves = (
            Move("R1", "success", "failure", "undone", "a second order"),
            Move("R2", "success", "failure", "undone"),
        )
        made.settle(
            "u2", Settlement("", "outcome", "discussion", "failure", reason="ordered twice", minutes=12, moves=moves)
        )
        yield made


def test_experts_are_compared_as_they_were_before_any_discussion(rated: Rated) -> None:
    found = sections(rated.studied())
    sound(found)
    experts = row(table(found, "memgui-experts"), "outcome")
    assert value(experts["Pairs agree"]) == pytest.approx((3 + 2 / 3) / 5)
    assert value(experts["All agree"]) == pytest.approx(3 / 5)
    assert value(experts["Fleiss' kappa"]) == pytest.approx((11 / 15 - 0.52) / 0.48)
    assert value(experts["AC1"]) == pytest.approx((11 / 15 - 0.24) / 0.76), "three declared categories, one never used"
    kappa = number(experts["Fleiss' kappa"])
    assert (kappa.places, kappa.units, kappa.traces, kappa.raters, kappa.missing) == (5, 5, 5, 3, 0.0)


def test_consensus_is_told_with_who_moved_how_long_and_why(rated: Rated) -> None:
    found = sections(rated.studied())
    consensus = table(found, "memgui-consensus")
    told = {cells[0]: cells[1] for cells in consensus.rows}
    assert value(told["runs on which experts differed"]) == 2
    assert value(told["settled by discussion"]) == 1
    assert value(told["differing and not settled"]) == 1
    assert value(told["minutes a discussion took (mean)"]) == 12
    assert value(told["discussions longer than 10 minutes"]) == 1
    moves = table(found, "memgui-moves")
    assert [cells[:4] for cells in moves.rows] == [
        ("R1", "success", "failure", "undone"), ("R2", "success", "failure", "undone")
    ]  # fmt: skip


def test_what_is_settled_is_told_by_how_it_was(rated: Rated) -> None:
    rated.settle("u4", Settlement("", "outcome", "majority", "failure", reason="most say so"))
    assert "Places settled: 1 by majority, 1 by discussion." in sample_section.sections(rated.studied())[1].says


def test_evaluators_stand_against_the_consensus_by_kind_of_task_and_by_agent(rated: Rated) -> None:
    found = sections(rated.studied())
    nine = table(found, "memgui-table-9")
    every = row(nine, "All (N=5)")
    assert every["Evaluator"] == "model:g"
    assert [value(every[name]) for name in ("F1 (%)", "Prec. (%)", "Recall (%)", "Accuracy (%)")] == pytest.approx(
        [0.5, 0.5, 0.5, 0.6]
    )
    assert value(every["Kappa"]) == pytest.approx((0.6 - 0.52) / 0.48)
    single = row(nine, "Single-App (N=3)")
    assert [value(single[name]) for name in ("F1 (%)", "Prec. (%)", "Recall (%)")] == pytest.approx([2 / 3, 0.5, 1])
    crossing = row(nine, "Cross-App (N=2)")
    assert number(crossing["Prec. (%)"]).value is None, "it never says success there, so precision is not 0"
    assert value(crossing["Recall (%)"]) == 0
    ten = table(found, "memgui-table-10")
    assert [cells[0] for cells in ten.rows] == ["m3a (N=2)", "t3a (N=3)"]
    assert value(row(ten, "m3a (N=2)")["Prec. (%)"]) == pytest.approx(0.5)
    assert number(every["Cost ($)"]).undefined == "not recorded"


def test_what_a_judgement_cost_is_averaged_over_the_runs_of_which_it_is_told(tmp_path: Path) -> None:
    with Store.open(tmp_path / "lab.db") as store:
        made = Rated(store, "success", UNITS, RUNS)
        made.all_say("outcome", SAID)
        for unit, cost in zip(SAID, (0.01, 0.02, None, 0.05, 0.04), strict=True):
            made.say(unit, "model:g", {"outcome": "success"}, cost=cost)
        before = labels_sha(made.studied())
        made.say("u1", "model:g", {"outcome": "success"}, run=2, cost=9.0)
        found = sections(made.studied())
        costs = {**made.studied().further.costs(), ("u1", "model", "model:g", 1): 0.0}
        other = made.studied()
        other.further = other.further._replace(costs=lambda: costs)
        assert len({before, labels_sha(made.studied()), labels_sha(other)}) == 3, "what it cost is read, so it is told"
    sound(found)
    told = row(table(found, "memgui-table-9"), "All (N=5)")["Cost ($)"]
    assert value(told) == pytest.approx(0.03)
    assert number(told).places == 4
    assert value(row(table(found, "memgui-table-10"), "t3a (N=3)")["Cost ($)"]) == pytest.approx(0.045)


def test_the_stage_that_decided_is_the_last_that_was_asked_for_a_verdict(tmp_path: Path) -> None:

    def call(unit: str, stage: str, judge: str = "model:g", run: int = 1, **changes: Any) -> JudgeCall:
        told = {"model": "pro", "once": False, "prompt_tokens": 100, "completion_tokens": 10, "cost": 0.5, **changes}
        return JudgeCall(judge, unit, run, stage, **told)

    calls = [
        call("u1", "triage"), call("u1", "description", model="flash", once=True), call("u1", "semantic"),
        call("u1", "semantic"), call("u2", "triage"), call("u3", "triage"),
        call("u3", "description", run=2, model="flash", once=True, cost=None), call("u3", "semantic"),
        call("u2", "semantic", run=2), call("u9", "triage"), call("u1", "triage", "model:h"),
    ]  # fmt: skip
    with Store.open(tmp_path / "lab.db") as store:
        made = Rated(store, "success", UNITS, RUNS)
        made.all_say("outcome", SAID)
        for unit, word in JUDGE.items():
            made.say(unit, "model:g", {"outcome": word})
        made.say("u1", "model:h", {"outcome": "?"})
        studied = made.studied()
        before = labels_sha(studied)
        studied.further = studied.further._replace(calls=lambda: calls)
        assert labels_sha(studied) != before, "what stages took is read, so it is told"
        found = sections(studied)
    sound(found)
    rows = {cells[:2]: cells for cells in table(found, "memgui-stages").rows}
    assert list(rows) == [
        ("model:g", "triage"),
        ("model:g", "description"),
        ("model:g", "semantic"),
        ("model:h", "triage"),
    ]
    triage, described, semantic, other = rows.values()
    assert (triage[2], described[2], described[3]) == ("pro", "flash", "-")
    assert [value(triage[3]), value(semantic[3])] == pytest.approx([1 / 3, 2 / 3])
    assert number(other[3]).undefined, "it came to no verdict"
    assert [value(triage[4]), value(described[4]), value(semantic[4])] == [3, 2, 3], "run 2 is asked for nothing else"
    assert value(semantic[5]) == pytest.approx((200 + 100) / 2), "a question that was repaired is two"
    assert value(described[7]) == 0.5


def test_before_anything_is_handed_in_there_is_a_sentence(tmp_path: Path) -> None:
    with Store.open(tmp_path / "lab.db") as store:
        made = Rated(store, "success", UNITS, RUNS)
        assert [section.says for section in sections(made.studied())] == [("Nobody has handed in an outcome yet.",)]
        made.say("u1", "R1", {"outcome": "success"})
        found = sections(made.studied())
        sound(found)
        assert number(row(table(found, "memgui-experts"), "outcome")["Pairs agree"]).undefined
        assert found[-1].says == ("No model or script has rated these runs yet.",)


def test_constant_answers_of_two_experts_and_a_judge_are_words_where_they_are_no_number(tmp_path: Path) -> None:
    with Store.open(tmp_path / "lab.db") as store:
        made = Rated(store, "success", UNITS, raters=("R1", "R2"))
        made.all_say("outcome", dict.fromkeys(SAID, "success success"))
        for unit in SAID:
            made.say(unit, "model:g", {"outcome": "success"})
        found = sections(made.studied())
        sound(found)
        experts = row(table(found, "memgui-experts"), "outcome")
        assert number(experts["Cohen's kappa"]).value is None
        assert value(experts["Pairs agree"]) == 1
        assert "Single-App" not in str(found), "runs that are not in the file tell no apps"


def test_impossible_is_a_category_of_its_own_with_its_reasons(tmp_path: Path) -> None:
    with Store.open(tmp_path / "lab.db") as store:
        made = Rated(store, "success", UNITS, RUNS, raters=("R1", "R2"))
        made.all_say("outcome", dict.fromkeys(("u1", "u2", "u3"), "failure failure"))
        for code in ("R1", "R2"):
            made.say("u4", code, {"outcome": "impossible", "why_impossible": "ambiguous"})
        made.say("u4", "model:g", {"outcome": "failure"})
        found = sections(made.studied())
    sound(found)
    experts = table(found, "memgui-experts")
    assert "Reasons given for impossible: ambiguous 2. Where few tasks are, AC1 is the one to read." in experts.notes
    assert value(row(table(found, "memgui-table-9"), "All (N=1)")["Accuracy (%)"]) == 0
