"""A reminder on the screen of something that begins in a moment."""

from __future__ import annotations

import re

from lab.agents.dates import span_in
from lab.agents.reading import words
from lab.agents.talk import Work

_SOON = 20
"""Minutes before its beginning within which something is about to begin."""
_OFF = re.compile(r"cancel|declin|call(?:ed)? off|postpon|moved|no longer|取消|推迟|改期", re.IGNORECASE)
_FROM = ("calendar", "日历")
_IN = re.compile(r"\b(?:begins|starts|is)?\s*in\s+(\d{1,2})\s+min|(\d{1,2})\s*分钟后", re.IGNORECASE)


def about_to_begin(work: Work) -> str | None:
    """What the calendar reminds of, where it takes place and begins within minutes; None where nothing does."""
    if work.now is None:
        return None
    now = work.now.hour * 60 + work.now.minute
    for text in work.notices():
        if not any(name in words(text)[:2] or text.startswith(name) for name in _FROM) or _OFF.search(text):
            continue
        span, soon = span_in(text), _IN.search(text)
        wait = int(soon[1] or soon[2]) if soon else span.start - now if span is not None else None
        if wait is not None and 0 <= wait <= _SOON:
            return _called(text)
    return None


def _called(text: str) -> str:
    """The words of a reminder before its hours, without the app's name and its age."""
    bare = re.split(r"\d{1,2}:\d\d|\s(?:begins\s|starts\s|is\s)?in\s+\d+\s+min|\d+\s*分钟后", text, maxsplit=1)[0]
    bare = re.sub(r"^(?:calendar|日历)\s+(?:now|\d+\s*\w+(?:\s+ago)?)\s+", "", bare, flags=re.IGNORECASE)
    return bare.strip(" ,:·-–") or "an event"
