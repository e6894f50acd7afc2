"""hitlab metrics over many runs: the numbers of runs held in memory, in memory that hardly grows with their steps."""

from __future__ import annotations

import json
import tempfile
import tracemalloc
from pathlib import Path
from typing import Any

import msgspec
import pytest

from annotators.papers.measurement import measure_groups
from lab.cli.main import main
from lab.core.codec import encode
from store.runs.run_import import import_paths
from store.store import Store
from tests.bench.bench_metrics import STEPS_A_RUN, runs
from tests.store.formats.fuzzing import laid
from tests.store.formats.samples import samples


def filled(path: Path, count: int) -> Path:
    """A file of so many runs of 40 steps, some of them demonstrations."""
    with Store.open(path) as store:
        store.runs.add_all(list(runs(count * STEPS_A_RUN)))
    return path


def told(capsys: pytest.CaptureFixture[str], db: Path, *words: str) -> dict[str, Any]:
    assert main(["metrics", "--db", str(db), "--json", *words]) == 0
    answer: dict[str, Any] = json.loads(capsys.readouterr().out)
    return answer


@pytest.mark.parametrize("by", [(), ("source", "agent")])
def test_numbers_are_those_of_runs_in_memory(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], by: tuple[str, ...]
) -> None:
    db = filled(tmp_path / "lab.db", 130)
    for name, files in samples().items():
        laid(tmp_path / "all" / name, files)
    with Store.open(db) as store:
        assert import_paths(store, [tmp_path / "all"]).failed == []
        in_memory = [case for case in store.runs.measured() if case.status != "open"]
        assert sum(len(case.steps) for case in in_memory) > 5_000
        assert (
            {bool(case.verdicts) for case in in_memory} == {bool(case.steps[2:]) for case in in_memory} == {True, False}
        )
        expected = json.loads(encode(measure_groups(in_memory, by)))
    found = told(capsys, db, *(("--by", ",".join(by)) if by else ()))
    assert found["groups"] == msgspec.to_builtins(expected)
    assert sum(number["value"] is not None for group in found["groups"] for number in group["numbers"]) > 100


def test_memory_hardly_grows_with_the_number_of_steps(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    db = filled(tmp_path / "lab.db", 155)
    with Store.open(db) as store:
        ids = [run.id for run in reversed(store.runs.summaries())]
    told(capsys, db, *ids[:4])  # what is loaded once is loaded
    peaks = []
    for count in (65, 155):
        tracemalloc.start()
        try:
            told(capsys, db, *ids[:count])
            peaks.append(tracemalloc.get_traced_memory()[1])
        finally:
            tracemalloc.stop()
    assert (peaks[1] - peaks[0]) / 90 < STEPS_A_RUN * 500, peaks  # held in memory, a step takes 1,000 bytes


def test_a_full_disk_is_told_in_a_sentence(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    db = filled(tmp_path / "lab.db", 150)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "gone"))
    assert main(["metrics", "--db", str(db)]) == 1
    said = capsys.readouterr()
    assert "temporary file: cannot be written: No such file or directory." in said.err
    assert "TMPDIR" in said.err
    assert not said.out
