"""Signals that end a command which waits: Ctrl-C, a plea to end, a terminal that is closed.

A Python handler runs between two of the interpreter's own steps. A signal that comes right before the main thread waits
in the kernel would be heard only when it wakes for another reason; so each one writes into a pipe that is waited for.
"""

from __future__ import annotations

import os
import select
import signal
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
"""What ends a command that would go on without end."""


class EndSignal:
    """Whether a signal asked for the end; `wakes` is a file that becomes readable with every signal."""

    def __init__(self, wakes: int) -> None:
        self.wakes = wakes
        self.asked = False

    def wait(self, others: Sequence[int] = (), seconds: float | None = None) -> list[int]:
        """Waits for a signal, for one of the other files, or for so long; those of them that can be read."""
        ready, _, _ = select.select([self.wakes, *others], [], [], seconds)
        if self.wakes in ready:
            os.read(self.wakes, 1024)
        return [descriptor for descriptor in ready if descriptor != self.wakes]

    def wait_for_end(self) -> None:
        """Returns once a signal asked for the end."""
        while not self.asked:
            self.wait()


@contextmanager
def end_signals(waking: Sequence[signal.Signals] = ()) -> Iterator[EndSignal]:
    """Takes the signals that end a command, and others that only wake it; only on the main thread.

    A closed terminal that is to be survived (`nohup`) stays survived.
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
