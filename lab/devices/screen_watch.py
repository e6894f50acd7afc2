"""Keeps a phone's screen awake while a run is on, wakes it where it is not, and tells of a state that spoils a run."""

from __future__ import annotations

import contextlib
import re
import socket
import threading
from collections.abc import Callable

from lab.core.errors import LabError
from lab.core.seams import Trouble
from lab.devices.screen_state import ScreenState, postures, screen_state, secured, secured_trouble, wake
from lab.devices.shell import Shell, line_of
from lab.devices.socket_io import hang_up

_TICK = 2.0
"""Seconds between two looks at the screen's state."""
_MINUTES_30 = 1_800_000
_POWERED = 7
"""Plugged into mains, USB or a wireless charger: the bits of stay_on_while_plugged_in."""
_KEPT = "/data/local/tmp/hitlab-awake"
"""Where the phone itself keeps what was set before, for a run after one that the phone did not outlive."""
_SETTINGS = (("system", "screen_off_timeout", _MINUTES_30), ("global", "stay_on_while_plugged_in", _POWERED))
_VALUES = re.compile(r"(\d{1,10}|null) (\d{1,10}|null)")


class ScreenWatch:
    """Looks at one phone's screen from `start` to `close`, on a thread of its own. `state` is the newest one.

    `tell` is called after each look with why a run cannot go on, or None; `is_dark` is whether the picture that is
    looked at is black. While the thread runs, the phone does not fall asleep: a command on the phone sets that, waits
    for the end of its line, and sets back what was before. So the setting is put back at the end, when this program
    dies, and when the cable is pulled.
    """

    def __init__(
        self, shell: Shell, tell: Callable[[Trouble | None], None], is_dark: Callable[[], bool] = bool
    ) -> None:
        self.state = ScreenState()
        self._shell, self._tell, self._is_dark = shell, tell, is_dark
        self._posed: Callable[[str, str], None] = lambda state, sentence: None
        self._closed = threading.Event()
        self._asking = threading.Lock()
        self._line: socket.socket | None = None
        self._thread = threading.Thread(target=self._run, name=f"adb screen {shell.who}", daemon=True)

    def start(self) -> None:
        """Wakes the phone and keeps it awake from now on; what it does not answer is no trouble yet."""
        with contextlib.suppress(LabError):
            self.look()
            self._keep_awake()
            self.look()
        self._thread.start()

    @property
    def on_posture(self) -> Callable[[str, str], None]:
        """What is told how the phone is turned and shown, by whoever looks."""
        return self._posed

    @on_posture.setter
    def on_posture(self, listener: Callable[[str, str], None]) -> None:
        with self._asking:
            self._posed = listener
            for posture in postures(self._shell.who, ScreenState(), self.state):
                listener(*posture)

    def close(self) -> None:
        """Ends the thread; the phone puts its settings back."""
        self._closed.set()
        if self._line is not None:
            hang_up(self._line)
        if self._thread.ident is not None and threading.current_thread() is not self._thread:
            self._thread.join(_TICK)

    def look(self) -> Trouble | None:
        """Asks for the state now, and wakes the phone where it sleeps; gives why a run cannot go on."""
        with self._asking:
            before, self.state = self.state, screen_state(self._shell)
            state = self.state
            for posture in postures(self._shell.who, before, state):
                self._posed(*posture)
            if not state.awake or (state.locked and not state.secret):
                wake(self._shell, state)
        return state.trouble(self._shell.who)

    def check(self) -> None:
        """`Trouble` where a run cannot go on now."""
        trouble = self.look()
        if trouble is not None:
            raise trouble

    def _run(self) -> None:
        while not self._closed.wait(_TICK):
            with contextlib.suppress(LabError):  # its line is cut, or it answers late: that is told by others
                self._tell(self.look() or self._secured())
                if self._line is None or _ended(self._line):
                    self._keep_awake()

    def _secured(self) -> Trouble | None:
        """Why the picture is black where its app forbids pictures: while a person is waited for, no run observes it."""
        return secured_trouble(self._shell.who) if self._is_dark() and secured(self._shell) else None

    def _keep_awake(self) -> None:
        output = self._shell.run(
            "; ".join([f"cat {_KEPT} 2>/dev/null", *(line_of("settings", "get", s, key) for s, key, _ in _SETTINGS)])
        ).out.split("\n")
        before = _VALUES.fullmatch(output[0]) or _VALUES.fullmatch(" ".join(output[:2]).strip())
        if before is None:
            return
        overrides = [line_of("settings", "put", space, key, value) for space, key, value in _SETTINGS]
        back = [_put_back(space, key, was) for (space, key, _), was in zip(_SETTINGS, before.groups(), strict=True)]
        # the phone's own `cat` ends with the line: at the run's end, when this program dies, when the cable is pulled
        commands = [f"echo {before[0]} > {_KEPT}", *overrides, "cat > /dev/null", *back, f"rm -f {_KEPT}"]
        line = self._shell.open(f"exec:({'; '.join(commands)}) > /dev/null 2>&1", self._shell.patience)
        self._line = line
        if self._closed.is_set():
            hang_up(line)


def _put_back(space: str, key: str, was: str) -> str:
    if was == "null":
        return line_of("settings", "delete", space, key)
    return line_of("settings", "put", space, key, was)


def _ended(line: socket.socket) -> bool:
    """Whether the other end of a line has hung up."""
    try:
        line.settimeout(0.001)
        return line.recv(1, socket.MSG_PEEK) == b""
    except TimeoutError:
        return False
    except OSError:
        return True
