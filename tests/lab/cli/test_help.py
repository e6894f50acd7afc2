"""`--help` of every command: how it is laid out, and lines to type that the command line takes."""

from __future__ import annotations

import argparse
import re
import shlex
from collections.abc import Iterator

import pytest

from lab.cli.arguments import Command, Parser
from lab.cli.commands import COMMANDS, HEADINGS, Noun, all_commands
from lab.cli.parsers import build_parser


def commands_of(parser: Parser) -> dict[str, Parser]:
    """The commands of a parser by their names, each with all that it takes."""
    found: dict[str, Parser] = {}
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for name, command in action.choices.items():
                assert isinstance(command, Command)
                found[name] = command.parser()
    return found


def tree(parser: Parser) -> Iterator[Parser]:
    """A parser and all below it."""
    yield parser
    for command in commands_of(parser).values():
        yield from tree(command)


PARSERS = {parser.prog: parser for parser in tree(build_parser())}
LEAVES = [prog for prog, parser in PARSERS.items() if not commands_of(parser)]


def examples_of(parser: Parser) -> list[str]:
    """The lines to type below a command's help, those that go on in the next one joined, without their comments."""
    lines = (parser.epilog or "").partition("examples:\n")[2].replace("\\\n", " ").splitlines()
    assert all(line.startswith("  ") for line in lines)
    return [re.split(r"(?<=\S)\s{2,}(?![-'\"])", line.strip())[0] for line in lines]


def typed_in(example: str) -> list[str]:
    """The words after `hitlab` in a line of a shell: of a pipe its part of hitlab, without where it writes to."""
    example = re.sub(r'^eval "\$\((.*)\)"$', r"\1", example)
    reader = shlex.shlex(example, posix=True, punctuation_chars="|>")
    reader.whitespace_split = True
    parts: list[list[str]] = [[]]
    for word in reader:
        if word in ("|", ">"):
            parts.append([])
        else:
            parts[-1].append(word)
    (words,) = [part for part in parts if part[:1] == ["hitlab"]]
    return words[1:]


def test_the_whole_tree_is_walked() -> None:
    assert sorted(LEAVES) == sorted(f"hitlab {words}" for words, _ in all_commands())
    assert {"hitlab", "hitlab study", "hitlab study kit", "hitlab study new", "hitlab settings keys"} <= {*PARSERS}


@pytest.mark.parametrize("prog", PARSERS)
def test_every_help_ends_with_lines_to_type(prog: str) -> None:
    examples = examples_of(PARSERS[prog])
    assert 1 <= len(examples) <= (4 if prog != "hitlab" else 8)
    assert any(["hitlab", *typed_in(line)][: len(prog.split())] == prog.split() for line in examples)


@pytest.mark.parametrize("prog", PARSERS)
def test_every_line_to_type_is_taken(prog: str) -> None:
    parser = build_parser()
    for example in examples_of(PARSERS[prog]):
        try:
            typed = parser.parse_args(typed_in(example))
        except SystemExit as left:
            pytest.fail(f"{prog}: {example}: exit {left.code}")
        assert hasattr(typed, "run") or example == "hitlab", example


@pytest.mark.parametrize("prog", PARSERS)
def test_help_fits_80_columns(prog: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """But for the usage, in which argparse breaks no group of which one alone may be given."""
    monkeypatch.setenv("COLUMNS", "80")
    lines = PARSERS[prog].format_help().partition("\n\n")[2].splitlines()
    assert lines
    assert [line for line in lines if len(line) > 80] == []


def test_each_command_stands_in_one_line_below_a_heading(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    told = build_parser().format_help()
    sections = told.partition("\noptions:\n")[2].partition("\nexit codes:")[0].split("\n\n")[1:]
    assert [section.partition(":\n")[0] for section in sections] == list(HEADINGS.values())
    lines = [line for section in sections for line in section.splitlines()[1:] if line]
    assert [re.split(" {2,}", line.strip()) for line in lines] == [[word.name, word.help] for word in COMMANDS]
    assert len({len(line) - len(line.split(maxsplit=1)[1]) for line in lines}) == 1  # one column of texts


def test_headings_are_those_of_commands() -> None:
    assert HEADINGS.keys() <= {word.name for word in COMMANDS}
    assert COMMANDS[0].name in HEADINGS
    for noun in (word for word in COMMANDS if isinstance(word, Noun)):
        assert noun.headings.keys() <= {verb.name for verb in noun.verbs}
        assert not noun.headings or noun.verbs[0].name in noun.headings


@pytest.mark.parametrize("prog", PARSERS)
def test_help_gives_examples_as_examples(prog: str) -> None:
    """`, as X` also means "in the role of X". Help says `(e.g. X)`, or `such as X`."""
    texts = [text for action in PARSERS[prog]._actions for text in (action.help, *_choice_helps(action)) if text]
    assert texts
    assert [text for text in texts if ", as " in text] == []


def _choice_helps(action: argparse.Action) -> list[str | None]:
    """The lines of help of the commands below a parser."""
    return (
        [choice.help for choice in action._get_subactions()] if isinstance(action, argparse._SubParsersAction) else []
    )
