"""The on-screen keyboard: its keys as boxes, and each key's effect on the text."""

from __future__ import annotations

from typing import Any

from lab.core.run.ui_tree import Bounds
from simulators.phone.kit import fonts
from simulators.phone.kit.boxes import Box, InkLine, Round, Sign
from simulators.phone.kit.layout import Env, center, ink
from simulators.phone.kit.theme import KEYBOARD_HEIGHT, NAV_BAR, WIDTH

State = dict[str, Any]
PACKAGE = "com.hitlab.keyboard"
BOUNDS = Bounds(0, NAV_BAR.top - KEYBOARD_HEIGHT, WIDTH, NAV_BAR.top)

LETTERS = ("qwertyuiop", "asdfghjkl", "zxcvbnm")
NUMBERS = ("1234567890", "@#$%&-+()", "*\"':;!?")
SYMBOLS = ("~`|_=[]{}<", "^\\/>.,¥€°", "¿¡«»…·•")
PAGES = {"letters": LETTERS, "numbers": NUMBERS, "symbols": SYMBOLS}
_ENTER = {"Done": "check", "Search": "search", "Send": "send", "Next": "next", "Enter": "enter"}
_TALL, _GAP = 168, 12


def keyboard(state: State, action: str, env: Env) -> Box:
    """Return the keyboard of a field whose enter key is labelled `action`."""
    root = Box(BOUNDS, {"id": "keyboard", "cls": "android.widget.FrameLayout", "text": "", "desc": "Keyboard"})
    root.paints.append(Round(Bounds(0, BOUNDS.top, WIDTH, 2400), 0, env.rgb("container")))
    page, shift = state["keyboard"]["page"], state["keyboard"]["shift"]
    rows = PAGES[page]
    for number, row in enumerate(rows):
        top = BOUNDS.top + 40 + number * (_TALL + _GAP)
        width = 105
        left = (WIDTH - width * len(row)) // 2
        for i, ch in enumerate(row):
            text = ch.upper() if page == "letters" and shift != "off" else ch
            root.children.append(_key(text, Bounds(left + i * width, top, left + (i + 1) * width, top + _TALL), env))
    root.children += _helpers(page, shift, action, env)
    return root


def _helpers(page: str, shift: str, action: str, env: Env) -> list[Box]:
    """Return shift, backspace and the lowest row."""
    third = BOUNDS.top + 40 + 2 * (_TALL + _GAP)
    fourth = BOUNDS.top + 40 + 3 * (_TALL + _GAP)
    low = fourth + _TALL
    edge = Bounds(9, third, 165, third + _TALL)
    if page == "letters":
        sign = "shift" if shift == "off" else "shift_on"
        first = _sign_key("Shift", sign, ("key", "shift"), edge, "high", env, selected=shift != "off")
    else:
        other = ("=\\<", "symbols") if page == "numbers" else ("?123", "numbers")
        first = _key(other[0], edge, env, act=("page", other[1]), ground="high", small=True)
    switch = ("?123", "numbers") if page == "letters" else ("ABC", "letters")
    return [
        first,
        _sign_key("Backspace", "backspace", ("key", "backspace"), Bounds(915, third, 1071, third + _TALL), "high", env),
        _key(switch[0], Bounds(9, fourth, 165, low), env, act=("page", switch[1]), ground="high", small=True),
        _key(",", Bounds(165, fourth, 270, low), env, ground="high"),
        _key("space", Bounds(270, fourth, 810, low), env, act=("key", " "), desc="Space", small=True),
        _key(".", Bounds(810, fourth, 915, low), env, ground="high"),
        _sign_key(action, _ENTER[action], ("key", "enter"), Bounds(915, fourth, 1071, low), "primary", env),
    ]


def _key(
    text: str,
    bounds: Bounds,
    env: Env,
    *,
    act: tuple[str, str] | None = None,
    ground: str = "surface",
    desc: str = "",
    small: bool = False,
) -> Box:
    box = _cap(text, desc, act or ("key", text), bounds, ground, env)
    style = (40, 80, False) if small else (54, 80, False)
    if small and fonts.width(text, 40) > bounds.width - 20:
        style = (34, 80, False)
    line: InkLine = ink(text, bounds, style, "center", env.rgb("text"))
    box.paints.append(line)
    return box


def _sign_key(
    desc: str, sign: str, act: tuple[str, str], bounds: Bounds, ground: str, env: Env, *, selected: bool = False
) -> Box:
    box = _cap("", desc, act, bounds, ground, env)
    spot = center(bounds, 60, 60)
    rgb = env.rgb("on_primary" if ground == "primary" else "primary" if selected else "text")
    box.paints.append(Sign(sign, spot.left, spot.top, 60, rgb))
    return box


def _cap(text: str, desc: str, act: tuple[str, str], bounds: Bounds, ground: str, env: Env) -> Box:
    inner = Bounds(bounds.left + 6, bounds.top, bounds.right - 6, bounds.bottom)
    node: dict[str, object] = {"text": text, "desc": desc, "cls": "android.widget.Button", "clickable": True}
    node["id"] = f"key_{(desc or text).lower()}" if (desc or text).isalnum() else "key"
    return Box(bounds, node, [Round(inner, 22, env.rgb(ground))], on=act)


def typed(value: str, key: str, state: State) -> str:
    """Return the text after a key. Typing a letter ends a single shift."""
    board = state["keyboard"]
    if key == "backspace":
        return value[:-1]
    if board["shift"] == "on" and key.isalpha():
        board["shift"] = "off"
    return value + key


def press_shift(state: State) -> None:
    """Cycle shift: off, one letter, caps lock."""
    board = state["keyboard"]
    board["shift"] = {"off": "on", "on": "lock", "lock": "off"}[board["shift"]]
