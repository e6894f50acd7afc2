"""Turning a setting on or off, wherever the settings keep it."""

from __future__ import annotations

from lab.agents.doing import Doing, GiveUp
from lab.agents.goals import Switch
from lab.agents.search import search_field
from lab.agents.talk import Work
from lab.uitree import Node

_APP = ("Settings", "System settings", "设置")
_ALSO = {
    "wifi": "wi-fi", "wlan": "wi-fi", "dark mode": "dark theme", "night mode": "dark theme",
    "dnd": "do not disturb", "silent mode": "do not disturb", "power saving": "battery saver",
    "power saving mode": "battery saver", "low power mode": "battery saver",
    "深色模式": "dark theme", "勿扰": "do not disturb", "勿扰模式": "do not disturb", "蓝牙": "bluetooth",
}  # fmt: skip


def set_switch(work: Work, goal: Switch) -> Doing[None]:
    """Opens the settings, finds the switch on its page and leaves it as wanted."""
    name = goal.name.strip()
    names = tuple(dict.fromkeys([name, _ALSO.get(name.casefold(), name)]))
    if not (yield from work.open_app(*_APP, hints=("settings",))):
        raise GiveUp("I found no settings on this phone")
    found = yield from _reach(work, names)
    if found is None:
        raise GiveUp(f"I found no setting called {name}")
    word = "on" if goal.on else "off"
    for _ in range(2):
        if found is None or found.checked == goal.on:
            return
        yield from work.tap(found, f"I turn {name} {word}.")
        found = work.switch(*names)
    if found is not None and found.checked != goal.on:
        raise GiveUp(f"{name} does not turn {word}")


def _reach(work: Work, names: tuple[str, ...]) -> Doing[Node | None]:
    """The switch, on this page, on a page that names it, by search, or on any page below."""
    found = work.switch(*names)
    if found is not None:
        return found
    door = yield from work.seek(*names)
    found = work.switch(*names)
    if found is not None or door is None:
        return found or (yield from _search(work, names))
    return (yield from _enter(work, door, names)) or (yield from _search(work, names))


def _enter(work: Work, door: Node, names: tuple[str, ...]) -> Doing[Node | None]:
    """The switch on the page behind a row; back again where it is not there."""
    row = work.row(door)
    title = work.words_of(row)[:40]
    yield from work.tap(row, f"I look for {names[0]} under {title!r}.")
    yield from work.seek(*names, role="check", most=6)
    found = work.switch(*names)
    if found is None:
        yield from work.back(f"{names[0]} is not here.")
    return found


def _search(work: Work, names: tuple[str, ...]) -> Doing[Node | None]:
    """The switch on a page that the settings' own search finds."""
    field = search_field(work)
    if field is None:
        return None
    for name in names:
        yield from work.fill(field, name, f"I search the settings for {name}.")
        rows = [n for n in work.nodes() if n.clickable and n.bounds.top > field.bounds.bottom]
        for row in rows[:3]:
            found = yield from _enter(work, row, (name,))
            if found is not None:
                return found
    return None
