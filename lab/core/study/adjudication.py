"""Settlements of raters' disagreements: the value, its author and the reason. The original labels never change."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from typing import Any, Literal, NamedTuple

import msgspec
from msgspec import structs

from lab.core.codec import convert, sha_of
from lab.core.redaction.quotations import ErasedWords
from lab.core.study.label import Act, Label, Missing
from lab.core.study.option_sets import count_problem
from lab.core.study.protocol import Field
from lab.core.study.rating_sheet import FieldReference, current_labels
from lab.core.study.study import Study
from lab.core.task.task import Actor

_MOST = Actor("script", "majority")
"""Actor of a majority that no single person gave: the options that most people chose."""
RULE = ("script", "rule")
"""Actor (kind, id) that fills in answers by rule. It is not a rater."""
Means = Literal["majority", "discussion", "adjudicator"]


class Move(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """One rater's change of mind in a discussion: from `was` to `now`, and why. `code` is the reason in a word."""

    rater: str
    was: Any = None
    now: Any = None
    code: str = ""
    why: str = ""


class Settlement(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """The settled answer at one place of a unit. `value` is None if `reason_missing` gives a reason instead.

    `minutes` is the length of the discussion. `judges_seen` is true if models' answers were shown beside people's.
    `reason_id` is the protocol's reason with which `reason` begins. Settlements of one act share a `batch`, and so does
    the act that takes them back.

    The store holds it as an act `adjudicated` of the person who settled. A later settlement of the same place replaces
    it, and one with `withdrawn` set makes the place open again.
    """

    target: str
    field: str
    by_means: Means
    value: Any = None
    reason_missing: Missing | None = None
    reason: str = ""
    minutes: float | None = None
    moves: tuple[Move, ...] = ()
    judges_seen: bool = False
    withdrawn: bool = False
    reason_id: str = ""
    batch: str = ""


class SignedSettlement(msgspec.Struct, frozen=True):
    """A settlement with its unit, its author and its time."""

    unit: str
    what: Settlement
    by: Actor
    at: str


def current_settlements(acts: Iterable[Act]) -> dict[tuple[str, FieldReference], SignedSettlement]:
    """Return the settlements in force by unit and place: the newest of each place, without withdrawn ones."""
    settlements: dict[tuple[str, FieldReference], SignedSettlement] = {}
    for act in sorted(acts, key=lambda act: (act.at, act.id)):
        if act.act != "adjudicated":
            continue
        what: Settlement = convert(act.detail, Settlement, f"act {act.id}")
        place = (act.unit, FieldReference(what.target, what.field))
        # Removed first, so that the dict's order is that of the newest settlements.
        settlements.pop(place, None)
        if not what.withdrawn:
            settlements[place] = SignedSettlement(act.unit, what, act.rater, act.at)
    return settlements


# -- what was said at a place, and by how many ---------------------------------------------------------------------


class AnswerCount(msgspec.Struct, frozen=True):
    """Number of people with one answer: a `value`, or the reason why it is `missing`."""

    value: Any
    missing: str | None
    people: int


class PlaceAnswer(NamedTuple):
    """One rater's answer at a place. `label` is None for a flag that was left unset on a submitted sheet."""

    rater: Actor
    value: Any
    reason_missing: Missing | None = None
    label: Label | None = None
    person: bool = True

    @property
    def word(self) -> tuple[str, Any]:
        """The answer as it is counted. A reason for a missing answer counts as an answer of its own."""
        return ("missing", self.reason_missing) if self.reason_missing else ("value", comparable(self.value))


def place_answers(
    study: Study, spot: FieldReference, labels: Iterable[Label], committed_sheets: Collection[tuple[str, str, int]]
) -> list[PlaceAnswer]:
    """Return the answers at one place of a unit, people first, then by rater code.

    `labels` are the unit's labels, with or without their history. `committed_sheets` are the submitted sheets as
    (rater, unit, run): people's answers count only from these. Of repeated ratings only the first run counts. Answers
    by rule do not count.
    """
    field = study.protocol.field(spot.field)
    answers: dict[tuple[str, str], PlaceAnswer] = {}
    for label in current_labels(labels):
        person = is_person(study, label.rater)
        if label.run != 1 or (label.rater.kind, label.rater.id) == RULE:
            continue
        if label.rater.kind == "human" and (label.rater.id, label.unit, 1) not in committed_sheets:
            continue
        if (label.target, label.field) == spot:
            answer = PlaceAnswer(label.rater, label.value, label.reason_missing, label, person)
            answers[label.rater.kind, label.rater.id] = answer
        # A submitted sheet answers every flag: one that was not set counts as False.
        elif field is not None and field.kind == "flag":
            answers.setdefault((label.rater.kind, label.rater.id), PlaceAnswer(label.rater, False, None, None, person))
    return sorted(answers.values(), key=lambda one: (not one.person, one.rater.kind, one.rater.id))


def is_person(study: Study, rater: Actor) -> bool:
    """Return True if a rater counts as a person: a human, or any actor that the study names as a rater."""
    return rater.kind == "human" or rater.id in study.raters


def majority_of(answers: Iterable[PlaceAnswer], field: Field | None = None) -> PlaceAnswer | None:
    """Return the answer of more than half of the people, from the first who gave it, or None without a majority.

    A field of many options is settled option by option (`set_of_most`) if no whole set has a majority.
    """
    people = [one for one in answers if one.person]
    counts = Counter(one.word for one in people)
    word, count = counts.most_common(1)[0] if counts else (None, 0)
    # One person alone is not a majority.
    if 2 * count > len(people) and len(people) > 1:
        return next(one for one in people if one.word == word)
    if field is None or field.kind != "many":
        return None
    options = set_of_most(field, [(one.value, 1) for one in people if one.reason_missing is None], len(people))
    return PlaceAnswer(_MOST, options, person=False) if options is not None else None


def set_of_most(field: Field, sets: Sequence[tuple[Any, int]], people: int) -> list[str] | None:
    """Return the options that a majority chose if a majority left out every other one, else None.

    `sets` are the given sets with their counts. People who gave a reason for no answer count in `people`, but neither
    for nor against an option. Also None if the field does not allow that number of options.
    """
    if people < 2:
        return None
    set_count = sum(count for _, count in sets)
    options = []
    for option in field.options:
        supporters = sum(count for value, count in sets if option.id in value)
        if 2 * supporters > people:
            options.append(option.id)
        elif 2 * (set_count - supporters) <= people:
            return None
    return None if count_problem(field, len(options)) else options


def rater_letters(study: Study, unit: str, raters: Iterable[Actor]) -> dict[tuple[str, str], str]:
    """Assign a letter to each rater (kind, id): A, B, ... Z, A1, ... The study's seed shuffles them in each unit."""
    order = sorted({(one.kind, one.id) for one in raters}, key=lambda one: sha_of([study.id, study.seed, unit, *one]))
    return {one: chr(65 + at % 26) + (str(at // 26) if at >= 26 else "") for at, one in enumerate(order)}


def comparable(value: Any) -> Any:
    """Normalize a value for comparison: 1 equals 1.0, a list becomes a tuple, and true differs from 1."""
    if isinstance(value, bool):
        return ("flag", value)
    if isinstance(value, list | tuple):
        return tuple(map(comparable, value))
    return float(value) if isinstance(value, int | float) else value


# -- without a person who withdrew ---------------------------------------------------------------------------------


def without_person(what: Settlement, theirs: ErasedWords, *, free: bool) -> Settlement | None:
    """Return a settlement without a person's moves, words and code.

    `free` is true if the field takes free text. None if the settled value is the person's own text.
    """
    if free and isinstance(what.value, str) and theirs.contains(what.value):
        return None
    moves = tuple(
        structs.replace(
            move,
            was=theirs.remove_from(move.was) if free and isinstance(move.was, str) else move.was,
            now=theirs.remove_from(move.now) if free and isinstance(move.now, str) else move.now,
            code=theirs.remove_from(move.code),
            why=theirs.remove_from(move.why),
        )
        for move in what.moves
        if move.rater != theirs.code
    )
    return structs.replace(what, moves=moves, reason=theirs.remove_from(what.reason))


def count_of_answer(people: int, says: str) -> str:
    """Format a count of an answer: `2 completed`, or `2 × 35` if the answer has digits."""
    return f"{people} × {says}" if any(map(str.isdigit, says)) else f"{people} {says}"
