"""How fast runs come in, against copying and hashing the same bytes; and whether reading one slows with the others.

    python tests/bench/bench_import.py [--json] [--traces FOLDER] [--others 10 1000 5000]

Reports the median of several rounds, made in turn so that a busy machine disturbs both sides alike.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT))

from lab.records import Blob, Imported, numbered  # noqa: E402
from lab.task import Actor, Task  # noqa: E402 - the project is found by path, so that no installation is measured
from lab.trace import AnyEvent, Ended, Started, Step  # noqa: E402
from lab.turn import Action, Observation, Proposed  # noqa: E402
from lab.uitree import Bounds, Node, UiTree  # noqa: E402
from store.importing import import_paths  # noqa: E402
from store.store import Store  # noqa: E402

TRACES = ROOT.parent / "shared" / "traces"


def seconds(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def copy_and_hash(paths: Iterable[Path], into: Path) -> None:
    """Every file read, hashed, written and synced: the least that taking in bytes durably can cost."""
    for i, path in enumerate(paths):
        data = path.read_bytes()
        hashlib.sha256(data).hexdigest()
        with (into / str(i)).open("wb") as out:
            out.write(data)
            out.flush()
            os.fsync(out.fileno())


def files_below(paths: Iterable[Path]) -> list[Path]:
    return [f for path in paths for f in (sorted(path.rglob("*")) if path.is_dir() else [path]) if f.is_file()]


def shots_folder(folder: Path, runs: int, source: Path) -> Path:
    """Runs with real screenshots: the recorded stopwatch run again and again, each picture its own bytes."""
    for i in range(runs):
        run = folder / "model" / f"Stopwatch{i}"
        (run / "screenshots").mkdir(parents=True)
        (run / "traj.json").write_bytes((source / "traj.json").read_bytes())
        for shot in sorted((source / "screenshots").iterdir()):
            (run / "screenshots" / shot.name).write_bytes(shot.read_bytes() + i.to_bytes(4, "big"))
    return folder


def import_rate(name: str, paths: list[Path], rounds: int) -> dict[str, Any]:
    sources = files_below(paths)
    size = sum(path.stat().st_size for path in sources)
    ours, theirs, count = [], [], 0
    for _ in range(rounds):
        with tempfile.TemporaryDirectory() as folder:
            theirs.append(seconds(lambda: copy_and_hash(sources, Path(folder))))
            with Store.open(Path(folder) / "lab.db") as store:
                ours.append(seconds(lambda: import_paths(store, paths)))
                count = len(store.summaries())
    mine, base = statistics.median(ours), statistics.median(theirs)
    return {
        "what": name, "runs": count, "mb": round(size / 1e6, 2), "import_s": round(mine, 3), "copy_s": round(base, 3),
        "runs_per_s": round(count / mine, 1), "mb_per_s": round(size / 1e6 / mine, 2), "rate": round(base / mine, 4),
    }  # fmt: skip


def made_run(i: int, steps: int = 20) -> Imported:
    """A run as the lab itself records them: a UI tree of 60 nodes with each step."""
    tree = UiTree(tuple(Node(Bounds(0, k, 1080, k + 9), text=f"line {k} of {i}", id=f"app:id/{k}") for k in range(60)))
    events: list[AnyEvent] = [Started(trace=f"{i:032x}", task=Task(f"t{i}", "general"), agent=Actor("script", "rule"))]
    before = Observation(size=(1080, 2400), tree=tree)
    events += [Step(index=k, proposed=Proposed(Action("click", at=(k, k))), before=before) for k in range(steps)]
    return Imported(numbered([*events, Ended(status="completed", score=1.0)]), {"": Blob(b"", "x")}, [])


def read_times(others: list[int], reads: int) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory() as folder, Store.open(Path(folder) / "lab.db") as store:
        have = 0
        for count in sorted(others):
            for start in range(have, count + 1, 64):
                store.import_runs([made_run(i) for i in range(start, min(start + 64, count + 1))])
            have = count + 1
            ids = [f"{(k * 7919) % have:032x}" for k in range(reads)]
            read = [seconds(lambda: store.trace(id)) for id in ids]  # noqa: B023
            page = [seconds(lambda: store.summaries(30)) for _ in range(reads)]
            rows.append({
                "others": count, "read_ms": round(statistics.median(read) * 1e3, 2),
                "page_of_30_ms": round(statistics.median(page) * 1e3, 2),
                "all_ms": round(seconds(lambda: store.summaries()) * 1e3, 1),
                "mb": round(store.path.stat().st_size / 1e6, 1),
            })  # fmt: skip
    return rows


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--json", action="store_true", help="one JSON document instead of the tables")
    parser.add_argument("--traces", type=Path, default=TRACES, help="the folder of recorded traces")
    parser.add_argument("--others", type=int, nargs="+", default=[10, 1000, 5000], help="how many other runs")
    parser.add_argument("--rounds", type=int, default=3)
    args = parser.parse_args()
    bundles = sorted((args.traces / "mobileworld").glob("*.json.gz"))
    stopwatch = args.traces / "knowu_converted" / "ClockStopWatchRunning"
    rates = []
    if bundles:
        rates.append(import_rate("4 bundles, packed", bundles, args.rounds))
        rates.append(import_rate("26 run folders", [args.traces / "mobileworld" / "runs"], args.rounds))
    if stopwatch.is_dir():
        with tempfile.TemporaryDirectory() as folder:
            rates.append(import_rate("40 runs with screens", [shots_folder(Path(folder), 40, stopwatch)], args.rounds))
    result = {"import": rates, "read": read_times(args.others, 50)}
    if args.json:
        print(json.dumps(result))
        return 0
    for title, rows in (
        ("import (rate: share of copy+hash speed)", rates),
        ("read one run of 20 steps", result["read"]),
    ):
        print(f"\n{title}")
        for row in [dict(zip(rows[0], rows[0], strict=True)), *rows] if rows else []:
            print(
                "  ".join(
                    f"{value!s:>{22 if i == 0 and 'what' in row else 13}}" for i, value in enumerate(row.values())
                )
            )
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
