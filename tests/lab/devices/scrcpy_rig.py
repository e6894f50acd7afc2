"""Scrcpy sessions on a served phone that notes where it was touched."""

from __future__ import annotations

import functools
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image

from lab.core.run.step import Action, Point
from lab.devices.adb.adb_server import Server
from lab.devices.scrcpy.scrcpy import DecodedFrame, Open, Scrcpy
from simulators.phone.phone import Phone
from tests.scrcpy_jar import stand_in
from tests.simulators.phone.served import rig as rigs

PATIENCE = 180.0


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
        """What was done to it next, and where."""
        with self.felt:
            assert self.felt.wait_for(lambda: self.touched, PATIENCE), "it was not touched"
            return self.touched.pop(0)


class Mirrored:
    """A served phone that adb knows, and what a session needs of it."""

    def __init__(self, rig: rigs.Rig, phone: Noting, jars: Path) -> None:
        self.rig, self.phone, self.served = rig, phone, rig.served
        self._jars = jars

    @property
    def open(self) -> Open:
        """Opens services of the phone."""
        server = self.rig.server
        return functools.partial(Server(server.host, server.port).open, self.served.serial)

    def jar(self, version: str) -> str:
        """The path of a server of that version."""
        path = self._jars / f"server-{version}"
        path.write_bytes(stand_in(version))
        return str(path)

    def shown(self, size: Point) -> NDArray[np.float64]:
        """What the phone shows, at that size."""
        picture = Image.frombytes("RGB", self.served.display.size, self.served.display.rgb())
        return np.asarray(picture.resize(size, Image.Resampling.BOX), dtype=np.float64)


Start = Callable[..., Scrcpy]


@pytest.fixture
def mirrored(adb_server: rigs.AdbServer, tmp_path: Path) -> Iterator[Mirrored]:
    """A phone of the test's own; no thread of a session is left after it."""
    phone = Noting()
    with rigs.serving(adb_server, phone) as rig:
        yield Mirrored(rig, phone, tmp_path)
    assert not threads()


@pytest.fixture
def start(mirrored: Mirrored) -> Iterator[Start]:
    """Starts a session with the phone, of a server of that version; all are closed at the end."""
    begun: list[Scrcpy] = []

    def begin(version: str = "3.3.4", **how: Any) -> Scrcpy:
        begun.append(Scrcpy.start(mirrored.open, jar=mirrored.jar(version), **how))
        return begun[-1]

    yield begin
    for session in begun:
        session.close()


def until(come: Callable[[], Any]) -> None:
    """Waits until `come()` is true."""
    assert rigs.until(come, PATIENCE), "it did not come about"


def threads() -> list[str]:
    """The threads of sessions that run."""
    ours = {"scrcpy-video", "scrcpy-control", "scrcpy-log"}
    return [thread.name for thread in threading.enumerate() if thread.name in ours]


def picture(session: Scrcpy, good: Callable[[DecodedFrame], bool] = lambda _: True) -> DecodedFrame:
    """The first newest picture that is `good`."""
    after, end = -1, time.monotonic() + PATIENCE
    while time.monotonic() < end:
        found = session.newest(after, 0.5)
        if found is not None:
            after = found.number
            if good(found):
                return found
    raise AssertionError("no such picture came")


def psnr(picture: DecodedFrame, shown: NDArray[np.float64]) -> float:
    """How near a picture is to what was shown, in dB."""
    width, height = picture.size
    got = np.frombuffer(picture.rgb(), np.uint8).reshape(height, width, 3)
    wrong = float(((got - shown) ** 2).mean())
    return float(10 * np.log10(255**2 / max(wrong, 1e-9)))
