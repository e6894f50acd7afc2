"""Commands that send a rater's part of a study out, and take it back: study kit, study take."""

from __future__ import annotations

import argparse
from pathlib import Path

import msgspec

from lab.commands.runs import open_store
from lab.commands.seats import check_seat
from lab.commands.studying import study_named
from lab.output import print_json, say
from lab.settings import Settings, check_code, load
from screens.seats import sees_outcomes


class KitMade(msgspec.Struct, frozen=True):
    """A kit that was made: `study kit`. `labels` and `acts` are the rater's so far, `bytes` the file's size."""

    out: str
    study: str
    version: int
    rater: str
    units: int
    runs: int
    labels: int
    acts: int
    bytes: int


class KitTaken(msgspec.Struct, frozen=True):
    """What came in from a kit: `study take`. `there` is what had come before; `dealt` are plays dealt once more.

    `clashes` are the places (unit, target, field) at which the rater's two copies have different last words.
    """

    study: str
    version: int
    rater: str
    labels: int
    acts: int
    runs: int
    dealt: int
    there: int
    clashes: tuple[tuple[str, str, str], ...]


def kit(args: argparse.Namespace) -> int:
    """Writes one rater's kit, a new file."""
    settings = _settings(args, "study kit")
    check_code(args.rater, "study kit", "--rater")
    from store.kits import make_kit

    out = Path(args.out)
    with open_store(settings, create=False, readonly=True) as store:
        made = make_kit(store, study_named(store, args.study), args.rater, out)
    told = KitMade(
        str(out), made.study, made.version, made.rater,
        made.units, len(made.runs), made.labels, made.acts, out.stat().st_size,
    )  # fmt: skip
    if args.json:
        print_json(told)
    else:
        say(f"{out}: {made.study} v{made.version} for {made.rater}, {told.bytes:,} bytes")
        say(f"{told.units:,} to rate, {told.runs:,} runs, {told.labels:,} answers so far")
        say(f"There: `hitlab study open {made.study} --as {made.rater} --db {out.name}`; "
            f"back here: `hitlab study take {out.name}`.")  # fmt: skip
    return 0


def take(args: argparse.Namespace) -> int:
    """Takes a kit's work in; what is here already is passed over."""
    settings = _settings(args, "study take")
    from store.taking import take_kit

    with open_store(settings, create=False) as store:
        taken = take_kit(store, Path(args.kit))
    one = taken.kit
    told = KitTaken(
        one.study, one.version, one.rater,
        taken.labels, taken.acts, taken.runs, taken.dealt, taken.there, taken.clashes,
    )  # fmt: skip
    if args.json:
        print_json(told)
        return 0
    say(f"{one.rater} in {one.study} v{one.version}: {told.labels:,} answers and {told.acts:,} acts came in")
    if told.runs:
        say(f"{told.runs:,} runs that were played came in")
    if told.there:
        say(f"{told.there:,} were here already")
    for unit, target, field in told.clashes:
        place = f"{field} of {target}" if target else field
        say(f"{place} in {unit} has two last words: {one.rater} worked on both copies and settles it on opening it")
    return 0


def _settings(args: argparse.Namespace, what: str) -> Settings:
    settings = load(db=getattr(args, "db", None))
    check_seat(settings, sees_outcomes, what)
    return settings
