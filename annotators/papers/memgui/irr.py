"""MemGUI-Bench's Information Retention Rate: the share of required information that an attempt used correctly."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple, TypeGuard

from lab.core.run.measured_run import MeasuredRun, UnitMark
from lab.core.task.task import InformationUnit

VERDICT = "irr"
"""Verdict with the source's analysis, in its own fields (irr_analysis.json)."""
_INSPECTING_METHODS = frozenset({"task_succeeded", "llm_analysis", ""})
"""The source's methods that inspected units. The others name a reason for having no rate. No method counts as
inspected."""


class Irr(NamedTuple):
    """A rate from 0 to 1, or the reason `why` there is none."""

    value: float | None
    why: str = ""


def irr_of(case: MeasuredRun, done: bool | None) -> Irr:
    """Return an attempt's rate by the four rules (Prompt 8).

    A success is 1. Units that are written out count as marked. A wrong decision is 0, because nobody can see which of
    its units was wrong. An early failure without any used unit is 0. `explicit` marks units that are written out, as
    opposed to those that only steer a decision. In a failed attempt the latter count as not retained. Ratings by people
    (or a judge) have priority over the source's own analysis.
    """
    if done:
        return Irr(1.0)
    if case.units is not None and case.task.units:
        return rate(case.task.units, case.units) if done is False else Irr(None, "not judged")
    verdict = case.verdict(VERDICT)
    if verdict is None:
        return Irr(None, "without rated information units")
    method = verdict.extra.get("evaluation_method") or ""
    if method not in _INSPECTING_METHODS:
        return Irr(None, f"analysed as {str(method)[:40]}")
    total, used_count = verdict.extra.get("total_information_units"), verdict.extra.get("correctly_used_units")
    if _is_count(total) and _is_count(used_count) and 0 < total >= used_count:
        return Irr(used_count / total)
    share = percentage(case)
    return Irr(share) if share is not None else Irr(None, "analysed without a rate")


def rate(units: Sequence[InformationUnit], marks: Mapping[str, UnitMark]) -> Irr:
    """Return the rate of a failed attempt: explicit units used correctly over all units.

    There is none if some units are not rated.
    """
    if any(unit.id not in marks for unit in units):
        return Irr(None, "with some information units not rated")
    return Irr(sum(unit.explicit and marks[unit.id] == "correct" for unit in units) / len(units))


def percentage(case: MeasuredRun) -> float | None:
    """Return the source's own rate, a whole percentage, as 0 to 1."""
    verdict = case.verdict(VERDICT)
    share = verdict.extra.get("irr_percentage") if verdict else None
    return share / 100 if isinstance(share, int | float) and not isinstance(share, bool) and 0 <= share <= 100 else None


def has_analysis(case: MeasuredRun) -> bool:
    """Return True if its source inspected its information units."""
    verdict = case.verdict(VERDICT)
    return verdict is not None and verdict.extra.get("evaluation_method") != "skipped_non_memory_task"


def _is_count(value: object) -> TypeGuard[int]:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0
