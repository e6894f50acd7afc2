"""What goes wrong with a scrcpy session is told, is not waited for without end, and leaves nothing behind."""

from __future__ import annotations

import io
import socket
import threading
import time
import zipfile
from pathlib import Path

import pytest

from lab.core.errors import LabError
from lab.core.seams import Trouble
from lab.devices.scrcpy import scrcpy_codec
from lab.devices.scrcpy.scrcpy import Scrcpy
from lab.devices.scrcpy.scrcpy_control import ControlSocket
from tests.lab.devices.scrcpy_rig import PATIENCE, Mirrored, Start, picture, threads, until


@pytest.mark.parametrize("version", ["3.3.4", "4.1"])
@pytest.mark.parametrize(("fault", "said"), [("garbage", "wrong frame header"), ("die", "broke off|ended")])
def test_video_that_goes_wrong_is_trouble_and_begins_anew(
    mirrored: Mirrored, start: Start, version: str, fault: str, said: str
) -> None:
    session = start(version)
    picture(session)
    mirrored.served.faults.turn("video", fault)
    mirrored.served.display.rotation = 0
    with pytest.raises(Trouble, match=said):
        picture(session, lambda _: False)
    until(lambda: not session.alive)
    with pytest.raises(Trouble):
        session.newest(10**6, 0)
    session.close()
    mirrored.served.faults.clear()
    assert picture(start(version)).size


def test_an_unplugged_phone_is_trouble_for_all_that_wait(mirrored: Mirrored, start: Start) -> None:
    session = start()
    picture(session)
    mirrored.served.faults.unplug()
    with pytest.raises(Trouble):
        picture(session, lambda _: False)
    until(lambda: not session.alive)
    with pytest.raises(Trouble):
        session.paste("x")
    with pytest.raises(Trouble):
        Scrcpy.start(mirrored.open, jar=mirrored.jar("3.3.4"), seconds=1.0)
    session.close()
    mirrored.served.faults.plug()
    mirrored.rig.connect()
    assert picture(start()).size


def test_a_phone_that_answers_late_is_not_waited_for_without_end(mirrored: Mirrored, start: Start) -> None:
    mirrored.served.faults.turn("slow", 600.0)
    began = time.monotonic()
    with pytest.raises(Trouble):
        Scrcpy.start(mirrored.open, jar=mirrored.jar("3.3.4"), seconds=0.5)
    assert time.monotonic() - began < 300
    mirrored.served.faults.clear()
    session = start(video=False)
    mirrored.served.faults.turn("slow", 30.0)
    with pytest.raises(Trouble, match="did not take the text") as caught:
        session.paste("x", seconds=0.2)
    assert caught.value.sent
    assert session.clipboard(seconds=0.1) is None


def test_a_phone_that_lets_nobody_touch_it_says_so_once(mirrored: Mirrored, start: Start) -> None:
    session = start()
    mirrored.served.faults.turn("deny", True)

    def refused() -> bool:
        try:
            session.touch(5, 5, "down", (1080, 2400))
            session.touch(5, 5, "up", (1080, 2400))
        except LabError as error:
            return "does not let adb touch" in error.message
        return False

    until(refused)
    until(refused)
    assert session.alive
    assert not mirrored.phone.touched
    mirrored.served.faults.clear()
    until(lambda: not refused() and mirrored.phone.touched)


def test_closing_leaves_nothing_here_and_nothing_there(mirrored: Mirrored, start: Start) -> None:
    session = start()
    picture(session)
    assert len(threads()) == 3
    closing = [threading.Thread(target=session.close) for _ in range(3)]
    for thread in closing:
        thread.start()
    for thread in closing:
        thread.join(PATIENCE)
    assert not threads()
    assert not session.alive
    services = mirrored.served.services
    until(lambda: not services.listening and not any("scrcpy" in name for name in services.files))
    with pytest.raises(Trouble):
        session.key(3)


def test_a_server_that_does_not_run_says_why(mirrored: Mirrored, tmp_path: Path) -> None:
    other = io.BytesIO()
    with zipfile.ZipFile(other, "w") as archive:
        archive.writestr("classes.dex", b"dex\n035\0 of something else")
    named = tmp_path / "scrcpy-server-v3.3.4"
    named.write_bytes(other.getvalue())
    with pytest.raises(Trouble, match="Could not find or load main class"):
        Scrcpy.start(mirrored.open, jar=str(named))
    assert not threads()
    with pytest.raises(LabError, match=r"1\.25 is none"):
        Scrcpy.start(mirrored.open, jar=mirrored.jar("1.25"))


def test_without_video_or_control_what_needs_them_is_refused(mirrored: Mirrored, start: Start) -> None:
    blind, bound = start(video=False), start(control=False)
    with pytest.raises(LabError, match="no video"):
        blind.newest()
    with pytest.raises(LabError, match="no control"):
        bound.key(3)
    assert picture(bound).size
    blind.touch(7, 9, "down", (1080, 2400))
    blind.touch(7, 9, "up", (1080, 2400))
    assert mirrored.phone.next_touch() == ("click", (7, 9))


def test_nonsense_from_the_phone_ends_the_control(mirrored: Mirrored) -> None:
    """A server that says what is no message, and one that ends in the middle of one."""
    for said in (b"\x07", b"\x00\xff\xff\xff\xff", b"\x01\x00\x00"):
        here, there = socket.socketpair()
        control = ControlSocket(here)
        there.sendall(said)
        there.shutdown(socket.SHUT_WR)
        until(lambda c=control: c.trouble)  # type: ignore[misc]
        with pytest.raises(Trouble):
            control.say(scrcpy_codec.rotate())
        control.close()
        there.close()
