"""Dumps of `mobile_use` agents: the real one with its stale screens, both kinds of lines, and every action."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from lab.core.run.run_records import Imported
from lab.core.run.step import Action, Usage
from lab.core.run.trace import Trace, fold
from lab.core.task.task import Actor
from store.formats import FailedRun, read
from store.formats.mobile_use.reader import action_of, space_of
from store.runs.run_import import import_paths
from store.store import Store
from tests.store.formats.demos import png as sized_png
from tests.store.formats.samples import png

TRACES = Path(__file__).parents[3].parent / "shared" / "traces" / "androidworld_mai"
needs_traces = pytest.mark.skipif(not TRACES.is_dir(), reason="the mobile_use dump in ../shared/traces is not here")
SIZE = (1000, 2000)


def call(action: str, **arguments: Any) -> dict[str, Any]:
    return {"name": "mobile_use", "arguments": {"action": action, **arguments}}


def folder(root: Path, lines: list[Any], shots: int = 0, name: str = "Turn_wifi_on.") -> Path:
    path = root / name
    path.mkdir()
    text = "\n".join(line if isinstance(line, str) else json.dumps(line) for line in lines)
    (path / "action.jsonl").write_text(text + "\n")
    for i in range(shots):
        (path / f"screenshot_{i}.png").write_bytes(png(i))
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
    return found.error


@needs_traces
def test_the_real_dump_comes_in_without_the_screens_of_an_earlier_run() -> None:
    (found,) = read(TRACES)
    assert isinstance(found, Imported)
    run = fold(found.events)
    assert run.task.instruction == "Go to the new contact screen and enter the followi"
    assert (len(run.steps), len(found.images), run.device.size, run.status) == (10, 10, (1092, 2408), "completed")
    assert [step.proposed.action.kind for step in run.steps] == [
        "open_app", "click", "click", "input_text", "input_text", "click", "input_text", "click", "click", "status"
    ]  # fmt: skip
    assert run.steps[1].proposed.action == Action(
        "click", at=(952, 2023), space="0-1000", raw=call("click", coordinate=[872, 840])
    )
    assert (run.steps[9].proposed.action.text or "").startswith("I have entered the contact details")
    assert run.ended is not None
    assert (run.ended.score, run.ended.final) == (None, None)
    assert found.verdicts[0].extra == {"screenshots_left_out": ["screenshot_10.png", "screenshot_11.png"]}


def test_a_list_is_read_whatever_stands_before_it(tmp_path: Path) -> None:
    path = folder(tmp_path, ["\ufeff " + json.dumps([call("wait"), call("answer", text="done")])])
    assert [step.proposed.action.kind for step in trace(path).steps] == ["wait", "answer"]


def test_screens_are_those_before_the_actions_and_may_be_missing(tmp_path: Path) -> None:
    path = folder(tmp_path, [call("wait")] * 4, shots=6)
    (path / "screenshot_1.png").unlink()
    (path / "screenshot_2.png").write_bytes(b"no picture")
    (path / "screenshot_03_draw.png").write_bytes(png(9))
    run = trace(path)
    assert [step.before.image is not None for step in run.steps] == [True, False, False, True]
    assert run.steps[2].extra == {"screenshot": "screenshot_2.png is not a picture"}
    assert (run.status, len(one(path).images)) == ("stopped", 2)


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (call("open", text="Clock"), Action("open_app", app="Clock")),
        (call("click", coordinate=[0, 0]), Action("click", at=(0, 0), space="0-1000")),
        (call("click", coordinate="(500, 250)"), Action("click", at=(500, 500), space="0-1000")),
        (call("click", coordinate=[100, 100, 300, 200]),
         Action("click", at=(200, 300), boxes=((100, 200, 300, 400),), space="0-1000")),
        (call("click", coordinate=["a", 5]), Action("click")),
        (call("click"), Action("click")),
        (call("long_press", coordinate=[500, 500], time=2),
         Action("long_press", at=(500, 1000), ms=2000, space="0-1000")),
        (call("double_click", coordinate=[1, 1]), Action("double_tap", at=(1, 2), space="0-1000")),
        (call("type", text="hi", coordinate=[396, 146]),
         Action("input_text", text="hi", at=(396, 292), space="0-1000")),
        (call("swipe", coordinate=[500, 800], coordinate2=[500, 200]),
         Action("swipe", at=(500, 1600), to=(500, 400), vector=(0, -1200), direction="up", space="0-1000")),
        (call("swipe", direction="up", coordinate=[500, 800]),
         Action("swipe", at=(500, 1600), direction="up", vector=(0, -1000), space="0-1000")),
        (call("swipe", direction="left"), Action("swipe", direction="left", vector=(-500, 0))),
        (call("scroll", direction="down"), Action("scroll", direction="down", vector=(0, -1000))),
        (call("drag", start_coordinate=[1, 1], end_coordinate=[11, 1]),
         Action("drag", at=(1, 2), to=(11, 2), vector=(10, 0), space="0-1000")),
        (call("system_button", button="Back"), Action("navigate_back")),
        (call("system_button", button="home"), Action("navigate_home")),
        (call("system_button", button="Enter"), Action("keyboard_enter")),
        (call("system_button", button="Menu"), Action("other", text="Menu")),
        (call("system_button"), Action("other")),
        (call("key", text="KEYCODE_BACK"), Action("navigate_back", text="KEYCODE_BACK")),
        (call("key", text="volume_up"), Action("other", text="volume_up")),
        (call("wait", time=1.5), Action("wait", ms=1500)),
        (call("wait", time="soon"), Action("wait")),
        (call("terminate", status="success", summary="ok"), Action("status", status="complete", text="ok")),
        (call("terminate", status="failure"), Action("status", status="infeasible")),
        (call("terminate", status=["failure"]), Action("status", status="infeasible")),
        (call("COMPLETE", value="all"), Action("status", status="complete", text="all")),
        (call("answer", text="42"), Action("answer", text="42")),
        (call("interact", text="Which?"), Action("ask_user", text="Which?")),
        (call("ask_user", text="Which?"), Action("ask_user", text="Which?")),
        (call("pinch", direction="in"), Action("other")),
        (call(""), Action("other")),
    ],
)  # fmt: skip
def test_actions_by_name(made: dict[str, Any], expected: Action) -> None:
    found = action_of(made["arguments"], SIZE, "0-1000", made)
    assert found.raw == made
    assert {name: getattr(found, name) for name in found.__struct_fields__ if name != "raw"} == {
        name: getattr(expected, name) for name in expected.__struct_fields__ if name != "raw"
    }


def test_without_a_screen_there_are_no_pixels_and_the_source_stays(tmp_path: Path) -> None:
    action = trace(folder(tmp_path, [call("click", coordinate=[1, 2])])).steps[0].proposed.action
    assert (action.at, action.space, action.raw["arguments"]["coordinate"]) == (None, "0-1000", [1, 2])


@pytest.mark.parametrize(
    ("places", "space"),
    [([[999, 1000]], "0-1000"), ([[5, 5], [1080, 2]], "px"), ([[0.5, 0.25]], "0-1"), ([[1, 1]], "0-1000"),
     ([[0.5, 300]], "0-1000"), ([], "0-1000"), (["x", None, [1]], "0-1000")],
)  # fmt: skip
def test_the_space_is_told_by_all_of_a_runs_numbers(places: list[Any], space: str) -> None:
    assert space_of({"coordinate": place} for place in places) == space


def test_a_question_is_asked_and_its_reply_is_kept_where_there_is_one(tmp_path: Path) -> None:
    asked = {"tool_call": call("interact", text="Which one?"), "user_response": "The first"}
    first, second = trace(folder(tmp_path, [asked, call("ask_user", text="And?")])).steps
    assert first.question is not None
    assert first.reply is not None
    assert (first.question.text, first.reply.text) == ("Which one?", "The first")
    assert second.question is not None
    assert (second.question.text, second.reply) == ("And?", None)


def rich(arguments: dict[str, Any], **fields: Any) -> dict[str, Any]:
    """A line as those dumps write it that keep the model's answer."""
    return {
        "goal": "Add a marker, soon.", "response": "<think></think>Reason: r\nAction: {}",
        "parsed_action": {"cot": "", "action": "click", "summary": "Search for it."},
        "raw_response": {"model": "QWEN3-8B", "usage": {"prompt_tokens": 30, "completion_tokens": 4}},
        "tool_call": {"name": "mobile_use", "arguments": arguments}, "action_dict": {**arguments, "text": None},
        "summary": "Executed it.", "latency_sec": 5.5, "start_page_activity": "net.osmand/.Map", "hint": None, **fields,
    }  # fmt: skip


def test_lines_that_keep_the_models_answer_tell_goal_model_cost_and_place(tmp_path: Path) -> None:
    lines = [rich({"action_type": "click", "index": 2}), rich({"action_type": "status", "goal_status": "complete"})]
    path = folder(tmp_path, lines, shots=1, name="Add_a_marker_83d1b1a9")
    (path / "prompt_0.txt").write_text(
        "UI element 1: UIElement(text='a', bbox_pixels=BoundingBox(x_min=0, x_max=9, y_min=0, y_max=9), x=1)\n"
        "UI element 2: UIElement(text='UI element 3:', bbox=None, "
        "bbox_pixels=BoundingBox(x_min=145, x_max=261, y_min=144, y_max=260), hint_text=None)\n"
    )
    run = trace(path)
    step = run.steps[0]
    assert (run.task.id, run.task.instruction, run.agent) == (
        "Add_a_marker_83d1b1a9", "Add a marker, soon.", Actor("model", "QWEN3-8B")
    )  # fmt: skip
    action = step.proposed.action
    assert (action.kind, action.at, action.boxes, action.space) == (
        "click",
        (203, 202),
        ((145, 144, 261, 260),),
        "index",
    )
    assert action.raw == {"name": "mobile_use", "arguments": {"action_type": "click", "index": 2}}
    assert (step.proposed.thought, step.before.activity) == ("Search for it.", "net.osmand/.Map")
    assert (step.proposed.raw or "").startswith("<think>")
    assert step.proposed.usage == Usage(prompt_tokens=30, completion_tokens=4, seconds=5.5)
    assert sorted(step.extra) == [
        "action_dict", "latency_sec", "parsed_action", "raw_response", "start_page_activity", "summary"
    ]  # fmt: skip
    assert run.status == "completed"


def test_other_shapes_of_a_line(tmp_path: Path) -> None:
    lines = [
        {"action": "click", "coordinate": [1, 1], "explain": "why"},
        {"name": "mobile_use", "arguments": '{"action": "wait"}'},
        {"action": call("wait"), "thinking": "Let me wait"}, {"name": "mobile_use", "arguments": "{"}, 7, None, [],
        "not JSON", '{"name": "mobile_use", "argu',
    ]  # fmt: skip
    run = trace(folder(tmp_path, lines))
    kinds = [step.proposed.action.kind for step in run.steps]
    assert kinds == ["click", "wait", "wait", *["other"] * 6]
    assert [step.proposed.thought for step in run.steps[:3]] == ["why", "", "Let me wait"]
    assert run.steps[7].proposed.action.raw == "not JSON"
    (tmp_path / "list").mkdir()
    assert len(trace(folder(tmp_path / "list", [json.dumps([call("wait"), call("wait")], indent=1)])).steps) == 2


def test_a_file_without_one_action_is_told_in_a_sentence_and_an_empty_one_is_a_failed_run(tmp_path: Path) -> None:
    assert "line 2: is not JSON" in failure(folder(tmp_path, ["", "nothing", "here"], shots=1, name="a"))
    path = folder(tmp_path, [], shots=1, name="b")
    (path / "action.jsonl").write_bytes(b"\xef\xbb\xbf\n")
    run = trace(path)
    assert (run.status, run.steps) == ("failed", ())
    assert "is nested too deeply" in failure(folder(tmp_path, ["[" * 100_000], shots=1, name="c"))


def test_a_log_that_is_cut_in_its_first_line_is_damaged_and_not_of_an_unknown_format(tmp_path: Path) -> None:
    calls, wrapped = (
        json.dumps(call("wait")),
        json.dumps({"goal": "Turn wifi on", "step": 0, "tool_call": call("wait")}),
    )
    named = calls.index(",") + 1
    for number, (text, shots) in enumerate(
        [(calls[:named], 0), (calls[: named + 8], 1), (f"[{calls[:named]}", 0), (wrapped[:-20], 0), (wrapped[:25], 1)]
    ):
        path = folder(tmp_path, [text], shots=shots, name=str(number))
        assert failure(path).startswith(f"{path / 'action.jsonl'}"), text
        assert "is not JSON" in failure(path), text
    assert not list(read(folder(tmp_path, [wrapped[:25]], name="without a screen nobody knows whose it is")))


def test_wrong_types_and_absurd_numbers_never_crash(tmp_path: Path) -> None:
    wrong: list[Any] = [None, True, -1, 2**80, 1e308, "x", "\ud800", [], [None, None], {}, [1e308, 1], [[1], [2]]]
    inner = ["action", "coordinate", "coordinate2", "direction", "text", "button", "status", "time"]
    outer = ["goal", "response", "latency_sec", "raw_response", "parsed_action", "start_page_activity", "tool_call"]
    swipe = {"action": "swipe", "coordinate": [1, 1]}
    lines = [json.dumps({"arguments": swipe})]
    lines += [json.dumps({"arguments": {**swipe, name: value}}) for name in inner for value in wrong]
    lines += [json.dumps({"arguments": swipe, name: value}) for name in [*outer, "arguments"] for value in wrong]
    path = folder(tmp_path, [*lines, '{"arguments": {"action": "click", "coordinate": [NaN, Infinity]}}'], shots=3)
    assert len(trace(path).steps) == len(lines) + 1


def test_links_that_lead_out_are_not_followed(tmp_path: Path) -> None:
    outside = folder(tmp_path, [call("wait")], shots=1, name="outside")
    inside = tmp_path / "in"
    inside.mkdir()
    path = folder(inside, [call("wait")], name="a")
    (path / "screenshot_0.png").symlink_to(outside / "screenshot_0.png")
    assert "leads out" in trace(inside / "a").steps[0].extra["screenshot"]
    (path / "action.jsonl").unlink()
    (path / "action.jsonl").symlink_to(outside / "action.jsonl")
    assert "leads out" in failure(inside)


def test_twice_is_once_and_one_file_is_enough_to_name(tmp_path: Path, store: Store) -> None:
    path = folder(tmp_path, [call("open", text="Clock"), call("terminate", status="success")], shots=2)
    assert import_paths(store, [path / "action.jsonl"]).imported == 1
    again = import_paths(store, [tmp_path])
    assert (again.imported, again.skipped, again.failed) == (0, 1, [])


@pytest.mark.parametrize(
    "made",
    [
        {"name": "long_press", "coordinate": [500, 250]},
        {"name": "long_press", "arguments": {"coordinate": [500, 250]}},
        {"name": "long_press", "arguments": '{"coordinate": [500, 250]}'},
        {"tool_call": {"name": "long_press", "arguments": {"coordinate": [500, 250]}}, "thinking": "t"},
        {"function_call": {"name": "long_press", "coordinate": [500, 250]}},
        {"name": "mobile_use", "arguments": {"action": "long_press", "coordinate": [500, 250]}},
    ],
)
def test_a_call_may_be_named_by_its_action(tmp_path: Path, made: dict[str, Any]) -> None:
    path = folder(tmp_path, [made, {"name": "open_app", "app_name": "Clock"}, {"name": "terminate"}], shots=2)
    (path / "screenshot_0.png").write_bytes(sized_png(100, 200))
    first, second, last = trace(path).steps
    assert (first.proposed.action.kind, first.proposed.action.at) == ("long_press", (50, 50))
    assert first.proposed.action.raw == made.get("tool_call", made.get("function_call", made))
    assert (second.proposed.action.kind, second.proposed.action.app) == ("open_app", "Clock")
    assert (last.proposed.action.kind, trace(path).status) == ("status", "completed")


def test_attempts_of_the_very_same_actions_each_come_in_by_their_pictures_and_a_copy_does_not(
    tmp_path: Path, store: Store
) -> None:
    for root, marks in (("a", [0, 1]), ("b", [0, 2]), ("copy", [0, 2]), ("bare", [])):
        (tmp_path / root).mkdir()
        path = folder(tmp_path / root, [call("open", text="Clock"), call("terminate", status="success")])
        for i, mark in enumerate(marks):
            (path / f"screenshot_{i}.png").write_bytes(png(mark))
    report = import_paths(store, [tmp_path])
    assert (report.imported, report.skipped, report.failed) == (2, 2, [])
    assert one(tmp_path / "a" / "Turn_wifi_on.").id in {run.id for run in store.runs.summaries()}
    assert import_paths(store, [tmp_path / "copy"]).imported == 0


SMALL = [call("click", coordinate=[540, 800]), call("click", coordinate=[270, 600])]


def test_pixels_below_1000_are_pixels_where_the_source_says_so(tmp_path: Path) -> None:
    """A screen of 720 x 1600: as 0 to 1000, [540, 800] would be (389, 1280)."""

    def places(lines: list[Any], prompt: str = "", name: str = "a") -> list[Any]:
        path = folder(tmp_path, lines, name=name)
        for i in range(len(lines)):
            (path / f"screenshot_{i}.png").write_bytes(sized_png(720, 1600))
        if prompt:
            (path / "prompt_0.txt").write_text(prompt)
        return [step.proposed.action.at for step in trace(path).steps]

    assert places(SMALL) == [(389, 1280), (194, 960)]
    assert places(SMALL, "Use a touchscreen. * The screen's resolution is 720x1600.", "b") == [(540, 800), (270, 600)]
    assert places(SMALL, "The screen's resolution is 1440x3200.", "c") == [(270, 400), (135, 300)]
    assert places(SMALL, "The screen's resolution is 999x999.", "d") == [(389, 1280), (194, 960)]
    done = [{"tool_call": one, "action_dict": {"action_type": "click", "x": x, "y": y}}
            for one, x, y in zip(SMALL, (540, 270), (800, 600), strict=True)]  # fmt: skip
    assert places(done, name="e") == [(540, 800), (270, 600)]
    done[1]["action_dict"] = {"action_type": "click", "x": 194, "y": 960}
    assert places(done, name="f") == [(389, 1280), (194, 960)]
