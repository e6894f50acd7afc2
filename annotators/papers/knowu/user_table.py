"""KnowU-Bench 4.1, 4.3: people in the simulator's place. The paper's numbers by condition, and paired by task.

A condition is the kind of person or model that answered, and if they saw the phone. Several models are separate
conditions. A run that was interrupted or is open counts nowhere. An ended run that lacks a number is missing there. A
difference is of a task's means under two conditions, over the tasks played under both.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from itertools import combinations
from statistics import median
from typing import Any, NamedTuple

from msgspec.structs import replace

from annotators.agreement.ratings.fields import scores_of
from annotators.papers.cells import UnitValue, average, clip_difference, few_runs_warning, percent, share_of_independent
from annotators.papers.field_answers import answers_in, asked_units
from annotators.papers.knowu.policy import Group, paper_policy
from annotators.papers.knowu.runs import KnowuRun, runs_of
from annotators.papers.metrics import DEFAULTS, LeftOutTally
from annotators.study_data import StudyData
from lab.core.run.measured_run import MeasuredRun
from lab.core.run.step import Reply
from lab.core.study.agreement import Agreement, IntervalTerms
from lab.core.study.report import Bars, Cell, Number, Section, Table
from lab.core.values.ids_and_clock import seconds_between
from lab.core.values.rounding import format_number

_SOURCE = "KnowU-Bench 4.1"


class EndedRun(NamedTuple):
    """One ended run of the study: its task, condition, answerer, and the run as metrics read it."""

    task: str
    condition: str
    by: str
    run: KnowuRun


class Measure(NamedTuple):
    """One of the paper's numbers, from 0 to `most`.

    `value` returns a run's contribution to the mean, a reason if it is missing, or None if the number does not apply to
    the run.
    """

    name: str
    value: Callable[[KnowuRun], float | str | None]
    share: bool
    of: str
    most: float | None = 1.0


NO_SCORE, NOT_TOLD, NOT_UNDER_BOTH = "no_score", "not_told", "not_under_both"
"""Reasons: an ended run without a score, a task that does not state if help is warranted, and a task with runs under
only one condition."""


def _policy_value(group: Group) -> Callable[[KnowuRun], float | str | None]:
    def value(run: KnowuRun) -> float | str | None:
        if run.split != "proactive":
            return None
        policy = paper_policy(run, DEFAULTS)
        if policy.group is None:
            return NOT_TOLD
        return float(policy.kept) if policy.group == group else None

    return value


def _score_value(of: Callable[[KnowuRun, float], float]) -> Callable[[KnowuRun], float | str | None]:
    return lambda run: NO_SCORE if run.score is None else of(run, run.score)


def _efficiency_value(run: KnowuRun) -> float | str | None:
    """Return S_i / max(c_i, 1) of a personalized task."""
    if run.split != "personalized":
        return None
    return NO_SCORE if run.score is None else run.score / max(run.queries, 1)


OWN_SCORE = "Average score, as in hitlab runs"

MEASURES = (
    Measure("SR", _score_value(lambda run, _: float(run.succeeded)), True, "run with a score"),
    Measure("Average score", _score_value(lambda _, score: score), False, "run with a score"),
    Measure(OWN_SCORE, lambda run: NO_SCORE if run.case.score is None else run.case.score, False, "run with a score"),
    Measure("Questions per task", lambda run: float(run.queries), False, "run", None),
    Measure("IE", _efficiency_value, False, "personalized run with a score"),
    Measure("Act", _policy_value("need"), True, "proactive run that warranted help"),
    Measure("Silent", _policy_value("noneed"), True, "proactive run that warranted none"),
    Measure("Stop", _policy_value("reject"), True, "proactive run in which the person refused"),
)


def sections(study_data: StudyData) -> list[Section]:
    """Return the numbers by condition, differences paired by task, and statistics of people's answers."""
    left_out: Counter[tuple[str, str]] = Counter()
    ended_runs = list(_counting_runs(study_data, left_out))
    conditions = _conditions(study_data, ended_runs)
    tasks = len({one.task for one in ended_runs})
    says = [
        f"{_plural(len(ended_runs), 'run')} of {_plural(tasks, 'task')} under {_plural(len(conditions), 'condition')}."
    ]
    says += [f"Left out: {_reasons(left_out)}."] if left_out else []
    rehearsal_count = sum(one.run.case.rehearsed for one in ended_runs)
    if rehearsal_count:
        says.append(f"A rehearsal: in {_plural(rehearsal_count, 'run')} a script answered in a person's place.")
    by: Mapping[str, list[EndedRun]] = {
        name: [one for one in ended_runs if one.condition == name] for name in conditions
    }
    out = {name: Counter({key: n for key, n in left_out.items() if key[0] == name}) for name in conditions}
    tables = [_by_condition(study_data, by, out), *_paired_tables(study_data, by)]
    first = Section(
        "People in the simulator's place",
        (*says, *few_runs_warning(tasks, "tasks")),
        tuple(tables),
        _bars(study_data, by),
    )
    return [first, *answering(study_data, {name: [one.run.case for one in some] for name, some in by.items()})]


def _plural(count: int, what: str) -> str:
    return f"{count:,} {what if count == 1 else what + 's'}"


def _reasons(left_out: Counter[tuple[str, str]]) -> str:
    """Return the number of runs left out by reason, as text."""
    by: Counter[str] = Counter()
    for (_, why), many in left_out.items():
        by[why] += many
    return ", ".join(f"{many:,} {why}" for why, many in sorted(by.items())) or "-"


def condition_of(study_data: StudyData, one: Any) -> str:
    """Return the condition of a play. Several models are separate conditions by name."""
    condition: str = one.by.id if one.by.kind == "model" and len(_models(study_data)) > 1 else one.condition
    return condition


def _models(study_data: StudyData) -> list[str]:
    return sorted({one.by.id for one in study_data.played if one.by.kind == "model"})


def _counting_runs(study_data: StudyData, left_out: Counter[tuple[str, str]]) -> Iterator[EndedRun]:
    """Yield the runs that count. The others are counted in `left_out` by condition and reason."""
    seen = set()
    for one in study_data.played:
        condition = condition_of(study_data, one)
        case = study_data.case(one.trace) if one.status not in ("interrupted", "open") else None
        why = one.status if one.status in ("interrupted", "open") else "" if case is not None else "not in this file"
        tally = LeftOutTally()
        runs = runs_of([case], DEFAULTS, tally) if case is not None else []
        why = why or next((reason for reason, _ in tally.counts), "")
        if why:
            left_out[condition, _REASON_WORDS.get(why, why)] += 1
        # Each run counts once, even if several plays refer to it.
        elif one.trace not in seen:
            seen.add(one.trace)
            yield EndedRun(one.task, condition, one.by.id, runs[0])


_REASON_WORDS = {"open": "not ended"}


def _conditions(study_data: StudyData, ended_runs: Sequence[EndedRun]) -> list[str]:
    """Return conditions in the order of the study's units."""
    condition_names = [unit.play.condition for unit in study_data.units if unit.play is not None]
    models = _models(study_data)
    if len(models) > 1:
        condition_names = [name for one in condition_names for name in (models if one == "model" else [one])]
    return list(dict.fromkeys((*condition_names, *(one.condition for one in ended_runs))))


def _run_values(ended_runs: Iterable[EndedRun], measure: Measure) -> list[tuple[EndedRun, float]]:
    """Return the runs to which a number applies, with their contributions."""
    run_values = ((one, measure.value(one.run)) for one in ended_runs)
    return [(one, value) for one, value in run_values if isinstance(value, float)]


def _missing_values(ended_runs: Iterable[EndedRun], measure: Measure) -> dict[str, int]:
    """Return the number of runs without the value they should have, by reason."""
    values = (measure.value(one.run) for one in ended_runs)
    return dict(Counter(why for why in values if isinstance(why, str)))


def _mean(study_data: StudyData, ended_runs: Sequence[EndedRun], measure: Measure, condition: str) -> Agreement:
    values = _run_values(ended_runs, measure)
    items = [UnitValue(one.run.case.id, one.task, value) for one, value in values]
    return average(
        study_data, items, "play", measure.name, most=measure.most, least=0.0, part=condition,
        between=f"user: {condition}", raters=_count_answerers(values), why=f"no {measure.of}",
        left_out=_missing_values(ended_runs, measure),
    )  # fmt: skip


def _count_answerers(values: Iterable[tuple[EndedRun, float]], tasks: Collection[str] | None = None) -> int:
    return len({one.by for one, _ in values if tasks is None or one.task in tasks})


def _cell(one: Agreement, measure: Measure) -> Number:
    return Number(one, 1, 100, " %") if measure.share else Number(one)


def _by_condition(
    study_data: StudyData, by: Mapping[str, Sequence[EndedRun]], left_out: Mapping[str, Counter[tuple[str, str]]]
) -> Table:
    rows: list[tuple[Cell, ...]] = [("Runs", *(f"{len(some):,}" for some in by.values()))]
    rows.append(("Tasks", *(f"{len({one.task for one in some}):,}" for some in by.values())))
    if any(left_out.values()):
        rows.append(("Left out", *(_reasons(left_out[name]) for name in by)))
    for measure in MEASURES:
        rows.append(
            (measure.name, *(_cell(_mean(study_data, some, measure, name), measure) for name, some in by.items()))
        )
    notes = (
        "SR: score above .99. IE: score over questions, at least 1, of personalized tasks. Act, Silent and Stop are of "
        "proactive tasks that warranted help, that warranted none, and in which the person refused.",
        "Average score is the paper's (3.3, 3.4): where rules alone decide a task, it is 1 if all of them held, else "
        "0. Where raters or a judge scored the run, too, it is lambda x rules + (1 - lambda) x that score. The line "
        "below it has each run's own score, as `hitlab runs list` prints it.",
        "Intervals are clustered by task.",
    )
    return Table("users", "The paper's numbers by who answered", ("", *by), tuple(rows), _SOURCE, notes)


def _paired_tables(study_data: StudyData, by: Mapping[str, Sequence[EndedRun]]) -> list[Table]:
    """Return for each two conditions the mean difference over the tasks of both."""
    tables = []
    for at, (one, other) in enumerate(combinations(by, 2), 1):
        rows = [_difference(study_data, by, one, other, measure) for measure in MEASURES]
        columns = ("", one, other, "Difference", "Difference, bootstrap", "Tasks")
        notes = (
            "Means of the tasks' means, over the tasks that both have; the difference is paired by task.",
            f"Its first interval leaves out one task after another (jackknife-t); for the second whole tasks, each "
            f"under both conditions, are drawn {study_data.how.resamples:,} times, seed {study_data.how.seed}. Neither "
            "reaches beyond what a difference can be.",
        )
        tables.append(
            Table(f"paired-{at}", f"{one} against {other}, paired by task", columns, tuple(rows), _SOURCE, notes)
        )
    return tables


def _difference(
    study_data: StudyData, by: Mapping[str, Sequence[EndedRun]], one: str, other: str, measure: Measure
) -> tuple[Cell, ...]:
    values_by_condition = {name: _run_values(by[name], measure) for name in (one, other)}
    first, second = (_by_task(values_by_condition[name]) for name in (one, other))
    tasks = sorted(first.keys() & second.keys())
    alone = len(first.keys() ^ second.keys())
    beside: Any = {
        "why": "no task has such runs under both", "left_out": {NOT_UNDER_BOTH: alone} if alone else {}
    }  # fmt: skip
    cells: list[Cell] = [measure.name]
    for name, means in ((one, first), (other, second)):
        items = [UnitValue(task, task, means[task]) for task in tasks]
        mean = average(
            study_data, items, "play", f"{measure.name}, mean of tasks", most=measure.most, least=0.0, part=name,
            between=f"user: {name}", raters=_count_answerers(values_by_condition[name], tasks), **beside,
        )  # fmt: skip
        cells.append(_cell(mean, measure))
    items = [UnitValue(task, task, first[task] - second[task]) for task in tasks]
    raters = _count_answerers([*values_by_condition[one], *values_by_condition[other]], tasks)
    for how in (IntervalTerms(level=study_data.how.level), replace(study_data.how, interval="bootstrap")):
        gap = average(
            study_data, items, "play", f"{measure.name}, difference", between=f"{one} minus {other}", raters=raters,
            how=how, **beside,
        )  # fmt: skip
        cells.append(_cell(clip_difference(gap, measure.most), measure))
    return (*cells, f"{len(tasks):,}")


def _by_task(unit_values: Iterable[tuple[EndedRun, float]]) -> dict[str, float]:
    """Return each task's mean over its runs."""
    values: dict[str, list[float]] = defaultdict(list)
    # Sorted, so that rounding does not depend on the order of the runs.
    for one, value in sorted(unit_values, key=lambda one: one[0].run.case.id):
        values[one.task].append(value)
    return {task: sum(some) / len(some) for task, some in values.items()}


def _bars(study_data: StudyData, by: Mapping[str, Sequence[EndedRun]]) -> tuple[Bars, ...]:
    bars: list[Any] = [(name, _mean(study_data, some, MEASURES[0], name)) for name, some in by.items() if some]
    if not bars:
        return ()
    return (Bars("users-sr", "SR by who answered", tuple(one for _, one in bars), tuple(name for name, _ in bars)),)


NOT_PASSED, NOT_HANDED_IN = "not_passed", "not_handed_in"
"""Reason for a quiz that was begun and is not passed, and for an ended play without its questionnaire."""


def answering(study_data: StudyData, by: Mapping[str, Sequence[MeasuredRun]]) -> list[Section]:
    """Return the tables of the quiz, of replies by condition, and of answers after tasks, empty if there are none."""
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
    """Return the first try at each question of the passed round (True if right), empty if no round was passed."""
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
