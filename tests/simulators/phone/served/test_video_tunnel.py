"""The scrcpy server as scrcpy's own client starts it: pushed, forwarded and run by adb's command line."""

from __future__ import annotations

import socket
import struct
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.scrcpy_jar import stand_in
from tests.simulators.phone.served.rig import LOOPBACK, Rig, until

JAR = "/data/local/tmp/scrcpy-server.jar"


class Started:
    """`adb shell app_process ...` with these words, in the background, and a forwarded port to its socket."""

    def __init__(self, rig: Rig, version: str, *words: str) -> None:
        self.rig = rig
        self.port = int(rig.adb("forward", "tcp:0", "localabstract:scrcpy_00c0ffee").stdout)
        run = f"CLASSPATH={JAR} app_process / com.genymobile.scrcpy.Server {version} scid=00c0ffee {' '.join(words)}"
        command = [rig.server.adb, "-s", rig.serial, "shell", run]
        env = rig.server.environment
        self.process = subprocess.Popen(command, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)

    def socket(self, greeting: bytes = b"") -> socket.socket:
        """A connection to the server; tried again until it says the greeting, as the forward itself always accepts."""
        found: list[socket.socket] = []

        def tried() -> bool:
            end = socket.create_connection((LOOPBACK, self.port), 5.0)
            end.settimeout(5.0)
            if greeting and end.recv(len(greeting)) != greeting:
                end.close()
                return False
            found.append(end)
            return True

        assert until(tried)
        return found[0]

    def close(self) -> str:
        """Ends it; what it has printed."""
        self.process.kill()
        self.rig.adb("forward", "--remove", f"tcp:{self.port}")
        return self.process.communicate()[0].decode()


@pytest.fixture
def pushed(rig: Rig, tmp_path: Path) -> Iterator[Rig]:
    jar = tmp_path / "scrcpy-server"
    jar.write_bytes(stand_in("3.3.4"))
    assert rig.adb("push", str(jar), JAR).returncode == 0
    yield rig
    assert until(lambda: not rig.served.services.listening)


def test_a_session_through_a_forwarded_port(pushed: Rig) -> None:
    started = Started(pushed, "3.3.4", "tunnel_forward=true", "audio=false", "max_size=800", "cleanup=true")
    video = started.socket(b"\0")
    control = started.socket()
    head = b""
    while len(head) < 64 + 12 + 12:
        head += video.recv(64 + 12 + 12 - len(head))
    assert head[:64] == b"Lantern One".ljust(64, b"\0")
    assert struct.unpack(">4sII", head[64:76]) == (b"h264", 360, 800)
    assert struct.unpack(">Q", head[76:84]) == (1 << 63,)
    assert JAR not in pushed.served.services.files
    control.sendall(bytes([5]))
    assert until(lambda: pushed.phone.snapshot()["shade"])
    control.close()
    assert started.process.wait(180) == 0
    video.close()
    assert "[server] INFO: Device: [Lantern] Lantern Lantern One (Android 15)" in started.close()


def test_a_server_ends_with_the_adb_that_started_it(pushed: Rig) -> None:
    started = Started(pushed, "3.3.4", "tunnel_forward=true", "audio=false")
    video = started.socket(b"\0")
    started.close()
    assert until(lambda: not pushed.served.services.listening)
    assert video.recv(1) == b""
    video.close()


def test_a_server_ends_when_the_phone_is_unplugged(pushed: Rig) -> None:
    started = Started(pushed, "3.3.4", "tunnel_forward=true", "audio=false")
    video, control = started.socket(b"\0"), started.socket()
    assert until(serving)
    pushed.faults.unplug()
    assert until(lambda: not serving())
    pushed.faults.plug()
    for end in (video, control):
        end.close()
    started.close()


def serving() -> bool:
    """Whether a server streams or obeys."""
    return any(thread.name == "scrcpy-server" for thread in threading.enumerate())


def test_another_version_is_refused(pushed: Rig) -> None:
    done = pushed.adb("shell", f"CLASSPATH={JAR} app_process / com.genymobile.scrcpy.Server 3.3.3 scid=1")
    assert done.returncode == 1
    assert b"[server] ERROR: The server version (3.3.4) does not match the client (3.3.3)" in done.stdout + done.stderr
