"""Units that are a part of a run: a step, or a question that was replied to."""

from __future__ import annotations

import random
from collections.abc import Sequence

from annotators.units.cards import cards, wordless
from lab.core.errors import LabError
from lab.core.measured_run import MeasuredRun, MeasuredStep
from lab.core.protocol import Protocol
from lab.core.study import Given, Unit


def step_units(cases: Sequence[MeasuredRun], most: int | None = None, seed: int = 0) -> list[Unit]:
    """Each run's steps in their order, or `most` of them, drawn from the seed and the run's id alone."""
    if most is not None and most < 1:
        raise LabError("steps", f"{most} a run is less than one.")
    units = []
    for case in cases:
        if not case.steps:
            raise LabError(f"run {case.id}", "has no step.")
        places = range(len(case.steps))
        drawn = places if most is None else random.Random(f"{seed} {case.id}").sample(places, min(most, len(places)))
        units += [Unit(f"{case.id}@{place + 1}", runs=(case.id,), step=place) for place in sorted(drawn)]
    return units


def question_units(protocol: Protocol, cases: Sequence[MeasuredRun]) -> list[Unit]:
    """Every question that was replied to, with the reply as it was given and what it is held against."""
    return [
        _question(protocol, case, place, step)
        for case in cases
        for place, step in enumerate(case.steps)
        if step.question is not None and step.reply is not None
    ]


def _question(protocol: Protocol, case: MeasuredRun, place: int, step: MeasuredStep) -> Unit:
    if step.question is None or step.reply is None:
        raise LabError(f"run {case.id}", f"asks nothing at step {place + 1}.")
    if "persona" in protocol.shows and (case.persona is None or not case.persona.facts):
        raise LabError(f"run {case.id}", "has no profile that its replies could be held against.")
    text = " · ".join(part for part in (step.reply.decision or "", step.reply.text) if part)
    return Unit(
        f"{case.id}@{place + 1}",
        runs=(case.id,),
        step=place,
        question=step.question.id,
        given=(
            Given("Question", step.question.text, items=tuple(step.question.options)),
            Given("Reply", text),
            *(cards(protocol, case) if wordless(protocol) else ()),
        ),
        hidden={"by": step.reply.by.kind},
    )
