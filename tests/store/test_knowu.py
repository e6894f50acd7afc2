"""KnowU-Bench and MobileWorld runs: the real recordings, and every trap of their format."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from lab.core.run.run_records import Imported
from lab.core.run.step import Action
from lab.core.run.trace import Answered, Asked, Ended, Started, Step, Trace, fold
from store.formats import FailedRun, read
from store.formats.knowu.actions import action_of, thought_of
from store.runs.run_import import import_paths
from store.store import Store
from tests.store.formats.samples import png as marked_png

TRACES = Path(__file__).parents[2].parent / "shared" / "traces"
WORLD = TRACES / "mobileworld"
RUNS = WORLD / "runs"
STOPWATCH = TRACES / "knowu_converted" / "ClockStopWatchRunning"
needs_world = pytest.mark.skipif(not RUNS.is_dir(), reason="MobileWorld's runs in ../shared/traces are not here")
needs_stopwatch = pytest.mark.skipif(not STOPWATCH.is_dir(), reason="the stopwatch run in ../shared/traces is not here")


def step(number: int, action: Any, **fields: Any) -> dict[str, Any]:
    return {"task_goal": "Do it", "step": number, "prediction": f"Thought: t{number}\nAction: {{}}", "action": action,
            "ask_user_response": None, "tool_call": None, **fields}  # fmt: skip


def act(kind: str, **fields: Any) -> dict[str, Any]:
    return {"action_type": kind, **fields}


def folder(root: Path, steps: list[Any], *, name: str = "m/Task1", result: str | None = None, **top: Any) -> Path:
    path = root / name
    path.mkdir(parents=True)
    (path / "traj.json").write_text(
        json.dumps({"0": {"tools": None, "traj": steps, "token_usage": None}, **top}, indent=4)
    )
    if result is not None:
        (path / "result.txt").write_text(result)
    return path


def one(path: Path) -> Imported:
    (found,) = read(path)
    assert isinstance(found, Imported), found
    return found


def trace(path: Path) -> Trace:
    return fold(one(path).events)


def failure(path: Path) -> str:
    (found,) = read(path)
    assert isinstance(found, FailedRun), found
    assert "\n" not in found.error
    return found.error


@needs_world
def test_the_26_runs_and_their_33_questions_each_with_its_reply(store: Store) -> None:
    report = import_paths(store, [RUNS])
    assert (report.imported, report.skipped, report.failed) == (26, 0, [])
    summaries = store.runs.summaries()
    assert len(summaries) == 26
    assert sum(s.questions for s in summaries) == sum(s.replies for s in summaries) == 33
    assert {s.agent for s in summaries} == {path.name for path in RUNS.iterdir()}
    again = import_paths(store, [RUNS])
    assert (again.imported, again.skipped, again.failed) == (0, 26, [])


@needs_world
def test_every_reply_is_the_one_the_source_gives_with_the_next_step() -> None:
    for path in sorted(RUNS.glob("*/*")):
        source = json.loads((path / "traj.json").read_text())["0"]["traj"]
        run = trace(path)
        assert len(run.steps) == len(source)
        for i, (ours, theirs) in enumerate(zip(run.steps, source, strict=True)):
            assert ours.proposed.action.raw == theirs["action"]
            assert ours.proposed.raw == theirs["prediction"]
            assert (ours.question is not None) == (theirs["action"]["action_type"] == "ask_user")
            if ours.question is not None:
                assert ours.question.text == theirs["action"]["text"]
                assert ours.reply is not None
                assert ours.reply.text == source[i + 1]["ask_user_response"]
                assert ours.reply.by.kind == "model"
        score, _, reason = (path / "result.txt").read_text().partition("\nreason: ")
        assert run.ended is not None
        assert run.ended.score == float(score.removeprefix("score: "))
        assert run.ended.reason == reason.strip()
        assert run.task.id == path.name
        assert run.agent.id == path.parent.name


@needs_stopwatch
def test_a_recorded_run_with_screenshots() -> None:
    found = one(STOPWATCH)
    assert len(found.images) == 4
    run = fold(found.events)
    for number, ours in enumerate(run.steps, 1):
        data = (STOPWATCH / "screenshots" / f"ClockStopWatchRunning-0-{number}.png").read_bytes()
        assert ours.before.image is not None
        assert found.images[ours.before.image].data == data
        assert ours.before.size == (1092, 2408)
    assert run.steps[0].proposed.action.app == "Clock"
    assert run.device.size == (1092, 2408)
    assert run.ended is not None
    assert (run.ended.status, run.ended.score) == ("completed", None)


ACTIONS: list[tuple[dict[str, Any], dict[str, Any]]] = [
    (act("click", x=0, y=7), {"kind": "click", "at": (0, 7)}),
    (act("click", x=0.4, y=7.6), {"kind": "click", "at": (0, 8)}),
    (act("click", x=None, y=3), {"kind": "click", "at": None}),
    (act("double_tap", x=1, y=2), {"kind": "double_tap", "at": (1, 2)}),
    (act("long_press", x=1, y=2), {"kind": "long_press", "at": (1, 2)}),
    (
        act("drag", start_x=0, start_y=9, end_x=5, end_y=0),
        {"kind": "drag", "at": (0, 9), "to": (5, 0), "vector": (5, -9)},
    ),
    (act("scroll", direction="up"), {"kind": "scroll", "direction": "up", "vector": (0, 432)}),
    (act("scroll", direction="down"), {"kind": "scroll", "direction": "down", "vector": (0, -432)}),
    (act("scroll", direction="left"), {"kind": "scroll", "direction": "left", "vector": (0, -432)}),
    (act("scroll", direction="right"), {"kind": "scroll", "direction": "right", "vector": (0, -432)}),
    (act("scroll", direction="sideways"), {"kind": "scroll", "direction": None, "vector": None}),
    (act("swipe", direction="up"), {"kind": "swipe", "direction": "up", "vector": (0, -432)}),
    (act("swipe", direction="right", x=4, y=5), {"kind": "swipe", "at": (4, 5), "vector": (216, 0)}),
    (act("input_text", text=""), {"kind": "input_text", "text": ""}),
    (act("input_text", text=7), {"kind": "input_text", "text": "7"}),
    (act("open_app", app_name="Clock"), {"kind": "open_app", "app": "Clock"}),
    (act("navigate_home"), {"kind": "navigate_home"}),
    (act("navigate_back"), {"kind": "navigate_back"}),
    (act("keyboard_enter"), {"kind": "keyboard_enter"}),
    (act("wait"), {"kind": "wait"}),
    (act("ask_user", text="Which?"), {"kind": "ask_user", "text": "Which?"}),
    (act("answer", text="task finished"), {"kind": "answer", "text": "task finished", "status": None}),
    (act("answer", text="task failed"), {"kind": "answer", "text": "task failed", "status": None}),
    (act("finished"), {"kind": "status", "status": "complete"}),
    (act("status", goal_status="infeasible"), {"kind": "status", "status": "infeasible"}),
    (act("status", goal_status="complete"), {"kind": "status", "status": "complete"}),
    (act("unknown", text="Agent LLM failed"), {"kind": "other", "text": "Agent LLM failed"}),
    (act("error_env"), {"kind": "other"}),
    (act("mcp", action_name="map", action_json={"q": 1}), {"kind": "other", "text": "map"}),
    (act("levitate"), {"kind": "other"}),
    ({}, {"kind": "other"}),
]


@pytest.mark.parametrize(("raw", "expected"), ACTIONS, ids=lambda value: str(value)[:40])
def test_each_action_in_our_words(raw: dict[str, Any], expected: dict[str, Any]) -> None:
    action = action_of(raw)
    assert {name: getattr(action, name) for name in expected} == expected
    assert action.raw == raw
    assert action.space == "px"


@pytest.mark.parametrize("raw", [None, [], "click", 3, {"action_type": ["click"], "x": "1", "y": True}])
def test_an_action_that_is_none_stays_beside_us(raw: Any) -> None:
    assert action_of(raw) == Action("other", raw=raw, space="px")


@pytest.mark.parametrize(
    ("prediction", "thought"),
    [
        ("Thought: Tap it.\nAction: {}", "Tap it."),
        ("Thought: Tap\nit.\n\nAction: {}", "Tap\nit."),
        ("<think>deep</think>\nThought: Tap.\nAction: {}", "deep\n\nTap."),
        ("<thinking>\ndeep\n</thinking><tool_call>{}</tool_call>", "deep"),
        ("<think>never closed<tool_call>{}</tool_call>", "never closed"),
        ("<think>never closed", "never closed"),
        ("I can see it.\nAction: {}", "I can see it."),
        ("Thought: only a thought", "only a thought"),
        ("Action: {}", ""),
        ('{"name": "mobile_use"}', ""),
        ("Agent LLM failed", ""),
        ("", ""),
    ],
)
def test_the_thought_in_a_prediction(prediction: str, thought: str) -> None:
    assert thought_of(prediction) == thought


def test_a_reply_stands_with_the_next_step_and_the_last_one_in_the_log(tmp_path: Path) -> None:
    path = folder(
        tmp_path,
        [step(1, act("ask_user", text="A?")), step(2, act("ask_user", text="B?"), ask_user_response="a!\nreally"),
         step(3, act("ask_user", text="C?"), ask_user_response="")],
    )  # fmt: skip
    asked = trace(path).steps
    assert [s.reply and s.reply.text for s in asked] == ["a!\nreally", "", None]
    head = "2025-11-21 08:00:0{} | DEBUG    | knowu_bench.core.runner:_execute:61 | container: c0 | {}\n"
    (path / "thread_140.log").write_text(
        head.format(0, "Screenshot captured in step 1") + head.format(0, "ask_user_response: an older try")
        + head.format(1, "Screenshot captured in step 1") + head.format(2, "Screenshot captured in step 2")
        + head.format(4, "Screenshot captured in step 3") + head.format(4, "current step 3")
        + head.format(9, "ask_user_response: c!\nand a second line")
    )  # fmt: skip
    found = one(path)
    asked = fold(found.events).steps
    assert [s.reply and s.reply.text for s in asked] == ["a!\nreally", "", "c!\nand a second line"]
    assert [s.ms for s in asked] == [0, 1000, 3000]
    assert asked[2].extra["log_time"] == "2025-11-21T08:00:04"
    kinds = [type(event) for event in found.events]
    assert kinds == [Started, *[Asked, Answered, Step] * 3, Ended]


def test_a_decision_in_a_routine_reply_is_read(tmp_path: Path) -> None:
    reply = "<think>no</think>\n<decision> Reject </decision>"
    steps = [step(1, act("ask_user", text="May I?")), step(2, act("finished"), ask_user_response=reply)]
    asked = trace(folder(tmp_path, steps)).steps[0]
    assert asked.reply is not None
    assert (asked.reply.decision, asked.reply.text) == ("reject", reply)


@pytest.mark.parametrize(
    ("last", "result", "status", "score"),
    [
        ("answer", "score: 1.0\nreason: Success", "completed", 1.0),
        ("finished", "score: 0.25\nreason: a\nb", "completed", 0.25),
        ("answer", None, "completed", None),
        ("click", "score: 0.0\nreason: no", "budget", 0.0),
        ("click", None, "stopped", None),
        ("unknown", "score: 0.0\nreason: no", "failed", 0.0),
        ("error_env", None, "failed", None),
        ("answer", "score: nan\nreason: no judge", "completed", None),
        ("answer", "score: oops", "completed", None),
        ("answer", "gibberish", "completed", None),
        ("answer", "", "completed", None),
    ],
)
def test_how_a_run_ended(tmp_path: Path, last: str, result: str | None, status: str, score: float | None) -> None:
    found = one(folder(tmp_path, [step(1, act(last))], result=result))
    ended = fold(found.events).ended
    assert ended is not None
    assert (ended.status, ended.score) == (status, score)
    assert len(found.verdicts) == bool(result)


def test_a_run_that_only_began_and_other_keys_beside_it(tmp_path: Path) -> None:
    (tmp_path / "a" / "T").mkdir(parents=True)
    (tmp_path / "a" / "T" / "traj.json").write_text("{}")
    run = trace(tmp_path / "a" / "T")
    assert run.steps == ()
    assert run.ended is not None
    assert (run.ended.status, run.ended.reason) == ("failed", "the source holds no steps")
    run = trace(folder(tmp_path, [step(1, act("finished"))], token_usage={"total_tokens": 9}))
    assert run.steps[-1].extra["token_usage"] == {"total_tokens": 9}


def test_runs_with_the_same_bytes_are_told_apart_and_copies_are_not(tmp_path: Path) -> None:
    broken = [step(1, act("unknown", text="Agent LLM failed"), prediction=None)]
    full = [step(i, act("wait")) for i in range(1, 6)]
    paths = [folder(tmp_path, broken, name=name) for name in ("a/T", "b/T", "a/U", "a/T@dev")]
    assert len({one(path).id for path in paths}) == 4
    assert one(folder(tmp_path, full, name="a/V")).id == one(folder(tmp_path, full, name="copy/V")).id
    empty = {f"{model}/{task}": tmp_path / "empty" / model / task for model in "ab" for task in "TU"}
    for path in empty.values():
        path.mkdir(parents=True)
        (path / "traj.json").write_text("{}")
    assert len({one(path).id for path in empty.values()}) == 4


def test_attempts_of_the_very_same_steps_each_come_in_once_and_a_copy_does_not(tmp_path: Path, store: Store) -> None:
    steps = [step(i, act("wait")) for i in range(1, 5)]
    for root, minute in (("a", 1), ("a.2", 2), ("copy", 2), ("unlogged", None)):
        run = folder(tmp_path, steps, name=f"{root}/T")
        if minute is not None:
            line = "2026-05-01 10:{:02}:00 | DEBUG | x:y:1 | container: c | Screenshot captured in step 1\n"
            (run / "thread_0.log").write_text(line.format(minute))
    report = import_paths(store, [tmp_path])
    assert (report.imported, report.skipped, report.failed) == (2, 2, [])
    assert sorted(run.agent for run in store.runs.summaries()) == ["a", "a.2"]
    assert one(tmp_path / "a/T").id in {run.id for run in store.runs.summaries()}
    assert import_paths(store, [tmp_path]).imported == 0


def test_attempts_without_logs_are_told_apart_by_their_pictures(tmp_path: Path, store: Store) -> None:
    for root, mark in (("a", 0), ("b", 7), ("copy", 7)):
        shots = folder(tmp_path, [step(i, act("wait")) for i in range(1, 5)], name=f"{root}/T") / "screenshots"
        shots.mkdir(exist_ok=True)
        for i in range(1, 5):
            (shots / f"T-0-{i}.png").write_bytes(marked_png(i + mark))
    assert import_paths(store, [tmp_path]).imported == 2
    assert import_paths(store, [tmp_path]).imported == 0


def test_a_profile_in_the_folders_name_is_the_persona(tmp_path: Path) -> None:
    run = trace(folder(tmp_path, [step(1, act("wait"))], name="m/OrderTask@grandma"))
    assert (run.task.id, run.task.persona, run.task.instruction, run.task.budget) == (
        "OrderTask",
        "grandma",
        "Do it",
        50,
    )


def test_backups_marked_screens_and_reports_are_left(tmp_path: Path) -> None:
    path = folder(tmp_path, [step(1, act("finished"))], name="m/T")
    folder(tmp_path, [step(1, act("wait"))], name="m/T_backup_20251121_080000")
    (path / "marked_screenshots").mkdir()
    (path / "marked_screenshots" / "traj.json").write_text("{}")
    (tmp_path / "m" / "eval_report_20251121.json").write_text('{"summary": {}}')
    assert [found.events[0].task.id for found in read(tmp_path) if isinstance(found, Imported)] == ["T"]  # type: ignore[union-attr]


def test_screens_are_matched_by_number_and_bad_ones_are_said(tmp_path: Path) -> None:
    path = folder(tmp_path, [step(1, act("wait")), step(3, act("wait")), step(4, act("wait"))])
    png = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x05\0\0\0\x07"
    (path / "screenshots").mkdir()
    (path / "screenshots" / "Task1-0-3.png").write_bytes(png)
    (path / "screenshots" / "Task1-0-10.png").write_bytes(png + b"later")
    (path / "screenshots" / "Task1-0-4.png").write_bytes(b"nothing")
    found = one(path)
    steps = fold(found.events).steps
    assert [s.before.size for s in steps] == [None, (5, 7), None]
    assert len(found.images) == 1
    assert steps[1].extra["step"] == 3
    assert steps[2].extra["screenshot"] == "Task1-0-4.png is not a picture"


def test_ugly_json_comes_in_and_says_what_was_changed(tmp_path: Path) -> None:
    path = folder(tmp_path, [step(1, act("click", x=float("nan"), y=2), new_field={"a": 1})])
    data = (path / "traj.json").read_bytes().replace(b"Do it", b"Do \\ud83d it")
    (path / "traj.json").write_bytes(b"\xef\xbb\xbf" + data)
    only = trace(path).steps[0]
    assert only.proposed.action.at is None
    assert only.extra["new_field"] == {"a": 1}
    assert ["action.x", "nan"] in only.extra["missing"]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('{"0": {"traj": [', "is not JSON"),
        ("[]", "no mapping"),
        ('{"token_usage": {}}', "field 0"),
        ('{"0": {"traj": {"a": 1}}}', r"field 0\.traj"),
        ('{"0": {"traj": [{}, 7]}}', r"field 0\.traj\[1\]"),
        ("", "is not JSON"),
    ],
)
def test_a_broken_traj_names_file_and_field_and_the_others_come_in(
    tmp_path: Path, store: Store, text: str, words: str
) -> None:
    folder(tmp_path, [step(1, act("wait"))], name="m/A")
    folder(tmp_path, [step(1, act("finished"))], name="m/C")
    broken = folder(tmp_path, [], name="m/B")
    (broken / "traj.json").write_text(text)
    report = import_paths(store, [tmp_path / "m"])
    assert report.imported == 2
    assert [failed.path for failed in report.failed] == [str(broken)]
    assert str(broken / "traj.json") in report.failed[0].error
    assert store.database.read("SELECT count(*) FROM trace") == [(2,)]
    with pytest.raises(AssertionError, match=words):
        raise AssertionError(failure(broken))


def test_a_bundle_with_one_broken_run(tmp_path: Path, store: Store) -> None:
    bundle = {
        "Good": {"traj": [step(1, act("answer", text="x"), frame_index=4)], "result": "score: 1.0\nreason: ok"},
        "Empty": {"traj": [], "token_usage": {}, "result": None},
        "Broken": {"traj": "none"},
        "_meta": {"original_width": 1080, "original_height": 2400},
    }
    path = tmp_path / "gpt.json"
    path.write_text(json.dumps(bundle))
    report = import_paths(store, [path])
    assert report.imported == 2
    assert [f.path for f in report.failed] == [f"{path}#Broken"]
    assert "field Broken.traj" in report.failed[0].error
    good = store.runs.trace(store.runs.find("Good"))
    assert (good.agent.id, good.steps[0].extra, good.device.size) == ("gpt", {"frame_index": 4}, (1080, 2400))
    assert good.source is not None
    assert good.source.path == str(path)
    packed = tmp_path / "packed" / "gpt.json.gz"
    packed.parent.mkdir()
    packed.write_bytes(gzip.compress(path.read_bytes()))
    assert import_paths(store, [packed]).skipped == 2


def test_what_a_bundle_tells_of_its_video_stays_with_each_run(tmp_path: Path, store: Store) -> None:
    meta = {"video_file": "https://x.example/m.mp4", "fps": 2, "total_frames": 4144, "display_width": 270}
    traj = [step(1, act("wait"), frame_index=0)]
    path = tmp_path / "m.json"
    path.write_text(
        json.dumps({"A": {"traj": traj, "result": None}, "B": {"traj": traj, "result": None}, "_meta": meta})
    )
    assert import_paths(store, [path]).imported == 2
    for run in store.runs.summaries():
        assert [(one.name, one.extra) for one in store.runs.verdicts(run.id) if one.name == "bundle"] == [
            ("bundle", meta)
        ]


def test_attempts_of_memgui_bench_are_attempts_at_one_task(tmp_path: Path, store: Store) -> None:
    """The first in the task's folder, the others in `_attempt_trajs`; or all of them below the task's folder."""
    steps = [step(1, act("wait"), prediction="x"), step(2, act("finished"), prediction=None)]
    folder(tmp_path, steps, name="root/001-Find", result="score: 0.0\nreason: no")
    folder(tmp_path, steps, name="root/_attempt_trajs/001-Find/attempt_2", result="score: 1.0\nreason: yes")
    folder(tmp_path, steps, name="other/002-Buy/attempt_3")
    assert import_paths(store, [tmp_path]).failed == []
    told = [
        event for run in store.runs.summaries() for event in store.runs.events(run.id) if isinstance(event, Started)
    ]
    found = sorted((first.task.id, first.agent.id, first.attempt) for first in told)
    assert found == [("001-Find", "root", 1), ("001-Find", "root", 2), ("002-Buy", "other", 3)]


def test_a_bundle_of_memgui_bench_holds_every_attempt_once(tmp_path: Path) -> None:
    first = {"label": "Attempt 1", "attempt_num": 1, "traj": [step(1, act("wait"))], "token_usage": {}, "result": None}
    second = {**first, "label": "Attempt 2", "attempt_num": 2, "result": "score: 1.0\nreason: r"}
    best = {"traj": second["traj"], "token_usage": {}, "result": second["result"], "primary_attempt_index": 1}
    broken = {**first, "attempt_num": 3, "traj": "no list"}
    path = tmp_path / "t3a.json.gz"
    path.write_bytes(
        gzip.compress(json.dumps({"001-Find": {**best, "attempts": [first, second, broken]}, "_meta": {}}).encode())
    )
    one, two, failed = read(path)
    assert isinstance(one, Imported)
    assert isinstance(two, Imported)
    assert isinstance(failed, FailedRun)
    runs = [fold(run.events) for run in (one, two)]
    assert [(run.attempt, run.ended.score if run.ended else "") for run in runs] == [(1, None), (2, 1.0)]
    assert "field 001-Find.attempts[2].traj" in failed.error
    assert one.id != two.id


def test_what_memgui_benchs_judges_said_comes_in_with_the_run_and_their_copy_of_it_does_not(tmp_path: Path) -> None:
    run = folder(tmp_path, [step(1, act("click", x=1, y=2)), step(2, act("finished"))], name="root/001-Find")
    copied = [{"step": 1, "thought": "Thought: t\nAction: {}", "action": ["wait", {"detail_type": "status"}]}]
    copy = tmp_path / "root" / "_memgui_eval" / "001-Find" / "memgui" / "attempt_1"
    copy.mkdir(parents=True)
    (copy / "log.json").write_text(json.dumps(copied))
    (copy / "irr_analysis.json").write_text(json.dumps({"irr_percentage": 50.0, "analysis_reason": "half"}))
    (copy / "final_decision.json").write_text("{")
    found = one(tmp_path)
    assert fold(found.events).task.id == "001-Find"
    irr = next(verdict for verdict in found.verdicts if verdict.name == "irr")
    assert (irr.value, irr.reason, irr.extra["irr_percentage"]) == (50.0, "half", 50.0)
    assert "is not JSON" in next(verdict.reason for verdict in found.verdicts if verdict.name == "final_decision")
    (run / "traj.json").unlink()
    alone = fold(one(tmp_path).events)
    assert (alone.source.format if alone.source else "", alone.task.id) == ("memgui", "001-Find")


def test_a_traj_json_of_another_name_tells_of_the_keys_beside_its_run_nothing(tmp_path: Path) -> None:
    value = {"0": {"tools": None, "traj": [step(1, act("finished"))]}, "termination": {"reason": "agent"}}
    (tmp_path / "traj_backup_20260102_030405.json").write_text(json.dumps(value))
    assert trace(tmp_path).status == "completed"
