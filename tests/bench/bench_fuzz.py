"""Ten thousand spoilt sources of every format, and a gigabyte of JSON: nothing breaks, and nothing comes in by halves.

    python tests/bench/bench_fuzz.py [--cases 10000] [--first 0] [--json] [--traces FOLDER]

Each case is spoilt by its number alone, so that `--first N --cases 1` tries one again. Exits with 1 where one failed.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
import traceback
from collections import Counter
from pathlib import Path
from random import Random
from typing import Any

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT))

from tests.store.formats.fuzzing import Outside, TooLong, empty_store, spoilt, survives  # noqa: E402
from tests.store.formats.samples import Files, recorded, samples  # noqa: E402 - the project is found by path
from tests.store.formats.test_memory import CHILD, bundle  # noqa: E402

GIGABYTE = 1024**3
LIMIT = 8 * GIGABYTE


def attempt(seed: int, name: str, files: Files, work: Path, outside: Outside, template: Path) -> str:
    """What became of one case: in, failed, nothing, or the exception that must not be."""
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir()
    done = ""
    try:
        done = spoilt(work / "in" / "source", files, Random(seed), outside)
        report = survives(work / "in" / "source", work, outside, template)
    except (Exception, TooLong) as error:  # noqa: BLE001 - that there is none is what is measured
        place = traceback.extract_tb(error.__traceback__)[-1]
        said = str(error).splitlines()[:1]
        return f"case {seed} ({name}: {done}): {type(error).__name__} {said} at {place.filename}:{place.lineno}"
    return "in" if report.imported else "failed" if report.failed else "nothing"


def fuzzed(first: int, cases: int, traces: Path) -> tuple[dict[str, Counter[str]], list[str]]:
    """Counts by format of what became of the cases, and a line for each that broke."""
    sources = {**samples(), **recorded(traces)}
    names = sorted(sources)
    counts: dict[str, Counter[str]] = {name: Counter() for name in names}
    broken = []
    with tempfile.TemporaryDirectory() as folder:
        base = Path(folder)
        (base / "here").mkdir()
        os.chdir(base / "here")
        outside, template = Outside(base / "outside"), empty_store(base / "template.db")
        for seed in range(first, first + cases):
            name = names[seed % len(names)]
            became = attempt(seed, name, sources[name], base / "work", outside, template)
            if became.startswith("case"):
                broken.append(became)
                became = "broken"
            counts[name][became] += 1
        os.chdir(ROOT)
    return counts, broken


def gigabyte() -> dict[str, Any]:
    """A bundle of one gigabyte, in a process that may have eight: in, or refused with a sentence."""
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "bundle.json"
        with source.open("wb") as file:
            file.writelines(bundle(GIGABYTE - 1024**2))
        start = time.perf_counter()
        command = [sys.executable, "-c", CHILD, str(Path(folder) / "lab.db"), str(source), str(LIMIT)]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
        took = time.perf_counter() - start
    said = done.stdout.split("\n", 1)
    return {"mb": GIGABYTE // 10**6, "exit": done.returncode, "imported failed": said[0], "s": round(took, 1)}


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--cases", type=int, default=10_000)
    parser.add_argument("--first", type=int, default=0, help="the number of the first case")
    parser.add_argument("--json", action="store_true", help="one JSON document instead of the table")
    parser.add_argument("--no-gigabyte", action="store_true", help="leave the large file out")
    parser.add_argument("--traces", type=Path, default=ROOT.parent / "shared" / "traces", help="recorded traces")
    args = parser.parse_args()
    start = time.perf_counter()
    counts, broken = fuzzed(args.first, args.cases, args.traces)
    took = time.perf_counter() - start
    large = {} if args.no_gigabyte else gigabyte()
    if args.json:
        print(
            json.dumps({"cases": args.cases, "s": round(took, 1), "counts": counts, "broken": broken, "large": large})
        )
    else:
        print(f"{args.cases:,} cases in {took:.0f} s, {len(broken)} broken; a gigabyte of JSON: {large}")
        for name, count in counts.items():
            print(
                f"{name:>24}  "
                + "  ".join(f"{count[word]:>6} {word}" for word in ("in", "failed", "nothing", "broken"))
            )
        print("\n".join(broken))
    return 1 if broken or large.get("exit") else 0


if __name__ == "__main__":
    raise SystemExit(main())
