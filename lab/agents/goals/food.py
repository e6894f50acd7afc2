"""Goals of food and drink: an order from a delivery app."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from lab.agents.goals.nouns import NAME, Clause, Goal, Grammar, cut

_SMALL = re.compile(r"^(?:me|us|myself|herself|himself|a|an|one|the|some|my|her|his|your|our|again)\s+", re.IGNORECASE)
_WHAT_ENDS = (
    r"\s+(?:from|to (?:the|my|her|his|their|our)|with|without|for|at|in|on|via|and|then|today|now|please)\b"
    r"|[,.;:(（，。]"
)
_REMARK = re.compile(
    r"(?:remark|comment|instructions?|request|delivery note|note|备注)\b[^\"“「'‘.;]{0,24}(?:\"|“|「|(?<!\w)['‘])(.+?)"
    r"(?:[\"”」]|['’](?!\w))",
    re.IGNORECASE,
)


class Order(NamedTuple):
    """Food or drink from a delivery app. `what` may be vague; `traits` are the words given beside it."""

    what: str
    source: str = ""
    remark: str = ""
    traits: tuple[str, ...] = ()
    app: str = ""
    to: str = ""
    payment: str = ""

    @property
    def key(self) -> tuple[object, ...]:
        return ("order", self.what.casefold(), self.source.casefold())

    @property
    def definite(self) -> bool:
        return True

    def said(self) -> str:
        traits = f" ({', '.join(self.traits)})" if self.traits else ""
        remark = f" with the remark {self.remark!r}" if self.remark else ""
        return f"order {self.what}{traits}{f' from {self.source}' if self.source else ''}{remark}"


def _order(clause: Clause) -> Sequence[Goal]:
    rest = re.sub(r"^(?:(?:re)?order(?:ed)?|get|buy|点了?)\s*", "", clause.words, flags=re.IGNORECASE)
    while _SMALL.match(rest):
        rest = _SMALL.sub("", rest)
    what = cut(rest, _WHAT_ENDS)
    traits = [t.strip() for part in re.findall(r"[(（](.+?)[)）]", clause.words) for t in re.split(r"[,;，、/]", part)]
    source = re.search(
        r"\bfrom\s+(?:the\s+)?(.+?)(?=\s+(?:to|with|for|via|and|at)\b|\s*[,;(（，。]|\.(?:\s|$)|$)", clause.words
    )
    to = re.search(
        r"\bto\s+(?:the|my|her|his|our)\s+(.+?)(?=\s+(?:with|for|via|and|at)\b|\s*[,.;(（，。]|$)", clause.words
    )
    app = re.search(
        rf"\b(?:opened|in|on|via|using|with)\s+(?:the\s+)?({NAME})(?:\s+app)?\s*(?=[,;.]|and\b|to\b)", clause.text
    )
    payment = re.search(
        r"\b(?:paid|pay|paying)\s+(?:with|by|using)\s+(?:the\s+|her\s+|his\s+)?(.+?)\s*(?=[,;.]|$)", clause.text
    )
    found = [m[1] if m else "" for m in (source, app, to, payment)]
    return [Order(what, found[0], remark_in(clause.text), tuple(traits), *found[1:])]


def remark_in(text: str) -> str:
    """The words that a text wants written to the kitchen."""
    found = _REMARK.search(text)
    return found[1].strip() if found else ""


GRAMMAR = Grammar(
    {
        "order": (
            r"(?:re)?order(?:ed)?\b(?!\s+(?:of|number|status|history|page|confirmation))|get me|buy me"
            r"|点了?(?=一?[份杯个])",
            _order,
        )
    }
)
