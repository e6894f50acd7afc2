"""What one sheet is about, made from runs, tasks and files: a study's units, frozen with all that they ask."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from lab.case import Case
from lab.design.revision import Design, Subject
from lab.study import Label, Protocol, Study, Unit
from lab.task import Persona, Task


class Earlier(NamedTuple):
    """Another study, and what its raters said: where they differ, the causes are asked."""

    study: Study
    units: Sequence[Unit]
    labels: Sequence[Label]


class Terms(NamedTuple):
    """How units are made where there is a choice.

    `conditions` are those that tasks are played in, as `Play.condition` names them; `agent`, `phone_seed` and `vary`
    are a play's. `steps` is how many steps of each run are sampled (None: all), drawn from `seed`. `beyond`: a run of
    more than so many times its golden steps has failed by rule, and nobody is asked (FingerTip: 2.5).
    """

    conditions: tuple[str, ...] = ("person, no mirror",)
    agent: str = "rule"
    phone_seed: int = 0
    vary: int = 0
    steps: int | None = None
    seed: int = 0
    beyond: float | None = None


def units_for(
    protocol: Protocol,
    cases: Sequence[Case] = (),
    *,
    tasks: Sequence[Task] = (),
    lines: Sequence[tuple[str, Any]] = (),
    references: Mapping[str, str] = {},
    designs: Mapping[Subject, Design] = {},
    personas: Mapping[str, Persona] = {},
    pairs: Sequence[tuple[str, str]] = (),
    earlier: Earlier | None = None,
    terms: Terms = Terms(),
) -> list[Unit]:
    """Every unit that a protocol asks of these runs, tasks or lines, in their order; ids follow from what they are of.

    `lines` are a JSON-lines file's values, each with where it stands (`read_lines`); `references` name for a run (id)
    the run it is rated against; `designs` are frozen designs, which stand in place of a run's own task's; `personas`
    are those that tasks name; `pairs` are ids of runs (without them: all of one task by different agents).
    Raises `LabError` naming the run, task or line that has nothing to ask.
    """
    raise NotImplementedError
