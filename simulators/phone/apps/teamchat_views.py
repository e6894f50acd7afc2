"""Views that Rookery's screens share: a message, its reactions, a channel in a list, the field to write in."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from simulators.phone.app import State
from simulators.phone.apps.teamchat_data import REACTIONS, MessagePlace, mentions, moment, short
from simulators.phone.kit.views import Act, Chip, Column, Field, Icon, Line, ListView, Row, Text, View
from simulators.phone.kit.widgets import avatar, icon_button, item, tabs

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
