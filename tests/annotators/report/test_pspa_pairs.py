"""PSPA-Bench D.2: win, lose and tie by method pair, sides, and what is said once more; by hand."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from annotators.assignment import is_swapped
from annotators.papers.pspa.pair_table import sections
from annotators.protocols import protocol
from lab.core.study.report import Section
from lab.core.study.study import Assignment, Study, Unit
from lab.studies.progress.study_data import load_study_data
from store.store import Store
from tests.annotators.report.answered import number, row, say, table
from tests.loaded_late import LoadedLate
from tests.studies import frozen

stats = LoadedLate("scipy.stats")

PAIRS = {  # which method is A and which is B
    "u0": ("ours", "static"), "u1": ("static", "ours"), "u2": ("ours", "static"), "u3": ("static", "ours"),
    "u4": ("random", "ours"), "u5": ("static", "random"),
}  # fmt: skip
UNITS = [Unit(id, cluster=f"user{at % 5}", hidden={"A": a, "B": b}) for at, (id, (a, b)) in enumerate(PAIRS.items())]
SAID = {  # R1, R2, R3: what is better, all in all
    "u0": ("A", "A", "A"),  # ours
    "u1": ("A", "B", "B"),  # ours
    "u2": ("B", "B", "tie"),  # static
    "u3": ("A", "B", "tie"),  # nobody
    "u4": ("tie", "tie", "A"),  # a tie
    "u5": ("B", "B", "B"),  # random
}
FIELDS = ("plausibility", "relevance", "overall")


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store.open(tmp_path / "lab.db") as store:
        yield store


@pytest.fixture
def study(store: Store) -> Study:
    made = frozen(store, UNITS, protocol("pairwise-sets"), id="d2", raters=("R1", "R2", "R3"))
    for unit in UNITS:
        for rater, value in zip(("R1", "R2", "R3"), SAID[unit.id], strict=True):
            say(store, made, unit, rater, {("", field): value for field in FIELDS})
    return made


def told(store: Store) -> list[Section]:
    return sections(load_study_data(store, store.studies.study("d2")))


def test_methods_win_lose_and_tie_whichever_side_they_stood_on(store: Store, study: Study) -> None:
    found = told(store)
    ours = row(found, "pspa-d2-overall", "ours against static")
    assert ours == {
        "Methods": "ours against static",
        "First wins": pytest.approx(2 / 3), "Second wins": pytest.approx(1 / 3), "Tie": pytest.approx(0.0),
        "No majority (of all)": pytest.approx(1 / 4), "Pairs with a majority": 3, "Pairs": 4,
    }  # fmt: skip
    assert row(found, "pspa-d2-overall", "ours against random")["Tie"] == pytest.approx(1.0)
    assert row(found, "pspa-d2-overall", "random against static")["First wins"] == pytest.approx(1.0)
    assert [one.id for one in found[0].tables] == ["pspa-d2-overall", "pspa-d2-relevance", "pspa-d2-plausibility"]
    assert number(found, "pspa-d2-overall", "ours against static", "Pairs").agreement.value == 4


def test_agreement_is_clustered_by_user(store: Store, study: Study) -> None:
    found = told(store)
    first = row(found, "pspa-d2-agreement", "overall")
    assert first["All agree"] == pytest.approx(2 / 6)
    assert first["Two raters agree"] == pytest.approx((1 + 1 / 3 + 1 / 3 + 0 + 1 / 3 + 1) / 6)
    counts = [6 - 0, 8, 4]  # A: 3 + 1 + 1 + 1, B: 2 + 2 + 1 + 3, tie: 1 + 1 + 2
    assert sum(counts) == 18
    expected = 1 - sum(n * (n - 1) for n in counts) / (18 * 17)
    assert first["alpha"] == pytest.approx(1 - (1 - (3 / 6)) / expected)
    alpha = number(found, "pspa-d2-agreement", "overall", "alpha").agreement
    assert (alpha.traces, alpha.places, alpha.raters) == (5, 6, 3), "two pairs are of one user"


def test_how_often_the_left_was_chosen_follows_from_where_it_stood(store: Store, study: Study) -> None:
    found = told(store)
    left = chosen = 0
    for unit, answers in SAID.items():
        for rater, value in zip(("R1", "R2", "R3"), answers, strict=True):
            if value != "tie":
                chosen += 1
                left += value == ("B" if is_swapped(study, rater, unit) else "A")
    assert 0 < left < chosen == 14
    side = row(found, "pspa-d2-sides", "overall")
    assert side["Chose left"] == pytest.approx(left / chosen)
    assert side["p"] == pytest.approx(stats.binomtest(left, chosen).pvalue)
    assert side["Choices"] == 14
    assert len(table(found, "pspa-d2-sides").rows) == 3 + 3
    assert not any(one.id == "pspa-d2-repeats" for section in found for one in section.tables)


def test_a_rater_who_always_takes_the_left_is_seen(store: Store) -> None:
    units = [Unit(f"v{at}", cluster=f"user{at}", hidden={"A": "a", "B": "b"}) for at in range(12)]
    made = frozen(store, units, protocol("pairwise-sets"), id="d2", raters=("R1", "R2"))
    for unit in units:
        say(store, made, unit, "R1", {("", "overall"): "B" if is_swapped(made, "R1", unit.id) else "A"})
    found = row(told(store), "pspa-d2-sides", "overall, R1")
    assert (found["Chose left"], found["p"]) == (1.0, pytest.approx(2 / 2**12))


def test_what_is_said_once_more_with_the_sides_turned(store: Store, study: Study) -> None:
    again = {"u0": "A", "u1": "B", "u4": "tie"}  # of R1, who said A, A, tie
    store.studies.deal(study, [Assignment("d2", 1, "R1", 6 + at, id, "repeat", 2) for at, id in enumerate(again)])
    for unit in UNITS:
        if unit.id in again:
            say(store, study, unit, "R1", {("", "overall"): again[unit.id]}, run=2)
    found = row(told(store), "pspa-d2-repeats", "overall")
    assert found["The same answer"] == pytest.approx(2 / 3)
    # Turned: the same answer is the other side, another answer the same side.
    assert found["The same side"] == pytest.approx(1 / 2)
    assert found["Rated twice"] == 3
    none = row(told(store), "pspa-d2-repeats", "relevance")
    assert none["The same answer"] == "no pair was rated twice"


def test_pairs_of_runs_are_clustered_by_task(store: Store) -> None:
    units = [Unit(f"r{at}", runs=(f"a{at}", f"b{at}"), cluster="task", hidden={"A": "x", "B": "y"}) for at in range(2)]
    made = frozen(store, units, protocol("pairwise-runs"), id="d2")
    for rater in ("R1", "R2"):
        for unit in units:
            say(store, made, unit, rater, {("", field): "A" for field in FIELDS})
    found = told(store)
    assert row(found, "pspa-d2-overall", "x against y")["First wins"] == 1.0
    assert "n = 1 task: too few to generalise from" in table(found, "pspa-d2-overall").notes[0]
    assert number(found, "pspa-d2-overall", "x against y", "First wins").agreement.traces == 1


def test_an_empty_study_says_so(store: Store) -> None:
    frozen(store, UNITS, protocol("pairwise-sets"), id="d2", raters=("R1", "R2", "R3"))
    assert [section.says for section in told(store)] == [("Nobody has handed in an answer yet.",)]
