"""Setting a volume to a level, wherever the settings keep it."""

from __future__ import annotations

from lab.agents.doing import Doing, GiveUp
from lab.agents.goals.levels import Level
from lab.agents.search import search_field
from lab.agents.talk import Work
from lab.uitree import Node

_APP = ("Settings", "System settings", "设置")
_DOORS = ("Sound", "Sounds", "Sound & vibration", "Sounds and vibration", "Volume", "Volumes", "声音")
_ALSO = {"媒体音量": "media volume", "铃声音量": "ring volume", "music volume": "media volume"}
_LESS, _MORE = ("Less", "Lower", "Decrease"), ("More", "Raise", "Increase")
_MOST = 110


def set_level(work: Work, goal: Level) -> Doing[None]:
    """Opens the settings, finds the volume and steps it to its level."""
    name = _ALSO.get(goal.name.casefold(), goal.name)
    if not (yield from work.open_app(*_APP, hints=("settings",))):
        raise GiveUp("I found no settings on this phone")
    yield from _reach(work, name)
    for _ in range(_MOST):
        less, now = _button(work, _LESS, name), _value(work, name)
        if less is None or now is None:
            break
        if now == goal.value:
            return
        button = less if now > goal.value else _button(work, _MORE, name)
        if button is None:
            break
        yield from work.tap(button, f"The {name} stands at {now}; it is to be {goal.value}.")
        if _value(work, name) == now:
            break
    raise GiveUp(f"the {goal.name} cannot be set to {goal.value}")


def _reach(work: Work, name: str) -> Doing[None]:
    """The page with the volume: this one, one that its name leads to, or one that the settings' search finds."""
    if _button(work, _LESS, name) is not None:
        return
    door = yield from work.seek(*_DOORS, exact=True)
    if door is not None:
        yield from work.tap(work.row(door), f"I look for the {name} under {door.label!r}.")
    else:
        field = search_field(work)
        if field is None:
            raise GiveUp(f"I found no {name}")
        yield from work.fill(field, name, f"I search the settings for the {name}.")
        row = next((n for n in work.nodes() if n.clickable and n.bounds.top > field.bounds.bottom), None)
        if row is not None:
            yield from work.tap(row, f"I open what I found for the {name}.")
    found = yield from work.seek(*(f"{word} {name}" for word in _LESS), role="tap", most=4)
    if found is None:
        raise GiveUp(f"I found no {name}")


def _button(work: Work, verbs: tuple[str, ...], name: str) -> Node | None:
    return work.find(*(f"{verb} {name}" for verb in verbs), exact=True, role="tap")


def _value(work: Work, name: str) -> int | None:
    """The number that stands between the two buttons."""
    less, more = _button(work, _LESS, name), _button(work, _MORE, name)
    if less is None or more is None:
        return None
    for node in work.nodes():
        inside = less.bounds.right <= node.bounds.center[0] <= more.bounds.left
        if inside and less.bounds.top <= node.bounds.center[1] <= less.bounds.bottom and node.text.isdecimal():
            return int(node.text)
    return None
