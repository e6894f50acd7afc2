"""What is wanted of a phone, read from an instruction; and what was done on one, read from a line of the log."""

from __future__ import annotations

import functools
import re
from typing import NamedTuple

from lab.agents.reading import clock_times, quoted


class Fact(NamedTuple):
    """Something to be read first: `kind` says where (a message or a note), `name` whose or which, `what` of it."""

    kind: str
    name: str
    what: str


class Alarm(NamedTuple):
    """An alarm at `minute` of the day, or at the time a fact says, `shift` minutes later."""

    minute: int | None = None
    label: str = ""
    when: Fact | None = None
    named: Fact | None = None
    shift: int = 0


class Switch(NamedTuple):
    """A setting turned on or off."""

    name: str
    on: bool


class Send(NamedTuple):
    """A message to someone: words, or what a fact says."""

    to: str
    text: str = ""
    fact: Fact | None = None


class Write(NamedTuple):
    """A new note."""

    title: str
    text: str = ""
    fact: Fact | None = None


class Order(NamedTuple):
    """Food or drink from a delivery app. `what` may be vague; `traits` are the words given beside it."""

    what: str
    source: str = ""
    remark: str = ""
    traits: tuple[str, ...] = ()
    app: str = ""
    to: str = ""
    payment: str = ""


class Phase(NamedTuple):
    """Whatever is usually done on the phone at a time of day, from `start` to `end` minutes (past 24 h: overnight)."""

    name: str
    start: int
    end: int


class Tell(NamedTuple):
    """Something that is only asked."""

    fact: Fact


Goal = Alarm | Switch | Send | Write | Order | Phase | Tell

PHASES = {
    "breakfast": (6, 10), "morning": (5, 11), "lunch": (11, 15), "noon": (11, 14), "afternoon": (12, 18),
    "dinner": (17, 22), "supper": (17, 22), "evening": (17, 22), "night": (21, 26), "bed": (21, 26),
    "bedtime": (21, 26), "sleep": (21, 26), "早餐": (6, 10), "早上": (5, 11), "午饭": (11, 15), "午餐": (11, 15),
    "晚饭": (17, 22), "晚餐": (17, 22), "晚上": (17, 24), "睡觉": (21, 26), "睡前": (21, 26),
}  # fmt: skip
"""Names of times of day, as hours from and to."""

_TITLES = r"(?:(?:Prof|Dr|Mr|Ms|Mrs)\.?\s+)?"
_NAME = rf"(?:{_TITLES}[A-Z][\w’-]*(?:\s+[A-Z][\w’-]*)*|[\u4e00-\u9fff]{{2,4}})"
_HEAD = (
    r"(?:^|(?<=[.;!?:,，。、])\s*|\b(?:and|then|please|to|also|you|she|he|they|I)\s+"
    r"|\b(?:and|then|also),?\s+(?:she|he|they|I)\s+|[请帮我]+)"
)
_VERBS = {
    "alarm": r"(?:set|sets|setting|add|added|create|created|make|made|put|schedule|scheduled)\b[^.;,]*?\balarm\b"
    r"|wake (?:me|us) up|wake (?:me|us)|[设定]+(?:了?一?个)?[^。，]*?闹钟",
    "switch": r"(?:turn(?:ed|ing)?|switch(?:ed|ing)?)\s+(?:[^.;,]{1,40}?\s)??(?:on|off)\b|(?:enable|disable|activate|"
    r"deactivate)d?\b|打开了?|关闭了?|开启了?",
    "note": r"(?:write|wrote|make|made|create|created|add|added|save|saved|take|took|jot(?:ted)? down)\b"
    r"[^.;,]*?\bnote\b",
    "order": r"(?:re)?order(?:ed)?\b(?!\s+(?:of|number|status|history|page|confirmation))|get me|buy me"
    r"|点了?(?=一?[份杯个])",
    "send": r"(?:send|sent|text|texted|message|messaged|tell|told|forward|forwarded|reply|replied|write|wrote)\b"
    r"(?![^.;,]*?\bnote\s+(?:saying|with|titled|called))|发给|告诉",
}
_START = re.compile(_HEAD + "(?P<verb>" + "|".join(f"(?P<{k}>{v})" for k, v in _VERBS.items()) + ")", re.IGNORECASE)
_SMALL = re.compile(r"^(?:me|us|myself|herself|himself|a|an|one|the|some|my|her|his|your|our|again)\s+", re.IGNORECASE)
_WHAT_ENDS = re.compile(
    r"\s+(?:from|to (?:the|my|her|his|their|our)|with|without|for|at|in|on|via|and|then|today|now|please)\b"
    r"|[,.;:(（，。]",
    re.IGNORECASE,
)
_REMARK = re.compile(
    r"(?:remark|comment|instructions?|request|delivery note|note|备注)\b[^\"“「'‘.;]{0,24}(?:\"|“|「|(?<!\w)['‘])(.+?)"
    r"(?:[\"”」]|['’](?!\w))",
    re.IGNORECASE,
)
_LABEL = re.compile(r"\b(?:label|name|title)(?:l?ed)?\b|\bcall(?:ed)?\b", re.IGNORECASE)
_SHIFT = re.compile(
    r"\b(\d+|an?|one|two|three|half an)\s*(minutes?|min|hours?|h)\s+(before|after|earlier|later)\b", re.I
)


@functools.lru_cache(maxsize=4096)
def goals_in(text: str) -> tuple[Goal, ...]:
    """What a text asks for (or tells of), in its order; the facts that it points at are looked for in all of it."""
    starts = list(_START.finditer(text))
    goals: list[Goal] = []
    for number, m in enumerate(starts):
        end = starts[number + 1].start() if number + 1 < len(starts) else len(text)
        kind = next(k for k in _VERBS if m[k] is not None)
        read = _READERS[kind](text[m.start("verb") : end], text)
        goals += [goal for goal in read if goal not in goals]
    return tuple(goals)


def phase_in(text: str) -> Phase | None:
    """The time of day that a text names."""
    for name, (start, end) in PHASES.items():
        if re.search(rf"\b{name}s?\b" if name.isascii() else name, text, re.IGNORECASE):
            return Phase(name, start * 60, end * 60)
    return None


def asked_in(text: str) -> Tell | None:
    """What a question asks to be looked up; None where it is no question, or says nothing of where it stands."""
    if not re.match(r"\W*(when|what|which|how|who|where|tell me|look up|find out|read)\b|.*\?\s*$", text, re.I | re.S):
        return None
    what = _content(text)
    if what == "all" and re.search(r"\bwhen\b|\bwhat time\b", text, re.IGNORECASE):
        what = f"time {_hint(text)}".strip()
    fact = fact_in(text, what)
    return Tell(fact) if fact else None


def _hint(text: str) -> str:
    """The words of a text that say which of several times is meant."""
    return " ".join(re.findall(r"\b(?:arriv|land|leav|depart|start|begin|board|open|clos)\w*", text, re.IGNORECASE))


def fact_in(text: str, what: str) -> Fact | None:
    """Where a text says that something is to be read: in someone's message, or in a note."""
    note = re.search(
        r"\bnotes?\s+(?:called|titled|named|about|on)?\s*[\"“「'‘](?P<a>.+?)[\"”」'’](?!\w)"
        r"|[\"“「'‘](?P<b>[^\"“”「」'‘’]+)[\"”」'’]\s+note\b"
        rf"|\bnotes?\s+(?:called|titled|named|about|on)\s+(?P<c>{_NAME})|\b(?:my|the)\s+(?P<d>{_NAME})\s+note\b",
        text,
    )
    if note:
        return Fact("note", next(part for part in note.groups() if part), what)
    said = re.search(
        rf"(?P<a>{_NAME})\s+(?:has\s+|just\s+|had\s+)*(?:wrote|written|texted|sent|messaged|told)\b"
        rf"|\b(?:message|text|sms)s?\s+(?:from|by)\s+(?P<b>{_NAME})"
        rf"|(?P<c>{_NAME})(?:['’]s|s['’])\s+(?:last\s+|latest\s+|new\s+)?(?:message|text|sms)",
        text,
    )
    if said:
        return Fact("message", next(part for part in said.groups() if part).strip(), what)
    return None


def _alarm(clause: str, text: str) -> list[Goal]:
    times = clock_times(clause)
    shift = _SHIFT.search(clause)
    label, named = _label(clause, text)
    when = None
    if not times:
        when = fact_in(text, f"time {_hint(text)}".strip())
    return [Alarm(times[0][1] if times else None, label, when, named, _minutes(shift) if shift else 0)]


def _minutes(m: re.Match[str]) -> int:
    numbers = {"a": 1, "an": 1, "one": 1, "two": 2, "three": 3, "half an": 0.5}
    amount = float(m[1]) if m[1].isdigit() else numbers[m[1].lower()]
    whole = int(amount * (60 if m[2].startswith("h") else 1))
    return -whole if m[3].lower() in ("before", "earlier") else whole


def _label(clause: str, text: str) -> tuple[str, Fact | None]:
    """The words an alarm is to be labelled with, or the fact that they are."""
    if not _LABEL.search(clause):
        return "", None
    tail = clause[_LABEL.search(clause).start() :]  # type: ignore[union-attr]
    said = quoted(tail) or quoted(clause)
    if said:
        return said[0], None
    thing = re.search(r"\b(?:the|her|his|its|their)\s+((?:\w+\s+)?(?:number|code|name|no\.))", clause, re.IGNORECASE)
    return "", fact_in(text, thing[1].lower()) if thing else None


def _switch(clause: str, text: str) -> list[Goal]:
    del text
    m = re.match(
        r"(?:turn|switch)(?:ed|ing)?\s+(?:(?P<on>on|off)\s+(?P<a>.+)|(?P<b>.+?)\s+(?P<on2>on|off)\b)"
        r"|(?P<verb>enabled?|disabled?|activated?|deactivated?)\s+(?P<c>.+)|(?P<zh>打开|关闭|开启)了?(?P<d>.+)",
        clause,
        re.IGNORECASE | re.DOTALL,
    )
    if not m:
        return []
    names = _cut(m["a"] or m["b"] or m["c"] or m["d"] or "", r"\s+(?:in|at|for|before|so|via|from)\b|[,.;(，。]")
    state = (m["on"] or m["on2"] or "").lower()
    on = state == "on" if state else not (m["verb"] or "").lower().startswith(("dis", "deact")) and m["zh"] != "关闭"
    return [Switch(name, on) for name in re.split(r"\s*(?:,|\band\b|&|和|、)\s*", names) if name]


def _send(clause: str, text: str) -> list[Goal]:
    to = re.search(rf"\bto\s+(?P<a>{_NAME})|^(?i:\w+)\s+(?P<b>{_NAME})|(?:发给|告诉)(?P<c>{_NAME})", clause)
    if not to:
        return []
    name = next(part for part in to.groups() if part)
    fact = fact_in(text, _content(clause))
    words = [said for said in quoted(clause) if fact is None or said != fact.name]
    if words:
        return [Send(name, words[0])]
    that = re.search(r"\b(?:that|saying)\s+(.+?)\s*[.!]?\s*$|:\s*(.+?)\s*$", clause[to.end() :], re.DOTALL)
    if fact is None and that:
        return [Send(name, (that[1] or that[2]).strip())]
    return [Send(name, "", fact)]


def _write(clause: str, text: str) -> list[Goal]:
    said = quoted(clause)
    if said:
        return [Write(said[0], said[1] if len(said) > 1 else "")]
    fact = fact_in(text, _content(clause))
    return [Write("", "", fact)] if fact else []


def _content(clause: str) -> str:
    """What of a message or a note is to be passed on: a number, a time, what is not ticked off, else all of it."""
    if re.search(
        r"\bnot (?:yet )?(?:ticked|checked|crossed|done)|\bun(?:ticked|checked)|\bstill\b|\bopen items", clause
    ):
        return "open"
    m = re.search(r"\bthe\s+((?:[\w-]+\s+)?(?:number|code|time|address))\b", clause, re.IGNORECASE)
    return m[1].lower() if m else "all"


def _order(clause: str, text: str) -> list[Goal]:
    rest = re.sub(r"^(?:(?:re)?order(?:ed)?|get|buy|点了?)\s*", "", clause, flags=re.IGNORECASE)
    while _SMALL.match(rest):
        rest = _SMALL.sub("", rest)
    what = _cut(rest, _WHAT_ENDS.pattern)
    traits = [t.strip() for part in re.findall(r"[(（](.+?)[)）]", clause) for t in re.split(r"[,;，、/]", part)]
    source = re.search(
        r"\bfrom\s+(?:the\s+)?(.+?)(?=\s+(?:to|with|for|via|and|at)\b|\s*[,;(（，。]|\.(?:\s|$)|$)", clause
    )
    to = re.search(r"\bto\s+(?:the|my|her|his|our)\s+(.+?)(?=\s+(?:with|for|via|and|at)\b|\s*[,.;(（，。]|$)", clause)
    app = re.search(
        rf"\b(?:opened|in|on|via|using|with)\s+(?:the\s+)?({_NAME})(?:\s+app)?\s*(?=[,;.]|and\b|to\b)", text
    )
    payment = re.search(
        r"\b(?:paid|pay|paying)\s+(?:with|by|using)\s+(?:the\s+|her\s+|his\s+)?(.+?)\s*(?=[,;.]|$)", text
    )
    found = [m[1] if m else "" for m in (source, app, to, payment)]
    return [Order(what, found[0], remark_in(text), tuple(traits), *found[1:])]


def remark_in(text: str) -> str:
    """The words that a text wants written to the kitchen."""
    found = _REMARK.search(text)
    return found[1].strip() if found else ""


def _cut(text: str, ends: str) -> str:
    return re.split(ends, text, maxsplit=1, flags=re.IGNORECASE)[0].strip(" \t\n'\"“”‘’")


_READERS = {"alarm": _alarm, "switch": _switch, "note": _write, "order": _order, "send": _send}
