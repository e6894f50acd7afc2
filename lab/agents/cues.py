"""Cues: something on the screen now after which, as the log shows, the person always does the same.

A cue is told from the screen alone: from notifications and bars, which belong to the system, and from what the app in
front shows. What is done then is counted in those lines of the log that speak of the same cue.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from typing import NamedTuple

from lab.agents.goals import Goal
from lab.agents.goals.keeping import Block, Ring
from lab.agents.habits import Deed
from lab.agents.meetings import about_to_begin
from lab.agents.reading import Entry
from lab.agents.talk import Work

_LEAST, _SHARE, _RECENT = 3, 0.6, timedelta(days=35)
"""A cue's deed is offered when it was done at least three times and in three of five of the cases, lately."""


class Cue(NamedTuple):
    """A sort of cue: how a line of the log speaks of it, and how it is seen; `seen` gives what it is about, or None.

    `fill` puts what it is about (a sender, a device) into a goal that the log tells of another one.
    """

    name: str
    logged: re.Pattern[str]
    seen: Callable[[Work], str | None]
    fill: Callable[[Goal, str], Goal] = lambda goal, about: goal


class Cued(NamedTuple):
    """What is done upon a cue that stands on the screen: the goals, and in how many of the log's cases."""

    cue: Cue
    about: str
    goals: tuple[Goal, ...]
    times: int
    of: int


def battery_at(work: Work) -> int | None:
    """The percentage that the status bar shows."""
    found = (re.fullmatch(r"(\d{1,3})\s?%", text.strip()) for text in work.notices())
    return next((int(m[1]) for m in found if m), None)


def notice(pattern: str) -> Callable[[Work], str | None]:
    """A cue's `seen`: a notification that fits; what its group `about` holds, else the whole."""
    compiled = re.compile(pattern, re.IGNORECASE)

    def seen(work: Work) -> str | None:
        for text in work.notices():
            found = compiled.search(text)
            if found:
                return (found.groupdict().get("about") or found[0]).strip()
        return None

    return seen


_LOW = 20
"""The percentage from which on a battery is low."""


def little_left(work: Work) -> str | None:
    """How full the battery is, where that is little."""
    level = battery_at(work)
    return f"{level}%" if level is not None and level <= _LOW else None


def _of_sender(goal: Goal, about: str) -> Goal:
    return goal._replace(sender=about) if isinstance(goal, Block) else goal


def _of_device(goal: Goal, about: str) -> Goal:
    return goal._replace(device=about) if isinstance(goal, Ring) else goal


CUES: tuple[Cue, ...] = (
    Cue(
        "a message with a link from a stranger",
        re.compile(r"\b(?:unknown|stranger)\b.*\blink\b|陌生.*链接", re.IGNORECASE | re.DOTALL),
        notice(r"(?P<about>\+\d[\d ()-]{5,}\d)\s.*\b[\w-]+\.[a-z]{2,}(?:/|\b)"),
        _of_sender,
    ),
    Cue(
        "a low battery",
        re.compile(r"\bbattery\b[^.]{0,40}(?:\d+\s?(?:%|per ?cent)|\blow\b)|电量", re.IGNORECASE),
        little_left,
    ),
    Cue(
        "something left behind",
        re.compile(r"\bleft behind\b|落下", re.IGNORECASE),
        notice(r"^(?P<about>[^:]+?)(?: (?:was|were))? left behind$"),
        _of_device,
    ),
    Cue(
        "a meeting that is about to begin",
        re.compile(r"\b(?:meeting|call|review|class|lecture)\b[^.]{0,60}\babout to (?:begin|start)\b", re.IGNORECASE),
        about_to_begin,
    ),
)
"""Every sort of cue, the most pressing first."""


def cued(work: Work, cues: Sequence[Cue] = CUES) -> Cued | None:
    """The first cue on the screen upon which the log shows one thing done nearly always."""
    for cue in cues:
        about = cue.seen(work)
        if about is not None:
            found = _done_upon(work, cue, about)
            if found is not None:
                return found
    return None


def _done_upon(work: Work, cue: Cue, about: str) -> Cued | None:
    entries = [e for e in work.entries if cue.logged.search(e.text) and _lately(e, work.now)]
    goals: dict[tuple[object, ...], list[Deed]] = {}
    for deed in work.deeds:
        if deed.entry in entries:
            filled = cue.fill(deed.goal, about)
            goals.setdefault(filled.key, []).append(Deed(filled, deed.entry))
    often = [
        done
        for done in goals.values()
        if len({deed.entry for deed in done}) >= max(_LEAST, _SHARE * len(entries)) and done[-1].goal.definite
    ]
    if not often:
        return None
    return Cued(cue, about, tuple(done[-1].goal for done in often), min(len(done) for done in often), len(entries))


def _lately(entry: Entry, now: datetime | None) -> bool:
    return now is None or timedelta(0) <= now - entry.time <= _RECENT
