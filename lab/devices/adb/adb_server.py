"""Client of the adb server: start it, list its phones, and open services of one of them.

adbutils bundles adb and finds the one on PATH. Its own calls are not used for the protocol: they may block for ten
minutes, start a server that prints into the terminal, and sleep 20 ms each. The protocol is AOSP's
packages/modules/adb/SERVICES.TXT and OVERVIEW.TXT.
"""

from __future__ import annotations

import os
import re
import socket
import subprocess
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import NamedTuple

from lab.core.errors import LabError
from lab.core.seams import Trouble
from lab.core.text.plain_text import plain
from lab.core.values.whole_number import whole_number
from lab.devices.adb.adb_states import LISTED_STATES, refusal
from lab.devices.adb.socket_io import Deadline, SocketSet, exactly, hang_up, read_rest, send

_LOCAL = ("127.0.0.1", "localhost", "::1")
_CONNECT, _START, _ANSWER = 3.0, 20.0, 5.0
_MOST = 1 << 20
# Threads must not start the same server twice.
_starting = threading.Lock()
_FACTS = r"(?P<facts>(?:\s+[^\s:]+:\S*)*)"
_PHONE_LINES = (
    re.compile(rf"(?P<serial>\S.*?)\s+(?P<state>{'|'.join(LISTED_STATES)}){_FACTS}"),
    re.compile(r"(?P<serial>\S.*?)\s+(?P<state>no permissions)(?P<facts>.*)"),
    re.compile(rf"(?P<serial>\S.*?)\s+(?P<state>\S+){_FACTS}"),
    re.compile(r"(?P<serial>\S+)\s+(?P<state>\S+)(?P<facts>.*)"),
)
"""Patterns of a line in a device list: a known state, a reason after `no permissions`, another state, anything else."""
_NAMELESS = "(no serial number)"
"""adb's text for an empty serial. Such a phone is reachable only by its transport id."""


class ListedPhone(NamedTuple):
    """One phone as the adb server lists it: `state` in adb's own word, `facts` with its model, product, device."""

    serial: str
    state: str
    facts: dict[str, str]


class Server(NamedTuple):
    """Address of an adb server, running or not."""

    host: str
    port: int

    @classmethod
    def from_environment(cls, env: Mapping[str, str] = os.environ) -> Server:
        """Return the server that adb itself would use: by its environment variables, else port 5037 of this machine."""
        spec = re.fullmatch(r"tcp:(?:(.+):)?(\d+)", env.get("ADB_SERVER_SOCKET", ""))
        host = env.get("ANDROID_ADB_SERVER_ADDRESS") or env.get("ANDROID_ADB_SERVER_HOST") or "127.0.0.1"
        port = env.get("ANDROID_ADB_SERVER_PORT", "")
        if spec:
            host, port = spec[1] or host, spec[2]
        if port and not 0 < (whole_number(port) or 0) < 65536:
            raise LabError("adb", f"ANDROID_ADB_SERVER_PORT={plain(port)!r} is no port.", "Set it to 1 to 65535.")
        return cls(host.strip("[]"), int(port or 5037))

    @property
    def name(self) -> str:
        return f"adb server {self.host}:{self.port}"

    def ready(self) -> None:
        """Start the server if none answers on this machine.

        Raise `LabError` without adb, `Trouble` if the start fails.
        """
        with _starting:
            if self.running():
                return
            if self.host not in _LOCAL:
                raise Trouble(self.name, "does not answer.", "It is another machine's: start it there.")
            _start(self)

    def running(self) -> bool:
        """Return True if something accepts connections there."""
        try:
            with socket.create_connection(self, timeout=_CONNECT):
                return True
        except OSError:
            return False

    def version(self) -> int:
        """Return its protocol version, 41 since 2019."""
        answer = self.ask("host:version")
        try:
            return int(answer, 16)
        except ValueError as error:
            raise Trouble(self.name, "answers nonsense.", "Is another program on its port?") from error

    def ask(self, request: str, seconds: float = _ANSWER, *, who: str = "") -> str:
        """Return the text of its answer to a `host:` request. Raise `Trouble` about `who`."""
        deadline = Deadline(seconds)
        with self._line(deadline) as line:
            _request(line, request, deadline, who or self.name)
            return _read_block(line, deadline, who or self.name)

    def phones(self) -> list[ListedPhone]:
        """Return every phone it lists, in its order."""
        return listed(self.ask("host:devices-l"))

    def connect(self, address: str, seconds: float = 10.0) -> str:
        """Ask it to connect to a phone at `host:port` and return its answer, which may be an error text."""
        return self.ask(f"host:connect:{address}", seconds, who=f"phone {address}")

    def disconnect(self, address: str) -> None:
        """Ask it to disconnect a phone at `host:port`. An unknown one is not an error."""
        deadline = Deadline(_ANSWER)
        with self._line(deadline) as line:
            send(line, _frame(f"host:disconnect:{address}"), deadline, self.name)
            read_rest(line, _MOST, deadline, self.name)

    def features(self, serial: str) -> frozenset[str]:
        """Return the adb features of a phone: shell_v2, cmd, ..."""
        number = self._transport_id(serial)
        prefix = f"host-transport-id:{number}" if number else f"host-serial:{serial}"
        return frozenset(self.ask(f"{prefix}:features", who=f"phone {serial}").split(","))

    def open(self, serial: str, service: str, seconds: float, sockets: SocketSet | None = None) -> socket.socket:
        """Open a socket to one service of a phone (`exec:...`, `sync:`, `localabstract:...`), after adb's OKAY.

        Add it to `sockets` before the first request. Raise `Trouble` if it takes too long or adb refuses. Its `sent` is
        True once the service may have begun on the phone.
        """
        deadline = Deadline(seconds)
        who = f"phone {serial}"
        number = self._transport_id(serial)
        line = self._connect(deadline)
        if sockets is not None:
            sockets.add(line)
        try:
            _request(line, f"host:transport-id:{number}" if number else f"host:transport:{serial}", deadline, who)
            _request(line, service, deadline, who, sent=True)
        except BaseException:
            hang_up(line)
            raise
        return line

    def track(self) -> socket.socket:
        """Open a socket that receives the whole device list on each change. `next_list` reads it."""
        deadline = Deadline(_ANSWER)
        line = self._connect(deadline)
        try:
            _request(line, "host:track-devices", deadline, self.name)
        except BaseException:
            hang_up(line)
            raise
        return line

    def next_list(self, line: socket.socket, seconds: float) -> list[ListedPhone]:
        """Read the next device list of a tracking socket.

        Raise `Trouble` if the server is gone or silent for `seconds`.
        """
        return listed(_read_block(line, Deadline(seconds), self.name))

    def _transport_id(self, serial: str) -> str:
        """Return the transport id of a phone without a serial, empty for all others."""
        if serial != _NAMELESS:
            return ""
        return next((phone.facts.get("transport_id", "") for phone in self.phones() if phone.serial == serial), "")

    @contextmanager
    def _line(self, deadline: Deadline) -> Iterator[socket.socket]:
        line = self._connect(deadline)
        try:
            yield line
        finally:
            hang_up(line)

    def _connect(self, deadline: Deadline) -> socket.socket:
        try:
            line = socket.create_connection(self, timeout=max(0.001, min(_CONNECT, deadline.seconds_left)))
            # Requests are small: Nagle's algorithm would delay each.
            line.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        except OSError as error:
            raise Trouble(self.name, "is not running.") from error
        return line


def listed(text: str) -> list[ListedPhone]:
    """Parse the answer of `host:devices-l` or `host:track-devices`."""
    return [device for line in text.splitlines() if (device := _parse_phone(line)) is not None]


def _parse_phone(line: str) -> ListedPhone | None:
    # A serial may contain blanks: adb adds " (2)" to a repeated mDNS name, and lists "(no serial number)".
    match = next((match for form in _PHONE_LINES if (match := form.fullmatch(line.strip()))), None)
    if match is None:
        return None
    facts = dict(pair.split(":", 1) for pair in match["facts"].split() if ":" in pair)
    return ListedPhone(match["serial"], match["state"], {} if match["state"] == "no permissions" else facts)


def adb_program() -> str:
    """Return the path of adb: from PATH, else adbutils' own. Raise `LabError` if there is none."""
    from adbutils import adb_path
    from adbutils.errors import AdbError

    try:
        return str(adb_path())
    except AdbError as error:
        hint = "Install Android's platform-tools, so that `adb` is on PATH."
        raise LabError("adb", "there is none on PATH, and adbutils brings none for this machine.", hint) from error


def _start(server: Server) -> None:
    command = [adb_program(), "-P", str(server.port), "start-server"]
    try:
        process = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, timeout=_START, check=False)
    except subprocess.TimeoutExpired as error:
        raise Trouble(server.name, f"did not start within {_START:g} s.") from error
    except OSError as error:
        raise LabError("adb", f"cannot be run ({error.strerror}).", "ADBUTILS_ADB_PATH names another.") from error
    if process.returncode:
        problem = plain(process.stderr.decode(errors="replace").strip().rpartition("\n")[2], lines=False)
        raise Trouble(server.name, f"did not start ({problem}).", "Is another program on its port?")


def _frame(request: str) -> bytes:
    data = request.encode()
    if len(data) > 0xFFFF:
        raise LabError("adb", "a command of more than 65,535 bytes cannot be sent.")
    return b"%04x" % len(data) + data


def _request(line: socket.socket, request: str, deadline: Deadline, who: str, *, sent: bool = False) -> None:
    """Send a request and wait for OKAY. Raise `Trouble` with the text of a FAIL: then nothing was done."""
    send(line, _frame(request), deadline, who)
    status = exactly(line, 4, deadline, who, sent=sent)
    if status == b"OKAY":
        return
    if status != b"FAIL":
        raise Trouble(who, "adb answers nonsense.", "Is another program on its server's port?")
    raise refusal(who, _read_block(line, deadline, who))


def _read_block(line: socket.socket, deadline: Deadline, who: str) -> str:
    length = exactly(line, 4, deadline, who)
    try:
        count = int(length, 16)
    except ValueError as error:
        raise Trouble(who, "adb answers nonsense.", "Is another program on its server's port?") from error
    return exactly(line, count, deadline, who).decode(errors="replace")
