"""Days, spans of time and places as people write them: next Friday, 2 May, from half past one to four, in Room 5."""

from __future__ import annotations

import re
from datetime import date, timedelta
from typing import NamedTuple

from lab.agents.reading import clock_times

_DAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_MONTHS = ("january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november",
           "december")  # fmt: skip
_MONTH = rf"(?:{'|'.join(f'{m[:3]}(?:{m[3:]})?' for m in _MONTHS)})\.?"
_DATE = re.compile(
    r"\b(?P<iso>\d{4}-\d\d-\d\d)\b"
    rf"|\b(?P<d>[0-3]?\d)(?:st|nd|rd|th)?(?:\s+of)?\s+(?P<m>{_MONTH})\b(?:,?\s+(?P<y>\d{{4}}))?"
    rf"|\b(?P<m2>{_MONTH})\s+(?P<d2>[0-3]?\d)(?:st|nd|rd|th)?\b(?![:.]\d)(?:,?\s+(?P<y2>\d{{4}}))?"
    r"|(?P<zm>\d{1,2})月(?P<zd>\d{1,2})[日号]",
    re.IGNORECASE,
)
_DAY_OR_MONTH = re.compile(rf"(?:[0-3]?\d(?:st|nd|rd|th)?\s+)?{_MONTH}(?:\s+\d{{4}})?", re.IGNORECASE)
_WEEKDAY = re.compile(
    rf"\b(?P<next>next\s+)?(?P<name>{'|'.join(f'{d[:3]}(?:{d[3:]})?' for d in _DAYS)})\b"
    r"|(?P<znext>下)?(?:周|星期|礼拜)(?P<zh>[一二三四五六日天])",
    re.IGNORECASE,
)
_NEAR = {"today": 0, "tonight": 0, "tomorrow": 1, "the day after tomorrow": 2, "今天": 0, "明天": 1, "后天": 2}
_LONG = re.compile(r"\b(?P<n>\d{1,3}|an?|one|two|three|half an)[\s-]*(?P<unit>min(?:ute)?s?|hours?|h)\b", re.IGNORECASE)
_TO = re.compile(r"^.{0,18}?\s*(?:-|–|—|to|until|till|til|and|到|至)\s*$", re.IGNORECASE | re.DOTALL)
_PLACE = re.compile(
    r"\b(?:in|at|place:|room:|where:)\s+(?:the\s+)?"
    rf"(?!(?i:{'|'.join((*_DAYS, *_MONTHS))})\b)(?!(?:Calendar|Settings)\b)"
    r"(?P<name>[A-Z][\w’'-]*(?:\s+(?:[A-Z][\w’'-]*|\d[\w.]*|of|the(?=\s+[A-Z])))*|[\u4e00-\u9fff]{1,4}(?:楼|室|厅|馆))"
)

_NUMBERED = re.compile(r"\b(?:room|hall|level|floor|gate|no\.)\s+\d[\w.]*", re.IGNORECASE)
"""A room's number, which is no time of day."""


class Span(NamedTuple):
    """From one minute of the day to another; the end may not be told."""

    start: int
    end: int | None = None


def date_in(text: str, today: date) -> date | None:
    """The first day that a text names; one without a year is the next of its kind, today among them."""
    found = _DATE.search(text)
    if found is not None and (day := _dated(found, today)) is not None:
        return day
    low = text.casefold()
    for name in sorted(_NEAR, key=len, reverse=True):
        if re.search(rf"\b{name}\b" if name.isascii() else name, low):
            return today + timedelta(days=_NEAR[name])
    weekday = _WEEKDAY.search(text)
    return _coming(weekday, today) if weekday is not None else None


def last_date_in(text: str, today: date) -> date | None:
    """The last day in a text that is written with its month, as where something is described and then dated."""
    days = [day for m in _DATE.finditer(text) if (day := _dated(m, today)) is not None]
    return days[-1] if days else None


def days_meant(text: str, today: date) -> tuple[date, date] | None:
    """The days that a text means: before a day or a month, in a month, older than so long; the last not counted."""
    old = re.search(r"\bolder than (?P<n>\d{1,3}|an?|one|two|three|six) (?P<unit>day|week|month|year)s?\b", text, re.I)
    if old:
        number = {"a": 1, "an": 1, "one": 1, "two": 2, "three": 3, "six": 6}.get(old["n"].lower()) or int(old["n"])
        days = {"day": 1, "week": 7, "month": 30, "year": 365}[old["unit"].lower()]
        return date.min, today - timedelta(days=number * days)
    found = re.search(
        rf"\b(?P<how>before|from|in|of)\s+(?:the\s+)?(?P<when>{_DAY_OR_MONTH.pattern})", text, re.IGNORECASE
    )
    if not found:
        return None
    first = _past(found["when"], today)
    if found["how"].lower() == "before":
        return date.min, first
    whole = re.fullmatch(rf"{_MONTH}(?:\s+\d{{4}})?", found["when"], re.IGNORECASE)
    return first, (first.replace(day=28) + timedelta(days=4)).replace(day=1) if whole else first + timedelta(days=1)


def _past(text: str, today: date) -> date:
    """A day or the first day of a month that is over, or goes on."""
    day = date_in(text if re.match(r"\d", text) else f"1 {text}", today) or today
    return day if day <= today or re.search(r"\d{4}", text) else day.replace(year=day.year - 1)


def _dated(m: re.Match[str], today: date) -> date | None:
    try:
        if m["iso"]:
            return date.fromisoformat(m["iso"])
        day, year = int(m["d"] or m["d2"] or m["zd"]), m["y"] or m["y2"]
        month = int(m["zm"]) if m["zm"] else _month(m["m"] or m["m2"])
        if year:
            return date(int(year), month, day)
        this = date(today.year, month, day)
        return this if this >= today else date(today.year + 1, month, day)
    except ValueError:
        return None


def _month(name: str) -> int:
    return 1 + next(n for n, month in enumerate(_MONTHS) if month.startswith(name.casefold()[:3]))


def _coming(m: re.Match[str], today: date) -> date:
    if m["zh"]:
        wanted = "一二三四五六日".index(m["zh"].replace("天", "日"))
    else:
        wanted = next(n for n, day in enumerate(_DAYS) if day.startswith(m["name"].casefold()[:3]))
    days = (wanted - today.weekday()) % 7
    if m["next"] or m["znext"]:
        days = wanted - today.weekday() + 7
    return today + timedelta(days=days)


def span_in(text: str) -> Span | None:
    """The first time in a text, with the one up to which it lasts, or that comes of how long it lasts."""
    text = _NUMBERED.sub(lambda m: " " * len(m[0]), text)
    times = clock_times(text)
    if not times:
        return None
    at, start = times[0]
    for then, end in times[1:2]:
        between = re.sub(r"^[\d:.h：]+(?:\s?[ap]\.?m\.?)?", "", text[at:then])
        if end > start and _TO.match(between):
            return Span(start, end)
    long = length_in(text)
    return Span(start, start + long if long is not None and start + long < 24 * 60 else None)


def length_in(text: str) -> int | None:
    """How many minutes something lasts, where a text says so."""
    found = _LONG.search(text)
    if found is None:
        return None
    numbers = {"a": 1.0, "an": 1.0, "one": 1.0, "two": 2.0, "three": 3.0, "half an": 0.5}
    amount = float(found["n"]) if found["n"].isdigit() else numbers[found["n"].lower()]
    return int(amount * (60 if found["unit"].lower().startswith("h") else 1))


def place_in(text: str) -> str:
    """Where something is: a room or a house written with a capital, after `in` or `at`; empty where none is told."""
    found = _PLACE.search(text)
    return found["name"].strip() if found else ""


def long_day(day: date) -> str:
    """A day as Friday, 2 May 2025."""
    return day.strftime("%A, %d %B %Y").replace(" 0", " ")
