"""What an attempt's steps and the whole of it took: tokens, seconds and calls of the model.

Some agents log the tokens of all steps so far at each step; these are taken apart again. `stats` is what
model_call_stats.json holds, `summary` the log's last element.
"""

from __future__ import annotations

from typing import Any

import msgspec

from lab.core.step import Usage
from store.formats.geometry import number
from store.formats.values import as_count


def usages_of(steps: list[dict[str, Any]], stats: dict[str, Any]) -> list[Usage | None]:
    """The tokens of each step: of its own call where that is told, else as logged, taken apart where they add up."""
    columns: list[list[int | None]] = []
    for name in ("prompt_tokens", "completion_tokens"):
        logged = [as_count(step.get(name)) for step in steps]
        total = as_count(stats.get(f"total_{name}"))
        counts = [tokens for tokens in logged if tokens is not None]
        if len(counts) > 1 and counts[-1] == total != sum(counts) and counts == sorted(counts):
            logged = [now if now is None else now - then for now, then in zip(logged, _earlier(logged), strict=True)]
        own = [as_count(raw.get(name)) if isinstance(raw := step.get("usage_raw"), dict) else None for step in steps]
        columns.append(
            [mine if mine is not None else logged_count for mine, logged_count in zip(own, logged, strict=True)]
        )
    return [
        None if prompt is None and completion is None else Usage(prompt_tokens=prompt, completion_tokens=completion)
        for prompt, completion in zip(*columns, strict=True)
    ]


def _earlier(counts: list[int | None]) -> list[int]:
    """Before each count the last one that is known, 0 where there is none."""
    earlier, last = [], 0
    for count in counts:
        earlier.append(last)
        last = last if count is None else count
    return earlier


def whole_usage(usages: list[Usage | None], summary: dict[str, Any], stats: dict[str, Any]) -> Usage | None:
    """What the whole run took: as its files tell it, else the sum of its steps; None where nothing tells."""
    step_usages = [usage for usage in usages if usage is not None]
    if not summary and not stats and not step_usages:
        return None
    sums: dict[str, int | None] = {}
    for name in ("prompt_tokens", "completion_tokens"):
        counts = [count for usage in step_usages if (count := getattr(usage, name)) is not None]
        logged = sum(counts) if counts else as_count(summary.get(f"total_{name}"))
        sums[name] = as_count(stats.get(f"total_{name}")) or logged
    seconds = number(summary.get("elapsed_time_exec"))
    calls = as_count(stats.get("total_model_calls")) or len(step_usages) or 1
    return msgspec.convert({**sums, "seconds": seconds, "tries": calls}, Usage)
