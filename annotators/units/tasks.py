"""Units that are tasks: to do by hand once more, or to play as their user."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple

from lab.core.errors import LabError
from lab.core.study.protocol import Protocol
from lab.core.study.study import Play, Unit
from lab.core.task.task import Persona, Task
from lab.core.text.suggestion import suggestion


class Condition(NamedTuple):
    """The user of a play, and True for `mirror` if they see the phone."""

    user: Literal["person", "model", "script"]
    mirror: bool = True


CONDITIONS: Mapping[str, Condition] = {
    "person": Condition("person"),
    "person, no mirror": Condition("person", False),
    "model": Condition("model"),
    "script": Condition("script"),
}
"""Conditions by name (`Play.condition`)."""


def task_units(protocol: Protocol, tasks: Sequence[Task]) -> list[Unit]:
    """Return a unit per task, each task once, limited to what the protocol shows."""
    by_task: dict[str, Unit] = {}
    for task in tasks:
        visible_task = _visible_task(task, protocol)
        # Several runs of one task give the same unit. Two versions under one id would mix answers.
        if task.id in by_task and by_task[task.id].task != visible_task:
            raise LabError(f"task {task.id}", "is there in two versions that ask different things.")
        by_task[task.id] = Unit(task.id, task=visible_task)
    return [*by_task.values()]


def _visible_task(task: Task, protocol: Protocol) -> Task:
    """Return the task as asked, with the golden way only if it is shown, without anything else that is right."""
    way = "golden" in protocol.shows
    return Task(
        task.id,
        task.kind,
        title=task.title,
        instruction=task.instruction,
        time=task.time,
        place=task.place,
        golden=task.golden if way else (),
        golden_steps=task.golden_steps if way else None,
        apps=task.apps,
    )


def play_units(
    tasks: Sequence[Task],
    personas: Mapping[str, Persona],
    conditions: Sequence[str],
    agent: str = "playbook",
    seed: int = 0,
    vary: int = 0,
) -> list[Unit]:
    """Return a unit per task and condition. Intervals are clustered by task, and conditions are paired by it."""
    if not conditions:
        raise LabError("conditions", f"there is none; they are {'; '.join(CONDITIONS)}.")
    for name in conditions:
        if name not in CONDITIONS:
            near = suggestion(name, CONDITIONS) or "."
            raise LabError(f"condition {name!r}", f"is none of {'; '.join(CONDITIONS)}{near}")
    return [
        Unit(
            f"{task.id}.{name.replace(', ', '-').replace(' ', '-')}",
            play=Play(task, _persona(task, personas), *CONDITIONS[name], agent=agent, seed=seed, vary=vary),
            cluster=task.id,
        )
        for task in tasks
        for name in conditions
    ]


def _persona(task: Task, personas: Mapping[str, Persona]) -> Persona | None:
    if not task.persona:
        return None
    if task.persona not in personas:
        raise LabError(f"task {task.id}", f"its persona {task.persona!r} is not there.")
    return personas[task.persona]
