"""Mail: reading, writing, archiving and deleting.

State, `apps.mail`:
- `account`: `{name, address}` of the phone's owner.
- `mails`, in no order, each `{folder, from, address, to: [addresses], subject, body, time, unread, starred,
  attachments: [names]}`. `folder` is inbox, sent, archive or bin. `from` is the sender's name, `address` the address.
  Mails with the same subject (without Re: and Fwd:) are one conversation. The time of a sent mail is that of sending.
- `drafts`: unsent mails, each `{id, to, subject, body, quote, attachments, kind}`. `to` is as typed: names or
  addresses, separated by commas. `quote` is the forwarded text below the body. `kind` is new, reply or forward.
- `files`: names of the files that can be attached. `query`: the typed search.

A notification or a task opens a conversation by `screen: mail, args: {subject: ...}`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import datetime, timedelta
from random import Random
from typing import ClassVar

from simulators.phone.app import App, AppContext, State, moment
from simulators.phone.kit.views import (
    Button,
    Column,
    Dialog,
    Field,
    Icon,
    Line,
    ListView,
    Page,
    Row,
    Screen,
    Sheet,
    Space,
    Text,
    View,
)
from simulators.phone.kit.widgets import actions, app_bar, avatar, badge, card, empty, fab, icon_button, inset, item

_ADDRESS = re.compile(r"[^@\s,]+@[^@\s,]+\.[^@\s,]+")
_TITLES = {"new": "New mail", "reply": "Reply", "forward": "Forward"}


def _is_blank(draft: State) -> bool:
    return not draft["body"] and (draft["kind"] == "reply" or not (draft["to"] or draft["subject"]))


def _draft(here: AppContext, number: int) -> State:
    own_draft: State = next(draft for draft in here.own["drafts"] if draft["id"] == number)
    return own_draft


def _mails(here: AppContext, subject: str, time: str) -> list[State]:
    """Return the mails of a conversation, oldest first. Those in the bin only if there are no others."""
    key = conversation({"subject": subject, "time": time})
    mails = [mail for mail in here.own["mails"] if conversation(mail) == key]
    outside_bin = [mail for mail in mails if mail["folder"] != "bin"]
    return sorted(outside_bin or mails, key=lambda mail: moment(mail, here.clock))


def _removable_attachment(name: str, number: int) -> Row:
    row = attachment(name)
    row.children = [*row.children, icon_button("close", f"Remove {name}", ("detach", number, name), id="detach")]
    row.pad = (28, 4)
    return row


class Mail(App):
    id, label, icon, colour, hue = "mail", "Mail", "mail", "#b8423f", 4
    shapes: ClassVar[dict[str, State]] = {
        "mails": {"folder": "inbox", "from": "", "address": "", "to": [], "subject": "", "body": "", "time": "",
                  "unread": False, "starred": False, "attachments": []},
        "drafts": {"id": 0, "to": "", "subject": "", "body": "", "quote": "", "attachments": [], "kind": "new"},
    }  # fmt: skip

    def first_state(self, rng: Random, clock: datetime) -> State:
        mails = first_mails(clock)
        rng.shuffle(mails)
        return {"account": dict(ACCOUNT), "mails": mails, "drafts": [], "files": list(FILES), "query": ""}

    def screen_home(self, here: AppContext) -> Screen:
        query = str(here.own["query"]).strip().casefold()
        field = Field(["query"], hint="Search mail", kind="search", id="search", action="Search")
        folders = icon_button("menu", "Folders", ("go", "folders"), colour="text")
        head = Row([folders, Text("Inbox", "headline", id="title", grow=1)], gap=12, pad=(16, 16, 48, 8))
        rows = self.rows(here, "inbox") if not query else self._search_rows(here, query)
        nothing = empty("inbox", "No mail", "What arrives is shown here.")
        if query:
            nothing = empty("search", "Nothing found", "No mail holds these words.")
        return Page(
            ListView([*(rows or [nothing]), Space(220)], id="mails"),
            bar=Column([head, inset(field, 0, 20)]),
            fab=fab("edit", "Compose", ("compose",), "compose"),
        )

    def rows(self, here: AppContext, folder: str) -> list[View | None]:
        """Return a folder's conversations, latest first."""
        return self._rows(here, [mail for mail in here.own["mails"] if _is_in(mail, folder)])

    def _rows(self, here: AppContext, mails: list[State]) -> list[View | None]:
        latest: dict[str, State] = {}
        for mail in sorted(mails, key=lambda m: moment(m, here.clock), reverse=True):
            latest.setdefault(conversation(mail), mail)
        out: list[View | None] = []
        for key, mail in latest.items():
            whole = _conversation(here, key) or [mail]
            summary = mail | {
                "unread": any(m["unread"] for m in mails if conversation(m) == key),
                "starred": any(m["starred"] for m in whole),
            }
            out.append(mail_row(summary, len(whole), self._correspondent(here, mail), here.clock))
        return out

    def _correspondent(self, here: AppContext, mail: State) -> str:
        """Return a mail's correspondent: its sender, or the recipients if the owner sent it."""
        me = here.own["account"]
        if mail["address"] == me["address"]:
            return f"To: {names(mail['to'], me, self.people(here))}"
        return str(mail["from"] or mail["address"])

    def _search_rows(self, here: AppContext, query: str) -> list[View | None]:
        def words(mail: State) -> str:
            return " ".join(
                [mail["from"], mail["address"], mail["subject"], mail["body"], *mail["to"], *mail["attachments"]]
            ).casefold()

        return self._rows(here, [m for m in here.own["mails"] if m["folder"] != "bin" and query in words(m)])

    def screen_folders(self, here: AppContext) -> Screen:
        rows: list[View | None] = []
        for name, title, icon in FOLDERS:
            if name == "drafts":
                count = len(here.own["drafts"])
            else:
                count = len({conversation(m) for m in here.own["mails"] if _is_in(m, name)})
            unread = sum(bool(m["unread"]) for m in here.own["mails"] if _is_in(m, name) and name == "inbox")
            about = f"{count} {'mail' if count == 1 else 'mails'}" if name == "drafts" else _count_words(count)
            about += f", {unread} unread" if unread else ""
            on = ("home",) if name == "inbox" else ("go", "folder", {"name": name})
            rows.append(item(title, about, lead=badge(icon), on=on, id="folder"))
        account = Text(str(here.own["account"]["address"]), "body", "faint", lines=1, pad=(48, 0, 48, 16))
        return Page(ListView(rows, id="folders"), bar=Column([app_bar("Folders"), account]))

    def do_home(self, here: AppContext) -> None:
        here.own["query"] = ""
        here.close_screens(len(here.phone["nav"]["stacks"][self.id]) - 1)

    def screen_folder(self, here: AppContext) -> Screen:
        name = str(here.args["name"])
        title, icon = next(((title, icon) for folder, title, icon in FOLDERS if folder == name), (name, "inbox"))
        rows = self.draft_rows(here) if name == "drafts" else self.rows(here, name)
        wipe = None
        if name == "bin" and rows:
            wipe = icon_button("delete", "Empty bin", ("go", "empty_bin"))
        nothing = empty(icon, f"{title} is empty", "Nothing is kept here now.")
        return Page(ListView([*(rows or [nothing]), Space(60)], id="mails"), bar=app_bar(title, wipe))

    def screen_empty_bin(self, here: AppContext) -> Screen:
        count = len({conversation(m) for m in here.own["mails"] if m["folder"] == "bin"})
        remove = Button("Delete", "danger", on=("empty_bin",), id="delete")
        words = Text(f"{_count_words(count)} will be deleted for ever.", "body", "faint")
        return Dialog("Empty the bin?", words, [Button("Cancel", "text", on=("back",)), remove])

    def do_empty_bin(self, here: AppContext) -> None:
        here.own["mails"] = [mail for mail in here.own["mails"] if mail["folder"] != "bin"]
        here.close_screens()
        here.toast("Bin emptied")

    def do_open(self, here: AppContext, subject: str, time: str) -> None:
        here.go("mail", subject=subject, time=time)
        _mark(here, _key({"subject": subject, "time": time}), "unread", False)

    def react_to_notification(self, here: AppContext) -> None:
        if "subject" in here.args:
            _mark(here, _key(here.args), "unread", False)

    def screen_mail(self, here: AppContext) -> Screen:
        key = _key(here.args)
        mails = _conversation(here, key) or _binned_mails(here, key)
        if not mails:
            return Page(empty("inbox", "No such mail", "It is not on this phone."), bar=app_bar("Mail"))
        me, starred, args = here.own["account"], any(m["starred"] for m in mails), (_subject(here), _time(here))
        book = self.people(here)
        cards: list[View | None] = [mail_card(m, names(m["to"], me, book), here.clock) for m in reversed(mails)]
        title = Text(str(mails[0]["subject"]) or "(no subject)", "headline", pad=(48, 8), id="subject")
        star = icon_button("star" if starred else "star_line", "Remove star" if starred else "Add star",
                           ("star", *args), colour="primary" if starred else "faint", id="star")  # fmt: skip
        folders = {m["folder"] for m in mails}
        keep = icon_button("archive", "Archive", ("move", *args, "archive"))
        if "bin" in folders or folders <= {"archive", "sent"}:
            keep = icon_button("inbox", "Move to inbox", ("move", *args, "inbox"), id="move")
        remove = icon_button("delete", "Delete", ("move", *args, "bin"))
        if "bin" in folders:
            remove = icon_button("delete", "Delete for ever", ("go", "delete", {"subject": args[0], "time": args[1]}))
        unread = icon_button("unread", "Mark as unread", ("unread", *args), id="unread")
        last = mails[-1]
        others = {*map(str, last["to"]), str(last["address"])} - {me["address"]}
        every = Button("Reply all", "tonal", on=("reply", *args, True), id="reply_all") if len(others) > 1 else None
        buttons = [Button("Reply", "tonal", on=("reply", *args, False), id="reply"), every,
                   Button("Forward", "tonal", on=("forward", *args), id="forward")]  # fmt: skip
        return Page(
            ListView([title, *cards, Space(40)], id="conversation", gap=20),
            bar=app_bar("", star, unread, keep, remove),
            foot=actions(*(button for button in buttons if button is not None)),
        )

    def do_star(self, here: AppContext, subject: str, time: str) -> None:
        """Star the latest mail of a conversation, or remove all its stars."""
        key = _key({"subject": subject, "time": time})
        mails = _conversation(here, key) or _binned_mails(here, key)
        starred = any(mail["starred"] for mail in mails)
        for mail in mails:
            mail["starred"] = not starred and mail is mails[-1]

    def do_unread(self, here: AppContext, subject: str, time: str) -> None:
        mails = [m for m in _conversation(here, _key({"subject": subject, "time": time})) if m["folder"] != "sent"]
        for mail in mails[-1:]:
            mail["unread"] = True
        here.close_screens()
        here.toast("Marked as unread")

    def do_move(self, here: AppContext, subject: str, time: str, folder: str) -> None:
        """Move a conversation. The owner's own mails stay in the sent folder, unless they go to the bin."""
        me, key = here.own["account"]["address"], _key({"subject": subject, "time": time})
        for mail in _conversation(here, key) or _binned_mails(here, key):
            mail["folder"] = "sent" if mail["address"] == me and folder != "bin" else folder
        here.close_screens()
        here.toast({"archive": "Archived", "bin": "Moved to the bin", "inbox": "Moved to the inbox"}[folder])

    def screen_delete(self, here: AppContext) -> Screen:
        remove = Button("Delete", "danger", on=("delete", _subject(here), _time(here)), id="delete")
        words = Text("It cannot be brought back.", "body", "faint")
        return Dialog("Delete for ever?", words, [Button("Cancel", "text", on=("back",)), remove])

    def do_delete(self, here: AppContext, subject: str, time: str) -> None:
        deleted_mails = _binned_mails(here, _key({"subject": subject, "time": time}))
        here.own["mails"] = [mail for mail in here.own["mails"] if mail not in deleted_mails]
        here.close_screens(2)
        here.toast("Deleted")

    def people(self, here: AppContext) -> list[State]:
        """Return the people in the phone's contacts."""
        people_list: list[State] = here.phone["apps"]["contacts"]["people"]
        return people_list

    def draft_rows(self, here: AppContext) -> list[View | None]:
        """Return the drafts as rows of a list, latest first."""
        return [
            item(str(draft["subject"]) or "(no subject)", f"Draft to {draft['to'] or 'nobody yet'}",
                 lead=badge("edit"), on=("go", "compose", {"draft": draft["id"]}), id="draft")
            for draft in reversed(here.own["drafts"])
        ]  # fmt: skip

    def do_compose(self, here: AppContext, to: str = "") -> None:
        self._begin_draft(here, {"to": to})
        here.focus("subject" if to else "to")

    def do_reply(self, here: AppContext, subject: str, time: str, everyone: bool) -> None:
        """Start a reply to the latest mail of a conversation."""
        mails, me = _mails(here, subject, time), here.own["account"]["address"]
        last = next((mail for mail in reversed(mails) if mail["address"] != me), mails[-1])
        to = [str(last["address"])] if last["address"] != me else list(map(str, last["to"]))
        if everyone:
            to += [str(address) for address in last["to"] if address != me and address not in to]
        self._begin_draft(here, {"to": ", ".join(to), "subject": f"Re: {bare(str(last['subject']))}", "kind": "reply"})
        here.focus("body")

    def do_forward(self, here: AppContext, subject: str, time: str) -> None:
        """Start a forward of the latest mail of a conversation, attachments included."""
        last = _mails(here, subject, time)[-1]
        then = moment(last, here.clock).strftime("%d %b %Y, %H:%M").lstrip("0")
        quote = f"Forwarded mail\nFrom: {last['from']} <{last['address']}>\nDate: {then}\n"
        quote += f"Subject: {last['subject']}\n\n{last['body']}"
        new = {"subject": f"Fwd: {bare(str(last['subject']))}", "quote": quote, "kind": "forward"}
        self._begin_draft(here, new | {"attachments": list(last["attachments"])})
        here.focus("to")

    def _begin_draft(self, here: AppContext, what: State) -> None:
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
            *self._suggestion_rows(here, draft),
            inset(subject),
            *(inset(_removable_attachment(name, number)) for name in draft["attachments"]),
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

    def _suggestion_rows(self, here: AppContext, draft: State) -> list[View | None]:
        """Return people who match the unfinished address after the last comma."""
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
        """Replace the unfinished address by a complete one."""
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
        here.close_screens()

    def do_detach(self, here: AppContext, number: int, name: str) -> None:
        _draft(here, number)["attachments"].remove(name)

    def do_send(self, here: AppContext, number: int) -> None:
        """Send a draft, or report an invalid recipient."""
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
        here.close_screens()
        here.toast("Sent")

    def _recipients(self, here: AppContext, text: str) -> tuple[list[str], list[str]]:
        """Return the recipients' addresses without duplicates, and the invalid parts."""
        addresses = {str(p["name"]).casefold(): mail_of(p) for p in self.people(here) if mail_of(p)}
        to: list[str] = []
        wrong: list[str] = []
        # Full-width separators come from a Chinese keyboard.
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
        here.close_screens(2)
        here.toast("Draft discarded")

    def tick(self, here: AppContext, before: datetime, after: datetime) -> None:
        """Delete blank drafts after their screen is left."""
        open_now = [s["args"].get("draft") for s in here.phone["nav"]["stacks"][self.id] if s["screen"] == "compose"]
        # A draft on an open screen stays: its owner may still write it.
        here.own["drafts"] = [d for d in here.own["drafts"] if d["id"] in open_now or not _is_blank(d)]


def _subject(here: AppContext) -> str:
    return str(here.args.get("subject", ""))


def _time(here: AppContext) -> str:
    return str(here.args.get("time", ""))


def _key(args: State) -> str:
    return conversation({"subject": args.get("subject", ""), "time": args.get("time", "")})


def _is_in(mail: State, folder: str) -> bool:
    if folder == "starred":
        return bool(mail["starred"]) and mail["folder"] != "bin"
    return bool(mail["folder"] == folder)


def _conversation(here: AppContext, key: str) -> list[State]:
    """Return the mails of a conversation outside the bin, oldest first."""
    mails = [m for m in here.own["mails"] if m["folder"] != "bin" and conversation(m) == key]
    return sorted(mails, key=lambda m: moment(m, here.clock))


def _binned_mails(here: AppContext, key: str) -> list[State]:
    mails = [m for m in here.own["mails"] if m["folder"] == "bin" and conversation(m) == key]
    return sorted(mails, key=lambda m: moment(m, here.clock))


def _mark(here: AppContext, key: str, field: str, value: bool) -> None:
    for mail in here.own["mails"]:
        if conversation(mail) == key:
            mail[field] = value


def _count_words(count: int) -> str:
    return f"{count} conversation{'' if count == 1 else 's'}"


ACCOUNT = {"name": "Ines Varga", "address": "ines.varga@post.example"}
FOLDERS = (("inbox", "Inbox", "inbox"), ("starred", "Starred", "star"), ("drafts", "Drafts", "edit"),
           ("sent", "Sent", "send"), ("archive", "Archive", "archive"), ("bin", "Bin", "delete"))  # fmt: skip
"""Folders: name in the state, name on the screen, icon. Starred mails and drafts are not stored in a folder."""

FILES = ("Poster draft 3.pdf", "Film thicknesses.csv", "Boarding pass.pdf", "Oven booking.ics")

_PREFIX = re.compile(r"^\s*(?:(?:re|fwd|fw)\s*[:：]\s*)+", re.IGNORECASE)

_Line = tuple[str, str, str, int, str, bool, bool, tuple[str, ...], str, str]
_FIRST: tuple[_Line, ...] = (
    # folder, from, address, days ago, time, unread, starred, attachments, subject, body
    ("inbox", "Noor Haddad", "n.haddad@softmatter.example", 0, "08:21", True, False, (),
     "X-ray slots next week",
     "Morning Ines,\n\nthe beam is ours on Wednesday from 13:00 to 17:00 and on Thursday from 9:00 to 11:00. "
     "Room 0.14, badge at the desk.\n\nWhich of the two do you want for the cracked films?\n\nNoor"),
    ("inbox", "Lantern Road Library", "desk@lanternlibrary.example", 1, "17:40", True, False, (),
     "Your book is ready",
     "The book you reserved, \"A field guide to lichens\", waits for you at the desk until Saturday, 18:00.\n\n"
     "Lantern Road Library, 9 Lantern Road. Open 10:00 to 20:00."),
    ("inbox", "陈伟", "w.chen@softmatter.example", 1, "11:05", False, True, ("安全培训.pdf",),
     "周五组会安排",
     "各位好：\n\n周五组会改到下午三点，二楼会议室。请先看附件里的安全培训材料。\n\n陈伟"),
    ("inbox", "Penang Thin Film Workshop", "office@thinfilms.example", 2, "09:12", False, False, ("Programme.pdf",),
     "Programme and travel",
     "Dear Dr. Varga,\n\nyour talk is on the second day at 10:40 in the Nutmeg Hall, 25 minutes with questions. The "
     "hotel is Pier Lodge, 3 Weld Steps; breakfast is from 6:30.\n\nSee you soon,\nThe organisers"),
    ("inbox", "Tamarind Bank", "news@tamarind.example", 3, "06:00", False, False, (),
     "Your monthly statement",
     "Your statement is ready in the Tamarind app. We never ask for your code by mail."),
    ("inbox", "Jonas Weil", "jonas.weil@post.example", 4, "20:33", False, False, (),
     "Rope for Saturday",
     "The old rope goes to the bin, I mean it. I found a 60 m one, shall we share it? It is 9.5 mm and blue."),
    ("inbox", "林小雨", "xiaoyu.lin@softmatter.example", 5, "14:18", False, False, ("图3.png", "图4.png"),
     "论文图片",
     "瓦尔加老师：\n\n图3和图4已经按您的意见改了，坐标轴用了微米。请您看看。\n\n小雨"),
    ("sent", "Ines Varga", "ines.varga@post.example", 5, "15:02", False, False, (),
     "Re: 论文图片",
     "小雨：\n\n很好，图4的字再大一点就可以了。\n\n伊内丝"),
    ("sent", "Ines Varga", "ines.varga@post.example", 2, "09:50", False, False, (),
     "Re: Programme and travel", "Thank you! I will bring my own adapter for the projector.\n\nInes Varga"),
    ("archive", "Quayside Dental", "hello@quaysidedental.example", 12, "10:00", False, False, (),
     "Your next check-up", "Your check-up is booked. You can change it until the day before."),
    ("archive", "Dr. Okafor", "c.okafor@softmatter.example", 9, "18:20", False, False, (),
     "Travel money", "Approved. Please keep the receipts, all of them this time."),
    ("bin", "Cushion Planet", "sale@cushionplanet.example", 8, "07:15", False, False, (),
     "Everything must go", "Cushions at half price, this week only."),
)  # fmt: skip
_TO = {"Re: 论文图片": "xiaoyu.lin@softmatter.example", "Re: Programme and travel": "office@thinfilms.example"}


def first_mails(clock: datetime) -> list[State]:
    """Return the first mails, oldest last."""
    out = []
    for folder, name, address, days, time, unread, starred, files, subject, body in _FIRST:
        hour, minute = int(time[:2]), int(time[3:])
        then = (clock - timedelta(days=days)).replace(hour=hour, minute=minute, second=0, microsecond=0)
        out.append(
            {"folder": folder, "from": name, "address": address, "to": [_TO.get(subject, ACCOUNT["address"])],
             "subject": subject, "body": body, "time": then.isoformat(), "unread": unread, "starred": starred,
             "attachments": list(files)}
        )  # fmt: skip
    return out


def bare(subject: str) -> str:
    """Return a subject without the prefixes of replies and forwards."""
    return _PREFIX.sub("", subject).strip()


def conversation(mail: State) -> str:
    """Return the key of a mail's conversation: its bare subject, or its time if it has none."""
    return bare(str(mail["subject"])).casefold() or str(mail["time"])


def when(then: datetime, clock: datetime) -> str:
    """Return a time for a list of mails: the hour if today, else the day."""
    if then.date() == clock.date():
        return then.strftime("%H:%M")
    return then.strftime("%d %b" if then.year == clock.year else "%d %b %Y").lstrip("0")


def mail_row(mail: State, count: int, other: str, clock: datetime) -> View:
    """Return a conversation in a list: its latest mail, its correspondent, its number of mails."""
    unread = bool(mail["unread"])
    names = f"{other} ({count})" if count > 1 else other
    head = Row(
        [Text(names, "strong" if unread else "item", lines=1, grow=1, id="sender"),
         Text(when(moment(mail, clock), clock), "small", "faint", "right", id="date", lines=1)], gap=20,
    )  # fmt: skip
    subject = str(mail["subject"]) or "(no subject)"
    snippet = " ".join(str(mail["body"]).split()) or "(no words)"
    star = icon_button(
        "star" if mail["starred"] else "star_line", "Starred" if mail["starred"] else "Not starred",
        ("star", str(mail["subject"]), str(mail["time"])), colour="primary" if mail["starred"] else "faint",
        id="star",
    )  # fmt: skip
    second = Column(
        [Text(subject, "body", bold=unread, lines=1, id="subject"),
         Row([Icon("attach", 44) if mail["attachments"] else None,
              Text(snippet, "sub", "faint", lines=1, grow=1, id="snippet")], gap=8)],
        grow=1,
    )  # fmt: skip
    words = Column([head, Row([second, star], gap=12, align="bottom")], grow=1)
    row = Row([avatar(other), words], gap=32, pad=(48, 16, 28, 16), id="mail", align="top",
              on=("open", str(mail["subject"]), str(mail["time"])))  # fmt: skip
    row.desc = "Unread" if unread else ""
    return row


def mail_card(mail: State, to: str, clock: datetime) -> View:
    """Return one whole mail of a conversation."""
    then = moment(mail, clock)
    day = "Today" if then.date() == clock.date() else then.strftime("%a, %d %b").replace(" 0", " ")
    head = Row(
        [
            avatar(str(mail["from"])),
            Column(
                [Text(str(mail["from"]), "strong", lines=1, id="sender"),
                 Text(f"to {to}", "sub", "faint", lines=1, id="recipients")],
                grow=1,
            ),
        ],
        gap=28,
    )  # fmt: skip
    address = Text(f"{mail['address']}", "sub", "faint", lines=1, id="address")
    date = Text(f"{day}, {then.strftime('%H:%M')}", "sub", "faint", lines=1, id="date")
    body: list[View | None] = [head, address, date, Line(), Text(str(mail["body"]), "body", id="body", pad=(0, 16))]
    return inset(card([*body, *map(attachment, mail["attachments"])], pad=36, gap=8, id="mail"))


def attachment(name: str) -> Row:
    """Return an attachment's name in a row of its own."""
    return Row(
        [Icon("attach", 52, "on_soft"), Text(str(name), "body", "on_soft", lines=1, grow=1, id="attachment")],
        gap=20, pad=(28, 20), fill="soft", radius=28,
    )  # fmt: skip


def names(addresses: Sequence[str], me: State, people: Sequence[State]) -> str:
    """Return the names of addresses, as the phone's contacts have them."""
    names_by_address = {mail_of(person): str(person["name"]) for person in people if mail_of(person)} | {
        me["address"]: "me"
    }
    return ", ".join(names_by_address.get(str(address), str(address)) for address in addresses) or "nobody"


def mail_of(person: State) -> str:
    """Return a person's mail address, empty if it is unknown."""
    return str(person.get("email") or "")
