"""Output of `hitlab labels adjudicate`: the queue, one item with its answers side by side, settlements."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import msgspec

from annotators.derived import step_of
from lab.cli.output import print_line, print_table, record_of, table_form
from lab.core.study.adjudication import AnswerCount, Means, SignedSettlement, count_of_answer
from lab.core.study.option_sets import set_words
from lab.core.study.rating_sheet import MISSING
from lab.core.study.study import Study
from lab.core.text.plain_text import plain
from lab.core.values.rounding import format_number

if TYPE_CHECKING:
    from annotators.adjudication import DisputedPlace, Queue
    from lab.studies.settling.adjudication import ItemAnswers, MaskedAnswer

_SHOWN = 40
"""Items listed in the terminal. --json has all."""


class MoveLine(msgspec.Struct, frozen=True):
    """A change of mind in a discussion. `rater` is a letter while raters are hidden."""

    rater: str
    was: Any
    now: Any
    code: str
    why: str


class SettledLine(msgspec.Struct, frozen=True):
    """Settlement of a place. `withdrawn` means that it is open again. `reason_id` is the protocol's reason.

    Settlements of one act share a `batch`.
    """

    unit: str
    target: str
    field: str
    value: Any
    missing: str | None
    means: Means
    reason: str
    minutes: float | None
    moves: tuple[MoveLine, ...]
    by: str
    at: str
    judges_seen: bool = False
    withdrawn: bool = False
    reason_id: str = ""
    batch: str = ""


class DisputeLine(msgspec.Struct, frozen=True):
    """A place on which people differ.

    `moves` is how far its field's agreement (Krippendorff's alpha) moves without its unit, null if undefined.
    `majority` is the answer of more than half, null if there is none.
    """

    unit: str
    target: str
    field: str
    said: tuple[AnswerCount, ...]
    moves: float | None
    majority: AnswerCount | None
    settled: SettledLine | None = None


class QueueTold(msgspec.Struct, frozen=True):
    """Open and settled disagreements: `labels adjudicate --list`.

    `waiting` counts units not handed in by all raters yet.
    """

    study: str
    version: int
    title: str
    open: tuple[DisputeLine, ...]
    settled: tuple[DisputeLine, ...]
    waiting: int


class VoiceLine(msgspec.Struct, frozen=True):
    """One rater's answer at a place. `rater` is a letter until settled, J1, J2 ... for judges. `step` is from 1."""

    rater: str
    value: Any
    missing: str | None
    step: int | None
    flags: tuple[str, ...]
    confidence: float | None
    note: str
    cites: str


class CaseTold(msgspec.Struct, frozen=True):
    """One place with all its answers: `labels adjudicate --unit U`."""

    study: str
    version: int
    unit: str
    target: str
    field: str
    said: tuple[VoiceLine, ...]
    judges: tuple[VoiceLine, ...]
    majority: AnswerCount | None
    settled: SettledLine | None
    closed: str


class Adjudications(msgspec.Struct, frozen=True):
    """Result of `labels adjudicate` with an option that settles. Of a batch, `left` counts the open items by reason."""

    study: str
    version: int
    settled: tuple[SettledLine, ...]
    left: dict[str, int] = {}


class GoldWritten(msgspec.Struct, frozen=True):
    """Result of `labels adjudicate --gold FILE`: settlements written as gold for another study's pilot."""

    path: str
    lines: int


# -- as data -----------------------------------------------------------------------------------------------------


def queue_output(study: Study, queue: Queue) -> QueueTold:
    return QueueTold(
        study.id, study.version, study.title, tuple(map(_dispute_line, queue.open)),
        tuple(map(_dispute_line, queue.settled)), queue.waiting,
    )  # fmt: skip


def _dispute_line(dispute: DisputedPlace) -> DisputeLine:
    settlement = settled_line(dispute.settled) if dispute.settled is not None else None
    target, field = dispute.spot
    return DisputeLine(dispute.unit, target, field, dispute.counts, dispute.moves, dispute.majority, settlement)


def case_output(study: Study, case: ItemAnswers, *, judges: bool) -> CaseTold:
    most = case.majority
    people = sum(voice.said.word == most.word for voice in case.voices) if most is not None else 0
    return CaseTold(
        study.id, study.version, case.unit.id, case.spot.target, case.spot.field, tuple(map(_voice_line, case.voices)),
        tuple(map(_voice_line, case.judges)) if judges else (),
        AnswerCount(most.value, most.reason_missing, people) if most is not None else None,
        settled_line(case.settled, case) if case.settled is not None else None, case.closed,
    )  # fmt: skip


def _voice_line(voice: MaskedAnswer) -> VoiceLine:
    answer, label = voice.said, voice.said.label
    step = step_of(label) if label is not None else None
    return VoiceLine(
        voice.display_name, answer.value, answer.reason_missing, None if step is None else step + 1, voice.flags,
        label.confidence if label is not None else None, label.note if label is not None else "",
        label.cites if label is not None else "",
    )  # fmt: skip


def settled_line(settlement: SignedSettlement, case: ItemAnswers | None = None) -> SettledLine:
    """Return a settlement's line. A move's rater has the name shown in `case`, and none without it."""
    what = settlement.what
    moves = tuple(
        MoveLine(case.rater_name(move.rater) if case is not None else "", move.was, move.now, move.code, move.why)
        for move in what.moves
    )
    return record_of(
        SettledLine, what, unit=settlement.unit, missing=what.reason_missing, means=what.by_means, moves=moves,
        by=settlement.by.id, at=settlement.at,
    )  # fmt: skip


# -- for people --------------------------------------------------------------------------------------------------


def value_words(value: Any, missing: str | None) -> str:
    """Format an answer in a word or two."""
    if missing:
        return next((words for reason, words in MISSING.items() if reason == missing), missing)
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list | tuple):
        return set_words(value)
    return f"{value:g}" if isinstance(value, float) else str(value)


def print_queue(queue: QueueTold) -> None:
    print_line(f"{queue.study} v{queue.version}: {queue.title}")
    if queue.open or table_form.is_data:
        print_table(
            ["unit", "item", "question", "answers", "moves alpha by"],
            [
                [
                    dispute.unit,
                    dispute.target or "-",
                    dispute.field,
                    _format_counts(dispute),
                    _format_effect(dispute.moves),
                ]
                for dispute in queue.open[:_SHOWN]
            ],
        )
        if len(queue.open) > _SHOWN:
            print_line(f"and {len(queue.open) - _SHOWN:,} more (--json)")
    majority = sum(dispute.majority is not None for dispute in queue.open)
    summary = f"{len(queue.open):,} to settle, {majority:,} of them with a majority; {len(queue.settled):,} settled"
    print_line(
        summary if queue.open or queue.settled else "nothing to settle: people differ on nothing that is handed in"
    )
    if queue.waiting:
        runs = "1 more waits" if queue.waiting == 1 else f"{queue.waiting:,} more wait"
        print_line(f"{runs} until all its raters have handed it in" if queue.waiting == 1 else f"{runs} until all have")


def _format_counts(dispute: DisputeLine) -> str:
    return ", ".join(count_of_answer(count.people, value_words(count.value, count.missing)) for count in dispute.said)


def _format_effect(by: float | None) -> str:
    return "-" if by is None else format_number(by, 4)


def print_case(case: CaseTold) -> None:
    place = f"{case.unit}: {case.target + ', ' if case.target else ''}{case.field}"
    print_line(plain(f"{case.study} v{case.version}, {place}", lines=False))
    voices = [*case.said, *case.judges]
    print_table(
        ["rater", "answer", "step", "flags", "sure", "note"],
        [
            [
                voice.rater, value_words(voice.value, voice.missing), str(voice.step or ""), ", ".join(voice.flags),
                "" if voice.confidence is None else f"{voice.confidence:g}", voice.note or voice.cites,
            ]
            for voice in voices
        ],
        wide="note",
    )  # fmt: skip
    if case.settled is not None:
        print_line(f"settled   {_describe_settlement(case.settled)}")
        for move in case.settled.moves:
            why = f" ({', '.join(part for part in (move.code, move.why) if part)})" if move.code or move.why else ""
            print_line(f"moved     {move.rater}: {value_words(move.was, None)} -> {value_words(move.now, None)}{why}")
    if case.closed:
        print_line(f"closed    {case.closed}")


def _describe_settlement(settlement: SettledLine) -> str:
    if settlement.withdrawn:
        return f"no more: {settlement.reason}"
    minutes = f", {settlement.minutes:g} min" if settlement.minutes is not None else ""
    value = value_words(settlement.value, settlement.missing)
    return f"{value} by {settlement.means}{minutes}, {settlement.by}: {settlement.reason}"


def print_settlements(lines: Sequence[SettledLine], db: str, open_words: str = "") -> None:
    for settlement in lines[:_SHOWN]:
        where = ", ".join(part for part in (settlement.unit, settlement.target, settlement.field) if part)
        print_line(f"{where}: {_describe_settlement(settlement)}")
    if len(lines) > _SHOWN:
        print_line(f"and {len(lines) - _SHOWN:,} more")
    print_line(f"{len(lines):,} kept in {db}" + (f"; left open: {open_words}" if open_words else ""))
