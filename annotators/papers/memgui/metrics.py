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

from collections.abc import Iterable, Sequence
from math import fsum
from statistics import fmean

from msgspec.structs import replace

from annotators.papers.memgui.aggregates import PAPER, Out, add_reason, mean_number
from annotators.papers.memgui.attempts import DIFFICULTIES, Chain, apps_of, chains_of, difficulty_of
from annotators.papers.memgui.economy import economy
from annotators.papers.memgui.irr import has_analysis, percentage
from annotators.papers.memgui.metric_words import DEFINITIONS
from annotators.papers.metrics import LeftOutTally, MetricContext, MetricTerms, Number, mean
from lab.core.measured_run import MeasuredRun

__all__ = ["DEFINITIONS", "measure"]

_FOR_UNDEFINED = "0 stands for undefined"
_ALL = ("SR", "IRR", "MTPR", "FRR", "Step Ratio", "Time/Step", "Cost/Step")


def measure(cases: Sequence[MeasuredRun], context: MetricContext) -> list[Number]:
    """Return the numbers of one group of runs: over all tasks, by difficulty, by number of apps."""
    out = LeftOutTally()
    chains = chains_of(cases, context.terms, out)
    if not chains:
        why = "no run of an agent that can be measured"
        return [Number(PAPER, name, None, "share", 0, "tasks", left_out=out.counts, undefined=why) for name in _ALL]
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


def attempt_numbers(part: str, chains: Sequence[Chain], again: Sequence[int], out: Out) -> Iterable[Number]:
    """Yield SR, IRR, and success within k attempts for each k that occurs."""
    yield from _success(part, chains, out)
    yield from _retention(part, chains, out)
    for k in again:
        yield from _pass_at_k(part, chains, k, out)


def _success(part: str, chains: Sequence[Chain], out: Out) -> Iterable[Number]:
    tally = LeftOutTally()
    judged_chains = tally.filter(chains, _why_unjudged)
    values = [float(chain.tries[1].done is True) for chain in judged_chains]
    yield mean_number("SR", "share", values, part, "paper", out + tally.counts, "no first attempt is judged")
    yield mean_number(
        "SR", "share", [float(chain.first_success(1) is not None) for chain in chains], part, "script", out
    )


def _why_unjudged(chain: Chain) -> str:
    if chain.first is None:
        return "no first attempt"
    return "not judged" if chain.first.done is None else ""


def _retention(part: str, chains: Sequence[Chain], out: Out) -> Iterable[Number]:
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
    yield Number(PAPER, "IRR", value, "share", n, "tasks", part, "paper", out + tally.counts, undefined, note)
    retention = [(chain.tries[1].over_budget, percentage(chain.tries[1].case)) for chain in memory_chains]
    came = any(share is not None for _, share in retention)
    shares = [0.0 if beyond else share or 0.0 for beyond, share in retention] if came else []
    yield mean_number(
        "IRR", "share", shares, part, "script", left_out, "no rate came with the runs" if memory_chains else why
    )
    if not part:
        # The earlier script dropped zeros, so that it could only be higher.
        above = [share for share in shares if share]
        left_out = add_reason(left_out, "with a rate of 0 or none", len(memory_chains) - len(above))
        why = "no rate above 0 came with the runs" if came else "no rate came with the runs" if memory_chains else why
        yield mean_number("IRR above 0", "share", above, part, "script", left_out, why)


def _unrated_note(values: Sequence[float], failed_rates: Sequence[float], unrated: int) -> str:
    """Return the assumption about failed tasks without a rating, and the bounds with none or all retained."""
    low, high = (fsum((*values, *[rate] * unrated)) / (len(values) + unrated) for rate in (0.0, 1.0))
    like = f"{unrated} failed and not rated count like the {len(failed_rates)} rated failures"
    return f"{like}; {low:.1%} to {high:.1%} whatever they are"


def _why_no_memory(chain: Chain) -> str:
    if chain.first is None:
        return "no first attempt"
    if chain.memory == "no":
        return "needing no memory"
    case = chain.first.case
    is_known = chain.memory == "yes" or case.task.units or has_analysis(case)
    return "" if is_known else "not known to need memory or not"


def _pass_at_k(part: str, chains: Sequence[Chain], k: int, out: Out) -> Iterable[Number]:
    """Yield pass@k. A task that failed in fewer than k attempts counts as failed, and a note gives their number."""
    tally = LeftOutTally()
    judged_chains = tally.filter(chains, lambda chain: _why_undecided(chain, k))
    values = [float(chain.first_success(k) is not None) for chain in judged_chains]
    short = sum(
        chain.first_success(k) is None and len([i for i in chain.tries if i <= k]) < k for chain in judged_chains
    )
    note = f"{short} failed in fewer attempts" if short else ""
    yield mean_number(f"pass@{k}", "share", values, part, "paper", out + tally.counts, "no attempt is judged", note)
    values = [float(chain.first_success(k) is not None) for chain in chains]
    yield mean_number(f"pass@{k}", "share", values, part, "script", out)


def _why_undecided(chain: Chain, k: int) -> str:
    """Return why success within k attempts is unknown: an attempt is not judged or not in the file; empty if known."""
    if chain.first_success(k) is not None:
        return ""
    if any(one.done is None for i, one in chain.tries.items() if i <= k):
        return "not judged"
    return "without an earlier attempt" if _lacks_attempt(chain) else ""


def _lacks_attempt(chain: Chain) -> bool:
    """Return True if an attempt before the last one is not in the file."""
    # Attempts are numbered from 1, so a gap makes the last number larger than the count.
    return max(chain.tries) > len(chain.tries)


def _ratio(chains: Sequence[Chain], out: Out) -> Iterable[Number]:
    """Yield MTPR by the paper, and by the script, for which every task without memory is standard."""
    tally = LeftOutTally()
    counted_chains = tally.filter(chains, lambda chain: "" if chain.memory else "not known to need memory or not")
    judged_chains = tally.filter(counted_chains, _why_unjudged)
    memory = [chain.tries[1].done is True for chain in judged_chains if chain.memory == "yes"]
    standard = [chain.tries[1].done is True for chain in judged_chains if chain.memory == "no"]
    why = _why_no_ratio(memory, standard)
    value = None if why else (sum(memory) / len(memory)) / (sum(standard) / len(standard))
    n = len(memory) + len(standard)
    yield Number(PAPER, "MTPR", value, "ratio", n, "tasks", "", "paper", out + tally.counts, why)
    needs = [chain.first_success(1) is not None for chain in chains if chain.memory == "yes"]
    rest = [chain.first_success(1) is not None for chain in chains if chain.memory != "yes"]
    if not counted_chains:
        why = "no task says whether it needs memory"
        yield Number(PAPER, "MTPR", None, "ratio", 0, "tasks", "", "script", out, why)
        return
    value = (sum(needs) / len(needs)) / (sum(rest) / len(rest)) if needs and any(rest) else 0.0
    note = "" if needs and any(rest) else _FOR_UNDEFINED
    yield Number(PAPER, "MTPR", value, "ratio", len(chains), "tasks", "", "script", out, note=note)


def _why_no_ratio(memory: Sequence[bool], standard: Sequence[bool]) -> str:
    """Return why there is no ratio of success rates; empty if there is one."""
    if not memory:
        return "no memory task is judged"
    if not standard:
        return "no standard task is judged"
    return "" if any(standard) else "no standard task succeeded"


def recovery(chains: Sequence[Chain], most: int, out: Out) -> Iterable[Number]:
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
    yield Number(PAPER, "FRR", value, "share", len(weighable), "tasks", "", "paper", out + tally.counts, why, note)
    failures = [chain for chain in chains if chain.first_success(1) is None]
    weight = sum(0.5 ** (at - 2) for chain in failures if (at := chain.first_success(most)))
    value = weight / len(failures) if failures else 0.0
    note = f"k = {most}" + ("" if failures else f"; {_FOR_UNDEFINED}")
    yield Number(PAPER, "FRR", value, "share", len(failures), "tasks", "", "script", out, note=note)


def _why_unweighed(chain: Chain, most: int) -> str:
    """Return why the attempt of a task's recovery is unknown; empty if known."""
    before = chain.first_success(most) or most + 1
    later = {i: one for i, one in chain.tries.items() if 1 < i < before}
    if any(one.done is None for one in later.values()):
        return "with a later attempt not judged"
    last = max((i for i in chain.tries if i <= before), default=1)
    return "without an earlier attempt" if len([i for i in chain.tries if i <= last]) < last else ""


def _note_limits(numbers: Iterable[Number], terms: MetricTerms) -> list[Number]:
    """Return the numbers with a note on the budget beyond which an attempt has failed."""
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
