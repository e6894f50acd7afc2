"""What a person usually does, counted in the exposed log: the same thing, often enough, at such a time and place."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from typing import NamedTuple, TypeVar

from lab.agents.goals import Alarm, Goal, Order, Phase, Switch, goals_in
from lab.agents.goals.buying import Buy
from lab.agents.purchases import merged_buys
from lab.agents.reading import Entry, mentions, words

T = TypeVar("T")
_DAY = 24 * 60
_NEAR = 30
"""Minutes around its usual time in which a routine fits."""
_RECENT = timedelta(days=21)
_SHARE = 0.75
"""The share of cases above which something is settled and need not be asked."""


class Deed(NamedTuple):
    """One thing done, and when, where and in which words."""

    goal: Goal
    entry: Entry


class Usual(NamedTuple):
    """An order as it is usually made, `times` of the `of` that fit; `texts` are the log's words of each time."""

    order: Order
    times: int
    of: int
    texts: tuple[str, ...]


class Open(NamedTuple):
    """A value that the log leaves open: the times of day it has had, the most frequent first."""

    minutes: tuple[int, ...]


class Routine(NamedTuple):
    """What is usually done together: settled goals, and the alarm time where it is not."""

    goals: tuple[Goal, ...]
    alarm: Open | None
    days: int
    minute: int


def deeds(entries: Iterable[Entry]) -> list[Deed]:
    """Everything done in the log, one by one."""
    return [Deed(goal, entry) for entry in entries for goal in goals_in(entry.text)]


def within(minute: int, start: int, end: int) -> bool:
    """Whether a minute of the day lies in a span that may pass midnight."""
    return start <= minute < end or start <= minute + _DAY < end


def apart(one: int, other: int) -> int:
    """Minutes between two times of day, the short way round the clock."""
    return min((one - other) % _DAY, (other - one) % _DAY)


def usual_order(done: Sequence[Deed], wanted: str, phase: Phase | None, now: datetime | None) -> Usual | None:
    """The order that is made most often: of what is wanted by name, else at that time of day; None where none is."""
    orders = [(deed.goal, deed.entry) for deed in done if isinstance(deed.goal, Order)]
    if wanted:
        named = [(o, e) for o, e in orders if mentions(o.what, wanted) or mentions(wanted, o.what)]
        orders = named or [(o, e) for o, e in orders if mentions(e.text, wanted)]
    elif phase is not None:
        orders = [(o, e) for o, e in orders if within(e.minute, phase.start, phase.end)]
    elif now is not None:
        minute = now.hour * 60 + now.minute
        orders = [(o, e) for o, e in orders if apart(e.minute, minute) <= 90]
    counts = Counter(o.what.casefold() for o, _ in orders)
    if not counts:
        return None
    what, times = counts.most_common(1)[0]
    if times < 2 and not wanted:
        return None
    same = [(o, e) for o, e in orders if o.what.casefold() == what]
    return Usual(merged([o for o, _ in same]), times, len(orders), tuple(particulars(o, e) for o, e in same))


def particulars(order: Order, entry: Entry) -> str:
    """The words that say how an order was made: those given beside it, else the whole line."""
    return ", ".join(order.traits) or entry.text


def merged(orders: Sequence[Order]) -> Order:
    """One order out of several of the same thing: what most of them say, and the traits that all but few share."""
    traits = Counter(trait for order in orders for trait in dict.fromkeys(order.traits))
    settled = tuple(trait for trait, n in traits.items() if n >= _SHARE * len(orders))
    return Order(
        orders[-1].what,
        _most(order.source for order in orders),
        _most((order.remark for order in orders), least=0.5),
        settled,
        _most(order.app for order in orders),
        _most((order.to for order in orders), least=0.5),
        _most((order.payment for order in orders), least=0.5),
    )


def _most(values: Iterable[str], least: float = 0.0) -> str:
    every = list(values)
    counts = Counter(value for value in every if value)
    if not counts:
        return ""
    value, n = counts.most_common(1)[0]
    return value if n >= least * len(every) else ""


def majority(values: Iterable[T]) -> tuple[T | None, list[T]]:
    """The value that prevails among those the log shows (or None), and all of them, the most frequent first."""
    counts = Counter(values)
    ranked = [value for value, _ in counts.most_common()]
    return (ranked[0] if ranked and counts[ranked[0]] > _SHARE * counts.total() else None), ranked


def settled(texts: Sequence[str], choices: Sequence[str]) -> tuple[str | None, list[str]]:
    """Which of some choices the log's words always name (or None), and all that they name, most frequent first."""
    found: Counter[str] = Counter()
    for text in texts:
        parts = [words(part) for part in text.split(",")]
        exact = [choice for choice in choices if words(choice) in parts]
        named = exact or [choice for choice in choices if mentions(text, choice)]
        if named:
            found[max(named, key=lambda choice: len(words(choice)))] += 1
    ranked = [choice for choice, _ in found.most_common()]
    if not ranked:
        return None, []
    return (ranked[0] if found[ranked[0]] > _SHARE * found.total() else None), ranked


def routine_of(done: Sequence[Deed], phase: Phase) -> Routine | None:
    """What is done on the phone itself at a time of day, on half of the days on which anything of it is."""
    here = [d for d in done if isinstance(d.goal, Switch | Alarm) and within(d.entry.minute, phase.start, phase.end)]
    return _together(here) if here else None


def _together(here: Sequence[Deed]) -> Routine | None:
    days = {_night(d.entry.time) for d in here}
    counts = Counter((d.goal, _night(d.entry.time)) for d in here if not isinstance(d.goal, Alarm))
    per_goal = Counter(goal.key for goal, _ in counts)
    goals: list[Goal] = []
    for deed in here:
        key = deed.goal.key
        if per_goal[key] * 2 >= len(days) and per_goal[key] > 1 and key not in [g.key for g in goals]:
            goals.append(deed.goal)
    alarms = [d.goal for d in here if isinstance(d.goal, Alarm) and d.goal.minute is not None]
    times = Counter(alarm.minute for alarm in alarms if alarm.minute is not None)
    open_ = None
    if len(alarms) * 2 >= len(days) and len(alarms) > 1:
        minute, n = times.most_common(1)[0]
        if n > _SHARE * len(alarms):
            goals.append(next(alarm for alarm in reversed(alarms) if alarm.minute == minute))
        else:
            open_ = Open(tuple(m for m, n in times.most_common() if n > 1) or tuple(times))
    if not goals and open_ is None:
        return None
    return Routine(tuple(goals), open_, len(days), _middle([d.entry.minute for d in here]))


def alarm_times(done: Sequence[Deed]) -> tuple[int, ...]:
    """The times of day that alarms were set for, the most frequent first; only that one where it prevails."""
    times = Counter(d.goal.minute for d in done if isinstance(d.goal, Alarm) and d.goal.minute is not None)
    ranked = tuple(minute for minute, _ in times.most_common())
    return ranked[:1] if ranked and times[ranked[0]] > _SHARE * times.total() else ranked


def _night(time: datetime) -> object:
    """The day an evening belongs to: hours after midnight count to the day before."""
    return (time - timedelta(hours=4)).date()


def _middle(minutes: Sequence[int]) -> int:
    return sorted(minutes)[len(minutes) // 2]


class Habit(NamedTuple):
    """Something that is done again and again: how often, on how many of the days it could have been, and when."""

    goals: tuple[Goal, ...]
    texts: tuple[str, ...]
    days: int
    of: int
    minute: int
    alarm: Open | None = None


def habits_now(done: Sequence[Deed], entries: Sequence[Entry], now: datetime, place: str) -> list[Habit]:
    """The habits that fit this weekday, hour and place, and are not yet done today; the steadiest first.

    A habit was done on at least three days, and on two of five of the days (workdays, or days off) that the log
    spans or nearly always on this day of the week; most lately within three weeks, within half an hour of now, at this
    very place.
    """
    here = [d for d in done if _fits(d.entry, now, place) and d.goal.definite]
    groups: dict[object, list[Deed]] = {}
    for deed in here:
        kind = "device" if isinstance(deed.goal, Switch | Alarm) else deed.goal.key
        groups.setdefault(kind, []).append(deed)
    habits = [habit for group in groups.values() if (habit := _habit(group, entries, now)) is not None]
    return sorted(habits, key=lambda habit: -habit.days / max(1, habit.of))


def _fits(entry: Entry, now: datetime, place: str) -> bool:
    """Whether an entry lies at this place, hour and sort of day, before now and not too long ago."""
    if not (mentions(entry.place, place) or mentions(place, entry.place)):
        return False
    off = entry.time.weekday() >= 5
    return (
        off == (now.weekday() >= 5)
        and apart(entry.minute, now.hour * 60 + now.minute) <= _NEAR
        and timedelta(0) <= now - entry.time <= 3 * _RECENT
    )


def _habit(group: Sequence[Deed], entries: Sequence[Entry], now: datetime) -> Habit | None:
    days = {d.entry.time.date() for d in group}
    off = now.weekday() >= 5
    span = {e.time.date() for e in entries if (e.time.weekday() >= 5) == off and e.time < now}
    latest = max(d.entry.time for d in group)
    if len(days) < 0.4 * len(span):
        days, span = ({day for day in some if day.weekday() == now.weekday()} for some in (days, span))
        if len(days) < _SHARE * len(span):
            return None
    if len(days) < 3 or now.date() in days or now - latest > _RECENT:
        return None
    minute = _middle([d.entry.minute for d in group])
    texts = tuple(particulars(d.goal, d.entry) if isinstance(d.goal, Order) else d.entry.text for d in group)
    first = group[0].goal
    if isinstance(first, Switch | Alarm):
        routine = _together(group)
        return Habit(routine.goals, texts, len(days), len(span), minute, routine.alarm) if routine else None
    return Habit((_one(first, group),), texts, len(days), len(span), minute)


def _one(first: Goal, group: Sequence[Deed]) -> Goal:
    """What is nearly always the same in each case of a habit."""
    if isinstance(first, Order):
        return merged([d.goal for d in group if isinstance(d.goal, Order)])
    if isinstance(first, Buy):
        return merged_buys([d.goal for d in group if isinstance(d.goal, Buy)])
    return first
