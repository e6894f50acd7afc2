"""Runs written as KnowU-Bench's logger does: what came from it comes out as it was, and others' runs fit in."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import msgspec
import pytest

from lab.core.run.run_records import Blob, Imported, number_events
from lab.core.run.step import Action, Observation, Proposed, Question, Reply, Usage
from lab.core.run.trace import Answered, AnyEvent, Asked, Ended, Source, Started, Step
from lab.core.task.task import Actor, Task
from store.runs.run_export import export_runs
from store.runs.run_import import import_paths
from store.store import Store
from tests.crossed import crossed, soak, spread

TRACES = Path(__file__).parents[2].parent / "shared" / "traces"
RUNS = TRACES / "mobileworld" / "runs"
STOPWATCH = TRACES / "knowu_converted"
needs_runs = pytest.mark.skipif(not RUNS.is_dir(), reason="MobileWorld's runs in ../shared/traces are not here")
needs_stopwatch = pytest.mark.skipif(not STOPWATCH.is_dir(), reason="the stopwatch run in ../shared/traces is not here")
PNG = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\4\x38\0\0\x09\x60"


def exported(store: Store, out: Path) -> Path:
    ids = [run.id for run in store.runs.summaries()][::-1]
    export_runs(store, ids, out, "knowu")
    return out


def again(out: Path) -> Store:
    store = Store.open(out.with_name(f"{out.name}.db"))
    assert import_paths(store, [out]).failed == []
    return store


def parts(store: Store, id: str) -> tuple[list[AnyEvent], list[Any]]:
    """A run's events without where it came from, and its verdicts."""
    first, *rest = store.runs.events(id)
    assert isinstance(first, Started)
    return [msgspec.structs.replace(first, source=None, trace=""), *rest], list(store.runs.verdicts(id))


@needs_runs
def test_the_26_runs_come_out_byte_by_byte_and_read_back_as_the_same_runs(store: Store, tmp_path: Path) -> None:
    import_paths(store, [RUNS])
    out = exported(store, tmp_path / "out")
    for path in sorted(RUNS.rglob("*.*")):
        if path.is_file():
            assert (out / path.relative_to(RUNS)).read_bytes() == path.read_bytes(), path
    with again(out) as back:
        assert sorted(run.id for run in back.runs.summaries()) == sorted(run.id for run in store.runs.summaries())
        for run in store.runs.summaries():
            assert parts(back, run.id) == parts(store, run.id)


@needs_stopwatch
def test_screens_come_out_under_the_loggers_names(store: Store, tmp_path: Path) -> None:
    import_paths(store, [STOPWATCH])
    out = exported(store, tmp_path / "out")
    source = STOPWATCH / "ClockStopWatchRunning"
    written = out / "knowu_converted" / "ClockStopWatchRunning"
    assert (written / "traj.json").read_bytes() == (source / "traj.json").read_bytes()
    shots = {path.name: path.read_bytes() for path in (written / "screenshots").iterdir()}
    assert shots == {path.name: path.read_bytes() for path in (source / "screenshots").iterdir()}
    with again(out) as back:
        (one,) = back.runs.summaries()
        assert parts(back, one.id) == parts(store, store.runs.summaries()[0].id)


BUNDLES = [path.name.removesuffix(".json.gz") for path in sorted((TRACES / "mobileworld").glob("*.json.gz"))]


@soak
@needs_runs
@crossed
@pytest.mark.parametrize("model", spread(BUNDLES, 2))
def test_a_bundles_runs_come_out_as_folders_with_every_field(store: Store, tmp_path: Path, model: str) -> None:
    path = TRACES / "mobileworld" / f"{model}.json.gz"
    import_paths(store, [path])
    out = exported(store, tmp_path / "out")
    source = json.loads(gzip.decompress(path.read_bytes()))
    del source["_meta"]
    assert {path.name for path in (out / model).iterdir()} == set(source)
    for name, held in source.items():
        folder = out / model / name
        text = (folder / "traj.json").read_text(encoding="utf-8")
        expected = {"0": {"tools": None, "traj": held["traj"], "token_usage": held["token_usage"]}}
        assert text == json.dumps(expected, indent=4, ensure_ascii=False)
        result = folder / "result.txt"
        assert (result.read_text(encoding="utf-8") if result.exists() else None) == held["result"]
    with again(out) as back:
        ours = {run.task: run.id for run in store.runs.summaries()}
        for run in back.runs.summaries():
            (events, verdicts), (theirs, others) = parts(back, run.id), parts(store, ours[run.task])
            # A folder tells neither how large the phone was nor of a video; the bundle's `_meta` does.
            assert verdicts == [verdict for verdict in others if verdict.name != "bundle"]
            assert [_sizeless(event) for event in events] == [_sizeless(event) for event in theirs]


def _sizeless(event: AnyEvent) -> AnyEvent:
    match event:
        case Started():
            return msgspec.structs.replace(event, device=msgspec.structs.replace(event.device, size=None))
        case Step() | Asked():
            return msgspec.structs.replace(event, before=msgspec.structs.replace(event.before, size=None))
    return event


STEP = {"task_goal": "g", "step": 1, "prediction": "p", "action": {"action_type": "wait"},
        "ask_user_response": None, "tool_call": None}  # fmt: skip
ASK = {**STEP, "action": {"action_type": "ask_user", "text": "Which?"}}


@pytest.mark.parametrize(
    "value",
    [
        {},
        {"0": {"traj": [STEP]}},
        {"0": {"tools": [{"name": "t"}], "traj": [STEP], "token_usage": {"total_tokens": 1}}},
        {"0": {"tools": [], "traj": [STEP], "token_usage": {}}},
        {"0": {"tools": None, "traj": [STEP], "token_usage": None}, "token_usage": {"prompt_tokens": 5}},
        {"token_usage": {"prompt_tokens": 5}, "0": {"traj": [STEP], "more": [1], "tools": None}},
        {"Task": {"traj": [STEP]}, "note": "x"},
        {"0": {"tools": None, "traj": None, "token_usage": {"total_tokens": 3}}},
        {"0": {"tools": None, "traj": [], "token_usage": {"total_tokens": 3}}},
        {"0": {"tools": None, "traj": [{"step": 7, "action": None}, {"action": {"x": 0, "y": 0}}]}},
        {"0": {"traj": [{**STEP, "prediction": ["odd"], "task_goal": 5}, {**STEP, "task_goal": "other"}]}},
        {"0": {"traj": [ASK, {**STEP, "step": 2, "ask_user_response": "that"}, {**ASK, "step": "three"}]}},
        {"0": {"traj": [ASK, {**STEP, "step": 2, "ask_user_response": None}, ASK, STEP]}},
        {"0": {"traj": [ASK, {**STEP, "ask_user_response": {"odd": 1}}, {**STEP, "ask_user_response": "stray"}]}},
        {"0": {"traj": [{**STEP, "token_usage": {"a": 1}, "keys": 1, "missing": None, "tools": 2, "later": None}]}},
        {"0": {"traj": [dict(reversed(STEP.items())), {**STEP, "step": True}, {**STEP, "step": 3.0}]}},
        {"0": {"tools": None, "traj": [{**STEP, "prediction": "é \U0001f600 \ud83d ␛ a"}], "token_usage": None}},
    ],
)
def test_however_a_file_is_built_it_comes_out_so(store: Store, tmp_path: Path, value: Any) -> None:
    folder = tmp_path / "m" / "Task@dev"
    folder.mkdir(parents=True)
    (folder / "traj.json").write_text(json.dumps(value))
    assert import_paths(store, [folder]).failed == []
    out = exported(store, tmp_path / "out")
    assert json.dumps(json.loads((out / "m" / "Task@dev" / "traj.json").read_bytes())) == json.dumps(value)
    assert not (out / "m" / "Task@dev" / "result.txt").exists()


@pytest.mark.parametrize(
    "text",
    ["score: 1\nreason: ok", "score: 0.5\nreason:  two\nlines \n", "score: 2.0\nreason: x", "broken", "score: 1.0"],
)
def test_a_result_comes_out_as_it_stood(store: Store, tmp_path: Path, text: str) -> None:
    folder = tmp_path / "m" / "T"
    folder.mkdir(parents=True)
    (folder / "traj.json").write_text("{}")
    (folder / "result.txt").write_text(text)
    import_paths(store, [folder])
    assert (exported(store, tmp_path / "out") / "m" / "T" / "result.txt").read_text() == text


def test_times_and_the_reply_that_only_the_log_has_come_back(store: Store, tmp_path: Path) -> None:
    folder = tmp_path / "m" / "T"
    folder.mkdir(parents=True)
    (folder / "traj.json").write_text(json.dumps({"0": {"tools": None, "traj": [STEP, {**ASK, "step": 2}]}}))
    head = "2025-03-04 10:20:0{} | INFO     | a.b:c:1 | container: x | {}\n"
    (folder / "thread_1.log").write_text(
        head.format(1, "Screenshot captured in step 1")
        + head.format(4, "Screenshot captured in step 2")
        + head.format(9, "ask_user_response: the second\none")
    )
    import_paths(store, [folder])
    (run,) = store.runs.summaries()
    assert run.replies == 1
    with again(exported(store, tmp_path / "out")) as back:
        (same,) = back.runs.summaries()
        assert parts(back, same.id) == parts(store, run.id)


def lived(id: str, agent: str, task: str, *events: AnyEvent, parent: str | None = None) -> Imported:
    first = Started(
        trace=id, task=Task(task, "general", "Do it", persona="grandma"), agent=Actor("model", agent), parent=parent,
        source=Source("androidworld"),
    )  # fmt: skip
    blob = Blob(PNG, "image/png")
    return Imported(number_events([first, *events]), {blob.sha256: blob}, [])


def step(index: int, action: Action, **more: Any) -> Step:
    proposed = Proposed(action, "because", usage=Usage(10, 2))
    seen = Observation(image=Blob(PNG, "image/png").sha256, size=(1080, 2400))
    return Step(index=index, proposed=proposed, before=seen, **more)


def test_a_run_of_another_origin_is_written_in_the_benchmarks_words(store: Store, tmp_path: Path) -> None:
    question = Question("q1", "propose", "Shall I?")
    reply = Reply("q1", "yes", Actor("human", "P1"), decision="accept")
    ask = Action("ask_user", text="Shall I?")
    store.runs.add(
        lived(
            "r1", "openai/gpt", "../../x: a\x1b[31m",
            step(0, Action("click", at=(0, 5), raw={"index": 3}, space="index")),
            Asked(index=1, question=question, proposed=Proposed(ask)),
            Answered(index=1, reply=reply),
            step(1, ask, question=question, reply=reply),
            step(2, Action("scroll", direction="down", vector=(0, -500))),
            step(3, Action("swipe", at=(1, 2), to=(3, 4))),
            step(4, Action("press_recent")),
            step(5, Action("status", status="complete")),
            Ended(status="completed", score=1, reason="done"),
        )
    )  # fmt: skip
    out = exported(store, tmp_path / "out")
    folder = out / "openai_gpt" / ".._.._x_ a__31m@grandma"
    (folder,) = (out / "openai_gpt").iterdir()
    assert folder.name == "_.._x_ a__31m@grandma"
    held = json.loads((folder / "traj.json").read_text())["0"]
    assert [one["action"] for one in held["traj"]] == [
        {"action_type": "click", "x": 0, "y": 5},
        {"action_type": "ask_user", "text": "Shall I?"},
        {"action_type": "scroll", "direction": "down"},
        {"action_type": "drag", "start_x": 1, "start_y": 2, "end_x": 3, "end_y": 4},
        {"action_type": "unknown", "text": "press_recent"},
        {"action_type": "finished"},
    ]
    assert [one["ask_user_response"] for one in held["traj"]][2] == "yes\n<decision>accept</decision>"
    assert held["traj"][0]["prediction"] == 'Thought: because\nAction: {"action_type": "click", "x": 0, "y": 5}'
    assert held["token_usage"] == {
        "completion_tokens": 12, "prompt_tokens": 60, "cached_tokens": 0, "total_tokens": 72
    }  # fmt: skip
    assert (folder / "result.txt").read_text() == "score: 1.0\nreason: done"
    assert len(list((folder / "screenshots").iterdir())) == 6
    with again(out) as back:
        trace = back.runs.trace(back.runs.summaries()[0].id)
        assert [one.proposed.thought for one in trace.steps] == ["because"] * 6
        assert trace.steps[1].reply is not None
        assert trace.steps[1].reply.decision == "accept"
        assert (trace.status, trace.ended and trace.ended.score) == ("completed", 1.0)


def test_runs_of_one_task_by_one_agent_stand_in_log_roots_of_their_own(store: Store, tmp_path: Path) -> None:
    for i, (agent, task) in enumerate([("a", "T"), ("a", "T"), ("A", "t"), ("a", "U"), ("a.2", "T"), ("b", "T")]):
        store.runs.add(lived(f"r{i}", agent, task, step(0, Action("wait")), parent="r0" if i else None))
    out = exported(store, tmp_path / "out")
    places = sorted(str(path.parent.relative_to(out)) for path in out.rglob("traj.json"))
    assert places == sorted(
        ["a/T@grandma", "a.2/T@grandma", "A.3/t@grandma", "a/U@grandma", "a.2.2/T@grandma", "b/T@grandma"]
    )
