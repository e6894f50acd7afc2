"""Goals of mail: a mail to someone, and what is read in the mails that came."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from lab.agents.goals.nouns import NAME, Clause, Fact, Goal, Grammar
from lab.agents.reading import quoted

_MAIL = r"(?:e-?)?mails?"
_TO = re.compile(
    rf"\bto\s+(?P<a>{NAME})|^(?i:(?:e-?)?mail(?:ed)?)\s+(?P<b>{NAME})|^\w+\s+(?P<c>{NAME})\s+(?:an?|my|the)\b"
)
_SUBJECT = re.compile(
    r"\bsubject\b[^\"“「'‘.;]{0,12}?(?:[\"“「]|(?<!\w)['‘])(.+?)(?:[\"”」]|['’](?!\w))", re.IGNORECASE
)
_SAYING = re.compile(r"\b(?:that|saying)\s+(.+?)\s*[.!]?\s*$|:\s*(.+?)\s*$", re.DOTALL)


class Mail(NamedTuple):
    """A mail to someone: words, or what facts say, one after another."""

    to: str
    subject: str = ""
    text: str = ""
    facts: tuple[Fact, ...] = ()

    @property
    def key(self) -> tuple[object, ...]:
        return ("mail", self.to.casefold(), self.subject.casefold(), self.text.casefold())

    @property
    def definite(self) -> bool:
        return bool(self.text)

    def said(self) -> str:
        return f"mail {self.to} {self.text!r}" if self.text else f"mail {self.to} what I found"


def _mail(clause: Clause) -> Sequence[Goal]:
    to = _TO.search(clause.words)
    if not to:
        return []
    name = next(part for part in to.groups() if part)
    subject = _SUBJECT.search(clause.words)
    titled = subject[1].strip() if subject else ""
    facts = clause.facts()
    named = {titled, *(fact.name for fact in facts)}
    words = [said for said in quoted(clause.words) if said not in named]
    if words:
        return [Mail(name, titled, words[0])]
    that = _SAYING.search(clause.words[to.end() :])
    if not facts and that:
        return [Mail(name, titled, (that[1] or that[2]).strip())]
    return [Mail(name, titled, "", facts)] if facts else []


def in_mail(text: str, what: str) -> Fact | None:
    """What is to be read in someone's mail, or in the mail of a subject."""
    found = re.search(
        rf"(?i:\b{_MAIL}\s+(?:(?:called|titled|named|about|on)\s+)?)[\"“「'‘](?P<a>.+?)[\"”」'’](?!\w)"
        rf"|[\"“「'‘](?P<b>[^\"“”「」'‘’]+)[\"”」'’]\s+(?i:{_MAIL})\b"
        rf"|(?P<c>{NAME})(?:['’]s|s['’])\s+(?:(?i:last|latest|new|newest)\s+)?(?i:{_MAIL})\b"
        rf"|\b(?i:{_MAIL})\s+(?:that\s+)?(?:from|by)\s+(?P<d>{NAME})"
        rf"|(?P<e>{NAME})\s+(?:has\s+|just\s+|had\s+)*(?i:e-?)?mailed\b|(?:从|看|在|把|据)(?P<f>[\u4e00-\u9fff]{{2,4}})的邮件",
        text,
    )
    return Fact("mail", next(part for part in found.groups() if part).strip(), what) if found else None


GRAMMAR = Grammar(
    {
        "mail": (
            rf"(?:e-?)?mail(?:ed)?\b(?!\s+app\b)(?=\s+\S)|(?:write|wrote|send|sent)\b[^.;,:]{{0,40}}?\ban?\s+{_MAIL}\b"
            rf"|(?:write|wrote|send|sent|tell|told)\b[^.;,:]{{0,60}}?\bby\s+{_MAIL}\b",
            _mail,
        )
    },
    (in_mail,),
)
