"""The workers of a cluster ask an agent's model; phones and file stay here, and no key is needed here."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from concurrent.futures import Future
from pathlib import Path
from subprocess import DEVNULL, PIPE

import pytest

from lab.core.errors import LabError
from lab.llm.client import Llm, ModelAnswer, ModelTerms
from lab.llm.executor import RemoteModel
from tests.bench.timed_model import act
from tests.clusters import LocalWorkers, local_workers
from tests.crossed import soak
from tests.endpoint import Request, Said, serving
from tests.lab.cli.test_commands import Hitlab, hitlab
from tests.warm import Warm

__all__ = ["hitlab"]

TASK = """
kind: general
instruction: Open the app Settings
budget: 3
checks: [{name: settings open, path: nav.app, equals: settings}]
"""


@pytest.fixture
def tasks(hitlab: Hitlab, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Two small tasks in the working folder, a script that never needs to answer, and no key in this process."""
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    for name in ("one", "two"):
        Path(f"{name}.yaml").write_text(TASK, encoding="utf-8")
    Path("silent.yaml").write_text("replies: []\n", encoding="utf-8")
    return ["one.yaml", "two.yaml", "--user", "script:silent.yaml", "--jobs", "2"]


@pytest.fixture(scope="module")
def workers() -> Iterator[LocalWorkers]:
    with local_workers(1, threads=2, env={"OPENAI_API_KEY": "sk-of-the-worker-0123456789"}) as started:
        yield started


@soak
def test_workers_ask_the_model_of_agents(
    hitlab: Hitlab, tasks: list[str], workers: LocalWorkers, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = ["run", *tasks, "--agent", "model:openai/tiny", "--db", "x.db", "--json"]
    with serving(lambda request: Said(act(request.data))) as server:
        monkeypatch.setenv("HITLAB_MODEL_BASE", server.base)
        done = hitlab(*words, "--on", workers.address)
        assert done.code == 0, done.err
        assert [task["passes"] for task in done.json["tasks"]] == [1, 1]
        assert len(server.requests) == 6
        assert all(len(request.pictures) == 1 for request in server.requests)
        assert {request.headers["authorization"] for request in server.requests} == {
            "Bearer sk-of-the-worker-0123456789"
        }


@soak
def test_a_run_whose_cluster_has_no_worker_left_says_what_it_waits_for(tasks: list[str], tmp_path: Path) -> None:
    words = ["run", *tasks, "--agent", "model:openai/tiny", "--db", "x.db"]

    def answers(request: Request) -> Said:
        if request.number == 1:
            cluster.scale(0)
        return Said(act(request.data))

    with (
        local_workers(1, env={"OPENAI_API_KEY": "sk-of-the-worker-0123456789"}) as cluster,
        serving(answers) as server,
    ):
        env = {**os.environ, "HITLAB_MODEL_BASE": server.base}
        lab = Warm([*words, "--on", cluster.address], cwd=tmp_path, env=env, stdin=DEVNULL, stderr=PIPE, text=True)
        assert lab.stderr is not None
        assert "has no worker left; what is asked waits for one, and goes on by itself." in lab.stderr.readline()
        cluster.scale(1)
        said = lab.stderr.read()
        assert (lab.wait(180), said.count("completed, score 1")) == (0, 2), said


def test_a_cluster_that_is_lost_promises_no_batch_that_goes_on() -> None:
    class Lost:
        width = 1

        def submit(self, question: object) -> Future[ModelAnswer]:
            raise LabError("cluster c", "was lost.", "The same line goes on.")

        def close(self, *, at_once: bool = False) -> None: ...

    model = RemoteModel(Llm("openai/tiny", ModelTerms()), Lost())
    with pytest.raises(LabError, match="cluster c: was lost") as told:
        model.ask([], threading.Event())
    assert (model.lost, "begins each of them anew" in told.value.hint) == (told.value, True)


def test_what_no_cluster_can_ask_is_refused(hitlab: Hitlab, tasks: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lab.llm.cluster_executor._CONNECTING", 0.2)
    done = hitlab("run", *tasks, "--agent", "process:true", "--on", "dask://127.0.0.1:9", "--db", "y.db")
    assert (done.code, "--cluster: has workers ask a model; the agent process:true is none." in done.err) == (2, True)
    done = hitlab("run", *tasks, "--agent", "model:openai/tiny", "--on", "127.0.0.1:9", "--db", "y.db")
    assert (done.code, "--cluster: '127.0.0.1:9' is no cluster" in done.err) == (2, True)
    done = hitlab("run", *tasks, "--agent", "model:openai/tiny", "--on", "dask://127.0.0.1:9", "--db", "y.db")
    assert (done.code, "cluster dask://127.0.0.1:9: does not answer" in done.err) == (1, True)
    assert not Path("y.db").exists()
