"""The fields of a demonstration as lines of a form, and the parsing of their texts."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, get_args

import msgspec

from lab.core.codec import reason_of
from lab.core.demonstration import PLACES, REASONS
from lab.core.errors import LabError
from lab.core.proofreading import ProofreadPlace, action_of, plain_value
from lab.core.step import Action, ActionKind, Direction
from lab.studies.proofreading import ProofreadingSession
from screens.author.fields import FormField

_PLACE = re.compile(r"\s*\(?\s*(-?\d{1,9})\s*[,; ]\s*(-?\d{1,9})\s*\)?\s*")
_BOX = re.compile(r"\s*(\d{1,9})\s*,\s*(\d{1,9})\s*,\s*(\d{1,9})\s*,\s*(\d{1,9})\s*")
_ACTION = ("kind", "at", "to", "box", "text", "app", "direction", "status")


def fields_of(session: ProofreadingSession, step: int | None) -> list[FormField]:
    """Return the form of a step, or of the whole demonstration (None)."""
    if step is None:
        return [
            FormField("intent", "intent", str(session.value(ProofreadPlace(None, "intent")) or ""), "one sentence"),
            FormField("place", "place", str(session.value(ProofreadPlace(None, "place")) or ""),
                  "residence, office ...", known=PLACES),
            FormField("impossible", "impossible", str(session.value(ProofreadPlace(None, "impossible")) or ""),
                  "a reason code, empty where it was possible", known=tuple(REASONS), whole=True),
        ]  # fmt: skip
    action = action_of(session.value(ProofreadPlace(step, "action")))
    kinds, ways = get_args(ActionKind), get_args(Direction)
    values = {name: _value_text(action, name) for name in _ACTION}
    rows = [
        FormField(
            "instruction",
            "say",
            str(session.value(ProofreadPlace(step, "instruction")) or ""),
            "what to do in this step",
        ),
        FormField("kind", "action", values["kind"], "click, input_text, scroll ...", known=kinds, whole=True),
        FormField("at", "at", values["at"], "x, y in pixels; p chooses it on the phone", whole=True),
        FormField("to", "to", values["to"], "x, y where a drag ends", whole=True),
        FormField("box", "box", values["box"], "left, top, right, bottom", whole=True),
        FormField("text", "text", values["text"], "what is typed or answered"),
        FormField("app", "app", values["app"], "which app is opened"),
        FormField("direction", "way", values["direction"], "up, down, left, right", known=ways, whole=True),
    ]
    # Fields that only some actions have. A value that was recorded is shown all the same.
    needless = {"to": action.kind not in ("drag", "swipe"), "app": action.kind != "open_app",
                "direction": action.kind not in ("scroll", "swipe")}  # fmt: skip
    return [row for row in rows if row.value or not needless.get(row.name)]


def _value_text(action: Action, name: str) -> str:
    value = action.boxes[0] if name == "box" and action.boxes else getattr(action, name, None)
    if value is None:
        return ""
    return ", ".join(map(str, value)) if isinstance(value, tuple) else str(value)


def write_fields(session: ProofreadingSession, step: int | None, texts: Mapping[str, str]) -> None:
    """Store the typed texts. Raise `LabError` for a text that does not fit, and store nothing of its field."""
    for name, text in texts.items():
        if name not in _ACTION:
            session.write(ProofreadPlace(step, name), text.strip())  # type: ignore[arg-type]
    changes = {name: text for name, text in texts.items() if name in _ACTION}
    if changes and step is not None:
        place = ProofreadPlace(step, "action")
        action = action_of(session.value(place))
        session.write(place, plain_value(_apply_changes(action, changes)))


def _apply_changes(action: Action, texts: Mapping[str, str]) -> Action:
    values: dict[str, Any] = {}
    for name, text in texts.items():
        if name in ("at", "to"):
            values[name] = _parse_numbers(_PLACE, text, name)
        elif name == "box":
            box = _parse_numbers(_BOX, text, name)
            values["boxes"] = (box,) if box else ()
        else:
            values[name] = text.strip() or None
    fields = msgspec.to_builtins(action) | values
    try:
        return action_of({name: value for name, value in fields.items() if value is not None})
    except msgspec.ValidationError as error:
        reason = reason_of(str(error), Action)
        raise LabError("action", f"{reason}.", "`hitlab settings schema action` says what it may hold.") from error


def _parse_numbers(pattern: re.Pattern[str], text: str, name: str) -> tuple[int, ...] | None:
    if not text.strip():
        return None
    match = pattern.fullmatch(text)
    if match is None:
        raise LabError(
            name, f"{text[:40]!r} is not pixels.", "Type 540, 1200." if name != "box" else "Type four numbers."
        )
    return tuple(int(part) for part in match.groups())


def pointed(action: Action, at: tuple[int, int], to: tuple[int, int] | None) -> Action:
    """Return an action with a new place: a point, a drag's path, or a box in which any point is right."""
    if to is None:
        return msgspec.structs.replace(action, at=at, boxes=())
    if action.kind in ("drag", "swipe"):
        vector = (to[0] - at[0], to[1] - at[1]) if action.vector is not None else None
        return msgspec.structs.replace(action, at=at, to=to, vector=vector)
    left, right = sorted((at[0], to[0]))
    top, bottom = sorted((at[1], to[1]))
    return msgspec.structs.replace(
        action, at=((left + right) // 2, (top + bottom) // 2), boxes=((left, top, right, bottom),)
    )
