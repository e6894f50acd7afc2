"""One small valid source of each format, as files by their path: what the fuzzing begins with."""

from __future__ import annotations

import gzip
import io
import json
import pickle
import struct
import zipfile
import zlib
from pathlib import Path
from typing import Any

from lab.core.codec import encode
from tests.demonstrations import DEMO, demonstration

Files = dict[str, bytes]


def png(mark: int = 0) -> bytes:
    """A picture of one pixel, and in a text chunk what makes it another picture."""

    def chunk(name: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))

    head = chunk(b"IHDR", struct.pack(">IIBBBBB", 1, 1, 8, 0, 0, 0, 0))
    text = chunk(b"tEXt", b"mark\0" + str(mark).encode())
    return b"\x89PNG\r\n\x1a\n" + head + text + chunk(b"IDAT", zlib.compress(b"\0\0")) + chunk(b"IEND", b"")


def _json(value: Any) -> bytes:
    return json.dumps(value).encode()


def _lines(*values: Any) -> bytes:
    return b"".join(_json(value) + b"\n" for value in values)


def _knowu() -> Files:
    def step(number: int, action: Any, reply: str | None = None) -> dict[str, Any]:
        said = f"Thought: t{number}\nAction: x"
        return {"task_goal": "g", "step": number, "prediction": said, "action": action,
                "ask_user_response": reply, "tool_call": None}  # fmt: skip

    steps = [
        step(1, {"action_type": "click", "x": 1, "y": 2}),
        step(2, {"action_type": "ask_user", "text": "Which?"}),
        step(3, {"action_type": "scroll", "direction": "down"}, "This <decision>accept</decision>"),
        step(4, {"action_type": "answer", "text": "done"}),
    ]
    tokens = {"completion_tokens": 1, "prompt_tokens": 2, "cached_tokens": 0, "total_tokens": 3}
    log = "2025-01-02 03:04:05 | DEBUG    | a.b:c:1 | container: x | Screenshot captured in step 1\n"
    bundle = {
        "T": {"traj": [{**one, "frame_index": 1} for one in steps], "token_usage": tokens, "result": "score: 1.0"}
    }
    return {
        "m/Task@dev/traj.json": _json({"0": {"tools": None, "traj": steps, "token_usage": tokens}}),
        "m/Task@dev/result.txt": b"score: 1.0\nreason: ok",
        "m/Task@dev/thread_1.log": log.encode(),
        "m/Task@dev/screenshots/Task-0-1.png": png(1),
        "bundle.json": _json({**bundle, "_meta": {"original_width": 1080, "original_height": 2400}}),
        "packed.json.gz": gzip.compress(_json(bundle), mtime=0),
    }


def _jsonl() -> Files:
    run = demonstration()
    lines = [{"run": {"format": "hitlab run", "v": 1, "trace": DEMO}}, *({"event": event} for event in run.events)]
    files = {}
    for sha256, blob in run.images.items():
        ending = {"image/png": "png", "image/jpeg": "jpg", "application/json": "json"}[blob.mime]
        files[f"{DEMO}/blobs/{sha256}.{ending}"] = blob.data
        lines.append({"blob": {"sha256": sha256, "mime": blob.mime, "size": len(blob.data)}})
    lines.append({"end": {"lines": len(lines)}})
    return {f"{DEMO}/run.jsonl": b"".join(encode(line) + b"\n" for line in lines), **files}


def episodes() -> list[dict[str, Any]]:
    """What AndroidWorld pickles for one run, without pictures."""
    columns = {
        "step_number": [0, 1],
        "action_prompt": ["p", "q"],
        "action_output": ["Reason: r\nAction: {}", "Reason: s\nAction: {}"],
        "action_output_json": [{"action_type": "click", "x": 1, "y": 2}, {"action_type": "status"}],
        "action_reason": ["r", "s"],
        "summary": ["a", "b"],
    }
    episode = {
        "goal": "g", "task_template": "T", "episode_data": columns, "is_successful": 1.0, "run_time": 1.5,
        "finish_dtime": None, "episode_length": 2, "aux_data": None, "exception_info": None, "seed": 3,
        "screen_config": {"width": 1080, "height": 2400}, "agent_name": "M3A", "instance_id": 0,
    }  # fmt: skip
    return [episode]


def _androidworld() -> Files:
    return {"run_20250101T000000000000/T_0.pkl.gz": gzip.compress(pickle.dumps(episodes()), mtime=0)}


def _mobile_use() -> Files:
    calls = [{"action": "click", "coordinate": [500, 1000]}, {"action": "type", "text": "x"}, {"action": "terminate"}]
    lines = _lines(*({"name": "mobile_use", "arguments": call} for call in calls))
    return {"Do_it/action.jsonl": lines, "Do_it/screenshot_0.png": png(0), "Do_it/screenshot_1.png": png(1)}


def _memgui() -> Files:
    def step(number: int, name: str, detail: Any, kind: str) -> dict[str, Any]:
        return {"step": number, "action_output": "o", "raw_response": "r", "thought": "t", "raw_action": "{}",
                "prompt_tokens": 1, "completion_tokens": 2,
                "action": [name, {"detail_type": kind, "detail": detail}]}  # fmt: skip

    end = {"total_steps": 1, "finish_signal": 1, "elapsed_time_initial": 1.0, "elapsed_time_exec": 2.0,
           "total_prompt_tokens": 2, "total_completion_tokens": 4}  # fmt: skip
    at = "session-x/001-Task/Agent/attempt_1"
    summary = {"task_identifier": "001-Task", "task_description": "Do", "final_result": 1, "final_reason": "r",
               "failure_step": None, "step_by_step_analysis": {"1": {"action_description": "a"}}}  # fmt: skip
    return {
        f"{at}/log.json": _json([step(1, "click", [1, 2], "coordinates"), step(2, "answer", "x", "string"), end]),
        f"{at}/0.png": png(0),
        f"{at}/evaluation_summary.json": _json(summary),
        f"{at}/irr_analysis.json": _json(
            {"total_information_units": 2, "correctly_used_units": 1, "irr_percentage": 50}
        ),
        "session-x/results.csv": b"task_identifier,golden_steps,Agent_attempt_1_completion\n001-Task,3,Y\n",
    }


def _dac() -> Files:
    episode = {
        "episode_id": 132, "width": 1170, "height": 2532, "device": {"product": "p"}, "instruction": "Do",
        "category": "c", "app": ["a"],
        "steps": [
            {"screenshot": "./data/screenshots/132/132_0.png", "step_instruction": "tap",
             "actions": [{"action_type": "click", "location": [1, 2, 3, 4]}, {"action_type": "type", "text": "x"}]},
            {"screenshot": "./data/screenshots/132/132_1.png", "step_instruction": "end",
             "actions": [{"action_type": "scroll", "orientation": "down"}]},
        ],
    }  # fmt: skip
    return {"132.json": _json(episode), "data/screenshots/132/132_0.png": png(0)}


def _fingertip() -> Files:
    at = "user7/20250102_030405"
    told = {"intentDescription": "Order tea", "scenario": "home", "app": "Shop", "user_id": "user7"}
    return {
        f"{at}/action.jsonl": _lines({"1.png": 'click(coordinates=(1,2),content="x")'}, {"2.png": "finish()"}),
        f"{at}/survey_result.json": _json(told),
        f"{at}/Screenshots1/1.png": png(1),
        f"{at}/Screenshots1/tree_1.xml": b'<hierarchy><node text="x" bounds="[0,0][9,9]"/></hierarchy>',
        "user_profile.csv": b"user_id,sex,age\nuser7,f,30\n",
    }


def _aitz() -> Files:
    def step(number: int, kind: int, touch: str) -> dict[str, Any]:
        return {"episode_id": "9", "episode_length": 2, "step_id": number, "instruction": "Do",
                "ui_positions": "[[1, 2, 3, 4]]", "ui_text": '["x"]', "ui_types": '["TEXT"]',
                "result_action_type": kind, "result_action_text": "", "result_touch_yx": touch,
                "result_lift_yx": touch, "image_path": f"X-9/X-9_{number}.png",
                "coat_action_think": "t", "coat_action_desc": "d"}  # fmt: skip

    steps = [step(0, 4, "[0.5, 0.25]"), step(1, 10, "[-1.0, -1.0]")]
    return {"X-9/X-9.json": _json(steps), "X-9/X-9_0.png": png(0), "X-9/X-9_1.png": png(1)}


def _appagent() -> Files:
    at = "tasks/task_app_2024-01-02_03-04-05"
    name = "task_app_2024-01-02_03-04-05"
    said = "Observation: o\nThought: t\nAction: tap(1)\nSummary: s"
    tree = (
        b'<hierarchy rotation="0"><node class="a" resource-id="x" clickable="true" focusable="true" '
        b'bounds="[0,0][90,90]"/></hierarchy>'
    )
    lines = [{"step": 1, "prompt": "p", "image": f"{name}_1_labeled.png", "response": said},
             {"step": 2, "prompt": "p", "image": "x.png", "response": "Thought: t\nAction: FINISH"}]  # fmt: skip
    demo = "apps/app/demos/demo_1"
    return {
        f"{at}/log_app_{name}.txt": _lines(*lines),
        f"{at}/{name}_1.png": png(1),
        f"{at}/{name}_1.xml": tree,
        f"{demo}/record.txt": b"tap(1):::x\nstop\n",
        f"{demo}/task_desc.txt": b"Do",
        f"{demo}/raw_screenshots/demo_1_1.png": png(2),
        f"{demo}/xml/demo_1_1.xml": tree,
    }


def _androidlab() -> Files:
    def step(number: int, action: Any) -> dict[str, Any]:
        return {"trace_id": 0, "index": number, "prompt": "Do", "image": f"/x/Screen/{1700000000 + number}.png",
                "xml": f"/x/xml/{number}.xml", "response": "r", "window": [1080, 2400], "target": "t",
                "current_response": "do", "parsed_action": action}  # fmt: skip

    tap = {"action": "Tap", "kwargs": {"element": [1, 2, 3, 4]}, "operation": "do"}
    return {
        "logs/task_1/traces/trace.jsonl": _lines(step(0, tap), step(1, {"operation": "finish", "action": "finish"})),
        "logs/task_1/Screen/1700000000.png": png(0),
        "logs/task_1/xml/0.xml": b"<hierarchy/>",
    }


def _droidrun() -> Files:
    at = "20250102_030405_abcdef12"
    events = [
        {"type": "CodeActInputEvent"},
        {"type": "CodeActResponseEvent", "thought": "t", "code": "tap_by_index(1)",
         "usage": {"request_tokens": 1, "response_tokens": 2, "total_tokens": 3, "requests": 1}},
        {"type": "CodeActCodeEvent", "code": "tap_by_index(1)"},
        {"type": "CodeActOutputEvent", "output": "ok"},
        {"type": "CodeActEndEvent", "success": True, "reason": "done", "code_executions": 1},
    ]  # fmt: skip
    macro = {"version": "1.0", "description": "Do", "actions": [{"action_type": "tap", "x": 1, "y": 2}]}
    return {
        f"{at}/trajectory.json": _json(events),
        f"{at}/macro.json": _json(macro),
        f"{at}/screenshots/0000.png": png(0),
        f"{at}/ui_states/0000.json": _json([{"index": 1, "text": "x", "bounds": "0,0,9,9", "children": []}]),
    }


def _odyssey() -> Files:
    episode = {
        "episode_id": "77", "device_info": {"product": "p", "device_name": "Pixel", "w": 1080, "h": 2400},
        "task_info": {"category": "c", "app": ["a"], "meta_task": "m", "task": "t", "instruction": "Do"},
        "step_length": 2,
        "steps": [
            {"step": 0, "screenshot": "77_0.png", "action": "CLICK", "info": [[500, 250]]},
            {"step": 1, "screenshot": "77_1.png", "action": "COMPLETE", "info": ""},
        ],
    }  # fmt: skip
    return {"annotations/77.json": _json(episode), "screenshots/77_0.png": png(0)}


def _tau2() -> Files:
    messages = [
        {"role": "assistant", "content": "Hi", "turn_idx": 0, "timestamp": "2025-01-02T03:04:05", "cost": 0.1,
         "usage": {"prompt_tokens": 1, "completion_tokens": 2}},
        {"role": "user", "content": "Book it ###STOP###", "turn_idx": 1, "timestamp": "2025-01-02T03:04:09"},
    ]  # fmt: skip
    run = {"id": "s1", "task_id": "0", "trial": 0, "start_time": "2025-01-02T03:04:05", "duration": 9.0,
           "termination_reason": "user_stop", "messages": messages, "reward_info": {"reward": 1.0}}  # fmt: skip
    task = {"id": "0", "user_scenario": {"persona": None, "instructions": {"reason_for_call": "Book"}}}
    info = {"agent_info": {"implementation": "llm_agent", "llm": "m"}, "user_info": {"implementation": "u"},
            "environment_info": {"domain_name": "airline", "policy": "p"}}  # fmt: skip
    return {"results.json": _json({"info": info, "tasks": [task], "simulations": [run]})}


def _inspect() -> Files:
    header = {"version": 2, "status": "success", "eval": {"run_id": "r", "task": "t", "model": "m", "created": "2025"}}
    call = {"id": "1", "function": "computer", "arguments": {"action": "left_click", "coordinate": [1, 2]}}
    sample = {"id": 1, "epoch": 1, "input": "Do", "target": "x", "scores": {"s": {"value": "C"}},
              "messages": [{"role": "user", "content": "Do"},
                           {"role": "assistant", "content": "ok", "tool_calls": [call]},
                           {"role": "tool", "content": "seen", "tool_call_id": "1"}]}  # fmt: skip
    kept = io.BytesIO()
    with zipfile.ZipFile(kept, "w", zipfile.ZIP_DEFLATED) as log:
        log.writestr("header.json", _json(header))
        log.writestr("samples/1_epoch_1.json", _json(sample))
    return {"log.eval": kept.getvalue(), "log.json": _json({**header, "samples": [sample]})}


def varint(value: int) -> bytes:
    """A number as protocol buffers write it."""
    out = b""
    while value > 127:
        out, value = out + bytes([value & 127 | 128]), value >> 7
    return out + bytes([value])


def _field(number: int, data: bytes) -> bytes:
    return varint(number << 3 | 2) + varint(len(data)) + data


def _androidcontrol() -> Files:
    def texts(*values: bytes) -> bytes:
        return _field(1, b"".join(_field(1, value) for value in values))

    def numbers(*values: int) -> bytes:
        return _field(3, _field(1, b"".join(varint(value) for value in values)))

    act = [b'{"action_type": "click", "x": 1, "y": 2}', b'{"action_type": "wait"}']
    features = {
        b"episode_id": numbers(5), b"goal": texts(b"Do"), b"screenshots": texts(png(0), png(1), png(2)),
        b"accessibility_trees": texts(b"", b"", b""), b"screenshot_widths": numbers(1, 1, 1),
        b"screenshot_heights": numbers(1, 1, 1), b"actions": texts(*act), b"step_instructions": texts(b"a", b"b"),
    }  # fmt: skip
    pairs = b"".join(_field(1, _field(1, name) + _field(2, value)) for name, value in features.items())
    return {"android_control-00000-of-00020": gzip.compress(tfrecord(_field(1, pairs)), mtime=0)}


def tfrecord(example: bytes) -> bytes:
    """One record of a TFRecord file."""
    head = struct.pack("<Q", len(example))
    return head + struct.pack("<I", masked(head)) + example + struct.pack("<I", masked(example))


def masked(data: bytes) -> int:
    """TFRecord's masked CRC-32C."""
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
    crc ^= 0xFFFFFFFF
    return ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF


def samples() -> dict[str, Files]:
    """By format, in the registry's order of names."""
    return {
        "jsonl": _jsonl(), "knowu": _knowu(), "androidworld": _androidworld(), "mobile_use": _mobile_use(),
        "memgui": _memgui(), "dac": _dac(), "fingertip": _fingertip(), "aitz": _aitz(), "appagent": _appagent(),
        "androidlab": _androidlab(), "droidrun": _droidrun(), "odyssey": _odyssey(),
        "androidcontrol": _androidcontrol(), "tau2": _tau2(), "inspect": _inspect(),
    }  # fmt: skip


def recorded(traces: Path, most: int = 500_000) -> dict[str, Files]:
    """Real runs, small enough to be read hundreds of times; empty where there are none."""
    folders = {
        "knowu": "mobileworld/runs/claude-opus-4.6", "androidworld": "androidworld_pkl", "memgui": "memgui_excerpt",
        "aitz": "aitz", "appagent": "appagent/task_system_2024-05-20_19-52-52",
        "mobile_use": "androidworld_mai",
    }  # fmt: skip
    found = {}
    for name, folder in folders.items():
        files: Files = {}
        size = 0
        for path in sorted((traces / folder).rglob("*"), key=lambda path: (path.suffix == ".png", path)):
            if path.is_file() and size + path.stat().st_size <= most:
                size += path.stat().st_size
                files[f"{Path(folder).name}/{path.relative_to(traces / folder)}"] = path.read_bytes()
        if files:
            found[f"{name} (recorded)"] = files
    return found
