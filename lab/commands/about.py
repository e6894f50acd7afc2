"""Commands about the lab itself: what comes with it, where things are, whether this machine can do it, schemas."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from lab.errors import LabError
from lab.output import Finding, PersonaLine, Places, TaskLine, print_json, say, schemas
from lab.settings import database, folder, load, settings_file
from lab.tables import print_table
from lab.task import find_log, load_log
from simulators import library


def tasks(args: argparse.Namespace) -> int:
    """The built-in tasks, or the task files named."""
    lines = []
    for name, path in _named(args.files, library.tasks()):
        task = library.task(name)
        lines.append(
            TaskLine(
                id=task.id,
                kind=task.kind,
                title=task.shown,
                instruction=task.instruction,
                persona=task.persona,
                budget=task.budget,
                checks=len(task.checks),
                nodes=len(task.tdg.walk()),
                units=len(task.units),
                path=str(path),
            )
        )
    if args.json:
        print_json(lines)
    else:
        rows = [[line.id, line.kind, line.title, line.persona or "-", line.instruction or "(none)"] for line in lines]
        print_table(["task", "kind", "title", "persona", "instruction"], rows, wide="instruction")
    return 0


def personas(args: argparse.Namespace) -> int:
    """The built-in personas, or the profiles named."""
    lines = []
    for name, path in _named(args.files, library.personas()):
        persona = library.persona(name, "none")
        identity: dict[str, Any] = persona.facts.get("identity") or {}
        lines.append(
            PersonaLine(
                id=persona.id,
                name=persona.name,
                occupation=str(identity.get("occupation", "")),
                clean=_entries(path, "clean"),
                noise=_entries(path, "noise"),
                path=str(path),
            )
        )
    if args.json:
        print_json(lines)
    else:
        rows = [[line.id, line.name, line.occupation, str(line.clean or "-"), str(line.noise or "-")] for line in lines]
        print_table(["persona", "name", "occupation", "log", "noisy log"], rows, wide="occupation")
    return 0


def _named(files: list[str], known: dict[str, Path]) -> list[tuple[str, Path]]:
    return [(file, known.get(file, Path(file))) for file in files] or list(known.items())


def _entries(profile: Path, source: Any) -> int | None:
    try:
        path = find_log(profile, source)
    except LabError:
        return None  # a profile may come without a history
    return len(load_log(path))


def where(args: argparse.Namespace) -> int:
    """Where everything is kept, whether it is there yet or not."""
    settings = load(db=getattr(args, "db", None))
    places = Places(
        db=str(database(settings)),
        settings=str(settings_file()),
        cache=str(folder("cache")),
        tasks=str(library.HERE / "tasks"),
        personas=str(library.HERE / "personas"),
    )
    if args.json:
        print_json(places)
    else:
        for name in places.__struct_fields__:
            path = getattr(places, name)
            say(f"{name:9} {path}" + ("" if Path(path).exists() else "  (not there yet)"))
    return 0


def doctor(args: argparse.Namespace) -> int:
    """What was looked at, what was found, what to do; exit 3 where something needs doing."""
    from lab.commands.examining import examine

    findings: list[Finding] = examine(load(db=getattr(args, "db", None)))
    if args.json:
        print_json(findings)
    else:
        for finding in findings:
            _tell(f"{'✓' if finding.ok else '✗'} {finding.name:10} ", finding.found)
            if finding.do:
                _tell(f"  {'':10} ", finding.do)
    return 0 if all(finding.ok for finding in findings) else 3


def _tell(first: str, text: str) -> None:
    """A line; on a terminal what goes beyond its width stands below, under the text."""
    import shutil
    import sys
    import textwrap

    width = shutil.get_terminal_size().columns if sys.stdout.isatty() else 1000
    rest = " " * len(first)
    say(
        textwrap.fill(
            first + text, max(40, width), subsequent_indent=rest, break_long_words=False, break_on_hyphens=False
        )
    )


def schema(args: argparse.Namespace) -> int:
    """The JSON Schema of one input or output, or the list of their names."""
    known = schemas()
    if args.name is None:
        names = [*known, "persona"]
        if args.json:
            print_json(sorted(names))
        else:
            say("\n".join(sorted(names)))
        return 0
    if args.name == "persona":
        print_json(_profile_schema())
    elif args.name in known:
        import msgspec

        schema = msgspec.json.schema(known[args.name])
        if args.name in _FILES:
            _named_by_its_file(schema)
        print_json({"$schema": "https://json-schema.org/draft/2020-12/schema", "title": args.name} | schema)
    else:
        raise LabError("schema", f"there is none named {args.name!r}; {', '.join(sorted([*known, 'persona']))}", code=2)
    return 0


_FILES = ("task", "script")
"""Inputs whose `id` is the file's own name where it is not written."""


def _named_by_its_file(schema: dict[str, Any]) -> None:
    struct = schema["$defs"][schema["$ref"].rpartition("/")[2]]
    struct["required"] = [name for name in struct["required"] if name != "id"]
    if not struct["required"]:
        del struct["required"]


def _profile_schema() -> dict[str, Any]:
    """KnowU-Bench's profile as far as it is required; what a profile adds is its own."""
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
