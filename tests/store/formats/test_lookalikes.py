"""Every reader against what is not its own: the other formats' samples, and files that only look alike."""

from __future__ import annotations

import gzip
import json
import pickle
from pathlib import Path
from typing import Any

import pytest

from lab.cli.main import main
from store.formats import RunSource, detect, formats
from tests.store.formats.fuzzing import laid
from tests.store.formats.samples import Files, png, samples

SAMPLES = samples()
SHOT = {"shots/1.png": png(1)}


def _json(value: Any) -> bytes:
    return json.dumps(value).encode()


def _lines(*values: Any) -> bytes:
    return b"".join(_json(value) + b"\n" for value in values)


def _chat(*said: str) -> list[dict[str, str]]:
    return [{"role": "user" if i % 2 == 0 else "assistant", "content": text} for i, text in enumerate(said)]


def _ui_s1(number: int) -> dict[str, Any]:
    """An episode of AndroidControl as UI-S1 hands it round, one per line."""
    act = {"action": "click", "coordinate": [540, 1200]}
    step = {"action_content": act, "screenshot": f"images/{number}_0.png", "step_instruction": "Tap Clock",
            "check_options": {**act, "candidate_bbox": [[500, 1100, 600, 1300]]}, "thought": "t"}  # fmt: skip
    end = {**step, "action_content": {"action": "terminate", "status": "success"}, "step_instruction": "End"}
    return {"goal": "Set an alarm", "is_successful": True, "steps": [step, end]}


_TAP = {"action_type": "click", "x": 540, "y": 1200}
_ENDED = {"task_id": "book-7", "termination_reason": "max_steps", "reward": 1.0}

LOOKALIKES: dict[str, Files] = {
    # DAC-Bench's names of fields in other shapes
    "UI-S1": {"android_control_evaluation_std.jsonl": _lines(_ui_s1(0), _ui_s1(1))},
    "UI-S1 as a list": {"android_control_test.json": _json([_ui_s1(0), _ui_s1(1)])},
    "AndroidControl as JSON": {
        "episode_5.json": _json(
            {
                "episode_id": 5,
                "goal": "g",
                "actions": [_TAP],
                "step_instructions": ["Tap"],
                "screenshots": ["1.png"],
                "screenshot_widths": [1080],
            }
        )
    },
    "AndroidControl, step by step": {
        "5.json": _json(
            {
                "episode_id": 5,
                "goal": "g",
                "steps": [{"action": _TAP, "step_instruction": "Tap", "screenshot": "1.png"}],
            }
        )
    },
    "AMEX": {
        "2024_3_23_15_58.json": _json(
            {
                "instruction": "Open mail",
                "app": "Mail",
                "episode_id": "e",
                "steps": [
                    {"step_id": 1, "image_path": "1.png", "action": "TAP", "touch_coord": [1, 2], "device_dim": [9, 9]}
                ],
            }
        )
    },
    "a recipe": {"recipe.json": _json({"title": "Tea", "steps": [{"step_instruction": "Boil water"}]})},
    "a recipe with pictures": {
        "recipe.json": _json(
            {
                "instruction": "Make tea",
                "category": "drinks",
                "steps": [{"step_instruction": "Boil", "screenshot": "1.png"}],
            }
        )
    },
    "a survey about instructions": {
        "form.json": _json({"questions": [{"id": "step_instruction", "screenshot": "a.png", "text": "Is it clear?"}]})
    },
    # tau2's
    "a verdict on a run": {"ended.json": _json(_ENDED)},
    "verdicts on runs": {"ended.json": _json([_ENDED, _ENDED])},
    "a reward without words": {
        "episode.json": _json({**_ENDED, "id": "1", "reward_info": {"reward": 1.0}, "messages": 12})
    },
    "a cluster's jobs": {
        "jobs.json": _json({"simulations": [{"task_id": 4, "mesh": "fine", "termination_reason": "timeout"}]})
    },
    "a reinforcement learner's rewards": {
        "rewards.json": _json([{"task_id": 1, "reward": 0.5, "traj": [[0, 1], [1, 1]]}])
    },
    "agents' settings": {"crew.json": _json({"agent_info": {"name": "a"}, "user_info": {"name": "u"}, "version": 1})},
    # KnowU-Bench's and MobileWorld's
    "a robot's path": {"arm/traj.json": _json({"traj": [[0, 1], [2, 3]], "dt": 0.1})},
    "a robot's paths by joint": {"arm.json": _json({"joint": {"traj": [{"q": 1}], "action": "hold"}})},
    "numbered notes": {"notes/traj.json": _json({"0": "first", "1": "second"})},
    "numbered points": {"points/traj.json": _json({"0": {"points": [[0, 1], [1, 2]]}})},
    "a stamped log": {"logs/log_build_task_7_2024-01-02_03-04-05.txt": b"12:00 started\n12:01 finished\n"},
    "long spans": {"traces/trace.jsonl": _lines({"trace_id": "abc", "span_id": "1", "attributes": "x" * 70_000})},
    "a survey on tasks": {
        "poll/action.jsonl": _lines({"verb": "vote"}),
        "poll/survey_result.json": _json({"task": "vote", "instruction": "Choose"}),
    },
    "an agent that writes code": {"swe/traj.json": _json({"info": {"exit_status": "x"}, "messages": _chat("a", "b")})},
    # MemGUI-Bench's
    "a training log": {"run/log.json": _json([{"step": 1, "loss": 0.3, "prompt_tokens": 7}])},
    "a log of orders": {"shop/log.json": _json([{"step": "pay", "action": [1, 2, 3], "total_steps": 4}])},
    # AITZ's, GUI-Odyssey's
    "one labelled tap": {"tap.json": _json({"result_action_type": 4, "result_touch_yx": "[0.5, 0.5]"})},
    "a schema of fields": {"schema.json": _json([{"field": "result_action_type"}, {"field": "result_touch_yx"}])},
    "a board of tasks": {"board.json": _json({"task_info": {"owner": "x"}, "steps": ["todo", "done"]})},
    "a workflow": {"flow.json": _json({"task_info": "build", "steps": [{"run": "make"}]})},
    # AppAgent's
    "a task's log": {"logs/log_build_task_7.txt": b"12:00 started\n12:01 finished\n"},
    "a log in JSON lines": {"logs/log_build_task_7.txt": _lines({"level": "info", "message": "started"})},
    "a sound record": {"rec/record.txt": b"Side A, 1972\n", "rec/raw_screenshots/cover.png": png(1)},
    # AndroidLab's, droidrun's
    "a tracer's spans": {"traces/trace.jsonl": _lines({"trace_id": "abc", "span_id": "1", "image": "app:1.2"})},
    "a mouse's way": {"mouse/trajectory.json": _json([{"type": "TapEvent", "x": 1, "y": 2}])},
    "a keyboard's macros": {"keys/macro.json": _json({"actions": [{"keys": "ctrl+c", "action_type": 3}]})},
    "a game's moves": {"game/macro.json": _json({"actions": [{"action_type": "jump", "height": 2}]})},
    # mobile_use's and FingerTip's
    "an audit log": {"audit/action.jsonl": _lines({"action": "deploy", "user": "ann"}, {"action": "rollback"})},
    "action items": {"meeting/action.jsonl": _lines({"action_items": ["write"], "owner": "bo"})},
    "a text called action.jsonl": {"odd/action.jsonl": b"deploy the thing\nroll it back\n"},
    "a survey beside actions": {
        "poll/action.jsonl": _lines({"verb": "vote"}),
        "poll/survey_result.json": _json({"answers": [1, 2]}),
    },
    "a training run by its time": {
        "20250102_030405/train.txt": b"epoch 1 of 3\ntraining finished\n",
        "20250102_030405/config.json": _json({"type": "sgd", "press_enter": False}),
    },
    # Inspect's, AndroidWorld's, AndroidControl's, ours
    "a model's evaluation": {"eval.json": _json({"version": 3, "eval": "bleu", "run_id": 7, "score": 0.3})},
    "a notebook's figures": {"model.eval": b"PK\x05\x06" + b"\0" * 18},
    "a classifier": {"forest_0.pkl.gz": gzip.compress(pickle.dumps({"exception_info": None, "trees": [1, 2]}))},
    "a note on a format": {"notes/run.jsonl": _lines({"note": "a hitlab run looks like this"})},
    # what lies about in any folder of experiments
    "package.json": {"package.json": _json({"name": "x", "version": "1.0", "steps": [], "scripts": {"eval": "x"}})},
    "COCO": {
        "instances_val2017.json": _json(
            {
                "info": {},
                "images": [{"id": 1, "width": 9, "height": 9}],
                "categories": [],
                "annotations": [{"image_id": 1, "bbox": [1, 2, 3, 4]}],
            }
        )
    },
    "a chat": {"chat.json": _json({"id": "1", "messages": _chat("hi", "hello")})},
    "chats, one per line": {"train.jsonl": _lines({"messages": _chat("a", "b")}, {"messages": _chat("c", "d")})},
    "ShareGPT": {
        "sharegpt.json": _json(
            [{"id": "1", "image": "1.png", "conversations": [{"from": "human", "value": "<image>"}]}]
        )
    },
    "Mind2Web": {
        "train_0.json": _json(
            [
                {
                    "annotation_id": "a",
                    "website": "w",
                    "confirmed_task": "t",
                    "action_reprs": ["CLICK"],
                    "actions": [{"action_uid": "1", "operation": {"op": "CLICK"}}],
                }
            ]
        )
    },
    "ScreenSpot": {"screenspot.json": _json([{"img_filename": "a.png", "bbox": [1, 2, 3, 4], "instruction": "tap"}])},
    "OSWorld": {
        "osworld/traj.jsonl": _lines({"step_num": 1, "action": "pyautogui.click(1, 2)", "reward": 0, "done": False}),
        "osworld/result.txt": b"0.0\n",
    },
    "Mobile-Agent-E": {"run/steps.json": _json([{"step": 0, "operation": "init", "instruction": "x"}])},
    "ATIF": {
        "trajectory.json": _json(
            {
                "schema_version": "ATIF-v1.4",
                "session_id": "s",
                "agent": {"name": "a"},
                "steps": [{"step_id": 1, "source": "user", "message": "hi"}],
            }
        )
    },
    "MobiAgent": {
        "1/actions.json": _json(
            {
                "task_description": "x",
                "app_name": "y",
                "action_count": 1,
                "actions": [{"type": "click", "position_x": 1, "position_y": 2, "action_index": 1}],
            }
        ),
        "1/react.json": _json([{"reasoning": "r", "function": {"name": "click"}}]),
    },
    "MAI-UI": {"t/trajectory.jsonl": _lines({"step": 1, "prediction": "p", "action": _TAP}), "t/step_001.png": png(1)},
    "WebArena": {"0.json": _json({"task_id": 0, "intent": "x", "eval": {"eval_types": ["string_match"]}, "sites": []})},
}


def taken(path: Path, format: str | None = None) -> list[str]:
    """Who takes something below a path, and who fails at something there."""
    return [one.format if isinstance(one, RunSource) else one.error for one in detect(path, format)]


@pytest.mark.parametrize("sample", SAMPLES)
def test_a_reader_takes_its_own_samples_and_no_others(sample: str, tmp_path: Path) -> None:
    laid(tmp_path / "in", SAMPLES[sample])
    found = {reader: set(taken(tmp_path / "in", reader)) for reader in SAMPLES}
    assert found == {reader: {reader} if reader == sample else set() for reader in SAMPLES}


@pytest.mark.parametrize("name", LOOKALIKES)
def test_no_reader_takes_what_only_looks_alike(name: str, tmp_path: Path) -> None:
    laid(tmp_path / "in", LOOKALIKES[name])
    assert [(reader, taken(tmp_path / "in", reader)) for reader in formats() if taken(tmp_path / "in", reader)] == []


@pytest.mark.parametrize("name", LOOKALIKES)
def test_what_only_looks_alike_is_passed_over_with_a_sentence(
    name: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    laid(tmp_path / "in", LOOKALIKES[name])
    paths = [str(path) for path in (tmp_path / "in", *sorted((tmp_path / "in").rglob("*.*"))) if path.suffix != ".png"]
    assert main(["import", *paths, "--db", str(tmp_path / "x.db")]) != 0
    err = capfd.readouterr().err
    assert [path for path in paths if f"{path}: holds no runs of a known format" not in err] == []
