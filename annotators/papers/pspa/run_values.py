"""Values of one run by PSPA-Bench (2.3, Table 6), or the reason why there is none, by metric."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import isclose
from typing import Literal, NamedTuple

from annotators.papers.dac.runs import IS_DEMONSTRATION, NOT_DEMONSTRATED, Demonstrations, demonstrations
from annotators.papers.metrics import MetricContext
from annotators.papers.pspa.tdg import PathAlignment, Steps, align, align_items, align_raw, first_path, fulfilled_nodes
from lab.core.run.measured_run import MeasuredRun
from lab.core.run.step import has_tokens
from lab.core.task.task import Tdg

Value = float | str
"""A number, or the reason why there is none, worded to follow a count: `without a score`."""
Align = Callable[[Tdg, Steps], PathAlignment]
"""One reading of how a run is aligned with a graph."""
PASSED = 0.99
"""A run with a score above it succeeded."""


class Metric(NamedTuple):
    """One of the paper's metrics. `none` is the reason for a group without any value."""

    name: str
    unit: Literal["share", "seconds", "usd"]
    none: str
    note: str = ""
    delta: bool = False


_UNTIMED = "no agent's run here tells how long it took"
_UNSEEN = "no agent's run here is of a task that a person has demonstrated"
_UNRATED = "no agent's run here has rated nodes of a task's graph"
_UNPERSONAL = f"{_UNRATED} and a flexible one on its path"
_ITEMS_NOTE = "an item that holds paths counts, too"
_RAW_NOTE = "without the dependency rule"
METRICS = (
    Metric("APR", "share", _UNRATED, delta=True),
    Metric("PPR", "share", _UNPERSONAL, delta=True),
    Metric("APR by checklist", "share", _UNRATED, _ITEMS_NOTE),
    Metric("PPR by checklist", "share", _UNPERSONAL, _ITEMS_NOTE),
    Metric("APR of raw matches", "share", _UNRATED, _RAW_NOTE),
    Metric("PPR of raw matches", "share", _UNPERSONAL, _RAW_NOTE),
    Metric("CT", "seconds", _UNTIMED, delta=True),
    Metric("CT without waiting", "seconds", _UNTIMED, "less what went by while a person was asked", delta=True),
    Metric("CPT", "usd", "no agent's run here has a known price", delta=True),
    Metric("TCR", "share", _UNSEEN, "of a demonstration's steps, in order"),
    Metric("TCR by nodes", "share", _UNRATED, "of the path that a graph declares first"),
    Metric("Success Signal", "share", "no agent's run here has a score", f"score above {PASSED}"),
)


class RunValues(NamedTuple):
    """A run and its value of each metric by name."""

    case: MeasuredRun
    values: Mapping[str, Value]


def run_values(case: MeasuredRun, context: MetricContext, ready: Demonstrations) -> RunValues:
    """Return all values of one run. A demonstration has none, because others are measured against it."""
    if case.gold:
        return RunValues(case, dict.fromkeys((metric.name for metric in METRICS), IS_DEMONSTRATION))
    values: dict[str, Value] = {
        **_ratios(case, "APR", "PPR", align),
        **_ratios(case, "APR by checklist", "PPR by checklist", align_items),
        **_ratios(case, "APR of raw matches", "PPR of raw matches", align_raw),
        "CT": _seconds(case),
        "CT without waiting": _agent_seconds(case),
        "CPT": _price(case),
        "TCR": _tcr_by_demonstration(case, demonstrations(case, context.gold.get(case.task.id, ())), ready),
        "TCR by nodes": _tcr_by_nodes(case),
        "Success Signal": "without a score" if case.success_score is None else float(case.success_score > PASSED),
    }
    return RunValues(case, values)


def _ratios(case: MeasuredRun, apr: str, ppr: str, how: Align) -> dict[str, Value]:
    """Return both ratios under their names, by one reading of the paper."""
    why = _why_unrated(case)
    alignment = why if why or case.nodes is None else path_taken(case.task.tdg, case.nodes, how)
    if isinstance(alignment, str):
        return {apr: alignment, ppr: alignment}
    return {apr: alignment.apr, ppr: _value_or_reason(alignment.ppr, "without a flexible node on the path")}


def path_taken(tdg: Tdg, steps: Steps, how: Align = align) -> PathAlignment | str:
    """Return the path that fits a run's rated nodes best, or a reason if an unrated node could change it."""
    if not tdg.nodes:
        return "without a graph"
    try:
        alignment = how(tdg, steps)
        # If the best case for unrated nodes gives the same values, they cannot matter.
        best = how(tdg, _best_case_steps(tdg, steps))
    except ValueError as error:
        return f"with {error}"
    is_settled = not alignment.unrated and (alignment.apr, alignment.ppr) == (best.apr, best.ppr)
    return alignment if is_settled else "with a node unrated that would count"


def _best_case_steps(tdg: Tdg, steps: Steps) -> Steps:
    """Return steps with all unrated nodes assumed completed, before everything else."""
    open_ones = [node.id for node in tdg.walk() if not node.alternatives and node.id not in steps]
    return {**steps, **dict.fromkeys(open_ones, -1)} if open_ones else steps


def _why_unrated(case: MeasuredRun) -> str:
    if not case.task.tdg.nodes:
        return "whose task has no graph"
    return "not rated" if case.nodes is None else ""


def _tcr_by_nodes(case: MeasuredRun) -> Value:
    """Return TCR with the graph's own reference path: the share of completed nodes of its first path."""
    why = _why_unrated(case)
    if why or case.nodes is None:
        return why
    try:
        path = first_path(case.task.tdg)
    except ValueError as error:
        return f"with {error}"
    if not path:
        return "with no unit instruction in the graph"
    completed_nodes = fulfilled_nodes(case.task.tdg, case.nodes).intersection(path)
    if completed_nodes != fulfilled_nodes(case.task.tdg, _best_case_steps(case.task.tdg, case.nodes)).intersection(
        path
    ):
        return "with a node unrated that would count"
    return len(completed_nodes) / len(path)


def _tcr_by_demonstration(case: MeasuredRun, golds: Sequence[MeasuredRun], ready: Demonstrations) -> Value:
    """Return TCR, the best of several demonstrations: the share of its actions that the run took in their order."""
    if not golds:
        return NOT_DEMONSTRATED
    matches = [ready.match(case, gold) for gold in golds]
    return max(one.common / one.steps for one in matches)


def _seconds(case: MeasuredRun) -> Value:
    if case.status == "open":
        return "not ended"
    return _value_or_reason(case.seconds, "without times")


def _agent_seconds(case: MeasuredRun) -> Value:
    """Return the time that the agent itself took."""
    whole = _seconds(case)
    if isinstance(whole, str):
        return whole
    if case.waited is None:
        return "without the person's times"
    # A source whose waiting exceeds its own total cannot be trusted.
    return whole - case.waited if case.waited <= whole else "with more waiting than time"


def _price(case: MeasuredRun) -> Value:
    if case.status == "open":
        return "not ended"
    whole = case.usage.cost if case.usage else None
    if whole is None:
        return "without a known price"
    step_costs = [step.usage.cost for step in case.steps if step.usage and has_tokens(step.usage)]
    known_costs = [cost for cost in step_costs if cost is not None]
    # A total that equals the sum of the known prices has no price for the other answers.
    in_part = len(known_costs) < len(step_costs) and isclose(whole, sum(known_costs))
    return "with a price for a part only" if in_part else whole


def _value_or_reason(value: float | None, why: str) -> Value:
    return why if value is None else value
