"""Texts of Adjudicate in plain characters: an item in the queue, its answers, and the draft of a settlement."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, cast

from textual.content import Content

from lab.core.study.adjudication import AnswerCount, Means, Move, Settlement, count_of_answer
from lab.core.study.label import Missing
from lab.core.study.protocol import Field, Protocol
from lab.core.study.rating_sheet import MISSING, FieldReference, target_of
from lab.core.study.study import Study, Unit
from lab.core.text.plain_text import plain
from lab.core.values.rounding import format_number
from lab.runs.descriptions import one_line, short_id
from lab.studies.rating.sheet_items import AnswerChoice, SheetItem
from lab.studies.rating.sheet_wording import Wording, place_words, value_words
from lab.studies.settling.adjudication import ItemAnswers, MaskedAnswer
from screens.theme import ACCENT, MUTED, SUCCESS, WARNING

if TYPE_CHECKING:
    from annotators.adjudication import DisputedPlace


@dataclass
class SettlementDraft:
    """Draft of an item's settlement. It stays while another item is shown."""

    value: Any = None
    missing: Missing | None = None
    means: Means = "adjudicator"
    minutes: float | None = None
    moves: dict[str, Move] = field(default_factory=dict)
    """Changes of mind by the letter of the rater."""
    reason: str = ""
    judges_seen: bool = False

    @property
    def has_choice(self) -> bool:
        return self.value is not None or self.missing is not None


def item_at(protocol: Protocol, unit: Unit, spot: FieldReference) -> SheetItem:
    """Return the sheet's item for a field of a unit."""
    question = protocol.field(spot.field)
    assert question is not None
    numbers = {target.id: number for number, target in enumerate(unit.targets, 1)}
    return SheetItem(spot, question, target_of(unit, spot.target), numbers.get(spot.target, 0))


def answer_words(way: Wording, item: SheetItem, value: Any, missing: str | None) -> str:
    """Return an answer, or the reason for a missing one."""
    return way.reason(cast(Missing, missing)) if missing in MISSING else value_words(way, item, value)


_REASON = 56
"""Characters that distinguish reasons in a list. The field shows a reason in full after its digit."""


def reason_choices(way: Wording) -> list[AnswerChoice]:
    """Return the protocol's reasons for settling with their digits. `value` has the full text."""
    words = [plain(says, lines=False).strip() for says in way.protocol.reason_words(way.locale).values()]
    return [AnswerChoice(str(at), says, one_line(says, _REASON)) for at, says in enumerate(words, 1)]


# -- the queue ---------------------------------------------------------------------------------------------------


def dispute_words(way: Wording, unit: Unit, number: int, dispute: DisputedPlace, width: int) -> Content:
    """Return a line of the queue: sign, run, item, counts of answers or the settlement, and the shift of the result.

    The run is named by its id, or by its `number` in the study in a narrow table.
    """
    item = item_at(way.protocol, unit, dispute.spot)
    settlement = dispute.settled
    sign, style = ("✓", SUCCESS) if settlement is not None else ("≠", WARNING)
    shift = format_number(dispute.moves, 3) if dispute.moves is not None else "-"
    answers = (
        settled_words(way, item, settlement.what) if settlement is not None else counts_words(way, item, dispute.counts)
    )
    columns = _columns(way.protocol, width)
    run = one_line(short_id(unit.id), _ID) if columns[0] == _ID else f"#{number}"
    names = zip((run, one_line(_question_name(way, item.field), max(1, columns[1]))), columns, strict=True)
    first = "".join(f"{name:<{size}}  " for name, size in names if size)
    room = width - 2 - len(first) - 8
    # The answers tell more than the item, and get up to five eighths.
    right = min(Content(answers).cell_length, room * 5 // 8)
    left = Content(one_line(way.title(item), 300)).truncate(max(1, room - right - 2), ellipsis=True, pad=True)
    text = Content(answers).truncate(right, ellipsis=True, pad=True).plain
    return Content.assemble((f"{sign} ", style), (first, MUTED), left, "  ", (text, "bold"), (f"{shift:>8}", MUTED))


_ID = 17
"""Characters of a run's short id, with a step in it."""


def _columns(protocol: Protocol, width: int) -> tuple[int, int]:
    """Return the columns of the run's id, and of the question if there are several."""
    wide = width >= 90
    return (_ID if wide else 6, (14 if wide else 9) if len(protocol.fields) > 1 else 0)


def queue_heading(way: Wording, width: int) -> Content:
    """Return the heading of the queue."""
    sizes = _columns(way.protocol, width)
    first = "".join(f"{name:<{size}}  " for name, size in zip(("in", "question"), sizes, strict=True) if size)
    room = max(1, width - len(first) - 17)
    item = "item" if room > len("item") else ""
    return Content.styled(f"  {first}{item:<{room}}answers{'moves':>8}", MUTED)


def counts_words(way: Wording, item: SheetItem, counts: tuple[AnswerCount, ...]) -> str:
    """Return the counts of the answers, the most frequent first."""
    return ", ".join(
        count_of_answer(answer_count.people, answer_words(way, item, answer_count.value, answer_count.missing))
        for answer_count in counts
    )


def question_words(way: Wording, id: str) -> str:
    """Return a question in a word or two, empty if there is no such field."""
    question = way.protocol.field(id)
    return "" if question is None else _question_name(way, question)


def settled_words(way: Wording, item: SheetItem, what: Settlement) -> str:
    """Return the settled answer and its means."""
    return f"{answer_words(way, item, what.value, what.reason_missing)} by {_MEANS[what.by_means]}"


_MEANS: Mapping[Means, str] = {
    "majority": "majority", "discussion": "discussion", "adjudicator": "the adjudicator",
}  # fmt: skip


def _question_name(way: Wording, question: Field) -> str:
    return plain(way.protocol.word(way.locale, f"{question.id}.says", question.display_name), lines=False)


# -- one item ----------------------------------------------------------------------------------------------------


def case_words(way: Wording, case: ItemAnswers) -> Content:
    """Return the item in full and its question."""
    item = item_at(way.protocol, case.unit, case.spot)
    parts: list[tuple[str, str]] = []
    if item.target is not None:
        parts.append((plain(item.target.says or item.target.id), "bold"))
        if item.target.detail:
            parts.append((f"\n{plain(item.target.detail)}", ""))
        parts.append(("\n", ""))
    parts.append((way.ask(item), ACCENT if item.target is not None else "bold"))
    return Content.assemble(*parts)


def voice_words(way: Wording, case: ItemAnswers, voice: MaskedAnswer, move: Move | None, width: int) -> Content:
    """Return one rater's answer in a line: letter, answer, step, flags, confidence, and a sign for a note."""
    item = item_at(way.protocol, case.unit, case.spot)
    answer, label = voice.said, voice.said.label
    words = [answer_words(way, item, answer.value, answer.reason_missing)]
    if label is not None and label.evidence and case.unit.runs:
        words.append(place_words(way, case.unit, label.evidence))
    words += [f"+{_flag_words(way, flag)}" for flag in voice.flags]
    if label is not None and label.confidence is not None:
        words.append(f"{round(label.confidence * 4) + 1}/5")
    if label is not None and (label.note or label.cites):
        words.append("✎")
    if move is not None:
        words.append(f"→ {answer_words(way, item, move.now, None)}")
    return Content.assemble((f"{voice.display_name:<3} ", MUTED), one_line(" ".join(words), max(8, width)))


def _flag_words(way: Wording, id: str) -> str:
    asked_field = way.protocol.field(id)
    return way.flag(asked_field) if asked_field is not None else id


def beside_words(way: Wording, case: ItemAnswers, voice: MaskedAnswer | None, draft: SettlementDraft) -> Content:
    """Return the note of the rater under the cursor, the settlement with its reason, and the draft."""
    parts: list[tuple[str, str]] = []
    label = voice.said.label if voice is not None else None
    if voice is not None and label is not None and label.note:
        parts.append((f"{voice.display_name}: “{plain(label.note)}”\n", ""))
    if voice is not None and label is not None and label.cites:
        parts.append((f"{voice.display_name} points at the guide: {plain(label.cites)}\n", MUTED))
    item = item_at(way.protocol, case.unit, case.spot)
    if case.closed:
        parts.append((f"{plain(case.closed, lines=False)}\n", WARNING))
    if case.settled is not None:
        parts += _settled_parts(way, case, item)
    if draft.has_choice or draft.moves or draft.minutes is not None:
        parts += _draft_parts(way, item, draft)
    return Content.assemble(*parts)


def _settled_parts(way: Wording, case: ItemAnswers, item: SheetItem) -> list[tuple[str, str]]:
    assert case.settled is not None
    what = case.settled.what
    minutes = f", {what.minutes:g} min" if what.minutes is not None else ""
    parts = [("Settled: ", SUCCESS), (f"{settled_words(way, item, what)}{minutes}\n", "bold")]
    parts.append((f"{plain(what.reason)}\n", ""))
    if what.judges_seen:
        parts.append(("after judges' answers were looked at\n", MUTED))
    return parts + _move_parts(way, item, {case.rater_name(move.rater): move for move in what.moves})


def _draft_parts(way: Wording, item: SheetItem, draft: SettlementDraft) -> list[tuple[str, str]]:
    answer = answer_words(way, item, draft.value, draft.missing) if draft.has_choice else "nothing yet"
    minutes = f", {draft.minutes:g} min" if draft.minutes is not None else ""
    parts = [("Not settled yet: ", WARNING), (f"{answer} by {_MEANS[draft.means]}{minutes}\n", "bold")]
    parts += _move_parts(way, item, draft.moves)
    if draft.reason:
        parts.append((f"{plain(draft.reason)}\n", ""))
    return parts


def _move_parts(way: Wording, item: SheetItem, moves: Mapping[str, Move]) -> list[tuple[str, str]]:
    moved_lines = []
    for who, move in moves.items():
        why = ", ".join(plain(part, lines=False) for part in (move.code, move.why) if part)
        was = f"{_value_words(way, item, move.was)} → " if move.was is not None else "→ "
        moved_lines.append((f"{who}: {was}{_value_words(way, item, move.now)}{f' ({why})' if why else ''}\n", MUTED))
    return moved_lines


def _value_words(way: Wording, item: SheetItem, value: Any) -> str:
    return answer_words(way, item, value, value if isinstance(value, str) and value in MISSING else None)


# -- around it ---------------------------------------------------------------------------------------------------


def title_words(study: Study, still: int, done: int, person: str, only: str = "") -> str:
    """Return the title: study, counts of open and settled items (of one question if listed alone), and the person."""
    alone = f"only {only}" if only else ""
    words = ("Adjudicate", one_line(study.name, 40), alone, f"{still:,} to settle", f"{done:,} settled", person)
    return "   ".join(filter(None, (*words, one_line(study.title, 60))))
