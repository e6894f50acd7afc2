"""Raters in browsers: how long an answer takes from the key to its paint, what a rater costs, whether any is lost.

    python -m tests.bench.bench_serve [--raters 50] [--minutes 10] [--every 3]

A server in this process, an app's process for each rater, a socket for each as a browser would hold one. Each rater
answers the next item every few seconds; the time runs from the sending of the key to the first paint that says it.
"""

from __future__ import annotations

import argparse
import asyncio
import statistics
import tempfile
import time
from pathlib import Path

from lab.core.protocol import Field, Option, Protocol
from lab.core.study import Study, Unit
from lab.serve.server import LabServer, ServerPlace
from lab.studies.links import make_link
from store.store import Store
from tests.lab.serve.browser import Browser
from tests.studies import frozen

_DONE = Field("done", "Was it done?", "nominal", (Option("yes", key="1"), Option("no", key="2")))
_ONE = Protocol("one", "One thing", "run", (_DONE,), guide={"en": "Look closely."})


def _study(store: Store, raters: int, units: int) -> Study:
    codes = tuple(f"R{number}" for number in range(1, raters + 1))
    return frozen(store, [Unit(f"u{number}", runs=()) for number in range(units)], _ONE, raters=codes)


async def _rate(server: LabServer, token: str, ends: float, every: float, delay: float, times: list[float]) -> int:
    """One rater: opens their room and answers, an item each time; gives how many answers were painted."""
    await asyncio.sleep(delay)
    browser, answered = Browser(server), 0
    try:
        _, room = await browser.begin(token)
        async with browser.window(room) as window:
            await window.until("Was it done?")
            while time.monotonic() < ends:
                window.painted = ""
                began = time.perf_counter()
                await window.keys("1")
                await window.until("saved")
                times.append(time.perf_counter() - began)
                answered += 1
                await window.keys("\r")
                await asyncio.sleep(every)
                await window.rest()
    finally:
        await browser.session.close()
    return answered


def _memory(pid: int) -> float:
    """A process's own memory in MB: what it shares with others is counted in parts (Linux)."""
    lines = Path(f"/proc/{pid}/smaps_rollup").read_text(encoding="utf-8").splitlines()
    return int(next(line for line in lines if line.startswith("Pss:")).split()[1]) / 1024


async def _run(raters: int, minutes: float, every: float) -> None:
    with tempfile.TemporaryDirectory() as folder, Store.open(Path(folder) / "lab.db") as store:
        study = _study(store, raters, int((minutes * 60 + raters) / every) + 10)
        tokens = [make_link(store, study, code, by="bench").token for code in study.raters]
        server = LabServer(store, [study], ServerPlace("127.0.0.1", 0))
        await server.start()
        times: list[float] = []
        opening = raters * 1.0
        ends = time.monotonic() + opening + minutes * 60
        tasks = [
            asyncio.create_task(_rate(server, token, ends, every, number * 1.0, times))
            for number, token in enumerate(tokens)
        ]
        await asyncio.sleep(opening + minutes * 30)
        memory = [_memory(one.pid) for one in server.windows.values()]
        answered = sum(await asyncio.gather(*tasks))
        await server.stop()
        kept = [(label.rater.id, label.unit) for label in store.labels.read(study)]
    ordered = sorted(times)
    print(f"raters {raters}, {minutes:g} minutes, an answer every {every:g} s")
    print(f"answers painted {answered}, kept {len(kept)}, twice {len(kept) - len(set(kept))}")
    print(
        f"key to paint: median {statistics.median(times) * 1000:.0f} ms, "
        f"p95 {ordered[int(len(ordered) * 0.95)] * 1000:.0f} ms, most {ordered[-1] * 1000:.0f} ms"
    )
    print(f"memory of an app: median {statistics.median(memory):.0f} MB, most {max(memory):.0f} MB")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--raters", type=int, default=50)
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--every", type=float, default=3)
    args = parser.parse_args()
    asyncio.run(_run(args.raters, args.minutes, args.every))


if __name__ == "__main__":
    main()
