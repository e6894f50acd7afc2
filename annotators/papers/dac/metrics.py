"""DAC-Bench's numbers (2.6, Appendix D to G): steps and runs against the demonstrations of their tasks."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

from annotators.papers.dac.decisions import decisions
from annotators.papers.dac.runs import Demonstrations, MatchedRun, demonstrations, why_not_comparable
from annotators.papers.metrics import LeftOutTally, MetricContext, PaperNumber, demonstrations_of_task, mean
from lab.core.run.measured_run import MeasuredRun

__all__ = ["DEFINITIONS", "measure"]

TRAITS = ("level", "structure", "platform", "language")
"""Traits of a task that break down tables (Table 2, Appendix F and G)."""
_LENGTHS = ((2, "2-5"), (6, "6-8"), (9, "9-12"), (13, "13+"))
"""Appendix D's groups of steps, by where each begins."""
_NO_GOLD = "no agent's run here is of a task that a person has demonstrated"
_PREFIX_NOTE = "right steps from the first one on"
_STRETCH_NOTE = "the longest stretch of right steps"
_BY_LENGTH = "weighed by the demonstrations' steps"
_TABLE_2 = f"{_STRETCH_NOTE}; Table 2's GP"
_UNDERIVED = {
    "1a": "no source tells which steps make an atomic instruction, which Appendix D counts here",
    "1b": "no source tells which steps make an atomic instruction, which Appendix D counts here",
    "5a": "Appendix D names a weighting by task length but no formula, and its values fit none",
    "5b": "Appendix D names a weighting by branching and task length but no formula, and its values fit none",
}


class _JudgedRun(NamedTuple):
    case: MeasuredRun
    judged: MatchedRun | None
    why: str


def measure(cases: Sequence[MeasuredRun], context: MetricContext) -> list[PaperNumber]:
    """Return EM, TM, SR, GP and its variants, W-LCS and decision accuracy, whole and in the paper's parts.

    EM and TM are over all steps of the demonstrations together, the others are means over runs. A demonstration's steps
    that a run does not reach count as not matched.
    """
    with_gold = Demonstrations.for_context(context)
    runs = [_judge_run(case, context, with_gold) for case in cases]
    numbers = [*_main_numbers(runs, ""), *_variants(runs, "")]
    if any(run.judged for run in runs):
        numbers += _by_length(runs)
        for trait in TRAITS:
            for value, some in _split_by_trait(runs, context, trait).items():
                # Parts without a value are dropped. The whole states its reason.
                numbers += [number for number in _main_numbers(some, f"{trait} {value}") if number.value is not None]
        numbers += _by_action(runs)
    return [*numbers, *decisions([(run.case, run.judged) for run in runs], context)]


def _judge_run(case: MeasuredRun, context: MetricContext, ready: Demonstrations) -> _JudgedRun:
    golds = context.gold.get(case.task.id, ())
    why = why_not_comparable(case, golds)
    return _JudgedRun(case, None if why else ready.best_matches(case, demonstrations(case, golds)), why)


def _main_numbers(runs: Sequence[_JudgedRun], part: str) -> Iterator[PaperNumber]:
    matches, out = _matched_runs(runs)
    emit_main = _number_maker(part, out)
    steps = sum(one.em.steps for one in matches)
    yield emit_main("EM", _share(sum(sum(one.em.exact) for one in matches), steps), steps, "steps")
    yield emit_main("TM", _share(sum(sum(one.em.typed) for one in matches), steps), steps, "steps")
    yield emit_main("SR", mean([float(one.success) for one in matches]), len(matches), "runs")
    yield emit_main(
        "GP", mean([one.gp.gp for one in matches]), len(matches), "runs", "Appendix D's 2a" if not part else ""
    )
    yield emit_main("W-LCS", mean([one.w_lcs.w_lcs for one in matches]), len(matches), "runs")


def _variants(runs: Sequence[_JudgedRun], part: str) -> Iterator[PaperNumber]:
    """Yield Appendix D's columns other than 2a. The letter b weighs runs by the steps of their demonstration.

    Its "longest common sequence" is read as consecutive, from the first step (3) or anywhere (4, 6): a subsequence is
    never shorter than what EM counts, yet AGUVIS has an EM of 90.29 % and 66.34 % in column 6a (low level).
    """
    matches, out = _matched_runs(runs)
    emit_variant = _number_maker(part, out)
    columns: list[tuple[str, Callable[[MatchedRun], tuple[float, int]], str]] = [
        ("2", lambda one: (one.gp.gp, one.gp.steps), ""),
        ("3", lambda one: (one.gp.prefix, one.gp.steps), _PREFIX_NOTE),
        ("4", lambda one: (one.stretch.stretch, one.stretch.steps), _STRETCH_NOTE),
        ("6", lambda one: (one.stretch.stretch / one.stretch.steps, one.stretch.steps), _TABLE_2),
    ]
    for column, of, note in columns:
        pairs = [of(one) for one in matches]
        unit = "share" if column in "26" else "count"
        if column != "2":
            yield emit_variant(f"GP {column}a", mean([value for value, _ in pairs]), len(pairs), "runs", note, unit)
        weight = sum(steps for _, steps in pairs)
        whole = _share(sum(value * steps for value, steps in pairs), weight)
        yield emit_variant(f"GP {column}b", whole, len(pairs), "runs", _BY_LENGTH, unit)
    if not part:
        for name, why in _UNDERIVED.items():
            yield PaperNumber("dac", f"GP {name}", None, "share", 0, "runs", undefined=why)


def _by_length(runs: Sequence[_JudgedRun]) -> Iterator[PaperNumber]:
    for start, name in _LENGTHS:
        some = [run for run in runs if run.judged and _group(run.judged.gp.steps) == start]
        if some:
            metric_names = ("SR", "GP", "W-LCS")
            yield from (number for number in _main_numbers(some, f"length {name}") if number.metric in metric_names)
            yield from _variants(some, f"length {name}")


def _group(steps: int) -> int:
    return max((start for start, _ in _LENGTHS if start <= steps), default=0)


def _by_action(runs: Sequence[_JudgedRun]) -> Iterator[PaperNumber]:
    """Yield EM and TM of each type of demonstrated action (Appendix E), from the demonstration with the best EM."""
    counts: dict[str, list[int]] = {}
    matches, out = _matched_runs(runs)
    for one in matches:
        for kind, is_exact, is_typed in zip(one.em.types, one.em.exact, one.em.typed, strict=True):
            count = counts.setdefault(kind, [0, 0, 0])
            count[0] += 1
            count[1] += is_exact
            count[2] += is_typed
    for kind in sorted(counts):
        steps, right, alike = counts[kind]
        emit_action = _number_maker(f"action {kind}", out)
        yield emit_action("EM", right / steps, steps, "steps")
        yield emit_action("TM", alike / steps, steps, "steps")


def _split_by_trait(runs: Sequence[_JudgedRun], context: MetricContext, trait: str) -> dict[str, list[_JudgedRun]]:
    """Return runs by a trait of their task, or of a demonstration of it."""
    parts: dict[str, list[_JudgedRun]] = {}
    for run in runs:
        # A demonstration of the task may have a trait that the run's own task lacks.
        tasks = [
            run.case.task,
            *(gold.task for gold in demonstrations_of_task(run.case, context.gold.get(run.case.task.id, ()))),
        ]
        value = next((task.traits[trait] for task in tasks if task.traits.get(trait)), "")
        if value:
            parts.setdefault(value, []).append(run)
    return dict(sorted(parts.items()))


def _matched_runs(runs: Sequence[_JudgedRun]) -> tuple[list[MatchedRun], tuple[tuple[str, int], ...]]:
    tally = LeftOutTally()
    usable_runs = tally.filter(runs, lambda run: run.why)
    return [run.judged for run in usable_runs if run.judged], tally.counts


def _share(part: float, whole: int) -> float | None:
    return part / whole if whole else None


def _number_maker(part: str, out: tuple[tuple[str, int], ...]) -> Callable[..., PaperNumber]:
    def number(metric: str, value: float | None, n: int, of: str, note: str = "", unit: str = "share") -> PaperNumber:
        undefined = "" if value is not None else _NO_GOLD
        return PaperNumber("dac", metric, value, unit, n, of, part, "", out, undefined, note)  # type: ignore[arg-type]

    return number


_WEIGHED = "weighed by the steps of each run's demonstration: so Appendix D's Overall rows come out of its groups"
_STRETCH = (
    "The longest stretch of consecutive right steps anywhere in a run, {how}, as a mean over runs (Appendix D{more}). "
    "The appendix says sequence; a subsequence could not be shorter than what EM counts, yet its values are."
)
_UNITS = (
    "GP counted in atomic instructions instead of steps (Appendix D). Never given: no source tells which steps make up "
    "an atomic instruction."
)

DEFINITIONS: Mapping[str, str] = {
    "EM": (
        "Exact match: steps whose action has the demonstrated type and parameters / all steps of the demonstrations, "
        "pooled over runs (2.6; by type of action Appendix E); steps pair by their place, and those that a run does "
        "not reach count as wrong. A tap is right inside any of the target's boxes; where only a point was shown, at "
        "most 14 % of the screen away (Android in the Wild), as the paper gives no tolerance. Texts and apps are "
        "compared without case and outer blanks, scrolls by what they show, what the demonstration leaves open not at "
        "all, and any accepted action will do. Of several demonstrations the one with the most exact steps, as a "
        "share, counts."
    ),
    "TM": (
        "Type match: as EM, but the type of action alone decides (2.6). It is taken from the same demonstration as EM, "
        "so that it is never below it. Answering and reporting an end are both `complete`; what a source could not "
        "name is `other`."
    ),
    "SR": (
        "Success rate: the share of runs in which every step of a demonstration is matched exactly (2.6). It is "
        "offline: an end state that was reached another way does not count."
    ),
    "GP": (
        "Goal progress: consecutive right steps from the first one on / steps of the demonstration, as a mean over "
        "runs (2.6). This is Appendix D's column 2a; Table 2's GP averages to column 6a instead."
    ),
    "W-LCS": (
        "Weighted longest common subsequence: the sum of the places (from 1) of the demonstration's steps that the "
        "run took in their order / the sum of all places, as a mean over runs (eq. 2). Of several longest ones that "
        "with the greatest sum counts, since the paper does not say which; of several demonstrations the best."
    ),
    "GP 1a": _UNITS,
    "GP 1b": _UNITS,
    "GP 2b": f"GP {_WEIGHED}.",
    "GP 3a": (
        "Right steps from the first one on, as a number and not a share, as a mean over runs (Appendix D). The "
        "paper's own values are so small that they look like counts of atomic instructions."
    ),
    "GP 3b": f"GP 3a {_WEIGHED}.",
    "GP 4a": _STRETCH.format(how="as a number", more=""),
    "GP 4b": f"GP 4a {_WEIGHED}.",
    "GP 5a": "GP weighed by the length of the task (Appendix D). Never given: no formula is, and the values fit none.",
    "GP 5b": (
        "GP weighed by branches and the length of the task (Appendix D). Never given: no formula is, and the values "
        "fit none."
    ),
    "GP 6a": _STRETCH.format(how="/ steps of its demonstration", more="; what Table 2 calls GP"),
    "GP 6b": f"GP 6a {_WEIGHED}.",
    "Decision Accuracy": (
        "The share of branches at which a run took the right option, of those it reached and that were rated (2.6); "
        "whole, by depth, and of all deeper than the first (Table 3). Right is what the task says, or else any option "
        "that a demonstration of it took."
    ),
    "Decision EM": (
        "Exact match at those steps where a demonstration decides, by depth: what Table 3 computes, as its caption "
        "says EM. Which step that is the paper does not tell; here it is where raters placed the graph's node that "
        "has the branch's id."
    ),
}
