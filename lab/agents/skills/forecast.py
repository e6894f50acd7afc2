"""The weather, looked up with the browser."""

from __future__ import annotations

import re
from datetime import date

from lab.agents.dates import date_in
from lab.agents.doing import Doing, GiveUp
from lab.agents.goals.journey import Weather
from lab.agents.goals.nouns import Fact
from lab.agents.reading import mentions
from lab.agents.search import by_search
from lab.agents.talk import Work
from lab.turn import Action
from lab.uitree import Node

_APP = ("Browser", "Internet", "Web", "浏览器")
_HINTS = ("browser", "internet", "weather", "浏览器", "天气")
_BAR = ("Address bar", "Search or type web address", "地址栏")
_FIGURES = {
    "chance of rain": r"rain[^\d-]{0,12}(\d+)\s?%|降雨\D{0,6}(\d+)\s?%",
    "high": r"high[^\d-]{0,6}(-?\d+)|to\s+(-?\d+)\s?°",
    "low": r"low[^\d-]{0,6}(-?\d+)|(-?\d+)\s+to\s+-?\d+\s?°",
}
_SAYS = re.compile(r"°|%|\bwind\b|\brain\b", re.IGNORECASE)
_HOURLY = re.compile(r"by the hour|hourly|days to come|逐时", re.IGNORECASE)


def look(work: Work, fact: Fact) -> Doing[str | int]:
    """What the forecast says of a day, or only of its rain or its temperature."""
    lines = yield from _forecast(work, fact.name, fact.what)
    if "rain" in fact.what:
        lines = [line for line in lines if re.search(r"rain", line, re.IGNORECASE)]
    elif "temperature" in fact.what:
        lines = [line for line in lines if "°" in line]
    return ", ".join(lines)


def judge(work: Work, condition: Weather) -> Doing[bool]:
    lines = yield from _forecast(work, condition.city, condition.day)
    found = re.search(_FIGURES[condition.figure], "\n".join(lines), re.IGNORECASE)
    if found is None:
        raise GiveUp(f"the forecast says nothing of the {condition.figure} in {condition.city}")
    value = int(next(group for group in found.groups() if group))
    return value > condition.limit if condition.above else value < condition.limit


def search_web(work: Work, query: str) -> Doing[None]:
    """The results of a search with the browser."""
    if not (yield from work.open_app(*_APP, hints=_HINTS)):
        raise GiveUp("I found no browser on this phone")
    bar = work.find(*_BAR, role="tap") if not work.fields() else None
    if bar is not None:
        yield from work.tap(bar, "A page is open; I go to where one types an address.")
    field = next(iter(work.fields()), None)
    if field is None:
        raise GiveUp("I found no place to type an address or a search")
    yield from work.fill(field, query, f"I search the web for {query!r}.")
    typed = next(iter(work.fields()), None)
    if typed is not None and not typed.focused:
        yield from work.tap(typed, "It stands there already; I put the cursor into it.")
    yield from work.act(Action("keyboard_enter"), "I start the search.")


def _forecast(work: Work, city: str, day: str) -> Doing[list[str]]:
    """What is said of one day: sky, degrees, rain, wind."""
    if work.now is None:
        raise GiveUp("I was not told what day it is")
    today = work.now.date()
    wanted = date_in(day, today) or today
    yield from _open_city(work, city)
    if wanted == today:
        return _said(work)
    row = yield from work.seek(*_names(wanted, today), most=6)
    if row is None:
        raise GiveUp(f"the forecast for {city} says nothing of that day")
    yield from work.tap(work.row(row), f"I look at {row.text}.")
    return _said(work)


def _open_city(work: Work, city: str) -> Doing[None]:
    yield from search_web(work, f"weather {city}")
    answer = next((n for n in _links(work) if mentions(n.text, city) and mentions(n.text, "weather")), None)
    if answer is not None:
        yield from work.tap(work.row(answer), f"I open the weather in {city}.")
        return
    site = next((n for n in _links(work) if mentions(n.text, "weather") or mentions(n.text, "天气")), None)
    if site is None:
        raise GiveUp("I found no page about the weather")
    yield from work.tap(work.row(site), f"I open {site.text!r}.")
    found = work.find(city, exact=True) or (yield from by_search(work, city))
    if found is None:
        raise GiveUp(f"the forecast does not know {city}")
    yield from work.tap(work.row(found), f"I choose {city}.")


def _links(work: Work) -> list[Node]:
    """Words that lead on, below the address."""
    body = work.body()
    return [n for n in (body.walk() if body else ()) if n.text and work.row(n).clickable]


def _names(wanted: date, today: date) -> list[str]:
    """How a list calls a day."""
    long = wanted.strftime("%A, %d %B").replace(" 0", " ")
    near = {1: ["Tomorrow", "明天"]}.get((wanted - today).days, [])
    return [long, *near, wanted.strftime("%d %B").lstrip("0"), wanted.strftime("%a, %d %b").replace(" 0", " ")]


def _said(work: Work) -> list[str]:
    """The lines about the day, above its hours; the line before the first figure is the sky."""
    lines: list[str] = []
    before = ""
    body = work.body()
    for node in body.walk() if body else ():
        if _HOURLY.search(node.text):
            break
        if node.text and _SAYS.search(node.text):
            lines += [before] if before and not lines and not re.search(r"\d", before) else []
            lines.append(node.text)
        before = node.text or before
    return lines
