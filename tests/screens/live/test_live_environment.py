"""Live on an environment's phone: its picture, its user's question, its score, and a server that goes away."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from lab.core.settings import Settings
from lab.runs.spec import Spec
from lab.runs.task_source import task_source
from screens.app import LabApp
from screens.navigation import Opening
from simulators import library
from simulators.environments.reply_endpoint import reply_endpoint
from store.store import Store
from tests.mobileworld import MobileWorldServer, answers, mobileworld
from tests.screens.runs import painted


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[MobileWorldServer]:
    monkeypatch.setenv("HITLAB_ENVIRONMENT_REPLIES", "127.0.0.1:0")
    endpoint = reply_endpoint()
    assert endpoint is not None
    with mobileworld() as server:
        server.user_base = endpoint.base
        yield server


def opened(store: Store, settings: Settings, server: MobileWorldServer) -> LabApp:
    with task_source(server.env, 0) as source:
        task = source.task("LowBattery@tobin")
    task = msgspec.structs.replace(task, playbook=library.task("low_battery").playbook)
    spec = Spec(task, user="human", person="P07", environment=server.env)
    return LabApp(store, settings, Opening("live", spec=spec, resume=None))


async def decide(app: LabApp, pilot: Any, until: Callable[..., Any], server: MobileWorldServer, key: str) -> None:
    """Presses a key until it counts: one that comes before the question could be read does nothing."""
    for _ in range(200):
        await pilot.press(key)
        await until(pilot, lambda: server.chat or "That key came" in painted(app))
        if server.chat:
            return


async def test_a_person_decides_and_the_environment_scores_by_that(
    tmp_path: Path, settings: Settings, until: Callable[..., Any], server: MobileWorldServer
) -> None:
    with Store.open(tmp_path / "lab.db") as store:
        app = opened(store, settings, server)
        async with app.run_test(size=(80, 24)) as pilot:
            await until(pilot, lambda: "turn on battery saver" in " ".join(painted(app).split()))
            await pilot.resize_terminal(120, 40)
            await until(pilot, lambda: "turn on battery saver" in " ".join(painted(app).split()))
            await decide(app, pilot, until, server, "1")
            for size in ((120, 40), (80, 24)):
                await pilot.resize_terminal(*size)
                await until(pilot, lambda: f"scored by {server.url}" in painted(app))
                assert "1.00" in painted(app)
                await until(pilot, lambda: "decision accept" in painted(app))
    assert server.chat[1]["content"] == "<decision>accept</decision>"


async def test_a_server_that_goes_away_is_told_and_the_run_goes_on_when_it_is_back(
    tmp_path: Path, settings: Settings, until: Callable[..., Any], server: MobileWorldServer
) -> None:
    with Store.open(tmp_path / "lab.db") as store:
        app = opened(store, settings, server)
        async with app.run_test(size=(80, 24)) as pilot:
            await until(pilot, lambda: "turn on battery saver" in " ".join(painted(app).split()))
            server.kill()
            await until(pilot, lambda: "does not answer" in painted(app).splitlines()[0])
            assert server.url in painted(app)
            server.start()
            await until(pilot, lambda: "does not answer" not in painted(app).splitlines()[0])
            await decide(app, pilot, until, server, "2")
            await until(pilot, lambda: "decision reject" in painted(app))


async def test_an_environment_that_refuses_to_begin_is_a_sentence_in_the_app(
    tmp_path: Path, settings: Settings, until: Callable[..., Any], server: MobileWorldServer
) -> None:
    with Store.open(tmp_path / "lab.db") as store:
        app = opened(store, settings, server)
        server.faults["/task/init"] = answers(500, b'{"detail": "Failed to initialize task: LowBattery@tobin"}')
        async with app.run_test(size=(80, 24)) as pilot:
            await until(pilot, lambda: "to initialize task: LowBattery@tobin" in painted(app))
        assert store.runs.summaries() == []
