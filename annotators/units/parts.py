"""Units that are a part of a run: a step, or a question with a reply."""

from __future__ import annotations

import hashlib
import random
from collections.abc import Mapping, Sequence

from msgspec.structs import replace

from annotators.units.cards import cards, shows_no_screens
from lab.core.errors import LabError
from lab.core.run.measured_run import MeasuredRun, MeasuredStep
from lab.core.run.shadow_answer import ShadowAnswer
from lab.core.study.protocol import Protocol
from lab.core.study.study import Unit, UnitText


def step_units(cases: Sequence[MeasuredRun], most: int | None = None, seed: int = 0) -> list[Unit]:
    """Return each run's steps in order, or `most` of them, drawn from the seed and the run's id alone."""
    if most is not None and most < 1:
        raise LabError("steps", f"{most} a run is less than one.")
    units = []
    for case in cases:
        if not case.steps:
            raise LabError(f"run {case.id}", "has no step.")
        places = range(len(case.steps))
        step_places = (
            # The run's id is part of the seed, so that a run's sample does not depend on the other runs.
            places if most is None else random.Random(f"{seed} {case.id}").sample(places, min(most, len(places)))
        )
        units += [Unit(f"{case.id}@{place + 1}", runs=(case.id,), step=place) for place in sorted(step_places)]
    return units


def question_units(
    protocol: Protocol, cases: Sequence[MeasuredRun], shadows: Mapping[str, Sequence[ShadowAnswer]] | None = None
) -> list[Unit]:
    """Return every question with a reply, with the material for judging the reply.

    `shadows` are models' replies by run, which become units too. Ids and order then do not reveal the run's own reply.
    """
    units: list[Unit] = []
    for case in cases:
        for place, step in enumerate(case.steps):
            if step.question is None or step.reply is None:
                continue
            own = _question(protocol, case, place, step)
            if shadows is None:
                units.append(own)
                continue
            beside = [one for one in shadows.get(case.id, ()) if one.index == place and one.missing is None]
            units += _in_drawn_order(own, [_shadow(own, one) for one in beside])
    return units


def _shadow(own: Unit, answer: ShadowAnswer) -> Unit:
    """Return the same unit with a model's reply in place of the run's."""
    reply = UnitText("Reply", _reply_words(answer.decision, answer.text))
    materials = tuple(reply if one.title == "Reply" else one for one in own.given)
    return replace(own, given=materials, hidden={"by": answer.by.id, "shadow": "yes"})


def _in_drawn_order(own: Unit, shadows: Sequence[Unit]) -> list[Unit]:
    """Return the replies to one question in a drawn order, each with its number as part of its id."""

    def draw_key(unit: Unit) -> str:
        # A hash instead of a random generator: making the units again gives the same order.
        return hashlib.sha256(f"{unit.id} {unit.hidden}".encode()).hexdigest()

    units = sorted((own, *shadows), key=draw_key)
    return [replace(unit, id=f"{unit.id}.{number}") for number, unit in enumerate(units, 1)]


def _reply_words(decision: str | None, text: str) -> str:
    return " · ".join(part for part in (decision or "", text) if part)


def _question(protocol: Protocol, case: MeasuredRun, place: int, step: MeasuredStep) -> Unit:
    if step.question is None or step.reply is None:
        raise LabError(f"run {case.id}", f"asks nothing at step {place + 1}.")
    if "persona" in protocol.shows and (case.persona is None or not case.persona.facts):
        raise LabError(f"run {case.id}", "has no profile that its replies could be held against.")
    return Unit(
        f"{case.id}@{place + 1}",
        runs=(case.id,),
        step=place,
        question=step.question.id,
        given=(
            UnitText("Question", step.question.text, items=tuple(step.question.options)),
            UnitText("Reply", _reply_words(step.reply.decision, step.reply.text)),
            *(cards(protocol, case) if shows_no_screens(protocol) else ()),
        ),
        hidden={"by": step.reply.by.kind},
    )
