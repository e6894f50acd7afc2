"""`make soak`: a judge is killed two hundred times at random moments; what it paid for twice is counted exactly."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from tests.killed_judging import judged_with_kills

FILES, KILLS, SHEETS = 10, 20, 200


@pytest.mark.parametrize("seed", range(FILES))
def test_a_killed_judge_pays_twice_only_for_what_was_in_flight(tmp_path: Path, seed: int) -> None:
    count = judged_with_kills(tmp_path / "lab.db", random.Random(seed), KILLS, SHEETS)
    print(
        f"\nkills {count.kills}, sheets {count.sheets}, questions {count.requests}, in flight at a kill "
        f"{count.in_flight}, paid twice {count.twice}, wrong {count.wrong or 'nothing'}"
    )
    assert count.wrong == []
