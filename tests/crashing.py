"""Kills a headless run with SIGKILL at a random moment and says what the file then holds; for tests and the bench."""

from __future__ import annotations

import json
import random
import sqlite3
import subprocess
from pathlib import Path
from typing import Any, NamedTuple

from tests.killing import lines_until_killed
from tests.warm import Warm

TASK = "usual_lunch"


class Killed(NamedTuple):
    """One killed run: the events it had printed, those of them that the file lacks, and the file's own check."""

    printed: int
    missing: list[tuple[str, int]]
    integrity: str
    ended: bool


def command(db: Path) -> list[str]:
    """The words of `hitlab` for a headless run that prints each event after its commit."""
    return ["live", TASK, "--events", "--db", str(db)]


def kill_at_random(db: Path, dice: random.Random) -> Killed:
    """Starts a run, kills it after a random number of events and a random few milliseconds, reads the file."""
    after = dice.randrange(0, 60)
    run = Warm(command(db), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    return compare(db, lines_until_killed(run, after, dice.random() * (0.05 if after else 0.5)))


def compare(db: Path, lines: list[bytes]) -> Killed:
    """What was printed against what the file holds."""
    printed = [json.loads(line) for line in lines]
    trace = next((event["trace"] for event in printed if event["event"] == "started"), "")
    if not db.exists():
        return Killed(len(printed), [(trace, event["seq"]) for event in printed], "ok", False)
    connection = sqlite3.connect(db)
    try:
        integrity = connection.execute("PRAGMA integrity_check").fetchone()[0]
        stored = _stored(connection, trace)
    finally:
        connection.close()
    missing = [(trace, event["seq"]) for event in printed if stored.get(event["seq"]) != event]
    return Killed(len(printed), missing, integrity, any(event["event"] == "ended" for event in printed))


def _stored(connection: sqlite3.Connection, trace: str) -> dict[int, Any]:
    rows = connection.execute("SELECT seq, body FROM event WHERE trace = ?", (trace,)) if _laid(connection) else ()
    return {seq: json.loads(body) for seq, body in rows}


def _laid(connection: sqlite3.Connection) -> bool:
    return bool(connection.execute("SELECT count(*) FROM sqlite_master WHERE name = 'event'").fetchone()[0])
