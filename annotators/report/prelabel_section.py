"""Effect of a judge's answers shown first: people's agreement with the judge, and their time per answer."""

from __future__ import annotations

from annotators.agreement.coefficients.additive import Estimate
from annotators.agreement.intervals.estimates import as_agreement, clusters_of
from annotators.study_data import StudyData
from annotators.validation.anchoring import Anchoring, anchoring
from lab.core.study.agreement import IntervalTerms
from lab.core.study.report import Cell, Number, Section, Table

_SAYS = (
    "On a half of the sheets, drawn for each unit and person, {judge}'s answers were shown before people answered. "
    "What differs between the halves follows from that: people who say the judge's answer more often where they see it "
    "are anchored by it."
)
_LEFT_OUT = (
    "The {answers:,} answers that were given on {sheets:,} sheets with the judge's in sight are no independent ones. "
    "They stand in this table alone: every other number of this report, and what most people say, is without them."
)


def sections(study_data: StudyData) -> list[Section]:
    """Return one section if the study shows a judge's answers first, else nothing."""
    judge = study_data.study.prelabel
    if not judge:
        return []
    whole, sheets = study_data.with_prelabelled, study_data.prelabelled
    tables = [_table(study_data, judge, at, one) for at, one in enumerate(anchoring(whole, judge, sheets), 1)]
    answers = whole.columns.size - study_data.columns.size
    says = [_SAYS.format(judge=judge), _LEFT_OUT.format(answers=answers, sheets=len(sheets))]
    if not tables:
        says.append("Nobody has answered with the judge's answers in sight yet.")
    return [Section(f"Answers of {judge} shown first", tuple(says), tuple(tables))]


def _table(study_data: StudyData, judge: str, at: int, one: Anchoring) -> Table:
    rows: list[tuple[Cell, ...]] = [
        (
            name,
            _number(study_data, judge, one, "same", arm.same, arm.answers),
            f"{arm.answers:,}",
            _number(study_data, judge, one, "seconds", arm.seconds, arm.timed),
            f"{arm.timed:,}",
        )
        for name, arm in (("shown", one.shown), ("not shown", one.hidden))
    ]
    answers, timed_answers = one.shown.answers + one.hidden.answers, one.shown.timed + one.hidden.timed
    rows.append(
        (
            "shown minus not shown",
            _number(study_data, judge, one, "same", one.same, answers),
            f"{answers:,}",
            _number(study_data, judge, one, "seconds", one.seconds, timed_answers),
            f"{timed_answers:,}",
        )
    )
    titles = ("", "Same as the judge", "Answers", "Seconds for an answer", "Timed")
    return Table(
        f"prelabel-{at}", f"{one.field.display_name}: with and without the judge's answer in sight", titles, tuple(rows)
    )


def _number(study_data: StudyData, judge: str, one: Anchoring, name: str, value: Estimate, answers: int) -> Number:
    how = IntervalTerms("jackknife-t", study_data.how.level, study_data.how.resamples, study_data.how.seed)
    agreement = as_agreement(
        value, how, one.field.id, name, between=f"people and {judge}", places=answers, units=answers, traces=answers,
        raters=2, clusters=clusters_of(study_data),
    )  # fmt: skip
    return Number(agreement, 1, 100, " %") if name == "same" else Number(agreement, 1)
