"""The papers' own numbers, from runs and settled answers about them: pure functions over `MeasuredRun`s."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from importlib import import_module
from typing import Any, Literal, NamedTuple, TypeVar

import msgspec

from lab.core.run.measured_run import MeasuredRun

PAPERS = ("pspa", "dac", "knowu", "memgui", "fingertip")
"""Papers in the order in which they are printed."""

T = TypeVar("T")
MetricUnit = Literal["share", "count", "ratio", "seconds", "usd", "score"]
LeftOut = tuple[tuple[str, int], ...]
"""Counts of excluded things by reason."""


class PaperNumber(msgspec.Struct, frozen=True, omit_defaults=True):
    """One number with its n.

    `metric` is the paper's own abbreviation, `part` a part of it (an action type, a depth, a split; empty for all).
    `version` separates a paper's definition from its published script if the two differ. `n` counts the things named by
    `of` (runs, tasks, steps, questions, pairs). `left_out` counts excluded things by reason. `value` is None if
    `undefined` gives a reason, and is then never printed as a number.
    """

    paper: str
    metric: str
    value: float | None
    unit: MetricUnit
    n: int
    of: str
    part: str = ""
    version: Literal["", "paper", "script"] = ""
    left_out: LeftOut = ()
    undefined: str = ""
    note: str = ""


class MetricTerms(NamedTuple):
    """Settings of metrics. Each is printed beside the numbers that it changed.

    `step_budget` is in golden steps (MemGUI A.9.6: 1.4, and one step more), `token_budget` in tokens per run,
    `golden_tokens` in tokens per golden step (MemGUI A.9.6: 9,507). `rule_weight` is KnowU's lambda for tasks without
    their own. `embed` turns texts into vectors (FingerTip's Sim1), `embedder` is its name. `profiles` are KnowU's
    profiles by role, for imported runs that do not hold their persona.
    """

    step_budget: float | None = None
    token_budget: int | None = None
    rule_weight: float | None = None
    embed: Callable[[Sequence[str]], Sequence[Sequence[float]]] | None = None
    embedder: str = ""
    profiles: Mapping[str, Mapping[str, object]] = {}
    golden_tokens: float | None = None


DEFAULTS = MetricTerms()


class MetricContext(NamedTuple):
    """The references of a group's numbers: `gold` are the demonstrations of each task, from all groups.

    `ready` caches results that several papers need from the same runs, by name.
    """

    gold: Mapping[str, Sequence[MeasuredRun]]
    terms: MetricTerms = DEFAULTS
    ready: dict[str, Any] | None = None


Measure = Callable[[Sequence[MeasuredRun], MetricContext], list[PaperNumber]]


def measures(papers: Iterable[str] = PAPERS) -> dict[str, Measure]:
    """Return each paper's `measure`: all numbers of one group of runs, undefined ones with their reason."""
    # Imported on demand, because the papers' modules import this one.
    return {paper: import_module(f"annotators.papers.{paper}.metrics").measure for paper in papers}


def definitions(papers: Iterable[str] = PAPERS) -> dict[str, Mapping[str, str]]:
    """Return the definitions of each paper's metrics.

    A definition has the formula in words, this project's choices if the paper makes none, and its location in the paper
    or its script. A metric with versions has one text that distinguishes them.
    """
    return {paper: import_module(f"annotators.papers.{paper}.metrics").DEFINITIONS for paper in papers}


def context_of(cases: Iterable[MeasuredRun], terms: MetricTerms = DEFAULTS) -> MetricContext:
    """Return the context of all runs that are measured together, independent of their order in the file.

    Demonstrations are sorted by id: an imported run's id follows from its content, a recorded one's from its time.
    """
    gold: dict[str, list[MeasuredRun]] = {}
    for case in sorted((case for case in cases if case.gold), key=lambda case: case.id):
        gold.setdefault(case.task.id, []).append(case)
    return MetricContext(gold, terms, {})


def demonstrations_of_task(case: MeasuredRun, golds: Sequence[MeasuredRun]) -> list[MeasuredRun]:
    """Return the demonstrations of a run's own task, because different sources number different tasks alike.

    A task is identified by its id. Across sources its instruction must also be the same, if both have one.
    """
    source = _source(case)
    return [
        gold
        for gold in golds
        if _source(gold) == source or _may_be_same(_normalised_instruction(gold), _normalised_instruction(case))
    ]


def _may_be_same(one: str, other: str) -> bool:
    return one == other or not one or not other


def _source(case: MeasuredRun) -> str:
    return case.source.format if case.source else ""


def _normalised_instruction(case: MeasuredRun) -> str:
    return " ".join(case.task.instruction.casefold().split())


class LeftOutTally:
    """Counts exclusions from a number by reason."""

    def __init__(self) -> None:
        self._counts: dict[str, int] = {}

    def add(self, reason: str) -> None:
        """Count one exclusion for this reason."""
        self._counts[reason] = self._counts.get(reason, 0) + 1

    def filter(self, cases: Iterable[T], reason: Callable[[T], str]) -> list[T]:
        """Return the items for which `reason` is empty, and count the others."""
        out: list[T] = []
        for case in cases:
            why = reason(case)
            if why:
                self.add(why)
            else:
                out.append(case)
        return out

    @property
    def counts(self) -> LeftOut:
        return tuple(self._counts.items())


def mean(values: Sequence[float]) -> float | None:
    """Return the arithmetic mean, or None for no values."""
    return sum(values) / len(values) if values else None


def mean_number(
    paper: str,
    metric: str,
    unit: MetricUnit,
    values: Sequence[float],
    part: str = "",
    version: Literal["", "paper", "script"] = "",
    out: LeftOut = (),
    why: str = "",
    note: str = "",
    of: str = "runs",
) -> PaperNumber:
    """Return the mean of values, or an undefined number with the reason `why`.

    Each paper binds its name and its own defaults with `partial`.
    """
    reason = "" if values else why
    return PaperNumber(paper, metric, mean(values), unit, len(values), of, part, version, out, reason, note)


def add_reason(out: LeftOut, reason: str, count: int) -> LeftOut:
    """Return `out` with one more reason if anything was left out for it."""
    return (*out, (reason, count)) if count else out
