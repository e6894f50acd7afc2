"""A phone's pictures for the eye: newest only, each with its tree once it has come to rest."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Generic, TypeAlias, TypeVar

from lab.core.errors import LabError
from lab.core.seams import Frame
from lab.core.step import Point
from lab.core.ui_tree import UiTree
from lab.devices.video_source import DecodedPicture, PictureSource, VideoPicture

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Pixels: TypeAlias = NDArray[np.uint8]
    Sums: TypeAlias = NDArray[np.int16]

_LOOK = 0.1
"""Seconds between two looks at `stop` and at the tree while no picture comes."""
_REST, _SELDOM = 0.25, 2.0
"""Seconds without a change after which a screen is taken to rest; and between two dumps while it does not."""
_ALIVE = 1.0
"""Seconds after which a picture that did not change is given again, if the phone has given a sign since."""
_CELL, _NOISE, _CLEAR = 8, 6, 100
"""Pixels of the squares whose mean colours are compared, by how much noise changes those (of 255), and any pixel."""


class FrameStream:
    """One stream of frames. `dump` takes the tree (None where it cannot be had now), `ping` asks for a sign of life.

    `space` gives the phone's own pixels for a picture of that size, turned as it is.
    """

    def __init__(
        self,
        source: PictureSource,
        space: Callable[[Point], Point],
        dump: Callable[[], UiTree | None],
        ping: Callable[[], None],
    ) -> None:
        self._source, self._space, self._ping = source, space, ping
        self._dumping = _Dumping(dump)
        self._pinging: SideThread[float] = SideThread("adb sign of life")
        self._number = -1
        self._shown: Frame | None = None
        self._first: DecodedPicture | None = None
        """The first picture of this number: noise is told from change by it, and a slow fade is change at last."""

    def frames(self, over: Callable[[], bool]) -> Iterator[Frame]:
        """Frames until it is `over`; `Trouble` where the source breaks."""
        while not over():
            picture = self._source.next(_LOOK)
            if picture is not None:
                yield self._show(self._changed(picture))
            tree = self._dumping.tree(self._shown)
            if tree is not None and self._shown is not None:
                yield self._show(self._shown._replace(tree=tree, at=self._source.answered))
            elif (frame := self._repeated_frame()) is not None:
                yield self._show(frame)

    def _changed(self, picture: VideoPicture) -> Frame:
        """The frame of a picture; it keeps number and tree where it is the last one but for noise."""
        last_frame, pixels = self._shown, picture.pixels
        if last_frame is not None and last_frame.size == picture.size and self._noise(pixels):
            return last_frame._replace(pixels=pixels, at=picture.at)
        self._number += 1
        self._first = pixels if isinstance(pixels, DecodedPicture) else None
        self._dumping.changed(picture.at)
        return Frame(pixels, picture.size, None, picture.at, self._number, self._space(picture.size))

    def _noise(self, pixels: bytes | DecodedPicture) -> bool:
        """Whether a picture is the first of this number but for a video's coding."""
        if self._first is None or isinstance(pixels, bytes):
            return False
        return alike(self._first.picture.planes(), pixels.picture.planes())

    def _repeated_frame(self) -> Frame | None:
        """The same frame as one of now, about once a second, where the phone has given a sign of life since."""
        last_frame = self._shown
        if last_frame is None or time.monotonic() - last_frame.at < _ALIVE:
            return None
        if self._source.answered - last_frame.at > _ALIVE / 2:
            return last_frame._replace(at=self._source.answered)
        answer = self._pinging.take()
        if answer is not None and answer[0] is not None:
            return last_frame._replace(at=answer[0])
        self._pinging.start(self._sign)
        return None

    def _sign(self) -> float:
        self._ping()
        return time.monotonic()

    def _show(self, frame: Frame) -> Frame:
        self._shown = frame
        return frame


class _Dumping:
    """When a tree is taken, and whether it belongs to the picture: a phone that animates is not asked all the time.

    A tree counts where no picture came while it was taken, or where the one before it was the same: then what moves
    is no node of it (a cursor that blinks, a film that plays).
    """

    def __init__(self, dump: Callable[[], UiTree | None]) -> None:
        self._dump = dump
        self._aside: SideThread[UiTree] = SideThread("adb dump")
        self._wanted = False
        self._changed = 0.0
        self._began, self._ended = 0.0, 0.0
        self._before: UiTree | None = None

    def changed(self, at: float) -> None:
        """A picture came that has no tree yet."""
        self._wanted, self._changed = True, at

    def tree(self, frame: Frame | None) -> UiTree | None:
        """The tree of the picture that is shown, once; takes one where it is time to."""
        now = time.monotonic()
        result = self._aside.take()
        if result is not None:
            self._ended = now
            tree, before = result[0], self._before
            self._before = tree or before
            if tree is not None and self._wanted and (self._changed < self._began or tree == before):
                self._wanted = False
                return tree
        resting = now - self._changed > _REST and (self._changed > self._began or now - self._ended > _SELDOM)
        if frame is not None and self._wanted and not self._aside.busy and (resting or now - self._ended > _SELDOM):
            self._began = now
            self._aside.start(self._take)
        return None

    def _take(self) -> UiTree:
        tree = self._dump()
        return tree if tree is not None else UiTree()


def alike(one: Sequence[Pixels], other: Sequence[Pixels]) -> bool:
    """Whether two pictures differ by no more than what a video's coding adds, nowhere.

    Each is its brightness, then planes of colour, which may have half as many pixels each way.
    """
    import numpy as np

    first, second = (planes[0][::_CELL].astype(np.int16) for planes in (one, other))
    if np.abs(first - second).max(initial=0) > _CLEAR:
        return False
    for here, there in zip(one, other, strict=True):
        cell = _CELL if len(here) == len(one[0]) else _CELL // 2
        apart = np.abs(_sums(here, cell) - _sums(there, cell))
        if apart.max(initial=0) > _NOISE * cell * cell // 2:
            return False
    return True


def _sums(plane: Pixels, cell: int) -> Sums:
    """The sums of a plane's squares over every second row: half their pixels.

    Added up slice by slice, which takes a tenth of the time that numpy's sums over short axes do.
    """
    import numpy as np

    high, wide = plane.shape[0] // cell, plane.shape[1] // cell
    bands = plane[: high * cell, : wide * cell]
    row_sums = bands[::cell].astype(np.int16)
    for row in range(2, cell, 2):
        row_sums += bands[row::cell]
    sums: Sums = row_sums[:, ::cell].copy()
    for column in range(1, cell):
        sums += row_sums[:, column::cell]
    return sums


Result = TypeVar("Result")


class SideThread(Generic[Result]):
    """Runs one job at a time; its result waits to be taken. A job that ends in `LabError` has the result None."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._done: list[Result | None] = []
        self._thread: threading.Thread | None = None

    @property
    def busy(self) -> bool:
        """Whether a job runs, or its result was not taken yet."""
        return self._thread is not None

    def start(self, job: Callable[[], Result]) -> None:
        """Begins a job; nothing where one is not over yet."""
        if self._thread is None:
            self._thread = threading.Thread(target=self._run, args=(job,), name=self._name, daemon=True)
            self._thread.start()

    def take(self) -> tuple[Result | None] | None:
        """The finished job's result, once; None while there is none."""
        if self._thread is None or self._thread.is_alive():
            return None
        self._thread = None
        return (self._done.pop() if self._done else None,)

    def _run(self, job: Callable[[], Result]) -> None:
        try:
            self._done.append(job())
        except LabError:
            self._done.append(None)
