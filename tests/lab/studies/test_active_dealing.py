"""People label first where judges are unsure: what is dealt, what is kept of it, and that rates stay right."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from msgspec.structs import replace

from annotators.assignment import deal_in_order
from annotators.validation.active_order import ActiveOrder, active_order, doubts, labelled_probability, order_in
from annotators.validation.label_queue import doubt_of_confidence, inclusion, label_queue
from annotators.validation.prediction_powered import corrected_estimate, labelled_units
from annotators.validation.study_validation import judged_fields
from lab.cli.main import main
from lab.core.errors import LabError
from lab.core.study.label import Act
from lab.core.study.protocol import Field, Option, Protocol
from lab.core.study.study import Study, Unit
from lab.core.task.task import Actor
from lab.core.values.ids_and_clock import now, uuid7
from lab.studies.planning.active_dealing import QUEUED
from lab.studies.progress.study_data import load_study_data
from store.copies.kit_export import make_kit
from store.store import Store
from tests.crossed import soak
from tests.studies import label, study

DONE = Protocol(
    "done", "Done?", "run", (Field("state", "Was it completed?", "nominal", (Option("completed"), Option("not"))),)
)
UNITS, FIRST = 40, 16
JUDGE = "judge-canary"


def says(
    store: Store, plan: Study, one: Unit, actor: Actor, done: bool, run: int = 1, sure: float | None = None
) -> None:
    model = actor.kind == "model"
    word = label(
        plan, one, "", "state", "completed" if done else "not", rater=actor, run=run,
        config_sha="c" * 64 if model else "", confidence=sure,
    )  # fmt: skip
    store.labels.record(plan, one, word)
    store.labels.hand_in(plan, one, Act(uuid7(), plan.id, 1, actor, "commit", now(), one.id, run))


def is_unsure(at: int) -> bool:
    return at % 4 == 1


@pytest.fixture
def judged(tmp_path: Path) -> Iterator[tuple[Store, Study, list[Unit]]]:
    """40 units that a judge answered twice: at every fourth it said one thing and then the other."""
    units = [Unit(f"u{i:02}", runs=(f"r{i}",)) for i in range(UNITS)]
    plan = study(units, DONE, raters=("R1", "R2"), overlap=2, width=0.9)
    with Store.open(tmp_path / "lab.db") as store:
        store.studies.freeze(plan, units)
        for at, one in enumerate(units):
            for run in (1, 2):
                says(store, plan, one, Actor("model", JUDGE), at % 2 == 0 or (run == 2 and is_unsure(at)), run)
        yield store, plan, units


def call(*words: str) -> int:
    try:
        return main([*words])
    except SystemExit as left:
        return left.code if isinstance(left.code, int) else 1


def deal(store: Store, plan: Study, *more: str) -> int:
    return call("study", "deal", plan.id, "--order", "active", *more, "--db", str(store.database.path))


# -- the order -----------------------------------------------------------------------------------------------------


def test_doubt_is_where_runs_differ_or_the_judge_is_unsure(tmp_path: Path) -> None:
    units = [Unit(f"u{i}", runs=(f"r{i}",)) for i in range(4)]
    plan = study(units, DONE)
    with Store.open(tmp_path / "lab.db") as store:
        store.studies.freeze(plan, units)
        one, two = Actor("model", "one"), Actor("model", "two")
        says(store, plan, units[0], one, True, sure=0.9)
        says(store, plan, units[1], one, True)
        says(store, plan, units[1], two, False)
        says(store, plan, units[2], one, True, sure=0.8)
        says(store, plan, units[2], two, True, sure=1.0)
        found = doubts(load_study_data(store, plan))
    assert found["u0"] == pytest.approx(0.3)  # sqrt(.9 x .1): one answer, with a confidence
    assert found["u1"] == pytest.approx(0.5)  # two that differ
    assert found["u2"] == pytest.approx((0.75**0.5 * 0.25**0.5 + 0.3) / 2)  # two that agree, sure by .9 in the mean
    assert found["u3"] == 0.5  # nobody said anything


def test_what_judges_are_unsure_of_is_likelier_to_come_first(judged: tuple[Store, Study, list[Unit]]) -> None:
    store, plan, units = judged
    order = active_order(load_study_data(store, plan), FIRST)
    assert sorted(order.units) == [one.id for one in units]
    assert order.judges == (JUDGE,)
    likely = dict(zip(order.units, order.probability, strict=True))
    assert sum(likely.values()) == pytest.approx(FIRST)
    sure, unsure = (
        {round(likely[one.id], 9) for at, one in enumerate(units) if is_unsure(at) is of} for of in (False, True)
    )
    assert len(sure) == len(unsure) == 1
    assert min(sure) > 0
    assert unsure.pop() > 1.09 * sure.pop()
    assert active_order(load_study_data(store, plan), FIRST) == order


def test_a_study_is_dealt_in_that_order_and_it_is_kept(
    judged: tuple[Store, Study, list[Unit]], capsys: pytest.CaptureFixture[str]
) -> None:
    store, plan, _ = judged
    assert deal(store, plan, "--first", str(FIRST)) == 0
    order = order_in(store.labels.acts_of(plan, QUEUED))
    assert order is not None
    assert order.drawn == FIRST
    for rater in plan.raters:
        assert [one.unit for one in store.studies.assignments(plan, rater)] == list(order.units)
    assert deal(store, plan) == 0
    assert "all was dealt before" in capsys.readouterr().out
    assert len(store.labels.acts_of(plan, QUEUED)) == 1


def test_no_rater_learns_that_there_is_such_an_order(judged: tuple[Store, Study, list[Unit]], tmp_path: Path) -> None:
    store, plan, _ = judged
    assert deal(store, plan) == 0
    make_kit(store, plan, "R1", tmp_path / "kit.db")
    told = (tmp_path / "kit.db").read_bytes()
    for hidden in (JUDGE, "probability", "drawn", "uniform", '"width"'):
        assert hidden.encode() not in told
    with Store.open(tmp_path / "kit.db") as kit:
        assert [act for act in kit.labels.acts(kit.studies.study(plan.id)) if act.act == "queued"] == []


@pytest.mark.parametrize(
    ("more", "code", "told"),
    [
        (("--first", "0"), 2, "--first: 0 is not from 1 to the 40 units"),
        (("--first", "41"), 2, "41 is not from 1 to the 40 units"),
    ],
)
def test_what_cannot_be_drawn_is_refused_and_nothing_is_dealt(
    judged: tuple[Store, Study, list[Unit]],
    capsys: pytest.CaptureFixture[str],
    more: tuple[str, ...],
    code: int,
    told: str,
) -> None:
    store, plan, _ = judged
    assert deal(store, plan, *more) == code
    assert told in capsys.readouterr().err
    assert store.studies.assignments(plan) == []
    assert store.labels.acts_of(plan, QUEUED) == []


def test_without_a_judge_and_where_order_is_given_there_is_none(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    units = [Unit("a", runs=("r",)), Unit("b", runs=("s",))]
    with Store.open(tmp_path / "lab.db") as store:
        store.studies.freeze(plan := study(units, DONE), units)
        assert deal(store, plan) == 1
        assert "has no judge's answers to order it by yet" in capsys.readouterr().err
        assert call("study", "deal", plan.id, "--first", "1", "--db", str(store.database.path)) == 2
        assert "--first is for --order active" in capsys.readouterr().err
        assert call("study", "deal", plan.id, "--db", str(store.database.path)) == 0
        assert deal(store, plan) == 1
        assert "is dealt already, in an order of chance" in capsys.readouterr().err
    onward = replace(plan, protocol=replace(DONE, forward=True))
    with pytest.raises(LabError, match="order of its own"):
        deal_in_order(onward, units, [])


# -- the weights ---------------------------------------------------------------------------------------------------


@soak
def test_a_rate_is_right_wherever_labelling_stops() -> None:
    """The judge is wrong where it is unsure: unweighted labels would be far off."""
    dice = np.random.default_rng(4)
    right = np.where(np.arange(UNITS) % 2 == 0, 0.55, 0.97)
    likely = inclusion(doubt_of_confidence(right), FIRST)
    names = [f"u{i}" for i in range(UNITS)]
    stops = (12, FIRST, 28)
    off: dict[int, list[float]] = {labelled: [] for labelled in stops}
    plain: dict[int, list[float]] = {labelled: [] for labelled in stops}
    for seed in range(1500):
        truth = np.where(np.arange(UNITS) % 2 == 0, dice.random(UNITS) < 0.8, dice.random(UNITS) < 0.3)
        said = np.where(dice.random(UNITS) < right, truth, ~truth).astype(np.float64)
        queue = label_queue(likely, seed).order
        rest = dice.permutation(np.setdiff1d(np.arange(UNITS), queue))
        units = [names[at] for at in (*queue, *rest)]
        order = ActiveOrder(("j",), FIRST, 0.3, tuple(units), tuple(likely[[*queue, *rest]].tolist()))
        for labelled in stops:
            done = np.concatenate((queue, rest))[:labelled]
            people = np.full(UNITS, np.nan)
            people[done] = truth[done]
            weights = labelled_probability(order, names, {names[at] for at in done})
            counted = corrected_estimate(labelled_units(said, people, weights), power=1.0).corrected
            off[labelled].append(float(counted.value or 0) - 0.55)
            plain[labelled].append(float(np.nanmean(people)) - 0.55)
    for labelled in stops:
        mean, spread = np.mean(off[labelled]), np.std(off[labelled])
        assert abs(mean) < 3 * spread / len(off[labelled]) ** 0.5 + 0.006, labelled
        assert abs(np.mean(plain[labelled])) > 4 * abs(mean), labelled


def test_how_likely_is_counted_from_what_is_labelled() -> None:
    order = ActiveOrder(("j",), 2, 0.3, ("a", "b", "c", "d"), (0.8, 0.6, 0.4, 0.2))
    found = labelled_probability(order, ["a", "b", "c", "d", "new", "newer"], {"a", "b", "c", "new"})
    assert found.tolist() == pytest.approx([0.8 + 0.2 / 2, 0.6 + 0.4 / 2, 0.4 + 0.6 / 2, 0.2 + 0.8 / 2, 0.5, 0.5])
    assert labelled_probability(order, ["a"], {"a"}).tolist() == pytest.approx([0.4])


def test_validation_weighs_labels_and_says_so(
    judged: tuple[Store, Study, list[Unit]], capsys: pytest.CaptureFixture[str]
) -> None:
    """The judge is wrong at all it is unsure of: weighted by hand, over the units that two people labelled."""
    store, plan, units = judged
    assert deal(store, plan, "--first", str(FIRST)) == 0
    assert capsys.readouterr().out.split()[:5] == ["person", "pilot", "then", "once", "more"], "no unit is called first"
    order = order_in(store.labels.acts_of(plan, QUEUED))
    assert order is not None
    by_id = {one.id: (at, one) for at, one in enumerate(units)}
    done = order.units[:12]
    for id in done:
        at, one = by_id[id]
        for rater in plan.raters:
            says(store, plan, one, Actor("human", rater), at % 2 == 0 or is_unsure(at))
    likely = dict(zip(order.units, order.probability, strict=True))
    weigh = {id: 1 / likely[id] for id in done}
    right = sum(weigh[id] for id in done if not is_unsure(by_id[id][0])) / sum(weigh.values())
    (found,) = judged_fields(load_study_data(store, plan), JUDGE)
    rates = {rate.statistic: rate.estimate.value for rate in found.validation.rates}
    assert rates["accuracy"] == pytest.approx(right)
    people = sum(weigh[id] for id in done if by_id[id][0] % 2 == 0 or is_unsure(by_id[id][0])) / sum(weigh.values())
    assert found.corrected[0][1].people.value == pytest.approx(people)
    assert found.corrected[0][1].labelled == 12
    db = str(store.database.path)
    assert call("judge", plan.id, "--validate", "--db", db) == 0
    assert "People labelled first where judges were unsure." in " ".join(capsys.readouterr().out.split())
    assert call("study", "status", plan.id, "--db", db) == 0
    assert f"{JUDGE}, state: interval" in capsys.readouterr().out
    assert call("study", "status", plan.id, "--json", "--db", db) == 0
    (interval,) = json.loads(capsys.readouterr().out)["intervals"]
    assert (interval["planned"], interval["labelled"], interval["items"]) == (0.9, 12, UNITS)
    assert interval["reached"] is True
    assert interval["more"] == 0
    assert call("study", "watch", plan.id, "--once", "--db", db) == 0
    assert "planned 90.0: reached, nobody needs to label more (12 of 40 items labelled)" in capsys.readouterr().out
