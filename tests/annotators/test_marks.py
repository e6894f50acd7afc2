"""What was settled outside the file: read line by line, checked against each run's own design."""

from __future__ import annotations

from pathlib import Path

import pytest

from annotators.papers.marks import read_marks, with_marks
from lab.core.errors import LabError
from lab.core.run.measured_run import MeasuredRun, MeasuredStep
from lab.core.run.step import Action
from lab.core.task.task import Actor, Branch, InformationUnit, Task, Tdg, TdgNode

TASK = Task(
    "t",
    "general",
    instruction="Do it",
    tdg=Tdg(
        (TdgNode("open", "Open"), TdgNode("way", "Way", alternatives=((TdgNode("a", "A"),), (TdgNode("b", "B"),))))
    ),
    units=(InformationUnit("price", "the price"),),
    branches=(Branch("sold_out", "Sold out?", ("yes", "no")), Branch("free", "Which?")),
)
CASE = MeasuredRun("r1", TASK, Actor("model", "m"), [MeasuredStep(Action("wait"), Action("wait"))] * 3, "completed")


def read(tmp_path: Path, text: str) -> list[MeasuredRun]:
    path = tmp_path / "marks.jsonl"
    path.write_text(text, encoding="utf-8")
    return with_marks([CASE], {marks.run: (where, marks) for where, marks in read_marks(path)})


def test_what_was_settled_stands_in_the_case(tmp_path: Path) -> None:
    said = (
        '{"run":"r1","nodes":{"open":1,"a":3,"b":null},"units":{"price":"wrong"},'
        '"branches":{"sold_out":"yes","free":"any"},"marks":{"sr1":1}}\n\n'
    )
    (case,) = read(tmp_path, said)
    assert case.nodes == {"open": 0, "a": 2, "b": None}
    assert case.units == {"price": "wrong"}
    assert case.branches == {"sold_out": "yes", "free": "any"}
    assert case.marks == {"sr1": 1}


def test_a_part_that_was_left_out_stays_unrated(tmp_path: Path) -> None:
    (case,) = read(tmp_path, '{"run":"r1","units":{}}')
    assert (case.nodes, case.units, case.branches) == (None, {}, None)
    (other,) = read(tmp_path, '{"run":"r2","nodes":{"open":1}}')
    assert other == CASE


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (
            '{"run":"r1","nodes":{"shut":1}}',
            "line 2.*field nodes: the run's task has no 'shut'; it has a, b, open, way",
        ),
        ('{"run":"r1","nodes":{"open":0}}', "line 2.*field nodes.open: the run has no step 0; it has 3"),
        ('{"run":"r1","nodes":{"open":4}}', "field nodes.open: the run has no step 4"),
        ('{"run":"r1","units":{"prize":"wrong"}}', "field units: the run's task has no 'prize'; it has price"),
        ('{"run":"r1","units":{"price":"half"}}', "line 2.*units"),
        ('{"run":"r1","branches":{"sold_out":"maybe"}}', "field branches.sold_out: 'maybe' is none of yes, no"),
        ('{"run":"r1","node":{}}', "line 2.*field node: there is none of that name"),
        ('{"nodes":{}}', "line 2.*field run: is not there"),
        ("{", "line 2"),
    ],
)
def test_what_is_wrong_is_named_with_its_line_and_field(tmp_path: Path, line: str, said: str) -> None:
    with pytest.raises(LabError) as refused:
        read(tmp_path, f'{{"run":"r9"}}\n{line}\n')
    import re

    assert re.search(said, refused.value.sentence), refused.value.sentence


def test_an_empty_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(LabError, match="holds no line"):
        read(tmp_path, "\n")
