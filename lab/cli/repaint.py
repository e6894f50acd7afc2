"""A page of lines that a terminal shows and paints anew every few seconds, until `q`, Ctrl+C or a signal ends it."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from lab.cli.end_signals import end_signals

_ENTER, _LEAVE = "\x1b[?1049h\x1b[?25l", "\x1b[?25h\x1b[?1049l"
"""The other screen without a cursor, and back: what stood in the terminal before stands there after."""
_QUIT = (b"q", b"Q", b"\x03", b"\x04")


def can_repaint() -> bool:
    """Whether somebody sees what is painted anew: standard output is a terminal that can go back to its first line."""
    return sys.stdout.isatty() and os.environ.get("TERM", "dumb") not in ("dumb", "unknown")


def repaint(page: Callable[[int, int], list[str]], every: float) -> None:
    """Shows `page` (of so many columns and rows; each line plain) until it is ended; again at once in another size."""
    with end_signals(waking=(signal.SIGWINCH,)) as end, _keys() as keyboard:
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
    """Each line in the place of the one before, so that nothing flickers; none scrolls the first away."""
    page = "".join(f"{line}\x1b[K{chr(10) if at < rows - 1 else ''}" for at, line in enumerate(lines[:rows]))
    sys.stdout.write(f"\x1b[H{page}\x1b[J")
    sys.stdout.flush()


def _asks_to_quit(keyboard: int) -> bool:
    """Whether `q` was typed; other keys do nothing. A keyboard that is gone ends it, too."""
    keys = os.read(keyboard, 1024)
    return not keys or any(key in keys for key in _QUIT)


@contextmanager
def _keys() -> Iterator[list[int]]:
    """The keyboard, each key at once and none of them echoed; none where standard input is no terminal."""
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
