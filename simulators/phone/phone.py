"""The embedded phone as a device: state in, picture and tree out, one lock around both."""

from __future__ import annotations

import hashlib
import threading
import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import msgspec

from lab.core.png import png_of
from lab.core.seams import Frame, Screen
from lab.core.step import Action
from lab.core.trace import DeviceInfo
from lab.core.ui_tree import UiTree
from simulators.phone import touch
from simulators.phone.app import State, copy
from simulators.phone.boxes import Window
from simulators.phone.installed import APPS, first_state
from simulators.phone.overlay import check, merge
from simulators.phone.sized_cache import SizedCache
from simulators.phone.stage import activity, artists, windows
from simulators.phone.theme import HEIGHT, WIDTH
from simulators.phone.tree import tree

if TYPE_CHECKING:
    from PIL.Image import Image

MOST = 8_000_000
"""Bytes of PNG files that are kept; a screen has some 130,000."""


class PackedScreens:
    """PNG files of screens by the phone's state, up to `most` bytes; the one that was used longest ago goes first."""

    def __init__(self, most: int = MOST) -> None:
        self._files: SizedCache[bytes] = SizedCache(most, len)

    @property
    def size(self) -> int:
        """Bytes that are kept now."""
        return self._files.size

    def png(self, state: State, pack: Callable[[], bytes]) -> bytes:
        """The PNG of a state's screen: the one that is kept, or else what `pack` makes."""
        key = hashlib.blake2b(msgspec.json.encode(state), digest_size=32).digest()
        png = self._files.get(key)
        if png is None:
            png = pack()
            self._files.put(key, png)
        return png


_LOOK = 0.25
"""Seconds between two looks at `stop` while nothing changes."""
_ALIVE = 1.0
"""Seconds after which a picture that did not change is given again, as one of now."""
_PACKED = PackedScreens()


class Phone:
    """A phone of 1080 x 2400 pixels whose whole state is one JSON value; implements `lab.core.seams.Device`.

    `state` is a snapshot to begin with, else the first state of `seed` at `clock` (ISO 8601 with offset).
    """

    def __init__(
        self, seed: int = 0, state: dict[str, Any] | None = None, clock: str = "2026-03-10T08:50:00+08:00"
    ) -> None:
        self._changed = threading.Condition(threading.RLock())
        self._state = first_state(seed, clock)
        self._version = 0
        self._stirred = 0
        self._closed = False
        self._drawn: DrawnScreen | None = None
        if state is not None:
            self.restore(state)

    @property
    def info(self) -> DeviceInfo:
        return DeviceInfo(kind="embedded", id="embedded", model="Lantern One", size=(WIDTH, HEIGHT))

    def observe(self) -> Screen:
        """What it shows now; the tree belongs to this very picture."""
        with self._changed:
            drawn_screen = self._draw()
            return Screen(
                drawn_screen.png, (WIDTH, HEIGHT), drawn_screen.tree, activity(self._state, APPS), self._state["clock"]
            )

    def perform(self, action: Action) -> None:
        """Does one action and lets the clock go on; a `LabError` where it names what is not there."""
        self.change(lambda state, screen_windows: touch.perform(state, screen_windows, action))

    def change(self, act: Callable[[State, list[Window]], bool]) -> bool:
        """Lets `act` change a copy of the state, which looks like the windows it is given; kept if it says so."""
        with self._changed:
            state = copy(self._state)
            done = act(state, self._draw().windows)
            if done:
                self._put(state)
            return done

    @property
    def version(self) -> int:
        """A number that goes up with each change of the state, and with each `stir`."""
        return self._version + self._stirred

    def look(self) -> DrawnScreen:
        """What there is to see now, drawn only as far as it is asked for."""
        with self._changed:
            return self._draw()

    def stir(self) -> None:
        """Wakes those who `wait`: something beside the state, that changes what is seen of it, is another."""
        with self._changed:
            self._stirred += 1
            self._changed.notify_all()

    def wait(self, version: int, timeout: float) -> int:
        """Blocks until the phone is at another version, is closed, or `timeout` seconds are over; the version now."""
        with self._changed:
            self._changed.wait_for(lambda: self.version != version or self._closed, timeout)
            return self.version

    def frames(self, stop: threading.Event) -> Iterator[Frame]:
        """The picture at once, then each time it changed, and about once a second with the same number if it did not.

        Until `stop` is set or the phone is closed.
        """
        last_version, number, last = -1, -1, b""
        while True:
            with self._changed:
                due = time.monotonic() + _ALIVE
                while (
                    self._version == last_version and time.monotonic() < due and not stop.is_set() and not self._closed
                ):
                    self._changed.wait(_LOOK)
                if stop.is_set() or self._closed:
                    return
                at, drawn_screen, last_version = time.monotonic(), self._draw(), self._version
                unchanged = drawn_screen.rgb == last
            if not unchanged:
                number, last = number + 1, drawn_screen.rgb
            drawn_screen.rgb = last  # a state that looks like the one before does not keep its 8 MB twice
            yield Frame(last, (WIDTH, HEIGHT), drawn_screen.tree, at, number)

    def snapshot(self) -> dict[str, Any]:
        """The whole state, as a JSON value of its own."""
        with self._changed:
            return dict(copy(self._state))

    def restore(self, state: dict[str, Any]) -> None:
        """Puts a snapshot back; refused with a `LabError` where it is none."""
        with self._changed:
            check(state, self._state, "phone state", whole=True)
            self._put(dict(copy(state)))

    def lay(self, overlay: dict[str, Any]) -> None:
        """Merges a task's `phone` mapping into the state, key by key; lists are replaced.

        A `LabError` names a key of the first two levels (or an app's) that this phone does not have.
        """
        with self._changed:
            state = merge(self._state, overlay)
            check(state, self._state, "field phone", whole=False)
            self._put(state)

    def close(self) -> None:
        """Ends all streams of frames."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()

    def _put(self, state: State) -> None:
        self._state = state
        self._version += 1
        self._changed.notify_all()

    def _draw(self) -> DrawnScreen:
        """What there is to see of the state as it is; drawn once per state."""
        if self._drawn is None or self._drawn.version != self._version:
            self._drawn = DrawnScreen(self._version, windows(self._state, APPS), self._state)
        return self._drawn


class DrawnScreen:
    """One state's windows, and what is made of them when it is first asked for, by whichever thread.

    `state` is to be read only.
    """

    def __init__(self, version: int, screen_windows: list[Window], state: State) -> None:
        self.version = version
        self.windows = screen_windows
        self.tree: UiTree = tree(screen_windows)
        self.state = state
        self._drawing = threading.RLock()
        self._png: bytes | None = None
        self._rgb: bytes | None = None

    @property
    def picture(self) -> Image:
        """The picture, made of its bytes anew: to keep both would take 10 MB more for as long as it is shown."""
        from PIL import Image

        return Image.frombytes("RGB", (WIDTH, HEIGHT), self.rgb)

    @property
    def png(self) -> bytes:
        with self._drawing:
            if self._png is None:
                self._png = _PACKED.png(self.state, lambda: png_of(self.rgb, (WIDTH, HEIGHT)))
            return self._png

    @property
    def rgb(self) -> bytes:
        from simulators.phone.draw import picture

        with self._drawing:
            if self._rgb is None:
                self._rgb = picture(self.windows, artists(self.state, APPS)).tobytes()
            return self._rgb

    @rgb.setter
    def rgb(self, same: bytes) -> None:
        with self._drawing:
            self._rgb = same
