"""A stranger's times as ours."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any


def utc(value: Any) -> str:
    """An ISO 8601 time in UTC; empty for anything else.

    One without a zone is taken as if it were UTC: then only differences between such times are to be trusted.
    """
    if not isinstance(value, str):
        return ""
    try:
        found = datetime.fromisoformat(value)
        found = found.replace(tzinfo=UTC) if found.tzinfo is None else found.astimezone(UTC)
    except (ValueError, OverflowError):
        return ""
    return found.isoformat(timespec="microseconds")
