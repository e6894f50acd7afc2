"""Adjudication: what was settled at a place on which raters disagreed, how, by whom and why. Originals never change."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable
from typing import Any, Literal, NamedTuple

import msgspec
from msgspec import structs

from lab.label import Act, Label, Missing
from lab.labels import Spot, current
from lab.study import Study
from lab.task import Actor
from lab.wire import convert, sha_of

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


class Adjudicated(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """What is right at a place of a unit, as it was settled; `value` is None where `reason_missing` says why.

    `minutes` are how long it was discussed; `judges_seen` whether models' answers had been laid beside people's. It is
    kept as an act (`adjudicated`) of the one who settled it; a later one about the same place takes its place; one with
    `withdrawn` set leaves the place unsettled again.
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


class Settled(msgspec.Struct, frozen=True):
    """An adjudication with where and when it was made, and by whom."""

    unit: str
    what: Adjudicated
    by: Actor
    at: str


def adjudicated(acts: Iterable[Act]) -> dict[tuple[str, Spot], Settled]:
    """What stands as settled, by unit and place; the newest word about a place is the one that stands."""
    found: dict[tuple[str, Spot], Settled] = {}
    for act in sorted(acts, key=lambda act: (act.at, act.id)):
        if act.act != "adjudicated":
            continue
        what: Adjudicated = convert(act.detail, Adjudicated, f"act {act.id}")
        place = (act.unit, Spot(what.target, what.field))
        found.pop(place, None)
        if not what.withdrawn:
            found[place] = Settled(act.unit, what, act.rater, act.at)
    return found


# -- what was said at a place, and by how many ---------------------------------------------------------------------


class Said(NamedTuple):
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


def said_at(study: Study, spot: Spot, labels: Iterable[Label], handed: Collection[tuple[str, str, int]]) -> list[Said]:
    """What stands at a place of one unit, people first, by their codes; of people only what is handed in.

    `labels` are the unit's, with their history or without; `handed` are sheets (rater, unit, run) that are handed in.
    Of repeated ratings the first counts, and what a rule gave is nobody's word.
    """
    field = study.protocol.field(spot.field)
    found: dict[tuple[str, str], Said] = {}
    for label in current(labels):
        person = is_person(study, label.rater)
        if label.run != 1 or (label.rater.kind, label.rater.id) == RULE:
            continue
        if label.rater.kind == "human" and (label.rater.id, label.unit, 1) not in handed:
            continue
        if (label.target, label.field) == spot:
            said = Said(label.rater, label.value, label.reason_missing, label, person)
            found[label.rater.kind, label.rater.id] = said
        elif field is not None and field.kind == "flag":
            found.setdefault((label.rater.kind, label.rater.id), Said(label.rater, False, None, None, person))
    return sorted(found.values(), key=lambda said: (not said.person, said.rater.kind, said.rater.id))


def is_person(study: Study, rater: Actor) -> bool:
    """Whether a rater is one of the study's people, whatever they are made of."""
    return rater.kind == "human" or rater.id in study.raters


def majority_of(said: Iterable[Said]) -> Said | None:
    """What more than half of the people say, by the first of them who says it; None where there is no such thing."""
    people = [one for one in said if one.person]
    counts = Counter(one.word for one in people)
    word, count = counts.most_common(1)[0] if counts else (None, 0)
    return next(one for one in people if one.word == word) if 2 * count > len(people) and len(people) > 1 else None


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


def without(what: Adjudicated, code: str, said: Collection[str], instead: str) -> Adjudicated | None:
    """What was settled without a person: their moves, their words (`said`) and their code, `instead` where these stood.

    None where what was settled is their own words.
    """
    if isinstance(what.value, str) and what.value.strip() in said:
        return None
    moves = tuple(
        structs.replace(
            move,
            was=instead if isinstance(move.was, str) and move.was.strip() in said else move.was,
            now=instead if isinstance(move.now, str) and move.now.strip() in said else move.now,
            code=_unsaid(move.code, code, said, instead),
            why=_unsaid(move.why, code, said, instead),
        )
        for move in what.moves
        if move.rater != code
    )
    return structs.replace(what, moves=moves, reason=_unsaid(what.reason, code, said, instead))


def _unsaid(words: str, code: str, said: Collection[str], instead: str) -> str:
    """A sentence without what a person said, and without their code where it stands as a word."""
    if any(one in words for one in said):
        return instead
    return re.sub(rf"(?<![\w-]){re.escape(code)}(?![\w-])", instead, words)


def so_many(people: int, says: str) -> str:
    """How many say something: `2 completed`, and `2 × 35` where that would read as two numbers."""
    return f"{people} × {says}" if any(map(str.isdigit, says)) else f"{people} {says}"
