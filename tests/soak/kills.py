"""`make soak`: runs are killed by the hundred, each by another hand than in `tests/lab/runs/test_killed_runs.py`."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from tests.lab.runs.test_killed_runs import kill_and_go_on

FILES, KILLS = 20, 10


@pytest.mark.parametrize("seed", range(FILES))
def test_every_printed_event_is_in_the_file_after_a_kill(tmp_path: Path, seed: int) -> None:
    kill_and_go_on(tmp_path / "lab.db", random.Random(seed), KILLS)
