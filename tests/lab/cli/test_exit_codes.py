"""Exit codes follow the table of `hitlab --help`: 2 for a wrong command line, 1 for what is refused, 3 for a part."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from lab.cli.arguments import Parser
from lab.cli.commands import all_commands
from lab.cli.main import main
from store.store import Store
from tests.lab.cli.test_earlier_commands import parser_of
from tests.studied_runs import RUNS

GOLD = '[{"run": "x",\n "field": "a",\n "run": "y"}]'


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Path:
    """A working folder with runs and the study `trial` in lab.db."""
    monkeypatch.chdir(tmp_path)
    for kind in ("DATA", "CONFIG", "CACHE"):
        monkeypatch.setenv(f"XDG_{kind}_HOME", str(tmp_path / kind.lower()))
    for name in [name for name in os.environ if name.startswith("HITLAB_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("HITLAB_DB", "lab.db")
    with Store.open(Path("lab.db")) as store:
        store.runs.add_all(RUNS)
    assert called("study new success --name trial --runs all --raters Ann,Bea --force") == 0
    Path("runs.csv").write_text("id,score\n")
    Path("mine.yaml").write_text("kind: general\ninstruction: Open the notes.\n")
    Path("twice.yaml").write_text('{"kind": "general",\n "instruction": "a",\n "kind": "general"}')
    capsys.readouterr()
    return tmp_path


def called(line: str) -> int:
    try:
        return main(line.split())
    except SystemExit as left:
        return int(left.code or 0)


@pytest.mark.parametrize(
    ("line", "code", "says"),
    [
        ("study new memgui-a7 --runs all", 2, "field raters: there is none"),
        ("study new success --runs all --raters A!,B", 2, "'A!' is no study code"),
        ("study new success --runs all --raters A,B,A", 2, "--raters names A twice"),
        ("study new nope --runs all --raters A", 1, "'nope' is none of"),
        ("study protocols nope", 1, "'nope'"),
        ("tasks list nope", 1, "'nope'"),
        ("settings schema nope", 1, "'nope'"),
        ("runs redact --list --person D!", 2, "argument --person: 'D!' is no study code"),
        ("study rate trial --as D!", 2, "argument --person: 'D!' is no study code"),
        ("live usual_lunch", 2, "there is no terminal here"),
        ("agreement trial --open", 2, "there is no terminal here"),
        ("lab.db", 2, "`hitlab runs list --db lab.db`"),
        ("runs.csv", 1, "runs.csv"),
        ("labels list trial --rater R7", 1, "nobody of the code R7 answers in it. Its people are Ann, Bea."),
        ("labels list trial --rater Amn", 1, "did you mean Ann?"),
        ("tasks check mine.yaml none.yaml usual_lunch", 3, "none.yaml"),
        ("tasks check none.yaml twice.yaml", 1, "none.yaml"),
        ("tasks check twice.yaml", 1, "line 3: 'kind' stands twice"),
        ("tasks personas rosa none.yaml", 3, "none.yaml"),
        ("runs redact RUN --box 1 -5,-5,5,5", 2, "'-5,-5,5,5' is no box; write left,top,right,bottom in pixels"),
    ],
)
def test_the_table_holds(capsys: pytest.CaptureFixture[str], line: str, code: int, says: str) -> None:
    assert (called(line.replace("RUN", RUNS[0].id)), line) == (code, line)
    assert says in capsys.readouterr().err


def test_the_good_files_are_listed_beside_the_bad_one(capsys: pytest.CaptureFixture[str]) -> None:
    assert called("tasks check mine.yaml none.yaml usual_lunch") == 3
    lines = capsys.readouterr().out.splitlines()
    assert [line.split(" ")[0] for line in lines[1:3]] == ["mine", "usual_lunch"]


@pytest.mark.parametrize(
    ("command", "text", "line"),
    [
        ("labels add trial FILE --person Ann", '{"unit": "x", "field": "outcome", "unit": "y"}', ""),
        ("study new success --name g --runs all --raters A --gold FILE", GOLD, "line 3: "),
        ("runs metrics --marks FILE", '{"run": "x", "run": "\\u00e9"}', ""),
    ],
)  # fmt: skip
def test_a_key_that_stands_twice_in_json_is_refused_with_its_line(
    capsys: pytest.CaptureFixture[str], command: str, text: str, line: str
) -> None:
    Path("file.json").write_text(text)
    assert called(command.replace("FILE", "file.json")) in (1, 2)
    printed = capsys.readouterr()
    assert "stands twice in one object" in printed.err + printed.out
    assert line in printed.err + printed.out


def test_a_copy_that_was_cut_short_is_not_already_there(capsys: pytest.CaptureFixture[str]) -> None:
    assert called("live usual_lunch --headless --db one.db") == 0
    assert called("export --all --output out --db one.db") == 0
    [file] = Path("out").rglob("run.jsonl")
    whole = file.read_bytes()
    assert called("import out --db two.db") == 0
    for cut in (len(whole) // 2, len(whole) - 30, 0):
        file.write_bytes(whole[:cut])
        capsys.readouterr()
        assert called("import out --db two.db") == 1
        assert ("is cut short" if cut else "is empty") in capsys.readouterr().err
    file.write_bytes(whole)
    assert called("import out --db two.db") == 0
    assert "1 already there" in capsys.readouterr().out


# -- the spellings of today -----------------------------------------------------------------------------------------


def earlier_options() -> Iterator[tuple[Parser, str, str]]:
    for words, _ in all_commands():
        parser = parser_of(words.split())
        for name, action in parser._option_string_actions.items():
            if action.option_strings and name not in action.option_strings:
                yield parser, name, action.option_strings[0]


def test_help_and_errors_name_the_options_of_today() -> None:
    earlier = [*earlier_options()]
    assert {("--as", "--person"), ("--even-so", "--force"), ("--on", "--cluster")} <= {pair[1:] for pair in earlier}
    for parser, name, today in earlier:
        help = parser.format_help()
        assert f"{name} " not in help.replace("\n", " "), (parser.prog, name)
        assert today in help


def test_no_sentence_of_the_program_names_an_option_of_earlier_versions() -> None:
    import ast
    import re

    today = {option for words, _ in all_commands() for action in parser_of(words.split())._actions
             for option in action.option_strings}  # fmt: skip
    earlier = {name for _, name, _ in earlier_options()} - today
    named = re.compile(rf"(?<![\w-])({'|'.join(map(re.escape, sorted(earlier)))})(?![\w-])")
    root = Path(__file__).parents[3]
    for folder in ("lab", "screens", "store", "simulators", "annotators"):
        for path in (root / folder).rglob("*.py"):
            tree = ast.parse(path.read_text(encoding="utf-8"))
            # The declaration of an option names its earlier spellings.
            declared = {id(part) for call in ast.walk(tree) if isinstance(call, ast.Call)
                        and getattr(call.func, "id", "") in ("option", "flag") for part in call.args}  # fmt: skip
            for node in ast.walk(tree):
                if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in declared:
                    assert not named.search(node.value), f"{path}:{node.lineno}: {node.value[:100]}"
    for path in [*(root / "docs" / "guides").glob("*.md"), root / "README.md"]:
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            if "keep working" not in line and "The names of earlier versions" not in line:
                assert not named.search(line), f"{path}:{number}: {line}"
