"""Screen facts from a phone's own services: activity in front, size, clock, keyboard."""

from __future__ import annotations

import re
from typing import NamedTuple

from lab.core.run.step import Point
from lab.devices.adb.shell import Shell

_MARK = "hitlab:next"
_ASK = (
    f"date +%Y-%m-%dT%H:%M:%S%z; echo {_MARK}; dumpsys window displays; echo {_MARK}; "
    f"dumpsys input_method | grep -E 'mInputShown|inputType='; echo {_MARK}; wm size"
)
_DATE = re.compile(r"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)([+-]\d\d):?(\d\d)")
_COMPONENT = re.compile(r"[ {]([A-Za-z][\w.]*/[\w.$]+)")
_DISPLAY = re.compile(r"^ *Display: mDisplayId=(\d+)", re.MULTILINE)
_CURRENT = re.compile(r"\bcur=(\d+)x(\d+)")
_ROTATION = re.compile(r"m(?:Current)?Rotation=(?:ROTATION_)?(\d+)")
_PHYSICAL = re.compile(r"(?:Override|Physical) size: (\d+)x(\d+)")
_TYPE = re.compile(r"inputType=0x([0-9a-fA-F]+)")
"""Input types of text fields. The last one listed is the keyboard's own, those before it are history."""
_MULTI_LINE = 0x20000
_PASSWORDS = {(1, 0x80), (1, 0x90), (1, 0xE0), (2, 0x10)}
"""Class and variation of `InputType` that hide their text: text, visible, web and number passwords."""


class SystemState(NamedTuple):
    """Facts about the screen: `activity` as `package/.Name`, `at` as ISO 8601 by the phone's clock.

    Unknown ones are empty or None. `password` is True if the focused field hides its text. `lines` is True if it is
    multi-line, None if no keyboard reports its input type.
    """

    activity: str = ""
    at: str = ""
    size: Point | None = None
    rotation: int = 0
    keyboard: bool = False
    password: bool = False
    lines: bool | None = None


def glance(shell: Shell) -> SystemState:
    """Query the phone in one command."""
    return read(shell.run(_ASK).out)


def display_size(shell: Shell) -> Point | None:
    """Return the display's size in its current orientation, or None if the phone does not report it."""
    match = _CURRENT.search(_default_display(shell.run("dumpsys window displays | grep -E 'cur=|mDisplayId='").out))
    return (int(match[1]), int(match[2])) if match else None


def read(text: str) -> SystemState:
    """Parse the answers of any current Android, with the default for each missing value."""
    date, windows, keyboard, size = (text.split(_MARK) + [""] * 4)[:4]
    windows = _default_display(windows)
    when = _DATE.search(date)
    types = [int(type_class, 16) for type_class in _TYPE.findall(keyboard)]
    rotation = _ROTATION.search(windows)
    quarter_turns = int(rotation[1]) if rotation else 0
    # Some versions print degrees, others quarter turns.
    quarter_turns = quarter_turns // 90 if quarter_turns > 3 else quarter_turns
    return SystemState(
        activity=_activity(windows),
        at=f"{when[1]}{when[2]}:{when[3]}" if when else "",
        size=_size(windows, size, quarter_turns),
        rotation=quarter_turns % 4,
        keyboard="mInputShown=true" in keyboard,
        password=bool(types) and (types[-1] & 0xF, types[-1] & 0xFF0) in _PASSWORDS,
        lines=bool(types[-1] & _MULTI_LINE) if types and types[-1] else None,
    )


def _default_display(windows: str) -> str:
    """Return the section of the default display, because another one may come first."""
    head, *parts = _DISPLAY.split(windows)
    numbers, bodies = parts[::2], parts[1::2]
    return head + "".join(body for number, body in zip(numbers, bodies, strict=True) if number == "0")


def _activity(windows: str) -> str:
    """Return the focused window's activity, or else the focused app's: a popup's window does not name one."""
    for key in ("mCurrentFocus=", "mFocusedApp="):
        for line in windows.splitlines():
            match = _COMPONENT.search(line) if key in line else None
            if match:
                package, _, name = match[1].partition("/")
                return f"{package}/{name.removeprefix(package) if name.startswith(package + '.') else name}"
    return ""


def _size(windows: str, size: str, quarter_turns: int) -> Point | None:
    """Return the display's size in its current orientation, derived from the unturned size if need be."""
    current = _CURRENT.search(windows)
    if current:
        return int(current[1]), int(current[2])
    sizes = _PHYSICAL.findall(size)
    if not sizes:
        return None
    # `wm size` prints the override, if any, after the physical size.
    width, height = map(int, sizes[-1])
    return (height, width) if quarter_turns % 2 else (width, height)
