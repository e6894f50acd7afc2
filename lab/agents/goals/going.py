"""Goals of getting somewhere, and what a map is asked: ways, addresses, opening hours."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from lab.agents.goals.nouns import Clause, Condition, Fact, Goal, Grammar
from lab.agents.reading import clock_times, shown_time

_WORD = r"(?:[A-Z0-9][\w’-]*|[\u4e00-\u9fff]+)"
PLACE = rf"(?:(?i:the)\s+)?(?P<{{}}>{_WORD}(?:\s+(?:(?:of|the|and|de|at)\s+)*{_WORD})*)"
"""A place as names are written: words with capitals, numbers, or Chinese characters, `of` and `the` between them."""
_DAY = (
    r"(?i:today|tomorrow|tonight|(?:next\s+)?(?:mon|tues|wednes|thurs|fri|satur|sun)day"
    r"|\d{1,2}\s+(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*|[今明后]天|周[一二三四五六日])"
)
MODES = {
    "bus": r"\bbus(?:es)?\b|公交", "bike": r"\b(?:bike|bicycle|cycling|cycled?)\b|骑车|自行车",
    "car": r"\b(?:car|drive|driving|drove)\b|开车", "walk": r"\b(?:walk(?:ing|ed)?|on foot)\b|步行|走路",
}  # fmt: skip


class Way(NamedTuple):
    """Being led somewhere: a place by name, or what the person keeps under a word such as home."""

    to: str
    mode: str = ""

    @property
    def key(self) -> tuple[object, ...]:
        return ("way", self.to.casefold())

    @property
    def definite(self) -> bool:
        return bool(self.to and self.mode)

    def said(self) -> str:
        how = {"": "", "walk": " on foot"}.get(self.mode, f" by {self.mode}")
        return f"start the way to {self.to}{how}"


class Opened(NamedTuple):
    """Whether a place is open at a minute of a day."""

    place: str
    day: str
    minute: int

    def said(self) -> str:
        return f"{self.place} is open at {shown_time(self.minute)}{f' on {self.day}' if self.day else ''}"


class Takes(NamedTuple):
    """Whether a way takes more minutes than a limit, or fewer."""

    to: str
    origin: str
    mode: str
    above: bool
    minutes: int

    def said(self) -> str:
        return f"the way to {self.to} by {self.mode} takes {'more' if self.above else 'less'} than {self.minutes} min"


def mode_in(text: str) -> str:
    """How one goes, where a text says so."""
    return next((mode for mode, words in MODES.items() if re.search(words, text, re.IGNORECASE)), "")


def place_after(text: str, before: str) -> str:
    """The last place that a text names after a word; empty where there is none."""
    found = list(re.finditer(rf"\b(?i:{before})\s+{PLACE.format('place')}", text))
    return found[-1]["place"].strip() if found else ""


def day_words(text: str) -> str:
    """The day that a text names, in its own words."""
    found = re.search(_DAY, text)
    return found[0] if found else ""


def above_in(text: str) -> bool | None:
    """Whether a comparison asks for more (True) or less than its limit; None where it is none."""
    if re.search(r"\b(?:above|over|more|longer|higher|warmer|at least|exceeds?|greater)\b|超过|高于", text, re.I):
        return True
    return False if re.search(r"\b(?:below|under|less|fewer|shorter|lower|colder|at most)\b|低于", text, re.I) else None


def _way(clause: Clause) -> Sequence[Goal]:
    home = re.search(r"\bhome\b|回家", clause.words, re.IGNORECASE)
    to = place_after(clause.words, "to") or ("home" if home else "")
    return [Way(to, mode_in(clause.words))] if to else []


def on_the_way(text: str, what: str) -> Fact | None:
    """How long a way takes, or which way it is; `what` says by what and from where."""
    mode = mode_in(text)
    asked = re.search(
        r"\b(?:how (?:long|far|many minutes)|minutes?|(?:walking|cycling|driving|bus) time|time by|way|route"
        r"|directions)\b|多久|路线",
        text,
        re.IGNORECASE,
    )
    to = place_after(text[asked.start() :], "to|reach") if asked else ""
    there = re.search(r"\bthere\b|\bto (?:that|this|the) (?:address|place)\b|那里", text, re.IGNORECASE)
    if asked is None or not mode or not (to or there):
        return None
    whole = re.search(r"\b(?:way|route|directions|lines?)\b|路线", text, re.IGNORECASE)
    origin = place_after(text[asked.start() :], "from")
    return Fact("way", to, f"{'way' if whole else 'minutes'} by {mode}{f' from {origin}' if origin else ''}")


def on_a_map(text: str, what: str) -> Fact | None:
    """What a map says of a place: its address, its number, when it is open."""
    thing = r"(?P<thing>(?i:address|(?:phone )?number|opening hours|opening times|hours|closing time|opening time))"
    found = re.search(rf"\b{thing}\s+of\s+{PLACE.format('place')}", text)
    found = found or re.search(rf"{PLACE.format('place')}['’]s?\s+{thing}\b", text)
    if found is None or not (
        re.search(r"\bmaps?\b|地图", text, re.IGNORECASE) or re.search("hours|ing time", found[0])
    ):
        return None
    return Fact("place", found["place"].strip(), f"{found['thing'].lower()} {day_words(text)}".strip())


def is_open(text: str) -> Condition | None:
    """Whether some place is open then."""
    found = re.search(rf"^{PLACE.format('place')}\s+(?:is|stays)\s+(?:still\s+)?open\b", text.strip(), re.DOTALL)
    times = clock_times(text)
    return Opened(found["place"].strip(), day_words(text), times[-1][1]) if found and times else None


def takes(text: str) -> Condition | None:
    """Whether a way is longer or shorter than so many minutes."""
    limit, above, mode = re.search(r"\b(\d+)\s*min", text), above_in(text), mode_in(text)
    to = place_after(text, "to")
    if limit is None or above is None or not mode or not to:
        return None
    return Takes(to, place_after(text, "from"), mode, above, int(limit[1]))


GRAMMAR = Grammar(
    {
        "way": (
            r"(?:take|lead|guide|bring|navigate|get) (?:me|us) (?:to\b|home\b)|navigated? (?:to|home)\b"
            r"|start(?:ed)? (?:the )?(?:way|navigation|route)\b|(?:went|go|rode|drove|cycled) home (?:by|with|on)\b"
            r"|(?:带我|导航)回?",
            _way,
        )
    },
    (on_the_way, on_a_map),
    (is_open, takes),
)
