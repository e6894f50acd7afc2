"""A study's units, made from runs, tasks and files, and frozen with all that they ask.

Ids follow from a unit's contents, so that making a unit again gives the same id: a run's id, `RUN@7` for a step or the
question asked there, `RUN+RUN` for a pair, a task's id, `TASK.person` for a play, a line's own id or its number.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from msgspec.structs import replace

from annotators.units.cards import lacks_person, person_cards, shows_no_screens
from annotators.units.disagreements import EarlierStudy, disagreement_units
from annotators.units.lines import read_lines, set_units, text_units
from annotators.units.pairs import pair_units
from annotators.units.parts import question_units, step_units
from annotators.units.runs import run_units
from annotators.units.tasks import play_units, task_units
from lab.core.errors import LabError
from lab.core.run.measured_run import MeasuredRun
from lab.core.run.shadow_answer import ShadowAnswer
from lab.core.study.protocol import Protocol, Show
from lab.core.study.study import Unit
from lab.core.task.design import Design, Subject
from lab.core.task.task import Persona, Task

__all__ = ["TERMS", "EarlierStudy", "UnitTerms", "read_lines", "units_for"]


class UnitTerms(NamedTuple):
    """Options for making units.

    `conditions` are those in which tasks are played (see `Play.condition`). `agent`, `phone_seed` and `vary` apply to
    plays. `steps` is the number of sampled steps per run (None: all), drawn from `seed`. A run with more than `beyond`
    times its golden steps has failed by rule and is not asked about (FingerTip: 2.5). `shows` is what a study shows in
    addition to its protocol.
    """

    conditions: tuple[str, ...] = ("person, no mirror",)
    agent: str = "playbook"
    phone_seed: int = 0
    vary: int = 0
    steps: int | None = None
    seed: int = 0
    beyond: float | None = None
    shows: tuple[Show, ...] = ()


TERMS = UnitTerms()


def units_for(
    protocol: Protocol,
    cases: Sequence[MeasuredRun] = (),
    *,
    tasks: Sequence[Task] = (),
    lines: Sequence[tuple[str, Any]] = (),
    references: Mapping[str, str] = {},
    designs: Mapping[Subject, Design] = {},
    personas: Mapping[str, Persona] = {},
    pairs: Sequence[tuple[str, str]] = (),
    past: Sequence[MeasuredRun] = (),
    earlier: EarlierStudy | None = None,
    shadows: Mapping[str, Sequence[ShadowAnswer]] | None = None,
    terms: UnitTerms = TERMS,
) -> list[Unit]:
    """Return all units that a protocol makes of these runs, tasks or lines, in order.

    `lines` are the values of a JSON-lines file with their locations (`read_lines`). `references` give for a run (id)
    the run that it is rated against (default: the demonstration of its task). `designs` are frozen designs, which
    replace those of the runs' own tasks. `personas` are those that tasks and runs name. `pairs` are ids of runs
    (default: all of one task by different agents). `past` are further runs that are not asked about: references, and
    runs of the same people, whose earlier intents are shown. `shadows` are the replies of shadow models by run, which
    are asked about too. Raise `LabError`, with the run, task or line, if there is nothing to ask.
    """
    _check_unique([case.id for case in cases], "run")
    cases_of_people, before = _with_personas(cases, personas), _with_personas(past, personas)
    units: list[Unit] = []
    match protocol.unit:
        case "run" if protocol.targets == "items":
            units = disagreement_units(protocol, earlier)
        case "run":
            units = run_units(protocol, cases_of_people, references, designs, before, terms.beyond)
        case "pair of runs":
            units = pair_units(protocol, cases, pairs)
        case "pair of instruction sets":
            units = set_units(protocol, lines)
        case "pair of texts":
            units = text_units(protocol, lines)
        case "step":
            units = step_units(cases, terms.steps, terms.seed)
        case "question":
            units = question_units(protocol, cases_of_people, shadows)
        case "task":
            units = task_units(protocol, tasks or [case.task for case in cases])
        case "task to play":
            units = play_units(tasks, personas, terms.conditions, terms.agent, terms.phone_seed, terms.vary)
    if not units:
        raise LabError(f"study by {protocol.id}", f"has no {_UNIT_NAMES[protocol.unit]} to ask about.")
    _check_unique([unit.id for unit in units], protocol.unit)
    return _with_people(units, protocol, zip(cases, cases_of_people, strict=True), terms.shows)


_UNIT_NAMES: Mapping[str, str] = {
    "run": "run",
    "pair of runs": "pair of runs of one task by different agents",
    "pair of instruction sets": "line",
    "pair of texts": "line",
    "step": "step",
    "question": "question with a reply",
    "task": "task",
    "task to play": "task",
}


def _check_unique(ids: Sequence[str], what: str) -> None:
    seen: set[str] = set()
    for id in ids:
        if id in seen:
            raise LabError(f"{what} {id}", "is named twice; each is asked about once.")
        seen.add(id)


def _with_people(
    units: list[Unit], protocol: Protocol, cases: Iterable[tuple[MeasuredRun, MeasuredRun]], more: Collection[Show]
) -> list[Unit]:
    """Return units with the person's cards, if the protocol shows the person and the run itself does not have them."""
    shows = {*protocol.shows, *more}
    lent = {case.id: person_cards(shows, one.persona) for case, one in cases if one.persona is not case.persona}
    if shows_no_screens(protocol) or not lent:
        return units  # without screens a unit says it all by itself
    return [
        replace(unit, given=(*lent[unit.runs[0]], *unit.given)) if unit.runs and lent.get(unit.runs[0]) else unit
        for unit in units
    ]


def _with_personas(cases: Sequence[MeasuredRun], personas: Mapping[str, Persona]) -> list[MeasuredRun]:
    """Return runs, with the persona of that name if theirs was not stored with them."""

    def persona(case: MeasuredRun) -> Persona | None:
        if not lacks_person(case):
            return case.persona
        return personas.get(case.persona_id, case.persona)

    return [case._replace(persona=persona(case)) for case in cases]
