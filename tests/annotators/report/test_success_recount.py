"""MemGUI-Bench A.7, each cell counted anew: experts who skip, differ and settle; evaluators of parts; one withdrew.

Answers are drawn by a seed, in a soak by two.
"""

from __future__ import annotations

from functools import partial
from random import Random
from typing import Any, NamedTuple

import pytest

from annotators.protocols import protocol
from lab.core.study.study import Unit
from lab.core.task.task import Task
from store.store import Store
from tests.annotators.report import recounting as re
from tests.annotators.report.recounting import Answers, Lab, Row, Table, same
from tests.crossed import crossed, spread
from tests.papers import run
from tests.studies import frozen

pytestmark = crossed
EXPERTS = ("R1", "R2", "R3")
JUDGES = ("gpt:all", "gpt:half", "gpt:yes")
ONE = Task("one", "general", instruction="Do it.", apps=("a",), traits={"cross_app": "no"})
TWO = Task("two", "general", instruction="Do it.", apps=("a", "b"), traits={"cross_app": "yes"})
UNITS = {f"u{at:02}": ("m3a" if at % 3 else "t3a", ONE if at % 2 else TWO) for at in range(14)}
SETTLED = {"u03": "failure", "u08": "success"}
"""What an adjudicator settled, whatever the experts say."""


def _said(draw: Random, unit: str, careless: float) -> dict[str, Any]:
    """Mostly: runs of one app succeed; some otherwise, some impossible, some with a reason."""
    if draw.random() < 0.15:
        return {"unit": unit, "field": "outcome", "missing": draw.choice(["cannot_judge", "skipped"])}
    good = unit == "p0" or UNITS[unit][1] is ONE
    if draw.random() < careless:
        word = draw.choice(["success", "failure", "impossible"])
    else:
        word = "success" if good else "failure"
    return {"unit": unit, "field": "outcome", "value": word}


def _sheet(row: dict[str, Any]) -> list[dict[str, Any]]:
    why = (
        [{"unit": row["unit"], "field": "why_impossible", "value": "ambiguous"}]
        if row.get("value") == "impossible"
        else []
    )
    return [row, *why, {"unit": row["unit"], "commit": True}]


class Made(NamedTuple):
    """The study's answers and tables, and what its answers cost."""

    answers: Answers
    tables: dict[str, Table]
    costs: dict[str, float]


@pytest.fixture(scope="module", params=spread((1, 2), 1))
def made(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Made:
    lab = Lab(tmp_path_factory.mktemp("success"))
    with Store.open(lab.db) as store:
        store.runs.add_all([run(f"run-{id}", task, agent) for id, (agent, task) in UNITS.items()])
        units = [Unit(id, runs=(f"run-{id}",)) for id in UNITS] + [Unit("p0", runs=("run-u00",), pilot=True)]
        frozen(store, units, protocol("success"), id="a7", raters=(*EXPERTS, "R4"))
    draw = Random(request.param)
    for rater, careless in zip((*EXPERTS, "R4"), (0.2, 0.3, 0.5, 0.9), strict=True):
        left = {"R1": set(), "R2": {"u01"}, "R3": {"u01", "u02", "u05"}, "R4": set(list(UNITS)[4:])}[rater]
        for unit in (*UNITS, "p0"):
            if unit not in left:
                lab.label("a7", rater, _sheet(_said(draw, unit, careless)))
    costs = {unit: 0.01 * at for at, unit in enumerate(list(UNITS)[2:9], 1)}
    every = [{**_said(draw, unit, 0.3), **({"cost": costs[unit]} if unit in costs else {})} for unit in UNITS]
    lab.label("a7", "gpt:all", every)
    lab.label("a7", "gpt:all", [_said(draw, unit, 0.5) for unit in list(UNITS)[3:]], run=2)
    lab.label("a7", "gpt:half", [_said(draw, unit, 0.1) for unit in list(UNITS)[::2]])
    lab.label("a7", "gpt:yes", [{"unit": unit, "field": "outcome", "value": "success"} for unit in UNITS])
    lab.hitlab("withdraw", "R4", "--yes")
    lab.hitlab("study", "lock", "a7", "--even-so")
    for unit, word in SETTLED.items():
        lab.hitlab(
            "adjudicate", "a7", "--unit", unit, "--field", "outcome", "--value", word, "--reason", "seen", "--as", "A1"
        )
    return Made(lab.answers("a7"), lab.tables("a7"), costs)


def _items(answers: Answers, *columns: str) -> list[Row]:
    return [
        Row(unit, "", f"run-{unit}", tuple(answers.at(unit, "", "outcome", rater) for rater in columns))
        for unit in UNITS
    ]


def test_experts_before_discussion(made: Made) -> None:
    items = _items(made.answers, *EXPERTS)
    row = made.tables["memgui-experts"].row("outcome")
    same(row["Fleiss' kappa"], re.fleiss, items)
    same(row["AC1"], re.ac1(3), items)
    same(row["Pairs agree"], re.pairs_agree, items, least=0.0, adds=2)
    same(row["All agree"], re.all_agree, items, least=0.0, adds=2)


PARTS = {
    "All": set(UNITS),
    "Single-App": {unit for unit, (_, task) in UNITS.items() if task is ONE},
    "Cross-App": {unit for unit, (_, task) in UNITS.items() if task is TWO},
    "m3a": {unit for unit, (agent, _) in UNITS.items() if agent == "m3a"},
    "t3a": {unit for unit, (agent, _) in UNITS.items() if agent == "t3a"},
}


@pytest.mark.parametrize("part", PARTS)
@pytest.mark.parametrize("judge", JUDGES)
def test_evaluators_against_the_experts(made: Made, part: str, judge: str) -> None:
    table = made.tables["memgui-table-10" if part in ("m3a", "t3a") else "memgui-table-9"]
    (cells,) = [row for row in table.rows if row[0].startswith(f"{part} (N=") and row[1] == judge]
    row = dict(zip(table.columns, cells, strict=True))
    people = [one for one in _items(made.answers, *EXPERTS) if one.unit in PARTS[part]]
    own = {(unit, ""): made.answers.at(unit, "", "outcome", judge) for unit in UNITS}
    both = re.beside_truth(people, own, {(unit, ""): word for unit, word in SETTLED.items()})
    assert cells[0] == f"{part} (N={re.counts(both).places})"
    assert row["Model Config."].startswith("a prompt (")
    check = partial(same, rows=both, by_item=True, adds=2)
    for name, what in (
        ("F1 (%)", "f1"),
        ("Prec. (%)", "precision"),
        ("Recall (%)", "recall"),
        ("Accuracy (%)", "accuracy"),
    ):
        check(row[name], re.Judged(what, "success"), least=0.0, where=(part, judge, what))
    check(row["Kappa"], re.cohen, where=(part, judge, "kappa"))
    check(row["AC1"], re.ac1(3), where=(part, judge, "ac1"))
    told = row["Cost ($)"]["agreement"]
    paid = [made.costs[one.unit] for one in people if one.values and one.unit in made.costs and judge == "gpt:all"]
    assert told.get("value") == (pytest.approx(sum(paid) / len(paid)) if paid else None)
    assert told.get("places", 0) == len(paid)


def test_what_is_not_settled_is_told(made: Made) -> None:
    items = _items(made.answers, *EXPERTS)
    differ = {one.unit for one in items if len(set(one.values)) > 1}
    table = made.tables["memgui-consensus"]
    told = {
        row[0]: row[1]["agreement"].get("value", 0)
        for row in table.rows
        if row[0] != "minutes a discussion took (mean)"
    }
    assert told["runs on which experts differed"] == len(differ)
    assert told["settled by an adjudicator"] == len(SETTLED)
    assert told["differing and not settled"] == len(differ - set(SETTLED))


def test_who_withdrew_counts_nowhere(made: Made) -> None:
    for table in made.tables.values():
        for cell in (cell for row in table.rows for cell in row):
            assert "R4" not in (cell if isinstance(cell, str) else cell["agreement"].get("between", ""))
