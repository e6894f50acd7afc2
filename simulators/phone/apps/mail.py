"""Mail: reading, writing, keeping and throwing away.

State, `apps.mail`:
- `account`: `{name, address}` of the phone's owner.
- `mails`, in no order: `{folder, from, address, to: [addresses], subject, body, time, unread, starred, attachments:
  [names]}` with `folder` one of inbox, sent, archive, bin; `from` is a name, `address` the sender's. Mails of one
  subject (without Re: and Fwd:) are one conversation. A sent mail's time is when it was sent.
- `drafts`: `{id, to, subject, body, quote, attachments, kind}`: what is not sent yet; `to` is as typed (names or
  addresses with commas between), `quote` what a forward carries below the words, `kind` new, reply or forward.
- `files`: names of what can be attached; `query`: what is searched.

A notification or a task opens a conversation by `screen: mail, args: {subject: ...}`.
"""

from __future__ import annotations

from datetime import datetime
from random import Random
from typing import ClassVar

from simulators.phone.app import AppContext, State
from simulators.phone.apps.mail_compose import Compose
from simulators.phone.apps.mail_data import ACCOUNT, FILES, FOLDERS, conversation, first_mails, moment
from simulators.phone.apps.mail_views import mail_card, mail_row, names
from simulators.phone.views import Button, Column, Dialog, Field, ListView, Page, Row, Screen, Space, Text, View
from simulators.phone.widgets import actions, app_bar, badge, empty, fab, icon_button, inset, item


class Mail(Compose):
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
        rows = self.rows(here, "inbox") if not query else self._found(here, query)
        nothing = empty("inbox", "No mail", "What arrives is shown here.")
        if query:
            nothing = empty("search", "Nothing found", "No mail holds these words.")
        return Page(
            ListView([*(rows or [nothing]), Space(220)], id="mails"),
            bar=Column([head, inset(field, 0, 20)]),
            fab=fab("edit", "Compose", ("compose",), "compose"),
        )

    def rows(self, here: AppContext, folder: str) -> list[View | None]:
        """A folder's conversations, the latest first."""
        return self._rows(here, [mail for mail in here.own["mails"] if _in(mail, folder)])

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
            out.append(mail_row(summary, len(whole), self._other(here, mail), here.clock))
        return out

    def _other(self, here: AppContext, mail: State) -> str:
        """Whom a mail is with: its sender, or to whom the owner sent it."""
        me = here.own["account"]
        if mail["address"] == me["address"]:
            return f"To: {names(mail['to'], me, self.people(here))}"
        return str(mail["from"] or mail["address"])

    def _found(self, here: AppContext, query: str) -> list[View | None]:
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
                count = len({conversation(m) for m in here.own["mails"] if _in(m, name)})
            unread = sum(bool(m["unread"]) for m in here.own["mails"] if _in(m, name) and name == "inbox")
            about = f"{count} {'mail' if count == 1 else 'mails'}" if name == "drafts" else _many(count)
            about += f", {unread} unread" if unread else ""
            on = ("home",) if name == "inbox" else ("go", "folder", {"name": name})
            rows.append(item(title, about, lead=badge(icon), on=on, id="folder"))
        account = Text(str(here.own["account"]["address"]), "body", "faint", lines=1, pad=(48, 0, 48, 16))
        return Page(ListView(rows, id="folders"), bar=Column([app_bar("Folders"), account]))

    def do_home(self, here: AppContext) -> None:
        here.own["query"] = ""
        here.back(len(here.phone["nav"]["stacks"][self.id]) - 1)

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
        words = Text(f"{_many(count)} will be deleted for ever.", "body", "faint")
        return Dialog("Empty the bin?", words, [Button("Cancel", "text", on=("back",)), remove])

    def do_empty_bin(self, here: AppContext) -> None:
        here.own["mails"] = [mail for mail in here.own["mails"] if mail["folder"] != "bin"]
        here.back()
        here.toast("Bin emptied")

    def do_open(self, here: AppContext, subject: str, time: str) -> None:
        here.go("mail", subject=subject, time=time)
        _mark(here, _key({"subject": subject, "time": time}), "unread", False)

    def opened(self, here: AppContext) -> None:
        if "subject" in here.args:
            _mark(here, _key(here.args), "unread", False)

    def screen_mail(self, here: AppContext) -> Screen:
        key = _key(here.args)
        mails = _conversation(here, key) or _binned(here, key)
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
        """Stars the latest mail of a conversation, or takes all its stars away."""
        key = _key({"subject": subject, "time": time})
        mails = _conversation(here, key) or _binned(here, key)
        starred = any(mail["starred"] for mail in mails)
        for mail in mails:
            mail["starred"] = not starred and mail is mails[-1]

    def do_unread(self, here: AppContext, subject: str, time: str) -> None:
        mails = [m for m in _conversation(here, _key({"subject": subject, "time": time})) if m["folder"] != "sent"]
        for mail in mails[-1:]:
            mail["unread"] = True
        here.back()
        here.toast("Marked as unread")

    def do_move(self, here: AppContext, subject: str, time: str, folder: str) -> None:
        """Moves a conversation; the owner's own mails stay among the sent ones unless they are thrown away."""
        me, key = here.own["account"]["address"], _key({"subject": subject, "time": time})
        for mail in _conversation(here, key) or _binned(here, key):
            mail["folder"] = "sent" if mail["address"] == me and folder != "bin" else folder
        here.back()
        here.toast({"archive": "Archived", "bin": "Moved to the bin", "inbox": "Moved to the inbox"}[folder])

    def screen_delete(self, here: AppContext) -> Screen:
        remove = Button("Delete", "danger", on=("delete", _subject(here), _time(here)), id="delete")
        words = Text("It cannot be brought back.", "body", "faint")
        return Dialog("Delete for ever?", words, [Button("Cancel", "text", on=("back",)), remove])

    def do_delete(self, here: AppContext, subject: str, time: str) -> None:
        deleted_mails = _binned(here, _key({"subject": subject, "time": time}))
        here.own["mails"] = [mail for mail in here.own["mails"] if mail not in deleted_mails]
        here.back(2)
        here.toast("Deleted")


def _subject(here: AppContext) -> str:
    return str(here.args.get("subject", ""))


def _time(here: AppContext) -> str:
    return str(here.args.get("time", ""))


def _key(args: State) -> str:
    return conversation({"subject": args.get("subject", ""), "time": args.get("time", "")})


def _in(mail: State, folder: str) -> bool:
    if folder == "starred":
        return bool(mail["starred"]) and mail["folder"] != "bin"
    return bool(mail["folder"] == folder)


def _conversation(here: AppContext, key: str) -> list[State]:
    """The mails of a conversation that are not thrown away, the oldest first."""
    mails = [m for m in here.own["mails"] if m["folder"] != "bin" and conversation(m) == key]
    return sorted(mails, key=lambda m: moment(m, here.clock))


def _binned(here: AppContext, key: str) -> list[State]:
    mails = [m for m in here.own["mails"] if m["folder"] == "bin" and conversation(m) == key]
    return sorted(mails, key=lambda m: moment(m, here.clock))


def _mark(here: AppContext, key: str, field: str, value: bool) -> None:
    for mail in here.own["mails"]:
        if conversation(mail) == key:
            mail[field] = value


def _many(count: int) -> str:
    return f"{count} conversation{'' if count == 1 else 's'}"
