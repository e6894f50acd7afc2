"""Proofreading of a demonstration: the review rows of two people, and the state that follows from them.

Source: DAC-Bench 2.4 (two independent proofreaders, then a cross-check). The state is a pure function of the rows.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal, NamedTuple

import msgspec

from lab.core.codec import encode, reason_of
from lab.core.errors import LabError
from lab.core.run.step import Action
from lab.core.run.trace import Trace
from lab.core.task.task import Actor

VERSION = 2
"""Newest stored version of a review that this program knows. Version 2 added `undo`."""

Field = Literal["whole", "intent", "place", "impossible", "step", "instruction", "action"]
Act = Literal["accept", "edit", "reject", "commit", "settle", "undo"]
State = Literal["unreviewed", "one of two", "agreed", "differs", "settled", "rejected"]

WHOLE_FIELDS: tuple[Field, ...] = ("intent", "place", "impossible")
STEP_FIELDS: tuple[Field, ...] = ("instruction", "action")
VERDICTS: tuple[Field, ...] = ("whole", "step")
READY: tuple[State, ...] = ("agreed", "settled")
"""States in which a demonstration has one reviewed text."""


class ProofreadPlace(NamedTuple):
    """The subject of a review: a field of a step (from 0), or of the whole demonstration (`step` None)."""

    step: int | None
    field: Field


WHOLE = ProofreadPlace(None, "whole")


class Review(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """One person's review of one place of a demonstration. It never changes, and a later one supersedes it.

    `old` and `new` are the value before and after (an action as JSON). For `step` and `whole` they are `accept` or
    `reject`. `supersedes` is the same person's earlier review of the place. An `undo` takes that one back, so that the
    review before it applies again.
    """

    id: str
    trace: str
    step: int | None
    field: Field
    act: Act
    by: Actor
    at: str
    old: Any = None
    new: Any = None
    note: str = ""
    supersedes: str | None = None
    v: int = 1

    @property
    def place(self) -> ProofreadPlace:
        return ProofreadPlace(self.step, self.field)


class Proof(NamedTuple):
    """A demonstration to proofread: who recorded it, and the recorded value of each field."""

    trace: str
    annotator: Actor
    steps: int
    values: Mapping[ProofreadPlace, Any]


class ProofreadWord(msgspec.Struct, frozen=True):
    """A proofreader's value at a place. `note` is the reason of a rejection."""

    by: str
    value: Any
    note: str


class Difference(NamedTuple):
    """A place at which two proofreaders differ, and its recorded value."""

    place: ProofreadPlace
    old: Any
    words: tuple[ProofreadWord, ...]


class ProofreadingState(NamedTuple):
    """The state of a demonstration. `values` are the reviewed values, `rejected` the rejected steps (from 0)."""

    state: State
    proofreaders: tuple[str, ...] = ()
    differences: tuple[Difference, ...] = ()
    values: Mapping[ProofreadPlace, Any] = {}
    rejected: tuple[int, ...] = ()
    settled_by: tuple[str, ...] = ()


class ProofreadingSheet:
    """One person's reviews of a demonstration so far."""

    def __init__(self, demo: Proof, rows: Iterable[Review], by: str) -> None:
        self.demo = demo
        own = [row for row in without_undone(rows) if row.by.id == by and row.act != "settle"]
        self.committed = any(row.act == "commit" for row in own)
        self.words = [row for row in own if row.act != "commit"]
        """This person's reviews that they did not take back, in order."""
        self.heads: dict[ProofreadPlace, Review] = {row.place: row for row in self.words}

    def value(self, place: ProofreadPlace) -> Any:
        """Return this person's value at a place, or the recorded one if they did not review it."""
        head = self.heads.get(place)
        if place.field in VERDICTS:
            return "reject" if head is not None and head.act == "reject" else "accept"
        return self.demo.values[place] if head is None else head.new

    def note(self, place: ProofreadPlace) -> str:
        """Return the note of this person's review, empty without one."""
        head = self.heads.get(place)
        return head.note if head is not None else ""

    def verdict(self, step: int | None) -> Literal["", "accept", "edit", "reject"]:
        """Return the verdict on a step, or on the demonstration (None), empty if it was not reviewed."""
        fields = WHOLE_FIELDS if step is None else STEP_FIELDS
        head = ProofreadPlace(step, "whole" if step is None else "step")
        if not any(ProofreadPlace(step, field) in self.heads for field in (*fields, head.field)):
            return ""
        if self.value(head) == "reject":
            return "reject"
        edited = any(
            self.value(ProofreadPlace(step, field)) != self.demo.values[ProofreadPlace(step, field)] for field in fields
        )
        return "edit" if edited else "accept"

    @property
    def unseen(self) -> list[int | None]:
        """Steps, and last the demonstration itself (None), that this person did not review."""
        return [step for step in (*range(self.demo.steps), None) if not self.verdict(step)]


def in_order(rows: Iterable[Review]) -> list[Review]:
    """Sort rows by time. After a merge with two heads at a place, the later one counts."""
    return sorted(rows, key=lambda row: (row.at, row.id))


def without_undone(rows: Iterable[Review]) -> list[Review]:
    """Return the rows in order, without `undo` rows and those they take back."""
    ordered_rows = in_order(rows)
    undone_ids = {row.supersedes for row in ordered_rows if row.act == "undo"}
    return [row for row in ordered_rows if row.act != "undo" and row.id not in undone_ids]


class ProofreadStep(NamedTuple):
    """The parts of a recorded step that are proofread."""

    instruction: str
    action: Action


def proof_of(trace: Trace) -> Proof:
    """Return the proofreading view of a run. Raise `LabError` if its agent was not a person or it has not ended."""
    steps = [ProofreadStep(step.proposed.instruction, step.action or step.proposed.action) for step in trace.steps]
    task = trace.task
    return build_proof(trace.id, trace.agent, task.instruction, task.place, steps, ended=trace.ended is not None)


def build_proof(
    trace: str, by: Actor, intent: str, place: str, steps: Sequence[ProofreadStep], *, ended: bool
) -> Proof:
    """Build a `Proof` like `proof_of`, from its parts."""
    if by.kind != "human":
        raise LabError(f"run {trace}", "is no demonstration: no person worked the phone in it.")
    if not ended:
        hint = "`hitlab record --resume ID` goes on."
        raise LabError(f"run {trace}", "is still open; what is proofread has ended.", hint)
    values: dict[ProofreadPlace, Any] = {
        ProofreadPlace(None, "intent"): intent,
        ProofreadPlace(None, "place"): place,
        ProofreadPlace(None, "impossible"): impossible_of(steps[-1].action if steps else None),
    }
    for index, step in enumerate(steps):
        values[ProofreadPlace(index, "instruction")] = step.instruction
        values[ProofreadPlace(index, "action")] = plain_value(step.action)
    return Proof(trace, by, len(steps), values)


def impossible_of(last: Action | None) -> str:
    """Return the reason code of a demonstration given up as impossible, empty for others."""
    if last is None or last.kind != "status" or last.status != "infeasible":
        return ""
    return last.text or "infeasible"


def plain_value(value: Any) -> Any:
    """Return a value as its JSON reads back, so that values compare in their stored form."""
    return msgspec.json.decode(encode(value))


def action_of(value: Any) -> Action:
    """Convert a stored value to an action."""
    action: Action = msgspec.convert(value, Action)
    return action


# -- rules -----------------------------------------------------------------------------------------------------


def check_next(demo: Proof, rows: Sequence[Review], row: Review) -> None:
    """Raise `LabError` if a row may not follow the current ones. Each person's own rows come in any order."""
    what, by = f"review of run {demo.trace}", row.by.id
    if row.trace != demo.trace or (row.place != WHOLE and not _is_place(demo, row.place)):
        raise LabError(what, f"there is no {place_words(row.place)} in it.")
    if row.by.kind != "human":
        raise LabError(what, "is a person's to give.")
    if by == demo.annotator.id:
        raise LabError(what, f"{by} recorded it; others proofread it.", "--person CODE says who you are.")
    review_state = proofreading_state(demo, rows)
    sheet = ProofreadingSheet(demo, rows, by)
    if row.act == "undo":
        _check_undo(what, rows, row)
    # An undo by a person without reviews of their own takes back a settlement.
    if row.act == "settle" or (row.act == "undo" and by not in review_state.proofreaders and not sheet.heads):
        _check_settling(what, review_state, sheet, row)
        return
    if sheet.committed:
        raise LabError(what, f"{by} has handed it in; nothing in it changes any more.", "A third person settles it.")
    if len(review_state.proofreaders) >= 2:
        raise LabError(what, f"two have proofread it ({', '.join(review_state.proofreaders)}).", "You may settle it.")
    head = sheet.heads.get(row.place)
    if row.act != "commit" and row.supersedes != (head.id if head is not None else None):
        raise LabError(what, f"{place_words(row.place)} was changed meanwhile; nothing was done.", "Look again.")
    _check_shape(what, row)
    if row.act == "commit" and sheet.unseen:
        raise LabError(what, f"{unseen_words(sheet.unseen)} not looked at yet.")


def _is_place(demo: Proof, place: ProofreadPlace) -> bool:
    if place.field == "step":
        return place.step is not None and 0 <= place.step < demo.steps
    return place in demo.values


def _check_settling(what: str, review_state: ProofreadingState, sheet: ProofreadingSheet, row: Review) -> None:
    if len(review_state.proofreaders) < 2:
        raise LabError(what, "two have to proofread it before a third settles it.")
    if row.by.id in review_state.proofreaders:
        raise LabError(what, f"{row.by.id} is one of the two who proofread it; a third person settles it.")
    _check_shape(what, row)


def _check_undo(what: str, rows: Sequence[Review], row: Review) -> None:
    """Raise `LabError` unless the row takes back the person's own newest review at the place, not yet submitted."""
    own = [
        one for one in without_undone(rows) if one.place == row.place and one.by.id == row.by.id and one.act != "commit"
    ]
    if not own or own[-1].id != row.supersedes:
        raise LabError(what, f"{row.by.id} has said nothing of {place_words(row.place)} that could be taken back.")


def _check_shape(what: str, row: Review) -> None:
    """Raise `LabError` if an act does not fit its field or lacks its value or reason."""
    where = place_words(row.place)
    verdict = row.field in VERDICTS
    if row.act in ("accept", "reject", "commit") and not verdict:
        raise LabError(what, f"{where} is edited, not {row.act}ed; its step, or the whole, is.")
    if row.act == "commit" and row.place != WHOLE:
        raise LabError(what, "only the whole is handed in.")
    if row.act == "edit" and verdict:
        raise LabError(what, f"{where} is accepted or rejected, not edited.")
    if row.act == "settle" and verdict and row.new not in ("accept", "reject"):
        raise LabError(what, f"{where} is settled as accept or reject, not {row.new!r}.")
    if (row.act == "reject" or (row.act == "settle" and row.new == "reject" and verdict)) and not row.note.strip():
        raise LabError(what, f"rejecting {where} needs a reason.")
    if row.act in ("edit", "settle") and not verdict:
        _check_value(what, row)


def _check_value(what: str, row: Review) -> None:
    if row.field != "action":
        if not isinstance(row.new, str):
            raise LabError(what, f"{place_words(row.place)} is text.")
        return
    try:
        action_of(row.new)
    except msgspec.ValidationError as error:
        reason = reason_of(str(error), Action)
        raise LabError(
            what, f"{place_words(row.place)}: {reason}", "`hitlab settings schema action` says what fits."
        ) from error


# -- how it stands ---------------------------------------------------------------------------------------------


def proofreading_state(demo: Proof, rows: Iterable[Review]) -> ProofreadingState:
    """Return a demonstration's state from all its rows, in any order."""
    valid_rows = without_undone(rows)
    # The first two who submit are the proofreaders. Others can only settle.
    proofreaders = tuple(dict.fromkeys(row.by.id for row in valid_rows if row.act == "commit"))[:2]
    if len(proofreaders) < 2:
        return ProofreadingState("one of two" if proofreaders else "unreviewed", proofreaders)
    sheets = {by: ProofreadingSheet(demo, valid_rows, by) for by in proofreaders}
    settlements = {row.place: row for row in valid_rows if row.act == "settle"}

    def agreed_value(place: ProofreadPlace) -> Any:
        """Return the one value of a place, UNSET if the two differ and nobody settled it."""
        if place in settlements:
            return settlements[place].new
        first, second = (sheet.value(place) for sheet in sheets.values())
        return first if first == second else msgspec.UNSET

    rejected_steps = tuple(step for step in range(demo.steps) if agreed_value(ProofreadPlace(step, "step")) == "reject")
    verdicts = [WHOLE, *(ProofreadPlace(step, "step") for step in range(demo.steps))]
    # Nobody needs to agree on the text of a rejected step.
    fields = [place for place in demo.values if place.step not in rejected_steps]
    differing = [place for place in (*verdicts, *fields) if agreed_value(place) is msgspec.UNSET]
    differences = tuple(
        Difference(
            place,
            demo.values.get(place, "accept"),
            tuple(ProofreadWord(by, sheet.value(place), sheet.note(place)) for by, sheet in sheets.items()),
        )
        for place in sorted(differing, key=_reading_order)
    )
    values = {place: agreed_value(place) for place in demo.values if agreed_value(place) is not msgspec.UNSET}
    settlers = tuple(dict.fromkeys(row.by.id for row in settlements.values()))
    state: State = "differs" if differences else "settled" if settlements else "agreed"
    if agreed_value(WHOLE) == "reject":
        state, differences = "rejected", ()
    return ProofreadingState(state, proofreaders, differences, values, rejected_steps, settlers)


def visible_rows(demo: Proof, rows: Iterable[Review], by: str) -> list[Review]:
    """Return the rows that a person may see: their own, and all once two proofreaders have submitted."""
    ordered_rows = in_order(rows)
    if len(proofreading_state(demo, ordered_rows).proofreaders) >= 2:
        return ordered_rows
    return [row for row in ordered_rows if row.by.id == by]


def _reading_order(place: ProofreadPlace) -> tuple[int, str]:
    return (-1 if place.step is None else place.step, place.field)


# -- words -----------------------------------------------------------------------------------------------------


def place_words(place: ProofreadPlace) -> str:
    """Return a place in words: `step 3's action`, `the intent`."""
    if place.step is None:
        return "the demonstration" if place.field == "whole" else f"the {place.field}"
    return f"step {place.step + 1}" if place.field == "step" else f"step {place.step + 1}'s {place.field}"


def unseen_words(unseen: Sequence[int | None]) -> str:
    """Return the unreviewed parts as the start of a sentence: `steps 3, 4 and the demonstration as a whole are`."""
    steps = [str(step + 1) for step in unseen if step is not None]
    numbers = f"{', '.join(steps[:6])}{', ...' if len(steps) > 6 else ''}"
    parts = [f"step{'s' * (len(steps) > 1)} {numbers}"] if steps else []
    parts += ["the demonstration as a whole"] if None in unseen else []
    return f"{' and '.join(parts)} {'is' if len(unseen) == 1 else 'are'}"
