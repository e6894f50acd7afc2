"""Rules for the next label on a sheet, the same for a screen, a command and an import."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import msgspec

from lab.core.errors import LabError
from lab.core.study.label import Label
from lab.core.study.option_sets import check_set, parse_set
from lab.core.study.protocol import Field
from lab.core.study.rating_sheet import FieldReference, Sheet, fields_by_target, is_same_answer, place_words, target_of
from lab.core.study.study import Assignment, Study, Target, Unit
from lab.core.values.whole_number import whole_number

COMPLETED = "completed"
"""The answer that something was reached. The step is stored with it if the field has evidence."""


class SheetState(NamedTuple):
    """The state that the rules need, read in the transaction that writes the label."""

    study: Study
    unit: Unit
    assignment: Assignment | None
    sheet: Sheet
    locked: bool = False
    is_held: bool = False
    withdrawn: bool = False
    has_left: bool = False
    extended_by: int | None = None
    """The version that extends the study, or None if this one is current."""
    steps: Callable[[str], int | None] = lambda run: None
    """Callback that returns the number of a run's steps, or None if the run is not in this file."""


def check_next(now: SheetState, label: Label) -> None:
    """Raise `LabError` if a label may not follow the current ones, or if its value does not fit its field."""
    what = f"label of unit {label.unit} in {now.study.name}"
    check_open(now, label.rater.id, label.rater.kind, what)
    field = now.study.protocol.field(label.field)
    spot = FieldReference(label.target, label.field)
    if now.sheet.committed:
        _check_settlement(what, now, spot, label)
    if field is None:
        field_ids = ", ".join(field.id for field in now.study.protocol.fields)
        raise LabError(what, f"field field: {label.field!r} is none of {field_ids}")
    places = fields_by_target(now.study.protocol, now.unit)
    if not any(label.target == target and field in fields for target, fields in places):
        target_ids = ", ".join(target.id for target in now.unit.targets) or "only the unit itself, an empty target"
        raise LabError(what, f"field target: {label.target!r} is none of {target_ids}")
    head = now.sheet.heads.get(spot)
    clash = {one.id for one in now.sheet.clashes.get(spot, ())}
    # Another window or a merge may have answered since this place was shown.
    if label.supersedes != (head.id if head is not None else None) and label.supersedes not in clash:
        raise LabError(what, f"{place_words(now.unit, spot)} was changed meanwhile; nothing was done.", "Look again.")
    if not clash.issuperset(label.also):
        raise LabError(what, "field also: it takes the place of what is no last word there.")
    if label.act == "undo":
        _check_undo(what, now.sheet, label)
        return
    if not now.sheet.asks(spot):
        raise LabError(what, f"field {label.field}: is not asked here (only where {field.show_if})")
    if not (label.cleared and any(one.cleared for one in now.sheet.clashes.get(spot, ()))):  # one of the two is nothing
        check_answer(what, field, target_of(now.unit, label.target), label)
        _check_step(what, now, field, label)
    check_order(what, field, now.sheet, label)


def _check_step(what: str, now: SheetState, field: Field, label: Label) -> None:
    """Raise `LabError` if an answer cites a step that its run does not have, or needs a step and the run has none.

    The position after the last step is the run's end, which an answer may cite.
    """
    run, _, number = (label.evidence or "").rpartition("@")
    if field.evidence and label.value == COMPLETED and now.unit.runs and now.steps(run or now.unit.runs[0]) == 0:
        raise LabError(
            what, "field step: the run has no steps, so nothing was completed at one.",
            "Say that it was not completed, or why that cannot be said.",
        )  # fmt: skip
    most = now.steps(run) if run and number.isdecimal() else None
    if most is not None and not 1 <= (whole_number(number) or 0) <= most + 1:
        raise LabError(what, f"field step: the run has no step {number}; it has {most}")


def check_open(now: SheetState, rater: str, kind: str, what: str) -> None:
    """Raise `LabError` if this rater may not answer anything about this unit now."""
    if now.withdrawn:
        raise LabError(what, f"{rater} has withdrawn.")
    if now.locked:
        raise LabError(what, "the study is locked; nothing in it changes any more.")
    if now.extended_by is not None:
        raise LabError(what, extended_words(now.extended_by), "Open it again: what was answered is there.")
    if kind != "human":
        return
    if now.has_left:
        raise LabError(what, f"{rater} has left the study; another goes on in their place.")
    if now.assignment is None:
        raise LabError(what, f"is not dealt to {rater}.", "`hitlab study status` says who has what.")
    # A held rater may still complete the pilot.
    if now.is_held and now.assignment.stage != "pilot":
        raise LabError(what, f"{rater} is held after the pilot, below the study's bar.", "Its designer releases.")


def extended_words(version: int) -> str:
    """Return the sentence for opening or answering a version that another one extends."""
    return f"the study was extended and goes on as v{version}."


def _check_settlement(what: str, now: SheetState, spot: FieldReference, label: Label) -> None:
    """Raise `LabError` unless a label on a submitted sheet settles a clash by one of its own answers."""
    clash = now.sheet.clashes.get(spot)
    if not clash or label.act != "answer":
        raise LabError(what, f"{label.rater.id} has handed it in; nothing in it changes any more.")
    if now.unit.gold:
        raise LabError(what, "has shown what is right; it is not rated again.")
    if set(label.replaces) != {one.id for one in clash} or not any(is_same_answer(one, label) for one in clash):
        raise LabError(
            what, f"{label.rater.id} has handed it in; of the {len(clash)} answers at {place_words(now.unit, spot)} "
            "one is settled on, and nothing else changes any more."
        )  # fmt: skip
    # A settled word may hide or show other fields; a submitted sheet must stay complete.
    next_sheet = now.sheet.with_label(label)
    reopened_spots = [at for at in next_sheet.unanswered if at not in now.sheet.unanswered]
    if reopened_spots:
        raise LabError(
            what, f"is handed in, and with this word {place_words(now.unit, reopened_spots[0])} would be unanswered.",
            "Settle on the other word, or take it back first.",
        )  # fmt: skip


def _check_undo(what: str, sheet: Sheet, label: Label) -> None:
    undone = sheet.undoable
    if undone is None or label.undoes != undone.id:
        raise LabError(what, "there is nothing of that to undo.")
    before = sheet.restored(undone)
    same = (before.value, before.reason_missing) if before is not None else (None, None)
    if (label.value, label.reason_missing) != same:
        raise LabError(what, "an undo restores what stood before, and nothing else.")


def as_option(field: Field, target: Target | None, value: Any) -> Any:
    """Return a choice in its field's stored form: 4 becomes the option `"4"`, and a set gets the field's order."""
    if field.kind == "many":
        return parse_set(field, value)
    if field.kind not in ("nominal", "ordinal") or isinstance(value, bool) or not isinstance(value, int):
        return value
    option_ids = target.options if target is not None and target.options else [option.id for option in field.options]
    return str(value) if str(value) in option_ids else value


def check_answer(what: str, field: Field, target: Target | None, label: Label) -> None:
    """Raise `LabError` if a label's value, confidence or cost does not fit."""
    if label.reason_missing is None:
        if label.confidence is not None and not 0 <= label.confidence <= 1:
            raise LabError(what, f"field confidence: {label.confidence:g} is not from 0 to 1")
        if label.cost is not None and not 0 <= label.cost < float("inf"):
            raise LabError(what, f"field cost: {label.cost:g} is no sum of dollars")
    check_value(what, field, target, label.value, label.reason_missing, by=label.rater.kind)


def check_value(
    what: str, field: Field, target: Target | None, value: Any, missing: str | None = None, *, by: str = "human"
) -> None:
    """Raise `LabError` if a value does not fit its field. A reason for a missing value always fits.

    `by` is the kind of the rater: some options are a script's alone.
    """
    place = f"field value: {field.id}"
    if missing is not None:
        if value is not None:
            raise LabError(what, f"{place} has a value and a reason for having none.")
        return
    match field.kind:
        case "nominal" | "ordinal":
            option_ids = target.options if target is not None and target.options else [one.id for one in field.options]
            if value not in option_ids:
                raise LabError(what, f"{place}: {value!r} is none of {', '.join(option_ids)}")
            option = field.option(value)
            if option is not None and option.by_rule and by != "script":
                raise LabError(what, f"{place}: {value!r} is set by a rule, and asked of nobody")
        case "many":
            check_set(what, place, field, value, by_rule=by == "script")
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
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise LabError(what, f"{place}: {value!r} is no number")
    least, most = field.least, field.most
    if (least is not None and value < least) or (most is not None and value > most):
        raise LabError(what, f"{place}: {value:g} is not from {least:g} to {most:g}")
    if field.step:
        steps = (value - (least or 0)) / field.step
        # The tolerance allows for the floating-point error of steps such as 0.1.
        if abs(steps - round(steps)) > 1e-6:
            raise LabError(what, f"{place}: {value:g} is not in steps of {field.step:g}")


def check_order(what: str, field: Field, sheet: Sheet, label: Label) -> None:
    """Raise `LabError` unless a secondary answer comes after the primary one in the protocol's option order."""
    pairs: list[tuple[Field, Any, Field, Any]] = []
    earlier = sheet.protocol.field(field.after) if field.after else None
    if earlier is not None:
        pairs.append((earlier, sheet.value(FieldReference(label.target, earlier.id)), field, label.value))
    for later in sheet.protocol.fields:
        if later.after == field.id:
            pairs.append((field, label.value, later, sheet.value(FieldReference(label.target, later.id))))
    clashing = {spot.field for spot in sheet.clashes if spot.target == label.target} - {field.id}
    for primary, first, secondary, second in pairs:
        if clashing & {primary.id, secondary.id}:  # of which no word stands yet
            continue
        order = [option.id for option in primary.options]
        if first in order and second in order and order.index(first) >= order.index(second):
            relation = "is the same as" if first == second else "goes before"
            raise LabError(
                what, f"field value: {secondary.id} {second!r} {relation} {primary.id} {first!r} in declared order"
            )
