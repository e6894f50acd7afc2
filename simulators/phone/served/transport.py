"""The phone's end of one adb connection: many streams over one socket, each with its own reader.

Source: AOSP, adb/protocol.txt and adb/adb.cpp (handle_packet).
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable

from simulators.phone.served.packets import (
    AUTH,
    CLSE,
    CNXN,
    OKAY,
    OPEN,
    VERSION,
    WRTE,
    AdbPacket,
    MalformedPacket,
    Wire,
)
from simulators.phone.served.services import HungUp

_UNREAD = 256 << 10
"""Unread bytes of a stream at which the host must pause, like a socket's buffer on a real phone."""
_STREAMS = 128
"""Streams that one connection may hold. More are refused."""
_TOKEN = b"\x00" * 20

Serve = Callable[[str, "PhoneStream"], bool]
"""Start a service on an opened stream, on a thread of its own. Return False if there is no such service."""


class PhoneStream:
    """The phone's end of one stream. It implements `services.Stream`."""

    def __init__(self, connection: Connection, local: int, remote: int) -> None:
        self.gone = threading.Event()
        self.local, self.remote = local, remote
        self._connection = connection
        self._changed = threading.Condition()
        self._unread: deque[bytes] = deque()
        self._waiting = 0
        self._held_back = False
        self._may_write = True

    def accept(self) -> None:
        """Acknowledge the open request. Nothing may be written before."""
        self._connection.send_packet(OKAY, self)

    def read(self, timeout: float | None = None) -> bytes:
        """Return the next bytes as they arrived, or b"" once closed and read to the end.

        Raise `TimeoutError` after `timeout`.
        """
        with self._changed:
            if not self._changed.wait_for(lambda: self._unread or self.gone.is_set(), timeout):
                raise TimeoutError
            if not self._unread:
                return b""
            data = self._unread.popleft()
            self._waiting -= len(data)
            go_on = self._held_back and self._waiting < _UNREAD
            if go_on:
                self._held_back = False
        # Sent outside the lock: a full socket must not block the other threads of the stream.
        if go_on:
            self._connection.send_packet(OKAY, self)
        return data

    def write(self, data: bytes | memoryview) -> None:
        """Send all of `data`, blocking while the other end is not ready. Raise `HungUp` once it is closed."""
        view = memoryview(data)
        while view:
            with self._changed:
                self._changed.wait_for(lambda: self._may_write or self.gone.is_set())
                if self.gone.is_set():
                    raise HungUp("nobody listens any more")
                # The protocol allows one unacknowledged packet per stream.
                self._may_write = False
            most = self._connection.wire.most
            self._connection.send_packet(WRTE, self, view[:most])
            view = view[most:]

    def close(self) -> None:
        """Close the stream from any thread. Safe to call twice."""
        if self.end():
            self._connection.forget(self)

    def end(self) -> bool:
        """Mark the stream as closed and wake its readers and writers. Return True the first time."""
        with self._changed:
            first = not self.gone.is_set()
            self.gone.set()
            self._changed.notify_all()
        return first

    def take(self, data: bytes) -> bool:
        """Queue the host's bytes. Return False if the host did not wait for its acknowledgement."""
        with self._changed:
            if self._held_back:
                return False
            self._unread.append(data)
            self._waiting += len(data)
            self._held_back = self._waiting >= _UNREAD
            go_on = not self._held_back
            self._changed.notify_all()
        if go_on:
            self._connection.send_packet(OKAY, self)
        return True

    def go_on(self) -> None:
        """Allow the next write: the host has received the last one."""
        with self._changed:
            self._may_write = True
            self._changed.notify_all()


class Connection:
    """One host's connection, which `drive` reads on the calling thread until it ends.

    `banner` identifies the phone, `serve` starts the service of a stream. A `silent` connection answers nothing. An
    `unauthorized` one asks for a key that it never accepts.
    """

    def __init__(
        self, wire: Wire, banner: str, serve: Serve, *, silent: bool = False, unauthorized: bool = False
    ) -> None:
        self.wire = wire
        self.born = time.monotonic()
        self.met = False
        """True once the host has identified itself."""
        self._banner, self._serve = banner, serve
        self._silent, self._unauthorized = silent, unauthorized
        self._online = False
        self._changing = threading.Lock()
        self._streams: dict[int, PhoneStream] = {}
        self._last = 0

    def drive(self) -> None:
        """Answer packets until the host leaves, sends an invalid one, or the connection is cut."""
        try:
            while (packet := self.wire.read(soon=not self.met and not self._silent)) is not None:
                if not self._silent:
                    self._handle_packet(packet)
        except (OSError, MalformedPacket):
            return
        finally:
            self._end_streams()
            self.wire.close()

    def cut(self) -> None:
        """End the connection at once, from any thread."""
        self.wire.cut()

    def send_packet(self, command: int, stream: PhoneStream, data: bytes | memoryview = b"") -> None:
        """Send one packet about a stream. If the connection is lost, end the stream and raise `HungUp`."""
        try:
            self.wire.send(command, stream.local, stream.remote, data)
        except OSError as error:
            self.cut()
            stream.end()
            raise HungUp("the connection is lost") from error

    def forget(self, stream: PhoneStream) -> None:
        """Drop a stream that the phone closed, and notify the host."""
        with self._changing:
            self._streams.pop(stream.local, None)
        self._reply(CLSE, stream.local, stream.remote)

    def _reply(self, command: int, arg0: int, arg1: int, data: bytes = b"") -> None:
        try:
            self.wire.send(command, arg0, arg1, data)
        except OSError:
            self.cut()

    def _handle_packet(self, packet: AdbPacket) -> None:
        command, theirs, ours, data = packet
        if command == CNXN:
            self._meet(theirs, ours)
        elif command == AUTH and self._unauthorized:
            if theirs == 2:  # a signature; a key (3) waits for the owner's word, which never comes
                self._reply(AUTH, 1, 0, _TOKEN)
        elif not self._online:
            return
        elif command == OPEN:
            self._open_stream(theirs, data)
        elif (stream := self._find(ours, theirs)) is None:
            # The host still holds a stream that is gone here: let it free it.
            if command == OKAY and theirs and ours:
                self._reply(CLSE, ours, theirs)
        elif command == OKAY:
            stream.go_on()
        elif command == WRTE:
            # False: the host broke the flow control.
            if not stream.take(data):
                stream.close()
        elif command == CLSE:
            stream.close()

    def _meet(self, version: int, most: int) -> None:
        self._end_streams()
        self.wire.agree(version, most)
        self.met = True
        if self._unauthorized:
            self._reply(AUTH, 1, 0, _TOKEN)
            return
        self._online = True
        self._reply(CNXN, VERSION, self.wire.most, self._banner.encode())

    def _open_stream(self, theirs: int, data: bytes) -> None:
        if not theirs:
            return
        stream = self._new_stream(theirs)
        destination = data.rstrip(b"\x00").decode("utf-8", "surrogateescape")
        if stream is not None and self._serve(destination, stream):
            return
        if stream is not None:
            stream.end()
            with self._changing:
                self._streams.pop(stream.local, None)
        self._reply(CLSE, 0, theirs)

    def _new_stream(self, theirs: int) -> PhoneStream | None:
        with self._changing:
            if len(self._streams) >= _STREAMS:
                return None
            # Ids have 32 bits, and 0 is not an id.
            self._last = self._last % 0xFFFFFFFF + 1
            stream = self._streams[self._last] = PhoneStream(self, self._last, theirs)
            return stream

    def _find(self, ours: int, theirs: int) -> PhoneStream | None:
        with self._changing:
            stream = self._streams.get(ours)
        return stream if stream is not None and theirs in (0, stream.remote) else None

    def _end_streams(self) -> None:
        with self._changing:
            streams, self._streams = list(self._streams.values()), {}
        for stream in streams:
            stream.end()
