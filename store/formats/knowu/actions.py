"""KnowU-Bench's and MobileWorld's actions and predictions as hitlab's."""

from __future__ import annotations

import re
from typing import Any, Literal

from lab.core.run.step import Action, ActionKind, Direction, Point
from store.formats.geometry import point, vector_between
from store.formats.values import as_str

_KINDS: dict[str, ActionKind] = {
    "click": "click",
    "double_tap": "double_tap",
    "long_press": "long_press",
    "drag": "drag",
    "swipe": "swipe",
    "scroll": "scroll",
    "input_text": "input_text",
    "navigate_home": "navigate_home",
    "navigate_back": "navigate_back",
    "keyboard_enter": "keyboard_enter",
    "open_app": "open_app",
    "wait": "wait",
    "answer": "answer",
    "ask_user": "ask_user",
    "status": "status",
    "finished": "status",
}
ENDING = frozenset({"answer", "finished", "status"})
"""Source action types by which an agent declares that it is done."""

BROKEN = frozenset({"unknown", "error_env"})
"""Source action types that end a run because the model's output, or the phone, could not be used."""

WIDTH = 1080
"""Width of the benchmarks' own phone, to measure a scroll in runs without pictures."""

_FINGER: dict[Direction, Point] = {"up": (0, -4), "down": (0, 4), "left": (-2, 0), "right": (2, 0)}
"""Movement of a swipe in tenths of the screen's width, as the benchmark's server performs it."""

_SCROLL: dict[Direction, Direction] = {"up": "down", "down": "up", "left": "up", "right": "up"}
"""Swipe that the benchmark's server performs for a scroll: left and right move the finger up, too."""

_BLOCK = re.compile(r"<(think|thinking)>")
_ACT = re.compile(r"^[ \t]*Action[ \t]*[:：]|<tool_call>", re.M)
_OPENING = re.compile(r"^\s*Thought\s*[:：]\s*")


def action_of(raw: Any, width: int = WIDTH) -> Action:
    """Return a source action as hitlab's, with `raw` unchanged. Unknown or missing types become `other`."""
    if not isinstance(raw, dict):
        return Action("other", raw=raw, space="px")
    name = str(raw.get("action_type"))
    kind = _KINDS.get(name, "other")
    start, end = _point(raw, "start_x", "start_y"), _point(raw, "end_x", "end_y")
    direction = _parse_direction(raw.get("direction"))
    return Action(
        kind=kind,
        at=start or _point(raw, "x", "y"),
        to=end,
        text=as_str(raw.get("text")) if name != "mcp" else as_str(raw.get("action_name")),
        direction=direction,
        vector=vector_between(start, end) or _finger_vector(kind, direction, width),
        app=as_str(raw.get("app_name")),
        status=_status(name, raw.get("goal_status")),
        raw=raw,
        space="px",
    )


def _finger_vector(kind: str, direction: Direction | None, width: int) -> Point | None:
    if direction is None or kind not in ("scroll", "swipe"):
        return None
    dx, dy = _FINGER[_SCROLL[direction] if kind == "scroll" else direction]
    return dx * (width // 10), dy * (width // 10)


def _point(raw: dict[str, Any], x: str, y: str) -> Point | None:
    return point(raw[x], raw.get(y)) if raw.get(x) is not None else None


def _parse_direction(value: Any) -> Direction | None:
    return next((direction for direction in _FINGER if direction == value), None)


def _status(name: str, goal: Any) -> Literal["complete", "infeasible"] | None:
    if name == "finished" or (name == "status" and goal in ("complete", "success")):
        return "complete"
    return "infeasible" if name == "status" and goal in ("infeasible", "failed") else None


def thought_of(prediction: str) -> str:
    """Return the reasoning in a model's output: its think blocks and the text before its action. It may be empty."""
    blocks, rest = _split_think_blocks(prediction)
    act = _ACT.search(rest)
    thought = rest[: act.start()] if act else rest
    if act or _OPENING.match(thought):
        blocks.append(_OPENING.sub("", thought).strip())
    return "\n\n".join(block for block in blocks if block)


def _split_think_blocks(prediction: str) -> tuple[list[str], str]:
    """Return the content of think blocks, and the rest. An unclosed block ends at the tool call or the end."""
    blocks: list[str] = []
    rest: list[str] = []
    at = 0
    while match := _BLOCK.search(prediction, at):
        rest.append(prediction[at : match.start()])
        close = f"</{match[1]}>"
        end = prediction.find(close, match.end())
        at = end + len(close)
        if end < 0:
            call = prediction.find("<tool_call>", match.end())
            end = at = call if call >= 0 else len(prediction)
        blocks.append(prediction[match.end() : end].strip())
    return blocks, "".join([*rest, prediction[at:]])
