"""MemGUI-Bench's numbers (A.6): success, retention and its ratio to standard tasks, recovery over attempts, economy.

A *task* is one agent's attempts at one task. For first attempts: SR = share of tasks that succeeded, IRR = mean rate
over tasks that need memory (`annotators.papers.memgui.irr`), MTPR = SR of memory tasks / SR of standard tasks. Over k
attempts: pass@k = share of tasks that succeeded in any of the first k, FRR = sum over i = 2..k of w_i R_i / N_failed,
where R_i tasks succeeded for the first time on attempt i, w_i = 1 / (i - 1), and N_failed failed on the first attempt.

The published script (realtime_metrics.py) differs, and its numbers have the version `script`. Unjudged attempts count
as failed. IRR uses the source's whole percentages, with missing ones as 0 (an earlier script took the mean of those
above 0 alone: `IRR above 0`). MTPR and FRR are 0 if undefined. w_i = 1 / 2^(i - 2), which differs from attempt 4 on.
Steps are the log's `total_steps`, one less than its actions. The step ratio of k attempts uses the first attempt's
steps. Time and cost per step are totals over totals, at $1.25 and $10 per million tokens whatever the model. The
table's own columns `step_ratio` (1 if the agent ended by itself, else steps / 50) and `total_token_cost` ($0.01 and
$0.03 per thousand tokens) are reported under these names.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from math import fsum
from statistics import fmean

from msgspec.structs import replace

from annotators.papers.memgui.attempts import DIFFICULTIES, Chain, JudgedAttempt, apps_of, chains_of, difficulty_of
from annotators.papers.memgui.irr import has_analysis, percentage
from annotators.papers.metrics import (
    LeftOut,
    LeftOutTally,
    MetricContext,
    MetricTerms,
    PaperNumber,
    add_reason,
    mean,
    mean_number,
)
from lab.core.run.measured_run import MeasuredRun

__all__ = ["DEFINITIONS", "measure"]

PAPER = "memgui"
_number = partial(mean_number, PAPER, of="tasks")

_FOR_UNDEFINED = "0 stands for undefined"
_ALL = ("SR", "IRR", "MTPR", "FRR", "Step Ratio", "Time/Step", "Cost/Step")


def measure(cases: Sequence[MeasuredRun], context: MetricContext) -> list[PaperNumber]:
    """Return the numbers of one group of runs: over all tasks, by difficulty, by number of apps."""
    out = LeftOutTally()
    chains = chains_of(cases, context.terms, out)
    if not chains:
        why = "no run of an agent that can be measured"
        return [
            PaperNumber(PAPER, name, None, "share", 0, "tasks", left_out=out.counts, undefined=why) for name in _ALL
        ]
    again = sorted({attempt for chain in chains for attempt in chain.tries if attempt > 1})
    most = max(again, default=1)
    numbers = [
        *attempt_numbers("", chains, again, out.counts),
        *_ratio(chains, out.counts),
        *recovery(chains, most, out.counts),
        *economy(chains, 1, out.counts),
        *(economy(chains, most, out.counts) if most > 1 else ()),
    ]
    for difficulty in DIFFICULTIES:
        some = [chain for chain in chains if difficulty_of(chain.case) == difficulty]
        numbers.extend(attempt_numbers(difficulty, some, again, out.counts) if some else ())
    for apps in sorted({apps_of(chain.case) for chain in chains} - {0}):
        some = [chain for chain in chains if apps_of(chain.case) == apps]
        numbers.extend(attempt_numbers(f"{apps} app{'' if apps == 1 else 's'}", some, again, out.counts))
    return _note_limits(numbers, context.terms)


def attempt_numbers(part: str, chains: Sequence[Chain], again: Sequence[int], out: LeftOut) -> Iterable[PaperNumber]:
    """Yield SR, IRR, and success within k attempts for each k that occurs."""
    yield from _success(part, chains, out)
    yield from _retention(part, chains, out)
    for k in again:
        yield from _pass_at_k(part, chains, k, out)


def _success(part: str, chains: Sequence[Chain], out: LeftOut) -> Iterable[PaperNumber]:
    tally = LeftOutTally()
    judged_chains = tally.filter(chains, _why_unjudged)
    values = [float(chain.tries[1].done is True) for chain in judged_chains]
    yield _number("SR", "share", values, part, "paper", out + tally.counts, "no first attempt is judged")
    yield _number("SR", "share", [float(chain.first_success(1) is not None) for chain in chains], part, "script", out)


def _why_unjudged(chain: Chain) -> str:
    if chain.first_attempt is None:
        return "no first attempt"
    return "not judged" if chain.first_attempt.done is None else ""


def _retention(part: str, chains: Sequence[Chain], out: LeftOut) -> Iterable[PaperNumber]:
    """Yield IRR over memory tasks.

    Failed tasks without a rating count as the mean of rated failures, because successes, which count 1, are never
    missing. If no failed task is rated, successes alone say nothing and IRR is undefined.
    """
    tally = LeftOutTally()
    memory_chains = tally.filter(chains, _why_no_memory)
    left_out = out + tally.counts
    rated_tries = [chain.tries[1] for chain in tally.filter(memory_chains, lambda chain: chain.tries[1].irr.why)]
    values = [one.irr.value for one in rated_tries if one.irr.value is not None]
    failed_rates = [one.irr.value or 0.0 for one in rated_tries if one.done is False]
    unrated = sum(one.done is False and bool(one.irr.why) for one in (chain.tries[1] for chain in memory_chains))
    why = "no task is known to need memory" if not memory_chains else "no task is rated"
    if values and unrated and not failed_rates:
        values, why = [], "no failed task is rated, and those that succeeded count 1"
    note = _unrated_note(values, failed_rates, unrated) if values and unrated else ""
    value = mean([*values, *[fmean(failed_rates)] * unrated] if values and unrated else values)
    n, undefined = len(values), "" if values else why
    yield PaperNumber(PAPER, "IRR", value, "share", n, "tasks", part, "paper", out + tally.counts, undefined, note)
    retention = [(chain.tries[1].over_budget, percentage(chain.tries[1].case)) for chain in memory_chains]
    came = any(share is not None for _, share in retention)
    shares = [0.0 if beyond else share or 0.0 for beyond, share in retention] if came else []
    yield _number(
        "IRR", "share", shares, part, "script", left_out, "no rate came with the runs" if memory_chains else why
    )
    if not part:
        # The earlier script dropped zeros, so that it could only be higher.
        above = [share for share in shares if share]
        left_out = add_reason(left_out, "with a rate of 0 or none", len(memory_chains) - len(above))
        why = "no rate above 0 came with the runs" if came else "no rate came with the runs" if memory_chains else why
        yield _number("IRR above 0", "share", above, part, "script", left_out, why)


def _unrated_note(values: Sequence[float], failed_rates: Sequence[float], unrated: int) -> str:
    """Return the assumption about failed tasks without a rating, and the bounds with none or all retained."""
    low, high = (fsum((*values, *[rate] * unrated)) / (len(values) + unrated) for rate in (0.0, 1.0))
    like = f"{unrated} failed and not rated count like the {len(failed_rates)} rated failures"
    return f"{like}; {low:.1%} to {high:.1%} whatever they are"


def _why_no_memory(chain: Chain) -> str:
    if chain.first_attempt is None:
        return "no first attempt"
    if chain.memory == "no":
        return "needing no memory"
    case = chain.first_attempt.case
    is_known = chain.memory == "yes" or case.task.units or has_analysis(case)
    return "" if is_known else "not known to need memory or not"


def _pass_at_k(part: str, chains: Sequence[Chain], k: int, out: LeftOut) -> Iterable[PaperNumber]:
    """Yield pass@k. A task that failed in fewer than k attempts counts as failed, and a note gives their number."""
    tally = LeftOutTally()
    judged_chains = tally.filter(chains, lambda chain: _why_undecided(chain, k))
    values = [float(chain.first_success(k) is not None) for chain in judged_chains]
    short = sum(
        chain.first_success(k) is None and len([i for i in chain.tries if i <= k]) < k for chain in judged_chains
    )
    note = f"{short} failed in fewer attempts" if short else ""
    yield _number(f"pass@{k}", "share", values, part, "paper", out + tally.counts, "no attempt is judged", note)
    values = [float(chain.first_success(k) is not None) for chain in chains]
    yield _number(f"pass@{k}", "share", values, part, "script", out)


def _why_undecided(chain: Chain, k: int) -> str:
    """Return why success within k attempts is unknown: an attempt is not judged or not in the file, empty if known."""
    if chain.first_success(k) is not None:
        return ""
    if any(one.done is None for i, one in chain.tries.items() if i <= k):
        return "not judged"
    return "without an earlier attempt" if max(chain.tries) > len(chain.tries) else ""


def _ratio(chains: Sequence[Chain], out: LeftOut) -> Iterable[PaperNumber]:
    """Yield MTPR by the paper, and by the script, for which every task without memory is standard."""
    tally = LeftOutTally()
    counted_chains = tally.filter(chains, lambda chain: "" if chain.memory else "not known to need memory or not")
    judged_chains = tally.filter(counted_chains, _why_unjudged)
    memory = [chain.tries[1].done is True for chain in judged_chains if chain.memory == "yes"]
    standard = [chain.tries[1].done is True for chain in judged_chains if chain.memory == "no"]
    why = _why_no_ratio(memory, standard)
    value = None if why else (sum(memory) / len(memory)) / (sum(standard) / len(standard))
    n = len(memory) + len(standard)
    yield PaperNumber(PAPER, "MTPR", value, "ratio", n, "tasks", "", "paper", out + tally.counts, why)
    needs = [chain.first_success(1) is not None for chain in chains if chain.memory == "yes"]
    rest = [chain.first_success(1) is not None for chain in chains if chain.memory != "yes"]
    if not counted_chains:
        why = "no task says whether it needs memory"
        yield PaperNumber(PAPER, "MTPR", None, "ratio", 0, "tasks", "", "script", out, why)
        return
    value = (sum(needs) / len(needs)) / (sum(rest) / len(rest)) if needs and any(rest) else 0.0
    note = "" if needs and any(rest) else _FOR_UNDEFINED
    yield PaperNumber(PAPER, "MTPR", value, "ratio", len(chains), "tasks", "", "script", out, note=note)


def _why_no_ratio(memory: Sequence[bool], standard: Sequence[bool]) -> str:
    """Return why there is no ratio of success rates, empty if there is one."""
    if not memory:
        return "no memory task is judged"
    if not standard:
        return "no standard task is judged"
    return "" if any(standard) else "no standard task succeeded"


def recovery(chains: Sequence[Chain], most: int, out: LeftOut) -> Iterable[PaperNumber]:
    """Yield FRR over k = `most` attempts.

    Recovery on attempt 2 weighs 1, on 3 a half, on 4 a third (script: a fourth).
    """
    tally = LeftOutTally()
    judged_chains = tally.filter(chains, _why_unjudged)
    failures = [chain for chain in judged_chains if chain.tries[1].done is False]
    weighable = tally.filter(failures, lambda chain: _why_unweighed(chain, most))
    why = "no task failed on its first attempt" if not failures else "no task was tried again" if most < 2 else ""
    why = why or ("" if weighable else "no later attempt is judged")
    weight = sum(1 / (at - 1) for chain in weighable if (at := chain.first_success(most)))
    untried = sum(len(chain.tries) < 2 for chain in weighable)
    note = f"k = {most}" + (f"; {untried} of {len(weighable)} were not tried again" if untried else "")
    value = None if why else weight / len(weighable)
    yield PaperNumber(PAPER, "FRR", value, "share", len(weighable), "tasks", "", "paper", out + tally.counts, why, note)
    failures = [chain for chain in chains if chain.first_success(1) is None]
    weight = sum(0.5 ** (at - 2) for chain in failures if (at := chain.first_success(most)))
    value = weight / len(failures) if failures else 0.0
    note = f"k = {most}" + ("" if failures else f"; {_FOR_UNDEFINED}")
    yield PaperNumber(PAPER, "FRR", value, "share", len(failures), "tasks", "", "script", out, note=note)


def _why_unweighed(chain: Chain, most: int) -> str:
    """Return why the attempt of a task's recovery is unknown, empty if known."""
    before = chain.first_success(most) or most + 1
    later = {i: one for i, one in chain.tries.items() if 1 < i < before}
    if any(one.done is None for one in later.values()):
        return "with a later attempt not judged"
    last = max((i for i in chain.tries if i <= before), default=1)
    return "without an earlier attempt" if len([i for i in chain.tries if i <= last]) < last else ""


def _note_limits(numbers: Iterable[PaperNumber], terms: MetricTerms) -> list[PaperNumber]:
    """Add to each number a note of the step or token limit above which an attempt counts as failed."""
    limits = [
        f"more than floor({terms.step_budget:g} x golden + 1) steps" if terms.step_budget is not None else "",
        f"more than {terms.golden_tokens:g} tokens a golden step" if terms.golden_tokens is not None else "",
        f"more than {terms.token_budget} tokens" if terms.token_budget is not None else "",
    ]
    limit = " or ".join(limit_text for limit_text in limits if limit_text)
    if not limit:
        return list(numbers)
    problem = f"failed, with IRR 0: {limit}"
    return [replace(one, note="; ".join(text for text in (one.note, problem) if text)) for one in numbers]


_STEPS = "the log's `total_steps`, which is one less than its actions"

DEFINITIONS: Mapping[str, str] = {
    "SR": (
        "Success rate: tasks whose first attempt succeeded / tasks (A.6.1), whole, by difficulty (what the task says, "
        "as Table 2 does; else to 20, to 40, more golden steps, A.4.2, which six tasks contradict) and by number of "
        "apps. *paper* leaves out what nobody judged, *script* takes it for failed (framework/realtime_metrics.py); "
        "tasks without a run are in neither. With --step-budget X an attempt of more than floor(X x golden + 1) steps "
        "has failed, with --golden-tokens N one whose steps x its agent's mean tokens a step are more than N x golden "
        "(A.9.6: 1.4 and 9507), with --token-budget N one of more tokens."
    ),
    "IRR": (
        "Information retention rate: units used rightly / units required, as a mean over first attempts at tasks that "
        "need memory (A.6.1). *paper* follows four rules (Prompt 8): success is 1; units that are written out count as "
        "they are; units that only steer a decision count as lost in a failed attempt, in a task of both kinds they "
        "stay in the number required; an early failure is 0. People's marks go before the source's analysis, and a "
        "failed task without either counts like the rated failures on average, as successes are never without; the "
        "note says how many, and the least and most that the whole can be. Beyond a budget it is 0 (A.9.6 says so of "
        "tokens only). *script* takes the source's whole percentages, missing ones as 0, as published sessions do."
    ),
    "IRR above 0": (
        "The *script* IRR over rates above 0 alone, as the published framework/realtime_metrics.py has it: tasks of "
        "which nothing was retained drop out, so it can only be higher than IRR."
    ),
    "pass@k": (
        "Tasks that succeeded in any of the first k attempts / tasks (A.6.2), for each k from 2 that somebody came to. "
        "A task that failed in fewer attempts counts as failed and is told. *paper* leaves out tasks without a success "
        "of which an attempt is not judged or an earlier one is not here; *script* takes both for failed "
        "(framework/realtime_metrics.py, which knows three attempts)."
    ),
    "MTPR": (
        "Memory-task proficiency ratio: SR of tasks that need memory / SR of standard tasks, of first attempts "
        "(A.6.1). *paper* is undefined where no standard task succeeded, and leaves out tasks not known to be of "
        "either kind; *script* is 0 there, and takes these for standard (framework/realtime_metrics.py)."
    ),
    "FRR": (
        "Failure recovery rate: the sum of w_i x R_i over attempts i = 2..k / tasks that failed on attempt 1, R_i of "
        "which first succeeded on attempt i (A.6.2). *paper*: w_i = 1 / (i - 1), over tasks whose attempts before the "
        "recovery are all judged and here. *script*: w_i = 1 / 2^(i - 2), another weight from attempt 4 on; what is "
        "not judged has failed, and it is 0 where nothing failed (framework/realtime_metrics.py). k is the highest "
        "attempt in the group."
    ),
    "Step Ratio": (
        "Steps / golden steps, as a mean over tasks that succeeded (A.6.3), of first attempts and of k. *paper*: the "
        "actions of the attempt that succeeded, the last one, which ends the run, among them, as the paper does not "
        f"say what a step is. *script*: of the first attempt even where a later one succeeded, and {_STEPS} "
        "(framework/realtime_metrics.py)."
    ),
    "Time/Step": (
        "Seconds a step (A.6.3). *paper*: each attempt's total seconds / its actions, then the mean over attempts. "
        "*script*: all attempts' seconds / all their steps, which gives long "
        f"runs more weight, steps being {_STEPS} (framework/realtime_metrics.py)."
    ),
    "Time/Step without waiting": (
        "Time/Step without the time in which a person was waited for: the agent's own time, told where people were. "
        "The paper (A.6.3) has no person to wait for, so this is the value to lay beside its own."
    ),
    "Cost/Step": (
        "US dollars a step (A.6.3). *paper*: each attempt's cost / its actions, then the mean over attempts whose cost "
        "is known. *script*: all tokens at $1.25 (sent) and $10 (answered) a million, whatever the model, / all steps, "
        f"these being {_STEPS} (framework/realtime_metrics.py)."
    ),
    "csv step_ratio": (
        "The column of that name in a session's results.csv, as a mean over attempts: 1 where the agent ended by "
        "itself, else steps / 50 (framework/utils.py). It is no ratio to golden steps; it is here to be known again."
    ),
    "csv total_token_cost": (
        "The column of that name in a session's results.csv, as a mean over attempts: US dollars at $0.01 (sent) and "
        "$0.03 (answered) a thousand tokens, whatever the model (framework/utils.py)."
    ),
}


SOURCE = "memgui"
"""Format of runs made by the benchmark itself."""
IN, OUT = 1.25, 10.0
"""US dollars per million tokens in the script's cost of a step."""
TABLE_IN, TABLE_OUT = 10.0, 30.0
"""US dollars per million tokens in the table's `total_token_cost`."""
_AGENT_TIME = "Time/Step without waiting"
TABLE_MOST = 50
"""Divisor of steps in the table's `step_ratio`, for an agent that did not end by itself."""


def economy(chains: Sequence[Chain], k: int, out: LeftOut) -> Iterable[PaperNumber]:
    """Yield the numbers over the first k attempts of each task. `part` is empty for k = 1."""
    part = "" if k == 1 else f"pass@{k}"
    tries = [one for chain in chains for attempt, one in chain.tries.items() if attempt <= k]
    yield from _step_ratio(chains, k, part, out)
    yield from _time(tries, part, out)
    yield from _cost(tries, part, out)
    yield from _table(tries, part, out)


def _step_ratio(chains: Sequence[Chain], k: int, part: str, out: LeftOut) -> Iterable[PaperNumber]:
    """Yield steps / golden steps of tasks that succeeded: of the successful attempt (script: of the first one)."""
    tally = LeftOutTally()
    passed_chains = tally.filter(chains, lambda chain: "" if chain.first_success(k) is not None else "without success")
    with_golden = tally.filter(passed_chains, lambda chain: "" if chain.golden else "no golden steps")
    why = "no task succeeded" if not passed_chains else "no golden steps are known"
    left_out = out + tally.counts
    paper = [chain.tries[chain.first_success(k) or 1].steps / (chain.golden or 1) for chain in with_golden]
    yield _number("Step Ratio", "ratio", paper, part, "paper", left_out, why)
    script = [
        (chain.first_attempt.script_steps if chain.first_attempt else 0.0) / (chain.golden or 1)
        for chain in with_golden
    ]
    yield _number("Step Ratio", "ratio", script, part, "script", left_out, why)


def _time(tries: Sequence[JudgedAttempt], part: str, out: LeftOut) -> Iterable[PaperNumber]:
    """Yield seconds per step, also without the time of waiting if there was a person to wait for."""
    tally = LeftOutTally()
    timed_tries = tally.filter(
        tries, lambda one: "no steps" if not one.steps else "" if one.case.seconds else "no times"
    )
    values = [(one.case.seconds or 0.0) / one.steps for one in timed_tries]
    yield _number("Time/Step", "seconds", values, part, "paper", out + tally.counts, "no run has times", of="attempts")
    if any(one.case.waited != 0 for one in timed_tries):
        with_waits = tally.filter(
            timed_tries, lambda one: "without the person's times" if one.case.waited is None else ""
        )
        values = [max(0.0, (one.case.seconds or 0.0) - (one.case.waited or 0.0)) / one.steps for one in with_waits]
        why = "no run tells how long people were waited for"
        yield _number(_AGENT_TIME, "seconds", values, part, "", out + tally.counts, why, of="attempts")
    stepped_tries, left_out = _attempts_with_steps(tries, out)
    total = sum(one.table_number("total_time") or one.case.seconds or 0.0 for one in stepped_tries)
    yield _pooled_number("Time/Step", "seconds", total, stepped_tries, part, left_out, "no run has times")


def _attempts_with_steps(tries: Sequence[JudgedAttempt], out: LeftOut) -> tuple[list[JudgedAttempt], LeftOut]:
    """Return the attempts with steps by the script's count, and the exclusions including the others."""
    tally = LeftOutTally()
    stepped_tries = tally.filter(tries, lambda one: "" if one.script_steps > 0 else "no steps")
    return stepped_tries, out + tally.counts


def _cost(tries: Sequence[JudgedAttempt], part: str, out: LeftOut) -> Iterable[PaperNumber]:
    tally = LeftOutTally()
    priced_tries = tally.filter(
        tries, lambda one: "no steps" if not one.steps else "" if _price(one) is not None else "no price"
    )
    values = [(_price(one) or 0.0) / one.steps for one in priced_tries]
    yield _number(
        "Cost/Step", "usd", values, part, "paper", out + tally.counts, "no run's cost is known", of="attempts"
    )
    stepped_tries, left_out = _attempts_with_steps(tries, out)
    total = sum(_cost_at(one, IN, OUT) for one in stepped_tries)
    yield _pooled_number("Cost/Step", "usd", total, stepped_tries, part, left_out, "no run's tokens are known")


def _price(one: JudgedAttempt) -> float | None:
    return one.case.usage.cost if one.case.usage else None


def _cost_at(one: JudgedAttempt, price_in: float, price_out: float) -> float:
    """Return a run's cost at these prices per million tokens. Unknown tokens count as 0, as in the script.

    The table stores tokens as means per step, truncated to whole numbers.
    """
    prompt, completion = one.table_number("avg_prompt_tokens"), one.table_number("avg_completion_tokens")
    usage = one.case.usage
    prompt = (usage.prompt_tokens or 0 if usage else 0) if prompt is None else prompt * one.script_steps
    completion = (usage.completion_tokens or 0 if usage else 0) if completion is None else completion * one.script_steps
    return (prompt * price_in + completion * price_out) / 1e6


def _pooled_number(
    metric: str, unit: str, total: float, tries: Sequence[JudgedAttempt], part: str, out: LeftOut, why: str
) -> PaperNumber:
    steps = sum(one.script_steps for one in tries)
    value = total / steps if total and steps else None
    reason = "" if value is not None else why
    return PaperNumber(PAPER, metric, value, unit, len(tries), "attempts", part, "script", out, reason)  # type: ignore[arg-type]


def _table(tries: Sequence[JudgedAttempt], part: str, out: LeftOut) -> Iterable[PaperNumber]:
    """Yield the session table's own columns, read from it, or computed by its formulas for a run of that source."""
    tally = LeftOutTally()
    own = tally.filter(
        tries, lambda one: "" if one.case.source and one.case.source.format == SOURCE else "without such a table"
    )
    why = "" if own else "no run comes from a session with such a table"
    steps, costs = LeftOutTally(), LeftOutTally()
    stepped_tries = steps.filter(own, lambda one: "" if one.steps else "no steps")
    left_out = out + tally.counts + steps.counts
    ratios = [_table_ratio(one) for one in stepped_tries]
    yield _number("csv step_ratio", "ratio", ratios, part, "script", left_out, why or "no run has steps", of="attempts")
    priced_tries = costs.filter(own, lambda one: "" if _table_cost(one) else "no tokens")
    left_out = out + tally.counts + costs.counts
    why = why or "no run's tokens are known"
    token_costs = [_table_cost(one) for one in priced_tries]
    yield _number("csv total_token_cost", "usd", token_costs, part, "script", left_out, why, of="attempts")


def _table_ratio(one: JudgedAttempt) -> float:
    ratio = one.table_number("step_ratio")
    if ratio is not None:
        return ratio
    # As in framework/utils.py of the benchmark.
    return 1.0 if one.case.status == "completed" else one.script_steps / TABLE_MOST


def _table_cost(one: JudgedAttempt) -> float:
    cost = one.table_number("total_token_cost")
    return _cost_at(one, TABLE_IN, TABLE_OUT) if cost is None else cost
