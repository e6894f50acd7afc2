"""The mail app's second half: drafts, recipients, attachments, sending."""

from __future__ import annotations

import re
from datetime import datetime

from simulators.phone.app import App, AppContext, State
from simulators.phone.apps.mail_data import bare, conversation, moment
from simulators.phone.apps.mail_views import attachment, mail_of
from simulators.phone.views import Button, Dialog, Field, ListView, Page, Row, Screen, Sheet, Space, Text, View
from simulators.phone.widgets import app_bar, avatar, badge, icon_button, inset, item

_ADDRESS = re.compile(r"[^@\s,]+@[^@\s,]+\.[^@\s,]+")
_TITLES = {"new": "New mail", "reply": "Reply", "forward": "Forward"}


class Compose(App):
    """Writing a mail; `Mail` adds reading and keeping."""

    def people(self, here: AppContext) -> list[State]:
        """The people in the phone's contacts."""
        people_list: list[State] = here.phone["apps"]["contacts"]["people"]
        return people_list

    def draft_rows(self, here: AppContext) -> list[View | None]:
        """The drafts as rows of a list, the latest first."""
        return [
            item(str(draft["subject"]) or "(no subject)", f"Draft to {draft['to'] or 'nobody yet'}",
                 lead=badge("edit"), on=("go", "compose", {"draft": draft["id"]}), id="draft")
            for draft in reversed(here.own["drafts"])
        ]  # fmt: skip

    def do_compose(self, here: AppContext, to: str = "") -> None:
        self._begin(here, {"to": to})
        here.focus("subject" if to else "to")

    def do_reply(self, here: AppContext, subject: str, time: str, everyone: bool) -> None:
        """Begins a reply to the latest mail of a conversation."""
        mails, me = _mails(here, subject, time), here.own["account"]["address"]
        last = next((mail for mail in reversed(mails) if mail["address"] != me), mails[-1])
        to = [str(last["address"])] if last["address"] != me else list(map(str, last["to"]))
        if everyone:
            to += [str(address) for address in last["to"] if address != me and address not in to]
        self._begin(here, {"to": ", ".join(to), "subject": f"Re: {bare(str(last['subject']))}", "kind": "reply"})
        here.focus("body")

    def do_forward(self, here: AppContext, subject: str, time: str) -> None:
        """Begins a forward of the latest mail of a conversation, with all that is attached to it."""
        last = _mails(here, subject, time)[-1]
        then = moment(last, here.clock).strftime("%d %b %Y, %H:%M").lstrip("0")
        quote = f"Forwarded mail\nFrom: {last['from']} <{last['address']}>\nDate: {then}\n"
        quote += f"Subject: {last['subject']}\n\n{last['body']}"
        new = {"subject": f"Fwd: {bare(str(last['subject']))}", "quote": quote, "kind": "forward"}
        self._begin(here, new | {"attachments": list(last["attachments"])})
        here.focus("to")

    def _begin(self, here: AppContext, what: State) -> None:
        number = 1 + max((int(draft["id"]) for draft in here.own["drafts"]), default=0)
        blank = {"id": number, "to": "", "subject": "", "body": "", "quote": "", "attachments": [], "kind": "new"}
        here.own["drafts"].append(blank | what)
        here.go("compose", draft=number)

    def screen_compose(self, here: AppContext) -> Screen:
        number = int(here.args["draft"])
        index = next((i for i, draft in enumerate(here.own["drafts"]) if draft["id"] == number), -1)
        if index < 0:
            return Page(Space(), bar=app_bar("New mail"))
        draft = here.own["drafts"][index]
        to = Field(["drafts", index, "to"], hint="To", id="to", action="Next", submit=("next", "subject"))
        subject = Field(["drafts", index, "subject"], hint="Subject", id="subject", action="Next")
        subject.submit = ("next", "body")
        body = Field(["drafts", index, "body"], hint="Write your mail", id="body", many=True, action="Enter")
        rows: list[View | None] = [
            Text(f"From {here.own['account']['address']}", "sub", "faint", lines=1, pad=(48, 0)),
            inset(to),
            *self._suggested(here, draft),
            inset(subject),
            *(inset(_removable(name, number)) for name in draft["attachments"]),
            inset(body),
            Text(str(draft["quote"]), "body", "faint", pad=(48, 8), id="quote") if draft["quote"] else None,
            Space(40),
        ]
        bar = app_bar(
            _TITLES[draft["kind"]],
            icon_button("delete", "Discard", ("go", "discard", {"draft": number})),
            icon_button("attach", "Attach file", ("go", "attach", {"draft": number})),
            icon_button("send", "Send", ("send", number), colour="primary"),
        )
        return Page(ListView(rows, id="compose", gap=20), bar=bar)

    def do_next(self, here: AppContext, field: str) -> None:
        here.focus(field)

    def _suggested(self, here: AppContext, draft: State) -> list[View | None]:
        """People whose name or address holds what stands after the last comma and is no address yet."""
        query = str(draft["to"]).rpartition(",")[2].strip().casefold()
        if not query or query in (mail_of(person).casefold() for person in self.people(here)):
            return []
        people = [p for p in self.people(here) if mail_of(p) and query in f"{p['name']} {mail_of(p)}".casefold()]
        rows = []
        for person in sorted(people, key=lambda p: str(p["name"]))[:4]:
            on = ("recipient", draft["id"], mail_of(person))
            rows.append(item(str(person["name"]), mail_of(person), lead=avatar(person["name"]), on=on, id="contact"))
        return [*rows]

    def do_recipient(self, here: AppContext, number: int, address: str) -> None:
        """Puts an address in the place of what was typed of it."""
        draft = _draft(here, number)
        before = str(draft["to"]).rpartition(",")[0]
        draft["to"] = f"{before}, {address}" if before else address
        here.focus("subject" if not draft["subject"] else "body")

    def screen_attach(self, here: AppContext) -> Screen:
        number, attachments = int(here.args["draft"]), _draft(here, here.args["draft"])["attachments"]
        rows: list[View | None] = [
            item(str(name), lead=badge("attach"), on=("attach", number, name), id="file")
            for name in here.own["files"]
            if name not in attachments
        ]
        nothing = Text("There is nothing else to attach.", "body", "faint", pad=(48, 24))
        return Sheet(ListView(rows or [nothing], id="files"), title="Attach a file")

    def do_attach(self, here: AppContext, number: int, name: str) -> None:
        _draft(here, number)["attachments"].append(name)
        here.back()

    def do_detach(self, here: AppContext, number: int, name: str) -> None:
        _draft(here, number)["attachments"].remove(name)

    def do_send(self, here: AppContext, number: int) -> None:
        """Sends a draft, or says which recipient is no address."""
        draft = _draft(here, number)
        to, wrong = self._recipients(here, str(draft["to"]))
        if wrong or not to:
            here.go("wrong", words=f"'{wrong[0]}' is no mail address." if wrong else "To whom should it be sent?")
            return
        me = here.own["account"]
        body = "\n\n".join(part for part in (str(draft["body"]).strip(), str(draft["quote"])) if part)
        mail = {"folder": "sent", "from": me["name"], "address": me["address"], "to": to, "body": body}
        mail |= {"subject": str(draft["subject"]).strip(), "time": here.clock.isoformat(), "unread": False}
        here.own["mails"].append(mail | {"starred": False, "attachments": list(draft["attachments"])})
        here.own["drafts"].remove(draft)
        here.back()
        here.toast("Sent")

    def _recipients(self, here: AppContext, text: str) -> tuple[list[str], list[str]]:
        """The addresses that are meant, each once, and the parts that name nobody."""
        addresses = {str(p["name"]).casefold(): mail_of(p) for p in self.people(here) if mail_of(p)}
        to: list[str] = []
        wrong: list[str] = []
        for part in (part.strip() for part in re.split(r"[,;，；]", text)):
            address = addresses.get(part.casefold(), part)
            if part and not _ADDRESS.fullmatch(address):
                wrong.append(part)
            elif part and address not in to:
                to.append(address)
        return to, wrong

    def screen_wrong(self, here: AppContext) -> Screen:
        words = Text(str(here.args["words"]), "body", "faint")
        return Dialog("Not sent", words, [Button("OK", "text", on=("back",))])

    def screen_discard(self, here: AppContext) -> Screen:
        remove = Button("Discard", "danger", on=("discard", here.args["draft"]), id="discard")
        words = Text("What you wrote will be gone.", "body", "faint")
        return Dialog("Discard this draft?", words, [Button("Keep", "text", on=("back",)), remove])

    def do_discard(self, here: AppContext, number: int) -> None:
        here.own["drafts"] = [draft for draft in here.own["drafts"] if draft["id"] != number]
        here.back(2)
        here.toast("Draft discarded")

    def tick(self, here: AppContext, before: datetime, after: datetime) -> None:
        """Drafts without a word of the owner's go once their screen is left."""
        open_now = [s["args"].get("draft") for s in here.phone["nav"]["stacks"][self.id] if s["screen"] == "compose"]
        here.own["drafts"] = [d for d in here.own["drafts"] if d["id"] in open_now or not _blank(d)]


def _blank(draft: State) -> bool:
    return not draft["body"] and (draft["kind"] == "reply" or not (draft["to"] or draft["subject"]))


def _draft(here: AppContext, number: int) -> State:
    own_draft: State = next(draft for draft in here.own["drafts"] if draft["id"] == number)
    return own_draft


def _mails(here: AppContext, subject: str, time: str) -> list[State]:
    """The mails of a conversation, the oldest first; those in the bin only where there are no others."""
    key = conversation({"subject": subject, "time": time})
    mails = [mail for mail in here.own["mails"] if conversation(mail) == key]
    outside_bin = [mail for mail in mails if mail["folder"] != "bin"]
    return sorted(outside_bin or mails, key=lambda mail: moment(mail, here.clock))


def _removable(name: str, number: int) -> Row:
    row = attachment(name)
    row.children = [*row.children, icon_button("close", f"Remove {name}", ("detach", number, name), id="detach")]
    row.pad = (28, 4)
    return row
