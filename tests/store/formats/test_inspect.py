"""Inspect's logs: computer actions with their screenshots, zipped and not, and zips that mean harm."""

from __future__ import annotations

import base64
import json
import random
import struct
import sys
import zipfile
import zlib
from pathlib import Path
from typing import Any

import pytest

from lab.core.run.run_records import Imported, Verdict
from lab.core.run.step import Usage
from lab.core.run.trace import Trace, fold
from store.formats import FailedRun, KnownRun, read
from store.formats.inspect import archive
from store.runs.run_import import import_paths
from store.store import Store
from tests.screens.runs import drawn
from tests.store.formats.test_tau2 import bent

SHOTS = [drawn([f"screen {i}"], (200, 400)) for i in range(4)]


def url(shot: bytes) -> str:
    return "data:image/png;base64," + base64.b64encode(shot).decode()


HEADER = {
    "version": 2,
    "status": "success",
    "eval": {
        "run_id": "eJCDmwYjFJJeJpJZfovPsz", "created": "2026-11-22T07:49:58+00:00", "task": "desk", "task_id": "eP76",
        "model": "openai/gpt-4o", "dataset": {"samples": 1}, "config": {"message_limit": 40},
    },
    "plan": {"name": "plan", "steps": [{"solver": "basic_agent", "params": {}}]},
}  # fmt: skip
ACTIONS: list[dict[str, Any]] = [
    {"action": "screenshot"},
    {"action": "left_click", "coordinate": [50, 60]},
    {"action": "type", "text": "hello"},
    {"action": "key", "text": "Return"},
    {"action": "key", "text": "ctrl+s"},
    {"action": "scroll", "coordinate": [10, 20], "scroll_amount": 3, "scroll_direction": "down"},
    {"action": "left_click_drag", "start_coordinate": [1, 2], "coordinate": [30, 40]},
    {"action": "double_click", "coordinate": [0, 0]},
    {"action": "right_click", "coordinate": [5, 5]},
    {"action": "wait", "duration": 2},
]


def called(i: int, function: str, arguments: Any) -> list[dict[str, Any]]:
    """The model's message with one call, and what the tool gave back: text and a picture that stands apart."""
    return [
        {"id": f"m{i}", "role": "assistant", "source": "generate", "model": "openai/gpt-4o", "content": f"I do {i}",
         "tool_calls": [{"id": f"c{i}", "function": function, "arguments": arguments, "type": "function"}]},
        {"id": f"t{i}", "role": "tool", "tool_call_id": f"c{i}", "function": function,
         "content": [{"type": "text", "text": "ok"}, {"type": "image", "image": f"attachment://shot{i % 4}"}]},
    ]  # fmt: skip


def event(i: int) -> dict[str, Any]:
    message = {"id": f"m{i}", "role": "assistant", "content": f"I do {i}"}
    output = {"choices": [{"message": message}], "usage": {"input_tokens": 100 + i, "output_tokens": 10}, "time": 0.5}
    return {"event": "model", "timestamp": f"2026-11-22T07:50:{i:02d}+00:00", "output": output}


def sample(**more: Any) -> dict[str, Any]:
    calls = [message for i, told in enumerate(ACTIONS) for message in called(i, "computer", told)]
    submit = called(10, "submit", {"answer": "hello"})
    return {
        "id": "s1",
        "epoch": 2,
        "input": "Open the notes",
        "target": "hello",
        "messages": [
            {"role": "system", "content": "Act."}, {"role": "user", "content": "Open the notes"}, *calls, *submit,
        ],
        "scores": {
            "includes": {"value": "P", "answer": "hello", "explanation": "half of it"},
            "rubric": {"value": {"a": 1, "b": 0.5}},
        },
        "metadata": {"level": 1},
        "events": [event(i) for i in range(11)],
        "model_usage": {
            "openai/gpt-4o": {
                "input_tokens": 900, "output_tokens": 80, "input_tokens_cache_read": 5, "total_cost": 0.5,
            },
            "openai/grader": {"input_tokens": 100, "output_tokens": 20},
        },
        "started_at": "2026-11-22T07:49:59+00:00",
        "completed_at": "2026-11-22T07:51:59+00:00",
        "total_time": 120.0,
        "attachments": {f"shot{i}": url(shot) for i, shot in enumerate(SHOTS)},
        **more,
    }  # fmt: skip


def log(path: Path, *samples: Any, **more: Any) -> Path:
    path.write_text(json.dumps({**HEADER, "samples": list(samples), **more}))
    return path


def zipped(path: Path, entries: dict[str, bytes], way: int = zipfile.ZIP_DEFLATED) -> Path:
    with zipfile.ZipFile(path, "w", way) as file:
        for name, data in entries.items():
            file.writestr(name, data)
    return path


def entries(**more: bytes) -> dict[str, bytes]:
    return {
        "header.json": json.dumps(HEADER).encode(),
        "samples/s1_epoch_2.json": json.dumps(sample()).encode(),
        **more,
    }


def only(path: Path) -> tuple[Trace, dict[str, Verdict], Imported]:
    found = list(read(path))
    assert len(found) == 1, found
    assert isinstance(found[0], Imported), found
    return fold(found[0].events), {verdict.name: verdict for verdict in found[0].verdicts}, found[0]


def refused(path: Path) -> str:
    found = list(read(path))
    assert len(found) == 1
    assert isinstance(found[0], FailedRun), found
    return found[0].error


def check(trace: Trace, found: Imported) -> None:
    shot, click, text, enter, save, scroll, drag, double, right, wait, answer = trace.steps
    acts = [step.proposed.action for step in trace.steps]
    assert [act.kind for act in acts] == [
        "other", "click", "input_text", "keyboard_enter", "other", "scroll", "drag", "double_tap", "other", "wait",
        "answer",
    ]  # fmt: skip
    assert (click.proposed.action.at, click.proposed.action.space) == ((50, 60), "px")
    assert click.proposed.action.raw == {"function": "computer", "arguments": ACTIONS[1]}
    assert text.proposed.action.text == "hello"
    assert save.proposed.action.text == "key ctrl+s"
    assert (scroll.proposed.action.direction, scroll.proposed.action.vector) == ("down", (0, -200))
    assert (drag.proposed.action.at, drag.proposed.action.to, drag.proposed.action.vector) == (
        (1, 2),
        (30, 40),
        (29, 38),
    )
    assert double.proposed.action.at == (0, 0)
    assert (right.proposed.action.text, right.proposed.action.at) == ("right_click", (5, 5))
    assert wait.proposed.action.ms == 2000
    assert answer.proposed.action.text == "hello"
    assert shot.before.image is None
    assert click.before.size == (200, 400)
    assert click.before.image != enter.before.image
    assert len(found.images) == 4
    assert trace.ended is not None
    assert trace.ended.final is not None
    assert trace.ended.final.image == enter.before.image


def test_computer_actions_come_with_the_screen_they_saw(tmp_path: Path) -> None:
    trace, verdicts, found = only(log(tmp_path / "log.json", sample()))
    check(trace, found)
    assert trace.steps[1].proposed.usage == Usage(101, 10, None, None, 0.5)
    assert trace.steps[1].at == "2026-11-22T07:50:01.000000+00:00"
    assert trace.steps[1].proposed.thought == "I do 1"
    assert trace.steps[1].extra["tool_result"]["content"][1] == {"type": "image", "image": "attachment://shot1"}
    assert trace.steps[0].extra["before"][0]["role"] == "system"
    assert (trace.task.id, trace.task.instruction, trace.task.budget) == ("desk/s1", "Open the notes", 40)
    assert (trace.agent.id, trace.attempt) == ("openai/gpt-4o", 2)
    assert trace.ended is not None
    assert (trace.ended.status, trace.ended.score) == ("completed", 0.5)
    assert trace.ended.usage == Usage(1000, 100, 5, 0.5, 120.0, 11)
    assert (verdicts["includes"].value, verdicts["includes"].reason) == ("P", "half of it")
    assert verdicts["rubric"].value == {"a": 1, "b": 0.5}
    assert verdicts["source"].extra["metadata"] == {"level": 1}
    assert verdicts["source"].extra["target"] == "hello"
    assert "attachments" not in verdicts["source"].extra


@pytest.mark.parametrize("header", ["header.json", "_journal/start.json", "start.json"])
def test_a_zip_is_read_entry_by_entry(tmp_path: Path, header: str) -> None:
    held = {header: json.dumps(HEADER).encode(), "samples/s1_epoch_2.json": json.dumps(sample()).encode()}
    trace, _, found = only(zipped(tmp_path / "log.eval", {**held, "summaries.json": b"[]"}))
    check(trace, found)
    assert found.id == only(log(tmp_path / "log.json", sample()))[2].id


@pytest.mark.parametrize(
    ("value", "score"),
    [
        ("C", 1.0), ("I", 0.0), ("N", 0.0), ("yes", 1.0), ("False", 0.0), ("0.25", 0.25), (1, 1.0), (True, 1.0),
        (0.5, 0.5), (7, None), ("maybe", None), ([1], None), (None, None), (float("nan"), None),
    ],
)  # fmt: skip
def test_a_score_is_read_as_inspect_reads_it(tmp_path: Path, value: Any, score: float | None) -> None:
    trace, _, _ = only(log(tmp_path / "log.json", sample(scores={"match": {"value": value}})))
    assert trace.ended is not None
    assert trace.ended.score == score


def test_errors_and_limits(tmp_path: Path) -> None:
    failed, _, _ = only(log(tmp_path / "a.json", sample(error={"message": "boom", "traceback": "..."})))
    assert failed.ended is not None
    assert (failed.status, failed.ended.reason) == ("failed", "boom")
    limited, _, _ = only(log(tmp_path / "b.json", sample(limit={"type": "message", "limit": 40})))
    assert limited.ended is not None
    assert (limited.status, limited.ended.reason) == ("budget", "message limit 40")


def test_a_conversation_without_tools_is_answers(tmp_path: Path) -> None:
    messages = [
        {"role": "user", "content": [
            {"type": "text", "text": "What is this?"}, {"type": "image", "image": url(SHOTS[0])}]},
        {"role": "assistant", "content": [
            {"type": "reasoning", "reasoning": "hm"}, {"type": "text", "text": "A phone"}]},
    ]  # fmt: skip
    told = {"id": 1, "epoch": 1, "input": messages[:1], "messages": messages, "score": {"value": 1}}
    trace, verdicts, _ = only(log(tmp_path / "log.json", told))
    step = trace.steps[0]
    assert (step.proposed.action.kind, step.proposed.action.text, step.proposed.thought) == ("answer", "A phone", "hm")
    assert step.before.size == (200, 400)
    assert trace.task.instruction == "What is this?"
    assert trace.ended is not None
    assert trace.ended.score == 1.0
    assert "iVBOR" not in json.dumps(verdicts["source"].extra)


def test_where_there_are_no_messages_events_tell_them(tmp_path: Path) -> None:
    held: list[dict[str, Any]] = []
    for i in range(2):
        message, result = called(i, "computer", ACTIONS[i])
        held += [
            {"event": "model", "output": {"choices": [{"message": message}]}},
            {"event": "tool", "id": f"c{i}", "function": "computer", "result": result["content"]},
        ]
    trace, _, found = only(log(tmp_path / "log.json", sample(messages=[], events=held)))
    assert [step.proposed.action.kind for step in trace.steps] == ["other", "click"]
    assert len(found.images) == 2


def test_older_and_newer_calls(tmp_path: Path) -> None:
    many = {"actions": [{"action": "mouse_move", "coordinate": [7, 8]}, {"action": "left_click"}]}
    messages = [
        *called(0, "computer", many),
        *called(1, "computer_type", {"text": "x"}),
        *called(2, "bash", {"cmd": "ls"}),
        *called(3, "computer", "nonsense"),
    ]
    messages[3] = {**messages[3], "error": {"type": "timeout", "message": "too slow"}, "content": "late"}
    trace, _, _ = only(log(tmp_path / "log.json", sample(messages=messages)))
    move, click, text, bash, odd = (step.proposed.action for step in trace.steps)
    assert (move.kind, move.at, click.kind, click.at) == ("other", (7, 8), "click", (7, 8))
    assert (text.kind, text.text) == ("input_text", "x")
    assert (bash.kind, bash.text, bash.raw) == ("other", "bash", {"function": "bash", "arguments": {"cmd": "ls"}})
    assert odd.kind == "other"
    assert trace.steps[2].error == "too slow"


def test_pictures_that_are_not_there_are_told(tmp_path: Path) -> None:
    gone = sample(attachments={"shot0": "data:image/png;base64,AAAA", "shot1": "http://far/away.png", "shot2": 7})
    trace, _, found = only(log(tmp_path / "log.json", gone))
    assert found.images == {}
    assert trace.steps[0].extra["screenshot"] == "is not a picture"
    assert "http://far/away.png" in trace.steps[1].extra["screenshot"]
    assert "attachment://shot2" in trace.steps[2].extra["screenshot"]


def test_a_person_at_inspects_own_desk_is_a_person(tmp_path: Path) -> None:
    plan = {"steps": [{"solver": "human_cli"}]}
    trace, _, _ = only(log(tmp_path / "log.json", sample(), plan=plan))
    assert trace.agent.kind == "human"


def test_zstandard_needs_an_extra_and_is_read_with_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    zstandard = pytest.importorskip("zstandard")
    path = tmp_path / "log.eval"
    packed(path, {name: (data, zstandard.compress(data)) for name, data in entries().items()})
    trace, _, found = only(path)
    check(trace, found)
    wrong = {name: (data, zstandard.compress(data + b" ")) for name, data in entries().items()}
    packed(path, wrong)
    assert "unpacks to more than it says" in refused(path)
    packed(path, {name: (data[:-1] + b" ", zstandard.compress(data)) for name, data in entries().items()})
    assert "its checksum is another" in refused(path)
    packed(path, {name: (data, zstandard.compress(data)[:-9]) for name, data in entries().items()})
    assert "is damaged" in refused(path)
    monkeypatch.setitem(sys.modules, "zstandard", None)
    assert 'pip install "hitlab[inspect]"' in refused(path)


def packed(path: Path, held: dict[str, tuple[bytes, bytes]], way: int = 93) -> None:
    """A zip with entries that Python's own zip does not pack: what each says it holds, and its bytes."""
    body, index = b"", b""
    for name, (data, squeezed) in held.items():
        fields = struct.pack("<HHHHHIII", 20, 0, way, 0, 33, zlib.crc32(data), len(squeezed), len(data))
        head = fields + struct.pack("<HH", len(name), 0)
        index += b"PK\1\2" + struct.pack("<H", 20) + head + struct.pack("<HHHII", 0, 0, 0, 0, len(body)) + name.encode()
        body += b"PK\3\4" + head + name.encode() + squeezed
    end = struct.pack("<HHHHIIH", 0, 0, len(held), len(held), len(index), len(body), 0)
    path.write_bytes(body + index + b"PK\5\6" + end)


def test_a_bomb_is_not_let_off(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = zipped(tmp_path / "log.eval", {**entries(), "samples/b_epoch_1.json": b" " * 3_000_000})
    monkeypatch.setattr(archive, "_MOST", 2_000_000)
    errors = [one.error for one in read(path) if isinstance(one, FailedRun)]
    assert errors == [
        f"{path}#samples/b_epoch_1.json: is 3,000,000 bytes unpacked, more than the 2,000,000 that are read"
    ]
    monkeypatch.setattr(archive, "_MOST", 4_000_000)
    data = bytearray(path.read_bytes())
    for sign, at in ((b"PK\1\2", 24), (b"PK\3\4", 22)):  # it says of itself that it is small
        where = data.rindex(sign) if sign == b"PK\3\4" else data.index(b"samples/b") and data.rindex(b"PK\1\2")
        struct.pack_into("<I", data, where + at, 100)
    path.write_bytes(data)
    assert any(
        "damaged" in one.error or "more than it says" in one.error for one in read(path) if isinstance(one, FailedRun)
    )
    monkeypatch.setattr(archive, "UNPACKED_AT_LEAST", 1000)
    monkeypatch.setattr(archive, "UNPACKED_PER_BYTE", 100)
    path = zipped(tmp_path / "swells.eval", {**entries(), "samples/b_epoch_1.json": b" " * 3_000_000})
    assert any("would grow from" in one.error for one in read(path) if isinstance(one, FailedRun))


def test_an_index_larger_than_any_logs_is_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = zipped(tmp_path / "log.eval", entries())
    monkeypatch.setattr(archive, "_MOST_INDEX", 100)
    assert "has an index of" in refused(path)


def test_harmful_entries_are_named_and_the_others_come(tmp_path: Path) -> None:
    path = tmp_path / "log.eval"
    zipped(path, entries())
    with zipfile.ZipFile(path, "a") as file:
        file.writestr("samples/list_epoch_1.json", b"[]")
        file.writestr("samples/../../../../evil_epoch_1.json", b"{}")
        file.writestr("/samples/evil.json", b"{}")
        file.writestr("samples/two_epoch_1.json", b"{}")
        with pytest.warns(UserWarning, match="Duplicate name"):
            file.writestr("samples/two_epoch_1.json", b"[]")
    found = list(read(path))
    errors = [one.error for one in found if isinstance(one, FailedRun)]
    assert len(errors) == 2
    assert any("more than once" in error for error in errors)
    assert any("is no sample" in error for error in errors)
    assert sum(isinstance(one, Imported) for one in found) == 2
    assert sorted(one.name for one in tmp_path.iterdir()) == ["log.eval"]


def test_locked_overlapping_and_damaged_entries(tmp_path: Path) -> None:
    path = zipped(tmp_path / "log.eval", entries(), zipfile.ZIP_STORED)
    sound = path.read_bytes()
    second = sound.rindex(b"PK\1\2")

    def changed(at: int, form: str, value: int) -> str:
        data = bytearray(sound)
        struct.pack_into(form, data, at, value)
        path.write_bytes(data)
        return refused(path)

    assert "locked with a password" in changed(second + 8, "<H", 1)
    assert "overlaps another entry" in changed(second + 42, "<I", 0)
    assert "packed with bzip2" in changed(second + 10, "<H", 12)
    assert "is damaged" in changed(sound.index(b"Open the notes"), "<I", 7)
    path.write_bytes(sound[:-30])
    assert "is no zip file, or cut short" in refused(path)
    zipped(path, {"samples/a_epoch_1.json": b"{}"})
    assert "holds no header.json" in refused(path)


def test_one_bad_sample_leaves_the_others(tmp_path: Path) -> None:
    found = list(read(log(tmp_path / "log.json", 7, sample(), {"id": 1})))
    assert [type(one) for one in found] == [FailedRun, Imported, Imported]
    assert isinstance(found[2], Imported)
    assert fold(found[2].events).status == "failed"


def test_twice_is_once(store: Store, tmp_path: Path) -> None:
    path = zipped(tmp_path / "log.eval", entries())
    assert import_paths(store, [path]).imported == 1
    log(tmp_path / "log.json", sample())
    again = import_paths(store, [tmp_path])
    assert (again.imported, again.skipped, again.failed) == (0, 2, [])
    assert all(isinstance(one, KnownRun) for one in read(path, known=lambda id: True))
    assert store.check() == []


@pytest.mark.parametrize("seed", range(40))
def test_wrong_types_anywhere_never_crash(store: Store, tmp_path: Path, seed: int) -> None:
    chance = random.Random(seed)
    whole = sample()
    log(
        tmp_path / "log.json",
        *(bent(whole, chance, 0.04) for _ in range(3)),
        plan=bent(HEADER["plan"], chance, 0.2),
    )
    report = import_paths(store, [tmp_path])
    assert report.imported + report.skipped + len(report.failed) == 3
    assert store.check() == []


@pytest.mark.parametrize("seed", range(40))
def test_a_zip_with_any_bytes_changed_never_crashes(tmp_path: Path, seed: int) -> None:
    chance = random.Random(seed)
    path = zipped(tmp_path / "log.eval", entries())
    data = bytearray(path.read_bytes())
    tail = data.index(b"PK\1\2")
    for _ in range(chance.randrange(1, 12)):
        data[chance.randrange(tail if chance.random() < 0.5 else 0, len(data))] = chance.randrange(256)
    path.write_bytes(data if chance.random() < 0.7 else data[: chance.randrange(8, len(data))])
    assert all(isinstance(one, Imported | FailedRun) for one in read(path))
