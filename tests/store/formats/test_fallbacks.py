"""What of a source is not taken as it stands is counted, and told in one sentence a kind: for each format alike."""

from __future__ import annotations

import io
import json
import zipfile
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from lab.cli.main import main
from lab.core.run.trace import Trace
from store.store import Store
from tests.demonstrations import DEMO
from tests.store.formats.fuzzing import laid
from tests.store.formats.samples import Files, png, samples

SAMPLES = samples()
NAME = "task_app_2024-01-02_03-04-05"
AT = f"tasks/{NAME}"
LOG, SHOT, TREE = f"{AT}/log_app_{NAME}.txt", f"{AT}/{NAME}_1.png", f"{AT}/{NAME}_1.xml"


class Done:
    """What an import printed, as JSON and as text, and the runs that are in the file."""

    def __init__(self, root: Path, capsys: pytest.CaptureFixture[str], *options: str) -> None:
        capsys.readouterr()
        self.code = main(["import", str(root / "in"), *options, "--json", "--db", str(root / "x.db")])
        out, self.err = capsys.readouterr()
        self.result: dict[str, Any] = json.loads(out)
        self.kinds = {one["kind"]: one["count"] for one in self.result["fallbacks"]}
        self.runs: list[Trace] = []
        if (root / "x.db").is_file():
            with Store.open(root / "x.db", create=False, readonly=True) as store:
                self.runs = [store.runs.trace(run.id) for run in store.runs.summaries()]


def appagent(root: Path, response: Any = None, **files: bytes) -> None:
    """AppAgent's run, with another first answer, or other bytes of its log, picture or tree."""
    parts: Files = {name: data for name, data in SAMPLES["appagent"].items() if name.startswith("tasks/")}
    parts[f"{AT}/{NAME}_2.png"] = png(2)
    places = {"log": LOG, "shot": SHOT, "tree": TREE}
    parts |= {places[name]: data for name, data in files.items()}
    if response is not None:
        step = {"step": 1, "prompt": "The task you need to complete is to turn it on.", "response": response}
        parts[LOG] = (json.dumps(step) + "\n").encode() + parts[LOG].partition(b"\n")[2]
    laid(root / "in", parts)


def first_step(done: Done) -> Any:
    (run,) = done.runs
    return run.steps[0]


# Encodings


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-8-sig", "utf-32"])
@pytest.mark.parametrize("format", sorted(SAMPLES.keys() - {"androidworld", "androidcontrol", "jsonl"}))
def test_every_reader_reads_every_encoding_and_says_which(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], format: str, encoding: str
) -> None:
    texts = (".json", ".jsonl", ".txt", ".csv", ".xml", ".log")
    files = {name: data for name, data in SAMPLES[format].items() if not name.endswith(".eval")}
    plain = {name: data for name, data in files.items() if name.endswith(texts)}
    laid(tmp_path / "plain" / "in", files)
    was = Done(tmp_path / "plain", capsys)
    laid(tmp_path / "in", {**files, **{n: d.decode().encode(encoding) for n, d in plain.items()}})
    done = Done(tmp_path, capsys)
    assert [run.task.instruction for run in done.runs] == [run.task.instruction for run in was.runs]
    assert [len(run.steps) for run in done.runs] == [len(run.steps) for run in was.runs]
    assert ("encoding" in done.kinds) == (encoding != "utf-8-sig")
    assert done.result["failed"] == was.result["failed"]


def test_an_encoding_that_is_taken_is_named_and_one_that_is_not_sure_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    log = (
        SAMPLES["appagent"][LOG]
        .decode()
        .replace('"prompt": "p"', '"prompt": "The task you need to complete is to 打开无线网络"')
    )
    appagent(tmp_path, log=log.encode("gbk"))
    done = Done(tmp_path, capsys)
    assert done.runs[0].task.instruction == "打开无线网络"
    assert done.result["fallbacks"][0] == {"kind": "encoding", "count": 1, "first": f"{tmp_path / 'in' / LOG} (GBK)"}
    short = log.replace("打开无线网络", "点击").encode("gbk")
    appagent(tmp_path / "b", log=short)
    done = Done(tmp_path / "b", capsys)
    assert not done.runs
    assert "is not UTF-8 text (byte" in done.err
    assert "--encoding" in done.err
    done = Done(tmp_path / "b", capsys, "--encoding", "gbk")
    assert done.runs[0].task.instruction == "点击"
    assert main(["import", str(tmp_path), "--encoding", "klingon", "--db", str(tmp_path / "y.db")]) == 2
    assert "is not known" in capsys.readouterr().err


# Older forms of an answer

WORDS = "Observation: o\nThought: It is the one.\nAction: tap(1)\nSummary: s"
CHAT = {"id": "r1", "choices": [{"index": 0, "message": {"role": "assistant", "content": WORDS}}],
        "usage": {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}}  # fmt: skip


@pytest.mark.parametrize(
    "response",
    [
        CHAT,
        json.dumps(CHAT),
        repr(CHAT),
        f"ChatCompletion(id='r1', choices=[Choice(index=0, message=Message(content={WORDS!r}, role='assistant'))])",
        {"content": [{"type": "text", "text": WORDS}]},
        {"output": {"choices": [{"message": {"content": [{"text": WORDS}]}}]}},
        {"candidates": [{"content": {"parts": [{"text": WORDS}]}}]},
        WORDS,
    ],
    ids=["object", "JSON", "repr", "pydantic", "Anthropic", "Qwen", "Google", "words"],
)
def test_a_logs_whole_answer_is_read_as_its_words(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], response: Any
) -> None:
    appagent(tmp_path, response)
    done = Done(tmp_path, capsys)
    step = first_step(done)
    assert (step.proposed.action.kind, step.proposed.action.at) == ("click", (45, 45))
    assert step.proposed.thought == "It is the one."
    assert "action" not in done.kinds
    if isinstance(response, dict) and "usage" in response:
        assert (step.proposed.usage.prompt_tokens, step.proposed.usage.completion_tokens) == (10, 5)


# Trees and pictures

NODE = (
    '<hierarchy rotation="0"><node class="a" text="{}" resource-id="x" clickable="true" focusable="true" '
    'bounds="[0,0][90,90]"/>'
)
DUMP = f"<?xml version='1.0' encoding='UTF-8' standalone='yes' ?>{NODE}</hierarchy>"


@pytest.mark.parametrize(
    ("tree", "label"),
    [
        (DUMP.format("Chat &#55357;&#56832; hi").encode(), "Chat 😀 hi"),
        (DUMP.format("Chat \ud83d\ude00 hi").encode("utf-8", "surrogatepass"), "Chat 😀 hi"),
        (DUMP.format("Chat &#55357; hi").encode(), "Chat \ufffd hi"),
        (DUMP.format("Chat &#0; hi").encode(), "Chat  hi"),
        (DUMP.format("Chat \x0b\x00hi").encode(), "Chat hi"),
        (DUMP.format("a &amp; b & c < d").encode(), "a & b & c < d"),
        (DUMP.format("Wi-Fi").encode() + b"UI hierchary dumped to: /dev/tty\n", "Wi-Fi"),
        (b"UI hierchary dumped to: /sdcard/x.xml\n" + DUMP.format("Wi-Fi").encode() + b"\0\0", "Wi-Fi"),
        (DUMP.format("打开无线网络并设置").encode("gbk"), "打开无线网络并设置"),
        (DUMP.replace("UTF-8", "GBK").format("点击").encode("gbk"), "点击"),
        (NODE.format("Wi-Fi").encode() + b'<node class="b" bounds="[0,', "Wi-Fi"),
        (b'<displays><display id="0"><window layer="0">' + DUMP.partition("?>")[2].format("Wi-Fi").encode()
         + b"</window></display></displays>", "Wi-Fi"),
    ],
)  # fmt: skip
def test_a_damaged_tree_is_mended_and_its_action_keeps_its_place(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], tree: bytes, label: str
) -> None:
    appagent(tmp_path, tree=tree)
    done = Done(tmp_path, capsys)
    step = first_step(done)
    assert step.proposed.action.at == (45, 45)
    assert [node.text for node in step.before.tree.nodes()] == [label]
    assert done.kinds.get("mended tree", 0) == (0 if tree.startswith(b"<displays") else 1)
    assert not {"tree", "place"} & done.kinds.keys()


@pytest.mark.parametrize(
    "tree", [b"ERROR: could not get idle state.\n", b"", b'<!DOCTYPE x [<!ENTITY a "b">]><hierarchy/>']
)
def test_a_lost_tree_and_the_place_that_it_told_are_counted(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], tree: bytes
) -> None:
    appagent(tmp_path, tree=tree)
    done = Done(tmp_path, capsys)
    assert first_step(done).before.tree is None
    assert (done.kinds["tree"], done.kinds["place"]) == (1, 1)
    assert main(["import", str(tmp_path / "in"), "--db", str(tmp_path / "y.db")]) == 0
    said = capsys.readouterr().err
    assert f"1 UI tree could not be read, the first: step 1 of {tmp_path / 'in' / LOG} (" in said
    assert "1 touch has no place on its screen, the first: step 1 of" in said


def drawn(kind: str) -> bytes:
    out = io.BytesIO()
    Image.new("RGB", (20, 40), (10, 13, 200)).save(out, kind)
    return out.getvalue()


@pytest.mark.parametrize(
    "shot",
    [
        drawn("WEBP"),
        drawn("GIF"),
        drawn("BMP"),
        b"[Warning] Multiple displays were found, but no display id was specified!\n" + drawn("PNG"),
        drawn("PNG").replace(b"\n", b"\r\n"),
    ],
    ids=["WebP", "GIF", "BMP", "words before", "CR LF"],
)
def test_a_picture_of_another_kind_or_damaged_on_its_way_is_kept_as_png(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], shot: bytes
) -> None:
    appagent(tmp_path, shot=shot)
    done = Done(tmp_path, capsys)
    seen = first_step(done).before
    assert seen.size == (20, 40)
    with Store.open(tmp_path / "x.db", create=False, readonly=True) as store:
        blob = store.runs.blob(seen.image)
    assert blob is not None
    with Image.open(io.BytesIO(blob.data)) as image:
        assert (image.format, image.size) == ("PNG", (20, 40))
    assert (done.kinds.get("mended picture"), done.kinds.get("picture")) == (1, None)
    assert not [run.id for run in done.runs if run.id.endswith("-incomplete")]


# Side files

TABLE = SAMPLES["memgui"]["session-x/results.csv"].decode() if "session-x/results.csv" in SAMPLES["memgui"] else ""
ROWS = [["task_identifier", "task_description", "golden_steps", "Agent_attempt_1_elapsed_time_exec"],
        ["001-Task", "Do it; now", "4", "12.5"]]  # fmt: skip


def table(separator: str, first: str = "", point: str = ".") -> str:
    cells = [[f'"{cell}"' if separator in cell else cell.replace(".", point) for cell in row] for row in ROWS]
    return first + "".join(separator.join(row) + "\r\n" for row in cells)


@pytest.mark.parametrize(
    "data",
    [
        table(",").encode(),
        table(";", point=",").encode("utf-8-sig"),
        table(";", "sep=;\r\n", ",").encode(),
        table("\t", point=",").encode("utf-16"),
        table("|").encode(),
    ],
    ids=["plain", "semicolons", "sep", "UTF-16 tabs", "bars"],
)
def test_a_table_that_a_spreadsheet_saved_says_the_same(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], data: bytes
) -> None:
    laid(tmp_path / "in", {**SAMPLES["memgui"], "session-x/results.csv": data})
    done = Done(tmp_path, capsys)
    (run,) = done.runs
    assert (run.task.instruction, run.task.golden_steps) == ("Do it; now", 4)
    with Store.open(tmp_path / "x.db", create=False, readonly=True) as store:
        (row,) = (verdict for verdict in store.runs.verdicts(run.id) if verdict.name == "results.csv")
    assert row.extra["elapsed_time_exec"] == "12.5"
    assert done.kinds.get("table", 0) == (0 if data == table(",").encode() else 1)


@pytest.mark.parametrize("data", [b"\xff\xfe\x80\x81\x82", b"a,b\n1,2\n", b'task_identifier\n"' + b"x" * 200_000])
def test_a_table_that_cannot_be_read_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str], data: bytes) -> None:
    laid(tmp_path / "in", {**SAMPLES["memgui"], "session-x/results.csv": data})
    done = Done(tmp_path, capsys)
    assert len(done.runs) == 1
    assert done.kinds["side file"] == 1
    assert "results.csv" in next(one["first"] for one in done.result["fallbacks"] if one["kind"] == "side file")


# What is written goes before what a folder is called

FOREIGN = {
    "step_index": 1, "thinking": "..", "action": {"action": "click", "coordinate": [0.62, 0.5]},
    "message": "tap (669, 1196)", "instruction": "..",
}  # fmt: skip


def test_a_folder_that_is_only_named_like_an_episode_is_none(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    laid(tmp_path / "in", {"dataset/20260101_101010/trajectory.jsonl": json.dumps(FOREIGN).encode() + b"\n"})
    done = Done(tmp_path, capsys)
    assert (done.code, done.runs, done.kinds) == (1, [], {"file": 1})
    assert "1 file looks like a run of no known format" in done.err


@pytest.mark.parametrize(("x", "y"), [(0.62, 0.5), ("0.62", "0.5"), (0.0, 0.5)])
def test_a_fraction_is_no_pixel(tmp_path: Path, capsys: pytest.CaptureFixture[str], x: Any, y: Any) -> None:
    step = {
        "task_goal": "g",
        "step": 1,
        "prediction": "Thought: t\nAction: x",
        "action": {"action_type": "click", "x": x, "y": y},
    }
    laid(tmp_path / "in", {"m/Task/traj.json": json.dumps({"0": {"traj": [step]}}).encode()})
    done = Done(tmp_path, capsys)
    assert first_step(done).proposed.action.at is None
    assert done.kinds == {"place": 1}


# Folders without a run


def test_folders_that_should_hold_a_run_and_do_not_are_counted(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    empty: Files = {
        "d/20250102_030405_abcdef12/trajectory.json": b"[]",
        "d/20250102_030406_abcdef12/macro.txt": b"",
        f"{AT}x/{NAME}x_1.png": png(1),
        "s/002-Task/Agent/attempt_1/0.png": png(2),
        "m/Task2/thread_1.log": b"x",
        "l/task_9/Screen/1.png": png(3),
        "l/task_9/xml/1.xml": b"<hierarchy/>",
        "u/Do_it/screenshot_0.png": png(4),
    }
    laid(tmp_path / "in", {**empty, **SAMPLES["droidrun"]})
    done = Done(tmp_path, capsys)
    assert len(done.runs) == 1
    assert done.kinds["folder"] == 7
    assert main(["import", str(tmp_path / "in"), "--db", str(tmp_path / "y.db")]) == 0
    assert "7 folders hold no run, the first: " in capsys.readouterr().err


@pytest.mark.parametrize("format", sorted(SAMPLES))
def test_of_a_whole_run_nothing_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str], format: str) -> None:
    laid(tmp_path / "in", SAMPLES[format])
    done = Done(tmp_path, capsys)
    assert done.result["failed"] == []
    assert not done.kinds.keys() & {"folder", "file", "encoding", "mended tree", "mended picture", "side file"}


def test_packed_folders_are_refused_by_name_and_counted_below_others(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("x/a.txt", "a")
    laid(tmp_path / "in", {**SAMPLES["droidrun"], "run.zip": packed.getvalue()})
    done = Done(tmp_path, capsys)
    assert (len(done.runs), done.kinds["packed"]) == (1, 1)
    assert main(["import", str(tmp_path / "in" / "run.zip"), "--db", str(tmp_path / "y.db")]) == 1
    assert "run.zip: is packed (zip). Unpack it, and name the folder." in capsys.readouterr().err


# Scripts, and acts that failed


def test_a_scripters_turn_stands_as_it_was(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    events = [
        {"type": "ManagerContextEvent"},
        {"type": "ScripterThinkingEvent", "thoughts": "Off the phone.", "code": "print(2)"},
        {"type": "ScripterExecutionEvent", "code": "print(2)"},
        {"type": "ScripterExecutionResultEvent", "output": "2"},
        {"type": "ScripterEndEvent", "message": "It is 2.", "success": True, "code_executions": 1},
        {"type": "ManagerContextEvent"},
        {"type": "ToolExecutionEvent", "tool_name": "click", "tool_args": {"index": 1}, "success": False,
         "error": "no such element"},
        {"type": "ResultEvent", "success": False, "reason": "stuck"},
    ]  # fmt: skip
    at = "20250102_030405_abcdef12"
    laid(tmp_path / "in", {f"{at}/trajectory.json": json.dumps(events).encode(), f"{at}/screenshots/0000.png": png(0),
                           f"{at}/screenshots/0001.png": png(1)})  # fmt: skip
    script, click = Done(tmp_path, capsys).runs[0].steps
    assert (script.proposed.action.kind, script.proposed.action.text, script.error) == ("other", "print(2)", None)
    assert script.proposed.thought == "Off the phone."
    assert (click.proposed.action.kind, click.error) == ("click", "no such element")


def test_an_act_whose_result_says_that_it_failed_has_that_error(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    call = {"name": "mobile_use", "arguments": {"action": "click", "coordinate": [500, 500]}}
    lines = [{"goal": "g", "tool_call": call, "result": {"success": False, "error": "not reachable"}},
             {"goal": "g", "tool_call": call, "result": {"success": True, "error": ""}}]  # fmt: skip
    laid(tmp_path / "in", {"Do/action.jsonl": "".join(json.dumps(line) + "\n" for line in lines).encode(),
                           "Do/screenshot_0.png": png(0), "Do/screenshot_1.png": png(1)})  # fmt: skip
    assert [step.error for step in Done(tmp_path, capsys).runs[0].steps] == ["not reachable", None]


# Our own format, and one sample in two containers


def without_blobs(files: Files) -> Files:
    lines = [line for line in files[f"{DEMO}/run.jsonl"].splitlines(keepends=True) if not line.startswith(b'{"blob"')]
    lines[-1] = json.dumps({"end": {"lines": len(lines) - 1}}).encode() + b"\n"
    return {f"{DEMO}/run.jsonl": b"".join(lines)}


def test_pictures_that_events_name_and_no_line_brings_are_told_and_doctor_finds_them(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    laid(tmp_path / "in", without_blobs(SAMPLES["jsonl"]))
    done = Done(tmp_path, capsys)
    lost = len(SAMPLES["jsonl"]) - 1
    assert done.kinds == {"picture": lost}
    assert f"of run {DEMO} (no blob line for" in done.result["fallbacks"][0]["first"]
    main(["doctor", "--json", "--db", str(tmp_path / "x.db")])
    (finding,) = (one for one in json.loads(capsys.readouterr().out) if one["name"] == "pictures")
    assert not finding["ok"]
    assert f"{lost} pictures of 1 run not in the file" in finding["found"]
    laid(tmp_path / "in", SAMPLES["jsonl"])  # the whole export brings them
    assert Done(tmp_path, capsys).kinds == {}
    main(["doctor", "--json", "--db", str(tmp_path / "x.db")])
    assert "pictures" not in [one["name"] for one in json.loads(capsys.readouterr().out)]


def test_one_sample_of_inspect_in_two_containers_is_one_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (packed,) = (data for name, data in SAMPLES["inspect"].items() if name.endswith(".eval"))
    with zipfile.ZipFile(io.BytesIO(packed)) as archive:
        held = {name: json.loads(archive.read(name)) for name in archive.namelist() if name.endswith(".json")}
    header = next(value for name, value in held.items() if name == "header.json")
    kept = [value for name, value in held.items() if name.startswith("samples/")]
    log = {**header, "samples": [{**sample, "store": {}, "model_usage": None, "working_time": 1.5} for sample in kept]}
    laid(tmp_path / "in", {"log.eval": packed, "log.json": json.dumps(log, indent=1).encode()})
    done = Done(tmp_path, capsys)
    assert (done.result["imported"], done.result["skipped"], len(done.runs)) == (len(kept), len(kept), len(kept))
