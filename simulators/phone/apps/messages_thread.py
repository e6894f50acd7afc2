"""One thread of Messages: reading, writing, deleting, and what else can be done with it."""

from __future__ import annotations

from simulators.phone.app import App, AppContext
from simulators.phone.apps.browser_history import visit
from simulators.phone.apps.contacts import people, show_person, start_call, start_entry
from simulators.phone.apps.messages_spam import blocked, stranger
from simulators.phone.apps.messages_views import bubble, day, find_thread, number_of, writing
from simulators.phone.views import Button, Column, Dialog, ListView, Page, Row, Screen, Sheet, Space, Text, View
from simulators.phone.widgets import actions, app_bar, avatar, badge, card, icon_button, inset, item, marked


class Threads(App):
    """The part of Messages that is about one thread."""

    def do_open(self, here: AppContext, name: str) -> None:
        _read(here, name)
        here.go("thread", name=name)

    def opened(self, here: AppContext) -> None:
        if "name" in here.args:
            _read(here, here.args["name"])

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
            ListView([*rows, _unknown(here, name), Space(16)], id="messages", gap=16, end=True),
            bar=app_bar(name, more, sub=number if number != name else ""),
            foot=_silenced(name) if blocked(here, name) else writing(name),
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
        """Another screen instead of the menu."""
        here.back()
        here.go(screen, name=name)

    def do_unread(self, here: AppContext, name: str) -> None:
        thread = find_thread(here, name)
        if thread is not None:
            thread["unread"] = max(1, int(thread["unread"]))
        here.back(2)

    def do_mute(self, here: AppContext, name: str) -> None:
        thread = find_thread(here, name)
        if thread is not None:
            thread["muted"] = not thread["muted"]
            here.toast(f"{name} is {'muted' if thread['muted'] else 'heard again'}")
        here.back()

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
            rows.append(marked("switch", "Mute notifications", bool(thread["muted"]), ("mute_here", name)))
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
        here.back()
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
        here.back(len(here.phone["nav"]["stacks"][self.id]) - 1)
        here.toast("Chat deleted")


def _read(here: AppContext, name: str) -> None:
    thread = find_thread(here, name)
    if thread is not None:
        thread["unread"] = 0


def _silenced(name: str) -> View:
    words = Text("You blocked this sender.", "body", "faint", "center", pad=(0, 12))
    return Column([words, actions(Button("Unblock", "tonal", on=("unblock_here", name), id="unblock"))])


def _unknown(here: AppContext, name: str) -> View | None:
    """What a thread says of somebody whom the phone does not know."""
    if not stranger(here, name) or blocked(here, name):
        return None
    thread = find_thread(here, name)
    number = str(thread["number"] if thread else "") or name
    add = Button("Add contact", "outlined", on=("add", number), id="add", grow=1)
    buttons = Row([add, Button("Report spam", "tonal", on=("ask_block", name, 0), id="report", grow=1)], gap=24)
    text = Text("This sender is not in your contacts.", "body", "faint")
    return inset(card([text, buttons], gap=16, pad=32), 16)
