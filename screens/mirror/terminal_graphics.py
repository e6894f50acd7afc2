"""Graphics protocol of the terminal (Kitty's, iTerm2's or sixel), queried before an app runs."""

from __future__ import annotations

import os
import re
import select
import struct
import sys
import time
from collections.abc import Mapping
from typing import Literal, NamedTuple

from lab.core.errors import LabError
from lab.core.settings import source_of

Graphics = Literal["cells", "kitty", "iterm2", "sixel"]
GraphicsSetting = Literal["auto", "cells", "kitty", "iterm2", "sixel"]

_ANSWER = 1.0
"""Seconds to wait for the terminal's answers. A slow connection needs most of it.

A later answer would be read as keys. So the last question is one that every terminal answers, and its answer ends the
wait.
"""
_USUAL_CELL = (9, 18)
"""Assumed pixels of a cell if the terminal does not report them."""
_REGISTERS = 256
"""Assumed colours of a sixel picture if the terminal does not report them."""
_OWN_PROTOCOL = ("iterm2", "wezterm")
"""Terminals whose own protocol is iTerm2's. Other protocols that they accept are slower or incomplete there."""


class GraphicsSupport(NamedTuple):
    """Graphics that a terminal reports. `answered` is False if it reported nothing at all."""

    kitty: bool = False
    sixel: bool = False
    answered: bool = False
    name: str = ""
    """Name and version that the terminal reports."""
    cell: tuple[int, int] = (0, 0)
    """Pixels of a cell, across and down, zeros if not reported."""
    registers: int = 0
    """Maximum colours of a sixel picture, 0 if not reported."""

    @property
    def iterm2(self) -> bool:
        """True if its name shows that it accepts iTerm2's pictures. That protocol has no query."""
        return self.name.lower().startswith(_OWN_PROTOCOL)

    @property
    def kinds(self) -> tuple[Graphics, ...]:
        """All protocols that the terminal supports."""
        able: tuple[tuple[Graphics, bool], ...] = (
            ("kitty", self.kitty),
            ("iterm2", self.iterm2),
            ("sixel", self.sixel),
        )
        return tuple(kind for kind, can in able if can)

    @property
    def best(self) -> Graphics:
        """Protocol with the best pictures and no remains: the terminal's own, else sixel, else characters."""
        if self.iterm2:
            return "iterm2"
        if self.kitty and (not self.sixel or self.name.lower().startswith(("kitty", "ghostty"))):
            return "kitty"
        return "sixel" if self.sixel else "cells"


class TerminalGraphics(NamedTuple):
    """Graphics with which an app draws pictures."""

    kind: Graphics = "cells"
    cell: tuple[int, int] = _USUAL_CELL
    registers: int = _REGISTERS

    @property
    def cell_size(self) -> tuple[int, int]:
        """Pixels of a cell now, since the font can change while an app runs.

        The first report if the kernel has none.
        """
        return _cell_of_window() or self.cell


CHARACTERS = TerminalGraphics()


def graphics_for(setting: GraphicsSetting) -> TerminalGraphics:
    """Return the graphics for an app: the setting, or for `auto` the terminal's best.

    Queries the terminal, so no app may run yet. Raise `LabError` if the terminal lacks what is set.
    """
    if setting == "cells":
        return CHARACTERS
    can = query_terminal()
    if setting != "auto" and can.answered and setting not in can.kinds and setting != "iterm2":
        able = " and ".join(can.kinds) or "characters alone"
        what, field = source_of("graphics")
        problem = f"field {field} is {setting}, and this terminal draws {able}"
        raise LabError(what, problem, "Set graphics to auto, or use another terminal.")
    kind = can.best if setting == "auto" else setting
    return TerminalGraphics(kind, can.cell if all(can.cell) else _USUAL_CELL, can.registers or _REGISTERS)


def query_terminal(seconds: float = _ANSWER) -> GraphicsSupport:
    """Query the terminal, outside any app, for graphics, name, cell size and attributes."""
    if not (sys.stdin.isatty() and sys.stdout.isatty()) or not _may_be_asked(os.environ):
        return GraphicsSupport()
    import termios
    import tty

    stdin = sys.stdin.fileno()
    try:
        if os.tcgetpgrp(stdin) != os.getpgrp():  # the terminal would stop a background job (SIGTTOU)
            return GraphicsSupport()
        before = termios.tcgetattr(stdin)
    except (OSError, termios.error):  # not this process's controlling terminal
        return GraphicsSupport()
    try:
        tty.setcbreak(stdin)
        os.write(sys.stdout.fileno(), _questions(os.environ))
        answer = read_answer(_until_attributes(stdin, seconds))
    finally:
        termios.tcsetattr(stdin, termios.TCSANOW, before)
    window = _cell_of_window()
    return answer._replace(cell=window) if window is not None else answer


_KITTY_QUESTION = b"\x1b_Gi=31,s=1,v=1,a=q,t=d,f=24;AAAA\x1b\\"
_QUESTIONS = b"\x1b[>q" + b"\x1b[16t" + b"\x1b[?1;1;0S" + b"\x1b[c"
"""Queries for the terminal's name, cell pixels, sixel colours, and last the attributes, which all terminals answer."""


def _questions(environment: Mapping[str, str]) -> bytes:
    """Return the queries. Leave out Kitty's in tmux and screen, which take it for a title."""
    multiplexed = "TMUX" in environment or environment.get("TERM", "").startswith(("tmux", "screen"))
    return _QUESTIONS if multiplexed else _KITTY_QUESTION + _QUESTIONS


def _may_be_asked(environment: Mapping[str, str]) -> bool:
    """Return False for a terminal that prints unknown queries, such as Apple's, or that has no screen."""
    dumb = environment.get("TERM", "dumb") in ("dumb", "linux")
    return not dumb and environment.get("TERM_PROGRAM") != "Apple_Terminal"


def _until_attributes(stdin: int, seconds: float) -> bytes:
    """Read the answers up to the device attributes, which every terminal that answers sends last."""
    received, end = b"", time.monotonic() + seconds
    while not _ATTRIBUTES.search(received) and (seconds_left := end - time.monotonic()) > 0:
        if select.select([stdin], [], [], seconds_left)[0]:
            received += os.read(stdin, 1024)
    return received


_ATTRIBUTES = re.compile(rb"\x1b\[\?([\d;]*)c")
_NAME = re.compile(rb"\x1bP>\|([\x20-\x7e]{1,60})\x1b\\")
_CELL = re.compile(rb"\x1b\[6;(\d{1,3});(\d{1,3})t")
_COLOURS = re.compile(rb"\x1b\[\?1;0;(\d{1,6})S")


def read_answer(answer: bytes) -> GraphicsSupport:
    """Parse the answers: `OK` to Kitty's query, attribute 4 for sixel, name, cell size, sixel colours."""
    attributes, name, cell = _ATTRIBUTES.search(answer), _NAME.search(answer), _CELL.search(answer)
    colours = _COLOURS.search(answer)
    return GraphicsSupport(
        kitty=b"\x1b_Gi=31;OK" in answer,
        sixel=attributes is not None and b"4" in attributes[1].split(b";"),
        answered=attributes is not None,
        name=name[1].decode() if name is not None else "",
        cell=(int(cell[2]), int(cell[1])) if cell is not None else (0, 0),
        registers=int(colours[1]) if colours is not None else 0,
    )


def _cell_of_window() -> tuple[int, int] | None:
    """Return the pixels of a cell from the kernel's window size, or None if it has none."""
    import fcntl
    import termios

    if sys.__stdout__ is None or not sys.__stdout__.isatty():
        return None
    try:
        window_size = fcntl.ioctl(sys.__stdout__.fileno(), termios.TIOCGWINSZ, bytes(8))
    except OSError:
        return None
    rows, columns, width, height = struct.unpack("HHHH", window_size)
    return (width // columns, height // rows) if rows and columns and width >= columns and height >= rows else None
