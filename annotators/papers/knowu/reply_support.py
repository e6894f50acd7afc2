"""KnowU-Bench 3.2, E.2: whose replies a study of reply support holds, and what its raters said of each."""

from __future__ import annotations

from typing import NamedTuple

from annotators.papers.field_answers import answers_in, asked_units, beside, run_of, truths
from annotators.study_data import StudyData
from lab.core.study import Unit

FIELD = "support"
PROTOCOL = "reply-support"
SHADOW = "shadow"
"""The designers' word (`Unit.hidden`) that a reply is a shadow's, who is named by `by`."""


class SupportedReply(NamedTuple):
    """One reply as one rater (`people`, or a judge) has it: `value` is supported, not_in_profile or contradicts.

    `by` is the kind of who replied (human, model, script), of a shadow its name; `run` where the question was asked.
    """

    unit: str
    cluster: str
    run: str
    by: str
    shadow: bool
    rater: str
    value: str


class ReplySource(NamedTuple):
    """Whose replies are meant: people's, a shadow's by its name, or those in a model's own `runs`."""

    name: str
    shadow: bool = False
    human: bool = False
    runs: tuple[str, ...] = ()

    def gave(self, one: SupportedReply) -> bool:
        """Whether a reply is one of these."""
        if self.human:
            return one.by == "human" and not one.shadow
        if self.shadow:
            return one.shadow and one.by == self.name
        return not one.shadow and one.run in self.runs


def supported_replies(study_data: StudyData) -> list[SupportedReply]:
    """What is known of replies to this study's runs from the studies of reply support beside it, clustered by task."""
    tasks = {one.trace: one.task for one in study_data.played}
    return [
        one._replace(cluster=tasks[one.run])
        for other in beside(study_data, PROTOCOL)
        for one in rated_replies(other)
        if one.run in tasks
    ]


def rated_replies(study_data: StudyData) -> list[SupportedReply]:
    """What most people (or who settled) and each judge said of each reply of a study of reply support."""
    units = {unit.id: unit for unit in asked_units(study_data)}
    rows = [_of(units[unit], "people", truth.value) for (unit, _), truth in truths(study_data, FIELD).items()]
    for judge in study_data.judges:
        name = study_data.columns.raters[judge].id
        rows += [
            _of(units[one.unit], f"judge {name}", str(one.value))
            for one in answers_in(study_data, FIELD, [judge])
            if one.value is not None
        ]
    return rows


def _of(unit: Unit, rater: str, value: str) -> SupportedReply:
    shadow = SHADOW in unit.hidden
    return SupportedReply(unit.id, unit.clustered, run_of(unit), unit.hidden.get("by", ""), shadow, rater, value)
