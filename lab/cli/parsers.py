"""The parsers of the command line, built from `lab.cli.commands`, and the first help."""

from __future__ import annotations

import argparse
from importlib import import_module

from lab.cli.arguments import Command, Parser, as_written
from lab.cli.commands import COMMANDS, EARLIER, HEADINGS, SUCCESSORS, Entry, Noun, all_commands, earlier_names

# Not from `typing`, whose import --help would pay for. Type checkers know the name.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

EXIT_CODES = """\
exit codes:
  0    done, whatever the score
  1    refused, or below a limit (run --fail-under, judge --gate)
  2    usage: the command line is wrong; nothing was done
  3    done in part: some files, rows or runs failed or were not done
  130  interrupted with Ctrl+C

"""
EXAMPLES = """\
examples:
  hitlab                                the lab itself: runs, tasks, devices
  hitlab demo                           one episode; you are the user
  hitlab live task.yaml --device R58M   a task on your own phone, over adb
  hitlab run --all --attempts 3         an agent over every task: pass@k
  hitlab import runs/ --db study.db     the runs you have, of fifteen formats
  hitlab replay 019a@7                  a run, opened at step 7
  hitlab runs metrics --group-by agent  the five papers' numbers, with their n
  hitlab agreement tdg                  how far the raters of a study agree
"""


def build_parser() -> Parser:
    """Return the parser with every command by name and help. A typed command adds its own arguments."""
    parser = Parser(
        prog="hitlab",
        description="A terminal lab for the humans in the loop of mobile GUI agents.\n"
        "`hitlab COMMAND --help` says what a command takes, with examples.",
        epilog=EXIT_CODES + EXAMPLES,
        formatter_class=as_written,
    )
    parser.add_argument("--version", action=_Version, nargs=0, help="print the version and exit")
    parser.database()
    parser.window()
    _add_words(parser, "COMMAND", COMMANDS, HEADINGS, ())
    return parser


def _add_words(
    parser: Parser, metavar: str, words: Sequence[Entry | Noun], headings: dict[str, str], path: tuple[str, ...]
) -> None:
    """Add words to a parser, each listed under the last heading before it, and the names of earlier versions."""
    subparsers = parser.add_subparsers(metavar=metavar, parser_class=Command)
    section = parser.add_argument_group("commands")
    for word in words:
        if word.name in headings:
            section = parser.add_argument_group(headings[word.name])
        command = subparsers.add_parser(word.name, help=word.help, description=word.help)
        command.fill = _filler(word, (*path, word.name))
        # argparse has no headings for subcommands: the last pseudo-action goes into the section's group.
        section._group_actions += subparsers._choices_actions[-1:]
    _add_earlier_names(parser, subparsers, path)


def _filler(word: Entry | Noun, path: tuple[str, ...]) -> Callable[[Parser], None]:
    def fill(parser: Parser) -> None:
        if isinstance(word, Noun):
            parser.examples(word.examples)
            parser.become_noun(word.default, _function(word.bare) if word.bare else None)
            parser.tries, parser.name_hint = word.tries, word.name_hint
            _add_words(parser, "VERB", word.verbs, word.headings, path)
        else:
            module, _, name = word.module.partition(":")
            _function(f"{module}:{name or 'add_' + '_'.join(path).replace('-', '_')}")(parser)

    return fill


def _function(name: str) -> Callable[..., None]:
    """Return the function `module:name`. It is imported when it is called."""
    module, _, function = name.partition(":")
    return lambda *args: getattr(import_module(f"lab.cli.{module}"), function)(*args)


def _add_earlier_names(parser: Parser, subparsers: argparse._SubParsersAction[Command], path: tuple[str, ...]) -> None:
    """Add the commands of earlier versions to a parser, listed nowhere, and the suggestions for unknown words."""
    listed = dict(subparsers.choices)
    entries: dict[str, Entry | Noun] = {**dict(all_commands())}
    before = "".join(f"{word} " for word in path)
    earlier = {old: (new, entries[new]) for old, new in earlier_names().items()}
    if not path:
        earlier |= {word.name: (word.name, word) for word in EARLIER}
    for old, (new, word) in earlier.items():
        name = old.removeprefix(before)
        if old.startswith(before) and " " not in name:
            command = Command(prog=f"hitlab {new}", description=word.help)
            command.fill = _filler(word, tuple(new.split()))
            subparsers._name_parser_map[name] = command
    # What is listed, completed and suggested are the names of today.
    subparsers.choices = listed
    last_words = {words.rpartition(" ")[2]: words for words in entries}
    parser.elsewhere = {**last_words, **earlier_names(), **SUCCESSORS}
    parser.elsewhere |= parser.tries
    parser.verbs = [*listed]
    for name in listed:
        parser.elsewhere.pop(name, None)


class _Version(argparse.Action):
    """Looks up the version only on request, since that import is slow."""

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        from importlib.metadata import version

        print(f"hitlab {version('hitlab')}", flush=True)
        parser.exit()
