"""Units that are runs: with their targets, their references, and a rule's answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from annotators.units.cards import cards, check_cards, person_of, shows_no_screens
from annotators.units.outcomes import failures, rule_answers
from annotators.units.targets import targets_of, with_design
from lab.core.design import Design, Subject
from lab.core.errors import LabError
from lab.core.measured_run import MeasuredRun
from lab.core.protocol import Protocol
from lab.core.study import Unit
from lab.core.task import Tdg


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
