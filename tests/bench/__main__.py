"""Runs every bench, one after the other, and prints each one's table: `python -m tests.bench`."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent


def main() -> int:
    """The worst exit code of all."""
    worst = 0
    for path in sorted(HERE.glob("bench_*.py")):
        sys.stdout.write(f"\n## python -m tests.bench.{path.stem}\n\n")
        sys.stdout.flush()
        worst = max(worst, subprocess.call([sys.executable, "-m", f"tests.bench.{path.stem}"], cwd=HERE.parents[1]))
    return worst


if __name__ == "__main__":
    sys.exit(main())
