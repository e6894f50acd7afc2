"""The packets of the adb transport as bytes: 24 bytes of header, little endian, then a payload.

Source: AOSP, adb/protocol.txt and adb/transport.cpp (check_header).
"""

from __future__ import annotations

import contextlib
import select
import socket
import struct
import threading
import time
from typing import NamedTuple

SYNC, CNXN, OPEN, OKAY, CLSE, WRTE, AUTH = (
    int.from_bytes(name, "little") for name in (b"SYNC", b"CNXN", b"OPEN", b"OKAY", b"CLSE", b"WRTE", b"AUTH")
)
VERSION = 0x01000001
"""The first version whose packets carry no checksum."""
MOST = 1 << 20
"""Bytes of payload that a packet of ours carries at most."""
MOST_AT_FIRST = 4096
"""Bytes of payload that every version takes, and all that is taken before both ends have said who they are."""
WHOLE = 10.0
"""Seconds in which a packet that has begun must have come."""

_HEADER = struct.Struct("<6I")


class MalformedPacket(ValueError):
    """What came is no packet: nothing after it can be understood."""


class AdbPacket(NamedTuple):
    """One message; `command` is one of the names above, or a stranger's."""

    command: int
    arg0: int
    arg1: int
    data: bytes = b""


class Wire:
    """One socket that carries packets: one thread reads, any thread writes.

    `most` is how much payload goes into one packet, `summed` whether payloads are checked by their sum.
    """

    def __init__(self, sock: socket.socket) -> None:
        with contextlib.suppress(OSError):  # some systems refuse it where the other end has left already
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._sock = sock
        self._sending = threading.Lock()
        self.most = MOST_AT_FIRST
        self.summed = True

    def agree(self, version: int, most: int) -> None:
        """Takes the lesser of what both ends can; raises `MalformedPacket` where the other end can too little."""
        if most < MOST_AT_FIRST:
            raise MalformedPacket(f"a payload of at most {most} bytes")
        self.most = min(MOST, most)
        self.summed = version < VERSION

    def send(self, command: int, arg0: int, arg1: int, data: bytes | memoryview = b"") -> None:
        """One packet, whole; OSError where the socket is closed."""
        total = sum(data) if self.summed or command in (CNXN, AUTH) else 0
        header = _HEADER.pack(command, arg0, arg1, len(data), total & 0xFFFFFFFF, command ^ 0xFFFFFFFF)
        with self._sending:
            byte_count = self._sock.sendmsg([header, data])
            if byte_count < len(header):
                self._sock.sendall(header[byte_count:])
                byte_count = len(header)
            if byte_count < len(header) + len(data):
                self._sock.sendall(memoryview(data)[byte_count - len(header) :])

    def read(self, *, soon: bool = False) -> AdbPacket | None:
        """The next packet; None at the end. Raises `MalformedPacket`, or OSError where the socket is closed.

        A packet that has begun must come whole in `WHOLE` seconds; with `soon` it must also begin in them.
        """
        header = self._exactly(_HEADER.size, WHOLE if soon else None)
        if header is None:
            return None
        command, arg0, arg1, length, total, magic = _HEADER.unpack(header)
        if magic != command ^ 0xFFFFFFFF:
            raise MalformedPacket("a header whose magic is wrong")
        if length > max(MOST_AT_FIRST, self.most):
            raise MalformedPacket(f"a payload of {length} bytes")
        data = self._exactly(length, WHOLE)
        if data is None:
            return None
        if self.summed and command != CNXN and total != sum(data) & 0xFFFFFFFF:
            raise MalformedPacket("a payload that does not add up")
        return AdbPacket(command, arg0, arg1, bytes(data))

    def cut(self) -> None:
        """Ends the socket at once, whoever is reading or writing; safe twice."""
        with contextlib.suppress(OSError):
            self._sock.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        """Lets the socket go; only for the thread that reads."""
        self.cut()
        self._sock.close()

    def _exactly(self, size: int, seconds: float | None) -> bytearray | None:
        """So many bytes; None at the end, or where they are not all there in time, counted from the first if None."""
        data = bytearray(size)
        view, offset = memoryview(data), 0
        until = None if seconds is None else time.monotonic() + seconds
        while offset < size:
            if until is not None and not self._comes(until - time.monotonic()):
                return None
            count = self._sock.recv_into(view[offset:])
            if not count:
                return None
            offset += count
            until = until or time.monotonic() + WHOLE
        return data

    def _comes(self, seconds: float) -> bool:
        """Whether there is something to read in time; other threads may write to the socket meanwhile."""
        waits = select.poll()
        waits.register(self._sock, select.POLLIN)
        return bool(waits.poll(max(0.0, seconds) * 1000))
