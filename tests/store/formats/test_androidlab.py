"""AndroidLab: steps as JSON lines, screens named with their second, trees as XML, results in a folder of their own."""

from __future__ import annotations

import json
import struct
from pathlib import Path
from typing import Any

import pytest

from lab.core.codec import decode, encode
from lab.core.run.run_records import Imported
from lab.core.run.step import Action
from lab.core.run.trace import AnyEvent, Ended, Started, Step, fold
from store.formats import FailedRun, KnownRun, detect, read
from store.formats.androidlab.reader import action_of

PNG = b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR" + struct.pack(">II", 1080, 2400) + b"\x08\x02\x00\x00\x00"
XML = '<hierarchy rotation="0"><node text="Add" class="android.widget.Button" bounds="[0,0][40,20]"/></hierarchy>'
RUN = "bluecoins_1_2024-10-01_10-00-00"
SIZE = (1080, 2400)
FINISH = {"operation": "finish", "action": "finish", "kwargs": {"message": "12"}}


def do(action: str, **kwargs: Any) -> dict[str, Any]:
    return {"operation": "do", "action": action, "kwargs": kwargs}


def line(index: int, parsed: Any, **more: Any) -> dict[str, Any]:
    return {
        "trace_id": RUN,
        "index": index,
        "prompt": "How much?" if index == 0 else "** XML **",
        "image": f"/mnt/them/logs/glm/{RUN}/Screen/screenshot-{index}-17277500{index:02d}.25-before.png",
        "xml": f"/mnt/them/logs/glm/{RUN}/xml/{index}.xml",
        "ac_xml": None,
        "current_activity": "com.rammigsoftware.bluecoins",
        "window": [1080, 2400],
        "target": "How much?",
        "parsed_action": parsed,
        "current_response": 'I look at the list.\ndo(action="Tap", element=[0,0,40,20])',
        **more,
    }


def put(root: Path, lines: list[Any] | str, screens: bool = True) -> Path:
    folder = root / "logs" / "evaluation" / "glm" / RUN
    for name in ("traces", "Screen", "xml"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    text = lines if isinstance(lines, str) else "".join(json.dumps(part) + "\n" for part in lines)
    (folder / "traces" / "trace.jsonl").write_text(text)
    for i in range(len(lines) if screens and isinstance(lines, list) else 0):
        (folder / "Screen" / f"screenshot-{i}-17277500{i:02d}.25-before.png").write_bytes(PNG + bytes([i]))
        (folder / "Screen" / f"screenshot-{i}-17277500{i:02d}.25-before_labeled.png").write_bytes(PNG)
        (folder / "xml" / f"{i}.xml").write_text(XML)
        (folder / "xml" / f"{i}_compressed_xml.txt").write_text("short")
    return folder


def one(path: Path) -> Imported:
    [found] = read(path)
    assert isinstance(found, Imported), found
    for event in found.events:
        decode(encode(event), AnyEvent, "event")
    assert fold(found.events).steps is not None
    return found


def steps(of: Imported) -> list[Step]:
    return [event for event in of.events if isinstance(event, Step)]


def ended(of: Imported) -> Ended:
    last = of.events[-1]
    assert isinstance(last, Ended)
    return last


def test_a_run_has_its_screens_trees_times_and_words(tmp_path: Path) -> None:
    lines = [line(0, do("Tap", element=[0, 0, 40, 20]), command={"adb shell date": "Fri"}), line(1, FINISH)]
    folder = put(tmp_path, lines)
    (folder / "Screen" / "screenshot-end-1727750009.5.png").write_bytes(PNG + b"end")
    run = one(tmp_path)
    begun = run.events[0]
    assert isinstance(begun, Started)
    assert (begun.task.id, begun.task.instruction, begun.agent.id) == ("bluecoins_1", "How much?", "glm")
    assert begun.task.apps == ("bluecoins",)
    assert begun.at == "2024-10-01T02:33:20.250000+00:00"
    first, last = steps(run)
    assert (first.proposed.action.kind, first.proposed.action.at) == ("click", (20, 10))
    assert first.proposed.action.boxes == ((0, 0, 40, 20),)
    assert first.proposed.thought == "I look at the list."
    assert first.proposed.raw == lines[0]["current_response"]
    assert first.before.size == SIZE
    assert first.before.activity == "com.rammigsoftware.bluecoins"
    assert first.before.tree is not None
    assert [node.text for node in first.before.tree.nodes()] == ["Add"]
    assert first.extra == {"command": {"adb shell date": "Fri"}}
    assert (last.at, last.ms) == ("2024-10-01T02:33:21.250000+00:00", 1000.0)
    assert (last.proposed.action.kind, last.proposed.action.text) == ("answer", "12")
    end = ended(run)
    assert (end.status, end.score, end.ms) == ("completed", None, 9250.0)
    assert end.final is not None
    assert end.final.image not in (None, last.before.image)


@pytest.mark.parametrize(
    ("parsed", "expected"),
    [
        (do("Tap", element=[0, 7]), {"kind": "click", "at": (0, 7), "space": "px"}),
        (do("Long Press", element=[0, 0, 10, 10]), {"kind": "long_press", "at": (5, 5), "space": "box"}),
        (
            do("Tap", element=[500, 500, 600, 600], relative_element=[540.0, 1200.0, 648.0, 1440.0]),
            {"kind": "click", "at": (594, 1320), "space": "0-1000", "boxes": ((540, 1200, 648, 1440),)},
        ),
        (do("Tap", element=[0.5, 0.5, 0.5, 0.5]), {"at": (540, 1200), "space": "0-1"}),
        (
            do("Swipe", element=[100, 1000], direction="up", dist="long"),
            {"kind": "swipe", "direction": "up", "vector": (0, -648), "to": (100, 352)},
        ),
        (do("Swipe", element=None, direction="left", dist="medium"), {"at": (540, 1200), "vector": (-216, 0)}),
        (do("Swipe", direction="right", dist="short"), {"vector": (108, 0), "direction": "right"}),
        (do("Type", text="abc"), {"kind": "input_text", "text": "abc"}),
        ({"operation": "do", "action": "Press Enter"}, {"kind": "keyboard_enter"}),
        ({"operation": "do", "action": "Press Home"}, {"kind": "navigate_home"}),
        ({"operation": "do", "action": "Press Back"}, {"kind": "navigate_back"}),
        ({"operation": "do", "action": "Wait"}, {"kind": "wait"}),
        (do("Launch", package="com.x"), {"kind": "open_app", "app": "com.x"}),
        (do("Call_API", instruction="Sum it", response="3"), {"kind": "other", "text": "Sum it"}),
        (FINISH, {"kind": "answer", "text": "12"}),
        ({"type": "finish", "input": "12"}, {"kind": "answer", "text": "12"}),
        ({"operation": "finish", "action": "finish", "kwargs": {"message": None}}, {"kind": "status"}),
    ],
)
def test_actions(parsed: dict[str, Any], expected: dict[str, Any]) -> None:
    found = action_of(parsed, SIZE)
    assert {name: getattr(found, name) for name in expected} == expected
    assert found.raw == parsed


def test_results_beside_the_run_give_its_score(tmp_path: Path) -> None:
    put(tmp_path, [line(0, FINISH)])
    other = {"task_id": "bluecoins_2", "result": {"complete": True}}
    for stamp, complete in (("2024-10-02-00-00-00", True), ("2024-10-03-00-00-00", False)):
        folder = tmp_path / "outputs" / f"glm_{stamp}"
        folder.mkdir(parents=True)
        mine = {
            "task_id": "bluecoins_1",
            "task": "How",
            "metric_type": "query",
            "result": {"complete": complete, "1": True},
        }
        (folder / "results.jsonl").write_text(json.dumps(mine) + "\n" + json.dumps(other) + "\n")
    run = one(tmp_path)
    assert ended(run).score == 0.0
    [verdict] = run.verdicts
    assert (verdict.name, verdict.value, verdict.extra["result"]["1"]) == ("results.jsonl", False, True)
    beside = tmp_path / "logs" / "evaluation" / "glm" / "results.jsonl"
    beside.write_text(json.dumps({"task_id": "bluecoins_1", "result": {"complete": True}}))
    assert ended(one(tmp_path)).score == 1.0


def test_the_accessibility_tree_stands_in_and_missing_files_are_told(tmp_path: Path) -> None:
    folder = put(tmp_path, [line(0, do("Wait"), xml="ERROR", ac_xml="/x/xml/0.xml"), line(1, FINISH)])
    (folder / "xml" / "1.xml").write_text("<hierarchy><node")
    (folder / "Screen" / "screenshot-1-1727750001.25-before.png").unlink()
    first, second = steps(one(tmp_path))
    assert first.before.tree is not None
    assert second.before.tree is None
    assert "is not XML" in second.extra["tree"]
    assert "is not there" in second.extra["screenshot"]
    assert second.before.size == SIZE


def test_how_runs_end(tmp_path: Path) -> None:
    put(tmp_path / "stuck", [line(i, do("Wait")) for i in range(7)], screens=False)
    assert "the same action" in ended(one(tmp_path / "stuck")).reason
    put(tmp_path / "long", [line(i, do("Type", text=str(i))) for i in range(25)], screens=False)
    assert ended(one(tmp_path / "long")).status == "budget"
    put(tmp_path / "half", [line(0, do("Wait")), line(1, None)], screens=False)
    assert ended(one(tmp_path / "half")).status == "stopped"
    assert steps(one(tmp_path / "half"))[1].error == "the source holds no action"
    put(tmp_path / "empty", "", screens=False)
    assert list(read(tmp_path / "empty")) == []


def test_a_trace_by_itself_is_read_without_what_stands_outside(tmp_path: Path) -> None:
    folder = put(tmp_path, [line(0, do("Tap", element=[0, 0, 40, 20])), line(1, FINISH)])
    run = one(folder / "traces" / "trace.jsonl")
    assert len(steps(run)) == 2
    assert not run.images
    assert "leads out" in steps(run)[0].extra["screenshot"]


def test_a_file_that_is_cut_short_keeps_its_whole_lines(tmp_path: Path) -> None:
    whole = json.dumps(line(0, do("Wait")))
    put(tmp_path / "a", f"{whole}\n{whole[:50]}")
    run = one(tmp_path / "a")
    assert len(steps(run)) == 1
    assert "cut short" in ended(run).reason
    for name, text, said in (
        ("b", whole[:200], "is not JSON"),
        ("c", f"{whole}\n{whole[:50]}\n{whole}\n", "line 2"),
        ("d", f"{whole}\n7\n", "line 2: is no step"),
    ):
        put(tmp_path / name, text)
        [failed] = read(tmp_path / name, "androidlab")
        assert isinstance(failed, FailedRun)
        assert said in failed.error


def test_links_that_lead_out_are_not_followed(tmp_path: Path) -> None:
    folder = put(tmp_path / "in", [line(0, FINISH)])
    (tmp_path / "secret.png").write_bytes(PNG)
    screen = folder / "Screen" / "screenshot-0-1727750000.25-before.png"
    screen.unlink()
    screen.symlink_to(tmp_path / "secret.png")
    (folder / "xml" / "0.xml").unlink()
    (folder / "xml" / "0.xml").symlink_to(tmp_path / "secret.png")
    [step] = steps(one(tmp_path / "in"))
    assert step.before.image is None
    assert "leads out" in step.extra["screenshot"]
    assert "leads out" in step.extra["tree"]


def test_others_lines_are_not_claimed(tmp_path: Path) -> None:
    for name, text in (("a", '{"x": 1}'), ("b", "[1]"), ("c", "")):
        (tmp_path / name / "traces").mkdir(parents=True)
        (tmp_path / name / "traces" / "trace.jsonl").write_text(text)
    assert [found for found in detect(tmp_path) if getattr(found, "format", "") == "androidlab"] == []


@pytest.mark.parametrize("wrong", [None, 7, -1, "x", [], {}, 1e300, True, [[1, 2]], 2**70, "\ud800", [1, 2, 3, 4]])
def test_wrong_types_never_end_the_reading(tmp_path: Path, wrong: Any) -> None:
    swipe = do("Swipe", element=[1, 2, 3, 4], direction="up", dist="long")
    count = 0
    for key in line(0, swipe):
        if key not in ("trace_id", "image"):
            put(tmp_path / f"{count}", [{**line(0, swipe), key: wrong}, {**line(1, swipe), key: wrong}], screens=False)
            count += 1
    for key in ("element", "direction", "dist", "relative_element"):
        parsed = {**swipe, "kwargs": {**swipe["kwargs"], key: wrong}}
        put(tmp_path / f"{count}", [line(0, parsed), line(1, {**swipe, "action": wrong}), {}], screens=False)
        (tmp_path / f"{count}" / "results.jsonl").write_text(json.dumps({"task_id": "bluecoins_1", "result": wrong}))
        count += 1
    found = list(read(tmp_path, "androidlab"))
    assert len(found) == count
    for run in found:
        assert isinstance(run, Imported)
        assert [decode(encode(event), AnyEvent, "event") for event in run.events]
        encode(run.verdicts)
    assert isinstance(action_of(wrong, None), Action)


def test_the_same_run_is_known_the_second_time(tmp_path: Path) -> None:
    put(tmp_path, [line(0, FINISH)])
    run = one(tmp_path)
    [again] = read(tmp_path, known=lambda id: id == run.id)
    assert isinstance(again, KnownRun)
