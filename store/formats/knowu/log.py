"""Thread logs of KnowU-Bench and MobileWorld: times of steps, and replies missing from the JSON."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime
from typing import NamedTuple

from store.formats import RunSource
from store.formats.values import decode_utf8

_MOST = 256 * 1024**2
_LINE = re.compile(r"(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d) \| \w+\s*\| [^|\n]* \| container: [^|\n]* \| (.*)", re.S)
_STEP = re.compile(r"(?:Screenshot captured in|current) step (\d+)\s*\Z")
_REPLY = "ask_user_response: "


class ThreadLog(NamedTuple):
    """Time of each step as in the log (no zone), and the reply to its question, by step number (from 1)."""

    times: dict[int, str]
    replies: dict[int, str]

    def ms(self, step: int) -> float | None:
        """Return milliseconds between the first step and this one, at the log's resolution of one second."""
        if step not in self.times or not self.times:
            return None
        first = datetime.fromisoformat(self.times[min(self.times)])
        return (datetime.fromisoformat(self.times[step]) - first).total_seconds() * 1000


def read_logs(source: RunSource) -> ThreadLog:
    """Return the content of all `thread_*.log` of a run, oldest first. An unreadable one is counted and skipped."""
    entries: list[list[tuple[str, str]]] = []
    for path in sorted(source.path.glob("thread_*.log")):
        data = source.side_text(path, most=_MOST)
        if data is not None:
            entries.append(list(_entries(decode_utf8(data, str(path)))))
    log = ThreadLog({}, {})
    step = 0
    for time, message in (entry for thread_entries in sorted(filter(None, entries)) for entry in thread_entries):
        if match := _STEP.match(message):
            step = int(match[1])
            if step == 1 and message.startswith("Screenshot"):
                # If the phone is unhealthy, the runner restarts the run, and the trajectory with it.
                log.times.clear()
                log.replies.clear()
            if (iso := _to_iso(time)) is not None:
                log.times.setdefault(step, iso)
        elif message.startswith(_REPLY):
            log.replies[step] = message[len(_REPLY) :]
    return log


def _entries(text: str) -> Iterator[tuple[str, str]]:
    """Yield (time, message) of each entry. A message continues over lines that do not begin with a time."""
    lines: list[str] = []
    for line in [*text.split("\n"), ""]:
        if lines and (line[:4].isdigit() and line[4:5] == "-" and _LINE.match(line)):
            yield from _entry(lines)
            lines = []
        lines.append(line)
    yield from _entry(lines)


def _entry(lines: list[str]) -> Iterator[tuple[str, str]]:
    match = _LINE.match("\n".join(lines).rstrip("\r\n"))
    if match:
        yield match[1], match[2]


def _to_iso(time: str) -> str | None:
    """Return the time in ISO 8601, or None if it is invalid."""
    iso = time.replace(" ", "T")
    try:
        datetime.fromisoformat(iso)
    except ValueError:
        return None
    return iso
