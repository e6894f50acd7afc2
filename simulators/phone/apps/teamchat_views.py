"""Views that Rookery's screens share: a message, its reactions, a channel in a list, the field to write in."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from typing import NamedTuple

from simulators.phone.app import State, moment
from simulators.phone.kit.views import Act, Chip, Column, Field, Icon, Line, ListView, Row, Text, View
from simulators.phone.kit.widgets import avatar, icon_button, item, tabs

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

    def messages_of(lines: tuple[_Line, ...]) -> list[State]:
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
        out.append(blank | entry | {"members": list(members), "unread": unread, "messages": messages_of(lines)})
    for space, name, topic, members in UNJOINED:
        entry = {"workspace": space, "kind": "channel", "name": name, "topic": topic, "joined": False}
        out.append(blank | entry | {"members": list(members), "messages": []})
    for space, name, unread, lines in DIRECTS:
        entry = {"workspace": space, "kind": "direct", "name": name, "unread": unread, "members": [name]}
        out.append(blank | entry | {"messages": messages_of(lines)})
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


def day(then: datetime, clock: datetime) -> str:
    """Return the day of a time in words."""
    days = (clock.date() - then.date()).days
    return "Today" if days == 0 else "Yesterday" if days == 1 else then.strftime("%A, %d %B").replace(" 0", " ")


def short(then: datetime, clock: datetime) -> str:
    """Return a time for a list: the hour if today, else the day."""
    return then.strftime("%H:%M") if then.date() == clock.date() else then.strftime("%d %b").lstrip("0")


_SIGNS = {
    "Active": "check",
    "Away": "clock",
    "In a meeting": "calendar",
    "On the move": "bike",
    "Do not disturb": "dnd",
}


def tab_bar(current: str) -> View:
    entries = (("Home", "home"), ("Mentions", "bell"), ("You", "person"))
    return tabs([(label, icon, ("tab", label)) for label, icon in entries], current)


def status_icon(kind: str) -> str:
    """Return the icon of a status."""
    return _SIGNS.get(kind, "person")


def channel_row(channel: State, calls: bool) -> View:
    """Return a channel in a list: its sign, name, unread count, and mute sign."""
    unread = int(channel["unread"])
    sign = Icon("lock" if channel["private"] else "hash", 56, "text" if unread else "faint", width=72)
    name = Text(str(channel["name"]), "strong" if unread else "item", lines=1, grow=1, id="name")
    muted = Icon("muted", 52, desc="Muted") if channel["muted"] else None
    return Row(
        [sign, name, muted, unread_mark(unread, calls)], gap=24, pad=(48, 24), id="channel",
        on=("open", channel["name"]), long=("go", "details", {"channel": channel["name"]}),
    )  # fmt: skip


def direct_row(channel: State, status: str, me: str, clock: datetime) -> View:
    """Return a direct conversation in a list."""
    last = channel["messages"][-1] if channel["messages"] else None
    words = "No messages yet" if last is None else f"{'You: ' if last['from'] == 'me' else ''}{last['text']}"
    when = short(moment(last, clock), clock) if last else ""
    unread, name = int(channel["unread"]), str(channel["name"])
    title = Text(name, "strong" if unread else "item", lines=1, grow=1, id="name")
    sign = Icon(status_icon(status), 48, desc=status) if status else None
    sub = Text(words, "sub", "text" if unread else "faint", lines=1, grow=1, id="preview")
    body = Column(
        [Row([title, sign, Text(when, "small", "faint", "right", lines=1)], gap=16),
         Row([sub, unread_mark(unread, bool(unread))], gap=24)], grow=1,
    )  # fmt: skip
    return Row([avatar(name), body], gap=32, pad=(48, 16), on=("open", name), id="direct")


def unread_mark(count: int, calls: bool) -> View | None:
    """Return the number of unread messages, filled if one mentions the owner, or None if there are none."""
    if not count:
        return None
    mark = Text(str(count), "small", "on_primary" if calls else "on_soft", "center", width=76, height=68, bold=True)
    mark.fill, mark.radius = "primary" if calls else "soft", 34
    mark.desc = f"{count} unread, mentions you" if calls else f"{count} unread"
    return mark


def message_view(place: MessagePlace, me: str, clock: datetime, *, on: Act | None, long: Act) -> View:
    """Return a message with its author, time, reactions and number of replies."""
    message = place.message
    who = me if message["from"] == "me" else str(message["from"])
    time = moment(message, clock).strftime("%H:%M")
    pin = Icon("pin", 44, "primary", desc="Pinned") if message.get("pinned") else None
    head = Row(
        [Text(who, "strong", lines=1, id="author"), Text(time, "small", "faint", lines=1, id="time"), pin], gap=20
    )
    words: list[View | None] = [head, Text(str(message["text"]), "body", id="text")]
    if message["reactions"]:
        words.append(_reactions(place))
    count = len(message.get("replies", ()))
    if count and on is not None:
        label = "1 reply" if count == 1 else f"{count} replies"
        words.append(Text(label, "label", "primary", lines=1, on=on, id="replies"))
    row = Row([avatar(who, 96), Column(words, grow=1)], gap=28, pad=(36, 12), align="top", on=on, long=long)
    row.id, row.fill = "message", "low" if mentions(message, me) else ""
    return row


def _reactions(place: MessagePlace) -> View:
    chips: list[View | None] = []
    for icon, words in REACTIONS:
        by: list[str] = next((r["by"] for r in place.message["reactions"] if r["name"] == icon), [])
        if by:
            chip = Chip(str(len(by)), icon, selected="me" in by, id="reaction", desc=f"{words}, {len(by)}")
            chip.on = ("react", place.channel["name"], place.number, place.reply, icon)
            chips.append(chip)
    return ListView(chips, across=True, gap=16, id="reactions")


def divider(words: str, colour: str = "faint") -> View:
    """Return a line of small words between messages."""
    return Text(words, "small", colour, "center", lines=1, pad=(0, 8))


def writing(key: str, hint: str, send: Act, callable_people: Sequence[str], draft: str) -> View:
    """Return the field to write in, below the people that an unfinished `@` may mean."""
    field = Field(["drafts", key], hint=hint, kind="pill", id="message", action="Send", submit=send, many=True, grow=1)
    button = icon_button("send", "Send", send, disc="primary", colour="on_primary", id="send")
    rows: list[View | None] = [
        item(f"@{name}", on=("call", key, name), id="mention") for name in _matching_names(draft, callable_people)
    ]
    return Column([Line(), *rows, Row([field, button], gap=16, pad=(36, 16, 24, 24), align="bottom")], fill="surface")


def _matching_names(draft: str, people: Sequence[str]) -> list[str]:
    before, sign, prefix = draft.rpartition("@")
    if not sign or (before and not before[-1].isspace()):
        return []
    return [name for name in people if name.casefold().startswith(prefix.casefold()) and name != prefix][:3]
