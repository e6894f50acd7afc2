"""Reading what people write: clock times, quoted words, yes and no, a choice among options, a line of the log."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import NamedTuple

_NUMBERS = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"]
_HANZI = {c: n for n, c in enumerate("零一二三四五六七八九十")} | {"两": 2, "十一": 11, "十二": 12}
_TENS = {"ten": 10, "fifteen": 15, "twenty": 20, "thirty": 30, "forty": 40, "fifty": 50}
_HOURS = "|".join(_NUMBERS[1:])
_HOUR = rf"(?P<word>{_HOURS})"
_ONES = "|".join(_NUMBERS[1:10])
_CLOCK = re.compile(
    r"(?<![\d:.])(?P<h>[01]?\d|2[0-3])\s?[:.h：]\s?(?P<m>[0-5]\d)(?!\d)(?:\s?(?P<half>[ap])\.?m\b\.?)?"
    r"|(?<![\d:.])(?P<h2>1[0-2]|[1-9])\s?(?P<half2>[ap])\.?m\b\.?"
    rf"|\b(?P<past>half|quarter) (?P<side>past|to) (?:{_HOUR}|(?P<h3>1[0-2]|[1-9]))\b"
    rf"|\b(?P<word2>{_HOURS})[ -](?P<tens>{'|'.join(_TENS)})(?:[ -](?P<ones>{_ONES}))?\b"
    rf"|\b(?P<word3>{_HOURS}) o['’]?clock"
    r"|(?P<zh>十[一二]?|[一二两三四五六七八九]|\d{1,2})点(?:(?P<zhhalf>半)|(?P<zhq>[一三])刻|(?P<zhm>[0-5]?\d)分?)?",
    re.IGNORECASE,
)
_LATE = re.compile(r"evening|tonight|afternoon|下午|晚上", re.IGNORECASE)
_QUOTED = re.compile(r"[\"“「](.+?)[\"”」]|(?<!\w)['‘](.+?)['’](?!\w)", re.DOTALL)
_NO = re.compile(
    r"^\W*(no|nope|nah|never mind|cancel|stop|forget it|not (now|today|this time|needed|tonight)|leave (it|everything)"
    r"|skip|nothing|(please )?(don['’]?t|do not)(?! (mind|care|know))|不用|不要了|算了|取消|别|不了|不)\b"
    r"|\b(never mind|forget (about )?it|leave it|not any ?more|nothing (today|tonight|for me)|(do not|don['’]t) "
    r"(order|do|send|set|change|buy|bother|want (it|this|that|any|anything)))\b|算了|不用了|取消",
    re.IGNORECASE,
)
_YES = re.compile(
    r"^\W*(y|yes|yeah|yep|sure|ok(ay)?|please( do)?|go (on|ahead)|do (it|so|that)|fine|of course|right)\b"
    r"|^\W*(好|可以|行|是的|嗯)",
    re.IGNORECASE,
)
_OPEN = re.compile(
    r"(don['’]?t|do not) (mind|care|know)|up to you|you (choose|decide|pick)|whatever|as (always|usual|you like)"
    r"|any(thing)? (is|will|would) |the usual|随便|都行|都可以|你定|一样",
    re.IGNORECASE,
)
_LINE = re.compile(r"^\[(?P<time>[^\]]+)\]\s*\((?P<place>.*?)\)\s+(?=\S)(?P<text>.*)$", re.DOTALL)


class Entry(NamedTuple):
    """One line of the exposed log, read."""

    time: datetime
    place: str
    text: str

    @property
    def minute(self) -> int:
        """Minutes since midnight."""
        return self.time.hour * 60 + self.time.minute


def read_time(text: str) -> datetime | None:
    """An ISO time as the clock on the wall shows it there (its offset dropped), or None."""
    try:
        return datetime.fromisoformat(text).replace(tzinfo=None)
    except ValueError:
        return None


def read_log(lines: Iterable[str]) -> list[Entry]:
    """The log's lines as entries; lines that do not read as `[time] (location) action` are passed over."""
    entries = []
    for line in lines:
        found = _LINE.match(line)
        at = read_time(found["time"]) if found else None
        if found and at:
            entries.append(Entry(at, found["place"], found["text"].strip()))
    return entries


def clock_times(text: str) -> list[tuple[int, int]]:
    """Each time of day in a text as (where it stands, minutes since midnight), in words, digits or Chinese."""
    out = []
    for m in _CLOCK.finditer(text):
        minute = _minutes(m)
        if minute is None:
            continue
        if (
            not (m["half"] or m["half2"])
            and minute < 12 * 60
            and _LATE.search(text[max(0, m.start() - 12) : m.end() + 16])
        ):
            minute += 12 * 60
        out.append((m.start(), minute))
    return out


def _minutes(m: re.Match[str]) -> int | None:
    half = (m["half"] or m["half2"] or "").lower()
    minute = int(m["m"]) if m["m"] else 0
    if m["h"] or m["h2"]:
        hour = int(m["h"] or m["h2"])
    elif m["past"]:
        hour = _NUMBERS.index(m["word"].lower()) if m["word"] else int(m["h3"])
        minute = 30 if m["past"].lower() == "half" else 15
        if m["side"].lower() == "to":
            hour, minute = hour - 1, 60 - minute
    elif m["word2"]:
        hour = _NUMBERS.index(m["word2"].lower())
        minute = _TENS[m["tens"].lower()] + (_NUMBERS.index(m["ones"].lower()) if m["ones"] else 0)
    elif m["word3"]:
        hour = _NUMBERS.index(m["word3"].lower())
    else:
        hour = int(m["zh"]) if m["zh"].isdigit() else _HANZI[m["zh"]]
        quarter = {"一": 15, "三": 45}.get(m["zhq"] or "", 0)
        minute = 30 if m["zhhalf"] else quarter or int(m["zhm"] or 0)
    if half:
        hour = hour % 12 + (12 if half == "p" else 0)
    return hour * 60 + minute if 0 <= hour < 24 and minute < 60 else None


def shown_time(minute: int) -> str:
    """Minutes since midnight as HH:MM."""
    return f"{minute // 60:02d}:{minute % 60:02d}"


def quoted(text: str) -> list[str]:
    """What stands in quotation marks."""
    return [(m[1] or m[2]).strip() for m in _QUOTED.finditer(text)]


def is_quoted(text: str, at: int) -> bool:
    """Whether a place in a text lies inside quotation marks."""
    return any(m.start() < at < m.end() for m in _QUOTED.finditer(text))


def hushed(text: str) -> str:
    """A text of the same length in which nothing that stands in quotation marks ends a sentence or a clause."""
    return _QUOTED.sub(lambda m: m[0][0] + re.sub(r"[.;!?:,，。、]", "·", m[0][1:-1]) + m[0][-1], text)


def refuses(text: str) -> bool:
    """Whether a reply calls the whole thing off; a wish such as `no onions` does not."""
    wish = re.match(r"^\W*(no\s+(?!need|way|thanks?\b)|不要(?!了))(?=[^\W\d_])", text, re.IGNORECASE)
    return bool(_NO.search(text[wish.end() :] if wish else text))


def agrees(text: str) -> bool:
    """Whether a reply says yes."""
    return bool(_YES.search(text)) and not refuses(text)


def leaves_open(text: str) -> bool:
    """Whether a reply hands the choice back."""
    return bool(_OPEN.search(text))


@functools.lru_cache(maxsize=8192)
def words(text: str) -> tuple[str, ...]:
    """A text's words in lower case; each Chinese character is one."""
    return tuple(re.findall(r"[^\W_\u4e00-\u9fff]+|[\u4e00-\u9fff]", text.casefold()))


def mentions(text: str, name: str) -> bool:
    """Whether a name's words stand together in a text, whatever their case."""
    whole, part = words(text), words(name)
    return bool(part) and any(whole[i : i + len(part)] == part for i in range(len(whole) - len(part) + 1))


def named(text: str, options: Sequence[str]) -> str | None:
    """The option that a text names and does not rule out; the longest, where one holds another."""
    said = [option for option in options if mentions(text, option) and not _ruled_out(text, option)]
    return max(said, key=lambda option: len(words(option)), default=None)


def chosen(reply: str, options: Sequence[str]) -> str | None:
    """The option that a reply names, else the only one it leaves, else the one alone nearest to its words."""
    said = named(reply, options)
    if said is not None:
        return said
    kept = [option for option in options if not _ruled_out(reply, option)]
    if len(kept) == 1 and len(options) > 1:
        return kept[0]
    near = {option: _nearness(reply, option) for option in kept}
    best = [option for option in kept if near[option] and near[option] == max(near.values())]
    return best[0] if len(best) == 1 else None


def _ruled_out(reply: str, option: str) -> bool:
    return any(
        mentions(reply, f"{no} {option}") for no in ("not", "no", "never", "without", "anything but", "不要", "不")
    )


def _nearness(reply: str, option: str) -> int:
    """How many of an option's words share their first four letters with a word of the reply."""
    heard = [word for word in words(reply) if len(word) > 3 or not word.isascii()]
    return sum(any(w[:4] == h[:4] for h in heard) for w in words(option) if len(w) > 3 or not w.isascii())


def told_time(reply: str) -> int | None:
    """A time that is said outright: as a clock shows it, or `at` and an hour."""
    times = clock_times(reply)
    if times:
        return times[-1][1]
    hour = re.search(rf"\b(?:at|for|to)\s+(\d{{1,2}}|{_HOURS})\b", reply, re.IGNORECASE)
    return chosen_time(hour[1], ()) if hour else None


def chosen_time(reply: str, options: Sequence[int]) -> int | None:
    """The time a reply names, or the one of the options it points at (early, late, an hour alone)."""
    times = clock_times(reply)
    if times:
        return times[-1][1] if re.search(r"\b(not|rather than|instead of)\b", reply) is None else times[0][1]
    if options and re.search(r"\bearl|first|早", reply, re.IGNORECASE):
        return min(options)
    if options and re.search(r"\blat(e|er|est)\b|last|sleep in|晚", reply, re.IGNORECASE):
        return max(options)
    hours = [int(w) if w.isdigit() else _NUMBERS.index(w) for w in words(reply) if w.isdigit() or w in _NUMBERS[1:]]
    return hours[0] * 60 if len(hours) == 1 and 0 <= hours[0] < 24 else None
