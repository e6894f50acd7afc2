"""What goes wrong with a served phone, on demand: switches that its transport, its shell and its video look at."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

from lab.core.errors import LabError
from lab.core.suggestion import list_sentence

_CHOICES = {
    "screencap": ("", "fail", "garbage", "short"),
    "video": ("", "garbage", "die"),
}
_SLOWEST = 600.0
_LOOK = 0.05


class Faults:
    """Switches that any thread may turn; each stays as it is until it is turned again, or `clear` turns all back.

    `slow` is seconds before each answer. `screencap` is what each screencap answers ("": well), `video` how each
    stream of video goes wrong. `deny`: `input` and `uiautomator` are refused with a SecurityException. `restless`:
    uiautomator never finds the screen idle. `offline`: the transport answers nothing. `unauthorized`: the phone
    waits for its owner to allow this computer. `plugged` is False between `unplug` and `plug`.
    """

    def __init__(self) -> None:
        self._turning = threading.Lock()
        self.on_change: Callable[[], None] = lambda: None
        """Called after each change, on the thread that made it: the transport closes what must be closed."""
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
        """All is well again."""
        with self._turning:
            self._clear()
        self.on_change()

    def unplug(self) -> None:
        """The cable is out: what is connected is cut, and nothing connects."""
        self.turn("plugged", False)

    def plug(self) -> None:
        """The cable is in again."""
        self.turn("plugged", True)

    def turn(self, name: str, value: object) -> None:
        """Turns one switch; a `LabError` names what is no switch, or no way that it can be turned."""
        with self._turning:
            setattr(self, name, _checked(name, value))
        self.on_change()

    def pause(self, client_gone: threading.Event) -> None:
        """Waits out `slow` before an answer, no longer than it says by then when it is turned.

        It ends at once where `client_gone` is set.
        """
        began = time.monotonic()
        while (seconds_left := began + self.slow - time.monotonic()) > 0 and not client_gone.is_set():
            client_gone.wait(min(seconds_left, _LOOK))

    def state(self) -> dict[str, object]:
        """Each switch as it is."""
        return {name: getattr(self, name) for name in NAMES}


NAMES = ("slow", "screencap", "video", "deny", "restless", "offline", "unauthorized", "plugged")


def _checked(name: str, value: object) -> object:
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
