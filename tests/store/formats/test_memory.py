"""Large sources under a memory limit: many MB of each kind come in, or are refused, within a bounded memory."""

from __future__ import annotations

import gzip
import json
import pickle
import sys
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.store.formats.samples import episodes
from tests.warm_code import python

ROOT = Path(__file__).parents[3]
MB = 1024**2
SIZE = 10 * MB
LIMIT = 160 * MB
"""What a process may have beside the program itself; reading JSON takes several times the JSON's size.

`make soak` brings in 64 MB within a gigabyte, of which the program takes a quarter.
"""
ROOMY = 768 * MB

CHILD = """
import resource, sys
from pathlib import Path
own = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (own + int(sys.argv[3]),) * 2)
from store.runs.run_import import import_paths
from store.store import Store
with Store.open(Path(sys.argv[1])) as store:
    report = import_paths(store, [Path(sys.argv[2])])
    assert store.check() == []
    print(report.imported, len(report.failed))
    for failed in report.failed:
        print(failed.error)
"""

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="only Linux limits a process's memory")


def brought_in(source: Path, limit: int) -> tuple[int, list[str]]:
    """Runs that came in, and what was said of the others, in a process that may have so much more memory."""
    done = python(CHILD, source.with_name("lab.db"), source, limit, text=True)
    assert done.returncode == 0, done.stderr[-2000:]
    first, *said = done.stdout.splitlines()
    return int(first.split()[0]), said


def step(number: int, size: int) -> dict[str, Any]:
    said = f"{number} " + "word " * (size // 5)
    return {"task_goal": "g", "step": number, "prediction": said, "action": {"action_type": "wait"}}


def bundle(size: int, step_size: int = 6000) -> Iterator[bytes]:
    """A leaderboard bundle of about `size` bytes: real ones have some 6 KB in each step."""
    yield b"{"
    run = b"[" + b", ".join(json.dumps(step(i, step_size)).encode() for i in range(1, 41)) + b"]"
    for i in range(size // len(run)):
        yield (
            (b", " if i else b"") + f'"Task{i}": {{"result": "score: 1.0\\nreason: {i}", "traj": '.encode() + run + b"}"
        )
    yield b"}"


def plain(path: Path) -> Path:
    with (path / "bundle.json").open("wb") as file:
        file.writelines(bundle(SIZE))
    return path / "bundle.json"


def packed(path: Path) -> Path:
    with gzip.open(path / "bundle.json.gz", "wb", compresslevel=1) as file:
        file.writelines(bundle(SIZE))
    return path / "bundle.json.gz"


def folder(path: Path) -> Path:
    (path / "m" / "T").mkdir(parents=True)
    steps = [step(i, 64 * 1024) for i in range(1, SIZE // (64 * 1024))]
    (path / "m" / "T" / "traj.json").write_text(json.dumps({"0": {"traj": steps}}))
    return path / "m"


def lines(path: Path) -> Path:
    (path / "Do_it").mkdir()
    call = {"name": "mobile_use", "arguments": {"action": "type", "text": "x" * 6000}}
    with (path / "Do_it" / "action.jsonl").open("w") as file:
        file.writelines(json.dumps(call) + "\n" for _ in range(SIZE // 6000))
    return path / "Do_it"


def ours(path: Path) -> Path:
    (path / "r" / "r").mkdir(parents=True)
    started = {"event": "started", "seq": 0, "trace": "r", "task": {"id": "t", "kind": "general", "instruction": "x"},
               "agent": {"kind": "script", "id": "a"}}  # fmt: skip
    count = SIZE // 6000
    with (path / "r" / "r" / "run.jsonl").open("w") as file:
        file.write(json.dumps({"run": {"format": "hitlab run", "v": 1, "trace": "r"}}) + "\n")
        file.write(json.dumps({"event": started}) + "\n")
        for i in range(count):
            proposed = {"action": {"kind": "wait"}, "thought": "x" * 6000}
            event = {"event": "step", "seq": i + 1, "index": i, "proposed": proposed}
            file.write(json.dumps({"event": event}) + "\n")
        file.write(json.dumps({"end": {"lines": count + 2}}) + "\n")
    return path / "r"


def log(path: Path) -> Path:
    header = {"version": 2, "status": "success", "eval": {"run_id": "r", "task": "t", "model": "m", "created": "2025"}}
    with zipfile.ZipFile(path / "log.eval", "w", zipfile.ZIP_DEFLATED, compresslevel=1) as file:
        file.writestr("header.json", json.dumps(header))
        for i in range(16):
            said = [{"role": "assistant", "content": "word " * 1200} for _ in range(SIZE // 16 // 6000)]
            file.writestr(
                f"samples/{i}_epoch_1.json", json.dumps({"id": i, "epoch": 1, "input": "x", "messages": said})
            )
    return path / "log.eval"


def pickled(path: Path) -> Path:
    (episode,) = episodes()
    columns = {**episode["episode_data"], "summary_prompt": ["x" * (SIZE // 2)] * 1 + ["y" * (SIZE // 2)]}
    (path / "run").mkdir()
    with gzip.open(path / "run" / "T_0.pkl.gz", "wb", compresslevel=1) as file:
        file.write(pickle.dumps([{**episode, "episode_data": columns}]))
    return path / "run"


LARGE = [plain, packed, folder, lines, ours, log, pickled]


@pytest.mark.parametrize("made", LARGE)
def test_many_mb_come_in_within_the_limit(made: Callable[[Path], Path], tmp_path: Path) -> None:
    imported, said = brought_in(made(tmp_path), LIMIT)
    assert (imported > 0, said) == (True, [])


def bomb(path: Path) -> Path:
    """A megabyte that unpacks to one gigabyte: beyond what is read, and beyond the memory."""
    piece = gzip.compress(b" " * (16 * MB))
    with (path / "bomb.json.gz").open("wb") as file:
        file.write(gzip.compress(b'{"T": {"traj": [{"action": "'))
        for _ in range(64):
            file.write(piece)
    return path / "bomb.json.gz"


def long_line(path: Path) -> Path:
    """A gigabyte without an end of line, which takes no room on the disk."""
    (path / "r").mkdir()
    with (path / "r" / "run.jsonl").open("wb") as file:
        file.write(b'{"run":{"format":"hitlab run"')
        file.truncate(1024 * MB)
    return path / "r"


def huge(path: Path) -> Path:
    """A bundle beyond the limit of what is read."""
    with (path / "huge.json").open("wb") as file:
        file.write(b'{"T": {"traj": [{"action": "')
        file.truncate(2048 * MB)
    return path / "huge.json"


@pytest.mark.parametrize("made", [bomb, long_line, huge])
def test_what_is_beyond_the_limit_is_refused_with_a_sentence(made: Callable[[Path], Path], tmp_path: Path) -> None:
    imported, (said,) = brought_in(made(tmp_path), LIMIT)
    assert imported == 0
    assert any(words in said for words in ("memory", "more than", "longer than")), said
