"""A scrcpy session through the real adb server with the served phone: pictures, touches, text, and what goes wrong."""

from __future__ import annotations

import functools
import socket
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image

from lab.devices import scrcpy_wire as wire
from lab.devices.bridge import Server, adb_program
from lab.devices.scrcpy import Open, Picture, Scrcpy, apps
from lab.errors import LabError
from lab.seams import Trouble
from lab.turn import Action, Point
from simulators.phone.phone import Phone
from simulators.phone.served.scrcpy_options import stand_in
from simulators.phone.served.served import Served

SIZES = (800, 1200, 0)
"""The video's longer side: a third, a half and the whole of the phone's."""
UPRIGHT, ASIDE = (1080, 2400), (2400, 1080)
PATIENCE = 10.0


class Noting(Phone):
    """A phone that notes where it was touched, in its own pixels."""

    def __init__(self) -> None:
        super().__init__()
        self.touched: list[tuple[str, Point | None]] = []
        self.felt = threading.Condition()

    def perform(self, action: Action) -> None:
        super().perform(action)
        with self.felt:
            self.touched.append((action.kind, action.at))
            self.felt.notify_all()

    def next_touch(self) -> tuple[str, Point | None]:
        with self.felt:
            assert self.felt.wait_for(lambda: self.touched, PATIENCE), "it was not touched"
            return self.touched.pop(0)


class Rig:
    """A served phone that a private adb server sees; `open` reaches its services."""

    def __init__(self, server: Server, jars: Path) -> None:
        self.server, self.jars = server, jars
        self.phone = Noting()
        self.served = Served(self.phone, harness_port=None)

    @property
    def open(self) -> Open:
        return functools.partial(self.server.open, self.served.serial)

    def connect(self) -> None:
        serial = self.served.serial
        self.server.connect(serial)
        until(lambda: any(one.serial == serial and one.state == "device" for one in self.server.phones()))

    def jar(self, version: str) -> str:
        path = self.jars / f"server-{version}"
        path.write_bytes(stand_in(version))
        return str(path)

    def shown(self, size: Point) -> NDArray[np.float64]:
        """What the phone shows, at that size."""
        picture = Image.frombytes("RGB", self.served.display.size, self.served.display.rgb())
        return np.asarray(picture.resize(size, Image.Resampling.BOX), dtype=np.float64)


def until(come: Callable[[], Any]) -> None:
    end = time.monotonic() + PATIENCE
    while not come():
        assert time.monotonic() < end, "it did not come about"
        time.sleep(0.01)


def threads() -> list[str]:
    ours = {"scrcpy-video", "scrcpy-control", "scrcpy-log"}
    return [thread.name for thread in threading.enumerate() if thread.name in ours]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        made = Server("127.0.0.1", free.getsockname()[1])
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HOME", str(tmp_path_factory.mktemp("home")))
        for name in ("ADB_LIBUSB", "ADB_MDNS", "ADB_MDNS_AUTO_CONNECT"):
            patch.setenv(name, "0")
        made.ready()
        yield made
        subprocess.run([adb_program(), "-P", str(made.port), "kill-server"], check=True, capture_output=True)


@pytest.fixture
def rig(server: Server, tmp_path: Path) -> Iterator[Rig]:
    rig = Rig(server, tmp_path)
    with rig.served:
        rig.connect()
        yield rig
        server.disconnect(rig.served.serial)
    assert not threads()


Start = Callable[..., Scrcpy]


@pytest.fixture
def start(rig: Rig) -> Iterator[Start]:
    begun: list[Scrcpy] = []

    def begin(version: str = "3.3.4", **how: Any) -> Scrcpy:
        begun.append(Scrcpy.start(rig.open, jar=rig.jar(version), **how))
        return begun[-1]

    yield begin
    for session in begun:
        session.close()


def psnr(picture: Picture, shown: NDArray[np.float64]) -> float:
    width, height = picture.size
    got = np.frombuffer(picture.rgb(), np.uint8).reshape(height, width, 3)
    wrong = float(((got - shown) ** 2).mean())
    return float(10 * np.log10(255**2 / max(wrong, 1e-9)))


def picture(session: Scrcpy, good: Callable[[Picture], bool] = lambda _: True) -> Picture:
    """The first newest picture that is `good`."""
    after, end = -1, time.monotonic() + PATIENCE
    while time.monotonic() < end:
        found = session.newest(after, 0.5)
        if found is not None:
            after = found.number
            if good(found):
                return found
    raise AssertionError("no such picture came")


@pytest.mark.parametrize("version", ["2.4", "3.3.4", "4.1"])
@pytest.mark.parametrize("most", SIZES)
def test_pictures_are_the_phones_and_touches_land(rig: Rig, start: Start, version: str, most: int) -> None:
    session = start(version, max_size=most)
    assert (session.version, session.name) == (version, "Lantern One")
    for space in (UPRIGHT, ASIDE):
        size = session.size
        assert size is not None
        assert max(size) == (most or 2400)
        shown = rig.shown(size)
        picture(session, lambda p, s=size, i=shown: p.size == s and psnr(p, i) > 35)  # type: ignore[misc]
        lands(rig, session, space)
        if space == UPRIGHT:
            session.rotate()
            picture(session, lambda p: p.size[0] > p.size[1])
            until(lambda: session.size and session.size[0] > session.size[1])


def lands(rig: Rig, session: Scrcpy, space: Point) -> None:
    """Touches all over the screen arrive where they were meant, as near as the video's pixels allow."""
    display = rig.served.display
    assert session.size is not None
    for across, down in ((0.0, 0.0), (0.31, 0.77), (0.5, 0.5), (0.999, 0.999)):
        left, right = (0, space[0]) if space == UPRIGHT else (961, 1439)  # the phone's picture, but for its edges
        at = (int(left + across * (right - left)), int(down * space[1]))
        meant = display.to_phone(*at)
        assert meant is not None
        session.touch(*at, "down", space)
        session.touch(*at, "up", space)
        kind, felt = rig.phone.next_touch()
        assert kind == "click"
        assert felt is not None
        coarse = space[0] / session.size[0] / 2 + 1
        scale = 1080 / (right - left)
        assert max(abs(felt[0] - meant[0]), abs(felt[1] - meant[1])) <= coarse * scale + 1


def test_a_touch_is_exact_where_the_video_is(rig: Rig, start: Start) -> None:
    session = start(max_size=0)
    for at in ((0, 0), (1, 2), (539, 1201), (1079, 2399)):
        session.touch(*at, "down", UPRIGHT)
        session.touch(*at, "up", UPRIGHT)
        assert rig.phone.next_touch() == ("click", at)


def test_what_was_meant_for_another_side_or_beside_the_screen_is_refused(rig: Rig, start: Start) -> None:
    session = start()
    with pytest.raises(Trouble, match="being turned") as caught:
        session.touch(5, 5, "down", ASIDE)
    assert not caught.value.sent
    for at in ((-1, 5), (1080, 5), (5, 2400)):
        with pytest.raises(LabError, match="outside"):
            session.touch(*at, "down", UPRIGHT)
    assert not rig.phone.touched


def test_a_still_screen_sends_nothing_and_lives(rig: Rig, start: Start) -> None:
    session = start()
    last = picture(session)
    while (more := session.newest(last.number, 0.5)) is not None:
        last = more
    assert session.newest(last.number, 0.3) is None
    assert session.alive
    session.key(3)
    session.touch(900, 1700, "down", UPRIGHT)
    session.touch(900, 1700, "up", UPRIGHT)
    assert session.newest(last.number, PATIENCE) is not None


def test_the_newest_picture_wins_and_streams_end(rig: Rig, start: Start) -> None:
    session = start()
    stop, seen = threading.Event(), []
    for found in session.pictures(stop):
        seen.append(found.number)
        if len(seen) == 3:
            stop.set()
    assert seen == sorted(set(seen))
    first = session.newest(-1, 0)
    assert first is not None
    assert first.number >= seen[-1]


def test_a_picture_is_had_at_the_size_that_is_wanted(rig: Rig, start: Start) -> None:
    found = picture(start(max_size=1200))
    for size in ((544, 1200), (271, 601), (90, 200), (1080, 2400)):
        pixels = np.frombuffer(found.rgb(size), np.uint8).reshape(size[1], size[0], 3)
        shown = rig.shown(size)
        assert abs(pixels.mean(axis=(0, 1)) - shown.mean(axis=(0, 1))).max() < 3


def field(rig: Rig) -> str:
    node = next((node for node in rig.served.display.tree().nodes() if node.focused), None)
    return node.text if node is not None else ""


def into_a_field(rig: Rig) -> None:
    """A note is open, and the cursor is in it."""
    rig.phone.perform(Action("open_app", app="Notes"))
    tree = rig.served.display.tree()
    new = next(node for node in tree.nodes() if node.clickable and "ew note" in f"{node.text} {node.desc}")
    rig.phone.perform(Action("click", at=new.bounds.center))
    body = [node for node in rig.served.display.tree().nodes() if "EditText" in node.cls][-1]
    rig.phone.perform(Action("click", at=body.bounds.center))
    assert rig.served.display.typing


AWKWARD = 'it\'s "50%" off; rm -rf $HOME & 你好 🙂\n'


def test_any_text_is_pasted_as_it_is(rig: Rig, start: Start) -> None:
    into_a_field(rig)
    session = start(video=False)
    assert session.size is None
    session.paste(AWKWARD)
    until(lambda: field(rig).endswith(AWKWARD))
    session.copy_in("kept")
    assert session.clipboard() == "kept"
    assert rig.served.services.clipboard == "kept"


def test_keys_type_ascii_and_nothing_else(rig: Rig, start: Start) -> None:
    into_a_field(rig)
    session = start(video=False)
    before = field(rig)
    session.text('it\'s "50%" off; rm -rf $HOME & ~')
    session.text("")
    until(lambda: field(rig) == before + 'it\'s "50%" off; rm -rf $HOME & ~')
    session.key(67)
    until(lambda: field(rig) == before + 'it\'s "50%" off; rm -rf $HOME & ')
    for other in ("é", "\n", "\x1b[0m"):
        with pytest.raises(LabError, match="ASCII"):
            session.text(other)


def test_panels_back_home_and_apps(rig: Rig, start: Start) -> None:
    session = start("4.1")
    display = rig.served.display
    session.start_app("com.hitlab.notes")
    until(lambda: "notes" in display.activity)
    session.back()
    until(lambda: "notes" not in display.activity)
    session.start_app("?clock")
    until(lambda: "clock" in display.activity)
    session.expand("notifications")
    until(lambda: rig.phone.look().state["shade"])
    session.expand("")
    until(lambda: not rig.phone.look().state["shade"])
    session.key(3)
    until(lambda: "clock" not in display.activity)
    display.awake = False
    session.back()
    until(lambda: display.awake)
    assert session.alive
    with pytest.raises(LabError, match="starts no apps"):
        start("2.4").start_app("com.hitlab.notes")


def test_a_long_press_is_a_finger_that_stays(rig: Rig, start: Start) -> None:
    session = start()
    session.touch(540, 1200, "down", UPRIGHT)
    kind, at = rig.phone.next_touch()
    session.touch(540, 1200, "up", UPRIGHT)
    assert (kind, at) == ("long_press", (540, 1200))


def test_apps_by_their_labels(rig: Rig) -> None:
    found = apps(rig.open, jar=rig.jar("4.0"))
    assert ("Notes", "com.hitlab.notes") in [(app.label, app.package) for app in found]
    assert not any("jar" in name for name in rig.served.services.files)
    with pytest.raises(LabError, match="lists no apps"):
        apps(rig.open, jar=rig.jar("2.4"))


@pytest.mark.parametrize("version", ["3.3.4", "4.1"])
@pytest.mark.parametrize(("fault", "said"), [("garbage", "wrong frame header"), ("die", "broke off|ended")])
def test_video_that_goes_wrong_is_trouble_and_begins_anew(
    rig: Rig, start: Start, version: str, fault: str, said: str
) -> None:
    session = start(version)
    picture(session)
    rig.served.faults.turn("video", fault)
    rig.served.display.rotation = 0
    with pytest.raises(Trouble, match=said):
        picture(session, lambda _: False)
    until(lambda: not session.alive)
    with pytest.raises(Trouble):
        session.newest(10**6, 0)
    session.close()
    rig.served.faults.clear()
    assert picture(start(version)).size


def test_an_unplugged_phone_is_trouble_for_all_that_wait(rig: Rig, start: Start) -> None:
    session = start()
    picture(session)
    rig.served.faults.unplug()
    with pytest.raises(Trouble):
        picture(session, lambda _: False)
    until(lambda: not session.alive)
    with pytest.raises(Trouble):
        session.paste("x")
    with pytest.raises(Trouble):
        Scrcpy.start(rig.open, jar=rig.jar("3.3.4"), seconds=1.0)
    session.close()
    rig.served.faults.plug()
    rig.connect()
    assert picture(start()).size


def test_a_phone_that_answers_late_is_not_waited_for_without_end(rig: Rig, start: Start) -> None:
    rig.served.faults.turn("slow", 30.0)
    began = time.monotonic()
    with pytest.raises(Trouble):
        Scrcpy.start(rig.open, jar=rig.jar("3.3.4"), seconds=0.5)
    assert time.monotonic() - began < 5
    rig.served.faults.clear()
    session = start(video=False)
    rig.served.faults.turn("slow", 30.0)
    with pytest.raises(Trouble, match="did not take the text") as caught:
        session.paste("x", seconds=0.2)
    assert caught.value.sent
    assert session.clipboard(seconds=0.1) is None


def test_closing_leaves_nothing_here_and_nothing_there(rig: Rig, start: Start) -> None:
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
    services = rig.served.services
    until(lambda: not services.listening and not any("scrcpy" in name for name in services.files))
    with pytest.raises(Trouble):
        session.key(3)


def test_a_server_that_does_not_run_says_why(rig: Rig, tmp_path: Path) -> None:
    import io
    import zipfile

    other = io.BytesIO()
    with zipfile.ZipFile(other, "w") as archive:
        archive.writestr("classes.dex", b"dex\n035\0 of something else")
    named = tmp_path / "scrcpy-server-v3.3.4"
    named.write_bytes(other.getvalue())
    with pytest.raises(Trouble, match="Could not find or load main class"):
        Scrcpy.start(rig.open, jar=str(named))
    assert not threads()
    with pytest.raises(LabError, match=r"1\.25 is none"):
        Scrcpy.start(rig.open, jar=rig.jar("1.25"))


def test_without_video_or_control_what_needs_them_is_refused(rig: Rig, start: Start) -> None:
    blind, bound = start(video=False), start(control=False)
    with pytest.raises(LabError, match="no video"):
        blind.newest()
    with pytest.raises(LabError, match="no control"):
        bound.key(3)
    assert picture(bound).size
    blind.touch(7, 9, "down", UPRIGHT)
    blind.touch(7, 9, "up", UPRIGHT)
    assert rig.phone.next_touch() == ("click", (7, 9))


def test_nonsense_from_the_phone_ends_the_control(rig: Rig) -> None:
    """A server that says what is no message, and one that ends in the middle of one."""
    from lab.devices.scrcpy_control import Control

    for said in (b"\x07", b"\x00\xff\xff\xff\xff", b"\x01\x00\x00"):
        here, there = socket.socketpair()
        control = Control(here)
        there.sendall(said)
        there.shutdown(socket.SHUT_WR)
        until(lambda c=control: c.trouble)  # type: ignore[misc]
        with pytest.raises(Trouble):
            control.say(wire.rotate())
        control.close()
        there.close()
