"""The command protocols: list them, print one, or check a file."""

from __future__ import annotations

import re
import sys

import msgspec

from annotators.protocols import file_of, names, protocol, protocols
from lab.cli.arguments import Parser, TableArguments, argument, flag, option
from lab.cli.output import print_line, print_result, print_table, record_of, warn
from lab.core.errors import LabError
from lab.core.study.option_sets import count_words
from lab.core.study.protocol import Field, Option, Protocol
from lab.core.task.practice import Practice
from lab.core.text.plain_text import plain
from lab.core.values.rounding import count
from lab.studies.rating.practice import check_practice

_SHORT = 8
"""Characters of a hash to show."""


_OF = {
    "unit": "the whole",
    "tdg nodes": "each item of the graph",
    "information units": "each piece of information",
    "branches": "each decision",
    "criteria": "each criterion",
    "steps": "each step",
    "items": "each item that differs",
}
"""Words for a protocol's targets."""
_MARK = re.compile(r"(?:- |[0-9]+\. |[·-] )?")
"""Bullet or number at the start of a line."""


class ProtocolLine(msgspec.Struct, frozen=True):
    """One protocol in a list: `study protocols`. `sha` is its version, which does not depend on its guideline."""

    id: str
    title: str
    unit: str
    targets: str
    fields: tuple[str, ...]
    shows: tuple[str, ...]
    sha: str
    source: str


class ProtocolShown(msgspec.Struct, frozen=True):
    """One whole protocol: `study protocols NAME`. `guides` are the versions of its guideline by locale."""

    sha: str
    guides: dict[str, str]
    protocol: Protocol


class ProtocolsArguments(TableArguments):
    name: str | None = argument(
        "NAME", "print one whole protocol, by its name or YAML file", nargs="?", completes="protocol"
    )
    locale: str = option("LOCALE", "print it in this language: en or zh (default: en)", default="en")
    yaml: bool = flag("print its YAML file, to begin one of your own from", one_of="form")

    def table_lines(self) -> str:
        return "" if self.name is None and not self.yaml else "`hitlab study protocols` without a name"


def add_study_protocols(parser: Parser) -> None:
    parser.runs(
        list_protocols, ProtocolsArguments, prints={"protocols": list[ProtocolLine], "protocols-show": ProtocolShown}
    )
    parser.examples(
        """\
  hitlab study protocols               every protocol, and its subject
  hitlab study protocols tdg           its guideline, questions and answers
  hitlab study protocols success --yaml > mine.yaml    a copy to change
  hitlab study protocols mine.yaml     checks a protocol of yours
""",
    )


def list_protocols(args: ProtocolsArguments) -> int:
    """List the built-in protocols, or print the named one."""
    if args.yaml:
        return _print_file(args.name)
    if args.name is not None:
        one = protocol(args.name)
        if args.name not in names():
            check_practice(one)
        return _show(one, args.locale, as_json=args.json)
    lines = [_protocol_line(one, args.locale) for one in protocols().values()]
    print_result(lines, _print_list, json=args.json)
    return 0


def _print_list(lines: list[ProtocolLine]) -> None:
    rows = [
        [line.id, line.unit, _OF[line.targets], ", ".join(line.fields), line.sha[:_SHORT], line.title, line.source]
        for line in lines
    ]
    print_table(["protocol", "of a", "asked of", "fields", "version", "title", "source"], rows, wide="title")


def _print_file(name: str | None) -> int:
    """Print a protocol's file unchanged, with its comments."""
    if name is None:
        raise LabError(
            "protocols", "--yaml needs the NAME of a protocol.", "`hitlab study protocols` lists them.", code=2
        )
    protocol(name)
    for line in file_of(name).read_text(encoding="utf-8").splitlines():
        print_line(line)
    return 0


def _protocol_line(protocol: Protocol, locale: str) -> ProtocolLine:
    title = protocol.word(locale, "title", protocol.title)
    return record_of(ProtocolLine, protocol, title=title, fields=tuple(field.id for field in protocol.fields))


def _show(protocol: Protocol, locale: str, *, as_json: bool) -> int:
    result = ProtocolShown(protocol.sha, {name: protocol.guide_sha(name) for name in protocol.guide}, protocol)
    print_result(result, lambda _: _print_protocol(protocol, locale), json=as_json)
    return 0


def _print_protocol(protocol: Protocol, locale: str) -> None:
    locales = {"en", *protocol.guide, *protocol.words}
    if locale not in locales and locale.partition("-")[0] not in locales:
        warn(f"{protocol.id} is not there in {locale}; it is in {', '.join(sorted(locales))}.")
    print_line(protocol.word(locale, "title", protocol.title))
    print_line(f"  {protocol.id}, version {protocol.sha[:_SHORT]}" + f"; {protocol.source}" * bool(protocol.source))
    print_line(
        f"  asked of a {protocol.unit}" + ("" if protocol.targets == "unit" else f", of {_OF[protocol.targets]}")
    )
    print_line(f"  shown before handing in: {', '.join(protocol.shows) or 'the texts alone'}")
    for words in _describe_rules(protocol):
        print_line(f"  {words}")
    for field in protocol.fields:
        _print_field(protocol, field, locale)
    if protocol.practice is not None:
        print_line("")
        print_line(f"Practice before the first item: {_describe_practice(protocol, protocol.practice)}")
    if protocol.reasons:
        print_line("")
        print_line("Reasons that are offered for settling")
        for id, words in protocol.reason_words(locale).items():
            _print_block(f"{id}  {words}", 2, hang=len(id) + 2)
    if protocol.guide:
        print_line("")
        print_line(f"Guideline, version {protocol.guide_sha(locale)[:_SHORT]}")
        _print_block(protocol.guideline(locale), 2)


def _describe_practice(protocol: Protocol, practice: Practice) -> str:
    """Describe the practice item without revealing the right answers."""
    runs = ", ".join(run.task + f" ({run.playbook})" * bool(run.playbook) for run in practice.runs)
    return f"{'run of ' * bool(runs)}{runs or protocol.unit}, {count(len(practice.answers), 'answer')} told to be right"


def _describe_rules(protocol: Protocol) -> list[str]:
    rules = {
        "only failed runs are asked about": protocol.only_failed,
        "each is rated beside another run of its task, by the person who made that one": protocol.reference,
        "there is no going back to what was handed in": protocol.forward,
    }
    return [words for words, holds in rules.items() if holds]


def _print_field(protocol: Protocol, field: Field, locale: str) -> None:
    print_line("")
    key = f"[{field.key}] " if field.key else ""
    print_line(f"{key}{protocol.word(locale, field.id, field.ask)} ({field.id}: {', '.join(_field_kind(field))})")
    hint = protocol.hint(locale, field)
    if hint:
        _print_block(hint, 4)
    for choice in field.options:
        _print_option(protocol, field, choice, locale)


def _field_kind(field: Field) -> list[str]:
    parts: list[str] = [field.kind]
    if field.least is not None and field.most is not None:
        parts.append(f"{field.least:g} to {field.most:g}" + (f" by {field.step:g}" if field.step else ""))
    if field.kind == "many":
        parts = [f"many, {count_words(field)}"]
    parts += ["of the whole"] * (field.per == "unit") + ["may stay empty"] * (not field.required)
    parts += [f"only where {field.show_if}"] * bool(field.show_if)
    parts += [f"in the order of options after {field.after}"] * bool(field.after)
    return parts + ["with the step"] * field.evidence + ["sides shuffled"] * field.sided


def _print_option(protocol: Protocol, field: Field, option: Option, locale: str) -> None:
    place = f"{field.id}.{option.id}"
    key = option.key or "-"
    caption = protocol.word(locale, place, option.display_name)
    means = protocol.word(locale, f"{place}.means", option.means)
    id = f" ({option.id})" if caption != option.id else ""
    _print_block(f"{key}  {caption}{id}" + f": {means}" * bool(means), 4, hang=3)
    for case in protocol.cases(locale, field, option):
        _print_block(f"· {case}", 9)


def _print_block(text: str, indent: int, *, hang: int = 0) -> None:
    """Print text folded to the terminal. Following lines are indented below the first one's words."""
    from rich.cells import cell_len
    from rich.console import Console
    from rich.text import Text

    console = Console(highlight=False, width=None if sys.stdout.isatty() else 120)
    for line in plain(text).splitlines():
        match = _MARK.match(line)
        mark = match[0] if match else ""
        start, rest = indent + len(mark), line[len(mark) :]
        room = max(20, console.width - start - hang)
        parts = Text(rest).wrap(console, room) if cell_len(rest) > room else [Text(rest)]
        for place, part in enumerate(parts):
            lead = " " * (start + hang) if place else " " * indent + mark
            print_line((lead + part.plain).rstrip())
