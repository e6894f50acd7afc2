"""Evaluators against experts: every number of the tables, worked out by hand."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace

from annotators.papers.knowu.judge_table import sections
from annotators.protocols import protocol
from lab.core.run.run_records import Imported, Verdict, number_events
from lab.core.run.step import Action, Proposed
from lab.core.run.trace import AnyEvent, Ended, Started, Step
from lab.core.study.agreement import IntervalTerms
from lab.core.study.report import Number, Scatter, Section
from lab.core.study.study import Target, Unit
from lab.core.task.task import Actor
from lab.studies.progress.study_data import load_study_data
from store.store import Store
from tests.rated import rated
from tests.studied_runs import BARE

RULE, LLM = (1.0, 0.0, 1.0), (0.5, 0.5, 0.8)
HYBRID = (0.75, 0.25, 0.9)
EXPERTS = {"R1": (0.8, 0.2, 1.0), "R2": (0.6, 0.4, 1.0)}
JUDGE = (0.7, 0.35, 0.95)
UNITS = [Unit(f"u{at}", runs=(f"run{at}",), targets=(Target("c", "It is done"),)) for at in range(3)]


def run(at: int) -> Imported:
    """A run that both a rule and a model judged, half and half."""
    task = replace(BARE, id=f"task{at}", traits={"lambda": ".5"})
    events: list[AnyEvent] = [
        Started(trace=f"run{at}", task=task, agent=Actor("model", "m"), at="2026-01-02T10:00:00.000000+00:00"),
        Step(index=0, proposed=Proposed(Action("click", (1, 2)))),
        Ended(status="completed", score=1.0),
    ]
    said = [Verdict("rule", str(RULE[at])), Verdict("llm", str(LLM[at]))]
    return Imported(number_events(events), {}, said)


@pytest.fixture
def store(tmp_path: Path) -> Store:
    store = Store.open(tmp_path / "lab.db")
    for at in range(3):
        store.runs.add(run(at))
    said = {
        name: {f"u{at}": {("c", "score"): score, ("", "task_score"): score} for at, score in enumerate(scores)}
        for name, scores in {**EXPERTS, "model:judge": JUDGE}.items()
    }
    rated(store, UNITS, protocol("rubric"), said, id="five-a")
    return store


def told(store: Store, how: IntervalTerms = IntervalTerms()) -> Section:  # noqa: B008  # frozen
    (section,) = sections(load_study_data(store, store.studies.study("five-a"), how))
    return section


def rows(section: Section, id: str) -> dict[str, list[float | str | None]]:
    (table,) = [one for one in section.tables if one.id == id]
    return {
        str(first): [one.agreement.value if isinstance(one, Number) else one for one in rest]
        for first, *rest in table.rows
    }


def test_the_error_of_each_evaluator_is_against_the_experts_mean(store: Store) -> None:
    found = rows(told(store), "evaluators")
    assert list(found) == ["hybrid", "rules alone", "judge", "hybrid, judged by judge"]
    assert found["hybrid"] == [pytest.approx(0.2 / 3), pytest.approx(-0.1 / 3), "3"]
    assert found["rules alone"] == [pytest.approx(0.2), pytest.approx(0.0, abs=1e-12), "3"]
    assert found["judge"] == [pytest.approx(0.1 / 3), pytest.approx(0.0, abs=1e-12), "3"]
    assert found["hybrid, judged by judge"] == [pytest.approx(0.1), pytest.approx(0.0, abs=1e-12), "3"]


def test_differences_are_paired_with_both_kinds_of_interval(store: Store) -> None:
    section = told(store, IntervalTerms(resamples=500, seed=7))
    found = rows(section, "differences")
    assert found["hybrid minus rules alone"] == [pytest.approx(-0.4 / 3)] * 2 + ["3"]
    assert found["rules alone minus judge"] == [pytest.approx(0.5 / 3)] * 2 + ["3"]
    (table,) = [one for one in section.tables if one.id == "differences"]
    jackknife, bootstrap = (cell.agreement for cell in table.rows[0][1:3] if isinstance(cell, Number))
    assert (jackknife.interval, jackknife.seed) == ("jackknife-t", None)
    assert (bootstrap.interval, bootstrap.resamples, bootstrap.seed) == ("bootstrap", 500, 7)
    assert bootstrap.low is not None
    assert jackknife.low is not None
    assert jackknife.low < -0.4 / 3 < (jackknife.high or 0)
    assert "500 times, seed 7" in " ".join(table.notes)


def test_the_experts_agree_as_a_table_of_variance_says(store: Store) -> None:
    found = rows(told(store), "experts")
    by_run = list(zip(*EXPERTS.values(), strict=True))
    grand = sum(map(sum, by_run)) / 6
    between = 2 * sum((sum(row) / 2 - grand) ** 2 for row in by_run) / 2
    of_raters = 3 * sum((sum(column) / 3 - grand) ** 2 for column in EXPERTS.values()) / 1
    whole = sum((one - grand) ** 2 for row in by_run for one in row)
    rest = (whole - 2 * between - of_raters) / 2
    single = (between - rest) / (between + rest + 2 / 3 * (of_raters - rest))
    mean = (between - rest) / (between + (of_raters - rest) / 3)
    assert found["the whole run"][:2] == [pytest.approx(single), pytest.approx(mean)]
    assert found["each criterion"][:2] == [pytest.approx(single), pytest.approx(mean)]
    assert found["the whole run"][3:] == ["3", "2"]


def test_the_scatter_has_a_point_for_each_evaluator_of_each_run(store: Store) -> None:
    (picture,) = told(store).pictures
    assert isinstance(picture, Scatter)
    points = {(one.series, one.says): (one.x, one.y) for one in picture.points}
    assert len(points) == 12
    for at in range(3):
        mean = sum(scores[at] for scores in EXPERTS.values()) / 2
        assert points["hybrid", f"u{at}"] == pytest.approx((mean, HYBRID[at]))
        assert points["judge", f"u{at}"] == pytest.approx((mean, JUDGE[at]))


def test_an_evaluator_that_scored_some_runs_is_compared_on_those_alone(tmp_path: Path) -> None:
    with Store.open(tmp_path / "some.db") as store:
        for at in range(3):
            store.runs.add(run(at))
        said = {
            name: {f"u{at}": {("c", "score"): score, ("", "task_score"): score} for at, score in enumerate(scores)}
            for name, scores in {**EXPERTS, "model:judge": JUDGE[:2]}.items()
        }
        rated(store, UNITS, protocol("rubric"), said, id="five-a")
        section = told(store)
    assert rows(section, "evaluators")["judge"] == [pytest.approx(0.05 / 2), pytest.approx(0.05 / 2), "2"]
    off = rows(section, "differences")["hybrid minus judge"]
    assert off == [pytest.approx((0.1 - 0.05) / 2)] * 2 + ["2"]


def test_one_run_and_one_expert_are_told_in_the_singular(tmp_path: Path) -> None:
    with Store.open(tmp_path / "one.db") as store:
        store.runs.add(run(0))
        rated(
            store,
            UNITS[:1],
            protocol("rubric"),
            {"R1": {"u0": {("c", "score"): 0.8, ("", "task_score"): 0.8}}},
            id="five-a",
        )
        assert told(store).says[0] == "1 run was rated by 1 expert; their mean is the truth."


def test_nothing_rated_is_a_sentence_and_no_table(tmp_path: Path) -> None:
    with Store.open(tmp_path / "empty.db") as store:
        rated(store, UNITS, protocol("rubric"), {"R1": {}, "R2": {}}, id="five-a")
        section = told(store)
    assert section.tables == ()
    assert section.pictures == ()
    assert any("No evaluator" in says for says in section.says)
