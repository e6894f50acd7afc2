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
from annotators.units.cards import person_of
from lab.case import Case
from lab.commands.studying_told import Skipped
from lab.design.revision import Design, Subject, subject_of
from lab.errors import LabError
from lab.study import Protocol, Unit
from lab.task import Persona, Task
from lab.wire import read_file, read_json
from store.store import Store

T = TypeVar("T")
GOOD = 0.99
"""A run has succeeded from this score on. Source: KnowU-Bench, `utils.py`."""
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
        self.terms = Terms(plan.conditions, plan.agent, plan.phone_seed, plan.vary, plan.steps, plan.seed, plan.beyond)

    def of(self, cases: Sequence[Case], tasks: Sequence[Task]) -> list[Unit]:
        asked = dict.fromkeys(map(subject_of, [*(case.task for case in cases), *tasks]))
        for subject in asked:
            if frozen := self.store.frozen_design(subject):
                self.designs[subject] = frozen.design
        self.personas = _personas(tasks) if self.protocol.unit == "task to play" else {}
        self.references = _references(self.store, self.plan, cases)
        self.past = _past(self.store, self.protocol, self.references, cases)
        if self.protocol.unit == "task" and not tasks:
            tasks = list({subject_of(case.task): case.task for case in cases}.values())
        if self.protocol.unit not in _EACH or self.plan.items or self.plan.earlier:
            return self._all(cases, tasks)
        if self.protocol.unit in ("task", "task to play"):
            return self._each(tasks, lambda task: self._all((), (task,)), lambda task: task.id)
        return self._each(cases, lambda case: self._all((case,), ()), lambda case: case.id)

    def told(self, cases: Sequence[Case]) -> list[str]:
        """What people are told of where these units come from."""
        designed = sum(subject_of(case.task) in self.designs for case in cases)
        return [f"{designed:,} of the runs by their tasks' frozen designs"] if designed else []

    def _each(self, things: Iterable[T], make: Callable[[T], list[Unit]], id_of: Callable[[T], str]) -> list[Unit]:
        units: list[Unit] = []
        for thing in things:
            try:
                units += make(thing)
            except LabError as error:
                self.skipped.append(Skipped(id_of(thing), error.message))
        return units

    def _all(self, cases: Sequence[Case], tasks: Sequence[Task]) -> list[Unit]:
        plan = self.plan
        return units_for(
            self.protocol,
            cases,
            tasks=tasks,
            lines=_lines(Path(plan.items)) if plan.items else (),
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
    if plan.only == "failed" and case.score is not None and case.score >= GOOD:
        return "succeeded, where failed runs are asked about"
    if plan.only == "succeeded" and (case.score is None or case.score < GOOD):
        return "did not succeed"
    if plan.only == "demonstrations" and not case.gold:
        return "no demonstration"
    return ""


def _references(store: Store, plan: Plan, cases: Sequence[Case]) -> dict[str, str]:
    """For each run the one beside which it is rated: as told, or its task's demonstration."""
    if isinstance(plan.reference, dict):
        return {store.find(run): store.find(beside) for run, beside in plan.reference.items()}
    if plan.reference != "gold":
        beside = store.find(plan.reference) if plan.reference else ""
        return {case.id: beside for case in cases if beside and case.id != beside}
    shown: dict[str, str] = {}
    for task in dict.fromkeys(case.task.id for case in cases):
        gold = next((case.id for case in store.cases(reversed(store.runs_of(task))) if case.gold), None)
        if gold is not None:
            shown[task] = gold
    return {case.id: shown[case.task.id] for case in cases if case.task.id in shown and case.id != shown[case.task.id]}


def _past(store: Store, protocol: Protocol, references: Mapping[str, str], cases: Sequence[Case]) -> list[Case]:
    """Runs that are not asked about and yet needed: those that others are rated against, and what people did before."""
    if protocol.reference:
        return list(store.cases(dict.fromkeys(references.values())))
    if protocol.unit != "run" or {"screens", "actions"} & set(protocol.shows):
        return []
    people = {person_of(case) for case in cases} - {""}
    return [case for case in store.cases() if person_of(case) in people]


# -- tasks and lines -------------------------------------------------------------------------------------------


def _tasks(plan: Plan, skipped: list[Skipped]) -> list[Task]:
    from simulators import library

    names = list(library.tasks()) if "all" in plan.tasks else plan.tasks
    found = [library.task(name) for name in dict.fromkeys(names)]
    twice = next((task.id for task in found if sum(other.id == task.id for other in found) > 1), None)
    if twice is not None:
        raise LabError(f"study {plan.name}", f"field tasks: two of them are {twice!r}")
    return found


def _personas(tasks: Iterable[Task]) -> dict[str, Persona]:
    from simulators import library

    return {task.persona: library.persona(task.persona, task.log) for task in tasks if task.persona}


def _lines(path: Path) -> list[tuple[str, object]]:
    what = f"items file {path}"
    lines = enumerate(read_file(path, what).splitlines(), 1)
    found = [(f"{what}, line {n}", read_json(line, f"{what}, line {n}").value) for n, line in lines if line.strip()]
    if not found:
        raise LabError(what, "holds no line")
    return found


def _earlier(store: Store, name: str) -> Earlier:
    study = store.study(name)
    return Earlier(study, list(store.units(study)), list(store.labels(study)))
