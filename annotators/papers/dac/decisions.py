"""Decisions of runs where their task forks: DAC-Bench's decision accuracy by depth (2.6, Table 3)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from annotators.papers.dac.runs import NOT_DEMONSTRATED, DemonstrationMatch, MatchedRun
from annotators.papers.metrics import LeftOutTally, MetricContext, PaperNumber, demonstrations_of_task, mean
from lab.core.run.measured_run import MeasuredRun
from lab.core.task.task import Branch


class _GatedDecision(NamedTuple):
    depth: int
    right: bool


def decisions(runs: Sequence[tuple[MeasuredRun, MatchedRun | None]], context: MetricContext) -> Iterator[PaperNumber]:
    """Yield decision accuracy in two forms, each whole, by depth, and for all deeper than the first together.

    The first compares the option that raters saw the run take with the right one of the task, else with those of its
    demonstrations. The second is exact match at the step at which a demonstration decides, which is where raters placed
    the graph's node with the branch's id.
    """
    yield from _numbers(
        "Decision Accuracy", *_by_option([case for case, _ in runs], context), "no branch here is rated"
    )
    step_decisions, tally = _by_step(runs)
    yield from _numbers("Decision EM", step_decisions, tally, "no demonstration here says at which step it decides")


def _by_option(cases: Sequence[MeasuredRun], context: MetricContext) -> tuple[list[_GatedDecision], LeftOutTally]:
    tally = LeftOutTally()
    reached_decisions = []
    for case in cases:
        if case.gold:
            continue
        for branch in case.task.branches:
            right = _right_options(branch, demonstrations_of_task(case, context.gold.get(case.task.id, ())))
            if not right:
                tally.add("without a right option told")
            elif case.branches is None:
                tally.add("not rated")
            elif branch.id not in case.branches:
                tally.add("not reached")
            else:
                reached_decisions.append(_GatedDecision(branch.depth, plain(case.branches[branch.id]) in right))
    return reached_decisions, tally


def _right_options(branch: Branch, golds: Sequence[MeasuredRun]) -> set[str]:
    """Return the task's own right option, else all that its demonstrations took."""
    if branch.right:
        return {plain(branch.right)}
    return {plain(gold.branches[branch.id]) for gold in golds if gold.branches and branch.id in gold.branches}


def plain(option: str) -> str:
    """Return an option for comparison, without case and outer blanks."""
    return option.strip().casefold()


def _by_step(runs: Sequence[tuple[MeasuredRun, MatchedRun | None]]) -> tuple[list[_GatedDecision], LeftOutTally]:
    tally = LeftOutTally()
    reached_decisions = []
    for case, match in runs:
        for branch in () if case.gold else case.task.branches:
            place = _deciding_step(match.em, branch) if match else None
            if match and place is not None:
                reached_decisions.append(_GatedDecision(branch.depth, bool(match.em.exact[place])))
            else:
                tally.add("placed at no step by a demonstration" if match else NOT_DEMONSTRATED)
    return reached_decisions, tally


def _deciding_step(against: DemonstrationMatch, branch: Branch) -> int | None:
    step = (against.gold.nodes or {}).get(branch.id)
    return against.kept.index(step) if step in against.kept else None


def _numbers(
    metric: str, decision_list: Sequence[_GatedDecision], tally: LeftOutTally, none: str
) -> Iterator[PaperNumber]:
    depths = sorted({one.depth for one in decision_list})
    parts = [
        ("", decision_list),
        *((f"depth {depth}", [one for one in decision_list if one.depth == depth]) for depth in depths),
    ]
    # Table 3 also reports all deeper decisions together.
    if any(depth > 1 for depth in depths):
        parts.append(("deeper", [one for one in decision_list if one.depth > 1]))
    for part, some in parts:
        value = mean([float(one.right) for one in some])
        out, why = (() if part else tally.counts), "" if some else none
        yield PaperNumber("dac", metric, value, "share", len(some), "decisions", part, "", out, why)
