"""Thread that keeps a phone's screen awake during a run, wakes it, and reports states that spoil a run."""

from __future__ import annotations

import contextlib
import re
import socket
import threading
from collections.abc import Callable

from lab.core.errors import LabError
from lab.core.seams import Trouble
from lab.devices.adb.shell import Shell, line_of
from lab.devices.adb.socket_io import hang_up
from lab.devices.screen_state import ScreenState, postures, screen_state, secured, secured_trouble, wake

_TICK = 2.0
"""Seconds between two polls of the screen's state."""
_MINUTES_30 = 1_800_000
_POWERED = 7
"""Bit mask of `stay_on_while_plugged_in`: mains, USB and wireless charger."""
_BACKUP = "/data/local/tmp/hitlab-awake"
"""File on the phone that holds the original settings, for the next run if the phone restarts during this one."""
_SETTINGS = (("system", "screen_off_timeout", _MINUTES_30), ("global", "stay_on_while_plugged_in", _POWERED))
_VALUES = re.compile(r"(\d{1,10}|null) (\d{1,10}|null)")


class ScreenWatch:
    """Thread that polls one phone's screen from `start` to `close`, with the newest result in `state`.

    After each poll it calls `tell` with the reason why a run cannot continue, or None. `is_dark` returns True if the
    newest picture for the eye is black. While the thread runs, the phone does not fall asleep. A command on the phone
    changes the settings, blocks until its connection ends and restores them. So the phone restores its settings at the
    end of a run, if this program dies, and if the cable is pulled.
    """

    def __init__(
        self, shell: Shell, tell: Callable[[Trouble | None], None], is_dark: Callable[[], bool] = bool
    ) -> None:
        self.state = ScreenState()
        self._shell, self._tell, self._is_dark = shell, tell, is_dark
        self._posture_listener: Callable[[str, str], None] = lambda state, sentence: None
        self._closed = threading.Event()
        self._lock = threading.Lock()
        self._line: socket.socket | None = None
        self._thread = threading.Thread(target=self._run, name=f"adb screen {shell.who}", daemon=True)

    def start(self) -> None:
        """Wake the phone, keep it awake and start the thread. Ignore errors here: the thread reports them later."""
        with contextlib.suppress(LabError):
            self.poll_state()
            self._keep_awake()
            self.poll_state()
        self._thread.start()

    @property
    def on_posture(self) -> Callable[[str, str], None]:
        """Callback for changes of orientation and display: called with a state and a sentence."""
        return self._posture_listener

    @on_posture.setter
    def on_posture(self, listener: Callable[[str, str], None]) -> None:
        with self._lock:
            self._posture_listener = listener
            for posture in postures(self._shell.who, ScreenState(), self.state):
                listener(*posture)

    def close(self) -> None:
        """End the thread. The phone then restores its settings."""
        self._closed.set()
        if self._line is not None:
            hang_up(self._line)
        # `tell` may close it, on this very thread, which cannot wait for itself.
        if self._thread.ident is not None and threading.current_thread() is not self._thread:
            self._thread.join(_TICK)

    def poll_state(self) -> Trouble | None:
        """Poll the state now and wake a sleeping phone. Return the reason why a run cannot continue, or None."""
        with self._lock:
            before, self.state = self.state, screen_state(self._shell)
            state = self.state
            for posture in postures(self._shell.who, before, state):
                self._posture_listener(*posture)
            if not state.awake or (state.locked and not state.secret):
                wake(self._shell, state)
        return state.trouble(self._shell.who)

    def check(self) -> None:
        """Raise `Trouble` if a run cannot continue now."""
        trouble = self.poll_state()
        if trouble is not None:
            raise trouble

    def _run(self) -> None:
        while not self._closed.wait(_TICK):
            # A cut connection or a late answer is the tracker's to report.
            with contextlib.suppress(LabError):
                self._tell(self.poll_state() or self._find_secured_trouble())
                if self._line is None or _is_closed(self._line):
                    self._keep_awake()

    def _find_secured_trouble(self) -> Trouble | None:
        """Return the trouble of a secured window behind a black picture, or None.

        Needed here because no run observes the phone while it waits for a person.
        """
        return secured_trouble(self._shell.who) if self._is_dark() and secured(self._shell) else None

    def _keep_awake(self) -> None:
        # The stored values come first: if the file exists, an earlier run did not restore them, and the current
        # settings are ours.
        output = self._shell.run(
            "; ".join([f"cat {_BACKUP} 2>/dev/null", *(line_of("settings", "get", s, key) for s, key, _ in _SETTINGS)])
        ).out.split("\n")
        before = _VALUES.fullmatch(output[0]) or _VALUES.fullmatch(" ".join(output[:2]).strip())
        if before is None:
            return
        overrides = [line_of("settings", "put", space, key, value) for space, key, value in _SETTINGS]
        back = [
            _restore_command(space, key, was) for (space, key, _), was in zip(_SETTINGS, before.groups(), strict=True)
        ]
        # `cat` on the phone blocks until the connection ends: run over, program dead or cable pulled.
        commands = [f"echo {before[0]} > {_BACKUP}", *overrides, "cat > /dev/null", *back, f"rm -f {_BACKUP}"]
        line = self._shell.open(f"exec:({'; '.join(commands)}) > /dev/null 2>&1", self._shell.patience)
        self._line = line
        if self._closed.is_set():
            hang_up(line)


def _restore_command(space: str, key: str, was: str) -> str:
    if was == "null":
        return line_of("settings", "delete", space, key)
    return line_of("settings", "put", space, key, was)


def _is_closed(line: socket.socket) -> bool:
    """Return True if the other end has closed the connection."""
    try:
        line.settimeout(0.001)
        return line.recv(1, socket.MSG_PEEK) == b""
    except TimeoutError:
        return False
    except OSError:
        return True
