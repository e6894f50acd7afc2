"""DAC-Bench's studies, each cell counted anew: proofreading, decisions by depth, right steps."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from random import Random
from typing import Any

import pytest
from msgspec.structs import replace

from annotators.protocols import protocol
from lab.core.run.run_records import Imported, number_events
from lab.core.run.step import Action
from lab.core.run.trace import Flagged
from lab.core.study.study import Target, Unit
from lab.core.task.task import Actor, Branch, Task
from store.store import Store
from tests.annotators.report import recounting as re
from tests.annotators.report.recounting import Answers, Lab, Row, Said, same
from tests.papers import TAP, run
from tests.studies import frozen

RATERS = ("P1", "P2", "P3")
ASKED = (Branch("b1", "Which?", ("left", "right"), right="left"), Branch("b2", "And?", ("up", "down"), right="up"))
FORK = Task("fork", "general", instruction="Take the right way.", branches=ASKED)
RUNS = {f"d{at:02}": "m3a" if at % 3 else "t3a" for at in range(11)}
STEPS = {f"{id}-{n}": id for id in list(RUNS)[:6] for n in (0, 1)}
STRUCTURES = ("Sequential", "Conditional", "Sequential", "", "Loop", "Hierarchical", "Sequential", "")
APPS: tuple[tuple[str, ...], ...] = (("mail",), ("shop", "pay"), (), ("mail", "maps"), ("notes",))
SCROLL, TYPE, HOLD = Action("scroll", direction="down"), Action("input_text", text="hi"), Action("long_press", (1, 2))
DRAG, HOME, DONE = Action("drag", (1, 2), to=(3, 4)), Action("navigate_home"), Action("status", status="complete")
GIVEN_UP = Action("status", status="infeasible", text="ambiguous")
ACTIONS = ([SCROLL, DONE], [TYPE, HOLD, GIVEN_UP], [DRAG, HOME, SCROLL, DONE], [GIVEN_UP])
SLIPS = {"d02": 1, "d05": 0, "d07": 2}
"""What their recorder called a slip: a step (from 0) of a demonstration."""
WAYS = {"b1": ("left", "right"), "b2": ("up", "down")}


def _targets(study: str) -> tuple[Target, ...]:
    if study == "demonstration":
        return tuple(Target(f"s{n}", f"Step {n + 1}", step=n) for n in range(2))
    return tuple(
        Target(id, id, kind=f"depth {depth}", options=WAYS[id]) for depth, id in enumerate(WAYS, 1)
    )  # fmt: skip


def _freeze(db: Path) -> None:
    with Store.open(db) as store:
        store.runs.add_all([_recorded(at, id, agent) for at, (id, agent) in enumerate(RUNS.items())])
        for study in ("demonstration", "decision-points"):
            units = [Unit(id, runs=(f"run-{id}",), targets=_targets(study)) for id in RUNS]
            frozen(store, units, protocol(study), id=study, raters=RATERS)
        steps = [Unit(id, runs=(f"run-{of}",), step=int(id[-1])) for id, of in STEPS.items()]
        frozen(store, steps, protocol("step-correct"), id="step-correct", raters=RATERS)


def _recorded(at: int, id: str, agent: str) -> Imported:
    structure = STRUCTURES[at % len(STRUCTURES)]
    task = replace(
        FORK, id=f"fork-{at}", apps=APPS[at % len(APPS)], traits={"structure": structure} if structure else {}
    )
    made = run(f"run-{id}", task, agent, [*TAP, *TAP, *ACTIONS[at % len(ACTIONS)]])
    *before, last = made.events
    flags = [Flagged(index=SLIPS[id], by=Actor("model", agent))] if id in SLIPS else []
    return made._replace(events=number_events([*before, *flags, last]))


def _rows(draw: Random, study: str, units: Sequence[str]) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = []

    def say(unit: str, field: str, words: Sequence[str], target: str = "") -> str:
        row = {"unit": unit, "field": field, "target": target}
        lacks = draw.random() < 0.12
        word = words[0] if draw.random() < 0.6 else draw.choice(words)
        rows.append({**row, **({"missing": "cannot_judge"} if lacks else {"value": word})})
        return "" if lacks else word

    for unit in units:
        if study == "demonstration":
            for target in ("s0", "s1"):
                if say(unit, "verdict", ("accept", "reject", "edit"), target) == "edit":
                    rows.append({"unit": unit, "field": "correction", "target": target, "value": "tap there"})
            if say(unit, "whole", ("possible", "possible", "impossible")) == "impossible":
                rows.append({"unit": unit, "field": "why_impossible", "value": "ambiguous"})
        elif study == "decision-points":
            for target, ways in WAYS.items():
                say(unit, "taken", ways, target)
        elif say(unit, "correct", ("right", "wrong")) == "wrong":
            say(unit, "error", ERRORS)
        rows.append({"unit": unit, "commit": True})
    return rows


ERRORS = tuple(
    option.id for field in protocol("step-correct").fields if field.id == "error" for option in field.options
)


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Lab:
    made = Lab(tmp_path_factory.mktemp("dac"))
    _freeze(made.db)
    draw = Random(2)
    for at, rater in enumerate(RATERS):
        for study in ("demonstration", "decision-points", "step-correct"):
            units = list(STEPS if study == "step-correct" else RUNS)
            made.label(study, rater, _rows(draw, study, units[2 * at :]))
    return made


def _items(
    answers: Answers, field: str, targets: Sequence[str] = ("",), units: Sequence[str] = tuple(RUNS)
) -> list[Row]:
    return [
        Row(unit, target, f"run-{STEPS.get(unit, unit)}", tuple(answers.at(unit, target, field, one) for one in RATERS))
        for unit in units
        for target in targets
    ]


def _agreement(row: dict[str, Any], items: Sequence[Row], categories: int) -> None:
    same(row["Pairs agree"], re.pairs_agree, items, least=0.0, adds=2)
    same(row["AC1"], re.ac1(categories), items)
    same(row["Alpha"], re.alpha, items, adds=2)


# -- demonstrations --------------------------------------------------------------------------------------------


def test_proofreaders_agree(lab: Lab) -> None:
    table, answers = lab.tables("demonstration")["dac-verdicts"], lab.answers("demonstration")
    _agreement(table.row("accept, edit or reject"), _items(answers, "verdict", ("s0", "s1")), 3)
    _agreement(table.row("IMPOSSIBLE"), _items(answers, "whole"), 2)


@pytest.mark.parametrize("annotator", ["m3a", "t3a", "All"])
def test_edit_rates_of_annotators(lab: Lab, annotator: str) -> None:
    row = lab.tables("demonstration")["dac-edits-annotators"].row(annotator)
    items = _items(lab.answers("demonstration"), "verdict", ("s0", "s1"))
    own = [one for one in items if annotator in (RUNS[one.unit], "All")]
    said = [(one, at, said.value) for one in own for at, said in enumerate(one.said) if said.value is not None]
    looks = [Row(one.unit, one.target, one.cluster, (Said(float(value != "accept")),)) for one, _, value in said]
    same(row["Rate"], re.mean, looks, least=0.0, needs=1, raters=len({at for _, at, _ in said}))
    re.is_count(row["Episodes"], len({one.unit for one in looks}))
    for name, word in (("Edited", "edit"), ("Rejected", "reject")):
        re.is_count(row[name], sum(value == word for _, _, value in said))


@pytest.mark.parametrize("rater", [*RATERS, "All"])
def test_edit_rates(lab: Lab, rater: str) -> None:
    row = lab.tables("demonstration")["dac-edits-proofreaders"].row(rater)
    looks = [
        Row(one.unit, one.target, one.cluster, (Said(float(said.value != "accept")),))
        for one in _items(lab.answers("demonstration"), "verdict", ("s0", "s1"))
        for at, said in enumerate(one.said)
        if said.value is not None and rater in (RATERS[at], "All")
    ]
    same(row["Rate"], re.mean, looks, least=0.0, needs=1, raters=3 if rater == "All" else 1)
    re.is_count(row["Looks"], len(looks))


# -- recordings ------------------------------------------------------------------------------------------------

TYPES = {
    "click": "Click", "scroll": "Scroll", "input_text": "Type", "navigate_home": "Navigate Home",
    "long_press": "Long Press", "drag": "drag",
}  # fmt: skip


def _steps(shown: dict[str, Any], id: str) -> list[dict[str, Any]]:
    """What was done in a recording, slips apart."""
    done = [(one.get("decision") or one["proposed"])["action"] for one in shown["steps"]]
    return [action for at, action in enumerate(done) if SLIPS.get(id) != at]


def _type(action: dict[str, Any]) -> str:
    if action["kind"] == "status":
        return "impossible" if action["status"] == "infeasible" else "Complete"
    return TYPES[action["kind"]]


def test_recordings_are_counted(lab: Lab) -> None:
    tables, answers = lab.tables("demonstration"), lab.answers("demonstration")
    shown = {id: lab.json("show", f"run-{id}") for id in RUNS}
    steps = {id: _steps(one, id) for id, one in shown.items()}
    counted, whole = tables["dac-counts"], _items(answers, "whole")
    truths = [re.most(one.said) for one in whole]
    given_up = [id for id, one in shown.items() if _type(_steps(one, "")[-1]) == "impossible"]
    for says, n in {
        "episodes": len(RUNS),
        "steps": sum(map(len, steps.values())),
        "apps": len({app for one in shown.values() for app in one["started"]["task"].get("apps", ())}),
        "IMPOSSIBLE, as recorded": len(given_up),
        "IMPOSSIBLE, as proofreaders settle": truths.count("impossible"),
        "  for the reason ambiguous": sum(said.value == "impossible" for one in whole for said in one.said),
    }.items():
        re.is_count(counted.row(says)["n"], n)
    lengths = [Row(id, "", f"run-{id}", (Said(float(len(some))),)) for id, some in steps.items()]
    same(counted.row("steps per episode (mean)")["n"], re.mean, lengths, upper=None, least=0.0, needs=1, raters=0)
    types = Counter(_type(action) for some in steps.values() for action in some)
    told = {row[0]: row[1]["agreement"].get("value", 0) for row in tables["dac-types"].rows}
    assert told.pop("Overall") == sum(types.values())
    assert {name: n for name, n in told.items() if n} == types
    assert {"drag", "impossible"} <= set(types)


def test_structures_of_tasks(lab: Lab) -> None:
    """Shares are of the tasks that tell it; the others are missing."""
    table = lab.tables("demonstration")["dac-structure"]
    tasks = [lab.json("show", f"run-{id}")["started"]["task"] for id in RUNS]
    told = Counter(task.get("traits", {}).get("structure", "") for task in tasks)
    lacks = told.pop("")
    for name in ("Sequential", "Conjunctive", "Conditional", "Hierarchical", "Loop"):
        _is_share(table.row(name), told[name], sum(told.values()), lacks)
    apps = [len(task.get("apps", ())) for task in tasks]
    _is_share(table.row("across apps"), sum(n > 1 for n in apps), sum(n > 0 for n in apps), apps.count(0))


def _is_share(row: dict[str, Any], many: int, of: int, lacks: int) -> None:
    re.is_count(row["Episodes"], many)
    told = row["Share"]["agreement"]
    assert (told["value"], told["places"]) == (pytest.approx(many / of), of)
    assert (told["low"], told["high"]) == pytest.approx(re.wilson(many, of))
    assert told.get("reasons", {}) == ({"not_told": lacks} if lacks else {})
    assert told.get("missing", 0.0) == pytest.approx(lacks / (of + lacks))


# -- decisions -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("agent", ["m3a", "t3a", "All"])
def test_decisions_by_depth(lab: Lab, agent: str) -> None:
    row = lab.tables("decision-points")["dac-decisions"].row(agent)
    answers = lab.answers("decision-points")
    for column, targets in (("All", ("b1", "b2")), ("Depth 1", ("b1",)), ("Depth 2", ("b2",))):
        items = [one for one in _items(answers, "taken", targets) if agent in (RUNS[one.unit], "All")]
        told = row[column]["agreement"]
        settled = [(one, truth) for one in items if (truth := re.most(one.said)) is not None]
        rows = [one._replace(said=(Said(float(truth in ("left", "up"))),)) for one, truth in settled]
        assert (told["value"], told["places"]) == (pytest.approx(re.mean(rows)), len(rows)), (agent, column)
        assert told["units"] == told["traces"] == len({one.unit for one in rows})
        left = sum(any(said.voice for said in one.said) for one in items) - len(rows)
        assert told.get("reasons", {}) == ({"no_majority": left} if left else {})


def test_raters_of_decisions_agree(lab: Lab) -> None:
    row = lab.tables("decision-points")["dac-decisions-agreement"].row("way taken")
    _agreement(row, _items(lab.answers("decision-points"), "taken", ("b1", "b2")), 4)


# -- steps -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("agent", ["m3a", "t3a", "All"])
def test_right_steps(lab: Lab, agent: str) -> None:
    row = lab.tables("step-correct")["dac-steps"].row(agent)
    items = _items(lab.answers("step-correct"), "correct", units=tuple(STEPS))
    items = [one for one in items if agent in (RUNS[STEPS[one.unit]], "All")]
    spoken = [one for one in items if any(said.voice for said in one.said)]
    truths = [truth for one in spoken if (truth := re.most(one.said)) is not None]
    told = row["Right"]["agreement"]
    assert (told["value"], told["places"]) == (pytest.approx(truths.count("right") / len(truths)), len(truths))
    left = len(spoken) - len(truths)
    assert told.get("reasons", {}) == ({"no_majority": left} if left else {})


def test_raters_of_steps_agree(lab: Lab) -> None:
    """What was wrong is asked only of who says that something was."""
    table, answers = lab.tables("step-correct")["dac-steps-agreement"], lab.answers("step-correct")
    correct = _items(answers, "correct", units=tuple(STEPS))
    _agreement(table.row("right or wrong"), correct, 2)
    error = [
        one._replace(said=tuple(
            said if asked.value == "wrong" else Said(None) for said, asked in zip(one.said, whole.said, strict=True)
        ))
        for one, whole in zip(_items(answers, "error", units=tuple(STEPS)), correct, strict=True)
    ]  # fmt: skip
    _agreement(table.row("what was wrong"), error, len(ERRORS))
