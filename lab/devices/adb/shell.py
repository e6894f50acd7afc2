"""Shell commands on a phone, one at a time, with quoted words and a time limit."""

from __future__ import annotations

import re
import socket
from collections.abc import Callable
from typing import NamedTuple, TypeAlias

from lab.core.errors import LabError
from lab.core.seams import Trouble
from lab.core.text.plain_text import plain
from lab.devices.adb.socket_io import Deadline, exactly, hang_up, read_rest, send

Open: TypeAlias = Callable[[str, float], socket.socket]
"""Callable that opens one adb service of a phone within so many seconds, or raises `Trouble`."""

_MOST = 32 << 20
_OUT, _ERR, _EXIT, _NO_INPUT = 1, 2, 3, b"\x04\0\0\0\0"
"""Packet ids of adb's shell protocol (packages/modules/adb/shell_protocol.h)."""
_CODE = re.compile(rb"\r?\n?hitlab:exit:(\d+)\r?\n?\Z")
_UNQUOTED = re.compile(r"[A-Za-z0-9_./:=@,+-]+")


class ShellResult(NamedTuple):
    """Result of a command on the phone: exit code, standard output and standard error as text."""

    code: int
    out: str
    err: str

    @property
    def complaint(self) -> str:
        """First line of its errors, else of its output, else its exit code, fit for a sentence."""
        lines = [line for line in (self.err or self.out).splitlines() if line.strip()]
        return plain(lines[0].strip(), lines=False)[:200] if lines else f"exit code {self.code}"


class Shell:
    """Shell of one phone. `packets`: adb separates output, errors and exit code (Android 7 and later).

    `patience` is a command's default time limit in seconds.
    """

    def __init__(self, open: Open, who: str, *, packets: bool = True, patience: float = 10.0) -> None:
        self.open = open
        self.who = who
        self.patience = patience
        self._packets = packets

    def run(self, command: str, more: float = 0.0) -> ShellResult:
        """Run a command line, whatever its exit code, with `more` seconds on top of the default limit.

        Raise `Trouble` if it does not end in time.
        """
        deadline = Deadline(self.patience + more)
        if not self._packets:
            return self._run_bare(command, deadline)
        line = self.open(f"shell,v2,raw:{command}", deadline.seconds_left)
        try:
            # Close its standard input, or a command that reads it would hang.
            send(line, _NO_INPUT, deadline, self.who, sent=True)
            return self._read(line, deadline)
        finally:
            hang_up(line)

    def raw(self, command: str, more: float = 0.0, most: int = _MOST) -> bytes:
        """Return a command's output as raw bytes. Raise `Trouble` if it does not end in time."""
        return self._raw(command, Deadline(self.patience + more), most)

    def _raw(self, command: str, deadline: Deadline, most: int = _MOST) -> bytes:
        line = self.open(f"exec:{command}", deadline.seconds_left)
        try:
            return read_rest(line, most, deadline, self.who, sent=True)
        finally:
            hang_up(line)

    def _run_bare(self, command: str, deadline: Deadline) -> ShellResult:
        # Before Android 7 adb transmits no exit code, so the command prints it last.
        data = self._raw(f"({command}) 2>&1; code=$?; echo; echo hitlab:exit:$code", deadline)
        match = _CODE.search(data)
        if match is None:
            raise Trouble(self.who, "broke off in the middle of an answer.", sent=True)
        return ShellResult(int(match[1]), _text(data[: match.start()]), "")

    def _read(self, line: socket.socket, deadline: Deadline) -> ShellResult:
        streams = {_OUT: bytearray(), _ERR: bytearray()}
        while True:
            head = exactly(line, 5, deadline, self.who, sent=True)
            size = int.from_bytes(head[1:], "little")
            if head[0] not in (_OUT, _ERR, _EXIT) or size > _MOST:
                raise Trouble(self.who, "its shell answers nonsense.", sent=True)
            data = exactly(line, size, deadline, self.who, sent=True)
            if head[0] == _EXIT:
                return ShellResult(data[0] if data else 0, _text(streams[_OUT]), _text(streams[_ERR]))
            streams[head[0]] += data
            # Each packet is bounded, but their number is not.
            if len(streams[head[0]]) > _MOST:
                raise Trouble(self.who, f"answered more than {_MOST:,} bytes.", sent=True)


def quoted(text: str) -> str:
    """Quote `text` as one word for the phone's shell. Raise `LabError` if it cannot be sent."""
    check_sendable(text)
    if _UNQUOTED.fullmatch(text):
        return text
    return "'" + text.replace("'", "'\\''") + "'"


def check_sendable(text: str) -> None:
    """Raise `LabError` for NUL or half of a surrogate pair, without the text, which may be a password."""
    if "\0" in text or any("\ud800" <= ch <= "\udfff" for ch in text):
        raise LabError("text", "holds a character that cannot be sent to a phone (NUL, or half of a surrogate pair).")


def line_of(*words: str | int) -> str:
    """Join words into a command line, quoting each as needed."""
    return " ".join(quoted(str(word)) for word in words)


def _text(data: bytes | bytearray) -> str:
    return data.decode("utf-8", "replace").replace("\r\n", "\n")
