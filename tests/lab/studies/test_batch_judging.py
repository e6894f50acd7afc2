"""A judge's questions go in a provider's batches, over a real socket: in rounds, durable, at half the price."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from annotators.judging import picture_sheet
from annotators.protocols import protocol
from lab.cli.main import main
from lab.core.errors import LabError
from lab.core.study.label import Label
from lab.core.study.study import Study, Unit
from lab.llm.batch import BatchApi
from lab.llm.client import Llm, NoModelAnswer
from lab.studies.judging.batch_judging import BatchJudging
from lab.studies.judging.judge_questions import estimated
from lab.studies.judging.judge_terms import JobProgress, JudgingDone
from lab.studies.judging.judging import JudgingJob
from store.store import Store
from tests.batch_endpoint import BatchServer, batching
from tests.crossed import soak
from tests.endpoint import Cut, Refused, Reply, Request, Said, serving
from tests.judges import begun, sheet_brain
from tests.lab.studies.test_judging import MODEL, RUN_UNIT, labels, says
from tests.lab.studies.test_memgui_judge import staged, study_of
from tests.screens.annotate.host import AGENT, lunch
from tests.screens.runs import BARE, WHOLE, bare_run
from tests.studies import frozen, unit

KEY = "sk-canary-0123456789abcdef"
ONE = (1000 + 4 * 20) / 1e6
"""US dollars of a question alone."""


@pytest.fixture(autouse=True)
def _key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store.open(tmp_path / "lab.db") as opened:
        opened.runs.add(lunch(WHOLE, AGENT))
        yield opened


@pytest.fixture
def study(store: Store) -> Study:
    return frozen(store, [unit(f"u{n}", runs=(WHOLE,)) for n in range(4)], RUN_UNIT)


def batched(store: Store, study: Study, base: str, **terms: Any) -> tuple[JudgingJob, BatchJudging, Llm]:
    job, llm = begun(store, study, base, **terms)
    return job, BatchJudging(job, llm, 0.01), llm


def judged(store: Store, study: Study, server: BatchServer, **terms: Any) -> JudgingDone:
    job, batches, _ = batched(store, study, server.base, **terms)
    job.sign()
    return batches.go()


def test_all_sheets_go_in_one_batch_at_half_the_price(store: Store, study: Study) -> None:
    with batching(sheet_brain(says)) as server:
        done = judged(store, study, server, runs=2)
        assert (done.progress.done, done.progress.total, done.progress.asked) == (8, 8, 8)
        assert (done.progress.found, done.failed, done.unusable, done.ended) == (0, (), 0, "")
        assert done.progress.spent == pytest.approx(8 * ONE / 2)
        assert (len(server.batches), len(server.asked), server.alone) == (1, 8, [])
        assert judged(store, study, server, runs=2).progress.total == 0
        assert len(server.batches) == 1
        assert KEY.encode() not in b"".join(server.files.values())
    assert [one.cost for one in labels(store, study) if one.cost] == [pytest.approx(ONE / 2)] * 8


def test_a_line_of_a_batch_is_what_is_sent_alone(store: Store, study: Study) -> None:
    good = sheet_brain(says)
    with serving(good) as other:
        job, _, llm = batched(store, study, other.base)
        question = job.first_question(next(iter(store.studies.units(study))), 1)
        llm.ask(question.messages, threading.Event(), question.schema)
        (alone,) = other.requests
    with batching(good) as server:
        judged(store, study, server)
    assert server.asked[0].json == alone.json
    assert len(server.asked[0].pictures) > 3


def test_a_method_of_stages_goes_in_rounds_and_describes_each_step_once(store: Store) -> None:
    study = study_of(store)
    brain = staged(triage={"decision": "uncertain"}, semantic={"decision": "failure"})
    picture_sheet._sheet.cache_clear()
    with batching(brain) as server:
        done = judged(store, study, server, runs=3)
        assert (done.progress.done, done.progress.found) == (3, 0)
        # three triages, six descriptions one after the other, three semantic questions
        assert len(server.asked) == 3 + 6 + 3
        assert len(server.batches) == 8
    assert picture_sheet._sheet.cache_info().misses == 6, "a sheet of pictures is drawn once for all rounds and runs"


@soak
def test_a_stage_of_another_model_goes_in_batches_of_its_own(store: Store) -> None:
    study = study_of(store)
    brain = staged(triage={"decision": "uncertain"}, semantic={"decision": "failure"})
    with batching(brain) as server:
        done = judged(store, study, server, stages={"description": "openai/tinier"}, runs=2)
        assert (done.progress.done, done.failed, server.alone) == (2, (), [])
    models = [[json.loads(line)["body"]["model"] for line in file.splitlines()] for file in _sent(server)]
    assert models == [["tiny"] * 2, *([["tinier"]] * 6), ["tiny"] * 2]
    acts = store.labels.each_act(study, MODEL, "judged")
    told = {(act.detail["stage"], act.detail["model"]) for act in acts}
    assert told == {("triage", MODEL), ("description", "openai/tinier"), ("semantic", MODEL)}


@soak
def test_a_batch_of_a_stage_that_was_left_open_is_taken_later(store: Store) -> None:
    study = study_of(store)
    brain = staged(triage={"decision": "uncertain"}, semantic={"decision": "failure"})
    with batching(brain) as server:
        job, batches, _ = batched(store, study, server.base, stages={"triage": "openai/tinier"})
        job.sign()
        server.go.clear()
        job.closing = True
        assert batches._send_round(lambda: None) == []
        job.closing, job.ended = False, ""
        assert [one.model for one in batches._send_round(lambda: None)] == ["openai/tinier"]
        server.go.set()
        done = judged(store, study, server, stages={"triage": "openai/tinier"})
        assert (done.progress.done, len(_sent(server))) == (1, 1 + 6 + 1)


def _sent(server: BatchServer) -> list[bytes]:
    """The files of questions, in order."""
    return [server.files[one["input_file_id"]] for one in server.batches.values()]


def test_what_is_unusable_is_repaired_in_the_next_round(store: Store, study: Study) -> None:
    good = sheet_brain(says)

    def brain(request: Request) -> Reply:
        return Said("no idea") if request.number == 1 else good(request)

    with batching(brain) as server:
        done = judged(store, study, server)
        assert (done.progress.done, done.unusable, len(server.batches)) == (4, 0, 2)
        assert "no JSON object" in server.asked[-1].texts[-1]


def test_what_a_batch_gave_no_answer_to_is_asked_in_the_next_and_then_alone(store: Store, study: Study) -> None:
    good = sheet_brain(says)
    with batching(lambda request: Cut() if request.number in (0, 4) else good(request)) as server:
        server.brain = lambda request: (  # its first two batches lose a line, and refuse another
            Cut() if len(server.batches) < 2 and request.number in (0, 4)
            else Refused(400, f"bad {KEY}") if len(server.batches) < 1 and request.number == 1
            else good(request)
        )  # fmt: skip
        done = judged(store, study, server)
        assert (done.progress.done, done.progress.total, done.failed) == (4, 4, ())
        assert (len(server.batches), len(server.asked), len(server.alone)) == (2, 6, 1)
        assert done.progress.spent == pytest.approx(3 * ONE / 2 + ONE)


def test_empty_answers_that_were_paid_for_count_in_the_cost_once(
    store: Store, study: Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    good = sheet_brain(says)
    with batching(lambda request: Said(" ") if request.number in (1, 4) else good(request)) as server:
        job, batches, _ = batched(store, study, server.base)
        job.sign()
        with monkeypatch.context() as patch:
            patch.setattr(BatchJudging, "_record_state", _first_notes(BatchJudging._record_state))
            with pytest.raises(KeyboardInterrupt):
                batches.go()
        assert job.spent == pytest.approx(4 * ONE / 2)
        job, batches, _ = batched(store, study, server.base)
        done = batches.go()
    assert (done.progress.done, done.failed, len(server.asked), len(server.alone)) == (4, (), 5, 1)
    assert done.progress.spent == pytest.approx(ONE / 2 + ONE), "what was taken before counts where it was taken"
    calls = list(store.labels.acts(study, MODEL, judged=True))
    costs = [act.detail["usage"]["cost"] for act in calls if act.act == "judged"]
    assert costs == pytest.approx([ONE / 2] * 5 + [ONE])
    assert sum(one.cost or 0 for one in labels(store, study)) == pytest.approx(5 * ONE / 2 + ONE)


def test_what_is_asked_alone_is_told_as_a_part_of_the_whole_job(store: Store) -> None:
    store.runs.add(bare_run())
    study = frozen(store, [Unit(f"u{n}", runs=(BARE,)) for n in range(3)], protocol("success"))
    good = staged(triage={"decision": "uncertain"}, semantic={"decision": "failure"})
    with batching(good) as server:
        server.brain = lambda request: (
            Cut() if len(server.batches) in (1, 2) and request.number in (3, 6) else good(request)
        )
        job, batches, _ = batched(store, study, server.base)
        job.sign()
        told: list[JobProgress] = []
        done = batches.go(told.append)
        assert (len(server.batches), len(server.alone)) == (3, 1)
    assert (done.progress.done, done.progress.total, done.progress.asked) == (3, 3, 3 + 3 + 1 + 1)
    assert {progress.total for progress in told} == {3}
    assert done.progress.found == 0, "what this job paid for itself is not found again"


def test_who_leaves_comes_back_for_what_the_batch_answered(store: Store, study: Study) -> None:
    with batching(sheet_brain(says)) as server:
        server.go.clear()
        job, batches, _ = batched(store, study, server.base)
        job.sign()

        def left(*_: object) -> None:
            job.closing = bool(server.batches)

        done = batches.go(left)
        assert "batch_0 goes on" in done.ended
        assert (done.progress.done, labels(store, study)) == (0, [])
        server.go.set()
        done = judged(store, study, server)
        assert (done.progress.done, done.progress.asked, len(server.batches)) == (4, 0, 1)
        assert done.progress.spent == pytest.approx(4 * ONE / 2)


def test_what_is_in_an_open_batch_is_not_asked_alone(
    store: Store, study: Study, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    command = ["judge", "trial", "--model", MODEL, "--db", str(store.database.path)]
    with batching(sheet_brain(says)) as server:
        monkeypatch.setenv("HITLAB_MODEL_BASE", server.base)
        monkeypatch.setattr("lab.studies.judging.batch_judging._PAUSE", 0.01)
        with monkeypatch.context() as broken:
            broken.setattr("lab.studies.judging.batch_judging.BatchJudging._await_batch", lambda *of: False)
            assert main([*command, "--batch"]) == 1
        assert main(command) == 1
        assert "are in a batch at their provider (batch_0)" in capfd.readouterr().err
        assert server.alone == []
        assert main([*command, "--batch"]) == 0
        assert main([*command, "--runs", "2"]) == 0
        assert (len(server.asked), len(server.alone)) == (4, 4)


def test_who_leaves_before_a_batch_is_begun_begins_none(store: Store, study: Study) -> None:
    with batching(sheet_brain(says)) as server:
        job, batches, _ = batched(store, study, server.base)
        job.sign()

        def left(*_: object) -> None:
            job.closing = True

        done = batches.go(left)
        assert (done.ended, done.progress.asked, server.calls) == ("it was interrupted", 0, [])
        assert judged(store, study, server).progress.asked == 4


def test_nothing_is_sent_of_a_study_that_was_locked_while_it_was_gathered(store: Store, study: Study) -> None:
    with batching(sheet_brain(says)) as server:
        job, batches, _ = batched(store, study, server.base)
        job.sign()

        def locked(*_: object) -> None:
            if not store.studies.locked(study):
                assert main(["study", "lock", study.id, "--even-so", "--db", str(store.path)]) == 0

        done = batches.go(locked)
        assert (done.ended, done.progress.asked, server.calls) == (
            "the study is locked; nothing in it changes any more", 0, [],
        )  # fmt: skip


def test_a_batch_that_began_unheard_is_found_again(store: Store, study: Study) -> None:
    with batching(sheet_brain(says)) as server:
        server.begins_unheard = True
        with pytest.raises(NoModelAnswer, match="it took too long"):
            judged(store, study, server)
        assert len(server.batches) == 1
        server.begins_unheard = False
        assert judged(store, study, server).progress.done == 4
        assert len(server.batches) == 1


def test_results_that_were_half_taken_are_kept_once(
    store: Store, study: Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    with batching(sheet_brain(says)) as server:
        monkeypatch.setattr("lab.studies.judging.batch_judging._KEPT", 3)
        with monkeypatch.context() as broken:
            broken.setattr(BatchJudging, "_record_state", _first_notes(BatchJudging._record_state))
            with pytest.raises(KeyboardInterrupt):
                judged(store, study, server)
        assert store.labels.count_acts(study, MODEL, "judged") == 4
        done = judged(store, study, server)
        assert (done.progress.done, done.progress.spent, len(server.batches)) == (4, 0.0, 1)
    assert store.labels.count_acts(study, MODEL, "judged") == 4


def _first_notes(note: Any) -> Any:
    def noting(self: BatchJudging, detail: dict[str, Any]) -> None:
        if "ended" in detail:
            raise KeyboardInterrupt
        note(self, detail)

    return noting


def test_a_batch_that_failed_as_a_whole_is_a_sentence(store: Store, study: Study) -> None:
    with batching(sheet_brain(says)) as server:
        server.ends = "failed"
        with pytest.raises(LabError, match="the file is no good"):
            judged(store, study, server)
        server.ends = "completed"
        assert judged(store, study, server).progress.done == 4


def test_the_budget_holds_before_anything_is_uploaded(store: Store, study: Study) -> None:
    with batching(sheet_brain(says)) as server:
        job, _, llm = batched(store, study, server.base)
        whole, alone = estimated(job, llm, batch=True).cost, estimated(job, llm).cost
        assert whole is not None
        assert alone == pytest.approx(2 * whole)
        done = judged(store, study, server, budget=whole * 0.6)
        assert (len(server.asked), done.progress.done) == (2, 2)
        assert "does not reach" in done.ended


def test_the_budget_counts_answers_whose_cost_nobody_knows_as_they_were_expected(store: Store) -> None:
    store.runs.add(bare_run())
    study = study_of(store, BARE)
    good = staged(triage={"decision": "uncertain"}, semantic={"decision": "failure"})
    with batching(lambda request: good(request)._replace(usage=None)) as server:
        job, _, llm = batched(store, study, server.base)
        triage = estimated(job, llm, batch=True).cost
        assert triage is not None
        done = judged(store, study, server, budget=triage * 1.2)
    assert (len(server.asked), done.unpriced, done.progress.spent) == (1, 1, 0.0)
    assert "does not reach" in done.ended


def test_the_command_sends_batches_and_resumes(
    store: Store, study: Study, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("lab.studies.judging.batch_judging._PAUSE", 0.01)
    with batching(sheet_brain(says)) as server:
        monkeypatch.setenv("HITLAB_MODEL_BASE", server.base)
        monkeypatch.setenv("HITLAB_MODEL_STREAM", "true")
        command = ["judge", "trial", "--model", MODEL, "--db", str(store.database.path), "--json", "--batch"]
        assert main([*command, "--resume"]) == 2
        assert "has judged nothing" in capfd.readouterr().err
        assert main(command) == 0
        assert json.loads(capfd.readouterr().out)["done"] == 4
        assert main([*command, "--resume"]) == 0
        assert len(server.batches) == 1
        assert not any("stream" in one.json for one in server.asked)
    assert main([*command, "--on", "dask://127.0.0.1:9"]) == 2
    assert "--cluster and --batch" in capfd.readouterr().err
    assert main([*command, "--stream"]) == 2
    assert "--stream does not go with --batch" in capfd.readouterr().err


def test_a_provider_without_batches_is_a_sentence(store: Store, study: Study) -> None:
    with pytest.raises(LabError, match="has no batches here"):
        BatchApi(Llm("anthropic/claude-3-5-haiku-latest"), threading.Event()).check()


def test_no_key_is_in_the_file_that_is_kept(store: Store, study: Study) -> None:
    with batching(lambda request: Refused(400, f"bad {KEY}")) as server:
        judged(store, study, server)
    assert KEY.encode() not in store.database.path.read_bytes()
    assert not any(isinstance(one, Label) for one in labels(store, study))
