"""Signals that end a waiting command: Ctrl-C, SIGTERM, a closed terminal.

A Python handler runs between two steps of the interpreter. A signal right before the main thread waits in the kernel
would take effect only when the thread wakes for another reason. So each signal also writes into a pipe that the thread
waits for.
"""

from __future__ import annotations

import os
import select
import signal
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
"""Signals that end a command which would otherwise run on."""


class EndSignal:
    """Becomes `asked` when a signal requests the end. The file `wakes` becomes readable with every signal."""

    def __init__(self, wakes: int) -> None:
        self.wakes = wakes
        self.asked = False

    def wait(self, others: Sequence[int] = (), seconds: float | None = None) -> list[int]:
        """Wait for a signal, one of the other files or a timeout. Return the others that are readable."""
        ready, _, _ = select.select([self.wakes, *others], [], [], seconds)
        if self.wakes in ready:
            os.read(self.wakes, 1024)
        return [descriptor for descriptor in ready if descriptor != self.wakes]

    def wait_for_end(self) -> None:
        """Return once a signal has requested the end."""
        while not self.asked:
            self.wait()


@contextmanager
def end_signals(waking: Sequence[signal.Signals] = ()) -> Iterator[EndSignal]:
    """Catch the signals that end a command, and others that only wake it. Main thread only.

    An ignored SIGHUP (`nohup`) stays ignored.
    """
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    end = EndSignal(reading)

    def ask(*_: object) -> None:
        end.asked = True

    handlers = {**dict.fromkeys(waking, lambda *_: None), **dict.fromkeys(ENDING, ask)}
    if signal.getsignal(signal.SIGHUP) is signal.SIG_IGN:
        del handlers[signal.SIGHUP]
    woken_before = signal.set_wakeup_fd(writing, warn_on_full_buffer=False)
    before = {number: signal.signal(number, handler) for number, handler in handlers.items()}
    try:
        yield end
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        signal.set_wakeup_fd(woken_before)
        os.close(reading)
        os.close(writing)
