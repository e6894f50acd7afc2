"""Times of other projects in hitlab's format."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any


def utc(value: Any) -> str:
    """Return an ISO 8601 time in UTC, empty for anything else.

    A time without a zone is treated as UTC, so that only differences between such times are reliable.
    """
    if not isinstance(value, str):
        return ""
    try:
        moment = datetime.fromisoformat(value)
        moment = moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
    except (ValueError, OverflowError):
        return ""
    return moment.isoformat(timespec="microseconds")
