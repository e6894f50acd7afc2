"""Adjudication: what was settled at a place on which raters disagreed, how, by whom and why. Originals never change."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from typing import Any, Literal, NamedTuple

import msgspec
from msgspec import structs

from lab.core.codec import convert, sha_of
from lab.core.label import Act, Label, Missing
from lab.core.option_sets import count_wrong
from lab.core.protocol import Field
from lab.core.quotations import ErasedWords
from lab.core.rating_sheet import FieldReference, current
from lab.core.study import Study
from lab.core.task import Actor

_MOST = Actor("script", "majority")
"""Who says what no single person said: the options that most chose."""
RULE = ("script", "rule")
"""Who answers what needs no person: it is no rater."""
Means = Literal["majority", "discussion", "adjudicator"]


class Move(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """Who changed their mind in a discussion, from what to what, and why; `code` is a reason in a word."""

    rater: str
    was: Any = None
    now: Any = None
    code: str = ""
    why: str = ""


class Settlement(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """What is right at a place of a unit, as it was settled; `value` is None where `reason_missing` says why.

    `minutes` are how long it was discussed; `judges_seen` whether models' answers had been laid beside people's. It is
    kept as an act (`adjudicated`) of the one who settled it; a later one about the same place takes its place; one with
    `withdrawn` set leaves the place unsettled again. `reason_id` is the protocol's reason that `reason` begins with.
    What was settled in one act has the same `batch`, and so has what takes that back.
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
    """An adjudication with where and when it was made, and by whom."""

    unit: str
    what: Settlement
    by: Actor
    at: str


def adjudicated(acts: Iterable[Act]) -> dict[tuple[str, FieldReference], SignedSettlement]:
    """What stands as settled, by unit and place; the newest word about a place is the one that stands."""
    settlements: dict[tuple[str, FieldReference], SignedSettlement] = {}
    for act in sorted(acts, key=lambda act: (act.at, act.id)):
        if act.act != "adjudicated":
            continue
        what: Settlement = convert(act.detail, Settlement, f"act {act.id}")
        place = (act.unit, FieldReference(what.target, what.field))
        settlements.pop(place, None)
        if not what.withdrawn:
            settlements[place] = SignedSettlement(act.unit, what, act.rater, act.at)
    return settlements


# -- what was said at a place, and by how many ---------------------------------------------------------------------


class PlaceAnswer(NamedTuple):
    """What one rater says at a place; `label` is None where a flag was left down on a sheet that is handed in."""

    rater: Actor
    value: Any
    reason_missing: Missing | None = None
    label: Label | None = None
    person: bool = True

    @property
    def word(self) -> tuple[str, Any]:
        """What is counted: a reason for having no answer is something that was said, too."""
        return ("missing", self.reason_missing) if self.reason_missing else ("value", comparable(self.value))


def place_answers(
    study: Study, spot: FieldReference, labels: Iterable[Label], committed_sheets: Collection[tuple[str, str, int]]
) -> list[PlaceAnswer]:
    """What stands at a place of one unit, people first, by their codes; of people only what is handed in.

    `labels` are the unit's, with their history or without; `committed_sheets` are those (rater, unit, run) that are
    handed in. Of repeated ratings the first counts, and what a rule gave is nobody's word.
    """
    field = study.protocol.field(spot.field)
    answers: dict[tuple[str, str], PlaceAnswer] = {}
    for label in current(labels):
        person = is_person(study, label.rater)
        if label.run != 1 or (label.rater.kind, label.rater.id) == RULE:
            continue
        if label.rater.kind == "human" and (label.rater.id, label.unit, 1) not in committed_sheets:
            continue
        if (label.target, label.field) == spot:
            answer = PlaceAnswer(label.rater, label.value, label.reason_missing, label, person)
            answers[label.rater.kind, label.rater.id] = answer
        elif field is not None and field.kind == "flag":
            answers.setdefault((label.rater.kind, label.rater.id), PlaceAnswer(label.rater, False, None, None, person))
    return sorted(answers.values(), key=lambda one: (not one.person, one.rater.kind, one.rater.id))


def is_person(study: Study, rater: Actor) -> bool:
    """Whether a rater is one of the study's people, whatever they are made of."""
    return rater.kind == "human" or rater.id in study.raters


def majority_of(answers: Iterable[PlaceAnswer], field: Field | None = None) -> PlaceAnswer | None:
    """What more than half of the people say, by the first of them who says it; None where there is no such thing.

    Of a field of many options it is settled option by option where no set has that majority: `set_of_most`.
    """
    people = [one for one in answers if one.person]
    counts = Counter(one.word for one in people)
    word, count = counts.most_common(1)[0] if counts else (None, 0)
    if 2 * count > len(people) and len(people) > 1:
        return next(one for one in people if one.word == word)
    if field is None or field.kind != "many":
        return None
    options = set_of_most(field, [(one.value, 1) for one in people if one.reason_missing is None], len(people))
    return PlaceAnswer(_MOST, options, person=False) if options is not None else None


def set_of_most(field: Field, sets: Sequence[tuple[Any, int]], people: int) -> list[str] | None:
    """The options that more than half of the people choose, where every other one is left out by more than half.

    `sets` are those that were given, each with how many gave it; of `people` who gave a reason for none nobody counts
    for an option or against it. None where an option has no majority, or the field does not allow what comes of it.
    """
    if people < 2:
        return None
    set_count = sum(count for _, count in sets)
    options = []
    for option in field.options:
        holds = sum(count for value, count in sets if option.id in value)
        if 2 * holds > people:
            options.append(option.id)
        elif 2 * (set_count - holds) <= people:
            return None
    return None if count_wrong(field, len(options)) else options


def masks(study: Study, unit: str, raters: Iterable[Actor]) -> dict[tuple[str, str], str]:
    """A letter for each rater (kind, id), shuffled anew in each unit by the study's seed: A, B, ... Z, A1, ..."""
    order = sorted({(one.kind, one.id) for one in raters}, key=lambda one: sha_of([study.id, study.seed, unit, *one]))
    return {one: chr(65 + at % 26) + (str(at // 26) if at >= 26 else "") for at, one in enumerate(order)}


def comparable(value: Any) -> Any:
    """A value as it is compared: 1 and 1.0 are one number, a list is its elements, true is no number."""
    if isinstance(value, bool):
        return ("flag", value)
    if isinstance(value, list | tuple):
        return tuple(map(comparable, value))
    return float(value) if isinstance(value, int | float) else value


# -- without a person who withdrew ---------------------------------------------------------------------------------


def without(what: Settlement, theirs: ErasedWords, *, free: bool) -> Settlement | None:
    """What was settled without a person: their moves, their words and their code.

    `free` is whether the place is answered in words. None where what was settled is their own words.
    """
    if free and isinstance(what.value, str) and theirs.holds(what.value):
        return None
    moves = tuple(
        structs.replace(
            move,
            was=theirs.unsaid(move.was) if free and isinstance(move.was, str) else move.was,
            now=theirs.unsaid(move.now) if free and isinstance(move.now, str) else move.now,
            code=theirs.unsaid(move.code),
            why=theirs.unsaid(move.why),
        )
        for move in what.moves
        if move.rater != theirs.code
    )
    return structs.replace(what, moves=moves, reason=theirs.unsaid(what.reason))


def so_many(people: int, says: str) -> str:
    """How many say something: `2 completed`, and `2 × 35` where that would read as two numbers."""
    return f"{people} × {says}" if any(map(str.isdigit, says)) else f"{people} {says}"
