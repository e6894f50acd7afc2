"""Which statistic a field gets, between whom, and the sentence in its place where there is none."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from annotators import protocols
from annotators.agreement.agreements import agreements, agreements_by_pair, confusion, disputed_places, runs_wanted
from annotators.agreement.ratings.fields import numbers_of, ratings_of
from annotators.study_data import StudyData
from lab.core.errors import LabError
from lab.core.study.agreement import Agreement, IntervalTerms
from lab.core.study.protocol import Field, Option, Protocol
from lab.core.study.study import Target, Unit
from lab.core.task.task import Actor, Task, Tdg, TdgNode
from store.store import Store
from tests.answered import R1, R2, R3, Answered, M, N, protocol
from tests.loaded_late import LoadedLate

metrics = LoadedLate("sklearn.metrics")

YES_NO = {"c": "completed", "n": "not_completed", "?": "?cannot_judge"}
NODES = (Target("a", "a", kind="fixed"), Target("b", "b", kind="flexible"))
KINDS = Protocol(
    "kinds", "Kinds", "run",
    (
        Field("text", "Which?", "text"), Field("step", "When?", "step"), Field("box", "Where?", "box"),
        Field("much", "How much?", "interval", least=0, most=10, step=1),
        Field("well", "How well?", "ordinal", (Option("bad"), Option("fair"), Option("good"))),
        Field("stars", "How many?", "ordinal", tuple(Option(str(i)) for i in range(1, 6))),
    ),
)  # fmt: skip


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store.open(tmp_path / "lab.db") as opened:
        yield opened


def of(found: list[Agreement], **like: Any) -> list[Agreement]:
    """Those whose fields are so."""
    return [one for one in found if all(getattr(one, name) == value for name, value in like.items())]


def names(found: list[Agreement], **like: Any) -> list[str]:
    return [one.statistic for one in of(found, **like)]


def only(found: list[Agreement], **like: Any) -> Agreement:
    [one] = of(found, **like)
    return one


def rated(store: Store, raters: tuple[Actor, ...] = (R1, R2, R3), units: int = 12, **changes: Any) -> Answered:
    """Nodes of several runs, by people who mostly agree."""
    dice = random.Random(5)
    of = [Unit(f"u{i}", (f"run{i}",), targets=NODES) for i in range(units)]
    people = [rater.id for rater in raters if rater.kind == "human"]
    made = Answered(store, of, protocol("tdg"), raters=people, **changes)
    said = {
        (unit.id, target.id): "".join(_nearly(dice, truth) for _ in raters)
        for unit in of for target in NODES for truth in [dice.choice("cn")]
    }  # fmt: skip
    made.table("state", raters, said, YES_NO)
    return made


def _nearly(dice: random.Random, truth: str) -> str:
    return truth if dice.random() < 0.85 else "cn"[truth == "c"]


# -- which statistic -------------------------------------------------------------------------------------------


def test_three_people_of_every_unit_get_fleiss_beside_percent_ac1_and_alpha(store: Store) -> None:
    found = agreements(rated(store).studied())
    wanted = ["percent", "percent exact", "fleiss kappa", "ac1", "alpha nominal"]
    for part in ("before", "after", "fixed, before", "fixed, after", "flexible, before", "flexible, after"):
        assert names(found, field="state", part=part, between="people") == wanted
    assert names(found, field="partial", part="") == ["percent", "percent exact", "fleiss kappa", "ac1"]
    assert names(found, field="partial", part="fixed") == ["percent", "percent exact", "fleiss kappa", "ac1"]


def test_two_people_get_cohen(store: Store) -> None:
    found = agreements(rated(store, (R1, R2)).studied())
    assert names(found, field="state", part="before") == ["percent", "cohen kappa", "ac1", "alpha nominal"]


def test_where_units_have_different_numbers_of_raters_there_is_no_fleiss(store: Store) -> None:
    units = [Unit(f"u{i}", (f"run{i}",), targets=NODES) for i in range(4)]
    dealt = [
        (rater, unit.id, 1) for i, unit in enumerate(units) for rater in (("R1", "R2", "R3") if i else ("R1", "R2"))
    ]
    made = Answered(store, units, protocol("tdg"), dealt=dealt)
    for rater, unit, _ in dealt:
        made.says(Actor("human", rater), unit, "a", "state", "completed")
        made.hands_in(Actor("human", rater), unit)
    found = agreements(made.studied())
    assert names(found, field="state", part="before") == ["percent", "percent exact", "ac1", "alpha nominal"]


def test_what_was_planned_is_marked_and_always_there(store: Store) -> None:
    units = [Unit(f"u{i}", (f"run{i}",), targets=NODES) for i in range(4)]
    dealt = [("R1", "u0", 1), ("R2", "u0", 1), ("R1", "u1", 1), ("R2", "u1", 1), ("R3", "u1", 1)]
    made = Answered(store, units, protocol("tdg"), dealt=dealt, statistics=("fleiss kappa", "ac1"))
    for rater, unit, _ in dealt:
        made.says(Actor("human", rater), unit, "a", "state", "completed" if unit == "u0" else "not_completed")
        made.hands_in(Actor("human", rater), unit)
    found = of(agreements(made.studied()), field="state", part="before")
    assert {one.statistic for one in found if one.planned} == {"fleiss kappa", "ac1"}


def test_each_kind_of_answer_has_its_own(store: Store) -> None:
    units = [Unit(f"u{i}", (f"run{i}",)) for i in range(6)]
    made = Answered(store, units, KINDS, raters=("R1", "R2"))
    dice = random.Random(1)
    for i, unit in enumerate(units):
        for rater in (R1, R2):
            off = dice.choice((0, 0, 1, 2)) if rater is R2 else 0
            made.says(rater, unit.id, "", "text", "The  cart" if off else "the cart")
            made.says(rater, unit.id, "", "step", i + 1 + off)
            made.says(rater, unit.id, "", "box", [0, 0, 100, 100 + 200 * off])
            made.says(rater, unit.id, "", "much", i + off)
            made.says(rater, unit.id, "", "well", ("bad", "fair", "good")[min(2, i % 3 + (off > 0))])
            made.says(rater, unit.id, "", "stars", str(min(5, 1 + i % 4 + (off > 1))))
            made.hands_in(rater, unit.id)
    studied = made.studied()
    found = agreements(studied)
    ordinal = ["percent", "cohen kappa", "ac1", "alpha nominal", "weighted kappa", "ac2", "alpha ordinal"]
    numbers = ["icc(A,1)", "icc(A,k)", "alpha interval", "mae"]
    assert names(found, field="text") == ["same text"]
    assert names(found, field="step") == ["same step", "within one step"]
    assert names(found, field="box") == ["box iou>=.5", "centre in box"]
    assert names(found, field="much") == numbers
    assert names(found, field="well") == ordinal
    assert names(found, field="stars") == [*ordinal, *numbers]
    assert only(found, field="text").value == 1.0  # but for case and spaces
    steps = numbers_of(studied, "step").values
    apart = abs(steps[:, 0] - steps[:, 1])
    assert only(found, statistic="same step").value == pytest.approx((apart == 0).mean())
    assert only(found, statistic="within one step").value == pytest.approx((apart <= 1).mean())
    assert only(found, field="much", statistic="mae").value == pytest.approx(apart.mean())
    assert only(found, statistic="box iou>=.5").value == pytest.approx((apart == 0).mean())  # 1, 1/3 or 1/5
    assert only(found, statistic="centre in box").value == pytest.approx((apart == 0).mean())


def test_numbers_that_not_all_give_are_compared_one_way(store: Store) -> None:
    units = [Unit(f"u{i}", (f"run{i}",)) for i in range(6)]
    pairs = [("R1", "R2"), ("R2", "R3"), ("R1", "R3")]
    dealt = [(rater, unit.id, 1) for i, unit in enumerate(units) for rater in pairs[i % 3]]
    made = Answered(store, units, protocol("completion-rating"), dealt=dealt)
    for i, (rater, unit, _) in enumerate(dealt):
        made.says(Actor("human", rater), unit, "", "completion", 10 * int(unit[1:]) + i % 2)
        made.hands_in(Actor("human", rater), unit)
    assert names(agreements(made.studied())) == ["icc(1)", "alpha interval", "mae"]


# -- judges and repeats ----------------------------------------------------------------------------------------


def test_judges_are_compared_with_most_people_and_with_one_another(store: Store) -> None:
    studied = rated(store, (R1, R2, R3, M, N), statistics=("accuracy", "f1")).studied()
    found = agreements(studied)
    against = ["accuracy", "precision", "recall", "f1", "cohen kappa", "ac1"]
    assert names(found, field="state", part="before", between="judge against most people") == against
    assert names(found, field="state", part="before", between="judge minus other") == ["accuracy", "cohen kappa", "f1"]
    accuracy = {
        name: only(found, part="before", between=f"{name} against most people", statistic="accuracy")
        for name in ("judge", "other")
    }
    difference = only(found, part="before", between="judge minus other", statistic="accuracy")
    values = [one.value for one in (*accuracy.values(), difference)]
    assert None not in values
    assert values[0] - values[1] == pytest.approx(values[2])  # type: ignore[operator]
    assert accuracy["judge"].planned
    assert difference.low is not None
    people = ratings_of(studied, "state").codes
    judge = ratings_of(studied, "state", [studied.judges[0]]).codes[:, 0]
    most = (people.sum(axis=1) >= 2).astype(int)
    assert values[0] == pytest.approx((judge == most).mean())
    assert not of(found, field="partial", between="judge against most people")  # it raised no flag


def test_what_a_judge_left_out_is_missing(store: Store) -> None:
    made = rated(store, (R1, R2, R3))
    for i in range(6):
        made.says(M, f"u{i}", "a", "state", "completed")
        made.says(M, f"u{i}", "b", "state", reason_missing="cannot_judge")
    one = only(agreements(made.studied()), part="before", between="judge against most people", statistic="accuracy")
    assert one.places == 6
    assert one.reasons == {"cannot_judge": 6, "not_rated": 12}
    assert one.missing == pytest.approx(18 / 24)


def test_of_more_than_two_answers_each_is_what_precision_is_about(store: Store) -> None:
    units = [Unit(f"u{i}", (f"run{i}",)) for i in range(6)]
    made = Answered(store, units, protocol("success"), raters=("R1", "R2"))
    for i, unit in enumerate(units):
        said = ("success", "failure", "impossible")[i % 3]
        for rater in (R1, R2, M):
            made.says(rater, unit.id, "", "outcome", said if rater is not M or i else "failure")
        made.hands_in(R1, unit.id)
        made.hands_in(R2, unit.id)
    found = agreements(made.studied())
    against = names(found, field="outcome", between="judge against most people")
    assert "precision of impossible" in against
    assert "f1" not in against
    assert only(found, statistic="recall of success", between="judge against most people").value == 0.5


def test_ordered_answers_of_judges_and_pairs_have_weighted_kappa_and_ac2_as_peoples_have(store: Store) -> None:
    units = [Unit(f"u{i}", (f"run{i}",)) for i in range(9)]
    made = Answered(store, units, protocol("personal-rating"), raters=("R1", "R2"))
    judge, other = "112334551", "212434551"
    for i, unit in enumerate(units):
        for rater, value in ((R1, 1 + i % 5), (R2, 1 + i % 5), (M, judge[i]), (N, other[i])):
            if (rater, i) != (R2, 8):
                made.says(rater, unit.id, "", "personal", str(value))
        made.hands_in(R1, unit.id)
        if i < 8:
            made.hands_in(R2, unit.id)
    found = agreements(made.studied())
    names_of = ["cohen kappa", "ac1", "weighted kappa", "ac2"]
    truth = [1 + i % 5 for i in range(9)]
    for name, said in (("judge", judge), ("other", other)):
        against = of(found, field="personal", between=f"{name} against most people")
        assert [one.statistic for one in against][-4:] == names_of
        expected = metrics.cohen_kappa_score(truth, [int(one) for one in said], weights="quadratic", labels=range(1, 6))
        assert only(against, statistic="weighted kappa").value == pytest.approx(expected)
        weight = [[1 - (a - b) ** 2 / 16 for b in range(5)] for a in range(5)]
        observed = sum(weight[a - 1][int(b) - 1] for a, b in zip(truth, said, strict=True)) / 9
        share = [(truth.count(one) + said.count(str(one))) / 18 for one in range(1, 6)]
        chance = sum(map(sum, weight)) / 20 * sum(one * (1 - one) for one in share)
        assert only(against, statistic="ac2").value == pytest.approx((observed - chance) / (1 - chance))
    apart = of(found, field="personal", between="judge minus other")
    assert [one.statistic for one in apart] == ["accuracy", "cohen kappa", "weighted kappa", "ac2"]
    pair = agreements_by_pair(made.studied(), "personal")
    assert [one.statistic for one in pair] == ["weighted kappa", "cohen kappa", "percent", "ac1", "ac2"]
    assert {(one.places, tuple(one.reasons.items())) for one in pair} == {(8, (("not_handed_in", 1),))}


def test_a_judge_of_numbers_is_compared_with_the_mean(store: Store) -> None:
    units = [Unit(f"u{i}", (f"run{i}",)) for i in range(6)]
    made = Answered(store, units, protocol("completion-rating"), raters=("R1", "R2"))
    for i, unit in enumerate(units):
        for rater, value in ((R1, 10 * i), (R2, 10 * i + 10), (M, 10 * i + 7)):
            made.says(rater, unit.id, "", "completion", value)
        made.hands_in(R1, unit.id)
        made.hands_in(R2, unit.id)
    found = of(agreements(made.studied()), between="judge against the mean of people")
    assert [one.statistic for one in found] == ["mae", "mse", "pearson", "spearman"]
    assert [one.value for one in found] == [pytest.approx(2), pytest.approx(4), pytest.approx(1), pytest.approx(1)]


def test_repeats_are_compared_with_the_first_rating_each_person_s_own(store: Store) -> None:
    units = [Unit(f"u{i}", (f"run{i}",)) for i in range(6)]
    dealt = [
        (rater, unit.id, run) for rater in ("R1", "R2") for run in (1, 2) for unit in units if run < 2 or unit.id < "u3"
    ]
    made = Answered(
        store, units, protocol("personal-rating"), raters=("R1", "R2"), dealt=dealt, statistics=("intra-rater",)
    )
    for rater, unit, run in dealt:
        value = str(1 + int(unit[1:]) % 5 + (run == 2 and rater == "R1" and unit == "u0"))
        made.says(Actor("human", rater), unit, "", "personal", value, run=run)
        made.hands_in(Actor("human", rater), unit, run)
    found = of(agreements(made.studied()), between="the same person again")
    assert [one.statistic for one in found] == [
        "percent",
        "cohen kappa",
        "ac1",
        "weighted kappa",
        "ac2",
        "icc(A,1)",
        "mae",
    ]
    assert found[0].value == pytest.approx(5 / 6)
    assert (found[0].places, found[0].units, found[0].traces, found[0].raters) == (6, 3, 3, 2)
    assert all(one.planned for one in found)


def test_a_judge_s_runs_are_its_repeats(store: Store) -> None:
    made = rated(store, (R1, R2))
    for run in (1, 2, 3):
        for i in range(6):
            made.says(M, f"u{i}", "a", "state", "completed" if run < 3 or i else "not_completed", run=run)
    found = of(agreements(made.studied()), part="before", between="judge's runs")
    assert [one.statistic for one in found] == ["percent", "percent exact"]
    assert [one.value for one in found] == [pytest.approx((5 + 1 / 3) / 6), pytest.approx(5 / 6)]


# -- why there is none -----------------------------------------------------------------------------------------


def test_an_empty_study_says_so(store: Store) -> None:
    made = Answered(store, [Unit("u1", ("run1",), targets=NODES)], protocol("tdg"))
    found = agreements(made.studied())
    assert {one.undefined for one in found} == {"nobody's answers are handed in yet"}
    assert all(one.value is None for one in found)
    assert agreements_by_pair(made.studied(), "state") == []
    assert disputed_places(made.studied(), "state") == []
    assert confusion(made.studied(), "state").counts == ((0, 0), (0, 0))


def test_a_study_without_units_says_so(store: Store) -> None:
    made = Answered(store, [], protocol("tdg"))
    assert {one.undefined for one in agreements(made.studied())} == {"nobody's answers are handed in yet"}


def test_a_question_that_nobody_answered_on_sheets_that_are_in_says_so(store: Store) -> None:
    asked = Protocol("p", "P", "run", (*KINDS.fields[4:], Field("why", "Why?", "text", required=False)))
    made = Answered(store, [Unit("u1", ("run1",)), Unit("u2", ("run2",), pilot=True)], asked)
    made.says(R1, "u2", "", "well", "good")
    made.says(R1, "u2", "", "stars", "2")
    made.hands_in(R1, "u2")  # the pilot is in no agreement
    assert {one.undefined for one in agreements(made.studied())} == {"nobody's answers are handed in yet"}
    for who in (R1, R2):
        made.says(who, "u1", "", "well", "good")
        made.says(who, "u1", "", "stars", "2")
        made.hands_in(who, "u1")
    found = agreements(made.studied())
    assert only(found, field="why").undefined == "nobody has answered it"
    assert only(found, field="well", statistic="percent").value == 1.0


def test_one_rater_is_named(store: Store) -> None:
    made = Answered(store, [Unit("u1", ("run1",), targets=NODES)], protocol("tdg"))
    made.table("state", (R2,), {("u1", "a"): "c"}, YES_NO)
    found = of(agreements(made.studied()), field="state", part="before")
    assert [one.undefined for one in found] == ["only R2 has answered"]
    assert found[0].reasons == {"not_handed_in": 4, "unanswered": 1}


def test_no_overlap_is_told(store: Store) -> None:
    units = [Unit(f"u{i}", (f"run{i}",), targets=NODES) for i in range(2)]
    made = Answered(store, units, protocol("tdg"), dealt=[("R1", "u0", 1), ("R2", "u1", 1)])
    for rater, unit in ((R1, "u0"), (R2, "u1")):
        made.says(rater, unit, "a", "state", "completed")
        made.hands_in(rater, unit)
    found = of(agreements(made.studied()), field="state", part="before", between="people")
    assert [one.undefined for one in found] == ["no item was answered by two people"]


def test_constant_answers_have_no_kappa_and_never_a_perfect_one(store: Store) -> None:
    units = [Unit(f"u{i}", (f"run{i}",), targets=NODES) for i in range(5)]
    made = Answered(store, units, protocol("tdg"))
    made.table("state", (R1, R2, R3), {(unit.id, id): "ccc" for unit in units for id in "ab"}, YES_NO)
    found = of(agreements(made.studied()), field="state", part="before")
    values = {one.statistic: (one.value, one.undefined) for one in found}
    assert values["percent"] == (1.0, "")
    assert values["fleiss kappa"] == (None, "one category")
    assert values["alpha nominal"] == (None, "one category")
    assert all(one.low is None and one.no_interval for one in found if one.value is not None)


def test_a_rater_who_skipped_half_is_counted_as_missing(store: Store) -> None:
    units = [Unit(f"u{i}", (f"run{i}",), targets=NODES) for i in range(8)]
    made = Answered(store, units, protocol("tdg"))
    said = {(unit.id, id): "cc?" if i % 2 else "cnc" for i, unit in enumerate(units) for id in "ab"}
    made.table("state", (R1, R2, R3), said, YES_NO)
    one = only(agreements(made.studied()), field="state", part="before", statistic="ac1")
    assert one.value is not None
    assert one.missing == pytest.approx(8 / 48)
    assert one.reasons == {"cannot_judge": 8}


def test_a_bootstrap_tells_its_seed(store: Store) -> None:
    studied = rated(store).studied(IntervalTerms("bootstrap", resamples=200, seed=7))
    one = only(agreements(studied), field="state", part="before", statistic="ac1")
    assert (one.interval, one.resamples, one.seed) == ("bootstrap", 200, 7)
    plain = only(agreements(rated_again(studied)), field="state", part="before", statistic="ac1")
    assert (plain.value, plain.low, plain.high) == (one.value, one.low, one.high)


def rated_again(studied: StudyData) -> StudyData:
    """The same study, nothing of it worked out yet."""
    return StudyData(
        studied.study, studied.units, studied.columns, studied.acts, case=studied.case, other=studied.other,
        how=studied.how,
    )  # fmt: skip


# -- pairs, grids, where they differ ---------------------------------------------------------------------------


def test_each_two_people_have_their_numbers(store: Store) -> None:
    studied = rated(store, (R1, R2, R3, M)).studied()
    found = agreements_by_pair(studied, "state")
    assert [one.between for one in found if one.statistic == "percent"] == ["R1 and R2", "R1 and R3", "R2 and R3"]
    codes = ratings_of(studied, "state").codes
    assert only(found, between="R1 and R3", statistic="percent").value == pytest.approx(
        (codes[:, 0] == codes[:, 2]).mean()
    )
    assert {one.statistic for one in found} == {"cohen kappa", "percent", "ac1"}


def test_a_grid_counts_each_pair_once(store: Store) -> None:
    units = [Unit(f"u{i}", (f"run{i}",), targets=NODES) for i in range(2)]
    made = Answered(store, units, protocol("tdg"))
    made.table("state", (R1, R2, R3, M), {("u0", "a"): "ccnc", ("u0", "b"): "nnnc", ("u1", "a"): "c.nn"}, YES_NO)
    studied = made.studied()
    grid = confusion(studied, "state")
    assert (grid.down, grid.across) == (("completed", "not_completed"),) * 2
    assert grid.counts == ((1, 1.5), (1.5, 3))
    assert confusion(studied, "state", "R1", "R3").counts == ((0, 2), (0, 1))
    assert confusion(studied, "state", "truth", "judge").counts == ((1, 0), (1, 0))  # of u1 there is no truth
    assert confusion(studied, "state", other="judge").counts == ((1, 0), (1, 0))
    with pytest.raises(LabError, match="R9"):
        confusion(studied, "state", "R9", "R1")


def test_where_they_differ_comes_first_where_they_split_most_evenly(store: Store) -> None:
    units = [Unit(f"u{i}", (f"run{i}",), targets=NODES) for i in range(3)]
    made = Answered(store, units, protocol("tdg"))
    said = {("u0", "a"): "ccn", ("u0", "b"): "ccc", ("u1", "a"): "c.n", ("u2", "a"): "ncn"}
    made.table("state", (R1, R2, R3, M), {place: words + "c" for place, words in said.items()}, YES_NO)
    studied = made.studied()
    assert disputed_places(studied, "state") == [("u1", "a"), ("u0", "a"), ("u2", "a")]
    assert disputed_places(studied, "state", ("completed", "completed")) == [("u0", "a"), ("u0", "b")]
    assert disputed_places(studied, "state", ("not_completed", "completed")) == [("u1", "a"), ("u0", "a"), ("u2", "a")]
    assert disputed_places(studied, "state", ("not_completed", "completed"), "R1", "judge") == [("u2", "a")]
    assert disputed_places(studied, "state", None, "R1", "R3") == [("u1", "a"), ("u0", "a")]


def test_numbers_differ_by_how_far_they_are_apart(store: Store) -> None:
    units = [Unit(f"u{i}", (f"run{i}",)) for i in range(3)]
    made = Answered(store, units, protocol("completion-rating"), raters=("R1", "R2"))
    for unit, one, other in (("u0", 10, 20), ("u1", 5, 5), ("u2", 0, 90)):
        for rater, value in ((R1, one), (R2, other)):
            made.says(rater, unit, "", "completion", value)
            made.hands_in(rater, unit)
    assert disputed_places(made.studied(), "completion") == [("u2", ""), ("u0", "")]
    with pytest.raises(LabError, match="no categories"):
        confusion(made.studied(), "completion")


# -- planning --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("width", "least", "most"), [(0.2, 90, 110), (0.1, 390, 410), (0.4, 20, 27)])
def test_an_interval_half_as_wide_takes_about_four_times_the_runs(width: float, least: int, most: int) -> None:
    one = Agreement("state", "ac1", 0.5, low=0.4, high=0.6, interval="jackknife-t", traces=100)
    wanted = runs_wanted(one, width)
    assert wanted is not None
    assert least <= wanted <= most


def test_the_width_wished_for_is_the_width_that_there_is() -> None:
    one = Agreement("state", "fleiss kappa", 0.83, low=0.71, high=0.90, interval="jackknife-t", traces=57)
    assert runs_wanted(one, 0.90 - 0.71) == 57
    error = Agreement("much", "mae", 3.0, low=2.0, high=4.0, interval="jackknife-t", traces=10)
    assert runs_wanted(error, 1.0) == 40


def test_the_plan_is_made_on_the_scale_on_which_the_interval_was_made() -> None:
    one = Agreement("state", "ac1", 0.61, low=0.5, high=0.7, interval="jackknife-t", traces=1000)
    half, middle = (math.log(0.5) - math.log(0.3)) / 2, math.sqrt(0.5 * 0.3)
    assert runs_wanted(one, 0.1) == math.ceil(1000 * (half / math.asinh(0.1 / (2 * middle))) ** 2)
    assert runs_wanted(replace(one, high=1.0), 0.1) == 1000 * 5**2
    below = replace(one, value=-0.2, low=-0.4, high=0.0)
    half, middle = math.log(1.4) / 2, math.sqrt(1.4)
    assert runs_wanted(below, 0.2) == math.ceil(1000 * (half / math.asinh(0.2 / (2 * middle))) ** 2)


def test_without_an_interval_nothing_is_planned() -> None:
    assert runs_wanted(Agreement("state", "ac1", 0.5, no_interval="too few runs", traces=2), 0.1) is None
    assert runs_wanted(Agreement("state", "ac1", undefined="one category"), 0.1) is None
    assert runs_wanted(Agreement("state", "ac1", 0.5, low=0.4, high=0.6, traces=10), 0) is None


def test_what_follows_from_answers_has_pairs_and_no_grid(store: Store) -> None:
    graph = Tdg((TdgNode("a", "a"), TdgNode("b", "b")), (("a", "b"),))
    made = Answered(store, [Unit(f"u{i}", (f"run{i}",), targets=NODES, tdg=graph) for i in range(4)], protocol("tdg"))
    made.table("state", (R1, R2, R3), {
        ("u0", "a"): "ccc", ("u0", "b"): "ccn", ("u1", "a"): "nnn", ("u1", "b"): "nnn",
        ("u2", "a"): "ccc", ("u2", "b"): "nnc", ("u3", "a"): "ccc", ("u3", "b"): "ccc",
    }, YES_NO)  # fmt: skip
    studied = made.studied()
    found = agreements_by_pair(studied, "apr")
    assert only(found, between="R1 and R2", statistic="icc(A,1)").value == pytest.approx(1.0)
    assert only(found, between="R1 and R3", statistic="mae").value == pytest.approx((0.5 + 0.5) / 4)
    asks: tuple[Callable[[StudyData, str], object], ...] = (confusion, disputed_places, agreements_by_pair)
    for ask in asks[:2]:
        with pytest.raises(LabError, match="follows from other answers"):
            ask(studied, "apr")
    for ask in asks:
        with pytest.raises(LabError, match="is not asked in trial v1"):
            ask(studied, "nope")


@pytest.mark.parametrize(
    ("named", "unit", "clusters"),
    [
        ("success", Unit("x", runs=("x",)), "run"),
        ("step-correct", Unit("x@1", runs=("x",), step=0), "run"),
        ("disagreement-cause", Unit("x", runs=("x",), cluster="x"), "run"),
        ("golden-steps", Unit("x", task=Task("x", "general", instruction="Do it.")), "task"),
        ("personal-rating", Unit("x", runs=("x", "o"), cluster="ann", owner="ann"), "user"),
        ("pairwise-sets", Unit("x", cluster="ann"), "user"),
    ],
)
def test_a_number_says_what_its_clusters_are(store: Store, named: str, unit: Unit, clusters: str) -> None:
    answered = Answered(store, [unit], protocols.protocol(named), raters=("R1", "R2"))
    found = agreements(answered.studied())
    assert found
    assert {one.clusters for one in found} == {clusters}
