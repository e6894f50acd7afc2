"""Checks that keep withdrawn people's data out of a hitlab file, for every method that writes."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable

import msgspec

from lab.core.codec import decode, encode, storable
from lab.core.errors import LabError
from lab.core.study.label import Withdrawal
from lab.core.study.study import VERSION

WITHDRAWN_HINT = "`hitlab file withdraw` erased what was theirs; another person goes on under another code."


def actor_prefix(code: str) -> str:
    """Return the beginning of a person's `Actor` in JSON, by which rows that they signed are found."""
    # msgspec writes fields in the order of `Actor`, without spaces.
    return f'{{"kind":"human","id":{msgspec.json.encode(storable(code)).decode()}'


def check_not_withdrawn(db: sqlite3.Connection, code: str, what: str) -> None:
    """Raise `LabError` if a person has withdrawn, so that nothing is stored in their name."""
    if db.execute("SELECT 1 FROM withdrawal WHERE code = ?", (storable(code),)).fetchone():
        raise LabError(what, f"{code} has withdrawn; nothing of theirs is kept.", WITHDRAWN_HINT)


def check_no_withdrawn_signers(db: sqlite3.Connection, bodies: Iterable[str], what: str) -> None:
    """Raise `LabError` if rows to be inserted are signed by a person who has withdrawn."""
    withdrawn_codes = [code for (code,) in db.execute("SELECT code FROM withdrawal")]
    for body in bodies if withdrawn_codes else ():
        for code in withdrawn_codes:
            if actor_prefix(code) in body:
                raise LabError(what, f"{code} is in it, who has withdrawn; it is not taken in.", WITHDRAWN_HINT)


def insert_withdrawal(db: sqlite3.Connection, row: Withdrawal) -> None:
    """Insert a withdrawal within the caller's transaction. An earlier row for the same person stays."""
    values = (storable(row.code), row.at, encode(row).decode())
    db.execute("INSERT OR IGNORE INTO withdrawal VALUES (?, ?, ?)", values)


def withdrawal_of(body: str) -> Withdrawal:
    """Decode a row's body."""
    return decode(body, Withdrawal, "a withdrawal in the file", newest=VERSION)
