"""Dates of events: their time, their clashes, and their due reminders."""

from __future__ import annotations

from datetime import date, datetime, timedelta

from simulators.phone.app import AppContext, State
from simulators.phone.kit.pickers import day_words, short_day

REMINDERS = {-1: "None", 0: "At the start", 5: "5 minutes before", 10: "10 minutes before", 30: "30 minutes before",
             60: "1 hour before", 1440: "1 day before"}  # fmt: skip
"""Selectable reminders, in minutes before an event."""


def key(event: State) -> State:
    """Return the arguments that identify an event: title, date and start."""
    return {"title": event["title"], "date": event["date"], "start": event["start"]}


def found(here: AppContext, args: State) -> State | None:
    """Return the event that a screen's arguments name, or None if none matches. A title alone selects the first one."""
    criteria = {name: args[name] for name in ("title", "date", "start") if args.get(name)}
    events: list[State] = here.own["events"]
    return next((e for e in events if criteria and all(e[name] == value for name, value in criteria.items())), None)


def day_of(event: State) -> date:
    return date.fromisoformat(event["date"])


def on_day(here: AppContext, day: date) -> list[State]:
    """Return a day's events in order, all-day ones first."""
    return in_order([event for event in here.own["events"] if event["date"] == day.isoformat()])


def in_order(events: list[State]) -> list[State]:
    return sorted(events, key=lambda e: (e["date"], not e["all_day"], e["start"], e["end"], e["title"]))


def stands(event: State) -> bool:
    """Return True if an event takes place for the owner: neither cancelled nor declined."""
    return not event["cancelled"] and event["answer"] != "declined"


def clashes(here: AppContext, event: State, but: State | None = None) -> list[State]:
    """Return the other events that overlap this one, without `but`."""
    if event["all_day"] or not stands(event):
        return []
    return [
        other
        for other in on_day(here, day_of(event))
        if other is not event and other is not but and not other["all_day"] and stands(other)
        and other["start"] < event["end"] and event["start"] < other["end"]
    ]  # fmt: skip


def hours(event: State) -> str:
    return "All day" if event["all_day"] else f"{event['start']} – {event['end']}"


def when(event: State) -> str:
    """Return day and hours in words."""
    return f"{short_day(day_of(event))}, {hours(event)}"


def heading(day: date, today: date) -> str:
    """Return a day as the heading of a list."""
    near = {0: "Today, ", 1: "Tomorrow, "}.get((day - today).days, "")
    return near + (short_day(day) if near else day_words(day))


def begins(event: State, here: AppContext) -> datetime:
    """Return the start of an event, by the phone's clock."""
    hour, minute = str(event["start"]).split(":")
    day = day_of(event)
    return here.clock.replace(year=day.year, month=day.month, day=day.day, hour=int(hour), minute=int(minute),
                              second=0, microsecond=0)  # fmt: skip


def remind(here: AppContext, before: datetime, after: datetime) -> None:
    """Post the reminders that are due between two moments."""
    for event in in_order(here.own["events"]):
        if event["reminder"] < 0 or event["all_day"] or not stands(event):
            continue
        start = begins(event, here)
        if before < start - timedelta(minutes=event["reminder"]) <= after:
            where = f", {event['place']}" if event["place"] else ""
            here.notify(str(event["title"]), f"{hours(event)}{where}", "event", key(event))
