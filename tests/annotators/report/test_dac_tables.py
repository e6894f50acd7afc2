"""DAC-Bench 2.4 to 2.6: the dataset, its proofreading, recordings beside each other, decisions, steps; by hand."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from annotators.papers.dac import decision_table, demonstration_table, step_table
from lab.core.run.step import Action
from lab.core.study.proofreading import Act, Field, Review
from lab.core.study.study import Target, Unit
from lab.core.task.task import Actor, Branch, Task
from store.store import Store
from tests.papers import Rated, column, icc_a1, number, row, run, sound, table, value

MAIL = Task("mail", "general", instruction="Send it.", apps=("mail",), traits={"structure": "Sequential"})
SHOP = Task("shop", "general", instruction="Buy it.", apps=("shop", "pay"), traits={"structure": "Conditional"})
BOX = (0, 0, 100, 100)
CLICK = Action("click", (50, 50), boxes=(BOX,))
NEAR = Action("click", (55, 50), boxes=((10, 0, 110, 100),))
FAR = Action("click", (900, 900), boxes=((800, 800, 1000, 1000),))
DONE = Action("status", status="complete")
GIVEN_UP = Action("status", status="infeasible", text="ambiguous")
TYPED = Action("input_text", text="hi")
SIZE = (1000, 1000)
RUNS = [
    run("d1", MAIL, "@A1", [CLICK, TYPED, CLICK, DONE], size=SIZE),
    run("d2", MAIL, "@A2", [NEAR, Action("scroll", direction="down"), FAR, DONE, DONE], size=SIZE),
    run("d3", SHOP, "@A1", [CLICK, GIVEN_UP], size=SIZE),
]


def unit(id: str, steps: int) -> Unit:
    return Unit(id, runs=(id,), targets=tuple(Target(f"s{n}", f"Step {n + 1}", step=n) for n in range(steps)))


UNITS = [unit("d1", 4), unit("d2", 5), unit("d3", 2)]


@pytest.fixture
def rated(tmp_path: Path) -> Iterator[Rated]:
    with Store.open(tmp_path / "lab.db") as store:
        made = Rated(store, "demonstration", UNITS, RUNS, raters=("P1", "P2"))
        for code, verdicts in (("P1", "a a e a|a a r a a|a a"), ("P2", "a a e a|a e a a a|a a")):
            for one, words in zip(UNITS, verdicts.split("|"), strict=True):
                named = {"a": "accept", "e": "edit", "r": "reject"}
                said = {(t.id, "verdict"): named[w] for t, w in zip(one.targets, words.split(), strict=True)}
                whole = {("", "whole"): "impossible", ("", "why_impossible"): "ambiguous"}
                made.say(one.id, code, {**said, **(whole if one.id == "d3" else {("", "whole"): "possible"})})
        yield made


def test_the_dataset_is_counted(rated: Rated) -> None:
    found = demonstration_table.sections(rated.studied())
    sound(found)
    counts = column(table(found, "dac-counts"), "n")
    assert (counts["episodes"], counts["steps"], counts["apps"]) == (3, 11, 3)
    assert counts["steps per episode (mean)"] == pytest.approx(11 / 3)
    assert counts["IMPOSSIBLE, as recorded"] == counts["IMPOSSIBLE, as proofreaders settle"] == 1
    assert counts["  for the reason ambiguous"] == 2, "each proofreader gave it"
    shares = column(table(found, "dac-structure"), "Share")
    assert shares["Sequential"] == pytest.approx(2 / 3)
    assert shares["across apps"] == pytest.approx(1 / 3)
    types = column(table(found, "dac-types"), "Steps")
    assert types == {
        "Click": 5, "Scroll": 1, "Type": 1, "Navigate Home": 0, "Navigate Previous": 0, "Long Press": 0, "Complete": 3,
        "impossible": 1, "Overall": 11,
    }  # fmt: skip


def test_edit_rates_are_of_annotators_and_of_proofreaders(rated: Rated) -> None:
    found = demonstration_table.sections(rated.studied())
    annotators = table(found, "dac-edits-annotators")
    assert column(annotators, "Looks") == {"A1": 12, "A2": 10, "All": 22}
    assert column(annotators, "Rate") == pytest.approx({"A1": 2 / 12, "A2": 2 / 10, "All": 4 / 22})
    proofreaders = table(found, "dac-edits-proofreaders")
    assert column(proofreaders, "Rejected") == {"P1": 1, "P2": 0, "All": 1}
    agreement = table(found, "dac-verdicts")
    assert value(row(agreement, "accept, edit or reject")["Pairs agree"]) == pytest.approx(9 / 11)
    assert value(row(agreement, "IMPOSSIBLE")["AC1"]) == 1
    all_of_three = number(row(agreement, "IMPOSSIBLE")["Pairs agree"])
    assert all_of_three.interval == "wilson"
    assert all_of_three.low == pytest.approx(3 / (3 + 1.959964**2))


def test_reviews_of_the_demonstrations_have_edit_rates_of_their_own(rated: Rated) -> None:
    proof = rated.store.reviews.proof_of("d3")

    def said(n: int, step: int | None, field: Field, act: Act, by: str) -> Review:
        at = f"2026-04-02T09:00:{n:02d}.000000+00:00"
        return Review(
            f"w{by}{n}", "d3", step, field, act, Actor("human", by), at, new=None, note="gone" * (act == "reject")
        )

    for by in ("Q1", "Q2"):
        verdicts: list[tuple[int, Act]] = [(0, "accept"), (1, "reject" if by == "Q1" else "accept")]
        rows = [said(n, step, "step", act, by) for n, (step, act) in enumerate(verdicts)]
        rows += [said(8, None, "whole", "accept", by), said(9, None, "whole", "commit", by)]
        rated.store.reviews.append(proof, rows)
    found = demonstration_table.sections(rated.studied())
    sound(found)
    assert column(table(found, "dac-reviews-annotators"), "Rate") == pytest.approx({"A1": 1 / 4, "All": 1 / 4})
    assert column(table(found, "dac-reviews-proofreaders"), "Rate") == {"Q1": 0.5, "Q2": 0, "All": 0.25}


def test_two_recordings_of_a_task_are_laid_beside_each_other(rated: Rated) -> None:
    found = table(demonstration_table.sections(rated.studied()), "dac-doubles")
    told = {cells[0]: cells[1] for cells in found.rows}
    assert value(told["action type, steps agree"]) == pytest.approx(3 / 4), "of four places that both have"
    assert value(told["box, IoU at least .5"]) == pytest.approx(1 / 2)
    assert value(told["box, centres in each other"]) == pytest.approx(1 / 2)
    assert number(told["step count, ICC(A,1)"]).value is None, "one task alone"


def test_whether_a_task_is_impossible_is_compared_between_recordings(tmp_path: Path) -> None:
    given_up = Action("status", status="infeasible")
    tasks = [Task(f"t{at}", "general", instruction="Go.") for at in range(4)]
    ends = [(DONE, DONE), (given_up, given_up), (DONE, given_up), (DONE, DONE)]
    runs = [
        run(f"{task.id}{by}", task, f"@{by}", [CLICK, end], size=SIZE)
        for task, both in zip(tasks, ends, strict=True)
        for by, end in zip(("A1", "A2"), both, strict=True)
    ]
    with Store.open(tmp_path / "lab.db") as store:
        made = Rated(store, "demonstration", [unit(one.id, 2) for one in runs], runs)
        found = demonstration_table.sections(made.studied())
    sound(found)
    told = {cells[0]: cells[1] for cells in table(found, "dac-doubles").rows}
    assert value(told["IMPOSSIBLE, recordings agree"]) == pytest.approx(3 / 4)
    chance = 2 * (5 / 8) * (3 / 8)
    assert value(told["IMPOSSIBLE, AC1"]) == pytest.approx((3 / 4 - chance) / (1 - chance))


def test_the_lengths_of_recordings_are_compared_over_tasks(tmp_path: Path) -> None:
    runs = [*RUNS, run("d4", SHOP, "@A2", [FAR, TYPED, DONE], size=SIZE)]
    with Store.open(tmp_path / "lab.db") as store:
        made = Rated(store, "demonstration", [*UNITS, unit("d4", 3)], runs)
        found = demonstration_table.sections(made.studied())
    sound(found)
    told = column(table(found, "dac-doubles"), "Value")
    assert told["step count, ICC(A,1)"] == pytest.approx(icc_a1([(4, 5), (2, 3)]))
    assert told["box, IoU at least .5"] == pytest.approx(1 / 3)


def test_what_is_not_there_is_a_sentence(tmp_path: Path) -> None:
    with Store.open(tmp_path / "lab.db") as store:
        made = Rated(store, "demonstration", UNITS)
        said = [section.says for section in demonstration_table.sections(made.studied())]
        assert said == [
            ("None of these runs is in this file, so nothing is counted.",),
            ("Nobody has handed in a proofreading yet.",),
            ("No task here was recorded by two people, so recordings cannot be compared.",),
        ]
        steps = Rated(store, "step-correct", [Unit("x@1", runs=("x",), step=0)])
        assert step_table.sections(steps.studied())[0].says == ("No step is settled yet.",)
        ways = Rated(
            store, "decision-points", [Unit("x", runs=("x",), targets=(Target("b", "?", options=("p", "q")),))]
        )
        assert decision_table.sections(ways.studied())[0].says == ("No decision is settled yet.",)


# -- decisions -------------------------------------------------------------------------------------------------

BRANCHES = (Branch("b1", "Sold out?", ("wait", "go"), 1, "go"), Branch("b2", "Which?", ("left", "right"), 2))
FORK = Task("fork", "general", instruction="If sold out, go.", branches=BRANCHES)
WAYS = tuple(Target(one.id, one.ask, kind=f"depth {one.depth}", options=one.options) for one in BRANCHES)


def test_decisions_are_right_by_the_task_or_else_by_its_demonstrations(tmp_path: Path) -> None:
    runs = [run("g", FORK, "@A1"), run("x", FORK, "m1"), run("y", FORK, "m1"), run("z", FORK, "m2")]
    units = [Unit(id, runs=(id,), targets=WAYS) for id in "gxyz"]
    with Store.open(tmp_path / "lab.db") as store:
        made = Rated(store, "decision-points", units, runs, raters=("R1", "R2"))
        said = {"g": ("go left", "go left"), "x": ("go right", "go right"), "y": ("wait ?", "wait ?"),
                "z": ("go left", "wait left")}  # fmt: skip
        for id, both in said.items():
            for code, words in zip(("R1", "R2"), both, strict=True):
                made.say(id, code, {(f"b{n}", "taken"): word for n, word in enumerate(words.split(), 1)})
        found = decision_table.sections(made.studied())
    sound(found)
    right = table(found, "dac-decisions")
    assert right.columns == ("Agent", "All", "Depth 1", "Depth 2")
    assert [value(cell) for cell in right.rows[0][1:]] == pytest.approx([1 / 3, 1 / 2, 0]), "m1"
    assert number(row(right, "m2")["Depth 1"]).undefined == "no decision of that depth was reached", "nobody settled it"
    assert value(row(right, "m2")["Depth 2"]) == 1, "the demonstration went left"
    assert found[0].says == ("2 left out: not settled, or not reached.",)
    assert value(row(table(found, "dac-decisions-agreement"), "way taken")["Pairs agree"]) == pytest.approx(6 / 7)


# -- steps -----------------------------------------------------------------------------------------------------


def test_steps_are_right_by_most_peoples_word_and_clustered_by_run(tmp_path: Path) -> None:
    runs = [run("x", MAIL, "m1", [CLICK, CLICK]), run("y", MAIL, "m2", [CLICK])]
    units = [Unit("x@1", runs=("x",), step=0), Unit("x@2", runs=("x",), step=1), Unit("y@1", runs=("y",), step=0)]
    with Store.open(tmp_path / "lab.db") as store:
        made = Rated(store, "step-correct", units, runs)
        made.all_say("correct", {"x@1": "right right wrong", "y@1": "right right right"})
        for code, error in (("R1", "target"), ("R2", "target"), ("R3", "text")):
            made.say("x@2", code, {"correct": "wrong", "error": error})
        found = step_table.sections(made.studied())
    sound(found)
    steps = table(found, "dac-steps")
    assert column(steps, "Right") == pytest.approx({"m1": 1 / 2, "m2": 1, "All": 2 / 3})
    assert number(row(steps, "All")["Right"]).traces == 2
    assert number(row(steps, "All")["Right"]).raters == 3, "all whose word it is, not one"
    assert column(table(found, "dac-step-errors"), "n") == {"the kind of action": 0, "the place": 1, "the text": 0}
    assert value(row(table(found, "dac-steps-agreement"), "what was wrong")["Pairs agree"]) == pytest.approx(1 / 3)
