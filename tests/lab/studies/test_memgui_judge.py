"""MemGUI-Eval's stages over a real socket: what each is shown, what decides, and that no step is described twice."""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from annotators.protocols import protocol
from lab.core.study.label import Label
from lab.core.study.study import Study, Unit
from lab.studies.judging.judge_terms import JudgingDone
from store.store import Store
from tests.endpoint import ModelServer, Request, Said, serving
from tests.judges import begun
from tests.screens.annotate.host import AGENT, lunch
from tests.screens.runs import BARE, WHOLE, bare_run
from tests.studies import frozen

STEPS = 6
MODEL = "openai/tiny"


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Store]:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-canary-0123456789abcdef")
    with Store.open(tmp_path / "lab.db") as opened:
        opened.runs.add(lunch(WHOLE))
        opened.runs.add(bare_run())
        yield opened


def study_of(store: Store, run: str = WHOLE) -> Study:
    return frozen(store, [Unit("u1", runs=(run,))], protocol("success"))


def stage_of(request: Request) -> str:
    """Which question it is, by what it asks for at its end."""
    end = request.texts[-1]
    names = {
        "action_description": "description",
        '"uncertain"}': "triage",
        "required_steps": "semantic",
        "You asked for the screens": "visual",
    }
    return next(stage for words, stage in names.items() if words in end)


def staged(**decisions: dict[str, object]) -> Callable[[Request], Said]:
    """A model that decides at each stage as it is told; descriptions tell of the action they were asked about."""

    def brain(request: Request) -> Said:
        stage = stage_of(request)
        if stage == "description":
            action = request.text.partition("as it was logged: ")[2].partition("\n")[0]
            said: dict[str, object] = {"action_description": f"It does {action}.", "ui_description": "A list."}
        else:
            said = {"reason": f"seen at {stage}", **decisions[stage]}
        return Said(json.dumps(said))

    return brain


def judged(store: Store, study: Study, server: ModelServer, **terms: Any) -> JudgingDone:
    job, llm = begun(store, study, server.base, **terms)
    assert job.method.name == "memgui"
    job.sign()
    return job.run(llm)


def outcome(store: Store, study: Study) -> Label:
    (label,) = store.labels.read(study, rater=MODEL)
    return label


def test_what_the_last_screens_prove_is_decided_at_once(store: Store) -> None:
    study = study_of(store)
    with serving(staged(triage={"decision": "Success"})) as server:
        assert judged(store, study, server).progress.done == 1
    (request,) = server.requests
    with Image.open(io.BytesIO(*request.pictures)) as sheet:
        assert sheet.width > 3 * 200
    assert "tap" in request.text
    assert AGENT not in request.text
    label = outcome(store, study)
    assert (label.value, label.evidence) == ("success", f"{WHOLE}@{STEPS}")
    assert label.note == "decided at stage 1: seen at triage"


def test_stage_two_reads_a_description_of_each_step(store: Store) -> None:
    study = study_of(store)
    with serving(staged(triage={"decision": "uncertain"}, semantic={"decision": "failure"})) as server:
        judged(store, study, server)
    assert [stage_of(one) for one in server.requests] == ["triage", *["description"] * STEPS, "semantic"]
    assert server.requests[-1].text.count("It does ") == STEPS
    label = outcome(store, study)
    assert (label.value, label.note) == ("failure", "decided at stage 2: seen at semantic")
    assert label.cost == pytest.approx((STEPS + 2) * (1000 + 4 * 20) / 1e6)


def test_stage_three_sees_the_screens_that_were_asked_for_and_decides(store: Store) -> None:
    study = study_of(store)
    asks: dict[str, object] = {"decision": "uncertain", "required_steps": [4, 2, 99, "x"]}
    says = staged(triage={"decision": "uncertain"}, semantic=asks, visual={"decision": "success"})
    with serving(says) as server:
        judged(store, study, server)
    assert [stage_of(one) for one in server.requests][-2:] == ["semantic", "visual"]
    visual = server.requests[-1]
    assert "steps 2, 4." in visual.text
    assert len(visual.pictures) == 2
    label = outcome(store, study)
    assert (label.value, label.evidence, label.note) == ("success", f"{WHOLE}@4", "decided at stage 3: seen at visual")


def test_no_step_is_described_twice_in_several_runs(store: Store) -> None:
    study = study_of(store)
    with serving(staged(triage={"decision": "uncertain"}, semantic={"decision": "failure"})) as server:
        done = judged(store, study, server, runs=4, concurrency=4)
        assert done.progress.done == 4
        stages = [stage_of(one) for one in server.requests]
        assert (stages.count("triage"), stages.count("description"), stages.count("semantic")) == (4, STEPS, 4)
        assert judged(store, study, server, runs=5).progress.asked == 2
    assert {label.run for label in store.labels.read(study, rater=MODEL)} == {1, 2, 3, 4, 5}


def test_uncertainty_that_asks_for_nothing_is_repaired(store: Store) -> None:
    study = study_of(store)
    good = staged(triage={"decision": "uncertain"}, semantic={"decision": "uncertain"})

    def brain(request: Request) -> Said:
        return Said('{"decision": "success"}') if "cannot be used" in request.texts[-1] else good(request)

    with serving(brain) as server:
        judged(store, study, server)
        assert 'names "required_steps", numbers from 1 to 6' in server.requests[-1].texts[-1]
    assert outcome(store, study).value == "success"


def test_a_run_without_pictures_is_judged_by_its_words(store: Store) -> None:
    study = study_of(store, BARE)
    with serving(staged(triage={"decision": "uncertain"}, semantic={"decision": "failure"})) as server:
        assert judged(store, study, server).progress.done == 1
    assert [stage_of(one) for one in server.requests] == ["triage", "semantic"]
    assert not any(one.pictures for one in server.requests)
    assert "The words on the last screens" in server.requests[0].text


def test_who_ends_the_last_sheet_is_asked_nothing_more_about_it(store: Store) -> None:
    study = study_of(store)
    good = staged(triage={"decision": "uncertain"}, semantic={"decision": "failure"})

    def brain(request: Request) -> Said:
        job.closing = job.closing or request.number == 2
        return good(request)

    with serving(brain) as server:
        job, llm = begun(store, study, server.base)
        job.sign()
        done = job.run(llm)
        assert (done.ended, done.progress.done, len(server.requests)) == ("it was interrupted", 0, 3)
        done = judged(store, study, server)
        assert (done.progress.done, done.progress.found, len(server.requests)) == (1, 3, 1 + STEPS + 1)
