"""The command adjudicate: what raters differ on, listed, looked at and settled, on the screen or without one."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lab.adjudication import Adjudicated, Means, Move, Settled
from lab.commands.adjudicating_rows import Row, check_seen, places_of, rows_of, value_at
from lab.commands.adjudicating_told import (
    Adjudications,
    GoldWritten,
    case_told,
    queue_told,
    settled_line,
    tell_case,
    tell_queue,
    tell_settled,
)
from lab.commands.label_places import Places
from lab.commands.new_file import write_new
from lab.commands.runs import open_store, show_room
from lab.commands.seats import check_seat
from lab.commands.studying import study_named
from lab.errors import LabError
from lab.labels import Spot
from lab.output import print_json, say
from lab.settings import load
from lab.study import Study
from lab.task import Actor
from lab.wire import encode
from screens.adjudicate.chair import Case, Chair
from screens.seats import sees_outcomes

if TYPE_CHECKING:
    from annotators.adjudication import Queue

_SETTLES = ("value", "missing", "withdraw")


def adjudicate(args: argparse.Namespace) -> int:
    """Opens the room; or lists, shows, settles or writes what is settled as gold, as its options say."""
    settings = load(db=getattr(args, "db", None), person=args.person)
    check_seat(settings, sees_outcomes, "adjudicate")
    _check_options(args)
    reads = not (args.majority or args.source or any(getattr(args, name) for name in _SETTLES)) and args.listed
    with open_store(settings, create=False, readonly=bool(reads)) as store:
        study = study_named(store, args.study)
        chair = Chair(store, study, Actor("human", settings.person))
        chair.check()
        if args.gold:
            return _gold(chair, Path(args.gold), as_json=args.json)
        if args.source:
            return _kept(chair, _from_file(chair, args), args)
        if args.majority:
            return _kept(chair, _by_majority(chair, args.reason, args.field), args)
        if args.unit and any(getattr(args, name) for name in _SETTLES):
            return _kept(chair, [_settled(chair, args)], args)
        if args.unit:
            return _show(chair, args)
        if args.listed or args.json:
            told = queue_told(study, _queue(chair, args.field))
            print_json(told) if args.json else tell_queue(told)
            return 0
        from screens.rooms import Opening

        return show_room(
            store, settings, Opening("adjudicate", study=study), f"adjudicate {study.id}",
            "`--list` says what is to be settled, `--unit` and `--value` settle it.",
        )  # fmt: skip


def _check_options(args: argparse.Namespace) -> None:
    """Raises `LabError` where options stand beside each other that do not go together."""
    settles = [f"--{name}" for name in _SETTLES if getattr(args, name)]
    ways = [*settles, *(["--majority"] * args.majority), *(["--from"] * bool(args.source))]
    if len(ways) > 1:
        raise LabError("adjudicate", f"{' and '.join(ways)} do not go together.", code=2)
    if settles and not args.unit:
        raise LabError("adjudicate", f"{settles[0]} needs --unit: where it is settled.", code=2)
    if ways and ways != ["--from"] and not args.reason:
        raise LabError("adjudicate", f"{ways[0]} needs --reason: what is settled says why.", code=2)
    if args.gold and (ways or args.unit or args.listed):
        raise LabError("adjudicate", "--gold goes with --json alone.", code=2)
    stray = [name for name in ("reason", "means", "minutes", "move") if getattr(args, name)]
    if stray and not (set(ways) - {"--from"}):
        raise LabError("adjudicate", f"--{stray[0]} settles nothing alone.", "Give --unit and --value.", code=2)
    if args.unit and (args.majority or args.source):
        raise LabError("adjudicate", f"--unit does not go with {ways[0]}.", code=2)


def _queue(chair: Chair, field: str = "") -> Queue:
    """What is to be settled, of one question alone where it is named."""
    from lab.gathering import gathered

    if field and chair.study.protocol.field(field) is None:
        known = ", ".join(one.id for one in chair.study.protocol.fields)
        raise LabError("adjudicate", f"--field: {field!r} is none of {known}")
    found = chair.queue(gathered(chair.store, chair.study))
    if not field:
        return found
    still, done = ([one for one in some if one.spot.field == field] for some in (found.open, found.settled))
    return found._replace(open=still, settled=done)


# -- one item ----------------------------------------------------------------------------------------------------


def _case(chair: Chair, args: argparse.Namespace) -> Case:
    try:
        unit = Places(chair.store, chair.study).unit(args.unit, "adjudicate")
    except LabError as error:
        raise LabError("adjudicate", error.message.replace("field unit: ", "--unit: "), error.hint) from error
    return chair.case(unit, places_of(chair.study, unit, args.target, args.field, "adjudicate"))


def _show(chair: Chair, args: argparse.Namespace) -> int:
    case = _case(chair, args)
    check_seen(chair, case, "adjudicate")
    told = case_told(chair.study, case, judges=args.judges)
    print_json(told) if args.json else tell_case(told)
    return 0


def _settled(chair: Chair, args: argparse.Namespace) -> Settled:
    case = _case(chair, args)
    if args.withdraw:
        return chair.withdraw(case, args.reason)
    moves = [_move(chair.study, case, words) for words in args.move]
    value = value_at(chair.study, case, args.value) if args.value is not None else None
    means: Means = args.means or ("discussion" if moves or args.minutes is not None else "adjudicator")
    return chair.settle(
        case,
        value,
        reason=args.reason,
        means=means,
        missing=args.missing,
        minutes=args.minutes,
        moves=moves,
        judges_seen=args.judges,
    )


def _move(study: Study, case: Case, words: str) -> Move:
    """WHO:WAS:NOW:CODE, of which WAS may be empty and CODE left out."""
    parts = words.split(":")
    if not 3 <= len(parts) <= 4 or not parts[0]:
        raise LabError("adjudicate", f"--move {words!r} is not WHO:WAS:NOW:CODE", code=2)
    was, now = (value_at(study, case, part) if part else None for part in parts[1:3])
    return Move(parts[0], was, now, parts[3] if len(parts) == 4 else "")


# -- several -----------------------------------------------------------------------------------------------------


def _by_majority(chair: Chair, reason: str, field: str) -> list[Settled]:
    """Settles every item that has a majority and that this person may settle, all or none."""
    from store.adjudicating import Ruling

    rulings = []
    closed: dict[str, str] = {}
    for one in _queue(chair, field).open:
        most = one.majority
        if most is None:
            continue
        unit = chair.store.unit(chair.study, one.unit)
        if one.unit not in closed:
            closed[one.unit] = chair.store.may_settle(chair.study, unit, chair.person)
        if closed[one.unit]:
            continue
        missing: Any = most.reason or None
        rulings.append(
            Ruling(unit, Adjudicated(one.spot.target, one.spot.field, "majority", most.value, missing, reason.strip()))
        )
    found = chair.store.settle_each(chair.study, rulings, chair.person, open_only=True) if rulings else []
    if not found:
        raise LabError("adjudicate", "nothing that is open has a majority; nothing was done.")
    return found


def _from_file(chair: Chair, args: argparse.Namespace) -> list[Settled]:
    """Settles what a file says, all or none; each line is by the same rules as what is typed."""
    from store.adjudicating import Ruling

    places = Places(chair.store, chair.study)
    rulings = []
    for where, row in rows_of(args.source):
        unit = places.unit(row.unit, where)
        case = chair.case(unit, places_of(chair.study, unit, row.target, row.field, where))
        try:
            rulings.append(Ruling(unit, _told(chair, case, row)))
        except LabError as error:
            raise LabError(where, f"{error.title}: {error.message}", error.hint) from error
    return chair.store.settle_each(chair.study, rulings, chair.person)


def _told(chair: Chair, case: Case, row: Row) -> Adjudicated:
    moves = tuple(chair.move(case, move) for move in row.moves)
    means = row.means or ("discussion" if moves or row.minutes is not None else "adjudicator")
    return Adjudicated(
        case.spot.target, case.spot.field, means, row.value, row.missing, row.reason.strip(), row.minutes, moves,
        row.judges_seen, row.withdrawn,
    )  # fmt: skip


def _kept(chair: Chair, settled: list[Settled], args: argparse.Namespace) -> int:
    lines = []
    for one in settled:
        case = None
        if one.what.moves:
            case = chair.case(chair.store.unit(chair.study, one.unit), Spot(one.what.target, one.what.field))
        lines.append(settled_line(one, case))
    if args.json:
        print_json(Adjudications(chair.study.id, chair.study.version, tuple(lines)))
    else:
        tell_settled(lines, chair.store.path.name)
    return 0


def _gold(chair: Chair, out: Path, *, as_json: bool) -> int:
    """Writes what is settled with a value as the lines that `hitlab study new --gold` reads, to a new file."""
    from annotators.gold import GoldLine

    standing = sorted(chair.store.settled(chair.study).items())
    lines = [
        encode(GoldLine(one.what.value, unit, "", spot.target, spot.field, one.what.reason))
        for (unit, spot), one in standing
        if one.what.reason_missing is None
    ]
    if not lines:
        raise LabError("adjudicate", "nothing is settled yet; no gold was written.")
    write_new(out, b"".join(line + b"\n" for line in lines), f"gold file {out}", "no gold was written")
    told = GoldWritten(str(out), len(lines))
    if as_json:
        print_json(told)
    else:
        say(f"{told.lines:,} lines of gold in {out}; hitlab study new ... --gold {out}")
    return 0
