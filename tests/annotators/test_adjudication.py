"""The queue: where people differ, units that move the result most first; held against plain counting."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import krippendorff
import numpy as np
import pytest
from msgspec.structs import replace

from annotators.adjudication import Queue, adjudication_queue
from lab.core.study.adjudication import Settlement
from lab.core.study.label import Act, Label
from lab.core.study.protocol import Field, Option, Protocol
from lab.core.study.rating_sheet import FieldReference
from lab.core.study.study import Assignment, Gold, Study, Target, Unit
from lab.core.task.task import Actor
from lab.core.values.ids_and_clock import now, uuid7
from lab.studies.progress.study_data import load_study_data
from store.store import Store
from tests.studies import STATE, frozen, label, unit

D1 = Actor("human", "D1")
FLAG = Field("partial", "Partly?", "flag", required=False)
NOTE = Field("why", "Why?", "text", required=False)
SHARE = Field("share", "How much?", "interval", per="unit", least=0, most=100, step=1)
PROTOCOL = Protocol("nodes", "Nodes", "run", (STATE, FLAG, NOTE, SHARE), targets="tdg nodes")


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store.open(tmp_path / "lab.db") as opened:
        yield opened


def people(count: int = 3) -> tuple[str, ...]:
    return tuple(f"R{n}" for n in range(1, count + 1))


def tell(
    store: Store, plan: Study, of: Unit, by: str, place: str, value: Any, kind: Any = "human", **more: Any
) -> Label:
    target, _, field = place.partition("/")
    one = label(plan, of, target, field, value, rater=Actor(kind, by), **more)
    store.labels.record(plan, of, one)
    return one


def hand_in(store: Store, plan: Study, of: Unit, *raters: str) -> None:
    for by in raters:
        store.labels.record_act(Act(uuid7(), plan.id, 1, Actor("human", by), "commit", now(), of.id))


def read(store: Store, plan: Study, **more: Any) -> Queue:
    return adjudication_queue(load_study_data(store, plan), locked=store.studies.locked(plan), **more)


def places(found: Queue) -> list[tuple[str, str, str]]:
    return [(one.unit, *one.spot) for one in found.open]


def test_only_where_people_differ(store: Store) -> None:
    u1 = unit("u1")
    plan = frozen(store, [u1], PROTOCOL, raters=people())
    for by, first, second in (("R1", "completed", 1), ("R2", "completed", 1.0), ("R3", "not_completed", 1)):
        tell(store, plan, u1, by, "open/state", first)
        tell(store, plan, u1, by, "pay/state", "completed")
        tell(store, plan, u1, by, "/share", second)
        tell(store, plan, u1, by, "open/why", f"words of {by}")
    tell(store, plan, u1, "R2", "pay/partial", True)
    tell(store, plan, u1, "m", "pay/state", "not_completed", "model", config_sha="x")
    hand_in(store, plan, u1, *people())
    found = read(store, plan)
    assert places(found) == [("u1", "open", "state"), ("u1", "pay", "partial")]
    assert [(one.value, one.people) for one in found.open[0].counts] == [("completed", 2), ("not_completed", 1)]
    assert [(one.value, one.people) for one in found.open[1].counts] == [(False, 2), (True, 1)]
    assert found.open[0].majority is not None
    assert found.open[0].majority.value == "completed"


def test_a_reason_for_no_answer_differs_from_an_answer(store: Store) -> None:
    u1 = unit("u1")
    plan = frozen(store, [u1], PROTOCOL, raters=people(2))
    tell(store, plan, u1, "R1", "open/state", "completed")
    tell(store, plan, u1, "R2", "open/state", None, reason_missing="cannot_judge")
    hand_in(store, plan, u1, *people(2))
    found = read(store, plan)
    assert [(one.value, one.missing, one.people) for one in found.open[0].counts] == [
        ("completed", None, 1), (None, "cannot_judge", 1),
    ]  # fmt: skip
    assert found.open[0].majority is None


def test_pilots_repeats_rules_and_what_is_not_handed_in_never_count(store: Store) -> None:
    ruled = unit("ruled", mechanical=(Gold("open", "state", "completed"),))
    units = [unit("pilot", pilot=True), ruled, unit("once"), unit("open"), unit("real")]
    plan = frozen(store, units, PROTOCOL, raters=people(2))
    for one in units:
        tell(store, plan, one, "R1", "open/state", "completed")
        tell(store, plan, one, "R2", "open/state", "completed" if one.id == "once" else "not_completed")
    store.studies.deal(plan, [Assignment(plan.id, 1, "R1", 9, "once", "repeat", 2)])
    tell(store, plan, units[2], "R1", "open/state", "not_completed", run=2)
    store.labels.record_act(Act(uuid7(), plan.id, 1, Actor("human", "R1"), "commit", now(), "once", 2))
    for one in units:
        hand_in(store, plan, one, *(people(1) if one.id == "open" else people(2)))
    assert places(read(store, plan)) == [("real", "open", "state")]


def test_a_unit_that_somebody_has_still_to_hand_in_waits(store: Store) -> None:
    u1 = unit("u1")
    plan = frozen(store, [u1], PROTOCOL, raters=people())
    tell(store, plan, u1, "R1", "open/state", "completed")
    tell(store, plan, u1, "R2", "open/state", "not_completed")
    hand_in(store, plan, u1, "R1", "R2")
    assert (places(read(store, plan)), read(store, plan).waiting) == ([], 1)
    assert places(read(store, plan, gone={"R3"})) == [("u1", "open", "state")]
    store.labels.record_act(Act(uuid7(), plan.id, 1, D1, "locked", now()))
    assert (places(read(store, plan)), read(store, plan).waiting) == ([("u1", "open", "state")], 0)


def test_what_is_settled_is_told_apart_and_comes_back_when_it_is_withdrawn(store: Store) -> None:
    u1 = unit("u1")
    plan = frozen(store, [u1], PROTOCOL, raters=people(2))
    tell(store, plan, u1, "R1", "open/state", "completed")
    tell(store, plan, u1, "R2", "open/state", "not_completed")
    hand_in(store, plan, u1, *people(2))
    what = Settlement("open", "state", "adjudicator", "completed", reason="x")
    store.adjudications.settle(plan, u1, what, D1)
    found = read(store, plan)
    assert (found.open, [one.settled and one.settled.what.value for one in found.settled]) == ([], ["completed"])
    assert len(found.settled[0].counts) == 2
    store.adjudications.settle(plan, u1, replace(what, value=None, withdrawn=True), D1)
    assert places(read(store, plan)) == [("u1", "open", "state")]


def test_units_that_move_the_result_most_come_first_and_stay_together(store: Store) -> None:
    chance = random.Random(5)
    targets = tuple(Target(f"n{i}", f"Node {i}") for i in range(4))
    units = [unit(f"u{n:02}", targets=targets) for n in range(12)]
    plan = frozen(store, units, PROTOCOL, raters=people())
    said: dict[tuple[str, str], dict[str, str]] = defaultdict(dict)
    for one in units:
        for target in targets:
            for by in people():
                value = chance.choice(["completed", "completed", "not_completed"])
                tell(store, plan, one, by, f"{target.id}/state", value)
                said[one.id, target.id][by] = value
        tell(store, plan, one, "R1", f"{targets[0].id}/partial", True)
        hand_in(store, plan, one, *people())
    found = read(store, plan)
    required = [one for one in found.open if one.spot.field == "state"]
    assert {(one.unit, one.spot.target) for one in required} == {
        place for place, values in said.items() if len(set(values.values())) > 1
    }

    def alpha(without: str) -> float:
        kept = [values for (unit_id, _), values in said.items() if unit_id != without]
        data = np.array([[float(values[by] == "completed") for values in kept] for by in people()])
        return float(krippendorff.alpha(reliability_data=data, level_of_measurement="nominal"))

    whole = alpha("")
    for dispute in required:
        assert dispute.moves == pytest.approx(abs(alpha(dispute.unit) - whole), abs=1e-9)
    moved = {dispute.unit: dispute.moves or 0.0 for dispute in required}
    order = list(dict.fromkeys(dispute.unit for dispute in found.open if dispute.unit in moved))
    assert order == sorted(moved, key=lambda id: (-moved[id], id))
    runs = [dispute.unit for dispute in found.open]
    assert runs == sorted(runs, key=list(dict.fromkeys(runs)).index)


def test_where_nothing_can_move_it_is_still_listed(store: Store) -> None:
    """One unit: without it there is no alpha."""
    u1 = unit("u1")
    plan = frozen(store, [u1], PROTOCOL, raters=people(2))
    for by, value in zip(people(2), (40, 90), strict=True):
        tell(store, plan, u1, by, "/share", value)
    hand_in(store, plan, u1, *people(2))
    found = read(store, plan)
    assert [(one.spot, one.moves) for one in found.open] == [(FieldReference("", "share"), None)]


def test_an_ordinal_question_and_an_empty_study(store: Store) -> None:
    stars = Field("stars", "How good?", "ordinal", tuple(Option(str(n)) for n in range(1, 6)))
    units = [Unit(f"u{n}", (f"run-{n}",)) for n in range(3)]
    plan = frozen(store, units, Protocol("stars", "Stars", "run", (stars,)), raters=people(2))
    assert read(store, plan) == Queue([], [], 0)
    for one, values in zip(units, (("1", "5"), ("3", "4"), ("2", "2")), strict=True):
        for by, value in zip(people(2), values, strict=True):
            tell(store, plan, one, by, "/stars", value)
        hand_in(store, plan, one, *people(2))
    found = read(store, plan)
    assert [one.unit for one in found.open] == ["u0", "u1"]
    assert all(one.moves is not None for one in found.open)
