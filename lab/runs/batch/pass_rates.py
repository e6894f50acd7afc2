"""Results of many attempts at many tasks: pass@k, recovery from failure, means."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

import msgspec

from lab.core.run.trace import Trace
from lab.core.task.task import Kind

MODES = ("general", "personalized", "proactive")
_PASSES = 0.99
"""An environment's score above which a run passed, as in the metrics of KnowU-Bench and MobileWorld."""


class Attempt(msgspec.Struct, frozen=True):
    """One run. `cost` is in US dollars if known.

    `passed` is null if the task has no rules, if its phone's state cannot be checked, or if it was stopped. `state` is
    the sha256 of the phone's first state, the same for every attempt at a task. `scored_by` is the environment that
    gave the score, empty if the task's rules did.
    """

    trace: str
    attempt: int
    status: str
    score: float | None
    passed: bool | None
    steps: int
    questions: int
    seconds: float
    cost: float | None
    reason: str
    state: str | None
    scored_by: str = ""


class TaskResult(msgspec.Struct, frozen=True):
    """All attempts at one task: number of passes, means over attempts that were not stopped, and total cost."""

    task: str
    kind: Kind
    passes: int
    steps: float | None
    seconds: float | None
    cost: float | None
    attempts: tuple[Attempt, ...]


class PassRate(msgspec.Struct, frozen=True):
    """pass@k: `passed` of `tasks` within their first `k` attempts (MemGUI-Bench A.6.2). `rate` is the share.

    `unbiased` is the mean of 1 - C(n-c, k) / C(n, k) over tasks with c of n attempts passed (Chen et al. 2021, section
    2.1). It is null if attempts are not independent draws: with a memory, or if attempts stop at the first pass.
    """

    k: int
    passed: int
    tasks: int
    rate: float | None
    unbiased: float | None


class KindResult(msgspec.Struct, frozen=True):
    """Results of all tasks of a kind, or of `all`. `unchecked` tasks have no checked attempt and count in no rate.

    `recovery` is MemGUI-Bench's failure recovery rate (A.6.2) over the tasks whose attempts decide it, null if none of
    them failed at first.
    """

    kind: str
    tasks: int
    unchecked: int
    attempts: int
    rates: tuple[PassRate, ...]
    recovery: float | None
    steps: float | None
    seconds: float | None
    cost: float | None


class BrokenRun(msgspec.Struct, frozen=True):
    """A run that its phone broke off: archived and not counted. Attempt `attempt` at `task` was dealt again."""

    trace: str
    task: str
    attempt: int
    place: str
    reason: str


class RefusedAttempt(msgspec.Struct, frozen=True):
    """An attempt that its environment did not begin: it has no run and counts in no rate."""

    task: str
    attempt: int
    place: str
    reason: str


class BatchResult(msgspec.Struct, frozen=True):
    """Result of `hitlab run`. `attempts` is the maximum per task. `memory` is true if the agent learns across runs.

    `tasks` are in the order they were named. `kinds` are those that occur, and last `all`. `jobs` attempts ran side by
    side at `places`. `broken` runs do not count as attempts. `lost` attempts were not made for lack of a phone, and
    `refused` ones because their environment did not begin them. `stop_at` is in golden steps, null if only the tasks'
    budgets applied.
    """

    db: str
    agent: str
    seed: int
    vary: int
    attempts: int
    until_pass: bool
    memory: bool
    interrupted: bool
    tasks: tuple[TaskResult, ...]
    kinds: tuple[KindResult, ...]
    jobs: int = 1
    places: tuple[str, ...] = ()
    broken: tuple[BrokenRun, ...] = ()
    lost: int = 0
    stop_at: float | None = None
    refused: tuple[RefusedAttempt, ...] = ()


def attempt_of(trace: Trace) -> Attempt:
    """Summarize a run as an attempt. It passed if its environment says so, else if it completed and every rule held."""
    ended = trace.ended
    score = ended.score if ended is not None else None
    scored = trace.device.kind == "environment" and trace.source is None
    # A completed run without a score is one whose phone's state could not be checked.
    checkable = trace.state is not None and not (trace.status == "completed" and score is None)
    ruled = checkable and any(check.weight for check in trace.task.checks)
    checked = (scored or ruled) and trace.status != "stopped"
    passes = (score or 0.0) > _PASSES if scored else trace.status == "completed" and score == 1.0
    return Attempt(
        trace=trace.id,
        attempt=trace.attempt,
        status=trace.status,
        score=score,
        passed=passes if checked else None,
        steps=len(trace.steps),
        questions=trace.questions,
        seconds=round((ended.ms or 0.0) / 1000, 3) if ended is not None else 0.0,
        cost=trace.spent.cost if trace.spent is not None else None,
        reason=ended.reason if ended is not None else "",
        state=trace.state,
        scored_by=ended.scored_by if ended is not None else "",
    )


def task_result(task: str, kind: Kind, attempts: Sequence[Attempt]) -> TaskResult:
    """Summarize the attempts at one task."""
    whole = [attempt for attempt in attempts if attempt.status != "stopped"]
    return TaskResult(
        task=task,
        kind=kind,
        passes=sum(attempt.passed is True for attempt in attempts),
        steps=_mean([attempt.steps for attempt in whole]),
        seconds=_mean([attempt.seconds for attempt in whole]),
        cost=_sum(attempt.cost for attempt in attempts),
        attempts=tuple(attempts),
    )


def count_dealt_again(tasks: Sequence[TaskResult], broken: Sequence[BrokenRun]) -> int:
    """Return how many of the broken attempts were begun again."""
    made_attempts = {(task.task, attempt.attempt) for task in tasks for attempt in task.attempts}
    broken_off = [(run.task, run.attempt) for run in broken]
    return sum(one in made_attempts or one in broken_off[i:] for i, one in enumerate(broken_off, 1))


def kind_results(tasks: Sequence[TaskResult], most: int, *, independent: bool) -> tuple[KindResult, ...]:
    """Summarize the tasks by kind and in total. `most` is the requested number of attempts."""
    by_kind = [(kind, [task for task in tasks if task.kind == kind]) for kind in MODES]
    groups = [(kind, group) for kind, group in by_kind if group]
    return tuple(_kind_result(kind, group, most, independent) for kind, group in [*groups, ("all", list(tasks))])


def _kind_result(kind: str, tasks: Sequence[TaskResult], most: int, independent: bool) -> KindResult:
    outcomes = [outcome for task in tasks if (outcome := _checked_passes(task))]
    whole = [attempt for task in tasks for attempt in task.attempts if attempt.status != "stopped"]
    return KindResult(
        kind=kind,
        tasks=len(tasks),
        unchecked=len(tasks) - len(outcomes),
        attempts=len(whole),
        rates=pass_rates(outcomes, most, independent=independent),
        recovery=recovery_rate(outcomes, most),
        steps=_mean([attempt.steps for attempt in whole]),
        seconds=_mean([attempt.seconds for attempt in whole]),
        cost=_sum(task.cost for task in tasks),
    )


def _checked_passes(task: TaskResult) -> list[bool]:
    return [attempt.passed for attempt in task.attempts if attempt.passed is not None]


def pass_rates(outcomes: Sequence[Sequence[bool]], most: int, *, independent: bool) -> tuple[PassRate, ...]:
    """Return pass@1 to pass@most over tasks' attempts in order.

    A task counts for k once its first k attempts decide it.
    """
    rates = []
    for k in range(1, most + 1):
        task_passes = [any(outcome[:k]) for outcome in outcomes if len(outcome) >= k or any(outcome)]
        # The estimator needs the same number of attempts at each task.
        even = bool(outcomes) and independent and all(len(outcome) == most for outcome in outcomes)
        rates.append(
            PassRate(
                k=k,
                passed=sum(task_passes),
                tasks=len(task_passes),
                rate=sum(task_passes) / len(task_passes) if task_passes else None,
                unbiased=_mean([unbiased_pass_rate(len(o), sum(o), k) for o in outcomes]) if even else None,
            )
        )
    return tuple(rates)


def unbiased_pass_rate(n: int, c: int, k: int) -> float:
    """Return the probability that of `k` attempts drawn from `n`, of which `c` passed, at least one passed."""
    return 1.0 - math.comb(n - c, k) / math.comb(n, k)


def recovery_rate(outcomes: Sequence[Sequence[bool]], most: int) -> float | None:
    """Return the recovery rate, or None if no task failed at first.

    It is the share of those tasks that passed later, where a pass at attempt i weighs 1/(i-1). A task counts once its
    attempts decide it: one passed, or all `most` of them failed.
    """
    decided = [outcome for outcome in outcomes if len(outcome) >= most or any(outcome)]
    failed_first = [outcome for outcome in decided if outcome and not outcome[0]]
    if not failed_first:
        return None
    return sum(1 / outcome.index(True) for outcome in failed_first if any(outcome)) / len(failed_first)


def _mean(values: Sequence[float]) -> float | None:
    return sum(values) / len(values) if values else None


def _sum(values: Iterable[float | None]) -> float | None:
    numbers = [value for value in values if value is not None]
    return sum(numbers) if numbers else None
