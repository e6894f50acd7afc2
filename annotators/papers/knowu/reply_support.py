"""KnowU-Bench 3.2, E.2: the source of each reply in a study of reply support, and its raters' answers."""

from __future__ import annotations

from typing import NamedTuple

from annotators.papers.field_answers import answers_in, asked_units, run_of, studies_beside, truths
from annotators.study_data import StudyData
from lab.core.study.study import Unit

FIELD = "support"
PROTOCOL = "reply-support"
SHADOW = "shadow"
"""Key of `Unit.hidden` that marks a shadow's reply. `by` then names the shadow."""


class SupportedReply(NamedTuple):
    """One reply as one rater (`people`, or a judge) sees it.

    `value` is supported, not_in_profile or contradicts. `by` is the kind of replier (human, model, script), for a
    shadow its name. `run` is the run of the question.
    """

    unit: str
    cluster: str
    run: str
    by: str
    shadow: bool
    rater: str
    value: str


class ReplySource(NamedTuple):
    """A source of replies: people, a shadow by its name, or a model in its own `runs`."""

    name: str
    shadow: bool = False
    human: bool = False
    runs: tuple[str, ...] = ()

    def includes(self, one: SupportedReply) -> bool:
        """Return True if a reply is from this source."""
        if self.human:
            return one.by == "human" and not one.shadow
        if self.shadow:
            return one.shadow and one.by == self.name
        return not one.shadow and one.run in self.runs


def supported_replies(study_data: StudyData) -> list[SupportedReply]:
    """Return the rated replies to this study's runs from the studies of reply support beside it, clustered by task."""
    tasks = {one.trace: one.task for one in study_data.played}
    return [
        one._replace(cluster=tasks[one.run])
        for other in studies_beside(study_data, PROTOCOL)
        for one in rated_replies(other)
        if one.run in tasks
    ]


def rated_replies(study_data: StudyData) -> list[SupportedReply]:
    """Return the majority's (or settled) and each judge's answer on each reply of a study of reply support."""
    units = {unit.id: unit for unit in asked_units(study_data)}
    rows = [
        _supported_reply(units[unit], "people", truth.value) for (unit, _), truth in truths(study_data, FIELD).items()
    ]
    for judge in study_data.judges:
        name = study_data.columns.raters[judge].id
        rows += [
            _supported_reply(units[one.unit], f"judge {name}", str(one.value))
            for one in answers_in(study_data, FIELD, [judge])
            if one.value is not None
        ]
    return rows


def _supported_reply(unit: Unit, rater: str, value: str) -> SupportedReply:
    shadow = SHADOW in unit.hidden
    return SupportedReply(unit.id, unit.clustered, run_of(unit), unit.hidden.get("by", ""), shadow, rater, value)
