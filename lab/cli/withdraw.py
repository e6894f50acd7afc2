"""A participant's right to be taken out: withdraw."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from lab.cli.arguments import Arguments, Parser
from lab.cli.database import ERASED_WORDS, erased_or_unwiped, not_wiped, open_store, sweep_leftovers
from lab.cli.output import emit, print_json, say, warn
from lab.core.errors import LabError
from lab.core.plain_text import plain
from lab.core.settings import Settings, load
from lab.core.task import Actor

if TYPE_CHECKING:
    from store.withdrawal import Erased


class Withdrawn(msgspec.Struct, frozen=True):
    """What was taken out of a database: `withdraw`; with `done` false, what would be.

    `counts` are rows by what they are, `runs` the ids that are not taken in again, `bytes` what they held together.
    `outside` are files with linked pictures of these runs: they stand where they did. `unwiped` says why bytes of
    theirs may still lie in the file, though they are in no table; empty where they are nowhere in it.
    """

    code: str
    db: str
    done: bool
    at: str
    counts: dict[str, int]
    runs: tuple[str, ...]
    outside: tuple[str, ...]
    bytes: int
    unwiped: str = ""


_QUOTATIONS = (
    "What others wrote goes whole where it quotes a text of theirs of 12 characters or more, or 24 of a longer one.",
    "A shorter text of theirs is taken out of it where it stands as words, rather once too often.",
    "What tells of them in other words stays.",
)


class WithdrawArguments(Arguments):
    """What `withdraw` takes."""

    code: str
    show: bool
    yes: bool


def add_withdraw(parser: Parser) -> None:
    parser.runs(withdraw, WithdrawArguments)
    parser.description = """\
Takes a person out of the database for good: their answers, the runs they took
part in with their pictures, and the items of studies that quote them. Nothing
of theirs is taken in again. It tells what goes and asks for the code to be
typed. Copies made before (packs, kits, exports) cannot be reached."""
    parser.add_argument("code", metavar="CODE", help="the study code of who withdraws")
    act = parser.add_mutually_exclusive_group()
    act.add_argument("--show", action="store_true", help="only tell what would go")
    act.add_argument("--yes", action="store_true", help="do it without asking")
    parser.json()
    parser.examples(
        """\
  hitlab withdraw P07 --show           what would go; nothing is done
  hitlab withdraw P07
""",
    )


def withdraw(args: WithdrawArguments) -> int:
    """Takes a person's texts, images and answers out of the database for good."""
    settings = load(db=args.db)
    _refuse_seat(settings, args.code)
    by = Actor("human", settings.person)
    with open_store(settings, create=False, readonly=args.show) as store:
        sweep_leftovers(Path(), temporary=True)
        from store.withdrawal import withdraw as take_out
        from store.withdrawal import would_erase

        if not args.yes:
            erasure = would_erase(store, args.code, by)
            if args.show and args.json:
                print_json(_withdrawal_report(str(store.path), erasure, done=False))
                return 0
            if args.show or not args.json:
                _preview(str(store.path), erasure)
            if args.show:
                return 0
            _ask(args.code, as_json=args.json)
        erasure, unwiped = erased_or_unwiped(store.path, lambda: take_out(store, args.code, by))
        emit(
            _withdrawal_report(str(store.path), erasure, done=True, unwiped=unwiped),
            lambda _: _tell(str(store.path), erasure),
            json=args.json,
        )
    for path in erasure.outside:
        warn(f"{path} is still there: its picture was linked, not taken in, and is yours to delete")
    return not_wiped(unwiped)


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


def _preview(db: str, erasure: Erased) -> None:
    say(f"{erasure.row.code} in {db}: what goes")
    _lines(erasure)
    for line in _QUOTATIONS:
        say(line)
    for path in erasure.outside:
        say(f"          outside, yours to delete: {path}")


def _tell(db: str, erasure: Erased) -> None:
    say(f"{erasure.row.code} has withdrawn from {db}; nothing of theirs is taken in again")
    _lines(erasure)


def _lines(erasure: Erased) -> None:
    for name, words in ERASED_WORDS.items():
        if count := erasure.row.counts.get(name, 0):
            say(f"{count:9,} {words}")
    if erasure.bytes:
        say(f"{erasure.bytes:9,} bytes in these runs")
    if not erasure.row.counts:
        say("          nothing yet; the code stays in the plan and answers nothing more")


def _withdrawal_report(db: str, erasure: Erased, *, done: bool, unwiped: LabError | None = None) -> Withdrawn:
    row, why = erasure.row, unwiped.sentence if unwiped is not None else ""
    return Withdrawn(row.code, db, done, row.at, dict(row.counts), erasure.runs, erasure.outside, erasure.bytes, why)
