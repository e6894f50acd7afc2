"""What a person does to the phone in a mirror: fingers by the mouse, letters by the keys, each told as a message."""

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
"""Seconds that a button is held for a long press."""
_LINGERS = 0.6
"""Seconds that a finger's mark stays when it is lifted."""
_KEYS = ("enter", "backspace")


class Touchscreen(Widget, can_focus=True):
    """Where fingers and keys are heard; a mirror draws beneath. Points are the phone's own pixels."""

    interactive: reactive[bool] = reactive(True, repaint=False)
    """Whether clicks, drags and the wheel are passed on."""
    typing: reactive[bool] = reactive(False, repaint=False)
    """Whether keys are the phone's: letters, Enter, Backspace and what is pasted are passed on, none is ours."""

    @dataclass
    class Tapped(Message, namespace="mirror"):
        """The phone was clicked at pixel `at`; `long` where the button was held, or the right one used."""

        mirror: Touchscreen
        at: Point
        long: bool

        @property
        def control(self) -> Touchscreen:
            return self.mirror

    @dataclass
    class Dragged(Message, namespace="mirror"):
        """A finger was drawn from pixel `at` to pixel `to` in `ms` milliseconds."""

        mirror: Touchscreen
        at: Point
        to: Point
        ms: int

        @property
        def control(self) -> Touchscreen:
            return self.mirror

    @dataclass
    class Wheeled(Message, namespace="mirror"):
        """The wheel was turned at pixel `at`; `direction` is where in the content one wants to go."""

        mirror: Touchscreen
        at: Point
        direction: Literal["up", "down"]

        @property
        def control(self) -> Touchscreen:
            return self.mirror

    @dataclass
    class Typed(Message, namespace="mirror"):
        """While `typing`: a character was typed, or a text of any length and lines pasted."""

        mirror: Touchscreen
        text: str

        @property
        def control(self) -> Touchscreen:
            return self.mirror

    @dataclass
    class Key(Message, namespace="mirror"):
        """While `typing`: a key that is no character."""

        mirror: Touchscreen
        name: str
        """`enter` or `backspace`."""

        @property
        def control(self) -> Touchscreen:
            return self.mirror

    _pressed: events.MouseDown | None = None
    _lifts: Timer | None = None

    @property
    def fit(self) -> Fit | None:
        """Where the phone lies in the widget's cells, as last drawn."""
        raise NotImplementedError

    @property
    def corner(self) -> Offset:
        """Where the cells that a fit counts begin, on the screen."""
        raise NotImplementedError

    def finger(self, marks: Sequence[PhoneMark]) -> None:
        """Draws where the finger is, or was a moment ago."""
        raise NotImplementedError

    def closer(self, at: Point | None = None) -> None:
        """Enlarges it by one level; the pixel stays where it is seen, or what is in the middle does."""
        raise NotImplementedError

    def further(self, at: Point | None = None) -> None:
        """Takes one level of enlarging back, in the same way."""
        raise NotImplementedError

    # Fingers

    def _cell(self, event: events.MouseEvent) -> Offset:
        """A mouse event's cell, counted from the corner."""
        return event.screen_offset - self.corner

    def _pixel(self, event: events.MouseEvent) -> Point | None:
        """The phone's pixel under a mouse event, or None: beside the phone, not interactive, nothing shown."""
        fit = self.fit
        return fit.pixel(*self._cell(event)) if fit is not None and self.interactive else None

    async def _on_mouse_down(self, event: events.MouseDown) -> None:
        at = self._pixel(event)
        if at is not None and self._pressed is None:
            event.stop()
            self._pressed = event
            self.capture_mouse()
            self._touch([PhoneMark("touch", at)])
            self._lifts = self.set_timer(LONG, self._holds)

    def _holds(self) -> None:
        """Shows that what is held still has become a long press."""
        at = self._pixel(self._pressed) if self._pressed is not None else None
        if at is not None:
            self.finger([PhoneMark("long", at)])

    async def _on_mouse_move(self, event: events.MouseMove) -> None:
        press, fit = self._pressed, self.fit
        at = self._pixel(press) if press is not None else None
        if press is not None and fit is not None and at is not None and self._cell(event) != self._cell(press):
            event.stop()
            self._touch([PhoneMark("drag", at, fit.nearest(*self._cell(event)))])

    async def _on_mouse_up(self, event: events.MouseUp) -> None:
        press, self._pressed = self._pressed, None
        fit = self.fit
        if press is None:
            return
        event.stop()
        self.release_mouse()
        at = self._pixel(press)
        if fit is None or at is None:
            return self._touch([])
        seconds = event.time - press.time
        if self._cell(event) == self._cell(press):
            long = seconds >= LONG or press.button == 3
            self._touch([PhoneMark("long" if long else "touch", at)])
            self.post_message(self.Tapped(self, at, long))
        else:
            to = fit.nearest(*self._cell(event))
            self._touch([PhoneMark("drag", at, to)])
            self.post_message(self.Dragged(self, at, to, max(1, round(seconds * 1000))))
        self._lifts = self.set_timer(_LINGERS, lambda: self.finger([]))

    def _touch(self, marks: Sequence[PhoneMark]) -> None:
        """Draws the finger; what was about to become of it does not."""
        if self._lifts is not None:
            self._lifts.stop()
        self._lifts = None
        self.finger(marks)

    def _on_mouse_scroll_up(self, event: events.MouseScrollUp) -> None:
        self._wheel(event, "up")

    def _on_mouse_scroll_down(self, event: events.MouseScrollDown) -> None:
        self._wheel(event, "down")

    def _wheel(self, event: events.MouseEvent, direction: Literal["up", "down"]) -> None:
        fit, at = self.fit, self._pixel(event)
        if event.ctrl and fit is not None and (pixel := fit.pixel(*self._cell(event))) is not None:
            event.stop()
            (self.closer if direction == "up" else self.further)(pixel)
        elif at is not None:
            event.stop()
            self.post_message(self.Wheeled(self, at, direction))

    # Keys

    def check_consume_key(self, key: str, character: str | None = None) -> bool:
        """Whether a key is the phone's now, and so nobody else's."""
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
