"""Cost of success by MemGUI-Bench (A.6.3): step ratio, time and cost per step, also by its script and its table."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from annotators.papers.memgui.aggregates import PAPER, Out, mean_number
from annotators.papers.memgui.attempts import Chain, JudgedAttempt
from annotators.papers.metrics import LeftOutTally, Number

SOURCE = "memgui"
"""Format of runs made by the benchmark itself."""
IN, OUT = 1.25, 10.0
"""US dollars per million tokens in the script's cost of a step."""
TABLE_IN, TABLE_OUT = 10.0, 30.0
"""US dollars per million tokens in the table's `total_token_cost`."""
_AGENT_TIME = "Time/Step without waiting"
TABLE_MOST = 50
"""Divisor of steps in the table's `step_ratio`, for an agent that did not end by itself."""


def economy(chains: Sequence[Chain], k: int, out: Out) -> Iterable[Number]:
    """Yield the numbers over the first k attempts of each task. `part` is empty for k = 1."""
    part = "" if k == 1 else f"pass@{k}"
    tries = [one for chain in chains for attempt, one in chain.tries.items() if attempt <= k]
    yield from _step_ratio(chains, k, part, out)
    yield from _time(tries, part, out)
    yield from _cost(tries, part, out)
    yield from _table(tries, part, out)


def _step_ratio(chains: Sequence[Chain], k: int, part: str, out: Out) -> Iterable[Number]:
    """Yield steps / golden steps of tasks that succeeded: of the successful attempt (script: of the first one)."""
    tally = LeftOutTally()
    passed_chains = tally.filter(chains, lambda chain: "" if chain.first_success(k) is not None else "without success")
    with_golden = tally.filter(passed_chains, lambda chain: "" if chain.golden else "no golden steps")
    why = "no task succeeded" if not passed_chains else "no golden steps are known"
    left_out = out + tally.counts
    paper = [chain.tries[chain.first_success(k) or 1].steps / (chain.golden or 1) for chain in with_golden]
    yield mean_number("Step Ratio", "ratio", paper, part, "paper", left_out, why)
    script = [(chain.first.script_steps if chain.first else 0.0) / (chain.golden or 1) for chain in with_golden]
    yield mean_number("Step Ratio", "ratio", script, part, "script", left_out, why)


def _time(tries: Sequence[JudgedAttempt], part: str, out: Out) -> Iterable[Number]:
    """Yield seconds per step, also without the time of waiting if there was a person to wait for."""
    tally = LeftOutTally()
    timed_tries = tally.filter(
        tries, lambda one: "no steps" if not one.steps else "" if one.case.seconds else "no times"
    )
    values = [(one.case.seconds or 0.0) / one.steps for one in timed_tries]
    yield mean_number(
        "Time/Step", "seconds", values, part, "paper", out + tally.counts, "no run has times", of="attempts"
    )
    if any(one.case.waited != 0 for one in timed_tries):
        with_waits = tally.filter(
            timed_tries, lambda one: "without the person's times" if one.case.waited is None else ""
        )
        values = [max(0.0, (one.case.seconds or 0.0) - (one.case.waited or 0.0)) / one.steps for one in with_waits]
        why = "no run tells how long people were waited for"
        yield mean_number(_AGENT_TIME, "seconds", values, part, "", out + tally.counts, why, of="attempts")
    stepped_tries, left_out = _attempts_with_steps(tries, out)
    total = sum(one.table_number("total_time") or one.case.seconds or 0.0 for one in stepped_tries)
    yield _pooled_number("Time/Step", "seconds", total, stepped_tries, part, left_out, "no run has times")


def _attempts_with_steps(tries: Sequence[JudgedAttempt], out: Out) -> tuple[list[JudgedAttempt], Out]:
    """Return the attempts with steps by the script's count, and the exclusions including the others."""
    tally = LeftOutTally()
    stepped_tries = tally.filter(tries, lambda one: "" if one.script_steps > 0 else "no steps")
    return stepped_tries, out + tally.counts


def _cost(tries: Sequence[JudgedAttempt], part: str, out: Out) -> Iterable[Number]:
    tally = LeftOutTally()
    priced_tries = tally.filter(
        tries, lambda one: "no steps" if not one.steps else "" if _price(one) is not None else "no price"
    )
    values = [(_price(one) or 0.0) / one.steps for one in priced_tries]
    yield mean_number(
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
    metric: str, unit: str, total: float, tries: Sequence[JudgedAttempt], part: str, out: Out, why: str
) -> Number:
    steps = sum(one.script_steps for one in tries)
    value = total / steps if total and steps else None
    reason = "" if value is not None else why
    return Number(PAPER, metric, value, unit, len(tries), "attempts", part, "script", out, reason)  # type: ignore[arg-type]


def _table(tries: Sequence[JudgedAttempt], part: str, out: Out) -> Iterable[Number]:
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
    yield mean_number(
        "csv step_ratio", "ratio", ratios, part, "script", left_out, why or "no run has steps", of="attempts"
    )
    priced_tries = costs.filter(own, lambda one: "" if _table_cost(one) else "no tokens")
    left_out = out + tally.counts + costs.counts
    why = why or "no run's tokens are known"
    token_costs = [_table_cost(one) for one in priced_tries]
    yield mean_number("csv total_token_cost", "usd", token_costs, part, "script", left_out, why, of="attempts")


def _table_ratio(one: JudgedAttempt) -> float:
    ratio = one.table_number("step_ratio")
    if ratio is not None:
        return ratio
    # As in framework/utils.py of the benchmark.
    return 1.0 if one.case.status == "completed" else one.script_steps / TABLE_MOST


def _table_cost(one: JudgedAttempt) -> float:
    cost = one.table_number("total_token_cost")
    return _cost_at(one, TABLE_IN, TABLE_OUT) if cost is None else cost
