"""Attempts at a task by MemGUI-Bench's rules: judged, within their budget, in order of time."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from annotators.papers.memgui.irr import Irr, irr_of
from annotators.papers.metrics import LeftOutTally, MetricTerms
from lab.core.run.measured_run import MeasuredRun
from lab.core.task.task import step_limit

DONE = 0.99
"""A score above it is a success. The benchmark's own scores are 0 and 1."""
DIFFICULTIES = ("easy", "medium", "hard")
TABLE = "results.csv"
"""Verdict that holds a session's table row, whose columns are the input of the published script."""
_YES_OR_NO = {"yes": "yes", "no": "no", "y": "yes", "n": "no", "true": "yes", "false": "no"}


class JudgedAttempt(NamedTuple):
    """One attempt. `done` is None if nobody has judged it. `over_budget` is True if it exceeded its budget."""

    case: MeasuredRun
    done: bool | None
    over_budget: bool
    irr: Irr

    @property
    def steps(self) -> int:
        return len(self.case.steps)

    def table_number(self, column: str) -> float | None:
        """Return a numeric column of the session's table, or None if it is missing or not a finite number."""
        verdict = self.case.verdict(TABLE)
        value = verdict.extra.get(column) if verdict else None
        try:
            number = float(value) if isinstance(value, str | int | float) else math.nan
        except (ValueError, OverflowError):
            return None
        # Text such as nan or inf is not a value.
        return number if math.isfinite(number) else None

    @property
    def script_steps(self) -> float:
        """The log's `total_steps`, which is one less than its actions."""
        total = self.table_number("total_steps")
        return max(self.steps - 1, 0) if total is None else total


class Chain(NamedTuple):
    """The attempts of one agent at one task, by number from 1."""

    tries: Mapping[int, JudgedAttempt]

    @property
    def case(self) -> MeasuredRun:
        return next(iter(self.tries.values())).case

    @property
    def first_attempt(self) -> JudgedAttempt | None:
        return self.tries.get(1)

    @property
    def memory(self) -> str:
        return memory_of(self.case)

    @property
    def golden(self) -> int | None:
        return self.case.task.shortest

    def first_success(self, most: int) -> int | None:
        """Return the number of the first success among the first `most` attempts, or None if there is none."""
        return next((number for number in sorted(self.tries) if number <= most and self.tries[number].done), None)


def chains_of(cases: Sequence[MeasuredRun], terms: MetricTerms, out: LeftOutTally) -> list[Chain]:
    """Return the attempts of agents, task by task.

    If an agent made the same attempt of a task more than once (another session, a second study), the repeat begins
    another chain: the first runs of each attempt number belong together, then the second ones.
    """
    rates = _rates(cases)
    chains: dict[tuple[object, ...], dict[int, JudgedAttempt]] = {}
    times: Counter[tuple[object, ...]] = Counter()
    for case in out.filter(cases, lambda case: _why_not(case, terms, rates)):
        key = (
            case.agent.identity,
            case.source.model if case.source else "",
            case.task.id,
            case.persona_id,
        )
        # How often this attempt number occurred before: the index of its chain.
        place = times[(*key, case.attempt)]
        times[(*key, case.attempt)] += 1
        chains.setdefault((*key, place), {})[case.attempt] = _judged_attempt(case, terms, rates)
    return [Chain(dict(sorted(tries.items()))) for tries in chains.values()]


def memory_of(case: MeasuredRun) -> str:
    """Return `yes` if a run's task needs memory, else `no`, empty if unknown.

    It is the task's trait, else, for our own tasks, the existence of units.
    """
    memory = _YES_OR_NO.get(case.task.traits.get("memory", "").lower(), "")
    if memory or case.source is not None:
        return memory
    return "yes" if case.task.units else "no"


def difficulty_of(case: MeasuredRun) -> str:
    """Return easy, medium or hard from the task, else from its golden steps: up to 20, up to 40, more (A.4.2).

    The paper's tables follow the tasks' own difficulties (48, 42, 38 tasks): six with 23 and 24 golden steps are called
    easy.
    """
    difficulty = case.task.traits.get("difficulty", "").lower()
    golden = case.task.shortest
    if difficulty in DIFFICULTIES or golden is None:
        return difficulty
    return "easy" if golden <= 20 else "medium" if golden <= 40 else "hard"


def apps_of(case: MeasuredRun) -> int:
    """Return the number of apps of a task, 0 if unknown."""
    apps = case.task.traits.get("num_apps", "")
    return len(case.task.apps) or (int(apps) if re.fullmatch(r"[0-9]{1,3}", apps) else 0)


def tokens_of(case: MeasuredRun) -> int | None:
    """Return the tokens sent and answered in a run, or None if neither is known."""
    usage = case.usage
    if usage is None or (usage.prompt_tokens is None and usage.completion_tokens is None):
        return None
    return (usage.prompt_tokens or 0) + (usage.completion_tokens or 0)


def _why_not(case: MeasuredRun, terms: MetricTerms, rates: Mapping[str, float]) -> str:
    if case.gold:
        return "demonstrated by a person"
    if case.status == "open":
        return "not ended"
    if case.attempt < 1:
        return "with an attempt not numbered from 1"
    if case.task.shortest is None and (terms.step_budget is not None or terms.golden_tokens is not None):
        return "without golden steps, so without a budget"
    if terms.golden_tokens is not None and case.agent.identity not in rates:
        return "of an agent whose tokens are not known"
    if terms.token_budget is not None and tokens_of(case) is None:
        return "whose tokens are not known"
    return ""


def _judged_attempt(case: MeasuredRun, terms: MetricTerms, rates: Mapping[str, float]) -> JudgedAttempt:
    score = case.success_score
    beyond = _exceeds_budget(case, terms, rates)
    success = False if beyond else None if score is None else score > DONE
    return JudgedAttempt(case, success, beyond, Irr(0.0) if beyond else irr_of(case, success))


def _exceeds_budget(case: MeasuredRun, terms: MetricTerms, rates: Mapping[str, float]) -> bool:
    """Return True if a run exceeds its budget.

    A.9.6: more steps than floor(budget x golden + 1), or steps x the agent's tokens per step above golden x budget.
    """
    golden = case.task.shortest or 0
    if case.status == "budget" and 0 < case.conditions.step_limit <= len(case.steps):
        return True  # its limit ended it while it went on
    if terms.step_budget is not None and len(case.steps) > step_limit(golden, terms.step_budget):
        return True
    if terms.golden_tokens is not None and len(case.steps) * rates[case.agent.identity] > golden * terms.golden_tokens:
        return True
    return terms.token_budget is not None and (tokens_of(case) or 0) > terms.token_budget


def _rates(cases: Iterable[MeasuredRun]) -> dict[str, float]:
    """Return each agent's tokens per step, over its runs with known tokens."""
    sums: dict[str, tuple[int, int]] = {}
    for case in cases:
        tokens = tokens_of(case)
        if tokens is not None and case.steps:
            before = sums.get(case.agent.identity, (0, 0))
            sums[case.agent.identity] = (before[0] + tokens, before[1] + len(case.steps))
    return {agent: tokens / steps for agent, (tokens, steps) in sums.items()}
