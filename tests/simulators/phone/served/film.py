"""A screen with pictures that were drawn in advance, for measurements: drawing costs nothing during them."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from lab.core.run.step import Action, Point
from lab.core.run.ui_tree import UiTree
from simulators.phone.kit import draw
from simulators.phone.kit.theme import HEIGHT, WIDTH
from simulators.phone.phone import Phone
from simulators.phone.served.display import Display

if TYPE_CHECKING:
    import av

    from simulators.phone.served.scrcpy_video import Encoder


class FilmPicture(NamedTuple):
    """One picture (1080 x 2400 x 3 bytes), and uiautomator's tree of it."""

    rgb: bytes
    tree: UiTree


class Film(Display):
    """A display that shows `shots` instead of its phone's screen, only upright and lit.

    `play` loops through them at `rate` a second, `halt` stops at the current one. While it is halted, each change of
    the phone (as after a tap) shows the next one.
    """

    def __init__(self, phone: Phone, shots: Sequence[FilmPicture]) -> None:
        super().__init__(phone)
        assert shots
        assert all(len(shot.rgb) == 3 * WIDTH * HEIGHT for shot in shots)
        self._shots = shots
        self._from, self._rate, self._began = 0, 0.0, 0.0
        self._ready: dict[tuple[Point, int], av.VideoFrame] = {}

    def play(self, rate: float = 60.0) -> None:
        """Start playing, `rate` pictures a second."""
        self._from, self._rate, self._began = self._picture_number(), rate, time.monotonic()
        self.phone.stir()

    def halt(self) -> None:
        """Stop at the current picture."""
        self._from, self._rate = self._picture_number(), 0.0
        self.phone.stir()

    @property
    def size(self) -> Point:
        return WIDTH, HEIGHT

    @property
    def version(self) -> int:
        return self.phone.version + self._picture_number()

    def wait(self, version: int, timeout: float) -> int:
        """Block until the picture changed or `timeout` seconds passed. Return the current version."""
        until = time.monotonic() + timeout
        while (now := self.version) == version and (seconds_left := until - time.monotonic()) > 0:
            turn = (
                (self._picture_number() + 1 - self._from) / self._rate + self._began - time.monotonic()
                if self._rate
                else seconds_left
            )
            self.phone.wait(now - self._picture_number(), max(0.0, min(seconds_left, turn)))
        return now

    @property
    def shot(self) -> FilmPicture:
        """Current picture with its tree."""
        return self._shots[self.version % len(self._shots)]

    def rgb(self) -> bytes:
        """Return the current picture."""
        return self.shot.rgb

    def png(self) -> bytes:
        """Return the current picture as a PNG file."""
        from PIL import Image

        return draw.png(Image.frombytes("RGB", self.size, self.shot.rgb))

    def tree(self) -> UiTree:
        """Return the current picture's tree."""
        return self.shot.tree

    def prepared(self, encoder: Encoder) -> av.VideoFrame:
        """Return the current picture in the encoder's format. Each is converted only once per size."""
        place = self.version % len(self._shots)
        key = (encoder.size, place)
        if key not in self._ready:
            self._ready[key] = encoder.frame(self._shots[place].rgb, self.size)
        return self._ready[key]

    def _picture_number(self) -> int:
        """Return the number of pictures shown so far."""
        return self._from + int((time.monotonic() - self._began) * self._rate) if self._rate else self._from


def flung(phone: Phone, count: int = 40, step: int = 60) -> list[FilmPicture]:
    """Return the pictures of a list that a finger drags `step` pixels a picture, down and back up.

    `phone` must show a list. Every picture differs from the one before, and the first from the last.
    """
    screen = Display(phone)
    half = [FilmPicture(screen.rgb(), screen.tree())]
    for _ in range(count // 2):
        phone.perform(Action("scroll", at=(WIDTH // 2, HEIGHT // 2), vector=(0, -step)))
        half.append(FilmPicture(screen.rgb(), screen.tree()))
    return half + half[-2:0:-1]
