"""The adb server: found or started, asked for its phones, and opened through to a service of one of them.

adbutils brings adb along and finds the one on PATH. Its own calls are not used for talking: they may wait for ten
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
from lab.core.plain_text import plain
from lab.core.seams import Trouble
from lab.core.whole_number import whole_number
from lab.devices.adb_states import LISTED_STATES, refusal
from lab.devices.socket_io import Deadline, SocketSet, exactly, hang_up, rest, send

_LOCAL = ("127.0.0.1", "localhost", "::1")
_CONNECT, _START, _ANSWER = 3.0, 20.0, 5.0
_MOST = 1 << 20
_starting = threading.Lock()
_FACTS = r"(?P<facts>(?:\s+[^\s:]+:\S*)*)"
_PHONE_LINES = (
    re.compile(rf"(?P<serial>\S.*?)\s+(?P<state>{'|'.join(LISTED_STATES)}){_FACTS}"),
    re.compile(r"(?P<serial>\S.*?)\s+(?P<state>no permissions)(?P<facts>.*)"),
    re.compile(rf"(?P<serial>\S.*?)\s+(?P<state>\S+){_FACTS}"),
    re.compile(r"(?P<serial>\S+)\s+(?P<state>\S+)(?P<facts>.*)"),
)
"""Forms of a line in a list of phones: a state of today, a reason behind it, another state, anything else."""
_NAMELESS = "(no serial number)"
"""What adb lists in place of an empty serial; it finds such a phone by its transport's number alone."""


class ListedPhone(NamedTuple):
    """One phone as the adb server lists it; `state` is adb's own word, `facts` its model, product, device."""

    serial: str
    state: str
    facts: dict[str, str]


class Server(NamedTuple):
    """An adb server, running or not, by where it listens."""

    host: str
    port: int

    @classmethod
    def named(cls, env: Mapping[str, str] = os.environ) -> Server:
        """The one that adb itself would use: its variables, else port 5037 of this machine."""
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
        """Starts it where none answers on this machine; `LabError` where there is no adb, `Trouble` where it fails."""
        with _starting:
            if self.running():
                return
            if self.host not in _LOCAL:
                raise Trouble(self.name, "does not answer.", "It is another machine's: start it there.")
            _start(self)

    def running(self) -> bool:
        """Whether something listens there."""
        try:
            with socket.create_connection(self, timeout=_CONNECT):
                return True
        except OSError:
            return False

    def version(self) -> int:
        """The protocol's number that it speaks: 41 since 2019."""
        answer = self.ask("host:version")
        try:
            return int(answer, 16)
        except ValueError as error:
            raise Trouble(self.name, "answers nonsense.", "Is another program on its port?") from error

    def ask(self, request: str, seconds: float = _ANSWER, *, who: str = "") -> str:
        """The text that it answers a `host:` request with; `Trouble` about `who`."""
        deadline = Deadline(seconds)
        with self._line(deadline) as line:
            _request(line, request, deadline, who or self.name)
            return _block(line, deadline, who or self.name)

    def phones(self) -> list[ListedPhone]:
        """Every phone it knows, in its order."""
        return listed(self.ask("host:devices-l"))

    def connect(self, address: str, seconds: float = 10.0) -> str:
        """Has it connect to a phone at `host:port`; gives its words, which also say what went wrong."""
        return self.ask(f"host:connect:{address}", seconds, who=f"phone {address}")

    def disconnect(self, address: str) -> None:
        """Has it let go of a phone at `host:port`; one that it does not have is no error."""
        deadline = Deadline(_ANSWER)
        with self._line(deadline) as line:
            send(line, _framed(f"host:disconnect:{address}"), deadline, self.name)
            rest(line, _MOST, deadline, self.name)

    def features(self, serial: str) -> frozenset[str]:
        """What a phone's adb can do, by adb's own words: shell_v2, cmd, ..."""
        number = self._transport_id(serial)
        prefix = f"host-transport-id:{number}" if number else f"host-serial:{serial}"
        return frozenset(self.ask(f"{prefix}:features", who=f"phone {serial}").split(","))

    def open(self, serial: str, service: str, seconds: float, sockets: SocketSet | None = None) -> socket.socket:
        """A socket to one service of a phone (`exec:...`, `sync:`, `localabstract:...`), after adb's OKAY.

        It is in `sockets` from its first moment on. `Trouble` where it is not had in time; its `sent` is true once the
        service may have begun on the phone.
        """
        deadline = Deadline(seconds)
        who = f"phone {serial}"
        number = self._transport_id(serial)
        line = self._connected(deadline)
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
        """A socket on which it tells all its phones anew whenever one changes; read with `told`."""
        deadline = Deadline(_ANSWER)
        line = self._connected(deadline)
        try:
            _request(line, "host:track-devices", deadline, self.name)
        except BaseException:
            hang_up(line)
            raise
        return line

    def next_list(self, line: socket.socket, seconds: float) -> list[ListedPhone]:
        """The next word on a tracking socket; `Trouble` where the server is gone or says nothing for so long."""
        return listed(_block(line, Deadline(seconds), self.name))

    def _transport_id(self, serial: str) -> str:
        """Return the number of a phone without a serial; empty for all others."""
        if serial != _NAMELESS:
            return ""
        return next((phone.facts.get("transport_id", "") for phone in self.phones() if phone.serial == serial), "")

    @contextmanager
    def _line(self, deadline: Deadline) -> Iterator[socket.socket]:
        line = self._connected(deadline)
        try:
            yield line
        finally:
            hang_up(line)

    def _connected(self, deadline: Deadline) -> socket.socket:
        try:
            line = socket.create_connection(self, timeout=max(0.001, min(_CONNECT, deadline.seconds_left)))
            line.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        except OSError as error:
            raise Trouble(self.name, "is not running.") from error
        return line


def listed(text: str) -> list[ListedPhone]:
    """What `host:devices-l` or `host:track-devices` says, phone by phone."""
    return [device for line in text.splitlines() if (device := _listed(line)) is not None]


def _listed(line: str) -> ListedPhone | None:
    # A serial may hold blanks: adb adds " (2)" to an mDNS name that it sees twice, and lists "(no serial number)".
    match = next((match for form in _PHONE_LINES if (match := form.fullmatch(line.strip()))), None)
    if match is None:
        return None
    facts = dict(pair.split(":", 1) for pair in match["facts"].split() if ":" in pair)
    return ListedPhone(match["serial"], match["state"], {} if match["state"] == "no permissions" else facts)


def adb_program() -> str:
    """The adb that is used: the one on PATH, else the one that adbutils brings; `LabError` where there is none."""
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


def _framed(request: str) -> bytes:
    data = request.encode()
    if len(data) > 0xFFFF:
        raise LabError("adb", "a command of more than 65,535 bytes cannot be sent.")
    return b"%04x" % len(data) + data


def _request(line: socket.socket, request: str, deadline: Deadline, who: str, *, sent: bool = False) -> None:
    """Sends a request and waits for OKAY; a FAIL is `Trouble` with its words, and nothing was done."""
    send(line, _framed(request), deadline, who)
    status = exactly(line, 4, deadline, who, sent=sent)
    if status == b"OKAY":
        return
    if status != b"FAIL":
        raise Trouble(who, "adb answers nonsense.", "Is another program on its server's port?")
    raise refusal(who, _block(line, deadline, who))


def _block(line: socket.socket, deadline: Deadline, who: str) -> str:
    length = exactly(line, 4, deadline, who)
    try:
        count = int(length, 16)
    except ValueError as error:
        raise Trouble(who, "adb answers nonsense.", "Is another program on its server's port?") from error
    return exactly(line, count, deadline, who).decode(errors="replace")
