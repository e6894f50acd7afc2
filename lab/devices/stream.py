"""Live frames of a phone: newest only, each with its UI tree once the screen is at rest."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Generic, TypeAlias, TypeVar

from lab.core.errors import LabError
from lab.core.run.step import Point
from lab.core.run.ui_tree import UiTree
from lab.core.seams import Frame
from lab.devices.video_source import DecodedPicture, PictureSource, VideoPicture

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Pixels: TypeAlias = NDArray[np.uint8]
    Sums: TypeAlias = NDArray[np.int16]

_LOOK = 0.1
"""Seconds between two polls of `stop` and of the tree while no picture arrives."""
_REST, _SELDOM = 0.25, 2.0
"""Seconds without a change after which a screen counts as at rest, and between two dumps while it does not."""
_ALIVE = 1.0
"""Seconds after which an unchanged picture is repeated, if the phone has given a sign of life since."""
_CELL, _NOISE, _CLEAR = 8, 6, 100
"""Side of the compared squares in pixels, and the noise limits (of 255) of a square's mean and of any single pixel."""


class FrameStream:
    """One stream of frames.

    `dump` returns the tree, or None if unavailable now. `ping` checks for a sign of life. `space` returns the phone's
    own pixel size, oriented like a picture of the given size.
    """

    def __init__(
        self,
        source: PictureSource,
        space: Callable[[Point], Point],
        dump: Callable[[], UiTree | None],
        ping: Callable[[], None],
    ) -> None:
        self._source, self._space, self._ping = source, space, ping
        self._dumping = _DumpScheduler(dump)
        self._pinging: SideThread[float] = SideThread("adb sign of life")
        self._number = -1
        self._last_frame: Frame | None = None
        self._first: DecodedPicture | None = None
        """First picture of this number.

        Noise is measured against it, so that a slow fade counts as a change at last.
        """

    def frames(self, over: Callable[[], bool]) -> Iterator[Frame]:
        """Yield frames until `over` returns True. Raise `Trouble` if the source breaks."""
        while not over():
            picture = self._source.next(_LOOK)
            if picture is not None:
                yield self._remember(self._frame_of(picture))
            tree = self._dumping.tree(self._last_frame)
            if tree is not None and self._last_frame is not None:
                yield self._remember(self._last_frame._replace(tree=tree, at=self._source.answered))
            elif (frame := self._repeated_frame()) is not None:
                yield self._remember(frame)

    def _frame_of(self, picture: VideoPicture) -> Frame:
        """Return the picture's frame, with the last one's number and tree if they differ only by noise."""
        last_frame, pixels = self._last_frame, picture.pixels
        if last_frame is not None and last_frame.size == picture.size and self._is_noise(pixels):
            return last_frame._replace(pixels=pixels, at=picture.at)
        self._number += 1
        self._first = pixels if isinstance(pixels, DecodedPicture) else None
        self._dumping.changed(picture.at)
        return Frame(pixels, picture.size, None, picture.at, self._number, self._space(picture.size))

    def _is_noise(self, pixels: bytes | DecodedPicture) -> bool:
        """Return True if a picture differs from the first of this number only by video coding."""
        if self._first is None or isinstance(pixels, bytes):
            return False
        return alike(self._first.picture.planes(), pixels.picture.planes())

    def _repeated_frame(self) -> Frame | None:
        """Return the last frame with a new time, about once a second, if the phone has given a sign of life since."""
        last_frame = self._last_frame
        if last_frame is None or time.monotonic() - last_frame.at < _ALIVE:
            return None
        if self._source.answered - last_frame.at > _ALIVE / 2:
            return last_frame._replace(at=self._source.answered)
        answer = self._pinging.take()
        if answer is not None and answer[0] is not None:
            return last_frame._replace(at=answer[0])
        self._pinging.start(self._ping_time)
        return None

    def _ping_time(self) -> float:
        self._ping()
        return time.monotonic()

    def _remember(self, frame: Frame) -> Frame:
        self._last_frame = frame
        return frame


class _DumpScheduler:
    """Schedules tree dumps, and decides if a tree belongs to the picture, without constant dumps of an animating phone.

    A tree counts if no picture arrived during its dump, or if it equals the one before: then what moves is not a node
    (a blinking cursor, a playing film).
    """

    def __init__(self, dump: Callable[[], UiTree | None]) -> None:
        self._dump = dump
        self._side_thread: SideThread[UiTree] = SideThread("adb dump")
        self._wanted = False
        self._changed = 0.0
        self._began, self._ended = 0.0, 0.0
        self._before: UiTree | None = None

    def changed(self, at: float) -> None:
        """Note the arrival of a picture that has no tree yet."""
        self._wanted, self._changed = True, at

    def tree(self, frame: Frame | None) -> UiTree | None:
        """Return the shown picture's tree, once. Start a dump if one is due."""
        now = time.monotonic()
        result = self._side_thread.take()
        if result is not None:
            self._ended = now
            tree, before = result[0], self._before
            self._before = tree or before
            if tree is not None and self._wanted and (self._changed < self._began or tree == before):
                self._wanted = False
                return tree
        resting = now - self._changed > _REST and (self._changed > self._began or now - self._ended > _SELDOM)
        if (
            frame is not None
            and self._wanted
            and not self._side_thread.busy
            and (resting or now - self._ended > _SELDOM)
        ):
            self._began = now
            self._side_thread.start(self._dump_or_empty)
        return None

    def _dump_or_empty(self) -> UiTree:
        tree = self._dump()
        # A screen without a tree is a result too: None would mean a `LabError`, and a retry.
        return tree if tree is not None else UiTree()


def alike(one: Sequence[Pixels], other: Sequence[Pixels]) -> bool:
    """Return True if two pictures differ nowhere by more than video coding adds.

    Each picture is its brightness plane, then its colour planes, which may have half as many pixels each way.
    """
    import numpy as np

    # int16, because differences of uint8 wrap around.
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
    """Return the sums of a plane's squares over every second row, which halves the pixels."""
    import numpy as np

    # Adding slice by slice takes a tenth of the time of numpy's sums over short axes.
    high, wide = plane.shape[0] // cell, plane.shape[1] // cell
    bands = plane[: high * cell, : wide * cell]
    # 32 values of 255 fit into int16.
    row_sums = bands[::cell].astype(np.int16)
    for row in range(2, cell, 2):
        row_sums += bands[row::cell]
    sums: Sums = row_sums[:, ::cell].copy()
    for column in range(1, cell):
        sums += row_sums[:, column::cell]
    return sums


Result = TypeVar("Result")


class SideThread(Generic[Result]):
    """Thread that runs one job at a time and holds its result until `take`. The result is None after a `LabError`.

    It is no executor's: Python waits for those at exit, and a phone that hangs would hold the program.
    """

    def __init__(self, name: str) -> None:
        self._name = name
        self._done: list[Result | None] = []
        self._thread: threading.Thread | None = None

    @property
    def busy(self) -> bool:
        """True while a job runs or its result waits for `take`."""
        return self._thread is not None

    def start(self, job: Callable[[], Result]) -> None:
        """Start a job, unless the last one is unfinished or not taken."""
        if self._thread is None:
            self._thread = threading.Thread(target=self._run, args=(job,), name=self._name, daemon=True)
            self._thread.start()

    def take(self) -> tuple[Result | None] | None:
        """Return the finished job's result in a tuple, once. Else None."""
        if self._thread is None or self._thread.is_alive():
            return None
        self._thread = None
        return (self._done.pop() if self._done else None,)

    def _run(self, job: Callable[[], Result]) -> None:
        try:
            self._done.append(job())
        except LabError:
            self._done.append(None)
