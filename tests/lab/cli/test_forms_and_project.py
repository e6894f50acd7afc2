"""--format and --output of commands that print tables, a project's hitlab.toml, and where each setting comes from."""

from __future__ import annotations

import csv
import io
import json
import os
from pathlib import Path
from typing import Any

import pytest

from lab.cli.arguments import TableArguments
from lab.cli.commands import all_commands
from lab.cli.main import main
from store.store import Store
from tests.lab.cli.test_earlier_commands import parser_of
from tests.studied_runs import RUNS

LONG = "a long title " * 30


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Path:
    """A working folder with runs and the study `trial` in lab.db."""
    (tmp_path / "work" / "below").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "work")
    for kind in ("DATA", "CONFIG", "CACHE"):
        monkeypatch.setenv(f"XDG_{kind}_HOME", str(tmp_path / kind.lower()))
    for name in [name for name in os.environ if name.startswith("HITLAB_")]:
        monkeypatch.delenv(name)
    with Store.open(Path("lab.db")) as store:
        store.runs.add_all(RUNS)
    line = "study new success --name trial --runs all --raters Ann,Bea --force --db lab.db"
    assert main(line.split()) == 0
    assert main(["study", "deal", "trial", "--db", "lab.db"]) == 0
    capsys.readouterr()
    return tmp_path / "work"


def printed(capsys: pytest.CaptureFixture[str], line: str, code: int = 0) -> str:
    assert main(line.split()) == code, capsys.readouterr().err
    return capsys.readouterr().out


LISTS = ["runs list", "traces", "tasks list", "tasks personas", "study status", "study status trial", "settings show",
         "study protocols", "settings keys", "runs metrics --paper pspa"]  # fmt: skip


@pytest.mark.parametrize("line", LISTS)
def test_a_table_is_csv_or_markdown_alone(capsys: pytest.CaptureFixture[str], line: str) -> None:
    tables = printed(capsys, f"{line} --format csv --db lab.db")
    rows = [[*csv.reader(io.StringIO(table))] for table in tables.replace("\r\n", "\n").split("\n\n") if table]
    for table in rows:
        assert len({len(row) for row in table}) == 1, line
    lines = printed(capsys, f"{line} --format md --db lab.db").splitlines()
    if "metrics" not in line:  # its own form of CSV has a line for each number
        assert len(lines) == sum(len(table) + 1 for table in rows) + (len(rows) - 1)
    assert all(line.startswith("| ") and line.endswith(" |") for line in lines if line)


@pytest.mark.parametrize("line", LISTS)
def test_format_json_is_json(capsys: pytest.CaptureFixture[str], line: str) -> None:
    assert printed(capsys, f"{line} --format json --db lab.db") == printed(capsys, f"{line} --json --db lab.db")


def test_every_command_with_a_table_takes_a_form_and_a_file() -> None:
    with_tables = [words for words, _ in all_commands() if issubclass(parser_of(words.split()).takes, TableArguments)]
    assert len(with_tables) > 20
    for words in with_tables:
        options = {option for action in parser_of(words.split())._actions for option in action.option_strings}
        assert {"--format", "--output", "--json"} <= options, words


@pytest.mark.parametrize("out", ["nodir/x.csv", "lab.db/x.csv"])
def test_where_no_file_can_be_made_nothing_is_done(capsys: pytest.CaptureFixture[str], out: str) -> None:
    with Store.open(Path("lab.db")) as store:
        run = store.runs.summaries()[0].id
    assert main(["runs", "tag", run, "+new", "--db", "lab.db", "--format", "csv", "--output", out]) == 1
    assert "nothing was done" in capsys.readouterr().err
    with Store.open(Path("lab.db")) as store:
        assert store.runs.acts.tags() == {}


@pytest.mark.parametrize("named", ["variable", "project"])
def test_a_database_that_is_named_and_not_there_is_not_made_by_a_list(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, named: str
) -> None:
    if named == "variable":
        monkeypatch.setenv("HITLAB_DB", "nosuch.db")
    else:
        Path("hitlab.toml").write_text('db = "nosuch.db"\n')
    assert main(["runs", "list"]) == 1
    assert "nosuch.db: is not there." in capsys.readouterr().err
    assert not Path("nosuch.db").exists()


@pytest.mark.parametrize("made", ["folder", "dangling link", "bytes"])
def test_a_project_file_that_cannot_be_read_is_one_sentence(capsys: pytest.CaptureFixture[str], made: str) -> None:
    if made == "folder":
        Path("hitlab.toml").mkdir()
    elif made == "bytes":
        Path("hitlab.toml").write_bytes(b"\xff\x00\x01")
    else:
        Path("hitlab.toml").symlink_to("nowhere")
    assert main(["runs", "list"]) == 1
    error = capsys.readouterr().err
    assert error.startswith("hitlab: project file ")
    assert error.count("\n") == 1


def test_output_goes_into_a_new_file_and_replaces_none(capsys: pytest.CaptureFixture[str]) -> None:
    table = printed(capsys, "runs list --db lab.db --format csv")
    assert printed(capsys, "runs list --db lab.db --format csv --output runs.csv") == ""
    assert Path("runs.csv").read_bytes().decode() == table
    assert main(["tasks", "list", "--output", "runs.csv"]) == 1
    assert "--output runs.csv: is there already; nothing was written." in capsys.readouterr().err
    assert Path("runs.csv").read_bytes().decode() == table
    assert main(["runs", "list", "--db", "nosuch.db", "--output", "none.csv"]) == 1
    assert not Path("none.csv").exists()
    assert printed(capsys, "labels list trial --db lab.db --json --output labels.json") == ""
    assert json.loads(Path("labels.json").read_bytes())["study"] == "trial"


def test_a_table_in_a_pipe_is_neither_cut_nor_wrapped(capsys: pytest.CaptureFixture[str]) -> None:
    Path("long.yaml").write_text(f"kind: general\ntitle: {LONG}\ninstruction: {'Open the notes. ' * 500}\n")
    told = printed(capsys, "tasks check long.yaml").splitlines()
    assert len(told) == 2
    assert LONG.strip() in told[1]
    assert ("Open the notes. " * 500).strip() in told[1]
    ids = {line.split("  ")[0] for line in printed(capsys, "runs list --db lab.db").splitlines()}
    assert {run.id for run in map(started, RUNS)} <= ids


def started(run: Any) -> Any:
    return run


def test_a_formula_in_a_cell_stays_text(capsys: pytest.CaptureFixture[str]) -> None:
    Path("sum.yaml").write_text("kind: general\ntitle: '=1+1'\ninstruction: a | b\n")
    [_, row] = csv.reader(io.StringIO(printed(capsys, "tasks check sum.yaml --format csv")))
    assert row[2] == "'=1+1"
    assert "a \\| b" in printed(capsys, "tasks check sum.yaml --format md")


TABLES = [
    "runs list", "runs list score<0", "runs list --group agent", "traces", "runs tag", "runs review --list",
    "runs redact --list", "runs compare RUN OTHER", "runs family RUN", "runs metrics", "tasks list usual_lunch",
    "tasks list", "tasks design --list", "tasks personas", "study status", "study status trial", "study raters trial",
    "study protocols", "study links trial", "labels list trial", "labels adjudicate trial --list", "agreement trial",
    "serve user --list", "settings show", "settings keys", "run usual_lunch",
]  # fmt: skip


def with_runs(line: str) -> str:
    ids = sorted(run.id for run in map(started, RUNS))
    return line.replace("RUN", ids[0]).replace("OTHER", ids[1])


@pytest.mark.parametrize("line", TABLES)
def test_csv_is_one_table_whose_columns_have_names(capsys: pytest.CaptureFixture[str], line: str) -> None:
    table = printed(capsys, f"{with_runs(line)} --format csv --db lab.db")
    head, *rows = csv.reader(io.StringIO(table))
    assert all(head)
    assert len({*head}) == len(head)
    assert {len(row) for row in rows} <= {len(head)}, "one table: no blank line, and no second header"
    assert "'=" not in table


def test_a_list_without_rows_has_its_header_in_a_file(capsys: pytest.CaptureFixture[str]) -> None:
    for number, line in enumerate(("runs list score<0", "runs review --list", "tasks design --list", "study status")):
        db = "empty.db" if line == "study status" else "lab.db"
        Store.open(Path("empty.db")).close()
        for form in ("csv", "md"):
            assert printed(capsys, f"{line} --format {form} --output {number}.{form} --db {db}") == ""
            assert len(Path(f"{number}.{form}").read_text().splitlines()) == (1 if form == "csv" else 2), line


NO_TABLE = [
    "study protocols tdg", "study protocols tdg --yaml", "runs redact RUN --show", "runs redact RUN --text way_home",
    "runs review RUN --show", "tasks design usual_lunch --begin task", "serve user", "runs tag RUN +new",
    "labels adjudicate trial --majority --reason x --person D1", "agreement trial --open", "labels list trial --past",
]  # fmt: skip


@pytest.mark.parametrize("line", NO_TABLE)
def test_a_line_without_a_table_refuses_csv_before_anything(capsys: pytest.CaptureFixture[str], line: str) -> None:
    before = Path("lab.db").read_bytes()
    try:
        code = main([*with_runs(line).split(), "--format", "csv", "--db", "lab.db"])
    except SystemExit as left:
        code = int(left.code or 0)
    printed = capsys.readouterr()
    assert (code, printed.out) == (2, "")
    assert printed.err
    assert Path("lab.db").read_bytes() == before


def test_the_csv_of_runs_is_their_json(capsys: pytest.CaptureFixture[str]) -> None:
    first, other = with_runs("RUN OTHER").split()
    printed(capsys, f"runs rename-agent {first} --new-name mine --version 2 --model qwen --db lab.db")
    printed(capsys, f"runs tag {other} +new --db lab.db")
    runs = json.loads(printed(capsys, "runs list --json --db lab.db"))["runs"]
    rows = [*csv.DictReader(io.StringIO(printed(capsys, "runs list --format csv --db lab.db")))]
    assert [{**row, "tags": json.loads(row["tags"])} for row in rows] == [
        {
            name: "" if value is None else json.dumps(value) if isinstance(value, bool) else value
            if isinstance(value, list) else str(value)
            for name, value in run.items()
        }
        for run in runs
    ]  # fmt: skip
    assert {(row["agent_name"], row["agent_version"], row["agent_model"]) for row in rows if row["id"] == first} == {
        ("mine", "2", "qwen")
    }


def test_markdown_of_several_papers_says_whose_number_each_is(capsys: pytest.CaptureFixture[str]) -> None:
    lines = printed(capsys, "runs metrics --format md --db lab.db").splitlines()
    assert lines[0].startswith("| paper | metric |")
    assert len({line.split(" | ")[0] for line in lines[2:]}) > 1
    assert "" not in lines, "one table"


# -- hitlab.toml ----------------------------------------------------------------------------------------------------


def settings_of(capsys: pytest.CaptureFixture[str], *more: str) -> dict[str, tuple[Any, str, str]]:
    lines = json.loads(printed(capsys, " ".join(["settings show --json", *more])))
    return {line["name"]: (line["value"], line["source"], line["place"]) for line in lines}


def test_a_project_names_file_study_and_seat_for_the_folders_below(
    capsys: pytest.CaptureFixture[str], folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "hitlab.toml").write_text('db = "lab.db"\nstudy = "trial"\nmodel = "openai/x"\nseat = "designer"\n')
    monkeypatch.chdir(folder / "below")
    assert json.loads(printed(capsys, "study show --json"))["plan"]["id"] == "trial"
    assert json.loads(printed(capsys, "labels list --json"))["study"] == "trial"
    project = str(folder / "hitlab.toml")
    told = settings_of(capsys)
    assert told["db"] == (str(folder / "lab.db"), "project", project)
    assert told["seat"] == ("designer", "project", project)
    assert told["pace"] == (0.7, "default", "")
    (folder.parent / "config" / "hitlab").mkdir(parents=True)
    (folder.parent / "config" / "hitlab" / "settings.toml").write_text('seat = "rater"\npace = 2\n')
    monkeypatch.setenv("HITLAB_STUDY", "other")
    told = settings_of(capsys, "--db", "here.db")
    assert told["db"] == ("here.db", "option", "--db")
    assert told["study"] == ("other", "environment", "HITLAB_STUDY")
    assert told["seat"] == ("designer", "project", project)
    assert told["pace"][1:] == ("settings", str(folder.parent / "config" / "hitlab" / "settings.toml"))
    assert main(["study", "show"]) == 1
    assert "other" in capsys.readouterr().err
    assert main(["settings"]) == 0
    bare = capsys.readouterr().out
    assert bare.startswith("usage: hitlab settings ")
    assert f"project {project}" in bare
    assert "pace" in bare


def test_the_model_of_a_judge_comes_from_the_project(capsys: pytest.CaptureFixture[str], folder: Path) -> None:
    assert main(["judge", "trial", "--dry-run", "--db", "lab.db"]) == 2
    assert "--model names the model" in capsys.readouterr().err
    (folder / "hitlab.toml").write_text('model = "openai/gpt-4.1-mini"\ndb = "lab.db"\nstudy = "trial"\n')
    assert json.loads(printed(capsys, "judge --dry-run --json"))["sheets"] > 0


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("db = lab.db", "is not TOML"),
        ('pace = "2"', "field pace: unknown; it may have db, study, model, seat"),
        ('studdy = "x"', "did you mean study?"),
        ('seat = "boss"', "field seat"),
        ("db = 5", 'field db: must be text, not a whole number; write it in quotes, as in db = "5"'),
    ],
)
def test_a_wrong_project_file_is_named(capsys: pytest.CaptureFixture[str], folder: Path, text: str, said: str) -> None:
    (folder / "hitlab.toml").write_text(text)
    assert main(["file", "where"]) == 1
    err = capsys.readouterr().err
    assert f"project file {folder / 'hitlab.toml'}" in err
    assert said in err


def test_a_study_must_be_named_somewhere(capsys: pytest.CaptureFixture[str]) -> None:
    for line in (
        "study lock",
        "labels list",
        "labels add",
        "agreement",
        "study rate",
        "report",
        "study watch trial --once --db lab.db",
    ):
        try:
            code = main(line.split())
        except SystemExit as left:
            code = int(left.code or 0)
        if "watch" not in line:
            assert (line, code) == (line, 2)
            assert "names no study, and neither does the setting study" in capsys.readouterr().err


def test_anybody_s_file_in_a_folder_for_all_does_not_count(
    capsys: pytest.CaptureFixture[str], folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "hitlab.toml").write_text('db = "lab.db"\n')
    folder.chmod(0o777)
    assert settings_of(capsys)["db"][1] == "project"
    mine = os.getuid()
    monkeypatch.setattr(os, "getuid", lambda: mine + 1)
    assert settings_of(capsys)["db"][1] == "default"
    folder.chmod(0o755)
    assert settings_of(capsys)["db"][1] == "project"


def test_the_commands_that_look_work_with_broken_settings(capsys: pytest.CaptureFixture[str], folder: Path) -> None:
    (folder / "hitlab.toml").write_text('studdy = "x"\n')
    assert main(["settings", "show"]) == 3
    shown = capsys.readouterr()
    assert "pace" in shown.out
    assert "did you mean study?" in shown.err
    assert main(["settings", "doctor"]) == 3
    assert "did you mean study?" in capsys.readouterr().out
    (folder / "hitlab.toml").write_bytes(b'\xef\xbb\xbfdb = "lab.db"\n')
    assert main(["runs", "list"]) == 0


def test_answers_for_the_study_of_the_project_need_no_name(
    capsys: pytest.CaptureFixture[str], folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "hitlab.toml").write_text('db = "lab.db"\nstudy = "trial"\n')
    row = {"unit": with_runs("RUN"), "field": "outcome", "value": "success"}
    Path("rows.jsonl").write_text(json.dumps(row))
    assert main(["labels", "add", "rows.jsonl", "--person", "Ann"]) == 0
    assert main(["labels", "add", "trial", "rows.jsonl", "--person", "Ann"]) == 0
    assert "1 there already" in capsys.readouterr().err
