"""GUI-Odyssey: both releases' annotations, keys and scrolls, coordinates from 0 to 1000, and files that are broken."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from store.formats.odyssey.reader import action_of
from store.runs.run_import import import_paths
from store.store import Store
from tests.store.formats.demos import every, failures, known_again, only, png

ID = "0019778284340925"


def step(number: int, action: str, info: Any = "", **fields: Any) -> dict[str, Any]:
    return {
        "step": number, "screenshot": f"{ID}_{number}.png", "action": action, "info": info, "ps": "",
        "description": "A home screen", "intention": f"I do {number}", "context": "Nothing yet",
        "low_level_instruction": f"Do {number}.", "sam2_bbox": None, **fields,
    }  # fmt: skip


def episode(steps: Any, **fields: Any) -> dict[str, Any]:
    return {
        "episode_id": ID,
        "device_info": {
            "product": "cheetah", "release_version": "33", "sdk_version": "33", "h": 3120, "w": 1440,
            "device_name": "Pixel 7 Pro",
        },
        "task_info": {
            "category": "Information_Management", "app": ["Google Play Store", "Lyft"], "meta_task": "Find a {}",
            "task": "Find an arena", "instruction": "Locate a sports arena.",
        },
        "step_length": len(steps) if isinstance(steps, list) else 0,
        "steps": steps,
        **fields,
    }  # fmt: skip


STEPS = [
    step(0, "SCROLL", [[274, 516], [649, 538]], ps="[(274, 516), (649, 538)]"),
    step(1, "CLICK", [[500, 250], [500, 250]], sam2_bbox=[400, 200, 600, 300]),
    step(2, "CLICK", "KEY_APPSELECT"),
    step(3, "INCOMPLETE", "", ps="Region limitation"),
]


def dataset(root: Path, held: Any, shots: str = "screenshots", name: str = ID) -> Path:
    (root / "annotations").mkdir(parents=True)
    (root / "annotations" / f"{name}.json").write_text(held if isinstance(held, str) else json.dumps(held))
    if shots:
        (root / shots).mkdir(parents=True)
        for i in range(4):
            (root / shots / f"{ID}_{i}.png").write_bytes(png(144, 312, str(i)))
    return root


def test_an_episode_of_the_newer_release(tmp_path: Path, store: Store) -> None:
    root = dataset(tmp_path / "data", episode(STEPS))
    (root / "splits").mkdir()
    (root / "splits" / "app_split.json").write_text(json.dumps({"train": [f"{ID}.json"], "test": []}))
    run, trace = only(root)
    assert len(run.images) == 4
    assert (trace.task.id, trace.task.instruction, trace.task.golden_steps) == (ID, "Locate a sports arena.", 4)
    assert trace.task.apps == ("Google Play Store", "Lyft")
    assert trace.task.traits == {
        "platform": "android", "category": "Information_Management", "meta_task": "Find a {}", "task": "Find an arena",
    }  # fmt: skip
    assert (trace.device.model, trace.device.product, trace.device.sdk) == ("Pixel 7 Pro", "cheetah", "33")
    assert trace.device.size == (1440, 3120)
    scroll, click, recent, end = (s.proposed.action for s in trace.steps)
    assert (scroll.kind, scroll.at, scroll.to, scroll.vector, scroll.direction) == (
        "swipe", (39, 161), (93, 168), (54, 7), "right",
    )  # fmt: skip
    assert (click.at, click.boxes, click.space) == ((72, 78), ((58, 62, 86, 94),), "0-1000")
    assert click.raw == {
        "action": "CLICK",
        "info": [[500, 250], [500, 250]],
        "ps": "",
        "sam2_bbox": [400, 200, 600, 300],
    }
    assert recent.kind == "press_recent"
    assert (end.status, end.text) == ("infeasible", "Region limitation")
    first = trace.steps[0]
    assert (first.proposed.thought, first.proposed.instruction) == ("I do 0", "Do 0.")
    assert (first.extra["description"], first.extra["context"]) == ("A home screen", "Nothing yet")
    assert trace.ended is not None
    assert (trace.ended.status, trace.ended.reason) == ("completed", "Region limitation")
    assert trace.agent.kind == "human"
    assert import_paths(store, [root]).imported == 1
    assert import_paths(store, [root]).skipped == 1


@pytest.mark.parametrize("shots", ["screenshots", "screenshots/data_3", f"screenshots/{ID}", "annotations/screenshots"])
def test_screenshots_wherever_the_dataset_keeps_them(tmp_path: Path, shots: str) -> None:
    run, trace = only(dataset(tmp_path / "data", episode(STEPS), shots))
    assert [s.before.size for s in trace.steps] == [(144, 312)] * 4
    assert len(run.images) == 4


def test_without_screenshots_pixels_are_the_phones(tmp_path: Path) -> None:
    _, trace = only(dataset(tmp_path / "data", episode(STEPS), ""))
    assert trace.steps[1].proposed.action.at == (720, 780)
    assert trace.steps[1].before.size == (1440, 3120)
    assert trace.steps[1].extra["screenshot"] == f"{ID}_1.png is not there"


ACTIONS: list[tuple[dict[str, Any], dict[str, Any]]] = [
    (step(0, "CLICK", [[0, 0], [0, 0]]), {"kind": "click", "at": (0, 0), "boxes": ()}),
    (step(0, "CLICK", [500, 500]), {"kind": "click", "at": (50, 100)}),
    (step(0, "CLICK", "(500, 500)"), {"kind": "click", "at": (50, 100)}),
    (step(0, "CLICK", "[[500, 500]]"), {"kind": "click", "at": (50, 100)}),
    (step(0, "CLICK", "KEY_HOME"), {"kind": "navigate_home"}),
    (step(0, "CLICK", "KEY_BACK"), {"kind": "navigate_back"}),
    (step(0, "LONG_PRESS", "KEY_BACK"), {"kind": "navigate_back"}),
    (step(0, "LONG_PRESS", [[500, 250], [500, 250]]), {"kind": "long_press", "at": (50, 50)}),
    (step(0, "SCROLL", [[500, 900], [500, 100]]), {"kind": "swipe", "direction": "up", "vector": (0, -160)}),
    (step(0, "SCROLL", "UP"), {"kind": "swipe", "direction": "up", "vector": (0, -100), "at": None}),
    (step(0, "TEXT", "arena"), {"kind": "input_text", "text": "arena"}),
    (step(0, "TYPE", ""), {"kind": "input_text", "text": ""}),
    (step(0, "TEXT", "KEY_HOME"), {"kind": "input_text", "text": "KEY_HOME"}),
    (step(0, "HOME"), {"kind": "navigate_home"}),
    (step(0, "PRESS_BACK"), {"kind": "navigate_back"}),
    (step(0, "PRESS_RECENT"), {"kind": "press_recent"}),
    (step(0, "COMPLETE"), {"kind": "status", "status": "complete", "text": None}),
    (step(0, "IMPOSSIBLE", ps="no"), {"kind": "status", "status": "infeasible", "text": "no"}),
    (step(0, "long press", [[500, 250]]), {"kind": "long_press", "at": (50, 50)}),
    (step(0, "CLICK", {"x": 1}), {"kind": "click", "at": None}),
    (step(0, "CLICK", [[None, 3], ["a", 4]]), {"kind": "click", "at": None}),
    (step(0, "CLICK", [[1e300, 1e300]]), {"kind": "click", "at": None}),
    (step(0, "SCROLL", []), {"kind": "swipe", "vector": None}),
    (step(0, "SCROLL", [[-2e9, 0], [2e9, 0]]), {"kind": "swipe"}),
    (step(0, "FLY"), {"kind": "other"}),
    ({"action": 5}, {"kind": "other"}),
]


@pytest.mark.parametrize(("source", "expected"), ACTIONS, ids=lambda value: str(value)[40:120])
def test_each_action_in_our_words(source: dict[str, Any], expected: dict[str, Any]) -> None:
    action = action_of(source, (100, 200))
    assert {name: getattr(action, name) for name in expected} == expected
    assert action.raw["action"] == source["action"]


def test_a_list_of_episodes_and_one_that_is_broken(tmp_path: Path) -> None:
    root = dataset(tmp_path / "data", [episode(STEPS), 5, episode("x", episode_id="2"), episode([], episode_id="3")])
    assert len(failures(root)) == 2
    assert any("steps: is no list of steps" in error for error in failures(root))
    alone = dataset(tmp_path / "alone", episode(STEPS))
    assert every(alone)[0].id in {getattr(one, "id", "") for one in _all(root)}
    assert known_again(alone)


def _all(path: Path) -> list[Any]:
    from store.formats import read

    return list(read(path))


def test_fewer_steps_than_are_told(tmp_path: Path) -> None:
    _, trace = only(dataset(tmp_path / "data", episode(STEPS[:2], step_length=9)))
    assert trace.ended is not None
    assert (trace.ended.status, trace.ended.reason) == ("stopped", "the source holds 2 of 9 steps")


def test_odd_types_are_kept_and_never_crash(tmp_path: Path) -> None:
    odd = episode(
        [step(7, "CLICK", [[1, 1]], screenshot=5), step(1, "CLICK", "", screenshot="../../../etc/passwd")],
        device_info=[], task_info={"app": "Lyft", "task": "T", "mood": float("inf")}, step_length="2", more=[1],
    )  # fmt: skip
    _, trace = only(dataset(tmp_path / "data", odd))
    assert (trace.task.apps, trace.task.instruction) == (("Lyft",), "T")
    assert trace.steps[0].extra["step"] == 7
    assert trace.steps[0].extra["episode"] == {"more": [1]}
    assert trace.steps[0].proposed.action.at is None
    assert "leads out" in trace.steps[1].extra["screenshot"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{"task_info": {}, "steps": [', "is not JSON"),
        ('{"task_info": {}, "steps": [{"action": "CLICK"}, 3]}', "steps[1]: is no step"),
    ],
)
def test_broken_files_are_named(tmp_path: Path, text: str, said: str) -> None:
    (error,) = failures(dataset(tmp_path / "data", text))
    assert said in error
