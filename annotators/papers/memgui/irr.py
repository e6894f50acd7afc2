"""How much of what it had to remember an attempt used rightly: MemGUI-Bench's Information Retention Rate."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple, TypeGuard

from lab.core.measured_run import MeasuredRun, UnitMark
from lab.core.task import InformationUnit

VERDICT = "irr"
"""The source's analysis, in its own fields (irr_analysis.json)."""
_MEASURED = frozenset({"task_succeeded", "llm_analysis", ""})
"""Its methods that looked at units; the others say why there is no rate. A source that names none has looked."""


class Irr(NamedTuple):
    """A rate from 0 to 1, or `why` there is none."""

    value: float | None
    why: str = ""


def irr_of(case: MeasuredRun, done: bool | None) -> Irr:
    """The four rules (Prompt 8): success is 1; units that are written out count as they are; a decision that came out
    wrong is 0, since nobody can see which unit it got wrong; an early failure, no unit used at all, is 0.

    `explicit` tells units that are written out from those that only steer a decision; in a failed attempt the latter
    count as not retained. Where people (or a judge) rated the units, that is taken; else the source's own analysis.
    """
    if done:
        return Irr(1.0)
    if case.units is not None and case.task.units:
        return rate(case.task.units, case.units) if done is False else Irr(None, "not judged")
    verdict = case.verdict(VERDICT)
    if verdict is None:
        return Irr(None, "without rated information units")
    method = verdict.extra.get("evaluation_method") or ""
    if method not in _MEASURED:
        return Irr(None, f"analysed as {str(method)[:40]}")
    total, used_count = verdict.extra.get("total_information_units"), verdict.extra.get("correctly_used_units")
    if _is_count(total) and _is_count(used_count) and 0 < total >= used_count:
        return Irr(used_count / total)
    share = percentage(case)
    return Irr(share) if share is not None else Irr(None, "analysed without a rate")


def rate(units: Sequence[InformationUnit], marks: Mapping[str, UnitMark]) -> Irr:
    """Of a failed attempt: its explicit units used correctly, over all units; none where some are not rated."""
    if any(unit.id not in marks for unit in units):
        return Irr(None, "with some information units not rated")
    return Irr(sum(unit.explicit and marks[unit.id] == "correct" for unit in units) / len(units))


def percentage(case: MeasuredRun) -> float | None:
    """The source's own rate, a whole percentage, as 0 to 1."""
    verdict = case.verdict(VERDICT)
    share = verdict.extra.get("irr_percentage") if verdict else None
    return share / 100 if isinstance(share, int | float) and not isinstance(share, bool) and 0 <= share <= 100 else None


def analysed(case: MeasuredRun) -> bool:
    """Whether its source looked at its information units."""
    verdict = case.verdict(VERDICT)
    return verdict is not None and verdict.extra.get("evaluation_method") != "skipped_non_memory_task"


def _is_count(value: object) -> TypeGuard[int]:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0
