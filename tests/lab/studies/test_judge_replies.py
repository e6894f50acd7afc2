"""A judge whose model thinks aloud, is cut, refuses, or whose server refuses a request: asked alone and in batches."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from lab.core.study.label import Act, Label
from lab.core.study.protocol import Field, Option, Protocol
from lab.core.study.study import Study
from lab.core.values.ids_and_clock import now, uuid7
from lab.studies.judging.batch_judging import BatchJudging
from lab.studies.judging.judge_terms import JudgingDone
from store.store import Store
from tests.batch_endpoint import BatchServer, batching
from tests.endpoint import Refused, Reply, Request, Said, Whole, in_turn, serving
from tests.judges import begun
from tests.lab.cli.test_commands import Hitlab, hitlab
from tests.screens.annotate.host import AGENT, lunch
from tests.screens.runs import WHOLE
from tests.studies import frozen, unit

__all__ = ["hitlab"]

ASKED = Protocol("done", "Was it done?", "run", (Field("done", "Was it?", "nominal", (Option("yes"), Option("no"))),))
NO, YES = (json.dumps({"answers": [{"item": "", "field": "done", "value": value}]}) for value in ("no", "yes"))
READ = [
    f"First {NO}, but step 3 shows it.\n</think>\n{YES}",
    f"<wobble>{NO} no.</wobble>{YES}",
    f"I thought {NO} at first. It is {YES}",
]
MISSING = [
    (Whole({"content": f"<think>First {NO}, but then step 3 "}, "length"), "it was cut inside its thinking"),
    (Whole({"content": f"First {NO}, but then step 3 "}, "length"), "it was cut before its JSON was whole"),
    (Whole({"content": None, "refusal": "I will not judge people."}), "it refused: I will not judge people."),
    (Whole({"content": "", "reasoning_content": NO}), "all that it wrote stands in reasoning_content"),
]


@pytest.fixture(autouse=True)
def _key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-canary-0123456789abcdef")


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store.open(tmp_path / "lab.db") as opened:
        opened.runs.add(lunch(WHOLE, AGENT))
        yield opened


@pytest.fixture
def study(store: Store) -> Study:
    return frozen(store, [unit("u1", runs=(WHOLE,)), unit("u2", runs=(WHOLE,))], ASKED)


def went(
    store: Store, study: Study, brain: Callable[[Request], Reply], name: str, *, batch: bool
) -> tuple[JudgingDone, int]:
    """What became of a judge on a server of its own, and how many questions came there."""
    if not batch:
        with serving(brain) as server:
            job, llm = begun(store, study, server.base, name)
            job.sign()
            return job.run(llm), len(server.requests)
    with batching(brain) as batches:
        job, llm = begun(store, study, batches.base, name)
        job.sign()
        return BatchJudging(job, llm, 0.01).go(), len(batches.asked) + len(batches.alone)


def labels(store: Store, study: Study, name: str) -> list[Label]:
    return list(store.labels.read(study, rater=name))


@pytest.mark.parametrize("batch", [False, True], ids=["alone", "batch"])
@pytest.mark.parametrize("text", READ, ids=["no opening mark", "unknown mark", "no mark"])
def test_a_label_is_what_stands_after_the_thinking(store: Store, study: Study, text: str, *, batch: bool) -> None:
    done, asked = went(store, study, in_turn(Said(text)), "judge", batch=batch)
    assert (done.progress.done, done.unusable, asked) == (2, 0, 2)
    assert [one.value for one in labels(store, study, "judge")] == ["yes"] * 2


@pytest.mark.parametrize("batch", [False, True], ids=["alone", "batch"])
@pytest.mark.parametrize(("reply", "why"), MISSING, ids=["thinking", "draft", "refused", "elsewhere"])
def test_what_is_no_answer_is_cannot_judge_with_the_reason_and_is_paid_for_once(
    store: Store, study: Study, reply: Whole, why: str, *, batch: bool
) -> None:
    done, asked = went(store, study, in_turn(reply), "judge", batch=batch)
    assert (done.progress.done, done.unusable, asked) == (2, 2, 2)
    found = labels(store, study, "judge")
    assert [(one.value, one.reason_missing) for one in found] == [(None, "cannot_judge")] * 2
    assert all(why in one.note for one in found)


def test_a_model_that_only_ever_says_what_is_no_answer_is_given_up(store: Store) -> None:
    study = frozen(store, [unit(f"u{n}", runs=(WHOLE,)) for n in range(20)], ASKED)
    done, asked = went(store, study, in_turn(MISSING[0][0]), "judge", batch=False)
    assert done.ended == "the model gave no answer to 5 questions"
    assert asked == 5


@pytest.mark.parametrize("batch", [False, True], ids=["alone", "batch"])
def test_a_parameter_that_the_server_refuses_is_left_out_and_kept_with_the_labels(
    store: Store, study: Study, hitlab: Hitlab, monkeypatch: pytest.MonkeyPatch, *, batch: bool
) -> None:
    def brain(request: Request) -> Reply:
        return Refused(400, "temperature is not supported") if "temperature" in request.json else Said(YES)

    monkeypatch.setenv("HITLAB_MODEL_PRICE_IN", "1")
    name = f"openai/refuses-temperature-{'batched' if batch else 'alone'}"
    with batching(brain) if batch else serving(brain) as server:
        monkeypatch.setenv("HITLAB_MODEL_BASE", server.base)
        if isinstance(server, BatchServer):
            job, llm = begun(store, study, server.base)
            llm.model = name
            job.sign()
            assert BatchJudging(job, llm, 0.01).go().without == ("temperature",)
            assert (len(server.batches), len(server.alone)) == (2, 0)
            return
        words = ("judge", study.id, "--model", name, "--db", store.path)
        told = hitlab(*words)
        assert told.code == 0, told.err
        assert "It was asked without temperature (model_temperature), which its server refuses." in told.out
        assert hitlab(*words, "--as", "again", "--json").json["without"] == ["temperature"]


def test_a_kept_answer_of_an_earlier_version_is_read_by_what_stands_after_its_thinking(
    store: Store, study: Study
) -> None:
    def brain(request: Request) -> Reply:
        raise AssertionError("it was paid for")

    with serving(brain) as server:
        job, llm = begun(store, study, server.base, "judge")
        job.sign()
        for one in store.studies.units(study):
            question = job.first_question(one, 1)
            detail: dict[str, Any] = {
                "question": question.sha, "stage": question.stage, "answer": f"{NO}</think>{YES}",
                "usage": {"prompt_tokens": 9}, "model": "openai/tiny", "config_sha": job.config_sha,
            }  # fmt: skip
            act = Act(uuid7(), study.id, study.version, job.judge, "judged", now(), one.id, 1, detail)
            store.labels.record_act(act)
        done = job.run(llm)
    assert (done.progress.found, done.progress.asked) == (2, 0)
    assert [one.value for one in labels(store, study, "judge")] == ["yes"] * 2
