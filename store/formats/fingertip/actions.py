"""FingerTip-20K's actions: calls such as `click(coordinates=(x,y), content='')`, read as text or mappings, and written.

Coordinates are pixels. A scroll's direction names the content. Source: FingerTip-20K, Table 2 and A.7.2. The end is
`finish` in the first and `finished()` in the second.
"""

from __future__ import annotations

import ast
import json
import re
import warnings
from bisect import bisect_left
from typing import Any, NamedTuple

from lab.core.codec import read_json
from lab.core.errors import LabError
from lab.core.run.step import Action, ActionKind, Direction, Point
from store.formats.geometry import as_coordinate, centre, direction, main_direction, opposite, point, swipe_vector
from store.formats.hitlab_fields import missing_fields
from store.formats.values import literal, numbers, words

_KINDS: dict[str, ActionKind] = {
    "click": "click", "tap": "click", "longclick": "long_press", "longpress": "long_press",
    "doubleclick": "double_tap", "doubletap": "double_tap", "type": "input_text", "input": "input_text",
    "inputtext": "input_text", "scroll": "scroll", "swipe": "swipe", "pressback": "navigate_back",
    "back": "navigate_back", "navigateback": "navigate_back", "presshome": "navigate_home", "home": "navigate_home",
    "navigatehome": "navigate_home", "pressrecent": "press_recent", "recent": "press_recent",
    "pressrecents": "press_recent", "pressenter": "keyboard_enter", "enter": "keyboard_enter", "wait": "wait",
    "openapp": "open_app", "launch": "open_app", "finish": "status", "finished": "status", "complete": "status",
}  # fmt: skip
_PRESS = ("press", "presskey", "pressbutton")
_NAME = ("action_type", "action", "type", "name", "operation", "raw_action")
_INSIDE = ("parameters", "params", "args", "arguments", "parameter")
_PLACE = ("coordinates", "coordinate", "position", "point", "location")
_CALLED = re.compile(r"[A-Za-z][A-Za-z_ ]*+")
_PAIR = re.compile(r"coordinates?\s*=\s*[\[(]\s*(-?\d+(?:\.\d+)?)\s*,\s*(-?\d+(?:\.\d+)?)\s*[\])]")
_OPENED = re.compile(r"\b(content|text|direction|key)\s*+=\s*+(['\"])")
_CLOSED = re.compile(r"['\"](?=\s*+(?:,\s*+\w++\s*+=|\Z))")
_IMAGE = re.compile(r"\.(?:jpe?g|png|webp)\Z", re.I)
_MOST_CALL = 100_000

_SPELLINGS: dict[ActionKind, str] = {
    "click": "click", "double_tap": "click", "long_press": "long_click", "input_text": "type",
    "keyboard_enter": "type", "scroll": "scroll", "swipe": "scroll", "drag": "scroll",
    "navigate_back": "press_back", "navigate_home": "press_home", "press_recent": "press_recent",
    "wait": "wait", "open_app": "wait", "other": "wait", "answer": "finished", "status": "finished",
}  # fmt: skip
"""Spelling of each action kind. Kinds that the format lacks use the nearest word."""


class SourceAction(NamedTuple):
    """A source action: its screenshot's name ("" if none), its own name, its parameters, and the unchanged original."""

    image: str
    name: str
    parameters: dict[str, Any]
    raw: Any


def source_action(row: Any) -> SourceAction:
    """Return a row of an actions' list in any spelling. Its name is empty if it is not an action."""
    image, spelling = "", row
    if isinstance(row, dict) and len(row) == 1:
        key, value = next(iter(row.items()))
        if _IMAGE.search(key):
            image, spelling = key, value
    if isinstance(spelling, dict) and len(spelling) == 1:
        key, value = next(iter(spelling.items()))
        if _normalized_name(key) in _KINDS and isinstance(value, dict | None):
            return SourceAction(image, key, value or {}, row)
    if isinstance(spelling, str):
        name, parameters = _parse_call(spelling)
        return SourceAction(image, name, parameters, row)
    if not isinstance(spelling, dict):
        return SourceAction(image, "", {}, row)
    if isinstance(inner := spelling.get("action"), dict):
        spelling = {**spelling, "action": "", **inner}
    image = image or next(
        (name for key in ("screenshot", "image", "filename") if (name := words(spelling.get(key)))), ""
    )
    name = next((text for key in _NAME if (text := words(spelling.get(key)))), "")
    inside = next((value for key in _INSIDE if isinstance(value := spelling.get(key), dict)), {})
    call_name, parameters = _parse_call(name)
    return SourceAction(image, call_name, {**spelling, **parameters, **inside}, row)


def is_action(row: Any) -> bool:
    """Return True if a row is an action that the format knows."""
    name = _normalized_name(source_action(row).name)
    return name in _KINDS or name in _PRESS


def _normalized_name(name: str) -> str:
    return re.sub(r"[^a-z]", "", name.lower())


def _parse_call(text: str) -> tuple[str, dict[str, Any]]:
    """Return the name and named parameters of a call in a text, which is parsed and never run."""
    call = text.strip().removesuffix(";").rstrip() if len(text) <= _MOST_CALL else ""
    match = _CALLED.match(call)
    rest = call[match.end() :].lstrip() if match else ""
    if match is None or (rest and not (rest.startswith("(") and rest.endswith(")"))):
        return "", {}
    name, inside = match[0].rstrip(), rest[1:-1]
    parameters: dict[str, Any] = _quoted_parameters(inside)
    if pair := _PAIR.search(inside):
        parameters["coordinates"] = [pair[1], pair[2]]
    return name, parameters | (_parse_with_ast(text.strip().rstrip(";")) if "(" in text else {})


def _quoted_parameters(inside: str) -> dict[str, Any]:
    """Return the quoted parameters of a call. Each text ends at the first mark that ends a parameter."""
    parameters: dict[str, Any] = {}
    # Positions of all possible ends, computed once and searched by bisection, so that the time stays linear.
    ends: dict[str, list[int]] = {"'": [], '"': []}
    for closing in _CLOSED.finditer(inside):
        ends[closing[0]].append(closing.start())
    at = 0
    while opening := _OPENED.search(inside, at):
        at = opening.end()
        after = bisect_left(ends[opening[2]], at)
        if after < len(ends[opening[2]]):
            end = ends[opening[2]][after]
            parameters[opening[1]], at = inside[at:end], end + 1
    return parameters


def _parse_with_ast(text: str) -> dict[str, Any]:
    """Return a call's parameters by Python's grammar, empty if invalid, as with an unescaped apostrophe in a text."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            call = ast.parse(text, mode="eval").body
            if not isinstance(call, ast.Call):
                return {}
            parameters = {key.arg: ast.literal_eval(key.value) for key in call.keywords if key.arg}
            parameters |= {f"#{i}": ast.literal_eval(argument) for i, argument in enumerate(call.args)}
        value = read_json(json.dumps(parameters).encode(), "a call").value
    except (ValueError, SyntaxError, TypeError, RecursionError, MemoryError, LabError):
        return {}
    return value if isinstance(value, dict) else {}


def action_of(source: SourceAction, size: Point | None) -> Action:
    """Return a source action as hitlab's. `size` is the screenshot's, for the length of a scroll."""
    name = _normalized_name(source.name)
    if name in _PRESS:
        name += _normalized_name(
            words(source.parameters.get("key", source.parameters.get("#0", source.parameters.get("button"))))
        )
    kind = _KINDS.get(name.replace("presskey", "press").replace("pressbutton", "press"), "other")
    way = direction(source.parameters.get("direction"))
    vector = swipe_vector(kind, way, size)
    text = (
        source.parameters.get("text", source.parameters.get("#0", source.parameters.get("content")))
        if kind == "input_text"
        else None
    )
    return Action(
        kind,
        at=_touched_point(source.parameters),
        text=words(text) if kind == "input_text" else None,
        direction=way,
        vector=vector,
        app=words(source.parameters.get("app") or source.parameters.get("#0")) or None if kind == "open_app" else None,
        status="complete" if kind == "status" else None,
        raw=source.raw,
        space="px",
    )


def _touched_point(parameters: dict[str, Any]) -> Point | None:
    coordinates = next((parameters[key] for key in _PLACE if parameters.get(key) is not None), None)
    pair = numbers(literal(coordinates))
    if len(pair) == 2:
        return point(pair[0], pair[1])
    return point(parameters.get("x"), parameters.get("y")) if as_coordinate(parameters.get("x")) is not None else None


def written_call(action: Action, content: str, size: Point | None) -> tuple[str, dict[str, Any]]:
    """Return an action as a call, and the fields that a call cannot express. `content` is the text under the finger."""
    name = _SPELLINGS[action.kind]
    parts = []
    if name in ("click", "long_click", "scroll"):
        middle = centre((0, 0, *size)) if size else (0, 0)
        at = action.at or middle
        parts.append(f"coordinates=({at[0]},{at[1]})")
    if name in ("click", "long_click"):
        parts.append(f"content={content!r}")
    if name == "scroll" and (way := _content_direction(action)) is not None:
        parts.append(f"direction={way!r}")
    if name == "type":
        parts.append(f"text={action.text or ''!r}" if action.kind == "input_text" else f"text={chr(10)!r}")
    call = f"{name}({', '.join(parts)})"
    return call, missing_fields(action, action_of(source_action(call), size))


def _content_direction(action: Action) -> Direction | None:
    """Return the direction in which the content moves."""
    if action.kind == "scroll" and action.direction is not None:
        return action.direction
    moved = main_direction(action.vector) if action.vector else action.direction
    return opposite(moved) if moved else None
