"""Which graphics of its own a terminal has, Kitty's, iTerm2's or sixel: asked before any app runs, and chosen."""

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
"""Seconds that a terminal has to say what it can do; one over a slow line needs most of it.

What comes later would be taken for keys, so the last question is one that every terminal answers, and is waited for.
"""
_USUAL_CELL = (9, 18)
"""Pixels of a cell where a terminal says nothing of them."""
_REGISTERS = 256
"""Colours of a sixel picture where a terminal does not say how many it keeps."""
_OWN_PROTOCOL = ("iterm2", "wezterm")
"""Terminals whose own protocol is iTerm2's; what else they take is another's, and slower or lacks something."""


class GraphicsSupport(NamedTuple):
    """What a terminal says that it can draw; `answered` is False where it said nothing at all."""

    kitty: bool = False
    sixel: bool = False
    answered: bool = False
    name: str = ""
    """What it calls itself, with its version."""
    cell: tuple[int, int] = (0, 0)
    """Pixels across and down of one cell; zeros where it does not say."""
    registers: int = 0
    """Colours that a sixel picture may have; 0 where it does not say."""

    @property
    def iterm2(self) -> bool:
        """Whether it is known to take iTerm2's pictures: there is no question for that, only its name."""
        return self.name.lower().startswith(_OWN_PROTOCOL)

    @property
    def kinds(self) -> tuple[Graphics, ...]:
        """All that it can draw."""
        able: tuple[tuple[Graphics, bool], ...] = (
            ("kitty", self.kitty),
            ("iterm2", self.iterm2),
            ("sixel", self.sixel),
        )
        return tuple(kind for kind, can in able if can)

    @property
    def best(self) -> Graphics:
        """What pictures look best in and leave nothing behind: its own protocol, sixel, and characters at last."""
        if self.iterm2:
            return "iterm2"
        if self.kitty and (not self.sixel or self.name.lower().startswith(("kitty", "ghostty"))):
            return "kitty"
        return "sixel" if self.sixel else "cells"


class TerminalGraphics(NamedTuple):
    """What pictures are drawn with in an app."""

    kind: Graphics = "cells"
    cell: tuple[int, int] = _USUAL_CELL
    registers: int = _REGISTERS

    @property
    def cell_size(self) -> tuple[int, int]:
        """Pixels of a cell now, for a font can be changed while an app runs; as was said first where nobody says."""
        return _cell_of_window() or self.cell


CHARACTERS = TerminalGraphics()


def choose(setting: GraphicsSetting) -> TerminalGraphics:
    """What an app draws with: what is set, or with `auto` the best that the terminal says it can.

    Asks the terminal, so no app may run yet. `LabError` where a terminal cannot do what is set.
    """
    if setting == "cells":
        return CHARACTERS
    can = ask()
    if setting != "auto" and can.answered and setting not in can.kinds and setting != "iterm2":
        able = " and ".join(can.kinds) or "characters alone"
        what, field = source_of("graphics")
        problem = f"field {field} is {setting}, and this terminal draws {able}"
        raise LabError(what, problem, "Set graphics to auto, or use another terminal.")
    kind = can.best if setting == "auto" else setting
    return TerminalGraphics(kind, can.cell if all(can.cell) else _USUAL_CELL, can.registers or _REGISTERS)


def ask(seconds: float = _ANSWER) -> GraphicsSupport:
    """Asks the terminal, outside any app, what it can draw, who it is, how large its cells are, and its attributes."""
    if not (sys.stdin.isatty() and sys.stdout.isatty()) or not _may_be_asked(os.environ):
        return GraphicsSupport()
    import termios
    import tty

    stdin = sys.stdin.fileno()
    try:
        if os.tcgetpgrp(stdin) != os.getpgrp():  # in the background a terminal stops whoever changes it
            return GraphicsSupport()
        before = termios.tcgetattr(stdin)
    except (OSError, termios.error):  # a terminal, but not this program's own
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
"""The terminal's name, a cell's pixels, sixel's colours, and the attributes that all answer last."""


def _questions(environment: Mapping[str, str]) -> bytes:
    """Return what to ask; not for Kitty's graphics in tmux and screen, which take that question for a title."""
    multiplexed = "TMUX" in environment or environment.get("TERM", "").startswith(("tmux", "screen"))
    return _QUESTIONS if multiplexed else _KITTY_QUESTION + _QUESTIONS


def _may_be_asked(environment: Mapping[str, str]) -> bool:
    """Not where it prints what it does not know, as Apple's does, or where there is no screen."""
    dumb = environment.get("TERM", "dumb") in ("dumb", "linux")
    return not dumb and environment.get("TERM_PROGRAM") != "Apple_Terminal"


def _until_attributes(stdin: int, seconds: float) -> bytes:
    """What a terminal answers, up to its device attributes, which every terminal that answers sends last."""
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
    """What those bytes say: `OK` to Kitty's query, attribute 4 for sixel, a name, a cell's size, sixel's colours."""
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
    """Pixels of a cell as the kernel knows the window; None where it was not told."""
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
