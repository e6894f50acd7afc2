"""`make soak`: a server that is crowded, guessed at and flooded, and a person who rates meanwhile."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from pathlib import Path

import pytest

from lab.core.study.study import Study
from lab.serve.connections import allow_many_files
from lab.serve.server import LabServer, ServerPlace
from lab.studies.links import make_link
from store.store import Store
from tests.bench.bench_serve import asked_of, flood, rate
from tests.lab.serve.browser import Browser

IDLE, GUESSES, AT_ONCE = 1_000, 10_000, 50
Crowd = Callable[[LabServer, Store, Study], Awaitable[None]]


async def stand_idle(server: LabServer, store: Store, study: Study) -> None:
    """A thousand connections that ask for nothing, until the server has closed them."""
    allow_many_files()
    idle = [await asyncio.open_connection("127.0.0.1", server.place.port) for _ in range(IDLE)]
    for reader, writer in idle:
        with suppress(ConnectionResetError):
            assert await reader.read(1) == b""
        writer.close()


async def guess(server: LabServer, store: Store, study: Study) -> None:
    """Ten thousand links that there are not, and a real one that another browser has."""
    used = make_link(store, study, "R2", by="boss").token
    owner = Browser(server)
    await owner.begin(used)
    stranger = Browser(server)

    async def ask() -> None:
        for _ in range(GUESSES // AT_ONCE):
            assert (await stranger.get(f"/r/{os.urandom(32).hex()}"))[0] == 404
            assert (await stranger.get(f"/r/{used}"))[0] == 403

    await asyncio.gather(*(ask() for _ in range(AT_ONCE)))
    await stranger.session.close()
    await owner.session.close()


async def flood_keys(server: LabServer, store: Store, study: Study) -> None:
    """Somebody else's window sends keys as fast as their connection takes them, for a while."""
    await flood(server, make_link(store, study, "R2", by="boss").token, time.monotonic() + 20)


@pytest.mark.parametrize("crowd", [stand_idle, guess, flood_keys])
async def test_nobody_is_kept_waiting_by_a_crowd(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, crowd: Crowd) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    times: list[float] = []
    with Store.open(tmp_path / "lab.db") as store:
        study = asked_of(store, 2, 5_000)
        server = LabServer(store, [study], ServerPlace("127.0.0.1", 0))
        await server.start()
        rating = asyncio.create_task(
            rate(server, make_link(store, study, "R1", by="boss").token, float("inf"), 0.2, 0.0, times)
        )
        try:
            while len(times) < 5 and not rating.done():
                await asyncio.sleep(0.1)
            times.clear()
            await crowd(server, store, study)
            assert not rating.done(), rating.result()
        finally:
            rating.cancel()
            with suppress(asyncio.CancelledError):
                await rating
            await server.stop()
    ordered = sorted(times)
    assert ordered
    print(
        f"{crowd.__name__}: {len(ordered)} answers painted, median {ordered[len(ordered) // 2] * 1000:.0f} ms, "
        f"most {ordered[-1] * 1000:.0f} ms"
    )
