"""Finding a fact in what was read: a time, a number or code, or all of it."""

from __future__ import annotations

import re
from collections.abc import Sequence

from lab.agents.dates import span_in
from lab.agents.reading import clock_times, words

_ALIKE = (
    ("arriv", "land", "gets in", "get in", "reach", "due", "到"),
    ("leav", "depart", "sets off", "departure", "goes at", "开", "出发"),
    ("start", "begin", "opens", "kick", "开始"),
    ("end", "clos", "finish", "until", "结束"),
    ("board", "gate", "登机"),
)
"""Words that mean the same turn of a journey or a meeting."""
_CODE = re.compile(r"(?<![A-Za-z0-9:.])[A-Za-z]{0,4}[- ]?\d[A-Za-z0-9-]*(?![A-Za-z0-9:]|\.\d)")

_MONTH = r"(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)"
_ADDRESS = re.compile(
    rf"(?<![\w:.$#-])\d{{1,4}}[A-Z]?[ ](?!{_MONTH})[A-Z][\w’'-]*(?:[ ][A-Z][\w’'-]*){{0,3}}"
    r"|(?![在到于去是])[\u4e00-\u9fff]{1,6}[路街巷道弄]\s?\d+\s?号"
)


def time_in(text: str, hint: str) -> int | None:
    """The time of day in a text that stands nearest to a word like the hint's; the only one, where there is one."""
    times = clock_times(text)
    if len(times) < 2 or not hint:
        return times[0][1] if times else None
    spots = [m.start() for stem in _stems(hint) for m in re.finditer(re.escape(stem), text, re.IGNORECASE)]
    if not spots:
        return times[0][1]
    return min(times, key=lambda t: min(_gap(spot, t[0]) for spot in spots))[1]


def _stems(hint: str) -> list[str]:
    low = hint.casefold()
    groups = [group for group in _ALIKE if any(stem in low for stem in group)]
    return [stem for group in groups for stem in group] or [w[:5] for w in words(hint) if len(w) > 3 and w != "time"]


def _gap(spot: int, at: int) -> int:
    """How far a time is from a word; before the word counts double, for one says `arrives at nine`."""
    return at - spot if at >= spot else 2 * (spot - at)


def code_in(text: str, what: str) -> str | None:
    """The number or code of a thing (`train number`): the one next to the thing's name, and no time of day."""
    taken = [at for at, _ in clock_times(text)]
    codes = [m for m in _CODE.finditer(text) if not any(m.start() <= at < m.end() for at in taken)]
    if not codes:
        return None
    thing = [w for w in words(what) if w not in ("number", "code", "no", "name", "the")]
    spots = [m.end() for w in thing for m in re.finditer(rf"\b{re.escape(w)}", text, re.IGNORECASE)]
    if not spots:
        return next((m[0].strip() for m in codes if m[0][0].isalpha()), None)
    return min(codes, key=lambda m: min(_gap(spot, m.start()) for spot in spots))[0].strip()


def address_in(text: str) -> str | None:
    """A street and number in a text: as they are written in English, or in Chinese."""
    found = _ADDRESS.search(text)
    return found[0].strip() if found else None


_PHONE = re.compile(r"(?<![\w+])\+?\d[\d ()/-]{5,}\d(?!\w)")


def phone_in(text: str, whose: str = "") -> str | None:
    """A telephone number in a text; of several, the one that stands next behind words of `whose`."""
    found = [m for m in _PHONE.finditer(text) if sum(ch.isdecimal() for ch in m[0]) >= 7]
    if not found:
        return None
    spots = [m.end() for w in words(whose) for m in re.finditer(rf"\b{re.escape(w)}", text, re.IGNORECASE)]
    if not spots:
        return found[0][0].strip()
    return min(found, key=lambda m: min(_gap(spot, m.start()) for spot in spots))[0].strip()


def from_texts(texts: Sequence[str], what: str) -> str | int | None:
    """A fact out of several texts, the latest last: a later one that holds it prevails.

    `what` is `all`, `event` (a text that says when something is), `phone` (with whose), a time with a hint, or a code.
    """
    for text in reversed(texts):
        found: str | int | None
        if what == "event":
            found = text if span_in(text) is not None else None
        elif what.startswith("phone"):
            found = phone_in(text, what.removeprefix("phone"))
        elif what.startswith("time"):
            found = time_in(text, what.removeprefix("time"))
        elif what == "all":
            found = text
        elif what.endswith("address"):
            found = address_in(text)
        elif what.endswith("time"):
            found = time_in(text, what.removesuffix("time"))
        else:
            found = code_in(text, what)
        if found is not None:
            return found
    return None
