"""Kills 1,000 headless runs with SIGKILL at random moments: is every event that was printed in the file?"""

from __future__ import annotations

import argparse
import random
import tempfile
from pathlib import Path

from tests.crashing import Killed, kill_at_random


def main() -> None:
    """Prints kills, events printed, events missing, damaged files; exits 1 where anything is missing."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    dice = random.Random(args.seed)
    killed: list[Killed] = []
    with tempfile.TemporaryDirectory() as folder:
        for kill in range(args.kills):
            killed.append(kill_at_random(Path(folder) / f"{kill // 100}.db", dice))
    missing = sum(len(one.missing) for one in killed)
    damaged = sum(one.integrity != "ok" for one in killed)
    print(f"kills {len(killed)}, in mid-run {sum(not one.ended for one in killed)}")
    print(f"events printed {sum(one.printed for one in killed):,}, missing {missing}, damaged files {damaged}")
    raise SystemExit(bool(missing or damaged))


if __name__ == "__main__":
    main()
