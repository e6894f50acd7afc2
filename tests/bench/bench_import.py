"""How fast runs come in, against copying and hashing the same bytes; and whether reading one slows with the others.

    python tests/bench/bench_import.py [--json] [--traces FOLDER] [--others 10 1000 5000]

The 640 recorded runs of MobileWorld as bundles and as folders, and 100 made ones of 40 steps, each with a screen of
1080 x 2400 that no other step has. Reports the median of several rounds, made in turn so that a busy machine disturbs
both sides alike. `copy_s` syncs each file, `lump_s` all of them at the end; `rate` is against the faster of the two.
"""

from __future__ import annotations

import argparse
import hashlib
import io
import json
import os
import random
import statistics
import struct
import sys
import tempfile
import time
import zlib
from collections.abc import Callable, Iterable
from contextlib import ExitStack
from io import FileIO
from pathlib import Path
from typing import Any

from PIL import Image, ImageDraw

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT))

from lab.core.run.run_records import Blob, Imported, number_events  # noqa: E402
from lab.core.run.step import Action, Observation, Proposed  # noqa: E402
from lab.core.run.trace import AnyEvent, Ended, Started, Step  # noqa: E402
from lab.core.run.ui_tree import Bounds, Node, UiTree  # noqa: E402
from lab.core.task.task import Actor, Task  # noqa: E402 - the project is found by path, so that no installation is measured
from store.runs.run_export import export_runs  # noqa: E402
from store.runs.run_import import import_paths  # noqa: E402
from store.store import Store  # noqa: E402

_OPEN = 900
"""Most files that are held open until they are synced."""

TRACES = ROOT.parent / "shared" / "traces"


def seconds(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def copy_and_hash(paths: Iterable[Path], into: Path, *, lump: bool) -> None:
    """Every file read, hashed, written and synced, one by one or in a lump: the least that taking in bytes can cost."""
    with ExitStack() as opened:
        written: list[FileIO] = []
        for i, path in enumerate(paths):
            data = path.read_bytes()
            hashlib.sha256(data).hexdigest()
            out: FileIO = (into / str(i)).open("wb", buffering=0)
            out.write(data)
            if lump and len(written) < _OPEN:
                written.append(opened.enter_context(out))
            else:
                os.fsync(out.fileno())
                out.close()
        for waiting in written:
            os.fsync(waiting.fileno())


def files_below(paths: Iterable[Path]) -> list[Path]:
    return [f for path in paths for f in (sorted(path.rglob("*")) if path.is_dir() else [path]) if f.is_file()]


def screen(mark: int, base: bytes) -> bytes:
    """A PNG with a text chunk that no other has."""
    data = b"tEXtmark\0" + str(mark).encode()
    return base[:33] + struct.pack(">I", len(data) - 4) + data + struct.pack(">I", zlib.crc32(data)) + base[33:]


def drawn(number: int) -> bytes:
    """A screen of 1080 x 2400 as large as real ones are packed: flat parts, lines of text, and a photograph's noise."""
    picture = Image.new("RGB", (1080, 2400), (245, 245, 240 + number))
    pen = ImageDraw.Draw(picture)
    for row in range(30):
        pen.rectangle((20, row * 80, 1060, row * 80 + 70), fill=(230, 235, 255 - row))
        pen.text((40, row * 80 + 20), f"Row {row} of screen {number}: what stands in a list", fill=(20, 20, 20))
    noise = random.Random(number).randbytes(180 * 180 * 3)
    picture.paste(Image.frombytes("RGB", (180, 180), noise), (60, 700))
    kept = io.BytesIO()
    picture.save(kept, "PNG")
    return kept.getvalue()


def made_folders(folder: Path, runs: int, steps: int = 40) -> Path:
    """Runs with a screen for each step, no two of them the same."""
    bases = [drawn(number) for number in range(8)]
    act = {"action_type": "click", "x": 540, "y": 1200}
    for i in range(runs):
        run = folder / "model" / f"Task{i}"
        (run / "screenshots").mkdir(parents=True)
        said = [f"Thought: {i} {k} " + "why this is the next thing to do " * 20 + "\nAction: {}" for k in range(steps)]
        traj = [{"task_goal": "g", "step": k + 1, "prediction": said[k], "action": act} for k in range(steps)]
        (run / "traj.json").write_text(json.dumps({"0": {"tools": None, "traj": traj, "token_usage": None}}))
        for k in range(steps):
            name = f"Task{i}-0-{k + 1}.png"
            (run / "screenshots" / name).write_bytes(screen(i * steps + k, bases[k % len(bases)]))
    return folder


def as_folders(folder: Path, bundles: list[Path]) -> Path:
    """The runs of bundles, each in a folder of its own, as the benchmark's logger leaves them."""
    with Store.open(folder / "from.db") as store:
        import_paths(store, bundles)
        export_runs(store, [run.id for run in store.runs.summaries()], folder / "runs", "knowu")
    return folder / "runs"


def import_rate(name: str, paths: list[Path], rounds: int, *, link: bool = False) -> dict[str, Any]:
    sources = files_below(paths)
    size = sum(path.stat().st_size for path in sources)
    ours: list[float] = []
    single: list[float] = []
    lump: list[float] = []
    count = 0
    for _ in range(rounds):
        for times, together in ((single, False), (lump, True)):
            with tempfile.TemporaryDirectory() as folder:
                times.append(seconds(lambda: copy_and_hash(sources, Path(folder), lump=together)))  # noqa: B023
        with tempfile.TemporaryDirectory() as folder, Store.open(Path(folder) / "lab.db") as store:
            ours.append(seconds(lambda: import_paths(store, paths, link=link)))
            count = len(store.runs.summaries())
    mine, base, whole = statistics.median(ours), statistics.median(single), statistics.median(lump)
    return {
        "what": name, "runs": count, "mb": round(size / 1e6, 2), "import_s": round(mine, 3), "copy_s": round(base, 3),
        "lump_s": round(whole, 3), "runs_per_s": round(count / mine, 1),
        "mb_per_s": round(size / 1e6 / mine, 2), "rate": round(min(base, whole) / mine, 3),
    }  # fmt: skip


def made_run(i: int, steps: int = 20) -> Imported:
    """A run as the lab itself records them: a UI tree of 60 nodes with each step."""
    tree = UiTree(tuple(Node(Bounds(0, k, 1080, k + 9), text=f"line {k} of {i}", id=f"app:id/{k}") for k in range(60)))
    events: list[AnyEvent] = [Started(trace=f"{i:032x}", task=Task(f"t{i}", "general"), agent=Actor("script", "rule"))]
    before = Observation(size=(1080, 2400), tree=tree)
    events += [Step(index=k, proposed=Proposed(Action("click", at=(k, k))), before=before) for k in range(steps)]
    return Imported(number_events([*events, Ended(status="completed", score=1.0)]), {"": Blob(b"", "x")}, [])


def read_times(others: list[int], reads: int) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory() as folder, Store.open(Path(folder) / "lab.db") as store:
        have = 0
        for count in sorted(others):
            for start in range(have, count + 1, 64):
                store.runs.add_all([made_run(i) for i in range(start, min(start + 64, count + 1))])
            have = count + 1
            ids = [f"{(k * 7919) % have:032x}" for k in range(reads)]
            read = [seconds(lambda: store.runs.trace(id)) for id in ids]  # noqa: B023
            page = [seconds(lambda: store.runs.summaries(30)) for _ in range(reads)]
            rows.append({
                "others": count, "read_ms": round(statistics.median(read) * 1e3, 2),
                "page_of_30_ms": round(statistics.median(page) * 1e3, 2),
                "all_ms": round(seconds(lambda: store.runs.summaries()) * 1e3, 1),
                "mb": round(store.path.stat().st_size / 1e6, 1),
            })  # fmt: skip
    return rows


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--json", action="store_true", help="one JSON document instead of the tables")
    parser.add_argument("--traces", type=Path, default=TRACES, help="the folder of recorded traces")
    parser.add_argument("--others", type=int, nargs="+", default=[10, 1000, 5000], help="how many other runs")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--runs", type=int, default=100, help="how many made runs with screens")
    args = parser.parse_args()
    bundles = sorted((args.traces / "mobileworld").glob("*.json.gz"))
    rates = []
    with tempfile.TemporaryDirectory() as made:
        if bundles:
            rates.append(import_rate("bundles, packed", bundles, args.rounds))
            rates.append(import_rate("the same as folders", [as_folders(Path(made), bundles)], args.rounds))
        screens = [made_folders(Path(made) / "screens", args.runs)]
        rates.append(import_rate("40 screens each", screens, args.rounds))
        rates.append(import_rate("the same, linked", screens, args.rounds, link=True))
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
