"""Files with fixed runs in them, a developer's seat, and waiting on conditions."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from lab.settings import Settings
from store.store import Store
from tests.screens.runs import WAITING, bare_run, waiting_run, whole_run


@pytest.fixture(autouse=True)
def _utc(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    """Times are painted in UTC, and nothing is read from or written to another test's folders."""
    monkeypatch.setenv("TZ", "UTC")
    for kind in ("DATA", "CONFIG", "CACHE"):
        monkeypatch.setenv(f"XDG_{kind}_HOME", str(tmp_path / kind.lower()))
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Store]:
    """An empty file, by a name that is the same everywhere."""
    monkeypatch.chdir(tmp_path)
    with Store.open(Path("lab.db")) as opened:
        yield opened


@pytest.fixture
def full(store: Store) -> Store:
    """A file with a whole run, a bare one, and one that waits at a question."""
    store.import_run(whole_run())
    store.import_run(bare_run())
    for event in waiting_run():
        store.append_event(WAITING, event)
    return store


@pytest.fixture
def settings() -> Settings:
    """A developer's seat."""
    return Settings()


@pytest.fixture
def until() -> Callable[..., Awaitable[None]]:
    """Waits for a condition while the app works; fails after many turns."""

    async def wait(pilot: Any, condition: Callable[[], bool]) -> None:
        # Not pilot.pause: it waits for an idle processor, which a live run or a busy machine never has.
        for _ in range(2000):
            await asyncio.sleep(0.01)
            if condition():
                return
        raise AssertionError("the condition never came true")

    return wait
