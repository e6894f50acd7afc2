"""Groups of runs, and each group's numbers by paper."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

import msgspec

from annotators.papers.metrics import DEFAULTS, PAPERS, MetricTerms, PaperNumber, context_of, measures
from lab.core.errors import LabError
from lab.core.run.measured_run import MeasuredRun
from lab.core.text.suggestion import suggestion

KEYS: Mapping[str, Callable[[MeasuredRun], str]] = {
    "agent": lambda case: case.agent.identity,
    "model": lambda case: case.agent.model or (case.source.model if case.source else "") or case.agent.id,
    "task": lambda case: case.task.id,
    "kind": lambda case: case.task.kind,
    "persona": lambda case: case.persona_id,
    "user": lambda case: case.user.id if case.user else "",
    "source": lambda case: case.source.format if case.source else "hitlab",
    "attempt": lambda case: str(case.attempt),
    "apps": lambda case: str(len(case.task.apps)) if case.task.apps else "",
    "log": lambda case: case.conditions.log,
    "mirror": lambda case: "yes" if case.conditions.mirror else "no",
    "seat": lambda case: case.conditions.seat,
    "device": lambda case: case.device.model or case.device.kind,
}
"""Keys by which runs can be grouped, in addition to the traits of their tasks."""
NONE = "(not told)"
"""Group value of runs without the key."""


class Group(msgspec.Struct, frozen=True):
    """Runs with the same values of the grouping keys, and their numbers."""

    by: dict[str, str]
    runs: int
    numbers: tuple[PaperNumber, ...]


def measure_groups(
    cases: Sequence[MeasuredRun],
    by: Sequence[str] = (),
    papers: Iterable[str] = PAPERS,
    terms: MetricTerms = DEFAULTS,
    *,
    demonstrations: Iterable[MeasuredRun] = (),
    beside: Callable[[Sequence[MeasuredRun]], Iterable[PaperNumber]] = lambda cases: (),
) -> list[Group]:
    """Return each group's numbers, sorted by the groups' values. Without `by` all runs are one group.

    Demonstrations are references for all groups, and `demonstrations` adds some that are in no group. `beside` makes
    numbers that precede the papers'. Raise `LabError` if no run has a key of `by`.
    """
    if not cases:
        numbers = tuple(beside(cases)) if not by else ()
        return [Group({}, 0, numbers)] if numbers else []
    keys = {name: _key_function(name, cases) for name in by}
    groups: dict[tuple[str, ...], list[MeasuredRun]] = {}
    for case in cases:
        groups.setdefault(tuple(key(case) or NONE for key in keys.values()), []).append(case)
    ids = {case.id for case in cases}
    # One context for all groups, so that a demonstration serves runs of other groups too.
    context = context_of((*cases, *(case for case in demonstrations if case.id not in ids)), terms)
    measure = measures(papers)
    return [
        Group(
            by=dict(zip(keys, values, strict=True)),
            runs=len(group),
            numbers=(*beside(group), *(number for one in measure.values() for number in one(group, context))),
        )
        for values, group in sorted(groups.items(), key=lambda item: [_rank(value) for value in item[0]])
    ]


def _key_function(name: str, cases: Sequence[MeasuredRun]) -> Callable[[MeasuredRun], str]:
    if name in KEYS:
        return KEYS[name]
    traits = {trait for case in cases for trait in case.task.traits}
    if name in traits:
        return lambda case: case.task.traits.get(name, "")
    group_keys = [*KEYS, *sorted(traits - KEYS.keys())]
    problem = (
        f"runs cannot be grouped by {name!r}; they can by {', '.join(group_keys)}{suggestion(name, group_keys) or '.'}"
    )
    raise LabError("metrics", problem, code=2)


def _rank(value: str) -> tuple[bool, float, str]:
    """Return a sort key: numbers by size, then words, then unknown values."""
    number = float(value) if value.isascii() and value.isdigit() else float("inf")
    return value == NONE, number, value
