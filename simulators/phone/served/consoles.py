"""Where a command reads and writes: a stream as it is (exec, shell), or in the packets of shell_v2.

Source: AOSP, adb/shell_protocol.h.
"""

from __future__ import annotations

import struct
from typing import NamedTuple

from simulators.phone.served.packets import MOST
from simulators.phone.served.services import Stream

_HEADER = struct.Struct("<BI")
_STDIN, _STDOUT, _STDERR, _EXIT, _CLOSE_STDIN = range(5)
_MOST_PACKET = 16 << 20


class Invocation(NamedTuple):
    """What a destination such as `shell,v2,TERM=xterm,raw:ls` asks for."""

    command: str
    framed: bool
    terminal: bool


def invocation(destination: str) -> Invocation | None:
    """What is to be run; None where the destination is no command."""
    service, colon, command = destination.partition(":")
    name, *options = service.split(",")
    if not colon or name not in ("shell", "exec") or (name == "exec" and options):
        return None
    terminal = name == "shell" and "raw" not in options and ("pty" in options or not command)
    return Invocation(command, "v2" in options, terminal)


class PlainConsole:
    """Standard input and output are the stream; there is no standard error, and no exit code is told."""

    def __init__(self, stream: Stream, terminal: bool) -> None:
        self.gone = stream.gone
        self.terminal = terminal
        self._stream = stream

    def read(self, timeout: float | None = None) -> bytes:
        return self._stream.read(timeout)

    def out(self, data: bytes | memoryview) -> None:
        self._stream.write(data)

    def err(self, data: bytes) -> None:
        self._stream.write(data)

    def end(self, code: int) -> None:
        """The command is over."""


class Framed:
    """Standard input, output and error as packets: a byte says which, four say how long, then the bytes."""

    def __init__(self, stream: Stream, terminal: bool) -> None:
        self.gone = stream.gone
        self.terminal = terminal
        self._stream = stream
        self._unread = bytearray()
        self._closed = False

    def read(self, timeout: float | None = None) -> bytes:
        while not self._closed:
            packet = self._packet()
            if packet is None:
                more = self._stream.read(timeout)
                self._unread += more
                self._closed = not more
            elif packet[0] == _STDIN and packet[1]:
                return packet[1]
            elif packet[0] == _CLOSE_STDIN:
                self._closed = True
        return b""

    def out(self, data: bytes | memoryview) -> None:
        self._write(_STDOUT, data)

    def err(self, data: bytes) -> None:
        self._write(_STDERR, data)

    def end(self, code: int) -> None:
        """The command is over: its exit code is told."""
        self._write(_EXIT, bytes([code & 0xFF]))

    def _write(self, kind: int, data: bytes | memoryview) -> None:
        view, most = memoryview(data), MOST - _HEADER.size
        while view:
            self._stream.write(b"".join((_HEADER.pack(kind, len(view[:most])), view[:most])))
            view = view[most:]

    def _packet(self) -> tuple[int, bytes] | None:
        """The next whole packet of what came; what is no packet ends the input."""
        if len(self._unread) < _HEADER.size:
            return None
        kind, length = _HEADER.unpack_from(self._unread)
        if length > _MOST_PACKET:
            self._unread.clear()
            return _CLOSE_STDIN, b""
        if len(self._unread) < _HEADER.size + length:
            return None
        data = bytes(self._unread[_HEADER.size : _HEADER.size + length])
        del self._unread[: _HEADER.size + length]
        return kind, data
