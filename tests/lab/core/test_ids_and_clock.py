"""Times and ids."""

from __future__ import annotations

import uuid
from datetime import datetime, timedelta

from lab.core.values.ids_and_clock import now, uuid7


def test_ids_are_version_7_unique_and_sort_in_the_order_made() -> None:
    made = [uuid7() for _ in range(2_000)]
    assert made == sorted(made)
    assert len(set(made)) == len(made)
    parsed = uuid.UUID(made[0])
    assert (parsed.version, parsed.variant) == (7, uuid.RFC_4122)
    stamp = datetime.fromtimestamp((parsed.int >> 80) / 1000).astimezone()
    assert abs(datetime.now().astimezone() - stamp) < timedelta(minutes=1)


def test_now_is_utc_with_offset_and_microseconds() -> None:
    parsed = datetime.fromisoformat(now())
    assert parsed.utcoffset() == timedelta(0)
    assert len(now().partition(".")[2]) == len("123456+00:00")
