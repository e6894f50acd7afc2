"""Views that the mail app's screens share."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from simulators.phone.app import State
from simulators.phone.apps.mail_data import moment, when
from simulators.phone.kit.views import Column, Icon, Line, Row, Text, View
from simulators.phone.kit.widgets import avatar, card, icon_button, inset


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
