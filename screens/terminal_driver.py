"""Textual's terminal driver, which also exits from a terminal that accepts no more output."""

from __future__ import annotations

import contextlib
import termios
import time
from queue import Full
from typing import Any

from textual.drivers._writer_thread import WriterThread
from textual.drivers.linux_driver import LinuxDriver

_WAIT = 2.0
"""Seconds for the terminal to accept the last codes. A slow line needs some of them."""
_DISCARDS = 20
_DISCARD_WAIT = 0.1


class TerminalDriver(LinuxDriver):
    """A driver that exits within seconds even if the terminal is blocked.

    Textual restores the terminal's modes first, flow control among them, and then waits without a limit until its last
    codes are written. A Ctrl+S typed in between would stop that for good.
    """

    _end: float | None = None
    """Time by which the last output must be written, or None while the app runs."""
    _modes: list[Any] | None = None
    """The terminal's modes before the app."""

    def write(self, data: str) -> None:
        """Write to the terminal. While leaving, drop what it does not accept in time."""
        thread = self._writer_thread
        if self._end is None or thread is None:
            super().write(data)
        elif thread.is_alive():
            self._enqueue(thread, data)

    def start_application_mode(self) -> None:
        self._end = None
        super().start_application_mode()  # type: ignore[no-untyped-call]

    def stop_application_mode(self) -> None:
        """Write the last codes. Ctrl+S does not stop output until they are written."""
        self._end = time.monotonic() + _WAIT
        self._modes = self.attrs_before
        if self._modes is not None:
            input_modes, *others = self._modes
            # Textual restores `attrs_before`. Without IXON a typed Ctrl+S cannot stop the last codes.
            self.attrs_before = [input_modes & ~termios.IXON, *others]
        self._restart_output()
        super().stop_application_mode()

    def close(self) -> None:
        """End the writer thread, discard output that the terminal does not accept, and restore all its modes."""
        if self._end is None:
            self._end = time.monotonic() + _WAIT
        thread = self._writer_thread
        if thread is not None:
            self._enqueue(thread, None)
            thread.join(self._seconds_left)
            # The writer may block again on its next chunk, so discard until it ends.
            for _ in range(_DISCARDS if thread.is_alive() else 0):
                with contextlib.suppress(termios.error):
                    termios.tcflush(self._output_fd, termios.TCOFLUSH)
                self._restart_output()
                self._enqueue(thread, None)
                thread.join(_DISCARD_WAIT)
                if not thread.is_alive():
                    break
        if self._modes is not None:
            with contextlib.suppress(termios.error):
                termios.tcsetattr(self.fileno, termios.TCSANOW, self._modes)

    @property
    def _output_fd(self) -> int:
        return self._file.fileno() if self._file is not None else self.fileno

    @property
    def _seconds_left(self) -> float:
        return max(0.0, (self._end or 0.0) - time.monotonic())

    def _enqueue(self, thread: WriterThread, data: str | None) -> None:
        with contextlib.suppress(Full):
            # A blocked writer leaves no room: drop the data.
            thread._queue.put(data, timeout=self._seconds_left)

    def _restart_output(self) -> None:
        """Lift a stop of the output, which also wakes a write that waits for space."""
        with contextlib.suppress(termios.error):
            # Linux ignores "on" unless "off" came before it, even if Ctrl+S stopped the output.
            termios.tcflow(self._output_fd, termios.TCOOFF)
            termios.tcflow(self._output_fd, termios.TCOON)
