"""Input of a mirror: touches by mouse and letters by keyboard, posted as messages."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from textual import events
from textual.geometry import Offset
from textual.message import Message
from textual.reactive import reactive
from textual.timer import Timer
from textual.widget import Widget

from screens.mirror.fit import Fit
from screens.mirror.marks import PhoneMark

Point = tuple[int, int]

LONG = 0.5
"""Seconds of holding the button for a long press."""
_LINGERS = 0.6
"""Seconds for which a finger's mark stays after it is lifted."""
_KEYS = ("enter", "backspace")


class Touchscreen(Widget, can_focus=True):
    """Widget that receives touches and keys. A mirror draws beneath. Points are in the phone's own pixels."""

    interactive: reactive[bool] = reactive(True, repaint=False)
    """True to report clicks, drags and the wheel."""
    typing: reactive[bool] = reactive(False, repaint=False)
    """True if keys belong to the phone. Letters, Enter, Backspace and pasted text are then messages, not keys of ours.
    """

    @dataclass
    class Tapped(Message, namespace="mirror"):
        """Message: the phone was clicked at pixel `at`. `long` if the button was held, or the right one was used."""

        mirror: Touchscreen
        at: Point
        long: bool

        @property
        def control(self) -> Touchscreen:
            return self.mirror

    @dataclass
    class Dragged(Message, namespace="mirror"):
        """Message: a finger moved from pixel `at` to pixel `to` in `ms` milliseconds."""

        mirror: Touchscreen
        at: Point
        to: Point
        ms: int

        @property
        def control(self) -> Touchscreen:
            return self.mirror

    @dataclass
    class Wheeled(Message, namespace="mirror"):
        """Message: the wheel turned at pixel `at`. `direction` is the way to move in the content."""

        mirror: Touchscreen
        at: Point
        direction: Literal["up", "down"]

        @property
        def control(self) -> Touchscreen:
            return self.mirror

    @dataclass
    class Typed(Message, namespace="mirror"):
        """Message, while `typing`: a typed character, or a pasted text of any length and lines."""

        mirror: Touchscreen
        text: str

        @property
        def control(self) -> Touchscreen:
            return self.mirror

    @dataclass
    class Key(Message, namespace="mirror"):
        """Message, while `typing`: a key without a character."""

        mirror: Touchscreen
        name: str
        """`enter` or `backspace`."""

        @property
        def control(self) -> Touchscreen:
            return self.mirror

    _pressed: events.MouseDown | None = None
    _finger_timer: Timer | None = None

    @property
    def fit(self) -> Fit | None:
        """Position of the phone in the widget's cells, as last drawn."""
        raise NotImplementedError

    @property
    def corner(self) -> Offset:
        """Screen offset of the cell (0, 0) of a fit."""
        raise NotImplementedError

    def show_finger(self, marks: Sequence[PhoneMark]) -> None:
        """Draw the finger where it is, or was a moment ago."""
        raise NotImplementedError

    def closer(self, at: Point | None = None) -> None:
        """Zoom in by one level. The pixel `at`, or the middle, keeps its place."""
        raise NotImplementedError

    def further(self, at: Point | None = None) -> None:
        """Zoom out by one level, in the same way."""
        raise NotImplementedError

    # Fingers

    def _cell_of(self, event: events.MouseEvent) -> Offset:
        """Return a mouse event's cell, counted from the corner."""
        return event.screen_offset - self.corner

    def _pixel_of(self, event: events.MouseEvent) -> Point | None:
        """Return the phone's pixel under a mouse event, or None outside, without a picture, or if not interactive."""
        fit = self.fit
        return fit.pixel(*self._cell_of(event)) if fit is not None and self.interactive else None

    async def _on_mouse_down(self, event: events.MouseDown) -> None:
        at = self._pixel_of(event)
        if at is not None and self._pressed is None:
            event.stop()
            self._pressed = event
            self.capture_mouse()
            self._show_finger([PhoneMark("touch", at)])
            self._finger_timer = self.set_timer(LONG, self._show_long_press)

    def _show_long_press(self) -> None:
        """Show that a held touch has become a long press."""
        at = self._pixel_of(self._pressed) if self._pressed is not None else None
        if at is not None:
            self.show_finger([PhoneMark("long", at)])

    async def _on_mouse_move(self, event: events.MouseMove) -> None:
        press, fit = self._pressed, self.fit
        at = self._pixel_of(press) if press is not None else None
        if press is not None and fit is not None and at is not None and self._cell_of(event) != self._cell_of(press):
            event.stop()
            self._show_finger([PhoneMark("drag", at, fit.nearest(*self._cell_of(event)))])

    async def _on_mouse_up(self, event: events.MouseUp) -> None:
        press, self._pressed = self._pressed, None
        fit = self.fit
        if press is None:
            return
        event.stop()
        self.release_mouse()
        at = self._pixel_of(press)
        if fit is None or at is None:
            return self._show_finger([])
        seconds = event.time - press.time
        if self._cell_of(event) == self._cell_of(press):
            long = seconds >= LONG or press.button == 3
            self._show_finger([PhoneMark("long" if long else "touch", at)])
            self.post_message(self.Tapped(self, at, long))
        else:
            to = fit.nearest(*self._cell_of(event))
            self._show_finger([PhoneMark("drag", at, to)])
            self.post_message(self.Dragged(self, at, to, max(1, round(seconds * 1000))))
        self._finger_timer = self.set_timer(_LINGERS, lambda: self.show_finger([]))

    def _show_finger(self, marks: Sequence[PhoneMark]) -> None:
        """Draw the finger. Stop a timer that would change or remove the mark."""
        if self._finger_timer is not None:
            self._finger_timer.stop()
        self._finger_timer = None
        self.show_finger(marks)

    def _on_mouse_scroll_up(self, event: events.MouseScrollUp) -> None:
        self._wheel(event, "up")

    def _on_mouse_scroll_down(self, event: events.MouseScrollDown) -> None:
        self._wheel(event, "down")

    def _wheel(self, event: events.MouseEvent, direction: Literal["up", "down"]) -> None:
        fit, at = self.fit, self._pixel_of(event)
        if event.ctrl and fit is not None and (pixel := fit.pixel(*self._cell_of(event))) is not None:
            event.stop()
            (self.closer if direction == "up" else self.further)(pixel)
        elif at is not None:
            event.stop()
            self.post_message(self.Wheeled(self, at, direction))

    # Keys

    # Textual asks this before its bindings, also those of the screen and the app.
    def check_consume_key(self, key: str, character: str | None = None) -> bool:
        """Return True if a key belongs to the phone now."""
        return self.typing and (key in _KEYS or (character is not None and character.isprintable()))

    async def _on_key(self, event: events.Key) -> None:
        if not self.check_consume_key(event.key, event.character):
            return
        event.stop()
        event.prevent_default()
        if event.key in _KEYS:
            self.post_message(self.Key(self, event.key))
        elif event.character is not None:
            self.post_message(self.Typed(self, event.character))

    def _on_paste(self, event: events.Paste) -> None:
        if self.typing:
            event.stop()
            event.prevent_default()
            self.post_message(self.Typed(self, event.text))
