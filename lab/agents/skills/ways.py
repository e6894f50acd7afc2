"""Maps: what is said of a place, how long a way takes, and being led there."""

from __future__ import annotations

import re

from lab.agents.dates import date_in
from lab.agents.doing import Doing, GiveUp
from lab.agents.goals.going import Opened, Takes, Way, mode_in, place_after
from lab.agents.goals.nouns import Fact
from lab.agents.habits import majority
from lab.agents.reading import clock_times, mentions, words
from lab.agents.search import search_field
from lab.agents.talk import Work, listed
from lab.uitree import Node

_APP = ("Maps", "Map", "Navigation", "地图", "导航")
_HINTS = ("map", "navigation", "地图")
_GO = ("Directions", "Route", "路线")
_START = ("Start", "Start navigation", "开始导航")
_UNDER_WAY = ("End navigation", "Stop navigation", "结束导航")
_MODES = {
    "bus": ("Bus", "Transit", "公交"), "bike": ("Bike", "Bicycle", "骑行"), "car": ("Car", "Drive", "驾车"),
    "walk": ("Walk", "On foot", "步行"),
}  # fmt: skip
_RIDE = re.compile(r"^(?P<line>(?:bus|line|tram|metro|公交)\s+\w+)\b", re.IGNORECASE)


def look_place(work: Work, fact: Fact) -> Doing[str | int]:
    """An address, a number, the hours of a day (today's where none is named), or when a place opens or closes."""
    yield from _open_place(work, fact.name)
    if "hours" in fact.what or "time" in fact.what:
        day, line = yield from _hours(work, fact.what)
        times = [minute for _, minute in clock_times(line)]
        if "closing" in fact.what and times:
            return times[-1]
        if "opening time" in fact.what and times and not fact.what.startswith("opening times"):
            return times[0]
        return line if mentions(line, day) else f"{day} {line}"
    label = ("Number", "Phone") if "number" in fact.what else ("Address",)
    title = yield from work.seek(*label, exact=True, most=3)
    said = [n.text for n in (work.row(title).walk() if title else ()) if n.text and n.text not in label]
    if not said:
        raise GiveUp(f"I found no {fact.what} of {fact.name}")
    return said[0]


def judge_open(work: Work, condition: Opened) -> Doing[bool]:
    """Whether the hours of that day hold the minute that is asked."""
    yield from _open_place(work, condition.place)
    _, line = yield from _hours(work, condition.day)
    times = [minute for _, minute in clock_times(line)]
    if len(times) < 2:
        return re.search(r"all day|24|全天", line, re.IGNORECASE) is not None
    return times[0] <= condition.minute < times[1]


def look_way(work: Work, fact: Fact) -> Doing[str | int]:
    """How long a way takes, with the lines that it needs where the way itself is asked."""
    mode, origin = mode_in(fact.what), place_after(fact.what, "from")
    minutes = yield from _measure(work, fact.name, origin, mode)
    if fact.what.startswith("minutes"):
        return f"{minutes} min"
    lines = yield from _lines(work)
    return ", ".join([f"{minutes} min", *(lines or [f"by {mode}" if mode != "walk" else "on foot"])])


def judge_takes(work: Work, condition: Takes) -> Doing[bool]:
    minutes = yield from _measure(work, condition.to, condition.origin, condition.mode)
    return minutes > condition.minutes if condition.above else minutes < condition.minutes


def do_way(work: Work, goal: Way) -> Doing[None]:
    """Is led to a place, in the way that the log settles or the person says."""
    mode = goal.mode or (yield from _usual_mode(work, goal))
    if work.witnessed and work.find(*_UNDER_WAY, role="tap") is not None:
        return
    yield from _open(work)
    door = work.find(*(f"{go} to {goal.to}" for go in _GO), exact=True, role="tap")
    if door is None:
        yield from _open_place(work, goal.to)
    yield from _directions(work, goal.to, door)
    yield from _set_mode(work, mode)
    start = yield from work.seek(*_START, exact=True, role="tap", most=3)
    if start is None:
        raise GiveUp(f"I found no way to start the way to {goal.to}")
    yield from work.tap(start, f"This is the way to {goal.to} by {mode}; I start it.")
    if work.find(*_UNDER_WAY) is None:
        raise GiveUp(f"the way to {goal.to} did not start")


def _usual_mode(work: Work, goal: Way) -> Doing[str]:
    """How one usually goes there; asked where the log shows several ways and none prevails."""
    gone = [deed.goal.mode for deed in work.deeds if isinstance(deed.goal, Way) and deed.goal.key == goal.key]
    usual, ever = majority([mode for mode in gone if mode])
    if usual is not None:
        return usual
    options = ever or list(_MODES)
    seen = f" You have gone by {listed(ever, 'and')} before." if ever else ""
    thought = f"The log shows {listed(ever, 'and') or 'no way'} to {goal.to} and none prevails, so I ask."
    return (
        yield from work.choose(f"How do you want to go to {goal.to}: {listed(options)}?{seen}", options, None, thought)
    )


def _open(work: Work) -> Doing[None]:
    if not (yield from work.open_app(*_APP, hints=_HINTS)):
        raise GiveUp("I found no map on this phone")


def _open_place(work: Work, name: str) -> Doing[None]:
    """The page of a place, by its name, its address, or the word under which it is kept."""
    yield from _open(work)
    kept = work.find(name, exact=True)
    if kept is None:
        kept = yield from _search(work, name)
    yield from work.tap(work.row(kept), f"I open {name}.")
    if work.find(*_GO, role="tap") is None:
        raise GiveUp(f"I found no page about {name}")


def _search(work: Work, name: str) -> Doing[Node]:
    """What the map's search has under a name: that very name before one that holds it, else the only thing found."""
    field = search_field(work)
    if field is None:
        raise GiveUp("I found no way to search the map")
    yield from work.fill(field, name, f"I search the map for {name}.")
    below = [
        n for n in work.nodes() if n.text and n.bounds.top >= field.bounds.bottom and not n.cls.endswith("EditText")
    ]
    rows = list({id(row): row for n in below if (row := work.row(n)).clickable}.values())
    exact = [n for n in below if words(n.text) == words(name)]
    near = [n for n in below if mentions(n.text, name)] or (rows if len(rows) == 1 else [])
    if not exact and not near:
        raise GiveUp(f"the map knows no {name}")
    return (exact or near)[0]


def _hours(work: Work, day: str) -> Doing[tuple[str, str]]:
    """The weekday that is meant, and what the open place says of its hours."""
    if work.now is None:
        raise GiveUp("I was not told what day it is")
    weekday = (date_in(day, work.now.date()) or work.now.date()).strftime("%A")
    door = yield from work.seek("Opening hours", "Hours", "Today", "营业时间", most=3)
    if door is None:
        raise GiveUp("this place says nothing of its hours")
    yield from work.tap(work.row(door), "I look at the opening hours.")
    title = yield from work.seek(weekday, most=3)
    if title is None:
        raise GiveUp(f"the hours say nothing of {weekday}")
    beside = [n.text for n in work.nodes() if n.text and abs(n.bounds.center[1] - title.bounds.center[1]) < 40]
    return weekday, " ".join(text for text in beside if not mentions(text, weekday))


def _measure(work: Work, to: str, origin: str, mode: str) -> Doing[int]:
    """The minutes of a way, on its page."""
    yield from _open_place(work, to)
    yield from _directions(work, to, None)
    if origin:
        yield from _set_origin(work, origin)
    chip = yield from _set_mode(work, mode)
    hours, minutes = re.search(r"(\d+)\s*h\b", chip), re.search(r"(\d+)\s*(?:min|分)", chip)
    if minutes is None and hours is None:
        raise GiveUp(f"the map says not how long it takes to {to}")
    return (int(hours[1]) * 60 if hours else 0) + (int(minutes[1]) if minutes else 0)


def _directions(work: Work, to: str, door: Node | None) -> Doing[None]:
    button = door or (yield from work.seek(*_GO, exact=True, role="tap", most=2))
    if button is None:
        raise GiveUp(f"I found no way to {to}")
    yield from work.tap(button, f"I look at the way to {to}.")


def _set_origin(work: Work, origin: str) -> Doing[None]:
    label = work.find("From", "Start", "起点", exact=True)
    if label is None:
        raise GiveUp("I found no place for where the way begins")
    row = work.row(label)
    if mentions(work.words_of(row), origin):
        return
    yield from work.tap(row, f"The way begins at {origin}.")
    found = yield from _search(work, origin)
    yield from work.tap(work.row(found), f"I choose {origin}.")


def _set_mode(work: Work, mode: str) -> Doing[str]:
    """Chooses how one goes; what stands there of it."""
    chip = _chip(work, mode)
    if chip is None:
        raise GiveUp(f"the map knows no way by {mode}")
    if not (chip.checked or chip.selected):
        yield from work.tap(chip, f"I choose the way by {mode}.")
        chip = _chip(work, mode) or chip
    return chip.label


def _chip(work: Work, mode: str) -> Node | None:
    names = _MODES[mode]
    chips = [n for n in work.nodes() if n.checkable or n.clickable]
    return next((n for n in chips if any(words(n.label)[: len(words(name))] == words(name) for name in names)), None)


def _lines(work: Work) -> Doing[list[str]]:
    """The lines of a way, in their order, down to its last step."""
    lines: list[str] = []
    for _ in range(4):
        found = (_RIDE.match(text) for text in work.texts())
        lines += [m["line"].lower() for m in found if m and m["line"].lower() not in lines]
        if not (yield from work.scroll("down", "I read the way step by step.")):
            break
    return lines
