"""A finger on the served phone, from down to up: a tap, a long press, or a movement.

Lists follow the finger while it is down. Two quick taps are two taps, which is a double tap on this phone.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Protocol

from lab.core.run.step import Action, Point
from simulators.phone import scrolling, touch
from simulators.phone.app import State
from simulators.phone.installed import APPS
from simulators.phone.kit.boxes import Box, Window
from simulators.phone.kit.theme import STATUS_BAR
from simulators.phone.phone import Phone
from simulators.phone.stage import windows

LONG = 0.5
"""Seconds after which a finger at rest is a long press (Android's ViewConfiguration)."""
SLOP = 24
"""Pixels of the phone within which a finger counts as at rest."""


class Surface(Protocol):
    """The screen under a finger, in pixels of the rotated display."""

    @property
    def phone(self) -> Phone: ...

    @property
    def open(self) -> bool:
        """True if a touch reaches an app."""

    def to_phone(self, x: float, y: float) -> Point | None:
        """Return the phone's pixel under a display's pixel, or None beside its picture."""

    def nearest_pixel(self, x: float, y: float) -> Point:
        """Return the phone's pixel nearest to a display's pixel."""


class Motion:
    """One finger. Points are pixels of the display. Any thread may call, one after the other.

    On release it has the same effect as the tap, long press or swipe as one action.
    """

    def __init__(self, surface: Surface) -> None:
        self._surface = surface
        self._lock = threading.RLock()
        self._start: Point | None = None
        self._moved = False
        self._held = False
        self._list: _List | None = None
        self._timer: threading.Timer | None = None
        self._touches = 0

    def finger_down(self, x: float, y: float) -> None:
        """Put the finger down. Ignore a touch beside the phone's picture or on a dark screen."""
        with self._lock:
            self.cancel()
            self._start = self._surface.to_phone(x, y) if self._surface.open else None
            if self._start is not None:
                self._timer = threading.Timer(LONG, self._hold, [self._touches])
                self._timer.daemon = True
                self._timer.start()

    def move(self, x: float, y: float) -> None:
        """Move the finger, and the list under it."""
        with self._lock:
            if self._start is None or self._held:
                return
            by = self._offset_to(x, y)
            if not self._moved and max(abs(by[0]), abs(by[1])) > SLOP:
                self._moved = True
                self._stop_timer()
                self._list = self._list_under(self._start, by)
            if self._list is not None:
                self._list.follow(self._surface, by)

    def finger_up(self, x: float, y: float) -> None:
        """Lift the finger and complete the touch."""
        with self._lock:
            self.move(x, y)
            start, by, moved, held, held_list = self._start, self._offset_to(x, y), self._moved, self._held, self._list
            self._reset_touch()
            if start is None or held:
                return
            if not moved:
                self._surface.phone.perform(Action("click", at=start))
                return
            self._surface.phone.change(_swipe(start, by, held_list))

    def cancel(self) -> None:
        """Cancel the touch and restore lists. Safe at any time."""
        with self._lock:
            if self._list is not None:
                self._list.follow(self._surface, (0, 0))
            self._reset_touch()

    def _offset_to(self, x: float, y: float) -> Point:
        if self._start is None:
            return 0, 0
        at = self._surface.nearest_pixel(x, y)
        return at[0] - self._start[0], at[1] - self._start[1]

    def _hold(self, number: int) -> None:
        with self._lock:
            # `number` rejects the timer of an earlier touch that fired during its cancellation.
            if self._start is not None and number == self._touches and not self._moved:
                self._held = True
                self._surface.phone.perform(Action("long_press", at=self._start))

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _reset_touch(self) -> None:
        self._stop_timer()
        self._touches += 1
        self._start, self._list, self._moved, self._held = None, None, False, False

    def _list_under(self, start: Point, by: Point) -> _List | None:
        """Return the list that follows the finger, or None if the movement opens or closes the shade."""
        screen = self._surface.phone.current_screen()
        box = scrolling.list_at(screen.windows, start, across=abs(by[0]) > abs(by[1]))
        shade = screen.state["shade"] and by[1] < 0
        pulls = start[1] < STATUS_BAR.bottom and by[1] > abs(by[0])
        return None if box is None or shade or pulls else _List(box, screen.state)


class _List:
    """A list under the finger, with its offset before the touch."""

    def __init__(self, box: Box, state: State) -> None:
        assert box.scroll is not None
        self._scroll = box.scroll
        self._before = state["scroll"].get(box.scroll.key)

    def follow(self, surface: Surface, by: Point) -> None:
        """Scroll the list to the finger's position."""
        scroll = self._scroll
        offset = min(scroll.limit, max(0, scroll.offset - (by[0] if scroll.across else by[1])))

        def moves(state: State, screen_windows: list[Window]) -> bool:
            if by == (0, 0):
                self.put_back(state)
                return True
            moved = bool(state["scroll"].get(scroll.key) != offset)
            state["scroll"][scroll.key] = offset
            return moved

        surface.phone.change(moves)

    def put_back(self, state: State) -> None:
        state["scroll"].pop(self._scroll.key, None)
        if self._before is not None:
            state["scroll"][self._scroll.key] = self._before


def _swipe(start: Point, by: Point, held_list: _List | None) -> Callable[[State, list[Window]], bool]:
    """Return the whole movement as one action, from the list's original offset."""

    def does(state: State, screen_windows: list[Window]) -> bool:
        if held_list is not None:
            held_list.put_back(state)
            screen_windows = windows(state, APPS)
        return touch.perform(state, screen_windows, Action("swipe", at=start, vector=by))

    return does
