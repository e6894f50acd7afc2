"""DAC-Bench: Fig. 6 in every layout and spelling, paths that lead out, and runs of ours written and read back."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from lab.core.run.run_records import Imported, imported_id, number_events
from lab.core.run.step import Action, Decision, Observation, Proposed, Question, Reply
from lab.core.run.trace import AnyEvent, DeviceInfo, Ended, Flagged, Started, Step, Trace, fold
from lab.core.run.ui_tree import Bounds, Node, UiTree
from lab.core.task.task import Actor, Branch, Task
from lab.studies.proofreading.proofreading import ProofreadingSession
from store.formats import RunSource, read
from store.formats.dac.actions import CoordinateFrame, action_of, written_action
from store.formats.pictures import Pictures
from store.runs.run_export import export_runs
from store.runs.run_import import import_paths
from store.store import Store
from tests import demonstrations as proofread
from tests.store.formats.demos import JPEG, every, failures, known_again, only, png

GOAL = "First, search YouTube for 'meditation'. If the title contains 'beginner', create a note. Otherwise, save it."
FRAME = CoordinateFrame((100, 200), None)


def act(kind: Any, **fields: Any) -> dict[str, Any]:
    return {"action_type": kind, **fields}


def step(shot: Any, said: str, *actions: Any, **fields: Any) -> dict[str, Any]:
    return {"screenshot": shot, "step_instruction": said, "actions": list(actions), **fields}


def episode(steps: Any = None, **fields: Any) -> dict[str, Any]:
    return {
        "episode_id": 132, "width": 1170, "height": 2532,
        "device": {"product": "Honor X60 Pro", "release_version": 14, "sdk_version": 34},
        "instruction": GOAL, "category": "selection", "app": ["Youtube", "Evernote"],
        "steps": FIG6 if steps is None else steps, **fields,
    }  # fmt: skip


FIG6 = [
    step("./data/screenshots/132/132_0.jpg", "click search", act("click", location=[1091, 160, 1204, 242])),
    step("./data/screenshots/132/132_2.jpg", "click blue search", act("click", location=[663, 1268, 894, 1373])),
    step("./data/screenshots/132/132_1.jpg", "type it", act("type", text="meditation guide 10 minute")),
    step("./data/screenshots/132/132_2.jpg", "scroll down", act("scroll", orientation="down")),
]


def dataset(root: Path, held: Any, file: str = "dac.json", shots: str = "data/screenshots/132") -> Path:
    (root / file).parent.mkdir(parents=True, exist_ok=True)
    (root / file).write_text(held if isinstance(held, str) else json.dumps(held))
    if shots:
        (root / shots).mkdir(parents=True, exist_ok=True)
        for i in range(3):
            (root / shots / f"132_{i}.jpg").write_bytes(png(1170, 2532, str(i)))
    return root


def test_figure_6_as_it_is_printed(tmp_path: Path) -> None:
    run, trace = only(dataset(tmp_path, episode()))
    assert (trace.task.id, trace.task.instruction, trace.task.apps) == ("132", GOAL, ("Youtube", "Evernote"))
    assert (trace.device.product, trace.device.release, trace.device.sdk) == ("Honor X60 Pro", "14", "34")
    assert trace.device.size == (1170, 2532)
    assert trace.task.golden_steps == 4
    assert trace.task.traits == {
        "category": "selection", "structure": "Conditional", "platform": "android", "language": "en",
        "language_by": "script",
    }  # fmt: skip
    click, again, typed, scroll = (s.proposed.action for s in trace.steps)
    assert (click.kind, click.boxes, click.at) == ("click", ((1091, 160, 1204, 242),), (1147, 201))
    assert (click.raw, click.space) == (act("click", location=[1091, 160, 1204, 242]), "box")
    assert again.at == (778, 1320)
    assert (typed.kind, typed.text) == ("input_text", "meditation guide 10 minute")
    assert (scroll.kind, scroll.direction, scroll.vector) == ("scroll", "down", (0, -1266))
    assert [s.proposed.instruction for s in trace.steps] == [
        "click search",
        "click blue search",
        "type it",
        "scroll down",
    ]
    shots = [s.before.image for s in trace.steps]
    assert len(run.images) == 3
    assert shots[1] == shots[3] != shots[0]
    assert trace.agent == Actor("human", "annotator")
    assert trace.ended is not None
    assert (trace.ended.status, trace.ended.score) == ("completed", None)


LAYOUTS: dict[str, Callable[[], str]] = {
    "one": lambda: json.dumps(episode()),
    "list": lambda: json.dumps([episode()]),
    "lines": lambda: json.dumps(episode()) + "\n\n" + json.dumps(episode(episode_id=7)) + "\n",
    "mapping": lambda: json.dumps({"132": {**episode(), "episode_id": None}}),
    "below": lambda: json.dumps({"version": 1, "episodes": [episode()]}),
    "meta": lambda: json.dumps([{key: value for key, value in episode().items() if key != "steps"}, *FIG6]),
    "step": lambda: json.dumps({**episode(), "steps": None, "annotations": FIG6}),
    "bom": lambda: "\ufeff" + json.dumps(episode(), indent=2),
}


@pytest.mark.parametrize("layout", LAYOUTS)
def test_every_layout_holds_the_same_episode(tmp_path: Path, layout: str) -> None:
    path = dataset(tmp_path, LAYOUTS[layout](), shots="data/screenshots/132")
    runs = every(path)
    trace = fold(runs[0].events)
    assert len(runs) == (2 if layout == "lines" else 1)
    assert (trace.task.id, trace.task.instruction, len(trace.steps)) == ("132", GOAL, 4)
    assert [s.before.size for s in trace.steps] == [(1170, 2532)] * 4
    assert known_again(path)


def test_one_episode_is_one_run_however_its_file_is_laid_out(tmp_path: Path) -> None:
    ids = set()
    for name in ("one", "list", "lines", "below"):
        ids.add(every(dataset(tmp_path / name, LAYOUTS[name](), shots=""))[0].id)
    assert len(ids) == 1
    packed = tmp_path / "packed.json.gz"
    packed.write_bytes(gzip.compress(json.dumps(episode()).encode()))
    assert every(packed)[0].id in ids


@pytest.mark.parametrize(
    ("said", "place"),
    [
        ("./data/screenshots/132/132_0.jpg", "data/screenshots/132"),
        ("data\\screenshots\\132\\132_0.jpg", "data/screenshots/132"),
        ("132_0.jpg", "data/screenshots/132"),
        ("./data/screenshots/132/132_0.jpg", "."),
        ("./data/screenshots/132/132_0.jpg", "elsewhere/132"),
        ("/annotator/data/screenshots/132/132_0.jpg", "annotations/screenshots"),
    ],
)
def test_screenshots_below_above_or_by_name(tmp_path: Path, said: str, place: str) -> None:
    root = dataset(tmp_path, episode([step(said, "x", act("click"))]), "annotations/a.json", place)
    _, trace = only(root)
    assert trace.steps[0].before.size == (1170, 2532)


def test_of_two_pictures_of_one_name_none_is_guessed(tmp_path: Path) -> None:
    root = dataset(tmp_path, episode([step("nowhere/132_0.jpg", "x", act("click"))]), "annotations/a.json", "b")
    dataset(root, episode([]), "c/other.json", "c")
    trace = fold(every(root / "annotations" / "a.json")[0].events)
    assert trace.steps[0].before.image is None
    trace = next(t for t in map(_trace, every(root)) if t.steps)
    assert trace.steps[0].extra["screenshot"] == "nowhere/132_0.jpg is not there"


def _trace(run: Imported) -> Trace:
    return fold(run.events)


@pytest.mark.parametrize(
    "said", ["../../etc/passwd", "/etc/passwd", "../secret.png", "C:\\secret.png", "./data/../../secret.png", "a\0b"]
)
def test_paths_that_lead_out_are_refused_one_by_one(tmp_path: Path, said: str) -> None:
    (tmp_path / "secret.png").write_bytes(png())
    root = dataset(tmp_path / "in", episode([step(said, "x", act("click")), FIG6[0]]))
    _, trace = only(root)
    assert trace.steps[0].before.image is None
    assert trace.steps[0].extra["screenshot"].startswith(said)
    assert trace.steps[1].before.image is not None


def test_a_linked_screenshot_that_leads_out_is_refused(tmp_path: Path) -> None:
    (tmp_path / "secret.png").write_bytes(png())
    root = dataset(tmp_path / "in", episode([step("s.png", "x", act("click"))]), shots="")
    (root / "s.png").symlink_to(tmp_path / "secret.png")
    _, trace = only(root)
    assert trace.steps[0].before.image is None
    assert "leads out" in trace.steps[0].extra["screenshot"]


def test_a_picture_that_is_smaller_than_the_screen_it_shows(tmp_path: Path) -> None:
    root = dataset(tmp_path, episode([FIG6[0]]), shots="")
    (root / "data/screenshots/132").mkdir(parents=True)
    (root / "data/screenshots/132/132_0.jpg").write_bytes(png(585, 1266))
    _, trace = only(root)
    action = trace.steps[0].proposed.action
    assert action.boxes == ((546, 80, 602, 121),)
    assert action.at == (574, 100)
    assert action.raw["location"] == [1091, 160, 1204, 242]


SPELLINGS: list[tuple[Any, dict[str, Any]]] = [
    *((act(said, location=[10, 20, 30, 40]), {"kind": "click", "at": (20, 30), "boxes": ((10, 20, 30, 40),)})
      for said in ("click", "Click", "CLICK", "tap")),
    *((act(said, location=[10, 20, 30, 40]), {"kind": "long_press", "at": (20, 30)})
      for said in ("long press", "long_press", "Long Press", "LONG_PRESS", "longpress", "long_click")),
    *((act(said, text="hi"), {"kind": "input_text", "text": "hi"}) for said in ("type", "Type", "TYPE", "input_text")),
    (act("type", value="hi"), {"kind": "input_text", "text": "hi"}),
    (act("type", text=""), {"kind": "input_text", "text": ""}),
    (act("scroll", orientation="down"), {"kind": "scroll", "direction": "down", "vector": (0, -100)}),
    (act("SCROLL", direction="LEFT"), {"kind": "scroll", "direction": "left", "vector": (50, 0)}),
    (act("swipe", direction="up"), {"kind": "swipe", "direction": "up", "vector": (0, -100)}),
    (act("scroll", orientation="sideways"), {"kind": "scroll", "direction": None, "vector": None}),
    *((act(said), {"kind": "navigate_home"})
      for said in ("navigate_home", "Navigate to Home", "home", "press_home", "navigate_to_home", "HOME")),
    *((act(said), {"kind": "navigate_back"})
      for said in ("press_back", "Navigate to Previous Page", "back", "navigate_back", "navigate_to_previous_page")),
    (act("press", key="BACK"), {"kind": "navigate_back"}),
    (act("PRESS", text="home"), {"kind": "navigate_home"}),
    *((act(said), {"kind": "status", "status": "complete"}) for said in ("Complete", "complete", "finished", "STOP")),
    *((act(said), {"kind": "status", "status": "infeasible"}) for said in ("impossible", "IMPOSSIBLE", "infeasible")),
    (act("stop", status="impossible"), {"kind": "status", "status": "infeasible"}),
    (act("impossible", reason="ambiguous"), {"kind": "status", "status": "infeasible", "text": "ambiguous"}),
    (act("wait"), {"kind": "wait"}),
    (act("double tap", location=[1, 1, 3, 3]), {"kind": "double_tap", "at": (2, 2)}),
    (act("enter"), {"kind": "keyboard_enter"}),
    (act("open_app", app="Clock"), {"kind": "open_app", "app": "Clock"}),
    ({"type": "click", "bbox": [1, 2, 3, 4]}, {"kind": "click", "at": (2, 3)}),
    ({"name": "click", "point": [7, 8]}, {"kind": "click", "at": (7, 8), "boxes": (), "space": "px"}),
    (act("click", location="[1, 2, 3, 4]"), {"at": (2, 3)}),
    (act("click", location=[[1, 2], [3, 4]]), {"boxes": ((1, 2, 3, 4),)}),
    (act("click", location=[[1, 2, 3, 4], [5, 6, 7, 8]]), {"at": (2, 3), "boxes": ((1, 2, 3, 4), (5, 6, 7, 8))}),
    (act("click", location={"x1": 1, "y1": 2, "x2": 3, "y2": 4}), {"boxes": ((1, 2, 3, 4),)}),
    (act("click", location={"x": 1, "y": 2}), {"at": (1, 2)}),
    (act("click", location=[30, 40, 10, 20]), {"boxes": ((10, 20, 30, 40),)}),
    (act("click", location=[0.1, 0.1, 0.3, 0.2]), {"boxes": ((10, 20, 30, 40),)}),
    (act("click", location=[0, 0, 0, 0]), {"at": (0, 0)}),
    (act("click", location=[1, 2, 3]), {"kind": "click", "at": None, "boxes": ()}),
    (act("click", location=[1e300, 2, 3, 4]), {"at": None}),
    (act("click", location=[None, "a", {}, []]), {"at": None}),
    (act("click", location=7), {"at": None}),
    (act("levitate"), {"kind": "other"}),
    ("home", {"kind": "navigate_home"}),
    (None, {"kind": "other"}),
    ([], {"kind": "other"}),
    ({}, {"kind": "other"}),
    (act("click", hitlab={"kind": "rm -rf"}), {"kind": "click"}),
    (act("click", hitlab={"at": [1e99, 0]}), {"kind": "click", "at": None}),
    (act("click", hitlab="x"), {"kind": "click"}),
]  # fmt: skip


@pytest.mark.parametrize(("raw", "expected"), SPELLINGS, ids=lambda value: str(value)[:70])
def test_each_spelling_in_our_words(raw: Any, expected: dict[str, Any]) -> None:
    action = action_of(raw, FRAME)
    assert {name: getattr(action, name) for name in expected} == expected
    assert action.raw == raw


def test_several_right_actions(tmp_path: Path) -> None:
    rows = [
        step(None, "go", act("click", location=[0, 0, 2, 2]), act("press_back")),
        {"step_instruction": "one", "actions": act("Complete")},
        {"step_instruction": "flat", "action_type": "click", "location": [2, 2, 4, 4]},
        {"step_instruction": "word", "action": "click", "location": [2, 2, 4, 4]},
        {"step_instruction": "none", "actions": []},
    ]
    _, trace = only(dataset(tmp_path, episode(rows)))
    assert trace.steps[0].proposed.action.kind == "click"
    assert [a.kind for a in trace.steps[0].accepted] == ["navigate_back"]
    assert [s.proposed.action.kind for s in trace.steps[1:]] == ["status", "click", "click", "other"]
    assert [s.proposed.action.at for s in trace.steps[2:4]] == [(3, 3), (3, 3)]


def test_what_the_episode_tells_of_itself(tmp_path: Path) -> None:
    held = episode(
        device={"product": "iPhone 15", "release_version": "18.5"}, structure="hierarchical", level="HL",
        instruction="打开微博。如果有新消息，就回复。", app="Weibo", annotator="A7", weather="rain",
        decision_points=[{"condition": "a message?", "options": ["reply", "leave"], "depth": 2}, "more?"],
    )  # fmt: skip
    _, trace = only(dataset(tmp_path, held))
    assert trace.task.traits == {
        "category": "selection", "structure": "Hierarchical", "platform": "ios", "level": "HL", "language": "zh",
        "language_by": "script",
    }  # fmt: skip
    assert trace.task.branches == (Branch("b1", "a message?", ("reply", "leave"), 2), Branch("b2", "more?"))
    assert trace.agent == Actor("human", "A7")
    assert trace.task.apps == ("Weibo",)
    assert trace.steps[0].extra["episode"]["weather"] == "rain"
    assert trace.steps[0].extra["episode"]["decision_points"] == held["decision_points"]
    _, told = only(dataset(tmp_path / "b", episode(platform="iOS", language="en", task_type="Conditional")))
    assert (told.task.traits["platform"], told.task.traits["structure"]) == ("ios", "Conditional")
    assert "language_by" not in told.task.traits


@pytest.mark.parametrize(
    ("said", "structure"),
    [
        ("selection", "Conditional"),
        ("if/else", "Conditional"),
        ("Sequential", "Sequential"),
        ("conjunction", "Conjunctive"),
        ("nested", "Hierarchical"),
        ("single", "Single"),
        ("Shopping", None),
    ],
)
def test_a_structure_by_its_other_names(tmp_path: Path, said: str, structure: str | None) -> None:
    _, trace = only(dataset(tmp_path, episode(category=said)))
    assert (trace.task.traits.get("structure"), trace.task.traits["category"]) == (structure, said)


@pytest.mark.parametrize("flag", [{"impossible": True}, {"flag": "IMPOSSIBLE"}, {"status": "impossible"}])
def test_a_task_that_is_flagged_impossible(tmp_path: Path, flag: dict[str, Any]) -> None:
    run, trace = only(dataset(tmp_path, episode(**flag, reason="against the app's use")))
    assert trace.ended is not None
    assert (trace.ended.status, trace.ended.reason) == ("completed", "against the app's use")
    assert [(v.name, v.value) for v in run.verdicts] == [("impossible", True)]
    possible, _ = only(dataset(tmp_path / "b", episode(impossible=False, status="done")))
    assert possible.verdicts == []


def test_what_cannot_be_read_is_named_and_the_others_come(tmp_path: Path) -> None:
    root = dataset(tmp_path, [episode(), {"instruction": "no steps"}, 5, episode([FIG6[0], 5], episode_id=9)])
    said = failures(root)
    assert len(said) == 3
    assert any("[1]: holds no list of steps" in error for error in said)
    assert any("[3].steps[1]: is no step" in error for error in said)
    assert sum(isinstance(one, Imported) for one in read(root)) == 1


@pytest.mark.parametrize("length", [400, 700, -1])
def test_a_file_that_was_cut_short_is_named(tmp_path: Path, length: int) -> None:
    (said,) = failures(dataset(tmp_path, json.dumps(episode())[:length]), "dac")
    assert "is not JSON" in said


def test_a_broken_line_among_lines(tmp_path: Path) -> None:
    root = dataset(tmp_path, json.dumps(episode()) + '\n{"step_ins\n' + json.dumps(episode(episode_id=3)), "a.jsonl")
    assert ["line 2" in error for error in failures(root)] == [True]
    assert sum(isinstance(one, Imported) for one in read(root)) == 2


def test_an_episode_without_steps_or_with_odd_types(tmp_path: Path) -> None:
    _, empty = only(dataset(tmp_path, episode([])))
    assert empty.ended is not None
    assert (empty.ended.status, empty.ended.reason) == ("failed", "the source holds no steps")
    odd = episode(
        [step(5, "x", act(7, location={}), score=float("nan")), {"actions": 3, "screenshot": []}],
        width="wide", height=None, device="Pixel", instruction=["a"], app={"a": 1},
        decision_points=[None, {"depth": "x"}], episode_id=[1], category=4,
    )  # fmt: skip
    (tmp_path / "b").mkdir()
    _, trace = only(dataset(tmp_path / "b", odd, shots=""))
    assert trace.task.id == "dac"
    assert (trace.device.product, trace.device.size) == ("Pixel", None)
    assert trace.steps[0].extra["missing"] == [["score", "nan"]]
    assert [s.proposed.action.kind for s in trace.steps] == ["other", "other"]


# -- written ---------------------------------------------------------------------------------------------------------

TREE = UiTree(
    (
        Node(
            Bounds(0, 0, 100, 200),
            children=(
                Node(Bounds(10, 10, 51, 41), text="Pay", clickable=True, children=(Node(Bounds(12, 12, 20, 20)),)),
            ),
        ),
    )
)
ACTS: list[Action] = [
    Action("click", at=(13, 14)),
    Action("click", at=(90, 190)),
    Action("double_tap", at=(0, 0)),
    Action("long_press", at=(12, 13)),
    Action("click", at=(20, 30), boxes=((1, 1, 39, 59), (2, 2, 4, 4))),
    Action("input_text", text="a'b\n\"c 你好"),
    Action("scroll", at=(5, 5), direction="down"),
    Action("scroll", direction="left", vector=(50, 0)),
    Action("swipe", at=(1, 2), to=(1, 50), direction="down", vector=(0, 48)),
    Action("drag", at=(1, 2), to=(30, 2), vector=(29, 0)),
    Action("navigate_home"),
    Action("navigate_back"),
    Action("keyboard_enter"),
    Action("press_recent"),
    Action("open_app", app="com.x"),
    Action("wait", ms=1000),
    Action("wait"),
    Action("answer", text="42"),
    Action("status", status="complete"),
    Action("status", status="infeasible", text="ambiguous"),
    Action("other", text="?"),
]


@pytest.mark.parametrize("action", ACTS, ids=lambda action: action.kind)
def test_each_act_of_ours_is_read_back_the_same(action: Action) -> None:
    frame = CoordinateFrame((100, 200), (100, 200))
    boxes = action.boxes or ((*action.at, *action.at),) if action.at and action.kind.endswith(("k", "p", "s")) else ()
    back = action_of(json.loads(json.dumps(written_action(action, boxes, frame))), frame)
    for name in ("kind", "at", "to", "text", "direction", "app", "status", "ms"):
        assert getattr(back, name) == getattr(action, name), name
    assert action.vector is None or back.vector == action.vector


@pytest.mark.parametrize("action", ACTS[:7], ids=lambda action: action.kind)
def test_what_the_format_has_words_for_is_spelled_in_them(action: Action) -> None:
    said = written_action(action, ((*action.at, *action.at),) if action.at and action.kind != "scroll" else (), FRAME)
    assert said["action_type"] in ("click", "long_press", "type", "scroll")
    assert ("location" in said) == (action.at is not None and action.kind != "scroll")


def demonstration(root: Path, actions: list[Action], *, id: str = "a" * 32, **task: Any) -> Imported:
    """A run as `hitlab record` leaves one, two steps to a picture, the trees with every other."""
    pictures = Pictures(RunSource("x", root, root))
    started = Started(
        trace=id, task=Task("demo-1", "general", instruction="Do 'it'", place="office", **task),
        agent=Actor("human", "R1"), device=DeviceInfo("adb", product="PX", release="14", sdk="34", size=(100, 200)),
        at="2026-11-22T07:34:04+00:00",
    )  # fmt: skip
    steps = []
    for i, action in enumerate(actions):
        seen = pictures.add(png(salt=str(i // 2)), TREE if i % 2 == 0 else None)
        note = "nobody knows which" if action.status == "infeasible" else ""
        steps.append(Step(index=i, proposed=Proposed(action, note, instruction=f"do {i}"), before=seen))
    return Imported(number_events([started, *steps, Ended(status="completed")]), pictures, [])


def written(store: Store, runs: list[Imported], out: Path, format: str = "dac") -> Path:
    store.runs.add_all(runs)
    export_runs(store, [run.id for run in runs], out, format)
    return out


def test_a_demonstration_written_and_read_back(tmp_path: Path, store: Store) -> None:
    traits = {"category": "c", "structure": "Conditional", "platform": "android", "language": "en", "level": "LL"}
    run = demonstration(
        tmp_path, ACTS[:9], traits=traits, branches=(Branch("b1", "if?", ("a", "b"), 2, "b"),), apps=("com.x",)
    )
    out = written(store, [run], tmp_path / "out")
    back, trace = only(out)
    before = fold(run.events)
    assert (trace.task.id, trace.task.instruction, trace.task.apps) == ("demo-1", "Do 'it'", ("com.x",))
    assert (trace.task.traits, trace.task.branches) == (before.task.traits, before.task.branches)
    assert trace.agent == Actor("human", "R1")
    assert (trace.device.product, trace.device.release, trace.device.sdk, trace.device.size) == (
        "PX", "14", "34", (100, 200),
    )  # fmt: skip
    for ours, theirs in zip(trace.steps, before.steps, strict=True):
        assert (ours.before.image, ours.before.size) == (theirs.before.image, theirs.before.size)
        assert ours.proposed.instruction == theirs.proposed.instruction
        mine, meant = ours.proposed.action, theirs.proposed.action
        assert (mine.kind, mine.at, mine.text, mine.direction) == (meant.kind, meant.at, meant.text, meant.direction)
    boxes = [s.proposed.action.boxes for s in trace.steps[:5]]
    assert boxes == [
        ((10, 10, 51, 41),), ((90, 190, 90, 190),), ((0, 0, 0, 0),), ((12, 13, 12, 13),),
        ((1, 1, 39, 59), (2, 2, 4, 4)),
    ]  # fmt: skip
    for sha256, blob in back.images.items():
        assert run.images[sha256].data == blob.data
    assert sorted(path.name for path in out.rglob("*.png")) == [f"demo-1_{k}.png" for k in (0, 2, 4, 6, 8)]


def test_several_runs_of_a_task_are_of_one_task_when_they_are_read_again(tmp_path: Path, store: Store) -> None:
    first = demonstration(tmp_path, [Action("wait")])
    started = first.events[0]
    assert isinstance(started, Started)
    again = first._replace(events=[msgspec.structs.replace(started, trace="another"), *first.events[1:]])
    written(store, [first, again], tmp_path / "out")
    with Store.open(tmp_path / "back.db") as back:
        assert import_paths(back, [tmp_path / "out"]).imported == 2
        assert {run.task for run in back.runs.summaries()} == {started.task.id}


def test_the_file_has_the_shape_of_figure_6(tmp_path: Path, store: Store) -> None:
    out = written(store, [demonstration(tmp_path, [ACTS[0], ACTS[19]])], tmp_path / "out")
    (held,) = json.loads((out / "episodes.json").read_text())
    keys = ["episode_id", "width", "height", "device", "instruction", "category", "app"]
    assert list(held)[: len(keys)] == keys
    assert held["device"] == {"product": "PX", "release_version": 14, "sdk_version": 34}
    assert (held["flag"], held["reason"], held["note"]) == ("IMPOSSIBLE", "ambiguous", "nobody knows which")
    assert held["steps"][0] == {
        "screenshot": "./data/screenshots/demo-1/demo-1_0.png",
        "step_instruction": "do 0",
        "actions": [act("click", location=[10, 10, 51, 41], hitlab={"at": [13, 14]})],
    }
    assert held["steps"][1]["actions"] == [act("impossible", reason="ambiguous")]
    _, trace = only(out)
    assert trace.ended is not None
    assert trace.ended.reason == "ambiguous"


def test_slips_dialogue_and_acts_that_did_not_happen_are_left_out_and_counted(tmp_path: Path, store: Store) -> None:
    run = demonstration(tmp_path, [Action("wait"), Action("ask_user", text="?"), *[Action("navigate_home")] * 3])
    started, wait, ask, slip, failed, refused, ended = run.events
    assert isinstance(ask, Step)
    assert isinstance(failed, Step)
    assert isinstance(refused, Step)
    person = Actor("human", "R1")
    events = [
        started, wait,
        _with(ask, question=Question("q1", "ask", "?"), reply=Reply("q1", "yes", person)),
        slip, Flagged(index=2, by=person), _with(failed, error="no"),
        _with(refused, decision=Decision("reject", person)), ended,
    ]  # fmt: skip
    out = written(store, [Imported(number_events(events), run.images, [])], tmp_path / "out")
    (held,) = json.loads((out / "episodes.json").read_text())
    assert len(held["steps"]) == 1
    assert held["hitlab"]["left_out"] == {"dialogue": 1, "failed": 1, "not let through": 1, "slips": 1}
    assert "yes" not in (out / "episodes.json").read_text()


@pytest.mark.parametrize("format", ["dac", "fingertip"])
def test_a_step_that_two_proofreaders_rejected_is_left_out_and_counted(
    tmp_path: Path, store: Store, format: str
) -> None:
    store.runs.add(proofread.demonstration())
    for code in ("P1", "P2"):
        session = ProofreadingSession(store, proofread.DEMO, Actor("human", code))
        session.reject(1, "typed into the wrong field")
        session.accept(session.sheet.unseen)
        session.commit()
    export_runs(store, [proofread.DEMO], tmp_path / "out", format, reviewed=True)
    import_paths(store, [tmp_path / "out"])
    (again,) = [store.runs.trace(id) for id, _ in store.runs.names() if id != proofread.DEMO]
    assert [step.action.kind for step in again.steps if step.action] == ["click", "click", "status"]
    texts = [file.read_text() for file in (tmp_path / "out").rglob("*.json*")]
    assert [text for text in texts if "rejected by proofreaders" in text]


def _with(step: Step, **fields: Any) -> Step:
    return msgspec.structs.replace(step, **fields)


def test_runs_of_one_task_get_folders_of_their_own_and_jpegs_stay_jpegs(tmp_path: Path, store: Store) -> None:
    runs = [demonstration(tmp_path, ACTS[:1], id=imported_id("t", bytes([i]))) for i in range(3)]
    pictures = Pictures(RunSource("x", tmp_path, tmp_path))
    seen = pictures.add(JPEG)
    started = Started(trace="jpeg", task=Task("../../up", "general", instruction="x"), agent=Actor("model", "m"))
    ends: list[AnyEvent] = [
        Step(index=0, proposed=Proposed(Action("click", at=(1, 2))), before=seen),
        Ended(status="budget"),
    ]
    runs.append(Imported(number_events([started, *ends]), pictures, []))
    out = written(store, runs, tmp_path / "out")
    assert len(every(out)) == 4
    names = sorted(path.name for path in (out / "data/screenshots").iterdir())
    assert len(names) == 4
    assert "demo-1" in names
    assert "up" in names
    assert [path.suffix for path in (out / "data/screenshots/up").iterdir()] == [".jpg"]
    trace = fold(every(out)[3].events)
    assert (trace.agent, trace.task.id, trace.steps[0].before.size) == (Actor("model", "m"), "../../up", (100, 200))


def test_a_run_without_pictures_or_steps_is_written_too(tmp_path: Path, store: Store) -> None:
    bare = Started(trace="bare", task=Task("7", "general"), agent=Actor("model", "m"))
    step_ = Step(index=0, proposed=Proposed(Action("click", at=(3, 4))), before=Observation(size=(10, 20)))
    empty = Started(trace="empty", task=Task("8", "general"), agent=Actor("model", "m"))
    runs = [Imported(number_events([bare, step_]), {}, []), Imported(number_events([empty]), {}, [])]
    out = written(store, runs, tmp_path / "out")
    traces = [fold(run.events) for run in every(out, "dac")]
    assert [len(trace.steps) for trace in traces] == [1, 0]
    assert (traces[0].task.id, traces[0].steps[0].proposed.action.at) == ("7", (3, 4))
    assert json.loads((out / "episodes.json").read_text())[0]["episode_id"] == 7


def test_writing_what_was_read_keeps_it(tmp_path: Path, store: Store) -> None:
    source = dataset(tmp_path / "in", episode(structure="Conditional"))
    run, before = only(source)
    assert import_paths(store, [source]).imported == 1
    export_runs(store, [run.id], tmp_path / "out", "dac")
    back, after = only(tmp_path / "out")
    assert after.task.id == before.task.id
    assert [(s.proposed.action.boxes, s.proposed.action.at, s.before.image) for s in after.steps] == [
        (s.proposed.action.boxes, s.proposed.action.at, s.before.image) for s in before.steps
    ]
    assert [s.proposed.action.raw for s in after.steps] == [s.proposed.action.raw for s in before.steps]
    assert after.task.traits == before.task.traits
    assert set(back.images) == set(run.images)
