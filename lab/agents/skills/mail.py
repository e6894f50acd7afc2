"""Reading a mail, and writing one."""

from __future__ import annotations

import re

from lab.agents.doing import Doing, GiveUp
from lab.agents.facts import from_texts
from lab.agents.goals.mail import Mail
from lab.agents.goals.nouns import Fact
from lab.agents.reading import mentions, words
from lab.agents.search import search_field
from lab.agents.skills.looking import told
from lab.agents.talk import Work
from lab.uitree import Node

_APP = ("Mail", "Email", "E-mail", "Inbox", "邮件", "邮箱")
_HINTS = ("mail", "inbox")
_NEW = ("Compose", "New mail", "New email", "Write", "写邮件", "新邮件")
_FOLDERS, _DRAFTS = ("Folders", "Open navigation drawer", "Menu", "文件夹"), ("Drafts", "草稿箱", "草稿")
_SEND = ("Send", "Send mail", "发送")
_BODY = ("Write your mail", "Compose email", "Body", "Message", "正文")
_STAMP = re.compile(r"^[\w ,.]*\d{1,2}:\d\d(\s?[ap]m)?$|^\S+@\S+$|^(to|from) \S", re.IGNORECASE)
"""What stands above a mail: when it was sent, addresses, recipients."""
_MOST = 5
"""How many of the mails that a search finds are read."""


def look(work: Work, fact: Fact) -> Doing[str | int]:
    """A fact out of the mails that someone sent, or that have a subject, the newest that holds it first."""
    name, what = fact.name, fact.what
    yield from _search(work, name)
    for number in range(_MOST):
        rows = _found(work, name)
        if number >= len(rows):
            break
        yield from work.tap(rows[number], f"I open what I found of {name}.")
        found = from_texts(_said(list(reversed((yield from _read(work)))), name), what)
        if found is not None:
            return found
        yield from work.back(f"The {what} is not in it; I look at the next one.")
    raise GiveUp(f"I found no {what} in the mails of {name}")


def do_mail(work: Work, goal: Mail) -> Doing[None]:
    """A mail whose words may have to be looked up first."""
    text = goal.text or (yield from told(work, goal.facts))
    if not text:
        raise GiveUp(f"I do not know what to write to {goal.to}")
    subject = goal.subject or _titled(goal, text)
    if work.witnessed and (yield from _sent(work, goal.to, subject, text)):
        return
    yield from _begin(work, goal.to, subject)
    yield from _address(work, goal.to)
    yield from _fill(work, ("Subject", "主题"), subject, "I write its subject.")
    yield from _fill(work, _BODY, text, f"I write the mail to {goal.to}.")
    send = work.find(*_SEND, exact=True, role="tap")
    if send is None:
        raise GiveUp("I found no way to send the mail")
    yield from work.tap(send, f"I send it to {goal.to}.")
    if work.find(*_SEND, exact=True, role="tap") is not None or work.shows("Not sent"):
        raise GiveUp(f"the mail to {goal.to} was not sent")


def _begin(work: Work, name: str, subject: str) -> Doing[None]:
    """Opens a new mail; the one that was begun, where somebody has come between."""
    yield from _open(work)
    if work.witnessed and (yield from _resume(work, name, subject)):
        return
    button = yield from work.seek(*_NEW, role="tap", most=2)
    if button is None:
        raise GiveUp("I found no way to write a mail")
    yield from work.tap(button, "I begin a new mail.")


def _resume(work: Work, name: str, subject: str) -> Doing[bool]:
    """Opens a draft to someone, or of that subject; False where there is none."""
    for labels in (_FOLDERS, _DRAFTS):
        door = work.find(*labels, exact=True, role="tap") or work.find(*labels, exact=True)
        if door is not None:
            yield from work.tap(work.row(door), "I look whether the mail is begun already.")
    wanted = {word for word in words(f"{name} {subject}") if len(word) > 3}
    rows = [n for n in work.nodes() if n.clickable and n.children and wanted & set(words(work.words_of(n)))]
    if rows:
        yield from work.tap(rows[0], "It is; I go on with it.")
        return True
    yield from work.to_root()
    return False


def _titled(goal: Mail, text: str) -> str:
    """A subject for a mail that was given none: what it is about, else how it begins."""
    if goal.facts:
        first = goal.facts[0]
        return first.name if first.what == "all" else first.what.capitalize()
    return " ".join(text.split()[:6]).rstrip(".,;:!?")


def _open(work: Work) -> Doing[None]:
    if not (yield from work.open_app(*_APP, hints=_HINTS)):
        raise GiveUp("I found no mail on this phone")


def _search(work: Work, name: str) -> Doing[None]:
    yield from _open(work)
    field = search_field(work)
    if field is not None:
        yield from work.fill(field, name, f"I search the mails for {name}.")


def _found(work: Work, name: str) -> list[Node]:
    """The mails in a list that name someone or something, from the top down: by sender or subject, else by words."""
    field = search_field(work)
    top = field.bounds.bottom if field is not None else 0
    own = {id(work.row(n)): work.row(n) for n in work.nodes() if mentions(n.text, name) and n.bounds.top >= top}
    rows = [row for row in own.values() if row.clickable]
    if not rows and field is not None:
        rows = [n for n in work.nodes() if n.clickable and n.bounds.top >= top and len(n.children) > 0 and not n.desc]
    return sorted(rows, key=lambda row: row.bounds.top)


def _read(work: Work) -> Doing[list[tuple[str, str]]]:
    """All that the open mail and those around it say, each with who wrote it, scrolled to the end."""
    lines: list[str] = []
    for _ in range(6):
        body = work.body()
        lines += [n.text for n in (body.walk() if body else ()) if n.text and n.text not in lines]
        if not (yield from work.scroll("down", "I read on.")):
            break
    texts, sender = [], ""
    for line, following in zip(lines, [*lines[1:], ""], strict=True):
        if re.match(r"to \S", following):
            sender = line
        elif not _STAMP.match(line):
            texts.append((sender, line))
    return texts


def _said(texts: list[tuple[str, str]], name: str) -> list[str]:
    """The words of a conversation, those of others than the one who is meant left out where that one wrote any."""
    own = [text for sender, text in texts if mentions(sender, name)]
    return own or [text for _, text in texts]


def _address(work: Work, name: str) -> Doing[None]:
    """Puts in whom the mail is for; the one whom the phone suggests under that name, where it does."""
    field = next((f for f in work.fields() if f.desc.strip().casefold() in ("to", "收件人", "recipients")), None)
    if field is None:
        raise GiveUp("I found no place for whom the mail is for")
    if field.text.strip() and field.text in str(work.known.get(("suggested", name), "")):
        return  # somebody came between, and what was chosen before stands there
    yield from work.fill(field, name, f"The mail is for {name}.")
    rows = [
        n for n in work.nodes() if n.clickable and mentions(work.words_of(n), name) and not n.cls.endswith("EditText")
    ]
    if rows:
        work.known["suggested", name] = work.words_of(rows[0])
        yield from work.tap(rows[0], f"I choose {work.words_of(rows[0])[:60]!r}.")


def _fill(work: Work, names: tuple[str, ...], text: str, thought: str) -> Doing[None]:
    field = work.find(*names, role="field") or (yield from work.seek(*names, role="field", most=3))
    if field is None or not (yield from work.fill(field, text, thought)):
        raise GiveUp(f"I found no place for the {names[0].lower()} of a mail")


def _sent(work: Work, name: str, subject: str, text: str) -> Doing[bool]:
    """Whether such a mail is there already: somebody else may have sent it."""
    yield from _search(work, subject)
    for row in _found(work, subject)[:2]:
        yield from work.tap(row, f"I look whether {name} has it already.")
        if text.split() in [shown.split() for _, shown in (yield from _read(work))]:
            return True
        yield from work.back("That is another one.")
    return False
