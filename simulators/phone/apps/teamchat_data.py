"""The first content of Rookery, all invented, and the positions of messages."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import NamedTuple

from simulators.phone.app import State

REACTIONS = (("thumb", "Thumbs up"), ("heart", "Heart"), ("smile", "Smile"), ("check", "Done"), ("eyes", "Looking"))
"""Reactions: name in the state, and label."""

STATUSES = (("Active", "On and reachable"), ("Away", "Not at the desk"), ("In a meeting", "Answers later"),
            ("On the move", "Travelling"), ("Do not disturb", "No notifications"))  # fmt: skip

_LAB = ("Noor Haddad", "陈伟", "Priya Raman", "Dr. Okafor", "林小雨")

PEOPLE = (
    ("Noor Haddad", "X-ray bench", "Active"), ("陈伟", "Runs the laboratory", "In a meeting"),
    ("Priya Raman", "Polymer synthesis", "Away"), ("Dr. Okafor", "Head of the group", "Do not disturb"),
    ("林小雨", "Student", "Active"), ("Jonas Weil", "Climbs on Saturdays", "Away"),
    ("Alba Ferrer", "Route setter", "Active"),
)  # fmt: skip

_Line = tuple[str, int, str, str]
CHANNELS: tuple[tuple[str, str, str, bool, tuple[str, ...], int, tuple[_Line, ...]], ...] = (
    # workspace, name, topic, private, members, unread, lines of (from, days ago, time, text)
    ("Soft Matter", "lab-general", "What everyone on level 4 should know", False, _LAB, 1, (
        ("陈伟", 3, "09:02", "The nitrogen line is back. Please close the valve on the left after use."),
        ("Dr. Okafor", 2, "16:20", "Group meeting on Friday at 15:00, second floor. @everyone please bring one slide."),
        ("me", 2, "16:31", "Mine is about the cracked films."),
        ("林小雨", 0, "08:12", "Good morning! The label printer is out of tape again."),
    )),
    ("Soft Matter", "xray-bench", "Slots, samples, alignment", False, ("Noor Haddad", "陈伟", "Priya Raman"), 2, (
        ("Noor Haddad", 1, "14:00", "Alignment is done, the beam sits at 0.2 mm."),
        ("Priya Raman", 1, "14:09", "Thank you! I go on Tuesday."),
        ("Noor Haddad", 0, "08:02", "@Ines Varga the films 3 and 7 are still in the holder. Shall I take them out?"),
        ("Priya Raman", 0, "08:15", "I can do it, I am there at nine."),
    )),
    ("Soft Matter", "咖啡角", "咖啡、茶和点心", False, ("陈伟", "林小雨", "Noor Haddad"), 0, (
        ("林小雨", 4, "10:02", "新的咖啡豆到了，在左边的柜子里。"),
        ("me", 4, "10:05", "太好了，谢谢小雨！"),
        ("陈伟", 1, "15:44", "谁的杯子？蓝色的，上面有一只猫。"),
    )),
    ("Soft Matter", "safety", "Drills and rules", True, ("陈伟", "Dr. Okafor"), 0, (
        ("陈伟", 6, "11:00", "The fire drill is on the last Thursday of the month at 10:30."),
    )),
    ("Rope Team", "saturday-crew", "Who climbs, when, with what", False, ("Jonas Weil", "Alba Ferrer"), 0, (
        ("Jonas Weil", 3, "19:30", "Two slots at nine on Saturday, hall on Old Foundry Lane."),
        ("me", 3, "19:41", "I am in."),
        ("Alba Ferrer", 2, "12:10", "New blue routes in the cave, soft for the grade."),
    )),
)  # fmt: skip
UNJOINED = (("Soft Matter", "book-swap", "Read it, leave it on the sill", ("Priya Raman", "林小雨")),)
DIRECTS: tuple[tuple[str, str, int, tuple[_Line, ...]], ...] = (
    ("Soft Matter", "Noor Haddad", 0, (
        ("Noor Haddad", 1, "17:21", "Can you read my abstract tonight?"),
        ("me", 1, "17:30", "Send it over."),
    )),
    ("Soft Matter", "陈伟", 1, (("陈伟", 0, "08:31", "组会的幻灯片请今天发给我。"),)),
    ("Rope Team", "Jonas Weil", 0, (("Jonas Weil", 5, "20:00", "Did you find my chalk bag?"),)),
)  # fmt: skip


def first_channels(clock: datetime) -> list[State]:
    """Return the first channels and direct conversations, messages oldest first."""

    def said(lines: tuple[_Line, ...]) -> list[State]:
        out = []
        for who, days, time, text in lines:
            hour, minute = int(time[:2]), int(time[3:])
            then = (clock - timedelta(days=days)).replace(hour=hour, minute=minute, second=0, microsecond=0)
            out.append({"from": who, "text": text, "time": then.isoformat(), "pinned": False, "reactions": [],
                        "replies": []})  # fmt: skip
        return out

    blank = {"topic": "", "private": False, "muted": False, "unread": 0, "joined": True, "members": []}
    out = []
    for space, name, topic, private, members, unread, lines in CHANNELS:
        entry = {"workspace": space, "kind": "channel", "name": name, "topic": topic, "private": private}
        out.append(blank | entry | {"members": list(members), "unread": unread, "messages": said(lines)})
    for space, name, topic, members in UNJOINED:
        entry = {"workspace": space, "kind": "channel", "name": name, "topic": topic, "joined": False}
        out.append(blank | entry | {"members": list(members), "messages": []})
    for space, name, unread, lines in DIRECTS:
        entry = {"workspace": space, "kind": "direct", "name": name, "unread": unread, "members": [name]}
        out.append(blank | entry | {"messages": said(lines)})
    return out


class MessagePlace(NamedTuple):
    """A message and its position: channel, number in the channel, number of the reply or -1."""

    channel: State
    number: int
    reply: int
    message: State


def places(channel: State) -> Iterator[MessagePlace]:
    """Yield all messages of a channel and their replies, thread by thread."""
    for index, message in enumerate(channel["messages"]):
        yield MessagePlace(channel, index, -1, message)
        for number, reply in enumerate(message["replies"]):
            yield MessagePlace(channel, index, number, reply)


def mentions(message: State, me: str) -> bool:
    """Return True if another person's message mentions the owner or everyone."""
    words = str(message["text"]).casefold()
    return message["from"] != "me" and (f"@{me}".casefold() in words or "@everyone" in words)


def moment(message: State, clock: datetime) -> datetime:
    """Return the sending time of a message, with an offset."""
    then = datetime.fromisoformat(message["time"]) if message["time"] else clock
    return then if then.tzinfo else then.replace(tzinfo=clock.tzinfo)


def day(then: datetime, clock: datetime) -> str:
    """Return the day of a time in words."""
    days = (clock.date() - then.date()).days
    return "Today" if days == 0 else "Yesterday" if days == 1 else then.strftime("%A, %d %B").replace(" 0", " ")


def short(then: datetime, clock: datetime) -> str:
    """Return a time for a list: the hour if today, else the day."""
    return then.strftime("%H:%M") if then.date() == clock.date() else then.strftime("%d %b").lstrip("0")
