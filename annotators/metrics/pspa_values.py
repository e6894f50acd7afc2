"""What one run comes to by PSPA-Bench (2.3, Table 6), or why it comes to nothing, metric by metric."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple

from annotators.metrics import Context
from annotators.metrics.dac_runs import Demonstrations, demonstrations
from annotators.metrics.tdg import Aligned, align, first_path, fulfilled
from lab.case import Case

Value = float | str
"""A number, or in words what the runs are that have none."""
PASSED = 0.99
"""A run succeeded whose score is above this."""


class Metric(NamedTuple):
    """One of the paper's metrics; `none` says of a group that no run of it has a value."""

    name: str
    unit: Literal["share", "seconds", "usd"]
    none: str
    note: str = ""
    delta: bool = False


_UNTIMED = "no run here tells how long it took"
_UNRATED = "no run here has rated nodes of a task's graph"
METRICS = (
    Metric("APR", "share", _UNRATED, delta=True),
    Metric("PPR", "share", f"{_UNRATED} and a flexible one on its path", delta=True),
    Metric("CT", "seconds", _UNTIMED, delta=True),
    Metric("CT without waiting", "seconds", _UNTIMED, "less what went by while a person was asked", delta=True),
    Metric("CPT", "usd", "no run here has a known price", delta=True),
    Metric("TCR", "share", "no run here is of a task that a person has shown", "of a demonstration's steps, in order"),
    Metric("TCR by nodes", "share", _UNRATED, "of the path that a graph declares first"),
    Metric("Success Signal", "share", "no run here has a score", f"score above {PASSED}"),
)


class Valued(NamedTuple):
    """A run and its value of each metric by name."""

    case: Case
    values: Mapping[str, Value]


def valued(case: Case, context: Context, ready: Demonstrations) -> Valued:
    """All values of one run; a demonstration has none, since it is what others are measured against."""
    if case.gold:
        return Valued(case, dict.fromkeys((metric.name for metric in METRICS), "demonstrations themselves"))
    aligned = _aligned(case)
    values: dict[str, Value] = {
        "APR": aligned if isinstance(aligned, str) else aligned.apr,
        "PPR": aligned if isinstance(aligned, str) else _or(aligned.ppr, "runs whose path has no flexible node"),
        "CT": _seconds(case),
        "CT without waiting": _working(case),
        "CPT": _price(case),
        "TCR": _shown(case, demonstrations(case, context.gold.get(case.task.id, ())), ready),
        "TCR by nodes": _along_first(case),
        "Success Signal": "runs without a score" if case.score is None else float(case.score > PASSED),
    }
    return Valued(case, values)


def _aligned(case: Case) -> Aligned | str:
    why = _unrated(case)
    if why or case.nodes is None:
        return why
    try:
        aligned = align(case.task.tdg, case.nodes)
    except ValueError as error:
        return f"runs where {error}"
    return "runs with a node on their path that nobody has rated" if aligned.unrated else aligned


def _unrated(case: Case) -> str:
    if not case.task.tdg.nodes:
        return "runs of tasks without a graph"
    return "runs whose nodes nobody has rated" if case.nodes is None else ""


def _along_first(case: Case) -> Value:
    """TCR where the reference path is the graph's own: the share of its first path's nodes that are completed."""
    why = _unrated(case)
    if why or case.nodes is None:
        return why
    try:
        path = first_path(case.task.tdg)
    except ValueError as error:
        return f"runs where {error}"
    if not path:
        return "runs where the graph has no unit instruction"
    if any(id not in case.nodes for id in path):
        return "runs with a node on the first path that nobody has rated"
    done = fulfilled(case.task.tdg, case.nodes)
    return sum(id in done for id in path) / len(path)


def _shown(case: Case, golds: Sequence[Case], ready: Demonstrations) -> Value:
    """TCR: the share of a demonstration's actions that the run took in their order; of several the best."""
    if not golds:
        return "runs of tasks that nobody has shown"
    return max(common / steps for common, steps in (ready.common(case, gold) for gold in golds))


def _seconds(case: Case) -> Value:
    if case.status == "open":
        return "runs that have not ended"
    return _or(case.seconds, "runs whose source tells no times")


def _working(case: Case) -> Value:
    """The time that the agent itself took."""
    whole = _seconds(case)
    if isinstance(whole, str):
        return whole
    return "runs that do not tell how long their person took" if case.waited is None else whole - case.waited


def _price(case: Case) -> Value:
    if case.status == "open":
        return "runs that have not ended"
    paid = [step.usage.cost for step in case.steps if step.usage and step.usage.prompt_tokens is not None]
    if None in paid and any(cost is not None for cost in paid):
        return "runs whose price is known only in part"
    return _or(case.usage.cost if case.usage else None, "runs without a known price")


def _or(value: float | None, why: str) -> Value:
    return why if value is None else value
