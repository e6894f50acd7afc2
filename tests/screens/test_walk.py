"""Nothing that a person presses, in whatever order, ends the app, loses what was kept, or leaves a key dead."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from tests.screens.walk import walked

WALKS, STEPS = 3, 25
"""A soak takes a hundred of 200 steps. The first one here is always the shortest: one step again and again."""


def test_a_random_walk_over_all_rooms_and_keys_ends_well(tmp_path: Path) -> None:
    visited: Counter[str] = Counter()
    walked(tmp_path / "lab.db", visited, walks=WALKS, steps=STEPS, derandomize=True)
    assert sum(visited.values()) >= (WALKS - 1) * STEPS * 0.9, "a move that nothing offers is no step"
    assert len(visited) >= 5, visited
