"""The phone's own adb daemon: it listens on a loopback port and starts the service of each stream.

A command's console is the raw stream (exec, shell), or the packets of shell_v2. Source: AOSP, adb/shell_protocol.h.
"""

from __future__ import annotations

import contextlib
import selectors
import socket
import struct
import threading
import time
from collections.abc import Callable
from functools import partial
from typing import NamedTuple

from lab.core.errors import LabError
from simulators.phone.served import sync
from simulators.phone.served.packets import MOST, Wire
from simulators.phone.served.services import HungUp, Run, Services, Stream
from simulators.phone.served.transport import Connection, PhoneStream

LOOPBACK = "127.0.0.1"
_FEATURES = "shell_v2,cmd,stat_v2,ls_v2,fixed_push_mkdir"
_IDENTITY = ("ro.product.name", "ro.product.model", "ro.product.device")
_CONNECTIONS = 16
_SETTLES = 5.0
"""Seconds after which unplugging, or plugging in again, has taken effect at the latest."""


class Adbd:
    """A listener on a loopback port from `start` to `close`. `port` 0 picks a free one and keeps it while unplugged."""

    def __init__(self, services: Services, run: Run, port: int = 0) -> None:
        self._services, self._run = services, run
        self._listener: socket.socket | None = _bound_socket(port)
        self._listener.listen()
        self.port: int = self._listener.getsockname()[1]
        self._reserved: socket.socket | None = None
        self._wake, self._woken = socket.socketpair()
        self._changed = threading.Condition()
        self._wanted = self._settled = 0
        self._closing = False
        self._open: set[Connection] = set()
        self._threads: set[threading.Thread] = set()

    @property
    def serial(self) -> str:
        """Name under which adb lists the phone."""
        return f"{LOOPBACK}:{self.port}"

    def start(self) -> None:
        """Accept connections, on threads of its own."""
        self._services.faults.on_change = self.settle
        self._start_thread("accepts", self._accept_all)

    def settle(self) -> None:
        """Cut what the current faults no longer allow. Return once that is done."""
        with self._changed:
            if self._closing:
                return
            self._wanted += 1
            request_number = self._wanted
            # The accepting thread waits in a selector, which only a socket can wake.
            self._wake.send(b"!")
            self._changed.wait_for(lambda: self._settled >= request_number or self._closing, _SETTLES)

    def close(self) -> None:
        """Close all sockets and end all threads, called from any thread but its own. Safe to call twice."""
        with self._changed:
            if self._closing:
                return
            self._closing = True
            self._wake.send(b"!")
            self._changed.notify_all()
        until = time.monotonic() + _SETTLES
        while (threads := self._running_threads()) and time.monotonic() < until:
            threads[0].join(max(0.0, until - time.monotonic()))
        for sock in (self._listener, self._reserved, self._wake, self._woken):
            if sock is not None:
                sock.close()

    # -- connections -----------------------------------------------------------------------------------------

    def _accept_all(self) -> None:
        with contextlib.closing(selectors.DefaultSelector()) as waits:
            waits.register(self._woken, selectors.EVENT_READ)
            if self._listener:
                waits.register(self._listener, selectors.EVENT_READ)
            before = self._rules()
            while not self._closing:
                ready = {key.fileobj for key, _ in waits.select()}
                if self._woken in ready:
                    self._woken.recv(4096)
                    before = self._apply(before, waits)
                elif self._listener in ready:
                    self._accept()
        self._cut_all()

    def _rules(self) -> tuple[bool, bool, bool]:
        faults = self._services.faults
        return faults.plugged, faults.offline, faults.unauthorized

    def _apply(self, before: tuple[bool, bool, bool], waits: selectors.BaseSelector) -> tuple[bool, bool, bool]:
        """Apply the current fault settings and return them.

        If they differ from `before`, open or close the listener and cut all connections.
        """
        with self._changed:
            request_number = self._wanted
        rules = self._rules()
        if rules != before:
            if not rules[0] and self._listener is not None:
                waits.unregister(self._listener)
                self._listener.close()
                # Bound but not listening: hosts are refused, and no other process takes the port.
                self._listener, self._reserved = None, _bound_socket(self.port)
            elif rules[0] and self._reserved is not None:
                self._listener, self._reserved = self._reserved, None
                self._listener.listen()
                waits.register(self._listener, selectors.EVENT_READ)
            self._cut_all()
        with self._changed:
            self._settled = request_number
            self._changed.notify_all()
        return rules

    def _accept(self) -> None:
        assert self._listener is not None
        try:
            sock, _ = self._listener.accept()
        except OSError:
            return
        faults = self._services.faults
        wire = Wire(sock)
        connection = Connection(
            wire, self._banner(), self._serve, silent=faults.offline, unauthorized=faults.unauthorized
        )
        with self._changed:
            strangers = [other for other in self._open if not other.met]
            full = len(self._open) >= _CONNECTIONS
            if full and strangers:  # the one that has been silent longest makes room
                oldest = min(strangers, key=lambda other: other.born)
                self._open.discard(oldest)
                oldest.cut()
            if not full or strangers:
                self._open.add(connection)
        if full and not strangers:
            wire.close()
            return
        self._start_thread("reads", lambda: self._drive(connection))

    def _drive(self, connection: Connection) -> None:
        try:
            connection.drive()
        finally:
            with self._changed:
                self._open.discard(connection)

    def _cut_all(self) -> None:
        with self._changed:
            connections = list(self._open)
        for connection in connections:
            connection.cut()

    def _banner(self) -> str:
        facts = [f"{name}={self._services.properties.get(name, '')}" for name in _IDENTITY]
        return f"device::{';'.join(facts)};features={_FEATURES}"

    # -- services --------------------------------------------------------------------------------------------

    def _serve(self, destination: str, stream: PhoneStream) -> bool:
        """Start a service on a thread of its own, after `faults.slow`. Return False if there is none of that name."""
        service = self._service(destination)
        if service is None:
            return False

        def answer() -> None:
            try:
                self._services.faults.pause(stream.gone)
                stream.accept()
                service(stream)
            except HungUp:
                return
            finally:
                stream.close()

        self._start_thread("serves", answer)
        return True

    def _service(self, destination: str) -> Callable[[Stream], None] | None:
        call = invocation(destination)
        if call is not None:
            return partial(self._command, call)
        if destination == "sync:":
            return partial(sync.serve, self._services)
        kind, _, name = destination.partition(":")
        if kind == "localabstract" and name in self._services.listening:
            return partial(self._hand_over, name)
        if kind == "reverse":
            return partial(_reverse, name)
        if kind in _SAYINGS:
            return lambda stream: stream.write(_SAYINGS[kind])
        return None

    def _command(self, call: Invocation, stream: Stream) -> None:
        console = Framed(stream, call.terminal) if call.framed else PlainConsole(stream, call.terminal)
        console.end(self._run(self._services, call.command, console))

    def _hand_over(self, name: str, stream: Stream) -> None:
        """Hand the stream to the listener of an abstract socket, until it closes it."""
        accept = self._services.listening.get(name)
        if accept is not None:
            accept(stream)
            stream.gone.wait()

    # -- threads ---------------------------------------------------------------------------------------------

    def _start_thread(self, what: str, work: Callable[[], None]) -> None:
        def whole() -> None:
            try:
                work()
            finally:
                with self._changed:
                    self._threads.discard(threading.current_thread())
                    self._changed.notify_all()

        thread = threading.Thread(target=whole, name=f"served phone {what}", daemon=True)
        with self._changed:
            # Whoever closes waits for these, and a thread can only be waited for once it has begun.
            thread.start()
            self._threads.add(thread)

    def _running_threads(self) -> list[threading.Thread]:
        with self._changed:
            return list(self._threads)


_SAYINGS = {
    "root": b"adbd cannot run as root in production builds\n",
    "unroot": b"adbd not running as root\n",
    "remount": b'Not running as root. Try "adb root" first.\n',
}
"""Answers of a production build to requests for more rights."""


def _reverse(request: str, stream: Stream) -> None:
    """Answer requests for reverse forwarding: this phone has none to list or remove."""
    if request == "list-forward":
        stream.write(b"OKAY0000")
        return
    if request == "killforward-all":
        stream.write(b"OKAY")
        return
    why = b"reverse sockets are not there on this phone"
    stream.write(b"FAIL%04x%s" % (len(why), why))


def _bound_socket(port: int) -> socket.socket:
    """Return a socket bound to a loopback port, not listening yet. Raise `LabError` if the port is taken."""
    sock = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        sock.bind((LOOPBACK, port))
    except OSError as error:
        sock.close()
        raise LabError(f"port {port}", f"cannot be listened at ({error.strerror})", "Choose another.") from error
    return sock


_HEADER = struct.Struct("<BI")
_STDIN, _STDOUT, _STDERR, _EXIT, _CLOSE_STDIN = range(5)
_MOST_PACKET = 16 << 20


class Invocation(NamedTuple):
    """Parsed destination such as `shell,v2,TERM=xterm,raw:ls`."""

    command: str
    framed: bool
    terminal: bool


def invocation(destination: str) -> Invocation | None:
    """Parse a destination, or None if it is not a command."""
    service, colon, command = destination.partition(":")
    name, *options = service.split(",")
    if not colon or name not in ("shell", "exec") or (name == "exec" and options):
        return None
    terminal = name == "shell" and "raw" not in options and ("pty" in options or not command)
    return Invocation(command, "v2" in options, terminal)


class PlainConsole:
    """A console whose input and output are the stream, without standard error and exit code."""

    def __init__(self, stream: Stream, terminal: bool) -> None:
        self.gone = stream.gone
        self.terminal = terminal
        self._stream = stream

    def read(self, timeout: float | None = None) -> bytes:
        return self._stream.read(timeout)

    def write_output(self, data: bytes | memoryview) -> None:
        self._stream.write(data)

    def err(self, data: bytes) -> None:
        self._stream.write(data)

    def end(self, code: int) -> None:
        """Do nothing: this protocol has no exit code."""


class Framed:
    """A console in packets: one byte for the kind (input, output, error), four for the length, then the data."""

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

    def write_output(self, data: bytes | memoryview) -> None:
        self._write(_STDOUT, data)

    def err(self, data: bytes) -> None:
        self._write(_STDERR, data)

    def end(self, code: int) -> None:
        """Send the command's exit code."""
        self._write(_EXIT, bytes([code & 0xFF]))

    def _write(self, kind: int, data: bytes | memoryview) -> None:
        view, most = memoryview(data), MOST - _HEADER.size
        while view:
            self._stream.write(b"".join((_HEADER.pack(kind, len(view[:most])), view[:most])))
            view = view[most:]

    def _packet(self) -> tuple[int, bytes] | None:
        """Return the next complete packet, or None if more bytes are needed. An invalid packet closes the input."""
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
