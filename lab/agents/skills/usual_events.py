"""How an event is to be: what was said of it, then what the log shows of its kind, then what the person answers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import date
from typing import NamedTuple

from lab.agents.dates import date_in, long_day, place_in, span_in
from lab.agents.doing import Doing, GiveUp
from lab.agents.goals.planning import Event
from lab.agents.habits import majority
from lab.agents.reading import chosen_time, mentions, told_time
from lab.agents.skills.looking import look_up
from lab.agents.talk import Work, listed, listed_times

_HOUR = 60
_EARLY = 7 * 60
"""Before this hour nobody meets: `at three` is in the afternoon."""


class Plan(NamedTuple):
    """An event with all that a calendar wants to know: its day, and minutes of that day."""

    title: str
    day: date
    start: int
    end: int
    place: str = ""
    guests: tuple[str, ...] = ()


def planned(work: Work, goal: Event) -> Doing[Plan]:
    """An event from what was said, announced and is usual; day and hour are asked where nothing settles them."""
    if work.now is None:
        raise GiveUp("I was not told what day it is")
    today = work.now.date()
    usual = _usual(work, goal)
    if goal.of is not None:
        goal = _announced(goal, str((yield from look_up(work, goal.of))))
    title = goal.title or _most(event.title for event in usual) or goal.about[:1].upper() + goal.about[1:]
    if not title:
        raise GiveUp("I do not know what the event is to be called")
    place = goal.place or (yield from _place(work, title, usual))
    start, day = goal.start, date_in(goal.when, today)
    if start is None:
        start = majority(event.start for event in usual if event.start is not None)[0]
    if start is None or day is None:
        day, start = yield from _ask(work, title, day, start, usual)
    long = goal.lasts or majority(event.lasts for event in usual if event.lasts)[0] or _HOUR
    guests = goal.guests or majority(event.guests for event in usual)[0] or ()
    return Plan(title, day, start, min(start + long, 24 * 60 - 1), place, guests)


def _usual(work: Work, goal: Event) -> list[Event]:
    """The events in the log that are of this kind."""
    wanted = goal.title or goal.about
    events = [deed.goal for deed in work.deeds if isinstance(deed.goal, Event)]
    return [event for event in events if wanted and (mentions(event.title, wanted) or mentions(wanted, event.title))]


def _announced(goal: Event, text: str) -> Event:
    """An event with what is announced of it; what was said outright stands."""
    span = span_in(text)
    if span is None:
        raise GiveUp(f"I do not find when {goal.of.name if goal.of else 'it'} is")
    return goal._replace(
        title=goal.title or (goal.of.name if goal.of is not None else ""),
        when=goal.when if date_in(goal.when, date.min) else text,
        start=span.start if goal.start is None else goal.start,
        end=span.end if goal.start is None else goal.end,
        place=goal.place or place_in(text),
    )


def _place(work: Work, title: str, usual: Sequence[Event]) -> Doing[str]:
    """Where such events always are; asked where they were in several places."""
    settled, places = majority(event.place for event in usual if event.place)
    if settled is not None or not places:
        return settled or ""
    question = f"Where shall {title!r} be? It was in {listed(places)} before."
    return (yield from work.choose(question, places, places[0], "The log shows several places, so I ask."))


def _ask(
    work: Work, title: str, day: date | None, start: int | None, usual: Sequence[Event]
) -> Doing[tuple[date, int]]:
    """The day and the hour from the person, in one question."""
    assert work.now is not None
    today, times = work.now.date(), sorted({event.start for event in usual if event.start is not None})
    what = "On which day" if day is None else "At what time"
    if day is None and start is None:
        what = "On which day and at what time"
    when = f" on {long_day(day)}" if day is not None else ""
    before = f" It was at {listed_times(times)} before." if times and start is None else ""
    question = f"{what}{when} shall {title!r} be?{before}"
    for _ in range(2):
        reply = yield from work.ask_once(question, "Neither the request nor the log settles that, so I ask.")
        day = day or date_in(reply, today)
        start = start if start is not None else hour_in(reply, times)
        if day is not None and start is not None:
            return day, start
        question = f"I did not find {'a day' if day is None else 'a time'} in that. {question}"
    raise GiveUp(f"I could not tell when you want {title!r}")


def hour_in(reply: str, times: Sequence[int] = ()) -> int | None:
    """The time that a reply names for something of the working day."""
    minute = told_time(reply)
    minute = chosen_time(reply, times) if minute is None else minute
    return (
        minute + 12 * 60 if minute is not None and minute < _EARLY and "0" + str(minute // 60) not in reply else minute
    )


def _most(values: Iterable[str]) -> str:
    ranked = majority(value for value in values if value)[1]
    return ranked[0] if ranked else ""
