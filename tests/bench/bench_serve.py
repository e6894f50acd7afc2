"""Raters in browsers: how long an answer takes from the key to its paint, what a rater costs, whether any is lost.

    python -m tests.bench.bench_serve [--raters 50] [--minutes 10] [--every 3] [--flood]

A server in this process, an app's process for each rater, a socket for each as a browser would hold one. Each rater
answers the next item every few seconds; the time runs from the sending of the key to the first paint that says it.
With `--flood` one more person sends as many keys as their connection takes, all the while.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import statistics
import tempfile
import time
from contextlib import suppress
from pathlib import Path

import aiohttp

from lab.core.study.protocol import Field, Option, Protocol
from lab.core.study.study import Study, Unit
from lab.serve.server import LabServer, ServerPlace
from lab.studies.links import make_link
from store.store import Store
from tests.lab.serve.browser import Browser
from tests.studies import frozen

_DONE = Field("done", "Was it done?", "nominal", (Option("yes", key="1"), Option("no", key="2")))
_ONE = Protocol("one", "One thing", "run", (_DONE,), guide={"en": "Look closely."})


def asked_of(store: Store, raters: int, units: int) -> Study:
    codes = tuple(f"R{number}" for number in range(1, raters + 1))
    return frozen(store, [Unit(f"u{number}", runs=()) for number in range(units)], _ONE, raters=codes)


async def rate(server: LabServer, token: str, ends: float, every: float, delay: float, times: list[float]) -> int:
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


async def flood(server: LabServer, token: str, ends: float) -> None:
    """Sends keys without end; where it is cut off, it comes again."""
    browser = Browser(server)
    _, room = await browser.begin(token)

    async def pour() -> None:
        while True:
            with suppress(AssertionError, aiohttp.ClientError):
                async with browser.window(room) as window:
                    reading = asyncio.create_task(window.ended())
                    while not reading.done():
                        await window.keys("?" * 200)

    pouring = asyncio.create_task(pour())
    try:
        await asyncio.wait({pouring}, timeout=ends - time.monotonic())
    finally:
        pouring.cancel()
        await browser.session.close()


def _seconds(pid: int) -> float:
    """Seconds of work that a process has taken (Linux)."""
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _memory(pid: int) -> float:
    """A process's own memory in MB: what it shares with others is counted in parts (Linux)."""
    lines = Path(f"/proc/{pid}/smaps_rollup").read_text(encoding="utf-8").splitlines()
    return int(next(line for line in lines if line.startswith("Pss:")).split()[1]) / 1024


async def _run(raters: int, minutes: float, every: float, floods: bool) -> None:
    with tempfile.TemporaryDirectory() as folder, Store.open(Path(folder) / "lab.db") as store:
        study = asked_of(store, raters + floods, int((minutes * 60 + raters) / every) + 10)
        tokens = [make_link(store, study, code, by="bench").token for code in study.raters]
        server = LabServer(store, [study], ServerPlace("127.0.0.1", 0))
        await server.start()
        times: list[float] = []
        opening = raters * 1.0
        ends = time.monotonic() + opening + minutes * 60
        tasks = [
            asyncio.create_task(rate(server, token, ends, every, number * 1.0, times))
            for number, token in enumerate(tokens[:raters])
        ]
        flooding = asyncio.create_task(flood(server, tokens[-1], ends)) if floods else None
        await asyncio.sleep(opening + minutes * 15)
        pids = [one.pid for one in server.windows.values() if not floods or one.link.link.rater != study.raters[-1]]
        began, before = time.monotonic(), {pid: _seconds(pid) for pid in (*pids, os.getpid())}
        done = len(times)
        await asyncio.sleep(minutes * 30)
        memory, load = [_memory(pid) for pid in pids], os.getloadavg()
        lasted, done = time.monotonic() - began, len(times) - done
        work = {pid: _seconds(pid) - seconds for pid, seconds in before.items()}
        answered = sum(await asyncio.gather(*tasks))
        if flooding is not None:
            flooding.cancel()
        await server.stop()
        kept = [(label.rater.id, label.unit) for label in store.labels.read(study)]
    ordered = sorted(times)
    print(f"raters {raters}, {minutes:g} minutes, an answer every {every:g} s{', one who floods' if floods else ''}")
    print(f"answers painted {answered}, kept {len(kept)}, twice {len(kept) - len(set(kept))}")
    print(
        f"key to paint: median {statistics.median(times) * 1000:.0f} ms, "
        f"p95 {ordered[int(len(ordered) * 0.95)] * 1000:.0f} ms, most {ordered[-1] * 1000:.0f} ms"
    )
    print(f"memory of an app: median {statistics.median(memory):.0f} MB, most {max(memory):.0f} MB")
    server_work = work.pop(os.getpid())
    print(
        f"work for an answer and all that it paints: {sum(work.values()) / done * 1000:.0f} ms of its app; server "
        f"and raters together {server_work / lasted:.2f} cores; load average {load[0]:.1f}, {load[1]:.1f}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--raters", type=int, default=50)
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--every", type=float, default=3)
    parser.add_argument("--flood", action="store_true")
    args = parser.parse_args()
    asyncio.run(_run(args.raters, args.minutes, args.every, args.flood))


if __name__ == "__main__":
    main()
