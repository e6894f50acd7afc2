"""Train tickets, booked with the browser: the journey that the log shows, the train that the person says."""

from __future__ import annotations

from collections.abc import Sequence

from lab.agents.dates import date_in
from lab.agents.doing import Doing, GiveUp
from lab.agents.goals.journey import Ticket
from lab.agents.habits import majority
from lab.agents.reading import mentions, shown_time, words
from lab.agents.search import search_field
from lab.agents.skills.forecast import search_web
from lab.agents.talk import Work, listed_times
from lab.uitree import Node

_FIND = ("Find trains", "Search trains", "Search", "查询")
_BOOK = ("Book", "Buy", "Book ticket", "预订")
_BOOKED = ("Booked", "Ticket booked", "Your ticket", "预订成功")


def do_ticket(work: Work, goal: Ticket) -> Doing[None]:
    """Books a train, asking for what neither the wish nor the log says; not again where it is booked already."""
    wanted = yield from _settle(work, goal)
    assert wanted.minute is not None
    time = shown_time(wanted.minute)
    if work.witnessed and work.shows(*_BOOKED) and work.shows(time):
        return
    yield from _open_site(work, wanted)
    if _has(work, wanted, time):
        return
    for label, station in (("From", wanted.origin), ("To", wanted.destination)):
        yield from _set_station(work, label, station)
    yield from _set_day(work, wanted.day)
    yield from _press(work, _FIND, "I look for the trains of that day.")
    row = yield from _train(work, time)
    if row is None:
        raise GiveUp(f"no train leaves at {time}")
    yield from work.tap(work.row(row), f"I take the train at {time}.")
    for choice in (wanted.sort, wanted.seat, wanted.coach):
        if choice:
            yield from _choose(work, choice)
    if wanted.payment:
        yield from _pay(work, wanted.payment)
    yield from _press(work, _BOOK, f"Everything is as it should be; I book the train at {time}.")
    if not work.shows(*_BOOKED):
        raise GiveUp("the train was not booked")


def _settle(work: Work, goal: Ticket) -> Doing[Ticket]:
    """The wish, filled up from the journeys of that kind in the log; the train is asked where they differ."""
    booked = [deed.goal for deed in work.deeds if isinstance(deed.goal, Ticket) and _alike(deed.goal, goal)]

    def usual(name: str) -> str:
        said = str(getattr(goal, name))
        return said or str(majority([value for t in booked if (value := getattr(t, name))])[0] or "")

    wanted = Ticket(
        usual("origin"), usual("destination"), goal.day, goal.minute, usual("sort"), usual("seat"), usual("coach"),
        usual("payment"), usual("site"), goal.told,
    )  # fmt: skip
    if not (wanted.origin and wanted.destination):
        raise GiveUp("neither you nor the log says from where to where the train goes")
    if not wanted.day:
        wanted = wanted._replace(day=(yield from work.ask_once("For which day?", "Nobody said which day, so I ask.")))
    if wanted.minute is None:
        wanted = wanted._replace(minute=(yield from _minute(work, wanted, booked)))
    return wanted


def _alike(booked: Ticket, goal: Ticket) -> bool:
    if goal.destination:
        return words(booked.destination) == words(goal.destination)
    return not goal.told or booked.told == goal.told


def _minute(work: Work, wanted: Ticket, booked: Sequence[Ticket]) -> Doing[int]:
    usual, ever = majority([t.minute for t in booked if t.minute is not None])
    if usual is not None:
        return usual
    seen = f" You have taken those at {listed_times(ever)}." if ever else ""
    question = f"Which train to {wanted.destination} on {wanted.day} shall I book?{seen}"
    thought = f"The log shows trains at {listed_times(ever) or 'no time'} and none prevails, so I ask."
    minute = yield from work.choose_time(question, ever, thought)
    if minute is None:
        raise GiveUp("I could not tell which train you want")
    return minute


def _open_site(work: Work, wanted: Ticket) -> Doing[None]:
    yield from search_web(work, wanted.site or "train tickets")
    body = work.body()
    links = [n for n in (body.walk() if body else ()) if n.text and work.row(n).clickable]
    site = next((n for n in links if mentions(n.text, "train") or mentions(n.text, "trains")), None)
    if site is None:
        raise GiveUp("I found no page that sells train tickets")
    yield from work.tap(work.row(site), f"I open {site.text!r}.")


def _has(work: Work, wanted: Ticket, time: str) -> bool:
    """Whether such a ticket is among those that are listed; a cancelled one is none."""
    day = _day_names(work, wanted.day)
    rows = [work.words_of(n) for n in work.nodes() if n.clickable and len(n.children) > 1]
    return any(
        mentions(row, time) and mentions(row, wanted.destination) and any(mentions(row, name) for name in day)
        for row in rows
        if not mentions(row, "cancelled")
    )


def _set_station(work: Work, label: str, station: str) -> Doing[None]:
    title = yield from work.seek(label, exact=True, most=2)
    if title is None:
        raise GiveUp(f"I found no place for where the train goes {label.lower()}")
    if mentions(work.words_of(work.row(title)), station):
        return
    yield from work.tap(work.row(title), f"{label}: {station}.")
    field = search_field(work)
    if field is not None:
        yield from work.fill(field, station, f"I search for {station}.")
    found = next((n for n in work.nodes() if words(n.text) == words(station) and "EditText" not in n.cls), None)
    if found is None:
        raise GiveUp(f"there is no station {station}")
    yield from work.tap(work.row(found), f"I choose {station}.")


def _set_day(work: Work, day: str) -> Doing[None]:
    title = yield from work.seek("Date", "Day", "日期", exact=True, most=2)
    if title is None:
        raise GiveUp("I found no place for the date")
    row = work.row(title)
    names = _day_names(work, day)
    if any(mentions(work.words_of(row), name) for name in names):
        return
    yield from work.tap(row, f"The train is for {day}.")
    found = yield from work.seek(*names, most=6)
    if found is None:
        raise GiveUp(f"no train can be booked for {day}")
    yield from work.tap(work.row(found), f"I choose {found.label}.")


def _day_names(work: Work, day: str) -> list[str]:
    """How a page may call a day, which is written out."""
    wanted = date_in(day, work.now.date()) if work.now is not None else None
    if wanted is None or work.now is None:
        raise GiveUp(f"I could not tell which day {day!r} is")
    near = {0: ["Today"], 1: ["Tomorrow"]}.get((wanted - work.now.date()).days, [])
    return [wanted.strftime("%A, %d %B").replace(" 0", " "), *near]


def _train(work: Work, time: str) -> Doing[Node | None]:
    """The train that leaves then: the time stands first in its row."""
    for _ in range(8):
        rows = [n for n in work.nodes() if n.text.startswith(time)]
        if rows:
            return rows[0]
        if not (yield from work.scroll("down", f"I look for the train at {time}.")):
            return None
    return None


def _choose(work: Work, choice: str) -> Doing[None]:
    """Marks the choice that has this word."""
    node = yield from work.seek(choice, role="check", most=5)
    if node is None:
        raise GiveUp(f"there is no {choice} on this train")
    if not node.checked:
        yield from work.tap(node, f"I choose {node.label}.")


def _pay(work: Work, payment: str) -> Doing[None]:
    title = yield from work.seek("Pay with", "Payment", "支付方式", most=4)
    if title is None or mentions(work.words_of(work.row(title)), payment):
        return
    yield from work.tap(work.row(title), "I look how it can be paid.")
    found = work.find(payment, role="check") or work.find(payment)
    if found is None:
        yield from work.back(f"It cannot be paid with {payment}.")
        return
    yield from work.tap(work.row(found), f"I pay with {payment}, as always.")


def _press(work: Work, names: tuple[str, ...], thought: str) -> Doing[None]:
    button = yield from work.seek(*names, role="tap", most=4)
    if button is None:
        raise GiveUp(f"I found no {names[0]!r}")
    yield from work.tap(button, thought)
