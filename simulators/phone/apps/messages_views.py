"""Views of Messages: a thread in a list, a message in a thread, and their times."""

from __future__ import annotations

import re
from datetime import datetime
from typing import Any

from simulators.phone.app import AppContext, State
from simulators.phone.apps.contacts import people
from simulators.phone.kit.views import Column, Field, Icon, Row, Space, Text, View
from simulators.phone.kit.widgets import avatar, icon_button

_LINK = re.compile(
    r"(?<![a-z0-9-])(?<![a-z0-9-]\.)(?:https?://)?[a-z0-9-]++(?:\.[a-z0-9-]+)*\.example(?:/[\w/.?=&%-]*)?",
    re.IGNORECASE,
)


def find_thread(here: AppContext, name: str) -> State | None:
    return next((thread for thread in here.own["threads"] if thread["name"] == name), None)


def number_of(here: AppContext, name: str) -> str:
    """Return a person's number from the phone's address book, empty if it has none."""
    return next((str(p["number"]) for p in people(here.phone) if p["name"] == name), "")


def moment(message: State, here: AppContext) -> datetime:
    """Return the time of a message, by the phone's clock."""
    then = datetime.fromisoformat(message.get("time") or here.phone["clock"])
    return then if then.tzinfo else then.replace(tzinfo=here.clock.tzinfo)


def day(message: State, here: AppContext) -> str:
    then = moment(message, here)
    days = (here.clock.date() - then.date()).days
    return "Today" if days == 0 else "Yesterday" if days == 1 else then.strftime("%A, %d %B").replace(" 0", " ")


def thread_row(thread: State, here: AppContext) -> View:
    """Return a thread in a list: its latest message with the time, and its number of unread messages."""
    last: dict[str, Any] = thread["messages"][-1] if thread["messages"] else {"from": "", "text": ""}
    then, unread = moment(last, here), int(thread.get("unread", 0))
    when = then.strftime("%H:%M") if then.date() == here.clock.date() else then.strftime("%d %b").lstrip("0")
    preview = f"You: {last['text']}" if last["from"] == "me" else str(last["text"])
    name = str(thread["name"])
    title = Text(name, "strong" if unread else "item", lines=1, grow=1, id="name")
    muted = Icon("dnd", 40, desc="Muted") if thread["muted"] else None
    words = Column(
        [
            Row([title, muted, Text(when, "small", "faint", "right")], gap=12),
            Row([Text(preview, "sub", "text" if unread else "faint", lines=1, bold=bool(unread), grow=1, id="preview"),
                 _unread(unread) if unread else None], gap=24),
        ],
        grow=1,
    )  # fmt: skip
    return Row(
        [avatar(name), words], gap=36, pad=(48, 20), id="thread", on=("open", name),
        long=("go", "delete_thread", {"name": name}),
    )  # fmt: skip


def _unread(count: int) -> View:
    number = Text(
        str(count), "small", "on_primary", "center", width=64, height=68, fill="primary", radius=34, bold=True
    )
    number.desc = f"{count} unread"
    return number


def bubble(message: State, long: tuple[Any, ...]) -> View:
    """Return a message. A web address in it is repeated below as a link."""
    mine = message["from"] == "me"
    ink = "on_primary" if mine else "text"
    text = Text(str(message["text"]), "body", ink, id="text")
    time = Text(
        str(message.get("time", ""))[11:16],
        "small",
        "on_primary" if mine else "faint",
        "right" if mine else "left",
        id="time",
    )
    links = [
        Text(matches, "label", ink if mine else "primary", lines=1, id="link", on=("link", matches), pad=(0, 8))
        for matches in dict.fromkeys(address.rstrip(".,") for address in _LINK.findall(str(message["text"])))
    ]
    body = Column(
        [text, *links, time], fill="primary" if mine else "high", radius=52, pad=(44, 20, 44, 12), long=long,
        id="bubble",
    )  # fmt: skip
    body.align = "end" if mine else "start"
    return Row([Space(grow=1), body] if mine else [body], pad=(200, 0, 40, 0) if mine else (40, 0, 200, 0))


def writing(name: str) -> View:
    """Return the field for a new message."""
    field = Field(
        ["drafts", name], hint="Text message", kind="pill", id="message", action="Send", submit=("send", name),
        many=True, grow=1,
    )  # fmt: skip
    send = icon_button("send", "Send", ("send", name), disc="primary", colour="on_primary", id="send")
    return Row([field, send], gap=16, pad=(36, 16, 24, 24), align="bottom")
