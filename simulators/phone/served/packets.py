"""Packets of the adb transport as bytes: a header of 24 bytes, little endian, then a payload.

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
"""First version whose packets have no checksum."""
MOST = 1 << 20
"""Largest payload of a packet that this end sends, in bytes."""
MOST_AT_FIRST = 4096
"""Largest payload that every version accepts, in bytes. It is the bound until both ends have connected."""
WHOLE = 10.0
"""Seconds in which a packet must be complete once it has begun."""

_HEADER = struct.Struct("<6I")


class MalformedPacket(ValueError):
    """Bytes that are not a packet. Nothing after them can be parsed."""


class AdbPacket(NamedTuple):
    """One message. `command` is one of the names above, or unknown."""

    command: int
    arg0: int
    arg1: int
    data: bytes = b""


class Wire:
    """One socket that carries packets. One thread reads, any thread may write.

    `most` bounds a packet's payload. `summed` is True if payloads carry a checksum.
    """

    def __init__(self, sock: socket.socket) -> None:
        with contextlib.suppress(OSError):  # some systems refuse it where the other end has left already
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._sock = sock
        self._sending = threading.Lock()
        self.most = MOST_AT_FIRST
        self.summed = True

    def agree(self, version: int, most: int) -> None:
        """Settle on what both ends support. Raise `MalformedPacket` if the other end's bound is too low."""
        if most < MOST_AT_FIRST:
            raise MalformedPacket(f"a payload of at most {most} bytes")
        self.most = min(MOST, most)
        self.summed = version < VERSION

    def send(self, command: int, arg0: int, arg1: int, data: bytes | memoryview = b"") -> None:
        """Send one whole packet. Raise `OSError` if the socket is closed."""
        # Handshake packets precede the agreement on a version, so they always carry the sum.
        total = sum(data) if self.summed or command in (CNXN, AUTH) else 0
        header = _HEADER.pack(command, arg0, arg1, len(data), total & 0xFFFFFFFF, command ^ 0xFFFFFFFF)
        with self._sending:
            # Header and payload in one call, without a copy of the payload. The kernel may accept only a part.
            byte_count = self._sock.sendmsg([header, data])
            if byte_count < len(header):
                self._sock.sendall(header[byte_count:])
                byte_count = len(header)
            if byte_count < len(header) + len(data):
                self._sock.sendall(memoryview(data)[byte_count - len(header) :])

    def read(self, *, soon: bool = False) -> AdbPacket | None:
        """Return the next packet, or None at the end. Raise `MalformedPacket`, or `OSError` if the socket is closed.

        A packet that has begun must be complete within `WHOLE` seconds. With `soon` it must also begin within them.
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
        """Shut the socket down at once, also during a read or write. Safe to call twice."""
        with contextlib.suppress(OSError):
            self._sock.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        """Release the socket. Only for the thread that reads."""
        self.cut()
        self._sock.close()

    def _exactly(self, size: int, seconds: float | None) -> bytearray | None:
        """Return `size` bytes, or None at the end, or if they do not all arrive in time.

        With `seconds` None the time starts at the first byte.
        """
        data = bytearray(size)
        view, offset = memoryview(data), 0
        until = None if seconds is None else time.monotonic() + seconds
        while offset < size:
            if until is not None and not self._readable(until - time.monotonic()):
                return None
            count = self._sock.recv_into(view[offset:])
            if not count:
                return None
            offset += count
            until = until or time.monotonic() + WHOLE
        return data

    def _readable(self, seconds: float) -> bool:
        """Return True if data arrives in time. Other threads may write to the socket meanwhile."""
        waits = select.poll()
        waits.register(self._sock, select.POLLIN)
        return bool(waits.poll(max(0.0, seconds) * 1000))
