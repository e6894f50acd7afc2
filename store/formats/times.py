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
        moment = datetime.fromisoformat(value)
        moment = moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
    except (ValueError, OverflowError):
        return ""
    return moment.isoformat(timespec="microseconds")
