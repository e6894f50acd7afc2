"""Agreement on sets of options: MASI and Jaccard by hand, by brute force and by a library; each option; judges."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import combinations, permutations
from pathlib import Path

import krippendorff
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from annotators.agreement.agreements import agreements, agreements_by_pair, confusion, disputed_places
from annotators.agreement.coefficients.additive import value_of
from annotators.agreement.option_sets import (
    SetRatings,
    alpha_of_sets,
    jaccard_distance,
    masi_distance,
    same_set,
    same_set_of_all,
    sets_of,
)
from annotators.agreement.ratings.ratings import NumericRatings, RatedItem
from annotators.study_data import StudyData
from lab.core.errors import LabError
from lab.core.study.agreement import Agreement
from lab.core.study.protocol import Field, Option, Protocol
from lab.core.study.study import Unit
from lab.core.task.task import Actor
from lab.studies.progress.study_data import load_study_data
from store.store import Store
from tests.answered import Answered
from tests.fuzzing_examples import examples
from tests.rated import Answer, rated

OPTIONS = ("slip", "plan", "look", "memory")
MODES = Field("modes", "What went wrong?", "many", tuple(Option(id) for id in OPTIONS), evidence=True)
PROTOCOL = Protocol("modes", "Failure modes", "run", (MODES,))

Set = frozenset[str]


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store.open(tmp_path / "lab.db") as opened:
        yield opened


def ratings(rows: list[list[str | None]]) -> SetRatings:
    """Rows of places: each rater's set as letters of a to d (`-` is the empty set), None where missing."""
    words = list(dict.fromkeys(word for row in rows for word in row if word is not None))
    members = np.array([[letter in word for letter in "abcd"] for word in words], dtype=np.bool_).reshape(-1, 4)
    values = np.array([[np.nan if word is None else float(words.index(word)) for word in row] for row in rows])
    places = tuple(RatedItem(f"u{at}", "") for at in range(len(rows)))
    raters = tuple(f"R{at}" for at in range(len(rows[0])))
    trace = np.arange(len(rows), dtype=np.int32)
    traces = tuple(f"t{at}" for at in range(len(rows)))
    return SetRatings(tuple("abcd"), members, NumericRatings("modes", values, raters, trace, traces, places))


def masi(one: Set, other: Set) -> Fraction:
    """The distance as Passonneau writes it, over sets and in fractions."""
    if one == other:
        return Fraction(0)
    lies = Fraction(2, 3) if one <= other or other <= one else Fraction(1, 3)
    return 1 - Fraction(len(one & other), len(one | other)) * lies


def jaccard(one: Set, other: Set) -> Fraction:
    return 1 - Fraction(len(one & other), len(one | other)) if one | other else Fraction(0)


def reference(rows: list[list[str | None]], distance: object) -> Fraction | None:
    """Krippendorff's alpha pair by pair: every two answers of a place, and every two answers at all."""
    assert callable(distance)
    places = [[frozenset(word.replace("-", "")) for word in row if word is not None] for row in rows]
    places = [one for one in places if len(one) > 1]
    everything = [answer for one in places for answer in one]
    n = len(everything)
    if n < 2:
        return None
    observed = sum(
        (Fraction(distance(a, b), len(one) - 1) for one in places for a, b in permutations(one, 2)), Fraction()
    )
    expected = sum((distance(a, b) for a, b in permutations(everything, 2)), Fraction())
    return 1 - (observed / n) / (expected / (n * (n - 1))) if expected else None


@pytest.mark.parametrize(
    ("one", "other", "by_masi", "by_jaccard"),
    [
        ("a", "a", Fraction(0), Fraction(0)),
        ("-", "-", Fraction(0), Fraction(0)),
        ("-", "a", Fraction(1), Fraction(1)),
        ("a", "b", Fraction(1), Fraction(1)),
        ("a", "ab", Fraction(2, 3), Fraction(1, 2)),  # 1 - 1/2 * 2/3
        ("ab", "bc", Fraction(8, 9), Fraction(2, 3)),  # 1 - 1/3 * 1/3
        ("abc", "abcd", Fraction(1, 2), Fraction(1, 4)),  # 1 - 3/4 * 2/3
    ],
)
def test_distances_by_hand(one: str, other: str, by_masi: Fraction, by_jaccard: Fraction) -> None:
    members = np.array([[letter in word for letter in "abcd"] for word in (one, other)], dtype=np.bool_)
    assert masi_distance(members)[0, 1] == pytest.approx(float(by_masi))
    assert jaccard_distance(members)[0, 1] == pytest.approx(float(by_jaccard))
    assert np.array_equal(masi_distance(members), masi_distance(members).T)


def test_alpha_by_hand() -> None:
    """Three places of two raters: {a}{a}, {a}{a,b}, {b}{b}.

    Jaccard: observed (0 + 1/2 + 0) / 3 = 1/6. Of the 15 pairs of six answers a a a ab b b: a-ab three times 1/2, a-b
    six times 1, ab-b twice 1/2, so expected (3/2 + 6 + 1) / 15 = 17/30, and alpha 1 - (1/6) / (17/30) = 12/17. MASI:
    2/3 in the place of 1/2: observed 2/9, expected (2 + 6 + 4/3) / 15 = 28/45, alpha 1 - (2/9) / (28/45) = 9/14.
    """
    these = ratings([["a", "a"], ["a", "ab"], ["b", "b"]])
    assert value_of(alpha_of_sets(these, "jaccard")) == pytest.approx(12 / 17)
    assert value_of(alpha_of_sets(these, "masi")) == pytest.approx(9 / 14)
    assert value_of(same_set(these)) == pytest.approx(2 / 3)
    assert value_of(same_set_of_all(these)) == pytest.approx(2 / 3)


WORDS = ["-", *("".join(some) for size in (1, 2, 3, 4) for some in combinations("abcd", size))]
ROWS = st.lists(st.lists(st.none() | st.sampled_from(WORDS), min_size=3, max_size=3), min_size=2, max_size=6)


@settings(max_examples=examples(60), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(ROWS)
def test_alpha_is_that_of_every_pair(rows: list[list[str | None]]) -> None:
    these = ratings(rows)
    for name, distance in (("masi", masi), ("jaccard", jaccard)):
        expected = reference(rows, distance)
        value = value_of(alpha_of_sets(these, name))  # type: ignore[arg-type]
        if expected is None:
            assert value is None
        else:
            assert value == pytest.approx(float(expected))


@settings(max_examples=examples(40), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(ROWS, st.permutations(range(3)))
def test_the_order_of_raters_changes_nothing(rows: list[list[str | None]], order: list[int]) -> None:
    turned = ratings([[row[at] for at in order] for row in rows])
    for name in ("masi", "jaccard"):
        one, other = value_of(alpha_of_sets(ratings(rows), name)), value_of(alpha_of_sets(turned, name))
        assert one == pytest.approx(other) if one is not None else other is None


def test_sets_of_one_option_are_nominal() -> None:
    """Where everybody chooses one option alone, both distances are those of categories."""
    from annotators.agreement.coefficients.categorical import krippendorff_alpha

    these = ratings([["a", "a", None], ["a", "b", "b"], ["c", "c", "c"], ["d", None, "a"]])
    categories = these.option("a")._replace(categories=("a", "b", "c", "d"), codes=these.codes.astype(np.int16))
    for name in ("masi", "jaccard"):
        assert value_of(alpha_of_sets(these, name)) == pytest.approx(value_of(krippendorff_alpha(categories)))


# -- a study ---------------------------------------------------------------------------------------------------

UNITS = [Unit(f"u{at}", (f"run-{at}",)) for at in range(5)]
SAID: dict[str, list[list[str] | None]] = {
    "R1": [["slip"], ["slip", "plan"], [], ["look"], ["memory"]],
    "R2": [["slip"], ["slip"], [], ["look", "memory"], None],
    "R3": [["slip", "plan"], ["plan"], ["look"], ["look"], ["memory"]],
}


def study(store: Store, said: dict[str, list[list[str] | None]] = SAID) -> StudyData:
    answers = {
        name: {
            f"u{at}": {("", "modes"): Answer(missing="cannot_judge") if one is None else one}
            for at, one in enumerate(each)
        }
        for name, each in said.items()
    }
    plan = rated(store, UNITS, PROTOCOL, answers, statistics=("percent", "alpha masi"))
    return load_study_data(store, plan)


def numbers(studied: StudyData, part: str = "", between: str = "people") -> dict[str, Agreement]:
    return {one.statistic: one for one in agreements(studied) if (one.part, one.between) == (part, between)}


def test_a_study_has_sets_as_a_whole_and_each_option(store: Store) -> None:
    studied = study(store)
    whole = numbers(studied)
    assert list(whole) == ["percent", "percent exact", "alpha masi", "alpha jaccard"]
    letters = dict(zip(OPTIONS, "abcd", strict=True))
    rows = [
        [None if each[at] is None else "".join(letters[id] for id in each[at] or ()) or "-" for each in SAID.values()]
        for at in range(5)
    ]
    assert whole["alpha masi"].value == pytest.approx(float(reference(rows, masi) or 0))
    assert whole["alpha jaccard"].value == pytest.approx(float(reference(rows, jaccard) or 0))
    assert whole["percent"].value == pytest.approx((1 / 3 + 0 + 1 / 3 + 1 / 3 + 1) / 5)
    assert whole["percent exact"].value == pytest.approx(1 / 5)
    assert {one.places for one in whole.values()} == {5}
    assert {one.raters for one in whole.values()} == {3}
    assert whole["alpha masi"].reasons == {"cannot_judge": 1}
    assert whole["alpha masi"].planned
    assert not whole["alpha jaccard"].planned
    assert whole["alpha masi"].low is not None
    slip = numbers(studied, "option slip")
    assert list(slip) == ["percent", "fleiss kappa", "ac1"]
    assert slip["percent"].value == pytest.approx((1 + 1 / 3 + 1 + 1 + 1) / 5)
    assert all(one.places == 5 and one.traces == 5 for one in slip.values())


def test_pairs_have_no_grid_and_lists_of_what_differs(store: Store) -> None:
    studied = study(store)
    pairs = agreements_by_pair(studied, "modes")
    assert [one.statistic for one in pairs[:3]] == ["alpha masi", "percent", "alpha jaccard"]
    assert [one.between for one in pairs[::3]] == ["R1 and R2", "R1 and R3", "R2 and R3"]
    assert pairs[1].value == pytest.approx(2 / 4)
    assert pairs[1].places == 4
    assert {unit for unit, _ in disputed_places(studied, "modes")} == {"u0", "u1", "u2", "u3"}
    with pytest.raises(LabError, match="no grid"):
        confusion(studied, "modes")


def test_a_judge_is_held_against_what_most_choose_of_each_option(store: Store) -> None:
    judge: dict[str, list[list[str] | None]] = {
        **SAID, "model:J": [["slip"], ["slip", "plan"], ["look"], ["look"], ["memory"]],
    }  # fmt: skip
    studied = study(store, judge)
    told = numbers(studied, between="J against most people")
    # Of u1 no set has a majority: slip and plan have two of three each, so that both hold.
    assert told["accuracy"].value == pytest.approx(4 / 5)
    assert told["accuracy"].places == 5
    look = numbers(studied, "option look", "J against most people")
    assert (look["recall"].value, look["precision"].value) == (1.0, 0.5)


def test_people_beside_themselves_and_a_judges_runs(store: Store) -> None:
    dealt = [("R1", f"u{at}", run) for run in (1, 2) for at in range(3)]
    answered = Answered(store, UNITS[:3], PROTOCOL, raters=("R1", "R2"), dealt=[*dealt, ("R2", "u0", 1)])
    judge = Actor("model", "J")
    for run, sets in ((1, SAID["R1"]), (2, [["slip"], ["plan"], []])):
        for unit, chosen in zip(("u0", "u1", "u2"), sets, strict=False):
            answered.says(Actor("human", "R1"), unit, "", "modes", chosen, run=run)
            answered.hands_in(Actor("human", "R1"), unit, run)
            answered.says(judge, unit, "", "modes", chosen, run=run, config_sha="x")
    told = numbers(answered.studied(), between="the same person again")
    assert told["percent"].value == pytest.approx(2 / 3)
    assert (told["percent"].places, told["percent"].raters) == (3, 1)
    runs = numbers(answered.studied(), between="J's runs")
    assert runs["percent"].value == pytest.approx(2 / 3)
    assert runs["percent"].places == 3


def test_what_somebody_has_still_to_rate_again_is_missing(store: Store) -> None:
    dealt = [(rater, f"u{at}", run) for rater in ("R1", "R2") for run in (1, 2) for at in range(2)]
    answered = Answered(store, UNITS[:2], PROTOCOL, raters=("R1", "R2"), dealt=dealt)
    for rater, unit, run in dealt:
        if rater == "R1" or run == 1:
            answered.says(Actor("human", rater), unit, "", "modes", ["slip"], run=run)
            answered.hands_in(Actor("human", rater), unit, run)
    again = numbers(answered.studied(), between="the same person again")["percent"]
    assert (again.places, again.raters, again.reasons) == (2, 1, {"not_handed_in": 2})


def test_alpha_as_krippendorffs_library_has_it() -> None:
    rng = np.random.default_rng(7)
    words = [[WORDS[at] for at in row] for row in rng.integers(0, len(WORDS), (40, 3))]
    these = ratings([list(row) for row in words])
    counts = np.stack([(these.codes == code).sum(axis=1) for code in range(len(these.sets))], axis=1)
    for name, apart in (("masi", masi_distance(these.sets)), ("jaccard", jaccard_distance(these.sets))):
        theirs = krippendorff.alpha(
            value_counts=counts, value_domain=list(range(len(these.sets))),
            level_of_measurement=lambda *_, apart=apart, **__: apart,
        )  # fmt: skip
        assert value_of(alpha_of_sets(these, name)) == pytest.approx(theirs)  # type: ignore[arg-type]


def test_the_empty_set_is_an_answer_and_no_answer_is_none(store: Store) -> None:
    these = sets_of(study(store), "modes")
    assert not these.sets[these.codes[2, 0]].any()
    assert these.codes[4, 1] == -1
    assert these.numbers.is_given.sum() == 14
