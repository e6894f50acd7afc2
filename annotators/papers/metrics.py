"""The papers' own numbers, from runs and what was settled about them: pure functions over `MeasuredRun`s."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from importlib import import_module
from typing import Any, Literal, NamedTuple, TypeVar

import msgspec

from lab.core.measured_run import MeasuredRun

PAPERS = ("pspa", "dac", "knowu", "memgui", "fingertip")
"""In this order they are told."""

T = TypeVar("T")


class Number(msgspec.Struct, frozen=True, omit_defaults=True):
    """One number with what it rests on.

    `metric` is the paper's own abbreviation, `part` what of it (an action type, a depth, a split; empty for all),
    `version` tells a paper's definition from what its published script computes where the two differ. `n` counts
    what `of` names (runs, tasks, steps, questions, pairs); `left_out` says what is not in it and why, with counts.
    `value` is None where `undefined` says why, and is then never printed as a number.
    """

    paper: str
    metric: str
    value: float | None
    unit: Literal["share", "count", "ratio", "seconds", "usd", "score"]
    n: int
    of: str
    part: str = ""
    version: Literal["", "paper", "script"] = ""
    left_out: tuple[tuple[str, int], ...] = ()
    undefined: str = ""
    note: str = ""


class MetricTerms(NamedTuple):
    """What a person may set of how numbers are made; each is told beside the numbers that it changed.

    `step_budget` is in golden steps (MemGUI A.9.6: 1.4, and one step more), `token_budget` in tokens a run,
    `golden_tokens` in tokens a golden step (MemGUI A.9.6: 9,507). `rule_weight` is KnowU's lambda where a task has
    none of its own. `embed` turns texts into vectors (FingerTip's Sim1), `embedder` is its name. `profiles` are
    KnowU's profiles by role, for imported runs that do not carry their persona.
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
    """What a group's numbers are measured against: `gold` are the demonstrations of each task, from all groups.

    `ready` keeps what several papers work out of the same runs, by its name, so that it is worked out once.
    """

    gold: Mapping[str, Sequence[MeasuredRun]]
    terms: MetricTerms = DEFAULTS
    ready: dict[str, Any] | None = None


Measure = Callable[[Sequence[MeasuredRun], MetricContext], list[Number]]


def measures(papers: Iterable[str] = PAPERS) -> dict[str, Measure]:
    """Each paper's `measure`: the numbers of one group of runs, those that do not apply among them with the reason."""
    return {paper: import_module(f"annotators.papers.{paper}.metrics").measure for paper in papers}


def definitions(papers: Iterable[str] = PAPERS) -> dict[str, Mapping[str, str]]:
    """By paper, each of its metrics with what it is: the formula in words, the choices made where the paper makes none,
    and where it stands in the paper or its script. A metric that has versions has one text that tells them apart."""
    return {paper: import_module(f"annotators.papers.{paper}.metrics").DEFINITIONS for paper in papers}


def context_of(cases: Iterable[MeasuredRun], terms: MetricTerms = DEFAULTS) -> MetricContext:
    """The context of all runs that are measured together, whatever order they came into the file in.

    Demonstrations stand in the order of their ids: an imported run's follows from its content, a recorded one's from
    its time.
    """
    gold: dict[str, list[MeasuredRun]] = {}
    for case in sorted((case for case in cases if case.gold), key=lambda case: case.id):
        gold.setdefault(case.task.id, []).append(case)
    return MetricContext(gold, terms, {})


def of_task(case: MeasuredRun, golds: Sequence[MeasuredRun]) -> list[MeasuredRun]:
    """Those of what a run was asked: sources that number their tasks have the same numbers for others.

    A task is known by its id, and where another source names it so, by its words as well, if it has any.
    """
    source = _source(case)
    return [gold for gold in golds if _source(gold) == source or _alike(_words(gold), _words(case))]


def _alike(one: str, other: str) -> bool:
    return one == other or not one or not other


def _source(case: MeasuredRun) -> str:
    return case.source.format if case.source else ""


def _words(case: MeasuredRun) -> str:
    return " ".join(case.task.instruction.casefold().split())


class LeftOutTally:
    """Counts what is left out of a number, by reason."""

    def __init__(self) -> None:
        self._counts: dict[str, int] = {}

    def out(self, reason: str) -> None:
        """One more was left out for this reason."""
        self._counts[reason] = self._counts.get(reason, 0) + 1

    def kept(self, cases: Iterable[T], reason: Callable[[T], str]) -> list[T]:
        """Those for which `reason` is empty; the others are counted."""
        out: list[T] = []
        for case in cases:
            why = reason(case)
            if why:
                self.out(why)
            else:
                out.append(case)
        return out

    @property
    def told(self) -> tuple[tuple[str, int], ...]:
        return tuple(self._counts.items())


def mean(values: Sequence[float]) -> float | None:
    """The arithmetic mean; None of nothing."""
    return sum(values) / len(values) if values else None
