"""What commands print with --json, as shapes; `hitlab schema NAME` gives their JSON Schema."""

from __future__ import annotations

import re
import sys
from typing import Any

import msgspec

from lab.design.revision import Design, Parts, RevisionLine, State
from lab.records import TraceLine, Verdict
from lab.study import StudyLine
from lab.task import Kind, LogEntry, Task
from lab.trace import AnyEvent, Ended, Started, Step
from lab.turn import Action, Spent
from lab.wire import encode


class Stopped(msgspec.Struct, frozen=True):
    """Where a run was left open: at this breakpoint, before step `step` (from 1) did the action proposed for it."""

    breakpoint: str
    step: int
    action: Action
    thought: str


class RunResult(msgspec.Struct, frozen=True):
    """How one run went: `demo`, `live` and `fork`. `stopped` is null but where it stands at a breakpoint.

    `spent` is what its model's answers cost together, null where no model was asked.
    """

    trace: str
    db: str
    status: str
    score: float | None
    steps: int
    questions: int
    replies: int
    stopped: Stopped | None = None
    spent: Spent | None = None


class KinLine(TraceLine, frozen=True):
    """One run of a family: `family`, each after the run it was forked from (null: none, or not in this file).

    `step` (from 1) is the first that is its own, `changes` what was made other there, and to what.
    """

    parent: str | None = None
    step: int | None = None
    changes: tuple[tuple[str, str], ...] = ()


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


class ImportTally(msgspec.Struct, frozen=True):
    """What became of one format's runs."""

    imported: int
    skipped: int
    failed: int


class ImportResult(msgspec.Struct, frozen=True):
    """What came in: `import`. `skipped` runs were there already; `formats` counts by the format's name.

    `interrupted`: it was stopped by hand, and there was more. `linked` pictures of the database stand in files outside.
    """

    imported: int
    skipped: int
    failed: tuple[ImportFailure, ...]
    formats: dict[str, ImportTally] = {}
    interrupted: bool = False
    linked: int = 0


class Shown(msgspec.Struct, frozen=True):
    """One run, whole: `show`. `ended` is null while the run is open; `verdicts` are its source's own judgements.

    `spent` is what its model's answers cost together, null where no model was asked.
    """

    id: str
    status: str
    score: float | None
    questions: int
    replies: int
    started: Started
    steps: tuple[Step, ...]
    ended: Ended | None
    verdicts: tuple[Verdict, ...]
    spent: Spent | None = None


class DesignLine(msgspec.Struct, frozen=True):
    """One task's design in a list: `author --list`.

    `heads` is above 1 where it was drafted twice at once; `frozen` is the newest verified version, null where none.
    """

    task: str
    asked: str
    version: int
    state: State
    heads: int
    frozen: int | None
    authors: tuple[str, ...]
    nodes: int
    branches: int
    units: int
    criteria: int
    at: str


class DesignProblem(msgspec.Struct, frozen=True):
    """What keeps a design from being submitted; `key` is the item's, such as `units/price`, empty for the whole."""

    key: str
    words: str


class DesignShown(msgspec.Struct, frozen=True):
    """One task's design as it stands: `author TASK --show`, and what each act leaves.

    `asked` is a hash of what was asked; `marks` are a reviewer's words by item, empty where one was accepted.
    """

    id: str
    task: str
    asked: str
    version: int
    state: State
    frozen: int | None
    authors: tuple[str, ...]
    by: str
    at: str
    note: str
    marks: dict[str, str]
    problems: tuple[DesignProblem, ...]
    design: Design
    history: tuple[RevisionLine, ...]


class DesignWritten(msgspec.Struct, frozen=True):
    """A design that was written as YAML: `author TASK --out FILE`."""

    path: str
    task: str
    version: int
    state: State


class Packed(msgspec.Struct, frozen=True):
    """A copy that was made: `pack`. `outside` pictures are linked: they stand in files that are not in it."""

    db: str
    bytes: int
    images: bool
    outside: int = 0


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
    from annotators.gold import GoldLine
    from annotators.metrics.marks import Marks
    from annotators.plan import Plan
    from lab.agents.process_lines import FromProgram, ToProgram
    from lab.commands.adjudicating_rows import Row as AdjudicationRow
    from lab.commands.adjudicating_told import Adjudications, CaseTold, GoldWritten, QueueTold
    from lab.commands.agreeing_told import StudyAgreement
    from lab.commands.attempts import BatchResult
    from lab.commands.cases import CaseValue
    from lab.commands.comparing import Comparison
    from lab.commands.devices import DeviceLine
    from lab.commands.kits import KitMade, KitTaken
    from lab.commands.label_rows import LabelRow
    from lab.commands.labels_told import LabelDone, LabelList, PilotTold
    from lab.commands.listing import RunTable
    from lab.commands.merging import MergeDone
    from lab.commands.metrics_told import Measured
    from lab.commands.played import RunsPlayed
    from lab.commands.playing import StudyPlayed
    from lab.commands.protocols import ProtocolLine, ProtocolShown
    from lab.commands.raters_told import StudyRaters
    from lab.commands.reporting import ReportWritten
    from lab.commands.reviews_told import (
        Exported,
        PrivacyDone,
        PrivacyLine,
        PrivacyShown,
        ReviewList,
        ReviewShown,
    )
    from lab.commands.scrcpy import ServerFetched
    from lab.commands.serving import PhoneServed
    from lab.commands.studying_told import (
        RaterReleased,
        RaterReplaced,
        StudiesFrozen,
        StudyDealt,
        StudyLocked,
        StudyShown,
        StudyStatus,
    )
    from lab.commands.withdrawing import Withdrawn
    from lab.protocol import Protocol
    from lab.report import Report
    from lab.settings import Settings
    from simulators.scripted import Script

    return {
        "task": Task,
        "log": list[LogEntry],
        "marks": Marks,
        "script": Script,
        "settings": Settings,
        "event": AnyEvent,
        "agent-reads": ToProgram,
        "agent-writes": FromProgram,
        "action": Action,
        "demo": RunResult,
        "live": RunResult,
        "run": BatchResult,
        "fork": RunResult,
        "family": list[KinLine],
        "traces": list[TraceLine],
        "runs": RunTable,
        "compare": Comparison,
        "show": Shown,
        "import": ImportResult,
        "metrics": Measured,
        "label-row": LabelRow,
        "label": LabelDone,
        "labels": LabelList,
        "labels-pilot": PilotTold,
        "adjudication-row": AdjudicationRow,
        "adjudicate": Adjudications,
        "adjudicate-list": QueueTold,
        "adjudicate-unit": CaseTold,
        "adjudicate-gold": GoldWritten,
        "raters": StudyRaters,
        "merge": MergeDone,
        "pack": Packed,
        "export": Exported,
        "review": ReviewShown,
        "review-list": ReviewList,
        "privacy": PrivacyDone,
        "privacy-show": PrivacyShown,
        "privacy-list": list[PrivacyLine],
        "withdraw": Withdrawn,
        "author": DesignShown,
        "author-list": list[DesignLine],
        "author-out": DesignWritten,
        "design": Parts,
        "protocol": Protocol,
        "protocols": list[ProtocolLine],
        "protocols-show": ProtocolShown,
        "tasks": list[TaskLine],
        "personas": list[PersonaLine],
        "where": Places,
        "doctor": list[Finding],
        "devices": list[DeviceLine],
        "device-scrcpy": ServerFetched,
        "phone": PhoneServed,
        "plan": Plan,
        "gold": GoldLine,
        "study-new": StudiesFrozen,
        "study-deal": StudyDealt,
        "study-list": list[StudyLine],
        "study-status": StudyStatus,
        "study-show": StudyShown,
        "study-play": StudyPlayed,
        "study-runs": RunsPlayed,
        "study-lock": StudyLocked,
        "study-replace": RaterReplaced,
        "study-release": RaterReleased,
        "study-kit": KitMade,
        "study-take": KitTaken,
        "agreement": StudyAgreement,
        "report": Report,
        "report-out": ReportWritten,
        "agreement-cases": list[CaseValue],
        "error": Refused,
    }


def print_json(value: Any) -> None:
    """One JSON document on standard output, flushed."""
    sys.stdout.buffer.write(json_bytes(value))
    sys.stdout.flush()


def json_bytes(value: Any) -> bytes:
    """One JSON document and a line feed; characters that a terminal obeys or that turn its lines are escaped in it."""
    data = encode(value) + b"\n"
    if data.isascii():
        return data
    return _OBEYED.sub(lambda found: f"\\u{ord(found[0]):04x}", data.decode()).encode()


_OBEYED = re.compile("[\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")


def say(text: str) -> None:
    """One line for people on standard output."""
    from lab.plain import plain

    sys.stdout.write(plain(text) + "\n")


def warn(text: str) -> None:
    """One line for people on standard error."""
    from lab.plain import plain

    sys.stderr.write(f"hitlab: {plain(text, lines=False)}\n")
