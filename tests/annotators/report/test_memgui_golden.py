"""Golden steps by three experts; by hand."""

from __future__ import annotations

from pathlib import Path

import pytest

from annotators.papers.memgui.golden_steps_table import sections
from lab.core.study.adjudication import Settlement
from lab.core.study.study import Unit
from lab.core.task.task import Task
from store.store import Store
from tests.papers import Rated, icc_a1, number, row, sound, table, value


def unit(id: str, steps: int | None) -> Unit:
    return Unit(id, task=Task(id, "general", instruction="Do it.", golden_steps=steps))


def test_what_the_second_expert_changed_and_how_hard_tasks_are(tmp_path: Path) -> None:
    units = [unit("t1", 10), unit("t2", 21), unit("t3", 50), unit("t4", 8), unit("t5", 30)]
    with Store.open(tmp_path / "lab.db") as store:
        made = Rated(store, "golden-steps", units, raters=("E2", "E3"))
        made.say("t1", "E2", {"executable": "yes", "optimal": "yes", "steps": 10})
        made.say("t2", "E2", {"executable": "yes", "optimal": "no", "steps": 19})
        made.say("t2", "E3", {"executable": "yes", "optimal": "yes", "steps": 21})
        made.say("t3", "E2", {"executable": "yes", "optimal": "yes", "steps": 50})
        made.say("t4", "E2", {"executable": "no"})
        made.say("t5", "E2", {"executable": "yes", "optimal": "no", "steps": 28})
        found = sections(made.studied())
    sound(found)
    checked = {cells[0]: cells[1] for cells in table(found, "memgui-golden").rows}
    assert value(checked["tasks that two experts walked"]) == 5
    assert value(checked["changed by the second expert"]) == pytest.approx(3 / 5)
    assert value(checked["of these not executable"]) == 1
    assert value(checked["of these walked in fewer steps"]) == 2
    assert value(checked["waiting for a third expert"]) == 1, "t5: 30 against 28, and nobody has decided"
    assert value(checked["step counts, ICC(A,1)"]) == pytest.approx(icc_a1([(10, 10), (21, 19), (50, 50), (30, 28)]))
    hard = table(found, "memgui-difficulty")
    assert [value(cells[1]) for cells in hard.rows] == pytest.approx([1, 1, 1, (10 + 21 + 50) / 3])
    assert value(row(hard, "Easy (1-20)")["Share"]) == pytest.approx(1 / 3)
    assert hard.notes[0] == "From 10 to 50 steps."


def test_a_task_that_the_third_expert_cannot_do_waits_for_nobody(tmp_path: Path) -> None:
    with Store.open(tmp_path / "lab.db") as store:
        made = Rated(store, "golden-steps", [unit("t1", 30), unit("t2", 20)], raters=("E2", "E3"))
        for task in ("t1", "t2"):
            made.say(task, "E2", {"executable": "yes", "optimal": "no", "steps": 19})
        made.say("t1", "E3", {"executable": "no"})
        found = sections(made.studied())
    assert value(row(table(found, "memgui-golden"), "waiting for a third expert")["Value"]) == 1, "t2"


def test_what_an_expert_could_not_tell_changes_nothing(tmp_path: Path) -> None:
    units = [unit("t1", 10), unit("t2", 21), unit("t3", 30)]
    with Store.open(tmp_path / "lab.db") as store:
        made = Rated(store, "golden-steps", units, raters=("E2", "E3"))
        made.say("t1", "E2", {"executable": "?"})
        made.say("t2", "E2", {"executable": "yes", "optimal": "yes", "steps": "?"})
        made.say("t3", "E2", {"executable": "yes", "optimal": "yes", "steps": 31})
        found = sections(made.studied())
    sound(found)
    checked = {cells[0]: cells[1] for cells in table(found, "memgui-golden").rows}
    assert value(checked["tasks that two experts walked"]) == 2, "of t1 the second expert could tell nothing"
    assert value(checked["changed by the second expert"]) == pytest.approx(1 / 2)


def test_an_adjudicated_number_of_steps_stands(tmp_path: Path) -> None:
    with Store.open(tmp_path / "lab.db") as store:
        made = Rated(store, "golden-steps", [unit("t1", 30)], raters=("E2",))
        made.say("t1", "E2", {"executable": "yes", "optimal": "no", "steps": 28})
        made.settle("t1", Settlement("", "steps", "adjudicator", 41, reason="both left out the login"))
        found = sections(made.studied())
        sound(found)
    assert value(row(table(found, "memgui-difficulty"), "Hard (41+)")["Tasks"]) == 1
    assert number(row(table(found, "memgui-golden"), "step counts, ICC(A,1)")["Value"]).undefined


def test_where_no_way_is_given_the_plans_first_rater_is_the_first_expert(tmp_path: Path) -> None:
    with Store.open(tmp_path / "lab.db") as store:
        made = Rated(store, "golden-steps", [unit("t1", None), unit("t2", None)], raters=("E1", "E2"))
        made.say("t1", "E2", {"executable": "yes", "steps": 12})
        assert sections(made.studied())[0].says == ("No task has been walked by a second expert yet.",)
        made.say("t1", "E1", {"executable": "yes", "steps": 12})
        found = sections(made.studied())
        sound(found)
        assert value(row(table(found, "memgui-golden"), "changed by the second expert")["Value"]) == 0
