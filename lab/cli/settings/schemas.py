"""The command schema: every input and output of hitlab as a JSON Schema."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import Any

import msgspec

from annotators.gold import GoldLine
from annotators.papers.marks import Marks
from annotators.plan import Plan
from lab.agents.process_lines import FromProgram, ToProgram
from lab.cli.arguments import Command, JsonArguments, Parser, argument
from lab.cli.commands import EARLIER, all_commands
from lab.cli.output import CommandRefusal, print_json_lines, print_line, print_result
from lab.cli.parsers import build_parser
from lab.core.errors import LabError
from lab.core.run.step import Action
from lab.core.run.trace import AnyEvent
from lab.core.settings import Settings
from lab.core.study.protocol import Protocol
from lab.core.task.design import Parts
from lab.core.task.playbook import PlaybookFile
from lab.core.task.task import LogEntry, Task
from lab.core.text.suggestion import did_you_mean, near_names
from simulators.users.scripted import Script
from store.formats.jsonl.reader import RunFileLine

_INPUTS: dict[str, Any] = {
    "task": Task,
    "playbook": PlaybookFile,
    "log": list[LogEntry],
    "marks": Marks,
    "script": Script,
    "settings": Settings,
    "event": AnyEvent,
    "run-file": RunFileLine,
    "agent-reads": ToProgram,
    "agent-writes": FromProgram,
    "action": Action,
    "design": Parts,
    "protocol": Protocol,
    "plan": Plan,
    "gold": GoldLine,
    "error": CommandRefusal,
}
"""Types of files, lines and events, by schema name."""


@cache
def schemas() -> dict[str, Any]:
    """Return the type of every input and output, by name. Each command's parser names what it prints."""
    types, parser = dict(_INPUTS), build_parser()
    for words in [*(words for words, _ in all_commands()), *(word.name for word in EARLIER)]:
        types |= {name: _type_of(printed) for name, printed in _parser_of(parser, words).prints.items()}
    return types


def _parser_of(parser: Parser, words: str) -> Parser:
    for word in words.split():
        command = parser.subcommands[word]
        assert isinstance(command, Command)
        parser = command.parser()
    return parser


def _type_of(printed: Any) -> Any:
    """Return a type that a command names: itself, or by `module:Name` or `list:module:Name`."""
    if not isinstance(printed, str):
        return printed
    kind = printed.partition(":")[0]
    module, _, name = printed.removeprefix("list:").partition(":")
    found = getattr(import_module(module), name)
    return list[found] if kind == "list" else found  # type: ignore[valid-type]  # known when it runs


def command_names() -> dict[str, str]:
    """Return the schema name by the name that a command's words make: `runs-redact-show` for `runs redact --show`.

    The names of earlier versions (`privacy-show`) are valid, too.
    """
    found, parser = dict[str, str](), build_parser()
    for words, entry in all_commands():
        printed, name = [*_parser_of(parser, words).prints], words.replace(" ", "-")
        stems = (name, *(was.replace(" ", "-") for was in entry.was), name.rpartition("-")[2])
        main = next((stem for stem in stems if stem in printed), printed[0] if printed else "")
        for one in printed:
            rest = one.removeprefix(main) if one.startswith(main) else f"-{one.rpartition('-')[2]}"
            found[name + rest] = one
    return found


def names() -> list[str]:
    """Return the sorted names of all schemas, by the words of today and of earlier versions."""
    return sorted({*schemas(), *command_names(), "persona"})


class SchemaArguments(JsonArguments):
    name: str | None = argument(
        "NAME", "print the schema of this name (default: list the names)", nargs="?", completes="schema"
    )


def add_settings_schema(parser: Parser) -> None:
    parser.runs(schema, SchemaArguments)
    parser.examples(
        """\
  hitlab settings schema               the names of all
  hitlab settings schema task > task.schema.json
  hitlab settings schema "runs list"   what `hitlab runs list --json` prints
"""
    )


def schema(args: SchemaArguments) -> int:
    """Print the JSON Schema of one input or output, or the list of names."""
    if args.name is None:
        print_result(names(), lambda all_names: print_line("\n".join(all_names)), json=args.json)
        return 0
    schema_types, title = schemas(), "-".join(args.name.split())
    name = title if title in schema_types else command_names().get(title, title)
    if name == "persona":
        print_json_lines(_profile_schema())
    elif name in schema_types:
        schema = msgspec.json.schema(schema_types[name])
        if name in _FILES:
            _make_id_optional(schema)
        print_json_lines({"$schema": "https://json-schema.org/draft/2020-12/schema", "title": title} | schema)
    else:
        near = [one for one in names() if one.endswith(f"-{title}")] or near_names(title, names())
        problem = f"there is none of the name {args.name!r}{did_you_mean(near[:3])}"
        raise LabError("settings schema", problem, "`hitlab settings schema` lists the names.")
    return 0


_FILES = ("task", "script")
"""Inputs whose `id` defaults to the file's name."""


# The reader fills in `id` before it decodes, so that the type requires what the file need not have.
def _make_id_optional(schema: dict[str, Any]) -> None:
    struct = schema["$defs"][schema["$ref"].rpartition("/")[2]]
    struct["required"] = [name for name in struct["required"] if name != "id"]
    if not struct["required"]:
        del struct["required"]


def _profile_schema() -> dict[str, Any]:
    """Return the schema of KnowU-Bench's profile, as far as hitlab requires it."""
    sections = ["locations", "digital_context", "habits", "preferences", "decision_criteria", "social_graph"]
    identity = {
        "type": "object",
        "properties": {"full_name": {"type": "string"}, "age": {"type": "integer"}, "occupation": {"type": "string"}},
    }
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "persona",
        "type": "object",
        "required": ["user_profile"],
        "properties": {
            "user_profile": {
                "type": "object",
                "required": ["identity"],
                "properties": {"identity": identity, **{name: {"type": "object"} for name in sections}},
            }
        },
    }
