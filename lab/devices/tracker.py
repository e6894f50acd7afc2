"""Follows one phone's state at the adb server, and brings back what can be brought back."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Callable

from lab.core.errors import LabError
from lab.core.seams import Trouble
from lab.devices.adb_server import Server
from lab.devices.adb_states import away, is_address
from lab.devices.socket_io import hang_up

_TICK, _CALM = 0.25, 1.0
"""Seconds between two questions after its state: while it is away, and while it is well and nothing is told of it."""
_FIRST, _AGAIN = 0.1, 1.0
"""Seconds before a server that is gone is started again: at once, and where it does not last."""
_WORD = 5.0
"""Seconds that the server may take to say a word that it has begun."""
_CONNECT = 5.0
_STUCK = 3.0
"""Seconds after which a phone at an address that is still offline is let go of, and connected to anew."""
PASSING = ("offline", "connecting", "authorizing", "gone")
"""States that a phone goes through on its way back."""
ON_LINE = "device"
"""adb's own word for a phone that is there and answers."""


class Tracker:
    """`tell` is called on a thread of its own: with why the phone is away, when that changes, and None once it is back.

    A server that was killed is started again; a phone at an address is connected to again. What the server tells on its
    tracking socket only wakes the thread, and the state is asked for: adb 29, which Debian and Ubuntu ship, tells late
    or never that a phone is offline.
    """

    def __init__(self, server: Server, serial: str, tell: Callable[[Trouble | None], None]) -> None:
        self.trouble: Trouble | None = None
        """Why the phone is away now."""
        self._server, self._serial, self._tell = server, serial, tell
        self._closed = threading.Event()
        self._lock = threading.Lock()
        self._line: socket.socket | None = None
        self._away_since = 0.0
        self._thread = threading.Thread(target=self._run, name=f"adb {serial}", daemon=True)
        self._thread.start()

    def ask(self) -> Trouble | None:
        """Why the phone is away, as the server says now; what was known before where the server does not answer."""
        state = self._listed()
        return self._trouble_of(state) if state else self.trouble

    def close(self) -> None:
        """Ends the thread; nothing is told any more."""
        self._closed.set()
        with self._lock:
            if self._line is not None:
                hang_up(self._line)
        if threading.current_thread() is not self._thread:
            self._thread.join(_CONNECT)

    def _run(self) -> None:
        while not self._closed.is_set():
            began = time.monotonic()
            try:
                self._server.ready()
                self._follow()
            except Trouble as trouble:
                self._note(trouble)
            except LabError as error:
                self._note(Trouble(error.title, error.message, error.hint))
            self._closed.wait(_FIRST if time.monotonic() - began > _AGAIN else _AGAIN)

    def _follow(self) -> None:
        line = self._server.track()
        with self._lock:
            self._line = line
        try:
            while not self._closed.is_set():
                silent = not _speaks(line, _CALM if self.trouble is None else _TICK)
                problem = "" if silent else self._state(line)
                if state := self._listed() or problem:
                    self._note(self._trouble_of(state), state)
                if silent and self.trouble is not None and is_address(self._serial):
                    self._bring_back()
        finally:
            hang_up(line)

    def _state(self, line: socket.socket) -> str:
        """The phone's state, as the server has just told it."""
        try:
            states = {phone.serial: phone.state for phone in self._server.next_list(line, _WORD)}
        except Trouble as trouble:
            raise Trouble(self._server.name, "was ended.", "It is started again.") from trouble
        return states.get(self._serial, "gone")

    def _bring_back(self) -> None:
        """Connects again; what adb says to that is told by the phone's state soon enough."""
        try:
            if time.monotonic() - self._away_since > _STUCK:
                self._away_since = time.monotonic()
                if self._listed() != ON_LINE:  # it may just have come back by itself
                    self._server.disconnect(self._serial)
            self._server.connect(self._serial, _CONNECT)
        except Trouble:
            self._closed.wait(_AGAIN)

    def _listed(self) -> str:
        """The phone's state, as the server says when it is asked; empty where it does not answer."""
        try:
            return next((phone.state for phone in self._server.phones() if phone.serial == self._serial), "gone")
        except Trouble:
            return ""

    def _trouble_of(self, state: str) -> Trouble | None:
        return None if state == ON_LINE else away(self._serial, state)

    def _note(self, trouble: Trouble | None, state: str = "") -> None:
        """Keeps why the phone is away; told are only those states that a phone does not just go through."""
        before, self.trouble = self.trouble, trouble
        if trouble is not None and before is None:
            self._away_since = time.monotonic()
        passing = before is not None and (state in PASSING or (trouble and trouble.sentence) == before.sentence)
        if (before is not None or trouble is not None) and not (passing and trouble) and not self._closed.is_set():
            self._tell(trouble)


def _speaks(line: socket.socket, seconds: float) -> bool:
    """Whether the server has begun a word (or has gone) within so many seconds."""
    try:
        line.settimeout(seconds)
        line.recv(1, socket.MSG_PEEK)
        return True
    except TimeoutError:
        return False
    except OSError:
        return True
