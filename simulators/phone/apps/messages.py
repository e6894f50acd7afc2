"""Messages.

State, `apps.messages`: `threads`, each `{name, number, unread, messages: [{from, text, time}]}` with the oldest
message first and `from` either the thread's name or `me`; `drafts`, unsent text by thread name; `query` (what is
searched) and `to` (what was typed to find a recipient). People are those of `apps.contacts`.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from random import Random
from typing import Any, ClassVar

from simulators.phone.app import App, Here, State
from simulators.phone.apps.contacts import people
from simulators.phone.apps.contacts_data import PEOPLE
from simulators.phone.apps.messages_data import THREADS
from simulators.phone.views import Button, Column, Dialog, Field, ListView, Page, Row, Screen, Space, Text, View
from simulators.phone.widgets import app_bar, avatar, badge, empty, fab, icon_button, inset, item


class Messages(App):
    id, label, icon, colour, hue = "messages", "Messages", "message", "#2f6fd6", 222
    shapes: ClassVar[dict[str, State]] = {
        "threads": {"name": "", "number": "", "unread": 0, "messages": []},
        "threads.messages": {"from": "me", "text": "", "time": ""},
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
                "messages": [message(name, *line) for line in lines],
            }
            for name, unread, lines in THREADS
        ]
        return {"threads": threads, "drafts": {}, "query": "", "to": ""}

    def screen_home(self, here: Here) -> Screen:
        query = str(here.own["query"]).strip().casefold()
        threads = sorted(here.own["threads"], key=_latest, reverse=True)
        rows: list[View | None] = [_row(thread, here) for thread in threads if query in _words(thread)]
        nothing = empty("message", "No messages", "Start a chat with the button below.")
        if query:
            nothing = empty("search", "Nothing found", "No chat holds these words.")
        field = Field(["query"], hint="Search messages", kind="search", id="search", action="Search")
        top = Column([Text("Messages", "headline", pad=(48, 24, 48, 16)), inset(field, 0, 20)])
        return Page(
            ListView([*(rows or [nothing]), Space(220)], id="threads"),
            bar=top,
            fab=fab("edit", "Start chat", ("go", "compose"), "start_chat"),
        )

    def do_open(self, here: Here, name: str) -> None:
        _read(here, name)
        here.go("thread", name=name)

    def opened(self, here: Here) -> None:
        if "name" in here.args:
            _read(here, here.args["name"])

    def screen_thread(self, here: Here) -> Screen:
        name = str(here.args["name"])
        thread = _thread(here, name)
        rows: list[View | None] = []
        day = ""
        for index, message in enumerate(thread["messages"] if thread else []):
            if _day(message, here) != day:
                day = _day(message, here)
                rows.append(Text(day, "small", "faint", "center", pad=(0, 12)))
            rows.append(_bubble(message, ("message_menu", name, index)))
        more = icon_button("delete", "Delete chat", ("go", "delete_thread", {"name": name}))
        number = str(thread["number"]) if thread else _number(here, name)
        return Page(
            ListView([*rows, Space(16)], id="messages", gap=16, end=True),
            bar=app_bar(name, more, sub=number),
            foot=_writing(name),
        )

    def do_send(self, here: Here, name: str) -> None:
        text = str(here.own["drafts"].get(name, "")).strip()
        if not text:
            return
        thread = _thread(here, name)
        if thread is None:
            thread = {"name": name, "number": _number(here, name), "unread": 0, "messages": []}
            here.own["threads"].append(thread)
        thread["messages"].append({"from": "me", "text": text, "time": here.clock.isoformat()})
        here.own["drafts"].pop(name)
        for key in [k for k in here.phone["scroll"] if k.startswith("messages/") and k.endswith("/thread/messages")]:
            del here.phone["scroll"][key]

    def do_message_menu(self, here: Here, name: str, index: int) -> None:
        here.go("message_menu", name=name, index=index)

    def screen_message_menu(self, here: Here) -> Screen:
        thread, index = _thread(here, here.args["name"]), here.args["index"]
        text = thread["messages"][index]["text"] if thread and index < len(thread["messages"]) else ""
        remove = Button("Delete", "danger", on=("delete_message", here.args["name"], index), id="delete")
        return Dialog("Delete message?", Text(str(text), "body", "faint", lines=4),
                      [Button("Cancel", "text", on=("back",)), remove])  # fmt: skip

    def do_delete_message(self, here: Here, name: str, index: int) -> None:
        thread = _thread(here, name)
        here.back()
        if thread is not None and index < len(thread["messages"]):
            del thread["messages"][index]
            here.toast("Message deleted")

    def screen_delete_thread(self, here: Here) -> Screen:
        name = str(here.args["name"])
        return Dialog(
            "Delete this chat?",
            Text(f"All messages with {name} are deleted from this phone.", "body", "faint"),
            [
                Button("Cancel", "text", on=("back",)),
                Button("Delete", "danger", on=("delete_thread", name), id="delete"),
            ],
        )

    def do_delete_thread(self, here: Here, name: str) -> None:
        here.own["threads"] = [thread for thread in here.own["threads"] if thread["name"] != name]
        here.own["drafts"].pop(name, None)
        here.back(len(here.phone["nav"]["stacks"][self.id]) - 1)
        here.toast("Chat deleted")

    def screen_compose(self, here: Here) -> Screen:
        wanted = str(here.own["to"]).strip().casefold()
        rows: list[View | None] = [
            item(
                person["name"],
                person["number"],
                lead=avatar(person["name"]),
                on=("choose", person["name"]),
                id="contact",
            )
            for person in sorted(people(here.phone), key=lambda p: str(p["name"]))
            if wanted in f"{person['name']} {person['number']}".casefold()
        ]
        if not rows and wanted:
            typed = str(here.own["to"]).strip()
            rows = [item(f"Send to {typed}", "Not in your contacts", lead=badge("person"), on=("choose", typed))]
        field = Field(["to"], hint="To: name or number", kind="search", id="to", action="Next")
        bar = Column([app_bar("New chat"), inset(field, 0, 20)])
        return Page(ListView([*rows, Space(40)], id="contacts"), bar=bar)

    def do_choose(self, here: Here, name: str) -> None:
        here.own["to"] = ""
        here.back()
        self.do_open(here, name)
        here.focus("message")


def _thread(here: Here, name: str) -> State | None:
    return next((thread for thread in here.own["threads"] if thread["name"] == name), None)


def _number(here: Here, name: str) -> str:
    return next((str(p["number"]) for p in people(here.phone) if p["name"] == name), "")


def _read(here: Here, name: str) -> None:
    thread = _thread(here, name)
    if thread is not None:
        thread["unread"] = 0


def _latest(thread: State) -> str:
    return str(thread["messages"][-1].get("time", "")) if thread["messages"] else ""


def _words(thread: State) -> str:
    return " ".join([str(thread["name"]), *(str(m["text"]) for m in thread["messages"])]).casefold()


def _time(message: State, here: Here) -> datetime:
    then = datetime.fromisoformat(message.get("time") or here.phone["clock"])
    return then if then.tzinfo else then.replace(tzinfo=here.clock.tzinfo)


def _day(message: State, here: Here) -> str:
    then = _time(message, here)
    days = (here.clock.date() - then.date()).days
    return "Today" if days == 0 else "Yesterday" if days == 1 else then.strftime("%A, %d %B").replace(" 0", " ")


def _row(thread: State, here: Here) -> View:
    last: dict[str, Any] = thread["messages"][-1] if thread["messages"] else {"from": "", "text": ""}
    then, unread = _time(last, here), int(thread.get("unread", 0))
    when = then.strftime("%H:%M") if then.date() == here.clock.date() else then.strftime("%d %b").lstrip("0")
    preview = f"You: {last['text']}" if last["from"] == "me" else str(last["text"])
    name = str(thread["name"])
    title = Text(name, "strong" if unread else "item", lines=1, grow=1, id="name")
    words = Column(
        [
            Row([title, Text(when, "small", "faint", "right")]),
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


def _bubble(message: State, long: tuple[Any, ...]) -> View:
    mine = message["from"] == "me"
    text = Text(str(message["text"]), "body", "on_primary" if mine else "text", id="text")
    time = Text(
        str(message.get("time", ""))[11:16],
        "small",
        "on_primary" if mine else "faint",
        "right" if mine else "left",
        id="time",
    )
    body = Column(
        [text, time], fill="primary" if mine else "high", radius=52, pad=(44, 20, 44, 12), long=long, id="bubble"
    )
    body.align = "end" if mine else "start"
    return Row([Space(grow=1), body] if mine else [body], pad=(200, 0, 40, 0) if mine else (40, 0, 200, 0))


def _writing(name: str) -> View:
    field = Field(
        ["drafts", name], hint="Text message", kind="pill", id="message", action="Send", submit=("send", name),
        many=True, grow=1,
    )  # fmt: skip
    send = icon_button("send", "Send", ("send", name), disc="primary", colour="on_primary", id="send")
    return Row([field, send], gap=16, pad=(36, 16, 24, 24), align="bottom")
