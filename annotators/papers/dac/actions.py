"""Comparison of two actions in type and parameters, for DAC-Bench's exact and type match.

DAC-Bench 2.6 requires equal type and parameters, after all agents' actions are mapped onto one small set (3.1). For the
tolerance of positions it refers to Li et al. 2024 (AndroidControl): inside the target's box. If a demonstration has
only a point and no box, the rule of Android in the Wild replaces it: at most 14 % of the screen away, in widths
horizontally and in heights vertically. Parameters that a demonstration does not specify are not compared.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from lab.core.run.measured_run import MeasuredRun, MeasuredStep
from lab.core.run.step import Action, Direction, Point

REACH = 0.14
"""Largest distance of a tap from a demonstrated point, as a share of the screen's width and height."""
Place = tuple[float, float]
Box = tuple[float, float, float, float]

_TYPES = {"input_text": "type", "swipe": "scroll", "answer": "complete", "status": "complete"}
_OPPOSITE: Mapping[Direction, Direction] = {"up": "down", "down": "up", "left": "right", "right": "left"}


class ComparableAction(NamedTuple):
    """An action for comparison.

    `value` is its text, direction or app. Positions are shares of the screen, 0 to 1. A prediction uses only `at` and
    `to`. In a demonstration `boxes` have priority over `at`. An empty `type` matches nothing.
    """

    type: str
    value: str | None = None
    at: Place | None = None
    to: Place | None = None
    boxes: tuple[Box, ...] = ()


Shown = Sequence[ComparableAction]
"""One step of a demonstration: its right actions, the demonstrated one first."""


def demonstrated_steps(gold: MeasuredRun, fallback: Point | None = None) -> list[Shown]:
    """Return a demonstration's steps without its slips. `fallback` is the screen size if it has none of its own."""
    size = screen(gold) or fallback
    return [
        [comparable_action(action, step.size or size) for action in (step.action or step.proposed, *step.accepted)]
        for step in gold.steps
        if not step.slip
    ]


def proposed_actions(run: MeasuredRun, fallback: Point | None = None) -> list[ComparableAction]:
    """Return the agent's proposed action at each step. An action by a person in its place matches nothing."""
    size = screen(run) or fallback
    return [
        _NO_ACTION if _by_person(step) else comparable_action(step.proposed, step.size or size) for step in run.steps
    ]


def screen(case: MeasuredRun) -> Point | None:
    """Return the pixels of a run's screen: the device's, else those of its first screen with known size."""
    return case.device.size or next((step.size for step in case.steps if step.size), None)


def comparable_action(action: Action, size: Point | None) -> ComparableAction:
    """Return an action for comparison. Without a screen size positions stay pixels, and only equal pixels match."""
    kind = _TYPES.get(action.kind, action.kind)
    match kind:
        case "click" | "long_press" | "double_tap":
            at = None if action.at is None else _screen_share(action.at, size)
            if not action.boxes:
                return ComparableAction(kind, None, at)
            corners = ((_screen_share(box[:2], size), _screen_share(box[2:], size)) for box in action.boxes)
            return ComparableAction(kind, None, at, None, tuple((*first, *last) for first, last in corners))
        case "drag":
            to = None if action.to is None else _screen_share(action.to, size)
            return ComparableAction(kind, None, None if action.at is None else _screen_share(action.at, size), to)
        case "type":
            return ComparableAction(kind, None if action.text is None else action.text.strip().casefold())
        case "scroll":
            return ComparableAction(kind, _scroll_direction(action))
        case "open_app":
            app = action.app or action.text
            return ComparableAction(kind, None if app is None else app.strip().casefold())
        case "complete" if action.status == "infeasible":
            return ComparableAction("impossible")
        case "other":
            return ComparableAction(kind, repr(action.raw if action.text is None else (action.raw, action.text)))
    return ComparableAction(kind)


def _screen_share(point: Point, size: Point | None) -> Place:
    # Without a known size positions stay pixels, and only equal ones are near.
    width, height = size if size and size[0] > 0 and size[1] > 0 else (1, 1)
    return point[0] / width, point[1] / height


def matches_exactly(gold: ComparableAction, other: ComparableAction) -> bool:
    """Return True if an action has the type of a demonstrated one and all parameters that it specifies."""
    if gold.type != other.type or (gold.value is not None and gold.value != other.value):
        return False
    if gold.boxes:
        return other.at is not None and any(_is_in_box(other.at, box) for box in gold.boxes)
    return _is_near(gold.at, other.at) and _is_near(gold.to, other.to)


def matches_type(gold: Shown, other: ComparableAction) -> bool:
    """Return True if any of a step's right actions has the same type."""
    return gold[0].type == other.type or any(one.type == other.type for one in gold[1:])


def matches(gold: Sequence[Shown], run: Sequence[ComparableAction]) -> list[list[int]]:
    """Return for each step of a demonstration the sorted indices of the run's actions that match it exactly."""
    of = _Sorted(run)
    pairs = []
    for step in gold:
        # A single right action needs no union, its list is sorted already.
        first = of.exact_matches(step[0])
        pairs.append(first if len(step) == 1 else sorted(set(first).union(*map(of.exact_matches, step[1:]))))
    return pairs


class _Sorted:
    """A run's actions indexed by type, value and position, so that each step is compared with few: runs are long."""

    def __init__(self, run: Sequence[ComparableAction]) -> None:
        self._run = run
        self._types: dict[str, list[int]] = {}
        self._values: dict[tuple[str, str | None], list[int]] = {}
        self._places: dict[str, list[tuple[int, float, float]]] = {}
        for index, one in enumerate(run):
            self._types.setdefault(one.type, []).append(index)
            self._values.setdefault((one.type, one.value), []).append(index)
            if one.at is not None:
                self._places.setdefault(one.type, []).append((index, *one.at))

    def exact_matches(self, gold: ComparableAction) -> list[int]:
        """Return the indices of the actions for which `matches_exactly` is True, without calling it for each."""
        if gold.boxes:
            located = self._places.get(gold.type, ())
            return [i for i, x, y in located if any(a <= x <= c and b <= y <= d for a, b, c, d in gold.boxes)]
        if gold.to is not None:
            return [i for i in self._types.get(gold.type, ()) if matches_exactly(gold, self._run[i])]
        if gold.at is not None:
            (x, y), near = gold.at, REACH * REACH
            top, low = y - REACH, y + REACH
            located = self._places.get(gold.type, ())
            return [i for i, a, b in located if top <= b <= low and (x - a) * (x - a) + (y - b) * (y - b) <= near]
        if gold.value is not None:
            return self._values.get((gold.type, gold.value), [])
        return self._types.get(gold.type, [])


_NO_ACTION = ComparableAction("")


def _by_person(step: MeasuredStep) -> bool:
    return step.by is not None and step.by.kind == "human"


def _is_in_box(place: Place, box: Box) -> bool:
    return box[0] <= place[0] <= box[2] and box[1] <= place[1] <= box[3]


def _is_near(gold: Place | None, other: Place | None) -> bool:
    if gold is None:
        return True
    if other is None:
        return False
    dx, dy = gold[0] - other[0], gold[1] - other[1]
    return dx * dx + dy * dy <= REACH * REACH


def _scroll_direction(action: Action) -> str | None:
    """Return the direction of the content that a scroll reveals: an upward finger reveals what is below."""
    if action.direction:
        return action.direction if action.kind == "scroll" else _OPPOSITE[action.direction]
    vector = action.vector
    if vector is None and action.at and action.to:
        # Some swipes have only their two ends.
        vector = (action.to[0] - action.at[0], action.to[1] - action.at[1])
    if vector is None or vector == (0, 0):
        return None
    across, down = vector
    if abs(across) > abs(down):
        return "left" if across > 0 else "right"
    return "up" if down > 0 else "down"


def types(steps: Iterable[Shown]) -> list[str]:
    """Return the type of each demonstrated action."""
    return [step[0].type for step in steps]
