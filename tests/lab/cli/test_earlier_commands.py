"""The command line of nouns: a short list, groups that print their help, and every command of earlier versions."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from lab.cli.arguments import Command, Parser
from lab.cli.commands import COMMANDS, Noun, all_commands, earlier_names
from lab.cli.main import main
from lab.cli.parsers import build_parser

EARLIER: dict[str, list[str]] = json.loads(Path(__file__).with_name("earlier_options.json").read_text("utf-8"))
"""Each command of version 0.2 and before, with its options."""
NOW = {
    "demo": "demo", "live": "live", "run": "run", "fork": "runs fork", "record": "record", "replay": "replay",
    "traces": "traces", "runs": "runs list", "tag": "runs tag", "rename-agent": "runs rename-agent",
    "archive": "runs archive", "restore": "runs restore", "show": "runs show", "compare": "runs compare",
    "family": "runs family", "metrics": "runs metrics", "read": "runs ocr", "review": "runs review",
    "privacy": "runs redact", "author": "tasks design", "protocols": "study protocols", "serve": "serve study",
    "answer": "serve user", "label": "labels add", "judge": "judge", "labels": "labels list",
    "adjudicate": "labels adjudicate", "agreement": "agreement", "raters": "study raters", "report": "report",
    "withdraw": "file withdraw", "import": "import", "export": "export", "merge": "file merge", "pack": "file pack",
    "devices": "devices", "phone": "serve phone", "tasks": "tasks list", "personas": "tasks personas",
    "where": "file where", "keys": "settings keys", "doctor": "settings doctor", "schema": "settings schema",
    "completion": "settings completion", "device scrcpy": "settings scrcpy", "study new": "study new",
    "study extend": "study extend", "study deal": "study deal", "study status": "study status",
    "study watch": "study watch", "study show": "study show", "study open": "study rate", "study play": "study play",
    "study runs": "study runs", "study lock": "study lock", "study archive": "study archive",
    "study restore": "study restore", "study replace": "study replace", "study release": "study release",
    "study links": "study links", "study kit": "study kit export", "study take": "study kit import",
}  # fmt: skip
"""What to type now, by what was typed in earlier versions."""
MOVED = {old: new for old, new in NOW.items() if old != new}


def parser_of(words: list[str]) -> Parser:
    """Return the parser that reads the rest of a line which begins with these words and goes on."""
    parser = build_parser()
    while parser.subcommands:
        found = parser.subcommands.get(words[0]) if words else None
        if found is None:
            assert parser.default_verb
            words = [parser.default_verb, *words]
            continue
        assert isinstance(found, Command)
        parser, words = found.parser(), words[1:]
    return parser


def test_the_table_has_every_earlier_command() -> None:
    assert NOW.keys() == EARLIER.keys()
    listed = {words for words, _ in all_commands()}
    assert {*NOW.values()} - listed == {"traces"}
    assert earlier_names().items() <= NOW.items()


@pytest.mark.parametrize("old", EARLIER)
def test_an_earlier_command_takes_all_that_it_took(old: str) -> None:
    earlier, now = parser_of(old.split()), parser_of(NOW[old].split())
    assert earlier.prog == now.prog == f"hitlab {NOW[old]}"
    assert earlier._option_string_actions.keys() >= {*EARLIER[old]}
    assert earlier.takes is now.takes


def shown(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str]:
    try:
        code = main(words)
    except SystemExit as left:
        code = int(left.code or 0)
    return code, capsys.readouterr().out


def test_the_first_help_is_short_and_lists_no_earlier_name(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    code, help = shown(capsys, "--help")
    lines = re.findall(
        r"^  ([a-z][a-z-]*)  ", help.partition("\noptions:\n")[2].partition("\nexit codes:")[0], re.MULTILINE
    )
    assert code == 0
    assert lines == [word.name for word in COMMANDS]
    assert len(lines) <= 20
    assert re.findall(r"^  (\d+)  ", help, re.MULTILINE) == ["0", "1", "2", "3", "130"]


NOUNS = [word for word in COMMANDS if isinstance(word, Noun)]


@pytest.mark.parametrize("noun", NOUNS, ids=lambda noun: noun.name)
def test_a_noun_alone_prints_its_help(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path, noun: Noun
) -> None:
    for kind in ("DATA", "CONFIG", "CACHE"):
        monkeypatch.setenv(f"XDG_{kind}_HOME", str(tmp_path))
    code, printed = shown(capsys, noun.name)
    assert (code, printed.startswith(f"usage: hitlab {noun.name} ")) == (0, True)
    assert shown(capsys, noun.name, "--help")[1] in printed
    for verb in noun.verbs:
        assert re.search(rf"^  {verb.name}  ", printed, re.MULTILINE), verb.name
    if noun.name == "study":
        assert shown(capsys, "study", "kit")[1].startswith("usage: hitlab study kit ")


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> str:
    """A file with a run, in the working folder."""
    monkeypatch.chdir(tmp_path)
    for kind in ("DATA", "CONFIG", "CACHE"):
        monkeypatch.setenv(f"XDG_{kind}_HOME", str(tmp_path / kind))
    assert main(["demo", "--headless", "--db", "lab.db"]) == 0
    capsys.readouterr()
    return "lab.db"


LINES = [
    ("show usual_lunch", "runs show usual_lunch"),
    ("runs usual --sort steps-", "runs list usual --sort steps-"),
    ("runs -status:failed", "runs list -status:failed"),
    ("tag", "runs tag"),
    ("metrics --paper pspa", "runs metrics --paper pspa"),
    ("family usual_lunch", "runs family usual_lunch"),
    ("tasks usual_lunch", "tasks list usual_lunch"),
    ("tasks usual_lunch", "tasks check usual_lunch"),
    ("personas", "tasks personas"),
    ("protocols tdg", "study protocols tdg"),
    ("where", "file where"),
    ("keys", "settings keys"),
    ("schema task", "settings schema task"),
    ("completion bash", "settings completion bash"),
    ("author --list", "tasks design --list"),
    ("review --list", "runs review --list"),
    ("privacy --list", "runs redact --list"),
    ("labels nosuch", "labels list nosuch"),
    ("serve --study nosuch", "serve study nosuch"),
    ("answer --list", "serve user --list"),
    ("raters nosuch", "study raters nosuch"),
    ("withdraw P07 --show", "file withdraw P07 --show"),
]


@pytest.mark.parametrize(("old", "new"), LINES)
def test_an_earlier_line_prints_the_same(capsys: pytest.CaptureFixture[str], file: str, old: str, new: str) -> None:
    # The list of schemas and the completion script need no database, and take none.
    for more in ([], ["--json"]) if not old.startswith("serve") else ([],):
        printed = []
        for line in (old, new):
            code = main([*line.split(), *more, "--db", file])
            printed.append((code, *capsys.readouterr()))
        assert printed[0] == printed[1], old


def test_a_file_may_be_named_before_the_verb(capsys: pytest.CaptureFixture[str], file: str) -> None:
    for line in ("--db lab.db runs show usual_lunch", "runs --db lab.db show usual_lunch",
                 "runs --db=lab.db show usual_lunch", "runs show usual_lunch --db lab.db"):  # fmt: skip
        assert main(line.split()) == 0
        assert "agent asks" in capsys.readouterr().out


@pytest.mark.parametrize(("line", "meant"), [("runs shwo", "show"), ("labels lst", "list"), ("tasks chekc", "check"),
                                             ("runs delete 019a", "archive"), ("serve usr", "user")])  # fmt: skip
def test_a_mistyped_verb_is_refused_with_the_right_one(
    capsys: pytest.CaptureFixture[str], file: str, line: str, meant: str
) -> None:
    with pytest.raises(SystemExit, match="2"):
        main([*line.split(), "--db", file])
    noun, word, *_ = line.split()
    default = next(one.default for one in NOUNS if one.name == noun)
    error = capsys.readouterr().err
    assert f"there is no {word!r}; did you mean {meant}?" in error
    assert f"`hitlab {noun} {default} {word}`" in error


def test_a_word_that_no_run_has_is_pointed_out(capsys: pytest.CaptureFixture[str], file: str) -> None:
    assert main(["runs", "zzzzzz", "--db", file]) == 0
    printed = capsys.readouterr()
    assert printed.out.startswith("0 of ")
    assert "`hitlab runs --help` lists the verbs of runs" in printed.err


@pytest.mark.parametrize(
    ("line", "says"),
    [("study list", "did you mean status?"), ("study create", "did you mean new?"),
     ("study success", "The name of a study follows a verb: `hitlab study status success`."),
     ("runs help", "`hitlab runs --help` lists what is.")],
)  # fmt: skip
def test_a_verb_that_a_noun_lacks_leads_to_the_right_one(
    capsys: pytest.CaptureFixture[str], line: str, says: str
) -> None:
    with pytest.raises(SystemExit, match="2"):
        main(line.split())
    error = capsys.readouterr().err
    assert says in error
    assert error.count("--help") == 1, "the help is named once"


def test_a_positional_of_today_stands_beside_an_option_of_earlier_versions(
    capsys: pytest.CaptureFixture[str], file: str
) -> None:
    pairs: dict[str, Any] = {
        "study lock nosuch --force": "study lock nosuch --even-so",
        "runs show nosuch": "show nosuch",
        "study replace nosuch R1 --successor R2": "study replace nosuch R1 --by R2",
        "labels adjudicate nosuch --list --person D1": "adjudicate nosuch --list --as D1",
        "runs metrics --group-by agent": "metrics --by agent",
    }
    for new, old in pairs.items():
        said = [(main([*line.split(), "--db", file]), *capsys.readouterr()) for line in (new, old)]
        assert said[0] == said[1]
