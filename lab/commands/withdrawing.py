"""A participant's right to be taken out: withdraw."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING

import msgspec

from lab.commands.runs import open_store
from lab.errors import LabError
from lab.output import print_json, say, warn
from lab.plain import plain
from lab.settings import Settings, load
from lab.task import Actor

if TYPE_CHECKING:
    from store.withdrawing import Erased


class Withdrawn(msgspec.Struct, frozen=True):
    """What was taken out of a database: `withdraw`; with `done` false, what would be.

    `counts` are rows by what they are, `runs` the ids that are not taken in again, `bytes` what they held together.
    `outside` are files with linked pictures of these runs: they stand where they did.
    """

    code: str
    db: str
    done: bool
    at: str
    counts: dict[str, int]
    runs: tuple[str, ...]
    outside: tuple[str, ...]
    bytes: int


WORDS = {
    "runs": "runs in which they took part",
    "pictures": "pictures and states of these runs",
    "drafts": "drafts of answers in these runs",
    "labels": "answers of theirs in studies, with their history",
    "acts": "acts of theirs in studies",
    "assignments": "items dealt to them",
    "units": "items that quote them, out of studies",
    "labels_of_others": "answers of others on these items",
    "reviews": "words on demonstrations",
    "clearances": "demonstrations that they cleared",
    "designs": "drafts of designs, which stay and are signed `withdrawn`",
}
"""What each count is of, in the order in which they are told."""


def withdraw(args: argparse.Namespace) -> int:
    """Takes a person's texts, images and answers out of the database for good."""
    settings = load(db=getattr(args, "db", None))
    _refuse_seat(settings, args.code)
    by = Actor("human", settings.person)
    with open_store(settings, create=False) as store:
        from store.withdrawing import withdraw as take_out
        from store.withdrawing import would_erase

        if not args.yes:
            found = would_erase(store, args.code, by)
            if args.show and args.json:
                print_json(_told(str(store.path), found, done=False))
                return 0
            if args.show or not args.json:
                _preview(str(store.path), found)
            if args.show:
                return 0
            _ask(args.code, as_json=args.json)
        from lab.agreed import forget

        erased = take_out(store, args.code, by)
        forget(store.path)
        if args.json:
            print_json(_told(str(store.path), erased, done=True))
        else:
            _tell(str(store.path), erased)
    for path in erased.outside:
        warn(f"{path} is still there: its picture was linked, not taken in, and is yours to delete")
    return 0


def _refuse_seat(settings: Settings, code: str) -> None:
    """Who takes part may withdraw; others only where they may see everything anyway."""
    if settings.seat in ("participant", "rater") and code != settings.person:
        raise LabError("withdraw", f"{settings.person} may withdraw, but not {code}; seat {settings.seat}.")


def _ask(code: str, *, as_json: bool) -> None:
    """Raises `LabError` unless somebody at a terminal types the code."""
    if as_json or not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise LabError("withdraw", "nothing was done: nobody was asked.", "--yes does it; --show only tells.", code=2)
    say("This cannot be taken back. Copies made before (packs, kits, exports) are yours to delete.")
    sys.stdout.write(f"Type {plain(code, lines=False)} to go on: ")
    sys.stdout.flush()
    if sys.stdin.readline().strip() != code:
        raise LabError("withdraw", "nothing was done: another word was typed.")


def _preview(db: str, found: Erased) -> None:
    say(f"{found.row.code} in {db}: what goes")
    _lines(found)
    for path in found.outside:
        say(f"          outside, yours to delete: {path}")


def _tell(db: str, erased: Erased) -> None:
    say(f"{erased.row.code} has withdrawn from {db}; nothing of theirs is taken in again")
    _lines(erased)


def _lines(erased: Erased) -> None:
    for name, words in WORDS.items():
        if count := erased.row.counts.get(name, 0):
            say(f"{count:9,} {words}")
    if erased.bytes:
        say(f"{erased.bytes:9,} bytes in these runs")
    if not erased.row.counts:
        say("          nothing yet; the code stays in the plan and answers nothing more")


def _told(db: str, erased: Erased, *, done: bool) -> Withdrawn:
    row = erased.row
    return Withdrawn(row.code, db, done, row.at, dict(row.counts), erased.runs, erased.outside, erased.bytes)
