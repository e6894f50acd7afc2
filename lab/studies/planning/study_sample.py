"""Build a study's units from the runs, tasks and lines that a plan names, and list what is left out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple, TypeVar

from annotators.gold import read_gold, with_gold
from annotators.papers.knowu.runs import split_of_case
from annotators.plan import Plan
from annotators.protocols import protocol as protocol_named
from annotators.units import EarlierStudy, UnitTerms, units_for
from annotators.units.cards import lacks_person, person_of
from annotators.units.lines import read_lines
from annotators.units.outcomes import run_failed
from lab.core.errors import LabError
from lab.core.run.measured_run import MeasuredRun
from lab.core.study.protocol import Protocol
from lab.core.study.study import Study, Unit
from lab.core.task.design import Design, Subject, subject_of
from lab.core.task.task import Persona, Task
from lab.core.values.rounding import count
from lab.studies.planning.study_runs import (
    Skipped,
    cases_of,
    past_of,
    personas_of,
    profiles_of,
    references_of,
    tasks_of,
)
from store.store import Store

T = TypeVar("T")

_EACH = ("run", "step", "question", "task", "task to play")
"""Kinds of units that come from one run or task each, so that a refused one can be left out by itself."""


class StudySample(NamedTuple):
    """One study's name, protocol and units."""

    name: str
    protocol: Protocol
    units: list[Unit]
    told: list[str]
    blank: int = 0
    """Number of runs whose screens are to be shown, but of which none was recorded as picture or words."""


def samples(store: Store, plan: Plan) -> tuple[list[StudySample], list[Skipped]]:
    """Return a plan's studies: one, or one for each kind of task that it has a protocol for.

    If there are several, their names end in the kind. Raise `LabError` if none has anything to ask.
    """
    skipped: list[Skipped] = []
    cases = cases_of(store, plan, skipped)
    tasks = tasks_of(plan)
    by_kind: dict[str, StudySample] = {}
    for kind, protocol, some, of in _split_by_protocol(plan, cases, tasks, skipped):
        _check_source(protocol, plan, some, of, skipped)
        builder = _UnitBuilder(store, plan, protocol, skipped)
        units = builder.all_units(some, of)
        if units:
            by_kind[kind] = StudySample(
                plan.name,
                protocol,
                units,
                builder.origin_sentences(some, units),
                builder.blank(builder.cases_of(some, units)),
            )
    if not by_kind:
        hint = "`hitlab runs list` lists what is there."
        if not plan.profiles and any("profile" in one.why for one in skipped):
            hint = "--profiles FOLDER takes KnowU-Bench's user_profile."
        raise LabError(f"study {plan.name}", f"has nothing to ask{_format_reasons(skipped)}", hint)
    if len(by_kind) > 1:
        by_kind = {kind: one._replace(name=f"{plan.name}-{kind}") for kind, one in by_kind.items()}
    if not plan.gold:
        return [*by_kind.values()], skipped
    lines = read_gold(Path(plan.gold))
    if len(by_kind) > 1:
        raise LabError(f"study {plan.name}", "field gold: is of one study, and these are several", "--runs kind:...")
    return [one._replace(units=with_gold(one.protocol, one.units, lines)) for one in by_kind.values()], skipped


def further_units(store: Store, plan: Plan, study: Study) -> tuple[StudySample, list[Skipped]]:
    """Return a plan's units under an existing study's own protocol, to extend it.

    If the study is one of several kinds of task, take only runs of its kind. Raise `LabError` if there is nothing to
    ask.
    """
    skipped: list[Skipped] = []
    cases, tasks = cases_of(store, plan, skipped), tasks_of(plan)
    kind = next((kind for kind in plan.protocols if study.id.endswith(f"-{kind}")), None)
    if kind is not None:
        others = [case for case in cases if split_of_case(case) != kind]
        skipped += [Skipped(case.id, f"not of a {kind} task, as this study's are") for case in others]
        cases = [case for case in cases if split_of_case(case) == kind]
    _check_source(study.protocol, plan, cases, tasks, skipped)
    builder = _UnitBuilder(store, plan, study.protocol, skipped)
    units = builder.all_units(cases, tasks)
    if not units:
        raise LabError(
            f"study {study.name}",
            f"has nothing more to ask{_format_reasons(skipped)}",
            "`hitlab runs list` lists runs.",
        )
    blank = builder.blank(builder.cases_of(cases, units))
    return StudySample(study.id, study.protocol, units, builder.origin_sentences(cases, units), blank), skipped


def _split_by_protocol(
    plan: Plan, cases: Sequence[MeasuredRun], tasks: Sequence[Task], skipped: list[Skipped]
) -> list[tuple[str, Protocol, Sequence[MeasuredRun], Sequence[Task]]]:
    """Return each protocol with its runs and tasks, by kind of task. Note runs of a kind without a protocol."""
    if plan.protocol:
        return [("", protocol_named(plan.protocol), cases, tasks)]
    for case in cases:
        if split_of_case(case) not in plan.protocols:
            kinds, kind = " and ".join(plan.protocols), split_of_case(case)
            whose = f"of a {kind} task" if kind else "of a task whose kind nothing tells"
            skipped.append(Skipped(case.id, f"{whose}, and {kinds} ones are asked about"))
    return [
        (
            kind,
            protocol_named(name),
            [case for case in cases if split_of_case(case) == kind],
            [task for task in tasks if task.kind == kind],
        )
        for kind, name in plan.protocols.items()
    ]


def _check_source(
    protocol: Protocol, plan: Plan, cases: Sequence[MeasuredRun], tasks: Sequence[Task], skipped: Sequence[Skipped]
) -> None:
    """Raise `LabError` if the plan names no source for the protocol's kind of unit."""
    what = f"study {plan.name}"
    if protocol.unit == "task to play" and not tasks:
        raise LabError(
            what, f"field tasks: there is none to play{_format_reasons(skipped)}", "--tasks NAME... or --tasks all"
        )
    if protocol.unit in ("pair of instruction sets", "pair of texts") and not plan.items:
        raise LabError(
            what, f"field items: {protocol.id} is asked of a {protocol.unit}", "--items FILE.jsonl has them."
        )
    if plan.shadow_replies:
        _check_shadow_replies(protocol, plan)
    if not (plan.runs or plan.tasks or plan.items or plan.pairs or plan.earlier):
        raise LabError(
            what, "field runs: there is none", "--runs all, or ids, or words as `hitlab runs list` takes them."
        )


def _check_shadow_replies(protocol: Protocol, plan: Plan) -> None:
    """Raise `LabError` if shadows' replies cannot be rated: not a question, or raters see the person's own reply."""
    what = f"study {plan.name}"
    if protocol.unit != "question":
        raise LabError(what, f"field shadow_replies: {protocol.id} is asked of a {protocol.unit}, not of replies.")
    if "dialogue" in {*protocol.shows, *plan.shows}:
        problem = "its raters are shown the dialogue, which tells which reply is the person's own."
        raise LabError(what, f"field shadow_replies: {problem}")


class _UnitBuilder:
    """Builds the units of one protocol. Notes in `skipped` what has nothing to ask."""

    def __init__(self, store: Store, plan: Plan, protocol: Protocol, skipped: list[Skipped]) -> None:
        self.store = store
        self.plan = plan
        self.protocol = protocol
        self.skipped = skipped
        self.designs: dict[Subject, Design] = {}
        self.personas: dict[str, Persona] = {}
        self.references: dict[str, str] = {}
        self.past: list[MeasuredRun] = []
        self.terms = UnitTerms(
            plan.conditions, plan.agent, plan.phone_seed, plan.vary, plan.steps, plan.seed, plan.beyond, plan.shows
        )

    def all_units(self, cases: Sequence[MeasuredRun], tasks: Sequence[Task]) -> list[Unit]:
        """Return every unit of these runs and tasks."""
        self._look_up(cases, tasks)
        if self.protocol.only_failed:
            cases = [case for case in cases if self._may_have_failed(case)]
        if self.protocol.forward:
            # In order of time, since a later unit reveals what came before.
            cases = sorted(cases, key=lambda case: case.task.time)
        unit = self.protocol.unit
        if unit == "task to play":
            self._check_agent(tasks)
        if unit == "task" and not tasks:
            tasks = [*{case.task.id: case.task for case in reversed(cases)}.values()]
        if unit not in _EACH or self.plan.items or self.plan.earlier:
            units = self._build_units(cases, tasks)
        elif unit in ("task", "task to play"):
            units = self._units_of_accepted(tasks, lambda some: self._build_units((), some), lambda task: task.id)
        else:
            units = self._units_of_accepted(cases, lambda some: self._build_units(some, ()), lambda case: case.id)
        return [unit for unit in units if self._has_owner(unit)]

    def _check_agent(self, tasks: Sequence[Task]) -> None:
        """Raise `LabError` if a task to play lacks the playbook that the plan names."""
        from lab.runs.spec import is_playbook, playbook_agent

        for task in tasks if is_playbook(self.plan.agent) else ():
            playbook_agent(self.plan.agent, task)

    def origin_sentences(self, cases: Sequence[MeasuredRun], units: Sequence[Unit]) -> list[str]:
        """Return sentences on the units' origin and on what they lack."""
        unit_cases = self.cases_of(cases, units)
        designed = sum(subject_of(case.task) in self.designs for case in unit_cases)
        sentences = [f"{designed:,} of the runs by their tasks' frozen designs"] if designed else []
        sentences += self._describe_unknown_personas(unit_cases)
        sentences += self._describe_missing_screens(unit_cases)
        plays = [unit.play for unit in units if unit.play is not None]
        if plays:
            ways = "; ".join(dict.fromkeys(play.condition for play in plays))
            sentences.append(f"{count(len({play.task.id for play in plays}), 'task')}, each played by: {ways}")
        return sentences

    def cases_of(self, cases: Sequence[MeasuredRun], units: Sequence[Unit]) -> list[MeasuredRun]:
        """Return the runs that the units are about."""
        runs = {run for unit in units for run in unit.runs}
        return [case for case in cases if case.id in runs]

    def blank(self, cases: Sequence[MeasuredRun]) -> int:
        """Count the runs without any recorded screen, if screens are shown."""
        if "screens" not in {*self.protocol.shows, *self.plan.shows}:
            return 0
        return sum(bool(case.steps) and not any(step.recorded for step in case.steps) for case in cases)

    def _describe_unknown_personas(self, cases: Sequence[MeasuredRun]) -> list[str]:
        """Describe the runs whose persona or log is to be shown but unknown."""
        persona_parts = [what for what in ("persona", "log") if what in {*self.protocol.shows, *self.plan.shows}]
        lacking = [
            case for case in cases if persona_parts and lacks_person(case) and person_of(case) not in self.personas
        ]
        if not lacking:
            return []
        names = ", ".join(sorted({person_of(case) for case in lacking} - {""}))
        whose = f"; they name {names} (--profiles FOLDER has KnowU-Bench's)" if names else ""
        what = (
            "neither profile nor log"
            if len(persona_parts) == 2
            else f"no {'profile' if persona_parts == ['persona'] else 'log'}"
        )
        have = "has" if len(lacking) == 1 else "have"
        return [f"{len(lacking):,} of the runs {have} {what} to be shown beside them{whose}"]

    def _describe_missing_screens(self, cases: Sequence[MeasuredRun]) -> list[str]:
        """Describe the runs that lack screens, if screens are shown."""
        if "screens" not in {*self.protocol.shows, *self.plan.shows}:
            return []
        lacking = {case.id: sum(not step.recorded for step in case.steps) for case in cases}
        blank = self.blank(cases)
        partly = sum(0 < lacking[case.id] < len(case.steps) for case in cases)
        unseen = []
        if blank:
            have = "has" if blank == 1 else "have"
            unseen.append(
                f"{blank:,} of the runs {have} neither pictures nor words of any screen; raters see actions alone"
            )
        if partly:
            have = "lacks" if partly == 1 else "lack"
            unseen.append(f"{partly:,} of the runs {have} some screens, as pictures and as words")
        return unseen

    def _look_up(self, cases: Sequence[MeasuredRun], tasks: Sequence[Task]) -> None:
        for subject in dict.fromkeys(map(subject_of, [*(case.task for case in cases), *tasks])):
            if frozen := self.store.designs.newest_verified(subject):
                self.designs[subject] = frozen.design
        self.personas = profiles_of(self.plan, cases) | personas_of(tasks)
        self.references = references_of(self.store, self.plan, cases)
        self.past = past_of(self.store, self.protocol, self.references, cases)

    def _may_have_failed(self, case: MeasuredRun) -> bool:
        if run_failed(case) is not False:
            return True
        self.skipped.append(Skipped(case.id, "succeeded, and only failed runs are asked about"))
        return False

    def _has_owner(self, unit: Unit) -> bool:
        if not unit.owner or unit.owner in self.plan.raters:
            return True
        self.skipped.append(Skipped(unit.id, f"its owner {unit.owner} is none of the raters"))
        return False

    def _units_of_accepted(
        self, things: Sequence[T], make: Callable[[Sequence[T]], list[Unit]], id_of: Callable[[T], str]
    ) -> list[Unit]:
        # One call for all is much quicker than one for each, and refusals are rare.
        """Return the units of all but the refused things, which bisection finds."""
        try:
            return make(things) if things else []
        except LabError as error:
            if len(things) == 1:
                self.skipped.append(Skipped(id_of(things[0]), _without_name(things[0], error)))
                return []
        half = len(things) // 2
        return [
            *self._units_of_accepted(things[:half], make, id_of),
            *self._units_of_accepted(things[half:], make, id_of),
        ]

    def _build_units(self, cases: Sequence[MeasuredRun], tasks: Sequence[Task]) -> list[Unit]:
        plan = self.plan
        return units_for(
            self.protocol,
            cases,
            tasks=tasks,
            lines=read_lines(Path(plan.items)) if plan.items else (),
            references=self.references,
            designs=self.designs,
            personas=self.personas,
            pairs=[(self.store.runs.find(a), self.store.runs.find(b)) for a, b in plan.pairs],
            past=self.past,
            earlier=_find_earlier(self.store, plan.earlier) if plan.earlier else None,
            shadows={case.id: self.store.shadows.current(case.id) for case in cases} if plan.shadow_replies else None,
            terms=self.terms,
        )


def _without_name(thing: object, error: LabError) -> str:
    """Return a reason without the names of its run and task, so that equal reasons are listed once."""
    task = thing.task.id if isinstance(thing, MeasuredRun) else ""
    whose = (
        error.message if error.title.startswith(("run ", "task ", "study by ")) else f"{error.title}: {error.message}"
    )
    return whose.replace(f"its task {task} ", "its task ").replace(f"its task {task},", "its task,").rstrip(".")


def _format_reasons(skipped: Sequence[Skipped]) -> str:
    """Format the first reasons for which runs were left out."""
    reasons = list(dict.fromkeys(one.why for one in skipped))
    return f" ({len(skipped):,} left out: {'; '.join(reasons[:3])})" if reasons else ""


def _find_earlier(store: Store, name: str) -> EarlierStudy:
    study = store.studies.study(name)
    return EarlierStudy(study, list(store.studies.units(study)), list(store.labels.read(study)))
