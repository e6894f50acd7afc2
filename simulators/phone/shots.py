"""One picture of each screen of the phone, made by going there."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from simulators.phone.phone import Phone

_SCREENS: tuple[tuple[str, str, str, dict[str, Any]], ...] = (
    ("messages", "messages", "home", {}),
    ("messages-thread", "messages", "thread", {"name": "Noor Haddad"}),
    ("messages-chinese", "messages", "thread", {"name": "陈伟"}),
    ("messages-compose", "messages", "compose", {}),
    ("messages-delete", "messages", "message_menu", {"name": "Noor Haddad", "index": 0}),
    ("clock", "clock", "home", {}),
    ("clock-alarm", "clock", "alarm", {}),
    ("clock-delete", "clock", "delete", {"index": 0}),
    ("notes", "notes", "home", {}),
    ("notes-checklist", "notes", "edit", {"index": 0}),
    ("notes-plain", "notes", "edit", {"index": 1}),
    ("notes-delete", "notes", "delete", {"index": 1}),
    ("food", "food", "home", {}),
    ("food-category", "food", "category", {"name": "Coffee"}),
    ("food-menu", "food", "menu", {"restaurant": "Copper Ladle"}),
    ("food-chinese", "food", "menu", {"restaurant": "竹影小馆"}),
    ("food-addresses", "food", "addresses", {}),
    ("food-payments", "food", "payments", {}),
    ("food-orders", "food", "orders", {}),
    ("food-order", "food", "order", {"number": "N-1041"}),
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
