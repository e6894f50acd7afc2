"""Token counts and seconds of a model's HTTP response stored in a step."""

from __future__ import annotations

import datetime
import json
from typing import Any

from lab.core.run.step import Usage
from store.formats.androidworld.values import ForeignObject, Global, LargeBytes, fields_of

_LONGEST = 4 * 1024**2
_NAMES = (
    ("prompt_tokens", ("prompt_tokens", "input_tokens", "promptTokenCount", "prompt_token_count")),
    ("completion_tokens", ("completion_tokens", "output_tokens", "candidatesTokenCount", "candidates_token_count")),
)


def usage_of(answer: Any) -> Usage | None:
    """Return tokens and seconds of a response (a stand-in for one of `requests`, or its JSON), or None if unknown."""
    seconds: float | None = None
    if isinstance(answer, ForeignObject) and isinstance(answer.kind, Global) and answer.kind.name == "Response":
        elapsed = answer.fields.get("elapsed")
        seconds = elapsed.total_seconds() if isinstance(elapsed, datetime.timedelta) else None
        answer = answer.fields.get("_content")
    usage = _token_mapping(answer)
    counts = {ours: _token_count(usage, theirs) for ours, theirs in _NAMES}
    if seconds is None and not any(count is not None for count in counts.values()):
        return None
    return Usage(prompt_tokens=counts["prompt_tokens"], completion_tokens=counts["completion_tokens"], seconds=seconds)


def _token_mapping(answer: Any) -> dict[Any, Any]:
    """Return the mapping with a response's token counts, empty if there is none."""
    text = answer.data if isinstance(answer, LargeBytes) else answer
    if isinstance(text, str | bytes) and len(text) < _LONGEST and text.lstrip()[:1] in ("{", b"{"):
        try:
            answer = json.loads(text)
        except (ValueError, RecursionError):
            return {}
    fields = fields_of(answer) or {}
    for name in ("usage", "usageMetadata", "usage_metadata"):
        if counts := fields_of(fields.get(name)):
            return counts
    return {}


def _token_count(counts: dict[Any, Any], names: tuple[str, ...]) -> int | None:
    count = next((counts[name] for name in names if name in counts), None)
    return count if type(count) is int and 0 <= count < 2**53 else None
