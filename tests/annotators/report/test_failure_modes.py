"""Failure modes of MemGUI-Bench and DAC-Bench: shares of executions and of failures, agents, coders; by hand."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from annotators.agreement.intervals.intervals import wilson
from annotators.papers.dac import failure_table as dac_failures
from annotators.papers.memgui import failure_table as memgui_failures
from lab.core.study.adjudication import Settlement
from lab.core.study.report import Bars
from lab.core.study.study import Gold, Unit
from lab.core.task.task import Task
from store.store import Store
from tests.papers import Rated, column, number, row, run, sound, table, value

T = Task("t", "general", instruction="Note it.")
FAILED = ["f1", "f2", "f3", "f4", "f5", "f6"]
AGENT = {"f1": "A", "f2": "A", "f3": "B", "f4": "B", "f5": "B", "f6": "B"}
RUNS = [
    *(run(id, T, AGENT[id], status="budget" if id in ("f1", "f3") else "failed", score=0.0) for id in FAILED),
    *(run(f"s{i}", T, "A") for i in range(4)),
]
PARTIAL, PROCESS, OTHER = "partial_memory_hallucination", "process_memory_hallucination", "other"
TIMEOUT = Gold("", "primary", "execution_timeout", "ended by its limit")
UNITS = [Unit(id, runs=(id,), mechanical=(TIMEOUT,) if id in ("f1", "f3") else ()) for id in FAILED]


@pytest.fixture
def rated(tmp_path: Path) -> Iterator[Rated]:
    with Store.open(tmp_path / "lab.db") as store:
        made = Rated(store, "failure-mode-memgui", UNITS, RUNS, raters=("R1", "R2"))
        made.all_say("primary", {"f2": f"{PARTIAL} {PARTIAL}", "f4": f"{PROCESS} {PROCESS}"})
        made.say("f5", "R1", {"primary": PROCESS, "secondary": OTHER})
        made.say("f5", "R2", {"primary": PARTIAL})
        made.say("f6", "R1", {"primary": PARTIAL, "secondary": OTHER})
        made.say("f6", "R2", {"primary": OTHER})
        yield made


def test_shares_of_executions_of_failures_and_of_those_within_the_limit_are_apart(rated: Rated) -> None:
    found = memgui_failures.sections(rated.studied())
    sound(found)
    modes = table(found, "memgui-modes")
    assert [cells[0] for cells in modes.rows] == [
        "execution timeout", "partial memory hallucination", "process memory hallucination",
        "output memory hallucination", "knowledge deficiency", "intent misunderstanding", "other",
    ], "the paper's order, not that of precedence"  # fmt: skip
    timeout = row(modes, "execution timeout")
    assert value(timeout["n"]) == 2
    assert value(timeout["Of executions"]) == pytest.approx(2 / 10)
    assert value(timeout["Of failures"]) == pytest.approx(2 / 4)
    assert timeout["Of failures within the limit"] == "by rule"
    partial = row(modes, "partial memory hallucination")
    assert value(partial["Of failures within the limit"]) == pytest.approx(1 / 2)
    [bars] = found[0].pictures
    assert isinstance(bars, Bars)
    assert dict(zip(bars.says, (one.value for one in bars.bars), strict=True))["execution timeout"] == 0.5
    share = number(partial["Of executions"])
    assert (share.low, share.high) == pytest.approx(wilson(1, 10))
    assert found[0].says == ("2 runs have no settled mode and stand in no share: coders differ, or one is missing.",)


def test_each_judges_shares_stand_beside_peoples_of_the_same_runs(rated: Rated) -> None:
    assert not [
        one for section in memgui_failures.sections(rated.studied()) for one in section.tables if "judges" in one.id
    ]
    for unit, mode in {"f2": PARTIAL, "f4": PARTIAL, "f5": PROCESS, "f6": "?"}.items():
        rated.say(unit, "m:j", {"primary": mode})
    found = memgui_failures.sections(rated.studied())
    sound(found)
    judges = table(found, "memgui-judges")
    assert [cells[0] for cells in judges.rows] == ["m:j", "people where m:j answered"]
    own, people = (row(judges, str(cells[0])) for cells in judges.rows)
    assert (value(own["Failures"]), value(people["Failures"])) == (3, 2)
    assert value(own["partial memory hallucination"]) == pytest.approx(2 / 3)
    assert value(people["partial memory hallucination"]) == pytest.approx(1 / 2)
    assert number(own["other"]).reasons == {"cannot_judge": 1}
    assert "execution timeout" not in own, "a rule sets it"


def test_executions_are_not_guessed_at_where_some_failures_are_not_in_the_study(tmp_path: Path) -> None:
    with Store.open(tmp_path / "lab.db") as store:
        made = Rated(store, "failure-mode-memgui", UNITS[1:2], RUNS, raters=("R1", "R2"))
        made.all_say("primary", {"f2": f"{PARTIAL} {PARTIAL}"})
        found = memgui_failures.sections(made.studied())
        sound(found)
        share = number(row(table(found, "memgui-modes"), "execution timeout")["Of executions"])
        assert share.undefined == "1 failed run is not in the study"
        success = Rated(store, "success", [Unit(f"u-{id}", runs=(id,)) for id in ("f1", "f2", "s0")])
        found = memgui_failures.sections(made.studied(success.study.id))
        share = number(row(table(found, "memgui-modes"), "partial memory hallucination")["Of executions"])
        assert share.value == pytest.approx(1 / 3), "a study of success beside tells what the executions were"


def test_agents_stand_apart_and_timeouts_are_not_in_their_shares(rated: Rated) -> None:
    agents = table(memgui_failures.sections(rated.studied()), "memgui-agents")
    assert column(agents, "Failures") == {"A": 1, "B": 1}
    assert value(row(agents, "A")["partial memory hallucination"]) == 1
    assert value(row(agents, "B")["process memory hallucination"]) == 1
    assert "execution timeout" not in agents.columns


def test_coders_agree_on_one_mode_or_have_one_in_common(rated: Rated) -> None:
    found = memgui_failures.sections(rated.studied())
    coders = column(table(found, "memgui-coders"), "Value")
    assert coders["pairs agree"] == coders["all agree (Wilson)"] == pytest.approx(2 / 4)
    assert coders["a primary or secondary mode in common (Wilson)"] == pytest.approx(3 / 4)
    r1, r2 = {"partial": 2, "process": 2}, {"partial": 2, "process": 1, "other": 1}
    chance = sum(r1[name] / 4 * r2[name] / 4 for name in r1)
    assert coders["Cohen's kappa"] == pytest.approx((0.5 - chance) / (1 - chance))
    assert column(table(found, "memgui-secondary"), "Times given") == {"other": 2}


def test_what_is_adjudicated_counts_in_place_of_a_tie(rated: Rated) -> None:
    rated.settle("f5", Settlement("", "primary", "adjudicator", PROCESS, reason="it stopped too early"))
    found = memgui_failures.sections(rated.studied())
    assert value(row(table(found, "memgui-modes"), "process memory hallucination")["n"]) == 2
    assert value(row(table(found, "memgui-coders"), "pairs agree")["Value"]) == 0.5, "what coders said stays"


def test_a_study_of_nothing_but_timeouts_or_nothing_at_all(tmp_path: Path) -> None:
    with Store.open(tmp_path / "lab.db") as store:
        made = Rated(store, "failure-mode-memgui", UNITS[:1], RUNS, raters=("R1",))
        found = memgui_failures.sections(made.studied())
        sound(found)
        assert number(row(table(found, "memgui-modes"), "other")["Of failures within the limit"]).undefined
        empty = Rated(store, "failure-mode-dac", UNITS[1:2], raters=("R1",))
        assert dac_failures.sections(empty.studied())[0].says == (
            "No failure has a settled mode yet.",
            "1 run has no settled mode and stands in no share: coders differ, or one is missing.",
        )


def test_dacs_modes_are_summed_to_reasoning_and_perception(tmp_path: Path) -> None:
    units = [Unit(id, runs=(id,)) for id in FAILED[:4]]
    with Store.open(tmp_path / "lab.db") as store:
        made = Rated(store, "failure-mode-dac", units, RUNS, raters=("R1", "R2"))
        words = ("branch_ignored", "inconsistent_reasoning", "localization", "other")
        made.all_say("primary", {unit.id: f"{word} {word}" for unit, word in zip(units, words, strict=True)})
        found = dac_failures.sections(made.studied())
    sound(found)
    modes = column(table(found, "dac-modes"), "Of failures")
    assert (modes["all of reasoning"], modes["all of perception"], modes["other"]) == (0.5, 0.25, 0.25)
    assert value(row(table(found, "dac-coders"), "pairs agree")["Value"]) == 1
