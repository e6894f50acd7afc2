"""What commands print with --json, as shapes; `hitlab schema NAME` gives their JSON Schema."""

from __future__ import annotations

import sys
from typing import Any

import msgspec

from lab.task import Kind, LogEntry, Task
from lab.trace import AnyEvent, Ended, Started, Step, TraceLine, Verdict
from lab.wire import encode


class RunResult(msgspec.Struct, frozen=True):
    """How one run went: `demo` and `live`."""

    trace: str
    db: str
    status: str
    score: float | None
    steps: int
    questions: int
    replies: int


class TaskLine(msgspec.Struct, frozen=True):
    """One task in a list: `tasks`."""

    id: str
    kind: Kind
    title: str
    instruction: str
    persona: str
    budget: int
    checks: int
    nodes: int
    units: int
    path: str


class PersonaLine(msgspec.Struct, frozen=True):
    """One persona in a list: `personas`. `clean` and `noise` count the entries of its two logs, null where none."""

    id: str
    name: str
    occupation: str
    clean: int | None
    noise: int | None
    path: str


class ImportFailure(msgspec.Struct, frozen=True):
    """One place that could not be imported, and why."""

    path: str
    error: str


class ImportResult(msgspec.Struct, frozen=True):
    """What came in: `import`. `skipped` runs were there already."""

    imported: int
    skipped: int
    failed: tuple[ImportFailure, ...]


class Shown(msgspec.Struct, frozen=True):
    """One run, whole: `show`. `ended` is null while the run is open; `verdicts` are its source's own judgements."""

    id: str
    status: str
    score: float | None
    questions: int
    replies: int
    started: Started
    steps: tuple[Step, ...]
    ended: Ended | None
    verdicts: tuple[Verdict, ...]


class Packed(msgspec.Struct, frozen=True):
    """A copy that was made: `pack`."""

    db: str
    bytes: int
    images: bool


class Places(msgspec.Struct, frozen=True):
    """Where everything is kept: `where`."""

    db: str
    settings: str
    cache: str
    tasks: str
    personas: str


class Finding(msgspec.Struct, frozen=True):
    """One thing that was checked: `doctor`. `do` says what to do about it, empty where nothing needs doing."""

    name: str
    ok: bool
    found: str
    do: str


class Refused(msgspec.Struct, frozen=True):
    """Why a command with --json was refused (exit 1 or 2); what the command line's own reader refuses prints none."""

    error: str
    message: str
    hint: str


def schemas() -> dict[str, Any]:
    """Every input and output by name: the type that its JSON Schema is made from."""
    from lab.settings import Settings
    from simulators.scripted import Script

    return {
        "task": Task,
        "log": list[LogEntry],
        "script": Script,
        "settings": Settings,
        "event": AnyEvent,
        "demo": RunResult,
        "live": RunResult,
        "traces": list[TraceLine],
        "show": Shown,
        "import": ImportResult,
        "pack": Packed,
        "tasks": list[TaskLine],
        "personas": list[PersonaLine],
        "where": Places,
        "doctor": list[Finding],
        "error": Refused,
    }


def print_json(value: Any) -> None:
    """One JSON document on standard output, flushed."""
    sys.stdout.buffer.write(encode(value) + b"\n")
    sys.stdout.flush()


_WIDEST = 60
"""Most columns of a cell that does not fold: what is longer would take the others' place."""


def print_table(columns: list[str], rows: list[list[str]], *, wide: str = "") -> None:
    """A table for people; cells are plain characters, whatever they hold. `wide` names the column that may fold."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    from lab.plain import plain

    table = Table(box=None, pad_edge=False, header_style="bold")
    for column in columns:
        table.add_column(column, overflow="fold" if column == wide else "ellipsis", no_wrap=column != wide)
        table.columns[-1].max_width = None if column == wide else _WIDEST
    for row in rows:
        table.add_row(*(Text(plain(cell, lines=False)) for cell in row))
    Console(highlight=False, width=None if sys.stdout.isatty() else 240).print(table)


def say(text: str) -> None:
    """One line for people on standard output."""
    from lab.plain import plain

    sys.stdout.write(plain(text) + "\n")


def warn(text: str) -> None:
    """One line for people on standard error."""
    from lab.plain import plain

    sys.stderr.write(f"hitlab: {plain(text, lines=False)}\n")
