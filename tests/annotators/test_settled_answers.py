"""What raters settled about runs: one's word, most's word, and nothing where there is none."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotators.protocols import protocol
from annotators.settled import settled_marks
from lab.core.errors import LabError
from lab.core.study.adjudication import Settlement, SignedSettlement
from lab.core.study.label import Label
from lab.core.study.protocol import Protocol
from lab.core.study.rating_sheet import FieldReference
from lab.core.study.study import Gold, Target, Unit
from lab.core.task.task import Actor
from tests.studies import label, study, unit

NODES, UNITS, WAYS, SUCCESS, RUBRIC = map(
    protocol, ("tdg", "information-units", "decision-points", "success", "rubric")
)
OPEN_PAY = unit(targets=(Target("open", "Open"), Target("pay", "Pay")))


def rows(of: Protocol, by: str, answers: dict[str, Any], about: Unit = OPEN_PAY, field: str = "state") -> list[Label]:
    """One rater's answers by target: a value, `?`, or (value, step from 1)."""
    found = []
    for target, said in answers.items():
        value, step = said if isinstance(said, tuple) else (said, None)
        changes: dict[str, Any] = {"rater": Actor("human", by)}
        if value == "?":
            changes["reason_missing"] = "cannot_judge"
        if step:
            changes["evidence"] = f"{about.runs[0]}@{step}"
        found.append(label(study([about], of), about, target, field, None if value == "?" else value, **changes))
    return found


def marks(of: Protocol, about: Unit, *labels: list[Label]) -> Any:
    found = settled_marks(study([about], of), [about], [one for some in labels for one in some])
    return found[0][1] if found else None


def test_most_raters_say_what_is_settled_and_the_middle_step_is_taken() -> None:
    said = [
        rows(NODES, "R1", {"open": ("completed", 2), "pay": ("completed", 9)}),
        rows(NODES, "R2", {"open": ("completed", 7), "pay": ("not_completed", 9)}),
        rows(NODES, "R3", {"open": ("completed", 3), "pay": ("not_completed", 4)}),
    ]
    assert marks(NODES, OPEN_PAY, *said).nodes == {"open": 3, "pay": None}
    assert marks(NODES, OPEN_PAY, said[0]).nodes == {"open": 2, "pay": 9}
    assert marks(NODES, OPEN_PAY, *said[:2]).nodes == {"open": 2}, "one to one is nobody's majority"


def test_undecided_is_not_wrong() -> None:
    one = rows(NODES, "R1", {"open": "?", "pay": ("completed", 9)})
    two = rows(NODES, "R2", {"open": "?", "pay": ("completed", 9)})
    three = rows(NODES, "R3", {"open": "not_completed", "pay": "?"})
    assert marks(NODES, OPEN_PAY, one, two, three).nodes == {"pay": 9}
    assert marks(NODES, OPEN_PAY, three, one) is None
    assert marks(NODES, OPEN_PAY) is None


def test_a_step_that_nobody_told_is_as_late_as_the_latest() -> None:
    assert marks(NODES, OPEN_PAY, rows(NODES, "R1", {"open": "completed", "pay": ("completed", 8)})).nodes == {
        "open": 8,
        "pay": 8,
    }
    assert marks(NODES, OPEN_PAY, rows(NODES, "R1", {"open": "completed"})).nodes == {"open": 1}


def test_a_rubric_settles_the_weighted_mean_of_its_criteria_for_the_hybrid_score() -> None:
    about = unit(targets=(Target("same", "The same?", weight=3), Target("asked", "Asked?")))
    one = rows(RUBRIC, "R1", {"same": 1, "asked": 0.5}, about, "score")
    two = rows(RUBRIC, "R2", {"same": 0.5, "asked": "?"}, about, "score")
    assert marks(RUBRIC, about, one).marks == {"llm": pytest.approx((3 * 1 + 0.5) / 4)}
    assert marks(RUBRIC, about, one, two).marks == {"llm": pytest.approx((3 * 0.75 + 0.5) / 4)}
    assert marks(RUBRIC, about, two) is None, "a criterion that nobody rated leaves the run unscored"
    what = Settlement("asked", "score", "adjudicator", 1.0, reason="she was")
    decided = {("u1", FieldReference("asked", "score")): SignedSettlement("u1", what, Actor("human", "A1"), "")}
    found = settled_marks(study([about], RUBRIC), [about], [*one, *two], decided)
    assert found[0][1].marks == {"llm": pytest.approx((3 * 0.75 + 1) / 4)}


@given(st.lists(st.sampled_from(["completed", "not_completed", "?"]), min_size=1, max_size=7))
def test_most_is_more_than_half_of_all_who_said_anything(said: list[str]) -> None:
    found = marks(NODES, OPEN_PAY, *(rows(NODES, f"R{i}", {"open": one}) for i, one in enumerate(said)))
    value, count = Counter(said).most_common(1)[0]
    if 2 * count > len(said) and value != "?":
        assert (found.nodes["open"] is not None) == (value == "completed")
    else:
        assert found is None


def test_each_protocol_fills_what_its_metrics_read() -> None:
    used = rows(UNITS, "R1", {"open": "correct", "pay": "missing"}, field="use")
    assert marks(UNITS, OPEN_PAY, used).units == {"open": "correct", "pay": "missing"}
    about = unit(targets=(Target("sold", "Sold out?", options=("yes", "no")),))
    assert marks(WAYS, about, rows(WAYS, "R1", {"sold": "no"}, about, "taken")).branches == {"sold": "no"}
    whole = unit(targets=())
    for option, value in (("success", 1.0), ("failure", 0.0)):
        found = marks(SUCCESS, whole, rows(SUCCESS, "R1", {"": option}, whole, "outcome"))
        assert found.marks == {"success": value, "sr2": value}
    assert marks(SUCCESS, whole, rows(SUCCESS, "R1", {"": "impossible"}, whole, "outcome")) is None
    same = protocol("same-intent")
    assert marks(same, whole, rows(same, "R1", {"": "same"}, whole, "same")).marks == {"sr1": 1.0}
    assert marks(same, whole, rows(same, "R1", {"": "cannot_tell"}, whole, "same")) is None


def test_a_rule_goes_before_people_and_pilot_units_count_for_nothing() -> None:
    whole = unit(targets=(), mechanical=(Gold("", "outcome", "failure", "too long"),))
    said = rows(SUCCESS, "R1", {"": "success"}, whole, "outcome")
    assert marks(SUCCESS, whole, said).marks["success"] == 0
    assert marks(SUCCESS, whole).marks["success"] == 0
    pilot = unit(targets=OPEN_PAY.targets, pilot=True)
    assert marks(NODES, pilot, rows(NODES, "R1", {"open": "completed"})) is None


def test_what_no_metric_reads_and_two_units_of_one_run_are_refused() -> None:
    modes, whole = protocol("failure-mode-memgui"), unit(targets=())
    with pytest.raises(LabError, match="asks nothing that a metric reads"):
        marks(modes, whole, rows(modes, "R1", {"": "other"}, whole, "primary"))
    two = [unit("u1", runs=("r",)), unit("u2", runs=("r",))]
    said = [*rows(NODES, "R1", {"open": "completed"}, two[0]), *rows(NODES, "R1", {"open": "completed"}, two[1])]
    with pytest.raises(LabError, match="is about run r, as study trial v1, unit u1 is"):
        settled_marks(study(two, NODES), two, said)


def adjudicated(about: Unit, target: str, value: Any, field: str = "state", **more: Any) -> dict[Any, SignedSettlement]:
    what = Settlement(target, field, "adjudicator", value, reason="Look at step 2.", **more)
    return {(about.id, FieldReference(target, field)): SignedSettlement(about.id, what, Actor("human", "D1"), "2026")}


def test_what_was_adjudicated_stands_in_place_of_the_majority_at_the_steps_of_who_say_so() -> None:
    said = [
        *rows(NODES, "R1", {"open": ("completed", 2), "pay": ("completed", 9)}),
        *rows(NODES, "R2", {"open": ("not_completed", 7), "pay": ("not_completed", 9)}),
        *rows(NODES, "R3", {"open": ("not_completed", 3), "pay": ("not_completed", 4)}),
    ]
    plan = study([OPEN_PAY], NODES)

    def nodes(decided: dict[Any, SignedSettlement]) -> Any:
        found = settled_marks(plan, [OPEN_PAY], said, decided)
        return found[0][1].nodes if found else None

    assert nodes({}) == {"open": None, "pay": None}
    assert nodes(adjudicated(OPEN_PAY, "open", "completed")) == {"open": 2, "pay": None}
    assert nodes(adjudicated(OPEN_PAY, "open", None, reason_missing="cannot_judge")) == {"pay": None}
    nobody = adjudicated(OPEN_PAY, "open", "completed")
    assert settled_marks(plan, [OPEN_PAY], [], nobody)[0][1].nodes == {"open": 1}


def test_a_rule_is_stronger_than_who_adjudicates_and_pilots_still_count_for_nothing() -> None:
    ruled = unit(targets=OPEN_PAY.targets, mechanical=(Gold("open", "state", "not_completed"),))
    decided = adjudicated(ruled, "open", "completed")
    found = settled_marks(study([ruled], NODES), [ruled], rows(NODES, "R1", {"pay": ("completed", 3)}, ruled), decided)
    assert found[0][1].nodes == {"open": None, "pay": 3}
    pilot = unit(targets=OPEN_PAY.targets, pilot=True)
    assert settled_marks(study([pilot], NODES), [pilot], [], adjudicated(pilot, "open", "completed")) == []
