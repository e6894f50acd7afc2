"""A rater's program that is killed: no label that was told of is lost, and the file is whole and takes the next."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from tests.crashing_labels import compared, kill_at_random, laid
from tests.crossed import crossed, spread

KILLS = 25


@pytest.fixture(scope="module")
def db(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("killed") / "lab.db"
    laid(path)
    return path


@crossed
@pytest.mark.parametrize("kill", spread(range(KILLS), 6))
def test_what_was_told_of_is_there(db: Path, kill: int) -> None:
    killed = kill_at_random(db, random.Random(kill))
    assert killed.printed
    assert killed.missing == []
    assert killed.wrong == []


def test_a_label_that_was_not_kept_would_be_missed(db: Path) -> None:
    """The control of those above."""
    assert compared(db, ["no such label"]).missing == ["no such label"]
