"""What a scrcpy server prints on the phone: kept for the day that it says why it ended."""

from __future__ import annotations

import contextlib
import re
import socket
import threading

from lab.core.plain_text import plain
from lab.core.seams import Trouble
from lab.devices.scrcpy_stream import WHO
from lab.devices.socket_io import Deadline, broken, hang_up

_KEPT = 1 << 14
_CHUNK = 1 << 12
_PATIENCE = 60.0
_LONGEST = 240
_DENIED = b"INJECT_EVENTS"
"""The permission that Android names where it refuses an event."""
_TELLING = re.compile(
    r"^(?:\[server\] )?(?:ERROR: |Exception in thread \S+ |Caused by: |Aborted\b)\s*(.*)$", re.MULTILINE
)


class ServerLog:
    """Reads the shell that a server runs in until it ends; `ended` is set then.

    `denied` is set each time that the phone lets nobody touch it by adb: the server says so here, and nowhere else.
    """

    def __init__(self, line: socket.socket) -> None:
        self.ended = threading.Event()
        self.denied = threading.Event()
        self._line = line
        self._said = b""
        self._thread = threading.Thread(target=self._read, name="scrcpy-log", daemon=True)
        self._thread.start()

    @property
    def words(self) -> str:
        """Its own words for what went wrong, in a line; empty where it said nothing."""
        text = self._said.decode(errors="replace").replace("\r", "")
        telling = _TELLING.search(text)
        last_line = (telling[1] if telling else text.strip().rpartition("\n")[2]).strip()
        return plain(last_line[:_LONGEST], lines=False)

    def explained(self, trouble: Trouble, seconds: float = 0.5) -> Trouble:
        """`trouble`, or where the server has ended for a reason of its own, that reason."""
        if not self.ended.wait(seconds) or not self.words:
            return trouble
        return Trouble(WHO, f"its server ended on the phone: {self.words}", sent=True)

    def close(self, seconds: float = 0.0) -> None:
        """Ends it, after waiting so long for the server to end by itself; safe twice, from any thread."""
        if self._thread is not threading.current_thread():
            self._thread.join(seconds)
            hang_up(self._line)
            self._thread.join()

    def _read(self) -> None:
        with contextlib.suppress(Trouble):
            while chunk := self._chunk():
                if _DENIED in self._said[1 - len(_DENIED) :] + chunk:
                    self.denied.set()
                self._said = (self._said + chunk)[-_KEPT:]
        self.ended.set()

    def _chunk(self) -> bytes:
        while True:
            try:
                self._line.settimeout(_PATIENCE)
                return self._line.recv(_CHUNK)
            except TimeoutError:
                continue
            except OSError as error:
                raise broken(WHO, error, Deadline(_PATIENCE), sent=True) from error
