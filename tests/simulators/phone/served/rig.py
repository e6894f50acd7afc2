"""The rig: a served phone, and an adb server of the tests' own that drives it. Fixtures, for any folder's conftest.

`from tests.simulators.phone.served.rig import adb_server, rig` makes both fixtures known in a conftest. `over_adbs`
marks a test that is run with every adb there is.
"""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from lab.devices.harness import Harness
from simulators.phone.phone import Phone
from simulators.phone.served.served import PhoneServer

LOOPBACK = "127.0.0.1"
BUNDLED, ON_PATH = "adbutils", "PATH"


def adbs() -> dict[str, str]:
    """The adb programs that are here: the one that adbutils brings, and the distribution's on PATH."""
    import adbutils

    bundled = Path(adbutils.__file__).parent / "binaries" / "adb"
    on_path = shutil.which("adb") or ""
    found = {BUNDLED: str(bundled) if bundled.is_file() else "", ON_PATH: on_path}
    return {name: program for name, program in found.items() if program}


over_adbs = pytest.mark.parametrize("adb_server", adbs(), indirect=True, scope="session")
"""Runs a test once with each adb that is here: they tell of a phone that goes away in different ways."""


def until(condition: object, timeout: float = 180.0, step: float = 0.01) -> bool:
    """Waits until `condition()` is true; whether it became so in time."""
    assert callable(condition)
    end = time.monotonic() + timeout
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(step)
    return True


def free_port() -> int:
    """A port that nobody listens at just now."""
    with socket.socket() as sock:
        sock.bind((LOOPBACK, 0))
        port: int = sock.getsockname()[1]
        return port


class AdbServer:
    """An adb server of its own: a free port, a HOME of its own, no USB, no mDNS. `environment` leads a client to it."""

    def __init__(self, home: Path, program: str = "") -> None:
        import adbutils

        self.adb = program or adbutils.adb_path()
        self.home = home
        self.host, self.port = LOOPBACK, 0
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def environment(self) -> dict[str, str]:
        """The variables that lead `adb` and this lab to it, over those of this process."""
        own = {
            "HOME": str(self.home),
            "ANDROID_USER_HOME": str(self.home / ".android"),
            "ANDROID_ADB_SERVER_PORT": str(self.port),
            "ADBUTILS_ADB_PATH": self.adb,
            "ADB_LIBUSB": "0",
            "ADB_MDNS": "0",
            "ADB_MDNS_AUTO_CONNECT": "0",
        }
        return {**{k: v for k, v in os.environ.items() if not k.startswith(("ANDROID_", "ADB_"))}, **own}

    def lead(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Has this process, and what it starts, find it."""
        monkeypatch.delenv("ANDROID_ADB_SERVER_ADDRESS", raising=False)
        for name, value in self.environment.items():
            monkeypatch.setenv(name, value)

    @property
    def pid(self) -> int:
        """Its process; it runs."""
        assert self._process is not None
        return self._process.pid

    def start(self) -> None:
        """Is there on return; on the same port as before where it was started already."""
        for _ in range(5):
            self.port = self.port or free_port()
            words = [self.adb, "-P", str(self.port), "server", "nodaemon"]
            quiet = subprocess.DEVNULL
            self._process = subprocess.Popen(words, env=self.environment, stdin=quiet, stdout=quiet, stderr=quiet)
            if until(self._answers) and self._process.poll() is None:
                return
            self.stop()
            self.port = 0
        raise RuntimeError("no adb server came up")

    @property
    def running(self) -> bool:
        """Whether anything listens at its port."""
        with suppress(OSError), socket.create_connection((LOOPBACK, self.port), 1.0):
            return True
        return False

    def _answers(self) -> bool:
        with suppress(OSError), socket.create_connection((LOOPBACK, self.port), 1.0) as sock:
            sock.settimeout(2.0)
            sock.sendall(b"000chost:version")
            return sock.recv(4) == b"OKAY"
        return self._process is not None and self._process.poll() is not None

    def stop(self) -> None:
        """Ends it, and what was started in its place on its port."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None
        with suppress(OSError), socket.create_connection((LOOPBACK, self.port), 1.0) as sock:
            sock.settimeout(2.0)
            sock.sendall(b"0009host:kill")
            sock.recv(64)

    def run(self, *words: str, stdin: bytes = b"", timeout: float = 180.0) -> subprocess.CompletedProcess[bytes]:
        """`adb WORDS`, to its end."""
        return subprocess.run(
            [self.adb, *words], env=self.environment, input=stdin, capture_output=True, timeout=timeout, check=False
        )

    def state(self, serial: str) -> str:
        """What adb says of a phone: device, offline, unauthorized; empty where it knows of none."""
        lines = self.run("devices").stdout.decode().splitlines()
        return next((line.split("\t")[1] for line in lines if line.startswith(f"{serial}\t")), "")


class Rig:
    """A served phone that adb knows. `served.faults` and `fault` make things go wrong, `harness` sees inside."""

    def __init__(self, server: AdbServer, served: PhoneServer) -> None:
        self.server, self.served = server, served
        self.phone, self.faults = served.phone, served.faults
        self.serial = served.serial
        self.harness = Harness(served.harness_url, served.token)

    def adb(self, *words: str, stdin: bytes = b"", timeout: float = 180.0) -> subprocess.CompletedProcess[bytes]:
        """`adb -s SERIAL WORDS`, to its end."""
        return self.server.run("-s", self.serial, *words, stdin=stdin, timeout=timeout)

    def shell(self, command: str) -> str:
        """What a command prints on the phone."""
        return self.adb("shell", command).stdout.decode()

    def connect(self) -> None:
        """adb knows the phone, and it is there, on return."""
        for _ in range(30):  # adb may be about to let go of the one before, and lose this one with it
            self.server.run("connect", self.serial)
            if until(lambda: self.server.state(self.serial) == "device", 4.0):
                return
        raise AssertionError("the phone does not come")

    @property
    def state(self) -> str:
        """What adb says of the phone."""
        return self.server.state(self.serial)


@contextmanager
def serving(server: AdbServer, phone: Phone | None = None) -> Iterator[Rig]:
    """A phone served and connected; disconnected and closed at the end."""
    with PhoneServer(phone or Phone()) as served:
        made = Rig(server, served)
        made.connect()
        try:
            yield made
        finally:
            server.run("disconnect", made.serial)


@pytest.fixture(scope="session")
def adb_server(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[AdbServer]:
    """One adb server for all of a worker's tests; of the program that `over_adbs` names, else of the one in use."""
    server = AdbServer(tmp_path_factory.mktemp("adb"), adbs().get(getattr(request, "param", ""), ""))
    server.start()
    yield server
    server.stop()
    assert until(lambda: not server.running), f"an adb server is left at port {server.port}"


@pytest.fixture
def rig(adb_server: AdbServer) -> Iterator[Rig]:
    """A phone of the test's own, served and connected."""
    with serving(adb_server) as made:
        yield made


@pytest.fixture
def adb_environment(adb_server: AdbServer, monkeypatch: pytest.MonkeyPatch) -> AdbServer:
    """This process, and what it starts, finds the tests' own adb server."""
    adb_server.lead(monkeypatch)
    return adb_server
