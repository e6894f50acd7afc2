"""When and which: wall time, a monotonic clock, and ids that sort by time."""

from __future__ import annotations

import os
import threading
import time
from datetime import UTC, datetime, timedelta

_lock = threading.Lock()
_last = 0


def now() -> str:
    """The wall time in UTC, as ISO 8601 with microseconds and offset."""
    return datetime.now(UTC).isoformat(timespec="microseconds")


def later(at: str, *before: str | None) -> str:
    """A time; or right after the last of those `before` it, where a clock was set back: what comes later is later.

    Rows are ordered by their times, so that the order is the same in every file that they are merged into.
    """
    last = max(filter(None, before), default="")
    if last < at:
        return at
    try:
        return (datetime.fromisoformat(last) + timedelta(microseconds=1)).isoformat(timespec="microseconds")
    except (ValueError, OverflowError):
        return at


def seconds_between(earlier: str | None, later: str | None) -> float | None:
    """Seconds from one stored time to another; None where one is missing, is no time, or alone names its zone."""
    try:
        return (datetime.fromisoformat(later or "") - datetime.fromisoformat(earlier or "")).total_seconds()
    except (ValueError, TypeError):
        return None


def monotonic_ms() -> float:
    """Milliseconds on a clock that never steps back; only differences mean anything."""
    return time.monotonic() * 1000.0


def uuid7() -> str:
    """A version 7 UUID (RFC 9562) as 36 characters; ids made by one process sort in the order they were made."""
    global _last
    with _lock:
        stamp = max(time.time_ns() // 1_000 * 4, _last + 1)  # 48 bits of ms and 12 bits of its fraction
        _last = stamp
    ms, fraction = divmod(stamp, 4_000)
    tail = int.from_bytes(os.urandom(8), "big") & (1 << 62) - 1
    value = ms << 80 | 7 << 76 | fraction << 64 | 0b10 << 62 | tail
    text = f"{value:032x}"
    return f"{text[:8]}-{text[8:12]}-{text[12:16]}-{text[16:20]}-{text[20:]}"
