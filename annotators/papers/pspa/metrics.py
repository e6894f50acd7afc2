"""PSPA-Bench's numbers (2.3, 3.2, Table 6): APR, PPR, CT, CPT, their changes, and E.1's TCR and success signal."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence

import msgspec

from annotators.papers.dac.runs import Demonstrations
from annotators.papers.metrics import LeftOutTally, MetricContext, PaperNumber, mean
from annotators.papers.pspa.run_values import METRICS, Metric, RunValues, run_values
from lab.core.run.measured_run import MeasuredRun

Changes = tuple[list[float], tuple[tuple[str, int], ...]]
"""Each pair's change, and the number of runs left out, by reason."""
MEMORY = "model+memory:"
"""Beginning of the id of an agent with memory. Without memory it begins with `model:`."""


def later_minus_first(runs: Sequence[RunValues], metric: str) -> Changes:
    """Return the last run's value minus the first's for each agent, task and person with at least two runs (Table 6).

    Runs are in the order of their attempts, and of their start within one. Runs without a value are left out, so first
    and last are among those that have one.
    """
    out: dict[str, int] = defaultdict(int)
    series: dict[Hashable, list[tuple[tuple[int, str, str], float]]] = defaultdict(list)
    for case, value in _known_values(runs, metric, out):
        key = (case.agent.kind, case.agent.identity, case.task.id, case.persona_id)
        series[key].append(((case.attempt, case.started, case.id), value))
    differences = []
    for one in series.values():
        if len(one) < 2:
            out["without another by the same agent for the same task and person"] += 1
        else:
            # Entries sort by attempt, start and id.
            differences.append(max(one)[1] - min(one)[1])
    return differences, tuple(out.items())


def with_minus_without(runs: Sequence[RunValues], metric: str) -> Changes:
    """Return the value with experience minus that without, for each agent, task and person with both (3.2).

    The task's trait `experience` states the side of a run (`with`, `without`), else its agent does: `model+memory:NAME`
    with, `model:NAME` without. Several runs of one side count by their mean. For an agent with memory the first attempt
    counts only if it is the only one, because it has nothing yet to remember.
    """
    out: dict[str, int] = defaultdict(int)
    sides: dict[Hashable, dict[bool, list[tuple[bool, float]]]] = defaultdict(lambda: {True: [], False: []})
    for case, value in _known_values(runs, metric, out):
        side = has_experience(case)
        if side is None:
            out["with nothing told of experience"] += 1
        else:
            sides[_agent(case), case.task.id, case.persona_id][side].append((_is_first_with_memory(case), value))
    differences = []
    for one in sides.values():
        if one[True] and one[False]:
            later_values = [value for beginner, value in one[True] if not beginner] or [value for _, value in one[True]]
            if len(later_values) < len(one[True]):
                out["before there was anything to remember"] += len(one[True]) - len(later_values)
            differences.append(_mean(later_values) - _mean([value for _, value in one[False]]))
        else:
            out["with no such run on the other side"] += len(one[True]) + len(one[False])
    return differences, tuple(out.items())


def has_experience(case: MeasuredRun) -> bool | None:
    """Return True if a run was made with experience, or None if unknown."""
    experience = case.task.traits.get("experience", "").strip().casefold()
    if experience in ("with", "without"):
        return experience == "with"
    if case.agent.id.startswith(MEMORY):
        return True
    return False if case.agent.id.startswith("model:") else None


def _is_first_with_memory(case: MeasuredRun) -> bool:
    return case.attempt == 1 and case.agent.id.startswith(MEMORY) and not case.task.traits.get("experience")


def _known_values(runs: Iterable[RunValues], metric: str, out: dict[str, int]) -> Iterable[tuple[MeasuredRun, float]]:
    for case, values in runs:
        value = values[metric]
        if isinstance(value, str):
            out[value] += 1
        else:
            yield case, value


def _agent(case: MeasuredRun) -> str:
    """Return the agent's identity, the same with and without memory."""
    agent = case.agent
    if agent.id.startswith(MEMORY):
        agent = msgspec.structs.replace(agent, id=f"model:{agent.id.removeprefix(MEMORY)}")
    return agent.identity


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)


__all__ = ["DEFINITIONS", "measure"]

TRAITS = ("complexity", "clarity", "scenario")
"""Traits of a task that break down tables (Tables 2 and 3)."""
_DELTAS = (
    ("later minus first", later_minus_first, "no agent did a task for a person twice here"),
    ("with minus without experience", with_minus_without, "no agent did a task here with and without experience"),
)


def measure(cases: Sequence[MeasuredRun], context: MetricContext) -> list[PaperNumber]:
    """Return each metric as mean over runs and its changes as means over pairs, whole and by the traits in `TRAITS`.

    A change above 0 is an improvement of APR and PPR, and a deterioration of CT and CPT.
    """
    ready = Demonstrations.for_context(context)
    runs = [run_values(case, context, ready) for case in cases]
    numbers = list(_numbers(runs, ""))
    for trait in TRAITS:
        for value in sorted({run.case.task.traits[trait] for run in runs if run.case.task.traits.get(trait)}):
            some = [run for run in runs if run.case.task.traits.get(trait) == value]
            numbers += [number for number in _numbers(some, f"{trait} {value}") if number.value is not None]
    return numbers


def _numbers(runs: Sequence[RunValues], part: str) -> Iterator[PaperNumber]:
    for metric in METRICS:
        yield _mean_of(runs, metric, part)
    for metric in METRICS:
        if metric.delta:
            yield from _changes(runs, metric, part)


def _mean_of(runs: Sequence[RunValues], metric: Metric, part: str) -> PaperNumber:
    tally = LeftOutTally()
    measured_runs = tally.filter(runs, lambda run: value if isinstance(value := run.values[metric.name], str) else "")
    values = [value for run in measured_runs if not isinstance(value := run.values[metric.name], str)]
    undefined = "" if values else metric.none
    return PaperNumber(
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


def _changes(runs: Sequence[RunValues], metric: Metric, part: str) -> Iterator[PaperNumber]:
    for name, change, none in _DELTAS:
        values, out = change(runs, metric.name)
        parts = f"{part}, {name}" if part else name
        undefined = "" if values else none
        yield PaperNumber(
            "pspa", f"Δ{metric.name}", mean(values), metric.unit, len(values), "pairs", parts, "", out, undefined
        )


_MORE = "Above 0 is better."
_LESS = "Below 0 is better."

DEFINITIONS: Mapping[str, str] = {
    "APR": (
        "A-process ratio: completed unit instructions / all unit instructions on the path that the run took, as a mean "
        "over runs (2.3, Table 6). The path is the one with most completed nodes; ties go to more completed flexible "
        "ones, then fewer nodes, then the earliest completed ones (eq. 1, Algorithm 1), at last to the one declared "
        "first. A node whose required node is not completed is not completed (Prompt 2); of required nodes that no "
        "path holds together any one will do, so that path B is not punished for path A. A node that holds paths is "
        "not counted, what is on them is; runs where an unrated node could change the value are left out."
    ),
    "PPR": (
        "P-process ratio: completed flexible unit instructions / all flexible ones on the path that APR was taken of, "
        "as a mean over runs (2.3, Table 6). A run whose path has no flexible node is left out, since 0 of 0 is "
        "neither success nor failure."
    ),
    "APR by checklist": (
        "APR over the items of the paper's checklists (E.4), where a step with several paths is an item itself: "
        "completed where any of its paths is (Prompt 2). 2.3 counts minimal actions, which such a step is none of, so "
        "APR leaves it out; a judge that fills in a checklist marks it."
    ),
    "PPR by checklist": (
        "PPR over the same items: a step with several paths that the checklist calls flexible counts as one, as "
        "Navigate to Cart Page of Checklist 1 does, whose own steps are all fixed."
    ),
    "APR of raw matches": (
        "APR with path and completed nodes by matches alone, as Algorithm 1 counts them (E.2). Prompt 2 has a node "
        "whose required node is not completed fall before the path is chosen, as APR has it: the paper does not say "
        "which of the two goes first, and where they take two paths the two numbers are of two paths."
    ),
    "PPR of raw matches": "PPR on the path, and of the matches, of APR of raw matches.",
    "CT": (
        "Completion time: seconds from a run's first event to its last, or what its source says it took, as a mean "
        "over runs (2.3, Table 6). Failed runs count like others, as the paper makes no exception."
    ),
    "CT without waiting": (
        "CT less the time in which a question was open or the run was paused: the agent's own time. The paper has no "
        "person to wait for, so this is the value to lay beside its CT. Runs whose source does not tell how long "
        "answers took are left out, and those that never asked waited 0 s."
    ),
    "CPT": (
        "Cost per task: US dollars for the model's tokens, as a mean over runs (2.3, Table 6), from each answer's "
        "price or from what the source tells of the whole run. A run with a price for some of its answers only is "
        "left out, since it would look cheaper than it was."
    ),
    "TCR": (
        "Task completion ratio: the share of a demonstration's actions that the run took, in their order (E.1), as a "
        "mean over runs. The paper only speaks of a reference path; here it is a person's demonstration, of several "
        "the one that serves the run best, and the longest common subsequence under DAC-Bench's exact match."
    ),
    "TCR by nodes": (
        "TCR where the reference path is the graph's own (E.1): completed nodes / all nodes of the path that is "
        "declared first, whichever the run took. Where nobody has shown the task this is what APR is compared with."
    ),
    "Success Signal": (
        "The share of runs that succeeded (E.1). The paper does not say who decides; here it is the run's score above "
        "0.99, as in KnowU-Bench."
    ),
    "ΔAPR": (
        "The change of APR, as a mean over pairs, two ways. Later minus first: the last value minus the first of an "
        "agent that did one task for one person at least twice, in the order of attempts (2.3, Table 6); the paper's "
        "later task may be another, here it is the same, so that only the agent has changed. With minus without "
        "experience: for each agent, task and person the mean with minus the mean without (3.2), as the task's trait "
        "`experience` tells, or else whether the agent keeps a memory, whose first attempt does not count where there "
        f"are later ones. Both runs of a pair must be in one group. {_MORE}"
    ),
    "ΔPPR": f"The change of PPR, both ways as ΔAPR. {_MORE}",
    "ΔCT": f"The change of CT, both ways as ΔAPR. {_LESS}",
    "ΔCT without waiting": f"The change of CT without waiting, both ways as ΔAPR. {_LESS}",
    "ΔCPT": f"The change of CPT, both ways as ΔAPR. {_LESS}",
}
