"""What many attempts at many tasks come to: pass@k, recovery from failure, means."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

import msgspec

from lab.core.task import Kind
from lab.core.trace import Trace

MODES = ("general", "personalized", "proactive")
_PASSES = 0.99
"""An environment's score above which a run passed, as the metrics of KnowU-Bench and MobileWorld have it."""


class Attempt(msgspec.Struct, frozen=True):
    """One run; `cost` in US dollars where known.

    `passed` is null where the task has no rules, where its phone's state cannot be checked, or where it was stopped.
    `state` is the sha256 of the phone's state it began from: the same for every attempt at a task. `scored_by` is the
    environment that gave the score, empty where the task's rules did.
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
    """All attempts at one task: how many passed, means per attempt over those that were not stopped, what they cost."""

    task: str
    kind: Kind
    passes: int
    steps: float | None
    seconds: float | None
    cost: float | None
    attempts: tuple[Attempt, ...]


class PassRate(msgspec.Struct, frozen=True):
    """pass@k: of `tasks`, `passed` did within their first `k` attempts (MemGUI-Bench A.6.2); `rate` is the share.

    `unbiased` is the mean of 1 - C(n-c, k) / C(n, k) over tasks with c of n attempts passed (Chen et al. 2021, section
    2.1); null where attempts are not independent draws: with a memory, or where trying stops at the first pass.
    """

    k: int
    passed: int
    tasks: int
    rate: float | None
    unbiased: float | None


class KindResult(msgspec.Struct, frozen=True):
    """All tasks of a kind, or `all`; `unchecked` tasks, of whose attempts nothing was checked, count in no rate.

    `recovery` is MemGUI-Bench's failure recovery rate (A.6.2) over the tasks whose attempts decide it, null where none
    of them failed at first.
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
    """A run that its phone broke off: archived, and no attempt; attempt `attempt` at `task` was dealt again."""

    trace: str
    task: str
    attempt: int
    place: str
    reason: str


class RefusedAttempt(msgspec.Struct, frozen=True):
    """An attempt that its environment did not begin: there is no run of it, and it counts in no rate."""

    task: str
    attempt: int
    place: str
    reason: str


class BatchResult(msgspec.Struct, frozen=True):
    """Many runs: `run`. `attempts` is the most per task; `memory`: the agent may learn from one run to the next.

    `tasks` stand in the order they were named in; `kinds` are those there are, and then `all`. `jobs` attempts were
    made side by side at `places`; `broken` runs count as no attempt, `lost` attempts were not made for want of a phone,
    `refused` ones because their environment did not begin them. `stop_at` is in golden steps, null where the tasks'
    budgets alone held.
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
    """One run in short. It passed where its environment says so, else where it was completed and every rule held."""
    ended = trace.ended
    score = ended.score if ended is not None else None
    scored = trace.device.kind == "environment" and trace.source is None
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
    """What the attempts at one task come to."""
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


def dealt_again(tasks: Sequence[TaskResult], broken: Sequence[BrokenRun]) -> int:
    """How many of the attempts that a phone broke off were begun once more."""
    made = {(task.task, attempt.attempt) for task in tasks for attempt in task.attempts}
    broken_off = [(run.task, run.attempt) for run in broken]
    return sum(one in made or one in broken_off[i:] for i, one in enumerate(broken_off, 1))


def kind_results(tasks: Sequence[TaskResult], most: int, *, independent: bool) -> tuple[KindResult, ...]:
    """What the tasks come to, by kind and together; `most` attempts were asked for."""
    by_kind = [(kind, [task for task in tasks if task.kind == kind]) for kind in MODES]
    groups = [(kind, group) for kind, group in by_kind if group]
    return tuple(_kind_result(kind, group, most, independent) for kind, group in [*groups, ("all", list(tasks))])


def _kind_result(kind: str, tasks: Sequence[TaskResult], most: int, independent: bool) -> KindResult:
    outcomes = [outcome for task in tasks if (outcome := _outcome(task))]
    whole = [attempt for task in tasks for attempt in task.attempts if attempt.status != "stopped"]
    return KindResult(
        kind=kind,
        tasks=len(tasks),
        unchecked=len(tasks) - len(outcomes),
        attempts=len(whole),
        rates=pass_rates(outcomes, most, independent=independent),
        recovery=recovery(outcomes, most),
        steps=_mean([attempt.steps for attempt in whole]),
        seconds=_mean([attempt.seconds for attempt in whole]),
        cost=_sum(task.cost for task in tasks),
    )


def _outcome(task: TaskResult) -> list[bool]:
    return [attempt.passed for attempt in task.attempts if attempt.passed is not None]


def pass_rates(outcomes: Sequence[Sequence[bool]], most: int, *, independent: bool) -> tuple[PassRate, ...]:
    """pass@1 to pass@most over tasks' attempts in order; a task counts for k once its first k attempts decide it."""
    rates = []
    for k in range(1, most + 1):
        task_passes = [any(outcome[:k]) for outcome in outcomes if len(outcome) >= k or any(outcome)]
        even = bool(outcomes) and independent and all(len(outcome) == most for outcome in outcomes)
        rates.append(
            PassRate(
                k=k,
                passed=sum(task_passes),
                tasks=len(task_passes),
                rate=sum(task_passes) / len(task_passes) if task_passes else None,
                unbiased=_mean([unbiased(len(o), sum(o), k) for o in outcomes]) if even else None,
            )
        )
    return tuple(rates)


def unbiased(n: int, c: int, k: int) -> float:
    """The chance that of `k` attempts drawn from `n`, of which `c` passed, at least one did."""
    return 1.0 - math.comb(n - c, k) / math.comb(n, k)


def recovery(outcomes: Sequence[Sequence[bool]], most: int) -> float | None:
    """The share of tasks failed at first that passed later, attempt i weighing 1/(i-1); None where none failed.

    A task counts once its attempts decide it: one passed, or all `most` of them failed.
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
