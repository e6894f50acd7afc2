"""A shell that is talked to: by a person at a terminal, or by a script on standard input."""

from __future__ import annotations

from typing import Protocol

from simulators.phone.served.commands.call import Io, decoded, encoded

_PROMPT = "lantern:{} $ "
_MOST_LINE = 1 << 20


class LineRunner(Protocol):
    """What runs lines: in which folder, and how the last one ended."""

    within: str
    status: int

    def line(self, line: str, io: Io) -> int: ...


def talk(shell: LineRunner, io: Io) -> int:
    """A person, or a script on standard input: line by line until `exit` or the end of the input."""
    buffer = bytearray()
    prompt = encoded(_PROMPT.format(shell.within)) if io.terminal else b""
    io.out(prompt)
    while part := io.read(None):
        for byte in part:
            if io.terminal and byte == 0x04 and not buffer:
                return shell.status
            if byte in b"\r\n" and (byte != 0x0D or io.terminal):
                io.out(b"\n" if io.terminal else b"")
                line, buffer = decoded(bytes(buffer)), bytearray()
                shell.line(line, io)
                io.out(encoded(_PROMPT.format(shell.within)) if io.terminal else b"")
            elif io.terminal and byte in (0x03, 0x7F, 0x08):
                _edit(byte, buffer, io, prompt)
            elif len(buffer) < _MOST_LINE:
                buffer.append(byte)
                io.out(bytes([byte]) if io.terminal else b"")
    return shell.line(decoded(bytes(buffer)), io) if buffer else shell.status


def _edit(byte: int, buffer: bytearray, io: Io, prompt: bytes) -> None:
    """Backspace takes a character away, Ctrl-C the whole line."""
    if byte == 0x03:
        buffer.clear()
        io.out(b"^C\n" + prompt)
        return
    while buffer and (buffer[-1] & 0xC0) == 0x80:
        buffer.pop()
    if buffer:
        buffer.pop()
        io.out(b"\b \b")
