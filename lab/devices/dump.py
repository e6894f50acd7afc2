"""A phone's screen as nodes, by its own uiautomator; nothing is installed and no file is left behind."""

from __future__ import annotations

import re
import secrets
import threading

from lab.devices.shell import Shell
from lab.errors import LabError
from lab.uitree import UiTree

_SECONDS = 20.0
"""uiautomator itself waits up to ten seconds for a screen to come to rest."""
_PASSING = ("could not get idle state", "null root node")
"""What it says of a screen that is just changing: asked again, it may be well."""
_TRIES = 2
_END = b"</hierarchy>"
_PAIR = re.compile(
    rb"&#(5529[6-9]|55[3-9]\d\d|56[0-2]\d\d|5630\d|5631\d);&#(563[2-9]\d|56[4-9]\d\d|57[0-2]\d\d|573[0-3]\d|5734[0-3]);"
)
"""A high and a low surrogate (55296 to 56319, 56320 to 57343) as numeric references."""


class Dumper:
    """Takes dumps, one at a time: a second uiautomator would kill the first.

    `missing` says why the newest one could not be had, in uiautomator's words; empty where it could.
    """

    def __init__(self, shell: Shell) -> None:
        self._shell = shell
        self._one = threading.Lock()
        self._by_file = False
        self.missing = ""

    def tree(self, tries: int = _TRIES) -> UiTree | None:
        """The screen's nodes, or None where uiautomator gives none; `Trouble` where the phone is not there."""
        with self._one:
            for _ in range(tries):
                said = self._dump()
                tree = _read(said)
                self.missing = "" if tree is not None else _why(said)
                if tree is not None or not any(word in self.missing for word in _PASSING):
                    return tree
            return None

    def _dump(self) -> bytes:
        if not self._by_file:
            said = self._shell.raw("uiautomator dump /dev/tty 2>&1", _SECONDS)
            if _END in said or any(word.encode() in said for word in _PASSING):
                return said
            by_file = self._dump_to_file()
            self._by_file = _END in by_file
            return by_file
        return self._dump_to_file()

    def _dump_to_file(self) -> bytes:
        path = f"/data/local/tmp/hitlab-{secrets.token_hex(6)}.xml"
        return self._shell.raw(f"uiautomator dump {path} 2>&1; cat {path} 2>/dev/null; rm -f {path}", _SECONDS)


def _read(said: bytes) -> UiTree | None:
    start, end = said.find(b"<?xml"), said.rfind(_END)
    start = start if start >= 0 else said.find(b"<hierarchy")
    if start < 0 or end < start:
        return None
    try:
        return UiTree.from_xml(_PAIR.sub(_joined, said[start : end + len(_END)]), "uiautomator's dump")
    except LabError:
        return None


def _joined(pair: re.Match[bytes]) -> bytes:
    """Two halves of a character, which some Androids write as two references, as the one that XML allows."""
    high, low = int(pair[1]), int(pair[2])
    return b"&#%d;" % (0x10000 + ((high - 0xD800) << 10) + (low - 0xDC00))


def _why(said: bytes) -> str:
    if _END in said:
        return "uiautomator's dump is no XML"
    lines = [line.strip() for line in said.decode(errors="replace").splitlines() if line.strip()]
    telling = [line for line in lines if "ERROR" in line or "Exception" in line or "Killed" in line]
    return (telling or lines or ["uiautomator said nothing"])[0][:200]
