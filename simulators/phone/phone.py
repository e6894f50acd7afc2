"""The embedded phone as a device: state in, picture and tree out, one lock around both."""

from __future__ import annotations

import hashlib
import threading
import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import msgspec

from lab.core.run.step import Action
from lab.core.run.trace import DeviceInfo
from lab.core.run.ui_tree import UiTree
from lab.core.seams import Frame, Screen
from lab.core.values.png import png_of
from simulators.phone import touch
from simulators.phone.app import State, copy
from simulators.phone.installed import APPS, first_state
from simulators.phone.kit.boxes import Window
from simulators.phone.kit.sized_cache import SizedCache
from simulators.phone.kit.theme import HEIGHT, WIDTH
from simulators.phone.overlay import check, merge
from simulators.phone.stage import activity, artists, windows
from simulators.phone.tree import tree

if TYPE_CHECKING:
    from PIL.Image import Image

MOST = 8_000_000
"""Bytes of cached PNG files. A screen takes about 130,000."""


class PackedScreens:
    """A cache of screens' PNG files by the phone's state, up to `most` bytes, least recently used evicted first."""

    def __init__(self, most: int = MOST) -> None:
        self._files: SizedCache[bytes] = SizedCache(most, len)

    @property
    def size(self) -> int:
        """Bytes in the cache."""
        return self._files.size

    def png(self, state: State, pack: Callable[[], bytes]) -> bytes:
        """Return the PNG of a state's screen, from the cache or else from `pack`."""
        key = hashlib.blake2b(msgspec.json.encode(state), digest_size=32).digest()
        png = self._files.get(key)
        if png is None:
            png = pack()
            self._files.store(key, png)
        return png


_LOOK = 0.25
"""Seconds between two polls of `stop` while nothing changes."""
_ALIVE = 1.0
"""Seconds after which an unchanged picture is yielded again with the current time."""
_PACKED = PackedScreens()


class Phone:
    """A phone of 1080 x 2400 pixels whose whole state is one JSON value. It implements `lab.core.seams.Device`.

    It starts from `state`, a snapshot, or else from the first state of `seed` at `clock` (ISO 8601 with offset).
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
        """Return the current screen: picture and tree of the same state."""
        with self._changed:
            drawn_screen = self._draw()
            return Screen(
                drawn_screen.png, (WIDTH, HEIGHT), drawn_screen.tree, activity(self._state, APPS), self._state["clock"]
            )

    def perform(self, action: Action) -> None:
        """Perform one action and advance the clock. Raise `LabError` if it names something that does not exist."""
        self.change(lambda state, screen_windows: touch.perform(state, screen_windows, action))

    def change(self, act: Callable[[State, list[Window]], bool]) -> bool:
        """Let `act` change a copy of the state, given its windows. Keep the copy if `act` returns True."""
        with self._changed:
            state = copy(self._state)
            done = act(state, self._draw().windows)
            if done:
                self._set_state(state)
            return done

    @property
    def version(self) -> int:
        """Number that increases with each change of the state and each `stir`."""
        return self._version + self._stirred

    def current_screen(self) -> DrawnScreen:
        """Return the current screen, drawn lazily."""
        with self._changed:
            return self._draw()

    def stir(self) -> None:
        """Wake all who `wait`, when something outside the state changed the display."""
        with self._changed:
            self._stirred += 1
            self._changed.notify_all()

    def wait(self, version: int, timeout: float) -> int:
        """Block until the version differs, the phone is closed, or `timeout` seconds passed.

        Return the current version.
        """
        with self._changed:
            self._changed.wait_for(lambda: self.version != version or self._closed, timeout)
            return self.version

    def frames(self, stop: threading.Event) -> Iterator[Frame]:
        """Yield the picture at once, after each change, and about once a second (same number) if nothing changed.

        Ends when `stop` is set or the phone is closed.
        """
        last_version, number, last = -1, -1, b""
        while True:
            with self._changed:
                due = time.monotonic() + _ALIVE
                while (
                    self._version == last_version and time.monotonic() < due and not stop.is_set() and not self._closed
                ):
                    # `stop` belongs to the caller: setting it does not notify this condition.
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
        """Return a copy of the whole state as a JSON value."""
        with self._changed:
            return dict(copy(self._state))

    def restore(self, state: dict[str, Any]) -> None:
        """Restore a snapshot. Raise `LabError` if it is not a valid state."""
        with self._changed:
            check(state, self._state, "phone state", whole=True)
            self._set_state(dict(copy(state)))

    def lay(self, overlay: dict[str, Any]) -> None:
        """Merge a task's `phone` mapping into the state, key by key. Lists are replaced.

        Raise `LabError` for a key of the first two levels (or of an app's state) that this phone does not have.
        """
        with self._changed:
            state = merge(self._state, overlay)
            check(state, self._state, "field phone", whole=False)
            self._set_state(state)

    def close(self) -> None:
        """End all streams of frames."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()

    def _set_state(self, state: State) -> None:
        self._state = state
        self._version += 1
        self._changed.notify_all()

    def _draw(self) -> DrawnScreen:
        """Return the drawn screen of the current state, one object per state."""
        if self._drawn is None or self._drawn.version != self._version:
            self._drawn = DrawnScreen(self._version, windows(self._state, APPS), self._state)
        return self._drawn


class DrawnScreen:
    """One state's windows, with picture and PNG made on first use by any thread. `state` is read-only."""

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
        """Picture, rebuilt from its bytes at each access: caching both would take 10 MB more."""
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
        from simulators.phone.kit.draw import picture

        with self._drawing:
            if self._rgb is None:
                self._rgb = picture(self.windows, artists(self.state, APPS)).tobytes()
            return self._rgb

    @rgb.setter
    def rgb(self, same: bytes) -> None:
        with self._drawing:
            self._rgb = same
