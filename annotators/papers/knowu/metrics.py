"""KnowU-Bench's numbers (4.1): success, score, efficiency, interaction, restraint. Also MobileWorld's.

S_i is a run's hybrid score if rule, judge and lambda are known, else the score that came with it. There are two
versions of a number wherever the published scripts differ from the paper's definition:
- A run of KnowU-Bench or MobileWorld without a result counts as not done, 0 (paper), or is left out (script). Unscored
  runs of other sources are undecided and left out of both.
- Steps are the executed actions, with a last answer or status, as Table 4 lists both (paper), or every entry of
  traj.json (script).
- IE is over personalized tasks (paper), or over proactive ones too (script).
- Act, Silent, Stop: see `annotators.papers.knowu.policy`.

No script has efficiency. A role's average is over personalized and proactive tasks with missing results as 0, as in
calc_persona_pref_routine_merged_avg.py. UIQ is MobileWorld's own and differs from IE: successes over queries, summed
over the tasks that need interaction, divided by their number plus that of the others that asked.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Literal

from annotators.papers.knowu.policy import Policy, paper_policy, script_policy, share
from annotators.papers.knowu.runs import SOURCE, KnowuRun, runs_of
from annotators.papers.knowu.tasks import Split
from annotators.papers.metrics import (
    LeftOut,
    LeftOutTally,
    MetricContext,
    MetricUnit,
    PaperNumber,
    add_reason,
    mean,
    mean_number,
)
from lab.core.run.measured_run import MeasuredRun

__all__ = ["DEFINITIONS", "measure"]


PAPER = "knowu"
SPLITS: tuple[Split, ...] = ("general", "personalized", "proactive")
DIFFICULTIES = ("easy", "hard")
NO_SPLIT = "of a task without a split"
NO_RESULT = "no result"
_number = partial(mean_number, PAPER, why=NO_RESULT)
_GENERAL_METRICS = ("SR", "AveSteps", "AveQueries", "Efficiency")
_SPLIT_METRICS: dict[str, tuple[str, ...]] = {
    "general": (),
    "personalized": ("Score", "IE"),
    "proactive": ("IE", "Act", "Silent", "Stop"),
}
"""Additional metrics of each split."""


def measure(cases: Sequence[MeasuredRun], context: MetricContext) -> list[PaperNumber]:
    """Return the numbers of one group of runs: over all, by split and difficulty, by role."""
    out = LeftOutTally()
    runs = runs_of(cases, context.terms, out)
    if not runs:
        why = "no run of an agent that has ended"
        return [
            PaperNumber(PAPER, name, None, "share", 0, "runs", left_out=out.counts, undefined=why)
            for name in ("SR", "IE")
        ]
    splits = out.counts
    unsplit = sum(not run.split for run in runs)
    if unsplit:
        splits += ((NO_SPLIT, unsplit),)
    by_split = {split: [run for run in runs if run.split == split] for split in SPLITS}
    return [
        *_general_numbers("", runs, out.counts),
        *(number for split in SPLITS for number in _split_numbers(split, by_split[split], splits, context)),
        *_roles(runs, splits),
        _hybrid(runs, out.counts),
        *_mobileworld([run for run in runs if run.mobileworld]),
    ]


def _general_numbers(part: str, runs: Sequence[KnowuRun], out: LeftOut) -> Iterable[PaperNumber]:
    """Yield the numbers of any split: success, steps, queries, efficiency."""
    yield from _success_rate(part, runs, out)
    with_score = [run for run in runs if run.score is not None]
    missing = add_reason(out, NO_RESULT, len(runs) - len(with_score))
    acts = mean([run.acts for run in runs])
    yield _number("AveSteps", "count", [run.acts for run in runs], part, "paper", out)
    yield _number("AveSteps", "count", [run.steps for run in with_score], part, "script", missing)
    yield _number("AveQueries", "count", [run.queries for run in runs], part, "paper", out)
    yield _number("AveQueries", "count", [run.queries for run in with_score], part, "script", missing)
    value = 50 / acts if acts else None
    why = "" if acts else "its runs did nothing"
    yield PaperNumber(PAPER, "Efficiency", value, "ratio", len(runs), "runs", part, "paper", out, why)


def _split_numbers(
    split: Split, runs: Sequence[KnowuRun], out: LeftOut, context: MetricContext
) -> Iterable[PaperNumber]:
    if not runs:
        for metric in (*_GENERAL_METRICS, *_SPLIT_METRICS[split]):
            yield _undefined_number(metric, split, out, f"no run of {split} tasks")
        return
    yield from _general_numbers(split, runs, out)
    if split == "personalized":
        yield from _score_means("Score", "score", split, runs, out, _score)
        yield from _score_means("IE", "score", split, runs, out, _interaction_efficiency)
    elif split == "proactive":
        yield from _score_means("IE", "score", split, runs, out, _interaction_efficiency, versions=("script",))
        yield from _restraint(runs, context, out)
    for difficulty in DIFFICULTIES:
        some = [run for run in runs if run.difficulty == difficulty]
        unknown = add_reason(out, "of untold difficulty", sum(run.difficulty not in DIFFICULTIES for run in runs))
        part = f"{split}, {difficulty}"
        if some:
            yield from _success_rate(part, some, unknown)
        if some and split == "personalized":
            yield from _score_means("Score", "score", part, some, unknown, _score)


def _score(run: KnowuRun) -> float:
    return run.score or 0.0


def _interaction_efficiency(run: KnowuRun) -> float:
    """Return S_i / max(c_i, 1): a run without questions counts like one with a single question."""
    return (run.score or 0.0) / max(run.queries, 1)


def _success_rate(part: str, runs: Sequence[KnowuRun], out: LeftOut) -> Iterable[PaperNumber]:
    """Yield SR. If people were asked about a run's success, their answer replaces its score."""
    # SR follows people's answer. All other numbers keep the score.
    judged_runs = [run._replace(score=run.success) for run in runs]
    yield from _score_means("SR", "share", part, judged_runs, out, lambda run: float(run.succeeded))


def _score_means(
    metric: str,
    unit: MetricUnit,
    part: str,
    runs: Sequence[KnowuRun],
    out: LeftOut,
    value: Callable[[KnowuRun], float],
    versions: Sequence[Literal["paper", "script"]] = ("paper", "script"),
) -> Iterable[PaperNumber]:
    """Yield the mean of a value from a run's score, in both conventions about missing results."""
    with_score = [run for run in runs if run.score is not None]
    for version in versions:
        scored_runs = (
            [run for run in runs if run.score is not None or _fails_without(run)] if version == "paper" else with_score
        )
        left_out = add_reason(out, NO_RESULT, len(runs) - len(scored_runs))
        # These failed without a result and count as 0.
        zero = len(scored_runs) - len(with_score)
        changed = sum(run.score != run.case.score for run in with_score) if metric in ("Score", "IE") else 0
        notes = [f"{zero} without a result count 0"] if zero and with_score else []
        notes += [f"S of {changed} by the paper's rule, not their own score"] if changed else []
        note = "; ".join(notes)
        yield _number(
            metric,
            unit,
            [value(run) for run in scored_runs] if with_score else [],
            part,
            version,
            left_out,
            note=note,
        )


def _fails_without(run: KnowuRun) -> bool:
    """Return True if a missing result means that the run failed, rather than that nobody has scored it."""
    if "success" in run.case.unsettled:
        return False
    return run.case.source is not None and run.case.source.format == SOURCE


def _restraint(runs: Sequence[KnowuRun], context: MetricContext, out: LeftOut) -> Iterable[PaperNumber]:
    """Yield Act, Silent and Stop over their own groups of proactive runs."""
    with_score = [run for run in runs if run.score is not None]
    papers = [paper_policy(run, context.terms) for run in runs]
    scripts = [script_policy(run, context.terms) for run in with_score]
    for metric, group in (("Act", "need"), ("Silent", "noneed"), ("Stop", "reject")):
        for version, policies, missing in (("paper", papers, 0), ("script", scripts, len(runs) - len(with_score))):
            values = share(policies, group)  # type: ignore[arg-type]
            left_out = add_reason(_add_ungrouped(out, policies), NO_RESULT, missing)
            why = _GROUP_REASONS[group] if policies else NO_RESULT
            yield _number(metric, "share", values, "proactive", version, left_out, why=why)  # type: ignore[arg-type]


_GROUP_REASONS = {
    "need": "no run of a task that warrants an intervention",
    "noneed": "no run of a task that warrants none",
    "reject": "no run in which the person rejected",
}


def _add_ungrouped(out: LeftOut, policies: Sequence[Policy]) -> LeftOut:
    tally = LeftOutTally()
    for policy in policies:
        if policy.group is None:
            tally.add(policy.why)
    return out + tally.counts


def _roles(runs: Sequence[KnowuRun], out: LeftOut) -> Iterable[PaperNumber]:
    """Yield the average score of each role over its personalized and proactive tasks."""
    role_runs = [run for run in runs if run.split in ("personalized", "proactive")]
    nameless = sum(not run.role for run in role_runs)
    left_out = add_reason(
        add_reason(out, "of a general task", sum(run.split == "general" for run in runs)), "of no role", nameless
    )
    for role in sorted({run.role for run in role_runs if run.role}):
        own = [run for run in role_runs if run.role == role]
        scored_runs = [run for run in own if run.score is not None or _fails_without(run)]
        any_score = any(run.score is not None for run in own)
        values = [_score(run) for run in scored_runs] if any_score else []
        counts = add_reason(left_out, NO_RESULT, len(own) - len(scored_runs))
        yield _number("Score", "score", values, f"role {role}", "", counts)


def _hybrid(runs: Sequence[KnowuRun], out: LeftOut) -> PaperNumber:
    tally = LeftOutTally()
    hybrid_runs = tally.filter(runs, lambda run: run.hybrid.why)
    values = [run.hybrid.value or 0.0 for run in hybrid_runs]
    why = "no run has a lambda and the scores that it weighs"
    return _number("Hybrid score", "score", values, "", "paper", out + tally.counts, why=why)


def _mobileworld(runs: Sequence[KnowuRun]) -> Iterable[PaperNumber]:
    """Yield the numbers of MobileWorld's viewer: success by need for interaction, and UIQ.

    Runs without steps are skipped.
    """
    if not runs:
        return
    tally = LeftOutTally()
    ended_runs = tally.filter(runs, _why_unfinished)
    interactive = [run for run in ended_runs if _needs_interaction(run)]
    rest = [run for run in ended_runs if not _needs_interaction(run)]
    for part, needs in (("user interaction", True), ("GUI only", False)):
        own = LeftOutTally()
        some = own.filter([run for run in runs if _needs_interaction(run) is needs], _why_unfinished)
        why = "" if some else "no such task has a result"
        yield _number(
            "SR", "share", [float(run.succeeded) for run in some], f"MobileWorld, {part}", "script", own.counts, why=why
        )
    # Runs that asked without need enlarge UIQ's denominator.
    needless = sum(run.queries > 0 for run in rest)
    n = len(interactive) + needless
    quality = sum(run.succeeded / run.queries for run in interactive if run.queries)
    why = "" if n else "no run of a task that needs interaction, and no other asked"
    value = quality / n if n else None
    note = f"{needless} of tasks that need no question" if needless else ""
    yield PaperNumber(PAPER, "UIQ", value, "score", n, "runs", "MobileWorld", "script", tally.counts, why, note)


def _why_unfinished(run: KnowuRun) -> str:
    return NO_RESULT if run.score is None or run.success is None else "" if run.steps else "no steps"


def _needs_interaction(run: KnowuRun) -> bool:
    """Return True for MobileWorld's tag `agent-user-interaction`.

    All its 44 tasks, and no others, have "AskUser" in the name.
    """
    return "AskUser" in run.case.task.id


def _undefined_number(metric: str, part: str, out: LeftOut, why: str) -> PaperNumber:
    return PaperNumber(PAPER, metric, None, "share", 0, "runs", part, left_out=out, undefined=why)


_GROUPS = (
    "A run in which the person rejected is in Stop's group, any other in Act's or Silent's by whether its task "
    "warrants an intervention: the person's profile holds a habit behind the routine, the task's trait `warranted` "
    "says so, or its checks want an offer or silence."
)

DEFINITIONS: Mapping[str, str] = {
    "SR": (
        "Success rate: runs with a score above 0.99 / all runs, whole, by split, and by easy and hard (4.1, Table 2). "
        "A benchmark's run without a result has failed for *paper* and is left out for *script* "
        "(scripts/calc_paper_metrics.py; calc_split_difficulty_metrics.py can do either); a run of another source that "
        "nobody scored is in neither. Splits and difficulties are those of the task definitions' tags; the scripts "
        "know no whole. MobileWorld's two parts are its viewer's: tasks that need to ask (`AskUser` in their name), "
        "and the rest, those with tools too."
    ),
    "AveSteps": (
        "Steps of a run, as a mean over runs (4.1). *paper* counts executed actions t_i, a last answer or status among "
        "them, since its action space (Table 4) lists both; what a gate refused was not executed. *script* counts all "
        "entries of traj.json, of runs with a result (scripts/calc_paper_metrics.py)."
    ),
    "AveQueries": (
        "Questions to the person (ask_user) in a run, one that was open when it was stopped among them, as a mean over "
        "runs (4.1, Figure 3b): *paper* over all runs, *script* over those with a result "
        "(scripts/calc_paper_metrics.py)."
    ),
    "Efficiency": (
        "50 / AveSteps, as *paper* counts steps (4.1, Figure 3b): above 1 where runs take fewer than 50 steps on "
        "average. No script computes it."
    ),
    "Score": (
        "Average score: the mean of S_i over personalized runs (4.1, Table 2), where S_i is the hybrid score where it "
        "is known, else the score that the run came with; where rules alone decide a task, 1 if all of them held, else "
        "0 (3.3). `hitlab runs list` prints the score that the run came with. A missing result counts 0 for *paper* "
        "and is left out for *script* (scripts/calc_paper_metrics.py). A role's average is over its personalized and "
        "proactive runs, missing results as 0 (Figure 3a, scripts/calc_persona_pref_routine_merged_avg.py). A judge "
        "that failed was scored 0.5 by the benchmark itself, which nothing tells apart."
    ),
    "IE": (
        "Interaction efficiency: S_i / max(c_i, 1) as a mean over runs, c_i being the run's questions, so that none "
        "costs what one does (4.1). *paper* is of personalized runs, a missing result counting 0; *script* is told of "
        "proactive ones, too, and leaves missing results out (scripts/calc_paper_metrics.py)."
    ),
    "Act": (
        f"Of proactive runs whose task warrants an intervention, the share that intervened (4.1, Figure 3c). {_GROUPS} "
        "*paper*: it acted on the phone or asked; looking around (scrolling, home, back), waiting and ending are no "
        "intervention. *script*: its score is above 0.99, which is success; the group goes by the last "
        "decision in the replies (scripts/calc_paper_metrics.py)."
    ),
    "Silent": (
        "Of proactive runs whose task warrants no intervention, the share that kept quiet (4.1, Figure 3c; groups as "
        "for Act). *paper*: it neither acted nor asked. *script*: nothing but wait, finished, ask_user, and answers "
        "whose whole text is empty, task finished, task failed, finished, failed or success; so a question passes, and "
        "`Task finished.` with its full stop, status or going home do not (scripts/calc_paper_metrics.py)."
    ),
    "Stop": (
        "Of proactive runs that the person rejected, the share that then left it (4.1, Figure 3c). *paper*: after the "
        "first explicit rejection (a key or its tag, not words) it neither acted nor asked. *script*: the last "
        "decision found, by tag or else by the words reject or accept, must be a rejection, and from the step after "
        "the first one on nothing but wait, finished, ask_user and answers came; so asking on and on passes "
        "(scripts/calc_paper_metrics.py). A reply to the last step is not in traj.json, so *script* does not see it."
    ),
    "Hybrid score": (
        "S_i = lambda x S_rule + (1 - lambda) x S_llm as a mean over runs that have what it takes (3.4). Lambda is the "
        "task's trait `lambda`, else its rule_weight, else --lambda; S_rule is the verdict `rule`, else the run's own "
        "score where rules were checked; S_llm is the settled mark `llm`, as a study of rubrics gives it (--study: the "
        "weighted mean of the criteria, people's or with --rater a judge's), else the verdict of that name. Where "
        "lambda is 1 the task is fully programmatic, and S_rule is binary: 1 where the rules come to more than 0.99, "
        "else 0; so is S_i of general and proactive runs whose rules were checked, with no lambda and no judge, "
        "wherever S_i counts here; a personalized task's rules give a share, which waits for its judge. The paper "
        "gives each task's lambda in words only, and runs of its benchmark bring but the finished S_i."
    ),
    "UIQ": (
        "User interaction quality, MobileWorld's own: success / questions, summed over runs of tasks that need to ask "
        "(0 where none was asked), / (the number of these runs + that of other runs that asked). It is what its log "
        "viewer computes, of runs with a result and at least one step, and another number than IE, which the paper "
        "derives from it (4.1)."
    ),
}
