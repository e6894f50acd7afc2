"""Putting an event into the calendar, and reading one there."""

from __future__ import annotations

import re
from datetime import date

from lab.agents.dates import date_in, long_day, span_in
from lab.agents.doing import Doing, GiveUp
from lab.agents.goals import Fact
from lab.agents.goals.planning import Event
from lab.agents.reading import mentions, shown_time, words
from lab.agents.search import search_field
from lab.agents.skills.usual_events import Plan, planned
from lab.agents.talk import Work
from lab.uitree import Node

_APP = ("Calendar", "日历")
_NEW = ("New event", "Add event", "Create event", "New", "Add", "新建日程")
_SAVE, _OK = ("Save", "Done", "保存", "完成"), ("OK", "Set", "Done", "确定")
_SEARCH = ("Search events", "Search", "搜索")
_TITLE, _PLACE = ("Title", "Add title", "Event name", "标题"), ("Place", "Location", "Add location", "地点")
_DATE, _GUESTS = ("Date", "Day", "日期"), ("Guests", "Add guests", "People", "Invitees", "参与者")
_STARTS, _ENDS = ("Starts", "Start", "From", "开始"), ("Ends", "End", "To", "结束")
_NEXT, _PREVIOUS = ("Next month",), ("Previous month",)
_OFF = re.compile(r"^(cancel+ed|declined)\b|已取消|已拒绝", re.IGNORECASE)


def do_event(work: Work, goal: Event) -> Doing[None]:
    """A new event with its day, hours, place and guests, unless it stands there already."""
    plan = yield from work.once(("plan", goal), planned(work, goal))
    yield from _open(work)
    if (work.witnessed or work.known.get(("begun", goal))) and (yield from _stands(work, plan)):
        return
    work.known["begun", goal] = True
    yield from _begin(work)
    yield from _field(work, _TITLE, plan.title)
    yield from _day(work, plan.day)
    yield from _time(work, _STARTS, plan.start)
    yield from _time(work, _ENDS, plan.end)
    if plan.place:
        yield from _field(work, _PLACE, plan.place)
    if plan.guests:
        yield from _invite(work, plan.guests)
    save = work.find(*_SAVE, exact=True, role="tap")
    if save is None:
        raise GiveUp("I found no way to save the event")
    yield from work.tap(save, f"I save {plan.title!r} for {long_day(plan.day)}, {shown_time(plan.start)}.")
    if work.find(*_TITLE, exact=True, role="field") is not None:
        raise GiveUp(f"{plan.title!r} was not saved")


def look(work: Work, fact: Fact) -> Doing[str | int]:
    """What of an event is asked for, in words; its start alone as minutes. One that is off is passed over."""
    yield from _open(work)
    for row in (yield from _searched(work, fact.name)):
        if not any(_OFF.search(text) for text in _texts(row)):
            yield from work.tap(row, f"I open {fact.name!r}.")
            break
    else:
        raise GiveUp(f"I found no event called {fact.name!r}")
    texts: list[str] = []
    for _ in range(4):
        texts += [text for text in work.texts() if text not in texts]
        if not (yield from work.scroll("down", "I read on.")):
            break
    return _told(texts, fact, work)


def _told(texts: list[str], fact: Fact, work: Work) -> str | int:
    """The particulars that a fact names, out of the words of an event's page."""
    assert work.now is not None
    today = work.now.date()
    day = next((day for text in texts if (day := date_in(text, today)) is not None), None)
    span = next((span for text in texts if (span := span_in(text)) is not None), None)
    place = next((texts[n - 1] for n, text in enumerate(texts) if n and text in _PLACE), "")
    guests = [texts[n - 1] for n, text in enumerate(texts) if n and text == "Guest"]
    if day is None or span is None:
        raise GiveUp(f"I cannot read when {fact.name!r} is")
    ends = f" to {shown_time(span.end)}" if span.end is not None else ""
    every = {
        "weekday": f"{day:%A}", "date": long_day(day).partition(", ")[2], "day": long_day(day),
        "time": f"{shown_time(span.start)}{ends}", "place": place, "guests": ", ".join(guests),
    }  # fmt: skip
    wanted = [name for name in every if name in fact.what.split()] or ["day", "time", "place"]
    if wanted == ["time"]:
        return span.start
    if "weekday" in wanted or "date" in wanted:
        wanted = [name for name in wanted if name != "day"]
    missing = [name for name in wanted if not every[name]]
    if missing:
        raise GiveUp(f"I found no {missing[0]} in {fact.name!r}")
    return f"{fact.name}: {', '.join(every[name] for name in wanted)}"


def _open(work: Work) -> Doing[None]:
    if not (yield from work.open_app(*_APP, hints=("calendar",))):
        raise GiveUp("I found no calendar on this phone")


def _searched(work: Work, title: str) -> Doing[list[Node]]:
    """The events of that title, as the calendar's own search finds them."""
    button = work.find(*_SEARCH, exact=True, role="tap")
    if search_field(work) is None and button is not None:
        yield from work.tap(button, f"I search the calendar for {title!r}.")
    fields = work.fields()
    field = search_field(work) or (fields[0] if fields else None)
    if field is None:
        raise GiveUp("I found no way to search the calendar")
    yield from work.fill(field, title, f"I search the calendar for {title!r}.")
    same = [n for n in work.nodes() if words(n.text) == words(title) and n.bounds.top >= field.bounds.bottom]
    near = [n for n in work.nodes() if mentions(n.text, title) and n.bounds.top >= field.bounds.bottom]
    rows = {work.row(node).bounds: work.row(node) for node in same or near}
    return [row for row in rows.values() if row.clickable]


def _texts(row: Node) -> list[str]:
    return [text for node in row.walk() for text in (node.text, node.desc) if text]


def _stands(work: Work, plan: Plan) -> Doing[bool]:
    """Whether the event is there already, on its day and at its hour."""
    assert work.now is not None
    rows = yield from _searched(work, plan.title)
    for row in rows:
        said = " ".join(_texts(row))
        span = span_in(said)
        if date_in(said, work.now.date()) == plan.day and span is not None and span.start == plan.start:
            return True
    yield from _open(work)
    return False


def _begin(work: Work) -> Doing[None]:
    button = yield from work.seek(*_NEW, exact=True, role="tap", most=2)
    if button is None:
        raise GiveUp("I found no way to add an event")
    yield from work.tap(button, "I begin a new event.")


def _field(work: Work, names: tuple[str, ...], text: str) -> Doing[None]:
    field = work.find(*names, role="field") or (yield from work.seek(*names, role="field", most=4))
    if field is None or not (yield from work.fill(field, text, f"I type {text!r} as the {names[0].lower()}.")):
        raise GiveUp(f"I found no place for the {names[0].lower()} of an event")


def _day(work: Work, day: date) -> Doing[None]:
    """Chooses a day in the month that the form's date opens."""
    yield from _door(work, _DATE, "I choose the day.")
    for _ in range(24):
        cell = work.find(long_day(day), exact=True) or work.find(long_day(day).partition(", ")[2], exact=True)
        if cell is not None:
            yield from work.tap(work.row(cell), f"I choose {long_day(day)}.")
            return
        shown = next((found for text in work.texts() if (found := _month(text)) is not None), day)
        turn = work.find(*(_NEXT if shown < day else _PREVIOUS), role="tap")
        if turn is None:
            break
        yield from work.tap(turn, f"I turn to {day:%B %Y}.")
    raise GiveUp(f"I found no way to choose {long_day(day)}")


def _month(text: str) -> date | None:
    """The first day of a month that is written as March 2025."""
    found = re.fullmatch(r"[A-Z][a-z]+ \d{4}", text.strip())
    return date_in(f"1 {text}", date.min) if found else None


def _time(work: Work, names: tuple[str, ...], minute: int) -> Doing[None]:
    """Sets one end of an event, by the hour and minute that its row opens."""
    yield from _door(work, names, f"It {names[0].lower()} at {shown_time(minute)}.")
    time = shown_time(minute)
    for name, value in (("Hour", time[:2]), ("Minute", time[3:])):
        field = work.find(name, role="field")
        if field is None:
            raise GiveUp(f"I found no place for the {name.lower()} of an event")
        yield from work.fill(field, value, f"I type {value} as its {name.lower()}.", fresh=True)
    done = work.find(*_OK, exact=True, role="tap")
    if done is None:
        raise GiveUp("I found no way to confirm the time")
    yield from work.tap(done, f"{time} it is.")


def _invite(work: Work, guests: tuple[str, ...]) -> Doing[None]:
    """Ticks the guests in the list that the form's row opens."""
    yield from _door(work, _GUESTS, "I choose the guests.")
    for guest in guests:
        box = yield from work.seek(guest, exact=True, role="check")
        if box is None:
            raise GiveUp(f"I found no {guest} among the contacts")
        if not box.checked:
            yield from work.tap(box, f"I invite {guest}.")
    done = work.find("Done", "OK", "完成", exact=True, role="tap")
    if done is not None:
        yield from work.tap(done, "The guests are chosen.")
    else:
        yield from work.back("The guests are chosen.")


def _door(work: Work, names: tuple[str, ...], thought: str) -> Doing[None]:
    row = work.find(*names, exact=True) or (yield from work.seek(*names, exact=True, most=4))
    if row is None:
        raise GiveUp(f"I found no {names[0].lower()} in the form of an event")
    yield from work.tap(work.row(row), thought)
