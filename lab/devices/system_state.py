"""What a phone's own services say of its screen: what is in front, its size, its clock, its keyboard."""

from __future__ import annotations

import re
from typing import NamedTuple

from lab.core.step import Point
from lab.devices.shell import Shell

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
"""What kinds of text fields take; the last that is told is the keyboard's own, those before it are history."""
_MULTI_LINE = 0x20000
_PASSWORDS = {(1, 0x80), (1, 0x90), (1, 0xE0), (2, 0x10)}
"""Class and variation of `InputType` that hide what is typed: text, visible, web and number passwords."""


class SystemState(NamedTuple):
    """`activity` as `package/.Name`, `at` ISO 8601 by the phone's clock; empty, and None, where it does not say.

    `password` is whether the cursor stands in a field whose text is hidden, `lines` whether in one of several lines;
    None where no keyboard says what it types into.
    """

    activity: str = ""
    at: str = ""
    size: Point | None = None
    rotation: int = 0
    keyboard: bool = False
    password: bool = False
    lines: bool | None = None


def glance(shell: Shell) -> SystemState:
    """Asks the phone, in one command."""
    return read(shell.run(_ASK).out)


def display_size(shell: Shell) -> Point | None:
    """The display's size as it is turned now; None where the phone does not say."""
    match = _CURRENT.search(_main(shell.run("dumpsys window displays | grep -E 'cur=|mDisplayId='").out))
    return (int(match[1]), int(match[2])) if match else None


def read(text: str) -> SystemState:
    """What the answers say, from any Android that is about; what is not there is left out."""
    date, windows, keyboard, size = (text.split(_MARK) + [""] * 4)[:4]
    windows = _main(windows)
    when = _DATE.search(date)
    types = [int(type_class, 16) for type_class in _TYPE.findall(keyboard)]
    rotation = _ROTATION.search(windows)
    quarter_turns = int(rotation[1]) if rotation else 0
    quarter_turns = quarter_turns // 90 if quarter_turns > 3 else quarter_turns
    return SystemState(
        activity=_activity(windows),
        at=f"{when[1]}{when[2]}:{when[3]}" if when else "",
        size=_size(windows, size, quarter_turns),
        rotation=quarter_turns % 4,
        keyboard="mInputShown=true" in keyboard,
        password=bool(types) and _hidden(types[-1]),
        lines=bool(types[-1] & _MULTI_LINE) if types and types[-1] else None,
    )


def _main(windows: str) -> str:
    """What is told of the default display, and of no other: a second one may be listed first."""
    head, *parts = _DISPLAY.split(windows)
    numbers, bodies = parts[::2], parts[1::2]
    return head + "".join(body for number, body in zip(numbers, bodies, strict=True) if number == "0")


def _activity(windows: str) -> str:
    """The window with the focus, or else the app with it: a popup's window does not name an activity."""
    for key in ("mCurrentFocus=", "mFocusedApp="):
        for line in windows.splitlines():
            match = _COMPONENT.search(line) if key in line else None
            if match:
                package, _, name = match[1].partition("/")
                return f"{package}/{name.removeprefix(package) if name.startswith(package + '.') else name}"
    return ""


def _size(windows: str, size: str, quarter_turns: int) -> Point | None:
    """The display as it is turned now; where only its unturned size is told, turned."""
    current = _CURRENT.search(windows)
    if current:
        return int(current[1]), int(current[2])
    sizes = _PHYSICAL.findall(size)
    if not sizes:
        return None
    width, height = map(int, sizes[-1])
    return (height, width) if quarter_turns % 2 else (width, height)


def _hidden(type: int) -> bool:
    return (type & 0xF, type & 0xFF0) in _PASSWORDS
