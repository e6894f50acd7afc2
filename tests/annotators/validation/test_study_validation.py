"""Judges of known confusion beside three people: what a report says of them, against numbers counted by hand."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from annotators.report.judge_section import sections
from annotators.report.text import section_lines
from annotators.study_data import StudyData
from annotators.validation.study_validation import JudgedField, judged_fields
from lab.cli.main import main
from lab.core.study.agreement import IntervalTerms
from lab.core.study.label import Act
from lab.core.study.protocol import Field, Option, Protocol
from lab.core.study.study import Assignment, Study, Unit
from lab.core.task.task import Actor
from lab.core.values.ids_and_clock import now, uuid7
from lab.studies.progress.study_data import load_study_data
from store.store import Store
from tests.annotators.validation.test_alternative_annotator import by_loops
from tests.studies import label, study

DONE = Protocol(
    "done", "Done?", "run", (Field("state", "Was it completed?", "nominal", (Option("completed"), Option("not"))),)
)
UNITS, LABELLED = 100, 40
RIGHT = {"good": 0.9, "coin": 0.5}


@pytest.fixture(scope="module")
def judged(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Store, Study, dict[str, list[bool | None]]]]:
    """100 units, of which three people answered 40 and a good and a worthless judge all; what each said, by unit."""
    rng = random.Random(1)
    units = [Unit(f"u{i:03}", runs=(f"r{i}",)) for i in range(UNITS)]
    plan = study(units, DONE, raters=("R1", "R2", "R3"), overlap=3)
    said: dict[str, list[bool | None]] = {name: [] for name in ("R1", "R2", "R3", *RIGHT)}
    with Store.open(tmp_path_factory.mktemp("judged") / "lab.db") as store:
        store.studies.freeze(plan, units)
        store.studies.deal(
            plan,
            [Assignment(plan.id, 1, r, i, one.id) for r in plan.raters for i, one in enumerate(units[:LABELLED])],
        )

        def says(actor: Actor, unit: Unit, value: bool, run: int = 1) -> None:
            word, config = "completed" if value else "not", "c" * 64 if actor.kind == "model" else ""
            made = label(plan, unit, "", "state", word, rater=actor, run=run, config_sha=config)
            store.labels.record(plan, unit, made)
            act = Act(uuid7(), plan.id, 1, actor, "commit", now(), unit.id, run)
            store.labels.hand_in(plan, unit, act)

        for i, unit in enumerate(units):
            truth = rng.random() < 0.6
            for n, name in enumerate(plan.raters):
                value = truth if (i + n) % 7 else not truth
                said[name].append(value if i < LABELLED else None)
                if i < LABELLED:
                    says(Actor("human", name), unit, value)
            for name, right in RIGHT.items():
                value = truth if rng.random() < right else not truth
                said[name].append(value)
                says(Actor("model", name), unit, value)
                if name == "good":
                    says(Actor("model", name), unit, value if i % 10 else not value, run=2)
        yield store, plan, said


@pytest.fixture(scope="module")
def studied(judged: tuple[Store, Study, dict[str, list[bool | None]]]) -> StudyData:
    store, plan, _ = judged
    return load_study_data(store, plan, IntervalTerms("bootstrap", resamples=200))


def one(studied: StudyData, judge: str) -> JudgedField:
    (found,) = judged_fields(studied, judge)
    return found


@pytest.mark.parametrize("judge", ["good", "coin"])
def test_rates_are_those_counted_by_hand(
    judged: tuple[Store, Study, dict[str, list[bool | None]]], studied: StudyData, judge: str
) -> None:
    said = judged[2]
    votes = [[said[name][i] for name in ("R1", "R2", "R3")] for i in range(LABELLED)]
    truth = [sum(map(bool, row)) > 1 for row in votes]
    pairs = [(right, bool(said[judge][i])) for i, right in enumerate(truth)]
    counted = {(t, j): pairs.count((t, j)) for t in (True, False) for j in (True, False)}
    found = one(studied, judge)
    seen = found.validation.confusion
    assert seen.categories == ("completed", "not")
    assert seen.counts.tolist() == [[counted[t, j] for j in (True, False)] for t in (True, False)]
    assert (seen.unanswered, seen.unsettled) == (0, UNITS - LABELLED)
    rates = {rate.statistic: rate.estimate.value for rate in found.validation.rates}
    yes = counted[True, True] + counted[True, False]
    assert rates["recall"] == pytest.approx(counted[True, True] / yes)
    assert rates["specificity"] == pytest.approx(counted[False, False] / (LABELLED - yes))
    assert rates["accuracy"] == pytest.approx((counted[True, True] + counted[False, False]) / LABELLED)
    hits = 2 * counted[True, True]
    assert rates["f1"] == pytest.approx(hits / (hits + counted[True, False] + counted[False, True]))
    ((category, corrected),) = found.corrected
    assert (category, corrected.labelled, corrected.units) == ("completed", LABELLED, UNITS)
    assert corrected.judge.value == pytest.approx(sum(map(bool, said[judge])) / UNITS)
    assert corrected.people.value == pytest.approx(sum(truth) / LABELLED)


def test_nobody_is_compared_with_a_majority_that_they_voted_in(
    judged: tuple[Store, Study, dict[str, list[bool | None]]], studied: StudyData
) -> None:
    said = judged[2]
    for person in one(studied, "good").persons:
        others = [name for name in ("R1", "R2", "R3") if name != person.person]
        agreed = [i for i in range(LABELLED) if said[others[0]][i] == said[others[1]][i]]
        assert person.items == len(agreed)
        right = sum(said[person.person][i] == said[others[0]][i] for i in agreed)
        assert person.own.value == pytest.approx(right / len(agreed))
        judge = sum(said["good"][i] == said[others[0]][i] for i in agreed)
        assert person.judge.value == pytest.approx(judge / len(agreed))


def test_a_good_judge_may_take_a_persons_place_and_a_coin_may_not(studied: StudyData) -> None:
    good, coin = one(studied, "good"), one(studied, "coin")
    assert good.alternative is not None
    assert coin.alternative is not None
    assert (good.alternative.passes, coin.alternative.passes) == (True, False)
    assert good.consistency is not None
    assert good.consistency.identical.value == pytest.approx(0.9)
    assert coin.consistency is None
    assert good.position is None
    widths = [
        (found.corrected.high or 0.0) - (found.corrected.low or 0.0)
        for _, found in (good.corrected[0], coin.corrected[0])
    ]
    people = good.corrected[0][1].people
    alone = (people.high or 0.0) - (people.low or 0.0)
    assert widths[0] < 0.95 * alone
    assert widths[1] > 0.95 * alone


@pytest.mark.parametrize("judge", ["good", "coin"])
def test_the_alternative_annotator_test_is_that_of_plain_loops(
    judged: tuple[Store, Study, dict[str, list[bool | None]]], studied: StudyData, judge: str
) -> None:
    answers = judged[2]
    people = np.array([[float(bool(answers[name][i])) for name in ("R1", "R2", "R3")] for i in range(LABELLED)])
    model = np.array([float(bool(answers[judge][i])) for i in range(LABELLED)])
    found = one(studied, judge).alternative
    assert found is not None
    for ours, (items, share, p) in zip(found.people, by_loops(model, people, "accuracy", found.epsilon), strict=True):
        assert (ours.items, ours.test) == (items, "t")
        assert ours.judge_share == pytest.approx(share)
        assert ours.p == pytest.approx(p, abs=1e-9)


@pytest.mark.parametrize("judge", ["good", "coin"])
def test_the_corrected_rate_is_that_of_the_papers_own_program(
    judged: tuple[Store, Study, dict[str, list[bool | None]]], studied: StudyData, judge: str
) -> None:
    """By hand, and by ppi-python with the weight that least squares gives the judge."""
    ppi = pytest.importorskip("ppi_py", reason="ppi-python is not installed (pip install 'hitlab[test]')")
    answers = judged[2]
    votes = [[answers[name][i] for name in ("R1", "R2", "R3")] for i in range(LABELLED)]
    truth = np.array([float(sum(map(bool, row)) > 1) for row in votes])
    model = np.array([float(bool(value)) for value in answers[judge]])
    slope = np.polyfit(model[:LABELLED], truth, 1)[0]
    by_hand = truth.mean() + slope * (model.mean() - model[:LABELLED].mean())
    weight = slope * (1 - LABELLED / UNITS)
    theirs = ppi.ppi_mean_pointestimate(truth, model[:LABELLED], model[LABELLED:], lam=weight)
    ((_, corrected),) = one(studied, judge).corrected
    assert corrected.corrected.value == pytest.approx(by_hand, abs=1e-9)
    assert corrected.corrected.value == pytest.approx(float(np.squeeze(theirs)), abs=1e-9)
    low, high = ppi.ppi_mean_ci(truth, model[:LABELLED], model[LABELLED:], alpha=0.05, lam=weight)
    assert corrected.corrected.low == pytest.approx(float(low[0]), abs=0.03)  # theirs is for many labels
    assert corrected.corrected.high == pytest.approx(float(high[0]), abs=0.03)


def test_a_report_has_a_section_for_each_judge(studied: StudyData) -> None:
    first, second = sections(studied, grids=True)
    assert (first.title, second.title) == ("Judge coin", "Judge good")
    assert [table.id.rpartition("-")[2] for table in second.tables] == [
        "rates", "persons", "alternative", "itself", "corrected",
    ]  # fmt: skip
    text = "\n".join(line for line in section_lines(second, 100))
    for words in ("true negative rate of completed", "The judge passes", f"{LABELLED} of {UNITS}", "people \\ good"):
        assert words in text
    assert sections(studied, "nobody") == []


# -- gates -----------------------------------------------------------------------------------------------------------


def call(*words: str) -> int:
    """One command's exit code."""
    try:
        return main([*words])
    except SystemExit as left:
        return left.code if isinstance(left.code, int) else 1


def test_a_gate_holds_a_judge_to_what_it_was(
    judged: tuple[Store, Study, dict[str, list[bool | None]]], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    store, _, said = judged
    gate, db = tmp_path / "gate.json", ["--db", str(store.database.path)]
    assert call("judge", "trial", "--as", "good", "--gate", str(gate), *db) == 0
    written = gate.read_bytes()
    assert f"holds {LABELLED} answers of good" in capsys.readouterr().out
    assert call("judge", "trial", "--as", "good", "--gate", str(gate), *db) == 0
    assert "holds  state" in capsys.readouterr().out
    assert call("judge", "trial", "--as", "coin", "--gate", str(gate), "--json", *db) == 1
    (line,) = json.loads(capsys.readouterr().out)["fields"]
    truth = [sum(map(bool, (said[name][i] for name in ("R1", "R2", "R3")))) > 1 for i in range(LABELLED)]
    was, now = ([said[name][i] == right for i, right in enumerate(truth)] for name in ("good", "coin"))
    assert (line["before"], line["now"]) == (pytest.approx(sum(was) / LABELLED), pytest.approx(sum(now) / LABELLED))
    assert line["lost"] == sum(a and not b for a, b in zip(was, now, strict=True))
    assert line["fell"] is True
    assert gate.read_bytes() == written


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "gate.json"),
        ("[]", "gate.json"),
        ('{"study": 3}', "field study"),
        ('{"study": "s", "study_sha": "", "protocol_sha": "other", "judge": "j", "answers": []}', "another protocol"),
    ],
)
def test_a_gate_that_is_none_is_refused_in_a_sentence(
    judged: tuple[Store, Study, dict[str, list[bool | None]]], tmp_path: Path, capsys: pytest.CaptureFixture[str],
    text: str, told: str,
) -> None:  # fmt: skip
    gate = tmp_path / "gate.json"
    gate.write_text(text)
    assert call("judge", "trial", "--as", "good", "--gate", str(gate), "--db", str(judged[0].database.path)) != 0
    said = capsys.readouterr().err
    assert told in said
    assert len(said.splitlines()) == 1
    assert gate.read_text() == text
