"""MemGUI-Bench's IRR worked out from each rater's marks, and how raters and designers agree; by hand."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from annotators.papers.memgui.irr_table import sections
from lab.core.study.study import Target, Unit
from lab.core.task.design import Design, first_draft, next_revision, subject_of
from lab.core.task.task import Actor, InformationUnit, Task
from store.store import Store
from tests.papers import Rated, number, row, run, sound, table, value

COPY = Task("copy", "general", instruction="Copy four prices.")
PICK = Task("pick", "general", instruction="Buy the cheaper one.")
FOUR = tuple(Target(name, name, kind="explicit") for name in "abcd")
RUNS = [
    run("v1", COPY, "A"), run("v2", COPY, "A", score=0.0), run("v3", COPY, "B", score=0.0),
    run("v4", PICK, "B", score=0.0), run("v5", PICK, "B", score=None),
]  # fmt: skip
UNITS = [
    *(Unit(f"w{i}", runs=(f"v{i}",), targets=FOUR, explicit=True) for i in (1, 2, 3)),
    *(Unit(f"w{i}", runs=(f"v{i}",), targets=(Target("p", "price", kind="implicit"),), explicit=False) for i in (4, 5)),
]
MARKS = {
    "w1": ("c c c c", "c c c c"),
    "w2": ("c c m w", "c w m w"),
    "w3": ("m m m m", "m m m m"),
    "w4": ("w", "w"),
    "w5": ("w", "w"),
}
WORDS = {"c": "correct", "w": "wrong", "m": "missing"}


def mark(made: Rated) -> None:
    for unit, both in MARKS.items():
        targets = [target.id for target in made.units[unit].targets]
        for code, words in zip(("R1", "R2"), both, strict=True):
            said = {(target, "use"): WORDS[word] for target, word in zip(targets, words.split(), strict=True)}
            made.say(unit, code, said)


@pytest.fixture
def rated(tmp_path: Path) -> Iterator[Rated]:
    with Store.open(tmp_path / "lab.db") as store:
        made = Rated(store, "information-units", UNITS, RUNS, raters=("R1", "R2"))
        mark(made)
        yield made


def test_the_rate_follows_from_marks_and_outcome_and_is_averaged_over_raters_then_runs(rated: Rated) -> None:
    found = sections(rated.studied())
    sound(found)
    assert found[0].says == ("2 sheets left out, whose outcome nothing tells.",)
    irr = table(found, "memgui-irr")
    assert value(row(irr, "A")["IRR"]) == pytest.approx((1 + (0.5 + 0.25) / 2) / 2)
    assert value(row(irr, "B")["IRR"]) == 0
    assert value(row(irr, "All")["IRR"]) == pytest.approx(1.375 / 4)
    assert value(row(irr, "All")["Runs"]) == 4


def test_raters_agree_on_marks_on_case_type_and_on_the_rate(rated: Rated) -> None:
    agreement = table(sections(rated.studied()), "memgui-irr-agreement")
    marks = row(agreement, "what became of each piece")
    assert value(marks["Pairs agree"]) == pytest.approx(13 / 14)
    assert number(marks["Alpha"]).traces == 5, "clusters are runs, not pieces"
    types = row(agreement, "case type (by rule)")
    assert value(types["Pairs agree"]) == 1
    assert number(types["Pairs agree"]).places == 4
    assert value(row(agreement, "IRR")["ICC(A,1)"]) == pytest.approx(0.4375 / 0.453125)
    failed = number(row(agreement, "IRR, failed runs")["ICC(A,1)"])
    assert failed.places == 3, "a run that succeeded has 100 % whoever marked it"
    assert failed.value == pytest.approx(icc_a1([(0.5, 0.25), (0.0, 0.0), (0.0, 0.0)]))


def icc_a1(rows: list[tuple[float, float]]) -> float:
    """ICC(A,1) of two raters from the analysis of variance."""
    n, grand = len(rows), sum(map(sum, rows)) / (2 * len(rows))
    of_rows = 2 * sum((sum(row) / 2 - grand) ** 2 for row in rows) / (n - 1)
    of_raters = n * sum((sum(row[at] for row in rows) / n - grand) ** 2 for at in (0, 1))
    rest = (sum((one - grand) ** 2 for row in rows for one in row) - of_rows * (n - 1) - of_raters) / (n - 1)
    return (of_rows - rest) / (of_rows + rest + 2 * (of_raters - rest) / n)


def test_the_rate_by_the_rules_stands_beside_that_of_the_marks_alone(tmp_path: Path) -> None:
    """A piece that steers a decision counts in a failed run by its mark alone, not by the rules."""
    with Store.open(tmp_path / "lab.db") as store:
        made = Rated(store, "information-units", UNITS, RUNS, raters=("R1", "R2"))
        for unit, code, word in (("w4", "R1", "correct"), ("w4", "R2", "correct")):
            made.say(unit, code, {("p", "use"): word})
        irr = row(table(sections(made.studied()), "memgui-irr"), "B")
        assert (value(irr["IRR"]), value(irr["IRR as marked"])) == (0, 1)


def test_runs_that_all_succeeded_leave_no_agreement_of_failed_ones(tmp_path: Path) -> None:
    with Store.open(tmp_path / "lab.db") as store:
        made = Rated(store, "information-units", UNITS[:1], RUNS[:1], raters=("R1", "R2"))
        for code in ("R1", "R2"):
            made.say("w1", code, {(name, "use"): "correct" for name in "abcd"})
        agreement = table(sections(made.studied()), "memgui-irr-agreement")
        assert number(row(agreement, "IRR, failed runs")["ICC(A,1)"]).undefined


def test_the_outcome_that_was_settled_in_a_study_beside_decides(rated: Rated) -> None:
    success = Rated(rated.store, "success", [Unit("s2", runs=("v2",)), Unit("s5", runs=("v5",))])
    success.all_say("outcome", {"s2": "success success failure", "s5": "failure failure failure"})
    irr = table(sections(rated.studied("success")), "memgui-irr")
    assert value(row(irr, "A")["IRR"]) == 1, "a run that succeeded has retained all"
    assert value(row(irr, "B")["Runs"]) == 3, "and one whose outcome is known now is in it"


def test_the_lists_of_units_are_compared_as_first_submitted_and_as_verified(rated: Rated) -> None:
    author, other = Actor("human", "D1"), Actor("human", "D2")
    for task, before, after in ((COPY, 2, 3), (PICK, 1, 1)):
        units = [InformationUnit(f"i{n}", f"piece {n}") for n in range(3)]
        draft = first_draft(subject_of(task), author, Design(units=tuple(units[:before])))
        acts = [draft, submitted := next_revision(draft, "submit", author)]
        objected = next_revision(submitted, "object", other, note="one is missing")
        again = next_revision(objected, "draft", author, design=Design(units=tuple(units[:after])))
        handed = next_revision(again, "submit", author)
        acts += [objected, again, handed, next_revision(handed, "verify", other)]
        for act in acts:
            rated.store.designs.append(act)
    lists = row(table(sections(rated.studied()), "memgui-unit-lists"), "units per task")
    assert value(lists["Tasks"]) == 2
    assert value(lists["Number changed"]) == pytest.approx(0.5)
    assert value(lists["Alpha (ratio)"]) == pytest.approx(ratio_alpha([(2, 3), (1, 1)]))


def ratio_alpha(pairs: list[tuple[int, int]]) -> float:
    """Krippendorff's, from its definition."""
    everything = [one for pair in pairs for one in pair]

    def apart(a: int, b: int) -> float:
        return ((a - b) / (a + b)) ** 2

    observed = sum(apart(a, b) for a, b in pairs) / len(pairs)
    n = len(everything)
    chance = sum(apart(a, b) for i, a in enumerate(everything) for j, b in enumerate(everything) if i != j)
    return 1 - observed / (chance / (n * (n - 1)))


def test_a_study_without_marks_or_runs_is_a_sentence(tmp_path: Path) -> None:
    with Store.open(tmp_path / "lab.db") as store:
        made = Rated(store, "information-units", UNITS, raters=("R1", "R2"))
        assert sections(made.studied())[0].says == ("Nobody has handed in a mark yet.",)
        mark(made)
        found = sections(made.studied())
        sound(found)
        assert number(row(table(found, "memgui-irr"), "All")["IRR"]).undefined == "no run has a rate"
