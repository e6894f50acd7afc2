"""A host's end of the adb transport, as small as can be: what no adb would send can be sent with it."""

from __future__ import annotations

import socket
import struct
from typing import NamedTuple

HEADER = struct.Struct("<6I")
VERSION = 0x01000001
MOST = 1 << 20


class Heard(NamedTuple):
    """A packet from the phone: the command's four letters, its arguments, its payload, its sum as told."""

    command: str
    arg0: int
    arg1: int
    data: bytes
    total: int


def packet(command: str | int, arg0: int = 0, arg1: int = 0, data: bytes = b"", total: int | None = None) -> bytes:
    """A packet as bytes; its sum is right unless another is given."""
    number = int.from_bytes(command.encode(), "little") if isinstance(command, str) else command
    summed = sum(data) & 0xFFFFFFFF if total is None else total
    return HEADER.pack(number, arg0, arg1, len(data), summed, number ^ 0xFFFFFFFF) + data


class Host:
    """One connection to a served phone at `serial`; every read is bounded by five seconds."""

    def __init__(self, serial: str) -> None:
        host, _, port = serial.partition(":")
        self.sock = socket.create_connection((host, int(port)), 5.0)

    def __enter__(self) -> Host:
        return self

    def __exit__(self, *_: object) -> None:
        self.sock.close()

    def send(
        self, command: str | int, arg0: int = 0, arg1: int = 0, data: bytes = b"", total: int | None = None
    ) -> None:
        self.sock.sendall(packet(command, arg0, arg1, data, total))

    def hear(self) -> Heard | None:
        """The next packet; None where the phone has hung up."""
        header = self._exactly(HEADER.size)
        if header is None:
            return None
        number, arg0, arg1, length, total, magic = HEADER.unpack(header)
        assert magic == number ^ 0xFFFFFFFF
        data = self._exactly(length)
        return None if data is None else Heard(number.to_bytes(4, "little").decode(), arg0, arg1, data, total)

    def expect(self, command: str) -> Heard:
        """The next packet, which is of that kind."""
        heard = self.hear()
        assert heard is not None, f"hung up where {command} was due"
        assert heard.command == command, heard
        return heard

    def meet(self, version: int = VERSION, most: int = MOST) -> Heard:
        """Says who it is, and hears who the phone is."""
        self.send("CNXN", version, most, b"host::features=shell_v2,cmd\0")
        return self.expect("CNXN")

    def open(self, ours: int, destination: str) -> int:
        """Opens a stream; the phone's number of it."""
        self.send("OPEN", ours, 0, destination.encode() + b"\0")
        heard = self.expect("OKAY")
        assert heard.arg1 == ours
        return heard.arg0

    def rest(self, ours: int, theirs: int) -> bytes:
        """All that a stream says until the phone closes it."""
        said = b""
        while (heard := self.hear()) is not None:
            if heard.arg1 != ours:
                continue
            if heard.command == "CLSE":
                return said
            if heard.command == "WRTE":
                said += heard.data
                self.send("OKAY", ours, theirs)
        raise AssertionError(f"hung up after {len(said)} bytes")

    def _exactly(self, size: int) -> bytes | None:
        data = b""
        while len(data) < size:
            try:
                part = self.sock.recv(size - len(data))
            except ConnectionError:
                return None
            if not part:
                return None
            data += part
        return data
