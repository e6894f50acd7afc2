"""A model's answer read as one action: tolerant of what stands around it, strict about what it asks for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, get_args

from lab.agents.elements import SPACE, ScreenElement, in_pixels
from lab.core.step import Action, ActionKind, Direction, Point
from lab.core.whole_number import whole_number
from lab.llm.json_in_text import SeveralAnswers, answer_in, objects_in, why_no_object

KINDS = frozenset(get_args(ActionKind)) - {"other"}

_MOST_MS = 60_000
_AT = ("click", "double_tap", "long_press", "drag")
_TEXT = ("input_text", "ask_user", "answer")


class UnusableAnswer(Exception):
    """The answer holds no action that can be done; the message says why, for the model and for people."""


class ParsedAction(NamedTuple):
    """What the model wants to do, and why, in its own words."""

    action: Action
    thought: str


def meant(text: str, screen_elements: Sequence[ScreenElement], size: Point) -> ParsedAction:
    """The action in an answer; `UnusableAnswer` where there is none, or it names what is not there.

    Of actions that follow one another directly the first is meant: the next one was planned for a screen that nobody
    has seen. Which of several others counts is the rule of `answer_in`.
    """
    try:
        json_object = answer_in(text, lambda found: "action" in found, plan=True)
    except SeveralAnswers as error:
        raise UnusableAnswer(str(error)) from error
    json_object = json_object or next(objects_in(text), None)
    if json_object is None:
        raise UnusableAnswer(f"there is no JSON object with an action in it{why_no_object(text)}")
    inner = json_object.get("action")
    fields = {**json_object, **inner} if isinstance(inner, dict) else json_object
    kind = fields.get("kind") if isinstance(inner, dict) and "kind" in inner else fields.get("action")
    if isinstance(kind, dict):
        kind = None
    if not isinstance(kind, str) or kind not in KINDS:
        wrong = "it names no action" if kind is None else f"{kind!r} is no action"
        raise UnusableAnswer(f"{wrong}; the actions are {', '.join(sorted(KINDS))}")
    thought = fields.get("thought")
    return ParsedAction(
        _action(kind, fields, json_object, screen_elements, size), thought.strip() if isinstance(thought, str) else ""
    )


def _action(
    kind: str, fields: Mapping[str, Any], raw: Any, screen_elements: Sequence[ScreenElement], size: Point
) -> Action:
    at, by_number = _target(fields, "element", "at", screen_elements, size)
    to, to_number = _target(fields, "to_element", "to", screen_elements, size)
    text, direction, ms = fields.get("text"), fields.get("direction"), None
    if kind in _AT and at is None:
        raise UnusableAnswer(f"{kind} needs an element's number, or a place as at")
    if kind == "drag" and to is None:
        raise UnusableAnswer("drag needs to_element, or a place as to")
    if kind in ("scroll", "swipe") and direction not in get_args(Direction) and to is None:
        raise UnusableAnswer(f"{kind} needs a direction: up, down, left or right")
    if kind in _TEXT and not (isinstance(text, str) and text.strip()):
        raise UnusableAnswer(f"{kind} needs a text")
    app = fields.get("app")
    if kind == "open_app" and not (isinstance(app, str) and app.strip()):
        raise UnusableAnswer("open_app needs the app's name as app")
    status = fields.get("status")
    if kind == "status" and status not in ("complete", "infeasible"):
        raise UnusableAnswer("status needs a status: complete or infeasible")
    if kind == "wait":
        ms = _wait(fields.get("seconds", 1))
    by_element = by_number or to_number
    return Action(
        kind,  # type: ignore[arg-type]
        at=at,
        to=to,
        text=text if isinstance(text, str) else None,
        direction=direction if direction in get_args(Direction) else None,
        app=app if kind == "open_app" else None,
        status=status if kind == "status" else None,
        ms=ms,
        raw=raw,
        space="index" if by_element else f"0-{SPACE - 1}" if at or to else None,
    )


def _target(
    fields: Mapping[str, Any], number: str, place: str, screen_elements: Sequence[ScreenElement], size: Point
) -> tuple[Point | None, bool]:
    """One target in pixels, and whether it was named by an element's number."""
    index = fields.get(number)
    if index is not None:
        named = whole_number(index.strip()) if isinstance(index, str) else index
        if isinstance(named, bool) or not isinstance(named, int) or not 1 <= named <= len(screen_elements):
            last = f"they go from 1 to {len(screen_elements)}" if screen_elements else "this screen has none"
            raise UnusableAnswer(f"there is no element {_short(index)}; {last}")
        return screen_elements[named - 1].at, True
    point = fields.get(place)
    if point is None:
        return None, False
    if isinstance(point, dict):
        point = [point.get("x"), point.get("y")]
    if not (isinstance(point, list) and len(point) == 2 and all(_is_number(value) for value in point)):
        raise UnusableAnswer(f"{place} is [x, y], not {_short(point)}")
    x, y = point
    if not (0 <= x <= SPACE and 0 <= y <= SPACE):
        raise UnusableAnswer(f"{place} {_short(point)} lies outside the screen; x and y go from 0 to {SPACE - 1}")
    return in_pixels(x, y, size), False


def _wait(seconds: Any) -> int:
    if not _is_number(seconds) or not 0 < seconds * 1000 <= _MOST_MS:
        raise UnusableAnswer(f"wait takes seconds above 0 and up to {_MOST_MS // 1000}, not {_short(seconds)}")
    milliseconds: int = round(seconds * 1000)
    return milliseconds


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:60]}…"
