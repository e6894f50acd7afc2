"""Touches and keys on a phone, by a running scrcpy session or the phone's own `input` command."""

from __future__ import annotations

import math
import threading
from typing import TYPE_CHECKING, Protocol

from lab.core.errors import LabError
from lab.core.run.step import Point
from lab.devices.adb.shell import Shell, ShellResult, line_of

if TYPE_CHECKING:
    from lab.devices.scrcpy.scrcpy import Scrcpy
    from lab.devices.scrcpy.scrcpy_codec import Touch

HOME, BACK, ENTER, RECENT = 3, 4, 66, 187
"""Android's key codes (KeyEvent.KEYCODE_HOME, _BACK, _ENTER, _APP_SWITCH)."""
HELD = 800
"""Milliseconds of a long press. Android's own limit is 400 to 1,500, as its owner sets it."""
_TAP, _BETWEEN, _BEAT = 0.04, 0.09, 1 / 60
"""Seconds of a finger's rest in a tap, its lift in a double tap (Android accepts 0.04 to 0.3), between its moves."""
_STILL = 0.06
"""Seconds that a finger rests before it lifts, so that the content does not fling."""
_LANDED = 0.1
"""Seconds for scrcpy's server to execute a command, because it sends no acknowledgement."""


class Fingers(Protocol):
    """Touch and key input on a screen, in the phone's own pixels. Raise `Trouble` if the phone is away."""

    def tap(self, at: Point, times: int = 1) -> None: ...

    def hold(self, at: Point, ms: int = HELD) -> None: ...

    def draw(self, at: Point, to: Point, ms: int) -> None:
        """Put a finger down at `at`, move it to `to` in `ms` milliseconds and lift it."""

    def key(self, code: int) -> None: ...


class ByInput:
    """Input by Android's own `input` command. Each call blocks until the command ends."""

    def __init__(self, shell: Shell) -> None:
        self._shell = shell

    def tap(self, at: Point, times: int = 1) -> None:
        self._do("; ".join([line_of("input", "tap", *at)] * times))

    def hold(self, at: Point, ms: int = HELD) -> None:
        self.draw(at, at, ms)

    def draw(self, at: Point, to: Point, ms: int) -> None:
        self._do(line_of("input", "swipe", *at, *to, ms), ms / 1000)

    def key(self, code: int) -> None:
        self._do(line_of("input", "keyevent", code))

    def _do(self, command: str, seconds: float = 0.0) -> None:
        check_input(self._shell.run(command, seconds), self._shell.who)


def check_input(result: ShellResult, who: str) -> None:
    """Raise `LabError`, with what to do, if `input` refused. Some phones exit with 0 even then."""
    if result.code == 0 and "Exception" not in result.err + result.out:
        return
    if "INJECT_EVENTS" in result.err + result.out or "SecurityException" in result.err + result.out:
        hint = "In its developer options allow 'USB debugging (Security settings)', or what it is called there."
        raise LabError(who, "does not let adb touch its screen.", hint)
    raise LabError(who, f"refused: {result.complaint}.")


class ByScrcpy:
    """Input through a scrcpy session's control socket: faster, and precise to the event."""

    def __init__(self, session: Scrcpy, space: Point) -> None:
        self._session, self._space = session, space
        self._clock = threading.Event()

    def tap(self, at: Point, times: int = 1) -> None:
        for number in range(times):
            self._pause(_BETWEEN if number else 0)
            self._touch(at, "down")
            self._pause(_TAP)
            self._touch(at, "up")
        self._pause(_LANDED)

    def hold(self, at: Point, ms: int = HELD) -> None:
        self._touch(at, "down")
        self._pause(ms / 1000)
        self._touch(at, "up")
        self._pause(_LANDED)

    def draw(self, at: Point, to: Point, ms: int) -> None:
        beats = max(2, round(ms / 1000 / _BEAT))
        self._touch(at, "down")
        for beat in range(1, beats + 1):
            self._pause(ms / 1000 / beats)
            # A cosine eases the finger in and out, like a person's.
            share = (1 - math.cos(math.pi * beat / beats)) / 2
            self._touch((at[0] + (to[0] - at[0]) * share, at[1] + (to[1] - at[1]) * share), "move")
        self._pause(_STILL)
        self._touch(to, "up")
        self._pause(_LANDED)

    def key(self, code: int) -> None:
        self._session.key(code)
        self._pause(_LANDED)

    def _touch(self, at: tuple[float, float], kind: Touch) -> None:
        self._session.touch(*at, kind, self._space)

    def _pause(self, seconds: float) -> None:
        self._clock.wait(seconds)
