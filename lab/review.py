"""Proofreading a demonstration: what each of two people said of it, row by row, and how it stands by their rows.

Source: DAC-Bench 2.4 (two independent proofreaders, then a cross-check). The state is a pure function of the rows.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal, NamedTuple

import msgspec

from lab.errors import LabError
from lab.task import Actor
from lab.trace import Trace
from lab.turn import Action
from lab.wire import encode

VERSION = 1
"""The newest stored shape of a review that this program knows."""

Field = Literal["whole", "intent", "place", "impossible", "step", "instruction", "action"]
Act = Literal["accept", "edit", "reject", "commit", "settle"]
State = Literal["unreviewed", "one of two", "agreed", "differs", "settled", "rejected"]

WHOLE_FIELDS: tuple[Field, ...] = ("intent", "place", "impossible")
STEP_FIELDS: tuple[Field, ...] = ("instruction", "action")
VERDICTS: tuple[Field, ...] = ("whole", "step")
READY: tuple[State, ...] = ("agreed", "settled")
"""States in which a demonstration has one reviewed text."""


class Place(NamedTuple):
    """What a word is about: a field of a step (from 0), or of the demonstration (`step` None)."""

    step: int | None
    field: Field


WHOLE = Place(None, "whole")


class Review(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """One word of one person on one place of a demonstration; never changed, only superseded.

    `old` and `new` are what stood there and what should (an action as JSON); of `step` and `whole` they are `accept`
    or `reject`. `supersedes` is the same person's earlier word on the same place.
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
    v: int = VERSION

    @property
    def place(self) -> Place:
        return Place(self.step, self.field)


class Proof(NamedTuple):
    """What there is to proofread: who recorded it, and each field's own value."""

    trace: str
    annotator: Actor
    steps: int
    values: Mapping[Place, Any]


class Word(NamedTuple):
    """What one proofreader wants at a place; `note` is the reason of a rejection."""

    by: str
    value: Any
    note: str = ""


class Difference(NamedTuple):
    """A place about which two proofreaders differ, and what stood there."""

    place: Place
    old: Any
    words: tuple[Word, ...]


class Standing(NamedTuple):
    """How a demonstration stands. `values` are the reviewed ones, `rejected` the steps (from 0) that were rejected."""

    state: State
    proofreaders: tuple[str, ...] = ()
    differences: tuple[Difference, ...] = ()
    values: Mapping[Place, Any] = {}
    rejected: tuple[int, ...] = ()
    settled_by: tuple[str, ...] = ()


class Sheet:
    """What one person has said of a demonstration so far."""

    def __init__(self, demo: Proof, rows: Iterable[Review], by: str) -> None:
        self.demo = demo
        own = [row for row in rows if row.by.id == by and row.act != "settle"]
        self.committed = any(row.act == "commit" for row in own)
        self.heads: dict[Place, Review] = {row.place: row for row in in_order(own) if row.act != "commit"}

    def value(self, place: Place) -> Any:
        """What stands at a place by this person's word; the demonstration's own where they said none."""
        head = self.heads.get(place)
        if place.field in VERDICTS:
            return "reject" if head is not None and head.act == "reject" else "accept"
        return self.demo.values[place] if head is None else head.new

    def note(self, place: Place) -> str:
        """Why, where a reason was given."""
        head = self.heads.get(place)
        return head.note if head is not None else ""

    def verdict(self, step: int | None) -> Literal["", "accept", "edit", "reject"]:
        """What was said of a step, or of the demonstration (None), in a word; empty where it was not looked at."""
        fields = WHOLE_FIELDS if step is None else STEP_FIELDS
        head = Place(step, "whole" if step is None else "step")
        if not any(Place(step, field) in self.heads for field in (*fields, head.field)):
            return ""
        if self.value(head) == "reject":
            return "reject"
        edited = any(self.value(Place(step, field)) != self.demo.values[Place(step, field)] for field in fields)
        return "edit" if edited else "accept"

    @property
    def unseen(self) -> list[int | None]:
        """The steps, and at last the demonstration itself (None), that were not looked at."""
        return [step for step in (*range(self.demo.steps), None) if not self.verdict(step)]


def in_order(rows: Iterable[Review]) -> list[Review]:
    """Rows as they were made; two heads that a merge brought together count by their time."""
    return sorted(rows, key=lambda row: (row.at, row.id))


class Said(NamedTuple):
    """One recorded step, as far as it is proofread."""

    instruction: str
    action: Action


def proof_of(trace: Trace) -> Proof:
    """What of a run is proofread; `LabError` where no person worked its phone, or it has not ended."""
    steps = [Said(step.proposed.instruction, step.action or step.proposed.action) for step in trace.steps]
    task = trace.task
    return laid_out(trace.id, trace.agent, task.instruction, task.place, steps, ended=trace.ended is not None)


def laid_out(trace: str, by: Actor, intent: str, place: str, steps: Sequence[Said], *, ended: bool) -> Proof:
    """As `proof_of`, from the parts alone."""
    if by.kind != "human":
        raise LabError(f"run {trace}", "is no demonstration: no person worked the phone in it.")
    if not ended:
        hint = "`hitlab record --resume ID` goes on."
        raise LabError(f"run {trace}", "is still open; what is proofread has ended.", hint)
    values: dict[Place, Any] = {
        Place(None, "intent"): intent,
        Place(None, "place"): place,
        Place(None, "impossible"): impossible_of(steps[-1].action if steps else None),
    }
    for index, step in enumerate(steps):
        values[Place(index, "instruction")] = step.instruction
        values[Place(index, "action")] = plain_value(step.action)
    return Proof(trace, by, len(steps), values)


def impossible_of(last: Action | None) -> str:
    """The reason code with which a demonstration was given up as impossible; empty where it was not."""
    if last is None or last.kind != "status" or last.status != "infeasible":
        return ""
    return last.text or "infeasible"


def plain_value(value: Any) -> Any:
    """A value as its JSON reads back, so that two of them compare as they are stored."""
    return msgspec.json.decode(encode(value))


def action_of(value: Any) -> Action:
    """The action that a stored value is."""
    action: Action = msgspec.convert(value, Action)
    return action


# -- rules -----------------------------------------------------------------------------------------------------


def check_next(demo: Proof, rows: Sequence[Review], row: Review) -> None:
    """Raises `LabError` where the rules refuse a row after those that stand; each person's own come in any order."""
    what, by = f"review of run {demo.trace}", row.by.id
    if row.trace != demo.trace or (row.place != WHOLE and not _known(demo, row.place)):
        raise LabError(what, f"there is no {place_words(row.place)} in it.")
    if row.by.kind != "human":
        raise LabError(what, "is a person's to give.")
    if by == demo.annotator.id:
        raise LabError(what, f"{by} recorded it; others proofread it.", "--as CODE says who you are.")
    standing = standing_of(demo, rows)
    sheet = Sheet(demo, rows, by)
    if row.act == "settle":
        _check_settling(what, standing, sheet, row)
        return
    if sheet.committed:
        raise LabError(what, f"{by} has handed it in; nothing in it changes any more.", "A third person settles it.")
    if len(standing.proofreaders) >= 2:
        raise LabError(what, f"two have proofread it ({', '.join(standing.proofreaders)}).", "You may settle it.")
    head = sheet.heads.get(row.place)
    if row.act != "commit" and row.supersedes != (head.id if head is not None else None):
        raise LabError(what, f"{place_words(row.place)} was changed meanwhile; nothing was done.", "Look again.")
    _check_shape(what, row)
    if row.act == "commit" and sheet.unseen:
        raise LabError(what, f"{unseen_words(sheet.unseen)} not looked at yet.")


def _known(demo: Proof, place: Place) -> bool:
    if place.field == "step":
        return place.step is not None and 0 <= place.step < demo.steps
    return place in demo.values


def _check_settling(what: str, standing: Standing, sheet: Sheet, row: Review) -> None:
    if len(standing.proofreaders) < 2:
        raise LabError(what, "two have to proofread it before a third settles it.")
    if row.by.id in standing.proofreaders:
        raise LabError(what, f"{row.by.id} is one of the two who proofread it; a third person settles it.")
    _check_shape(what, row)


def _check_shape(what: str, row: Review) -> None:
    """What each act may say, and of what."""
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
        raise LabError(what, f"{place_words(row.place)}: {error}", "`hitlab schema action` says what fits.") from error


# -- how it stands ---------------------------------------------------------------------------------------------


def standing_of(demo: Proof, rows: Iterable[Review]) -> Standing:
    """How a demonstration stands by all rows on it, in whatever order they come."""
    ordered = in_order(rows)
    proofreaders = tuple(dict.fromkeys(row.by.id for row in ordered if row.act == "commit"))[:2]
    if len(proofreaders) < 2:
        return Standing("one of two" if proofreaders else "unreviewed", proofreaders)
    sheets = {by: Sheet(demo, ordered, by) for by in proofreaders}
    settled = {row.place: row for row in ordered if row.act == "settle"}

    def said(place: Place) -> Any:
        """The one value of a place, UNSET where two differ and nobody settled it."""
        if place in settled:
            return settled[place].new
        first, second = (sheet.value(place) for sheet in sheets.values())
        return first if first == second else msgspec.UNSET

    rejected = tuple(step for step in range(demo.steps) if said(Place(step, "step")) == "reject")
    verdicts = [WHOLE, *(Place(step, "step") for step in range(demo.steps))]
    fields = [place for place in demo.values if place.step not in rejected]
    differing = [place for place in (*verdicts, *fields) if said(place) is msgspec.UNSET]
    differences = tuple(
        Difference(
            place,
            demo.values.get(place, "accept"),
            tuple(Word(by, sheet.value(place), sheet.note(place)) for by, sheet in sheets.items()),
        )
        for place in sorted(differing, key=_reading_order)
    )
    values = {place: said(place) for place in demo.values if said(place) is not msgspec.UNSET}
    settlers = tuple(dict.fromkeys(row.by.id for row in settled.values()))
    state: State = "differs" if differences else "settled" if settled else "agreed"
    if said(WHOLE) == "reject":
        state, differences = "rejected", ()
    return Standing(state, proofreaders, differences, values, rejected, settlers)


def visible(demo: Proof, rows: Iterable[Review], by: str) -> list[Review]:
    """The rows that a person may see: their own, and everybody's once two have handed theirs in."""
    ordered = in_order(rows)
    if len(standing_of(demo, ordered).proofreaders) >= 2:
        return ordered
    return [row for row in ordered if row.by.id == by]


def _reading_order(place: Place) -> tuple[int, str]:
    return (-1 if place.step is None else place.step, place.field)


# -- words -----------------------------------------------------------------------------------------------------


def place_words(place: Place) -> str:
    """A place as people say it: `step 3's action`, `the intent`."""
    if place.step is None:
        return "the demonstration" if place.field == "whole" else f"the {place.field}"
    return f"step {place.step + 1}" if place.field == "step" else f"step {place.step + 1}'s {place.field}"


def unseen_words(unseen: Sequence[int | None]) -> str:
    """What was not looked at, as the beginning of a sentence: `steps 3, 4 and the demonstration as a whole are`."""
    steps = [str(step + 1) for step in unseen if step is not None]
    shown = f"{', '.join(steps[:6])}{', ...' if len(steps) > 6 else ''}"
    parts = [f"step{'s' * (len(steps) > 1)} {shown}"] if steps else []
    parts += ["the demonstration as a whole"] if None in unseen else []
    return f"{' and '.join(parts)} {'is' if len(unseen) == 1 else 'are'}"
