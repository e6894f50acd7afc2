"""Select the runs, tasks and personas that a plan names."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import msgspec
from msgspec.structs import replace

from annotators.plan import Plan
from annotators.units.cards import lacks_person, person_of, shows_no_screens
from annotators.units.outcomes import run_failed
from lab.core.errors import LabError
from lab.core.run.measured_run import MeasuredRun
from lab.core.study.protocol import Protocol
from lab.core.task.task import Persona, Task, load_persona
from lab.runs.listing.run_selection import runs_by_id, runs_matching
from store.store import Store


class Skipped(msgspec.Struct, frozen=True):
    """A run or task that the study leaves out, and why."""

    id: str
    why: str


def cases_of(store: Store, plan: Plan, skipped: list[Skipped]) -> list[MeasuredRun]:
    """Return the runs that a plan names, the oldest first. Append unfit ones to `skipped`.

    Archived runs are included only if named by id.
    """
    try:
        named_ids = runs_by_id(store, plan.runs)
        run_ids = named_ids or (runs_matching(store, plan.runs) if plan.runs else [])
    except LabError as error:
        # A run that does not exist: its error names it already.
        if error.code != 2:
            raise
        raise LabError(f"study {plan.name}", f"field runs: {error.message}", error.hint, code=2) from error
    run_ids = list(dict.fromkeys([*run_ids, *(store.runs.find(id) for pair in plan.pairs for id in pair)]))
    cases = []
    for case in store.runs.measured(run_ids):
        why = _unfit_reason(case, plan, by_id=bool(named_ids))
        if why:
            skipped.append(Skipped(case.id, why))
        else:
            cases.append(case)
    return cases


def _unfit_reason(case: MeasuredRun, plan: Plan, *, by_id: bool) -> str:
    """Return the reason why a run cannot be in the study, empty if it can."""
    if case.status == "open":
        return "not ended"
    if case.parent and not by_id:
        return "forked from another run"
    if plan.only in ("failed", "succeeded") and run_failed(case) is not (plan.only == "failed"):
        return f"is not known to have {plan.only}"
    if plan.only == "demonstrations" and not case.gold:
        return "no demonstration"
    return ""


def references_of(store: Store, plan: Plan, cases: Sequence[MeasuredRun]) -> dict[str, str]:
    """Return each run's reference run if the plan names one. Otherwise its task's demonstration serves."""
    if isinstance(plan.reference, dict):
        return {store.runs.find(run): store.runs.find(reference) for run, reference in plan.reference.items()}
    reference = store.runs.find(plan.reference) if plan.reference else ""
    return {case.id: reference for case in cases if reference and case.id != reference}


def past_of(
    store: Store, protocol: Protocol, references: Mapping[str, str], cases: Sequence[MeasuredRun]
) -> list[MeasuredRun]:
    """Return further runs that are needed but not asked about: references, and what the same people did before."""
    case_ids = {case.id for case in cases}
    if protocol.reference:
        tasks = dict.fromkeys(case.task.id for case in cases if case.id not in references)
        of_tasks = dict.fromkeys(id for task in tasks for id in store.runs.of_task(task))
        demonstrations = [
            case for case in store.runs.measured(id for id in of_tasks if id not in case_ids) if case.gold
        ]
        there = case_ids | {case.id for case in demonstrations}
        reference_ids = dict.fromkeys(id for id in references.values() if id not in there)
        return [*demonstrations, *store.runs.measured(reference_ids)]
    if protocol.unit != "run" or not shows_no_screens(protocol):
        return []
    people = {person_of(case) for case in cases} - {""}
    return [case for case in store.runs.measured() if case.id not in case_ids and person_of(case) in people]


def tasks_of(plan: Plan) -> list[Task]:
    from simulators import library

    names = list(library.tasks()) if "all" in plan.tasks else plan.tasks
    tasks = [library.task(name) for name in dict.fromkeys(names)]
    twice = next((task.id for task in tasks if sum(other.id == task.id for other in tasks) > 1), None)
    if twice is not None:
        raise LabError(f"study {plan.name}", f"field tasks: two of them are {twice!r}")
    return tasks


def personas_of(tasks: Iterable[Task]) -> dict[str, Persona]:
    """Return the built-in and file personas that tasks to play name."""
    from simulators import library

    personas: dict[str, Persona] = {}
    for task in tasks:
        name = task.persona
        if name and name not in personas and (name in library.personas() or Path(name).exists()):
            personas[name] = library.persona(name, task.log)
    return personas


def profiles_of(plan: Plan, cases: Iterable[MeasuredRun]) -> dict[str, Persona]:
    """Return the personas that runs name without holding them: from the plan's profile folder, else built-in."""
    from simulators import library

    logs = {person_of(case): case.task.log for case in cases if lacks_person(case)}
    profiles = {name: library.persona(name, log) for name, log in logs.items() if name in library.personas()}
    if not plan.profiles:
        return profiles
    folder = Path(plan.profiles)
    if not folder.is_dir():
        raise LabError(f"study {plan.name}", f"field profiles: {folder} is no folder")
    if not any(True for ways in ("*.y*ml", "*/*.y*ml") for _ in folder.glob(ways)):
        hint = "Leave it out, or name KnowU-Bench's user_profile."
        raise LabError(f"study {plan.name}", f"field profiles: {folder} holds no profile", hint)
    for name in logs:
        path = _find_profile(folder, name)
        if path is not None:
            profiles[name] = replace(load_persona(path, source=plan.log), id=name)
    return profiles


def _find_profile(folder: Path, name: str) -> Path | None:
    """Return the path of a person's profile in a folder or in KnowU-Bench's layout below it, None if missing."""
    # The name comes from a stranger's run: it must not lead out of the folder.
    if not name or Path(name).name != name or name in (".", ".."):
        return None
    ways = (f"{name}.yaml", f"{name}.yml", f"user_profile/{name}.yaml", f"{name}/profile.yaml")
    return next((folder / way for way in ways if (folder / way).is_file()), None)
