"""State of one rater's sheet from the labels on it. The rules for the next label are in `lab.core.study.label_rules`.

The state is a pure function of rows. Heads are the labels that none supersedes. An undo is a label, too.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any, NamedTuple

import msgspec

from lab.core.study.label import Act, Label, Missing
from lab.core.study.protocol import Field, Protocol
from lab.core.study.study import Target, Unit


class FieldReference(NamedTuple):
    """A place on a sheet: a target (empty for the unit itself) and a field of it."""

    target: str
    field: str


FINAL_WORDS = "what is right was shown there, and nothing is rated again"
"""Reason why two clashing answers of one rater stay open."""


class Sheet:
    """One rater's answers about one unit, immutable. `labels` and `acts` are theirs, of this `run`."""

    def __init__(self, protocol: Protocol, unit: Unit, labels: Iterable[Label] = (), acts: Iterable[Act] = ()) -> None:
        self.protocol = protocol
        self.unit = unit
        self.rows = sorted(labels, key=lambda label: (label.at, label.id))
        superseded_ids = {id for label in self.rows for id in label.replaces}
        by_spot: dict[FieldReference, list[Label]] = {}
        for label in self.rows:
            if label.id not in superseded_ids:
                by_spot.setdefault(FieldReference(label.target, label.field), []).append(label)
        # In a clash the newest label stands in for all.
        self.heads: Mapping[FieldReference, Label] = {spot: heads[-1] for spot, heads in by_spot.items()}
        self.clashes: Mapping[FieldReference, list[Label]] = {
            spot: heads for spot, heads in by_spot.items() if len(heads) > 1
        }
        """Places with different heads after a merge of two copies of a file.

        They do not count until the rater settles.
        """
        self.committed_at = next((act.at for act in submitted_sheets(acts).values()), None)

    @property
    def committed(self) -> bool:
        return self.committed_at is not None

    @property
    def is_final(self) -> bool:
        """True if not even a clash can be settled: the sheet was submitted, and the gold was shown."""
        return self.committed and bool(self.unit.gold)

    def with_label(self, label: Label) -> Sheet:
        """Return the sheet with one more label. A submitted sheet stays submitted."""
        more = Sheet(self.protocol, self.unit, [*self.rows, label])
        more.committed_at = self.committed_at
        return more

    def head(self, spot: FieldReference) -> Label | None:
        """Return the current label at a place, or None if there is no answer or it was undone."""
        label = self.heads.get(spot)
        return None if label is None or label.cleared else label

    def value(self, spot: FieldReference) -> Any:
        """Return the current value at a place, or None without an answer."""
        label = self.head(spot)
        return None if label is None else label.value

    @cached_property
    def spots(self) -> list[FieldReference]:
        """Every place that is asked at present, in reading order: each target's fields, then the unit's."""
        return [
            FieldReference(target, field.id)
            for target, fields in fields_by_target(self.protocol, self.unit)
            for field in fields
            if self.asks(FieldReference(target, field.id))
        ]

    def asks(self, spot: FieldReference) -> bool:
        """Return True if a place's condition holds or it has none. A clash is asked until it is settled."""
        field = self.protocol.field(spot.field)
        if field is None or not field.show_if or spot in self.clashes:
            return field is not None
        name = field.show_if.partition("=")[0]
        # The condition's field is the same target's, else the unit's.
        for place in (FieldReference(spot.target, name), FieldReference("", name)):
            if place in self.heads:
                return field.is_asked_for(self.value(place))
        return False

    @cached_property
    def unanswered(self) -> list[FieldReference]:
        """Required places without an answer, and all places with a clash."""
        return [
            spot
            for spot in self.spots
            if (field := self.protocol.field(spot.field)) is not None
            and (spot in self.clashes or (field.required and self.head(spot) is None))
        ]

    @property
    def undoable(self) -> Label | None:
        """The answer that an undo takes back: the newest that is not undone yet."""
        answers: list[Label] = []
        for label in self.rows:
            if label.act == "undo":
                answers = [earlier for earlier in answers if earlier.id != label.undoes]
            else:
                answers.append(label)
        return answers[-1] if answers else None

    def restored(self, undone: Label) -> Label | None:
        """Return the label that an undo of `undone` restores, or None if there was none."""
        return next((label for label in self.rows if label.id == undone.supersedes), None)


def submitted_sheets(acts: Iterable[Act]) -> dict[tuple[str, str, int], Act]:
    """Return the submitted sheets (rater, unit, run) with the act that submitted each.

    The last act on a sheet is the one with the latest time, not the last in the file, because a kit's acts arrive late.
    """
    last: dict[tuple[str, str, int], Act] = {}
    for act in sorted(acts, key=lambda act: (act.at, act.id)):
        if act.act in ("commit", "reopen"):
            last[act.rater.id, act.unit, act.run] = act
    return {sheet: act for sheet, act in last.items() if act.act == "commit"}


def fields_by_target(protocol: Protocol, unit: Unit) -> list[tuple[str, list[Field]]]:
    """Return the targets in order with their fields, and last the unit itself (empty)."""
    per_target = [field for field in protocol.fields if field.per == "target"]
    whole = [field for field in protocol.fields if field.per == "unit"]
    if protocol.targets == "unit":
        return [("", list(protocol.fields))]
    return [*((target.id, per_target) for target in unit.targets), *([("", whole)] if whole else [])]


def target_of(unit: Unit, id: str) -> Target | None:
    """Return a unit's target by its id, or None if unknown."""
    return next((target for target in unit.targets if target.id == id), None)


# -- making rows -----------------------------------------------------------------------------------------------


def answer_to(sheet: Sheet, label: Label) -> Label:
    """Return a label that supersedes the head of its place, and in a clash all heads.

    If it repeats one of the clashing answers without details of its own, it takes that answer's details.
    """
    spot = FieldReference(label.target, label.field)
    head = sheet.heads.get(spot)
    if head is None:
        return msgspec.structs.replace(label, supersedes=None, also=())
    clash = sheet.clashes.get(spot, ())
    others = tuple(one.id for one in clash if one.id != head.id)
    same_answer = next((one for one in reversed(clash) if is_same_answer(one, label)), None)
    details = same_answer.details if same_answer is not None and not any(label.details) else label.details
    return msgspec.structs.replace(label, supersedes=head.id, also=others, **details._asdict())


def is_same_answer(one: Label, other: Label) -> bool:
    """Return True if two labels give the same value or the same reason for a missing one. 1 is not true."""
    same_kind = isinstance(one.value, bool) is isinstance(other.value, bool)
    return same_kind and (one.value, one.reason_missing) == (other.value, other.reason_missing)


def clashes_of(labels: Iterable[Label]) -> dict[tuple[Any, ...], list[Label]]:
    """Return the places (`place_key`) with several heads, and those. They do not count until their rater settles."""
    return {key: heads for key, heads in _heads_by_place(labels).items() if len(heads) > 1}


def undo_of(sheet: Sheet, label: Label) -> Label | None:
    """Return the label that undoes the newest answer, signed as `label` is, or None if there is nothing to undo."""
    undone = sheet.undoable
    if undone is None:
        return None
    head = sheet.heads[FieldReference(undone.target, undone.field)]
    before = sheet.restored(undone)
    earlier: dict[str, Any] = {}
    if before is not None:
        earlier = {"value": before.value, "reason_missing": before.reason_missing, **before.details._asdict()}
    return msgspec.structs.replace(
        label, act="undo", undoes=undone.id, target=undone.target, field=undone.field, supersedes=head.id, **earlier
    )


# -- words -----------------------------------------------------------------------------------------------------


def place_words(unit: Unit, spot: FieldReference) -> str:
    """Return a place in words."""
    target = target_of(unit, spot.target)
    return f"{spot.field} of {target.id}" if target is not None else spot.field


MISSING: Mapping[Missing, str] = {
    "not_reached": "not reached",
    "not_applicable": "not applicable",
    "cannot_judge": "cannot judge",
    "skipped": "skipped",
}
"""Reasons for a missing answer, in words."""


def current_labels(labels: Iterable[Label]) -> list[Label]:
    """Return the current labels, without cleared ones and clashes. Agreement is computed from these."""
    return [heads[0] for heads in _heads_by_place(labels).values() if len(heads) == 1 and not heads[0].cleared]


def _heads_by_place(labels: Iterable[Label]) -> dict[tuple[Any, ...], list[Label]]:
    """Group the labels that no other label supersedes by their place."""
    rows = list(labels)
    superseded_ids = {id for label in rows for id in label.replaces}
    heads: dict[tuple[Any, ...], list[Label]] = {}
    for label in rows:
        if label.id not in superseded_ids:
            heads.setdefault(place_key(label), []).append(label)
    return heads


def place_key(label: Label) -> tuple[Any, ...]:
    """Return a label's place together with its rater. Two heads with one key are a clash."""
    return (
        label.study, label.version, label.unit, label.target, label.field, label.rater.kind, label.rater.id, label.run
    )  # fmt: skip


def by_time(labels: Sequence[Label]) -> list[Label]:
    """Sort labels by time."""
    return sorted(labels, key=lambda label: (label.at, label.id))
