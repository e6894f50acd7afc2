"""A model's answer to a sheet: JSON, checked place by place by the rules that also apply to a person's answers."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple, get_args

from annotators.judging.question import JudgedPlace, JudgedRun, JudgeView, UnusableJudgement
from lab.core.errors import LabError
from lab.core.study.label import Label, Missing
from lab.core.study.label_rules import COMPLETED, as_option, check_order, check_value
from lab.core.study.protocol import Field
from lab.core.study.rating_sheet import FieldReference, Sheet, fields_by_target, target_of
from lab.core.study.study import Target
from lab.core.task.task import Actor
from lab.core.text.typed_text import clean
from lab.llm.json_in_text import answer_in, why_no_object

_MOST_NOTE = 2_000
_ANY_JUDGE = Actor("model", "judge")
_OTHER_SIDE = {"A": "B", "B": "A"}


class AskedPlace(NamedTuple):
    """A place that may be asked of a judge. Other answers determine if its condition holds."""

    target: Target | None
    field: Field

    @property
    def item(self) -> str:
        return self.target.id if self.target is not None else ""


def asked_places(view: JudgeView) -> Iterator[AskedPlace]:
    """Yield all places of the sheet that a model can answer, in reading order. It cannot draw boxes."""
    ruled_places = {(one.target, one.field) for one in view.unit.mechanical}
    for target, fields in fields_by_target(view.protocol, view.unit):
        for field in fields:
            if field.kind != "box" and (target, field.id) not in ruled_places:
                yield AskedPlace(target_of(view.unit, target), field)


def answer_schema(view: JudgeView) -> dict[str, Any]:
    """Return a JSON Schema of the answer. Reading checks which values fit which field."""
    places = list(asked_places(view))
    value: dict[str, Any] = {"type": ["string", "number", "boolean", "null"]}
    if any(place.field.kind == "many" for place in places):
        value = {"type": [*value["type"], "array"], "items": {"type": "string"}}
    entry = {
        "type": "object",
        "properties": {
            "item": {"type": "string"},
            "field": {"type": "string", "enum": sorted({place.field.id for place in places})},
            "value": value,
            "missing": {"type": ["string", "null"], "enum": [*get_args(Missing), None]},
            "step": {"type": ["integer", "null"]},
            "confidence": {"type": ["number", "null"]},
            "reason": {"type": "string"},
        },
        "required": ["item", "field", "value", "reason"],
    }
    return {
        "type": "object",
        "properties": {"answers": {"type": "array", "items": entry}},
        "required": ["answers"],
    }


def read_sheet(view: JudgeView, text: str) -> list[JudgedPlace]:
    """Return a model's answer at each place, in reading order.

    Raise `UnusableJudgement` if a required answer is missing or invalid.
    """
    entries = _entries(text)
    entry_by_place = {(str(one.get("item") or ""), str(one.get("field") or "")): one for one in entries}
    only = {place.field.id for place in asked_places(view)}
    judged_places: dict[tuple[str, str], JudgedPlace] = {}
    for place in asked_places(view):
        key = place.item, place.field.id
        entry = entry_by_place.get(key)
        # On a sheet with a single field, the entry may leave out its name.
        if entry is None and len(only) == 1:
            entry = entry_by_place.get((place.item, ""))
        if entry is None:
            if place.field.required and _is_asked(place, judged_places):
                raise UnusableJudgement(f"there is no entry for {_place_name(place)}.")
            continue
        judged_places[key] = _judged_place(view, place, entry)
    # After all places were read, because the rules of order compare them.
    _check_together(view, list(judged_places.values()))
    return list(judged_places.values())


def _entries(text: str) -> list[Mapping[str, Any]]:
    names = {"value", "missing"}
    reply = answer_in(text, lambda found: isinstance(found.get("answers"), list) or not names.isdisjoint(found))
    if reply is None:
        raise UnusableJudgement(f'it holds no JSON object with "answers"{why_no_object(text)}.')
    answers = reply.get("answers")
    return [one for one in answers if isinstance(one, dict)] if isinstance(answers, list) else [reply]


def _check_together(view: JudgeView, places: Sequence[JudgedPlace]) -> None:
    """Raise `UnusableJudgement` if answers contradict each other though each fits its own field."""
    sheet = Sheet(view.protocol, view.unit)
    for place in places:
        field, spot = view.protocol.field(place.field), FieldReference(place.target, place.field)
        if field is None or not sheet.asks(spot):
            continue
        label = Label(
            f"{place.target}/{place.field}", "", 1, view.unit.id, place.target, place.field, _ANY_JUDGE,
            value=place.value, reason_missing=place.missing,
        )  # fmt: skip
        try:
            check_order("answer", field, sheet, label)
        except LabError as error:
            raise UnusableJudgement(error.body) from None
        sheet = sheet.with_label(label)


def _is_asked(place: AskedPlace, judged_places: Mapping[tuple[str, str], JudgedPlace]) -> bool:
    """Return True if the earlier answers fulfil the condition of a place."""
    if not place.field.show_if:
        return True
    name = place.field.show_if.partition("=")[0]
    for key in ((place.item, name), ("", name)):
        if key in judged_places:
            return place.field.is_asked_for(judged_places[key].value)
    return False


def _judged_place(view: JudgeView, place: AskedPlace, entry: Mapping[str, Any]) -> JudgedPlace:
    """Return an entry as the answer at its place. Raise `UnusableJudgement` if it does not fit."""
    field = place.field
    note = clean(str(entry.get("reason") or ""))[:_MOST_NOTE]
    missing = entry.get("missing")
    confidence = _as_share(entry.get("confidence"))
    # A reason wins over a value that the model gave with it.
    if missing in get_args(Missing):
        return JudgedPlace(place.item, field.id, None, missing, note=note)
    value = _unswap_side(view, field, _typed_value(field, place.target, entry.get("value")))
    if value is None:
        raise UnusableJudgement(f'{_place_name(place)} has no "value".')
    try:
        check_value("answer", field, place.target, value, by=_ANY_JUDGE.kind)
    except LabError as error:
        raise UnusableJudgement(f"{_place_name(place)}: {error.body}") from None
    # The answer contradicts the run, so the model is asked again.
    if field.evidence and value == COMPLETED and view.runs and not view.runs[0].steps:
        raise UnusableJudgement(f"{_place_name(place)}: the run has no steps, so nothing was completed at one.")
    step = step_of(view.runs[0], entry.get("step")) if field.evidence and view.runs else None
    return JudgedPlace(place.item, field.id, value, step=step, confidence=confidence, note=note)


def _typed_value(field: Field, target: Target | None, value: Any) -> Any:
    """Return a value in its field's type.

    Models write `"yes"` for a flag, `"3"` for a number, and an option by its text.
    """
    if isinstance(value, str):
        value = value.strip()
    match field.kind:
        case "flag" if isinstance(value, str) and value.lower() in ("true", "false", "yes", "no"):
            return value.lower() in ("true", "yes")
        case "interval" | "step":
            return _as_number(value)
        case "many" if isinstance(value, str | list):
            return _option_set(field, target, value)
        case "nominal" | "ordinal":
            value = as_option(field, target, value)
            words = {option.display_name.casefold(): option.id for option in field.options}
            option_ids = {option.id for option in field.options}
            return value if value in option_ids or not isinstance(value, str) else words.get(value.casefold(), value)
    return value


def _option_set(field: Field, target: Target | None, value: str | list[Any]) -> Any:
    """Return a set of options, also if it names them by their texts."""
    words = {option.display_name.casefold(): option.id for option in field.options}
    if isinstance(value, str) and value.casefold() in words:
        value = [words[value.casefold()]]
    options = as_option(field, target, value)
    if not isinstance(options, list):
        return options
    ids = [words.get(one.casefold(), one) if isinstance(one, str) else one for one in options]
    return as_option(field, target, ids)


def _as_number(value: Any) -> Any:
    """Return `3` for `"3"` and `3.0`. A text that is not a number, such as `"nan"`, is returned unchanged."""
    try:
        number = float(value) if isinstance(value, str) else value
    except ValueError:
        return value
    if not isinstance(number, float) or not math.isfinite(number):
        return value
    return int(number) if number.is_integer() else number


def _unswap_side(view: JudgeView, field: Field, value: Any) -> Any:
    """Return a swapped side as the unit names it."""
    return _OTHER_SIDE.get(value, value) if view.swapped and field.sided and isinstance(value, str) else value


def _as_share(value: Any) -> float | None:
    value = _as_number(value)
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return float(value) if is_number and 0 <= value <= 1 else None


def step_of(run: JudgedRun, value: Any) -> int | None:
    """Return a step of the run, or None if the run has no such step, which does not invalidate the answer."""
    number = _as_number(value)
    is_step = isinstance(number, int) and not isinstance(number, bool) and 1 <= number <= len(run.steps)
    return number if is_step else None


def _place_name(place: AskedPlace) -> str:
    return f"field {place.field.id} of item {place.item}" if place.item else f"field {place.field.id}"


def unanswered_places(view: JudgeView, why: str) -> Sequence[JudgedPlace]:
    """Return every required place with the reason why a model gave no usable answer."""
    note = clean(why, lines=False)[:_MOST_NOTE]
    return [
        JudgedPlace(place.item, place.field.id, None, "cannot_judge", note=note)
        for place in asked_places(view)
        if place.field.required and not place.field.show_if
    ]
