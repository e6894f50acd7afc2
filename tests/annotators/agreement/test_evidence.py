"""Agreement on evidence: pairs with the same answer and a step each, by hand and pair by pair; what is left out."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import combinations, permutations
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
import pytest

from annotators.agreement.coefficients.additive import value_of
from annotators.agreement.coefficients.numbers import alpha_numbers
from annotators.agreement.evidence import NO_MEDIAN, NO_RUN, ONE_ITEM, agreements_of_evidence
from annotators.agreement.ratings.ratings import NumericRatings, RatedItem
from lab.core.study.agreement import Agreement, IntervalTerms
from lab.core.study.protocol import Field, Option, Protocol
from lab.core.study.study import Study, Target, Unit
from lab.studies.progress.study_data import load_study_data
from store.store import Store
from tests.rated import Answer, rated
from tests.studied_runs import run

STATE = Field("state", "Done?", "nominal", (Option("yes"), Option("no")), evidence=True)
NODES = Protocol("nodes", "Nodes", "run", (STATE,), targets="tdg nodes")
TARGETS = tuple(Target(f"n{at}", f"Node {at}") for at in (1, 2, 3))
Said = dict[str, tuple[str, ...]]
"""By unit and rater: each target's answer (y, n) and its step; `y` alone names none, `.` is no answer."""


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store.open(tmp_path / "lab.db") as opened:
        yield opened


def study(store: Store, said: dict[str, Said], targets: tuple[Target, ...] = TARGETS, **more: Any) -> Study:
    units = [Unit(id, (f"run-{id}",), targets=targets) for id in said]
    answers: dict[str, dict[str, Any]] = {}
    for unit, raters in said.items():
        for rater, words in raters.items():
            sheet = {}
            for target, word in zip(targets, words, strict=True):
                if word != ".":
                    evidence = f"run-{unit}@{word[1:]}" if word[1:] else None
                    sheet[target.id, "state"] = Answer({"y": "yes", "n": "no"}[word[0]], evidence=evidence)
            answers.setdefault(rater, {})[unit] = sheet
    return rated(store, units, NODES, answers, **more)


def numbers(store: Store, plan: Study, how: IntervalTerms = IntervalTerms()) -> dict[str, Agreement]:  # noqa: B008  # frozen
    found = agreements_of_evidence(load_study_data(store, plan, how))
    assert {(one.field, one.part, one.between) for one in found} == {("state", "evidence", "people")}
    return {one.statistic: one for one in found}


SAID: dict[str, Said] = {
    "u1": {"R1": ("y2", "y5", "n9"), "R2": ("y2", "y6", "y9"), "R3": ("y4", "y5", "n9")},
    "u2": {"R1": ("y1", "y7", "y"), "R2": ("y1", "y3", "y8"), "R3": (".", "n3", "y8")},
    "u3": {"R1": ("y3", "y4", "y12"), "R2": ("y3", "y8", "y13"), "R3": ("y3", "y5", "n1")},
}


def steps(said: dict[str, Said]) -> dict[tuple[str, int, str], list[int]]:
    """By unit, target and answer the steps that were named."""
    named: dict[tuple[str, int, str], list[int]] = {}
    for unit, raters in said.items():
        for words in raters.values():
            for at, word in enumerate(words):
                if word[1:]:
                    named.setdefault((unit, at, word[0]), []).append(int(word[1:]))
    return {key: some for key, some in named.items() if len(some) > 1}


def squares(some: list[int]) -> Fraction:
    return Fraction(sum((a - b) ** 2 for a, b in permutations(some, 2)), len(some) - 1)


def test_the_numbers_are_those_of_every_pair(store: Store) -> None:
    found = numbers(store, study(store, SAID))
    assert list(found) == [
        "same step", "within one step", "within three steps", "median distance", "alpha within runs",
        "brennan prediger of steps",
    ]  # fmt: skip
    by_place: dict[tuple[str, int], list[int]] = {}
    for (unit, at, _), some in steps(SAID).items():
        by_place.setdefault((unit, at), []).extend(abs(a - b) for a, b in combinations(some, 2))
    for name, band in (("same step", 0), ("within one step", 1), ("within three steps", 3)):
        shares = [Fraction(sum(one <= band for one in some), len(some)) for some in by_place.values()]
        assert found[name].value == pytest.approx(float(sum(shares, Fraction()) / len(shares)))
        assert found[name].low is not None
    weighted = [one for some in by_place.values() for one in some for _ in range(6 // len(some))]
    assert found["median distance"].value == median(weighted)
    within = sum((squares(some) for some in steps(SAID).values()), Fraction())
    chance = sum(
        (squares([one for (u, _, _), some in steps(SAID).items() if u == unit for one in some]) for unit in SAID),
        Fraction(),
    )
    assert found["alpha within runs"].value == pytest.approx(float(1 - within / chance))


def test_every_number_has_its_n_and_what_is_missing(store: Store) -> None:
    found = numbers(store, study(store, SAID))
    assert found.pop("brennan prediger of steps").undefined == NO_RUN
    for one in found.values():
        assert (one.places, one.units, one.traces, one.raters) == (9, 3, 3, 3)
        assert one.clusters == "run"
        assert one.reasons == {"no_step": 2}, "R1 names no step at the third item of u2, beside two others"
    assert found["median distance"].no_interval == NO_MEDIAN
    told = numbers(store, store.studies.study("trial"), IntervalTerms("bootstrap", resamples=200))
    assert told["same step"].interval == "bootstrap"


def test_of_one_run_alpha_is_krippendorffs_of_its_steps(store: Store) -> None:
    found = numbers(store, study(store, {"u1": SAID["u1"]}))
    values = np.array([[2, 2, 4], [5, 6, 5], [9, np.nan, 9]], dtype=np.float64)
    trace, places = np.zeros(3, dtype=np.int32), tuple(RatedItem("u1", str(at)) for at in range(3))
    plain = alpha_numbers(NumericRatings("state", values, ("R1", "R2", "R3"), trace, ("t",), places))
    assert found["alpha within runs"].value == pytest.approx(value_of(plain))


def test_long_runs_beside_short_ones_do_not_seem_agreement(store: Store) -> None:
    """Steps at random within each run, one run 100 steps after the other: over both at once alpha would be near 1."""
    rng = np.random.default_rng(5)
    targets = tuple(Target(f"n{at}", f"Node {at}") for at in range(12))
    said: dict[str, Said] = {
        f"u{run}": {
            name: tuple(f"y{step}" for step in rng.integers(100 * run + 1, 100 * run + 10, 12)) for name in ("R1", "R2")
        }
        for run in range(6)
    }
    alpha = numbers(store, study(store, said, targets))["alpha within runs"]
    assert alpha.value is not None
    assert abs(alpha.value) < 0.3


def test_where_chance_cannot_be_told_it_says_so(store: Store) -> None:
    one: dict[str, Said] = {f"u{at}": {"R1": (f"y{at}",), "R2": (f"y{at + 1}",)} for at in (1, 2, 3)}
    found = numbers(store, study(store, one, TARGETS[:1]))
    assert (found["alpha within runs"].value, found["alpha within runs"].undefined) == (None, ONE_ITEM)
    assert found["alpha within runs"].places == 0
    assert found["within one step"].value == 1.0


def test_of_one_item_a_run_chance_is_any_place_of_the_run(store: Store) -> None:
    """Of runs of 4 and 9 steps: 5 and 10 places, of which two at random are 4 and 16.5 apart, squared."""
    for name, count in (("u1", 4), ("u2", 9)):
        store.runs.add(run(f"run-{name}", steps=count))
    said: dict[str, Said] = {"u1": {"R1": ("y2",), "R2": ("y3",)}, "u2": {"R1": ("y4",), "R2": ("y7",)}}
    one = numbers(store, study(store, said, TARGETS[:1]))["brennan prediger of steps"]
    assert one.value == pytest.approx(1 - (1 + 9) / (4 + 16.5))
    assert (one.places, one.traces) == (2, 2)


def test_different_answers_are_no_pair(store: Store) -> None:
    said: dict[str, Said] = {"u1": {"R1": ("y1", "n2", "y3"), "R2": ("n1", "y2", "n3")}}
    [only] = agreements_of_evidence(load_study_data(store, study(store, said)))
    assert (only.value, only.undefined) == (None, "no two people gave the same answer with a step")
