"""PSPA-Bench E.1: metrics against people's mean rating, against scipy and by hand."""

from __future__ import annotations

from collections.abc import Iterator
from math import atanh, sqrt, tanh
from pathlib import Path

import numpy as np
import pytest
from msgspec.structs import replace

from annotators.papers.pspa.completion_table import sections
from annotators.protocols import protocol
from lab.core.run.run_records import Imported, number_events
from lab.core.run.step import Action, Proposed
from lab.core.run.trace import AnyEvent, Ended, Started, Step
from lab.core.study.report import Scatter, Section
from lab.core.study.study import Study, Target, Unit
from lab.core.task.task import Actor, Tdg, TdgNode
from lab.studies.progress.study_data import load_study_data
from store.store import Store
from tests.annotators.report.answered import number, row, say
from tests.loaded_late import LoadedLate
from tests.studied_runs import BARE
from tests.studies import frozen

stats = LoadedLate("scipy.stats")

N = 6
UNITS = [Unit(f"u{at}", runs=(f"run{at}",)) for at in range(N)]
RATED = {"R1": (0, 20, 40, 60, 80, 100), "R2": (10, 20, 50, 70, 80, 90)}
MEAN = [5, 20, 45, 65, 80, 95]
JUDGE = (0, 25, 42, 60, 79, 100)
DONE = (0, 1, 1, 2, 3, 4)  # of the four items
SCORES = (0.0, 0.0, 1.0, 0.5, 1.0, 1.0)
ITEMS = ("a", "b", "c", "d")
GRAPH = Tdg(tuple(TdgNode(item, item) for item in ITEMS), (("a", "b"), ("b", "c"), ("c", "d")))


def imported(id: str, score: float, by: Actor, taps: int) -> Imported:
    task = replace(BARE, tdg=GRAPH)
    events: list[AnyEvent] = [Started(trace=id, task=task, agent=by, at="2026-01-02T10:00:00.000000+00:00")]
    events += [Step(index=at, proposed=Proposed(Action("click", (9 * at, 20)))) for at in range(taps)]
    return Imported(number_events([*events, Ended(status="completed", score=score)]), {}, [])


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store.open(tmp_path / "lab.db") as store:
        yield store


@pytest.fixture
def study(store: Store) -> Study:
    for at, score in enumerate(SCORES):
        store.runs.add(imported(f"run{at}", score, Actor("model", "m3a"), at + 1))
    made = frozen(store, UNITS, protocol("completion-rating"), id="e1")
    for at, unit in enumerate(UNITS):
        for rater, values in RATED.items():
            say(store, made, unit, rater, {("", "completion"): values[at]})
        say(store, made, unit, "model:judge", {("", "completion"): JUDGE[at]})
    return made


def graphs(store: Store) -> None:
    targets = tuple(Target(item, item, kind="fixed") for item in ITEMS)
    units = [replace(unit, targets=targets, tdg=GRAPH) for unit in UNITS]
    made = frozen(store, units, protocol("tdg"), id="graphs")
    for at, unit in enumerate(units):
        words = {
            (item, "state"): ("completed" if place < DONE[at] else "not_completed", 1)
            for place, item in enumerate(ITEMS)
        }
        for rater in ("R1", "R2"):
            say(store, made, unit, rater, words)


def told(store: Store, *beside: str) -> list[Section]:
    return sections(load_study_data(store, store.studies.study("e1"), beside=beside))


def test_a_judge_is_held_against_the_people_s_mean(store: Store, study: Study) -> None:
    found = row(told(store), "pspa-e1-metrics", "judge")
    people, judge = np.array(MEAN) / 100, np.array(JUDGE) / 100
    assert found["Pearson"] == pytest.approx(stats.pearsonr(people, judge).statistic)
    assert found["Spearman"] == pytest.approx(stats.spearmanr(people, judge).statistic)
    assert found["MSE"] == pytest.approx(np.mean((people - judge) ** 2))
    assert found["MAE"] == pytest.approx(np.mean(np.abs(people - judge)))
    assert found["Within ±0.05"] == pytest.approx(1.0), "5 of 100 apart is within, four times"
    assert found["Runs"] == N


def test_fisher_s_interval_stands_beside_the_one_over_runs(store: Store, study: Study) -> None:
    found = told(store)
    one = number(found, "pspa-e1-metrics", "judge", "Pearson, Fisher's interval").agreement
    over = number(found, "pspa-e1-metrics", "judge", "Pearson").agreement
    r = stats.pearsonr(MEAN, JUDGE).statistic
    half = 1.959963984540054 / sqrt(N - 3)
    assert one.low == pytest.approx(tanh(atanh(r) - half))
    assert one.high == pytest.approx(tanh(atanh(r) + half))
    assert (one.interval, over.interval) == ("fisher", "jackknife-t")
    assert one.value == over.value


def test_raters_agree_by_both_forms_of_icc(store: Store, study: Study) -> None:
    found = row(told(store), "pspa-e1-raters", "completion")
    values = np.array([RATED["R1"], RATED["R2"]], dtype=float).T / 100
    n, k = values.shape
    grand = values.mean()
    rows = k * ((values.mean(axis=1) - grand) ** 2).sum() / (n - 1)
    columns = n * ((values.mean(axis=0) - grand) ** 2).sum() / (k - 1)
    rest = ((values - values.mean(axis=1, keepdims=True) - values.mean(axis=0) + grand) ** 2).sum()
    error = rest / ((n - 1) * (k - 1))
    assert found["ICC(A,1)"] == pytest.approx((rows - error) / (rows + (k - 1) * error + k / n * (columns - error)))
    assert found["ICC(A,k)"] == pytest.approx((rows - error) / (rows + (columns - error) / n))
    assert (found["Runs"], found["Raters"]) == (N, 2)


def test_apr_and_tcr_come_from_a_study_of_graphs_beside_it_and_success_from_the_score(
    store: Store, study: Study
) -> None:
    graphs(store)
    found = told(store, "graphs")
    people = np.array(MEAN) / 100
    apr = np.array(DONE) / 4
    assert row(found, "pspa-e1-metrics", "APR")["MSE"] == pytest.approx(np.mean((people - apr) ** 2))
    assert row(found, "pspa-e1-metrics", "APR")["paper: ρ"] == "0.95"
    assert row(found, "pspa-e1-metrics", "TCR by nodes")["MSE"] == pytest.approx(np.mean((people - apr) ** 2))
    success = np.array([score > 0.99 for score in SCORES], dtype=float)
    assert row(found, "pspa-e1-metrics", "Success Signal")["Spearman"] == pytest.approx(
        stats.spearmanr(people, success).statistic
    )
    (picture,) = [one for section in found for one in section.pictures if isinstance(one, Scatter)]
    assert (picture.sorted, picture.band) == (True, 0.05)
    assert {point.series for point in picture.points} == {"APR", "TCR by nodes", "Success Signal", "judge"}
    at_u3 = [point for point in picture.points if point.says == "u3" and point.series == "APR"]
    assert [point.x for point in at_u3] == pytest.approx([0.65])
    assert [point.y for point in at_u3] == [0.5]


def test_tcr_is_against_a_demonstration_of_the_task(store: Store, study: Study) -> None:
    store.runs.add(imported("shown", 1.0, Actor("human", "P1"), 5))
    tcr = np.array([1, 2, 3, 4, 5, 5]) / 5  # the same taps in the same order, so many of its five
    found = row(told(store), "pspa-e1-metrics", "TCR")
    assert found["MSE"] == pytest.approx(np.mean((np.array(MEAN) / 100 - tcr) ** 2))
    assert (found["paper: ρ"], found["paper: MSE"]) == ("0.47", "0.062")


def test_an_empty_study_and_one_without_metrics_say_so(store: Store) -> None:
    made = frozen(store, UNITS, protocol("completion-rating"), id="e1")
    assert [section.says for section in told(store)] == [("Nobody has handed in a rating yet.",)]
    say(store, made, UNITS[0], "R1", {("", "completion"): 40})
    found = told(store)
    assert row(found, "pspa-e1-raters", "completion")["ICC(A,1)"] == "one rater"
    assert "come from a study of graphs beside this one" in found[-1].says[0]
