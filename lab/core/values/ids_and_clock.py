"""Wall time, a monotonic clock, and ids that sort by time."""

from __future__ import annotations

import os
import threading
import time
from datetime import UTC, datetime, timedelta

_lock = threading.Lock()
_last = 0


def now() -> str:
    """Return the wall time in UTC, as ISO 8601 with microseconds and offset."""
    return datetime.now(UTC).isoformat(timespec="microseconds")


def not_before(at: str, *before: str | None) -> str:
    """Return `at`, or the microsecond after the latest of `before` if the clock was set back.

    Rows are sorted by time, so that their order is the same in every file that they are merged into.
    """
    last = max(filter(None, before), default="")
    if last < at:
        return at
    try:
        return (datetime.fromisoformat(last) + timedelta(microseconds=1)).isoformat(timespec="microseconds")
    except (ValueError, OverflowError):
        return at


def seconds_between(earlier: str | None, later: str | None) -> float | None:
    """Return the seconds between two stored times, or None if one is missing or invalid or only one has a zone."""
    try:
        return (datetime.fromisoformat(later or "") - datetime.fromisoformat(earlier or "")).total_seconds()
    except (ValueError, TypeError):
        return None


def monotonic_ms() -> float:
    """Return milliseconds on a clock that never goes back. Only differences are meaningful."""
    return time.monotonic() * 1000.0


def uuid7() -> str:
    """Return a version 7 UUID (RFC 9562) of 36 characters. Ids of one process sort in the order of creation."""
    global _last
    with _lock:
        # Quarters of a microsecond: 4,000 per millisecond fit the 12 bits. `_last + 1` orders ids of the same moment,
        # and ids after the clock was set back.
        stamp = max(time.time_ns() // 1_000 * 4, _last + 1)  # 48 bits of ms and 12 bits of its fraction
        _last = stamp
    ms, fraction = divmod(stamp, 4_000)
    tail = int.from_bytes(os.urandom(8), "big") & (1 << 62) - 1
    value = ms << 80 | 7 << 76 | fraction << 64 | 0b10 << 62 | tail
    text = f"{value:032x}"
    return f"{text[:8]}-{text[8:12]}-{text[12:16]}-{text[16:20]}-{text[20:]}"
