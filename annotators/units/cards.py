"""Cards about a person in words, for units that show no screens and actions of a run."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import Any

from lab.core.errors import LabError
from lab.core.run.measured_run import MeasuredRun
from lab.core.study.protocol import Protocol, Show
from lab.core.study.study import UnitText
from lab.core.task.task import LogEntry, Persona

_PAST = 20
"""Number of past intents shown, the newest ones: as many as FingerTip's models get."""


def shows_no_screens(protocol: Protocol) -> bool:
    """Return True if a protocol shows nothing of a run's events, so that the unit has to describe the person."""
    return not {"screens", "actions"} & set(protocol.shows)


def cards(protocol: Protocol, case: MeasuredRun, past: Sequence[MeasuredRun] = ()) -> tuple[UnitText, ...]:
    """Return the cards that the protocol shows: instruction, profile, time and place, policy, and the past."""
    shows, persona = set(protocol.shows), case.persona
    rows: list[UnitText] = []
    if "instruction" in shows and case.task.instruction:
        rows.append(UnitText("What was asked", case.task.instruction))
    rows += person_cards(shows - {"log"}, persona)
    if "context" in shows and (case.task.time or case.task.place):
        rows.append(UnitText("Time and place", " · ".join(part for part in (case.task.time, case.task.place) if part)))
    if "policy" in shows and case.task.policy:
        rows.append(UnitText("Told for this task", case.task.policy))
    if "log" in shows:
        log = [entry.exposed for entry in persona.log] if persona is not None else []
        before = [*log, *(_intent(one) for one in earlier_runs(case, past))]
        if before:
            rows.append(UnitText("Before", items=tuple(before)))
    return tuple(rows)


def person_cards(shows: Collection[Show], persona: Persona | None) -> tuple[UnitText, ...]:
    """Return the cards of a person: profile, and what they did before."""
    rows = []
    if "persona" in shows and persona is not None and persona.facts:
        rows.append(UnitText("Profile", "\n".join(facts_of(persona.facts))))
    if "log" in shows and persona is not None and persona.log:
        rows.append(UnitText("Before", items=tuple(entry.exposed for entry in persona.log)))
    return tuple(rows)


def lacks_person(case: MeasuredRun) -> bool:
    """Return True if a run has no data on its person, though it may name them."""
    return case.persona is None or not (case.persona.facts or case.persona.log)


def person_of(case: MeasuredRun) -> str:
    """Return the id of the person a run is for, empty if unknown."""
    return case.persona.id if case.persona is not None else case.task.persona


def earlier_runs(case: MeasuredRun, past: Sequence[MeasuredRun]) -> list[MeasuredRun]:
    """Return the same person's earlier runs, the newest last."""
    person, time = person_of(case), case.task.time
    if not person or not time:
        return []
    before = [
        one
        for one in past
        if one.id != case.id and person_of(one) == person and "" < one.task.time < time and one.task.instruction
    ]
    # By id within one time, so that the order does not depend on the file.
    return sorted(before, key=lambda one: (one.task.time, one.id))[-_PAST:]


def _intent(case: MeasuredRun) -> str:
    return LogEntry(case.task.time, case.task.place, case.task.instruction).exposed


def check_cards(case: MeasuredRun, materials: tuple[UnitText, ...]) -> None:
    """Raise `LabError` if there is no card about a run's person."""
    if not materials:
        raise LabError(f"run {case.id}", "tells neither profile, time, place nor what was done before.")


def facts_of(value: Any, depth: int = 0) -> Iterator[str]:
    """Yield facts line by line, nested ones indented."""
    indent = "  " * depth
    for key, fact in value.items():
        name = str(key).replace("_", " ")
        if isinstance(fact, dict) and fact:
            yield f"{indent}{name}:"
            yield from facts_of(fact, depth + 1)
        elif isinstance(fact, list) and any(isinstance(one, dict | list) for one in fact):
            yield f"{indent}{name}:"
            for one in fact:
                lines = [*facts_of(one, depth + 1)] if isinstance(one, dict) else [f"{indent}  {_value_words(one)}"]
                yield from (f"{indent}- {line.strip()}" if not n else line for n, line in enumerate(lines))
        else:
            yield f"{indent}{name}: {_value_words(fact)}"


def _value_words(value: Any) -> str:
    if isinstance(value, list):
        return ", ".join(map(_value_words, value))
    return (
        {True: "yes", False: "no", None: "not told"}.get(value, str(value)) if _is_flag_or_none(value) else str(value)
    )


def _is_flag_or_none(value: Any) -> bool:
    return value is None or isinstance(value, bool)
