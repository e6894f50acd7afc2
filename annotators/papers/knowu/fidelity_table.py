"""KnowU-Bench 4.3, simulator fidelity: similarity of models to the people whose place they take, one row per model.

A shadow model answers the very questions that a person answered, so it is compared question by question. A model that
played its own runs had other questions, so only its means and shares are compared, and numbers that need the same
questions are undefined. Support of replies by the profile comes from studies of reply support beside this one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from statistics import median
from typing import NamedTuple

import numpy as np

from annotators.agreement.coefficients.additive import AdditiveStatistic, ratio, totals_by_trace
from annotators.agreement.coefficients.categorical import cohen_kappa
from annotators.agreement.intervals.estimates import as_agreement
from annotators.agreement.intervals.intervals import estimate
from annotators.agreement.ratings.ratings import Floats, MissingAnswers, RatedItem, Ratings
from annotators.papers.cells import (
    UnitValue,
    average,
    coefficient,
    few_runs_warning,
    number_without_interval,
    share,
    undefined_number,
)
from annotators.papers.cells import percent as as_percent
from annotators.papers.fingertip.text_similarity import LONGEST, similarity
from annotators.papers.knowu.reply_support import ReplySource, SupportedReply, supported_replies
from annotators.study_data import StudyData
from lab.core.run.measured_run import MeasuredRun
from lab.core.run.shadow_answer import ShadowAnswer
from lab.core.run.step import Reply
from lab.core.study.agreement import Agreement
from lab.core.study.report import Cell, Number, Section, Table
from lab.core.values.ids_and_clock import seconds_between

FIELD = "simulator"
DECISIONS = ("accept", "reject", "none")
"""Decisions on a proposal. `none` if it was answered like a question."""
UNPAIRED = "not asked the same questions"
NOT_ASKED = "not_asked"
"""Reasons: a model that played its own runs, and a shadow without an answer to a question (it was not asked)."""
NO_SUPPORT = "no study of reply support with its replies stands beside it: --extra-study"
_NO_MEDIAN_INTERVAL = "a median, which stands without one"


class FidelityReply(NamedTuple):
    """A model's reply to a question: its words, its decision, and its seconds."""

    text: str
    decision: str | None
    seconds: float | None


class PairedReply(NamedTuple):
    """A person's and a shadow's reply to one question. `reply` is None if `missing` gives a reason."""

    item: str
    task: str
    proposal: bool
    person: FidelityReply
    reply: FidelityReply | None
    missing: str = ""


class ModelRow(NamedTuple):
    """One model with its replies: `pairs` of a shadow, else those of its `own` runs."""

    name: str
    source: ReplySource
    pairs: Sequence[PairedReply] = ()
    own: Sequence[UnitReply] = ()


class UnitReply(NamedTuple):
    """A reply in a run, with its task, the cluster for intervals."""

    item: str
    task: str
    reply: FidelityReply


def sections(study_data: StudyData) -> list[Section]:
    """Return the section on simulator fidelity, empty if there is no model beside people."""
    people = _runs(study_data, "human")
    rows = [*_shadow_rows(study_data, people), *_played_rows(study_data)]
    if not rows:
        return []
    theirs = [one for case in people for one in _replies(case)]
    support = supported_replies(study_data)
    tasks = len({case.task.id for case in people})
    says = [
        f"{len(rows):,} {'model' if len(rows) == 1 else 'models'} against people, who replied {len(theirs):,} times in "
        f"{len(people):,} {'run' if len(people) == 1 else 'runs'}."
    ]
    tables = (_fidelity(study_data, rows, theirs, support), _support_table(study_data, rows, support))
    return [
        Section(
            "Simulator fidelity", (*says, *few_runs_warning(tasks, "tasks")), tuple(one for one in tables if one.rows)
        )
    ]


# -- whose replies ---------------------------------------------------------------------------------------------


def _runs(study_data: StudyData, kind: str, by: str = "") -> list[MeasuredRun]:
    """Return the ended runs of the study by people (or models) that are in the file, each once, sorted by id."""
    runs = {
        one.trace: case
        for one in study_data.played
        if one.by.kind == kind and by in ("", one.by.id) and one.status not in ("open", "interrupted")
        and (case := study_data.case(one.trace)) is not None
    }  # fmt: skip
    return [runs[run] for run in sorted(runs)]


def _replies(case: MeasuredRun) -> list[UnitReply]:
    return [
        UnitReply(f"{case.id}@{place + 1}", case.task.id, _of_reply(step.reply))
        for place, step in enumerate(case.steps)
        if step.reply is not None
    ]


def _of_reply(reply: Reply) -> FidelityReply:
    return FidelityReply(reply.text, reply.decision, seconds_between(reply.shown_at, reply.sent_at))


def _shadow_rows(study_data: StudyData, people: Sequence[MeasuredRun]) -> list[ModelRow]:
    """Return a row for each shadow that the study names or that answered in one of its runs."""
    answers = {case.id: study_data.further.shadows(case.id) for case in people}
    shadow_names = {*study_data.study.shadows, *(one.by.id for some in answers.values() for one in some)}
    return [
        ModelRow(name, ReplySource(name, shadow=True), pairs=list(_pairs(name, people, answers)))
        for name in sorted(shadow_names)
    ]


def _pairs(
    name: str, people: Sequence[MeasuredRun], answers: dict[str, Sequence[ShadowAnswer]]
) -> Iterable[PairedReply]:
    for case in people:
        answer_by_step = {one.index: one for one in answers[case.id] if one.by.id == name}
        for place, step in enumerate(case.steps):
            if step.question is None or step.reply is None or step.reply.by.kind != "human":
                continue
            reply, missing = _shadow_reply(answer_by_step.get(place))
            yield PairedReply(
                f"{case.id}@{place + 1}", case.task.id, step.question.kind == "propose", _of_reply(step.reply), reply,
                missing,
            )  # fmt: skip


def _shadow_reply(one: ShadowAnswer | None) -> tuple[FidelityReply | None, str]:
    """Return a shadow's reply, or None with a reason if there is none."""
    if one is None:
        return None, NOT_ASKED
    if one.missing is not None:
        return None, one.missing
    return FidelityReply(one.text, one.decision, seconds_between(one.shown_at, one.sent_at)), ""


def _played_rows(study_data: StudyData) -> list[ModelRow]:
    """Return a row for each model that played its own runs."""
    names = sorted({one.by.id for one in study_data.played if one.by.kind == "model"})
    rows = []
    for name in names:
        cases = _runs(study_data, "model", name)
        own = [one for case in cases for one in _replies(case)]
        rows.append(ModelRow(name, ReplySource(name, runs=tuple(case.id for case in cases)), own=own))
    return rows


# -- the table -------------------------------------------------------------------------------------------------


def _fidelity(
    study_data: StudyData, rows: Sequence[ModelRow], people: Sequence[UnitReply], support: Sequence[SupportedReply]
) -> Table:
    lines: list[tuple[Cell, ...]] = []
    for row in rows:
        against = f"{row.name} against people"
        lines.append(
            (
                row.name,
                "shadow, the same questions" if row.source.shadow else "runs of its own",
                _reply_counts(row),
                Number(_kappa(study_data, row, against)),
                Number(_length(study_data, row, people, against)),
                Number(_similarity(study_data, row, against)),
                as_percent(_support(study_data, row, support)),
                _seconds([one.seconds for one in _given_replies(row)], row.name),
                _seconds([one.person.seconds for one in row.pairs] or [one.reply.seconds for one in people], "people"),
            )
        )
    columns = ("Model", "How", "Replies", "Decision, kappa", "Length ratio", "Similarity", "Supported", "Seconds",
               "Seconds, people")  # fmt: skip
    notes = (
        "A shadow's numbers are of the questions that a person was asked, and are paired with that person's reply. A "
        "model with runs of its own is not paired: its mean length and times stand beside those of all people.",
        "Decision: Cohen's kappa of accept, reject or neither, on proposals. Length ratio: mean characters of the "
        "model's replies over people's. Similarity: 1 - Levenshtein's distance over the longer length, without "
        "case. Seconds: medians, from shown to sent. Intervals are clustered by task.",
        "Supported: the share of its replies that have a basis in the profile, by people where they settled any, else "
        "by a judge; the table below says by whom, and people's own share.",
    )
    return Table("fidelity", "Models beside people", columns, tuple(lines), "KnowU-Bench 3.2, 4.3", notes)


def _given_replies(row: ModelRow) -> list[FidelityReply]:
    """Return a model's replies, for a shadow those that exist."""
    return [one.reply for one in row.pairs if one.reply is not None] or [one.reply for one in row.own]


def _reply_counts(row: ModelRow) -> str:
    """Return the number of replies and of questions, with the reasons for missing replies."""
    if not row.source.shadow:
        return f"{len(row.own):,}"
    reasons = _missing_reasons(row.pairs)
    why = f" ({', '.join(f'{many:,} {reason}'.replace('_', ' ') for reason, many in sorted(reasons.items()))})"
    return f"{len(row.pairs) - sum(reasons.values()):,} of {len(row.pairs):,}{why if reasons else ''}"


def _missing_reasons(pairs: Iterable[PairedReply]) -> dict[str, int]:
    return dict(Counter(one.missing for one in pairs if one.reply is None))


def _kappa(study_data: StudyData, row: ModelRow, against: str) -> Agreement:
    """Return Cohen's kappa of a shadow's and the person's decisions, over the proposals that both answered."""
    if not row.source.shadow:
        return undefined_number(FIELD, "cohen kappa", UNPAIRED, between=against)
    pairs = [one for one in row.pairs if one.proposal]
    if not any(one.reply is not None for one in pairs):
        return undefined_number(
            FIELD, "cohen kappa", "no proposal that both answered", between=against, left_out=_missing_reasons(pairs)
        )
    tasks = tuple(sorted({one.task for one in pairs}))
    places = tuple(RatedItem(one.item, "") for one in pairs)
    codes = np.array([[_code(one.person), _code(one.reply)] for one in pairs], dtype=np.int16)
    missing = [(RatedItem(one.item, ""), one.missing) for one in pairs if one.reply is None]
    trace = np.array([tasks.index(one.task) for one in pairs], dtype=np.int32)
    ratings = Ratings(
        FIELD, DECISIONS, codes, ("people", row.name), trace, tasks, places,
        missing=MissingAnswers.one_each(missing, row.name, by_item=True),
    )  # fmt: skip
    return coefficient(study_data, cohen_kappa(ratings), ratings, between=against, raters=2)


def _code(reply: FidelityReply | None) -> int:
    return -1 if reply is None else DECISIONS.index(reply.decision or "none")


def _length(study_data: StudyData, row: ModelRow, people: Sequence[UnitReply], against: str) -> Agreement:
    """Return the mean length of a model's replies over that of people's.

    For a shadow both are over the questions that both answered.
    """
    answered_pairs = [one for one in row.pairs if one.reply is not None]
    if row.source.shadow:
        mine = [UnitReply(one.item, one.task, one.reply) for one in answered_pairs if one.reply is not None]
        people = [UnitReply(one.item, one.task, one.person) for one in answered_pairs]
    else:
        mine = list(row.own)
    if not mine or not people:
        return undefined_number(
            FIELD, "length ratio", "no reply of both", between=against, left_out=_missing_reasons(row.pairs)
        )
    tasks = sorted({one.task for one in (*mine, *people)})
    sums = np.hstack([_lengths(some, tasks) for some in (mine, people)])

    def evaluate(sums: Floats) -> Floats:
        return ratio(ratio(sums[..., 0], sums[..., 1]), ratio(sums[..., 2], sums[..., 3]))

    one = AdditiveStatistic(
        "length ratio", sums, evaluate, lambda sums: "people wrote nothing", most=None, least=0.0, places=len(mine)
    )
    n = len(mine) if row.source.shadow else len(mine) + len(people)
    reasons = _missing_reasons(row.pairs)
    many = sum(reasons.values())
    return as_agreement(
        estimate(one, study_data.how), study_data.how, FIELD, "length ratio", between=against, places=n, units=n,
        traces=len(tasks), raters=2, clusters="task", missing=many / (len(row.pairs) or 1), reasons=reasons,
    )  # fmt: skip


def _lengths(replies: Sequence[UnitReply], tasks: Sequence[str]) -> Floats:
    """Return by task the characters of all replies and their number."""
    place = {task: at for at, task in enumerate(tasks)}
    trace = np.array([place[one.task] for one in replies], dtype=np.int32)
    column = np.array([float(len(one.reply.text)) for one in replies])
    return totals_by_trace(np.column_stack((column, np.ones(len(replies)))), trace, len(tasks))


def _similarity(study_data: StudyData, row: ModelRow, against: str) -> Agreement:
    """Return the similarity of a shadow's and the person's words, over questions that either answered in words."""
    if not row.source.shadow:
        return undefined_number(FIELD, "Levenshtein similarity", UNPAIRED, between=against)
    items = [
        UnitValue(one.item, one.task, similarity(_normalise_text(one.person), _normalise_text(one.reply)))
        for one in row.pairs
        if one.reply is not None and (_normalise_text(one.person) or _normalise_text(one.reply))
    ]
    return average(
        study_data, items, FIELD, "Levenshtein similarity", most=1.0, least=0.0, between=against, raters=2,
        why="no question to which either said anything in words", left_out=_missing_reasons(row.pairs),
    )  # fmt: skip


def _normalise_text(reply: FidelityReply) -> str:
    return " ".join(reply.text.casefold().split())[:LONGEST]


def _seconds(seconds: Iterable[float | None], whose: str) -> Cell:
    values = [one for one in seconds if one is not None]
    if not values:
        return Number(undefined_number(FIELD, "median seconds", "no reply tells its times", between=whose), 1)
    return Number(
        number_without_interval(
            median(values), FIELD, "median seconds", _NO_MEDIAN_INTERVAL, n=len(values), between=whose
        ),
        1,
    )


# -- support by the profile ------------------------------------------------------------------------------------


def _support(study_data: StudyData, row: ModelRow, support: Sequence[SupportedReply]) -> Agreement:
    """Return the share of a model's replies that the profile supports: by people, else by the first judge."""
    theirs = [one for one in support if row.source.includes(one)]
    raters = sorted({one.rater for one in theirs}, key=lambda rater: (rater != "people", rater))
    if not raters:
        return undefined_number(FIELD, "share supported", NO_SUPPORT, between=row.name)
    return share_supported(study_data, [one for one in theirs if one.rater == raters[0]], row.name, raters[0])


def share_supported(study_data: StudyData, replies: Sequence[SupportedReply], whose: str, rater: str) -> Agreement:
    """Return the share of replies that the profile supports, by a single rater of all of them."""
    items = [UnitValue(one.unit, one.cluster, float(one.value == "supported")) for one in replies]
    return share(
        study_data, items, FIELD, "share supported", part=f"by {rater}", between=whose, raters=1,
        why="nobody rated one of them",
    )  # fmt: skip


def _support_table(study_data: StudyData, rows: Sequence[ModelRow], support: Sequence[SupportedReply]) -> Table:
    """Return the same share for people and each model, by each rater: people's majority, and each judge."""
    columns = ("Replies by", "Rated by", "Replies", "Supported")
    whose = [("people", ReplySource("people", human=True)), *((_row_name(row), row.source) for row in rows)]
    lines: list[tuple[Cell, ...]] = []
    for name, source in whose:
        theirs = [one for one in support if source.includes(one)]
        for rater in sorted({one.rater for one in theirs}, key=lambda rater: (rater != "people", rater)):
            replies = [one for one in theirs if one.rater == rater]
            lines.append(
                (name, rater, f"{len(replies):,}", as_percent(share_supported(study_data, replies, name, rater)))
            )
    return Table("fidelity-support", "Replies that the profile supports", columns, tuple(lines), "KnowU-Bench 3.2, E.2")


def _row_name(row: ModelRow) -> str:
    return f"{row.name}, shadow" if row.source.shadow else row.name
