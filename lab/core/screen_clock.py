"""The clocks a screen reads: wall time for the record, seconds for ages, and a person's own time of day."""

from __future__ import annotations

import time
from datetime import datetime

from lab.core import ids_and_clock


class Clock:
    """What time it is; a test puts a still one in its place."""

    def now(self) -> str:
        """The wall time in UTC, as the record keeps it."""
        return ids_and_clock.now()

    def seconds(self) -> float:
        """The clock that frames are stamped with; only differences mean anything."""
        return time.monotonic()

    def time_of_day(self, at: str) -> str:
        """A recorded wall time as this person's time of day; empty where there is none."""
        return f"{datetime.fromisoformat(at).astimezone():%H:%M:%S}" if at else ""


def seconds_passed(earlier: str, later: str) -> float:
    """Seconds from one recorded wall time to another; 0 where the clock went back, or one of them is no time."""
    return max(0.0, ids_and_clock.seconds_between(earlier, later) or 0.0)


def span(seconds: float) -> str:
    """A duration as `m:ss`, or `h:mm:ss` from an hour on."""
    whole = max(0, int(seconds))
    minutes, rest = divmod(whole, 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{rest:02d}" if hours else f"{minutes}:{rest:02d}"


def duration_words(seconds: float) -> str:
    """A duration in its largest unit that divides it: `2 h`, `90 min`, `45 s`."""
    for size, unit in ((86_400, "d"), (3600, "h"), (60, "min")):
        if seconds >= size and seconds % size == 0:
            return f"{seconds / size:g} {unit}"
    return f"{seconds:g} s"
