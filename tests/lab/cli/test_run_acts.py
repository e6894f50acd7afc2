"""The commands `archive`, `restore` and `tag`, and what the lists and selections of other commands make of them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import msgspec
import pytest

from lab.cli.main import main
from lab.cli.settings.schemas import schemas
from store.store import Store
from tests.screens.compare.sample_pair import ONE, OTHER, bare, one, other
from tests.screens.table.sample_runs import RUNS, made


class Shell:
    """Runs commands on one file; JSON is held against its schema."""

    def __init__(self, capsys: pytest.CaptureFixture[bytes]) -> None:
        self._capsys = capsys

    def json(self, *words: str, schema: str = "", code: int = 0) -> Any:
        assert main([*words, "--json"]) == code
        found = json.loads(self._capsys.readouterr().out)
        shape = msgspec.json.schema(schemas()[schema or words[0]])
        jsonschema.Draft202012Validator(shape).validate(found)
        return found

    def text(self, *words: str, code: int = 0) -> str:
        assert main([*words]) == code
        done = self._capsys.readouterr()
        return (done.out + done.err).decode()

    def ids(self, command: str, *words: str) -> list[str]:
        found = self.json(command, *words)
        return [run["id"] for run in (found["runs"] if command == "runs" else found)]


@pytest.fixture
def shell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsysbinary: pytest.CaptureFixture[bytes]) -> Shell:
    for kind in ("DATA", "CONFIG", "CACHE"):
        monkeypatch.setenv(f"XDG_{kind}_HOME", str(tmp_path / kind))
    monkeypatch.setenv("HITLAB_DB", str(tmp_path / "lab.db"))
    monkeypatch.chdir(tmp_path)
    with Store.open(tmp_path / "lab.db") as store:
        store.runs.add_all([*(made(run) for run in RUNS), one(), other(), bare()])
    return Shell(capsysbinary)


def test_archived_runs_leave_every_list_and_come_back(shell: Shell) -> None:
    every = shell.ids("traces")
    done = shell.json("archive", "a1", "status:failed", code=2, schema="error")
    assert "names runs and a filter" in done["message"]
    done = shell.json("archive", "a1", "a2")
    assert done == {"archived": True, "runs": ["a1", "a2"], "new": ["a1", "a2"]}
    assert "1 was so already" in shell.text("archive", "a1", "a4")
    for command, line in (("traces", "traces"), ("runs", "runs list")):
        assert set(shell.ids(command)) == set(every) - {"a1", "a2", "a4"}
        assert set(shell.ids(command, "--archived")) == {"a1", "a2", "a4"}
        assert f"3 archived; `hitlab {line} --archived` lists them" in shell.text(*line.split())
    table = shell.json("runs", "agent:gpt-5")
    assert (table["total"], table["fit"], table["archived"]) == (len(every) - 3, 0, 3)
    assert shell.json("show", "a1")["id"] == "a1", "what is named is there"
    assert shell.json("restore", "all")["new"] == ["a1", "a2", "a4"]
    assert shell.ids("traces") == every
    assert "there is no archived run" in shell.text("restore", "all", code=1)


def test_a_filter_archives_what_it_finds_in_the_lists(shell: Shell) -> None:
    assert shell.json("archive", "source:memgui", "-status:failed")["new"] == ["a4"]
    assert shell.json("archive", "source:memgui")["runs"] == ["a3"]
    assert "no run that fits 'source:memgui'" in shell.text("archive", "source:memgui", code=1)
    assert "names no run" in shell.text("archive", code=2)
    assert "there is no field 'agnt'" in shell.text("archive", "agnt:x", code=2)


def test_tags_are_listed_shown_filtered_and_taken_off(shell: Shell) -> None:
    assert "no tags" in shell.text("tag")
    done = shell.json("tag", "agent:qwen", "+Pilot", "+main")
    assert (done["added"], done["changes"]) == (["pilot", "main"], 4)
    assert done["runs"] == [{"id": "a1", "tags": ["main", "pilot"]}, {"id": "a3", "tags": ["main", "pilot"]}]
    assert shell.json("tag", schema="tag-list") == [{"tag": "main", "runs": 2}, {"tag": "pilot", "runs": 2}]
    assert shell.json("tag", "a1", "-main", "+keep")["runs"] == [{"id": "a1", "tags": ["keep", "pilot"]}]
    assert "all was so already" in shell.text("tag", "a1", "+keep")
    assert shell.ids("traces", "--tag", "PILOT") == ["a3", "a1"]
    assert shell.ids("runs", "--tag", "main") == shell.ids("runs", "tag:mai") == shell.ids("runs", "tag=main") == ["a3"]
    assert set(shell.ids("runs", "tag:none")).isdisjoint({"a1", "a3"})
    assert shell.ids("runs", "-tag:keep", "tag:pilot") == ["a3"]
    for line in ("traces", "runs list"):
        assert "keep pilot" in shell.text(*line.split())
    assert "is no tag" in shell.text("tag", "a1", "+no#tag", code=2)
    assert "needs +TAG or -TAG" in shell.text("tag", "a1", code=2)
    assert "is no tag" in shell.text("traces", "--tag", "two words", code=2)


def test_metrics_leave_out_what_is_archived_unless_it_is_named(shell: Shell) -> None:
    before = shell.json("metrics")
    shell.text("archive", "a1")
    after = shell.json("metrics")
    assert (after["runs"], after["left_out"]["archived"]) == (before["runs"] - 1, 1)
    assert shell.json("metrics", "a1")["runs"] == 1
    shell.text("tag", "a1", "a2", "a3", "+mine")
    tagged = shell.json("metrics", "--tag", "mine")
    assert (tagged["runs"], tagged["left_out"]) == (2, {"archived": 1})
    assert "not both" in shell.text("metrics", "a1", "--tag", "mine", code=2)


def test_an_export_of_all_leaves_archived_runs_out_and_says_so(shell: Shell) -> None:
    shell.text("archive", "a1", ONE)
    assert "2 runs archived and left out" in shell.text("export", "--all", "--out", "all")
    done = shell.json("export", "a1", OTHER, "--out", "two")
    assert (set(done["runs"]), done["archived"]) == ({"a1", OTHER}, 0)


def test_a_study_keeps_a_run_that_is_archived_and_a_new_one_does_not_take_it(shell: Shell) -> None:
    words = ("--raters", "R1,R2", "--even-so")
    shell.text("tag", "a1", "a2", "a3", "+mine")
    shell.text("study", "new", "success", "--tag", "mine", "--name", "old", *words)
    shell.text("study", "deal", "old")
    assert [unit["runs"] for unit in shell.json("study", "show", "old", schema="study-show")["units"]] == [
        ["a1"], ["a2"], ["a3"],
    ]  # fmt: skip
    before = shell.json("labels", "old"), shell.json("agreement", "old")
    shell.text("archive", "a1")
    assert len(shell.json("study", "show", "old", schema="study-show")["units"]) == 3
    assert (shell.json("labels", "old"), shell.json("agreement", "old")) == before
    rows = [{"unit": "a1", "field": "outcome", "value": "success"}, {"unit": "a1", "commit": True}]
    Path("rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    shell.text("label", "old", "rows.jsonl", "--as", "R1")
    rated = shell.json("metrics", "--study", "old", "--rater", "R1")
    assert "archived" not in rated["left_out"]
    assert rated["runs"] == 3
    assert rated["left_out"]["not of the study"] == shell.json("metrics")["runs"] - 2
    made = shell.json("study", "new", "success", "--tag", "mine", "--name", "new", *words, schema="study-new")
    assert made["studies"][0]["units"] == 2
    named = ("study", "new", "success", "--runs", "a1", "a2", "--name", "named", *words)
    assert shell.json(*named, schema="study-new")["studies"][0]["units"] == 2
    assert "names runs and a filter" in shell.text(
        "study", "new", "success", "--runs", "a1", "--tag", "mine", "--name", "x", *words, code=2)  # fmt: skip


def test_archived_studies_are_listed_alone(shell: Shell) -> None:
    words = ("--runs", "all", "--raters", "R1,R2", "--even-so")
    for name in ("one", "two"):
        shell.text("study", "new", "success", "--name", name, *words)
    assert "no archived studies" in shell.text("study", "status", "--archived")
    shell.text("study", "archive", "one")
    archived = shell.json("study", "status", "--archived", schema="study-list")
    assert [line["id"] for line in archived] == ["one"]
    assert [line["id"] for line in shell.json("study", "status", schema="study-list")] == ["two"]


def test_lists_of_runs_name_the_task_as_one_types_it_and_its_title(shell: Shell) -> None:
    row = next(line for line in shell.text("runs", "list").splitlines() if line.startswith("a5 "))
    assert row.split()[:3] == ["a5", "alarm", "Two"]
    groups = shell.json("runs", "--group", "task")["groups"]
    assert "alarm  Two words, and more" in [group["name"] for group in groups]
