"""A file in another form than the one that is read gets a sentence that says what to write, or is taken."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from lab.cli.main import main

CSV = "\ufeffunit;field;value;commit\n019a;outcome;success;TRUE\n"
PROTOCOL = """\
title: Score
unit: run
shows: [instruction, outcome]
fields:
  - {id: q, ask: How well?, kind: ordinal, options: [{id: 1, says: bad}, {id: 2, says: good}]}
"""


@pytest.fixture
def db(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> str:
    """A file with one run in a study of two raters."""
    path = str(tmp_path / "x.db")
    assert main(["run", "way_home", "--db", path]) in (0, 3)
    assert (
        main(
            [
                "study",
                "new",
                "success",
                "--name",
                "s",
                "--runs",
                "all",
                "--raters",
                "R1",
                "--overlap",
                "1",
                "--db",
                path,
            ]
        )
        == 0
    )
    capsys.readouterr()
    return path


def test_answers_in_a_table_are_refused_with_a_line_to_write(
    tmp_path: Path, db: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "answers.csv").write_text(CSV, encoding="utf-8")
    assert main(["label", "s", str(tmp_path / "answers.csv"), "--as", "R1", "--db", db]) == 1
    said = capsys.readouterr().err
    assert "answers.csv: is a table (CSV), and JSON lines are read here. Write one object a line: {" in said


def test_answers_in_a_json_list_are_taken_each_at_its_place(
    tmp_path: Path, db: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["traces", "--json", "--db", db]) == 0
    answer = {"unit": json.loads(capsys.readouterr().out)[0]["id"], "field": "outcome"}
    rows = [{**answer, "value": "success"}, {**answer, "value": "no such"}]
    (tmp_path / "answers.json").write_text(json.dumps(rows, indent=1))
    assert (
        main(
            [
                "label",
                "s",
                str(tmp_path / "answers.json"),
                "--as",
                "J",
                "--kind",
                "model",
                "--config",
                "p",
                "--keep-going",
                "--db",
                db,
            ]
        )
        == 3
    )
    out, err = capsys.readouterr()
    assert out.startswith("kept")
    assert "refused  answers.json, item 1: " in out
    assert "1 kept, 0 there already, 1 refused" in err


def test_numbers_as_ids_in_yaml_say_how_they_are_quoted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "score.yaml").write_text(PROTOCOL)
    assert main(["protocols", str(tmp_path / "score.yaml")]) == 1
    said = capsys.readouterr().err
    assert "id: must be text, not a whole number" in said
    assert 'write it in quotes, as in id: "1"' in said


@pytest.mark.parametrize(("encoding", "words"), [("gbk", "it may be GBK"), ("utf-16", "is UTF-16 text, not UTF-8")])
def test_yaml_in_another_encoding_is_refused_with_its_name(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], encoding: str, words: str
) -> None:
    text = PROTOCOL.replace("How well?", "这个任务完成得怎么样")
    (tmp_path / "score.yaml").write_bytes(text.encode(encoding))
    assert main(["protocols", str(tmp_path / "score.yaml")]) == 1
    said = capsys.readouterr().err
    assert words in said
    assert "Save it as UTF-8." in said


@pytest.mark.parametrize("command", ["gold", "marks"])
def test_other_files_of_lines_say_so_too(
    tmp_path: Path, db: str, command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "lines.csv"
    path.write_text(CSV, encoding="utf-8")
    line = {
        "gold": ["study", "new", "success", "--name", "t", "--runs", "all", "--raters", "R1,R2", "--gold", str(path)],
        "marks": ["metrics", "--marks", str(path)],
    }[command]
    assert main([*line, "--db", db]) != 0
    assert "is a table (CSV), and JSON lines are read here." in capsys.readouterr().err
