"""Goals in words: messages and notes, and what is read in them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from lab.agents.goals.nouns import NAME, Clause, Fact, Goal, Grammar
from lab.agents.reading import quoted


class Send(NamedTuple):
    """A message to someone: words, or what facts say, one after another."""

    to: str
    text: str = ""
    facts: tuple[Fact, ...] = ()

    @property
    def key(self) -> tuple[object, ...]:
        return ("send", self.to.casefold(), self.text.casefold())

    @property
    def definite(self) -> bool:
        return bool(self.text)

    def said(self) -> str:
        return f"send {self.to} the message {self.text!r}" if self.text else f"send {self.to} what I found"


class Write(NamedTuple):
    """A new note."""

    title: str
    text: str = ""
    facts: tuple[Fact, ...] = ()

    @property
    def key(self) -> tuple[object, ...]:
        return ("write", self.title.casefold())

    @property
    def definite(self) -> bool:
        return bool(self.title and self.text)

    def said(self) -> str:
        return f"write the note {self.title!r}"


def _send(clause: Clause) -> Sequence[Goal]:
    to = re.search(rf"\bto\s+(?P<a>{NAME})|^(?i:\w+)\s+(?P<b>{NAME})|(?:发给|告诉)(?P<c>{NAME})", clause.words)
    if not to:
        return []
    name = next(part for part in to.groups() if part)
    facts = clause.facts()
    words = clause.said()
    if words:
        return [Send(name, words[0])]
    that = re.search(r"\b(?:that|saying)\s+(.+?)\s*[.!]?\s*$|:\s*(.+?)\s*$", clause.words[to.end() :], re.DOTALL)
    if not facts and that:
        return [Send(name, (that[1] or that[2]).strip())]
    return [Send(name, "", facts)]


def _write(clause: Clause) -> Sequence[Goal]:
    said = quoted(clause.words)
    facts = tuple(fact for fact in clause.facts() if fact.name != (said[0] if said else ""))
    if said:
        return [Write(said[0], said[1] if len(said) > 1 else "", () if len(said) > 1 else facts)]
    return [Write("", "", facts)] if facts else []


def in_note(text: str, what: str) -> Fact | None:
    """What is to be read in a note."""
    found = re.search(
        r"\bnotes?\s+(?:called|titled|named|about|on)?\s*[\"“「'‘](?P<a>.+?)[\"”」'’](?!\w)"
        r"|[\"“「'‘](?P<b>[^\"“”「」'‘’]+)[\"”」'’]\s+note\b"
        rf"|\bnotes?\s+(?:called|titled|named|about|on)\s+(?P<c>{NAME})|\b(?:my|the)\s+(?P<d>{NAME})\s+note\b",
        text,
    )
    return Fact("note", next(part for part in found.groups() if part), what) if found else None


def in_message(text: str, what: str) -> Fact | None:
    """What is to be read in someone's messages."""
    found = re.search(
        rf"(?P<a>{NAME})\s+(?:has\s+|just\s+|had\s+)*(?:wrote|written|texted|sent|messaged|told)\b"
        rf"|\b(?:message|text|sms)s?\s+(?:from|by)\s+(?P<b>{NAME})"
        rf"|(?P<c>{NAME})(?:['’]s|s['’])\s+(?:last\s+|latest\s+|new\s+)?(?:message|text|sms)",
        text,
    )
    return Fact("message", next(part for part in found.groups() if part).strip(), what) if found else None


GRAMMAR = Grammar(
    {
        "note": (
            r"(?:write|wrote|make|made|create|created|add|added|save|saved|take|took|jot(?:ted)? down)\b"
            r"[^.;,]*?\bnote\b",
            _write,
        ),
        "send": (
            r"(?:send|sent|text|texted|message|messaged|tell|told|forward|forwarded|reply|replied|write|wrote)\b"
            r"(?![^.;,]*?\bnote\s+(?:saying|with|titled|called))|发给|告诉",
            _send,
        ),
    },
    (in_note, in_message),
)
