"""Who has withdrawn from a hitlab file: nothing of theirs comes in again, whichever verb would bring it."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable

import msgspec

from lab.core.codec import decode, encode, storable
from lab.core.errors import LabError
from lab.core.label import Withdrawal
from lab.core.study import VERSION

HINT = "`hitlab withdraw` erased what was theirs; another person goes on under another code."


def signature(code: str) -> str:
    """How a person stands in whatever they did, as rows hold it: the beginning of an `Actor` in JSON."""
    return f'{{"kind":"human","id":{msgspec.json.encode(storable(code)).decode()}'


def check_stays(db: sqlite3.Connection, code: str, what: str) -> None:
    """Raises `LabError` where a person has withdrawn: whatever is written, they do not write it."""
    if db.execute("SELECT 1 FROM withdrawal WHERE code = ?", (storable(code),)).fetchone():
        raise LabError(what, f"{code} has withdrawn; nothing of theirs is kept.", HINT)


def check_without(db: sqlite3.Connection, bodies: Iterable[str], what: str) -> None:
    """Raises `LabError` where somebody who has withdrawn appears in rows that are to come in."""
    withdrawn_codes = [code for (code,) in db.execute("SELECT code FROM withdrawal")]
    for body in bodies if withdrawn_codes else ():
        for code in withdrawn_codes:
            if signature(code) in body:
                raise LabError(what, f"{code} is in it, who has withdrawn; it is not taken in.", HINT)


def insert_withdrawal(db: sqlite3.Connection, row: Withdrawal) -> None:
    """What stays of a person, within the caller's transaction; a second time their first row stays."""
    values = (storable(row.code), row.at, encode(row).decode())
    db.execute("INSERT OR IGNORE INTO withdrawal VALUES (?, ?, ?)", values)


def withdrawal_of(body: str) -> Withdrawal:
    """A row's content."""
    return decode(body, Withdrawal, "a withdrawal in the file", newest=VERSION)
