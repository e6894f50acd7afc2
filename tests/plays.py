"""A study to be played, small enough to be played whole in a test."""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from annotators.protocols import protocol
from lab.spec import brief_of
from lab.study import Assignment, Play, Study, Unit, sample_sha
from lab.task import Persona, Task
from simulators import library
from store.store import Store

LUNCH, COFFEE = "usual_lunch", "morning_coffee"


def tasked(name: str) -> tuple[Task, Persona]:
    """A built-in task and its persona."""
    task = library.task(name)
    return task, library.persona(task.persona, task.log)


def unit(name: str, *, id: str = "", **of_play: Any) -> Unit:
    """A play of a built-in task."""
    task, persona = tasked(name)
    assert brief_of(task, persona).log
    return Unit(id or f"{name}-unit", play=Play(task, persona, **of_play), cluster=name)


def frozen(store: Store, units: list[Unit], raters: tuple[str, ...] = ("P1", "P2"), **changes: Any) -> Study:
    """The study in a file, each of its people dealt each person's unit, every other one the other way round."""
    study = replace(
        Study("teas", 1, "Who drinks what", protocol("play"), raters, len(units), sample_sha(units), quiz=3, seed=4),
        **changes,
    )
    store.freeze_study(study, units)
    people = [one for one in units if one.play is not None and one.play.user == "person"]
    for turn, rater in enumerate(raters):
        order = people[::-1] if turn % 2 else people
        store.deal(study, [Assignment(study.id, 1, rater, at, one.id) for at, one in enumerate(order)])
    return study
