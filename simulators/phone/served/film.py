"""A screen whose pictures were drawn beforehand, for measurements: drawing costs nothing while they run."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import TYPE_CHECKING

from lab.turn import Action, Point
from simulators.phone.phone import Phone
from simulators.phone.served.display import Display
from simulators.phone.theme import HEIGHT, WIDTH

if TYPE_CHECKING:
    import av

    from simulators.phone.served.scrcpy_encoder import Encoder


class Film(Display):
    """A display that shows `pictures` (1080 x 2400 x 3 bytes each) instead of its phone's, upright only.

    `play` shows one after the other, `rate` a second, round and round; `halt` stops at the one that is there. While it
    stands, each change of the phone (a tap does) shows the next picture.
    """

    def __init__(self, phone: Phone, pictures: Sequence[bytes]) -> None:
        super().__init__(phone)
        assert pictures
        assert all(len(picture) == 3 * WIDTH * HEIGHT for picture in pictures)
        self._pictures = pictures
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
        while (now := self.version) == version and (left := until - time.monotonic()) > 0:
            turn = (self._at() + 1 - self._from) / self._rate + self._began - time.monotonic() if self._rate else left
            self.phone.wait(now - self._at(), max(0.0, min(left, turn)))
        return now

    def rgb(self) -> bytes:
        """The picture that is there now."""
        return self._pictures[self.version % len(self._pictures)]

    def prepared(self, encoder: Encoder) -> av.VideoFrame:
        """The same as that encoder takes it; converted once."""
        place = self.version % len(self._pictures)
        key = (encoder.size, place)
        if key not in self._ready:
            self._ready[key] = encoder.frame(self._pictures[place], self.size)
        return self._ready[key]

    def _at(self) -> int:
        """How many pictures have gone by."""
        return self._from + int((time.monotonic() - self._began) * self._rate) if self._rate else self._from


def fling(phone: Phone, pictures: int = 40, step: int = 60) -> list[bytes]:
    """What a list in front looks like as a finger drags it `step` pixels a picture, down and up again.

    `phone` must show a list. Each picture differs from the one before, also from the last to the first.
    """
    half = [phone.look().rgb]
    for _ in range(pictures // 2):
        phone.perform(Action("scroll", at=(WIDTH // 2, HEIGHT // 2), vector=(0, -step)))
        half.append(phone.look().rgb)
    return half + half[-2:0:-1]
