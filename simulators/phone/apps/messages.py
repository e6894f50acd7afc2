"""Messages: threads, writing to people, and the blocking of spam.

State, `apps.messages`:
- `threads`, each `{name, number, unread, muted, spam, messages: [{from, text, time}]}`, oldest message first, with
  `from` either the thread's name or `me`. People are those of `apps.contacts`.
- `drafts`: unsent text by thread name. `query`: the typed search. `to`: the typed recipient.
- `blocked` and `reports`, each `{name, number, time}`: blocked and reported senders. `report`: the checkbox of the open
  dialog.

The first threads are invented. A line of them is a name, the number of unread messages, and lines of (mine, days ago,
time, text).

To stage a scam message, lay a thread whose name is not in `apps.contacts.people`, as `{name: "+65 5550 9914", number:
"+65 5550 9914", unread: 1, messages: [{from: "+65 5550 9914", text: "Your parcel is held. Pay at parcel-
fee.example/pay"}]}`, beside the threads that are to stay, and a notification `{app: messages, title: the name, text:
the text, screen: thread, args: {name: the name}, heads_up: true}`. The thread then warns of an unknown sender and
offers to report it. The link is below the text and opens the Browser, whose `history` records the visit.
"""

from __future__ import annotations

import re
from datetime import datetime, timedelta
from random import Random
from typing import Any, ClassVar

from simulators.phone.app import App, AppContext, State
from simulators.phone.apps.browser_pages import visit
from simulators.phone.apps.contacts import PEOPLE, people, show_person, start_call, start_entry
from simulators.phone.kit.views import (
    Button,
    Column,
    Dialog,
    Field,
    Icon,
    ListView,
    Page,
    Row,
    Screen,
    Sheet,
    Space,
    Text,
    View,
)
from simulators.phone.kit.widgets import (
    actions,
    app_bar,
    avatar,
    badge,
    card,
    checkable,
    empty,
    fab,
    icon_button,
    inset,
    item,
)

SENDER: State = {"name": "", "number": "", "time": ""}


def blocked(here: AppContext, name: str) -> bool:
    """Return True if a sender is blocked or the thread is spam."""
    thread = find_thread(here, name)
    return any(entry["name"] == name for entry in here.own["blocked"]) or bool(thread and thread["spam"])


def stranger(here: AppContext, name: str) -> bool:
    """Return True if a thread's name and number are both not in the phone's address book."""
    thread = find_thread(here, name)
    contacts = {str(p["name"]) for p in people(here.phone)} | {str(p["number"]) for p in people(here.phone)}
    return thread is not None and name not in contacts and str(thread["number"]) not in contacts


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


def _mark_read(here: AppContext, name: str) -> None:
    thread = find_thread(here, name)
    if thread is not None:
        thread["unread"] = 0


def _blocked_foot(name: str) -> View:
    words = Text("You blocked this sender.", "body", "faint", "center", pad=(0, 12))
    return Column([words, actions(Button("Unblock", "tonal", on=("unblock_here", name), id="unblock"))])


def _unknown_note(here: AppContext, name: str) -> View | None:
    """Return a thread's note about an unknown sender, or None if it is known or blocked."""
    if not stranger(here, name) or blocked(here, name):
        return None
    thread = find_thread(here, name)
    number = str(thread["number"] if thread else "") or name
    add = Button("Add contact", "outlined", on=("add", number), id="add", grow=1)
    buttons = Row([add, Button("Report spam", "tonal", on=("ask_block", name, 0), id="report", grow=1)], gap=24)
    text = Text("This sender is not in your contacts.", "body", "faint")
    return inset(card([text, buttons], gap=16, pad=32), 16)


class Messages(App):
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
        threads = sorted(self.wanted_threads(here), key=_latest, reverse=True)
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
        hidden_count = len(here.own["threads"]) - len(self.wanted_threads(here))
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
        here.close_screens()
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
        here.close_screens()
        self.do_open(here, name)
        here.focus("message")

    def do_open(self, here: AppContext, name: str) -> None:
        _mark_read(here, name)
        here.go("thread", name=name)

    def react_to_notification(self, here: AppContext) -> None:
        if "name" in here.args:
            _mark_read(here, here.args["name"])

    def screen_thread(self, here: AppContext) -> Screen:
        name = str(here.args["name"])
        thread = find_thread(here, name)
        rows: list[View | None] = []
        last = ""
        for index, message in enumerate(thread["messages"] if thread else []):
            if day(message, here) != last:
                last = day(message, here)
                rows.append(Text(last, "small", "faint", "center", pad=(0, 12)))
            rows.append(bubble(message, ("message_menu", name, index)))
        more = icon_button("more", "More options", ("go", "thread_menu", {"name": name}), id="more")
        number = str(thread["number"]) if thread else number_of(here, name)
        return Page(
            ListView([*rows, _unknown_note(here, name), Space(16)], id="messages", gap=16, end=True),
            bar=app_bar(name, more, sub=number if number != name else ""),
            foot=_blocked_foot(name) if blocked(here, name) else writing(name),
        )

    def do_link(self, here: AppContext, address: str) -> None:
        visit(here.phone, address)

    def screen_thread_menu(self, here: AppContext) -> Screen:
        name = str(here.args["name"])
        thread = find_thread(here, name)
        rows: list[View | None] = [item("Details", lead=badge("info"), on=("swap", "details", name), id="details")]
        if thread is not None:
            sound = "Unmute" if thread["muted"] else "Mute notifications"
            rows += [
                item("Mark as unread", lead=badge("message"), on=("unread", name), id="unread"),
                item(sound, lead=badge("dnd"), on=("mute", name), id="mute"),
                item("Delete chat", lead=badge("delete"), on=("swap", "delete_thread", name), id="delete"),
            ]
        block = ("Unblock", ("unblock", name)) if blocked(here, name) else ("Block and report", ("ask_block", name, 1))
        rows.append(item(block[0], lead=badge("block"), on=block[1], id="block"))
        return Sheet(Column(rows))

    def do_swap(self, here: AppContext, screen: str, name: str) -> None:
        """Replace the menu by another screen."""
        here.close_screens()
        here.go(screen, name=name)

    def do_unread(self, here: AppContext, name: str) -> None:
        thread = find_thread(here, name)
        if thread is not None:
            thread["unread"] = max(1, int(thread["unread"]))
        here.close_screens(2)

    def do_mute(self, here: AppContext, name: str) -> None:
        thread = find_thread(here, name)
        if thread is not None:
            thread["muted"] = not thread["muted"]
            here.toast(f"{name} is {'muted' if thread['muted'] else 'heard again'}")
        here.close_screens()

    def screen_details(self, here: AppContext) -> Screen:
        name = str(here.args["name"])
        thread = find_thread(here, name)
        number = number_of(here, name) or str(thread["number"] if thread else "")
        contact = next((p for p in people(here.phone) if name == p["name"] or number == p["number"]), None)
        about = "In your contacts" if contact else "Not in your contacts"
        face = Column([avatar(name, 240), Text(name, "headline", align="center", lines=2)], align="center", gap=24)
        rows: list[View | None] = [
            Column([face], pad=(48, 24)),
            item(number or name, "Call", lead=badge("phone"), on=("call", number or name), id="number"),
            item(
                about,
                str(contact["name"]) if contact else "Add them",
                lead=badge("person"),
                id="known",
                on=("person", contact["name"]) if contact else ("add", number or name),
            ),
        ]
        if thread is not None:
            rows.append(checkable("switch", "Mute notifications", bool(thread["muted"]), ("mute_here", name)))
            rows.append(item(f"{len(thread['messages'])} messages", lead=badge("message")))
        on = blocked(here, name)
        act = Button("Unblock", "tonal", on=("unblock_here", name), id="block")
        if not on:
            act = Button("Block and report", "outlined", "block", on=("ask_block", name, 0), id="block")
        return Page(ListView([*rows, inset(Column([act]), 24), Space(60)], id="details"), bar=app_bar("Details"))

    def do_call(self, here: AppContext, number: str) -> None:
        start_call(here.phone, number)

    def do_person(self, here: AppContext, name: str) -> None:
        show_person(here.phone, name)

    def do_add(self, here: AppContext, number: str) -> None:
        start_entry(here.phone, number=number)

    def do_mute_here(self, here: AppContext, name: str) -> None:
        thread = find_thread(here, name)
        if thread is not None:
            thread["muted"] = not thread["muted"]

    def do_send(self, here: AppContext, name: str) -> None:
        text = str(here.own["drafts"].get(name, "")).strip()
        if not text:
            return
        thread = find_thread(here, name)
        if thread is None:
            thread = {
                "name": name,
                "number": number_of(here, name),
                "unread": 0,
                "muted": False,
                "spam": False,
                "messages": [],
            }
            here.own["threads"].append(thread)
        thread["messages"].append({"from": "me", "text": text, "time": here.clock.isoformat()})
        here.own["drafts"].pop(name)
        for key in [k for k in here.phone["scroll"] if k.startswith("messages/") and k.endswith("/thread/messages")]:
            del here.phone["scroll"][key]

    def do_message_menu(self, here: AppContext, name: str, index: int) -> None:
        here.go("message_menu", name=name, index=index)

    def screen_message_menu(self, here: AppContext) -> Screen:
        thread, index = find_thread(here, here.args["name"]), here.args["index"]
        text = thread["messages"][index]["text"] if thread and index < len(thread["messages"]) else ""
        remove = Button("Delete", "danger", on=("delete_message", here.args["name"], index), id="delete")
        return Dialog("Delete message?", Text(str(text), "body", "faint", lines=4),
                      [Button("Cancel", "text", on=("back",)), remove])  # fmt: skip

    def do_delete_message(self, here: AppContext, name: str, index: int) -> None:
        thread = find_thread(here, name)
        here.close_screens()
        if thread is not None and index < len(thread["messages"]):
            del thread["messages"][index]
            here.toast("Message deleted")

    def screen_delete_thread(self, here: AppContext) -> Screen:
        name = str(here.args["name"])
        return Dialog(
            "Delete this chat?",
            Text(f"All messages with {name} are deleted from this phone.", "body", "faint"),
            [
                Button("Cancel", "text", on=("back",)),
                Button("Delete", "danger", on=("delete_thread", name), id="delete"),
            ],
        )

    def do_delete_thread(self, here: AppContext, name: str) -> None:
        here.own["threads"] = [thread for thread in here.own["threads"] if thread["name"] != name]
        here.own["drafts"].pop(name, None)
        here.close_screens(len(here.phone["nav"]["stacks"][self.id]) - 1)
        here.toast("Chat deleted")

    def wanted_threads(self, here: AppContext) -> list[State]:
        """Return the threads that are neither spam nor from blocked senders."""
        return [t for t in here.own["threads"] if not t["spam"] and not blocked(here, str(t["name"]))]

    def do_spam(self, here: AppContext) -> None:
        here.close_screens()
        here.go("spam")

    def screen_spam(self, here: AppContext) -> Screen:
        inbox = self.wanted_threads(here)
        rows: list[View | None] = [thread_row(t, here) for t in here.own["threads"] if t not in inbox]
        rows += [
            item(str(entry["name"]), "Blocked, chat deleted", id="sender",
                 trail=Button("Unblock", "text", on=("unblock_here", entry["name"]), id="unblock"))
            for entry in here.own["blocked"] if find_thread(here, str(entry["name"])) is None
        ]  # fmt: skip
        nothing = empty("block", "Nothing here", "Chats that you block or report go here.")
        return Page(ListView([*(rows or [nothing]), Space(60)], id="threads"), bar=app_bar("Spam and blocked"))

    def do_ask_block(self, here: AppContext, name: str, menus: int) -> None:
        """Ask whether to block a sender, after closing `menus` menus."""
        here.close_screens(menus)
        here.own["report"] = True
        here.go("block", name=name)

    def screen_block(self, here: AppContext) -> Screen:
        name = str(here.args["name"])
        text = Text(f"{name} cannot write to you any more, and this chat goes to Spam and blocked.", "body", "faint")
        report = checkable("checkbox", "Report as spam", bool(here.own["report"]), ("toggle", ["report"]))
        report.pad = (0, 16)
        block = Button("Block", "danger", on=("block", name), id="block")
        return Dialog(
            "Block this sender?", Column([text, report], gap=8), [Button("Cancel", "text", on=("back",)), block]
        )

    def do_block(self, here: AppContext, name: str) -> None:
        thread = find_thread(here, name)
        number = str(thread["number"]) if thread else number_of(here, name)
        entry = {"name": name, "number": number or name, "time": here.clock.isoformat()}
        here.own["blocked"] = [e for e in here.own["blocked"] if e["name"] != name] + [entry]
        if here.own["report"]:
            here.own["reports"].append(dict(entry))
        if thread is not None:
            thread["spam"] = bool(here.own["report"])
        here.close_screens(len(here.phone["nav"]["stacks"][self.id]) - 1)
        here.toast("Blocked and reported" if here.own["report"] else "Blocked")

    def do_unblock(self, here: AppContext, name: str) -> None:
        here.close_screens()
        self.do_unblock_here(here, name)

    def do_unblock_here(self, here: AppContext, name: str) -> None:
        here.own["blocked"] = [entry for entry in here.own["blocked"] if entry["name"] != name]
        thread = find_thread(here, name)
        if thread is not None:
            thread["spam"] = False
        here.toast(f"{name} is unblocked")


def _latest(thread: State) -> str:
    return str(thread["messages"][-1].get("time", "")) if thread["messages"] else ""


def _words(thread: State) -> str:
    return " ".join([str(thread["name"]), *(str(m["text"]) for m in thread["messages"])]).casefold()


THREADS: tuple[tuple[str, int, tuple[tuple[bool, int, str, str], ...]], ...] = (
    ("Noor Haddad", 1, (
        (False, 3, "17:05", "How did the polymer films come out?"),
        (True, 3, "17:11", "Two cracked, one is perfect. I will take the perfect one as a sign."),
        (False, 3, "17:12", "Science!"),
        (True, 2, "15:40", "Are you in the lab on Thursday? I could use a second pair of eyes on the X-ray data."),
        (False, 2, "15:58", "Yes, from ten. Bring the notebook with the annealing times please."),
        (True, 2, "16:02", "Will do."),
        (False, 1, "21:14", "Lunch this week? The new place by the canal has a garden."),
    )),
    ("陈伟", 2, (
        (True, 2, "11:30", "陈老师，样品已经放在四楼的冰箱里了。"),
        (False, 2, "11:42", "收到，谢谢！标签写清楚了吗？"),
        (True, 2, "11:43", "写了，蓝色盖子的那三个。"),
        (False, 1, "18:20", "周五下午三点的组会改到二楼会议室。"),
        (False, 1, "18:21", "麻烦你带上上次的数据。"),
    )),
    ("Jonas Weil", 0, (
        (False, 2, "19:02", "Climbing on Saturday? I booked two slots at nine, just in case."),
        (True, 2, "19:20", "Yes! I need to get away from my desk."),
        (False, 2, "19:21", "Great. I will bring the rope, you bring the snacks."),
    )),
    ("Mamá", 0, (
        (False, 4, "20:10", "Did the parcel arrive, cariño?"),
        (True, 4, "20:45", "It did. The olives did not survive customs, but the scarf is lovely."),
        (False, 4, "20:47", "I knew I should have sent two jars."),
    )),
    ("Quayside Dental", 0, (
        (False, 5, "09:00", "Your check-up is on 24 March at 16:30. Reply to this message to change it."),
    )),
    ("Building desk", 0, (
        (False, 6, "10:15", "The lifts in Block 14 are serviced on Sunday between 10:00 and 12:00."),
    )),
)  # fmt: skip
