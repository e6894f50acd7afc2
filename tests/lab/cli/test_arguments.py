"""What every argument of every command refuses: an empty word, and a number beyond what can be meant."""

from __future__ import annotations

import argparse
import os
import pty
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from lab.cli.arguments import Command, Parser
from lab.cli.main import main
from lab.cli.parsers import build_parser
from store.store import Store

LONG = "9" * 5000
TOO_MUCH = ("9" * 40, "-" + "9" * 40, LONG, "1e400", "nan", "inf", "x" * 5000)
MAY_BE_EMPTY = {"--edit", "--settle"}
"""What clears a field that is edited."""


def arguments(parser: argparse.ArgumentParser, *path: str) -> Iterator[tuple[tuple[str, ...], argparse.Action, Parser]]:
    """Every argument that takes a word, with the command that takes it."""
    parser = parser.parser() if isinstance(parser, Command) else parser
    assert isinstance(parser, Parser)
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for name, command in action.choices.items():
                yield from arguments(command, *path, name)
        elif action.nargs != 0:
            yield path, action, parser


ALL = list(arguments(build_parser()))
NAMED = {
    f"{' '.join(path)} {'/'.join(action.option_strings) or action.dest}": (path, action) for path, action, _ in ALL
}


SAYING = [name for name, (_, action) in NAMED.items() if not MAY_BE_EMPTY & {*action.option_strings}]


def refused(capsys: pytest.CaptureFixture[str], path: tuple[str, ...], action: argparse.Action, word: str) -> str:
    """What is said where that word stands for an argument; nothing else of the command is typed."""
    count = action.nargs if isinstance(action.nargs, int) else 1
    before = [action.option_strings[-1]] if action.option_strings else []
    words = [f"{before[0]}={word}"] if before and count == 1 else [*before, *["0"] * (count - 1), word]
    with pytest.raises(SystemExit) as ended:
        main([*path, *words])
    out, said = capsys.readouterr()
    assert (ended.value.code, out) == (2, "")
    return said


def test_there_are_as_many_as_there_are() -> None:
    assert len(ALL) > 280


@pytest.mark.parametrize("name", SAYING)
def test_an_empty_word_is_not_taken_for_none(capsys: pytest.CaptureFixture[str], name: str) -> None:
    path, action = NAMED[name]
    for word in ("", "  ", *([] if takes_text(action) else [",", " , "])):
        said = refused(capsys, path, action, word)
        assert "says nothing; leave it out, or say what is meant" in said
        assert len(said.splitlines()) == 2


def takes_text(action: argparse.Action) -> bool:
    return getattr(action.type, "__name__", "") == "typed_words"


def is_number(action: argparse.Action) -> bool:
    def reads(word: str) -> Any:
        try:
            return action.type(word) if callable(action.type) else word
        except (ValueError, argparse.ArgumentTypeError):
            return word

    return any(isinstance(reads(word), int | float) for word in ("1", "1d"))


NUMBERS = [name for name, (_, action) in NAMED.items() if is_number(action)]


@pytest.mark.parametrize("name", NUMBERS)
def test_a_number_beyond_what_can_be_meant_is_a_sentence(capsys: pytest.CaptureFixture[str], name: str) -> None:
    """The sentence comes first, and is short however much was typed."""
    path, action = NAMED[name]
    for word in TOO_MUCH:
        said = refused(capsys, path, action, word)
        assert action.option_strings[-1] in said.splitlines()[0]
        assert len(said) < 500
        assert said.splitlines()[1].endswith("--help` says what it takes.")


def test_every_number_has_a_bound() -> None:
    assert len(NUMBERS) > 40
    assert [name for name, (_, action) in NAMED.items() if action.type in (int, float)] == []


@pytest.mark.parametrize("command", [("show",), ("replay",), ("study", "show"), ("compare", "x"), ("withdraw",)])
@pytest.mark.parametrize("word", ["a" * 5000, "a b " * 2000], ids=["word", "words"])
def test_a_long_name_that_is_none_is_not_told_whole(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, command: tuple[str, ...], word: str
) -> None:
    with Store.open(tmp_path / "lab.db"):
        pass
    assert main([*command, word, "--db", str(tmp_path / "lab.db")]) in (1, 2)
    assert len(capsys.readouterr().err) < 700


@pytest.mark.parametrize(
    "words",
    ["adjudicate trial --as r1", "answer --links --as r1", "answer --links --as P1,p1",
     "study replace trial R1 --by r2", "record usual_lunch --intent x --place y --as r1",
     "label trial rows.jsonl --as r1", "label trial rows.jsonl --as r1 --kind script", "author usual_lunch --as r1"],
)  # fmt: skip
def test_a_code_that_differs_by_capitals_is_not_another_person(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: str
) -> None:
    from tests.studies import frozen, unit

    monkeypatch.chdir(tmp_path)
    Path("rows.jsonl").write_text("{}\n")
    with Store.open(tmp_path / "lab.db") as store:
        frozen(store, [unit("u1")])
    assert main([*words.split(), "--db", "lab.db"]) in (1, 2)
    assert "but for capitals, and would be another person" in capsys.readouterr().err


@pytest.mark.parametrize("path", ["/dev/zero", "pipe"])
def test_a_file_without_an_end_is_refused(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, path: str
) -> None:
    from tests.studies import frozen, unit

    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HITLAB_SEAT", "designer")
    os.mkfifo("pipe")
    with Store.open(tmp_path / "lab.db") as store:
        frozen(store, [unit("u1")])
    for words in (["label", "trial", path, "--as", "R1"], ["adjudicate", "trial", "--from", path, "--as", "D1"],
                  ["tasks", path], ["study", "new", "tdg", "--raters", "R1", "--items", path]):  # fmt: skip
        assert main([*words, "--db", "lab.db"]) == 1
        said = capsys.readouterr().err
        assert "is a device, not a file" in said or "is a pipe, and nobody may ever write into it" in said


@pytest.mark.parametrize("words", [[], ["live", "way_home"], ["study", "watch"]])
def test_a_dumb_terminal_is_painted_no_screen(tmp_path: Path, words: list[str]) -> None:
    with Store.open(tmp_path / "lab.db"):
        pass
    main_end, side = pty.openpty()
    env = {name: value for name, value in os.environ.items() if not name.startswith("HITLAB_")} | {"TERM": "dumb"}
    line = [sys.executable, "-m", "lab.cli", *words, "--db", str(tmp_path / "lab.db")]
    with subprocess.Popen(line, stdin=side, stdout=side, stderr=side, env=env, cwd=Path(__file__).parents[3]) as done:
        os.close(side)
        seen = b""
        while piece := _read(main_end):
            seen += piece
        done.wait()
    assert b"\x1b" not in seen
    assert len(seen.splitlines()) < 8
    if words != ["study", "watch"]:
        assert b"this terminal is called dumb and shows no screens" in seen


def _read(handle: int) -> bytes:
    try:
        return os.read(handle, 65536)
    except OSError:  # the other side is closed
        return b""
