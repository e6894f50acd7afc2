"""How one rater's sheet stands by the labels on it, and the rules for the next one.

The state is a pure function of rows: heads are the labels that none supersedes; an undo is a label, too.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any, NamedTuple

import msgspec

from lab.errors import LabError
from lab.study import Act, Assignment, Field, Label, Missing, Protocol, Study, Target, Unit


class Spot(NamedTuple):
    """A place on a sheet: a target (empty: the unit itself) and a field of it."""

    target: str
    field: str


class Sheet:
    """What one rater has said of one unit so far. `labels` and `acts` are theirs, of this unit and `run`; it stays so."""

    def __init__(self, protocol: Protocol, unit: Unit, labels: Iterable[Label] = (), acts: Iterable[Act] = ()) -> None:
        self.protocol = protocol
        self.unit = unit
        self.rows = sorted(labels, key=lambda label: (label.at, label.id))
        superseded = {id for label in self.rows for id in label.replaces}
        by_spot: dict[Spot, list[Label]] = {}
        for label in self.rows:
            if label.id not in superseded:
                by_spot.setdefault(Spot(label.target, label.field), []).append(label)
        self.heads: Mapping[Spot, Label] = {spot: heads[-1] for spot, heads in by_spot.items()}
        self.clashes: Mapping[Spot, list[Label]] = {spot: heads for spot, heads in by_spot.items() if len(heads) > 1}
        """Places where two copies of a file, merged, have different last words; left out until the rater settles."""
        self.committed_at = next((act.at for act in handed_in(acts).values()), None)

    @property
    def committed(self) -> bool:
        return self.committed_at is not None

    def head(self, spot: Spot) -> Label | None:
        """What stands at a place; None where nothing was ever said, or it was undone to nothing."""
        label = self.heads.get(spot)
        return None if label is None or label.cleared else label

    def value(self, spot: Spot) -> Any:
        """The value that stands at a place; None where there is none."""
        label = self.head(spot)
        return None if label is None else label.value

    @cached_property
    def spots(self) -> list[Spot]:
        """Every place that is asked as things stand, in reading order: each target's fields, then the unit's."""
        return [
            Spot(target, field.id)
            for target, fields in _laid_out(self.protocol, self.unit)
            for field in fields
            if self.asked(Spot(target, field.id))
        ]

    def asked(self, spot: Spot) -> bool:
        """Whether a place's condition, if it has one, holds."""
        field = self.protocol.field(spot.field)
        if field is None or not field.show_if:
            return field is not None
        name, _, wanted = field.show_if.partition("=")
        for place in (Spot(spot.target, name), Spot("", name)):
            if place in self.heads:
                return str(self.value(place)) in wanted.split(",") if self.value(place) is not None else False
        return False

    @cached_property
    def unanswered(self) -> list[Spot]:
        """Required places at which nothing stands yet."""
        return [
            spot
            for spot in self.spots
            if (field := self.protocol.field(spot.field)) is not None
            and field.required
            and (self.head(spot) is None or spot in self.clashes)
        ]

    @property
    def undoable(self) -> Label | None:
        """The answer that an undo takes back: the newest that none took back yet."""
        done: list[Label] = []
        for label in self.rows:
            if label.act == "undo":
                done = [earlier for earlier in done if earlier.id != label.undoes]
            else:
                done.append(label)
        return done[-1] if done else None

    def restored(self, undone: Label) -> Label | None:
        """What stood at its place before a label; None where that was nothing."""
        return next((label for label in self.rows if label.id == undone.supersedes), None)


def handed_in(acts: Iterable[Act]) -> dict[tuple[str, str, int], Act]:
    """The sheets (rater, unit, run) that are handed in, each by the act that did it.

    What was done to a sheet last is so by its time, not by its place in the file: a kit's acts come in late.
    """
    last: dict[tuple[str, str, int], Act] = {}
    for act in sorted(acts, key=lambda act: (act.at, act.id)):
        if act.act in ("commit", "reopen"):
            last[act.rater.id, act.unit, act.run] = act
    return {sheet: act for sheet, act in last.items() if act.act == "commit"}


def _laid_out(protocol: Protocol, unit: Unit) -> list[tuple[str, list[Field]]]:
    """Targets in order with their fields; the unit itself (empty) at last."""
    per_target = [field for field in protocol.fields if field.per == "target"]
    whole = [field for field in protocol.fields if field.per == "unit"]
    if protocol.targets == "unit":
        return [("", list(protocol.fields))]
    return [*((target.id, per_target) for target in unit.targets), *([("", whole)] if whole else [])]


def target_of(unit: Unit, id: str) -> Target | None:
    """A unit's target by its id."""
    return next((target for target in unit.targets if target.id == id), None)


# -- rules -----------------------------------------------------------------------------------------------------


class Standing(NamedTuple):
    """What the rules need to know of the moment: read in the transaction in which a label is written."""

    study: Study
    unit: Unit
    assignment: Assignment | None
    sheet: Sheet
    locked: bool = False
    held: bool = False
    withdrawn: bool = False
    left: bool = False


def check_next(now: Standing, label: Label) -> None:
    """Raises `LabError` where the rules refuse a label after those that stand; `value` must fit its field."""
    what = f"label of unit {label.unit} in {now.study.name}"
    check_open(now, label.rater.id, label.rater.kind, what)
    if now.sheet.committed:
        raise LabError(what, f"{label.rater.id} has handed it in; nothing in it changes any more.")
    field = now.study.protocol.field(label.field)
    spot = Spot(label.target, label.field)
    if field is None:
        known = ", ".join(field.id for field in now.study.protocol.fields)
        raise LabError(what, f"field field: {label.field!r} is none of {known}")
    places = _laid_out(now.study.protocol, now.unit)
    if not any(label.target == target and field in fields for target, fields in places):
        known = ", ".join(target.id for target in now.unit.targets) or "only the unit itself, an empty target"
        raise LabError(what, f"field target: {label.target!r} is none of {known}")
    head = now.sheet.heads.get(spot)
    clash = {one.id for one in now.sheet.clashes.get(spot, ())}
    if label.supersedes != (head.id if head is not None else None) and label.supersedes not in clash:
        raise LabError(what, f"{place_words(now.unit, spot)} was changed meanwhile; nothing was done.", "Look again.")
    if not clash.issuperset(label.also):
        raise LabError(what, "field also: it takes the place of what is no last word there.")
    if label.act == "undo":
        _check_undo(what, now.sheet, label)
        return
    if not now.sheet.asked(spot):
        raise LabError(what, f"field {label.field}: is not asked here (only where {field.show_if})")
    check_value(what, field, target_of(now.unit, label.target), label)
    _check_order(what, field, now.sheet, label)


def check_open(now: Standing, rater: str, kind: str, what: str) -> None:
    """Raises `LabError` where this person may say nothing of this unit now."""
    if now.withdrawn:
        raise LabError(what, f"{rater} has withdrawn.")
    if now.locked:
        raise LabError(what, "the study is locked; nothing in it changes any more.")
    if kind != "human":
        return
    if now.left:
        raise LabError(what, f"{rater} has left the study; another goes on in their place.")
    if now.assignment is None:
        raise LabError(what, f"is not dealt to {rater}.", "`hitlab study status` says who has what.")
    if now.held and now.assignment.stage != "pilot":
        raise LabError(what, f"{rater} is held after the pilot, below the study's bar.", "Its designer releases.")


def _check_undo(what: str, sheet: Sheet, label: Label) -> None:
    undone = sheet.undoable
    if undone is None or label.undoes != undone.id:
        raise LabError(what, "there is nothing of that to undo.")
    before = sheet.restored(undone)
    same = (before.value, before.reason_missing) if before is not None else (None, None)
    if (label.value, label.reason_missing) != same:
        raise LabError(what, "an undo restores what stood before, and nothing else.")


def as_option(field: Field, target: Target | None, value: Any) -> Any:
    """An option that is a number, written as one, is the option: a rating's `4` is `"4"`."""
    if field.kind not in ("nominal", "ordinal") or isinstance(value, bool) or not isinstance(value, int):
        return value
    known = target.options if target is not None and target.options else [option.id for option in field.options]
    return str(value) if str(value) in known else value


def check_value(what: str, field: Field, target: Target | None, label: Label) -> None:
    """Raises `LabError` where a value does not fit its field; a reason in its place always does."""
    place = f"field value: {field.id}"
    if label.reason_missing is not None:
        if label.value is not None:
            raise LabError(what, f"{place} has a value and a reason for having none.")
        return
    if label.confidence is not None and not 0 <= label.confidence <= 1:
        raise LabError(what, f"field confidence: {label.confidence:g} is not from 0 to 1")
    value = label.value
    match field.kind:
        case "nominal" | "ordinal":
            known = target.options if target is not None and target.options else [one.id for one in field.options]
            if value not in known:
                raise LabError(what, f"{place}: {value!r} is none of {', '.join(known)}")
            option = field.option(value)
            if option is not None and option.by_rule and label.rater.kind != "script":
                raise LabError(what, f"{place}: {value!r} is set by a rule, and asked of nobody")
        case "interval":
            _check_number(what, place, field, value)
        case "flag":
            if not isinstance(value, bool):
                raise LabError(what, f"{place}: {value!r} is neither true nor false")
        case "text":
            if not isinstance(value, str) or (field.required and not value.strip()):
                raise LabError(what, f"{place}: {value!r} is no text")
        case "step":
            if isinstance(value, bool) or not isinstance(value, int) or value < 1:
                raise LabError(what, f"{place}: {value!r} is no step, counted from 1")
        case "box":
            try:
                left, top, right, bottom = msgspec.convert(value, tuple[int, int, int, int])
            except msgspec.ValidationError as error:
                raise LabError(what, f"{place}: {value!r} is not left, top, right, bottom in pixels") from error
            if left > right or top > bottom:
                raise LabError(what, f"{place}: {value!r} is no box: its edges are the wrong way round")


def _check_number(what: str, place: str, field: Field, value: Any) -> None:
    if isinstance(value, bool) or not isinstance(value, int | float) or value != value:
        raise LabError(what, f"{place}: {value!r} is no number")
    least, most = field.least, field.most
    if (least is not None and value < least) or (most is not None and value > most):
        raise LabError(what, f"{place}: {value:g} is not from {least:g} to {most:g}")
    if field.step:
        steps = (value - (least or 0)) / field.step
        if abs(steps - round(steps)) > 1e-6:
            raise LabError(what, f"{place}: {value:g} is not in steps of {field.step:g}")


def _check_order(what: str, field: Field, sheet: Sheet, label: Label) -> None:
    """A secondary answer comes after the primary one in the protocol's precedence, and is another one."""
    pairs: list[tuple[Field, Any, Field, Any]] = []
    earlier = sheet.protocol.field(field.after) if field.after else None
    if earlier is not None:
        pairs.append((earlier, sheet.value(Spot(label.target, earlier.id)), field, label.value))
    for later in sheet.protocol.fields:
        if later.after == field.id:
            pairs.append((field, label.value, later, sheet.value(Spot(label.target, later.id))))
    for one, first, other, second in pairs:
        order = [option.id for option in one.options]
        if first in order and second in order and order.index(first) >= order.index(second):
            said = "is the same as" if first == second else "goes before"
            raise LabError(what, f"field value: {other.id} {second!r} {said} {one.id} {first!r} in declared order")


# -- making rows -----------------------------------------------------------------------------------------------


def answer_to(sheet: Sheet, label: Label) -> Label:
    """A label that takes the place of what stands where it belongs: of a clash, all of it."""
    spot = Spot(label.target, label.field)
    head = sheet.heads.get(spot)
    if head is None:
        return msgspec.structs.replace(label, supersedes=None, also=())
    others = tuple(one.id for one in sheet.clashes.get(spot, ()) if one.id != head.id)
    return msgspec.structs.replace(label, supersedes=head.id, also=others)


def undo_of(sheet: Sheet, label: Label) -> Label | None:
    """The label that takes back the newest answer, signed as `label` is; None where there is nothing to take back."""
    undone = sheet.undoable
    if undone is None:
        return None
    head = sheet.heads[Spot(undone.target, undone.field)]
    before = sheet.restored(undone)
    restored: dict[str, Any] = {}
    if before is not None:
        kept = ("value", "reason_missing", "confidence", "evidence", "region", "note", "cites")
        restored = {name: getattr(before, name) for name in kept}
    return msgspec.structs.replace(
        label, act="undo", undoes=undone.id, target=undone.target, field=undone.field, supersedes=head.id, **restored
    )


# -- words -----------------------------------------------------------------------------------------------------


def place_words(unit: Unit, spot: Spot) -> str:
    """A place as people say it."""
    target = target_of(unit, spot.target)
    return f"{spot.field} of {target.id}" if target is not None else spot.field


MISSING: Mapping[Missing, str] = {
    "not_reached": "not reached",
    "not_applicable": "not applicable",
    "cannot_judge": "cannot judge",
    "skipped": "skipped",
}
"""Reasons for having no answer, as people read them."""


def current(labels: Iterable[Label]) -> list[Label]:
    """The labels that stand: heads alone, cleared ones and clashes left out; what agreement is computed from."""
    rows = list(labels)
    superseded = {id for label in rows for id in label.replaces}
    heads: dict[tuple[Any, ...], list[Label]] = {}
    for label in rows:
        if label.id not in superseded:
            heads.setdefault(key_of(label), []).append(label)
    return [found[0] for found in heads.values() if len(found) == 1 and not found[0].cleared]


def key_of(label: Label) -> tuple[Any, ...]:
    """The place a label is about, and whose it is: two heads with one key are a clash."""
    return (
        label.study, label.version, label.unit, label.target, label.field, label.rater.kind, label.rater.id, label.run
    )  # fmt: skip


def ordered(labels: Sequence[Label]) -> list[Label]:
    """Labels as they were given."""
    return sorted(labels, key=lambda label: (label.at, label.id))
