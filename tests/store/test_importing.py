"""Finding runs among files: nothing outside the folder, nothing without end, a sentence for what is no run."""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import pytest

from lab.errors import LabError
from store.formats import files
from store.importing import Outcome, import_paths
from store.store import Store

STEP: dict[str, Any] = {"task_goal": "g", "step": 1, "prediction": "p", "action": {"action_type": "wait"}}


def run_folder(path: Path) -> Path:
    path.mkdir(parents=True)
    (path / "traj.json").write_text(json.dumps({"0": {"traj": [STEP]}}))
    return path


def errors(store: Store, *paths: Path) -> list[str]:
    report = import_paths(store, paths)
    assert all("\n" not in failed["error"] for failed in report.failed)
    return [failed["error"] for failed in report.failed]


def test_runs_are_found_at_any_depth_in_order_and_told_one_by_one(store: Store, tmp_path: Path) -> None:
    root = tmp_path / "logs"
    for name in ("b/x/T1", "a/T2", "T0"):
        run_folder(root / name)
    told: list[tuple[str, Outcome]] = []
    report = import_paths(store, [root, root / "T0"], on_run=lambda name, outcome: told.append((name, outcome)))
    assert (report.imported, report.skipped) == (3, 1)
    assert [outcome for _, outcome in told] == ["imported"] * 3 + ["skipped"]
    assert [s.task for s in store.summaries()] == ["T1", "T2", "T0"]


def test_a_run_is_named_by_its_folder_its_traj_or_itself(store: Store, tmp_path: Path) -> None:
    path = run_folder(tmp_path / "m" / "T")
    assert import_paths(store, [path / "traj.json"]).imported == 1
    assert import_paths(store, [path, tmp_path / "m"]).skipped == 2


def test_what_holds_no_runs_gets_a_sentence(store: Store, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "notes.txt").write_text("hello")
    (tmp_path / "list.json").write_text("[1]")
    for name, words in (("empty", "no runs"), ("notes.txt", "no runs"), ("list.json", "no runs"), ("x", "not there")):
        (error,) = errors(store, tmp_path / name)
        assert words in error
        assert str(tmp_path / name) in error


def test_a_format_that_is_not_known_is_refused(store: Store, tmp_path: Path) -> None:
    with pytest.raises(LabError, match="known are jsonl, knowu, androidworld"):
        import_paths(store, [tmp_path], "telepathy")
    run_folder(tmp_path / "m" / "T")
    assert import_paths(store, [tmp_path], "knowu").imported == 1


def test_a_damaged_or_short_archive_gets_a_sentence(store: Store, tmp_path: Path) -> None:
    whole = gzip.compress(json.dumps({"T": {"traj": [STEP] * 5000}}).encode(), compresslevel=0)
    (tmp_path / "cut.json.gz").write_bytes(whole[: len(whole) // 2])
    (tmp_path / "no.json.gz").write_bytes(b"PK\3\4")
    (tmp_path / "good.json.gz").write_bytes(gzip.compress(json.dumps({"T": {"traj": [STEP]}}).encode()))
    cut, no = errors(store, tmp_path)
    assert "cut.json.gz" in cut
    assert "cut short" in cut
    assert "no.json.gz" in no
    assert len(store.summaries()) == 1


def test_an_archive_that_grows_without_end_is_left_at_the_limit(tmp_path: Path) -> None:
    bomb = tmp_path / "bomb.json.gz"
    bomb.write_bytes(gzip.compress(b" " * 20_000_000))
    assert bomb.stat().st_size < 50_000
    with pytest.raises(LabError, match=r"bomb\.json\.gz.*more than the 5,000,000"):
        files.unpacked(bomb, most=5_000_000)
    assert len(files.unpacked(bomb, most=20_000_000)) == 20_000_000


def test_links_are_not_followed_out_of_the_folder(store: Store, tmp_path: Path) -> None:
    outside = run_folder(tmp_path / "outside" / "Secret")
    (outside / "secret.png").write_bytes(b"\x89PNG\r\n\x1a\n")
    root = tmp_path / "root"
    (root / "Linked").mkdir(parents=True)
    (root / "Linked" / "traj.json").symlink_to(outside / "traj.json")
    (root / "folder").symlink_to(outside)
    (root / "up").symlink_to("..")
    inside = run_folder(root / "Inside")
    (inside / "screenshots").mkdir()
    (inside / "screenshots" / "Inside-0-1.png").symlink_to(outside / "secret.png")
    report = import_paths(store, [root])
    assert report.imported == 1
    assert [failed["path"] for failed in report.failed] == [str(root / "Linked")]
    assert "leads out of the folder" in report.failed[0]["error"]
    (step,) = store.trace(store.find("Inside")).steps
    assert step.before.image is None
    assert "leads out" in step.extra["screenshot"]


def test_a_pipe_named_like_a_run_does_not_hang(store: Store, tmp_path: Path) -> None:
    (tmp_path / "m").mkdir()
    os.mkfifo(tmp_path / "m" / "traj.json")
    os.mkfifo(tmp_path / "bundle.json")
    (error,) = errors(store, tmp_path)
    assert "is not a file" in error


def test_a_name_that_is_no_text_comes_in(store: Store, tmp_path: Path) -> None:
    try:
        run_folder(Path(os.fsdecode(os.fsencode(tmp_path) + b"/m/T\xff")))
    except OSError:
        pytest.skip("this file system takes only UTF-8 names")
    assert import_paths(store, [tmp_path]).imported == 1
    assert store.summaries()[0].task == "T\u241budcff"


def test_a_store_that_cannot_be_written_ends_the_import(store: Store, tmp_path: Path) -> None:
    run_folder(tmp_path / "m" / "T")
    with Store.open(store.path, readonly=True) as reader, pytest.raises(LabError, match="read-only"):
        import_paths(reader, [tmp_path])
    assert store.summaries() == []


UNPRIVILEGED = """
import os, sys
from pathlib import Path
from store.formats import detect, formats
formats()
if os.geteuid() == 0:
    os.setgid(65534); os.setuid(65534)
for found in detect(Path(sys.argv[1])):
    print(type(found).__name__, getattr(found, "error", ""))
"""


def test_an_unreadable_folder_is_reported_and_the_rest_is_found() -> None:
    """As a user without rights, since root may read anywhere."""
    with tempfile.TemporaryDirectory() as name:
        root = Path(name)
        root.chmod(0o755)
        run_folder(root / "m" / "T")
        (root / "closed").mkdir(mode=0)
        done = subprocess.run(
            [sys.executable, "-B", "-c", UNPRIVILEGED, name],
            cwd=Path(__file__).parents[2], capture_output=True, text=True, check=True,
        )  # fmt: skip
    assert done.stdout.splitlines() == ["Found ", f"Failed {root / 'closed'}: cannot be read (Permission denied)."]
