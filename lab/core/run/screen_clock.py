"""Clocks for screens: wall time for records, seconds for ages, and the local time of day."""

from __future__ import annotations

import time
from datetime import datetime

from lab.core.values import ids_and_clock


class Clock:
    """The current time. Tests replace it with a fixed one."""

    def now(self) -> str:
        """Return the wall time in UTC, as records store it."""
        return ids_and_clock.now()

    def seconds(self) -> float:
        """Return the clock that stamps frames, in seconds. Only differences are meaningful."""
        return time.monotonic()

    def time_of_day(self, at: str) -> str:
        """Format a recorded wall time as local time of day, empty without a time."""
        return f"{datetime.fromisoformat(at).astimezone():%H:%M:%S}" if at else ""


def seconds_passed(earlier: str, later: str) -> float:
    """Return the seconds between two recorded wall times, or 0 if the clock went back or one is invalid."""
    return max(0.0, ids_and_clock.seconds_between(earlier, later) or 0.0)


def format_duration(seconds: float) -> str:
    """Format a duration as `m:ss`, or `h:mm:ss` from an hour on."""
    whole = max(0, int(seconds))
    minutes, rest = divmod(whole, 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{rest:02d}" if hours else f"{minutes}:{rest:02d}"


def duration_words(seconds: float) -> str:
    """Format a duration in the largest unit that divides it: `2 h`, `90 min`, `45 s`."""
    for size, unit in ((86_400, "d"), (3600, "h"), (60, "min")):
        if seconds >= size and seconds % size == 0:
            return f"{seconds / size:g} {unit}"
    return f"{seconds:g} s"
