"""Goals of travelling: train tickets, and what is asked of the weather."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from lab.agents.goals.going import PLACE, above_in, day_words, place_after
from lab.agents.goals.nouns import Clause, Condition, Fact, Goal, Grammar
from lab.agents.reading import clock_times, shown_time

_CLASS = re.compile(r"\b(?P<class>first|second|standard|business|economy)[- ]class\b|(?P<zh>[一二]等座)", re.IGNORECASE)
_SEAT = re.compile(r"\b(?P<seat>window|aisle)\b|(?P<zh>靠窗|靠过道)", re.IGNORECASE)
_COACH = re.compile(r"\b(?P<coach>quiet|family|standard)\s+(?:coach|carriage|car)\b|(?P<zh>静音车厢)", re.IGNORECASE)
_ZH = {"一等座": "first", "二等座": "second", "靠窗": "window", "靠过道": "aisle", "静音车厢": "quiet"}


class Ticket(NamedTuple):
    """A train ticket; `minute` is when it leaves, `told` the words that say which journey is meant."""

    origin: str = ""
    destination: str = ""
    day: str = ""
    minute: int | None = None
    sort: str = ""
    seat: str = ""
    coach: str = ""
    payment: str = ""
    site: str = ""
    told: str = ""

    @property
    def key(self) -> tuple[object, ...]:
        return ("ticket", self.origin.casefold(), self.destination.casefold())

    @property
    def definite(self) -> bool:
        return bool(self.origin and self.destination and self.day and self.minute is not None)

    def said(self) -> str:
        where = f" to {self.destination}" if self.destination else ""
        when = f" at {shown_time(self.minute)}" if self.minute is not None else ""
        return f"book the train{where}{f' for {self.day}' if self.day else ''}{when}"


class Weather(NamedTuple):
    """Whether a figure of the weather (rain in percent, the high or the low in degrees) is above a limit, or below."""

    city: str
    day: str
    figure: str
    above: bool
    limit: int

    def said(self) -> str:
        when = f" on {self.day}" if self.day else ""
        return f"the {self.figure} in {self.city}{when} is {'above' if self.above else 'below'} {self.limit}"


def _ticket(clause: Clause) -> Sequence[Goal]:
    text = clause.words
    times = clock_times(text)
    payment = re.search(
        r"\b(?:paid|pay|paying)\s+(?:with|by|using)\s+(?:the\s+|her\s+|his\s+|my\s+)?(.+?)\s*(?=[,;.]|$)", clause.text
    )
    site = re.search(
        rf"\b(?:opened|visited|on)\s+{PLACE.format('site')}\s+(?:in|with)\s+(?:the\s+)?[Bb]rowser", clause.text
    )
    home = re.search(r"\bhome\b|回家", text, re.IGNORECASE)
    return [
        Ticket(
            place_after(text, "from"),
            _destination(text),
            day_words(text),
            times[0][1] if times else None,
            _named(_CLASS, text),
            _named(_SEAT, text),
            _named(_COACH, text),
            payment[1] if payment else "",
            site["site"] if site else "",
            "home" if home else "",
        )
    ]


def _destination(text: str) -> str:
    found = re.search(rf"\bto\s+{PLACE.format('place')}", text)
    return found["place"].strip() if found else ""


def _named(pattern: re.Pattern[str], text: str) -> str:
    found = pattern.search(text)
    if found is None:
        return ""
    return _ZH[found["zh"]] if found["zh"] else next(v for v in found.groupdict().values() if v).lower()


def of_the_weather(text: str, what: str) -> Fact | None:
    """The weather of some place on some day."""
    asked = re.search(r"\b(?:weather|forecast|temperature|chance of rain)\b|天气", text, re.IGNORECASE)
    if asked is None:
        return None
    found = re.search(rf"\b(?:in|for|at)\s+{PLACE.format('place')}", _without_days(text[asked.start() :]))
    return Fact("weather", found["place"].strip(), f"{asked[0].lower()} {day_words(text)}".strip()) if found else None


def if_weather(text: str) -> Condition | None:
    """Whether it is likely to rain, or how warm it will be."""
    found = re.search(rf"\b(?:in|for|at)\s+{PLACE.format('place')}", _without_days(text))
    city = found["place"].strip() if found else ""
    limit, above = re.search(r"(-?\d+)\s*(?:%|per ?cent|degrees|°)", text, re.IGNORECASE), above_in(text)
    rain = re.search(r"\brain(?:s|y|ing)?\b|下雨|降雨", text, re.IGNORECASE)
    if rain and city and limit is None:
        return Weather(city, day_words(text), "chance of rain", above=True, limit=49)
    if not city or limit is None or above is None:
        return None
    figure = "chance of rain" if rain else "low" if re.search(r"\blow|\bcold", text, re.IGNORECASE) else "high"
    return Weather(city, day_words(text), figure, above, int(limit[1]))


def _without_days(text: str) -> str:
    """A text without its days, which are written with capitals as places are."""
    return re.sub(r"\b(?:on|for)\s+(?=(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day\b)\w+", "", text)


GRAMMAR = Grammar(
    {
        "ticket": (
            r"(?:re)?book(?:ed|ing)?\b(?=[^.;]*\b(?:train|ticket)\b)|预订了?|买了?(?=[^。]*(?:车票|火车票))",
            _ticket,
        )
    },
    (of_the_weather,),
    (if_weather,),
)
