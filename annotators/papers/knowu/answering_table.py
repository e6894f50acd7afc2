"""Answers in a person's place: knowledge of the persona, times, lengths and edits of replies, and paused clocks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from statistics import median
from typing import Any

from annotators.agreement.fields import scores_of
from annotators.papers.cells import UnitValue, average, percent, share_of_independent
from annotators.papers.field_answers import answers_in, asked_units
from annotators.study_data import StudyData
from lab.core.ids_and_clock import seconds_between
from lab.core.measured_run import MeasuredRun
from lab.core.report import Cell, Number, Section, Table
from lab.core.rounding import format_number
from lab.core.step import Reply

NOT_PASSED, NOT_HANDED_IN = "not_passed", "not_handed_in"
"""Reason for a quiz that was begun and is not passed, and for an ended play without its questionnaire."""


def answering(study_data: StudyData, by: Mapping[str, Sequence[MeasuredRun]]) -> list[Section]:
    """Return the tables of the quiz, of replies by condition, and of answers after tasks; empty if there are none."""
    candidates = (_quiz(study_data), _replies(by), _clocks(study_data, by), _questionnaire_table(study_data))
    tables = [table for table in candidates if table.rows]
    return [Section("How they answered", tables=tuple(tables))] if tables else []


# -- quiz ------------------------------------------------------------------------------------------------------


def _quiz(study_data: StudyData) -> Table:
    """Return each person's right answers about each persona at the first try, in the round that they passed."""
    tries_by_play: dict[tuple[str, str], list[Mapping[str, Any]]] = {}
    for act in study_data.acts:
        if act.act == "quiz" and act.rater.kind == "human":
            tries_by_play.setdefault((act.rater.id, str(act.detail.get("persona", ""))), []).append(act.detail)
    rows: list[tuple[Cell, ...]] = []
    items, not_passed = [], 0
    for (code, persona), tries in sorted(tries_by_play.items()):
        rounds, part = len({one.get("round") for one in tries}), f"{code}, {persona}"
        first = _first_try_results(tries)
        not_passed += not first
        right = share_of_independent(
            study_data, sum(first), len(first), "quiz", "share right at first", part=part, between="people", raters=1,
            why="not passed yet", left_out={} if first else {NOT_PASSED: 1},
        )  # fmt: skip
        rows.append((code, persona, f"{rounds:,}", f"{len(tries):,}", percent(right)))
        items += [UnitValue(part, code, sum(first) / len(first))] if first else []
    if rows:
        mean = average(
            study_data,
            items,
            "quiz",
            "mean share right at first",
            most=1.0,
            raters=len({one.cluster for one in items}),
            why="nobody has passed yet",
            left_out={NOT_PASSED: not_passed} if not_passed else {},
        )
        rows.append(("All", "", "", f"{sum(map(len, tries_by_play.values())):,}", percent(mean)))
    head = ("Person", "Plays", "Rounds", "Answers", "Right at the first try")
    notes = ("Of the round that was passed; who is wrong is asked again, until all is right.",)
    return Table("quiz", "The quiz on whom they play", head, tuple(rows), notes=notes)


def _first_try_results(tries: Sequence[Mapping[str, Any]]) -> list[bool]:
    """Return the first try at each question of the passed round (True if right); empty if no round was passed."""
    passed_round = next((one.get("round") for one in tries if one.get("passed")), None)
    return [
        bool(one.get("right"))
        for one in tries
        if passed_round is not None and one.get("round") == passed_round and one.get("try") == 1
    ]


# -- replies ---------------------------------------------------------------------------------------------------


def _replies(by: Mapping[str, Sequence[MeasuredRun]]) -> Table:
    rows = []
    for name, cases in by.items():
        replies = [step.reply for case in cases for step in case.steps if step.reply is not None]
        if replies:
            rows.append(
                (
                    name, f"{len(replies):,}",
                    _median_cell(replies, lambda one: seconds_between(one.shown_at, one.first_key_at), 1),
                    _median_cell(replies, lambda one: seconds_between(one.shown_at, one.sent_at), 1),
                    _median_cell(replies, lambda one: float(len(one.text)), 0),
                    _median_cell(replies, lambda one: None if one.edits is None else float(one.edits), 0),
                    _decisions(replies),
                )
            )  # fmt: skip
    columns = ("Replies by", "Replies", "Seconds to first key", "Seconds until sent", "Characters", "Taken back",
               "Accepted / rejected")  # fmt: skip
    notes = ("Medians; in brackets the replies they are of, where not all tell it.",)
    return Table("replies", "Replies", columns, tuple(rows), notes=notes)


def _median_cell(replies: Sequence[Reply], value: Callable[[Reply], float | None], digits: int) -> str:
    values = [seconds for one in replies if (seconds := value(one)) is not None]
    if not values:
        return "not told"
    of = f" ({len(values):,})" if len(values) < len(replies) else ""
    return f"{format_number(median(values), digits)}{of}"


def _decisions(replies: Sequence[Reply]) -> str:
    accepts, rejects = (sum(one.decision == what for one in replies) for what in ("accept", "reject"))
    return f"{accepts:,} / {rejects:,}"


def _clocks(study_data: StudyData, by: Mapping[str, Sequence[MeasuredRun]]) -> Table:
    """Return the time for which runs waited for their user: with a question open, and during pauses."""
    rows = []
    for name, cases in by.items():
        if any(case.user is not None and case.user.kind == "human" for case in cases):
            pauses_by_run = [study_data.further.pauses(case.id) for case in cases]
            waiting_seconds = median(sum(_waiting_seconds(case)) for case in cases)
            pauses, seconds = sum(map(len, pauses_by_run)), sum(map(sum, pauses_by_run))
            rows.append(
                (name, f"{len(cases):,}", format_number(waiting_seconds, 1), f"{pauses:,}", format_number(seconds, 1))
            )
    head = ("Runs by", "Runs", "Seconds with a question open", "Pauses", "Seconds paused")
    notes = (
        "The agent's clock stands still meanwhile. A question: from shown to sent, median of runs; pauses: in all.",
    )
    return Table("clocks", "Clocks that stood still", head, tuple(rows), notes=notes)


def _waiting_seconds(case: MeasuredRun) -> list[float]:
    replies = [step.reply for step in case.steps if step.reply is not None]
    return [seconds for one in replies if (seconds := seconds_between(one.shown_at, one.sent_at)) is not None]


# -- afterwards ------------------------------------------------------------------------------------------------


def _questionnaire_table(study_data: StudyData) -> Table:
    """Return the mean answers after tasks, including those of plays that were dealt again."""
    units = {unit.id: unit for unit in asked_units(study_data)}
    play_count = sum(one.by.kind == "human" and one.status not in ("open", "interrupted") for one in study_data.played)
    rows: list[tuple[Cell, ...]] = []
    for field in study_data.study.protocol.fields:
        scale = scores_of(field)
        if not scale:
            continue
        answers = answers_in(study_data, field.id, run=None)
        with_value = [one for one in answers if one.value is not None]
        left_out = Counter(one.reason for one in answers if one.value is None)
        # Plays that ended before their questionnaire was handed in are missing answers.
        left_out[NOT_HANDED_IN] = max(0, play_count - len(answers))
        items = [UnitValue(one.unit, units[one.unit].clustered, float(one.value)) for one in with_value]
        if items:
            mean = average(
                study_data, items, field.id, "mean", most=max(scale), least=min(scale),
                raters=len({one.rater for one in with_value}), left_out=+left_out,
            )  # fmt: skip
            rows.append((field.ask, Number(mean), f"{len(items):,}"))
    notes = ("Missing is a share of the plays that people ended.",)
    return Table(
        "afterwards",
        "What people said after a task",
        ("", "Mean", "Answers"),
        tuple(rows),
        notes=notes,
    )
