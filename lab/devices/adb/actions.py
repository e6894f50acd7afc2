"""Actions performed on a phone by touches, keys, text input and app starts."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import NamedTuple

import msgspec

from lab.core.errors import LabError
from lab.core.run.step import Action, Direction, Point
from lab.core.run.ui_tree import Bounds, Node, UiTree
from lab.devices.adb.apps import Apps
from lab.devices.adb.dump import Dumper
from lab.devices.adb.shell import Shell, line_of
from lab.devices.adb.system_state import SystemState, display_size, glance
from lab.devices.adb.text_input import Typist
from lab.devices.adb.touch_input import BACK, ENTER, HELD, HOME, RECENT, ByInput, ByScrcpy, Fingers
from lab.devices.videos import Videos

_WAIT_MS, _LONGEST_WAIT, _LONGEST_TOUCH = 1000, 600_000, 60_000
_CURSOR, _LOOK = 2.0, 0.1
"""Seconds within which a tapped field gets the cursor, and between two polls."""


class ActionRunner:
    """Performs actions on one phone: through the running scrcpy session, else by the `input` command."""

    def __init__(self, shell: Shell, dumper: Dumper, videos: Videos) -> None:
        self._shell, self._dumper, self._videos = shell, dumper, videos
        self._input = ByInput(shell)
        self.typist = Typist(shell, videos.paste, self._field_text)
        self._apps = Apps(shell, videos.labels, self._tap_icon)
        self._size: Point = (0, 0)

    def perform(self, action: Action, size: Point, tree: UiTree) -> None:
        """Perform one action on a screen of `size` that last showed `tree`.

        Ignore kinds that only concern the run's loop.
        """
        self._size = size
        if action.ms is not None and action.kind != "wait":
            action = msgspec.structs.replace(action, ms=min(max(0, action.ms), _LONGEST_TOUCH))
        match action.kind:
            case "click":
                self._fingers.tap(self._check_place(action.at or _center(size)))
            case "double_tap":
                self._fingers.tap(self._check_place(action.at or _center(size)), 2)
            case "long_press":
                self._fingers.hold(self._check_place(action.at or _center(size)), action.ms or HELD)
            case "drag" | "swipe" | "scroll":
                for at in (action.at, action.to):
                    if at is not None:
                        self._check_place(at)
                self._fingers.draw(*stroke(action, self._size, tree))
            case "input_text":
                self._type(action, tree)
            case "keyboard_enter":
                self._fingers.key(ENTER)
            case "navigate_home":
                self._fingers.key(HOME)
            case "navigate_back":
                self._fingers.key(BACK)
            case "press_recent":
                self._fingers.key(RECENT)
            case "wait":
                self._wait(_WAIT_MS if action.ms is None else action.ms)
            case "open_app":
                self._apps.open(action.app or action.text or "")

    @property
    def _fingers(self) -> Fingers:
        session = self._videos.session
        return ByScrcpy(session, self._size) if session is not None else self._input

    def _check_place(self, at: Point) -> Point:
        """Return a point of the current screen.

        Raise `LabError` if it is outside, or the phone was turned since the last look.
        """
        on_screen = 0 <= at[0] < self._size[0] and 0 <= at[1] < self._size[1]
        # A running scrcpy session knows the phone's orientation itself.
        if on_screen and self._videos.session is not None:
            return at
        now = display_size(self._shell) or self._size
        if on_screen and (now[0] > now[1]) != (self._size[0] > self._size[1]):
            raise LabError("touch", "the phone was turned since it was looked at; nothing was done.")
        self._size = self._size if on_screen else now
        return inside(at, self._size)

    def _wait(self, ms: int) -> None:
        """Sleep on the phone: its own clock counts, and the command's return proves that it is still connected."""
        seconds = min(max(0, ms), _LONGEST_WAIT) / 1000
        self._shell.run(line_of("sleep", f"{seconds:.3f}"), seconds)

    def _type(self, action: Action, tree: UiTree) -> None:
        """Type at the cursor, after a tap at `at` if given."""
        if action.at is not None:
            self._fingers.tap(self._check_place(action.at))
        state = self._wait_for_cursor(
            tree if action.at is None else UiTree(), _CURSOR if action.at is not None else 0.0
        )
        secret = state.password or any(node.password for node in tree.nodes())
        self.typist.type(action.text or "", state.lines, secret=secret)

    def _wait_for_cursor(self, tree: UiTree, seconds: float) -> SystemState:
        """Wait until something accepts text: a shown keyboard, or a focused field (with a hardware keyboard).

        Else raise `LabError`.
        """
        end = time.monotonic() + seconds
        while not (state := glance(self._shell)).keyboard:
            if time.monotonic() < end:
                time.sleep(_LOOK)
            elif _field_focused(tree) or _field_focused(self._dumper.tree() or UiTree()):
                break
            else:
                raise LabError("input text", "no text field has the cursor", "Tap a text field first.")
        return state

    def _field_text(self) -> str | None:
        """Return the focused field's text, or None if no field is known to have the focus."""
        nodes = (self._dumper.tree() or UiTree()).nodes()
        return next((node.text for node in nodes if node.focused and node.cls.endswith("EditText")), None)

    def _tap_icon(self, name: str) -> bool:
        return tap_icon(name, LauncherAccess(self._dumper.tree, self._fingers, self._size))


def _field_focused(tree: UiTree) -> bool:
    return any(node.focused and node.cls.endswith("EditText") for node in tree.nodes())


def _center(size: Point) -> Point:
    return size[0] // 2, size[1] // 2


_PAGES, _ROWS = 4, 10
_MS = 250


class LauncherAccess(NamedTuple):
    """Access to the launcher: the screen's tree, the fingers, the screen's size."""

    tree: Callable[[], UiTree | None]
    fingers: Fingers
    size: Point


def tap_icon(name: str, looking: LauncherAccess) -> bool:
    """Go home and tap the icon called `name`. Return False, back at the home screen, if no page has it."""
    # Some launchers page sideways, others open a drawer with an upward swipe.
    for direction, most in (("left", _PAGES), ("up", _ROWS)):
        looking.fingers.key(HOME)
        before: UiTree | None = None
        for _ in range(most):
            tree = looking.tree()
            icon = _find_icon(tree, name) if tree is not None else None
            if icon is not None:
                looking.fingers.tap(icon.bounds.center)
                return True
            # The last page: the swipe changed nothing.
            if tree is None or tree == before:
                break
            before = tree
            _swipe("left" if direction == "left" else "up", looking)
    looking.fingers.key(HOME)
    return False


def _find_icon(tree: UiTree, name: str) -> Node | None:
    label = name.strip().casefold()
    for node in tree.nodes():
        if label in (node.text.strip().casefold(), node.desc.strip().casefold()):
            target = tree.target(node)
            if target.clickable and target.bounds.area:
                return target
    return None


def _swipe(direction: Direction, looking: LauncherAccess) -> None:
    wide, high = looking.size
    middle = wide // 2, high * 5 // 8
    to = (wide // 10, middle[1]) if direction == "left" else (middle[0], high // 4)
    at = (wide * 9 // 10, middle[1]) if direction == "left" else middle
    looking.fingers.draw(at, to, _MS)


_FINGER: dict[Direction, Point] = {"up": (0, -1), "down": (0, 1), "left": (-1, 0), "right": (1, 0)}
_SHARE = 0.6
"""Share of a list that one scroll or swipe without a length moves."""
_EDGE = 0.04
"""Share of the screen at each edge that belongs to system gestures: back, home, notifications."""
_SCROLL_MS, _SWIPE_MS, _DRAG_MS = 500, 300, 800


class Stroke(NamedTuple):
    """Touch that starts at `at`, moves to `to` in `ms` milliseconds and lifts."""

    at: Point
    to: Point
    ms: int


def inside(at: Point, size: Point) -> Point:
    """Return `at` if it is on the screen, else raise `LabError`."""
    if 0 <= at[0] < size[0] and 0 <= at[1] < size[1]:
        return at
    raise LabError("touch", f"{at[0]}, {at[1]} is not on a screen of {size[0]} x {size[1]}.")


def stroke(action: Action, size: Point, tree: UiTree) -> Stroke:
    """Return the touch for a scroll, swipe or drag on a screen of `size` that shows `tree`."""
    ms = {"scroll": _SCROLL_MS, "swipe": _SWIPE_MS, "drag": _DRAG_MS}[action.kind]
    ms = action.ms if action.ms else ms
    if action.at is not None and action.to is not None and action.kind != "scroll":
        return Stroke(inside(action.at, size), inside(action.to, size), ms)
    if action.vector is not None:
        at = (
            inside(action.at, size)
            if action.at is not None
            else _clamp(_start_point(action.vector, _inner_area(size)), size)
        )
        return Stroke(at, _clamp((at[0] + action.vector[0], at[1] + action.vector[1]), size), ms)
    if action.at is not None and action.to is not None:
        return Stroke(inside(action.at, size), inside(action.to, size), ms)
    return _directed_stroke(action, size, tree, ms)


def _directed_stroke(action: Action, size: Point, tree: UiTree, ms: int) -> Stroke:
    """Return the touch for a direction.

    A scroll names the direction in the content, so the finger moves the opposite way. A swipe names the finger's own
    direction.
    """
    direction = action.direction or ("down" if action.kind == "scroll" else "up")
    x, y = _FINGER[direction]
    if action.kind == "scroll":
        x, y = -x, -y
    at = inside(action.at, size) if action.at is not None else None
    area = _scrollable_at(tree, at, across=bool(x)) or _inner_area(size)
    area = area.intersection(_inner_area(size))
    movement = round(x * area.width * _SHARE), round(y * area.height * _SHARE)
    start = _start_point(movement, area)
    if at is not None:
        start = (start[0], at[1]) if x else (at[0], start[1])
    if action.kind != "scroll" and at is not None:
        start = at
    return Stroke(start, _clamp((start[0] + movement[0], start[1] + movement[1]), size), ms)


def _start_point(movement: Point, area: Bounds) -> Point:
    """Return the start of a movement that has its middle at the area's centre."""
    x, y = area.center
    return x - movement[0] // 2, y - movement[1] // 2


def _scrollable_at(tree: UiTree, at: Point | None, *, across: bool) -> Bounds | None:
    """Return the innermost scrollable under a point, or the largest one without a point."""
    boxes = [node.bounds for node in tree.nodes() if node.scrollable and node.bounds.area]
    # A tree does not state the scroll axis: treat what is much wider than high as horizontal.
    fits = [box for box in boxes if (box.width > 2 * box.height) == across] or ([] if across else boxes)
    if at is None:
        return max(fits, key=lambda box: box.area, default=None)
    under = [box for box in fits if box.contains(*at)]
    return min(under, key=lambda box: box.area, default=None)


def _inner_area(size: Point) -> Bounds:
    """Return the screen without its edges."""
    wide, high = round(size[0] * _EDGE), round(size[1] * _EDGE)
    return Bounds(wide, high, size[0] - wide, size[1] - high)


def _clamp(at: Point, size: Point) -> Point:
    return min(max(at[0], 0), size[0] - 1), min(max(at[1], 0), size[1] - 1)
