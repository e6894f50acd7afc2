"""Usage of an attempt, by step and in total: tokens, seconds and model calls.

Some agents log cumulative token counts, which are converted to counts by step. `stats` is the content of
model_call_stats.json, `summary` the log's last element.
"""

from __future__ import annotations

from typing import Any

import msgspec

from lab.core.run.step import Usage
from store.formats.geometry import as_coordinate
from store.formats.values import as_count


def usages_of(steps: list[dict[str, Any]], stats: dict[str, Any]) -> list[Usage | None]:
    """Return each step's usage: its own call's if recorded, else as logged, minus earlier steps if cumulative."""
    columns: list[list[int | None]] = []
    for name in ("prompt_tokens", "completion_tokens"):
        logged = [as_count(step.get(name)) for step in steps]
        total = as_count(stats.get(f"total_{name}"))
        counts = [tokens for tokens in logged if tokens is not None]
        # Cumulative counts never decrease, and the last one is the total that the sum of all would exceed.
        if len(counts) > 1 and counts[-1] == total != sum(counts) and counts == sorted(counts):
            logged = [
                now if now is None else now - then for now, then in zip(logged, _counts_before(logged), strict=True)
            ]
        own = [as_count(raw.get(name)) if isinstance(raw := step.get("usage_raw"), dict) else None for step in steps]
        columns.append(
            [mine if mine is not None else logged_count for mine, logged_count in zip(own, logged, strict=True)]
        )
    return [
        None if prompt is None and completion is None else Usage(prompt_tokens=prompt, completion_tokens=completion)
        for prompt, completion in zip(*columns, strict=True)
    ]


def _counts_before(counts: list[int | None]) -> list[int]:
    """Return for each count the last known count before it, 0 if there is none."""
    earlier, last = [], 0
    for count in counts:
        earlier.append(last)
        last = last if count is None else count
    return earlier


def whole_usage(usages: list[Usage | None], summary: dict[str, Any], stats: dict[str, Any]) -> Usage | None:
    """Return the usage of the whole run, from its files or else summed over its steps, or None if unknown."""
    step_usages = [usage for usage in usages if usage is not None]
    if not summary and not stats and not step_usages:
        return None
    sums: dict[str, int | None] = {}
    for name in ("prompt_tokens", "completion_tokens"):
        counts = [count for usage in step_usages if (count := getattr(usage, name)) is not None]
        logged = sum(counts) if counts else as_count(summary.get(f"total_{name}"))
        sums[name] = as_count(stats.get(f"total_{name}")) or logged
    seconds = as_coordinate(summary.get("elapsed_time_exec"))
    calls = as_count(stats.get("total_model_calls")) or len(step_usages) or 1
    return msgspec.convert({**sums, "seconds": seconds, "tries": calls}, Usage)
