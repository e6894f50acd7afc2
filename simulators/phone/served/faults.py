"""Faults of a served phone, on demand: switches that its transport, shell and video read."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

from lab.core.errors import LabError
from lab.core.text.suggestion import list_sentence

_CHOICES = {
    "screencap": ("", "fail", "garbage", "short"),
    "video": ("", "garbage", "die"),
}
_SLOWEST = 600.0
_LOOK = 0.05


class Faults:
    """Switches that any thread may set. Each stays set until it is changed, or `clear` resets all.

    `slow` delays each answer by some seconds. `screencap` selects the fault of each screencap ("": none), `video` that
    of each video stream. `deny` refuses `input` and `uiautomator` with a SecurityException. `restless`: uiautomator
    never finds the screen idle. `offline`: the transport answers nothing. `unauthorized`: the phone waits for its owner
    to allow this computer. `plugged` is False between `unplug` and `plug`.
    """

    def __init__(self) -> None:
        self._turning = threading.Lock()
        self.on_change: Callable[[], None] = lambda: None
        """Called after each change, on the thread that made it. The transport then closes what is no longer allowed."""
        self._clear()

    def _clear(self) -> None:
        self.slow = 0.0
        self.screencap = ""
        self.video = ""
        self.deny = False
        self.restless = False
        self.offline = False
        self.unauthorized = False
        self.plugged = True

    def clear(self) -> None:
        """Reset all switches."""
        with self._turning:
            self._clear()
        self.on_change()

    def unplug(self) -> None:
        """Unplug the cable: cut all connections and accept none."""
        self.turn("plugged", False)

    def plug(self) -> None:
        """Plug the cable in again."""
        self.turn("plugged", True)

    def turn(self, name: str, value: object) -> None:
        """Set one switch. Raise `LabError` if the name or the value is not valid."""
        with self._turning:
            setattr(self, name, _checked_value(name, value))
        self.on_change()

    def pause(self, client_gone: threading.Event) -> None:
        """Wait `slow` seconds before an answer. A change of `slow` during the wait counts.

        Returns early if `client_gone` is set.
        """
        began = time.monotonic()
        while (seconds_left := began + self.slow - time.monotonic()) > 0 and not client_gone.is_set():
            client_gone.wait(min(seconds_left, _LOOK))

    def state(self) -> dict[str, object]:
        """Return the value of each switch."""
        return {name: getattr(self, name) for name in NAMES}


NAMES = ("slow", "screencap", "video", "deny", "restless", "offline", "unauthorized", "plugged")


def _checked_value(name: str, value: object) -> object:
    if name not in NAMES:
        raise LabError("fault", f"{name!r} is none.", list_sentence(NAMES))
    if name in _CHOICES:
        if value not in _CHOICES[name]:
            ways = ", ".join(map(repr, _CHOICES[name]))
            raise LabError("fault", f"{name} cannot be {value!r}.", f"It is one of {ways}.")
    elif name == "slow":
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= _SLOWEST:
            raise LabError("fault", f"slow is a number of seconds up to {_SLOWEST:.0f}, not {value!r}.")
        return float(value)
    elif not isinstance(value, bool):
        raise LabError("fault", f"{name} is true or false, not {value!r}.")
    return value
