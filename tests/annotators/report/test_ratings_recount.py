"""PSPA-Bench E.1 and KnowU-Bench 5a, each cell counted anew: ratings that not all raters gave, judges of parts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import atanh, sqrt, tanh
from pathlib import Path
from random import Random
from statistics import NormalDist, fmean
from typing import Any, NamedTuple

import pytest

from annotators.protocols import protocol
from lab.core.study.study import Target, Unit
from store.store import Store
from tests.annotators.report import recounting as re
from tests.annotators.report.recounting import Answers, Lab, Row, Said, Table, same
from tests.loaded_late import LoadedLate
from tests.papers import run
from tests.studied_runs import BARE
from tests.studies import frozen

stats = LoadedLate("scipy.stats")

RATERS, JUDGES = ("R1", "R2", "R3"), ("gpt:all", "gpt:half")
UNITS = tuple(f"u{at:02}" for at in range(12))
SCORES = {unit: 1.0 if at % 4 == 3 else (at * 3 % 10) / 10 for at, unit in enumerate(UNITS)}
FIELDS = {"e1": ("completion",), "five-a": ("task_score", "score")}
CRITERIA = ("asks", "orders")


class Made(NamedTuple):
    """A study's answers, its report's tables, and what `hitlab agreement --json` prints."""

    answers: Answers
    tables: dict[str, Table]
    agreement: list[Any]


def _value(study: str, draw: Random, unit: str) -> float:
    rated = min(1.0, max(0.0, SCORES[unit] + draw.choice([-0.2, -0.1, 0.0, 0.0, 0.1, 0.2])))
    return round(rated * 100) if study == "e1" else round(rated * 20) / 20


def _rows(study: str, draw: Random, units: Sequence[str], *, person: bool) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = []
    for unit in units:
        for field in FIELDS[study]:
            for target in CRITERIA if field == "score" else ("",):
                row = {"unit": unit, "target": target, "field": field}
                lacks = draw.random() < 0.15
                rows.append({**row, **({"missing": "cannot_judge"} if lacks else {"value": _value(study, draw, unit)})})
        rows += [{"unit": unit, "commit": True}] if person else []
    return rows


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Lab:
    made = Lab(tmp_path_factory.mktemp("ratings"))
    _freeze(made.db)
    for study in FIELDS:
        draw = Random(study)
        for rater, left in zip(RATERS, ((), UNITS[:1], UNITS[:6]), strict=True):
            made.label(study, rater, _rows(study, draw, [unit for unit in (*UNITS,) if unit not in left], person=True))
        made.label(study, "gpt:all", _rows(study, draw, UNITS, person=False))
        made.label(study, "gpt:half", _rows(study, draw, UNITS[::2], person=False))
    return made


def _freeze(db: Path) -> None:
    with Store.open(db) as store:
        store.runs.add_all([run(f"run-{unit}", BARE, score=SCORES[unit]) for unit in UNITS])
        plain = [Unit(unit, runs=(f"run-{unit}",)) for unit in UNITS]
        frozen(store, plain, protocol("completion-rating"), id="e1", raters=RATERS)
        targets = tuple(Target(one, one) for one in CRITERIA)
        judged = [Unit(unit, runs=(f"run-{unit}",), targets=targets) for unit in UNITS]
        frozen(store, judged, protocol("rubric"), id="five-a", raters=RATERS)


def _made(lab: Lab, study: str) -> Made:
    return Made(lab.answers(study), lab.tables(study), lab.json("agreement", study))


@pytest.fixture(scope="module")
def e1(lab: Lab) -> Made:
    return _made(lab, "e1")


@pytest.fixture(scope="module")
def five(lab: Lab) -> Made:
    return _made(lab, "five-a")


def _items(made: Made, field: str, columns: Sequence[str], scale: float = 1.0) -> list[Row]:
    found = []
    for unit in UNITS:
        for target in CRITERIA if field == "score" else ("",):
            said = [made.answers.at(unit, target, field, rater) for rater in columns]
            scaled = tuple(Said(None if one.value is None else one.value / scale, one.why) for one in said)
            found.append(Row(unit, target, f"run-{unit}", scaled))
    return found


def _iccs(cells: Mapping[str, Any], items: Sequence[Row]) -> None:
    for form in ("A,1", "A,k"):
        least = -1.0 if form == "A,1" else None
        of = re.icc(form, len(RATERS))
        same(cells[f"ICC({form})"], of, items, least=least, needs=len(RATERS), adds=len(RATERS), where=form)


def _beside_mean(items: Sequence[Row], other: Mapping[str, Said]) -> list[Row]:
    """The mean of people and another rater; a run of which the other says nothing lacks both."""
    found = []
    for row in (row for row in items if row.values):
        own = other[row.unit]
        there = (
            (Said(fmean(row.values)), own)
            if own.value is not None
            else (Said(None, own.why or "not_rated"), Said(None))
        )
        found.append(row._replace(said=there))
    return found


def _pearson(pairs: Sequence[tuple[float, float]]) -> float | None:
    xs, ys = zip(*pairs, strict=True)
    return float(stats.pearsonr(xs, ys)[0]) if len(pairs) > 1 else None


def _spearman(pairs: Sequence[tuple[float, float]]) -> float | None:
    xs, ys = zip(*pairs, strict=True)
    return float(stats.spearmanr(xs, ys)[0]) if len(pairs) > 1 else None


def _mae(pairs: Sequence[tuple[float, float]]) -> float:
    return fmean(abs(a - b) for a, b in pairs)


def _mse(pairs: Sequence[tuple[float, float]]) -> float:
    return fmean((a - b) ** 2 for a, b in pairs)


# -- E.1 -------------------------------------------------------------------------------------------------------


def test_e1_raters(e1: Made) -> None:
    items = _items(e1, "completion", RATERS, 100)
    row = e1.tables["pspa-e1-raters"].row("completion")
    _iccs(row, items)
    complete = sum(len(one.values) == len(RATERS) for one in items)
    assert 2 < complete < len(items)
    re.is_count(row["Runs"], complete)
    re.is_count(row["Raters"], len(RATERS))


@pytest.mark.parametrize("metric", [*JUDGES, "Success Signal"])
def test_e1_metrics_against_the_mean(e1: Made, metric: str) -> None:
    row = e1.tables["pspa-e1-metrics"].row(metric)
    if metric in JUDGES:
        other = {unit: e1.answers.at(unit, "", "completion", metric) for unit in UNITS}
        other = {unit: Said(None if one.value is None else one.value / 100, one.why) for unit, one in other.items()}
    else:
        other = {unit: Said(float(SCORES[unit] > 0.99)) for unit in UNITS}
    both = _beside_mean(_items(e1, "completion", RATERS, 100), other)
    for name, of, upper, least in (
        ("Spearman", _spearman, 1.0, -1.0), ("Pearson", _pearson, 1.0, -1.0), ("MSE", _mse, None, 0.0),
        ("MAE", _mae, None, 0.0), ("Within ±0.05", _within, 1.0, 0.0),
    ):  # fmt: skip
        same(row[name], re.of_two(of), both, upper=upper, least=least, by_item=True, adds=2, where=(metric, name))
    n = re.counts(both).places
    re.is_count(row["Runs"], n)
    fisher, r = row["Pearson, Fisher's interval"]["agreement"], row["Pearson"]["agreement"]["value"]
    half = NormalDist().inv_cdf(0.975) / sqrt(n - 3)
    assert (fisher["low"], fisher["high"]) == pytest.approx((tanh(atanh(r) - half), tanh(atanh(r) + half)))


def _within(pairs: Sequence[tuple[float, float]]) -> float:
    return fmean(abs(a - b) <= 0.05 + 1e-9 for a, b in pairs)


# -- 5a --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("field", "says"), [("task_score", "the whole run"), ("score", "each criterion")])
def test_5a_experts(five: Made, field: str, says: str) -> None:
    items = _items(five, field, RATERS)
    row = five.tables["experts"].row(says)
    _iccs(row, items)
    same(row["alpha, interval"], lambda rows: re.alpha(rows, lambda a, b: (a - b) ** 2), items, adds=2)
    assert row["Items"] == str(sum(len(one.values) == len(RATERS) for one in items))


@pytest.mark.parametrize("judge", JUDGES)
def test_5a_evaluators(five: Made, judge: str) -> None:
    row = five.tables["evaluators"].row(judge)
    own = {unit: five.answers.at(unit, "", "task_score", judge) for unit in UNITS}
    both = _beside_mean(_items(five, "task_score", RATERS), own)
    same(row["MAE"], re.of_two(_mae), both, upper=None, least=0.0, by_item=True, adds=2)
    off = re.of_two(lambda pairs: fmean(b - a for a, b in pairs))
    same(row["Mean error"], off, both, upper=None, least=None, by_item=True, adds=2)
    assert row["Runs"] == f"{re.counts(both).places}"


def test_5a_difference_of_evaluators(five: Made) -> None:
    row = five.tables["differences"].row("gpt:all minus gpt:half")
    people = _items(five, "task_score", RATERS)
    first, second = (
        _beside_mean(people, {unit: five.answers.at(unit, "", "task_score", judge) for unit in UNITS})
        for judge in JUDGES
    )
    common = {one.unit for one in first if one.values} & {one.unit for one in second if one.values}
    apart = [_mae([(row.values[0], row.values[1]) for row in rows if row.unit in common]) for rows in (first, second)]
    told = row["Jackknife-t"]["agreement"]
    assert told["value"] == pytest.approx(apart[0] - apart[1])
    assert (told["places"], row["Runs"]) == (len(common), str(len(common)))
    lacking = len([one for one in people if one.values]) - len(common)
    assert sum(told["reasons"].values()) == lacking
    assert told["missing"] == pytest.approx(lacking / (lacking + len(common)))


# -- the general table -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(("study", "field"), [("e1", "completion"), ("five-a", "task_score"), ("five-a", "score")])
def test_the_general_table_counts_what_an_icc_is_made_of(lab: Lab, study: str, field: str) -> None:
    made = _made(lab, study)
    items = _items(made, field, RATERS)
    by = {
        one["statistic"]: {"agreement": one}
        for one in made.agreement["agreements"]  # type: ignore[call-overload]
        if (one["field"], one.get("part", ""), one.get("between", "people")) == (field, "", "people")
    }
    _iccs({f"ICC({form})": by[f"icc({form})"] for form in ("A,1", "A,k")}, items)
    same(by["alpha interval"], lambda rows: re.alpha(rows, lambda a, b: (a - b) ** 2), items, adds=2)
    assert by["icc(A,1)"]["agreement"]["places"] < by["alpha interval"]["agreement"]["places"]
