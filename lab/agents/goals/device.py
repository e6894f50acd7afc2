"""Goals of the phone itself: alarms and switches."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from lab.agents.goals.nouns import Clause, Fact, Goal, Grammar, cut, hint_of
from lab.agents.reading import clock_times, quoted, shown_time

_LABEL = re.compile(r"\b(?:label|name|title)(?:l?ed)?\b|\bcall(?:ed)?\b", re.IGNORECASE)
_SHIFT = re.compile(
    r"\b(\d+|an?|one|two|three|half an)\s*(minutes?|min|hours?|h)\s+(before|after|earlier|later)\b", re.I
)


class Alarm(NamedTuple):
    """An alarm at `minute` of the day, or at the time a fact says, `shift` minutes later."""

    minute: int | None = None
    label: str = ""
    when: Fact | None = None
    named: Fact | None = None
    shift: int = 0

    @property
    def key(self) -> tuple[object, ...]:
        return ("alarm", self.minute, self.label)

    @property
    def definite(self) -> bool:
        return self.minute is not None

    def said(self) -> str:
        return f"set the alarm for {shown_time(self.minute)}" if self.minute is not None else "set the alarm"


class Switch(NamedTuple):
    """A setting turned on or off."""

    name: str
    on: bool

    @property
    def key(self) -> tuple[object, ...]:
        return ("switch", self.name.casefold(), self.on)

    @property
    def definite(self) -> bool:
        return True

    def said(self) -> str:
        return f"turn {'on' if self.on else 'off'} {self.name}"


def _alarm(clause: Clause) -> Sequence[Goal]:
    times = clock_times(clause.words)
    shift = _SHIFT.search(clause.words)
    label, named = _label(clause)
    when = None
    if not times:
        when = clause.fact(f"time {hint_of(clause.text)}".strip())
    return [Alarm(times[0][1] if times else None, label, when, named, _minutes(shift) if shift else 0)]


def _minutes(m: re.Match[str]) -> int:
    numbers = {"a": 1, "an": 1, "one": 1, "two": 2, "three": 3, "half an": 0.5}
    amount = float(m[1]) if m[1].isdigit() else numbers[m[1].lower()]
    whole = int(amount * (60 if m[2].startswith("h") else 1))
    return -whole if m[3].lower() in ("before", "earlier") else whole


def _label(clause: Clause) -> tuple[str, Fact | None]:
    """The words an alarm is to be labelled with, or the fact that they are."""
    found = _LABEL.search(clause.words)
    if not found:
        return "", None
    said = quoted(clause.words[found.start() :]) or quoted(clause.words)
    if said:
        return said[0], None
    thing = re.search(
        r"\b(?:the|her|his|its|their)\s+((?:\w+\s+)?(?:number|code|name|no\.))", clause.words, re.IGNORECASE
    )
    return "", clause.fact(thing[1].lower()) if thing else None


def _switch(clause: Clause) -> Sequence[Goal]:
    m = re.match(
        r"(?:turn|switch)(?:ed|ing)?\s+(?:(?P<on>on|off)\s+(?P<a>.+)|(?P<b>.+?)\s+(?P<on2>on|off)\b)"
        r"|(?P<verb>enabled?|disabled?|activated?|deactivated?)\s+(?P<c>.+)|(?P<zh>打开|关闭|开启)了?(?P<d>.+)",
        clause.words,
        re.IGNORECASE | re.DOTALL,
    )
    if not m:
        return []
    names = cut(m["a"] or m["b"] or m["c"] or m["d"] or "", r"\s+(?:in|at|for|before|so|via|from)\b|[,.;(，。]")
    state = (m["on"] or m["on2"] or "").lower()
    on = state == "on" if state else not (m["verb"] or "").lower().startswith(("dis", "deact")) and m["zh"] != "关闭"
    return [Switch(name, on) for name in re.split(r"\s*(?:,|\band\b|&|和|、)\s*", names) if name]


GRAMMAR = Grammar(
    {
        "alarm": (
            r"(?:set|sets|setting|add|added|create|created|make|made|put|schedule|scheduled)\b[^.;,]*?\balarm\b"
            r"|wake (?:me|us) up|wake (?:me|us)|[设定]+(?:了?一?个)?[^。，]*?闹钟",
            _alarm,
        ),
        "switch": (
            r"(?:turn(?:ed|ing)?|switch(?:ed|ing)?)\s+(?:[^.;,]{1,40}?\s)??(?:on|off)\b|(?:enable|disable|activate|"
            r"deactivate)d?\b|打开了?|关闭了?|开启了?",
            _switch,
        ),
    }
)
