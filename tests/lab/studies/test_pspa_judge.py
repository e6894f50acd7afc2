"""PSPA-Bench's judge over a real socket: m(a) for each step, the checklist, and what becomes of bad answers."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from annotators.agreement.ratings.fields import derived_numbers, ratings_of
from annotators.protocols import protocol
from annotators.units.runs import nodes_of
from lab.core.study.label import Label
from lab.core.study.study import Study, Unit
from lab.core.task.task import Task, Tdg, TdgNode
from lab.studies.progress.study_data import load_study_data
from store.store import Store
from tests.endpoint import Request, Said, serving
from tests.judges import MODEL, check_nothing_hidden, judged, sheet_brain
from tests.screens.annotate.host import lunch
from tests.screens.runs import WHOLE
from tests.studied_runs import run
from tests.studies import frozen, label

GRAPH = Tdg(
    (
        TdgNode("open", "Open the dish"),
        TdgNode(
            "size",
            "Choose the size",
            "flexible",
            alternatives=(
                (TdgNode("ask", "Ask for the size", kind="flexible"),),
                (TdgNode("guess", "Take the usual"),),
            ),
        ),
        TdgNode("remark", "Write the remark", kind="flexible", requires=("open",)),
        TdgNode("pay", "Pay", requires=("remark",)),
    ),
    (("open", "size"), ("size", "remark"), ("remark", "pay")),
)
UNIT = Unit("u1", runs=(WHOLE,), targets=tuple(nodes_of(Task("lunch", "general", tdg=GRAPH))), tdg=GRAPH)
SERVED: Mapping[int, str] = {1: "open", 2: "ask", 4: "remark"}


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Store]:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-canary-0123456789abcdef")
    with Store.open(tmp_path / "lab.db") as opened:
        opened.runs.add(lunch(WHOLE))
        opened.runs.add(run("long", steps=30))
        yield opened


def study_of(store: Store, unit: Unit = UNIT) -> Study:
    return frozen(store, [unit], protocol("tdg"))


def is_alignment(request: Request) -> bool:
    return "You line up the steps" in request.text


def aligned(request: Request, served: Mapping[int, str] = SERVED) -> Said:
    """What a model says of the steps that it is given."""
    told = request.text.partition("The checklist\n")[2]
    steps = [int(number) for number in re.findall(r"^Step (\d+)", told, re.MULTILINE)]
    entries = [{"step": step, "reason": "seen", "item": served.get(step, "")} for step in steps]
    return Said(json.dumps({"steps": entries}))


def brain(says: Mapping[str, dict[str, Any]]) -> Callable[[Request], Said]:
    sheet = sheet_brain(lambda item, field: says.get(item) if field == "state" else None)
    return lambda request: aligned(request) if is_alignment(request) else sheet(request)


DONE: Mapping[str, dict[str, Any]] = {
    "open": {"value": "completed", "step": 2},
    "ask": {"value": "completed"},
    "guess": {"value": "not_completed"},
    "remark": {"value": "not_completed"},
    "pay": {"value": "completed", "step": 6},
}


def states(store: Store, study: Study) -> dict[str, Label]:
    return {one.target: one for one in store.labels.read(study, rater=MODEL) if one.field == "state" and one.run == 1}


def test_each_step_is_lined_up_and_then_the_whole_checklist_is_answered(store: Store) -> None:
    study = study_of(store)
    other = label(study, UNIT, "open", "state", "completed", note="Zother rater's words")
    store.labels.record(study, UNIT, other)
    with serving(brain(DONE)) as server:
        assert judged(store, study, server).progress.done == 1
    first, second = server.requests
    assert is_alignment(first)
    assert len(first.pictures) == 7, "the screen before each of six steps, and the one after the last"
    assert '- "ask": Choose the size, way A: Ask for the size (kind: flexible)' in first.text
    assert '- "pay": Pay (kind: fixed) (depends on: remark)' in first.text
    assert "Step 2: ask\nStep 3: none\nStep 4: remark" in second.text
    assert "Edge cases" in second.text, "the guideline is there"
    assert len(second.pictures) == 6, "effective steps, those after them, and the last screen"
    check_nothing_hidden(server)
    found = states(store, study)
    assert {id: one.value for id, one in found.items()} == {id: says["value"] for id, says in DONE.items()}
    assert found["open"].evidence == f"{WHOLE}@2", "as the checklist says"
    assert found["ask"].evidence == f"{WHOLE}@2", "as the step that was effective for it"


def test_paths_and_dependencies_are_derived_and_never_asked(store: Store) -> None:
    study = study_of(store)
    with serving(brain(DONE)) as server:
        judged(store, study, server)
    data = load_study_data(store, study)
    before, after = (ratings_of(data, "state", data.judges, derived=stage) for stage in ("before", "after"))
    told = [
        {
            place.target: one.categories[code]
            for place, code in zip(one.places, one.codes[:, 0], strict=True)
            if code >= 0
        }
        for one in (before, after)
    ]
    assert told[0]["pay"] == "completed"
    assert told[1]["pay"] == "not_completed", "the remark that it depends on was not written"
    assert "guess" not in told[1], "a way that was not taken"
    assert derived_numbers(data, "apr", data.judges).values[0, 0] == pytest.approx(2 / 4)
    assert derived_numbers(data, "ppr", data.judges).values[0, 0] == pytest.approx(1 / 2)


def test_a_long_run_is_lined_up_in_parts_that_leave_no_step_out(store: Store) -> None:
    unit = Unit("u1", runs=("long",), targets=UNIT.targets, tdg=GRAPH)
    study = study_of(store, unit)
    with serving(brain({id: {"value": "not_completed"} for id in DONE})) as server:
        judged(store, study, server)
    parts = [one for one in server.requests if is_alignment(one)]
    heads = [re.findall(r"^Steps (\d+) to (\d+) of 30$", one.text, re.MULTILINE) for one in parts]
    assert heads == [[("1", "11")], [("12", "22")], [("23", "30")]]
    assert len(server.requests) == 4
    assert not any(one.pictures for one in server.requests), "no screenshot was kept, and words stand for them"
    assert "words on the screen before it: Settings" in parts[0].text


def test_no_question_has_more_pictures_than_was_allowed(store: Store) -> None:
    study = study_of(store)
    for most, questions in ((0, 1), (1, 6), (2, 6), (4, 2)):
        with serving(brain(DONE)) as server:
            judged(store, study, server, name=f"of-{most}", most=most)
        assert max(len(one.pictures) for one in server.requests) <= most
        assert sum(map(is_alignment, server.requests)) == questions


def test_five_runs_ask_everything_five_times(store: Store) -> None:
    study = study_of(store)
    with serving(brain(DONE)) as server:
        assert judged(store, study, server, runs=5).progress.done == 5
        assert len(server.requests) == 10, "that a judge is steady is measured, so nothing is taken from another run"
        assert judged(store, study, server, runs=5).progress.total == 0
        assert len(server.requests) == 10


@pytest.mark.parametrize(
    ("bad", "problem"),
    [
        ('{"steps": [{"step": 1, "item": "open"}]}', "there is no entry for step 2."),
        ('{"steps": [{"step": 1, "item": "nowhere"}]}', "is no item of the checklist."),
        ('{"steps": [{"step": [1]}, 7]}', "there is no entry for step 1."),
        ("I cannot see anything.", 'it holds no JSON object with "steps".'),
    ],
)
def test_an_alignment_that_cannot_be_used_is_asked_for_once_more_and_then_done_without(
    store: Store, bad: str, problem: str
) -> None:
    study = study_of(store)
    good = brain(DONE)
    with serving(lambda request: Said(bad) if is_alignment(request) else good(request)) as server:
        done = judged(store, study, server)
    assert (done.progress.done, done.unusable) == (1, 0)
    assert len(server.requests) == 3
    assert problem in server.requests[1].texts[-1]
    assert "Step 1: none" in server.requests[2].text
    found = states(store, study)
    assert (found["ask"].value, found["ask"].evidence) == ("completed", None)


def test_a_checklist_that_cannot_be_used_is_handed_in_as_cannot_judge(store: Store) -> None:
    study = study_of(store)
    with serving(lambda request: aligned(request) if is_alignment(request) else Said('{"answers": []}')) as server:
        done = judged(store, study, server)
    assert (done.progress.done, done.unusable) == (1, 1)
    assert {one.reason_missing for one in states(store, study).values()} == {"cannot_judge"}
    assert "field state of item open" in states(store, study)["open"].note
