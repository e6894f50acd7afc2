"""PSPA-Bench E.3, each cell counted anew from the printed answers.

An awkward study, drawn by a seed; in a soak three.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from functools import partial
from itertools import combinations, pairwise
from pathlib import Path
from random import Random
from statistics import fmean
from typing import Any, NamedTuple

import pytest

from annotators.protocols import protocol
from lab.core.study.study import Target, Unit
from lab.core.task.task import Tdg, TdgNode
from store.store import Store
from tests.annotators.report import recounting as re
from tests.annotators.report.recounting import Answers, Lab, Row, Said, Table, same
from tests.crossed import crossed, spread
from tests.studies import frozen

pytestmark = crossed
PEOPLE, JUDGES, FIRST = ("R1", "R2", "R3"), ("gpt:a", "gpt:b"), "gpt:a"
WAYS: dict[str, list[tuple[str, ...]]] = {
    "both": [("open", "search", "pick"), ("open", "menu", "pick")],
    "one": [("open", "search")],
    "last": [("open", "end")],
}
"""Each graph's paths as they are declared; `pick` is flexible and requires `open`."""
REQUIRES = {"pick": "open"}
FLEXIBLE = {"pick"}
UNITS = {
    "u0": ("both", "c0"), "u1": ("both", "c1"), "u2": ("one", "c1"), "u3": ("both", "c2"), "u4": ("one", "c3"),
    "u5": ("both", "c4"), "u6": ("both", "c5"), "u7": ("one", "c6"), "u8": ("both", "c7"), "p0": ("both", "c8"),
    "u9": ("last", "c9"),
}  # fmt: skip
"""Each unit's graph and cluster; p0 is calibration, u9, which alone has an `end`, is touched by nobody."""


def _unit(id: str) -> Unit:
    ways, cluster = UNITS[id]
    fork = TdgNode("way", "Find it", alternatives=((TdgNode("search", "Search"),), (TdgNode("menu", "By the menu"),)))
    pick = TdgNode("pick", "Pick", kind="flexible", requires=("open",))
    last = WAYS[ways][0][-1]
    two = (TdgNode("open", "Open it"), TdgNode(last, last))
    nodes = (TdgNode("open", "Open it"), fork, pick) if ways == "both" else two
    graph = Tdg(nodes, tuple((a.id, b.id) for a, b in pairwise(nodes)))
    names = ("open", "search", "menu", "pick") if ways == "both" else WAYS[ways][0]
    targets = tuple(Target(one, one, kind="flexible" if one in FLEXIBLE else "fixed") for one in names)
    return Unit(id, runs=(f"run-{id}",), targets=targets, tdg=graph, cluster=cluster, pilot=id == "p0")


def _rows(draw: Random, units: Sequence[str], careless: float, *, person: bool) -> list[dict[str, Any]]:
    """Somebody's answers: mostly what is so (every second unit fails at `pick`), some otherwise, some with a reason."""
    found: list[dict[str, Any]] = []
    for at, id in enumerate(units):
        for target in _unit(id).targets:
            row: dict[str, Any] = {"unit": id, "target": target.id, "field": "state"}
            so = target.id in ("open", "search") or (target.id == "pick" and at % 2 == 0)
            if draw.random() < 0.12:
                found.append({**row, "missing": draw.choice(["cannot_judge", "skipped", "not_applicable"])})
                continue
            done = so != (draw.random() < careless)
            found.append({**row, "value": "completed" if done else "not_completed", "step": draw.randint(1, 3)})
            if draw.random() < 0.15:
                found.append(
                    {"unit": id, "target": target.id, "field": draw.choice(["partial", "unlisted"]), "value": True}
                )
        if person:
            found.append({"unit": id, "commit": True})
    return found


class Made(NamedTuple):
    """A study's answers as they are printed, the report's tables, and how its pilot stands."""

    answers: Answers
    tables: dict[str, Table]
    pilot: dict[str, Any]


@pytest.fixture(scope="module", params=spread((1, 2, 3), 1))
def made(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Made:
    lab = Lab(tmp_path_factory.mktemp("alignment"))
    _freeze(lab.db)
    draw = Random(request.param)
    ids = [id for id in UNITS if id != "u9"]
    for rater, careless in zip(PEOPLE, (0.1, 0.15, 0.25), strict=True):
        units = ids if rater != "R3" else [id for id in ids if id not in ("u3", "u4")]
        lab.label("e3", rater, _rows(draw, units, careless, person=True))
    lab.label("e3", "R3", [{"unit": "u3", "target": "open", "field": "state", "value": "completed"}])  # not handed in
    for run, units in ((1, ids[:-3]), (2, ids[2:6]), (3, [id for id in ids if id != "u1"])):
        lab.label("e3", FIRST, _rows(draw, units, 0.2, person=False), run)
    yes = [row for row in _rows(draw, ids[1:], 0.0, person=False) if row["field"] == "state" and "value" in row]
    lab.label("e3", "gpt:b", [{**row, "value": "completed"} for row in yes])  # one category only
    return Made(lab.answers("e3"), lab.tables("e3"), lab.json("labels", "e3", "--pilot"))


def _freeze(db: Path) -> None:
    with Store.open(db) as store:
        frozen(store, [_unit(id) for id in UNITS], protocol("tdg"), id="e3", raters=PEOPLE)


# -- answers, and what follows from them -----------------------------------------------------------------------


def _sheet(answers: Answers, unit: str, rater: str, run: int, *, after: bool) -> dict[str, Said]:
    told = {one.id: answers.at(unit, one.id, "state", rater, run) for one in _unit(unit).targets}
    if not after or not any(one.value is not None or one.why for one in told.values()):
        return told
    at = _completed_at(answers, unit, told, rater, run)
    done = _done(at)
    path = _path(UNITS[unit][0], at)
    found = {}
    for id, one in told.items():
        if one.value is None:
            found[id] = one
        elif path is not None and id not in path:
            found[id] = Said(None, "not_applicable")
        else:
            found[id] = Said("completed" if id in done else "not_completed")
    return found


def _completed_at(answers: Answers, unit: str, told: Mapping[str, Said], rater: str, run: int) -> dict[str, int | None]:
    """By answered item the step at which it was completed; one whose step is not told is as late as the latest."""
    steps = {id: answers.step.get((unit, id, "state", rater, run)) or 0 for id in told}
    latest = max((steps[id] for id, one in told.items() if one.value == "completed"), default=0)
    answered = {id: one.value for id, one in told.items() if one.value is not None}
    return {id: (steps[id] or latest) if value == "completed" else None for id, value in answered.items()}


def _done(at: Mapping[str, int | None]) -> set[str]:
    """What counts as completed: an item whose requirement is not completed is not."""
    own = {id for id, step in at.items() if step is not None}
    return {id for id in own if REQUIRES.get(id, id) in own}


def _best(graph: str, at: Mapping[str, int | None]) -> tuple[tuple[str, ...], float, float | None]:
    """The path with most completed, then flexible ones, then the shortest, then the earliest; with its APR and PPR."""
    done = _done(at)

    def rank(path: Sequence[str]) -> tuple[int, int, int, list[int]]:
        hit = [id for id in path if id in done]
        early = sorted((-(at[id] or 0) for id in hit), reverse=True)
        return len(hit), len(FLEXIBLE.intersection(hit)), -len(path), early

    path = max(WAYS[graph], key=rank)
    flexible = FLEXIBLE.intersection(path)
    ppr = len(flexible & done) / len(flexible) if flexible else None
    return path, len(done.intersection(path)) / len(path), ppr


def _path(graph: str, at: Mapping[str, int | None]) -> tuple[str, ...] | None:
    """The path taken; None where an item without an answer could change what it comes to."""
    path, apr, ppr = _best(graph, at)
    hoped = {**{id: -1 for way in WAYS[graph] for id in way}, **at}
    settled = all(id in at for id in path) and (apr, ppr) == _best(graph, hoped)[1:]
    return path if settled else None


def _items(answers: Answers, columns: Sequence[tuple[str, int]], kind: str = "", *, after: bool = False) -> list[Row]:
    """The study's items, calibration apart, with a column for each rater and run."""
    found = []
    for id, (_, cluster) in UNITS.items():
        sheets = [_sheet(answers, id, rater, run, after=after) for rater, run in columns]
        for one in _unit(id).targets:
            if id != "p0" and kind in ("", one.kind):
                found.append(Row(id, one.id, cluster, tuple(sheet[one.id] for sheet in sheets)))
    return found


def _column(rows: Sequence[Row]) -> dict[tuple[str, str], Said]:
    return {(row.unit, row.target): row.said[0] for row in rows}


STAGES = [(False, "as answered", "before"), (True, "after derivation", "after")]
KINDS = [("fixed", "Fixed"), ("flexible", "Flexible"), ("", "Overall")]
HUMAN = [(rater, 1) for rater in PEOPLE]


# -- tables ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("after", "stage"), [one[:2] for one in STAGES])
@pytest.mark.parametrize(("kind", "type"), KINDS)
def test_people(made: Made, after: bool, stage: str, kind: str, type: str) -> None:
    row = made.tables["pspa-e3-agreement"].row(f"{type}, {stage}")
    items = _items(made.answers, HUMAN, kind, after=after)
    same(row["Fleiss' κ"], re.fleiss, items, where="kappa")
    same(row["Pairs agree"], re.pairs_agree, items, least=0.0, adds=2, where="pairs")
    same(row["All agree"], re.all_agree, items, least=0.0, adds=2, where="all")
    same(row["AC1"], re.ac1(2), items, where="ac1")
    re.is_count(row["Items"], re.counts(items).places)


@pytest.mark.parametrize(("after", "stage", "part"), STAGES)
@pytest.mark.parametrize(("kind", "type"), KINDS)
@pytest.mark.parametrize("judge", JUDGES)
def test_table_7(made: Made, after: bool, stage: str, part: str, kind: str, type: str, judge: str) -> None:
    table = made.tables[f"pspa-e3-table-7-{JUDGES.index(judge) + 1}-{part}"]
    people = _items(made.answers, HUMAN, kind, after=after)
    runs = 3 if judge == FIRST else 1
    own = _items(made.answers, [(judge, run + 1) for run in range(runs)], kind, after=after)
    told = [("run 1", {(row.unit, row.target): row.said[0] for row in own})]
    if runs > 1:
        told.append((f"most of {runs} runs", {(row.unit, row.target): _modal(row) for row in own}))
    for which, column in told:
        row = table.row(f"{type}, {which}")
        both = re.beside_truth(people, column)
        check = partial(same, rows=both, by_item=True, adds=2)
        for name, what in (("Acc.", "accuracy"), ("Prec.", "precision"), ("Rec.", "recall"), ("F1", "f1")):
            check(row[name], re.Judged(what, "completed"), least=0.0, where=(which, name))
        check(row["κ"], re.cohen, where=(which, "kappa"))
        check(row["AC1"], re.ac1(2), where=(which, "ac1"))
        re.is_count(row["Items"], re.counts(both).places)


def _modal(row: Row) -> Said:
    """What most runs say; that they tie; or why the first says nothing."""
    counts = Counter(row.values).most_common(2)
    if not counts:
        return row.said[0]
    tie = len(counts) > 1 and counts[0][1] == counts[1][1]
    return Said(None, "no_majority") if tie else Said(counts[0][0])


@pytest.mark.parametrize("rater", [*PEOPLE, *JUDGES])
def test_each_rater_against_most_people(made: Made, rater: str) -> None:
    row = made.tables["pspa-e3-raters"].row(rater)
    both = re.beside_truth(_items(made.answers, HUMAN), _column(_items(made.answers, [(rater, 1)])))
    check = partial(same, rows=both, by_item=True, adds=2)
    check(row["Agrees"], re.pairs_agree, least=0.0)
    check(row["Cohen's κ"], re.cohen)
    check(row["AC1"], re.ac1(2))
    re.is_count(row["Items"], re.counts(both).places)


def test_how_steady_a_judge_is(made: Made) -> None:
    table = made.tables["pspa-e3-steady-1"]
    runs = _items(made.answers, [(FIRST, run) for run in (1, 2, 3)])
    for name, of in (("items at which all runs say the same", re.all_agree), ("two runs say the same", re.pairs_agree)):
        same(table.row(name)["Here"], of, runs, least=0.0, adds=2, raters=1, where=name)
    told = table.row("a run says what most runs say")["Here"]["agreement"]
    shares = [
        Counter(row.values).most_common(1)[0][1] / len(row.values)
        for row in runs
        if len(row.values) > 1 and _modal(row).value is not None
    ]
    assert told["value"] == pytest.approx(fmean(shares))
    assert (told["places"], told["raters"]) == (len(shares), 1)
    aprs = {run: _rates(made.answers, FIRST, run)[0] for run in (1, 2, 3)}
    common = [unit for unit in UNITS if all(unit in of for of in aprs.values())]
    means = [fmean(of[unit] for unit in common) for of in aprs.values()] if common else []
    spread = table.row("sd of mean APR over the judge's runs")["Here"]["agreement"]
    assert spread.get("places", 0) == len(common)
    assert spread.get("value") == (pytest.approx(_sd(means)) if common else None)
    each = table.row("sd of APR over the judge's runs, mean of all rated runs")["Here"]["agreement"]
    assert each.get("places", 0) == len(common)
    sds = [_sd([of[unit] for of in aprs.values()]) for unit in common]
    assert each.get("value") == (pytest.approx(fmean(sds)) if common else None)


def _sd(values: Sequence[float]) -> float:
    middle = fmean(values)
    return float((sum((value - middle) ** 2 for value in values) / (len(values) - 1)) ** 0.5)


def _rates(answers: Answers, rater: str, run: int) -> tuple[dict[str, float], dict[str, float]]:
    """APR and PPR of each unit whose answers settle a path."""
    aprs, pprs = {}, {}
    for unit, (graph, _) in UNITS.items():
        told = {one.id: answers.at(unit, one.id, "state", rater, run) for one in _unit(unit).targets}
        at = _completed_at(answers, unit, told, rater, run)
        if unit != "p0" and _path(graph, at) is not None:
            _, apr, ppr = _best(graph, at)
            aprs[unit] = apr
            if ppr is not None:
                pprs[unit] = ppr
    return aprs, pprs


@pytest.mark.parametrize("rater", [*PEOPLE, *JUDGES])
def test_mean_apr_and_ppr(made: Made, rater: str) -> None:
    for run in (1, 2, 3) if rater == FIRST else (1,):
        row = made.tables["pspa-e3-apr"].row(f"{rater}, run {run}" if rater == FIRST else rater)
        aprs, pprs = _rates(made.answers, rater, run)
        for name, values in (("APR", aprs), ("PPR", pprs)):
            rows = [Row(unit, "", UNITS[unit][1], (Said(value),)) for unit, value in values.items()]
            same(row[name], re.mean, rows, least=0.0, needs=1, raters=1 if rows else 0, where=(rater, run, name))
        re.is_count(row["Runs"], len(aprs))


def test_flags_at_items_that_differ(made: Made) -> None:
    table = made.tables["pspa-e3-flags"]
    people = _items(made.answers, HUMAN)
    rated = [row for row in people if row.values]
    where = {"people differ": {(r.unit, r.target) for r in people if len(set(r.values)) > 1}}
    for judge in JUDGES:
        both = re.beside_truth(people, _column(_items(made.answers, [(judge, 1)])))
        where[f"{judge} and most people differ"] = {(r.unit, r.target) for r in both if len(set(r.values)) > 1}
    says = {"partial": "flagged as partial", "unlisted": "flagged as a way that is not listed"}
    for column, places in where.items():
        re.is_count(table.row("items")[column], len(places))
        shares = [_flagged(one, places) for one in rated]
        same(table.row("share of all items")[column], re.mean, shares, least=0.0, needs=1, raters=len(PEOPLE))
        for flag, first in says.items():
            flagged = {key[:2] for key, said in made.answers.of.items() if key[2] == flag and said[0] is True}
            shares = [_flagged(one, flagged) for one in rated if (one.unit, one.target) in places]
            raters = {at for one in people if (one.unit, one.target) in places
                      for at, said in enumerate(one.said) if said.value is not None}  # fmt: skip
            same(
                table.row(first)[column], re.mean, shares, least=0.0, needs=1, raters=len(raters), where=(column, flag)
            )


def _flagged(one: Row, among: Collection[tuple[str, str]]) -> Row:
    return one._replace(said=(Said(float((one.unit, one.target) in among)),))


def test_the_paper_s_tables_and_the_general_ones_say_the_same_of_the_same(made: Made) -> None:
    """A number that stands in a report twice has one value, one n, one missing."""
    said: dict[Any, list[Any]] = {}
    ours = ("pspa-e3", "people-", "others-", "pairs-")
    for table in (table for id, table in made.tables.items() if id.startswith(ours)):
        for one in (cell["agreement"] for row in table.rows for cell in row if isinstance(cell, dict)):
            part = one.get("part", "")
            stage = "after" if "after" in part else "before"
            kind = next((kind for kind in ("fixed", "flexible") if kind in part), "")
            if "most of" not in part and one["statistic"] in (
                "cohen kappa",
                "fleiss kappa",
                "ac1",
                "accuracy",
                "percent",
            ):
                told = [one.get(name) for name in ("value", "places", "traces", "raters", "missing", "reasons", "low")]
                said.setdefault((one["field"], one["statistic"], one.get("between"), stage, kind), []).append(told)
    assert sum(len(told) > 1 for told in said.values()) > 20
    for names, told in said.items():
        assert all(_alike(one, told[0]) for one in told), (names, told)


def _alike(one: Sequence[Any], other: Sequence[Any]) -> bool:
    return all(a == (pytest.approx(b) if isinstance(b, float) else b) for a, b in zip(one, other, strict=True))


def test_pairs_of_people(made: Made) -> None:
    table = made.tables["pairs-state"]
    for one, other in combinations(PEOPLE, 2):
        items = _items(made.answers, [(one, 1), (other, 1)])
        row = table.row(f"{one} and {other}")
        kappa, ac1 = (next(row[name] for name in row if name.casefold().startswith(of)) for of in ("cohen", "ac1"))
        same(kappa, re.cohen, items, adds=2, where=(one, other))
        same(ac1, re.ac1(2), items, where=(one, other))


def test_pairs_of_people_in_the_pilot(made: Made) -> None:
    """A flag that neither raised is the same of both, as the report's table of calibration has it."""
    told = {(one["field"], one["one"], one["other"]): (one["places"], one["same"]) for one in made.pilot["pairs"]}
    for field in ("state", "partial", "unlisted"):
        flag = field != "state"
        rows = [
            [made.answers.at("p0", one.id, field, rater, flag=flag) for rater in PEOPLE] for one in _unit("p0").targets
        ]
        for one, other in combinations(range(len(PEOPLE)), 2):
            alike = sum(row[one] == row[other] for row in rows)
            assert told[field, PEOPLE[one], PEOPLE[other]] == (len(rows), alike), field
    every = [one for one in made.pilot["pairs"] if one["field"] == "partial"]
    (told_there,) = {
        one["value"]
        for id, table in made.tables.items()
        if id.startswith("calibration-")
        for one in (cell["agreement"] for row in table.rows for cell in row if isinstance(cell, dict))
        if (one["field"], one["statistic"]) == ("partial", "percent")
    }
    assert told_there == pytest.approx(sum(one["same"] for one in every) / sum(one["places"] for one in every))
