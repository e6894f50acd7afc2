"""One picture of each screen of the phone, made by going there."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from simulators.phone.phone import Phone

_SCREENS: tuple[tuple[str, str, str, dict[str, Any]], ...] = (
    ("settings", "settings", "home", {}),
    ("settings-wifi", "settings", "wifi", {}),
    ("settings-bluetooth", "settings", "bluetooth", {}),
    ("settings-display", "settings", "display", {}),
    ("settings-font", "settings", "font_size", {}),
    ("settings-sound", "settings", "sound", {}),
    ("settings-quiet", "settings", "quiet", {}),
    ("settings-battery", "settings", "battery", {}),
    ("settings-about", "settings", "about", {}),
    ("settings-rename", "settings", "rename", {}),
)


def at(app: str, screen: str, args: dict[str, Any], *, dark: bool = False) -> Phone:
    """A phone that stands at a screen."""
    phone = Phone()
    stack = [phone.snapshot()["nav"]["stacks"][app][0]]
    if screen != stack[0]["screen"]:
        stack.append({"screen": screen, "args": args})
    phone.lay({"nav": {"app": app, "stacks": {app: stack}}, "apps": {"settings": {"dark_theme": dark}}})
    return phone


def shots(*, dark: bool = False) -> Iterator[tuple[str, bytes]]:
    """Name and PNG of each screen."""
    yield "launcher", at("launcher", "home", {}, dark=dark).observe().png
    for name, app, screen, args in _SCREENS:
        yield name, at(app, screen, args, dark=dark).observe().png
