"""What a study is made of: the runs, tasks and lines that a plan names, as units, and those that are left out."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple, TypeVar

from annotators.gold import read_gold, with_gold
from annotators.plan import Plan
from annotators.protocols import protocol as protocol_named
from annotators.units import Earlier, Terms, units_for
from annotators.units.cards import person_of, wordless
from annotators.units.lines import read_lines
from annotators.units.outcomes import failed
from lab.case import Case
from lab.commands.studying_told import Skipped
from lab.design.revision import Design, Subject, subject_of
from lab.errors import LabError
from lab.study import Protocol, Unit
from lab.task import Persona, Task
from store.store import Store

T = TypeVar("T")
_FILTER = re.compile(r"-?[A-Za-z_]+(:|<=|>=|!=|<|>|=)")
_EACH = ("run", "step", "question", "task", "task to play")
"""Kinds of units of which each comes of one run or task, so that one with nothing to ask is left out by itself."""


class Sample(NamedTuple):
    """One study's units, and the name that it has."""

    name: str
    protocol: Protocol
    units: list[Unit]
    told: list[str]


def samples(store: Store, plan: Plan) -> tuple[list[Sample], list[Skipped]]:
    """The units of each study that a plan comes to: one, or one for each kind of task that it has a protocol for."""
    skipped: list[Skipped] = []
    cases = _cases(store, plan, skipped)
    tasks = _tasks(plan, skipped)
    if plan.protocol:
        parts = [(plan.name, protocol_named(plan.protocol), cases, tasks)]
    else:
        parts = _by_kind(plan, cases, tasks, skipped)
    found = []
    for name, protocol, some, of in parts:
        _check_source(protocol, plan, some, of, skipped)
        made = _Units(store, plan, protocol, skipped)
        units = made.of(some, of)
        if not units:
            raise LabError(f"study {name}", f"has nothing to ask{_why(skipped)}", "`hitlab runs` lists what is there.")
        if plan.gold:
            units = with_gold(protocol, units, read_gold(Path(plan.gold)))
        found.append(Sample(name, protocol, units, made.told(some)))
    return found, skipped


def _by_kind(
    plan: Plan, cases: Sequence[Case], tasks: Sequence[Task], skipped: list[Skipped]
) -> list[tuple[str, Protocol, list[Case], list[Task]]]:
    """A study for each kind of task of which there is something; the kind is in the name where there are several."""
    kinds = [kind for kind in plan.protocols if any(case.task.kind == kind for case in cases)]
    kinds += [kind for kind in plan.protocols if kind not in kinds and any(task.kind == kind for task in tasks)]
    asked = ", ".join(plan.protocols)
    for case in cases:
        if case.task.kind not in plan.protocols:
            skipped.append(Skipped(case.id, f"of a {case.task.kind} task, where {asked} ones are asked about"))
    if not kinds:
        raise LabError(f"study {plan.name}", f"has nothing to ask{_why(skipped)}", "`hitlab runs` lists what is there.")
    return [
        (
            plan.name if len(kinds) == 1 else f"{plan.name}-{kind}",
            protocol_named(plan.protocols[kind]),
            [case for case in cases if case.task.kind == kind],
            [task for task in tasks if task.kind == kind],
        )
        for kind in kinds
    ]


def _check_source(
    protocol: Protocol, plan: Plan, cases: Sequence[Case], tasks: Sequence[Task], skipped: Sequence[Skipped]
) -> None:
    """Raises `LabError` where nothing is named of what a protocol is asked of."""
    what = f"study {plan.name}"
    if protocol.unit == "task to play" and not tasks:
        raise LabError(what, f"field tasks: there is none to play{_why(skipped)}", "--tasks NAME... or --tasks all")
    if protocol.unit in ("pair of instruction sets", "pair of texts") and not plan.items and not cases:
        raise LabError(
            what, f"field items: {protocol.id} is asked of a {protocol.unit}", "--items FILE.jsonl has them."
        )
    if not (plan.runs or plan.tasks or plan.items or plan.pairs or plan.earlier):
        raise LabError(what, "field runs: there is none", "--runs all, or ids, or words as `hitlab runs` takes them.")


class _Units:
    """Units of one protocol; what has nothing to ask is noted by its id."""

    def __init__(self, store: Store, plan: Plan, protocol: Protocol, skipped: list[Skipped]) -> None:
        self.store = store
        self.plan = plan
        self.protocol = protocol
        self.skipped = skipped
        self.designs: dict[Subject, Design] = {}
        self.personas: dict[str, Persona] = {}
        self.references: dict[str, str] = {}
        self.past: list[Case] = []
        self.terms = Terms(plan.conditions, plan.agent, plan.phone_seed, plan.vary, plan.steps, plan.seed, plan.beyond)

    def of(self, cases: Sequence[Case], tasks: Sequence[Task]) -> list[Unit]:
        """Every unit that these come to."""
        self._look_up(cases, tasks)
        if self.protocol.only_failed:
            cases = [case for case in cases if self._may_have_failed(case)]
        unit = self.protocol.unit
        if unit == "task" and not tasks:
            tasks = [*{case.task.id: case.task for case in reversed(cases)}.values()]
        if unit not in _EACH or self.plan.items or self.plan.earlier:
            units = self._all(cases, tasks)
        elif unit in ("task", "task to play"):
            units = self._each(tasks, lambda some: self._all((), some), lambda task: task.id)
        else:
            units = self._each(cases, lambda some: self._all(some, ()), lambda case: case.id)
        return [unit for unit in units if self._has_owner(unit)]

    def told(self, cases: Sequence[Case]) -> list[str]:
        """What people are told of where these units come from."""
        designed = sum(subject_of(case.task) in self.designs for case in cases)
        return [f"{designed:,} of the runs by their tasks' frozen designs"] if designed else []

    def _look_up(self, cases: Sequence[Case], tasks: Sequence[Task]) -> None:
        for subject in dict.fromkeys(map(subject_of, [*(case.task for case in cases), *tasks])):
            if frozen := self.store.frozen_design(subject):
                self.designs[subject] = frozen.design
        self.personas = _personas([*tasks, *(case.task for case in cases if case.persona is None)])
        self.references = _references(self.store, self.plan, cases)
        self.past = _past(self.store, self.protocol, self.references, cases)

    def _may_have_failed(self, case: Case) -> bool:
        if failed(case) is not False:
            return True
        self.skipped.append(Skipped(case.id, "succeeded, and only failed runs are asked about."))
        return False

    def _has_owner(self, unit: Unit) -> bool:
        if not unit.owner or unit.owner in self.plan.raters:
            return True
        self.skipped.append(Skipped(unit.id, f"its owner {unit.owner} is none of the raters."))
        return False

    def _each(
        self, things: Sequence[T], make: Callable[[Sequence[T]], list[Unit]], id_of: Callable[[T], str]
    ) -> list[Unit]:
        """Units of all of these but those that are refused, which halving finds."""
        try:
            return make(things) if things else []
        except LabError as error:
            if len(things) == 1:
                self.skipped.append(Skipped(id_of(things[0]), error.message))
                return []
        half = len(things) // 2
        return [*self._each(things[:half], make, id_of), *self._each(things[half:], make, id_of)]

    def _all(self, cases: Sequence[Case], tasks: Sequence[Task]) -> list[Unit]:
        plan = self.plan
        return units_for(
            self.protocol,
            cases,
            tasks=tasks,
            lines=read_lines(Path(plan.items)) if plan.items else (),
            references=self.references,
            designs=self.designs,
            personas=self.personas,
            pairs=[(self.store.find(a), self.store.find(b)) for a, b in plan.pairs],
            past=self.past,
            earlier=_earlier(self.store, plan.earlier) if plan.earlier else None,
            terms=self.terms,
        )


def _why(skipped: Sequence[Skipped]) -> str:
    """The reasons for which all was left out."""
    reasons = list(dict.fromkeys(one.why for one in skipped))
    return f" ({len(skipped):,} left out: {'; '.join(reasons[:3])})" if reasons else ""


# -- runs ------------------------------------------------------------------------------------------------------


def _cases(store: Store, plan: Plan, skipped: list[Skipped]) -> list[Case]:
    """The runs that a plan names, the oldest first; those that cannot be rated are noted."""
    words = [word for word in plan.runs if word != "all"]
    filters = [word for word in words if _FILTER.match(word)]
    ids = [word for word in words if not _FILTER.match(word)]
    if ids and (filters or len(words) < len(plan.runs)):
        raise LabError(f"study {plan.name}", "field runs: names runs and a filter; it is one or the other", code=2)
    wanted = list(dict.fromkeys(map(store.find, ids))) if ids else _fitting(store, plan, filters)
    wanted = list(dict.fromkeys([*wanted, *(store.find(id) for pair in plan.pairs for id in pair)]))
    found = []
    for case in store.cases(wanted):
        why = _unfit(case, plan, named=bool(ids))
        if why:
            skipped.append(Skipped(case.id, why))
        else:
            found.append(case)
    return found


def _fitting(store: Store, plan: Plan, filters: Sequence[str]) -> list[str]:
    if not plan.runs:
        return []
    from screens.runs.rows import cost_of, entry
    from screens.runs.sought import read

    try:
        sought = read(" ".join(filters))
    except LabError as error:
        raise LabError(f"study {plan.name}", f"field runs: {error.message}", error.hint, code=2) from error
    entries = [entry(row) for row in reversed(store.run_rows(-1))]
    costs = {case.id: cost_of(case) for case in store.cases([it.run.id for it in entries])} if sought.costly else {}
    return [it.run.id for it in entries if sought.fits(it, costs)]


def _unfit(case: Case, plan: Plan, *, named: bool) -> str:
    """Why a run cannot be in the study; empty where it can."""
    if case.status == "open":
        return "not ended"
    if case.parent and not named:
        return "forked from another run"
    if plan.only in ("failed", "succeeded") and failed(case) is not (plan.only == "failed"):
        return f"is not known to have {plan.only}"
    if plan.only == "demonstrations" and not case.gold:
        return "no demonstration"
    return ""


def _references(store: Store, plan: Plan, cases: Sequence[Case]) -> dict[str, str]:
    """For each run the one beside which it is rated, where that is told; else it is its task's demonstration."""
    if isinstance(plan.reference, dict):
        return {store.find(run): store.find(beside) for run, beside in plan.reference.items()}
    beside = store.find(plan.reference) if plan.reference else ""
    return {case.id: beside for case in cases if beside and case.id != beside}


def _past(store: Store, protocol: Protocol, references: Mapping[str, str], cases: Sequence[Case]) -> list[Case]:
    """Runs that are not asked about and yet needed: those that others are rated beside, and what people did before."""
    asked = {case.id for case in cases}
    if protocol.reference:
        tasks = dict.fromkeys(case.task.id for case in cases if case.id not in references)
        of_tasks = dict.fromkeys(id for task in tasks for id in store.runs_of(task))
        demonstrations = [case for case in store.cases(id for id in of_tasks if id not in asked) if case.gold]
        there = asked | {case.id for case in demonstrations}
        named = dict.fromkeys(id for id in references.values() if id not in there)
        return [*demonstrations, *store.cases(named)]
    if protocol.unit != "run" or not wordless(protocol):
        return []
    people = {person_of(case) for case in cases} - {""}
    return [case for case in store.cases() if case.id not in asked and person_of(case) in people]


# -- tasks ---------------------------------------------------------------------------------------------


def _tasks(plan: Plan, skipped: list[Skipped]) -> list[Task]:
    from simulators import library

    names = list(library.tasks()) if "all" in plan.tasks else plan.tasks
    found = [library.task(name) for name in dict.fromkeys(names)]
    twice = next((task.id for task in found if sum(other.id == task.id for other in found) > 1), None)
    if twice is not None:
        raise LabError(f"study {plan.name}", f"field tasks: two of them are {twice!r}")
    return found


def _personas(tasks: Iterable[Task]) -> dict[str, Persona]:
    """The built-in personas, and those in files, that tasks name."""
    from simulators import library

    found: dict[str, Persona] = {}
    for task in tasks:
        name = task.persona
        if name and name not in found and (name in library.personas() or Path(name).exists()):
            found[name] = library.persona(name, task.log)
    return found


def _earlier(store: Store, name: str) -> Earlier:
    study = store.study(name)
    return Earlier(study, list(store.units(study)), list(store.labels(study)))
