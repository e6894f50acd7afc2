"""Goals of the calendar: something put into it, and what is read in it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from lab.agents.dates import length_in, place_in, span_in
from lab.agents.goals.nouns import NAME, Clause, Fact, Goal, Grammar

_GUESTS = re.compile(
    rf"\b(?:with|inviting|invited)\s+(?P<names>{NAME}(?:(?:\s*,\s*|\s+and\s+){NAME})*)"
    r"\s+(?:as\s+(?:a\s+)?guests?|to it)\b"
)
_ABOUT = re.compile(
    r"^把(?P<zh>.+?)(?:加到|写进|放进|记到)|^\W*(?:put\s+in|\S+)\s+(?:the|my|an?|our|his|her)?\s*(?P<about>.+?)"
    r"(?=\s+(?:for|on|into|in|to|at|from|of|as)\b|\s*[,.;:，。]|$)",
    re.IGNORECASE,
)
_WHAT = (
    ("weekday", r"\bweekday|\bday of the week|星期几"),
    ("date", r"\bdate\b|日期"),
    ("day", r"\bday\b|\bwhen\b"),
    ("time", r"\btimes?\b|\bhours?\b|\bwhen\b|\bwhat time\b|\bstart|时间"),
    ("place", r"\bplace|\broom|\bwhere\b|\blocation|地点"),
    ("guests", r"\bguests?|\bwho\b|\bpeople\b"),
)
"""What may be asked of an event, and the words for it."""


class Event(NamedTuple):
    """Something for the calendar; `about` are its words where no title is given, `when` the words that say the day.

    `start` and `end` are minutes of the day, `long` minutes; `of` is where it is announced.
    """

    title: str = ""
    about: str = ""
    when: str = ""
    start: int | None = None
    end: int | None = None
    long: int | None = None
    place: str = ""
    guests: tuple[str, ...] = ()
    of: Fact | None = None

    @property
    def key(self) -> tuple[object, ...]:
        return ("event", (self.title or self.about).casefold())

    @property
    def definite(self) -> bool:
        return False  # it belongs to one day, so the next one cannot be told from it

    @property
    def lasts(self) -> int | None:
        """Its length in minutes, where it is told."""
        if self.start is not None and self.end is not None:
            return self.end - self.start
        return self.long

    def said(self) -> str:
        return f"put {self.title or self.about!r} into the calendar"


def _event(clause: Clause) -> Sequence[Goal]:
    of = clause.fact("event")
    if of is not None and of.kind == "event":
        of = None
    said = [words for words in clause.said() if of is None or words != of.name]
    bare = re.sub(r"[\"“「].*?[\"”」]|(?<!\w)['‘].*?['’](?!\w)", " ", clause.words)
    about = _ABOUT.search(bare)
    guests = _GUESTS.search(bare)
    span = span_in(bare)
    return [
        Event(
            title=said[0] if said else "",
            about=(about["about"] or about["zh"]).strip() if about and not said else "",
            when=bare,
            start=span.start if span else None,
            end=span.end if span else None,
            long=length_in(bare),
            place=place_in(bare),
            guests=tuple(re.split(r"\s*,\s*|\s+and\s+", guests["names"])) if guests else (),
            of=of,
        )
    ]


def in_calendar(text: str, what: str) -> Fact | None:
    """What is to be read of an event."""
    found = re.search(
        r"[\"“「'‘](?P<a>[^\"“”「」'‘’]+)[\"”」'’]\s+(?:event|meeting|appointment)\b"
        r"|\b(?:event|meeting|appointment)\s+(?:called\s+|named\s+)?[\"“「'‘](?P<b>.+?)[\"”」'’](?!\w)"
        r"|[\"“「'‘](?P<c>[^\"“”「」'‘’]+)[\"”」'’]\s+(?:is\s+)?in\s+(?:my|the|his|her)\s+calendar\b"
        r"|日历[里中上]的?[“「](?P<d>.+?)[”」]",
        text,
    )
    if found is None:
        return None
    asked = asked_of(text)
    return Fact("event", next(part for part in found.groups() if part), asked if asked != "all" else what)


def asked_of(text: str) -> str:
    """Which of an event's particulars a text asks for, with blanks between; `all` where it names none."""
    return " ".join(name for name, pattern in _WHAT if re.search(pattern, text, re.IGNORECASE)) or "all"


GRAMMAR = Grammar(
    {
        "event": (
            r"(?:put|enter(?:ed)?|add(?:ed)?|schedul(?:e|ed)|creat(?:e|ed)|ma(?:ke|de)|pencil(?:led)?|writ(?:e|ten)|wrote)"
            r"\b(?![^.;]*?\b(?:note|alarm|contacts?)\b)[^.;]*?\b(?:calendar|event|appointment)\b"
            r"|put\s+in\b(?=\s+(?:the|my|an?|our)\b)|把(?=[^。]*日历)|加到日历",
            _event,
        )
    },
    (in_calendar,),
)
