"""Tracker of one phone's state at the adb server, which restarts a killed server and reconnects to an address."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Callable

from lab.core.errors import LabError
from lab.core.seams import Trouble
from lab.devices.adb.adb_server import Server
from lab.devices.adb.adb_states import is_address, state_trouble
from lab.devices.adb.socket_io import hang_up

_TICK, _CALM = 0.25, 1.0
"""Seconds between two polls of the state: while the phone is away, and while all is well."""
_FIRST, _AGAIN = 0.1, 1.0
"""Seconds before the next attempt to follow the server: after a stable connection, and after a short one."""
_MESSAGE_SECONDS = 5.0
"""Seconds for the server to finish a message that it has begun."""
_CONNECT = 5.0
_STUCK = 3.0
"""Seconds after which an offline phone at an address is disconnected and connected anew."""
PASSING = ("offline", "connecting", "authorizing", "gone")
"""States that a phone passes through on its way back."""
ON_LINE = "device"
"""adb's own state name for a phone that is connected and answers."""


class Tracker:
    """Thread that calls `tell` when a phone goes away or its reason changes, and with None once it is back.

    It restarts a killed server and reconnects a phone at an address. Messages on the tracking socket only wake the
    thread, which then polls the state: adb 29, which Debian and Ubuntu ship, reports an offline phone late or never.
    """

    def __init__(self, server: Server, serial: str, tell: Callable[[Trouble | None], None]) -> None:
        self.trouble: Trouble | None = None
        """Current reason why the phone is away."""
        self._server, self._serial, self._tell = server, serial, tell
        self._closed = threading.Event()
        self._lock = threading.Lock()
        self._line: socket.socket | None = None
        self._away_since = 0.0
        self._thread = threading.Thread(target=self._run, name=f"adb {serial}", daemon=True)
        self._thread.start()

    def ask(self) -> Trouble | None:
        """Return why the phone is away, or None. Without an answer of the server, return the last known reason."""
        state = self._query_state()
        return self._trouble_of(state) if state else self.trouble

    def close(self) -> None:
        """End the thread and all notifications."""
        self._closed.set()
        with self._lock:
            if self._line is not None:
                hang_up(self._line)
        # `tell` may close it, on this very thread, which cannot wait for itself.
        if threading.current_thread() is not self._thread:
            self._thread.join(_CONNECT)

    def _run(self) -> None:
        while not self._closed.is_set():
            began = time.monotonic()
            try:
                self._server.ready()
                self._follow()
            except Trouble as trouble:
                self._set_trouble(trouble)
            except LabError as error:
                self._set_trouble(Trouble(error.title, error.message, error.hint))
            self._closed.wait(_FIRST if time.monotonic() - began > _AGAIN else _AGAIN)

    def _follow(self) -> None:
        line = self._server.track()
        with self._lock:
            self._line = line
        try:
            while not self._closed.is_set():
                silent = not _has_message(line, _CALM if self.trouble is None else _TICK)
                problem = "" if silent else self._read_state(line)
                if state := self._query_state() or problem:
                    self._set_trouble(self._trouble_of(state), state)
                if silent and self.trouble is not None and is_address(self._serial):
                    self._reconnect()
        finally:
            hang_up(line)

    def _read_state(self, line: socket.socket) -> str:
        """Read the phone's state from the server's next message."""
        try:
            states = {phone.serial: phone.state for phone in self._server.next_list(line, _MESSAGE_SECONDS)}
        except Trouble as trouble:
            raise Trouble(self._server.name, "was ended.", "It is started again.") from trouble
        return states.get(self._serial, "gone")

    def _reconnect(self) -> None:
        """Connect again and ignore adb's answer: the phone's state will show the result."""
        try:
            if time.monotonic() - self._away_since > _STUCK:
                self._away_since = time.monotonic()
                if self._query_state() != ON_LINE:  # it may have returned by itself meanwhile
                    self._server.disconnect(self._serial)
            self._server.connect(self._serial, _CONNECT)
        except Trouble:
            self._closed.wait(_AGAIN)

    def _query_state(self) -> str:
        """Query the phone's state. Empty if the server does not answer."""
        try:
            return next((phone.state for phone in self._server.phones() if phone.serial == self._serial), "gone")
        except Trouble:
            return ""

    def _trouble_of(self, state: str) -> Trouble | None:
        return None if state == ON_LINE else state_trouble(self._serial, state)

    def _set_trouble(self, trouble: Trouble | None, state: str = "") -> None:
        """Store why the phone is away, and report it unless the state is only passing."""
        before, self.trouble = self.trouble, trouble
        if trouble is not None and before is None:
            self._away_since = time.monotonic()
        passing = before is not None and (state in PASSING or (trouble and trouble.sentence) == before.sentence)
        if (before is not None or trouble is not None) and not (passing and trouble) and not self._closed.is_set():
            self._tell(trouble)


def _has_message(line: socket.socket, seconds: float) -> bool:
    """Return True if the server has begun a message, or hung up, within `seconds`."""
    try:
        line.settimeout(seconds)
        line.recv(1, socket.MSG_PEEK)
        return True
    except TimeoutError:
        return False
    except OSError:
        return True
