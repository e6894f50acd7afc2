"""Android's key codes and their effects on the served phone. Source: AOSP, android.view.KeyEvent."""

from __future__ import annotations

import re
import string

from lab.core.run.step import Action
from simulators.phone.served.display import Display
from simulators.phone.served.services import Services

HOME, BACK, POWER, TAB, ENTER, DEL, ESCAPE, RECENTS = 3, 4, 26, 61, 66, 67, 111, 187
SLEEP, WAKEUP, CUT, COPY, PASTE, NOTIFICATION = 223, 224, 277, 278, 279, 83

_NUMPAD_ENTER = 160
_SHIFT, _CONTROL = (59, 60), (113, 114)
_DIGITS, _SIGNS = "0123456789", ")!@#$%^&*("
_CHARACTERS: dict[int, tuple[str, str]] = {
    **{7 + i: pair for i, pair in enumerate(zip(_DIGITS, _SIGNS, strict=True))},
    **{29 + i: (ch, ch.upper()) for i, ch in enumerate(string.ascii_lowercase)},
    17: ("*", "*"), 18: ("#", "#"), 55: (",", "<"), 56: (".", ">"), 62: (" ", " "), 68: ("`", "~"), 69: ("-", "_"),
    70: ("=", "+"), 71: ("[", "{"), 72: ("]", "}"), 73: ("\\", "|"), 74: (";", ":"), 75: ("'", '"'), 76: ("/", "?"),
    77: ("@", "@"), 81: ("+", "+"), **{144 + i: (ch, ch) for i, ch in enumerate(_DIGITS)},
}  # fmt: skip
_NAMES = {
    "SOFT_LEFT": 1, "SOFT_RIGHT": 2, "HOME": HOME, "BACK": BACK, "CALL": 5, "ENDCALL": 6, "STAR": 17, "POUND": 18,
    "DPAD_UP": 19, "DPAD_DOWN": 20, "DPAD_LEFT": 21, "DPAD_RIGHT": 22, "DPAD_CENTER": 23, "VOLUME_UP": 24,
    "VOLUME_DOWN": 25, "POWER": POWER, "CAMERA": 27, "CLEAR": 28, "COMMA": 55, "PERIOD": 56, "ALT_LEFT": 57,
    "ALT_RIGHT": 58, "SHIFT_LEFT": 59, "SHIFT_RIGHT": 60, "TAB": TAB, "SPACE": 62, "ENTER": ENTER, "DEL": DEL,
    "GRAVE": 68, "MINUS": 69, "EQUALS": 70, "LEFT_BRACKET": 71, "RIGHT_BRACKET": 72, "BACKSLASH": 73,
    "SEMICOLON": 74, "APOSTROPHE": 75, "SLASH": 76, "AT": 77, "PLUS": 81, "MENU": 82, "NOTIFICATION": NOTIFICATION,
    "SEARCH": 84, "PAGE_UP": 92, "PAGE_DOWN": 93, "ESCAPE": ESCAPE, "FORWARD_DEL": 112, "CTRL_LEFT": 113,
    "CTRL_RIGHT": 114, "CAPS_LOCK": 115, "MOVE_HOME": 122, "MOVE_END": 123, "INSERT": 124,
    "NUMPAD_ENTER": _NUMPAD_ENTER, "VOLUME_MUTE": 164, "APP_SWITCH": RECENTS, "ASSIST": 219, "BRIGHTNESS_DOWN": 220,
    "BRIGHTNESS_UP": 221,
    "SLEEP": SLEEP, "WAKEUP": WAKEUP, "SOFT_SLEEP": 276, "CUT": CUT, "COPY": COPY, "PASTE": PASTE,
    "ALL_APPS": 284, **{ch: 29 + i for i, ch in enumerate(string.ascii_uppercase)},
    **{ch: 7 + i for i, ch in enumerate(_DIGITS)}, **{f"NUMPAD_{ch}": 144 + i for i, ch in enumerate(_DIGITS)},
}  # fmt: skip
"""Codes by name, without `KEYCODE_`: keys that phones and scripts use."""


def code_of(name: str) -> int:
    """Return a key's code from its number or name. 0 (unknown) for anything else, as in Android."""
    if re.fullmatch(r"[0-9]{1,4}", name):
        return int(name)
    return _NAMES.get(name.removeprefix("KEYCODE_"), 0)


def press(services: Services, display: Display, code: int, held_keys: tuple[int, ...] = ()) -> None:
    """Press and release one key while others are held. Ignore a key that this phone does not use."""
    if code in (POWER, SLEEP, WAKEUP, 276):
        display.awake = code == WAKEUP or (code == POWER and not display.awake)
    elif not display.open:
        return
    elif set(held_keys) & set(_CONTROL):
        _shortcut(services, display, code)
    elif code in _CHARACTERS:
        display.type(_CHARACTERS[code][bool(set(held_keys) & set(_SHIFT))])
    else:
        _function(services, display, code)


def _shortcut(services: Services, display: Display, code: int) -> None:
    """Perform Ctrl with A, C, X or V."""
    letter = _CHARACTERS.get(code, ("", ""))[0]
    if letter == "a":
        display.choose()
    elif letter in ("c", "x", "v"):
        _function(services, display, {"c": COPY, "x": CUT, "v": PASTE}[letter])


def _enter(display: Display) -> None:
    """Start a new line in a field of several, whatever the keyboard's own enter key does there (as in TextView)."""
    field = display.field
    if field is not None and field.many:
        display.type("\n")
    else:
        display.perform(Action("keyboard_enter"))


def _function(services: Services, display: Display, code: int) -> None:
    kinds: dict[int, Action] = {
        HOME: Action("navigate_home"), BACK: Action("navigate_back"), RECENTS: Action("press_recent"),
    }  # fmt: skip
    if code in kinds:
        display.perform(kinds[code])
    elif code in (ENTER, _NUMPAD_ENTER):
        _enter(display)
    elif code == DEL:
        display.erase()
    elif code in (COPY, CUT):
        services.clipboard = display.selected_text() or services.clipboard
        if code == CUT and display.selected_text():
            display.erase()
    elif code == PASTE:
        display.type(services.clipboard)
    elif code == NOTIFICATION:
        display.pull(down=True)
