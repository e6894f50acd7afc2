"""A page of lines that a terminal repaints every few seconds, until `q`, Ctrl+C or a signal ends it."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from lab.cli.serve.end_signals import end_signals

_ENTER, _LEAVE = "\x1b[?1049h\x1b[?25l", "\x1b[?25h\x1b[?1049l"
"""Escape codes: enter the alternate screen without a cursor, and leave it."""
_QUIT = (b"q", b"Q", b"\x03", b"\x04")


def can_repaint() -> bool:
    """Return True if standard output is a terminal that can repaint."""
    return sys.stdout.isatty() and os.environ.get("TERM", "dumb") not in ("dumb", "unknown")


def repaint(page: Callable[[int, int], list[str]], every: float) -> None:
    """Show `page(columns, rows)` until the end is requested. Repaint at once after a resize."""
    with end_signals(waking=(signal.SIGWINCH,)) as end, _raw_keyboard() as keyboard:
        sys.stdout.write(_ENTER)
        try:
            while not end.asked:
                size = os.get_terminal_size(sys.stdout.fileno())
                _paint(page(size.columns, size.lines), size.lines)
                if any(_asks_to_quit(descriptor) for descriptor in end.wait(keyboard, every)):
                    return
        finally:
            sys.stdout.write(_LEAVE)
            sys.stdout.flush()


def _paint(lines: list[str], rows: int) -> None:
    """Overwrite each line in place, which does not flicker. The last line has no line feed, so that nothing scrolls."""
    page = "".join(f"{line}\x1b[K{chr(10) if at < rows - 1 else ''}" for at, line in enumerate(lines[:rows]))
    sys.stdout.write(f"\x1b[H{page}\x1b[J")
    sys.stdout.flush()


def _asks_to_quit(keyboard: int) -> bool:
    """Return True if `q` was typed or the keyboard is gone. Other keys do nothing."""
    keys = os.read(keyboard, 1024)
    return not keys or any(key in keys for key in _QUIT)


@contextmanager
def _raw_keyboard() -> Iterator[list[int]]:
    """Yield the keyboard without echo or line buffering, none if standard input is not a terminal."""
    if not sys.stdin.isatty():
        yield []
        return
    import termios
    import tty

    keyboard = sys.stdin.fileno()
    before = termios.tcgetattr(keyboard)
    tty.setcbreak(keyboard)
    try:
        yield [keyboard]
    finally:
        termios.tcsetattr(keyboard, termios.TCSADRAIN, before)
