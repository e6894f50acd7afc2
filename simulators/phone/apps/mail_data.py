"""The first mails on the phone, all invented, and the grouping of mails into conversations."""

from __future__ import annotations

import re
from datetime import datetime, timedelta

from simulators.phone.app import State

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


def moment(mail: State, clock: datetime) -> datetime:
    """Return the sending time of a mail, with an offset."""
    then = datetime.fromisoformat(mail["time"]) if mail["time"] else clock
    return then if then.tzinfo else then.replace(tzinfo=clock.tzinfo)


def when(then: datetime, clock: datetime) -> str:
    """Return a time for a list of mails: the hour if today, else the day."""
    if then.date() == clock.date():
        return then.strftime("%H:%M")
    return then.strftime("%d %b" if then.year == clock.year else "%d %b %Y").lstrip("0")
