"""Units that are runs: with their targets, their references, and a rule's answers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from msgspec.structs import replace

from annotators.units.cards import cards, check_cards, person_of, shows_no_screens
from annotators.units.outcomes import failures, rule_answers
from lab.core.errors import LabError
from lab.core.run.measured_run import MeasuredRun
from lab.core.study.protocol import Protocol
from lab.core.study.study import Target, Unit
from lab.core.task.design import SECTIONS, Design, Subject, subject_of
from lab.core.task.task import Task, Tdg, TdgNode


def run_units(
    protocol: Protocol,
    cases: list[MeasuredRun],
    references: Mapping[str, str] = {},
    designs: Mapping[Subject, Design] = {},
    past: Sequence[MeasuredRun] = (),
    beyond: float | None = None,
) -> list[Unit]:
    """Return a unit per run, with its targets from the run's task. Raise `LabError` if a run has no targets.

    Units that show what a person did before are in order of time, because a later one reveals an earlier one.
    """
    cases_to_rate = failures(cases) if protocol.only_failed else cases
    if protocol.reference:
        beside = set(references.values())
        cases_to_rate = [case for case in cases_to_rate if not case.gold and case.id not in beside]
        if not cases_to_rate:
            raise LabError(f"study by {protocol.id}", "there is no run but those that others are rated against.")
    if shows_no_screens(protocol):
        cases_to_rate = sorted(cases_to_rate, key=lambda case: case.task.time)
    cases_by_id = {case.id: case for case in (*past, *cases)}
    return [_unit(protocol, case, cases_by_id, references, designs, beyond) for case in cases_to_rate]


def _unit(
    protocol: Protocol,
    case: MeasuredRun,
    cases_by_id: Mapping[str, MeasuredRun],
    references: Mapping[str, str],
    designs: Mapping[Subject, Design],
    beyond: float | None,
) -> Unit:
    task = with_design(case.task, designs)
    reference = _reference(case, cases_by_id, references) if protocol.reference else None
    materials = cards(protocol, case, [*cases_by_id.values()]) if shows_no_screens(protocol) else ()
    if shows_no_screens(protocol):
        check_cards(case, materials)
    # Whoever demonstrated the reference is the only one who can rate against it.
    owner = reference.agent.id if reference is not None and reference.agent.kind == "human" else ""
    return Unit(
        case.id,
        runs=(case.id, reference.id) if reference is not None else (case.id,),
        targets=targets_of(protocol, case, task),
        given=materials,
        tdg=task.tdg if protocol.targets == "tdg nodes" else Tdg(),
        explicit=all(unit.explicit for unit in task.units) if protocol.targets == "information units" else None,
        cluster=owner or (person_of(case) if materials else ""),
        mechanical=rule_answers(protocol, case, beyond),
        owner=owner,
    )


def _reference(case: MeasuredRun, cases_by_id: Mapping[str, MeasuredRun], references: Mapping[str, str]) -> MeasuredRun:
    """Return the run that this one is rated against: the named one, else the demonstration of its task."""
    if case.id in references:
        reference_id = references[case.id]
        if reference_id not in cases_by_id:
            raise LabError(f"run {case.id}", f"its reference {reference_id} is not among the runs.")
        return cases_by_id[reference_id]
    same = [one for one in cases_by_id.values() if one.gold and one.task.id == case.task.id and one.id != case.id]
    if len(same) != 1:
        many = "there is no demonstration" if not same else f"there are {len(same)} demonstrations"
        raise LabError(f"run {case.id}", f"{many} of its task {case.task.id} among the runs.", "Name its reference.")
    return same[0]


def with_design(task: Task, designs: Mapping[Subject, Design]) -> Task:
    """Return the task with the parts of its frozen design, if there is one, in place of its own."""
    design = designs.get(subject_of(task))
    if design is None:
        return task
    parts = {name: part for name in SECTIONS if _has_content(part := getattr(design, name))}
    return replace(task, **parts)


def _has_content(part: object) -> bool:
    return bool(getattr(part, "nodes", None) or getattr(part, "criteria", None) or (isinstance(part, tuple) and part))


def targets_of(protocol: Protocol, case: MeasuredRun, task: Task) -> tuple[Target, ...]:
    """Return the targets of a run. Raise `LabError`, with the run, if its task has none."""
    match protocol.targets:
        case "tdg nodes":
            targets, lacks = nodes_of(task), "graph"
        case "information units":
            targets, lacks = [*_information(task)], "information units"
        case "branches":
            targets, lacks = [*_branches(case, task)], "decision points"
        case "criteria":
            targets, lacks = [Target(one.id, one.ask, weight=one.weight) for one in task.rubric.criteria], "rubric"
        case "steps":
            return _steps(protocol, case)
        case _:
            return ()
    if not targets:
        one = "them" if lacks.endswith("s") else "one"
        raise LabError(f"run {case.id}", f"its task {task.id} has no {lacks}.", f"`hitlab tasks design` drafts {one}.")
    return tuple(targets)


def nodes_of(task: Task) -> list[Target]:
    """Return the nodes of a graph at which something is done.

    A node that only holds alternatives is replaced by theirs.
    """
    nodes = [*_nodes(task.tdg.nodes, "")]
    node_ids = {target.id for target in nodes}
    # Dependencies on nodes that only hold alternatives are dropped along with them.
    return [replace(one, requires=tuple(id for id in one.requires if id in node_ids)) for one in nodes]


def _nodes(nodes: tuple[TdgNode, ...], way: str) -> Iterator[Target]:
    for node in nodes:
        for place, path in enumerate(node.alternatives):
            letter = chr(ord("A") + place) if place < 26 else str(place + 1)
            yield from _nodes(path, f"{way}{node.name}, way {letter}: ")
        if not node.alternatives:
            yield Target(node.id, f"{way}{node.name}", node.description, node.kind, requires=node.requires)


def _information(task: Task) -> Iterator[Target]:
    for unit in task.units:
        texts = (unit.value, f"seen in {unit.source}" * bool(unit.source), f"used in {unit.used}" * bool(unit.used))
        detail = " · ".join(part for part in texts if part)
        yield Target(unit.id, unit.name, detail, "explicit" if unit.explicit else "implicit")


def _branches(case: MeasuredRun, task: Task) -> Iterator[Target]:
    for branch in task.branches:
        if len(branch.options) < 2:
            raise LabError(
                f"run {case.id}",
                f"decision point {branch.id!r} of its task {task.id} has fewer than two ways to choose from.",
                "`hitlab tasks design` adds them.",
            )
        yield Target(branch.id, branch.ask, kind=f"depth {branch.depth}", options=branch.options)


def _steps(protocol: Protocol, case: MeasuredRun) -> tuple[Target, ...]:
    if not case.steps:
        raise LabError(f"run {case.id}", "has no step.")
    with_thoughts = "thoughts" in protocol.shows
    return tuple(
        Target(f"step-{place + 1}", (step.instruction if with_thoughts else "") or f"Step {place + 1}", step=place)
        for place, step in enumerate(case.steps)
    )
