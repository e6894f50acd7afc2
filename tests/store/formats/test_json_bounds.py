"""JSON that would become more values than there is room for is refused before they are made."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from random import Random

import pytest

from lab.core.errors import LabError
from lab.core.run import input_limits
from lab.core.values import json_size as counting
from lab.core.values.json_size import check_items, check_values
from tests.bounded import MB, bounded, linux_only, refusal
from tests.crossed import crossed, each_once
from tests.fuzzing_examples import examples

BUNDLE = b'{"T": {"result": "score: 1.0", "traj": [{"task_goal": "g", "action": {}}, '
TAU2 = b'{"info": {"agent_info": {}, "user_info": {}}, "simulations": [{"task_id": "1", "messages": []}, '
ODYSSEY = (
    b'[{"episode_id": "1", "device_info": {}, "task_info": {}, "step_length": 1, '
    b'"steps": [{"action": "CLICK", "info": [[1, 2]]}, '
)
DAC = b'[{"episode_id": "1", "instruction": "a", "app": "x", "steps": [{"step_instruction": "a", "action": "Click"}, '


PIECES = 5
"""So many times 10 MB: lists and mappings, at 64 bytes each, that are more than the memory the command may have."""


OPENINGS = {"knowu": BUNDLE, "tau2": TAU2, "odyssey": ODYSSEY, "dac": DAC}
VALUES = {"lists": b"[]", "mappings": b"{}", "numbers": b"0"}


@linux_only
@crossed
@pytest.mark.parametrize(("opened", "held"), each_once(list(OPENINGS), list(VALUES)))
def test_a_small_archive_of_many_values_is_one_sentence(tmp_path: Path, opened: str, held: str) -> None:
    opening, value = OPENINGS[opened], VALUES[held]
    piece = (value + b",") * (10 * MB // (len(value) + 1))
    packed = gzip.compress(opening) + PIECES * gzip.compress(piece, 9)
    assert len(packed) < 200_000
    (tmp_path / "bomb.json.gz").write_bytes(packed)
    said = refusal(bounded("import", "bomb.json.gz", "--db", "x.db", cwd=tmp_path, memory=700 * MB))
    assert "bomb.json.gz" in said
    assert f"more than the {input_limits.JSON_VALUES:,} " in said


@linux_only
def test_an_archive_that_swells_as_no_run_does_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "bomb.json.gz").write_bytes(gzip.compress(BUNDLE) + 30 * gzip.compress(b" " * (10 * MB), 9))
    said = refusal(bounded("import", "bomb.json.gz", "--db", "x.db", cwd=tmp_path))
    assert "unpacks from" in said
    assert "as no recorded run does" in said


def nested(random: Random, depth: int = 0) -> object:
    """Any value, with what makes counting hard in its texts."""
    if depth > 4 or random.random() < 0.4:
        return random.choice([0, None, True, 1.5, "", 'a"b,[{', "\\", '\\"', "\\\\,", "],}", "é☃" * 3])
    if random.random() < 0.5:
        return [nested(random, depth + 1) for _ in range(random.randrange(6))]
    return {f"k{i}\\": nested(random, depth + 1) for i in range(random.randrange(6))}


def held(value: object) -> int:
    """Values below a value."""
    below = list(value.values()) if isinstance(value, dict) else value if isinstance(value, list) else []
    return len(below) + sum(map(held, below))


@crossed
@pytest.mark.parametrize("piece", [2, 3, 7, 64, MB])
def test_values_are_counted_exactly_whatever_stands_in_their_texts(monkeypatch: pytest.MonkeyPatch, piece: int) -> None:
    monkeypatch.setattr(counting, "_PIECE", piece)
    for seed in range(examples(150)):
        value = [nested(Random(seed)) for _ in range(3)]
        data = json.dumps(value, indent=seed % 3 or None).encode()
        for count, check in ((held(value), check_values), (len(value) - 1, check_items)):
            monkeypatch.setattr(input_limits, "JSON_VALUES", count)
            if piece == MB:  # an empty list that two pieces share is counted as if it held something
                check(data, "x")
            monkeypatch.setattr(input_limits, "JSON_VALUES", max(0, count - 1))
            if count > 1:
                with pytest.raises(LabError, match="that are read"):
                    check(data, "x")
