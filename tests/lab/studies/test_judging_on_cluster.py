"""A cluster's workers ask the model, over real sockets and in real processes; one of them is killed."""

from __future__ import annotations

import json
import logging
import os
import pickle
import threading
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import Future
from pathlib import Path
from queue import SimpleQueue

import pytest

from lab.cli.main import main
from lab.core.errors import LabError
from lab.core.seams import WaitCancelled
from lab.core.study.study import Study
from lab.llm.client import Llm, Message, ModelTerms
from lab.llm.cluster_executor import ClusterExecutor, PackedQuestion, _groups, cluster_address, worker_answer
from lab.llm.executor import ModelQuestion, closing_executor
from lab.studies.judging.judge_terms import JudgingDone
from store.store import Store
from tests.clusters import QUIET, ROOT, LocalWorkers, local_workers
from tests.crossed import soak
from tests.endpoint import ModelServer, Refused, Reply, Request, Said, in_turn, serving
from tests.judges import begun, sheet_brain
from tests.lab.programs import comes
from tests.lab.studies.test_judging import MODEL, RUN_UNIT, check_shown, says
from tests.screens.annotate.host import AGENT, lunch
from tests.screens.runs import WHOLE
from tests.studies import frozen, unit

KEY = "sk-canary-0123456789abcdef"
"""As in `check_shown`."""


@pytest.fixture(scope="module")
def workers() -> Iterator[LocalWorkers]:
    with local_workers(2, env={"OPENAI_API_KEY": KEY}) as started:
        yield started


@pytest.fixture(autouse=True)
def _key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store.open(tmp_path / "lab.db") as opened:
        opened.runs.add(lunch(WHOLE, AGENT))
        yield opened


def judged(store: Store, study: Study, server: ModelServer, address: str) -> JudgingDone:
    job, llm = begun(store, study, server.base)
    job.sign()
    return job.run(llm, executor=ClusterExecutor(address, job.stop))


def answers(store: Store, study: Study) -> int:
    return store.labels.count_acts(study, MODEL, "judged")


@soak
def test_a_killed_worker_loses_nothing_and_pays_twice_only_what_it_was_asking(
    store: Store, workers: LocalWorkers
) -> None:
    sheets = 12
    study = frozen(store, [unit(f"u{n}", runs=(WHOLE,)) for n in range(sheets)], RUN_UNIT)
    good, killed = sheet_brain(says), threading.Event()

    def brain(request: Request) -> Reply:
        if request.number in (6, 7):  # both workers are asking, and all that came before is in the file
            with Store.open(store.database.path, readonly=True) as beside:
                while request.number == 7 and answers(beside, study) < 6:
                    assert not server.closing.wait(0.01)
            if request.number == 7:
                workers.kill(0)
                killed.set()
            assert killed.wait(180)
        return good(request)

    with serving(brain) as server:
        done = judged(store, study, server, workers.address)
        assert (done.progress.done, done.failed, done.ended) == (sheets, (), "")
        assert len(server.requests) == sheets + 1
        assert answers(store, study) == sheets
        assert all(len(one.pictures) > 3 for one in server.requests)
    handed = Counter((act.unit, act.run) for act in store.labels.acts(study, MODEL) if act.act == "commit")
    assert len(handed) == sum(handed.values()) == sheets


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
def test_the_command_judges_on_a_cluster_and_says_what_it_did(
    store: Store,
    workers: LocalWorkers,
    capfd: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    *,
    stream: bool,
) -> None:
    frozen(store, [unit("u1", runs=(WHOLE,))], RUN_UNIT)
    with serving(sheet_brain(says)) as server:
        monkeypatch.setenv("HITLAB_MODEL_BASE", server.base)
        command = ["judge", "trial", "--model", MODEL, "--db", str(store.database.path), "--json"]
        command += ["--stream"] if stream else []
        assert main([*command, "--show-prompt", "u1"]) == 0
        shown = json.loads(capfd.readouterr().out)
        assert main([*command, "--on", workers.address]) == 0
        assert json.loads(capfd.readouterr().out)["done"] == 1
        assert main([*command, "--on", workers.address]) == 0
        assert len(server.requests) == 1
    check_shown(shown["body"], server.requests[0], streamed=stream)


def test_what_a_worker_is_refused_is_told_here(store: Store, workers: LocalWorkers) -> None:
    study = frozen(store, [unit("u1", runs=(WHOLE,))], RUN_UNIT)
    with serving(in_turn(Refused(400, f"no such thing {KEY}"))) as server:
        done = judged(store, study, server, workers.address)
    (failed,) = done.failed
    assert "no such thing" in failed.why
    assert KEY not in failed.why


def test_no_key_is_in_what_travels_or_is_printed(store: Store) -> None:
    study = frozen(store, [unit("u1", runs=(WHOLE,))], RUN_UNIT)
    with serving(in_turn(Refused(401, "wrong key"))) as server:
        job, llm = begun(store, study, server.base)
        question = job.first_question(next(iter(store.studies.units(study))), 1)
        packed = PackedQuestion(ModelQuestion(llm, question.messages, question.schema))
        assert KEY.encode() not in pickle.dumps(packed)
        assert "closely" not in repr(packed)
        answer = worker_answer(packed)
    assert answer.error is not None
    assert KEY not in repr(answer)


def test_a_worker_without_the_key_is_named_before_anything_is_asked(store: Store) -> None:
    with local_workers(1, env={"JUDGE_KEY": ""}) as bare:
        executor = ClusterExecutor(bare.address, threading.Event())
        os.environ["JUDGE_KEY"] = KEY
        try:
            with pytest.raises(LabError, match="JUDGE_KEY, which model_key_env names, is not set") as told:
                executor.check(Llm(MODEL, ModelTerms(key_env="JUDGE_KEY")))
        finally:
            del os.environ["JUDGE_KEY"]
    assert told.value.title.startswith("worker tcp://")
    assert KEY not in told.value.sentence


@pytest.mark.parametrize("address", ["10.0.0.5:8786", "dask://", "dask://host", "dask://host:0", "http://host:8786"])
def test_an_address_that_is_none_is_refused(address: str) -> None:
    with pytest.raises(LabError, match="is no cluster"):
        cluster_address(address)


def test_a_cluster_that_is_not_there_is_a_sentence_and_no_line_of_dasks_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lab.llm.cluster_executor._CONNECTING", 0.2)
    logging.getLogger("distributed.client").setLevel(logging.WARNING)  # as Dask has it once it is loaded
    with pytest.raises(LabError, match="does not answer"):
        ClusterExecutor("dask://127.0.0.1:9", threading.Event())
    loggers = [name for name in logging.root.manager.loggerDict if name.split(".")[0] == "distributed"]
    assert not [name for name in loggers if logging.getLogger(name).isEnabledFor(logging.ERROR)]


def test_a_message_to_the_scheduler_is_bounded() -> None:
    llm = Llm(MODEL)
    asked = [
        ModelQuestion(llm, (Message("user", ("x" * size,)),)) for size in (10, 10, 3_000_000, 3_000_000, 9_000_000)
    ]
    groups = _groups([(PackedQuestion(one), Future()) for one in asked])
    assert [len(group) for group in groups] == [3, 1, 1]


def test_a_question_that_is_on_its_way_ends_with_its_executor(workers: LocalWorkers) -> None:
    executor = ClusterExecutor(workers.address, threading.Event())
    answers = [executor.submit(ModelQuestion(Llm(MODEL), (Message("user", ("Hello",)),))) for _ in range(3)]
    executor.close()
    for answer in answers:
        with pytest.raises((WaitCancelled, LabError)):
            answer.result(30)


def test_that_no_worker_is_left_is_told_and_what_was_asked_is_answered_by_the_next_one(
    workers: LocalWorkers, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("lab.llm.cluster_executor._COUNTED", 0.1)
    stop, told = threading.Event(), SimpleQueue[str]()
    with serving(in_turn(Said("Hello."))) as server:
        llm = Llm(MODEL, ModelTerms(base=server.base))
        with closing_executor(ClusterExecutor(workers.address, stop, tell=told.put), stop) as executor:
            workers.scale(0)
            assert comes(lambda: not workers.pids)
            answer = executor.submit(ModelQuestion(llm, (Message("user", ("Hello",)),)))
            sentence = told.get(timeout=180)
            workers.scale(2)
            assert answer.result(180).text == "Hello."
    assert comes(lambda: len(workers.pids) == 2)
    assert sentence == (
        f"cluster {workers.address}: has no worker left; what is asked waits for one, and goes on by itself. "
        "`dask worker HOST:PORT` starts one."
    )
    assert told.empty()


def test_what_is_told_of_dask_is_what_the_bench_sets() -> None:
    guide = (ROOT / "docs/guides/judges.md").read_text("utf-8")
    assert [f"export {name}={value}\n" in guide for name, value in QUIET.items()] == [True] * 4


def test_an_absent_extra_is_a_sentence_that_names_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "distributed", None)
    with pytest.raises(LabError, match=r"hitlab\[cluster\]"):
        ClusterExecutor("dask://127.0.0.1:9", threading.Event())
