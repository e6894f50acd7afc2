"""PSPA-Bench's numbers (2.3, 3.2, Table 6): APR, PPR, CT, CPT, their changes, and E.1's TCR and success signal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from annotators.papers.dac.runs import Demonstrations
from annotators.papers.metrics import LeftOutTally, MetricContext, Number, mean
from annotators.papers.pspa.deltas import later_minus_first, with_minus_without
from annotators.papers.pspa.metric_words import DEFINITIONS
from annotators.papers.pspa.run_values import METRICS, Metric, RunValues, run_values
from lab.core.measured_run import MeasuredRun

__all__ = ["DEFINITIONS", "measure"]

TRAITS = ("complexity", "clarity", "scenario")
"""Traits of a task that break down tables (Tables 2 and 3)."""
_DELTAS = (
    ("later minus first", later_minus_first, "no agent did a task for a person twice here"),
    ("with minus without experience", with_minus_without, "no agent did a task here with and without experience"),
)


def measure(cases: Sequence[MeasuredRun], context: MetricContext) -> list[Number]:
    """Return each metric as mean over runs and its changes as means over pairs, whole and by the traits in `TRAITS`.

    A change above 0 is an improvement of APR and PPR, and a deterioration of CT and CPT.
    """
    ready = Demonstrations.of(context)
    runs = [run_values(case, context, ready) for case in cases]
    numbers = list(_numbers(runs, ""))
    for trait in TRAITS:
        for value in sorted({run.case.task.traits[trait] for run in runs if run.case.task.traits.get(trait)}):
            some = [run for run in runs if run.case.task.traits.get(trait) == value]
            numbers += [number for number in _numbers(some, f"{trait} {value}") if number.value is not None]
    return numbers


def _numbers(runs: Sequence[RunValues], part: str) -> Iterator[Number]:
    for metric in METRICS:
        yield _mean_of(runs, metric, part)
    for metric in METRICS:
        if metric.delta:
            yield from _changes(runs, metric, part)


def _mean_of(runs: Sequence[RunValues], metric: Metric, part: str) -> Number:
    tally = LeftOutTally()
    measured_runs = tally.filter(runs, lambda run: value if isinstance(value := run.values[metric.name], str) else "")
    values = [value for run in measured_runs if not isinstance(value := run.values[metric.name], str)]
    undefined = "" if values else metric.none
    return Number(
        "pspa",
        metric.name,
        mean(values),
        metric.unit,
        len(values),
        "runs",
        part,
        "",
        tally.counts,
        undefined,
        metric.note,
    )


def _changes(runs: Sequence[RunValues], metric: Metric, part: str) -> Iterator[Number]:
    for name, change, none in _DELTAS:
        values, out = change(runs, metric.name)
        parts = f"{part}, {name}" if part else name
        undefined = "" if values else none
        yield Number(
            "pspa", f"Δ{metric.name}", mean(values), metric.unit, len(values), "pairs", parts, "", out, undefined
        )
