"""Goals of a team chat: a post to a channel, one's status there, an update that is always sent alike."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from lab.agents.goals.nouns import NAME, Clause, Fact, Goal, Grammar

_CHANNEL = r"(?:#(?P<{0}>[\w-]+)|(?:the\s+)?(?P<{1}>[\w-]+)\s+channel)"
_INTO = rf"(?<!posted )(?<!wrote )(?<!said )(?<!written )\b(?:in|into|to|on)\s+{_CHANNEL}"
_DAY = r"(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day\b"
_APP = re.compile(
    rf"\b(?:on|in|via|using|opened)\s+(?:the\s+)?(?!{_DAY})({NAME})(?:\s+app)?"
    r"(?=\s*[,;.:]|\s+(?:and|to|for|that|with)\b|$)"
)
_BESIDE = re.compile(rf"(?:#[\w-]+|\bchannel)\s+(?:on|in)\s+({NAME})")
_SAYING = re.compile(r"\b(?:that|saying)\s+(.+?)\s*[.!]?\s*$|:\s*(.+?)\s*$", re.DOTALL)
_STATUS = re.compile(
    r"\bstatus\b[^.;]*?\bto\s+[\"“「'‘]?([A-Z]\w*(?: [a-z]\w*){0,3}?)[\"”」'’]?"
    r"(?=\s*[.,;]|\s+(?:and|for|until|on|there)\b|\s*$)"
)
_UPDATE = (
    r"(?:my|our|the)\s+(?:usual\s+|normal\s+)?(?P<update>(?:[\w-]+\s+){0,2}?(?:update|report|check-in|stand-?up))\b"
)


class Post(NamedTuple):
    """A message to everyone in a channel: words, or what facts say, one after another."""

    channel: str
    text: str = ""
    facts: tuple[Fact, ...] = ()
    app: str = ""

    @property
    def key(self) -> tuple[object, ...]:
        return ("post", self.channel.casefold(), self.text.casefold())

    @property
    def definite(self) -> bool:
        return bool(self.text)

    def said(self) -> str:
        return f"post {self.text!r} in #{self.channel}" if self.text else f"post what I found in #{self.channel}"


class Presence(NamedTuple):
    """One's status in a team chat."""

    status: str
    app: str = ""

    @property
    def key(self) -> tuple[object, ...]:
        return ("status", self.status.casefold(), self.app.casefold())

    @property
    def definite(self) -> bool:
        return True

    def said(self) -> str:
        return f"set the status to {self.status}{f' on {self.app}' if self.app else ''}"


class Update(NamedTuple):
    """Something that is sent again and again in one form, which only the log tells."""

    name: str

    @property
    def key(self) -> tuple[object, ...]:
        return ("update", self.name.casefold())

    @property
    def definite(self) -> bool:
        return False

    def said(self) -> str:
        return f"send the {self.name}"


def _post(clause: Clause) -> Sequence[Goal]:
    into = re.search(_INTO.format("a", "b"), clause.words)
    if not into:
        return []
    channel, app = into["a"] or into["b"], app_in(clause)
    facts = clause.facts()
    words = clause.said()
    if words:
        return [Post(channel, words[0], (), app)]
    that = _SAYING.search(clause.words[into.end() :])
    if not facts and that:
        return [Post(channel, (that[1] or that[2]).strip(), (), app)]
    return [Post(channel, "", facts, app)] if facts else []


def _status(clause: Clause) -> Sequence[Goal]:
    found = _STATUS.search(clause.words)
    return [Presence(found[1], app_in(clause))] if found else []


def _update(clause: Clause) -> Sequence[Goal]:
    found = re.search(_UPDATE, clause.words, re.IGNORECASE)
    return [Update(" ".join(found["update"].split()).casefold())] if found else []


def app_in(clause: Clause) -> str:
    """The app that a clause, or else its text, names: beside a channel, else anywhere."""
    for text in (clause.words, clause.text):
        found = _APP.search(text)
        named = app_beside(text) or (found[1] if found else "")
        if named:
            return named
    return ""


def app_beside(text: str) -> str:
    """The app that is named beside a channel."""
    found = _BESIDE.search(text)
    return found[1] if found else ""


def in_channel(text: str, what: str) -> Fact | None:
    """What is to be read in a channel, of one person where one is named."""
    found = re.search(
        rf"(?P<who>{NAME})(?:['’]s\s+(?:[\w-]+\s+)?(?:message|post)|\s+(?:has\s+|just\s+|had\s+)*(?:posted|wrote|written|said))"
        rf"\s+in\s+{_CHANNEL.format('c', 'd')}|\bfrom\s+{_CHANNEL.format('e', 'f')}",
        text,
    )
    if not found:
        return None
    channel = found["c"] or found["d"] or found["e"] or found["f"]
    return Fact("channel", f"{found['who']} in #{channel}" if found["who"] else f"#{channel}", what)


_INTO_ANY = _INTO.format("into1", "into2").replace("(?P<into1>", "(?:").replace("(?P<into2>", "(?:")

GRAMMAR = Grammar(
    {
        "update": (
            r"(?:send|post|share|write|do|give)\s+" + _UPDATE.replace("(?P<update>", "(?:") + r"(?!\s+(?:to|in)\b)",
            _update,
        ),
        "post": (
            rf"(?:post|posted|share|shared|announced?|write|wrote|send|sent|put)\b(?=[^.;]*?{_INTO_ANY})",
            _post,
        ),
        "status": (r"(?:set|sets|setting|change|changed|turned|put)\b(?=[^.;,]{0,40}?\bstatus\b)", _status),
    },
    (in_channel,),
)
