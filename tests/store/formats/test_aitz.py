"""AITZ: the real episode, y before x, taps and swipes, text inside text, and files that are broken."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from lab.core.run.step import Action
from lab.core.run.ui_tree import Bounds
from store.formats.aitz.reader import action_of, tree_of
from store.runs.run_import import import_paths
from store.store import Store
from tests.store.formats.demos import TRACES, every, failures, known_again, only, png

SAMPLE = TRACES / "aitz"
needs_sample = pytest.mark.skipif(not SAMPLE.is_dir(), reason="AITZ's episode in ../shared/traces is not here")
NAME = "GENERAL-77"


def step(number: int, **fields: Any) -> dict[str, Any]:
    return {
        "episode_id": "77", "episode_length": 2, "step_id": number, "instruction": "Do it",
        "ui_positions": "[[10, 20, 30, 40]]", "ui_text": '["Clock"]', "ui_types": '["TEXT"]',
        "result_action_type": 10, "result_action_text": "", "result_touch_yx": "[-1.0, -1.0]",
        "result_lift_yx": "[-1.0, -1.0]", "image_path": f"general/{NAME}/{NAME}_{number}.png",
        "coat_screen_desc": "A screen", "coat_action_think": "Hm", "coat_action_desc": "tap", "coat_action_result": "r",
        **fields,
    }  # fmt: skip


def folder(root: Path, steps: Any, name: str = NAME, shots: int = 2) -> Path:
    path = root / name
    path.mkdir(parents=True)
    (path / f"{name}.json").write_text(steps if isinstance(steps, str) else json.dumps(steps))
    for i in range(shots):
        (path / f"{name}_{i}.png").write_bytes(png(salt=str(i)))
    return path


@needs_sample
def test_the_real_episode(store: Store) -> None:
    run, trace = only(SAMPLE)
    assert (trace.task.id, trace.task.instruction) == (
        "523638528775825151",
        'open app "Clock" (install if not already installed)',
    )
    assert (trace.task.golden_steps, trace.task.traits["subset"], len(run.images)) == (4, "GOOGLE_APPS", 4)
    assert [s.proposed.action.kind for s in trace.steps] == ["navigate_home", "swipe", "click", "status"]
    assert [s.proposed.action.at for s in trace.steps] == [None, (137, 325), (164, 299), None]
    swipe = trace.steps[1].proposed.action
    assert (swipe.to, swipe.direction, swipe.vector) == ((156, 1), "up", (19, -324))
    assert [s.before.size for s in trace.steps] == [(270, 600)] * 4
    assert [len(s.before.tree.roots) for s in trace.steps if s.before.tree] == [15, 14, 42, 11]
    source = json.loads(next(SAMPLE.rglob("GOOGLE*.json")).read_text())
    for ours, theirs in zip(trace.steps, source, strict=True):
        assert ours.proposed.thought == theirs["coat_action_think"]
        assert ours.proposed.instruction == theirs["coat_action_desc"]
        assert ours.extra == {
            key: theirs[key] for key in ("coat_screen_desc", "coat_action_desc", "coat_action_result")
        }
        shot = next(SAMPLE.rglob(Path(theirs["image_path"]).name))
        assert ours.before.image is not None
        assert run.images[ours.before.image].data == shot.read_bytes()
    assert trace.agent.kind == "human"
    assert trace.ended is not None
    assert (trace.ended.status, trace.ended.score) == ("completed", None)
    assert trace.source is not None
    assert trace.source.format == "aitz"
    report = import_paths(store, [SAMPLE])
    again = import_paths(store, [SAMPLE])
    assert (report.imported, report.failed, again.skipped) == (1, [], 1)


TOUCH = "[0.25, 0.5]"
ACTIONS: list[tuple[dict[str, Any], dict[str, Any]]] = [
    ({"result_action_type": 4, "result_touch_yx": TOUCH, "result_lift_yx": "[0.28, 0.5]"},
     {"kind": "click", "at": (50, 50)}),
    ({"result_action_type": 4, "result_touch_yx": TOUCH, "result_lift_yx": "[0.30, 0.5]"},
     {"kind": "swipe", "at": (50, 50), "to": (50, 60), "vector": (0, 10), "direction": "down"}),
    ({"result_action_type": 4, "result_touch_yx": "[0.8, 0.5]", "result_lift_yx": "[0.2, 0.5]"},
     {"kind": "swipe", "direction": "up", "vector": (0, -120)}),
    ({"result_action_type": 4, "result_touch_yx": "[0.5, 0.9]", "result_lift_yx": "[0.5, 0.1]"},
     {"kind": "swipe", "direction": "left", "vector": (-80, 0)}),
    ({"result_action_type": 4, "result_touch_yx": [0.0, 0.0], "result_lift_yx": [0.0, 0.0]},
     {"kind": "click", "at": (0, 0)}),
    ({"result_action_type": 4}, {"kind": "other", "at": None}),
    ({"result_action_type": "DUAL_POINT", "result_touch_yx": TOUCH}, {"kind": "click", "at": (50, 50)}),
    ({"result_action_type": 3, "result_action_text": "é"}, {"kind": "input_text", "text": "é"}),
    ({"result_action_type": 5}, {"kind": "navigate_back"}),
    ({"result_action_type": 6}, {"kind": "navigate_home"}),
    ({"result_action_type": "7"}, {"kind": "keyboard_enter"}),
    ({"result_action_type": 10}, {"kind": "status", "status": "complete"}),
    ({"result_action_type": 11}, {"kind": "status", "status": "infeasible"}),
    ({"result_action_type": 0, "result_touch_yx": TOUCH}, {"kind": "long_press", "at": (50, 50)}),
    ({"result_action_type": 1}, {"kind": "wait"}),
    ({"result_action_type": 12, "result_action_app_name": "Clock"}, {"kind": "open_app", "app": "Clock"}),
    ({"result_action_type": 9}, {"kind": "other"}),
    ({"result_action_type": None}, {"kind": "other"}),
    ({"result_action_type": [4], "result_touch_yx": {"y": 1}}, {"kind": "other"}),
    ({"result_action_type": 4, "result_touch_yx": '["a", null]'}, {"kind": "other"}),
    ({"result_action_type": 4, "result_touch_yx": "[1e308, 0.5]", "result_lift_yx": "[-1e9, 4]"}, {"at": None}),
]  # fmt: skip


@pytest.mark.parametrize(("fields", "expected"), ACTIONS, ids=lambda value: str(value)[:60])
def test_each_action_in_our_words(fields: dict[str, Any], expected: dict[str, Any]) -> None:
    source = step(0, **fields)
    action = action_of(source, (100, 200))
    assert {name: getattr(action, name) for name in expected} == expected
    assert action.space == "0-1"
    assert all(action.raw[key] == source[key] for key in ("result_action_type", "result_touch_yx", "result_lift_yx"))


def test_without_a_screen_there_are_no_pixels() -> None:
    action = action_of(step(0, result_action_type=4, result_touch_yx=TOUCH, result_lift_yx="[0.9, 0.5]"), None)
    assert (action.kind, action.at, action.vector, action.direction) == ("swipe", None, None, "down")


def test_the_elements_are_a_tree() -> None:
    tree = tree_of(step(0), (100, 200))
    assert tree is not None
    (node,) = tree.roots
    assert (node.bounds, node.text, node.cls) == (Bounds(20, 10, 60, 40), "Clock", "TEXT")
    shares = tree_of(step(0, ui_positions="[[0.5, 0.1, 0.25, 0.2]]", ui_text=None, ui_types=None), (100, 200))
    assert shares is not None
    assert shares.roots[0].bounds == Bounds(10, 100, 30, 150)
    for nothing in ("[]", "x", None, "[[1, 2]]", '[["a", 1, 2, 3]]', "[[1,2,-3,4]]"):
        assert tree_of(step(0, ui_positions=nothing), (100, 200)) is None


def test_a_list_of_several_episodes_and_steps_in_any_order(tmp_path: Path) -> None:
    rows = [step(1), step(0, result_action_type=5), step(0, episode_id="78", episode_length=1)]
    path = folder(tmp_path, rows, shots=0)
    first, second = every(path)
    assert [len(run.events) for run in (first, second)] == [4, 3]
    actions = [event.proposed.action.kind for event in first.events if hasattr(event, "proposed")]
    assert actions == ["navigate_back", "status"]
    assert known_again(path)


def test_the_same_episode_alone_or_with_others_is_one_run(tmp_path: Path) -> None:
    alone = folder(tmp_path / "a", [step(0), step(1)])
    both = folder(tmp_path / "b", [step(0), step(1), step(0, episode_id="9")])
    assert every(alone)[0].id == every(both)[0].id


def test_screenshots_by_path_by_name_or_by_number(tmp_path: Path) -> None:
    path = folder(tmp_path, [step(0, image_path=None), step(1, image_path="/data/elsewhere/GENERAL-77_0.png")])
    run, trace = only(path)
    assert [s.before.image is not None for s in trace.steps] == [True, True]
    assert len({s.before.image for s in trace.steps}) == 1
    assert run.images


def test_an_impossible_task_and_a_run_cut_short(tmp_path: Path) -> None:
    _, trace = only(folder(tmp_path / "a", [step(0, result_action_type=11)]))
    assert trace.ended is not None
    assert trace.ended.status == "completed"
    assert "impossible" in trace.ended.reason
    _, cut = only(folder(tmp_path / "b", [step(0, result_action_type=5)]))
    assert cut.ended is not None
    assert (cut.ended.status, cut.ended.reason) == ("stopped", "the source holds 1 of 2 steps")


def test_what_is_missing_stays_missing(tmp_path: Path) -> None:
    (tmp_path / "x.json").write_text(json.dumps([step(0, image_path="../../up.png", weight=float("nan"))]))
    (tmp_path.parent / "up.png").write_bytes(png())
    _, trace = only(tmp_path / "x.json", "aitz")
    (only_step,) = trace.steps
    assert only_step.before.image is None
    assert only_step.extra["missing"] == [["weight", "nan"]]
    assert only_step.extra["screenshot"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('[{"result_action_type": 4, "result_touch_yx"', "is not JSON"),
        ('[{"result_action_type": 4, "result_touch_yx": "x"}, 7]', "field [1]: is no step"),
    ],
)
def test_broken_files_are_named(tmp_path: Path, text: str, said: str) -> None:
    (error,) = failures(folder(tmp_path, text, shots=0))
    assert said in error
    assert f"{NAME}.json" in error


def test_a_link_out_of_the_folder_is_not_followed(tmp_path: Path) -> None:
    secret = tmp_path / "secret.png"
    secret.write_bytes(png())
    path = folder(tmp_path / "in", [step(0)], shots=0)
    (path / f"{NAME}_0.png").symlink_to(secret)
    _, trace = only(path)
    assert trace.steps[0].before.image is None
    assert "leads out" in trace.steps[0].extra["screenshot"]
    (path / f"{NAME}.json").unlink()
    (tmp_path / "out.json").write_text(json.dumps([step(0)]))
    (path / "linked.json").symlink_to(tmp_path / "out.json")
    assert "leads out" in failures(path)[0]


def test_an_action_that_is_none_is_kept() -> None:
    assert action_of({}, None) == Action("other", raw={}, space="0-1")
