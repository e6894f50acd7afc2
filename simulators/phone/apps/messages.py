"""Messages.

State, `apps.messages`: `threads`, each `{name, number, unread, muted, spam, messages: [{from, text, time}]}` with the
oldest message first and `from` either the thread's name or `me`; `drafts`, unsent text by thread name; `query` (what is
searched) and `to` (what was typed to find a recipient). `blocked` and `reports`, each `{name, number, time}`, say who
was blocked and who was reported; `report` is the checkbox of the open question. People are those of `apps.contacts`.
How a scam message is staged: see `messages_spam`.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from random import Random
from typing import ClassVar

from simulators.phone.app import AppContext, State
from simulators.phone.apps.contacts import people
from simulators.phone.apps.contacts_data import PEOPLE
from simulators.phone.apps.messages_data import THREADS
from simulators.phone.apps.messages_spam import SENDER, Spam
from simulators.phone.apps.messages_thread import Threads
from simulators.phone.apps.messages_views import thread_row
from simulators.phone.views import Column, Field, ListView, Page, Row, Screen, Sheet, Space, Text, View
from simulators.phone.widgets import app_bar, avatar, badge, empty, fab, icon_button, inset, item


class Messages(Threads, Spam):
    id, label, icon, colour, hue = "messages", "Messages", "message", "#2f6fd6", 222
    shapes: ClassVar[dict[str, State]] = {
        "threads": {"name": "", "number": "", "unread": 0, "muted": False, "spam": False, "messages": []},
        "threads.messages": {"from": "me", "text": "", "time": ""},
        "blocked": SENDER,
        "reports": SENDER,
    }

    def first_state(self, rng: Random, clock: datetime) -> State:
        def message(name: str, mine: bool, days: int, time: str, text: str) -> State:
            hour, minute = int(time[:2]), int(time[3:])
            then = (clock - timedelta(days=days)).replace(hour=hour, minute=minute, second=0, microsecond=0)
            return {"from": "me" if mine else name, "text": text, "time": then.isoformat()}

        numbers = {name: number for name, number, *_ in PEOPLE}
        threads = [
            {
                "name": name,
                "number": numbers[name],
                "unread": unread,
                "muted": False,
                "spam": False,
                "messages": [message(name, *line) for line in lines],
            }
            for name, unread, lines in THREADS
        ]
        return {"threads": threads, "drafts": {}, "query": "", "to": "", "blocked": [], "reports": [], "report": True}

    def screen_home(self, here: AppContext) -> Screen:
        query = str(here.own["query"]).strip().casefold()
        threads = sorted(self.wanted(here), key=_latest, reverse=True)
        rows: list[View | None] = [thread_row(thread, here) for thread in threads if query in _words(thread)]
        nothing = empty("message", "No messages", "Start a chat with the button below.")
        if query:
            nothing = empty("search", "Nothing found", "No chat holds these words.")
        field = Field(["query"], hint="Search messages", kind="search", id="search", action="Search")
        more = icon_button("more", "More options", ("go", "menu"), id="more")
        head = Row([Text("Messages", "headline", grow=1, lines=1), more], pad=(48, 16, 24, 8))
        top = Column([head, inset(field, 0, 20)])
        return Page(
            ListView([*(rows or [nothing]), Space(220)], id="threads"),
            bar=top,
            fab=fab("edit", "Start chat", ("go", "compose"), "start_chat"),
        )

    def screen_menu(self, here: AppContext) -> Screen:
        hidden_count = len(here.own["threads"]) - len(self.wanted(here))
        return Sheet(
            Column([
                item("Mark all as read", lead=badge("check"), on=("read_all",), id="read_all"),
                item("Spam and blocked", f"{hidden_count} {'chat' if hidden_count == 1 else 'chats'}",
                     lead=badge("block"), on=("spam",), id="spam"),
            ])
        )  # fmt: skip

    def do_read_all(self, here: AppContext) -> None:
        for thread in here.own["threads"]:
            thread["unread"] = 0
        here.back()
        here.toast("All chats are read")

    def screen_compose(self, here: AppContext) -> Screen:
        query = str(here.own["to"]).strip().casefold()
        rows: list[View | None] = [
            item(
                person["name"],
                person["number"],
                lead=avatar(person["name"]),
                on=("choose", person["name"]),
                id="contact",
            )
            for person in sorted(people(here.phone), key=lambda p: str(p["name"]))
            if query in f"{person['name']} {person['number']}".casefold()
        ]
        if not rows and query:
            recipient = str(here.own["to"]).strip()
            rows = [
                item(f"Send to {recipient}", "Not in your contacts", lead=badge("person"), on=("choose", recipient))
            ]
        field = Field(["to"], hint="To: name or number", kind="search", id="to", action="Next")
        bar = Column([app_bar("New chat"), inset(field, 0, 20)])
        return Page(ListView([*rows, Space(40)], id="contacts"), bar=bar)

    def do_choose(self, here: AppContext, name: str) -> None:
        here.own["to"] = ""
        here.back()
        self.do_open(here, name)
        here.focus("message")


def _latest(thread: State) -> str:
    return str(thread["messages"][-1].get("time", "")) if thread["messages"] else ""


def _words(thread: State) -> str:
    return " ".join([str(thread["name"]), *(str(m["text"]) for m in thread["messages"])]).casefold()
