"""`make soak`: the random walk of `tests/screens`, twenty thousand steps of it, another one each time."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from tests.screens.walk import walked

WALKS, STEPS = 100, 200


def test_twenty_thousand_steps_end_well(tmp_path: Path) -> None:
    visited: Counter[str] = Counter()
    try:
        walked(tmp_path / "lab.db", visited, walks=WALKS, steps=STEPS)
    finally:
        print(f"{sum(visited.values()):,} steps: {', '.join(f'{name} {n:,}' for name, n in visited.most_common())}")
    assert sum(visited.values()) > WALKS * STEPS * 0.9
