"""Settled answers about runs from outside this file, as JSON lines: nodes, units, branches, judgements.

One line is about one run: `{"run": ID, "nodes": {"open": 1, "search": null}, "units": {"price": "correct"}, "branches":
{"sold_out": "yes"}, "marks": {"sr1": 1}}`. Each part may be left out. A node's number is the step, from 1, at which it
was completed, null if it was not.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import msgspec

from lab.core.codec import convert, read_file
from lab.core.errors import LabError
from lab.core.run.measured_run import MeasuredRun, UnitMark
from lab.core.text.json_lines import json_lines


class Marks(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """Settled answers about one run. A part is None if nobody inspected it."""

    run: str
    nodes: dict[str, int | None] | None = None
    units: dict[str, UnitMark] | None = None
    branches: dict[str, str] | None = None
    marks: dict[str, float] = {}


def read_marks(path: Path) -> list[tuple[str, Marks]]:
    """Return each line's marks with its location. Raise `LabError`, with the line and the field, if one is invalid."""
    what = f"marks file {path}"
    return [(where, convert(value.value, Marks, where)) for where, value in json_lines(read_file(path, what), what)]


def with_marks(cases: Iterable[MeasuredRun], marks: dict[str, tuple[str, Marks]]) -> list[MeasuredRun]:
    """Return runs with their marks. `marks` are by run id, each with its location.

    Raise `LabError` if a run's design has no such node, unit, branch or option, or the run has no such step.
    """
    return [_add_marks(case, *marks[case.id]) if case.id in marks else case for case in cases]


def _add_marks(case: MeasuredRun, where: str, marks: Marks) -> MeasuredRun:
    nodes: dict[str, int | None] | None = None
    if marks.nodes is not None:
        _check(where, "nodes", marks.nodes, {node.id for node in case.task.tdg.walk()})
        for node, step in marks.nodes.items():
            if step is not None and not 1 <= step <= len(case.steps):
                raise LabError(where, f"field nodes.{node}: the run has no step {step}; it has {len(case.steps)}")
        # The file counts steps from 1, runs from 0.
        nodes = {node: None if step is None else step - 1 for node, step in marks.nodes.items()}
    _check(where, "units", marks.units or {}, {unit.id for unit in case.task.units})
    options = {branch.id: branch.options for branch in case.task.branches}
    _check(where, "branches", marks.branches or {}, set(options))
    for branch, option in (marks.branches or {}).items():
        if options[branch] and option not in options[branch]:
            raise LabError(where, f"field branches.{branch}: {option!r} is none of {', '.join(options[branch])}")
    return case._replace(
        nodes=case.nodes if nodes is None else nodes,
        units=case.units if marks.units is None else marks.units,
        branches=case.branches if marks.branches is None else marks.branches,
        marks={**case.marks, **marks.marks},
    )


def _check(where: str, field: str, names: Iterable[str], task_names: set[str]) -> None:
    for name in names:
        if name not in task_names:
            known_names = ", ".join(sorted(task_names)) or "none"
            raise LabError(where, f"field {field}: the run's task has no {name!r}; it has {known_names}")
