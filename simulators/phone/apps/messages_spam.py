"""Messages from strangers: reporting, blocking, and the folder of such threads.

To stage a scam message, lay a thread whose name is not in `apps.contacts.people`, as `{name: "+65 5550 9914", number:
"+65 5550 9914", unread: 1, messages: [{from: "+65 5550 9914", text: "Your parcel is held. Pay at parcel-
fee.example/pay"}]}`, beside the threads that are to stay, and a notification `{app: messages, title: the name, text:
the text, screen: thread, args: {name: the name}, heads_up: true}`. The thread then warns of an unknown sender and
offers to report it. The link is below the text and opens the Browser, whose `history` records the visit.
"""

from __future__ import annotations

from simulators.phone.app import App, AppContext, State
from simulators.phone.apps.contacts import people
from simulators.phone.apps.messages_views import find_thread, number_of, thread_row
from simulators.phone.kit.views import Button, Column, Dialog, ListView, Page, Screen, Space, Text, View
from simulators.phone.kit.widgets import app_bar, empty, item, marked

SENDER: State = {"name": "", "number": "", "time": ""}


class Spam(App):
    """The reporting and blocking of Messages."""

    def wanted(self, here: AppContext) -> list[State]:
        """Return the threads that are neither spam nor from blocked senders."""
        return [t for t in here.own["threads"] if not t["spam"] and not blocked(here, str(t["name"]))]

    def do_spam(self, here: AppContext) -> None:
        here.back()
        here.go("spam")

    def screen_spam(self, here: AppContext) -> Screen:
        inbox = self.wanted(here)
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
        here.back(menus)
        here.own["report"] = True
        here.go("block", name=name)

    def screen_block(self, here: AppContext) -> Screen:
        name = str(here.args["name"])
        text = Text(f"{name} cannot write to you any more, and this chat goes to Spam and blocked.", "body", "faint")
        report = marked("checkbox", "Report as spam", bool(here.own["report"]), ("toggle", ["report"]))
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
        here.back(len(here.phone["nav"]["stacks"][self.id]) - 1)
        here.toast("Blocked and reported" if here.own["report"] else "Blocked")

    def do_unblock(self, here: AppContext, name: str) -> None:
        here.back()
        self.do_unblock_here(here, name)

    def do_unblock_here(self, here: AppContext, name: str) -> None:
        here.own["blocked"] = [entry for entry in here.own["blocked"] if entry["name"] != name]
        thread = find_thread(here, name)
        if thread is not None:
            thread["spam"] = False
        here.toast(f"{name} is unblocked")


def blocked(here: AppContext, name: str) -> bool:
    """Return True if a sender is blocked or the thread is spam."""
    thread = find_thread(here, name)
    return any(entry["name"] == name for entry in here.own["blocked"]) or bool(thread and thread["spam"])


def stranger(here: AppContext, name: str) -> bool:
    """Return True if a thread's name and number are both not in the phone's address book."""
    thread = find_thread(here, name)
    contacts = {str(p["name"]) for p in people(here.phone)} | {str(p["number"]) for p in people(here.phone)}
    return thread is not None and name not in contacts and str(thread["number"]) not in contacts
