"""Answers of AppAgent's model and the resulting actions of its executor, as hitlab's.

Source: `parse_explore_rsp` and `parse_grid_rsp` of `scripts/model.py`, `swipe` of `scripts/and_controller.py`,
`scripts/step_recorder.py`. Text ends at its first `)`, because the executor cuts it there and types only that.
"""

from __future__ import annotations

import re
from typing import Any

from lab.core.run.step import Action, Direction, Point
from store.formats.appagent.elements import NumberedElement, cell
from store.formats.geometry import centre, direction, main_direction, vector_between
from store.formats.model_answers import answer_text

_PARTS = frozenset({"Observation", "Thought", "Intermediate Goal", "Action", "Function", "Summary"})
_PART = re.compile(rf"^[ \t]*[*#\"]*({'|'.join(sorted(_PARTS))})[*\"]*[ \t]*:[*]*[ \t]*", re.M)
_CALLS = ("tap", "text", "long_press", "swipe")
_PRESS_MS, _SWIPE_MS = 1000, 400
"""Duration in milliseconds of the executor's long press and swipe."""

_UNITS = {"long": 3, "medium": 2}


def answer_parts(response: Any) -> dict[str, str]:
    """Return an answer's named parts (Observation, Thought, Action, ...), from its text or its JSON object.

    Early versions log the server's whole response.
    """
    if isinstance(response, dict) and not _PARTS.isdisjoint(response):
        return {name: text for name in _PARTS if isinstance(text := response.get(name), str)}
    response = answer_text(response)
    if response is None:
        return {}
    matches = list(_PART.finditer(response))
    ends = [part.start() for part in matches[1:]] + [len(response)]
    return {part[1]: response[part.end() : end].strip() for part, end in zip(matches, ends, strict=False)}


class NumberedScreen:
    """The screen that an action refers to: numbered elements, size, and True in `grid` if a grid was drawn over it."""

    def __init__(self, elements: list[NumberedElement] | None, size: Point | None, grid: bool = False) -> None:
        self.elements = elements
        self.size = size
        self.grid = grid

    def element(self, number: str) -> NumberedElement | None:
        """Return the element with a number. 0 and below count from the end, as in the executor's list."""
        try:
            return None if self.elements is None else self.elements[int(number.strip()) - 1]
        except (ValueError, IndexError):
            return None


def action_of(call: str, screen: NumberedScreen) -> Action:
    """Return the executor's action for a function call, `other` if it is unknown and ended the run."""
    text = call.strip()
    if "FINISH" in text:
        return Action("status", status="complete", raw=call)
    name, _, rest = text.partition("(")
    if name == "grid":
        return Action("other", text="grid", raw=call)
    inside, bracket, _ = rest.partition(")")
    if name not in _CALLS or not bracket:
        return Action("other", raw=call)
    if name == "text" and not screen.grid:
        return Action("input_text", text=inside[1:-1], raw=call)
    values = [value.strip() for value in inside.split(",")]
    return _grid_action(name, values, screen, call) if screen.grid else _element_action(name, values, screen, call)


def recorded_action(line: str, screen: NumberedScreen) -> tuple[Action, str]:
    """Return the action in a line of `record.txt`, and the id of its element."""
    call, _, uid = line.rpartition(":::")
    if not call:
        text = line.strip()
        if text == "stop":
            return Action("status", status="complete", raw=line), ""
        return Action("navigate_back" if text == "back" else "other", raw=line), ""
    name, _, rest = call.partition("(")
    number, *more = rest.removesuffix(")").split(":sep:", 1)
    element = screen.element(number)
    if name == "text" and more:
        boxes = (element.box,) if element else ()
        return Action("input_text", text=more[0][1:-1], raw=line, space="index", boxes=boxes), uid
    return _element_action(name, [number, *more], screen, line), uid


def _element_action(name: str, values: list[str], screen: NumberedScreen, raw: str) -> Action:
    element = screen.element(values[0])
    at = centre(element.box) if element else None
    boxes = (element.box,) if element else ()
    if name == "tap":
        return Action("click", at=at, raw=raw, space="index", boxes=boxes)
    if name == "long_press":
        return Action("long_press", at=at, ms=_PRESS_MS, raw=raw, space="index", boxes=boxes)
    way = direction(values[1].strip("\"'")) if len(values) > 1 else None
    if name != "swipe" or way is None:
        return Action("other", raw=raw)
    vector = _swipe_vector(way, values[2].strip("\"'") if len(values) > 2 else "medium", screen.size)
    to = (at[0] + vector[0], at[1] + vector[1]) if at and vector else None
    return Action(
        "swipe", at=at, to=to, direction=way, vector=vector, ms=_SWIPE_MS, raw=raw, space="index", boxes=boxes
    )


def _swipe_vector(way: Direction, how: str, size: Point | None) -> Point | None:
    """Return the finger's movement: tenths of the screen's width, doubled vertically."""
    if size is None:
        return None
    unit = size[0] // 10 * _UNITS.get(how, 1)
    moves: dict[Direction, Point] = {
        "up": (0, -2 * unit),
        "down": (0, 2 * unit),
        "left": (-unit, 0),
        "right": (unit, 0),
    }
    return moves[way]


def _grid_action(name: str, values: list[str], screen: NumberedScreen, raw: str) -> Action:
    at = _cell_point(values[:2], screen)
    if name == "tap":
        return Action("click", at=at, raw=raw, space="index")
    if name == "long_press":
        return Action("long_press", at=at, ms=_PRESS_MS, raw=raw, space="index")
    if name != "swipe":
        return Action("other", raw=raw)
    to = _cell_point(values[2:4], screen)
    vector = vector_between(at, to)
    way = main_direction(vector) if vector else None
    return Action("swipe", at=at, to=to, direction=way, vector=vector, ms=_SWIPE_MS, raw=raw, space="index")


def _cell_point(values: list[str], screen: NumberedScreen) -> Point | None:
    if len(values) < 2 or screen.size is None or not values[0].isdecimal() or len(values[0]) > 6:
        return None
    return cell(int(values[0]), values[1].strip("\"'"), screen.size)
