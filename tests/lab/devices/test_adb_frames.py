"""A phone's live pictures: newest only, told apart, with their tree once at rest; by scrcpy, or by screencap."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import av
import numpy as np
import pytest
from numpy.typing import NDArray

from lab.core.errors import LabError
from lab.core.run.step import Action
from lab.core.seams import Frame, Trouble
from lab.devices.adb.adb import AdbPhone
from lab.devices.scrcpy.scrcpy_video import DecodedFrame, Scalers
from lab.devices.stream import alike
from tests.lab.devices.adb_rig import Attach, tap
from tests.simulators.phone.served.rig import Rig, until


class Watched:
    """What one stream of frames has given so far."""

    def __init__(self) -> None:
        self.frames: list[Frame] = []
        self.trouble: Trouble | None = None

    def wait(self, good: Callable[[Frame], bool], seconds: float = 180.0) -> Frame:
        """The first frame that is good."""
        assert until(lambda: any(map(good, self.frames)), seconds), [(f.number, f.size) for f in self.frames]
        return next(frame for frame in self.frames if good(frame))


@contextmanager
def watching(phone: AdbPhone) -> Iterator[Watched]:
    """A stream that is read on a thread of its own."""
    seen, stop = Watched(), threading.Event()

    def each() -> None:
        try:
            for frame in phone.frames(stop):
                seen.frames.append(frame)
        except Trouble as trouble:
            seen.trouble = trouble

    thread = threading.Thread(target=each)
    thread.start()
    try:
        yield seen
    finally:
        stop.set()
        thread.join(180)
        assert not thread.is_alive()


def settled(frame: Frame) -> bool:
    return frame.tree is not None and bool(frame.tree.roots)


@pytest.mark.parametrize("aside", [False, True])
def test_screenshots_are_the_phones_own_pixels(rig: Rig, attach: Attach, aside: bool) -> None:
    rig.served.display.rotation = int(aside)
    phone = attach()
    with watching(phone) as seen:
        frame = seen.wait(settled)
    assert frame.rgb == rig.served.display.rgb()
    assert frame.size == frame.space == ((2400, 1080) if aside else (1080, 2400))
    assert frame.tree == phone.observe().tree
    assert phone.via == "screencap (as was asked for)"


@pytest.mark.parametrize("via", ["screencap", "auto"])
def test_a_still_screen_keeps_its_number_and_is_known_to_be_alive(
    attach: Attach, scrcpy_server: Path, via: str
) -> None:
    phone = attach(via=via)
    with watching(phone) as seen:
        first = seen.wait(settled)
        later = seen.wait(lambda frame: frame.at > first.at + 2)
    assert (later.number, later.tree) == (first.number, first.tree)
    assert len(seen.frames) < 20


@pytest.mark.parametrize("via", ["screencap", "auto"])
def test_a_change_is_a_new_picture_and_then_has_its_tree(
    rig: Rig, attach: Attach, scrcpy_server: Path, via: str
) -> None:
    phone = attach(via=via)
    with watching(phone) as seen:
        home = seen.wait(settled)
        tap(phone, "Notes")
        changed = seen.wait(lambda frame: frame.number > home.number)
        assert changed.tree is None
        notes = seen.wait(lambda frame: frame.number > home.number and settled(frame))
        assert notes.tree == phone.observe().tree
    numbers = [frame.number for frame in seen.frames]
    assert numbers == sorted(numbers)


def test_video_is_small_and_counted_in_the_phones_own_pixels(rig: Rig, attach: Attach, scrcpy_server: Path) -> None:
    phone = attach(via="auto", video=800)
    with watching(phone) as seen:
        upright = seen.wait(settled)
        assert (max(upright.size), upright.space) == (800, (1080, 2400))
        assert phone.via.startswith("scrcpy 3.3.4, ")
        tap(phone, "Notes")
        rig.served.display.rotation = 1
        aside = seen.wait(lambda frame: frame.size[0] > frame.size[1] and settled(frame))
        assert (max(aside.size), aside.space) == (800, (2400, 1080))
        tap(phone, "New note")
        assert until(lambda: rig.phone.observe().activity.endswith(".Edit"))


def test_without_a_server_it_says_what_would_fetch_one(attach: Attach, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SCRCPY_SERVER_PATH")
    monkeypatch.setenv("PATH", "")
    phone = attach(via="auto")
    with watching(phone) as seen:
        seen.wait(settled)
    assert phone.via == "screencap (no scrcpy server: `hitlab settings scrcpy` fetches one)"
    with pytest.raises(LabError, match="scrcpy"):
        next(attach(via="scrcpy").frames(threading.Event()))


@pytest.mark.parametrize("fault", ["garbage", "die"])
def test_video_that_breaks_again_and_again_gives_way_to_screenshots(
    rig: Rig, attach: Attach, scrcpy_server: Path, fault: str
) -> None:
    phone = attach(via="auto")
    rig.faults.turn("video", fault)
    for _ in range(3):
        with watching(phone) as seen:
            assert until(lambda s=seen: s.trouble is not None)
    with watching(phone) as seen:
        assert seen.wait(settled).size == (1080, 2400)
    assert phone.via.startswith("screencap (scrcpy failed: ")


def test_a_stream_ends_in_trouble_where_the_phone_goes(rig: Rig, attach: Attach, scrcpy_server: Path) -> None:
    for via in ("screencap", "auto"):
        phone = attach(via=via)
        with watching(phone) as seen:
            seen.wait(settled)
            rig.faults.unplug()
            assert until(lambda s=seen: s.trouble is not None)
        rig.faults.plug()
        assert until(lambda: rig.state == "device")
        phone.close()


def test_closing_ends_a_stream(attach: Attach, scrcpy_server: Path) -> None:
    for via in ("screencap", "auto"):
        phone = attach(via=via)
        thread = threading.Thread(target=lambda p=phone: list(p.frames(threading.Event())))
        thread.start()
        phone.perform(Action("navigate_home"))
        phone.close()
        thread.join(180)
        assert not thread.is_alive()


def test_noise_is_not_change_and_one_letter_is() -> None:
    random = np.random.default_rng(1)
    picture = random.integers(0, 256, (1200 // 16, 544 // 16, 3)).repeat(16, 0).repeat(16, 1).astype(np.int16)
    noisy = np.clip(picture + random.integers(-6, 7, picture.shape), 0, 255)
    lettered = picture.copy()
    lettered[600:614, 300:302] = 255 - lettered[600:614, 300:302]
    one, two, three = (planes(p.astype(np.uint8)) for p in (picture, noisy, lettered))
    assert alike(one, two)
    assert not alike(one, three)


def test_another_colour_of_the_same_brightness_is_change() -> None:
    grey = np.full((96, 64, 3), 120, np.uint8)
    coloured = grey.copy()
    coloured[32:48, 16:32] = 150, 108, 110
    assert abs(float(np.dot((150, 108, 110), (0.299, 0.587, 0.114))) - 120) < 1
    assert not alike(planes(grey), planes(coloured))


def planes(picture: NDArray[np.uint8]) -> list[NDArray[np.uint8]]:
    """A picture as a decoder gives it: brightness, then two planes of colour at half the size."""
    frame = av.VideoFrame.from_ndarray(picture, "rgb24").reformat(format="yuv420p")
    return DecodedFrame(frame, Scalers(), 0, 0, 0.0).planes()
