"""AndroidWorld's pickles: the real recordings, every agent's columns, and what may be wrong with them."""

from __future__ import annotations

import dataclasses
import datetime
import gzip
import io
import json
import pickle
from collections import Counter
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from PIL import Image

from lab.core.run.run_records import Imported
from lab.core.run.step import Observation, Usage
from lab.core.run.trace import Ended, Trace, fold
from lab.core.run.ui_tree import Bounds
from lab.core.task.task import Actor
from store.formats import FailedRun, KnownRun, read
from store.runs.run_import import import_paths
from store.store import Store
from tests.warm_code import python

TRACES = Path(__file__).parents[3].parent / "shared" / "traces" / "androidworld_pkl"
needs_traces = pytest.mark.skipif(not TRACES.is_dir(), reason="AndroidWorld's pickles in ../shared/traces are not here")


@dataclasses.dataclass
class BoundingBox:
    x_min: float
    x_max: float
    y_min: float
    y_max: float


@dataclasses.dataclass
class UIElement:
    text: str | None = None
    content_description: str | None = None
    class_name: str | None = None
    bbox: BoundingBox | None = None
    bbox_pixels: BoundingBox | None = None
    hint_text: str | None = None
    is_clickable: bool | None = None
    is_enabled: bool | None = True
    is_visible: bool | None = True
    package_name: str | None = None
    resource_name: str | None = None


@dataclasses.dataclass
class JSONAction:
    action_type: str | None = None
    index: int | None = None
    x: int | None = None
    y: int | None = None
    text: str | None = None
    direction: str | None = None
    goal_status: str | None = None
    app_name: str | None = None


def screen(shade: int, size: tuple[int, int] = (100, 200)) -> Any:
    return np.full((size[1], size[0], 3), shade, np.uint8)


def element(left: int, top: int, right: int, bottom: int, **fields: Any) -> UIElement:
    return UIElement(bbox_pixels=BoundingBox(left, right, top, bottom), **fields)


def episode(data: Any, **fields: Any) -> dict[str, Any]:
    """An episode with the official keys."""
    return {
        "goal": "Turn on wifi", "task_template": "SystemWifiTurnOn", "episode_data": data, "is_successful": 1.0,
        "run_time": 12.5, "finish_dtime": datetime.datetime(2025, 1, 2, 3, 4, 5), "episode_length": 2,
        "aux_data": None, "screen_config": {"width": 100, "height": 200, "orientation": "portrait"},
        "exception_info": None, "seed": 30, "agent_name": "M3A", "instance_id": 0, **fields,
    }  # fmt: skip


def saved(path: Path, value: Any, protocol: int = 4) -> Path:
    with gzip.open(path, "wb", compresslevel=1) as file:
        file.write(pickle.dumps(value, protocol))
    return path


def one(path: Path) -> Imported:
    (found,) = read(path)
    assert isinstance(found, Imported), found
    return found


def trace(tmp_path: Path, data: Any, **fields: Any) -> Trace:
    return fold(one(saved(tmp_path / "T_0.pkl.gz", [episode(data, **fields)])).events)


def failure(path: Path) -> str:
    (found,) = read(path)
    assert isinstance(found, FailedRun), found
    return found.error


def ended(found: Trace) -> Ended:
    assert found.ended is not None
    return found.ended


def m3a() -> dict[str, list[Any]]:
    """Three steps of M3A: a click by index, an output that could not be parsed, and the end."""
    elements = [element(0, 0, 100, 10), element(10, 20, 31, 60, text="Wi-Fi", is_clickable=True, hint_text="net")]
    return {
        "raw_screenshot": [screen(1), screen(2), screen(3)],
        "before_screenshot_with_som": [screen(11), screen(12), screen(13)],
        "before_ui_elements": [elements, elements, elements[:1]],
        "after_screenshot_with_som": [screen(21), None, None],
        "action_prompt": ["p0", "p1", "p2"],
        "action_output": ['Reason: it is there\nAction: {"action_type": "click", "index": 1}', "I do not know", "r"],
        "action_output_json": [JSONAction("click", index=1), None, JSONAction("status", goal_status="complete")],
        "action_reason": ["it is there", None, "done"],
        "action_raw_response": [None, None, None],
        "summary": ["s0", "s1", "s2"],
        "step_number": [0, 1, 2],
    }


@needs_traces
def test_the_real_pickles_come_in_whole() -> None:
    found = list(read(TRACES))
    runs = [fold(one.events) for one in found if isinstance(one, Imported)]
    assert len(found) == len(runs) == 8
    assert Counter((run.agent.id, run.status, run.ended and run.ended.score) for run in runs) == {
        ("simple_claude", "completed", 1.0): 5,
        ("simple_claude", "completed", 0.0): 1,
        ("simple_claude", "failed", None): 1,
        ("M3A", "budget", 0.0): 1,
    }
    assert [len(run.steps) for run in runs] == [1, 1, 1, 1, 1, 1, 0, 2]
    assert {run.task.id for run in runs[:4]} == {
        "BrowserMaze", "ClockStopWatchRunning", "ContactsAddContact", "SystemBluetoothTurnOn"
    }  # fmt: skip


@needs_traces
def test_a_real_text_run_keeps_what_its_agent_said_and_what_it_took() -> None:
    found = one(TRACES / "GBOX" / "run_20251003T200253297459" / "BrowserMaze_0.pkl.gz")
    run = fold(found.events)
    assert run.task.instruction.startswith("Open the file task.html in Downloads")
    assert (run.task.traits, run.agent, run.device.size) == (
        {"instance": "0"}, Actor("model", "simple_claude"), (1080, 2400)
    )  # fmt: skip
    assert run.conditions.seed == 3308742614
    assert ended(run).usage == Usage(seconds=304.2847831249237)
    step = run.steps[0]
    assert (step.proposed.raw or "").startswith("I'll help you accomplish this goal.")
    assert (step.proposed.action.kind, step.extra["step_count"], step.extra["error"]) == ("other", 1, False)
    assert found.verdicts[0].value == 1.0
    assert found.verdicts[1].extra["finish_dtime"] == "2025-10-03T20:24:59.843086"


@needs_traces
def test_a_real_crash_keeps_its_traceback_word_for_word() -> None:
    found = one(TRACES / "runs" / "run_20250918T132315204816" / "ClockStopWatchRunning_0.pkl.gz")
    run = fold(found.events)
    assert (run.status, run.steps, run.device.size) == ("failed", (), None)
    assert found.verdicts[0].value is None
    assert found.verdicts[0].reason.startswith("Traceback (most recent call last):\n  File ")
    assert found.verdicts[1].extra["missing"] == [["episode_length", "nan"]]


@needs_traces
def test_the_m3a_pickle_shows_screens_elements_and_clicks_on_them() -> None:
    found = one(TRACES / "synth_m3a" / "SystemWifiTurnOn_0.pkl.gz")
    run = fold(found.events)
    first, second = run.steps
    assert (first.before.size, run.device.size) == ((540, 1110), (1080, 2220))
    assert (first.proposed.action.kind, first.proposed.action.at, first.proposed.action.raw["x"]) == (
        "click", (270, 416), 540
    )  # fmt: skip
    assert second.proposed.action.at == (270, 322)
    assert first.before.tree is not None
    assert (len(first.before.tree.roots), first.before.tree.roots[0].bounds) == (59, Bounds(0, 0, 540, 1110))
    assert first.proposed.thought.startswith("Observation: The screenshot shows the settings menu")
    final = ended(run).final
    assert final is not None
    assert set(found.images) == {first.before.image, second.before.image, final.image}
    for sha256, blob in found.images.items():
        assert (blob.sha256, blob.mime, Image.open(io.BytesIO(blob.data)).size) == (sha256, "image/png", (540, 1110))
    assert "raw_screenshot" not in first.extra


def test_m3a_columns_become_steps(tmp_path: Path) -> None:
    run = trace(tmp_path, m3a())
    first, second, third = run.steps
    assert first.before.tree is not None
    action = first.proposed.action
    assert (action.kind, action.at, action.boxes, action.space) == ("click", (20, 40), ((10, 20, 31, 60),), "index")
    assert action.raw["index"] == 1
    assert first.before.tree.roots[1].text == "Wi-Fi"
    assert (first.proposed.thought, first.extra["action_prompt"], first.extra["summary"]) == ("it is there", "p0", "s0")
    assert first.extra["ui_elements"] == {"1": {"hint_text": "net"}}
    assert (second.proposed.action.kind, second.proposed.action.raw, second.proposed.raw) == (
        "other", None, "I do not know"
    )  # fmt: skip
    assert third.proposed.action.status == "complete"
    assert (run.status, ended(run).score) == ("completed", 1.0)
    assert ended(run).final is None


def test_the_screens_are_those_before_and_the_last_one_after(tmp_path: Path) -> None:
    columns = m3a()
    columns["after_screenshot_with_som"] = [screen(21), screen(22), None]
    found = one(saved(tmp_path / "T_0.pkl.gz", [episode(columns)]))
    run = fold(found.events)
    shades = [Image.open(io.BytesIO(found.images[step.before.image or ""].data)).getpixel((5, 5)) for step in run.steps]
    assert shades == [(1, 1, 1), (2, 2, 2), (3, 3, 3)]
    final = ended(run).final
    assert final is not None
    assert Image.open(io.BytesIO(found.images[final.image or ""].data)).getpixel((5, 5)) == (22, 22, 22)
    assert len(found.images) == 4


def test_t3a_and_other_agents_are_read_by_what_their_columns_hold(tmp_path: Path) -> None:
    t3a = {
        "before_screenshot": [screen(1)],
        "after_screenshot": [screen(2)],
        "before_element_list": [[element(0, 0, 20, 20)]],
        "after_element_list": [[element(0, 0, 40, 40)]],
        "action_output": ['Reason: scroll on\nAction: {"action_type": "scroll", "direction": "down"}'],
        "action_raw_response": [json.dumps({"usage": {"prompt_tokens": 10, "completion_tokens": 2}})],
        "summary_raw_response": [json.dumps({"usage": {"prompt_tokens": 5, "completion_tokens": 1}})],
        "step_number": [0],
    }
    run = trace(tmp_path, t3a, agent_name="T3A", is_successful=0.0)
    step = run.steps[0]
    assert (step.proposed.action.kind, step.proposed.action.direction, step.proposed.action.vector) == (
        "scroll", "down", (0, -100)
    )  # fmt: skip
    assert step.proposed.thought == "scroll on"
    assert step.proposed.usage == Usage(prompt_tokens=15, completion_tokens=3, tries=2)
    final = ended(run).final
    assert final is not None
    assert final.tree is not None
    assert final.tree.roots[0].bounds == Bounds(0, 0, 40, 40)
    assert (run.status, ended(run).score) == ("budget", 0.0)
    seeact = {
        "ui_elements": [[element(0, 0, 20, 20)]], "screenshot": [screen(5)],
        "action": [JSONAction("swipe", direction="left")],
        "action_gen_payload": [{"image": "data:image/jpeg;base64," + "A" * 5000, "model": "m"}], "step_number": [0],
    }  # fmt: skip
    step = trace(tmp_path, seeact).steps[0]
    assert (step.proposed.action.kind, step.proposed.action.vector) == ("swipe", (-50, 0))
    assert step.extra["action_gen_payload"]["image"].startswith("data:image/jpeg;base64,(")
    human = {"elements": [[element(0, 0, 9, 9)]], "pixels": [screen(6)], "step_number": [0]}
    run = trace(tmp_path, human, agent_name="human")
    assert (run.agent.kind, run.steps[0].before.size, run.status) == ("human", (100, 200), "completed")


def test_unknown_columns_are_kept_as_json_and_never_as_pictures(tmp_path: Path) -> None:
    png = io.BytesIO()
    Image.new("RGB", (300, 300), "red").save(png, "PNG")
    columns = {
        "thing": [SimpleNamespace(a=1, b=[float("nan")])], "observation": [png.getvalue()],
        "stack": [[screen(1), screen(2)]], "when": [datetime.datetime(2024, 1, 1)], "vector": [np.array([1.5, 2.5])],
        "big": [2**70], "lone": ["\ud800"], "step_number": [7],
    }  # fmt: skip
    step = trace(tmp_path, columns).steps[0]
    assert step.before.size == (300, 300)
    assert step.extra == {
        "thing": {"class": "types.SimpleNamespace", "state": {"a": 1, "b": [None]}},
        "stack": ["picture 100x200, left out"] * 2,
        "when": "2024-01-01T00:00:00",
        "vector": [1.5, 2.5],
        "big": str(2**70),
        "lone": "␛ud800",
        "step_number": 7,
        "missing": [["thing.state.b[0]", "nan"], ["big", "integer too large"], ["lone", "lone surrogate"]],
    }


@pytest.mark.parametrize(
    ("action", "kind", "fields"),
    [
        ({"action_type": "click", "x": 0, "y": 0}, "click", {"at": (0, 0), "space": "px"}),
        ({"action_type": "long-press", "index": "1"}, "long_press", {"at": (20, 40), "space": "index"}),
        ({"action_type": "click", "index": 99}, "click", {"at": None, "space": "index"}),
        ({"action_type": "input_text", "text": 5, "index": 1}, "input_text", {"text": "5", "at": (20, 40)}),
        ({"action_type": "double_tap", "x": 3.6, "y": 4}, "double_tap", {"at": (4, 4)}),
        ({"action_type": "scroll", "direction": "left"}, "scroll", {"vector": (50, 0), "direction": "left"}),
        ({"action_type": "swipe", "direction": "up"}, "swipe", {"vector": (0, -100), "direction": "up"}),
        ({"action_type": "drag_and_drop", "touch_start": [1, 2], "touch_end": [5, 9]}, "drag",
         {"at": (1, 2), "to": (5, 9), "vector": (4, 7)}),
        ({"action_type": "navigate_home"}, "navigate_home", {}),
        ({"action_type": "navigate_back"}, "navigate_back", {}),
        ({"action_type": "keyboard_enter"}, "keyboard_enter", {}),
        ({"action_type": "open_app", "app_name": "Clock"}, "open_app", {"app": "Clock"}),
        ({"action_type": "wait"}, "wait", {}),
        ({"action_type": "answer", "text": "42"}, "answer", {"text": "42"}),
        ({"action_type": "status", "goal_status": "infeasible"}, "status", {"status": "infeasible"}),
        ({"action_type": "unknown"}, "other", {"at": None}),
        ({"action_type": "click", "x": "left", "y": None}, "click", {"at": None}),
        ({"action_type": "click", "x": float("nan"), "y": 1e300}, "click", {"at": None}),
    ],
)  # fmt: skip
def test_actions_by_name(tmp_path: Path, action: dict[str, Any], kind: str, fields: dict[str, Any]) -> None:
    elements = [element(0, 0, 100, 10), element(10, 20, 31, 60)]
    columns = {"before_ui_elements": [elements], "action_output_json": [action], "step_number": [0]}
    found = trace(tmp_path, columns).steps[0].proposed.action
    assert (found.kind, {name: getattr(found, name) for name in fields}) == (kind, fields)
    said = {"action_output_json": [json.dumps(action)], "step_number": [0]}
    assert trace(tmp_path, said).steps[0].proposed.action.kind == kind


def test_an_action_may_stand_in_the_output_alone_and_be_none(tmp_path: Path) -> None:
    said = ['Action: {"action_type": "wait"} and more', "Action: {", "{}", "[" * 100_000, None, 7]
    run = trace(tmp_path, {"action_output": said, "step_number": list(range(6))})
    assert [step.proposed.action.kind for step in run.steps] == ["wait", *["other"] * 5]


def test_elements_may_count_from_0_to_1_and_be_dicts_or_wrong(tmp_path: Path) -> None:
    elements = [
        UIElement(bbox=BoundingBox(0.1, 0.5, 0.25, 0.5)),
        {"text": "plain", "bbox_pixels": {"x_min": 1, "x_max": 2, "y_min": 3, "y_max": 4}, "resource_name": "a:id/b"},
        {"text": 5, "bbox_pixels": "none", "class_name": None},
        {"bbox_pixels": {"x_min": float("inf"), "x_max": 2**80, "y_min": None, "y_max": "x"}},
    ]
    tree = trace(tmp_path, {"ui_elements": [elements], "step_number": [0]}).steps[0].before.tree
    assert tree is not None
    assert [node.bounds for node in tree.roots[:2]] == [Bounds(10, 50, 50, 100), Bounds(1, 3, 2, 4)]
    assert [node.text for node in tree.roots] == ["", "plain", "", ""]
    assert tree.roots[1].id == "a:id/b"
    words = trace(tmp_path, {"before_element_list": ["UI element 0: x"], "step_number": [0]}).steps[0]
    assert (words.before.tree, words.extra) == (None, {"before_element_list": "UI element 0: x"})


def test_ragged_and_empty_columns(tmp_path: Path) -> None:
    columns = {
        "raw_screenshot": [screen(1)],
        "summary": ["a", None, "c", "d"],
        "mode": "fast",
        "step_number": [0, 1, 2],
    }
    run = trace(tmp_path, columns)
    assert [step.before.image is not None for step in run.steps] == [True, False, False]
    assert [step.extra.get("summary") for step in run.steps] == ["a", None, "c"]
    assert run.steps[0].extra["episode_data"] == {
        "mode": "fast", "ragged": {"raw_screenshot": "1 of 3 values", "summary": "4 of 3 values"}
    }  # fmt: skip
    assert run.steps[1].before == Observation(size=(100, 200))
    assert len(trace(tmp_path, {"summary": ["a", "b"]}).steps) == 2
    assert trace(tmp_path, {}).status == "failed"
    assert len(trace(tmp_path, [{"summary": "a"}, {"summary": "b"}]).steps) == 2


def test_an_action_in_a_column_that_lacks_some_steps_value_is_not_given_to_another_step(tmp_path: Path) -> None:
    said = ["no idea", 'Reason: it\nAction: {"action_type": "click", "x": 1, "y": 2}', "none either"]
    late = [JSONAction("click", x=1, y=2), JSONAction("wait")]
    columns = {"action_output": said, "action_output_json": late, "action_reason": ["it"], "step_number": [0, 1, 2]}
    first, second, third = trace(tmp_path, columns).steps
    assert (second.proposed.action.at, second.proposed.thought) == ((1, 2), "it")
    assert second.extra["action_output_json"]["state"]["action_type"] == "wait"
    assert (first.proposed.action.kind, third.proposed.action.kind) == ("click", "other")


@pytest.mark.parametrize("value", [float("nan"), None])
def test_a_crash_before_the_first_step_is_a_failed_run(tmp_path: Path, value: Any) -> None:
    run = trace(tmp_path, value, is_successful=value, exception_info="Traceback: x", episode_length=value)
    assert (run.status, ended(run).score, ended(run).reason, run.steps) == ("failed", None, "Traceback: x", ())


@pytest.mark.parametrize(
    ("value", "score"),
    [(True, 1.0), (np.float64(0.5), 0.5), (7.0, None), ("yes", None), ([1], None), (float("inf"), None)],
)
def test_success_is_a_number_from_0_to_1_or_none(tmp_path: Path, value: Any, score: float | None) -> None:
    assert ended(trace(tmp_path, m3a(), is_successful=value)).score == score


def test_wrong_types_in_any_field_never_crash(tmp_path: Path) -> None:
    wrong = [None, True, -1, 2**80, float("nan"), "x", b"\xff", [], [None], {}, {"a": {}}, (1,), screen(3), Path]
    columns = list(m3a())
    for value in wrong:
        fields = {name: value for name in episode({}) if name != "episode_data"}
        assert len(trace(tmp_path, {"step_number": [0]}, **fields).steps) == 1
        assert len(trace(tmp_path, {**{name: [value] for name in columns}, "step_number": [value]}).steps) == 1
        assert trace(tmp_path, dict.fromkeys(columns, value)).ended is not None


def test_an_episodes_own_fields_may_be_called_as_a_verdicts_are(tmp_path: Path) -> None:
    told = {"name": "n", "value": 3, "reason": "r", "self": "s"}
    found = one(saved(tmp_path / "Task_0.pkl.gz", [episode(m3a(), **told)]))
    (source,) = [verdict for verdict in found.verdicts if verdict.name == "source"]
    assert told.items() <= source.extra.items()


def test_what_makes_no_sense_is_told_in_a_sentence(tmp_path: Path) -> None:
    assert "field episode_data: is no mapping" in failure(saved(tmp_path / "a.pkl.gz", [episode("text")]))
    assert "holds no episodes of AndroidWorld" in failure(
        saved(tmp_path / "b.pkl.gz", {"task_template": "episode_data"})
    )
    whole = saved(tmp_path / "d.pkl.gz", [episode(m3a())]).read_bytes()
    (tmp_path / "d.pkl.gz").write_bytes(whole[: len(whole) // 2])
    assert "is cut short" in failure(tmp_path / "d.pkl.gz")
    (tmp_path / "e.pkl.gz").write_bytes(b"\x1f\x8bnonsense")
    assert "e.pkl.gz: cannot be unpacked" in failure(tmp_path / "e.pkl.gz")
    (tmp_path / "F_0.pkl.gz").write_bytes(b"")
    assert "is cut short" in failure(tmp_path / "F_0.pkl.gz")
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "g.pkl.gz").symlink_to(saved(tmp_path / "g.pkl.gz", [episode(m3a())]))
    (found,) = read(tmp_path / "in")
    assert isinstance(found, FailedRun)
    assert "leads out of the folder" in found.error
    deep: list[Any] = []
    for _ in range(150):
        deep = [deep]
    assert "nested too deeply" in failure(saved(tmp_path / "h.pkl.gz", [episode({"x": [deep], "step_number": [0]})]))


def test_several_episodes_in_one_file_stand_or_fall_alone(tmp_path: Path) -> None:
    path = saved(tmp_path / "T.pkl.gz", [episode(m3a()), {"goal": "x"}, episode("text"), episode(m3a(), seed=2)])
    found = list(read(path))
    assert [type(one) for one in found] == [Imported, FailedRun, FailedRun, Imported]
    ids = {one.id for one in found if isinstance(one, Imported)}
    assert len(ids) == 2
    again = list(read(path, known=lambda id: id in ids))
    assert [type(one) for one in again] == [KnownRun, FailedRun, FailedRun, KnownRun]
    first = next(iter(ids))
    assert sum(isinstance(one, Imported) for one in read(path, known=lambda id: id == first)) == 1


def test_other_wrappings_of_the_same_list(tmp_path: Path) -> None:
    plain = tmp_path / "T_0.pkl"
    plain.write_bytes(pickle.dumps([episode(m3a())]))
    assert len(fold(one(plain).events).steps) == 3
    assert len(fold(one(saved(tmp_path / "a.pkl.gz", episode(m3a()))).events).steps) == 3
    assert len(fold(one(saved(tmp_path / "b.pkl.gz", ([episode(m3a())], ["Done"]))).events).steps) == 3
    assert len(fold(one(saved(tmp_path / "c.pkl.gz", [episode(m3a())], 5)).events).steps) == 3
    assert len(fold(one(saved(tmp_path / "d.pkl.gz", [episode(m3a())], 2)).events).steps) == 3


def test_twice_is_once(tmp_path: Path, store: Store) -> None:
    path = saved(tmp_path / "T_0.pkl.gz", [episode(m3a())])
    assert import_paths(store, [path]).imported == 1
    again = import_paths(store, [path])
    assert (again.imported, again.skipped, again.failed) == (0, 1, [])


def test_a_large_file_needs_little_memory(tmp_path: Path) -> None:
    path = tmp_path / "T_0.pkl.gz"
    noise = np.random.default_rng(0).integers(0, 256, (1200, 540, 3), np.uint8)
    shots = []
    for shade in range(12):
        shot = np.full_like(noise, shade)
        shot[:300] = np.roll(noise[:300], shade)
        shots.append(shot)
    data = {name: shots[i::3] * 8 for i, name in enumerate(("raw_screenshot", "before_screenshot", "after_screenshot"))}
    with gzip.open(path, "wb", compresslevel=1) as file:
        pickle.dump([episode({**data, "step_number": list(range(32))})], file)
    limited = (
        "import resource, sys; from pathlib import Path;"
        "own = int(Path('/proc/self/statm').read_text().split()[0]) * resource.getpagesize();"
        "limit = own + 100 * 1024**2;"
        "resource.setrlimit(resource.RLIMIT_AS, (limit, limit));"
        "from store.formats import read; (found,) = read(Path(sys.argv[1]));"
        "print(len(found.images), sum(len(blob.data) for blob in found.images.values()) > 1_250_000)"
    )
    done = python(limited, path, text=True)
    assert done.stdout == "5 True\n", done.stderr[-2000:]


@pytest.mark.parametrize("name", ["model.pkl", "model.pkl.gz", "model_0.pkl.gz", "features.pickle"])
def test_other_programs_pickles_are_passed_over(tmp_path: Path, name: str) -> None:
    data = pickle.dumps({"weights": [1.5, 2.5], "epoch": 3})
    (tmp_path / name).write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
    assert list(read(tmp_path)) == []
    assert list(read(tmp_path / name, "androidworld")) == []
