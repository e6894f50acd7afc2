"""Goals of the book of people: a number saved, somebody called."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from lab.agents.facts import phone_in
from lab.agents.goals.nouns import NAME, Clause, Fact, Goal, Grammar
from lab.agents.reading import quoted

_NAMED = re.compile(rf"\b(?:as|named|called|for)\s+(?:(?:an?|the|new|contact)\s+)*(?P<name>{NAME})")
_WHOSE = re.compile(r"\bnumber\s+(?:of|for)\s+(?:the\s+)?(?P<whose>.+?)(?=\s+(?:and|to|in|as)\b|\s*[,.;:，。]|$)", re.I)
_OTHERS = re.compile(r"(?P<whose>\S+)(?:['’]s|s['’])\s+(?:phone\s+|telephone\s+)?number\b")


class SaveContact(NamedTuple):
    """A number saved under a name; where it is not told, `fact` is where it stands."""

    name: str
    number: str = ""
    fact: Fact | None = None

    @property
    def key(self) -> tuple[object, ...]:
        return ("contact", self.name.casefold())

    @property
    def definite(self) -> bool:
        return bool(self.name and self.number)

    def said(self) -> str:
        return f"save {self.number or 'the number'} as {self.name}"


class Call(NamedTuple):
    """Somebody called, by name or by number."""

    who: str

    @property
    def key(self) -> tuple[object, ...]:
        return ("call", self.who.casefold())

    @property
    def definite(self) -> bool:
        return False  # it would ring at somebody's who was not asked, so it is never offered

    def said(self) -> str:
        return f"call {self.who}"


def _save(clause: Clause) -> Sequence[Goal]:
    said = quoted(clause.words)
    found = _NAMED.search(clause.words)
    name = said[0] if said else found["name"] if found else ""
    if not name:
        return []
    number = phone_in(clause.words) or ""
    return [SaveContact(name, number, None if number else clause.fact(f"phone {_whose(clause.text)}".strip()))]


def _whose(text: str) -> str:
    found = _WHOSE.search(text) or _OTHERS.search(text)
    return found["whose"].strip() if found else ""


def _call(clause: Clause) -> Sequence[Goal]:
    number = phone_in(clause.words)
    found = re.match(rf"\S+\s+(?:up\s+)?(?P<name>{NAME})|打电话给(?P<zh>{NAME})", clause.words)
    if found:
        return [Call(found["name"] or found["zh"])]
    if number:
        return [Call(number)]
    saved = re.search(r"\bcontacts?\b.*", clause.text, re.IGNORECASE | re.DOTALL)
    names = quoted(saved[0]) if saved and re.match(r"\S+\s+(?:it|them|him|her|that)\b", clause.words) else []
    return [Call(names[0])] if names else []


GRAMMAR = Grammar(
    {
        "save_contact": (
            r"(?:sav(?:e|ed)|add(?:ed)?|stor(?:e|ed)|put|enter(?:ed)?|creat(?:e|ed))\b(?=[^.;]*\bcontacts?\b)",
            _save,
        ),
        "call": (
            r"(?:call(?:ed)?|ring|rang|phoned?|dial(?:led)?)\b(?=\s+\S)(?!\s*[\"'“‘「])"
            r"(?!\s+(?:it|him|her|them|the\s+\w+)\s+[\"'“‘「])(?!\s+for\b)|打电话给",
            _call,
        ),
    }
)
