"""A run as KnowU-Bench's numbers see it: its split, role, score, steps and queries."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from annotators.papers.knowu.tasks import Split, difficulty_of, split_of
from annotators.papers.metrics import LeftOutTally, MetricTerms
from lab.core.run.measured_run import MeasuredRun

DONE = 0.99
"""A score above it is a success."""
SOURCE = "knowu"
"""Format of imported KnowU-Bench and MobileWorld runs."""
_SPLITS: dict[str, Split] = {
    "general": "general",
    "personalized": "personalized",
    "preference": "personalized",
    "proactive": "proactive",
    "routine": "proactive",
}


class Hybrid(NamedTuple):
    """A run's lambda * rule + (1 - lambda) * llm, or the reason `why` it has none."""

    value: float | None
    why: str = ""


class KnowuRun(NamedTuple):
    """One run. `score` is None if it has no result, `success` if neither people nor a score decide it.

    `steps` counts everything that the agent proposed, as the scripts count entries of traj.json. `acts` counts executed
    actions, including a last answer or status. `queries` counts its questions to the person, including one left open at
    the end.
    """

    case: MeasuredRun
    split: Split
    difficulty: str
    role: str
    score: float | None
    success: float | None
    hybrid: Hybrid
    steps: int
    acts: int
    queries: int

    @property
    def succeeded(self) -> bool:
        return self.success is not None and self.success > DONE

    @property
    def mobileworld(self) -> bool:
        """True for MobileWorld, whose tasks have no split, rather than KnowU-Bench."""
        return not self.split and self.case.source is not None and self.case.source.format == SOURCE


def runs_of(cases: Sequence[MeasuredRun], terms: MetricTerms, out: LeftOutTally) -> list[KnowuRun]:
    """Return the measured runs: those of agents that have ended."""
    return [_run(case, terms) for case in out.filter(cases, _why_not)]


def _why_not(case: MeasuredRun) -> str:
    return "demonstrated by a person" if case.gold else "not ended" if case.status == "open" else ""


def _run(case: MeasuredRun, terms: MetricTerms) -> KnowuRun:
    steps = case.steps
    queries, acts = case.open_questions, 0
    for step in steps:
        queries += step.proposed.kind == "ask_user"
        acts += step.action is not None
    hybrid = hybrid_of(case, terms)
    # If rules alone decide, S is binary (3.3), unlike the score that came with the run.
    own = rule_of(case, terms) if is_programmatic(case, terms) else case.score
    score = hybrid.value if hybrid.value is not None else own
    is_judged = "success" in case.marks or "success" in case.unsettled
    return KnowuRun(
        case=case,
        split=split_of_case(case),
        difficulty=case.task.traits.get("difficulty", "").lower() or difficulty_of(case.task.id),
        role=case.persona_id,
        score=score,
        success=case.success_score if is_judged else score,
        hybrid=hybrid,
        steps=len(steps),
        acts=acts,
        queries=queries,
    )


def split_of_case(case: MeasuredRun) -> Split:
    """Return the split by the task's trait `split`, else by its kind, else for imported runs by the task's name.

    Imported runs all have the kind general.
    """
    split = _SPLITS.get(case.task.traits.get("split", "").lower())
    if split is not None:
        return split
    if case.task.kind != "general":
        return case.task.kind
    if case.source is None:
        return "general"
    return split_of(case.task.id) if case.source.format == SOURCE else ""


def hybrid_of(case: MeasuredRun, terms: MetricTerms) -> Hybrid:
    """Return the hybrid score (3.4).

    lambda is the task's trait `lambda`, else its `rule_weight`, else the term of that name. S_llm is the settled mark
    `llm` (raters' rubric), else the verdict `llm`. If lambda is 1 or 0 the other score is not needed.
    """
    weight = weight_of(case, terms)
    if weight is None:
        return Hybrid(None, "of a task without lambda")
    if not 0 <= weight <= 1:
        return Hybrid(None, "with a lambda not from 0 to 1")
    rule = rule_of(case, terms)
    llm = _mark_or_verdict(case, "llm")
    if rule is None and weight > 0:
        return Hybrid(None, "no rule score")
    if llm is None and weight < 1:
        return Hybrid(None, "no judge's score")
    return Hybrid(weight * (rule or 0.0) + (1 - weight) * (llm or 0.0))


def weight_of(case: MeasuredRun, terms: MetricTerms) -> float | None:
    """Return the task's lambda: its trait, else its field, else the common one, or None if unknown."""
    weight = _as_float(case.task.traits.get("lambda"))
    weight = case.task.rule_weight if weight is None else weight
    return terms.rule_weight if weight is None else weight


def is_programmatic(case: MeasuredRun, terms: MetricTerms) -> bool:
    """Return True if rules alone decide (3.4).

    That is if lambda is 1. Without a lambda, rules must have been checked, no judge may have scored the run, and the
    task must not be personalized, because only personalized tasks may have a judge beside their rules.
    """
    weight = weight_of(case, terms)
    if weight is not None:
        return weight == 1
    return bool(case.checks) and _mark_or_verdict(case, "llm") is None and split_of_case(case) != "personalized"


def rule_of(case: MeasuredRun, terms: MetricTerms) -> float | None:
    """Return S_rule: the verdict `rule`, else the run's own score if rules were checked, or None if neither exists.

    It is 0 or 1 if rules alone decide, and a share of the rules only if a judge's score is combined with it (3.3).
    """
    rule = _mark_or_verdict(case, "rule")
    rule = case.score if rule is None and case.checks else rule
    return float(rule > DONE) if rule is not None and is_programmatic(case, terms) else rule


def _mark_or_verdict(case: MeasuredRun, name: str) -> float | None:
    mark = case.marks.get(name)
    verdict = case.verdict(name) if mark is None and name not in case.unsettled else None
    value = _as_float(mark if verdict is None else verdict.value)
    return value if value is not None and 0 <= value <= 1 else None


def _as_float(value: object) -> float | None:
    """Return a number, also from text, or None for anything else."""
    try:
        return float(value) if isinstance(value, str | int | float) else None
    except (ValueError, OverflowError):
        return None
