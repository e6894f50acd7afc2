"""Checks before a design may be submitted, one sentence for each problem."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator

import msgspec

from lab.core.errors import LabError
from lab.core.task.design import Design, design_items
from lab.core.task.task import Branch, Criterion, InformationUnit, Tdg, TdgNode

ANSWER = "answer"
"""Value of `used` for a unit that goes into the agent's last words instead of an app."""
TOLD = ("log", "reply")
"""Values of `source` for a unit that is seen in no app: in the person's log or in their reply."""


class Problem(msgspec.Struct, frozen=True):
    """One problem, with the key of its item (empty: the whole design)."""

    key: str
    words: str


def problems(design: Design, apps: Collection[str] = ()) -> list[Problem]:
    """Return all problems in the outline's order, empty if it can be submitted. `apps` are those the task names."""
    if not design_items(design):
        return [Problem("", "There is nothing in it yet.")]
    faults = [*_duplicate_problems(design), *_graph_problems(design.tdg)]
    faults += [p for branch in design.branches for p in _branch_problems(branch)]
    faults += [p for unit in design.units for p in _unit_problems(unit, apps)]
    return faults + [p for criterion in design.rubric.criteria for p in _criterion_problems(criterion)]


def check_sound(design: Design, what: str, apps: Collection[str] = ()) -> None:
    """Raise `LabError` with the first problem and the number of the others."""
    faults = problems(design, apps)
    if faults:
        more = f" ({len(faults) - 1} more)" if len(faults) > 1 else ""
        raise LabError(what, f"cannot be submitted yet: {faults[0].words}{more}")


def _duplicate_problems(design: Design) -> Iterator[Problem]:
    sections: dict[str, list[str]] = {
        "tdg": [node.id for node in design.tdg.walk()],
        "branches": [branch.id for branch in design.branches],
        "units": [unit.id for unit in design.units],
        "rubric": [criterion.id for criterion in design.rubric.criteria],
    }
    for section, ids in sections.items():
        yield from (Problem(f"{section}/", f"An item of {section} has no id.") for i in ids if not i.strip())
        for id in sorted({i for i in ids if ids.count(i) > 1}):
            yield Problem(f"{section}/{id}", f"The id {id!r} is used twice in {section}.")


def _graph_problems(tdg: Tdg) -> Iterator[Problem]:
    node_ids, top = {node.id for node in tdg.walk()}, {node.id for node in tdg.nodes}
    for node in tdg.walk():
        yield from _node_problems(node, node_ids)
    for a, b in tdg.edges:
        key = f"tdg/{b if b in node_ids else a}"
        for end in (a, b):
            if end not in node_ids:
                yield Problem(key, f"An edge leads {'from' if end == a else 'to'} {end!r}, which is not there.")
            elif end not in top:
                yield Problem(key, f"An edge ends at {end!r}, inside alternatives; edges join whole nodes.")
    ends = {end for edge in tdg.edges for end in edge}
    ends |= {id for node in tdg.walk() if node.requires for id in (node.id, *node.requires)}
    if len(tdg.nodes) > 1:
        yield from (
            Problem(f"tdg/{node.id}", f"{_node_name(node)} stands alone: nothing leads to it or from it.")
            for node in tdg.nodes
            if node.id not in ends
        )
    yield from _cycle_problems(tdg)


def _cycle_problems(tdg: Tdg) -> Iterator[Problem]:
    """Yield a problem for a cycle, the one fault of `Tdg.check` that the checks above do not name."""
    node_ids = {node.id for node in tdg.walk()}
    edges = [(a, b) for a, b in tdg.edges if a in node_ids and b in node_ids]
    waits = {node.id: {r for r in node.requires if r in node_ids} for node in tdg.walk()}
    for a, b in edges:
        waits[b].add(a)
    # Kahn's algorithm: remove nodes without open predecessors; those that remain are on a cycle or behind one.
    while free := [id for id, before in waits.items() if not before]:
        for id in free:
            del waits[id]
        for before in waits.values():
            before.difference_update(free)
    if waits:
        names = ", ".join(sorted(waits)[:4])
        yield Problem(f"tdg/{sorted(waits)[0]}", f"The edges make a circle through {names}; a TDG has none.")


def _node_problems(node: TdgNode, node_ids: set[str]) -> Iterator[Problem]:
    key = f"tdg/{node.id}"
    if not node.name.strip():
        yield Problem(key, f"Node {node.id!r} has no name.")
    for other in node.requires:
        if other == node.id:
            yield Problem(key, f"{_node_name(node)} requires itself.")
        elif other not in node_ids:
            yield Problem(key, f"{_node_name(node)} requires {other!r}, which is not there.")
    if node.alternatives and len(node.alternatives) < 2:
        yield Problem(key, f"{_node_name(node)} has one path; alternatives are two or more.")
    if any(not path for path in node.alternatives):
        yield Problem(key, f"{_node_name(node)} has an empty path.")


def _branch_problems(branch: Branch) -> Iterator[Problem]:
    key = f"branches/{branch.id}"
    if not branch.ask.strip():
        yield Problem(key, f"Branch {branch.id!r} does not say what is decided.")
    options = [option.strip() for option in branch.options]
    if len(options) < 2 or not all(options):
        yield Problem(key, f"Branch {branch.id!r} needs two options or more, none of them empty.")
    elif len(set(options)) < len(options):
        yield Problem(key, f"Branch {branch.id!r} has an option twice.")
    if branch.right and branch.right not in branch.options:
        yield Problem(key, f"Branch {branch.id!r} has no option {branch.right!r}, which it says is right.")
    if branch.depth < 1:
        yield Problem(key, f"Branch {branch.id!r} has depth {branch.depth}; the first is 1.")


def _unit_problems(unit: InformationUnit, apps: Collection[str]) -> Iterator[Problem]:
    key = f"units/{unit.id}"
    if not unit.name.strip():
        yield Problem(key, f"Unit {unit.id!r} has no name.")
    if unit.explicit and not unit.value.strip():
        yield Problem(key, f"Unit {unit.id!r} is explicit but has no value.")
    for app, where in ((unit.source, "is seen"), (unit.used, "is used")):
        if not app.strip():
            yield Problem(key, f"Unit {unit.id!r} does not say in which app it {where}.")
        elif apps and app not in apps and app not in (TOLD if where == "is seen" else (ANSWER,)):
            yield Problem(key, f"Unit {unit.id!r} {where} in {app!r}, not an app of this task ({', '.join(apps)}).")


def _criterion_problems(criterion: Criterion) -> Iterator[Problem]:
    key = f"rubric/{criterion.id}"
    if not criterion.ask.strip():
        yield Problem(key, f"Criterion {criterion.id!r} asks nothing.")
    if not 0 < criterion.weight < math.inf:
        yield Problem(key, f"Criterion {criterion.id!r} weighs {criterion.weight:g}; a weight is above 0.")


def _node_name(node: TdgNode) -> str:
    return f'"{node.name}"' if node.name.strip() else f"Node {node.id!r}"
