"""Files with fixed runs in them, a developer's seat, and waiting on conditions."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from textual.css.model import RuleSet
from textual.css.stylesheet import Stylesheet

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


@pytest.fixture(scope="session", autouse=True)
def _a_stylesheet_is_parsed_once() -> Iterator[None]:
    """What a test's app parsed of the same text with the same colours, the next need not: a quarter of its start."""
    parse, parsed = Stylesheet._parse_rules, dict[Any, list[RuleSet]]()

    def known(sheet: Stylesheet, css: str, *args: Any, **more: Any) -> list[RuleSet]:
        key = (css, args, tuple(more.items()), tuple(sheet._variables.items()))
        if key not in parsed:
            parsed[key] = parse(sheet, css, *args, **more)
        return parsed[key]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Stylesheet, "_parse_rules", known)
        yield


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
