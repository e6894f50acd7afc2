"""What follows from a sheet's answers: by hand, against every path written out, and against the metrics of the case."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from annotators.derived import (
    decisions_derived,
    derived_words,
    irr_derived,
    is_success,
    node_steps,
    rubric_score,
    step_of,
    tdg_derived,
)
from annotators.papers.memgui.irr import irr_of
from annotators.protocols import protocol
from lab.core.run.measured_run import MeasuredRun
from lab.core.study.label import Act, Label
from lab.core.study.protocol import Field, Protocol
from lab.core.study.rating_sheet import Sheet
from lab.core.study.study import Gold, Study, Target, Unit
from lab.core.task.task import Actor, Branch, InformationUnit, Task, Tdg
from tests.annotators.test_pspa import ALL, HALF, TASK, chain, node, numbers, run
from tests.annotators.test_tdg import every_path, graphs
from tests.studies import R1, label, study, unit

NODES = protocol("tdg")
UNITS = protocol("information-units")


def plan(of: Protocol) -> Study:
    return study([unit()], of)


def sheet(protocol: Protocol, of: Unit, answers: dict[str, Any], *, field: str, done: bool = True) -> Sheet:
    """Answers by target: a value, `?` for none that can be given, or (value, step from 1)."""
    rows = []
    for target, said in answers.items():
        value, step = said if isinstance(said, tuple) else (said, None)
        missing = {"reason_missing": "cannot_judge"} if value == "?" else {}
        evidence = {"evidence": f"run-u1@{step}"} if step else {}
        rows.append(label(plan(protocol), of, target, field, None if missing else value, **missing, **evidence))
    acts = [Act("a", "trial", 1, R1, "commit", "2026-04-02T00:00:00+00:00", of.id)] if done else []
    return Sheet(protocol, of, rows, acts)


def graph_unit(tdg: Tdg, **changes: Any) -> Unit:
    targets = tuple(Target(one.id, one.name, kind=one.kind) for one in tdg.walk() if not one.alternatives)
    return unit(tdg=tdg, targets=targets, **changes)


def rated(tdg: Tdg, steps: dict[str, int | None], *, done: bool = True) -> tuple[Unit, Sheet]:
    """A sheet of node answers by steps from 0."""
    of = graph_unit(tdg)
    answers: dict[str, Any] = {
        one.id: "not_completed" if (at := steps[one.id]) is None else ("completed", at + 1)
        for one in tdg.walk()
        if not one.alternatives and one.id in steps
    }
    return of, sheet(NODES, of, answers, field="state", done=done)


# -- nodes -----------------------------------------------------------------------------------------------------


def test_path_rates_and_what_does_not_apply_are_told_in_words() -> None:
    words = dict(derived_words(plan(NODES), *rated(TASK.tdg, HALF)))
    assert words == {
        "path": "open → b → c → end",
        "APR": "50.0% (2 of 4)",
        "PPR": "0.0% (0 of 1)",
        "not applicable": "a",
    }


def test_nothing_is_told_before_the_unit_is_handed_in() -> None:
    of, open_sheet = rated(TASK.tdg, ALL, done=False)
    assert derived_words(plan(NODES), of, open_sheet) == []
    rule = unit(mechanical=(Gold("", "state", "completed", "by rule"),))
    assert derived_words(plan(NODES), rule, sheet(NODES, rule, {}, field="state", done=False)) == []


@pytest.mark.parametrize("steps", [ALL, HALF, {**ALL, "open": None}])
def test_the_metrics_of_the_case_are_the_same(steps: dict[str, int | None]) -> None:
    found = tdg_derived(*rated(TASK.tdg, steps)).aligned
    assert found is not None
    told = numbers(run("1", nodes=steps))
    assert (told["APR", ""].value, told["PPR", ""].value) == (found.apr, found.ppr)


@given(graphs())
def test_the_path_is_the_best_of_all_written_out_and_the_cases_metrics_agree(
    drawn: tuple[Tdg, dict[str, int | None]],
) -> None:
    tdg, steps = drawn
    found = tdg_derived(*rated(tdg, steps))
    assert found.aligned is not None
    on = [one for one in tdg.walk() if one.id in found.aligned.path]
    most = max(
        (
            sum(steps[one.id] is not None for one in path),
            sum(steps[one.id] is not None and one.kind == "flexible" for one in path),
            -len(path),
        )
        for path in every_path(tdg)
    )
    completed = [one for one in on if steps[one.id] is not None]
    assert (len(completed), sum(one.kind == "flexible" for one in completed), -len(on)) == most
    rates = {id: step for id, step in steps.items() if id in found.before}
    told = numbers(run("1", Task("t", "personalized", tdg=tdg), nodes=rates))
    assert told["APR", ""].value == found.aligned.apr
    assert told["PPR", ""].value == found.aligned.ppr
    for id, said in found.before.items():
        expected = said if id in found.aligned.path else "not_applicable"
        assert found.after[id] == expected, "without requirements only the path changes an answer"


def test_the_dependency_rule_is_applied_and_both_sides_are_kept() -> None:
    tdg = chain(node("a"), node("b", "fixed", ["a"]), node("c", "fixed", ["b"]))
    of, rows = rated(tdg, {"a": None, "b": 1, "c": 2})
    found = tdg_derived(of, rows)
    assert found.before == {"a": "not_completed", "b": "completed", "c": "completed"}
    assert found.after == dict.fromkeys("abc", "not_completed")
    words = dict(derived_words(plan(NODES), of, rows))
    assert words["not completed after all"] == "b, c (depends on what is not completed)"
    assert words["APR"] == "0.0% (0 of 3)"
    assert words["PPR"] == "no flexible item on the path"


def test_a_node_that_nobody_could_judge_gives_no_rate_where_it_would_count() -> None:
    of = graph_unit(chain(node("a"), node("b")))
    found = tdg_derived(of, sheet(NODES, of, {"a": ("completed", 1), "b": "?"}, field="state"))
    assert (found.aligned, found.why) == (None, "with a node unrated that would count")
    assert found.after == {"a": "completed", "b": "cannot_judge"}
    of = graph_unit(chain(node("w", "fixed", (), [node("a")], [node("b"), node("c")])))
    found = tdg_derived(of, sheet(NODES, of, {"a": ("completed", 1), "b": "?", "c": "not_completed"}, field="state"))
    assert found.aligned is not None
    assert found.after == {"a": "completed", "b": "not_applicable", "c": "not_applicable"}


def test_an_answer_that_was_undone_is_none() -> None:
    of = graph_unit(chain(node("a")))
    made = sheet(NODES, of, {"a": ("completed", 1)}, field="state")
    [row] = made.rows
    undo = label(plan(NODES), of, "a", "state", None, act="undo", undoes=row.id, supersedes=row.id)
    found = tdg_derived(of, Sheet(NODES, of, [row, undo], []))
    assert (found.aligned, dict(found.before)) == (None, {})


def test_a_step_that_is_not_told_never_decides_between_ways() -> None:
    tdg = chain(node("w", "fixed", (), [node("a")], [node("b")]))
    of = graph_unit(tdg)
    early = tdg_derived(of, sheet(NODES, of, {"a": "completed", "b": ("completed", 9)}, field="state"))
    assert early.aligned is not None
    assert early.aligned.path == ("a",), "both as late as the other, the first declared"
    other = tdg_derived(of, sheet(NODES, of, {"a": ("completed", 9), "b": ("completed", 2)}, field="state"))
    assert other.aligned is not None
    assert other.aligned.path == ("b",)


@pytest.mark.parametrize(("evidence", "step"), [("r@1", 0), ("r@17", 16), ("r@0", None), (None, None), ("r@x", None)])
def test_the_step_is_read_from_the_place(evidence: str | None, step: int | None) -> None:
    row = label(plan(NODES), unit(), "a", "state", "completed", evidence=evidence)
    assert step_of(row) == step
    assert node_steps({"a": row, "b": _no(row)}) == {"a": step or 0, "b": None}


def _no(row: Label) -> Label:
    return label(plan(NODES), unit(), "b", "state", "not_completed", evidence=row.evidence)


def test_the_graph_of_the_units_task_serves_where_the_unit_has_none() -> None:
    of = unit(task=TASK, targets=tuple(Target(id, id) for id in ALL))
    found = tdg_derived(of, sheet(NODES, of, dict.fromkeys(("open", "a", "end"), ("completed", 1)), field="state"))
    assert found.aligned is not None
    assert (found.aligned.path, found.aligned.apr) == (("open", "a", "end"), 1.0), "b and c could not change it"
    assert tdg_derived(unit(), sheet(NODES, unit(), {}, field="state")).why == "without a graph"


# -- information units -----------------------------------------------------------------------------------------


def irr(marks: dict[str, str], done: bool | None, *, explicit: bool | None = True) -> Any:
    of = unit(targets=tuple(Target(id, id) for id in marks), explicit=explicit)
    return irr_derived(of, sheet(UNITS, of, dict(marks), field="use"), done)


def test_the_rules_of_retention() -> None:
    half = {"a": "correct", "b": "wrong", "c": "missing", "d": "correct"}
    assert irr(half, True).value == 1.0
    assert irr(half, False).value == 0.5
    assert irr(half, False, explicit=False).value == 0
    assert irr(dict.fromkeys("abc", "missing"), False).value == 0, "an early failure"
    assert irr(half, None) == (None, "not judged")
    assert irr({**half, "d": "?"}, False) == (None, "with some information units not rated")
    assert irr({}, False) == (None, "without information units")
    mixed = unit(targets=(Target("a", "a", kind="explicit"), Target("b", "b", kind="implicit")))
    rows = sheet(UNITS, mixed, {"a": "correct", "b": "correct"}, field="use")
    assert irr_derived(mixed, rows, False).value == 0.5


@given(
    st.dictionaries(st.sampled_from("abcdefgh"), st.sampled_from(["correct", "wrong", "missing"]), min_size=1),
    st.booleans(),
    st.booleans(),
)
def test_the_rate_is_that_of_the_metrics_over_the_case(marks: dict[str, Any], explicit: bool, done: bool) -> None:
    by_hand = 1.0 if done else sum(mark == "correct" for mark in marks.values()) / len(marks) if explicit else 0.0
    task = Task("t", "general", units=tuple(InformationUnit(id, id, explicit=explicit) for id in marks))
    case = MeasuredRun("1", task, Actor("model", "m"), [], "completed", score=float(done), units=marks)
    assert irr(marks, done, explicit=explicit).value == by_hand == irr_of(case, done).value


def test_the_rate_is_told_only_where_the_outcome_is_known() -> None:
    of = unit(targets=(Target("a", "a"), Target("b", "b")))
    rows = sheet(UNITS, of, {"a": "correct", "b": "wrong"}, field="use")
    assert derived_words(plan(UNITS), of, rows, done=False) == [("IRR", "50.0%")]
    assert derived_words(plan(UNITS), of, rows) == [("IRR", "not judged")]
    assert [is_success(score) for score in (None, 0.0, 1.0)] == [None, False, True]


def test_to_a_person_a_rate_says_why_it_is_what_it_is() -> None:
    of = unit(targets=(Target("a", "a"), Target("b", "b")))
    rows = sheet(UNITS, of, {"a": "correct", "b": "wrong"}, field="use")
    ((_, lost),) = derived_words(plan(UNITS), of, rows, done=False, in_words=True)
    assert lost == "50.0%: 1 of 2 written out as they should be"
    ((_, kept),) = derived_words(plan(UNITS), of, rows, done=True, in_words=True)
    assert kept == (
        "100.0%: the run succeeded, and then all information counts as used, also the 1 that is marked otherwise"
    )


def test_to_a_person_a_path_is_told_by_what_its_items_say() -> None:
    of, rows = rated(TASK.tdg, HALF)
    of = replace(of, targets=tuple(replace(one, says=f"Open  the {one.id}") for one in of.targets))
    words = dict(derived_words(plan(NODES), of, rows, in_words=True))
    assert words["path"] == "Open the open → Open the b → Open the c → Open the end"
    assert words["not applicable"] == "Open the a"


# -- criteria, branches, rules ---------------------------------------------------------------------------------


def test_a_rubrics_score_is_weighted_and_wants_every_criterion() -> None:
    rubric = protocol("rubric")
    of = unit(targets=(Target("a", "A", weight=3), Target("b", "B")))
    found = sheet(rubric, of, {"a": 1.0, "b": 0.0}, field="score")
    assert rubric_score(of, found) == 0.75
    assert derived_words(plan(rubric), of, found) == [("score", "0.75")]
    assert rubric_score(of, sheet(rubric, of, {"a": 1.0, "b": "?"}, field="score")) is None
    assert rubric_score(of, sheet(rubric, of, {"a": 1.0}, field="score")) is None
    scale = Protocol("s", "S", "run", (Field("x", "?", "interval", least=1, most=5),), targets="criteria")
    assert rubric_score(of, sheet(scale, of, {"a": 5, "b": 1}, field="x")) == 0.75


def test_decisions_count_only_where_it_is_known_what_is_right() -> None:
    ways = protocol("decision-points")
    options = ("yes", "no")
    of = unit(targets=tuple(Target(id, id, options=options) for id in "abc"))
    rows = sheet(ways, of, {"a": "yes", "b": "no", "c": "?"}, field="taken")
    assert derived_words(plan(ways), of, rows) == []
    assert derived_words(plan(ways), of, rows, right={"a": ["Yes"], "b": ["yes"], "c": ["no"]}) == [
        ("right decisions", "1 of 2")
    ]
    branches = (Branch("a", "?", options, right="no"),)
    known = unit(targets=of.targets, task=Task("t", "general", branches=branches))
    assert decisions_derived(known, rows, {"a": ["yes"]}).accuracy == 0, "the task's own goes before"
    assert decisions_derived(of, rows).accuracy is None


def test_what_a_rule_settled_is_told_with_its_reason() -> None:
    success = protocol("success")
    of = unit(targets=(), mechanical=(Gold("", "outcome", "failure", "31 steps, more than 2.5 times 12"),))
    assert derived_words(plan(success), of, sheet(success, of, {}, field="outcome")) == [
        ("outcome", "failure, by rule: 31 steps, more than 2.5 times 12")
    ]
