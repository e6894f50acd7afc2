"""Goals of buying: several things with their numbers from a shop or a kitchen, or one that fits some limits."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from lab.agents.goals.food import remark_in
from lab.agents.goals.nouns import NAME, Clause, Condition, Goal, Grammar
from lab.agents.reading import clock_times, shown_time

_NUMBERS = {"a": 1, "an": 1, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "some": 1, "the": 1}
_COUNT = rf"(?P<n>\d+|{'|'.join(_NUMBERS)})"
_THING = re.compile(
    rf"(?:^|(?<=[,;、，])\s*|(?<=[:：])\s*|\band\s+|和){_COUNT}(?![A-Za-z\d:.])\s*"
    r"(?:of\s+(?:one|the same|each|a)\s+|x\s+|[份个]\s*)?"
    r"(?P<name>[^\s,(（;:.、，和][^,(（;:.、，和]*?)\s*(?:[(（](?P<traits>[^)）]*)[)）])?\s*(?:\bin\s+(?P<colour>(?-i:[a-z]+))\b)?"
    r"(?=\s*(?:[,;:.、，和。]|$)|\s+(?:and|from|at|on|to|for|via|that|which|under|below|rated|sent)\b)",
    re.IGNORECASE,
)
_LABEL = re.compile(r"\b(groceries|shopping|family\s+(?:dinner|lunch|breakfast|supper|meal))\b|(买菜|家庭聚餐)", re.I)
_APP = re.compile(
    rf"\b(?:opened|using|in|on|at|via)\s+(?:the\s+)?({NAME})(?:\s+app)?(?=\s*[,;.:]|\s+(?:and|to|that|for)\b|$)"
)
_SOURCE = re.compile(r"\bfrom\s+(?:the\s+)?(.+?)(?=\s+(?:to|with|for|via|and|at|in|on)\b|\s*[,;:(（，。]|\.(?:\s|$)|$)")
_TO = re.compile(
    r"\b(?:sent|send|delivered|delivery|deliver|shipped|ship|brought|bring)\s+(?:it\s+|them\s+|everything\s+|all\s+)?"
    r"to\s+(?:the\s+|my\s+|her\s+|his\s+|our\s+)?(.+?)(?:['’]s)?(?=\s+(?:with|for|via|and|at|by)\b|\s*[,.;:(（，。]|$)",
    re.IGNORECASE,
)
_PAY = re.compile(r"\b(?:paid|pay|paying)\s+(?:with|by|from)\s+(?:the\s+|my\s+|her\s+|his\s+)?(.+?)\s*(?=[,;.]|$)")
_UNDER = re.compile(
    r"\b(?:under|below|less than|at most|up to|(?:no|not) more than|cheaper than)\s+\$(\d+(?:\.\d+)?)", re.I
)
_STARS = re.compile(r"\b(\d(?:\.\d)?)\s+stars?\b|\brated\s+(?:at least\s+)?(\d(?:\.\d)?)", re.IGNORECASE)
_COLOUR = re.compile(r"\b(?:had|comes?|is|be|made)\s+in\s+([a-z]+)\b", re.IGNORECASE)
_NEED = re.compile(r"\b(?:need|want|would like|am looking for)\s+(?=(?:an?|one|two|three|some|\d+)\s)", re.IGNORECASE)
_THAT = re.compile(r"^(?:it|them|one|that|this|the same)\b", re.IGNORECASE)


class Thing(NamedTuple):
    """A product or a dish, how many of it, and the words that say how it should be."""

    name: str
    quantity: int = 1
    traits: tuple[str, ...] = ()

    def said(self) -> str:
        traits = f" ({', '.join(self.traits)})" if self.traits else ""
        return f"{self.quantity or 'some'} {self.name}{traits}"


class Buy(NamedTuple):
    """Things from a shop or a kitchen; none are named where `label` only says which purchase is meant.

    `under` and `stars` are the limits of what may be taken where a thing is only described.
    """

    things: tuple[Thing, ...] = ()
    app: str = ""
    label: str = ""
    source: str = ""
    to: str = ""
    payment: str = ""
    remark: str = ""
    when: int | None = None
    under: float | None = None
    stars: float | None = None

    @property
    def key(self) -> tuple[object, ...]:
        what = self.label or tuple(sorted(thing.name.casefold() for thing in self.things))
        return ("buy", self.app.casefold(), what)

    @property
    def definite(self) -> bool:
        return bool(self.things)

    def said(self) -> str:
        things = ", ".join(thing.said() for thing in self.things) or self.label
        place = self.source or self.app
        when = f" for {shown_time(self.when)}" if self.when is not None else ""
        return f"buy {things}{f' at {place}' if place else ''}{when}"


class Cheaper(NamedTuple):
    """Whether what is wanted costs less in all at one place than at another."""

    one: str
    other: str

    def said(self) -> str:
        return f"it costs less at {self.one} than at {self.other}"


def things_in(words: str) -> tuple[Thing, ...]:
    """Each thing with its number in a list such as `2 loaves (sliced), 1 honey and a lamp in white`."""
    things = []
    for m in _THING.finditer(words):
        traits = [t.strip() for t in re.split(r"[,;，、/]", m["traits"] or "") if t.strip()]
        traits += [m["colour"]] if m["colour"] else []
        number = int(m["n"]) if m["n"].isdigit() else _NUMBERS[m["n"].lower()]
        things.append(Thing(m["name"].strip(), number, tuple(traits)))
    return tuple(things)


def needed(text: str) -> tuple[Thing, ...]:
    """The thing that a text says is needed, before it is spoken of as `it`."""
    found = _NEED.search(text)
    return things_in(re.split(r"[.;!?]\s", text[found.end() :])[0])[:1] if found else ()


def _buy(clause: Clause) -> Sequence[Goal]:
    rest = re.sub(r"^(?:buy|bought|purchased?|(?:re-?)?order(?:ed)?|do|did|买了?)\s*", "", clause.words, flags=re.I)
    label = _LABEL.search(rest)
    if label:
        listed = rest.partition(":")[2].strip() or re.split(_LABEL, rest, maxsplit=1)[-1]
        things = things_in(listed)
    else:
        things = needed(clause.text) if _THAT.match(rest) else things_in(rest)
    colour, stars, under = _COLOUR.search(rest), _STARS.search(rest), _UNDER.search(rest)
    if colour and things:
        things = (things[0]._replace(traits=(*things[0].traits, colour[1])), *things[1:])
    named = (label[1] or label[2]).casefold() if label else ""
    if not things and not named:
        return []
    app = _APP.search(clause.words) or _APP.search(clause.text)
    times = [minute for at, minute in clock_times(rest) if re.search(r"\bfor\s+$", rest[:at])]
    return [
        Buy(
            things,
            app=app[1] if app else "",
            label=named,
            source=_first(_SOURCE, rest),
            to=_first(_TO, clause.text),
            payment=_first(_PAY, clause.text),
            remark=remark_in(clause.text),
            when=times[0] if times else None,
            under=float(under[1]) if under else None,
            stars=float(stars[1] or stars[2]) if stars else None,
        )
    ]


def _first(pattern: re.Pattern[str], text: str) -> str:
    found = pattern.search(text)
    return found[1].strip() if found else ""


def _cheaper(text: str) -> Condition | None:
    found = re.search(
        rf"\b(?:costs?|is|are|comes?)\s+(?:less|cheaper)\b.*?\b(?:at|in|on|from)\s+({NAME})\s+than\s+(?:(?:at|in|on|from)\s+)?({NAME})",
        text,
    )
    return Cheaper(found[1], found[2]) if found else None


GRAMMAR = Grammar(
    {
        "buy": (
            r"(?:buy|bought|purchased?)\b(?!\s+me\b)|(?:re-?)?order(?:ed)?\b(?=\s+\d+\s)"
            r"|(?:re-?)?order(?:ed)?\b(?=[^.;,:]{0,40}\b(?:groceries|shopping|family)\b)"
            r"|d(?:o|id)\s+(?:my|the|her|his|our)\s+[^.;,:]{0,20}?\b(?:groceries|shopping)\b|买了?(?=\s?\d|菜)",
            _buy,
        )
    },
    conditions=(_cheaper,),
)
