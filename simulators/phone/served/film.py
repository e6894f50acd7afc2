"""A screen whose pictures were drawn beforehand, for measurements: drawing costs nothing while they run."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from lab.core.step import Action, Point
from lab.core.ui_tree import UiTree
from simulators.phone import draw
from simulators.phone.phone import Phone
from simulators.phone.served.display import Display
from simulators.phone.theme import HEIGHT, WIDTH

if TYPE_CHECKING:
    import av

    from simulators.phone.served.scrcpy_encoder import Encoder


class FilmPicture(NamedTuple):
    """One picture (1080 x 2400 x 3 bytes), and what uiautomator dumps of it."""

    rgb: bytes
    tree: UiTree


class Film(Display):
    """A display that shows `shots` instead of its phone's screen, upright and lit only.

    `play` shows one after the other, `rate` a second, round and round; `halt` stops at the one that is there. While it
    stands, each change of the phone (a tap does) shows the next one.
    """

    def __init__(self, phone: Phone, shots: Sequence[FilmPicture]) -> None:
        super().__init__(phone)
        assert shots
        assert all(len(shot.rgb) == 3 * WIDTH * HEIGHT for shot in shots)
        self._shots = shots
        self._from, self._rate, self._began = 0, 0.0, 0.0
        self._ready: dict[tuple[Point, int], av.VideoFrame] = {}

    def play(self, rate: float = 60.0) -> None:
        """Runs, `rate` pictures a second."""
        self._from, self._rate, self._began = self._at(), rate, time.monotonic()
        self.phone.stir()

    def halt(self) -> None:
        """Stands still."""
        self._from, self._rate = self._at(), 0.0
        self.phone.stir()

    @property
    def size(self) -> Point:
        return WIDTH, HEIGHT

    @property
    def version(self) -> int:
        return self.phone.version + self._at()

    def wait(self, version: int, timeout: float) -> int:
        """Blocks until another picture is there, or `timeout` seconds are over; the version now."""
        until = time.monotonic() + timeout
        while (now := self.version) == version and (seconds_left := until - time.monotonic()) > 0:
            turn = (
                (self._at() + 1 - self._from) / self._rate + self._began - time.monotonic()
                if self._rate
                else seconds_left
            )
            self.phone.wait(now - self._at(), max(0.0, min(seconds_left, turn)))
        return now

    @property
    def shot(self) -> FilmPicture:
        """The one that is there now."""
        return self._shots[self.version % len(self._shots)]

    def rgb(self) -> bytes:
        """Its picture."""
        return self.shot.rgb

    def png(self) -> bytes:
        """The same, as a PNG file."""
        from PIL import Image

        return draw.png(Image.frombytes("RGB", self.size, self.shot.rgb))

    def tree(self) -> UiTree:
        """Its tree."""
        return self.shot.tree

    def prepared(self, encoder: Encoder) -> av.VideoFrame:
        """Its picture as that encoder takes it; converted once."""
        place = self.version % len(self._shots)
        key = (encoder.size, place)
        if key not in self._ready:
            self._ready[key] = encoder.frame(self._shots[place].rgb, self.size)
        return self._ready[key]

    def _at(self) -> int:
        """How many pictures have gone by."""
        return self._from + int((time.monotonic() - self._began) * self._rate) if self._rate else self._from


def flung(phone: Phone, count: int = 40, step: int = 60) -> list[FilmPicture]:
    """What a list in front looks like as a finger drags it `step` pixels a picture, down and up again.

    `phone` must show a list. Each picture differs from the one before, also from the last to the first.
    """
    screen = Display(phone)
    half = [FilmPicture(screen.rgb(), screen.tree())]
    for _ in range(count // 2):
        phone.perform(Action("scroll", at=(WIDTH // 2, HEIGHT // 2), vector=(0, -step)))
        half.append(FilmPicture(screen.rgb(), screen.tree()))
    return half + half[-2:0:-1]


def fling(phone: Phone, pictures: int = 40, step: int = 60) -> list[bytes]:
    """The pictures of `flung` alone."""
    return [shot.rgb for shot in flung(phone, pictures, step)]
