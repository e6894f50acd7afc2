"""Which files are whose: every sample by its own format, and what is no run by nobody."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from lab.cli.main import main
from store.formats import READ_FORMATS, WRITTEN_FORMATS, FailedRun, RunSource, detect, formats, read, writers
from store.runs.run_import import import_paths
from store.store import Store
from tests.store.formats.fuzzing import laid
from tests.store.formats.samples import png, samples

SAMPLES = samples()
STEP: dict[str, Any] = {"task_goal": "g", "step": 1, "prediction": "p", "action": {"action_type": "wait"}}


def owners(path: Path) -> list[str]:
    """The formats of what is found below a path; a failure is its own."""
    return [found.format if isinstance(found, RunSource) else "failed" for found in detect(path)]


@pytest.mark.parametrize("name", SAMPLES)
def test_a_source_is_its_formats_and_nobody_elses(name: str, tmp_path: Path) -> None:
    laid(tmp_path / "in", SAMPLES[name])
    assert set(owners(tmp_path / "in")) == {name}


def test_all_formats_beside_each_other_in_one_folder(store: Store, tmp_path: Path) -> None:
    for name, files in SAMPLES.items():
        laid(tmp_path / "all" / name, files)
    report = import_paths(store, [tmp_path / "all"])
    assert report.failed == []
    assert set(report.formats) == set(SAMPLES)
    assert {run.source for run in store.runs.summaries()} >= set(SAMPLES) - {"jsonl"}


def test_the_command_line_offers_what_is_read_and_written() -> None:
    assert tuple(formats()) == READ_FORMATS
    assert tuple(writers()) == WRITTEN_FORMATS
    assert all(format.name == name and format.title for name, format in formats().items())
    assert all(writer.name == name and writer.title for name, writer in writers().items())


REPORT = {
    "summary": {"total_tasks_assigned": 2, "successful_tasks": 1, "overall_success_rate": 0.5},
    "metadata": {"agent_type": "a", "model_name": "m", "log_file_root": "traj_logs"},
    "tasks_with_results": [{"task_name": "T", "score": 1.0}],
    "tasks_with_no_results": ["U"],
}


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("eval_report_20250102_030405.json", REPORT),
        ("leaderboard.json", {"model": {"traj": "trajs/model.json.gz", "score": 0.5}}),
        ("settings.json", {"paths": {"traj": ["a", "b"], "action": 1}}),
        ("index.json", {"traj": [{"action": 1}]}),
        ("x.json", {"a": {"b": {"note": 'the "traj": [ of "action"'}}}),
        ("profile.json", {"user_profile": {"identity": {}}}),
        ("log.json", {"traj": {}}),
        ("package.json", {"name": "x", "version": 2, "scripts": {"eval": "run"}}),
        ("data.json", [{"time": "2025", "location": "home", "action": "x", "label": "signal", "category": ""}]),
        ("dump.json", [1, 2, 3]),
        ("robot/traj.json", {"points": [[0, 1], [2, 3]], "dt": 0.1}),
        ("robot/traj.json", [[0, 1], [2, 3]]),
        ("agent/traj.json", {"info": {}, "messages": [{"role": "user", "content": "x"}]}),
        ("training/log.json", [{"step": 1, "action": "train", "loss": 0.3}]),
        ("mouse/trajectory.json", [{"type": "PointEvent", "x": 1}, {"type": "MouseEvent"}]),
        ("keys/macro.json", {"macros": [{"action_type": "tap"}]}),
        ("clicks/action.jsonl", {"time": 1, "page": "start"}),
        ("other/run.jsonl", {"run": 1, "loss": 0.5}),
        ("results.json", {"results": [{"task": "x"}]}),
    ],
)
def test_a_file_that_is_no_run_is_passed_over(store: Store, tmp_path: Path, name: str, value: Any) -> None:
    laid(
        tmp_path / "in",
        {name: json.dumps(value).encode(), "m/T/traj.json": json.dumps({"0": {"traj": [STEP]}}).encode()},
    )
    assert owners(tmp_path / "in") == ["knowu"]
    assert import_paths(store, [tmp_path / "in"]).failed == []


def test_another_programs_run_jsonl_hides_no_run_below_it(tmp_path: Path) -> None:
    run = json.dumps({"0": {"traj": [STEP]}}).encode()
    laid(tmp_path / "in", {"run.jsonl": b'{"run": 1}\n', "traj.json": b"[[0, 1]]", "m/T/traj.json": run})
    assert owners(tmp_path / "in") == ["knowu"]


def test_what_macos_lays_beside_files_is_no_run_and_no_failure(tmp_path: Path) -> None:
    shadow = b"\x00\x05\x16\x07\x00\x02\x00\x00Mac OS X        "
    run = json.dumps({"0": {"traj": [STEP]}}).encode()
    names = ("._traj.json", "._T_0.pkl.gz", "._log.eval", ".DS_Store", "._results.json")
    laid(tmp_path / "in", {f"m/{name}": shadow for name in names})
    laid(tmp_path / "in", {"m/T/traj.json": run, "m/T/._traj.json": shadow, "__MACOSX/m/T/traj.json": shadow})
    assert owners(tmp_path / "in") == ["knowu"]


@pytest.mark.parametrize(
    "name", ["traj.json", "run.jsonl", "action.jsonl", "log.json", "trajectory.json", "T_0.pkl.gz"]
)
def test_a_pipe_is_never_waited_for(tmp_path: Path, name: str) -> None:
    os.mkfifo(tmp_path / name)
    assert all(isinstance(found, FailedRun) and "is not a file" in found.error for found in read(tmp_path))


def test_a_folder_called_traj_and_another_programs_traj_json_are_passed_over(tmp_path: Path) -> None:
    laid(
        tmp_path / "in",
        {
            "traj/notes.txt": b"x",
            "traj.json/readme.md": b"x",
            "other/traj.json": json.dumps([{"observation": 1}]).encode(),
            "m/T_backup_20250102_030405/traj.json": json.dumps({"0": {"traj": [STEP]}}).encode(),
        },
    )
    assert owners(tmp_path / "in") == []


def test_a_run_cut_short_is_still_known_for_what_it_is(tmp_path: Path) -> None:
    for name, text in (("a", ""), ("b", '{"0": {"traj": ['), ("c", "{}"), ("d", "[]")):
        laid(tmp_path / "in", {f"{name}/traj.json": text.encode()})
    assert owners(tmp_path / "in") == ["knowu"] * 4


def test_a_link_that_leads_out_is_a_failure_where_its_name_may_be_a_run_s(tmp_path: Path) -> None:
    laid(tmp_path / "outside", {"bundle.json": json.dumps({"T": {"traj": [STEP]}}).encode(), "notes.txt": b"{}"})
    (tmp_path / "in").mkdir()
    for name in ("bundle.json", "notes.txt"):
        (tmp_path / "in" / name).symlink_to(tmp_path / "outside" / name)
    (found,) = detect(tmp_path / "in")
    assert isinstance(found, FailedRun)
    assert "leads out of the folder" in found.error
    (named,) = detect(tmp_path / "in" / "bundle.json")
    assert isinstance(named, RunSource)
    assert named.path == (tmp_path / "outside" / "bundle.json").resolve()


@pytest.mark.parametrize("name", sorted(set(SAMPLES) - {"jsonl"}))
def test_what_was_brought_in_goes_out_and_comes_back(store: Store, tmp_path: Path, name: str) -> None:
    """Through our own format, whole, and through KnowU's with the same steps."""
    from store.runs.run_export import export_runs

    laid(tmp_path / "in", SAMPLES[name])
    import_paths(store, [tmp_path / "in"])
    ids = [run.id for run in store.runs.summaries()]
    for format in ("jsonl", "knowu"):
        export_runs(store, ids, tmp_path / format, format)
        with Store.open(tmp_path / f"{format}.db") as back:
            report = import_paths(back, [tmp_path / format])
            assert (report.imported, report.failed) == (len(ids), [])
            lines = sorted((run.task, run.steps) for run in back.runs.summaries())
            if format == "jsonl":
                assert sorted(run.id for run in back.runs.summaries()) == sorted(ids)
                assert all(list(back.runs.events(id)) == list(store.runs.events(id)) for id in ids)
            else:
                assert sorted(steps for _, steps in lines) == sorted(run.steps for run in store.runs.summaries())


@pytest.fixture
def alone(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A place of its own for the command line."""
    monkeypatch.chdir(tmp_path)
    for kind in ("DATA", "CONFIG", "CACHE"):
        monkeypatch.setenv(f"XDG_{kind}_HOME", str(tmp_path / kind.lower()))
    return tmp_path


def test_the_summary_counts_by_format(alone: Path, capfd: pytest.CaptureFixture[str]) -> None:
    more = {"data/screenshots/132/132_1.png": png(1), "broken/traj.json": b"{"}
    laid(alone / "in", SAMPLES["dac"] | SAMPLES["aitz"] | more)
    assert main(["import", "in", "--db", "x.db"]) == 3
    out, err = capfd.readouterr()
    assert out == "2 imported (1 dac, 1 aitz), 0 already there, 1 failed (knowu), in x.db\n"
    assert err.startswith("hitlab: in/broken/traj.json: is not JSON")
    assert main(["import", "in", "--db", "x.db"]) == 3
    assert "0 imported, 2 already there (1 dac, 1 aitz), 1 failed (knowu)" in capfd.readouterr().out
    (alone / "in" / "broken" / "traj.json").unlink()
    assert main(["import", "in", "--db", "x.db", "--json"]) == 0
    told = json.loads(capfd.readouterr().out)
    assert told["formats"]["dac"] == {"imported": 0, "skipped": 1, "failed": 0}


def test_stopped_by_hand_says_what_stays_and_exits_with_3(
    alone: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    laid(alone / "in", SAMPLES["dac"])

    def stopped(*_: object) -> bool:
        raise KeyboardInterrupt

    monkeypatch.setattr("store.runs.run_import._Import.flush", stopped)
    assert main(["import", "in", "--db", "x.db"]) == 3
    out, err = capfd.readouterr()
    assert out == "0 imported, 0 already there, 0 failed, in x.db\n"
    assert err == "hitlab: import: stopped; what is in stays, and the same command brings in the rest.\n"
