"""The command withdraw: erase a participant from the database."""

from __future__ import annotations

import sys
from collections.abc import Collection
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
from msgspec.structs import replace

from lab.cli.arguments import JsonArguments, Parser, argument, flag, option
from lab.cli.database import ERASED_WORDS, erased_or_unwiped, not_wiped, open_store, sweep_leftovers
from lab.cli.output import print_json, print_line, print_result, warn
from lab.core.errors import LabError
from lab.core.redaction.quotations import QuotedText, normalize
from lab.core.settings import Settings, load
from lab.core.task.task import Actor
from lab.core.text.plain_text import plain
from lab.core.values.rounding import count

if TYPE_CHECKING:
    from store.erasing.withdrawal import Erased, RedactionChoice


class Withdrawn(msgspec.Struct, frozen=True):
    """Result of `file withdraw`: what was erased, or with `done` false what would be.

    `counts` are rows by kind, `runs` the ids that are never imported again, `bytes` their size. `outside` are files
    with linked pictures of these runs, which remain on the disk. `unwiped` is the reason why erased bytes may remain in
    the file, empty if they do not. `quoted` are texts of theirs in other people's rows: redacted ones (once done,
    without the text), and those that may be anybody's and stay until redacted. `left` lists the places where words of
    theirs stay.
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
    quoted: tuple[QuotedText, ...] = ()
    left: tuple[str, ...] = ()


_QUOTATIONS = (
    "Notes and reasons of others go whole if they quote a text of theirs of 12 characters, or 24 of a longer one.",
    "A shorter text of theirs is taken out alone, and only in studies that they rated; the rest of the note stays.",
    "In all else (prompts, conversations, answers) the quotation alone is covered.",
    "What tells of them in other words stays, and so do words in pictures.",
)
_UNSURE = "These may be anybody's words, or they only repeated them. They stay there, unless --cover TEXT names them:"
_PLACES, _MOST_PLACES = 3, 40
"""Places to list for a text that stays, and for all redacted texts."""
_SHOWN = 60
"""Characters of a text to show."""


class WithdrawArguments(JsonArguments):
    code: str = argument("CODE", "study code of the person who withdraws", completes="rater")
    cover: list[str] | None = option(
        "TEXT", "also cover these words wherever they occur, even after the withdrawal; repeatable", action="append"
    )
    cover_all: bool = flag("cover all their words, even those that may be anybody's")
    show: bool = flag("print what would be erased, and change nothing", one_of="act")
    yes: bool = flag("erase without asking", one_of="act")


def add_file_withdraw(parser: Parser) -> None:
    parser.runs(withdraw, WithdrawArguments, prints={"withdraw": Withdrawn})
    parser.description = """\
Erase a person from the database for good: their answers, the runs they took
part in with their pictures, and the items of studies that quote them. Nothing
of theirs is accepted again. Their words are covered wherever else they are
quoted: in notes, conversations, prompts, paid answers. It prints what goes,
asks about words that may be anybody's, and asks for the code to be typed.
Copies made before (packs, kits, exports) cannot be reached."""
    parser.examples(
        """\
  hitlab file withdraw P07 --show      what would go; nothing is done
  hitlab file withdraw P07
  hitlab file withdraw P07 --yes --cover "Mild please"
""",
    )


def withdraw(args: WithdrawArguments) -> int:
    """Erase a person's texts, images and answers from the database for good."""
    settings = load(db=args.db)
    _refuse_seat(settings, args.code, args.cover)
    by = Actor("human", settings.person)
    with open_store(settings, create=False, readonly=args.show) as store:
        sweep_leftovers(Path(), temporary=True)
        from store.erasing.withdrawal import RedactionChoice, preview_withdrawal
        from store.erasing.withdrawal import withdraw as take_out

        def with_names(erasure: Erased) -> Erased:
            return _without_places(erasure) if settings.seat in ("participant", "rater") else erasure

        covers = RedactionChoice(_checked_texts(args.cover), args.cover_all)
        if not args.yes:
            erasure = with_names(preview_withdrawal(store, args.code, by, covers))
            if args.show and args.json:
                print_json(_withdrawal_report(str(store.path), erasure, done=False))
                return 0
            if args.show or not args.json:
                _preview(str(store.path), erasure)
            if args.show:
                return 0
            covers = _confirm(args.code, erasure, covers, as_json=args.json)
        erasure, unwiped = erased_or_unwiped(store.path, lambda: with_names(take_out(store, args.code, by, covers)))
        print_result(
            _withdrawal_report(str(store.path), erasure, done=True, unwiped=unwiped),
            lambda _: _print_withdrawal(str(store.path), erasure),
            json=args.json,
        )
    for path in erasure.outside:
        warn(f"{path} is still there: its picture was linked, not taken in, and is yours to delete")
    return not_wiped(unwiped)


def _refuse_seat(settings: Settings, code: str, covers: list[str] | None) -> None:
    """Raise `LabError` if a participant or rater withdraws another person, or redacts words that may be others'."""
    if settings.seat not in ("participant", "rater"):
        return
    if code != settings.person:
        raise LabError("withdraw", f"{settings.person} may withdraw, but not {code}; seat {settings.seat}.")
    if covers:
        raise LabError("withdraw", f"--cover names words of anybody; it is not for seat {settings.seat}.")


def _checked_texts(covers: list[str] | None) -> tuple[str, ...]:
    """Return the texts to redact, as typed. Raise `LabError` if one is too short to search for."""
    for text in covers or ():
        if len(normalize(text)) < 2:
            raise LabError("withdraw", f"--cover {text[:_SHOWN]!r} is too short to be looked for.", code=2)
    return tuple(covers or ())


def _without_places(erasure: Erased) -> Erased:
    """Return the erasure without the places of quotations: a participant must not learn who else takes part."""
    texts = tuple(replace(one, places=()) for one in erasure.quoted.texts)
    return erasure._replace(quoted=erasure.quoted._replace(texts=texts, remaining=()))


def _confirm(code: str, erasure: Erased, covers: RedactionChoice, *, as_json: bool) -> RedactionChoice:
    """Ask about each doubtful quotation, then for the code. Return `covers` with the texts chosen.

    Raise `LabError` without a terminal, or if another word is typed.
    """
    if as_json or not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise LabError("withdraw", "nothing was done: nobody was asked.", "--yes does it; --show only tells.", code=2)
    texts = list(covers.texts)
    unsure = [one for one in erasure.quoted.texts if not one.covered]
    for at, one in enumerate(unsure):
        sys.stdout.write(f"Cover {_format_quoted(one)}? [y]es, [N]o, [a]ll, none of the [r]est: ")
        sys.stdout.flush()
        answer = sys.stdin.readline().strip().casefold()[:1]
        if answer in ("a", "r"):
            texts += [rest.text for rest in unsure[at:]] if answer == "a" else []
            break
        texts += [one.text] if answer == "y" else []
    print_line("This cannot be taken back. Copies made before (packs, kits, exports) keep all of it.")
    sys.stdout.write(f"Type {plain(code, lines=False)} to go on: ")
    sys.stdout.flush()
    if sys.stdin.readline().strip() != code:
        raise LabError("withdraw", "nothing was done: another word was typed.")
    return covers._replace(texts=tuple(texts))


def _preview(db: str, erasure: Erased) -> None:
    print_line(f"{erasure.row.code} in {db}: what goes")
    _print_counts(erasure)
    covered = [one for one in erasure.quoted.texts if one.covered]
    if covered:
        print_line(f"{count(len(covered), 'text')} of theirs stand elsewhere, too, and are covered there:")
        _print_places(dict.fromkeys(place for one in covered for place in one.places), _MOST_PLACES)
    _print_remaining(erasure)
    for line in _QUOTATIONS:
        print_line(line)
    for path in erasure.outside:
        print_line(f"          outside, yours to delete: {path}")


def _print_withdrawal(db: str, erasure: Erased) -> None:
    print_line(f"{erasure.row.code} has withdrawn from {db}; nothing of theirs is taken in again")
    _print_counts(erasure)
    _print_remaining(erasure)


def _print_remaining(erasure: Erased) -> None:
    """Print which of their words stay, and where."""
    unsure = [one for one in erasure.quoted.texts if not one.covered]
    if unsure:
        print_line(_UNSURE)
        for one in unsure:
            _print_quoted(one)
    for line in erasure.quoted.remaining:
        print_line(f"Words of theirs stay: {line}.")


def _print_quoted(one: QuotedText) -> None:
    print_line(f"  {_format_quoted(one)}")
    _print_places(one.places, _PLACES)


def _print_places(places: Collection[str], most: int) -> None:
    for place in list(places)[:most]:
        print_line(f"      {place}")
    if len(places) > most:
        print_line(f"      and {count(len(places) - most, 'more place')}")


def _format_quoted(one: QuotedText) -> str:
    """Format a text with the number of other texts that contain it."""
    words = plain(" ".join(one.text.split()), lines=False)
    words = words if len(words) <= _SHOWN else f"{words[: _SHOWN - 1]}…"
    return f'"{words}" in {count(one.count, "text")}'


def _print_counts(erasure: Erased) -> None:
    for name, words in ERASED_WORDS.items():
        if number := erasure.row.counts.get(name, 0):
            print_line(f"{number:9,} {words}")
    if erasure.bytes:
        print_line(f"{erasure.bytes:9,} bytes in these runs")
    if not erasure.row.counts:
        print_line("          nothing yet; the code stays in the plan and answers nothing more")


def _withdrawal_report(db: str, erasure: Erased, *, done: bool, unwiped: LabError | None = None) -> Withdrawn:
    row, why = erasure.row, unwiped.sentence if unwiped is not None else ""
    quoted = tuple(replace(one, text="") if done and one.covered else one for one in erasure.quoted.texts)
    return Withdrawn(
        row.code, db, done, row.at, dict(row.counts), erasure.runs, erasure.outside, erasure.bytes, why, quoted,
        erasure.quoted.remaining,
    )  # fmt: skip
