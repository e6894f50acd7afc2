"""The command adjudicate: list, inspect and settle disagreements, on the screen or without one."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import msgspec

from annotators.gold import field_at
from lab.cli.app import show_room
from lab.cli.arguments import Parser, StudyArguments, TableArguments, amount, flag, option, study_code, typed_words
from lab.cli.database import open_store, write_new
from lab.cli.labels.adjudicate_output import (
    Adjudications,
    GoldWritten,
    case_output,
    print_case,
    print_queue,
    print_settlements,
    queue_output,
    settled_line,
)
from lab.cli.output import print_line, print_result
from lab.core.codec import convert, encode, read_file
from lab.core.errors import LabError
from lab.core.settings import load, require_person
from lab.core.study.adjudication import Means, Move, Settlement, SignedSettlement
from lab.core.study.label import Missing
from lab.core.study.label_rules import as_option
from lab.core.study.protocol import Field
from lab.core.study.rating_sheet import FieldReference, target_of
from lab.core.study.study import Study, Unit
from lab.core.task.task import Actor
from lab.core.text.json_lines import json_lines
from lab.core.text.suggestion import unknown_name
from lab.core.text.typed_text import clean, clean_value
from lab.core.values.rounding import count
from lab.studies.planning.study_places import StudyPlaces, study_named
from lab.studies.rating.typed_answers import typed_value
from lab.studies.seats import check_seat, sees_outcomes
from lab.studies.settling.adjudication import AdjudicationSession, ItemAnswers
from lab.studies.settling.batch_settlement import BatchScope, BatchSettlement, batch_of, settle_batch, undo_batch

if TYPE_CHECKING:
    from annotators.adjudication import Queue


class AdjudicateArguments(StudyArguments, TableArguments):
    person: str | None = option(
        "CODE", "sign as this person, who rated none of it (e.g. D1)", "--person", "--as", type=study_code,
        completes="rater",
    )  # fmt: skip
    listed: bool = flag("list what is to be settled and what is settled", "--list")
    unit: str | None = option(
        "ID", "select one unit (a run, pair, step, ...); with --target and --field one place in it"
    )
    target: str = option("ID", "select the item in the unit, if it has several", default="")
    field: str = option("ID", "select the question, if there are several (e.g. state)", default="")
    judges: bool = flag("with --unit: also show judges' answers; when settling, record that you saw them")
    value: str | None = option("VALUE", "settle the item with this answer (e.g. completed)", type=typed_words)
    missing: Literal["not_reached", "not_applicable", "cannot_judge", "skipped"] | None = option(
        "REASON", "settle that there is no right answer: not_reached, not_applicable, cannot_judge or skipped",
        choices=["not_reached", "not_applicable", "cannot_judge", "skipped"],
    )  # fmt: skip
    reason: str | None = option("TEXT", "give the reason (required to settle)", type=typed_words)
    means: Literal["majority", "discussion", "adjudicator"] | None = option(
        "HOW", "record how it was settled: majority, discussion or adjudicator (default: discussion with --move or "
        "--minutes, else adjudicator)",
        choices=["majority", "discussion", "adjudicator"],
    )  # fmt: skip
    minutes: float | None = option("M", "record the minutes of discussion (e.g. 5)", type=amount)
    move: list[str] = option(
        "WHO:WAS:NOW:CODE", "record who changed their mind, from what to what and why (e.g. R1:failed:completed:slip); "
        "repeatable",
        type=typed_words, action="append", default=[],
    )  # fmt: skip
    reason_id: str = option("ID", "give one of the protocol's reasons", default="")
    majority: bool = flag("settle every item on which a majority agrees (with --field: of that question)")
    all_but_one: bool = flag("with --majority or --adopt-rater: settle only where all but one agree")
    by_rater: str = option(
        "CODE",
        "take this rater's answer for every item (e.g. R1)",
        "--adopt-rater",
        "--by-rater",
        default="",
        completes="rater",
    )
    undo: bool = flag("take back your last group settlement (by --majority, --adopt-rater or --all-but-one)")
    source: str | None = option("FILE", "settle what these JSON lines say (-: standard input)", "--file", "--from")
    withdraw: bool = flag("leave an item unsettled again")
    gold: str | None = option("FILE", "write settled answers as gold for `hitlab study new --gold` (e.g. gold.jsonl)")

    def table_lines(self) -> str:
        settles = _settling_options(self) or self.majority or self.by_rater or self.all_but_one or self.undo
        prints = (self.listed or self.unit) and not (settles or self.source or self.gold)
        return "" if prints else "a line with --list, or with --unit alone,"


def add_labels_adjudicate(parser: Parser) -> None:
    parser.runs(
        adjudicate, AdjudicateArguments,
        prints={"adjudication-row": SettlementLine, "adjudicate": Adjudications,
                "adjudicate-list": "lab.cli.labels.adjudicate_output:QueueTold",
                "adjudicate-unit": "lab.cli.labels.adjudicate_output:CaseTold", "adjudicate-gold": GoldWritten},
    )  # fmt: skip
    parser.examples(
        """\
  hitlab labels adjudicate tdg --list              what is to be settled
  hitlab labels adjudicate tdg --unit 019a --target open --field state \\
    --value completed --reason "The app is open." --person D1
  hitlab labels adjudicate tdg --all-but-one --reason "a slip" --person D1
  hitlab labels adjudicate tdg --gold gold.jsonl   gold for the next study
"""
    )


def adjudicate(args: AdjudicateArguments) -> int:
    """Open the screen, or list, show, settle or export settlements, as the options say."""
    settings = load(db=args.db, person=args.person)
    check_seat(settings, sees_outcomes, "adjudicate")
    _check_options(args)
    item = bool(_settling_options(args))
    at_once = args.majority or bool(args.by_rater) or args.all_but_one or args.undo
    settles = at_once or args.source or item
    if settles:
        require_person(settings, "adjudicate")
    reads = not settles and (args.listed or args.json or args.unit or args.gold)
    with open_store(settings, create=False, readonly=bool(reads)) as store:
        study = study_named(store, args.study)
        chair = AdjudicationSession(store, study, Actor("human", settings.person))
        chair.check()
        if args.gold:
            return _write_gold(chair, Path(args.gold), as_json=args.json)
        if args.source:
            return _print_settlements(chair, _settle_file(chair, args.source), args)
        args.reason = _full_reason(study, args)
        if args.undo:
            return _print_settlements(chair, undo_batch(chair, args.reason), args)
        if at_once:
            return _settle_scope(chair, args)
        if args.unit and item:
            return _print_settlements(chair, [_settle_item(chair, args, args.unit)], args)
        if args.unit:
            return _show(chair, args, args.unit)
        if args.listed or args.json:
            queue_result = queue_output(study, _queue(chair, args.field))
            print_result(queue_result, print_queue, json=args.json)
            return 0
        from screens.navigation import Opening

        return show_room(
            store, settings, Opening("adjudicate", study=study), f"adjudicate {study.id}",
            "`--list` says what is to be settled, `--unit` and `--value` settle it.",
        )  # fmt: skip


def _check_options(args: AdjudicateArguments) -> None:
    """Raise `LabError` for options that do not go together."""
    settles = _settling_options(args)
    at_once = {"--majority": args.majority, "--adopt-rater": args.by_rater, "--undo": args.undo}
    ways = [*settles, *(name for name, value in at_once.items() if value), *(["--file"] * bool(args.source))]
    if args.all_but_one and not ways:
        ways = ["--majority"]
    if len(ways) > 1:
        raise LabError("adjudicate", f"{' and '.join(ways)} do not go together.", code=2)
    if settles and not args.unit:
        raise LabError("adjudicate", f"{settles[0]} needs --unit: where it is settled.", code=2)
    if args.all_but_one and ways[0] not in ("--majority", "--adopt-rater"):
        raise LabError("adjudicate", f"--all-but-one does not go with {ways[0]}.", code=2)
    if args.undo and args.field:
        raise LabError("adjudicate", "--undo takes back all of a batch, not one field of it.", code=2)
    if ways and ways not in (["--file"], ["--undo"]) and not args.reason and not args.reason_id:
        raise LabError("adjudicate", f"{ways[0]} needs --reason: what is settled says why.", code=2)
    if args.listed and ways:
        raise LabError("adjudicate", f"--list does not go with {ways[0]}; nothing was done.", code=2)
    if args.gold and (ways or args.unit or args.listed):
        raise LabError("adjudicate", "--gold goes with --json alone.", code=2)
    more = {
        "reason": args.reason, "reason-id": args.reason_id, "means": args.means, "minutes": args.minutes,
        "move": args.move,
    }  # fmt: skip
    stray = [name for name, value in more.items() if value]
    if stray and not (set(ways) - {"--file"}):
        raise LabError("adjudicate", f"--{stray[0]} settles nothing alone.", "Give --unit and --value.", code=2)
    if args.unit and (any(at_once.values()) or args.all_but_one or args.source):
        raise LabError("adjudicate", f"--unit does not go with {ways[0]}.", code=2)


def _queue(chair: AdjudicationSession, field: str = "") -> Queue:
    """Return the queue of disagreements, of one question if it is named."""
    from lab.studies.progress.study_data import load_study_data

    _check_field(chair, field)
    queue = chair.queue(load_study_data(chair.store, chair.study))
    if not field:
        return queue
    open_places = [place for place in queue.open if place.spot.field == field]
    settled_places = [place for place in queue.settled if place.spot.field == field]
    return queue._replace(open=open_places, settled=settled_places)


def _check_field(chair: AdjudicationSession, field: str) -> None:
    """Raise `LabError` if no question has this id."""
    if field and chair.study.protocol.field(field) is None:
        ids = [protocol_field.id for protocol_field in chair.study.protocol.fields]
        raise LabError("adjudicate", f"--field: {unknown_name(field, ids)}")


def _settling_options(args: AdjudicateArguments) -> list[str]:
    """Return the given options that settle a single item."""
    options = {"--value": args.value, "--missing": args.missing, "--withdraw": args.withdraw}
    return [name for name, value in options.items() if value]


# -- one item ----------------------------------------------------------------------------------------------------
def _find_case(chair: AdjudicationSession, args: AdjudicateArguments, name: str) -> ItemAnswers:
    try:
        unit = StudyPlaces(chair.store, chair.study, suggests=True).unit(name, "adjudicate")
    except LabError as error:
        raise LabError("adjudicate", error.message.replace("field unit: ", "--unit: "), error.hint) from error
    return chair.case(unit, places_of(chair.study, unit, args.target, args.field, "adjudicate"))


def _show(chair: AdjudicationSession, args: AdjudicateArguments, unit: str) -> int:
    case = _find_case(chair, args, unit)
    check_seen(chair, case, "adjudicate")
    case_result = case_output(chair.study, case, judges=args.judges)
    print_result(case_result, print_case, json=args.json)
    return 0


def _settle_item(chair: AdjudicationSession, args: AdjudicateArguments, unit: str) -> SignedSettlement:
    case = _find_case(chair, args, unit)
    if args.withdraw:
        return chair.withdraw(case, args.reason or "")
    moves = [_parse_move(chair.study, case, words) for words in args.move]
    value = value_at(chair.study, case, args.value) if args.value is not None else None
    means: Means = args.means or ("discussion" if moves or args.minutes is not None else "adjudicator")
    return chair.settle(
        case,
        value,
        reason=args.reason or "",
        means=means,
        missing=args.missing,
        minutes=args.minutes,
        moves=moves,
        judges_seen=args.judges,
    )


def _parse_move(study: Study, case: ItemAnswers, words: str) -> Move:
    """Parse WHO:WAS:NOW:CODE. WAS may be empty and CODE omitted."""
    parts = words.split(":")
    if not 3 <= len(parts) <= 4 or not parts[0]:
        raise LabError("adjudicate", f"--move {words!r} is not WHO:WAS:NOW:CODE", code=2)
    was, now = (value_at(study, case, part) if part else None for part in parts[1:3])
    return Move(parts[0], was, now, parts[3] if len(parts) == 4 else "")


# -- several -----------------------------------------------------------------------------------------------------
def _settle_scope(chair: AdjudicationSession, args: AdjudicateArguments) -> int:
    """Settle every item of the scope that this person may settle, in one transaction, and print how many are left."""
    scope = BatchScope(args.field, args.all_but_one, args.by_rater)
    _check_field(chair, args.field)
    batch = batch_of(chair, _queue(chair).open, scope)
    return _print_settlements(chair, settle_batch(chair, batch, args.reason or ""), args, batch)


def _full_reason(study: Study, args: AdjudicateArguments) -> str:
    """Return the reason as typed, after the words of the protocol's reason if --reason-id names one."""
    if not args.reason_id:
        return args.reason or ""
    reason_words = study.protocol.reason_words(study.locale)
    if args.reason_id not in reason_words:
        if not reason_words:
            raise LabError("adjudicate", f"--reason-id: {study.protocol.id} names no reasons.", "--reason says why.")
        raise LabError("adjudicate", f"--reason-id: {unknown_name(args.reason_id, list(reason_words))}")
    return ": ".join(filter(None, (reason_words[args.reason_id], args.reason)))


def _settle_file(chair: AdjudicationSession, file: str) -> list[SignedSettlement]:
    """Settle a file's lines in one transaction, under the same rules as typed options."""
    from store.studies.adjudication import Ruling

    places = StudyPlaces(chair.store, chair.study)
    rulings = []
    for where, row in rows_of(file):
        unit = places.unit(row.unit, where)
        case = chair.case(unit, places_of(chair.study, unit, row.target, row.field, where))
        try:
            rulings.append(Ruling(unit, _settlement(chair, case, row)))
        except LabError as error:
            raise LabError(where, f"{error.title}: {error.message}", error.hint) from error
    return chair.store.adjudications.settle_each(chair.study, rulings, chair.person)


def _settlement(chair: AdjudicationSession, case: ItemAnswers, row: SettlementLine) -> Settlement:
    moves = tuple(chair.move(case, move) for move in row.moves)
    means = row.means or ("discussion" if moves or row.minutes is not None else "adjudicator")
    value = as_option(_field_of(chair.study, case), target_of(case.unit, case.spot.target), row.value)
    return Settlement(
        case.spot.target, case.spot.field, means, value, row.missing, row.reason.strip(), row.minutes, moves,
        row.judges_seen, row.withdrawn, chair.reason_id(row.reason),
    )  # fmt: skip


def _print_settlements(
    chair: AdjudicationSession,
    settlements: list[SignedSettlement],
    args: AdjudicateArguments,
    batch: BatchSettlement | None = None,
) -> int:
    lines = []
    for settlement in settlements:
        case = None
        if settlement.what.moves:
            case = chair.case(
                chair.store.studies.unit(chair.study, settlement.unit),
                FieldReference(settlement.what.target, settlement.what.field),
            )
        lines.append(settled_line(settlement, case))
    print_result(
        Adjudications(chair.study.id, chair.study.version, tuple(lines), batch.left if batch is not None else {}),
        lambda _: print_settlements(lines, chair.store.path.name, batch.left_words if batch is not None else ""),
        json=args.json,
    )
    return 0


def _write_gold(chair: AdjudicationSession, out: Path, *, as_json: bool) -> int:
    """Write the settled values to a new file, as lines for `hitlab study new --gold`."""
    from annotators.gold import GoldLine

    settlements = sorted(chair.store.adjudications.settlements(chair.study).items())
    lines = [
        encode(GoldLine(settlement.what.value, unit, "", spot.target, spot.field, settlement.what.reason))
        for (unit, spot), settlement in settlements
        if settlement.what.reason_missing is None
    ]
    if not lines:
        raise LabError("adjudicate", "nothing is settled yet; no gold was written.")
    write_new(out, b"".join(line + b"\n" for line in lines), f"gold file {out}", "no gold was written")
    written_gold = GoldWritten(str(out), len(lines))
    print_result(
        written_gold,
        lambda _: print_line(
            f"{count(written_gold.lines, 'line')} of gold in {out}; hitlab study new ... --gold {out}"
        ),
        json=as_json,
    )
    return 0


_MOST = 256 * 1024 * 1024
"""Maximum bytes of a file of settlements."""


class SettlementLine(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """One line of input of `hitlab labels adjudicate --file`: a place, its settlement and the reason.

    `unit` is a unit's id or its beginning, or a run's. `target` and `field` may be omitted if there is only one.
    Exactly one of `value`, `missing` and `withdrawn` is required. Moves name a rater by letter or code, and may omit
    `was`.
    """

    unit: str
    reason: str
    target: str = ""
    field: str = ""
    value: Any = None
    missing: Missing | None = None
    means: Means | None = None
    minutes: float | None = None
    moves: tuple[Move, ...] = ()
    judges_seen: bool = False
    withdrawn: bool = False


def rows_of(name: str) -> list[tuple[str, SettlementLine]]:
    """Return each line of a file (or of standard input: `-`) with its place. Raise `LabError` with line and field."""
    what = "standard input" if name == "-" else f"file {name}"
    data = sys.stdin.buffer.read(_MOST + 1) if name == "-" else read_file(Path(name), what, most=_MOST)
    if len(data) > _MOST:
        raise LabError(what, f"has more than the {_MOST:,} bytes that are read")
    rows = []
    for where, (value, notes) in json_lines(data, what):
        for place, oddity in notes:
            raise LabError(where, f"field {place}: holds a {oddity}")
        row: SettlementLine = convert(value, SettlementLine, where)
        count = (row.value is not None) + (row.missing is not None) + row.withdrawn
        if count != 1:
            raise LabError(where, f"field value: {count or 'none'} of value, missing and withdrawn is told")
        rows.append((where, _clean_row(row)))
    if not rows:
        raise LabError(what, "holds no line")
    return rows


def _clean_row(row: SettlementLine) -> SettlementLine:
    moves = tuple(msgspec.structs.replace(move, why=clean(move.why)) for move in row.moves)
    return msgspec.structs.replace(row, reason=clean(row.reason), value=clean_value(row.value), moves=moves)


def places_of(study: Study, unit: Unit, target: str, field: str, where: str) -> FieldReference:
    """Return the place that the options name. The target may be omitted if the unit has only one."""
    if not target and len(unit.targets) == 1 and study.protocol.targets != "unit":
        whole = study.protocol.field(field)
        if whole is None or whole.per == "target":
            target = unit.targets[0].id
    return FieldReference(target, field_at(study.protocol, unit, target, field, where).id)


def value_at(study: Study, case: ItemAnswers, words: str) -> Any:
    """Parse a typed value of the place's field. Raise `LabError` if it does not fit."""
    field = _field_of(study, case)
    if field.kind in ("nominal", "ordinal"):
        return words
    if field.kind == "flag":
        flag_values = {"yes": True, "true": True, "no": False, "false": False}
        if words.casefold() not in flag_values:
            raise LabError(field.id, f"{words!r} is neither yes nor no.")
        return flag_values[words.casefold()]
    return typed_value(field, words)


def _field_of(study: Study, case: ItemAnswers) -> Field:
    field = study.protocol.field(case.spot.field)
    assert field is not None
    return field


def check_seen(chair: AdjudicationSession, case: ItemAnswers, what: str) -> None:
    """Raise `LabError` if the unit is still open for this person or others: nobody sees its answers before then."""
    if case.closed and not chair.store.studies.locked(chair.study):
        raise LabError(what, f"unit {case.unit.id}: {case.closed}")
